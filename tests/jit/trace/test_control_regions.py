# SPDX-License-Identifier: Apache-2.0
"""Graphs with branches: what is around them is compiled, and gives what the reference gives."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.engine.session.run_order import needed_operations
from numbaflow.jit.runtime import runner
from numbaflow.jit.trace import control_regions

pytestmark = pytest.mark.cpu


def both(build, feeds):
    """Results of a program by reference kernels and compiled."""
    results = []
    for mode in ("never", "always"):
        with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
            tf.set_random_seed(1)
            fetches = build()
            session.run(tf.global_variables_initializer())
            results.append([session.run(fetches, feed) for feed in feeds])
    for want, got in zip(*results, strict=True):
        for a, b in zip(want, got, strict=True):
            if a is not None:
                np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-6)
    return results[1]


def test_a_branch_between_compiled_stretches():
    def build():
        x = tf.placeholder(tf.float32, [None], name="x")
        y = tf.exp(x) * 2.0
        z = tf.cond(tf.reduce_sum(x) > 0, lambda: y + 1.0, lambda: y - 1.0)
        return [z * 3.0, y]

    both(build, [{"x:0": [1.0, 2.0]}, {"x:0": [-1.0, -2.0, 0.5]}])


def test_training_with_a_stepwise_rate():
    def build():
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        w = tf.Variable([[1.0], [2.0], [3.0]])
        step = tf.train.get_or_create_global_step()
        rate = tf.train.piecewise_constant(step, [1, 3], [0.1, 0.01, 0.001])
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
        train = tf.train.MomentumOptimizer(rate, 0.9).minimize(loss, global_step=step)
        return [train, loss, rate]

    feed = {"x:0": np.random.default_rng(0).standard_normal((5, 3))}
    both(build, [feed] * 6)


def test_assignments_within_branches():
    def build():
        x = tf.placeholder(tf.float32, [], name="x")
        v = tf.Variable(1.0)
        grow = tf.cond(x > 0, lambda: tf.assign_add(v, x) + 0.0, lambda: tf.identity(v) * 1.0)
        with tf.control_dependencies([grow]):
            return [grow, v.read_value() * 2.0]

    both(build, [{"x:0": 2.0}, {"x:0": -1.0}, {"x:0": 3.0}])


def test_a_loop_without_a_gradient():
    def build():
        x = tf.placeholder(tf.float32, [None], name="x")
        start = x * 2.0
        _, last = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a * 1.5), [0, start])
        return [tf.reduce_sum(last + 1.0)]

    both(build, [{"x:0": [1.0, 2.0]}, {"x:0": [3.0]}])


def test_gradients_of_branches_and_of_loops():
    def build():
        x = tf.placeholder(tf.float32, [None], name="x")
        y = tf.cond(tf.reduce_sum(x) > 0, lambda: x * x, lambda: x * 3.0)
        _, z = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * a), [0, x])
        return [*tf.gradients(tf.reduce_sum(tf.sin(y)), x), *tf.gradients(tf.reduce_sum(z), x)]

    both(build, [{"x:0": [0.5, 0.25]}, {"x:0": [-0.5]}])


def test_explain_says_where_the_plan_ends():
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(x > 0, lambda: tf.fill([2], x), lambda: tf.fill([1, 1], x))
    y = tf.reshape(y, [-1])[0] * 2.0
    with settings.override(jit="always"), tf.Session() as session:
        assert session.run(y, {x: 3.0}) == 6.0
        assert "branches or loops" in str(session.explain(y, {x: 3.0}))


def hosted(session, fetches, feed):
    """What of a run is not compiled, by the report of its plan."""
    text = str(session.explain(fetches, feed))
    signs = ("on the host", "piece by piece", "Not compiled")
    return [line for line in text.splitlines() if any(sign in line for sign in signs)]


def compiled_whole(build, feeds):
    """Results as above, of a program whose every branch and loop is compiled."""
    results = both(build, feeds)
    with tf.Graph().as_default(), settings.override(jit="always"), tf.Session() as session:
        fetches = build()
        session.run(tf.global_variables_initializer())
        assert not hosted(session, fetches, feeds[0])
    return results


def trained(loss, optimizer=None):
    optimizer = optimizer or tf.train.AdamOptimizer(0.01)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(updates):
        return [optimizer.minimize(loss), loss]


RNG = np.random.default_rng(3)


def test_a_recurrent_network_is_trained_by_compiled_loops():
    """Its variables are made while the loop is, so that they stand among the loop's operations."""

    def build():
        x = tf.placeholder(tf.float32, [4, None, 3], name="x")
        length = tf.placeholder(tf.int32, [4], name="length")
        cell = tf.nn.rnn_cell.LSTMCell(5, initializer=tf.ones_initializer())
        out, state = tf.nn.dynamic_rnn(cell, x, sequence_length=length, dtype=tf.float32)
        return trained(tf.reduce_sum(tf.square(out)) + tf.reduce_sum(state.h))

    feeds = [
        {"x:0": RNG.standard_normal((4, n, 3)), "length:0": RNG.integers(1, n + 1, 4)}
        for n in (6, 2, 6)
    ]
    compiled_whole(build, feeds)


