# SPDX-License-Identifier: Apache-2.0
"""What is left of a dataset, for tests that read to its end, or save it in the middle."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numbaflow as tf


def all_of(session: Any, element: Any) -> list[Any]:
    """Elements until the iterator says that there are no more."""
    found = []
    while True:
        try:
            found.append(session.run(element))
        except tf.errors.OutOfRangeError as error:
            assert "End of sequence" in error.message
            return found


def left_after(count: int, make: Callable[[], Any], folder: Path) -> tuple[list[Any], list[Any]]:
    """What is left after so many elements: of the iterator, and of one that is restored from it."""

    def pipeline() -> tuple[Any, Any, Any]:
        iterator = tf.data.make_initializable_iterator(make())
        saveable = tf.data.experimental.make_saveable_from_iterator(iterator)
        return iterator.initializer, iterator.get_next(), tf.train.Saver([saveable])

    path = str(folder / "input")
    with tf.Graph().as_default(), tf.Session() as session:
        begin, element, saver = pipeline()
        session.run(begin)
        for _ in range(count):
            session.run(element)
        saver.save(session, path)
        left = all_of(session, element)
    with tf.Graph().as_default(), tf.Session() as session:
        begin, element, saver = pipeline()
        session.run(begin)
        saver.restore(session, path)
        return left, all_of(session, element)
