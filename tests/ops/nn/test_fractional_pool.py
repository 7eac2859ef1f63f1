# SPDX-License-Identifier: Apache-2.0
"""Fractional pooling and its gradients, against loops over all regions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.engine.types import nest

pytestmark = pytest.mark.cpu
MODES = ("always", "never")


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


def run(build: Any, x: np.ndarray, mode: str, **config: Any) -> Any:
    """Results for images of which the graph knows all but how many; nothing runs on the host."""
    with tf.Graph().as_default(), settings.override(jit=mode):
        fed = tf.placeholder(x.dtype, [None, *x.shape[1:]])
        fetches = build(fed)
        with tf.Session(config=tf.ConfigProto(**config)) as session:
            if mode == "always":
                assert " host " not in str(session.explain(fetches, {fed: x}))
            return session.run(fetches, {fed: x})


def pooled(x: Any, **attrs: Any) -> Any:
    """Maxima and means, all with the same regions."""
    pools = (tf.nn.fractional_max_pool, tf.nn.fractional_avg_pool)
    seeds = {"deterministic": True, "seed": 3, "seed2": 7}
    return [pool(x, [1.0, 1.44, 1.73, 1.0], **attrs, **seeds) for pool in pools]


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("pseudo_random", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_compiled_pools_are_those_of_the_reference(
    dtype: str, pseudo_random: bool, overlapping: bool
) -> None:
    attrs = {"pseudo_random": pseudo_random, "overlapping": overlapping}
    for shape in ((3, 17, 13, 5), (1, 2, 2, 1), (2, 40, 3, 16)):
        x = (np.random.default_rng(1).normal(size=shape) * 10).astype(dtype)
        if dtype.startswith("float") and x.size > 9:
            x.flat[3], x.flat[7], x.flat[8] = np.nan, np.inf, -np.inf
        got, want = (run(lambda fed: pooled(fed, **attrs), x, mode) for mode in MODES)
        for one, other in zip(got, want, strict=True):
            np.testing.assert_allclose(one[0], other[0], rtol=1e-5, atol=1e-5)
            for bounds, wanted in zip(one[1:], other[1:], strict=True):
                np.testing.assert_array_equal(bounds, wanted)
        assert got[0].output.dtype == x.dtype


@pytest.mark.parametrize("mode", MODES)
def test_no_images_have_no_regions(mode: str) -> None:
    with settings.override(jit=mode), tf.Session() as session:
        fed = tf.placeholder(tf.float32, [None, 9, 9, 2])
        with pytest.raises(tf.errors.InvalidArgumentError, match="ratio is higher than input"):
            session.run(pooled(fed)[0], {fed: np.zeros((0, 9, 9, 2))})


@pytest.mark.parametrize("mode", MODES)
def test_regions_are_others_in_each_run_unless_they_are_fixed(mode: str) -> None:
    x = np.zeros((1, 60, 60, 1), np.float32)
    with settings.override(jit=mode), tf.Session() as session:
        rows = tf.nn.fractional_max_pool(tf.constant(x), [1.0, 1.5, 1.5, 1.0]).row_pooling_sequence
        assert len({session.run(rows).tobytes() for _ in range(4)}) > 1
        fixed = [y.row_pooling_sequence for y in pooled(tf.constant(x))]
        one, other = session.run(fixed), session.run(fixed)
    assert one[0].tobytes() == one[1].tobytes() == other[0].tobytes()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_gradients_take_any_bounds(mode: str, dtype: str) -> None:
    """Regions of nothing, and such as end behind the image, give what lies within."""
    x = np.arange(24).reshape(1, 4, 6, 1).astype(dtype)
    dy = np.arange(1, 7).reshape(1, 2, 3, 1).astype(dtype)
    with settings.override(jit=mode), tf.Session() as session:
        rows, columns = (tf.placeholder(tf.int64, [None]) for _ in range(2))
        of_most = tf.raw_ops.FractionalMaxPoolGrad(
            orig_input=x,
            orig_output=dy,
            out_backprop=dy,
            row_pooling_sequence=rows,
            col_pooling_sequence=columns,
        )
        of_mean = tf.raw_ops.FractionalAvgPoolGrad(
            orig_input_tensor_shape=x.shape,
            out_backprop=dy,
            row_pooling_sequence=rows,
            col_pooling_sequence=columns,
        )
        feeds = {rows: [0, 2, 9], columns: [0, 2, 2, 7]}
        most, mean = session.run([of_most, of_mean], feeds)
        assert most.sum() == dy[:, :, [0, 2]].sum() and mean.dtype == dtype
        assert most[0, 1, 1, 0] == 1 and most[0, 3, 5, 0] == 6
        for fetch in (of_most, of_mean):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Row sequence tensor values"):
                session.run(fetch, {**feeds, rows: [-1, 2, 4]})


def test_threads_do_not_change_a_bit() -> None:
    x = np.random.default_rng(2).normal(size=(64, 31, 29, 7)).astype(np.float32)

    def build(fed: Any) -> Any:
        fed = tf.ensure_shape(fed, x.shape)
        both = pooled(fed, overlapping=True)
        return [y.output for y in both], [tf.gradients(y.output, fed)[0] for y in both]

    one, many = (run(build, x, "always", intra_op_parallelism_threads=count) for count in (1, 2))
    for a, b in zip(nest.flatten(one), nest.flatten(many), strict=True):
        assert a.tobytes() == b.tobytes()
