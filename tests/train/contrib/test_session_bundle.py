# SPDX-License-Identifier: Apache-2.0
"""Exports from before SavedModels: folders by step, signatures, assets, an operation at loading."""

from __future__ import annotations

import importlib
import os

import pytest

import numbaflow as tf
from numbaflow.alias.finder import resolve
from numbaflow.train.contrib.learn.utils import gc
from numbaflow.train.contrib.session_bundle import bundle_shim, exporter, session_bundle

pytestmark = pytest.mark.cpu


def exported(folder, steps=(7,), **settings):
    """y = w x + 1, as exports of some steps; the path of the last."""
    path = os.path.join(folder, "words.txt")
    with open(path, "w", encoding="ascii") as file:
        file.write("two words")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        w = tf.Variable(2.0, name="w")
        y = tf.add(w * x, 1.0, name="y")
        asset = tf.constant(path, name="asset")
        kept = tf.Variable("", name="kept", collections=[])
        init = tf.group(kept.assign(asset), name="init")
        export = exporter.Exporter(tf.train.Saver([w]))
        named = {
            "inputs": exporter.generic_signature({"x": x}),
            "outputs": exporter.generic_signature({"y": y}),
        }
        export.init(
            init_op=init,
            clear_devices=True,
            default_graph_signature=exporter.regression_signature(x, y),
            named_graph_signatures=named,
            assets_collection=[asset],
        )
        session.run(tf.global_variables_initializer())
        for step in steps:
            found = export.export(folder + "/", tf.constant(step), session, **settings)
        with pytest.raises(RuntimeError, match="Duplicate export dir"):
            export.export(folder, tf.constant(steps[-1]), session)
        with pytest.raises(RuntimeError, match="only once"):
            export.init()
    return found


def test_exports_are_loaded_with_their_signatures_and_assets(tmp_path):
    folder = exported(str(tmp_path))
    assert isinstance(folder, bytes) and folder.endswith(b"/00000007")
    path = folder.decode()
    assert session_bundle.maybe_session_bundle_dir(path)
    load = bundle_shim.load_session_bundle_or_saved_model_bundle_from_path
    session, graph = load(path)
    default, named = (
        graph.signature_def[key] for key in ("serving_default", "serving_default_from_named")
    )
    assert default.method_name == "tensorflow/serving/regress"
    assert default.inputs["inputs"].name == "x:0"
    assert named.outputs["y"].name == "y:0"
    with session:
        assert session.run("y:0", {"x:0": [1.0, 2.0]}).tolist() == [3.0, 5.0]
        copied = session.run("kept:0")
    assert copied.decode() == os.path.join(path, "assets", "words.txt")
    with open(copied, encoding="ascii") as file:
        assert file.read() == "two words"


def test_old_exports_are_deleted(tmp_path):
    exported(str(tmp_path), (1, 2, 3), exports_to_keep=gc.largest_export_versions(2))
    assert sorted(p.name for p in tmp_path.glob("0*")) == ["00000002", "00000003"]


def test_what_is_no_export_is_refused(tmp_path):
    with pytest.raises(RuntimeError, match="Expected meta graph file missing"):
        session_bundle.load_session_bundle_from_path(str(tmp_path))
    with pytest.raises(RuntimeError, match="not found at specified export location"):
        bundle_shim.load_session_bundle_or_saved_model_bundle_from_path(str(tmp_path))
    with tf.Graph().as_default():
        tf.Variable(1.0)
        export = exporter.Exporter(tf.train.Saver())
        with pytest.raises(RuntimeError, match="init must be called first"):
            export.export(str(tmp_path), tf.constant(1))
        with pytest.raises(TypeError, match="File paths should be string"):
            export.init(assets_collection=[tf.constant(1)])


@pytest.mark.parametrize("name", ["exporter", "session_bundle", "bundle_shim", "constants", "gc"])
def test_programs_find_the_modules(name):
    module = resolve(f"tensorflow.contrib.session_bundle.{name}")
    home = importlib.import_module(f"numbaflow.train.contrib.session_bundle.{name}")
    public = [key for key in vars(home) if key[0] != "_"]
    assert all(getattr(module, key) is getattr(home, key) for key in public if key != "annotations")


def test_messages():
    messages = resolve("tensorflow.contrib.session_bundle.manifest_pb2")
    signatures = messages.Signatures()
    signatures.named_signatures["a"].generic_signature.map["b"].tensor_name = "c"
    assert messages.Signatures.FromString(signatures.SerializeToString()) == signatures
