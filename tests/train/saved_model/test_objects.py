# SPDX-License-Identifier: Apache-2.0
"""SavedModels of objects: what `tf.saved_model.save` writes, `load_v2` gives back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow import security

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


class Words(tf.Module):
    """Variables, a table of a file, lists and functions of several kinds."""

    def __init__(self, vocabulary: str) -> None:
        super().__init__()
        self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], use_resource=True, name="w")
        self.items = [tf.Variable(5.0, use_resource=True), {"a": tf.Variable(7, use_resource=True)}]
        lines = tf.lookup.TextFileInitializer(vocabulary, tf.string, -2, tf.int64, -1)
        self.table = tf.lookup.StaticHashTable(lines, -1)

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    def serve(self, x: Any) -> Any:
        return {"y": tf.matmul(x, self.w) * self.items[0], "sum": tf.reduce_sum(x)}

    @tf.function
    def change(self, x: Any, by: Any = 1.0, really: bool = True) -> Any:
        if really:
            self.w.assign_add(tf.ones([2, 2]) * by)
        return x + tf.reduce_sum(self.w)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="words")])
    def number(self, words: Any) -> Any:
        return self.table.lookup(words)


def started(session: Any) -> None:
    session.run([tf.global_variables_initializer(), tf.tables_initializer()])


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A SavedModel of Words whose vocabulary is moved away."""
    vocabulary = tmp_path / "vocabulary"
    vocabulary.write_text("zero\none\n")
    with tf.Graph().as_default(), tf.Session() as session:
        words = Words(str(vocabulary))
        words.change(tf.constant(1.0), really=False)
        words.change(tf.constant([1.0, 2.0]), tf.constant(2.0))
        started(session)
        session.run(words.w.assign([[1.0, 1.0], [1.0, 2.0]]))
        target = str(tmp_path / "model")
        tf.saved_model.save(words, target, {"serving_default": words.serve, "number": words.number})
    vocabulary.unlink()
    return target


def check(words: Any) -> None:
    x = tf.constant([[1.0, 1.0]])
    results = {
        "serve": words.serve(x),
        "signature": words.signatures["serving_default"](x=x),
        "number": words.signatures["number"](tf.constant(["one", "two"])),
        "list": [words.items[0].read_value(), words.items[1]["a"].read_value()],
    }
    same = words.change(tf.constant(1.0), really=False)
    (slope,) = tf.gradients(same, words.w)
    changed = words.change(tf.constant([1.0, 2.0]), tf.constant(2.0))
    with tf.Session() as session:
        started(session)
        found = session.run(results)
        assert found["serve"]["y"].tolist() == [[10.0, 15.0]] == found["signature"]["y"].tolist()
        assert found["signature"]["sum"] == 2.0
        assert found["number"]["output_0"].tolist() == [1, -1]
        assert found["list"] == [5.0, 7]
        assert session.run([same, slope])[1].tolist() == [[1.0, 1.0], [1.0, 1.0]]
        assert session.run(changed).tolist() == [14.0, 15.0]
        assert session.run(words.w).tolist() == [[3.0, 3.0], [3.0, 4.0]]


def test_objects_come_back_with_their_functions(folder: str, tmp_path: Path) -> None:
    words = tf.saved_model.load_v2(folder)
    check(words)
    with pytest.raises(ValueError, match="Could not find matching function"):
        words.change(tf.constant(1))
    with pytest.raises(ValueError, match="incompatible argument tags"):
        tf.saved_model.load_v2(folder, "other")


def test_what_was_loaded_is_saved_again(folder: str, tmp_path: Path) -> None:
    words = tf.saved_model.load_v2(folder)
    with tf.Session() as session:
        started(session)
        tf.saved_model.save(words, str(tmp_path / "again"), words.signatures)
    with tf.Graph().as_default():
        check(tf.saved_model.load_v2(str(tmp_path / "again")))


def test_two_loads_share_nothing(folder: str) -> None:
    one, two = (tf.saved_model.load_v2(folder) for _ in range(2))
    changed = one.change(tf.constant(0.0), really=False) + tf.constant(0.0)
    with tf.Session() as session:
        started(session)
        session.run(one.w.assign(tf.zeros([2, 2])))
        assert session.run([changed, tf.reduce_sum(two.w)]) == [0.0, 5.0]


def test_sessions_run_the_signatures(folder: str) -> None:
    with tf.Session() as session:
        message = tf.saved_model.load(session, ["serve"], folder)
        signature = message.signature_def["number"]
        fetched = signature.outputs["output_0"].name
        feeds = {signature.inputs["words"].name: ["two", "zero"]}
        assert session.run(fetched, feeds).tolist() == [-1, 0]


