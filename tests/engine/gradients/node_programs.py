# SPDX-License-Identifier: Apache-2.0
"""Small programs whose nodes are compared with those that TensorFlow 1.15 makes.

As a script, `python node_programs.py OUT.json.gz` records the nodes of TensorFlow 1.15, one list of
(name, type, inputs, output shapes, control inputs) per program; node_programs.json.gz holds them.
Works under Python 3.7.
"""

import gzip
import json
import sys

import numpy as np


def fills(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    tf.zeros([2, 3])
    tf.ones([1000, 3])
    tf.zeros(tf.shape(x))
    tf.zeros([tf.shape(x)[0], 3])
    tf.zeros_like(x)
    tf.ones_like(x)
    tf.zeros_like(tf.zeros([2]))
    tf.ones_like(tf.constant([1, 2]))
    tf.zeros_like(x, tf.int32)
    tf.fill([2, 3], 1.0)
    tf.zeros([3], tf.string)
    tf.ones([2], tf.bool)


def shapes(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = tf.placeholder(tf.float32, name="y")
    for tensor in (x, y, tf.zeros([2, 3])):
        tf.shape(tensor)
        tf.size(tensor)
        tf.rank(tensor)
        tf.transpose(tensor)
    tf.shape_n([x, x])
    tf.shape(y, out_type=tf.int64)
    tf.reshape(x, [-1])
    tf.expand_dims(x, 1)
    tf.squeeze(tf.zeros([1, 2, 1]), axis=[0])
    tf.matrix_transpose(y)


def joins(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    tf.concat([x, x], 1)
    tf.concat([x], 0)
    tf.split(tf.zeros([4, 6]), 3, 1)
    tf.split(tf.zeros([4, 6]), [1, -1], 1)
    tf.stack([x, x])
    tf.stack([x, x], axis=1)
    tf.unstack(tf.zeros([2, 3]))
    tf.convert_to_tensor([[1.0, tf.constant(2.0)], [3.0, 4.0]])
    tf.parallel_stack([tf.zeros([2]), tf.ones([2])])
    tf.meshgrid([1, 2], [3, 4])
    tf.tile(x, [1, 2])
    tf.pad(x, [[1, 1], [0, 0]])
    tf.pad(x, [[1, 1], [0, 0]], constant_values=1.0)


def subscripts(tf):
    x = tf.placeholder(tf.float32, [None, 4, 5], name="x")
    i = tf.placeholder(tf.int32, [], name="i")
    x[0]
    x[:, 1]
    x[..., -1]
    x[i]
    x[i : i + 2, ::2]
    x[:, tf.newaxis]
    x[::-1]
    x[tf.shape(x)[0] - 1]
    tf.slice(x, [0, 1, 2], [1, 2, -1])
    x[x > 0.0]


def selections(tf):
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    tf.gather(x, [0, 1])
    tf.gather(x, [0, 1], axis=1)
    tf.gather_nd(x, [[0, 1]])
    tf.scatter_nd([[0]], [1.0], [3])
    tf.one_hot([1, 2], 4)
    tf.one_hot([1, 2], 4, on_value=2.0, off_value=-1.0)
    tf.where(x > 0.0)
    tf.boolean_mask(x, [True, False])
    tf.sequence_mask([1, 3])
    tf.batch_gather(tf.zeros([2, 3]), [[0], [1]])
    tf.gather_nd(tf.zeros([2, 3, 4]), [[[0], [1]], [[2], [0]]], batch_dims=1)
    tf.searchsorted([1.0, 2.0], [1.5])
    tf.repeat([1, 2], [1, 2])
    tf.required_space_to_batch_paddings([3, 3], [2, 2])


def partial_shapes(tf):
    x = tf.placeholder(tf.float32, [5, None, 7], name="x")
    s = tf.shape(x)
    wanted = [s[1:], [s[0], 3], tf.stack([s[2], s[1]]), tf.concat([s[:1], [4]], 0), s + 1]
    wanted += [tf.slice(s, [0], [2]), tf.gather(s, [0, 1]), tf.cast(s, tf.int64), tf.identity(s)]
    wanted += [tf.concat([[-1], s[2:]], 0), tf.range(2, 5), tf.fill([2], 3)]
    for shape in wanted:
        tf.reshape(tf.placeholder(tf.float32), shape)


def products(tf):
    x = tf.placeholder(tf.float32, [3], name="x")
    y = tf.placeholder(tf.float32, [3], name="y")
    tf.gradients(x * y + x, [x, y])


def movements(tf):
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    w = tf.placeholder(tf.float32, [4, 6], name="w")
    y = tf.reshape(x, [-1, 2, 2])
    y = tf.concat([y, tf.transpose(y, [0, 2, 1])], axis=1)
    y = tf.pad(y[:, 1:3], [[0, 0], [1, 1], [0, 0]])
    y = tf.tile(y, [1, 2, 1])
    y = tf.unstack(tf.stack([y, y], axis=1), axis=1)[0]
    y = tf.squeeze(tf.expand_dims(y, 1), [1])
    y = tf.split(tf.slice(y, [0, 1, 0], [-1, 2, 2]), 2, axis=2)[0]
    tf.gradients(tf.reduce_sum(y) + tf.reduce_sum(tf.gather(w, [0, 1])), [x, w])


def blocks(tf):
    x = tf.placeholder(tf.float32, [2, 4, 4, 4], name="x")
    y = tf.depth_to_space(tf.space_to_depth(x, 2), 2)
    y = tf.broadcast_to(tf.reverse(y, [1])[0:1], [2, 4, 4, 4])
    y = tf.gather_nd(tf.gather(y, [0, 2], axis=1), [[0, 1], [1, 0]])
    y = tf.where(y > 0.0, y, y * 2.0)
    y = tf.identity_n([tf.boolean_mask(y, tf.reduce_sum(y, [1, 2]) > 0.0), y])[0]
    y = tf.linalg.diag(y)
    tf.gradients([tf.linalg.diag_part(y), tf.linalg.band_part(y, 1, 1)], [x])


def options(tf):
    x = tf.placeholder(tf.float32, [3, 3], name="x")
    y = x * 2.0
    z = tf.matmul(x, y) + tf.exp(x)
    tf.gradients(z, [x], grad_ys=[tf.ones([3, 3])])
    tf.gradients(z, [x], gate_gradients=True)
    tf.gradients(z, [x], aggregation_method=1)
    tf.gradients(z, [x], stop_gradients=[y])
    tf.gradients(z, [tf.zeros([2])], unconnected_gradients="zero")
    tf.gradients(z, x, colocate_gradients_with_ops=True)
    tf.gradients(tf.gradients(z, x), x)
    tf.gradients(tf.tanh(tf.sigmoid(x)), x, name="other")


def dense_layers(tf):
    x = tf.placeholder(tf.float32, [None, 8], name="x")
    t = tf.placeholder(tf.int32, [None], name="t")
    w = tf.Variable(tf.zeros([8, 5]), name="w")
    b = tf.Variable(tf.zeros([5]), name="b")
    with tf.name_scope("layer"):
        h = tf.nn.relu(tf.matmul(x, w) + b)
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=t, logits=h)
    tf.gradients(tf.reduce_mean(loss) + 0.1 * tf.nn.l2_loss(w), [w, b])


def softmax(tf):
    x = tf.placeholder(tf.float32, [None, 8], name="x")
    t = tf.placeholder(tf.float32, [None, 5], name="t")
    w = tf.Variable(tf.zeros([8, 5]), name="w")
    b = tf.Variable(tf.zeros([5]), name="b")
    logits = tf.nn.xw_plus_b(x, w, b)
    entropy = tf.nn.softmax_cross_entropy_with_logits_v2(labels=t, logits=logits)
    p = tf.nn.softmax(tf.matmul(x, w))
    by_hand = tf.reduce_mean(-tf.reduce_sum(t * tf.log(p), axis=[1]))
    tf.gradients([tf.reduce_mean(entropy), by_hand], [w, b])


def convolution(tf):
    x = tf.placeholder(tf.float32, [None, 8, 8, 1], name="x")
    w = tf.Variable(tf.zeros([3, 3, 1, 4]), name="w")
    b = tf.Variable(tf.zeros([4]), name="b")
    h = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"), b))
    h = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    h = tf.nn.dropout(tf.reshape(h, [-1, 64]), 0.5)
    tf.gradients(tf.reduce_sum(h), [w, b])


def embedding(tf):
    e = tf.Variable(tf.zeros([10, 4]), name="e")
    i = tf.placeholder(tf.int32, [None, 3], name="i")
    looked_up = tf.nn.embedding_lookup(e, i)
    rows = tf.gather(e, i[:, 0])
    tf.gradients(tf.reduce_sum(looked_up) + tf.reduce_sum(rows * rows), [e])
    tf.gradients(tf.reduce_sum(e) + tf.reduce_sum(looked_up), [e])


def own_gradient(tf):
    @tf.custom_gradient
    def f(x):
        return tf.exp(x), lambda dy: dy * 3.0

    x = tf.placeholder(tf.float32, [2], name="x")
    tf.gradients(f(x), x)


def own_gradient_of_variables(tf):
    """A function that makes a variable, of which 1.15 reads it once more for nobody."""

    @tf.contrib.layers.recompute_grad
    def f(x):
        w = tf.get_variable("w", [2, 2], initializer=tf.ones_initializer())
        return tf.nn.selu(tf.matmul(x, w))

    with tf.variable_scope("layer", use_resource=True):
        y = f(tf.placeholder(tf.float32, [3, 2], name="x"))
    tf.gradients(tf.square(y), tf.trainable_variables())


def distances(tf):
    rows, labels = tf.zeros([6, 4]), tf.constant([0, 1, 2, 0, 1, 2])
    learn = tf.contrib.losses.metric_learning
    learn.triplet_semihard_loss(labels, rows)
    learn.lifted_struct_loss(labels, rows)
    learn.npairs_loss(labels[:3], rows[:3], rows[3:])
    learn.contrastive_loss(tf.equal(labels[:3], labels[3:]), rows[:3], rows[3:])


def batch_gathers(tf):
    x = tf.identity(tf.zeros([2, 3, 4]))
    tf.gradients(tf.gather(x, [[0], [1]], axis=2, batch_dims=1), x)
    tf.gradients(tf.gather(x, [1], axis=-1), x)
    tf.gradients(tf.batch_gather(x[:, :, 0], [[0], [1]]), x)


def sparse_gradients(tf):
    t = tf.identity(tf.zeros([3, 2]))
    rows = tf.concat([t, t * 2.0], 0)
    tf.gradients(tf.gather(rows, [0, 4]), t)
    tf.gradients(tf.gather(tf.concat([t, t * 2.0], 1), [0, 1]), t)
    tf.gradients(tf.gather(tf.tile(t, [2, 1]), [0, 1]), t)
    tf.gradients(tf.gather(tf.reshape(t, [2, 3]), [0]), t)
    tf.gradients(tf.gather_nd(t, [[0], [1]]), t)
    parts = tf.dynamic_partition(t[:, 0], [0, 1, 0], 2)
    tf.gradients(parts, t)
    tf.gradients(tf.dynamic_stitch([[0, 1], [2]], parts), t)
    tf.gradients(tf.scatter_nd([[0], [2]], t[:2], [5, 2]), t)
    for update in (tf.tensor_scatter_update, tf.tensor_scatter_add, tf.tensor_scatter_sub):
        tf.gradients(update(t, [[0]], t[1:2]), t)


def many_gradients(tf):
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    u = tf.placeholder(tf.float32, name="u")
    t = tf.identity(tf.zeros([3, 2]))
    m = tf.identity(tf.zeros([3, 3]))
    tf.gradients(tf.concat([x] * 17, 0), x)
    tf.gradients(tf.pad(t, [[1, 1], [0, 0]], "REFLECT"), t)
    tf.gradients(tf.reverse_sequence(t, [1, 2, 0], 1, 0), t)
    tf.gradients(tf.linalg.set_diag(m, m[0]), m)
    tf.gradients(tf.linalg.diag_part(u), u)
    tf.gradients(tf.fill([2], t[0, 0]), t)
    tf.gradients(tf.roll(t, 1, 0), t)
    tf.gradients(tf.broadcast_to(t[0], [3, 2]), t)
    tf.gradients(tf.transpose(u), u)
    tf.gradients(tf.repeat(t, 2, axis=0), t)
    tf.gradients(tf.meshgrid(t[0], t[1]), t)


def recurrent(tf):
    x = tf.placeholder(tf.float32, [None, 5, 3], name="x")
    w = tf.Variable(tf.zeros([7, 16]), name="w")
    b = tf.Variable(tf.zeros([16]), name="b")
    h = c = tf.zeros([tf.shape(x)[0], 4])
    for step in range(3):
        gates = tf.nn.bias_add(tf.matmul(tf.concat([x[:, step], h], 1), w), b)
        i, j, f, o = tf.split(gates, 4, axis=1)
        c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        h = tf.tanh(c) * tf.sigmoid(o)
    grads = tf.gradients(tf.reduce_mean(tf.square(h)), [w, b])
    tf.clip_by_global_norm(grads, 5.0)


def normalization(tf):
    x = tf.placeholder(tf.float32, [None, 6], name="x")
    scale = tf.Variable(tf.ones([6]), name="scale")
    offset = tf.Variable(tf.zeros([6]), name="offset")
    mean, variance = tf.nn.moments(x, [0])
    y = tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3)
    tf.gradients(tf.reduce_sum(y * tf.nn.elu(y)), [x, scale, offset])
    tf.gradients([tf.reduce_max(x, 1, keepdims=True), tf.reduce_logsumexp(x, 1)], x)
    tf.gradients(tf.reduce_prod(x, 1), x)


PROGRAMS = [
    *(fills, shapes, joins, subscripts, selections, partial_shapes, products, movements, blocks),
    *(options, dense_layers, softmax, convolution, embedding, own_gradient, batch_gathers),
    *(
        own_gradient_of_variables,
        distances,
        sparse_gradients,
        many_gradients,
        recurrent,
        normalization,
    ),
]


def nodes(tf, program):
    """The nodes that a program makes, in order."""
    with tf.Graph().as_default() as graph:
        program(tf)
    return [
        [
            op.name,
            op.type,
            [x.name for x in op.inputs],
            [str(y.shape) for y in op.outputs],
            sorted(other.name for other in op.control_inputs),
        ]
        for op in graph.get_operations()
    ]


def main(path):
    import tensorflow as tf

    np.seterr(all="ignore")
    recorded = {program.__name__: nodes(tf, program) for program in PROGRAMS}
    with open(path, "wb") as file:
        text = json.dumps(recorded, sort_keys=True).encode()
        file.write(gzip.compress(text, 9))


if __name__ == "__main__":
    main(sys.argv[1])
