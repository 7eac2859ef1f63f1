# SPDX-License-Identifier: Apache-2.0
"""Windows of images around given places; what lies outside of an image is noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import Tensor
from ...engine.types.shape import TensorShape, shape_text
from .. import shape_inference
from ..public import raw

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext


def _noise_kind(c: KernelContext) -> str:
    is_uniform, noise = c.attr("uniform_noise"), c.attr("noise")
    noise = noise.decode() if isinstance(noise, bytes) else noise
    if noise not in ("", "uniform", "gaussian", "zero"):
        raise errors.invalid(f"The noise could only be uniform, gaussian, or zero, got{noise}")
    return noise or ("uniform" if is_uniform else "gaussian")


def _check(images: np.ndarray, size: np.ndarray, offsets: np.ndarray) -> None:
    if images.ndim != 4:
        raise errors.invalid(
            "input must be 4-dimensional (batch_size, height, width, depth)"
            f"{shape_text(images.shape)}"
        )
    if size.shape != (2,):
        raise errors.invalid(
            f"input must be a vector of size 2 (height, width){shape_text(size.shape)}"
        )
    if offsets.ndim != 2:
        raise errors.invalid(f"input must be a matrix{shape_text(offsets.shape)}")
    if len(offsets) != len(images):
        raise errors.invalid(f"first dimension should be batch{shape_text(offsets.shape)}")
    if offsets.shape[1] != 2:
        raise errors.invalid(
            f"second dimension should be of size 2 (y,x){shape_text(offsets.shape)}"
        )
    if (size < 0).any():
        raise errors.invalid(f"Dimension {int(size.min())} must be >= 0")


def _starts(c: KernelContext, sides: Any, size: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The first row and column of each window."""
    two = np.float32(2)
    places = offsets
    if c.attr("normalized"):
        places = places * np.array(sides, np.float32)
    if c.attr("centered"):
        places = places / two + np.array(sides, np.float32) / two
    return np.trunc(places - size.astype(np.float32) / two)


def _span(start: int, length: int, side: int) -> tuple[slice, slice, bool]:
    """Of a window: what of it the image covers, what of the image that is, whether some is not.

    A window that reaches beyond both ends shows the image's first part at its end, as in
    TensorFlow.
    """
    if start < 0:
        seen = max(0, length + start)
        return (
            slice(length - seen, length - seen + min(side, seen)),
            slice(0, min(side, seen)),
            True,
        )
    seen = length
    if start + length >= side:
        seen = max(0, side - start)
        return slice(0, min(side, seen)), slice(start, start + min(side, seen)), True
    return slice(0, length), slice(start, start + length), False


def _noise(kind: str, image: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """What TensorFlow draws of the clock, and no seed makes again."""
    if kind == "zero":
        return np.zeros(shape, np.float32)
    if not image.size:
        return np.full(shape, np.nan, np.float32)
    random = np.random.default_rng()
    if kind == "uniform":
        low = image.min()
        return low + random.random(shape, np.float32) * (image.max() - low)
    mean, deviation = image.mean((0, 1)), image.std((0, 1))
    drawn = mean + random.standard_normal(shape, np.float32) * deviation
    return np.clip(drawn, image.min((0, 1)), image.max((0, 1)))


def _glimpses(
    c: KernelContext, images: np.ndarray, size: np.ndarray, offsets: np.ndarray
) -> np.ndarray:
    kind = _noise_kind(c)
    _check(images, size, offsets)
    height, width = images.shape[1:3]
    tall, wide = int(size[0]), int(size[1])
    result = np.empty((len(images), tall, wide, images.shape[3]), np.float32)
    if not result.size:
        return result
    for i, (y, x) in enumerate(_starts(c, (height, width), size, offsets)):
        rows, from_rows, below = _span(_whole(y), tall, height)
        columns, from_columns, beside = _span(_whole(x), wide, width)
        if below or beside:
            result[i] = _noise(kind, images[i], result.shape[1:])
        result[i, rows, columns] = images[i, from_rows, from_columns]
    return result


def _whole(place: Any) -> int:
    """As an integer; what is too large for one lies outside all the same."""
    return int(place) if abs(place) < 2.0**62 else -(2**62)


def _shape(c: ShapeContext) -> TensorShape:
    images = shape_inference.ranked(c.inputs[0], 4)
    offsets = shape_inference.ranked(c.inputs[2], 2)
    count = shape_inference.merge_dim(images[0], offsets[0])
    shape_inference.require_dim(offsets[1], 2)
    noise = c.attr("noise")
    if c.attr("uniform_noise") and noise not in ("", "uniform", b"", b"uniform"):
        raise ValueError("The uniform_noise and noise should not be specified at the same time")
    sizes = shape_inference.ranked(c.inputs[1], 1)
    shape_inference.require_dim(sizes[0], 2)
    size = c.value(1)
    tall, wide = (None, None) if size is None else (int(size[0]), int(size[1]))
    return TensorShape([count, tall, wide, images[3]])


define(
    "ExtractGlimpse",
    "input: float32, size: int32, offsets: float32 -> glimpse: float32",
    "centered: bool = true; normalized: bool = true; uniform_noise: bool = true; "
    "noise: string = 'uniform'",
    shape=_shape,
    kernel=_glimpses,
    gradient=NoGradient("TensorFlow has no gradient of it", silent=True),
    doc="Windows of images around given places.",
    test=lambda: {
        "values": [
            [
                np.arange(40, dtype=np.float32).reshape(2, 5, 4, 1),
                np.array([3, 2], np.int32),
                np.array([[0.1, -0.2], [0.7, 0.9]], np.float32),
            ]
        ],
        "attrs": [
            {"uniform_noise": False, "noise": b"zero"},
            {"uniform_noise": False, "noise": b"zero", "centered": False, "normalized": False},
        ],
    },
)


@export("image.extract_glimpse")
def extract_glimpse(
    input: TensorLike,
    size: TensorLike,
    offsets: TensorLike,
    centered: bool = True,
    normalized: bool = True,
    uniform_noise: bool = True,
    name: str | None = None,
) -> Tensor:
    """Windows of images around given places; what lies outside of an image is noise.

    Args:
        input: a float32 tensor, [batch, height, width, channels].
        size: two int32s, the height and width of the windows.
        offsets: a float32 tensor, [batch, 2]: the (y, x) of their middles.
        centered: whether (0, 0) is the middle of an image; else its upper left corner.
        normalized: whether 1 is the end of an image; else places are counted in pixels.
        uniform_noise: whether noise is drawn uniformly; else from a normal distribution.
        name: a name for the operation.

    Returns:
        A float32 tensor, [batch, window height, window width, channels].

    Example:
        >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
        >>> glimpse = tf.image.extract_glimpse(image, [1, 1], [[0.0, 0.0]])
        >>> tf.Session().run(glimpse).item()
        4.0
    """
    return raw.ExtractGlimpse(
        input,
        size,
        offsets,
        centered=centered,
        normalized=normalized,
        uniform_noise=uniform_noise,
        name=name,
    )


def extract_glimpse_v2(
    input: TensorLike,
    size: TensorLike,
    offsets: TensorLike,
    centered: bool = True,
    normalized: bool = True,
    noise: str = "uniform",
    name: str | None = None,
) -> Tensor:
    """`tf.image.extract_glimpse` whose noise is "uniform", "gaussian" or "zero"."""
    return raw.ExtractGlimpse(
        input,
        size,
        offsets,
        centered=centered,
        normalized=normalized,
        noise=noise,
        uniform_noise=False,
        name=name,
    )
