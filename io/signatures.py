# SPDX-License-Identifier: Apache-2.0
"""Signatures of op types from OpDef messages, and those of TensorFlow's ops that do not run here.

A graph may hold any op that TensorFlow 1.15 or 2 registers: its nodes are checked, kept and written
again, and what does not need them runs.  Running one raises UnimplementedError, which names it.
"""

from __future__ import annotations

import functools
import gzip
import os
from typing import TYPE_CHECKING, Any

from ..engine import errors
from ..engine.graph import registry
from ..engine.types import dtypes
from ..engine.types.shape import unknown_shape
from . import protos
from .attributes import from_proto

if TYPE_CHECKING:
    from ..engine.graph.kernel_context import KernelContext

_TABLE = os.path.join(os.path.dirname(__file__), "protos", "ops.binpb.gz")


def argument_of(message: Any) -> registry.Arg:
    """An input or output, from its ArgDef."""
    return registry.Arg(
        message.name,
        dtype=dtypes.as_dtype(message.type) if message.type else None,
        type_attr=message.type_attr or None,
        type_list_attr=message.type_list_attr or None,
        number_attr=message.number_attr or None,
        is_ref=message.is_ref,
    )


def attribute_of(message: Any) -> registry.Attr:
    """An attribute, from its AttrDef; types that only later versions know are not allowed."""
    allowed = None
    if message.HasField("allowed_values"):
        values = message.allowed_values.list
        known = [kind for kind in map(_known_type, values.type) if kind is not None]
        allowed = tuple(values.s) or tuple(known)
    has_default = message.HasField("default_value")
    return registry.Attr(
        message.name,
        message.type,
        default=from_proto(message.default_value, message.type) if has_default else None,
        has_default=has_default,
        allowed=allowed,
        minimum=message.minimum if message.has_minimum else None,
    )


def _known_type(number: int) -> dtypes.DType | None:
    try:
        return dtypes.as_dtype(number)
    except TypeError:
        return None


def find(op_type: str) -> registry.OpDef | None:
    """The definition of an op type, also of one that only TensorFlow runs; None when unknown."""
    return registry.find(op_type) or _foreign(op_type)


@functools.cache
def tensorflow_ops() -> dict[str, Any]:
    """The OpDef messages of all ops that TensorFlow 1.15 and 2.21 register, by name."""
    with gzip.open(_TABLE) as file:
        return {op.name: op for op in protos.OpList.FromString(file.read()).op}


@functools.cache
def _foreign(op_type: str) -> registry.OpDef | None:
    message = tensorflow_ops().get(op_type)
    if message is None:
        return None
    return registry.OpDef(
        op_type,
        tuple(map(argument_of, message.input_arg)),
        tuple(map(argument_of, message.output_arg)),
        tuple(map(attribute_of, message.attr)),
        shape=lambda c: [unknown_shape() for _ in c.op.outputs],
        kernel=_refuse,
        stateful=message.is_stateful,
        commutative=message.is_commutative,
        dynamic_shape=True,
    )


def _refuse(c: KernelContext, *inputs: Any) -> Any:
    raise errors.unimplemented(
        f"Op type '{c.op.type}' has no kernel: numbaflow keeps such nodes of imported graphs, but "
        "cannot run them. Fetch what does not need the node, or feed its result."
    )
