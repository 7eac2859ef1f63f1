# SPDX-License-Identifier: Apache-2.0
"""`DebugDumpDir`: reads the values that a debugged run has written, as tfdbg has it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.types import dtypes
from ...io import protos
from ...io.files import open_binary
from ...io.tensor_dumps import DEVICE_PREFIX, FEED_KEYS, FETCHES, METADATA
from ...io.tensor_proto import make_ndarray

if TYPE_CHECKING:
    from ...engine.graph.graph import Graph

Predicate = Callable[["DebugTensorDatum", Any], Any]


def has_inf_or_nan(datum: Any, tensor: Any) -> bool:
    """Whether an array holds an infinity or NaN.

    Args:
        datum: what it belongs to; not looked at.
        tensor: the array.

    Returns:
        The answer; False for what holds no floats.
    """
    del datum
    if not isinstance(tensor, (np.ndarray, np.generic)) or tensor.dtype.kind not in "fc":
        return False
    return not bool(np.isfinite(tensor).all())


class InconvertibleTensorProto:
    """What a dump has of a value that is no array: of a variable's handle.

    Args:
        tensor_proto: the message TensorProto.
        initialized: whether there is a value.
    """

    def __init__(self, tensor_proto: Any, initialized: bool = True) -> None:
        self._tensor_proto, self.initialized = tensor_proto, initialized

    def __str__(self) -> str:
        return ("" if self.initialized else "Uninitialized tensor:\n") + str(self._tensor_proto)


def load_tensor_from_event(event: Any) -> Any:
    """The array that an Event of a dump holds; an InconvertibleTensorProto where it is none."""
    tensor = event.summary.value[0].tensor
    if tensor.dtype == dtypes.resource.as_datatype_enum:
        return InconvertibleTensorProto(tensor, bool(tensor.tensor_content))
    return make_ndarray(tensor)


def load_tensor_from_event_file(event_file_path: str) -> Any:
    """The array that a file of a dump holds; an InconvertibleTensorProto where it is none."""
    return load_tensor_from_event(_event(event_file_path))


def _event(path: str) -> Any:
    with open_binary(path, "rb") as file:
        return protos.Event.FromString(file.read())


class DebugTensorDatum:
    """One value of a dump: of which tensor and when; the value itself stays in its file.

    Args:
        dump_root: the folder of the dump.
        debug_dump_rel_path: the file in it: folders of the device and of the operation's name,
            then its last part, output, debug operation and time, joined by underscores.

    Raises:
        ValueError: the file's name is of another form.
    """

    def __init__(self, dump_root: str, debug_dump_rel_path: str) -> None:
        parts = os.path.normpath(debug_dump_rel_path).split(os.sep)
        device, scopes, base = parts[0], parts[1:-1], parts[-1]
        found = re.fullmatch(r"(.*)_(\d+)_([^_]+)_((\d+)(?:-\d+)?)", base)
        if found is None:
            raise ValueError(f"Dump file path does not conform to the naming pattern: {base}")
        name, slot, self.debug_op, self.extended_timestamp, time = found.groups()
        self.device_name = device_path_to_device_name(device)
        self.node_name = "/".join([*scopes, name])
        self.output_slot, self.timestamp = int(slot), int(time)
        self.file_path = os.path.join(dump_root, debug_dump_rel_path)

    @property
    def tensor_name(self) -> str:
        """The tensor's name, as "layer/MatMul:0"."""
        return f"{self.node_name}:{self.output_slot}"

    @property
    def watch_key(self) -> str:
        """The tensor's name and the debug operation's."""
        return f"{self.tensor_name}:{self.debug_op}"

    @property
    def dump_size_bytes(self) -> int | None:
        """The size of the file; None if it is not there."""
        return os.path.getsize(self.file_path) if os.path.exists(self.file_path) else None

    def get_tensor(self) -> Any:
        """The value, read from its file."""
        return load_tensor_from_event_file(self.file_path)

    def __repr__(self) -> str:
        place = f"({self.device_name}) {self.tensor_name} @ {self.debug_op} @ {self.timestamp}"
        return f"{{DebugTensorDatum {place}}}"


def device_path_to_device_name(device_dir: str) -> str:
    """The device whose values are in a folder of a dump.

    Example:
        >>> device_path_to_device_name("_tfdbg_device_,job_worker,task_1,cpu_0")
        '/job:worker/task:1/cpu:0'
    """
    items = device_dir.removeprefix(DEVICE_PREFIX).split(",")
    return "/".join(i.replace("device_", "device:").replace("_", ":", 1) for i in items)


