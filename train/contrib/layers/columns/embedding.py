# SPDX-License-Identifier: Apache-2.0
"""Columns that make dense tensors of categories: one-hot rows and embeddings, shared and hashed."""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .....engine.api import export
from .....engine.graph.defaults import get_default_graph
from .....engine.interface import log
from .....engine.types import dtypes
from .....engine.types.shape import TensorShape
from .....ops.public import tf
from .....ops.state.variable_partitions import PartitionedVariable
from ...framework.checkpoint_utils import init_from_checkpoint
from ...framework.variables import model_variable
from ..embedding_ops import safe_embedding_lookup_sparse, scattered_embedding_lookup_sparse
from ..shaping import inner_flatten
from .protocol import Dense, _DeepEmbeddingLookupArguments, check_checkpoint
from .sparse import _SparseColumn, _WeightedSparseColumn

if TYPE_CHECKING:
    from .....ops.state.variables import Variable
    from ....feature_column.state import _LazyBuilder

Initializer = Callable[..., Any] | None


class _OneHotColumn(Dense, namedtuple("_OneHotColumn", ("sparse_id_column",))):
    """What one_hot_column gives."""

    @property
    def name(self) -> str:
        """The column of categories and what becomes of it."""
        return f"{self.sparse_id_column.name}_one_hot"

    @property
    def length(self) -> int:
        """The number of ids."""
        return self.sparse_id_column.length  # type: ignore[no-any-return]

    @property
    def config(self) -> dict[str, Any]:
        """How the categories are read."""
        return self.sparse_id_column.config  # type: ignore[no-any-return]

    @property
    def parent_columns(self) -> tuple[Any, ...]:
        """The column of categories."""
        return (self.sparse_id_column,)

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        """Puts the categories' ids beside the other tensors: rows are made of them later."""
        if self.sparse_id_column not in columns_to_tensors:
            self.sparse_id_column.insert_transformed_feature(columns_to_tensors)
        columns_to_tensors[self] = columns_to_tensors[self.sparse_id_column]

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Iterable[str] | None = None,
        trainable: bool = False,
        output_rank: int = 2,
    ) -> Any:
        ids = inner_flatten(self.sparse_id_column.id_tensor(input_tensor), output_rank)
        weights = self.sparse_id_column.weight_tensor(input_tensor)
        if weights is None:
            dense = tf.sparse_tensor_to_dense(ids, default_value=-1)
            rows = tf.one_hot(dense, depth=self.length, on_value=1.0, off_value=0.0)
            return tf.reduce_sum(rows, axis=[output_rank - 1])
        merged = tf.sparse_merge(sp_ids=ids, sp_values=weights, vocab_size=self.length)
        # Ids of -1 lie outside of what is taken.
        zeros = tf.zeros_like(merged.dense_shape)
        dense = tf.sparse_tensor_to_dense(tf.sparse_slice(merged, zeros, merged.dense_shape))
        return tf.reshape(dense, tf.concat([tf.shape(dense)[:-1], [self.length]], axis=0))

    @property
    def _variable_shape(self) -> TensorShape:
        return TensorShape([self.length])

    def _transform_feature(self, inputs: Any) -> Any:
        return self._to_dnn_input_layer(inputs.get(self.sparse_id_column))


@export("contrib.layers.one_hot_column")
def one_hot_column(sparse_id_column: Any) -> _OneHotColumn:
    """A column that is a row of a number for each category: how often an example has it.

    Args:
        sparse_id_column: a column of categories, whose weights count if it has some.

    Returns:
        A column for networks.

    Example:
        >>> color = tf.contrib.layers.sparse_column_with_keys("color", ["red", "blue"])
        >>> tf.contrib.layers.one_hot_column(color).name
        'color_one_hot'
    """
    return _OneHotColumn(sparse_id_column)


class Embedded(Dense):
    """A column whose tensor is looked up in embeddings, which are variables."""

    _keyless = ("initializer",)
    dimension: int

    @property
    def _variable_shape(self) -> TensorShape:
        return TensorShape([self.dimension])

    def _get_dense_tensor(
        self,
        inputs: _LazyBuilder,
        weight_collections: Iterable[str] | None = None,
        trainable: bool | None = None,
    ) -> Any:
        arguments = self._deep_embedding_lookup_arguments(inputs.get(self))
        return embeddings_from_arguments(self, arguments, weight_collections, trainable)


