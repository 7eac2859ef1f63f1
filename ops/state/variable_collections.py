# SPDX-License-Identifier: Apache-2.0
"""Variables by collection, and the operations that initialize or check many of them at once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.collections import GraphKeys, get_collection, register_proto_function
from ...engine.graph.graph import colocate_with, device, get_default_graph, name_scope
from ...engine.types import dtypes
from ..array.shape import rank_internal
from ..control import group, no_op
from ..public import tf
from . import reference as state

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from .variables import Variable


@export("global_variables")
def global_variables(scope: str | None = None) -> list[Any]:
    """The variables that programs save and restore: all but local ones.

    Args:
        scope: a regular expression that the beginning of a name must match; None for all.

    Returns:
        A list of Variables, in the order in which they were made.

    Example:
        >>> a, b = tf.Variable(1, name="net/a"), tf.Variable(2, trainable=False, name="b")
        >>> [v.name for v in tf.global_variables()], [v.name for v in tf.global_variables("net/")]
        (['net/a:0', 'b:0'], ['net/a:0'])
    """
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


@export("all_variables")
def all_variables() -> list[Any]:
    """The old name of `global_variables`."""
    return global_variables()


@export("local_variables")
def local_variables(scope: str | None = None) -> list[Any]:
    """The variables that are not saved: counters, and what metrics remember.

    Args:
        scope: a regular expression that the beginning of a name must match; None for all.

    Returns:
        A list of Variables, in the order in which they were made.

    Example:
        >>> mean, update = tf.metrics.mean([1.0, 2.0])
        >>> [v.name for v in tf.local_variables()]
        ['mean/total:0', 'mean/count:0']
    """
    return get_collection(GraphKeys.LOCAL_VARIABLES, scope)


@export("model_variables")
def model_variables(scope: str | None = None) -> list[Any]:
    """The variables in the MODEL_VARIABLES collection."""
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)


@export("trainable_variables")
def trainable_variables(scope: str | None = None) -> list[Any]:
    """The variables that optimizers change unless they are told which.

    Args:
        scope: a regular expression that the beginning of a name must match; None for all.

    Returns:
        A list of Variables, in the order in which they were made.

    Example:
        >>> w, step = tf.Variable(1.0, name="w"), tf.Variable(0, trainable=False, name="step")
        >>> [v.name for v in tf.trainable_variables()]
        ['w:0']
    """
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


@export("moving_average_variables")
def moving_average_variables(scope: str | None = None) -> list[Any]:
    """The variables whose moving averages are kept."""
    return get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


@export("initializers.variables", "variables_initializer", "initialize_variables")
def variables_initializer(var_list: Any, name: str = "init") -> Operation:
    """One operation that initializes the given variables.

    Args:
        var_list: a list of Variables; the operation does nothing if it is empty.
        name: of the operation.

    Returns:
        An Operation.

    Example:
        >>> a, b = tf.Variable(1), tf.Variable(2)
        >>> sess = tf.Session()
        >>> sess.run(tf.variables_initializer([b]))
        >>> sess.run(b), sess.run(tf.is_variable_initialized(a))
        (np.int32(2), np.False_)
    """
    if var_list:
        return group(*[v.initializer for v in var_list], name=name)
    return no_op(name=name)


@export("initializers.global_variables", "global_variables_initializer", "initialize_all_variables")
def global_variables_initializer() -> Operation:
    """One operation that initializes all global variables that there are by now.

    Returns:
        An Operation; variables that are made later are not in it.

    Example:
        >>> v = tf.Variable([1.0, 2.0])
        >>> sess = tf.Session()
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(v)
        array([1., 2.], dtype=float32)
    """
    return variables_initializer(global_variables())


@export("initializers.local_variables", "local_variables_initializer", "initialize_local_variables")
def local_variables_initializer() -> Operation:
    """One operation that initializes all local variables that there are by now.

    Returns:
        An Operation; variables that are made later are not in it.

    Example:
        >>> accuracy, update = tf.metrics.accuracy(labels=[1, 2], predictions=[1, 0])
        >>> sess = tf.Session()
        >>> sess.run(tf.local_variables_initializer())
        >>> sess.run(update)
        np.float32(0.5)
    """
    return variables_initializer(local_variables())


@export("is_variable_initialized")
def is_variable_initialized(variable: TensorLike) -> Any:
    """A tensor that tells whether the variable has a value."""
    return state.is_variable_initialized(variable)


def _variables_or_all(var_list: Any) -> list[Any]:
    if var_list is None:
        return global_variables() + local_variables() or _variable_nodes()
    return var_list


def _variable_nodes() -> list[Any]:
    kinds = ("Variable", "VariableV2", "AutoReloadVariable")
    operations = get_default_graph().get_operations()
    return [op.outputs[0] for op in operations if op.type in kinds]


@export("assert_variables_initialized")
def assert_variables_initialized(var_list: Sequence[Any] | None = None) -> Any:
    """An operation that fails when one of the variables has no value yet; None without any."""
    var_list = _variables_or_all(var_list) or _variable_nodes()
    if not var_list:
        return None
    ranks = []
    for variable in var_list:
        with colocate_with(variable.op):
            # The rank is the cheapest op that fails for a variable without a value.
            ranks.append(rank_internal(variable, optimize=False))
    return ranks[0] if len(ranks) == 1 else tf.stack(ranks)


@export("report_uninitialized_variables")
def report_uninitialized_variables(
    var_list: Sequence[Any] | None = None, name: str = "report_uninitialized_variables"
) -> Tensor:
    """The names of the variables that have no value, as a string tensor."""
    var_list = _variables_or_all(var_list)
    place = os.environ.get("TF_DEVICE_FOR_UNINITIALIZED_VARIABLE_REPORTING", "/cpu:0")
    with name_scope(name):
        known = [state.is_variable_initialized(v) for v in var_list]
        with device(place):
            if not var_list:
                return tf.constant([], dtype=dtypes.string)
            missing = tf.logical_not(tf.stack(known))
            names = tf.constant([v.op.name for v in var_list])
            return tf.boolean_mask(names, missing)


def _variable_def() -> Any:
    from ...io import protos

    return protos.VariableDef()


def _to_proto(variable: Variable, export_scope: str | None = None) -> Any:
    return variable.to_proto(export_scope=export_scope)


def _from_proto(variable_def: Any, import_scope: str | None = None) -> Any:
    from .resource_variable import ResourceVariable
    from .variables import Variable

    kind = ResourceVariable if variable_def.is_resource else Variable
    return kind.from_proto(variable_def, import_scope=import_scope)


for _key in (
    GraphKeys.GLOBAL_VARIABLES,
    GraphKeys.TRAINABLE_VARIABLES,
    GraphKeys.MOVING_AVERAGE_VARIABLES,
    GraphKeys.LOCAL_VARIABLES,
    GraphKeys.MODEL_VARIABLES,
    GraphKeys.GLOBAL_STEP,
    GraphKeys.METRIC_VARIABLES,
):
    register_proto_function(_key, _variable_def, _to_proto, _from_proto)
