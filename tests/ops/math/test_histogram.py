# SPDX-License-Identifier: Apache-2.0
"""Histograms of bins of equal width, compiled and by the reference kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu

MODES = ("never", "always")


def counts(mode: str, values: Any, limits: Any, dtype: Any, bins: int = 5) -> Any:
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
        x, ends = tf.placeholder(dtype, [None]), tf.placeholder(dtype, [2])
        found = tf.histogram_fixed_width(x, ends, bins, dtype=tf.int64)
        feed = {x: values, ends: limits}
        result = session.run(found, feed)
        if mode == "always":
            assert "host" not in str(session.explain(found, feed))
    return result


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.int32, tf.int64])
def test_values_outside_are_in_the_outermost_bins(mode: str, dtype: Any) -> None:
    values = np.arange(-20, 30)
    want = np.histogram(np.clip(values, -10, 9), 5, (-10, 10))[0]
    assert counts(mode, values, [-10, 10], dtype).tolist() == want.tolist()
    assert counts(mode, [], [-10, 10], dtype).tolist() == [0] * 5


@pytest.mark.parametrize("mode", MODES)
def test_the_ends_of_numbers_have_bins(mode: str) -> None:
    reals = [np.inf, -np.inf, 3e38, -3e38, 0.0, -1e10]
    assert counts(mode, reals, [-2.0, 2.0], tf.float32).tolist() == [3, 0, 1, 0, 2]
    for limits in ([-np.inf, np.inf], [0.0, np.inf], [-np.inf, 0.0], [-3e38, 3e38]):
        assert counts(mode, reals, limits, tf.float32).tolist() == [6, 0, 0, 0, 0]
    assert counts(mode, [0.0, 1.0], [0.0, 5e-324], tf.float64).tolist() == [2, 0, 0, 0, 0]
    whole = [2**31 - 1, -(2**31), 0]
    assert counts(mode, whole, [-10, 10], tf.int32).tolist() == [1, 0, 1, 0, 1]
    assert counts(mode, whole, [-(2**31), 2**31 - 1], tf.int32).tolist() == [1, 0, 1, 0, 1]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("values", "limits", "message"),
    [
        ([0.0, np.nan], [-2.0, 2.0], "Histogram values must not contain NaN"),
        ([0.0], [2.0, 2.0], "value_range should satisfy"),
        ([], [2.0, -2.0], "value_range should satisfy"),
        ([0.0], [np.nan, 2.0], "value_range should satisfy"),
        ([0.0], [0.0, np.nan], "value_range should satisfy"),
    ],
)
def test_what_has_no_bin_is_refused(
    mode: str, values: list[float], limits: list[float], message: str
) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        counts(mode, values, limits, tf.float32)


@pytest.mark.parametrize("count", [1, 2, 7, 100])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_how_many_bins_there_are_may_be_fed(dtype: str, count: int) -> None:
    values = (np.random.default_rng(1).normal(size=500) * 5).astype(dtype)
    found = []
    for mode in ("always", "never"):
        with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
            nbins = tf.placeholder(tf.int32, [])
            bins = tf.histogram_fixed_width(values, np.array([-3, 3], dtype), nbins)
            found.append(session.run(bins, {nbins: count}))
            if mode == "always":
                assert " host " not in str(session.explain(bins, {nbins: count}))
    np.testing.assert_array_equal(*found)
    assert found[0].sum() == 500
