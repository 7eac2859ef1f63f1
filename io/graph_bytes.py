# SPDX-License-Identifier: Apache-2.0
"""Operations as the bytes of NodeDefs: what a GraphDef is read from, much faster than filled in.

An attribute of one value is encoded once per graph, whatever the number of nodes that have it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.graph.operation import Operation
from ..engine.types.dtypes import DType
from ..engine.types.shape import TensorShape
from . import protos
from .attributes import to_proto
from .tensor_proto import is_raw, shape_proto, tensor_proto
from .varint import put

# Marks of fields that hold a text or a message.
_NODE = _NAME = b"\n"
_TYPE, _INPUT, _DEVICE, _ATTR, _ORIGIN = b"\x12", b"\x1a", b'"', b"*", b"2"
_KEY, _VALUE, _TENSOR, _CONTENT = b"\n", b"\x12", b"B", b'"'
# Values of attributes that are remembered: they are equal only if they are written the same.
_PLAIN = frozenset((bool, int, bytes, str, DType))
_LISTS = frozenset(("list(int)", "list(bool)", "list(type)"))
# Constants of at most so many bytes are remembered too.
_SMALL = 64
_LIMIT = (1 << 31) - 1


def _field(mark: bytes, content: bytes) -> bytes:
    return mark + put(len(content)) + content


class NodeWriter:
    """Writes operations, and remembers what many of them have in common."""

    def __init__(self, add_shapes: bool = False) -> None:
        self._add_shapes = add_shapes
        self._attrs: dict[Any, bytes] = {}
        self._types: dict[str, bytes] = {}
        self._kinds: dict[str, dict[str, str]] = {}
        # What names an operation as an input, its first output.
        self._inputs: dict[Operation, bytes] = {}

    def graph(self, operations: Iterable[Operation]) -> bytes:
        """The bytes of a GraphDef of operations; InvalidArgumentError beyond two gigabytes."""
        parts: list[bytes] = []
        for operation in operations:
            content = self.node(operation)
            parts += (_NODE, put(len(content)), content)
        size = sum(len(part) for part in parts)
        if size > _LIMIT:
            raise errors.invalid(
                "Cannot serialize protocol buffer of type tensorflow.GraphDef as the serialized "
                f"size ({size}bytes) would be larger than the limit ({_LIMIT} bytes)"
            )
        return b"".join(parts)

    def node(self, operation: Operation) -> bytes:
        """The bytes of an operation's NodeDef."""
        definition = operation.definition
        type_name = definition.name
        head = self._types.get(type_name)
        if head is None:
            head = self._types[type_name] = _field(_TYPE, type_name.encode())
            self._kinds[type_name] = {attr.name: attr.type for attr in definition.attrs}
        parts = [_field(_NAME, operation._name.encode()), head]
        inputs = self._inputs
        for tensor in operation._inputs_val:
            source = tensor._op
            if tensor._value_index:
                name = f"{source._name}:{tensor._value_index}"
                parts.append(_field(_INPUT, name.encode()))
                continue
            known = inputs.get(source)
            if known is None:
                known = inputs[source] = _field(_INPUT, source._name.encode())
            parts.append(known)
        if operation._control_inputs_val:
            names = sorted(f"^{op._name}" for op in operation._control_inputs_val)
            parts += [_field(_INPUT, name.encode()) for name in names]
        if operation._device:
            parts.append(_field(_DEVICE, operation._device.encode()))
        self._add_attrs(parts, operation, self._kinds[type_name])
        if operation._debug_info is not None:
            parts.append(_field(_ORIGIN, operation._debug_info.SerializeToString()))
        return b"".join(parts)

    def _add_attrs(self, parts: list[bytes], operation: Operation, kinds: dict[str, str]) -> None:
        remembered = self._attrs
        for name, value in operation._attrs.items():
            kind = kinds.get(name)
            key: Any
            if type(value) in _PLAIN:
                key = name, kind, type(value), value
            elif kind == "tensor":
                parts.append(self._constant(name, operation, value))
                continue
            elif kind in _LISTS:
                key = name, kind, list, tuple(value)
            elif type(value) is TensorShape:
                key = name, kind, TensorShape, value.sizes
            else:
                parts.append(_entry(name, to_proto(value, kind)))
                continue
            entry = remembered.get(key)
            if entry is None:
                entry = remembered[key] = _entry(name, to_proto(value, kind))
            parts.append(entry)
        if self._add_shapes and operation._outputs:
            parts.append(self._shapes([tensor.shape for tensor in operation._outputs]))

    def _constant(self, name: str, operation: Operation, value: np.ndarray) -> bytes:
        """The value of a Const: NumPy alone cannot tell the quantized types and strings apart."""
        if isinstance(value, protos.TensorProto):
            return _entry(name, protos.AttrValue(tensor=value))
        if "dtype" not in operation._attrs:
            # Other ops' tensors are defaults of their definitions, which list the elements.
            return _entry(name, to_proto(value, "tensor"))
        dtype = operation.outputs[0].dtype.base_dtype
        explicit, raw = operation._explicit_elements, operation._raw_elements
        if is_raw(value, dtype, explicit, raw) and value.nbytes <= _LIMIT:
            return self._raw_constant(name, dtype, value)
        key: Any = None
        if isinstance(value, np.ndarray) and value.nbytes <= _SMALL and value.dtype.kind != "O":
            key = name, dtype, value.shape, value.tobytes(), explicit, raw
            entry = self._attrs.get(key)
            if entry is not None:
                return entry
        message = tensor_proto(value, dtype, explicit, raw)
        entry = _entry(name, protos.AttrValue(tensor=message))
        if key is not None:
            self._attrs[key] = entry
        return entry

    def _raw_constant(self, name: str, dtype: DType, value: np.ndarray) -> bytes:
        """An array that is written as its bytes."""
        key = name, dtype, value.shape
        head = self._attrs.get(key)
        if head is None:
            message = protos.TensorProto(
                dtype=dtype.as_datatype_enum, tensor_shape=shape_proto(value.shape)
            )
            head = self._attrs[key] = message.SerializeToString()
        content = value.tobytes()
        tensor = b"".join((head, _CONTENT, put(len(content)), content))
        attr = b"".join((_TENSOR, put(len(tensor)), tensor))
        return _field(_ATTR, _field(_KEY, name.encode()) + _VALUE + put(len(attr)) + attr)

    def _shapes(self, shapes: list[TensorShape]) -> bytes:
        key = "_output_shapes", tuple(shape.sizes for shape in shapes)
        entry = self._attrs.get(key)
        if entry is None:
            message = protos.AttrValue()
            message.list.shape.extend(map(shape_proto, shapes))
            entry = self._attrs[key] = _entry("_output_shapes", message)
        return entry


def _entry(name: str, value: Any) -> bytes:
    """One attribute, as an entry of the map that a NodeDef has."""
    content = _field(_KEY, name.encode()) + _field(_VALUE, value.SerializeToString())
    return _field(_ATTR, content)
