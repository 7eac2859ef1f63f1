# SPDX-License-Identifier: Apache-2.0
"""`TransformGraph`: rewritten graphs compute what they computed, and have the nodes they should."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.io.graph_transforms import TransformGraph

pytestmark = pytest.mark.cpu

X = np.random.default_rng(0).normal(size=(2, 6, 6, 3)).astype(np.float32)


def normalized(seed: int = 1) -> Any:
    """A network with normalizations of both kinds, of constants, and a node that nobody needs."""
    random = np.random.default_rng(seed)

    def numbers(*shape: int) -> Any:
        return tf.constant(random.normal(size=shape).astype(np.float32) / 4)

    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 6, 6, 3], name="input")
        with tf.device("/cpu:0"):
            first = tf.nn.conv2d(x, numbers(3, 3, 3, 8), [1, 1, 1, 1], "SAME")
        mean, offset, scale = numbers(8), numbers(8), numbers(8)
        variance = tf.constant(random.uniform(0.5, 1, 8).astype(np.float32))
        factor = tf.rsqrt(variance + 1e-3) * scale
        h = tf.identity(tf.nn.relu(first * factor + (offset - mean * factor)))
        h = tf.nn.conv2d(h, numbers(3, 3, 8, 8), [1, 2, 2, 1], "SAME")
        h, _, _ = tf.nn.fused_batch_norm(h, scale, offset, mean, variance, is_training=False)
        h = tf.check_numerics(h, "h")
        twice = tf.reduce_mean(h, [1, 2]) + tf.reduce_mean(h, [1, 2])
        y = tf.multiply(tf.matmul(twice, numbers(8, 3)), [1.0, 2.0, 3.0], name="output")
        tf.square(y, name="unneeded")
    return graph.as_graph_def()


def result(graph_def: Any) -> np.ndarray:
    with tf.Graph().as_default():
        [y] = tf.import_graph_def(graph_def, return_elements=["output:0"], name="")
        with tf.Session() as session:
            return session.run(y, {"input:0": X})


def transformed(*transforms: str) -> tuple[Any, Counter[str]]:
    graph_def = TransformGraph(normalized(), ["input"], ["output"], transforms)
    return graph_def, Counter(node.op for node in graph_def.node)


# Transforms -> how often ops are there then; (as in TensorFlow 1.15.5 but for the third row, which
# does not fold FusedBatchNormV3).
COUNTS: dict[tuple[str, ...], dict[str, int]] = {
    ("strip_unused_nodes",): {"Square": 0, "Mean": 2, "Identity": 1},
    ("fold_constants(ignore_errors=true)", "fold_batch_norms"): {
        "Rsqrt": 0,
        "Mul": 0,
        "Sub": 0,
        "FusedBatchNormV3": 1,
    },
    ("fold_old_batch_norms",): {"FusedBatchNormV3": 0, "BiasAdd": 1, "Rsqrt": 1},
    ("remove_nodes(op=Identity, op=CheckNumerics)",): {"Identity": 0, "CheckNumerics": 0},
    ("merge_duplicate_nodes",): {"Mean": 1},
    ("remove_device", "obfuscate_names"): {"Conv2D": 2},
    ("sort_by_execution_order", "add_default_attributes", "remove_control_dependencies"): {
        "Conv2D": 2
    },
    ('set_device(device="/cpu:0", if_default=true)',): {"Conv2D": 2},
    ("remove_attribute(attribute_name=_own, op_name=Relu)",): {"Relu": 1},
}


@pytest.mark.parametrize("transforms", COUNTS, ids=lambda t: t[0].partition("(")[0])
def test_transforms_change_nodes_and_not_results(transforms: tuple[str, ...]) -> None:
    graph_def, counts = transformed(*transforms)
    assert {op: counts[op] for op in COUNTS[transforms]} == COUNTS[transforms]
    np.testing.assert_allclose(result(graph_def), result(normalized()), rtol=1e-5, atol=1e-5)


def test_constants_are_quantized_and_rounded() -> None:
    expected = result(normalized())
    graph_def, counts = transformed("quantize_weights(minimum_size=100)")
    assert counts["Dequantize"] == 2
    np.testing.assert_allclose(result(graph_def), expected, atol=0.05)
    held = next(node for node in graph_def.node if node.name.endswith("_quantized_const"))
    assert tf.make_ndarray(held.attr["value"].tensor).dtype.itemsize == 1
    assert transformed("quantize_weights")[1]["Dequantize"] == 0  # of fewer than 1024 numbers
    graph_def, _ = transformed("round_weights(num_steps=16)")
    weights = max(
        (tf.make_ndarray(n.attr["value"].tensor) for n in graph_def.node if n.op == "Const"),
        key=np.size,
    )
    assert len(np.unique(weights)) <= 17
    np.testing.assert_allclose(result(graph_def), expected, atol=0.5)


def test_names_types_and_placeholders() -> None:
    graph_def, _ = transformed("obfuscate_names")
    names = {node.name for node in graph_def.node}
    assert {"input", "output"} < names and max(map(len, names - {"input", "output"})) <= 2
    graph_def = TransformGraph(
        normalized(), ["Relu"], ["output"], ['strip_unused_nodes(type=float, shape="2,6,6,8")']
    )
    fed = next(node for node in graph_def.node if node.name == "Relu")
    assert fed.op == "Placeholder" and [d.size for d in fed.attr["shape"].shape.dim] == [2, 6, 6, 8]
    assert "input" not in {node.name for node in graph_def.node}
    _, counts = transformed("rename_op(old_op_name=Relu, new_op_name=Relu6)")
    assert counts["Relu6"] == 1 and counts["Relu"] == 0
    graph_def, _ = transformed("rename_attribute(old_attribute_name=T, new_attribute_name=U)")
    assert all("T" not in node.attr for node in graph_def.node)


def test_loops_and_what_is_fed_are_no_constants() -> None:
    with tf.Graph().as_default() as graph:
        steps = tf.constant(2) + 1
        total = tf.while_loop(lambda i: i < steps, lambda i: i + 1, [tf.constant(0)])
        tf.add(total, tf.placeholder_with_default(3, []) + 0, name="output")
    graph_def = TransformGraph(graph.as_graph_def(), [], ["output"], ["fold_constants"])
    counts = Counter(node.op for node in graph_def.node)
    assert counts["Enter"] == 2 and counts["PlaceholderWithDefault"] == 1
    with tf.Graph().as_default(), tf.Session() as session:
        [y] = tf.import_graph_def(graph_def, return_elements=["output:0"])
        assert session.run(y) == 6


@pytest.mark.parametrize(
    ("transform", "message"),
    [
        ("no_such", "Transform 'no_such' not recognized; there are add_default"),
        ("remove_nodes", "expects at least one 'op'argument"),
        ("rename_op(old_op_name=Relu)", "expects exactly one 'new_op_name'"),
        ("(op=Relu)", "Looking for transform name, but found"),
        ("remove_nodes(op)", "Looking for name=value, but found op"),
        ("quantize_nodes", "quantize_nodes makes graphs of 8-bit kernels"),
    ],
)
def test_what_is_refused(transform: str, message: str) -> None:
    with pytest.raises(tf.errors.OpError, match=message):
        transformed(transform)
    assert transformed("quantize_nodes(ignore_errors=true)")[1]["Conv2D"] == 2
