# SPDX-License-Identifier: Apache-2.0
"""Floats rounded as if they had few bits, in a range that is given or learnt.

The range is moved a little, so that 0 is one of the values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import Tensor
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel import scalar as k
from .. import shape_inference
from ..math.rounding import half_away
from ..public import raw

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_BITS = "num_bits: int = 8; narrow_range: bool = false"
_RANGE = f"min: float = -6.0; max: float = 6.0; {_BITS}"
_NO_GRADIENT = NoGradient("TensorFlow has no gradient of it")


def _ends(attr: Callable[[str], Any]) -> tuple[float, float]:
    """The least and the largest of the integers."""
    bits = attr("num_bits")
    if not 2 <= bits <= 16:
        raise errors.invalid("num_bits must be between 2 and 16, inclusive")
    return float(attr("narrow_range")), float((1 << bits) - 1)


def _nudged(low: Any, high: Any, least: float, most: float) -> tuple[Any, Any, Any]:
    """The range that has 0 among its values, and how far apart they are: a scalar body."""
    scale = k.div(k.sub(high, low), most - least)
    zero = k.sub(least, k.div(low, scale))
    inside = k.minimum(k.maximum(half_away(zero), least), most)
    return k.mul(k.sub(least, inside), scale), k.mul(k.sub(most, inside), scale), scale


def _rounded(x: Any, low: Any, high: Any, least: float, most: float) -> Any:
    """x as one of the values; 0 if the range is [0, 0]: a scalar body."""
    first, last, scale = _nudged(low, high, least, most)
    steps = k.div(k.sub(k.maximum(k.minimum(x, last), first), first), scale)
    value = k.add(k.mul(k.floor(k.add(steps, 0.5)), scale), first)
    return k.select(_is_nothing(low, high), k.mul(low, 0.0), value)


def _is_nothing(low: Any, high: Any) -> Any:
    return k.logical_and(k.eq(low, 0.0), k.eq(high, 0.0))


def _slopes(grad: Any, x: Any, low: Any, high: Any, least: float, most: float) -> tuple[Any, ...]:
    """What of a gradient is of x, of the lower end and of the upper one: a scalar body."""
    first, last, _ = _nudged(low, high, least, most)
    nothing = _is_nothing(low, high)
    inside = k.logical_and(k.ge(x, first), k.le(x, last))
    below, above = k.lt(x, first), k.gt(x, last)

    def share(holds: Any, if_nothing: float) -> Any:
        one = k.select(holds, k.cast(1, "float32"), k.cast(0, "float32"))
        return k.mul(grad, k.select(nothing, k.cast(if_nothing, "float32"), one))

    return share(inside, 1), share(below, 0), share(above, 0)


def _of_attrs(attr: Callable[[str], Any]) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.float32(attr("min")), np.float32(attr("max"))
    if not low < high:
        raise errors.invalid(f"min has to be smaller than max, was: {low:g} >= {high:g}")
    return np.asarray(low), np.asarray(high)


def _args_rounded(x: Any, first: Any, last: Any, scale: Any, inverse: Any) -> Any:
    """As `_rounded`, with a product for the quotient, as TensorFlow has it."""
    steps = k.mul(k.sub(k.maximum(k.minimum(x, last), first), first), inverse)
    return k.add(k.mul(k.floor(k.add(steps, 0.5)), scale), first)


def _args_constants(attr: Callable[[str], Any]) -> list[np.ndarray]:
    nudged = [np.float32(n) for n in _nudged(*_of_attrs(attr), *_ends(attr))]
    return [np.asarray(n, np.float32) for n in (*nudged, np.float32(1) / nudged[2])]


def _args(c: KernelContext, x: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.asarray(_args_rounded(x, *_args_constants(c.attr)), np.float32)


def _lower_args(b: Builder, op: OpView, x: Value) -> Any:
    return b.map(_args_rounded, x, *(b.constant(n) for n in _args_constants(op.attr)))


def _args_grad(c: KernelContext, grad: np.ndarray, x: np.ndarray) -> np.ndarray:
    if grad.shape != x.shape:
        raise errors.invalid("gradient and input must be the same size")
    with np.errstate(all="ignore"):
        return np.asarray(_slopes(grad, x, *_of_attrs(c.attr), *_ends(c.attr))[0], np.float32)


def _lower_args_grad(b: Builder, op: OpView, grad: Value, x: Value) -> Any:
    ends = _ends(op.attr)
    b.require(b.same_shape(grad, x))
    low, high = (b.constant(n) for n in _of_attrs(op.attr))
    return b.map(lambda g, x, p, q: _slopes(g, x, p, q, *ends)[0], grad, x, low, high)


def _check_range(x: np.ndarray, low: np.ndarray, high: np.ndarray, by_channel: bool) -> None:
    for name, end in (("min", low), ("max", high)):
        if not by_channel and end.ndim:
            raise errors.invalid(f"`{name}` must be a scalar but is {shape_text(end.shape)}")
        if by_channel and (x.ndim < 1 or end.shape != x.shape[-1:]):
            depth = x.shape[-1] if x.ndim else 0
            raise errors.invalid(
                f"{name} has incorrect size, expected {depth} was {end.shape[0] if end.ndim else 0}"
            )


def _vars(by_channel: bool) -> Callable[..., np.ndarray]:
    def kernel(c: KernelContext, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        ends = _ends(c.attr)
        _check_range(x, low, high, by_channel)
        with np.errstate(all="ignore"):
            found = _rounded(x, np.asarray(low), np.asarray(high), *ends)
        return np.asarray(np.broadcast_to(found, x.shape), np.float32)

    return kernel


def _require_range(b: Builder, x: Value, low: Value, high: Value, by_channel: bool) -> None:
    if by_channel:
        b.require(x.ndim >= 1)
        for end in (low, high):
            b.require_shape(end, x.shape[-1:])
    else:
        b.require(not (low.ndim or high.ndim))


def _lower_vars(by_channel: bool) -> Callable[..., Any]:
    def lower(b: Builder, op: OpView, x: Value, low: Value, high: Value) -> Any:
        ends = _ends(op.attr)
        _require_range(b, x, low, high, by_channel)
        return b.map(lambda x, p, q: _rounded(x, p, q, *ends), x, low, high)

    return lower


def _vars_grad(by_channel: bool) -> Callable[..., Any]:
    def kernel(
        c: KernelContext, grad: np.ndarray, x: np.ndarray, low: np.ndarray, high: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        ends = _ends(c.attr)
        if grad.shape != x.shape:
            raise errors.invalid("gradient and input must be the same size")
        _check_range(x, low, high, by_channel)
        axes = tuple(range(x.ndim - by_channel))
        with np.errstate(all="ignore"):
            by_x, *rest = _slopes(grad, x, np.asarray(low), np.asarray(high), *ends)
            sums = [np.asarray(part.sum(axes), np.float32) for part in rest]
        return np.asarray(by_x, np.float32), sums[0], sums[1]

    return kernel


def _lower_vars_grad(by_channel: bool) -> Callable[..., Any]:
    def lower(b: Builder, op: OpView, grad: Value, x: Value, low: Value, high: Value) -> Any:
        ends = _ends(op.attr)
        b.require(b.same_shape(grad, x))
        _require_range(b, x, low, high, by_channel)
        parts = b.map(lambda g, x, p, q: _slopes(g, x, p, q, *ends), grad, x, low, high)
        axes = list(range(x.ndim - by_channel))
        sums = [b.reduce("sum", part, axes) if axes else part for part in parts[1:]]
        return parts[0], sums[0], sums[1]

    return lower


def _vars_shape(by_channel: bool, first: int) -> Callable[[ShapeContext], Any]:
    """Of the op, whose inputs begin with x, or of its gradient, which gets a gradient before it."""

    def shape(c: ShapeContext) -> Any:
        x = c.inputs[0]
        for other in c.inputs[1 : 1 + first]:
            x = shape_inference.merge(x, other)
        ends = [shape_inference.ranked(s, int(by_channel)) for s in c.inputs[1 + first :]]
        if by_channel:
            sizes = shape_inference.ranked_at_least(x, 1)
            depth = None if sizes is None else sizes[-1]
            for size in (ends[0][0], ends[1][0]):
                depth = shape_inference.merge_dim(depth, size)
        end = TensorShape([depth] if by_channel else [])
        return [x, end, end] if first else x

    return shape


def _gradient_of(op_type: str) -> Callable[[Operation, Tensor], Any]:
    def gradient(op: Operation, grad: Tensor) -> Any:
        names = [attr.name for attr in op.definition.attrs]
        options = {name: op.attr(name) for name in names}
        return getattr(raw, op_type)(grad, *op.inputs, **options)

    return gradient


def _define_public(op_type: str, *args: Any, **more: Any) -> None:
    name = more.pop("name")
    export(f"quantization.{name}", name)(define(op_type, *args, **more))


def _x() -> np.ndarray:
    return np.array([[-7, -0.3, 0.04, 2.6], [0.7, 6.5, -2, 5.99]], np.float32)


def _grad() -> np.ndarray:
    return np.linspace(-1, 1, 8).reshape(2, 4).astype(np.float32)


_LOWS = np.array([-6, -0.1, 0, -1.5], np.float32)
_HIGHS = np.array([6, 0.9, 0, 3.5], np.float32)
_CHOICES: list[dict[str, Any]] = [{}, {"num_bits": 4, "narrow_range": True}]

_define_public(
    "FakeQuantWithMinMaxArgsGradient",
    "gradients: float32, inputs: float32 -> backprops: float32",
    _RANGE,
    name="fake_quant_with_min_max_args_gradient",
    shape=lambda c: shape_inference.merge(c.inputs[0], c.inputs[1]),
    kernel=_args_grad,
    lower=_lower_args_grad,
    gradient=_NO_GRADIENT,
    doc="The gradient of FakeQuantWithMinMaxArgs.",
    test=lambda: {"values": [[_grad(), _x()]], "attrs": _CHOICES},
)
_define_public(
    "FakeQuantWithMinMaxArgs",
    "inputs: float32 -> outputs: float32",
    _RANGE,
    name="fake_quant_with_min_max_args",
    shape=lambda c: c.inputs[0],
    kernel=_args,
    lower=_lower_args,
    gradient=_gradient_of("FakeQuantWithMinMaxArgsGradient"),
    doc="Floats rounded to 2 ** num_bits values of [min, max].",
    test=lambda: {"values": [[_x()]], "attrs": _CHOICES, "gradient": False},
)
for _by_channel, _type, _gradient, _name in (
    (
        False,
        "FakeQuantWithMinMaxVars",
        "FakeQuantWithMinMaxVarsGradient",
        "fake_quant_with_min_max_vars",
    ),
    (
        True,
        "FakeQuantWithMinMaxVarsPerChannel",
        "FakeQuantWithMinMaxVarsPerChannelGradient",
        "fake_quant_with_min_max_vars_per_channel",
    ),
):
    _given = [_LOWS, _HIGHS] if _by_channel else [np.float32(-1.5), np.float32(3.4)]
    _define_public(
        _gradient,
        "gradients: float32, inputs: float32, min: float32, max: float32 -> "
        "backprops_wrt_input: float32, backprop_wrt_min: float32, backprop_wrt_max: float32",
        _BITS,
        name=f"{_name}_gradient",
        shape=_vars_shape(_by_channel, 1),
        kernel=_vars_grad(_by_channel),
        lower=_lower_vars_grad(_by_channel),
        gradient=_NO_GRADIENT,
        doc=f"The gradient of {_type}.",
        test=lambda _given=_given: {"values": [[_grad(), _x(), *_given]], "attrs": _CHOICES},
    )
    _define_public(
        _type,
        "inputs: float32, min: float32, max: float32 -> outputs: float32",
        _BITS,
        name=_name,
        shape=_vars_shape(_by_channel, 0),
        kernel=_vars(_by_channel),
        lower=_lower_vars(_by_channel),
        gradient=_gradient_of(_gradient),
        doc="Floats rounded to 2 ** num_bits values of [min, max]"
        + (", which each channel has its own of." if _by_channel else "."),
        test=lambda _given=_given: {
            "values": [[_x(), *_given]],
            "attrs": _CHOICES,
            "gradient": False,
        },
    )
