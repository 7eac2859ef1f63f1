# SPDX-License-Identifier: Apache-2.0
"""Programs of the same make have the same kernels, whatever their sizes and what they were told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.cli import aot
from numbaflow.engine import settings
from numbaflow.jit.kernel.ir import Kernel
from numbaflow.jit.runtime import plan

pytestmark = pytest.mark.programs
Build = Callable[[], list[Any]]


def kernels(build: Build) -> set[Kernel]:
    """The generated kernels of a program's run."""
    with tf.Graph().as_default() as graph:
        fetches = build()
        feeds = aot.feeds_of(graph, fetches, [])
        with settings.override(jit="always"), tf.Session(graph=graph) as session:
            aot.make_variables(session, fetches, feeds)
            program = session.prepared_program(fetches, feeds)
            return {each for each in plan.kernels_of(program) if isinstance(each, Kernel)}


def trained(loss: Any) -> list[Any]:
    return [tf.train.GradientDescentOptimizer(0.1).minimize(loss), loss]


def separable(side: int, channels: int) -> Build:
    """Windows of three by three and moments over places: offsets and steps of many sizes."""

    def build() -> list[Any]:
        x = tf.placeholder(tf.float32, [None, side, side, channels])
        taps = tf.Variable(tf.ones([3, 3, channels, 1]))
        y = tf.nn.depthwise_conv2d(x, taps, [1, 1, 1, 1], "SAME")
        ones, zeros = tf.ones([channels]), tf.zeros([channels])
        normed, mean, _ = tf.nn.fused_batch_norm(y, ones, zeros)
        return [*trained(tf.reduce_mean(tf.nn.relu6(normed))), mean]

    return build


@pytest.mark.parametrize(("side", "channels"), [(14, 96), (7, 160), (6, 64), (28, 24)])
def test_pictures_of_other_sizes(side: int, channels: int) -> None:
    assert kernels(separable(side, channels)) == kernels(separable(12, 128))


def classified(batch: int | None, classes: int) -> Build:
    def build() -> list[Any]:
        x = tf.placeholder(tf.float32, [batch, 40])
        labels = tf.placeholder(tf.int32, [batch])
        logits = tf.matmul(x, tf.Variable(tf.ones([40, classes])))
        costs = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        return trained(tf.reduce_mean(costs))

    return build


def test_other_counts_of_classes_and_of_examples() -> None:
    assert kernels(classified(None, 50)) == kernels(classified(None, 200))
    assert kernels(classified(32, 50)) == kernels(classified(64, 200))


def test_a_count_that_is_known_is_an_argument() -> None:
    """As it is where it comes with what is fed; the kernel reads no constant."""

    def build() -> list[Any]:
        return [tf.reduce_mean(tf.placeholder(tf.float32, [32, 50]), 0)]

    (kernel,) = kernels(build)
    assert [buffer.access for buffer in kernel.buffers] == ["r", "w"]


def looked_up(rows: int, slope: float, epsilon: float) -> Build:
    """An index with a limit, a slope and an epsilon, each told to an operation."""

    def build() -> list[Any]:
        numbers = tf.placeholder(tf.int32, [None])
        table = tf.get_variable("table", [rows, 24], initializer=tf.zeros_initializer())
        h = tf.nn.leaky_relu(tf.nn.embedding_lookup(table, numbers), slope)
        picture = tf.reshape(h, [-1, 1, 1, 24])
        ones, zeros = tf.ones([24]), tf.zeros([24])
        normed, _, _ = tf.nn.fused_batch_norm(picture, ones, zeros, epsilon=epsilon)
        return trained(tf.reduce_sum(normed))

    return build


def test_what_operations_were_told() -> None:
    expected = kernels(looked_up(1000, 0.2, 1e-3))
    assert kernels(looked_up(70000, 0.01, 1.001e-5)) == expected
