# SPDX-License-Identifier: Apache-2.0
"""The ops that decode and encode pictures: JPEG, PNG, GIF and BMP files in strings.

DecodeJpeg, DecodePng and DecodeGif look at the contents, as in TensorFlow: each decodes all three.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.dtypes import boxed
from ...engine.types.shape import TensorShape, shape_text
from .. import shape_inference
from . import bmp_decoding, gif_decoding, jpeg_decoding, jpeg_encoding, png_decoding, png_encoding
from .codec_samples import BMP, GIF, JPEG, PNG
from .jpeg_header import BadJpeg
from .png_chunks import BadHeader, BadPixels
from .png_chunks import read_header as read_png_header

if TYPE_CHECKING:
    from ...engine.graph.build import OpFunction
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext

_FILES = NoGradient("files have no derivative")
_CHANNELS = "channels: int = 0"
_DECODING = (
    f"{_CHANNELS}; ratio: int = 1; fancy_upscaling: bool = true; "
    "try_recover_truncated: bool = false; acceptable_fraction: float = 1.0; dct_method: string = ''"
)
_STARTS = {"JPEG": b"\xff\xd8\xff", "PNG": b"\x89PNG\r\n\x1a\n", "GIF": b"GIF8"}
_MOST_PIXELS, _LONGEST_SIDE = 1 << 29, 1 << 27
_LARGEST = (1 << 31) - 1


def only_content(contents: np.ndarray) -> bytes:
    """The file in a tensor of one string."""
    if contents.ndim:
        raise errors.invalid(f"contents must be scalar, got shape {shape_text(contents.shape)}")
    return contents.item()


# Decoding


def _escaped(data: bytes) -> str:
    """The first bytes as C writes them in a string."""
    names = {10: "\\n", 13: "\\r", 9: "\\t", 34: '\\"', 39: "\\'", 92: "\\\\"}
    return "".join(
        names.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}")
        for byte in data[:16]
    )


def _format(data: bytes) -> str:
    for name, start in _STARTS.items():
        if data.startswith(start):
            return name
    what = f"unknown format starting with '{_escaped(data)}'" if data else "empty file"
    raise errors.invalid(f"Expected image (JPEG, PNG, or GIF), got {what}")


def _jpeg_options(c: KernelContext, channels: int) -> jpeg_decoding.Options:
    if c.type not in ("DecodeJpeg", "DecodeAndCropJpeg"):
        return jpeg_decoding.Options(channels)
    if c.attr("ratio") not in (1, 2, 4, 8):
        raise errors.invalid(f"ratio must be 1, 2, 4, or 8, got {c.attr('ratio')}")
    if c.attr("dct_method") not in ("", "INTEGER_FAST", "INTEGER_ACCURATE"):
        raise errors.invalid("dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}")
    return jpeg_decoding.Options(
        channels,
        c.attr("ratio"),
        c.attr("fancy_upscaling"),
        c.attr("try_recover_truncated"),
        c.attr("acceptable_fraction"),
        c.attr("dct_method"),
    )


def _window(crop_window: np.ndarray) -> jpeg_decoding.Window:
    if crop_window.ndim != 1:
        raise errors.invalid(f"crop_window must be 1-D, got shape {shape_text(crop_window.shape)}")
    if len(crop_window) != 4:
        raise errors.invalid(f"crop_size must have four elements {shape_text(crop_window.shape)}")
    y, x, height, width = crop_window.tolist()
    return y, x, height, width


def _jpeg(data: bytes, options: jpeg_decoding.Options, window: np.ndarray | None) -> np.ndarray:
    if options.channels not in (0, 1, 3):
        raise errors.invalid(f"channels must be 0, 1, or 3 for JPEG, got {options.channels}")
    crop = None if window is None else _window(window)
    try:
        return jpeg_decoding.decode(data, options, crop)
    except BadJpeg:
        raise errors.invalid(f"Invalid JPEG data or crop window, data size {len(data)}") from None


def _png(data: bytes, channels: int, bits: int) -> np.ndarray:
    try:
        header = read_png_header(data)
    except BadHeader:
        raise errors.invalid(f"Invalid PNG header, data size {len(data)}") from None
    width, height = header.width, header.height
    if max(width, height) >= _LONGEST_SIDE or width * height >= _MOST_PIXELS:
        raise errors.invalid(f"PNG size too large for int: {width} by {height}")
    try:
        return png_decoding.decode(data, header, channels, bits)
    except BadPixels:
        raise errors.invalid(f"Invalid PNG data, size {len(data)}") from None


def _gif(data: bytes, channels: int, with_frames: bool) -> np.ndarray:
    if channels not in (0, 3):
        raise errors.invalid(f"channels must be 0 or 3 for GIF, got {channels}")
    try:
        frames = gif_decoding.decode(data)
    except gif_decoding.BadGif as error:
        raise errors.invalid(f"Invalid GIF data (size {len(data)}), {error}") from None
    if with_frames:
        return frames
    if len(frames) > 1:
        raise errors.invalid(
            f"Got {len(frames)} frames, but animated gifs can only be decoded by "
            "tf.image.decode_gif or tf.image.decode_image"
        )
    return frames[0]


def _decode(c: KernelContext, contents: np.ndarray, window: np.ndarray | None = None) -> np.ndarray:
    with_frames = c.type == "DecodeGif"
    channels = 3 if with_frames else c.attr("channels")
    if channels not in (0, 1, 3, 4):
        raise errors.invalid(f"channels must be 0, 1, 3, or 4, got {channels}")
    options = c.kernel_state(lambda: _jpeg_options(c, channels))
    data = only_content(contents)
    name = _format(data)
    if len(data) > _LARGEST:
        raise errors.invalid(f"{name} contents are too large for int: {len(data)}")
    bits = c.out_dtype().itemsize * 8
    if name != "PNG" and bits == 16:
        raise errors.invalid(f"{name} does not support uint16 output")
    if name == "GIF":
        return _gif(data, channels, with_frames)
    pixels = _png(data, channels, bits) if name == "PNG" else _jpeg(data, options, window)
    return pixels[None] if with_frames else pixels


def _decode_bmp(c: KernelContext, contents: np.ndarray) -> np.ndarray:
    channels = c.attr("channels")
    if channels not in (0, 1, 3, 4):
        raise errors.invalid(f"channels must be 0, 1, 3 or 4, got {channels}")
    return bmp_decoding.decode(only_content(contents), channels)


def _channels(c: ShapeContext) -> int | None:
    shape_inference.ranked(c.inputs[0], 0)
    channels = c.attr("channels")
    if channels < 0:
        raise ValueError(f"channels must be non-negative, got {channels}")
    return channels or None


def _decoded_shape(c: ShapeContext) -> TensorShape:
    return TensorShape([None, None, _channels(c)])


def _cropped_shape(c: ShapeContext) -> TensorShape:
    channels = _channels(c)
    shape_inference.require_dim(shape_inference.ranked(c.inputs[1], 1)[0], 4)
    window = c.value(1)
    # What is negative is refused when it runs.
    size = [None, None] if window is None else [int(n) if n >= 0 else None for n in window[2:4]]
    return TensorShape([*size, channels])


def _frames_shape(c: ShapeContext) -> TensorShape:
    shape_inference.ranked(c.inputs[0], 0)
    return TensorShape([None, None, None, 3])


def _decoder(
    name: str,
    signature: str,
    attrs: str,
    doc: str,
    values: Callable[[], list[Any]],
    *,
    shape: Callable[..., Any] = _decoded_shape,
    kernel: Callable[..., Any] = _decode,
    samples: list[dict[str, Any]] | None = None,
) -> OpFunction:
    return define(
        name,
        signature,
        attrs,
        shape=shape,
        kernel=kernel,
        is_native=True,
        gradient=_FILES,
        dynamic_shape=True,
        doc=doc,
        test=lambda: {"values": [values()], "attrs": samples or [{}]},
    )


_ARGS = """
    Args:
        channels: how many the result has: 0 as the file has, 1 gray, 3 RGB{more}.{others}

    Returns:
        Its shape is [height, width, channels].

    Raises:
        InvalidArgumentError: when it runs: contents is no picture, is damaged or too large.
