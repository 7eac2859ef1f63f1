# SPDX-License-Identifier: Apache-2.0
"""What attention computes: scores, masks, monotonic weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor
from ....engine.types import dtypes, nest
from ....engine.types.shape import dimension_value
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.tensor import Tensor
    from ..structures import Structure


def luong_score(query: Tensor, keys: Tensor, scale: Tensor | None) -> Tensor:
    """Products of the query with the keys, times a scale if there is one."""
    depth, units = query.get_shape()[-1], keys.get_shape()[-1]
    if depth != units:
        raise ValueError(
            "Incompatible or unknown inner dimensions between query and keys.  "
            f"Query ({query}) has units: {depth}.  Keys ({keys}) have units: {units}.  Perhaps you "
            f"need to set num_units to the keys' dimension ({units})?"
        )
    score = tf.matmul(tf.expand_dims(query, 1), keys, transpose_b=True)
    score = tf.squeeze(score, [1])
    return score if scale is None else scale * score


def bahdanau_score(query: Tensor, keys: Tensor, v: Any, g: Any = None, b: Any = None) -> Any:
    """Sums of tanh(keys + query) weighted by v, which g and b normalise."""
    query = tf.expand_dims(query, 1)
    if g is None or b is None:
        return tf.reduce_sum(v * tf.tanh(keys + query), [2])
    normed = g * v * tf.rsqrt(tf.reduce_sum(tf.square(v)))
    return tf.reduce_sum(normed * tf.tanh(keys + query + b), [2])


@export("contrib.seq2seq.safe_cumprod")
def safe_cumprod(x: TensorLike, *args: Any, **kwargs: Any) -> Tensor:
    """Products along an axis by sums of logarithms (tf.contrib.seq2seq.safe_cumprod).

    Args:
        x: numbers from 0 to 1; smaller ones than the smallest normal one count as that.
        *args, **kwargs: as tf.cumsum.

    Example:
        >>> print(tf.Session().run(tf.contrib.seq2seq.safe_cumprod([1.0, 0.5, 0.5])))
        [1.   0.5  0.25]
    """
    with tf.name_scope(None, "SafeCumprod", [x]):
        x = convert_to_tensor(x, name="x")
        tiny = np.finfo(x.dtype.as_numpy_dtype).tiny
        return tf.exp(tf.cumsum(tf.log(tf.clip_by_value(x, tiny, 1)), *args, **kwargs))


def _recursive(p: Structure, previous: Structure) -> Any:
    """Monotonic attention as a loop over the memory: slow, and exact."""
    batch = dimension_value(p.shape[0]) or tf.shape(p)[0]
    shifted = tf.concat([tf.ones((batch, 1)), 1 - p[:, :-1]], 1)
    reached = tf.scan(
        lambda x, yz: tf.reshape(yz[0] * x + yz[1], (batch,)),
        [tf.transpose(shifted), tf.transpose(previous)],
        tf.zeros((batch,)),
    )
    return p * tf.transpose(reached)


def _parallel(p: Structure, previous: Structure) -> Any:
    """Monotonic attention by cumulative sums and products."""
    passed = safe_cumprod(1 - p, axis=1, exclusive=True)
    return p * passed * tf.cumsum(previous / tf.clip_by_value(passed, 1e-10, 1.0), axis=1)


@export("contrib.seq2seq.monotonic_attention")
def monotonic_attention(p_choose_i: TensorLike, previous_attention: TensorLike, mode: str) -> Any:
    """Attention that never goes back (tf.contrib.seq2seq.monotonic_attention), arXiv 1704.00784.

    Args:
        p_choose_i: [batch, memory], how probably each place is chosen once it is reached.
        previous_attention: [batch, memory], the attention of the step before.
        mode: "recursive" (exact), "parallel" (by cumulative sums), or "hard" (p_choose_i is 0 or
            1).

    Raises:
        ValueError: another mode.

    Example:
        >>> before, choose = [[1.0, 0.0, 0.0]], [[0.0, 1.0, 1.0]]
        >>> print(tf.Session().run(
        ...     tf.contrib.seq2seq.monotonic_attention(choose, before, "hard")))
        [[0. 1. 0.]]
    """
    p: Structure = convert_to_tensor(p_choose_i, name="p_choose_i")
    previous = convert_to_tensor(previous_attention, name="previous_attention")
    if mode == "recursive":
        return _recursive(p, previous)
    if mode == "parallel":
        return _parallel(p, previous)
    if mode == "hard":
        p = p * tf.cumsum(previous, axis=1)
        return p * tf.cumprod(1 - p, axis=1, exclusive=True)
    raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")


def monotonic_probabilities(
    score: Structure,
    previous_alignments: Tensor,
    sigmoid_noise: float,
    mode: str,
    seed: int | None = None,
) -> Any:
    """Monotonic attention of scores, with noise that drives them from zero."""
    if sigmoid_noise > 0:
        noise = tf.random_normal(tf.shape(score), dtype=score.dtype, seed=seed)
        score += sigmoid_noise * noise
    p = tf.cast(score > 0, score.dtype) if mode == "hard" else tf.sigmoid(score)
    return monotonic_attention(p, previous_alignments, mode)


@export("contrib.seq2seq.hardmax")
def hardmax(logits: TensorLike, name: str | None = None) -> Tensor:
    """1 where the largest number of a row is, 0 elsewhere (tf.contrib.seq2seq.hardmax).

    Args:
        logits: a tensor.
        name: of the operation.

    Example:
        >>> print(tf.Session().run(tf.contrib.seq2seq.hardmax([[1.0, 3.0, 2.0]])))
        [[0. 1. 0.]]
    """
    with tf.name_scope(name, "Hardmax", [logits]):
        given: Any = convert_to_tensor(logits, name="logits")
        depth = dimension_value(given.get_shape()[-1])
        if depth is None:
            depth = tf.shape(given)[-1]
        return tf.one_hot(tf.argmax(given, -1), depth, dtype=given.dtype)


def _require_inner(m: Tensor) -> None:
    if not m.get_shape()[2:].is_fully_defined():
        raise ValueError(
            f"Expected memory {m.name} to have fully defined inner dims, but saw shape: "
            f"{m.get_shape()}"
        )


def prepare_memory(
    memory: object, lengths: TensorLike | None, check_inner: bool, mask: TensorLike | None = None
) -> Any:
    """The memory as tensors, with zeros behind the end of each sequence or where a mask says."""
    memory = nest.map_structure(lambda m: convert_to_tensor(m, name="memory"), memory)
    if lengths is not None:
        lengths = convert_to_tensor(lengths, name="memory_sequence_length")
    if check_inner:
        for m in nest.flatten(memory):
            _require_inner(m)
    if lengths is None and mask is None:
        return memory
    if lengths is not None:
        first = nest.flatten(memory)[0]
        kept: Any = tf.sequence_mask(lengths, maxlen=tf.shape(first)[1], dtype=first.dtype)
    else:
        kept = mask

    def masked(m: Any) -> Any:
        rank: Any = m.get_shape().ndims
        rank = tf.rank(m) if rank is None else rank
        ones = tf.ones(rank - 2, dtype=dtypes.int32)
        there = tf.cast(kept, m.dtype)
        return m * tf.reshape(there, tf.concat((tf.shape(there), ones), 0))

    return nest.map_structure(masked, memory)


def masked_score(score: Tensor, lengths: TensorLike | None, value: Any) -> Tensor:
    """Scores that have a value behind the end of each sequence."""
    if lengths is None:
        return score
    message = "All values in memory_sequence_length must be greater than zero."
    with tf.control_dependencies([tf.assert_positive(lengths, message=message)]):
        mask = tf.sequence_mask(lengths, maxlen=tf.shape(score)[1])
    return mask_scores(score, mask, value)


def mask_scores(score: Tensor, mask: TensorLike, value: Any) -> Tensor:
    """Scores that have a value where a mask says that there is nothing."""
    return tf.where(mask, score, value * tf.ones_like(score))
