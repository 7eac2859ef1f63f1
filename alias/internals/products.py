# SPDX-License-Identifier: Apache-2.0
"""What graphs ask of TensorFlow's other products: the debugger, AutoGraph."""

from __future__ import annotations

from typing import Any

import numpy as np

from .absent import absent

_DEBUGGER = "; NUMBAFLOW_DEBUG and session.explain show what a run does"


LocalCLIDebugWrapperSession = absent("tfdbg's LocalCLIDebugWrapperSession", _DEBUGGER)
TensorBoardDebugWrapperSession = absent("tfdbg's TensorBoardDebugWrapperSession", _DEBUGGER)
DumpingDebugWrapperSession = absent("tfdbg's DumpingDebugWrapperSession", _DEBUGGER)
GrpcDebugWrapperSession = absent("tfdbg's GrpcDebugWrapperSession", _DEBUGGER)
LocalCLIDebugHook = absent("tfdbg's LocalCLIDebugHook", _DEBUGGER)
DumpingDebugHook = absent("tfdbg's DumpingDebugHook", _DEBUGGER)
TensorBoardDebugHook = absent("tfdbg's TensorBoardDebugHook", _DEBUGGER)
GrpcDebugHook = absent("tfdbg's GrpcDebugHook", _DEBUGGER)
DebugDumpDir = absent("tfdbg's DebugDumpDir", _DEBUGGER)
GradientsDebugger = absent("tfdbg's GradientsDebugger", _DEBUGGER)
watch_graph = absent("tfdbg's watch_graph", _DEBUGGER)
add_debug_tensor_watch = watch_graph
watch_graph_with_blacklists = watch_graph


def has_inf_or_nan(datum: Any, tensor: Any) -> bool:
    """Whether an array holds an infinity or NaN.

    Args:
        datum: what it belongs to; not looked at.
        tensor: the array.

    Returns:
        The answer; False for what holds no floats.
    """
    del datum
    if not isinstance(tensor, np.ndarray) or tensor.dtype.kind not in "fc":
        return False
    return not bool(np.isfinite(tensor).all())


convert = absent("tf.autograph")
DistributedVariable = absent("tf.distribute's DistributedVariable")
