# SPDX-License-Identifier: Apache-2.0
"""The words of kernels (jit/codegen/words.py, jit/codegen/vocabulary.py) as Numba intrinsics.

Imports Numba.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ..kernel.scalar import COMPILED_DTYPES
from . import addresses, vocabulary, words
from .numba_target import helper

_TYPES = {name: getattr(types, name) for name in set(words.HELD_IN.values()) - {"bool"}}
_TYPES["bool"] = types.boolean
_KINDS = {numba_type: name for name, numba_type in _TYPES.items()}


@cache
def generated() -> dict[str, Any]:
    """Name to intrinsic (and to NumPy scalar type, for literals): the globals of a kernel."""
    names = {name: intrinsic_of(word) for name, word in words.table().items()}
    literals = {dtype: np.dtype(words.HELD_IN[dtype]).type for dtype in COMPILED_DTYPES}
    return names | literals


@cache
def library() -> dict[str, Any]:
    """The further names that the texts of library kernels use."""
    names = {name: intrinsic_of(word) for name, word in vocabulary.table().items()}
    kinds = {name: getattr(numba, name) for name in vocabulary.CASTS}
    functions = {name: getattr(math, name) for name in vocabulary.FUNCTIONS}
    return {**names, **kinds, **functions, "helper": helper}


def _kind(numba_type: Any) -> words.Kind:
    if isinstance(numba_type, addresses.Address):
        return words.Address(numba_type.dtype)
    if isinstance(numba_type, addresses.Arguments):
        return words.ARGUMENTS
    if isinstance(numba_type, types.CPointer):
        return words.Pointer(str(numba_type.dtype))
    if isinstance(numba_type, types.StringLiteral):
        return words.Text(numba_type.literal_value)
    plain = types.unliteral(numba_type)
    return _KINDS.get(plain, str(plain))


def _type(kind: words.Kind) -> Any:
    if isinstance(kind, words.Address):
        return addresses.Address(kind.dtype)
    if isinstance(kind, words.Pointer):
        return types.CPointer(_TYPES[kind.dtype])
    return types.void if kind is None else _TYPES[str(kind)]


def _literal(numba_type: Any, value: Any) -> Any:
    is_literal = isinstance(numba_type, types.IntegerLiteral)
    return ir.Constant(words.WORD, numba_type.literal_value) if is_literal else value


def intrinsic_of(word: words.Word) -> Any:
    """A word as an intrinsic, for one target of Numba's: others do not find what it has lowered."""

    def typing(*args: Any) -> Any:
        kinds = tuple(map(_kind, args))
        try:
            result = _type(word.result(*kinds))
        except words.Unfit as error:
            raise addresses.Mismatch(*str(error).split(": ", 1)) from error

        def lower(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
            value = word.code(builder, kinds, tuple(map(_literal, signature.args, values)))
            # Numba's void is a value as well, where LLVM's is none.
            return context.get_dummy_value() if result == types.void else value

        return result(*args), lower

    # Sizes of frames and shapes of tiles are part of the code. Generated texts have hundreds of
    # other words, each of which Numba would type once per literal.
    is_shaped = word.name.startswith("stack_") or word.name in vocabulary.table()
    options = {"prefer_literal": True} if is_shaped else {}
    return _with_parameters(word.name, word.arity, typing, **options)


def _with_parameters(name: str, arity: int, typing: Callable[..., Any], **options: Any) -> Any:
    """A Numba intrinsic of fixed arity: Numba reads the parameter list of the function it gets."""

    def declare(typing_context: Any, *args: Any) -> Any:
        return typing(*args)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    names = ("typing_context", *(f"x{number}" for number in range(arity)))
    parameters = [inspect.Parameter(name, kind) for name in names]
    declare.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    declare.__name__ = declare.__qualname__ = name
    return intrinsic(**options)(declare) if options else intrinsic(declare)
