# SPDX-License-Identifier: Apache-2.0
"""WAV files of 16 bits per sample, as TensorFlow reads and writes them (core/lib/wav/wav_io.cc)."""

from __future__ import annotations

import struct

import numpy as np

from ...engine import errors
from ...engine.printable import printable

_FULL_SCALE = 1 << 15
_LARGEST_CHUNK = (1 << 31) - 1
_SHORT = "Data too short when trying to read string"


def encode(frames: np.ndarray, rate: int) -> bytes:
    """float32 [frames, channels] in -1..1 as a WAV file.

    Raises:
        InvalidArgumentError: such a file cannot have that many channels, frames, or that rate.
    """
    channels = frames.shape[1]
    # A negative rate is a huge one in C.
    if not 0 < rate <= 0xFFFFFFFF:
        raise errors.invalid(f"sample_rate must be in (0, 2^32), got: {rate % (1 << 64)}")
    if not 0 < channels <= 0xFFFF:
        raise errors.invalid(f"num_channels must be in (0, 2^16), got: {channels}")
    if not len(frames):
        raise errors.invalid("num_frames must be positive.")
    # The file's header has 44 bytes, and its length 32 bits.
    if 44 + frames.size * 2 > 0xFFFFFFFF:
        raise errors.invalid("Provided channels and frames cannot be encoded as a WAV.")
    with np.errstate(over="ignore"):
        scaled = (frames * np.float32(_FULL_SCALE)).astype(np.float64)
    # Halves away from zero, as C rounds; nan becomes 0.
    rounded = np.copysign(np.floor(np.abs(scaled) + 0.5), scaled)
    samples = np.nan_to_num(np.clip(rounded, -_FULL_SCALE, _FULL_SCALE - 1)).astype("<i2")
    fields = (16, 1, channels, rate, rate * 2 * channels & 0xFFFFFFFF, 2 * channels, 16)
    form = b"fmt " + struct.pack("<IHHIIHH", *fields)
    data = samples.tobytes()
    body = b"WAVE" + form + b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


def _shown(name: bytes) -> str:
    return printable(name.decode("latin-1"))


class _Reader:
    """The bytes of a file in order."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, count: int) -> bytes:
        """The next bytes."""
        if self.at > len(self.data):
            raise errors.invalid(f"Initial offset is outside data range: {self.at}")
        found = self.data[self.at : self.at + count]
        if len(found) < count:
            raise errors.invalid(_SHORT)
        self.at += count
        return found

    def expect(self, text: bytes) -> None:
        """The next bytes, which must be these."""
        found = self.take(len(text))
        if found != text:
            raise errors.invalid(
                f"Header mismatch: Expected {text.decode()} but found {_shown(found)}"
            )

    def number(self, size: int) -> int:
        """An unsigned number of so many bytes."""
        return int.from_bytes(self.take(size), "little")


def _read_format(reader: _Reader) -> tuple[int, int]:
    """The number of channels and the rate."""
    reader.expect(b"fmt ")
    size = reader.number(4)
    if size not in (16, 18):
        raise errors.invalid(f"Bad file size for WAV: Expected 16 or 18, but got{size}")
    if (code := reader.number(2)) != 1:
        raise errors.invalid(f"Bad audio format for WAV: Expected 1 (PCM), but got{code}")
    if (channels := reader.number(2)) < 1:
        raise errors.invalid(
            f"Bad number of channels for WAV: Expected at least 1, but got {channels}"
        )
    rate, per_second, per_frame = reader.number(4), reader.number(4), reader.number(2)
    if (bits := reader.number(2)) != 16:
        raise errors.invalid(f"Can only read 16-bit WAV files, but received {bits}")
    if per_frame != 2 * channels:
        raise errors.invalid(
            f"Bad bytes per sample in WAV header: Expected {2 * channels} but got {per_frame}"
        )
    if per_second != (expected := per_frame * rate & 0xFFFFFFFF):
        raise errors.invalid(
            f"Bad bytes per second in WAV header: Expected {expected} but got {per_second} "
            f"(sample_rate={rate}, bytes_per_sample={per_frame})"
        )
    # Two bytes that nobody uses.
    reader.at += size - 16
    return channels, rate


def decode(data: bytes) -> tuple[np.ndarray, int]:
    """The samples of a WAV file, float32 [frames, channels], and its rate.

    Raises:
        InvalidArgumentError: the file is damaged, or not of 16 bits per sample.
    """
    reader = _Reader(data)
    reader.expect(b"RIFF")
    reader.take(4)
    reader.expect(b"WAVE")
    channels, rate = _read_format(reader)
    found: np.ndarray | None = None
    while reader.at < len(data):
        kind, size = reader.take(4), reader.number(4)
        if size > _LARGEST_CHUNK:
            raise errors.invalid(
                f"WAV data chunk '{_shown(kind)}' is too large: {size} bytes, but the limit is "
                f"{_LARGEST_CHUNK}"
            )
        if kind != b"data":
            reader.at += size
            continue
        if found is not None:
            raise errors.invalid("More than one data chunk found in WAV")
        frames = size // (2 * channels)
        samples = np.frombuffer(reader.take(frames * channels * 2), "<i2")
        found = samples.reshape(frames, channels).astype(np.float32) * np.float32(1 / _FULL_SCALE)
    if found is None:
        raise errors.invalid("No data chunk found in WAV")
    return found, rate
