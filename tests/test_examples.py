# SPDX-License-Identifier: Apache-2.0
"""The examples run to the figures that they promise."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import numbaflow as tf

EXAMPLES = Path(__file__).parent.parent / "examples"

pytestmark = pytest.mark.cpu


def run(name: str, *arguments: str, advice: str = "") -> str:
    """What an example prints; on standard error it may give such advice and nothing else."""
    command = [sys.executable, "-m", "numbaflow", "run", str(EXAMPLES / name), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    # On a slow or busy machine reading pictures takes long enough to be told of.
    lines = [line for line in done.stderr.splitlines() if "ops that are not compiled" not in line]
    assert all(advice and advice in line for line in lines), done.stderr
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


# Queues' threads decode one picture at a time, which is what takes the time there.
ADVICE = "goes into ops that are not compiled: DecodePng"


def tags(folder: Path) -> set[str]:
    """What TensorBoard would find in the event files of a folder."""
    return {
        value.tag
        for path in folder.glob("events.out.tfevents.*")
        for event in tf.train.summary_iterator(str(path))
        for value in event.summary.value
    }


@pytest.mark.slow
def test_digits_queues(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    text = run("digits_queues.py", "--logdir", str(tmp_path), advice=ADVICE)
    assert number(r"(\d+) test images", text) == 360
    assert number(r"accuracy: ([\d.]+) %", text) >= 90
    assert {"loss", "digits/image/3", "network/hidden/kernel_1", "test accuracy"} <= tags(tmp_path)


@pytest.mark.slow
def test_photo_patches(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    text = run("photo_patches.py", "--logdir", str(tmp_path), advice=ADVICE)
    assert number(r"test accuracy: ([\d.]+) %", text) >= 85
    assert {"loss", "accuracy", "squares/image/0"} <= tags(tmp_path)
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-80")


@pytest.mark.slow
def test_photo_patches_data_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    folders = tmp_path / "stopped", tmp_path / "whole"
    texts = []
    for folder, steps in zip((folders[0], *folders), ("45", "60", "60")):
        arguments = ("--logdir", str(folder), "--steps", steps)
        texts.append(run("photo_patches_data.py", *arguments, advice=ADVICE))
    assert "goes on from step 45" in texts[1]
    first, second = (number(r"step 60: loss ([\d.]+)", text) for text in texts[1:])
    assert first == second
    assert number(r"test accuracy: ([\d.]+) %", texts[2]) >= 85
    assert {"loss", "squares/image/0"} <= tags(folders[0])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="tasks are ended by signals")
@pytest.mark.parametrize("style", ["monitored", "sync", "in-graph"])
def test_digits_cluster(style: str) -> None:
    pytest.importorskip("sklearn")
    command = ["cluster", "run", "--local", "--grace", "2", "--ps", "1", "--workers", "2"]
    program = [str(EXAMPLES / "digits_cluster.py"), "--", "--style", style]
    done = subprocess.run(
        [sys.executable, "-m", "numbaflow", *command, *program],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.findall(r"\[worker 0\] test accuracy ([\d.]+)", done.stdout)
    assert found and float(found[-1]) > 0.9, done.stdout


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="tasks are ended by signals")
def test_digits_workers() -> None:
    pytest.importorskip("sklearn")
    text = run("digits_workers.py", "--steps", "200")
    rates = re.search(r"last batches: ([\d.]+) ([\d.]+)", text)
    assert rates is not None and min(map(float, rates.groups())) > 0.8, text
