# SPDX-License-Identifier: Apache-2.0
"""What several cells are made of: products with a bias, variables in pieces, normalised gates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ....engine import api
from ....engine.graph.collections import GraphKeys
from ....engine.types import nest
from ....engine.types.shape import dimension_value
from ....ops.nn.bias import bias_add
from ....ops.public import tf
from ...rnn.cell import BIAS_NAME, WEIGHTS_NAME, RNNCell
from ...rnn.cells import LSTMStateTuple

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike, TensorLike
    from ....engine.graph.tensor import Tensor
    from ..layers.annotations import Scope

Activation = Callable[..., Any]


class SizedCell(RNNCell):
    """A cell that knows the sizes of its state and output from the beginning."""

    def __init__(
        self, state_size: object, output_size: object, reuse: bool | None, **kwargs: Any
    ) -> None:
        super().__init__(_reuse=reuse, **kwargs)
        self._state_size = state_size
        self._output_size = output_size

    @property
    def state_size(self) -> Any:
        """The sizes of the state."""
        return self._state_size

    @property
    def output_size(self) -> Any:
        """The size of the output."""
        return self._output_size


class WrappedCell(RNNCell):
    """A cell that calls another one, whose sizes and first state are its own."""

    _cell: Any

    @property
    def state_size(self) -> Any:
        """The sizes of the cell's state."""
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        """The size of the cell's output."""
        return self._cell.output_size

    def zero_state(self, batch_size: TensorLike, dtype: DTypeLike) -> Any:
        """The cell's state that is zero."""
        with tf.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)


def lstm_sizes(num_units: int, num_proj: int | None) -> tuple[LSTMStateTuple, int]:
    """The sizes of the state and of the output of an LSTM, with or without a projection."""
    output = num_proj or num_units
    return LSTMStateTuple(num_units, output), output


def known_depth(inputs: Tensor) -> int:
    """The size of a matrix' second axis; ValueError where it is unknown."""
    depth = dimension_value(inputs.get_shape().with_rank(2)[1])
    if depth is None:
        raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
    return int(depth)


def _depths(args: Sequence[Tensor]) -> list[int]:
    shapes = [arg.get_shape() for arg in args]
    for shape in shapes:
        if shape.ndims != 2:
            raise ValueError(f"linear is expecting 2D arguments: {shapes}")
        if dimension_value(shape[1]) is None:
            raise ValueError(
                f"linear expects shape[1] to be provided for shape {shape}, but saw {shape[1]}"
            )
    return [int(dimension_value(shape[1])) for shape in shapes]


def as_matrices(args: Any) -> tuple[list[Any], list[int]]:
    """Arguments of a product as a list, and their depths."""
    if args is None or (nest.is_sequence(args) and not args):
        raise ValueError("`args` must be specified")
    listed = list(args) if nest.is_sequence(args) else [args]
    return listed, _depths(listed)


def bias_variable(size: int, dtype: DTypeLike, initializer: object, scope: Scope) -> Any:
    """A bias in that scope, which is never cut into pieces; zeros if there is no initializer."""
    with tf.variable_scope(scope) as inner:
        inner.set_partitioner(None)
        if initializer is None:
            initializer = tf.constant_initializer(0.0, dtype=dtype)
        return tf.get_variable(BIAS_NAME, [size], dtype=dtype, initializer=initializer)


class Linear:
    """concat(args) @ kernel + bias, with variables in the present scope.

    Args:
        args: a matrix or a list of them, of known depths.
        output_size: the columns of the result.
        build_bias: whether there is a bias.
        bias_initializer, kernel_initializer: zeros and the scope's, if None.
    """

    def __init__(
        self,
        args: object,
        output_size: int,
        build_bias: bool,
        bias_initializer: object = None,
        kernel_initializer: object = None,
    ) -> None:
        self._is_sequence = nest.is_sequence(args)
        self._build_bias = build_bias
        matrices, depths = as_matrices(args)
        dtype = matrices[0].dtype
        with tf.variable_scope(tf.get_variable_scope()) as scope:
            self._weights = tf.get_variable(
                WEIGHTS_NAME,
                [sum(depths), output_size],
                dtype=dtype,
                initializer=kernel_initializer,
            )
            if build_bias:
                self._biases = bias_variable(output_size, dtype, bias_initializer, scope)

    def __call__(self, args: Any) -> Any:
        """The product for other arguments of the same depths."""
        if not self._is_sequence:
            args = [args]
        if len(args) == 1:
            result = tf.matmul(args[0], self._weights)
        else:
            result = tf.matmul(tf.concat(args, tf.constant(1, dtype=tf.int32)), self._weights)
        return bias_add(result, self._biases) if self._build_bias else result


def linear(
    args: Any,
    output_size: int,
    bias: bool,
    bias_initializer: object = None,
    kernel_initializer: object = None,
) -> Any:
    """concat(args) @ kernel + bias once; arguments as those of `Linear`."""
    matrices, depths = as_matrices(args)
    dtype = matrices[0].dtype
    with tf.variable_scope(tf.get_variable_scope()) as scope:
        weights = tf.get_variable(
            WEIGHTS_NAME, [sum(depths), output_size], dtype=dtype, initializer=kernel_initializer
        )
        joined = matrices[0] if len(matrices) == 1 else tf.concat(matrices, 1)
        result = tf.matmul(joined, weights)
        if not bias:
            return result
        biases = bias_variable(output_size, dtype, bias_initializer, scope)
    return bias_add(result, biases)


def _pieces(name: str, shape: list[Any], dtype: DTypeLike, shards: int) -> list[Any]:
    if shards > shape[0]:
        raise ValueError(f"Too many shards: shape={shape}, num_shards={shards}")
    size, more = divmod(shape[0], shards)
    return [
        tf.get_variable(f"{name}_{i}", [size + (i < more), *shape[1:]], dtype=dtype)
        for i in range(shards)
    ]


def concatenated_variable(name: str, shape: list[Any], dtype: DTypeLike, shards: int) -> Any:
    """A matrix of variables one below the other, which is joined once per scope."""
    pieces = _pieces(name, shape, dtype, shards)
    if len(pieces) == 1:
        return pieces[0]
    full_name = f"{tf.get_variable_scope().name}/{name}/concat:0"
    for value in tf.get_collection(GraphKeys.CONCATENATED_VARIABLES):
        if value.name == full_name:
            return value
    joined = tf.concat(pieces, 0, name=f"{name}/concat")
    tf.add_to_collection(GraphKeys.CONCATENATED_VARIABLES, joined)
    return joined


def normalised(
    x: Tensor, scope: str, gain: float, shift: float, dtype: DTypeLike | None = None
) -> Any:
    """A layer normalisation whose variables begin as `gain` and `shift`."""
    shape = x.get_shape()[-1:]
    with tf.variable_scope(scope):
        for name, start in (("gamma", gain), ("beta", shift)):
            initializer = tf.constant_initializer(start)
            tf.get_variable(name, shape=shape, initializer=initializer, dtype=dtype)
    return api.NAMES["contrib.layers.layer_norm"](x, reuse=True, scope=scope)


def clipped(x: Tensor, bound: float | None) -> Any:
    """Values no farther from zero than `bound`, if there is one."""
    return x if bound is None else tf.clip_by_value(x, -bound, bound)
