# SPDX-License-Identifier: Apache-2.0
"""LSTMs along time and frequency: blocks of the inputs' features are steps too."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.interface import log
from ....engine.types import dtypes
from ....engine.types.shape import dimension_value
from ....ops.nn.bias import bias_add
from ....ops.public import tf
from ...rnn.cell import RNNCell
from .parts import SizedCell, clipped, concatenated_variable

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor
    from ..structures import Structure


def _width(inputs: Tensor) -> int:
    size = dimension_value(inputs.get_shape().with_rank(2)[-1])
    if size is None:
        raise ValueError("Cannot infer input_size from static shape inference.")
    return int(size)


def _windows(inputs: Tensor, start: int, number: int, skip: int, size: int) -> list[Any]:
    """`number` windows of features, `skip` apart."""
    return [tf.slice(inputs, [0, start + i * skip], [-1, size]) for i in range(number)]


@export("contrib.rnn.TimeFreqLSTMCell")
class TimeFreqLSTMCell(SizedCell):
    """An LSTM along windows of the features, and along time (tf.contrib.rnn.TimeFreqLSTMCell).

    Args:
        num_units: the size of output and memory for each window.
        use_peepholes: whether gates see the memory, by diagonal matrices.
        cell_clip: the bound of the memory; None for none.
        initializer: is kept; the scope's makes the variables.
        num_unit_shards: in how many variables the kernel is.
        forget_bias: is added to the forget gate.
        feature_size: the size of a window.
        frequency_skip: how far windows are apart.
        reuse: True takes variables that exist.

    Example:
        >>> cell = tf.contrib.rnn.TimeFreqLSTMCell(4, feature_size=2, frequency_skip=2)
        >>> output, state = cell(tf.zeros([2, 6]), tf.zeros([2, 24]))
        >>> print(output.shape, state.shape)
        (2, 12) (2, 24)
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: object = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int = 1,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(2 * num_units, num_units, reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._num_unit_shards = num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size: Any = feature_size
        self._frequency_skip = frequency_skip

    def call(self, inputs: Tensor, state: Structure) -> tuple[Any, Any]:  # type: ignore[override]
        """One step."""
        windows = self._make_tf_features(inputs)
        units, dtype = self._num_units, inputs.dtype
        depth = windows[0].get_shape().as_list()[1]
        shape = [depth + 2 * units, 4 * units]
        kernel = concatenated_variable("W", shape, dtype, self._num_unit_shards)
        zeros = tf.zeros_initializer()
        bias = tf.get_variable("B", shape=[4 * units], initializer=zeros, dtype=dtype)
        peepholes = [
            tf.get_variable(f"W_{gate}_diag", shape=[units], dtype=dtype)
            for gate in ("FIO" if self._use_peepholes else "")
        ]
        batch = dimension_value(inputs.shape[0]) or inputs.get_shape()[0]
        m_freq = tf.zeros([batch, units], dtype)
        outputs: Any = None
        states: Any = None
        for number, window in enumerate(windows):
            c_prev = tf.slice(state, [0, 2 * number * units], [-1, units])
            m_prev = tf.slice(state, [0, (2 * number + 1) * units], [-1, units])
            gates = bias_add(tf.matmul(tf.concat([window, m_prev, m_freq], 1), kernel), bias)
            c, m_freq = self._window(gates, c_prev, peepholes)
            states = tf.concat([c, m_freq] if states is None else [states, c, m_freq], 1)
            outputs = m_freq if outputs is None else tf.concat([outputs, m_freq], 1)
        return outputs, states

    def _window(self, gates: Tensor, c_prev: Tensor, peepholes: list[Any]) -> tuple[Any, Any]:
        """The memory and the output of a window."""
        i, j, f, o = tf.split(value=gates, num_or_size_splits=4, axis=1)
        if peepholes:
            f_diag, i_diag, o_diag = peepholes
            keep = tf.sigmoid(f + self._forget_bias + f_diag * c_prev)
            c = keep * c_prev + tf.sigmoid(i + i_diag * c_prev) * tf.tanh(j)
            c = clipped(c, self._cell_clip)
            return c, tf.sigmoid(o + o_diag * c) * tf.tanh(c)
        c = tf.sigmoid(f + self._forget_bias) * c_prev + tf.sigmoid(i) * tf.tanh(j)
        c = clipped(c, self._cell_clip)
        return c, tf.sigmoid(o) * tf.tanh(c)

    def _make_tf_features(self, input_feat: Any) -> list[Any]:
        """The windows of the features."""
        width, size, skip = _width(input_feat), self._feature_size, self._frequency_skip
        return _windows(input_feat, 0, int((width - size) / skip) + 1, skip, size)


class _Grid:
    """The variables of a block of windows.

    There is a kernel along frequency and one along time, unless they are shared; each has peepholes
    onto both memories.
    """

    def __init__(self, cell: GridLSTMCell, block: int, depth: int, dtype: Any) -> None:
        units = cell._num_units
        self.gates = 3 if cell._couple_input_forget_gates else 4
        self.kernels: dict[str, tuple[Any, Any]] = {}
        for way in "ft":
            if way == "t" and cell._share_time_frequency_weights:
                self.kernels[way] = self.kernels["f"]
                continue
            name, shape = f"{way}_{block}", [depth + 2 * units, self.gates * units]
            kernel = concatenated_variable(f"W_{name}", shape, dtype, cell._num_unit_shards)
            bias = tf.get_variable(
                f"B_{name}",
                shape=[self.gates * units],
                initializer=tf.zeros_initializer(),
                dtype=dtype,
            )
            self.kernels[way] = kernel, bias
        self.peepholes: dict[tuple[str, str], Any] = {}
        if not cell._use_peepholes:
            return
        letters = "IO" if cell._couple_input_forget_gates else "FIO"
        for way, long in (("f", "freq"), ("t", "time")):
            for gate in letters:
                if way == "t" and cell._share_time_frequency_weights:
                    self.peepholes[way, gate] = self.peepholes["f", gate]
                    continue
                self.peepholes[way, gate] = tuple(
                    tf.get_variable(
                        f"W_{gate}_diag_{long}{onto}_{block}", shape=[units], dtype=dtype
                    )
                    for onto in "ft"
                )

    def gate(self, way: str, gate: str, x: Structure, c_freq: Structure, c_time: Structure) -> Any:
        """A gate, which sees both memories if there are peepholes."""
        if not self.peepholes:
            return tf.sigmoid(x)
        onto_freq, onto_time = self.peepholes[way, gate]
        return tf.sigmoid(x + onto_freq * c_freq + onto_time * c_time)


@export("contrib.rnn.GridLSTMCell")
class GridLSTMCell(RNNCell):
    """An LSTM along windows of the features with a memory of its own each way (tf.contrib.rnn).

    Of arXiv 1507.01526.

    Args:
        num_units: the size of output and memory for each window.
        use_peepholes: whether gates see the memories, by diagonal matrices.
        share_time_frequency_weights: whether both ways have one kernel.
        cell_clip: the bound of the memories; None for none.
        initializer: is kept; the scope's makes the variables.
        num_unit_shards: in how many variables a kernel is.
        forget_bias: is added to the forget gates.
        feature_size: the size of a window.
        frequency_skip: how far windows are apart.
        num_frequency_blocks: the numbers of windows, a list with one for each block.
        start_freqindex_list, end_freqindex_list: where blocks begin and end; the whole if None.
        couple_input_forget_gates: whether the forget gate is what the input gate leaves.
        state_is_tuple: whether the state is a tuple of memories and outputs; else one tensor.
        reuse: True takes variables that exist.

    Raises:
        ValueError: num_frequency_blocks is missing, or (by a step) does not fit the inputs.

    Example:
        >>> cell = tf.contrib.rnn.GridLSTMCell(
        ...     4, feature_size=2, frequency_skip=2, num_frequency_blocks=[3])
        >>> output, state = cell(tf.zeros([2, 6]), cell.zero_state(2, tf.float32))
        >>> print(output.shape, len(state))
        (2, 24) 6
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: object = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int | None = None,
        num_frequency_blocks: Sequence[int] | None = None,
        start_freqindex_list: Sequence[int] | None = None,
        end_freqindex_list: Sequence[int] | None = None,
        couple_input_forget_gates: bool = False,
        state_is_tuple: bool = True,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        if not state_is_tuple:
            log.warn(
                "%s: Using a concatenated state is slower and will soon be deprecated.  Use "
                "state_is_tuple=True.",
                self,
            )
        if num_frequency_blocks is None:
            raise ValueError("Must specify num_frequency_blocks")
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._share_time_frequency_weights = share_time_frequency_weights
        self._couple_input_forget_gates = couple_input_forget_gates
        self._state_is_tuple = state_is_tuple
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._num_unit_shards = num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size: Any = feature_size
        self._frequency_skip: Any = frequency_skip
        self._start_freqindex_list = start_freqindex_list
        self._end_freqindex_list = end_freqindex_list
        self._num_frequency_blocks = num_frequency_blocks
        self._total_blocks = sum(int(number) for number in num_frequency_blocks)
        self._state_tuple_type: Any = None
        self._state_size: Any = num_units * self._total_blocks * 2
        if state_is_tuple:
            self._name_states("GridLSTMStateTuple", [""])
        self._output_size = num_units * self._total_blocks * 2

    def _name_states(self, name: str, directions: list[str]) -> None:
        """Makes the type of a state: a memory and an output for each window."""
        fields = [
            f"{direction}state_f{window:02d}_b{block:02d}_{what}"
            for direction in directions
            for block, number in enumerate(self._num_frequency_blocks)
            for window in range(number)
            for what in "cm"
        ]
        self._state_tuple_type = namedtuple(name, fields)  # type: ignore[misc]
        self._state_size = self._state_tuple_type(*[self._num_units] * len(fields))

    @property
    def output_size(self) -> int:
        """The size of the output: that of both ways, for all windows."""
        return self._output_size

    @property
    def state_size(self) -> Any:
        """The sizes of the state."""
        return self._state_size

    @property
    def state_tuple_type(self) -> Any:
        """The type of the state; None if it is one tensor."""
        return self._state_tuple_type

    def call(self, inputs: Tensor, state: Structure) -> Any:  # type: ignore[override]
        """One step."""
        batch = dimension_value(inputs.shape[0]) or tf.shape(inputs)[0]
        blocks = self._make_tf_features(inputs)
        outputs, states = self._blocks(blocks, state, batch, "state", self._state_is_tuple)
        new = self._state_tuple_type(*states) if self._state_is_tuple else tf.concat(states, 1)
        return tf.concat(outputs, 1), new

    def _blocks(
        self, blocks: list[list[Any]], state: Structure, batch: Any, prefix: str, is_tuple: bool
    ) -> tuple[list[Any], list[Any]]:
        """Outputs and states of all blocks, one behind the other."""
        outputs: list[Any] = []
        states: list[Any] = []
        for block, windows in enumerate(blocks):
            made = self._compute(windows, block, state, batch, prefix, is_tuple)
            outputs += made[0]
            states += made[1]
        return outputs, states

    def _before(self, state: Structure, name: str, window: int, is_tuple: bool) -> tuple[Any, Any]:
        """The memory and the output of a window at the step before."""
        if is_tuple:
            return getattr(state, f"{name}_c"), getattr(state, f"{name}_m")
        units = self._num_units
        c = tf.slice(state, [0, 2 * window * units], [-1, units])
        return c, tf.slice(state, [0, (2 * window + 1) * units], [-1, units])

    def _compute(
        self,
        freq_inputs: list[Any],
        block: int,
        state: Structure,
        batch_size: Any,
        state_prefix: str = "state",
        state_is_tuple: bool = True,
    ) -> tuple[list[Any], list[Any]]:
        """Outputs and states of a block's windows."""
        dtype, depth = freq_inputs[0].dtype, freq_inputs[0].get_shape().as_list()[1]
        grid = _Grid(self, block, depth, dtype)
        m_freq = tf.zeros([batch_size, self._num_units], dtype)
        c_freq = tf.zeros([batch_size, self._num_units], dtype)
        outputs: list[Any] = []
        states: list[Any] = []
        for window, inputs in enumerate(freq_inputs):
            name = f"{state_prefix}_f{window:02d}_b{block:02d}"
            c_time, m_time = self._before(state, name, window, state_is_tuple)
            joined = tf.concat([inputs, m_time, m_freq], 1)
            c_freq, c_time, m_freq, m_time = self._window(grid, joined, c_freq, c_time)
            states += [c_time, m_time]
            outputs += [m_time, m_freq]
        return outputs, states

    def _parts(self, grid: _Grid, way: str, joined: Tensor) -> Any:
        """The gates of a way before their activations: input, candidate, forget, output."""
        kernel, bias = grid.kernels[way]
        matrix = bias_add(tf.matmul(joined, kernel), bias)
        parts = tf.split(value=matrix, num_or_size_splits=grid.gates, axis=1)
        if self._couple_input_forget_gates:
            i, j, o = parts
            return i, j, None, o
        return parts

    def _window(
        self, grid: _Grid, joined: Tensor, c_freq: Structure, c_time: Structure
    ) -> tuple[Any, ...]:
        """The new memories of both ways, and their outputs."""
        of_freq = self._parts(grid, "f", joined)
        shared = self._share_time_frequency_weights
        of_time = of_freq if shared else self._parts(grid, "t", joined)
        memories, before = [], (c_freq, c_time)
        for way, (i, j, f, _), own in zip("ft", (of_freq, of_time), before):
            enter = grid.gate(way, "I", i, *before)
            if self._couple_input_forget_gates:
                keep = 1.0 - enter
            else:
                keep = grid.gate(way, "F", f + self._forget_bias, *before)
            memories.append(clipped(keep * own + enter * tf.tanh(j), self._cell_clip))
        outputs = [
            grid.gate(way, "O", parts[3], *memories) * tf.tanh(memory)
            for way, parts, memory in zip("ft", (of_freq, of_time), memories)
        ]
        return (*memories, *outputs)

    def _extents(self, width: int) -> list[tuple[int, int]]:
        """Where each block begins, and how wide it is."""
        starts, ends = self._start_freqindex_list, self._end_freqindex_list
        blocks = self._num_frequency_blocks
        if not starts:
            if len(blocks) != 1:
                raise ValueError(
                    f"Length of num_frequency_blocks is not 1, but instead is {len(blocks)}"
                )
            return [(0, width)]
        assert ends is not None, "blocks that begin somewhere end somewhere"
        if len(starts) != len(ends):
            raise ValueError(
                f"Length of start and end freqindex_list does not match {len(starts)} {len(ends)}"
            )
        if len(blocks) != len(starts):
            raise ValueError(
                "Length of num_frequency_blocks is not equal to start_freqindex_list "
                f"{len(blocks)} {len(starts)}"
            )
        return [(start, end - start) for start, end in zip(starts, ends)]

    def _make_tf_features(self, input_feat: Any, slice_offset: int = 0) -> list[list[Any]]:
        """The windows of each block, shifted by an offset into zeros."""
        width, inputs = _width(input_feat), input_feat
        if slice_offset:
            sides = [0, 0, max(-slice_offset, 0), max(slice_offset, 0)]
            paddings = tf.constant(sides, shape=[2, 2], dtype=dtypes.int32)
            inputs = tf.pad(input_feat, paddings, "CONSTANT")
        shift = max(slice_offset, 0)
        found = []
        for (start, size), wanted in zip(self._extents(width), self._num_frequency_blocks):
            number = int((size - self._feature_size) / self._frequency_skip) + 1
            if number != wanted:
                raise ValueError(
                    f"Invalid num_frequency_blocks, requires {wanted} but gets {number}, please "
                    "check the input size and filter config are correct."
                )
            skip, feature = self._frequency_skip, self._feature_size
            found.append(_windows(inputs, start + shift, number, skip, feature))
        return found


@export("contrib.rnn.BidirectionalGridLSTMCell")
class BidirectionalGridLSTMCell(GridLSTMCell):
    """A grid LSTM that goes along the frequencies both ways (tf.contrib.rnn).

    Args:
        num_units, use_peepholes, share_time_frequency_weights, cell_clip, initializer,
            num_unit_shards, forget_bias, feature_size, frequency_skip, num_frequency_blocks,
            start_freqindex_list, end_freqindex_list, couple_input_forget_gates, reuse: as
            GridLSTMCell.
        backward_slice_offset: by how much the windows on the way back are shifted.

    Example:
        >>> cell = tf.contrib.rnn.BidirectionalGridLSTMCell(
        ...     4, feature_size=2, frequency_skip=2, num_frequency_blocks=[3])
        >>> output, state = cell(tf.zeros([2, 6]), cell.zero_state(2, tf.float32))
        >>> print(output.shape, len(state))
        (2, 48) 12
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: object = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int | None = None,
        num_frequency_blocks: Sequence[int] | None = None,
        start_freqindex_list: Sequence[int] | None = None,
        end_freqindex_list: Sequence[int] | None = None,
        couple_input_forget_gates: bool = False,
        backward_slice_offset: int = 0,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(
            *(num_units, use_peepholes, share_time_frequency_weights, cell_clip, initializer),
            *(num_unit_shards, forget_bias, feature_size, frequency_skip, num_frequency_blocks),
            *(start_freqindex_list, end_freqindex_list, couple_input_forget_gates, True, reuse),
        )
        self._backward_slice_offset = int(backward_slice_offset)
        self._name_states("BidirectionalGridLSTMStateTuple", ["fwd_", "bwd_"])
        self._output_size = 2 * num_units * self._total_blocks * 2

    def call(self, inputs: Tensor, state: Structure) -> tuple[Tensor, Any]:  # type: ignore[override]
        """One step."""
        batch = dimension_value(inputs.shape[0]) or tf.shape(inputs)[0]
        forward = self._make_tf_features(inputs)
        backward, offset = forward, self._backward_slice_offset
        if offset:
            backward = self._make_tf_features(inputs, offset)
        with tf.variable_scope("fwd"):
            outputs, states = self._blocks(forward, state, batch, "fwd_state", True)
        with tf.variable_scope("bwd"):
            turned = [windows[::-1] for windows in backward]
            more, more_states = self._blocks(turned, state, batch, "bwd_state", True)
        return tf.concat(outputs + more, 1), self._state_tuple_type(*states, *more_states)