class Counter(tf.Module):
    """A function whose variable is made by its first call."""

    count: Any = None

    @tf.function(input_signature=[])
    def next(self) -> Any:
        if self.count is None:
            self.count = tf.Variable(tf.zeros([], tf.int32) + 3)
        return self.count.assign_add(1)


def test_variables_are_made_outside_of_functions(tmp_path: Path) -> None:
    counter = Counter()
    following = counter.next.get_concrete_function()
    assert [v.graph for v in following.variables] == [tf.get_default_graph()]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [session.run(counter.next()) for _ in range(2)] == [4, 5]
        tf.saved_model.save(counter, str(tmp_path / "model"))
    with tf.Graph().as_default(), tf.Session() as session:
        again = tf.saved_model.load_v2(str(tmp_path / "model")).next()
        session.run(tf.global_variables_initializer())
        assert [session.run(again) for _ in range(2)] == [6, 7]


def test_composite_arguments_and_results(tmp_path: Path) -> None:
    @tf.function(input_signature=[tf.SparseTensorSpec([None, None], tf.float32)])
    def twice(x: Any) -> Any:
        return tf.SparseTensor(x.indices, x.values * 2.0, x.dense_shape), [tf.shape(x.values)[0]]

    holder = tf.Module()
    holder.twice = twice
    with tf.Session():
        tf.saved_model.save(holder, str(tmp_path / "model"), {})
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.load_v2(str(tmp_path / "model"))
        x = tf.SparseTensor([[0, 1]], [3.0], [2, 2])
        (found, count) = session.run((tf.sparse.to_dense(loaded.twice(x)[0]), loaded.twice(x)[1]))
        assert found.tolist() == [[0.0, 6.0], [0.0, 0.0]]
        assert count == [1]


def holding(**attributes: Any) -> Any:
    made = tf.Module()
    for name, value in attributes.items():
        setattr(made, name, value)
    return made


def with_untracked_variable() -> Any:
    v = tf.Variable(1.0, use_resource=True)
    return holding(f=tf.function(lambda: v.read_value(), input_signature=[]))


def with_symbolic_tensor() -> Any:
    x = tf.random_uniform([])
    return holding(f=tf.function(lambda: x + 1.0, input_signature=[]))


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: 3, ValueError, "Expected a Trackable object"),
        (with_untracked_variable, AssertionError, "references untracked object"),
        (with_symbolic_tensor, ValueError, "not a simple constant"),
        (lambda: holding(signatures=tf.Module()), ValueError, "reserved attribute"),
    ],
)
def test_what_cannot_be_saved(make: Any, kind: Any, message: str, tmp_path: Path) -> None:
    made = make()
    with tf.Session() as session, pytest.raises(kind, match=message):
        session.run(tf.global_variables_initializer())
        tf.saved_model.save(made, str(tmp_path / "model"))
    assert not (tmp_path / "model" / "saved_model.pb").exists()


@pytest.mark.parametrize(
    ("signatures", "message"),
    [
        (tf.function(lambda x: x), "Expected a TensorFlow function"),
        (
            tf.function(lambda: [[tf.ones([])]], input_signature=[]),
            "Got non-flat outputs",
        ),
        (tf.function(lambda: {"a": [tf.ones([])]}, input_signature=[]), "non-Tensor value"),
    ],
)
def test_functions_that_are_no_signatures(signatures: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        tf.saved_model.save(tf.Module(), str(tmp_path / "model"), signatures)


def test_functions_from_outside_may_not_write(tmp_path: Path) -> None:
    @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
    def write(path: Any) -> Any:
        tf.write_file(path, "x")
        return tf.constant(1)

    with tf.Session():
        tf.saved_model.save(holding(write=write), str(tmp_path / "model"), {})
    with tf.Graph().as_default(), tf.Session() as session:
        with security.untrusted_graph():
            loaded = tf.saved_model.load_v2(str(tmp_path / "model"))
        with pytest.raises(tf.errors.PermissionDeniedError):
            session.run(loaded.write(str(tmp_path / "file")))
    assert not (tmp_path / "file").exists()


def test_arguments_of_concrete_functions() -> None:
    concrete = tf.function(lambda a, b: a - b).get_concrete_function(
        tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.float32)
    )
    with tf.Session() as session:
        assert session.run([concrete(3.0, 1.0), concrete(b=3.0, a=1.0)]) == [2.0, -2.0]
    for args, kwargs, message in [
        ((1.0, 2.0, 3.0), {}, "at most 2 positional"),
        ((1.0,), {}, "Missing: \\['b'\\]"),
        ((1.0,), {"a": 1.0, "b": 2.0}, "two values for keyword 'a'"),
        ((1.0, 2.0), {"c": 1.0}, "unknown"),
    ]:
        with pytest.raises(TypeError, match=message):
            concrete(*args, **kwargs)
    assert np.shape(concrete.function_def.signature.output_arg) == (1,)
