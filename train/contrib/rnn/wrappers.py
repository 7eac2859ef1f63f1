# SPDX-License-Identifier: Apache-2.0
"""Cells around a cell: attention over former outputs, highways, compilation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.interface import log
from ....engine.types import nest
from ....ops.nn.bias import xw_plus_b
from ....ops.nn.conv_public import conv2d
from ....ops.nn.softmax import softmax
from ....ops.public import tf
from ...rnn.cell import RNNCell, assert_like_rnncell
from .parts import Linear, WrappedCell

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor
    from ....ops.state.scope_defaults import VariableScope
    from ..structures import Structure


@export("contrib.rnn.AttentionCellWrapper")
class AttentionCellWrapper(RNNCell):
    """A cell that looks back at its last outputs (tf.contrib.rnn.AttentionCellWrapper).

    After arXiv 1601.06733.

    Args:
        cell: an RNNCell.
        attn_length: how many outputs it looks back at.
        attn_size: the size of an output; the cell's if None.
        attn_vec_size: the size of the layer that compares; attn_size if None.
        input_size: the size that inputs and attention are joined to; that of the inputs if None.
        state_is_tuple: whether the state is a tuple; else all in one tensor.
        reuse: True takes variables that exist.

    Raises:
        TypeError: `cell` is no cell.
        ValueError: the cell's state is a tuple and must not be, or the length is not positive.

    Example:
        >>> cell = tf.contrib.rnn.AttentionCellWrapper(tf.nn.rnn_cell.GRUCell(4), attn_length=3)
        >>> outputs, state = tf.nn.dynamic_rnn(cell, tf.zeros([2, 5, 3]), dtype=tf.float32)
        >>> print(outputs.shape, [part.shape.as_list() for part in state])
        (2, 5, 4) [[2, 4], [2, 4], [2, 12]]
    """

    def __init__(
        self,
        cell: Any,
        attn_length: int,
        attn_size: int | None = None,
        attn_vec_size: int | None = None,
        input_size: int | None = None,
        state_is_tuple: bool = True,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        if nest.is_sequence(cell.state_size) and not state_is_tuple:
            raise ValueError(
                "Cell returns tuple of states, but the flag state_is_tuple is not set. State size "
                f"is: {cell.state_size}"
            )
        if attn_length <= 0:
            raise ValueError(f"attn_length should be greater than zero, got {attn_length}")
        if not state_is_tuple:
            log.warn(
                "%s: Using a concatenated state is slower and will soon be deprecated.  Use "
                "state_is_tuple=True.",
                self,
            )
        self._state_is_tuple = state_is_tuple
        self._cell = cell
        self._attn_length = attn_length
        self._attn_size: int = cell.output_size if attn_size is None else attn_size
        self._attn_vec_size = self._attn_size if attn_vec_size is None else attn_vec_size
        self._input_size = input_size
        self._linears: dict[str, Linear] = {}

    @property
    def state_size(self) -> Any:
        """The sizes of the cell's state, of what is attended to, and of the last outputs."""
        window = self._attn_size * self._attn_length
        sizes = (self._cell.state_size, self._attn_size, window)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        """The size of an output."""
        return self._attn_size

    def _linear(self, what: str, args: Any, size: Any) -> Any:
        """A product with a bias, whose variables are made at the first step."""
        if what not in self._linears:
            self._linears[what] = Linear(args, size, True)
        return self._linears[what](args)

    def _split(self, state: Structure) -> Any:
        """The three parts of a state."""
        if self._state_is_tuple:
            return state
        sizes = self._cell.state_size, self._attn_size, self._attn_size * self._attn_length
        starts = 0, sizes[0], sizes[0] + sizes[1]
        return tuple(tf.slice(state, [0, at], [-1, size]) for at, size in zip(starts, sizes))

    def call(self, inputs: Tensor, state: Structure) -> Any:  # type: ignore[override]
        """One step."""
        state, attended, window = self._split(state)
        window = tf.reshape(window, [-1, self._attn_length, self._attn_size])
        input_size = self._input_size
        if input_size is None:
            input_size = inputs.get_shape().as_list()[1]
        joined = self._linear("inputs", [inputs, attended], input_size)
        cell_output, new_state = self._cell(joined, state)
        query = tf.concat(nest.flatten(new_state), 1) if self._state_is_tuple else new_state
        new_attended, new_window = self._attention(query, window)
        with tf.variable_scope("attn_output_projection"):
            output = self._linear("outputs", [cell_output, new_attended], self._attn_size)
        new_window = tf.concat([new_window, tf.expand_dims(output, 1)], 1)
        new_window = tf.reshape(new_window, [-1, self._attn_length * self._attn_size])
        parts = (new_state, new_attended, new_window)
        return output, parts if self._state_is_tuple else tf.concat(list(parts), 1)

    def _attention(self, query: Tensor, window: Tensor) -> tuple[Tensor, Tensor]:
        """What of the window the query attends to, and the window without its oldest output."""
        size, length = self._attn_size, self._attn_length
        with tf.variable_scope("attention"):
            kernel = tf.get_variable("attn_w", [1, 1, size, self._attn_vec_size])
            v = tf.get_variable("attn_v", [self._attn_vec_size])
            hidden = tf.reshape(window, [-1, length, 1, size])
            features = conv2d(hidden, kernel, [1, 1, 1, 1], "SAME")
            y = self._linear("query", query, self._attn_vec_size)
            y = tf.reshape(y, [-1, 1, 1, self._attn_vec_size])
            scores = tf.reduce_sum(v * tf.tanh(features + y), [2, 3])
            weights = tf.reshape(softmax(scores), [-1, length, 1, 1])
            attended = tf.reshape(tf.reduce_sum(weights * hidden, [1, 2]), [-1, size])
            return attended, tf.slice(window, [0, 1, 0], [-1, -1, -1])


