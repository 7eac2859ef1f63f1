# SPDX-License-Identifier: Apache-2.0
"""The backend's functions of networks: activations, losses, convolutions, products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....engine.graph.tensor import SparseTensor
from ....engine.types import dtypes
from ....ops.public import tf
from ...variables.variable_kind import is_variable
from .published import nn
from .settings import epsilon, floatx


def relu(x: Any, alpha: float = 0.0, max_value: float | None = None, threshold: float = 0) -> Any:
    """x above a threshold, up to a limit; below it, the distance to it by a slope.

    Args:
        x: a tensor.
        alpha: the slope below the threshold.
        max_value: the limit; none if None.
        threshold: where the upper part begins.
    """
    below = None
    if alpha:
        if max_value is None and threshold == 0:
            return nn.leaky_relu(x, alpha=alpha)
        below = nn.relu(-x + threshold) if threshold else nn.relu(-x)
    clips = max_value is not None
    if threshold:
        x = x * tf.cast(tf.greater(x, threshold), floatx())
    elif max_value == 6:
        x, clips = nn.relu6(x), False
    else:
        x = nn.relu(x)
    if clips:
        dtype = x.dtype.base_dtype
        limit, zero = tf.constant(max_value, dtype=dtype), tf.constant(0.0, dtype=dtype)
        x = tf.clip_by_value(x, zero, limit)
    return x if below is None else x - alpha * below


def elu(x: Any, alpha: float = 1.0) -> Any:
    """x above 0, and below it alpha * (exp(x) - 1)."""
    found = nn.elu(x)
    return found if alpha == 1 else tf.where(x > 0, found, alpha * found)


def hard_sigmoid(x: Any) -> Any:
    """A line between 0 at -2.5 and 1 at 2.5, and these values beyond."""
    dtype = x.dtype.base_dtype
    slope, middle = tf.constant(0.2, dtype=dtype), tf.constant(0.5, dtype=dtype)
    return tf.clip_by_value(tf.add(tf.multiply(x, slope), middle), 0.0, 1.0)


def softmax(x: Any, axis: int = -1) -> Any:
    """exp(x) over its sum along an axis."""
    return nn.softmax(x, axis=axis)


def softplus(x: Any) -> Any:
    """log(exp(x) + 1)."""
    return nn.softplus(x)


def softsign(x: Any) -> Any:
    """x / (|x| + 1)."""
    return nn.softsign(x)


def dropout(x: Any, level: float, noise_shape: Any = None, seed: int | None = None) -> Any:
    """Zeroes elements at random and scales up the others.

    Args:
        x: a tensor.
        level: the share of elements that become zero.
        noise_shape: the shape of the mask.
        seed: of the random numbers; NumPy's generator gives one if None.
    """
    if seed is None:
        seed = np.random.randint(10_000_000)
    return nn.dropout(x, rate=level, noise_shape=noise_shape, seed=seed)


# Losses


def _logits_of(output: Any) -> Any:
    """What a softmax or a sigmoid was applied to, if the output is one's result; else None."""
    if is_variable(output) or output.op.type not in ("Softmax", "Sigmoid"):
        return None
    return output.op.inputs[0]


def _clipped(output: Any) -> Any:
    small = tf.constant(epsilon(), dtype=output.dtype.base_dtype)
    return tf.clip_by_value(output, small, 1.0 - small)


def _is_of(output: Any, op_type: str) -> bool:
    return not is_variable(output) and output.op.type == op_type


def categorical_crossentropy(
    target: Any, output: Any, from_logits: bool = False, axis: int = -1
) -> Any:
    """The cross entropy of probabilities along an axis.

    Args:
        target: probabilities.
        output: probabilities, or logits; what a softmax gave is traced back to its logits.
        from_logits: whether `output` is logits.
        axis: of the classes.
    """
    if not from_logits:
        if not _is_of(output, "Softmax"):
            output = _clipped(output / tf.reduce_sum(output, axis, True))
            return -tf.reduce_sum(target * tf.log(output), axis)
        output = output.op.inputs[0]
    return nn.softmax_cross_entropy_with_logits_v2(labels=target, logits=output, axis=axis)


