# SPDX-License-Identifier: Apache-2.0
"""`tf.feature_column.linear_model`: weighted sums of columns; as a function and as layers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.types import dtypes
from ...ops.nn.bias import bias_add
from ...ops.nn.embedding_safe import safe_embedding_lookup_sparse
from ...ops.public import tf
from ...ops.state.variable_partitions import PartitionedVariable
from ...ops.state.variable_scope import _PureVariableScope
from ..layers import base, base_layer
from .protocol import (
    CategoricalColumn,
    DenseColumn,
    _CategoricalColumn,
    _DenseColumn,
    as_rows,
    buckets_of,
    normalized,
    normalized_old,
    verify_static_batch_size_equality,
)
from .serialization import deserialize_feature_columns, serialize_feature_columns
from .state import (
    FeatureTransformationCache,
    OldInputs,
    ScopeState,
    _LazyBuilder,
    _StateManagerImpl,
    collections_with,
)

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor
    from ...ops.state.variables import Variable
    from .state import Objects, _LazyBuilder


@export("feature_column.linear_model")
def linear_model(
    features: dict[str, Any],
    feature_columns: Any,
    units: int = 1,
    sparse_combiner: str = "sum",
    weight_collections: Iterable[str] | None = None,
    trainable: bool = True,
    cols_to_vars: dict[Any, Any] | None = None,
) -> Any:
    """Weighted sums of columns, and a bias.

    Args:
        features: tensors by key.
        feature_columns: dense or categorical columns.
        units: the number of sums.
        sparse_combiner: "mean", "sqrtn" or "sum", of the weights of an example's categories.
        weight_collections: collections that variables join, beside that of all.
        trainable: whether the variables are trained.
        cols_to_vars: a dict that is filled with the variables of each column and of "bias".

    Returns:
        A Tensor [batch, units].

    Raises:
        ValueError: a column is neither dense nor categorical.

    Example:
        >>> column = tf.feature_column.numeric_column("price")
        >>> features = {"price": tf.constant([[1.0], [5.0]])}
        >>> print(tf.feature_column.linear_model(features, [column]).shape)
        (2, 1)
    """
    with tf.variable_scope(None, "linear_model") as scope:
        name = _last(scope.name)
    model = _LinearModel(
        feature_columns=feature_columns,
        units=units,
        sparse_combiner=sparse_combiner,
        weight_collections=weight_collections,
        trainable=trainable,
        name=name,
    )
    result = model(features)
    if cols_to_vars is not None:
        cols_to_vars.update(model.cols_to_vars())
    return result


def _last(name: str) -> str:
    return name.rsplit("/", 1)[-1]


def weighted_sum(
    column: Any, cache: Any, state_manager: Any, sparse_combiner: str, weights: Any
) -> Any:
    """A column's part of the sums [batch, units]."""
    old = isinstance(cache, OldInputs)
    categorical = isinstance(column, _CategoricalColumn)
    if not categorical:
        if old:
            tensor = column._get_dense_tensor(
                cache.inputs,
                weight_collections=state_manager._collections,
                trainable=state_manager._trainable,
            )
        else:
            tensor = column.get_dense_tensor(cache, state_manager)
        return tf.matmul(as_rows(tensor, _height(column)), weights, name="weighted_sum")
    if old:
        found = column._get_sparse_tensors(
            cache.inputs,
            weight_collections=state_manager._collections,
            trainable=state_manager._trainable,
        )
    else:
        found = column.get_sparse_tensors(cache, state_manager)
    rows = tf.sparse_reshape(found.id_tensor, [tf.shape(found.id_tensor)[0], -1])
    of_ids = found.weight_tensor
    if of_ids is not None:
        of_ids = tf.sparse_reshape(of_ids, [tf.shape(of_ids)[0], -1])
    return safe_embedding_lookup_sparse(
        weights, rows, sparse_weights=of_ids, combiner=sparse_combiner, name="weighted_sum"
    )


def _height(column: Any) -> int:
    """How many weights a column has for each sum."""
    if isinstance(column, _CategoricalColumn):
        return buckets_of(column)
    new = isinstance(column, DenseColumn)
    shape = column.variable_shape if new else column._variable_shape
    return int(shape.num_elements())


