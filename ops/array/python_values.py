# SPDX-License-Identifier: Apache-2.0
"""From Python values to the arrays that constants hold, with TensorFlow 1.x's rules and messages.

Python floats become float32, Python ints int32 where they fit; an explicit dtype must suit the
values; strings become object arrays of bytes.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...engine.types.repeated import Repeated, whole
from ...engine.types.shape import Dimension

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike

_INTEGERS = (numbers.Integral, np.integer, Dimension)
_REALS = (numbers.Real, np.integer, np.floating)
_COMPLEX = (numbers.Complex, np.number)
_TEXTS = (bytes, str)
_BOOLEANS = (bool,)


def flatten(values: Any) -> Iterator[Any]:
    """The leaves of nested lists, tuples and dicts."""
    if isinstance(values, dict):
        for key in sorted(values):
            yield from flatten(values[key])
    elif isinstance(values, (list, tuple)):
        for value in values:
            yield from flatten(value)
    else:
        yield values


def element_count(values: Any) -> int:
    """How many elements `values` state, before a shape repeats the last one."""
    if isinstance(values, (list, tuple, dict)):
        return sum(element_count(value) for value in flatten(values))
    return int(np.size(values)) if _is_array_like(values) else 1


def as_bytes(value: bytes | str) -> bytes:
    """A string element as bytes; TypeError for anything that is not text."""
    if isinstance(value, bytes):
        return bytes(value)
    if isinstance(value, str):
        return value.encode("utf-8")
    raise TypeError(f"Expected binary or unicode string, got {value!r}")


def bytes_array(values: np.ndarray) -> np.ndarray:
    """An object array of bytes from an array of texts of any kind."""
    result = np.empty(values.shape, dtype=object)
    flat = result.reshape(-1) if values.size else result
    for i, value in enumerate(values.ravel().tolist()):
        flat[i] = as_bytes(value)
    return result


def _accepted(dtype: dtypes.DType) -> tuple[type, ...] | None:
    if dtype == dtypes.bool:
        return _BOOLEANS
    if dtype == dtypes.string:
        return _TEXTS
    if dtype.is_integer:
        return _INTEGERS
    if dtype.is_floating:
        return _REALS
    return _COMPLEX if dtype.is_complex else None


def _check_values(values: Any, dtype: dtypes.DType | None) -> None:
    if dtype is not None and dtype.is_quantized:
        _check_quantized(values, dtype)
        return
    accepted = None if dtype is None else _accepted(dtype)
    for value in flatten(values):
        if accepted is None and isinstance(value, Tensor):
            raise TypeError("List of Tensors when single Tensor expected")
        if dtype is not None and accepted is not None and not isinstance(value, accepted):
            raise TypeError(
                f"Expected {dtype.name}, got {value!r} of type '{type(value).__name__}' instead."
            )


def _check_quantized(values: int, dtype: dtypes.DType) -> None:
    """Quantized elements are given as tuples of one integer."""
    wrong = values if not isinstance(values, (list, tuple)) else None
    if isinstance(values, tuple):
        wrong = next((v for v in flatten(values) if not isinstance(v, _INTEGERS)), None)
    elif wrong is None:
        for value in values:
            _check_quantized(value, dtype)
    if wrong is not None:
        kind = type(wrong).__name__
        raise TypeError(f"Expected {dtype.name}, got {wrong!r} of type '{kind}' instead.")


def _dense_dimensions(values: object) -> list[int]:
    if not isinstance(values, (list, tuple)):
        return []
    if not values:
        return [0]
    return [len(values), *_dense_dimensions(values[0])]


def _is_array_like(value: Any) -> bool:
    if isinstance(value, (Tensor, bytes, str)):
        return False
    if callable(getattr(value, "__array__", None)):
        return True
    if isinstance(getattr(value, "__array_interface__", None), dict):
        return True
    try:
        memoryview(value)
    except TypeError:
        return False
    return True


def _numpy_type(dtype: dtypes.DType | None) -> Any:
    return dtype.as_numpy_dtype if dtype is not None and dtype.is_numpy_compatible else None


def _dense(values: Any, numpy_type: Any) -> np.ndarray:
    try:
        return np.array(values, dtype=numpy_type)
    except OverflowError:
        # NumPy of TensorFlow 1's time wrapped ints that do not fit.
        return np.array(values).astype(numpy_type)
    except ValueError as error:
        # NumPy refuses ragged lists itself, before their shape could be compared.
        if numpy_type is not None:
            raise
        if "inhomogeneous" not in str(error) and "sequence" not in str(error):
            raise
        got: list[int] = [len(values)]
        wanted = _dense_dimensions(values)
        raise ValueError(
            f"Argument must be a dense tensor: {values} - got shape {got}, but wanted {wanted}."
        ) from None


def _from_python(values: Any, dtype: dtypes.DType | None, shape: Any) -> np.ndarray:
    if values is None:
        raise ValueError("None values not supported.")
    numpy_type = _numpy_type(dtype)
    if shape is not None and np.prod(shape, dtype=np.int64) == 0:
        empty = np.empty([int(d) for d in shape], dtype=numpy_type)
        return _default_precision(empty) if dtype is None else empty
    _check_values(values, dtype)
    if dtype is not None and any(isinstance(v, Dimension) for v in flatten(values)):
        values = _plain(values)
    array = _dense(values, numpy_type)
    wanted = _dense_dimensions(values)
    if list(array.shape) != wanted and not (dtype is not None and dtype.is_quantized):
        raise ValueError(
            f"Argument must be a dense tensor: {values} - got shape {list(array.shape)}, "
            f"but wanted {wanted}."
        )
    return _default_precision(array) if dtype is None else array


def _plain(values: object) -> Any:
    if isinstance(values, (list, tuple)):
        return [_plain(v) for v in values]
    return int(values) if isinstance(values, Dimension) else values


def _default_precision(array: np.ndarray) -> np.ndarray:
    if array.dtype == np.float64:
        return array.astype(np.float32)
    if array.dtype == np.int64:
        narrow = array.astype(np.int32)
        return narrow if np.array_equal(narrow, array) else array
    return array


def as_array(
    values: TensorLike | None,
    dtype: DTypeLike | None = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> tuple[np.ndarray, dtypes.DType]:
    """The array and dtype of a constant made of `values`, as `tf.make_tensor_proto` would."""
    value, found = as_constant(values, dtype, shape, verify_shape, allow_broadcast)
    return whole(value), found


def as_constant(
    values: TensorLike | None,
    dtype: DTypeLike | None = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> tuple[np.ndarray | Repeated, dtypes.DType]:
    """As `as_array`; elements that the last one stands for are not there yet."""
    if allow_broadcast and verify_shape:
        raise ValueError("allow_broadcast and verify_shape are not both allowed.")
    wanted = dtypes.as_dtype(dtype) if dtype else None
    given = values
    if _is_array_like(values):
        values = np.asarray(values)
    if isinstance(values, (np.ndarray, np.generic)):
        numpy_type = _numpy_type(wanted)
        array = np.asarray(values)
        if numpy_type is not None and np.dtype(numpy_type) != np.dtype(object):
            with np.errstate(all="ignore"):
                array = array.astype(numpy_type)
    else:
        array = _from_python(values, wanted, shape)
    found = _element_type(array, wanted)
    if wanted is None and dtype is not None:  # 0, DT_INVALID
        raise TypeError(f"Incompatible types: {dtype} vs. {array.dtype}. Value is {given}")
    if wanted is not None and wanted.base_dtype != found.base_dtype:
        raise TypeError(f"Incompatible types: {wanted} vs. {array.dtype}. Value is {given}")
    if found == dtypes.string:
        array = _texts(array, given)
    return _fitted(array, shape, verify_shape, allow_broadcast), found


def _element_type(array: np.ndarray, wanted: dtypes.DType | None) -> dtypes.DType:
    if wanted is not None and wanted.is_quantized:
        return wanted
    if array.dtype.kind in "OSU":
        return dtypes.string
    try:
        return dtypes.as_dtype(array.dtype)
    except TypeError:
        raise TypeError(f"Unrecognized data type: {array.dtype}") from None


def _texts(array: np.ndarray, given: Any) -> np.ndarray:
    if _is_array_like(given) and not isinstance(given, np.generic):
        return bytes_array(array)
    try:
        # From the values themselves: an array of NumPy strings loses trailing null bytes.
        texts = [as_bytes(value) for value in flatten(given)]
        if len(texts) != array.size:
            return bytes_array(array)
        result = np.empty(array.shape, dtype=object)
        result.reshape(-1)[:] = texts
        return result
    except TypeError:
        if isinstance(given, np.generic):
            raise
        raise TypeError(
            f"Failed to convert object of type {type(given)} to Tensor. Contents: {given}. "
            "Consider casting elements to a supported type."
        ) from None


def _fitted(
    array: np.ndarray, shape: Sequence[int] | None, verify_shape: bool, allow_broadcast: bool
) -> np.ndarray | Repeated:
    """The array in the wanted shape; missing elements repeat the last one."""
    if shape is None:
        return array
    target = tuple(int(dim) for dim in shape)
    size = int(np.prod(target, dtype=np.int64))
    mismatch = f"Expected Tensor's shape: {target}, got {array.shape}."
    if allow_broadcast:
        if array.shape not in ((1,), ()) and array.size != size:
            raise TypeError(mismatch)
    elif verify_shape and array.shape != target:
        raise TypeError(mismatch)
    elif array.size > size:
        raise ValueError(
            f"Too many elements provided. Needed at most {size}, but received {array.size}"
        )
    if any(dim < 0 for dim in target):
        raise ValueError(f"Dimension {min(target)} must be >= 0")
    flat = array.reshape(-1)
    if flat.size < size:
        return Repeated((flat if flat.size else _nothing(array.dtype)).copy(), target)
    return flat[:size].reshape(target)


def _nothing(numpy_type: np.dtype) -> np.ndarray:
    fill = np.zeros(1, dtype=numpy_type)
    if numpy_type.kind == "O":
        fill[0] = b""
    return fill
