# SPDX-License-Identifier: Apache-2.0
"""Programs of random numbers from states in variables; see tests/train/contrib/recording.py."""

from __future__ import annotations

from typing import Any


def _generator(tf: Any) -> Any:
    with tf.variable_scope("a", use_resource=True):
        return tf.random.experimental.Generator.from_seed([5, -7, 1 << 40])


def _floats(tf: Any) -> list[Any]:
    found: list[Any] = []
    for dtype in (tf.float16, tf.float32, tf.float64):
        for draw in ("normal", "truncated_normal", "uniform"):
            generator = _generator(tf)
            found.append(getattr(generator, draw)([33], 1.0, 3.0, dtype))
    return found


def _integers(tf: Any) -> list[Any]:
    found: list[Any] = []
    for dtype in (tf.int32, tf.int64):
        found.append(_generator(tf).uniform([5, 3], -10, 1000, dtype))
    for dtype in (tf.int32, tf.int64, tf.uint32, tf.uint64):
        found.append(_generator(tf).uniform_full_int([5, 3], dtype))
    return [*found, _generator(tf).make_seeds(4)]


def _binomial(count: Any, p: Any, shape: Any) -> Any:
    # One generator for each program: TensorFlow changes initial values that generators share.
    return lambda tf: [_generator(tf).binomial(shape, count, p)]


PROGRAMS = {
    "floats": _floats,
    "integers": _integers,
    "few": _binomial(10.0, 0.3, [20]),
    "many": _binomial(1000.0, 0.9, [20]),
    "nearly all": _binomial(3.0, 0.99, [20]),
    "rows": _binomial([10.0, 1000.0, 50.0], [0.2, 0.3, 0.9], [3, 4]),
}
