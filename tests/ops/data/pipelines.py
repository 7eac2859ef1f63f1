# SPDX-License-Identifier: Apache-2.0
"""Pipelines that tests run here and in TensorFlow; run as a program it prints their elements."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any


def pipelines(tf: Any) -> dict[str, Callable[[], Any]]:
    """By name, what makes a dataset; `tf` is either package."""
    dataset = tf.data.Dataset
    drawn = tf.random.uniform

    return {
        "shuffle": lambda: dataset.range(10).shuffle(4, seed=7),
        "shuffle_all": lambda: dataset.range(10).shuffle(100, seed=7),
        "repeat_same": lambda: (
            dataset.range(10).shuffle(4, seed=7, reshuffle_each_iteration=False).repeat(2)
        ),
        "repeat_other": lambda: dataset.range(10).shuffle(4, seed=7).map(lambda x: x + 1).repeat(3),
        "filtered": lambda: (
            dataset.range(30).filter(lambda x: tf.equal(x % 3, 0)).shuffle(4, seed=5)
        ),
        "batches": lambda: dataset.range(20).repeat(3).shuffle(7, seed=1).batch(4),
        "drawn": lambda: (
            dataset.range(4).map(lambda i: i + drawn([], 0, 100, dtype=tf.int64, seed=3)).repeat(2)
        ),
        "interleaved": lambda: dataset.range(4).interleave(
            lambda x: dataset.range(x * 10, x * 10 + x + 2), cycle_length=3, block_length=2
        ),
        "windows": lambda: (
            dataset.range(7).window(3, shift=2, stride=2).flat_map(lambda w: w.batch(3))
        ),
        "padded": lambda: dataset.range(5).map(lambda x: tf.fill([x], x)).padded_batch(2, [None]),
        "sharded": lambda: dataset.range(11).shard(3, 1).concatenate(dataset.range(2)),
    }


def orders_of_1_15(tf: Any) -> dict[str, Callable[[], Any]]:
    """The same for what later versions of TensorFlow order otherwise."""
    dataset = tf.data.Dataset

    def seeded() -> Any:
        tf.set_random_seed(5)
        return dataset.range(10).shuffle(4)

    return {
        "repeat_fused": lambda: dataset.range(10).shuffle(4, seed=7).repeat(2),
        "repeat_once": lambda: dataset.range(10).shuffle(4, seed=7).repeat(1),
        "repeat_once_fused": lambda: dataset.range(10).shuffle(4, seed=7).repeat(1).repeat(2),
        "nothing_between_fused": lambda: (
            dataset.range(10).shuffle(4, seed=7).take(-1).skip(0).repeat(2)
        ),
        "shuffled_twice": lambda: (
            dataset.range(10).shuffle(4, seed=3).shuffle(3, seed=9).map(lambda x: x).repeat(3)
        ),
        "nested": lambda: (
            dataset.range(3)
            .flat_map(lambda i: dataset.range(4).shuffle(4, seed=3))
            .map(lambda x: x)
            .repeat(2)
        ),
        "graph_seed": seeded,
    }


def elements(tf: Any, make: Callable[[], Any]) -> list[Any]:
    """All elements of a dataset, as plain lists: of two passes of one initializable iterator."""
    found = []
    with tf.Graph().as_default():
        iterator = tf.data.make_initializable_iterator(make())
        following = iterator.get_next()
        with tf.Session() as session:
            for _ in range(2):
                session.run(iterator.initializer)
                try:
                    while True:
                        found.append(session.run(following).tolist())
                except tf.errors.OutOfRangeError:
                    continue
    return found


def _print() -> None:
    import tensorflow

    tf = tensorflow
    if tf.__version__.startswith("2"):
        tf = tf.compat.v1
        tf.disable_v2_behavior()
    makers = pipelines(tf)
    if tf.__version__.startswith("1"):
        makers.update(orders_of_1_15(tf))
    print(json.dumps({name: elements(tf, make) for name, make in makers.items()}))


if __name__ == "__main__":
    sys.exit(_print())
