# SPDX-License-Identifier: Apache-2.0
"""What columns of `tf.contrib.layers` are: their base classes and what they say of embeddings.

Most are columns of `tf.feature_column`, too: what those are asked for they find by these methods.
"""

from __future__ import annotations

import abc
from collections import namedtuple
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .....engine.graph.tensor import SparseTensor
from .....engine.interface import log
from .....ops.public import tf
from ....feature_column import protocol as core
from ..shaping import inner_flatten

if TYPE_CHECKING:
    from .....engine.types.shape import TensorShape
    from ....feature_column.protocol import IdWeightPair
    from ....feature_column.state import _LazyBuilder

_LinearEmbeddingLookupArguments = namedtuple(
    "_LinearEmbeddingLookupArguments",
    ("input_tensor", "weight_tensor", "vocab_size", "initializer", "combiner"),
)
_DeepEmbeddingLookupArguments = namedtuple(
    "_DeepEmbeddingLookupArguments",
    (
        "input_tensor",
        "weight_tensor",
        "vocab_size",
        "initializer",
        "combiner",
        "dimension",
        "shared_embedding_name",
        "hash_key",
        "max_norm",
        "trainable",
    ),
)


class _FeatureColumn(abc.ABC):
    """A column: a feature, or what becomes of one."""

    # Fields that the key leaves out: functions, of which every one is written in its own way.
    _keyless: tuple[str, ...] = ()

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The column's name."""

    @property
    @abc.abstractmethod
    def config(self) -> dict[str, Any]:
        """How tf.io.parse_example reads the features."""

    @property
    def key(self) -> str:
        """By what columns are put in order, and told from each other."""
        if not self._keyless:
            return str(self)
        column: Any = self
        shown = [(f, value) for f, value in column._asdict().items() if f not in self._keyless]
        return f"{type(self).__name__}({', '.join(f'{f}={value}' for f, value in shown)})"

    @property
    def parent_columns(self) -> tuple[_FeatureColumn, ...]:
        """The columns that this one is made of."""
        return ()

    @abc.abstractmethod
    def _transform_feature(self, inputs: _LazyBuilder | TransformedColumns) -> Any: ...

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        """Computes the column's tensor of others', and puts it beside them.

        Args:
            columns_to_tensors: tensors by the names of features, and by columns.
        """
        columns_to_tensors[self] = self._transform_feature(TransformedColumns(columns_to_tensors))

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Iterable[str] | None = None,
        trainable: bool = True,
        output_rank: int = 2,
    ) -> Any:
        raise ValueError("Calling an abstract method.")

    def _deep_embedding_lookup_arguments(self, input_tensor: Any) -> Any:
        raise NotImplementedError(f"No deep embedding lookup arguments for column {self}.")

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> Any:
        raise NotImplementedError(f"No wide embedding lookup arguments for column {self}.")

    def _to_dense_tensor(self, input_tensor: Any) -> Any:
        raise NotImplementedError(f"No dense tensor representation for column {self}.")

    def _checkpoint_path(self) -> tuple[str, str] | None:
        """A checkpoint, and the name of the tensor in it that weights begin with; or None."""
        return None


class Categorical(_FeatureColumn, core._CategoricalColumn):
    """A column of ids; `length` is how many there are."""

    @property
    @abc.abstractmethod
    def length(self) -> int:
        """The number of ids."""

    def id_tensor(self, input_tensor: Any) -> Any:
        """The ids in the column's tensor."""
        return input_tensor

    def weight_tensor(self, input_tensor: Any) -> Any:
        """The weights in the column's tensor, None if it has none."""
        return None

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return self.config

    @property
    def _num_buckets(self) -> int:
        return self.length

    def _get_sparse_tensors(
        self,
        inputs: _LazyBuilder,
        weight_collections: Iterable[str] | None = None,
        trainable: bool | None = None,
    ) -> IdWeightPair:
        tensor = inputs.get(self)
        return core.IdWeightPair(self.id_tensor(tensor), self.weight_tensor(tensor))


