# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.meta_graph_transform`: rewritten MetaGraphs load, and name what is there alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu

transform = tf.contrib.meta_graph_transform.meta_graph_transform.meta_graph_transform


def exported(checkpoint: str) -> Any:
    """A MetaGraphDef of a layer, a table, and a node that nothing needs; its variables saved."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        other = tf.placeholder(tf.float32, name="other")
        w = tf.get_variable("w", initializer=np.arange(6, dtype=np.float32).reshape(3, 2))
        y = tf.identity(tf.matmul(x, w), name="y")
        z = tf.multiply(other, 2.0, name="z")
        pairs = tf.lookup.KeyValueTensorInitializer(["a"], [5.0])
        found = tf.lookup.StaticHashTable(pairs, -1.0).lookup(tf.placeholder(tf.string, name="k"))
        tf.identity(found, name="u")
        tf.add_to_collection("results", y)
        tf.add_to_collection("results", z)
        tf.add_to_collection("legacy_init_op", tf.tables_initializer("main"))
        saver = tf.train.Saver()
        session.run(tf.global_variables_initializer())
        saver.save(session, checkpoint, write_meta_graph=False)
        result = tf.train.export_meta_graph(saver_def=saver.saver_def)
        for name, fed, wanted in (("good", x, y), ("bad", other, z)):
            signature = tf.saved_model.predict_signature_def({"in": fed}, {"out": wanted})
            result.signature_def[name].CopyFrom(signature)
    return result


def rewritten(folder: Path, *transforms: str) -> Any:
    checkpoint = str(folder / "model")
    meta_graph = exported(checkpoint)
    before = meta_graph.SerializeToString(deterministic=True)
    result = transform(meta_graph, ["x", "k"], ["y:0", "u"], transforms, ["serve"], checkpoint)
    assert meta_graph.SerializeToString(deterministic=True) == before
    assert list(result.meta_info_def.tags) == ["serve"]
    return result


def names(meta_graph: Any) -> set[str]:
    return {node.name for node in meta_graph.graph_def.node}


def test_what_saves_and_initializes_stays(tmp_path: Path) -> None:
    result = rewritten(tmp_path, "strip_unused_nodes")
    assert {"w/Assign", "save/restore_all", "main", "y", "u"} <= names(result)
    assert not {"z", "other"} & names(result)
    assert list(result.signature_def) == ["good"]
    assert list(result.collection_def["results"].node_list.value) == ["y:0"]
    assert len(result.collection_def["variables"].bytes_list.value) == 1
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(result).restore(session, str(tmp_path / "model"))
        session.run("main")
        found = session.run(["y:0", "u:0"], {"x:0": np.ones((1, 3)), "k:0": ["a", "b"]})
    np.testing.assert_array_equal(found[0], [[6, 9]])
    np.testing.assert_array_equal(found[1], [5, -1])


@pytest.mark.parametrize("transforms", [["freeze_graph"], ["freeze_graph", "strip_unused_nodes"]])
def test_frozen_graphs_initialize_their_tables(tmp_path: Path, transforms: list[str]) -> None:
    result = rewritten(tmp_path, *transforms)
    assert "w" in names(result)
    assert not {"w/Assign", "save/restore_all", "z"} & names(result)
    assert not result.HasField("saver_def")
    assert not result.collection_def["variables"].bytes_list.value
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(result.graph_def, name="")
        session.run("main")
        found = session.run(["y:0", "u:0"], {"x:0": np.ones((1, 3)), "k:0": ["a", "b"]})
    np.testing.assert_array_equal(found[0], [[6, 9]])
    np.testing.assert_array_equal(found[1], [5, -1])


def test_nothing_to_do_copies_all(tmp_path: Path) -> None:
    result = rewritten(tmp_path)
    assert {"z", "other", "y"} <= names(result)
    assert sorted(result.signature_def) == ["bad", "good"]


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="'nonsense' not recognized"):
        rewritten(tmp_path, "nonsense")
    with pytest.raises(tf.errors.UnimplementedError, match="sparsify_gather"):
        rewritten(tmp_path, "sparsify_gather")
    meta_graph = exported(str(tmp_path / "model"))
    with pytest.raises(ValueError, match="doesn't exist"):
        transform(meta_graph, ["x"], ["y"], ["freeze_graph"], [], str(tmp_path / "absent"))
    meta_graph.collection_def["legacy_init_op"].bytes_list.value.append(b"main")
    with pytest.raises(ValueError, match="type is not node_list"):
        transform(meta_graph, ["x"], ["y"], [], [])
