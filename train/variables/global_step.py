# SPDX-License-Identifier: Apache-2.0
"""The global step: the variable that counts training steps, found through its collection."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...ops.public import tf
from .variable_kind import is_variable, value_to_start_from

if TYPE_CHECKING:
    from ...engine.graph.graph import Graph
    from ...engine.session.session import BaseSession

# The collection with the one tensor that reads the step for those that must see it unchanged.
GLOBAL_STEP_READ_KEY = "global_step_read_op_cache"


@export("train.global_step")
def global_step(sess: BaseSession, global_step_tensor: Any) -> int:
    """The value of the global step in a session.

    Args:
        sess: a Session.
        global_step_tensor: the Variable or Tensor, with one element.

    Returns:
        An int.

    Raises:
        TypeError: there are more elements.

    Example:
        >>> step = tf.train.create_global_step()
        >>> sess = tf.Session()
        >>> sess.run(step.initializer)
        >>> tf.train.global_step(sess, step)
        0
    """
    value = np.asarray(sess.run(global_step_tensor))
    # The tensor may have one element in any number of dimensions.
    if value.size != 1:
        raise TypeError("only size-1 arrays can be converted to Python scalars")
    return int(value.item())


@export("train.get_global_step")
def get_global_step(graph: Graph | None = None) -> Any:
    """The global step of a graph: what optimizers count up, if they are given it.

    Args:
        graph: the default graph if None.

    Returns:
        What the collection GLOBAL_STEP has, or else the tensor "global_step:0"; None without both.

    Raises:
        TypeError: it is no integer scalar.

    Example:
        >>> print(tf.train.get_global_step())
        None
    """
    graph = graph or tf.get_default_graph()
    found = graph.get_collection(tf.GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        logging.getLogger("tensorflow").error("Multiple tensors in global_step collection.")
        return None
    if found:
        step = found[0]
    else:
        try:
            step = graph.get_tensor_by_name("global_step:0")
        except KeyError:
            return None
    assert_global_step(step)
    return step


@export("train.create_global_step")
def create_global_step(graph: Graph | None = None) -> Any:
    """Creates the global step; ValueError when the graph has one."""
    graph = graph or tf.get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    with graph.as_default() as g, g.name_scope(None):
        return tf.get_variable(
            tf.GraphKeys.GLOBAL_STEP,
            shape=[],
            dtype=dtypes.int64,
            initializer=tf.zeros_initializer(),
            trainable=False,
            aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
            collections=[tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.GLOBAL_STEP],
        )


@export("train.get_or_create_global_step")
def get_or_create_global_step(graph: Graph | None = None) -> Any:
    """The global step of a graph, made when there is none: an int64 Variable, 0 at first.

    Args:
        graph: the default graph if None.

    Returns:
        The Variable, which is not trainable; or the tensor that is there.

    Raises:
        TypeError: what is there is no integer scalar.

    Example:
        >>> x, step = tf.Variable(1.0), tf.train.get_or_create_global_step()
        >>> train = tf.train.GradientDescentOptimizer(0.1).minimize(x * x, global_step=step)
        >>> sess = tf.Session()
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(train)
        >>> sess.run(step)
        np.int64(1)
    """
    graph = graph or tf.get_default_graph()
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step


@export("train.assert_global_step")
def assert_global_step(global_step_tensor: Any) -> None:
    """Raises TypeError unless it is a scalar integer Variable or Tensor."""
    step = global_step_tensor
    if not (is_variable(step) or isinstance(step, Tensor)):
        raise TypeError(f'Existing "global_step" must be a Variable or Tensor: {step}.')
    if not step.dtype.base_dtype.is_integer:
        raise TypeError(f'Existing "global_step" does not have integer type: {step.dtype}')
    shape = step.get_shape()
    if shape.ndims != 0 and shape.is_fully_defined():
        raise TypeError(f'Existing "global_step" is not scalar: {shape}')


def _get_global_step_read(graph: Graph | None = None) -> Any:
    graph = graph or tf.get_default_graph()
    found = graph.get_collection(GLOBAL_STEP_READ_KEY)
    if len(found) > 1:
        raise RuntimeError(
            f"There are multiple items in collection {GLOBAL_STEP_READ_KEY}. "
            "There should be only one."
        )
    return found[0] if found else None


def _get_or_create_global_step_read(graph: Graph | None = None) -> Any:
    graph = graph or tf.get_default_graph()
    read = _get_global_step_read(graph)
    if read is not None:
        return read
    step = get_global_step(graph)
    if step is None:
        return None
    with graph.as_default() as g, g.name_scope(None), g.name_scope(step.op.name + "/"):
        value = value_to_start_from(step) if is_variable(step) else step
        # The sum is a new tensor, so that it cannot see a later count.
        read = value + 0
        tf.add_to_collection(GLOBAL_STEP_READ_KEY, read)
    return read


def _increment_global_step(increment: int, graph: Graph | None = None) -> Any:
    graph = graph or tf.get_default_graph()
    step = get_global_step(graph)
    if step is None:
        raise ValueError(
            "Global step tensor should be created by tf.train.get_or_create_global_step "
            "before calling increment."
        )
    read = _get_or_create_global_step_read(graph)
    with graph.as_default() as g, g.name_scope(None), g.name_scope(step.op.name + "/"):
        # The value that hooks see as the step of this run is read before it is counted up.
        with tf.control_dependencies([read]):
            return tf.assign_add(step, increment)
