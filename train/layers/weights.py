# SPDX-License-Identifier: Apache-2.0
"""Variables of layers: made without a variable scope, trained or not, whole or in parts."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...engine.types import dtypes
from ...ops.public import tf
from ..variables.variable_kind import is_variable

if TYPE_CHECKING:
    from ...engine.graph.graph import Graph
    from ...engine.types.dtypes import DType
    from ...ops.state.variables import Variable


def make_variable(
    name: str,
    shape: Any = None,
    dtype: DType = dtypes.float32,
    initializer: Any = None,
    trainable: Any = None,
    use_resource: bool | None = None,
    partitioner: Callable[..., Any] | None = None,
    **options: Any,
) -> Variable:
    """A variable that no variable scope knows; partitioners do not apply."""
    del partitioner
    if inspect.isclass(initializer):
        initializer = initializer()
    return tf.Variable(
        # A function, so that in a loop or a branch the value is made outside of it.
        initial_value=lambda: initializer(shape, dtype=dtype),
        name=name,
        trainable=trainable,
        dtype=dtype.base_dtype,
        use_resource=True if use_resource is None else use_resource,
        **options,
    )


def checked_trainable(trainable: bool | None, synchronization: object) -> bool:
    """Whether a variable is to be trained, by what was said; ValueError for a contradiction."""
    if synchronization != tf.VariableSynchronization.ON_READ:
        return True if trainable is None else trainable
    if trainable:
        raise ValueError(
            "Synchronization value can be set to VariableSynchronization.ON_READ only for "
            "non-trainable variables. You have specified trainable=True and "
            "synchronization=VariableSynchronization.ON_READ."
        )
    return False


def parts_of(variable: Any) -> list[Any]:
    """The variables that a variable consists of; itself for what a custom getter put there."""
    listed = getattr(variable, "_get_variable_list", None)
    return [variable] if listed is None else list(listed())


def track(variable: Variable) -> None:
    """Notes a variable of a layer with its graph: the session of Keras is to initialize it."""
    for part in filter(is_variable, parts_of(variable)):
        vars(part.graph).setdefault("_layer_variables", []).append(part)


def tracked(graph: Graph) -> list[Any]:
    """The variables of a graph's layers."""
    return getattr(graph, "_layer_variables", [])
