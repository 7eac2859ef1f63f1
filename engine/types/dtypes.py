# SPDX-License-Identifier: Apache-2.0
"""The element types of tensors: TensorFlow 1.15's `DType` objects and `as_dtype`.

One interned object per type and per reference type.  Imports NumPy only; bfloat16's NumPy type
comes from ml_dtypes when it is first asked for.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ..api import constant, export

_Bool = builtins.bool

# Name, enum value of types.proto, NumPy scalar type (None: see `_numpy_type`).
_ROWS: tuple[tuple[str, int, Any], ...] = (
    ("float32", 1, np.float32),
    ("float64", 2, np.float64),
    ("int32", 3, np.int32),
    ("uint8", 4, np.uint8),
    ("int16", 5, np.int16),
    ("int8", 6, np.int8),
    ("string", 7, np.object_),
    ("complex64", 8, np.complex64),
    ("int64", 9, np.int64),
    ("bool", 10, np.bool_),
    ("qint8", 11, np.dtype([("qint8", np.int8)])),
    ("quint8", 12, np.dtype([("quint8", np.uint8)])),
    ("qint32", 13, np.dtype([("qint32", np.int32)])),
    ("bfloat16", 14, None),
    ("qint16", 15, np.dtype([("qint16", np.int16)])),
    ("quint16", 16, np.dtype([("quint16", np.uint16)])),
    ("uint16", 17, np.uint16),
    ("complex128", 18, np.complex128),
    ("float16", 19, np.float16),
    ("resource", 20, np.object_),
    ("variant", 21, np.object_),
    ("uint32", 22, np.uint32),
    ("uint64", 23, np.uint64),
)
_REF = 100
_NAMES = {enum: name for name, enum, _ in _ROWS}
_NUMPY = {enum: kind for _, enum, kind in _ROWS}
_INTERNED: dict[int, DType] = {}

_UNSIGNED = frozenset({4, 17, 22, 23})
_INTEGER = frozenset({3, 4, 5, 6, 9, 17, 22, 23})
_FLOATING = frozenset({1, 2, 14, 19})
_QUANTIZED = frozenset({11, 12, 13, 15, 16})
_COMPLEX = frozenset({8, 18})
_OPAQUE = frozenset({20, 21})
# Image intensity ranges, as `limits` reports them.
_INTENSITY_ONE = frozenset({1, 2})


def _bfloat16() -> Any:
    from ml_dtypes import bfloat16 as kind

    _NUMPY[14] = kind
    _FROM_NUMPY[kind] = bfloat16
    return kind


@export("DType", "dtypes.DType")
class DType:
    """The type of a tensor's elements; get one with `tf.as_dtype` or by name (`tf.float32`)."""

    __slots__ = ("_enum", "_base", "_np_dtype")

    def __init__(self, type_enum: int) -> None:
        type_enum = int(type_enum)
        if type_enum % _REF not in _NAMES or type_enum // _REF not in (0, 1):
            raise TypeError(f"type_enum is not a valid types_pb2.DataType: {type_enum}")
        self._enum = type_enum
        self._base = type_enum % _REF
        self._np_dtype: np.dtype[Any] | None = None

    @property
    def _type_enum(self) -> int:
        return self._enum

    @property
    def _is_ref_dtype(self) -> _Bool:
        return self._enum > _REF

    @property
    def _as_ref(self) -> DType:
        return self if self._enum > _REF else _INTERNED[self._enum + _REF]

    @property
    def base_dtype(self) -> DType:
        """The type without the reference."""
        return _INTERNED[self._base] if self._enum > _REF else self

    @property
    def real_dtype(self) -> DType:
        """The type of the real part of a complex type; the type itself otherwise."""
        if self._base == 8:
            return float32
        return float64 if self._base == 18 else self

    @property
    def np_dtype(self) -> np.dtype[Any]:
        """The `numpy.dtype` (not the scalar type) of arrays of this type."""
        if self._np_dtype is None:
            self._np_dtype = np.dtype(self.as_numpy_dtype)
        return self._np_dtype

    @property
    def as_numpy_dtype(self) -> Any:
        """The NumPy type; strings, resources and variants are objects."""
        kind = _NUMPY[self._base]
        return _bfloat16() if kind is None else kind

    @property
    def as_datatype_enum(self) -> int:
        """The value in TensorFlow's `DataType` enum."""
        return self._enum

    @property
    def is_numpy_compatible(self) -> _Bool:
        """Whether NumPy has a counterpart."""
        return self._base not in _OPAQUE

    @property
    def is_bool(self) -> _Bool:
        """Whether this is the boolean type."""
        return self._base == 10

    @property
    def is_integer(self) -> _Bool:
        """Whether this is an integer type that is not quantized."""
        return self._base in _INTEGER

    @property
    def is_floating(self) -> _Bool:
        """Whether this is a real floating-point type."""
        return self._base in _FLOATING

    @property
    def is_complex(self) -> _Bool:
        """Whether this is a complex type."""
        return self._base in _COMPLEX

    @property
    def is_quantized(self) -> _Bool:
        """Whether this is a quantized type."""
        return self._base in _QUANTIZED

    @property
    def is_unsigned(self) -> _Bool:
        """Whether this is an unsigned integer type that is not quantized."""
        return self._base in _UNSIGNED

    def _extreme(self, which: str, word: str) -> Any:
        if self._base in _INTEGER:
            return getattr(np.iinfo(self.as_numpy_dtype), which)
        if self._base == 14:
            import ml_dtypes

            return getattr(ml_dtypes.finfo(self.as_numpy_dtype), which)
        if self._base in _FLOATING:
            return getattr(np.finfo(self.as_numpy_dtype), which)
        raise TypeError(f"Cannot find {word} value of {self}.")

    @property
    def min(self) -> Any:
        """The smallest value; TypeError for types without order."""
        return self._extreme("min", "minimum")

    @property
    def max(self) -> Any:
        """The largest value; TypeError for types without order."""
        return self._extreme("max", "maximum")

    @property
    def limits(self) -> tuple[Any, Any]:
        """The intensity range of images of this type, with negative values clipped."""
        if self._base in _INTENSITY_ONE:
            return 0, 1
        if self._base == 10:
            return 0, True
        if self._base in _INTEGER:
            return 0, int(self.max)
        raise KeyError(self.as_numpy_dtype)

    def is_compatible_with(self, other: DType) -> _Bool:
        """Whether a tensor of type `other` can be used where this type is asked for."""
        other = as_dtype(other)
        return self._enum in (other._enum, other._base)

    def __eq__(self, other: object) -> _Bool:
        if self is other:
            return True
        if other is None:
            return False
        if type(other) is DType:
            return self._enum == other._enum
        try:
            return self._enum == as_dtype(other)._enum
        except TypeError:
            return False

    def __ne__(self, other: object) -> _Bool:
        return self is not other and not self.__eq__(other)

    def __hash__(self) -> int:
        return self._enum

    @property
    def name(self) -> str:
        """The name, such as "float32" or "float32_ref"."""
        return _NAMES[self._base] + ("_ref" if self._enum > _REF else "")

    @property
    def size(self) -> int:
        """Bytes per element; 1 for resources and variants."""
        return 1 if self._base in _OPAQUE else self.np_dtype.itemsize

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __repr__(self) -> str:
        return "tf." + self.name

    def __reduce__(self) -> Any:
        return as_dtype, (self.name,)


