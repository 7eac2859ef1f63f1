# SPDX-License-Identifier: Apache-2.0
"""What is fed of an operation's outputs stays so, though the operation runs for others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu

NUMBERS = np.float32([1, 2, 3, 4])
PAIRS: dict[str, Callable[[Any], Any]] = {
    "split": lambda x: tf.split(x, 2),
    "unstack": lambda x: tf.unstack(x)[:2],
    "top_k": lambda x: tf.nn.top_k(x, 2),
    "identity_n": lambda x: tf.identity_n([x, x * 2]),
    "unique": tf.unique,
    "unique, then a size": lambda x: (tf.unique(x)[1], tf.unique(x)[0]),
    "batch norm": lambda x: tf.nn.fused_batch_norm(
        tf.reshape(x, [4, 1, 1, 1]), tf.ones([1]), tf.ones([1])
    )[:2],
    "cond": lambda x: tf.cond(x[0] > 0, lambda: (x * 1, x * 2), lambda: (x * 3, x * 4)),
    "while_loop": lambda x: tf.while_loop(
        lambda a, b: b[0] < 9, lambda a, b: (a + 1, b * 2), [x, x]
    ),
}


@pytest.mark.parametrize("mode", ["never", "always"])
@pytest.mark.parametrize("name", PAIRS)
def test_the_fed_one_of_several_outputs_is_read(name: str, mode: str) -> None:
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
        x = tf.placeholder(tf.float32, [4])
        pair = list(PAIRS[name](x))
        tens = [tf.cast(tensor, tf.float32) * 10 for tensor in pair]
        values = session.run(pair, {x: NUMBERS})
        for k, tensor in enumerate(pair):
            fed = {x: NUMBERS, tensor: values[k] + 100}
            wanted = [value + 100 * (i == k) for i, value in enumerate(values)]
            found = session.run([*pair, *tens], fed)
            for got, value in zip(found, [*wanted, *(value * 10.0 for value in wanted)]):
                np.testing.assert_allclose(got, value, rtol=1e-5)
            for ten, value in zip(tens, wanted):
                np.testing.assert_allclose(session.run(ten, fed), value * 10.0, rtol=1e-5)
