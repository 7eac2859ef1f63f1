# SPDX-License-Identifier: Apache-2.0
"""Branches and loops that are no plan as a whole run piece by piece, and give what the reference
kernels give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.engine.session import dataflow, host_calls
from numbaflow.jit.runtime import runner

from ...drawing import examples
from .loop_programs import PROGRAMS

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def _fresh_graph():
    tf.reset_default_graph()


def results(program: Any, mode: str) -> list[Any]:
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
        tf.set_random_seed(1)
        fetches, feeds = program(tf)
        session.run(tf.global_variables_initializer())
        return [session.run(fetches, feed) for feed in feeds for _ in range(2)]


@pytest.fixture
def nothing_is_interpreted(monkeypatch):
    """Fails where branches or loops run by reference kernels."""

    def refuse(*arguments: Any) -> Any:
        raise AssertionError("branches or loops run by reference kernels")

    monkeypatch.setattr(runner, "FlowProgram", refuse)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_programs_with_loops(program, nothing_is_interpreted):
    want, got = results(program, "never"), results(program, "always")
    for one, other in zip(want, got, strict=True):
        for a, b in zip(one, other, strict=True):
            if a is None or np.asarray(a).dtype.kind in "OS":
                assert a is None or np.array_equal(a, b)
            else:
                assert np.shape(a) == np.shape(b)
                np.testing.assert_allclose(b, a, rtol=2e-4, atol=2e-5)


# Random programs over float64, with operations that everybody computes to the same bits.
STEPS = (
    lambda x, y, i: x + y[:1],
    lambda x, y, i: x * 0.5 - 1.0,
    lambda x, y, i: tf.maximum(x, tf.reverse(x, [0])),
    lambda x, y, i: tf.concat([x, y[:2]], 0),
    lambda x, y, i: tf.concat([y[-1:], x, x[:1]], 0),
    lambda x, y, i: tf.cond(tf.size(x) > 5, lambda: x[2:], lambda: x + 1.0),
    lambda x, y, i: tf.cond(i % 2 > 0, lambda: -x, lambda: tf.concat([x, x[:1]], 0)),
    lambda x, y, i: tf.cond(x[0] > y[0], lambda: x - y[0], lambda: tf.stop_gradient(x) * 2.0),
    lambda x, y, i: tf.gather(x, tf.range(tf.size(x)) // 2),
    lambda x, y, i: tf.py_func(lambda v: np.sort(v), [x], tf.float64),
    lambda x, y, i: tf.concat([x, tf.unique(x)[0]], 0),
    lambda x, y, i: tf.while_loop(
        lambda j, _: j < i % 3,
        lambda j, z: (j + 1, tf.concat([z, y[:1]], 0)),
        [0, x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )[1],
    lambda x, y, i: tf.while_loop(lambda j, _: j < i % 3, lambda j, z: (j + 1, z * 0.5), [0, x])[1],
)


def random_loop(choices: list[int], turns: int, in_branch: bool, differentiate: bool) -> Any:
    """A loop with two variables, whose body is made of chosen steps."""

    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float64, [None], name="x")

        def body(i: Any, a: Any, b: Any) -> Any:
            for number, choice in enumerate(choices):
                value = STEPS[choice](a, b, i)
                value.set_shape([None])
                a, b = (value, b) if number % 3 else (b, value)
            # (Not more than so many, however they grow.)
            return i + 1, a[:40], b[:30]

        def loop() -> Any:
            shapes = [tf.TensorShape([]), tf.TensorShape([None]), tf.TensorShape([None])]
            start = [0, x * 2.0, x[::-1]]
            return tf.while_loop(lambda i, a, b: i < turns, body, start, shapes)[1:]

        a, b = tf.cond(x[0] > 0, loop, lambda: (x, x + 1.0)) if in_branch else loop()
        found = [a, b]
        if differentiate:
            found.append(tf.convert_to_tensor(tf.gradients(tf.reduce_max(a) * 2.0 + b[0], x)[0]))
        rng = np.random.default_rng(len(choices))
        feeds = [{x: np.round(rng.standard_normal(n) * 4) / 4} for n in (4, 7)]
        return found, feeds

    return program


NOT_DIFFERENTIABLE = {9, 10}


@examples(12)
@given(
    st.lists(st.integers(0, len(STEPS) - 1), min_size=1, max_size=4),
    st.integers(0, 4),
    st.booleans(),
    st.booleans(),
)
def test_random_loops_give_the_same_bits(choices, turns, in_branch, differentiate):
    differentiate = differentiate and not NOT_DIFFERENTIABLE.intersection(choices)
    program = random_loop(choices, turns, in_branch, differentiate)
    want, got = results(program, "never"), results(program, "always")
    for one, other in zip(want, got, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(b, a)


def test_what_fails_in_a_turn_says_what_and_leaves_the_session_fit():
    x = tf.placeholder(tf.float32, [None])
    n = tf.placeholder(tf.int32, [])
    shapes = [tf.TensorShape([]), tf.TensorShape([None])]
    _, y = tf.while_loop(
        lambda i, _: i < n,
        lambda i, y: (i + 1, tf.concat([y[:1], y[1:], [tf.gather(x, i, name="taken")]], 0)),
        [0, x],
        shape_invariants=shapes,
    )
    with settings.override(jit="always"), tf.Session() as session:
        feed = {x: [1.0, 2.0, 3.0]}
        np.testing.assert_array_equal(session.run(y, {**feed, n: 2}), [1, 2, 3, 1, 2])
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"3 is not in \[0, 3\)") as error:
            session.run(y, {**feed, n: 5})
        assert error.value.op.name == "while/taken"
        np.testing.assert_array_equal(session.run(y, {**feed, n: 3}), [1, 2, 3, 1, 2, 3])


def test_effects_of_turns_come_once_and_in_order():
    seen: list[Any] = []
    v = tf.Variable(1.0)
    shapes = [tf.TensorShape([]), tf.TensorShape([None])]

    def body(i: Any, y: Any) -> Any:
        added = tf.assign_add(v, 2.0)
        note = tf.py_func(lambda a, b: seen.append((int(a), float(b))), [i, added], [])
        with tf.control_dependencies([note]):
            return i + 1, tf.concat([y[:1], y[1:], [v.read_value()]], 0)

    _, y = tf.while_loop(lambda i, _: i < 3, body, [0, tf.zeros([1])], shape_invariants=shapes)
    with settings.override(jit="always"), tf.Session() as session:
        session.run(v.initializer)
        for start in (1.0, 7.0):
            got = session.run(y)
            np.testing.assert_array_equal(got, [0, start + 2, start + 4, start + 6])
        assert seen == [(i, 1.0 + 2 * (n + 1)) for n, i in enumerate([0, 1, 2, 0, 1, 2])]


def test_a_length_that_meets_another_size_compiles_nothing_new(monkeypatch):
    """The number of rows grows through the number of columns."""
    x = tf.placeholder(tf.float32, [None, None])
    shapes = [tf.TensorShape([]), tf.TensorShape([None, None])]
    _, y = tf.while_loop(
        lambda i, _: i < 8,
        lambda i, y: (i + 1, tf.concat([y, y[-1:] * 0.5 + tf.reduce_sum(x)], 0)),
        [0, x],
        shape_invariants=shapes,
    )
    traced: list[Any] = []
    from numbaflow.jit.runtime import segment_plans

    original = segment_plans.trace_segment
    monkeypatch.setattr(segment_plans, "trace_segment", lambda *a: traced.append(a) or original(*a))
    with settings.override(jit="always"), tf.Session() as session:
        assert session.run(y, {x: np.ones([2, 6])}).shape == (10, 6)
        count = len(traced)
        for rows, columns in ((3, 7), (2, 9), (4, 5)):
            want = np.ones([rows, columns])
            for _ in range(8):
                want = np.concatenate([want, want[-1:] * 0.5 + rows * columns])
            got = session.run(y, {x: np.ones([rows, columns])})
            np.testing.assert_allclose(got, want, rtol=1e-6)
        assert len(traced) == count


def test_reference_kernels_run_what_has_no_known_form(monkeypatch):
    """Merges of variables are left to them."""
    ran: list[Any] = []
    original = dataflow.FlowProgram
    monkeypatch.setattr(runner, "FlowProgram", lambda *a: ran.append(a) or original(*a))
    one, two = tf.Variable([1.0]), tf.Variable([2.0, 3.0], validate_shape=False)
    x = tf.placeholder(tf.float32, [])
    switched = [tf.raw_ops.RefSwitch(data=v._ref(), pred=x > 0) for v in (one, two)]
    merged = tf.raw_ops.RefMerge(inputs=[switched[0][1], switched[1][0]])[0]
    y = tf.identity(merged) * 2.0
    with settings.override(jit="always"), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for value, want in ((1.0, [2.0]), (-1.0, [4.0, 6.0])):
            np.testing.assert_array_equal(session.run(y, {x: value}), want)
    assert ran


def test_a_variable_is_written_again_when_sizes_are_new():
    """What the first part of a run writes is no given of the next run, whatever its sizes."""
    x = tf.placeholder(tf.float32, [None])
    v = tf.Variable(1.0)
    added = tf.assign_add(v, 2.0)
    with tf.control_dependencies([added]):
        found = tf.unique(x)[0]
    y = tf.reduce_sum(found) + added
    with settings.override(jit="always"), tf.Session() as session:
        session.run(v.initializer)
        got = [session.run(y, {x: np.ones(n)}) for n in (2, 1, 3, 2)]
        assert got == [4.0, 6.0, 8.0, 10.0]


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_condition_may_come_from_before_the_region(use_resource):
    # A branch asks whether its variable has a value; what found that out has run before it.
    with tf.Graph().as_default(), settings.override(jit="always"), tf.Session() as session:
        with tf.variable_scope("made", use_resource=use_resource):
            first = tf.Variable(tf.constant([1.0, 2.0]))
            second = tf.Variable(first.initialized_value() * 2.0)
        session.run(tf.global_variables_initializer())
        assert session.run(second).tolist() == [2.0, 4.0]


def test_a_variable_may_be_the_condition():
    with tf.Graph().as_default(), settings.override(jit="always"), tf.Session() as session:
        flag = tf.Variable(True, use_resource=False)
        x = tf.placeholder(tf.float32, [None])
        # A result whose shape nobody knows before: the branch runs piece by piece.
        y = tf.cond(flag, lambda: tf.py_func(lambda v: v * 2, [x], tf.float32), lambda: x - 1.0)
        session.run(tf.global_variables_initializer())
        assert session.run(y, {x: [3.0, 4.0]}).tolist() == [6.0, 8.0]
        session.run(flag.assign(False))
        assert session.run(y, {x: [3.0, 4.0]}).tolist() == [2.0, 3.0]


def test_the_gradient_of_a_loop_in_a_branch_of_a_loop():
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float64, [None], name="x")

        def inner(i: Any, a: Any) -> Any:
            return tf.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, b * x + a), [0, a])[1]

        def body(i: Any, a: Any) -> Any:
            odd = tf.equal(i % 2, 1)
            return i + 1, tf.cond(odd, lambda: inner(i, a), lambda: tf.concat([a, a[:1]], 0)[:2])

        y = tf.while_loop(lambda i, a: i < 5, body, [0, x])[1]
        return [y, *tf.gradients(y, x)], [{x: [0.75, -0.25]}]

    np.testing.assert_allclose(
        results(program, "always")[1][1], results(program, "never")[1][1], rtol=1e-12
    )


def test_lists_of_tensors_keep_what_they_were_given():
    element = tf.placeholder(tf.float32, [3])
    start = tf.raw_ops.EmptyTensorList(
        element_shape=tf.constant([3]), max_num_elements=-1, element_dtype=tf.float32
    )
    _, _, handle = tf.while_loop(
        lambda i, *_: i < 4,
        lambda i, x, handle: (
            i + 1,
            x * 2.0,
            tf.raw_ops.TensorListPushBack(input_handle=handle, tensor=x + 1.0),
        ),
        [0, element, start],
    )
    y = tf.raw_ops.TensorListStack(
        input_handle=handle, element_shape=tf.constant([3]), element_dtype=tf.float32
    )
    with settings.override(jit="always"), tf.Session() as session:
        got = session.run(y, {element: [1.0, 2.0, 3.0]})
    np.testing.assert_array_equal(got, [[2**i * n + 1.0 for n in (1, 2, 3)] for i in range(4)])


def test_the_first_of_what_is_computed_is_repeated():
    x, chosen = tf.placeholder(tf.float64, [None]), tf.placeholder(tf.bool, [None])
    y = tf.boolean_mask(x, chosen)
    _, z = tf.while_loop(
        lambda i, _: i < 1,
        lambda i, z: (i + 1, z + (z * 2.0)[:1]),
        [0, x],
        [tf.TensorShape([]), tf.TensorShape([None])],
    )
    with settings.override(jit="always"), tf.Session() as session:
        feed = {x: [1.0, 2.0, 3.0], chosen: [True, False, True]}
        found = session.run([y + (y * 2.0)[:1], z], feed)
    assert [part.tolist() for part in found] == [[3.0, 5.0], [3.0, 4.0, 5.0]]


def test_constants_of_a_branch_that_is_not_taken_fail_nobody() -> None:
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    with tf.Graph().as_default(), tf.Session() as session:
        content = session.run(tf.image.encode_png(pixels))
        # (Decoders of other forms are given the same constant.)
        decoded = tf.image.decode_image(tf.constant(content))
        for _ in range(3):
            assert (session.run(decoded) == pixels).all()
        wrong = tf.image.decode_image(tf.constant(b"BM" + bytes(60)))
        with pytest.raises(tf.errors.InvalidArgumentError, match="Number of channels"):
            session.run(wrong)


def test_bodies_of_loops_read_and_write_arrays_of_their_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What maps texts over elements needs no plan for any of its turns."""
    made: list[set[str]] = []

    class Noted(host_calls.HostCalls):
        def __init__(self, session: Any, operations: Any, *arguments: Any, **more: Any) -> None:
            made.append({op.type for op in operations})
            super().__init__(session, operations, *arguments, **more)

    monkeypatch.setattr(host_calls, "HostCalls", Noted)
    texts = tf.placeholder(tf.string, [None])
    found = tf.map_fn(tf.image.decode_png, texts, dtype=tf.uint8)
    pictures = np.random.default_rng(0).integers(0, 256, (3, 4, 6, 1), np.uint8)
    with tf.Session() as session:
        files = [session.run(tf.image.encode_png(picture)) for picture in pictures]
        for _ in range(3):
            assert (session.run(found, {texts: files}) == pictures).all()
            with pytest.raises(tf.errors.InvalidArgumentError, match="DecodePng"):
                session.run(found, {texts: [files[0], b"no picture"]})
    assert any({"DecodePng", "TensorArrayWriteV3"} <= types for types in made)


def test_what_a_branch_that_is_not_taken_hands_to_the_next_part() -> None:
    """That it is not taken is known from sizes when the first part is traced."""
    with tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        sizes = tf.size(x) - tf.size(tf.range(tf.size(x)))
        queue = tf.FIFOQueue(3, [tf.float32], shared_name="between")
        with tf.control_dependencies([queue.enqueue([tf.exp(x)])]):
            y = queue.dequeue()
        sides = [lambda: y * 2.0, lambda: -y, lambda: tf.sin(y)]
        chosen = tf.switch_case(sizes, sides)
        for values in ([1.0, 2.0], [3.0]):
            np.testing.assert_allclose(
                session.run(chosen, {x: values}), np.exp(np.float32(values)) * 2, rtol=1e-6
            )
