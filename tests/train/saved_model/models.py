# SPDX-License-Identifier: Apache-2.0
"""Models that are saved by one implementation and loaded by another.

    python models.py {write,read} MODULE FOLDER

MODULE is the implementation (tensorflow, tensorflow.compat.v1, numbaflow).  `write` saves each
model below to a folder of its name, beside it `NAME.npz` with the outputs for its feeds; `read`
loads what lies there and says which outputs differ.
"""

from __future__ import annotations

import importlib
import os
import sys

import numpy as np


def _random(*shape):
    return np.random.RandomState(len(shape)).uniform(-1, 1, shape).astype(np.float32)


def perceptron(tf):
    """Reference variables and an optimizer's slots."""
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.get_variable("w", initializer=_random(3, 4))
    b = tf.get_variable("b", initializer=_random(4))
    y = tf.tanh(tf.matmul(x, w) + b, name="y")
    tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(y * y))
    return {"x": (x, _random(5, 3))}, {"y": y}


def convolution(tf):
    """Resource variables, a convolution and a fused batch normalization."""
    x = tf.placeholder(tf.float32, [None, 6, 6, 2], name="x")
    with tf.variable_scope("conv", use_resource=True):
        k = tf.get_variable("k", initializer=_random(3, 3, 2, 4))
        scale = tf.get_variable("scale", initializer=1 + _random(4))
    h = tf.nn.conv2d(x, k, [1, 2, 2, 1], "SAME")
    h, mean, _ = tf.nn.fused_batch_norm(h, scale, tf.zeros([4]))
    return {"x": (x, _random(2, 6, 6, 2))}, {"h": tf.nn.relu(h), "mean": mean}


def control_flow(tf):
    """A loop whose number of rounds is fed, and a branch within it."""
    x = tf.placeholder(tf.float32, [None], name="x")
    n = tf.placeholder(tf.int32, [], name="n")
    w = tf.get_variable("w", initializer=np.float32(1.5))

    def body(i, value):
        even = tf.equal(i % 2, 0)
        return i + 1, tf.cond(even, lambda: value * w, lambda: value - 1.0)

    _, y = tf.while_loop(lambda i, _: i < n, body, [tf.constant(0), x])
    return {"x": (x, _random(4)), "n": (n, np.int32(5))}, {"y": y}


def sparse(tf):
    """A sparse tensor as input."""
    x = tf.sparse_placeholder(tf.float32, name="x")
    w = tf.get_variable("w", initializer=_random(4, 2))
    value = (np.array([[0, 1], [2, 3]]), np.array([2, 3], np.float32), np.array([3, 4]))
    return {"x": (x, value)}, {"y": tf.sparse_tensor_dense_matmul(x, w)}


def text(tf):
    """Strings in and out, and no variables."""
    x = tf.placeholder(tf.string, [None], name="x")
    y = tf.string_join([x, tf.constant("!")])
    return {"x": (x, np.array([b"a", b"b\0c"], object))}, {"y": y}


MODELS = (perceptron, convolution, control_flow, sparse, text)


def plain(results):
    """The results such that every NumPy can read them: text as fixed numbers of bytes."""
    return {k: v.astype(bytes) if v.dtype == object else v for k, v in results.items()}


def same(a, b):
    """Whether two results agree."""
    return (a == b).all() if a.dtype.kind == "S" else np.allclose(a, b, rtol=1e-5, atol=1e-6)


def write_model(tf, model, folder):
    """Saves a model with its outputs; there are an asset and an operation for the start too."""
    with tf.Graph().as_default(), tf.Session() as session:
        inputs, outputs = model(tf)
        source = os.path.join(folder, "words.txt")
        with open(source, "w") as file:
            file.write("one\ntwo\n")
        asset = tf.constant(source, name="asset")
        tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, asset)
        at_start = tf.get_variable(
            "at_start", initializer=asset, collections=[tf.GraphKeys.LOCAL_VARIABLES]
        )
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        feeds = dict(inputs.values())
        results = session.run(outputs, feeds)
        np.savez(os.path.join(folder, model.__name__ + ".npz"), **plain(results))
        builder = tf.saved_model.Builder(os.path.join(folder, model.__name__))
        tensors = {name: tensor for name, (tensor, _) in inputs.items()}
        builder.add_meta_graph_and_variables(
            session,
            [tf.saved_model.SERVING],
            {"serving_default": tf.saved_model.predict_signature_def(tensors, outputs)},
            assets_collection=[asset],
            main_op=tf.local_variables_initializer(),
        )
        del at_start
        builder.save(as_text=model is text)


def read_model(tf, model, folder):
    """Loads a model; what is wrong with it, one line each."""
    with tf.Graph().as_default():
        values = {name: value for name, (_, value) in model(tf)[0].items()}
    wrong = []
    with tf.Graph().as_default() as graph, tf.Session() as session:
        path = os.path.join(folder, model.__name__)
        message = tf.saved_model.load(session, [tf.saved_model.SERVING], path, "in")
        signature = message.signature_def["serving_default"]
        get = tf.saved_model.get_tensor_from_tensor_info
        feeds = {get(info, import_scope="in"): values[k] for k, info in signature.inputs.items()}
        outputs = {k: get(info, import_scope="in") for k, info in signature.outputs.items()}
        results = plain(session.run(outputs, feeds))
        with np.load(os.path.join(folder, model.__name__ + ".npz")) as expected:
            for name in expected:
                if not same(results[name], expected[name]):
                    wrong.append(f"{model.__name__} {name}: {results[name]} {expected[name]}")
        asset = session.run(graph.get_tensor_by_name("in/at_start:0")).decode()
        if asset != os.path.join(path, "assets", "words.txt") or not os.path.exists(asset):
            wrong.append(f"{model.__name__} asset: {asset}")
    return wrong


def main(action, module, folder):
    """Writes or reads all models."""
    tf = importlib.import_module(module)
    if module.endswith("v1"):
        tf.disable_v2_behavior()
    for model in MODELS:
        if action == "write":
            write_model(tf, model, folder)
        else:
            for line in read_model(tf, model, folder):
                print("WRONG", line)


if __name__ == "__main__":
    main(*sys.argv[1:])
