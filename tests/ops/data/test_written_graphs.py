# SPDX-License-Identifier: Apache-2.0
"""Datasets written as graphs: nodes, values and functions as TensorFlow 1.15 writes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.io.raw_tensors import runtime_array
from numbaflow.io.subgraph_hash import subgraph_hash
from numbaflow.ops.data.experimental.snapshotting import snapshot
from numbaflow.ops.flow.function_library import Defun

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


def written(dataset: Any, **given: Any) -> Any:
    with tf.Session() as session:
        return tf.GraphDef.FromString(session.run(dataset._as_serialized_graph(**given)))


def test_nodes_have_the_names_inputs_and_attributes_that_tensorflow_gives_them() -> None:
    graph = written(tf.data.Dataset.range(5).batch(2))
    assert [(node.name, node.op, list(node.input)) for node in graph.node] == [
        *((f"Const/_{i}", "Const", []) for i in range(3)),
        ("RangeDataset/_3", "RangeDataset", ["Const/_0", "Const/_1", "Const/_2"]),
        *((f"Const/_{i}", "Const", []) for i in (4, 5)),
        ("BatchDatasetV2/_6", "BatchDatasetV2", ["RangeDataset/_3", "Const/_4", "Const/_5"]),
        ("dataset", "_Retval", ["BatchDatasetV2/_6"]),
    ]
    assert sorted(graph.node[6].attr) == ["output_shapes", "output_types", "parallel_copy"]
    values = [runtime_array(node.attr["value"].tensor) for node in graph.node if node.op == "Const"]
    assert [value.tolist() for value in values] == [0, 5, 1, 2, False]
    assert graph.versions.producer == 134 and not graph.library.function


def test_values_are_those_that_the_dataset_was_made_with() -> None:
    variable = tf.get_variable("v", initializer=[1.0, 2.0])
    dataset = tf.data.Dataset.from_tensor_slices(variable)
    with tf.Session() as session:
        session.run(variable.initializer)
        graph, _ = session.run([dataset._as_serialized_graph(), dataset._variant_tensor])
    constant = tf.GraphDef.FromString(graph).node[0]
    assert runtime_array(constant.attr["value"].tensor).tolist() == [1.0, 2.0]


def test_functions_are_in_the_library_with_those_that_they_call() -> None:
    three = tf.constant(3.0)

    @Defun(tf.float32)
    def half(x: Any) -> Any:
        return x / 2

    dataset = tf.data.Dataset.from_tensors(np.float32(3)).map(lambda x: half(x) + three)
    graph = written(dataset)
    assert len(graph.library.function) == 2 and graph.versions.min_consumer == 12
    (mapping,) = [node for node in graph.node if node.op == "MapDataset"]
    names = {function.signature.name for function in graph.library.function}
    assert mapping.attr["f"].func.name in names
    assert len(mapping.input) == 2  # the dataset, and what the function takes from outside


def test_a_function_with_state_is_refused_unless_it_is_allowed() -> None:
    dataset = tf.data.Dataset.range(3).map(lambda x: tf.random.uniform([]))
    with pytest.raises(tf.errors.FailedPreconditionError, match="RandomUniform is stateful"):
        written(dataset)
    assert written(dataset, stateful_whitelist=["RandomUniform"]).library.function
    with pytest.raises(tf.errors.NotFoundError, match="NoSuchOp"):
        written(dataset, stateful_whitelist=["NoSuchOp"])
    generated = tf.data.Dataset.from_generator(lambda: iter([1]), tf.int64)
    with pytest.raises(tf.errors.FailedPreconditionError, match="PyFunc is stateful"):
        written(generated)


def numbered(*steps: int) -> int:
    """The hash of a pipeline whose functions add numbers, one after the other."""
    dataset = tf.data.Dataset.range(3)
    for step in steps:
        dataset = dataset.map(lambda x, step=step: x + step)
    return subgraph_hash(written(dataset), "dataset")


def test_the_hash_tells_functions_apart_and_not_their_names() -> None:
    assert numbered(1, 2) == numbered(1, 2)
    assert len({numbered(*steps) for steps in ((1, 2), (1, 3), (2, 1), (1,), ())}) == 5


def test_a_rewritten_dataset_is_written_as_it_was_made(tmp_path: Any) -> None:
    dataset = tf.data.Dataset.range(3).skip(0).apply(snapshot(str(tmp_path))).prefetch(1)
    kinds = [node.op for node in written(dataset).node if node.op != "Const"]
    assert kinds == ["RangeDataset", "SkipDataset", "SnapshotDataset", "PrefetchDataset", "_Retval"]
