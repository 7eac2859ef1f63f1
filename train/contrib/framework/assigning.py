# SPDX-License-Identifier: Apache-2.0
"""Values of variables from NumPy arrays and checkpoints, without putting them into the graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import export
from ....engine.interface import log
from ....engine.types.nest import as_list
from ....io.checkpoint_reader import new_checkpoint_reader
from ....ops.public import tf
from ...checkpoints.saver import Saver

if TYPE_CHECKING:
    from ....engine.session.session import BaseSession
    from ....ops.state.variables import Variable


@export("contrib.framework.zero_initializer")
def zero_initializer(ref: Any, use_locking: bool = True, name: str = "zero_initializer") -> Any:
    """Makes a variable that has no value yet zeros, without a constant of its size.

    Args:
        ref: a variable.
        use_locking: unused.
        name: the operation's name.

    Returns:
        The variable's reference, as it is when it is zeros; the operation of resource variables.

    Raises:
        InvalidArgumentError: when it runs, if the variable has a value already.
    """
    is_new = tf.logical_not(tf.is_variable_initialized(ref))
    check = tf.Assert(is_new, ["input is already initialized:", ref.op.name])
    with tf.control_dependencies([check]):
        return ref.assign(tf.zeros(ref.shape, ref.dtype.base_dtype), name=name)


def _variable(name: str) -> Any:
    """The one global variable of a name, or whose name begins so where there is just one."""
    found = tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, name)
    if not found:
        raise ValueError(f"Variable {name} wasn't found")
    exact = [v for v in found if v.op.name == name] if len(found) > 1 else found
    if not exact:
        raise ValueError(f"Variable {name} doesn't uniquely identify a variable")
    return exact[0]


def _fed_assignment(variable: Variable) -> tuple[Any, Any]:
    """A placeholder for a variable's value, and the assignment of it."""
    dtype, shape = variable.dtype.base_dtype, variable.get_shape()
    value = tf.placeholder(dtype, shape=shape, name=f"placeholder/{variable.op.name}")
    return value, variable.assign(value)


@export("contrib.framework.assign_from_values")
def assign_from_values(var_names_to_values: Mapping[str, Any]) -> tuple[Any, dict[Any, Any]]:
    """An operation that assigns values to variables, and what is to be fed to it.

    Args:
        var_names_to_values: the full names of global variables, and arrays.

    Returns:
        The operation and the feeds to run it with.

    Raises:
        ValueError: there is no variable of a name.

    Example:
        >>> v = tf.get_variable("v", [2])
        >>> assign, feeds = tf.contrib.framework.assign_from_values({"v": np.array([1.0, 2.0])})
        >>> with tf.Session() as sess:
        ...     _ = sess.run(assign, feeds)
        ...     print(sess.run(v))
        [1. 2.]
    """
    feeds, assignments = {}, []
    for name, value in var_names_to_values.items():
        variable = _variable(name)
        placeholder, assignment = _fed_assignment(variable)
        assignments.append(assignment)
        feeds[placeholder] = np.asarray(value).reshape(variable.get_shape().as_list())
    return tf.group(*assignments), feeds


@export("contrib.framework.assign_from_values_fn")
def assign_from_values_fn(var_names_to_values: Mapping[str, Any]) -> Callable[[Any], Any]:
    """A function of a session that assigns values to variables.

    Args:
        var_names_to_values: the full names of global variables, and arrays.

    Returns:
        The function.

    Raises:
        ValueError: there is no variable of a name.
    """
    assignment, feeds = assign_from_values(var_names_to_values)

    def assign(session: BaseSession) -> Any:
        return session.run(assignment, feeds)

    return assign


@export("contrib.framework.get_variable_full_name")
def get_variable_full_name(var: Variable) -> str:
    """The name of a variable in checkpoints; of a part of one, that of the whole."""
    part = var._save_slice_info
    name: str = part.full_name if part else var.op.name
    return name


