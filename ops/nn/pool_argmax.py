# SPDX-License-Identifier: Apache-2.0
"""Max pooling that also tells where the maxima are, and its gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ..public import raw
from . import views
from .conv import _attrs_of, _ramp
from .pool import _SAMPLES, _WINDOW, _Pool, _pool_shape
from .pool_maxima import first_hits, first_maxima

if TYPE_CHECKING:
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor


def _argmax_kernel(c: KernelContext, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    pool = _Pool(c, x.shape)
    top = first_maxima(pool, x)
    numbers = np.arange(x.size, dtype=np.int64).reshape(x.shape)
    if not c.attr("include_batch_in_index"):
        # Without the batch, positions count within one image.
        numbers = np.broadcast_to(numbers[:1], x.shape) if len(x) else numbers
    padded = pool.window.pad(numbers)
    found = np.zeros(top.shape, np.int64)
    for where, hit in first_hits(pool, x):
        np.copyto(found, padded[where], where=hit)
    return top, found.astype(c.out_dtype(1))


def _scatter_argmax(
    c: KernelContext, x: np.ndarray, dy: np.ndarray, argmax: np.ndarray
) -> np.ndarray:
    result = np.zeros(x.size, dy.dtype)
    np.add.at(result, _flat(c, x, argmax), dy)
    return result.reshape(x.shape)


def _check(argmax: np.ndarray, size: int) -> None:
    if argmax.size and not 0 <= argmax.min() <= argmax.max() < size:
        raise errors.invalid(f"argmax must be in [0, {size}), got {argmax.min()} to {argmax.max()}")


def _flat(c: KernelContext, x: np.ndarray, argmax: np.ndarray) -> np.ndarray:
    """Positions in the whole input; InvalidArgumentError for those beyond it."""
    per_image = x.size // max(len(x), 1)
    _check(argmax, x.size if c.attr("include_batch_in_index") else per_image)
    if c.attr("include_batch_in_index"):
        return argmax
    return argmax + np.arange(len(x)).reshape(-1, 1, 1, 1) * per_image


def _argmax_gradient(op: Operation, grad: Tensor, _: int) -> Tensor:
    attrs = _attrs_of(op, "ksize", "strides", "padding", "include_batch_in_index")
    return raw.MaxPoolGradWithArgmax(op.inputs[0], grad, op.outputs[1], **attrs)


_ARGMAX = (
    f"{_WINDOW.format(n=4)}; include_batch_in_index: bool = false; Targmax: index; "
    "T: realnumbertype"
)
define(
    "MaxPoolWithArgmax",
    "input: T -> output: T, argmax: Targmax",
    "ksize: list(int) >= 4; strides: list(int) >= 4; Targmax: index = int64; "
    "padding: {'SAME', 'VALID'}; include_batch_in_index: bool = false; T: realnumbertype",
    shape=lambda c: [_pool_shape(4)(c)] * 2,
    kernel=_argmax_kernel,
    lower=views.lower_argmax,
    gradient=_argmax_gradient,
    doc="MaxPool and where the maxima are, as flat positions.",
    test=lambda: {"values": [[_ramp(2, 4, 4, 3)]], "attrs": _SAMPLES[4][:1]},
)
define(
    "MaxPoolGradWithArgmax",
    "input: T, grad: T, argmax: Targmax -> output: T",
    _ARGMAX,
    shape=lambda c: c.inputs[0],
    kernel=_scatter_argmax,
    lower=views.lower_argmax_grad(_check),
    gradient=NoGradient("not defined by TensorFlow"),
    doc="The gradient of MaxPoolWithArgmax.",
    test=lambda: {
        "values": [
            [
                _ramp(1, 4, 4, 1),
                _ramp(1, 2, 2, 1),
                np.array([5, 6, 9, 10], np.int64).reshape(1, 2, 2, 1),
            ]
        ],
        "attrs": _SAMPLES[4][:1],
    },
)
define(
    "MaxPoolGradGradWithArgmax",
    "input: T, grad: T, argmax: Targmax -> output: T",
    _ARGMAX,
    shape=lambda c: c.inputs[2],
    kernel=lambda c, x, grad, argmax: grad.reshape(-1)[_flat(c, x, argmax)],
    lower=views.lower_argmax_grad_grad(_check),
    gradient=NoGradient("not defined by TensorFlow"),
    doc="The gradient of MaxPoolGradWithArgmax.",
    test=lambda: {
        "values": [
            [
                _ramp(1, 4, 4, 1),
                _ramp(1, 4, 4, 1),
                np.array([5, 6, 9, 10], np.int64).reshape(1, 2, 2, 1),
            ]
        ],
        "attrs": _SAMPLES[4][:1],
    },
)
