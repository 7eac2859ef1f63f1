# SPDX-License-Identifier: Apache-2.0
"""Optimizers that programs derive from those of `tf.keras`, with TensorFlow's inner methods."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu

optimizers: Any = tf.keras.optimizers
NAMES = "SGD RMSprop Adam Adamax Nadam Adagrad Adadelta Ftrl".split()


def steps(optimizer: Any, count: int = 3) -> list[np.ndarray]:
    """A matrix and rows of a table after some steps."""
    with tf.Graph().as_default(), tf.Session() as session:
        dense = tf.Variable(np.ones([2, 3], np.float32), use_resource=True)
        table = tf.Variable(np.ones([4, 2], np.float32), use_resource=True)
        rows = tf.nn.embedding_lookup(table, [1, 3, 1])
        loss = tf.reduce_sum(dense**2) + tf.reduce_sum(rows**2)
        train = optimizer.get_updates(loss, [dense, table])
        session.run(tf.global_variables_initializer())
        for _ in range(count):
            session.run(train)
        return list(session.run([dense, table]))


@pytest.mark.parametrize("name", NAMES)
def test_numbers_of_a_step_may_be_taken_from_a_state_or_not(name: str) -> None:
    class Passing(getattr(optimizers, name)):  # type: ignore[misc]
        def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
            return super()._resource_apply_dense(grad, var, apply_state)

    class Alone(getattr(optimizers, name)):  # type: ignore[misc]
        def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
            return super()._resource_apply_dense(grad, var)

        def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
            return super()._resource_apply_sparse(grad, var, indices)

    want = steps(getattr(optimizers, name)(0.1))
    assert not np.array_equal(want[0], np.ones([2, 3]))
    np.testing.assert_array_equal(want[1][[0, 2]], 1)
    # (Nadam's numbers change its cache, and are made for each variable where no state is passed.)
    for own in (Passing, Alone) if name != "Nadam" else (Passing,):
        for got, value in zip(steps(own(0.1)), want):
            np.testing.assert_array_equal(got, value)


def test_a_class_adds_its_own_numbers_and_decays_weights() -> None:
    class Decayed(optimizers.Adam):
        def __init__(self, rate: float, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.rate = rate

        def _prepare_local(self, var_device: str, var_dtype: Any, apply_state: Any) -> None:
            super()._prepare_local(var_device, var_dtype, apply_state)
            apply_state[var_device, var_dtype]["decay"] = tf.constant(self.rate, var_dtype)

        def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
            given = apply_state[var.device, var.dtype.base_dtype]
            assert {"lr_t", "lr", "beta_1_t", "one_minus_beta_2_t", "epsilon"} <= given.keys()
            decay = var.assign_sub(given["lr_t"] * given["decay"] * var)
            with tf.control_dependencies([decay]):
                return super()._resource_apply_dense(grad, var, apply_state)

    plain, _ = steps(optimizers.Adam(0.1), count=1)
    decayed, _ = steps(Decayed(0.5, learning_rate=0.1), count=1)
    np.testing.assert_allclose(decayed, plain - 0.1 * 0.5, rtol=1e-6)


def test_what_is_prepared_for_all_variables_is_there_for_each() -> None:
    class Own(optimizers.Optimizer):
        def __init__(self, **kwargs: Any) -> None:
            super().__init__("Own", **kwargs)
            self._set_hyper("learning_rate", 0.5)

        def _prepare(self, var_list: Any) -> Any:
            self.count = tf.constant(float(len(var_list)))
            return super()._prepare(var_list)

        def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
            return var.assign_sub(self.count * self._decayed_lr(tf.float32) * grad)

        def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
            return self._resource_scatter_add(var, indices, -grad)

    dense, table = steps(Own(), count=1)
    np.testing.assert_array_equal(dense, np.full([2, 3], 1 - 2 * 0.5 * 2, np.float32))
    np.testing.assert_array_equal(table[:, 0], [1, 1 - 4, 1, 1 - 2])
