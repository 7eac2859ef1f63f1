# SPDX-License-Identifier: Apache-2.0
"""`get_variable` and `variable_scope`: sharing variables by name."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.collections import (
    GraphKeys,
    add_to_collection,
    get_collection,
    get_collection_ref,
)
from ...engine.graph.graph import get_default_graph, get_name_scope, name_scope
from ...engine.graph.scope_functions import get_graph_from_inputs
from ...engine.tracebacks import shorten
from ...engine.types import dtypes
from . import variable_store
from .resource_variable import ResourceVariable
from .scope_defaults import VariableScope
from .variable_modes import VariableAggregation, VariableSynchronization
from .variable_store import AUTO_REUSE, VariableStore
from .variables import RefVariable, _default_creator

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.tensor import Tensor
    from .variable_partitions import PartitionedVariable

# Where a graph keeps its store and its current scope.
_STORE_KEY = ("__variable_store",)
_SCOPE_KEY = ("__varscope",)
# What a scope hands on to the variables and scopes inside of it.
_INHERITED = (
    "initializer",
    "regularizer",
    "caching_device",
    "partitioner",
    "dtype",
    "use_resource",
    "custom_getter",
)


class _ScopeStore(threading.local):
    """The current scope of a graph, and how often each scope name was opened."""

    def __init__(self) -> None:
        self.current_scope = VariableScope(False)
        self.variable_scopes_count: dict[str, int] = {}

    def open_variable_scope(self, scope_name: str) -> None:
        """Counts an opening."""
        count = self.variable_scopes_count.get(scope_name, 0)
        self.variable_scopes_count[scope_name] = count + 1

    def close_variable_subscopes(self, scope_name: str | None) -> None:
        """Forgets the openings of everything under a scope."""
        for name in self.variable_scopes_count:
            if scope_name is None or name.startswith(scope_name + "/"):
                self.variable_scopes_count[name] = 0

    def variable_scope_count(self, scope_name: str) -> int:
        """How often a scope was opened."""
        return self.variable_scopes_count.get(scope_name, 0)


def get_variable_scope_store() -> _ScopeStore:
    """The default graph's record of scopes."""
    found = get_collection(_SCOPE_KEY)
    if found:
        return found[0]
    store = _ScopeStore()
    add_to_collection(_SCOPE_KEY, store)
    return store


@export("get_variable_scope")
def get_variable_scope() -> VariableScope:
    """The variable scope that is open, or the outermost one.

    Returns:
        A VariableScope: its `name`, `reuse`, `initializer` …, and `reuse_variables()`.

    Example:
        >>> with tf.variable_scope("outer"), tf.variable_scope("inner"):
        ...     tf.get_variable_scope().name
        'outer/inner'
    """
    return get_variable_scope_store().current_scope


def default_variable_store() -> VariableStore:
    """The default graph's variables by name."""
    found = get_collection(_STORE_KEY)
    if found:
        return found[0]
    store = VariableStore()
    add_to_collection(_STORE_KEY, store)
    return store


@contextmanager
def with_variable_store(store: VariableStore) -> Iterator[None]:
    """Uses another store in the default graph."""
    current = get_collection_ref(_STORE_KEY)
    old = list(current)
    current[:] = [store]
    try:
        yield
    finally:
        current[:] = old


