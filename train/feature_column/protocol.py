# SPDX-License-Identifier: Apache-2.0
"""What columns are: the base classes, of 1.x (`_DenseColumn`) and of today (`DenseColumn`).

Those of 1.x get tensors from a `_LazyBuilder` and make variables in the variable scope around
them; today's get them from a `FeatureTransformationCache` and ask a `StateManager` for variables.
A column of today is one of 1.x, too: its old methods call the new ones with what old callers hold.
"""

from __future__ import annotations

import abc
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ...engine.types.shape import TensorShape
from ...ops.public import tf
from .state import OldInputs, ScopeState

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor
    from .state import Cache, Objects, StateManager, _LazyBuilder

Kind = TypeVar("Kind", bound=type)

IdWeightPair = namedtuple("IdWeightPair", ("id_tensor", "weight_tensor"))
TensorSequenceLengthPair = namedtuple(
    "TensorSequenceLengthPair", ("dense_tensor", "sequence_length")
)


def _counts_as(old: type[abc.ABC]) -> Callable[[Kind], Kind]:
    """Makes a class count as one of 1.x, without being below it: columns may have both as bases."""

    def register(kind: Kind) -> Kind:
        old.register(kind)
        return kind

    return register


class _Named(abc.ABC):
    """What all columns have."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The column's name."""

    def __lt__(self, other: object) -> bool:
        return str(self) < str(other)

    def __gt__(self, other: object) -> bool:
        return str(self) > str(other)

    @property
    def _var_scope_name(self) -> str:
        return self.name


class _FeatureColumn(_Named):
    """A column as 1.x has it."""

    @abc.abstractmethod
    def _transform_feature(self, inputs: _LazyBuilder) -> Any: ...

    @property
    @abc.abstractmethod
    def _parse_example_spec(self) -> dict[str, Any]: ...


class _DenseColumn(_FeatureColumn):
    """A column of 1.x that gives a dense tensor."""

    @property
    @abc.abstractmethod
    def _variable_shape(self) -> TensorShape: ...

    @abc.abstractmethod
    def _get_dense_tensor(
        self,
        inputs: _LazyBuilder,
        weight_collections: Iterable[str] | None = None,
        trainable: bool | None = None,
    ) -> Any: ...


class _CategoricalColumn(_FeatureColumn):
    """A column of 1.x that gives ids of categories, and weights if it has some."""

    IdWeightPair = IdWeightPair

    @property
    @abc.abstractmethod
    def _num_buckets(self) -> int: ...

    @abc.abstractmethod
    def _get_sparse_tensors(
        self,
        inputs: _LazyBuilder,
        weight_collections: Iterable[str] | None = None,
        trainable: bool | None = None,
    ) -> Any: ...


class _SequenceDenseColumn(_FeatureColumn):
    """A column of 1.x that gives sequences."""

    TensorSequenceLengthPair = TensorSequenceLengthPair

    @abc.abstractmethod
    def _get_sequence_dense_tensor(
        self,
        inputs: _LazyBuilder,
        weight_collections: Iterable[str] | None = None,
        trainable: bool | None = None,
    ) -> Any: ...


