# SPDX-License-Identifier: Apache-2.0
"""The public names of `tf.saved_model`; what they stand for is imported on first use."""

from __future__ import annotations

from ...engine.api import lazy

# Namespace below `tf.saved_model` -> the module here and the functions that it publishes there;
# `tf.saved_model` has all of them but `main_op`.
_FUNCTIONS = {
    "signature_def_utils": (
        "signatures",
        "build_signature_def classification_signature_def is_valid_signature "
        "predict_signature_def regression_signature_def",
    ),
    "utils": ("tensor_info", "build_tensor_info get_tensor_from_tensor_info"),
    "loader": ("reading", "load maybe_saved_model_directory"),
    "main_op": ("init_ops", "main_op_with_restore"),
}
for _namespace, (_module, _names) in _FUNCTIONS.items():
    for _name in _names.split():
        _target = f"train.saved_model.{_module}:{_name}"
        lazy(_target, f"saved_model.{_namespace}.{_name}", f"saved_model.{_name}")
lazy("train.saved_model.init_ops:main_op", "saved_model.main_op.main_op")
lazy("train.saved_model.reading:maybe_saved_model_directory", "saved_model.contains_saved_model")
lazy("train.saved_model.writing:simple_save", "saved_model.simple_save")
lazy(
    "train.saved_model.writing:SavedModelBuilder",
    "saved_model.Builder",
    "saved_model.builder.SavedModelBuilder",
)
lazy("train.saved_model.object_saving:save", "saved_model.save", "saved_model.experimental.save")
lazy("train.saved_model.object_loading:load", "saved_model.load_v2")
lazy("train.saved_model.wrapped_functions:wrap_function", "wrap_function")
