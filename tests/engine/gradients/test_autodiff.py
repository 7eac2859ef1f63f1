# SPDX-License-Identifier: Apache-2.0
"""`tf.gradients`: the nodes it makes, against recorded ones of TensorFlow 1.15, and its values."""

from __future__ import annotations

import gzip
import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.programs

HERE = Path(__file__).parent


def _programs() -> ModuleType:
    spec = importlib.util.spec_from_file_location("node_programs", HERE / "node_programs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PROGRAMS = _programs()
RECORDED = json.loads(gzip.decompress((HERE / "node_programs.json.gz").read_bytes()))


@pytest.mark.pure
@pytest.mark.parametrize("program", PROGRAMS.PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.filterwarnings("ignore")
def test_nodes_are_those_of_tensorflow(program) -> None:
    ours, theirs = PROGRAMS.nodes(tf, program), RECORDED[program.__name__]
    for mine, other in zip(ours, theirs):
        assert mine == other
    assert len(ours) == len(theirs)


@pytest.mark.pure
def test_scope_colocation_and_default_gradients() -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    (g,) = tf.gradients(x * x, x, name="back", colocate_gradients_with_ops=True)
    assert g.op.name.startswith("back/")
    assert b"loc:@mul" in g.op.inputs[0].op.colocation_groups()


def test_values_of_first_and_second_derivatives() -> None:
    x = tf.constant([1.0, 2.0])
    (first,) = tf.gradients(x * x * x, x)
    (second,) = tf.gradients(first, x)
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(first), [3.0, 12.0])
        np.testing.assert_allclose(session.run(second), [6.0, 12.0])


def test_stop_gradients_and_unconnected() -> None:
    x = tf.constant(3.0)
    y = x * 2.0
    with tf.Session() as session:
        (g,) = tf.gradients(x * y, x, stop_gradients=[y])
        assert session.run(g) == 6.0
        other = tf.constant(1.0)
        assert tf.gradients(y, other) == [None]
        (zero,) = tf.gradients(y, other, unconnected_gradients=tf.UnconnectedGradients.ZERO)
        assert session.run(zero) == 0.0
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'nope'"):
        tf.gradients(y, x, unconnected_gradients="nope")


@pytest.mark.pure
def test_ops_without_gradient() -> None:
    x = tf.constant([1.0, 2.0])
    assert tf.gradients(tf.cast(tf.argmax(x), tf.float32), x) == [None]
    masked = tf.unique(x)[0]
    with pytest.raises(LookupError, match=r"No gradient defined for operation 'Unique'"):
        tf.gradients(masked, x)


@pytest.mark.pure
def test_prevent_gradient_tells_the_reason() -> None:
    x = tf.constant(1.0)
    y = tf.raw_ops.PreventGradient(input=x, message="because")
    with pytest.raises(LookupError, match="Gradient explicitly disabled. Reason: because"):
        tf.gradients(y, x)


def test_override_map_and_registration() -> None:
    @tf.RegisterGradient("HalfForTest")
    def half(op, grad):
        return grad * 0.5

    x = tf.constant(2.0)
    with tf.get_default_graph().gradient_override_map({"Square": "HalfForTest"}):
        y = tf.square(x)
    with tf.Session() as session:
        assert session.run(tf.gradients(y, x)[0]) == 0.5
    with pytest.raises(KeyError, match="Registering two gradient with name 'HalfForTest'"):
        tf.RegisterGradient("HalfForTest")(half)
    with pytest.raises(KeyError, match="Registering two gradient with name 'Square'"):
        tf.RegisterGradient("Square")(half)


@pytest.mark.pure
def test_wrong_gradients_are_found() -> None:
    @tf.RegisterGradient("TooManyForTest")
    def too_many(op, grad):
        return grad, grad

    @tf.RegisterGradient("WrongShapeForTest")
    def wrong_shape(op, grad):
        return tf.zeros([7])

    for name, message in (
        ("TooManyForTest", "Num gradients 2 generated for op"),
        ("WrongShapeForTest", "Incompatible shapes between op input and calculated"),
    ):
        x = tf.constant([1.0])
        with tf.get_default_graph().gradient_override_map({"Identity": name}):
            y = tf.identity(x)
        with pytest.raises(ValueError, match=message):
            tf.gradients(y, x)


@pytest.mark.pure
def test_given_gradients_are_checked() -> None:
    x = tf.constant([1.0])
    with pytest.raises(ValueError, match="Passed 2 grad_ys for 1 ys"):
        tf.gradients(x, x, grad_ys=[None, None])
    with pytest.raises(TypeError, match="must be real or integer"):
        tf.gradients(x, x, grad_ys=[tf.constant([1j])])
    with pytest.raises(TypeError, match="must set grad_ys"):
        tf.gradients(tf.constant([1j]), x)
    with pytest.raises(ValueError, match="Invalid aggregation_method"):
        tf.gradients(x, x, aggregation_method=9)


def test_gather_gradients_stay_sparse_and_add_up() -> None:
    table = tf.constant(np.ones([4, 2], np.float32))
    y = tf.gather(table, [0, 1]) + tf.gather(table, [1, 3])
    (g,) = tf.gradients(y, table)
    assert isinstance(g, tf.IndexedSlices)
    with tf.Session() as session:
        indices, values = session.run([g.indices, g.values])
        assert indices.tolist() == [0, 1, 1, 3]
        assert values.shape == (4, 2)
        dense = session.run(tf.convert_to_tensor(g))
    np.testing.assert_allclose(dense[:, 0], [1, 2, 0, 1])


@pytest.mark.parametrize("method", [0, 1, 2])
def test_aggregation_methods_agree(method: int) -> None:
    x = tf.constant(2.0)
    (g,) = tf.gradients(x * x + x + tf.exp(x), x, aggregation_method=method)
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(g), 5 + np.exp(2.0), rtol=1e-6)