# Where the runtime's names of types, seen in errors, differ from those of NumPy.
_RUNTIME_NAMES = {"float32": "float", "float64": "double", "float16": "half"}


def runtime_name(dtype: DType) -> str:
    """A type as TensorFlow's runtime prints it: "float" for float32, "int32_ref" for references."""
    base = dtype.base_dtype.name
    return _RUNTIME_NAMES.get(base, base) + ("_ref" if dtype._is_ref_dtype else "")


for _enum in (*_NAMES, *(enum + _REF for enum in _NAMES)):
    _INTERNED[_enum] = DType(_enum)

float32 = _INTERNED[1]
float64 = double = _INTERNED[2]
int32 = _INTERNED[3]
uint8 = _INTERNED[4]
int16 = _INTERNED[5]
int8 = _INTERNED[6]
string = _INTERNED[7]
complex64 = _INTERNED[8]
int64 = _INTERNED[9]
bool = _INTERNED[10]  # noqa: A001 - TensorFlow's name
qint8 = _INTERNED[11]
quint8 = _INTERNED[12]
qint32 = _INTERNED[13]
bfloat16 = _INTERNED[14]
qint16 = _INTERNED[15]
quint16 = _INTERNED[16]
uint16 = _INTERNED[17]
complex128 = _INTERNED[18]
float16 = half = _INTERNED[19]
resource = _INTERNED[20]
variant = _INTERNED[21]
uint32 = _INTERNED[22]
uint64 = _INTERNED[23]

