# SPDX-License-Identifier: Apache-2.0
"""Variables of models: how they are made and found again by scopes and names."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.devices import DeviceSpec
from ....engine.types import dtypes
from ....ops.public import tf
from ....ops.state.variable_scope import VariableScope
from ...variables import global_step
from .arg_scope import add_arg_scope
from .assigning import (
    assign_from_checkpoint,
    assign_from_checkpoint_fn,
    assign_from_values,
    assign_from_values_fn,
    get_variable_full_name,
    zero_initializer,
)

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike, TensorLike
    from ....engine.graph.graph import Graph
    from ....ops.state.variables import Variable
    from ..layers.annotations import Scope

__all__ = [
    "assign_from_checkpoint",
    "assign_from_checkpoint_fn",
    "assign_from_values",
    "assign_from_values_fn",
    "get_variable_full_name",
    "zero_initializer",
]

_KEYS = tf.GraphKeys


@export("contrib.framework.assert_global_step")
def assert_global_step(global_step_tensor: Any) -> None:
    """The same as tf.train.assert_global_step."""
    global_step.assert_global_step(global_step_tensor)


@export("contrib.framework.assert_or_get_global_step")
def assert_or_get_global_step(graph: Graph | None = None, global_step_tensor: Any = None) -> Any:
    """The global step that is given, once it is checked, or else the graph's, which may be None."""
    if global_step_tensor is None:
        return get_global_step(graph)
    assert_global_step(global_step_tensor)
    return global_step_tensor


@export("contrib.framework.get_global_step")
def get_global_step(graph: Graph | None = None) -> Any:
    """The same as tf.train.get_global_step."""
    return global_step.get_global_step(graph)


@export("contrib.framework.create_global_step")
def create_global_step(graph: Graph | None = None) -> Any:
    """The same as tf.train.create_global_step."""
    return global_step.create_global_step(graph)


@export("contrib.framework.get_or_create_global_step")
def get_or_create_global_step(graph: Graph | None = None) -> Any:
    """The same as tf.train.get_or_create_global_step."""
    return global_step.get_or_create_global_step(graph)


def _untrained(collection: str, initial_value: TensorLike, **options: Any) -> Variable:
    return tf.Variable(initial_value, trainable=False, collections=[collection], **options)


@export("contrib.framework.local_variable")
def local_variable(
    initial_value: TensorLike,
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: bool | None = None,
) -> Variable:
    """A variable that is not trained, in the collection of local variables.

    Args: as tf.Variable.
    """
    options = dict(validate_shape=validate_shape, name=name, use_resource=use_resource)
    return _untrained(_KEYS.LOCAL_VARIABLES, initial_value, **options)


@export("contrib.framework.global_variable")
def global_variable(
    initial_value: TensorLike,
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: bool | None = None,
) -> Variable:
    """A variable that is not trained, in the collection of global variables.

    Args: as tf.Variable.
    """
    options = dict(validate_shape=validate_shape, name=name, use_resource=use_resource)
    return _untrained(_KEYS.GLOBAL_VARIABLES, initial_value, **options)


@export("contrib.framework.variable")
@add_arg_scope
def variable(
    name: str,
    shape: TensorLike | None = None,
    dtype: DTypeLike | None = None,
    initializer: object = None,
    regularizer: Callable[..., Any] | None = None,
    trainable: bool = True,
    collections: Iterable[str] | None = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Callable[..., Any] | None = None,
    custom_getter: Callable[..., Any] | None = None,
    use_resource: bool | None = None,
    synchronization: Any = tf.VariableSynchronization.AUTO,
    aggregation: Any = tf.VariableAggregation.NONE,
) -> Any:
    """Makes a variable, or finds it where the variable scope reuses variables.

    Args:
        device: where it is placed; a string or a function of operations.
        custom_getter: what is called in the place of `tf.get_variable`, `reuse` given besides.
        collections: the global variables' if None.
        name: the variable's name; this and the others as tf.get_variable.

    Returns:
        The variable.

    Example:
        >>> weights = tf.contrib.framework.variable("weights", [2, 3])
        >>> print(weights.name)
        weights:0
    """
    wanted = [_KEYS.GLOBAL_VARIABLES] if collections is None else collections
    getter = tf.get_variable
    if custom_getter is not None:
        getter = functools.partial(custom_getter, reuse=tf.get_variable_scope().reuse)
    with tf.device(device or ""):
        return getter(
            name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
            collections=list(dict.fromkeys(wanted)),
            caching_device=caching_device,
            partitioner=partitioner,
            use_resource=use_resource,
            synchronization=synchronization,
            aggregation=aggregation,
        )


