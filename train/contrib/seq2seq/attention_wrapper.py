# SPDX-License-Identifier: Apache-2.0
"""`AttentionWrapper`: a cell that attends to one memory or several."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes, nest
from ....engine.types.shape import TensorShape, dimension_value
from ....ops.flow.tensor_array import TensorArray
from ....ops.public import tf
from ...layers import base_layer
from ...layers.core import Dense
from ...rnn.cell import RNNCell, assert_like_rnncell, zero_state_tensors
from .attention_maths import bahdanau_score, luong_score, monotonic_probabilities
from .attention_mechanisms import AttentionMechanism

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike, TensorLike
    from ..structures import Structure

# The names by which programs that look inside know these.
_bahdanau_score, _luong_score = bahdanau_score, luong_score
_monotonic_probability_fn = monotonic_probabilities


@export("contrib.seq2seq.AttentionWrapperState")
class AttentionWrapperState(
    namedtuple(
        "AttentionWrapperState",
        (
            "cell_state",
            "attention",
            "time",
            "alignments",
            "alignment_history",
            "attention_state",
        ),
    )
):
    """The state of an AttentionWrapper (tf.contrib.seq2seq.AttentionWrapperState).

    Args:
        cell_state: the state of the cell.
        attention: what was attended to last.
        time: the number of the step.
        alignments: the last weights, or a tuple with those of each mechanism.
        alignment_history: all weights as a TensorArray, or () if they are not kept.
        attention_state: the states of the mechanisms.
    """

    __slots__ = ()

    def clone(self, **kwargs: Any) -> AttentionWrapperState:
        """The state with other fields, whose shapes must be the present ones.

        Args:
            **kwargs: the new fields.

        Raises:
            ValueError: a shape differs.
        """
        from ..framework.tensor_util import with_same_shape

        def checked(old: object, new: object) -> object:
            both = isinstance(old, Tensor) and isinstance(new, Tensor)
            return with_same_shape(old, new) if both else new  # type: ignore[arg-type]

        changed: AttentionWrapperState = nest.map_structure(checked, self, self._replace(**kwargs))
        return changed


def _compute_attention(
    attention_mechanism: Any,
    cell_output: Structure,
    attention_state: Structure,
    attention_layer: Any,
) -> Any:
    """(attention, weights, next state) of one mechanism."""
    # Mechanisms that are layers take all that are tensors as one input.
    if isinstance(attention_mechanism, base_layer.Layer):
        alignments, next_state = attention_mechanism([cell_output, attention_state])
    else:
        alignments, next_state = attention_mechanism(cell_output, state=attention_state)
    context = tf.matmul(tf.expand_dims(alignments, 1), attention_mechanism.values)
    context = tf.squeeze(context, [1])
    if attention_layer is None:
        return context, alignments, next_state
    return attention_layer(tf.concat([cell_output, context], 1)), alignments, next_state


def _as_mechanisms(given: Any) -> tuple[Any, ...]:
    if isinstance(given, (list, tuple)):
        for mechanism in given:
            if not isinstance(mechanism, AttentionMechanism):
                raise TypeError(
                    "attention_mechanism must contain only instances of AttentionMechanism, saw "
                    f"type: {type(mechanism).__name__}"
                )
        return tuple(given)
    if not isinstance(given, AttentionMechanism):
        raise TypeError(
            "attention_mechanism must be an AttentionMechanism or list of multiple "
            f"AttentionMechanism instances, saw type: {type(given).__name__}"
        )
    return (given,)


def _joined(inputs: Structure, attention: Structure) -> Tensor:
    return tf.concat([inputs, attention], -1)


def _one_each(name: str, what: str, given: Any, mechanisms: tuple[Any, ...]) -> tuple[Any, ...]:
    """An argument as a tuple with one thing for each mechanism."""
    each = tuple(given) if isinstance(given, (list, tuple)) else (given,)
    if len(each) != len(mechanisms):
        raise ValueError(
            f"If provided, {name} must contain exactly one {what} per attention_mechanism, saw: "
            f"{len(each)} vs {len(mechanisms)}"
        )
    return each


@export("contrib.seq2seq.AttentionWrapper")
class AttentionWrapper(RNNCell):
    """A cell that attends to a memory (tf.contrib.seq2seq.AttentionWrapper).

    Args:
        cell: an RNNCell.
        attention_mechanism: an AttentionMechanism, or a list of some.
        attention_layer_size: the size of a layer behind output and context, one or a list; None
            for the context itself.
        alignment_history: whether the state keeps all weights.
        cell_input_fn: a function(inputs, attention) -> the cell's inputs; both side by side if
            None.
        output_attention: whether the attention is the output, else the cell's output.
        initial_cell_state: what `zero_state` takes for the cell; zeros if None.
        name: of the layer.
        attention_layer: a layer or a list of some, instead of a size.
        attention_fn: a function(mechanism, cell output, state, layer) -> (attention, weights, next
            state); None for the usual one.
        dtype: of the layer.

    Raises:
        TypeError: an argument is of another kind.
        ValueError: sizes and layers are not one for each mechanism, or both are given.

    Example:
        >>> attention = tf.contrib.seq2seq.LuongAttention(4, tf.zeros([2, 5, 3]))
        >>> cell = tf.contrib.seq2seq.AttentionWrapper(
        ...     tf.nn.rnn_cell.GRUCell(4), attention, attention_layer_size=6)
        >>> output, state = cell(tf.zeros([2, 3]), cell.zero_state(2, tf.float32))
        >>> print(output.shape, state.alignments.shape)
        (2, 6) (2, 5)
    """

    def __init__(
        self,
        cell: Any,
        attention_mechanism: Any,
        attention_layer_size: Any = None,
        alignment_history: bool = False,
        cell_input_fn: Callable[..., Any] | None = None,
        output_attention: bool = True,
        initial_cell_state: Any = None,
        name: str | None = None,
        attention_layer: Any = None,
        attention_fn: Callable[..., Any] | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        assert_like_rnncell("cell", cell)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        self._attention_mechanisms = _as_mechanisms(attention_mechanism)
        if cell_input_fn is not None and not callable(cell_input_fn):
            raise TypeError(
                f"cell_input_fn must be callable, saw type: {type(cell_input_fn).__name__}"
            )
        self._cell = cell
        self._cell_input_fn = cell_input_fn or _joined
        self._attention_fn = attention_fn or _compute_attention
        self._output_attention = output_attention
        self._alignment_history = alignment_history
        self._make_layers(attention_layer_size, attention_layer)
        with tf.name_scope(name, "AttentionWrapperInit"):
            self._initial_cell_state = self._checked_initial(initial_cell_state)

    def _make_layers(self, size: Any, layer: Any) -> None:
        """Makes the layers behind the contexts, and finds the size of the attention."""
        mechanisms = self._attention_mechanisms
        if size is not None and layer is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set")
        self._attention_layers: Any = None
        if size is not None:
            sizes = _one_each("attention_layer_size", "integer", size, mechanisms)
            self._attention_layers = tuple(
                Dense(units, name="attention_layer", use_bias=False, dtype=mechanism.dtype)
                for units, mechanism in zip(sizes, mechanisms)
            )
            self._attention_layer_size: Any = sum(sizes)
            return
        depths = [dimension_value(mechanism.values.shape[-1]) for mechanism in mechanisms]
        if layer is not None:
            self._attention_layers = _one_each("attention_layer", "layer", layer, mechanisms)
            shapes = [[None, self._cell.output_size + depth] for depth in depths]
            depths = [
                dimension_value(one.compute_output_shape(shape)[-1])
                for one, shape in zip(self._attention_layers, shapes)
            ]
        self._attention_layer_size = sum(depths)

    def _checked_initial(self, state: Structure) -> Any:
        """A given state, behind a check of its batch."""
        if state is None:
            return None
        last = nest.flatten(state)[-1]
        batch = dimension_value(last.shape[0]) or tf.shape(last)[0]
        message = (
            f"When constructing AttentionWrapper {self._base_name}: Non-matching batch sizes "
            "between the memory (encoder output) and initial_cell_state.  Are you using the "
            "BeamSearchDecoder?  You may need to tile your initial state via the "
            "tf.contrib.seq2seq.tile_batch function with argument multiple=beam_width."
        )
        with tf.control_dependencies(self._batch_size_checks(batch, message)):
            return nest.map_structure(
                lambda s: tf.identity(s, name="check_initial_cell_state"), state
            )

    def _batch_size_checks(self, batch_size: TensorLike, error_message: str) -> list[Any]:
        return [
            tf.assert_equal(batch_size, mechanism.batch_size, message=error_message)
            for mechanism in self._attention_mechanisms
        ]

    def _item_or_tuple(self, seq: Iterable[Any]) -> Any:
        """One thing for each mechanism as the state has them: alone if there is no list."""
        each = tuple(seq)
        return each if self._is_multi else each[0]

    @property
    def output_size(self) -> Any:
        """The size of the output."""
        return self._attention_layer_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self) -> AttentionWrapperState:
        """The sizes of the state."""
        mechanisms = self._attention_mechanisms
        sizes = [mechanism.alignments_size for mechanism in mechanisms]
        return AttentionWrapperState(
            cell_state=self._cell.state_size,
            time=TensorShape([]),
            attention=self._attention_layer_size,
            alignments=self._item_or_tuple(sizes),
            attention_state=self._item_or_tuple(m.state_size for m in mechanisms),
            alignment_history=self._item_or_tuple(
                size if self._alignment_history else () for size in sizes
            ),
        )

    def zero_state(self, batch_size: TensorLike, dtype: DTypeLike) -> AttentionWrapperState:
        """The state before the first step.

        Args:
            batch_size: of the memory; with a beam search times its width.
            dtype: of the state.
        """
        with tf.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            state = self._initial_cell_state
            if state is None:
                state = self._cell.get_initial_state(batch_size=batch_size, dtype=dtype)
            message = (
                f"When calling zero_state of AttentionWrapper {self._base_name}: Non-matching "
                "batch sizes between the memory (encoder output) and the requested batch size.  "
                "Are you using the BeamSearchDecoder?  If so, make sure your encoder output has "
                "been tiled to beam_width via tf.contrib.seq2seq.tile_batch, and the batch_size= "
                "argument passed to zero_state is batch_size * beam_width."
            )
            with tf.control_dependencies(self._batch_size_checks(batch_size, message)):
                state = nest.map_structure(
                    lambda s: tf.identity(s, name="checked_cell_state"), state
                )
            mechanisms = self._attention_mechanisms
            first = [m.initial_alignments(batch_size, dtype) for m in mechanisms]
            return AttentionWrapperState(
                cell_state=state,
                time=tf.zeros([], dtype=dtypes.int32),
                attention=zero_state_tensors(self._attention_layer_size, batch_size, dtype),
                alignments=self._item_or_tuple(first),
                attention_state=self._item_or_tuple(
                    m.initial_state(batch_size, dtype) for m in mechanisms
                ),
                alignment_history=self._item_or_tuple(
                    self._history(alignments, dtype) for alignments in first
                ),
            )

    def _history(self, alignments: Tensor, dtype: DTypeLike) -> Any:
        if not self._alignment_history:
            return ()
        return TensorArray(dtype, size=0, dynamic_size=True, element_shape=alignments.shape)

    def _checked_output(self, output: Any) -> Tensor:
        batch = dimension_value(output.shape[0]) or tf.shape(output)[0]
        message = (
            f"When applying AttentionWrapper {self.name}: Non-matching batch sizes between the "
            "memory (encoder output) and the query (decoder output).  Are you using the "
            "BeamSearchDecoder?  You may need to tile your memory input via the "
            "tf.contrib.seq2seq.tile_batch function with argument multiple=beam_width."
        )
        with tf.control_dependencies(self._batch_size_checks(batch, message)):
            return tf.identity(output, name="checked_cell_output")

    def call(self, inputs: Structure, state: Structure) -> Any:  # type: ignore[override]
        """One step."""
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(
                "Expected state to be instance of AttentionWrapperState. Received type "
                f"{type(state)} instead."
            )
        cell_inputs = self._cell_input_fn(inputs, state.attention)
        cell_output, next_cell_state = self._cell(cell_inputs, state.cell_state)
        cell_output = self._checked_output(cell_output)
        states, histories = state.attention_state, state.alignment_history
        if not self._is_multi:
            states, histories = [states], [histories]
        made, kept = [], []
        for i, mechanism in enumerate(self._attention_mechanisms):
            layer = self._attention_layers[i] if self._attention_layers else None
            attended = self._attention_fn(mechanism, cell_output, states[i], layer)
            made.append(attended)
            keeps = self._alignment_history
            kept.append(histories[i].write(state.time, attended[1]) if keeps else ())
        attention = tf.concat([attended for attended, _, _ in made], 1)
        next_state = AttentionWrapperState(
            time=state.time + 1,
            cell_state=next_cell_state,
            attention=attention,
            attention_state=self._item_or_tuple(after for _, _, after in made),
            alignments=self._item_or_tuple(weights for _, weights, _ in made),
            alignment_history=self._item_or_tuple(kept),
        )
        return (attention if self._output_attention else cell_output), next_state
