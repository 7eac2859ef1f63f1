# SPDX-License-Identifier: Apache-2.0
"""`tf.feature_column.input_layer`: dense columns side by side in one matrix; and how to parse."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...ops.public import tf
from .protocol import (
    FeatureColumn,
    _DenseColumn,
    _FeatureColumn,
    as_rows,
    normalized,
    normalized_old,
    spec_of,
    verify_static_batch_size_equality,
)
from .state import FeatureTransformationCache, _LazyBuilder, collections_with

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor


@export("feature_column.input_layer")
def input_layer(
    features: dict[str, Any],
    feature_columns: Any,
    weight_collections: Iterable[str] | None = None,
    trainable: bool = True,
    cols_to_vars: dict[Any, Any] | None = None,
    cols_to_output_tensors: dict[Any, Any] | None = None,
) -> Any:
    """A matrix of dense columns, side by side in the order of their names.

    Args:
        features: tensors by key.
        feature_columns: dense columns; categories become dense by embedding or indicator columns.
        weight_collections: collections that variables join, beside that of all.
        trainable: whether the variables are trained.
        cols_to_vars: a dict that is filled with the variables of each column.
        cols_to_output_tensors: a dict that is filled with each column's part of the matrix.

    Returns:
        A float32 Tensor [batch, the sum of the columns' sizes].

    Raises:
        ValueError: a column is not dense, there are none, or two have one name.

    Example:
        >>> column = tf.feature_column.numeric_column("price", shape=2)
        >>> features = {"price": tf.constant([[1.0, 2.0]])}
        >>> tf.Session().run(tf.feature_column.input_layer(features, [column]))
        array([[1., 2.]], dtype=float32)
    """
    return internal_input_layer(
        features,
        feature_columns,
        weight_collections=weight_collections,
        trainable=trainable,
        cols_to_vars=cols_to_vars,
        cols_to_output_tensors=cols_to_output_tensors,
    )


def internal_input_layer(
    features: dict[str, Any],
    feature_columns: Any,
    weight_collections: Iterable[str] | None = None,
    trainable: bool = True,
    cols_to_vars: dict[Any, Any] | None = None,
    scope: Any = None,
    cols_to_output_tensors: dict[Any, Any] | None = None,
    from_template: bool = False,
) -> Tensor:
    """input_layer in a scope given, or in that of a template."""
    columns = normalized_old(feature_columns)
    for column in columns:
        if not isinstance(column, _DenseColumn):
            raise ValueError(
                "Items of feature_columns must be a _DenseColumn. You can wrap a categorical "
                f"column with an embedding_column or indicator_column. Given: {column}"
            )
    collections = collections_with(weight_collections)

    def matrix() -> Tensor:
        builder, outputs = _LazyBuilder(features), []
        ordered = sorted(columns, key=lambda column: column.name)
        for column in ordered:
            with tf.variable_scope(None, default_name=column._var_scope_name):
                tensor = column._get_dense_tensor(
                    builder, weight_collections=collections, trainable=trainable
                )
                outputs.append(as_rows(tensor, column._variable_shape.num_elements()))
                if cols_to_vars is not None:
                    scope = tf.get_variable_scope().name
                    cols_to_vars[column] = tf.get_collection(
                        tf.GraphKeys.GLOBAL_VARIABLES, scope=scope
                    )
                if cols_to_output_tensors is not None:
                    cols_to_output_tensors[column] = outputs[-1]
        verify_static_batch_size_equality(outputs, ordered)
        return tf.concat(outputs, 1)

    if from_template:
        return matrix()
    with tf.variable_scope(scope, default_name="input_layer", values=list(features.values())):
        return matrix()


class InputLayer:
    """input_layer as an object that shares its variables between calls.

    Args:
        feature_columns, weight_collections, trainable, cols_to_vars: as of input_layer.
        name: of the variable scope.
        create_scope_now: False leaves the scope to the first call.
    """

    def __init__(
        self,
        feature_columns: Any,
        weight_collections: Iterable[str] | None = None,
        trainable: bool = True,
        cols_to_vars: dict[Any, Any] | None = None,
        name: str = "feature_column_input_layer",
        create_scope_now: bool = True,
    ) -> None:
        self._feature_columns = feature_columns
        self._weight_collections = weight_collections
        self._trainable = trainable
        self._name = name
        self._input_layer_template = tf.make_template(
            name, internal_input_layer, create_scope_now_=create_scope_now
        )
        self._scope = self._input_layer_template.variable_scope

    def __call__(self, features: dict[str, Any]) -> Any:
        return self._input_layer_template(
            features=features,
            feature_columns=self._feature_columns,
            weight_collections=self._weight_collections,
            trainable=self._trainable,
            cols_to_vars=None,
            from_template=True,
        )

    @property
    def name(self) -> str:
        """The name of the variable scope."""
        return self._name

    def __getattr__(self, name: str) -> Any:
        if name.endswith(("variables", "weights")) and not name.startswith("_"):
            return getattr(self._input_layer_template, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


@export("feature_column.make_parse_example_spec")
def make_parse_example_spec(feature_columns: Iterable[Any]) -> dict[str, Any]:
    """How tf.io.parse_example reads the features that columns need.

    Args:
        feature_columns: columns of any kind.

    Returns:
        A dict from keys to FixedLenFeature and VarLenFeature.

    Raises:
        ValueError: something is no column, or two columns want a feature read differently.

    Example:
        >>> column = tf.feature_column.categorical_column_with_identity("color", 8)
        >>> tf.feature_column.make_parse_example_spec([column])
        {'color': VarLenFeature(dtype=tf.int64)}
    """
    return _parse_spec(feature_columns, _FeatureColumn)


def make_parse_example_spec_v2(feature_columns: Iterable[Any]) -> dict[str, Any]:
    """As make_parse_example_spec, for columns of today alone."""
    return _parse_spec(feature_columns, FeatureColumn)


def _parse_spec(feature_columns: Iterable[Any], base: type) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for column in feature_columns:
        if not isinstance(column, base):
            raise ValueError(
                f"All feature_columns must be {base.__name__} instances. Given: {column}"
            )
        of_old = base is _FeatureColumn
        spec = column._parse_example_spec if of_old else spec_of(column)  # type: ignore[attr-defined]
        for key, value in spec.items():
            if key in result and value != result[key]:
                raise ValueError(
                    f"feature_columns contain different parse_spec for key {key}. Given {value} "
                    f"and {result[key]}"
                )
        result.update(spec)
    return result


def transform_features(features: dict[str, Any], feature_columns: Any) -> dict[Any, Any]:
    """What columns make of features, by column; in 1.x's way."""
    with tf.name_scope(None, default_name="transform_features", values=list(features.values())):
        builder, outputs = _LazyBuilder(features), {}
        for column in sorted(normalized_old(feature_columns), key=lambda column: column.name):
            with tf.name_scope(None, default_name=column.name):
                outputs[column] = builder.get(column)
    return outputs


def transform_features_v2(
    features: dict[str, Any], feature_columns: Any, state_manager: Any
) -> dict[Any, Any]:
    """What columns make of features, by column."""
    columns = normalized(feature_columns)
    with tf.name_scope(None, default_name="transform_features", values=list(features.values())):
        cache, outputs = FeatureTransformationCache(features), {}
        for column in columns:
            with tf.name_scope(None, default_name=column.name):
                outputs[column] = cache.get(column, state_manager)
    return outputs
