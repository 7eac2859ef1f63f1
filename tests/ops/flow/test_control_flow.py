# SPDX-License-Identifier: Apache-2.0
"""Branches and loops: values, gradients, names, errors; TensorArrays and the loops over rows."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.programs


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetches, feed=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        first = session.run(fetches, feed)
        again = session.run(fetches, feed)
    np.testing.assert_equal(again, first)
    return first


def check_gradient(build, value):
    """Holds the gradient of `build(x)` against a central difference."""
    x = tf.placeholder(tf.float64, np.shape(value))
    y = tf.reduce_sum(build(x))
    (slope,) = tf.gradients(y, x)
    step, direction = 1e-6, np.random.default_rng(3).standard_normal(np.shape(value))
    with tf.Session() as session:
        high, low = (session.run(y, {x: value + s * step * direction}) for s in (1, -1))
        got = np.sum(session.run(slope, {x: value}) * direction)
    assert got == pytest.approx((high - low) / (2 * step), rel=1e-5, abs=1e-7)


# Conditionals


@pytest.mark.parametrize(("value", "want"), [(3.0, 6.0), (1.0, 101.0)])
def test_only_the_branch_taken_runs(value, want):
    x = tf.placeholder(tf.float32, [])
    counts = [tf.Variable(0), tf.Variable(0)]

    def branch(i, result):
        def build():
            with tf.control_dependencies([tf.assign_add(counts[i], 1)]):
                return tf.identity(result())

        return build

    y = tf.cond(x > 2, branch(0, lambda: x * 2), branch(1, lambda: x + 100))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(y, {x: value}) == want
        assert session.run(counts) == ([1, 0] if value > 2 else [0, 1])


@pytest.mark.pure
def test_nodes_of_a_conditional(graph):
    x = tf.placeholder(tf.float32, [], name="x")
    tf.cond(x > 0, lambda: x * 2.0, lambda: -x)
    assert [f"{op.name}:{op.type}" for op in graph.get_operations()[3:]] == [
        "cond/Switch:Switch",
        "cond/switch_t:Identity",
        "cond/switch_f:Identity",
        "cond/pred_id:Identity",
        "cond/mul/y:Const",
        "cond/mul:Mul",
        "cond/mul/Switch:Switch",
        "cond/Neg:Neg",
        "cond/Neg/Switch:Switch",
        "cond/Merge:Merge",
    ]


@pytest.mark.cpu
def test_structures_and_unpacking():
    yes, no = tf.constant(True), tf.constant(False)
    got = tf.cond(
        no,
        lambda: {"a": tf.constant(1), "b": [tf.constant(2)]},
        lambda: {"a": tf.constant(3), "b": [tf.constant(4)]},
    )
    assert run(got) == {"a": 3, "b": [4]}
    assert run(tf.cond(yes, lambda: [tf.constant(1)], lambda: [tf.constant(2)])) == 1
    strict = tf.cond(yes, lambda: [tf.constant(1)], lambda: [tf.constant(2)], strict=True)
    assert run(strict) == [1]


@pytest.mark.pure
def test_errors_of_conditionals():
    one, two = (lambda: tf.constant(1)), (lambda: tf.constant(2.0))
    with pytest.raises(TypeError, match="pred must not be a Python bool"):
        tf.cond(True, one, one)
    with pytest.raises(ValueError, match="same type: int32, float32"):
        tf.cond(tf.constant(True), one, two)
    with pytest.raises(ValueError, match="true_fn must have a return value"):
        tf.cond(tf.constant(True), lambda: None, one)
    with pytest.raises(ValueError, match="same nested structure"):
        tf.cond(tf.constant(True), one, lambda: [one(), one()])


def test_a_dead_value_cannot_be_fetched():
    from numbaflow.ops.flow import control_flow

    false, _ = control_flow.switch(tf.constant(1), tf.constant(True))
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="Retval"):
        session.run(false)


@pytest.mark.cpu
@pytest.mark.parametrize("value", [-1.5, 0.5, 2.5])
def test_gradient_of_nested_conditionals(value):
    check_gradient(
        lambda x: tf.cond(
            x > 0, lambda: tf.cond(x > 1, lambda: x**3, lambda: tf.sin(x)), lambda: x * x
        ),
        np.array(value),
    )


@pytest.mark.cpu
def test_case_and_switch_case():
    x = tf.placeholder(tf.int32, [])
    pairs = [(x < 1, lambda: tf.constant(10)), (x < 2, lambda: tf.constant(20))]
    by_case = tf.case(pairs, default=lambda: tf.constant(30))
    exclusive = tf.case(pairs, default=lambda: tf.constant(30), exclusive=True)
    by_index = tf.switch_case(x, [lambda: x + 1, lambda: x + 2], default=lambda: -x)
    with tf.Session() as session:
        assert [session.run(by_case, {x: i}) for i in range(3)] == [10, 20, 30]
        assert [session.run(by_index, {x: i}) for i in (-1, 0, 1, 5)] == [1, 1, 3, -5]
        with pytest.raises(tf.errors.InvalidArgumentError, match="more than 1 conditions"):
            session.run(exclusive, {x: 0})


# Loops


@pytest.mark.cpu
def test_a_loop_and_its_limit():
    i, total = tf.while_loop(lambda i, s: i < 10, lambda i, s: (i + 1, s + i), [0, 0])
    limited = tf.while_loop(lambda x: x < 1000, lambda x: x * 2, [1], maximum_iterations=4)
    never = tf.while_loop(lambda x: x < 0, lambda x: x + 1, [7], return_same_structure=True)
    assert run([i, total, limited, never]) == [10, 45, 16, [7]]


@pytest.mark.cpu
def test_a_loop_in_a_branch_not_taken():
    x = tf.placeholder(tf.float32, [])
    power = tf.cond(
        x > 0,
        lambda: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, x])[1],
        lambda: -x,
    )
    slope = tf.gradients(power, x)
    assert run([power, slope], {x: 2.0}) == [16.0, [32.0]]
    assert run([power, slope], {x: -2.0}) == [2.0, [-1.0]]


@pytest.mark.cpu
def test_effects_happen_in_every_iteration():
    v = tf.Variable(0.0)

    def body(i):
        with tf.control_dependencies([v.assign_add(2.0)]):
            return i + 1

    last = tf.while_loop(lambda i: i < 3, body, [tf.constant(0)])
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(last) == 3
        assert session.run(v) == 6.0


@pytest.mark.cpu
@pytest.mark.parametrize("static", [True, False])
def test_gradients_of_loops(static):
    def build(x):
        if not static:
            x = tf.placeholder_with_default(x, None)

        def inner(i, a):
            return tf.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, b * x + a), [0, a])[1]

        def body(i, a):
            odd = tf.equal(i % 2, 1)
            return i + 1, tf.cond(odd, lambda: inner(i, a), lambda: a + tf.sin(x))

        return tf.while_loop(lambda i, a: i < 5, body, [0, x])[1]

    check_gradient(build, np.array([0.7, -0.2]))


@pytest.mark.cpu
def test_gradient_of_a_loop_variable_that_nobody_takes():
    check_gradient(
        lambda x: tf.while_loop(
            lambda i, a, b: i < 4, lambda i, a, b: (i + 1, a * b, b + x), [0, x, x]
        )[1],
        np.array(1.3),
    )


@pytest.mark.cpu
def test_sparse_gradients_in_a_loop():
    table = tf.Variable(np.arange(12.0).reshape(4, 3))
    total = tf.while_loop(
        lambda i, s: i < 3,
        lambda i, s: (i + 1, s + tf.reduce_sum(tf.gather(table, [i, i + 1]))),
        [0, tf.constant(0.0, tf.float64)],
    )[1]
    (slope,) = tf.gradients(total, table)
    assert isinstance(slope, tf.IndexedSlices)
    np.testing.assert_array_equal(run(tf.convert_to_tensor(slope))[:, 0], [1, 2, 2, 1])


@pytest.mark.cpu
def test_shapes_may_change_only_where_declared():
    x = tf.constant([[1.0, 2.0]])

    def double(i, a):
        return i + 1, tf.concat([a, a], 0)

    with pytest.raises(ValueError, match="enters the loop with shape"):
        tf.while_loop(lambda i, a: i < 3, double, [0, x])
    shapes = [tf.TensorShape([]), tf.TensorShape([None, 2])]
    _, result = tf.while_loop(lambda i, a: i < 3, double, [0, x], shape_invariants=shapes)
    assert result.shape.as_list() == [None, 2]
    assert run(result).shape == (8, 2)


def test_values_from_inside_of_a_loop_stay_there():
    inside = []

    def body(i):
        inside.append(i * 2)
        return i + 1

    tf.while_loop(lambda i: i < 3, body, [0])
    with pytest.raises(ValueError, match="in a while loop"):
        tf.identity(inside[0])
    with tf.Session() as session, pytest.raises(ValueError, match="not fetchable"):
        session.run(inside[0])


@pytest.mark.cpu
def test_an_error_in_a_loop_names_the_node():
    i = tf.placeholder(tf.int32, [])
    result = tf.while_loop(lambda i: i < 9, lambda i: tf.gather([1, 9], i, name="pick"), [i])
    with tf.Session() as session:
        assert session.run(result, {i: 1}) == 9
        with pytest.raises(tf.errors.InvalidArgumentError, match="while/pick"):
            session.run(result, {i: 5})


@pytest.mark.cpu
def test_sparse_tensors_as_loop_variables():
    x = tf.SparseTensor([[0], [3]], [2.0, 4.0], [10])
    _, y = tf.while_loop(
        lambda i, s: i < 3,
        lambda i, s: (i + 1, tf.SparseTensor(s.indices, s.values * 2.0, s.dense_shape)),
        [0, x],
    )
    np.testing.assert_array_equal(run(y).values, [16, 32])


@pytest.mark.cpu
def test_eight_threads_share_one_session():
    x = tf.placeholder(tf.float32, [None])
    squares = tf.map_fn(lambda e: e * e, x)
    total = tf.while_loop(
        lambda i, s: i < 20, lambda i, s: (i + 1, s + tf.reduce_sum(squares)), [0, 0.0]
    )[1]
    slope = tf.gradients(total, x)[0]
    problems = []

    def work(session, number):
        values = np.arange(number + 3, dtype=np.float32)
        for _ in range(5):
            got, grad = session.run([total, slope], {x: values})
            if got != 20 * np.sum(values**2) or not np.array_equal(grad, 40 * values):
                problems.append((number, got, grad))

    with tf.Session() as session:
        threads = [threading.Thread(target=work, args=(session, i)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not problems


@pytest.mark.cpu
def test_explain_says_why_it_is_not_compiled():
    size = tf.placeholder(tf.int32, [])
    x = tf.while_loop(lambda a: tf.strings.length(a) < size, lambda a: a + "ab", [tf.constant("a")])
    with settings.override(jit="always"), tf.Session() as session:
        assert session.run(x, {size: 4}) == b"aabab"
        assert "branches or loops" in str(session.explain(x, {size: 4}))


@pytest.mark.cpu
def test_contexts_survive_a_meta_graph():
    x = tf.placeholder(tf.float32, [], name="x")
    loop = tf.while_loop(lambda a: a < 100.0, lambda a: a * x, [x])
    tf.identity(tf.cond(x > 1, lambda: loop, lambda: -x), name="y")
    meta = tf.train.export_meta_graph()
    with tf.Graph().as_default() as other:
        tf.train.import_meta_graph(meta, import_scope="in")
        y, x = (other.get_tensor_by_name(f"in/{name}:0") for name in "yx")
        assert run([y, tf.gradients(y, x)], {x: 3.0}) == [243.0, [405.0]]


# TensorArrays and loops over rows


@pytest.mark.cpu
def test_tensor_arrays():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    array = tf.TensorArray(tf.float32, 3).unstack(x)
    out = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    _, out = tf.while_loop(
        lambda i, o: i < 3, lambda i, o: (i + 1, o.write(i, array.read(i) ** 2)), [0, out]
    )
    y = out.stack()
    got, size, slope = run([y, out.size(), tf.gradients(y, x)[0]])
    np.testing.assert_array_equal(got, np.array([[1, 4], [9, 16], [25, 36]]))
    assert size == 3
    np.testing.assert_array_equal(slope, [[2, 4], [6, 8], [10, 12]])


@pytest.mark.cpu
def test_split_concat_and_scatter():
    x = tf.constant(np.arange(8.0).reshape(4, 2))
    array = tf.TensorArray(tf.float64, 2, infer_shape=False).split(x, [1, 3])
    other = tf.TensorArray(tf.float64, 4).scatter([3, 0, 1, 2], x)
    joined, picked = array.concat(), other.gather([0, 3])
    slopes = tf.gradients([joined, picked * 2.0], x)[0]
    got = run([joined, picked, slopes])
    np.testing.assert_array_equal(got[0], np.arange(8).reshape(4, 2))
    np.testing.assert_array_equal(got[1], [[2, 3], [0, 1]])
    np.testing.assert_array_equal(got[2], [[3, 3], [3, 3], [1, 1], [1, 1]])


@pytest.mark.cpu
@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda a: a.write(2, 1.0).read(2), "not resizeable and size is: 2"),
        (lambda a: a.write(0, 1.0).write(0, 1.0).read(0), "already been written to"),
        (lambda a: a.read(5), "Tried to read from index 5 but array size is: 2"),
        (lambda a: a.write(0, [1.0]).stack(), "element shape is not fully defined|inconsistent"),
    ],
)
def test_errors_of_tensor_arrays(use, message):
    array = tf.TensorArray(tf.float32, 2, infer_shape=False)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(use(array))


@pytest.mark.cpu
@pytest.mark.parametrize("op_type", ["Write", "Scatter", "Split"])
def test_a_tensor_array_refuses_what_has_another_dtype(op_type):
    handle, flow = tf.raw_ops.TensorArrayV3(size=2, dtype=tf.float32)
    value = tf.constant([1.0, 2.0], tf.float64)
    given = {
        "Write": {"index": 0},
        "Scatter": {"indices": [0, 1]},
        "Split": {"lengths": np.array([1, 1], np.int64)},
    }
    make = getattr(tf.raw_ops, f"TensorArray{op_type}V3")
    out = make(handle=handle, value=value, flow_in=flow, **given[op_type])
    message = "TensorArray dtype is float but Op is trying to write dtype double"
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(out)


def test_an_element_is_read_once():
    array = tf.TensorArray(tf.float32, 1).write(0, 1.0)
    first = array.read(0)
    with tf.control_dependencies([first]):
        second = array.read(0)
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="clear_after_read = false"):
            session.run([first, second])


@pytest.mark.cpu
def test_functions_over_rows():
    x = tf.constant([1.0, 2.0, 3.0])
    mapped = tf.map_fn(lambda e: (e * 2, e + 1), x, dtype=(tf.float32, tf.float32))
    left = tf.foldl(lambda a, e: a * 10 + e, x)
    right = tf.foldr(lambda a, e: a * 10 + e, x)
    sums = tf.scan(lambda a, e: a + e, x)
    back = tf.scan(lambda a, e: a + e, x, initializer=0.0, reverse=True)
    got = run([mapped, left, right, sums, back])
    np.testing.assert_array_equal(got[0], [[2, 4, 6], [2, 3, 4]])
    assert got[1:3] == [123, 321]
    np.testing.assert_array_equal(got[3:], [[1, 3, 6], [6, 5, 3]])
    check_gradient(
        lambda x: tf.scan(lambda a, e: a * e, x) + tf.map_fn(tf.sin, x), np.array([0.5, 1.5, 2.0])
    )


@pytest.mark.cpu
def test_stacks_are_emptied_from_the_top():
    handle = tf.raw_ops.StackV2(max_size=-1, elem_type=tf.float32)
    with tf.control_dependencies([tf.raw_ops.StackPushV2(handle, [1.0])]):
        push = tf.raw_ops.StackPushV2(handle, [2.0])
    with tf.control_dependencies([push]):
        pop = tf.raw_ops.StackPopV2(handle, tf.float32)
    assert run(pop) == [2.0]
