# SPDX-License-Identifier: Apache-2.0
"""Private functions of `tf.contrib.seq2seq` that decoders and attention of programs' own call."""

from __future__ import annotations

from typing import Any

from ...engine.types import nest
from ...ops.flow.tensor_array import TensorArray
from ...train.contrib.seq2seq import attention_maths, beam_arrays, beam_search_step
from ...train.rnn.cell import zero_state_tensors


def _prepare_memory(
    memory: Any,
    memory_sequence_length: Any = None,
    memory_mask: Any = None,
    check_inner_dims_defined: bool = True,
) -> Any:
    """The memory as tensors, with zeros behind the end of each sequence or where a mask says."""
    _require_one(memory_sequence_length, memory_mask)
    return attention_maths.prepare_memory(
        memory, memory_sequence_length, check_inner_dims_defined, memory_mask
    )


def _maybe_mask_score(
    score: Any,
    memory_sequence_length: Any = None,
    memory_mask: Any = None,
    score_mask_value: Any = None,
) -> Any:
    """Scores that have a value behind the end of each sequence, or where a mask says so."""
    _require_one(memory_sequence_length, memory_mask)
    if memory_mask is None:
        return attention_maths.masked_score(score, memory_sequence_length, score_mask_value)
    return attention_maths.mask_scores(score, memory_mask, score_mask_value)


def _require_one(lengths: Any, mask: Any) -> None:
    if lengths is not None and mask is not None:
        raise ValueError("memory_sequence_length and memory_mask can't be provided at same time.")


def _create_zero_outputs(size: Any, dtype: Any, batch_size: Any) -> Any:
    """Zeros of the shapes and types of a decoder's outputs."""
    return nest.map_structure(lambda s, d: zero_state_tensors(s, batch_size, d), size, dtype)


def _tensor_gather_helper(
    gather_indices: Any,
    gather_from: Any,
    batch_size: Any,
    range_size: Any,
    gather_shape: Any,
    name: str | None = None,
) -> Any:
    """What the beams at these indices have, batch by batch."""
    return beam_search_step.gather(
        gather_indices, gather_from, batch_size, range_size, gather_shape, name
    )


def _maybe_tensor_gather_helper(
    gather_indices: Any, gather_from: Any, batch_size: Any, range_size: Any, gather_shape: Any
) -> Any:
    """The same of tensors of enough dimensions; arrays and scalars as they are."""
    if isinstance(gather_from, TensorArray):
        return gather_from
    if beam_arrays.require_rank(gather_from) < len(gather_shape):
        return gather_from
    return _tensor_gather_helper(gather_indices, gather_from, batch_size, range_size, gather_shape)


def _get_scores(
    log_probs: Any,
    sequence_lengths: Any,
    length_penalty_weight: Any,
    coverage_penalty_weight: Any,
    finished: Any,
    accumulated_attention_probs: Any,
) -> Any:
    """Log probabilities, with penalties for length and for what was not attended to."""
    search = beam_search_step.Search(None, 0, None, length_penalty_weight, coverage_penalty_weight)
    return beam_search_step.penalized_scores(
        search, log_probs, sequence_lengths, finished, accumulated_attention_probs
    )
