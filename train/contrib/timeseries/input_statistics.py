# SPDX-License-Identifier: Apache-2.0
"""Means and variances of a series, in variables that training brings up to date."""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

from ....engine.types import dtypes, nest
from ....ops.nn.norm import moments
from ....ops.public import tf
from ..structures import Structure
from .feature_keys import TrainEvalFeatures

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike
    from ....engine.graph.operation import Operation

Moments = namedtuple("Moments", ["mean", "variance"])
InputStatistics = namedtuple(
    "InputStatistics",
    [
        "series_start_moments",
        "overall_feature_moments",
        "start_time",
        "total_observation_count",
    ],
)
_Auxiliary = namedtuple(
    "_Auxiliary",
    [
        "max_time_seen",
        "chunk_count",
        "inter_observation_duration_sum",
        "example_count",
        "overall_feature_sum",
        "overall_feature_sum_of_squares",
    ],
)


class InputStatisticsFromMiniBatch:
    """Statistics of a series from batches of its windows.

    Args:
        num_features: how many values there are at a time.
        dtype: of the statistics.
        starting_variance_window_size: how many values the beginning has.
    """

    def __init__(
        self, num_features: int, dtype: Any, starting_variance_window_size: int = 16
    ) -> None:
        self._starting_variance_window_size = starting_variance_window_size
        self._num_features = num_features
        self._dtype = dtype

    def initialize_graph(self, features: dict[str, Any], update_statistics: bool = True) -> Any:
        """The statistics, as of this batch if it updates them.

        Args:
            features: times and values; without these nothing is updated.
            update_statistics: whether the batch is taken in.

        Returns:
            An InputStatistics.
        """
        times = features.get(TrainEvalFeatures.TIMES)
        values = features.get(TrainEvalFeatures.VALUES)
        with tf.variable_scope("input_statistics", use_resource=True):
            statistics = self._create_variable_statistics_object()
        with tf.variable_scope("input_statistics_auxiliary", use_resource=True):
            auxiliary = self._auxiliary()
        if not update_statistics or times is None or values is None:
            return statistics
        update = self._update(statistics, auxiliary, times, values)
        with tf.control_dependencies([update]):
            found = nest.map_structure(tf.identity, statistics)
            start = tf.minimum(found.start_time, tf.reduce_min(times))
            return found._replace(start_time=start)

    def _variable(
        self, name: str, initializer: Any, dtype: DTypeLike | None = None, shape: Any = ()
    ) -> Any:
        return tf.get_variable(
            name,
            shape=None if shape is None else list(shape),
            dtype=dtype or self._dtype,
            initializer=initializer,
            trainable=False,
        )

    def _moments(self, name: str, variance: str) -> Moments:
        shape = (self._num_features,)
        return Moments(
            self._variable(f"{name}_mean", tf.zeros_initializer(), shape=shape),
            self._variable(f"{name}_{variance}", tf.ones_initializer(), shape=shape),
        )

    def _create_variable_statistics_object(self) -> InputStatistics:
        return InputStatistics(
            series_start_moments=self._moments("series_start", "variance"),
            overall_feature_moments=self._moments("overall_feature", "var"),
            start_time=self._variable("start_time", dtypes.int64.max, dtypes.int64, None),
            total_observation_count=self._variable(
                "total_observation_count", tf.ones_initializer(), dtypes.int64
            ),
        )

    def _auxiliary(self) -> _Auxiliary:
        zeros, shape = tf.zeros_initializer(), (self._num_features,)
        return _Auxiliary(
            max_time_seen=self._variable("max_time_seen", dtypes.int64.min, dtypes.int64, None),
            chunk_count=self._variable("chunk_count", zeros, dtypes.int64),
            inter_observation_duration_sum=self._variable("inter_observation_duration_sum", zeros),
            example_count=self._variable("example_count", None, dtypes.int64),
            overall_feature_sum=self._variable("overall_feature_sum", zeros, shape=shape),
            overall_feature_sum_of_squares=self._variable(
                "overall_feature_sum_of_squares", zeros, shape=shape
            ),
        )

    def _update(
        self, statistics: Any, sums: _Auxiliary, times: Structure, values: Structure
    ) -> Operation:
        """Takes a batch in: first the sums, then what follows from them."""
        values = tf.cast(values, self._dtype)
        spans = tf.cast(tf.reduce_max(times, axis=1) - tf.reduce_min(times, axis=1), self._dtype)
        durations = spans / tf.cast(tf.shape(times)[1] - 1, self._dtype)
        latest = tf.maximum(sums.max_time_seen, tf.reduce_max(times))
        max_time = tf.assign(sums.max_time_seen, latest)
        squares = tf.reduce_sum(values**2, axis=[0, 1])
        added = tf.group(
            max_time,
            tf.assign_add(sums.chunk_count, tf.shape(times, out_type=dtypes.int64)[0]),
            tf.assign_add(sums.inter_observation_duration_sum, tf.reduce_sum(durations)),
            tf.assign_add(sums.example_count, tf.size(times, out_type=dtypes.int64)),
            tf.assign_add(sums.overall_feature_sum, tf.reduce_sum(values, axis=[0, 1])),
            tf.assign_add(sums.overall_feature_sum_of_squares, squares),
        )
        with tf.control_dependencies([added]):
            return self._follow(statistics, sums, times, values, max_time)

    def _follow(
        self, statistics: Any, sums: _Auxiliary, times: Structure, values: Structure, max_time: Any
    ) -> Operation:
        count = tf.cast(sums.example_count, self._dtype)
        mean = sums.overall_feature_sum / count
        variance = count / (count - 1.0) * (sums.overall_feature_sum_of_squares / count - mean**2)
        overall = statistics.overall_feature_moments
        first = tf.cast(tf.argmin(times[:, 0]), dtypes.int32)

        def start() -> Operation:
            window = values[first, : self._starting_variance_window_size]
            begun = moments(window, axes=[0])
            pairs = zip(statistics.series_start_moments, begun)
            return tf.group(*[tf.assign(variable, value) for variable, value in pairs])

        is_earliest = tf.less_equal(times[first, 0], statistics.start_time)
        start_moments = tf.cond(is_earliest, start, tf.no_op)
        with tf.control_dependencies([start_moments]):
            earliest = tf.minimum(statistics.start_time, tf.reduce_min(times))
            start_time = tf.assign(statistics.start_time, earliest)
        step = sums.inter_observation_duration_sum / tf.cast(sums.chunk_count, self._dtype)
        total = tf.round(tf.cast(max_time - start_time + 1, self._dtype) / step)
        return tf.group(
            tf.assign(overall.mean, mean),
            tf.assign(overall.variance, variance),
            start_moments,
            start_time,
            tf.assign(statistics.total_observation_count, tf.cast(total, dtypes.int64)),
        )
