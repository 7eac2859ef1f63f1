# SPDX-License-Identifier: Apache-2.0
"""A run for which there is no memory says how much it wanted, and what for."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu


@pytest.mark.parametrize("jit", ["auto", "always"])
def test_the_largest_buffers_are_listed(jit: str) -> None:
    # More than processors can address: no system gives so much.
    rows, columns = 1 << 23, 1 << 24
    with settings.override(jit=jit), tf.Graph().as_default(), tf.Session() as session:
        n = tf.placeholder(tf.int32, [2])
        filled = tf.fill(n, tf.placeholder_with_default(1.5, []), name="filled")
        total = tf.reduce_sum(tf.matmul(filled, filled, transpose_b=True, name="product"))
        wave = tf.sin(filled, name="wave")
        assert session.run(total, {n: [2, 3]}) == pytest.approx(27.0)
        for fetch, name in ((total, "filled"), (wave, "wave")):
            with pytest.raises(tf.errors.ResourceExhaustedError) as caught:
                session.run(fetch, {n: [rows, columns]})
            message = caught.value.message
            assert message.startswith("OOM when allocating the memory of a run: ")
            assert f"562.9 TB  between   float32[{rows},{columns}]  {name}" in message
        # What there is memory for runs as before.
        np.testing.assert_allclose(session.run(wave, {n: [1, 2]}), np.sin([[1.5, 1.5]]), rtol=1e-6)


def test_sizes_that_no_address_has() -> None:
    with settings.override(jit="always"), tf.Graph().as_default(), tf.Session() as session:
        n = tf.placeholder(tf.int32, [])
        cube = tf.fill([n, n, n], tf.placeholder_with_default(1.5, []))
        with pytest.raises(tf.errors.ResourceExhaustedError, match="more bytes than memory"):
            session.run(tf.sin(cube), {n: 2**31 - 1})
        assert session.run(tf.sin(cube), {n: 1}).shape == (1, 1, 1)


def test_sizes_that_no_address_has_learnt_in_the_middle_of_a_run() -> None:
    with settings.override(jit="always"), tf.Graph().as_default(), tf.Session() as session:
        x, amounts = tf.placeholder(tf.float32, [None, None]), tf.placeholder(tf.int32, [2, 2])
        padded, one = tf.pad(x, amounts), np.ones((1, 3), np.float32)
        for amount in (1, 2):
            assert session.run(padded, {x: one, amounts: np.full((2, 2), amount)}).sum() == 3
        with pytest.raises(tf.errors.ResourceExhaustedError, match="more bytes than memory"):
            session.run(padded, {x: one, amounts: np.full((2, 2), 2**31 - 1)})


@pytest.mark.parametrize("sizes", [[2**31 - 1] * 2, [2**31 - 1] * 3])
def test_python_too_has_no_such_sizes(sizes: list[int]) -> None:
    with settings.override(jit="never"), tf.Graph().as_default(), tf.Session() as session:
        n = tf.placeholder(tf.int32, [None])
        with pytest.raises(tf.errors.ResourceExhaustedError, match="OOM when .*'filled' makes"):
            session.run(tf.fill(n, 1.0, name="filled"), {n: sizes})


def test_what_runs_in_python_says_it_too() -> None:
    with settings.override(jit="never"), tf.Graph().as_default(), tf.Session() as session:
        n = tf.placeholder(tf.int32, [2])
        filled = tf.fill(n, 1.0, name="filled")
        with pytest.raises(tf.errors.ResourceExhaustedError, match="OOM when .*'filled' makes"):
            session.run(filled, {n: [1 << 23, 1 << 24]})
