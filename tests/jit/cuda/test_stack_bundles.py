# SPDX-License-Identifier: Apache-2.0
"""Stacks that a turn of a loop uses side by side take two launches for all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.cuda import ptx
from numbaflow.jit.cuda.cuda_kernel import Capability
from numbaflow.jit.cuda.device_plan import Launch
from numbaflow.jit.cuda.device_stacks import bundled
from numbaflow.jit.cuda.stack_bundles import Bundle
from numbaflow.jit.library import stacks_kernels
from numbaflow.jit.library.plain_vocabulary import Arguments
from numbaflow.jit.library.step_table import HELD, MEMORY, NEEDED, RECORD

from .test_ptx import assembled

pytestmark = pytest.mark.cpu
rng = np.random.default_rng(0)
TURNS = 5


class Found(NamedTuple):
    """What two runs give, the kernels of their rows, and the launches of the second run."""

    first: list[np.ndarray]
    second: list[np.ndarray]
    names: list[str]
    launches: int


def recurrent(x: Any) -> list[Any]:
    """What a loop that keeps several values in each turn ends with, and its gradient."""

    def turn(i: Any, one: Any, other: Any) -> tuple[Any, ...]:
        gate = tf.sigmoid(one * other + x)
        return i + 1, tf.tanh(other * gate), one * gate + tf.sin(other)

    _, one, other = tf.while_loop(lambda i, *_: i < TURNS, turn, [0, x, tf.cos(x)])
    return [one, tf.gradients(one * other, x)[0]]


def on_a_device(values: np.ndarray) -> Found:
    with tf.Graph().as_default(), settings.override(gpu="emulated", jit="always"):
        x = tf.placeholder(tf.float32, [None])
        wanted = recurrent(x)
        with tf.Session() as session:
            first = session.run(wanted, {x: values})
            (arena,) = session.gpu.arenas(session)
            before = arena.device.launches
            second = session.run(wanted, {x: values})
            (run,) = arena.runs.values()
            names = [row.name for row in run.plan.rows if isinstance(row, Launch)]
            return Found(first, second, names, arena.device.launches - before)


@pytest.mark.parametrize("count", [1, 7, 20_000])
def test_loops_and_their_gradients(count: int) -> None:
    values = rng.standard_normal(count, np.float32)
    values[:1] = np.nan
    found = on_a_device(values)
    with tf.Graph().as_default(), settings.override(gpu="none"), tf.Session() as session:
        theirs = session.run(recurrent(tf.constant(values)))
    for mine, again, wanted in zip(found.first, found.second, theirs, strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(mine, again)


def test_a_turn_begins_two_launches_for_all_that_it_keeps() -> None:
    found = on_a_device(np.ones(3, np.float32))
    kept = found.names.count("stack_put")
    assert kept == found.names.count("stack_look") == found.names.count("stack_taken") >= 3
    others = sum(not name.startswith("stack_") for name in found.names)
    # Two for what each turn puts, two for what it takes; and what is emptied before all turns.
    assert found.launches <= 1 + TURNS * (others + 4)


def a_stack(items: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """A record, and the memory of its items, int32 each."""
    memory, record = np.array([*items, 0, 0, 0], np.int32), np.zeros(RECORD, np.int64)
    record[[MEMORY, HELD, NEEDED]] = memory.ctypes.data, len(items), len(items) + 1
    return record, memory


def done(bundle: Bundle, tile: int = 4) -> None:
    """Does what a bundle says, by the kernels' functions."""
    moves = np.array(bundle.moves, np.int64)
    changes = np.array(list(bundle.changes.items()), np.int64)
    for first in range(0, 8, tile):
        words = Arguments([moves.ctypes.data], ["int64"])
        stacks_kernels.moves(words, 0, len(moves), first, min(first + tile, 8), 0)
    stacks_kernels.changes(Arguments([changes.ctypes.data], ["int64"]), 0, len(changes), 0, 1, 0)


@pytest.mark.parametrize("tile", [1, 3, 4, 8])
def test_items_of_one_stack_come_one_behind_the_other(tile: int) -> None:
    record, memory = a_stack([5])
    given = np.array([7, 8, 9], np.int32)
    bundle = Bundle()
    where = record.ctypes.data
    blocks = [np.array([given[i:].ctypes.data, 4, 4, 0, where]) for i in range(3)]
    for block in blocks:
        assert bundle.move(block.ctypes.data, where, int(block[0]), 4, puts=True)
        assert bundle.change(where, 1)
    done(bundle, tile)
    np.testing.assert_array_equal(memory, [5, 7, 8, 9])
    assert (record[HELD], record[NEEDED]) == (4, 5)
    # Back, the last one first; of a stack that has nothing more, nothing is counted.
    bundle, found = Bundle(), np.zeros(2, np.int32)
    for i in range(2):
        assert bundle.change(where, -1)
        block = blocks[i] = np.array([found[i:].ctypes.data, 4, 4, 0, where])
        assert bundle.move(block.ctypes.data, where, int(block[0]), 4, puts=False)
    done(bundle, tile)
    np.testing.assert_array_equal(found, [9, 8])
    assert (record[HELD], record[NEEDED]) == (2, 3)


def test_what_needs_the_row_before_it_is_in_no_bundle_with_it() -> None:
    bundle = Bundle()
    assert bundle.move(0, 1, 100, 8, puts=True)
    assert bundle.move(0, 2, 104, 8, puts=True)  # both read
    assert not bundle.move(0, 3, 96, 8, puts=False)  # would write to what is still to be read
    assert bundle.move(0, 3, 92, 8, puts=False)
    assert not bundle.move(0, 4, 96, 2, puts=True)  # would read what is written
    assert not bundle.move(0, 4, 96, 2, puts=False)  # would write to it first
    assert not bundle.move(0, 1, 400, 8, puts=False)  # would look at what is put
    assert not bundle.move(0, 5, 400, 1 << 21, puts=True)  # would have the others' threads idle
    assert bundle.change(1, 1) and bundle.change(1, 2)
    assert not bundle.change(1, -1)


@pytest.mark.parametrize("capability", [(8, 0), (9, 0), (10, 0)])
def test_no_kernel_spills(capability: tuple[int, int], tmp_path: Path) -> None:
    card = Capability(*capability)
    for text in bundled():
        told = assembled(ptx.ptx(text, card), card, tmp_path)
        assert told["spilled"] == 0 and told["registers"] <= 64
