# SPDX-License-Identifier: Apache-2.0
"""What goes one by one, and takes long, is the processor's also where there is a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.cuda.device_plan import ProcessorCall

pytestmark = pytest.mark.cpu
rng = np.random.default_rng(0)


def shuffled(x: Any) -> Any:
    return 2 * tf.random_shuffle(x + 1, seed=3)


def shuffled_variable(x: Any) -> Any:
    made = tf.get_variable("v", initializer=np.ones((1, 4), np.float32))
    return tf.random_shuffle(x * made, seed=3) * made


def shuffled_in_a_loop(x: Any) -> Any:
    return tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.random_shuffle(v, 3)), [0, x])[
        1
    ]


def not_overlapping(x: Any) -> Any:
    corners = tf.abs(x)
    boxes = tf.concat([corners[:, :2], corners[:, :2] + corners[:, 2:]], 1)
    return tf.image.non_max_suppression(boxes, tf.reduce_sum(x, 1), 50, 0.3)


def outcome(make: Callable[..., Any], x: np.ndarray, gpu: str) -> tuple[list[Any], bool]:
    """What two runs give, and whether the processor had a part of its own in them."""
    with tf.Graph().as_default(), settings.override(gpu=gpu, jit="always"), tf.Session() as session:
        tf.set_random_seed(7)
        given = tf.placeholder(tf.float32, [None, 4])
        wanted = make(given)
        session.run(tf.global_variables_initializer())
        found = [session.run(wanted, {given: x}) for _ in range(2)]
        arenas = session.gpu.arenas(session) if session.gpu else []
        rows = [row for a in arenas for run in a.runs.values() for row in run.plan.rows]
        return found, any(isinstance(row, ProcessorCall) for row in rows)


@pytest.mark.parametrize(
    "make",
    [shuffled, shuffled_variable, shuffled_in_a_loop, not_overlapping],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize(("count", "is_long"), [(5, False), (20_000, True)])
def test_what_goes_one_by_one(make: Callable[..., Any], count: int, is_long: bool) -> None:
    x = rng.standard_normal((count, 4)).astype(np.float32)
    mine, by_processor = outcome(make, x, "emulated")
    theirs, _ = outcome(make, x, "none")
    for found, wanted in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert by_processor == is_long


def test_what_many_threads_do_is_the_devices() -> None:
    def drawn(x: Any) -> Any:
        return tf.random_normal(tf.shape(x), seed=3) + tf.cumsum(x)

    _, by_processor = outcome(drawn, np.zeros((20_000, 4), np.float32), "emulated")
    assert not by_processor
