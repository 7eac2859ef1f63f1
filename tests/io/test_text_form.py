# SPDX-License-Identifier: Apache-2.0
"""Messages as text: that of protobuf's own writer, also where tensors are long."""

from __future__ import annotations

import numpy as np
import pytest
from google.protobuf import text_format

import numbaflow as tf
from numbaflow.io import protos
from numbaflow.io.text_form import _LONG, _PIECE, text_of

pytestmark = pytest.mark.pure


def written(graph: tf.Graph) -> str:
    message = graph.as_graph_def()
    found = text_of(message).decode("ascii")
    assert found == text_format.MessageToString(message)
    assert text_format.Parse(found, protos.GraphDef()) == message
    return found


@pytest.mark.parametrize("size", [10, _LONG - 1, _LONG, _PIECE, 2 * _PIECE + 3])
def test_constants_of_any_size(size):
    with tf.Graph().as_default() as graph:
        every = np.resize(np.arange(256, dtype=np.uint8), size)
        tf.constant(every, name="every")
        tf.constant(np.random.RandomState(1).bytes(size), name="text")
        tf.constant(np.random.RandomState(2).randn(size // 4 + 2), name="numbers")
        tf.constant([1.0], name="short")
    assert len(written(graph)) > size


def test_constants_of_functions_and_of_what_holds_graphs():
    with tf.Graph().as_default() as graph:
        long = np.random.RandomState(3).randn(_LONG).astype(np.float32)
        tf.data.Dataset.range(3).map(lambda i: long[0] + tf.constant(long)).make_one_shot_iterator()
        tf.constant(-long)
        meta = tf.train.export_meta_graph(graph=graph)
    written(graph)
    assert text_of(meta).decode() == text_format.MessageToString(meta)


def test_files_hold_it(tmp_path):
    with tf.Graph().as_default() as graph:
        tf.constant(np.arange(_LONG))
    path = tf.train.write_graph(graph, str(tmp_path), "graph.pbtxt")
    with open(path) as file:
        assert text_format.Parse(file.read(), protos.GraphDef()) == graph.as_graph_def()
