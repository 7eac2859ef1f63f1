# SPDX-License-Identifier: Apache-2.0
"""`tf.train.Saver` and what finds checkpoints again; files are exchanged with real TensorFlows."""

from __future__ import annotations

import filecmp
import importlib.util
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.engine.types import dtypes
from numbaflow.train.checkpoints import saver as saver_module

PROGRAMS = Path(__file__).with_name("checkpoint_programs.py")

pytestmark = pytest.mark.cpu


def _loaded() -> Any:
    spec = importlib.util.spec_from_file_location("checkpoint_programs", PROGRAMS)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


programs = _loaded()


@pytest.fixture(autouse=True)
def _fresh_graph() -> Iterator[None]:
    with settings.override(jit="never"), tf.Graph().as_default():
        yield


@pytest.fixture
def session() -> Iterator[Any]:
    with tf.Session() as one:
        yield one


def test_values_come_back(tmp_path: Path) -> None:
    programs.write(tf, str(tmp_path))
    programs.read(tf, str(tmp_path))


def test_names_and_subsets(tmp_path: Path, session: Any) -> None:
    a = tf.Variable([1.0, 2.0], name="a")
    b = tf.Variable([3.0], name="b", use_resource=True)
    saver = tf.train.Saver({"x": a, "y": b})
    session.run(tf.global_variables_initializer())
    path = saver.save(session, str(tmp_path / "model"))
    assert tf.train.list_variables(str(tmp_path)) == [("x", [2]), ("y", [1])]
    assert tf.train.load_variable(path, "x:0").tolist() == [1.0, 2.0]
    session.run([a.assign([0.0, 0.0]), b.assign([0.0])])
    tf.train.Saver({"y": b}).restore(session, path)
    assert session.run([a, b])[0].tolist() == [0.0, 0.0]
    assert session.run(b).tolist() == [3.0]


def test_old_checkpoints_are_deleted(tmp_path: Path, session: Any) -> None:
    tf.Variable(1.0, name="v")
    step = tf.train.get_or_create_global_step()
    saver = tf.train.Saver(max_to_keep=2)
    session.run(tf.global_variables_initializer())
    increment = step.assign_add(1)
    for _ in range(3):
        session.run(increment)
        saver.save(session, str(tmp_path / "model"), global_step=step)
    kept = [str(tmp_path / f"model-{i}") for i in (2, 3)]
    assert saver.last_checkpoints == kept
    assert tf.train.latest_checkpoint(str(tmp_path)) == kept[-1]
    names = {path.name for path in tmp_path.iterdir()}
    assert not [name for name in names if name.startswith("model-1")]
    assert {"checkpoint", "model-3.index", "model-3.meta", "model-3.data-00000-of-00001"} < names
    again = tf.train.Saver()
    again.recover_last_checkpoints([*kept, str(tmp_path / "gone")])
    assert again.last_checkpoints == kept
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert list(state.all_model_checkpoint_paths) == kept
    assert len(tf.train.get_checkpoint_mtimes(kept)) == 2
    tf.train.remove_checkpoint(kept[0])
    assert not tf.train.checkpoint_exists(kept[0])


