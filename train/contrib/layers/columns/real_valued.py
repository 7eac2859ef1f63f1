# SPDX-License-Identifier: Apache-2.0
"""Columns of numbers, and of the ranges that numbers are in."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .....engine.api import export
from .....engine.graph.tensor import SparseTensor
from .....engine.types import dtypes
from .....engine.types.shape import TensorShape
from .....ops.public import tf
from ....feature_column.protocol import IdWeightPair
from ..bucketization_op import bucketize
from .protocol import Categorical, Dense, _FeatureColumn, reshape_real_valued, zero_weights

if TYPE_CHECKING:
    from .....engine.graph.tensor import Tensor
    from .....engine.types.dtypes import DType

Normalizer = Callable[[Any], Any] | None


class _RealValuedColumn(
    Dense,
    namedtuple(
        "_RealValuedColumn", ("column_name", "dimension", "default_value", "dtype", "normalizer")
    ),
):
    """What real_valued_column gives."""

    _keyless = ("normalizer",)

    def __new__(
        cls,
        column_name: str,
        dimension: int,
        default_value: Sequence[float] | None,
        dtype: DType,
        normalizer: Normalizer,
    ) -> _RealValuedColumn:
        default = None if default_value is None else tuple(default_value)
        return super().__new__(cls, column_name, dimension, default, dtype, normalizer)

    @property
    def name(self) -> str:
        """The feature's name."""
        return self.column_name  # type: ignore[no-any-return]

    @property
    def config(self) -> dict[str, Any]:
        """How the feature is read."""
        default = None if self.default_value is None else list(self.default_value)
        return {self.column_name: tf.FixedLenFeature([self.dimension], self.dtype, default)}

    @property
    def normalizer_fn(self) -> Normalizer:
        """What is applied to the numbers."""
        return self.normalizer  # type: ignore[no-any-return]

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Iterable[str] | None = None,
        trainable: bool = True,
        output_rank: int = 2,
    ) -> Any:
        tensor = self._to_dense_tensor(input_tensor)
        if tensor.dtype != dtypes.float32:
            tensor = tf.cast(tensor, dtypes.float32)
        return reshape_real_valued(tensor, output_rank, self.name)

    def _to_dense_tensor(self, input_tensor: Any) -> Any:
        return input_tensor

    @property
    def _variable_shape(self) -> TensorShape:
        return TensorShape([self.dimension])

    def _transform_feature(self, inputs: Any) -> Any:
        numbers = inputs.get(self.name)
        if self.normalizer is not None:
            numbers = self.normalizer(numbers)
        return tf.cast(numbers, dtypes.float32)


@export("contrib.layers.real_valued_column")
def real_valued_column(
    column_name: str,
    dimension: int = 1,
    default_value: Any = None,
    dtype: DType = dtypes.float32,
    normalizer: Normalizer = None,
) -> _RealValuedColumn:
    """A column of numbers.

    Args:
        column_name: the feature's name.
        dimension: how many numbers an example has.
        default_value: what examples without the feature have: a number or a list of them.
        dtype: of the feature.
        normalizer: a function that is applied to the tensor.

    Returns:
        A column.

    Raises:
        TypeError: the dimension is no integer, or the default value does not fit the dtype.
        ValueError: the dimension is below 1, the dtype is none of numbers, or the list of default
            values is longer or shorter.

    Example:
        >>> tf.contrib.layers.real_valued_column("size", dimension=2, default_value=1).default_value
        (1.0, 1.0)
    """
    of_column = f"column_name: {column_name}"
    if dimension is None:
        raise TypeError(
            "dimension must be an integer. Use the _real_valued_var_len_column for variable length "
            f"features.dimension: {dimension}, {of_column}"
        )
    if not isinstance(dimension, int):
        raise TypeError(f"dimension must be an integer. dimension: {dimension}, {of_column}")
    if dimension < 1:
        raise ValueError(f"dimension must be greater than 0. dimension: {dimension}, {of_column}")
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, {of_column}")
    default = _defaults(default_value, dimension, dtype, of_column)
    return _RealValuedColumn(column_name, dimension, default, dtype, normalizer)