@export("get_variable")
def get_variable(
    name: str,
    shape: TensorLike | None = None,
    dtype: DTypeLike | None = None,
    initializer: Any = None,
    regularizer: Callable[..., Any] | None = None,
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
    """The variable of a name in the current scope: made, or found where the scope reuses.

    Args:
        name: within the scope.
        shape: needed for a new variable, unless `initializer` is a tensor.
        dtype: float32 by default, or what the scope says.
        initializer: an initializer, a function or a tensor; the scope's by default, or else
            Glorot's uniform one for floating-point numbers, and zeros for integers and bools.
        regularizer: a function of the variable whose result joins REGULARIZATION_LOSSES.
        trainable: whether it is in `tf.trainable_variables()`; it is by default.
        collections: the keys that it is added to; [tf.GraphKeys.GLOBAL_VARIABLES] by default.
        caching_device, validate_shape, use_resource, constraint: as of tf.Variable.
        partitioner: a function of shape and dtype that says in how many parts it is made.
        custom_getter: called as custom_getter(getter, name, ...) in place of making the variable.
        synchronization, aggregation: as of tf.Variable.

    Returns:
        The Variable, or a PartitionedVariable.

    Raises:
        ValueError: it exists and is not to be reused, or is to be and does not exist; or it exists
            with another shape or dtype; or a new one has no shape.

    Example:
        >>> def weights():
        ...     with tf.variable_scope("layer", reuse=tf.AUTO_REUSE):
        ...         return tf.get_variable("w", [2, 3], initializer=tf.ones_initializer())
        >>> weights() is weights(), weights().name
        (True, 'layer/w:0')
    """
    asked = dict(locals())
    try:
        return get_variable_scope().get_variable(default_variable_store(), **asked)
    except Exception as error:
        shorten(error)
        raise


@export("get_local_variable")
def get_local_variable(
    name: str,
    shape: Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    initializer: TensorLike | None = None,
    regularizer: Callable[..., Any] | None = None,
    trainable: bool = False,
    collections: Any = None,
    caching_device: str | None = None,
    partitioner: Callable[..., Any] | None = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Callable[..., Any] | None = None,
    constraint: Callable[..., Any] | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Any:
    """`get_variable` for a variable that is neither trained nor saved."""
    asked = dict(locals())
    asked["trainable"] = False
    if collections:
        collections += [GraphKeys.LOCAL_VARIABLES]  # Callers see their list grow.
    asked["collections"] = collections or [GraphKeys.LOCAL_VARIABLES]
    return get_variable(**asked)


def get_partitioned_variable(name: Any, **asked: Any) -> PartitionedVariable:
    """A variable in several parts, in the current scope."""
    return get_variable_scope()._get_partitioned_variable(default_variable_store(), name, **asked)


def _wrapped_getter(
    custom_getter: Callable[..., Any] | None, old_getter: Callable[..., Any] | None
) -> Any:
    """The inner custom getter, whose `getter` goes through the outer one."""
    if old_getter is None or custom_getter is None:
        return custom_getter if custom_getter is not None else old_getter

    def wrapped(getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return custom_getter(functools.partial(old_getter, getter), *args, **kwargs)

    return wrapped


class _PureVariableScope:
    """A variable scope without a name scope."""

    def __init__(
        self,
        name_or_scope: object,
        reuse: Any = None,
        old_name_scope: str | None = None,
        constraint: Callable[..., Any] | None = None,
        dtype: DTypeLike | None = dtypes.float32,
        **chosen: Any,
    ) -> None:
        chosen["dtype"] = dtype
        self._name_or_scope = name_or_scope
        self._reuse = reuse
        self._old_name_scope = old_name_scope
        self._constraint = constraint
        self._chosen = {key: value for key, value in chosen.items() if value is not None}
        self._store = get_variable_scope_store()
        self._cached: VariableScope | None = None
        self._current: VariableScope | None = None
        default_variable_store()
        if isinstance(name_or_scope, VariableScope):
            scope = name_or_scope
            # Reuse is inherited and cannot be taken back inside.
            reuse = self._reuse or scope.reuse
            self._cached = self._derived(scope, reuse, scope.name, scope._name_scope)

    def _derived(self, base: VariableScope, reuse: object, name: str, scope: Any) -> VariableScope:
        inherited = {key: getattr(base, key) for key in _INHERITED}
        getter = _wrapped_getter(self._chosen.get("custom_getter"), base.custom_getter)
        inherited.update(self._chosen, custom_getter=getter)
        return VariableScope(
            reuse, name=name, name_scope=scope, constraint=self._constraint, **inherited
        )

    def __enter__(self) -> VariableScope:
        self._old = self._store.current_scope
        if self._cached is not None:
            self._new_name = self._cached.name
            self._store.open_variable_scope(self._new_name)
            # A scope that is entered again counts its subscopes from the start, and leaving it
            # forgets them.
            self._old_counts = dict(self._store.variable_scopes_count)
            scope = self._cached
        else:
            name, old = self._name_or_scope, self._old
            self._new_name = f"{old.name}/{name}" if old.name else name
            self._reuse = self._reuse or old.reuse
            opened = name if self._old_name_scope is None else self._old_name_scope
            scope = self._derived(old, self._reuse, self._new_name, opened)
            self._store.open_variable_scope(self._new_name)
        self._store.current_scope = self._current = scope
        return scope

    def __exit__(self, *error: Any) -> None:
        if self._store.current_scope is not self._current:
            raise RuntimeError("Improper nesting of variable_scope.")
        if self._cached is not None:
            self._store.variable_scopes_count = self._old_counts
        else:
            self._store.close_variable_subscopes(self._new_name)
        self._store.current_scope = self._old


def _unique_variable_scope(prefix: str) -> str:
    """`prefix`, with a number when the scope was opened before."""
    store, current = get_variable_scope_store(), get_variable_scope()
    name = f"{current.name}/{prefix}" if current.name else prefix
    if store.variable_scope_count(name) == 0:
        return prefix
    number = 1
    while store.variable_scope_count(f"{name}_{number}") > 0:
        number += 1
    return f"{prefix}_{number}"


@export("variable_scope")
class variable_scope:  # noqa: N801
    """A scope for `tf.get_variable`: names, reuse and defaults; and a name scope for operations.

    Args:
        name_or_scope: a name within the current scope, or a VariableScope to open again.
        default_name: the name if that is None; made unique.
        values: tensors, whose graph becomes the default one.
        initializer, regularizer, caching_device, partitioner, custom_getter, dtype, use_resource:
            the defaults of variables in the scope.
        reuse: True to find variables only, tf.AUTO_REUSE to find or make them, None for what the
            scope around says.
        constraint: the default of variables in the scope.
        auxiliary_name_scope: whether a name scope is opened too.

    Returns:
        A context manager that gives the VariableScope.

    Raises:
        TypeError: there is neither name nor default name, or one of the wrong type.
        ValueError: `reuse` is no such value, or there is no name to be reused.

    Example:
        >>> with tf.variable_scope("net"):
        ...     w = tf.get_variable("w", [2])
        >>> with tf.variable_scope("net", reuse=True) as scope:
        ...     print(tf.get_variable("w") is w, scope.name, w.name)
        True net net/w:0
    """

    def __init__(
        self,
        name_or_scope: object,
        default_name: str | None = None,
        values: Sequence[Any] | None = None,
        initializer: Callable[..., Any] | TensorLike | None = None,
        regularizer: Callable[..., Any] | None = None,
        caching_device: Callable[..., Any] | str | None = None,
        partitioner: Any = None,
        custom_getter: Callable[..., Any] | None = None,
        reuse: Any = None,
        dtype: DTypeLike | None = None,
        use_resource: bool | None = None,
        constraint: Callable[..., Any] | None = None,
        auxiliary_name_scope: bool = True,
    ) -> None:
        if default_name is None and name_or_scope is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        reuse = None if reuse is False else reuse
        if reuse is not True and reuse is not None and reuse is not AUTO_REUSE:
            raise ValueError("The reuse parameter must be True or False or None.")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(
                "The auxiliary_name_scope must be `True` or `False`, while get "
                f"{auxiliary_name_scope}"
            )
        self._name_or_scope = name_or_scope
        self._default_name: Any = default_name
        self._reuse = reuse
        self._auxiliary_name_scope = auxiliary_name_scope
        self._chosen = {
            "initializer": initializer,
            "regularizer": regularizer,
            "caching_device": caching_device,
            "partitioner": partitioner,
            "custom_getter": custom_getter,
            "dtype": dtype,
            "use_resource": use_resource,
            "constraint": constraint,
        }
        self._graph = get_graph_from_inputs(values or [])
        self._pure: _PureVariableScope | None = None
        self._name_scope: Any = None

    def __enter__(self) -> VariableScope:
        self._in_graph = None
        if not get_default_graph().building_function:
            self._in_graph = self._graph.as_default()
            self._in_graph.__enter__()
        try:
            if self._pure is not None:
                # The scope object is entered again: its name scope is the one it had.
                if self._name_scope is not None:
                    self._name_scope.__enter__()
                return self._pure.__enter__()
            return self._enter_first()
        except BaseException as error:
            if self._in_graph is not None:
                self._in_graph.__exit__(type(error), error, error.__traceback__)
            raise

    def _enter_first(self) -> VariableScope:
        given = self._name_or_scope
        scope = None if self._auxiliary_name_scope else _present_name_scope()
        if given is None:
            if self._reuse:
                raise ValueError("reuse=True cannot be used without a name_or_scope")
            scope = scope or name_scope(self._default_name)
            opened = self._enter_names(scope)
            return self._enter_pure(_unique_variable_scope(self._default_name), opened)
        if not isinstance(given, (VariableScope, str)):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        # A scope object keeps its variables' prefix wherever it is opened; its operations get a new
        # name scope under the present one.
        name = given if isinstance(given, str) else given.name.split("/")[-1]
        if not name and scope is None:
            return self._enter_pure(given, None)
        opened = self._enter_names(scope or name_scope(name))
        return self._enter_pure(
            given, opened if isinstance(given, str) else given.original_name_scope
        )

    def _enter_names(self, scope: Any) -> str:
        opened = scope.__enter__()
        self._name_scope = scope
        return opened

    def _enter_pure(self, name_or_scope: Any, old_name_scope: str | None) -> VariableScope:
        reuse = self._reuse if self._name_or_scope is not None else None
        pure = _PureVariableScope(
            name_or_scope, reuse=reuse, old_name_scope=old_name_scope, **self._chosen
        )
        try:
            scope = pure.__enter__()
        except BaseException as error:
            if self._name_scope is not None:
                self._name_scope.__exit__(type(error), error, error.__traceback__)
            raise
        self._pure = pure
        return scope

    def __exit__(self, *error: Any) -> None:
        assert self._pure is not None
        try:
            self._pure.__exit__(*error)
        finally:
            try:
                if self._name_scope is not None:
                    self._name_scope.__exit__(*error)
            finally:
                if self._in_graph is not None:
                    self._in_graph.__exit__(*error)


def _present_name_scope() -> name_scope:
    """A context that stays in the name scope that is open already."""
    current = get_name_scope()
    return name_scope(current + "/" if current else current)


@export("variable_op_scope")
@contextmanager
def variable_op_scope(
    values: Sequence[Tensor],
    name_or_scope: str | None,
    default_name: str | None = None,
    initializer: TensorLike | None = None,
    regularizer: Callable[..., Any] | None = None,
    caching_device: str | None = None,
    partitioner: Callable[..., Any] | None = None,
    custom_getter: Callable[..., Any] | None = None,
    reuse: bool | None = None,
    dtype: DTypeLike | None = None,
    use_resource: bool | None = None,
    constraint: Callable[..., Any] | None = None,
) -> Iterator[VariableScope]:
    """The old form of `variable_scope(name_or_scope, default_name, values)`."""
    chosen = dict(locals())
    with variable_scope(**chosen) as scope:
        yield scope


@export("variable_creator_scope")
@contextmanager
def variable_creator_scope(variable_creator: Callable[..., Any]) -> Iterator[None]:
    """Sends the making of variables through variable_creator(next_creator, **arguments)."""
    graph = get_default_graph()
    old = graph._variable_creator_stack
    stack = graph._variable_creator_stack = [*old, variable_creator]
    try:
        yield
    finally:
        if graph._variable_creator_stack is not stack:
            raise RuntimeError("Exiting variable_creator_scope without proper nesting.")
        graph._variable_creator_stack = old


_get_default_variable_store = default_variable_store


def default_variable_creator(next_creator: Callable[..., Any] | None = None, **given: Any) -> Any:
    """Makes a reference or a resource variable."""
    given.pop("trackable_parent", None)  # For creators: see `capture_dependencies`.
    use_resource = given.pop("use_resource", None)
    if use_resource is None:
        use_resource = get_variable_scope().use_resource
    if use_resource is None:
        use_resource = variable_store.default_use_resource
    if use_resource:
        given.pop("expected_shape", None)
        return ResourceVariable(**given)
    given.pop("distribute_strategy", None)
    return RefVariable(**given)


_default_creator.append(default_variable_creator)