def test_layers_that_train_on_demand_are_compiled_with_their_gradients():
    def build():
        x = tf.placeholder(tf.float32, [6, 8, 8, 2], name="x")
        training = tf.placeholder(tf.bool, [], name="training")
        same = tf.constant_initializer(0.05)
        y = tf.layers.conv2d(x, 4, 3, kernel_initializer=same)
        y = tf.nn.relu(tf.layers.batch_normalization(y, training=training))
        y = tf.layers.dropout(tf.layers.flatten(y), 0.25, training=training, seed=2)
        y = tf.layers.dense(y, 3, kernel_initializer=same)
        # (Not Adam: it would blow up the rounding of gradients that are zero but for it.)
        return trained(tf.reduce_mean(tf.square(y)), tf.train.GradientDescentOptimizer(0.1))

    x = RNG.standard_normal((6, 8, 8, 2))
    compiled_whole(build, [{"x:0": x, "training:0": on} for on in (True, True, False, True)])


def test_gradients_of_a_branch_that_is_fed():
    def build():
        x = tf.placeholder(tf.float32, [4, 3], name="x")
        taken = tf.placeholder(tf.bool, [], name="taken")
        w = tf.get_variable("w", [3, 3], initializer=tf.ones_initializer())
        y = tf.cond(taken, lambda: tf.matmul(x, w), lambda: x * 2.0)
        return trained(tf.reduce_sum(tf.square(y)))

    x = RNG.standard_normal((4, 3))
    compiled_whole(build, [{"x:0": x, "taken:0": on} for on in (True, False, True)])


def test_random_numbers_in_branches_are_drawn_where_the_branch_is_taken():
    def build():
        taken = tf.placeholder(tf.bool, [], name="taken")
        draw = tf.cond(
            taken, lambda: tf.random_uniform([3], seed=1), lambda: tf.random_normal([3], seed=2)
        )
        return [draw, tf.random_uniform([2], seed=3)]

    feeds = [{"taken:0": on} for on in (True, False, True, True, False)]
    results = compiled_whole(build, feeds)
    assert len({result[0].tobytes() for result in results}) == len(feeds)


def test_random_numbers_in_loops_are_drawn_in_every_turn():
    def build():
        turns = tf.placeholder(tf.int32, [], name="turns")
        total = tf.while_loop(
            lambda i, a: i < turns,
            lambda i, a: (i + 1, a * 2.0 + tf.random_uniform([3], seed=1)),
            [0, tf.zeros([3])],
        )[1]
        return [total, tf.map_fn(lambda x: x + tf.random_normal([2], seed=4), tf.zeros([5, 2]))]

    both(build, [{"turns:0": n} for n in (3, 0, 5, 1)])


