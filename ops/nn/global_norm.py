# SPDX-License-Identifier: Apache-2.0
"""The batch normalization of early TensorFlow programs, as one op, and its gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape
from ..public import raw
from . import window as nw

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor

_ATTRS = "T: numbertype; variance_epsilon: float; scale_after_normalization: bool"


def _depth(c: ShapeContext, last: int | None, vectors: range) -> Any:
    """The common size of the channels."""
    for i in vectors:
        (size,) = nw.known_dims(c.inputs[i], 1)
        if None not in (last, size) and last != size:
            raise ValueError(f"Dimensions must be equal, but are {last} and {size}")
        last = size if last is None else last
    return last


def _shape(c: ShapeContext) -> TensorShape:
    sizes = nw.known_dims(c.inputs[0], 4)
    return TensorShape([*sizes[:3], _depth(c, sizes[3], range(1, 5))])


def _gradient_shapes(c: ShapeContext) -> list[TensorShape]:
    sizes = nw.known_dims(c.inputs[0].merge_with(c.inputs[4]), 4)
    depth = _depth(c, sizes[3], range(1, 4))
    return [TensorShape([*sizes[:3], depth]), *[TensorShape([depth])] * 4]


def _normalize(
    c: KernelContext,
    x: np.ndarray,
    mean: np.ndarray,
    var: np.ndarray,
    beta: np.ndarray,
    gamma: np.ndarray,
) -> np.ndarray:
    factor = 1 / np.sqrt(var + x.dtype.type(c.attr("variance_epsilon")))
    if c.attr("scale_after_normalization"):
        factor = factor * gamma
    return ((x - mean) * factor + beta).astype(x.dtype, copy=False)


def _normalize_gradient(
    c: KernelContext,
    x: np.ndarray,
    mean: np.ndarray,
    var: np.ndarray,
    gamma: np.ndarray,
    dy: np.ndarray,
) -> tuple[np.ndarray, ...]:
    dtype = x.dtype
    inverse = 1 / np.sqrt(var + dtype.type(c.attr("variance_epsilon")))
    is_scaled = c.attr("scale_after_normalization")
    factor = inverse * gamma if is_scaled else inverse
    dbeta = dy.sum(axis=(0, 1, 2), dtype=dtype)
    products = (dy * (x - mean)).sum(axis=(0, 1, 2), dtype=dtype)
    # d(var + epsilon)**-0.5 / d(var) = -0.5 * (var + epsilon)**-1.5.
    dvar = products * dtype.type(-0.5) * factor * inverse * inverse
    dgamma = products * inverse if is_scaled else np.zeros_like(gamma)
    results = dy * factor, -dbeta * factor, dvar, dbeta, dgamma
    return tuple(value.astype(dtype, copy=False) for value in results)


def _gradient(op: Operation, grad: Tensor) -> tuple[Any, ...]:
    x, mean, var, _, gamma = op.inputs
    epsilon = op.get_attr("variance_epsilon")
    is_scaled = op.get_attr("scale_after_normalization")
    return tuple(
        raw.BatchNormWithGlobalNormalizationGrad(x, mean, var, gamma, grad, epsilon, is_scaled)
    )


_FACTS: dict[str, Any] = {
    "dtypes": ["float32", "float64"],
    "ranges": [(-2, 2), (-1, 1), (0.5, 2)],
    "attrs": [
        {"variance_epsilon": 0.01, "scale_after_normalization": is_scaled}
        for is_scaled in (True, False)
    ],
}

define(
    "BatchNormWithGlobalNormalization",
    "t: T, m: T, v: T, beta: T, gamma: T -> result: T",
    _ATTRS,
    shape=_shape,
    kernel=_normalize,
    gradient=_gradient,
    doc="Batch normalization with given moments: (t - m) / sqrt(v + epsilon) * gamma + beta.",
    test=lambda: {**_FACTS, "shapes": [[[2, 3, 3, 4], [4], [4], [4], [4]]]},
)
define(
    "BatchNormWithGlobalNormalizationGrad",
    "t: T, m: T, v: T, gamma: T, backprop: T -> dx: T, dm: T, dv: T, db: T, dg: T",
    _ATTRS,
    shape=_gradient_shapes,
    kernel=_normalize_gradient,
    gradient=NoGradient("TensorFlow has no second gradient of this op"),
    doc="The gradients of BatchNormWithGlobalNormalization.",
    test=lambda: {**_FACTS, "shapes": [[[2, 3, 3, 4], [4], [4], [4], [2, 3, 3, 4]]]},
)