@export("contrib.rnn.HighwayWrapper")
class HighwayWrapper(WrappedCell):
    """A cell beside which a gate lets inputs pass (tf.contrib.rnn.HighwayWrapper).

    After arXiv 1505.00387.

    Args:
        cell: an RNNCell whose outputs have the shapes of its inputs.
        couple_carry_transform_gates: whether one gate decides on both, inputs and outputs.
        carry_bias_init: what the gate's bias begins with.

    Example:
        >>> cell = tf.contrib.rnn.HighwayWrapper(tf.nn.rnn_cell.GRUCell(4))
        >>> output, state = cell(tf.zeros([2, 4]), cell.zero_state(2, tf.float32))
        >>> print(output.shape)
        (2, 4)
    """

    def __init__(
        self, cell: Any, couple_carry_transform_gates: bool = True, carry_bias_init: float = 1.0
    ) -> None:
        self._cell = cell
        self._couple_carry_transform_gates = couple_carry_transform_gates
        self._carry_bias_init = carry_bias_init

    def _gate(self, name: str, x: Tensor, start: float) -> Any:
        size = x.get_shape().with_rank(2).as_list()[1]
        weight = tf.get_variable(f"{name}_w", [size, size])
        initializer = tf.constant_initializer(start)
        bias = tf.get_variable(f"{name}_b", [size], initializer=initializer)
        return tf.sigmoid(xw_plus_b(x, weight, bias))

    def _highway(self, inp: Tensor, out: Tensor) -> Any:
        carry = self._gate("carry", inp, self._carry_bias_init)
        if self._couple_carry_transform_gates:
            transform = 1 - carry
        else:
            transform = self._gate("transform", inp, -self._carry_bias_init)
        return inp * carry + out * transform

    def __call__(  # type: ignore[override]
        self, inputs: Structure, state: Structure, scope: VariableScope | str | None = None
    ) -> tuple[Any, Any]:
        """One step: (output, new state)."""
        outputs, new_state = self._cell(inputs, state, scope=scope)
        nest.assert_same_structure(inputs, outputs)
        for x, y in zip(nest.flatten(inputs), nest.flatten(outputs)):
            x.get_shape().assert_is_compatible_with(y.get_shape())
        return nest.map_structure(self._highway, inputs, outputs), new_state


@export("contrib.rnn.CompiledWrapper")
class CompiledWrapper(WrappedCell):
    """A cell that is to be compiled (tf.contrib.rnn.CompiledWrapper).

    All plans are compiled, so that this is the cell itself.

    Args:
        cell: an RNNCell.
        compile_stateful: whether that goes for operations with a state too; it does.

    Example:
        >>> cell = tf.contrib.rnn.CompiledWrapper(tf.nn.rnn_cell.GRUCell(4))
        >>> output, state = cell(tf.zeros([2, 3]), cell.zero_state(2, tf.float32))
        >>> print(output.shape)
        (2, 4)
    """

    def __init__(self, cell: Any, compile_stateful: bool = False) -> None:
        self._cell = cell
        self._compile_stateful = compile_stateful

    def __call__(  # type: ignore[override]
        self, inputs: Structure, state: Structure, scope: VariableScope | str | None = None
    ) -> Any:
        """One step: (output, new state)."""
        return self._cell(inputs, state, scope=scope)
