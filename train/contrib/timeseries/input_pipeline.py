# SPDX-License-Identifier: Apache-2.0
"""Series as inputs of estimators: from arrays and files, whole or by random windows."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import export
from ....engine.graph.collections import GraphKeys
from ....engine.graph.convert import convert_to_tensor
from ....engine.types import dtypes, nest
from ....engine.types.shape import TensorShape
from ....ops.nn.top_k import top_k
from ....ops.parsing.csv import decode_csv
from ....ops.parsing.public import parse_example
from ....ops.public import tf
from ....ops.queues.readers import ReaderBase, TextLineReader, TFRecordReader
from ...estimator.inputs import numpy_input_fn
from ...inputs.input import limit_epochs, string_input_producer
from ...inputs.input_batch import batch, maybe_shuffle_batch
from ..structures import Structure
from .feature_keys import FilteringResults, PredictionFeatures, TrainEvalFeatures
from .model_utils import canonicalize_times_or_steps_from_output

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor

_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES
_Tensors = dict[str, Any]


@export("contrib.timeseries.predict_continuation_input_fn")
def predict_continuation_input_fn(
    evaluation: Mapping[str, Any],
    steps: int | None = None,
    times: Structure = None,
    exogenous_features: Mapping[str, Any] | None = None,
) -> Callable[[], tuple[_Tensors, None]]:
    """The input function of predictions after an evaluation (tf.contrib.timeseries).

    Args:
        evaluation: what `evaluate` gave.
        steps: how many times to predict; or
        times: the times, [batch, n] or [n].
        exogenous_features: what is known of the times.

    Returns:
        An input function for `predict`.

    Raises:
        ValueError: not one of steps and times is given, or times are not after the evaluation's.
    """
    features = {
        PredictionFeatures.STATE_TUPLE: evaluation[FilteringResults.STATE_TUPLE],
        PredictionFeatures.TIMES: canonicalize_times_or_steps_from_output(times, steps, evaluation),
        **(exogenous_features or {}),
    }

    def input_fn() -> tuple[_Tensors, None]:
        def once(value: Structure) -> Any:
            return limit_epochs(value, num_epochs=1)

        return {key: nest.map_structure(once, values) for key, values in features.items()}, None

    return input_fn


class TimeSeriesReader(abc.ABC):
    """Reads a series."""

    def check_dataset_size(self, minimum_dataset_size: int) -> None:
        """Raises ValueError for series that are known to be too short; of most it is not known."""
        del minimum_dataset_size

    @abc.abstractmethod
    def read(self) -> _Tensors:
        """Some of the series at a time, over and over: features [n, ...] by name."""

    @abc.abstractmethod
    def read_full(self) -> _Tensors:
        """All of the series: features [n, ...] by name."""


@export("contrib.timeseries.NumpyReader")
class NumpyReader(TimeSeriesReader):
    """A series in arrays (tf.contrib.timeseries.NumpyReader).

    Args:
        data: "times" [n] and "values" [n] or [n, features], and others by name.
        read_num_records_hint: how many times are read at once.

    Raises:
        ValueError: times or values are missing, or shapes do not fit.
    """

    def __init__(self, data: Mapping[str, Any], read_num_records_hint: int = 4096) -> None:
        self._features = _canonicalize_numpy_data(data, require_single_batch=True)
        self._read_num_records_hint = read_num_records_hint

    def check_dataset_size(self, minimum_dataset_size: int) -> None:
        """Raises ValueError for series that are too short."""
        size = self._features[_TIMES].shape[1]
        if size < minimum_dataset_size:
            raise ValueError(
                f"A TimeSeriesInputFn is configured to create windows of size "
                f"{minimum_dataset_size}, but only {size} records were available in the dataset. "
                "Either decrease the window size or provide more records."
            )

    def read(self) -> _Tensors:
        """Some of the series at a time."""
        features = {key: np.squeeze(value, axis=0) for key, value in self._features.items()}
        found: _Tensors = numpy_input_fn(
            x=features, batch_size=self._read_num_records_hint, num_epochs=None, shuffle=False
        )()
        return found

    def read_full(self) -> _Tensors:
        """All of the series."""
        features = numpy_input_fn(
            x=self._features, batch_size=1, num_epochs=None, queue_capacity=2, shuffle=False
        )()
        return {name: tf.squeeze(value, axis=0) for name, value in features.items()}


class ReaderBaseTimeSeriesParser(TimeSeriesReader):
    """A series in files; a subclass says how they are read and what records mean.

    Args:
        filenames: the files.
        read_num_records_hint: how many records are read at once.
    """

    def __init__(self, filenames: Any, read_num_records_hint: int = 4096) -> None:
        self._filenames = filenames
        self._read_num_records_hint = read_num_records_hint

    @abc.abstractmethod
    def _get_reader(self) -> ReaderBase:
        """A reader of the files' records."""

    @abc.abstractmethod
    def _process_records(self, lines: Structure) -> _Tensors:
        """The features of records."""

    def _get_filename_queue(self, epoch_limit: int) -> tuple[Any, Any]:
        """A queue of names that ends if files are read so often without a record."""
        limiter = tf.Variable(
            tf.constant(0, dtype=dtypes.int64),
            name="epoch_limiter",
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )
        names = tf.reshape(convert_to_tensor(self._filenames), [-1])
        counted = tf.cond(
            tf.is_variable_initialized(limiter),
            lambda: limiter.count_up_to(epoch_limit),
            lambda: tf.constant(0, dtype=dtypes.int64),
        )
        with tf.control_dependencies([counted]):
            names = tf.identity(names)
        return string_input_producer(names, shuffle=False, capacity=1), limiter

    def read(self) -> _Tensors:
        """Some of the series at a time."""
        queue, limiter = self._get_filename_queue(self._read_num_records_hint)
        with tf.control_dependencies([tf.assign(limiter, 0)]):
            _, records = self._get_reader().read_up_to(queue, self._read_num_records_hint)
        return self._process_records(records)

    def read_full(self) -> _Tensors:
        """All of the series: records until the first comes again."""
        reader = self._get_reader()
        queue, limiter = self._get_filename_queue(epoch_limit=2)
        with tf.control_dependencies([tf.assign(limiter, 0)]):
            first_key, first_value = reader.read_up_to(queue, 1)

        def goes_on(key: Structure, *unused: Any) -> Any:
            return tf.not_equal(tf.squeeze(key, axis=0), tf.squeeze(first_key, axis=0))

        def body(
            key: Structure, value: Structure, i: Structure, found: Structure
        ) -> tuple[Any, Any, Any, Any]:
            next_key, next_value = reader.read_up_to(queue, 1)
            next_key.set_shape([1])
            next_value.set_shape([1])
            return next_key, next_value, i + 1, found.write(i, value)

        array = tf.TensorArray(dtype=dtypes.string, size=0, dynamic_size=True)
        _, _, _, found = tf.while_loop(goes_on, body, [tf.constant([""]), first_value, 0, array])
        records = found.concat()
        with tf.control_dependencies([records]):
            reset = reader.reset()
        with tf.control_dependencies([reset]):
            records = tf.identity(records)
        return self._process_records(records)


