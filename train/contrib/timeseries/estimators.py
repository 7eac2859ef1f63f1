# SPDX-License-Identifier: Apache-2.0
"""Estimators of time series."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ....engine.api import export
from ....engine.graph.constants import constant_value
from ....engine.types import dtypes, nest
from ....engine.types.shape import TensorShape
from ....ops.parsing.features import FixedLenFeature
from ....ops.parsing.public import parse_example
from ....ops.public import tf
from ...estimator.estimator import Estimator
from ...estimator.export import ServingInputReceiver
from ...estimator.optimizers import optimizer_of
from ...feature_column.input_layer import make_parse_example_spec
from ...feature_column.numeric import numeric_column
from ...optimizers.adaptive import AdagradOptimizer
from ...optimizers.gradient_descent import AdamOptimizer
from ..structures import Structure
from . import ar_model, math_utils
from .feature_keys import TrainEvalFeatures
from .head import OneShotPredictionHead, TimeSeriesRegressionHead, state_to_dictionary
from .model import TimeSeriesModel
from .prediction_models import FlatPredictionModel, LSTMPredictionModel
from .state_management import FilteringOnlyStateManager, PassthroughStateManager

_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


@export("contrib.timeseries.TimeSeriesRegressor")
class TimeSeriesRegressor(Estimator):
    """An estimator of a model of time series (tf.contrib.timeseries.TimeSeriesRegressor).

    Args:
        model: the model.
        state_manager: says from which state windows begin; for ARModels and for others there is a
            usual one.
        optimizer: trains it; AdamOptimizer(0.02) if None.
        model_dir: the folder of checkpoints and events.
        config: a RunConfig.
        head_type: the class of the head.
    """

    def __init__(
        self,
        model: TimeSeriesModel,
        state_manager: PassthroughStateManager | None = None,
        optimizer: Any = None,
        model_dir: str | None = None,
        config: Any = None,
        head_type: Callable[..., TimeSeriesRegressionHead] = TimeSeriesRegressionHead,
    ) -> None:
        statistics = math_utils.InputStatisticsFromMiniBatch(
            dtype=model.dtype, num_features=model.num_features
        )
        if state_manager is None:
            is_ar = isinstance(model, ar_model.ARModel)
            state_manager = FilteringOnlyStateManager() if is_ar else PassthroughStateManager()
        self._model = model
        head = head_type(
            model=model,
            state_manager=state_manager,
            optimizer=AdamOptimizer(0.02) if optimizer is None else optimizer,
            input_statistics_generator=statistics,
        )
        super().__init__(model_fn=head.create_estimator_spec, model_dir=model_dir, config=config)

    def _model_start_state_placeholders(
        self, batch_size_tensor: Structure, static_batch_size: int | None = None
    ) -> dict[str, Any]:
        """The parts of a state, as what is fed or else zeros of the first state's shapes."""
        with tf.Graph().as_default():
            self._model.initialize_graph()
            start = nest.map_structure(
                lambda tensor: constant_value(tf.zeros_like(tensor)), self._model.get_start_state()
            )
        found = {}
        for name, part in state_to_dictionary(start).items():
            ones = tf.ones(len(part.shape), dtype=dtypes.int32)
            multiples = tf.concat([batch_size_tensor[None], ones], axis=0)
            found[name] = tf.placeholder_with_default(
                tf.tile(part[None, ...], multiples),
                name=name,
                shape=[static_batch_size, *part.shape],
            )
        return found

    def build_one_shot_parsing_serving_input_receiver_fn(
        self,
        filtering_length: int,
        prediction_length: int,
        default_batch_size: int | None = None,
        values_input_dtype: Any = None,
        truncate_values: bool = False,
    ) -> Callable[[], ServingInputReceiver]:
        """The input of models that are served Examples of a window and of times to predict.

        Args:
            filtering_length: how many values Examples have.
            prediction_length: how many times there are to predict.
            default_batch_size: how many Examples; any number if None.
            values_input_dtype: of the values; float32 if None.
            truncate_values: whether Examples have values for all times, of which the last do not
                count.

        Returns:
            A function for `export_savedmodel`, which raises ValueError for features of any length.
        """
        total = filtering_length + prediction_length

        def spec_of(key: str, spec: Any) -> FixedLenFeature:
            if isinstance(spec, FixedLenFeature):
                is_short = key == _VALUES and not truncate_values
                length = filtering_length if is_short else total
                return spec._replace(shape=(length, *spec.shape))
            if spec.dtype == dtypes.string:
                return FixedLenFeature(shape=(total,), dtype=dtypes.string)
            raise ValueError(f"VarLenFeatures not supported, got {spec} for key {key}")

        def receiver_fn() -> ServingInputReceiver:
            values = numeric_column(
                _VALUES,
                dtype=values_input_dtype or dtypes.float32,
                shape=(self._model.num_features,),
            )
            times = numeric_column(_TIMES, dtype=dtypes.int64)
            columns = [*self._model.exogenous_feature_columns, times, values]
            specs = {k: spec_of(k, v) for k, v in make_parse_example_spec(columns).items()}
            examples = tf.placeholder(dtypes.string, [default_batch_size], name="input")
            features = parse_example(examples, specs)
            features[_TIMES] = tf.squeeze(features[_TIMES], axis=-1)
            cast = tf.cast(features[_VALUES], self._model.dtype)
            features[_VALUES] = cast[:, :filtering_length]
            batch_size = tf.shape(features[_TIMES])[0]
            features.update(self._model_start_state_placeholders(batch_size, default_batch_size))
            return ServingInputReceiver(features, {"examples": examples})

        return receiver_fn

    def build_raw_serving_input_receiver_fn(
        self, default_batch_size: int | None = None, default_series_length: int | None = None
    ) -> Callable[[], ServingInputReceiver]:
        """The input of models that are served arrays: times, values, a state and other features.

        Args:
            default_batch_size: how many series; any number if None.
            default_series_length: how many times; any number if None.

        Returns:
            A function for `export_savedmodel`.
        """
        sizes = [default_batch_size, default_series_length]

        def receiver_fn() -> ServingInputReceiver:
            features = self._model.num_features
            times = tf.placeholder(dtypes.int64, sizes, name=_TIMES)
            none = tf.zeros([*(size or 0 for size in sizes), features], dtype=self._model.dtype)
            found = {
                _TIMES: times,
                _VALUES: tf.placeholder_with_default(none, (*sizes, features), name=_VALUES),
            }
            for key, (shape, dtype) in self._exogenous_shapes().items():
                full = [*sizes, *shape.with_rank_at_least(1).as_list()[1:]]
                found[key] = tf.placeholder(dtype, full, name=key)
            found.update(
                self._model_start_state_placeholders(tf.shape(times)[0], default_batch_size)
            )
            return ServingInputReceiver(found, found)

        return receiver_fn

    def _exogenous_shapes(self) -> dict[str, tuple[TensorShape, Any]]:
        """Shapes and types of the features that columns read."""
        if not self._model.exogenous_feature_columns:
            return {}
        with tf.Graph().as_default():
            spec = make_parse_example_spec(self._model.exogenous_feature_columns)
            parsed = parse_example(tf.placeholder(dtypes.string, [None]), spec)
            return {key: (value.get_shape(), value.dtype) for key, value in parsed.items()}


