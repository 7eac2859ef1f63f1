# SPDX-License-Identifier: Apache-2.0
"""Sums along axes of labeled tensors, and products that sum along the axis two have in common."""

from __future__ import annotations

import types
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

from ....engine.api import constant, export
from ....engine.graph.graph import name_scope
from ....engine.graph.tensor import Tensor
from ....ops.public import tf
from . import _typecheck as tc
from .core import (
    Axes,
    Axis,
    LabeledTensor,
    LabeledTensorLike,
    convert_to_labeled_tensor,
    get_axis_order,
)
from .ops import squeeze

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike

    Labeled = LabeledTensor | TensorLike

Reduction = Callable[..., LabeledTensor]
ReduceAxis = tc.Union(str, tc.Tuple(str, Hashable))
ReduceAxes = tc.Optional(tc.Union(ReduceAxis, tc.Collection(ReduceAxis)))


def _reduced(axes: Any, of: Axes) -> dict[str, Any]:
    """The axes to sum along by their names, with what is in their place; None if nothing is."""
    if axes is None:
        axes = list(of)
    if isinstance(axes, (str, tuple)):
        axes = [axes]
    found: dict[str, Any] = {}
    for axis in axes:
        if isinstance(axis, str):
            found[axis] = None
        else:
            name, label = axis
            found[name] = Axis(name, 1 if label is None else [label])
    for name in found:
        if name not in of:
            raise ValueError(f"Axis {name} not in axes {of}")
    return found


@export("contrib.labeled_tensor.define_reduce_op")
@tc.returns(types.FunctionType)
@tc.accepts(str, Callable)
def define_reduce_op(
    op_name: str, reduce_fn: Callable[..., Tensor]
) -> Callable[..., LabeledTensor]:
    """A function that reduces labeled tensors along axes by one that reduces tensors.

    Args:
        op_name: the name of the function.
        reduce_fn: is given a Tensor, a list of dimensions and `keepdims`, returns a Tensor.

    Returns:
        A function of a labeled tensor, of axes and of `name`.  Axes are names; or pairs of a name
        and a label or None, of axes that stay with size 1; all axes if None.

    Example:
        >>> lt = tf.contrib.labeled_tensor
        >>> table = lt.LabeledTensor(tf.constant([[1, 2], [3, 4]]), ["x", "y"])
        >>> print(tf.Session().run(lt.reduce_sum(table, "x")))
        [4 6]
    """

    @tc.returns(LabeledTensor)
    @tc.accepts(LabeledTensorLike, ReduceAxes, tc.Optional(str))
    def op(labeled_tensor: Labeled, axes: object = None, name: str | None = None) -> LabeledTensor:
        with name_scope(name, f"lt_{op_name}", [labeled_tensor]) as scope:
            labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
            of = labeled_tensor.axes
            reduced = _reduced(axes, of)
            dimensions = [i for i, axis in enumerate(of) if axis in reduced]
            result = reduce_fn(labeled_tensor.tensor, dimensions, keepdims=True)
            kept: list[Any] = [
                reduced[axis.name] or axis.name if axis.name in reduced else axis
                for axis in of.values()
            ]
            gone = [axis for axis, place in reduced.items() if place is None]
            return squeeze(LabeledTensor(result, kept), gone, name=scope)

    op.__name__ = op_name
    op.__doc__ = f"`tf.{op_name}` of a labeled tensor along axes by their names."
    return op


reduce_all = define_reduce_op("reduce_all", tf.reduce_all)
reduce_any = define_reduce_op("reduce_any", tf.reduce_any)
reduce_logsumexp = define_reduce_op("reduce_logsumexp", tf.reduce_logsumexp)
reduce_max = define_reduce_op("reduce_max", tf.reduce_max)
reduce_mean = define_reduce_op("reduce_mean", tf.reduce_mean)
reduce_min = define_reduce_op("reduce_min", tf.reduce_min)
reduce_prod = define_reduce_op("reduce_prod", tf.reduce_prod)
reduce_sum = define_reduce_op("reduce_sum", tf.reduce_sum)
for _op in (
    *(reduce_all, reduce_any, reduce_logsumexp, reduce_max, reduce_mean, reduce_min, reduce_prod),
    reduce_sum,
):
    constant(f"contrib.labeled_tensor.{_op.__name__}", _op)


