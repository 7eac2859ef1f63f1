# SPDX-License-Identifier: Apache-2.0
"""Sets along the last axis (`tf.sets`): size, intersection, difference and union of each row's."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor_or_sparse_tensor
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import SparseTensor
from ...engine.record_class import record
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape
from ...jit.kernel import scalar as k
from ..found_rows import elements_at, shape_of_rows
from ..public import raw
from ..sparse_checks import require_sparse

if TYPE_CHECKING:
    from ...engine.graph.annotations import SparseLike, TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.tensor import Tensor
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_TYPES = "T: {int8, int16, int32, int64, uint8, uint16, string}"
_ATTRS = f"set_operation: string; validate_indices: bool = true; {_TYPES}"
_RESULTS = "result_indices: int64, result_values: T, result_shape: int64"
_NO_GRADIENT = NoGradient("sets of integers and strings", silent=True)
_OPERATIONS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "a-b": lambda a, b: np.setdiff1d(a, b, assume_unique=True),
    "b-a": lambda a, b: np.setdiff1d(b, a, assume_unique=True),
    "intersection": lambda a, b: np.intersect1d(a, b, assume_unique=True),
    "union": np.union1d,
}
# Elements of rows are numbered below this, to fit in 64 bits.
_ROOM = 2**62
# Numbers are close to each other if one in so many is there.
_SPARSE = 16
_VALID = frozenset(
    getattr(dtypes, name)
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "string")
)


@record(frozen=True, slots=True)
class _Sets:
    """Elements of many sets: the row of each, its value, and the shape of the rows."""

    rows: np.ndarray  # a matrix of indices
    values: np.ndarray
    shape: tuple[int, ...]


def _of_dense(x: np.ndarray) -> _Sets:
    """The set of each row."""
    if x.ndim < 2:
        raise errors.invalid(f"Invalid rank {x.ndim}.")
    lead = x.shape[:-1]
    rows = np.indices(lead).reshape(len(lead), -1).T
    return _Sets(np.repeat(rows, x.shape[-1], axis=0), x.reshape(-1), lead)


def _numbered(rows: np.ndarray, room: int) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Numbers below `room` for rows of indices, in their order; and what gives rows for them."""
    low = rows.min(axis=0, initial=0)
    sizes = rows.max(axis=0, initial=0) - low + 1
    if math.prod(sizes.tolist()) >= room:
        found, numbers = np.unique(rows, axis=0, return_inverse=True)
        return numbers.reshape(-1), found.__getitem__
    numbers = np.zeros(len(rows), np.int64)
    for column, size, first in zip(rows.T, sizes.tolist(), low.tolist(), strict=True):
        numbers = numbers * size + (column - first)

    def rows_of(found: np.ndarray) -> np.ndarray:
        columns = np.unravel_index(found, sizes) if len(sizes) else ()
        return np.stack([*columns], -1) + low if columns else np.zeros((len(found), 0), np.int64)

    return numbers, rows_of


def _distinct(keys: np.ndarray) -> np.ndarray:
    """What numbers there are, in order."""
    low = int(keys.min(initial=_ROOM))
    width = int(keys.max(initial=low)) - low + 1
    if width <= _SPARSE * len(keys):
        # Of numbers that are close to each other nothing has to be sorted.
        is_there = np.zeros(width, np.bool_)
        is_there[keys - low] = True
        return np.flatnonzero(is_there) + low
    # (NumPy's `unique` may go by hashes, which takes ten times as long.)
    keys = np.sort(keys)
    return keys[np.diff(keys, prepend=keys[:1] - 1) != 0]


