# SPDX-License-Identifier: Apache-2.0
"""What outlives a run: variables' storage and other named resources of a session.

A `VariableStorage` holds one variable's array.  The array is aligned, C-contiguous and owned by the
cell; an assignment of the same shape writes into it, so compiled plans may keep its address.
`Resources` finds cells and other stateful objects (queues, tables, readers) by container and name.
"""

from __future__ import annotations

import threading
import weakref
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from .. import errors
from ..memory import ALIGNMENT, aligned_copy, aligned_empty, owned  # noqa: F401  for those who make values
from ..types.dtypes import DType
from ..types.shape import TensorShape, shape_text
from .deferred_assign import EagerArray, LazyArray, current, take
from .shared_reads import Changing

T = TypeVar("T")


class VariableStorage:
    """The storage of one variable: an array or nothing yet, a declared dtype and static shape."""

    __slots__ = (
        *("container", "dtype", "home", "is_resource", "lock", "name", "shape", "value"),
        *("version", "resident"),
    )

    def __init__(self, name: str, dtype: DType, shape: TensorShape, container: str = "") -> None:
        self.name = name
        self.container = container
        self.dtype = dtype
        self.shape = shape
        self.value: np.ndarray | None = None
        # (Taken twice by one thread where a restore that fails clears what it holds:
        # deferred_assign.py.)
        self.lock = threading.RLock()
        # Counts changes of the array's address or shape.  (Plans look at the array itself.)
        self.version = 0
        # What a GPU has of it (jit/cuda/residency.py).
        self.resident: Any = None
        # Whether handles stand for it, rather than references.
        self.is_resource = False
        # The Resources that hold it, weakly.
        self.home: weakref.ref[Resources] | None = None

    def __repr__(self) -> str:
        state = "uninitialized" if self.value is None else shape_text(self.value.shape)
        return f"<VariableStorage {self.name!r} {self.dtype.name} {state}>"

    @property
    def is_initialized(self) -> bool:
        return self.value is not None

    @property
    def is_absent(self) -> bool:
        """Whether only handles speak of it as yet."""
        return self.is_resource and self.value is None

    def read(self) -> np.ndarray:
        """The live array; FailedPreconditionError before the first assignment."""
        if self.value is None:
            raise errors.failed_precondition(self._missing())
        return self.value

    def looked_up(self) -> np.ndarray:
        """The live array as what does not just read it sees it: NotFoundError for resources."""
        if self.value is None and self.is_resource:
            raise errors.not_found(self._not_found())
        return self.read()

    def _missing(self) -> str:
        if not self.is_resource:
            return f"Attempting to use uninitialized value {self.name}"
        return (
            f"Error while reading resource variable {self.name} from Container: "
            f"{self.container or 'localhost'}. This could mean that the variable was "
            f"uninitialized. Not found: {self._not_found()}"
        )

    def _not_found(self) -> str:
        container = self.container or "localhost"
        home = None if self.home is None else self.home()
        if home is not None and not home.has_container(self.container):
            return (
                f"Container {container} does not exist. (Could not find resource: "
                f"{container}/{self.name})"
            )
        return f"Resource {container}/{self.name}/{_VARIABLE_TYPE} does not exist."

    def assign(self, array: object, validate_shape: bool = True) -> None:
        """Copies an array in, or what a Source has.

        Its shape must be the present one unless `validate_shape` is off.
        """
        if isinstance(array, LazyArray):
            self._take(array, validate_shape)
            return
        array = np.asarray(array)
        if current() is not None:
            self._take(EagerArray(array), validate_shape)
            return
        with Changing(self):
            value = self.value
            if value is not None and value.shape == array.shape and value.dtype == array.dtype:
                # In place: plans hold the address, and the array's identity tells them that it is
                # the same.
                value[...] = array
                return
            if validate_shape:
                self._require_shape(array.shape)
            self.value = owned(array)
            self.version += 1

    def _take(self, source: LazyArray, validate_shape: bool) -> None:
        """Takes what a source has: now, or when the intake that is open closes."""
        value = self.value
        if value is None or value.shape != source.shape:
            # Resource variables take any shape from the graph, which knows better than files.
            if type(source) is not EagerArray and not self.shape.is_compatible_with(source.shape):
                raise _other_shape(
                    tuple(self.shape.as_list()), source.shape, f" (variable {self.name})"
                )
            if validate_shape:
                self._require_shape(source.shape)
        intake = current()
        if intake is None:
            take({self: source})
        else:
            intake.note(self, source)

    def _require_shape(self, shape: tuple[int, ...]) -> None:
        if self.value is not None:
            present = self.value.shape
        elif self.shape.is_fully_defined():
            present = tuple(self.shape.as_list())
        else:
            return
        if present != shape:
            raise _other_shape(present, shape)

    def update(self, function: Callable[[np.ndarray], Any]) -> np.ndarray:
        """Calls function(array) under the lock; it changes the array in place."""
        with Changing(self):
            value = self.read()
            function(value)
            return value

    def move(self) -> None:
        """Gives the variable other memory, with what it holds: whoever has the array keeps it."""
        self.value = aligned_copy(self.read())
        self.version += 1

    def clear(self) -> None:
        """Makes the variable uninitialized again."""
        with self.lock:
            self.value = None
            self.version += 1


