# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.crf`: conditional random fields along sequences, and their best sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.types import dtypes
from ...engine.types.shape import dimension_value
from ...ops.flow.cond import smart_cond
from ...ops.public import tf
from ..rnn.cell import RNNCell
from ..rnn.dynamic import dynamic_rnn

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor
    from ...ops.state.scope_defaults import VariableScope
    from .structures import Structure


def _one_step_or_more(inputs: Tensor, single: Callable[[], Any], several: Callable[[], Any]) -> Any:
    """What one function gives for sequences of one step, and another for longer ones."""
    time = dimension_value(inputs.shape[1]) or tf.shape(inputs)[1]
    return smart_cond(pred=tf.equal(time, 1), true_fn=single, false_fn=several)


def _zero_where_empty(values: Tensor, lengths: Tensor) -> Tensor:
    return tf.where(tf.less_equal(lengths, 0), tf.zeros_like(values), values)


def _less_one(lengths: Tensor) -> Tensor:
    return tf.maximum(tf.constant(0, dtype=lengths.dtype), lengths - 1)


@export("contrib.crf.crf_sequence_score")
def crf_sequence_score(
    inputs: Tensor, tag_indices: Structure, sequence_lengths: Tensor, transition_params: Tensor
) -> Any:
    """The score of a sequence of tags (tf.contrib.crf.crf_sequence_score).

    Args:
        inputs: [batch, time, tags], the scores of tags by themselves.
        tag_indices: int [batch, time].
        sequence_lengths: int [batch].
        transition_params: [tags, tags], the scores of a tag behind another.

    Returns:
        Scores [batch], not normalised.
    """

    def single() -> Tensor:
        kind = tag_indices.dtype
        batch = tf.shape(inputs, out_type=kind)[0]
        rows = tf.reshape(tf.range(batch, dtype=kind), [-1, 1])
        scores = tf.squeeze(inputs, [1])
        at = tf.concat([rows, tag_indices], axis=1)
        return _zero_where_empty(tf.gather_nd(scores, at), sequence_lengths)

    def several() -> Any:
        unary = crf_unary_score(tag_indices, sequence_lengths, inputs)
        return unary + crf_binary_score(tag_indices, sequence_lengths, transition_params)

    return _one_step_or_more(inputs, single, several)


@export("contrib.crf.crf_multitag_sequence_score")
def crf_multitag_sequence_score(
    inputs: Tensor, tag_bitmap: Tensor, sequence_lengths: Tensor, transition_params: Tensor
) -> Any:
    """The score of all sequences of allowed tags (tf.contrib.crf.crf_multitag_sequence_score).

    Args:
        inputs: [batch, time, tags].
        tag_bitmap: bool [batch, time, tags], which tags each step may have.
        sequence_lengths: int [batch].
        transition_params: [tags, tags].
    """

    def allowed() -> Tensor:
        return tf.where(tag_bitmap, inputs, tf.fill(tf.shape(inputs), float("-inf")))

    def single() -> Any:
        return tf.reduce_logsumexp(allowed(), axis=[1, 2], keepdims=False)

    def several() -> Any:
        return crf_log_norm(allowed(), sequence_lengths, transition_params)

    return _one_step_or_more(inputs, single, several)


@export("contrib.crf.crf_log_norm")
def crf_log_norm(inputs: Tensor, sequence_lengths: Tensor, transition_params: Tensor) -> Any:
    """The logarithm of what scores are normalised by (tf.contrib.crf.crf_log_norm).

    Args:
        inputs: [batch, time, tags].
        sequence_lengths: int [batch].
        transition_params: [tags, tags].
    """
    first = tf.squeeze(tf.slice(inputs, [0, 0, 0], [-1, 1, -1]), [1])

    def single() -> Tensor:
        return _zero_where_empty(tf.reduce_logsumexp(first, [1]), sequence_lengths)

    def several() -> Tensor:
        rest = tf.slice(inputs, [0, 1, 0], [-1, -1, -1])
        _, alphas = dynamic_rnn(
            cell=CrfForwardRnnCell(transition_params),
            inputs=rest,
            sequence_length=_less_one(sequence_lengths),
            initial_state=first,
            dtype=dtypes.float32,
        )
        return _zero_where_empty(tf.reduce_logsumexp(alphas, [1]), sequence_lengths)

    return _one_step_or_more(inputs, single, several)


