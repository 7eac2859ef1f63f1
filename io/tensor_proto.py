# SPDX-License-Identifier: Apache-2.0
"""Arrays and shapes as TensorFlow's messages, and back.

The bytes are those that TensorFlow 1.15 writes: raw `tensor_content` for arrays of most numeric
types, a typed list for the rest and for single elements, and a list cut short where the last
element repeats.  Imports protobuf only inside functions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine import errors
from ..engine.api import constant, export
from ..engine.memory import lasting_copy
from ..engine.types import dtypes
from ..engine.types.repeated import Repeated, whole
from ..engine.types.shape import TensorShape, as_shape
from . import protos

if TYPE_CHECKING:
    from ..engine.graph.annotations import ShapeLike

_LIMIT = 1 << 31  # protobuf's limit for one message
_FEW = 256  # elements

# Types whose arrays are written raw.  uint16, half and bool are not among them in TensorFlow.
_RAW = frozenset(
    getattr(dtypes, name)
    for name in (
        "float32 float64 int32 uint8 int16 int8 int64 qint8 quint8 qint16 quint16 qint32 "
        "uint32 uint64"
    ).split()
)
# Type -> the field that lists its elements.
_FIELDS = {
    "float32": "float_val",
    "float64": "double_val",
    "float16": "half_val",
    "bfloat16": "half_val",
    "int64": "int64_val",
    "uint32": "uint32_val",
    "uint64": "uint64_val",
    "complex64": "scomplex_val",
    "complex128": "dcomplex_val",
    "string": "string_val",
    "bool": "bool_val",
}
_FIELDS.update(
    (name, "int_val")
    for name in "int32 uint8 uint16 int16 int8 qint32 quint8 qint8 qint16 quint16".split()
)


def shape_proto(shape: ShapeLike) -> Any:
    """A shape as a TensorShapeProto; unknown sizes are -1."""
    sizes = as_shape(shape).sizes
    if sizes is None:
        return protos.TensorShapeProto(unknown_rank=True)
    message = protos.TensorShapeProto()
    for size in sizes:
        message.dim.add(size=-1 if size is None else size)
    return message


def shape_from_proto(message: Any) -> TensorShape:
    """The TensorShape that a TensorShapeProto describes."""
    if message.unknown_rank:
        return TensorShape(None)
    return TensorShape([None if dim.size < 0 else dim.size for dim in message.dim])


def tensor_proto(
    array: np.ndarray | Repeated,
    dtype: dtypes.DType,
    explicit: int | None = None,
    raw: bool | None = None,
) -> Any:
    """A TensorProto of `array`; only the first `explicit` elements are written.

    The elements after those must equal the last one that is written.  `raw`: as bytes, not as a
    list; by default where TensorFlow's Python does so, for several elements that are all written.
    """
    dtype = dtype.base_dtype
    message = protos.TensorProto(
        dtype=dtype.as_datatype_enum, tensor_shape=shape_proto(array.shape)
    )
    explicit = array.size if explicit is None else min(explicit, array.size)
    if isinstance(array, Repeated):
        array = array.listed
    elif is_raw(array, dtype, explicit, raw):
        if array.nbytes >= _LIMIT:
            raise ValueError("Cannot create a tensor proto whose content is larger than 2GB.")
        message.tensor_content = array.tobytes()
        return message
    field = _FIELDS.get(dtype.name)
    if field is None:
        raise TypeError(f"Element type not supported in TensorProto: {dtype.name}")
    getattr(message, field).extend(_elements(array.reshape(-1)[:explicit], dtype))
    return message


def is_raw(
    array: np.ndarray | Repeated, dtype: dtypes.DType, explicit: int | None, raw: bool | None
) -> bool:
    """Whether a TensorProto holds an array as bytes, for arguments of `tensor_proto`."""
    if isinstance(array, Repeated):
        return False
    if raw is not None:
        return raw
    return array.size > 1 and dtype in _RAW and (explicit is None or explicit >= array.size)


def _elements(flat: np.ndarray, dtype: dtypes.DType) -> list[Any]:
    if dtype == dtypes.string:
        return [x.encode() if isinstance(x, str) else x for x in flat.tolist()]
    if flat.dtype.names:  # A quantized type is a record of one number.
        flat = flat[flat.dtype.names[0]]
    if dtype in (dtypes.float16, dtypes.bfloat16):
        flat = np.ascontiguousarray(flat).view(np.uint16)
    elif dtype.is_complex:
        # A complex number is two of the list: its real part, then its imaginary one.
        flat = np.ascontiguousarray(flat).view(dtype.real_dtype.as_numpy_dtype)
    return flat.tolist()


@export("make_tensor_proto")
def make_tensor_proto(
    values: Any,
    dtype: Any = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> Any:
    """A TensorProto of Python values or an array, as the value of a Const holds it."""
    from ..ops.array.python_values import as_array, element_count

    if isinstance(values, protos.TensorProto):
        return values
    array, found = as_array(values, dtype, shape, verify_shape, allow_broadcast)
    explicit = array.size
    if shape is not None:
        explicit = element_count(values)
    return tensor_proto(array, found, explicit)


@export("make_ndarray")
def make_ndarray(tensor: object) -> np.ndarray:
    """The array that a TensorProto holds; the last listed element stands for missing ones."""
    try:
        return whole(_decoded(tensor, surplus=False))
    except MemoryError as error:
        raise errors.resource_exhausted(
            f"OOM when allocating the array of a TensorProto: {error}"
        ) from None


def constant_value(tensor: object) -> np.ndarray | Repeated:
    """What a TensorProto holds, as the value of a Const: many elements of few stay unmade."""
    return _decoded(tensor, surplus=True)


def _decoded(tensor: Any, surplus: bool) -> np.ndarray | Repeated:
    shape = tuple(dim.size for dim in tensor.tensor_shape.dim)
    dtype = dtypes.as_dtype(tensor.dtype)
    if tensor.tensor_content:
        if dtype == dtypes.string:
            from .tensor_content import texts_of

            return texts_of(tensor.tensor_content, shape)
        if dtype.np_dtype.hasobject:
            raise ValueError(
                f"A TensorProto of {dtype.name} elements lists them; this one has tensor_content"
            )
        content = np.frombuffer(tensor.tensor_content, dtype=dtype.np_dtype)
        return lasting_copy(content).reshape(shape)
    field = _FIELDS.get(dtype.name)
    if field is None:
        raise TypeError(f"Unsupported tensor type: {tensor.dtype}")
    values = _listed(getattr(tensor, field), dtype)
    size = math.prod(shape)
    if not values.size:
        # A message that lists nothing has all elements 0, the default of a field that is not there.
        values = _nothing(dtype)
    if values.size < size:
        repeated = Repeated(values, shape)
        # The array is made at once where it is about as small as what describes it.
        return repeated.array() if size - values.size <= _FEW else repeated
    return (values[:size] if surplus or size == 0 else values).reshape(shape)


def _listed(values: Any, dtype: dtypes.DType) -> np.ndarray:
    kind = dtype.np_dtype
    if dtype == dtypes.string:
        texts = np.empty(len(values), dtype=object)
        texts[:] = list(values)
        return texts
    if dtype in (dtypes.float16, dtypes.bfloat16):
        return np.array(values, dtype=np.uint16).view(kind)
    if dtype.is_complex:
        return np.array(values, dtype=dtype.real_dtype.np_dtype).view(kind)
    if kind.names:
        return np.array(values, dtype=np.int64).astype(kind[0]).view(kind)
    if dtype.is_integer and dtype != dtypes.uint64:
        # A list of int32 may hold negative numbers for an unsigned type: wrap as C++ does.
        return np.array(values, dtype=np.int64).astype(kind)
    return np.array(values, dtype=kind)


def _nothing(dtype: dtypes.DType) -> np.ndarray:
    """One element for a message that lists none."""
    if dtype == dtypes.string:
        return np.array([b""], dtype=object)
    return np.zeros(1, dtype=dtype.np_dtype)


# The names of tensorflow.python.framework.tensor_util.
MakeNdarray = make_ndarray
constant("contrib.util.make_tensor_proto", make_tensor_proto)
constant("contrib.util.make_ndarray", make_ndarray)


def tensor_shape_proto_to_list(shape: Any) -> list[int]:
    """The sizes in a TensorShapeProto."""
    return [dim.size for dim in shape.dim]


def shape_equals(tensor: object, shape: int | Sequence[int]) -> bool:
    """Whether the TensorProto `tensor` has the given shape."""
    if not isinstance(tensor, protos.TensorProto):
        raise TypeError("tensor_proto is not a tensor_pb2.TensorProto object")
    if isinstance(shape, protos.TensorShapeProto):
        shape = tensor_shape_proto_to_list(shape)
    elif not isinstance(shape, (list, tuple)):
        raise TypeError("shape is not a list or tuple")
    return all(x == y for x, y in zip(tensor_shape_proto_to_list(tensor.tensor_shape), shape))


def listed_elements(tensor: Any) -> int | None:
    """How many elements a TensorProto lists; None when it holds all of them raw."""
    if tensor.tensor_content:
        return None
    count = len(getattr(tensor, _FIELDS.get(dtypes.as_dtype(tensor.dtype).name, "string_val")))
    return count // 2 if dtypes.as_dtype(tensor.dtype).is_complex else count


def listing(array: np.ndarray, dtype: dtypes.DType) -> tuple[str, list[Any]]:
    """The field that lists elements of a type, and the elements of `array` as it holds them."""
    field = _FIELDS.get(dtype.name)
    if field is None:
        raise TypeError(f"Element type not supported in TensorProto: {dtype.name}")
    return field, _elements(array.reshape(-1), dtype)


def listed_array(tensor: object, dtype: dtypes.DType) -> np.ndarray:
    """The elements that a TensorProto without type and shape lists, as a flat array."""
    field = _FIELDS.get(dtype.name)
    if field is None:
        raise TypeError(f"Unsupported tensor type: {dtype.name}")
    return _listed(getattr(tensor, field), dtype)
