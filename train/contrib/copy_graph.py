# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.copy_graph`: variables and operations in another graph."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from typing import Any

from ...engine.api import export
from ...engine.graph.collections import GraphKeys
from ...engine.graph.graph import Graph
from ...engine.graph.operation import Operation
from ...engine.graph.tensor import Tensor
from ...engine.session.session import Session
from ...ops.public import tf
from ...ops.state.variables import Variable

# Collections that a variable is in under the same name in any scope.
_GLOBAL = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES)


def _scoped(name: str, scope: str) -> str:
    return f"{scope}/{name}" if scope else name


def _collections(thing: Any, scope: str, kept: Iterable[str] = ()) -> list[str]:
    """The collections that something is in, as they are called within the scope."""
    found = [name for name, members in thing.graph._collections.items() if thing in members]
    return [name if name in kept else _scoped(name, scope) for name in found]


@export("contrib.copy_graph.copy_variable_to_graph")
def copy_variable_to_graph(org_instance: object, to_graph: Graph, scope: str = "") -> Variable:
    """A variable like another one, in another graph.

    Args:
        org_instance: the variable.
        to_graph: the other graph.
        scope: what its name begins with there.

    Returns:
        The new variable, whose initial value is the one that the other has at first.

    Raises:
        TypeError: it is no variable.
    """
    if not isinstance(org_instance, Variable):
        raise TypeError(f"{org_instance} is not a Variable")
    graph = org_instance.graph
    with graph.as_default(), Session() as session:
        value = session.run(org_instance.initialized_value())
    with to_graph.as_default():
        return tf.Variable(
            value,
            trainable=org_instance in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES),
            name=_scoped(org_instance.name.partition(":")[0], scope),
            collections=_collections(org_instance, scope, _GLOBAL),
            validate_shape=False,
        )


@export("contrib.copy_graph.copy_op_to_graph")
def copy_op_to_graph(
    org_instance: object, to_graph: Graph, variables: Iterable[Any], scope: str = ""
) -> Any:
    """An operation or tensor like another one, in another graph, with all that it needs.

    Args:
        org_instance: the operation or tensor.
        to_graph: the other graph.
        variables: variables there, copied before.
        scope: what names begin with there.

    Returns:
        The new operation or tensor; the one that is there already, if any.

    Raises:
        TypeError: it is neither.

    Example:
        >>> doubled, other = 2 * tf.placeholder(tf.float32, name="x"), tf.Graph()
        >>> copied = tf.contrib.copy_graph.copy_op_to_graph(doubled, other, [], scope="in")
        >>> tf.Session(graph=other).run(copied, {"in/x:0": 4.0})
        np.float32(8.0)
    """
    if not isinstance(org_instance, (Operation, Tensor)):
        raise TypeError(f"Could not copy instance: {org_instance}")
    name = _scoped(org_instance.name, scope)
    known = {variable.name for variable in variables}
    if name in known:
        return to_graph.get_tensor_by_name(name)
    present = _present(to_graph, name)
    if present is not None:
        return present
    if isinstance(org_instance, Tensor):
        made = copy_op_to_graph(org_instance.op, to_graph, variables, scope)
        tensor = made.outputs[org_instance.op.outputs.index(org_instance)]
        for collection in _collections(org_instance, scope):
            to_graph.add_to_collection(collection, tensor)
        return tensor
    return _copied(org_instance, to_graph, variables, scope, name)


def _present(graph: Graph, name: str) -> Any:
    try:
        return graph.as_graph_element(name, allow_tensor=True, allow_operation=True)
    except (KeyError, ValueError):
        return None


def _copied(
    op: Operation, to_graph: Graph, variables: Iterable[Any], scope: str, name: str
) -> Operation:
    controls = [copy_op_to_graph(x, to_graph, variables, scope) for x in op.control_inputs]
    inputs = [copy_op_to_graph(x, to_graph, variables, scope) for x in op.inputs]
    node = deepcopy(op.node_def)
    node.name = name
    return Operation(
        node, to_graph, inputs, control_inputs=controls, input_types=list(op._input_types)
    )


@export("contrib.copy_graph.get_copied_op")
def get_copied_op(org_instance: Any, graph: Graph, scope: str = "") -> Any:
    """What has the name of an operation or tensor, within a scope, in another graph.

    Raises:
        KeyError: nothing has it.
    """
    name = _scoped(org_instance.name, scope)
    return graph.as_graph_element(name, allow_tensor=True, allow_operation=True)
