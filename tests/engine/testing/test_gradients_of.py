# SPDX-License-Identifier: Apache-2.0
"""`numbaflow.testing.check_gradients`: what it finds, where, and what it leaves alone."""

from __future__ import annotations

import dataclasses
import inspect
import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow import testing

pytestmark = pytest.mark.programs

R = np.random.default_rng(1)
X = R.standard_normal((3, 4))


def planted(f, gradient):
    """A function with a gradient that need not be right."""

    @tf.custom_gradient
    def call(x):
        return f(x), lambda g: gradient(g, x)

    return call


def fault_of(*args: Any, **keywords: Any) -> testing.Fault:
    """The one fault that a check finds."""
    with pytest.raises(testing.GradientError) as raised:
        testing.check_gradients(*args, **keywords)
    (fault,) = raised.value.report.faults
    assert str(fault) in str(raised.value)
    return fault


def test_a_right_function_passes_in_all_orders_and_modes() -> None:
    report = testing.check_gradients(
        lambda x, y: tf.nn.softmax(x @ y), X, R.standard_normal((4, 2))
    )
    assert report.passed and not report.kinks and not report.notes
    assert {(row.order, row.mode, row.input) for row in report.rows} == {
        (order, mode, x)
        for order in (1, 2)
        for mode in ("reverse", "forward")
        for x in ("x0", "x1")
    }
    assert all(row.worst < 1 and row.directions == 2 for row in report.rows)


def test_three_orders() -> None:
    report = testing.check_gradients(lambda x: tf.sin(x) * tf.exp(x), X, order=3)
    assert {row.order for row in report.rows} == {1, 2, 3}
    wrong = planted(tf.exp, lambda g, x: g * (tf.exp(x) + (x - tf.stop_gradient(x)) ** 2))
    assert testing.check_gradients(wrong, X, order=2).passed
    assert fault_of(wrong, X, order=3).order == 3


def test_the_complex_step_is_taken_where_all_ops_are_analytic() -> None:
    def methods(f) -> set[str]:
        return {row.method for row in testing.check_gradients(f, X, order=1).rows}

    assert methods(lambda x: tf.sin(x) @ tf.transpose(tf.exp(x))) == {"complex step"}
    assert methods(lambda x: tf.abs(x)) == {"central differences"}
    assert methods(tf.erf) == {"central differences"}


def test_a_fault_is_told_to_its_element_and_line() -> None:
    factors = np.array([1.0, 1.2, 1.0, 1.0])
    wrong = planted(tf.sin, lambda g, x: g * tf.cos(x) * factors)
    line = inspect.currentframe().f_lineno + 1
    fault = fault_of(lambda x: tf.reduce_sum(tf.exp(wrong(2.0 * x)), 1), X)
    assert (fault.order, fault.mode, fault.input) == (1, "reverse", "x")
    assert fault.element[1] == 1
    assert fault.symbolic / fault.numeric == pytest.approx(1.2)
    assert fault.at == X[fault.element]
    assert abs(fault.symbolic - fault.numeric) > fault.tolerance > fault.error
    assert fault.op is not None and fault.op.type == "IdentityN"
    assert (fault.op.file, fault.op.line) == (__file__, line)


@pytest.mark.parametrize(
    ("gradient", "what"),
    [
        (lambda g, x: -g * tf.cos(x), "its sign is wrong"),
        (lambda g, x: 3.0 * g * tf.cos(x), "3 times too large"),
        (lambda g, x: g * tf.cos(x) / -2.0, "2 times too small, with the wrong sign"),
        (lambda g, x: 0.0 * g, "no gradient arrives"),
        (lambda g, x: g * np.nan, "the gradient is nan where the function is smooth"),
    ],
)
def test_a_fault_says_what_it_looks_like(gradient, what) -> None:
    assert what in fault_of(planted(tf.sin, gradient), X).what


def test_a_fault_of_the_second_order_is_found_in_the_gradient() -> None:
    fault = fault_of(planted(tf.sin, lambda g, x: g * tf.stop_gradient(tf.cos(x))), X)
    assert (fault.order, fault.mode) == (2, "reverse")
    assert fault.op is not None
    assert (fault.op.type, fault.op.forward_type) == ("StopGradient", "IdentityN")


def test_a_gradient_that_forgets_what_it_is_given_is_found_in_forward_mode() -> None:
    wrong = planted(tf.sin, lambda g, x: tf.stop_gradient(g) * tf.cos(x))
    fault = fault_of(wrong, X)
    assert (fault.order, fault.mode) == (1, "forward")
    assert fault.op is not None and fault.op.type == "StopGradient"
    assert testing.check_gradients(wrong, X, modes=("reverse",), order=1).passed


