# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.input_pipeline`: strings of a list, one after another, by a counter in a variable."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.graph import colocate_with, control_dependencies
from ...engine.types import dtypes
from ...ops.public import raw, tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor


@export("contrib.input_pipeline.obtain_next")
def obtain_next(string_list_tensor: TensorLike, counter: Any) -> Tensor:
    """The next string of a list; after the last comes the first.

    Args:
        string_list_tensor: a vector of strings.
        counter: a variable of one int64, the place of the last string taken; -1 at first.

    Returns:
        The string at the next place, to which the counter goes on.

    Example:
        >>> counter = tf.Variable(tf.constant(-1, tf.int64))
        >>> word = tf.contrib.input_pipeline.obtain_next(["a", "b"], counter)
        >>> with tf.Session() as sess:
        ...     sess.run(counter.initializer)
        ...     [sess.run(word) for _ in range(3)]
        [b'a', b'b', b'a']
    """
    return raw.ObtainNext(string_list_tensor, getattr(counter, "_ref", lambda: counter)())


def _create_list(
    string_list: Sequence[str], shuffle: bool, seed: int | None, num_epochs: int | None
) -> list[str]:
    """The strings of all epochs."""
    if shuffle and seed:
        random.seed(seed)
    strings, found = list(string_list), []
    for _ in range(num_epochs or 1):
        if shuffle:
            random.shuffle(strings)
        found += strings
    return found


def seek_next(
    string_list: Sequence[str],
    shuffle: bool = False,
    seed: int | None = None,
    num_epochs: int | None = None,
) -> Tensor:
    """The next string of a list, by variables of its own.

    Args:
        string_list: the strings.
        shuffle: whether they come in another order in each epoch.
        seed: an integer, for that.
        num_epochs: how often the list is gone through; then OutOfRangeError.
    """
    strings = _create_list(string_list, shuffle, seed, num_epochs)
    int64 = dtypes.int64
    with tf.variable_scope("obtain_next"):
        counter = tf.get_variable(
            "obtain_next_counter",
            initializer=tf.constant(-1, dtype=int64),
            dtype=int64,
            trainable=False,
        )
        with colocate_with(counter):
            names = tf.get_variable(
                "obtain_next_expanded_list",
                initializer=tf.constant(strings),
                dtype=dtypes.string,
                trainable=False,
            )
        if not num_epochs:
            return obtain_next(names, counter)
        done = tf.get_variable(
            "obtain_next_filename_counter",
            initializer=tf.constant(0, dtype=int64),
            dtype=int64,
            trainable=False,
        )
        with control_dependencies([done.count_up_to(len(strings))]):
            return obtain_next(names, counter)
