# SPDX-License-Identifier: Apache-2.0
"""Connectionist temporal classification of padded labels, of nodes alone: `ctc_loss_dense`.

The states of a row are the start and its labels, then a blank behind each of those.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.types import nest
from ..public import raw, tf
from .ctc_labels import size_of

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor

_LOG_0 = float(np.float32(np.log(1e-307)))
_NEVER = float("-inf")


def _ctc_state_trans(labels: TensorLike) -> Tensor:
    """Which states follow on which: [batch, states, states], 1 at [row, next, before]."""
    with name_scope("ctc_state_trans"):
        labels = convert_to_tensor(labels, name="label_seq")
        batch, count = size_of(labels, 0), size_of(labels, 1)
        states = 2 * (count + 1)
        label = tf.range(count + 1)
        blank = label + (count + 1)
        pairs = [
            [[1, 0]],
            tf.stack([label[1:], blank[:-1]], 1),
            tf.stack([blank, label], 1),
        ]
        places = tf.concat(pairs, 0)
        steps = tf.scatter_nd(places, tf.ones([size_of(places, 0)]), [states, states])
        steps += tf.eye(states)
        # From a label to another one at once, which the same one may not.
        rows = tf.range(batch)[:, tf.newaxis] + tf.zeros_like(label[2:])
        ends = tf.zeros_like(rows) + label[2:]
        may = 1.0 - tf.cast(tf.equal(labels[:, :-1], labels[:, 1:]), tf.float32)
        direct = tf.scatter_nd(tf.stack([rows, ends, ends - 1], 2), may, [batch, states, states])
        return steps[tf.newaxis] + direct


def _scan(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initial: Any,
    reverse: bool = False,
    inclusive: bool = False,
    final_only: bool = False,
) -> Any:
    """What a function makes of an accumulator and each element; with the first one, if wanted."""
    if final_only:
        return (tf.foldr if reverse else tf.foldl)(fn, elems, initial)
    found = tf.scan(fn, elems, initial, reverse=reverse)
    if not inclusive:
        return found

    def with_first(rest: Tensor, first: TensorLike) -> Tensor:
        first = convert_to_tensor(first, rest.dtype)[tf.newaxis]
        return tf.concat([rest, first] if reverse else [first, rest], 0)

    return nest.map_structure(with_first, found, initial)


def ctc_state_log_probs(seq_lengths: TensorLike, max_seq_length: Any) -> tuple[Any, Any]:
    """Logarithms of the probabilities to begin and to end in each state, [batch, states]."""
    lengths = convert_to_tensor(seq_lengths)
    batch, labels = size_of(lengths, 0), max_seq_length + 1
    begin = tf.one_hot(tf.zeros([batch], tf.int32), 2 * labels, 0.0, _LOG_0, axis=1)
    end = tf.one_hot(lengths, labels, 0.0, _LOG_0, axis=1)
    return begin, tf.concat([end, end], 1)


def _ilabel_to_state(labels: Tensor, num_labels: Any, logs: Tensor) -> Tensor:
    """The logarithms of states' probabilities by those of classes, [frames, batch, states]."""
    count = size_of(labels, 1)
    blank = tf.tile(logs[:, :, :1], [1, 1, count + 1])
    chosen = tf.one_hot(labels, num_labels)[tf.newaxis]
    states = tf.reduce_sum(logs[:, :, tf.newaxis] * chosen, axis=3)
    states = tf.concat([states, blank], axis=2)
    return tf.pad(states, [[0, 0], [0, 0], [1, 0]], constant_values=_NEVER)


def _state_to_olabel(labels: Tensor, num_labels: Any, states: Tensor) -> Tensor:
    """Logarithms of the sums of states' probabilities by class, [frames, batch, classes]."""
    count = size_of(labels, 1) + 1
    chosen = tf.one_hot(labels - 1, num_labels - 1, 0.0, _NEVER)[tf.newaxis]
    found = tf.reduce_logsumexp(states[:, :, 1:count, tf.newaxis] + chosen, axis=2)
    return tf.concat([_blank(states, count), found], axis=-1)


def _blank(states: Tensor, count: Any) -> Any:
    return tf.reduce_logsumexp(states[:, :, count:], axis=2, keepdims=True)


def _sum_states(idx: TensorLike, states: Tensor) -> Any:
    """Logarithms of the sums of states' probabilities by the number of their label."""
    with name_scope("sum_states"):
        chosen = tf.one_hot(
            convert_to_tensor(idx, name="idx"), size_of(states, 2), 0.0, _NEVER, axis=1
        )
        return tf.reduce_logsumexp(states[:, :, tf.newaxis] + chosen, axis=-1)


def _state_to_olabel_unique(
    labels: Tensor, num_labels: Any, states: Tensor, unique: tuple[TensorLike, TensorLike]
) -> Tensor:
    """As `_state_to_olabel`, with what `ctc_unique_labels` gives: without a product by classes."""
    classes, places = unique
    classes = convert_to_tensor(classes)
    count = size_of(labels, 1) + 1
    summed = _sum_states(places, states[:, :, 1:count])
    frames, batch = size_of(states, 0), size_of(states, 1)
    rows = tf.reshape(tf.transpose(summed, [1, 2, 0]), [batch * (count - 1), frames])
    offsets = tf.range(tf.cast(batch, classes.dtype)) * tf.cast(num_labels, classes.dtype)
    indices = tf.reshape(classes + offsets[:, tf.newaxis], [-1, 1])
    found = tf.scatter_nd(
        indices, rows, tf.cast(tf.stack([batch * num_labels, frames]), classes.dtype)
    )
    found = tf.reshape(found, [batch, num_labels, frames])
    found = tf.where(tf.equal(found, 0.0), tf.fill(tf.shape(found), _NEVER), found)
    return tf.concat([_blank(states, count), tf.transpose(found, [2, 0, 1])[:, :, 1:]], axis=-1)


