# SPDX-License-Identifier: Apache-2.0
"""`numbaflow check` reads programs and says what they need."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from numbaflow.alias.restore import reading

OLD = b"""
import numpy as np, tensorflow as tf
import tensorflow.contrib.quantization as labeled
from collections import Mapping
from tensorflow.python.ops import no_such_ops
from tensorflow.python.ops import math_ops
nn = tf.nn
def f(np_like):
    x = tf.placeholder(tf.float32)
    y = nn.relu(x) + nn.no_such(x) + tf.mul(x, x)
    return y, np.float, x.eval().tostring(), labeled.LabeledTensor, tf.estimator_no
tf.train.AdamOptimizer(1.0).no_such_method()
"""


@pytest.mark.pure
def test_names_are_found_with_their_lines() -> None:
    program = reading.read("old.py", OLD)
    names = {reading.shown(name): lines for name, lines in program.names.items()}
    assert names["tf.nn.relu"] == [10] and names["tf.placeholder"] == [9]
    assert names["tensorflow.python.ops.math_ops"] == [6]
    missing = {reading.shown(name): why for name, why in program.missing.items()}
    assert set(missing) == {
        *(
            "tf.contrib.quantization",
            "tf.contrib.quantization.LabeledTensor",
            "tf.nn.no_such",
            "tf.mul",
        ),
        *("tensorflow.python.ops.no_such_ops", "tf.estimator_no"),
    }
    assert missing["tf.contrib.quantization"] == "is in TensorFlow 1.15, not in numbaflow yet"
    assert "--api 0.12" in missing["tf.mul"] and "not a name of" in missing["tf.nn.no_such"]
    assert program.restored == {"collections.Mapping": [4], "numpy.float": [11], ".tostring": [11]}


@pytest.mark.pure
def test_what_a_program_puts_there_itself_is_not_missing() -> None:
    text = b"import tensorflow as tf\ntf.model = dict()\ntf.model.get(1)\ntf.models.get(1)\n"
    program = reading.read("old.py", text)
    assert set(program.missing) == {"tensorflow.models.get"}


@pytest.mark.pure
def test_what_cannot_be_read_is_said() -> None:
    program = reading.read("old.py", b"x = 1\nprint 'a'\n")
    assert "Missing parentheses" in program.error and program.error.endswith("line 2")
    assert reading.read("old.py", b"\0").error


def check(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "numbaflow", "check", *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.process
def test_the_command_says_whether_all_is_here(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text("import tensorflow as tf\ntf.nn.relu\nraise SystemExit(9)\n")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "old.py").write_bytes(OLD)
    done = check("good.py", folder=tmp_path)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == (
        "1 file: 2 names of TensorFlow, 0 missing; 0 old names that `numbaflow run` restores"
    )
    done = check(".", folder=tmp_path)
    assert done.returncode == 1 and "missing   tf.mul, line 10: was there before" in done.stdout
    assert "restored  numpy.float, line 11" in done.stdout
    data = json.loads(check(".", "--json", folder=tmp_path).stdout)
    assert [one["file"] for one in data["files"]] == ["good.py", "inner/old.py"]
    assert "tf.nn.no_such" in data["files"][1]["missing"]
    assert check("absent.py", folder=tmp_path).returncode == 2
