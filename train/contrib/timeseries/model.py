# SPDX-License-Identifier: Apache-2.0
"""What models of time series have in common, and those that go from one time to the next."""

from __future__ import annotations

import abc
from collections import namedtuple
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.graph.convert import convert_to_tensor
from ....engine.types import dtypes, nest
from ....ops.parsing.public import parse_example
from ....ops.public import tf
from ...feature_column.input_layer import input_layer, make_parse_example_spec
from ..structures import Structure
from . import math_utils
from .feature_keys import PredictionFeatures, TrainEvalFeatures

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor

ModelOutputs = namedtuple("ModelOutputs", ["loss", "end_state", "predictions", "prediction_times"])
_NOT_RAW = (PredictionFeatures.STATE_TUPLE, TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES)


def without(features: dict[str, Any], *names: str) -> dict[str, Any]:
    """Features but some."""
    return {name: value for name, value in features.items() if name not in names}


class TimeSeriesModel(abc.ABC):
    """A model of values over time.

    Args:
        num_features: how many values there are at a time.
        exogenous_feature_columns: columns of what is known at all times, those to come too.
        dtype: the type of the computations.
    """

    def __init__(
        self,
        num_features: int,
        exogenous_feature_columns: Sequence[Any] | None = None,
        dtype: Any = dtypes.float32,
    ) -> None:
        self._exogenous_feature_columns = exogenous_feature_columns or []
        self.num_features = num_features
        self.dtype = dtype
        self._input_statistics: Any = None
        self._graph_initialized = False
        self._stats_means: Any = None
        self._stats_sigmas: Any = None

    @property
    def exogenous_feature_columns(self) -> Sequence[Any]:
        """The columns of what is known at all times."""
        return self._exogenous_feature_columns

    def generate(
        self,
        number_of_series: int,
        series_length: int,
        model_parameters: Any = None,
        seed: int | None = None,
    ) -> Any:
        """Series that the model draws; a subclass may have it."""
        raise NotImplementedError("This model does not support generation.")

    def initialize_graph(self, input_statistics: Any = None) -> None:
        """Makes the variables; comes before all others.

        Args:
            input_statistics: an InputStatistics, by which values are scaled.
        """
        self._graph_initialized = True
        self._input_statistics = input_statistics
        if input_statistics:
            self._stats_means, variances = input_statistics.overall_feature_moments
            self._stats_sigmas = tf.sqrt(variances)

    def _scale_data(self, data: Structure) -> Any:
        """Values as the model sees them."""
        if self._input_statistics is None:
            return data
        return (data - self._stats_means) / self._stats_sigmas

    def _scale_variance(self, variance: Structure) -> Any:
        if self._input_statistics is None:
            return variance
        return variance / self._input_statistics.overall_feature_moments.variance

    def _scale_back_data(self, data: Structure) -> Any:
        """Values as the series has them."""
        if self._input_statistics is None:
            return data
        return data * self._stats_sigmas + self._stats_means

    def _scale_back_variance(self, variance: Structure) -> Any:
        if self._input_statistics is None:
            return variance
        return variance * self._input_statistics.overall_feature_moments.variance

    def _check_graph_initialized(self) -> None:
        if not self._graph_initialized:
            raise ValueError(
                "TimeSeriesModels require initialize_graph() to be called before use. This defines "
                "variables and ops in the default graph, and allows Tensor-valued input statistics "
                "to be specified."
            )

    def define_loss(self, features: dict[str, Any], mode: str) -> ModelOutputs:
        """The loss of windows, each from the model's first state.

        Args:
            features: times [batch, window], values [batch, window, features], and others.
            mode: of tf.estimator.ModeKeys.

        Returns:
            ModelOutputs.
        """
        self._check_graph_initialized()
        batch_size = tf.shape(features[TrainEvalFeatures.TIMES])[0]
        start = math_utils.replicate_state(self.get_start_state(), batch_size)
        return self.get_batch_loss(features=features, mode=mode, state=start)

    @abc.abstractmethod
    def get_start_state(self) -> Any:
        """The first state, without a batch."""

    @abc.abstractmethod
    def get_batch_loss(self, features: dict[str, Any], mode: str, state: Structure) -> ModelOutputs:
        """The loss of windows from states; arguments as of `define_loss`."""

    @abc.abstractmethod
    def predict(self, features: dict[str, Any]) -> dict[str, Any]:
        """Predictions by name, of times and a state among features."""

    def _get_exogenous_embedding_shape(self) -> Sequence[int]:
        """The shape that columns make of a time."""
        if not self._exogenous_feature_columns:
            return (0,)
        with tf.Graph().as_default():
            examples = tf.placeholder(shape=[None], dtype=dtypes.string)
            spec = make_parse_example_spec(self._exogenous_feature_columns)
            made = input_layer(parse_example(examples, spec), self._exogenous_feature_columns)
            shape: list[int] = made.shape.as_list()
            return shape[1:]

    def _process_exogenous_features(self, times: Structure, features: dict[str, Any]) -> Any:
        """What columns make of features at times, [batch, window, n]; None without columns."""
        if not self._exogenous_feature_columns:
            return None
        flat = {name: _without_window(name, tensor) for name, tensor in features.items()}
        embedded = input_layer(
            features=flat, feature_columns=self._exogenous_feature_columns, trainable=True
        )
        found = tf.reshape(embedded, tf.concat([tf.shape(times), tf.shape(embedded)[1:]], axis=0))
        found.set_shape(times.shape.concatenate(embedded.shape[1:]))
        return tf.cast(found, self.dtype)


