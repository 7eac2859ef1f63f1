# SPDX-License-Identifier: Apache-2.0
"""Sounds: WAV files, and spectra as TensorFlow 1.15 computes them."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.programs

# Of the signals below: shapes and every so many values, or the error, by TensorFlow 1.15.5.
FACTS = json.loads(Path(__file__).with_name("spectra_1_15.json").read_text())
TIME = np.arange(400, dtype=np.float64)
SOUND = np.stack([np.sin(TIME / 7) + 0.3 * np.sin(TIME / 2.3), np.cos(TIME / 5)], 1).astype("f4")
POWER = (np.abs(np.sin(np.arange(774) * 0.7)) * 50).astype(np.float32).reshape(2, 3, 129)


@pytest.fixture
def session() -> Iterator[Any]:
    with tf.Graph().as_default(), settings.override(jit="never"), tf.Session() as sess:
        yield sess


def check(session: Any, tensor: Any, expected: Any) -> None:
    if isinstance(expected, str):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(tensor)
        assert caught.value.message.partition("\n")[0] == expected
        return
    shape, values = expected
    found = session.run(tensor)
    assert list(found.shape) == shape == tensor.shape.as_list()
    some = found.reshape(-1)[:: max(1, found.size // 6)]
    np.testing.assert_allclose(some, values, rtol=3e-6, atol=1e-6)


@pytest.mark.parametrize("row", FACTS["spectrogram"], ids=str)
def test_spectrogram(session: Any, row: list[Any]) -> None:
    channels, window, stride, squared, expected = row
    spectrogram = tf.raw_ops.AudioSpectrogram(
        input=SOUND[:, :channels], window_size=window, stride=stride, magnitude_squared=squared
    )
    check(session, spectrogram, expected)


@pytest.mark.parametrize("row", FACTS["mfcc"], ids=str)
def test_cepstra(session: Any, row: list[Any]) -> None:
    options, expected = row
    check(session, tf.raw_ops.Mfcc(spectrogram=POWER, sample_rate=16000, **options), expected)


def wav_file(
    channels: int = 2, rate: int = 8000, code: int = 1, bits: int = 16, **other: Any
) -> bytes:
    """A file of ten frames, of which `other` changes what it says of itself."""
    per_frame = other.get("per_frame", 2 * channels)
    per_second = other.get("per_second", per_frame * rate & 0xFFFFFFFF)
    samples = bytes(7 * i % 256 for i in range(20 * channels))
    size = other.get("size", 16)
    form = struct.pack("<IHHIIHH", size, code, channels, rate, per_second, per_frame, bits)
    length = struct.pack("<I", other.get("length", len(samples)))
    head = b"RIFF\x24\0\0\0WAVEfmt " + form + bytes(size - 16)
    return head + other.get("kind", b"data") + length + samples + other.get("tail", b"")


@pytest.mark.parametrize("size", [16, 18])
def test_samples_are_what_the_file_holds(session: Any, size: int) -> None:
    sound, rate = session.run(tf.audio.decode_wav(wav_file(size=size)))
    expected = np.frombuffer(bytes(7 * i % 256 for i in range(40)), "<i2").reshape(10, 2) / 32768
    np.testing.assert_array_equal(sound, expected)
    assert sound.dtype == np.float32
    assert rate == 8000


def test_channels_and_samples_may_be_chosen(session: Any) -> None:
    text = tf.placeholder(tf.string, [])
    wanted = tf.audio.decode_wav(text, desired_channels=3, desired_samples=12)
    assert wanted.audio.shape.as_list() == [12, 3]
    assert tf.audio.decode_wav(text).audio.shape.as_list() == [None, None]
    whole = session.run(tf.audio.decode_wav(text).audio, {text: wav_file()})
    found = session.run(wanted.audio, {text: wav_file()})
    np.testing.assert_array_equal(found[:10, :2], whole)
    np.testing.assert_array_equal(found[:10, 2], whole[:, 1])
    assert not found[10:].any()
    first = session.run(
        tf.audio.decode_wav(text, desired_channels=1, desired_samples=4).audio, {text: wav_file()}
    )
    np.testing.assert_array_equal(first, whole[:4, :1])


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "Data too short when trying to read string"),
        (b"RIFX", "Header mismatch: Expected RIFF but found RIFX"),
        (wav_file(code=3), "Bad audio format for WAV: Expected 1 (PCM), but got3"),
        (wav_file(size=20), "Bad file size for WAV: Expected 16 or 18, but got20"),
        (
            wav_file(channels=0),
            "Bad number of channels for WAV: Expected at least 1, but got 0",
        ),
        (wav_file(bits=8), "Can only read 16-bit WAV files, but received 8"),
        (wav_file(per_frame=6), "Bad bytes per sample in WAV header: Expected 4 but got 6"),
        (
            wav_file(per_second=5),
            "Bad bytes per second in WAV header: Expected 32000 but got 5 (sample_rate=8000, "
            "bytes_per_sample=4)",
        ),
        (wav_file(length=100), "Data too short when trying to read string"),
        (
            wav_file(length=1 << 31),
            "WAV data chunk 'data' is too large: 2147483648 bytes, but the limit is 2147483647",
        ),
        (wav_file(tail=b"data\0\0\0\0"), "More than one data chunk found in WAV"),
        (wav_file(kind=b"LIST"), "No data chunk found in WAV"),
        (wav_file()[:30], "Data too short when trying to read string"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_damaged_files_are_refused(session: Any, data: bytes, text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        session.run(tf.audio.decode_wav(data))
    assert caught.value.message.partition("\n")[0] == text


def test_sounds_are_written_rounded_and_clipped(session: Any) -> None:
    sound = np.float32([[0.5, -0.5], [1.5, -1.5], [1.5 / 32768, -1.5 / 32768]])
    text = tf.audio.encode_wav(sound, 44100)
    found, rate = session.run(tf.audio.decode_wav(text))
    levels = [[16384, -16384], [32767, -32768], [2, -2]]
    np.testing.assert_array_equal(found, np.float32(levels) / 32768)
    assert rate == 44100
    assert session.run(text)[:4] == b"RIFF"


@pytest.mark.parametrize(
    ("shape", "rate", "text"),
    [
        ((0, 1), 8000, "num_frames must be positive."),
        ((1, 0), 8000, "num_channels must be in (0, 2^16), got: 0"),
        ((1, 1), 0, "sample_rate must be in (0, 2^32), got: 0"),
        ((1, 1), -5, "sample_rate must be in (0, 2^32), got: 18446744073709551611"),
    ],
)
def test_what_is_no_sound_is_not_written(
    session: Any, shape: tuple[int, int], rate: int, text: str
) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        session.run(tf.audio.encode_wav(np.zeros(shape, np.float32), rate))
    assert caught.value.message.partition("\n")[0] == text


@pytest.mark.pure
def test_contributions_that_are_not_here_are_told_from_those_that_are() -> None:
    with pytest.raises(
        AttributeError,
        match=r"no attribute 'quantization': .* not in numbaflow yet; it has .*layers",
    ):
        tf.contrib.quantization  # noqa: B018
