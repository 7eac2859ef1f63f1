# SPDX-License-Identifier: Apache-2.0
"""Models, meta graphs and savers from outside: they read what they came with, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import numbaflow as tf
from numbaflow import security
from numbaflow.engine import settings
from numbaflow.ops.public import raw

pytestmark = pytest.mark.cpu
Refused = tf.errors.PermissionDeniedError
TAGS = [tf.saved_model.tag_constants.SERVING]


@pytest.fixture(params=["always", "auto", "never"], autouse=True)
def mode(request: Any) -> Iterator[str]:
    with settings.override(jit=request.param):
        yield request.param


def saved(folder: Path, main_op: Callable[[], Any] | None = None) -> str:
    """A model with a variable and a vocabulary, whose file is moved away."""
    vocabulary = folder / "vocabulary"
    vocabulary.write_text("zero\none\n")
    export = str(folder / "model")
    with tf.Graph().as_default(), tf.Session() as sess:
        path = tf.constant(str(vocabulary), name="asset_path")
        tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, path)
        table = raw.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64)
        fill = raw.InitializeTableFromTextFileV2(table, path, key_index=-2, value_index=-1)
        word = tf.placeholder(tf.string, [], "word")
        number = raw.LookupTableFindV2(table, word, tf.constant(-1, tf.int64))
        factor = tf.Variable(3.0, name="factor")
        tf.multiply(tf.cast(number, tf.float32), factor, name="out")
        sess.run(factor.initializer)
        with tf.control_dependencies([fill]):
            start = tf.group(main_op()) if main_op else tf.no_op(name="start")
        builder = tf.saved_model.Builder(export)
        builder.add_meta_graph_and_variables(
            sess,
            TAGS,
            assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
            main_op=start,
        )
        builder.save()
    vocabulary.unlink()
    return export


def changed(export: str, change: Callable[[Any], Any]) -> str:
    """The model after somebody has changed its message."""
    path = Path(export) / "saved_model.pb"
    from numbaflow.io import protos

    message = protos.SavedModel.FromString(path.read_bytes())
    change(message.meta_graphs[0])
    path.write_bytes(message.SerializeToString())
    return export


def loaded(export: str, **permitted: Any) -> Any:
    sess = tf.Session(graph=tf.Graph())
    with security.untrusted_graph(**permitted):
        tf.saved_model.load(sess, TAGS, export)
    return sess


def test_an_honest_model_loads_and_runs(tmp_path: Path) -> None:
    with loaded(saved(tmp_path)) as sess:
        for _ in range(2):
            assert sess.run("out:0", {"word:0": "one"}) == 3.0


def test_a_model_that_does_something_when_it_is_loaded_is_refused(tmp_path: Path) -> None:
    export = saved(tmp_path, lambda: tf.write_file(str(tmp_path / "file"), "x"))
    with pytest.raises(Refused, match="write files"):
        loaded(export)
    assert not (tmp_path / "file").exists()


@pytest.mark.parametrize("name", ["../../secret", "absolute", "link"])
def test_assets_are_files_of_the_model(name: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret\n")
    export = saved(tmp_path)
    (Path(export) / "assets" / "link").symlink_to(secret)

    def change(meta_graph: Any) -> None:
        del meta_graph.collection_def["saved_model_assets"]
        asset = meta_graph.asset_file_def.add()
        asset.tensor_info.name = "asset_path:0"
        asset.filename = str(secret) if name == "absolute" else name

    with pytest.raises(Refused, match="read files"):
        loaded(changed(export, change))


def test_restoring_runs_nothing_else_and_reads_nothing_else(tmp_path: Path) -> None:
    export = saved(tmp_path)

    def other_file(meta_graph: Any) -> None:
        nodes = meta_graph.graph_def.node
        (restore,) = [node for node in nodes if node.op == "RestoreV2"]
        path = nodes.add(name="elsewhere", op="Const")
        path.attr["dtype"].type = 7
        path.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(str(tmp_path / "elsewhere")))
        restore.input[0] = "elsewhere"

    with pytest.raises(Refused, match="elsewhere"):
        loaded(changed(export, other_file))


def test_savers_of_meta_graphs_use_the_checkpoints_they_are_told(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.Variable(5.0, name="v")
        sess.run(tf.global_variables_initializer())
        saver = tf.train.Saver()
        for step in (1, 10):
            saver.save(sess, str(tmp_path / "model"), step)
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        with security.untrusted_graph():
            saver = tf.train.import_meta_graph(str(tmp_path / "model-1.meta"))
        saver.restore(sess, str(tmp_path / "model-1"))
        assert sess.run("v:0") == 5.0
        assert saver.save(sess, str(tmp_path / "other")) == str(tmp_path / "other")
        # The same node without the saver, or with a checkpoint of a similar name, may not.
        restore = graph.get_operation_by_name(saver.saver_def.restore_op_name)
        with pytest.raises(Refused):
            sess.run(restore, {saver.saver_def.filename_tensor_name: str(tmp_path / "model-1")})
        own = tf.train.Saver()
        own.restore(sess, own.save(sess, str(tmp_path / "own")))


def test_a_permission_for_one_checkpoint_is_none_for_its_neighbour(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.Variable(5.0, name="v")
        sess.run(tf.global_variables_initializer())
        saver = tf.train.Saver()
        for step in (1, 10):
            saver.save(sess, str(tmp_path / "model"), step)
        message = saver.export_meta_graph()
        neighbour = str(tmp_path / "model-10")
        for node in message.graph_def.node:
            if node.name == "save/RestoreV2":
                node.input[0] = "neighbour"
        path = message.graph_def.node.add(name="neighbour", op="Const")
        path.attr["dtype"].type = 7
        path.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(neighbour))
        del graph
    with tf.Graph().as_default(), tf.Session() as sess:
        with security.untrusted_graph():
            saver = tf.train.import_meta_graph(message)
        with pytest.raises(Refused, match="model-10"):
            saver.restore(sess, str(tmp_path / "model-1"))


def test_a_saver_may_not_name_other_files_as_its_own(tmp_path: Path) -> None:
    """What it says that it wrote is deleted once it is old."""
    precious = tmp_path / "precious"
    precious.write_text("x")
    with tf.Graph().as_default():
        tf.Variable(5.0, name="v")
        tf.constant(str(precious), name="lie")
        message = tf.train.Saver(max_to_keep=1).export_meta_graph()
    message.saver_def.save_tensor_name = "lie:0"
    with tf.Graph().as_default(), tf.Session() as sess:
        with security.untrusted_graph():
            saver = tf.train.import_meta_graph(message)
        for step in range(3):
            with pytest.raises(Refused, match="says that it wrote"):
                saver.save(sess, str(tmp_path / "model"), step)
    assert precious.exists()
