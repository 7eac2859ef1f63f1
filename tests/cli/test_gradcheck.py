# SPDX-License-Identifier: Apache-2.0
"""`numbaflow gradcheck`: a program's loss, right and wrong, as text, JSON and exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import numbaflow as tf
from numbaflow.cli.main import application

pytestmark = pytest.mark.cpu

PROGRAM = """
import sys
import numbaflow as tf

x = tf.placeholder(tf.float32, [None, 6], "x")
labels = tf.placeholder(tf.int64, [None], "labels")
w = tf.get_variable("w", [6, 3])
b = tf.get_variable("b", [3], initializer=tf.zeros_initializer())

@tf.custom_gradient
def wrong(v):
    return tf.tanh(v), lambda g: g * (1 - tf.tanh(v))

hidden = tf.matmul(x, w) + b
hidden = wrong(hidden) if "wrong" in sys.argv else tf.tanh(hidden)
losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=hidden)
loss = tf.reduce_mean(losses, name="loss")
train = tf.train.AdamOptimizer().minimize(loss)
tf.Session().run(tf.global_variables_initializer())
raise SystemExit("never gets here")
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program that trains a classifier."""
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    return path


def run(*arguments: Any) -> Any:
    """What the command prints, and its exit code."""
    tf.reset_default_graph()
    return CliRunner().invoke(application(), ["gradcheck", *map(str, arguments)])


def test_right_gradients(program: Path) -> None:
    done = run(program, "--loss", "loss")
    assert done.exit_code == 0, done.output
    words = [line.split()[:2] for line in done.stdout.splitlines()]
    assert words == [["w", "right"], ["b", "right"]]


def test_a_wrong_gradient_names_the_op_and_its_line(program: Path) -> None:
    done = run(program, "--loss", "loss", "--batch", 2, "--", "wrong")
    assert done.exit_code == 1
    lines = PROGRAM.splitlines()
    line = 1 + next(k for k, text in enumerate(lines) if text.startswith("hidden = wrong"))
    assert "w  WRONG" in done.stdout and f"train.py:{line}" in done.stdout
    done = run(program, "--loss", "loss", "--json", "--", "wrong")
    report = json.loads(done.stdout)
    assert done.exit_code == 1 and not report["passed"]
    assert report["faults"][0]["op"]["type"] == "IdentityN"


def test_wrong_usage(program: Path) -> None:
    done = run(program)
    assert done.exit_code == 2 and "--loss; scalars are:" in done.stderr and "loss" in done.stderr
    assert run(program, "--loss", "los").exit_code == 2
    assert run(program, "--loss", "labels").exit_code == 2
    assert run(program.parent / "none.py", "--loss", "loss").exit_code == 2