@export("contrib.timeseries.CSVReader")
class CSVReader(ReaderBaseTimeSeriesParser):
    """A series in files of comma-separated values (tf.contrib.timeseries.CSVReader).

    Args:
        filenames: the files.
        column_names: what columns are; those of the same name are one feature of several values.
        column_dtypes: their types; int64 for times and float32 for others if None.
        skip_header_lines: how many lines files begin with that are no records.
        read_num_records_hint: how many records are read at once.

    Raises:
        ValueError: there is not one column of times, or none of values, or types do not fit.
    """

    def __init__(
        self,
        filenames: Any,
        column_names: Sequence[str] = (_TIMES, _VALUES),
        column_dtypes: Sequence[Any] | None = None,
        skip_header_lines: int | None = None,
        read_num_records_hint: int = 4096,
    ) -> None:
        for needed in (_TIMES, _VALUES):
            if needed not in column_names:
                raise ValueError(f"'{needed}' is a required column.")
        if column_dtypes is not None and len(column_dtypes) != len(column_names):
            raise ValueError(
                "If specified, the length of column_dtypes must match the length of column_names "
                f"(got column_dtypes={column_dtypes} and column_names={column_names})."
            )
        if list(column_names).count(_TIMES) != 1:
            raise ValueError(
                f"Got more than one times column ('{_TIMES}'), but exactly one is required."
            )
        self._column_names = column_names
        self._column_dtypes = column_dtypes
        self._skip_header_lines = skip_header_lines
        super().__init__(filenames=filenames, read_num_records_hint=read_num_records_hint)

    def _get_reader(self) -> ReaderBase:
        return TextLineReader(skip_header_lines=self._skip_header_lines)

    def _process_records(self, lines: Structure) -> _Tensors:
        if self._column_dtypes is None:
            zero = (tf.zeros([], dtypes.int64),)
            defaults: list[Any] = [zero if name == _TIMES else () for name in self._column_names]
        else:
            defaults = [(tf.zeros([], dtype),) for dtype in self._column_dtypes]
        columns: dict[str, list[Any]] = {}
        for name, value in zip(self._column_names, decode_csv(lines, defaults)):
            columns.setdefault(name, []).append(value)
        return {
            name: values[0] if name == _TIMES else tf.stack(values, axis=1)
            for name, values in columns.items()
        }