def sparse_categorical_crossentropy(
    target: Any, output: Any, from_logits: bool = False, axis: int = -1
) -> Any:
    """As `categorical_crossentropy`, for the numbers of classes instead of probabilities."""
    if not from_logits:
        if _is_of(output, "Softmax"):
            output = output.op.inputs[0]
        else:
            output = tf.log(_clipped(output))
    rank = output.shape.ndims
    if rank is not None:
        axis %= rank
        if axis != rank - 1:
            order = [*range(axis), *range(axis + 1, rank), axis]
            output = tf.transpose(output, perm=order)
    target = tf.cast(target, tf.int64)
    sizes = tf.shape(output)
    target_rank = target.shape.ndims
    has_other_rank = None not in (target_rank, rank) and target_rank != rank - 1
    if has_other_rank:
        target = tf.reshape(target, [-1])
        output = tf.reshape(output, [-1, sizes[-1]])
    found = nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=output)
    if has_other_rank and rank >= 3:
        return tf.reshape(found, sizes[:-1])
    return found


def binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Any:
    """The cross entropy of each element.

    Args:
        target: probabilities.
        output: probabilities, or logits; what a sigmoid gave is traced back to its logits.
        from_logits: whether `output` is logits.
    """
    if not from_logits:
        if not _is_of(output, "Sigmoid"):
            output = _clipped(output)
            found = target * tf.log(output + epsilon())
            found += (1 - target) * tf.log(1 - output + epsilon())
            return -found
        output = output.op.inputs[0]
    return nn.sigmoid_cross_entropy_with_logits(labels=target, logits=output)


def in_top_k(predictions: Any, targets: Any, k: int) -> Any:
    """Whether each target is among the k largest predictions of its row."""
    return nn.in_top_k(predictions, targets, k)


# Products


def dot(x: Any, y: Any) -> Any:
    """The product over x's last axis and y's last but one; x may be sparse."""
    if x.shape.ndims is not None and (x.shape.ndims > 2 or y.shape.ndims > 2):
        x_sizes, y_sizes = _sizes(x), _sizes(y)
        order = list(range(y.shape.ndims))
        order = [order.pop(-2), *order]
        rows = tf.reshape(x, [-1, x_sizes[-1]])
        columns = tf.reshape(tf.transpose(y, perm=order), [y_sizes[-2], -1])
        return tf.reshape(tf.matmul(rows, columns), [*x_sizes[:-1], *y_sizes[:-2], *y_sizes[-1:]])
    if isinstance(x, SparseTensor):
        return tf.sparse_tensor_dense_matmul(x, y)
    return tf.matmul(x, y)


def _sizes(x: Any) -> list[Any]:
    """The sizes, numbers where they are known and tensors otherwise."""
    sizes = tf.unstack(tf.shape(x))
    return [made if known is None else known for known, made in zip(x.shape.as_list(), sizes)]


def batch_dot(x: Any, y: Any, axes: Any = None) -> Any:
    """The product of each example's parts.

    Args:
        x, y: tensors with the batch first.
        axes: the axes to sum over, one of each, or one number for both.

    Returns:
        A tensor of two axes or more.
    """
    axes = (axes, axes) if isinstance(axes, int) else axes
    ranks = x.shape.ndims, y.shape.ndims
    axes = [ranks[0] - 1, ranks[1] - 2] if axes is None else axes
    difference = abs(ranks[0] - ranks[1])
    if ranks[0] > ranks[1]:
        y = tf.reshape(y, tf.concat([tf.shape(y), [1] * difference], axis=0))
    elif ranks[1] > ranks[0]:
        x = tf.reshape(x, tf.concat([tf.shape(x), [1] * difference], axis=0))
    if x.shape.ndims == 2 and y.shape.ndims == 2:
        if axes[0] == axes[1]:
            out = tf.reduce_sum(tf.multiply(x, y), axes[0])
        else:
            out = tf.reduce_sum(tf.multiply(tf.transpose(x, [1, 0]), y), axes[1])
    else:
        turned_x = axes[0] != x.shape.ndims - 1
        turned_y = axes[1] == y.shape.ndims - 1
        out = tf.matmul(x, y, adjoint_a=turned_x, adjoint_b=turned_y)
    if difference:
        first = ranks[0] + ranks[1] - 3 if ranks[0] > ranks[1] else ranks[0] - 1
        out = tf.squeeze(out, list(range(first, first + difference)))
    return tf.expand_dims(out, 1) if out.shape.ndims == 1 else out


# Normalization


