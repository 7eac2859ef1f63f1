# SPDX-License-Identifier: Apache-2.0
"""The scalar vocabulary as Numba intrinsics: the names that generated kernels may use.

Every primitive of jit/kernel/scalar.py lowers to branch-free LLVM code
(jit/codegen/llvm_scalar.py), so that LLVM vectorises the loops around it.  Values of 16-bit floats
live in float32 and are rounded back after every operation.  Memory is addressed by addresses with a
dtype (jit/codegen/addresses.py) and element
indices: what is loaded has the dtype of the memory, and nothing else can be stored there.
Imports Numba.

The vocabulary, as kernels see it (D is a dtype name):
  add(x, y) … every primitive of the scalar table, arguments of one type
  cast_D(x), round_D(x) for D in float16, bfloat16            load(base, i), store(base, i, value)
  accumulate_add, accumulate_mul, accumulate_max, accumulate_min (acc, x): may be reordered
  stack_D(count) -> address of a block of the frame; count must be a literal
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ..kernel.scalar import COMPILED_DTYPES, PRIMITIVES
from . import llvm_scalar, transcendental
from .addresses import Address, Mismatch, of_one_dtype
from .llvm_scalar import GROUP, Emitter

Lower = Callable[..., Any]
NUMBA_TYPES = {name: getattr(types, name) for name in COMPILED_DTYPES if "float16" not in name}
NUMBA_TYPES["bool"] = types.boolean
NUMBA_TYPES |= {"float16": types.float32, "bfloat16": types.float32}
LOWERINGS = {**llvm_scalar.PRIMITIVES, **transcendental.FUNCTIONS}
_FORGOTTEN = PRIMITIVES.keys() - LOWERINGS.keys() - {"cast"}
if _FORGOTTEN:
    raise TypeError(f"primitives without LLVM code: {', '.join(sorted(_FORGOTTEN))}")
NAMES = {numba_type: name for name, numba_type in NUMBA_TYPES.items() if "float16" not in name}


@cache
def vocabulary() -> dict[str, Any]:
    """Name to intrinsic (and to NumPy scalar type, for literals): the globals of a kernel."""
    names: dict[str, Any] = {name: _primitive(name) for name in PRIMITIVES if name != "cast"}
    for dtype in sorted(COMPILED_DTYPES):
        names[f"cast_{dtype}"] = _cast(dtype)
        names[f"stack_{dtype}"] = _stack(dtype)
        names[dtype] = np.dtype("float32" if "float16" in dtype else dtype).type
    names["round_float16"], names["round_bfloat16"] = _round("float16"), _round("bfloat16")
    for name in ("add", "mul", "max", "min"):
        names[f"accumulate_{name}"] = _accumulate(name)
    return names | {"load": _load(), "store": _store()}


def _primitive(name: str) -> Any:
    primitive = PRIMITIVES[name]

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        dtype = NAMES[signature.args[-1]]
        return LOWERINGS[name](Emitter(builder, dtype), *args)

    def typing(*args: Any) -> Any:
        last = args[-1]
        _alike(name, *(args[1:] if primitive.result == "branch" else args))
        result = types.boolean if primitive.result == "bool" else last
        return result(*args), lower

    return _intrinsic(name, primitive.arity, typing)


def _cast(dtype: str) -> Any:
    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return llvm_scalar.cast(Emitter(builder, NAMES[signature.args[0]]), args[0], dtype)

    return _intrinsic(f"cast_{dtype}", 1, lambda x: (NUMBA_TYPES[dtype](x), lower))


def _round(dtype: str) -> Any:
    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return llvm_scalar.round_half(Emitter(builder, "float32"), args[0], dtype)

    return _intrinsic(f"round_{dtype}", 1, lambda x: (x(x), lower))


def _accumulate(name: str) -> Any:
    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return llvm_scalar.accumulate(Emitter(builder, NAMES[signature.args[0]]), name, *args)

    def typing(x: Any, y: Any) -> Any:
        _alike(f"accumulate_{name}", x, y)
        return x(x, x), lower

    return _intrinsic(f"accumulate_{name}", 2, typing)


def _alike(name: str, *kinds: Any) -> None:
    if len(set(kinds)) > 1:
        raise Mismatch(f"{name} of {', '.join(map(str, kinds))}", "arguments are of one type")


def _load() -> Any:
    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        e = Emitter(builder, signature.args[0].dtype)
        value = builder.load(_element(builder, e, args[0], args[1]))
        value.align = e.bytes
        value.set_metadata("llvm.access.group", builder.module.add_metadata([GROUP]))
        return llvm_scalar.from_memory(e, value)

    def typing(base: Any, i: Any) -> Any:
        return NUMBA_TYPES[of_one_dtype("load", base)](base, types.intp), lower

    return _intrinsic("load", 2, typing)


def _store() -> Any:
    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        e = Emitter(builder, signature.args[0].dtype)
        place = _element(builder, e, args[0], args[1])
        store = builder.store(llvm_scalar.to_memory(e, args[2]), place)
        store.align = e.bytes
        store.set_metadata("llvm.access.group", builder.module.add_metadata([GROUP]))
        return context.get_dummy_value()

    def typing(base: Any, i: Any, value: np.ndarray | np.generic) -> Any:
        dtype = of_one_dtype("store", base)
        if value != NUMBA_TYPES[dtype]:
            raise Mismatch(f"store of {value} into {dtype}", "memory is accessed in its own dtype")
        return types.void(base, types.intp, value), lower

    return _intrinsic("store", 3, typing)


def _element(builder: Any, e: Emitter, base: Any, index: Any) -> Any:
    return builder.gep(builder.inttoptr(base, e.memory.as_pointer()), [index])


def _stack(dtype: str) -> Any:
    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        e = Emitter(builder, dtype)
        count = signature.args[0].literal_value
        with builder.goto_entry_block():
            block = builder.alloca(ir.ArrayType(e.memory, count))
            block.align = 64
        return builder.ptrtoint(block, ir.IntType(64))

    def typing(count: Any) -> Any:
        return Address(dtype)(count), lower

    return _intrinsic(f"stack_{dtype}", 1, typing, prefer_literal=True)


def _intrinsic(name: str, arity: int, typing: Callable[..., Any], **options: Any) -> Any:
    """A Numba intrinsic of fixed arity: Numba reads the parameter list of the function it gets."""
    if arity == 1:

        def declare(typing_context: Any, x: Any) -> Any:
            return typing(x)
    elif arity == 2:

        def declare(typing_context: Any, x: Any, y: Any) -> Any:  # type: ignore[misc]
            return typing(x, y)
    else:

        def declare(typing_context: Any, x: Any, y: Any, z: Any) -> Any:  # type: ignore[misc]
            return typing(x, y, z)

    declare.__name__ = declare.__qualname__ = name
    return intrinsic(**options)(declare) if options else intrinsic(declare)
