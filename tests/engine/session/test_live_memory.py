# SPDX-License-Identifier: Apache-2.0
"""What is made of a reference variable stays as it was when the variable changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu

START = np.float32([1, 2, 3])
VIEWS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "slice": (lambda v: v[::-1], [3, 2, 1]),
    "start": (lambda v: v[:2], [1, 2]),
    "reverse": (lambda v: tf.reverse(v, [0]), [3, 2, 1]),
    "split": (lambda v: tf.split(v, 3)[1], [2]),
    "unstack": (lambda v: tf.unstack(v)[1], 2),
    "transpose": (lambda v: tf.transpose(tf.reshape(v, [3, 1])), [[1, 2, 3]]),
    "identity": (lambda v: tf.identity(v)[1:], [2, 3]),
    "assignment": (lambda v: v.assign(START)[1:], [2, 3]),
    "branch": (lambda v: tf.cond(tf.equal(v[0], 1), lambda: v, lambda: v)[1:], [2, 3]),
}


@pytest.mark.parametrize("mode", ["never", "always", "auto"])
@pytest.mark.parametrize("name", VIEWS)
def test_views_are_copies(name: str, mode: str) -> None:
    view, meant = VIEWS[name]
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
        v = tf.Variable(START, use_resource=False)
        before = view(v)
        with tf.control_dependencies([before]):
            change = v.assign_add([10.0, 20.0, 30.0])
        with tf.control_dependencies([change]):
            after = before + 0.0
        session.run(v.initializer)
        for got in session.run([before, after]):
            np.testing.assert_array_equal(got, meant)


def test_what_only_hands_on_a_variable_is_the_variable() -> None:
    with tf.Graph().as_default(), settings.override(jit="never"), tf.Session() as session:
        v = tf.Variable(START, use_resource=False)
        same = tf.identity(v)
        with tf.control_dependencies([same]):
            change = v.assign_add([10.0, 20.0, 30.0])
        with tf.control_dependencies([change]):
            after = same + 0.0
        session.run(v.initializer)
        np.testing.assert_array_equal(session.run(after), [11.0, 22.0, 33.0])
