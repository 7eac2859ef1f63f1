# SPDX-License-Identifier: Apache-2.0
"""Logits of linear models of columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.types import dtypes
from ...ops.nn.dropout import zero_fraction
from ...ops.public import tf
from ...ops.state.variable_partitions import PartitionedVariable
from ...ops.summaries.api import histogram, scalar
from ..feature_column.linear_model import LinearModel, _LinearModel
from ..feature_column.protocol import is_feature_column_v2

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor


def _parts(variables: Sequence[Any]) -> list[Any]:
    """Variables, with the parts of those in parts."""
    result: list[Any] = []
    for variable in variables:
        whole = not isinstance(variable, (PartitionedVariable, list, tuple))
        result += [variable] if whole else list(variable)
    return result


def fraction_of_zero(variables: Sequence[Any]) -> Tensor:
    """Which share of all elements of variables is zero."""

    def count(variable: object, size: Tensor) -> Any:
        return tf.cond(
            tf.equal(size, tf.constant(0, dtype=dtypes.int64)),
            true_fn=lambda: tf.constant(0, dtype=dtypes.float32),
            false_fn=lambda: (
                zero_fraction(variable) * tf.cast(size, dtypes.float32, name="ToFloat")
            ),
            name="zero_count",
        )

    with tf.name_scope("zero_fraction"):
        with tf.name_scope("total_size"):
            sizes = [tf.size(variable, out_type=dtypes.int64) for variable in variables]
            total = tf.add_n(sizes)
        with tf.name_scope("total_zero"):
            zero = tf.add_n([count(*pair) for pair in zip(variables, sizes)])
        with tf.name_scope("compute"):
            share = zero / tf.cast(total, dtype=dtypes.float32, name="float32_size")
        return tf.identity(share, name="zero_fraction_or_nan")


@export("estimator.experimental.linear_logit_fn_builder")
def linear_logit_fn_builder(
    units: int, feature_columns: Sequence[Any], sparse_combiner: str = "sum"
) -> Callable[..., Any]:
    """A function from features to the logits of a linear model.

    Args:
        units: the number of logits.
        feature_columns: dense or categorical columns.
        sparse_combiner: "mean", "sqrtn" or "sum", of the weights of an example's categories.

    Returns:
        A function of features.
    """

    def linear_logit_fn(features: dict[str, Any]) -> Any:
        given: dict[str, Any] = dict(
            feature_columns=feature_columns,
            units=units,
            sparse_combiner=sparse_combiner,
            name="linear_model",
        )
        if is_feature_column_v2(feature_columns):
            model = LinearModel(**given)
            logits = model(features)
            bias = _parts([model.bias])
            variables = [v for v in model.variables if v is not model.bias]
        else:
            old = _LinearModel(**given)
            logits = old(features)
            by_column = dict(old.cols_to_vars())
            bias = by_column.pop("bias")
            variables = list(by_column.values())
        if units > 1:
            histogram("bias", bias)
        else:
            scalar("bias", bias[0][0])
        scalar("fraction_of_zero_weights", fraction_of_zero(_parts(variables)))
        return logits

    return linear_logit_fn


def require_dict(features: object) -> None:
    """Raises ValueError unless features are a dict."""
    if not isinstance(features, dict):
        raise ValueError(
            f"features should be a dictionary of `Tensor`s. Given type: {type(features)}"
        )