@export("contrib.timeseries.ARRegressor")
class ARRegressor(TimeSeriesRegressor):
    """An estimator of an ARModel of dense layers (tf.contrib.timeseries.ARRegressor).

    Args:
        periodicities, input_window_size, output_window_size, num_features,
            exogenous_feature_columns, num_time_buckets, loss: as of ARModel.
        hidden_layer_sizes: how many units layers before the last have.
        anomaly_prior_probability: how likely an anomaly is; there are none if None.
        anomaly_distribution: as of AnomalyMixtureARModel.
        optimizer: trains it; AdagradOptimizer(0.1) if None.
        model_dir: the folder of checkpoints and events.
        config: a RunConfig.

    Raises:
        ValueError: arguments do not fit to each other.
    """

    def __init__(
        self,
        periodicities: Any,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        exogenous_feature_columns: Sequence[Any] | None = None,
        num_time_buckets: int = 10,
        loss: str = ar_model.ARModel.NORMAL_LIKELIHOOD_LOSS,
        hidden_layer_sizes: Sequence[int] | None = None,
        anomaly_prior_probability: float | None = None,
        anomaly_distribution: str | None = None,
        optimizer: Any = None,
        model_dir: str | None = None,
        config: Any = None,
    ) -> None:
        if anomaly_prior_probability is None and anomaly_distribution is not None:
            raise ValueError(
                "anomaly_prior_probability is required if anomaly_distribution is specified."
            )
        has_anomalies = anomaly_prior_probability is not None
        if has_anomalies and loss != ar_model.ARModel.NORMAL_LIKELIHOOD_LOSS:
            raise ValueError(
                "AnomalyMixtureARModel only supports ar_model.ARModel.NORMAL_LIKELIHOOD_LOSS for "
                "its loss argument."
            )
        network = functools.partial(FlatPredictionModel, hidden_layer_sizes=hidden_layer_sizes)
        shared: dict[str, Any] = {
            "periodicities": periodicities,
            "num_features": num_features,
            "prediction_model_factory": network,
            "exogenous_feature_columns": exogenous_feature_columns,
            "num_time_buckets": num_time_buckets,
            "input_window_size": input_window_size,
            "output_window_size": output_window_size,
        }
        if has_anomalies:
            if anomaly_distribution is not None:
                shared["anomaly_distribution"] = anomaly_distribution
            shared["anomaly_prior_probability"] = anomaly_prior_probability
            model: ar_model.ARModel = ar_model.AnomalyMixtureARModel(**shared)
        else:
            model = ar_model.ARModel(loss=loss, **shared)
        super().__init__(
            model=model,
            state_manager=FilteringOnlyStateManager(),
            optimizer=AdagradOptimizer(0.1) if optimizer is None else optimizer,
            model_dir=model_dir,
            config=config,
        )


