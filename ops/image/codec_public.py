# SPDX-License-Identifier: Apache-2.0
"""`tf.image.is_jpeg` and `tf.image.decode_image`, which chooses the decoder when it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...engine.api import export
from ...engine.types import dtypes
from ..public import raw, tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.tensor import Tensor


@export("io.is_jpeg", "image.is_jpeg")
def is_jpeg(contents: TensorLike, name: str | None = None) -> Tensor:
    """Whether a string begins as JPEG files do.

    Args:
        contents: a string.
        name: of the scope of the operations.

    Returns:
        A bool tensor, which is true for some strings that are no JPEG files, too.

    Example:
        >>> bool(tf.Session().run(tf.image.is_jpeg(b"\\xff\\xd8\\xff\\xe0")))
        True
    """
    with tf.name_scope(name, "is_jpeg"):
        return tf.equal(raw.Substr(contents, 0, 3), b"\xff\xd8\xff", name=name)


def _of_dtype(pixels: Tensor, dtype: DTypeLike) -> Tensor:
    convert: Callable[..., Tensor] = getattr(tf, "image.convert_image_dtype")
    return convert(pixels, dtype)


def _is_png(contents: TensorLike, name: str | None = None) -> Tensor:
    with tf.name_scope(name, "is_png"):
        return tf.equal(raw.Substr(contents, 0, 3), b"\x89PN", name=name)


def _bmp(contents: TensorLike, channels: int, dtype: DTypeLike) -> Tensor:
    is_bmp = tf.equal(raw.Substr(contents, 0, 2), "BM", name="is_bmp")
    found = tf.Assert(is_bmp, ["Unable to decode bytes as JPEG, PNG, GIF, or BMP"])
    is_possible = tf.not_equal(channels, 1, name="check_channels")
    allowed = tf.Assert(is_possible, ["Channels must be in (None, 0, 3) when decoding BMP images"])
    with tf.control_dependencies([found, allowed]):
        return _of_dtype(raw.DecodeBmp(contents), dtype)


def _gif(contents: TensorLike, channels: int, dtype: DTypeLike, with_frames: bool) -> Tensor:
    is_possible = tf.logical_and(
        tf.not_equal(channels, 1, name="check_gif_channels"),
        tf.not_equal(channels, 4, name="check_gif_channels"),
    )
    allowed = tf.Assert(is_possible, ["Channels must be in (None, 0, 3) when decoding GIF images"])
    with tf.control_dependencies([allowed]):
        frames = _of_dtype(raw.DecodeGif(contents), dtype)
        return frames if with_frames else tf.gather(frames, 0)


def _png(contents: TensorLike, channels: int | None, dtype: DTypeLike) -> Tensor:
    wanted = dtypes.uint8 if dtypes.as_dtype(dtype) == dtypes.uint8 else dtypes.uint16
    return _of_dtype(raw.DecodePng(contents, channels, dtype=wanted), dtype)


def _jpeg(contents: TensorLike, channels: int | None, dtype: DTypeLike) -> Tensor:
    is_possible = tf.not_equal(channels or 0, 4, name="check_jpeg_channels")
    text = "Channels must be in (None, 0, 1, 3) when decoding JPEG images"
    with tf.control_dependencies([tf.Assert(is_possible, [text])]):
        return _of_dtype(raw.DecodeJpeg(contents, channels), dtype)


@export("io.decode_image", "image.decode_image")
def decode_image(
    contents: TensorLike,
    channels: int | None = None,
    dtype: DTypeLike = dtypes.uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Tensor:
    """The pixels of a JPEG, PNG, GIF or BMP file, whichever a string turns out to be.

    Args:
        contents: a string.
        channels: how many the result has; 0 or None: as the file has.
        dtype: of the result; other values are scaled as by `tf.image.convert_image_dtype`.
        name: of the scope of the operations.
        expand_animations: whether GIF files give [frames, height, width, 3]; otherwise their first
            frame.

    Returns:
        A tensor [height, width, channels] of `dtype`, but for GIF files; its static shape is
        unknown.

    Raises:
        ValueError: `channels` is not 0, 1, 3, 4 or None.
        InvalidArgumentError: when it runs: contents is no such file, is damaged or too large, or
            its format does not have that many channels.

    Example:
        >>> file = tf.image.encode_png(tf.zeros([2, 3, 1], tf.uint8))
        >>> tf.Session().run(tf.image.decode_image(file)).shape
        (2, 3, 1)
    """
    with tf.name_scope(name, "decode_image"):
        if channels not in (None, 0, 1, 3, 4):
            raise ValueError("channels must be in (None, 0, 1, 3, 4)")
        start = raw.Substr(contents, 0, 3)

        def check_gif() -> Tensor:
            return tf.cond(
                tf.equal(start, b"GIF", name="is_gif"),
                lambda: _gif(contents, channels or 0, dtype, expand_animations),
                lambda: _bmp(contents, channels or 0, dtype),
                name="cond_gif",
            )

        def check_png() -> Tensor:
            decode: Callable[[], Tensor] = lambda: _png(contents, channels, dtype)  # noqa: E731
            return tf.cond(_is_png(contents), decode, check_gif, name="cond_png")

        return tf.cond(
            is_jpeg(contents),
            lambda: _jpeg(contents, channels, dtype),
            check_png,
            name="cond_jpeg",
        )
