# SPDX-License-Identifier: Apache-2.0
"""The examples run to the figures that they promise."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"

pytestmark = pytest.mark.cpu


def run(name: str, *arguments: str) -> str:
    command = [sys.executable, "-m", "numbaflow", "run", str(EXAMPLES / name), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def number(pattern: str, text: str) -> float:
    found = re.search(pattern, text)
    assert found is not None, text
    return float(found.group(1))


def test_linear_regression() -> None:
    text = run("linear_regression.py")
    assert abs(number(r"y = ([\d.]+) x", text) - 3) < 0.01
    assert abs(number(r"x \+ ([\d.]+)", text) - 2) < 0.01


def test_black_scholes() -> None:
    text = run("black_scholes.py", "--options", "100000")
    assert number(r"holds to ([\d.e+-]+)", text) < 1e-4
    assert -1e-6 <= number(r"delta from (-?[\d.]+)", text) <= 0.01
    assert 0.99 <= number(r"to ([\d.]+), mean", text) <= 1 + 1e-6


@pytest.mark.slow
def test_digits_cnn() -> None:
    pytest.importorskip("sklearn")
    text = run("digits_cnn.py")
    assert number(r"test accuracy: ([\d.]+) %", text) >= 98
    assert "the training step:" in text
    assert "\r" not in text


@pytest.mark.slow
def test_digits_cnn_gives_the_same_figure_every_time() -> None:
    pytest.importorskip("sklearn")
    first, second = (
        number(r"test accuracy: ([\d.]+) %", run("digits_cnn.py", "--epochs", "3"))
        for _ in range(2)
    )
    assert first == second
