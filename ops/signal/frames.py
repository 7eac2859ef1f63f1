# SPDX-License-Identifier: Apache-2.0
"""Signals cut into frames that overlap, and frames added up to signals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.constants import constant_value
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ..public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike


def scalar(value: TensorLike, name: str) -> Tensor:
    """A tensor of rank 0."""
    tensor = convert_to_tensor(value, name=name)
    tensor.shape.assert_has_rank(0)
    return tensor


def gcd(a: TensorLike, b: TensorLike, name: str | None = None) -> Tensor:
    """The greatest common divisor of two integers.

    Raises:
        ValueError: one is no integer or no scalar.
    """
    with name_scope(name, "gcd", [a, b]):
        first, second = convert_to_tensor(a), convert_to_tensor(b)
        first.shape.assert_has_rank(0)
        second.shape.assert_has_rank(0)
        for letter, number in (("a", first), ("b", second)):
            if not number.dtype.is_integer:
                raise ValueError(f"{letter} must be an integer type. Got: {number.dtype}")
        known = constant_value(first), constant_value(second)
        if known[0] is not None and known[1] is not None:
            return convert_to_tensor(math.gcd(int(known[0]), int(known[1])))
        found, _ = tf.while_loop(
            lambda _, b: tf.greater(b, tf.zeros_like(b)),
            lambda a, b: [b, tf.mod(a, b)],
            [first, second],
            back_prop=False,
        )
        return found


def _frame_shape(
    signal: Tensor, frame_length: Tensor, frame_step: Tensor, pad_end: bool, axis: Tensor
) -> list[int | None] | None:
    """What is known of the shape of frames."""
    if signal.shape.ndims is None:
        return None
    length, step, at = (constant_value(x) for x in (frame_length, frame_step, axis))
    if at is None:
        return [None] * (signal.shape.ndims + 1)
    sizes, count = signal.shape.as_list(), None
    samples = sizes[at]
    if sizes and samples is not None and step is not None:
        if pad_end:
            count = max(0, -(-samples // step))
        elif length is not None:
            count = max(0, (samples - length + step) // step)
    return [*sizes[:at], count, length, *sizes[at:][1:]]


@export("signal.frame", "contrib.signal.frame")
def frame(
    signal: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    pad_end: bool = False,
    pad_value: TensorLike = 0,
    axis: TensorLike = -1,
    name: str | None = None,
) -> Tensor:
    """Frames of a signal, which may overlap (tf.signal.frame).

    Args:
        signal: [..., samples, ...].
        frame_length: of a frame, in samples.
        frame_step: from the start of a frame to that of the next one.
        pad_end: whether the last frames reach beyond the end; else they are left out.
        pad_value: what is beyond the end.
        axis: where the samples lie.
        name: of the scope.

    Returns:
        [..., frames, frame_length, ...].

    Example:
        >>> print(tf.Session().run(tf.signal.frame([1, 2, 3, 4, 5], 3, 2)))
        [[1 2 3]
         [3 4 5]]
    """
    with name_scope(name, "frame", [signal, frame_length, frame_step, pad_value]):
        samples = convert_to_tensor(signal, name="signal")
        frame_length = convert_to_tensor(frame_length, name="frame_length")
        frame_step = convert_to_tensor(frame_step, name="frame_step")
        axis = convert_to_tensor(axis, name="axis")
        samples.shape.with_rank_at_least(1)
        for given in (frame_length, frame_step, axis):
            given.shape.assert_has_rank(0)
        shape = _frame_shape(samples, frame_length, frame_step, pad_end, axis)
        frames = _framed(samples, frame_length, frame_step, pad_end, pad_value, axis)
        if shape:
            frames.set_shape(shape)
        return frames


def _framed(
    signal: Any, frame_length: Any, frame_step: Any, pad_end: bool, pad: Any, at: Any
) -> Tensor:
    rank = tf.rank(signal)
    axis = tf.range(rank)[at]
    sizes = tf.shape(signal)
    outer, samples, inner = tf.split(sizes, [axis, 1, rank - 1 - axis])
    samples = tf.reshape(samples, [])
    outer_rank, inner_rank = tf.size(outer), tf.size(inner)
    if pad_end:
        pad = convert_to_tensor(pad, signal.dtype)
        pad.shape.assert_has_rank(0)
        count = -(-samples // frame_step)
        more = tf.maximum(0, frame_length + frame_step * (count - 1) - samples)
        none_before = tf.zeros([outer_rank, 2], dtype=more.dtype)
        none_after = tf.zeros([inner_rank, 2], dtype=more.dtype)
        paddings = tf.concat([none_before, [[0, more]], none_after], 0)
        signal = tf.pad(signal, paddings, constant_values=pad)
        sizes = tf.shape(signal)
        samples = sizes[axis]
    else:
        count = tf.maximum(0, 1 + (samples - frame_length) // frame_step)
    # Frames are made of pieces that begin where any frame may begin or end.
    piece = gcd(frame_length, frame_step)
    per_frame, per_step = frame_length // piece, frame_step // piece
    pieces = samples // piece
    whole = tf.concat([outer, [pieces * piece], inner], 0)
    cut = tf.concat([outer, [pieces, piece], inner], 0)
    parts = tf.reshape(tf.strided_slice(signal, tf.zeros_like(sizes), whole), cut)
    firsts = tf.reshape(tf.range(count) * per_step, [count, 1])
    places = firsts + tf.reshape(tf.range(per_frame), [1, per_frame])
    frames = tf.gather(parts, places, axis=axis)
    return tf.reshape(frames, tf.concat([outer, [count, frame_length], inner], 0))


@export("signal.overlap_and_add", "contrib.signal.overlap_and_add")
def overlap_and_add(signal: TensorLike, frame_step: TensorLike, name: str | None = None) -> Tensor:
    """Frames added up where they overlap (tf.signal.overlap_and_add).

    Args:
        signal: [..., frames, frame_length].
        frame_step: from the start of a frame to that of the next one, an integer.
        name: of the scope.

    Returns:
        [..., (frames - 1) * frame_step + frame_length].

    Raises:
        ValueError: `frame_step` is no integer.

    Example:
        >>> print(tf.Session().run(tf.signal.overlap_and_add([[1, 2, 3], [3, 4, 5]], 2)))
        [1 2 6 4 5]
    """
    with name_scope(name, "overlap_and_add", [signal, frame_step]):
        frames = convert_to_tensor(signal, name="signal")
        frames.shape.with_rank_at_least(2)
        step = scalar(frame_step, "frame_step")
        if not step.dtype.is_integer:
            raise ValueError(f"frame_step must be an integer. Got {step.dtype}")
        return _added(frames, step)


def _added(signal: Any, step: Any) -> Any:
    sizes = tf.shape(signal)
    outer = sizes[:-2]
    rank = tf.size(outer)
    length, count = sizes[-1], sizes[-2]

    def whole(inner: list[Any]) -> Tensor:
        return tf.concat([outer, inner], 0)

    total = length + step * (count - 1)
    known = constant_value(step)
    if known is not None and signal.shape.ndims is not None:
        if known == signal.shape.as_list()[-1]:
            return tf.reshape(signal, whole([total]), name="fast_path")
    # Each frame is cut into pieces of one step.  Of all frames, the first pieces lie side by side,
    # the second ones, moved by one step, beneath them, and so on: the sums of columns are wanted.
    pieces = -(-length // step)
    inner = [[0, pieces], [0, pieces * step - length]]
    paddings = tf.concat([tf.zeros([rank, 2], dtypes.int32), inner], 0)
    signal = tf.pad(signal, paddings)
    signal = tf.reshape(signal, whole([count + pieces, pieces, step]))
    signal = tf.transpose(signal, tf.concat([tf.range(rank), rank + [1, 0, 2]], 0))
    signal = tf.reshape(signal, whole([(count + pieces) * pieces, step]))
    # Rows that are one piece shorter move each against the one above.
    signal = signal[..., : (count + pieces - 1) * pieces, :]
    signal = tf.reshape(signal, whole([pieces, count + pieces - 1, step]))
    signal = tf.reduce_sum(signal, -3)
    signal = tf.reshape(signal, whole([(count + pieces - 1) * step]))
    return signal[..., :total]
