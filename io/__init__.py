# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's own files and messages: protos, and the graph as one of them.

Imports `engine`'s base types.
"""

# Modules that publish no names: imported by what needs them.
ON_DEMAND = ("import_arguments", "node_check", "step_stats", "timeline")
