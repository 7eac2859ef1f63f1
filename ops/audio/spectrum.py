# SPDX-License-Identifier: Apache-2.0
"""Spectrograms of sounds and their cepstra, as in speech recognition (kernels/mfcc.cc)."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ...engine import errors
from ...engine.record_class import record

# Of a band's energy, before its logarithm.
_FLOOR = 1e-12
# Sounds come one after the other with the same settings: so many of these are remembered.
_REMEMBERED = 8


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
        stream = np.ascontiguousarray(sound.T).reshape(-1).astype(np.float64)
        windows = np.lib.stride_tricks.sliding_window_view(stream, window)[::stride]
        parts = np.fft.rfft(windows[: len(found)] * _hann(window), length, axis=1)
        with np.errstate(over="ignore"):
            found[:] = parts.real**2 + parts.imag**2
    found = found.reshape(channels, count, 1 + length // 2)
    return found if squared else np.sqrt(found)


@lru_cache(_REMEMBERED)
def _hann(window: int) -> np.ndarray:
    return _kept(0.5 - 0.5 * np.cos(2 * math.pi * np.arange(window) / window))


def _kept(array: np.ndarray) -> np.ndarray:
    """An array that many see, and none may change."""
    array.flags.writeable = False
    return array


def _mel(frequency: np.ndarray | float) -> np.ndarray:
    return 1127.0 * np.log1p(np.asarray(frequency, np.float64) / 700.0)


@record(frozen=True)
class MelFilters:
    """Triangles in mel, each from the middle of the one before to the middle of the one behind.

    first: the first bin that has a share in any; edges: the first of the bins from there on the
    left side of each band, and of the one behind the last, and where these end; shares: how much
    of a bin falls to the band before.
    """

    bands: int
    first: int
    edges: list[int]
    shares: np.ndarray

    def energy(self, magnitudes: np.ndarray) -> np.ndarray:
        """[channels, frames, bins] as [channels, frames, bands]; no bin reaches other bands."""
        found = np.zeros((*magnitudes.shape[:2], self.bands + 1))
        used = magnitudes[..., self.first : self.first + len(self.shares)]
        bands = [band for band in range(self.bands + 1) if self.edges[band] < self.edges[band + 1]]
        if not bands:
            return found[..., : self.bands]
        starts = [self.edges[band] for band in bands]
        with np.errstate(invalid="ignore"):
            falling = used * self.shares
            rising = used - falling
            found[..., bands] = np.add.reduceat(rising, starts, axis=-1)
            # Bins on the left side of a band are on the right side of the one before.
            totals = np.add.reduceat(falling, starts, axis=-1)
            inner = [number for number, band in enumerate(bands) if band]
            found[..., [bands[number] - 1 for number in inner]] += totals[..., inner]
        return found[..., : self.bands]


@lru_cache(_REMEMBERED)
def mel_filters(bins: int, rate: float, bands: int, low: float, high: float) -> MelFilters | None:
    """The bands from one frequency to another; None if the bins do not reach as far."""
    spacing = (_mel(high) - _mel(low)) / (bands + 1)
    # The last centre is the right end of the last triangle.
    centers = _mel(low) + spacing * np.arange(1, bands + 2)
    per_bin = 0.5 * rate / (bins - 1)
    first, last = int(1.5 + low / per_bin), int(high / per_bin)
    if bins <= last:
        return None
    rising, shares = [], []
    for i in range(first, last + 1):
        place = float(_mel(i * per_bin))
        # The first centre at or above the bin, but the last one at most.
        right = min(int(np.searchsorted(centers, place)), bands)
        left_center = centers[right - 1] if right else float(_mel(low))
        rising.append(right)
        shares.append(float((centers[right] - place) / (centers[right] - left_center)))
    edges = np.searchsorted(rising, np.arange(bands + 2)).tolist()
    return MelFilters(bands, first, edges, _kept(np.array(shares)))


@lru_cache(_REMEMBERED)
def cosines(bands: int, coefficients: int) -> np.ndarray:
    """The matrix [bands, coefficients] of a cosine transform."""
    order, place = np.arange(coefficients), np.arange(bands) + 0.5
    return _kept(math.sqrt(2.0 / bands) * np.cos(order * (math.pi / bands) * place[:, None]))


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
