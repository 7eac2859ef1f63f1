# SPDX-License-Identifier: Apache-2.0
"""The class methods that make a RaggedTensor of values and of how these fall into rows.

Each takes the class first.  Row splits are what all of them come down to; what a method was given
instead is kept beside them, so that nobody computes it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.graph.constants import constant_value
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ..control import with_dependencies
from ..public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from .tensor import RaggedTensor

INTEGERS = (dtypes.int32, dtypes.int64)


def rows_in(values: Any, out_type: Any = dtypes.int32) -> Tensor:
    """How many entries a tensor, ragged or not, has along its first axis."""
    if hasattr(values, "row_splits"):
        return values.nrows(out_type=out_type)
    return tf.shape(values, out_type=out_type)[0]


def _check_bool(validate: object) -> None:
    if not isinstance(validate, bool):
        raise TypeError("validate must have type bool")


def _increasing(tensor: Tensor, message: str) -> Any:
    return tf.assert_non_negative(tensor[1:] - tensor[:-1], message=message)


def _zero(tensor: Tensor, message: str) -> Any:
    zero = tf.constant(0, dtype=tensor.dtype)
    return tf.assert_equal(tensor, zero, message=message)


def _invalid(method: str) -> str:
    return f"Arguments to {method} do not form a valid RaggedTensor"


def _after(checks: list[Any], values: Any, partition: Tensor) -> Tensor:
    """The partition behind its checks, and behind that of the rank of dense values."""
    if isinstance(values, Tensor):
        checks = [*checks, tf.assert_rank_at_least(values, 1)]
    return with_dependencies(checks, partition)


def _converted(cls: Any, values: Any, partition: Any, name: str) -> tuple[Any, Tensor]:
    """Values and what parts them, as tensors; the latter of int32 or int64."""
    problem = f"{name} must have dtype int32 or int64"
    if isinstance(values, cls):
        own = values.row_splits.dtype
        if not isinstance(partition, Tensor):
            return values, convert_to_tensor(partition, own, name=name)
        if partition.dtype not in INTEGERS:
            raise ValueError(problem)
        if partition.dtype != own:
            raise ValueError(
                f"dtype mismatch: {name} ({partition.dtype}) vs values.row_splits ({own})"
            )
        return values, partition
    values = convert_to_tensor(values, name="values")
    if isinstance(partition, np.ndarray) and partition.dtype == np.int32:
        return values, convert_to_tensor(partition, name=name)
    partition = convert_to_tensor(partition, preferred_dtype=dtypes.int64, name=name)
    if partition.dtype not in INTEGERS:
        raise ValueError(problem)
    return values, partition


def _known_rows(nrows: Tensor, value_rowids: Tensor) -> Any:
    """The number of rows where the graph knows it; ValueError if it is too small."""
    count = constant_value(nrows)
    if count is None:
        return None
    if count < 0:
        raise ValueError(f"Expected nrows >= 0; got {count}")
    ids = constant_value(value_rowids)
    if ids is not None and ids.size > 0 and count < ids[-1] + 1:
        raise ValueError(
            f"Expected nrows >= value_rowids[-1] + 1; got nrows={count}, value_rowids[-1]={ids[-1]}"
        )
    return count


def _counted_rows(value_rowids: Tensor) -> tuple[Tensor, Any]:
    """One row more than the number of the last that has a value."""
    ids = constant_value(value_rowids)
    if ids is None:
        return tf.concat([value_rowids[-1:], [-1]], axis=0)[0] + 1, None
    count = ids[-1] + 1 if ids.size > 0 else 0
    return convert_to_tensor(count, value_rowids.dtype, name="nrows"), count


def from_value_rowids(
    cls: Any,
    values: Any,
    value_rowids: TensorLike,
    nrows: TensorLike | None = None,
    name: str | None = None,
    validate: bool = True,
) -> RaggedTensor:
    """Rows of values that each say which row they are in.

    Args:
        values: a tensor, ragged or not, of at least one axis.
        value_rowids: a vector of int32 or int64 with a row's number for every value; it does not
            decrease.
        nrows: how many rows there are; if None, up to the last that has a value.
        name: the prefix of the names of operations.
        validate: whether a run checks what was given.

    Returns:
        A RaggedTensor of one axis more than the values.

    Raises:
        ValueError: there are fewer rows than the ids name.

    Example:
        >>> x = tf.RaggedTensor.from_value_rowids([3, 1, 4], [0, 0, 2])
        >>> tf.Session().run(x).to_list()
        [[3, 1], [], [4]]
    """
    _check_bool(validate)
    with name_scope(name, "RaggedFromValueRowIds", [values, value_rowids, nrows]):
        values, ids = _converted(cls, values, value_rowids, "value_rowids")
        if nrows is None:
            count, known = _counted_rows(ids)
        else:
            count = convert_to_tensor(nrows, ids.dtype, "nrows")
            known = _known_rows(count, ids)
        ids.shape.assert_has_rank(1)
        count.shape.assert_has_rank(0)
        values.shape[:1].assert_is_compatible_with(ids.shape)
        if validate:
            message = _invalid("from_value_rowids")
            sizes = rows_in(values), rows_in(ids)
            checks = [
                tf.assert_rank(ids, 1, message=message),
                tf.assert_rank(count, 0, message=message),
                tf.assert_equal(*sizes, message=message),
                tf.assert_non_negative(ids[:1], message=message),
                _increasing(ids, message),
                tf.assert_less(ids[-1:], count, message=message),
            ]
            ids = _after(checks, values, ids)
        small_ids, most = tf.cast(ids, dtypes.int32), tf.cast(count, dtypes.int32)
        lengths = tf.bincount(small_ids, minlength=most, maxlength=most, dtype=ids.dtype)
        splits = tf.concat([[0], tf.cumsum(lengths)], axis=0)
        if known is not None:
            lengths.set_shape([known])
            splits.set_shape([known + 1])
        return cls(
            values,
            splits,
            cached_row_lengths=lengths,
            cached_value_rowids=ids,
            cached_nrows=count,
            internal=True,
        )


def from_row_splits(
    cls: Any,
    values: Any,
    row_splits: TensorLike,
    name: str | None = None,
    validate: bool = True,
) -> RaggedTensor:
    """Rows by where each begins and ends among the values.

    Args:
        values: a tensor, ragged or not, of at least one axis.
        row_splits: a vector of int32 or int64: row i is values[row_splits[i] : row_splits[i + 1]].
            It begins with 0, does not decrease and ends with the number of values.
        name: the prefix of the names of operations.
        validate: whether a run checks what was given.

    Returns:
        A RaggedTensor of one axis more than the values.

    Raises:
        ValueError: there are no splits, or they are no int32 or int64.

    Example:
        >>> x = tf.RaggedTensor.from_row_splits([3, 1, 4, 1, 5], [0, 2, 2, 5])
        >>> tf.Session().run(x).to_list()
        [[3, 1], [], [4, 1, 5]]
    """
    _check_bool(validate)
    if isinstance(row_splits, (list, tuple)) and not row_splits:
        raise ValueError("row_splits tensor may not be empty.")
    with name_scope(name, "RaggedFromRowSplits", [values, row_splits]):
        values, splits = _converted(cls, values, row_splits, "row_splits")
        splits.shape.assert_has_rank(1)
        if validate:
            message = _invalid("from_row_splits")
            count = rows_in(values, splits.dtype)
            checks = [
                tf.assert_rank(splits, 1, message=message),
                _zero(splits[0], message),
                _increasing(splits, message),
                tf.assert_equal(splits[-1], count, message=message),
            ]
            splits = _after(checks, values, splits)
        return cls(values=values, row_splits=splits, internal=True)


def from_row_lengths(
    cls: Any,
    values: Any,
    row_lengths: TensorLike,
    name: str | None = None,
    validate: bool = True,
) -> RaggedTensor:
    """Rows by their lengths.

    Args:
        values: a tensor, ragged or not, of at least one axis.
        row_lengths: a vector of int32 or int64; their sum is the number of values.
        name: the prefix of the names of operations.
        validate: whether a run checks what was given.

    Returns:
        A RaggedTensor of one axis more than the values.

    Example:
        >>> x = tf.RaggedTensor.from_row_lengths([3, 1, 4, 1, 5], [2, 0, 3])
        >>> tf.Session().run(x).to_list()
        [[3, 1], [], [4, 1, 5]]
    """
    _check_bool(validate)
    with name_scope(name, "RaggedFromRowLengths", [values, row_lengths]):
        values, lengths = _converted(cls, values, row_lengths, "row_lengths")
        lengths.shape.assert_has_rank(1)
        if validate:
            message = _invalid("from_row_lengths")
            total, count = tf.reduce_sum(lengths), rows_in(values, lengths.dtype)
            checks = [
                tf.assert_rank(lengths, 1, message=message),
                tf.assert_non_negative(lengths, message=message),
                tf.assert_equal(total, count, message=message),
            ]
            lengths = _after(checks, values, lengths)
        splits = tf.concat([[0], tf.cumsum(lengths)], axis=0)
        return cls(values=values, row_splits=splits, cached_row_lengths=lengths, internal=True)


def from_row_starts(
    cls: Any,
    values: Any,
    row_starts: TensorLike,
    name: str | None = None,
    validate: bool = True,
) -> RaggedTensor:
    """Rows by where each begins among the values; the last goes to their end.

    Args:
        values: a tensor, ragged or not, of at least one axis.
        row_starts: a vector of int32 or int64 that begins with 0 and does not decrease.
        name: the prefix of the names of operations.
        validate: whether a run checks what was given.

    Returns:
        A RaggedTensor of one axis more than the values.

    Example:
        >>> x = tf.RaggedTensor.from_row_starts([3, 1, 4, 1, 5], [0, 2, 2])
        >>> tf.Session().run(x).to_list()
        [[3, 1], [], [4, 1, 5]]
    """
    _check_bool(validate)
    with name_scope(name, "RaggedFromRowStarts", [values, row_starts]):
        values, starts = _converted(cls, values, row_starts, "row_starts")
        starts.shape.assert_has_rank(1)
        count = rows_in(values, starts.dtype)
        if validate:
            message = _invalid("from_row_starts")
            checks = [
                tf.assert_rank(starts, 1, message=message),
                _zero(starts[:1], message),
                _increasing(starts, message),
                tf.assert_less_equal(starts[-1:], count, message=message),
            ]
            starts = _after(checks, values, starts)
        splits = tf.concat([starts, [count]], axis=0)
        return cls(values=values, row_splits=splits, internal=True)


def from_row_limits(
    cls: Any,
    values: Any,
    row_limits: TensorLike,
    name: str | None = None,
    validate: bool = True,
) -> RaggedTensor:
    """Rows by where each ends among the values; the first begins with them.

    Args:
        values: a tensor, ragged or not, of at least one axis.
        row_limits: a vector of int32 or int64 that does not decrease and ends with the number of
            values.
        name: the prefix of the names of operations.
        validate: whether a run checks what was given.

    Returns:
        A RaggedTensor of one axis more than the values.

    Example:
        >>> x = tf.RaggedTensor.from_row_limits([3, 1, 4, 1, 5], [2, 2, 5])
        >>> tf.Session().run(x).to_list()
        [[3, 1], [], [4, 1, 5]]
    """
    _check_bool(validate)
    with name_scope(name, "RaggedFromRowLimits", [values, row_limits]):
        values, limits = _converted(cls, values, row_limits, "row_limits")
        limits.shape.assert_has_rank(1)
        if validate:
            message = _invalid("from_row_limits")
            count = rows_in(values, limits.dtype)
            checks = [
                tf.assert_rank(limits, 1, message=message),
                tf.assert_non_negative(limits[:1], message=message),
                _increasing(limits, message),
                tf.assert_equal(limits[-1:], count, message=message),
            ]
            limits = _after(checks, values, limits)
        splits = tf.concat([tf.zeros([1], limits.dtype), limits], axis=0)
        return cls(values=values, row_splits=splits, internal=True)


def _check_list(given: object, name: str) -> None:
    if isinstance(given, Tensor):
        raise TypeError(f"{name} must be a list of Tensors")


def from_nested_value_rowids(
    cls: Any,
    flat_values: Any,
    nested_value_rowids: Sequence[TensorLike],
    nested_nrows: Sequence[TensorLike | None] | None = None,
    name: str | None = None,
    validate: bool = True,
) -> Any:
    """Rows of rows by the numbers of rows, the outermost level first; see `from_value_rowids`."""
    _check_bool(validate)
    _check_list(nested_value_rowids, "nested_value_rowids")
    _check_list(nested_nrows, "nested_nrows")
    counts = [None] * len(nested_value_rowids) if nested_nrows is None else nested_nrows
    if len(counts) != len(nested_value_rowids):
        raise ValueError("nested_nrows must have the same length as nested_value_rowids")
    scope_values = [flat_values, *nested_value_rowids, *counts]
    with name_scope(name, "RaggedFromNestedValueRowIds", scope_values):
        result = flat_values
        for ids, count in reversed(list(zip(nested_value_rowids, counts))):
            result = cls.from_value_rowids(result, ids, count, validate=validate)
        return result


def from_nested_row_splits(
    cls: Any,
    flat_values: Any,
    nested_row_splits: Sequence[TensorLike],
    name: str | None = None,
    validate: bool = True,
) -> Any:
    """Rows of rows by their splits, the outermost level first; see `from_row_splits`."""
    _check_bool(validate)
    _check_list(nested_row_splits, "nested_row_splits")
    with name_scope(name, "RaggedFromNestedRowSplits", [flat_values, *nested_row_splits]):
        result = flat_values
        for splits in reversed(nested_row_splits):
            result = cls.from_row_splits(result, splits, validate=validate)
        return result


def from_nested_row_lengths(
    cls: Any,
    flat_values: Any,
    nested_row_lengths: Sequence[TensorLike],
    name: str | None = None,
    validate: bool = True,
) -> Any:
    """Rows of rows by their lengths, the outermost level first; see `from_row_lengths`."""
    _check_bool(validate)
    _check_list(nested_row_lengths, "nested_row_lengths")
    with name_scope(name, "RaggedFromNestedRowlengths", [flat_values, *nested_row_lengths]):
        result = flat_values
        for lengths in reversed(nested_row_lengths):
            result = cls.from_row_lengths(result, lengths, validate=validate)
        return result
