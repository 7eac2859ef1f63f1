# SPDX-License-Identifier: Apache-2.0
"""Embeddings without a table: each number of a value's vector is found by a hash of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.graph.tensor import SparseTensor
from ....engine.interface import log
from ....engine.types import dtypes
from ....ops.nn.embedding import embedding_lookup
from ....ops.public import tf
from ....ops.state.variable_partitions import PartitionedVariable
from .sparse_feature_cross_op import sparse_feature_cross

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.tensor import Tensor


def parts_of(params: Any) -> list[Any]:
    """The parts of embeddings, as a list."""
    if isinstance(params, PartitionedVariable):
        return list(params)
    return params if isinstance(params, list) else [params]


def combiner_or_mean(combiner: str | None) -> str:
    """A combiner; "mean", with a warning, if there is none."""
    if combiner is None:
        log.warning(
            'The default value of combiner will change from "mean" to "sqrtn" after 2016/11/01.'
        )
        return "mean"
    return combiner


def scattered_embedding_lookup(
    params: Any,
    values: TensorLike,
    dimension: int,
    name: str | None = None,
    hash_key: int | None = None,
) -> Tensor:
    """The vectors of values, of which every number is found by the hash of value and place.

    Args:
        params: numbers: a vector of known size, or the parts of one.
        values: strings or integers.
        dimension: the length of the vectors.
        name: the name scope.
        hash_key: what fingerprints begin with; None hashes in an older way.

    Returns:
        A tensor with one axis more than the values.

    Raises:
        ValueError: there is no dimension above zero, or parts are of other sizes than a
            partitioned variable's.
    """
    if dimension is None:
        raise ValueError("You must specify dimension.")
    return _sampled_scattered_embedding_lookup(
        params, values, dimension=dimension, hash_key=hash_key, name=name
    )


def _sampled_scattered_embedding_lookup(
    params: Any,
    values: TensorLike,
    dimension: Any = None,
    sampled_candidates: TensorLike | None = None,
    hash_key: int | None = None,
    name: str | None = None,
) -> Tensor:
    """The same, or the numbers at some places of each vector, which are `sampled_candidates`."""
    parts = parts_of(params)
    with tf.name_scope(name, "scattered_embedding_lookup", [*parts, dimension, values]):
        values = tf.convert_to_tensor(values)
        shape = tf.shape(values)
        column = tf.reshape(values, [-1, 1])
        if sampled_candidates is not None:
            places, dimension = _flat_places(sampled_candidates, shape)
        elif dimension is None:
            raise ValueError("You must specify either dimension or sampled_candidates.")
        elif dimension <= 0:
            raise ValueError(f"Dimension must be >0. Given is {dimension}")
        else:
            places = tf.tile(tf.expand_dims(tf.range(0, dimension), 0), tf.shape(column))
        ids = sparse_feature_cross(
            [places, column],
            hashed_output=True,
            num_buckets=_count_in(parts),
            hash_key=hash_key,
        )
        dense = tf.sparse_tensor_to_dense(ids)
        found = embedding_lookup(parts, dense, partition_strategy="div")
        return tf.reshape(found, tf.concat([shape, [dimension]], 0))


def _flat_places(candidates: TensorLike, shape: Any) -> tuple[Any, Any]:
    """Places row by row, and how many there are in a row, checked to be rows of `shape`."""
    candidates = tf.convert_to_tensor(candidates)
    given = tf.shape(candidates)
    dimension = given[tf.subtract(tf.rank(candidates), 1)]
    expected = tf.concat([shape, tf.reshape(dimension, shape=[1])], 0)
    message = [
        "The shape of sampled_candidates: ",
        given,
        " does not match the shape of values: ",
        shape,
    ]
    check = tf.Assert(tf.reduce_all(tf.equal(given, expected)), message)
    with tf.control_dependencies([check]):
        return tf.reshape(candidates, [-1, dimension]), dimension


def _count_in(parts: list[Any]) -> int:
    """How many numbers there are in the parts of a vector."""
    sizes = []
    for part in parts:
        part.shape.assert_has_rank(1)
        part.shape.assert_is_fully_defined()
        sizes.append(part.shape.as_list()[0])
    count: int = sum(sizes)
    for i, size in enumerate(sizes):
        expected = (count - i - 1) // len(parts) + 1
        if size != expected:
            raise ValueError(f"Tensor {i} in params has size {size}, expected {expected}.")
    return count


_SEGMENTS = {
    "sum": "sparse_segment_sum",
    "mean": "sparse_segment_mean",
    "sqrtn": "sparse_segment_sqrt_n",
}
# What stands in empty rows: values that nobody has.
_NOBODYS_TEXT, _NOBODYS_NUMBER = "6ZxWzWOHxZ", 1288896567


def scattered_embedding_lookup_sparse(
    params: Any,
    sparse_values: SparseTensor,
    dimension: int,
    combiner: str | None = None,
    default_value: Any = None,
    name: str | None = None,
    hash_key: int | None = None,
) -> Any:
    """The combined vectors of each row's values, as `scattered_embedding_lookup` finds them.

    Args:
        params, dimension, name, hash_key: as `scattered_embedding_lookup`.
        sparse_values: strings or integers [rows, some].
        combiner: "mean", "sqrtn" or "sum"; None is "mean".
        default_value: the value of empty rows; one that nobody has if None.

    Returns:
        A matrix.

    Raises:
        TypeError: the values are no sparse tensor.
        ValueError: the combiner is another.
    """
    combiner = combiner_or_mean(combiner)
    parts = parts_of(params)
    if not isinstance(sparse_values, SparseTensor):
        raise TypeError("sparse_values must be SparseTensor")
    with tf.name_scope(name, "scattered_embedding_lookup_sparse", [*parts, sparse_values]) as scope:
        if default_value is None:
            of_text = sparse_values.dtype == dtypes.string
            default_value = _NOBODYS_TEXT if of_text else _NOBODYS_NUMBER
        filled, _ = tf.sparse_fill_empty_rows(sparse_values, default_value)
        rows = tf.cast(filled.indices[:, 0], dtypes.int32)
        unique, places = tf.unique(filled.values)
        vectors = scattered_embedding_lookup(parts, unique, dimension, hash_key=hash_key)
        if combiner not in _SEGMENTS:
            raise ValueError("Combiner must be one of 'mean', 'sqrtn' or 'sum'.")
        return getattr(tf, _SEGMENTS[combiner])(vectors, places, rows, name=scope)


def _sampled_scattered_embedding_lookup_sparse(
    params: Any,
    sp_values: SparseTensor,
    dimension: Any = None,
    sampled_candidates: TensorLike | None = None,
    hash_key: int | None = None,
    with_sign_hash: bool = False,
    name: str | None = None,
) -> Tensor:
    """The sums of each row's vectors, or of their numbers at some places.

    Args:
        sampled_candidates: the places for each row, if given.
        with_sign_hash: whether numbers are multiplied by 1 or -1, whichever their hashes say.
        params, sp_values, dimension, hash_key, name: as `scattered_embedding_lookup_sparse`.

    Raises:
        TypeError: the values are no sparse tensor.
        ValueError: neither dimension nor places are given.
    """
    if not isinstance(sp_values, SparseTensor):
        raise TypeError("sp_values must be SparseTensor")
    given = [sp_values, params, dimension, sampled_candidates]
    with tf.name_scope(name, "sampled_scattered_embedding_lookup_sparse", given) as scope:
        rows = sp_values.indices[:, 0]
        if sampled_candidates is not None:
            sampled_candidates = tf.gather(sampled_candidates, rows)

        def looked_up(numbers: Any, name: str) -> Tensor:
            return _sampled_scattered_embedding_lookup(
                numbers, sp_values.values, dimension, sampled_candidates, hash_key, name
            )

        vectors = looked_up(params, "values_lookup")
        if with_sign_hash:
            signs = looked_up(tf.constant([-1.0, 1.0]), "signs_lookup")
            vectors = tf.multiply(signs, vectors, name="signs_hash")
        rows_of: Any = sp_values
        count = tf.shape(rows_of)[0]
        return tf.unsorted_segment_sum(
            vectors, tf.cast(rows, dtypes.int32), num_segments=count, name=scope
        )