@export("contrib.crf.crf_log_likelihood")
def crf_log_likelihood(
    inputs: Tensor,
    tag_indices: Tensor,
    sequence_lengths: Tensor,
    transition_params: Any = None,
) -> tuple[Any, Any]:
    """The log likelihood of tags (tf.contrib.crf.crf_log_likelihood).

    Args:
        inputs: [batch, time, tags], the scores of tags by themselves.
        tag_indices: int [batch, time].
        sequence_lengths: int [batch].
        transition_params: [tags, tags]; a variable "transitions" if None.

    Returns:
        Log likelihoods [batch], and the transitions.

    Example:
        >>> tags, lengths = tf.zeros([2, 3], tf.int32), tf.constant([3, 2])
        >>> likelihood, transitions = tf.contrib.crf.crf_log_likelihood(
        ...     tf.zeros([2, 3, 4]), tags, lengths, tf.zeros([4, 4]))
        >>> print(tf.Session().run(likelihood))
        [-4.158883  -2.7725887]
    """
    tags = dimension_value(inputs.shape[2])
    if transition_params is None:
        transition_params = tf.get_variable("transitions", [tags, tags])
    scores = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    norm = crf_log_norm(inputs, sequence_lengths, transition_params)
    return scores - norm, transition_params


@export("contrib.crf.crf_unary_score")
def crf_unary_score(tag_indices: Structure, sequence_lengths: Tensor, inputs: Tensor) -> Any:
    """The sums of the scores of tags by themselves (tf.contrib.crf.crf_unary_score).

    Args:
        tag_indices: int [batch, time].
        sequence_lengths: int [batch].
        inputs: [batch, time, tags].
    """
    batch, time, tags = (tf.shape(inputs)[axis] for axis in range(3))
    flat = tf.reshape(inputs, [-1])
    offsets: Any = tf.expand_dims(tf.range(batch) * time * tags, 1)
    offsets += tf.expand_dims(tf.range(time) * tags, 0)
    if tag_indices.dtype == dtypes.int64:
        offsets = tf.cast(offsets, dtypes.int64)
    at = tf.reshape(offsets + tag_indices, [-1])
    scores = tf.reshape(tf.gather(flat, at), [batch, time])
    return tf.reduce_sum(scores * _mask(tag_indices, sequence_lengths), 1)


def _mask(tag_indices: Tensor, lengths: Tensor) -> Tensor:
    """1 for each step of a sequence, 0 behind its end."""
    return tf.sequence_mask(lengths, maxlen=tf.shape(tag_indices)[1], dtype=dtypes.float32)


@export("contrib.crf.crf_binary_score")
def crf_binary_score(
    tag_indices: Structure, sequence_lengths: Tensor, transition_params: Tensor
) -> Any:
    """The sums of the scores of tags behind others (tf.contrib.crf.crf_binary_score).

    Args:
        tag_indices: int [batch, time].
        sequence_lengths: int [batch].
        transition_params: [tags, tags].
    """
    tags: Any = transition_params.get_shape()[0]
    number = tf.shape(tag_indices)[1] - 1
    starts = tf.slice(tag_indices, [0, 0], [-1, number])
    ends = tf.slice(tag_indices, [0, 1], [-1, number])
    at = starts * tags + ends
    scores = tf.gather(tf.reshape(transition_params, [-1]), at)
    mask = tf.slice(_mask(tag_indices, sequence_lengths), [0, 1], [-1, -1])
    return tf.reduce_sum(scores * mask, 1)


class _OverTags(RNNCell):
    """What the cells along a sequence have in common whose state is a number for each tag."""

    def __init__(self, transition_params: Tensor) -> None:
        self._transition_params: Any = tf.expand_dims(transition_params, 0)
        self._num_tags = dimension_value(transition_params.shape[0])

    @property
    def state_size(self) -> Any:
        """The number of tags."""
        return self._num_tags

    @property
    def output_size(self) -> Any:
        """The number of tags."""
        return self._num_tags


@export("contrib.crf.CrfForwardRnnCell")
class CrfForwardRnnCell(_OverTags):
    """A step of the forward algorithm (tf.contrib.crf.CrfForwardRnnCell).

    Args:
        transition_params: [tags, tags].
    """

    def __call__(  # type: ignore[override]
        self, inputs: Structure, state: Tensor, scope: VariableScope | str | None = None
    ) -> tuple[Any, Any]:
        """The new sums, twice."""
        scores = tf.expand_dims(state, 2) + self._transition_params
        new = inputs + tf.reduce_logsumexp(scores, [1])
        return new, new


