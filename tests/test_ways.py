# SPDX-License-Identifier: Apache-2.0
"""A reader finds the way from a question to the code that answers it, in few hops.

A hop is a path, or the folder of a path, that one file tells of another.
"""

from __future__ import annotations

import re
import traceback
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.runtime import backend

from .sources import ROOT

pytestmark = pytest.mark.programs

MOST_HOPS = 3
# Question -> the files on the way, each told of by the one before; and what the last defines.
WAYS = {
    "where is softmax's gradient?": ("README.md ops/nn/softmax.py", "def _softmax_gradient("),
    "where is fusion decided?": ("README.md jit/passes/fuse.py", "def fuse("),
    "how does Session.run become a plan?": (
        "README.md docs/architecture.md jit/runtime/plan.py",
        "def compile_segment(",
    ),
    "where is Adam?": (
        "README.md train/optimizers/gradient_descent.py",
        "class AdamOptimizer(",
    ),
    "where are checkpoints written?": (
        "README.md docs/checkpoints.md io/tensor_bundle.py",
        "class BundleWriter",
    ),
    "where do I add an op?": ("README.md docs/adding_an_op.md", "## An elementwise op"),
    "where do I add a dataset?": ("README.md docs/adding_a_dataset.md", "```python"),
    "where do I add a kernel for GPUs?": (
        "README.md docs/cuda.md jit/library/block_scan.py",
        "def block_kernel(",
    ),
    "where is an op defined?": (
        "README.md docs/architecture.md ops/op_index.py",
        "ops.nn.softmax: LogSoftmax Softmax",
    ),
    "where do I add an optimizer?": ("README.md docs/adding_an_optimizer.md", "```python"),
    "where do I add a summary?": ("README.md docs/adding_a_summary.md", "```python"),
}


def tells_of(file: str, other: str) -> bool:
    """Whether a file has the path of another one, or that of its folder with a slash."""
    text = (ROOT / file).read_text(encoding="utf-8")
    paths = (other, other.removeprefix("docs/"), other.rpartition("/")[0] + "/`")
    return any(re.search(rf"(?<![\w/]){re.escape(path)}", text) for path in paths)


@pytest.mark.pure
@pytest.mark.parametrize("question", WAYS)
def test_questions_are_few_hops_from_their_answers(question: str) -> None:
    way, answer = WAYS[question]
    files = way.split()
    assert len(files) <= MOST_HOPS
    for one, other in zip(files, files[1:]):
        assert tells_of(one, other), f"{one} says nothing of {other}"
    assert answer in (ROOT / files[-1]).read_text(encoding="utf-8")


class Arrived(BaseException):
    """A run has come to the compiler."""


def test_a_run_is_few_calls_from_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that docs/architecture.md tells of, in its order."""
    calls: list[tuple[str, str]] = []

    def arrive(*_: Any) -> None:
        stack = traceback.extract_stack()
        calls.extend((frame.filename, frame.name) for frame in stack)
        raise Arrived

    monkeypatch.setattr(backend, "compile_segment", arrive)
    with tf.Graph().as_default(), settings.override(jit="always"), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None])
        with pytest.raises(Arrived):
            session.run(tf.exp(x), {x: [1.0]})
    first = max(n for n, (file, _) in enumerate(calls) if file.endswith("session/session.py"))
    between = calls[first:-1]  # the last is `arrive`
    assert between[0][1] == "run" and len(between) <= 7
    files = list(dict.fromkeys(file for file, _ in between))
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    (way,) = re.findall(r"machine code it is this way;(.*?)There are two ways to run", page, re.S)
    told = [*dict.fromkeys(re.findall(r"`([\w/]+\.py)`", way))]
    places = [[n for n, name in enumerate(told) if file.endswith(name)] for file in files]
    assert all(len(place) == 1 for place in places)
    assert places == sorted(places)