def test_an_op_of_the_table_is_named(monkeypatch) -> None:
    from numbaflow.engine.graph import registry

    definition = registry.lookup("Softplus")
    wrong = dataclasses.replace(definition, gradient=lambda op, g: g * tf.tanh(op.inputs[0]))
    monkeypatch.setitem(registry._TABLE, "Softplus", wrong)
    fault = fault_of(lambda x: tf.sin(tf.nn.softplus(tf.matmul(x, x, transpose_b=True))), X)
    assert fault.op is not None
    assert (fault.op.type, fault.op.name, fault.op.file) == ("Softplus", "Softplus", __file__)


def test_the_shape_of_a_gradient_is_checked() -> None:
    def call(x):
        unknown = tf.placeholder_with_default(x, [None, None])
        return planted(tf.sin, lambda g, x: tf.cos(x)[:1] * g[:1])(unknown)

    fault = fault_of(call, X)
    assert "(1, 4)" in fault.what and fault.op is not None
    assert (fault.op.type, fault.op.forward_type) == ("Mul", "IdentityN")


@pytest.mark.parametrize("f", [tf.nn.relu, tf.abs, lambda x: tf.maximum(x, 0.0), tf.floor])
def test_kinks_are_reported_and_the_gradient_checked_beside_them(f) -> None:
    report = testing.check_gradients(f, np.array([-1.3, 0.0, 2.2]))
    assert report.kinks and {kink.element for kink in report.kinks} == {(1,)}
    assert {row.order for row in report.rows} >= {1}


def test_where_keeps_its_trap() -> None:
    """The function is smooth at -1, but the gradient of the branch not taken is not a number."""
    safe = lambda x: tf.where(x > 0, tf.sqrt(x), tf.zeros_like(x))  # noqa: E731
    assert np.isnan(fault_of(safe, np.array([-1.0, 2.0])).symbolic)


def test_sparse_gradients_and_integers() -> None:
    index = np.array([[0, 2], [2, 2]])
    report = testing.check_gradients(lambda x, i: tf.nn.embedding_lookup(x, i) ** 3, X, index)
    assert {row.input for row in report.rows} == {"x0"}


def test_complex_numbers_and_a_wrong_conj() -> None:
    z = X + 1j * R.standard_normal(X.shape)
    assert testing.check_gradients(lambda z: tf.abs(tf.fft(z)) * tf.real(z * z), z).passed
    fault = fault_of(planted(lambda z: z * z, lambda g, z: g * 2.0 * z), z)
    assert fault.direction.imag or fault.at.imag


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float32])
def test_narrow_types_are_held_against_double_precision(dtype) -> None:
    x = X.astype(dtype.as_numpy_dtype)
    assert testing.check_gradients(lambda x: tf.nn.softmax(tf.tanh(x)), x).passed
    assert fault_of(planted(tf.tanh, lambda g, x: g * (1 + tf.tanh(x) ** 2)), x).order == 1


@pytest.mark.parametrize("use_resource", [False, True])
def test_variables(use_resource) -> None:
    with tf.Graph().as_default():
        with tf.variable_scope("", use_resource=use_resource):
            w = tf.get_variable("w", [4, 2], initializer=tf.random_normal_initializer(seed=1))
            table = tf.get_variable(
                "table", [5, 4], initializer=tf.random_normal_initializer(seed=2)
            )
        x = tf.placeholder(tf.float32, [None, 4])
        loss = tf.reduce_mean(tf.tanh((x + tf.gather(table, [1, 3, 1])) @ w))
        feeds = {x: X.astype(np.float32)}
        report = testing.check_gradients(loss, feed_dict=feeds)
        assert {row.input for row in report.rows} == {"w", "table", "Placeholder:0"}
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            before = session.run([w, table])
            report = testing.check_gradients(loss, w, feed_dict=feeds, session=session)
            assert {row.input for row in report.rows} == {"w"}
            for old, new in zip(before, session.run([w, table]), strict=True):
                np.testing.assert_array_equal(old, new)


