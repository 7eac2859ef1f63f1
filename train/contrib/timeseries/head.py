# SPDX-License-Identifier: Apache-2.0
"""What estimators of time series do in each mode: heads."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from ....engine.api import export
from ....engine.graph.collections import GraphKeys
from ....engine.graph.convert import convert_to_tensor_or_sparse_tensor
from ....engine.types import dtypes, nest
from ....ops.metrics.means import mean
from ....ops.public import tf
from ....ops.summaries.api import scalar
from ...estimator.export_output import PredictOutput
from ...estimator.mode_keys import ModeKeys
from ...estimator.model_fn import EstimatorSpec
from ...variables.global_step import get_global_step
from ..structures import Structure
from .feature_keys import (
    FilteringFeatures,
    FilteringResults,
    PredictionFeatures,
    PredictionResults,
    SavedModelLabels,
    State,
    TrainEvalFeatures,
)
from .model import ModelOutputs, TimeSeriesModel, without
from .state_management import PassthroughStateManager

_Features = dict[str, Any]


class _NoStatePredictOutput(PredictOutput):
    """Predictions of models that are served without a state."""

    def as_signature_def(self, receiver_tensors: _Features) -> Any:
        """The signature without the state's parts among its inputs."""
        prefix = State.STATE_PREFIX
        inputs = {k: v for k, v in receiver_tensors.items() if not k.startswith(prefix)}
        return super().as_signature_def(receiver_tensors=inputs)


