# SPDX-License-Identifier: Apache-2.0
"""The words of generated kernels (jit/codegen/words.py) as Numba intrinsics.

Imports Numba.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ..kernel.scalar import COMPILED_DTYPES
from . import addresses, words

_TYPES = {name: getattr(types, name) for name in set(words.HELD_IN.values()) - {"bool"}}
_TYPES["bool"] = types.boolean
_KINDS = {numba_type: name for name, numba_type in _TYPES.items()}


@cache
def vocabulary() -> dict[str, Any]:
    """Name to intrinsic (and to NumPy scalar type, for literals): the globals of a kernel."""
    names = {name: _intrinsic(word) for name, word in words.table().items()}
    literals = {dtype: np.dtype(words.HELD_IN[dtype]).type for dtype in COMPILED_DTYPES}
    return names | literals


def _kind(numba_type: Any) -> words.Kind:
    if isinstance(numba_type, addresses.Address):
        return words.Address(numba_type.dtype)
    plain = types.unliteral(numba_type)
    return _KINDS.get(plain, str(plain))


def _type(kind: words.Kind) -> Any:
    if isinstance(kind, words.Address):
        return addresses.Address(kind.dtype)
    return types.void if kind is None else _TYPES[kind]


def _literal(numba_type: Any, value: Any) -> Any:
    is_literal = isinstance(numba_type, types.IntegerLiteral)
    return ir.Constant(words.WORD, numba_type.literal_value) if is_literal else value


def _intrinsic(word: words.Word) -> Any:
    def typing(*args: Any) -> Any:
        kinds = tuple(map(_kind, args))
        try:
            result = _type(word.result(*kinds))
        except words.Unfit as error:
            raise addresses.Mismatch(*str(error).split(": ", 1)) from error

        def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            value = word.code(builder, kinds, tuple(map(_literal, signature.args, values)))
            return context.get_dummy_value() if result == types.void else value

        return result(*args), lower

    options = {"prefer_literal": True} if word.name.startswith("stack_") else {}
    return _with_parameters(word.name, word.arity, typing, **options)


def _with_parameters(name: str, arity: int, typing: Callable[..., Any], **options: Any) -> Any:
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
