# SPDX-License-Identifier: Apache-2.0
"""Sounds: WAV files in strings (`tf.audio`), spectrograms and cepstra."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.dtypes import boxed
from ...engine.types.shape import TensorShape, shape_text
from .. import shape_inference
from . import spectrum, wav

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext

_FILES = NoGradient("files have no derivative")
_FEATURES = NoGradient("TensorFlow has no gradient of it")
_LARGEST = (1 << 31) - 1


def _only_rate(rate: np.ndarray) -> int:
    if rate.ndim:
        raise errors.invalid(
            f"Input sample_rate should be a scalar tensor, got {shape_text(rate.shape)} instead."
        )
    return int(rate)


# WAV files


def _decode_wav(c: KernelContext, contents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if contents.ndim:
        raise errors.invalid(f"contents must be scalar, got shape {shape_text(contents.shape)}")
    data = contents.item()
    if len(data) > _LARGEST:
        raise errors.invalid(f"WAV contents are too large for int: {len(data)}")
    sound, rate = wav.decode(data)
    channels, samples = c.attr("desired_channels"), c.attr("desired_samples")
    if samples != -1:
        found = np.zeros((samples, sound.shape[1]), np.float32)
        found[: len(sound)] = sound[:samples]
        sound = found
    if channels != -1:
        # The last channel stands for those that are missing.
        sound = sound[:, np.minimum(np.arange(channels), sound.shape[1] - 1)]
    return np.ascontiguousarray(sound), np.array(rate & 0xFFFFFFFF, np.uint32).astype(np.int32)


def _decoded_shape(c: ShapeContext) -> list[TensorShape]:
    shape_inference.ranked(c.inputs[0], 0)
    sizes: list[int | None] = []
    for what in ("channels", "samples"):
        size = c.attr(f"desired_{what}")
        if size < -1:
            raise ValueError(f"{what} must be non-negative, got {size}")
        sizes.insert(0, None if size == -1 else size)
    return [TensorShape(sizes), TensorShape([])]


def _sound() -> np.ndarray:
    return np.array([[0.5, -0.5], [0.25, 0.0], [1.0, -1.0]], np.float32)


decode_wav = export("audio.decode_wav")(
    define(
        "DecodeWav",
        "contents: string -> audio: float32, sample_rate: int32",
        "desired_channels: int = -1; desired_samples: int = -1",
        shape=_decoded_shape,
        kernel=_decode_wav,
        gradient=_FILES,
        dynamic_shape=True,
        doc="""The samples of a WAV file of 16 bits per sample, in -1..1, and their rate.

        Args:
            desired_channels: how many the result has: the first ones, or the last one again; -1:
                as the file.
            desired_samples: how many the result has: the first ones, or zeros besides; -1: as the
                file.

        Returns:
            The audio's shape is [samples, channels].

        Raises:
            InvalidArgumentError: when it runs: contents is no such file.
        """,
        test=lambda: {
            "values": [[boxed(wav.encode(_sound(), 8000))]],
            "attrs": [{}, {"desired_channels": 3, "desired_samples": 2}, {"desired_samples": 5}],
        },
    )
)


def _encode_wav(c: KernelContext, audio: np.ndarray, sample_rate: np.ndarray) -> np.ndarray:
    if audio.ndim != 2:
        raise errors.invalid(f"audio must be 2-dimensional{shape_text(audio.shape)}")
    rate = _only_rate(sample_rate)
    if audio.size >= _LARGEST:
        raise errors.invalid("Cannot encode audio with >= max int32 elements")
    return boxed(wav.encode(audio, rate))


def _encoded_shape(c: ShapeContext) -> TensorShape:
    shape_inference.ranked(c.inputs[0], 2)
    shape_inference.ranked(c.inputs[1], 0)
    return TensorShape([])


encode_wav = export("audio.encode_wav")(
    define(
        "EncodeWav",
        "audio: float32, sample_rate: int32 -> contents: string",
        shape=_encoded_shape,
        kernel=_encode_wav,
        gradient=_FILES,
        doc="""Samples [number, channels] in -1..1 as a WAV file of 16 bits per sample.

        Raises:
            InvalidArgumentError: when it runs: there are no samples, or the rate is no rate.
        """,
        test=lambda: {"values": [[_sound(), np.int32(8000)]]},
    )
)

# Spectra


def _spectrogram(c: KernelContext, sound: np.ndarray) -> np.ndarray:
    if sound.ndim != 2:
        raise errors.invalid(f"input must be 2-dimensional{shape_text(sound.shape)}")
    window, stride = c.attr("window_size"), c.attr("stride")
    if window < 2 or stride < 1:
        raise errors.invalid(
            f"Spectrogram initialization failed for window size {window} and stride {stride}"
        )
    return spectrum.spectrogram(sound, window, stride, c.attr("magnitude_squared"))


def _spectrogram_shape(c: ShapeContext) -> TensorShape:
    length, channels = shape_inference.ranked(c.inputs[0], 2)
    window, stride = c.attr("window_size"), c.attr("stride")
    is_known = length is not None and stride > 0
    frames = spectrum.frames_of(length or 0, window, stride) if is_known else None
    return TensorShape([channels, frames, 1 + spectrum.fft_length(window) // 2])


define(
    "AudioSpectrogram",
    "input: float32 -> spectrogram: float32",
    "window_size: int; stride: int; magnitude_squared: bool = false",
    shape=_spectrogram_shape,
    kernel=_spectrogram,
    gradient=_FEATURES,
    doc="""Magnitudes of frequencies, [channels, frames, 1 + half of the transform's length].

    Args:
        window_size: samples of a frame, which a Hann window weighs.
        stride: samples from frame to frame.
        magnitude_squared: whether the result is squared.

    Raises:
        InvalidArgumentError: when it runs: the window is shorter than 2, or the stride than 1.
    """,
    test=lambda: {
        "values": [[np.sin(np.arange(30, dtype=np.float32)).reshape(30, 1)]],
        "attrs": [
            {"window_size": 8, "stride": 4},
            {"window_size": 7, "stride": 9, "magnitude_squared": True},
        ],
    },
)


def _mfcc(c: KernelContext, power: np.ndarray, sample_rate: np.ndarray) -> np.ndarray:
    if power.ndim != 3:
        raise errors.invalid(f"spectrogram must be 3-dimensional{shape_text(power.shape)}")
    rate, bins = _only_rate(sample_rate), power.shape[2]
    bands, count = c.attr("filterbank_channel_count"), c.attr("dct_coefficient_count")
    # As attributes, in single precision.
    low, high = (np.float32(c.attr(f"{end}_frequency_limit")) for end in ("lower", "upper"))
    if bands < 1 or rate <= 0 or bins < 2 or low < 0 or high <= low or not 1 <= count <= bands:
        raise errors.invalid(
            f"Mfcc initialization failed for channel count {bins} and sample rate {rate}"
        )
    filters = spectrum.mel_filters(bins, rate, bands, float(low), float(high))
    return spectrum.mfcc(power, filters, spectrum.cosines(bands, count))


def _mfcc_shape(c: ShapeContext) -> TensorShape:
    channels, frames, _ = shape_inference.ranked(c.inputs[0], 3)
    shape_inference.ranked(c.inputs[1], 0)
    return TensorShape([channels, frames, c.attr("dct_coefficient_count")])


define(
    "Mfcc",
    "spectrogram: float32, sample_rate: int32 -> output: float32",
    "upper_frequency_limit: float = 4000.0; lower_frequency_limit: float = 20.0; "
    "filterbank_channel_count: int = 40; dct_coefficient_count: int = 13",
    shape=_mfcc_shape,
    kernel=_mfcc,
    gradient=_FEATURES,
    doc="""Mel-frequency cepstral coefficients of a squared spectrogram, [channels, frames, number].

    Args:
        upper_frequency_limit: of the bands, in Hertz.
        lower_frequency_limit: of the bands, in Hertz.
        filterbank_channel_count: the number of bands.
        dct_coefficient_count: how many coefficients of their cosine transform are kept.

    Raises:
        InvalidArgumentError: when it runs: limits, counts or the rate make no bands.
    """,
    test=lambda: {
        "values": [[np.linspace(0, 9, 130, dtype=np.float32).reshape(1, 2, 65), np.int32(8000)]],
        "attrs": [{"filterbank_channel_count": 13}, {"upper_frequency_limit": 2000.0}],
    },
)