class TimeSeriesRegressionHead:
    """Trains, evaluates, predicts with and serves a model of time series.

    Args:
        model: the model.
        state_manager: says from which state windows begin.
        optimizer: trains it.
        input_statistics_generator: an InputStatisticsFromMiniBatch, or None.
        name: of the scope.
    """

    def __init__(
        self,
        model: TimeSeriesModel,
        state_manager: PassthroughStateManager,
        optimizer: Any,
        input_statistics_generator: Any = None,
        name: str | None = None,
    ) -> None:
        self.model = model
        self.state_manager = state_manager
        self.optimizer = optimizer
        self.input_statistics_generator = input_statistics_generator
        self._name = name

    @property
    def name(self) -> str | None:
        """The name of the scope."""
        return self._name

    @property
    def logits_dimension(self) -> int:
        """1: heads have one, which does not count here."""
        return 1

    def create_loss(
        self, features: _Features, mode: str, logits: Structure = None, labels: Structure = None
    ) -> ModelOutputs:
        """The model's outputs, of which the loss is written as a summary."""
        outputs = self.state_manager.define_loss(self.model, features, mode)
        scalar(f"loss/{self._name}" if self._name else "loss", outputs.loss)
        return outputs

    def _train_ops(self, features: _Features) -> EstimatorSpec:
        with tf.variable_scope("model", use_resource=True):
            outputs = self.create_loss(features, ModeKeys.TRAIN)
        train_op = self.optimizer.minimize(outputs.loss, global_step=get_global_step())
        return EstimatorSpec(loss=outputs.loss, mode=ModeKeys.TRAIN, train_op=train_op)

    def _evaluate_ops(self, features: _Features) -> EstimatorSpec:
        with tf.variable_scope("model", use_resource=True):
            outputs = self.create_loss(features, ModeKeys.EVAL)
        singles = {**outputs.predictions, FilteringResults.TIMES: outputs.prediction_times}
        metrics = {key: _identity_metric_single(key, value) for key, value in singles.items()}
        key = FilteringResults.STATE_TUPLE
        metrics[key] = _identity_metric_nested(key, outputs.end_state)
        metrics["average_loss"] = mean(outputs.loss, name="average_loss")
        return EstimatorSpec(
            loss=outputs.loss,
            mode=ModeKeys.EVAL,
            eval_metric_ops=metrics,
            predictions=outputs.predictions,
        )

    def _predict_ops(self, features: _Features) -> EstimatorSpec:
        with tf.variable_scope("model", use_resource=True):
            prediction = self.model.predict(features=features)
        prediction[PredictionResults.TIMES] = features[PredictionFeatures.TIMES]
        return EstimatorSpec(predictions=prediction, mode=ModeKeys.PREDICT)

    def _serving_ops(self, features: _Features) -> EstimatorSpec:
        with tf.variable_scope("model", use_resource=True):
            predicted = self.model.predict(features=features)
        with tf.variable_scope("model", reuse=True):
            filtered = self.create_loss(dict(features), ModeKeys.EVAL)
        with tf.variable_scope("model", reuse=True):
            no_state = without(features, State.STATE_TUPLE)
            cold = self.model.define_loss(features=no_state, mode=ModeKeys.EVAL)
        cold_state = state_to_dictionary(cold.end_state)
        return EstimatorSpec(
            mode=ModeKeys.PREDICT,
            export_outputs={
                SavedModelLabels.PREDICT: PredictOutput(predicted),
                SavedModelLabels.FILTER: PredictOutput(state_to_dictionary(filtered.end_state)),
                SavedModelLabels.COLD_START_FILTER: _NoStatePredictOutput(cold_state),
            },
            predictions={},
        )

    def _convert_feature_to_tensor(self, name: str, value: Structure) -> Any:
        if name == TrainEvalFeatures.TIMES:
            return tf.cast(value, dtypes.int64)
        if name == TrainEvalFeatures.VALUES:
            return tf.cast(value, self.model.dtype)
        if name == PredictionFeatures.STATE_TUPLE:
            return value
        return convert_to_tensor_or_sparse_tensor(value)

    def _gather_state(self, features: _Features) -> tuple[_Features, bool]:
        """Features with the state's numbered parts as one, and whether there were such."""
        pattern = re.compile(f"^{State.STATE_PREFIX}_(\\d+)$")
        matches = [(pattern.search(key), key) for key in features]
        numbered = sorted((int(found[1]), key) for found, key in matches if found)
        if not numbered:
            return features, False
        parts = [features[key] for _, key in numbered]
        rest = without(features, *(key for _, key in numbered))
        state = nest.pack_sequence_as(self.model.get_start_state(), parts)
        return {**rest, State.STATE_TUPLE: state}, True

    def _check_predict_features(self, features: _Features) -> None:
        _require(features, (PredictionFeatures.TIMES, PredictionFeatures.STATE_TUPLE), "prediction")
        _check_times(features, {PredictionFeatures.STATE_TUPLE})

    def create_estimator_spec(
        self, features: _Features, mode: str, labels: Structure = None
    ) -> EstimatorSpec:
        """The EstimatorSpec of a mode; it is the estimator's model function.

        Args:
            features: by name; a state is whole, or its parts are numbered.
            mode: of tf.estimator.ModeKeys.
            labels: None.

        Raises:
            ValueError: there are labels, a feature is missing or has another shape, or there is
                no such mode.
        """
        with tf.name_scope(self._name, "head"):
            if labels is not None and labels != {}:
                raise ValueError(
                    "The model received a `labels`, which is not supported. Pass "
                    f"'{TrainEvalFeatures.TIMES}' and '{TrainEvalFeatures.VALUES}' as features."
                )
            features = {k: self._convert_feature_to_tensor(k, v) for k, v in features.items()}
            statistics = None
            if self.input_statistics_generator is not None:
                statistics = self.input_statistics_generator.initialize_graph(
                    features, update_statistics=mode == ModeKeys.TRAIN
                )
            self.model.initialize_graph(input_statistics=statistics)
            features, has_parts = self._gather_state(features)
            if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
                _check_train_eval_features(features, self.model)
            elif mode == ModeKeys.PREDICT:
                self._check_predict_features(features)
            else:
                raise ValueError(f"Unknown mode '{mode}' passed to model_fn.")
            self.state_manager.initialize_graph(model=self.model, input_statistics=statistics)
            if mode == ModeKeys.TRAIN:
                return self._train_ops(features)
            if mode == ModeKeys.EVAL:
                return self._evaluate_ops(features)
            return self._serving_ops(features) if has_parts else self._predict_ops(features)


