# SPDX-License-Identifier: Apache-2.0
"""The lists and dicts that trackable objects have as attributes: wrappers of the user's own.

They are read and changed as what they wrap.  A restore finds elements by their places, so after
changes other than growth they refuse to be saved.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, MutableMapping, MutableSequence, Sequence
from collections.abc import Mapping as AbstractMapping
from typing import TYPE_CHECKING, Any

from ...engine.graph.trackable import Trackable
from .data_structures import (
    List,
    NoDependency,
    TrackableDataStructure,
    _UntrackableError,
    _wrap_or_unwrap,
    sticky_attribute_assignment,
)

if TYPE_CHECKING:
    from ...ops.state.variables import Variable

# Programs ask whether a value is a list or a dict; what these have is overridden in all.
_list: Any = list
_dict: Any = dict

_ADVICE = (
    "wrap it in a tf.contrib.checkpoint.NoDependency object; it will be automatically un-wrapped "
    "and subsequently ignored."
)


def _compare(name: str) -> Callable[[Any, Any], Any]:
    def compare(self: Any, other: int | Sequence[Any]) -> Any:
        return getattr(self._storage, name)(getattr(other, "_storage", other))

    return compare


class ListWrapper(List, MutableSequence, _list):
    """A list that an object holds; changes other than growth make it impossible to save."""

    def __init__(self, wrapped_list: list[Any]) -> None:
        # The list is the user's own, who may change it behind the wrapper's back.
        self._non_append_mutation = False
        self._external_modification = False
        super().__init__(wrapped_list)
        self._snapshot: list[Any] | None = list(self._storage)

    def _flags_of(self, other: ListWrapper) -> ListWrapper:
        self._non_append_mutation = other._non_append_mutation
        self._external_modification = other._external_modification
        return self

    def __copy__(self) -> Any:
        return super().__copy__()._flags_of(self)

    def __deepcopy__(self, memo: object) -> Any:
        return super().__deepcopy__(memo)._flags_of(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), (self._storage,)

    def _make_storage(self, wrapped_list: list[Any]) -> list[Any]:  # type: ignore[override]
        return wrapped_list

    def _check_external_modification(self) -> None:
        if not self._non_append_mutation and self._storage != self._snapshot:
            self._external_modification = True

    def _changed(self, change: Callable[[], Any]) -> None:
        """Does something that the wrapper knows of."""
        self._check_external_modification()
        change()
        # Once somebody else has changed the list, the difference must stay to be seen.
        if not self._external_modification:
            self._snapshot = list(self._storage)

    @property
    def _checkpoint_dependencies(self) -> list[Any]:
        self._check_external_modification()
        reason = ""
        if self._non_append_mutation:
            reason = (
                "A list element was replaced (__setitem__, __setslice__), deleted (__delitem__, "
                "__delslice__), or moved (sort). In order to support restoration on object "
                "creation, tracking is exclusively for append-only data structures."
            )
        elif self._external_modification:
            reason = (
                f"The wrapped list was modified outside the wrapper (its final value was "
                f"{self._storage}, its value when a checkpoint dependency was added was "
                f"{self._snapshot}), which breaks restoration on object creation."
            )
        if reason:
            raise ValueError(
                f"Unable to save the object {self} (a list wrapper constructed to track trackable "
                f"TensorFlow objects). {reason}\n\nIf you don't need this list checkpointed, "
                f"{_ADVICE}"
            )
        return super()._checkpoint_dependencies

    def _track_value(self, value: object, name: str) -> Any:
        """Other things may be in the list too."""
        try:
            return super()._track_value(value, name)
        except _UntrackableError:
            return _wrap_or_unwrap(value)

    def append(self, value: object) -> None:
        """Adds anything."""
        self._changed(lambda: List.append(self, value))

    def extend(self, values: Iterable[Any]) -> None:
        """Adds several things."""
        for value in values:
            self.append(value)

    def __delitem__(self, key: Any) -> None:
        self._non_append_mutation = True
        del self._storage[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._changed(lambda: self._replace(key, value))

    def _replace(self, key: Any, value: Any) -> None:
        before = list(self._storage)
        replaced = before if isinstance(key, slice) else [before[key]]
        # Other elements may change: nothing of them is saved.
        if any(isinstance(old, Trackable) for old in replaced):
            self._non_append_mutation = True
        self._storage[key] = value
        for index, new in enumerate(self._storage):
            if index >= len(before) or new is not before[index]:
                self._storage[index] = self._track_value(new, str(index))

    def __imul__(self, count: int) -> Any:
        if count <= 0:
            self._non_append_mutation = True
            self._storage *= count
            return self
        return super().__imul__(count)

    def insert(self, index: int, obj: Variable) -> None:
        """Inserts something: the list cannot be saved any more."""
        self._non_append_mutation = True
        self._storage.insert(index, obj)

    def sort(self, *args: Any, **kwargs: Any) -> None:
        """Sorts: the list cannot be saved any more."""
        self._non_append_mutation = True
        self._storage.sort(*args, **kwargs)

    # A list has these of its own; they would see an empty one.
    pop = MutableSequence.pop
    remove = MutableSequence.remove
    reverse = MutableSequence.reverse
    clear = MutableSequence.clear
    index = Sequence.index
    count = Sequence.count
    __iter__ = Sequence.__iter__
    __contains__ = Sequence.__contains__
    __reversed__ = Sequence.__reversed__
    __sizeof__ = List.__sizeof__
    __eq__ = _compare("__eq__")
    __ne__ = _compare("__ne__")
    __lt__ = _compare("__lt__")
    __le__ = _compare("__le__")
    __gt__ = _compare("__gt__")
    __ge__ = _compare("__ge__")

    __hash__: Any = None

    def __repr__(self) -> str:
        return f"ListWrapper({self._storage!r})"


class _DictWrapper(TrackableDataStructure, _dict):
    """A dict that an object holds; keys that are no text must not lead to trackable objects."""

    def __init__(self, wrapped_dict: dict[Any, Any] | None = None) -> None:
        super().__init__()
        wrapped = {} if wrapped_dict is None else wrapped_dict
        # The dict is the user's own, who may change it behind the wrapper's back.
        self._storage: Any = wrapped if isinstance(wrapped, MutableMapping) else dict(wrapped)
        self._non_string_key = False
        self._external_modification = False
        for key, value in list(self._storage.items()):
            self._storage[key] = self._track_value(value, key)
        self._note()

    def _note(self) -> None:
        """Keeps what the dict holds now, to see later whether somebody else changed it.

        Python's own code for dicts, as that of `json`, looks at the dict that this object is.
        """
        self._snapshot = dict(self._storage)
        _dict.clear(self)
        _dict.update(self, self._snapshot)

    def _flags_of(self, other: _DictWrapper) -> _DictWrapper:
        self._non_string_key = other._non_string_key
        self._external_modification = other._external_modification
        return self

    def copy(self) -> _DictWrapper:
        """A dict of the same objects."""
        return copy.copy(self)

    def __copy__(self) -> _DictWrapper:
        return _DictWrapper(copy.copy(self._storage))._flags_of(self)

    def __deepcopy__(self, memo: Any) -> _DictWrapper:
        return _DictWrapper(copy.deepcopy(self._storage, memo))._flags_of(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), (self._storage,)

    @property
    def _values(self) -> Iterable[Any]:
        return [value for _, value in sorted(self._storage.items(), key=lambda item: item[0])]

    def _places(self) -> Iterable[tuple[str, Any]]:
        return self._storage.items()

    def _check_external_modification(self) -> None:
        if not self._non_string_key and self._storage != self._snapshot:
            self._external_modification = True

    @property
    def _checkpoint_dependencies(self) -> list[Any]:
        self._check_external_modification()
        reason = ""
        if self._non_string_key:
            reason = (
                "The wrapped dictionary contains a non-string key which maps to a trackable object "
                "or mutable data structure."
            )
        elif self._external_modification:
            reason = (
                f"The wrapped dictionary was modified outside the wrapper (its final value was "
                f"{self}, its value when a checkpoint dependency was added was {self._snapshot}), "
                "which breaks restoration on object creation."
            )
        if reason:
            raise ValueError(
                f"Unable to save the object {self} (a dictionary wrapper constructed automatically "
                f"on attribute assignment). {reason}\n\nIf you don't need this dictionary "
                f"checkpointed, {_ADVICE}"
            )
        return super()._checkpoint_dependencies

    def _track_value(self, value: object, name: object) -> Any:
        """Other things may be in the dict too, and other keys than text."""
        if isinstance(name, str):
            return sticky_attribute_assignment(trackable=self, value=value, name=name)
        wrapped = _wrap_or_unwrap(value)
        if isinstance(wrapped, Trackable) and not isinstance(value, NoDependency):
            self._non_string_key = True
        return wrapped

    def __setitem__(self, key: object, value: object) -> None:
        self._check_external_modification()
        self._storage[key] = self._track_value(value, key)
        self._note()

    def __delitem__(self, key: str) -> None:
        self._check_external_modification()
        del self._storage[key]
        self._note()

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Adds or replaces several."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __or__(self, other: Any) -> Any:
        return dict(self._storage) | dict(other)

    def __ror__(self, other: Any) -> Any:
        return dict(other) | dict(self._storage)

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    # A dict has these of its own; they would see an empty one.
    pop = MutableMapping.pop
    popitem = MutableMapping.popitem
    clear = MutableMapping.clear
    setdefault = MutableMapping.setdefault
    get = AbstractMapping.get
    keys = AbstractMapping.keys
    values = AbstractMapping.values
    items = AbstractMapping.items

    def __contains__(self, key: object) -> bool:
        return key in self._storage

    def __getitem__(self, key: object) -> Any:
        return self._storage[key]

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._storage)

    def __reversed__(self) -> Iterator[Any]:
        return reversed(self._storage)

    def __eq__(self, other: object) -> bool:
        return self._storage == getattr(other, "_storage", other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__: Any = None

    def __repr__(self) -> str:
        return f"DictWrapper({self._storage!r})"

    def __str__(self) -> str:
        return str(self._storage)
