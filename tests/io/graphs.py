# SPDX-License-Identifier: Apache-2.0
"""Builds graphs with TensorFlow 1.15 and writes them, and the signatures of all ops.

    python graphs.py FOLDER

Each function below makes one graph; the same program runs under TensorFlow 1.15 and here.
"""

from __future__ import annotations

import importlib
import os
import sys

import numpy as np


def constants(tf):
    """All forms in which a constant is written."""
    tf.constant([[1.0, 2.0], [3.0, 4.0]])
    tf.constant(0.9, name="s")
    tf.constant(["a", "b\0"])
    tf.constant(2, shape=[2, 3])
    tf.constant([1, 2], shape=[5])
    tf.constant(np.zeros((3, 3)))
    tf.constant(1, dtype=tf.bfloat16)
    tf.constant([1.5, 2], dtype=tf.float16)
    tf.constant([True])
    tf.constant([1 + 2j])
    tf.constant(2**40)
    tf.zeros([3])
    tf.ones([2, 0])
    tf.zeros([2000])


def scopes(tf):
    """Names, devices, control dependencies and colocation."""
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    a = tf.constant(1.0)
    with tf.name_scope("n"), tf.device("/cpu:0"):
        y = x + 1.0
        y = tf.tanh(y * y - 2.0)
        with tf.device("/job:ps/task:1"):
            tf.identity(y)
    with tf.control_dependencies([y, a]):
        z = tf.identity(y)
    with tf.get_default_graph().colocate_with(z):
        tf.exp(z)
    tf.group(y, z)


def shapes(tf):
    """Ops with shape, list and type attributes."""
    x = tf.placeholder(tf.float32, [None, 3])
    tf.placeholder(tf.int32)
    tf.reshape(x, [-1])
    tf.expand_dims(x, 0)
    tf.concat([x, x], 1)
    tf.transpose(x)
    x[0, 1:]
    tf.stack([x, x])
    tf.unstack(x, axis=1)
    tf.split(x, 3, 1)
    tf.shape(x)
    tf.one_hot([1, 2], 3)
    tf.cast(x, tf.int32)
    tf.reduce_sum(x, 1, keepdims=True)
    tf.gather(x, [0, 1])
    tf.tile(x, [1, 2])
    tf.pad(x, [[0, 1], [1, 0]])


def perceptron(tf):
    """Two layers with their gradients and an update."""
    tf.set_random_seed(1)
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    with tf.variable_scope("hidden"):
        w = tf.get_variable("w", [4, 8])
        b = tf.get_variable("b", [8], initializer=tf.zeros_initializer())
        h = tf.nn.relu(tf.matmul(x, w) + b)
    w2 = tf.Variable(tf.truncated_normal([8, 3], stddev=0.1), name="w2")
    logits = tf.nn.dropout(h, 0.5) @ w2
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )
    tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    tf.global_variables_initializer()


