# SPDX-License-Identifier: Apache-2.0
"""Operations to run when a SavedModel is loaded (`tf.saved_model.main_op`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.graph.scope_functions import control_dependencies
from ...ops.control import group
from ...ops.state.resources import tables_initializer
from ...ops.state.variable_collections import (
    global_variables_initializer,
    local_variables_initializer,
)

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation


def main_op() -> Any:
    """An operation that initializes all variables, local variables and tables."""
    return group(
        global_variables_initializer(), local_variables_initializer(), tables_initializer()
    )


def main_op_with_restore(restore_op_name: Operation) -> Any:
    """An operation that does what `main_op` does, and then what `restore_op_name` does."""
    # Restored after the initializers, which would overwrite it.
    with control_dependencies([main_op()]):
        return group(restore_op_name)
