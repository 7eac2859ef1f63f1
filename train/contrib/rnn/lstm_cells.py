# SPDX-License-Identifier: Apache-2.0
"""LSTM cells with coupled gates, normalised gates or kernels, groups of units, or time gates."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.interface import log
from ....engine.types.shape import dimension_value
from ....ops.nn.bias import bias_add
from ....ops.nn.dropout import dropout
from ....ops.nn.norm import l2_normalize
from ....ops.public import tf
from ...rnn.cells import LSTMStateTuple
from .parts import (
    Linear,
    SizedCell,
    as_matrices,
    bias_variable,
    clipped,
    concatenated_variable,
    known_depth,
    lstm_sizes,
    normalised,
)

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike
    from ....engine.graph.tensor import Tensor
    from ..structures import Structure

_Activation = Callable[..., Any] | None


def diagonals(gates: str, units: int, dtype: DTypeLike) -> dict[str, Any]:
    """Peepholes for some gates, in the present scope."""
    return {gate: tf.get_variable(f"w_{gate}_diag", shape=[units], dtype=dtype) for gate in gates}


@export("contrib.rnn.CoupledInputForgetGateLSTMCell")
class CoupledInputForgetGateLSTMCell(SizedCell):
    """An LSTM whose input gate is what its forget gate leaves (tf.contrib.rnn), arXiv 1503.04069.

    Args:
        num_units: the size of the memory.
        use_peepholes: whether gates see the memory, by diagonal matrices.
        initializer: is kept; the scope's makes the variables.
        num_proj: the size of the output, that a matrix projects to; None for no projection.
        proj_clip: the bound of what is projected.
        num_unit_shards, num_proj_shards: in how many variables the kernels are.
        forget_bias: is added to the forget gate.
        state_is_tuple: whether the state is an LSTMStateTuple; else both in one tensor.
        activation: a function; tanh if None.
        reuse: True takes variables that exist.
        layer_norm: whether gates and memory are normalised.
        norm_gain, norm_shift: what that begins with.

    Example:
        >>> cell = tf.contrib.rnn.CoupledInputForgetGateLSTMCell(4)
        >>> output, state = cell(tf.zeros([2, 3]), cell.zero_state(2, tf.float32))
        >>> print(output.shape, cell.variables[0].shape)
        (2, 4) (7, 12)
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        initializer: object = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int = 1,
        num_proj_shards: int = 1,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: _Activation = None,
        reuse: bool | None = None,
        layer_norm: bool = False,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
    ) -> None:
        sizes, output = lstm_sizes(num_units, num_proj)
        super().__init__(sizes if state_is_tuple else sum(sizes), output, reuse)
        if not state_is_tuple:
            log.warn(
                "%s: Using a concatenated state is slower and will soon be deprecated.  Use "
                "state_is_tuple=True.",
                self,
            )
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._initializer: Any = initializer
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._num_unit_shards = num_unit_shards
        self._num_proj_shards = num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation or tf.tanh
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift

    def _norm(self, x: Tensor, scope: str) -> Any:
        """Normalised, if the cell normalises."""
        return normalised(x, scope, self._norm_gain, self._norm_shift) if self._layer_norm else x

    def call(self, inputs: Tensor, state: Structure) -> Any:  # type: ignore[override]
        """One step."""
        units = self._num_units
        h_size = units if self._num_proj is None else self._num_proj
        if self._state_is_tuple:
            c_prev, m_prev = state
        else:
            c_prev = tf.slice(state, [0, 0], [-1, units])
            m_prev = tf.slice(state, [0, units], [-1, h_size])
        dtype, depth = inputs.dtype, known_depth(inputs)
        kernel = concatenated_variable(
            "W", [depth + h_size, 3 * units], dtype, self._num_unit_shards
        )
        bias = tf.get_variable(
            "B", shape=[3 * units], initializer=tf.zeros_initializer(), dtype=dtype
        )
        gates = tf.matmul(tf.concat([inputs, m_prev], 1), kernel)
        if not self._layer_norm:
            gates = bias_add(gates, bias)
        j, f, o = tf.split(value=gates, num_or_size_splits=3, axis=1)
        j, f, o = self._norm(j, "transform"), self._norm(f, "forget"), self._norm(o, "output")
        if self._use_peepholes:
            f_diag, o_diag = (
                tf.get_variable(f"W_{gate}_diag", shape=[units], dtype=dtype) for gate in "FO"
            )
            keep = tf.sigmoid(f + self._forget_bias + f_diag * c_prev)
        else:
            keep = tf.sigmoid(f + self._forget_bias)
        c = self._norm(keep * c_prev + (1 - keep) * self._activation(j), "state")
        if self._use_peepholes:
            m = tf.sigmoid(o + o_diag * c) * self._activation(c)
        else:
            m = tf.sigmoid(o) * self._activation(c)
        m = self._projected(m, dtype)
        return m, LSTMStateTuple(c, m) if self._state_is_tuple else tf.concat([c, m], 1)

    def _projected(self, m: Tensor, dtype: DTypeLike) -> Any:
        if self._num_proj is None:
            return m
        shape = [self._num_units, self._num_proj]
        kernel = concatenated_variable("W_P", shape, dtype, self._num_proj_shards)
        return clipped(tf.matmul(m, kernel), self._proj_clip)


