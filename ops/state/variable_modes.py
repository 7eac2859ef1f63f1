# SPDX-License-Identifier: Apache-2.0
"""What goes with making a variable: modes, collections, placement, and the slice it may hold."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...engine.api import export
from ...engine.graph.collections import GraphKeys, add_to_collections
from ...engine.graph.graph import get_default_graph, init_scope, name_scope
from ...engine.graph.scope_functions import prepend_name_scope, strip_name_scope


@export("VariableSynchronization")
class VariableSynchronization(enum.Enum):
    """When a variable that lives on several devices is synchronized."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


@export("VariableAggregation")
class VariableAggregation(enum.Enum):
    """How the values of a variable that lives on several devices are combined."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3

    def __hash__(self) -> int:
        return hash(self.value)


def checked_modes(
    synchronization: object,
    aggregation: object,
    trainable: bool | None,
    name: str | None,
) -> tuple[VariableSynchronization, VariableAggregation, bool]:
    """The two modes as enums and `trainable` as a bool, after checking them."""
    try:
        aggregation = VariableAggregation(getattr(aggregation, "value", aggregation) or 0)
    except ValueError:
        raise ValueError(
            f"Invalid variable aggregation mode: {aggregation} for variable: {name}"
        ) from None
    try:
        synchronization = VariableSynchronization(
            getattr(synchronization, "value", synchronization) or 0
        )
    except ValueError:
        raise ValueError(
            f"Invalid variable synchronization mode: {synchronization} for variable: {name}"
        ) from None
    if trainable is None:
        trainable = synchronization != VariableSynchronization.ON_READ
    return synchronization, aggregation, trainable


def checked_collections(
    collections: Sequence[str] | None, trainable: bool | None, constraint: Callable[..., Any] | None
) -> Any:
    """The collections a new variable goes to."""
    if collections is None:
        collections = [GraphKeys.GLOBAL_VARIABLES]
    if not isinstance(collections, (list, tuple, set)):
        raise ValueError(
            "collections argument to Variable constructor must be a list, tuple, or set. "
            f"Got {collections} of type {type(collections)}"
        )
    if constraint is not None and not callable(constraint):
        raise ValueError("The `constraint` argument must be a callable.")
    if trainable and GraphKeys.TRAINABLE_VARIABLES not in collections:
        collections = [*collections, GraphKeys.TRAINABLE_VARIABLES]
    return collections


@contextmanager
def colocated_attr(name: str) -> Iterator[None]:
    """New operations carry the `_class` attribute that places them with the named one."""
    graph = get_default_graph()
    old = graph._attr_scope_map
    graph._attr_scope_map = {**old, "_class": [f"loc:@{name}".encode()]}
    try:
        yield
    finally:
        graph._attr_scope_map = old


class SaveSliceInfo:
    """Which part of a larger, partitioned variable a variable holds."""

    def __init__(
        self,
        full_name: Any = None,
        full_shape: Any = None,
        var_offset: Any = None,
        var_shape: Any = None,
        save_slice_info_def: Any = None,
        import_scope: str | None = None,
    ) -> None:
        if save_slice_info_def is not None:
            full_name = prepend_name_scope(save_slice_info_def.full_name, import_scope)
            full_shape = list(save_slice_info_def.full_shape)
            var_offset = list(save_slice_info_def.var_offset)
            var_shape = list(save_slice_info_def.var_shape)
            if not len(full_shape) == len(var_offset) == len(var_shape):
                raise ValueError(
                    f"The SaveSliceInfoDef of {full_name} states a slice of other dimensions than "
                    f"the variable's: {full_shape}, {var_offset}, {var_shape}"
                )
        self.full_name = full_name
        self.full_shape = full_shape
        self.var_offset = var_offset
        self.var_shape = var_shape

    @property
    def spec(self) -> str:
        """The slice as the checkpoint ops write it: "4 5 0,2:0,5"."""
        sizes = " ".join(f"{size}" for size in self.full_shape) + " "
        return sizes + ":".join(
            f"{offset},{size}" for offset, size in zip(self.var_offset, self.var_shape, strict=True)
        )

    def to_proto(self, export_scope: str | None = None) -> Any:
        """A SaveSliceInfoDef, or None when the variable is outside of `export_scope`."""
        from ...io import protos

        if export_scope is not None and not self.full_name.startswith(export_scope):
            return None
        return protos.SaveSliceInfoDef(
            full_name=strip_name_scope(self.full_name, export_scope),
            full_shape=self.full_shape,
            var_offset=self.var_offset,
            var_shape=self.var_shape,
        )


@contextmanager
def construction(
    variable: Any,
    initial_value: object,
    name: str | None,
    modes: tuple[Any, Any, bool],
    collections: Sequence[str] | None,
    constraint: Callable[..., Any] | None,
    caching_device: Callable[..., Any] | str | None,
) -> Iterator[str]:
    """Inside of it a variable's nodes are made, under the name scope that it gives.

    `modes` are synchronization, aggregation and trainable.  Raises ValueError when there is no
    initial value or an argument is of no use.
    """
    if initial_value is None:
        raise ValueError("initial_value must be specified.")
    variable._synchronization, variable._aggregation, variable._trainable = modes
    collections = checked_collections(collections, variable._trainable, constraint)
    variable._caching_device = caching_device
    variable._constraint = constraint
    with init_scope():
        values = [] if callable(initial_value) else [initial_value]
        with name_scope(name, "Variable", values) as scope:
            yield scope
        add_to_collections(collections, variable)
