# SPDX-License-Identifier: Apache-2.0
"""Transcendental functions as straight-line LLVM code, for float32 and float64.

Argument reduction by bit operations and a polynomial, so that loops over them become vector loops.
Imports llvmlite alone.  lowering.PRIMITIVES receives this module's table when it is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import lowering
from .lowering import Emitter

INF, NAN = float("inf"), float("nan")


def _library(name: str) -> Callable[..., Any]:
    return lambda e, *args: e.library(name, *args)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: _library(name)
    for name in (
        "exp expm1 log log1p sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh "
        "erf erfc lgamma"
    ).split()
}


def _sigmoid(e, x):
    return e.div(e.c(1), e.add(e.c(1), FUNCTIONS["exp"](e, e.neg(x))))


FUNCTIONS["sigmoid"] = _sigmoid
FUNCTIONS["pow"] = lambda e, x, y: (
    e.library("pow", x, y) if e.is_float else lowering._int_pow(e, x, y)
)
FUNCTIONS["digamma"] = _library("digamma")
lowering.PRIMITIVES.update(FUNCTIONS)
