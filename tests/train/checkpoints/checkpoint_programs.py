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
    """Variables, containers, a template, Python's state and optimizers, after one step."""

    class Note(tf.train.experimental.PythonState):
        text = b"new"

        def serialize(self) -> Any:
            return self.text

        def deserialize(self, string_value: Any) -> None:
            self.text = string_value

    def layer(x: Any) -> Any:
        return x * tf.get_variable("scale", [2], initializer=tf.ones_initializer())

    w = tf.Variable([1.0, 2.0], name="w", use_resource=True)
    b = tf.Variable([0.5, 0.25], name="b")
    rows = [tf.Variable([float(i), 1.0], name=f"row{i}", use_resource=True) for i in range(3)]
    template = tf.make_template("template", layer)
    loss = tf.reduce_sum(template(w) * w * b) + tf.add_n([tf.reduce_sum(r * r) for r in rows])
    momentum = tf.train.MomentumOptimizer(0.5, 0.9)
    adam = tf.train.AdamOptimizer(0.1)
    step = tf.group(momentum.minimize(loss, var_list=[w, b]), adam.minimize(loss, var_list=rows))
    root = tf.train.Checkpoint(
        w=w, inner=tf.train.Checkpoint(b=b), optimizer=momentum, note=Note(), template=template
    )
    root.rows = rows[:2]
    root.named = {"adam": adam, "a/b.c": rows[2], "more": [rows[2]]}
    return root, step


def write_objects(tf: Any, folder: str) -> None:
    """A checkpoint of objects, and the values."""
    with tf.Graph().as_default(), tf.Session() as session:
        checkpoint, step = objects(tf)
        session.run(tf.global_variables_initializer())
        session.run(step)
        checkpoint.note.text = b"old"
        checkpoint.save(os.path.join(folder, "object"), session=session)
        with open(os.path.join(folder, "objects.json"), "w") as file:
            json.dump(values_of(tf, session), file, sort_keys=True)


def read_objects(tf: Any, folder: str) -> None:
    """Restores the checkpoint of objects in three ways; fails if values differ."""
    path = tf.train.latest_checkpoint(folder)
    with open(os.path.join(folder, "objects.json")) as file:
        expected = json.load(file)
    with tf.Graph().as_default(), tf.Session() as session:
        checkpoint, _ = objects(tf)
        checkpoint.restore(path).assert_consumed().run_restore_ops(session)
        assert values_of(tf, session) == expected
        assert checkpoint.note.text == b"old"
    # A saver finds the variables of an object-based checkpoint by their names.
    with tf.Graph().as_default(), tf.Session() as session:
        checkpoint, _ = objects(tf)
        tf.train.Saver().restore(session, path)
        assert {**values_of(tf, session), "save_counter": None} == {
            **expected,
            "save_counter": None,
        }
    # Restored first, made and tracked later.
    with tf.Graph().as_default(), tf.Session() as session:
        root = tf.train.Checkpoint()
        status = root.restore(path)
        checkpoint, _ = objects(tf)
        for name in ("w", "inner", "optimizer", "note", "template", "rows", "named"):
            setattr(root, name, getattr(checkpoint, name))
        status.assert_consumed().initialize_or_restore(session)
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
