# SPDX-License-Identifier: Apache-2.0
"""Feeders: batches of arrays, or of what iterators give, as feeds of placeholders."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from .....engine.api import export
from .....engine.interface import log
from .....engine.types import dtypes
from .....ops.public import tf
from .frames import (
    extract_dask_data,
    extract_dask_labels,
    extract_pandas_data,
    extract_pandas_labels,
    extract_pandas_matrix,
)


def _is_iterator(x: object) -> bool:
    return hasattr(x, "next") or hasattr(x, "__next__")


def _each(call: Callable[..., Any], first: object, *others: Any) -> Any:
    """A function of a thing or of each entry of a dict, as tf.nest would; None stays None."""
    if first is None:
        return None
    if isinstance(first, dict):
        return {
            key: call(value, *(o[key] if isinstance(o, dict) else o for o in others))
            for key, value in first.items()
        }
    return call(first, *others)


def _shape_of_labels(batch_size: int, shape: Any, n_classes: int | None) -> list[Any]:
    inner = list(shape[1:])
    if inner and inner[0] == 1:
        inner = inner[1:]
    return [batch_size, *inner, *([n_classes] if n_classes is not None and n_classes > 1 else [])]


def _classes_by_key(n_classes: object, y_shape: object) -> Any:
    """Numbers of classes in the form of the labels."""
    if not isinstance(y_shape, dict):
        return n_classes
    if n_classes is not None and not isinstance(n_classes, dict):
        raise AssertionError("n_classes of a dict of labels must be a dict")
    return {key: (n_classes or {}).get(key) for key in y_shape}


def _get_in_out_shape(
    x_shape: Any, y_shape: Any, n_classes: Any, batch_size: int | None = None
) -> tuple[Any, Any, int]:
    """The shapes of a batch's features and labels, and its size."""
    if batch_size is None:
        first = next(iter(x_shape.values())) if isinstance(x_shape, dict) else x_shape
        batch_size = int(first[0])
    elif batch_size <= 0:
        raise ValueError(f"Invalid batch_size {batch_size}.")
    of_x = _each(lambda shape: [batch_size, *(shape[1:] if len(shape) > 1 else [1])], x_shape)
    of_y = _each(
        lambda shape, count: _shape_of_labels(batch_size, shape, count),
        *(y_shape, _classes_by_key(n_classes, y_shape)),
    )
    return of_x, of_y, batch_size


@export("contrib.learn.io.setup_train_data_feeder")
def setup_train_data_feeder(
    x: object,
    y: object,
    n_classes: object,
    batch_size: int | None = None,
    shuffle: bool = True,
    epochs: int | None = None,
) -> DataFeeder:
    """A feeder of arrays, frames or iterators.

    Args:
        x: features: an array, a frame, a dict of arrays, or an iterator.
        y: labels, in the same way, or None.
        n_classes: makes labels one-hot of that many; a dict where labels are one; None leaves them.
        batch_size: all if None.
        shuffle: whether the order is drawn, anew in each epoch.
        epochs: how often all is fed; None never ends.

    Returns:
        A DataFeeder.

    Raises:
        ValueError: one is an iterator and the other is not.
    """
    x, y = extract_pandas_data(extract_dask_data(x)), extract_pandas_labels(extract_dask_labels(y))
    if not _is_iterator(x):
        return DataFeeder(x, y, n_classes, batch_size, shuffle=shuffle, epochs=epochs)
    if y is not None and not _is_iterator(y):
        raise ValueError("Both x and y should be iterators for streaming learning to work.")
    return StreamingDataFeeder(x, y, n_classes, batch_size)


def _batches(x: Iterator[Any], batch_size: int | None) -> Iterator[Any]:
    """An iterator's elements in batches; what is left over is one, too."""
    if batch_size is not None and batch_size <= 0:
        raise ValueError(f"Invalid batch_size {batch_size}.")
    while True:
        rows = list(itertools.islice(x, batch_size))
        if not rows:
            return
        if isinstance(rows[0], dict):
            yield {key: np.asarray([row[key] for row in rows]) for key in rows[0]}
        else:
            yield np.asarray(rows)


@export("contrib.learn.io.setup_predict_data_feeder")
def setup_predict_data_feeder(x: Any, batch_size: int | None = None) -> Iterable[Any]:
    """Batches of features to predict for.

    Args:
        x: an array, a frame or an iterator.
        batch_size: all if None.

    Returns:
        Arrays.

    Raises:
        ValueError: the size is not positive.
    """
    x = extract_pandas_data(extract_dask_data(x))
    if _is_iterator(x):
        return _batches(x, batch_size)
    if len(x.shape) == 1:
        x = np.reshape(x, (-1, 1))
    if batch_size is None:
        return [x]
    if batch_size <= 0:
        raise ValueError(f"Invalid batch_size {batch_size}.")
    count = math.ceil(len(x) / batch_size)
    return [x[i * batch_size : (i + 1) * batch_size] for i in range(count)]


@export("contrib.learn.io.setup_processor_data_feeder")
def setup_processor_data_feeder(x: object) -> Any:
    """Rows of a frame, an array or an iterator."""
    return extract_pandas_matrix(x)


