# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.learn.Estimator`: `fit`, `evaluate` and `predict` with arrays or input functions."""

from __future__ import annotations

import copy
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .....engine.api import export
from .....engine.graph.collections import GraphKeys
from .....engine.interface import log
from .....io import protos
from .....ops.metrics.means import mean
from .....ops.public import tf
from ....checkpoints.checkpoint_management import latest_checkpoint
from ....checkpoints.checkpoint_utils import list_variables, load_variable
from ....estimator import results
from ....estimator.settings import device_function, saved_global_step
from ....sessions.basic_session_run_hooks import FeedFnHook, StopAtStepHook
from ....sessions.evaluation import _evaluate_once, _StopAfterNEvalsHook
from ....sessions.monitored_session import ChiefSessionCreator, MonitoredSession
from ....variables.global_step import _get_or_create_global_step_read, create_global_step
from .. import monitors as monitor_lib
from . import exporting, inputs, training
from ._sklearn import BaseEstimator as _WithParams
from ._sklearn import NotFittedError
from .constants import MetricKey
from .evaluable import Evaluable, Trainable
from .metrics import make_metrics_ops, split_updates
from .model_fn import ModeKeys, ModelFnOps
from .run_config import RunConfig
from .sk_compat import SKCompat
from .tensor_signature import (
    create_example_parser_from_signatures,
    create_placeholders_from_signatures,
    create_signatures,
    tensors_compatible,
)

_EVALUATES = ("all", "evaluate", "eval_evalset")