@export("contrib.crf.viterbi_decode")
def viterbi_decode(score: np.ndarray, transition_params: np.ndarray) -> tuple[list[Any], Any]:
    """The best sequence of tags, outside of a graph (tf.contrib.crf.viterbi_decode).

    Args:
        score: an array [time, tags].
        transition_params: an array [tags, tags].

    Returns:
        The tags, a list, and their score.

    Example:
        >>> import numpy as np
        >>> tags, best = tf.contrib.crf.viterbi_decode(np.eye(3), np.zeros([3, 3]))
        >>> print([int(tag) for tag in tags], best)
        [0, 1, 2] 3.0
    """
    best, pointers = np.zeros_like(score), np.zeros_like(score, dtype=np.int32)
    best[0] = score[0]
    for t in range(1, score.shape[0]):
        paths = np.expand_dims(best[t - 1], 1) + transition_params
        best[t] = score[t] + np.max(paths, 0)
        pointers[t] = np.argmax(paths, 0)
    tags: list[Any] = [np.argmax(best[-1])]
    for pointer in reversed(pointers[1:]):
        tags.append(pointer[tags[-1]])
    return tags[::-1], np.max(best[-1])


@export("contrib.crf.CrfDecodeForwardRnnCell")
class CrfDecodeForwardRnnCell(_OverTags):
    """A step of the Viterbi algorithm (tf.contrib.crf.CrfDecodeForwardRnnCell).

    Args:
        transition_params: [tags, tags].
    """

    def __call__(  # type: ignore[override]
        self, inputs: Structure, state: Tensor, scope: VariableScope | str | None = None
    ) -> tuple[Any, Any]:
        """Which tag each came from, and the new best scores."""
        scores = tf.expand_dims(state, 2) + self._transition_params
        best = inputs + tf.reduce_max(scores, [1])
        return tf.cast(tf.argmax(scores, 1), dtype=dtypes.int32), best


@export("contrib.crf.CrfDecodeBackwardRnnCell")
class CrfDecodeBackwardRnnCell(RNNCell):
    """A step back along the best sequence (tf.contrib.crf.CrfDecodeBackwardRnnCell).

    Args:
        num_tags: the number of tags.
    """

    def __init__(self, num_tags: int) -> None:
        self._num_tags = num_tags

    @property
    def state_size(self) -> int:
        """One tag."""
        return 1

    @property
    def output_size(self) -> int:
        """One tag."""
        return 1

    def __call__(  # type: ignore[override]
        self, inputs: Tensor, state: Structure, scope: VariableScope | str | None = None
    ) -> tuple[Tensor, Tensor]:
        """The tag that the present one came from, twice."""
        present = tf.squeeze(state, axis=[1])
        rows = tf.range(tf.shape(inputs)[0])
        tags = tf.expand_dims(tf.gather_nd(inputs, tf.stack([rows, present], axis=1)), axis=-1)
        return tags, tags


@export("contrib.crf.crf_decode")
def crf_decode(potentials: Structure, transition_params: Tensor, sequence_length: Tensor) -> Any:
    """The best sequences of tags (tf.contrib.crf.crf_decode).

    Args:
        potentials: [batch, time, tags], the scores of tags by themselves.
        transition_params: [tags, tags], the scores of a tag behind another.
        sequence_length: int [batch].

    Returns:
        Tags, int32 [batch, time], and their scores [batch].

    Example:
        >>> tags, score = tf.contrib.crf.crf_decode(
        ...     tf.constant([[[1.0, 0.0], [0.0, 1.0]]]), tf.zeros([2, 2]), tf.constant([2]))
        >>> print(tf.Session().run(tags), tf.Session().run(score))
        [[0 1]] [2.]
    """

    def single() -> tuple[Any, Any]:
        scores = tf.squeeze(potentials, [1])
        tags = tf.expand_dims(tf.argmax(scores, axis=1), 1)
        best = tf.reduce_max(scores, axis=1)
        return tf.cast(tags, dtype=dtypes.int32), best

    def several() -> tuple[Tensor, Any]:
        forward = CrfDecodeForwardRnnCell(transition_params)
        first = tf.squeeze(tf.slice(potentials, [0, 0, 0], [-1, 1, -1]), axis=[1])
        rest = tf.slice(potentials, [0, 1, 0], [-1, -1, -1])
        lengths = _less_one(sequence_length)
        given: dict[str, Any] = {"sequence_length": lengths, "dtype": dtypes.int32}
        pointers, last = dynamic_rnn(forward, inputs=rest, initial_state=first, **given)
        pointers = tf.reverse_sequence(pointers, lengths, seq_dim=1)
        backward = CrfDecodeBackwardRnnCell(dimension_value(potentials.shape[2]))
        end = tf.expand_dims(tf.cast(tf.argmax(last, axis=1), dtype=dtypes.int32), axis=-1)
        tags, _ = dynamic_rnn(backward, inputs=pointers, initial_state=end, **given)
        tags = tf.concat([end, tf.squeeze(tags, axis=[2])], axis=1)
        tags = tf.reverse_sequence(tags, sequence_length, seq_dim=1)
        return tags, tf.reduce_max(last, axis=1)

    return _one_step_or_more(potentials, single, several)
