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
from ..array.ragged_rows import counted
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
        *_sparse(places, parsed.sparse_values, count),
        *(rowwise.Rows(t, s.ndims) for t, s in zip(parsed.dense_values, shapes)),
    ]


def _sparse(places: Sequence[Any], values: Sequence[Any], count: Any) -> list[rowwise.Rows]:
    """Places, values and sizes of sparse vectors of `count` elements, from those of all."""
    lengths = [counted(place[:, 0], count) for place in places]
    known = list(zip(places, values, lengths))
    return [
        *(rowwise.Rows(place[:, 1:], 2, place, length) for place, _, length in known),
        *(rowwise.Rows(value, 1, place, length) for place, value, length in known),
        *(rowwise.Rows(tf.expand_dims(length, 1), 1) for length in lengths),
    ]


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
    context = zip(parsed.context_dense_values, attrs["context_dense_shapes"])
    return [
        *_sparse(places, parsed.context_sparse_values, count),
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
    return rowwise.Rows(tf.gather_nd(lists, places), lists.shape.ndims - 1, places, lengths)
