# SPDX-License-Identifier: Apache-2.0
"""`tf.test`: sessions of test cases, and graphs that are held against each other."""

from __future__ import annotations

from typing import Any

import pytest

import numbaflow as tf

pytestmark = pytest.mark.pure


class Own(tf.test.TestCase):
    """A case whose setUp does not call the one above."""

    def setUp(self) -> None:
        self.seen: list[Any] = []

    @pytest.mark.programs
    def test_cached(self) -> None:
        with self.cached_session() as session:
            assert tf.constant(1).device == "/device:CPU:0"
            assert self.evaluate(tf.constant(2)) == 2
        with self.cached_session() as again:
            assert again is session
        for other in ({"graph": tf.Graph()}, {"config": tf.ConfigProto()}, {"force_gpu": True}):
            what = f"The {next(iter(other))}.* used to get the cached session is different"
            with pytest.raises(ValueError, match=what), self.cached_session(**other):
                pass

    def test_old_form(self) -> None:
        with self.test_session() as session, self.test_session(config=tf.ConfigProto()) as again:
            assert again is session
        graph = tf.Graph()
        with self.test_session(graph=graph) as other:
            assert other.graph is graph

    @pytest.mark.programs
    def test_devices(self) -> None:
        with self.session(use_gpu=True):
            assert tf.constant(1).device == ""
        with self.session():
            assert tf.constant(1).device == "/device:CPU:0"
        with self.session(force_gpu=True) as session:
            here = tf.constant(1.0) + 1.0
            assert here.device == "/device:GPU:0"
            with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot assign a device"):
                session.run(here)

    def test_folder(self) -> None:
        assert self.get_temp_dir() == self.get_temp_dir()


def graph_of(**texts: str) -> Any:
    with tf.Graph().as_default() as graph:
        with tf.control_dependencies([tf.no_op("b"), tf.no_op("c")]):
            tf.constant(texts.get("file", "f"), name="file")
    return graph.as_graph_def()


def test_graphs_may_differ_in_what_does_not_count() -> None:
    one, two = graph_of(), graph_of()
    node = next(node for node in two.node if node.name == "file")
    controls = list(node.input)
    del node.input[:]
    node.input.extend(reversed(controls))
    node.attr["_own"].s = b"x"
    tf.test.assert_equal_graph_def(one, two)
    node.attr["own"].s = b"x"
    with pytest.raises(AssertionError, match="differ in file"):
        tf.test.assert_equal_graph_def(one, two)


def test_random_names_count_unless_they_are_masked() -> None:
    files = [graph_of(file=f"_temp_{letter * 32}/part") for letter in "ab"]
    tf.test.assert_equal_graph_def(*files, checkpoint_v2=True)
    with pytest.raises(AssertionError):
        tf.test.assert_equal_graph_def(*files, hash_table_shared_name=True)
    tables = []
    for name in ("hash_table_1-a", "hash_table_2-b"):
        graph_def = tf.GraphDef()
        graph_def.node.add(name="t", op="HashTableV2").attr["shared_name"].s = name.encode()
        tables.append(graph_def)
    tf.test.assert_equal_graph_def(*tables, hash_table_shared_name=True)
    with pytest.raises(AssertionError):
        tf.test.assert_equal_graph_def(*tables, checkpoint_v2=True)


def test_only_graph_defs_are_compared() -> None:
    with pytest.raises(TypeError, match="Expected tf.GraphDef for expected, got Graph"):
        tf.test.assert_equal_graph_def(tf.GraphDef(), tf.Graph())


@pytest.mark.programs
def test_assertions_of_absl_are_there() -> None:
    class Sets(tf.test.TestCase):
        def test_sets(self) -> None:
            self.assertSameElements([1, 2, 2], [2, 1])
            self.assertSameStructure({"a": [1]}, {"a": [1]})
            self.assertBetween(2, 1, 3)
            self.assertEmpty(())
            with self.assertRaises(AssertionError):
                self.assertSameElements([1], [2])
            self.assertEqual(self.enter_context(self.session()).run(tf.constant(2)), 2)

    result = Sets("test_sets").run()
    assert result is not None and result.wasSuccessful(), result
