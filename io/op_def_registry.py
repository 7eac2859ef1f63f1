# SPDX-License-Identifier: Apache-2.0
"""The op types as OpDef messages, by name: what TensorFlow's module of this name gives."""

from __future__ import annotations

from typing import Any

from ..engine.graph.registry import definitions
from . import protos
from .attributes import op_def

# Every message made so far, and what programs registered besides.
_registered: dict[str, Any] = {}


def get_registered_ops() -> dict[str, Any]:
    """Op type -> OpDef, of all op types there are at the moment; always the same dictionary."""
    for definition in definitions():
        if definition.name not in _registered:
            _registered[definition.name] = op_def(definition)
    return _registered


def register_op_list(op_list: object) -> None:
    """Adds the OpDefs of an OpList; ValueError where a name has another definition already.

    Only their description is known from then on: what runs is stated with `build.define`.
    """
    if not isinstance(op_list, protos.OpList):
        raise TypeError(f"{op_list} is {type(op_list)}, not an op_def_pb2.OpList")
    present = get_registered_ops()
    for message in op_list.op:
        if present.setdefault(message.name, message) != message:
            raise ValueError(
                f"Registered op_def for {message.name} ({present[message.name]}) not equal to "
                f"op_def to register ({message})"
            )


def all_op_list() -> bytes:
    """All op types as an OpList in bytes, which TensorFlow has of TF_GetAllOpList."""
    return protos.OpList(op=get_registered_ops().values()).SerializeToString()


def bytes_of_buffer(buffer: bytes) -> bytes:
    """What a buffer of TensorFlow's C functions holds (TF_GetBuffer); here it is itself that."""
    return buffer
