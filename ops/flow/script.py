# SPDX-License-Identifier: Apache-2.0
"""Python functions as operations."""

from __future__ import annotations

import itertools
import traceback
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.graph import get_default_graph
from ...engine.graph.registry import NoGradient, Touch
from ...engine.types.dtypes import DType, as_dtype, runtime_name
from ...engine.types.shape import TensorShape
from ..public import raw

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.tensor import Tensor

_KIND_OF_ERROR: tuple[tuple[tuple[type[BaseException], ...], type[errors.OpError]], ...] = (
    ((ValueError, TypeError), errors.InvalidArgumentError),
    ((StopIteration,), errors.OutOfRangeError),
    ((MemoryError,), errors.ResourceExhaustedError),
    ((NotImplementedError,), errors.UnimplementedError),
)


# What an op touches whose token names a function of this process.
PYTHON = (Touch("python"),)


class _Held:
    """A function that can be referred to weakly, whatever it is."""

    __slots__ = ("__weakref__", "function")

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function


class FunctionRegistry:
    """Functions by the token that their operations carry; the graphs keep the functions alive."""

    def __init__(self) -> None:
        self._functions: weakref.WeakValueDictionary[str, _Held] = weakref.WeakValueDictionary()
        self._numbers = itertools.count()

    def insert(self, function: Callable[..., Any], graph: Any) -> str:
        """Registers a function for the lifetime of a graph; returns its token."""
        held, token = _Held(function), f"pyfunc_{next(self._numbers)}"
        # The graph of a function's body goes, the function stays in the library.
        while getattr(graph, "outer_graph", None) is not None:
            graph = graph.outer_graph
        self._functions[token] = held
        if not hasattr(graph, "_py_funcs_used_in_graph"):
            graph._py_funcs_used_in_graph = []
        graph._py_funcs_used_in_graph.append(held)
        return token

    def find(self, token: str) -> Callable[..., Any]:
        """The function with this token."""
        held = self._functions.get(token)
        if held is None:
            raise errors.invalid(f"ValueError: callback {token} is not found")
        return held.function

    def size(self) -> int:
        """The number of functions that are alive."""
        return len(self._functions)


_py_funcs = FunctionRegistry()


def _texts(array: np.ndarray) -> np.ndarray:
    """An array of objects with texts as bytes."""
    result = np.empty(array.shape, object)
    for i, item in enumerate(array.flat):
        if not isinstance(item, (bytes, str)):
            raise errors.internal(f"Unsupported object type {type(item).__name__}")
        result.flat[i] = item.encode() if isinstance(item, str) else item
    return result


def converted(value: object, dtype: Any = None) -> np.ndarray:
    """A result as an array; texts become bytes."""
    if dtype is not None and np.dtype(dtype) == object:
        dtype = None  # Texts are found below.
    array = np.asarray(value, dtype=dtype, order="C")
    if array.dtype.kind in "SU":
        # Arrays of fixed width have lost trailing zero bytes, unless it was such an array before.
        array = array if array is value else np.asarray(value, dtype=object)
    if array.dtype.kind in "OSU":
        return _texts(array)
    try:
        as_dtype(array.dtype)
    except TypeError:
        raise errors.internal("Unsupported numpy data type") from None
    return array


def _results(result: object) -> list[np.ndarray]:
    if result is None:
        return []
    items = list(result) if isinstance(result, (tuple, list)) else [result]
    return [converted(item) for item in items]


def runtime_error(error: Exception) -> errors.OpError:
    """What a failing Python function makes the run raise: its error, with the way there."""
    kind = next((k for kinds, k in _KIND_OF_ERROR if isinstance(error, kinds)), errors.UnknownError)
    # The first frame is the one in this file.
    lines = "\n".join(traceback.format_tb(error.__traceback__)[1:])
    text = f"{type(error).__name__}: {error}"
    message = f"{text}\nTraceback (most recent call last):\n\n{lines}\n{text}\n\n"
    return kind(None, None, message)  # type: ignore[call-arg]


def _name_of(dtype: DTypeLike) -> str:
    return runtime_name(as_dtype(dtype).base_dtype)


