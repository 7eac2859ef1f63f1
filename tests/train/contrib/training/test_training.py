# SPDX-License-Identifier: Apache-2.0
"""Steps of training and evaluations of what they saved."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu

training = tf.contrib.training


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def line(graph_seed: int = 1) -> tuple[tf.Tensor, tf.Tensor]:
    """A linear model's loss and prediction, on data without noise."""
    tf.set_random_seed(graph_seed)
    x = tf.constant(np.linspace(-1, 1, 16, dtype=np.float32)[:, None])
    prediction = tf.layers.dense(x, 1, name="line")
    return tf.losses.mean_squared_error(3 * x + 1, prediction), prediction


def test_a_step_runs_updates_before_the_loss_and_returns_it():
    loss, _ = line()
    count = tf.Variable(0.0, trainable=False)
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign_add(count, 1.0))
    step = training.create_train_op(loss, tf.train.GradientDescentOptimizer(0.5))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run(step) for _ in range(20)]
        assert session.run(count) == 20
        assert session.run(tf.train.get_global_step()) == 20
    assert losses[-1] < 0.01 * losses[0]
    assert step in tf.get_collection(tf.GraphKeys.TRAIN_OP)


def test_gradients_are_clipped_and_multiplied_also_sparse_ones():
    table = tf.get_variable("table", initializer=np.ones((4, 2), np.float32))
    dense = tf.get_variable("dense", initializer=np.full(3, 4.0, np.float32))
    loss = tf.reduce_sum(tf.gather(table, [1, 1])) + tf.reduce_sum(dense**2)
    optimizer = tf.train.GradientDescentOptimizer(1.0)
    pairs = training.clip_gradient_norms(optimizer.compute_gradients(loss), 0.5)
    pairs = training.multiply_gradients(pairs, {table: 2.0, "dense": 3.0})
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        sparse, whole = session.run([gradient for gradient, _ in pairs])
    assert isinstance(sparse, tf.IndexedSlicesValue)
    assert np.linalg.norm(sparse.values) == pytest.approx(1.0)
    assert np.linalg.norm(whole) == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("pairs", "factors", "text"),
    [
        ((), {"a": 1}, "must be a list"),
        ([], {}, "is empty"),
        ([], ["a"], "must be a dict"),
    ],
)
def test_factors_that_are_none_are_refused(pairs, factors, text):
    with pytest.raises(ValueError, match=text):
        training.multiply_gradients(pairs, factors)


def test_what_was_trained_is_bytecode_from_its_checkpoint(tmp_path):
    loss, _ = line()
    step = training.create_train_op(loss, tf.train.GradientDescentOptimizer(0.5))
    hooks = [tf.train.StopAtStepHook(30)]
    last = training.train(step, str(tmp_path), hooks=hooks, save_summaries_steps=None)
    with tf.Graph().as_default():
        loss, prediction = line(2)
        mean, update = tf.metrics.mean(prediction)
        tf.summary.scalar("loss", loss)
        tf.train.get_or_create_global_step()
        at_end = training.SummaryAtEndHook(str(tmp_path / "eval"))
        result = training.evaluate_repeatedly(
            str(tmp_path),
            eval_ops=update,
            final_ops={"mean": mean, "loss": loss},
            hooks=[training.StopAfterNEvalsHook(3), at_end],
            max_number_of_evaluations=1,
        )
    assert result["loss"] < last
    assert result["mean"] == pytest.approx(1.0, abs=0.05)
    (events,) = (tmp_path / "eval").iterdir()
    tags = [v.tag for e in tf.train.summary_iterator(str(events)) for v in e.summary.value]
    assert tags == ["loss"]
