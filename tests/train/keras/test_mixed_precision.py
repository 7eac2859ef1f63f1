# SPDX-License-Identifier: Apache-2.0
"""Policies of layers, variables that are cast, and losses that are scaled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.train.layers import policy as policies
from numbaflow.train.variables.auto_cast import AutoCastVariable

pytestmark = pytest.mark.cpu
K = tf.keras
mixed = K.mixed_precision.experimental


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    K.backend.clear_session()
    yield
    policies.disable_v2_dtype_behavior()
    mixed.set_policy(None)


@pytest.mark.parametrize(
    ("name", "compute", "variables"),
    [
        ("float64", "float64", "float64"),
        ("float16_with_float32_vars", "float16", "float32"),
        ("mixed_bfloat16", "bfloat16", "float32"),
        ("infer", None, None),
        ("infer_float32_vars", None, "float32"),
        ("float32_with_float32_vars", "float32", "float32"),
    ],
)
def test_dtypes_of_policies(name: str, compute: str | None, variables: str | None) -> None:
    policy = mixed.Policy(name)
    assert (policy.compute_dtype, policy.variable_dtype) == (compute, variables)
    assert policy.should_cast_variables == (compute != variables)


def test_policies_that_are_none() -> None:
    with pytest.raises(TypeError, match="'name' must be a string, not a DType"):
        mixed.Policy(tf.float16)
    with pytest.raises(ValueError, match="abc_with_float32_vars ends with _with_float32_vars"):
        mixed.Policy("abc_with_float32_vars")
    with pytest.raises(ValueError, match="can only be set to a non-infer policy"):
        mixed.set_policy("float16")
    assert mixed.global_policy().name == "infer"


def test_scales_of_policies() -> None:
    assert mixed.Policy("mixed_float16").loss_scale.initial_loss_scale == 2**15
    assert mixed.Policy("float16_with_float32_vars", 8).loss_scale().shape == []
    assert mixed.Policy("float16").loss_scale is None


def test_variables_are_read_in_the_dtype_that_is_asked_for() -> None:
    inner = tf.Variable([1.0, 2.0], use_resource=True)
    v = AutoCastVariable(inner)
    graph = tf.get_default_graph()
    assert isinstance(v, type(inner)) and v.name == inner.name and v.dtype == tf.float32
    with graph._enable_auto_casting_variables(tf.float16):
        assert v.dtype == tf.float16 and v.true_dtype == tf.float32
        assert [x.dtype for x in (v + 1, v.value(), v.sparse_read([0]))] == [tf.float16] * 3
        assigned = v.assign([3.0, 4.0])
        gradient = tf.gradients(tf.reduce_sum(v * v), v)[0]
    assert v.value().dtype == tf.float32 and gradient.dtype == tf.float32
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(assigned.op)
        assert session.run(gradient).tolist() == [6, 8]
    with pytest.raises(ValueError, match="must be a floating point variable"):
        AutoCastVariable(tf.Variable(1, use_resource=True))


def _fitted(policy: Any) -> tuple[list[float], Any]:
    np.random.seed(0)
    tf.set_random_seed(1)
    given = K.layers.Input((4,), dtype="float16")
    x = K.layers.Dense(8, activation="relu", dtype=policy)(given)
    x = K.layers.BatchNormalization(dtype=policy)(x)
    model = K.Model(given, K.layers.Dense(1, dtype=policy)(x))
    model.compile(mixed.LossScaleOptimizer(K.optimizers.SGD(0.05), "dynamic"), "mse")
    x, y = np.random.rand(32, 4).astype("float16"), np.random.rand(32, 1).astype("float32")
    history = model.fit(x, y, epochs=4, batch_size=8, shuffle=False, verbose=0)
    return history.history["loss"], model


def test_a_model_trains_as_in_tensorflow() -> None:
    losses, model = _fitted(mixed.Policy("float16_with_float32_vars"))
    assert {w.dtype for w in model.weights} == {tf.float32}
    assert model.output.dtype == tf.float16
    # What TensorFlow 1.15.5 gives; five of the sixteen steps overflow, and are left out.
    expected = [2.157958984375, 1.142333984375, 0.415435791015625, 0.18393707275390625]
    np.testing.assert_allclose(losses, expected, rtol=3e-3)
    assert K.backend.get_value(model.optimizer.iterations) == 11


def test_a_models_policy_scales_its_loss() -> None:
    policies.enable_v2_dtype_behavior()
    mixed.set_policy("mixed_float16")
    model = K.Sequential([K.layers.Dense(2, input_shape=(3,)), K.layers.Dense(1)])
    model.compile(K.optimizers.SGD(0.1), "mse")
    assert isinstance(model.optimizer, mixed.LossScaleOptimizer)
    assert model.layers[0].kernel.dtype == tf.float32 and model.output.dtype == tf.float16
    with pytest.raises(ValueError, match=r"must be an instance of tf\.keras\.optimizers"):
        model.compile(tf.train.GradientDescentOptimizer(0.1), "mse")


def test_steps_with_gradients_that_are_not_finite_are_left_out() -> None:
    v = tf.Variable(1.0, use_resource=True)
    factor = tf.placeholder(tf.float32, [])
    scale = tf.train.experimental.DynamicLossScale(4.0, increment_period=2)
    optimizer = mixed.LossScaleOptimizer(K.optimizers.SGD(0.5), scale)
    step = optimizer.minimize(lambda: v * factor, [v])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = []
        for each in (1.0, np.inf, 1.0, 1.0):
            session.run(step, {factor: each})
            found.append(tuple(map(float, session.run([v, scale()]))))
    assert found == [(0.5, 4), (0.5, 2), (0, 2), (-0.5, 4)]
    with pytest.raises(AttributeError, match="momentum"):
        _ = optimizer.momentum
    with pytest.raises(ValueError, match="does not support wrapping optimizers with a clipnorm"):
        mixed.LossScaleOptimizer(K.optimizers.SGD(0.1, clipnorm=1.0), 2)
