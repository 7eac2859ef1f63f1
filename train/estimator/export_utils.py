# SPDX-License-Identifier: Apache-2.0
"""Signatures of exported models, and the folders that they are written to."""

from __future__ import annotations

import os
import time
from typing import Any

from ...engine.interface import log
from ...io import files
from ..saved_model import names, signatures
from .export_output import EvalOutput, ExportOutput, PredictOutput, TrainOutput
from .mode_keys import ModeKeys

SINGLE_FEATURE_DEFAULT_NAME = "feature"
SINGLE_RECEIVER_DEFAULT_NAME = "input"
SINGLE_LABEL_DEFAULT_NAME = "label"
EXPORT_TAG_MAP = {
    ModeKeys.PREDICT: [names.SERVING],
    ModeKeys.TRAIN: [names.TRAINING],
    ModeKeys.EVAL: [names.EVAL],
}
SIGNATURE_KEY_MAP = {
    ModeKeys.PREDICT: names.DEFAULT_SERVING_SIGNATURE_DEF_KEY,
    ModeKeys.TRAIN: names.DEFAULT_TRAIN_SIGNATURE_DEF_KEY,
    ModeKeys.EVAL: names.DEFAULT_EVAL_SIGNATURE_DEF_KEY,
}
# Keras' names of modes that Estimators call otherwise.
_KERAS_MODES = {"predict": ModeKeys.PREDICT, "test": ModeKeys.EVAL}
_TASKS = {
    names.CLASSIFY_METHOD_NAME: "Classify",
    names.REGRESS_METHOD_NAME: "Regress",
    names.PREDICT_METHOD_NAME: "Predict",
    names.SUPERVISED_TRAIN_METHOD_NAME: "Train",
    names.SUPERVISED_EVAL_METHOD_NAME: "Eval",
}
_ATTEMPTS = 10


def build_all_signature_defs(
    receiver_tensors: object,
    export_outputs: object,
    receiver_tensors_alternatives: dict[str, Any] | None = None,
    serving_only: bool = True,
) -> dict[str, Any]:
    """The signatures of all outputs, for the inputs and for each of their alternatives.

    Raises:
        ValueError: the outputs are no dict.
    """
    if not isinstance(export_outputs, dict):
        raise ValueError(f"export_outputs must be a dict and not{type(export_outputs)}")
    made: dict[str, Any] = {}
    excluded: dict[str, str] = {}

    def add(receivers: object, prefix: str) -> None:
        if not isinstance(receivers, dict):
            receivers = {SINGLE_RECEIVER_DEFAULT_NAME: receivers}
        for key, output in export_outputs.items():
            name = f"{prefix}{key or 'None'}"
            try:
                made[name] = output.as_signature_def(receivers)
            except ValueError as error:
                excluded[name] = str(error)

    add(receiver_tensors, "")
    for name, receivers in (receiver_tensors_alternatives or {}).items():
        add(receivers, f"{name or 'None'}:")
    _report(made, excluded)
    if serving_only:
        return {key: value for key, value in made.items() if signatures.is_valid_signature(value)}
    return made


def _report(made: dict[str, Any], excluded: dict[str, str]) -> None:
    for method, task in _TASKS.items():
        of_task = [name for name, signature in made.items() if signature.method_name == method]
        log.info("Signatures INCLUDED in export for %s: %s", task, of_task or "None")
    if excluded:
        log.info(
            "Signatures EXCLUDED from export because they cannot be be served via TensorFlow "
            "Serving APIs:"
        )
        for name, message in excluded.items():
            log.info("'%s' : %s", name, message)
    if not made:
        log.warn("Export includes no signatures!")
    elif names.DEFAULT_SERVING_SIGNATURE_DEF_KEY not in made:
        log.warn("Export includes no default signature!")


def get_timestamped_export_dir(export_dir_base: str | bytes) -> bytes:
    """A folder below another that is named by the second, and does not exist yet."""
    for attempt in range(_ATTEMPTS):
        result = os.path.join(os.fsencode(export_dir_base), str(int(time.time())).encode())
        if not files.file_exists(os.fsdecode(result)):
            return result
        time.sleep(1)
        log.warn(
            "Directory %s already exists; retrying (attempt %s/%s)", result, attempt + 1, _ATTEMPTS
        )
    raise RuntimeError(
        f"Failed to obtain a unique export directory name after {_ATTEMPTS} attempts."
    )


def get_temp_export_dir(timestamped_export_dir: bytes) -> bytes:
    """The folder beside one in which it is written before it gets its name."""
    folder, name = os.path.split(timestamped_export_dir)
    return os.path.join(os.fsencode(folder), b"temp-" + os.fsencode(name))


def export_outputs_for_mode(
    mode: str,
    serving_export_outputs: object = None,
    predictions: object = None,
    loss: object = None,
    metrics: object = None,
) -> dict[str, Any]:
    """The outputs of a model for training, evaluation or prediction, by Keras' names, too."""
    mode = _KERAS_MODES.get(mode, mode)
    if mode not in SIGNATURE_KEY_MAP:
        raise ValueError(
            f"Export output type not found for mode: {mode}. Expected one of: "
            f"{list(SIGNATURE_KEY_MAP)}.\nOne likely error is that V1 Estimator Modekeys were "
            "somehow passed to this function. Please ensure that you are using the new ModeKeys."
        )
    if mode == ModeKeys.PREDICT:
        return get_export_outputs(serving_export_outputs, predictions)
    kind = TrainOutput if mode == ModeKeys.TRAIN else EvalOutput
    return {SIGNATURE_KEY_MAP[mode]: kind(loss=loss, predictions=predictions, metrics=metrics)}


def get_export_outputs(export_outputs: object, predictions: object) -> dict[str, Any]:
    """Checked outputs with a default among them; all predictions if there are none.

    Raises:
        TypeError: they are no dict of ExportOutputs.
        ValueError: there are several, and none is the default.
    """
    default = names.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    if export_outputs is None:
        export_outputs = {default: PredictOutput(predictions)}
    if not isinstance(export_outputs, dict):
        raise TypeError(f"export_outputs must be dict, given: {export_outputs}")
    if not all(isinstance(output, ExportOutput) for output in export_outputs.values()):
        raise TypeError(
            f"Values in export_outputs must be ExportOutput objects. Given: {export_outputs}"
        )
    if len(export_outputs) == 1:
        export_outputs.setdefault(default, next(iter(export_outputs.values())))
    elif export_outputs and default not in export_outputs:
        raise ValueError(
            "Multiple export_outputs were provided, but none of them is specified as the default.  "
            "Do this by naming one of them with "
            "signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY."
        )
    return export_outputs
