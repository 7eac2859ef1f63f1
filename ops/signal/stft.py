# SPDX-License-Identifier: Apache-2.0
"""Short-time Fourier transforms and their inverse."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.graph.constants import constant_value
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ..math.fourier_real import irfft, rfft
from ..public import tf
from .frames import frame, overlap_and_add, scalar
from .windows import hann_window

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike

# length, dtype -> a vector
Window = Callable[..., Tensor]


def _power_of_two(length: Any) -> Any:
    """The least power of two that is no less."""
    known = constant_value(length)
    if known is not None:
        return tf.constant(int(2 ** np.ceil(np.log(known) / np.log(2.0))), length.dtype)
    power = tf.ceil(tf.log(tf.cast(length, dtypes.float32)) / tf.log(2.0))
    return tf.cast(tf.pow(2.0, power), length.dtype)


@export("signal.stft", "contrib.signal.stft")
def stft(
    signals: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    fft_length: TensorLike | None = None,
    window_fn: Window | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Tensor:
    """Short-time Fourier transforms (tf.signal.stft).

    Args:
        signals: float32 [..., samples].
        frame_length: of what is transformed at a time, in samples.
        frame_step: from one frame to the next.
        fft_length: of the transform; the next power of two if None.
        window_fn: a function of length and dtype that gives a window; None: no window.
        pad_end: whether zeros follow the end, so that the last samples count.
        name: of the scope.

    Returns:
        complex64 [..., frames, fft_length // 2 + 1].

    Example:
        >>> tf.signal.stft(tf.zeros([2, 100]), frame_length=16, frame_step=8).shape.as_list()
        [2, 11, 9]
    """
    with name_scope(name, "stft", [signals, frame_length, frame_step]):
        samples = convert_to_tensor(signals, name="signals")
        samples.shape.with_rank_at_least(1)
        frame_length = scalar(frame_length, "frame_length")
        frame_step = scalar(frame_step, "frame_step")
        if fft_length is None:
            length = _power_of_two(frame_length)
        else:
            length = convert_to_tensor(fft_length, name="fft_length")
        frames: Any = frame(samples, frame_length, frame_step, pad_end=pad_end)
        if window_fn is not None:
            frames *= window_fn(frame_length, dtype=frames.dtype)
        return rfft(frames, [length])


@export("signal.inverse_stft_window_fn", "contrib.signal.inverse_stft_window_fn")
def inverse_stft_window_fn(
    frame_step: TensorLike, forward_window_fn: Window = hann_window, name: str | None = None
) -> Window:
    """The window that makes `inverse_stft` undo `stft` (tf.signal.inverse_stft_window_fn).

    Args:
        frame_step: from one frame to the next.
        forward_window_fn: the window of `stft`.
        name: of the scope.

    Returns:
        A function of length and dtype that gives a window.

    Example:
        >>> window = tf.signal.inverse_stft_window_fn(2)
        >>> print(tf.Session().run(window(4, tf.float32)))
        [0. 1. 1. 1.]
    """
    with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
        step = scalar(frame_step, "frame_step")

    def window(frame_length: TensorLike, dtype: dtypes.DType) -> Any:
        with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
            length = scalar(frame_length, "frame_length")
            forward: Any = forward_window_fn(length, dtype=dtype)
            squares = tf.square(forward)
            # What the squares add up to at each place of a step.
            overlaps = -(-length // step)
            squares = tf.pad(squares, [(0, overlaps * step - length)])
            sums = tf.reduce_sum(tf.reshape(squares, [overlaps, step]), 0, keepdims=True)
            sums = tf.reshape(tf.tile(sums, [overlaps, 1]), [overlaps * step])
            return forward / sums[:length]

    return window


@export("signal.inverse_stft", "contrib.signal.inverse_stft")
def inverse_stft(
    stfts: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    fft_length: TensorLike | None = None,
    window_fn: Window | None = hann_window,
    name: str | None = None,
) -> Tensor:
    """Signals of short-time Fourier transforms (tf.signal.inverse_stft).

    Args:
        stfts: complex64 [..., frames, fft_length // 2 + 1].
        frame_length: of a frame, in samples.
        frame_step: from one frame to the next.
        fft_length: of the transform; the next power of two if None.
        window_fn: a function of length and dtype that gives a window; see
            `tf.signal.inverse_stft_window_fn`.
        name: of the scope.

    Returns:
        float32 [..., samples].

    Example:
        >>> signal = tf.sin(tf.range(32.0))
        >>> window = tf.signal.inverse_stft_window_fn(4)
        >>> again = tf.signal.inverse_stft(tf.signal.stft(signal, 8, 4), 8, 4, window_fn=window)
        >>> bool(abs(tf.Session().run(again - signal)[4:-4]).max() < 1e-5)
        True
    """
    with name_scope(name, "inverse_stft", [stfts]):
        given = convert_to_tensor(stfts, name="stfts")
        given.shape.with_rank_at_least(2)
        frame_length = scalar(frame_length, "frame_length")
        frame_step = scalar(frame_step, "frame_step")
        if fft_length is None:
            length = _power_of_two(frame_length)
        else:
            length = scalar(fft_length, "fft_length")
        frames: Any = _fitted(irfft(given, [length]), frame_length)
        if window_fn is not None:
            frames *= window_fn(frame_length, dtype=given.dtype.real_dtype)
        return overlap_and_add(frames, frame_step)


def _fitted(frames: Any, frame_length: Any) -> Any:
    """Frames cut or padded to their length."""
    known = constant_value(frame_length)
    rank = frames.shape.ndims
    last = None if rank is None else frames.shape.as_list()[-1]
    if known is None or last is None:
        frames = frames[..., :frame_length]
        none_before = tf.zeros([tf.rank(frames) - 1, 2], dtype=frame_length.dtype)
        missing = tf.maximum(0, frame_length - tf.shape(frames)[-1])
        frames = tf.pad(frames, tf.concat([none_before, [[0, missing]]], 0))
    elif last > known:
        frames = frames[..., :known]
    elif last < known:
        frames = tf.pad(frames, [[0, 0]] * (rank - 1) + [[0, known - last]])
    if known is not None and rank is not None:
        frames.set_shape([None] * (rank - 1) + [known])
    return frames
