# SPDX-License-Identifier: Apache-2.0
"""Stacking tensors along a new dimension and taking them apart again.

Also how lists that hold tensors become tensors (a Pack node named `packed`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.dispatch import dispatched
from ...engine.graph import rowwise
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor, register_tensor_conversion_function
from ...engine.graph.graph import name_scope
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, shape_text
from .. import shape_inference
from ..public import raw
from .constant import constant
from .join import pieces, split_axis
from .python_values import flatten
from .shape import expand_dims

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.types.dtypes import DType
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView


def _pack_shape(c: ShapeContext) -> TensorShape:
    merged = TensorShape(None)
    # From the last to the first, as TensorFlow merges: its message names shapes in this order.
    for shape_ in reversed(c.inputs):
        merged = shape_inference.merge(shape_, merged)
    given = shape_inference.dims(merged)
    if given is None:
        return merged
    where = shape_inference.canonical_axis(c.attr("axis"), len(given) + 1)
    return TensorShape(given[:where] + [len(c.inputs)] + given[where:])


def _pack(c: KernelContext, values: list[np.ndarray]) -> np.ndarray:
    for i, value in enumerate(values[1:], 1):
        if value.shape != values[0].shape:
            raise errors.invalid(
                "Shapes of all inputs must match: "
                f"values[0].shape = {shape_text(values[0].shape)} != "
                f"values[{i}].shape = {shape_text(value.shape)}"
            )
    if len(values) == 1 and not values[0].ndim:
        return values[0].reshape(1).copy()
    return np.stack(values, axis=c.attr("axis"))


def _lower_pack(b: Builder, op: OpView, values: list[Any]) -> Value:
    ndim = values[0].ndim
    where = op.attr("axis") % (ndim + 1)
    rows = []
    for value in values:
        shape_ = list(value.shape)
        rows.append(b.reshape(value, (*shape_[:where], 1, *shape_[where:])))
    return rows[0] if len(rows) == 1 else b.concat(rows, where)


def _pack_gradient(op: Operation, grad: Tensor) -> list[Tensor]:
    return unstack(grad, num=op.get_attr("N"), axis=op.get_attr("axis"))


def _pack_rows(op: Operation, inputs: Sequence[rowwise.Rows]) -> rowwise.Results:
    if any(rows.rank is None or rows.places is not None for rows in inputs):
        return None
    rank = inputs[0].rank or 0
    axis = op._attrs["axis"]
    tensors = [rows.tensor for rows in inputs]
    return [rowwise.Rows(raw.Pack(tensors, axis=axis + 1 if axis >= 0 else axis), rank + 1)]


_pack_op = define(
    "Pack",
    "values: N * T -> output: T",
    "N: int >= 1; T: type; axis: int = 0",
    shape=_pack_shape,
    kernel=_pack,
    rows=_pack_rows,
    lower=_lower_pack,
    gradient=_pack_gradient,
    sizes=True,
    doc="Tensors of one shape stacked along a new dimension.",
    test={"shapes": [[[2, 3], [2, 3]]], "attrs": [{}, {"axis": 1}, {"axis": -1}], "gradient": True},
)


def _unpack_shape(c: ShapeContext) -> list[TensorShape]:
    given, count = shape_inference.dims(c.inputs[0]), c.attr("num")
    if given is None:
        return [shape_inference.unknown()] * count
    where = shape_inference.canonical_axis(c.attr("axis"), len(given))
    shape_inference.merge_dim(given[where], count)
    return [TensorShape(given[:where] + given[where + 1 :])] * count


def _unpack(c: KernelContext, x: np.ndarray) -> tuple[np.ndarray, ...]:
    where, count = split_axis(c.attr("axis"), x.ndim), c.attr("num")
    if x.shape[where] != count:
        raise errors.invalid(
            f"Input shape axis {where} must equal {count}, got shape {shape_text(x.shape)}"
        )
    moved = np.moveaxis(x, where, 0)
    return tuple(moved[i, ...] for i in range(count))


def _lower_unpack(b: Builder, op: OpView, x: Value) -> tuple[Any, ...]:
    where = b.axis(op.attr("axis"), x.ndim)
    b.require(b.equal(x.shape[where], op.attr("num")))
    rest = (*x.shape[:where], *x.shape[where + 1 :])
    slices = pieces(b, x, where, [1] * op.attr("num"))
    return tuple(b.reshape(piece, rest) for piece in slices)


def _unpack_gradient(op: Operation, *grads: Tensor) -> Tensor:
    return stack(list(grads), axis=op.get_attr("axis"))


_unpack_op = define(
    "Unpack",
    "value: T -> output: num * T",
    "num: int >= 0; T: type; axis: int = 0",
    shape=_unpack_shape,
    kernel=_unpack,
    lower=_lower_unpack,
    gradient=_unpack_gradient,
    sizes=True,
    doc="The slices of a tensor along a dimension.",
    test={
        "shapes": [[[2, 2]]],
        "attrs": [{"num": 2}, {"num": 2, "axis": 1}, {"num": 2, "axis": -1}],
        "gradient": True,
    },
)


@export("stack")
@dispatched
def stack(values: Any, axis: int = 0, name: str = "stack") -> Tensor:
    """Tensors of one shape, stacked along a new dimension.

    Args:
        values: a list of tensors of one dtype and shape.
        axis: where the new dimension is in the result: an integer in [-rank - 1, rank].
        name: of the operation.

    Returns:
        A Tensor of that dtype, with one more dimension.

    Raises:
        TypeError: the dtypes differ.
        ValueError: the shapes known in the graph differ, or `axis` is out of range.
        InvalidArgumentError: those of a run differ.

    Example:
        >>> x, y = tf.constant([1, 2]), tf.constant([3, 4])
        >>> tf.Session().run([tf.stack([x, y]), tf.stack([x, y], axis=1)])
        [array([[1, 2],
               [3, 4]], dtype=int32), array([[1, 3],
               [2, 4]], dtype=int32)]
    """
    if axis == 0:
        try:
            return convert_to_tensor(values, name=name)
        except (TypeError, ValueError, NotImplementedError):
            pass  # A list that holds tensors and is packed below.
    static = convert_to_tensor(values[0], name=name).get_shape()
    if static.ndims is not None:
        expanded = static.ndims + 1
        if not -expanded <= axis < expanded:
            raise ValueError(f"axis = {axis} not in [{-expanded}, {expanded})")
    return _pack_op(values, axis=axis, name=name)


@export("unstack")
def unstack(
    value: TensorLike, num: int | None = None, axis: int = 0, name: str = "unstack"
) -> list[Tensor]:
    """The slices of a tensor along a dimension.

    Args:
        value: a tensor of any dtype, with at least one dimension.
        num: how many there are, where the graph does not know.
        axis: which dimension: an integer in [-rank, rank).
        name: of the operation.

    Returns:
        A list of Tensors of the dtype of `value`, with one dimension less.

    Raises:
        ValueError: the number is neither known nor given, or is another one, or `axis` is out of
            range.

    Example:
        >>> x, y = tf.unstack([[1, 2], [3, 4]], axis=1)
        >>> tf.Session().run([x, y])
        [array([1, 3], dtype=int32), array([2, 4], dtype=int32)]
    """
    if num is None:
        value = convert_to_tensor(value)
        static = value.get_shape()
        if static.ndims is not None:
            if not -static.ndims <= axis < static.ndims:
                raise ValueError(f"axis = {axis} not in [{-static.ndims}, {static.ndims})")
            num = static.as_list()[axis]
        if num is None:
            raise ValueError(f"Cannot infer num from shape {static}")
    return _unpack_op(value, num=num, axis=axis, name=name)


def _parallel_shape(c: ShapeContext) -> TensorShape:
    for shape in c.inputs:
        if not shape.is_fully_defined():
            raise ValueError("All input shapes must be fully defined.")
        if shape.ndims and shape.as_list()[0] != 1:
            raise ValueError("Size of first dimension must be 1.")
    return TensorShape(c.attr("shape"))


_parallel_concat = define(
    "ParallelConcat",
    "values: N * T -> output: T",
    "N: int >= 1; T: type; shape: shape",
    shape=_parallel_shape,
    kernel=lambda c, values: np.concatenate(values, axis=0),
    lower=lambda b, op, values: values[0] if len(values) == 1 else b.concat(values, 0),
    gradient=NoGradient("TensorFlow declares none"),
    doc="Rows joined to a tensor of a shape that is known beforehand.",
    test=lambda: {
        "shapes": [[[1, 3], [1, 3]]],
        "attrs": [{"shape": TensorShape([2, 3])}],
        "static": True,
    },
)


@export("parallel_stack")
def parallel_stack(values: Sequence[Tensor], name: str = "parallel_stack") -> Tensor:
    """Tensors of one, fully known shape stacked along a new first dimension."""
    with name_scope(name):
        first = convert_to_tensor(values[0])
        static = convert_to_tensor(first).get_shape()
        target = TensorShape([len(values)]).concatenate(static)
        return _parallel_concat([expand_dims(value, 0) for value in values], shape=target)


# Lists that hold tensors


_PLAIN = (np.ndarray, np.generic, bool, int, float, complex, str, bytes)


def _is_tensor(value: TensorLike | None) -> bool:
    # Variables stand for the tensors that they hold.
    return isinstance(value, Tensor) or (
        hasattr(value, "_as_graph_element") and hasattr(value, "dtype")
    )


def _inferred_dtype(values: Sequence[Any]) -> dtypes.DType | None:
    return next((v.dtype.base_dtype for v in flatten(values) if _is_tensor(v)), None)


def _cast_tensors(values: Any, dtype: dtypes.DType) -> Any:
    if isinstance(values, (list, tuple)):
        return [_cast_tensors(v, dtype) for v in values]
    if _is_tensor(values) and values.dtype.base_dtype != dtype:
        return raw.Cast(values, DstT=dtype)
    return values


def _pack_nested(values: Sequence[Any], dtype: dtypes.DType, name: str) -> Any:
    converted = []
    with name_scope(name) as scope:
        for i, value in enumerate(values):
            if _is_tensor(value) and value.dtype.base_dtype != dtype:
                raise TypeError(
                    f"Cannot convert a list containing a tensor of dtype {value.dtype} to "
                    f"{dtype} (Tensor is: {value!r})"
                )
            nested = isinstance(value, (list, tuple))
            converted.append(_pack_nested(value, dtype, str(i)) if nested else value)
        if not any(map(_is_tensor, converted)):
            return converted
        tensors = [
            value if _is_tensor(value) else constant(value, dtype=dtype, name=str(i))
            for i, value in enumerate(converted)
        ]
        return _pack_op(tensors, name=scope)


def _from_list(
    v: Sequence[Any], dtype: DType | None = None, name: str | None = None, as_ref: bool = False
) -> Any:
    if as_ref or all(isinstance(value, _PLAIN) for value in flatten(v)):
        return NotImplemented
    inferred = _inferred_dtype(v)
    if inferred is None:
        return NotImplemented
    if dtype is None:
        dtype = inferred
    elif dtype != inferred:
        v = _cast_tensors(v, dtype)
    return _pack_nested(v, dtype, name or "packed")


register_tensor_conversion_function((list, tuple), _from_list, 99)