def test_one_checkpoint_is_kept_for_its_hours(
    tmp_path: Path, session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tf.Variable(1.0, name="v")
    now = [1000.0]
    monkeypatch.setattr(saver_module.time, "time", lambda: now[0])
    saver = tf.train.Saver(max_to_keep=1, keep_checkpoint_every_n_hours=1.0)
    session.run(tf.global_variables_initializer())
    for i in range(5):
        now[0] += 1800
        saver.save(session, str(tmp_path / "m"), global_step=i, write_meta_graph=False)
    assert sorted(path.stem for path in tmp_path.glob("*.index")) == ["m-2", "m-4"]


def test_relative_paths_survive_a_move(tmp_path: Path, session: Any) -> None:
    v = tf.Variable(2.0, name="v")
    session.run(v.initializer)
    (tmp_path / "one").mkdir()
    tf.train.Saver(save_relative_paths=True).save(session, str(tmp_path / "one" / "m"))
    (tmp_path / "one").rename(tmp_path / "two")
    path = tf.train.latest_checkpoint(str(tmp_path / "two"))
    assert path == str(tmp_path / "two" / "m")
    tf.train.Saver().restore(session, path)


def test_step_numbers(tmp_path: Path, session: Any) -> None:
    v = tf.Variable(2.0, name="v")
    session.run(v.initializer)
    saver = tf.train.Saver(pad_step_number=True)
    assert saver.save(session, str(tmp_path / "m"), global_step=7).endswith("m-00000007")
    assert tf.train.Saver().save(session, str(tmp_path / "m"), np.int64(7)).endswith("m-7")


def test_meta_graphs_bring_their_saver(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(4.0, name="v")
        tf.add_to_collection("twice", tf.multiply(v, 2.0, name="twice"))
        session.run(v.initializer)
        path = tf.train.Saver().save(session, str(tmp_path / "m"))
    with tf.Graph().as_default(), tf.Session() as session:
        saver = tf.train.import_meta_graph(f"{path}.meta", import_scope="scope")
        assert saver.as_saver_def().restore_op_name == "scope/save/restore_all"
        saver.restore(session, path)
        assert session.run(tf.get_collection("twice")[0]) == 8.0
    with tf.Graph().as_default():
        tf.constant(1.0)
        message = tf.train.export_meta_graph(str(tmp_path / "empty.meta"))
        assert message.graph_def.node[0].op == "Const"
    with tf.Graph().as_default():
        assert tf.train.import_meta_graph(str(tmp_path / "empty.meta")) is None


def test_savers_in_collections_are_exported(tmp_path: Path, session: Any) -> None:
    tf.Variable(4.0, name="v")
    saver = saver_module._get_saver_or_default()
    assert saver_module._get_saver_or_default() is saver
    tf.train.export_meta_graph(str(tmp_path / "g.meta"))
    with tf.Graph().as_default():
        tf.train.import_meta_graph(str(tmp_path / "g.meta"))
        assert tf.get_collection(tf.GraphKeys.SAVERS)[0].to_proto() == saver.to_proto()


def test_errors_of_restoring_explain_themselves(tmp_path: Path, session: Any) -> None:
    v = tf.Variable([1.0, 2.0], name="weights")
    session.run(v.initializer)
    path = tf.train.Saver().save(session, str(tmp_path / "m"))
    with pytest.raises(ValueError, match="(?m)not a valid checkpoint: /nowhere$"):
        tf.train.Saver().restore(session, "/nowhere")
    with pytest.raises(ValueError, match=r"checkpoint: .*/mm \(nearest: m\)"):
        tf.train.Saver().restore(session, f"{path}m")
    with pytest.raises(tf.errors.NotFoundError, match="^/no/where; No such file"):
        tf.train.Saver().restore(session, "/no/where/m")
    with pytest.raises(ValueError, match="save_path when it is None"):
        tf.train.Saver().restore(session, None)
    with pytest.raises(tf.errors.NotFoundError, match=r"Key weight not.*nearest: weights"):
        tf.train.Saver({"weight": v}).restore(session, path)
    other = tf.Variable([1, 2], name="other")
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match="tensor_name = weights; expected dtype int32 does not equal original dtype float",
    ):
        tf.train.Saver({"weights": other}).restore(session, path)
    large = tf.Variable([1.0, 2.0, 3.0], name="large")
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"(?s)mismatch between.*lhs shape= ?\[3\] rhs"
    ):
        tf.train.Saver({"weights": large}).restore(session, path)
    handle = tf.Variable([1.0, 2.0, 3.0], name="handle", use_resource=True)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"(?s)lhs shape= \[3\] rhs shape= \[2\] .*handle"
    ):
        tf.train.Saver({"weights": handle}).restore(session, path)
    data = Path(f"{path}.data-00000-of-00001")
    data.write_bytes(b"\0" * 8)
    with pytest.raises(tf.errors.DataLossError, match=r"Checksum.*tensor weights"):
        tf.train.Saver([v]).restore(session, path)


