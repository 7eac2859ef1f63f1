# SPDX-License-Identifier: Apache-2.0
"""Hue, saturation and value of colours changed as brightness and two differences: one product."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import shape_text
from ...jit.kernel import scalar as k
from .. import shape_inference

if TYPE_CHECKING:
    from ...engine.graph.kernel_context import KernelContext
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_TO_YIQ = ((0.299, 0.587, 0.114), (0.596, -0.274, -0.322), (0.211, -0.523, 0.312))
_TO_RGB = (
    (1.0, 0.95617069, 0.62143257),
    (1.0, -0.2726886, -0.64681324),
    (1.0, -1.103744, 1.70062309),
)


def _sum_of_products(lefts: Any, rights: Any) -> Any:
    return reduce(k.add, [k.mul(left, right) for left, right in zip(lefts, rights)])


def _shares(hue: Any, saturation: Any, value: Any) -> tuple[Any, ...]:
    """What of red, green and blue each of the three becomes, in nine numbers: a scalar body."""
    scale = k.mul(value, saturation)
    cos, sin = k.mul(scale, k.cos(hue)), k.mul(scale, k.sin(hue))
    rows = []
    for y, i, q in _TO_RGB:
        turned = (
            k.mul(value, y),
            k.add(k.mul(cos, i), k.mul(sin, q)),
            k.sub(k.mul(cos, q), k.mul(sin, i)),
        )
        rows += [_sum_of_products(turned, column) for column in zip(*_TO_YIQ)]
    return tuple(rows)


def _adjusted(
    c: KernelContext,
    images: np.ndarray,
    hue: np.ndarray,
    saturation: np.ndarray,
    value: np.ndarray,
) -> np.ndarray:
    if images.ndim < 3:
        raise errors.invalid(f"input must be at least 3-D, got shape{shape_text(images.shape)}")
    given = {"delta_h": hue, "scale_s": saturation, "scale_v": value}
    for name, number in given.items():
        if np.ndim(number):
            raise errors.invalid(f"{name} must be scalar: {shape_text(np.shape(number))}")
    if images.shape[-1] != 3:
        raise errors.invalid(
            f"input must have 3 channels but instead has {images.shape[-1]} channels."
        )
    with np.errstate(all="ignore"):
        shares = _shares(*(np.asarray(number, np.float32) for number in given.values()))
        channels = [images[..., i] for i in range(3)]
        found = [_sum_of_products(channels, shares[i : i + 3]) for i in (0, 3, 6)]
    return np.stack(found, -1).astype(images.dtype)


def _lower(
    b: Builder, op: OpView, images: Value, hue: Value, saturation: Value, value: Value
) -> Any:
    if images.dtype != "float32":
        return NotImplemented
    b.require(images.ndim >= 3 and b.equal(images.shape[-1], 3))
    b.require(not (hue.ndim or saturation.ndim or value.ndim))
    shares = b.map(_shares, hue, saturation, value)
    one = (*images.shape[:-1], 1)
    channels = [b.slice(images, [0] * (images.ndim - 1) + [i], one) for i in range(3)]
    found = [
        b.map(lambda *v: _sum_of_products(v[:3], v[3:]), *channels, *shares[i : i + 3])
        for i in (0, 3, 6)
    ]
    return b.concat(found, images.ndim - 1)


define(
    "AdjustHsvInYiq",
    "images: T, delta_h: float32, scale_s: float32, scale_v: float32 -> output: T",
    "T: {uint8, int8, int16, int32, int64, half, float32, float64}",
    shape=shape_inference.images,
    kernel=_adjusted,
    lower=_lower,
    gradient=NoGradient("TensorFlow has no gradient of it"),
    doc="Colours whose hue is turned and whose saturation and value are scaled.",
    test=lambda: {
        "values": [
            [
                np.linspace(0, 1, 24).reshape(2, 2, 2, 3).astype(np.float32),
                np.float32(0.7),
                np.float32(1.25),
                np.float32(0.5),
            ]
        ]
    },
)
