# SPDX-License-Identifier: Apache-2.0
"""Division as Python means it, and the operators of Tensor: + - * / // % ** @ < & | ^ ~ abs.

The operators' name scopes, conversions and op types are those of TensorFlow 1.15: `+` makes AddV2,
`/` casts integers to floats, `==` stays identity.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.deprecation import deprecated
from ...engine.dispatch import dispatched
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import IndexedSlices, SparseTensor, Tensor, overload
from ...engine.types import dtypes
from ..public import raw, tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike

# What `/` computes integers in; None: the type itself.
_TRUE_DIVISION = {
    dtypes.uint8: dtypes.float32,
    dtypes.int8: dtypes.float32,
    dtypes.uint16: dtypes.float32,
    dtypes.int16: dtypes.float32,
    dtypes.int32: dtypes.float64,
    dtypes.int64: dtypes.float64,
    dtypes.bfloat16: None,
    dtypes.float16: None,
    dtypes.float32: None,
    dtypes.float64: None,
    dtypes.complex64: None,
    dtypes.complex128: None,
}


def _same_dtype(x: Tensor, y: Tensor) -> dtypes.DType:
    x_dtype, y_dtype = x.dtype.base_dtype, y.dtype.base_dtype
    if x_dtype != y_dtype:
        raise TypeError(f"x and y must have the same dtype, got {x_dtype!r} != {y_dtype!r}")
    return x_dtype


def _to_float(dtype: dtypes.DType, *values: Any) -> list[Any]:
    """The operands of a true division, cast where integers become floats."""
    if dtype not in _TRUE_DIVISION:
        raise TypeError(f"Invalid dtype {dtype!r} in __truediv__")
    target = _TRUE_DIVISION[dtype]
    return [value if target is None else tf.cast(value, target) for value in values]


@export("math.truediv", "truediv")
@dispatched
def truediv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x / y in floating point: the operator `/` of tensors.

    Args:
        x: a tensor of numbers; integers of 8 and 16 bits become float32, others float64.
        y: a tensor of the dtype of `x`; the shapes broadcast.
        name: of the operation.

    Returns:
        A tensor of floating-point or complex numbers, of the shape that both broadcast to.

    Raises:
        TypeError: the dtypes differ or are no numbers.
        ValueError: shapes known in the graph do not broadcast.
        InvalidArgumentError: shapes of a run do not.

    Example:
        >>> tf.Session().run(tf.truediv([7, -7], 2))
        array([ 3.5, -3.5])
    """
    with name_scope(name, "truediv", [x, y]) as name:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y")
        x, y = _to_float(_same_dtype(x, y), x, y)
        return raw.RealDiv(x, y, name=name)


