# SPDX-License-Identifier: Apache-2.0
"""Networks that TensorFlow 1.15 builds, freezes and runs.

    python frozen.py FOLDER

For each function below `NAME.pb` is the frozen GraphDef and `NAME.npz` holds feeds ("in x") and
outputs ("out y").  `convert_variables_to_constants` of TensorFlow's does the freezing.
"""

from __future__ import annotations

import os
import sys

import numpy as np


def random(*shape):
    """Values that depend on the shape alone."""
    return np.random.RandomState(sum(shape)).uniform(-1, 1, shape).astype(np.float32)


def normalized(tf, x, name):
    """A layer's batch normalization with moving averages that are not trivial."""
    x = tf.layers.batch_normalization(x, name=name)
    moments = [v for v in tf.global_variables() if v.name.startswith(name + "/moving_")]
    for i, v in enumerate(moments):
        tf.add_to_collection("settings", v.assign(0.5 + i + 0.1 * tf.ones(v.shape)))
    return x


def lenet(tf):
    """Convolution, batch normalization, pooling and dense layers."""
    x = tf.placeholder(tf.float32, [None, 12, 12, 3], name="x")
    h = tf.layers.conv2d(x, 8, 3, padding="same", activation=tf.nn.relu)
    h = normalized(tf, h, "norm")
    h = tf.layers.max_pooling2d(h, 2, 2)
    h = tf.layers.conv2d(h, 4, 3, strides=2, use_bias=False)
    h = tf.layers.dropout(tf.nn.leaky_relu(h), training=False)
    h = tf.layers.dense(tf.layers.flatten(h), 10, activation=tf.nn.elu)
    return {"x": (x, random(2, 12, 12, 3))}, {"y": tf.nn.softmax(h)}


def mobilenet(tf):
    """Depthwise and pointwise convolutions, relu6, global pooling, squeeze."""
    x = tf.placeholder(tf.float32, [None, 16, 16, 3], name="x")
    h = tf.nn.relu6(normalized(tf, tf.layers.conv2d(x, 8, 3, 2, "same", use_bias=False), "first"))
    for i, stride in enumerate((1, 2)):
        k = tf.get_variable(f"depthwise{i}", initializer=random(3, 3, 8, 1))
        d = tf.nn.depthwise_conv2d(h, k, [1, stride, stride, 1], "SAME")
        h = tf.nn.relu6(normalized(tf, d, f"norm{i}"))
        h = tf.layers.conv2d(h, 8, 1, use_bias=False)
    h = tf.layers.separable_conv2d(h, 4, 3, padding="same")
    h = tf.nn.avg_pool(h, [1, 4, 4, 1], [1, 1, 1, 1], "VALID")
    h = tf.layers.conv2d(h, 5, 1)
    return {"x": (x, random(2, 16, 16, 3))}, {"y": tf.squeeze(h, [1, 2])}


def residual(tf):
    """Padding, dilation, residual sums, concatenation, local response normalization."""
    x = tf.placeholder(tf.float32, [None, 9, 9, 4], name="x")
    h = tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]])
    h = tf.layers.conv2d(h, 4, 3)
    h = x + tf.nn.selu(h)
    wide = tf.nn.atrous_conv2d(h, tf.get_variable("w", initializer=random(3, 3, 4, 4)), 2, "SAME")
    dilated = tf.layers.conv2d(h, 4, 3, dilation_rate=2, padding="same")
    h = tf.concat([h, wide, dilated], axis=3)
    h = tf.nn.lrn(h, depth_radius=2, alpha=1e-2, beta=0.75)
    h = tf.nn.max_pool(h, [1, 3, 3, 1], [1, 2, 2, 1], "SAME")
    return {"x": (x, random(2, 9, 9, 4))}, {"y": tf.reduce_mean(h, [1, 2]), "z": tf.reduce_max(h)}


def decoder(tf):
    """Transposed convolution, resizing, depth to space."""
    x = tf.placeholder(tf.float32, [None, 4, 4, 8], name="x")
    h = tf.layers.conv2d_transpose(x, 4, 3, strides=2, padding="same", activation=tf.nn.relu)
    a = tf.image.resize_bilinear(h, [10, 12])
    b = tf.image.resize_nearest_neighbor(h, tf.shape(a)[1:3])
    c = tf.depth_to_space(x, 2)
    y = tf.sigmoid(tf.layers.conv2d(tf.concat([a, b], 3), 1, 1))
    return {"x": (x, random(2, 4, 4, 8))}, {"y": y, "c": c}


