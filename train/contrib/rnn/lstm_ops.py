# SPDX-License-Identifier: Apache-2.0
"""LSTM cells whose step, or whose whole sequence, is one op."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor
from ....engine.types import dtypes
from ....engine.types.shape import dimension_value
from ....ops.public import raw, tf
from ...layers import base
from ...layers.input_spec import InputSpec
from ...rnn.cell import LayerRNNCell
from ...rnn.cells import LSTMStateTuple

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike, TensorLike
    from ....engine.graph.tensor import Tensor
    from ..structures import Structure

# What the ops take for "no bound".
_NO_CLIP = -1


def _variables(layer: Any, depth: int, units: int, use_peephole: bool) -> None:
    """Makes the kernel, the bias and the peepholes of an LSTM."""
    layer._kernel = layer.add_variable("kernel", [depth + units, units * 4])
    layer._bias = layer.add_variable("bias", [units * 4], initializer=tf.constant_initializer(0.0))
    if use_peephole:
        layer._w_i_diag, layer._w_f_diag, layer._w_o_diag = (
            layer.add_variable(f"w_{gate}_diag", [units]) for gate in "ifo"
        )


def _peepholes(layer: Any, units: int, use_peephole: bool, dtype: DTypeLike) -> dict[str, Any]:
    """The peepholes as the ops take them: zeros, which are not read, if there are none."""
    if use_peephole:
        return {"wci": layer._w_i_diag, "wcf": layer._w_f_diag, "wco": layer._w_o_diag}
    return dict.fromkeys(("wci", "wcf", "wco"), tf.zeros([units], dtype=dtype))


@export("contrib.rnn.LSTMBlockCell")
class LSTMBlockCell(LayerRNNCell):
    """An LSTM whose step is one op (tf.contrib.rnn.LSTMBlockCell).

    Its variables have the names and shapes of BasicLSTMCell's.

    Args:
        num_units: the size of output and memory.
        forget_bias: is added to the forget gate.
        cell_clip: the bound of the memory; None for none.
        use_peephole: whether gates see the memory, by diagonal matrices.
        dtype, reuse, name: as tf.nn.rnn_cell.BasicLSTMCell.

    Example:
        >>> cell = tf.contrib.rnn.LSTMBlockCell(4)
        >>> outputs, state = tf.nn.dynamic_rnn(cell, tf.zeros([2, 5, 3]), dtype=tf.float32)
        >>> print(outputs.shape, state.c.shape)
        (2, 5, 4) (2, 4)
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        dtype: DTypeLike | None = None,
        reuse: bool | None = None,
        name: str | None = "lstm_cell",
    ) -> None:
        super().__init__(_reuse=reuse, dtype=dtype, name=name)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._use_peephole = use_peephole
        self._cell_clip = _NO_CLIP if cell_clip is None else cell_clip
        self.input_spec = InputSpec(ndim=2)

    @property
    def state_size(self) -> LSTMStateTuple:
        """The sizes of memory and output: two of `num_units`."""
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        """The size of the output: `num_units`."""
        return self._num_units

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables."""
        depth = dimension_value(inputs_shape[1])
        if not depth:
            raise ValueError(f"Expecting inputs_shape[1] to be set: {inputs_shape}")
        _variables(self, depth, self._num_units, self._use_peephole)
        self.built = True

    def call(self, inputs: Tensor, state: Structure) -> Any:  # type: ignore[override]
        """One step."""
        if len(state) != 2:
            raise ValueError("Expecting state to be a tuple with length 2.")
        dtype: Any = self.dtype
        peepholes = _peepholes(self, self._num_units, self._use_peephole, dtype)
        _, cs, _, _, _, _, h = raw.LSTMBlockCell(
            x=inputs,
            cs_prev=state[0],
            h_prev=state[1],
            w=self._kernel,
            b=self._bias,
            forget_bias=self._forget_bias,
            cell_clip=self._cell_clip,
            use_peephole=self._use_peephole,
            **peepholes,
        )
        return h, LSTMStateTuple(cs, h)

    _kernel: Any
    _bias: Any


@export("contrib.rnn.LSTMBlockWrapper")
class LSTMBlockWrapper(base.Layer, metaclass=abc.ABCMeta):
    """Base class of LSTMs that take a whole sequence in one op (tf.contrib.rnn.LSTMBlockWrapper).

    Subclasses have `num_units` and `_call_cell`.
    """

    @property
    @abc.abstractmethod
    def num_units(self) -> int:
        """The size of output and memory."""

    @abc.abstractmethod
    def _call_cell(
        self,
        inputs: Tensor,
        initial_cell_state: TensorLike,
        initial_output: TensorLike,
        dtype: DTypeLike,
        sequence_length: TensorLike | None,
    ) -> Any:
        """All steps of all sequences: memories and outputs [time, batch, units]."""

    def call(  # type: ignore[override]
        self,
        inputs: Structure,
        initial_state: Structure = None,
        dtype: DTypeLike | None = None,
        sequence_length: TensorLike | None = None,
    ) -> Any:
        """All steps: (outputs, last state).

        Args:
            inputs: [time, batch, inputs], or a list of [batch, inputs].
            initial_state: memory and output before the first step; zeros of `dtype` if None.
            dtype: of these zeros.
            sequence_length: int [batch]; later outputs are zeros, and the state stays.

        Raises:
            ValueError: a size that must be known is not, or neither state nor dtype is given.
        """
        is_list = isinstance(inputs, list)
        inputs = tf.stack(inputs) if is_list else inputs
        time, batch = self._sizes(inputs)
        if initial_state is None:
            if dtype is None:
                raise ValueError("Either initial_state or dtype needs to be specified")
            zeros = tf.zeros(tf.stack([batch, self.num_units]), dtype=dtype)
            initial_state = (zeros, zeros)
        elif len(initial_state) != 2:
            raise ValueError("Expecting initial_state to be a tuple with length 2 or None")
        elif dtype is None:
            dtype = initial_state[0].dtype
        lengths = None if sequence_length is None else convert_to_tensor(sequence_length)
        memory, output = initial_state
        memories, outputs = self._call_cell(inputs, memory, output, dtype, lengths)
        if lengths is None:
            last = memories[-1], outputs[-1]
        else:
            mask = tf.transpose(tf.sequence_mask(lengths, time, dtype=dtype), [1, 0])
            mask = tf.tile(tf.expand_dims(mask, [-1]), [1, 1, self.num_units])
            outputs *= mask
            all_memories = tf.concat([tf.expand_dims(initial_state[0], [0]), memories], 0)
            all_outputs = tf.concat([tf.expand_dims(initial_state[1], [0]), outputs], 0)
            last = tuple(  # type: ignore[assignment]
                _states_at(steps, lengths, batch) for steps in (all_memories, all_outputs)
            )
        return (tf.unstack(outputs) if is_list else outputs), LSTMStateTuple(*last)

    @staticmethod
    def _sizes(inputs: Tensor) -> tuple[Any, Any]:
        """Steps and batch of a sequence, as numbers where they are known."""
        shape = inputs.get_shape().with_rank(3)
        if not dimension_value(shape[2]):
            raise ValueError(f"Expecting inputs_shape[2] to be set: {shape}")
        batch, time = dimension_value(shape[1]), dimension_value(shape[0])
        batch = tf.shape(inputs)[1] if batch is None else batch
        return (tf.shape(inputs)[0] if time is None else time), batch


def _states_at(steps: Tensor, lengths: Tensor, batch: TensorLike) -> Tensor:
    """What each sequence has after so many steps: `steps` begin with the one before the first."""
    return tf.gather_nd(steps, tf.stack([lengths, tf.range(batch)], axis=1))


@export("contrib.rnn.LSTMBlockFusedCell")
class LSTMBlockFusedCell(LSTMBlockWrapper):
    """An LSTM that takes a whole sequence in one op (tf.contrib.rnn.LSTMBlockFusedCell).

    Args:
        num_units, forget_bias, cell_clip, use_peephole, reuse, dtype, name: as LSTMBlockCell.

    Example:
        >>> cell = tf.contrib.rnn.LSTMBlockFusedCell(4)
        >>> outputs, state = cell(tf.zeros([5, 2, 3]), dtype=tf.float32)
        >>> print(outputs.shape, state.h.shape)
        (5, 2, 4) (2, 4)
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        reuse: bool | None = None,
        dtype: DTypeLike | None = None,
        name: str | None = "lstm_fused_cell",
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._cell_clip = _NO_CLIP if cell_clip is None else cell_clip
        self._use_peephole = use_peephole
        self.input_spec = InputSpec(ndim=3)

    @property
    def num_units(self) -> int:
        """The size of output and memory."""
        return self._num_units

    def build(self, input_shape: Any) -> None:
        """Makes the variables."""
        depth = dimension_value(input_shape[2])
        _variables(self, depth, self._num_units, self._use_peephole)
        self.built = True

    def _call_cell(
        self,
        inputs: Tensor,
        initial_cell_state: TensorLike = None,  # type: ignore[assignment]
        initial_output: TensorLike = None,  # type: ignore[assignment]
        dtype: DTypeLike = None,  # type: ignore[assignment]
        sequence_length: TensorLike | None = None,
    ) -> tuple[Tensor, Tensor]:
        time = dimension_value(inputs.get_shape().with_rank(3)[0])
        if time is None:
            time = tf.shape(inputs)[0]
        peepholes = _peepholes(self, self._num_units, self._use_peephole, dtype)
        steps = time if sequence_length is None else tf.reduce_max(sequence_length)
        _, cs, _, _, _, _, h = raw.BlockLSTM(
            seq_len_max=tf.cast(steps, dtypes.int64),
            x=inputs,
            cs_prev=initial_cell_state,
            h_prev=initial_output,
            w=self._kernel,
            b=self._bias,
            forget_bias=self._forget_bias,
            cell_clip=self._cell_clip,
            use_peephole=self._use_peephole,
            **peepholes,
        )
        return cs, h

    _kernel: Any
    _bias: Any


