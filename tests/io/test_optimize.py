# SPDX-License-Identifier: Apache-2.0
"""Frozen graphs cut down and rewritten for inference: fewer nodes, the same outputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.io.optimize_for_inference import (
    ensure_graph_is_valid,
    fold_batch_norms,
    fuse_resize_and_conv,
    node_name_from_input,
    optimize_for_inference,
)
from numbaflow.io.strip_unused import strip_unused, strip_unused_from_files

pytestmark = pytest.mark.cpu


def random(*shape: int) -> np.ndarray:
    return np.random.RandomState(sum(shape)).uniform(-1, 1, shape).astype(np.float32)


def normalized(depthwise: bool, op: str) -> Any:
    """A convolution and its batch normalization."""
    x = tf.placeholder(tf.float32, [2, 6, 6, 2], name="x")
    k = tf.constant(random(3, 3, 2, 3), name="k")
    if depthwise:
        h = tf.nn.depthwise_conv2d_native(x, k, [1, 1, 1, 1], "SAME")
    else:
        h = tf.nn.conv2d(x, k, [1, 1, 1, 1], "SAME")
    channels = h.shape[3].value
    scale, offset, mean = (tf.constant(random(channels) + i) for i in range(3))
    variance = tf.constant(random(channels) + 2.0)
    if op == "BatchNormWithGlobalNormalization":
        h = tf.nn.batch_norm_with_global_normalization(
            h, mean, variance, offset, scale, 1e-3, scale_after_normalization=True
        )
    else:
        h = getattr(tf.raw_ops, op)(
            x=h,
            scale=scale,
            offset=offset,
            mean=mean,
            variance=variance,
            epsilon=1e-3,
            is_training=False,
        )[0]
    return tf.identity(tf.nn.relu(h), name="y")


def output(graph_def: Any, feeds: dict[str, Any], name: str = "y:0") -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(graph_def, name="")
        session.run(name, feeds)
        return session.run(name, feeds)


@pytest.mark.parametrize("depthwise", [False, True])
@pytest.mark.parametrize("op", ["FusedBatchNorm", "FusedBatchNormV3"])
def test_batch_normalizations_become_part_of_the_weights(depthwise: bool, op: str) -> None:
    with tf.Graph().as_default() as graph:
        normalized(depthwise, op)
    before = graph.as_graph_def()
    after = optimize_for_inference(before, ["x"], ["y"], tf.float32.as_datatype_enum)
    kinds = [node.op for node in after.node]
    assert op not in kinds and "BiasAdd" in kinds
    feeds = {"x:0": random(2, 6, 6, 2)}
    np.testing.assert_allclose(output(after, feeds), output(before, feeds), rtol=1e-4, atol=1e-5)


def test_what_cannot_be_folded_stays() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [1, 2, 2, 3])
        tf.nn.fused_batch_norm(x, [1.0] * 3, [0.0] * 3, [0.0] * 3, [1.0] * 3, is_training=False)
    before = graph.as_graph_def()
    kinds = [node.op for node in before.node]
    assert [node.op for node in fold_batch_norms(before).node] == kinds


@pytest.mark.parametrize("resize", [False, True])
@pytest.mark.parametrize("pad", [False, True])
def test_resizing_and_padding_become_part_of_the_convolution(resize: bool, pad: bool) -> None:
    with tf.Graph().as_default() as graph:
        x = h = tf.placeholder(tf.float32, [1, 5, 5, 2], name="x")
        if resize:
            h = tf.image.resize_bilinear(h, [7, 9])
        if pad:
            h = tf.pad(h, [[0, 0], [2, 2], [1, 1], [0, 0]], mode="REFLECT")
        tf.nn.conv2d(h, random(3, 3, 2, 4), [1, 2, 2, 1], "VALID", name="y")
    before = graph.as_graph_def()
    after = fuse_resize_and_conv(before, ["y"])
    names = {(False, True): "FusedPadConv2D"}
    expected = names.get((resize, pad), "FusedResizeAndPadConv2D") if resize or pad else "Conv2D"
    assert [node.op for node in after.node if node.name == "y"] == [expected]
    assert "MirrorPad" not in [node.op for node in after.node]
    feeds = {"x:0": random(1, 5, 5, 2)}
    np.testing.assert_allclose(output(after, feeds), output(before, feeds), rtol=1e-5, atol=1e-6)
    assert x.name == "x:0"


@pytest.mark.pure
def test_graphs_are_cut_at_inputs_and_outputs(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        a = tf.placeholder(tf.float32, [2], name="a")
        b = tf.exp(a, name="b")
        tf.add(b, 1.0, name="c")
        tf.negative(b, name="unused")
    cut = strip_unused(graph.as_graph_def(), ["b"], ["c"], tf.float32.as_datatype_enum)
    assert {node.name: node.op for node in cut.node} == {
        "b": "Placeholder",
        "c/y": "Const",
        "c": "Add",
    }
    for names, kind in ((["b:0"], ValueError), (["z"], KeyError)):
        with pytest.raises(kind):
            strip_unused(graph.as_graph_def(), names, ["c"], tf.float32.as_datatype_enum)
    source, target = str(tmp_path / "a.pb"), str(tmp_path / "b.pbtxt")
    tf.train.write_graph(graph, str(tmp_path), "a.pb", as_text=False)
    strip_unused_from_files(source, True, target, False, "b", "c", [tf.float32.as_datatype_enum])
    strip_unused_from_files(target, False, source, True, "b", "c", tf.float32.as_datatype_enum)
    assert tf.GraphDef.FromString(Path(source).read_bytes()) == cut
    with pytest.raises(OSError, match="does not exist"):
        strip_unused_from_files("none", True, target, True, "b", "c", 1)
    with pytest.raises(ValueError, match="supply the name of a node"):
        strip_unused_from_files(source, True, target, True, "b", "", 1)


@pytest.mark.pure
def test_graphs_that_are_not_valid() -> None:
    message = tf.GraphDef()
    message.node.add(name="a", op="Neg", input=["b"])
    with pytest.raises(ValueError, match="Input for"):
        ensure_graph_is_valid(message)
    message.node.add(name="a", op="NoOp")
    with pytest.raises(ValueError, match="Duplicate node names"):
        fold_batch_norms(message)
    assert list(map(node_name_from_input, ("a", "^a", "a:1", "a/b:0"))) == ["a", "a", "a", "a/b"]