# Name -> DType, with the aliases; reference types under "float32_ref" and so on.
BY_NAME: dict[str, DType] = {kind.name: kind for kind in _INTERNED.values()}
BY_NAME.update(half=half, double=double, float=float32)
BY_NAME.update(half_ref=half._as_ref, double_ref=double._as_ref, float_ref=float32._as_ref)

# The reference types as module attributes (`float32_ref`), and TensorFlow's name table.
globals().update({name: kind for name, kind in BY_NAME.items() if name.endswith("_ref")})
# The numbers of all types in messages, references included.
NUMBERS = frozenset(_INTERNED)
_TYPE_TO_STRING = {kind.as_datatype_enum: kind.name for kind in _INTERNED.values()}

_FROM_NUMPY: dict[Any, DType] = {
    kind: _INTERNED[enum] for _, enum, kind in _ROWS if kind is not None and enum not in _OPAQUE
}
_FROM_NUMPY.update({np.bytes_: string, np.str_: string})
for _kind in (np.longlong, np.ulonglong, np.intc, np.uintc, np.int_, np.uint):
    _FROM_NUMPY.setdefault(
        _kind, BY_NAME[f"{np.dtype(_kind).kind}int{8 * np.dtype(_kind).itemsize}".removeprefix("i")]
    )

# What `as_dtype` looks up besides DTypes and NumPy dtypes.
_ANY: dict[Any, DType] = {
    **_INTERNED,
    **BY_NAME,
    builtins.float: float32,
    builtins.bool: bool,
    builtins.object: string,
    **_FROM_NUMPY,
}
for _name, _dtype in (*BY_NAME.items(), ("float16", float16)):
    if not _name.endswith("_ref") and _name != "float":
        constant(_name, _dtype)
        constant(f"dtypes.{_name}", _dtype)

QUANTIZED_DTYPES = frozenset(_INTERNED[e + ref] for e in _QUANTIZED for ref in (0, _REF))
constant("QUANTIZED_DTYPES", QUANTIZED_DTYPES)
constant("dtypes.QUANTIZED_DTYPES", QUANTIZED_DTYPES)


@export("as_dtype", "dtypes.as_dtype")
def as_dtype(type_value: object) -> DType:
    """Converts a DType, enum value, name, NumPy or Python type to a `DType`."""
    if isinstance(type_value, DType):
        return type_value
    if isinstance(type_value, np.dtype):
        found = _of_numpy(type_value)
        if found is not None:
            return found
    else:
        try:
            return _ANY[type_value]
        except (KeyError, TypeError):  # unknown, or not hashable
            pass
        if isinstance(type_value, type) and type_value.__name__ == "bfloat16":
            return bfloat16
    raise TypeError(f"Cannot convert value {type_value!r} to a TensorFlow DType.")


def _of_numpy(kind: np.dtype[Any]) -> DType | None:
    found = _FROM_NUMPY.get(kind.type)
    if found is not None:
        return found
    if kind.names is not None:
        return _FROM_NUMPY.get(kind)
    return bfloat16 if kind.name == "bfloat16" else None


def boxed(thing: object) -> np.ndarray:
    """An object as the value of a scalar tensor of strings, resources or variants.

    (`np.array` would look into sequences, and one of NumPy's own texts loses zeros at its end.)
    """
    box = np.empty((), object)
    box[()] = thing
    return box
