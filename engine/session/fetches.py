# SPDX-License-Identifier: Apache-2.0
"""What `session.run` is asked for and given: fetch structures and feed dictionaries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import errors
from ..api import export
from ..graph.operation import Operation
from ..graph.tensor import (
    IndexedSlices,
    IndexedSlicesValue,
    SparseTensor,
    SparseTensorValue,
    Tensor,
)
from ..types import dtypes
from ..types.dtypes import boxed
from ..types.nest import flatten_dict_items

if TYPE_CHECKING:
    from ..graph.annotations import Feeds, TensorLike
    from ..graph.graph import Graph

Build = Callable[[Sequence[Any]], Any]

# So many objects are quickly looked at one by one.
_FEW_OBJECTS = 100

# (type, fetch -> (elements, values -> result), (feed, value) -> pairs, feed -> elements)
_EXPANSIONS: list[tuple[type, Any, Any, Any]] = []


@export("register_session_run_conversion_functions")
def register_session_run_conversion_functions(
    tensor_type: type,
    fetch_function: Callable[[Any], Any],
    feed_function: Callable[[Any, Any], Any] | None = None,
    feed_function_for_partial_run: Callable[[Any], Any] | None = None,
) -> None:
    """Lets objects of a type be fetched and fed, as one or several graph elements."""
    for kind, *_ in _EXPANSIONS:
        if issubclass(kind, tensor_type):
            raise ValueError(f"{tensor_type} has already been registered so ignore it.")
    entry = (tensor_type, fetch_function, feed_function, feed_function_for_partial_run)
    # In front: the last entry takes everything.
    _EXPANSIONS.insert(0, entry)


# Op types whose value is given to programs as a handle: type -> class(value, dtype, session).
HANDLES: dict[str, Any] = {}
_HANDLE_CLASSES: list[Any] = []


def register_handles(op_type: str, handle_class: type) -> None:
    """Makes fetches of an op type objects of a class that may be fed in place of values."""
    HANDLES[op_type] = handle_class
    _HANDLE_CLASSES.append(handle_class)


def _slices_parts(slices: IndexedSlices) -> list[Any]:
    parts = [slices.values, slices.indices]
    return parts if slices.dense_shape is None else [*parts, slices.dense_shape]


def _sparse_parts(sparse: SparseTensor) -> list[Any]:
    return [sparse.indices, sparse.values, sparse.dense_shape]


_EXPANSIONS += [
    (
        SparseTensor,
        lambda fetch: (_sparse_parts(fetch), lambda values: SparseTensorValue(*values)),
        lambda feed, value: list(zip(_sparse_parts(feed), value)),
        _sparse_parts,
    ),
    (
        IndexedSlices,
        lambda fetch: (
            _slices_parts(fetch),
            lambda values: IndexedSlicesValue(*values, *[None] * (3 - len(values))),
        ),
        lambda feed, value: list(zip(_slices_parts(feed), value)),
        _slices_parts,
    ),
    (
        object,
        lambda fetch: ([fetch], lambda values: values[0]),
        lambda feed, value: [(feed, value)],
        lambda feed: [feed],
    ),
]


def _expansion(thing: object) -> tuple[type, Any, Any, Any]:
    return next(entry for entry in _EXPANSIONS if isinstance(thing, entry[0]))


class Fetches:
    """A fetch structure, resolved: the tensors and operations in it, and how to rebuild it."""

    __slots__ = ("graph", "elements", "_index", "build", "tensors", "targets", "_tensor_at")

    def __init__(self, graph: Graph, structure: object) -> None:
        self.graph = graph
        self.elements: list[Any] = []
        self._index: dict[int, int] = {}
        self.build: Build = self._map(structure)
        self.tensors = [item for item in self.elements if isinstance(item, Tensor)]
        self.targets = [item for item in self.elements if isinstance(item, Operation)]

    def _element(self, fetch: object) -> int:
        try:
            element = self.graph.as_graph_element(fetch, allow_tensor=True, allow_operation=True)
        except TypeError as error:
            raise TypeError(
                f"Fetch argument {fetch!r} has invalid type {type(fetch)!r}, must be a string or "
                f"Tensor. ({error})"
            ) from None
        except (ValueError, KeyError) as error:
            raise ValueError(
                f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({error})"
            ) from None
        if not self.graph.is_fetchable(element):
            name = element.op.name if isinstance(element, Tensor) else element.name
            raise errors.InaccessibleTensorError(
                f"Operation {name!r} has been marked as not fetchable. Typically this happens "
                "when it is defined in another function or code block. Use return values, "
                "explicit Python locals or TensorFlow collections to access it."
            )
        # What is asked for twice is computed once.
        position = self._index.setdefault(id(element), len(self.elements))
        if position == len(self.elements):
            self.elements.append(element)
        return position

    def _map(self, fetch: Any) -> Build:
        """How the value of (a part of) the structure is made from the elements' values."""
        if fetch is None:
            raise TypeError(f"Fetch argument {fetch!r} has invalid type {type(fetch)!r}")
        kind = type(fetch)
        if isinstance(fetch, (list, tuple)):
            parts = [self._map(item) for item in fetch]
            return _sequence_builder(kind, parts)
        if isinstance(fetch, Mapping):
            keys = list(fetch)
            parts = [self._map(item) for item in fetch.values()]
            return _mapping_builder(kind, keys, parts)
        if getattr(kind, "__attrs_attrs__", None) is not None:
            names = [attribute.name for attribute in kind.__attrs_attrs__]
            parts = [self._map(getattr(fetch, name)) for name in names]
            return lambda values: kind(*[part(values) for part in parts])
        elements, contract = _expansion(fetch)[1](fetch)
        positions = [self._element(element) for element in elements]
        if not positions:
            return lambda values: None
        return lambda values: contract([values[i] for i in positions])


