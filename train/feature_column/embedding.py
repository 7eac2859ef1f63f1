# SPDX-License-Identifier: Apache-2.0
"""Columns of categories as trained vectors, of their own or shared between columns."""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape
from ...ops.nn.embedding_safe import safe_embedding_lookup_sparse
from ...ops.public import tf
from ...ops.state.variable_partitions import PartitionedVariable
from ..checkpoints.checkpoint_utils import init_from_checkpoint
from .categorical import WeightedCategoricalColumn
from .checks import check_embedding, sequence_length_from_sparse_tensor
from .protocol import (
    CategoricalColumn,
    DenseColumn,
    SequenceDenseColumn,
    TensorSequenceLengthPair,
    _CategoricalColumn,
    arguments_of,
    buckets_of,
    config_of,
    is_new,
    sparse_tensors_of,
    spec_of,
)
from .sequence_feature_column import require_sequence
from .serialization import (
    deserialize_feature_column,
    initializer_config,
    initializer_from,
    serialize_feature_column,
)
from .state import OldInputs

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor
    from ...ops.state.init import TruncatedNormal
    from .state import Cache, Objects, StateManager, _LazyBuilder


def _default_initializer(dimension: int) -> TruncatedNormal:
    # So that a vector is about one long.
    return tf.truncated_normal_initializer(mean=0.0, stddev=1 / math.sqrt(dimension))


@export("feature_column.embedding_column")
def embedding_column(
    categorical_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Callable[..., Any] | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> EmbeddingColumn:
    """A dense column of categories: a trained vector for each.

    Args:
        categorical_column: the categories.
        dimension: the vectors' size.
        combiner: "mean", "sqrtn" or "sum", of the vectors of one example.
        initializer: of the vectors; truncated normal if None, with 1/sqrt(dimension) for stddev.
        ckpt_to_load_from, tensor_name_in_ckpt: a checkpoint that has them; both or none.
        max_norm: longer vectors are shortened to this.
        trainable: whether the vectors are trained.

    Returns:
        A dense column.

    Raises:
        ValueError: the dimension is not positive, one of a pair of arguments is missing, or the
            initializer is no function.

    Example:
        >>> color = tf.feature_column.categorical_column_with_identity("color", 8)
        >>> column = tf.feature_column.embedding_column(color, 3)
        >>> features = {"color": tf.constant([[1], [5]])}
        >>> print(tf.feature_column.input_layer(features, [column]).shape)
        (2, 3)
    """
    of = f" Embedding of column_name: {getattr(categorical_column, 'name', categorical_column)}"
    check_embedding(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, of)
    return EmbeddingColumn(
        categorical_column=categorical_column,
        dimension=dimension,
        combiner=combiner,
        initializer=initializer or _default_initializer(dimension),
        ckpt_to_load_from=ckpt_to_load_from,
        tensor_name_in_ckpt=tensor_name_in_ckpt,
        max_norm=max_norm,
        trainable=trainable,
    )


def _checked_alike(columns: Sequence[Any], base: type) -> tuple[list[Any], int]:
    """Columns by name, and the number of buckets that all have; raises where they differ."""
    ordered = sorted(columns, key=lambda column: column.name)
    first = ordered[0]
    if not isinstance(first, base):
        raise ValueError(
            f"All categorical_columns must be subclasses of {base.__name__}. Given: {first}, of "
            f"type: {type(first)}"
        )
    count = buckets_of(first)

    def plain(column: Any) -> Any:
        weighted = isinstance(column, WeightedCategoricalColumn)
        return column.categorical_column if weighted else column

    first = plain(first)
    for column in map(plain, ordered[1:]):
        if not isinstance(column, type(first)):
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same type, "
                "or be weighted_categorical_column of the same type. Given column: "
                f"{first} of type: {type(first)} does not match given column: {column} of type: "
                f"{type(column)}"
            )
        if count != buckets_of(column):
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same number "
                f"of buckets. Given column: {first} with buckets: {count} does  not match column: "
                f"{column} with buckets: {buckets_of(column)}"
            )
    return ordered, count


