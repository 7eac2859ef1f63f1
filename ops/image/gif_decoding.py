# SPDX-License-Identifier: Apache-2.0
"""GIF files as arrays of frames, as TensorFlow composes them: on top of the frame before.

The file's blocks are read here, and Pillow takes each frame's pixels out of a file of that frame
alone: TensorFlow knows neither transparency nor disposal, which Pillow obeys.
"""

from __future__ import annotations

import io
import struct

import numpy as np

from ...engine.record_class import record

_IMAGE, _EXTENSION, _END = b",", b"!", b";"
# A colour per index, so that Pillow gives indices.
_INDICES = bytes(i for index in range(256) for i in (index, index, index))
# A code has 3 bits or more, and stands for 4096 pixels or less.
_MOST_PIXELS_PER_BYTE = 4096 * 8 // 3
# TensorFlow's limit for pictures of other formats, here for all frames together.
_MOST_PIXELS = 1 << 29


class BadGif(ValueError):
    """A file that TensorFlow refuses, with what it says."""


@record(frozen=True)
class _Frame:
    left: int
    top: int
    width: int
    height: int
    is_interlaced: bool
    # Colours, [number, 3].
    palette: np.ndarray | None
    # The length of the first codes, less one, and the blocks of codes with their lengths.
    codes: bytes


class _Reader:
    """The bytes of a file, in giflib's words when they end."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, count: int) -> bytes:
        """The next bytes."""
        end = self.at + count
        if end > len(self.data):
            raise BadGif("failed to slurp gif file: Failed to read from given file")
        found, self.at = self.data[self.at : end], end
        return found

    def blocks(self) -> bytes:
        """Blocks, each with its length, and the empty one that ends them."""
        start = self.at
        while length := self.take(1)[0]:
            self.take(length)
        return self.data[start : self.at]

    def palette(self, flags: int) -> np.ndarray | None:
        """The colours that follow if the flags say so."""
        if not flags & 0x80:
            return None
        return np.frombuffer(self.take(3 << (flags & 7) + 1), np.uint8).reshape(-1, 3)


def _frame(reader: _Reader, common: np.ndarray | None) -> _Frame:
    left, top, width, height, flags = struct.unpack("<HHHHB", reader.take(9))
    own = reader.palette(flags)
    size = reader.take(1)
    if not width or not height:
        raise BadGif("failed to slurp gif file: Unknown error")
    if not 0 < size[0] <= 8:
        raise BadGif("failed to slurp gif file: Failed to read from given file")
    codes = size + reader.blocks()
    if width * height > len(codes) * _MOST_PIXELS_PER_BYTE:
        raise BadGif("failed to slurp gif file: Image EOF detected before image complete")
    palette = common if own is None else own
    return _Frame(left, top, width, height, bool(flags & 0x40), palette, codes)


def _frames(data: bytes) -> list[_Frame]:
    reader = _Reader(data)
    if len(data) < 6:
        raise BadGif("failed to open gif file: Failed to read from given file")
    if not data.startswith(b"GIF"):
        raise BadGif("failed to open gif file: Data is not in GIF format")
    try:
        common, found = reader.palette(reader.take(13)[10]), []
    except BadGif:
        raise BadGif("failed to open gif file: No screen descriptor detected") from None
    while (kind := reader.take(1)) != _END:
        if kind == _IMAGE:
            found.append(_frame(reader, common))
        elif kind == _EXTENSION:
            reader.take(1)
            reader.blocks()
        else:
            raise BadGif("failed to slurp gif file: Wrong record type detected")
    if not found:
        raise BadGif("failed to slurp gif file: No Image Descriptor detected")
    return found


def _indices(frame: _Frame) -> np.ndarray:
    """The indices of a frame's colours, [height, width]."""
    from PIL.GifImagePlugin import GifImageFile

    size = struct.pack("<HH", frame.width, frame.height)
    flags = 0x40 if frame.is_interlaced else 0
    first = b"GIF87a" + size + b"\xf7\0\0" + _INDICES
    file = first + b",\0\0\0\0" + size + bytes((flags,)) + frame.codes + b";"
    try:
        picture = GifImageFile(io.BytesIO(file))
        picture.load()
        pixels = np.frombuffer(picture.tobytes(), np.uint8)
    except (OSError, SyntaxError, ValueError, EOFError, struct.error, IndexError) as error:
        is_short = "truncated" in str(error)
        what = (
            "EOF detected before image complete" if is_short else "is defective, decoding aborted"
        )
        raise BadGif(f"failed to slurp gif file: Image {what}") from None
    return pixels.reshape(frame.height, frame.width)


def _paint(canvas: np.ndarray, frame: _Frame, number: int) -> None:
    """A frame's colours into the picture, as far as they lie in it."""
    if frame.palette is None:
        raise BadGif(f"missing color map for frame {number}")
    area = canvas[frame.top : frame.top + frame.height, frame.left : frame.left + frame.width]
    indices = _indices(frame)[: area.shape[0], : area.shape[1]]
    count = len(frame.palette)
    if indices.size and int(indices.max()) >= count:
        worst = int(indices.reshape(-1)[int((indices.reshape(-1) >= count).argmax())])
        # TensorFlow prints the index as a character.
        raise BadGif(f"found color index {worst} outside of color map range {count}")
    area[...] = frame.palette[indices]


def decode(data: bytes) -> np.ndarray:
    """A GIF file as uint8 [frames, height, width, 3].

    Raises:
        BadGif: TensorFlow would refuse the file; in its words.
    """
    frames = _frames(data)
    height, width = max(f.height for f in frames), max(f.width for f in frames)
    if len(frames) * height * width >= _MOST_PIXELS:
        raise BadGif(f"{len(frames)} frames of {width} by {height} are too large")
    canvas = np.empty((len(frames), height, width, 3), np.uint8)
    for number, frame in enumerate(frames):
        if (frame.left, frame.top, frame.width, frame.height) != (0, 0, width, height):
            if not number:
                raise BadGif("the first frame does not fill the canvas")
            canvas[number] = canvas[number - 1]
        _paint(canvas[number], frame, number)
    return canvas
