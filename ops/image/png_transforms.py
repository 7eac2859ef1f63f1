# SPDX-License-Identifier: Apache-2.0
"""libpng's transformations of samples, in its order, with the settings of TensorFlow.

(core/lib/png/png_io.cc; libpng's pngrtran.c.)
"""

from __future__ import annotations

import numpy as np

from .png_chunks import PALETTE, SAMPLES, Header

# Shares of red and green in gray, of 2 ** 15 (blue has the rest): 0.299 and 0.587.
_RED = 29900 * 32768 // 100000
_GREEN = 58700 * 32768 // 100000
_BLUE = 32768 - _RED - _GREEN
# Gammas nearer to 1 than that, in hundred thousandths, change nothing (PNG_GAMMA_THRESHOLD_FIXED).
_LEAST_GAMMA = 5000


def _channels_of(header: Header) -> int:
    if header.color_type == PALETTE:
        return 4 if header.transparency else 3
    return SAMPLES[header.color_type]


def _palette(header: Header, indices: np.ndarray, with_alpha: bool) -> np.ndarray:
    table = np.zeros((256, 4), np.uint8)
    colors = np.frombuffer(header.palette, np.uint8).reshape(-1, 3)
    table[: len(colors), :3] = colors
    table[:, 3] = 255
    opacity = np.frombuffer(header.transparency, np.uint8)
    table[: len(opacity), 3] = opacity
    return table[:, : 4 if with_alpha else 3][indices[..., 0]]


def _with_key(header: Header, samples: np.ndarray) -> np.ndarray:
    """Samples with an alpha that is 0 where the transparent colour is."""
    # Of short samples the low bits count.
    key = np.frombuffer(header.transparency, ">u2") & ((1 << header.bits) - 1)
    top = np.iinfo(samples.dtype).max
    alpha = np.where((samples == key).all(axis=2, keepdims=True), 0, top)
    return np.concatenate([samples, alpha.astype(samples.dtype)], axis=2)


def _gamma_table(gamma: float, count: int) -> np.ndarray:
    """Powers of levels 0 to `count` - 1, rounded."""
    levels = np.arange(count, dtype=np.float64)
    if abs(gamma * 1e5 - 1e5) < _LEAST_GAMMA:
        return levels.astype(np.int64)
    return np.floor((count - 1) * np.power(levels / (count - 1), gamma) + 0.5).astype(np.int64)


def _gray(header: Header, colors: np.ndarray) -> np.ndarray:
    """One channel of three; colours that are gray stay what they are."""
    red, green, blue = (colors[..., i].astype(np.int64) for i in range(3))
    is_gray = (red == green) & (red == blue)
    shift_in = 1 << 14 if colors.dtype == np.uint16 else 0
    if header.gamma and abs(header.gamma - 100000) >= _LEAST_GAMMA:
        count = int(np.iinfo(colors.dtype).max) + 1
        to_light = _gamma_table(1e5 / header.gamma, count)
        from_light = _gamma_table(header.gamma / 1e5, count)
        mixed = _RED * to_light[red] + _GREEN * to_light[green] + _BLUE * to_light[blue]
        found = from_light[np.minimum((mixed + (1 << 14)) >> 15, count - 1)]
    else:
        found = (_RED * red + _GREEN * green + _BLUE * blue + shift_in) >> 15
    return np.where(is_gray, red, found).astype(colors.dtype)[..., None]


def _expanded(header: Header, samples: np.ndarray, with_alpha: bool) -> np.ndarray:
    """Colours of palettes, grays of all bits, and alpha where a colour is transparent."""
    if header.color_type == PALETTE:
        return _palette(header, samples, with_alpha and bool(header.transparency))
    if with_alpha and header.transparency:
        samples = _with_key(header, samples)
        if header.bits < 8:
            # The alpha is whole already.
            samples[..., 0] *= np.uint8(255 // ((1 << header.bits) - 1))
        return samples
    if header.bits < 8:
        return samples * np.uint8(255 // ((1 << header.bits) - 1))
    return samples


def converted(samples: np.ndarray, header: Header, channels: int, bits: int) -> np.ndarray:
    """The samples of a file with `channels` (0: as the file has them) of 8 or 16 bits."""
    channels = channels or _channels_of(header)
    with_alpha = channels % 2 == 0
    pixels = _expanded(header, samples, with_alpha)
    count = pixels.shape[2]
    alpha = pixels[..., count - 1 :] if count % 2 == 0 else None
    colors = pixels[..., : count - 1] if count % 2 == 0 else pixels
    if channels < 3 and colors.shape[2] == 3:
        colors = _gray(header, colors)
    if header.bits == 16 and bits == 8:
        colors = (colors >> 8).astype(np.uint8)
        alpha = None if alpha is None else (alpha >> 8).astype(np.uint8)
    if channels >= 3 and colors.shape[2] == 1:
        colors = np.repeat(colors, 3, axis=2)
    if with_alpha:
        if alpha is None:
            # libpng is told a filler of as many bits as the file has, whatever became of them.
            filler = (1 << header.bits) - 1 & np.iinfo(colors.dtype).max
            alpha = np.full((*colors.shape[:2], 1), filler, colors.dtype)
        colors = np.concatenate([colors, alpha], axis=2)
    if bits == 16 and colors.dtype == np.uint8:
        colors = colors.astype(np.uint16) * np.uint16(257)
    return np.ascontiguousarray(colors)