def test_branches_and_loops() -> None:
    def branch(x):
        return tf.cond(tf.reduce_sum(x) > 0, lambda: x * x, lambda: tf.exp(x))

    for sign in (1, -1):
        assert testing.check_gradients(branch, sign * np.abs(X)).passed

    def loop(step):
        return lambda x: tf.while_loop(
            lambda i, a: i < 3, lambda i, a: (i + 1, step(a) + x), [0, x]
        )[1]

    report = testing.check_gradients(loop(tf.sin), X)
    assert {row.order for row in report.rows} == {1}
    assert any("loop" in note for note in report.notes)
    assert fault_of(loop(planted(tf.sin, lambda g, x: g)), X).order == 1


@pytest.mark.parametrize("around", ["loop", "branch", "branch in a loop"])
@pytest.mark.parametrize("made", ["function", "override"])
def test_what_is_at_fault_within_loops_and_branches_is_named(around: str, made: str) -> None:
    right, wrong = planted(tf.exp, lambda g, x: g * tf.exp(x)), planted(tf.sin, lambda g, x: g)

    def step(x):
        if made == "function":
            return right(tf.tanh(wrong(x)))
        with tf.get_default_graph().gradient_override_map({"Sin": "SinAtFault"}):
            return right(tf.tanh(tf.sin(x)))

    def branch(x, function):
        return tf.cond(x[0, 0] < 99, lambda: function(x), lambda: x)

    def whole(x):
        if around == "branch":
            return branch(x, step)
        turn = step if around == "loop" else lambda x: branch(x, step)
        return tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, turn(a) * x), [0, x])[1]

    fault = fault_of(whole, X)
    assert fault.op is not None
    assert fault.op.type == ("IdentityN" if made == "function" else "Sin")
    assert fault.op.file == __file__
    if made == "function":
        # (Of the two that are so called the one that was made first.)
        assert fault.op.name.rpartition("/")[2] == "IdentityN"


@tf.RegisterGradient("SinAtFault")
def _sin_at_fault(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
    return grad * op.outputs[0]


def test_random_numbers_and_stopped_gradients_stay() -> None:
    assert testing.check_gradients(lambda x: tf.nn.dropout(x * x, 0.5), np.abs(X)).passed
    assert testing.check_gradients(lambda x: x + tf.stop_gradient(tf.round(x) - x), X).passed


def test_what_has_no_second_derivative_is_a_note() -> None:
    report = testing.check_gradients(
        lambda x: tf.nn.lrn(x), R.standard_normal((1, 2, 2, 3)).astype("f")
    )
    assert {row.order for row in report.rows} == {1}
    assert any("LRNGrad" in note for note in report.notes)


def test_a_report_is_plain_data() -> None:
    report = testing.gradient_report(planted(tf.sin, lambda g, x: -g * tf.cos(x)), X)
    data = json.loads(json.dumps(report.as_dict()))
    assert data["passed"] is False and data["faults"][0]["op"]["type"] == "IdentityN"


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="nothing to differentiate by"):
        testing.check_gradients(lambda i: tf.cos(tf.to_double(i)), np.array([1, 2]))
    with pytest.raises(ValueError, match="nothing to differentiate:"):
        testing.check_gradients(lambda x: x > 0, X)
    with pytest.raises(ValueError, match="modes"):
        testing.check_gradients(tf.sin, X, modes=("backward",))
    with pytest.raises(ValueError, match="order"):
        testing.check_gradients(tf.sin, X, order=0)


IMPORT = """
import sys
from numbaflow import testing
testing.check_gradients
assert not {"hypothesis", "pytest", "numba"} & set(sys.modules)
"""


@pytest.mark.process
def test_the_import_brings_no_test_tools() -> None:
    subprocess.run([sys.executable, "-c", IMPORT], check=True, timeout=60)


@pytest.mark.parametrize("in_a_loop", [False, True])
def test_functions_with_tensor_arrays_are_checked_as_strictly(in_a_loop: bool) -> None:
    """The arrays' flows are single precision, and no numbers of the function's."""

    def rows(x, function):
        array = tf.TensorArray(x.dtype, 3).unstack(x)
        if not in_a_loop:
            return tf.stack([function(array.read(i)) for i in range(3)])
        start = [0, tf.TensorArray(x.dtype, 3)]
        turn = lambda i, out: (i + 1, out.write(2 - i, function(array.read(i))))  # noqa: E731
        return tf.while_loop(lambda i, out: i < 3, turn, start)[1].stack()

    def nearly(factor):
        return planted(tf.exp, lambda g, x: g * tf.exp(x) * factor)

    assert fault_of(lambda x: rows(x, nearly(1 + 1e-7)), X).order == 1
    report = testing.check_gradients(lambda x: rows(x, nearly(1)), X)
    assert not report.kinks
