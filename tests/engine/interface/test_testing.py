# SPDX-License-Identifier: Apache-2.0
"""`tf.test`: sessions of test cases, and graphs that are held against each other."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
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


class Bounds(tf.test.TestCase):
    """What is asserted of every element."""

    @pytest.mark.programs
    def test_elements(self) -> None:
        x = tf.constant([1.0, 2.0])
        with self.session():
            self.assertAllGreater(x, 0.5)
            self.assertAllGreaterEqual(x, 1)
            self.assertAllLess(x, 2.5)
            self.assertAllLessEqual(x, 2)
            self.assertAllInRange(x, 1, 2)
            self.assertAllInSet(x, {1.0, 2.0, 3.0})
            self.assertDTypeEqual(x, np.float32)
            self.assertNotAllClose(x, x + 1)
            self.assertNotAllEqual(x, [1.0, 3.0])
            for check, message in (
                (lambda: self.assertAllGreater(x, 1), r"1 of the 2 .* greater than 1:\n  \[0\]: 1"),
                (lambda: self.assertAllLess(x, 2), r"less than 2:\n  \[1\]: 2"),
                (lambda: self.assertAllInRange(x, 1, 2, True), r"not in the range \(1, 2\]"),
                (lambda: self.assertAllInRange(x, 1, 2, False, True), r"in the range \[1, 2\)"),
                (lambda: self.assertAllInRange([np.nan], 0, 1), r"\[0\]: nan"),
                (lambda: self.assertAllInRange([True], 0, 1), "ordered numeric type"),
                (lambda: self.assertAllInSet(x, [1]), r"\[1\]: 2"),
                (lambda: self.assertNotAllClose(x, x), "close at all"),
                (lambda: self.assertNotAllEqual(x, x), "equal at all"),
                (lambda: self.assertDTypeEqual(x, np.float64), "float32.* != .*float64"),
                (lambda: self.assertAllGreater(np.zeros(99), 1), r"99 of .*(\n.*){10}\n  \.\.\."),
            ):
                with pytest.raises(AssertionError, match=message):
                    check()

    def test_versions_of_graphs(self) -> None:
        with tf.Graph().as_default() as graph:
            tf.no_op("n")
        found = graph.as_graph_def()
        self.assertProtoEqualsVersion("node { name: 'n' op: 'NoOp' }", found)
        with pytest.raises(AssertionError):
            self.assertProtoEqualsVersion("node { name: 'n' op: 'NoOp' }", found, producer=1)

    def test_writes(self) -> None:
        with (
            tempfile.TemporaryFile("w") as stream,
            self.captureWritesToStream(stream) as captured,
        ):
            print("here", file=stream, flush=True)
            assert captured.contents() == "here\n"


def test_errors_of_threads_are_those_of_the_test() -> None:
    seen: list[int] = []

    class Threads(tf.test.TestCase):
        def test_joined(self) -> None:
            thread = self.checkedThread(target=seen.append, args=(1,))
            thread.start()
            thread.join()
            assert not thread.is_alive()

        def test_fails(self) -> None:
            thread = self.checkedThread(target=lambda: [][0])
            thread.start()
            thread.join()

        def test_left(self) -> None:
            thread = self.checkedThread(target=lambda: None)
            thread.start()

    found = {}
    for name in ("joined", "fails", "left"):
        result = Threads(f"test_{name}").run()
        assert result is not None
        found[name] = "".join(text for _, text in result.failures)
    assert seen == [1] and found["joined"] == ""
    assert "Error in checkedThread: list index out of range" in found["fails"]
    assert "A checked thread was not joined." in found["left"]


@pytest.mark.process
def test_main_parses_the_flags_before_the_tests(tmp_path: Path) -> None:
    program = tmp_path / "steps_test.py"
    program.write_text(
        "import numbaflow as tf\n"
        "tf.flags.DEFINE_integer('steps', 3, '')\n"
        "class Steps(tf.test.TestCase):\n"
        "    def test_steps(self):\n"
        "        from absl import flags\n"
        "        print(flags.FLAGS.steps, bool(flags.FLAGS.test_tmpdir))\n"
        "    def test_other(self):\n"
        "        raise ValueError\n"
        "if __name__ == '__main__':\n"
        "    tf.test.main()\n"
    )
    command = [sys.executable, str(program), "Steps.test_steps", "--steps=5"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout == "5 True\n", done.stderr