class TFExampleReader(ReaderBaseTimeSeriesParser):
    """A series in files of TFRecords, each an Example of one time.

    Args:
        filenames: the files.
        features: what Examples have, as of `tf.parse_example`.

    Raises:
        ValueError: times or values are missing.
    """

    def __init__(self, filenames: Any, features: Mapping[str, Any]) -> None:
        for needed in (_TIMES, _VALUES):
            if needed not in features:
                raise ValueError(f"'{needed}' is a required column.")
        self._features = dict(features)
        super().__init__(filenames=filenames)

    def _get_reader(self) -> ReaderBase:
        return TFRecordReader()

    def _process_records(self, lines: Structure) -> _Tensors:
        return parse_example(serialized=lines, features=self._features)


class TimeSeriesInputFn(abc.ABC):
    """An input function of windows."""

    @abc.abstractmethod
    def create_batch(self) -> tuple[_Tensors, None]:
        """Features [batch, window, ...] by name, and no labels."""

    def __call__(self) -> tuple[_Tensors, None]:
        return self.create_batch()


@export("contrib.timeseries.WholeDatasetInputFn")
class WholeDatasetInputFn(TimeSeriesInputFn):
    """The whole series as one window, for evaluation (tf.contrib.timeseries).

    Args:
        time_series_reader: reads the series.
    """

    def __init__(self, time_series_reader: TimeSeriesReader) -> None:
        self._reader = time_series_reader

    def create_batch(self) -> tuple[_Tensors, None]:
        """Features [1, n, ...] by name, and no labels."""
        features = self._reader.read_full()
        return {name: value[None, ...] for name, value in features.items()}, None


