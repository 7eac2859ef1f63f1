# SPDX-License-Identifier: Apache-2.0
"""One step of a beam search: scores, and which beams go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.graph.constants import constant_value
from ....engine.graph.convert import convert_to_tensor
from ....engine.record_class import record
from ....engine.types import dtypes, nest
from ....engine.types.shape import TensorShape, dimension_value
from ....ops.flow.tensor_array import TensorArray
from ....ops.nn.softmax import log_softmax
from ....ops.nn.top_k import top_k
from ....ops.public import tf
from .attention_wrapper import AttentionWrapperState
from .beam_arrays import require_rank
from .beam_states import BeamSearchDecoderOutput, BeamSearchDecoderState

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.tensor import Tensor
    from ..structures import Structure


@record(frozen=True)
class Search:
    """What all steps of a search have in common."""

    batch_size: Any
    beam_width: int
    end_token: Any
    length_penalty_weight: float
    coverage_penalty_weight: float


def attention_probs_from_attn_state(attention_state: AttentionWrapperState) -> Any:
    """The weights of an AttentionWrapper: the mean of those of several mechanisms."""
    probs = attention_state.alignments
    return _mean(list(probs)) if isinstance(probs, tuple) else probs


def _mean(probs: list[Any]) -> Any:
    return tf.reduce_mean(tf.concat([tf.expand_dims(prob, -1) for prob in probs], -1), -1)


def get_attention_probs(next_cell_state: object, coverage_penalty_weight: float) -> Any:
    """The weights of the state's attention; None if they do not matter.

    Raises:
        ValueError: they matter, and there is no attention.
    """
    if coverage_penalty_weight == 0.0:
        return None
    states: Any = ()
    if isinstance(next_cell_state, AttentionWrapperState):
        states = (next_cell_state,)
    elif isinstance(next_cell_state, tuple):
        states = [state for state in next_cell_state if isinstance(state, AttentionWrapperState)]
    probs = [attention_probs_from_attn_state(state) for state in states]
    if not probs:
        raise ValueError("coverage_penalty_weight must be 0.0 if no cell is attentional.")
    return probs[0] if len(probs) == 1 else _mean(probs)


def length_penalty(sequence_lengths: Any, penalty_factor: TensorLike) -> Any:
    """What scores are divided by: ((5 + length) / 6) ** factor, of arXiv 1609.08144."""
    factor: Any = convert_to_tensor(penalty_factor, name="penalty_factor")
    factor.set_shape(())
    known = constant_value(factor)
    if known is not None and known == 0:
        return 1.0
    lengths = tf.cast(sequence_lengths, dtypes.float32)
    return tf.div((5.0 + lengths) ** factor, (5.0 + 1.0) ** factor)


def penalized_scores(
    search: Search, log_probs: Any, lengths: Tensor, finished: Tensor, attention: Any
) -> Any:
    """Log probabilities, with penalties for length and for what was not attended to."""
    penalty = length_penalty(lengths, search.length_penalty_weight)
    scores = log_probs / tf.cast(penalty, dtype=log_probs.dtype)
    weight: Any = convert_to_tensor(search.coverage_penalty_weight, name="coverage_penalty_weight")
    if weight.shape.ndims != 0:
        raise ValueError(
            f"coverage_penalty_weight should be a scalar, but saw shape: {weight.shape}"
        )
    if constant_value(weight) == 0.0:
        return scores
    if attention is None:
        raise ValueError(
            "accumulated_attention_probs can be None only if coverage penalty is disabled."
        )
    # Memory that nobody attended to at all is padding.
    attended = tf.where(tf.equal(attention, 0.0), tf.ones_like(attention), attention)
    coverage = tf.reduce_sum(tf.log(tf.minimum(attended, 1.0)), 2)
    coverage *= tf.cast(finished, dtypes.float32)
    return scores + tf.expand_dims(coverage * weight, 2)


def mask_probs(probs: Any, eos_token: Any, finished: Tensor) -> Tensor:
    """Log probabilities by which what is finished goes on with its end alone."""
    vocabulary = tf.shape(probs)[2]
    row = tf.one_hot(
        eos_token,
        vocabulary,
        dtype=probs.dtype,
        on_value=convert_to_tensor(0.0, dtype=probs.dtype),
        off_value=probs.dtype.min,
    )
    rows = tf.tile(tf.reshape(row, [1, 1, -1]), tf.concat([tf.shape(finished), [1]], 0))
    mask = tf.tile(tf.expand_dims(finished, 2), [1, 1, vocabulary])
    return tf.where(mask, rows, probs)


def gather(
    indices: Structure,
    source: Structure,
    batch: TensorLike,
    size: TensorLike,
    shape: list[Any],
    name: str | None = None,
) -> Tensor:
    """What the beams at these indices have, batch by batch.

    Args:
        indices: [batch, beams], below `size`.
        source: [batch, size, ...].
        batch, size: those.
        shape: `source` as rows that indices count through all batches.
        name: of the operations.
    """
    with tf.name_scope(name, "tensor_gather_helper"):
        starts = tf.expand_dims(tf.range(batch) * size, 1)
        flat = tf.reshape(indices + starts, [-1])
        output = tf.gather(tf.reshape(source, shape), flat)
        final = tf.shape(source)[: 1 + len(shape)]
        static = TensorShape([constant_value(batch)])
        output = tf.reshape(output, final, name="output")
        output.set_shape(static.concatenate(source.shape[1 : 1 + len(shape)]))
        return output


def _of_state(search: Search, indices: Structure, source: Structure) -> Any:
    """A part of the state for the new beams; arrays and scalars as they are."""
    rows = [search.batch_size * search.beam_width, -1]
    if isinstance(source, TensorArray) or require_rank(source) < len(rows):
        return source
    return gather(indices, source, search.batch_size, search.beam_width, rows)


def _new_lengths(search: Search, lengths: Any, going_on: Any, vocabulary: Any) -> Tensor:
    """The length of each beam with each next id: one more, but for ends."""
    ends = tf.fill([search.batch_size, search.beam_width], search.end_token)
    more = tf.one_hot(
        indices=ends,
        depth=vocabulary,
        on_value=tf.cast(0, dtypes.int64, name="ToInt64"),
        off_value=tf.cast(1, dtypes.int64, name="ToInt64"),
        dtype=dtypes.int64,
    )
    more *= tf.expand_dims(tf.cast(going_on, dtypes.int64), 2)
    return more + tf.expand_dims(lengths, 2)


def beam_search_step(
    search: Search,
    time: Structure,
    logits: Structure,
    next_cell_state: Structure,
    state: BeamSearchDecoderState,
) -> tuple[BeamSearchDecoderOutput, BeamSearchDecoderState]:
    """The likeliest beams after one more id: the output, and the state.

    Args:
        search: what does not change.
        time: the number of the step.
        logits: [batch, beams, ids].
        next_cell_state: the cell's state behind the step.
        state: that of the search before it.
    """
    batch, width = search.batch_size, search.beam_width
    going_on = tf.logical_not(state.finished)
    log_probs = mask_probs(log_softmax(logits), search.end_token, state.finished)
    total = tf.expand_dims(state.log_probs, 2) + log_probs
    vocabulary = dimension_value(logits.shape[-1]) or tf.shape(logits)[-1]
    lengths = _new_lengths(search, state.lengths, going_on, vocabulary)
    attention = get_attention_probs(next_cell_state, search.coverage_penalty_weight)
    if attention is not None:
        attention *= tf.expand_dims(tf.cast(going_on, dtypes.float32), 2)
        attention = state.accumulated_attention_probs + attention
    scores = penalized_scores(search, total, lengths, state.finished, attention)
    convert_to_tensor(time, name="time")
    flat = tf.reshape(scores, [batch, -1])
    beams: Any = convert_to_tensor(width, dtype=dtypes.int32, name="beam_width")
    best, places = top_k(flat, k=beams)
    for made in (best, places):
        made.set_shape([constant_value(batch), width])
    probs = gather(places, total, batch, width * vocabulary, [-1], "next_beam_probs")
    ids = tf.cast(tf.mod(places, vocabulary, name="next_beam_word_ids"), dtypes.int32)
    parents = tf.cast(places / vocabulary, dtypes.int32, name="next_beam_parent_ids")
    was_finished = gather(parents, state.finished, batch, width, [-1])
    ended = tf.equal(ids, search.end_token)
    finished = tf.logical_or(was_finished, ended, name="next_beam_finished")
    more = tf.cast(tf.logical_not(was_finished), dtypes.int64)
    next_lengths = gather(parents, state.lengths, batch, width, [-1]) + more
    next_attention: Any = ()
    if attention is not None:
        rows = [batch * width, -1]
        name = "next_accumulated_attention_probs"
        next_attention = gather(parents, attention, batch, width, rows, name)
    next_state = BeamSearchDecoderState(
        cell_state=nest.map_structure(
            lambda part: _of_state(search, parents, part), next_cell_state
        ),
        log_probs=probs,
        lengths=next_lengths,
        finished=finished,
        accumulated_attention_probs=next_attention,
    )
    return BeamSearchDecoderOutput(best, ids, parents), next_state
