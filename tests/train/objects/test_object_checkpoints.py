# SPDX-License-Identifier: Apache-2.0
"""`tf.train.Checkpoint`: what matches, what waits, what the checks say, containers."""

from __future__ import annotations

import copy
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.engine.graph.trackable import no_automatic_dependency_tracking
from numbaflow.train.objects import checkpoint as checkpoints
from numbaflow.train.objects import data_structures, data_wrappers, load_status
from numbaflow.train.objects.tracking import AutoTrackable, NotTrackable

pytestmark = pytest.mark.programs


@pytest.fixture(autouse=True)
def _fresh_graph() -> Iterator[None]:
    with settings.override(jit="never"), tf.Graph().as_default():
        yield


@pytest.fixture
def session() -> Iterator[Any]:
    with tf.Session() as one:
        yield one


def variable(value: Any, name: str = "v") -> Any:
    return tf.Variable(value, name=name, use_resource=True)


def saved(session: Any, folder: Path, **objects: Any) -> str:
    """A checkpoint of initialized objects."""
    root = tf.train.Checkpoint(**objects)
    session.run([*checkpoints.gather_initializers(root), root.save_counter.initializer])
    return root.save(str(folder / "m"), session)


def test_objects_that_come_later_are_restored(tmp_path: Path, session: Any) -> None:
    inner = tf.train.Checkpoint(v=variable(3.0))
    path = saved(session, tmp_path, inner=inner)
    root = tf.train.Checkpoint()
    status = root.restore(path)
    with pytest.raises(AssertionError, match=r"Unresolved object in checkpoint \(root\)\.inner"):
        status.assert_consumed()
    root.inner = tf.train.Checkpoint()
    with pytest.raises(AssertionError, match=r"checkpoint \(root\)\.inner\.v: attributes"):
        status.assert_consumed()
    v = root.inner.v = variable(0.0)
    status.assert_consumed().run_restore_ops(session)
    assert session.run(v) == 3.0


def test_slots_that_come_later_are_restored(tmp_path: Path, session: Any) -> None:
    v = variable(3.0)
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    step = optimizer.minimize(v * v)
    session.run(tf.global_variables_initializer())
    session.run(step)
    path = tf.train.Checkpoint(v=v, optimizer=optimizer).save(str(tmp_path / "m"), session)
    value, slot = session.run([v, optimizer.get_slot(v, "momentum")])
    root = tf.train.Checkpoint(optimizer=tf.train.MomentumOptimizer(0.1, 0.9))
    status = root.restore(path)
    root.v = variable(0.0)
    with pytest.raises(AssertionError, match="'s state 'momentum' for"):
        status.assert_consumed()
    root.optimizer.minimize(root.v * root.v)
    status.assert_consumed().initialize_or_restore(session)
    assert session.run([root.v, root.optimizer.get_slot(root.v, "momentum")]) == [value, slot]


def test_the_newest_restore_wins(tmp_path: Path, session: Any) -> None:
    old = saved(session, tmp_path / "old", v=variable(1.0), w=variable(10.0))
    new = saved(session, tmp_path / "new", v=variable(2.0))
    root = tf.train.Checkpoint()
    first, second = root.restore(old), root.restore(new)
    root.v = variable(0.0)
    root.w = variable(0.0)
    for status in (first, second):
        status.expect_partial().run_restore_ops(session)
    assert session.run([root.v, root.w]) == [2.0, 10.0]


def test_ops_are_made_once(tmp_path: Path, session: Any) -> None:
    root = tf.train.Checkpoint(v=variable(1.0))
    session.run(tf.global_variables_initializer())
    path = root.save(str(tmp_path / "m"), session)
    root.restore(path).run_restore_ops(session)
    count = len(tf.get_default_graph().get_operations())
    for _ in range(2):
        path = root.save(str(tmp_path / "m"), session)
        root.restore(path).assert_consumed().run_restore_ops(session)
    assert len(tf.get_default_graph().get_operations()) == count
    assert path.endswith("m-3")


def test_the_checks_say_what_does_not_match(tmp_path: Path, session: Any) -> None:
    v = variable(1.0)
    path = saved(session, tmp_path, v=v)
    other = tf.train.Checkpoint(w=v)
    status = other.restore(path).expect_partial()
    for check in (status.assert_consumed, status.assert_existing_objects_matched):
        with pytest.raises(AssertionError, match="Some Python objects were not bound"):
            check()
    # The counter matches: something does.
    status.assert_nontrivial_match()
    alone = AutoTrackable()
    status = checkpoints.TrackableSaver(alone).restore(path).expect_partial()
    with pytest.raises(AssertionError, match="Nothing to load. No dependencies"):
        status.assert_nontrivial_match()
    alone.w = v
    with pytest.raises(AssertionError, match="Nothing except the root object matched"):
        status.assert_nontrivial_match()
    nothing = other.restore(None)
    for name in ("consumed", "existing_objects_matched", "nontrivial_match"):
        with pytest.raises(AssertionError, match=r"No checkpoint specified \(save_path=None\)"):
            getattr(nothing, f"assert_{name}")()
    with pytest.raises(AssertionError, match="no restore ops are available"):
        nothing.run_restore_ops(session)
    nothing.initialize_or_restore(session)
    with pytest.raises(tf.errors.NotFoundError, match="Failed to find any matching files"):
        other.restore(str(tmp_path / "none"))


