# SPDX-License-Identifier: Apache-2.0
"""What a short inner loop walks past is put beside its neighbours; results stay what they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.kernel import scalar
from numbaflow.jit.kernel.size_scope import Scope
from numbaflow.jit.passes import verify_program
from numbaflow.jit.passes.spread_steady import spread_steady
from numbaflow.jit.program.editing import Program
from numbaflow.jit.program.tensor_ir import Compose, Feed, Map, Value
from numbaflow.jit.trace.builder import Builder

pytestmark = pytest.mark.cpu

PIXELS = (None, 20, 20, 4, 8)


class Case:
    """A program with feeds of given shapes; None is a size that only a run knows."""

    def __init__(self, *shapes: tuple[Any, ...]) -> None:
        self.program, self.scope = Program(), Scope()
        self.b = Builder(self.program, self.scope)
        symbols = [self.scope.symbol(9) for _ in range(5)]
        self.feeds = [self._feed(n, shape, symbols) for n, shape in enumerate(shapes)]

    def _feed(self, number: int, shape: tuple[Any, ...], symbols: list[Any]) -> Value:
        sizes = tuple(symbols[axis] if size is None else size for axis, size in enumerate(shape))
        return self.program.add(Feed(number), ("float32", sizes))[0]

    def written(self, *fetches: Value) -> list[list[Any]]:
        """The shapes of what the pass has written, symbolic sizes as None."""
        self.program.fetches = fetches
        spread_steady(self.program, self.scope)
        verify_program.after("spread_steady", self.program)
        made = [node.outputs[0].shape for node in self.program if isinstance(node, Compose)]
        return [[size if isinstance(size, int) else None for size in shape] for shape in made]


def taken_off(*shapes: tuple[Any, ...]) -> list[list[Any]]:
    case = Case(*shapes)
    return case.written(case.b.map(scalar.sub, *case.feeds))


def test_means_of_groups_are_written_for_each_channel() -> None:
    assert taken_off(PIXELS, (None, 1, 1, 4, 1)) == [[None, 1, 1, 4, 8]]
    assert taken_off(PIXELS, (4, 1)) == [[1, 1, 1, 4, 8]]


@pytest.mark.parametrize(
    "shapes",
    [
        (PIXELS, (None, 1, 1, 4, 8)),  # has its neighbours
        (PIXELS, (None, 1, 1, 1, 1)),  # the loop around walks past it, too
        (PIXELS, (None, 20, 20, 4, 1)),  # is read once
        ((None, 20, 20, 4, 64), (None, 1, 1, 4, 1)),  # a loop of many turns
        ((None, 20, 20, 4, None), (None, 1, 1, 4, 1)),
        ((2, 12, 12, 4, 8), (2, 1, 1, 4, 1)),  # little
    ],
)
def test_others_stay_as_they_are(shapes: Any) -> None:
    assert taken_off(*shapes) == []


def test_a_value_is_written_once_for_all_that_read_it() -> None:
    case = Case(PIXELS, PIXELS, (None, 1, 1, 4, 1))
    x, y, mean = case.feeds
    made = [case.b.map(scalar.sub, value, mean) for value in (x, y)]
    assert len(case.written(*made)) == 1


def test_what_is_the_same_for_neighbours_is_computed_once_for_them() -> None:
    case = Case(PIXELS, (None, 1, 1, 4, 1))
    x, mean = case.feeds
    share = case.b.map(scalar.neg, case.b.broadcast(mean, x.shape))
    made = case.b.map(scalar.mul, x, share)
    assert case.written(made, share) == [[None, 1, 1, 4, 8]]
    maps = [node.outputs[0].shape[1:] for node in case.program if isinstance(node, Map)]
    assert maps == [(1, 1, 4, 1), (20, 20, 4, 8)]


def results(mode: str, threads: int, group: int, images: int) -> list[np.ndarray]:
    """Normalized groups of channels, and the gradients of all that they follow from."""
    random = np.random.default_rng(group)
    config = tf.ConfigProto(intra_op_parallelism_threads=threads)
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session(config=config) as session:
        x = tf.placeholder(tf.float32, [None, 14, 12, 4 * group])
        gain = tf.constant(random.standard_normal(4 * group), tf.float32)
        h = tf.reshape(x, [-1, 14, 12, 4, group])
        mean, variance = tf.nn.moments(h, [1, 2, 4], keep_dims=True)
        y = tf.reshape((h - mean) * tf.rsqrt(variance + 1e-3), tf.shape(x)) * gain
        dx, dgain = tf.gradients(y * y * y, [x, gain])
        return session.run([y, dx, dgain], {x: random.standard_normal([images, *x.shape[1:]])})


@pytest.mark.parametrize("group", [1, 3, 8, 40])
def test_groups_of_channels_are_normalized_as_the_reference_does(group: int) -> None:
    for images in (9, 0):
        want = results("never", 1, group, images)
        one, two = (results("always", threads, group, images) for threads in (1, 2))
        for expected, a, b in zip(want, one, two, strict=True):
            np.testing.assert_array_equal(a, b)
            np.testing.assert_allclose(a, expected, rtol=2e-4, atol=2e-3)
