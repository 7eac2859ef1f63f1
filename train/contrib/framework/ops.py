# SPDX-License-Identifier: Apache-2.0
"""The graph of some inputs and the name scope that holds."""

from __future__ import annotations

from ....engine.graph.scope_functions import get_graph_from_inputs, get_name_scope

__all__ = ["get_graph_from_inputs", "get_name_scope"]
