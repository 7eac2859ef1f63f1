# SPDX-License-Identifier: Apache-2.0
"""Functions of labeled tensors element by element, and parts of such tensors."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ....engine.api import constant, export
from ....engine.graph.graph import name_scope
from ....ops.public import tf
from . import _typecheck as tc
from .alignment import (
    AxisOrderError,
    align,
    axis_order_scope,
    check_axis_order,
    expand_dims,
    find_consistent_ordering,
    get_axis_order,
    impose_axis_order,
    transpose,
)
from .axes import Axes, Axis, AxisLike, AxisValue, as_axis, concat_axes
from .tensor import LabeledTensor, LabeledTensorLike, Scalar, convert_to_labeled_tensor

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.tensor import Tensor

# What TensorFlow's module of this name has, too.
__all__ = [
    "Axes",
    "Axis",
    "AxisLike",
    "AxisOrderError",
    "AxisValue",
    "LabeledTensor",
    "LabeledTensorLike",
    "Scalar",
    "align",
    "as_axis",
    "axis_order_scope",
    "check_axis_order",
    "concat_axes",
    "convert_to_labeled_tensor",
    "expand_dims",
    "get_axis_order",
    "impose_axis_order",
    "transpose",
]
_find_consistent_ordering = find_consistent_ordering


@export("contrib.labeled_tensor.identity")
@tc.returns(LabeledTensor)
@tc.accepts(LabeledTensorLike, tc.Optional(str))
def identity(labeled_tensor: LabeledTensor | TensorLike, name: str | None = None) -> LabeledTensor:
    """The tensor as it is, by an operation of its own.

    Args:
        labeled_tensor: the tensor.
        name: of the operation.

    Returns:
        A LabeledTensor with the same axes.
    """
    with name_scope(name, "lt_identity", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        return LabeledTensor(tf.identity(labeled_tensor.tensor, name=scope), labeled_tensor.axes)


@export("contrib.labeled_tensor.slice")
@tc.returns(LabeledTensor)
@tc.accepts(LabeledTensorLike, tc.Mapping(str, tc.Union(int, slice)), tc.Optional(str))
def slice_function(
    labeled_tensor: LabeledTensor | TensorLike,
    selection: Mapping[str, int | slice],
    name: str | None = None,
) -> LabeledTensor:
    """A part of a tensor, by places.

    Args:
        labeled_tensor: the tensor.
        selection: names of axes with a slice, or with an integer: that axis is gone then.
        name: of the operation.

    Returns:
        A LabeledTensor; labels are kept.

    Example:
        >>> lt = tf.contrib.labeled_tensor
        >>> table = lt.LabeledTensor(tf.constant([[1, 2], [3, 4]]), ["row", ("kind", ["a", "b"])])
        >>> part = lt.slice(table, {"row": 1, "kind": slice(1, None)})
        >>> print(tf.Session().run(part), part.axes)
        [4] Axes([('kind', ('b',))])
    """
    with name_scope(name, "lt_slice", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        slices = [selection.get(axis, slice(None)) for axis in labeled_tensor.axes]
        sliced = labeled_tensor.tensor[tuple(slices)]
        axes: list[Any] = []
        for axis, part in zip(labeled_tensor.axes.values(), slices):
            if isinstance(part, slice):
                labels = axis.labels
                axes.append(axis.name if labels is None else (axis.name, labels[part]))
        return LabeledTensor(tf.identity(sliced, name=scope), axes)


Unary = Callable[..., LabeledTensor]


@export("contrib.labeled_tensor.define_unary_op")
@tc.returns(types.FunctionType)
@tc.accepts(str, Callable)
def define_unary_op(op_name: str, elementwise_function: Callable[..., Tensor]) -> Unary:
    """A function of labeled tensors by one of tensors, element by element.

    Args:
        op_name: the name of the function.
        elementwise_function: is given a Tensor and `name`, returns a Tensor of the same shape.

    Returns:
        A function of a labeled tensor and `name`.
    """

    @tc.returns(LabeledTensor)
    @tc.accepts(LabeledTensorLike, tc.Optional(str))
    def op(labeled_tensor: LabeledTensor | TensorLike, name: str | None = None) -> LabeledTensor:
        with name_scope(name, f"lt_{op_name}", [labeled_tensor]) as scope:
            labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
            result = elementwise_function(labeled_tensor.tensor, name=scope)
            return LabeledTensor(result, labeled_tensor.axes)

    op.__name__ = op_name
    op.__doc__ = f"`tf.{op_name}` of a labeled tensor, with the tensor's axes."
    return op


@export("contrib.labeled_tensor.define_binary_op")
@tc.returns(types.FunctionType)
@tc.accepts(str, Callable)
def define_binary_op(op_name: str, elementwise_function: Callable[..., Tensor]) -> Unary:
    """A function of two labeled tensors by one of tensors that broadcasts.

    Args:
        op_name: the name of the function.
        elementwise_function: is given two Tensors and `name`, returns a Tensor.

    Returns:
        A function of two labeled tensors and `name`, which aligns them by their axes' names.

    Example:
        >>> lt = tf.contrib.labeled_tensor
        >>> a = lt.LabeledTensor(tf.constant([1.0, 2.0]), ["x"])
        >>> b = lt.LabeledTensor(tf.constant([5.0, 7.0, 9.0]), ["y"])
        >>> print(tf.Session().run((a * b).tensor))
        [[ 5.  7.  9.]
         [10. 14. 18.]]
    """

    @tc.returns(LabeledTensor)
    @tc.accepts(LabeledTensorLike, LabeledTensorLike, tc.Optional(str))
    def op(
        labeled_tensor_0: LabeledTensor | TensorLike,
        labeled_tensor_1: LabeledTensor | TensorLike,
        name: str | None = None,
    ) -> LabeledTensor:
        with name_scope(name, f"lt_{op_name}", [labeled_tensor_0, labeled_tensor_1]) as scope:
            first, second, axes = align(labeled_tensor_0, labeled_tensor_1)
            result = elementwise_function(first.tensor, second.tensor, name=scope)
            return LabeledTensor(result, axes)

    op.__name__ = op_name
    op.__doc__ = f"`tf.{op_name}` of two labeled tensors, aligned by the names of their axes."
    return op


abs_function = define_unary_op("abs", tf.abs)
neg = define_unary_op("neg", tf.negative)
sign = define_unary_op("sign", tf.sign)
reciprocal = define_unary_op("reciprocal", tf.reciprocal)
square = define_unary_op("square", tf.square)
round_function = define_unary_op("round", tf.round)
sqrt = define_unary_op("sqrt", tf.sqrt)
rsqrt = define_unary_op("rsqrt", tf.rsqrt)
exp = define_unary_op("exp", tf.exp)
log = define_unary_op("log", tf.log)
ceil = define_unary_op("ceil", tf.ceil)
floor = define_unary_op("floor", tf.floor)
cos = define_unary_op("cos", tf.cos)
sin = define_unary_op("sin", tf.sin)
tan = define_unary_op("tan", tf.tan)
acos = define_unary_op("acos", tf.acos)
asin = define_unary_op("asin", tf.asin)
atan = define_unary_op("atan", tf.atan)
lgamma = define_unary_op("lgamma", tf.lgamma)
digamma = define_unary_op("digamma", tf.digamma)
erf = define_unary_op("erf", tf.erf)
erfc = define_unary_op("erfc", tf.erfc)
logical_not = define_unary_op("logical_not", tf.logical_not)
tanh = define_unary_op("tanh", tf.tanh)
sigmoid = define_unary_op("sigmoid", tf.sigmoid)
for _op in (
    *(abs_function, neg, sign, reciprocal, square, round_function, sqrt, rsqrt, exp, log, ceil),
    *(floor, cos, sin, tan, acos, asin, atan, lgamma, digamma, erf, erfc, logical_not, tanh),
    sigmoid,
):
    constant(f"contrib.labeled_tensor.{_op.__name__}", _op)

add = define_binary_op("add", tf.add)
sub = define_binary_op("sub", tf.subtract)
mul = define_binary_op("mul", tf.multiply)
div = define_binary_op("div", tf.div)
mod = define_binary_op("mod", tf.mod)
pow_function = define_binary_op("pow", tf.pow)
equal = define_binary_op("equal", tf.equal)
greater = define_binary_op("greater", tf.greater)
greater_equal = define_binary_op("greater_equal", tf.greater_equal)
not_equal = define_binary_op("not_equal", tf.not_equal)
less = define_binary_op("less", tf.less)
less_equal = define_binary_op("less_equal", tf.less_equal)
logical_and = define_binary_op("logical_and", tf.logical_and)
logical_or = define_binary_op("logical_or", tf.logical_or)
logical_xor = define_binary_op("logical_xor", tf.logical_xor)
maximum = define_binary_op("maximum", tf.maximum)
minimum = define_binary_op("minimum", tf.minimum)
squared_difference = define_binary_op("squared_difference", tf.squared_difference)
igamma = define_binary_op("igamma", tf.igamma)
igammac = define_binary_op("igammac", tf.igammac)
zeta = define_binary_op("zeta", tf.zeta)
polygamma = define_binary_op("polygamma", tf.polygamma)
for _op in (
    *(add, sub, mul, div, mod, pow_function, equal, greater, greater_equal, not_equal, less),
    *(less_equal, logical_and, logical_or, logical_xor, maximum, minimum, squared_difference),
    *(igamma, igammac, zeta, polygamma),
):
    constant(f"contrib.labeled_tensor.{_op.__name__}", _op)
