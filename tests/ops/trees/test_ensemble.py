# SPDX-License-Identifier: Apache-2.0
"""Ensembles of trees: growing, pruning, predictions that begin where examples were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.io import protos
from numbaflow.ops.public import raw
from numbaflow.ops.trees.gains import Penalty, best, weights_and_gains
from numbaflow.train.estimator.trees.resources import QuantileAccumulator, TreeEnsemble

pytestmark = pytest.mark.cpu

FEATURES = [np.int32([0, 1, 2, 3]), np.int32([3, 2, 1, 0])]


def grow(ensemble: Any, *splits: tuple[int, int, float, int, float, float], **more: Any) -> Any:
    """Grows a layer of splits (feature, node, gain, threshold, left, right) of two features."""
    columns: list[list[Any]] = [[], [], [], [], []]
    for feature in range(2):
        mine = [split[1:] for split in splits if split[0] == feature]
        for i, dtype in enumerate((np.int32, np.float32, np.int32, np.float32, np.float32)):
            values = np.array([split[i] for split in mine], dtype)
            columns[i].append(values[:, None] if i > 2 else values)
    given = {"max_depth": 2, "learning_rate": 0.5, "pruning_mode": 0, **more}
    return raw.BoostedTreesUpdateEnsemble(ensemble.resource_handle, [0, 1], *columns, **given)


def message_of(session: Any, ensemble: Any) -> Any:
    return protos.TreeEnsemble.FromString(session.run(ensemble.serialize()[1]))


def predicted(ensemble: Any, trees: list[int], nodes: list[int]) -> Any:
    return raw.BoostedTreesTrainingPredict(
        ensemble.resource_handle, trees, nodes, FEATURES, logits_dimension=1
    )


def test_layers_and_predictions_that_go_on() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        ensemble = TreeEnsemble("trees", stamp_token=5)
        session.run(ensemble.initializer)
        logits, trees, nodes = session.run(predicted(ensemble, [0] * 4, [-1] * 4))
        assert logits.tolist() == [[0.0]] * 4 and nodes.tolist() == [0] * 4
        # Of splits that gain as much, that of the lesser feature is made.
        session.run(grow(ensemble, (1, 0, 2.0, 0, 9.0, 9.0), (0, 0, 2.0, 1, -2.0, 4.0)))
        first, trees, nodes = session.run(predicted(ensemble, [0] * 4, [0] * 4))
        assert first[:, 0].tolist() == [-1, -1, 2, 2] and nodes.tolist() == [1, 1, 2, 2]
        states = session.run(ensemble.get_states())
        assert [np.asarray(state).tolist() for state in states] == [6, 1, 0, 1, [1, 3]]
        session.run(grow(ensemble, (0, 2, 1.0, 2, 1.0, -1.0)))
        again, trees, nodes = session.run(predicted(ensemble, trees.tolist(), nodes.tolist()))
        # The tree is whole, and a next one has begun.
        assert trees.tolist() == [1] * 4 and nodes.tolist() == [0] * 4
        assert again[:, 0].tolist() == [0, 0, 0.5, -0.5]
        whole = session.run(raw.BoostedTreesPredict(ensemble.resource_handle, FEATURES, 1))
        np.testing.assert_array_equal(whole, first + again)
        states = session.run(ensemble.get_states())
        assert [np.asarray(state).tolist() for state in states] == [7, 2, 1, 2, [0, 1]]


def test_pruning_puts_predictions_right() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        ensemble = TreeEnsemble("trees")
        session.run(ensemble.initializer)
        session.run(grow(ensemble, (0, 0, 1.0, 1, -2.0, 4.0), pruning_mode=2))
        _, trees, nodes = session.run(predicted(ensemble, [0] * 4, [-1] * 4))
        session.run(
            grow(ensemble, (0, 1, -1.0, 0, 6.0, 8.0), (0, 2, 1.0, 2, 1.0, -1.0), pruning_mode=2)
        )
        tree, metadata = message_of(session, ensemble).trees[0], None
        assert len(tree.nodes) == 5 and tree.nodes[1].leaf.scalar == -1
        assert (
            not tree.nodes[1].HasField("metadata") and tree.nodes[2].bucketized_split.left_id == 3
        )
        metadata = message_of(session, ensemble).tree_metadata[0].post_pruned_nodes_meta
        moved = [(update.new_node_id, list(update.logit_change)) for update in metadata]
        assert moved == [(0, [0]), (1, [0]), (2, [0]), (1, [-3]), (1, [-4]), (3, [0]), (4, [0])]
        more, *_ = session.run(predicted(ensemble, trees.tolist(), nodes.tolist()))
        assert more[:, 0].tolist() == [0, 0, 0.5, -0.5]


def test_splits_without_gain_are_not_made() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        ensemble = TreeEnsemble("trees")
        session.run(ensemble.initializer)
        session.run(grow(ensemble, (0, 0, -1.0, 1, -2.0, 4.0), pruning_mode=1))
        assert len(message_of(session, ensemble).trees[0].nodes) == 1
        _, trees, whole, attempts, nodes = session.run(ensemble.get_states())
        assert (trees, whole, attempts, nodes.tolist()) == (1, 0, 1, [0, 1])


def test_bias_is_centered() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        ensemble = TreeEnsemble("trees")
        session.run(ensemble.initializer)
        center = raw.BoostedTreesCenterBias(
            ensemble.resource_handle, [[-2.0]], [[1.0]], l1=0.0, l2=1.0
        )
        assert (
            session.run(center) and message_of(session, ensemble).trees[0].nodes[0].leaf.scalar == 1
        )
        assert (
            session.run(center) and message_of(session, ensemble).trees[0].nodes[0].leaf.scalar == 2
        )


def test_state_is_saved(tmp_path: Any) -> None:
    path = str(tmp_path / "trees")
    with tf.Graph().as_default(), tf.Session() as session:
        ensemble, streams = TreeEnsemble("trees"), QuantileAccumulator(0.1, 1, 4, name="floats")
        session.run([ensemble.initializer, streams.initializer])
        session.run(streams.add_summaries([tf.range(100.0)], [1.0]))
        session.run([streams.flush(), grow(ensemble, (0, 0, 1.0, 1, -2.0, 4.0))])
        saver = tf.train.Saver()
        saver.save(session, path)
        kept = session.run([ensemble.serialize(), streams.get_bucket_boundaries()])
        session.run(ensemble.deserialize(0, b""))
        saver.restore(session, path)
        again = session.run([ensemble.serialize(), streams.get_bucket_boundaries()])
    assert kept[0] == again[0] and kept[0][1]
    np.testing.assert_array_equal(kept[1][0], again[1][0])
    names = dict(tf.train.list_variables(path))
    assert set(names) == {"floats:0_bucket_boundaries_0", "trees:0_serialized", "trees:0_stamp"}


def test_an_ensemble_that_is_not_there() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        ensemble = TreeEnsemble("trees")
        assert not session.run(ensemble.is_initialized())
        with pytest.raises(tf.errors.NotFoundError, match="does not exist"):
            session.run(ensemble.get_stamp_token())
        session.run(ensemble.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to parse tree ensemble"):
            session.run(ensemble.deserialize(0, b"\xff"))


def test_gains() -> None:
    penalty = Penalty(np.float32(1), np.float32(2))
    gradient, hessian = np.float32([[4], [-4], [0.5]]), np.float32([[1], [1], [1]])
    weight, gain = weights_and_gains(gradient, hessian, penalty)
    assert weight[:, 0].tolist() == [-1, 1, 0] and gain.tolist() == [3, 3, 0]
    whole = np.float32([[2, 0.5, 0.5, 1]])
    weight, gain = weights_and_gains(
        np.float32([[1, -1]]), whole, Penalty(np.float32(0), np.float32(0))
    )
    np.testing.assert_allclose(
        weight, -np.linalg.solve(whole.reshape(2, 2), [1, -1])[None], rtol=1e-6
    )
    diagonal, full = (
        weights_and_gains(np.float32([[1, 0, 3]]), each, Penalty(np.float32(0), np.float32(0)))
        for each in (np.float32([[2, 0, 4]]), np.diag(np.float32([2, 0, 4])).reshape(1, -1))
    )
    np.testing.assert_allclose(diagonal[0], full[0], atol=1e-6)
    np.testing.assert_allclose(diagonal[1], full[1], rtol=1e-6)


def test_best_keeps_to_the_first_of_equals() -> None:
    close = np.float32([1e-16, 2e-16, 3e-16])
    assert best(close) == 0
    assert best(np.float32([1, np.nan, 2, 2])) == 2
    assert best(np.float32([np.nan])) is None
