# SPDX-License-Identifier: Apache-2.0
"""Where examples were after the last step: their tree, their node and what was predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.graph.convert import convert_to_tensor
from ....engine.types import dtypes
from ....ops.public import raw, tf

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation
    from ....ops.state.variables import Variable

# The node of an example that was in no tree.
NO_NODE = -1


def variable(initial_value: Any, name: str) -> Variable:
    """A variable that is not trained, of any shape."""
    return tf.Variable(
        initial_value, trainable=False, validate_shape=False, name=name, use_resource=True
    )


class StatesInVariables:
    """Of all examples, which each batch has in the same order."""

    def __init__(self, batch_size: Any, logits_dimension: int) -> None:
        nowhere = NO_NODE * tf.ones([batch_size], dtype=dtypes.int32)
        zeros = tf.zeros([batch_size, logits_dimension], dtype=dtypes.float32)
        self._trees = variable(tf.zeros([batch_size], dtype=dtypes.int32), "tree_ids_cache")
        self._nodes = variable(nowhere, "node_ids_cache")
        self._logits = variable(zeros, "logits_cache")

    def lookup(self) -> tuple[Any, Any, Any]:
        """Trees [batch], nodes [batch] and logits [batch, logits_dimension]."""
        return self._trees, self._nodes, self._logits

    def insert(self, tree_ids: Any, node_ids: Any, logits: Any) -> Operation:
        """An operation that keeps those of this step."""
        kept = (self._trees, tree_ids), (self._nodes, node_ids), (self._logits, logits)
        return tf.group([var.assign(value) for var, value in kept], name="cache_insert")


class StatesById:
    """Of examples by their names or numbers.

    Args:
        example_ids: string or int64, [batch].
        logits_dimension: the last size of the logits.

    Raises:
        ValueError: the names are of another type or rank.
    """

    def __init__(self, example_ids: Any, logits_dimension: int) -> None:
        if example_ids.dtype == dtypes.int64:
            empty, deleted = (
                tf.constant(-(1 << 62), dtypes.int64),
                tf.constant(-(1 << 61), dtypes.int64),
            )
        elif example_ids.dtype == dtypes.string:
            empty, deleted = tf.constant(""), tf.constant("NEVER_USED_DELETED_KEY")
        else:
            raise ValueError(f"Unsupported example_id_feature dtype {example_ids.dtype}.")
        # One table for all three: the numbers' bits are kept as if they were floats.
        self._table = raw.MutableDenseHashTableV2(
            empty_key=empty, deleted_key=deleted, value_dtype=dtypes.float32, value_shape=[3]
        )
        self._ids = convert_to_tensor(example_ids)
        if self._ids.shape.ndims not in (None, 1):
            raise ValueError(f"example_id should have rank 1, but got {self._ids}")
        self._size = logits_dimension

    def lookup(self) -> tuple[Any, Any, Any]:
        """Trees [batch], nodes [batch] and logits [batch, logits_dimension]."""
        # (As in TensorFlow the default is a number, not bits: that of NO_NODE is negative too.)
        found = raw.LookupTableFindV2(self._table, self._ids, [0.0, float(NO_NODE), 0.0])
        trees, nodes, logits = tf.split(found, [1, 1, self._size], axis=1)
        numbers = (tf.squeeze(tf.bitcast(part, dtypes.int32)) for part in (trees, nodes))
        if self._ids.shape.ndims is not None:
            logits.set_shape([self._ids.shape[0], self._size])
        return *numbers, logits  # type: ignore[return-value]

    def insert(self, tree_ids: Any, node_ids: Any, logits: Any) -> Operation:
        """An operation that keeps those of this step."""
        numbers = [
            tf.expand_dims(tf.bitcast(ids, dtypes.float32), 1) for ids in (tree_ids, node_ids)
        ]
        values = tf.concat([*numbers, logits], axis=1, name="value_concat_for_cache_insert")
        return raw.LookupTableInsertV2(self._table, self._ids, values)
