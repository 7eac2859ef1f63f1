# SPDX-License-Identifier: Apache-2.0
"""From which state a model begins a window: the first, one that is given, or the last one there."""

from __future__ import annotations

import abc
from typing import Any

from ....engine.types import dtypes, nest
from ....ops.public import tf
from ...estimator.mode_keys import ModeKeys
from ..structures import Structure
from . import math_utils
from .feature_keys import FilteringFeatures, State, TrainEvalFeatures
from .model import ModelOutputs, TimeSeriesModel
from .state_tables import TupleOfTensorsLookup


class PassthroughStateManager:
    """Every window begins with the model's first state."""

    def __init__(self) -> None:
        self._input_statistics: Any = None
        self._graph_initialized = False

    def initialize_graph(self, model: TimeSeriesModel, input_statistics: Any = None) -> None:
        """Comes before all others."""
        del model
        self._graph_initialized = True
        self._input_statistics = input_statistics

    def define_loss(
        self, model: TimeSeriesModel, features: dict[str, Any], mode: str
    ) -> ModelOutputs:
        """The loss of windows; arguments as of the model's.

        Raises:
            ValueError: a state is given.
        """
        if State.STATE_TUPLE in features:
            raise ValueError("Overriding start state is not supported for this model.")
        return model.define_loss(features, mode)


class _OverridableStateManager(PassthroughStateManager):
    """States may be given, but for training."""

    @abc.abstractmethod
    def _define_loss_with_saved_state(
        self, model: TimeSeriesModel, features: dict[str, Any], mode: str
    ) -> ModelOutputs:
        """The loss of windows for which no state is given."""

    def define_loss(
        self, model: TimeSeriesModel, features: dict[str, Any], mode: str
    ) -> ModelOutputs:
        """The loss of windows, from the state among features if there is one.

        Raises:
            ValueError: a state is given for training.
        """
        if FilteringFeatures.STATE_TUPLE not in features:
            return self._define_loss_with_saved_state(model, features, mode)
        if mode == ModeKeys.TRAIN:
            raise ValueError(
                "Overriding saved state for training is not supported (but a value for feature "
                f"{FilteringFeatures.STATE_TUPLE} was specified)."
            )
        start = features.pop(FilteringFeatures.STATE_TUPLE)
        return model.get_batch_loss(features=features, mode=mode, state=start)


class FilteringOnlyStateManager(_OverridableStateManager):
    """Windows begin with the state that is given, or with the model's first."""

    def _define_loss_with_saved_state(
        self, model: TimeSeriesModel, features: dict[str, Any], mode: str
    ) -> ModelOutputs:
        return model.define_loss(features, mode)


class ChainingStateManager(_OverridableStateManager):
    """Windows begin with the state that training had last at their time.

    Args:
        state_saving_interval: how many times share a state.
        checkpoint_state: whether states are saved in checkpoints.
    """

    def __init__(self, state_saving_interval: int = 20, checkpoint_state: bool = False) -> None:
        super().__init__()
        self._checkpoint_state = checkpoint_state
        self._state_saving_interval = state_saving_interval
        self._start_state: Any = None
        self._cached_states: Any = None

    def initialize_graph(self, model: Structure, input_statistics: Any = None) -> None:
        """Makes the table of states; comes before all others."""
        super().initialize_graph(model=model, input_statistics=input_statistics)
        self._start_state = model.get_start_state()
        self._cached_states = TupleOfTensorsLookup(
            key_dtype=dtypes.int64,
            default_values=self._start_state,
            empty_key=-1,
            deleted_key=-2,
            name="cached_states",
            checkpoint=self._checkpoint_state,
        )

    def _define_loss_with_saved_state(
        self, model: Structure, features: dict[str, Any], mode: str
    ) -> ModelOutputs:
        if not self._graph_initialized:
            raise ValueError(
                "ChainingStateManager requires initialize_graph() to be called before use."
            )
        times = features[TrainEvalFeatures.TIMES]
        loss, states, predictions = model.per_step_batch_loss(
            features=features, mode=mode, state=self._get_cached_states(times[:, 0])
        )
        later = self._chunk(tf.concat([times[:, 1:], times[:, -1:] + 1], axis=1))
        keys = tf.maximum(later, self._chunk(times) + 1)
        with tf.control_dependencies([self._cached_states.insert(keys=keys, values=states)]):
            loss = tf.identity(loss)
        predictions["observed"] = features[TrainEvalFeatures.VALUES]
        return ModelOutputs(
            loss=loss,
            end_state=nest.map_structure(lambda element: element[:, -1][-1][None], states),
            predictions=predictions,
            prediction_times=times,
        )

    def _chunk(self, time: Structure) -> Any:
        """The number of the interval that a time is in."""
        return time // self._state_saving_interval

    def _get_cached_states(self, times: Structure) -> Any:
        """The states of times, the first one for those at the beginning."""
        chunks = self._chunk(times)
        cached = self._cached_states.lookup(tf.cast(chunks, dtypes.int64))
        statistics = self._input_statistics
        start = 0 if statistics is None else statistics.start_time
        is_start = tf.equal(chunks, self._chunk(start))
        first = math_utils.replicate_state(self._start_state, tf.shape(times)[0])
        return nest.map_structure(lambda new, old: tf.where(is_start, new, old), first, cached)
