# SPDX-License-Identifier: Apache-2.0
"""`VariableScope`: a prefix of variable names, with defaults for the variables under it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.collections import GraphKeys, get_collection
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.types import dtypes
from .variable_modes import VariableAggregation, VariableSynchronization
from .variable_store import Request, VariableStore

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from .variable_partitions import PartitionedVariable


def _held(name: str, doc: str) -> Any:
    """A property that programs read but change through methods only."""
    return property(operator.attrgetter("_" + name), doc=doc)


@export("VariableScope")
class VariableScope:
    """A prefix of variable names, with defaults for the variables made under it."""

    def __init__(
        self,
        reuse: Any,
        name: str = "",
        initializer: Callable[..., Any] | TensorLike | None = None,
        regularizer: Callable[..., Any] | None = None,
        caching_device: Callable[..., Any] | None = None,
        partitioner: Callable[..., Any] | None = None,
        custom_getter: Callable[..., Any] | None = None,
        name_scope: str = "",
        dtype: DTypeLike = dtypes.float32,
        use_resource: bool | None = None,
        constraint: Callable[..., Any] | None = None,
    ) -> None:
        self._name = name
        self._initializer = initializer
        self._regularizer = regularizer
        self._reuse = reuse
        self._caching_device = caching_device
        self._partitioner = partitioner
        self._custom_getter = custom_getter
        self._dtype = dtype
        self._use_resource = use_resource
        self._constraint = constraint
        self._name_scope = name_scope

    name = _held("name", "The prefix of the variables' names.")
    dtype = _held("dtype", "The default dtype.")
    initializer = _held("initializer", "The default initializer.")
    regularizer = _held("regularizer", "The default regularizer.")
    constraint = _held("constraint", "The default constraint.")
    caching_device = _held("caching_device", "The device that keeps copies of values.")
    partitioner = _held("partitioner", "What says into how many parts variables are cut.")
    custom_getter = _held("custom_getter", "The function that `get_variable` goes through.")
    use_resource = _held("use_resource", "Whether variables are resource variables.")
    reuse = _held("reuse", "Whether `get_variable` finds variables, makes them, or both.")

    @property
    def original_name_scope(self) -> str:
        """The name scope that was opened with this variable scope."""
        return self._name_scope

    def reuse_variables(self) -> None:
        """From here on, `get_variable` finds variables and makes none."""
        self._reuse = True

    def set_initializer(self, initializer: Callable[..., Any] | TensorLike | None) -> None:
        """Sets the default initializer."""
        self._initializer = initializer

    def set_dtype(self, dtype: DTypeLike) -> None:
        """Sets the default dtype."""
        self._dtype = dtype

    def set_use_resource(self, use_resource: bool) -> None:
        """Sets whether variables are resource variables."""
        self._use_resource = use_resource

    def set_regularizer(self, regularizer: Callable[..., Any]) -> None:
        """Sets the default regularizer."""
        self._regularizer = regularizer

    def set_caching_device(self, caching_device: Any) -> None:
        """Sets the device that keeps a copy of the value."""
        self._caching_device = caching_device

    def set_partitioner(self, partitioner: Callable[..., Any] | None) -> None:
        """Sets the default partitioner."""
        self._partitioner = partitioner

    def set_custom_getter(self, custom_getter: Callable[..., Any]) -> None:
        """Sets the function that `get_variable` goes through."""
        self._custom_getter = custom_getter

    def get_collection(self, name: str) -> list[Any]:
        """The members of a collection that are in this scope."""
        return get_collection(name, self.name + "/" if self.name else "")

    def trainable_variables(self) -> list[Any]:
        """The trainable variables of this scope."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> list[Any]:
        """The global variables of this scope."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list[Any]:
        """The local variables of this scope."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_variable(
        self,
        var_store: VariableStore,
        name: str,
        shape: TensorLike | None = None,
        dtype: DTypeLike | None = None,
        initializer: Any = None,
        regularizer: Callable[..., Any] | None = None,
        reuse: bool | None = None,
        trainable: bool | None = None,
        collections: Iterable[str] | None = None,
        caching_device: Callable[..., Any] | str | None = None,
        partitioner: Callable[..., Any] | None = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        custom_getter: Callable[..., Any] | None = None,
        constraint: Callable[..., Any] | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
    ) -> Any:
        """Finds or makes a variable, with this scope's defaults."""
        asked = dict(locals())
        for key in ("self", "var_store", "name"):
            del asked[key]
        for key in ("regularizer", "caching_device", "partitioner", "custom_getter"):
            if asked.get(key) is None:
                asked[key] = getattr(self, key)
        for key in ("reuse", "use_resource"):
            if asked.get(key) is None:
                asked[key] = getattr(self, key)
        # The full name says it all: the name scope must not be added to it.
        with name_scope(None):
            _require_dtype(asked.get("initializer"), asked.get("dtype"))
            for key in ("initializer", "constraint", "dtype"):
                if asked.get(key) is None:
                    asked[key] = getattr(self, key)
            return var_store.get_variable(self._full_name(name), **asked)

    def _full_name(self, name: str) -> str:
        return self.name + "/" + name if self.name else name

    def _get_partitioned_variable(
        self, var_store: VariableStore, name: str, **asked: Any
    ) -> PartitionedVariable:
        keys = ("initializer", "regularizer", "constraint", "caching_device", "partitioner")
        for key in (*keys, "dtype", "use_resource"):
            if asked.get(key) is None:
                asked[key] = getattr(self, key)
        if self.custom_getter is not None:
            raise ValueError(
                "Private access to _get_partitioned_variable is not allowed when a custom getter "
                f"is set.  Current custom getter: {self.custom_getter}.  It is likely that you're "
                "using create_partitioned_variables.  If so, consider instead using get_variable "
                "with a non-empty partitioner parameter instead."
            )
        if asked["partitioner"] is None:
            raise ValueError("No partitioner was specified")
        asked.setdefault("reuse", self.reuse)
        full_name = self._full_name(name) if name else self.name
        with name_scope(None):
            return var_store.get_partitioned(Request(full_name, **asked))


def _require_dtype(initializer: object, dtype: DTypeLike | None) -> None:
    if dtype is None or initializer is None or callable(initializer):
        return
    found = convert_to_tensor(initializer).dtype.base_dtype
    if found != dtype:
        raise ValueError(f"Initializer type '{found}' and explicit dtype '{dtype}' don't match.")
