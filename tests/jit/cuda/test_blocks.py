# SPDX-License-Identifier: Apache-2.0
"""The library's forms for GPUs against NumPy: by one thread, by blocks, and as machine code."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.cuda import ptx
from numbaflow.jit.cuda.cuda_kernel import BLOCK, Capability, kernel_text
from numbaflow.jit.cuda.device_plan import Launch
from numbaflow.jit.library import block_order, block_ranking, block_rows, block_scan, block_segments

from .test_ptx import assembled

pytestmark = pytest.mark.cpu
rng = np.random.default_rng(0)


def on_a_device(make: Callable[..., Any], *arrays: np.ndarray) -> tuple[Any, list[str]]:
    """What a program gives on an emulated device, and the forms of its kernels."""
    with tf.Graph().as_default(), settings.override(gpu="emulated", jit="always"):
        given = [tf.placeholder(a.dtype, [None] * a.ndim) for a in arrays]
        made = make(*given)
        with tf.Session() as session:
            found = session.run(made, dict(zip(given, arrays)))
            (arena,) = session.gpu.arenas(session)
            rows = [row for run in arena.runs.values() for row in run.plan.rows]
    return found, [row.text.form for row in rows if isinstance(row, Launch)]


@pytest.mark.process
@pytest.mark.parametrize("name", ["scans", "scatters", "segments", "orders", "squares"])
def test_blocks_under_the_simulator(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "numbaflow.tests.jit.cuda.simulated_blocks", name],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 1


@pytest.mark.parametrize(
    ("shape", "axis"),
    [((5,), 0), ((20_000,), 0), ((300, 70), 1), ((3000, 7), 0), ((2, 9000, 3), 1), ((3, 0), 1)],
)
@pytest.mark.parametrize(
    ("exclusive", "reverse", "dtype"),
    [(False, False, "float32"), (True, False, "int64"), (True, True, "float64")],
)
def test_running_sums(
    shape: tuple[int, ...], axis: int, exclusive: bool, reverse: bool, dtype: str
) -> None:
    x = (10 * rng.standard_normal(shape)).astype(dtype)
    found, forms = on_a_device(lambda v: tf.cumsum(v, axis, exclusive, reverse), x)
    turned = np.flip(x, axis) if reverse else x
    wanted = np.cumsum(turned, axis, np.float64)
    wanted = wanted - turned if exclusive else wanted
    np.testing.assert_allclose(found, np.flip(wanted, axis) if reverse else wanted, 1e-4, 0.01)
    assert BLOCK in forms


@pytest.mark.parametrize(
    ("count", "rows", "tail", "fn"),
    [
        (0, 3, (5,), "sum"),
        (7, 300, (), "max"),
        (900, 70_000, (2,), "prod"),
        (5000, 3, (5,), "sum"),
        (5000, 300, (), "prod"),
        (5000, 70_000, (2,), "sum"),
        (3000, 20_000_000, (), "max"),
    ],
)
def test_unsorted_segments(count: int, rows: int, tail: tuple[int, ...], fn: str) -> None:
    ids = rng.integers(-1, rows, count)
    data = (1 + 0.01 * rng.standard_normal((count, *tail))).astype(np.float32)
    make = getattr(tf, f"unsorted_segment_{fn}")
    found, forms = on_a_device(lambda d, i: make(d, i, rows), data, ids)
    first, combine = {
        "sum": (0, np.add),
        "max": (np.finfo(np.float32).min, np.maximum),
        "prod": (1, np.multiply),
    }[fn]
    wanted = np.full((rows, *tail), first, np.float64)
    combine.at(wanted, ids[ids >= 0], data[ids >= 0])
    np.testing.assert_allclose(found, wanted, rtol=1e-4)
    assert forms.count(BLOCK) >= 3 and "library" not in forms


@pytest.mark.parametrize("count", [1, 40, 3000])
def test_rows_of_variables_with_indices_that_come_again(count: int) -> None:
    ids = rng.integers(0, 20, count).astype(np.int32)
    updates = (1 + 0.01 * rng.standard_normal((count, 3))).astype(np.float32)

    def results(gpu: str) -> Any:
        with tf.Graph().as_default(), settings.override(gpu=gpu, jit="always"):
            state = tf.Variable(np.ones((20, 3), np.float32), use_resource=False)
            given = tf.placeholder(tf.float32, [None, 3])
            places = tf.placeholder(tf.int32, [None])
            steps = [f(state, places, given) for f in (tf.scatter_div, tf.scatter_update)]
            with tf.Session() as session:
                session.run(state.initializer)
                feeds = {given: updates, places: ids}
                return [session.run(step, feeds) for step in steps]

    for mine, theirs in zip(results("emulated"), results("none"), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_an_index_outside_ends_the_updates() -> None:
    with tf.Graph().as_default(), settings.override(gpu="emulated", jit="always"):
        state = tf.Variable(np.zeros(3, np.float32), use_resource=False)
        step = tf.scatter_add(state, tf.placeholder_with_default([2, 0, 3, 0], [None]), np.ones(4))
        with tf.Session() as session:
            session.run(state.initializer)
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[2\] = 3"):
                session.run(step)
            np.testing.assert_array_equal(session.run(state), [1, 0, 1])


def _kernels() -> list[tuple[Any, str]]:
    short, keys = "float32", "uint32 int32 int32 uint32 int32"
    return [
        (block_scan._scan_kernel("add", short, True), "float32 float32 float32"),
        (block_scan._scan_kernel("mul", "float64", False), "float64 float64"),
        (block_scan._sums_kernel("add", short), "float32 float32"),
        (block_order._few_kernel("uint32"), "uint32 uint32 int32"),
        (block_order._counts_kernel("uint32"), "uint32 int32"),
        (block_order._moves_kernel("uint32", True), keys),
        (block_rows._starts_kernel("uint32"), "uint32 int32"),
        (block_rows._ends_kernel("uint32"), "uint32 int32"),
        (block_rows._combine_kernel("add", short, False, 0), "float32 int32 int32 float32"),
        (
            block_segments._segments_kernel("fmax", short, 0, 0, True, 1),
            "float32 int32 int64 float32",
        ),
        (block_ranking._network_kernel(), "uint32 int32"),
        (
            block_segments._product_kernel(short),
            "int64 float32 float32 int32 int32 float32",
        ),
    ]


@pytest.mark.parametrize(("kernel", "dtypes"), _kernels(), ids=lambda v: getattr(v, "name", ""))
def test_no_kernel_spills(kernel: Any, dtypes: str, tmp_path: Path) -> None:
    card = Capability(9, 0)
    told = assembled(ptx.ptx(kernel_text(kernel.over(dtypes.split())), card), card, tmp_path)
    assert told["spilled"] == 0 and told["registers"] <= 128


@pytest.mark.parametrize(
    ("shape", "kept", "dtype"),
    [
        ((5, 30), 4, "float32"),
        ((5, 30), 30, "float32"),
        ((3, 1100), 7, "float64"),
        ((3, 100), 9, "float32"),
        ((2, 129), 129, "int32"),
        ((2, 4096), 5, "float32"),
        ((1, 3000), 3000, "float32"),
        ((5000,), 9, "float32"),
        ((2, 2, 1100), 3, "int32"),
        ((3, 40), 40, "uint8"),
    ],
)
def test_largest_elements(shape: tuple[int, ...], kept: int, dtype: str) -> None:
    x = np.round(20 * rng.random(shape), 1).astype(dtype)
    for is_number in (True, False):
        if not is_number and "float" in dtype:
            x.reshape(-1)[3] = np.nan
        (values, places), forms = on_a_device(lambda v: tuple(tf.nn.top_k(v, kept)), x)
        with tf.Graph().as_default(), tf.Session() as session:
            wanted = session.run(tuple(tf.nn.top_k(x, kept)))
        np.testing.assert_array_equal(values, wanted[0])
        np.testing.assert_array_equal(places, wanted[1])
        assert forms.count(BLOCK) >= 2


def test_networks_serve_rows_of_all_lengths() -> None:
    """The one that was chosen for the first rows takes longer ones, too, and shorter ones."""
    with tf.Graph().as_default(), settings.override(gpu="emulated", jit="always"):
        x = tf.placeholder(tf.float32, [None, None])
        found = tf.nn.top_k(x, 2)
        with tf.Session() as session:
            for length in (100, 2, 3, 5000, 64, 65, 4096, 4097):
                fed = np.round(rng.standard_normal((2, length)), 2).astype(np.float32)
                values, places = session.run(found, {x: fed})
                order = np.argsort(-fed, 1, "stable")[:, :2]
                np.testing.assert_array_equal(places, order)
                np.testing.assert_array_equal(values, np.take_along_axis(fed, order, 1))


@pytest.mark.parametrize(("shape", "dtype"), [((50,), "bool"), ((7, 90, 5), "float32")])
def test_places_of_what_is_not_zero(shape: tuple[int, ...], dtype: str) -> None:
    x = (rng.random(shape) < 0.4).astype(dtype)
    found, forms = on_a_device(tf.where, x)
    np.testing.assert_array_equal(found, np.argwhere(x))
    assert BLOCK in forms and "library" not in forms


@pytest.mark.parametrize(("count", "dtype"), [(1, "int32"), (50, "int32"), (3000, "int64")])
def test_distinct_numbers_and_permutations(count: int, dtype: str) -> None:
    x = rng.integers(-count // 3, count // 3 + 1, count).astype(dtype)
    (new, number, often), forms = on_a_device(lambda v: tuple(tf.unique_with_counts(v)), x)
    values, first, counts = np.unique(x, return_index=True, return_counts=True)
    order = np.argsort(first)
    np.testing.assert_array_equal(new, values[order])
    np.testing.assert_array_equal(often, counts[order])
    np.testing.assert_array_equal(new[number], x)
    assert "library" not in forms
    p = rng.permutation(count).astype(dtype)
    found, _ = on_a_device(tf.invert_permutation, p)
    np.testing.assert_array_equal(found, np.argsort(p))
    for wrong in (p[-1], count + 1, -1):
        bad = np.append(p, wrong).astype(dtype)
        with pytest.raises(tf.errors.InvalidArgumentError):
            on_a_device(tf.invert_permutation, bad)


@pytest.mark.parametrize("axes", [(0, 3, 1, 2), (3, 2, 1, 0), (3, 1, 2, 0), (1, 0, 2, 3)])
def test_transposes_go_through_squares(axes: tuple[int, ...]) -> None:
    x, y = (rng.standard_normal(n, np.float32) for n in ((17, 3, 4, 40), (17, 3, 4, 40)))
    other = y.transpose(axes).copy()
    found, _ = on_a_device(lambda v, w: tf.transpose(v, axes) * w + 1.0, x, other)
    np.testing.assert_array_equal(found, x.transpose(axes) * other + np.float32(1))


def test_an_array_of_tensors_is_copied_by_all_threads() -> None:
    x = rng.standard_normal((6, 3, 5), np.float32)

    def summed(v: Any) -> Any:
        count = tf.shape(v)[0]
        given = tf.TensorArray(tf.float32, count, clear_after_read=False).unstack(v)
        made = tf.TensorArray(tf.float32, count)
        _, _, made = tf.while_loop(
            lambda i, *_: i < count,
            lambda i, s, a: (i + 1, s + given.read(i), a.write(i, (s + given.read(i)) ** 2)),
            [0, tf.zeros([3, 5]), made],
        )
        y = made.stack()
        return y, tf.gradients(y, v)[0]

    found, forms = on_a_device(summed, x)
    with tf.Graph().as_default(), tf.Session() as session:
        given = tf.constant(x)
        wanted = session.run(summed(given))
    for mine, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)
    assert forms
