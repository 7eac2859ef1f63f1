# SPDX-License-Identifier: Apache-2.0
"""The order of operations that nothing in the graph orders."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.engine.session import run_order

# The largest singular value as it is known in each step, and a number of the vector that is kept.
SIGMAS = ((4.1713304, 0.6643638), (4.1997582, 0.6406476), (4.1999282, 0.6387911))
MODES = pytest.mark.parametrize(
    "mode",
    [
        pytest.param("never", marks=pytest.mark.programs),
        pytest.param("always", marks=pytest.mark.cpu),
    ],
)


def normalized(w: tf.Variable, u: tf.Variable) -> tf.Tensor:
    """A step of power iteration: `w` divided by its largest singular value, nearly."""
    v = tf.nn.l2_normalize(tf.matmul(u, w, transpose_b=True))
    longer = tf.nn.l2_normalize(tf.matmul(v, w))
    sigma = tf.reduce_sum(tf.matmul(v, w) * longer)
    with tf.control_dependencies([u.assign(longer)]):
        return w / sigma


@MODES
def test_a_network_that_is_applied_twice_reads_what_was_there_before(mode: str) -> None:
    """As in TensorFlow 1.15.5, whose numbers these are."""
    w = tf.Variable(np.arange(6, dtype=np.float32).reshape(3, 2) - 2.0)
    u = tf.Variable([[1.0, 0.5]])
    both = [normalized(w, u), normalized(w, u)]
    with settings.override(jit=mode), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for sigma, held in SIGMAS:
            first, second = session.run(both)
            np.testing.assert_allclose(first[0, 0], -2.0 / sigma, rtol=1e-5)
            np.testing.assert_array_equal(first, second)
            np.testing.assert_allclose(session.run(u)[0, 0], held, rtol=1e-5)


@MODES
def test_what_lies_behind_a_change_sees_it(mode: str) -> None:
    x = tf.Variable(1.0)
    near = x.assign(5.0)
    far = tf.exp(tf.sin(x * 2.0)) + x
    with tf.control_dependencies([near]):
        behind = x + 1.0
    with settings.override(jit=mode), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run([near, behind])[1] == 6.0
        session.run(x.assign(1.0))
        assert session.run([near, far])[1] == np.exp(np.sin(np.float32(10.0))) + np.float32(5.0)


def scaled(w: tf.Variable, x: tf.Tensor) -> tf.Tensor:
    """The sum of the rows times a variable, in a loop."""
    return tf.reduce_sum(tf.map_fn(lambda row: tf.reduce_sum(row * w), x))


def in_a_branch(w: tf.Variable, x: tf.Tensor) -> tf.Tensor:
    """The sum of a variable's negative, in a branch."""
    return tf.cond(x[0, 0] > 0.0, lambda: tf.reduce_sum(-w), lambda: tf.reduce_sum(w))


@MODES
@pytest.mark.parametrize("size", [3, 3000])
@pytest.mark.parametrize("evaluated", [scaled, in_a_branch])
def test_loops_and_branches_beside_training_read_what_was_there_before(
    mode: str, evaluated: Callable[..., tf.Tensor], size: int
) -> None:
    """A network is evaluated in the run that trains it, as in TensorFlow 1.15.5."""
    w = tf.get_variable("w", [size], initializer=tf.ones_initializer())
    x = tf.placeholder(tf.float32, [4, size])
    train = tf.train.AdamOptimizer(0.1).minimize(scaled(w, x))
    beside = evaluated(w, x)
    feed = {x: np.ones((4, size), np.float32)}
    with settings.override(jit=mode), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            alone = session.run(beside, feed)
            assert session.run([train, beside], feed)[1] == alone


@MODES
@pytest.mark.parametrize("of_resources", [False, True])
def test_what_is_made_behind_training_reads_what_was_there_before(
    mode: str, of_resources: bool
) -> None:
    """As TensorFlow 1.15.5 nearly always does, for which such a read is ready at the start."""
    w = tf.get_variable("w", [3], initializer=tf.ones_initializer(), use_resource=of_resources)
    x = tf.placeholder(tf.float32, [3])
    loss = tf.reduce_sum(tf.square(tf.tanh(w * x)))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    rows = tf.gather(w, [2, 1])
    with tf.control_dependencies([train]):
        behind = w.read_value()
    feed = {x: np.ones(3, np.float32)}
    with settings.override(jit=mode), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        held = session.run(w)
        for _ in range(3):
            _, beside, after = session.run([train, rows + 0.0, behind], feed)
            np.testing.assert_array_equal(beside, held[[2, 1]])
            held = session.run(w)
            np.testing.assert_array_equal(after, held)


