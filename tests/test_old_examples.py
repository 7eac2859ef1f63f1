# SPDX-License-Identifier: Apache-2.0
"""Programs as they were written for TensorFlow 1 lose here, step by step, what they lost there.

old_examples_1_15.json has the losses of their first 50 steps, as TensorFlow 1.15.5 printed them:

    $NUMBAFLOW_TF115_PYTHON examples/old/NAME.py --steps 50 --every 1
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from .test_examples import EXAMPLES, number, run

pytestmark = pytest.mark.cpu

RECORDED = json.loads((Path(__file__).parent / "old_examples_1_15.json").read_text())
OPTIONS = ("--steps", "50", "--every", "1")
# Program -> what it prints when it has learnt, and the least that is promised.
PROMISES = {
    "crf_tagger": (r"tags right: ([\d.]+) %", 97),
    "dcgan": (r"pictures correlate by ([\d.]+)", 0.8),
    "dqn": (r"in the last episodes: ([\d.]+)", 100),
    "seq2seq_attention": (r"rows without a fault: ([\d.]+) %", 90),
    "slim_fine_tuning": (r"two others: ([\d.]+) % right", 90),
    "wide_deep": (r"area under the curve: ([\d.]+)", 0.75),
    "word2vec": (r"neighbours of the same topic: ([\d.]+) %", 90),
}


def losses(text: str) -> list[float]:
    return [float(value) for value in re.findall(r"step \d+: loss (-?[\d.]+)", text)]


def test_each_program_is_recorded() -> None:
    programs = {path.stem for path in (EXAMPLES / "old").glob("*.py")}
    assert programs == set(RECORDED) == {*PROMISES, "char_rnn"}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(RECORDED))
def test_losses_are_those_of_tensorflow_1(name: str) -> None:
    found, recorded = losses(run(f"old/{name}.py", *OPTIONS)), RECORDED[name]
    assert len(found) == len(recorded) >= 50
    np.testing.assert_allclose(found, recorded, rtol=1e-3, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PROMISES))
def test_programs_learn_what_they_promise(name: str) -> None:
    pattern, least = PROMISES[name]
    assert number(pattern, run(f"old/{name}.py")) >= least


@pytest.mark.slow
def test_rows_that_are_written_count_up() -> None:
    text = run("old/char_rnn.py")
    sums = re.findall(r"^(\d) \+ (\d) = (\d+)$", text, re.MULTILINE)
    assert len(sums) >= 3 and all(int(a) + int(b) == int(c) for a, b, c in sums)


@pytest.mark.tf
@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(RECORDED))
def test_the_record_is_what_tensorflow_1_prints(name: str) -> None:
    python = os.environ.get("NUMBAFLOW_TF115_PYTHON")
    if not python:
        pytest.skip("NUMBAFLOW_TF115_PYTHON names no TensorFlow 1.15")
    command = [python, str(EXAMPLES / "old" / f"{name}.py"), *OPTIONS]
    clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=True, env=clean
    )
    np.testing.assert_allclose(losses(done.stdout), RECORDED[name], rtol=1e-4, atol=1e-5)
