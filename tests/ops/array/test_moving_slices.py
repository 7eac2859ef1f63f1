# SPDX-License-Identifier: Apache-2.0
"""Slices whose bounds only a run knows are compiled, in loops too, and give what NumPy gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.runtime import guards

pytestmark = pytest.mark.cpu
X = np.random.default_rng(3).normal(size=(6, 5, 4)).astype(np.float32)
Build = Callable[[Any, Any], list[Any]]


def single(x: Any, t: Any) -> list[Any]:
    return [x[t], x[:, t], x[t, :, 1], x[..., t], x[t, None, t], x[::2, t, ::-1], x[-t], x[t, t, t]]


def spans(x: Any, t: Any) -> list[Any]:
    return [x[t:], x[: t + 2], x[:, t : t + 2], x[t:-1:2], x[:, ::-1][t:], x[t::-1], x[5:t:-2]]


def boxes(x: Any, t: Any) -> list[Any]:
    return [tf.slice(x, [t, 0, 1], [2, -1, 2]), tf.slice(x, [0, t, 0], [-1, -1, t])]


def paddings(x: Any, t: Any) -> list[Any]:
    return [tf.pad(x, [[t, 4 - t], [0, 0], [1, t]]), tf.pad(x, [[t, t]] * 3, constant_values=7)]


def looped(x: Any, t: Any) -> list[Any]:
    def turn(i: Any, total: Any) -> Any:
        row = tf.reduce_sum(tf.square(x[i]), 1) * tf.reduce_sum(tf.tanh(x[:, i]))
        return i + 1, total + row + x[i, i][t]

    return [tf.while_loop(lambda i, _: i < 4, turn, [0, tf.zeros([5])])[1]]


def looped_spans(x: Any, t: Any) -> list[Any]:
    def turn(i: Any, total: Any) -> Any:
        batch = x[i * 2 : (i + 1) * 2] + tf.slice(x, [i, t, 0], [2, 1, -1])
        return i + 1, total + tf.reduce_sum(batch * batch) + tf.reduce_sum(x[:, i : i + 2])

    return [tf.while_loop(lambda i, _: i < 3, turn, [0, 0.0])[1]]


def run_both(build: Build, x: np.ndarray, t: int, gradients: bool = True) -> str:
    """Holds the compiled results against those of reference kernels; what `explain` says."""
    found = []
    for mode in ("never", "always"):
        with tf.Graph().as_default(), settings.override(jit=mode):
            fed = tf.placeholder(tf.float32, [None, 5, 4])
            place = tf.Variable(t)
            outputs = build(fed, place + 0)
            if gradients:
                outputs += tf.gradients([tf.reduce_sum(tf.square(y)) for y in outputs], fed)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                found.append(session.run(outputs, {fed: x}))
                if mode == "always":
                    text = str(session.explain(outputs, {fed: x}))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-3)
    return text


@pytest.mark.parametrize("t", [0, 2, 3])
@pytest.mark.parametrize("build", [single, spans, boxes, looped, looped_spans])
def test_slices_at_places_of_a_run_are_compiled(build: Build, t: int) -> None:
    text = run_both(build, X, t)
    assert " host " not in text and "piece by piece" not in text and "another plan" not in text


def test_what_is_padded_by_a_run_is_compiled() -> None:
    assert " host " not in run_both(paddings, X, 2)


def test_slices_are_numpys() -> None:
    with settings.override(jit="always"), tf.Session() as session:
        place = tf.Variable(1)
        x = tf.placeholder(tf.float32, [None, 5, 4])
        session.run(tf.global_variables_initializer())
        for t in (1, 3, 0):
            session.run(place.assign(t))
            for one, expected in zip(
                session.run(single(x, place + 0) + spans(x, place + 0), {x: X}),
                single_of_numpy(t) + spans(X, t),
            ):
                np.testing.assert_array_equal(one, expected)


def single_of_numpy(t: int) -> list[np.ndarray]:
    return single(X, t)


def test_boxes_that_move_along_some_dimensions_are_copied_by_lines() -> None:
    """As random crops are; of a corner outside nothing is read."""
    with settings.override(jit="always"), tf.Session() as session:
        corner = tf.Variable([1, 2, 0])
        x, sizes = tf.placeholder(tf.float32, [None, None, 4]), [2, 3, 4]
        y = [tf.slice(x, corner, sizes), tf.slice(x, corner + [0, 0, 1], [2, 3, 2])]
        y += [tf.slice(tf.expand_dims(x, 0), tf.concat([[0], corner], 0), [1, *sizes])]
        session.run(tf.global_variables_initializer())
        for a, b in ((1, 2), (0, 0), (4, 2)):
            session.run(corner.assign([a, b, 0]))
            found = session.run(y, {x: X})
            part = X[a : a + 2, b : b + 3]
            for one, expected in zip(found, (part, part[..., 1:3], part[None])):
                np.testing.assert_array_equal(one, expected)
        assert "box " in str(session.explain(y, {x: X}))
        for outside in ([5, 0, 0], [-1, 0, 0], [0, 1 << 30, 0]):
            session.run(corner.assign(outside))
            with pytest.raises(tf.errors.InvalidArgumentError, match="Expected (begin|size)"):
                session.run(y[0], {x: X})
        session.run(corner.assign([0, 0, 0]))
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected size\[1\] in"):
            session.run(y[0], {x: X[:, :2]})


def test_boxes_of_less_than_nothing_are_refused_and_write_nothing() -> None:
    """Two lengths below zero have a product above it."""
    with settings.override(jit="always"), tf.Session() as session, guards.among("bytes"):
        corner, sizes = tf.placeholder(tf.int32, [3]), tf.placeholder(tf.int32, [3])
        x = tf.placeholder(tf.float32, [None, None, 4])
        y = tf.slice(x, corner, sizes)
        for wrong in ([-3, -5, 4], [-3, 4, -5], [2, -3, -5]):
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected size\[\d\] in"):
                session.run(y, {x: X, corner: [1, 1, 0], sizes: wrong})
        found = session.run(y, {x: X, corner: [1, 1, 0], sizes: [2, 2, 3]})
        np.testing.assert_array_equal(found, X[1:3, 1:3, :3])


def test_an_index_outside_is_refused_with_tensorflows_words() -> None:
    with settings.override(jit="always"), tf.Session() as session:
        place = tf.Variable(6)
        y = tf.constant(X)[:, place + 0]
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="slice index 6 of dimension 1"):
            session.run(y)


def test_a_last_batch_that_is_shorter_is_as_long_as_it_is() -> None:
    def build(x: Any, t: Any) -> list[Any]:
        return [x[t * 4 : (t + 1) * 4], *looped_spans(x[:5], t)]

    assert run_both(build, X, 1)


@pytest.mark.parametrize("resource", [False, True])
def test_parts_of_variables_are_replaced_in_place(resource: bool) -> None:
    def build(x: Any, t: Any) -> list[Any]:
        zeros = tf.zeros_initializer()
        v = tf.get_variable("v", [6, 5, 4], initializer=zeros, use_resource=resource)
        steps: list[Callable[[Any], Any]] = [
            lambda x: v[t].assign(x[0]),
            lambda x: v[:, t].assign(x[:, 0] + 1),
            lambda x: v[t - 1 : t + 1, ::2].assign(x[1:3, ::2]),
            lambda x: v[1:3, 2].assign(x[1:3, 2] * 3),
            lambda x: v[..., -1].assign(x[..., 0]),
        ]
        for step in steps:
            with tf.control_dependencies([step(x)]):
                x = tf.identity(x)
        with tf.control_dependencies([x]):
            return [v.read_value()]

    assert " host " not in run_both(build, X, 3, gradients=False)


def test_rows_of_a_variable_are_replaced_within_a_loop() -> None:
    def build(x: Any, t: Any) -> list[Any]:
        v = tf.Variable(tf.zeros([6, 4]))

        def turn(i: Any, total: Any) -> Any:
            with tf.control_dependencies([v[i].assign(x[i, t])]):
                return i + 1, total + tf.reduce_sum(x[i])

        loop = tf.while_loop(lambda i, _: i < 5, turn, [0, 0.0], parallel_iterations=1)
        with tf.control_dependencies(loop):
            return [v.read_value(), loop[1]]

    text = run_both(build, X, 1, gradients=False)
    assert " host " not in text and "piece by piece" not in text


def test_assigning_another_shape_is_refused() -> None:
    with settings.override(jit="always"), tf.Session() as session:
        v, place = tf.Variable(tf.zeros([6, 4])), tf.Variable(2)
        assign = v[place : place + 2].assign(tf.ones([3, 4]))
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.OpError, match="does not match r-value shape"):
            session.run(assign)


@pytest.mark.parametrize("is_drawn", [False, True])
def test_boxes_whose_size_turns_out_to_be_the_rest(is_drawn: bool) -> None:
    data = np.arange(90, dtype=np.float32).reshape(5, 6, 3)
    x = tf.placeholder(tf.float32, [None, None, 3])
    begin, size = tf.placeholder(tf.int32, [3]), tf.placeholder(tf.int32, [3])
    given = (begin, size)
    if is_drawn:  # by an op that plans leave to the host
        given = tuple(tf.py_func(lambda n: n, [bound], tf.int32) for bound in (begin, size))
        for bound in given:
            bound.set_shape([3])
    box = tf.slice(x, *given)
    (slope,) = tf.gradients(box, x)
    with settings.override(jit="always"), tf.Session() as session:
        for start, count in (
            ([1, 2, 0], [2, 3, -1]),
            ([0, 0, 0], [2, 3, 3]),
            ([1, 1, 1], [-1, -1, -1]),
            ([2, 0, 1], [3, -1, 1]),
        ):
            taken = tuple(slice(i, None if n == -1 else i + n) for i, n in zip(start, count))
            found = session.run([box, slope], {x: data, begin: start, size: count})
            np.testing.assert_array_equal(found[0], data[taken])
            inside = np.zeros_like(data)
            inside[taken] = 1
            np.testing.assert_array_equal(found[1], inside)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"size\[2\].*but got -2"):
            session.run(box, {x: data, begin: [0, 0, 0], size: [1, 1, -2]})
