# SPDX-License-Identifier: Apache-2.0
"""The Neural Turing Machine: a cell with a memory that heads read and write."""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.types import dtypes
from ....engine.types.nest import as_list
from ....engine.types.shape import TensorShape, dimension_value
from ....ops.nn.activation import softplus
from ....ops.nn.bias import bias_add
from ....ops.nn.softmax import softmax
from ....ops.public import tf
from ...rnn.cell import LayerRNNCell, assert_like_rnncell

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike
    from ....engine.graph.tensor import Tensor
    from ..structures import Structure

NTMControllerState = namedtuple(
    "NTMControllerState", ("controller_state", "read_vector_list", "w_list", "M", "time")
)


def _repeated(x: Tensor, times: Any) -> Tensor:
    """Rows that are all x."""
    return tf.concat([tf.expand_dims(x, 0) for _ in range(times)], axis=0)


class NTMCell(LayerRNNCell):
    """A controller with a memory (Neural Turing Machine, arXiv 1410.5401 and 1807.08518).

    Args:
        controller: an RNNCell, whose outputs say what the heads do.
        memory_size: the number of rows of the memory.
        memory_vector_dim: the size of a row.
        read_head_num, write_head_num: how many heads there are.
        shift_range: how far a head can move in a step.
        output_dim: the size of the output; that of the inputs if None.
        clip_value: the bound of the outputs and of what is said to the heads.
        dtype, name: as tf.layers.Layer.
    """

    def __init__(
        self,
        controller: Any,
        memory_size: int,
        memory_vector_dim: int,
        read_head_num: int,
        write_head_num: int,
        shift_range: int = 1,
        output_dim: int | None = None,
        clip_value: float = 20,
        dtype: DTypeLike = dtypes.float32,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=dtype, name=name)
        assert_like_rnncell("NTM RNN controller cell", controller)
        self.controller = controller
        self.memory_size = memory_size
        self.memory_vector_dim = memory_vector_dim
        self.read_head_num = read_head_num
        self.write_head_num = write_head_num
        self.clip_value = clip_value
        self.output_dim = output_dim
        self.shift_range = shift_range
        self.num_heads = read_head_num + write_head_num
        self.num_parameters_per_head = memory_vector_dim + 2 * shift_range + 4
        self.total_parameter_num = (
            self.num_parameters_per_head * self.num_heads + memory_vector_dim * 2 * write_head_num
        )

    @property
    def state_size(self) -> Any:
        """The sizes of the state."""
        return NTMControllerState(
            controller_state=self.controller.state_size,
            read_vector_list=[self.memory_vector_dim] * self.read_head_num,
            w_list=[self.memory_size] * self.num_heads,
            M=TensorShape([self.memory_size * self.memory_vector_dim]),
            time=TensorShape([]),
        )

    @property
    def output_size(self) -> Any:
        """The size of the output."""
        return self.output_dim

    def _kernel(self, name: str, rows: int, columns: Any) -> Any:
        initializer = tf.truncated_normal_initializer(
            stddev=1.0 / math.sqrt(rows), dtype=dtypes.float32
        )
        return self.add_variable(name, shape=[rows, columns], initializer=initializer)

    def _constant(self, name: str, shape: list[Any], value: float) -> Any:
        dtype: Any = self.dtype
        initializer = tf.constant_initializer(value, dtype=dtype)
        return self.add_variable(name, shape=shape, initializer=initializer)

    def build(self, inputs_shape: Any) -> None:
        """Makes the kernels, and what reading, addressing and the memory begin with."""
        if self.output_dim is None:
            self.output_dim = dimension_value(inputs_shape[1])
            if self.output_dim is None:
                raise ValueError(
                    f"Expected inputs.shape[-1] to be known, saw shape: {inputs_shape}"
                )
        said, dim = self.controller.output_size, self.memory_vector_dim
        self._params_kernel = self._kernel("parameters_kernel", said, self.total_parameter_num)
        self._params_bias = self._constant("parameters_bias", [self.total_parameter_num], 0.0)
        rows = said + dim * self.read_head_num
        self._output_kernel = self._kernel("output_kernel", rows, self.output_dim)
        self._output_bias = self._constant("output_bias", [self.output_dim], 0.0)
        self._init_read_vectors = [
            self._row(f"initial_read_vector_{i}", dim) for i in range(self.read_head_num)
        ]
        self._init_address_weights = [
            self._row(f"initial_address_weights_{i}", self.memory_size)
            for i in range(self.num_heads)
        ]
        self._M = self._constant("memory", [self.memory_size, dim], 1e-6)
        self.built = True

    def _row(self, name: str, size: int) -> Any:
        return self.add_variable(name, shape=[1, size], initializer=tf.glorot_uniform_initializer())

    def call(self, x: Structure, prev_state: Structure) -> Any:  # type: ignore[override]
        """One step."""
        batch = dimension_value(x.shape[0]) or tf.shape(x)[0]
        is_first = tf.equal(prev_state.time, 0)

        def begun(rows: list[Any], activation: Callable[..., Any]) -> list[Any]:
            return [
                _repeated(activation(tf.squeeze(tf.matmul(tf.ones([1, 1]), row))), batch)
                for row in rows
            ]

        read = tf.cond(
            is_first,
            lambda: begun(self._init_read_vectors, tf.tanh),
            lambda: prev_state.read_vector_list,
        )
        # (A cond gives a list of one tensor as that tensor.)
        joined = tf.concat([x, *as_list(read)], axis=1)
        said, controller_state = self.controller(joined, prev_state.controller_state)
        parameters = bias_add(tf.matmul(said, self._params_kernel), self._params_bias)
        parameters = tf.clip_by_value(parameters, -self.clip_value, self.clip_value)
        split = self.num_parameters_per_head * self.num_heads
        heads = tf.split(parameters[:, :split], self.num_heads, axis=1)
        changes = tf.split(parameters[:, split:], 2 * self.write_head_num, axis=1)
        before = tf.cond(
            is_first,
            lambda: begun(self._init_address_weights, softmax),
            lambda: prev_state.w_list,
        )
        memory = tf.cond(is_first, lambda: _repeated(self._M, batch), lambda: prev_state.M)
        weights = [self._addressed(head, memory, old) for head, old in zip(heads, as_list(before))]
        vectors = [
            tf.reduce_sum(tf.expand_dims(w, dim=2) * memory, axis=1)
            for w in weights[: self.read_head_num]
        ]
        memory = self._written(memory, weights[self.read_head_num :], changes)
        output = tf.matmul(tf.concat([said, *vectors], axis=1), self._output_kernel)
        output = bias_add(output, self._output_bias)
        output = tf.clip_by_value(output, -self.clip_value, self.clip_value)
        time = prev_state.time + 1
        return output, NTMControllerState(controller_state, vectors, weights, memory, time)

    def _written(self, memory: Structure, weights: list[Any], changes: list[Any]) -> Any:
        """The memory after each head erased and added."""
        for i, weight in enumerate(weights):
            w = tf.expand_dims(weight, axis=2)
            erase = tf.expand_dims(tf.sigmoid(changes[2 * i]), axis=1)
            add = tf.expand_dims(tf.tanh(changes[2 * i + 1]), axis=1)
            kept = tf.ones_like(memory) - tf.matmul(w, erase)
            memory = memory * kept + tf.matmul(w, add)
        return memory

    def _addressed(self, head: Any, memory: Structure, before: Any) -> Any:
        """The weights of the rows that a head looks at: by content, then moved and sharpened."""
        dim, moves = self.memory_vector_dim, 2 * self.shift_range + 1
        key = tf.tanh(head[:, 0:dim])
        strength = softplus(head[:, dim])
        gate = tf.sigmoid(head[:, dim + 1])
        shifts = softmax(head[:, dim + 2 : dim + 2 + moves])
        gamma = softplus(head[:, -1]) + 1
        by_content = self._similar(key, strength, memory)
        gate = tf.expand_dims(gate, axis=1)
        mixed = gate * by_content + (1 - gate) * before
        moved = self._moved(mixed, shifts)
        sharp = tf.pow(moved, tf.expand_dims(gamma, axis=1))
        return sharp / tf.reduce_sum(sharp, axis=1, keepdims=True)

    def _similar(self, key: Any, strength: Any, memory: Structure) -> Any:
        """A softmax of the rows' similarity to the key."""
        key = tf.expand_dims(key, axis=2)
        product = tf.matmul(memory, key)
        key_norm = tf.sqrt(tf.reduce_sum(tf.square(key), axis=1, keepdims=True))
        row_norm = tf.sqrt(tf.reduce_sum(tf.square(memory), axis=2, keepdims=True))
        # Of rows of zeros, too, there is a cosine.
        similarity = tf.squeeze(product / (row_norm * key_norm + 1e-8))
        amplified = tf.exp(tf.expand_dims(strength, axis=1) * similarity)
        return amplified / tf.reduce_sum(amplified, axis=1, keepdims=True)

    def _moved(self, weights: Any, shifts: Any) -> Any:
        """A circular convolution of the weights with the moves."""
        reach, size = self.shift_range, self.memory_size
        batch = dimension_value(shifts.shape[0]) or tf.shape(shifts)[0]
        between = tf.zeros([batch, size - (2 * reach + 1)])
        s = tf.concat([shifts[:, : reach + 1], between, shifts[:, -reach:]], axis=1)
        twice = tf.concat([tf.reverse(s, axis=[1]), tf.reverse(s, axis=[1])], axis=1)
        rows = [twice[:, size - i - 1 : size * 2 - i - 1] for i in range(size)]
        return tf.reduce_sum(tf.expand_dims(weights, axis=1) * tf.stack(rows, axis=1), axis=2)

    def zero_state(self, batch_size: Any, dtype: DTypeLike) -> Any:
        """The state before the first step, which the variables fill in."""
        return NTMControllerState(
            controller_state=self.controller.zero_state(batch_size, dtype),
            read_vector_list=[
                tf.zeros([batch_size, self.memory_vector_dim]) for _ in range(self.read_head_num)
            ],
            w_list=[tf.zeros([batch_size, self.memory_size]) for _ in range(self.num_heads)],
            M=tf.zeros([batch_size, self.memory_size, self.memory_vector_dim]),
            time=0,
        )
