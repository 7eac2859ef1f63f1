# SPDX-License-Identifier: Apache-2.0
"""The line that counts kernels on a terminal while a long first step compiles them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from numbaflow.jit.codegen import progress

pty = pytest.importorskip("pty", reason="there are terminals on POSIX systems only")

pytestmark = pytest.mark.cpu

PROGRAM = """
import sys
import numbaflow as tf
from numbaflow.jit.codegen import progress
progress.PATIENCE = float(sys.argv[1])
x = tf.placeholder(tf.float32, [None, 3])
y = tf.reduce_sum(tf.cosh(x) * 0.37 - tf.sin(x), 0)
z = tf.reduce_prod(tf.cos(x) * tf.sin(x) + tf.log1p(x * 0.37), 1)
w = tf.reduce_min(tf.atan(x) * tf.sinh(x) * x * 0.37, 1)
with tf.Session() as session:
    session.run([y, z, w, tf.reduce_max(tf.tanh(x + tf.reduce_sum(x)))], {x: [[1.0, 2.0, 3.0]]})
"""


def on_terminal(patience: float, cache: Path) -> str:
    """What a program writes on a terminal that is its standard error."""
    master, slave = pty.openpty()
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(patience)],
            stdout=subprocess.PIPE,
            stderr=slave,
            env={**os.environ, "NUMBAFLOW_CACHE": str(cache), "NUMBAFLOW_JIT": "always"},
        )
    finally:
        os.close(slave)
    with open(master, "rb", buffering=0) as terminal, process:
        text = b"".join(pieces(terminal.fileno()))
        assert process.stdout is not None and process.stdout.read() == b""
    assert process.returncode == 0, text
    return text.decode()


def pieces(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # as Linux says that the other side is closed
            return
        if not piece:
            return
        yield piece


def seen(text: str) -> list[str]:
    """The line of a terminal after each return to its beginning, without what is blank."""
    line, lines = "", []
    for piece in text.split("\r"):
        line = piece + line[len(piece) :]
        lines.append(line.rstrip())
    return lines


def test_kernels_are_counted_and_the_line_is_cleared(tmp_path: Path) -> None:
    lines = seen(on_terminal(0.0, tmp_path))
    counts = [line for line in lines if line]
    total = len(set(counts)) + 1
    assert total > 1 and "\n" not in "".join(lines)
    wanted = [f"numbaflow: {n} of {total} kernels compiled" for n in range(1, total)]
    assert list(dict.fromkeys(counts)) == wanted and not lines[-1]
    # The second process finds all kernels in the cache.
    assert on_terminal(0.0, tmp_path) == ""


def test_what_is_soon_over_shows_no_line(tmp_path: Path) -> None:
    assert on_terminal(1000.0, tmp_path) == ""


def test_no_line_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    assert list(progress.shown(range(5), 5)) == list(range(5))
    monkeypatch.setattr(sys, "stderr", None)
    assert list(progress.shown(range(5), 5)) == list(range(5))
    assert capsys.readouterr() == ("", "")


def test_a_line_is_cleared_whatever_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    master, slave = pty.openpty()
    monkeypatch.setattr(progress, "PATIENCE", -1.0)

    def items() -> Iterator[int]:
        yield 1
        raise KeyboardInterrupt

    with open(master, "rb", buffering=0) as screen:
        with open(slave, "w") as terminal, monkeypatch.context() as patched:
            patched.setattr(sys, "stderr", terminal)
            with pytest.raises(KeyboardInterrupt):
                list(progress.shown(items(), 3))
            text = screen.read(4096)
        lines = seen((text + b"".join(pieces(screen.fileno()))).decode())
    assert "numbaflow: 1 of 3 kernels compiled" in lines and not lines[-1]
