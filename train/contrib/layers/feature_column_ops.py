# SPDX-License-Identifier: Apache-2.0
"""Inputs of networks, and linear models, of feature columns."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.tensor import SparseTensor
from ....engine.interface import log
from ....engine.types import dtypes, nest
from ....ops.nn.bias import bias_add
from ....ops.public import tf
from ..framework.variables import model_variable
from . import feature_column as fc
from .columns.embedding import (
    embeddings_from_arguments,
    maybe_restore_from_checkpoint,
    variable_parts,
)
from .columns.protocol import with_rank
from .embedding_ops import safe_embedding_lookup_sparse

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.tensor import Tensor
    from .annotations import Scope

Features = dict[Any, Any]


class _Transformer:
    """What columns make of features, each once.

    Args:
        columns_to_tensors: tensors by the names of features, and by columns; grows.
    """

    def __init__(self, columns_to_tensors: Features) -> None:
        self._columns_to_tensors = columns_to_tensors

    def transform(self, feature_column: Any) -> Any:
        """A column's tensor.

        Raises:
            ValueError: the column makes none.
        """
        log.debug("Transforming feature_column %s", feature_column)
        if feature_column not in self._columns_to_tensors:
            feature_column.insert_transformed_feature(self._columns_to_tensors)
        if feature_column not in self._columns_to_tensors:
            raise ValueError(f"Column {feature_column.name} is not supported.")
        return self._columns_to_tensors[feature_column]


def _in_order(feature_columns: Iterable[Any]) -> list[Any]:
    return sorted(set(feature_columns), key=lambda column: column.key)


def _with_global(weight_collections: Iterable[str] | None) -> Any:
    if not weight_collections:
        return weight_collections
    return list({*weight_collections, tf.GraphKeys.GLOBAL_VARIABLES})


def _input_from_feature_columns(
    columns_to_tensors: Features,
    feature_columns: Iterable[Any],
    weight_collections: Iterable[str] | None,
    trainable: bool,
    scope: Scope | None,
    output_rank: int,
    default_name: str,
    cols_to_outs: dict[Any, Any] | None = None,
) -> Tensor:
    columns_to_tensors = columns_to_tensors.copy()
    check_feature_columns(feature_columns)
    if cols_to_outs is not None and not isinstance(cols_to_outs, dict):
        raise ValueError("cols_to_outs must be a dict unless None")
    with tf.variable_scope(
        scope, default_name=default_name, values=list(columns_to_tensors.values())
    ):
        outputs = []
        transformer = _Transformer(columns_to_tensors)
        collections = _with_global(weight_collections)
        for column in _in_order(feature_columns):
            values = list(columns_to_tensors.values())
            with tf.variable_scope(None, default_name=column.name, values=values):
                tensor = transformer.transform(column)
                if output_rank == 3:
                    reshape = functools.partial(
                        with_rank, column_name=column.name, output_rank=output_rank
                    )
                    tensor = nest.map_structure(reshape, tensor)
                outputs.append(_input_of(column, tensor, collections, trainable, output_rank))
                if cols_to_outs is not None:
                    cols_to_outs[column] = outputs[-1]
        return tf.concat(outputs, output_rank - 1)


def _input_of(column: Any, tensor: Any, collections: Any, trainable: bool, output_rank: int) -> Any:
    """A column's part of a network's input: embeddings, or what it makes itself."""
    try:
        arguments = column._deep_embedding_lookup_arguments(tensor)
    except NotImplementedError as lacks:
        try:
            return column._to_dnn_input_layer(
                tensor, collections, trainable, output_rank=output_rank
            )
        except ValueError as error:
            raise ValueError(
                f"Error creating input layer for column: {column.name}.\n{error}, {lacks}"
            ) from error
    return embeddings_from_arguments(
        column, arguments, collections, trainable, output_rank=output_rank
    )


@export("contrib.layers.input_from_feature_columns")
def input_from_feature_columns(
    columns_to_tensors: Features,
    feature_columns: Iterable[Any],
    weight_collections: Iterable[str] | None = None,
    trainable: bool = True,
    scope: Scope | None = None,
    cols_to_outs: dict[Any, Any] | None = None,
) -> Tensor:
    """The input of a network: what columns make of features, side by side.

    Args:
        columns_to_tensors: tensors by the names of features, or by columns.
        feature_columns: the columns, whose order does not count.
        weight_collections: collections for the variables.
        trainable: whether embeddings are trained.
        scope: the variable scope.
        cols_to_outs: a dict that gets the part of each column, if given.

    Returns:
        A matrix [batch, numbers].

    Raises:
        ValueError: a column is not one for networks, or is there twice.

    Example:
        >>> layers = tf.contrib.layers
        >>> age = layers.bucketized_column(layers.real_valued_column("age"), [18, 65])
        >>> net = layers.input_from_feature_columns({"age": tf.constant([[70.0]])}, [age])
        >>> print(tf.Session().run(net).tolist())
        [[0.0, 0.0, 1.0]]
    """
    return _input_from_feature_columns(
        columns_to_tensors,
        feature_columns,
        weight_collections,
        trainable,
        scope,
        output_rank=2,
        default_name="input_from_feature_columns",
        cols_to_outs=cols_to_outs,
    )


@export("contrib.layers.sequence_input_from_feature_columns")
def sequence_input_from_feature_columns(
    columns_to_tensors: Features,
    feature_columns: Iterable[Any],
    weight_collections: Iterable[str] | None = None,
    trainable: bool = True,
    scope: Scope | None = None,
) -> Tensor:
    """The input of a network of sequences: what columns make of features, side by side.

    Args: as `input_from_feature_columns`; columns are of numbers, embeddings or one-hot rows, and
        not made of ranges or combinations.

    Returns:
        A tensor [batch, steps, numbers].

    Raises:
        ValueError: a column is not one for sequences.
    """
    _check_sequence_columns(feature_columns)
    return _input_from_feature_columns(
        columns_to_tensors,
        feature_columns,
        weight_collections,
        trainable,
        scope,
        output_rank=3,
        default_name="sequence_input_from_feature_columns",
    )


_SEQUENCE_COLUMNS = (
    fc._OneHotColumn,
    fc._EmbeddingColumn,
    fc._RealValuedColumn,
    fc._RealValuedVarLenColumn,
)
_NOT_IN_SEQUENCES = (fc._ScatteredEmbeddingColumn, fc._BucketizedColumn, fc._CrossedColumn)


def _check_sequence_columns(feature_columns: Iterable[Any]) -> None:
    for column in feature_columns:
        if not isinstance(column, _SEQUENCE_COLUMNS):
            kind = type(column).__name__
            raise ValueError(
                f"FeatureColumn type {kind} is not currently supported for sequence data."
            )
    todo = list(feature_columns)
    for column in todo:
        todo += [parent for parent in column.parent_columns if parent not in todo]
        if isinstance(column, _NOT_IN_SEQUENCES):
            raise ValueError(
                f"Column {column.name} is of type {type(column).__name__}, which is not currently "
                "supported for sequences."
            )


def _weights(
    name: str, shape: Sequence[Any], initializer: Any, trainable: bool, collections: Any
) -> Any:
    return model_variable(
        name,
        shape=shape,
        dtype=dtypes.float32,
        initializer=initializer,
        trainable=trainable,
        collections=collections,
    )


def _looked_up(
    column: Any, arguments: Any, num_outputs: int, trainable: bool, collections: Any, values: Any
) -> tuple[list[Any], Any]:
    """The variable of a linear model for a column of ids, and what it adds."""
    with tf.variable_scope(None, default_name=column.name, values=values):
        shape = [arguments.vocab_size, num_outputs]
        variable = variable_parts(
            _weights("weights", shape, arguments.initializer, trainable, collections)
        )
        return variable, safe_embedding_lookup_sparse(
            variable,
            arguments.input_tensor,
            sparse_weights=arguments.weight_tensor,
            combiner=arguments.combiner,
            name=column.name + "_weights",
        )


def _multiplied(
    column: Any, tensor: Any, num_outputs: int, trainable: bool, collections: Any, values: Any
) -> tuple[list[Any], Any]:
    """The variable of a linear model for a column of numbers, and what it adds."""
    with tf.variable_scope(None, default_name=column.name, values=values):
        dense = with_rank(column._to_dense_tensor(tensor), column.name, output_rank=2)
        shape = [dense.shape[1], num_outputs]
        variable = _weights("weight", shape, tf.zeros_initializer(), trainable, collections)
        return [variable], tf.matmul(dense, variable, name="matmul")


def _with_bias(
    predictions: Any, num_outputs: int, trainable: bool, collections: Any
) -> tuple[Any, Any]:
    bias = model_variable(
        "bias_weight",
        shape=[num_outputs],
        initializer=tf.zeros_initializer(),
        trainable=trainable,
        collections=_with_global(collections),
    )
    return bias_add(predictions, bias), bias


@export("contrib.layers.weighted_sum_from_feature_columns")
def weighted_sum_from_feature_columns(
    columns_to_tensors: Features,
    feature_columns: Iterable[Any],
    num_outputs: int,
    weight_collections: Iterable[str] | None = None,
    trainable: bool = True,
    scope: Scope | None = None,
) -> tuple[Any, dict[Any, list[Any]], Any]:
    """A linear model of columns.

    Args:
        columns_to_tensors: tensors by the names of features, or by columns.
        feature_columns: the columns, whose order does not count.
        num_outputs: how many numbers the model gives for each example.
        weight_collections: collections for the variables.
        trainable: whether these are trained.
        scope: the variable scope.

    Returns:
        The model's numbers [batch, outputs], the variables by columns, and the bias.

    Raises:
        ValueError: a column is not one for linear models, or is there twice.

    Example:
        >>> age = tf.contrib.layers.real_valued_column("age")
        >>> features = {"age": tf.constant([[70.0]])}
        >>> sums = tf.contrib.layers.weighted_sum_from_feature_columns(features, [age], 2)
        >>> print(sums[0].shape, sums[1][age][0].op.name.rpartition("/")[2])
        (1, 2) weight
    """
    columns_to_tensors = columns_to_tensors.copy()
    check_feature_columns(feature_columns)
    values = list(columns_to_tensors.values())
    default_name = "weighted_sum_from_feature_columns"
    with tf.variable_scope(scope, default_name=default_name, values=values):
        parts, variables = [], {}
        transformer = _Transformer(columns_to_tensors)
        for column in _in_order(feature_columns):
            tensor = transformer.transform(column)
            common = (num_outputs, trainable, weight_collections, list(columns_to_tensors.values()))
            try:
                arguments = column._wide_embedding_lookup_arguments(tensor)
                variable, part = _looked_up(column, arguments, *common)
            except NotImplementedError:
                variable, part = _multiplied(column, tensor, *common)
            except ValueError as error:
                raise ValueError(
                    f"Error creating weighted sum for column: {column.name}.\n{error}"
                ) from error
            parts.append(tf.reshape(part, shape=(-1, num_outputs)))
            variables[column] = variable
            maybe_restore_from_checkpoint(column._checkpoint_path(), variable)
        sums, bias = _with_bias(tf.add_n(parts), num_outputs, trainable, weight_collections)
        return sums, variables, bias


@export("contrib.layers.joint_weighted_sum_from_feature_columns")
def joint_weighted_sum_from_feature_columns(
    columns_to_tensors: Features,
    feature_columns: Iterable[Any],
    num_outputs: int,
    weight_collections: Iterable[str] | None = None,
    trainable: bool = True,
    scope: Scope | None = None,
) -> tuple[Any, list[Any], Any]:
    """A linear model of columns of ids, whose weights are one variable.

    Args: as `weighted_sum_from_feature_columns`.

    Returns:
        The model's numbers [batch, outputs], the parts of the variable, and the bias.

    Raises:
        NotImplementedError: a column is of numbers.
        ValueError: a column is there twice.
    """
    columns_to_tensors = columns_to_tensors.copy()
    check_feature_columns(feature_columns)
    values = list(columns_to_tensors.values())
    default_name = "joint_weighted_sum_from_feature_columns"
    with tf.variable_scope(scope, default_name=default_name, values=values):
        transformer = _Transformer(columns_to_tensors)
        arguments = []
        for column in _in_order(feature_columns):
            tensor = transformer.transform(column)
            try:
                arguments.append(column._wide_embedding_lookup_arguments(tensor))
            except NotImplementedError as error:
                raise NotImplementedError(
                    "Real-valued columns are not supported. Use weighted_sum_from_feature_columns "
                    "instead, or bucketize these columns."
                ) from error
        ids, size = _joined_ids(arguments)
        values = list(columns_to_tensors.values())
        with tf.variable_scope(None, default_name="linear_weights", values=values):
            shape, zeros = [size, num_outputs], tf.zeros_initializer()
            variable = variable_parts(
                _weights("weights", shape, zeros, trainable, weight_collections)
            )
            sums = safe_embedding_lookup_sparse(variable, ids, combiner="sum", name="_weights")
        sums, bias = _with_bias(sums, num_outputs, trainable, weight_collections)
        return sums, variable, bias


def _joined_ids(arguments: Sequence[Any]) -> tuple[Any, int]:
    """The ids of all columns, one column's behind another's, and how many there are."""
    advice = "Please use weighted_sum_from_feature_columns instead."
    for each in arguments:
        if each.weight_tensor is not None:
            raise AssertionError(
                f"Joint sums for weighted sparse columns are not supported. {advice}"
            )
        if each.combiner != "sum":
            raise AssertionError(
                f"Combiners other than sum are not supported for joint sums. {advice}"
            )
    if not arguments:
        raise AssertionError("At least one column must be in the model.")
    size, tensors = 0, []
    for each in arguments:
        ids = each.input_tensor
        tensors.append(SparseTensor(ids.indices, ids.values + size, ids.dense_shape))
        size += each.vocab_size
    return tf.sparse_concat(1, tensors), size


@export("contrib.layers.parse_feature_columns_from_examples")
def parse_feature_columns_from_examples(
    serialized: TensorLike,
    feature_columns: Iterable[Any],
    name: str | None = None,
    example_names: TensorLike | None = None,
) -> Features:
    """Reads the features of columns from tf.Examples, and transforms them.

    Args:
        serialized: a vector of Examples as strings.
        feature_columns: the columns.
        name: of the op.
        example_names: names for messages.

    Returns:
        Tensors by the names of features, and by columns.
    """
    check_feature_columns(feature_columns)
    tensors = tf.parse_example(
        serialized=serialized,
        features=fc.create_feature_spec_for_parsing(feature_columns),
        name=name,
        example_names=example_names,
    )
    transformer = _Transformer(tensors)
    for column in _in_order(feature_columns):
        transformer.transform(column)
    return tensors  # type: ignore[no-any-return]


@export("contrib.layers.transform_features")
def transform_features(features: Features, feature_columns: Iterable[Any]) -> Features:
    """What columns make of features, by column.

    Args:
        features: tensors by the names of features.
        feature_columns: the columns.

    Returns:
        Tensors by columns.

    Example:
        >>> layers = tf.contrib.layers
        >>> age = layers.bucketized_column(layers.real_valued_column("age"), [18, 65])
        >>> found = layers.transform_features({"age": tf.constant([[70.0]])}, [age])
        >>> print(tf.Session().run(found[age]).tolist())
        [[2]]
    """
    tensors = features.copy()
    check_feature_columns(feature_columns)
    transformer = _Transformer(tensors)
    for column in _in_order(feature_columns):
        transformer.transform(column)
    return {key: tensor for key, tensor in tensors.items() if key in feature_columns}


@export("contrib.layers.parse_feature_columns_from_sequence_examples")
def parse_feature_columns_from_sequence_examples(
    serialized: TensorLike,
    context_feature_columns: Iterable[Any] | None,
    sequence_feature_columns: Iterable[Any] | None,
    name: str | None = None,
    example_name: str | None = None,
) -> Any:
    """Reads the features of columns from one tf.SequenceExample.

    Args:
        serialized: the example, a string.
        context_feature_columns: columns of features of the whole example.
        sequence_feature_columns: columns of features of its steps.
        name: of the op.
        example_name: a name for messages.

    Returns:
        Two dicts of tensors by the names of features: of the whole, and of the steps.

    Raises:
        ValueError: there is more than one example.
    """
    try:
        serialized = tf.reshape(serialized, [])
    except ValueError as error:
        raise ValueError(
            "serialized must contain as single sequence example. Batching must be done after "
            f"parsing for sequence examples. Error: {error}"
        ) from error
    context, sequence = context_feature_columns or [], sequence_feature_columns or []
    check_feature_columns(context)
    check_feature_columns(sequence)
    return tf.parse_single_sequence_example(
        serialized,
        fc.create_feature_spec_for_parsing(context),
        fc._create_sequence_feature_spec_for_parsing(sequence, allow_missing_by_default=False),
        example_name,
        name,
    )


@export("contrib.layers.infer_real_valued_columns")
def infer_real_valued_columns(features: Any) -> list[Any]:
    """Columns of numbers for dense tensors.

    Args:
        features: a tensor, or tensors by the names of features.

    Returns:
        A list of columns.

    Raises:
        ValueError: a tensor is sparse, or none of numbers.

    Example:
        >>> columns = tf.contrib.layers.infer_real_valued_columns({"x": tf.zeros([8, 3])})
        >>> [(c.name, c.dimension) for c in columns]
        [('x', 3)]
    """
    if not isinstance(features, dict):
        return [_real_valued("", features)]
    return [_real_valued(name, tensor) for name, tensor in features.items()]


def _real_valued(name: str, tensor: Any) -> Any:
    advice = f"Please define corresponding FeatureColumn for tensor {name} {tensor}."
    if isinstance(tensor, SparseTensor):
        raise ValueError(f"SparseTensor is not supported for auto detection. {advice}")
    if not (tensor.dtype.is_integer or tensor.dtype.is_floating):
        raise ValueError(
            f"Non integer or non floating types are not supported for auto detection. {advice}"
        )
    dimension = 1
    for size in tensor.shape.as_list()[1:]:
        dimension *= size
    return fc.real_valued_column(name, dimension=dimension, dtype=tensor.dtype)


@export("contrib.layers.check_feature_columns")
def check_feature_columns(feature_columns: Iterable[Any]) -> None:
    """Checks that no column is there twice.

    Args:
        feature_columns: the columns.

    Raises:
        ValueError: one is, or they are a dict.

    Example:
        >>> age = tf.contrib.layers.real_valued_column("age")
        >>> tf.contrib.layers.check_feature_columns([age])
    """
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    seen = set()
    for column in feature_columns:
        key = column.key
        if key in seen:
            raise ValueError(
                f"Duplicate feature column key found for column: {column.name}. This usually means "
                "that the column is almost identical to another column, and one must be discarded."
            )
        seen.add(key)