def _runs(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where runs of equal numbers begin, and how long they are."""
    starts = np.flatnonzero(np.diff(numbers, prepend=numbers[:1] - 1))
    return starts, np.diff(starts, append=len(numbers))


def _ranked(values: np.ndarray) -> tuple[np.ndarray | None, np.ndarray, int]:
    """Values in order or None if they are numbers from the lowest on, which each is, and so many.

    For numbers that are close to each other nothing has to be sorted.
    """
    if values.dtype != object and values.size:
        low = int(values.min())
        count = int(values.max()) - low + 1
        if count < 2**31:
            return None, values.astype(np.int64) - low, count
    found, numbers = np.unique(values, return_inverse=True)
    return found, numbers.reshape(-1), len(found)


def _check(indices: np.ndarray, shape: np.ndarray) -> None:
    """Raises InvalidArgumentError unless the indices are inside and in order."""
    limits = shape.tolist()
    places = np.zeros(len(indices), np.int64)
    for column, size in zip(indices.T, limits, strict=True):
        places = places * size + column
    if ((indices >= 0) & (indices < shape)).all() and (np.diff(places) > 0).all():
        return
    before: tuple[int, ...] = ()
    for i, index in enumerate(map(tuple, indices.tolist())):
        text = f"indices[{i}] = [{','.join(map(str, index))}] is "
        if any(not 0 <= n < size for n, size in zip(index, limits, strict=True)):
            sizes = ",".join(str(size) for size in limits)
            raise errors.invalid(f"{text}out of bounds: need 0 <= index < [{sizes}]")
        # Tuples compare as rows do in row-major order, which TensorFlow asks of sparse tensors.
        if i and index <= before:
            raise errors.invalid(text + ("repeated" if index == before else "out of order"))
        before = index


def _of_sparse(
    c: KernelContext, indices: np.ndarray, values: np.ndarray, shape: np.ndarray
) -> _Sets:
    require_sparse(indices, values, shape)
    if c.attr("validate_indices"):
        _check(indices, shape)
    return _Sets(indices[:, :-1], values, tuple(int(size) for size in shape[:-1]))


def _combined(c: KernelContext, a: _Sets, b: _Sets) -> tuple[np.ndarray, ...]:
    """The result of the op's operation on all rows, as a sparse tensor."""
    if a.shape != b.shape:
        raise errors.invalid(f"Mismatched group shapes [{a.shape}] vs [{b.shape}].")
    name = c.attr("set_operation").lower()
    if name not in _OPERATIONS:
        raise errors.invalid(f"Invalid set_operation {name}.")
    everything = np.concatenate([a.values, b.values])
    known, value, count = _ranked(everything)
    row, rows_of = _numbered(np.concatenate([a.rows, b.rows]), _ROOM // max(count, 1))
    # One number for an element of a row, in the order of rows, then of values.
    keys = row * count + value
    found = _OPERATIONS[name](_distinct(keys[: len(a.rows)]), _distinct(keys[len(a.rows) :]))
    row, value = np.divmod(found, max(count, 1))
    if known is not None:
        values = known[value]
    else:
        values = everything.min() + value
    starts, sizes = _runs(row)
    place = np.arange(len(row)) - np.repeat(starts, sizes)
    indices = np.concatenate([rows_of(row), place[:, None]], axis=1).astype(np.int64)
    shape = np.array([*a.shape, sizes.max(initial=0)], np.int64)
    return indices, values.astype(c.out_dtype(1)), shape


def _shapes(of: int, is_dense: bool) -> Callable[[Any], list[TensorShape]]:
    """Shape function: the rank is that of a dense input or the length of a shape."""

    def shape(c: ShapeContext) -> list[TensorShape]:
        given = c.inputs[of]
        rank = given.ndims if is_dense else (given.as_list()[0] if given.ndims == 1 else None)
        if is_dense and rank is not None and rank < 2:
            raise ValueError(f"Input {of} expected rank >= 2, got {rank}.")
        return [TensorShape([None, rank]), TensorShape([None]), TensorShape([rank])]

    return shape


# Compiled: sets of so few elements that each is compared with every other.

_FEW = 16


def _quick_count(c: KernelContext, one: np.ndarray, other: np.ndarray) -> Any:
    """How many elements the result has, where it is going to be compiled."""
    is_fitting = one.ndim > 1 and one.shape[:-1] == other.shape[:-1]
    if not is_fitting or one.shape[-1] + other.shape[-1] > _FEW or one.dtype == object:
        return None
    return [_combined(c, _of_dense(one), _of_dense(other))[1].size]


def _kept(b: Builder, op: OpView, one: Value, other: Value) -> tuple[Value, Value] | None:
    """Rows of elements, and which of them are in the result; None where there are too many."""
    (*lead, width), (*other_lead, other_width) = one.shape, other.shape
    if not isinstance(width, int) or not isinstance(other_width, int):
        return None
    name = op.attr("set_operation").lower()
    if not 0 < width + other_width <= _FEW or name not in _OPERATIONS or "object" in one.dtype:
        return None
    b.require(len(lead) and len(lead) == len(other_lead))
    b.require(all(b.equal(x, y) for x, y in zip(lead, other_lead, strict=True)))
    if name == "b-a":
        one, other = other, one
    elements = b.concat([one, other], len(lead)) if name == "union" else one
    kept = b.map(k.logical_not, _is_among(b, elements, elements, only_before=True))
    if name != "union":
        found = _is_among(b, elements, other)
        wanted = found if name == "intersection" else b.map(k.logical_not, found)
        kept = b.map(k.logical_and, kept, wanted)
    return elements, kept


def _pairs(b: Builder, one: Value, other: Value) -> tuple[Value, Value]:
    """The elements of rows beside each of those of other rows, which lie innermost."""
    (*lead, width), others = one.shape, other.shape[-1]
    whole = (*lead, width, others)
    beside = b.broadcast(b.reshape(one, (*lead, width, 1)), whole)
    return beside, b.broadcast(b.reshape(other, (*lead, 1, others)), whole)


def _is_among(b: Builder, elements: Value, others: Value, only_before: bool = False) -> Value:
    """Whether a row of others holds an element; with only_before, at an earlier place."""
    one, other = _pairs(b, elements, others)
    same = b.map(k.eq, one, other)
    if only_before:
        rank, shape = len(one.shape), one.shape
        at, place = (b.iota(shape, axis, "int32") for axis in (rank - 2, rank - 1))
        same = b.map(lambda same, i, j: k.logical_and(same, k.gt(i, j)), same, at, place)
    return b.reduce("any", same, [len(one.shape) - 1])


def _count(b: Builder, op: OpView, one: Value, other: Value) -> Any:
    found = _kept(b, op, one, other)
    if found is None:
        return NotImplemented
    return [b.reduce("sum", b.cast(found[1], "int64"), None)]


def _lower(b: Builder, op: OpView, one: Value, other: Value, sizes: Value) -> Any:
    from ...jit import library

    found, known = _kept(b, op, one, other), b.known(sizes)
    if found is None or known is None:
        return NotImplemented
    elements, kept = found
    (*lead, width), last = elements.shape, len(elements.shape) - 1
    # The place of an element in its row is how many of those that are kept are less.
    (value, other_value), (_, is_other) = _pairs(b, elements, elements), _pairs(b, kept, kept)
    less = b.map(lambda x, y, is_y: k.logical_and(k.lt(y, x), is_y), value, other_value, is_other)
    place = b.reduce("sum", b.cast(less, "int64"), [last + 1])
    place = b.map(lambda place, kept: k.select(kept, place, -1), place, kept)
    wanted = b.iota((*lead, width), last, "int64")
    wanted, places = _pairs(b, wanted, place)
    _, values = _pairs(b, elements, elements)
    chosen = b.map(lambda i, at, x: k.select(k.eq(i, at), x, 0), wanted, places, values)
    in_order = b.reduce("sum", chosen, [last + 1])
    counts = b.reduce("sum", b.cast(kept, "int64"), [last])
    filled = b.map(
        lambda i, count: k.lt(i, count),
        b.iota((*lead, width), last, "int64"),
        b.broadcast(b.reshape(counts, (*lead, 1)), (*lead, width)),
    )
    indices = library.coordinates(b, filled, known.item(0))
    if indices is NotImplemented:
        return NotImplemented
    return indices, elements_at(b, in_order, indices), shape_of_rows(b, lead, counts)


_EACH = [{"set_operation": name} for name in _OPERATIONS]


def _dense() -> list[Any]:
    return [np.array([[1, 5, 2], [3, 3, 3]], np.int32), np.array([[5, 9], [4, 3]], np.int32)]


def _sparse() -> list[Any]:
    return [np.array([[0, 0], [0, 1], [1, 0]]), np.array([2, 5, 3], np.int32), np.array([2, 2])]


define(
    "DenseToDenseSetOperation",
    f"set1: T, set2: T -> {_RESULTS}",
    _ATTRS,
    shape=_shapes(0, True),
    kernel=lambda c, a, b: _combined(c, _of_dense(a), _of_dense(b)),
    lower=_lower,
    gradient=_NO_GRADIENT,
    dynamic_shape=_quick_count,
    measured_sizes=_count,
    doc="An operation on the sets that the last axes of two tensors hold.",
    test=lambda: {"values": [_dense()], "attrs": _EACH},
)
define(
    "DenseToSparseSetOperation",
    "set1: T, set2_indices: int64, set2_values: T, set2_shape: int64 -> " + _RESULTS,
    _ATTRS,
    shape=_shapes(0, True),
    kernel=lambda c, a, *b: _combined(c, _of_dense(a), _of_sparse(c, *b)),
    gradient=_NO_GRADIENT,
    dynamic_shape=True,
    doc="An operation on the sets of a dense and a sparse tensor.",
    test=lambda: {"values": [[_dense()[0], *_sparse()]], "attrs": _EACH},
)
define(
    "SparseToSparseSetOperation",
    "set1_indices: int64, set1_values: T, set1_shape: int64, set2_indices: int64, "
    "set2_values: T, set2_shape: int64 -> " + _RESULTS,
    _ATTRS,
    shape=_shapes(2, False),
    kernel=lambda c, *parts: _combined(c, _of_sparse(c, *parts[:3]), _of_sparse(c, *parts[3:])),
    gradient=_NO_GRADIENT,
    dynamic_shape=True,
    doc="An operation on the sets of two sparse tensors.",
    test=lambda: {"values": [[*_sparse(), *_sparse()]], "attrs": _EACH},
)


def _sizes(
    c: KernelContext, indices: np.ndarray, values: np.ndarray, shape: np.ndarray
) -> np.ndarray:
    sets = _of_sparse(c, indices, values, shape)
    result = np.zeros(sets.shape, np.int32)
    _, value, count = _ranked(values)
    row, rows_of = _numbered(sets.rows, _ROOM // max(count, 1))
    row = _distinct(row * count + value) // max(count, 1)
    starts, sizes = _runs(row)
    if len(starts):
        result[tuple(rows_of(row[starts]).T)] = sizes if sets.shape else sizes[0]
    return result


define(
    "SetSize",
    "set_indices: int64, set_values: T, set_shape: int64 -> size: int32",
    f"validate_indices: bool = true; {_TYPES}",
    shape=lambda c: TensorShape(None),
    kernel=_sizes,
    gradient=_NO_GRADIENT,
    doc="The number of different elements in each set of a sparse tensor.",
    test=lambda: {"values": [_sparse()]},
)


@export("sets.size", "sets.set_size")
def set_size(a: SparseTensor, validate_indices: bool = True) -> Tensor:
    """The number of different elements along the last axis of a sparse tensor."""
    a = convert_to_tensor_or_sparse_tensor(a, name="a")
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {a}.")
    if a.values.dtype.base_dtype not in _VALID:
        raise TypeError(f"Invalid dtype {a.values.dtype}.")
    return raw.SetSize(a.indices, a.values, a.dense_shape, validate_indices)


# There is no op for a sparse and a dense set in this order.
def _converted(a: Any, b: Any) -> tuple[Any, Any, bool]:
    """Both as tensors, a dense one first, and whether that changed their order."""
    a = convert_to_tensor_or_sparse_tensor(a, name="a")
    if a.dtype.base_dtype not in _VALID:
        raise TypeError(f"'a' invalid dtype {a.dtype}.")
    b = convert_to_tensor_or_sparse_tensor(b, name="b")
    if b.dtype.base_dtype != a.dtype.base_dtype:
        raise TypeError(f"Types don't match, {a.dtype} vs {b.dtype}.")
    if isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        return b, a, True
    return a, b, False


def _set_operation(
    a: SparseLike | TensorLike, b: SparseLike | TensorLike, operation: str, validate: bool
) -> SparseTensor:
    def parts(x: SparseLike | TensorLike) -> tuple[Any, ...]:
        return (x.indices, x.values, x.dense_shape) if isinstance(x, SparseTensor) else (x,)

    function: Any
    if isinstance(a, SparseTensor):
        function = raw.SparseToSparseSetOperation
    elif isinstance(b, SparseTensor):
        function = raw.DenseToSparseSetOperation
    else:
        function = raw.DenseToDenseSetOperation
    return SparseTensor(*function(*parts(a), *parts(b), operation, validate))


@export("sets.intersection", "sets.set_intersection")
def set_intersection(
    a: SparseLike | TensorLike, b: SparseLike | TensorLike, validate_indices: bool = True
) -> SparseTensor:
    """The elements in both sets, row by row."""
    a, b, _ = _converted(a, b)
    return _set_operation(a, b, "intersection", validate_indices)


@export("sets.difference", "sets.set_difference")
def set_difference(
    a: SparseLike | TensorLike,
    b: SparseLike | TensorLike,
    aminusb: bool = True,
    validate_indices: bool = True,
) -> SparseTensor:
    """The elements in one set that are not in the other, row by row."""
    a, b, is_flipped = _converted(a, b)
    operation = "a-b" if aminusb != is_flipped else "b-a"
    return _set_operation(a, b, operation, validate_indices)


@export("sets.union", "sets.set_union")
def set_union(a: Sequence[Any], b: Sequence[Any], validate_indices: bool = True) -> SparseTensor:
    """The elements in either set, row by row."""
    a, b, _ = _converted(a, b)
    return _set_operation(a, b, "union", validate_indices)