def _defaults(given: Any, dimension: int, dtype: DType, of_column: str) -> list[Any] | None:
    """A default value for each number of an example."""
    if given is None:
        return None
    values = given if isinstance(given, list) else [given] * dimension
    if len(values) != dimension:
        raise ValueError(
            f"The length of default_value must be equal to dimension. default_value: {given}, "
            f"dimension: {dimension}, {of_column}"
        )
    if all(isinstance(v, int) for v in values) and dtype.is_integer:
        return values
    if all(isinstance(v, (int, float)) for v in values) and dtype.is_floating:
        return [float(v) for v in values]
    raise TypeError(
        f"default_value must be compatible with dtype. default_value: {given}, dtype: {dtype}, "
        f"{of_column}"
    )


class _RealValuedVarLenColumn(
    _FeatureColumn,
    namedtuple(
        "_RealValuedVarLenColumn",
        ("column_name", "default_value", "dtype", "normalizer", "is_sparse"),
    ),
):
    """What _real_valued_var_len_column gives."""

    _keyless = ("normalizer",)

    @property
    def name(self) -> str:
        """The feature's name."""
        return self.column_name  # type: ignore[no-any-return]

    @property
    def config(self) -> dict[str, Any]:
        """How the feature is read."""
        feature: Any = tf.VarLenFeature(self.dtype)
        if not self.is_sparse:
            feature = tf.FixedLenSequenceFeature(
                [], self.dtype, allow_missing=True, default_value=self.default_value
            )
        return {self.column_name: feature}

    @property
    def normalizer_fn(self) -> Normalizer:
        """What is applied to the numbers."""
        return self.normalizer  # type: ignore[no-any-return]

    def _transform_feature(self, inputs: Any) -> Any:
        tensor = inputs.get(self.name)
        if self.normalizer is not None and self.is_sparse:
            values = self.normalizer(tensor.values)
            tensor = SparseTensor(tensor.indices, values, tensor.dense_shape)
        elif self.normalizer is not None:
            tensor = self.normalizer(tensor)
        return tf.cast(tensor, dtypes.float32)

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Iterable[str] | None = None,
        trainable: bool = True,
        output_rank: int = 2,
    ) -> Any:
        return reshape_real_valued(self._to_dense_tensor(input_tensor), output_rank, self.name)

    def _to_dense_tensor(self, input_tensor: Any) -> Any:
        if self.is_sparse:
            raise ValueError(
                f"Set is_sparse to False if you want a dense Tensor for column_name: {self.name}"
            )
        return input_tensor


def _real_valued_var_len_column(
    column_name: str,
    default_value: float | None = None,
    dtype: DType = dtypes.float32,
    normalizer: Normalizer = None,
    is_sparse: bool = False,
) -> _RealValuedVarLenColumn:
    """A column of numbers of which examples have more or fewer.

    Args:
        column_name: the feature's name.
        default_value: what shorter rows are filled with, unless `is_sparse`.
        dtype: of the feature.
        normalizer: a function that is applied to the tensor.
        is_sparse: whether a sparse tensor is read.

    Returns:
        A column.

    Raises:
        TypeError: the dtype is none of numbers.
        ValueError: the default value is missing or a list.
    """
    of_column = f"column_name: {column_name}"
    if not (dtype.is_integer or dtype.is_floating):
        raise TypeError(f"dtype must be convertible to float. dtype: {dtype}, {of_column}")
    if default_value is None and not is_sparse:
        raise ValueError(
            "default_value must be provided when is_sparse=False to parse a padded Tensor. "
            f"{of_column}"
        )
    if isinstance(default_value, list):
        raise ValueError(f"Only scalar default value. default_value: {default_value}, {of_column}")
    if default_value is not None:
        default_value = int(default_value) if dtype.is_integer else float(default_value)
    return _RealValuedVarLenColumn(column_name, default_value, dtype, normalizer, is_sparse)


