# SPDX-License-Identifier: Apache-2.0
"""What rewritten functions call, by the names that rewriting.py gives."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from . import control, values
from .conversion import Options, converted
from .state import Undefined, is_tensor


def _either(function: Any, overload: Any, *args: Any) -> Any:
    """What old programs have of a builtin function; that of tensors for these."""
    return (overload if any(map(is_tensor, args)) else function)(*args)


def _call_method(function: Any) -> Any:
    """What is run when an object of a class is called."""
    return next(
        (vars(c)["__call__"] for c in type(function).__mro__ if "__call__" in vars(c)), None
    )


class Calls:
    """What a rewritten function calls.

    Args:
        options: how it was rewritten, which is how functions are that it calls.
    """

    if_stmt = staticmethod(control.if_stmt)
    while_stmt = staticmethod(control.while_stmt)
    for_stmt = staticmethod(control.for_stmt)
    if_exp = staticmethod(values.if_exp)
    and_ = staticmethod(values.and_)
    or_ = staticmethod(values.or_)
    not_ = staticmethod(values.not_)
    eq = staticmethod(values.eq)
    not_eq = staticmethod(values.not_eq)
    assert_stmt = staticmethod(values.assert_stmt)
    new_list = staticmethod(values.new_list)
    list_append = staticmethod(values.list_append)
    set_item = staticmethod(values.set_item)
    Undefined = Undefined

    def __init__(self, options: Options) -> None:
        self._options = options

    def callee(self, function: Any) -> Any:
        """What is called in the place of a function: itself, rewritten if it is the program's."""
        if isinstance(function, (types.BuiltinFunctionType, type)):
            if function is print and "BUILTIN_FUNCTIONS" not in self._options.features:
                return print  # (It is of use while the graph is built.)
            if not isinstance(type(function).__call__, types.FunctionType):
                return values.BUILTINS.get(function, function)
        if hasattr(function, "stands_for"):
            return functools.partial(_either, function, values.BUILTINS[function.stands_for])
        if not self._options.recursive:
            return function
        if isinstance(function, (types.FunctionType, types.MethodType, functools.partial)):
            return converted(function, self._options)
        call = _call_method(function)
        if isinstance(call, types.FunctionType):
            made = converted(call, self._options)
            return function if made is call else types.MethodType(made, function)
        return function

    @staticmethod
    def value(read: Callable[[], Any], name: str) -> Any:
        """What an attribute or an item is; no value where there is none."""
        try:
            return read()
        except (AttributeError, KeyError, IndexError, NameError, TypeError):
            return Undefined(name)

    @staticmethod
    def is_value(value: Any) -> bool:
        """Whether a variable has a value."""
        return not isinstance(value, Undefined)
