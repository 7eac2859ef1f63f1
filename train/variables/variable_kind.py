# SPDX-License-Identifier: Apache-2.0
"""The two kinds of variables: references (VariableV2) and resources (VarHandleOp)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ops.public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...ops.state.variables import Variable


def is_variable(value: TensorLike) -> bool:
    """Whether `value` is a variable of either kind."""
    return isinstance(value, tf.Variable)


def is_resource(value: Any) -> bool:
    """Whether `value` is a resource variable."""
    return is_variable(value) and value.op.type == "VarHandleOp"


def is_reference(value: Any) -> bool:
    """Whether `value` is a variable that ops take by reference."""
    return is_variable(value) and value.op.type != "VarHandleOp"


def value_to_start_from(variable: Variable) -> Any:
    """The variable's value once it has one, before that its initial value."""
    return variable.initialized_value()
