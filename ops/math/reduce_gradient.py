# SPDX-License-Identifier: Apache-2.0
"""Gradients of the reductions, node by node as in TensorFlow 1.15."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.graph.constants import constant_value
from ...engine.graph.defaults import get_default_graph
from ...engine.graph.scope_functions import colocate_with, device
from ...engine.types import dtypes
from ..array.constant import constant
from ..public import raw, tf
from .gradient import known_dims, safe_shape_div, static_dims

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor

# Per graph: (shape, axes) -> (shape with the axes kept as one, multiples that tile it back).
_REDUCED_SHAPES: weakref.WeakKeyDictionary[Any, dict[Any, Any]] = weakref.WeakKeyDictionary()


def reduced_shape(input_shape: TensorLike, axes: TensorLike) -> Tensor:
    """Nodes for the shape in which the reduced axes are kept as one."""
    input_shape = tf.cast(input_shape, dtypes.int32)
    axes = tf.cast(axes, dtypes.int32)
    rank = tf.size(input_shape)
    axes = (axes + rank) % rank
    axes_shape = tf.shape(axes)
    # Later pieces win in a stitch: ones replace the sizes at the reduced axes.
    return raw.DynamicStitch([tf.range(rank), axes], [input_shape, tf.fill(axes_shape, 1)])


def _static_reduced(dims: tuple[int, ...], axes: tuple[int, ...]) -> tuple[Any, Any]:
    """The kept shape and the tiling of a static reduction; leaves TensorFlow's folded nodes."""
    cache = _REDUCED_SHAPES.setdefault(get_default_graph(), {})
    if (dims, axes) not in cache:
        # TensorFlow folds these nodes and leaves them in the graph, unread.
        reduced_shape(dims, axes)
        reduced = {axis % len(dims) for axis in axes}
        kept = tuple(1 if i in reduced else size for i, size in enumerate(dims))
        safe_shape_div(dims, kept)
        tiling = tuple(size // max(one, 1) for size, one in zip(dims, kept, strict=True))
        cache[dims, axes] = (kept, tiling)
    return cache[dims, axes]


def sum_gradient(op: Operation, grad: Tensor) -> list[Any]:
    """Repeats the gradient along the reduced axes."""
    dims = static_dims(op.inputs[0])
    axes = None if dims is None else constant_value(op.inputs[1])
    if dims is not None and axes is not None:
        if np.array_equal(axes, np.arange(len(dims))):
            return _full_sum_gradient(op, grad, dims)
        sizes = tuple(size for size in dims if size is not None)
        if len(sizes) == len(dims):
            kept, tiling = _static_reduced(sizes, tuple(axes.reshape(-1).tolist()))
            return [tf.tile(tf.reshape(grad, kept), tiling), None]
    input_shape = tf.shape(op.inputs[0])
    with colocate_with(input_shape):
        kept = reduced_shape(input_shape, op.inputs[1])
        tiling = safe_shape_div(input_shape, kept)
    return [tf.tile(tf.reshape(grad, kept), tiling), None]


def _full_sum_gradient(op: Operation, grad: Tensor, dims: tuple[int | None, ...]) -> list[Any]:
    grad = tf.reshape(grad, [1] * len(dims))
    if None in dims:
        input_shape = tf.shape(op.inputs[0])
    else:
        input_shape = constant(dims, dtype=dtypes.int32)
    return [tf.tile(grad, input_shape), None]


def mean_gradient(op: Operation, grad: Tensor) -> tuple[Any, None]:
    """The sum's gradient over the number of elements."""
    sum_grad = sum_gradient(op, grad)[0]
    dims_in, dims_out = known_dims(op.inputs[0]), known_dims(op.outputs[0])
    if dims_in is not None and dims_out is not None:
        size_in, size_out = int(np.prod(dims_in)), int(np.prod(dims_out))
        # How many elements each mean is taken of.
        factor = constant(size_in // max(size_out, 1), dtype=sum_grad.dtype)
    else:
        shape_in, shape_out = tf.shape(op.inputs[0]), tf.shape(op.outputs[0])
        factor = safe_shape_div(tf.reduce_prod(shape_in), tf.reduce_prod(shape_out))
    return tf.truediv(sum_grad, tf.cast(factor, sum_grad.dtype)), None


def extreme_gradient(op: Operation, grad: Tensor) -> list[Any]:
    """Shares the gradient of a maximum or minimum among the elements that attain it."""
    input_shape = tf.shape(op.inputs[0])
    kept = reduced_shape(input_shape, op.inputs[1])
    y = tf.reshape(op.outputs[0], kept)
    grad = tf.reshape(grad, kept)
    indicators = tf.cast(tf.equal(y, op.inputs[0]), grad.dtype)
    num_selected = tf.reshape(tf.reduce_sum(indicators, op.inputs[1]), kept)
    return [tf.divide(indicators, num_selected) * grad, None]


# x is permuted to a matrix whose columns are the products.  Product / x would be shorter, but not a
# number where x is zero.
def prod_gradient(op: Operation, grad: Tensor) -> tuple[Any, None]:
    """The product of all other elements, by cumulative products from both ends."""
    x = op.inputs[0]
    input_shape = tf.shape(x)
    indices = tf.reshape(op.inputs[1], [-1])
    kept = reduced_shape(input_shape, op.inputs[1])
    tiling = safe_shape_div(input_shape, kept)
    grad = tf.tile(tf.reshape(grad, kept), tiling)
    # Integers for shapes live in host memory; 1.15 pins them there, which shows in the device
    # names.
    with device("/cpu:0"):
        rank = tf.rank(x)
        indices = (indices + rank) % rank
        reduced = tf.cast(indices, dtypes.int32)
        index = tf.range(0, rank)
        other, _ = tf.setdiff1d(index, reduced)
        perm = tf.concat([reduced, other], 0)
        reduced_num = tf.reduce_prod(tf.gather(input_shape, reduced))
        other_num = tf.reduce_prod(tf.gather(input_shape, other))
    permuted = tf.transpose(x, perm)
    permuted_shape = tf.shape(permuted)
    matrix = tf.reshape(permuted, (reduced_num, other_num))
    left = tf.cumprod(matrix, axis=0, exclusive=True)
    right = tf.cumprod(matrix, axis=0, exclusive=True, reverse=True)
    y = tf.reshape(tf.conj(left) * tf.conj(right), permuted_shape)
    out = grad * tf.transpose(y, tf.invert_permutation(perm))
    return tf.reshape(out, input_shape), None


def position_gradient(op: Operation, grad: Tensor) -> list[None]:
    """Positions are not differentiable, but asking is no error."""
    return [None, None]