@export("contrib.rnn.LayerNormBasicLSTMCell")
class LayerNormBasicLSTMCell(SizedCell):
    """An LSTM with normalised gates and recurrent dropout (tf.contrib.rnn), arXiv 1607.06450.

    Args:
        num_units: the size of output and memory.
        forget_bias: is added to the forget gate.
        input_size: is ignored; deprecated.
        activation: a function; tanh if None.
        layer_norm: whether gates and memory are normalised; else the kernel has a bias.
        norm_gain, norm_shift: what that begins with.
        dropout_keep_prob: how probably an element of what enters the memory stays.
        dropout_prob_seed: of these random numbers.
        reuse: True takes variables that exist.

    Example:
        >>> cell = tf.contrib.rnn.LayerNormBasicLSTMCell(4)
        >>> output, state = cell(tf.zeros([2, 3]), cell.zero_state(2, tf.float32))
        >>> print(output.shape)
        (2, 4)
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        input_size: int | None = None,
        activation: _Activation = None,
        layer_norm: bool = True,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        dropout_keep_prob: Any = 1.0,
        dropout_prob_seed: int | None = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(LSTMStateTuple(num_units, num_units), num_units, reuse)
        if input_size is not None:
            log.warn("%s: The input_size parameter is deprecated.", self)
        self._num_units = num_units
        self._activation = activation or tf.tanh
        self._forget_bias = forget_bias
        self._keep_prob = dropout_keep_prob
        self._seed = dropout_prob_seed
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift

    def _norm(self, x: Tensor, scope: str, dtype: DTypeLike) -> Any:
        """Normalised, if the cell normalises."""
        if not self._layer_norm:
            return x
        return normalised(x, scope, self._norm_gain, self._norm_shift, dtype)

    def _linear(self, args: Tensor) -> Any:
        size, dtype = 4 * self._num_units, args.dtype
        kernel = tf.get_variable("kernel", [args.get_shape()[-1], size], dtype=dtype)
        product = tf.matmul(args, kernel)
        if self._layer_norm:
            return product
        return bias_add(product, tf.get_variable("bias", [size], dtype=dtype))

    def call(self, inputs: Tensor, state: Structure) -> Any:  # type: ignore[override]
        """One step."""
        c, h = state
        args = tf.concat([inputs, h], 1)
        parts = tf.split(value=self._linear(args), num_or_size_splits=4, axis=1)
        names = ("input", "transform", "forget", "output")
        i, j, f, o = (self._norm(x, name, args.dtype) for x, name in zip(parts, names))
        g = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            g = dropout(g, self._keep_prob, seed=self._seed)
        new_c = c * tf.sigmoid(f + self._forget_bias) + tf.sigmoid(i) * g
        new_c = self._norm(new_c, "state", args.dtype)
        new_h = self._activation(new_c) * tf.sigmoid(o)
        return new_h, LSTMStateTuple(new_c, new_h)


class _Peephole(SizedCell):
    """What the LSTMs have in common whose four gates come of one product."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool,
        cell_clip: float | None,
        initializer: object,
        num_proj: int | None,
        proj_clip: float | None,
        forget_bias: float,
        activation: _Activation,
        reuse: bool | None,
    ) -> None:
        super().__init__(*lstm_sizes(num_units, num_proj), reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer: Any = initializer
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._forget_bias = forget_bias
        self._activation = activation or tf.tanh

    def _memory(self, parts: Any, c_prev: Tensor, diagonal: dict[str, Any]) -> Any:
        """The new memory of gates, before it is clipped."""
        i, j, f, _ = parts
        if self._use_peepholes:
            keep = tf.sigmoid(f + self._forget_bias + diagonal["f"] * c_prev) * c_prev
            return keep + tf.sigmoid(i + diagonal["i"] * c_prev) * self._activation(j)
        keep = tf.sigmoid(f + self._forget_bias) * c_prev
        return keep + tf.sigmoid(i) * self._activation(j)

    def _output(self, o: Tensor, c: Tensor, diagonal: dict[str, Any]) -> Any:
        gate = o + diagonal["o"] * c if self._use_peepholes else o
        return tf.sigmoid(gate) * self._activation(c)


class LayerNormLSTMCell(_Peephole):
    """An LSTM with peepholes, a projection and normalised gates (arXiv 1607.06450).

    Args:
        num_units, use_peepholes, cell_clip, initializer, num_proj, proj_clip, forget_bias,
            activation: as tf.nn.rnn_cell.LSTMCell.
        layer_norm: whether gates and memory are normalised.
        norm_gain, norm_shift: what that begins with.
        reuse: True takes variables that exist.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: object = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        forget_bias: float = 1.0,
        activation: _Activation = None,
        layer_norm: bool = False,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(
            *(num_units, use_peepholes, cell_clip, initializer, num_proj, proj_clip),
            *(forget_bias, activation, reuse),
        )
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift

    def _norm(self, x: Tensor, scope: str) -> Any:
        """Normalised, if the cell normalises."""
        return normalised(x, scope, self._norm_gain, self._norm_shift) if self._layer_norm else x

    def _linear(self, args: Any, output_size: int, bias: bool) -> Any:
        """A product; with normalised gates the bias is made and not added."""
        matrices, depths = as_matrices(args)
        dtype = matrices[0].dtype
        with tf.variable_scope(tf.get_variable_scope()) as scope:
            weights = tf.get_variable("kernel", [sum(depths), output_size], dtype=dtype)
            joined = matrices[0] if len(matrices) == 1 else tf.concat(matrices, 1)
            result = tf.matmul(joined, weights)
            if not bias:
                return result
            biases = bias_variable(output_size, dtype, None, scope)
        return result if self._layer_norm else bias_add(result, biases)

    def call(self, inputs: Tensor, state: Structure) -> Any:  # type: ignore[override]
        """One step."""
        c_prev, m_prev = state
        known_depth(inputs)
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer) as scope:
            matrix = self._linear([inputs, m_prev], 4 * self._num_units, True)
            parts = tf.split(value=matrix, num_or_size_splits=4, axis=1)
            names = ("input", "transform", "forget", "output")
            parts = [self._norm(part, name) for part, name in zip(parts, names)]
            diagonal: dict[str, Any] = {}
            if self._use_peepholes:
                with tf.variable_scope(scope):
                    diagonal = diagonals("fio", self._num_units, inputs.dtype)
            c = self._norm(self._memory(parts, c_prev, diagonal), "state")
            c = clipped(c, self._cell_clip)
            m = self._output(parts[3], c, diagonal)
            if self._num_proj is not None:
                with tf.variable_scope("projection"):
                    m = self._linear(m, self._num_proj, False)
                m = clipped(m, self._proj_clip)
        return m, LSTMStateTuple(c, m)


class WeightNormLSTMCell(_Peephole):
    """An LSTM whose kernels are normalised column by column (arXiv 1602.07868).

    Args:
        num_units, use_peepholes, cell_clip, initializer, num_proj, proj_clip, forget_bias,
            activation: as tf.nn.rnn_cell.LSTMCell.
        norm: whether kernels are normalised.
        reuse: True takes variables that exist.
    """

    def __init__(
        self,
        num_units: int,
        norm: bool = True,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: object = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        forget_bias: float = 1,
        activation: _Activation = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(
            *(num_units, use_peepholes, cell_clip, initializer, num_proj, proj_clip),
            *(forget_bias, activation, reuse),
        )
        self._norm = norm

    def _normalize(self, weight: Tensor, name: str) -> Any:
        scale = tf.get_variable(name, [weight.get_shape().as_list()[1]], dtype=weight.dtype)
        return l2_normalize(weight, axis=0) * scale

    def _linear(self, args: Any, output_size: int, bias: bool) -> Any:
        matrices, depths = as_matrices(args)
        dtype = matrices[0].dtype
        with tf.variable_scope(tf.get_variable_scope()) as scope:
            weights = tf.get_variable("kernel", [sum(depths), output_size], dtype=dtype)
            if self._norm:
                pieces, start = [], 0
                # Once for all steps, and so outside of a loop around them.
                with tf.control_dependencies(None):
                    for i, depth in enumerate(depths):
                        piece = weights[start : start + depth, :]
                        pieces.append(self._normalize(piece, f"norm_{i}"))
                        start += depth
                    weights = tf.concat(pieces, axis=0)
            joined = matrices[0] if len(matrices) == 1 else tf.concat(matrices, 1)
            result = tf.matmul(joined, weights)
            if not bias:
                return result
            biases = bias_variable(output_size, dtype, None, scope)
        return bias_add(result, biases)

    def call(self, inputs: Tensor, state: Structure) -> Any:  # type: ignore[override]
        """One step."""
        c, h = state
        known_depth(inputs)
        with tf.variable_scope("wn_lstm_cell", initializer=self._initializer):
            matrix = self._linear([inputs, h], 4 * self._num_units, True)
            parts = tf.split(value=matrix, num_or_size_splits=4, axis=1)
            diagonal = (
                diagonals("fio", self._num_units, inputs.dtype) if self._use_peepholes else {}
            )
            new_c = clipped(self._memory(parts, c, diagonal), self._cell_clip)
            new_h = self._output(parts[3], new_c, diagonal)
            if self._num_proj is not None:
                with tf.variable_scope("projection"):
                    new_h = self._linear(new_h, self._num_proj, False)
                new_h = clipped(new_h, self._proj_clip)
        return new_h, LSTMStateTuple(new_c, new_h)


@export("contrib.rnn.GLSTMCell")
class GLSTMCell(SizedCell):
    """An LSTM whose units are in groups that see themselves alone (tf.contrib.rnn.GLSTMCell).

    Of arXiv 1703.10722.

    Args:
        num_units: the size of the memory.
        initializer: of the kernels.
        num_proj: the size of the output, that a matrix projects to; None for no projection.
        number_of_groups: how many; it divides num_units, num_proj and the size of the inputs.
        forget_bias: is added to the forget gate.
        activation: a function; tanh if None.
        reuse: True takes variables that exist.

    Raises:
        ValueError: a size cannot be divided by the number of groups.

    Example:
        >>> cell = tf.contrib.rnn.GLSTMCell(4, number_of_groups=2)
        >>> output, state = cell(tf.zeros([2, 6]), cell.zero_state(2, tf.float32))
        >>> print(output.shape, cell.variables[0].shape)
        (2, 4) (5, 8)
    """

    def __init__(
        self,
        num_units: int,
        initializer: object = None,
        num_proj: int | None = None,
        number_of_groups: int = 1,
        forget_bias: float = 1.0,
        activation: _Activation = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(*lstm_sizes(num_units, num_proj), reuse)
        for name, size in (("num_units", num_units), ("num_proj", num_proj or 0)):
            if size % number_of_groups:
                raise ValueError(f"{name} must be divisible by number_of_groups")
        self._num_units = num_units
        self._initializer: Any = initializer
        self._num_proj = num_proj
        self._forget_bias = forget_bias
        self._activation = activation or tf.tanh
        self._number_of_groups = number_of_groups
        # Sizes of a group's part of output and memory.
        self._group_shape = [(num_proj or num_units) // number_of_groups]
        self._group_shape.append(num_units // number_of_groups)
        self._linears: list[Linear | None] = [None] * number_of_groups
        self._projection: Linear | None = None

    def _part(self, inputs: Tensor, group: int, size: int, batch: Any) -> Tensor:
        return tf.slice(
            inputs,
            begin=[0, group * size],
            size=[batch, size],
            name=f"GLSTM_group{group}_input_generation",
        )

    def _group(self, group: int, inputs: Structure, m_prev: Tensor, size: int) -> list[Tensor]:
        """The four gates of a group."""
        batch = dimension_value(inputs.shape[0]) or tf.shape(inputs)[0]
        with tf.variable_scope(f"group{group}"):
            parts = [
                self._part(inputs, group, size, batch),
                self._part(m_prev, group, self._group_shape[0], batch),
            ]
            joined = tf.concat(parts, axis=1)
            made = self._linears[group]
            if made is None:
                made = self._linears[group] = Linear(joined, 4 * self._group_shape[1], False)
            return tf.split(made(joined), 4, 1)

    def call(self, inputs: Tensor, state: Structure) -> Any:  # type: ignore[override]
        """One step."""
        c_prev, m_prev = state
        depth, groups = dimension_value(inputs.shape[1]), self._number_of_groups
        if depth is None:
            raise ValueError("input size must be statically known")
        if depth % groups:
            raise ValueError(
                f"input size ({depth}) must be divisible by number_of_groups ({groups})"
            )
        dtype = inputs.dtype
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            parts = [self._group(g, inputs, m_prev, depth // groups) for g in range(groups)]
            biases = [
                tf.get_variable(
                    name=f"bias_{gate}",
                    shape=[self._num_units],
                    dtype=dtype,
                    initializer=tf.constant_initializer(0.0, dtype=dtype),
                )
                for gate in "ijfo"
            ]
            i, j, f, o = (
                bias_add(tf.concat(list(of_groups), axis=1), bias)
                for of_groups, bias in zip(zip(*parts), biases)
            )
        c = tf.sigmoid(f + self._forget_bias) * c_prev + tf.sigmoid(i) * tf.tanh(j)
        m = tf.sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            with tf.variable_scope("projection"):
                if self._projection is None:
                    self._projection = Linear(m, self._num_proj, False)
                m = self._projection(m)
        return m, LSTMStateTuple(c, m)