class DebugDumpDir:
    """The values of one debugged run.

    Args:
        dump_root: the folder that was named to the run, for a dumping session one of the folders
            "run_…" in that of the session.
        partition_graphs, validate: accepted as TensorFlow's; dumps hold no graphs.

    Raises:
        IOError: there is no such folder.

    Example:
        >>> DebugDumpDir("/nowhere")
        Traceback (most recent call last):
        OSError: Dump root directory /nowhere does not exist
    """

    def __init__(self, dump_root: str, partition_graphs: Any = None, validate: bool = True) -> None:
        del partition_graphs, validate
        if not os.path.isdir(dump_root):
            raise OSError(f"Dump root directory {dump_root} does not exist")
        self._root = dump_root
        self._data = sorted(self._found(), key=lambda datum: datum.timestamp)
        self._keys: dict[str, list[DebugTensorDatum]] = {}
        for datum in self._data:
            self._keys.setdefault(datum.watch_key, []).append(datum)
        self._graph: Graph | None = None

    def _found(self) -> list[DebugTensorDatum]:
        return [
            DebugTensorDatum(self._root, os.path.relpath(os.path.join(folder, file), self._root))
            for device in self._device_folders
            for folder, _, files in os.walk(os.path.join(self._root, device))
            for file in files
            if not file.startswith(METADATA)
        ]

    @cached_property
    def _device_folders(self) -> list[str]:
        return sorted(name for name in os.listdir(self._root) if name.startswith(DEVICE_PREFIX))

    @property
    def dumped_tensor_data(self) -> list[DebugTensorDatum]:
        """All values, in the order in which they were written."""
        return self._data

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(self._data)

    @property
    def t0(self) -> int | None:
        """When the first value was written, in microseconds; None without any."""
        return self._data[0].timestamp if self._data else None

    @property
    def run_fetches_info(self) -> Any:
        """What was fetched, as text; None if it was not written, a list for several."""
        return self._text(FETCHES)

    @property
    def run_feed_keys_info(self) -> Any:
        """What was fed, as text; None if it was not written, a list for several."""
        return self._text(FEED_KEYS)

    def _text(self, prefix: str) -> Any:
        files = sorted(name for name in os.listdir(self._root) if name.startswith(prefix))
        texts = [_event(os.path.join(self._root, name)).log_message.message for name in files]
        return texts if len(texts) > 1 else texts[0] if texts else None

    @property
    def python_graph(self) -> Graph | None:
        """The graph that set_python_graph was given."""
        return self._graph

    def set_python_graph(self, python_graph: Graph | None) -> None:
        """Says of which graph the run was; node_traceback asks it."""
        self._graph = python_graph

    def node_traceback(self, element_name: str) -> list[Any]:
        """Where an operation, or that of a tensor, was made.

        Raises:
            LookupError: no graph is set.
            KeyError: it has no such operation.
        """
        if self._graph is None:
            raise LookupError("Python graph is not available for traceback lookup")
        return self._graph.get_operation_by_name(element_name.partition(":")[0]).traceback

    def devices(self) -> list[str]:
        """The names of devices whose values there are."""
        return [device_path_to_device_name(folder) for folder in self._device_folders]

    def nodes(self, device_name: str | None = None) -> list[str]:
        """The names of operations whose values there are, once for each device."""
        found = ((datum.device_name, datum.node_name) for datum in self._on(device_name))
        return [name for _, name in dict.fromkeys(found)]

    def node_exists(self, node_name: str, device_name: str | None = None) -> bool:
        """Whether there are values of an operation."""
        return node_name in self.nodes(device_name)

    def debug_watch_keys(self, node_name: str, device_name: str | None = None) -> list[str]:
        """The keys of an operation's values, which are "name:output:DebugIdentity"."""
        of_node = (d.watch_key for d in self._on(device_name) if d.node_name == node_name)
        return list(dict.fromkeys(of_node))

    def watch_key_to_data(
        self, debug_watch_key: str, device_name: str | None = None
    ) -> list[DebugTensorDatum]:
        """The values of a key, several for what ran in a loop."""
        data = self._keys.get(debug_watch_key, [])
        return [datum for datum in data if device_name in (None, datum.device_name)]

    def _on(self, device_name: str | None) -> list[DebugTensorDatum]:
        if device_name is not None and device_name not in self.devices():
            raise ValueError(f"Invalid device name: {device_name}; there are {self.devices()}")
        return [datum for datum in self._data if device_name in (None, datum.device_name)]

    def find(
        self,
        predicate: Predicate,
        first_n: int = 0,
        device_name: str | None = None,
        exclude_node_names: str | None = None,
    ) -> list[DebugTensorDatum]:
        """The values of which a predicate is true.

        Args:
            predicate: a function of a DebugTensorDatum and its array, as has_inf_or_nan.
            first_n: at most so many; 0 means all.
            device_name: of this device only.
            exclude_node_names: a pattern of operations that are left out.
        """
        leave_out = re.compile(exclude_node_names) if exclude_node_names else None
        matched = []
        for datum in self._on(device_name):
            if leave_out is not None and leave_out.match(datum.node_name):
                continue
            if predicate(datum, datum.get_tensor()):
                matched.append(datum)
                if 0 < first_n <= len(matched):
                    break
        return matched

    def _of(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None
    ) -> list[DebugTensorDatum]:
        key = f"{node_name}:{output_slot}:{debug_op}"
        data = self.watch_key_to_data(key, device_name)
        if not data:
            raise WatchKeyDoesNotExistInDebugDumpDirError(
                f'Watch key "{key}" does not exist in the debug dump'
            )
        return data

    def get_tensors(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None
    ) -> list[Any]:
        """The arrays of a tensor, in the order in which they were made."""
        return [d.get_tensor() for d in self._of(node_name, output_slot, debug_op, device_name)]

    def get_tensor_file_paths(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None
    ) -> list[str]:
        """The files of a tensor's values."""
        return [d.file_path for d in self._of(node_name, output_slot, debug_op, device_name)]

    def get_rel_timestamps(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None
    ) -> list[int]:
        """When a tensor's values were written, in microseconds after the first of the run."""
        data = self._of(node_name, output_slot, debug_op, device_name)
        return [datum.timestamp - self._data[0].timestamp for datum in data]

    def get_dump_sizes_bytes(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None
    ) -> list[int | None]:
        """The sizes of the files of a tensor's values; None for those that are gone."""
        return [d.dump_size_bytes for d in self._of(node_name, output_slot, debug_op, device_name)]


class WatchKeyDoesNotExistInDebugDumpDirError(ValueError):
    """There are no values of a tensor in a dump."""
