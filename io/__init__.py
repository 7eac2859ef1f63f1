# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's own files and messages: protos, and the graph as one of them.

Imports `engine`'s base types.
"""

# Modules that publish no names: imported by what needs them.
ON_DEMAND = tuple(
    "atomic_file atomic_replace bulk_read bundle_reader checkpoint_reader checkpoint_v1 crc "
    "event_file event_queue events file_systems files files_v2 function_def function_hash "
    "function_writing graph_folding graph_transforms import_arguments node_check "
    "optimize_for_inference positioned_file progress "
    "record signatures snappy step_stats strip_unused table tensor_bundle tensor_slice "
    "tensor_text timeline varint".split()
)