@export("contrib.learn.BaseEstimator")
class BaseEstimator(_WithParams, Evaluable, Trainable):
    """What estimators share; a subclass states its ops.

    Args:
        model_dir: the folder of checkpoints and events; that of `config`, or a new one, if None.
        config: a RunConfig.

    Raises:
        ValueError: both name folders, and others.
    """

    _Config = RunConfig

    def __init__(self, model_dir: str | None = None, config: Any = None) -> None:
        if config is None:
            config = self._Config()
            log.info("Using default config.")
        self._session_config = config.session_config
        if self._session_config is None:
            self._session_config = protos.ConfigProto(allow_soft_placement=True)
        if model_dir is not None and config.model_dir not in (None, model_dir):
            raise ValueError(
                "model_dir are set both in constructor and RunConfig, but with different values. "
                f"In constructor: '{model_dir}', in RunConfig: '{config.model_dir}' "
            )
        self._model_dir = model_dir or config.model_dir
        if self._model_dir is None:
            self._model_dir = tempfile.mkdtemp()
            log.warning("Using temporary folder as model directory: %s", self._model_dir)
        if config.model_dir is None:
            config = config.replace(model_dir=self._model_dir)
        self._config = config
        log.info("Using config: %s", vars(config))
        self._device_fn = device_function(config)
        self._features_info: Any = None
        self._labels_info: Any = None
        self._graph: Any = None

    @property
    def config(self) -> Any:
        """A copy of the RunConfig."""
        return copy.deepcopy(self._config)

    @property
    def model_dir(self) -> str:
        """The folder of checkpoints and events."""
        return self._model_dir  # type: ignore[no-any-return]

    @property
    def model_fn(self) -> Callable[..., Any]:
        """The model function, with hyperparameters bound: of features, labels, mode, config."""

        def public_model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
            return self._call_model_fn(features, labels, mode, config=config)

        return public_model_fn

    def _call_model_fn(
        self,
        features: Any,
        labels: Any,
        mode: str,
        metrics: dict[Any, Any] | None = None,
        config: Any = None,
    ) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no model function")

    def fit(
        self,
        x: object = None,
        y: object = None,
        input_fn: Callable[[], Any] | None = None,
        steps: int | None = None,
        batch_size: int | None = None,
        monitors: Sequence[Any] | None = None,
        max_steps: int | None = None,
    ) -> BaseEstimator:
        """Trains from the last checkpoint on, if there is one.

        Args:
            x, y: features and labels: arrays, frames or iterators; or
            input_fn: a function that gives tensors of (features, labels), or a dataset.
            steps: how many steps to make; until the input ends if None.
            batch_size: of arrays; all at once if None.
            monitors: monitors or SessionRunHooks.
            max_steps: at which step to stop; instead of `steps`.

        Returns:
            The estimator.

        Raises:
            ValueError: arguments are given that exclude each other.
        """
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        inputs.verify(x, y, input_fn, None, batch_size)
        if x is not None:
            SKCompat(self).fit(x, y, batch_size, steps, max_steps, monitors)
            return self
        if max_steps is not None and max_steps <= saved_global_step(self._model_dir):
            log.info("Skipping training since max_steps has already saved.")
            return self
        hooks = monitor_lib.replace_monitors_with_hooks(monitors, self)
        if steps is not None or max_steps is not None:
            hooks.append(StopAtStepHook(steps, max_steps))
        loss = self._train_model(input_fn=input_fn, hooks=hooks)
        log.info("Loss for final step: %s.", loss)
        return self

    def partial_fit(
        self,
        x: object = None,
        y: object = None,
        input_fn: Callable[[], Any] | None = None,
        steps: int | None = 1,
        batch_size: int | None = None,
        monitors: Sequence[Any] | None = None,
    ) -> BaseEstimator:
        """Trains a step, or some; arguments as of `fit`."""
        log.warning(
            "The current implementation of partial_fit is not optimized for use in a loop. "
            "Consider using fit() instead."
        )
        return self.fit(x, y, input_fn, steps, batch_size, monitors)

    def evaluate(
        self,
        x: object = None,
        y: object = None,
        input_fn: Callable[[], Any] | None = None,
        feed_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: dict[Any, Any] | None = None,
        name: str | None = None,
        checkpoint_path: str | None = None,
        hooks: Sequence[Any] | None = None,
        log_progress: bool = True,
    ) -> Any:
        """The metrics of the model over an input.

        Args:
            x, y: features and labels: arrays, frames or iterators; or
            input_fn: a function that gives tensors of (features, labels), or a dataset.
            feed_fn: a function that gives feeds.
            batch_size: of arrays.
            steps: how many batches; all that there are if None.
            metrics: MetricSpecs by name, beside the model's.
            name: of the evaluation, for the folder of its events.
            checkpoint_path: the checkpoint; the last one if None.
            hooks: SessionRunHooks.
            log_progress: whether batches are counted in the log.

        Returns:
            A dict of the metrics, "loss" and "global_step" among them.

        Raises:
            ValueError: arguments exclude each other, or metrics are no dict.
            NotFittedError: there is no checkpoint.
        """
        inputs.verify(x, y, input_fn, feed_fn, batch_size)
        if x is not None:
            return SKCompat(self).score(x, y, batch_size, steps, metrics, name)
        if metrics is not None and not isinstance(metrics, dict):
            raise ValueError(f"Metrics argument should be None or dict. Got {metrics}.")
        found, step = self._evaluate_model(
            *(input_fn, steps, feed_fn, metrics, name, checkpoint_path, hooks, log_progress)
        )
        if found is not None:
            found["global_step"] = step
        return found

    def predict(
        self,
        x: object = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        outputs: Sequence[str] | None = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        """The predictions for an input.

        Args:
            x: features: an array, a frame or an iterator; or
            input_fn: a function that gives tensors of features, or a dataset.
            batch_size: of arrays.
            outputs: the predictions that are wanted, by name; all if None.
            as_iterable: False gives arrays at once.
            iterate_batches: True gives whole batches.

        Returns:
            An iterator of the predictions of examples; arrays, by name if there are several.

        Raises:
            ValueError: arguments exclude each other, or there is no such prediction.
            NotFittedError: there is no checkpoint.
        """
        inputs.verify(x, None, input_fn, None, batch_size)
        if x is not None and not as_iterable:
            return SKCompat(self).predict(x, batch_size)
        made, feed_fn = inputs.input_and_feeds(x, None, input_fn, None, batch_size)
        return self._infer_model(made, feed_fn, outputs, as_iterable, iterate_batches)

    def export(self, export_dir: str, *args: Any, **kwargs: Any) -> bytes:
        """Writes an export as before SavedModels; arguments as of `exporting.export`.

        Returns:
            The path of the export's folder, as bytes.
        """
        return exporting.export(self, export_dir, *args, **kwargs)

    def get_variable_value(self, name: str) -> Any:
        """The value that a variable has in the last checkpoint, as an array."""
        return load_variable(self.model_dir, name)

    def get_variable_names(self) -> list[str]:
        """The names of the variables in the last checkpoint."""
        return [name for name, _ in list_variables(self.model_dir)]

    def _get_train_ops(self, features: Any, labels: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no ops to train with")

    def _get_predict_ops(self, features: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no ops to predict with")

    def _get_eval_ops(self, features: Any, labels: Any, metrics: Any) -> Any:
        raise NotImplementedError("_get_eval_ops not implemented in BaseEstimator")

    def _get_feature_ops_from_example(self, examples_batch: Any) -> Any:
        """The features that training had, read from serialized examples."""
        if self._features_info is None:
            raise ValueError("Features information missing, was fit() ever called?")
        return create_example_parser_from_signatures(self._features_info, examples_batch)

    def _check_inputs(self, features: Any, labels: Any) -> None:
        """Notes what inputs are like, and that later ones are, too."""
        if self._features_info is None:
            self._features_info = create_signatures(features)
        elif not tensors_compatible(features, self._features_info):
            raise ValueError(
                f"Features are incompatible with given information. Given features: {features}, "
                f"required signatures: {self._features_info}."
            )
        if labels is None:
            return
        if self._labels_info is None:
            self._labels_info = create_signatures(labels)
        elif not tensors_compatible(labels, self._labels_info):
            raise ValueError(
                f"Labels are incompatible with given information. Given labels: {labels}, required "
                f"signatures: {self._labels_info}."
            )

    def _require_checkpoint(self) -> str:
        path = latest_checkpoint(self._model_dir)
        if not path:
            raise NotFittedError(f"Couldn't find trained model at {self._model_dir}.")
        return path

    def _evaluate_model(
        self,
        input_fn: Callable[..., Any] | None,
        steps: int | None,
        feed_fn: Callable[[], Any] | None = None,
        metrics: dict[Any, Any] | None = None,
        name: str | None = "",
        checkpoint_path: str | None = None,
        hooks: Sequence[Any] | None = None,
        log_progress: bool = True,
    ) -> tuple[Any, Any]:
        if getattr(self._config, "execution_mode", "all") not in _EVALUATES:
            return None, None
        checkpoint_path = checkpoint_path or self._require_checkpoint()
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(self._config.tf_random_seed)
            step = create_global_step(graph)
            features, labels, input_hooks = inputs.called(input_fn)
            self._check_inputs(features, labels)
            ops = self._get_eval_ops(features, labels, metrics)
            update, values = split_updates(ops.eval_metric_ops)
            all_hooks = [*input_hooks, *(hooks or ())]
            if feed_fn:
                all_hooks.append(FeedFnHook(feed_fn))
            if steps == 0:
                log.warning(
                    "evaluation steps are 0. If `input_fn` does not raise `OutOfRangeError`, the "
                    "evaluation will never stop. Use steps=None if intended."
                )
            if steps:
                all_hooks.append(_StopAfterNEvalsHook(steps, log_progress=log_progress))
            key = GraphKeys.GLOBAL_STEP
            while key in values:
                key = f"_{key}"
            found = _evaluate_once(
                checkpoint_path=checkpoint_path,
                master=self._config.evaluation_master,
                scaffold=ops.scaffold,
                eval_ops=update,
                final_ops={**values, key: step},
                hooks=all_hooks,
                config=self._session_config,
            )
        folder = os.path.join(self._model_dir, f"eval_{name}" if name else "eval")
        results.write_dict_to_summary(folder, found, found[key])
        return found, found[key]

    def _infer_model(
        self,
        input_fn: Callable[..., Any] | None,
        feed_fn: Callable[[], Any] | None = None,
        outputs: Sequence[str] | None = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        path = self._require_checkpoint()
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(self._config.tf_random_seed)
            create_global_step(graph)
            features, _, hooks = inputs.called(input_fn)
            ops = self._get_predict_ops(features)
            wanted = _wanted(ops.predictions, outputs)
            creator = ChiefSessionCreator(
                checkpoint_filename_with_path=path,
                scaffold=ops.scaffold,
                config=self._session_config,
            )
            session = MonitoredSession(session_creator=creator, hooks=hooks)
        if as_iterable:
            # Without a queue, feeds or a dataset nothing would ever end the input.
            once = feed_fn is None and not hooks
            once = once and not graph.get_collection(GraphKeys.QUEUE_RUNNERS)
            return _predictions(session, wanted, feed_fn, iterate_batches, once)
        with session:
            if not session.should_stop():
                return session.run(wanted, feed_fn() if feed_fn else None)
        return None

    def _train_model(self, input_fn: Callable[..., Any] | None, hooks: list[Any]) -> Any:
        self._graph = tf.Graph()
        with self._graph.as_default() as graph, graph.device(self._device_fn):
            tf.set_random_seed(self._config.tf_random_seed)
            step = create_global_step(graph)
            features, labels, input_hooks = inputs.called(input_fn)
            self._check_inputs(features, labels)
            _get_or_create_global_step_read(graph)
            ops = self._get_train_ops(features, labels)
            return training.train(
                *(ops, step, [*input_hooks, *hooks], self._config),
                *(self._model_dir, self._session_config),
            )


def _wanted(predictions: Any, outputs: Sequence[str] | None) -> Any:
    if not outputs:
        return predictions
    if not isinstance(predictions, dict):
        raise ValueError("outputs argument is not valid in case of non-dict predictions.")
    found = {key: value for key, value in predictions.items() if key in outputs}
    if not found:
        raise ValueError(
            f"Expected to run at least one output from {predictions.keys()}, provided {outputs}."
        )
    return found


def _predictions(
    session: Any, wanted: Any, feed_fn: Callable[[], Any] | None, iterate_batches: bool, once: bool
) -> Iterator[Any]:
    with session:
        while not session.should_stop():
            batch = session.run(wanted, feed_fn() if feed_fn else None)
            if iterate_batches:
                yield batch
            elif not isinstance(wanted, dict):
                yield from batch
            else:
                first = next(iter(batch.values()))
                shape = getattr(first, "dense_shape", None)
                for i in range(first.shape[0] if shape is None else shape[0]):
                    yield {key: value[i] for key, value in batch.items()}
            if once:
                return


def _as_they_are(features: Any, labels: Any) -> tuple[Any, Any]:
    return features, labels


@export("contrib.learn.Estimator")
class Estimator(BaseEstimator):
    """A model that is stated by a function.

    Args:
        model_fn: called with features, labels, and as it takes them mode, params, config and
            model_dir; gives ModelFnOps, or predictions, loss and train_op.
        model_dir: the folder of checkpoints and events.
        config: a RunConfig.
        params: hyperparameters.
        feature_engineering_fn: a function of features and labels, which gives others.

    Raises:
        ValueError: hyperparameters are given that model_fn does not take.

    Example:
        >>> def model_fn(features, labels, mode):
        ...     w = tf.get_variable("w", [])
        ...     predictions = w * features[:, 0]
        ...     loss = tf.reduce_mean((predictions - labels) ** 2)
        ...     step = tf.train.GradientDescentOptimizer(0.5).minimize(
        ...         loss, tf.train.get_global_step())
        ...     return predictions, loss, step
        >>> estimator = tf.contrib.learn.SKCompat(tf.contrib.learn.Estimator(model_fn))
        >>> x = np.array([[1.0], [-1.0]], np.float32)
        >>> _ = estimator.fit(x, 2 * x[:, 0], steps=20)
        >>> estimator.predict(x).round(2).tolist()
        [2.0, -2.0]
    """

    def __init__(
        self,
        model_fn: Callable[..., Any] | None = None,
        model_dir: str | None = None,
        config: Any = None,
        params: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(model_dir=model_dir, config=config)
        if model_fn is not None:
            takes_params = "params" in inputs.arguments(model_fn)
            if params is not None and not takes_params:
                raise ValueError(
                    f"Estimator's model_fn ({model_fn}) does not have a params argument, but "
                    f"params ({params}) were passed to the Estimator's constructor."
                )
            if params is None and takes_params:
                log.warning(
                    "Estimator's model_fn (%s) includes params argument, but params are not passed "
                    "to Estimator.",
                    model_fn,
                )
        self._model_fn = model_fn
        self.params = params
        self._feature_engineering_fn = feature_engineering_fn or _as_they_are

    def _call_model_fn(
        self,
        features: Any,
        labels: Any,
        mode: str,
        metrics: dict[Any, Any] | None = None,
        config: Any = None,
    ) -> ModelFnOps:
        features, labels = self._feature_engineering_fn(features, labels)
        model_fn: Any = self._model_fn
        offered = {
            "mode": mode,
            "params": self.params,
            "config": config or self.config,
            "model_dir": self.model_dir,
        }
        taken = inputs.arguments(model_fn)
        found = model_fn(features, labels, **{k: v for k, v in offered.items() if k in taken})
        if not isinstance(found, ModelFnOps):
            if len(found) != 3:
                raise ValueError(
                    "Unrecognized value returned by model_fn, please return ModelFnOps."
                )
            found = ModelFnOps(mode, *found)
        if metrics:
            made = make_metrics_ops(metrics, features, labels, found.predictions)
            found.eval_metric_ops.update(made)
        return found

    def _get_train_ops(self, features: Any, labels: Any) -> Any:
        return self._call_model_fn(features, labels, ModeKeys.TRAIN)

    def _get_eval_ops(self, features: Any, labels: Any, metrics: Any) -> Any:
        found = self._call_model_fn(features, labels, ModeKeys.EVAL, metrics)
        if MetricKey.LOSS not in found.eval_metric_ops:
            found.eval_metric_ops[MetricKey.LOSS] = mean(found.loss)
        return found

    def _get_predict_ops(self, features: Any) -> Any:
        labels = create_placeholders_from_signatures(self._labels_info)
        return self._call_model_fn(features, labels, ModeKeys.INFER)

    def export_savedmodel(
        self,
        export_dir_base: str | bytes,
        serving_input_fn: Callable[[], Any] | None,
        default_output_alternative_key: str | None = None,
        assets_extra: dict[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        graph_rewrite_specs: Any = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """Writes a SavedModel with the values of a checkpoint.

        Args:
            export_dir_base: the folder in which the model's is made, named by the time.
            serving_input_fn: gives InputFnOps.
            default_output_alternative_key: the head that serves, if there are several.
            assets_extra: files to copy, by their paths below the model's assets.extra.
            as_text: whether the graph is written as text.
            checkpoint_path: the checkpoint; the last one if None.
            graph_rewrite_specs: GraphRewriteSpecs, of which numbaflow takes one without transforms.
            strip_default_attrs: whether attributes with their defaults are left out.

        Returns:
            The model's folder, as bytes.

        Raises:
            ValueError: there is no function, or several heads and no default.
            NotFittedError: there is no checkpoint.
        """
        if serving_input_fn is None:
            raise ValueError("serving_input_fn must be defined.")
        path = checkpoint_path or self._require_checkpoint()
        return exporting.export_savedmodel(
            self,
            export_dir_base,
            serving_input_fn,
            default_output_alternative_key,
            assets_extra,
            as_text,
            path,
            graph_rewrite_specs,
            strip_default_attrs,
        )
