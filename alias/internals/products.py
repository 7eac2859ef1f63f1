# SPDX-License-Identifier: Apache-2.0
"""What graphs ask of TensorFlow's other products: the debugger, AutoGraph."""

from __future__ import annotations

from ...train.sessions.debug_dumps import (  # noqa: F401
    DebugDumpDir,
    DebugTensorDatum,
    InconvertibleTensorProto,
    has_inf_or_nan,
    load_tensor_from_event,
    load_tensor_from_event_file,
)
from ...train.sessions.debug_filters import (  # noqa: F401
    LocalCLIDebugHook,
    LocalCLIDebugWrapperSession,
)
from ...train.sessions.debug_watches import (  # noqa: F401
    WatchOptions,
    add_debug_tensor_watch,
    watch_graph,
    watch_graph_with_blacklists,
)
from ...train.sessions.debug_wrappers import (  # noqa: F401
    DumpingDebugHook,
    DumpingDebugWrapperSession,
)
from .absent import absent

_DEBUGGER = (
    "; DumpingDebugWrapperSession, which writes the values of runs to files, is, and "
    "NUMBAFLOW_DEBUG and session.explain show what a run does"
)


TensorBoardDebugWrapperSession = absent("tfdbg's TensorBoardDebugWrapperSession", _DEBUGGER)
GrpcDebugWrapperSession = absent("tfdbg's GrpcDebugWrapperSession", _DEBUGGER)
TensorBoardDebugHook = absent("tfdbg's TensorBoardDebugHook", _DEBUGGER)
GrpcDebugHook = absent("tfdbg's GrpcDebugHook", _DEBUGGER)
GradientsDebugger = absent("tfdbg's GradientsDebugger", _DEBUGGER)


DistributedVariable = absent("tf.distribute's DistributedVariable")
