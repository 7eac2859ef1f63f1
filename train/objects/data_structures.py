# SPDX-License-Identifier: Apache-2.0
"""Lists and dicts that checkpoints can hold (`tf.contrib.checkpoint.List` and `Mapping`).

What a trackable object is given as a list or dict becomes a wrapper: it behaves as what it wraps,
tracks what is added, and refuses to be saved after changes that a restore could not follow; see
data_wrappers.py.
"""

from __future__ import annotations

import collections
import copy
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Mapping as AbstractMapping
from typing import TYPE_CHECKING, Any

from ...engine.graph.trackable import Trackable
from ..variables.variable_kind import is_variable

if TYPE_CHECKING:
    from ...ops.state.variables import Variable


class NoDependency:
    """Marks a value that is assigned to an attribute and shall not be saved."""

    def __init__(self, value: Variable) -> None:
        self.value = value


def _wrap_or_unwrap(value: Any) -> Any:
    """Lists and dicts in their wrappers, and what NoDependency marks without it."""
    if isinstance(value, NoDependency):
        return value.value
    if isinstance(value, Trackable):
        return value
    # Not subclasses: what they do besides would be lost.
    if type(value) not in (list, dict, collections.OrderedDict):
        return value
    from .data_wrappers import ListWrapper, _DictWrapper

    return ListWrapper(value) if type(value) is list else _DictWrapper(value)


def sticky_attribute_assignment(trackable: Trackable, name: str, value: object) -> Any:
    """The value to store as an attribute of an object; it becomes a dependency if it can be."""
    wrapped = _wrap_or_unwrap(value)
    if not isinstance(value, NoDependency) and isinstance(wrapped, Trackable):
        trackable._track_trackable(wrapped, name=name, overwrite=True)
    return wrapped


class _UntrackableError(ValueError):
    def __init__(self, value: object) -> None:
        super().__init__(
            "Only trackable objects (such as Layers or Optimizers) may be stored in a List object. "
            f"Got {value}, which does not inherit from Trackable."
        )


class TrackableDataStructure(Trackable):
    """A container of trackable objects; compared by identity."""

    def __init__(self) -> None:
        self.trainable = True

    def _track_value(self, value: object, name: str) -> Any:
        """Makes a value a dependency; ValueError if it cannot be one."""
        value = sticky_attribute_assignment(trackable=self, value=value, name=name)
        if not isinstance(value, Trackable):
            raise _UntrackableError(value)
        return value

    @property
    def _values(self) -> Iterable[Any]:
        raise NotImplementedError("Abstract method")

    def _collected(self, attribute: str) -> list[Any]:
        """The variables among the values, and what values with such an attribute list there."""
        found: list[Any] = []
        for value in self._values:
            if not is_variable(value):
                found += getattr(value, attribute, ())
            elif attribute == "variables" or value.trainable == (attribute[:3] != "non"):
                found.append(value)
        return found

    @property
    def trainable_variables(self) -> list[Any]:
        """The variables to train, of values in order."""
        return self._collected("trainable_variables") if self.trainable else []

    @property
    def non_trainable_variables(self) -> list[Any]:
        """The variables not to train, all of them if the container is not trainable."""
        rest = self._collected("non_trainable_variables")
        return rest if self.trainable else self._collected("trainable_variables") + rest

    @property
    def variables(self) -> list[Any]:
        """All variables."""
        return self.trainable_variables + self.non_trainable_variables

    @property
    def layers(self) -> list[Any]:
        """The values that have weights, those in containers too."""
        found: list[Any] = []
        for value in self._values:
            if isinstance(value, TrackableDataStructure):
                found += value.layers
            elif not is_variable(value) and hasattr(value, "trainable_weights"):
                found.append(value)
        return found

    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables
    weights = variables

    def _list_functions_for_serialization(self, cache: object) -> dict[str, Any]:
        """The tf.functions and concrete functions among the values, by their places."""
        from ...ops.flow.concrete_functions import ConcreteFunction
        from ...ops.flow.graph_functions import Function

        kinds = (Function, ConcreteFunction)
        return {key: value for key, value in self._places() if isinstance(value, kinds)}

    def _places(self) -> Iterable[tuple[str, Any]]:
        return ((str(index), value) for index, value in enumerate(self._values))

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other


class List(TrackableDataStructure, Sequence):
    """A sequence of trackable objects that can only grow."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self._storage = self._make_storage(*args, **kwargs)
        for index, element in enumerate(self._storage):
            self._storage[index] = self._track_value(element, name=str(index))

    def copy(self) -> List:
        """A list of the same objects."""
        return type(self)(copy.copy(self._storage))

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return type(self)(copy.deepcopy(self._storage, memo))

    def _make_storage(self, *args: Any, **kwargs: Any) -> list[Any]:
        return list(*args, **kwargs)

    @property
    def _values(self) -> Iterable[Any]:
        return self

    def append(self, value: object) -> None:
        """Adds a trackable object."""
        self._storage.append(self._track_value(value, str(len(self._storage))))

    def extend(self, values: Iterable[Any]) -> None:
        """Adds trackable objects."""
        for value in values:
            self.append(value)

    def __iadd__(self, values: Iterable[Any]) -> Any:  # type: ignore[misc]
        self.extend(values)
        return self

    def __add__(self, other: Any) -> List:
        return type(self)(self._storage + getattr(other, "_storage", other))

    def __radd__(self, other: Sequence[Any]) -> List:
        return type(self)(other) + self

    def __imul__(self, count: int) -> List:
        if count <= 0:
            raise ValueError(
                f"List only supports append, multiplying in place by {count} removes elements."
            )
        for value in self._storage * (count - 1):
            self.append(value)
        return self

    def __mul__(self, count: int) -> List:
        return type(self)(self._storage * count)

    def __rmul__(self, count: int) -> List:
        return self * count

    def __getitem__(self, key: Any) -> Any:
        return self._storage[key]

    def __len__(self) -> int:
        return len(self._storage)

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self._storage.__sizeof__()

    def __repr__(self) -> str:
        return f"List({self._storage!r})"


class Mapping(TrackableDataStructure, AbstractMapping):
    """Trackable objects by name; what is there stays there."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self._storage: dict[str, Any] = {}
        self.update(*args, **kwargs)

    def __copy__(self) -> Mapping:
        return type(self)(copy.copy(self._storage))

    def __deepcopy__(self, memo: Any) -> Any:
        return type(self)(copy.deepcopy(self._storage, memo))

    @property
    def _values(self) -> Iterable[Any]:
        return [value for _, value in sorted(self._storage.items())]

    def _places(self) -> Iterable[tuple[str, Any]]:
        return self._storage.items()

    def __setitem__(self, key: str, value: Variable) -> None:
        if not isinstance(key, str):
            raise TypeError(f"Mapping accepts only string keys, but got a key {key!r}.")
        value = self._track_value(value, name=key)
        present = self._storage.setdefault(key, value)
        if present is not value:
            raise ValueError(
                "Mappings are an append-only data structure. Tried to overwrite the key "
                f"'{key}' with value {value}, but it already contains {present}"
            )

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Adds several."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __getitem__(self, key: str) -> Any:
        return self._storage[key]

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Iterator[str]:
        return iter(self._storage)

    def __repr__(self) -> str:
        return f"Mapping({self._storage!r})"