class _EmbeddingColumn(
    Embedded,
    namedtuple(
        "_EmbeddingColumn",
        (
            "sparse_id_column",
            "dimension",
            "combiner",
            "initializer",
            "ckpt_to_load_from",
            "tensor_name_in_ckpt",
            "shared_embedding_name",
            "shared_vocab_size",
            "max_norm",
            "trainable",
        ),
    ),
):
    """What embedding_column gives."""

    def __new__(
        cls,
        sparse_id_column: Any,
        dimension: int,
        combiner: str = "mean",
        initializer: Initializer = None,
        ckpt_to_load_from: str | None = None,
        tensor_name_in_ckpt: str | None = None,
        shared_embedding_name: str | None = None,
        shared_vocab_size: int | None = None,
        max_norm: float | None = None,
        trainable: bool = True,
    ) -> _EmbeddingColumn:
        if initializer is not None and not callable(initializer):
            raise ValueError(
                "initializer must be callable if specified. Embedding of column_name: "
                f"{sparse_id_column.name}"
            )
        check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt)
        if initializer is None:
            log.warning(
                'The default stddev value of initializer was changed from "1/sqrt(vocab_size)" to '
                '"1/sqrt(dimension)" in core implementation (tf.feature_column.embedding_column).'
            )
            stddev = 1 / math.sqrt(sparse_id_column.length)
            initializer = tf.truncated_normal_initializer(mean=0.0, stddev=stddev)
        return super().__new__(
            cls,
            sparse_id_column,
            dimension,
            combiner,
            initializer,
            ckpt_to_load_from,
            tensor_name_in_ckpt,
            shared_embedding_name,
            shared_vocab_size,
            max_norm,
            trainable,
        )

    @property
    def name(self) -> str:
        """The column of categories and what becomes of it."""
        shared = "" if self.shared_embedding_name is None else "shared_"
        return f"{self.sparse_id_column.name}_{shared}embedding"

    @property
    def length(self) -> int:
        """The number of ids."""
        if self.shared_vocab_size is None:
            return self.sparse_id_column.length  # type: ignore[no-any-return]
        return self.shared_vocab_size  # type: ignore[no-any-return]

    @property
    def config(self) -> dict[str, Any]:
        """How the categories are read."""
        return self.sparse_id_column.config  # type: ignore[no-any-return]

    @property
    def parent_columns(self) -> tuple[Any, ...]:
        """The column of categories."""
        return (self.sparse_id_column,)

    def _deep_embedding_lookup_arguments(self, input_tensor: Any) -> Any:
        return _DeepEmbeddingLookupArguments(
            input_tensor=self.sparse_id_column.id_tensor(input_tensor),
            weight_tensor=self.sparse_id_column.weight_tensor(input_tensor),
            vocab_size=self.length,
            dimension=self.dimension,
            initializer=self.initializer,
            combiner=self.combiner,
            shared_embedding_name=self.shared_embedding_name,
            hash_key=None,
            max_norm=self.max_norm,
            trainable=self.trainable,
        )

    def _checkpoint_path(self) -> tuple[str, str] | None:
        if self.ckpt_to_load_from is None:
            return None
        return self.ckpt_to_load_from, self.tensor_name_in_ckpt

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> Any:
        raise ValueError(
            f"Column {self} is not supported in linear models. Please use sparse_column."
        )

    def _transform_feature(self, inputs: Any) -> Any:
        return inputs.get(self.sparse_id_column)


