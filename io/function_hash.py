# SPDX-License-Identifier: Apache-2.0
"""The names that TensorFlow gives to functions without one: their Python name and a hash of them.

The hash is TensorFlow 1.15's, so that one function has one name in both; the nodes that call a
function have its name as their type.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

from ..engine.types import dtypes
from .raw_tensors import content_of
from .tensor_proto import make_ndarray

_MASK = (1 << 64) - 1
# The seed and the combination of two hashes are those of TensorFlow's core/lib/hash/hash.h; factor
# and shift are MurmurHash64A's.
_SEED = 0xDECAFCAFFE
_FACTOR = 0xC6A4A7935BD1E995
_SHIFT = 47


def named_by_content(name: str, definition: object) -> str:
    """`name` and the hash of a FunctionDef that has neither a name nor attributes yet."""
    digest = _function(definition).to_bytes(8, "little")
    return f"{name}_{base64.urlsafe_b64encode(digest).decode().rstrip('=').translate(_LETTERS)}"


# Signs of base64 that no name of an operation, or no pretty one, has.
_LETTERS = str.maketrans("-_", "aA")


def hash64(data: bytes, seed: int = _SEED) -> int:
    """MurmurHash64A of some bytes."""
    result = seed ^ (len(data) * _FACTOR & _MASK)
    whole = len(data) & ~7
    for i in range(0, whole, 8):
        part = int.from_bytes(data[i : i + 8], "little") * _FACTOR & _MASK
        part = (part ^ part >> _SHIFT) * _FACTOR & _MASK
        result = (result ^ part) * _FACTOR & _MASK
    if whole < len(data):
        result = (result ^ int.from_bytes(data[whole:], "little")) * _FACTOR & _MASK
    result = (result ^ result >> _SHIFT) * _FACTOR & _MASK
    return result ^ result >> _SHIFT


def combined(a: int, b: int) -> int:
    """Two hashes as one, in this order."""
    return a ^ (b + 0x9E3779B97F4A7800 + (a << 10) + (a >> 4) & _MASK)


def _texts(texts: Iterable[str], seed: int) -> int:
    """The hash of some texts, one after the other."""
    for text in texts:
        seed = hash64(text.encode(), seed)
    return seed


def message_hash(message: Any, seed: int = _SEED) -> int:
    """The hash of a message."""
    return hash64(message.SerializeToString(deterministic=True), seed)


def _function(definition: Any) -> int:
    result = signature_hash(definition.signature)
    result = _attributes(definition.attr, result, internal=True)
    # In order of their names, so that the hash does not tell in which order nodes were made.
    nodes = _SEED
    for node in sorted(definition.node_def, key=lambda node: node.name):
        nodes = combined(_node(node), hash64(node.name.encode(), nodes))
    result = combined(nodes, result)
    for key, value in sorted(definition.ret.items()):
        result = _texts([key, value], result)
    return result


def signature_hash(signature: Any) -> int:
    """The hash of an OpDef; the order of its attributes and control outputs does not count."""
    copy = type(signature)()
    copy.CopyFrom(signature)
    # The attributes are hashed in order of their names, wherever they stand.
    copy.ClearField("attr")
    copy.ClearField("control_output")
    result = _SEED
    for attr in sorted(signature.attr, key=lambda attr: attr.name):
        result = combined(_attr_def(attr), hash64(attr.name.encode(), result))
    for name in sorted(set(signature.control_output)):
        result = combined(result, hash64(name.encode()))
    return message_hash(copy, result)


def _attr_def(attr: Any) -> int:
    result = _texts([attr.name, attr.type], _SEED)
    result = combined(_value(attr.default_value), result)
    result = hash64(attr.description.encode(), result)
    result = combined(int(attr.has_minimum), result)
    result = combined(attr.minimum & _MASK, result)
    return combined(_value(attr.allowed_values), result)


def _node(node: Any) -> int:
    inputs = [text for text in node.input if not text.startswith("^")]
    # The order of control inputs means nothing.
    controls = sorted({text for text in node.input if text.startswith("^")})
    result = _texts([node.name, node.op, node.device, *inputs, *controls], _SEED)
    return _attributes(node.attr, result, internal=False)


def _attributes(attrs: Any, seed: int, internal: bool) -> int:
    """The hash of the attributes that are set; `internal`: of those that begin with "_" too."""
    for key, value in sorted(attrs.items()):
        if (internal and value.WhichOneof("value")) or (not internal and not key.startswith("_")):
            seed = combined(_value(value), hash64(key.encode(), seed))
    return seed


def _value(value: Any) -> int:
    kind = value.WhichOneof("value")
    if kind == "tensor":
        return message_hash(_written_raw(value.tensor))
    if kind == "func":
        result = hash64(value.func.name.encode())
        return _attributes(value.func.attr, result, internal=True)
    return message_hash(value)


def _written_raw(tensor: Any) -> Any:
    """The same TensorProto with its elements as bytes, however they were written."""
    raw = type(tensor)(dtype=tensor.dtype, tensor_shape=tensor.tensor_shape)
    array = make_ndarray(tensor)
    raw.tensor_content = content_of(array, dtypes.as_dtype(tensor.dtype))
    return raw
