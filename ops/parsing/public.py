# SPDX-License-Identifier: Apache-2.0
"""Examples as tensors: `tf.io.parse_example` and its relatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.graph.tensor import SparseTensor
from ..control import with_dependencies
from ..public import raw, tf
from .features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    SparseFeature,
    VarLenFeature,
    Wanted,
    plain_name,
    with_merged,
    with_rows,
)

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor

_ALL = (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature)


def _tensors(
    wanted: Wanted,
    indices: Sequence[Tensor],
    values: Sequence[Tensor],
    shapes: Sequence[Tensor],
    dense: Sequence[Tensor],
) -> dict[str, Any]:
    """What an op gave, by key."""
    sparse = map(SparseTensor, indices, values, shapes)
    return dict(zip([*wanted.sparse_keys, *wanted.dense_keys], [*sparse, *dense]))


def _parse_raw(
    serialized: Tensor, names: TensorLike | None, wanted: Wanted, name: str | None
) -> dict[str, Any]:
    with name_scope(name, "ParseExample", [serialized, names]):
        wanted.require()
        outputs = raw.ParseExample(
            serialized=serialized,
            names=[] if names is None else names,
            dense_defaults=wanted.defaults(),
            sparse_keys=wanted.sparse_keys,
            sparse_types=wanted.sparse_types,
            dense_keys=wanted.dense_keys,
            dense_shapes=wanted.dense_shapes,
            name=name,
        )
        return _tensors(wanted, *outputs)


@export("io.parse_example", "parse_example")
def parse_example(
    serialized: Any,
    features: Mapping[str, Any],
    name: str | None = None,
    example_names: Any = None,
) -> dict[str, Any]:
    """The features of a vector of serialized Examples, by key (tf.io.parse_example).

    features: key -> FixedLenFeature or FixedLenSequenceFeature for a Tensor, VarLenFeature or
    SparseFeature for a SparseTensor; the first dimension is the batch.  example_names: a vector
    of names for messages.  ValueError for features that cannot be; InvalidArgumentError in the
    run for Examples that lack a feature, or have one of another type or size.
    """
    if not features:
        raise ValueError(f"Missing: features was {features}.")
    features = with_rows(features)
    found = _parse_raw(serialized, example_names, Wanted(features, _ALL), name)
    return with_merged(features, found)


@export("io.parse_single_example", "parse_single_example")
def parse_single_example(
    serialized: Any,
    features: Mapping[str, Any],
    name: str | None = None,
    example_names: Any = None,
) -> dict[str, Any]:
    """The features of one serialized tf.train.Example as tensors.

    Args:
        serialized: a string scalar.
        features: a dict of tf.FixedLenFeature, tf.VarLenFeature … by the names of features.
        name: the scope of the operations.
        example_names: a string scalar to be shown in messages.

    Returns:
        A dict by the same names: a Tensor of the feature's shape, or a SparseTensor.

    Raises:
        ValueError: there are no features, or one is described wrongly.
        InvalidArgumentError: a string of a run is no Example, or lacks a feature without default.

    Example:
        >>> feature = tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0]))
        >>> example = tf.train.Example(features=tf.train.Features(feature={"x": feature}))
        >>> wanted = {"x": tf.FixedLenFeature([2], tf.float32)}
        >>> parsed = tf.parse_single_example(example.SerializeToString(), wanted)
        >>> tf.Session().run(parsed)
        {'x': array([1., 2.], dtype=float32)}
    """
    if not features:
        raise ValueError("Missing features.")
    features = with_rows(features)
    wanted = Wanted(features, _ALL)
    if example_names is None:
        found = _parse_single(serialized, wanted, name)
    else:
        found = _parse_single_named(serialized, example_names, wanted, name)
    return with_merged(features, found)


def _parse_single(serialized: Tensor, wanted: Wanted, name: str | None) -> dict[str, Any]:
    with name_scope(name, "ParseSingleExample", [serialized]):
        serialized = convert_to_tensor(serialized, name="serialized")
        wanted.require()
        outputs = raw.ParseSingleExample(
            serialized=serialized,
            dense_defaults=wanted.defaults(),
            num_sparse=len(wanted.sparse_keys),
            sparse_keys=wanted.sparse_keys,
            sparse_types=wanted.sparse_types,
            dense_keys=wanted.dense_keys,
            dense_shapes=wanted.dense_shapes,
            name=name,
        )
        return _tensors(wanted, *outputs)


def _as_vector(value: TensorLike, what: str, prefix: str) -> Any:
    """A scalar as a vector of one."""
    value = convert_to_tensor(value)
    if value.shape.ndims is None:
        is_scalar = tf.equal(tf.rank(value), 0)
        check = tf.Assert(is_scalar, [f"Input {what} must be a scalar"], name=f"{prefix}IsScalar")
        value = with_dependencies([check], value, name=f"{prefix}Dependencies")
    elif value.shape.ndims:
        raise ValueError(f"Input {what} must be a scalar")
    return tf.expand_dims(value, 0)


def _parse_single_named(
    serialized: Tensor, names: str, wanted: Wanted, name: str | None
) -> dict[str, Any]:
    """By the op for batches, which knows names."""
    with name_scope(name, "ParseSingleExample", [serialized, names]):
        serialized = _as_vector(serialized, "serialized", "Serialized")
        names = _as_vector(names, "names", "Names")
        found = _parse_raw(serialized, names, wanted, name)
        for key in wanted.dense_keys:
            # The batch of one is taken off again.
            found[key] = tf.squeeze(found[key], [0], name=f"Squeeze_{plain_name(key)}")
        for key in wanted.sparse_keys:
            label, sparse = plain_name(key), found[key]
            found[key] = SparseTensor(
                tf.slice(sparse.indices, [0, 1], [-1, -1], name=f"Slice_Indices_{label}"),
                sparse.values,
                tf.slice(sparse.dense_shape, [1], [-1], name=f"Squeeze_Shape_{label}"),
            )
        return found


def _sequence_features(context: Any, sequence: Any) -> tuple[Wanted, Wanted]:
    if not (context or sequence):
        raise ValueError("Missing features.")
    return (
        Wanted(context, (VarLenFeature, FixedLenFeature)),
        Wanted(sequence, (VarLenFeature, FixedLenSequenceFeature)),
    )


def _sequence_arguments(context: Wanted, lists: Wanted, reshapes: bool) -> dict[str, Any]:
    """What both ops for SequenceExamples take."""
    context.require("context")
    lists.require("feature_list")
    for key, default in lists.dense_defaults.items():
        if default is not None:
            raise ValueError(f"Value feature_list_dense_defaults[{key}] must be None")
    return {
        "context_dense_defaults": context.defaults(reshapes),
        "context_sparse_keys": context.sparse_keys,
        "context_sparse_types": context.sparse_types,
        "context_dense_keys": context.dense_keys,
        "context_dense_shapes": context.dense_shapes,
        "feature_list_sparse_keys": lists.sparse_keys,
        "feature_list_sparse_types": lists.sparse_types,
        "feature_list_dense_keys": lists.dense_keys,
        "feature_list_dense_types": lists.dense_types,
        "feature_list_dense_shapes": lists.dense_shapes,
        "feature_list_dense_missing_assumed_empty": list(lists.dense_defaults),
    }


@export("io.parse_sequence_example")
def parse_sequence_example(
    serialized: TensorLike,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_names: Sequence[str] | None = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The features of a vector of serialized SequenceExamples (tf.io.parse_sequence_example).

    context_features: key -> FixedLenFeature or VarLenFeature; sequence_features: key ->
    FixedLenSequenceFeature or VarLenFeature.  Returns those of the contexts, those of the lists,
    and how long the dense lists are, each by key.
    """
    context, lists = _sequence_features(context_features, sequence_features)
    with name_scope(name, "ParseSequenceExample", [serialized]):
        outputs = raw.ParseSequenceExample(
            serialized=serialized,
            debug_name=[] if example_names is None else example_names,
            Ncontext_sparse=len(context.sparse_keys),
            Ncontext_dense=len(context.dense_keys),
            Nfeature_list_sparse=len(lists.sparse_keys),
            Nfeature_list_dense=len(lists.dense_keys),
            name=name,
            **_sequence_arguments(context, lists, reshapes=False),
        )
        lengths = dict(zip(lists.dense_keys, outputs[8]))
        return _tensors(context, *outputs[:4]), _tensors(lists, *outputs[4:8]), lengths


@export("io.parse_single_sequence_example", "parse_single_sequence_example")
def parse_single_sequence_example(
    serialized: TensorLike,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_name: str | None = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Like `parse_sequence_example`, of a scalar: those of the context, those of the lists."""
    context, lists = _sequence_features(context_features, sequence_features)
    with name_scope(name, "ParseSingleSequenceExample", [serialized]):
        outputs = raw.ParseSingleSequenceExample(
            serialized=serialized,
            debug_name="" if example_name is None else example_name,
            name=name,
            **_sequence_arguments(context, lists, reshapes=True),
        )
        return _tensors(context, *outputs[:4]), _tensors(lists, *outputs[4:8])
