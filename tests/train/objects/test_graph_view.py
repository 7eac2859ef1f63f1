# SPDX-License-Identifier: Apache-2.0
"""`tensorflow.python.training.tracking.graph_view`: objects that a Saver of a program's saves."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.train.objects.graph_view import ObjectGraphView

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def _fresh_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _trained() -> Any:
    root = tf.train.Checkpoint(v=tf.Variable(3.0), optimizer=tf.train.AdamOptimizer())
    root.optimizer.minimize(root.v * root.v, var_list=[root.v])
    return root


def test_a_saver_saves_what_a_checkpoint_does(tmp_path: Path) -> None:
    root = _trained()
    saver = tf.train.Saver(var_list=ObjectGraphView(root).frozen_saveable_objects())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, str(tmp_path / "view"))
        status = root.restore(path)
        session.run(root.v.assign(5.0))
        status.run_restore_ops(session)
        assert session.run(root.v) == 3.0
    # As TensorFlow 1.15 writes them.
    assert sorted(name for name, _ in tf.train.list_variables(path)) == [
        "_CHECKPOINTABLE_OBJECT_GRAPH",
        "optimizer/beta1_power/.ATTRIBUTES/VARIABLE_VALUE",
        "optimizer/beta2_power/.ATTRIBUTES/VARIABLE_VALUE",
        "v/.ATTRIBUTES/VARIABLE_VALUE",
        "v/.OPTIMIZER_SLOT/optimizer/m/.ATTRIBUTES/VARIABLE_VALUE",
        "v/.OPTIMIZER_SLOT/optimizer/v/.ATTRIBUTES/VARIABLE_VALUE",
    ]


def test_objects_have_numbers() -> None:
    root = _trained()
    view = ObjectGraphView(root)
    objects, numbers, slots = view.objects_ids_and_slot_variables()
    assert objects[0] is root and objects[numbers[id(root.v)]] is root.v
    assert view.list_objects() == objects and sorted(s.slot_name for s in slots) == ["m", "v"]
    assert "v" in [name for name, _ in view.list_dependencies(root)]
    saveables, message, feeds = view.serialize_object_graph()
    assert len(saveables) == 5 and len(message.nodes) == len(objects) and not feeds


def test_saveables_go_to_another_graph() -> None:
    with tf.Graph().as_default() as other:
        pass
    saveables = ObjectGraphView(tf.train.Checkpoint()).frozen_saveable_objects(to_graph=other)
    assert [saveable.op.graph for saveable in saveables] == [other]


def test_what_cannot_be_is_refused() -> None:
    root = tf.train.Checkpoint()
    with pytest.raises(NotImplementedError, match="object_map"):
        ObjectGraphView(root).frozen_saveable_objects(object_map={})
    view = ObjectGraphView(weakref.ref(root))
    assert view.root is root
    del root
    gc.collect()
    with pytest.raises(ReferenceError, match="no longer"):
        view.list_objects()