class Dense(_FeatureColumn, core._DenseColumn):
    """A column of numbers."""

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return self.config

    @property
    @abc.abstractmethod
    def _variable_shape(self) -> TensorShape: ...

    def _get_dense_tensor(
        self,
        inputs: _LazyBuilder,
        weight_collections: Iterable[str] | None = None,
        trainable: bool | None = None,
    ) -> Any:
        return inputs.get(self)


class TransformedColumns:
    """A dict of tensors as something that columns ask for tensors, and that makes them.

    Args:
        columns_to_tensors: tensors by the names of features, and by columns; grows.
    """

    def __init__(self, columns_to_tensors: dict[Any, Any]) -> None:
        self._columns_to_tensors = columns_to_tensors

    def get(self, key: object) -> Any:
        """The tensor of a feature or a column.

        Raises:
            ValueError: there is no feature of that name.
            TypeError: it is neither a name nor a column.
        """
        if key in self._columns_to_tensors:
            return self._columns_to_tensors[key]
        if isinstance(key, str):
            raise ValueError(f"features dictionary doesn't contain key ({key})")
        if not isinstance(key, _FeatureColumn):
            raise TypeError(f'"key" must be either a "str" or "_FeatureColumn". Provided: {key}')
        key.insert_transformed_feature(self._columns_to_tensors)
        return self._columns_to_tensors[key]


def zero_weights(
    input_tensor: Any, weight_tensor: Any, vocab_size: int, combiner: str
) -> _LinearEmbeddingLookupArguments:
    """What a linear model is told of ids whose weights begin as zeros."""
    initializer = tf.zeros_initializer()
    return _LinearEmbeddingLookupArguments(
        input_tensor, weight_tensor, vocab_size, initializer, combiner
    )


def check_checkpoint(ckpt_to_load_from: str | None, tensor_name_in_ckpt: str | None) -> None:
    """Raises ValueError for a checkpoint without the name of a tensor, or a name without one."""
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError(
            "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them."
        )


def reshape_real_valued(tensor: Any, output_rank: int, column_name: str | None = None) -> Any:
    """A dense tensor with that many axes: inner ones become one, a missing one is appended.

    Raises:
        ValueError: more than one axis is missing.
    """
    rank = tensor.shape.ndims
    if rank is None or output_rank < rank:
        return inner_flatten(tensor, output_rank)
    if output_rank == rank:
        return tensor
    if output_rank > rank + 1:
        where = "" if column_name is None else f"Error while processing column {column_name}."
        raise ValueError(f"{where}{rank_advice(rank, output_rank)}")
    log.warning(
        f"Rank of input Tensor ({rank}) should be the same as output_rank ({output_rank}) for "
        "column. Will attempt to expand dims. It is highly recommended that you resize your "
        "input, as this behavior may change."
    )
    return tf.expand_dims(tensor, -1, name="expand_dims")


def rank_advice(rank: int, output_rank: int) -> str:
    """What is wrong with a tensor that lacks axes."""
    return (
        f"Rank of input Tensor ({rank}) should be the same as output_rank ({output_rank}). For "
        "example, sequence data should typically be 3 dimensional (rank 3) while non-sequence data "
        "is typically 2 dimensional (rank 2)."
    )


def with_rank(tensor: Any, column_name: str, output_rank: int) -> Any:
    """A tensor, dense or sparse, of known rank, with that many axes.

    Raises:
        ValueError: the rank is unknown, or more than one axis is missing.
    """
    rank = tensor.get_shape().ndims
    is_sparse = isinstance(tensor, SparseTensor)
    if rank is None and is_sparse:
        rank = tensor.dense_shape.shape.as_list()[0]
    where = f"Error while processing column {column_name}."
    if rank is None:
        raise ValueError(f"{where} Rank of input Tensor can not be None.")
    if output_rank > rank + 1:
        raise ValueError(f"{where} {rank_advice(rank, output_rank)}")
    if output_rank < rank:
        return inner_flatten(tensor, output_rank)
    if output_rank == rank:
        return tensor
    if is_sparse:
        return tf.sparse_reshape(tensor, tf.concat([tensor.dense_shape, [1]], 0))
    return tf.expand_dims(tensor, -1)
