# SPDX-License-Identifier: Apache-2.0
"""Random numbers: TensorFlow 1.15's own for the same seeds, run after run."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.ops.random import philox

# What TensorFlow 1.15.5 gives for graph seed 42 and op seed 7, in the first and second run.
UNIFORM = [
    [0.8627676963806152, 0.6567625999450684, 0.9905458688735962, 0.9031013250350952],
    [0.06553566455841064, 0.1508927345275879, 0.4699270725250244, 0.42449259757995605],
]
NORMAL = [
    [-0.4527415633201599, -0.3004075288772583, -0.07882861793041229, 0.11306749284267426],
    [1.8963923454284668, 1.3616231679916382, 0.56142657995224, -1.0932316780090332],
]
TRUNCATED_FIFTH = [-1.4650040864944458, 0.7145650386810303]
INTEGERS = [[276, 788, 629, 123], [604, 864, 592, 306]]
DOUBLES = [
    [0.9021424253597159, 0.9243672693206022, 0.8694461586329445],
    [0.7718061617458547, 0.08586815553361671, 0.03193709352212437],
]
SHUFFLED = [[4, 0, 3, 5, 1, 2], [4, 1, 2, 3, 0, 5]]
BY_POSITION = [[0.39065873622894287, 0.26149749755859375], [0.5423532724380493, 0.596683144569397]]


@pytest.mark.pure
def test_known_answers_of_philox():
    # The published vectors of Philox4x32-10.
    ones = (1 << 128) - 1
    blocks = [philox.Philox(0, 0).blocks(1)[0], philox.Philox(ones, (1 << 64) - 1).blocks(1)[0]]
    assert [hex(x) for x in blocks[0]] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]
    assert [hex(x) for x in blocks[1]] == ["0x408f276d", "0x41c83b0e", "0xa20bc7c6", "0x6d5451fd"]


@pytest.mark.pure
def test_blocks_do_not_depend_on_where_one_starts():
    at = philox.Philox((1 << 64) - 3 | 5 << 64, 12345)
    whole = at.blocks(10)
    np.testing.assert_array_equal(whole[4:], at.skip(4).blocks(6))
    np.testing.assert_array_equal(whole[1::3], at.blocks(3, stride=3, offset=1))


@pytest.mark.programs
def test_two_runs_give_the_numbers_of_tensorflow():
    with tf.Graph().as_default(), settings.override(jit="never"), tf.Session() as session:
        tf.set_random_seed(42)
        fetches = [
            tf.random_uniform([5], seed=7),
            tf.random_normal([5], seed=7),
            tf.truncated_normal([5], seed=7),
            tf.random_uniform([4], 0, 1000, dtype=tf.int32, seed=7),
            tf.random_uniform([3], dtype=tf.float64, seed=7),
            tf.random_shuffle(tf.range(6), seed=7),
            tf.random_uniform([2]),
        ]
        for run in range(2):
            uniform, normal, truncated, integers, doubles, order, last = session.run(fetches)
            np.testing.assert_array_equal(uniform[:4], np.float32(UNIFORM[run]))
            np.testing.assert_allclose(normal[:4], NORMAL[run], rtol=3e-7)
            np.testing.assert_allclose(truncated[4], TRUNCATED_FIFTH[run], rtol=3e-7)
            np.testing.assert_array_equal(integers, INTEGERS[run])
            np.testing.assert_array_equal(doubles, DOUBLES[run])
            np.testing.assert_array_equal(order, SHUFFLED[run])
            # Without a seed of its own, an op's place in the graph is its seed.
            np.testing.assert_array_equal(last, np.float32(BY_POSITION[run]))


@pytest.mark.pure
def test_truncated_normals_stay_inside():
    draws = philox.truncated_normal(philox.Philox.seeded(3, 4), (10_000,), np.dtype(np.float32))
    assert np.abs(draws).max() < 2
    assert abs(float(draws.mean())) < 0.03


@pytest.mark.programs
def test_empty_range_of_integers_is_refused():
    with tf.Graph().as_default(), settings.override(jit="never"), tf.Session() as session:
        draws = tf.random_uniform([2], 5, 5, dtype=tf.int32)
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="Need minval < maxval, got 5 >= 5"
        ):
            session.run(draws)


@pytest.mark.cpu
@pytest.mark.parametrize("mode", ["never", "auto", "always"])
@pytest.mark.parametrize(
    "draw",
    [
        lambda: tf.random_uniform([5], seed=7),
        lambda: tf.random_shuffle(tf.range(6), seed=7),
        lambda: tf.random_gamma([5], 2.0, seed=7),
        lambda: tf.multinomial([[0.0, 0.0, 0.0]], 5, seed=7),
    ],
)
def test_what_a_run_draws_for_nobody_is_drawn(draw, mode):
    """Others wait for it, and read nothing of it: the next run's numbers come behind it."""

    def draws(fetched):
        with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
            tf.set_random_seed(42)
            numbers = draw()
            with tf.control_dependencies([numbers]):
                after = tf.placeholder_with_default(1.0, []) * 2.0
            fetches = {"numbers": numbers, "after": after, "operation": numbers.op}
            return [session.run(fetches[name]) for name in fetched]

    want = draws(["numbers"] * 5)
    got = draws(["after", "numbers", "after", "operation", "numbers"])
    np.testing.assert_array_equal(got[1], want[1])
    np.testing.assert_array_equal(got[4], want[4])