class LSTMAutoRegressor(TimeSeriesRegressor):
    """An estimator of an ARModel of LSTMs, whose exports are served values and times at once.

    Args:
        periodicities, input_window_size, output_window_size, num_features, loss: as of ARModel.
        model_dir: the folder of checkpoints and events.
        extra_feature_columns: columns of what is known at all times.
        num_timesteps: into how many parts a period is cut.
        num_units: the size of the LSTMs.
        optimizer: a name, of which the learning rate is 0.01, or an optimizer.
        config: a RunConfig.
    """

    def __init__(
        self,
        periodicities: Any,
        input_window_size: int,
        output_window_size: int,
        model_dir: str | None = None,
        num_features: int = 1,
        extra_feature_columns: Sequence[Any] | None = None,
        num_timesteps: int = 10,
        loss: str = ar_model.ARModel.NORMAL_LIKELIHOOD_LOSS,
        num_units: int = 128,
        optimizer: Any = "Adam",
        config: Any = None,
    ) -> None:
        model = ar_model.ARModel(
            periodicities=periodicities,
            input_window_size=input_window_size,
            output_window_size=output_window_size,
            num_features=num_features,
            exogenous_feature_columns=extra_feature_columns,
            num_time_buckets=num_timesteps,
            loss=loss,
            prediction_model_factory=functools.partial(LSTMPredictionModel, num_units=num_units),
        )
        super().__init__(
            model=model,
            state_manager=FilteringOnlyStateManager(),
            optimizer=optimizer_of(optimizer, learning_rate=0.01),
            model_dir=model_dir,
            config=config,
            head_type=OneShotPredictionHead,
        )
