# SPDX-License-Identifier: Apache-2.0
"""Initializers under all their names: shapes, dtypes, seeds, configurations."""

# ruff: noqa: B023 - every function is called before the loop goes on
from __future__ import annotations

import numpy as np

NAMES = [
    "zeros_initializer",
    "ones_initializer",
    "constant_initializer",
    "random_uniform_initializer",
    "random_normal_initializer",
    "truncated_normal_initializer",
    "uniform_unit_scaling_initializer",
    "variance_scaling_initializer",
    "orthogonal_initializer",
    "glorot_uniform_initializer",
    "glorot_normal_initializer",
]
SHORT = [
    "zeros",
    "ones",
    "constant",
    "random_uniform",
    "random_normal",
    "truncated_normal",
    "uniform_unit_scaling",
    "variance_scaling",
    "orthogonal",
    "identity",
    "glorot_uniform",
    "glorot_normal",
    "lecun_normal",
    "lecun_uniform",
    "he_normal",
    "he_uniform",
]


def _all(tf):
    found = [("tf." + n, getattr(tf, n)) for n in NAMES]
    found += [("initializers." + n, getattr(tf.initializers, n)) for n in SHORT]
    return found


def listing(tf, say):
    say(sorted(n for n in dir(tf.initializers) if not n.startswith("_")))
    say(sorted(n for n in dir(tf) if n.endswith("_initializer")))
    for name, f in _all(tf):
        say(name, getattr(f, "__name__", None))


def defaults(tf, say):
    for name, f in _all(tf):
        say(
            name,
            lambda: f(),
            lambda: type(f()),
            lambda: f().get_config(),
            lambda: type(f()).from_config(f().get_config()).get_config(),
        )
        for shape in (
            [],
            [2],
            [3, 4],
            [2, 3, 4],
            (2, 2, 3, 4),
            [0],
            [2, 0],
            [None],
            3,
            None,
            [4, 3],
        ):
            x = say(lambda: f()(shape))
            if x is not None:
                say.run(x)


def dtypes(tf, say):
    for name, f in _all(tf):
        for d in (
            tf.float16,
            tf.float32,
            tf.float64,
            tf.int32,
            tf.int64,
            tf.bool,
            tf.string,
            tf.complex64,
            tf.uint8,
        ):
            say(name)
            x = say(lambda: f()([3, 3], dtype=d))
            if x is not None and (d != tf.float16 or "orthogonal" not in name):
                say.run(x)
            say(lambda: f(dtype=d), lambda: f(dtype=d)([2, 2]))


def arguments(tf, say):
    c = tf.constant_initializer
    for value in (
        3,
        2.5,
        [1, 2],
        [[1, 2], [3, 4]],
        np.arange(4),
        np.arange(4).reshape(2, 2),
        (1, 2, 3),
        True,
        "s",
        b"s",
        None,
        tf.constant(1),
        {},
        [],
        [1, 2, 3, 4, 5],
        np.float32(2),
        np.array([]),
        "abc",
    ):
        for shape in ([2, 2], [4], [], [6]):
            for verify in (False, True):
                x = say(lambda: c(value, dtype=tf.float32, verify_shape=verify)(shape))
                if x is not None:
                    say.run(x)
        say(lambda: c(value).get_config())
    say(
        lambda: c([1, 2], verify_shape=True)([2, 2], verify_shape=False),
        lambda: c([1, 2])([2, 2], tf.int32, None, True),
        lambda: c([1, 2], tf.int64)([2]),
    )
    for f, kw in (
        (tf.random_uniform_initializer, dict(minval=-2, maxval=3)),
        (tf.random_uniform_initializer, dict(minval=2)),
        (tf.random_uniform_initializer, dict(minval=0, maxval=10, dtype=tf.int32)),
        (tf.random_uniform_initializer, dict(minval=5, maxval=5)),
        (tf.random_uniform_initializer, dict(minval=5, maxval=2)),
        (tf.random_uniform_initializer, dict(maxval=2.0)),
        (tf.random_uniform_initializer, dict(minval="a")),
        (tf.random_normal_initializer, dict(mean=3.0, stddev=0.1)),
        (tf.random_normal_initializer, dict(stddev=-1.0)),
        (tf.random_normal_initializer, dict(mean=[1.0, 2.0], stddev=[1.0, 0.0])),
        (tf.random_normal_initializer, dict(dtype=tf.int32)),
        (tf.truncated_normal_initializer, dict(mean=3.0, stddev=0.1)),
        (tf.truncated_normal_initializer, dict(stddev=0.0)),
        (tf.uniform_unit_scaling_initializer, dict(factor=2.0)),
        (tf.uniform_unit_scaling_initializer, dict(factor="x")),
        (tf.variance_scaling_initializer, dict(scale=2.0)),
        (tf.variance_scaling_initializer, dict(scale=0)),
        (tf.variance_scaling_initializer, dict(scale=-1.0)),
        (tf.variance_scaling_initializer, dict(mode="fan_out")),
        (tf.variance_scaling_initializer, dict(mode="fan_avg", distribution="uniform")),
        (tf.variance_scaling_initializer, dict(mode="x")),
        (tf.variance_scaling_initializer, dict(distribution="x")),
        (tf.variance_scaling_initializer, dict(distribution="normal")),
        (tf.variance_scaling_initializer, dict(distribution="untruncated_normal")),
        (tf.variance_scaling_initializer, dict(distribution="TRUNCATED_NORMAL")),
        (tf.orthogonal_initializer, dict(gain=2.0)),
        (tf.initializers.identity, dict(gain=3.0)),
        (tf.glorot_uniform_initializer, {}),
        (tf.glorot_normal_initializer, {}),
        (tf.initializers.he_normal, {}),
        (tf.initializers.he_uniform, {}),
        (tf.initializers.lecun_normal, {}),
        (tf.initializers.lecun_uniform, {}),
    ):
        for seed in (None, 7):
            if "identity" in str(f) and seed is not None:
                continue
            k = dict(kw) if f is tf.initializers.identity else dict(kw, seed=seed)
            i = say(lambda: f(**k))
            if i is None:
                continue
            say(i.get_config())
            for shape in ([3, 2], [2, 3, 2]):
                x = say(lambda: i(shape))
                y = say(lambda: i(shape, tf.float64))
                for z in (x, y):
                    if z is not None:
                        say.run(z)
                        say.run(z)


