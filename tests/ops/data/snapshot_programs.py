# SPDX-License-Identifier: Apache-2.0
"""Pipelines with snapshots for either side: `python snapshot_programs.py NAME FOLDER`.

Prints the elements of a pipeline as JSON, from its snapshot in a folder if there is one.
"""

from __future__ import annotations

import json
import sys

import numpy as np


def pipelines(tf):
    """By name what makes a dataset."""
    dataset = tf.data.Dataset
    return {
        "numbers": lambda: dataset.range(5).batch(2),
        "slices": lambda: dataset.from_tensor_slices(np.arange(3.0)).shuffle(3, seed=5),
        "pairs": lambda: dataset.zip((dataset.range(5), dataset.range(3))),
        "texts": lambda: dataset.from_tensors({"a": np.float32(3), "b": ["x", "yy"]}).repeat(3),
    }


def elements(tf, dataset):
    """All elements of a dataset, as lists and numbers."""
    iterator = tf.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    found = []
    with tf.Session() as session:
        session.run(iterator.initializer)
        try:
            while True:
                found.append(_plain(session.run(element)))
        except tf.errors.OutOfRangeError:
            return found


def _plain(value):
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    found = value.tolist() if hasattr(value, "tolist") else value
    return (
        [x.decode() if isinstance(x, bytes) else x for x in found]
        if found.__class__ is list
        else found
    )


def main():
    """Runs a pipeline."""
    try:
        import numbaflow as tf
        from numbaflow.ops.data.experimental.snapshotting import snapshot
    except ImportError:
        import tensorflow as tf
        from tensorflow.python.data.experimental.ops.snapshot import snapshot
    name, folder = sys.argv[1:]
    dataset = pipelines(tf)[name]().apply(snapshot(folder))
    print(json.dumps(elements(tf, dataset)))


if __name__ == "__main__":
    main()