def _sequence_builder(kind: type, parts: list[Build]) -> Build:
    if issubclass(kind, list):
        return lambda values: [part(values) for part in parts]
    if kind is tuple:
        return lambda values: tuple([part(values) for part in parts])
    return lambda values: kind(*[part(values) for part in parts])


def _mapping_builder(kind: type, keys: list[Any], parts: list[Build]) -> Build:
    def build(values: Sequence[Any]) -> Any:
        result = kind()
        for key, part in zip(keys, parts):
            result[key] = part(values)  # type: ignore[index]
        return result

    return build


def freeze(structure: object) -> Any:
    """A hashable stand-in for a fetch structure: equal only for structures of the same elements."""
    if isinstance(structure, (list, tuple)):
        return (type(structure), *[freeze(item) for item in structure])
    if isinstance(structure, Mapping):
        return (type(structure), *[(key, freeze(item)) for key, item in structure.items()])
    return structure


class FeedSlot:
    """One tensor that a prepared run feeds: how values become arrays of its type and shape."""

    __slots__ = ("tensor", "dtype", "shape", "sizes", "is_object", "is_string", "is_int")

    def __init__(self, tensor: Tensor) -> None:
        if not tensor.graph.is_feedable(tensor):
            raise ValueError(f"Tensor {tensor} may not be fed.")
        self.tensor = tensor
        base = tensor.dtype.base_dtype
        self.dtype = base.np_dtype
        self.sizes = tensor.shape.sizes
        self.shape = self.sizes if tensor.shape.is_fully_defined() else None
        self.is_string = base == dtypes.string
        self.is_object = not base.is_numpy_compatible
        self.is_int = base.is_integer

    def convert(self, value: Any) -> Any:
        """The value as an array; TensorFlow's errors for what does not fit."""
        kind = type(value)
        # Nearly all feeds, at the cost of a comparison.  (No copy: a run only reads what it is
        # fed.)
        if kind is np.ndarray and value.dtype == self.dtype and not self.is_string:
            array = value
        elif kind is float and self.dtype.kind == "f":
            array = np.array(value, self.dtype)
        else:
            array = self._convert(value)
        shape = array.shape
        if shape != self.shape and self.sizes is not None:
            self._check_shape(shape)
        return array

    def _convert(self, value: object) -> Any:
        if isinstance(value, Tensor):
            raise TypeError(
                "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include "
                "Python scalars, strings, lists, numpy ndarrays, or TensorHandles. For reference, "
                f"the tensor object was {value} which was passed to the feed with key "
                f"{self.tensor}."
            )
        if isinstance(value, tuple(_HANDLE_CLASSES)):
            return value.kept()  # type: ignore[attr-defined]
        if self.is_object and not isinstance(value, np.ndarray):
            return boxed(value)
        if isinstance(value, int):
            self._check_int(value)
        if self.is_string:
            return _bytes_array(value, self.tensor)
        return np.asarray(value, dtype=self.dtype)

    def _check_int(self, value: int) -> None:
        try:
            # Python's numbers have no end: one that wraps around is no value that was meant.
            fits = not self.is_string and self.dtype.type(value) == value
        except OverflowError:
            fits = False
        if not fits:
            raise TypeError(
                f"Type of feed value {value} with type {type(value)} is not compatible with "
                f"Tensor type {self.tensor.dtype.as_numpy_dtype}. Try explicitly setting the type "
                "of the feed tensor to a larger type (e.g. int64)."
            )

    def _check_shape(self, shape: tuple[int, ...]) -> None:
        sizes = self.sizes or ()
        if len(shape) != len(sizes) or any(
            size is not None and size != given for size, given in zip(sizes, shape)
        ):
            raise ValueError(
                f"Cannot feed value of shape {shape!r} for Tensor {self.tensor.name!r}, which has "
                f"shape {str(self.tensor.shape)!r}"
            )


