# SPDX-License-Identifier: Apache-2.0
"""Writes checkpoints, and restores those that another program wrote.

`python checkpoint_programs.py MODULE write|read FOLDER` runs it in a real TensorFlow too, in
Python that 3.7 reads.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any

import numpy as np


def variables(tf: Any) -> None:
    """Variables of both kinds and many types; the values say where they come from."""
    rng = np.random.RandomState(1)
    dtypes = "float32 float64 int32 int64 uint8 bool complex64 float16".split()
    for i, name in enumerate(dtypes):
        value = (rng.randn(3, i + 1) * 5).astype(name)
        tf.Variable(value, name="kinds/" + name, use_resource=bool(i % 2))
    tf.Variable(["one", "", "three"], name="kinds/string")
    tf.Variable(7, name="scalar", use_resource=True)
    tf.Variable(np.zeros((0, 3), np.float32), name="empty")
    whole = np.arange(14, dtype=np.float32).reshape(7, 2)

    def part(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        start = partition_info.var_offset[0]
        return tf.constant(whole[start : start + shape[0]])

    with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(3)):
        tf.get_variable("table", [7, 2], initializer=part)


def savers(tf: Any) -> Any:
    """Name of a checkpoint -> how its saver is made."""
    return {
        "plain": lambda: tf.train.Saver(),
        "sharded": lambda: tf.train.Saver(sharded=True),
        "old": lambda: tf.train.Saver(write_version=tf.train.SaverDef.V1),
    }


def values_of(tf: Any, session: Any) -> Any:
    """The values of all variables as JSON holds them."""
    found = session.run({v.op.name: v for v in tf.global_variables()})
    return {name: np.asarray(value).astype(str).tolist() for name, value in found.items()}


def write(tf: Any, folder: str) -> None:
    """One checkpoint per kind of saver, and the values in values.json."""
    for name, make in savers(tf).items():
        with tf.Graph().as_default(), tf.Session() as session:
            variables(tf)
            saver = make()
            session.run(tf.global_variables_initializer())
            saver.save(session, os.path.join(folder, name), global_step=5)
            with open(os.path.join(folder, "values.json"), "w") as file:
                json.dump(values_of(tf, session), file, sort_keys=True)


def read(tf: Any, folder: str, meta: bool = True) -> None:
    """Restores every checkpoint, by a saver and from its meta graph; fails if values differ."""
    with open(os.path.join(folder, "values.json")) as file:
        expected = json.load(file)
    for name, make in savers(tf).items():
        prefix = os.path.join(folder, name + "-5")
        with tf.Graph().as_default(), tf.Session() as session:
            variables(tf)
            make().restore(session, prefix)
            assert values_of(tf, session) == expected, name
        if meta:
            with tf.Graph().as_default(), tf.Session() as session:
                tf.train.import_meta_graph(prefix + ".meta").restore(session, prefix)
                assert values_of(tf, session) == expected, name
        reader = tf.train.NewCheckpointReader(prefix)
        assert reader.get_variable_to_shape_map()["parts/table"] == [7, 2]


def objects(tf: Any) -> Any:
    """Variables, a nested checkpoint and an optimizer with slots, after one step."""
    w = tf.Variable([1.0, 2.0], name="w", use_resource=True)
    b = tf.Variable([0.5, 0.25], name="b")
    optimizer = tf.train.MomentumOptimizer(0.5, 0.9)
    step = optimizer.minimize(tf.reduce_sum(w * w * b))
    inner = tf.train.Checkpoint(b=b)
    return tf.train.Checkpoint(w=w, inner=inner, optimizer=optimizer), step


def write_objects(tf: Any, folder: str) -> None:
    """A checkpoint of objects, and the values."""
    with tf.Graph().as_default(), tf.Session() as session:
        checkpoint, step = objects(tf)
        session.run(tf.global_variables_initializer())
        session.run(step)
        checkpoint.save(os.path.join(folder, "object"), session=session)
        with open(os.path.join(folder, "objects.json"), "w") as file:
            json.dump(values_of(tf, session), file, sort_keys=True)


def read_objects(tf: Any, folder: str) -> None:
    """Restores the checkpoint of objects; fails if values differ."""
    with open(os.path.join(folder, "objects.json")) as file:
        expected = json.load(file)
    with tf.Graph().as_default(), tf.Session() as session:
        checkpoint, _ = objects(tf)
        status = checkpoint.restore(tf.train.latest_checkpoint(folder))
        status.assert_consumed().run_restore_ops(session)
        assert values_of(tf, session) == expected


def main() -> None:
    """The command line."""
    tf = importlib.import_module(sys.argv[1])
    if hasattr(tf, "disable_v2_behavior") and sys.argv[1].startswith("tensorflow"):
        tf.disable_v2_behavior()
    commands = {
        "write": write,
        "read": read,
        "write_objects": write_objects,
        "read_objects": read_objects,
    }
    commands[sys.argv[2]](tf, sys.argv[3])


if __name__ == "__main__":
    main()
