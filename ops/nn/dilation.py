# SPDX-License-Identifier: Apache-2.0
"""Grayscale dilation and erosion: the maximum of input plus filter under a sliding window."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.deprecation import deprecated_argument_lookup
from ...engine.graph.build import define
from ...engine.graph.graph import name_scope
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape
from ..math.limits import lowest
from ..public import raw, tf
from . import dilation_lowering
from . import window as nw
from .conv import _attrs_of

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor

_ATTRS = (
    "T: realnumbertype; strides: list(int) >= 4; rates: list(int) >= 4; padding: {'SAME', 'VALID'}"
)
_NAMES = ("strides", "rates", "padding")


def _window(attr: Callable[..., Any], sizes: list[Any], filters: list[Any]) -> nw.Window:
    strides, rates = attr("strides"), attr("rates")
    return nw.window(sizes, filters, strides[1:3], attr("padding"), rates[1:3])


def _shape(c: ShapeContext) -> TensorShape:
    for name, text in (("strides", "stride"), ("rates", "rates")):
        if len(c.attr(name)) != 4:
            raise ValueError(
                f"Dilation2D requires the {text} attribute to contain 4 values, but got: "
                f"{len(c.attr(name))}"
            )
    x, w = nw.known_dims(c.inputs[0], 4), nw.known_dims(c.inputs[1], 3)
    if None in (*x[1:3], *w[:2]):
        return TensorShape([x[0], None, None, w[2]])
    if None not in (x[3], w[2]) and x[3] != w[2]:
        raise ValueError(f"Dimensions must be equal, but are {x[3]} and {w[2]}")
    depth = x[3] if w[2] is None else w[2]
    return TensorShape([x[0], *_window(c.attr, x[1:3], w[:2]).out, depth])


def _require(c: KernelContext, x: np.ndarray, w: np.ndarray) -> None:
    """What TensorFlow's kernel asks of attributes and shapes."""
    for name, text in (("strides", "Stride"), ("rates", "Rate")):
        values = c.attr(name)
        if values[0] != 1 or values[3] != 1:
            raise errors.unimplemented(f"{text} is only supported across spatial dimensions.")
    if x.shape[-1] != w.shape[-1]:
        raise errors.invalid(
            f"input and filter must have the same depth: {x.shape[-1]} vs {w.shape[-1]}"
        )


def _sums(
    geometry: nw.Window, x: np.ndarray, w: np.ndarray
) -> Iterator[tuple[tuple[int, ...], Any, np.ndarray, np.ndarray]]:
    """At each offset: offset, place in the padded input, sums, and whether they are inside."""
    padded = geometry.pad(x)
    inside = geometry.pad(np.ones((1, *x.shape[1:3], 1), bool), False)
    for offset, where in geometry.offsets():
        yield offset, where, padded[where] + w[offset], inside[where]


