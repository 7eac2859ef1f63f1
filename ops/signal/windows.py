# SPDX-License-Identifier: Apache-2.0
"""Windows that fade frames in and out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.graph.constants import constant_value
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ..public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike


@export("signal.hann_window", "contrib.signal.hann_window")
def hann_window(
    window_length: TensorLike,
    periodic: TensorLike = True,
    dtype: dtypes.DType = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """A Hann window (tf.signal.hann_window): half a cosine up and down again, from 0.

    Args:
        window_length: how many numbers, a scalar.
        periodic: whether it goes on into the next window; else it ends as it begins.
        dtype: of floats.
        name: of the scope.

    Returns:
        A vector of that length.

    Raises:
        ValueError: the dtype is not one of floats.

    Example:
        >>> print(tf.Session().run(tf.signal.hann_window(4)))
        [0.  0.5 1.  0.5]
    """
    return _raised_cosine(name, "hann_window", window_length, periodic, dtype, 0.5, 0.5)


@export("signal.hamming_window", "contrib.signal.hamming_window")
def hamming_window(
    window_length: TensorLike,
    periodic: TensorLike = True,
    dtype: dtypes.DType = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """A Hamming window (tf.signal.hamming_window): as a Hann window, from 0.08.

    Args:
        window_length: how many numbers, a scalar.
        periodic: whether it goes on into the next window; else it ends as it begins.
        dtype: of floats.
        name: of the scope.

    Returns:
        A vector of that length.

    Raises:
        ValueError: the dtype is not one of floats.

    Example:
        >>> print(tf.Session().run(tf.signal.hamming_window(4)).round(2))
        [0.08 0.54 1.   0.54]
    """
    return _raised_cosine(name, "hamming_window", window_length, periodic, dtype, 0.54, 0.46)


def _raised_cosine(
    name: str | None,
    default_name: str,
    window_length: TensorLike,
    periodic: TensorLike,
    dtype: dtypes.DType,
    mean: float,
    swing: float,
) -> Tensor:
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {dtype}")
    with name_scope(name, default_name, [window_length, periodic]):
        length: Any = convert_to_tensor(window_length, dtype=dtypes.int32, name="window_length")
        length.shape.assert_has_rank(0)
        known = constant_value(length)
        if known == 1:
            return tf.ones([1], dtype=dtype)
        goes_on = convert_to_tensor(periodic, dtype=dtypes.bool, name="periodic")
        turns: Any = tf.cast(goes_on, dtypes.int32)
        turns.shape.assert_has_rank(0)
        is_even = 1 - tf.mod(length, 2)
        # Windows of odd lengths end as they begin in any case, as in TensorFlow.
        n = tf.cast(length + turns * is_even - 1, dtype=dtype)
        places = tf.cast(tf.range(length), dtype)
        angle = tf.constant(2 * np.pi, dtype=dtype) * places / n

        def window() -> Tensor:
            return tf.cast(mean - swing * tf.cos(angle), dtype=dtype)

        if known is not None:
            return window()
        return tf.cond(tf.equal(length, 1), lambda: tf.ones([1], dtype=dtype), window)
