# SPDX-License-Identifier: Apache-2.0
"""Attributes of operations as AttrValue messages, and back; op signatures as OpDef messages.

In a graph an attribute is a Python value (int, float, bool, bytes, DType, TensorShape, array, or a
list of these).  Its kind is TensorFlow's name for the type, such as "list(int)"; attributes that
no op declares (`_class`, user's own) have none and are told by their value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.graph import registry
from ..engine.types import dtypes
from ..engine.types.repeated import Repeated
from ..engine.types.shape import TensorShape
from . import protos
from .tensor_proto import constant_value, shape_from_proto, shape_proto, tensor_proto

# Kind -> the field of AttrValue (and of its list).
_FIELDS = {
    "string": "s",
    "int": "i",
    "float": "f",
    "bool": "b",
    "type": "type",
    "shape": "shape",
    "tensor": "tensor",
    "func": "func",
}
_KINDS = {field: kind for kind, field in _FIELDS.items()}
# What an attribute may be, or be a list of.
KINDS = frozenset(_FIELDS)


def _tensor(value: object) -> Any:
    if isinstance(value, np.ndarray):
        return tensor_proto(value, dtypes.as_dtype(value.dtype), raw=False)
    if isinstance(value, Repeated):
        return tensor_proto(value, dtypes.as_dtype(value.dtype), len(value.listed), raw=False)
    return value


def _func(value: Any) -> Any:
    if isinstance(value, (str, bytes)):
        return protos.NameAttrList(name=value)
    return value if isinstance(value, protos.NameAttrList) else protos.NameAttrList(name=value.name)


# Kind -> from the Python value to what the field takes.
_ENCODE: dict[str, Callable[[Any], Any]] = {
    "string": lambda value: value.encode() if isinstance(value, str) else value,
    "int": int,
    "float": float,
    "bool": bool,
    "type": lambda value: dtypes.as_dtype(value).as_datatype_enum,
    "shape": lambda value: (
        value if isinstance(value, protos.TensorShapeProto) else shape_proto(value)
    ),
    "tensor": _tensor,
    "func": _func,
}
# Kind -> from the field to the Python value.
_DECODE: dict[str, Callable[[Any], Any]] = {
    "type": dtypes.as_dtype,
    "shape": shape_from_proto,
    "tensor": constant_value,
}


def _kind_of(value: object) -> str:
    """The kind of one value of an attribute that no op declares."""
    for kinds, kind in (
        (bool, "bool"),
        ((int, np.integer), "int"),
        ((float, np.floating), "float"),
        ((str, bytes), "string"),
        (dtypes.DType, "type"),
        (TensorShape, "shape"),
        (np.ndarray, "tensor"),
    ):
        if isinstance(value, kinds):  # type: ignore[arg-type]
            return kind
    by_message = {"TensorShapeProto": "shape", "TensorProto": "tensor", "NameAttrList": "func"}
    kind = by_message.get(type(value).__name__, "")
    if not kind:
        raise TypeError(f"no attribute can hold {value!r} of type {type(value).__name__}")
    return kind


def to_proto(value: Any, kind: str | None = None) -> Any:
    """The AttrValue of an attribute's Python value."""
    if isinstance(value, protos.AttrValue):
        return value
    is_list = kind.startswith("list(") if kind else isinstance(value, (list, tuple))
    if not is_list:
        kind = kind or _kind_of(value)
        return _scalar(_FIELDS[kind], _ENCODE[kind](value))
    message = protos.AttrValue(list=protos.AttrValue.ListValue())
    if value:
        kind = kind[5:-1] if kind else _kind_of(value[0])
        getattr(message.list, _FIELDS[kind]).extend(_ENCODE[kind](item) for item in value)
    return message


def _scalar(field: str, value: object) -> Any:
    return protos.AttrValue(**{field: value})


def from_proto(message: Any, kind: str | None = None) -> Any:
    """The Python value of an AttrValue; an unset one gives None."""
    field = message.WhichOneof("value")
    if field is None:
        return None
    if field == "placeholder":
        raise ValueError(f"the placeholder ${message.placeholder} stands outside of a function")
    if field != "list":
        decode = _DECODE.get(_KINDS[field])
        value = getattr(message, field)
        return value if decode is None else decode(value)
    if kind:
        return _items(message.list, _FIELDS[kind.removeprefix("list(").removesuffix(")")])
    for name in _KINDS:
        if getattr(message.list, name):
            return _items(message.list, name)
    return []


def _items(message: object, field: str) -> list[Any]:
    decode = _DECODE.get(_KINDS[field])
    return (
        list(getattr(message, field))
        if decode is None
        else list(map(decode, getattr(message, field)))
    )


def public_value(value: object, kind: str | None = None) -> Any:
    """What `Operation.get_attr` returns: DTypes and plain values, but shapes and tensors as protos.

    Floats have passed through TensorFlow's single precision.
    """
    if kind in ("int", "bool", "type") or isinstance(value, (int, bytes, dtypes.DType)):
        return value
    message = to_proto(value, kind)
    field = message.WhichOneof("value")
    if field is None:
        return []
    if field == "type":
        return dtypes.as_dtype(message.type)
    if field != "list":
        return getattr(message, field)
    for name in _KINDS:
        items = list(getattr(message.list, name))
        if items:
            return [dtypes.as_dtype(item) for item in items] if name == "type" else items
    return []


def op_def(definition: registry.OpDef) -> Any:
    """The OpDef message of an op type."""
    message = protos.OpDef(
        name=definition.name,
        is_stateful=definition.is_stateful,
        is_commutative=definition.commutative,
    )
    for argument in definition.inputs:
        _describe_argument(message.input_arg.add(), argument)
    for argument in definition.outputs:
        _describe_argument(message.output_arg.add(), argument)
    for attr in definition.attrs:
        _describe_attr(message.attr.add(), attr)
    return message


def _describe_argument(message: Any, argument: registry.Arg) -> None:
    message.name = argument.name
    message.is_ref = argument.is_ref
    if argument.dtype is not None:
        message.type = argument.dtype.as_datatype_enum
    for field in ("type_attr", "number_attr", "type_list_attr"):
        setattr(message, field, getattr(argument, field) or "")


def _describe_attr(message: Any, attr: registry.Attr) -> None:
    message.name = attr.name
    message.type = attr.type
    if attr.minimum is not None:
        message.has_minimum = True
        message.minimum = attr.minimum
    if attr.has_default:
        message.default_value.CopyFrom(default_proto(attr))
    if attr.allowed is not None:
        item = attr.type.removeprefix("list(").removesuffix(")")
        message.allowed_values.CopyFrom(to_proto(list(attr.allowed), f"list({item})"))


def default_proto(attr: registry.Attr) -> Any:
    """The AttrValue of an attribute's default."""
    value = attr.default
    if attr.type == "shape" and value is None:
        value = TensorShape(None)
    return to_proto(value, attr.type)