def _add_to_collections(variable: Variable, keys: Iterable[str]) -> None:
    parts = list(variable) if isinstance(variable, PartitionedVariable) else [variable]
    for key in keys:
        # Variables are in that one when they are made.
        if key != tf.GraphKeys.GLOBAL_VARIABLES:
            for part in parts:
                tf.add_to_collection(key, part)


class _FCLinearWrapper(base.Layer):
    """One column's part of a model of 1.x."""

    def __init__(
        self,
        feature_column: Any,
        units: int = 1,
        sparse_combiner: str = "sum",
        weight_collections: list[str] | None = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(trainable=trainable, name=name, **kwargs)
        self._feature_column = feature_column
        self._units = units
        self._sparse_combiner = sparse_combiner
        self._weight_collections = weight_collections

    def build(self, input_shape: Any) -> None:
        """Makes the weights."""
        self._weight_var = self.add_variable(
            name="weights",
            shape=(_height(self._feature_column), self._units),
            initializer=tf.zeros_initializer(),
            trainable=self.trainable,
        )
        _add_to_collections(self._weight_var, self._weight_collections or [])
        self.built = True

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The part."""
        state = ScopeState(self._weight_collections, self.trainable)
        return weighted_sum(
            self._feature_column, OldInputs(inputs), state, self._sparse_combiner, self._weight_var
        )


class _BiasLayer(base.Layer):
    """The bias of a model of 1.x."""

    def __init__(
        self,
        units: int = 1,
        trainable: bool = True,
        weight_collections: list[str] | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(trainable=trainable, name=name, **kwargs)
        self._units = units
        self._weight_collections = weight_collections

    def build(self, input_shape: Any) -> None:
        """Makes the bias."""
        self._bias_variable = self.add_variable(
            "bias_weights",
            shape=[self._units],
            initializer=tf.zeros_initializer(),
            trainable=self.trainable,
        )
        _add_to_collections(self._bias_variable, self._weight_collections or [])
        self.built = True

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The bias."""
        return self._bias_variable


class _LinearModel(base_layer.Layer):
    """The model that linear_model makes."""

    def __init__(
        self,
        feature_columns: Any,
        units: int = 1,
        sparse_combiner: str = "sum",
        weight_collections: Iterable[str] | None = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        self._feature_columns = normalized_old(feature_columns)
        self._weight_collections = collections_with(weight_collections)
        self._column_layers: dict[str, _FCLinearWrapper] = {}
        for column in sorted(self._feature_columns, key=lambda column: column.name):
            with tf.variable_scope(None, default_name=column._var_scope_name) as scope:
                column_name = _last(scope.name)
            self._column_layers[column_name] = _FCLinearWrapper(
                *(column, units, sparse_combiner, self._weight_collections, trainable),
                name=column_name,
                **kwargs,
            )
        self._bias_layer = _BiasLayer(
            units=units,
            trainable=trainable,
            weight_collections=self._weight_collections,
            name="bias_layer",
            **kwargs,
        )
        for layer in self._layers():
            # As Keras has its layers do, of which this is one in TensorFlow.
            layer._use_resource_variables = True
        self._cols_to_vars: dict[Any, Any] = {}

    def _layers(self) -> list[base.Layer]:
        return [*self._column_layers.values(), self._bias_layer]

    def cols_to_vars(self) -> dict[Any, Any]:
        """The variables of each column and of "bias"."""
        return self._cols_to_vars

    @property
    def trainable_weights(self) -> list[Any]:
        """The variables to train."""
        return [weight for layer in self._layers() for weight in layer.trainable_weights]

    def call(self, inputs: Any) -> Tensor:  # type: ignore[override]
        """The sums."""
        with tf.variable_scope(self.name):
            for column in self._feature_columns:
                if not isinstance(column, (_DenseColumn, _CategoricalColumn)):
                    raise ValueError(
                        "Items of feature_columns must be either a _DenseColumn or "
                        f"_CategoricalColumn. Given: {column}"
                    )
            sums, builder = [], _LazyBuilder(inputs)
            layers = sorted(self._column_layers.values(), key=lambda layer: layer.name)
            for layer in layers:
                sums.append(layer(builder))
                self._cols_to_vars[layer._feature_column] = tf.get_collection(
                    tf.GraphKeys.GLOBAL_VARIABLES, scope=layer.scope_name
                )
            verify_static_batch_size_equality(sums, [layer._feature_column for layer in layers])
            without_bias = tf.add_n(sums, name="weighted_sum_no_bias")
            bias = self._bias_layer(builder, scope=tf.get_variable_scope())
            result = bias_add(without_bias, bias, name="weighted_sum")
            of_bias = self._bias_layer.variables[0]
            parted = isinstance(of_bias, PartitionedVariable)
            self._cols_to_vars["bias"] = list(of_bias) if parted else [of_bias]
        return result


class _LinearModelLayer(base_layer.Layer):
    """The layer of a LinearModel."""

    def __init__(
        self,
        feature_columns: Any,
        units: int = 1,
        sparse_combiner: str = "sum",
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, trainable=trainable, **kwargs)
        self._feature_columns = normalized(feature_columns)
        for column in self._feature_columns:
            if not isinstance(column, (DenseColumn, CategoricalColumn)):
                raise ValueError(
                    "Items of feature_columns must be either a DenseColumn or CategoricalColumn. "
                    f"Given: {column}"
                )
        self._units = units
        self._sparse_combiner = sparse_combiner
        self._state_manager = _StateManagerImpl(self, self.trainable)
        self.bias: Any = None

    def build(self, input_shape: Any) -> None:
        """Makes the weights."""
        with _PureVariableScope(self.name):
            for column in self._feature_columns:
                with _PureVariableScope(column.name):
                    column.create_state(self._state_manager)
                    self._state_manager.create_variable(
                        column,
                        name="weights",
                        dtype=dtypes.float32,
                        shape=(_height(column), self._units),
                        initializer=tf.zeros_initializer(),
                        trainable=self.trainable,
                    )
            self.bias = self.add_variable(
                name="bias_weights",
                dtype=dtypes.float32,
                shape=[self._units],
                initializer=tf.zeros_initializer(),
                trainable=self.trainable,
                use_resource=True,
                getter=tf.get_variable,
            )
        super().build(None)

    def call(self, inputs: Any) -> Tensor:  # type: ignore[override]
        """The sums."""
        if not isinstance(inputs, dict):
            raise ValueError(f"We expected a dictionary here. Instead we got: {inputs}")
        with tf.name_scope(self.name):
            cache, sums = FeatureTransformationCache(inputs), []
            for column in self._feature_columns:
                with tf.name_scope(column.name):
                    weights = self._state_manager.get_variable(column, "weights")
                    sums.append(
                        weighted_sum(
                            column, cache, self._state_manager, self._sparse_combiner, weights
                        )
                    )
            verify_static_batch_size_equality(sums, self._feature_columns)
            without_bias = tf.add_n(sums, name="weighted_sum_no_bias")
            return bias_add(without_bias, self.bias, name="weighted_sum")

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        return {
            **super().get_config(),
            "feature_columns": serialize_feature_columns(self._feature_columns),
            "units": self._units,
            "sparse_combiner": self._sparse_combiner,
        }

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: Objects = None
    ) -> _LinearModelLayer:
        """A layer from its arguments."""
        columns = deserialize_feature_columns(config["feature_columns"], custom_objects)
        return cls(**{**config, "feature_columns": columns})


class LinearModel(base_layer.Layer):
    """Weighted sums of columns of today, and a bias.

    Args:
        feature_columns, units, sparse_combiner, trainable: as of linear_model.
        name: of the variable scope.
    """

    def __init__(
        self,
        feature_columns: Any,
        units: int = 1,
        sparse_combiner: str = "sum",
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        self.layer = _LinearModelLayer(
            feature_columns, units, sparse_combiner, trainable, name=self.name, **kwargs
        )

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The sums."""
        return self.layer(inputs)

    @property
    def bias(self) -> Any:
        """The bias; None before the first call."""
        return self.layer.bias

    @property
    def trainable_weights(self) -> list[Any]:
        """The variables to train."""
        return self.layer.trainable_weights

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The variables that are not trained."""
        return self.layer.non_trainable_weights
