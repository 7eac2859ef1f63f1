# SPDX-License-Identifier: Apache-2.0
"""Functions of `tf.keras` that programs without its models use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.alias import finder

pytestmark = pytest.mark.pure

K = tf.keras.backend


@pytest.fixture
def settings() -> Iterator[None]:
    """Puts the backend's settings back."""
    kept = K.floatx(), K.epsilon(), K.image_data_format()
    yield
    K.set_floatx(kept[0])
    K.set_epsilon(kept[1])
    K.set_image_data_format(kept[2])


def test_sparse_tensors_are_told_from_others() -> None:
    with tf.Graph().as_default():
        assert K.is_sparse(tf.sparse_placeholder(tf.float32))
        assert not K.is_sparse(tf.constant(1.0)) and not K.is_sparse(3)


@pytest.mark.usefixtures("settings")
def test_settings_are_those_that_were_set() -> None:
    assert (K.floatx(), K.epsilon(), K.image_data_format()) == ("float32", 1e-7, "channels_last")
    K.set_floatx("float64")
    K.set_epsilon(1e-3)
    K.set_image_data_format("channels_first")
    assert (K.floatx(), K.epsilon(), K.image_data_format()) == ("float64", 1e-3, "channels_first")
    assert tf.keras.regularizers.l1(0.5).l1.dtype == np.float64
    with pytest.raises(ValueError, match="Unknown floatx type: int8"):
        K.set_floatx("int8")
    with pytest.raises(ValueError, match="Unknown data_format: rows"):
        K.set_image_data_format("rows")


@pytest.mark.programs
def test_the_session_is_the_default_one_or_else_the_graph_s_own() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.constant(3.0)
        with tf.Session() as default:
            assert K.get_session() is default
        own = K.get_session()
        assert own is not default and own is K.get_session([x]) and own.graph is graph
        assert own.run(x) == 3
        mine = tf.Session()
        K.set_session(mine)
        assert K.get_session() is mine
    with tf.Graph().as_default() as other:
        assert K.get_session().graph is other


def test_clearing_begins_a_new_graph() -> None:
    kept = tf.get_default_graph()
    try:
        K.clear_session()
        assert tf.get_default_graph() is not kept
        phase = tf.get_default_graph().get_operations()[-1]
        assert phase.name == "keras_learning_phase" and phase.type == "PlaceholderWithDefault"
    finally:
        tf.reset_default_graph()


@pytest.mark.cpu
@pytest.mark.parametrize(
    ("regularizer", "cost"),
    [
        (tf.keras.regularizers.l1(0.5), 1.5),
        (tf.keras.regularizers.l2(0.5), 2.5),
        (tf.keras.regularizers.l1_l2(1.0, 2.0), 13.0),
        (tf.keras.regularizers.L1L2(), 0.0),
        (tf.keras.regularizers.L1L2.from_config({"l1": 0.0, "l2": 3.0}), 15.0),
    ],
)
def test_regularizers_cost_what_their_factors_say(regularizer: Any, cost: float) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(regularizer(tf.constant([1.0, -2.0]))) == cost
    again = type(regularizer).from_config(regularizer.get_config())
    assert again.get_config() == regularizer.get_config()


def test_layers_take_them() -> None:
    with tf.Graph().as_default():
        penalty = tf.keras.regularizers.l2(0.1)
        tf.layers.dense(tf.ones([2, 3]), 4, kernel_regularizer=penalty)
        (loss,) = tf.losses.get_regularization_losses()
        assert loss.shape == () and loss.op.name == "dense/kernel/Regularizer/add"


def test_classes_become_rows() -> None:
    utils = tf.keras.utils
    assert utils.to_categorical([0, 2]).tolist() == [[1, 0, 0], [0, 0, 1]]
    assert utils.to_categorical([[1], [0]], 2, "int32").dtype == np.int32
    assert utils.to_categorical(np.zeros((2, 3, 1)), 4).shape == (2, 3, 4)
    rows = utils.normalize(np.array([[3.0, 4.0], [0.0, 0.0]]))
    assert np.allclose(rows, [[0.6, 0.8], [0, 0]])


