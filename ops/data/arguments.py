# SPDX-License-Identifier: Apache-2.0
"""Arguments of datasets as tensors, with TensorFlow's names: seeds, optional numbers, shapes."""

from __future__ import annotations

from typing import Any

from ...engine.graph import seed as random_seed
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.types import dtypes
from ...engine.types.shape import as_shape
from ..public import tf


def get_seed(seed: Any) -> tuple[Any, Any]:
    """The two seeds of a dataset, as int64 tensors; 0 and 0 for no seed at all."""
    seeds: tuple[Any, Any] = random_seed.get_seed(seed)
    first, second = seeds
    if first is None:
        first = tf.constant(0, dtype=dtypes.int64, name="seed")
    else:
        first = convert_to_tensor(first, dtype=dtypes.int64, name="seed")
    if second is None:
        return first, tf.constant(0, dtype=dtypes.int64, name="seed2")
    with name_scope("seed2") as scope:
        second = convert_to_tensor(second, dtype=dtypes.int64)
        both_zero = tf.logical_and(tf.equal(first, 0), tf.equal(second, 0))
        largest = tf.constant(2**31 - 1, dtype=dtypes.int64)
        return first, tf.where(both_zero, largest, second, name=scope)


def optional_param_to_tensor(
    argument_name: str,
    argument_value: Any,
    argument_default: Any = 0,
    argument_dtype: Any = dtypes.int64,
) -> Any:
    """An argument as a tensor of its name; the default where it is None."""
    if argument_value is not None:
        return convert_to_tensor(argument_value, dtype=argument_dtype, name=argument_name)
    return tf.constant(argument_default, dtype=argument_dtype, name=argument_name)


def partial_shape_to_tensor(shape_like: Any) -> Any:
    """A shape as a vector of int64, with -1 for what is not known.

    Raises:
      ValueError: A tensor is no vector.
      TypeError: It is of another dtype.
    """
    try:
        sizes = as_shape(shape_like).as_list()
        return convert_to_tensor([-1 if n is None else n for n in sizes], dtype=dtypes.int64)
    except (TypeError, ValueError):
        found = convert_to_tensor(shape_like, preferred_dtype=dtypes.int64)
    if found.shape.ndims not in (None, 1):
        raise ValueError(
            f"The given shape {shape_like} must be a 1-D tensor of tf.int64 values, but the shape "
            f"was {found.shape}."
        )
    if found.dtype != dtypes.int64:
        raise TypeError(
            f"The given shape {shape_like} must be a 1-D tensor of tf.int64 values, but the "
            f"element type was {found.dtype.name}."
        )
    return found
