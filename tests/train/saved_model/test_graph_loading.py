# SPDX-License-Identifier: Apache-2.0
"""Graphs of SavedModels without objects: `tf.saved_model.load_v2` has functions of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.ops.flow.function_library import Defun
from numbaflow.ops.flow.lifting import UnliftableError

pytestmark = pytest.mark.cpu


def started(session: Any) -> None:
    session.run(
        [
            tf.global_variables_initializer(),
            tf.local_variables_initializer(),
            tf.tables_initializer(),
        ]
    )


@pytest.fixture(params=[True, False], ids=["resource", "reference"])
def model(request: Any, tmp_path: Path) -> tuple[str, bool]:
    """A model with variables of all kinds, a loop, a Defun and a table of a file."""
    words = tmp_path / "words"
    words.write_text("zero\none\ntwo\n")

    @Defun(tf.float32)
    def twice(x: Any) -> Any:
        return x + x

    folder = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w", use_resource=request.param)
        other = tf.Variable(-1.0, name="other")
        local = tf.Variable(
            3.0, collections=["local_variables"], trainable=False, use_resource=True
        )
        y = twice(tf.matmul(x, w)) * local
        _, total = tf.while_loop(
            lambda i, _: i < 3, lambda i, t: (i + 1, t + tf.reduce_sum(y)), [0, 0.0]
        )
        lines = tf.lookup.TextFileInitializer(str(words), tf.string, -2, tf.int64, -1)
        table = tf.lookup.StaticHashTable(lines, -1)
        text = tf.placeholder(tf.string, [None], name="text")
        session.run([w.initializer, other.initializer, local.initializer, table.initializer])
        tf.saved_model.simple_save(
            session,
            folder,
            {"x": x, "text": text},
            {"y": y, "total": total, "number": table.lookup(text)},
            legacy_init_op=tf.group(local.initializer, table.initializer),
        )
    words.unlink()
    return folder, request.param


def test_signatures_are_functions_of_the_restored_variables(model: Any) -> None:
    folder, is_resource = model
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.load_v2(folder)
        serve = loaded.signatures["serving_default"]
        text = tf.constant(["two", "none"])
        found = serve(x=tf.constant([[1.0, 0.0]]), text=text)
        changed = serve(text=text, x=tf.constant([[0.0, 1.0]]))
        started(session)
        first, second = session.run([found, changed])
        assert first["y"].tolist() == [[6.0, 12.0]] and first["total"] == 54.0
        assert first["number"].tolist() == [2, -1] and second["y"].tolist() == [[18.0, 24.0]]
        assert [v.op.name for v in loaded.variables] == ["w", "Variable"][not is_resource :]
        with pytest.raises(TypeError, match="Missing: \\['text'\\]|Missing: \\['x'\\]|Expected at"):
            serve(tf.constant([[1.0, 0.0]]))
        assert session.run(loaded.prune("x:0", "MatMul:0")(tf.constant([[1.0, 1.0]]))).sum() == 10.0
        if not is_resource:
            with pytest.raises(ValueError, match="has the reference variable '.*w' in it"):
                tf.saved_model.save(loaded, f"{folder}/again", signatures=loaded.signatures)


@pytest.mark.parametrize("model", [True], indirect=True)
def test_variables_of_loaded_graphs_are_trained_and_saved_again(model: Any, tmp_path: Path) -> None:
    folder, _ = model
    again = str(tmp_path / "again")
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.load_v2(folder)
        w, local = loaded.variables
        assert w.trainable and not local.trainable
        serve = loaded.signatures["serving_default"]
        with tf.GradientTape() as tape:
            y = serve(x=tf.constant([[1.0, 0.0]]), text=tf.constant(["one"]))["y"]
        slope = tape.gradient(y, w)
        started(session)
        assert session.run(slope).tolist() == [[6.0, 6.0], [0.0, 0.0]]
        session.run(w.assign([[0.0, 1.0], [0.0, 0.0]]))
        tf.saved_model.save(loaded, again, signatures=loaded.signatures)
    for _ in range(2):
        with tf.Graph().as_default(), tf.Session() as session:
            loaded = tf.saved_model.load_v2(again)
            serve = loaded.signatures["serving_default"]
            found = serve(x=tf.constant([[1.0, 0.0]]), text=tf.constant(["one"]))
            started(session)
            found = session.run(found)
            assert found["y"].tolist() == [[0.0, 6.0]] and found["number"].tolist() == [1]


def test_one_of_several_graphs_is_asked_for_by_its_tags(tmp_path: Path) -> None:
    utils = tf.saved_model.utils
    folder = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        start = tf.placeholder(tf.float32, [None], name="start")
        v = tf.Variable(21.0, use_resource=True)
        outputs = start * v, tf.identity(v)
        session.run(v.initializer)
        builder = tf.saved_model.builder.SavedModelBuilder(folder)
        signatures = [
            {
                key: tf.saved_model.build_signature_def(
                    {f"{key}_start": utils.build_tensor_info(start)},
                    {f"{key}_output": utils.build_tensor_info(output)},
                )
            }
            for key, output in zip(("first", "second"), outputs, strict=True)
        ]
        builder.add_meta_graph_and_variables(session, ["first"], signatures[0])
        builder.add_meta_graph(["second"], signatures[1])
        builder.save()
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(ValueError, match="2 MetaGraphs"):
            tf.saved_model.load_v2(folder)
        with pytest.raises(RuntimeError, match="could not be found"):
            tf.saved_model.load_v2(folder, ["third"])
        first = tf.saved_model.load_v2(folder, ["first"]).signatures["first"]
        second = tf.saved_model.load_v2(folder, {"second"}).signatures["second"]
        results = [first(first_start=tf.constant([2.0])), second(second_start=tf.constant([2.0]))]
        started(session)
        found = session.run(results)
        assert found[0]["first_output"].tolist() == [42.0] and found[1]["second_output"] == 21.0
        with pytest.raises(TypeError, match="second_start"):
            second(x=tf.constant([2.0]))


def test_loops_with_arrays_are_called_and_saved_again(tmp_path: Path) -> None:
    folder, again = str(tmp_path / "model"), str(tmp_path / "again")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3, 2], name="x")
        with tf.variable_scope("rnn", use_resource=True):
            cell = tf.nn.rnn_cell.BasicLSTMCell(2)
            y, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
        session.run(tf.global_variables_initializer())
        expected = session.run(y, {x: np.ones([1, 3, 2])})
        tf.saved_model.simple_save(session, folder, {"x": x}, {"y": y})
    for source, target in ((folder, again), (again, None)):
        with tf.Graph().as_default(), tf.Session() as session:
            loaded = tf.saved_model.load_v2(source)
            found = loaded.signatures["serving_default"](x=tf.ones([1, 3, 2]))["y"]
            started(session)
            np.testing.assert_allclose(session.run(found), expected, rtol=1e-6)
            if target is not None:
                tf.saved_model.save(loaded, target, signatures=loaded.signatures)


def test_results_must_not_need_placeholders_that_are_no_inputs(tmp_path: Path) -> None:
    folder = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [], name="x")
        other = tf.placeholder(tf.float32, [], name="other")
        tf.saved_model.simple_save(session, folder, {"other": other}, {"y": x * 2.0})
    with (
        tf.Graph().as_default(),
        pytest.raises(UnliftableError, match="signature needs an input for each placeholder"),
    ):
        tf.saved_model.load_v2(folder)
