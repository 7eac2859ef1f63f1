# SPDX-License-Identifier: Apache-2.0
"""The public face: namespaces, what importing loads, logging, flags, tf.test."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
import types

import pytest

import numbaflow as tf

pytestmark = pytest.mark.pure

FORBIDDEN = ("numba", "llvmlite", "google", "scipy", "absl", "PIL", "fsspec", "typer", "rich")


def python(program: str, *arguments: str) -> str:
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.process
def test_import_is_light() -> None:
    program = f"import sys, numbaflow; print([n for n in {FORBIDDEN} if n in sys.modules])"
    assert python(program).strip() == "[]"


def test_namespaces_are_modules() -> None:
    import numbaflow.compat.v1 as v1
    import numbaflow.nn
    from numbaflow.errors import InvalidArgumentError

    assert v1 is tf and numbaflow.nn is tf.nn
    assert InvalidArgumentError is tf.errors.InvalidArgumentError
    assert tf.math.add is tf.add and "ConfigProto" in dir(tf)
    assert tf.__version__.startswith("1.15") and tf.VERSION == tf.version.VERSION
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        _ = tf.no_such_name


@pytest.mark.process
def test_who_looks_into_a_namespace_finds_all_of_its_names() -> None:
    program = """
import sys, inspect
import numbaflow as tf
assert "numbaflow.train.rnn" not in sys.modules
cell = tf.nn.rnn_cell.RNNCell
found = [c for c in tf.contrib.rnn.__dict__.values() if inspect.isclass(c) and issubclass(c, cell)]
print(tf.contrib.rnn.GridLSTMCell in found, tf.contrib.rnn.NASCell in found)
assert tf.train.__dict__["AdamOptimizer"] is tf.train.AdamOptimizer
assert vars(tf.nn)["relu"] is tf.nn.relu and set(dir(tf.nn)) == set(tf.nn.__dict__)
"""
    assert python(program) == "True True\n"


def test_op_functions_pass_for_functions() -> None:
    assert inspect.isfunction(tf.greater) and isinstance(tf.nn.relu, types.FunctionType)
    assert inspect.getfullargspec(tf.greater).args == ["x", "y", "name"]
    assert tf.greater.__defaults__ is None and tf.greater.__code__.co_name == "__call__"
    assert pickle.loads(pickle.dumps(tf.greater)) is tf.greater
    with pytest.raises(AttributeError, match="has no attribute 'other'"):
        _ = tf.greater.other


def test_compat() -> None:
    assert tf.compat.as_bytes("é") == "é".encode() and tf.compat.as_text(b"x") == "x"
    assert tf.compat.as_str_any(3) == "3"
    with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
        tf.compat.as_bytes(3)
    assert not tf.executing_eagerly()
    with pytest.raises(NotImplementedError, match="eager execution is not supported"):
        tf.enable_eager_execution()
    tf.disable_eager_execution()


@pytest.mark.process
def test_app_and_flags() -> None:
    program = """
import sys
import numbaflow as tf
tf.app.flags.DEFINE_integer("steps", 3, "how many")
tf.flags.DEFINE_string(flag_name="name", default_value="a", docstring="who")
assert tf.flags is tf.app.flags
def main(argv):
    print(tf.flags.FLAGS.steps, tf.app.flags.FLAGS.name, argv[1:])
tf.app.run()
"""
    assert python(program, "--steps=5", "rest") == "5 a ['rest']\n"


@pytest.mark.process
def test_flags_parse_when_first_read() -> None:
    program = (
        "import numbaflow as tf\ntf.flags.DEFINE_float('rate', 0.1, '')\nprint(tf.flags.FLAGS.rate)"
    )
    assert python(program, "--rate=0.5") == "0.5\n"


def test_logging(caplog: pytest.LogCaptureFixture) -> None:
    old = tf.logging.get_verbosity()
    tf.logging.set_verbosity(tf.logging.INFO)
    try:
        tf.logging.info("hello %d", 3)
        for _ in range(3):
            tf.logging.log_first_n(tf.logging.WARN, "once", 1)
    finally:
        tf.logging.set_verbosity(old)
    assert [r.getMessage() for r in caplog.records] == ["hello 3", "once"]
    assert caplog.records[0].filename == "test_public.py" and caplog.records[0].name == "tensorflow"


@pytest.mark.programs
def test_test_case() -> None:
    class Case(tf.test.TestCase):
        def test_values(self) -> None:
            with self.cached_session():
                self.assertAllClose(tf.constant([1.0, 2.0]), [1.0, 2.0])
                self.assertAllEqual(self.evaluate(tf.constant("a")), b"a")
            with self.assertRaisesRegex(ValueError, "x"):
                raise ValueError("x")

    import unittest

    result = unittest.TestResult()
    Case("test_values").run(result)
    assert result.wasSuccessful(), result.failures + result.errors