def test_dropout_within_a_recurrent_network():
    def build():
        x = tf.placeholder(tf.float32, [4, 5, 3], name="x")
        cell = tf.nn.rnn_cell.GRUCell(6, kernel_initializer=tf.ones_initializer())
        cell = tf.nn.rnn_cell.DropoutWrapper(cell, output_keep_prob=0.5, seed=5)
        out, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
        return trained(tf.reduce_sum(tf.square(out)))

    x = RNG.standard_normal((4, 5, 3))
    compiled_whole(build, [{"x:0": x}] * 3)


# The order of operations.


def in_pieces(graph, feeds=()):
    operations = needed_operations([], graph.get_operations(), [])
    ordered, regions = control_regions.arranged(operations, feeds)
    assert set(ordered) == set(operations) and len(ordered) == len(operations)
    number = {op: i for i, op in enumerate(ordered)}
    for op in ordered:
        for other in (*(t.op for t in op._inputs_val), *op._control_inputs_val):
            assert number[other] < number[op] or other.definition.control_flow_role == "next"
    members = set(control_regions.conditional(operations))
    covered = {op for first, behind in regions.items() for op in ordered[first:behind]}
    assert members <= covered
    return ordered, regions


def test_what_a_conditional_does_not_need_stands_around_it():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [3])
        branch = tf.cond(x[0] > 0, lambda: x * 2.0, lambda: x - 1.0)
        tf.add(branch, 1.0, name="behind")
        ordered, regions = in_pieces(graph)
    ((first, behind),) = regions.items()
    names = [op.name for op in ordered]
    assert names.index("strided_slice") < first and names.index("behind") >= behind


def test_what_lies_between_a_loop_and_its_gradient_is_in_their_region():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [3])
        y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * a), [0, x])[1]
        loss = tf.reduce_sum(tf.sin(y), name="loss")
        tf.gradients(loss, x)
        tf.exp(y, name="beside")
        ordered, regions = in_pieces(graph)
    ((first, behind),) = regions.items()
    names = [op.name for op in ordered]
    assert first < names.index("gradients/Sin_grad/Cos") < behind <= names.index("beside")


def test_variables_are_read_and_written_in_the_order_given():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [])
        v = tf.Variable(1.0, name="v")
        tf.cond(x > 0, lambda: x * 2.0, lambda: x)
        tf.identity(v, name="before")
        v.assign_add(1.0, name="written")
        tf.cond(x > 1, lambda: v + 0.0, lambda: x, name="last")
        tf.identity(v, name="after")
        names = [op.name for op in in_pieces(graph)[0]]
    assert names.index("before") < names.index("written") < names.index("after")
    assert names.index("written") < names.index("last/add/Switch")


@pytest.mark.pure
def test_conditionals_one_after_the_other_are_regions_of_their_own():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [3])
        on = tf.placeholder(tf.bool, [])
        for _ in range(20):
            x = tf.cond(on, lambda x=x: x * 2.0, lambda x=x: x + 1.0)
        assert len(in_pieces(graph)[1]) == 20
        tf.gradients(x, graph.get_tensor_by_name("Placeholder:0"))
        assert len(in_pieces(graph)[1]) < 20


def test_a_merge_takes_what_a_variable_has_then():
    """Batch normalization of two dimensions updates its averages in a branch."""

    def build():
        x = tf.placeholder(tf.float32, [4, 3], name="x")
        training = tf.placeholder(tf.bool, [], name="training")
        y = tf.layers.batch_normalization(x, training=training)
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            return [tf.identity(y), *(v.read_value() for v in tf.global_variables())]

    x = RNG.standard_normal((4, 3))
    compiled_whole(build, [{"x:0": x, "training:0": on} for on in (True, False, True, False)])