def _other_shape(
    present: tuple[int | None, ...], shape: tuple[int, ...], which: str = ""
) -> errors.InvalidArgumentError:
    return errors.invalid(
        "Assign requires shapes of both tensors to match. "
        f"lhs shape= {shape_text(present)} rhs shape= {shape_text(shape)}{which}"
    )


# What handles state as the type of variables; of other things it is the name of the class.
_VARIABLE_TYPE = "N10tensorflow3VarE"


def handle_bytes(thing: VariableStorage) -> np.ndarray:
    """A handle as a fetch of it yields it: a serialized ResourceHandleProto, byte by byte."""
    from ...io import protos

    kind = _VARIABLE_TYPE if isinstance(thing, VariableStorage) else type(thing).__name__
    message = protos.ResourceHandleProto(
        device="/job:localhost/replica:0/task:0/device:CPU:0",
        container=getattr(thing, "container", "") or "localhost",
        name=str(getattr(thing, "name", "")),
        # (Of this number TensorFlow promises no more than that it holds within one execution.)
        hash_code=zlib.crc32(kind.encode()),
        maybe_type_name=kind,
    )
    return np.frombuffer(message.SerializeToString(), np.dtype([("resource", np.ubyte)])).copy()


class Resources:
    """The named objects of a session (or of a server's container), safe for several threads."""

    def __init__(self, task: str = "/job:localhost/replica:0/task:0", timeout: float = 0) -> None:
        # timeout: seconds that a run may take whose session does not say; 0: any number.
        self.task, self.timeout = task, timeout
        self._lock = threading.RLock()
        self._table: dict[tuple[str, str], Any] = {}
        # Containers that something was taken out of: they are there whatever they hold.
        self._emptied: set[str] = set()

    def __iter__(self) -> Iterator[tuple[tuple[str, str], Any]]:
        with self._lock:
            return iter(list(self._table.items()))

    def __len__(self) -> int:
        return len(self._table)

    def lookup(self, container: str, name: str) -> Any | None:
        """The object called `name`, or None."""
        # (No lock: reading a dictionary is atomic.)
        return self._table.get((container, name))

    def lookup_or_create(self, container: str, name: str, factory: Callable[[], T]) -> T:
        """The object called `name`; made by `factory` on first use."""
        found = self._table.get((container, name))
        if found is not None:
            return found
        with self._lock:
            # Another thread may have been first; then what the factory made is dropped.
            return self._table.setdefault((container, name), factory())

    def store(self, container: str, name: str, thing: object) -> None:
        """Puts an object under a name, in place of any other."""
        with self._lock:
            self._table[container, name] = thing

    def remove(self, container: str, name: str) -> Any | None:
        """Takes an object out of the table and returns it, or None when there is none."""
        with self._lock:
            found = self._table.pop((container, name), None)
            if not (isinstance(found, VariableStorage) and found.is_absent):
                self._emptied.add(container)
            return found

    def clear(self, containers: Sequence[str] | None = None) -> None:
        """Forgets everything, or everything in the given containers."""
        with self._lock:
            if containers is None:
                self._table.clear()
                return
            names = set(containers)
            for key in [key for key in self._table if key[0] in names]:
                del self._table[key]

    def has_container(self, container: str) -> bool:
        """Whether anything is in a container; handles alone make none."""
        return container in self._emptied or any(
            place == container and not (isinstance(thing, VariableStorage) and thing.is_absent)
            for (place, _), thing in self
        )

    def cell(self, container: str, name: str, dtype: DType, shape: TensorShape) -> VariableStorage:
        """The variable called `name`, made when it is not there yet."""
        cell = self._table.get((container, name))
        if cell is None:
            new = VariableStorage(name, dtype, shape, container)
            new.home = weakref.ref(self)
            cell = self.lookup_or_create(container, name, lambda: new)
        if not isinstance(cell, VariableStorage) or (
            cell.dtype is not dtype and cell.dtype != dtype
        ):
            raise errors.invalid(
                f"Trying to access resource {name} of another kind: {cell!r} is no "
                f"{dtype.name} variable"
            )
        return cell