def check_array(array: Any, dtype: Any) -> Any:
    """An array or list as an array of a dtype; what reads files by itself stays as it is."""
    return np.asarray(array, dtype=dtype) if isinstance(array, (np.ndarray, list)) else array


def _access(data: Any, places: Any) -> Any:
    return data.iloc[places] if hasattr(data, "iloc") else data[places]


def _checked_dtype(dtype: object) -> Any:
    if dtypes.as_dtype(dtype) == dtypes.float64:
        log.warn("float64 is not supported by many models, consider casting to float32.")
    return dtype


def _mark(row: Any, value: Any) -> None:
    """Sets the ones of one-hot labels: of a number, or of each of several."""
    if row.ndim == 1:
        row[int(np.reshape(value, []))] = 1.0
    else:
        for place, number in enumerate(value):
            row[place, int(number)] = 1.0


@export("contrib.learn.io.DataFeeder")
class DataFeeder:
    """Feeds batches of arrays.

    Args:
        x: features: an array or a dict of some.
        y: labels, in the same way, or None.
        n_classes: makes labels one-hot of that many; a dict where labels are one; None leaves them.
        batch_size: all if None.
        shuffle: whether the order is drawn, anew in each epoch.
        random_state: a NumPy RandomState that draws it.
        epochs: how often all is fed before StopIteration; None never ends.
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        n_classes: Any,
        batch_size: int | None = None,
        shuffle: bool = True,
        random_state: Any = None,
        epochs: int | None = None,
    ) -> None:
        if isinstance(y, list):
            y = np.array(y)
        self._x = _each(lambda v: check_array(v, v.dtype), x)
        self._y = _each(lambda v: check_array(v, v.dtype), y)
        by_key = isinstance(y, dict)
        if n_classes is not None and y is not None and not by_key:
            self._y = check_array(y, np.int64 if n_classes > 1 else np.float32)
        self.n_classes = n_classes
        self.max_epochs = epochs
        shapes = _each(lambda v: v.shape, self._x), _each(lambda v: v.shape, self._y)
        self.input_shape, self.output_shape, self._batch_size = _get_in_out_shape(
            *shapes, n_classes, batch_size
        )
        self._input_dtype = _each(lambda v: _checked_dtype(v.dtype), self._x)
        self._output_dtype: Any
        self._output_dtype = (
            np.float32 if y is None else _each(lambda v: _checked_dtype(v.dtype), self._y)
        )
        if by_key:
            one_hot = {key: np.float32 for key in n_classes or () if key in y}
            self._output_dtype = {**self._output_dtype, **one_hot}
        self._shuffle = shuffle
        self.random_state = np.random.RandomState(42) if random_state is None else random_state
        self.indices = self._order()
        self.offset = 0
        self.epoch = 0
        self._epoch_placeholder: Any = None
        self._input_placeholder: Any = None
        self._output_placeholder: Any = None

    def _order(self) -> Any:
        count = self._count()
        return self.random_state.permutation(count) if self._shuffle else np.arange(count)

    def _count(self) -> int:
        first = next(iter(self._x.values())) if isinstance(self._x, dict) else self._x
        return int(first.shape[0])

    @property
    def x(self) -> Any:
        """The features."""
        return self._x

    @property
    def y(self) -> Any:
        """The labels."""
        return self._y

    @property
    def shuffle(self) -> bool:
        """Whether the order is drawn."""
        return self._shuffle

    @property
    def input_dtype(self) -> Any:
        """The dtype of features."""
        return self._input_dtype

    @property
    def output_dtype(self) -> Any:
        """The dtype of labels."""
        return self._output_dtype

    @property
    def batch_size(self) -> int:
        """How many examples are fed at once."""
        return self._batch_size

    def make_epoch_variable(self) -> Any:
        """A placeholder that is fed with the number of the epoch."""
        self._epoch_placeholder = tf.placeholder(dtypes.int32, [1], name="epoch")
        return self._epoch_placeholder

    def input_builder(self) -> tuple[Any, Any]:
        """Placeholders for features and labels."""

        def made(shape: Any, dtype: Any, name: str) -> Any:
            if isinstance(shape, dict):
                return {key: made(shape[key], dtype[key], f"{name}_{key}") for key in shape}
            return tf.placeholder(dtypes.as_dtype(dtype), [None, *shape[1:]], name=name)

        self._input_placeholder = made(self.input_shape, self._input_dtype, "input")
        if self.output_shape is not None:
            self._output_placeholder = made(self.output_shape, self._output_dtype, "output")
        return self._input_placeholder, self._output_placeholder

    def set_placeholders(self, input_placeholder: object, output_placeholder: object) -> None:
        """Says which placeholders are fed."""
        self._input_placeholder = input_placeholder
        self._output_placeholder = output_placeholder

    def get_feed_params(self) -> dict[str, Any]:
        """Where the feeder stands, as a dict."""
        return {"epoch": self.epoch, "offset": self.offset, "batch_size": self._batch_size}

    def get_feed_dict_fn(self) -> Callable[[], dict[str, Any]]:
        """A function that gives the feeds of one batch after another."""
        return self._next_feeds

    def _next_feeds(self) -> dict[str, Any]:
        if self.max_epochs is not None and self.epoch + 1 > self.max_epochs:
            raise StopIteration
        feeds: dict[str, Any] = {}
        if self._epoch_placeholder is not None:
            feeds[self._epoch_placeholder.name] = [self.epoch]
        places = self.indices[self.offset : self.offset + self._batch_size]
        _feed(feeds, self._input_placeholder, _each(lambda v: _rows(v, places), self._x))
        self._advance()
        if self._output_placeholder is not None:
            labels = _each(
                lambda data, shape, dtype, count: _labels(data, shape, dtype, count, places),
                *(self._y, self.output_shape, self._output_dtype),
                _classes_by_key(self.n_classes, self._y),
            )
            _feed(feeds, self._output_placeholder, labels)
        return feeds

    def _advance(self) -> None:
        self.offset += self._batch_size
        if self.offset >= self._count():
            self.indices = self._order()
            self.offset = 0
            self.epoch += 1


def _feed(feeds: dict[str, Any], placeholder: Any, values: Any) -> None:
    if isinstance(placeholder, dict):
        feeds.update({placeholder[key].name: values[key] for key in values})
    else:
        feeds[placeholder.name] = values


def _rows(data: Any, places: Any) -> Any:
    found = _access(data, places)
    return np.array(found).reshape((len(places), 1)) if len(data.shape) == 1 else found


def _labels(
    data: Any, shape: list[Any], dtype: Any, n_classes: int | None, places: Any
) -> np.ndarray:
    made = np.zeros([len(places), *shape[1:]], dtype=dtype)
    for i, place in enumerate(places):
        if n_classes is not None and n_classes > 1:
            _mark(made[i], _access(data, place))
        else:
            made[i] = np.reshape(_access(data, place), shape[1:])
    return made


@export("contrib.learn.io.StreamingDataFeeder")
class StreamingDataFeeder(DataFeeder):
    """Feeds batches of what iterators give.

    Args:
        x: an iterator of features of one example.
        y: an iterator of labels, or None.
        n_classes: makes labels one-hot of that many; a dict where labels are one; None leaves them.
        batch_size: how many examples are one batch; what an iterator gives is a batch if None.
    """

    def __init__(self, x: Any, y: Any, n_classes: Any, batch_size: int | None) -> None:
        first_x = next(x)
        self._x = itertools.chain([first_x], x)
        first_y = None
        self._y = None
        if y is not None:
            first_y = next(y)
            self._y = itertools.chain([first_y], y)
        self.n_classes = n_classes
        self.input_shape, self.output_shape, self._batch_size = _get_in_out_shape(
            _each(lambda v: [1, *v.shape], first_x),
            _each(lambda v: [1, *np.shape(v[0] if isinstance(v, list) else v)], first_y),
            *(n_classes, batch_size),
        )
        self._input_dtype = _each(lambda v: _checked_dtype(v.dtype), first_x)
        self._output_dtype: Any = _each(_dtype_of_label, first_y)
        if n_classes is not None and not isinstance(first_y, dict) and n_classes > 0:
            self._output_dtype = np.float32
        self._input_placeholder = self._output_placeholder = None
        self.stopped = False

    def get_feed_params(self) -> dict[str, Any]:
        """The size of batches, as a dict."""
        return {"batch_size": self._batch_size}

    def get_feed_dict_fn(self) -> Callable[[], dict[str, Any]]:
        """A function that gives the feeds of one batch after another."""
        self.stopped = False
        return self._next_feeds

    def _next_feeds(self) -> dict[str, Any]:
        if self.stopped:
            raise StopIteration
        rows = list(itertools.islice(self._x, self._batch_size))
        self.stopped = len(rows) < self._batch_size
        if not rows:
            raise StopIteration
        feeds: dict[str, Any] = {}
        made = _each(
            lambda shape, dtype: np.zeros([len(rows), *shape[1:]], dtype),
            *(self.input_shape, self._input_dtype),
        )
        for i, row in enumerate(rows):
            _put(made, i, row, None)
        _feed(feeds, self._input_placeholder, made)
        if self._y is not None:
            labels = _each(
                lambda shape, dtype: np.zeros([len(rows), *shape[1:]], dtype),
                *(self.output_shape, self._output_dtype),
            )
            for i in range(len(rows)):
                _put(labels, i, next(self._y), self.n_classes)
            _feed(feeds, self._output_placeholder, labels)
        return feeds


def _dtype_of_label(value: object) -> Any:
    while isinstance(value, list):
        value = value[0]
    return value.dtype if isinstance(value, np.ndarray) else _checked_dtype(np.dtype(type(value)))


def _put(made: Any, place: int, value: Any, n_classes: Any) -> None:
    """Puts one example into a batch."""
    if isinstance(made, Mapping):
        for key in made:
            _put(made[key], place, value[key], (n_classes or {}).get(key))
    elif n_classes is not None and n_classes > 1:
        _mark(made[place], value)
    else:
        made[place] = np.reshape(value, made.shape[1:])
