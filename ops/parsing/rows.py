# SPDX-License-Identifier: Apache-2.0
"""How Examples and SequenceExamples that are parsed one by one are parsed many at once.

What a dataset's function does for one element is stated for blocks (engine/graph/rowwise.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph import rowwise
from ...engine.graph.constants import constant_value
from ...engine.types import dtypes
from ...engine.types.shape import as_shape
from ..public import raw, tf

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation


def examples(op: Operation, inputs: Sequence[rowwise.Rows]) -> rowwise.Results:
    """Examples whose dense features are all of known sizes, parsed together."""
    attrs, texts = op._attrs, inputs[0]
    shapes = [as_shape(shape) for shape in attrs["dense_shapes"]]
    is_known = texts.rank == 0 and all(shape.is_fully_defined() for shape in shapes)
    if not is_known or any(rows.rank is not None for rows in inputs[1:]):
        return None
    parsed = raw.ParseExample(
        serialized=texts.tensor,
        names=tf.constant([], dtypes.string),
        sparse_keys=[tf.constant(key) for key in attrs["sparse_keys"]],
        dense_keys=[tf.constant(key) for key in attrs["dense_keys"]],
        dense_defaults=[rows.tensor for rows in inputs[1:]],
        sparse_types=attrs["sparse_types"],
        dense_shapes=shapes,
    )
    count = tf.shape(texts.tensor, out_type=dtypes.int64)[0]
    places = parsed.sparse_indices
    # (Which element each value is of stands first in its place.)
    return [
        *(rowwise.Rows(place[:, 1:], 2, place) for place in places),
        *(rowwise.Rows(values, 1, place) for values, place in zip(parsed.sparse_values, places)),
        *(rowwise.Rows(_counts(place, count), 1) for place in places),
        *(rowwise.Rows(t, s.ndims) for t, s in zip(parsed.dense_values, shapes)),
    ]


def _counts(places: Any, count: Any) -> Any:
    """How many values each of `count` elements has, int64 [count, 1]."""
    owners = places[:, 0]
    found = tf.unsorted_segment_sum(tf.ones_like(owners), owners, count)
    return tf.reshape(found, [-1, 1])


_PARTS = ("context_sparse", "context_dense", "feature_list_sparse", "feature_list_dense")


def sequence_examples(op: Operation, inputs: Sequence[rowwise.Rows]) -> rowwise.Results:
    """SequenceExamples whose lists are all dense, parsed together.

    (Of sparse lists a batch does not tell how many steps each element has.)
    """
    attrs, texts = op._attrs, inputs[0]
    counts = [attrs[f"N{part}"] for part in _PARTS]
    known = [constant_value(tensor) for tensor in op._inputs_val[1 : 2 + sum(counts)]]
    if texts.rank != 0 or counts[2] or any(rows.rank is not None for rows in inputs[1:]):
        return None
    if any(value is None for value in known):
        return None
    missing, keys = known[0].tolist(), [key.item() for key in known[1:]]
    named: dict[str, Any] = {}
    for part, count in zip(_PARTS, counts):
        named[f"{part}_keys"], keys = keys[:count], keys[count:]
    parsed = raw.ParseSequenceExample(
        serialized=texts.tensor,
        debug_name=tf.constant([], dtypes.string),
        context_dense_defaults=[rows.tensor for rows in inputs[2 + sum(counts) : -1]],
        feature_list_dense_missing_assumed_empty=missing,
        **named,
        **{f"N{part}": count for part, count in zip(_PARTS, counts)},
        **{name: attrs[name] for name in attrs if name.endswith(("_types", "_shapes"))},
    )
    count = tf.shape(texts.tensor, out_type=dtypes.int64)[0]
    places = parsed.context_sparse_indices
    values = zip(parsed.context_sparse_values, places)
    context = zip(parsed.context_dense_values, attrs["context_dense_shapes"])
    return [
        *(rowwise.Rows(place[:, 1:], 2, place) for place in places),
        *(rowwise.Rows(value, 1, place) for value, place in values),
        *(rowwise.Rows(_counts(place, count), 1) for place in places),
        *(rowwise.Rows(value, as_shape(shape).ndims) for value, shape in context),
        *(
            _unpadded(lists, lengths)
            for lists, lengths in zip(
                parsed.feature_list_dense_values, parsed.feature_list_dense_lengths
            )
        ),
    ]


def _unpadded(lists: Any, lengths: Any) -> rowwise.Rows:
    """The steps of all elements, one behind the other, of lists that are padded to one length."""
    places = tf.where(tf.sequence_mask(lengths, tf.shape(lists)[1]))
    return rowwise.Rows(tf.gather_nd(lists, places), lists.shape.ndims - 1, places)