def _forward_backward_log(
    state_trans_log_probs: Tensor,
    initial_state_log_probs: Tensor,
    final_state_log_probs: Tensor,
    observed_log_probs: Tensor,
    sequence_length: TensorLike,
) -> tuple[Any, Any]:
    """Logarithms of the states' shares of each frame, and of the likelihood of each row.

    Raises:
        ValueError: the transitions, [states, states] or one such for each row, have another rank.
    """
    moves = state_trans_log_probs
    if moves.shape.ndims not in (2, 3):
        raise ValueError(
            f"state_trans_log_probs rank must be known and == 2 or 3, is: {moves.shape.ndims}"
        )
    back = tf.transpose(moves, [1, 0] if moves.shape.ndims == 2 else [0, 2, 1])

    def forward(before: Tensor, observed: Tensor) -> Any:
        x = tf.reduce_logsumexp(before[:, tf.newaxis] + moves, axis=-1) + observed
        return x - tf.reduce_logsumexp(x, axis=-1, keepdims=True)

    def backward(behind: tuple[Tensor, Tensor], step: tuple[Tensor, Tensor]) -> tuple[Any, Any]:
        (x, total), (observed, mask) = behind, step
        x = tf.reduce_logsumexp((x + observed)[:, tf.newaxis] + back, axis=-1)
        share = tf.reduce_logsumexp(x, axis=-1, keepdims=True)
        counts = mask[:, tf.newaxis]
        x = (x - share) * counts + final_state_log_probs * (1.0 - counts)
        return x, total + share[:, 0] * mask

    ahead = _scan(forward, observed_log_probs, initial_state_log_probs)
    frames, batch = size_of(observed_log_probs, 0), size_of(observed_log_probs, 1)
    mask = tf.transpose(tf.sequence_mask(sequence_length, frames, tf.float32))
    behind, totals = _scan(
        backward,
        (observed_log_probs, mask),
        (final_state_log_probs, tf.zeros([batch])),
        reverse=True,
        inclusive=True,
    )
    shares = ahead + behind[1:]
    shares -= tf.reduce_logsumexp(shares, axis=2, keepdims=True)
    return shares + tf.log(mask[:, :, tf.newaxis]), behind[0, :, 0] + totals[0]


def ctc_loss_and_grad(
    logits: Tensor,
    labels: Tensor,
    label_length: Tensor,
    logit_length: Tensor,
    unique: tuple[TensorLike, TensorLike] | None = None,
) -> tuple[Any, Any]:
    """The losses of rows, and their gradients by the scores, whose blank is class 0.

    Args:
        logits: float32, [frames, batch, classes].
        labels: [batch, most labels], padded with zeros.
        label_length: a vector, the number of labels of each row.
        logit_length: a vector, the number of frames of each row.
        unique: what `ctc_unique_labels` gives for the labels.
    """
    classes = size_of(logits, 2)
    logs = raw.LogSoftmax(logits)
    begin, end = ctc_state_log_probs(label_length, size_of(labels, 1))
    shares, likelihood = _forward_backward_log(
        tf.log(_ctc_state_trans(labels)),
        begin,
        end,
        _ilabel_to_state(labels, classes, logs),
        logit_length,
    )
    if unique:
        found = _state_to_olabel_unique(labels, classes, shares, unique)
    else:
        found = _state_to_olabel(labels, classes, shares)
    return -likelihood, tf.exp(logs) - tf.exp(found)


def ctc_loss_dense(
    labels: TensorLike,
    logits: TensorLike,
    label_length: TensorLike | None,
    logit_length: TensorLike,
    logits_time_major: bool = True,
    unique: tuple[TensorLike, TensorLike] | None = None,
    blank_index: Any = 0,
    name: str | None = None,
) -> Any:
    """As `tf.nn.ctc_loss_v2` of labels that are padded with zeros."""
    with name_scope(name, "ctc_loss_dense"):
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        label_length = convert_to_tensor(label_length, name="label_length")
        logit_length = convert_to_tensor(logit_length, name="logit_length")
        if not logits_time_major:
            logits = tf.transpose(logits, perm=[1, 0, 2])
        if blank_index != 0:
            if blank_index < 0:
                blank_index += size_of(logits, 2)
            blank = logits[:, :, blank_index : blank_index + 1]
            others = logits[:, :, :blank_index], logits[:, :, blank_index + 1 :]
            logits = tf.concat([blank, *others], axis=2)
            labels = tf.where(labels < blank_index, labels + 1, labels)
        given = [logits, labels, label_length, logit_length, *(unique or ())]

        def of_tensors(*tensors: Tensor) -> Any:
            scores, padded, counts, lengths, *pair = tensors
            numbers = (pair[0], pair[1]) if pair else None
            loss, slopes = ctc_loss_and_grad(scores, padded, counts, lengths, numbers)

            def gradient(grad: Tensor) -> list[Any]:
                rest = [None] * (len(tensors) - 1)
                return [tf.reshape(grad, [1, -1, 1]) * slopes, *rest]

            return loss, gradient

        return tf.custom_gradient(of_tensors)(*given)
