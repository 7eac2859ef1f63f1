# SPDX-License-Identifier: Apache-2.0
"""The ops that put pictures (as PNG, by Pillow) and sounds (as WAV) into Summary messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.types.shape import TensorShape, shape_text
from ..audio import wav
from ..image.png_encoding import encode
from .summary_ops import FOR_PEOPLE, only_tag, serialized

if TYPE_CHECKING:
    from ...engine.graph.kernel_context import KernelContext

# Pictures

_DEPTHS = (1, 3, 4)
# Pictures whose values are all below that are black (kernels/summary_image_op.cc, kZeroThreshold).
_LEAST = 1e-6


def _affine(least: np.float32, largest: np.float32) -> tuple[np.float32, float]:
    """Scale and offset that take values into 0..255, or around 128 if some are negative."""
    top = max(abs(least), abs(largest)) if least < 0 else largest
    with np.errstate(over="ignore"):
        range_ = np.float32(127.0 if least < 0 else 255.0)
        scale = np.float32(0) if top < _LEAST else range_ / np.float32(top)
    return scale, 128.0 if least < 0 else 0.0


def _bytes_of(pixels: np.ndarray, bad_color: np.ndarray) -> np.ndarray:
    """Float pixels [n, depth] scaled into bytes, with a colour for those that are not finite."""
    known = np.isfinite(pixels)
    is_finite = None if known.all() else known.all(axis=1)
    with np.errstate(over="ignore", invalid="ignore"):
        finite = (pixels if is_finite is None else pixels[is_finite]).astype(np.float32, copy=False)
        least = finite.min(initial=np.float32(np.inf))
        largest = finite.max(initial=np.float32(-np.inf))
        scale, offset = (pixels.dtype.type(x) for x in _affine(least, largest))
        scaled = (pixels * scale + offset).astype(np.int64).astype(np.uint8)
    if is_finite is None:
        return scaled
    return np.where(is_finite[:, None], scaled, bad_color[: pixels.shape[1]])


def _image_summary(c: KernelContext, tag: np.ndarray, tensor: np.ndarray) -> np.ndarray:
    from ...io.protos import Summary

    text, message = only_tag(tag, "Tags must be a scalar"), Summary()
    add_pictures(message, text, tensor, c.attr("max_images"), c.attr("bad_color"))
    return serialized(message)


def add_pictures(
    message: Any, tag: str, tensor: np.ndarray, most: int, bad_color: np.ndarray
) -> None:
    """Puts the first pictures of a batch into a Summary."""
    from ...io.protos import Summary

    if tensor.ndim != 4 or tensor.shape[3] not in _DEPTHS:
        raise errors.invalid(
            f"Tensor must be 4-D with last dim 1, 3, or 4, not {shape_text(tensor.shape)}"
        )
    count, height, width, depth = tensor.shape
    if not height * width:
        raise errors.invalid(
            f"input tensor must have non-zero dims. Found: [{count}, {height}, {width}, {depth}]."
        )
    if tensor.dtype != np.uint8 and bad_color.size < depth:
        raise errors.invalid(
            f"expected depth <= bad_color.size, got depth = {depth}, "
            f"bad_color.size = {bad_color.size}"
        )
    for place, picture in _tagged(most, f"{tag}/image", tensor):
        if picture.dtype != np.uint8:
            picture = _bytes_of(picture.reshape(-1, depth), bad_color).reshape(picture.shape)
        message.value.add(tag=place).image.MergeFrom(
            Summary.Image(
                height=height, width=width, colorspace=depth, encoded_image_string=encode(picture)
            )
        )


def _tagged(most: int, tag: str, items: np.ndarray) -> Any:
    """The first items with their tags: numbered if there may be several."""
    for i, item in enumerate(items[:most]):
        yield (f"{tag}/{i}" if most > 1 else tag), item


define(
    "ImageSummary",
    "tag: string, tensor: T -> summary: string",
    "max_images: int >= 1 = 3; T: {uint8, float32, half, float64} = float32; "
    "bad_color: tensor = uint8[255, 0, 0, 255]",
    shape=lambda c: TensorShape([]),
    kernel=_image_summary,
    is_native=True,
    gradient=FOR_PEOPLE,
    doc="A Summary message with the first pictures of a batch [count, height, width, depth].",
    test=lambda: {"values": [[np.array(b"a", object), np.array([[[[1.5], [-2]]]], np.float32)]]},
)

# Sounds


def _audio_summary(
    c: KernelContext, tag: np.ndarray, tensor: np.ndarray, sample_rate: np.ndarray | None = None
) -> np.ndarray:
    from ...io.protos import Summary

    text, message = only_tag(tag, "Tag must be a scalar"), Summary()
    rate = np.float32(c.attr("sample_rate") if sample_rate is None else sample_rate.item())
    add_sounds(message, text, tensor, c.attr("max_outputs"), rate)
    return serialized(message)


def add_sounds(message: Any, tag: str, tensor: np.ndarray, most: int, rate: np.float32) -> None:
    """Puts the first sounds of a batch into a Summary."""
    from ...io.protos import Summary

    if tensor.ndim not in (2, 3):
        raise errors.invalid(f"Tensor must be 3-D or 2-D, got: {shape_text(tensor.shape)}")
    if not rate > 0:
        raise errors.invalid("sample_rate must be > 0")
    sounds = tensor[:, :, None] if tensor.ndim == 2 else tensor
    for place, sound in _tagged(most, f"{tag}/audio", sounds):
        message.value.add(tag=place).audio.MergeFrom(
            Summary.Audio(
                sample_rate=float(rate),
                num_channels=sound.shape[1],
                length_frames=sound.shape[0],
                content_type="audio/wav",
                encoded_audio_string=wav.encode(sound, max(1, int(np.rint(rate)))),
            )
        )


define(
    "AudioSummary",
    "tag: string, tensor: float32 -> summary: string",
    "sample_rate: float; max_outputs: int >= 1 = 3",
    shape=lambda c: TensorShape([]),
    kernel=_audio_summary,
    is_native=True,
    gradient=FOR_PEOPLE,
    doc="A Summary message with the first sounds of a batch [count, frames] or [.., channels].",
    test=lambda: {
        "values": [[np.array(b"a", object), np.array([[0.5, -0.5]], np.float32)]],
        "attrs": [{"sample_rate": 8000.0}],
    },
)
define(
    "AudioSummaryV2",
    "tag: string, tensor: float32, sample_rate: float32 -> summary: string",
    "max_outputs: int >= 1 = 3",
    shape=lambda c: TensorShape([]),
    kernel=_audio_summary,
    is_native=True,
    gradient=FOR_PEOPLE,
    doc="`AudioSummary` whose sample rate is a tensor.",
    test=lambda: {
        "values": [[np.array(b"a", object), np.array([[0.5, -0.5]], np.float32), np.float32(8000)]]
    },
)
