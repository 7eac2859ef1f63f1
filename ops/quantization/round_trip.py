# SPDX-License-Identifier: Apache-2.0
"""Floats quantised and made floats again: rounded to integers of so many bits, and scaled back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.tensor import Tensor
from ...engine.types.shape import TensorShape
from ...jit.kernel import scalar as k
from .. import shape_inference
from ..public import raw

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView


class _Integers:
    """What floats are rounded to, as the attributes say."""

    def __init__(self, op_type: str, attr: Callable[[str], Any], bits: int | None = None) -> None:
        self.is_given: bool = attr("range_given")
        signed, bits = attr("signed_input"), attr("num_bits") if bits is None else bits
        if not 0 < bits < (62 if signed else 63):
            raise errors.invalid(
                f"num_bits is out of range: {bits} with signed_input_ {int(signed)}"
            )
        is_narrow = op_type != "QuantizeAndDequantize" and attr("narrow_range")
        self.least = -(2.0 ** (bits - 1)) + bool(is_narrow) if signed else 0.0
        self.most = 2.0 ** (bits - signed) - 1
        is_second = op_type == "QuantizeAndDequantizeV2"
        mode = attr("round_mode") if is_second else "HALF_TO_EVEN"
        self.is_up = mode in ("HALF_UP", b"HALF_UP")

    def rounded(self, x: Any, low: Any, high: Any) -> Any:
        """A scalar body."""
        largest = float(np.finfo(x.dtype if isinstance(x.dtype, str) else x.dtype.name).max)

        def side(end: Any, limit: float) -> Any:
            fits = k.gt(k.mul(end, limit), 0.0)
            return k.select(fits, k.div(limit, end), k.add(k.mul(k.abs(end), 0.0), largest))

        by_low, by_high = side(low, self.least), side(high, self.most)
        is_low = k.lt(by_low, by_high)
        scale = k.select(is_low, by_low, by_high)
        back_low = k.div(low, self.least) if self.least else k.mul(low, 0.0)
        back = k.select(is_low, back_low, k.div(high, self.most))
        if self.is_given:
            last = k.select(is_low, k.mul(back, self.most), high)
            first = k.select(is_low, low, k.mul(back, self.least))
            x = k.maximum(k.minimum(x, last), first)
        scaled = k.mul(x, scale)
        whole = k.floor(k.add(scaled, 0.5)) if self.is_up else k.rint(scaled)
        return k.mul(whole, back)


def _check_range(low: Any, high: Any) -> None:
    if not low <= high:
        raise errors.invalid(f"Invalid range: input_min {low:g} > input_max {high:g}")


def _kernel(c: KernelContext, x: np.ndarray, *rest: np.ndarray) -> np.ndarray:
    bits = int(rest[2]) if c.type == "QuantizeAndDequantizeV3" else None
    integers = _Integers(c.type, c.attr, bits)
    given = rest[:2] or [x.dtype.type(c.attr(f"input_{end}")) for end in ("min", "max")]
    if not x.size:
        return x.copy()
    if integers.is_given:
        low, high = (np.asarray(end).reshape(()) for end in given)
        _check_range(low, high)
    else:
        # As of reduce_min and reduce_max: what is no number is passed over.
        low = np.asarray(np.fmin.reduce(x, None, initial=np.inf))
        high = np.asarray(np.fmax.reduce(x, None, initial=-np.inf))
    with np.errstate(all="ignore"):
        return np.asarray(integers.rounded(x, low, high), x.dtype)


def _lower(b: Builder, op: OpView, x: Value, *rest: Value) -> Any:
    if x.dtype not in ("float32", "float64") or any(b.equal(size, 0) for size in x.shape):
        return NotImplemented
    bits = None
    if op.type == "QuantizeAndDequantizeV3":
        known = b.known(rest[2])
        if known is None or known.dtype == object or known.ndim:
            return NotImplemented
        bits = int(known)
    integers = _Integers(op.type, op.attr, bits)
    if not integers.is_given:
        low, high = (b.reduce(fn, x, None) for fn in ("min", "max"))
    elif rest:
        low, high = rest[:2]
        b.require(not (low.ndim or high.ndim))
        wrong = b.map(lambda p, q: k.logical_not(k.le(p, q)), low, high)

        def error(low: np.ndarray, high: np.ndarray) -> BaseException:
            text = f"Invalid range: input_min {float(low):g} > input_max {float(high):g}"
            return errors.invalid(text)

        b.require_not(wrong, error, low, high)
    else:
        ends = [op.attr("input_min"), op.attr("input_max")]
        _check_range(*ends)
        low, high = (b.constant(end, x.dtype) for end in ends)
    return b.map(integers.rounded, x, low, high)


def _shape(c: ShapeContext) -> TensorShape:
    for end in c.inputs[1:]:
        shape_inference.ranked(end, 0)
    return c.inputs[0]


_T = "T: {bfloat16, half, float32, float64}"
_SIGNED = "signed_input: bool = true"
_BITS = "num_bits: int = 8"
_NARROW = "narrow_range: bool = false"


def _x() -> np.ndarray:
    return np.array([[-7, -0.3, 0.04, 2.6], [0.7, 6.5, -2, 5.99]], np.float32)


def _ends() -> list[Any]:
    return [np.float32(-4), np.float32(6)]


_FLOATS = ["float32", "float64"]

define(
    "QuantizeAndDequantize",
    "input: T -> output: T",
    f"{_SIGNED}; {_BITS}; range_given: bool = false; input_min: float = 0; input_max: float = 0; "
    f"{_T}",
    shape=_shape,
    kernel=_kernel,
    lower=_lower,
    gradient=lambda op, grad: grad,
    doc="Floats rounded to integers of so many bits, and scaled back.",
    test=lambda: {
        "values": [[_x()]],
        "dtypes": _FLOATS,
        "attrs": [{}, {"range_given": True, "input_min": -3.0, "input_max": 5.0}],
        "gradient": False,
    },
)
define(
    "QuantizeAndDequantizeV2",
    "input: T, input_min: T, input_max: T -> output: T",
    f"{_SIGNED}; {_BITS}; range_given: bool = false; {_T}; "
    f"round_mode: {{'HALF_TO_EVEN', 'HALF_UP'}} = 'HALF_TO_EVEN'; {_NARROW}",
    shape=_shape,
    kernel=_kernel,
    lower=_lower,
    gradient=lambda op, grad: [grad, None, None],
    doc="Floats rounded to integers of so many bits in a range that is given, and scaled back.",
    test=lambda: {
        "values": [[_x(), *_ends()]],
        "dtypes": _FLOATS,
        "attrs": [
            {},
            {"range_given": True, "narrow_range": True},
            {"range_given": True, "signed_input": False, "num_bits": 3, "round_mode": b"HALF_UP"},
        ],
        "gradient": False,
    },
)
define(
    "QuantizeAndDequantizeV3",
    "input: T, input_min: T, input_max: T, num_bits: int32 -> output: T",
    f"{_SIGNED}; range_given: bool = true; {_T}; {_NARROW}",
    shape=_shape,
    kernel=_kernel,
    lower=_lower,
    gradient=lambda op, grad: [grad, None, None, None],
    doc="Floats rounded to integers of bits that are an input, too, and scaled back.",
    test=lambda: {
        "values": [[_x(), *_ends(), np.int32(5)]],
        "dtypes": _FLOATS,
        "attrs": [{}, {"range_given": False}],
        "gradient": False,
    },
)


@export("quantization.quantize_and_dequantize")
def quantize_and_dequantize(
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
) -> Tensor:
    """Floats as quantisation leaves them (tf.quantization.quantize_and_dequantize).

    Args:
        input: floats.
        input_min: the least value there is, if `range_given`.
        input_max: the largest one.
        signed_input: whether the integers have signs.
        num_bits: how many bits they have.
        range_given: whether the range is that of the two arguments; else that of `input`.
        round_mode: "HALF_TO_EVEN" or "HALF_UP".
        name: of the op.
        narrow_range: whether -128 (of eight bits) is left out.

    Returns:
        Floats of the same shape; their gradient goes through.

    Example:
        >>> x = tf.quantization.quantize_and_dequantize([-1.0, 0.3, 0.9], -1.0, 1.0, num_bits=3)
        >>> print(tf.Session().run(x).round(2))
        [-0.9  0.3  0.9]
    """
    return raw.QuantizeAndDequantizeV2(
        input,
        input_min=input_min,
        input_max=input_max,
        signed_input=signed_input,
        num_bits=num_bits,
        range_given=range_given,
        round_mode=round_mode,
        narrow_range=narrow_range,
        name=name,
    )
