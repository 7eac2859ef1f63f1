# SPDX-License-Identifier: Apache-2.0
"""Programs with layers, and what is written down of each: the graph, collections and values.

record.py runs them in TensorFlow 1.15, test_recorded.py here; in Python that 3.7 reads.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

COLLECTIONS = (
    "variables trainable_variables local_variables update_ops regularization_losses".split()
)


def run(tf: Any, program: Any) -> Any:
    """What a program builds, and what its outputs and their gradients are after `set_seed(11)`."""
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(11)
        outputs = program(tf)
        trained = tf.trainable_variables()
        floats = [y for y in outputs if y.dtype.is_floating]
        gradients = tf.gradients(floats, trained) if trained and floats else []
        updates = graph.get_collection("update_ops")
        with tf.Session(graph=graph) as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            initial = session.run(trained)
            values = session.run([*outputs, *(g for g in gradients if g is not None)])
            session.run(updates)  # Flattened tensors may be among them, too.
            state = session.run(graph.get_collection("variables"))
        collections = {
            name: [element.name for element in graph.get_collection(name)] for name in COLLECTIONS
        }
        nodes = [node_text(node) for node in graph.as_graph_def().node]
    return {
        "nodes": nodes,
        "collections": collections,
        "values": [rounded(v) for v in [*initial, *values, *state]],
    }


def node_text(node: Any) -> str:
    """A node's name and type, and a hash of all that it is."""
    parts = [*node.input, node.device]
    for key in sorted(node.attr):
        parts.append(key + node.attr[key].SerializeToString(deterministic=True).hex())
    digest = hashlib.sha1("\n".join(parts).encode()).hexdigest()[:6]
    return f"{node.name} {node.op} {digest}"


def rounded(value: Any) -> Any:
    """An array as JSON holds it: its shape, and some of its elements."""
    value = np.asarray(value)
    if value.dtype.kind in "SO":
        return [list(value.shape), [str(v) for v in value.ravel()[:20]]]
    flat = value.astype(np.float64).ravel()
    chosen = flat if flat.size <= 24 else flat[:: flat.size // 20]
    return [list(value.shape), [float(f"{v:.6g}") for v in chosen]]


def numbers(tf: Any, *shape: int) -> Any:
    """A placeholder with a default: fixed numbers, and an unknown first size."""
    # Fractions that are exact, whatever computes them.
    values = (np.arange(np.prod(shape)) * 7 % 19 - 9).astype(np.float32) / 8
    return tf.placeholder_with_default(values.reshape(shape), (None, *shape[1:]))


def dense(tf: Any) -> Any:
    x = numbers(tf, 3, 4)
    y = tf.layers.dense(x, 5, activation=tf.nn.relu, kernel_regularizer=tf.nn.l2_loss)
    y = tf.layers.dense(y, 3, use_bias=False, activation="tanh", name="named")
    y = tf.layers.dense(y, 2, activity_regularizer=lambda t: 0.1 * tf.reduce_sum(t))
    return [y, *tf.get_collection("regularization_losses")]


def dense_of_ranks(tf: Any) -> Any:
    y = tf.layers.dense(numbers(tf, 2, 3, 4), 5, "sigmoid", True, tf.zeros_initializer)
    with tf.variable_scope("outer", initializer=tf.random_normal_initializer(stddev=0.3)):
        y = tf.layers.dense(y, 2, bias_initializer="ones")
        z = tf.layers.dense(numbers(tf, 2, 3).op.inputs[0], 2)
    return [y, z]


def dense_shared(tf: Any) -> Any:
    x = numbers(tf, 3, 4)
    first = tf.layers.dense(x, 4, name="d", kernel_regularizer=tf.nn.l2_loss)
    again = tf.layers.dense(first, 4, name="d", reuse=True, kernel_regularizer=tf.nn.l2_loss)
    with tf.variable_scope("s"):
        layer = tf.layers.Dense(3)
        one = layer(x)
    two = layer.apply(x)
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
        three = tf.layers.dense(x, 3, name="dense")
        four = tf.layers.dense(x, 3, name="other")
    return [again, one, two, three, four]


def dense_in_scopes(tf: Any) -> Any:
    x = numbers(tf, 3, 4)
    with tf.name_scope("names"):
        a = tf.layers.dense(x, 2)
    with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(2)):
        b = tf.layers.dense(x, 2, kernel_regularizer=tf.nn.l2_loss)
    with tf.variable_scope("resources", use_resource=True):
        c = tf.layers.dense(x, 2, kernel_constraint=tf.abs)
    d = tf.layers.Dense(2, trainable=False, dtype="float64", _scope="given")
    return [a, b, c, d(tf.cast(x, tf.float64))]


