# SPDX-License-Identifier: Apache-2.0
"""Reductions of what lies otherwise in memory: which loops they become, and what they compute."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu

PERMUTATIONS = [(0, 1, 2), (2, 1, 0), (1, 0, 2), (0, 2, 1), (2, 0, 1), (1, 2, 0)]


@pytest.fixture(autouse=True)
def _compiled() -> Iterator[None]:
    with tf.Graph().as_default(), settings.override(jit="always"):
        yield


def kernels(fetch: Any, feeds: dict[Any, np.ndarray]) -> list[str]:
    """The forms of the kernels of a run."""
    with tf.Session() as session:
        return [kernel.name for kernel in session.explain(fetch, feeds).kernels]


def placeholder(shape: Sequence[int | None]) -> Any:
    return tf.placeholder(tf.float32, shape)


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("perm", PERMUTATIONS)
def test_reductions_of_transposes_are_those_of_numpy(perm: tuple[int, ...], is_known: bool) -> None:
    a = np.random.default_rng(0).standard_normal((37, 20, 70)).astype(np.float32)
    x = placeholder(a.shape if is_known else (None, None, None))
    moved, want = tf.transpose(x, perm), a.transpose(perm)
    found, wanted = {}, {}
    for axes in ((0,), (1,), (2,), (0, 1), (1, 2), (0, 2)):
        found[axes] = tf.reduce_sum(moved, axes)
        wanted[axes] = want.sum(axes)
    found["softmax"] = tf.nn.softmax(moved)
    power = np.exp(want - want.max(-1, keepdims=True))
    wanted["softmax"] = power / power.sum(-1, keepdims=True)
    found["argmax"] = tf.argmax(moved, 2)
    wanted["argmax"] = want.argmax(2)
    found["moments"] = tf.nn.moments(moved, [0, 2])
    wanted["moments"] = want.mean((0, 2)), want.var((0, 2))
    with tf.Session() as session:
        got = session.run(found, {x: a})
    for key in found:
        for mine, theirs in zip(tf.nest.flatten(got[key]), tf.nest.flatten(wanted[key])):
            np.testing.assert_allclose(mine, theirs, rtol=2e-4, atol=2e-4, err_msg=str(key))


def test_complex_numbers_are_turned_whole() -> None:
    rng = np.random.default_rng(0)
    a = (rng.standard_normal((90, 80)) + 1j * rng.standard_normal((90, 80))).astype(np.complex64)
    x, y = tf.placeholder(tf.complex64, a.shape), placeholder((80, 90))
    b = rng.standard_normal((80, 90)).astype(np.float32)
    total = tf.reduce_sum(tf.transpose(x) * tf.cast(y, tf.complex64), 1)
    with tf.Session() as session:
        got = session.run(total, {x: a, y: b})
    np.testing.assert_allclose(got, (a.T * b).sum(1), rtol=1e-4, atol=1e-4)


def test_a_sum_follows_memory_and_not_the_order_of_axes() -> None:
    a = np.ones((100, 90), np.float32)
    x = placeholder(a.shape)
    assert kernels(tf.reduce_sum(x, 0), {x: a}) == ["column"]
    assert kernels(tf.reduce_sum(tf.transpose(x), 1), {x: a}) == ["column"]
    assert kernels(tf.reduce_sum(tf.transpose(x), 0), {x: a}) == ["row"]


@pytest.mark.parametrize("is_known", [True, False])
def test_matrices_are_not_read_across_for_vectors_beside_them(is_known: bool) -> None:
    """Whoever is more: two vectors beside a matrix, another as wide as it, or indices."""
    rng = np.random.default_rng(0)
    a, b = rng.random((40, 30, 50), np.float32), rng.random((40, 30), np.float32)
    x, y, z = (placeholder(v.shape if is_known else [None] * v.ndim) for v in (a, b, b))
    table, rows = placeholder([None, 50]), tf.placeholder(tf.int32, [40, 30])
    c = rng.random((6, 40, 30), np.float32)
    w = placeholder(c.shape if is_known else [None] * 3)
    feeds = {x: a, y: b, z: b + 1, table: a[:, 0], rows: np.arange(1200).reshape(40, 30) % 40, w: c}
    wide = tf.transpose(x, [0, 2, 1])
    weighed = {
        "two factors": tf.reduce_sum(x * y[:, :, None] * z[:, :, None], 1),
        "transposed": tf.reduce_sum(wide * y[:, None, :], 2),
        "found": tf.reduce_sum(tf.gather(table, rows) * x[0], 1),
        "as wide": tf.reduce_sum(x * w[..., None], 2),
    }
    wanted = {
        "two factors": np.einsum("bij,bi->bj", a, b * (b + 1)),
        "transposed": np.einsum("bij,bi->bj", a, b),
        "found": (a[:, 0][feeds[rows]] * a[0]).sum(1),
        "as wide": np.einsum("nij,bni->bnj", a, c),
    }
    with tf.Session() as session:
        got = session.run(weighed, feeds)
    for key, fetch in weighed.items():
        forms = kernels(fetch, feeds)
        assert forms[-1] == "column" and "map" not in forms, key
        np.testing.assert_allclose(got[key], wanted[key], rtol=1e-5, err_msg=key)


def test_sums_of_channels_are_rows() -> None:
    a = np.random.default_rng(0).random((6, 50, 50, 3), np.float32)
    x = placeholder((None, 50, 50, 3))
    mean = tf.reduce_mean(x, [1, 2])
    assert kernels(mean, {x: a}) == ["row"]
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(mean, {x: a}), a.mean((1, 2)), rtol=1e-5)


def test_what_rows_need_several_times_is_turned_once() -> None:
    """Of a few elements it is not, as they are near anyway."""
    a = np.random.default_rng(0).random((100, 90), np.float32)
    x, small = placeholder(a.shape), placeholder((10, 9))
    assert kernels(tf.nn.softmax(tf.transpose(x)), {x: a}) == ["map", "row"]
    assert kernels(tf.nn.softmax(tf.transpose(small)), {small: a[:10, :9]}) == ["row"]
    assert kernels(tf.nn.softmax(x), {x: a}) == ["row"]