@MODES
def test_a_loop_behind_a_change_sees_it(mode: str) -> None:
    w = tf.get_variable("w", [3], initializer=tf.ones_initializer())
    x = tf.placeholder(tf.float32, [2, 3])
    change = w.assign(tf.fill([3], 2.0))
    far = scaled(w, tf.exp(tf.sin(tf.cos(tf.sin(tf.cos(x))))) * 0.0 + 1.0)
    with settings.override(jit=mode), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run([change, far], {x: np.zeros((2, 3))})[1] == 12.0


@pytest.mark.pure
def test_a_change_comes_before_a_loop_that_takes_what_lies_behind_it() -> None:
    w = tf.get_variable("w", [], initializer=tf.ones_initializer())
    change = w.assign(tf.constant(2.0))
    step = tf.exp(tf.exp(change * 0.0))
    done = tf.while_loop(lambda i: i < 9.0, lambda i: i + step * w, [0.0])
    order = run_order.needed_operations([done], [change.op], [])
    place = {op: n for n, op in enumerate(order)}
    assert place[change.op] < place[step.op] < place[done.op]


@pytest.mark.pure
def test_reads_come_first_that_lie_nearer_to_the_start() -> None:
    x = tf.Variable(1.0)
    deep = x.assign(tf.exp(tf.sin(tf.cos(x))))
    read = x * 2.0
    with tf.control_dependencies([deep]):
        behind = x * 3.0
    order = run_order.needed_operations([], x.graph.get_operations(), [])
    place = {op: n for n, op in enumerate(order)}
    assert place[read.op] < place[deep.op] < place[behind.op]
    rest = [op._id for op in order if op not in (read.op, *(t.op for t in read.op.inputs))]
    assert rest == sorted(rest)


def read_and_changed(count: int) -> list[tf.Operation]:
    """A variable with so many changes, each farther from the start, and behind them reads."""
    x, far, near = tf.Variable(0.0), tf.constant(0.0), tf.constant(1.0)
    made = []
    for _ in range(count):
        far = tf.exp(far)
        made.append(x.assign(far).op)
    for _ in range(count):
        near = tf.sin(near)
        made.append(tf.add(x, near).op)
    return made


@pytest.mark.pure
def test_every_read_precedes_the_changes_that_lie_farther() -> None:
    made = read_and_changed(12)
    order = run_order.needed_operations([], made, [])
    place = {op: n for n, op in enumerate(order)}
    for i, change in enumerate(made[:12]):
        for read in made[12 : 12 + i]:
            assert place[read] < place[change]
    assert place[made[0]] < place[made[13]]


@pytest.mark.growth
def test_edges_grow_as_reads_and_changes_do() -> None:
    edges = []
    for count in (50, 200):
        with tf.Graph().as_default():
            ops = sorted(read_and_changed(count)[0].graph.get_operations(), key=lambda op: op._id)
            before = {op: [t.op for t in op.inputs] for op in ops}
            given = sum(map(len, before.values()))
            assert run_order._gates(ops, before)
            edges.append(sum(map(len, before.values())) - given)
    assert edges[1] < 5 * edges[0]


def limited() -> tf.Tensor:
    return tf.train.limit_epochs(tf.constant(1.0), 3)


def iterated() -> tf.Tensor:
    return tf.data.Dataset.from_tensors(1.0).repeat(3).make_one_shot_iterator().get_next()


@MODES
@pytest.mark.parametrize("data", [limited, iterated])
def test_what_does_not_wait_for_data_is_done_in_the_run_that_finds_its_end(
    data: Callable[[], tf.Tensor], mode: str
) -> None:
    """As in TensorFlow 1.15.5: three runs have data, and the counter says four."""
    count, total = tf.Variable(0), tf.Variable(0.0)
    train = tf.group(total.assign_add(data()), count.assign_add(1))
    with settings.override(jit=mode), tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                sess.run(train)
        assert sess.run([count, total]) == [4, 3.0]
        # What waits for data has its turn behind it, as before.
        after = tf.Variable(0)
        with tf.control_dependencies([data()]):
            late = after.assign_add(1)
        sess.run([after.initializer, tf.local_variables_initializer()])
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                sess.run(late)
        assert sess.run(after) == 3