@_counts_as(_FeatureColumn)
class FeatureColumn(_Named):
    """A column: how some features become a tensor."""

    @abc.abstractmethod
    def transform_feature(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Any:
        """The tensor that is computed once and kept in the cache."""

    @property
    @abc.abstractmethod
    def parse_example_spec(self) -> dict[str, Any]:
        """How tf.io.parse_example reads the features."""

    def create_state(self, state_manager: StateManager) -> None:
        """Makes the variables; most columns have none."""

    @property
    @abc.abstractmethod
    def _is_v2_column(self) -> bool: ...

    @property
    @abc.abstractmethod
    def parents(self) -> list[Any]:
        """The columns and keys that this one is made of."""

    @abc.abstractmethod
    def _get_config(self) -> dict[str, Any]: ...

    @classmethod
    def _from_config(
        cls, config: dict[str, Any], custom_objects: Objects = None, columns_by_name: Objects = None
    ) -> Any:
        raise NotImplementedError(f"{cls.__name__} is not made from a config")

    # For callers of 1.x.

    def _transform_feature(self, inputs: _LazyBuilder) -> Any:
        return self.transform_feature(OldInputs(inputs), None)

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return self.parse_example_spec


@_counts_as(_DenseColumn)
class DenseColumn(FeatureColumn):
    """A column that gives a dense tensor [batch, *variable_shape]."""

    @property
    @abc.abstractmethod
    def variable_shape(self) -> TensorShape:
        """The shape of one example's tensor."""

    @abc.abstractmethod
    def get_dense_tensor(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Any:
        """The tensor."""

    @property
    def _variable_shape(self) -> TensorShape:
        return self.variable_shape

    def _get_dense_tensor(
        self,
        inputs: _LazyBuilder,
        weight_collections: Iterable[str] | None = None,
        trainable: bool | None = None,
    ) -> Any:
        return self.get_dense_tensor(OldInputs(inputs), ScopeState(weight_collections, trainable))


@_counts_as(_CategoricalColumn)
class CategoricalColumn(FeatureColumn):
    """A column that gives ids of categories, below `num_buckets`, and weights if it has some."""

    IdWeightPair = IdWeightPair

    @property
    @abc.abstractmethod
    def num_buckets(self) -> int:
        """The number of categories."""

    @abc.abstractmethod
    def get_sparse_tensors(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Any:
        """An IdWeightPair of sparse tensors."""

    @property
    def _num_buckets(self) -> int:
        return self.num_buckets

    def _get_sparse_tensors(
        self,
        inputs: _LazyBuilder,
        weight_collections: Iterable[str] | None = None,
        trainable: bool | None = None,
    ) -> Any:
        return self.get_sparse_tensors(OldInputs(inputs), None)


@_counts_as(_SequenceDenseColumn)
class SequenceDenseColumn(FeatureColumn):
    """A column that gives sequences."""

    TensorSequenceLengthPair = TensorSequenceLengthPair

    @abc.abstractmethod
    def get_sequence_dense_tensor(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Any:
        """A TensorSequenceLengthPair."""

    def _get_sequence_dense_tensor(
        self,
        inputs: _LazyBuilder,
        weight_collections: Iterable[str] | None = None,
        trainable: bool | None = None,
    ) -> Any:
        state = ScopeState(weight_collections, trainable)
        return self.get_sequence_dense_tensor(OldInputs(inputs), state)


def sparse_tensors_of(column: Any, cache: Cache, state_manager: StateManager | None) -> Any:
    """The ids and weights of a column, whichever kind it is of."""
    if isinstance(cache, OldInputs):
        return column._get_sparse_tensors(cache.inputs)
    return column.get_sparse_tensors(cache, state_manager)


def buckets_of(column: Any) -> int:
    """The number of a column's categories, whichever kind it is of."""
    return int(column.num_buckets if isinstance(column, CategoricalColumn) else column._num_buckets)


def spec_of(column: Any) -> dict[str, Any]:
    """How a column's features are read, whichever kind it is of."""
    if isinstance(column, FeatureColumn):
        return column.parse_example_spec
    return column._parse_example_spec  # type: ignore[no-any-return]


def is_new(column: object) -> bool:
    """Whether a column can do without 1.x's way."""
    return isinstance(column, FeatureColumn) and column._is_v2_column


def is_feature_column_v2(feature_columns: Sequence[Any]) -> bool:
    """Whether all columns can do without 1.x's way."""
    return all(map(is_new, feature_columns))


def _listed(feature_columns: Any, base: type) -> list[Any]:
    """A list of columns, checked: not empty, of that class, no name twice."""
    if isinstance(feature_columns, base):
        feature_columns = [feature_columns]
    if isinstance(feature_columns, Iterator):
        feature_columns = list(feature_columns)
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    for column in feature_columns:
        if not isinstance(column, base):
            raise ValueError(
                f"Items of feature_columns must be a {base.__name__}. Given (type "
                f"{type(column)}): {column}."
            )
    if not feature_columns:
        raise ValueError("feature_columns must not be empty.")
    by_name: dict[str, Any] = {}
    for column in feature_columns:
        if column.name in by_name:
            raise ValueError(
                f"Duplicate feature column name found for columns: {column} and "
                f"{by_name[column.name]}. This usually means that these columns refer to same base "
                "feature. Either one must be discarded or a duplicated but renamed item must be "
                "inserted in features dict."
            )
        by_name[column.name] = column
    return feature_columns  # type: ignore[no-any-return]


def normalized(feature_columns: Any) -> list[Any]:
    """Columns of today, checked, by name."""
    return sorted(_listed(feature_columns, FeatureColumn), key=lambda column: column.name)


def normalized_old(feature_columns: Any) -> list[Any]:
    """Columns of either kind, checked, in their order."""
    return _listed(feature_columns, _FeatureColumn)


def verify_static_batch_size_equality(tensors: Sequence[Any], columns: Sequence[Any]) -> None:
    """Raises ValueError for tensors whose known batch sizes differ."""
    first: tuple[Any, int] | None = None
    for tensor, column in zip(tensors, columns):
        size = tensor.shape.as_list()[0]
        if size is None:
            continue
        if first is None:
            first = column, size
        elif first[1] != size:
            raise ValueError(
                "Batch size (first dimension) of each feature must be same. Batch size of columns "
                f"({first[0].name}, {column.name}): ({first[1]}, {size})"
            )


def as_rows(tensor: Any, width: int) -> Tensor:
    """A tensor as a matrix [batch, width]."""
    return tf.reshape(tensor, shape=(tf.shape(tensor)[0], width))


def config_of(column: Any) -> dict[str, Any]:
    """The fields of a column by name."""
    return dict(zip(column._fields, column))


def arguments_of(cls: Any, config: dict[str, Any]) -> dict[str, Any]:
    """The arguments in a config, lists as tuples; ValueError where names are others."""
    if set(config) != set(cls._fields):
        raise ValueError(f"Invalid config: {config}, expected keys: {cls._fields}")
    return {key: tuple(v) if isinstance(v, list) else v for key, v in config.items()}
