# SPDX-License-Identifier: Apache-2.0
"""Layers of columns: DenseFeatures, a matrix; SequenceFeatures, padded sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ops.public import tf
from ...ops.state.variable_scope import _PureVariableScope
from ..layers import base_layer
from .protocol import (
    DenseColumn,
    SequenceDenseColumn,
    normalized,
    verify_static_batch_size_equality,
)
from .sequence_feature_column import assert_all_equal_and_return
from .serialization import deserialize_feature_columns, serialize_feature_columns
from .state import FeatureTransformationCache, _StateManagerImpl

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor
    from .state import Objects


class _BaseFeaturesLayer(base_layer.Layer):
    """A layer of columns of one class."""

    def __init__(
        self,
        feature_columns: Any,
        expected_column_type: type,
        trainable: bool,
        name: str | None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, trainable=trainable, **kwargs)
        self._feature_columns = normalized(feature_columns)
        self._state_manager = _StateManagerImpl(self, self.trainable)
        for column in self._feature_columns:
            if not isinstance(column, expected_column_type):
                raise ValueError(
                    f"Items of feature_columns must be a {expected_column_type}. You can wrap a "
                    "categorical column with an embedding_column or indicator_column. "
                    f"Given: {column}"
                )

    @property
    def _is_feature_layer(self) -> bool:
        return True

    def build(self, input_shape: Any) -> None:
        """Makes the columns' variables."""
        for column in self._feature_columns:
            with _PureVariableScope(self.name), _PureVariableScope(column.name):
                column.create_state(self._state_manager)
        super().build(None)

    def _target_shape(self, input_shape: Any, total_elements: int) -> Any:
        raise NotImplementedError("Calling an abstract method.")

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for a shape of the input."""
        sizes = (column.variable_shape.num_elements() for column in self._feature_columns)
        return self._target_shape(input_shape, sum(sizes))

    def _process_dense_tensor(self, column: Any, tensor: Any) -> Tensor:
        width = column.variable_shape.num_elements()
        return tf.reshape(tensor, shape=self._target_shape(tf.shape(tensor), width))

    def _verify_and_concat_tensors(self, outputs: list[Any]) -> Tensor:
        verify_static_batch_size_equality(outputs, self._feature_columns)
        return tf.concat(outputs, -1)

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        columns = serialize_feature_columns(self._feature_columns)
        return {**super().get_config(), "feature_columns": columns}

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: Objects = None
    ) -> _BaseFeaturesLayer:
        """A layer from its arguments."""
        columns = deserialize_feature_columns(config["feature_columns"], custom_objects)
        return cls(**{**config, "feature_columns": columns})  # type: ignore[call-arg]


def _require_dict(features: object) -> None:
    if not isinstance(features, dict):
        raise ValueError("We expected a dictionary here. Instead we got: ", features)


class DenseFeatures(_BaseFeaturesLayer):
    """A matrix of dense columns, side by side in the order of their names.

    Args:
        feature_columns: dense columns.
        trainable: whether the variables are trained.
        name: of the variable scope.
    """

    def __init__(
        self, feature_columns: Any, trainable: bool = True, name: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(feature_columns, DenseColumn, trainable, name, **kwargs)

    def _target_shape(self, input_shape: Any, total_elements: int) -> tuple[Any, int]:
        return input_shape[0], total_elements

    def call(self, inputs: Any, cols_to_output_tensors: Any = None) -> Tensor:  # type: ignore[override]
        """The matrix; a dict that is given is filled with each column's part of it."""
        _require_dict(inputs)
        cache, outputs = FeatureTransformationCache(inputs), []
        for column in self._feature_columns:
            with tf.name_scope(column.name):
                tensor = column.get_dense_tensor(cache, self._state_manager)
                outputs.append(self._process_dense_tensor(column, tensor))
                if cols_to_output_tensors is not None:
                    cols_to_output_tensors[column] = outputs[-1]
        return self._verify_and_concat_tensors(outputs)


class SequenceFeatures(_BaseFeaturesLayer):
    """Padded sequences of columns, side by side, and their lengths.

    Args:
        feature_columns: columns of sequences.
        trainable: whether the variables are trained.
        name: of the variable scope.
    """

    def __init__(
        self, feature_columns: Any, trainable: bool = True, name: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(feature_columns, SequenceDenseColumn, trainable, name, **kwargs)

    def _target_shape(self, input_shape: Any, total_elements: int) -> tuple[Any, Any, int]:
        return input_shape[0], input_shape[1], total_elements

    def call(self, inputs: Any) -> tuple[Any, Any]:  # type: ignore[override]
        """The sequences [batch, steps, sizes] and their lengths [batch]."""
        _require_dict(inputs)
        cache, outputs, lengths = FeatureTransformationCache(inputs), [], []
        for column in self._feature_columns:
            with tf.name_scope(column.name):
                tensor, length = column.get_sequence_dense_tensor(cache, self._state_manager)
                outputs.append(self._process_dense_tensor(column, tensor))
                lengths.append(length)
        verify_static_batch_size_equality(lengths, self._feature_columns)
        length = assert_all_equal_and_return(lengths)
        return self._verify_and_concat_tensors(outputs), length