def _bytes_array(value: object, tensor: Tensor) -> np.ndarray:
    """Text of any kind as an object array of bytes; InternalError for what is no text."""
    # Arrays of fixed width would lose trailing zero bytes: everything goes through objects.
    array = np.asarray(value, dtype=object)
    if not _are_bytes(array):
        result = np.empty(array.shape, object)
        result.ravel()[:] = [_bytes_of(item, tensor) for item in array.flat]
        return result
    return array


def _bytes_of(item: object, tensor: Tensor) -> bytes:
    if isinstance(item, bytes):
        return bytes(item)
    if isinstance(item, str):
        return item.encode()
    raise errors.internal(
        f"Unsupported object type {type(item).__name__}: what is fed to {tensor.name!r}, a tensor "
        f"of strings, must be str or bytes, and {item!r} is neither"
    )


def _are_bytes(array: np.ndarray) -> bool:
    """Whether nothing but bytes is in an array of objects."""
    if array.size > _FEW_OBJECTS:
        from ...jit.runtime import text_objects

        if text_objects.is_many(array.size):
            return text_objects.sizes_of(array) is not None
    return set(map(type, array.reshape(-1).tolist())) <= {bytes}


def feed_elements(graph: Graph, feed: TensorLike) -> list[Tensor]:
    """The tensors that a key of a feed dictionary stands for."""
    expand = _expansion(feed)[3]
    if expand is None:
        raise TypeError(f"Feed argument {feed!r} has invalid type {type(feed)!r}")
    return [feed_tensor(graph, part) for part in expand(feed)]


def feed_tensor(graph: Graph, feed: object) -> Tensor:
    """One key as a tensor."""
    try:
        return graph.as_graph_element(feed, allow_tensor=True, allow_operation=False)
    except Exception as error:
        reason = error.args[0] if error.args else error
        raise TypeError(f"Cannot interpret feed_dict key as Tensor: {reason}") from None


def output_name(name: str) -> str:
    """A tensor's name as messages of the runtime's have it: without a number it is the first."""
    return name if ":" in name else f"{name}:0"


def expand_feed(feed: object, value: object) -> list[tuple[Any, Any]]:
    """A key and its value as pairs of graph elements and values."""
    expand = _expansion(feed)[2]
    if expand is None:
        raise TypeError(f"Feed argument {feed!r} has invalid type {type(feed)!r}")
    return list(expand(feed, value))


def expanded(feed_dict: Feeds) -> list[tuple[Any, Any]]:
    """A feed dictionary, perhaps of structures, as pairs of graph elements and values."""
    flat = flatten_dict_items(feed_dict)
    return [pair for key, value in flat.items() for pair in expand_feed(key, value)]


def expanded_values(feed_dict: Feeds, slots: Sequence[FeedSlot]) -> list[Any]:
    """The values of such a dictionary as arrays, by the slots of its elements."""
    return [s.convert(value) for s, (_, value) in zip(slots, expanded(feed_dict))]


def stands_for_itself(feed: object) -> bool:
    """Whether a key is one graph element whose value is fed as it is."""
    return _expansion(feed)[0] is object