def in_variables(tf, say):
    for n, (name, f) in enumerate(_all(tf)):
        for r in (False, True):
            say(
                lambda: tf.get_variable(f"v{n}{r}", [3, 3], initializer=f(), use_resource=r),
                lambda: tf.get_variable(f"w{n}{r}", [3, 3], initializer=f, use_resource=r),
            )
            say(
                lambda: tf.get_variable(
                    f"x{n}{r}",
                    [3, 3],
                    tf.float64,
                    initializer=f(dtype=tf.float32) if "constant" not in name else f(1),
                    use_resource=r,
                )
            )
    for seed in (None, 5):
        tf.set_random_seed(seed) if seed else None
        _a, _b = tf.get_variable(f"a{seed}", [2]), tf.get_variable(f"b{seed}", [2])
    say.init()
    say.run(*tf.global_variables())


def dynamic_shapes(tf, say):
    s = tf.placeholder_with_default([2, 3], [2])
    for name, f in _all(tf):
        x = say(name, lambda: f()(s))
        if x is not None:
            say.run(x)
        x = say(lambda: f()(tf.constant([3, 3])))
        if x is not None:
            say.run(x)
        x = say(lambda: f()(np.array([3, 3])))
        if x is not None:
            say.run(x)
        say(
            lambda: f()(shape=[2, 2], dtype=tf.float32, partition_info=None),
            lambda: f()([2, 2], tf.float32, None),
            lambda: f()([2, 2], nope=1),
            lambda: f(nope=1),
        )


def convolutional(tf, say):
    names = [
        "convolutional_delta_orthogonal",
        "convolutional_orthogonal_1d",
        "convolutional_orthogonal_2d",
        "convolutional_orthogonal_3d",
    ]
    from_tf = __import__(
        tf.__name__ if tf.__name__ != "numbaflow" else "numbaflow.ops.state.init_orthogonal",
        fromlist=["x"],
    )
    if tf.__name__ == "tensorflow":
        from tensorflow.python.ops import init_ops as from_tf
    for name in names:
        f = getattr(from_tf, name)
        for kw in ({}, {"gain": 2.0}, {"seed": 3}, {"dtype": tf.float64}, {"dtype": tf.int32}):
            i = say(lambda: f(**kw))
            if i is None:
                continue
            for shape in (
                [3, 2, 2],
                [3, 3, 2, 3],
                [2, 2, 2, 2, 2],
                [3, 3, 2],
                [2, 3, 2, 2],
                [1, 1, 2],
                [2, 2],
            ):
                x = say(lambda: i(shape))
                if x is not None:
                    say(lambda: np.round(np.abs(say.session.run(tf.reduce_sum(x * x))), 4))
