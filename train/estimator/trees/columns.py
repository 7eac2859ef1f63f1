# SPDX-License-Identifier: Apache-2.0
"""Columns as the features of trees: integers that are numbers of buckets, or 0 and 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ....engine.types import dtypes
from ....ops.public import raw, tf
from ...feature_column.indicator import IndicatorColumn
from ...feature_column.input_layer import transform_features, transform_features_v2
from ...feature_column.numeric import BucketizedColumn
from ...feature_column.protocol import (
    _CategoricalColumn,
    _DenseColumn,
    is_feature_column_v2,
)
from ...feature_column.state import _StateManagerImpl

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor

# Buckets of a 0 or 1, and the least that bucketized columns share.
_FEW = 2

Boundaries = dict[str, Any]


def by_name(columns: Sequence[Any]) -> list[Any]:
    """Columns in the order in which their features are numbered."""
    return sorted(columns, key=lambda column: column.name)


def _refused(column: Any) -> ValueError:
    if isinstance(column, _CategoricalColumn):
        return ValueError(f"CategoricalColumn must be wrapped by IndicatorColumn, got: {column}")
    return ValueError(f"Got unexpected feature column type: {column}")


def is_float(column: Any) -> bool:
    """Whether a column gives numbers whose buckets are to be found."""
    if isinstance(column, (_CategoricalColumn, BucketizedColumn, IndicatorColumn)):
        return False
    if isinstance(column, _DenseColumn):
        return bool(column.dtype.is_floating)  # type: ignore[attr-defined]
    raise ValueError(f"Encountered unexpected column {column}")


def width(column: Any) -> int:
    """How many features a column gives."""
    if isinstance(column, IndicatorColumn):
        return int(column.categorical_column._num_buckets)
    if isinstance(column, BucketizedColumn):
        return 1
    if isinstance(column, _DenseColumn):
        sizes = column._variable_shape.as_list()
        return int(sizes[0] or 0) if sizes else 1
    raise _refused(column)


def count_features(columns: Sequence[Any]) -> int:
    """How many features columns give."""
    return sum(width(column) for column in columns)


def feature_names(columns: Sequence[Any]) -> list[str]:
    """The name of the column of each feature."""
    names: list[str] = []
    for column in columns:
        named = column.categorical_column if isinstance(column, IndicatorColumn) else column
        names += [named.name] * width(column)
    return names


def group_by_buckets(columns: Sequence[Any], quantiles: int) -> tuple[list[int], list[list[int]]]:
    """Features that have as many buckets: the numbers of these, and the features' numbers.

    Args:
        columns: in their order.
        quantiles: how many buckets floats have.
    """
    groups: dict[int, list[int]] = {}
    bucketized: list[int] = []
    most, feature = _FEW, 0
    for column in columns:
        ids = list(range(feature, feature + width(column)))
        feature += len(ids)
        if isinstance(column, BucketizedColumn):
            most = max(most, len(column.boundaries) + 1)
            bucketized += ids
        else:
            size = _FEW if isinstance(column, IndicatorColumn) else quantiles
            groups.setdefault(size, []).extend(ids)
    if bucketized:
        groups.setdefault(most, []).extend(bucketized)
    return list(groups), list(groups.values())


def boundaries_by_name(columns: Sequence[Any], found: Sequence[Any]) -> Boundaries:
    """The boundaries of the dimensions of float columns, by the columns' names."""
    rest, given = list(found), {}
    for column in columns:
        given[column.name], rest = rest[: width(column)], rest[width(column) :]
    return given


def transformed(features: dict[str, Any], columns: Sequence[Any]) -> dict[Any, Any]:
    """What columns make of features, by column."""
    new = [column for column in columns if is_feature_column_v2([column])]
    old = [column for column in columns if column not in new]
    made: dict[Any, Any] = {}
    if new:
        # (No column of trees has variables.)
        manager = _StateManagerImpl(layer=None, trainable=False)
        made.update(transform_features_v2(features, new, manager))
    if old:
        made.update(transform_features(features, old))
    return made


def _bucketized(column: Any, tensor: Any, features: dict[str, Any]) -> Tensor:
    result = tf.squeeze(tensor, axis=1)
    if len(result.shape) > 1:
        name = column.source_column.name
        raise ValueError(
            f"For now, only supports features equivalent to rank 1 but column `{name}` got: "
            f"{features[name].shape}"
        )
    return result


def _indicators(column: Any, tensor: Any, features: dict[str, Any]) -> list[Tensor]:
    tensor = tf.cast(tensor, dtypes.int32, name="ToInt32")
    if len(tensor.shape) > 2:
        name = column.categorical_column.name
        raise ValueError(
            f"Rank of indicator column must be no more than 2, but column `{name}` got: "
            f"{features[name].shape}"
        )
    return tf.unstack(tensor, axis=1)


def _floats(column: Any, tensor: Any, boundaries: Boundaries | None) -> list[Tensor]:
    if column._variable_shape.ndims > 1:
        raise ValueError(
            f"For now, we only support Dense column with rank of 1, but column `{column.name}` "
            f"got: {column._variable_shape}"
        )
    values = tf.unstack(tensor, axis=1)
    if not boundaries:
        return values
    return raw.BoostedTreesBucketize(values, boundaries[column.name])


def feature_tensors(
    features: dict[str, Any],
    columns: Sequence[Any],
    boundaries: Boundaries | None = None,
    known: dict[Any, Any] | None = None,
) -> list[Any]:
    """The features of columns, each [batch]: int32, or float32 where there are no boundaries.

    Args:
        features: tensors by key.
        columns: in their order.
        boundaries: those of float columns, by the columns' names.
        known: what some of the columns made of the features before.

    Raises:
        ValueError: a column is of another kind, or of several axes.
    """
    known = known or {}
    made = {**known, **transformed(features, [c for c in columns if c not in known])}
    found: list[Any] = []
    for column in columns:
        if isinstance(column, BucketizedColumn):
            found.append(_bucketized(column, made[column], features))
        elif isinstance(column, IndicatorColumn):
            found += _indicators(column, made[column], features)
        elif isinstance(column, _DenseColumn):
            found += _floats(column, made[column], boundaries)
        else:
            raise _refused(column)
    return found