def normalize_batch_in_training(
    x: Any, gamma: Any, beta: Any, reduction_axes: Sequence[int], epsilon: float = 1e-3
) -> tuple[Any, Any, Any]:
    """The batch less its mean over its deviation; and that mean and variance.

    Args:
        x: a tensor.
        gamma, beta: scale and offset; None for none.
        reduction_axes: the axes that the mean is over.
        epsilon: added to the variance.
    """
    rank, axes = x.shape.ndims, list(reduction_axes)
    if rank == 4 and axes == [0, 1, 2]:
        depth = x.shape[3]
        gamma = tf.constant(1.0, dtype=x.dtype, shape=[depth]) if gamma is None else gamma
        beta = tf.constant(0.0, dtype=x.dtype, shape=[depth]) if beta is None else beta
        return nn.fused_batch_norm(x, gamma, beta, epsilon=epsilon)  # type: ignore[no-any-return]
    mean, variance = nn.moments(x, axes, None, None, False)
    used = [mean, variance, beta, gamma]
    if sorted(axes) != list(range(rank))[:-1]:
        shape = tf.stack([1 if axis in axes else tf.shape(x)[axis] for axis in range(rank)])
        used = [None if part is None else tf.reshape(part, shape) for part in used]
    return nn.batch_normalization(x, *used, epsilon), mean, variance


def batch_normalization(
    x: Any, mean: Any, var: Any, beta: Any, gamma: Any, axis: int = -1, epsilon: float = 1e-3
) -> Any:
    """(x - mean) / sqrt(var + epsilon) * gamma + beta."""
    data_format = {3: "NHWC", -1: "NHWC", 1: "NCHW", -3: "NCHW"}.get(axis)
    if x.shape.ndims == 4 and data_format and x.dtype.base_dtype == dtypes.float32:
        filled = [
            tf.zeros_like(mean) if beta is None else beta,
            tf.ones_like(mean) if gamma is None else gamma,
        ]
        flat = [tf.reshape(part, [-1]) for part in (filled[1], filled[0], mean, var)]
        found, _, _ = nn.fused_batch_norm(
            *(x, flat[0], flat[1]),
            mean=flat[2],
            variance=flat[3],
            epsilon=epsilon,
            data_format=data_format,
            is_training=False,
        )
        return found
    return nn.batch_normalization(x, mean, var, beta, gamma, epsilon)


# Labels of sequences


def ctc_label_dense_to_sparse(labels: Any, label_lengths: Any) -> Any:
    """Rows of labels, of which the first so many count, as a SparseTensor."""
    counts = tf.reshape(tf.cast(label_lengths, tf.int32), [-1])
    used = tf.sequence_mask(counts, tf.shape(labels)[1])
    places = tf.where(used)
    values = tf.gather_nd(labels, places)
    return SparseTensor(places, values, tf.cast(tf.shape(labels), tf.int64))


def ctc_batch_cost(y_true: Any, y_pred: Any, input_length: Any, label_length: Any) -> Any:
    """The CTC loss of each sequence: [batch, 1].

    Args:
        y_true: labels [batch, longest].
        y_pred: probabilities [batch, time, classes], the last class being the blank one.
        input_length, label_length: [batch, 1] each.
    """
    inputs = tf.cast(tf.squeeze(input_length, axis=-1), tf.int32)
    labels = tf.cast(ctc_label_dense_to_sparse(y_true, tf.squeeze(label_length, axis=-1)), tf.int32)
    scores = tf.log(tf.transpose(y_pred, perm=[1, 0, 2]) + epsilon())
    found = nn.ctc_loss(inputs=scores, labels=labels, sequence_length=inputs)
    return tf.expand_dims(found, 1)


def ctc_decode(
    y_pred: Any,
    input_length: Any,
    greedy: bool = True,
    beam_width: int = 100,
    top_paths: int = 1,
) -> tuple[list[Any], Any]:
    """The most probable labels of sequences, missing ones being -1, and their log probabilities.

    Args:
        y_pred: probabilities [batch, time, classes].
        input_length: [batch].
        greedy: whether each step takes its most probable class; otherwise beams are searched.
        beam_width, top_paths: of the search.
    """
    scores = tf.log(tf.transpose(y_pred, perm=[1, 0, 2]) + epsilon())
    lengths = tf.cast(input_length, tf.int32)
    if greedy:
        decoded, probability = nn.ctc_greedy_decoder(inputs=scores, sequence_length=lengths)
    else:
        decoded, probability = nn.ctc_beam_search_decoder(
            inputs=scores, sequence_length=lengths, beam_width=beam_width, top_paths=top_paths
        )
    dense = [
        tf.sparse_to_dense(x.indices, x.dense_shape, x.values, default_value=-1) for x in decoded
    ]
    return dense, probability
