# SPDX-License-Identifier: Apache-2.0
"""Estimators made of exported models: these train on, are evaluated and predict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.graph import get_default_graph
from ....engine.interface import log
from ....engine.types import dtypes
from ....engine.types.shape import TensorShape
from ....ops.public import tf
from ...checkpoints.checkpoint_utils import list_variables
from ...estimator.estimator import Estimator
from ...estimator.export import wrap_and_check_input_tensors
from ...estimator.export_utils import EXPORT_TAG_MAP
from ...estimator.mode_keys import ModeKeys
from ...estimator.model_fn import EstimatorSpec
from ...estimator.settings import WarmStartSettings
from ...saved_model import names
from ...saved_model.folder import get_variables_path
from ...saved_model.reading import SavedModelLoader, get_init_op, get_train_op
from ...sessions.scaffold import Scaffold
from ...variables.global_step import assert_global_step, get_global_step

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor

# Exporting expects these empty; the import of a model fills them.
_EXPORTED = (names.ASSETS_KEY, names.LEGACY_INIT_OP_KEY, names.MAIN_OP_KEY, names.TRAIN_OP_KEY)
_METHODS = {
    ModeKeys.TRAIN: names.SUPERVISED_TRAIN_METHOD_NAME,
    ModeKeys.EVAL: names.SUPERVISED_EVAL_METHOD_NAME,
}


@export("contrib.estimator.SavedModelEstimator")
class SavedModelEstimator(Estimator):
    """An Estimator whose graphs and first values are those of a SavedModel.

    Args:
        saved_model_dir: the folder that `experimental_export_all_saved_models` or
            `export_saved_model` of an Estimator wrote.
        model_dir: the folder of new checkpoints and events; a new one if None.

    Raises:
        IOError: the folder holds no SavedModel.
        NotImplementedError: a strategy is to train or evaluate it.
    """

    def __init__(self, saved_model_dir: str, model_dir: str | None = None) -> None:
        checkpoint = get_variables_path(saved_model_dir)
        variables = [name for name, _ in list_variables(checkpoint)]
        super().__init__(
            model_fn=self._model_fn_from_saved_model,
            model_dir=model_dir,
            warm_start_from=WarmStartSettings(checkpoint, vars_to_warm_start=variables),
        )
        if self._train_distribution or self._eval_distribution:
            raise NotImplementedError(
                "SavedModelEstimator currently does not support DistributionStrategy."
            )
        self.saved_model_dir = saved_model_dir
        self.saved_model_loader = SavedModelLoader(saved_model_dir)
        self._available_modes = self._extract_available_modes()

    def _extract_available_modes(self) -> list[str]:
        log.info("Checking available modes for SavedModelEstimator.")
        found = []
        for mode in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT):
            try:
                self._get_meta_graph_def_for_mode(mode)
            except RuntimeError:
                log.warning("%s mode not found in SavedModel.", mode)
                continue
            if self._get_signature_def_for_mode(mode) is not None:
                found.append(mode)
        log.info("Available modes for Estimator: %s", found)
        return found

    def _get_meta_graph_def_for_mode(self, mode: str) -> Any:
        return self.saved_model_loader.get_meta_graph_def_from_tags(EXPORT_TAG_MAP[mode])

    def _get_signature_def_for_mode(self, mode: str) -> Any:
        message = self._get_meta_graph_def_for_mode(mode)
        key = names.DEFAULT_SERVING_SIGNATURE_DEF_KEY if mode == ModeKeys.PREDICT else mode
        if key in message.signature_def:
            return message.signature_def[key]
        log.warning(
            'Metagraph for mode %s was found, but SignatureDef with key "%s" is missing.', mode, key
        )
        return None

    def _create_and_assert_global_step(self, graph: object) -> Any:
        """Makes no step: the SavedModel's graph has one."""
        return None

    def _model_fn_from_saved_model(
        self, features: object, labels: object, mode: str
    ) -> EstimatorSpec:
        """The EstimatorSpec of the SavedModel's graph for a mode, over these inputs."""
        if mode not in self._available_modes:
            raise RuntimeError(
                f"{mode} mode is not available in the SavedModel. Use saved_model_cli to check "
                "that the Metagraph for this mode has been exported."
            )
        graph = get_default_graph()
        if get_global_step(graph) is not None:
            raise RuntimeError(
                "Graph must not contain a global step tensor before the SavedModel is loaded. "
                "Please make sure that the input function does not create a global step."
            )
        signature = self._get_signature_def_for_mode(mode)
        # Names can change when the graph is imported: the tensors are asked of the import.
        keys = list(signature.outputs)
        _, tensors = self.saved_model_loader.load_graph(
            *(graph, EXPORT_TAG_MAP[mode]),
            input_map=_input_map(signature.inputs, features, labels),
            return_elements=[signature.outputs[key].name for key in keys],
        )
        message = self._get_meta_graph_def_for_mode(mode)
        scaffold = Scaffold(local_init_op=get_init_op(message))
        assert_global_step(get_global_step(graph))
        outputs = dict(zip(keys, tensors))
        spec = _spec(mode, outputs, signature.method_name, get_train_op(message), scaffold)
        for collection in _EXPORTED:
            del tf.get_collection_ref(collection)[:]
        return spec


