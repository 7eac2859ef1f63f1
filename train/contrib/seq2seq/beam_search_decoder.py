# SPDX-License-Identifier: Apache-2.0
"""`BeamSearchDecoder`: the likeliest sequences, several of each batch at a time."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import export
from ....engine.graph.constants import constant_value
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes, nest
from ....engine.types.shape import TensorShape, as_shape, dimension_value
from ....ops.flow.tensor_array import TensorArray
from ....ops.nn.beam_search import gather_tree
from ....ops.public import tf
from ...rnn.cell import assert_like_rnncell
from .basic_decoder import check_output_layer, size_behind
from .beam_arrays import check_batch_beam, require_rank, sorted_array
from .beam_arrays import gather_tree_from_array as gather_tree_from_array
from .beam_search_step import Search, beam_search_step, get_attention_probs, mask_probs
from .beam_states import BeamSearchDecoderOutput, BeamSearchDecoderState
from .decoder import AnyDecoder, Decoder
from .helper import rows_of, start_tokens_and_end

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike, TensorLike
    from ..structures import Structure

# The names by which programs that look inside know these.
_check_batch_beam = check_batch_beam
_mask_probs = mask_probs


@export("contrib.seq2seq.FinalBeamSearchDecoderOutput")
class FinalBeamSearchDecoderOutput(
    namedtuple("FinalBeamDecoderOutput", ("predicted_ids", "beam_search_decoder_output"))
):
    """The outputs of a beam search (tf.contrib.seq2seq.FinalBeamSearchDecoderOutput).

    Args:
        predicted_ids: [batch, time, beams], the sequences, the likeliest first.
        beam_search_decoder_output: what each step took, a BeamSearchDecoderOutput.
    """

    __slots__ = ()


def _tile_batch(t: TensorLike, multiplier: int) -> Tensor:
    made: Any = convert_to_tensor(t, name="t")
    shape = tf.shape(made)
    if made.shape.ndims is None or made.shape.ndims < 1:
        raise ValueError("t must have statically known rank")
    multiples = [1] * (made.shape.ndims + 1)
    multiples[1] = multiplier
    batch = dimension_value(made.shape[0])
    tiled = tf.tile(tf.expand_dims(made, 1), multiples)
    tiled = tf.reshape(tiled, tf.concat(([shape[0] * multiplier], shape[1:]), 0))
    known = None if batch is None else batch * multiplier
    tiled.set_shape(TensorShape([known]).concatenate(made.shape[1:]))
    return tiled


@export("contrib.seq2seq.tile_batch")
def tile_batch(t: Structure, multiplier: int, name: str | None = None) -> Any:
    """Every row `multiplier` times, one behind the other (tf.contrib.seq2seq.tile_batch).

    Args:
        t: a tensor [batch, ...], or a structure of such.
        multiplier: the width of the beam.
        name: of the operations.

    Raises:
        ValueError: a rank is unknown, or 0.

    Example:
        >>> print(tf.Session().run(tf.contrib.seq2seq.tile_batch(tf.constant([1, 2]), 3)))
        [1 1 1 2 2 2]
    """
    flat = nest.flatten(t)
    with tf.name_scope(name, "tile_batch", [*flat, multiplier]):
        return nest.map_structure(lambda part: _tile_batch(part, multiplier), t)


def _static(shape: object) -> TensorShape:
    """A shape that may be a tensor."""
    return as_shape(constant_value(shape) if isinstance(shape, Tensor) else shape)


class BeamSearchDecoderMixin(AnyDecoder):
    """A beam search, of decoders that are layers of Keras (beam_search_layer.py) or not."""

    _embedding_fn: Any
    _end_token: Any = None
    _batch_size: Any = None

    def _set_options(
        self,
        cell: Any,
        beam_width: int,
        output_layer: Any,
        length_penalty_weight: float,
        coverage_penalty_weight: float,
        reorder_tensor_arrays: bool,
    ) -> None:
        assert_like_rnncell("cell", cell)
        check_output_layer(output_layer)
        self._cell = cell
        self._output_layer = output_layer
        self._reorder_tensor_arrays = reorder_tensor_arrays
        self._beam_width = beam_width
        self._length_penalty_weight = length_penalty_weight
        self._coverage_penalty_weight = coverage_penalty_weight

    def _set_start(
        self, start_tokens: TensorLike, end_token: TensorLike, initial_state: Structure
    ) -> None:
        first, self._end_token = start_tokens_and_end(start_tokens, end_token)
        self._batch_size = tf.size(start_tokens)
        self._initial_cell_state = nest.map_structure(
            self._maybe_split_batch_beams, initial_state, self._cell.state_size
        )
        self._start_tokens = tf.tile(tf.expand_dims(first, 1), [1, self._beam_width])
        self._start_inputs = self._embedding_fn(self._start_tokens)
        # All beams begin alike: one of them is enough.
        self._finished = self._of_first(dtypes.bool, lambda: (False, True))

    def _of_first(self, dtype: DTypeLike, values: Callable[[], tuple[Any, Any]]) -> Tensor:
        """One value for the first beam of each batch, another for the others."""
        zeros = tf.zeros([self._batch_size], dtype=dtypes.int32)
        first, others = values()
        width = self._beam_width
        return tf.one_hot(zeros, depth=width, on_value=first, off_value=others, dtype=dtype)

    @property
    def batch_size(self) -> Any:
        """How many batches of beams there are."""
        return self._batch_size

    def _rnn_output_size(self) -> Any:
        return size_behind(self._cell, self._output_layer)

    @property
    def tracks_own_finished(self) -> bool:
        """True: beams that are finished may give way to others."""
        return True

    @property
    def output_size(self) -> BeamSearchDecoderOutput:
        """The sizes of a step's output: one number for each beam, three times."""
        return BeamSearchDecoderOutput(*(TensorShape([self._beam_width]) for _ in range(3)))

    @property
    def output_dtype(self) -> BeamSearchDecoderOutput:
        """The dtypes of a step's output."""
        dtype = nest.flatten(self._initial_cell_state)[0].dtype
        scores = nest.map_structure(lambda _: dtype, self._rnn_output_size())
        return BeamSearchDecoderOutput(scores, dtypes.int32, dtypes.int32)

    def _first_state(self) -> BeamSearchDecoderState:
        """The state before the first step: the first beam of each batch alone is likely."""
        dtype = nest.flatten(self._initial_cell_state)[0].dtype

        def values() -> tuple[Any, Any]:
            return convert_to_tensor(0.0, dtype=dtype), convert_to_tensor(-np.inf, dtype=dtype)

        log_probs = self._of_first(dtype, values)
        attention = get_attention_probs(self._initial_cell_state, self._coverage_penalty_weight)
        return BeamSearchDecoderState(
            cell_state=self._initial_cell_state,
            log_probs=log_probs,
            finished=self._finished,
            lengths=tf.zeros([self._batch_size, self._beam_width], dtype=dtypes.int64),
            accumulated_attention_probs=() if attention is None else attention,
        )

    def finalize(self, outputs: Structure, final_state: Structure, sequence_lengths: Tensor) -> Any:
        """The sequences, followed back from the last step's beams, and the state."""
        longest = tf.cast(tf.reduce_max(final_state.lengths, axis=1), dtypes.int32)
        ids = gather_tree(
            outputs.predicted_ids,
            outputs.parent_ids,
            max_sequence_lengths=longest,
            end_token=self._end_token,
        )
        if self._reorder_tensor_arrays:
            lengths = final_state.lengths
            ordered = nest.map_structure(
                lambda t: self._maybe_sort_array_beams(t, outputs.parent_ids, lengths),
                final_state.cell_state,
            )
            final_state = final_state._replace(cell_state=ordered)
        return FinalBeamSearchDecoderOutput(ids, outputs), final_state

    def _maybe_sort_array_beams(self, t: Structure, parent_ids: Tensor, lengths: Tensor) -> Any:
        return sorted_array(t, parent_ids, lengths, self._batch_size, self._beam_width)

    def _merge_batch_beams(self, t: Tensor, s: Structure = None) -> Tensor:
        """[batch, beams, ...] as [batch * beams, ...]."""
        shape, static = tf.shape(t), constant_value(self._batch_size)
        rows = self._batch_size * self._beam_width
        merged = tf.reshape(t, tf.concat(([rows], shape[2:]), 0))
        known = None if static is None else static * self._beam_width
        merged.set_shape(TensorShape([known]).concatenate(_static(s)))
        return merged

    def _split_batch_beams(self, t: Tensor, s: Structure = None) -> Tensor:
        """[batch * beams, ...] as [batch, beams, ...]."""
        sizes = [self._batch_size, self._beam_width]
        split = tf.reshape(t, tf.concat((sizes, tf.shape(t)[1:]), 0))
        known = [constant_value(self._batch_size), self._beam_width]
        expected = TensorShape(known).concatenate(_static(s))
        if not split.shape.is_compatible_with(expected):
            raise ValueError(
                "Unexpected behavior when reshaping between beam width and batch size.  The "
                f"reshaped tensor has shape: {split.shape}.  We expected it to have shape "
                f"(batch_size, beam_width, depth) == {expected}.  Perhaps you forgot to create a "
                "zero_state with batch_size=encoder_batch_size * beam_width?"
            )
        split.set_shape(expected)
        return split

    def _maybe_split_batch_beams(self, t: Structure, s: Structure) -> Any:
        """What has a batch, split; arrays and scalars as they are."""
        if isinstance(t, TensorArray):
            return t
        return self._split_batch_beams(t, s) if require_rank(t) >= 1 else t

    def _maybe_merge_batch_beams(self, t: Structure, s: Structure) -> Any:
        """What has beams, merged; arrays and scalars as they are."""
        if isinstance(t, TensorArray):
            return t
        return self._merge_batch_beams(t, s) if require_rank(t) >= 2 else t

    def step(
        self, time: Structure, inputs: Structure, state: Structure, name: str | None = None
    ) -> Any:
        """(outputs, next state, next inputs, finished)."""
        with tf.name_scope(name, "BeamSearchDecoderStep", (time, inputs, state)):
            inputs = nest.map_structure(lambda x: self._merge_batch_beams(x, s=x.shape[2:]), inputs)
            sizes = self._cell.state_size
            merged = nest.map_structure(self._maybe_merge_batch_beams, state.cell_state, sizes)
            outputs, next_state = self._cell(inputs, merged)
            outputs = nest.map_structure(
                lambda out: self._split_batch_beams(out, out.shape[1:]), outputs
            )
            next_state = nest.map_structure(self._maybe_split_batch_beams, next_state, sizes)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            search = Search(
                self._batch_size,
                self._beam_width,
                self._end_token,
                self._length_penalty_weight,
                self._coverage_penalty_weight,
            )
            output, next_beams = beam_search_step(search, time, outputs, next_state, state)
            next_inputs = tf.cond(
                tf.reduce_all(next_beams.finished),
                lambda: self._start_inputs,
                lambda: self._embedding_fn(output.predicted_ids),
            )
        return output, next_beams, next_inputs, next_beams.finished


