# SPDX-License-Identifier: Apache-2.0
"""What graphs ask of TensorFlow's other products: the debugger, AutoGraph."""

from __future__ import annotations

import json
from typing import Any

from ...io.tensor_dumps import DEVICE_PREFIX, FEED_KEYS, FETCHES
from ...io.tensor_dumps import METADATA as METADATA_FILE_PREFIX
from ...io.tensor_dumps import device_folder as device_name_to_device_path  # noqa: F401
from ...train.sessions.debug_dumps import (  # noqa: F401
    DebugDumpDir,
    DebugTensorDatum,
    InconvertibleTensorProto,
    device_path_to_device_name,
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

# Of names of files and folders in a dump.
DEVICE_TAG = DEVICE_PREFIX.removeprefix(METADATA_FILE_PREFIX)
FETCHES_INFO_FILE_TAG = FETCHES.removeprefix(METADATA_FILE_PREFIX)
FEED_KEYS_INFO_FILE_TAG = FEED_KEYS.removeprefix(METADATA_FILE_PREFIX)

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


def get_graph_element_name(elem: Any) -> str:
    """The name of what is fed or fetched; what has none, such as sparse tensors, as text."""
    return str(elem.name) if hasattr(elem, "name") else str(elem)


def get_flattened_names(feeds_or_fetches: Any) -> list[str]:
    """The names of all that a structure of feeds or fetches holds: of a dict, its values."""
    if isinstance(feeds_or_fetches, dict):
        feeds_or_fetches = list(feeds_or_fetches.values())
    if isinstance(feeds_or_fetches, (list, tuple)):
        return [name for part in feeds_or_fetches for name in get_flattened_names(part)]
    return [get_graph_element_name(feeds_or_fetches)]


def get_run_key(feed_dict: Any, fetches: Any) -> str:
    """What is fed and what is fetched in a run, as JSON: two lists of names."""
    return json.dumps([get_flattened_names(feed_dict), get_flattened_names(fetches)])