def dynamic_rnn(tf):
    """LSTM and GRU layers as loops, with lengths and in both directions."""
    x = tf.placeholder(tf.float32, [None, 5, 3], name="x")
    n = tf.placeholder(tf.int32, [None], name="n")
    h, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(4), x, n, dtype=tf.float32)
    cells = [tf.nn.rnn_cell.GRUCell(3) for _ in range(2)]
    (a, b), _ = tf.nn.bidirectional_dynamic_rnn(*cells, h, n, dtype=tf.float32)
    feeds = {"x": (x, random(2, 5, 3)), "n": (n, np.array([5, 2], np.int32))}
    return feeds, {"y": tf.concat([a, b], 2), "c": state.c}


def static_rnn(tf):
    """A stacked LSTM that is unrolled."""
    x = tf.placeholder(tf.float32, [None, 4, 3], name="x")
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(5) for _ in range(2)])
    h, _ = tf.nn.static_rnn(cell, tf.unstack(x, axis=1), dtype=tf.float32)
    return {"x": (x, random(2, 4, 3))}, {"y": h[-1]}


def embeddings(tf):
    """Bags of words: sparse ids, partitioned and plain tables, a wide linear part."""
    ids = tf.sparse_placeholder(tf.int64, name="ids")
    table = tf.get_variable("table", initializer=random(20, 4))
    parts = tf.get_variable(
        "parts", [21, 3], partitioner=tf.fixed_size_partitioner(3), initializer=tf.ones_initializer
    )
    bag = tf.nn.embedding_lookup_sparse(table, ids, None, combiner="mean")
    words = tf.placeholder(tf.int32, [None, 3], name="words")
    other = tf.nn.embedding_lookup(parts, words, partition_strategy="div")
    hot = tf.one_hot(words, 5, on_value=2.0)
    value = (
        np.array([[0, 0], [0, 1], [1, 0]], np.int64),
        np.array([3, 7, 19], np.int64),
        np.array([2, 2], np.int64),
    )
    feeds = {"ids": (ids, value), "words": (words, np.array([[1, 2, 20], [0, 4, 3]], np.int32))}
    return feeds, {"bag": bag, "other": other, "hot": tf.reduce_sum(hot, 1)}


def control_flow(tf):
    """Branches, loops over arrays, `map_fn`, `scan`, `case`."""
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    flag = tf.placeholder(tf.bool, [], name="flag")
    w = tf.get_variable("w", initializer=random(3, 3))
    a = tf.cond(flag, lambda: tf.matmul(x, w), lambda: x - 1.0)
    b = tf.map_fn(lambda row: tf.reduce_sum(row * row), a)
    c = tf.scan(lambda total, row: total * 0.5 + row, a)
    _, d = tf.while_loop(
        lambda i, v: tf.logical_and(i < 5, tf.reduce_max(v) < 10.0),
        lambda i, v: (i + 1, v * 2.0),
        [tf.constant(0), tf.abs(a) + 0.1],
    )
    e = tf.case([(tf.reduce_sum(x) > 100.0, lambda: a)], default=lambda: -a)
    return {"x": (x, random(4, 3)), "flag": (flag, np.bool_(True))}, {
        "b": b,
        "c": c,
        "d": d,
        "e": e,
    }