def test_errors_of_saving(tmp_path: Path, session: Any) -> None:
    with pytest.raises(ValueError, match="No variables to save"):
        tf.train.Saver()
    assert tf.train.Saver(allow_empty=True).save(session, str(tmp_path / "none")) is None
    v = tf.Variable(1.0, name="v")
    saver = tf.train.Saver()
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
        saver.save(session, str(tmp_path / "m"))
    assert not list(tmp_path.glob("m*"))
    session.run(v.initializer)
    with pytest.raises(ValueError, match="Parent directory of .* doesn't exist, can't save"):
        saver.save(session, str(tmp_path / "a" / "b" / "m"))
    with pytest.raises(ValueError, match="must not contain path components"):
        saver.save(session, str(tmp_path / "m"), latest_filename="a/b")
    with pytest.raises(ValueError, match="collides with 'save_path'"):
        saver.save(session, str(tmp_path / "checkpoint"))
    with pytest.raises(TypeError, match="must be a Session"):
        saver.save("session", str(tmp_path / "m"))
    with pytest.raises(RuntimeError, match="build"):
        tf.train.Saver(defer_build=True).save(session, str(tmp_path / "m"))
    with pytest.raises(ValueError, match="build cannot be deferred"):
        tf.train.Saver([v], defer_build=True)
    with pytest.raises(ValueError, match="restored with two names: b"):
        tf.train.Saver({"a": v, "b": v})
    with pytest.raises(TypeError, match="not a Variable"):
        tf.train.Saver([tf.constant(1.0)])


def test_reshape(tmp_path: Path, session: Any) -> None:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="v")
    session.run(v.initializer)
    path = tf.train.Saver().save(session, str(tmp_path / "m"))
    flat = tf.Variable(tf.zeros([4]), name="flat")
    tf.train.Saver({"v": flat}, reshape=True).restore(session, path)
    assert session.run(flat).tolist() == [1.0, 2.0, 3.0, 4.0]


def test_variables_that_start_from_a_checkpoint(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.variable_scope("old"):
            tf.get_variable("a", initializer=tf.constant([1.0, 2.0]))
            tf.get_variable("b", initializer=tf.constant(3, dtypes.int32), use_resource=True)
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, str(tmp_path / "m"))
    with tf.variable_scope("new"):
        a = tf.get_variable("a", [2])
        b = tf.get_variable("b", [], dtypes.int32, use_resource=True)
        c = tf.get_variable("c", [3])
    tf.train.init_from_checkpoint(path, {"old/a": a, "old/b": "new/b"})
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(a).tolist() == [1.0, 2.0]
        assert session.run(b) == 3
    with pytest.raises(ValueError, match="doesn't match with shape of tensor old/a"):
        tf.train.init_from_checkpoint(path, {"old/a": c})
    with pytest.raises(ValueError, match=r"old/c .* is not found"):
        tf.train.init_from_checkpoint(path, {"old/": "new/"})


def test_new_checkpoints_are_iterated(tmp_path: Path, session: Any) -> None:
    v = tf.Variable(1.0)
    session.run(v.initializer)
    path = tf.train.Saver().save(session, str(tmp_path / "m"))
    assert list(tf.train.checkpoints_iterator(str(tmp_path), timeout=0)) == [path]
    assert list(tf.train.checkpoints_iterator(str(tmp_path / "none"), timeout=0)) == []


def test_a_saver_of_its_own_ops(tmp_path: Path, session: Any) -> None:
    """Objects that say what to save, as tables and iterators do."""

    class Counter(tf.train.Saver.__init__.__globals__["BaseSaverBuilder"].SaveableObject):
        def __init__(self, variable: Any) -> None:
            spec = saver_module.BaseSaverBuilder.SaveSpec(variable, "", "counter")
            super().__init__(variable, [spec], "counter")

        def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
            return tf.assign(self.op, restored_tensors[0] * 2)

    v = tf.Variable(3, name="v", collections=[])
    tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, Counter(v))
    session.run(v.initializer)
    saver = tf.train.Saver()
    saver.restore(session, saver.save(session, str(tmp_path / "m")))
    assert session.run(v) == 6