def sparse_dense(tf: Any) -> Any:
    x = tf.SparseTensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 3])
    x = tf.sparse.reset_shape(x, [2, 3])
    return [tf.layers.dense(x, 2)]


def dropout(tf: Any) -> Any:
    x = numbers(tf, 4, 3)
    switch = tf.placeholder_with_default(True, [])
    return [
        tf.layers.dropout(x, 0.4, training=True),
        tf.layers.dropout(x, rate=0.4, noise_shape=[None, 1], seed=3, training=switch),
        tf.layers.dropout(x, name="idle"),
        tf.layers.Dropout(0.5)(x, training=tf.constant(True)),
    ]


def flatten(tf: Any) -> Any:
    x = numbers(tf, 2, 3, 4)
    unknown = tf.placeholder_with_default(np.ones([2, 3, 4], np.float32), [2, None, 4])
    return [
        tf.layers.flatten(x),
        tf.layers.flatten(x, name="f", data_format="channels_first"),
        tf.layers.Flatten()(unknown),
        tf.layers.flatten(tf.constant([1.0, 2.0])),
        tf.contrib.layers.flatten(x, outputs_collections=["update_ops"]),
    ]


def own_layer(tf: Any) -> Any:
    class Scale(tf.layers.Layer):
        def build(self, shape: Any) -> None:
            self.scale = self.add_variable("scale", shape[1:].as_list(), tf.float32)
            self.count = self.add_weight("count", [], tf.int32, trainable=False)
            super().build(shape)

        def call(self, inputs: Any, training: Any = None) -> Any:
            self.add_loss(tf.reduce_sum(inputs), inputs=inputs)
            self.add_update(self.count.assign_add(1))
            self.add_update(lambda: self.count.assign_add(tf.cast(inputs[0, 0], tf.int32)))
            return tf.layers.Dropout(0.3)(inputs * self.scale)

    layer = Scale()
    y = layer(numbers(tf, 3, 4), training=True)
    with tf.variable_scope("again"):
        z = layer(y)
    w = Scale(name="scaled")(z)
    return [y, z, w, *layer.losses, *layer.get_losses_for(None)]


def conv1d(tf: Any) -> Any:
    x = numbers(tf, 2, 8, 3)
    y = tf.layers.conv1d(x, 4, 3, activation=tf.nn.relu, kernel_regularizer=tf.nn.l2_loss)
    z = tf.layers.conv1d(x, 2, 2, dilation_rate=2, padding="SAME")
    w = tf.layers.Conv1D(2, 3, padding="causal", use_bias=False)(y)
    v = tf.layers.separable_conv1d(x, 4, 3, depth_multiplier=2, activation="tanh")
    u = tf.layers.separable_conv1d(x, 2, 3, padding="causal", name="c")
    return [y, z, w, v, u]


def conv2d(tf: Any) -> Any:
    x = numbers(tf, 2, 6, 5, 3)
    y = tf.layers.conv2d(x, 4, 3, 2, "same", activation=tf.nn.relu)
    z = tf.layers.conv2d(x, 2, (3, 2), dilation_rate=(2, 1), bias_initializer=tf.ones_initializer())
    w = tf.layers.conv2d(y, 2, 1, name="named")
    v = tf.layers.conv2d(y, 2, 1, name="named", reuse=True)
    u = tf.layers.conv2d_transpose(x, 2, 3, strides=2)
    t = tf.layers.conv2d_transpose(x, 2, [2, 3], (1, 2), "same", use_bias=False)
    s = tf.layers.separable_conv2d(x, 4, 3, padding="same", pointwise_regularizer=tf.nn.l2_loss)
    r = tf.layers.SeparableConv2D(2, 2, depth_multiplier=2, dilation_rate=2)(x)
    return [y, z, w, v, u, t, s, r]