def _grouped(var_list: Any) -> dict[str, list[Any]]:
    """Name in the checkpoint -> the variable, or the parts of one."""
    if not isinstance(var_list, (tuple, list)):
        return {name: as_list(value) for name, value in var_list.items()}
    grouped: dict[str, list[Any]] = {}
    for variable in var_list:
        grouped.setdefault(get_variable_full_name(variable), []).append(variable)
    return grouped


def _part_of(value: np.ndarray, variable: Variable, name: str) -> np.ndarray:
    """What of a stored array is the variable's."""
    part = variable._save_slice_info
    if not part:
        if variable.get_shape().as_list() != list(value.shape):
            raise ValueError(
                f"Total size of new array must be unchanged for {name} lh_shape: [{value.shape}], "
                f"rh_shape: [{variable.get_shape()}]"
            )
        return value
    places = tuple(slice(at, at + size) for at, size in zip(part.var_offset, part.var_shape))
    return value[places].reshape(part.var_shape)


@export("contrib.framework.assign_from_checkpoint")
def assign_from_checkpoint(
    model_path: str,
    var_list: Sequence[Any] | Mapping[str, Any],
    ignore_missing_vars: bool = False,
) -> tuple[Any, dict[Any, Any]]:
    """An operation that assigns values of a checkpoint, and what is to be fed to it.

    Args:
        model_path: the checkpoint.
        var_list: variables, or a dict of names in the checkpoint and variables or their parts.
        ignore_missing_vars: whether what the checkpoint has not is left out, with a warning.

    Returns:
        The operation and the feeds to run it with.

    Raises:
        ValueError: the checkpoint has no such variable, or has it in another shape.
    """
    reader = new_checkpoint_reader(model_path)
    feeds, assignments = {}, []
    for name, parts in _grouped(var_list).items():
        if not reader.has_tensor(name):
            message = f"Checkpoint is missing variable [{name}]"
            if not ignore_missing_vars:
                raise ValueError(message)
            log.warning(message)
            continue
        value = reader.get_tensor(name)
        for variable in parts:
            placeholder, assignment = _fed_assignment(variable)
            assignments.append(assignment)
            feeds[placeholder] = _part_of(value, variable, name)
    return tf.group(*assignments), feeds


def _present(model_path: str, var_list: Any) -> dict[str, Any]:
    """Those of the variables that a checkpoint has, by their names there."""
    reader = new_checkpoint_reader(model_path)
    wanted = var_list if isinstance(var_list, dict) else {v.op.name: v for v in var_list}
    for name in wanted:
        if not reader.has_tensor(name):
            log.warning("Variable %s missing in checkpoint %s", name, model_path)
    return {name: v for name, v in wanted.items() if reader.has_tensor(name)}


@export("contrib.framework.assign_from_checkpoint_fn")
def assign_from_checkpoint_fn(
    model_path: str,
    var_list: Sequence[Any] | Mapping[str, Any],
    ignore_missing_vars: bool = False,
    reshape_variables: bool = False,
) -> Callable[[Any], None] | None:
    """A function of a session that restores variables from a checkpoint.

    Args:
        model_path: the checkpoint.
        var_list: variables, or a dict of names in the checkpoint and variables.
        ignore_missing_vars: whether what the checkpoint has not is left out, with a warning.
        reshape_variables: whether stored arrays of other shapes and equal sizes will do.

    Returns:
        The function; None if the checkpoint has none of the variables.

    Raises:
        ValueError: there are no variables.
    """
    if not var_list:
        raise ValueError("var_list cannot be empty")
    if ignore_missing_vars:
        var_list = _present(model_path, var_list)
    if not var_list:
        log.warning("No Variables to restore")
        return None
    saver = Saver(var_list, reshape=reshape_variables)

    def restore(session: BaseSession) -> None:
        saver.restore(session, model_path)

    return restore
