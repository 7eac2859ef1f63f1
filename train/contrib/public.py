# SPDX-License-Identifier: Apache-2.0
"""Names of `tf.contrib` for what is defined elsewhere; imported when they are first used."""

from __future__ import annotations

from ...engine.api import lazy

# Module -> its names in `tf.contrib.framework`.
_FRAMEWORK = {
    "engine.deprecation": "deprecated deprecated_arg_values deprecated_args",
    "engine.graph.convert": "convert_to_tensor_or_sparse_tensor",
    "engine.graph.scope_functions": (
        "get_graph_from_inputs get_name_scope prepend_name_scope strip_name_scope"
    ),
    "engine.interface.specs": "BoundedTensorSpec TensorSpec",
    "ops.array.sort": "argsort sort",
    "ops.checks.shape": "assert_same_float_dtype assert_scalar",
    "ops.queues.record_input": "RecordInput",
    "ops.state.init_orthogonal": (
        "convolutional_delta_orthogonal convolutional_orthogonal_1d convolutional_orthogonal_2d "
        "convolutional_orthogonal_3d"
    ),
}
for _module, _names in _FRAMEWORK.items():
    for _name in _names.split():
        lazy(f"{_module}:{_name}", f"contrib.framework.{_name}")
_NEST = {
    "engine.types.nest": "flatten_dict_items is_sequence_or_composite",
    "engine.types.nest_paths": (
        "flatten_with_joined_string_paths flatten_with_tuple_paths flatten_with_tuple_paths_up_to "
        "map_structure_with_paths map_structure_with_tuple_paths "
        "map_structure_with_tuple_paths_up_to yield_flat_paths"
    ),
}
for _module, _names in _NEST.items():
    for _name in _names.split():
        lazy(f"{_module}:{_name}", f"contrib.framework.nest.{_name}")
lazy("engine.types.nest:is_sequence", "contrib.framework.nest.is_nested")
for _name in ("set_difference", "set_intersection", "set_size", "set_union"):
    lazy(f"ops.array.sets:{_name}", f"contrib.metrics.{_name}")
