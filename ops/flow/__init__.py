# SPDX-License-Identifier: Apache-2.0
"""Branches, loops, functions of the graph's library, TensorArrays, Python functions as ops.

Imports `array`, `checks` and `state`, besides what every family may import.
"""

# Modules that are no part of the public API and are imported when asked for.
ON_DEMAND = ("function_graph", "function_library", "gradient_tape")
