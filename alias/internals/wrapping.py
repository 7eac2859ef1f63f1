# SPDX-License-Identifier: Apache-2.0
"""`tensorflow.python.eager`: wrap_function and lift_to_graph."""

from __future__ import annotations

from ...ops.flow.lifting import UnliftableError as UnliftableError
from ...ops.flow.lifting import lift_to_graph as lift_to_graph
from ...train.saved_model.wrapped_functions import VariableHolder as VariableHolder
from ...train.saved_model.wrapped_functions import WrappedFunction as WrappedFunction
from ...train.saved_model.wrapped_functions import WrappedGraph as WrappedGraph
from ...train.saved_model.wrapped_functions import (
    function_from_graph_def as function_from_graph_def,
)
from ...train.saved_model.wrapped_functions import wrap_function as wrap_function
