# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels know where they come from, and compiling says why it was needed."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.cache import admin
from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.runtime import recompile_warning

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path) -> Iterator[None]:
    """A cache and a memory of compiled kernels of this test's own."""
    known = dict(compiler._DONE)
    compiler._DONE.clear()
    with settings.override(cache=tmp_path, jit="always"), tf.Graph().as_default():
        yield
    compiler._DONE.update(known)


def test_entries_name_their_operations_and_the_users_line() -> None:
    x = tf.placeholder(tf.float32, [None], "x")
    y = tf.sin(x, name="wave") * 3.25
    with tf.Session() as session:
        session.run(y, {x: np.ones(7)})
    (item,) = [item for item in admin.items() if "wave" in item.ops]
    file, _, line = item.line.rpartition(":")
    assert file == __file__ and "3.25" in Path(file).read_text().splitlines()[int(line) - 1]
    assert item.ops[-1] == "mul" and item.seconds > 0 and item.created > 1e9


def test_timing_says_why_a_kernel_was_compiled(capsys: pytest.CaptureFixture[str]) -> None:
    x = tf.placeholder(tf.float32, [None], "x")
    y = tf.cos(x) * 4.25
    with settings.override(debug="timing"), tf.Session() as session:
        session.run(y, {x: np.ones(7)})
        assert "the cache has no kernel like it" in capsys.readouterr().err
        session.run(tf.sin(x) - 5.25, {x: np.ones(7)})
        assert "a new kernel; the nearest" in capsys.readouterr().err
    with settings.override(debug="timing", target="generic"), tf.Session() as session:
        session.run(y, {x: np.ones(7)})
        told = capsys.readouterr().err
    assert "under other labels" in told and "cpu generic, there" in told


@pytest.fixture
def told(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], list[str]]:
    """The warnings so far; none has been given before."""
    monkeypatch.setattr(logging.getLogger("tensorflow"), "propagate", True)
    monkeypatch.setattr(recompile_warning, "_TOLD", set())
    monkeypatch.setattr(recompile_warning, "_COMPILED", Counter())
    return lambda: [record.getMessage() for record in caplog.records]


def line_of(text: str) -> str:
    """Where a text stands in this file, as warnings name it; here it is not meant itself."""
    lines = Path(__file__).read_text().splitlines()
    (number,) = [n for n, line in enumerate(lines, 1) if text in line and "line_of" not in line]
    return f"{__file__}:{number} "


def test_a_line_that_is_compiled_again_and_again_is_told_of(told: Callable[[], list[str]]) -> None:
    x = tf.placeholder(tf.float32, name="x")
    y = x + 1.0
    with tf.Session() as session:
        for number in range(1, 33):
            # Which sizes are 1 is part of a pattern.
            shape = [int(bit) + 1 for bit in f"{number:06b}"]
            session.run(y, {x: np.ones(shape, np.float32)})
    (text,) = told()
    assert text.startswith(line_of("np.ones(shape, np.float32)")) and "16 times" in text
    assert "which sizes are 0, 1 or equal" in text


def test_a_line_that_runs_one_graph_after_the_other_is_told_of(
    told: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recompile_warning, "_MANY_RUNS", 6)
    for number in range(10):
        with tf.Graph().as_default(), tf.Session() as session:
            x = y = tf.placeholder(tf.float32, [None])
            for _ in range(number + 1):
                y = tf.sin(y)
            session.run(y, {x: [1.0, 2.0]})  # a kernel each time
    (text,) = told()
    assert text.startswith(line_of("# a kernel each time")) and "6 times" in text
    assert "each with kernels of its own" in text


def test_kernels_from_the_cache_are_no_reason_to_warn(told: Callable[[], list[str]]) -> None:
    for number in range(40):  # other numbers are no other kernels
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.float32, [None])
            session.run(x + float(number + 7), {x: [1.0, 2.0]})
    assert told() == []


@pytest.mark.parametrize("kind", ["run", "session each", "never run", "two lines"])
def test_a_line_that_adds_nodes_between_runs_is_told_of(
    told: Callable[[], list[str]], kind: str
) -> None:
    """Once, whether the nodes are run or not, and whatever else compiling would tell."""
    x = tf.placeholder(tf.float32, [None], "x")
    y = x + 1.0
    session = tf.Session()
    for number in range(60):
        grown = x * float(number)  # adds nodes
        if kind == "session each":
            session = tf.Session()
        session.run(y if kind == "never run" else grown, {x: [1.0, 2.0]})
        if kind == "two lines":
            session.run(y, {x: [1.0, 2.0]})
    (text,) = told()
    assert text.startswith(line_of("# adds nodes")) and "before every run" in text


def test_a_graph_built_line_by_line_between_runs_is_none_of_these(
    told: Callable[[], list[str]],
) -> None:
    """As in a notebook: every line adds something once."""
    program = "\n".join(f"y = y + 1.0; session.run(y, {{x: [1.0]}})  # {n}" for n in range(60))
    x = tf.placeholder(tf.float32, [None], "x")
    with tf.Session() as session, settings.override(jit="never"):
        exec(compile(program, "<notebook>", "exec"), {"x": x, "y": x, "session": session})
    assert told() == []
