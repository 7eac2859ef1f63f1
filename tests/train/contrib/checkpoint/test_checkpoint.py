# SPDX-License-Identifier: Apache-2.0
"""Arrays, unique names and split values in checkpoints of objects; their pictures."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu

checkpoint = tf.contrib.checkpoint


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default(), tf.Session():
        yield


def test_arrays_come_back_with_their_names(tmp_path):
    arrays = checkpoint.NumpyState()
    root = tf.train.Checkpoint(arrays=arrays)
    arrays.x = np.ones([2, 3])
    arrays.n = np.float32(7)
    path = root.save(str(tmp_path / "first"))
    arrays.x[1, 1] = 4.0
    arrays.y = np.zeros(2)
    later = root.save(str(tmp_path / "second"))
    root.restore(path)
    assert (arrays.x == 1).all()
    fresh = checkpoint.NumpyState()
    tf.train.Checkpoint(arrays=fresh).restore(later).assert_consumed()
    assert fresh.x[1, 1] == 4 and fresh.n == 7 and fresh.y.tolist() == [0, 0]
    with pytest.raises(NotImplementedError, match="which is not a NumPy array"):
        fresh.z = "text"


def test_names_are_made_unique(tmp_path):
    def tracker():
        made = checkpoint.UniqueNameTracker()
        values = [made.track(tf.get_variable(f"v{i}{id(made)}", shape=[]), "x") for i in range(3)]
        return made, values

    first, values = tracker()
    session = tf.get_default_session()
    session.run([v.initializer for v in values])
    session.run([v.assign(float(i)) for i, v in enumerate(values)])
    path = tf.train.Checkpoint(slots=first).save(str(tmp_path / "c"))
    second, others = tracker()
    tf.train.Checkpoint(slots=second).restore(path).run_restore_ops()
    assert session.run(others) == [0, 1, 2]
    assert [r.name for r in second._checkpoint_dependencies] == ["x", "x_1", "x_2"]
    with pytest.raises(ValueError, match="Expected a trackable value"):
        first.track(3, "y")


def test_parts_are_saved_and_restored_together(tmp_path):
    whole = tf.get_variable("whole", initializer=[1.0, 2.0])
    session = tf.get_default_session()
    session.run(whole.initializer)

    def parts():
        return checkpoint.split_dependency(
            ["first", "second"],
            [tf.float32, tf.float32],
            lambda buffer: buffer.update(first=whole[0], second=whole[1]),
            lambda buffer: whole.assign(tf.stack([buffer["first"], buffer["second"]])),
            device="/cpu:0",
        )

    path = tf.train.Checkpoint(**parts()).save(str(tmp_path / "c"))
    session.run(whole.assign([0.0, 0.0]))
    tf.train.Checkpoint(**parts()).restore(path).assert_consumed().run_restore_ops()
    assert session.run(whole).tolist() == [1, 2]
    assert tf.train.load_variable(path, "second/.ATTRIBUTES/VARIABLE_VALUE") == 2
    with pytest.raises(AssertionError, match="Split dependency first .* must be restored together"):
        part = parts()["first"]
        part._restore(whole[0])
        part._restore(whole[0])


def test_objects_are_drawn(tmp_path):
    variable = tf.get_variable("v", initializer=[[1.0]], use_resource=True)
    optimizer = tf.train.AdamOptimizer()
    optimizer.minimize(tf.reduce_sum(variable))
    root = tf.train.Checkpoint(v=variable, optimizer=optimizer)
    tf.get_default_session().run(tf.global_variables_initializer())
    path = root.save(str(tmp_path / "c"))
    text = checkpoint.dot_graph_from_checkpoint(path)
    assert text.startswith('digraph {\nN_0 [shape=point label="" width=.25]\n')
    assert 'color=blue width=.25 tooltip="Variable v shape=[1, 1] float32"]' in text
    assert text.count("color=orange") == 2 and text.count("color=red") == 1
    assert text.count('[label="m" style=dotted]') == 1 and text.endswith("}\n")
