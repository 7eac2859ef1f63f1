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
    from ...engine.graph.kernel_context import KernelContext

_INTEGERS = "T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}"
_NONE = NoGradient("integers have no gradient")
_SHIFTS = {"ranges": [(0, 100), (0, 7)]}


def _bitwise(name: str, body: Callable[..., Any], public: str, **facts: Any) -> Any:
    op = elementwise(name, "x: T, y: T -> z: T", _INTEGERS, body=body, gradient=_NONE, **facts)
    return export(f"bitwise.{public}")(op)


bitwise_and = _bitwise(
    "BitwiseAnd", k.bitwise_and, "bitwise_and", commutative=True, doc="The bits that both have."
)
bitwise_or = _bitwise(
    "BitwiseOr", k.bitwise_or, "bitwise_or", commutative=True, doc="The bits that either has."
)
bitwise_xor = _bitwise(
    "BitwiseXor",
    k.bitwise_xor,
    "bitwise_xor",
    commutative=True,
    doc="The bits that exactly one has.",
)
left_shift = _bitwise(
    "LeftShift",
    k.left_shift,
    "left_shift",
    test=_SHIFTS,
    doc="x moved left by y bits; what leaves is lost.",
)
right_shift = _bitwise(
    "RightShift",
    k.right_shift,
    "right_shift",
    test=_SHIFTS,
    doc="x moved right by y bits; the sign stays.",
)
invert = export("bitwise.invert")(
    elementwise(
        "Invert", "x: T -> y: T", _INTEGERS, body=k.invert, gradient=_NONE, doc="Every bit flipped."
    )
)


def _count_bits(c: KernelContext, x: np.ndarray) -> np.ndarray:
    octets = np.ascontiguousarray(x).reshape(x.shape + (1,)).view(np.uint8)
    return np.unpackbits(octets, axis=-1).sum(-1, dtype=np.uint8)


population_count = define(
    "PopulationCount",
    "x: T -> y: uint8",
    "T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}",
    shape=first_shape,
    kernel=_count_bits,
    gradient=_NONE,
    doc="The number of bits that are set.",
)
