# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels know where they come from, and compiling says why it was needed."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.jit import cache_admin, settings
from numbaflow.jit import compile as compiler

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
    (item,) = [item for item in cache_admin.items() if "wave" in item.ops]
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


def test_a_line_that_is_compiled_again_and_again_is_told_of(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("tensorflow"), "propagate", True)
    x = tf.placeholder(tf.float32, name="x")
    y = x + 1.0
    with tf.Session() as session:
        for number in range(1, 33):
            # Which sizes are 1 is part of a pattern.
            shape = [int(bit) + 1 for bit in f"{number:06b}"]
            session.run(y, {x: np.ones(shape, np.float32)})
    (text,) = [r.getMessage() for r in caplog.records if "has been compiled" in r.getMessage()]
    assert text.startswith(f"{__file__}:") and "16 times" in text
