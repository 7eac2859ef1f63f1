# SPDX-License-Identifier: Apache-2.0
"""Columns of numbers: as they are, and in buckets."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.tensor import SparseTensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape
from ...ops.public import raw, tf
from .checks import assert_key_is_string, check_default_value, checked_shape
from .protocol import (
    CategoricalColumn,
    DenseColumn,
    IdWeightPair,
    arguments_of,
    config_of,
    is_new,
    spec_of,
)
from .serialization import (
    deserialize_feature_column,
    function_from,
    name_of_function,
    serialize_feature_column,
)

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor
    from ...engine.types.dtypes import DType
    from .state import Cache, Objects, StateManager


@export("feature_column.numeric_column")
def numeric_column(
    key: str,
    shape: int | Sequence[int] = (1,),
    default_value: Any = None,
    dtype: DType = dtypes.float32,
    normalizer_fn: Callable[..., Any] | None = None,
) -> NumericColumn:
    """A column of numbers.

    Args:
        key: the feature's name.
        shape: of one example's numbers.
        default_value: what stands for a missing feature when examples are parsed: a number, or
            numbers of the shape; None requires the feature.
        dtype: of the feature, a number's; the column itself is float32.
        normalizer_fn: a function from the tensor to the one to take instead.

    Returns:
        A column for layers of dense columns.

    Raises:
        TypeError: a default value or size has the wrong type, or normalizer_fn is no function.
        ValueError: the dtype is no number's, the key no string, or a size or shape is wrong.

    Example:
        >>> column = tf.feature_column.numeric_column("price")
        >>> features = {"price": tf.constant([[1.5], [3.0]])}
        >>> tf.Session().run(tf.feature_column.input_layer(features, [column]))
        array([[1.5],
               [3. ]], dtype=float32)
    """
    shape = checked_shape(shape, key)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, key: {key}")
    default_value = check_default_value(shape, default_value, dtype, key)
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    assert_key_is_string(key)
    return NumericColumn(key, shape, default_value, dtype, normalizer_fn)


@export("feature_column.bucketized_column")
def bucketized_column(
    source_column: NumericColumn, boundaries: Sequence[float]
) -> BucketizedColumn:
    """A column of the buckets that numbers are in.

    Args:
        source_column: what numeric_column gave, of one axis.
        boundaries: rising numbers; a bucket includes the boundary on its left.

    Returns:
        A column, dense (one-hot) as well as categorical.

    Raises:
        ValueError: the source is another column or has more axes, or the boundaries do not rise.

    Example:
        >>> price = tf.feature_column.numeric_column("price")
        >>> column = tf.feature_column.bucketized_column(price, [2.0, 4.0])
        >>> features = {"price": tf.constant([[1.5], [4.0]])}
        >>> tf.Session().run(tf.feature_column.input_layer(features, [column]))
        array([[1., 0., 0.],
               [0., 0., 1.]], dtype=float32)
    """
    if not isinstance(source_column, NumericColumn):
        raise ValueError(
            "source_column must be a column generated with numeric_column(). "
            f"Given: {source_column}"
        )
    if len(source_column.shape) > 1:
        raise ValueError(f"source_column must be one-dimensional column. Given: {source_column}")
    if not boundaries:
        raise ValueError("boundaries must not be empty.")
    rising = isinstance(boundaries, (list, tuple)) and all(
        low < high for low, high in zip(boundaries, boundaries[1:])
    )
    if not rising:
        raise ValueError("boundaries must be a sorted list.")
    return BucketizedColumn(source_column, tuple(boundaries))


class NumericColumn(
    DenseColumn,
    namedtuple("NumericColumn", ("key", "shape", "default_value", "dtype", "normalizer_fn")),
):
    """What numeric_column gives."""

    @property
    def _is_v2_column(self) -> bool:
        return True

    @property
    def name(self) -> str:
        """The key."""
        return self.key  # type: ignore[no-any-return]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """A feature of fixed length."""
        return {self.key: tf.FixedLenFeature(self.shape, self.dtype, self.default_value)}

    def transform_feature(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Any:
        """The normalized numbers as float32."""
        tensor = transformation_cache.get(self.key, state_manager)
        if isinstance(tensor, SparseTensor):
            raise ValueError(
                "The corresponding Tensor of numerical column must be a Tensor. SparseTensor is "
                f"not supported. key: {self.key}"
            )
        if self.normalizer_fn is not None:
            tensor = self.normalizer_fn(tensor)
        return tf.cast(tensor, dtypes.float32)

    @property
    def variable_shape(self) -> TensorShape:
        """The shape of one example's numbers."""
        return TensorShape(self.shape)

    def get_dense_tensor(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Any:
        """The transformed numbers."""
        return transformation_cache.get(self, state_manager)

    @property
    def parents(self) -> list[Any]:
        """The key."""
        return [self.key]

    def _get_config(self) -> dict[str, Any]:
        named = name_of_function(self.normalizer_fn)
        return {**config_of(self), "normalizer_fn": named, "dtype": self.dtype.name}

    @classmethod
    def _from_config(
        cls, config: dict[str, Any], custom_objects: Objects = None, columns_by_name: Objects = None
    ) -> NumericColumn:
        given = arguments_of(cls, config)
        given["normalizer_fn"] = function_from(config["normalizer_fn"], custom_objects)
        given["dtype"] = dtypes.as_dtype(config["dtype"])
        return cls(**given)


class BucketizedColumn(
    DenseColumn,
    CategoricalColumn,
    namedtuple("BucketizedColumn", ("source_column", "boundaries")),
):
    """What bucketized_column gives."""

    @property
    def _is_v2_column(self) -> bool:
        return is_new(self.source_column)

    @property
    def name(self) -> str:
        """The source's name with a suffix."""
        return f"{self.source_column.name}_bucketized"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """As the source is read."""
        return spec_of(self.source_column)

    def transform_feature(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Tensor:
        """The numbers of the buckets."""
        source = transformation_cache.get(self.source_column, state_manager)
        return raw.Bucketize(source, boundaries=self.boundaries)

    @property
    def variable_shape(self) -> TensorShape:
        """The source's shape, one-hot."""
        return TensorShape((*self.source_column.shape, len(self.boundaries) + 1))

    def get_dense_tensor(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Tensor:
        """The buckets, one-hot."""
        buckets = transformation_cache.get(self, state_manager)
        return tf.one_hot(
            tf.cast(buckets, dtypes.int64), len(self.boundaries) + 1, on_value=1.0, off_value=0.0
        )

    @property
    def num_buckets(self) -> int:
        """The buckets of all the source's numbers."""
        return (len(self.boundaries) + 1) * self.source_column.shape[0]  # type: ignore[no-any-return]

    def get_sparse_tensors(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> IdWeightPair:
        """The numbers of the buckets, those of one number of the source behind those of another."""
        buckets = transformation_cache.get(self, state_manager)
        batch, width = tf.shape(buckets)[0], self.source_column.shape[0]
        rows = tf.reshape(tf.tile(tf.expand_dims(tf.range(0, batch), 1), [1, width]), (-1,))
        columns = tf.tile(tf.range(0, width), [batch])
        ids = tf.reshape(buckets, (-1,)) + (len(self.boundaries) + 1) * columns
        indices = tf.cast(tf.transpose(tf.stack((rows, columns))), dtypes.int64)
        shape = tf.cast(tf.stack([batch, width]), dtypes.int64)
        return IdWeightPair(SparseTensor(indices=indices, values=ids, dense_shape=shape), None)

    @property
    def parents(self) -> list[Any]:
        """The source."""
        return [self.source_column]

    def _get_config(self) -> dict[str, Any]:
        source = serialize_feature_column(self.source_column)
        return {**config_of(self), "source_column": source}

    @classmethod
    def _from_config(
        cls, config: dict[str, Any], custom_objects: Objects = None, columns_by_name: Objects = None
    ) -> BucketizedColumn:
        given = arguments_of(cls, config)
        given["source_column"] = deserialize_feature_column(
            config["source_column"], custom_objects, columns_by_name
        )
        return cls(**given)
