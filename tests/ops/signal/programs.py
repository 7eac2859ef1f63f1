# SPDX-License-Identifier: Apache-2.0
"""Programs of tf.signal; see tests/train/contrib/recording.py."""

from __future__ import annotations

from typing import Any

import numpy as np

_RANDOM = np.random.RandomState(0)
_SIGNAL = _RANDOM.uniform(-1, 1, [2, 21]).astype(np.float32)
_BLOCK = _RANDOM.uniform(-1, 1, [2, 4, 6]).astype(np.float32)


def _windows(tf: Any) -> list[Any]:
    signal = tf.signal
    lengths = (1, 6, 7)
    return [signal.hann_window(n, periodic=p) for n in lengths for p in (True, False)] + [
        signal.hamming_window(n, dtype=tf.float64) for n in lengths
    ]


def _frames(tf: Any) -> list[Any]:
    x = tf.constant(_SIGNAL)
    cut, padded = tf.signal.frame(x, 6, 4), tf.signal.frame(x, 5, 3, pad_end=True, pad_value=9)
    across = tf.signal.frame(tf.constant(_BLOCK), 2, 1, axis=1)
    added = [tf.signal.overlap_and_add(frames, 3) for frames in (cut, padded)]
    return [cut, padded, across, *added, *tf.gradients(added, x)]


def _stft(tf: Any) -> list[Any]:
    x = tf.constant(_SIGNAL)
    found = tf.contrib.signal.stft(x, 8, 4, 16, pad_end=True)
    window = tf.contrib.signal.inverse_stft_window_fn(4)
    back = tf.contrib.signal.inverse_stft(found, 8, 4, 16, window_fn=window)
    return [found, back, *tf.gradients(tf.abs(found), x)]


def _cosines(tf: Any) -> list[Any]:
    x = tf.constant(_SIGNAL)
    kinds = [(1, None), (2, None), (2, "ortho"), (3, None), (3, "ortho")]
    found = [tf.signal.dct(x, type=kind, norm=norm) for kind, norm in kinds]
    return [*found, tf.spectral.idct(x, norm="ortho"), tf.spectral.dct(x, n=30)]


def _mel(tf: Any) -> list[Any]:
    matrix = tf.contrib.signal.linear_to_mel_weight_matrix(5, 17, 8000, 100.0, 3000.0)
    logs = tf.tensordot(tf.abs(tf.signal.stft(tf.constant(_SIGNAL), 16, 4, 32)), matrix, 1)
    return [matrix, tf.contrib.signal.mfccs_from_log_mel_spectrograms(tf.log(logs + 1.0))]


def _real(tf: Any) -> list[Any]:
    x = tf.constant(_BLOCK)
    plane, whole = tf.signal.rfft2d(x, [4, 7]), tf.signal.rfft3d(x)
    back = tf.signal.irfft2d(plane, [4, 7])
    total = tf.reduce_sum(tf.abs(plane)) + tf.reduce_sum(tf.square(back))
    return [plane, whole, back, tf.signal.irfft3d(whole), *tf.gradients(total, x)]


def _shifts(tf: Any) -> list[Any]:
    x = tf.constant(_BLOCK)
    return [tf.signal.fftshift(x), tf.signal.ifftshift(x, (1, 2)), tf.signal.fftshift(x, -1)]


PROGRAMS = {
    "cosines": _cosines,
    "frames": _frames,
    "mel": _mel,
    "real": _real,
    "shifts": _shifts,
    "stft": _stft,
    "windows": _windows,
}
