# SPDX-License-Identifier: Apache-2.0
"""Checks of columns' arguments, and lengths of sequences in sparse tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.types import dtypes, nest
from ...ops.public import tf

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor
    from ...engine.types.dtypes import DType


def sequence_length_from_sparse_tensor(sp_tensor: Any, num_elements: int | None = 1) -> Tensor:
    """How many steps each row has, steps being `num_elements` entries; int64 [batch]."""
    with tf.name_scope(None, "sequence_length") as scope:
        rows = sp_tensor.indices[:, 0]
        columns = sp_tensor.indices[:, 1]
        columns += tf.ones_like(columns)
        lengths = tf.segment_max(columns, segment_ids=rows)
        lengths = tf.cast(tf.ceil(lengths / num_elements), dtypes.int64)
        # Rows without entries at the end have no segment.
        missing = tf.shape(sp_tensor)[:1] - tf.shape(lengths)[:1]
        padding = tf.zeros(missing, dtype=lengths.dtype)
        return tf.concat([lengths, padding], axis=0, name=scope)


def assert_string_or_int(dtype: DType, prefix: str) -> None:
    """Raises ValueError for a dtype that is neither."""
    if dtype != dtypes.string and not dtype.is_integer:
        raise ValueError(f"{prefix} dtype must be string or integer. dtype: {dtype}.")


def assert_key_is_string(key: object) -> None:
    """Raises ValueError for a key that is no string."""
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: type {type(key)}. Given key: {key}.")


def checked_shape(shape: Any, key: object) -> tuple[int, ...]:
    """A shape of positive sizes as a tuple; an integer is a vector's."""
    if shape is None:
        raise AssertionError(f"shape must not be None. key: {key}")
    shape = tuple(shape) if nest.is_sequence(shape) else (shape,)
    for dimension in shape:
        if not isinstance(dimension, int):
            raise TypeError(f"shape dimensions must be integer. shape: {shape}, key: {key}")
        if dimension < 1:
            raise ValueError(f"shape dimensions must be greater than 0. shape: {shape}, key: {key}")
    return shape


def check_default_value(shape: Sequence[int], default_value: Any, dtype: DType, key: object) -> Any:
    """The value that stands for a missing feature, as nested tuples of the shape.

    Raises:
        TypeError: it does not fit the dtype.
        ValueError: it has another shape.
    """
    if default_value is None:
        return None
    if isinstance(default_value, int) or (isinstance(default_value, float) and dtype.is_floating):
        return _filled(shape, default_value)
    if callable(getattr(default_value, "tolist", None)):
        default_value = default_value.tolist()
    if nest.is_sequence(default_value):
        if not _fits(default_value, shape):
            raise ValueError(
                "The shape of default_value must be equal to given shape. "
                f"default_value: {default_value}, shape: {shape}, key: {key}"
            )
        flat = nest.flatten(default_value)
        whole = all(isinstance(value, int) for value in flat)
        if whole or (dtype.is_floating and any(isinstance(value, float) for value in flat)):
            return _as_tuple(default_value)
    raise TypeError(
        f"default_value must be compatible with dtype. default_value: {default_value}, "
        f"dtype: {dtype}, key: {key}"
    )


def _filled(shape: Sequence[int], value: float) -> Any:
    return tuple(_filled(shape[1:], value) for _ in range(shape[0])) if shape else value


def _as_tuple(value: Any) -> Any:
    return tuple(map(_as_tuple, value)) if nest.is_sequence(value) else value


def _fits(value: Any, shape: Sequence[int]) -> bool:
    if nest.is_sequence(value) != bool(shape):
        return False
    if not shape:
        return True
    return len(value) == shape[0] and all(_fits(part, shape[1:]) for part in value)


def check_embedding(
    dimension: int | None,
    initializer: object,
    ckpt_to_load_from: str | None,
    tensor_name_in_ckpt: str | None,
    of: str = "",
) -> None:
    """Raises ValueError for arguments that no embedding can have; `of` ends a message."""
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError(
            "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them."
        )
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified.{of}")
