# SPDX-License-Identifier: Apache-2.0
"""Operations whose sizes depend on data begin a plan of their own, once the sizes are known."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.codegen.compile import STATS
from numbaflow.jit.runtime import runner

pytestmark = pytest.mark.cpu
RNG = np.random.default_rng(3)


def both(fetches, feeds):
    """Results by reference kernels and compiled, and what compiled runs left to the host."""
    with settings.override(jit="never"), tf.Session() as session:
        want = session.run(fetches, feeds[0])
    with settings.override(jit="always"), tf.Session() as session:
        run = runner.make_runner(session, session.graph, fetches, [], list(feeds[0]))
        hosted = set()
        run.evaluate.meter.add = lambda op, *_: hosted.add(op.type)
        got = [run([np.asarray(v) for v in each.values()]) for each in feeds]
    return want, got, hosted


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "max", "min"])
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_segments_are_compiled_whatever_their_number(name, dtype):
    data, ids = tf.placeholder(dtype, [None, 3]), tf.placeholder(tf.int64, [None])
    reduced = getattr(tf.math, f"segment_{name}")(data * 2, ids * 1)
    values = RNG.integers(-9, 9, (40, 3)).astype(dtype)
    feeds = [
        {data: values[:n], ids: np.sort(RNG.integers(0, most, n))} for n, most in ((40, 9), (7, 30))
    ]
    want, got, hosted = both([reduced + 1], feeds)
    np.testing.assert_array_equal(got[0][0], want[0])
    assert got[1][0].shape == (int(feeds[1][ids][-1]) + 1, 3)
    # Means of integers are rounded as only the reference kernel does it.
    assert hosted == ({"SegmentMean"} if (name, dtype) == ("mean", np.int32) else set())


def test_a_nan_counts_for_nothing_unless_it_is_alone():
    data, ids = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [None])
    fetches = [tf.segment_max(data, ids), tf.segment_min(data, ids)]
    nan = np.nan
    values = np.float32([nan, 1, nan, nan, nan, 2, nan, 3, -0.0, 0.0])
    want, got, _ = both(fetches, [{data: values, ids: np.int32([0, 0, 1, 1, 3, 5, 5, 5, 6, 6])}])
    for expected, actual in zip(want, got[0], strict=True):
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize(
    ("ids", "message"),
    [([1, 0, 2], "not increasing"), ([-1, 0, 2], "out of range"), ([0, 1], "same size")],
)
def test_wrong_ids_are_refused_as_by_reference_kernels(ids, message):
    data, segments = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [None])
    reduced = tf.segment_sum(tf.exp(data), segments) + 1
    for mode in ("never", "always"):
        with settings.override(jit=mode), tf.Session() as session:
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                session.run(reduced, {data: [1.0, 2.0, 3.0], segments: ids})
            ones = session.run(reduced, {data: np.zeros(3), segments: [0, 0, 2]})
            np.testing.assert_array_equal(ones, np.float32([3, 1, 2]))


def test_no_rows_at_all():
    data, ids = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.int32, [None])
    reduced = tf.segment_sum(data, ids)
    with settings.override(jit="always"), tf.Session() as session:
        for rows in (0, 1, 0, 3):
            found = session.run(reduced, {data: np.ones([rows, 2]), ids: np.zeros(rows)})
            np.testing.assert_array_equal(found, np.full([min(rows, 1), 2], rows))


def test_counts_that_are_computed_are_sizes_of_the_next_plan():
    """One plan serves all counts, and nothing of it runs on the host."""
    data, ids = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.int32, [None])
    count = tf.reduce_max(ids) + 1
    summed = tf.unsorted_segment_sum(tf.exp(data), ids, count)
    tiled = tf.tile(tf.range(count), [2])
    feeds = []
    for n, most in ((10, 5), (20, 9), (11, 17), (30, 4)):
        where = RNG.integers(0, most, n)
        feeds.append({data: RNG.standard_normal((n, 2)).astype("f"), ids: where.astype("i")})
    want, got, hosted = both([summed, tiled], feeds[:1])
    for expected, actual in zip(want, got[0], strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-6)
    assert not hosted
    with settings.override(jit="always"), tf.Session() as session:
        session.run([summed, tiled], feeds[0])
        before = STATS.compiles + STATS.hits
        for feed in feeds[1:]:
            rows, numbers = session.run([summed, tiled], feed)
            size = int(feed[ids].max()) + 1
            assert rows.shape == (size, 2)
            np.testing.assert_array_equal(numbers, [*range(size)] * 2)
        assert STATS.compiles + STATS.hits == before


def test_an_operation_at_the_very_beginning():
    ids = tf.placeholder(tf.int32, [None])
    summed = tf.segment_sum(tf.constant([1.0, 2.0, 4.0]), ids)
    _, got, hosted = both([summed], [{ids: np.int32(w)} for w in ([0, 0, 1], [0, 3, 3])])
    np.testing.assert_array_equal(got[0][0], np.float32([3, 4]))
    np.testing.assert_array_equal(got[1][0], np.float32([1, 0, 0, 6]))
    assert not hosted


def test_what_is_not_compiled_with_its_sizes_either_runs_on_the_host():
    """The attempt is made once."""
    x, k = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [None])
    text = tf.tile(tf.as_string(tf.exp(x)), [tf.reduce_max(k)])
    with settings.override(jit="always"), tf.Session() as session:
        for times in (2, 3, 2):
            found = session.run(text, {x: [0.0], k: [1, times]})
            assert list(found) == [b"1.000000"] * times
