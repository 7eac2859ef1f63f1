# SPDX-License-Identifier: Apache-2.0
"""Variables of masks, blocks of weights, and assignments to variables in parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....ops.nn.atrous import pool
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation
    from ....engine.graph.tensor import Tensor
    from ....ops.state.variables import Variable


def weight_mask_variable(var: Variable, scope: str) -> Any:
    """A mask of ones for weights, in their scope."""
    with tf.variable_scope(scope):
        return tf.get_variable(
            "mask",
            var.get_shape(),
            initializer=tf.ones_initializer(),
            trainable=False,
            dtype=var.dtype,
        )


def weight_threshold_variable(var: Variable, scope: str) -> Any:
    """A threshold, 0, for weights, in their scope."""
    with tf.variable_scope(scope):
        return tf.get_variable(
            "threshold", [], initializer=tf.zeros_initializer(), trainable=False, dtype=var.dtype
        )


def kronecker_product(mat1: Tensor, mat2: Tensor) -> Tensor:
    """The Kronecker product of two matrices of known sizes."""
    sizes: list[Any] = [*mat1.get_shape().as_list(), *mat2.get_shape().as_list()]
    m1, n1, m2, n2 = sizes
    left: Any = tf.reshape(mat1, [m1, 1, n1, 1])
    product = left * tf.reshape(mat2, [1, m2, 1, n2])
    return tf.reshape(product, [m1 * m2, n1 * n2])


def expand_tensor(tensor: Any, block_dims: Sequence[int]) -> Any:
    """A matrix each of whose elements is a block of sizes `block_dims`.

    Raises:
        ValueError: the tensor is no matrix, or there are not two sizes.
    """
    if tensor.get_shape().ndims != 2:
        raise ValueError("Input tensor must be rank 2")
    if len(block_dims) != 2:
        raise ValueError("block_dims must have 2 elements")
    for axis, times in enumerate(block_dims):
        if times > 1:
            places = np.repeat(np.arange(tensor.shape.as_list()[axis], dtype=np.int32), times)
            tensor = tf.gather(tensor, places, axis=axis)
    return tensor


def factorized_pool(
    input_tensor: Any,
    window_shape: Sequence[int],
    pooling_type: str,
    strides: Sequence[int],
    padding: str,
    name: str | None = None,
) -> Tensor:
    """Pools a matrix along one axis, and then along the other.

    Raises:
        ValueError: the tensor is no matrix.
    """
    if input_tensor.get_shape().ndims != 2:
        raise ValueError("factorized_pool() accepts tensors of rank 2 only")
    height, width = input_tensor.get_shape().as_list()
    with tf.name_scope(name, "factorized_pool"):
        pooled = tf.reshape(
            input_tensor, [1, 1, height, width], name=f"{input_tensor.op.name}_aligned"
        )
        for window, stride in zip(window_shape, strides):
            pooled = pool(
                pooled,
                window_shape=[1, window],
                pooling_type=pooling_type,
                strides=[1, stride],
                padding=padding,
            )
            pooled = tf.transpose(pooled, perm=[0, 1, 3, 2])
    return tf.squeeze(pooled, axis=[0, 1])


def determine_partitioned_axis(partitioned_variable: Any) -> int:
    """The axis along which a variable is in parts.

    Raises:
        ValueError: there is not one.
    """
    whole, axis = partitioned_variable.get_shape().as_list(), 0
    for part in partitioned_variable:
        cut = np.flatnonzero(np.less(part.get_shape().as_list(), whole))
        if len(cut) != 1:
            raise ValueError(f"Number of partitioned axes {len(cut)} not equal to 1")
        axis = int(cut[0])
    return axis


def variable_assign(var: Variable, new_value: Any) -> Any:
    """An assignment, named after the variable."""
    return tf.assign(var, new_value, name=f"{var.op.name}_assign")


def partitioned_variable_assign(partitioned_var: Any, new_value: Any) -> Operation:
    """An operation that assigns the parts of a value to those of a variable."""
    parts = list(partitioned_var)
    axis = 0 if len(parts) == 1 else determine_partitioned_axis(partitioned_var)
    sizes = [part.get_shape().as_list()[axis] for part in parts]
    values = tf.split(new_value, tf.constant(sizes), axis=axis, num=len(parts))
    assigned = [variable_assign(part, value) for part, value in zip(parts, values)]
    return tf.group(*assigned, name=f"{partitioned_var.name}_group_assign")