def convolutions(tf):
    """A small convolutional network with batch normalisation's pieces."""
    x = tf.placeholder(tf.float32, [None, 8, 8, 1])
    k = tf.get_variable("k", [3, 3, 1, 4])
    h = tf.nn.conv2d(x, k, [1, 1, 1, 1], "SAME")
    h = tf.nn.bias_add(h, tf.get_variable("b", [4], initializer=tf.zeros_initializer()))
    h = tf.nn.max_pool(tf.nn.relu(h), [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    mean, variance = tf.nn.moments(h, [0, 1, 2])
    h = tf.nn.batch_normalization(h, mean, variance, None, None, 1e-3)
    y = tf.reduce_sum(tf.reshape(h, [-1, 64]))
    tf.gradients(y, [k])


def optimizers(tf):
    """Every optimizer, with its slots, on one variable of each kind."""
    w = tf.get_variable("w", [3, 2])
    r = tf.get_variable("r", [2], use_resource=True)
    loss = tf.reduce_sum(tf.matmul(tf.ones([4, 3]), w) * r)
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.1, step, 100, 0.9, staircase=True)
    t = tf.train
    for optimizer in (
        t.GradientDescentOptimizer(rate),
        t.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
        t.AdamOptimizer(rate, name="AdamOther"),
        t.AdagradOptimizer(0.1),
        t.AdadeltaOptimizer(),
        t.RMSPropOptimizer(0.1, centered=True),
        t.FtrlOptimizer(0.1, l1_regularization_strength=0.1),
        t.ProximalGradientDescentOptimizer(0.1),
        t.ProximalAdagradOptimizer(0.1),
        t.AdagradDAOptimizer(0.1, step),
    ):
        optimizer.minimize(loss, global_step=step)
    clipped, _ = tf.clip_by_global_norm(tf.gradients(loss, [w, r]), 1.0)
    t.AdamOptimizer().apply_gradients(zip(clipped, [w, r]))


def embeddings(tf):
    """Partitioned tables, sparse gradients, sparse and dense lookups."""
    ids = tf.placeholder(tf.int64, [None], name="ids")
    table = tf.get_variable("table", [10, 4], partitioner=tf.fixed_size_partitioner(3))
    plain = tf.get_variable("plain", [5, 4], use_resource=True)
    a = tf.nn.embedding_lookup(table, ids, partition_strategy="div")
    b = tf.nn.embedding_lookup(plain, ids % 5, max_norm=1.0)
    bag = tf.sparse_placeholder(tf.int64, name="bag")
    c = tf.nn.embedding_lookup_sparse(table, bag, None, combiner="sqrtn")
    loss = tf.reduce_mean(a * b) + tf.reduce_sum(c)
    tf.train.AdamOptimizer(0.01).minimize(loss)
    nce = tf.get_variable("nce", [10, 4])
    tf.nn.sampled_softmax_loss(nce, tf.zeros([10]), ids[:, None], a, 3, 10, seed=3)


def recurrent(tf):
    """An LSTM cell unrolled by hand, with the gradients through time."""
    x = tf.placeholder(tf.float32, [2, 4, 3], name="x")
    with tf.variable_scope("cell") as scope:
        h, c = tf.zeros([2, 5]), tf.zeros([2, 5])
        for i, step in enumerate(tf.unstack(x, axis=1)):
            if i:
                scope.reuse_variables()
            kernel = tf.get_variable("kernel", [8, 20], initializer=tf.orthogonal_initializer())
            bias = tf.get_variable("bias", [20], initializer=tf.constant_initializer(1.0))
            gates = tf.nn.bias_add(tf.matmul(tf.concat([step, h], 1), kernel), bias)
            i_, j, f, o = tf.split(gates, 4, axis=1)
            c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i_) * tf.tanh(j)
            h = tf.tanh(c) * tf.sigmoid(o)
    loss = tf.losses.mean_squared_error(tf.zeros([2, 5]), h)
    grads = tf.gradients(loss, tf.trainable_variables())
    tf.train.RMSPropOptimizer(0.1).apply_gradients(zip(grads, tf.trainable_variables()))


def control_flow(tf):
    """Branches and loops, nested, with gradients through them."""
    x = tf.placeholder(tf.float32, [3], name="x")
    w = tf.get_variable("w", [3])
    n = tf.placeholder_with_default(5, [], name="n")
    a = tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * w, lambda: tf.stop_gradient(x) - 1.0)

    def body(i, value):
        inner = tf.cond(tf.equal(i % 2, 0), lambda: value * w, lambda: value + 1.0)
        return i + 1, inner

    _, b = tf.while_loop(lambda i, _: i < n, body, [tf.constant(0), a], parallel_iterations=3)
    c = tf.map_fn(lambda t: t * t, b)
    d = tf.scan(lambda total, t: total + t, c)
    e = tf.case({tf.equal(n, 3): lambda: d, n > 7: lambda: -d}, default=lambda: d * 2.0)
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    array = array.write(0, e).write(1, d)
    tf.gradients(tf.reduce_sum(e) + tf.reduce_sum(array.stack()), [x, w])


def losses(tf):
    """Losses of all kinds and their regularization, weights, moving averages."""
    labels = tf.placeholder(tf.float32, [4, 3], name="labels")
    logits = tf.placeholder(tf.float32, [4, 3], name="logits")
    ids = tf.placeholder(tf.int32, [4], name="ids")
    with tf.variable_scope("r", regularizer=lambda w: 0.1 * tf.nn.l2_loss(w)):
        w = tf.get_variable("w", [2])
    tf.losses.absolute_difference(labels, logits)
    tf.losses.cosine_distance(labels, logits, axis=1)
    tf.losses.hinge_loss(labels, logits)
    tf.losses.huber_loss(labels, logits, delta=2.0)
    tf.losses.log_loss(labels, logits, weights=[[1.0], [0.0], [2.0], [1.0]])
    tf.losses.mean_pairwise_squared_error(labels, logits)
    tf.losses.mean_squared_error(labels, logits, reduction=tf.losses.Reduction.MEAN)
    tf.losses.sigmoid_cross_entropy(labels, logits, label_smoothing=0.1)
    tf.losses.softmax_cross_entropy(labels, logits)
    tf.losses.sparse_softmax_cross_entropy(ids, logits)
    tf.nn.weighted_cross_entropy_with_logits(labels, logits, 2.0)
    total = tf.losses.get_total_loss()
    averages = tf.train.ExponentialMovingAverage(0.9, zero_debias=True)
    averages.apply([w, total])
    averages.average(total)


