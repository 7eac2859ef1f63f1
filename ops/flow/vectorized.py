# SPDX-License-Identifier: Apache-2.0
"""`tf.vectorized_map`: a function of the rows of tensors, for all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.types import nest
from ..public import tf
from .turns import stacked_turns


@export("vectorized_map")
def vectorized_map(fn: Callable[[Any], Any], elems: Any) -> Any:
    """What a function makes of each row of tensors, stacked (tf.vectorized_map).

    TensorFlow replaces each operation by one for all rows.  Here the rows go through a compiled
    loop, or one after another (see turns.py), which gives the same values.

    Args:
        fn: takes a row in the structure of `elems`; returns a structure of tensors.
        elems: a structure of tensors with as many rows.

    Returns:
        The structure that `fn` returns, its tensors stacked.

    Example:
        >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        >>> tf.Session().run(tf.vectorized_map(lambda row: tf.reduce_sum(row * row), x))
        array([ 5., 25.], dtype=float32)
    """
    if not nest.is_sequence(elems) or not any(map(_is_tensor, nest.flatten(elems))):
        elems = convert_to_tensor(elems)
    flat = [convert_to_tensor(elem) for elem in nest.flatten(elems)]
    seen: list[Any] = []

    def turn(i: Any) -> list[Any]:
        seen.append(fn(nest.pack_sequence_as(elems, [tf.gather(tensor, i) for tensor in flat])))
        return [convert_to_tensor(value) for value in nest.flatten(seen[-1])]

    count = flat[0].shape[0].value
    count = tf.shape(flat[0])[0] if count is None else count
    with tf.variable_scope(tf.get_variable_scope(), reuse=tf.AUTO_REUSE):
        found = stacked_turns(turn, count, None, "vectorized_map")
    return nest.pack_sequence_as(seen[0], found)


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "dtype")