def conv3d(tf: Any) -> Any:
    x = numbers(tf, 1, 4, 5, 4, 2)
    return [
        tf.layers.conv3d(x, 3, 2, activation=tf.nn.elu),
        tf.layers.conv3d(x, 2, 3, (1, 2, 1), "same", name="c"),
        tf.layers.conv3d_transpose(x, 2, 2, 2, padding="same"),
        tf.layers.conv3d_transpose(x, 2, (1, 2, 3), activation=tf.tanh),
    ]


def pooling(tf: Any) -> Any:
    line, image, block = numbers(tf, 2, 6, 3), numbers(tf, 2, 5, 4, 3), numbers(tf, 2, 4, 3, 4, 2)
    return [
        tf.layers.max_pooling1d(line, 2, 2),
        tf.layers.average_pooling1d(line, 3, 1, "same", "channels_first", name="first"),
        tf.layers.max_pooling2d(image, [2, 2], 2, name="named"),
        tf.layers.average_pooling2d(image, 3, (1, 2), padding="SAME"),
        tf.layers.max_pooling3d(block, 2, 2),
        tf.layers.average_pooling3d(block, (2, 1, 2), 1, "same", "channels_first"),
        tf.layers.MaxPooling2D(2, 1)(image),
    ]


def normalized(tf: Any) -> Any:
    image, rows = numbers(tf, 3, 4, 3, 2), numbers(tf, 5, 3)
    switch = tf.placeholder_with_default(True, [], name="switch")
    return [
        tf.layers.batch_normalization(image, training=True),
        tf.layers.batch_normalization(image, training=switch, momentum=0.9, name="by_switch"),
        tf.layers.batch_normalization(image, scale=False, center=False),
        tf.layers.batch_normalization(rows, training=True, epsilon=0.1),
        tf.layers.batch_normalization(rows, -1, 0.8, training=switch, center=False),
        tf.layers.batch_normalization(rows, gamma_regularizer=tf.nn.l2_loss),
        tf.layers.batch_normalization(image, axis=2, fused=True, training=True),
        tf.layers.batch_normalization(image, axis=[1, 3], training=True, scale=False),
        tf.layers.batch_normalization(image, fused=False, trainable=False, training=True),
    ]


def normalized_otherwise(tf: Any) -> Any:
    rows = numbers(tf, 6, 3)
    switch = tf.placeholder_with_default(True, [], name="switch")
    clip = {"rmax": 1.5, "rmin": 0.5, "dmax": 2.0}
    layer = tf.layers.BatchNormalization(virtual_batch_size=2, momentum=0.9)
    return [
        tf.layers.batch_normalization(rows, renorm=True, training=True),
        tf.layers.batch_normalization(rows, renorm=True, renorm_clipping=clip, training=switch),
        layer(rows, training=True),
        layer(rows, training=False),
        tf.layers.batch_normalization(
            rows, training=switch, adjustment=lambda shape: (tf.fill(shape, 2.0), tf.ones(shape))
        ),
    ]


def cells(tf: Any) -> Any:
    cell, found = tf.nn.rnn_cell, []
    x = numbers(tf, 3, 4)
    with tf.variable_scope("around", initializer=tf.random_uniform_initializer(-0.3, 0.3)):
        for number, made in enumerate(
            (
                cell.BasicRNNCell(3),
                cell.GRUCell(3, kernel_initializer="ones"),
                cell.GRUCell(2, activation=tf.nn.relu, name="gru"),
                cell.BasicLSTMCell(3, forget_bias=0.5),
                cell.BasicLSTMCell(3, state_is_tuple=False, name="joined"),
                cell.LSTMCell(3, use_peepholes=True, cell_clip=0.4),
                cell.LSTMCell(4, num_proj=2, proj_clip=0.3, initializer=tf.ones_initializer()),
                cell.LSTMCell(4, num_proj=3, state_is_tuple=False, num_unit_shards=2),
                cell.MultiRNNCell([cell.GRUCell(3), cell.BasicLSTMCell(2)]),
                cell.MultiRNNCell([cell.GRUCell(3), cell.GRUCell(2)], state_is_tuple=False),
            )
        ):
            with tf.variable_scope(f"cell{number}"):
                output, state = made(x, made.zero_state(3, tf.float32))
                again, state = made(x + 1, state)
            found += [output, again, *tf.nest.flatten(state)]
    return found