def initializers(tf):
    """Every initializer, seeded by the graph."""
    tf.set_random_seed(7)
    for name in (
        "glorot_normal glorot_uniform he_normal he_uniform lecun_normal lecun_uniform orthogonal "
        "random_normal random_uniform truncated_normal uniform_unit_scaling variance_scaling "
        "zeros ones identity"
    ).split():
        tf.get_variable(name, [4, 4], initializer=getattr(tf.initializers, name)())
    tf.get_variable("c", initializer=tf.constant([1, 2]), trainable=False)
    tf.report_uninitialized_variables()
    tf.local_variables_initializer()


def checkpoints(tf):
    """Savers, plain and sharded, of partitioned and renamed variables."""
    v = tf.get_variable("v", [2])
    p = tf.get_variable("p", [4, 2], partitioner=tf.fixed_size_partitioner(2))
    r = tf.get_variable("r", [], use_resource=True)
    with tf.device("/job:ps/task:1"):
        far = tf.get_variable("far", [3])
    tf.train.Saver()
    tf.train.Saver({"other": v, "p": p, "r": r}, max_to_keep=2)
    tf.train.Saver([v, far], sharded=True, restore_sequentially=True)


def images(tf):
    """Convolutions of all kinds, pooling, normalization, resizing, with gradients."""
    x = tf.placeholder(tf.float32, [2, 8, 8, 4], name="x")
    k = tf.get_variable("k", [3, 3, 4, 6])
    d = tf.get_variable("d", [3, 3, 4, 2])
    a = tf.nn.conv2d(x, k, [1, 2, 2, 1], [[0, 0], [1, 1], [2, 0], [0, 0]])
    b = tf.nn.depthwise_conv2d(x, d, [1, 1, 1, 1], "SAME", rate=[2, 2])
    c = tf.nn.conv2d_transpose(a, k, [2, 8, 8, 4], [1, 2, 2, 1], "SAME")
    e = tf.nn.separable_conv2d(x, d, tf.get_variable("s", [1, 1, 8, 3]), [1, 1, 1, 1], "VALID")
    scale = tf.get_variable("scale", [8])
    f, _, _ = tf.nn.fused_batch_norm(b, scale, tf.zeros([8]))
    g = tf.nn.avg_pool(tf.nn.relu6(f), 2, 2, "SAME") + tf.nn.atrous_conv2d(
        tf.nn.max_pool(f, 2, 2, "SAME"), tf.get_variable("r", [2, 2, 8, 8]), 2, "SAME"
    )
    h = tf.nn.lrn(tf.nn.elu(c)) + tf.space_to_depth(tf.depth_to_space(c, 2), 2)
    values = [tf.reduce_sum(t) for t in (a, e, g, h)]
    tf.gradients(tf.add_n(values), [x, *tf.trainable_variables()])


