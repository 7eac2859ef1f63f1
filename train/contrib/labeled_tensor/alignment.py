# SPDX-License-Identifier: Apache-2.0
"""Orders of axes, and tensors reshaped so that they can be broadcast to each other."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.collections import get_collection, get_collection_ref
from ....engine.graph.graph import name_scope
from ....ops.public import tf
from . import _typecheck as tc
from .axes import Axes
from .tensor import LabeledTensor, LabeledTensorLike, convert_to_labeled_tensor

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike

# The graph keeps the order of the scope around, as its only element; it is a tuple, not a name,
# so that it is not written to meta graphs.
_ORDER: Any = ("__axis_order",)


@export("contrib.labeled_tensor.AxisOrderError")
class AxisOrderError(ValueError):
    """There is no order of axes, or none that fits."""


@tc.returns(tc.Optional(tc.List(str)))
def get_axis_order() -> list[str] | None:
    """The names of the axis_order_scope around, in order; None if there is none."""
    orders = get_collection(_ORDER)
    return orders[0] if orders else None


@export("contrib.labeled_tensor.axis_order_scope")
@contextmanager
@tc.accepts(tc.Optional(tc.List(str)))
def axis_order_scope(axis_order: list[str] | None = None) -> Iterator[list[str] | None]:
    """A scope in which results have their axes in a given order.

    Args:
        axis_order: names of axes; None for the usual order.

    Returns:
        A context manager, which gives the order.
    """
    before = get_axis_order()
    get_collection_ref(_ORDER)[:] = [axis_order]
    try:
        yield axis_order
    finally:
        get_collection_ref(_ORDER)[:] = [before]


def _order_or_scope(axis_order: Collection[str] | None) -> Collection[str]:
    order = get_axis_order() if axis_order is None else axis_order
    if order is None:
        raise AxisOrderError(
            "an explicit axis order must be provided with the axis_order argument or by using an "
            "axis_order_scope"
        )
    return order


@export("contrib.labeled_tensor.check_axis_order")
@tc.returns(type(None))
@tc.accepts(LabeledTensorLike, tc.Optional(tc.Collection(str)))
def check_axis_order(
    labeled_tensor: LabeledTensor | TensorLike, axis_order: Collection[str] | None = None
) -> None:
    """Checks that a tensor's axes come in a given order.

    Args:
        labeled_tensor: the tensor.
        axis_order: the names of its axes and maybe of others; the scope's if None.

    Raises:
        ValueError: the axes come in another order or are not among the names, or there are none.
    """
    labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
    axis_order = _order_or_scope(axis_order)
    relevant = [name for name in axis_order if name in labeled_tensor.axes]
    if len(relevant) < len(labeled_tensor.axes):
        raise AxisOrderError(
            f"not all axis names appear in the required axis order {axis_order!r}: "
            f"{labeled_tensor!r}"
        )
    if relevant != list(labeled_tensor.axes):
        raise AxisOrderError(
            "axes on a labeled tensor do not appear in the same order as the required axis order "
            f"{axis_order!r}: {labeled_tensor!r}"
        )


@export("contrib.labeled_tensor.transpose")
@tc.returns(LabeledTensor)
@tc.accepts(LabeledTensorLike, tc.Optional(tc.Collection(str)), tc.Optional(str))
def transpose(
    labeled_tensor: LabeledTensor | TensorLike,
    axis_order: Collection[str] | None = None,
    name: str | None = None,
) -> LabeledTensor:
    """A tensor with its axes in another order.

    Args:
        labeled_tensor: the tensor.
        axis_order: the names of its axes in the order wanted; the reverse if None.
        name: of the operation.

    Returns:
        A LabeledTensor.

    Raises:
        ValueError: the names are not those of the tensor's axes.
    """
    with name_scope(name, "lt_transpose", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        names = list(labeled_tensor.axes)
        order = names[::-1] if axis_order is None else list(axis_order)
        if sorted(order) != sorted(names):
            raise ValueError(
                "The new axis order must have the same names as the original axes, but the new "
                f"order is {axis_order!r} while the original order is {names!r}"
            )
        places = [names.index(axis) for axis in order]
        transposed = tf.transpose(labeled_tensor.tensor, places, name=scope)
        return LabeledTensor(transposed, [labeled_tensor.axes[axis] for axis in order])


@export("contrib.labeled_tensor.impose_axis_order")
@tc.returns(LabeledTensor)
@tc.accepts(LabeledTensorLike, tc.Optional(tc.Collection(str)), tc.Optional(str))
def impose_axis_order(
    labeled_tensor: LabeledTensor | TensorLike,
    axis_order: Collection[str] | None = None,
    name: str | None = None,
) -> LabeledTensor:
    """A tensor with its axes in the order of a longer list.

    Args:
        labeled_tensor: the tensor.
        axis_order: the names of its axes and maybe of others; the scope's if None.
        name: of the operation.

    Returns:
        A LabeledTensor.

    Raises:
        ValueError: there is no order, or an axis is not in it.
    """
    with name_scope(name, "lt_impose_axis_order", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        order = _order_or_scope(axis_order)
        relevant = [axis for axis in order if axis in labeled_tensor.axes]
        return transpose(labeled_tensor, relevant, name=scope)


@export("contrib.labeled_tensor.expand_dims")
@tc.returns(LabeledTensor)
@tc.accepts(
    LabeledTensorLike,
    tc.Collection(tc.Union(str, tc.Tuple(str, Hashable))),
    tc.Optional(str),
)
def expand_dims(
    labeled_tensor: LabeledTensor | TensorLike,
    axes: Collection[str | tuple[str, Hashable]],
    name: str | None = None,
) -> LabeledTensor:
    """A tensor with more axes, of size 1.

    Args:
        labeled_tensor: the tensor.
        axes: the names of its axes, in their order, and among them those of the new axes, or
            pairs of such a name and a label.
        name: of the operation.

    Returns:
        A LabeledTensor with all these axes.

    Raises:
        ValueError: the tensor's axes are not all there, or come in another order.
    """
    with name_scope(name, "lt_expand_dims", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        check_axis_order(labeled_tensor, [a if isinstance(a, str) else a[0] for a in axes])
        expanded: list[Any] = []
        shape = []
        for axis in axes:
            if axis in labeled_tensor.axes:
                found = labeled_tensor.axes[axis]  # type: ignore[index]
                expanded.append(found)
                shape.append(-1 if found.size is None else found.size)
            else:
                expanded.append((axis, 1) if isinstance(axis, str) else (axis[0], (axis[1],)))
                shape.append(1)
        reshaped = tf.reshape(labeled_tensor.tensor, shape, name=scope)
        return LabeledTensor(reshaped, expanded)


@tc.returns(tc.Optional(list))
@tc.accepts(list, list)
def find_consistent_ordering(a: list[str], b: list[str]) -> list[str] | None:
    """All of two lists' elements such that those of each keep their order; None if they cannot.

    Those of `a` alone come before those of `b` alone.
    """
    ordering = []
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] not in b:
            ordering.append(a[i])
            i += 1
        elif b[j] not in a:
            ordering.append(b[j])
            j += 1
        elif a[i] == b[j]:
            ordering.append(a[i])
            i, j = i + 1, j + 1
        else:
            return None
    return ordering + a[i:] + b[j:]


def _common_order(tensors: tuple[LabeledTensor, LabeledTensor]) -> list[str]:
    axes_0, axes_1 = (tensor.axes for tensor in tensors)
    scope_order = get_axis_order()
    if scope_order is not None:
        for tensor in tensors:
            check_axis_order(tensor, scope_order)
        return [name for name in scope_order if name in axes_0 or name in axes_1]
    order = find_consistent_ordering(list(axes_0), list(axes_1))
    if order is None:
        raise AxisOrderError(
            "No consistent axis order allows for aligning tensors with axis orders "
            f"{list(axes_0)!r} and {list(axes_1)!r} without copying data. Use transpose or "
            "impose_axis_order to reorder axes on one of more of the inputs."
        )
    return order


@export("contrib.labeled_tensor.align")
@tc.returns(LabeledTensor, LabeledTensor, Axes)
@tc.accepts(LabeledTensorLike, LabeledTensorLike, tc.Optional(str))
def align(
    labeled_tensor_0: LabeledTensor | TensorLike,
    labeled_tensor_1: LabeledTensor | TensorLike,
    name: str | None = None,
) -> tuple[LabeledTensor, LabeledTensor, Axes]:
    """Two tensors with axes of size 1 put in, so that they can be broadcast to each other.

    Args:
        labeled_tensor_0, labeled_tensor_1: the tensors; axes of one name must be equal.
        name: of the operations.

    Returns:
        Both tensors with the same names of axes in the same order, that of the scope or the first
        that keeps both tensors' orders; and the axes of what they are broadcast to.

    Raises:
        ValueError: axes of one name differ, or one of the tensors would have to be transposed.

    Example:
        >>> lt = tf.contrib.labeled_tensor
        >>> a = lt.LabeledTensor(tf.ones([2, 4]), ["x", "z"])
        >>> b = lt.LabeledTensor(tf.ones([3, 4]), ["y", "z"])
        >>> wide_a, wide_b, axes = lt.align(a, b)
        >>> print(wide_a.shape, wide_b.shape, list(axes))
        (2, 1, 4) (1, 3, 4) ['x', 'y', 'z']
    """
    with name_scope(name, "lt_align", [labeled_tensor_0, labeled_tensor_1]) as scope:
        first = convert_to_labeled_tensor(labeled_tensor_0)
        second = convert_to_labeled_tensor(labeled_tensor_1)
        for axis in first.axes.values():
            other = second.axes.get(axis.name, axis)
            if axis != other:
                raise ValueError(
                    f"Mismatched {axis.name!r} axis on input tensors: {axis!r} and {other!r}"
                )
        order = _common_order((first, second))
        axes = Axes([first.axes[n] if n in first.axes else second.axes[n] for n in order])
        return (
            expand_dims(first, order, name=f"{scope}0"),
            expand_dims(second, order, name=f"{scope}1"),
            axes,
        )
