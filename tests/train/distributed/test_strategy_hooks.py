# SPDX-License-Identifier: Apache-2.0
"""Strategies that programs write themselves, scopes that are entered again, and steps of loops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.alias.internals import single_loss_example
from numbaflow.train.distributed.strategy_hooks import StrategyExtendedV1

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


class Doubling(StrategyExtendedV1):
    """One replica, whose reductions double."""

    def _call_for_each_replica(self, fn: Any, args: Any, kwargs: Any) -> Any:
        with tf.distribute.ReplicaContext(self._container_strategy(), tf.constant(0)):
            return fn(*args, **kwargs)

    def _create_variable(self, next_creator: Any, *args: Any, **kwargs: Any) -> Any:
        return next_creator(*args, **{**kwargs, "name": f"own_{kwargs['name']}"})

    def _reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        return value * (2 if reduce_op == tf.distribute.ReduceOp.SUM else 1)

    def _local_results(self, value: Any) -> Any:
        return (value,)

    def _update(self, var: Any, fn: Any, args: Any, kwargs: Any, group: bool) -> Any:
        return self._update_non_slot(var, fn, (var, *args), kwargs, group)

    def _update_non_slot(self, where: Any, fn: Any, args: Any, kwargs: Any, group: bool) -> Any:
        return fn(*args, **kwargs)


def strategy() -> Any:
    made = tf.distribute.Strategy.__new__(tf.distribute.Strategy)
    tf.distribute.Strategy.__init__(made, Doubling(made))
    return made


def test_what_is_public_calls_what_a_strategy_defines() -> None:
    own = strategy()
    with own.scope():
        v = tf.Variable(1.0, name="v")
        assert v.op.name == "own_v"
        assert own.extended.reduce_to("sum", 3, "/cpu:0") == 6
        assert own.extended.batch_reduce_to("mean", [(3, None), (4, None)]) == [3, 4]
        assert own.extended.update(v, lambda var, x: (var is v, x), (5,)) == (True, 5)
        assert own.experimental_local_results(3) == (3,)
    made = own.extended.call_for_each_replica(lambda x: (x, tf.distribute.get_strategy()), (1,))
    assert made == (1, own)
    with pytest.raises(NotImplementedError, match="Doubling._broadcast_to"):
        own.extended.broadcast_to(1, "/cpu:0")
    with strategy().scope(), pytest.raises(RuntimeError, match="Mixing different"):
        own.extended.reduce_to("sum", 3, "/cpu:0")
    with pytest.raises(RuntimeError, match="cross-replica context"):
        own.extended.call_for_each_replica(lambda: own.extended.reduce_to("sum", 3, "/cpu:0"))


def test_a_scope_may_be_entered_again() -> None:
    own = tf.distribute.OneDeviceStrategy("/cpu:0")
    scope = own.scope()
    with scope, scope, own.scope():
        assert tf.distribute.get_strategy() is own
    assert not tf.distribute.has_strategy()
    with scope:
        assert tf.distribute.has_strategy()
    default = tf.distribute.get_strategy()
    with default.scope():
        assert tf.distribute.get_replica_context() is not None
        with own.scope(), pytest.raises(RuntimeError, match="Mixing different"):
            tf.Variable(1.0)
    with own.scope(), pytest.raises(RuntimeError, match="Must not nest"):
        default.scope().__enter__()


def test_a_scope_within_must_not_outlast_it() -> None:
    own = tf.distribute.OneDeviceStrategy("/cpu:0")
    scope = own.scope()
    scope.__enter__()
    with tf.variable_scope("a"):
        with pytest.raises(RuntimeError, match="Variable scope nesting error"):
            scope.__exit__(None, None, None)
    with tf.variable_creator_scope(lambda creator, **kwargs: creator(**kwargs)):
        with pytest.raises(RuntimeError, match="Variable creator scope nesting error"):
            scope.__exit__(None, None, None)
    scope.__exit__(None, None, None)
    assert not tf.distribute.has_strategy()


@pytest.mark.parametrize("devices", [["/cpu:0"], ["/cpu:0", "/cpu:1"]])
def test_steps_make_a_loss_smaller(devices: list[str]) -> None:
    own = tf.distribute.MirroredStrategy(devices)
    with own.scope():
        step, layer = single_loss_example.single_loss_example(
            lambda: tf.train.GradientDescentOptimizer(0.1), own, iterations_per_step=2
        )
        train = step()
        kernel = own.experimental_local_results(own.extended.read_var(layer.kernel))[0]
    config = tf.ConfigProto(device_count={"CPU": len(devices)})
    with tf.Session(config=config) as sess:
        sess.run([tf.global_variables_initializer(), *step.initialize()])
        errors = []
        for _ in range(4):
            sess.run(train)
            errors.append(abs(float(sess.run(kernel)[0, 0]) - 1.0))
    assert errors == sorted(errors, reverse=True) and errors[-1] < errors[0]


def test_outputs_of_replicas_become_one() -> None:
    own = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with own.scope():
        iterator = own.make_dataset_iterator(tf.data.Dataset.range(8).batch(2))

        def one(context: Any, x: Any) -> Any:
            total = tf.cast(tf.reduce_sum(x), tf.float32)
            context.set_last_step_output("total", total, tf.distribute.ReduceOp.SUM)
            context.set_non_tensor_output("name", "a")
            with pytest.raises(ValueError, match="reduce_op"):
                context.set_last_step_output("other", total)
            return tf.no_op()

        context = own.extended.experimental_run_steps_on_iterator(
            lambda context, x: own.group(own.extended.call_for_each_replica(one, (context, x))),
            *(iterator, 2, {"total": tf.constant(0.0)}),
        )
    assert context.non_tensor_outputs == {"name": ("a",)}
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        sess.run(iterator.initialize())
        sess.run(context.run_op)
        assert (
            sess.run(context.last_step_outputs["total"]) == 6.0 + 7.0
        )  # (of steps 3 and 4: fetching it runs the loop)