def _dilation(c: KernelContext, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    _require(c, x, w)
    geometry = nw.at_run_time(_window, c.attr, x.shape[1:3], w.shape[:2])
    best = np.full((x.shape[0], *geometry.out, x.shape[3]), lowest(x.dtype), x.dtype)
    for _, _, sums, inside in _sums(geometry, x, w):
        # Strictly larger: the first offset wins ties, and a NaN, with which no comparison holds,
        # never wins.
        np.copyto(best, sums, where=inside & (sums > best))
    return best


def _winners(
    c: KernelContext, x: np.ndarray, w: np.ndarray, dy: np.ndarray
) -> tuple[Any, np.ndarray]:
    """The geometry, and for each output the number of the first offset with the maximum."""
    _require(c, x, w)
    geometry = nw.at_run_time(_window, c.attr, x.shape[1:3], w.shape[:2])
    if dy.shape != (x.shape[0], *geometry.out, x.shape[3]):
        raise errors.invalid("out_backprop has incompatible size.")
    best = np.full(dy.shape, lowest(x.dtype), x.dtype)
    winner = np.zeros(dy.shape, np.int64)
    for number, (_, _, sums, inside) in enumerate(_sums(geometry, x, w)):
        better = inside & (sums > best)
        np.copyto(best, sums, where=better)
        winner[better] = number
    return geometry, winner


def _input_gradient(c: KernelContext, x: np.ndarray, w: np.ndarray, dy: np.ndarray) -> np.ndarray:
    geometry, winner = _winners(c, x, w, dy)
    result = geometry.padded_zeros(x.shape[0], x.shape[3], x.dtype)
    for number, (_, where) in enumerate(geometry.offsets()):
        result[where] += np.where(winner == number, dy, 0).astype(x.dtype, copy=False)
    return geometry.unpad(result)


def _filter_gradient(c: KernelContext, x: np.ndarray, w: np.ndarray, dy: np.ndarray) -> np.ndarray:
    geometry, winner = _winners(c, x, w, dy)
    result = np.zeros_like(w)
    for number, (offset, _) in enumerate(geometry.offsets()):
        result[offset] = np.where(winner == number, dy, 0).sum(axis=(0, 1, 2), dtype=w.dtype)
    return result


def _gradient(op: Operation, grad: Tensor) -> list[Any]:
    attrs = _attrs_of(op, *_NAMES)
    x, w = op.inputs
    return [
        raw.Dilation2DBackpropInput(x, w, grad, **attrs),
        raw.Dilation2DBackpropFilter(x, w, grad, **attrs),
    ]


_FACTS: dict[str, Any] = {
    "dtypes": ["float32", "float64", "int32"],
    "attrs": [
        {"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": "VALID"},
        {"strides": [1, 1, 1, 1], "rates": [1, 2, 1, 1], "padding": "VALID"},
    ],
}

_dilation2d = define(
    "Dilation2D",
    "input: T, filter: T -> output: T",
    _ATTRS,
    shape=_shape,
    kernel=_dilation,
    lower=dilation_lowering.lower,
    gradient=_gradient,
    doc="The maximum of input plus filter under a sliding window, channel by channel.",
    test=lambda: {**_FACTS, "shapes": [[[2, 5, 5, 3], [2, 3, 3]]]},
)

_ONE = {**_FACTS, "attrs": _FACTS["attrs"][:1], "shapes": [[[2, 4, 4, 3], [2, 2, 3], [2, 3, 3, 3]]]}

define(
    "Dilation2DBackpropInput",
    "input: T, filter: T, out_backprop: T -> in_backprop: T",
    _ATTRS,
    shape=lambda c: c.inputs[0],
    kernel=_input_gradient,
    lower=dilation_lowering.lower_input_gradient,
    gradient=NoGradient("TensorFlow has none: the gradient of dilation is a step function"),
    doc="The gradient of Dilation2D with respect to its input.",
    test=lambda: _ONE,
)
define(
    "Dilation2DBackpropFilter",
    "input: T, filter: T, out_backprop: T -> filter_backprop: T",
    _ATTRS,
    shape=lambda c: c.inputs[1],
    kernel=_filter_gradient,
    lower=dilation_lowering.lower_filter_gradient,
    gradient=NoGradient("TensorFlow has none: the gradient of dilation is a step function"),
    doc="The gradient of Dilation2D with respect to its filter.",
    test=lambda: _ONE,
)


@export("nn.dilation2d")
def dilation2d(
    input: TensorLike,
    filter: TensorLike | None = None,
    strides: Sequence[int] | None = None,
    rates: Sequence[int] | None = None,
    padding: str | None = None,
    name: str | None = None,
    filters: TensorLike | None = None,
    dilations: Sequence[int] | None = None,
) -> Any:
    """The maximum of input plus filter under a sliding window, channel by channel."""
    filter = deprecated_argument_lookup("filters", filters, "filter", filter)
    rates = deprecated_argument_lookup("dilations", dilations, "rates", rates)
    return _dilation2d(input, filter, strides, rates, padding, name=name)


@export("nn.erosion2d")
def erosion2d(
    value: TensorLike,
    kernel: TensorLike,
    strides: Sequence[int],
    rates: Sequence[int],
    padding: str,
    name: str | None = None,
) -> Any:
    """The minimum of input minus mirrored kernel: dilation of the negative, negated."""
    with name_scope(name, "erosion2d", [value, kernel]) as name:
        negative, mirrored = tf.negative(value), tf.reverse(kernel, [0, 1])
        return tf.negative(_dilation2d(negative, mirrored, strides, rates, padding, name=name))
