# SPDX-License-Identifier: Apache-2.0
"""The backend's functions of networks: activations, losses, convolutions, normalization, products."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....engine.graph.tensor import SparseTensor
from ....engine.types import dtypes
from ....ops.public import tf
from ...layers.utils import convert_data_format
from ...variables.variable_kind import is_variable
from .elements import temporal_padding
from .published import nn
from .settings import epsilon, floatx, image_data_format


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
        return tf.reshape(
            tf.matmul(rows, columns), [*x_sizes[:-1], *y_sizes[:-2], *y_sizes[-1:]]
        )
    if isinstance(x, SparseTensor):
        return tf.sparse_tensor_dense_matmul(x, y)
    return tf.matmul(x, y)


def _sizes(x: Any) -> list[Any]:
    """The sizes, numbers where they are known and tensors otherwise."""
    sizes = tf.unstack(tf.shape(x))
    return [
        made if known is None else known for known, made in zip(x.shape.as_list(), sizes)
    ]


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


# Convolutions: channels are put last where they are first, as TensorFlow does on a processor.


def _last(x: Any, data_format: str | None) -> tuple[Any, bool]:
    """The tensor with channels last, and whether they were first."""
    data_format = data_format or image_data_format()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Unknown data_format: {data_format}")
    if data_format == "channels_last":
        return x, False
    rank = x.shape.ndims
    return tf.transpose(x, (0, *range(2, rank), 1)), True


def _first_again(x: Any, was_first: bool) -> Any:
    rank = x.shape.ndims
    return tf.transpose(x, (0, rank - 1, *range(1, rank - 1))) if was_first else x


def _padding(padding: str) -> str:
    if padding not in ("same", "valid"):
        raise ValueError(f"Invalid padding: {padding}")
    return padding.upper()


def _convolution(
    x: Any, kernel: Any, strides: Any, padding: str, data_format: str | None, dilation_rate: Any
) -> Any:
    x, was_first = _last(x, data_format)
    made = nn.convolution(
        input=x,
        filter=kernel,
        dilation_rate=dilation_rate,
        strides=strides,
        padding=_padding(padding),
        data_format=convert_data_format("channels_last", x.shape.ndims),
    )
    return _first_again(made, was_first)


def conv1d(
    x: Any,
    kernel: Any,
    strides: int = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: int = 1,
) -> Any:
    """The convolution of sequences; `padding` may be "causal", too."""
    if padding == "causal":
        x = temporal_padding(x, (dilation_rate * (kernel.shape.as_list()[0] - 1), 0))
        padding = "valid"
    return _convolution(x, kernel, (strides,), padding, data_format, (dilation_rate,))


def conv2d(
    x: Any,
    kernel: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Any:
    """The convolution of pictures; ValueError for an unknown format or padding."""
    return _convolution(x, kernel, strides, padding, data_format, dilation_rate)


def conv3d(
    x: Any,
    kernel: Any,
    strides: Any = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1, 1),
) -> Any:
    """The convolution of volumes; ValueError for an unknown format or padding."""
    return _convolution(x, kernel, strides, padding, data_format, dilation_rate)


def _transposed(
    op: str, x: Any, kernel: Any, output_shape: Any, strides: Any, padding: str, data_format: Any
) -> Any:
    x, was_first = _last(x, data_format)
    if was_first:
        output_shape = (output_shape[0], *output_shape[2:], output_shape[1])
    if output_shape[0] is None:
        output_shape = (tf.shape(x)[0], *output_shape[1:])
    if isinstance(output_shape, (tuple, list)):
        output_shape = tf.stack(list(output_shape))
    made = getattr(nn, op)(
        x, kernel, output_shape, (1, *strides, 1), padding=_padding(padding)
    )
    return _first_again(made, was_first)


def conv2d_transpose(
    x: Any,
    kernel: Any,
    output_shape: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Any:
    """The transposed convolution of pictures, to a shape; ValueError for an unknown format."""
    if tuple(dilation_rate) == (1, 1):
        return _transposed(
            "conv2d_transpose", x, kernel, output_shape, strides, padding, data_format
        )
    x, was_first = _last(x, data_format)
    if was_first:
        output_shape = (output_shape[0], *output_shape[2:], output_shape[1])
    if output_shape[0] is None:
        output_shape = (tf.shape(x)[0], *output_shape[1:])
    made = nn.atrous_conv2d_transpose(
        x, kernel, tf.stack(list(output_shape)), rate=dilation_rate[0], padding=_padding(padding)
    )
    return _first_again(made, was_first)


def conv3d_transpose(
    x: Any,
    kernel: Any,
    output_shape: Any,
    strides: Any = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
) -> Any:
    """The transposed convolution of volumes, to a shape; ValueError for an unknown format."""
    return _transposed("conv3d_transpose", x, kernel, output_shape, strides, padding, data_format)


def separable_conv2d(
    x: Any,
    depthwise_kernel: Any,
    pointwise_kernel: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Any:
    """A convolution of each channel and a product of the channels behind it."""
    x, was_first = _last(x, data_format)
    made = nn.separable_conv2d(
        x,
        depthwise_kernel,
        pointwise_kernel,
        strides=(1, *strides, 1),
        padding=_padding(padding),
        rate=dilation_rate,
    )
    return _first_again(made, was_first)


def depthwise_conv2d(
    x: Any,
    depthwise_kernel: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Any:
    """A convolution of each channel by itself."""
    x, was_first = _last(x, data_format)
    made = nn.depthwise_conv2d(
        x,
        depthwise_kernel,
        strides=(1, *strides, 1),
        padding=_padding(padding),
        rate=dilation_rate,
    )
    return _first_again(made, was_first)


def _pooled(
    x: Any, rank: int, size: Any, strides: Any, padding: str, data_format: Any, pool_mode: str
) -> Any:
    if pool_mode not in ("max", "avg"):
        raise ValueError(f"Invalid pooling mode: {pool_mode}")
    x, was_first = _last(x, data_format)
    name = {"max": "max_pool", "avg": "avg_pool"}[pool_mode] + ("3d" if rank == 3 else "")
    made = getattr(nn, name)(x, (1, *size, 1), (1, *strides, 1), padding=_padding(padding))
    return _first_again(made, was_first)


def pool2d(
    x: Any,
    pool_size: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    pool_mode: str = "max",
) -> Any:
    """The maximum or the mean ("avg") of windows of pictures."""
    return _pooled(x, 2, pool_size, strides, padding, data_format, pool_mode)


def pool3d(
    x: Any,
    pool_size: Any,
    strides: Any = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    pool_mode: str = "max",
) -> Any:
    """The maximum or the mean ("avg") of windows of volumes."""
    return _pooled(x, 3, pool_size, strides, padding, data_format, pool_mode)


def local_conv(
    inputs: Any,
    kernel: Any,
    kernel_size: Sequence[int],
    strides: Sequence[int],
    output_shape: Sequence[int],
    data_format: str | None = None,
) -> Any:
    """A convolution whose weights are others at each place.

    Args:
        inputs: with any number of axes of space.
        kernel: [places, size of a window, channels].
        kernel_size, strides, output_shape: of the axes of space.
    """
    data_format = data_format or image_data_format()
    first = data_format == "channels_first"
    depth, channels = kernel.shape.as_list()[1:]
    windows = []
    for place in itertools.product(*map(range, output_shape)):
        cut = [
            slice(at * step, at * step + size)
            for at, step, size in zip(place, strides, kernel_size)
        ]
        whole = slice(None)
        index = (whole, whole, *cut) if first else (whole, *cut, whole)
        windows.append(tf.reshape(inputs[index], (1, -1, depth)))
    found = batch_dot(tf.concat(windows, axis=0), kernel)
    found = tf.reshape(found, (*output_shape, -1, channels))
    axes = list(range(len(output_shape)))
    batch = len(axes)
    order = [batch, batch + 1, *axes] if first else [batch, *axes, batch + 1]
    return tf.transpose(found, order)


def local_conv1d(
    inputs: Any, kernel: Any, kernel_size: Any, strides: Any, data_format: str | None = None
) -> Any:
    """`local_conv` of sequences."""
    places = (kernel.shape.as_list()[0],)
    return local_conv(inputs, kernel, kernel_size, strides, places, data_format)


def local_conv2d(
    inputs: Any,
    kernel: Any,
    kernel_size: Any,
    strides: Any,
    output_shape: Any,
    data_format: str | None = None,
) -> Any:
    """`local_conv` of pictures."""
    return local_conv(inputs, kernel, kernel_size, strides, output_shape, data_format)


def bias_add(x: Any, bias: Any, data_format: str | None = None) -> Any:
    """A bias of the channels, or of every place, added.

    Raises:
        ValueError: the format is unknown, or the bias has neither one axis nor one less than x.
    """
    data_format = data_format or image_data_format()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Unknown data_format: {data_format}")
    rank, sizes = x.shape.ndims, bias.shape.as_list()
    if len(sizes) not in (1, rank - 1):
        raise ValueError(
            f"Unexpected bias dimensions {len(sizes)}, expect to be 1 or {rank} dimensions"
        )
    if rank == 2 or (rank == 4 and len(sizes) == 1 and data_format == "channels_last"):
        return nn.bias_add(x, bias)
    if data_format == "channels_last":
        ones = [1] * (rank - len(sizes))
        return x + tf.reshape(bias, (*ones, *sizes))
    return x + tf.reshape(bias, (1, sizes[-1], *(sizes[:-1] or [1] * (rank - 2))))


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
    if x.shape.ndims == 4 and axis in (3, -1) and x.dtype.base_dtype == dtypes.float32:
        filled = [
            tf.zeros_like(mean) if beta is None else beta,
            tf.ones_like(mean) if gamma is None else gamma,
        ]
        flat = [tf.reshape(part, [-1]) for part in (filled[1], filled[0], mean, var)]
        found, _, _ = nn.fused_batch_norm(
            x, flat[0], flat[1], mean=flat[2], variance=flat[3], epsilon=epsilon, is_training=False
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
    labels = tf.cast(
        ctc_label_dense_to_sparse(y_true, tf.squeeze(label_length, axis=-1)), tf.int32
    )
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


