# SPDX-License-Identifier: Apache-2.0
"""Functions of real numbers that LLVM takes from C's library, which a GPU has not.

Those that jit/codegen/transcendental.py computes take its code; of others a kernel has no PTX.
LLVM's generator ends the process where it meets a function that it cannot write, so what it can is
a list.  Imports llvmlite alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from llvmlite import ir

from ..codegen import transcendental
from ..codegen.llvm_scalar import Emitter
from ..codegen.words import Unfit

_INSTRUCTIONS = frozenset(
    """
    abs assume bswap ceil copysign ctlz ctpop cttz fabs floor fma fmuladd fshl fshr maximum maxnum
    memcpy memset minimum minnum nearbyint rint round roundeven smax smin sqrt trunc umax umin
    """.split()
)
_FLOATS = {"f32": "float32", "f64": "float64"}
_OURS: dict[tuple[str, str], Callable[..., Any]] = {
    (name, kind): getattr(transcendental, name)
    for name in ("exp", "log", "sin", "cos", "tan", "pow")
    for kind in _FLOATS
}
# The names of square roots in C's library, which an instruction computes as well.
_ROOTS = {"sqrtf": "llvm.sqrt.f32", "sqrt": "llvm.sqrt.f64"}


def own_functions(module: ir.Module) -> str:
    """The text of a module in which nothing is left to C's library; Unfit if something is."""
    names = dict(_replacements(module))
    text = str(module)
    for old, new in names.items():
        text = re.sub(rf'^declare [^\n]*@"{re.escape(old)}"[^\n]*\n', "", text, flags=re.M)
        text = text.replace(f'@"{old}"', f'@"{new}"')
    return text


def is_long(name: str) -> bool:
    """Whether a function is one of ours, and not an instruction."""
    return name not in _ROOTS and _family(name) in _OURS


def _family(name: str) -> tuple[str, str]:
    family, _, rest = name.removeprefix("llvm.").partition(".")
    return family, rest.partition(".")[0]


def _replacements(module: ir.Module) -> Iterator[tuple[str, str]]:
    """What is called otherwise, by the name that it had."""
    for function in [f for f in module.functions if f.is_declaration]:
        family, kind = _family(function.name)
        if function.name in _ROOTS:
            intrinsic = _ROOTS[function.name]
            if intrinsic not in module.globals:
                ir.Function(module, function.function_type, intrinsic)
            yield function.name, intrinsic
        elif (family, kind) in _OURS:
            yield function.name, _written(module, function, family, kind)
        elif family != "nvvm" and not (
            function.name.startswith("llvm.") and family in _INSTRUCTIONS
        ):
            raise Unfit(f"{function.name}: a GPU has no such function")


def _written(module: ir.Module, like: ir.Function, family: str, kind: str) -> str:
    name = f"numbaflow_{family}_{kind}"
    made = ir.Function(module, like.function_type, name)
    made.linkage = "internal"
    builder = ir.IRBuilder(made.append_basic_block("entry"))
    builder.ret(_OURS[family, kind](Emitter(builder, _FLOATS[kind]), *made.args))
    return name
