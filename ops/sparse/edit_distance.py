# SPDX-License-Identifier: Apache-2.0
"""EditDistance: how many changes make one sequence another, for the rows of sparse tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import SparseTensor, SparseTensorValue
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel import scalar as k
from ...jit.kernel.sizes import AnySize, product
from ..found_rows import column_of
from ..public import raw
from ..run_checks import error_of
from .common import as_sparse, flat_places, parts, require_inside, require_shape, sparse_shapes

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.tensor import Tensor
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView


def _shape(c: ShapeContext) -> TensorShape:
    sparse_shapes(c)
    sparse_shapes(c, 3)
    hypothesis, truth = c.value(2), c.value(5)
    if hypothesis is None or truth is None:
        return TensorShape(None)
    if len(hypothesis) != len(truth):
        raise ValueError(
            "Num elements of hypothesis_shape does not match truth_shape: "
            f"{len(hypothesis)} vs. {len(truth)}"
        )
    return TensorShape(np.maximum(hypothesis, truth)[:-1].tolist())


def _require(name: str, indices: np.ndarray, values: np.ndarray, shape: np.ndarray) -> None:
    """Raises InvalidArgumentError for parts that are no sparse tensor."""
    for part, array, rank, kind in (
        ("indices", indices, 2, "matrix"),
        ("values", values, 1, "vector"),
        ("shape", shape, 1, "vector"),
    ):
        if array.ndim != rank:
            text = shape_text(array.shape)
            raise errors.invalid(f"{name}_{part} should be a {kind}, but got shape: {text}")
    if len(shape) != indices.shape[1]:
        raise errors.invalid(
            f"Expected {name}_shape.NumElements == #cols({name}_indices), their shapes are: "
            f"{shape_text(shape.shape)} and {shape_text(indices.shape)}"
        )
    if len(shape) < 2:
        raise errors.invalid(
            f"Input SparseTensors must have rank at least 2, but {name}_shape rank is: {len(shape)}"
        )
    if len(indices) != len(values):
        raise errors.invalid(
            f"Number of values must match first dimension of {name}_indices. Got {len(values)}, "
            f"expected {len(indices)}"
        )
    require_shape(shape)


def _sequences(indices: np.ndarray, values: np.ndarray, sizes: np.ndarray) -> dict[int, np.ndarray]:
    """The values of each row that has some, by its position in the result."""
    rows = flat_places(indices[:, :-1], sizes)
    order = np.argsort(rows, kind="stable")
    found, starts = np.unique(rows[order], return_index=True)
    return dict(zip(found.tolist(), np.split(values[order], starts[1:]))) if len(rows) else {}


def _distance(source: np.ndarray, target: np.ndarray) -> int:
    """How many elements to insert, remove or replace at least."""
    steps = np.arange(len(target) + 1)
    row = steps
    for value in source:
        kept = row[:-1] + (target != value)
        best = np.concatenate([row[:1] + 1, np.minimum(kept, row[1:] + 1)])
        # Insertions: from any element before, one for each between.
        row = np.minimum.accumulate(best - steps) + steps
    return int(row[-1])


def _kernel(c: KernelContext, *given: np.ndarray) -> np.ndarray:
    hypothesis, truth = given[:3], given[3:]
    _require("hypothesis", *hypothesis)
    _require("truth", *truth)
    if len(hypothesis[2]) != len(truth[2]):
        raise errors.invalid(
            "Expected truth and hypothesis to have matching ranks, but their shapes are: "
            f"{shape_text(hypothesis[2].shape)} and {shape_text(truth[2].shape)}"
        )
    sizes = np.maximum(hypothesis[2], truth[2])[:-1]
    for part in (hypothesis, truth):
        # Places in a sequence only tell which elements there are, wherever they lie.
        require_inside(part[0][:, :-1], sizes)
    result = np.zeros(sizes, np.float32)
    flat, normalize = result.reshape(-1), c.attr("normalize")
    guesses, wanted = (
        _sequences(indices, values, sizes) for indices, values, _ in (hypothesis, truth)
    )
    for row in guesses.keys() | wanted.keys():
        target = wanted.get(row)
        if target is None:
            flat[row] = np.inf if normalize else len(guesses[row])
        else:
            distance = _distance(guesses[row], target) if row in guesses else len(target)
            flat[row] = distance / len(target) if normalize else distance
    return result


# Compiled


def _in_rows(b: Builder, indices: Value, values: Value, sizes: list[AnySize]) -> list[Value]:
    """The row of each element, in order, and the elements in that order."""
    from ...jit import library

    count = indices.shape[0]
    rows = b.full((count,), 0, "int64")
    is_outside = b.full((count,), False, "bool")
    for axis, extent in enumerate(sizes):
        column, size = column_of(b, indices, axis), b.constant(extent, "int64")
        is_outside = b.map(
            lambda before, i, n: k.logical_or(before, k.logical_or(k.lt(i, 0), k.ge(i, n))),
            *(is_outside, column, size),
        )
        rows = b.map(lambda row, i, n: k.add(k.mul(row, n), i), rows, column, size)
    wrong = error_of(lambda indices, sizes: require_inside(indices[:, :-1], sizes))
    b.require_not(b.reduce("any", is_outside, None), wrong, indices, b.constant(sizes, "int64"))
    order = library.row_order(b, b.reshape(rows, (count, 1)))
    return [b.pick(rows, order), b.pick(values, order)]


def _result_sizes(c: KernelContext, *given: np.ndarray) -> Any:
    one, other = given[2], given[5]
    if one.ndim != 1 or one.shape != other.shape or len(one) < 2:
        return None
    return np.maximum(one, other)[:-1].tolist()


def _measured_sizes(b: Builder, op: OpView, *given: Value) -> Any:
    one, other = given[2], given[5]
    rank = one.shape[0] if one.ndim == 1 else None
    if not isinstance(rank, int) or other.shape != one.shape or rank < 2:
        return NotImplemented
    most = b.map(k.maximum, one, other)
    return [b.reshape(b.slice(most, [axis], [1]), ()) for axis in range(rank - 1)]


def _lower(b: Builder, op: OpView, *given: Value) -> Any:
    from ...jit import library

    hypothesis, truth, known = given[:3], given[3:6], b.known(given[6])
    if known is None:
        return NotImplemented
    sizes = known.tolist()
    for indices, values, shape in (hypothesis, truth):
        b.require(indices.ndim == 2 and values.ndim == shape.ndim == 1)
        b.require(b.equal(indices.shape[0], values.shape[0]))
        b.require(b.equal(indices.shape[1], len(sizes) + 1))
        b.require(b.equal(shape.shape[0], len(sizes) + 1))
        is_negative = b.reduce("any", b.map(lambda n: k.lt(n, 0), shape), None)
        b.require_not(is_negative, error_of(require_shape), shape)
    rows = product(sizes)
    one, other = (_in_rows(b, part[0], part[1], sizes) for part in (hypothesis, truth))
    found = library.edit_distances(b, one, other, rows)
    if found is NotImplemented:
        return found
    if op.attr("normalize"):
        each = b.full(truth[1].shape, 1, "float32")
        lengths = library.scatter_rows(b, "add", other[0], each, rows)
        found = b.map(_normalized, found, lengths)
    return b.reshape(found, sizes)


def _normalized(distance: Any, length: Any) -> Any:
    """The distance by the length; of two sequences without elements 0."""
    return k.select(k.eq(distance, 0), distance, k.div(distance, length))


define(
    "EditDistance",
    "hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64, "
    "truth_indices: int64, truth_values: T, truth_shape: int64 -> output: float32",
    "normalize: bool = true; T: type",
    shape=_shape,
    kernel=_kernel,
    lower=_lower,
    gradient=NoGradient("a number of changes has no gradient", silent=True),
    dynamic_shape=_result_sizes,
    measured_sizes=_measured_sizes,
    doc="How many changes make the rows of one sparse tensor those of another.",
    test=lambda: {
        "values": [
            [
                np.array([[0, 0], [0, 1], [0, 2], [2, 0]]),
                np.array([1, 2, 3, 4], np.int32),
                np.array([3, 3]),
                np.array([[0, 0], [0, 1], [1, 0]]),
                np.array([2, 3, 1], np.int32),
                np.array([3, 2]),
            ]
        ],
        "attrs": [{}, {"normalize": False}],
    },
)


@export("edit_distance")
def edit_distance(
    hypothesis: SparseTensor | SparseTensorValue,
    truth: SparseTensor | SparseTensorValue,
    normalize: bool = True,
    name: str = "edit_distance",
) -> Tensor:
    """How many elements to insert, remove or replace at least, to make one sequence another.

    Args:
        hypothesis: a SparseTensor of rank 2 or more, whose last axis has sequences.
        truth: the sequences to be made of them, of the same dtype and rank.
        normalize: whether numbers are divided by the lengths of `truth`.
        name: of the operation.

    Returns:
        float32 numbers without the last axis; infinity where `truth` has no elements, if they are
        divided by its length.

    Raises:
        TypeError: an argument is no SparseTensor.
        InvalidArgumentError: ranks differ, or are below 2.

    Example:
        >>> one = tf.SparseTensor([[0, 0], [0, 1]], [1, 2], [1, 2])
        >>> other = tf.SparseTensor([[0, 0], [0, 1]], [1, 3], [1, 2])
        >>> tf.Session().run(tf.edit_distance(one, other))
        array([0.5], dtype=float32)
    """
    for argument, value in {"Hypothesis": hypothesis, "Truth": truth}.items():
        if not isinstance(value, (SparseTensor, SparseTensorValue)):
            raise TypeError(f"{argument} must be a SparseTensor.")
    first, second = parts(as_sparse(hypothesis)), parts(as_sparse(truth))
    return raw.EditDistance(*first, *second, normalize=normalize, name=name)
