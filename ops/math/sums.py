# SPDX-License-Identifier: Apache-2.0
"""Sums of many tensors (AddN, AccumulateNV2) and small vector products and counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.dispatch import dispatched
from ...engine.graph.build import define
from ...engine.graph.convert import convert_n_to_tensor_or_indexed_slices, convert_to_tensor
from ...engine.graph.registry import NoGradient
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import IndexedSlices, Tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, as_shape, shape_text
from ...jit.kernel import scalar as k
from ...jit.kernel.sizes import product
from ..array.constant import constant
from ..elementwise import is_lowerable
from ..public import raw, tf
from ..shape_inference import merge

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.build import OpFunction
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView


def _same_gradient(op: Operation, grad: Tensor) -> list[Any]:
    return [grad] * len(op.inputs)


def _sum_shape(c: ShapeContext) -> TensorShape:
    merged = c.inputs[-1]
    # From the last to the first, as TensorFlow's shape function goes: its message counts like that.
    for i in range(len(c.inputs) - 2, -1, -1):
        try:
            merged = merge(c.inputs[i], merged)
        except ValueError as error:
            text = f"{error}\n\tFrom merging shape {i} with other shapes."
            raise ValueError(text) from None
    return merged


def _sum_kernel(c: KernelContext, inputs: list[np.ndarray]) -> np.ndarray:
    first = inputs[0].shape
    for i, x in enumerate(inputs):
        if x.shape != first:
            raise errors.invalid(
                f"Inputs to operation {c.op.name} of type {c.op.type} must have the same size and "
                f"shape.  Input 0: {shape_text(first)} != input {i}: {shape_text(x.shape)}"
            )
    total = inputs[0]
    with np.errstate(all="ignore"):
        for x in inputs[1:]:
            total = np.asarray(total + x)
    return total


def _sum_lower(b: Builder, op: OpView, inputs: list[Any]) -> Any:
    if inputs[0].cell is not None:
        from ...jit.library import of_run

        return of_run.total(b, inputs)
    if not is_lowerable(inputs[0].dtype):
        return NotImplemented

    b.require(all(b.same_shape(x, inputs[0]) for x in inputs))
    return b.fold(k.add, inputs)


raw_add_n = define(
    "AddN",
    "inputs: N * T -> sum: T",
    "N: int >= 1; T: {numbertype, variant}",
    shape=_sum_shape,
    kernel=_sum_kernel,
    lower=_sum_lower,
    gradient=_same_gradient,
    commutative=True,
    test=lambda: {
        "values": [
            [
                [
                    np.array([1, 2], np.float32),
                    np.array([3, 4], np.float32),
                    np.array([5, 6], np.float32),
                ]
            ]
        ]
    },
    doc="The sum of any number of tensors of one shape.",
)

_ADD_N_INPUTS = (
    "inputs must be a list of at least one Tensor/IndexedSlices with the same dtype and shape"
)


@export("math.add_n", "add_n")
@dispatched
def add_n(inputs: Sequence[Any], name: str | None = None) -> Any:
    """The sum of a list of tensors of one shape and dtype.

    Args:
        inputs: a list of tensors of numbers, or of IndexedSlices.
        name: of the operation; ignored where a lone tensor is returned as it is.

    Returns:
        A tensor of the shape and dtype of each.

    Raises:
        TypeError: the dtypes differ.
        ValueError: the list is empty, or shapes known in the graph differ.
        InvalidArgumentError: shapes of a run differ.

    Example:
        >>> tf.Session().run(tf.add_n([tf.constant([1, 2]), tf.constant([10, 20])]))
        array([11, 22], dtype=int32)
    """
    if not inputs or not isinstance(inputs, (list, tuple)):
        raise ValueError(_ADD_N_INPUTS)
    inputs = convert_n_to_tensor_or_indexed_slices(inputs)
    if not all(isinstance(x, (Tensor, IndexedSlices)) for x in inputs):
        raise ValueError(_ADD_N_INPUTS)
    if len(inputs) > 1:
        return raw_add_n(inputs, name=name)
    value = inputs[0]
    if isinstance(value, IndexedSlices):
        value = convert_to_tensor(value)
    return tf.identity(value, name=name) if name else value


raw_accumulate_n = define(
    "AccumulateNV2",
    "inputs: N * T -> sum: T",
    "N: int >= 1; T: numbertype; shape: shape",
    shape=lambda c: c.attr("shape"),
    kernel=_sum_kernel,
    lower=_sum_lower,
    gradient=_same_gradient,
    commutative=True,
    test=lambda: {
        "values": [[[np.array([1, 2], np.float32), np.array([3, 4], np.float32)]]],
        "attrs": [{"shape": TensorShape([2])}],
    },
    doc="The sum of any number of tensors of a known shape.",
)


@export("math.accumulate_n", "accumulate_n")
def accumulate_n(
    inputs: Sequence[Tensor],
    shape: Sequence[int] | None = None,
    tensor_dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Any:
    """The sum of a list of tensors, which need not be ready at the same time."""
    message = "inputs must be a list of at least one Tensor with the same dtype and shape"
    if not inputs or not isinstance(inputs, (list, tuple)):
        raise ValueError(message)
    inputs = convert_n_to_tensor_or_indexed_slices(inputs)
    if not all(isinstance(x, Tensor) and x.dtype == inputs[0].dtype for x in inputs):
        raise ValueError(message)
    merged = TensorShape(None) if shape is None else as_shape(shape)
    for x in inputs:
        merged = merged.merge_with(x.get_shape())
    if tensor_dtype is not None and tensor_dtype != inputs[0].dtype:
        raise TypeError(f"tensor_dtype is {tensor_dtype}, but input is of type {inputs[0].dtype}")
    if len(inputs) == 1:
        return inputs[0] if name is None else tf.identity(inputs[0], name=name)
    return raw_accumulate_n(inputs, name=name, shape=merged)


# Cross product


def _cross_shape(c: ShapeContext) -> TensorShape:
    for shape in c.inputs:
        if shape.ndims == 0:
            raise ValueError("Shape must be at least rank 1 but is rank 0")
    shape = merge(c.inputs[0], c.inputs[1])
    if shape.ndims is not None and shape.as_list()[-1] not in (3, None):
        raise ValueError(f"Dimension must be 3 but is {shape.as_list()[-1]}")
    return shape


def _cross_kernel(c: KernelContext, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.shape != b.shape:
        raise errors.invalid(
            f"Both inputs must be of same shape: {shape_text(a.shape)} vs. {shape_text(b.shape)}"
        )
    (a0, a1, a2), (b0, b1, b2) = np.moveaxis(a, -1, 0), np.moveaxis(b, -1, 0)
    with np.errstate(all="ignore"):
        parts = (a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0)
    return np.stack(parts, axis=-1).astype(a.dtype)


def _lower_cross(b: Builder, op: OpView, x: Value, y: Value) -> Any:
    if not is_lowerable(x.dtype):
        return NotImplemented
    b.require(b.same_shape(x, y) and x.ndim and b.equal(x.shape[-1], 3))
    lead = x.shape[:-1]

    def parts(value: Value) -> list[Value]:
        return [b.slice(value, [0] * len(lead) + [i], (*lead, 1)) for i in range(3)]

    def component(a1: Any, b2: Any, a2: Any, b1: Any) -> Any:
        return k.sub(k.mul(a1, b2), k.mul(a2, b1))

    p, q = parts(x), parts(y)
    turns = [((i + 1) % 3, (i + 2) % 3) for i in range(3)]
    found = [b.map(component, p[i], q[j], p[j], q[i]) for i, j in turns]
    return b.concat(found, len(lead))


# By the triple product g · (a × b) = a · (b × g) = b · (g × a).
cross: OpFunction = define(
    "Cross",
    "a: T, b: T -> product: T",
    "T: realnumbertype",
    shape=_cross_shape,
    kernel=_cross_kernel,
    lower=_lower_cross,
    gradient=lambda op, grad: (cross(op.inputs[1], grad), cross(grad, op.inputs[0])),
    test={"shapes": [[[3], [3]], [[2, 3], [2, 3]]]},
    doc="Vector products along the last axis, which has three elements.",
)
export("linalg.cross", "cross")(cross)


# Counts


def _bincount_shape(c: ShapeContext) -> TensorShape:
    if c.inputs[1].ndims not in (0, None):
        raise ValueError(f"Shape must be rank 0 but is rank {c.inputs[1].ndims}")
    size = c.value(1)
    if size is not None and size < 0:
        raise ValueError(f"size ({size}) must be non-negative")
    return TensorShape([None if size is None else int(size)])


def _bincount_kernel(
    c: KernelContext, arr: np.ndarray, size: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    if size.size != 1:
        text = f"Shape must be rank 0 but is rank {size.ndim}"
        raise errors.invalid(text)
    if size < 0:
        raise errors.invalid(f"size ({size}) must be non-negative")
    values = arr.ravel()
    if (values < 0).any():
        raise errors.invalid("Input arr must be non-negative!")
    if not weights.size:
        counts = np.bincount(values, minlength=size.item())[: size.item()]
        return counts.astype(c.out_dtype())
    if weights.size != values.size:
        # (TensorFlow 1.15 reads beyond the weights.)
        raise errors.invalid(
            f"There are {weights.size} weights for {values.size} values: as many, or none, are "
            "needed"
        )
    kept = values < size.item()
    bins = np.zeros(size.item(), c.out_dtype())
    np.add.at(bins, values[kept], weights.ravel()[kept])
    return bins


def _lower_bincount(b: Builder, op: OpView, values: Value, size: Value, weights: Value) -> Any:
    from ...jit import library

    count = b.known(size)
    if count is None or count.ndim:
        return NotImplemented
    b.require(count.item() >= 0)
    negative = b.map(lambda v: k.lt(v, 0), values)
    error = errors.invalid("Input arr must be non-negative!")
    b.require_not(b.reduce("any", negative, None), lambda: error)
    if b.equal(product(weights.shape), 0):
        # Counts of floats end where they cannot grow, which sums of whole numbers do not.
        ones = b.full(values.shape, 1, "int64")
        bins = library.scatter_rows(b, "add", values, ones, count.item())
        return bins if bins is NotImplemented else b.cast(bins, op.dtype(0))
    if not b.same_shape(values, weights):
        return NotImplemented
    return library.scatter_rows(b, "add", values, weights, count.item())


raw_bincount = define(
    "Bincount",
    "arr: int32, size: int32, weights: T -> bins: T",
    "T: {int32, int64, float32, float64}",
    shape=_bincount_shape,
    kernel=_bincount_kernel,
    lower=_lower_bincount,
    gradient=NoGradient("TensorFlow registers none"),
    test=lambda: {
        "values": [[np.array([1, 2, 1], np.int32), np.int32(4), np.array([], np.float32)]]
    },
    doc="How often each of 0 .. size - 1 occurs, or the sum of the weights there.",
)


@export("math.bincount", "bincount")
def bincount(
    arr: TensorLike,
    weights: TensorLike | None = None,
    minlength: TensorLike | None = None,
    maxlength: TensorLike | None = None,
    dtype: DTypeLike = dtypes.int32,
) -> Any:
    """How often each of 0, 1, 2, … occurs, or the sum of the weights where it does."""
    with name_scope("bincount"):
        arr = convert_to_tensor(arr, name="arr", dtype=dtypes.int32)
        # The greatest of no elements is the least int32; the factor makes the size of nothing zero.
        is_nonempty = tf.reduce_prod(tf.shape(arr)) > 0
        output_size = tf.cast(is_nonempty, dtypes.int32) * (tf.reduce_max(arr) + 1)
        if minlength is not None:
            minlength = convert_to_tensor(minlength, name="minlength", dtype=dtypes.int32)
            output_size = tf.maximum(minlength, output_size)
        if maxlength is not None:
            maxlength = convert_to_tensor(maxlength, name="maxlength", dtype=dtypes.int32)
            output_size = tf.minimum(maxlength, output_size)
        if weights is not None:
            weights = convert_to_tensor(weights, name="weights")
            return raw.UnsortedSegmentSum(weights, arr, output_size)
        return raw_bincount(arr, output_size, constant([], dtype))
