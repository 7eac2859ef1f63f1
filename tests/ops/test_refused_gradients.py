# SPDX-License-Identifier: Apache-2.0
"""Which op types have gradients, none, or refuse: as recorded of TensorFlow 1.15."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import numbaflow as tf
from numbaflow.engine.graph import registry
from numbaflow.engine.graph.registry import NoGradient

from .test_registry import NAMES

# Kind of fact -> op types, which record_gradients.py writes.
RECORDED: dict[str, list[str]] = json.loads(
    Path(__file__).with_name("gradients_1_15.json").read_text()
)
KINDS = {name: kind for kind, names in RECORDED.items() for name in names}
LATER = "later versions of TensorFlow have a gradient"
# Op type -> why it is not as recorded.
OTHERWISE = {
    **dict.fromkeys(
        ("ClipByValue", "DebugGradientIdentity", "Einsum", "RaggedTensorToTensor"), LATER
    ),
    "MatrixExponential": "versions before 1.8, in whose graphs it is, had a gradient",
    **dict.fromkeys(
        ("PartitionedCall", "StatefulPartitionedCall"),
        "tf.gradients knows that they are calls, without a function that is registered",
    ),
    **dict.fromkeys(
        ("While", "StatelessWhile"), "theirs are registered once control flow v2 is switched on"
    ),
}


def kind_of(name: str) -> str:
    """What the op table says of an op type's gradient, in the words of the record."""
    gradient = registry.lookup(name).gradient
    if callable(gradient):
        return "function"
    return "none" if isinstance(gradient, NoGradient) and gradient.silent else "refused"


@pytest.mark.pure
def test_the_record_is_whole() -> None:
    assert RECORDED.keys() == {"function", "none", "refused"}
    assert len(KINDS) == sum(map(len, RECORDED.values())) > 1400


@pytest.mark.pure
def test_all_op_types_are_as_recorded() -> None:
    wrong = {
        name: (kind_of(name), KINDS[name])
        for name in NAMES
        if name in KINDS and name not in OTHERWISE and kind_of(name) != KINDS[name]
    }
    assert not wrong
    assert not [name for name in OTHERWISE if kind_of(name) == KINDS[name]]


@pytest.mark.pure
def test_op_types_of_later_versions_are_few() -> None:
    assert {name for name in NAMES if name not in KINDS} <= {
        *("CTCLossV2", "ExperimentalDatasetToSingleElement", "GenerateBoundingBoxProposals"),
        *("StatelessCase", "_SerializeSparseRows"),
    }


def _of_dataset(x: tf.Tensor) -> tf.Tensor:
    return tf.data.experimental.get_single_element(tf.data.Dataset.from_tensors(x).prefetch(1))


def _of_resizing(x: tf.Tensor) -> tf.Tensor:
    image = tf.reshape(x, [1, 2, 2, 1])
    return tf.gradients(tf.image.resize_bilinear(image, [3, 3]) ** 2, image)[0]


def _of_update(x: tf.Tensor) -> tf.Tensor:
    return tf.scatter_update(tf.Variable(tf.zeros([4]), use_resource=False), [0, 1, 2, 3], x)


def _of_maxima(x: tf.Tensor) -> tf.Tensor:
    return tf.sparse.reduce_max(tf.sparse.from_dense(x))


@pytest.mark.pure
@pytest.mark.parametrize(
    ("function", "op_type"),
    [
        (_of_dataset, "DatasetToSingleElement"),
        (_of_resizing, "ResizeBilinearGrad"),
        (_of_update, "ScatterUpdate"),
        (_of_maxima, "SparseReduceMax"),
    ],
)
def test_a_gradient_that_arrives_is_refused(
    function: Callable[[tf.Tensor], tf.Tensor], op_type: str
) -> None:
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    y = function(x)
    with pytest.raises(LookupError, match=rf"No gradient defined .* \(op type: {op_type}\)"):
        tf.gradients(y, x)


@pytest.mark.pure
def test_nothing_flows_back_where_that_is_declared() -> None:
    x = tf.constant([1.0, 2.0])
    variable = tf.Variable(tf.zeros([2]), use_resource=False)
    for y in (tf.stop_gradient(x), tf.py_func(abs, [x], tf.float32), tf.assign_add(variable, x)):
        assert tf.gradients(y, x) == [None]


@pytest.mark.cpu
def test_optional_values_hand_gradients_on() -> None:
    x, y = tf.constant([1.0, 2.0]), tf.constant(3.0)
    first, second = tf.data.experimental.Optional.from_value((x * x, y * 2)).get_value()
    with tf.Session() as session:
        slopes = session.run(tf.gradients(tf.reduce_sum(first) * second, [x, y]))
    assert [slope.tolist() for slope in slopes] == [[12.0, 24.0], 10.0]
