# SPDX-License-Identifier: Apache-2.0
"""Arrays as JPEG files, by Pillow's libjpeg-turbo."""

from __future__ import annotations

import io
import struct

import numpy as np

from ...engine import errors
from ...engine.record_class import record

_MOST_PIXELS = 1 << 29
_LONGEST = 65500
_JFIF = b"\xff\xd8\xff\xe0\x00\x10JFIF\0"
_XMP = b"http://ns.adobe.com/xap/1.0/\0"
# Longest content of a segment, and of a program's metadata in it.
_LONGEST_SEGMENT = 65533
_FAILED = "JPEG encoding failed"


@record(frozen=True)
class Options:
    """How JPEG files are encoded, in TensorFlow's words."""

    quality: int = 95
    progressive: bool = False
    optimize_size: bool = False
    chroma_downsampling: bool = True
    density_unit: str = "in"
    x_density: int = 300
    y_density: int = 300
    xmp_metadata: bytes = b""


def _with_header(encoded: bytes, options: Options) -> bytes:
    """The file with TensorFlow's density and metadata in its first segments."""
    if not encoded.startswith(_JFIF):
        raise errors.internal(_FAILED)
    # Identifier, version 1.1, unit (1: inch, 2: cm), densities, no thumbnail.
    unit = {"in": 1, "cm": 2}[options.density_unit]
    densities = options.x_density & 0xFFFF, options.y_density & 0xFFFF
    jfif = _JFIF + struct.pack(">BBBHHBB", 1, 1, unit, *densities, 0, 0)
    segment = b""
    if options.xmp_metadata:
        body = _XMP + options.xmp_metadata
        if len(body) > _LONGEST_SEGMENT:
            raise errors.internal(_FAILED)
        segment = b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body
    return jfif + segment + encoded[len(jfif) :]


def encode(pixels: np.ndarray, options: Options) -> bytes:
    """uint8 [height, width, 1 or 3] as a JPEG file.

    Raises:
        InternalError: there are no pixels, or too many.
    """
    from PIL import Image

    height, width, depth = pixels.shape
    if not height * width or height * width >= _MOST_PIXELS or max(height, width) > _LONGEST:
        raise errors.internal(_FAILED)
    picture = Image.fromarray(np.ascontiguousarray(pixels[:, :, 0] if depth == 1 else pixels))
    stream = io.BytesIO()
    settings = {} if depth == 1 else {"subsampling": 2 if options.chroma_downsampling else 0}
    try:
        picture.save(
            stream,
            "JPEG",
            quality=options.quality,
            progressive=options.progressive,
            optimize=options.optimize_size,
            **settings,
        )
    except (OSError, ValueError) as error:
        raise errors.internal(f"{_FAILED}: {error}") from None
    return _with_header(stream.getvalue(), options)
