# SPDX-License-Identifier: Apache-2.0
"""The base class of optimizers: slots, checks, gates and optimizers of one's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as g:
        yield g


def run(*fetches: Any, after: Any = ()) -> list[Any]:
    """Values of fetches after running ops once each, in a new session."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for op in after:
            session.run(op)
        return session.run(list(fetches))


def test_slots_and_variables() -> None:
    w = tf.Variable([1.0, 2.0], name="w")
    optimizer = tf.train.AdamOptimizer(0.1)
    assert optimizer.get_slot_names() == [] and optimizer.get_slot(w, "m") is None
    optimizer.minimize(tf.reduce_sum(w * w))
    assert optimizer.get_slot_names() == ["m", "v"]
    assert optimizer.get_slot(w, "m").op.name == "w/Adam"
    assert optimizer.get_slot(w, "v").op.name == "w/Adam_1"
    assert optimizer.get_slot(w, "other") is None
    names = [v.op.name for v in optimizer.variables()]
    assert names == ["beta1_power", "beta2_power", "w/Adam", "w/Adam_1"]
    with tf.Graph().as_default():
        assert optimizer.variables() == []
    assert optimizer.get_name() == "Adam"


def test_train_op_is_collected_and_named() -> None:
    w = tf.Variable(1.0)
    step = tf.train.get_or_create_global_step()
    first = tf.train.GradientDescentOptimizer(0.1).minimize(w * w, name="first")
    second = tf.train.GradientDescentOptimizer(0.1).minimize(w * w, step, name="second")
    assert (first.name, first.type) == ("first", "NoOp")
    assert (second.name, second.type) == ("second", "AssignAdd")
    collected = tf.get_collection(tf.GraphKeys.TRAIN_OP)
    assert [op.name for op in collected] == ["first", "second"]


def test_messages() -> None:
    w = tf.Variable(1.0, name="w")
    number = tf.Variable(1, name="number")
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    with pytest.raises(ValueError, match="No gradients provided for any variable, check"):
        optimizer.minimize(tf.constant(1.0))
    with pytest.raises(ValueError, match="No variables provided"):
        optimizer.apply_gradients([])
    with pytest.raises(ValueError, match="No gradients provided for any variable: "):
        optimizer.apply_gradients([(None, w)])
    with pytest.raises(ValueError, match="gate_gradients must be one of"):
        optimizer.compute_gradients(w * w, gate_gradients=7)
    with pytest.raises(ValueError, match="Invalid type tf.int32"):
        optimizer.minimize(number * number)
    with pytest.raises(TypeError, match="Gradient must be convertible"):
        optimizer.apply_gradients([(object(), w)])
    with pytest.raises(ValueError, match="Must specify the optimizer name"):
        tf.train.GradientDescentOptimizer(0.1, name="")
    with pytest.raises(AttributeError, match="'str' object has no attribute 'op'"):
        optimizer.compute_gradients(w * w, var_list=["w"])
    with pytest.raises(ValueError, match="must be positive"):
        tf.train.AdagradOptimizer(0.1, initial_accumulator_value=0.0)
    with pytest.raises(ValueError, match="l1_regularization_strength -1.000000 needs to be"):
        tf.train.FtrlOptimizer(0.1, l1_regularization_strength=-1.0)


@pytest.mark.parametrize("resource", [False, True])
def test_shapes_of_updates(resource: bool) -> None:
    b = tf.Variable([1.0, 2.0], name="b", use_resource=resource)
    table = tf.Variable([[1.0, 2.0]], name="table", use_resource=resource)
    momentum = tf.train.MomentumOptimizer(0.1, 0.9)
    for optimizer in (tf.train.GradientDescentOptimizer(0.1), momentum):
        with pytest.raises(ValueError, match="must be equal, but are 2 and 3. Shapes are"):
            optimizer.apply_gradients([(tf.ones([3]), b)])
    with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 1"):
        tf.train.AdamOptimizer([0.1, 0.2]).apply_gradients([(tf.ones([2]), b)])
    rows = tf.IndexedSlices(tf.ones([1, 3]), tf.constant([0]))
    with pytest.raises(ValueError, match="Dimension 1 in both shapes must be equal"):
        momentum.apply_gradients([(rows, table)])
    sparse = tf.SparseTensor([[0]], [1.0], [2])
    with pytest.raises(TypeError, match="Gradient must be a Tensor, IndexedSlices, or None"):
        momentum.apply_gradients([(sparse, b)])


def test_no_variables() -> None:
    with pytest.raises(ValueError, match="No variables to optimize"):
        tf.train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0))


def test_gradients_of_tensors_cannot_be_applied() -> None:
    x = tf.constant(3.0)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    pairs = optimizer.compute_gradients(x * x, var_list=[x])
    assert run(pairs[0][0]) == [6.0]
    with pytest.raises(NotImplementedError, match="Trying to update a Tensor"):
        optimizer.apply_gradients(pairs)


def test_learning_rates_may_be_functions_and_tensors() -> None:
    for rate in (lambda: 0.5, tf.constant(0.5), lambda: tf.constant(0.5), np.float32(0.5)):
        w = tf.Variable(2.0)
        train = tf.train.GradientDescentOptimizer(rate).minimize(3.0 * w, var_list=[w])
        assert run(w, after=[train]) == [0.5]


@pytest.mark.parametrize("dtype", [tf.float16, tf.float64])
@pytest.mark.parametrize("resource", [False, True])
def test_hyperparameters_follow_the_variable(dtype: Any, resource: bool) -> None:
    w = tf.Variable(tf.constant([1.0, 2.0], dtype), use_resource=resource)
    train = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(w * w))
    (value,) = run(w, after=[train])
    np.testing.assert_allclose(value, [0.9, 1.9], rtol=2e-3)


def test_own_optimizers() -> None:
    class SignDescent(tf.train.Optimizer):
        def __init__(self, rate: float) -> None:
            super().__init__(False, "SignDescent")
            self._rate = rate

        def _create_slots(self, var_list: list[Any]) -> None:
            for v in var_list:
                self._zeros_slot(v, "count", self._name)

        def _apply_dense(self, grad: Any, var: Any) -> Any:
            count = self.get_slot(var, "count").assign_add(tf.ones_like(grad))
            step = var.assign_sub(self._rate * tf.sign(grad))
            return tf.group(count, step)

    w = tf.Variable([1.0, -2.0])
    optimizer = SignDescent(0.25)
    train = optimizer.minimize(tf.reduce_sum(w * w))
    value, count = run(w, optimizer.get_slot(w, "count"), after=[train, train])
    assert value.tolist() == [0.5, -1.5] and count.tolist() == [2.0, 2.0]


def test_updates_see_the_gradients_of_the_same_step() -> None:
    """All gradients are taken before any variable moves, whatever the order of updates."""
    a, b = tf.Variable(2.0), tf.Variable(3.0)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(a * b)
    x, y = run(a, b, after=[train])
    np.testing.assert_allclose([x, y], [2.0 - 0.1 * 3.0, 3.0 - 0.1 * 2.0], rtol=1e-6)


def test_clipped_gradients() -> None:
    w = tf.Variable([3.0, 4.0])
    optimizer = tf.train.GradientDescentOptimizer(1.0)
    pairs = optimizer.compute_gradients(0.5 * tf.reduce_sum(w * w))
    clipped = [(tf.clip_by_norm(g, 1.0), v) for g, v in pairs]
    (value,) = run(w, after=[optimizer.apply_gradients(clipped)])
    np.testing.assert_allclose(value, [2.4, 3.2], rtol=1e-6)
