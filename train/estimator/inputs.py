# SPDX-License-Identifier: Apache-2.0
"""`tf.estimator.inputs`: input functions of arrays and of data frames."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.api import export
from .feeding import enqueue_rows


def _check_shuffle(shuffle: object) -> None:
    if not isinstance(shuffle, bool):
        raise ValueError(
            "shuffle must be provided and explicitly set as boolean (it is recommended to set it "
            f"as True for training); got {shuffle}"
        )


def _by_key(x: object) -> dict[str, Any]:
    """Arrays by key, in order; an array alone gets one that nobody asks for."""
    if isinstance(x, dict):
        if not x:
            raise ValueError("x cannot be an empty dict")
        return dict(sorted(x.items()))
    if isinstance(x, np.ndarray):
        if x.size == 0:
            raise ValueError("x cannot be an empty array")
        return {"__direct_np_input__": x}
    raise TypeError(f"x must be a dict or array; got {type(x).__name__}")


def _targets(y: object, features: dict[str, Any]) -> dict[str, Any]:
    """Labels by key, in order, apart from the features."""
    if y is None:
        return {}
    if not isinstance(y, dict):
        key = "__target_key__"
        while key in features:
            key += "_n"
        return {key: y}
    if not y:
        raise ValueError("y cannot be empty dict, use None instead.")
    both = set(features) & set(y)
    if both:
        raise ValueError(f"{len(both)} duplicate keys are found in both x and y: {both}")
    return dict(sorted(y.items()))


@export("estimator.inputs.numpy_input_fn")
def numpy_input_fn(
    x: object,
    y: object = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], Any]:
    """An input function of arrays, through a queue.

    Args:
        x: an array or a dict of some, whose first sizes are one.
        y: labels: likewise, or None.
        batch_size: rows of a batch.
        num_epochs: how often each row comes; None for no end.
        shuffle: whether rows come in random order; must be given.
        queue_capacity: rows that the queue holds.
        num_threads: how many threads fill it.

    Returns:
        A function for Estimators.

    Raises:
        ValueError: shuffle is not given; when called: arrays are empty or differ in length.
        TypeError: when called: x is neither an array nor a dict.

    Example:
        >>> x = {"age": np.array([21.0, 35.0])}
        >>> input_fn = tf.estimator.inputs.numpy_input_fn(x, batch_size=2, shuffle=False)
        >>> input_fn()["age"].dtype
        tf.float64
    """
    _check_shuffle(shuffle)

    def input_fn() -> Any:
        features = _by_key(x)
        targets = _targets(y, features)
        data = {**features, **targets}
        if len({v.shape[0] for v in data.values()}) != 1:
            shapes = {key: value.shape for key, value in features.items()}
            of_y = {key: value.shape for key, value in targets.items()}
            shown = of_y if isinstance(y, dict) else next(iter(of_y.values()), None)
            raise ValueError(
                "Length of tensors in x and y is mismatched. All elements in x and y must have the "
                f"same length.\nShapes in x: {shapes}\nShapes in y: {shown}\n"
            )
        arrays = list(data.values())
        queue = enqueue_rows(
            [(np.int64, ()), *((array.dtype, array.shape[1:]) for array in arrays)],
            len(arrays[0]),
            lambda rows: [rows, *(array[rows] for array in arrays)],
            queue_capacity,
            bool(shuffle),
            None,
            num_threads,
            batch_size,
            num_epochs,
        )
        batch = dict(zip(data, _dequeued(queue, batch_size, num_epochs)))
        of_x = {key: batch[key] for key in features}
        made = of_x if isinstance(x, dict) else next(iter(of_x.values()))
        if y is None:
            return made
        of_y = {key: batch[key] for key in targets}
        return made, of_y if isinstance(y, dict) else next(iter(of_y.values()))

    return input_fn


def _dequeued(queue: Any, batch_size: int, num_epochs: int | None) -> list[Any]:
    """The columns of a batch, without the rows' numbers; the last may be smaller, if one is."""
    take = queue.dequeue_many if num_epochs is None else queue.dequeue_up_to
    return take(batch_size)[1:]  # type: ignore[no-any-return]


@export("estimator.inputs.pandas_input_fn")
def pandas_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int | None = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Callable[[], Any]:
    """An input function of a data frame, through a queue.

    Args:
        x: a DataFrame; its columns are features.
        y: a Series or DataFrame of labels with the same index, or None.
        batch_size, num_epochs, shuffle, num_threads: as of numpy_input_fn.
        queue_capacity: rows that the queue holds; all, or four times as many when they are
            shuffled, if None.
        target_column: a name that no column has.

    Returns:
        A function for Estimators.

    Raises:
        ValueError: shuffle is not given, indices differ, or there is a column of that name.
        TypeError: pandas is not installed, or the name is no string.
    """
    try:
        import pandas
    except ImportError:
        raise TypeError("pandas_input_fn should not be called without pandas installed") from None
    _check_shuffle(shuffle)
    if not isinstance(target_column, str):
        raise TypeError("target_column must be a string type")
    many = isinstance(y, pandas.DataFrame)
    frame, targets = _with_targets(x, y, target_column, many)
    capacity = queue_capacity
    if capacity is None:
        capacity = 4 * len(frame) if shuffle else len(frame)

    def rows_of(rows: list[int]) -> list[Any]:
        found = frame.iloc[rows]
        return [found.index.values, *(found[name].to_numpy() for name in found.columns)]

    def input_fn() -> Any:
        types = [frame.index.dtype, *frame.dtypes]
        queue = enqueue_rows(
            [(dtype if isinstance(dtype, np.dtype) else np.dtype(object), ()) for dtype in types],
            len(frame),
            rows_of,
            capacity,
            bool(shuffle),
            max(capacity / 4, 1),
            num_threads,
            batch_size,
            num_epochs,
        )
        features = dict(zip(frame.columns, _dequeued(queue, batch_size, num_epochs)))
        if y is None:
            return features
        labels = {name: features.pop(column) for name, column in targets.items()}
        return features, labels if many else labels[""]

    return input_fn


def _with_targets(x: Any, y: Any, target_column: str, many: bool) -> tuple[Any, dict[str, str]]:
    """A frame of features and targets, and in which columns the targets are, by their names."""
    frame = x.copy()
    if y is None:
        return frame, {}
    if target_column in frame:
        raise ValueError(
            f"Cannot use name {target_column} for target column: DataFrame already has a "
            f"column with that name: {frame.columns}"
        )
    if not np.array_equal(frame.index, y.index):
        raise ValueError(
            f"Index for x and y are mismatched.\nIndex for x: {frame.index}\n"
            f"Index for y: {y.index}\n"
        )
    targets = {name: _free(frame, name) for name in list(y)} if many else {"": target_column}
    frame[list(targets.values()) if many else target_column] = y
    return frame, targets


def _free(frame: Any, name: str) -> str:
    return f"{name}_{uuid.uuid4()}" if name in frame else name
