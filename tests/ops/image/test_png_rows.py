# SPDX-License-Identifier: Apache-2.0
"""PNG files whose rows a kernel restores are what Pillow makes of them, the damaged ones too."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from numbaflow.engine import settings
from numbaflow.ops.image import png_decoding
from numbaflow.ops.image.codec_samples import PNG
from numbaflow.ops.image.png_chunks import (
    SAMPLES,
    SIGNATURE,
    BadHeader,
    BadPixels,
    chunk,
    header_chunk,
    read_header,
)

pytestmark = pytest.mark.cpu
WIDTH = 7
# One row for each filter behind each other one, or so.
FILTERS = [0, 1, 2, 3, 4, 4, 3, 2, 1, 0, 4]
FORMS = [(0, 8), (2, 8), (4, 8), (6, 8), (0, 16), (6, 16)]


def _decoded(file: bytes, mode: str, channels: int = 0, bits: int = 8) -> list[int] | str:
    with settings.override(jit=mode):
        try:
            return png_decoding.decode(file, read_header(file), channels, bits).tolist()
        except (BadHeader, BadPixels) as error:
            return type(error).__name__


def _filtered(rows: np.ndarray, distance: int) -> bytes:
    """Rows with the filters of `FILTERS`, by the words of the format's definition."""
    around = np.zeros((len(rows) + 1, distance + rows.shape[1]), int)
    around[1:, distance:] = rows
    lines = b""
    for row, number in enumerate(FILTERS):
        above, corner, left = (
            around[row, distance:],
            around[row, :-distance],
            around[row + 1, :-distance],
        )
        distances = np.abs(left + above - corner - np.stack([left, above, corner]))
        nearest = np.choose(distances.argmin(0), [left, above, corner])
        guess = [0 * left, left, above, (left + above) // 2, nearest][number]
        lines += bytes([number]) + ((rows[row] - guess) % 256).astype(np.uint8).tobytes()
    return lines


def _file(lines: bytes, color_type: int, bits: int) -> bytes:
    head = SIGNATURE + header_chunk(WIDTH, len(FILTERS), bits, color_type)
    packed = zlib.compress(lines)
    body = chunk(b"IDAT", packed[:50]) + chunk(b"IDAT", packed[50:])
    return head + body + chunk(b"IEND", b"")


@pytest.mark.parametrize(("color_type", "bits"), FORMS)
def test_rows_of_all_filters_are_restored(color_type: int, bits: int) -> None:
    distance, random = SAMPLES[color_type] * bits // 8, np.random.RandomState(bits + color_type)
    rows = random.randint(0, 256, (len(FILTERS), WIDTH * distance)).astype(np.uint8)
    lines = _filtered(rows, distance)
    file = _file(lines, color_type, bits)
    pixels = rows.reshape(len(FILTERS), WIDTH, distance)
    expected = pixels.view(">u2") if bits == 16 else pixels
    assert _decoded(file, "auto", bits=bits) == expected.tolist()
    assert _decoded(file, "never", bits=bits) == expected.tolist()


def test_there_are_no_more_filters() -> None:
    lines = _filtered(np.zeros((len(FILTERS), WIDTH), np.uint8), 1)
    assert _decoded(_file(b"\x05" + lines[1:], 0, 8), "auto") == "BadPixels"


@pytest.mark.parametrize("changed", ["short", "long", "cut", "checksum", "bits"])
def test_what_is_wrong_is_what_pillow_says(changed: str) -> None:
    random = np.random.RandomState(7)
    rows = random.randint(0, 256, (len(FILTERS), WIDTH * 3)).astype(np.uint8)
    lines = _filtered(rows, 3)
    packed = bytearray(zlib.compress(lines))
    if changed == "short":
        packed = bytearray(zlib.compress(lines[:-9]))
    elif changed == "long":
        packed = bytearray(zlib.compress(lines + b"abc"))
    elif changed == "cut":
        packed = packed[:-20]
    elif changed == "checksum":
        packed[-1] ^= 1
    else:
        packed[len(packed) // 2] ^= 64
    head = SIGNATURE + header_chunk(WIDTH, len(FILTERS), 8, 2)
    file = head + chunk(b"IDAT", bytes(packed)) + chunk(b"IEND", b"")
    assert _decoded(file, "auto") == _decoded(file, "never")


def test_files_of_tensorflows_samples_and_damaged_ones() -> None:
    random = np.random.RandomState(5)
    file = bytearray(PNG)
    assert isinstance(_decoded(bytes(file), "auto", 3), list)
    for _ in range(200):
        damaged = bytearray(file)
        damaged[random.randint(8, len(file))] = random.randint(256)
        for channels in (0, 3):
            found = _decoded(bytes(damaged), "auto", channels)
            assert found == _decoded(bytes(damaged), "never", channels)
