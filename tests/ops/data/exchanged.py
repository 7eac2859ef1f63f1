# SPDX-License-Identifier: Apache-2.0
"""Writes a graph with pipelines, and runs one: `exchanged.py write|read path`, with TensorFlow."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def write(tf: Any, path: Path) -> None:
    """Writes a GraphDef with datasets of all kinds of functions, and the name of what begins."""
    dataset = tf.data.Dataset
    with tf.Graph().as_default() as graph:
        factor = tf.constant(3, tf.int64)
        pairs = dataset.range(20).map(lambda x: (x * factor, tf.as_string(x)))
        pairs = pairs.filter(lambda x, text: tf.greater(x, 5)).shuffle(5, seed=3)
        iterator = tf.data.make_initializable_iterator(pairs.batch(4).repeat(2).prefetch(1))
        iterator.get_next(name="pairs")
        nested = dataset.range(4).flat_map(lambda x: dataset.range(x))
        nested = nested.window(2).flat_map(lambda window: window.batch(2))
        tf.data.make_one_shot_iterator(nested).get_next(name="nested")
        total = dataset.range(5).reduce(tf.constant(0, tf.int64), lambda state, x: state + x)
        tf.identity(total, name="total")
        path.write_bytes(graph.as_graph_def().SerializeToString())
        path.with_suffix(".name").write_text(iterator.initializer.name)


def read(tf: Any, path: Path) -> list[Any]:
    """All elements of a graph that either side wrote."""
    message = tf.GraphDef()
    message.ParseFromString(path.read_bytes())
    found: list[Any] = []
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.import_graph_def(message, name="")
        session.run(graph.get_operation_by_name(path.with_suffix(".name").read_text()))
        for names in (["pairs:0", "pairs:1"], ["nested:0"]):
            try:
                while True:
                    found.append([_plain(array) for array in session.run(names)])
            except tf.errors.OutOfRangeError:
                continue
        found.append(int(session.run("total:0")))
    return found


def _plain(array: Any) -> list[Any]:
    items = array.tolist()
    return [item.decode() if isinstance(item, bytes) else item for item in items]


def _main(way: str, name: str) -> None:
    import tensorflow

    tf = tensorflow
    if tf.__version__.startswith("2"):
        tf = tf.compat.v1
        tf.disable_v2_behavior()
    if way == "write":
        write(tf, Path(name))
    else:
        print(json.dumps(read(tf, Path(name))))


if __name__ == "__main__":
    _main(*sys.argv[1:])