def _classic_div(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    with name_scope(name, "div", [x, y]) as name:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        dtype = _same_dtype(x, y)
        if dtype.is_floating or dtype.is_complex:
            return raw.RealDiv(x, y, name=name)
        return raw.FloorDiv(x, y, name=name)


@export("div")
@deprecated(None, "Deprecated in favor of operator or tf.math.divide.")
def div(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x / y as in Python 2, rounded down for integers.  Deprecated: `tf.divide` and `//` say more.

    Args:
        x: a tensor of numbers.
        y: a tensor of the dtype of `x`, to which other values are converted; the shapes broadcast.
        name: of the operation.

    Returns:
        A tensor of the dtype of `x`, of the shape that both broadcast to.

    Raises:
        TypeError: the dtypes differ.
        ValueError: shapes known in the graph do not broadcast, or `y` is of another dtype.
        InvalidArgumentError: an integer is divided by zero, or shapes of a run do not broadcast.

    Example:
        >>> tf.Session().run([tf.div([7, -7], 2), tf.div(7.0, 2.0)])
        [array([ 3, -4], dtype=int32), np.float32(3.5)]
    """
    return _classic_div(x, y, name)


@export("math.divide", "divide")
@dispatched
def divide(x: Any, y: Any, name: str | None = None) -> Any:
    """x / y as Python's operator does it: integers give floating-point numbers.

    Args:
        x: a tensor of numbers, or a number; int32 and int64 are cast to float64.
        y: what `x` may be; of the same dtype.  The shapes broadcast.
        name: of the operation.

    Returns:
        A tensor of the shape that both broadcast to; a number where both are.

    Raises:
        TypeError: the dtypes differ or are no numbers.
        ValueError: shapes known in the graph do not broadcast.
        InvalidArgumentError: shapes of a run do not.

    Example:
        >>> tf.Session().run(tf.divide(tf.constant([7, -7]), 2))
        array([ 3.5, -3.5])
        >>> tf.divide(7, 2)
        3.5
    """
    return x / y if name is None else truediv(x, y, name)


@export("math.floordiv", "floordiv")
@dispatched
def floordiv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x / y rounded towards minus infinity: the operator `//` of tensors.

    Args:
        x: a tensor of real numbers.
        y: a tensor of the dtype of `x`; the shapes broadcast.
        name: of the operation.

    Returns:
        A tensor of the dtype of `x`, of the shape that both broadcast to.

    Raises:
        TypeError: the dtypes differ or are no numbers.
        ValueError: shapes known in the graph do not broadcast.
        InvalidArgumentError: an integer is divided by zero, or shapes of a run do not broadcast.

    Example:
        >>> tf.Session().run([tf.floordiv([7, -7], 2), tf.floordiv([7.0, -7.0], 2.0)])
        [array([ 3, -4], dtype=int32), array([ 3., -4.], dtype=float32)]
    """
    with name_scope(name, "floordiv", [x, y]) as name:
        return raw.FloorDiv(x, y, name=name)


@export("math.divide_no_nan", "div_no_nan")
@dispatched
def div_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x / y, and zero where y is zero."""
    with name_scope(name, "div_no_nan", [x, y]) as name:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        _same_dtype(x, y)
        return raw.DivNoNan(x, y, name=name)


@export("math.multiply_no_nan")
def multiply_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x * y, and zero where y is zero, even if x is NaN or infinite."""
    with name_scope(name, "multiply_no_nan", [x, y]) as name:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        _same_dtype(x, y)
        return raw.MulNoNan(x, y, name=name)


@export("math.scalar_mul", "scalar_mul")
def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """A scalar times a Tensor or IndexedSlices."""
    scalar = convert_to_tensor(scalar, dtype=x.dtype.base_dtype, name="scalar")
    shape = scalar.get_shape()
    if shape.ndims != 0:
        raise ValueError(f"Only scalar multiply works, got shape {shape}")
    if isinstance(x, IndexedSlices):
        return IndexedSlices(raw.Mul(scalar, x.values, name=name), x.indices, x.dense_shape)
    return raw.Mul(scalar, x, name=name)


# Operators


def _add(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    op = raw.Add if x.dtype == dtypes.string else raw.AddV2
    return op(x, y, name=name)


def _mul(x: Tensor, y: Tensor, name: str | None = None) -> Any:
    if isinstance(y, SparseTensor):
        values = raw.SparseDenseCwiseMul(y.indices, y.values, y.dense_shape, x, name=name)
        return SparseTensor(y.indices, values, y.dense_shape)
    return raw.Mul(x, y, name=name)


def _binary(function: Callable[..., Any], op_name: str) -> None:
    """Overloads __name__ and __rname__ of Tensor."""

    def forward(x: Tensor, y: TensorLike) -> Any:
        with name_scope(None, op_name, [x, y]) as name:
            if isinstance(x, Tensor) and isinstance(y, Tensor):
                return function(x, y, name=name)
            if not isinstance(y, SparseTensor):
                try:
                    y = convert_to_tensor(y, dtype_hint=x.dtype.base_dtype, name="y")
                except TypeError:
                    if hasattr(type(y), f"__r{op_name}__"):
                        return NotImplemented
                    raise
            return function(x, y, name=name)

    def reflected(y: Any, x: Any) -> Any:
        with name_scope(None, op_name, [x, y]) as name:
            x = convert_to_tensor(x, dtype=y.dtype.base_dtype, name="x")
            return function(x, y, name=name)

    overload(f"__{op_name}__", forward)
    overload(f"__r{op_name}__", reflected)


def _sparse_binary(function: Callable[..., Any], op_name: str) -> None:
    """Overloads an operator of SparseTensor with a dense right side."""

    def forward(sparse: SparseTensor, y: TensorLike) -> SparseTensor:
        with name_scope(None, op_name, [sparse, y]) as name:
            y = convert_to_tensor(y, dtype=sparse.dtype.base_dtype, name="y")
            values = function(sparse.indices, sparse.values, sparse.dense_shape, y, name=name)
            return SparseTensor(sparse.indices, values, sparse.dense_shape)

    setattr(SparseTensor, f"__{op_name}__", forward)


def _sparse_truediv(
    indices: Tensor, values: Tensor, shape: Tensor, y: Tensor, name: str | None = None
) -> Tensor:
    with name_scope(name, "truediv", [indices, values, shape, y]) as name:
        values = convert_to_tensor(values, name="sp_values")
        y = convert_to_tensor(y, name="y")
        values, y = _to_float(_same_dtype(values, y), values, y)
        return raw.SparseDenseCwiseDiv(indices, values, shape, y, name=name)


def _call(op_type: str) -> Callable[..., Any]:
    """A raw op, looked up when first used: its family may be loaded later than this one."""
    return lambda *args, **kwargs: getattr(raw, op_type)(*args, **kwargs)


def _install() -> None:
    overload("__neg__", lambda x: raw.Neg(x))
    overload("__abs__", lambda x: tf.abs(x))
    overload("__invert__", lambda x: raw.LogicalNot(x))
    _sparse_binary(_call("SparseDenseCwiseDiv"), "div")
    _sparse_binary(_sparse_truediv, "truediv")
    _sparse_binary(_call("SparseDenseCwiseMul"), "mul")
    _binary(_add, "add")
    _binary(_call("Sub"), "sub")
    _binary(_mul, "mul")
    _binary(_classic_div, "div")
    _binary(truediv, "truediv")
    _binary(floordiv, "floordiv")
    _binary(_call("FloorMod"), "mod")
    _binary(lambda x, y, name=None: tf.pow(x, y, name=name), "pow")
    _binary(lambda x, y, name=None: tf.matmul(x, y, name=name), "matmul")
    _binary(_call("LogicalAnd"), "and")
    _binary(_call("LogicalOr"), "or")
    _binary(lambda x, y, name=None: tf.logical_xor(x, y, name=name), "xor")
    overload("__lt__", lambda x, y: raw.Less(x, y))
    overload("__le__", lambda x, y: raw.LessEqual(x, y))
    overload("__gt__", lambda x, y: raw.Greater(x, y))
    overload("__ge__", lambda x, y: raw.GreaterEqual(x, y))


_install()
