# SPDX-License-Identifier: Apache-2.0
"""Bitwise operations on integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...jit.kernel import scalar as k
from ..elementwise import elementwise, first_shape

if TYPE_CHECKING:
    from ...engine.graph.build import OpFunction
    from ...engine.graph.kernel_context import KernelContext
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_INTEGERS = "T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}"
_NONE = NoGradient("integers have no gradient", silent=True)
_SHIFTS = {"ranges": [(0, 100), (0, 7)]}


def _bitwise(name: str, body: Callable[..., Any], public: str, **facts: Any) -> OpFunction:
    op = elementwise(name, "x: T, y: T -> z: T", _INTEGERS, body=body, gradient=_NONE, **facts)
    return export(f"bitwise.{public}")(op)


bitwise_and = _bitwise(
    "BitwiseAnd",
    k.bitwise_and,
    "bitwise_and",
    commutative=True,
    doc="""The bits that both have.

    Example:
        >>> tf.Session().run(tf.bitwise.bitwise_and(6, 3))
        np.int32(2)
    """,
)
bitwise_or = _bitwise(
    "BitwiseOr",
    k.bitwise_or,
    "bitwise_or",
    commutative=True,
    doc="""The bits that either has.

    Example:
        >>> tf.Session().run(tf.bitwise.bitwise_or(6, 3))
        np.int32(7)
    """,
)
bitwise_xor = _bitwise(
    "BitwiseXor",
    k.bitwise_xor,
    "bitwise_xor",
    commutative=True,
    doc="""The bits that exactly one has.

    Example:
        >>> tf.Session().run(tf.bitwise.bitwise_xor(6, 3))
        np.int32(5)
    """,
)
left_shift = _bitwise(
    "LeftShift",
    k.left_shift,
    "left_shift",
    test=lambda: _SHIFTS,
    doc="""x moved left by y bits; what leaves is lost.

    Example:
        >>> tf.Session().run(tf.bitwise.left_shift(1, [0, 3]))
        array([1, 8], dtype=int32)
    """,
)
right_shift = _bitwise(
    "RightShift",
    k.right_shift,
    "right_shift",
    test=lambda: _SHIFTS,
    doc="""x moved right by y bits; the sign stays.

    Example:
        >>> tf.Session().run(tf.bitwise.right_shift(-8, [0, 2]))
        array([-8, -2], dtype=int32)
    """,
)
invert = export("bitwise.invert")(
    elementwise(
        "Invert",
        "x: T -> y: T",
        _INTEGERS,
        body=k.invert,
        gradient=_NONE,
        doc="""Every bit flipped.

        Example:
            >>> tf.Session().run(tf.bitwise.invert([0, 5]))
            array([-1, -6], dtype=int32)
        """,
    )
)


def _count_bits(c: KernelContext, x: np.ndarray) -> np.ndarray:
    octets = np.ascontiguousarray(x).reshape(x.shape + (1,)).view(np.uint8)
    return np.unpackbits(octets, axis=-1).sum(-1, dtype=np.uint8)


def _lower_count_bits(b: Builder, op: OpView, x: Value) -> Any:
    """Bits are added up in pairs, the sums of pairs in fours, and so on."""
    kind = x.dtype if x.dtype.startswith("u") else f"u{x.dtype}"
    width = np.dtype(kind).itemsize * 8

    def count(v: Any) -> Any:
        v = k.cast(v, kind)
        step = 1
        while step < width:
            mask = sum(((1 << step) - 1) << place for place in range(0, width, 2 * step))
            low, high = k.bitwise_and(v, mask), k.bitwise_and(k.right_shift(v, step), mask)
            v, step = k.add(low, high), 2 * step
        return k.cast(v, "uint8")

    return b.map(count, x)


population_count = define(
    "PopulationCount",
    "x: T -> y: uint8",
    "T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}",
    shape=first_shape,
    kernel=_count_bits,
    lower=_lower_count_bits,
    gradient=_NONE,
    doc="The number of bits that are set.",
)
