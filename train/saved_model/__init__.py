# SPDX-License-Identifier: Apache-2.0
"""SavedModels: folders with graphs, their signatures, variables and assets (`tf.saved_model`).

Imports `engine`, `io`, `ops` and `train`.  File names differ from the public namespaces
(`tf.saved_model.builder`, ...), which public.py fills.
"""

# Modules that publish no names: imported when one of their names is used.
ON_DEMAND = tuple(
    "assets command folder freezing function_saving init_ops inputs object_loading object_saving "
    "reading restored_functions revived_kinds revived_types signature_functions signatures "
    "structures tensor_info writing".split()
)
