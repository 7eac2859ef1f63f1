# SPDX-License-Identifier: Apache-2.0
"""Addresses of memory as kernels see them: a number whose type says what lies there.

A source declares the dtypes of its buffers (`BUFFERS`, see jit/library/library_kernel.py), and the
argument block gives addresses of these types; blocks of the frame and regions of scratch memory are
declared where they are made.  Accesses take the dtype from the address and offsets count elements,
so that no text can read, write or step over memory in another width than it was declared with: such
a text has no types and does not compile.  Imports Numba.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import errors, imputils
from numba.core.datamodel import models, register_default
from numba.core.typing import templates

from .words import element_bytes

_WORD = ir.IntType(64)
# What installs the operations on these types in a target (jit/codegen/numba_target.py).
TYPING = templates.Registry()
LOWERING = imputils.Registry("addresses")


class Address(types.Type):  # type: ignore[misc]
    """The address of elements of a dtype."""

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype
        super().__init__(name=f"Address({dtype})")


class Arguments(types.Type):  # type: ignore[misc]
    """A kernel's argument block: addresses of buffers of these dtypes, then int64 numbers."""

    def __init__(self, dtypes: tuple[str, ...]) -> None:
        self.dtypes = dtypes
        super().__init__(name=f"Arguments({', '.join(dtypes)})")


class Mismatch(errors.TypingError):  # type: ignore[misc]
    """An access that does not fit the memory that it accesses."""

    def __init__(self, access: str, rule: str) -> None:
        super().__init__(f"{access}: {rule}")


@register_default(Address)
class _AddressModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _WORD)


@register_default(Arguments)
class _ArgumentsModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _WORD.as_pointer())


@TYPING.register_global(operator.getitem)
class _Argument(templates.AbstractTemplate):  # type: ignore[misc]
    """args[i]: a typed address for the literal number of a buffer, else a number."""

    prefer_literal = True

    def generic(self, args: Any, kws: Any) -> Any:
        block, index = args
        if not isinstance(block, Arguments):
            return None
        if isinstance(index, types.IntegerLiteral) and index.literal_value < len(block.dtypes):
            return templates.signature(Address(block.dtypes[index.literal_value]), block, index)
        if isinstance(index, types.Integer):
            return templates.signature(types.int64, block, types.intp)
        return None


@LOWERING.lower(operator.getitem, Arguments, types.Integer)
def _lower_argument(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> Any:
    index = context.cast(builder, args[1], signature.args[1], types.intp)
    return builder.load(builder.gep(args[0], [index]))


@TYPING.register_global(operator.setitem)
class _SetArgument(templates.AbstractTemplate):  # type: ignore[misc]
    """args[i] = number, in a block of numbers alone."""

    def generic(self, args: Any, kws: Any) -> Any:
        block, index, _ = args
        if isinstance(block, Arguments) and not block.dtypes and isinstance(index, types.Integer):
            return templates.signature(types.none, block, types.intp, types.int64)
        return None


@LOWERING.lower(operator.setitem, Arguments, types.Integer, types.Integer)
def _lower_set_argument(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> Any:
    builder.store(args[2], builder.gep(args[0], [args[1]]))


@TYPING.register_global(operator.add)
class _Moved(templates.AbstractTemplate):  # type: ignore[misc]
    """address + n: n elements further on."""

    def generic(self, args: Any, kws: Any) -> Any:
        base, count = args
        if isinstance(base, Address) and isinstance(count, types.Integer):
            return templates.signature(base, base, types.int64)
        return None


@LOWERING.lower(operator.add, Address, types.Integer)
def _lower_moved(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> Any:
    size = element_bytes(builder, signature.return_type.dtype)
    return builder.add(args[0], builder.mul(args[1], _WORD(size)))
