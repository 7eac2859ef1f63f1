# SPDX-License-Identifier: Apache-2.0
"""Input of estimators: arrays by placeholders and feeds, or what functions give."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from .....engine.api import export
from .....engine.graph.tensor import Tensor
from .....ops.public import tf
from ....estimator.util import parse_input_fn_result
from ...layers.feature_column_ops import infer_real_valued_columns
from ..learn_io.data_feeder import setup_train_data_feeder


def arguments(fn: object) -> tuple[str, ...]:
    """The names of a function's arguments that are not bound."""
    if isinstance(fn, functools.partial):
        names = arguments(fn.func)[len(fn.args) :]
        return tuple(name for name in names if name not in (fn.keywords or {}))
    spec = inspect.getfullargspec(inspect.unwrap(fn) if callable(fn) else fn)
    return tuple(spec.args + spec.kwonlyargs)


def verify(
    x: object,
    y: object,
    input_fn: Callable[..., Any] | None,
    feed_fn: Callable[[], Any] | None,
    batch_size: int | None,
) -> None:
    """Raises ValueError for arguments that exclude each other."""
    if input_fn is None:
        if x is None:
            raise ValueError("Either x or input_fn must be provided.")
        if isinstance(x, Tensor) or isinstance(y, Tensor):
            raise ValueError("Inputs cannot be tensors. Please provide input_fn.")
        if feed_fn is not None:
            raise ValueError("Can not provide both feed_fn and x or y.")
        return
    if x is not None or y is not None:
        raise ValueError("Can not provide both input_fn and x or y.")
    if batch_size is not None:
        raise ValueError("Can not provide both input_fn and batch_size.")


def input_and_feeds(
    x: object,
    y: object,
    input_fn: Callable[..., Any] | None,
    feed_fn: Callable[[], Any] | None,
    batch_size: int | None,
    shuffle: bool = False,
    epochs: int | None = 1,
) -> tuple[Callable[[], Any], Any]:
    """An input function and one that gives feeds; None where nothing is fed."""
    verify(x, y, input_fn, feed_fn, batch_size)
    if input_fn is not None:
        return input_fn, feed_fn
    feeder = setup_train_data_feeder(
        x, y, n_classes=None, batch_size=batch_size, shuffle=shuffle, epochs=epochs
    )
    return feeder.input_builder, feeder.get_feed_dict_fn()


def called(input_fn: Any) -> tuple[Any, Any, list[Any]]:
    """Features, labels and hooks of what an input function gives: tensors or a dataset."""
    return parse_input_fn_result(input_fn())


@export("contrib.learn.infer_real_valued_columns_from_input_fn")
def infer_real_valued_columns_from_input_fn(input_fn: Callable[[], Any]) -> list[Any]:
    """Columns of floats for what an input function gives.

    Args:
        input_fn: gives features and labels.

    Returns:
        A list of columns.
    """
    with tf.Graph().as_default():
        features, _ = input_fn()
        return infer_real_valued_columns(features)


@export("contrib.learn.infer_real_valued_columns_from_input")
def infer_real_valued_columns_from_input(x: object) -> list[Any]:
    """Columns of floats for an array, a frame or an iterator.

    Args:
        x: features.

    Returns:
        A list of columns.
    """
    return infer_real_valued_columns_from_input_fn(input_and_feeds(x, None, None, None, None)[0])