@export("contrib.timeseries.OneShotPredictionHead")
class OneShotPredictionHead(TimeSeriesRegressionHead):
    """A head that is served values and times to predict at once, without a state."""

    def _check_predict_features(self, features: _Features) -> None:
        names = (
            PredictionFeatures.TIMES,
            TrainEvalFeatures.VALUES,
            PredictionFeatures.STATE_TUPLE,
        )
        _require(features, names, "prediction")
        _check_times(features, set(names[1:]))

    def _evaluate_ops(self, features: _Features) -> EstimatorSpec:
        spec = super()._evaluate_ops(features)
        del spec.eval_metric_ops[State.STATE_TUPLE]
        return spec

    def _serving_ops(self, features: _Features) -> EstimatorSpec:
        values = FilteringFeatures.VALUES
        with tf.variable_scope("model", use_resource=True):
            length = tf.shape(features[values])[1]
            others = without(features, State.STATE_TUPLE, values)
            before = {key: value[:, :length] for key, value in others.items()}
            cold = self.model.define_loss(
                features={**before, values: features[values]}, mode=ModeKeys.EVAL
            )
            after = {key: value[:, length:] for key, value in others.items()}
            after[State.STATE_TUPLE] = cold.end_state
        with tf.variable_scope("model", reuse=True):
            predicted = self.model.predict(features=after)
        return EstimatorSpec(
            mode=ModeKeys.PREDICT,
            export_outputs={SavedModelLabels.PREDICT: _NoStatePredictOutput(predicted)},
            predictions={},
        )


def _require(features: _Features, names: Collection[str], purpose: str) -> None:
    for name in names:
        if name not in features:
            raise ValueError(f"Expected a '{name}' feature for {purpose}.")


def _check_times(features: _Features, ignore: set[str]) -> None:
    """Raises ValueError unless times, and features like them, have two dimensions and more."""
    name = PredictionFeatures.TIMES
    times = features[name]
    if not times.shape.is_compatible_with([None, None]):
        raise ValueError(
            f"Expected shape (batch dimension, window size) for feature '{name}' (got shape "
            f"{times.shape})"
        )
    _check_feature_shapes_compatible_with(features, name, times, ignore)


def _check_feature_shapes_compatible_with(
    features: _Features,
    compatible_with_name: str,
    compatible_with_value: Structure,
    ignore: Collection[str] = (),
) -> None:
    """Raises ValueError for features that have not a batch and a window as the times have."""
    for name, value in features.items():
        if name in ignore or value.shape.ndims is None:
            continue
        if value.shape.ndims < 2:
            raise ValueError(
                "Features must have shape (batch dimension, window size, ...) (got rank "
                f"{value.shape.ndims} for feature '{name}')"
            )
        if not value.shape[:2].is_compatible_with(compatible_with_value.shape):
            raise ValueError(
                "Features must have shape (batch dimension, window size, ...) where batch "
                f"dimension and window size match the '{compatible_with_name}' feature (got shape "
                f"{value.shape} for feature '{name}' but shape {compatible_with_value.shape} for "
                f"feature '{compatible_with_name}')"
            )


def _check_train_eval_features(features: _Features, model: TimeSeriesModel) -> None:
    """Raises ValueError unless times and values are there and of their shapes."""
    names = (TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES)
    _require(features, names, "training/evaluation")
    times, values = (features[name] for name in names)
    if times.shape.is_compatible_with([None, None]) and not values.shape.is_compatible_with(
        [None, None, model.num_features]
    ):
        raise ValueError(
            f"Expected shape (batch dimension, window size, {model.num_features}) for feature "
            f"'{names[1]}', since the model was configured with num_features={model.num_features} "
            f"(got shape {times.shape})"
        )
    _check_times(features, {State.STATE_TUPLE})


def _identity_metric_single(name: str, input_tensor: Structure) -> tuple[Any, Any]:
    """A metric that is what a tensor was in the last batch."""
    variable = tf.Variable(
        tf.zeros([], dtype=input_tensor.dtype),
        name=f"{name}_identity_metric",
        collections=[GraphKeys.LOCAL_VARIABLES],
        validate_shape=False,
        use_resource=False,
    )
    update = tf.assign(variable, input_tensor, validate_shape=False)
    variable.set_shape(input_tensor.shape)
    return variable.value(), update


def _identity_metric_nested(name: str, input_tensors: Structure) -> tuple[Any, Any]:
    """A metric that is what tensors were in the last batch."""
    flat = nest.flatten(input_tensors)
    made = [_identity_metric_single(f"{name}_{i}", tensor) for i, tensor in enumerate(flat)]
    values = nest.pack_sequence_as(input_tensors, [value for value, _ in made])
    return values, tf.group(*[update for _, update in made])


def state_to_dictionary(state_tuple: Structure) -> _Features:
    """The parts of a state by their numbered names."""
    flat = nest.flatten(state_tuple)
    return {f"{State.STATE_PREFIX}_{i:02d}": value for i, value in enumerate(flat)}
