# SPDX-License-Identifier: Apache-2.0
"""Categories of a batch as the solver takes them: each once for an example."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ops.public import tf

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor


def pruned_and_unique(
    example_ids: Tensor, flat_ids: Tensor, weights: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Features without those below 0, and with the weights of equal ones of an example added up.

    Args:
        example_ids: int64 [n], which example each is of.
        flat_ids: int64 [n], the category; below 0 for words that no vocabulary has.
        weights: float32 [n].
    """
    is_valid = tf.greater_equal(flat_ids, 0)
    flat_ids = tf.boolean_mask(flat_ids, is_valid)
    example_ids = tf.boolean_mask(example_ids, is_valid)
    weights = tf.boolean_mask(weights, is_valid)
    # One number for example and category.
    length = tf.reduce_max(flat_ids) + 1
    ids, positions = tf.unique(length * example_ids + flat_ids)
    examples = tf.unsorted_segment_min(example_ids, positions, tf.shape(ids)[0])
    features = ids - length * examples
    sums = tf.unsorted_segment_sum(weights, positions, tf.shape(ids)[0])
    return examples, features, tf.reshape(sums, [-1])
