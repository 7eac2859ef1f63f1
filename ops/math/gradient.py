# SPDX-License-Identifier: Apache-2.0
"""What the gradients of the math ops share: undoing a broadcast, undoing a reduction.

The nodes made here are TensorFlow 1.15's, in its order, so that gradient graphs carry its names.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.defaults import get_default_graph
from ..public import raw, tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor

# Per graph: (shape of x, shape of y) -> the axes that each side was broadcast over.
_BROADCAST_AXES: weakref.WeakKeyDictionary[Any, dict[Any, Any]] = weakref.WeakKeyDictionary()


def static_dims(tensor: Any) -> tuple[int | None, ...] | None:
    """The static shape as a tuple with None for unknown sizes; None when the rank is unknown."""
    return None if tensor.shape.ndims is None else tuple(tensor.shape.as_list())


def known_dims(tensor: Any) -> tuple[int, ...] | None:
    """The static shape as a tuple when every size is known, else None."""
    dims = static_dims(tensor)
    return None if dims is None or None in dims else dims  # type: ignore[return-value]


def is_dense(grad: TensorLike) -> bool:
    """Whether a gradient is a Tensor and not IndexedSlices."""
    return not hasattr(grad, "indices")


def shapes_equal(x: TensorLike, y: TensorLike, grad: Any) -> bool:
    """Whether x, y and their gradient have the same, fully known shape."""
    dims = known_dims(x)
    return dims is not None and is_dense(grad) and dims == static_dims(y) == static_dims(grad)


def broadcast_axes(x: Sequence[int], y: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes to sum over for x and for y after broadcasting two known shapes."""
    if tuple(x) == tuple(y):
        return (), ()
    rank = max(len(x), len(y))
    aligned = ((1,) * (rank - len(dims)) + tuple(dims) for dims in (x, y))
    axes_x, axes_y = (tuple(i for i, size in enumerate(dims) if size == 1) for dims in aligned)
    return axes_x, axes_y


def shapes_and_axes(x: TensorLike, y: TensorLike) -> tuple[Any, Any, Any, Any]:
    """Nodes for the shapes of x and y and the axes to sum their gradients over."""
    shape_x, shape_y = tf.shape(x), tf.shape(y)
    axes_x, axes_y = raw.BroadcastGradientArgs(shape_x, shape_y)
    return shape_x, shape_y, axes_x, axes_y


def sum_to(grad: TensorLike, axes: TensorLike, shape: TensorLike) -> Tensor:
    """Sums a gradient over the broadcast axes and gives it the input's shape."""
    return tf.reshape(tf.reduce_sum(grad, axes), shape)


Broadcast = tuple[Any, Any, bool]


def smart_broadcast(x: TensorLike, y: TensorLike, grad: Any) -> tuple[Broadcast, Broadcast]:
    """(shape, axes, whether to reduce) for x and y; plain tuples where the shapes are static."""
    if not is_dense(grad):
        shape_x, shape_y, axes_x, axes_y = shapes_and_axes(x, y)
        return (shape_x, axes_x, True), (shape_y, axes_y, True)
    dims_x, dims_y, dims = known_dims(x), known_dims(y), static_dims(grad)
    if dims_x is None or dims_y is None:
        shape_x = raw.Shape(x)
        shape_y = raw.Shape(y)
        axes_x, axes_y = raw.BroadcastGradientArgs(shape_x, shape_y)
        return (shape_x, axes_x, True), (shape_y, axes_y, True)
    known = _BROADCAST_AXES.setdefault(get_default_graph(), {})
    if (dims_x, dims_y) not in known:
        # The node is not read: TensorFlow leaves it in the graph after folding it.
        raw.BroadcastGradientArgs(dims_x, dims_y)
        known[dims_x, dims_y] = broadcast_axes(dims_x, dims_y)
    axes_x, axes_y = known[dims_x, dims_y]
    return (dims_x, axes_x, dims_x != dims), (dims_y, axes_y, dims_y != dims)


def undo_broadcast(grad: TensorLike, broadcast: Broadcast) -> Any:
    """The gradient in the input's shape, by what smart_broadcast found."""
    shape, axes, must_reduce = broadcast
    return sum_to(grad, axes, shape) if must_reduce else grad


def safe_shape_div(x: TensorLike, y: TensorLike) -> Any:
    """x // y for sizes, with 0 // 0 = 0."""
    return x // tf.maximum(y, 1)
