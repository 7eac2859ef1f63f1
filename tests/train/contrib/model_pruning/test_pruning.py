# SPDX-License-Identifier: Apache-2.0
"""Pruning: thresholds and masks by hand, by blocks, in steps; layers, cells, stripped graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pruning = tf.contrib.model_pruning
W = np.float32([[0.1, -2.0, 0.3, 4.0], [-0.5, 0.6, 7.0, -0.8]])


def hparams(**given: Any) -> Any:
    return pruning.get_pruning_hparams().override_from_dict(given)


def masks_after(sparsity: Any, spec: Any = None, runs: int = 1) -> tuple[Any, Any]:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.get_or_create_global_step()
        weights = tf.get_variable("w", initializer=W)
        pruning.apply_mask(weights)
        update = pruning.Pruning(spec, sparsity=sparsity).mask_update_op()
        session.run(tf.global_variables_initializer())
        for _ in range(runs):
            session.run(update)
        return session.run([pruning.get_masks()[0], pruning.get_thresholds()[0]])


@pytest.mark.cpu
def test_small_weights_are_masked() -> None:
    mask, threshold = masks_after(0.5)
    np.testing.assert_array_equal(mask, np.abs(W) >= np.float32(0.8))
    assert mask.sum() == 4 and threshold == np.float32(0.8)


@pytest.mark.cpu
def test_thresholds_decay() -> None:
    _, threshold = masks_after(0.5, hparams(threshold_decay=0.75), runs=2)
    assert threshold == pytest.approx(0.8 * (1 - 0.75**2))


@pytest.mark.cpu
@pytest.mark.parametrize(
    ("kind", "kept"), [("AVG", [[0, 0, 1, 1]] * 2), ("MAX", [[0, 0, 1, 1]] * 2)]
)
def test_blocks(kind: str, kept: Any) -> None:
    spec = hparams(block_dims_map=["^w$:-1x2"], block_pooling_function=kind)
    np.testing.assert_array_equal(masks_after(0.5, spec)[0], kept)


@pytest.mark.cpu
def test_sparsity_grows_and_pruning_waits() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        step = tf.train.get_or_create_global_step()
        pruning.apply_mask(tf.get_variable("w", initializer=W))
        spec = hparams(pruning_frequency=3, sparsity_function_end_step=10, target_sparsity=0.75)
        spec.set_hparam("sparsity_function_exponent", 1.0)
        pruner = pruning.Pruning(spec)
        update = pruner.conditional_mask_update_op()
        session.run(tf.global_variables_initializer())
        shares = []
        for _ in range(11):
            session.run(tf.assign_add(step, 1))
            session.run(update)
            shares.append(session.run(pruning.get_weight_sparsity()[0]))
        wanted = [0, 0] + [0.25] * 3 + [0.5] * 3 + [0.625] * 3
        np.testing.assert_array_equal(shares, wanted)
        assert session.run(pruner._last_update_step) == 9


@pytest.mark.pure
@pytest.mark.parametrize(
    ("given", "message"),
    [
        (dict(begin_pruning_step=-1), "Illegal value for begin_pruning_step"),
        (dict(begin_pruning_step=5, end_pruning_step=4), "must begin before it can end"),
        (dict(target_sparsity=1.0), "target_sparsity must be in range"),
        (dict(weight_sparsity_map=["w:1.0"]), "can not exceed 1.0"),
        (dict(block_dims_map=["w:4"]), "Expected 2 values for block dim"),
    ],
)
def test_refused(given: dict[str, Any], message: str) -> None:
    with tf.Graph().as_default():
        tf.train.get_or_create_global_step()
        with pytest.raises(ValueError, match=message):
            pruning.Pruning(hparams(**given))


@pytest.mark.cpu
def test_layers_compute_with_masks_and_graphs_lose_them(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 4, 4, 1], name="x")
        net = pruning.masked_conv2d(x, 2, [3, 3], scope="conv")
        net = pruning.masked_fully_connected(
            tf.layers.flatten(net), 3, scope="fc", activation_fn=None
        )
        cell = pruning.MaskedBasicLSTMCell(2)
        outputs, _ = tf.nn.static_rnn(cell, [net, net], dtype=tf.float32)
        answer = tf.identity(outputs[-1], name="answer")
        names = [variable.op.name for variable in tf.global_variables()]
        assert {"conv/mask", "fc/threshold", "rnn/masked_basic_lstm_cell/mask"} <= set(names)
        assert len(pruning.get_masks()) == 3 and len(tf.trainable_variables()) == 6
        session.run(tf.global_variables_initializer())
        for number, mask in enumerate(pruning.get_masks()):
            drawn = np.random.RandomState(number).randint(0, 2, mask.shape.as_list())
            mask.load(drawn.astype(np.float32), session)
        data = np.random.RandomState(9).randn(2, 4, 4, 1).astype(np.float32)
        wanted = session.run(answer, {x: data})
        tf.train.Saver().save(session, str(tmp_path / "model"), global_step=1)
        assert session.run(net, {x: data}).shape == (2, 3) and graph is answer.graph
    with tf.Graph().as_default():
        whole = pruning.graph_def_from_checkpoint(str(tmp_path), ["answer"])
    stripped = pruning.strip_pruning_vars_fn(whole, ["answer:0"])
    assert not any(
        "mask" in node.name.split("/")[-1].removeprefix("masked") for node in stripped.node
    )
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(stripped, name="")
        np.testing.assert_allclose(session.run("answer:0", {"x:0": data}), wanted, rtol=1e-6)


@pytest.mark.cpu
@pytest.mark.filterwarnings("ignore:Attempting to use a closed FileWriter")
def test_training_prunes(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        net = pruning.masked_fully_connected(tf.ones([4, 5]), 6, activation_fn=None)
        loss = tf.losses.mean_squared_error(tf.zeros([4, 6]), net)
        train_op = tf.contrib.slim.learning.create_train_op(
            loss, tf.train.GradientDescentOptimizer(0.01)
        )
        update = pruning.Pruning(sparsity=0.8).mask_update_op()
        pruning.train(train_op, str(tmp_path), update, number_of_steps=2)
    mask = tf.train.load_variable(str(tmp_path), "fully_connected/mask")
    assert mask.sum() == pytest.approx(6) and mask.shape == (5, 6)