def _run(python: str, module: str, command: str, folder: Path) -> None:
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1")
    environment.pop("PYTHONPATH", None)
    arguments = [python, str(PROGRAMS), module, command, str(folder)]
    done = subprocess.run(
        arguments, env=environment, capture_output=True, text=True, check=False, timeout=200
    )
    assert done.returncode == 0, done.stderr[-3000:]


PEERS = [("NUMBAFLOW_TF115_PYTHON", "tensorflow"), ("NUMBAFLOW_TF_PYTHON", "tensorflow.compat.v1")]


@pytest.mark.tf
@pytest.mark.parametrize(("variable", "module"), PEERS)
def test_files_are_exchanged_with_tensorflow(tmp_path: Path, variable: str, module: str) -> None:
    python = os.environ.get(variable)
    if not python:
        pytest.skip(f"{variable} names no Python that has TensorFlow")
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    programs.write(tf, str(ours))
    _run(python, module, "write", theirs)
    # TensorFlow 2 writes attributes of variables that 1.15 does not know.
    programs.read(tf, str(theirs), meta=module == "tensorflow")
    _run(python, module, "read", ours)
    names = sorted(path.name for path in theirs.iterdir())
    assert sorted(path.name for path in ours.iterdir()) == names
    data = [n for n in names if not n.endswith((".meta", "checkpoint"))]
    different = [n for n in data if not filecmp.cmp(ours / n, theirs / n, shallow=False)]
    assert not different


@pytest.mark.tf
@pytest.mark.parametrize(("variable", "module"), PEERS)
def test_objects_are_exchanged_with_tensorflow(tmp_path: Path, variable: str, module: str) -> None:
    python = os.environ.get(variable)
    if not python:
        pytest.skip(f"{variable} names no Python that has TensorFlow")
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    programs.write_objects(tf, str(ours))
    _run(python, module, "write_objects", theirs)
    assert tf.train.list_variables(str(ours)) == tf.train.list_variables(str(theirs))
    if module == "tensorflow":  # TensorFlow 2 writes one shard where 1.15 writes two.
        for path in theirs.iterdir():
            assert filecmp.cmp(ours / path.name, path, shallow=False), path.name
    programs.read_objects(tf, str(theirs))
    _run(python, module, "read_objects", ours)


def test_objects_come_back(tmp_path: Path) -> None:
    programs.write_objects(tf, str(tmp_path))
    programs.read_objects(tf, str(tmp_path))


def test_objects_that_do_not_match(tmp_path: Path, session: Any) -> None:
    a = tf.Variable(1.0, name="a")
    b = tf.Variable(2.0, name="b")
    checkpoint = tf.train.Checkpoint(a=a)
    session.run(tf.global_variables_initializer())
    path = checkpoint.save(str(tmp_path / "m"), session=session)
    other = tf.train.Checkpoint(a=a, b=b)
    status = other.restore(path).assert_nontrivial_match()
    with pytest.raises(AssertionError, match=r"(?s)not bound to checkpointed values.*'b:0'"):
        status.assert_existing_objects_matched()
    session.run([a.assign(5.0), b.assign(6.0)])
    status.initialize_or_restore(session)
    assert session.run([a, b]) == [1.0, 2.0]
    status = tf.train.Checkpoint(save_it=[]).restore(path).expect_partial()
    with pytest.raises(AssertionError, match=r"Unresolved object in checkpoint \(root\).a:"):
        status.assert_consumed()
    with pytest.raises(ValueError, match="expecting a trackable object"):
        tf.train.Checkpoint(a="text")


def test_the_manager_keeps_the_last_ones(tmp_path: Path, session: Any) -> None:
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0, name="v"))
    session.run(tf.global_variables_initializer())
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=2)
    with session.as_default():
        paths = [manager.save() for _ in range(3)]
    assert manager.checkpoints == paths[1:]
    assert manager.latest_checkpoint == tf.train.latest_checkpoint(str(tmp_path)) == paths[-1]
    again = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=2)
    assert again.checkpoints == paths[1:]
    assert not tf.train.checkpoint_exists(paths[0])
