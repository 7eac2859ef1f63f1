# SPDX-License-Identifier: Apache-2.0
"""Kernels of everyday programs: other programs ask for the same, whatever their sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import numbaflow as tf
from numbaflow.cli import everyday
from numbaflow.cli import everyday_losses as losses
from numbaflow.cli import everyday_nets as nets
from numbaflow.cli.main import application
from numbaflow.engine import settings
from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.codegen import instructions
from numbaflow.jit.library import closed_set
from numbaflow.jit.runtime import thread_pool

PROGRAM = everyday.Program(nets.dense_layers(), losses.weighted_classes)


def classifier(features: int, units: tuple[int, ...], batch: int) -> tuple[list[Any], Any]:
    """A user's program: fetches and feeds."""
    x = tf.placeholder(tf.float32, [None, features])
    y = tf.placeholder(tf.int64, [None])
    h = x
    for n in units:
        h = tf.layers.dense(h, n, activation=tf.nn.relu)
    logits = tf.layers.dense(h, 10)
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    right = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32))
    train = tf.train.AdamOptimizer(0.01).minimize(loss)
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((batch, features)).astype(np.float32)
    feeds = {x: rows, y: np.arange(batch) % 10}
    return [train, loss, right], feeds


@pytest.mark.cpu
def test_every_program_is_traced_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some of each kind; what is wrong with one would show when the cache is warmed."""
    for kind, count in (("PROGRAMS", 6), ("OTHERS", 2), ("AGENTS", 1), ("KINDS", 2)):
        known = getattr(everyday, kind)
        monkeypatch.setattr(everyday, kind, known[:: len(known) // count])
    assert len(set(everyday.kernels())) > 60


@pytest.mark.cpu
def test_a_new_program_compiles_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closed_set, "kernels", lambda dtypes=(): iter(()))
    monkeypatch.setattr(instructions, "closed", lambda dtypes=(): iter(()))
    monkeypatch.setattr(everyday, "_built", _one)
    with settings.override(cache=tmp_path / "kernels"):
        done = CliRunner().invoke(application(), ["cache", "warm", "-q"])
        assert done.exit_code == 0, (done.output, done.exception)
        for kernel in thread_pool.kernels():
            compiler.compile_kernel(kernel)
        monkeypatch.setattr(compiler, "_DONE", {})
        tf.set_random_seed(1)
        fetches, feeds = classifier(50, (40, 30, 20), 24)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            before = len(compiler.STATS.names)
            first = session.run(fetches, feeds)[1]
            # (As high as the batch has rows; they are in the library, which is left out here.)
            assert set(compiler.STATS.names[before:]) <= {"tiles"}
            losses = [session.run(fetches, feeds)[1] for _ in range(20)]
            assert losses[-1] < first


def _one(built: Any = everyday._built) -> Any:
    """The first program alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(everyday, "PROGRAMS", (PROGRAM,))
        yield next(iter(built()))
