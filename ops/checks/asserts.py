# SPDX-License-Identifier: Apache-2.0
"""tf.Assert and the assert_* functions about values; those about ranks and shapes: shape.py."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.constants import constant_value
from ...engine.graph.convert import convert_n_to_tensor, convert_to_tensor
from ...engine.graph.registry import NoGradient
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import SparseTensor, Tensor
from ...engine.types import dtypes
from ...jit.kernel import scalar as k
from ..public import tf
from ..ranks import ranked, scalar

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

NUMERIC_TYPES = frozenset(
    [
        dtypes.float32,
        dtypes.float64,
        dtypes.int8,
        dtypes.int16,
        dtypes.int32,
        dtypes.int64,
        dtypes.uint8,
        dtypes.qint8,
        dtypes.qint32,
        dtypes.quint8,
        dtypes.complex64,
    ]
)


# Assert


_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "'": "\\'", "\\": "\\\\"}


def _escaped(text: bytes) -> str:
    """A text as a C program would state it."""
    return "".join(_ESCAPES.get(char, char) for char in text.decode(errors="replace"))


def _summary(value: np.ndarray, entries: int) -> str:
    """The first entries of an array, as the runtime prints them; -1 means all."""
    flat = np.asarray(value).ravel()
    limit = flat.size if entries < 0 else min(entries, flat.size)
    if flat.dtype == object:
        texts = [_escaped(item) for item in flat[:limit]]
    elif flat.dtype.kind == "f":
        texts = [f"{float(item):.6g}" for item in flat[:limit]]
    else:
        whole = flat.dtype.kind in "biu"
        texts = [str(int(item)) if whole else str(item) for item in flat[:limit]]
    more = "..." if limit < flat.size else ""
    return (_nested(texts, value.shape) if value.ndim > 1 else " ".join(texts)) + more


def _nested(texts: list[str], shape: tuple[int, ...]) -> str:
    """Rows in brackets of their own, as far as there are texts for them."""
    if len(shape) == 1:
        return " ".join(texts) + ("..." if len(texts) < shape[0] else "")
    size = math.prod(shape[1:])
    rows = range(min(shape[0], -(-len(texts) // size) if size else 0))
    return "".join(f"[{_nested(texts[i * size : (i + 1) * size], shape[1:])}]" for i in rows)


def _assert_kernel(c: KernelContext, condition: np.ndarray, data: list[np.ndarray]) -> None:
    if condition.size != 1:
        text = "In[0] should be a scalar: " + str(list(condition.shape))
        raise errors.invalid(text)
    if condition:
        return
    raise _failed(data, c.attr("summarize"))


def _failed(data: Sequence[Any], summarize: int) -> BaseException:
    parts = (f"[{_summary(np.asarray(value), summarize)}]" for value in data)
    return errors.invalid("assertion failed: " + " ".join(parts))


def _lower_assert(b: Builder, op: OpView, condition: Value, data: list[Value]) -> Any:
    known = [b.known(value) for value in data]
    # (Sizes are no numbers yet.)
    fixed = [
        None if array is not None and array.dtype == object and value.dtype != "object" else array
        for array, value in zip(known, data)
    ]
    if any(array is None and not k.compiles(value.dtype) for array, value in zip(fixed, data)):
        return NotImplemented
    if condition.ndim:
        return NotImplemented
    shown = [value for value, array in zip(data, fixed) if array is None]

    def problem(*contents: np.ndarray) -> BaseException:
        rest = iter(contents)
        found = [next(rest) if array is None else array for array in fixed]
        return _failed(found, op.attr("summarize"))

    b.require_not(b.map(k.logical_not, condition), problem, *shown)
    return ()


def _assert_shape(c: ShapeContext) -> list[Any]:
    if c.inputs[0].ndims not in (0, None):
        raise ValueError(f"Shape must be rank 0 but is rank {c.inputs[0].ndims}")
    return []


raw_assert = define(
    "Assert",
    "condition: bool, data: T ->",
    "T: list(type) >= 1; summarize: int = 3",
    shape=_assert_shape,
    kernel=ranked(_assert_kernel, scalar(0, "In[0] should be a scalar: {shape}")),
    lower=_lower_assert,
    gradient=NoGradient("an assertion has no outputs", silent=True),
    stateful=True,
    test=lambda: {"values": [[np.bool_(True), [np.int32(1)]]]},
    doc="Raises InvalidArgumentError, showing data, unless the condition holds.",
)


@export("debugging.Assert", "Assert")
def Assert(
    condition: TensorLike,
    data: Sequence[Any],
    summarize: int | None = None,
    name: str | None = None,
) -> Any:
    """An operation that checks a condition whenever it runs.

    Args:
        condition: a bool scalar tensor.
        data: a list of tensors to be shown if it is false.
        summarize: how many elements of each tensor are shown; 3 by default.
        name: of the operation.

    Returns:
        An Operation, which must run: by tf.control_dependencies, for one.

    Raises:
        InvalidArgumentError: the condition is false in a run.

    Example:
        >>> x = tf.placeholder(tf.float32, [])
        >>> with tf.control_dependencies([tf.Assert(x > 0, ["not positive:", x])]):
        ...     y = tf.sqrt(x)
        >>> tf.Session().run(y, {x: 4})
        np.float32(2.0)
    """
    with name_scope(name, "Assert", [condition, data]) as name:
        tensors = convert_n_to_tensor(data)
        # TensorFlow's way: such data are in host memory anyhow, and others are copied only where
        # the assertion fails, which is what the branch is for.
        if all(x.dtype in (dtypes.string, dtypes.int32) for x in tensors):
            return raw_assert(condition, data, summarize, name="Assert")
        condition = convert_to_tensor(condition, name="Condition")
        guarded = tf.cond(
            condition,
            tf.no_op,
            lambda: raw_assert(condition, data, summarize, name="Assert"),
            name="AssertGuard",
        )
        return guarded.op


def _check_now(condition: bool, data: list[Any]) -> None:
    """Raises at once when the condition is known to be false."""
    if condition:
        return
    texts = []
    for item in data:
        known = constant_value(item) if isinstance(item, Tensor) else item
        texts.append(str(item if known is None else known))
    raise errors.invalid("\n".join(texts))


# Comparisons


def _compare(
    symbol: str,
    opname: str,
    dynamic: str,
    static: Callable[..., Any],
    x: TensorLike,
    y: TensorLike,
    data: Any,
    summarize: int | None,
    message: str | None,
    name: str | None,
) -> Any:
    with name_scope(name, opname, [x, y, data]):
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y")
        if data is None:
            data = [
                f"Condition x {symbol} y did not hold element-wise:",
                f"x ({x.name}) = ",
                x,
                f"y ({y.name}) = ",
                y,
            ]
        if message is not None:
            data = [message, *data]
        condition = tf.reduce_all(getattr(tf, dynamic)(x, y))
        x_value, y_value = constant_value(x), constant_value(y)
        if x_value is not None and y_value is not None:
            _check_now(bool(np.all(static(x_value, y_value))), data)
        return Assert(condition, data, summarize=summarize)


_DOC = """An operation that raises unless x {symbol} {what} holds for every element.

    Args:
        x: a tensor of numbers{more}.
        data: a list of tensors to be shown if it does not hold; the arguments by default.
        summarize: how many elements of each tensor are shown; 3 by default.
        message: a text in front of them.
        name: the scope of the operations.

    Returns:
        An Operation, which must run: by tf.control_dependencies, for one.

    Raises:
        InvalidArgumentError: it does not hold: in a run, or at once where the graph knows that.

    Example:
        >>> with tf.control_dependencies([tf.{name}({arguments})]):
        ...     checked = tf.identity("checked")
        >>> tf.Session().run(checked)
        b'checked'
    """
_SECOND = """.
        y: a tensor of the same dtype; the shapes broadcast"""


def _binary(
    opname: str, symbol: str, dynamic: str, static: Callable[..., Any], arguments: str
) -> Any:
    def check(
        x: TensorLike,
        y: TensorLike,
        data: Sequence[Any] | None = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Any:
        # TensorFlow 1.15 looks only here whether it is given the same tensor twice.
        if opname == "assert_equal":
            with name_scope(name, "assert_equal", [x, y, data]):
                if x is y:
                    return tf.no_op()
        return _compare(symbol, opname, dynamic, static, x, y, data, summarize, message, name)

    check.__name__ = check.__qualname__ = opname
    words = {"what": "y", "more": _SECOND, "name": opname, "arguments": arguments}
    check.__doc__ = _DOC.format(symbol=symbol, **words)
    return export(f"debugging.{opname}", opname)(check)


assert_equal = _binary("assert_equal", "==", "equal", np.equal, "[1, 2], [1, 2]")
assert_none_equal = _binary("assert_none_equal", "!=", "not_equal", np.not_equal, "[1, 2], 3")
assert_less = _binary("assert_less", "<", "less", np.less, "[1, 2], 3")
assert_less_equal = _binary("assert_less_equal", "<=", "less_equal", np.less_equal, "[1, 2], 2")
assert_greater = _binary("assert_greater", ">", "greater", np.greater, "[1, 2], 0")
assert_greater_equal = _binary(
    "assert_greater_equal", ">=", "greater_equal", np.greater_equal, "[1, 2], 1"
)


def _sign_check(opname: str, symbol: str, check: Callable[..., Any], zero_first: bool) -> Any:
    def assert_sign(
        x: TensorLike,
        data: TensorLike | None = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Any:
        message = message or ""
        with name_scope(name, opname, [x, data]):
            x = convert_to_tensor(x, name="x")
            if data is None:
                condition = f"Condition x {symbol} 0 did not hold element-wise:"
                data = [message, condition, f"x ({x.name}) = ", x]
                if opname == "assert_non_positive":
                    # TensorFlow 1.15 runs these two texts together.
                    data[1:3] = [data[1] + data[2]]
            zero = convert_to_tensor(0, dtype=x.dtype)
            pair = (zero, x) if zero_first else (x, zero)
            return check(*pair, data=data, summarize=summarize)

    assert_sign.__name__ = assert_sign.__qualname__ = opname
    example = "[1, 2]" if ">" in symbol else "[-1, -2]"
    words = {"what": "0", "more": "", "name": opname, "arguments": example}
    assert_sign.__doc__ = _DOC.format(symbol=symbol, **words)
    return export(f"debugging.{opname}", opname)(assert_sign)


assert_negative = _sign_check("assert_negative", "<", assert_less, False)
assert_positive = _sign_check("assert_positive", ">", assert_less, True)
assert_non_negative = _sign_check("assert_non_negative", ">=", assert_less_equal, True)
assert_non_positive = _sign_check("assert_non_positive", "<=", assert_less_equal, False)


@export("debugging.assert_near", "assert_near")
def assert_near(
    x: TensorLike,
    y: TensorLike,
    rtol: TensorLike | None = None,
    atol: TensorLike | None = None,
    data: Sequence[Any] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """An operation that raises unless |x - y| < atol + rtol * |y| for every element."""
    message = message or ""
    with name_scope(name, "assert_near", [x, y, rtol, atol, data]):
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype)
        # Ten units in the last place of 1, for either tolerance.
        eps = np.finfo(x.dtype.as_numpy_dtype).eps
        rtol = convert_to_tensor(10 * eps if rtol is None else rtol, name="rtol", dtype=x.dtype)
        atol = convert_to_tensor(10 * eps if atol is None else atol, name="atol", dtype=x.dtype)
        if data is None:
            tolerance = f"x and y not equal to tolerance rtol = {rtol}, atol = {atol}"
            data = [message, tolerance, f"x ({x.name}) = ", x, f"y ({y.name}) = ", y]
        limit = atol + rtol * tf.abs(y)
        condition = tf.reduce_all(tf.less(tf.abs(x - y), limit))
        return Assert(condition, data, summarize=summarize)


# Iterables and order


@export("debugging.assert_proper_iterable", "assert_proper_iterable")
def assert_proper_iterable(values: TensorLike) -> None:
    """Raises TypeError unless values is iterable and not a tensor, array or string."""
    kinds = (Tensor, SparseTensor, np.ndarray, bytes, str)
    if isinstance(values, kinds):
        raise TypeError(
            f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}'
        )
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


@export("debugging.is_numeric_tensor", "is_numeric_tensor")
def is_numeric_tensor(tensor: TensorLike) -> bool:
    """Whether the argument is a Tensor of numbers."""
    return isinstance(tensor, Tensor) and tensor.dtype in NUMERIC_TYPES


def _differences(x: Tensor) -> Any:
    """x[1:] - x[:-1] of the flattened tensor; nothing when it is shorter than two."""
    x = tf.reshape(x, [-1])
    if not is_numeric_tensor(x):
        raise TypeError(f"Expected x to be numeric, instead found: {x}")
    is_short = tf.less(tf.size(x), 2)
    length = tf.shape(x) - 1

    def subtract() -> Tensor:
        later = tf.strided_slice(x, [1], [1] + length)
        return later - tf.strided_slice(x, [0], length)

    return tf.cond(is_short, lambda: convert_to_tensor([], dtype=x.dtype), subtract)


def _monotonic(opname: str, compare: str, doc: str) -> Any:
    def check(x: Tensor, name: str | None = None) -> Any:
        with name_scope(name, opname, [x]):
            differences = _differences(x)
            zero = convert_to_tensor(0, dtype=differences.dtype)
            return tf.reduce_all(getattr(tf, compare)(zero, differences))

    check.__name__ = check.__qualname__ = opname
    check.__doc__ = doc
    return export(f"math.{opname}", f"debugging.{opname}", opname)(check)


is_non_decreasing = _monotonic(
    "is_non_decreasing", "less_equal", "Whether no element is below the one before it."
)
is_strictly_increasing = _monotonic(
    "is_strictly_increasing", "less", "Whether each element is above the one before it."
)