@export("contrib.framework.model_variable")
@add_arg_scope
def model_variable(
    name: str,
    shape: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    initializer: object = None,
    regularizer: Callable[..., Any] | None = None,
    trainable: bool = True,
    collections: Iterable[str] | None = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Callable[..., Any] | None = None,
    custom_getter: Callable[..., Any] | None = None,
    use_resource: bool | None = None,
    synchronization: Any = tf.VariableSynchronization.AUTO,
    aggregation: Any = tf.VariableAggregation.NONE,
) -> Any:
    """`variable` whose variable is in the collections of global and model variables, too.

    Args: as `variable`.

    Returns:
        The variable.

    Example:
        >>> weights = tf.contrib.framework.model_variable("weights", [2, 3])
        >>> print(len(tf.contrib.framework.get_model_variables()))
        1
    """
    return variable(
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=[*(collections or ()), _KEYS.GLOBAL_VARIABLES, _KEYS.MODEL_VARIABLES],
        caching_device=caching_device,
        device=device,
        partitioner=partitioner,
        custom_getter=custom_getter,
        use_resource=use_resource,
        synchronization=synchronization,
        aggregation=aggregation,
    )


@export("contrib.framework.add_model_variable")
def add_model_variable(var: Variable) -> None:
    """Puts a variable into the collection of model variables, once."""
    if not any(var is known for known in tf.get_collection(_KEYS.MODEL_VARIABLES)):
        tf.add_to_collection(_KEYS.MODEL_VARIABLES, var)


@export("contrib.framework.get_variables")
def get_variables(
    scope: str | VariableScope | None = None,
    suffix: str | None = None,
    collection: str = _KEYS.GLOBAL_VARIABLES,
) -> list[Any]:
    """The variables of a collection, by how their names begin and end.

    Args:
        scope: a variable scope or a regular expression for the beginning of names; None for all.
        suffix: how names end; None for all.
        collection: the collection, that of global variables by default.

    Returns:
        A list of variables.

    Example:
        >>> with tf.variable_scope("a"):
        ...     v = tf.get_variable("v", [])
        >>> tf.contrib.framework.get_variables("a", "v") == [v]
        True
    """
    if isinstance(scope, VariableScope):
        scope = str(scope.name)
    if suffix is not None:
        scope = f"{scope or ''}.*{suffix}{'' if ':' in suffix else ':'}"
    return list(tf.get_collection(collection, scope))


@export("contrib.framework.get_model_variables")
def get_model_variables(scope: Scope | None = None, suffix: str | None = None) -> list[Any]:
    """`get_variables` of the collection of model variables."""
    return get_variables(scope, suffix, _KEYS.MODEL_VARIABLES)


@export("contrib.framework.get_local_variables")
def get_local_variables(scope: Scope | None = None, suffix: str | None = None) -> list[Any]:
    """`get_variables` of the collection of local variables."""
    return get_variables(scope, suffix, _KEYS.LOCAL_VARIABLES)


@export("contrib.framework.get_trainable_variables")
def get_trainable_variables(scope: Scope | None = None, suffix: str | None = None) -> list[Any]:
    """`get_variables` of the collection of variables to be trained."""
    return get_variables(scope, suffix, _KEYS.TRAINABLE_VARIABLES)


