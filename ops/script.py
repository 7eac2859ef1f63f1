# SPDX-License-Identifier: Apache-2.0
"""Python functions as operations."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.api import export
from ..engine.build import define
from ..engine.graph import get_default_graph
from ..engine.registry import NoGradient
from ..engine.shape import TensorShape
from .public import raw

# Token -> function; the graphs that use a function keep it alive.
_FUNCTIONS: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
_numbers = itertools.count()


class _Held:
    """A function that can be referred to weakly, whatever it is."""

    __slots__ = ("__weakref__", "function")

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function


def _converted(value: Any) -> np.ndarray:
    """A result as an array; texts become bytes."""
    array = np.asarray(value, order="C")
    if array.dtype.kind == "U":
        return np.asarray(np.vectorize(lambda s: s.encode(), otypes=[object])(array), object)
    return array.astype(object) if array.dtype.kind == "S" else array


def _call(c: Any, inputs: list[np.ndarray]) -> Any:
    token = c.attr("token")
    held = _FUNCTIONS.get(token)
    if held is None:
        raise errors.UnknownError(None, None, f"ValueError: callback {token} is not found")
    result = held.function(*inputs)
    results = list(result) if isinstance(result, (tuple, list)) else [result]
    kinds = c.attr("Tout")
    if not kinds:
        return ()
    if len(results) != len(kinds):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"{token} returns {len(results)} values, but expects to see {len(kinds)} values.",
        )
    arrays = [_converted(value) for value in results]
    for i, (array, kind) in enumerate(zip(arrays, kinds, strict=True)):
        if array.dtype != kind.base_dtype.np_dtype:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"{i}-th value returned by {token} is {array.dtype.name}, but expects {kind.name}",
            )
    return tuple(arrays)


def _shapes(c: Any) -> list[TensorShape]:
    return [TensorShape(None)] * len(c.attr("Tout"))


for _name, _stateful in (("PyFunc", True), ("PyFuncStateless", False)):
    define(
        _name,
        "input: Tin -> output: Tout",
        "token: string; Tin: list(type) >= 0; Tout: list(type) >= 0",
        shape=_shapes,
        kernel=_call,
        gradient=NoGradient("a Python function has no known gradient"),
        stateful=_stateful,
        dynamic_shape=True,
        doc="Calls a Python function with arrays.",
    )


@export("py_func")
def py_func(
    func: Callable[..., Any],
    inp: Any,
    Tout: Any,
    stateful: bool = True,
    name: str | None = None,  # noqa: N803
) -> Any:
    """Calls func(*arrays) when the operation runs; it returns arrays of the types `Tout`."""
    if not callable(func):
        raise ValueError(f"Expected func to be callable, got func of type {type(func)}")
    is_list = isinstance(Tout, (list, tuple))
    kinds = list(Tout) if is_list else [Tout]
    held, token = _Held(func), f"pyfunc_{next(_numbers)}"
    _FUNCTIONS[token] = held
    graph = get_default_graph()
    if not hasattr(graph, "_py_funcs_used_in_graph"):
        graph._py_funcs_used_in_graph = []
    graph._py_funcs_used_in_graph.append(held)
    function = raw.PyFunc if stateful else raw.PyFuncStateless
    result = function(list(inp), token=token, Tout=kinds, name=name)
    if is_list or not hasattr(result, "__getitem__"):
        return result
    return result[0] if isinstance(result, (list, tuple)) else result


@export("numpy_function")
def numpy_function(
    func: Callable[..., Any],
    inp: Any,
    Tout: Any,
    name: str | None = None,  # noqa: N803
) -> Any:
    """py_func of a stateful function."""
    return py_func(func, inp, Tout, stateful=True, name=name)
