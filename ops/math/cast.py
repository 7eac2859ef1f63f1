# SPDX-License-Identifier: Apache-2.0
"""Conversion between dtypes: Cast and the functions around it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.deprecation import deprecated
from ...engine.dispatch import dispatched
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import IndexedSlices, SparseTensor, Tensor
from ...engine.types import dtypes
from ...jit.kernel import scalar as k
from ..elementwise import first_shape, is_lowerable
from ..public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, SparseLike, TensorLike
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_LOGGER = logging.getLogger("tensorflow")

_DIFFERENTIABLE = (
    dtypes.float16,
    dtypes.float32,
    dtypes.float64,
    dtypes.bfloat16,
    dtypes.complex64,
    dtypes.complex128,
)


def _cast_kernel(c: KernelContext, x: np.ndarray) -> np.ndarray:
    if x.dtype == object and c.attr("SrcT").is_integer:
        # Symbolic sizes have no width.
        return x
    source, target = c.attr("SrcT"), c.attr("DstT")
    if dtypes.string in (source, target):
        words = [dtypes.runtime_name(dtype) for dtype in (source, target)]
        text = f"Cast {words[0]} to {words[1]} is not supported"
        raise errors.unimplemented(text)
    plain = x.view(x.dtype[0]) if x.dtype.fields else x
    wanted = np.dtype(target.as_numpy_dtype)
    if wanted.fields:
        return k.cast(plain, wanted[0]).view(wanted)
    return np.asarray(k.cast(plain, wanted))


def _cast_lower(b: Builder, op: OpView, x: Value) -> Any:
    if not is_lowerable(x.dtype) or not is_lowerable(op.dtype(0)):
        return NotImplemented
    return b.cast(x, op.dtype(0))


def _cast_gradient(op: Operation, grad: Tensor) -> Any:
    source, target = op.inputs[0].dtype.base_dtype, grad.dtype.base_dtype
    if source in _DIFFERENTIABLE and target in _DIFFERENTIABLE:
        return cast(grad, source)
    return None


raw_cast = define(
    "Cast",
    "x: SrcT -> y: DstT",
    "SrcT: type; DstT: type; Truncate: bool = False",
    shape=first_shape,
    kernel=_cast_kernel,
    lower=_cast_lower,
    gradient=_cast_gradient,
    sizes=True,
    elementwise=True,
    test={
        "attrs": [
            {"SrcT": "float32", "DstT": "float64"},
            {"SrcT": "float64", "DstT": "int32"},
            {"SrcT": "int32", "DstT": "float32"},
            {"SrcT": "bool", "DstT": "int64"},
            {"SrcT": "float32", "DstT": "bool"},
        ]
    },
    doc="Converts elements as C++ does.",
)


@export("cast", "dtypes.cast")
@dispatched
def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """The tensor in another dtype; the tensor itself where it has that dtype already.

    Args:
        x: a Tensor, SparseTensor or IndexedSlices of numbers or bools, or what makes a tensor.
        dtype: of the result; a tf.DType or what `tf.as_dtype` takes.
        name: of the operation.

    Returns:
        What `x` is, of its shape.  Floating-point numbers lose their fraction in integers, complex
        numbers their imaginary part in real ones, and as bools all but zero is true.

    Raises:
        TypeError: `dtype` is none.
        ValueError: `x` cannot be made a tensor.
        UnimplementedError: strings are cast: tf.strings.to_number reads numbers.

    Example:
        >>> tf.Session().run(tf.cast([1.8, -1.8, 0.0], tf.int32))
        array([ 1, -1,  0], dtype=int32)
    """
    base = dtypes.as_dtype(dtype).base_dtype
    if _is_tensor_like(x) and base == x.dtype:
        return x
    with name_scope(name, "Cast", [x]) as name:
        if isinstance(x, SparseTensor):
            x = SparseTensor(x.indices, cast(x.values, base, name=name), x.dense_shape)
        elif isinstance(x, IndexedSlices):
            x = IndexedSlices(cast(x.values, base, name=name), x.indices, x.dense_shape)
        else:
            x = convert_to_tensor(x, name="x")
            if x.dtype.base_dtype != base:
                x = raw_cast(x, base, name=name)
        if x.dtype.is_complex and base.is_floating:
            _LOGGER.warning("Casting complex to real discards imaginary part.")
        return x


def _is_tensor_like(x: SparseLike | TensorLike) -> bool:
    # Resource variables offer the conversion that a tensor needs; nothing else is taken as one.
    return isinstance(x, Tensor) or getattr(x, "_should_act_as_resource_variable", False)


@export("dtypes.saturate_cast", "saturate_cast")
@dispatched
def saturate_cast(value: Any, dtype: DTypeLike, name: str | None = None) -> Any:
    """A cast that clamps to the range of the target instead of wrapping."""
    with name_scope(name, "saturate_cast", [value]) as name:
        value = convert_to_tensor(value, name="value")
        dtype = dtypes.as_dtype(dtype).base_dtype
        # The clamp happens in the source's dtype: behind the cast the wrapped value could not be
        # told.
        if value.dtype.min < dtype.min:
            low = convert_to_tensor(dtype.min, dtype=value.dtype, name="min")
            value = tf.maximum(value, low)
        if value.dtype.max > dtype.max:
            high = convert_to_tensor(dtype.max, dtype=value.dtype, name="max")
            value = tf.minimum(value, high)
        return cast(value, dtype, name=name)


_CASTER = """The tensor in {0}: `tf.cast(x, tf.{0})`.  Deprecated.

    Args:
        x: a Tensor, SparseTensor or IndexedSlices, or what makes a tensor.
        name: of the operation.

    Returns:
        What `x` is, of its shape.

    Raises:
        ValueError: `x` cannot be made a tensor.

    Example:
        >>> tf.{1}([0, 1, 2]).dtype
        tf.{0}
    """


def _caster(public: str, target: dtypes.DType, default_name: str) -> Callable[..., Any]:
    def convert(x: TensorLike, name: str | None = default_name) -> Any:
        return cast(x, target, name=name)

    convert.__name__ = convert.__qualname__ = public
    convert.__doc__ = _CASTER.format(target.name, public)
    return export(public)(deprecated(None, "Use `tf.cast` instead.")(convert))


to_float = _caster("to_float", dtypes.float32, "ToFloat")
to_double = _caster("to_double", dtypes.float64, "ToDouble")
to_int32 = _caster("to_int32", dtypes.int32, "ToInt32")
to_int64 = _caster("to_int64", dtypes.int64, "ToInt64")
to_bfloat16 = _caster("to_bfloat16", dtypes.bfloat16, "ToBFloat16")
to_complex64 = _caster("to_complex64", dtypes.complex64, "ToComplex64")
to_complex128 = _caster("to_complex128", dtypes.complex128, "ToComplex128")
