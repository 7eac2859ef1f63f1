# SPDX-License-Identifier: Apache-2.0
"""Checks and normal forms of attribute values, with TensorFlow's messages."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..types import dtypes
from ..types.repeated import Repeated
from ..types.shape import TensorShape, as_shape
from .registry import Attr


def check_type(kind: dtypes.DType, attr: Attr, parameter: str) -> None:
    """Raises TypeError unless the attribute allows the type."""
    if attr.allowed is not None and kind not in attr.allowed:
        raise TypeError(
            f"Value passed to parameter '{parameter}' has DataType {kind.name} not in list of "
            f"allowed values: {', '.join(item.name for item in attr.allowed)}"
        )


def default(attr: Attr) -> Any:
    """The default of an attribute in its normal form."""
    value = attr.default
    if attr.type == "shape" and not isinstance(value, TensorShape):
        return TensorShape(value)
    if attr.type == "float":
        return single(value)
    if isinstance(value, (list, tuple)):
        return [single(x) for x in value] if attr.type == "list(float)" else list(value)
    return value


def check(op_type: str, attr: Attr, value: object) -> Any:
    """A given attribute value in its normal form; raises TensorFlow's errors."""
    key, kind = attr.name, attr.type
    if not kind.startswith("list("):
        return _check_one(op_type, attr, kind, value)
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"Expected list for attr {key}")
    if attr.minimum is not None and len(value) < attr.minimum:
        raise ValueError(
            f"Attr '{key}' of '{op_type}' Op passed list of length {len(value)} less than "
            f"minimum {attr.minimum}."
        )
    return [_check_one(op_type, attr, kind[5:-1], item) for item in value]


def _check_one(op_type: str, attr: Attr, kind: str, value: Any) -> Any:
    result = _CHECKS[kind](value, attr)
    if kind == "string" and attr.allowed is not None and result not in attr.allowed:
        allowed = '", "'.join(item.decode() for item in attr.allowed)
        raise ValueError(
            f"Attr '{attr.name}' of '{op_type}' Op passed string '{result.decode()}' not in: "
            f'"{allowed}".'
        )
    if kind == attr.type == "int" and attr.minimum is not None and result < attr.minimum:
        raise ValueError(
            f"Attr '{attr.name}' of '{op_type}' Op passed {result} less than minimum "
            f"{attr.minimum}."
        )
    return result


def _wrong(what: str, attr: Attr, value: Any) -> TypeError:
    return TypeError(f"Expected {what} for argument '{attr.name}' not {value!r}.")


def _int(value: Any, attr: Attr) -> int:
    if isinstance(value, (str, bytes)):
        raise _wrong("int", attr, value)
    try:
        return int(value)
    except (ValueError, TypeError):
        raise _wrong("int", attr, value) from None


def _float(value: Any, attr: Attr) -> float:
    if not isinstance(value, numbers.Real):
        raise _wrong("float", attr, value)
    return single(float(value))


def single(value: float) -> float:
    """A number as an attribute holds it: in single precision, as in a NodeDef."""
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def _bool(value: bool, attr: Attr) -> bool:
    if not isinstance(value, bool):
        raise _wrong("bool", attr, value)
    return value


def _string(value: bytes | str, attr: Attr) -> bytes:
    if not isinstance(value, (str, bytes)):
        raise _wrong("string", attr, value)
    return value.encode() if isinstance(value, str) else value


def _type(value: Any, attr: Attr) -> dtypes.DType:
    try:
        kind = dtypes.as_dtype(value).base_dtype
    except TypeError:
        raise _wrong("DataType", attr, value) from None
    check_type(kind, attr, attr.name)
    return kind


def _shape(value: Any, attr: Attr) -> TensorShape:
    try:
        return as_shape(value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"Error converting {attr.name} to a TensorShape: {error}") from None


def _tensor(value: Any, attr: Attr) -> np.ndarray | Repeated:
    if isinstance(value, (np.ndarray, Repeated)):
        return value
    if type(value).__name__ == "TensorProto":
        from ...io.tensor_proto import MakeNdarray

        return MakeNdarray(value)
    raise TypeError(
        f"Don't know how to convert {value!r} to a TensorProto for argument '{attr.name}'"
    )


class FunctionName(NamedTuple):
    """A function of a graph's library by its name, with the attributes that its body is for."""

    name: str
    attr: Mapping[str, Any] = {}


def _func(value: object, attr: Attr) -> Any:
    if value is None:
        raise TypeError(f"Don't know how to convert {value} to a func for argument {attr.name}")
    if isinstance(value, (str, bytes)):
        return FunctionName(value if isinstance(value, str) else value.decode())
    add_to_graph = getattr(value, "add_to_graph", None)
    if add_to_graph is None and not hasattr(value, "name"):
        raise TypeError(f"Don't know how to convert {value} to a func for argument {attr.name}")
    if add_to_graph is not None:
        from .graph import get_default_graph

        # The node finds it there by its name, as in TensorFlow (`apply_op` in op_def_library.py).
        add_to_graph(get_default_graph())
    return value


_CHECKS: dict[str, Callable[..., Any]] = {
    "int": _int,
    "float": _float,
    "bool": _bool,
    "string": _string,
    "type": _type,
    "shape": _shape,
    "tensor": _tensor,
    "func": _func,
}
