# SPDX-License-Identifier: Apache-2.0
"""`convert_to_tensor` and the registry of conversions it goes through."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..api import export
from ..hints import hinted
from ..tracebacks import shorten
from ..types import dtypes, nest
from ..types.shape import dimension_value
from .operation import Operation
from .tensor import IndexedSlices, IndexedSlicesValue, SparseTensor, SparseTensorValue, Tensor

if TYPE_CHECKING:
    from ..types.dtypes import DType
    from .annotations import DTypeLike, SparseLike, TensorLike

Conversion = Callable[..., Any]

_REGISTRY: dict[int, list[tuple[Any, Conversion]]] = {}
# Python type -> the conversions that apply to it, in order of priority.
_APPLICABLE: dict[type, list[tuple[Any, Conversion]]] = {}


@export("register_tensor_conversion_function")
def register_tensor_conversion_function(
    base_type: object, conversion_func: Conversion, priority: int = 100
) -> None:
    """Registers `conversion_func(value, dtype, name, as_ref)` for a type or a tuple of types."""
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(item, type) for item in types) or not types:
        raise TypeError("base_type must be a type or a tuple of types.")
    if any(issubclass(item, Tensor) for item in types) and Tensor in types:
        raise TypeError("Cannot register conversions for Tensor: it is one already.")
    if not callable(conversion_func):
        raise TypeError("conversion_func must be callable.")
    _REGISTRY.setdefault(priority, []).append((base_type, conversion_func))
    _APPLICABLE.clear()


def _conversions(kind: type) -> list[tuple[Any, Conversion]]:
    found = _APPLICABLE.get(kind)
    if found is None:
        found = [
            (base, function)
            for priority in sorted(_REGISTRY)
            for base, function in _REGISTRY[priority]
            if issubclass(kind, base)
        ]
        _APPLICABLE[kind] = found
    return found


@export("convert_to_tensor")
def convert_to_tensor(
    value: Any,
    dtype: Any = None,
    name: str | None = None,
    preferred_dtype: DTypeLike | None = None,
    dtype_hint: DTypeLike | None = None,
) -> Tensor:
    """A value as a Tensor: itself, a constant, or what a registered conversion makes of it.

    Args:
        value: a Tensor, a Variable, a number, lists of such, a NumPy array …
        dtype: what the tensor must have; None for what the value suggests.
        name: of a constant that is made.
        preferred_dtype: the old name of `dtype_hint`.
        dtype_hint: the dtype to use if that is possible, where `dtype` is None.

    Returns:
        A Tensor.

    Raises:
        TypeError: nothing converts this type, or not to `dtype`.
        ValueError: the value is None, or a Tensor of another dtype.
        RuntimeError: a registered conversion returned something else.

    Example:
        >>> tf.convert_to_tensor([1, 2], dtype_hint=tf.float32).dtype
        tf.float32
    """
    preferred = preferred_dtype if dtype_hint is None else dtype_hint
    try:
        return internal_convert_to_tensor(value, dtype, name, preferred_dtype=preferred)
    except Exception as error:
        shorten(error)
        raise


def internal_convert_to_tensor(
    value: Any,
    dtype: DType | None = None,
    name: str | None = None,
    as_ref: bool = False,
    preferred_dtype: DTypeLike | None = None,
    accepted_result_types: Any = (Tensor,),
) -> Any:
    """`convert_to_tensor` that can keep references (`as_ref`)."""
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
    if isinstance(value, Tensor):
        if dtype is not None and not dtype.is_compatible_with(value.dtype):
            raise hinted(
                ValueError,
                f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype "
                f"{value.dtype.name}: {value!r}",
            )
        return value
    preferred = None if preferred_dtype is None else dtypes.as_dtype(preferred_dtype)
    prefix = "" if name is None else f"{name}: "
    for base, function in _conversions(type(value)):
        result: Any = None
        if dtype is None and preferred is not None:
            result = _try_preferred(function, value, preferred, name, as_ref)
        if result is None:
            result = function(value, dtype=dtype, name=name, as_ref=as_ref)
        if result is NotImplemented:
            continue
        if not isinstance(result, accepted_result_types):
            raise RuntimeError(
                f"{prefix}Conversion function {function!r} for type {base} returned non-Tensor: "
                f"{result!r}"
            )
        if dtype is not None and not dtype.is_compatible_with(result.dtype):
            raise RuntimeError(
                f"{prefix}Conversion function {function!r} for type {base} returned incompatible "
                f"dtype: requested = {dtype.name}, actual = {result.dtype.name}"
            )
        return result
    raise TypeError(
        f"{prefix}Cannot convert {value!r} with type {type(value)} to Tensor: no conversion "
        "function registered."
    )


def _try_preferred(
    function: Conversion, value: TensorLike, preferred: dtypes.DType, name: str | None, as_ref: bool
) -> Any:
    try:
        result = function(value, dtype=preferred, name=name, as_ref=as_ref)
    except (TypeError, ValueError):
        # The preference could not be met: convert without it.
        return None
    if result is not NotImplemented and result.dtype.base_dtype != preferred.base_dtype:
        raise TypeError(
            "convert_to_tensor did not convert to the preferred dtype: "
            f"{result.dtype.base_dtype} vs {preferred.base_dtype} "
        )
    return result


def internal_convert_n_to_tensor(
    values: Sequence[Any],
    dtype: DType | None = None,
    name: str | None = None,
    as_ref: bool = False,
    preferred_dtype: DType | None = None,
) -> list[Tensor]:
    """`internal_convert_to_tensor` for each of several values; names get numbers."""
    if not isinstance(values, Sequence):
        raise TypeError("values must be a sequence.")
    return [
        internal_convert_to_tensor(
            value, dtype, None if name is None else f"{name}_{i}", as_ref, preferred_dtype
        )
        for i, value in enumerate(values)
    ]


def convert_n_to_tensor(
    values: Sequence[Any],
    dtype: DType | None = None,
    name: str | None = None,
    preferred_dtype: DType | None = None,
) -> list[Tensor]:
    """`convert_to_tensor` for each of several values; names get numbers."""
    return internal_convert_n_to_tensor(values, dtype, name, False, preferred_dtype)


@export("convert_to_tensor_or_indexed_slices")
def convert_to_tensor_or_indexed_slices(
    value: Any, dtype: DType | None = None, name: str | None = None
) -> Any:
    """`value` as a Tensor, unless it is an IndexedSlices (then as it is)."""
    return internal_convert_to_tensor_or_indexed_slices(value, dtype, name)


def internal_convert_to_tensor_or_indexed_slices(
    value: object, dtype: DType | None = None, name: str | None = None, as_ref: bool = False
) -> Any:
    """`convert_to_tensor_or_indexed_slices` that can keep references."""
    if isinstance(value, IndexedSlicesValue):
        return IndexedSlices(*(convert_to_tensor(part) for part in value))
    if nest.is_composite(value):
        _check_dtype(value, dtype)
        return value
    return internal_convert_to_tensor(value, dtype, name, as_ref)


def _check_dtype(value: Any, dtype: Any) -> None:
    if dtype and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
        raise hinted(
            ValueError,
            f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for Tensor with "
            f"dtype {value.dtype.name}: {value!s}",
        )


def convert_n_to_tensor_or_indexed_slices(
    values: Sequence[Any], dtype: DType | None = None, name: str | None = None, as_ref: bool = False
) -> list[Any]:
    """`convert_to_tensor_or_indexed_slices` for each of several values; None stays None."""
    if not isinstance(values, Sequence):
        raise TypeError("values must be a sequence.")
    return [
        value
        if value is None
        else internal_convert_to_tensor_or_indexed_slices(
            value, dtype, None if name is None else f"{name}_{i}", as_ref
        )
        for i, value in enumerate(values)
    ]


@export("convert_to_tensor_or_sparse_tensor")
def convert_to_tensor_or_sparse_tensor(
    value: SparseLike | TensorLike, dtype: DTypeLike | None = None, name: str | None = None
) -> Any:
    """`value` as a SparseTensor if it is one or a SparseTensorValue, else as a Tensor."""
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    if isinstance(value, SparseTensor):
        if dtype and not dtype.is_compatible_with(value.dtype):
            raise RuntimeError(
                f"Sparse dtype: requested = {dtype.name}, actual = {value.dtype.name}"
            )
        return value
    return internal_convert_to_tensor(value, dtype, name)


# Classes whose objects stand for one tensor, such as variables.
_TENSOR_LIKE: list[type] = []


def register_dense_tensor_like_type(tensor_type: type) -> None:
    """Lets `is_tensor` hold for objects of a class that has `name` and `dtype` properties."""
    for name in ("name", "dtype"):
        if not isinstance(getattr(tensor_type, name, None), property):
            raise TypeError(f"Type {tensor_type.__name__} does not define a `{name}` property")
    _TENSOR_LIKE.append(tensor_type)


def is_dense_tensor_like(t: object) -> bool:
    """Whether a value stands for one tensor."""
    if isinstance(t, (Tensor, *_TENSOR_LIKE)):
        return True
    return callable(getattr(t, "_as_graph_element", None)) and not nest.is_composite(t)


@export("is_tensor", "contrib.framework.is_tensor")
def is_tensor(x: object) -> bool:
    """Whether a value is a tensor, dense or sparse, or stands for one as variables do."""
    if isinstance(x, (Tensor, IndexedSlices, SparseTensor)) or is_dense_tensor_like(x):
        return True
    return bool(getattr(x, "is_tensor_like", False))


def is_sparse(x: TensorLike) -> bool:
    """Whether a value is a SparseTensor or the value of one."""
    return isinstance(x, (SparseTensor, SparseTensorValue))


def shape_tensor(shape: TensorLike | None) -> Tensor:
    """A shape as a tensor, of int32 if it is empty."""
    dtype = None
    if isinstance(shape, (tuple, list)):
        dtype = None if shape else dtypes.int32
        shape = tuple(dimension_value(size) for size in shape)
    return internal_convert_to_tensor(shape, dtype, "shape")


def _refuse_operation(
    op: Operation, dtype: DType | None = None, name: str | None = None, as_ref: bool = False
) -> Any:
    raise TypeError(
        f"Can't convert Operation '{op.name}' to Tensor (target dtype={dtype!r}, name={name!r}, "
        f"as_ref={as_ref!r})"
    )


register_tensor_conversion_function(Operation, _refuse_operation)
