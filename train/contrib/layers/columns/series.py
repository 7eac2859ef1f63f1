# SPDX-License-Identifier: Apache-2.0
"""Columns of what data frames compute."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable
from typing import Any

from .....engine.types import dtypes
from .....ops.public import tf
from .protocol import _FeatureColumn, reshape_real_valued


class DataFrameColumn(_FeatureColumn, namedtuple("DataFrameColumn", ("column_name", "series"))):
    """A column of a data frame's series.

    Args:
        column_name: its name.
        series: it: `required_base_features()` says what is read, `build(tensors)` computes it.
    """

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column_name  # type: ignore[no-any-return]

    @property
    def config(self) -> dict[str, Any]:
        """How the features are read."""
        return self.series.required_base_features()  # type: ignore[no-any-return]

    @property
    def key(self) -> str:
        """The column's name."""
        return self.name

    def _transform_feature(self, inputs: Any) -> Any:
        return self.series.build(inputs)

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        """Puts the series' tensor beside the others, which it is computed of."""
        columns_to_tensors[self] = self.series.build(columns_to_tensors)

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Iterable[str] | None = None,
        trainable: bool = True,
        output_rank: int = 2,
    ) -> Any:
        if input_tensor.dtype != dtypes.float32:
            input_tensor = tf.cast(input_tensor, dtypes.float32)
        return reshape_real_valued(input_tensor, output_rank, self.name)

    def _to_dense_tensor(self, input_tensor: Any) -> Any:
        return self._to_dnn_input_layer(input_tensor)
