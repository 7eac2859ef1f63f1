# SPDX-License-Identifier: Apache-2.0
"""Ops on images that graphs of 2015 and 2016 have: random windows, contrast within limits.

TensorFlow makes no such nodes any more, but runs those that old GraphDefs hold (the deprecations in
core/ops/image_ops.cc).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape, shape_text
from .. import shape_inference
from ..random.random_ops import stream

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext

_GONE = NoGradient("TensorFlow has no gradient of it")
_TYPES = "T: {uint8, int8, int16, int32, int64, float32, float64}"


def _image() -> np.ndarray:
    return np.arange(36, dtype=np.float32).reshape(3, 4, 3)


def _crop(c: KernelContext, image: np.ndarray, size: np.ndarray) -> np.ndarray:
    if image.ndim != 3:
        raise errors.invalid(f"input must be 3-dimensional{shape_text(image.shape)}")
    if size.ndim != 1:
        raise errors.invalid(f"shape_t must be 1-dimensional{shape_text(size.shape)}")
    if size.size != 2:
        raise errors.invalid(f"shape_t must have two elements{shape_text(size.shape)}")
    height, width = image.shape[:2]
    tall, wide = (int(n) for n in size)
    for name, has, wants in (("width", width, wide), ("height", height, tall)):
        if has < wants:
            text = f"{name} must be >= target_{name}: {name} = {has}, target_{name} = {wants}"
            raise errors.failed_precondition(text)
    # One number for each direction in which there is a choice, the width's first; a block of four
    # is taken in any case (random_crop_op.cc).
    drawn = iter(stream(c).reserve(1).blocks(1)[0].tolist())
    left = next(drawn) % (width - wide + 1) if width > wide else 0
    top = next(drawn) % (height - tall + 1) if height > tall else 0
    return image[top : top + tall, left : left + wide].copy()


def _cropped_shape(c: ShapeContext) -> TensorShape:
    channels = shape_inference.ranked(c.inputs[0], 3)[2]
    shape_inference.merge(c.inputs[1], TensorShape([2]))
    return TensorShape([*shape_inference.ranked(c.value_as_shape(1), 2), channels])


define(
    "RandomCrop",
    "image: T, size: int64 -> output: T",
    f"{_TYPES}; seed: int = 0; seed2: int = 0",
    shape=_cropped_shape,
    kernel=_crop,
    gradient=_GONE.silently,
    stateful=True,
    doc="A window of an image, at a random place.",
    test=lambda: {"values": [[_image(), np.array([2, 3])]], "attrs": [{"seed": 1, "seed2": 2}]},
)


def _contrast(
    c: KernelContext, images: np.ndarray, factor: np.ndarray, least: np.ndarray, most: np.ndarray
) -> np.ndarray:
    if images.ndim < 3:
        raise errors.invalid(f"input must be at least 3-D, got shape{shape_text(images.shape)}")
    for name, given in (("contrast_factor", factor), ("min_value", least), ("max_value", most)):
        if given.ndim:
            raise errors.invalid(f"{name} must be scalar: {shape_text(given.shape)}")
    values = images.astype(np.float32)
    if not values.size:
        return values
    with np.errstate(all="ignore"):
        total = values.sum((-3, -2), dtype=np.float64, keepdims=True).astype(np.float32)
        mean = total / np.float32(images.shape[-3] * images.shape[-2])
        return np.maximum(np.minimum((values - mean) * factor + mean, most), least)


def _contrast_shape(c: ShapeContext) -> TensorShape:
    for limit in c.inputs[1:]:
        shape_inference.ranked(limit, 0)
    shape_inference.ranked_at_least(c.inputs[0], 3)
    return c.inputs[0]


define(
    "AdjustContrast",
    "images: T, contrast_factor: float32, min_value: float32, max_value: float32 "
    "-> output: float32",
    _TYPES,
    shape=_contrast_shape,
    kernel=_contrast,
    gradient=_GONE,
    doc="Images whose channels differ more, or less, from their means, within limits.",
    test=lambda: {"values": [[_image(), np.float32(1.7), np.float32(0), np.float32(30)]]},
)
