# SPDX-License-Identifier: Apache-2.0
"""Resources other than variables that must be made before use: tables, for example."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...engine.api import export
from ...engine.graph.collections import GraphKeys, add_to_collection, get_collection
from ...engine.graph.graph import device, name_scope
from ...engine.types import dtypes
from ..public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor


class _Resource(NamedTuple):
    """A handle, the operation that makes its resource, and whether that was done."""

    handle: Any
    create: Any
    is_initialized: Any


def register_resource(
    handle: TensorLike, create_op: object, is_initialized_op: object, is_shared: bool = True
) -> None:
    """Puts a resource on the list of those that `initialize_resources` is to make."""
    key = GraphKeys.RESOURCES if is_shared else GraphKeys.LOCAL_RESOURCES
    add_to_collection(key, _Resource(handle, create_op, is_initialized_op))


def shared_resources() -> list[_Resource]:
    """The resources that all workers share."""
    return get_collection(GraphKeys.RESOURCES)


def local_resources() -> list[_Resource]:
    """The resources of this process."""
    return get_collection(GraphKeys.LOCAL_RESOURCES)


def report_uninitialized_resources(
    resource_list: Sequence[Any] | None = None, name: str = "report_uninitialized_resources"
) -> Tensor:
    """The names of the resources that were not made yet, as a string tensor."""
    if resource_list is None:
        resource_list = shared_resources() + local_resources()
    with name_scope(name), device("/cpu:0"):
        if not resource_list:
            return tf.constant([], dtype=dtypes.string)
        missing = tf.logical_not(tf.stack([item.is_initialized for item in resource_list]))
        return tf.boolean_mask(tf.constant([item.handle.name for item in resource_list]), missing)


def initialize_resources(resource_list: Sequence[Any], name: str = "init") -> Operation:
    """An operation that makes all resources of a list."""
    if resource_list:
        return tf.group(*[item.create for item in resource_list], name=name)
    return tf.no_op(name=name)


@export("tables_initializer", "initializers.tables_initializer")
def tables_initializer(name: str = "init_all_tables") -> Operation:
    """An operation that fills all tables of the default graph."""
    tables = get_collection(GraphKeys.TABLE_INITIALIZERS)
    return tf.group(*tables, name=name) if tables else tf.no_op(name=name)


@export("initialize_all_tables")
def initialize_all_tables(name: str = "init_all_tables") -> Operation:
    """The old name of `tables_initializer`."""
    return tables_initializer(name)