def arithmetic(tf):
    """Reductions, comparisons, special functions, linear algebra, with gradients."""
    x = tf.placeholder(tf.float64, [3, 3], name="x")
    y = tf.sqrt(tf.abs(x)) + tf.log1p(x * x) - tf.lgamma(x + 3.0) + tf.erf(x) / (x + 5.0)
    y += tf.where(x > y, x, tf.maximum(y, 0.5)) ** 2.0 + tf.floormod(x, 2.0) - x // 3.0
    z = tf.matmul(x, y, transpose_b=True) + tf.matrix_inverse(tf.matmul(x, x, adjoint_a=True))
    z += tf.cholesky(tf.eye(3, dtype=tf.float64)) + tf.diag(tf.diag_part(z))
    parts = [tf.reduce_logsumexp(z, 1), tf.cumsum(z)[0], tf.norm(z, axis=0), z[1, ::-1]]
    tf.gradients(tf.add_n([tf.reduce_mean(part) for part in parts]), x)
    tf.argmax(z, 1)
    tf.nn.top_k(z, 2)
    tf.unique(tf.cast(x[0], tf.int32))
    tf.segment_sum(x, [0, 0, 1])
    tf.unsorted_segment_max(x, [1, 0, 1], 2)
    tf.scatter_nd([[1]], [2.0], [4])
    tf.dynamic_stitch([[0], [1, 2]], tf.dynamic_partition(x, [0, 1, 1], 2))
    tf.sparse.to_dense(tf.SparseTensor([[0, 1]], [2.0], [2, 2]))
    tf.einsum("ij,jk->ik", x, y)
    tf.py_func(lambda v: v, [x], tf.float64, stateful=False)
    tf.Print(x, [x], "x")
    tf.Assert(tf.reduce_all(x > 0.0), [x])
    tf.debugging.assert_equal(x, y)


def distributed(tf):
    """Variables on parameter servers, towers that share them."""
    setter = tf.train.replica_device_setter(ps_tasks=2, worker_device="/job:worker/task:1")
    with tf.device(setter):
        w = tf.get_variable("w", [3, 3])
        v = tf.get_variable("v", [3])
        x = tf.ones([2, 3])
        losses_ = []
        for i in range(2):
            with tf.device(f"/gpu:{i}"), tf.name_scope(f"tower_{i}"):
                y = tf.matmul(x, w, name="y") + v
                losses_.append(tf.reduce_mean(y))
        with tf.colocate_with(w):
            total = tf.add_n(losses_)
        tf.train.GradientDescentOptimizer(0.1).minimize(
            total, aggregation_method=tf.AggregationMethod.ADD_N, colocate_gradients_with_ops=True
        )


def pipelines(tf):
    """Queues, batches and their runners; tables."""
    files = tf.train.string_input_producer(["a", "b"], num_epochs=2, seed=4)
    x = tf.reshape(tf.cast(tf.string_to_hash_bucket_fast(files.dequeue(), 7), tf.float32), [1])
    a, b = tf.train.shuffle_batch([x, x * 2.0], 4, 20, 10, seed=5)
    tf.train.batch([a, b], 2, enqueue_many=True, dynamic_pad=False)
    queue = tf.FIFOQueue(3, [tf.float32], [[1]], name="own")
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(x)] * 2))
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64)), -1
    )
    table.lookup(files.dequeue())
    tf.tables_initializer()


def functions(tf):
    """Functions with parameters from outside, gradients, nested calls and control inputs."""
    home = "tensorflow.python.framework.function"
    if tf.__name__ != "tensorflow":
        home = f"{tf.__name__}.ops.flow.function_library"
    defun = importlib.import_module(home).Defun
    outside = tf.placeholder(tf.float32, [2], name="outside")

    @defun(tf.float32, tf.int32, func_name="Inner")
    def inner(x, count):
        a, b = tf.unstack(x * outside, 2)
        with tf.control_dependencies([b]):
            c = tf.identity(a, name="Mixed.Case")
        return c * tf.cast(count, tf.float32), tf.stack([a, b]), count

    @defun(tf.float32, func_name="Outer", out_names=["first", "second"], noinline=True)
    def outer(x):
        """Calls the other one."""
        w = tf.get_variable("w", [2])
        y, z, _ = inner(x, 3)
        return y, z + w

    y, z = outer(tf.constant([1.0, 2.0]), name="call")
    tf.gradients(y + tf.reduce_sum(z), [outside, *tf.trainable_variables()])


GRAPHS = (
    constants,
    scopes,
    shapes,
    perceptron,
    convolutions,
    optimizers,
    embeddings,
    recurrent,
    control_flow,
    losses,
    initializers,
    checkpoints,
    images,
    arithmetic,
    distributed,
    pipelines,
    functions,
)


def main(folder):
    """Writes a meta graph for each function, and the op table."""
    import tensorflow as tf
    from tensorflow.python.framework import meta_graph

    for build in GRAPHS:
        graph = tf.Graph()
        with graph.as_default():
            build(tf)
        meta_graph.export_scoped_meta_graph(
            os.path.join(folder, build.__name__ + ".meta"), graph=graph
        )


if __name__ == "__main__":
    main(sys.argv[1])