def _shared_name(given: str | None, ordered: Sequence[Any]) -> str:
    return given or "_".join(column.name for column in ordered) + "_shared_embedding"


@export("feature_column.shared_embedding_columns")
def shared_embedding_columns(
    categorical_columns: Sequence[Any],
    dimension: int,
    combiner: str = "mean",
    initializer: Callable[..., Any] | None = None,
    shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> list[_SharedEmbeddingColumn]:
    """Dense columns of categories that share their vectors.

    Args:
        categorical_columns: columns of one type with equally many categories.
        shared_embedding_collection_name: the collection that the vectors are in; made of the
            columns' names if None.
        dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm,
            trainable: as of embedding_column.

    Returns:
        A list of dense columns, in the order of those given.

    Raises:
        ValueError: the columns are not alike, or an argument is wrong as for embedding_column.
    """
    check_embedding(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt)
    ordered, _ = _checked_alike(categorical_columns, _CategoricalColumn)
    return [
        _SharedEmbeddingColumn(
            categorical_column=column,
            dimension=dimension,
            combiner=combiner,
            initializer=initializer or _default_initializer(dimension),
            shared_embedding_collection_name=_shared_name(
                shared_embedding_collection_name, ordered
            ),
            ckpt_to_load_from=ckpt_to_load_from,
            tensor_name_in_ckpt=tensor_name_in_ckpt,
            max_norm=max_norm,
            trainable=trainable,
        )
        for column in categorical_columns
    ]


def shared_embedding_columns_v2(
    categorical_columns: Sequence[Any],
    dimension: int,
    combiner: str = "mean",
    initializer: Callable[..., Any] | None = None,
    shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> list[SharedEmbeddingColumn]:
    """As shared_embedding_columns, for layers of today: one object keeps the vectors."""
    check_embedding(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt)
    ordered, count = _checked_alike(categorical_columns, CategoricalColumn)
    creator = SharedEmbeddingColumnCreator(
        dimension,
        initializer or _default_initializer(dimension),
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        count,
        trainable,
        _shared_name(shared_embedding_collection_name, ordered),
    )
    return [creator(column, combiner, max_norm) for column in categorical_columns]


def _restore(weights: Any, checkpoint: str | None, name: Any) -> None:
    """Has variables start with what a checkpoint has, if one is given."""
    if checkpoint is not None:
        parts = list(weights) if isinstance(weights, PartitionedVariable) else weights
        init_from_checkpoint(checkpoint, {name: parts})


class _EmbeddingBase(DenseColumn, SequenceDenseColumn):
    """What columns of vectors have in common; `_weights` says where the vectors are."""

    categorical_column: Any
    combiner: str
    max_norm: float | None

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """How the categories are read."""
        return spec_of(self.categorical_column)

    def transform_feature(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Any:
        """The ids."""
        return transformation_cache.get(self.categorical_column, state_manager)

    def _weights(self, state_manager: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no vectors")

    def _looked_up(self, sparse: Any, state_manager: Any) -> Tensor:
        return safe_embedding_lookup_sparse(
            embedding_weights=self._weights(state_manager),
            sparse_ids=sparse.id_tensor,
            sparse_weights=sparse.weight_tensor,
            combiner=self.combiner,
            name=f"{self.name}_weights",
            max_norm=self.max_norm,
        )

    def _found(self, cache: Cache, state_manager: StateManager | None) -> tuple[Any, Any]:
        """The ids and the vectors."""
        sparse = sparse_tensors_of(self.categorical_column, cache, state_manager)
        return sparse, self._looked_up(sparse, state_manager)

    def get_dense_tensor(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Any:
        """The vectors of each example, combined."""
        old = isinstance(transformation_cache, OldInputs)
        require_sequence(self, "embedding_column", False, old)
        return self._found(transformation_cache, state_manager)[1]

    def get_sequence_dense_tensor(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> TensorSequenceLengthPair:
        """The vectors of each step, and the lengths."""
        old = isinstance(transformation_cache, OldInputs)
        require_sequence(self, "embedding_column", True, old)
        sparse, dense = self._found(transformation_cache, state_manager)
        # Columns that share vectors find the ids once more, in the scope around theirs.
        lengths = sequence_length_from_sparse_tensor(sparse.id_tensor)
        return TensorSequenceLengthPair(dense_tensor=dense, sequence_length=lengths)

    @property
    def parents(self) -> list[Any]:
        """The column of categories."""
        return [self.categorical_column]

    def _get_config(self) -> dict[str, Any]:
        raise NotImplementedError(f"{type(self).__name__} has no config")


class EmbeddingColumn(
    _EmbeddingBase,
    namedtuple(
        "EmbeddingColumn",
        (
            "categorical_column",
            "dimension",
            "combiner",
            "initializer",
            "ckpt_to_load_from",
            "tensor_name_in_ckpt",
            "max_norm",
            "trainable",
        ),
    ),
):
    """What embedding_column gives."""

    @property
    def _is_v2_column(self) -> bool:
        return is_new(self.categorical_column)

    @property
    def name(self) -> str:
        """The categories' name with a suffix."""
        return f"{self.categorical_column.name}_embedding"

    @property
    def variable_shape(self) -> TensorShape:
        """[dimension]."""
        return TensorShape([self.dimension])

    def create_state(self, state_manager: StateManager) -> None:
        """Makes the vectors."""
        state_manager.create_variable(
            self,
            name="embedding_weights",
            shape=(buckets_of(self.categorical_column), self.dimension),
            dtype=dtypes.float32,
            trainable=self.trainable,
            use_resource=True,
            initializer=self.initializer,
        )

    def _weights(self, state_manager: Any) -> Any:
        weights = state_manager.get_variable(self, name="embedding_weights")
        _restore(weights, self.ckpt_to_load_from, self.tensor_name_in_ckpt)
        return weights

    def _get_config(self) -> dict[str, Any]:
        column = serialize_feature_column(self.categorical_column)
        initializer = initializer_config(self.initializer)
        return {**config_of(self), "categorical_column": column, "initializer": initializer}

    @classmethod
    def _from_config(
        cls, config: dict[str, Any], custom_objects: Objects = None, columns_by_name: Objects = None
    ) -> EmbeddingColumn:
        given = arguments_of(cls, config)
        given["categorical_column"] = deserialize_feature_column(
            config["categorical_column"], custom_objects, columns_by_name
        )
        given["initializer"] = initializer_from(config["initializer"], custom_objects)
        return cls(**given)


class SharedEmbeddingColumnCreator:
    """Keeps the vectors that columns share, one variable for each graph.

    Args:
        dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, trainable: as of
            embedding_column.
        num_buckets: the number of categories.
        name: the variable's.
    """

    def __init__(
        self,
        dimension: int,
        initializer: Any,
        ckpt_to_load_from: str | None,
        tensor_name_in_ckpt: str | None,
        num_buckets: int,
        trainable: bool,
        name: str = "shared_embedding_column_creator",
    ) -> None:
        self._dimension = dimension
        self._initializer = initializer
        self._checkpoint = ckpt_to_load_from, tensor_name_in_ckpt
        self._num_buckets = num_buckets
        self._trainable = trainable
        self._name = name
        self._embedding_weights: dict[Any, Any] = {}

    def __call__(
        self, categorical_column: Any, combiner: str, max_norm: float | None
    ) -> SharedEmbeddingColumn:
        return SharedEmbeddingColumn(categorical_column, self, combiner, max_norm)

    @property
    def embedding_weights(self) -> Any:
        """The variable of the default graph."""
        graph = tf.get_default_graph()
        if graph not in self._embedding_weights:
            weights = tf.get_variable(
                name=self._name,
                shape=(self._num_buckets, self._dimension),
                dtype=dtypes.float32,
                initializer=self._initializer,
                trainable=self._trainable,
            )
            _restore(weights, *self._checkpoint)
            self._embedding_weights[graph] = weights
        return self._embedding_weights[graph]

    @property
    def dimension(self) -> int:
        """The vectors' size."""
        return self._dimension


def _not_for_old() -> Any:
    raise ValueError(
        "SharedEmbeddingColumns are not supported in `linear_model` or `input_layer`. Please use "
        "`DenseFeatures` or `LinearModel` instead."
    )


class SharedEmbeddingColumn(
    _EmbeddingBase,
    namedtuple(
        "SharedEmbeddingColumn",
        ("categorical_column", "shared_embedding_column_creator", "combiner", "max_norm"),
    ),
):
    """What shared_embedding_columns_v2 gives."""

    @property
    def _is_v2_column(self) -> bool:
        return True

    @property
    def name(self) -> str:
        """The categories' name with a suffix."""
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def variable_shape(self) -> TensorShape:
        """[dimension]."""
        return TensorShape([self.shared_embedding_column_creator.dimension])

    def _weights(self, state_manager: Any) -> Any:
        return self.shared_embedding_column_creator.embedding_weights

    def _found(self, cache: Cache, state_manager: StateManager | None) -> tuple[Any, Any]:
        with tf.name_scope(None, default_name=self.name):
            return super()._found(cache, state_manager)

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return _not_for_old()  # type: ignore[no-any-return]

    def _transform_feature(self, inputs: _LazyBuilder) -> Any:
        return _not_for_old()

    @property
    def _variable_shape(self) -> TensorShape:
        return _not_for_old()  # type: ignore[no-any-return]

    def _get_dense_tensor(
        self,
        inputs: _LazyBuilder,
        weight_collections: Iterable[str] | None = None,
        trainable: bool | None = None,
    ) -> Any:
        return _not_for_old()

    def _get_sequence_dense_tensor(
        self,
        inputs: _LazyBuilder,
        weight_collections: Iterable[str] | None = None,
        trainable: bool | None = None,
    ) -> Any:
        return _not_for_old()


class _SharedEmbeddingColumn(
    _EmbeddingBase,
    namedtuple(
        "_SharedEmbeddingColumn",
        (
            "categorical_column",
            "dimension",
            "combiner",
            "initializer",
            "shared_embedding_collection_name",
            "ckpt_to_load_from",
            "tensor_name_in_ckpt",
            "max_norm",
            "trainable",
        ),
    ),
):
    """What shared_embedding_columns gives, for 1.x's layers: a collection keeps the vectors."""

    @property
    def _is_v2_column(self) -> bool:
        return False

    @property
    def name(self) -> str:
        """The categories' name with a suffix."""
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def _var_scope_name(self) -> str:
        return self.shared_embedding_collection_name  # type: ignore[no-any-return]

    @property
    def variable_shape(self) -> TensorShape:
        """[dimension]."""
        return TensorShape([self.dimension])

    def create_state(self, state_manager: StateManager) -> None:
        """Makes the vectors."""
        state_manager.create_variable(
            self,
            name="embedding_weights",
            shape=(buckets_of(self.categorical_column), self.dimension),
            dtype=dtypes.float32,
            trainable=self.trainable,
            initializer=self.initializer,
        )

    def _weights(self, state_manager: Any) -> Any:
        weights = self._from_collection()
        if weights is None:
            weights = state_manager.get_variable(self, name="embedding_weights")
            tf.add_to_collection(self.shared_embedding_collection_name, weights)
        _restore(weights, self.ckpt_to_load_from, self.tensor_name_in_ckpt)
        return weights

    def _from_collection(self) -> Any:
        """The vectors if some column made them before; ValueError if they are no such ones."""
        name = self.shared_embedding_collection_name
        found = tf.get_collection(name)
        mend = (
            "Suggested fix A: Choose a unique name for this collection. Suggested fix B: Do not "
            "add any variables to this collection. The feature_column library already adds a "
            "variable under the hood."
        )
        if not found:
            return None
        if len(found) > 1:
            raise ValueError(f"Collection {found} can only contain one variable. {mend}")
        wanted = (buckets_of(self.categorical_column), self.dimension)
        if found[0].get_shape() != wanted:
            raise ValueError(
                f"Shared embedding collection {name} contains variable {found[0].name} of "
                f"unexpected shape {found[0].get_shape()}. Expected shape is {wanted}. {mend}"
            )
        return found[0]

    def _found(self, cache: Cache, state_manager: StateManager | None) -> tuple[Any, Any]:
        with tf.name_scope(None, default_name=self.name):
            return super()._found(cache, state_manager)