def _input_map(inputs: Any, features: object, labels: object) -> dict[str, Tensor]:
    """What stands for the placeholders of a signature."""
    given = wrap_and_check_input_tensors(features, "feature")
    if labels is not None:
        given = {**wrap_and_check_input_tensors(labels, "label"), **given}
    found = {}
    for key, info in inputs.items():
        if key not in given:
            raise ValueError(
                f'Key "{key}" not found in features or labels passed in to the model function. '
                f"All required keys: {list(inputs)}"
            )
        _check_fits(given[key], info, key)
        name = info.name.partition(":")[0]
        # A placeholder may be a control input, too.
        found[name] = found[f"^{name}"] = given[key]
    return found


def _check_fits(tensor: Any, info: Any, key: str) -> None:
    dtype, shape = dtypes.as_dtype(info.dtype), TensorShape(info.tensor_shape)
    problems = ""
    if tensor.dtype != dtype:
        problems += f"\n\tExpected dtype: {dtype}, Got: {tensor.dtype}"
    if not tensor.shape.is_compatible_with(shape):
        problems += f"\n\tExpected shape: {shape}, Got: {tensor.shape}"
    if problems:
        raise ValueError(f"Tensor shape and/or dtype validation failed for input {key}:{problems}")


def _spec(
    mode: str, outputs: dict[str, Any], method: str, train_op: object, scaffold: Scaffold
) -> EstimatorSpec:
    if mode == ModeKeys.PREDICT:
        return EstimatorSpec(mode, predictions=outputs, scaffold=scaffold)
    if method != _METHODS[mode]:
        raise RuntimeError(
            f"Invalid SignatureDef method name for mode {mode}.\n\tExpected: {_METHODS[mode]}\n\t"
            f"Got: {method}\nPlease ensure that the SavedModel was exported with "
            "`tf.estimator.experimental_export_all_saved_models()`."
        )
    predictions = {k: v for k, v in outputs.items() if k.split("/")[0] == "predictions"}
    return EstimatorSpec(
        mode,
        predictions=predictions,
        loss=outputs["loss"],
        train_op=train_op,
        eval_metric_ops=_metrics(outputs),
        scaffold=scaffold,
    )


def _metrics(outputs: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The metrics among outputs: those that have a value and what updates it."""
    found = {}
    for key, value in outputs.items():
        name, _, suffix = key.rpartition("/")
        update = outputs.get(f"{name}/update_op")
        if key.startswith("metrics/") and suffix == "value" and update is not None:
            found[name] = (value, update)
    return found
