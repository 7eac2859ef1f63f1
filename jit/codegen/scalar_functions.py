# SPDX-License-Identifier: Apache-2.0
"""Single functions as kernels, for jit/codegen/evaluate.py: a fixed number, known to the cache.

They are those whose last bits are a matter of how they are computed; each is a kernel like those
that programs have, with nothing else in it.  Imports no Numba.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TypeGuard

import numpy as np

from ..kernel.ir import Apply, Axis, Buffer, Expr, Index, Kernel, Load, Store, nodes
from ..kernel.scalar import PRIMITIVES, kind_of
from .compile import compile_kernels
from .signature import SIGNATURE
from .writer import wide

DTYPES = ("float32", "float64")


def closed(dtypes: Sequence[str] = DTYPES) -> Iterator[Kernel]:
    """All of them, for numbers of these dtypes."""
    for dtype in dtypes:
        yield from (kernel_of(name, dtype) for name in _names())


def _names() -> list[str]:
    return [p.name for p in PRIMITIVES.values() if p.rounding == "free" and "f" in p.kinds]


@cache
def kernel_of(name: str, dtype: str) -> Kernel:
    """A function of arrays whose elements lie side by side: the arguments, then the result."""
    primitive = PRIMITIVES[name]
    reads = (Buffer(dtype, "r"),) * primitive.arity
    elements = tuple(Load(number, Index((1,)), dtype) for number in range(primitive.arity))
    result = Store(primitive.arity, Index((1,)), Apply(name, elements, dtype))
    return Kernel("map", (*reads, Buffer(dtype, "w")), (Axis("map"),), (), (result,), 0)


def is_one(node: Expr) -> TypeGuard[Apply]:
    """Is this the value of such a function?"""
    if not isinstance(node, Apply) or node.fn == "cast":
        return False
    return PRIMITIVES[node.fn].rounding == "free" and kind_of(node.args[-1].dtype) == "f"


def wanted(kernel: Kernel) -> Iterator[tuple[str, str]]:
    """The functions that a kernel has: their names, and the dtypes that they are computed in."""
    for node in nodes(kernel):
        if is_one(node):
            yield node.fn, wide(node.args[-1].dtype)


class Functions:
    """Functions of one target, ready to be called by any thread."""

    def __init__(self, wanted: Sequence[tuple[str, str]]) -> None:
        """wanted: their names, and the dtypes of arguments."""
        kernels = compile_kernels([(kernel_of(*which), None) for which in wanted])
        self._made = {which: SIGNATURE(kernel.address) for which, kernel in zip(wanted, kernels)}

    def __call__(self, name: str, arguments: Sequence[np.ndarray]) -> np.ndarray:
        """The function of arrays of one dtype that broadcast."""
        shape = np.broadcast_shapes(*(a.shape for a in arguments))
        arrays = [np.ascontiguousarray(np.broadcast_to(a, shape)) for a in arguments]
        result = np.empty(shape, arrays[0].dtype)
        places = [a.__array_interface__["data"][0] for a in (*arrays, result)]
        block = np.array([*places, result.size], np.int64)
        self._made[name, result.dtype.name](block.ctypes.data, 0, 1, 0, result.size, 0)
        return result