def test_sequences_are_padded_and_cut() -> None:
    pad = tf.keras.preprocessing.sequence.pad_sequences
    assert finder.resolve("tensorflow.keras.preprocessing.sequence").pad_sequences is pad
    assert pad([[1], [2, 3], []]).tolist() == [[0, 1], [2, 3], [0, 0]]
    assert pad([[1, 2, 3]], 2).tolist() == [[2, 3]]
    rows = pad([[1, 2, 3], [4]], 2, padding="post", truncating="post", value=9)
    assert rows.tolist() == [[1, 2], [4, 9]] and rows.dtype == np.int32
    assert pad([[[1.5, 2.0]], []], dtype="float32").tolist() == [[[1.5, 2.0]], [[0.0, 0.0]]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([3],), "Found non-iterable: 3"),
        (([[1]], None, "int32", "left"), 'Padding type "left" not understood'),
        (([[1]], None, "int32", "pre", "left"), 'Truncating type "left" not understood'),
        (([[[1]], [[1, 2]]],), "of sequence at position 1 is different from expected shape"),
    ],
)
def test_what_cannot_be_padded_is_told(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tf.keras.preprocessing.sequence.pad_sequences(*arguments)


@pytest.mark.programs
def test_a_choice_between_rows_and_elements_has_tensorflows_nodes() -> None:
    with tf.Graph().as_default() as graph:
        chosen = K.switch(tf.constant([True, False]), tf.ones([2, 3]), tf.zeros([2, 3]))
        # As TensorFlow 1.15: where the condition is a vector, Select takes rows by itself.
        assert [op.type for op in graph.get_operations()][-1] == "Select"
        assert "Tile" not in {op.type for op in graph.get_operations()}
        first = len(graph.get_operations())
        tiled = K.switch(tf.constant([[True], [False]]), tf.ones([2, 3]), tf.zeros([2, 3]))
        kinds = [op.type for op in graph.get_operations()][first:]
        kinds = [kind for kind in kinds if kind not in ("Const", "Fill", "Shape")]
        assert kinds == ["ConcatV2", "Reshape", "Sub", "Greater", "Select", "Tile", "Select"]
        with tf.Session() as session:
            for found in session.run([chosen, tiled]):
                assert found.tolist() == [[1, 1, 1], [0, 0, 0]]


def test_modules_of_layers_have_their_private_classes() -> None:
    merge = finder.resolve("tensorflow.python.keras.layers.merge")
    losses = finder.resolve("tensorflow.python.ops.losses.loss_reduction")
    assert issubclass(tf.keras.layers.Add, merge._Merge)
    assert losses.ReductionV2.AUTO == tf.keras.losses.Reduction.AUTO


@pytest.mark.cpu
def test_weights_go_to_groups_of_files_and_back(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    hdf5_format = finder.resolve("tensorflow.python.keras.saving.hdf5_format")
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Dense(3, input_shape=(2,), name="a"), layers.Dense(1)])
    other = tf.keras.Sequential([layers.Dense(3, input_shape=(2,), name="a")])
    with h5py.File(tmp_path / "weights.h5", "w") as file:
        hdf5_format.save_weights_to_hdf5_group(file, model.layers)
        hdf5_format.save_attributes_to_hdf5_group(file, "words", [b"one", b"two"])
        assert hdf5_format.load_attributes_from_hdf5_group(file, "words") == ["one", "two"]
        with pytest.raises(ValueError, match="containing 2 ?layers into a model with 1 layers"):
            hdf5_format.load_weights_from_hdf5_group(file, other.layers)
        hdf5_format.load_weights_from_hdf5_group_by_name(file, other.layers)
        before = model.get_weights()
        model.set_weights([weight + 1 for weight in before])
        hdf5_format.load_weights_from_hdf5_group(file, model.layers)
    for made, wanted in zip([*other.get_weights(), *model.get_weights()], [*before[:2], *before]):
        np.testing.assert_array_equal(made, wanted)