@pytest.mark.pure
def test_there_must_be_a_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, load_status._KERAS, raising=False)
    with pytest.raises(RuntimeError, match="pass one or make one the default"):
        tf.train.Checkpoint(v=variable(0.0)).save(str(tmp_path / "m"))


def test_unused_parts_are_warned_of(
    tmp_path: Path, session: Any, caplog: pytest.LogCaptureFixture
) -> None:
    path = saved(session, tmp_path, v=variable(1.0), w=variable(1.0))
    with caplog.at_level(logging.WARNING, "tensorflow"):
        tf.train.Checkpoint(v=variable(0.0)).restore(path)
        assert "Unresolved object in checkpoint: (root).w" in caplog.messages
        assert any("Use expect_partial()" in message for message in caplog.messages)
        caplog.clear()
        tf.train.Checkpoint(v=variable(0.0)).restore(path).expect_partial()
        assert not caplog.messages


def test_attributes_that_are_gone(tmp_path: Path, session: Any) -> None:
    class Note(tf.train.experimental.PythonState):
        def serialize(self) -> Any:
            return "text"

        def deserialize(self, string_value: Any) -> None:
            self.text = string_value

    path = saved(session, tmp_path, part=Note())
    part = AutoTrackable()
    status = tf.train.Checkpoint(part=part).restore(path).expect_partial()
    with pytest.raises(AssertionError, match=r"Unused attributes.*\n\(root\)\.part .*py_state"):
        status.assert_consumed()
    note = Note()
    tf.train.Checkpoint(part=note).restore(path).assert_consumed()
    assert note.text == b"text"


def test_checkpoints_of_savers_are_restored_by_name(tmp_path: Path, session: Any) -> None:
    v = variable(2.0, "named")
    session.run(v.initializer)
    path = tf.train.Saver([v]).save(session, str(tmp_path / "m"))
    root = AutoTrackable()
    root.v = v
    status = checkpoints.TrackableSaver(root).restore(path)
    with pytest.raises(AssertionError, match="Object not restored"):
        status.assert_consumed()
    session.run(v.assign(0.0))
    status.run_restore_ops(session)
    assert session.run(v) == 2.0
    status.assert_consumed()
    with pytest.raises(NotImplementedError, match="Streaming restore not supported"):
        checkpoints.streaming_restore(status, session)
    with pytest.raises(ValueError, match="does not appear to be object-based"):
        checkpoints.object_metadata(path)


def test_streams_restore_at_once(tmp_path: Path, session: Any) -> None:
    path = saved(session, tmp_path, v=variable(2.0))
    assert checkpoints.object_metadata(path).nodes[0].children[0].local_name == "v"
    root = tf.train.Checkpoint()
    status = root.restore(path)
    session.run(root.save_counter.initializer)
    checkpoints.streaming_restore(status, session)
    root.v = variable(0.0)
    assert session.run(root.v) == 2.0


@pytest.mark.pure
def test_what_cannot_be_saved(tmp_path: Path, session: Any) -> None:
    class Impossible(AutoTrackable, NotTrackable):
        pass

    root = tf.train.Checkpoint(part=Impossible())
    with pytest.raises(NotImplementedError, match="does not support object-based saving"):
        root.write(str(tmp_path / "m"), session)
    with pytest.raises(ValueError, match="expecting a trackable object"):
        tf.train.Checkpoint(part=3)
    with pytest.raises(TypeError, match="not a Trackable"):
        root._track_trackable(3, "number")
    with pytest.raises(ValueError, match="already declared as a dependency"):
        root._track_trackable(AutoTrackable(), "part")


def names(thing: Any) -> list[str]:
    return [reference.name for reference in thing._checkpoint_dependencies]


@pytest.mark.pure
def test_attributes_are_dependencies() -> None:
    class Model(AutoTrackable):
        @no_automatic_dependency_tracking
        def hide(self, value: Any) -> None:
            self.hidden = value

    model = Model()
    model.v = variable(1.0)
    model.w = model.v
    model.number = 3
    model.hide(variable(2.0))
    model.other = data_structures.NoDependency(variable(3.0))
    model.tables = [{}]
    assert names(model) == ["v", "w", "tables"]
    assert isinstance(model.tables[0], dict)
    del model.w
    model.v = variable(4.0)
    assert names(model) == ["v", "tables"]
    assert model._lookup_dependency("v") is model.v