def _without_window(name: str, tensor: Structure) -> Tensor:
    """A feature [batch, window, ...] as columns take it, [batch * window, ...]."""
    if tensor.shape.ndims is None:
        raise ValueError(
            f"Features with unknown rank are not supported. Got shape {tensor.shape} for feature "
            f"{name}."
        )
    shape = tf.shape(tensor)
    flat = tf.reshape(tensor, tf.concat([[shape[0] * shape[1]], shape[2:]], axis=0))
    is_numbers = flat.shape.ndims == 1 and flat.dtype != dtypes.string
    return flat[:, None] if is_numbers else flat


class _Listed:
    """What a TensorArray is in loops that are unrolled."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    def write(self, unused_position: Any, value: Structure) -> _Listed:
        """Keeps a value."""
        self.values.append(value)
        return self


class SequentialTimeSeriesModel(TimeSeriesModel):
    """A model that goes from one time to the next; a subclass states the steps.

    Args:
        train_output_names: what `_filtering_step` gives besides the loss.
        predict_output_names: what `_prediction_step` gives.
        num_features, dtype, exogenous_feature_columns: as of TimeSeriesModel.
        normalize_features: whether values are scaled by the statistics of the series.
        exogenous_update_condition: a function of times and features, which says for each series
            whether what is known updates the state; it always does if None.
        static_unrolling_window_size_threshold: up to which window loops are unrolled.
    """

    def __init__(
        self,
        train_output_names: Sequence[str],
        predict_output_names: Sequence[str],
        num_features: int,
        normalize_features: bool = False,
        dtype: Any = dtypes.float32,
        exogenous_feature_columns: Sequence[Any] | None = None,
        exogenous_update_condition: Callable[..., Any] | None = None,
        static_unrolling_window_size_threshold: int | None = None,
    ) -> None:
        super().__init__(
            num_features=num_features,
            dtype=dtype,
            exogenous_feature_columns=exogenous_feature_columns,
        )
        self._exogenous_update_condition = exogenous_update_condition
        self._train_output_names = train_output_names
        self._predict_output_names = predict_output_names
        self._normalize_features = normalize_features
        self._static_unrolling_window_size_threshold = static_unrolling_window_size_threshold

    def _scale_back_predictions(self, predictions: dict[str, Any]) -> dict[str, Any]:
        """Predictions as the series has them, of a model of scaled values."""
        raise NotImplementedError(
            "SequentialTimeSeriesModel normalized input data (normalize_features=True), but no "
            "method was provided to transform the predictions back to the input scale."
        )

    @abc.abstractmethod
    def _filtering_step(
        self,
        current_times: Structure,
        current_values: Structure,
        state: Structure,
        predictions: Any,
    ) -> tuple[Any, dict[str, Any]]:
        """The state with the values taken in, and the loss and other outputs by name."""

    @abc.abstractmethod
    def _prediction_step(
        self, current_times: Structure, state: Structure
    ) -> tuple[Any, dict[str, Any]]:
        """The state one time later, and predictions by name."""

    @abc.abstractmethod
    def _imputation_step(self, current_times: Structure, state: Structure) -> Any:
        """The state brought up to times, if some are missing before."""

    @abc.abstractmethod
    def _exogenous_input_step(
        self, current_times: Structure, current_exogenous_regressors: Structure, state: Any
    ) -> Any:
        """The state with what is known of the times taken in."""

    def _loss_additions(self, times: Structure, values: Structure, mode: str) -> float:
        """What is added to the loss; nothing, unless a subclass has it."""
        del times, values, mode
        return 0.0

    def _window_initializer(self, times: Structure, state: Structure) -> None:
        """What a subclass prepares for a window, before its loop."""

    def get_batch_loss(self, features: dict[str, Any], mode: str, state: Structure) -> ModelOutputs:
        """The loss of windows from states; arguments as of `define_loss`."""
        loss, states, outputs = self.per_step_batch_loss(features, mode, state)
        outputs["observed"] = features[TrainEvalFeatures.VALUES]
        return ModelOutputs(
            loss=loss,
            end_state=nest.map_structure(lambda element: element[:, -1], states),
            predictions=outputs,
            prediction_times=features[TrainEvalFeatures.TIMES],
        )

    def _apply_exogenous_update(
        self,
        current_times: Structure,
        step_number: Structure,
        state: Structure,
        raw_features: Structure,
        embedded: Any,
    ) -> Any:
        """The state with what is known of a step taken in."""
        if embedded is None:
            return state
        updated = self._exogenous_input_step(
            current_times=current_times,
            current_exogenous_regressors=embedded[:, step_number, :],
            state=state,
        )
        if self._exogenous_update_condition is None:
            return updated
        raw = without(raw_features, *_NOT_RAW)
        current = {name: value[:, step_number] for name, value in raw.items()}
        condition = self._exogenous_update_condition

        def chosen(new: Structure, old: Structure) -> Tensor:
            return tf.where(condition(times=current_times, features=current), new, old)

        return nest.map_structure(chosen, updated, state)

    def per_step_batch_loss(
        self, features: dict[str, Any], mode: str, state: Any
    ) -> tuple[Any, Any, dict[str, Any]]:
        """The loss per value, the states after every time, and outputs; as of `get_batch_loss`."""
        self._check_graph_initialized()
        times = tf.cast(features[TrainEvalFeatures.TIMES], dtypes.int64)
        values = tf.cast(features[TrainEvalFeatures.VALUES], self.dtype)
        if self._normalize_features:
            values = self._scale_data(values)
        exogenous = self._process_exogenous_features(
            times=times,
            features=without(features, TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES),
        )

        def step(step_number: Structure, current_times: Structure, state: Structure) -> Any:
            known = self._apply_exogenous_update(
                current_times, step_number, state, features, exogenous
            )
            predicted, predictions = self._prediction_step(current_times=current_times, state=known)
            return self._filtering_step(
                current_times=current_times,
                current_values=values[:, step_number, :],
                state=predicted,
                predictions=predictions,
            )

        names = ["loss", *self._train_output_names]
        states, outputs = self._state_update_loop(times, state, step, names)
        losses = outputs.pop("loss")
        losses.set_shape(times.shape)
        count = tf.cast(tf.reduce_prod(tf.shape(times)), self.dtype)
        loss = tf.reduce_sum(losses) / count + self._loss_additions(times, values, mode)
        if self._normalize_features:
            outputs = self._scale_back_predictions(outputs)
        return loss, states, outputs

    def predict(self, features: dict[str, Any]) -> dict[str, Any]:
        """Predictions by name, of times and a state among features."""
        times = convert_to_tensor(features[PredictionFeatures.TIMES], dtypes.int64)
        known = without(features, PredictionFeatures.TIMES, PredictionFeatures.STATE_TUPLE)
        exogenous = self._process_exogenous_features(times=times, features=known)

        def step(step_number: Structure, current_times: Structure, state: Structure) -> Any:
            state = self._apply_exogenous_update(
                current_times, step_number, state, features, exogenous
            )
            return self._prediction_step(current_times=current_times, state=state)

        start = features[PredictionFeatures.STATE_TUPLE]
        _, predictions = self._state_update_loop(times, start, step, self._predict_output_names)
        return (
            self._scale_back_predictions(predictions) if self._normalize_features else predictions
        )

    def _is_unrolled(self, window: int | None) -> bool:
        limit = self._static_unrolling_window_size_threshold
        return limit is not None and window is not None and window <= limit

    def _state_update_loop(
        self,
        times: Structure,
        state: Structure,
        state_update_fn: Callable[..., Any],
        outputs: Iterable[str],
    ) -> tuple[Any, dict[str, Any]]:
        """The states after every time, and outputs, [batch, window, ...] each."""
        times = convert_to_tensor(times, dtype=dtypes.int64)
        names = list(outputs)
        static = times.shape[1].value
        self._window_initializer(times, state)

        def body(
            number: Structure,
            state: Structure,
            states: Structure,
            found: Structure,
            reuse: Any = False,
        ) -> Any:
            with tf.variable_scope("state_update_step", reuse=reuse):
                current = times[:, number]
                state = self._imputation_step(current_times=current, state=state)
                after, values = state_update_fn(
                    step_number=number, current_times=current, state=state
                )
                if set(values) != set(names):
                    raise AssertionError(f"expected outputs {names}, got {sorted(values)}")
                for new, old in zip(nest.flatten(after), nest.flatten(state)):
                    new.set_shape(old.shape)
                rows = zip(states, nest.flatten(after))
                return (
                    number + 1,
                    nest.pack_sequence_as(state, nest.flatten(after)),
                    [array.write(number, element) for array, element in rows],
                    [array.write(number, values[name]) for array, name in zip(found, names)],
                )

        flat = nest.flatten(state)
        if self._is_unrolled(static):
            arguments: Any = (0, state, [_Listed() for _ in flat], [_Listed() for _ in names])
            for number in range(static):
                index = tf.constant(number, dtypes.int32)
                _, before, states, found = arguments
                arguments = body(index, before, states, found, number > 0)
        else:
            window = tf.shape(times)[1]
            kinds = ([element.dtype for element in flat], [self.dtype for _ in names])
            arrays = [[tf.TensorArray(kind, size=window) for kind in part] for part in kinds]
            arguments = tf.while_loop(
                lambda number, *unused: tf.less(number, window),
                body,
                [tf.zeros([], dtypes.int32), state, *arrays],
            )
        _, _, states, found = arguments
        by_name = {name: _batch_major(array) for name, array in zip(names, found)}
        return nest.pack_sequence_as(state, [_batch_major(array) for array in states]), by_name


def _batch_major(array: Any) -> Tensor:
    """What loops wrote at each time as [batch, window, ...]."""
    if isinstance(array, _Listed):
        return tf.stack(array.values, axis=1)
    stacked = array.stack()
    return tf.transpose(stacked, tf.concat([[1, 0], tf.range(2, tf.rank(stacked))], 0))
