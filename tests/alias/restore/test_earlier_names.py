# SPDX-License-Identifier: Apache-2.0
"""Names that TensorFlow had in versions 1.0 to 1.14 and 1.15 has not, and those it only shows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from numbaflow.alias.restore import reading

pytestmark = pytest.mark.process

MOVED = """
import tensorflow as tf
from tensorflow.contrib.estimator import stop_if_no_increase_hook

experimental = tf.estimator.experimental
assert stop_if_no_increase_hook is experimental.stop_if_no_increase_hook
assert tf.contrib.estimator.InMemoryEvaluatorHook is experimental.InMemoryEvaluatorHook
assert tf.contrib.estimator.DNNEstimator is tf.estimator.DNNEstimator
assert tf.contrib.data.Dataset.range(3) is not None
assert tf.contrib.data.Iterator is tf.data.Iterator
assert tf.contrib.data.group_by_window  # what the module has itself
"""
FLAGS = """
import tensorflow as tf

tf.flags.DEFINE_integer("steps", 3, "")
flags = tf.flags.FLAGS
flags._parse_flags()
assert flags.steps == 5 and flags.__flags["steps"].value == 5
assert flags._parse_flags(["--steps=7", "word"]) == ["word"] and flags.steps == 7
"""
CELLS = """
import tensorflow as tf
from tensorflow.python.ops.rnn_cell_impl import _Linear, _like_rnncell, _linear

assert _like_rnncell(tf.nn.rnn_cell.GRUCell(2)) and not _like_rnncell(tf.nn.relu)
with tf.variable_scope("gate"):
    both = _Linear([tf.ones([2, 3]), tf.ones([2, 1])], 5, True)
    assert both([tf.ones([2, 3]), tf.ones([2, 1])]).shape.as_list() == [2, 5]
with tf.variable_scope("other"):
    assert _linear(tf.ones([2, 3]), 4, False).shape.as_list() == [2, 4]
assert [v.op.name for v in tf.global_variables()] == ["gate/kernel", "gate/bias", "other/kernel"]
"""
SHOWN = """
import tensorflow as tf

assert tf.python.framework.ops.Tensor is tf.Tensor
assert tf.pywrap_tensorflow.NewCheckpointReader is tf.train.NewCheckpointReader
assert tf.core.framework.graph_pb2.GraphDef is tf.GraphDef
import tensorflow.python as python
from tensorflow.python.client import device_lib
assert python is tf.python and device_lib is tf.python.client.device_lib
"""


def run(folder: Path, text: str, *options: str, words: str = "") -> subprocess.CompletedProcess:
    program = folder / "old.py"
    program.write_text(text)
    command = [sys.executable, "-W", "ignore", "-m", "numbaflow", "run", *options, str(program)]
    return subprocess.run(
        [*command, *words.split()], capture_output=True, text=True, check=False, cwd=folder
    )


@pytest.mark.parametrize("text", [MOVED, CELLS, SHOWN])
def test_they_are_there(tmp_path: Path, text: str) -> None:
    done = run(tmp_path, text)
    assert done.returncode == 0, done.stderr


def test_flags_are_parsed_when_the_program_says_so(tmp_path: Path) -> None:
    done = run(tmp_path, FLAGS, words="--steps 5")
    assert done.returncode == 0, done.stderr


def test_they_are_reported_and_can_be_turned_off(tmp_path: Path) -> None:
    done = run(tmp_path, MOVED, "--report")
    assert "tensorflow.contrib.estimator.DNNEstimator (gone since TensorFlow 1.14)" in done.stderr
    done = run(tmp_path, MOVED, "--strict")
    assert "cannot import name 'stop_if_no_increase_hook'" in done.stderr


def test_a_typo_among_them_is_still_one(tmp_path: Path) -> None:
    done = run(tmp_path, "import tensorflow as tf\ntf.contrib.data.TextLineDatset")
    assert "did you mean 'TextLineDataset'?" in done.stderr


def test_reading_a_program_finds_them() -> None:
    text = b"""
import tensorflow as tf
from tensorflow.python import pywrap_tensorflow
tf.contrib.estimator.DNNEstimator.evaluate(1)
pywrap_tensorflow.NewCheckpointReader("x")
tf.pywrap_tensorflow.NewCheckpointReader("x")
tf.python.framework.ops.Tensor
tf.python.framework.opps.Tensor
tf.contrib.slim.init_ops.zeros_initializer()
tf.contrib.slim.init_ops.zeros_initialiser()
tf.python.debug.cli.cli_config.CLIConfig
"""
    program = reading.read("old.py", text)
    assert list(program.restored) == ["tensorflow.contrib.estimator.DNNEstimator.evaluate"]
    assert program.missing == {
        "tensorflow.python.framework.opps.Tensor": (
            "an internal module or name that numbaflow has not"
        ),
        "tensorflow.contrib.slim.init_ops.zeros_initialiser": (
            "an internal module or name that numbaflow has not"
        ),
        "tensorflow.python.debug.cli.cli_config.CLIConfig": (
            "can be imported, and fails when it is used"
        ),
    }