@pytest.mark.pure
def test_lists_behave_as_lists() -> None:
    plain = [variable(0.0), 1]
    owner = AutoTrackable()
    owner.items = plain
    wrapped = owner.items
    assert isinstance(wrapped, list) and wrapped == plain and list(wrapped) == plain
    wrapped.append({})
    assert names(wrapped) == ["0", "2"] and len(plain) == 3
    wrapped += [2, 3]
    wrapped[1] = [variable(0.0)]
    assert names(wrapped) == ["0", "2", "1"] and wrapped.index(3) == 4 and wrapped[-1] == 3
    assert names(copy.copy(wrapped)) == ["0", "1", "2"]
    assert wrapped.pop() == 3 and len(wrapped) == 4
    with pytest.raises(ValueError, match=r"(?s)A list element was replaced.*NoDependency"):
        names(wrapped)
    outside = data_wrappers.ListWrapper(plain := [1])
    plain.append(2)
    with pytest.raises(ValueError, match="modified outside the wrapper"):
        names(outside)
    replaced = data_wrappers.ListWrapper([variable(0.0)])
    replaced[:] = [variable(1.0)]
    with pytest.raises(ValueError, match="was replaced"):
        names(replaced)
    with pytest.raises(TypeError, match="unhashable"):
        hash(wrapped)


@pytest.mark.pure
def test_lists_that_only_grow() -> None:
    items = data_structures.List([variable(0.0)])
    items.extend([variable(1.0, "w")])
    assert names(items * 2) == ["0", "1", "2", "3"]
    assert names([variable(2.0)] + items) == ["0", "1", "2"]
    assert len(items.trainable_variables) == 2
    items.trainable = False
    assert not items.trainable_variables and len(items.non_trainable_variables) == 2
    with pytest.raises(ValueError, match="Only trackable objects"):
        items.append(3)
    with pytest.raises(ValueError, match="removes elements"):
        items *= 0
    assert hash(items) == id(items) and items != data_structures.List()


@pytest.mark.pure
def test_dicts_behave_as_dicts() -> None:
    owner = AutoTrackable()
    owner.items = {"a": variable(0.0), 3: 4}
    wrapped = owner.items
    assert isinstance(wrapped, dict) and sorted(map(str, wrapped)) == ["3", "a"]
    wrapped.update(b=[], c=5)
    assert names(wrapped) == ["a", "b"] and dict(wrapped)["c"] == 5
    assert wrapped.pop("c") == 5 and wrapped.get("c") is None and len(wrapped) == 3
    wrapped[1] = data_structures.NoDependency(variable(0.0))
    assert names(copy.copy(wrapped)) == ["a", "b"]
    wrapped[2] = variable(0.0)
    with pytest.raises(ValueError, match="non-string key"):
        names(wrapped)
    outside = data_wrappers._DictWrapper(plain := {"a": 1})
    plain["b"] = 2
    with pytest.raises(ValueError, match="modified outside the wrapper"):
        names(outside)
    mapping = data_structures.Mapping(a=variable(0.0))
    mapping["b"] = variable(0.0)
    assert names(mapping) == ["a", "b"] and len(mapping.variables) == 2
    with pytest.raises(ValueError, match="append-only"):
        mapping["a"] = variable(0.0)
    with pytest.raises(TypeError, match="string keys"):
        mapping[1] = variable(0.0)


@pytest.mark.pure
def test_templates_depend_on_their_variables() -> None:
    def outer() -> Any:
        tf.get_variable("own", [2])
        return inner()

    def inside() -> Any:
        return tf.get_variable("part/of", [2])

    inner = tf.make_template("inner", inside)
    template = tf.make_template("outer", outer)
    template()
    assert names(template) == ["own", "inner"]
    assert names(inner) == ["part/of"]


@pytest.mark.parametrize("kind", ["hash", "dense"])
def test_tables_are_objects_of_checkpoints(tmp_path: Path, session: Any, kind: str) -> None:
    def made(**entries: int) -> Any:
        if kind == "hash":
            table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
        else:
            table = tf.contrib.lookup.MutableDenseHashTable(
                tf.string, tf.int64, -1, empty_key="", deleted_key="deleted"
            )
        session.run(table.insert(list(entries), tf.constant(list(entries.values()), tf.int64)))
        return table

    fixed = tf.contrib.lookup.HashTable(tf.contrib.lookup.KeyValueTensorInitializer(["a"], [1]), 0)
    path = saved(session, tmp_path, table=made(a=1, b=2), fixed=fixed)
    names = {name for name, _ in tf.train.list_variables(path)}
    assert {"table/.ATTRIBUTES/table-keys", "table/.ATTRIBUTES/table-values"} <= names
    other = made(b=7, c=3)
    root = tf.train.Checkpoint(table=other, fixed=fixed)
    root.restore(path).assert_consumed().run_restore_ops(session)
    assert session.run(other.lookup(tf.constant(["a", "b", "c"]))).tolist() == [1, 2, -1]