@export("contrib.seq2seq.BeamSearchDecoder")
class BeamSearchDecoder(BeamSearchDecoderMixin, Decoder):
    """A beam search with a cell (tf.contrib.seq2seq.BeamSearchDecoder).

    Args:
        cell: an RNNCell.
        embedding: a matrix, or a function from ids to vectors.
        start_tokens: int32 [batch], the ids of the first inputs.
        end_token: the id that ends a sequence.
        initial_state: the cell's state for batch times beam_width rows; see tile_batch.
        beam_width: how many sequences are followed.
        output_layer: a tf.layers.Layer for the cell's outputs; None for none.
        length_penalty_weight: how much longer sequences are favoured; 0 for not at all.
        coverage_penalty_weight: how much attention to all of the memory is; 0 for not at all.
        reorder_tensor_arrays: whether arrays in the state follow the sequences in the end.

    Raises:
        TypeError: an argument is of another kind.
        ValueError: the tokens are no vector, or the end no scalar.

    Example:
        >>> cell, embedding = tf.nn.rnn_cell.GRUCell(4), tf.zeros([10, 3])
        >>> decoder = tf.contrib.seq2seq.BeamSearchDecoder(
        ...     cell, embedding, [1, 1], 0, cell.zero_state(2 * 3, tf.float32), 3,
        ...     tf.layers.Dense(10))
        >>> outputs, _, _ = tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=5)
        >>> print(outputs.predicted_ids.shape)
        (2, ?, 3)
    """

    def __init__(
        self,
        cell: Any,
        embedding: Any,
        start_tokens: TensorLike,
        end_token: TensorLike,
        initial_state: Structure,
        beam_width: int,
        output_layer: Any = None,
        length_penalty_weight: float = 0.0,
        coverage_penalty_weight: float = 0.0,
        reorder_tensor_arrays: bool = True,
    ) -> None:
        self._set_options(
            *(cell, beam_width, output_layer, length_penalty_weight, coverage_penalty_weight),
            reorder_tensor_arrays,
        )
        self._embedding_fn = rows_of(embedding)
        self._set_start(start_tokens, end_token, initial_state)

    def initialize(self, name: str | None = None) -> tuple[Any, Any, Any]:
        """(finished, first inputs, first state)."""
        return self._finished, self._start_inputs, self._first_state()


def _beam_search_step(
    time: Structure,
    logits: Structure,
    next_cell_state: Structure,
    beam_state: Structure,
    batch_size: Any,
    beam_width: int,
    end_token: Any,
    length_penalty_weight: float,
    coverage_penalty_weight: float,
) -> Any:
    """One step of a search: what the beams become."""
    weights = length_penalty_weight, coverage_penalty_weight
    search = Search(batch_size, beam_width, end_token, *weights)
    return beam_search_step(search, time, logits, next_cell_state, beam_state)
