# SPDX-License-Identifier: Apache-2.0
"""Spectrograms of sounds and their cepstra, as in speech recognition (kernels/mfcc.cc)."""

from __future__ import annotations

import math

import numpy as np

from ...engine import errors
from ...engine.record_class import record

# Of a band's energy, before its logarithm.
_FLOOR = 1e-12


def fft_length(window: int) -> int:
    """The length of the transform: the next power of two."""
    return 1 << max(0, window - 1).bit_length()


def frames_of(samples: int, window: int, stride: int) -> int:
    """How many windows fit."""
    return 0 if samples < window else 1 + (samples - window) // stride


def spectrogram(sound: np.ndarray, window: int, stride: int, squared: bool) -> np.ndarray:
    """float32 [samples, channels] as float32 [channels, frames, frequencies].

    As in TensorFlow, frames run on from one channel into the next, and each belongs to the channel
    in which it ends.

    Raises:
        InvalidArgumentError: a channel gets more frames so than the first.
    """
    samples, channels = sound.shape
    length, count = fft_length(window), frames_of(samples, window, stride)
    ends = [frames_of(samples * (i + 1), window, stride) for i in range(channels)]
    for begin, end in zip([0, *ends], ends):
        if end - begin != count:
            raise errors.invalid(
                f"Spectrogram size calculation failed: Expected height {count} but got "
                f"{end - begin}"
            )
    found = np.zeros((channels * count, 1 + length // 2), np.float32)
    if found.size:
        hann = 0.5 - 0.5 * np.cos(2 * math.pi * np.arange(window) / window)
        stream = np.ascontiguousarray(sound.T).reshape(-1).astype(np.float64)
        windows = np.lib.stride_tricks.sliding_window_view(stream, window)[::stride]
        parts = np.fft.rfft(windows[: len(found)] * hann, length, axis=1)
        with np.errstate(over="ignore"):
            found[:] = parts.real**2 + parts.imag**2
    found = found.reshape(channels, count, 1 + length // 2)
    return found if squared else np.sqrt(found)


def _mel(frequency: np.ndarray | float) -> np.ndarray:
    return 1127.0 * np.log1p(np.asarray(frequency, np.float64) / 700.0)


@record(frozen=True)
class MelFilters:
    """Triangles in mel, each from the middle of the one before to the middle of the one behind.

    first: the first bin that has a share in any; rising: for each bin from there, the band in
    which it lies on the left side (it may be the one behind the last); shares: how much of it
    falls to the band before.
    """

    bands: int
    first: int
    rising: list[int]
    shares: list[float]

    def energy(self, magnitudes: np.ndarray) -> np.ndarray:
        """[channels, frames, bins] as [channels, frames, bands]; no bin reaches other bands."""
        found = np.zeros((*magnitudes.shape[:2], self.bands + 1))
        used = magnitudes[..., self.first : self.first + len(self.shares)]
        # Bins on the left side of a band are neighbours, and on the right side of the one before.
        edges = np.searchsorted(self.rising, np.arange(self.bands + 2))
        with np.errstate(invalid="ignore"):
            falling = used * np.asarray(self.shares)
            rising = used - falling
            for band, (begin, end) in enumerate(zip(edges, edges[1:])):
                found[..., band] += rising[..., begin:end].sum(-1)
                if band:
                    found[..., band - 1] += falling[..., begin:end].sum(-1)
        return found[..., : self.bands]


def mel_filters(bins: int, rate: float, bands: int, low: float, high: float) -> MelFilters | None:
    """The bands from one frequency to another; None if the bins do not reach as far."""
    spacing = (_mel(high) - _mel(low)) / (bands + 1)
    # The last centre is the right end of the last triangle.
    centers = _mel(low) + spacing * np.arange(1, bands + 2)
    per_bin = 0.5 * rate / (bins - 1)
    first, last = int(1.5 + low / per_bin), int(high / per_bin)
    if bins <= last:
        return None
    found = MelFilters(bands, first, [], [])
    for i in range(first, last + 1):
        place = float(_mel(i * per_bin))
        # The first centre at or above the bin, but the last one at most.
        right = min(int(np.searchsorted(centers, place)), bands)
        left_center = centers[right - 1] if right else float(_mel(low))
        found.rising.append(right)
        found.shares.append(float((centers[right] - place) / (centers[right] - left_center)))
    return found


def cosines(bands: int, coefficients: int) -> np.ndarray:
    """The matrix [bands, coefficients] of a cosine transform."""
    order, place = np.arange(coefficients), np.arange(bands) + 0.5
    return math.sqrt(2.0 / bands) * np.cos(order * (math.pi / bands) * place[:, None])


def mfcc(power: np.ndarray, filters: MelFilters | None, transform: np.ndarray) -> np.ndarray:
    """Squared magnitudes [channels, frames, bins] as float32 cepstra."""
    if filters is None:
        return np.zeros((*power.shape[:2], transform.shape[1]), np.float32)
    with np.errstate(invalid="ignore"):
        magnitudes = np.sqrt(power.astype(np.float64))
    energy = filters.energy(magnitudes)
    logs = np.log(np.where(energy < _FLOOR, _FLOOR, energy))
    # Not by a BLAS, whose order of sums is its own.
    return np.einsum("cfm,mk->cfk", logs, transform).astype(np.float32)
