# SPDX-License-Identifier: Apache-2.0
"""Models that predict a window of values from the window before: `ARModel`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor
from ....engine.types import dtypes
from ....ops.nn.activation import relu
from ....ops.public import tf
from ...estimator.mode_keys import ModeKeys
from ..structures import Structure
from . import math_utils, model
from .ar_prediction import predict_windows
from .feature_keys import PredictionFeatures, TrainEvalFeatures
from .prediction_models import FlatPredictionModel, LSTMPredictionModel

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor

__all__ = ["ARModel", "AnomalyMixtureARModel", "FlatPredictionModel", "LSTMPredictionModel"]
_LEAST_VARIANCE = 1e-5


@export("contrib.timeseries.ARModel")
class ARModel(model.TimeSeriesModel):
    """Values that follow from those before and from the time (tf.contrib.timeseries.ARModel).

    Args:
        periodicities: after how many times a series repeats itself, one or several; without
            input windows there must be some.
        input_window_size: how many values predictions are made of.
        output_window_size: how many are predicted at once.
        num_features: how many values there are at a time.
        prediction_model_factory: makes the network: a function of num_features,
            input_window_size and output_window_size.
        num_time_buckets: into how many parts a period is cut.
        loss: ARModel.NORMAL_LIKELIHOOD_LOSS or SQUARED_LOSS.
        exogenous_feature_columns: columns of what is known at all times.
    """

    SQUARED_LOSS = "squared_loss"
    NORMAL_LIKELIHOOD_LOSS = "normal_likelihood_loss"

    def __init__(
        self,
        periodicities: Any,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        prediction_model_factory: Callable[..., Any] = FlatPredictionModel,
        num_time_buckets: int = 10,
        loss: str = NORMAL_LIKELIHOOD_LOSS,
        exogenous_feature_columns: Sequence[Any] | None = None,
    ) -> None:
        self._model_factory = prediction_model_factory
        self.input_window_size = input_window_size
        self.output_window_size = output_window_size
        self.window_size = input_window_size + output_window_size
        self.loss = loss
        super().__init__(
            num_features=num_features, exogenous_feature_columns=exogenous_feature_columns
        )
        self.exogenous_size = 0
        if exogenous_feature_columns is not None:
            self.exogenous_size = self._get_exogenous_embedding_shape()[-1]
        self._buckets = int(num_time_buckets)
        if not isinstance(periodicities, (list, tuple)):
            periodicities = [periodicities] if periodicities else []
        self._periodicities = [int(period) for period in periodicities]
        if min([self._buckets, output_window_size, *self._periodicities]) <= 0:
            raise AssertionError("periods, buckets of time and output windows must be positive")
        if not (self._periodicities or input_window_size):
            raise AssertionError("periodicities or an input window must be given")

    def initialize_graph(self, input_statistics: Any = None) -> None:
        """Makes the network; as of TimeSeriesModel."""
        super().initialize_graph(input_statistics=input_statistics)
        self._model_scope = tf.variable_scope("model/", use_resource=True)
        self._model_instance = self._model_factory(
            num_features=self.num_features,
            input_window_size=self.input_window_size,
            output_window_size=self.output_window_size,
        )

    def get_start_state(self) -> tuple[Any, Any, Any]:
        """No times, values and other knowledge before: zeros."""
        size = self.input_window_size
        return (
            tf.zeros([size], dtype=dtypes.int64),
            tf.zeros([size, self.num_features], dtype=self.dtype),
            tf.zeros([size, self.exogenous_size], dtype=self.dtype),
        )

    def random_model_parameters(self, seed: int | None = None) -> None:
        """None: the model draws no series."""

    def generate(
        self,
        number_of_series: int,
        series_length: int,
        model_parameters: Any = None,
        seed: int | None = None,
    ) -> None:
        """None: the model draws no series."""

    def prediction_ops(
        self, times: Structure, values: Structure, exogenous_regressors: Structure
    ) -> dict[str, Any]:
        """Means and variances of the output window.

        Args:
            times: [batch, window_size].
            values: [batch, input_window_size, num_features], scaled.
            exogenous_regressors: [batch, window_size, n].

        Returns:
            "mean" and "covariance", [batch, output_window_size, num_features].
        """
        times.shape.assert_is_compatible_with([None, self.window_size])
        batch_size = tf.shape(times)[0]
        sizes = (self.input_window_size, self.output_window_size)
        inputs: list[Any] = []
        outputs: list[Any] = []
        input_size = output_size = 0
        if self._periodicities:
            _, features = self._compute_time_features(times)
            count = self._buckets * len(self._periodicities)
            features = tf.reshape(features, [batch_size, self.window_size, count])
            _add(inputs, outputs, tf.split(features, sizes, axis=1))
            input_size, output_size = input_size + count, output_size + count
        if self.input_window_size:
            shape = [None, self.input_window_size, self.num_features]
            values.shape.assert_is_compatible_with(shape)
            taken = tf.slice(values, [0, 0, 0], [-1, self.input_window_size, -1])
            inputs.append(tf.reshape(taken, [batch_size, *shape[1:]]))
            input_size += self.num_features
        if self.exogenous_size:
            shape = [None, self.window_size, self.exogenous_size]
            exogenous_regressors.shape.assert_is_compatible_with(shape)
            _add(inputs, outputs, tf.split(exogenous_regressors, sizes, axis=1))
            input_size += self.exogenous_size
            output_size += self.exogenous_size
        before = tf.concat(inputs, axis=2)
        after: Structure = tf.zeros([batch_size, self.output_window_size, 0], dtype=self.dtype)
        if outputs:
            after = tf.concat(outputs, axis=2)
        batch = times.shape[0].value
        before.set_shape([batch, self.input_window_size, input_size])
        after.set_shape([batch, self.output_window_size, output_size])
        return self._output_window_predictions(before, after)

    def _output_window_predictions(self, before: Structure, after: Structure) -> dict[str, Any]:
        with self._model_scope:
            predictions: dict[str, Any] = self._model_instance(before, after)
            for tensor in predictions.values():
                tensor.set_shape([None, self.output_window_size, self.num_features])
            return predictions

    def loss_op(self, targets: Structure, prediction_ops: dict[str, Any]) -> Any:
        """The loss per value."""
        if self.loss == ARModel.NORMAL_LIKELIHOOD_LOSS:
            sigma = tf.sqrt(tf.maximum(prediction_ops["covariance"], _LEAST_VARIANCE))
            log_prob = math_utils.normal_log_prob(targets, sigma, prediction_ops["mean"])
            total = -tf.reduce_sum(log_prob)
        elif self.loss == ARModel.SQUARED_LOSS:
            total = tf.reduce_sum(tf.squared_difference(prediction_ops["mean"], targets))
        else:
            raise AssertionError(self.loss)
        return total / tf.cast(tf.reduce_prod(tf.shape(targets)), total.dtype)

    def _process_exogenous_features(self, times: Structure, features: dict[str, Any]) -> Any:
        """As of TimeSeriesModel, and nothing [batch, window, 0] without columns."""
        embedded = super()._process_exogenous_features(times=times, features=features)
        if embedded is not None:
            return embedded
        return tf.zeros(tf.concat([tf.shape(times), tf.constant([0])], axis=0))

    def predict(self, features: dict[str, Any]) -> dict[str, Any]:
        """Means and variances at times, window by window.

        Args:
            features: times, the state of an evaluation, and what is known of the times.

        Returns:
            "mean" and "covariance", [batch, times, num_features].
        """
        if not self._graph_initialized:
            self.initialize_graph()
        times = tf.cast(convert_to_tensor(features[PredictionFeatures.TIMES]), dtypes.int32)
        known = model.without(
            features,
            *(TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES, PredictionFeatures.STATE_TUPLE),
        )
        exogenous = self._process_exogenous_features(times=times, features=known)
        check = tf.assert_equal(tf.shape(times)[1], tf.shape(exogenous)[1])
        with tf.control_dependencies([check]):
            exogenous = tf.identity(exogenous)
        found = predict_windows(self, times, exogenous, features[PredictionFeatures.STATE_TUPLE])
        mean, covariance = found
        if covariance is None:
            covariance = tf.ones_like(mean)
        return {
            "mean": self._scale_back_data(mean),
            "covariance": self._scale_back_variance(covariance),
        }

    def _process_window(
        self, features: dict[str, Any], mode: str, exogenous_regressors: Any
    ) -> model.ModelOutputs:
        """The loss of one window."""
        times = tf.cast(features[TrainEvalFeatures.TIMES], dtypes.int64)
        original = tf.cast(features[TrainEvalFeatures.VALUES], self.dtype)
        exogenous = tf.cast(exogenous_regressors, self.dtype)
        if not times.shape.is_compatible_with([None, self.window_size]):
            raise ValueError(
                f"ARModel with input_window_size={self.input_window_size} and output_window_size="
                f"{self.output_window_size} expects feature '{TrainEvalFeatures.TIMES}' to have "
                f"shape (batch_size, {self.window_size}) (for any batch_size), but got shape "
                f"{times.shape}. If you are using RandomWindowInputFn, set window_size="
                f"{self.window_size} or adjust the input_window_size and output_window_size "
                "arguments to ARModel."
            )
        size = self.input_window_size
        values = self._scale_data(original)
        found = self.prediction_ops(times, values[:, :size, :] if size > 0 else None, exogenous)
        targets = tf.slice(values, [0, size, 0], [-1, -1, -1])
        targets.shape.assert_is_compatible_with(found["mean"].shape)
        mean = self._scale_back_data(found["mean"])
        if mode == ModeKeys.EVAL and self.loss == ARModel.SQUARED_LOSS:
            loss = self.loss_op(self._scale_back_data(targets), {"mean": mean})
        else:
            loss = self.loss_op(targets, found)
        return model.ModelOutputs(
            loss=loss,
            end_state=(times[:, -size:], values[:, -size:, :], exogenous[:, -size:, :]),
            predictions={
                "mean": mean,
                "covariance": self._scale_back_variance(found["covariance"]),
                "observed": original[:, -self.output_window_size :],
            },
            prediction_times=times[:, -self.output_window_size :],
        )

    def get_batch_loss(
        self, features: dict[str, Any], mode: str, state: Structure
    ) -> model.ModelOutputs:
        """The loss of windows: one in training, all that fit in evaluation.

        Raises:
            ValueError: a window has not the size that is needed, or there is no such mode.
        """
        tensors = {name: convert_to_tensor(value) for name, value in features.items()}
        times = tensors[TrainEvalFeatures.TIMES]
        known = model.without(
            tensors,
            *(TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES, PredictionFeatures.STATE_TUPLE),
        )
        exogenous = self._process_exogenous_features(times=times, features=known)
        if mode == ModeKeys.TRAIN:
            return self._process_window(tensors, mode=mode, exogenous_regressors=exogenous)
        if mode != ModeKeys.EVAL:
            raise ValueError(f"Unknown mode '{mode}' passed to get_batch_loss.")
        times.shape.assert_has_rank(2)
        static = times.shape[1].value
        if static is not None and static < self.window_size:
            raise ValueError(
                "ARModel requires a window of at least input_window_size + output_window_size to "
                f"evaluate on (input_window_size={self.input_window_size}, output_window_size="
                f"{self.output_window_size}, and got shape {times.shape} for feature "
                f"'{TrainEvalFeatures.TIMES}' (batch size, window size))."
            )
        return self._evaluate(tensors, exogenous, state)

    def _evaluate(
        self, features: dict[str, Any], exogenous: Structure, state: Structure
    ) -> model.ModelOutputs:
        """The mean loss of all windows that fit, the last at the end."""
        whole = features[TrainEvalFeatures.TIMES]
        step, size = self.output_window_size, self.window_size
        count = (tf.shape(whole)[1] - self.input_window_size) // step
        crop = count * step + self.input_window_size
        features = {name: value[:, -crop:] for name, value in features.items()}
        keys = ("mean", "covariance")

        def body(i: Any, losses: Any, *found: Any) -> tuple[Any, ...]:
            offset = i * step
            made = self._process_window(
                {name: value[:, offset : offset + size] for name, value in features.items()},
                mode=ModeKeys.EVAL,
                exogenous_regressors=exogenous[:, offset : offset + size],
            )
            rows = [array.write(i, made.predictions[key]) for array, key in zip(found, keys)]
            return (i + 1, losses.write(i, made.loss), *rows)

        arrays = [tf.TensorArray(dtype=self.dtype, size=count) for _ in range(3)]
        _, losses, *found = tf.while_loop(lambda i, *unused: i < count, body, [0, *arrays])
        values = tf.cast(features[TrainEvalFeatures.VALUES], self.dtype)
        times = features[TrainEvalFeatures.TIMES]
        shape = [tf.shape(times)[0], step * count, self.num_features]
        predictions = {
            key: tf.reshape(tf.transpose(array.stack(), [1, 0, 2, 3]), shape)
            for key, array in zip(keys, found)
        }
        predictions["observed"] = values[:, -(count * step) :]
        known = (tf.cast(times, dtypes.int64), self._scale_data(values), exogenous)
        return model.ModelOutputs(
            loss=tf.reduce_mean(losses.stack(), axis=0),
            end_state=self._continued(state, known),
            predictions=predictions,
            prediction_times=times[:, -(count * step) :],
        )

    def _continued(self, state: Structure, known: Structure) -> Any:
        """The last input window of a state and of what came then."""
        size = self.input_window_size
        if size <= 0:
            return state

        def joined(old: Structure, new: Structure, *shape: int) -> Tensor:
            found = tf.concat([old, new], axis=1)[:, -size:]
            found.set_shape((None, size, *shape))
            return found

        shapes: Any = ((), (self.num_features,), (self.exogenous_size,))
        rows = zip(state, known, shapes)
        return tuple(joined(old, new, *shape) for old, new, shape in rows)

    def _compute_time_features(self, time: Structure) -> tuple[Any, Any]:
        """Which period times are in, and which part of it, [batch, window, periods, buckets]."""
        count = len(self._periodicities)
        periods = tf.constant(self._periodicities, shape=[1, 1, count, 1], dtype=time.dtype)
        time = tf.reshape(time, [tf.shape(time)[0], -1, 1, 1])
        window_offset = time / self._periodicities
        place = tf.cast(time % periods, self.dtype) * self._buckets / tf.cast(periods, self.dtype)
        buckets = tf.range(self._buckets, dtype=self.dtype)
        place = relu(place - tf.reshape(buckets, [1, 1, 1, self._buckets]))
        return window_offset, tf.where(place < 1.0, place, tf.zeros_like(place))


def _add(inputs: list[Any], outputs: list[Any], parts: Sequence[Any]) -> None:
    inputs.append(parts[0])
    outputs.append(parts[1])


class AnomalyMixtureARModel(ARModel):
    """An ARModel of values of which some are anomalies, normal or Cauchy's around predictions.

    Args:
        anomaly_prior_probability: how likely an anomaly is, between 0 and 1.
        anomaly_distribution: AnomalyMixtureARModel.GAUSSIAN_ANOMALY or CAUCHY_ANOMALY.
        The others are as of ARModel.
    """

    GAUSSIAN_ANOMALY = "gaussian"
    CAUCHY_ANOMALY = "cauchy"

    def __init__(
        self,
        periodicities: Any,
        anomaly_prior_probability: float,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        prediction_model_factory: Callable[..., Any] = FlatPredictionModel,
        anomaly_distribution: str = GAUSSIAN_ANOMALY,
        num_time_buckets: int = 10,
        exogenous_feature_columns: Sequence[Any] | None = None,
    ) -> None:
        if not 0.0 < anomaly_prior_probability < 1.0:
            raise AssertionError(f"{anomaly_prior_probability} is no probability of anomalies")
        if anomaly_distribution not in (self.GAUSSIAN_ANOMALY, self.CAUCHY_ANOMALY):
            raise AssertionError(f"there is no distribution {anomaly_distribution} of anomalies")
        self._anomaly_prior_probability = anomaly_prior_probability
        self._anomaly_distribution = anomaly_distribution
        super().__init__(
            periodicities=periodicities,
            num_features=num_features,
            num_time_buckets=num_time_buckets,
            input_window_size=input_window_size,
            output_window_size=output_window_size,
            loss=ARModel.NORMAL_LIKELIHOOD_LOSS,
            prediction_model_factory=prediction_model_factory,
            exogenous_feature_columns=exogenous_feature_columns,
        )

    def prediction_ops(
        self, times: Structure, values: Structure, exogenous_regressors: Structure
    ) -> dict[str, Any]:
        """As of ARModel, and the scale of anomalies."""
        found = super().prediction_ops(times, values, exogenous_regressors)
        parameter = tf.get_variable(
            "anomaly_log_param", shape=[], dtype=self.dtype, initializer=tf.zeros_initializer()
        )
        return {**found, "anomaly_params": tf.exp(parameter)}

    def _anomaly_log_prob(self, targets: Structure, prediction_ops: dict[str, Any]) -> Any:
        mean, scale = prediction_ops["mean"], prediction_ops["anomaly_params"]
        if self._anomaly_distribution == self.CAUCHY_ANOMALY:
            return math_utils.cauchy_log_prob(targets, scale, mean)
        sigma = tf.sqrt(tf.maximum(scale, _LEAST_VARIANCE))
        return math_utils.normal_log_prob(targets, sigma, mean)

    def loss_op(self, targets: Structure, prediction_ops: dict[str, Any]) -> Any:
        """The loss per value of the mixture."""
        sigma = tf.sqrt(tf.maximum(prediction_ops["covariance"], _LEAST_VARIANCE))
        prior = self._anomaly_prior_probability
        usual = math_utils.normal_log_prob(targets, sigma, prediction_ops["mean"])
        usual += tf.log(1 - prior)
        anomaly = self._anomaly_log_prob(targets, prediction_ops) + tf.log(prior)
        less, more = tf.minimum(usual, anomaly), tf.maximum(usual, anomaly)
        total = -tf.reduce_sum(more + tf.log(1 + tf.exp(less - more)))
        return total / tf.cast(tf.reduce_prod(tf.shape(targets)), self.dtype)