def test_custom_gradient() -> None:
    @tf.custom_gradient
    def log1pexp(x):
        e = tf.exp(x)
        return tf.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))

    x = tf.constant(100.0)
    with tf.Session() as session:
        assert session.run(tf.gradients(log1pexp(x), x)[0]) == 1.0
    with pytest.raises(ValueError, match="keywords"):
        log1pexp(x=x)


def test_a_custom_gradient_of_variables_has_some(caplog: pytest.LogCaptureFixture) -> None:
    """As in TensorFlow 1.15, which finds no reference variables: their gradients would be lost."""
    x = tf.constant(2.0)
    by_name = tf.custom_gradient(lambda x: (x * 2.0, lambda dy, variables=None: dy * 3.0))
    by_any_name = tf.custom_gradient(lambda x: (x * 2.0, lambda dy, **kwargs: dy * 3.0))
    for double in (by_name, by_any_name, tf.grad_pass_through(tf.round)):
        with pytest.raises(TypeError, match="variable scope must have use_resource=True"):
            double(x)
    with tf.variable_scope("resources", use_resource=True), caplog.at_level("WARNING"):
        y = by_name(x)
    assert "no ResourceVariables were used" in caplog.text
    with tf.Session() as session:
        assert session.run(tf.gradients(y, x)[0]) == 3.0


def test_a_custom_gradient_has_a_custom_gradient() -> None:
    """As in the activations of StyleGAN, in a scope without resources."""

    @tf.custom_gradient
    def cube(x: Any) -> Any:
        @tf.custom_gradient
        def gradient(dy: Any) -> Any:
            return 3.0 * x**2 * dy, lambda ddy: 5.0 * ddy

        return x**3, gradient

    x = tf.constant([1.0, 2.0])
    first = tf.gradients(cube(x), x, tf.constant([1.0, 10.0]))[0]
    upstream = tf.constant([1.0, 1.0])
    second = tf.gradients(tf.gradients(cube(x), x, upstream)[0], upstream)[0]
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(first), [3.0, 120.0])
        np.testing.assert_array_equal(session.run(second), [5.0, 5.0])


def test_gradient_checker() -> None:
    x = tf.constant(np.array([[1.0, 2.0], [3.0, 4.0]]), name="x")
    y = tf.matmul(x, x)
    with tf.Session():
        analytic, numeric = tf.test.compute_gradient(x, [2, 2], y, [2, 2])
        assert analytic.shape == numeric.shape == (4, 4)
        assert tf.test.compute_gradient_error(x, [2, 2], y, [2, 2]) < 1e-6
        rows = tf.gather(x, [1, 1])
        assert tf.test.compute_gradient_error(x, [2, 2], rows, [2, 2]) < 1e-6


def test_a_product_with_the_hessian_needs_no_matrix() -> None:
    from numbaflow.engine.gradients.autodiff import _hessian_vector_product

    x = tf.constant([1.0, 2.0, 3.0])
    direction = tf.constant([1.0, 0.0, -1.0])
    (product,) = _hessian_vector_product(x[0] * x[1] * x[2], [x], [direction])
    with tf.Session() as session:
        assert session.run(product).tolist() == [-2.0, 3 - 1.0, 2.0]
    with pytest.raises(ValueError, match="same length"):
        _hessian_vector_product(x[0], [x], [])