"""
_JPEG_ARGS = _ARGS.format(
    more="",
    others="""
        ratio: the picture is decoded at 1 / ratio of its size: 1, 2, 4 or 8.
        fancy_upscaling: whether colours are interpolated between the pixels that have them.
        try_recover_truncated: whether a file that ends early is decoded as far as it goes.
        acceptable_fraction: of the rows, that a file that ends early must have; others are 0.
        dct_method: "INTEGER_FAST", as which "" counts, or "INTEGER_ACCURATE".""",
)

decode_jpeg = _decoder(
    "DecodeJpeg",
    "contents: string -> image: uint8",
    _DECODING,
    f"The pixels of a JPEG file; of a PNG file, or a GIF file of one frame, too.\n{_JPEG_ARGS}",
    lambda: [boxed(JPEG)],
    samples=[{}, {"channels": 1}, {"ratio": 2, "fancy_upscaling": False}],
)
decode_and_crop_jpeg = _decoder(
    "DecodeAndCropJpeg",
    "contents: string, crop_window: int32 -> image: uint8",
    _DECODING,
    f"A part of a JPEG file's pixels: crop_window is [y, x, height, width].\n{_JPEG_ARGS}",
    lambda: [boxed(JPEG), np.array([1, 2, 3, 4], np.int32)],
    shape=_cropped_shape,
)
decode_png = _decoder(
    "DecodePng",
    "contents: string -> image: dtype",
    f"{_CHANNELS}; dtype: {{uint8, uint16}} = uint8",
    "The pixels of a PNG file; of a JPEG file, or a GIF file of one frame, too.\n"
    + _ARGS.format(more=", 4 RGB and alpha", others="\n        dtype: uint8 or uint16."),
    lambda: [boxed(PNG)],
    samples=[{}, {"channels": 4}],
)
decode_bmp = _decoder(
    "DecodeBmp",
    "contents: string -> image: uint8",
    _CHANNELS,
    "The pixels of a BMP file that is not compressed.\n"
    + _ARGS.format(more=", 4 RGB and alpha", others=" What the file has, or 0."),
    lambda: [boxed(BMP)],
    kernel=_decode_bmp,
)
decode_gif = _decoder(
    "DecodeGif",
    "contents: string -> image: uint8",
    "",
    """The frames of a GIF file, each on top of the one before; of a JPEG or PNG file, too.

    Returns:
        Its shape is [frames, height, width, 3].

    Raises:
        InvalidArgumentError: when it runs: contents is no picture, is damaged or too large.
    """,
    lambda: [boxed(GIF)],
    shape=_frames_shape,
)
for _function in (decode_jpeg, decode_and_crop_jpeg, decode_png, decode_bmp, decode_gif):
    export(f"io.{_function.__name__}", f"image.{_function.__name__}")(_function)


def _extract_shape(c: KernelContext, contents: np.ndarray) -> np.ndarray:
    data = only_content(contents)
    try:
        return np.array(jpeg_decoding.shape_of(data), c.out_dtype())
    except BadJpeg:
        raise errors.invalid(f"Invalid JPEG data, size {len(data)}") from None


def _extracted_shape(c: ShapeContext) -> TensorShape:
    shape_inference.ranked(c.inputs[0], 0)
    return TensorShape([3])


extract_jpeg_shape = export("io.extract_jpeg_shape", "image.extract_jpeg_shape")(
    define(
        "ExtractJpegShape",
        "contents: string -> image_shape: output_type",
        "output_type: {int32, int64} = int32",
        shape=_extracted_shape,
        kernel=_extract_shape,
        gradient=_FILES,
        doc="""The height, width and channels of a JPEG file, of which only the header is read.

        Raises:
            InvalidArgumentError: when it runs: contents is no JPEG file.
        """,
        test=lambda: {"values": [[boxed(JPEG)]]},
    )
)

# Encoding


def _encoded_shape(c: ShapeContext) -> TensorShape:
    shape_inference.ranked(c.inputs[0], 3)
    return TensorShape([])


def _check_image(image: np.ndarray, too_large: str) -> None:
    if image.ndim != 3:
        raise errors.invalid(f"image must be 3-dimensional{shape_text(image.shape)}")
    if image.size >= _LARGEST:
        raise errors.invalid(too_large)


def _check_channels(image: np.ndarray, form: str) -> None:
    wanted = {"grayscale": (1,), "rgb": (3,)}.get(form, (1, 3))
    if image.shape[2] in wanted:
        return
    if not form:
        raise errors.invalid(f"image must have 1 or 3 channels, got {shape_text(image.shape)}")
    raise errors.invalid(
        f"format {form} expects {wanted[0]} channels, got {shape_text(image.shape)}"
    )


_TOO_LARGE = "Cannot encode images with >= max int32 elements"


def _encode_jpeg(c: KernelContext, image: np.ndarray) -> np.ndarray:
    if not 0 <= c.attr("quality") <= 100:
        raise errors.invalid(f"quality must be in [0,100], got {c.attr('quality')}")
    _check_image(image, _TOO_LARGE)
    _check_channels(image, c.attr("format"))
    options = jpeg_encoding.Options(
        c.attr("quality"),
        c.attr("progressive"),
        c.attr("optimize_size"),
        c.attr("chroma_downsampling"),
        c.attr("density_unit"),
        c.attr("x_density"),
        c.attr("y_density"),
        c.attr("xmp_metadata").encode("utf-8", "surrogateescape"),
    )
    return boxed(jpeg_encoding.encode(image, options))


def _encode_variable(c: KernelContext, images: np.ndarray, quality: np.ndarray) -> np.ndarray:
    _check_image(images, _TOO_LARGE)
    if quality.ndim:
        raise errors.invalid(f"quality must be scalar: {shape_text(quality.shape)}")
    _check_channels(images, "")
    # libjpeg takes what is out of range for its end.
    options = jpeg_encoding.Options(min(max(int(quality), 0), 100))
    return boxed(jpeg_encoding.encode(images, options))


def _encode_png(c: KernelContext, image: np.ndarray) -> np.ndarray:
    compression = c.attr("compression")
    if not -1 <= compression <= 9:
        raise errors.invalid(f"compression should be in [-1,9], got {compression}")
    _check_image(image, "image cannot have >= int32 max elements")
    if image.shape[1] * image.shape[2] >= _LARGEST // 2:
        raise errors.invalid("image too wide to encode")
    if not 1 <= image.shape[2] <= 4:
        raise errors.invalid(f"image must have 1, 2, 3, or 4 channels, got {image.shape[2]}")
    return boxed(png_encoding.encode(image, compression))


def _pixels() -> np.ndarray:
    return np.arange(60, dtype=np.uint8).reshape(4, 5, 3)


encode_jpeg = export("io.encode_jpeg", "image.encode_jpeg")(
    define(
        "EncodeJpeg",
        "image: uint8 -> contents: string",
        "format: {'', 'grayscale', 'rgb'} = ''; quality: int = 95; progressive: bool = false; "
        "optimize_size: bool = false; chroma_downsampling: bool = true; "
        "density_unit: {'in', 'cm'} = 'in'; x_density: int = 300; y_density: int = 300; "
        "xmp_metadata: string = ''",
        shape=_encoded_shape,
        kernel=_encode_jpeg,
        is_native=True,
        gradient=_FILES,
        doc="""A picture [height, width, 1 or 3 channels] as a JPEG file.

        Args:
            format: "grayscale" or "rgb", which the channels must be; "": as they are.
            quality: 0 to 100.
            progressive: whether the file shows all of the picture early.
            optimize_size: whether its code is made for the picture: smaller, and slower.
            chroma_downsampling: whether colours have a quarter of the pixels.
            density_unit: of the densities that the file states: "in" or "cm".
            x_density: pixels per unit.
            y_density: pixels per unit.
            xmp_metadata: of the file, if any.

        Raises:
            InvalidArgumentError: when it runs: image has other channels, or quality is no quality.
        """,
        test=lambda: {"values": [[_pixels()]], "attrs": [{}, {"quality": 50, "progressive": True}]},
    )
)
define(
    "EncodeJpegVariableQuality",
    "images: uint8, quality: int32 -> contents: string",
    shape=_encoded_shape,
    kernel=_encode_variable,
    is_native=True,
    gradient=_FILES,
    doc="EncodeJpeg with a quality that is a tensor.",
    test=lambda: {"values": [[_pixels(), np.int32(50)]]},
)
encode_png = export("io.encode_png", "image.encode_png")(
    define(
        "EncodePng",
        "image: T -> contents: string",
        "compression: int = -1; T: {uint8, uint16} = uint8",
        shape=_encoded_shape,
        kernel=_encode_png,
        is_native=True,
        gradient=_FILES,
        doc="""A picture [height, width, 1 to 4 channels] as a PNG file.

        Args:
            compression: 0 to 9, slower and smaller; -1 chooses.

        Raises:
            InvalidArgumentError: when it runs: image has other channels.
        """,
        test=lambda: {"values": [[_pixels()]]},
    )
)
