# SPDX-License-Identifier: Apache-2.0
"""How Examples of ready-made estimators are parsed: columns, labels and weights."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.types import dtypes
from ...ops.public import tf
from ..feature_column.input_layer import make_parse_example_spec
from ..feature_column.numeric import NumericColumn, numeric_column

if TYPE_CHECKING:
    from ...engine.types.dtypes import DType


@export("estimator.classifier_parse_example_spec")
def classifier_parse_example_spec(
    feature_columns: Iterable[Any],
    label_key: str,
    label_dtype: DType = dtypes.int64,
    label_default: object = None,
    weight_column: object = None,
) -> dict[str, Any]:
    """How tf.io.parse_example reads the features, labels and weights of a classifier.

    Args:
        feature_columns: the classifier's columns.
        label_key, label_dtype, label_default: the feature that is the label.
        weight_column: the key or column of weights.

    Returns:
        A dict from keys to what parse_example takes.

    Raises:
        ValueError: the label or weight is a feature, too, or the weight's column no numeric one.
    """
    label = tf.FixedLenFeature((1,), label_dtype, label_default)
    return _with_label(feature_columns, label_key, label, weight_column)


@export("estimator.regressor_parse_example_spec")
def regressor_parse_example_spec(
    feature_columns: Iterable[Any],
    label_key: str,
    label_dtype: DType = dtypes.float32,
    label_default: object = None,
    label_dimension: int = 1,
    weight_column: object = None,
) -> dict[str, Any]:
    """How tf.io.parse_example reads a regressor's features; as classifier_parse_example_spec."""
    label = tf.FixedLenFeature((label_dimension,), label_dtype, label_default)
    return _with_label(feature_columns, label_key, label, weight_column)


def _with_label(
    columns: Iterable[Any], label_key: str, label: object, weight_column: object
) -> dict[str, Any]:
    spec = make_parse_example_spec(columns)
    if label_key in spec:
        raise ValueError(
            f"label should not be used as feature. label_key: {label_key}, features: {spec.keys()}"
        )
    spec[label_key] = label
    if weight_column is None:
        return spec
    if isinstance(weight_column, str):
        weight_column = numeric_column(weight_column)
    if not isinstance(weight_column, NumericColumn):
        raise ValueError(
            "weight_column should be an instance of tf.feature_column.numeric_column. Given type: "
            f"{type(weight_column)} value: {weight_column}"
        )
    if weight_column.key in spec:
        raise ValueError(
            "weight_column should not be used as feature. weight_column: "
            f"{weight_column.key}, features: {spec.keys()}"
        )
    return {**spec, **weight_column.parse_example_spec}
