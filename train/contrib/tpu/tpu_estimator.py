# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.tpu.TPUEstimator` on this machine's processor: use_tpu=False.

Batch sizes reach functions as params["batch_size"]; metrics and host calls are functions.
"""

from __future__ import annotations

import copy
import enum
import math
from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.collections import GraphKeys
from ....engine.interface import log
from ....engine.types import dtypes
from ....ops.public import tf
from ...estimator.estimator import Estimator
from ...estimator.mode_keys import ModeKeys
from ...estimator.model_fn import EstimatorSpec, verify_model_fn_args
from ...estimator.util import called_with, fn_args
from ...sessions.session_run_hook import SessionRunHook
from ...variables.global_step import get_global_step
from . import util
from .hooks import ExamplesPerSecondHook, HostCallHook, call_on_host, check_host_calls
from .tpu_config import InputPipelineConfig, RunConfig

if TYPE_CHECKING:
    from ....engine.graph.graph import Graph

_BATCH_SIZE_KEY, _USE_TPU_KEY, _CTX_KEY = "batch_size", "use_tpu", "context"
_RESERVED = (_BATCH_SIZE_KEY, _USE_TPU_KEY, _CTX_KEY)


@export("contrib.tpu.TPUEstimatorSpec", "estimator.tpu.TPUEstimatorSpec")
class TPUEstimatorSpec(
    namedtuple(
        "TPUEstimatorSpec",
        (
            "mode",
            "predictions",
            "loss",
            "train_op",
            "eval_metrics",
            "export_outputs",
            "scaffold_fn",
            "host_call",
            "training_hooks",
            "evaluation_hooks",
            "prediction_hooks",
        ),
    )
):
    """What a model function gives a TPUEstimator.

    Args:
        mode, predictions, loss, train_op, export_outputs: as of EstimatorSpec.
        eval_metrics: a function of tensors, which gives (value, update) pairs by name, and the
            tensors, as a list or a dict of its arguments.
        scaffold_fn: a function that makes a Scaffold.
        host_call: a function of tensors, and the tensors; what it gives runs with each step.
        training_hooks, evaluation_hooks, prediction_hooks: hooks of runs.

    Raises:
        ValueError: a pair of function and tensors is none.
        TypeError: a hook or function is none.
        RuntimeError: a function takes more tensors or fewer.
    """

    def __new__(
        cls,
        mode: str,
        predictions: object = None,
        loss: object = None,
        train_op: object = None,
        eval_metrics: object = None,
        export_outputs: object = None,
        scaffold_fn: Callable[[], Any] | None = None,
        host_call: object = None,
        training_hooks: Sequence[Any] | None = None,
        evaluation_hooks: Sequence[Any] | None = None,
        prediction_hooks: Sequence[Any] | None = None,
    ) -> TPUEstimatorSpec:
        check_host_calls(eval_metrics=eval_metrics, host_call=host_call)
        hooks = [
            tuple(given or ()) for given in (training_hooks, evaluation_hooks, prediction_hooks)
        ]
        for hook in sum(hooks, ()):
            if not isinstance(hook, SessionRunHook):
                raise TypeError(f"All hooks must be SessionRunHook instances, given: {hook}")
        return super().__new__(
            *(cls, mode, predictions, loss, train_op, eval_metrics, export_outputs),
            *(scaffold_fn, host_call, *hooks),
        )

    def as_estimator_spec(self) -> EstimatorSpec:
        """The EstimatorSpec that means the same on this machine."""
        metrics = call_on_host("eval_metrics", self.eval_metrics)
        called = call_on_host("host_call", self.host_call)
        hooks = () if self.host_call is None else (HostCallHook(called),)
        return EstimatorSpec(
            mode=self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=metrics,
            export_outputs=self.export_outputs,
            scaffold=self.scaffold_fn() if self.scaffold_fn else None,
            training_hooks=self.training_hooks + hooks,
            evaluation_hooks=self.evaluation_hooks + hooks,
            prediction_hooks=self.prediction_hooks + hooks,
        )


class ExportSavedModelApiVersion(enum.Enum):
    """How TensorFlow writes models for TPUs."""

    V1 = 1
    V2 = 2


def _put(params: Any, key: str, value: Any) -> None:
    """Puts a value into hyperparameters: a dict or HParams."""
    if not hasattr(params, "set_hparam"):
        params[key] = value
    elif key in params:
        params.set_hparam(key, value)
    else:
        params.add_hparam(key, value)


@export("contrib.tpu.TPUEstimator", "estimator.tpu.TPUEstimator")
class TPUEstimator(Estimator):
    """An Estimator whose functions take params["batch_size"], and that runs on a TPU elsewhere.

    Args:
        model_fn: as of Estimator; it must take `params`, and may give a TPUEstimatorSpec.
        model_dir: the folder of checkpoints and events.
        config: a tf.contrib.tpu.RunConfig.
        params: hyperparameters: a dict, or HParams.
        use_tpu: must be False for what runs here.
        train_batch_size, eval_batch_size, predict_batch_size: the sizes of batches.
        batch_axis, export_to_tpu, embedding_config_spec, export_saved_model_api_version: of TPUs.
        eval_on_tpu: False evaluates here, where a TPU would train.
        export_to_cpu: whether a graph for this machine is exported.
        warm_start_from: as of Estimator.

    Raises:
        ValueError: the config is another, or hyperparameters have reserved names.

    Example:
        >>> def model_fn(features, labels, mode, params):
        ...     w = tf.get_variable("w", [])
        ...     loss = tf.reduce_mean((w * features - labels) ** 2)
        ...     optimizer = tf.contrib.tpu.CrossShardOptimizer(
        ...         tf.train.GradientDescentOptimizer(0.1))
        ...     step = optimizer.minimize(loss, tf.train.get_global_step())
        ...     return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=step)
        >>> def input_fn(params):
        ...     data = tf.data.Dataset.from_tensor_slices(([1.0, 2.0], [2.0, 4.0])).repeat()
        ...     return data.batch(params["batch_size"], drop_remainder=True)
        >>> estimator = tf.contrib.tpu.TPUEstimator(
        ...     model_fn, config=tf.contrib.tpu.RunConfig(), use_tpu=False, train_batch_size=2)
        >>> _ = estimator.train(input_fn, steps=30)
        >>> round(float(estimator.get_variable_value("w")), 2)
        2.0
    """

    _OVERRIDES_MEMBERS = True

    def __init__(
        self,
        model_fn: Callable[..., Any] | None = None,
        model_dir: Any = None,
        config: Any = None,
        params: Any = None,
        use_tpu: bool = True,
        train_batch_size: int | None = None,
        eval_batch_size: int | None = None,
        predict_batch_size: int | None = None,
        batch_axis: Any = None,
        eval_on_tpu: bool = True,
        export_to_tpu: bool = True,
        export_to_cpu: bool = True,
        warm_start_from: Any = None,
        embedding_config_spec: Any = None,
        export_saved_model_api_version: Any = ExportSavedModelApiVersion.V1,
    ) -> None:
        if config is None or not isinstance(config, RunConfig):
            raise ValueError("`config` must be provided with type `tpu_config.RunConfig`")
        if params is not None and any(key in params for key in _RESERVED):
            raise ValueError(f"{_RESERVED} are reserved keys but existed in params {params}.")
        self._batch_sizes = {
            ModeKeys.TRAIN: train_batch_size,
            ModeKeys.EVAL: eval_batch_size,
            ModeKeys.PREDICT: predict_batch_size,
        }
        self._use_tpu, self._eval_on_tpu = use_tpu, eval_on_tpu
        if use_tpu:
            self._check_sizes(config)
        if not isinstance(export_saved_model_api_version, ExportSavedModelApiVersion):
            raise ValueError(
                "export_saved_model_api_version should be of type ExportSavedModelApiVersion; got "
                f"{export_saved_model_api_version}."
            )
        del batch_axis, embedding_config_spec
        verify_model_fn_args(_require(model_fn), params)
        self._export_to_cpu, self._export_to_tpu = export_to_cpu, export_to_tpu
        self._is_input_fn_invoked = False
        self._examples_per_second = _logging_times(config)
        super().__init__(
            self._with_params(_require(model_fn)),
            model_dir,
            config.replace(log_step_count_steps=None),
            params or {},
            warm_start_from,
        )

    def _check_sizes(self, config: RunConfig) -> None:
        sizes = self._batch_sizes
        if sizes[ModeKeys.TRAIN] is None:
            raise ValueError("`train_batch_size` cannot be `None`")
        for name, mode in (
            ("train", ModeKeys.TRAIN),
            ("eval", ModeKeys.EVAL),
            ("predict", ModeKeys.PREDICT),
        ):
            if sizes[mode] is not None:
                util.check_positive_integer(sizes[mode], f"{name}_batch_size")
        settings = config.tpu_config
        if (
            settings.per_host_input_for_training is InputPipelineConfig.PER_SHARD_V1
            and settings.num_cores_per_replica
        ):
            raise ValueError(
                "Model parallelism only supports per host input for training. Please adjust "
                "TPURunconfig.per_host_input_for_training."
            )

    def _require_processor(self, mode: str) -> None:
        """Raises RuntimeError for what would run on a TPU."""
        if self._use_tpu and (mode != ModeKeys.EVAL or self._eval_on_tpu):
            raise RuntimeError(
                f"TPUEstimator is to run {mode!r} on a TPU, and numbaflow has none; give it "
                "use_tpu=False (of many programs: the flag --use_tpu=False)"
            )

    def _with_params(self, model_fn: Callable[..., Any]) -> Callable[..., Any]:
        """The model function as an Estimator calls it."""

        def called(features: Any, labels: Any, mode: str, config: Any, params: Any) -> Any:
            exported = not self._is_input_fn_invoked
            self._is_input_fn_invoked = False
            if not exported:
                self._require_processor(mode)
            log.info("Running %s on CPU", mode)
            spec = self._called(model_fn, features, labels, mode, config, params, exported)
            if self._examples_per_second is None:
                return spec
            hook = ExamplesPerSecondHook(
                self._batch_sizes[mode],
                output_dir=self.model_dir if config.save_summary_steps else None,
                **self._examples_per_second,
            )
            return spec._replace(training_hooks=(*spec.training_hooks, hook))

        return called

    def _called(
        self,
        model_fn: Callable[..., Any],
        features: object,
        labels: object,
        mode: str,
        config: object,
        params: object,
        exported: bool,
    ) -> Any:
        params = copy.deepcopy(params)
        taken = called_with(
            model_fn, labels=labels, mode=mode, config=copy.deepcopy(config), params=params
        )
        if labels is not None and "labels" not in taken:
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        if "params" not in taken:
            raise ValueError(
                f"model_fn ({model_fn}) does not include params argument, required by TPUEstimator "
                "to pass batch size as params['batch_size']"
            )
        if not exported and self._batch_sizes[mode] is not None:
            _put(params, _BATCH_SIZE_KEY, self._batch_sizes[mode])
        _put(params, _USE_TPU_KEY, False)
        spec = model_fn(features=features, **taken)
        return spec.as_estimator_spec() if isinstance(spec, TPUEstimatorSpec) else spec

    def _create_global_step(self, graph: Graph) -> Any:
        if get_global_step(graph) is not None:
            raise ValueError('"global_step" already exists.')
        with graph.as_default(), graph.name_scope(None):
            return tf.get_variable(
                GraphKeys.GLOBAL_STEP,
                shape=[],
                dtype=dtypes.int64,
                initializer=tf.zeros_initializer(),
                trainable=False,
                use_resource=True,
                collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
            )

    def _call_input_fn(self, input_fn: Callable[..., Any], mode: str) -> Any:
        if "params" not in fn_args(input_fn):
            raise ValueError(
                f"input_fn ({input_fn}) does not include params argument, required by TPUEstimator "
                'to pass batch size as params["batch_size"]'
            )
        self._require_processor(mode)
        sliced = self.config.tpu_config.eval_training_input_configuration
        if mode != ModeKeys.TRAIN and sliced == InputPipelineConfig.SLICED:
            raise ValueError(
                "Invalid TPUConfig `eval_training_input_configuration` value. SLICED mode only "
                "works on use_tpu = True."
            )
        params = self.params
        if self._batch_sizes[mode] is not None:
            _put(params, _BATCH_SIZE_KEY, self._batch_sizes[mode])
        self._is_input_fn_invoked = True
        taken = called_with(input_fn, mode=mode, params=params, config=self.config)
        with tf.device("/device:CPU:0"):
            return input_fn(**taken)

    def _export_all_saved_models(self, *args: Any, **kwargs: Any) -> bytes:
        if not self._export_to_cpu and not self._export_to_tpu:
            raise ValueError("One of export_to_cpu and export_to_tpu must be true.")
        if not self._export_to_cpu:
            raise NotImplementedError("a graph for TPUs alone cannot be exported without one")
        if self._export_to_tpu:
            log.warning("The graph for TPUs is left out of the exported model: there is no TPU.")
        return super()._export_all_saved_models(*args, **kwargs)


def _require(model_fn: Callable[..., Any] | None) -> Callable[..., Any]:
    if model_fn is None:
        raise ValueError("model_fn must be provided to Estimator.")
    return model_fn


def _logging_times(config: RunConfig) -> dict[str, Any] | None:
    """How often speed is told: by steps, as many as loops make at once, or by seconds."""
    count = util.parse_iterations_per_loop(config.tpu_config.iterations_per_loop)
    if count.unit == "seconds":
        return {"every_n_steps": None, "every_n_secs": count.value}
    if config.log_step_count_steps is None:
        return None
    return {"every_n_steps": math.ceil(config.log_step_count_steps / count.value)}


@export("contrib.tpu.export_estimator_savedmodel")
def export_estimator_savedmodel(
    estimator: Estimator,
    export_dir_base: str | bytes,
    serving_input_receiver_fn: Callable[..., Any],
    assets_extra: dict[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
) -> bytes:
    """Writes an Estimator's model; the graph for TPUs is left out. Arguments as of Estimator."""
    made = TPUEstimator(
        estimator._model_fn,
        config=RunConfig(model_dir=estimator.model_dir),
        params=estimator.params,
        train_batch_size=2048,
        eval_batch_size=2048,
    )
    return made.export_saved_model(
        export_dir_base, serving_input_receiver_fn, assets_extra, as_text, checkpoint_path
    )