def attention(tf):
    """Layer normalization, multi-head attention, a mask, gelu."""
    x = tf.placeholder(tf.float32, [None, 6, 8], name="x")
    n = tf.placeholder(tf.int32, [None], name="n")
    mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
    h = (x - mean) * tf.rsqrt(variance + 1e-6)
    q, k, v = tf.split(tf.layers.dense(h, 24), 3, axis=-1)

    def heads(t):
        return tf.transpose(tf.reshape(t, [-1, 6, 2, 4]), [0, 2, 1, 3])

    scores = tf.matmul(heads(q), heads(k), transpose_b=True) * 0.5
    mask = tf.sequence_mask(n, 6)[:, None, None, :]
    scores += tf.where(tf.tile(mask, [1, 2, 6, 1]), tf.zeros_like(scores), scores * 0 - 1e9)
    h = tf.matmul(tf.nn.softmax(scores), heads(v))
    h = tf.reshape(tf.transpose(h, [0, 2, 1, 3]), [-1, 6, 8])
    h = tf.layers.dense(h, 8)
    h = 0.5 * h * (1.0 + tf.erf(h / np.float32(np.sqrt(2.0))))
    top, where = tf.nn.top_k(tf.reduce_mean(h, 1), 3)
    feeds = {"x": (x, random(2, 6, 8)), "n": (n, np.array([6, 3], np.int32))}
    return feeds, {"h": h, "top": top, "where": where, "e": tf.einsum("bij,bkj->bik", x, h)}


def detection(tf):
    """Boxes: suppression, crops, gathering, sorting, masks."""
    boxes = tf.placeholder(tf.float32, [None, 4], name="boxes")
    scores = tf.placeholder(tf.float32, [None], name="scores")
    image = tf.placeholder(tf.float32, [1, 8, 8, 2], name="image")
    kept = tf.image.non_max_suppression(boxes, scores, 3, iou_threshold=0.4)
    chosen = tf.gather(boxes, kept)
    crops = tf.image.crop_and_resize(image, chosen, tf.zeros_like(kept), [3, 3])
    order = tf.contrib.framework.argsort(scores, direction="DESCENDING")
    large = tf.boolean_mask(boxes, scores > 0.5)
    area = tf.reduce_prod(tf.maximum(large[:, 2:] - large[:, :2], 0.0), axis=1)
    low = np.random.RandomState(1).uniform(0, 0.5, (6, 2))
    value = np.concatenate([low, low + 0.4], 1).astype(np.float32)
    feeds = {
        "boxes": (boxes, value),
        "scores": (scores, np.linspace(0.9, 0.2, 6).astype(np.float32)),
        "image": (image, random(1, 8, 8, 2)),
    }
    return feeds, {"kept": kept, "crops": crops, "order": order, "area": area}


def preprocessing(tf):
    """Bytes to standardized images."""
    raw = tf.placeholder(tf.uint8, [None, 48], name="raw")
    image = tf.cast(tf.reshape(raw, [-1, 4, 4, 3]), tf.float32)
    flipped = tf.image.flip_left_right(image / 255.0)
    standard = tf.map_fn(tf.image.per_image_standardization, image)
    outputs = {"flipped": flipped, "standard": standard, "gray": tf.image.rgb_to_grayscale(image)}
    return {"raw": (raw, np.arange(96, dtype=np.uint8).reshape(2, 48))}, outputs


NETWORKS = (
    lenet,
    mobilenet,
    residual,
    decoder,
    dynamic_rnn,
    static_rnn,
    embeddings,
    control_flow,
    attention,
    detection,
    preprocessing,
)


def write(tf, network, folder):
    """Freezes one network and notes what it computes."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.set_random_seed(1)
        inputs, outputs = network(tf)
        outputs = {name: tf.identity(value, name=f"out_{name}") for name, value in outputs.items()}
        session.run(tf.global_variables_initializer())
        session.run(tf.get_collection("settings"))
        results = session.run(outputs, dict(inputs.values()))
        frozen = tf.graph_util.convert_variables_to_constants(
            session, graph.as_graph_def(), [value.op.name for value in outputs.values()]
        )
    with open(os.path.join(folder, network.__name__ + ".pb"), "wb") as file:
        file.write(frozen.SerializeToString())
    arrays = {f"out out_{name}:0": value for name, value in results.items()}
    for tensor, value in inputs.values():
        parts = [(tensor, value)]
        if isinstance(tensor, tf.SparseTensor):
            parts = zip([tensor.indices, tensor.values, tensor.dense_shape], value)
        for part, array in parts:
            if part.op.name in {node.name for node in frozen.node}:
                arrays[f"in {part.name}"] = array.astype(bytes) if array.dtype == object else array
    np.savez(os.path.join(folder, network.__name__ + ".npz"), **arrays)


def main(folder):
    """Writes all networks."""
    import tensorflow as tf

    for network in NETWORKS:
        write(tf, network, folder)


if __name__ == "__main__":
    main(sys.argv[1])