@export("contrib.timeseries.RandomWindowInputFn")
class RandomWindowInputFn(TimeSeriesInputFn):
    """Windows of a series in an order that is drawn, for training (tf.contrib.timeseries).

    Args:
        time_series_reader: reads the series.
        window_size: how many times a window has.
        batch_size: how many windows a batch has.
        queue_capacity_multiplier: how many batches wait at most.
        shuffle_min_after_dequeue_multiplier: how many batches the order is drawn of, at least.
        discard_out_of_order: whether windows over the end of a series are left out; their times
            are put in order otherwise.
        discard_consecutive_batches_limit: after how many such batches in a row there is an error.
        jitter: whether windows begin at one of two places, as is drawn.
        num_threads: how many threads make windows; one per window of a batch if None.
        shuffle_seed: of the order.
    """

    def __init__(
        self,
        time_series_reader: TimeSeriesReader,
        window_size: int,
        batch_size: int,
        queue_capacity_multiplier: int = 1000,
        shuffle_min_after_dequeue_multiplier: int = 2,
        discard_out_of_order: bool = True,
        discard_consecutive_batches_limit: int = 1000,
        jitter: bool = True,
        num_threads: int | None = 2,
        shuffle_seed: int | None = None,
    ) -> None:
        self._reader = time_series_reader
        self._window_size = window_size
        self._reader.check_dataset_size(minimum_dataset_size=window_size)
        self._batch_size = batch_size
        self._queue_capacity_multiplier = queue_capacity_multiplier
        self._shuffle_min_after_dequeue_multiplier = shuffle_min_after_dequeue_multiplier
        self._discard_out_of_order = discard_out_of_order
        self._discard_limit = discard_consecutive_batches_limit
        self._jitter = jitter
        self._num_threads = batch_size if num_threads is None else num_threads
        self._shuffle_seed = shuffle_seed

    def create_batch(self) -> tuple[_Tensors, None]:
        """Features [batch_size, window_size, ...] by name, and no labels."""
        windows: Any = self._windows(self._reader.read())
        times = windows[_TIMES]
        keep: Any = True
        if self._discard_out_of_order:
            keep = self._in_order(times)
        else:
            count: Any = tf.shape(times)[-1]
            _, descending = top_k(times, k=count, sorted=True)
            order = tf.reverse(descending, axis=[0])
            windows = {key: tf.gather(value, order) for key, value in windows.items()}
        return maybe_shuffle_batch(
            windows,
            num_threads=self._num_threads,
            seed=self._shuffle_seed,
            batch_size=self._batch_size,
            capacity=self._queue_capacity_multiplier * self._batch_size,
            min_after_dequeue=self._shuffle_min_after_dequeue_multiplier * self._batch_size,
            keep_input=keep,
            enqueue_many=True,
        ), None

    def _windows(self, features: _Tensors) -> _Tensors:
        """As many windows as a batch has, one after another."""
        count, size = self._batch_size, self._window_size
        jitter: Any = 0
        if self._jitter:
            jitter = tf.random_uniform(shape=[], maxval=2, dtype=dtypes.int32)
        rows = batch(
            features,
            batch_size=size * count + jitter,
            enqueue_many=True,
            capacity=self._queue_capacity_multiplier * count * size,
            num_threads=self._num_threads,
        )
        found = {}
        for key, value in rows.items():
            taken = value[jitter:] if self._jitter else value
            shape = tf.concat([[count, size], tf.shape(taken)[1:]], axis=0)
            found[key] = tf.reshape(taken, shape)
            found[key].set_shape(TensorShape([count, size]).concatenate(value.shape[1:]))
        return found

    def _in_order(self, times: Structure) -> Tensor:
        """Which windows' times do not decrease; an error if none do for long."""
        in_order = tf.reduce_all(times[:, 1:] >= times[:, :-1], axis=1)
        limiter = tf.Variable(
            tf.constant(0, dtype=dtypes.int64),
            name="discarded_windows_limiter",
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )

        def counted() -> Any:
            return tf.cond(
                tf.reduce_any(in_order),
                lambda: tf.assign(limiter, 0),
                lambda: limiter.count_up_to(self._discard_limit),
            )

        check = tf.cond(
            tf.is_variable_initialized(limiter),
            counted,
            lambda: tf.constant(0, dtype=dtypes.int64),
        )
        with tf.control_dependencies([check]):
            return tf.identity(in_order)


def _canonicalize_numpy_data(
    data: Mapping[str, Any], require_single_batch: bool
) -> dict[str, np.ndarray]:
    """Times [batch, n] and values [batch, n, features] of arrays with fewer dimensions.

    Raises:
        ValueError: times or values are missing, or shapes do not fit.
    """
    features = {key: np.array(value) for key, value in data.items()}
    if _TIMES not in features or _VALUES not in features:
        raise ValueError(f"{_TIMES} and {_VALUES} are required features.")
    times, values = features[_TIMES], features[_VALUES]
    for key, value in features.items():
        if value.shape[: times.ndim] != times.shape:
            raise ValueError(
                "All features must have their shapes prefixed by the shape of the times feature. "
                f"Got shape {value.shape} for feature '{key}', but shape {times.shape} for "
                f"'{_TIMES}'"
            )
    if times.ndim > 2:
        raise ValueError(
            "Got an unexpected number of dimensions for times. Was expecting at most two ([batch "
            f"size, series length]), but got shape {times.shape}."
        )
    if times.ndim < 2:
        most, axes, lacks = (
            (2, "2 dimensions ([series length, number of features])", "a batch dimension")
            if times.ndim
            else (1, "1 dimension ([number of features])", "a batch or time dimension")
        )
        if values.ndim > most:
            raise ValueError(
                f"Got an unexpected number of dimensions for the '{_VALUES}' feature. Was "
                f"expecting at most {axes} since '{_TIMES}' does not have {lacks}, but got shape "
                f"{values.shape}"
            )
        if values.ndim < most:
            features[_VALUES] = values[..., None]
        before = (None,) * (2 - times.ndim)
        features = {key: value[before] for key, value in features.items()}
    if require_single_batch and features[_TIMES].shape[0] != 1:
        raise ValueError("Got batch input, was expecting unbatched input.")
    return features
