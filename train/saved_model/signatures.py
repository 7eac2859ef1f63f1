# SPDX-License-Identifier: Apache-2.0
"""SignatureDefs: the named inputs and outputs of a graph that is served.

As in TensorFlow, classify and regress signatures take serialized examples and give the types that
its serving system knows; a predict signature is free.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...engine import errors
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...io import protos
from . import names
from .tensor_info import (
    build_tensor_info,
    build_tensor_info_from_op,
    get_element_from_tensor_info,
)

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation


def build_signature_def(
    inputs: Mapping[str, Any] | None = None,
    outputs: Mapping[str, Any] | None = None,
    method_name: str | None = None,
) -> Any:
    """The SignatureDef with these TensorInfos and method name (`tf.saved_model`)."""
    signature = protos.SignatureDef(method_name=method_name or "")
    for field, infos in ((signature.inputs, inputs), (signature.outputs, outputs)):
        for key, info in (infos or {}).items():
            field[key].CopyFrom(info)
    return signature


def _info(tensor: Tensor, dtype: dtypes.DType, what: str) -> Any:
    """The TensorInfo of a tensor of the wanted type."""
    info = build_tensor_info(tensor)
    if info.dtype != dtype.as_datatype_enum:
        kind = "float" if dtype == dtypes.float32 else dtype.name
        raise ValueError(f"{what} must be a {kind} Tensor.")
    return info


def _require_examples(examples: Tensor | None, task: str) -> None:
    if examples is None:
        raise ValueError(f"{task} examples cannot be None.")
    if not isinstance(examples, Tensor):
        raise ValueError(f"{task} examples must be a string Tensor.")


def regression_signature_def(examples: Any, predictions: Any) -> Any:
    """The signature of a regression (`tf.saved_model.regression_signature_def`).

    Args:
      examples: A string tensor of serialized examples.
      predictions: A float32 tensor.

    Raises:
      ValueError: One of them is None or of another type.
    """
    _require_examples(examples, "Regression")
    if predictions is None:
        raise ValueError("Regression predictions cannot be None.")
    inputs = {names.REGRESS_INPUTS: _info(examples, dtypes.string, "Regression examples")}
    outputs = {names.REGRESS_OUTPUTS: _info(predictions, dtypes.float32, "Regression output")}
    return build_signature_def(inputs, outputs, names.REGRESS_METHOD_NAME)


def classification_signature_def(examples: Any, classes: Any, scores: Any) -> Any:
    """The signature of a classification (`tf.saved_model.classification_signature_def`).

    Args:
      examples: A string tensor of serialized examples.
      classes: A string tensor of labels, or None.
      scores: A float32 tensor, or None; not both are None.

    Raises:
      ValueError: What is needed is None, or one of them is of another type.
    """
    _require_examples(examples, "Classification")
    if classes is None and scores is None:
        raise ValueError("Classification classes and scores cannot both be None.")
    inputs = {names.CLASSIFY_INPUTS: _info(examples, dtypes.string, "Classification examples")}
    outputs = {}
    if classes is not None:
        info = _info(classes, dtypes.string, "Classification classes")
        outputs[names.CLASSIFY_OUTPUT_CLASSES] = info
    if scores is not None:
        info = _info(scores, dtypes.float32, "Classification scores")
        outputs[names.CLASSIFY_OUTPUT_SCORES] = info
    return build_signature_def(inputs, outputs, names.CLASSIFY_METHOD_NAME)


def predict_signature_def(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> Any:
    """The signature of a prediction from named tensors to named tensors (`tf.saved_model`).

    Raises:
      ValueError: There are no inputs or no outputs.
    """
    if not inputs:
        raise ValueError("Prediction inputs cannot be None or empty.")
    if not outputs:
        raise ValueError("Prediction outputs cannot be None or empty.")
    return build_signature_def(_infos(inputs), _infos(outputs), names.PREDICT_METHOD_NAME)


def _infos(tensors: Mapping[str, Any] | None) -> dict[str, Any]:
    return {key: build_tensor_info(tensor) for key, tensor in (tensors or {}).items()}


def supervised_train_signature_def(
    inputs: Mapping[str, Any],
    loss: Mapping[str, Any] | None,
    predictions: Mapping[str, Any] | None = None,
    metrics: Mapping[str, Any] | None = None,
) -> Any:
    """The signature of a training graph: its losses, predictions and metrics."""
    method = names.SUPERVISED_TRAIN_METHOD_NAME
    return _supervised_signature_def(method, inputs, loss, predictions, metrics)


def supervised_eval_signature_def(
    inputs: Mapping[str, Any],
    loss: Mapping[str, Any] | None,
    predictions: Mapping[str, Any] | None = None,
    metrics: Mapping[str, Any] | None = None,
) -> Any:
    """The signature of an evaluation graph: its losses, predictions and metrics."""
    method = names.SUPERVISED_EVAL_METHOD_NAME
    return _supervised_signature_def(method, inputs, loss, predictions, metrics)


def _supervised_signature_def(
    method: str, inputs: Mapping[str, Any], *outputs: Mapping[str, Any] | None
) -> Any:
    if not inputs:
        raise ValueError(f"{method} inputs cannot be None or empty.")
    infos: dict[str, Any] = {}
    for tensors in outputs:
        infos.update(_infos(tensors))
    return build_signature_def(_infos(inputs), infos, method)


# Method -> the inputs and outputs that it must and may have, with their types; a classification
# has one of its outputs at least.
_SERVED = {
    names.CLASSIFY_METHOD_NAME: (
        {names.CLASSIFY_INPUTS: dtypes.string},
        {
            names.CLASSIFY_OUTPUT_CLASSES: dtypes.string,
            names.CLASSIFY_OUTPUT_SCORES: dtypes.float32,
        },
    ),
    names.REGRESS_METHOD_NAME: (
        {names.REGRESS_INPUTS: dtypes.string},
        {names.REGRESS_OUTPUTS: dtypes.float32},
    ),
}


def is_valid_signature(signature_def: Any) -> bool:
    """Whether a SignatureDef is one that TensorFlow's serving system takes (`tf.saved_model`)."""
    if signature_def is None:
        return False
    inputs, outputs = signature_def.inputs, signature_def.outputs
    if signature_def.method_name == names.PREDICT_METHOD_NAME:
        return bool(inputs) and bool(outputs)
    if signature_def.method_name not in _SERVED:
        return False
    wanted_inputs, wanted_outputs = _SERVED[signature_def.method_name]
    return (
        set(inputs) == set(wanted_inputs)
        and len(outputs) > 0
        and set(outputs) <= set(wanted_outputs)
        and all(inputs[key].dtype == wanted_inputs[key].as_datatype_enum for key in inputs)
        and all(outputs[key].dtype == wanted_outputs[key].as_datatype_enum for key in outputs)
    )


def op_signature_def(op: Operation | Tensor, key: str) -> Any:
    """A SignatureDef whose one output is an operation, under `key`."""
    return build_signature_def(outputs={key: build_tensor_info_from_op(op)})


def load_op_from_signature_def(
    signature_def: Any, key: str, import_scope: str | None = None
) -> Any:
    """The operation (or tensor) of the default graph that `op_signature_def` noted.

    Raises:
      NotFoundError: The graph does not have it.
    """
    try:
        return get_element_from_tensor_info(signature_def.outputs[key], import_scope=import_scope)
    except KeyError:
        raise errors.not_found(
            f"The {key} could not be found in the graph. Please make sure the SavedModel was "
            "created by the internal _SavedModelBuilder. If you are using the public API, please "
            f'make sure the SignatureDef in the SavedModel does not contain the key "{key}".'
        ) from None
