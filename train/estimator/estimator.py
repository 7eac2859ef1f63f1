# SPDX-License-Identifier: Apache-2.0
"""`tf.estimator.Estimator`: training, evaluation, prediction and export of a model function."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any

from ...engine.api import export
from ...engine.graph.collections import GraphKeys
from ...engine.graph.tensor import Tensor
from ...engine.interface import log
from ...engine.types import nest
from ...ops.public import tf
from ..checkpoints.checkpoint_management import latest_checkpoint
from ..checkpoints.checkpoint_utils import list_variables, load_variable
from ..distributed.strategy_input import InputContext
from ..objects.warm_starting_util import warm_start
from ..sessions.basic_session_run_hooks import StopAtStepHook
from ..sessions.evaluation import (
    _evaluate_once,
    _get_or_create_eval_step,
    _StopAfterNEvalsHook,
)
from ..sessions.monitored_session import ChiefSessionCreator, MonitoredSession
from ..sessions.scaffold import Scaffold
from ..variables.global_step import (
    _get_or_create_global_step_read,
    create_global_step,
    get_global_step,
)
from . import exporting, results, settings, steps
from .mode_keys import ModeKeys
from .model_fn import LOSS_METRIC_KEY, EstimatorSpec, verify_model_fn_args
from .replicas import merged_spec
from .run_config import TaskType
from .util import (
    DatasetInitializerHook,
    called_with,
    fn_args,
    parse_input_fn_result,
    parse_iterator_result,
)

_MAY_OVERRIDE = {"model_fn", "_create_and_assert_global_step", "_export_all_saved_models"}


@export("estimator.Estimator")
class Estimator:
    """A model that trains, evaluates, predicts and exports itself.

    Args:
        model_fn: called as model_fn(features, labels, mode, params, config), with what it takes of
            these; gives an EstimatorSpec.
        model_dir: the folder of checkpoints and events; that of `config`, or a new one, if None.
        config: a RunConfig.
        params: hyperparameters for model_fn and input functions.
        warm_start_from: a checkpoint or SavedModel whose values variables start with, or a
            WarmStartSettings.

    Raises:
        ValueError: model_fn is missing or takes other arguments, or folders differ.

    Example:
        >>> def model_fn(features, labels, mode):
        ...     w = tf.get_variable("w", [])
        ...     loss = tf.reduce_mean((w * features - labels) ** 2)
        ...     step = tf.train.GradientDescentOptimizer(0.1).minimize(
        ...         loss, tf.train.get_global_step())
        ...     return tf.estimator.EstimatorSpec(mode, w * features, loss, step)
        >>> def input_fn():
        ...     return tf.data.Dataset.from_tensors(([1.0], [2.0])).repeat()
        >>> estimator = tf.estimator.Estimator(model_fn)
        >>> _ = estimator.train(input_fn, steps=50)
        >>> round(float(estimator.get_variable_value("w")), 2)
        2.0
    """

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: object = None,
        config: object = None,
        params: object = None,
        warm_start_from: object = None,
    ) -> None:
        type(self)._assert_members_are_not_overridden(self)  # programs put a static method there
        self._config = settings.with_folder_and_session(config, model_dir)
        self._train_distribution = self._config.train_distribute
        self._eval_distribution = self._config.eval_distribute
        self._model_dir = self._config.model_dir
        self._session_config = self._config.session_config
        log.info("Using config: %s", vars(self._config))
        self._device_fn = self._config.device_fn or settings.device_function(self._config)
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        verify_model_fn_args(model_fn, params)
        self._model_fn = model_fn
        self._params = copy.deepcopy(params or {})
        self._warm_start_settings = settings.warm_start_settings(warm_start_from)

    # Whether a class of this package may, as TPUEstimator does.
    _OVERRIDES_MEMBERS = False

    def _assert_members_are_not_overridden(self) -> None:
        if vars(type(self)).get("_OVERRIDES_MEMBERS"):
            return
        own = {name for name in dir(Estimator) if not name.startswith("__")}
        common = own & set(vars(type(self))) - _MAY_OVERRIDE
        overridden = [m for m in common if getattr(Estimator, m) != getattr(type(self), m)]
        if overridden:
            raise ValueError(
                "Subclasses of Estimator cannot override members of Estimator. "
                f"{type(self)} does override {overridden}"
            )

    @property
    def model_dir(self) -> str:
        """The folder of checkpoints and events."""
        return self._model_dir  # type: ignore[no-any-return]

    @property
    def config(self) -> Any:
        """A copy of the RunConfig."""
        return copy.deepcopy(self._config)

    @property
    def params(self) -> Any:
        """A copy of the hyperparameters."""
        return copy.deepcopy(self._params)

    @property
    def model_fn(self) -> Callable[..., Any]:
        """The model function, with the hyperparameters bound: of features, labels, mode, config."""

        def public_model_fn(features: object, labels: object, mode: str, config: object) -> Any:
            return self._call_model_fn(features, labels, mode, config)

        return public_model_fn

    def get_variable_value(self, name: str) -> Any:
        """The value that a variable has in the last checkpoint, as an array.

        Raises:
            ValueError: there is no checkpoint.
        """
        settings.require_checkpoint(self.model_dir)
        return load_variable(self.model_dir, name)

    def get_variable_names(self) -> list[str]:
        """The names of the variables in the last checkpoint; ValueError without one."""
        settings.require_checkpoint(self.model_dir)
        return [name for name, _ in list_variables(self.model_dir)]

    def latest_checkpoint(self) -> str | None:
        """The path of the last checkpoint, or None."""
        return latest_checkpoint(self.model_dir)

    def eval_dir(self, name: str | None = None) -> str:
        """The folder of the events of evaluations of a name."""
        return os.path.join(self._model_dir, f"eval_{name}" if name else "eval")

    def train(
        self,
        input_fn: Callable[..., Any],
        hooks: Sequence[Any] | None = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: object = None,
    ) -> Estimator:
        """Trains from the last checkpoint on, if there is one.

        Args:
            input_fn: gives a dataset, or tensors, of (features, labels).
            hooks: SessionRunHooks.
            steps: how many steps to make; until the input ends if None.
            max_steps: at which step to stop; instead of `steps`.
            saving_listeners: CheckpointSaverListeners.

        Returns:
            The Estimator.

        Raises:
            ValueError: both numbers are given, or one is not positive.
        """
        if self._config.task_type in (TaskType.EVALUATOR, TaskType.PS):
            raise ValueError(
                "Train has been called wrong configuration. Please use "
                "tf.estimator.train_and_evaluate which calls proper API according to given "
                f"configuration. Current configuration: {self.config}."
            )
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        if max_steps is not None and max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
        if max_steps is not None and max_steps <= settings.saved_global_step(self._model_dir):
            log.info("Skipping training since max_steps has already saved.")
            return self
        hooks = settings.checked_hooks(hooks)
        if steps is not None or max_steps is not None:
            hooks.append(StopAtStepHook(steps, max_steps))
        listeners = settings.checked_listeners(saving_listeners)
        loss = self._train_model(input_fn, hooks, listeners)
        log.info("Loss for final step: %s.", loss)
        return self

    def _train_model(self, input_fn: Callable[..., Any], hooks: list[Any], listeners: Any) -> Any:
        strategy = self._train_distribution
        with ExitStack() as stack:
            graph = stack.enter_context(tf.Graph().as_default())
            stack.enter_context(graph.device(self._device_fn))
            if strategy:
                stack.enter_context(strategy.scope())
            tf.set_random_seed(self._config.tf_random_seed)
            self._create_and_assert_global_step(graph)
            _get_or_create_global_step_read(graph)
            features, labels, input_hooks = self._input(input_fn, ModeKeys.TRAIN)
            if strategy:
                stack.enter_context(_averaged(strategy.extended))
            spec = self._replicated(
                *(strategy, self._call_model_fn, features, labels, ModeKeys.TRAIN)
            )
            return steps.train_with_spec(
                *(spec, [*input_hooks, *hooks], listeners),
                config=self._config,
                warm_start_from=self._warm_start_settings,
            )

    def _replicated(
        self, strategy: Any, call: Callable[..., Any], features: Any, labels: Any, mode: str
    ) -> Any:
        """What the model function gives, in the replicas of a strategy if there is one."""
        given = (features, labels, mode, self.config)
        if not strategy:
            return call(*given)
        spec = strategy.extended.call_for_each_replica(call, args=given)
        return merged_spec(strategy, spec) if strategy.extended.is_mirrored else spec

    def evaluate(
        self,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Sequence[Any] | None = None,
        checkpoint_path: str | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """The metrics of the model over an input, with the values of a checkpoint.

        Args:
            input_fn: gives a dataset, or tensors, of (features, labels).
            steps: how many batches; all that there are if None.
            hooks: SessionRunHooks.
            checkpoint_path: the checkpoint; the last one if None, and if there is none, variables
                are initialized.
            name: of the evaluation, for the folder of its events.

        Returns:
            A dict of the metrics, "loss" and "global_step" among them.

        Raises:
            ValueError: the number of steps is not positive, or a metric has a name of those.
        """
        hooks = settings.checked_hooks(hooks) + self._convert_eval_steps_to_hooks(steps)
        if not checkpoint_path:
            checkpoint_path = latest_checkpoint(self._model_dir)
            if not checkpoint_path:
                log.info(
                    "Could not find trained model in model_dir: %s, running initialization to "
                    "evaluate.",
                    self._model_dir,
                )
        strategy = self._eval_distribution
        with tf.Graph().as_default(), strategy.scope() if strategy else nullcontext():
            built = self._evaluate_build_graph(input_fn, hooks, checkpoint_path)
            return self._evaluate_run(checkpoint_path, *built, self.eval_dir(name))

    def _convert_eval_steps_to_hooks(self, steps: int | None) -> list[Any]:
        if steps is None:
            return []
        if steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        return [_StopAfterNEvalsHook(num_evals=steps)]

    def _evaluate_build_graph(
        self,
        input_fn: Callable[..., Any],
        hooks: Sequence[Any] | None = None,
        checkpoint_path: Any = None,
    ) -> tuple[Any, Any, dict[str, Any], list[Any]]:
        """The scaffold, what updates metrics, their values and all hooks."""
        tf.set_random_seed(self._config.tf_random_seed)
        self._create_and_assert_global_step(tf.get_default_graph())
        features, labels, input_hooks = self._input(input_fn, ModeKeys.EVAL)
        spec = self._replicated(
            *(self._eval_distribution, self._call_model_fn_to_evaluate),
            *(features, labels, ModeKeys.EVAL),
        )
        metrics = sorted(spec.eval_metric_ops.items())
        update = tf.group(*(value[1] for _, value in metrics))
        values = {name: value[0] for name, value in metrics}
        step = get_global_step(tf.get_default_graph())
        self._maybe_warm_start(checkpoint_path)
        values[GraphKeys.GLOBAL_STEP] = step
        scaffold = spec.scaffold
        if scaffold and scaffold.local_init_op:
            # What the model runs first comes beside what is usual.
            _get_or_create_eval_step()
            both = tf.group(scaffold.local_init_op, Scaffold.default_local_init_op())
            scaffold = Scaffold(local_init_op=both, copy_from_scaffold=scaffold)
        return scaffold, update, values, [*input_hooks, *(hooks or ()), *spec.evaluation_hooks]

    def _evaluate_run(
        self,
        checkpoint_path: str | None,
        scaffold: Any,
        update_op: Any,
        eval_dict: dict[str, Any],
        all_hooks: list[Any],
        output_dir: str,
    ) -> dict[str, Any]:
        found = _evaluate_once(
            checkpoint_path=checkpoint_path,
            master=self._config.evaluation_master,
            scaffold=scaffold,
            eval_ops=update_op,
            final_ops=eval_dict,
            hooks=all_hooks,
            config=self._session_config,
        )
        step = found[GraphKeys.GLOBAL_STEP]
        results.write_dict_to_summary(output_dir, found, step)
        if checkpoint_path:
            results.write_checkpoint_path_to_summary(output_dir, checkpoint_path, step)
        return found  # type: ignore[no-any-return]

    def predict(
        self,
        input_fn: Callable[..., Any],
        predict_keys: object = None,
        hooks: Sequence[Any] | None = None,
        checkpoint_path: str | None = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """The predictions for an input, with the values of a checkpoint.

        Args:
            input_fn: gives a dataset, or tensors, of features.
            predict_keys: the predictions that are wanted, by name; all if None.
            hooks: SessionRunHooks.
            checkpoint_path: the checkpoint; the last one if None, and if there is none, variables
                are initialized.
            yield_single_examples: False gives whole batches.

        Yields:
            The predictions of one example after another.

        Raises:
            ValueError: a prediction is unknown, or batches differ in size.
        """
        hooks = settings.checked_hooks(hooks)
        if not checkpoint_path:
            checkpoint_path = latest_checkpoint(self._model_dir)
        if not checkpoint_path:
            log.info(
                "Could not find trained model in model_dir: %s, running initialization to predict.",
                self._model_dir,
            )
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(self._config.tf_random_seed)
            self._create_and_assert_global_step(graph)
            features, _, input_hooks = self._input(input_fn, ModeKeys.PREDICT)
            _warn_of_endless_input(features)
            spec = self._call_model_fn(features, None, ModeKeys.PREDICT, self.config)
            self._maybe_warm_start(checkpoint_path)
            predictions = _wanted(spec.predictions, predict_keys)
            creator = ChiefSessionCreator(
                checkpoint_filename_with_path=checkpoint_path,
                master=self._config.master,
                scaffold=spec.scaffold,
                config=self._session_config,
            )
            all_hooks = [*input_hooks, *hooks, *spec.prediction_hooks]
            with MonitoredSession(session_creator=creator, hooks=all_hooks) as session:
                while not session.should_stop():
                    batch = session.run(predictions)
                    if yield_single_examples:
                        yield from _examples(batch)
                    else:
                        yield batch

    def export_saved_model(
        self,
        export_dir_base: str | bytes,
        serving_input_receiver_fn: Callable[..., Any] | None,
        assets_extra: dict[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        experimental_mode: str = ModeKeys.PREDICT,
    ) -> bytes:
        """Writes a SavedModel with the values of a checkpoint.

        Args:
            export_dir_base: the folder in which the model's is made, named by the time.
            serving_input_receiver_fn: gives a ServingInputReceiver.
            assets_extra: files to copy, by their paths below the model's assets.extra.
            as_text: whether the graph is written as text.
            checkpoint_path: the checkpoint; the last one if None.
            experimental_mode: what the model is for.

        Returns:
            The model's folder, as bytes.

        Raises:
            ValueError: there is no function or checkpoint, or the checkpoint lacks a variable.
        """
        if not serving_input_receiver_fn:
            raise ValueError("An input_receiver_fn must be defined.")
        receivers = {experimental_mode: serving_input_receiver_fn}
        return self._export_all_saved_models(
            export_dir_base, receivers, assets_extra, as_text, checkpoint_path
        )

    def experimental_export_all_saved_models(
        self,
        export_dir_base: str | bytes,
        input_receiver_fn_map: dict[str, Callable[[], Any]],
        assets_extra: dict[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
    ) -> bytes:
        """Writes a SavedModel with a graph for each mode; arguments as of export_saved_model."""
        return self._export_all_saved_models(
            export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path
        )

    def export_savedmodel(
        self,
        export_dir_base: str | bytes,
        serving_input_receiver_fn: Callable[..., Any] | None,
        assets_extra: dict[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """The old name of export_saved_model."""
        if not serving_input_receiver_fn:
            raise ValueError("An input_receiver_fn must be defined.")
        receivers = {ModeKeys.PREDICT: serving_input_receiver_fn}
        return self._export_all_saved_models(
            *(export_dir_base, receivers, assets_extra, as_text, checkpoint_path),
            strip_default_attrs=strip_default_attrs,
        )

    def _export_all_saved_models(
        self,
        export_dir_base: str | bytes,
        input_receiver_fn_map: dict[str, Callable[[], Any]],
        assets_extra: dict[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        strip_default_attrs: bool = True,
    ) -> bytes:
        return exporting.export_all(
            *(self, export_dir_base, input_receiver_fn_map, assets_extra, as_text),
            checkpoint_path or exporting.checkpoint_of(self),
            strip_default_attrs=strip_default_attrs,
        )

    def _create_global_step(self, graph: Any) -> Any:
        return create_global_step(graph)

    def _create_and_assert_global_step(self, graph: object) -> Any:
        step = self._create_global_step(graph)
        if step is not get_global_step() or not step.dtype.is_integer:
            raise AssertionError(f"{step} is not the graph's global step")
        return step

    def _input(self, input_fn: Callable[..., Any], mode: str) -> tuple[Any, Any, list[Any]]:
        strategies = {
            ModeKeys.TRAIN: self._train_distribution,
            ModeKeys.EVAL: self._eval_distribution,
        }
        strategy = strategies.get(mode)
        if strategy and strategy.extended.is_mirrored:
            iterator = strategy.make_input_fn_iterator(
                lambda context: self._call_input_fn(input_fn, mode)
            )
            found = parse_iterator_result(iterator.get_next())
            return (*found, [DatasetInitializerHook(iterator)])
        return parse_input_fn_result(self._call_input_fn(input_fn, mode))

    def _call_input_fn(self, input_fn: Callable[..., Any], mode: str) -> Any:
        offered = dict(mode=mode, params=self.params, config=self.config)
        strategy = self._train_distribution if mode == ModeKeys.TRAIN else None
        context = strategy.extended.input_context() if strategy else InputContext()
        taken = called_with(input_fn, **offered, input_context=context)
        with tf.device("/cpu:0"):
            return input_fn(**taken)

    def _call_model_fn(self, features: object, labels: object, mode: str, config: object) -> Any:
        taken = called_with(
            self._model_fn, labels=labels, mode=mode, params=self.params, config=config
        )
        if labels is not None and "labels" not in fn_args(self._model_fn):
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        log.info("Calling model_fn.")
        spec = self._model_fn(features=features, **taken)
        log.info("Done calling model_fn.")
        if not isinstance(spec, EstimatorSpec):
            raise ValueError("model_fn should return an EstimatorSpec.")
        return spec

    def _call_model_fn_to_evaluate(self, *given: Any) -> Any:
        """What the model function gives, with the mean of its loss among the metrics."""
        spec = self._call_model_fn(*given)
        for name in (LOSS_METRIC_KEY, GraphKeys.GLOBAL_STEP):
            if name in spec.eval_metric_ops:
                raise ValueError(
                    f"Metric with name {_quoted(name)} is not allowed, because Estimator already "
                    "defines a default metric with the same name."
                )
        spec.eval_metric_ops[LOSS_METRIC_KEY] = _mean(spec.loss)
        return spec

    def _maybe_warm_start(self, checkpoint_path: str | None) -> None:
        if not checkpoint_path and self._warm_start_settings:
            log.info("Warm-starting with WarmStartSettings: %s", self._warm_start_settings)
            warm_start(*self._warm_start_settings)


def _quoted(name: str) -> str:
    return f'"{name}"' if name == LOSS_METRIC_KEY else f"`{name}`"


def _mean(loss: object) -> Any:
    from ...ops.metrics.means import mean

    return mean(loss)


def _warn_of_endless_input(features: object) -> None:
    tensors = [x for x in nest.flatten(features) if isinstance(x, Tensor)]
    ends = any(tensor.op.type == "IteratorGetNext" for tensor in tensors)
    if not ends and not tf.get_default_graph().get_collection(GraphKeys.QUEUE_RUNNERS):
        log.warning(
            "Input graph does not use tf.data.Dataset or contain a QueueRunner. That means predict "
            "yields forever. This is probably a mistake."
        )


@contextmanager
def _averaged(extended: Any) -> Iterator[None]:
    """Within it the loss of replicas is the mean of theirs."""
    extended.scales_loss = True
    try:
        yield
    finally:
        extended.scales_loss = False


def _wanted(predictions: Any, keys: Any) -> Any:
    if not keys:
        return predictions
    if not isinstance(predictions, dict):
        raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
    found = {key: value for key, value in predictions.items() if key in keys}
    if not found:
        raise ValueError(
            f"Expected to run at least one output from {predictions.keys()}, provided {keys}."
        )
    return found


def _examples(batch: Any) -> Iterator[Any]:
    """The predictions of one example after another."""
    if not isinstance(batch, dict):
        yield from batch
        return
    for i in range(_batch_length(batch)):
        yield {key: value[i] for key, value in batch.items()}


def _batch_length(batch: dict[str, Any]) -> int:
    length = None
    for key, value in batch.items():
        length = length or value.shape[0]
        if value.shape[0] != length:
            raise ValueError(
                f"Batch length of predictions should be same. {key} has different batch length "
                "than others."
            )
    return length or 0