def _lstm_block_cell(
    x: Tensor,
    cs_prev: Tensor,
    h_prev: Tensor,
    w: TensorLike,
    b: TensorLike,
    wci: Any = None,
    wcf: Any = None,
    wco: Any = None,
    forget_bias: float | None = None,
    cell_clip: float | None = None,
    use_peephole: bool | None = None,
    name: str | None = None,
) -> Any:
    """The seven results of one step; see the op LSTMBlockCell."""
    if wci is None:
        units = dimension_value(cs_prev.get_shape().with_rank(2)[1])
        if units is None:
            raise ValueError("cell_size from `cs_prev` should not be None.")
        wci = wcf = wco = tf.constant(0, dtype=dtypes.float32, shape=[units])
    numbers: dict[str, Any] = {"forget_bias": forget_bias, "use_peephole": use_peephole}
    return raw.LSTMBlockCell(
        x=x,
        cs_prev=cs_prev,
        h_prev=h_prev,
        w=w,
        wci=wci,
        wcf=wcf,
        wco=wco,
        b=b,
        cell_clip=_NO_CLIP if cell_clip is None else cell_clip,
        name=name,
        **{key: value for key, value in numbers.items() if value is not None},
    )


def _block_lstm(
    seq_len_max: TensorLike,
    x: list[Any],
    w: TensorLike,
    b: Any,
    cs_prev: Any = None,
    h_prev: Any = None,
    wci: Any = None,
    wcf: Any = None,
    wco: Any = None,
    forget_bias: float | None = None,
    cell_clip: float | None = None,
    use_peephole: bool | None = None,
    name: str | None = None,
) -> tuple[Any, ...]:
    """The seven results of all steps, each as a list; see the op BlockLSTM."""
    dtype = x[0].dtype
    batch = dimension_value(x[0].get_shape().with_rank(2)[0])
    gates = dimension_value(b.get_shape().with_rank(1)[0])
    if gates is None:
        raise ValueError("`b` shape must not be None.")
    units = gates // 4
    if cs_prev is None or h_prev is None:
        zeros = tf.constant(0, dtype=dtype, shape=[batch, units])
        cs_prev = zeros if cs_prev is None else cs_prev
        h_prev = zeros if h_prev is None else h_prev
    if wci is None:
        wci = wcf = wco = tf.constant(0, dtype=dtype, shape=[units])
    numbers: dict[str, Any] = {"forget_bias": forget_bias, "use_peephole": use_peephole}
    made = raw.BlockLSTM(
        seq_len_max=seq_len_max,
        x=tf.stack(x),
        cs_prev=cs_prev,
        h_prev=h_prev,
        w=w,
        wci=wci,
        wcf=wcf,
        wco=wco,
        b=b,
        cell_clip=_NO_CLIP if cell_clip is None else cell_clip,
        name=name,
        **{key: value for key, value in numbers.items() if value is not None},
    )
    return tuple(tf.unstack(steps) for steps in made)
