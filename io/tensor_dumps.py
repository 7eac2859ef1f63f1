# SPDX-License-Identifier: Apache-2.0
"""What runs with DebugOptions write: each output of the watched operations, a file for each turn.

A folder of dumps holds one folder per device, in it one file per value: the bytes of an Event.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine import errors
from ..engine.types import dtypes
from . import protos
from .files import open_binary
from .step_stats import CPU
from .tensor_proto import tensor_proto

if TYPE_CHECKING:
    from ..engine.graph.operation import Operation

METADATA = "_tfdbg_"
DEVICE_PREFIX = METADATA + "device_"
FETCHES, FEED_KEYS = METADATA + "fetches_info_", METADATA + "feed_keys_info_"
IDENTITY = "DebugIdentity"
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
        UnimplementedError: a debug operation other than DebugIdentity is asked for, or a URL that
            names no folder.
    """

    def __init__(self, watches: Any) -> None:
        self._folders: dict[tuple[str, int], set[str]] = {}
        self._last = 0
        for watch in watches:
            _check(watch)
            folders = {url.removeprefix(_FILE) for url in watch.debug_urls}
            self._folders.setdefault((watch.node_name, watch.output_slot), set()).update(folders)

    def note(self, op: Operation, slot: int, value: object) -> None:
        """Writes an output of an operation if it is watched and has an array as its value."""
        if not isinstance(value, np.ndarray):
            return
        folders = self._folders_of(op.name, slot)
        if folders:
            # Two files of one name would be one: no two values have the same time.
            self._last = max(int(time.time() * 1e6), self._last + 1)
            event = self._event(op, slot, value).SerializeToString()
            for folder in folders:
                path = f"{op.name}_{slot}_{IDENTITY}_{self._last}"
                path = os.path.join(folder, device_folder(CPU), path)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                _write(path, event)

    def _folders_of(self, name: str, slot: int) -> set[str]:
        keys: Iterator[tuple[str, int]] = ((n, s) for n in (name, "*") for s in (slot, -1))
        return set().union(*(self._folders.get(key, ()) for key in keys))

    def _event(self, op: Operation, slot: int, value: np.ndarray) -> Any:
        event = protos.Event(wall_time=self._last)
        entry = event.summary.value.add(tag=op.name, node_name=f"{op.name}:{slot}:{IDENTITY}")
        entry.metadata.plugin_data.plugin_name = "debugger"
        about = {"device": CPU, "outputSlot": slot, "numChunks": 1, "chunkIndex": 0}
        entry.metadata.plugin_data.content = json.dumps(about).encode()
        entry.tensor.CopyFrom(_contents(value, op.outputs[slot].dtype.base_dtype))
        return event


def _contents(value: np.ndarray, dtype: dtypes.DType) -> Any:
    if dtype != dtypes.resource:
        return tensor_proto(value, dtype)
    # Of a variable's handle no elements can be listed: its message stands in place of them.
    kind = dtype.as_datatype_enum
    return protos.TensorProto(dtype=kind, tensor_shape={}, tensor_content=value.tobytes())


def _check(watch: Any) -> None:
    others = [name for name in watch.debug_ops if name != IDENTITY]
    if others:
        raise errors.unimplemented(
            f"{others[0]} is not in numbaflow; watches have {IDENTITY} alone"
        )
    for url in watch.debug_urls:
        if not url.startswith(_FILE):
            raise errors.unimplemented(
                f"Values go to folders, as in 'file:///tmp/dump', not to {url!r}"
            )