def _shared_axis(a: Axes, b: Axes) -> str:
    """The name of the axis that two operands have in common."""
    if len(a) > 2 or len(b) > 2:
        raise NotImplementedError(
            "matmul currently requires inputs with rank 2 or less, but inputs have ranks "
            f"{len(a)!r} and {len(b)!r}"
        )
    if not a or not b:
        raise ValueError(
            "matmul currently requires inputs with at least rank 1, but inputs have ranks "
            f"{len(a)!r} and {len(b)!r}"
        )
    shared = set(a) & set(b)
    if len(shared) > 1:
        raise NotImplementedError(
            f"matmul does not yet support summing over multiple shared axes: {shared!r}. Use "
            "transpose and reshape to create a single shared axis to sum over."
        )
    if not shared:
        raise ValueError(
            "there must have exactly one axis in common between input to matmul: "
            f"{list(a)!r}, {list(b)!r}"
        )
    name = shared.pop()
    if a[name] != b[name]:
        raise ValueError(
            f"axis {name!r} does not match on input arguments: {a[name].value!r} vs "
            f"{b[name].value!r}"
        )
    return name


def _as_matrix(labeled: LabeledTensor, shape: tuple[int, int]) -> Tensor:
    return labeled.tensor if len(labeled.axes) == 2 else tf.reshape(labeled.tensor, shape)


@export("contrib.labeled_tensor.matmul")
@tc.returns(LabeledTensor)
@tc.accepts(LabeledTensorLike, LabeledTensorLike, tc.Optional(str))
def matmul(a: Labeled, b: Labeled, name: str | None = None) -> LabeledTensor:
    """The product of two matrices or vectors along the axis that they have in common.

    Args:
        a, b: tensors of rank 1 or 2, transposed as it is needed.
        name: of the operations.

    Returns:
        A LabeledTensor of the other axes: those of `a` first, if the scope has no other order.

    Raises:
        NotImplementedError: a rank is greater, or both axes are common.
        ValueError: a rank is 0, no axis is common, or it is not equal.

    Example:
        >>> lt = tf.contrib.labeled_tensor
        >>> a = lt.LabeledTensor(tf.constant([[1, 2], [3, 4]]), ["x", "y"])
        >>> b = lt.LabeledTensor(tf.constant([10, 1]), ["x"])
        >>> print(tf.Session().run(lt.matmul(a, b)))
        [13 24]
    """
    with name_scope(name, "lt_matmul", [a, b]) as scope:
        first, second = convert_to_labeled_tensor(a), convert_to_labeled_tensor(b)
        shared = _shared_axis(first.axes, second.axes)
        axes = [
            axis
            for tensor in (first, second)
            for axis in tensor.axes.values()
            if axis.name != shared
        ]
        names = [axis.name for axis in axes]
        order = get_axis_order()
        if order is not None and [name for name in order if name in names] != names:
            first, second, axes = second, first, axes[::-1]
        product = tf.matmul(
            _as_matrix(first, (1, -1)),
            _as_matrix(second, (-1, 1)),
            transpose_a=len(first.axes) == 2 and list(first.axes)[0] == shared,
            transpose_b=len(second.axes) == 2 and list(second.axes)[1] == shared,
        )
        vectors = [i for i, tensor in enumerate((first, second)) if len(tensor.axes) == 1]
        if vectors:
            product = tf.squeeze(product, vectors)
        return LabeledTensor(tf.identity(product, name=scope), axes)
