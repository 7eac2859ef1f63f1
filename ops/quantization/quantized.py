# SPDX-License-Identifier: Apache-2.0
"""Numbers of few bits, quint8 and the like, and floats made of them: on the host, by NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.deprecation import deprecated
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape, shape_text
from .. import shape_inference
from ..math.rounding import half_away
from ..public import raw
from .steps import cast, from_steps, limits, plain, to_steps

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext

_KINDS = "T: {qint8, quint8, qint32, qint16, quint16}"
_MODES = "mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'MIN_COMBINED'"
_NO_GRADIENT = NoGradient("TensorFlow has no gradient of it")
_f32 = np.float32


def _widened(low: np.ndarray, high: np.ndarray) -> tuple[np.float32, np.float32]:
    """A range that has 0 in it, and is not too narrow."""
    first, last = (_f32(np.asarray(end).reshape(-1)[0]) for end in (low, high))
    if last < first:
        raise errors.invalid("input_max_range must be larger than input_min_range.")
    low_ = min(_f32(0), first)
    margin = max(_f32(1), max(abs(first), abs(last))) / _f32(100)
    return low_, max(_f32(0), max(last, low_ + margin))


def _scaled_range(low: np.float32, high: np.float32, least: int, most: int) -> np.float32:
    largest = np.finfo(np.float32).max
    sides = [
        _f32(limit) / end if limit * float(end) > 0 else largest
        for limit, end in ((least, low), (most, high))
    ]
    return _f32(min(sides))


def _quantized(
    c: KernelContext, x: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.float32, np.float32]:
    mode, dtype = c.attr("mode"), c.out_dtype()
    if c.attr("round_mode") == "HALF_TO_EVEN" and mode != "SCALED":
        raise errors.invalid(
            f"Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is '{mode}'."
        )
    first, last = _widened(low, high)
    least, most = limits(dtype)
    with np.errstate(all="ignore"):
        if mode == "MIN_FIRST":
            return cast(to_steps(x, first, last, dtype), dtype), first, last
        if mode == "SCALED":
            scale = _scaled_range(first, last, least, most)
            first, last = _f32(least) / scale, _f32(most) / scale
            scaled = np.clip(x, first, last) * scale
            is_even = c.attr("round_mode") == "HALF_TO_EVEN"
            return cast(np.rint(scaled) if is_even else half_away(scaled), dtype), first, last
        scale = _f32((most - least) / float(last - first))
        shifted = (np.clip(x, first, last) - first) * scale
        if least < 0:
            whole = half_away(shifted - _f32((most - least + 1) / 2))
        else:
            whole = np.trunc(shifted + _f32(0.5))
        return cast(whole, dtype), first, last


def _dequantized(c: KernelContext, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    first, last = (_f32(np.asarray(end).reshape(-1)[0]) for end in (low, high))
    least, most = limits(x.dtype)
    floats = plain(x).astype(np.float32)
    with np.errstate(all="ignore"):
        if c.attr("mode") == "MIN_FIRST":
            return from_steps(x, first, last)
        if c.attr("mode") == "SCALED":
            scale = last / _f32(most)
            return floats * (max(first / _f32(least), scale) if least else scale)
        half = _f32((most - least + 1) / 2) if least < 0 else _f32(0)
        return (floats + half) * ((last - first) / _f32(most - least)) + first


def _concatenated(
    c: KernelContext, axis: np.ndarray, values: Any, lows: Any, highs: Any
) -> tuple[np.ndarray, np.float32, np.float32]:
    at = int(np.asarray(axis).reshape(-1)[0])
    rank = values[0].ndim
    if not 0 <= at < rank:
        raise errors.invalid(
            f"ConcatOp : Expected concatenating dimensions in the range [0, {rank}), but got {at}"
        )
    for i, value in enumerate(values):
        others = [s for j, s in enumerate(value.shape) if j != at]
        if value.ndim != rank or others != [s for j, s in enumerate(values[0].shape) if j != at]:
            raise errors.invalid(
                "ConcatOp : Dimensions of inputs should match: shape[0] = "
                f"{shape_text(values[0].shape)} vs. shape[{i}] = {shape_text(value.shape)}"
            )
    ranges = [(_f32(np.ravel(p)[0]), _f32(np.ravel(q)[0])) for p, q in zip(lows, highs)]
    low = min(_f32(0), min(p for p, _ in ranges))
    high = max(q for _, q in ranges)
    dtype = values[0].dtype
    if limits(dtype)[0] < 0:
        high = max(abs(low), abs(high))
        low = -high
    parts = [
        value
        if given == (low, high)
        else cast(to_steps(from_steps(value, *given), low, high, dtype), dtype)
        for value, given in zip(values, ranges)
    ]
    return np.concatenate(parts, at), low, high


def _same_and_ends(c: ShapeContext) -> list[TensorShape]:
    for end in c.inputs[1:]:
        shape_inference.ranked(end, 0)
    return [c.inputs[0], TensorShape([]), TensorShape([])]


def _concat_shape(c: ShapeContext) -> list[TensorShape]:
    end = TensorShape([])
    count = c.attr("N")
    axis, shapes = c.value(0), c.inputs[1 : 1 + count]
    if axis is None or any(shape.ndims is None for shape in shapes):
        return [TensorShape(None), end, end]
    sizes = [shape.as_list() for shape in shapes]
    at = int(axis)
    total = None if any(s[at] is None for s in sizes) else sum(s[at] or 0 for s in sizes)
    first = sizes[0]
    return [TensorShape([*first[:at], total, *first[at + 1 :]]), end, end]


_quantize = define(
    "QuantizeV2",
    "input: float32, min_range: float32, max_range: float32 -> "
    "output: T, output_min: float32, output_max: float32",
    f"{_KINDS}; {_MODES}; "
    "round_mode: {'HALF_AWAY_FROM_ZERO', 'HALF_TO_EVEN'} = 'HALF_AWAY_FROM_ZERO'",
    shape=_same_and_ends,
    kernel=_quantized,
    gradient=_NO_GRADIENT,
    doc="Floats as numbers of few bits, and the range that these stand for.",
    test={"needs": "numbers that NumPy has as records"},
)
export("quantization.dequantize", "dequantize")(
    define(
        "Dequantize",
        "input: T, min_range: float32, max_range: float32 -> output: float32",
        f"{_KINDS}; {_MODES}",
        shape=lambda c: _same_and_ends(c)[0],
        kernel=_dequantized,
        gradient=_NO_GRADIENT,
        doc="Floats of numbers of few bits, which stand for a range.",
        test={"needs": "numbers that NumPy has as records"},
    )
)
export("quantization.quantized_concat", "quantized_concat")(
    define(
        "QuantizedConcat",
        "concat_dim: int32, values: N * T, input_mins: N * float32, input_maxes: N * float32 -> "
        "output: T, output_min: float32, output_max: float32",
        "N: int >= 2; T: type",
        shape=_concat_shape,
        kernel=_concatenated,
        gradient=_NO_GRADIENT,
        doc="Numbers of few bits joined, after they stand for one range.",
        test={"needs": "numbers that NumPy has as records"},
    )
)


@export("quantization.quantize", "quantize")
def quantize(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    T: DTypeLike,
    mode: str = "MIN_COMBINED",
    round_mode: str = "HALF_AWAY_FROM_ZERO",
    name: str | None = None,
) -> Any:
    """Floats as numbers of few bits (tf.quantization.quantize).

    Args:
        input: float32.
        min_range: what the least number stands for.
        max_range: what the largest one stands for.
        T: qint8, quint8, qint16, quint16 or qint32.
        mode: "MIN_COMBINED", "MIN_FIRST" or "SCALED": how numbers lie in the range.
        round_mode: "HALF_AWAY_FROM_ZERO" or, with "SCALED", "HALF_TO_EVEN".
        name: of the op.

    Returns:
        `output`, `output_min` and `output_max`: the numbers and the range that they stand for.

    Example:
        >>> x, low, high = tf.quantization.quantize([0.0, 0.5, 1.0], 0.0, 1.0, tf.quint8)
        >>> print(tf.Session().run(tf.quantization.dequantize(x, low, high)).round(3))
        [0.    0.502 1.   ]
    """
    return raw.QuantizeV2(
        input, min_range, max_range, T=T, mode=mode, round_mode=round_mode, name=name
    )


@export("quantize_v2")
@deprecated(
    "2017-10-25", "`tf.quantize_v2` is deprecated, please use `tf.quantization.quantize` instead."
)
def quantize_v2(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    T: DTypeLike,
    mode: str = "MIN_COMBINED",
    name: str | None = None,
    round_mode: str = "HALF_AWAY_FROM_ZERO",
) -> Any:
    """`tf.quantization.quantize` by its old name."""
    return quantize(input, min_range, max_range, T, mode, round_mode, name)