@export("contrib.framework.get_variables_to_restore")
def get_variables_to_restore(
    include: Sequence[Any] | None = None, exclude: Sequence[Any] | None = None
) -> list[Any]:
    """The global variables of some scopes, but for those of others.

    Args:
        include: scopes; None for all variables.
        exclude: scopes whose variables are left out; None for none.

    Raises:
        TypeError: an argument is neither a list nor a tuple.
    """
    included = get_variables() if include is None else _of_scopes("include", include)
    excluded = {id(v) for v in _of_scopes("exclude", () if exclude is None else exclude)}
    return [v for v in included if id(v) not in excluded]


def _of_scopes(argument: str, scopes: Sequence[Any]) -> list[Any]:
    if not isinstance(scopes, (list, tuple)):
        raise TypeError(f"{argument} is provided but is not a list or a tuple.")
    return [v for scope in scopes for v in get_variables(scope)]


@export("contrib.framework.get_variables_by_suffix")
def get_variables_by_suffix(suffix: str, scope: Scope | None = None) -> list[Any]:
    """The global variables whose names end so."""
    return get_variables(scope=scope, suffix=suffix)


@export("contrib.framework.get_variables_by_name")
def get_variables_by_name(given_name: str, scope: Scope | None = None) -> list[Any]:
    """The global variables of a name, in whatever scopes."""
    return get_variables(scope=scope, suffix=f"/{given_name}:|^{given_name}:")


@export("contrib.framework.get_unique_variable")
def get_unique_variable(var_op_name: str) -> Any:
    """The one global variable of a full name.

    Raises:
        ValueError: there is none, or the names of several begin so and that of none is it.
    """
    candidates = get_variables(scope=var_op_name)
    if not candidates:
        raise ValueError(f"Couldn't find variable {var_op_name}")
    for candidate in candidates:
        if candidate.op.name == var_op_name:
            return candidate
    raise ValueError(f"Variable {var_op_name} does not uniquely identify a variable")


@export("contrib.framework.VariableDeviceChooser")
class VariableDeviceChooser:
    """A device function: deals variables out to parameter servers, one after the other.

    Args:
        num_tasks: the number of parameter servers; 0 for none.
        job_name: the servers' job.
        device_type, device_index, replica: the device's.
    """

    def __init__(
        self,
        num_tasks: int = 0,
        job_name: str = "ps",
        device_type: str = "CPU",
        device_index: int | None = 0,
        replica: int | None = None,
    ) -> None:
        self._job_name = job_name
        self._parts: Any = dict(replica=replica, device_type=device_type, device_index=device_index)
        self._num_tasks = num_tasks
        self._next_task_id = 0

    def __call__(self, op: object) -> str:
        """The device of the next operation."""
        spec: Any = DeviceSpec(**self._parts)
        if self._num_tasks > 0:
            spec.job, spec.task = self._job_name, self._next_task_id
            self._next_task_id = (self._next_task_id + 1) % self._num_tasks
        return str(spec.to_string())


@export("contrib.framework.filter_variables")
def filter_variables(
    var_list: Iterable[Any],
    include_patterns: Sequence[str] | None = None,
    exclude_patterns: Sequence[str] | None = None,
    reg_search: bool = True,
) -> list[Any]:
    """The variables whose names match some regular expressions and none of some others.

    Args:
        var_list: the variables.
        include_patterns: expressions of which one is to match; None for all variables.
        exclude_patterns: expressions of which none may match.
        reg_search: whether they may match anywhere in a name, or at its beginning only.

    Returns:
        A list of variables, in their order.

    Example:
        >>> v, b = tf.get_variable("conv/w", []), tf.get_variable("conv/b", [])
        >>> tf.contrib.framework.filter_variables([v, b], ["conv"], ["/b"]) == [v]
        True
    """
    matches = re.search if reg_search else re.match

    def is_wanted(name: str) -> bool:
        included = include_patterns is None or any(matches(p, name) for p in include_patterns)
        return included and not any(matches(p, name) for p in exclude_patterns or ())

    return [v for v in var_list if is_wanted(v.name)]
