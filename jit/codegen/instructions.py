# SPDX-License-Identifier: Apache-2.0
"""Scalar functions of registers, as the machine of jit/codegen/bytecode.py has them.

Each is a kernel like those that programs have, with one function in it: its bits are those of the
function in any other kernel.  Imports no Numba.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from ..kernel.ir import Apply, Axis, Buffer, Expr, Index, Kernel, Load, Store
from ..kernel.scalar import PRIMITIVES, kind_of
from .writer import HALF, wide

DTYPES = ("float32", "float64")
_INTEGERS = ("int32", "int64")
# What programs turn into each other as a rule.
_CASTS = (*_INTEGERS, "bool", "uint8")


@cache
def function(fn: str, takes: tuple[str, ...], gives: str) -> Kernel:
    """A primitive of arguments of some dtypes, elements of which lie side by side; then the result.

    16-bit floats are in float32, where results are rounded to them as kernels do.
    """
    loads = tuple(_element(number, wide(dtype)) for number, dtype in enumerate(takes))
    value: Expr = Apply(fn, loads, gives if fn == "cast" else wide(gives))
    if gives in HALF and (fn == "cast" or PRIMITIVES[fn].rounding != "none"):
        value = Apply("cast", (value if fn == "cast" else _cast(value, gives),), "float32")
    return _kernel([wide(dtype) for dtype in takes], wide(gives), value)


@cache
def widened(dtype: str) -> Kernel:
    """16-bit floats, as memory has them, to float32."""
    return _kernel([dtype], "float32", _cast(_element(0, dtype), "float32"))


@cache
def narrowed(dtype: str) -> Kernel:
    """The other way."""
    return _kernel(["float32"], dtype, _cast(_element(0, "float32"), dtype))


def _kernel(takes: Sequence[str], gives: str, value: Expr) -> Kernel:
    buffers = (*(Buffer(dtype, "r") for dtype in takes), Buffer(gives, "w"))
    store = Store(len(takes), Index((1,)), value)
    return Kernel("map", buffers, (Axis("map"),), (), (store,), 0)


def _element(buffer: int, dtype: str) -> Load:
    return Load(buffer, Index((1,)), dtype)


def _cast(value: Expr, dtype: str) -> Apply:
    return Apply("cast", (value,), dtype)


def closed(dtypes: Sequence[str] = DTYPES) -> Iterator[Kernel]:
    """All for numbers of these dtypes, and for those that programs have beside them."""
    for primitive in PRIMITIVES.values():
        for dtype in (*dtypes, *_INTEGERS, "bool"):
            if kind_of(dtype) in primitive.kinds and primitive.name != "cast":
                takes = (dtype,) * primitive.arity
                if primitive.result == "branch":
                    takes = ("bool", dtype, dtype)
                yield function(primitive.name, takes, _given(primitive.result, dtype))
    every = (*dtypes, *_CASTS)
    yield from (function("cast", (one,), other) for one in every for other in every if one != other)
    for half in HALF:
        yield from (widened(half), narrowed(half), function("cast", ("float32",), half))


def _given(result: str, dtype: str) -> str:
    return "bool" if result == "bool" else dtype