def check_results(token: str, arrays: Sequence[np.ndarray], kinds: Sequence[DType]) -> None:
    """Raises InvalidArgumentError unless the results are what the operation declares."""
    if len(arrays) != len(kinds):
        raise errors.invalid(
            f"{token} returns {len(arrays)} values, but expects to see {len(kinds)} values."
        )
    for i, (array, kind) in enumerate(zip(arrays, kinds, strict=True)):
        if array.dtype != kind.base_dtype.np_dtype:
            given = "string" if array.dtype == object else _name_of(array.dtype)
            raise errors.invalid(
                f"{i}-th value returned by {token} is {given}, but expects {_name_of(kind)}"
            )


def _call(c: KernelContext, inputs: list[np.ndarray]) -> Any:
    token = c.attr("token")
    function = _py_funcs.find(token)
    try:
        # Scalars arrive as scalars of NumPy, texts as bytes.
        result = function(*[value[()] for value in inputs])
    except Exception as error:
        raise runtime_error(error) from error
    arrays = _results(result)
    check_results(token, arrays, c.attr("Tout"))
    return tuple(arrays)


def _call_stateless(c: KernelContext, inputs: list[np.ndarray]) -> Any:
    if inputs:
        return _call(c, inputs)
    # Without inputs there is one result: it is computed once, like a constant.
    kept = c.kernel_state(dict)
    if "results" not in kept:
        kept["results"] = _call(c, inputs)
    return kept["results"]


def _shapes(c: ShapeContext) -> list[TensorShape]:
    return [TensorShape(None)] * len(c.attr("Tout"))


for _name, _kernel in (("PyFunc", _call), ("PyFuncStateless", _call_stateless)):
    define(
        _name,
        "input: Tin -> output: Tout",
        "token: string; Tin: list(type) >= 0; Tout: list(type) >= 0",
        shape=_shapes,
        kernel=_kernel,
        gradient=NoGradient("a Python function has no known gradient", silent=True),
        stateful=_name == "PyFunc",
        touches=PYTHON,
        dynamic_shape=True,
        test={"needs": "a Python function"},
        doc="Calls a Python function with arrays.",
    )


def _kinds_of(Tout: Any) -> tuple[bool, list[Any]]:  # noqa: N803 - TensorFlow's name
    is_list = isinstance(Tout, (list, tuple))
    return is_list, list(Tout) if is_list else [Tout]


def require_callable(func: Callable[..., Any]) -> None:
    """Raises TensorFlow's ValueError for what cannot be called."""
    if not callable(func):
        raise ValueError(f"Expected func to be callable, got func of type {type(func)}")


@export("py_func")
def py_func(
    func: Callable[..., Any],
    inp: Sequence[Any],
    Tout: DTypeLike,  # noqa: N803 - TensorFlow's name
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Calls a Python function with arrays whenever the operation runs.

    Args:
        func: a function of NumPy arrays that returns one, or a list of them; None for no results.
        inp: a list of tensors.
        Tout: the dtype of the result, or the list of the dtypes of several.
        stateful: False promises that equal inputs give equal results; it may run less often.
        name: of the operation.

    Returns:
        A Tensor of unknown shape, or a list of them; an Operation if `Tout` is empty.  It has no
        gradient.

    Raises:
        ValueError: `func` is no function.
        InvalidArgumentError: in a run the function returns other dtypes, or raises ValueError.
        UnknownError: it raises an error there that TensorFlow has no class for.

    Example:
        >>> y = tf.py_func(lambda x: x[::-1].copy(), [[1.0, 2.0]], tf.float32)
        >>> tf.Session().run(y)
        array([2., 1.], dtype=float32)
    """
    require_callable(func)
    is_list, kinds = _kinds_of(Tout)
    token = _py_funcs.insert(func, get_default_graph())
    make = raw.PyFunc if stateful else raw.PyFuncStateless
    result = make(list(inp), token=token, Tout=kinds, name=name)
    return result if is_list else result[0]


@export("numpy_function")
def numpy_function(
    func: Callable[..., Any],
    inp: Sequence[Tensor],
    Tout: DTypeLike,  # noqa: N803 - TensorFlow's name
    name: str | None = None,
) -> Any:
    """py_func of a stateful function."""
    return py_func(func, inp, Tout, stateful=True, name=name)
