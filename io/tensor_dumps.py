# SPDX-License-Identifier: Apache-2.0
"""What runs with DebugOptions write: each output of the watched operations, a file for each turn.

A folder of dumps holds one folder per device, in it one file per value: the bytes of an Event.
"""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine import errors
from ..engine.types import dtypes
from . import protos
from .debug_summaries import DebugOp
from .files import open_binary
from .step_stats import CPU
from .tensor_proto import tensor_proto

if TYPE_CHECKING:
    from ..engine.graph.operation import Operation

METADATA = "_tfdbg_"
DEVICE_PREFIX = METADATA + "device_"
FETCHES, FEED_KEYS = METADATA + "fetches_info_", METADATA + "feed_keys_info_"
_FILE = "file://"


def device_folder(device: str) -> str:
    """The name of a device's folder: "/device:CPU:0" as "_tfdbg_device_,device_CPU_0"."""
    return DEVICE_PREFIX + ",".join(part.replace(":", "_") for part in device.split("/"))


def write_message(path: str, text: str) -> None:
    """Writes a file with an Event that holds a line of text."""
    event = protos.Event()
    event.log_message.message = text
    _write(path, event.SerializeToString())


def _write(path: str, data: bytes) -> None:
    with open_binary(path, "wb") as file:
        file.write(data)


class Dumps:
    """The watches of one run, and where their values go.

    Args:
        watches: messages DebugTensorWatch; "*" is a name that means all operations.

    Raises:
        UnimplementedError: a debug operation that is not here is asked for, or a URL that names no
            folder.
    """

    def __init__(self, watches: Any) -> None:
        # Where what goes, by what is watched; in the order of the watches.
        self._asked: dict[tuple[str, int], dict[tuple[str, DebugOp], None]] = {}
        self._last = 0
        for watch in watches:
            _check(watch)
            asked = self._asked.setdefault((watch.node_name, watch.output_slot), {})
            for name in watch.debug_ops:
                for url in watch.debug_urls:
                    asked[url.removeprefix(_FILE), DebugOp.parsed(name)] = None

    def note(self, op: Operation, slot: int, value: object) -> None:
        """Writes an output of an operation if it is watched and has an array as its value."""
        if not isinstance(value, np.ndarray):
            return
        asked = self._asked_of(op.name, slot)
        dtype = op.outputs[slot].dtype.base_dtype
        for debug_op in dict.fromkeys(debug_op for _, debug_op in asked):
            written = debug_op.of(value, dtype)
            if written is None:
                continue
            kind = dtype if written is value else dtypes.as_dtype(written.dtype)
            # Two files of one name would be one: no two values have the same time.
            self._last = max(int(time.time() * 1e6), self._last + 1)
            event = self._event(op, slot, debug_op.name, _contents(written, kind))
            for folder in (folder for folder, each in asked if each == debug_op):
                path = f"{op.name}_{slot}_{debug_op.name}_{self._last}"
                path = os.path.join(folder, device_folder(CPU), path)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                _write(path, event)

    def _asked_of(self, name: str, slot: int) -> dict[tuple[str, DebugOp], None]:
        found: dict[tuple[str, DebugOp], None] = {}
        for key in ((n, s) for n in (name, "*") for s in (slot, -1)):
            found.update(self._asked.get(key, {}))
        return found

    def _event(self, op: Operation, slot: int, debug_op: str, contents: Any) -> bytes:
        event = protos.Event(wall_time=self._last)
        entry = event.summary.value.add(tag=op.name, node_name=f"{op.name}:{slot}:{debug_op}")
        entry.metadata.plugin_data.plugin_name = "debugger"
        about = {"device": CPU, "outputSlot": slot, "numChunks": 1, "chunkIndex": 0}
        entry.metadata.plugin_data.content = json.dumps(about).encode()
        entry.tensor.CopyFrom(contents)
        return event.SerializeToString()


def _contents(value: np.ndarray, dtype: dtypes.DType) -> Any:
    if dtype != dtypes.resource:
        return tensor_proto(value, dtype)
    # Of a variable's handle no elements can be listed: its message stands in place of them.
    kind = dtype.as_datatype_enum
    return protos.TensorProto(dtype=kind, tensor_shape={}, tensor_content=value.tobytes())


def _check(watch: Any) -> None:
    for url in watch.debug_urls:
        if not url.startswith(_FILE):
            raise errors.unimplemented(
                f"Values go to folders, as in 'file:///tmp/dump', not to {url!r}"
            )