@export("contrib.layers.embedding_column")
def embedding_column(
    sparse_id_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Initializer = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> _EmbeddingColumn:
    """A column that looks categories up in a table of vectors, which is learned.

    Args:
        sparse_id_column: a column of categories; its own combiner does not count.
        dimension: the length of the vectors.
        combiner: how vectors of an example's categories are put together: "sum", "mean" or "sqrtn".
        initializer: of the table; truncated normal numbers of 1 / sqrt(categories) if None.
        ckpt_to_load_from, tensor_name_in_ckpt: a checkpoint and the name of the tensor in it with
            which the table begins.
        max_norm: vectors of greater norms are clipped to it, if given.
        trainable: whether the table is learned.

    Returns:
        A column for networks.

    Raises:
        ValueError: the initializer is no function, or only one of checkpoint and name is given.

    Example:
        >>> layers = tf.contrib.layers
        >>> town = layers.sparse_column_with_hash_bucket("town", 1000)
        >>> layers.embedding_column(town, dimension=8).name
        'town_embedding'
    """
    return _EmbeddingColumn(
        sparse_id_column,
        dimension,
        combiner,
        initializer,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        max_norm=max_norm,
        trainable=trainable,
    )


@export("contrib.layers.shared_embedding_columns")
def shared_embedding_columns(
    sparse_id_columns: Sequence[Any],
    dimension: int,
    combiner: str = "mean",
    shared_embedding_name: str | None = None,
    initializer: Initializer = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> Sequence[_EmbeddingColumn]:
    """Columns that look categories up in one table of vectors.

    Args:
        sparse_id_columns: columns of the same categories, with weights or without.
        shared_embedding_name: the table's name; made of the columns' names if None.
        dimension, combiner, initializer: as `embedding_column`, like the rest.

    Returns:
        As many columns for networks.

    Raises:
        TypeError: the columns are no sequence, or one of them is of another kind.
        ValueError: there are none, or their categories are not the same.

    Example:
        >>> layers = tf.contrib.layers
        >>> towns = [layers.sparse_column_with_hash_bucket(n, 1000) for n in ("start", "end")]
        >>> [c.name for c in layers.shared_embedding_columns(towns, dimension=8)]
        ['start_shared_embedding', 'end_shared_embedding']
    """
    _check_shared(sparse_id_columns)
    shared: dict[str, Any] = {}
    if len(sparse_id_columns) > 1:
        shared["shared_vocab_size"] = sparse_id_columns[0].length
        shared_embedding_name = shared_embedding_name or _shared_name(sparse_id_columns)
    columns = [
        _EmbeddingColumn(
            column,
            dimension,
            combiner,
            initializer,
            ckpt_to_load_from,
            tensor_name_in_ckpt,
            shared_embedding_name,
            max_norm=max_norm,
            trainable=trainable,
            **shared,
        )
        for column in sparse_id_columns
    ]
    return tuple(columns) if shared else columns


def _check_shared(columns: Any) -> None:
    if not isinstance(columns, Sequence) or isinstance(columns, str):
        raise TypeError(
            "sparse_id_columns must be a non-string sequence (ex: list or tuple) instead of type "
            f"{type(columns)}."
        )
    if not columns:
        raise ValueError("The input sparse_id_columns should have at least one element.")
    for column in columns:
        if not isinstance(column, (_SparseColumn, _WeightedSparseColumn)):
            raise TypeError(
                "Elements of sparse_id_columns must be _SparseColumn or _WeightedSparseColumn, but "
                f"{column} is not."
            )
    first = columns[0]
    weighted = isinstance(first, _WeightedSparseColumn)
    for column in columns[1:]:
        asked, other = (first, column) if weighted else (column, first)
        if not asked.is_compatible(other):
            raise ValueError("The input sparse id columns are not compatible.")


def _shared_name(columns: Sequence[Any]) -> str:
    """A name that does not depend on the columns' order."""
    by_name = sorted(columns, key=lambda c: (isinstance(c, _WeightedSparseColumn), c.name))
    more = f"_plus_{len(by_name) - 3}_others" if len(by_name) > 3 else ""
    return "_".join(column.name for column in by_name[:3]) + more + "_shared_embedding"


class _ScatteredEmbeddingColumn(
    Embedded,
    namedtuple(
        "_ScatteredEmbeddingColumn",
        ("column_name", "size", "dimension", "hash_key", "combiner", "initializer"),
    ),
):
    """What scattered_embedding_column gives."""

    def __new__(
        cls,
        column_name: str,
        size: int,
        dimension: int,
        hash_key: int,
        combiner: str = "sqrtn",
        initializer: Initializer = None,
    ) -> _ScatteredEmbeddingColumn:
        if initializer is not None and not callable(initializer):
            raise ValueError(
                f"initializer must be callable if specified. column_name: {column_name}"
            )
        if initializer is None:
            initializer = tf.truncated_normal_initializer(mean=0.0, stddev=0.1)
        return super().__new__(cls, column_name, size, dimension, hash_key, combiner, initializer)

    @property
    def name(self) -> str:
        """The feature's name and what becomes of it."""
        return f"{self.column_name}_scattered_embedding"

    @property
    def config(self) -> dict[str, Any]:
        """How the feature is read."""
        return {self.column_name: tf.VarLenFeature(dtypes.string)}

    def _deep_embedding_lookup_arguments(self, input_tensor: Any) -> Any:
        return _DeepEmbeddingLookupArguments(
            input_tensor=input_tensor,
            weight_tensor=None,
            vocab_size=self.size,
            initializer=self.initializer,
            combiner=self.combiner,
            dimension=self.dimension,
            shared_embedding_name=None,
            hash_key=self.hash_key,
            max_norm=None,
            trainable=True,
        )

    def _transform_feature(self, inputs: Any) -> Any:
        return inputs.get(self.column_name)


@export("contrib.layers.scattered_embedding_column")
def scattered_embedding_column(
    column_name: str,
    size: int,
    dimension: int,
    hash_key: int,
    combiner: str = "mean",
    initializer: Initializer = None,
) -> _ScatteredEmbeddingColumn:
    """A column that finds each number of a category's vector by a hash of its own.

    Args:
        column_name: the name of a feature of strings.
        size: how many numbers there are for all vectors.
        dimension: the length of the vectors.
        hash_key: what fingerprints begin with.
        combiner: how vectors of an example's categories are put together: "sum", "mean" or "sqrtn".
        initializer: of the numbers; truncated normal ones of 0.1 if None.

    Returns:
        A column for networks.

    Raises:
        ValueError: a size is below 1, the combiner is another or the initializer no function.
    """
    if dimension < 1 or size < 1:
        raise ValueError(
            f"Dimension and size must be greater than 0. dimension: {dimension}, size: {size}, "
            f"column_name: {column_name}"
        )
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError(
            f"Combiner must be one of 'mean', 'sqrtn' or 'sum'. combiner: {combiner}, "
            f"column_name: {column_name}"
        )
    return _ScatteredEmbeddingColumn(column_name, size, dimension, hash_key, combiner, initializer)


def embeddings_from_arguments(
    column: Any,
    args: Any,
    weight_collections: Iterable[str] | None,
    trainable: bool | None,
    output_rank: int = 2,
) -> Any:
    """The embeddings that a column's arguments ask for.

    Args:
        column: the column.
        args: what its `_deep_embedding_lookup_arguments` gave.
        weight_collections: collections for the variables.
        trainable: whether they are to be trained, if the column wants it.
        output_rank: how many axes the result has.

    Raises:
        ValueError: embeddings of that name are of another shape.
    """
    ids = inner_flatten(args.input_tensor, output_rank)
    weights = None
    if args.weight_tensor is not None:
        weights = inner_flatten(args.weight_tensor, output_rank)
    options = {
        "dtype": dtypes.float32,
        "initializer": args.initializer,
        "trainable": trainable and args.trainable,
        "collections": weight_collections,
    }
    if args.hash_key:
        numbers = model_variable("weights", shape=[args.vocab_size], **options)
        return scattered_embedding_lookup_sparse(
            numbers,
            ids,
            args.dimension,
            hash_key=args.hash_key,
            combiner=args.combiner,
            name="lookup",
        )
    shape = [args.vocab_size, args.dimension]
    if args.shared_embedding_name is None:
        table = model_variable("weights", shape=shape, **options)
    else:
        table = _shared_table(args.shared_embedding_name, shape, options)
    parts = variable_parts(table)
    maybe_restore_from_checkpoint(column._checkpoint_path(), parts)
    return safe_embedding_lookup_sparse(
        parts,
        ids,
        sparse_weights=weights,
        combiner=args.combiner,
        name=column.name + "weights",
        max_norm=args.max_norm,
    )


def _shared_table(name: str, shape: list[int], options: dict[str, Any]) -> Any:
    """The graph's table of a name, made where it is asked for first."""
    key = f"SHARED_EMBEDDING_COLLECTION_{name.upper()}"
    known = get_default_graph().get_collection_ref(key)
    if len(known) > 1:
        raise ValueError(f"Collection {key} can only contain one (partitioned) variable.")
    if not known:
        known.append(model_variable(name, shape=shape, **options))
    elif known[0].get_shape() != shape:
        raise ValueError(
            f"The embedding variable with name {name} already exists, but its shape does not match "
            "required embedding shape here. Please make sure to use different "
            "shared_embedding_name for different shared embeddings."
        )
    return known[0]


def variable_parts(variable: Variable) -> list[Any]:
    """A variable's parts, as a list."""
    return list(variable) if isinstance(variable, PartitionedVariable) else [variable]


def maybe_restore_from_checkpoint(
    checkpoint_path: tuple[str, str] | None, variable: list[Any]
) -> None:
    """Lets a variable's parts begin with a checkpoint's tensor, if there is one."""
    if checkpoint_path is not None:
        path, tensor_name = checkpoint_path
        weights = variable[0] if len(variable) == 1 else variable
        init_from_checkpoint(path, {tensor_name: weights})
