# SPDX-License-Identifier: Apache-2.0
"""Ragged labels, predictions and weights: metrics count their elements."""

from __future__ import annotations

from typing import Any

from ....ops.public import tf
from ....ops.ragged.util import assert_splits_match
from ....ops.ragged.values import is_ragged


def flat_values(values: Any, mask: Any = None) -> tuple[Any, Any]:
    """The elements of ragged values, each with an axis of size 1; dense values as they are.

    Args:
        values: a list, or one value: tensors, or ragged tensors whose rows are equally long.
        mask: None, or a tensor of the same kind.

    Returns:
        The values, in a list if a list was given, and the mask. An InvalidArgumentError says when
        these are computed that rows differ in length.

    Raises:
        TypeError: some are ragged, but not all.
        ValueError: they have other numbers of ragged axes.
    """
    several = isinstance(values, list)
    given = values if several else [values]
    if not any(map(is_ragged, given)):
        if is_ragged(mask):
            raise TypeError("Ragged mask is not allowed with non-ragged inputs.")
        return values, mask
    if not all(map(is_ragged, given)) or not (mask is None or is_ragged(mask)):
        raise TypeError("One of the inputs does not have acceptable types.")
    splits = [x.nested_row_splits for x in given]
    checks = assert_splits_match(splits)
    found = [_elements(x, checks) for x in given]
    if mask is not None:
        mask = _elements(mask, assert_splits_match([splits[0], mask.nested_row_splits]))
    return found if several else found[0], mask


def _elements(ragged: Any, checks: list[Any]) -> Any:
    with tf.control_dependencies(checks):
        return tf.expand_dims(ragged.flat_values, -1)
