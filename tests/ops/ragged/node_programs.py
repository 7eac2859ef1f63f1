# SPDX-License-Identifier: Apache-2.0
"""Programs of ragged tensors, whose nodes are those of TensorFlow 1.15: types, names and order.

As a script, run by a Python that has TensorFlow 1.15, it writes nodes_1_15.json anew.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).with_name("nodes_1_15.json")


def programs(tf: Any) -> dict[str, Callable[..., Any]]:
    """Functions of a constant x of two rows and of a fed y of rows of rows."""
    make = tf.RaggedTensor
    words = [["a"], ["b"]]
    return {
        "splits": lambda x, y: make.from_row_splits([1, 2], [0, 2]),
        "lengths": lambda x, y: make.from_row_lengths([1, 2], [0, 2]),
        "ids": lambda x, y: make.from_value_rowids(y.flat_values, tf.placeholder(tf.int64, [None])),
        "known ids": lambda x, y: make.from_value_rowids([1, 2], [0, 2], nrows=5),
        "starts": lambda x, y: make.from_row_starts([1, 2], [0, 2]),
        "limits": lambda x, y: make.from_row_limits([1, 2], [0, 2]),
        "nested": lambda x, y: make.from_nested_row_splits([1, 2], [[0, 1], [0, 2]]),
        "dense": lambda x, y: (x.to_tensor(), y.to_tensor(3.0)),
        "from dense": lambda x, y: (
            make.from_tensor([[1, 2], [3, 4]]),
            make.from_tensor([[1, 2], [3, 4]], padding=3),
            make.from_tensor([[1, 2], [3, 4]], lengths=[1, 2]),
            make.from_tensor([[[1, 2], [3, 4]]], ragged_rank=2),
        ),
        "sparse": lambda x, y: make.from_sparse(x.to_sparse()),
        "operators": lambda x, y: (x + 1, x + x, 2 - x, y * 2),
        "broadcast": lambda x, y: x + tf.constant([[1.0], [2.0]]),
        "reductions": lambda x, y: (
            tf.reduce_sum(x),
            tf.reduce_sum(x, 0),
            tf.reduce_sum(y, 1),
            tf.reduce_mean(y, 2),
            tf.reduce_max(y, [1, 2]),
            tf.reduce_all(x > 1, axis=1),
        ),
        "joins": lambda x, y: (
            tf.concat([x, x], 0),
            tf.concat([x, x], 1),
            tf.stack([x, x], 1),
            tf.concat([y, y], 2),
        ),
        "gathers": lambda x, y: (
            tf.gather(x, [0]),
            tf.gather(y, x.row_splits[:0]),
            tf.gather_nd(y, [[0, 1]]),
            tf.batch_gather(x, tf.ragged.constant([[0], [0]])),
        ),
        "tiles": lambda x, y: (tf.tile(x, [2, 3]), tf.tile(y, [1, 2, 3])),
        "masks": lambda x, y: (
            tf.ragged.boolean_mask(x, [True, False]),
            tf.ragged.boolean_mask(x, x > 1),
            tf.ragged.boolean_mask([[1, 2]], [[True, False]]),
        ),
        "choices": lambda x, y: (
            tf.where(x > 1),
            tf.where(x > 1, x, x),
            tf.where([True, False], x, x),
        ),
        "slices": lambda x, y: (
            *(x[0], x[1:], x[:, 1:], x[:, :-1], x[::2], x[None], x[:, None]),
            *(y[:, :, 1:], y[1, 0], y[..., 0:1]),
        ),
        "sizes": lambda x, y: (
            *(tf.size(x), tf.rank(y), tf.expand_dims(x, -1), x.bounding_shape()),
            *(tf.one_hot(tf.ragged.constant([[1]]), 3), tf.squeeze(tf.ragged.constant([[1]]), 1)),
            *(y.bounding_shape(), y.row_lengths(2), x.value_rowids()),
        ),
        "segments": lambda x, y: (
            tf.unsorted_segment_sum(x, [0, 1], 2),
            tf.unsorted_segment_mean(x, [0, 1], 2),
        ),
        "ranges": lambda x, y: (
            tf.ragged.range([1, 2], 3),
            tf.ragged.row_splits_to_segment_ids([0, 2]),
            tf.ragged.segment_ids_to_row_splits([0, 2]),
        ),
        "partitions": lambda x, y: (
            tf.ragged.stack_dynamic_partitions([1, 2], [0, 1], 2),
            tf.dynamic_partition(x, [0, 1], 2),
        ),
        "flat values": lambda x, y: tf.ragged.map_flat_values(tf.multiply, x, x),
        "texts": lambda x, y: (
            tf.strings.split(tf.constant([["a b"]]), result_type="RaggedTensor"),
            tf.strings.bytes_split(["a"]),
            tf.strings.ngrams([["a", "b"]], 2),
            tf.strings.reduce_join(tf.ragged.constant(words), axis=1),
            tf.string_split(["a b"], result_type="RaggedTensor"),
            tf.strings.split(["a b"]),
        ),
        "elementwise": lambda x, y: (
            *(tf.exp(x), tf.cast(x, tf.int32), tf.abs(x), tf.ones_like(x), tf.identity(y)),
            *(tf.add_n([x, x]), tf.clip_by_value(x, 0.0, 1.0)),
        ),
        "branches": lambda x, y: tf.cond(tf.constant(True), lambda: x, lambda: x + 1),
        "gradient": lambda x, y: tf.gradients(tf.gather(y, [0, 1]).flat_values, y.flat_values),
    }


def nodes(tf: Any, build: Callable[..., Any]) -> dict[str, Any]:
    """How many nodes a program makes, and a digest of their types and names in order."""
    with tf.Graph().as_default() as graph:
        build(tf.ragged.constant([[1.0, 2.0], [3.0]]), tf.ragged.placeholder(tf.float32, 2, []))
        lines = [f"{op.type} {op.name}" for op in graph.get_operations()]
    return {"count": len(lines), "sha1": hashlib.sha1("\n".join(lines).encode()).hexdigest()}


def main() -> int:
    import tensorflow

    found = {name: nodes(tensorflow, build) for name, build in programs(tensorflow).items()}
    RECORDED.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