class _BucketizedColumn(
    Categorical, Dense, namedtuple("_BucketizedColumn", ("source_column", "boundaries"))
):
    """What bucketized_column gives."""

    def __new__(
        cls, source_column: _RealValuedColumn, boundaries: Sequence[float]
    ) -> _BucketizedColumn:
        if not isinstance(source_column, _RealValuedColumn):
            raise TypeError(
                "source_column must be an instance of _RealValuedColumn. "
                f"source_column: {source_column}"
            )
        if source_column.dimension is None:
            raise ValueError(
                f"source_column must have a defined dimension. source_column: {source_column}"
            )
        if not isinstance(boundaries, (list, tuple)) or not boundaries:
            raise ValueError(
                f"boundaries must be a non-empty list or tuple. boundaries: {boundaries}"
            )
        if any(a > b for a, b in zip(boundaries, boundaries[1:])):
            raise ValueError(f"boundaries must be a sorted list. boundaries: {boundaries}")
        return super().__new__(cls, source_column, tuple(dict.fromkeys(boundaries)))

    @property
    def name(self) -> str:
        """The feature's name and what becomes of it."""
        return f"{self.source_column.name}_bucketized"

    @property
    def length(self) -> int:
        """The number of ranges."""
        return len(self.boundaries) + 1

    @property
    def config(self) -> dict[str, Any]:
        """How the feature is read."""
        return self.source_column.config  # type: ignore[no-any-return]

    @property
    def parent_columns(self) -> tuple[Any, ...]:
        """The column of numbers."""
        return (self.source_column,)

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Iterable[str] | None = None,
        trainable: bool | None = True,
        output_rank: int = 2,
    ) -> Tensor:
        if output_rank != 2:
            raise ValueError("BucketizedColumn currently only supports output_rank=2")
        places = tf.cast(input_tensor, dtypes.int64)
        one_hot = tf.one_hot(places, self.length, 1.0, 0.0, name="one_hot")
        return tf.reshape(one_hot, [-1, self._num_buckets], name="reshape")

    def to_sparse_tensor(self, input_tensor: Any) -> SparseTensor:
        """The ranges of a tensor [batch, dimension], with ids of their own for each number."""
        dimension = self.source_column.dimension
        batch = tf.shape(input_tensor, name="shape")[0]
        if dimension > 1:
            rows = tf.expand_dims(tf.range(0, batch), 1, name="expand_dims")
            rows = tf.reshape(tf.tile(rows, [1, dimension], name="tile"), [-1], name="reshape")
            places = tf.tile(tf.range(0, dimension), [batch], name="tile")
            ids = tf.reshape(input_tensor, [-1], name="reshape") + self.length * places
        else:
            rows = tf.range(0, batch)
            places = tf.zeros([batch], dtype=dtypes.int32, name="zeros")
            ids = tf.reshape(input_tensor, [-1], name="reshape")
        indices = tf.cast(tf.transpose(tf.stack((rows, places))), dtypes.int64)
        return SparseTensor(indices, ids, tf.cast(tf.stack([batch, dimension]), dtypes.int64))

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> Any:
        return zero_weights(self.to_sparse_tensor(input_tensor), None, self._num_buckets, "sum")

    def _transform_feature(self, inputs: Any) -> Tensor:
        numbers = inputs.get(self.source_column)
        return bucketize(numbers, boundaries=list(self.boundaries), name="bucketize")

    @property
    def _num_buckets(self) -> int:
        return self.length * self.source_column.dimension  # type: ignore[no-any-return]

    def _get_sparse_tensors(
        self,
        inputs: Any,
        weight_collections: Iterable[str] | None = None,
        trainable: bool | None = None,
    ) -> IdWeightPair:
        return IdWeightPair(self.to_sparse_tensor(inputs.get(self)), None)

    @property
    def _variable_shape(self) -> TensorShape:
        return TensorShape([self._num_buckets])

    def _get_dense_tensor(
        self,
        inputs: Any,
        weight_collections: Iterable[str] | None = None,
        trainable: bool | None = None,
    ) -> Tensor:
        return self._to_dnn_input_layer(inputs.get(self), weight_collections, trainable)


@export("contrib.layers.bucketized_column")
def bucketized_column(
    source_column: _RealValuedColumn, boundaries: Sequence[float]
) -> _BucketizedColumn:
    """A column that says in which range a number is.

    Args:
        source_column: what `real_valued_column` gives.
        boundaries: where one range ends and the next begins, in order; equal ones are one.

    Returns:
        A column for linear models and networks.

    Raises:
        TypeError: the source is another column.
        ValueError: the boundaries are none, or not in order.

    Example:
        >>> age = tf.contrib.layers.real_valued_column("age")
        >>> tf.contrib.layers.bucketized_column(age, [18, 65]).length
        3
    """
    return _BucketizedColumn(source_column, boundaries)
