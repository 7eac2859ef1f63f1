# SPDX-License-Identifier: Apache-2.0
"""Fractional pooling and its gradients, against loops over all regions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu


def regions(rows: Any, columns: Any, overlapping: bool) -> Iterator[tuple[int, int, Any]]:
    """Each output position and its region of an image."""
    more = int(overlapping)
    for i, (top, below) in enumerate(zip(rows[:-1], rows[1:], strict=True)):
        for j, (left, right) in enumerate(zip(columns[:-1], columns[1:], strict=True)):
            yield i, j, np.s_[:, top : below + more, left : right + more]


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("pseudo_random", [False, True])
def test_regions_are_pooled_and_their_gradients_go_back(
    overlapping: bool, pseudo_random: bool
) -> None:
    rng = np.random.default_rng(0)
    data = rng.integers(-4, 5, (2, 9, 8, 3)).astype(np.float32)  # with maxima that come twice
    data[0, 3, 3, 1], data[1, 0, 0, 0] = np.nan, -np.inf
    x = tf.placeholder(tf.float32, data.shape)
    attrs = {"pseudo_random": pseudo_random, "overlapping": overlapping, "seed": 5, "seed2": 6}
    ratio = [1.0, 1.4, 1.7, 1.0]
    top = tf.nn.fractional_max_pool(x, ratio, deterministic=True, **attrs)
    mean = tf.nn.fractional_avg_pool(x, ratio, deterministic=True, **attrs)
    side = rng.normal(size=top[0].shape.as_list()).astype(np.float32)
    slopes = [tf.gradients(pooled[0], x, grad_ys=tf.constant(side))[0] for pooled in (top, mean)]
    with tf.Session() as session:
        (most, rows, columns), (means, *places) = session.run([top, mean], {x: data})
        of_most, of_means = session.run(slopes, {x: data})
    np.testing.assert_array_equal(places[0], rows)
    want_most, want_means = np.zeros((2, *side.shape[1:])), np.zeros((2, *side.shape[1:]))
    want_slope, want_share = np.zeros(data.shape), np.zeros(data.shape)
    for i, j, region in regions(rows, columns, overlapping):
        part = data[region]
        flat = part.reshape(2, -1, 3)
        finite = np.where(np.isnan(flat), -np.inf, flat)
        want_most[:, i, j] = np.maximum(finite.max(1), np.finfo(np.float32).min)
        want_means[:, i, j] = flat.mean(1)
        first = flat.argmax(1)
        for image, channel in np.ndindex(2, 3):
            at = np.unravel_index(first[image, channel], part.shape[1:3])
            want_slope[region][image, at[0], at[1], channel] += side[image, i, j, channel]
        want_share[region] += (side[:, i, j] / flat.shape[1])[:, None, None]
    np.testing.assert_array_equal(most, want_most.astype(np.float32))
    np.testing.assert_allclose(means, want_means, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(of_most, want_slope, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(of_means, want_share, rtol=1e-5, atol=1e-6)


def test_means_of_integers_go_towards_zero() -> None:
    x = tf.constant(np.array([-3, 0, 0, 4, -7, 0, 0, 2]).reshape(1, 2, 4, 1), tf.int32)
    mean = tf.nn.fractional_avg_pool(x, [1.0, 2.0, 2.0, 1.0], deterministic=True, seed=1, seed2=1)
    with tf.Session() as session:
        found, _, columns = session.run(mean)
    np.testing.assert_array_equal(columns, [0, 2, 4])
    np.testing.assert_array_equal(found[0, 0, :, 0], [-2, 1])
