# SPDX-License-Identifier: Apache-2.0
"""Generators whose state is a variable draw the numbers of TensorFlow 1.15.

generator_1_15.json was made by tests/train/contrib/recording.py of generator_programs.py.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

from ...train.contrib.recording import results
from .generator_programs import PROGRAMS

RECORDED = json.loads(Path(__file__).with_name("generator_1_15.json").read_text())
pytestmark = pytest.mark.programs


@pytest.fixture(autouse=True)
def _never_compiled():
    with settings.override(jit="never"):
        yield


@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers_are_those_of_tensorflow(name):
    found = results(tf, PROGRAMS[name])
    for ours, theirs in zip(found["values"], RECORDED[name]["values"], strict=True):
        # Products of the draws are rounded in another order.
        np.testing.assert_allclose(ours, theirs, rtol=1e-6 if name != "floats" else 2e-3)


def _state_after(make):
    with tf.Graph().as_default(), tf.Session() as session:
        generator = tf.random.experimental.Generator.from_seed([5, -7, 9])
        fetch = make(generator)
        session.run(generator.state.initializer)
        session.run(fetch)
        return session.run(generator.state).tolist()


def test_a_state_moves_on_by_256_blocks_for_each_number():
    assert _state_after(lambda g: g.uniform([3])) == [5 + 3 * 256, -7, 9]
    assert _state_after(lambda g: g.skip(3)) == [5 + 3 * 256, -7, 9]
    assert _state_after(lambda g: g.reset_from_seed(4)) == [4, 0, 0]
    assert _state_after(lambda g: g.reset_from_key_counter(1, [2, 3])) == [2, 3, 1]


def test_generators_that_are_split_off_have_keys_of_their_own():
    with tf.Graph().as_default(), tf.Session() as session:
        first = tf.random.experimental.Generator.from_seed(1)
        parts = first.split(2)
        session.run(first.state.initializer)
        session.run([part.state.initializer for part in parts])
        draws = session.run([part.uniform_full_int([2], tf.int64) for part in (first, *parts)])
        assert len({tuple(draw.tolist()) for draw in draws}) == 3


def test_states_of_seeds():
    state = tf.random.experimental.create_rng_state
    assert state(5, 1).tolist() == [5, 0, 0]
    assert state(1 << 70, 1).tolist() == [0, 64, 0]
    assert state([1, 2], 1).tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="Unsupported algorithm id: 7"):
        state(1, 7)


@pytest.mark.parametrize("algorithm, message", [(2, "Unsupported algorithm id: 2")])
def test_other_algorithms_draw_nothing(algorithm, message):
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable([1, 2, 3], dtype=tf.int64, use_resource=True)
        session.run(v.initializer)
        draw = tf.raw_ops.StatefulUniform(resource=v.handle, algorithm=algorithm, shape=[2])
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(draw)