def wrapped_cells(tf: Any) -> Any:
    cell, found = tf.nn.rnn_cell, []
    x, keep = numbers(tf, 3, 4), tf.placeholder_with_default(0.5, [])
    for number, made in enumerate(
        (
            cell.DropoutWrapper(cell.BasicLSTMCell(4), 0.5, 0.6, 0.7, seed=3),
            cell.DropoutWrapper(cell.GRUCell(4), output_keep_prob=keep),
            cell.DropoutWrapper(cell.BasicLSTMCell(4), 0.5, keep, 0.8, True, 4, tf.float32, seed=5),
            cell.ResidualWrapper(cell.GRUCell(4)),
            cell.ResidualWrapper(cell.GRUCell(4), residual_fn=lambda i, o: i * o),
            cell.DeviceWrapper(cell.GRUCell(4), "/cpu:0"),
        )
    ):
        with tf.variable_scope(f"wrapped{number}"):
            output, state = made(x, made.zero_state(tf.shape(x)[0], tf.float32))
        found += [output, *tf.nest.flatten(state)]
    return found


def static_loops(tf: Any) -> Any:
    cell, nn = tf.nn.rnn_cell, tf.nn
    inputs = tf.unstack(numbers(tf, 2, 3, 4), axis=1)
    lengths = tf.constant([1, 3])
    one, state = nn.static_rnn(cell.BasicLSTMCell(3), inputs, dtype=tf.float32)
    two, _ = nn.static_rnn(
        cell.GRUCell(3), inputs, dtype=tf.float32, sequence_length=lengths, scope="other"
    )
    three, forward, backward = nn.static_bidirectional_rnn(
        cell.GRUCell(2), cell.GRUCell(3), inputs, dtype=tf.float32, sequence_length=lengths
    )
    return [*one, *state, *two, *three, forward, backward]


def dynamic_loops(tf: Any) -> Any:
    cell, nn = tf.nn.rnn_cell, tf.nn
    x = numbers(tf, 2, 3, 4)
    lengths = tf.constant([1, 3])
    layers = cell.MultiRNNCell([cell.BasicLSTMCell(3), cell.GRUCell(2)])
    one, state = nn.dynamic_rnn(layers, x, dtype=tf.float32)
    two, last = nn.dynamic_rnn(
        cell.LSTMCell(3), x, lengths, dtype=tf.float32, swap_memory=True, scope="other"
    )
    start = cell.GRUCell(3).zero_state(3, tf.float32) + 0.5
    three, end = nn.dynamic_rnn(
        cell.GRUCell(3), x[:, :, :], initial_state=start, time_major=True, scope="third"
    )
    four, states = nn.bidirectional_dynamic_rnn(
        cell.GRUCell(2), cell.GRUCell(3), x, lengths, dtype=tf.float32
    )
    return [one, *tf.nest.flatten(state), two, *last, three, end, *four, *states]


def raw_loop(tf: Any) -> Any:
    x = tf.transpose(numbers(tf, 2, 3, 4), [1, 0, 2])
    inputs = tf.TensorArray(tf.float32, size=3).unstack(x)
    cell = tf.nn.rnn_cell.LSTMCell(3)

    def choose(time: Any, output: Any, state: Any, own: Any) -> Any:
        if output is None:
            state = cell.zero_state(2, tf.float32)
        finished = time >= tf.constant([2, 3])
        following = tf.cond(
            tf.reduce_all(finished), lambda: tf.zeros([2, 4]), lambda: inputs.read(time)
        )
        following.set_shape([2, 4])
        return finished, following, state, output, None

    emitted, state, _ = tf.nn.raw_rnn(cell, choose)
    return [emitted.stack(), *state]


PROGRAMS = {
    f.__name__: f
    for f in (
        dense,
        dense_of_ranks,
        dense_shared,
        dense_in_scopes,
        sparse_dense,
        dropout,
        flatten,
        own_layer,
        conv1d,
        conv2d,
        conv3d,
        pooling,
        normalized,
        normalized_otherwise,
        cells,
        wrapped_cells,
        static_loops,
        dynamic_loops,
        raw_loop,
    )
}