def test_what_is_computed_between_the_last_turn_and_an_exit():
    """The gradient of a loop variable that nothing in a turn uses leaves by way of identities."""

    def build():
        x = tf.placeholder(tf.float32, [3], name="x")
        turns = tf.placeholder(tf.int32, [], name="turns")

        def turn(i, a, b):
            both = tf.concat([a, b], 0)
            return i + 1, both[:3] * 2.0, both[3:] + 1.0

        _, a, b = tf.while_loop(lambda i, *_: i < turns, turn, [0, x, x * 3.0])
        loss = tf.reduce_sum(a * a) + tf.reduce_sum(b)
        return [loss, *tf.gradients(loss, x)]

    compiled_whole(build, [{"x:0": [1.0, -2.0, 0.5], "turns:0": n} for n in (3, 0, 2)])


def test_late_exits_are_found():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [])
        raw = tf.raw_ops
        enter = raw.Enter(data=x, frame_name="f")
        twice, most = (
            raw.Enter(data=tf.constant(value), frame_name="f", is_constant=True)
            for value in (2.0, 20.0)
        )
        merge = raw.Merge(inputs=[enter, enter]).output
        on = raw.LoopCond(input=tf.less(merge, most))
        out, again = raw.Switch(data=merge, pred=on)
        merge.op._update_input(1, raw.NextIteration(data=again * twice))
        raw.Exit(data=tf.identity(out * twice), name="late")
        for mode in ("never", "always"):
            with settings.override(jit=mode), tf.Session() as session:
                assert [session.run("late:0", {x: value}) for value in (3.0, 30.0)] == [48.0, 60.0]
                assert mode == "never" or not hosted(session, "late:0", {x: 3.0})


@pytest.mark.parametrize(
    "op",
    [
        lambda x: tf.reverse_sequence(x, tf.fill([tf.shape(x)[0]], 2), 1),
        lambda x: tf.nn.top_k(x, 2)[0],
        lambda x: tf.py_func(lambda a: a * 2.0, [x], tf.float32) + 0.0 * x,
        lambda x: tf.check_numerics(x, "not a number"),
    ],
)
def test_host_steps_in_the_middle_of_a_plan_know_their_shapes(op):
    """What shape function and sizes tell cuts no plan in two, at any size."""

    def build():
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        y = op(tf.exp(x))
        y.set_shape([None, y.shape[1]])
        return [tf.reduce_sum(tf.sqrt(y), 1), tf.shape(y)]

    feeds = [{"x:0": RNG.standard_normal((n, 4))} for n in (3, 7, 3)]
    both(build, feeds)


def test_gradients_of_a_conditional_within_a_branch_that_is_not_taken():
    """Their merges are outside of all contexts, and give nothing there."""

    def build():
        x = tf.placeholder(tf.float64, [], name="x")
        y = tf.cond(x > 0, lambda: tf.cond(x > 1, lambda: x**3, lambda: tf.sin(x)), lambda: x * x)
        return [y, *tf.gradients(y, x)]

    results = compiled_whole(build, [{"x:0": value} for value in (-1.5, 0.5, 2.0, -3.0)])
    np.testing.assert_allclose([result[1] for result in results], [-3.0, np.cos(0.5), 12.0, -6.0])


def test_what_leaves_its_branch_is_not_compiled(monkeypatch):
    """A region that is too small is refused, whatever found it."""

    def torn(operations, feeds):
        (merge,) = [op for op in operations if op.type == "Merge"]
        inside = [op for op in operations if op is not merge and op.name.startswith("cond")]
        before = [op for op in operations if op is not merge and op not in inside]
        ordered = [*before, *inside, merge]
        return ordered, {len(before): len(before) + len(inside)}

    monkeypatch.setattr(runner, "arranged", torn)
    with tf.Graph().as_default(), settings.override(jit="always"), tf.Session() as session:
        x = tf.placeholder(tf.float32, [])
        y = tf.cond(x > 0, lambda: x * 2.0, lambda: x - 1.0)
        run = runner.make_runner(session, session.graph, [y], [], [x])
        traced = run.trace([np.float32(1.0)])
        assert "leaves its branch" in traced.hosted[-1][1]
