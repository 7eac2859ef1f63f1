# SPDX-License-Identifier: Apache-2.0
"""Training programs that record.py runs in TensorFlow 1.15 and the tests run here.

Each builds a graph in the default graph of the module it is given, in Python that 3.7 reads.
"""

from __future__ import annotations

from typing import Any

POINTS = [[0.5, -1.0], [1.5, 2.0], [-0.25, 0.75]]
STEPS = 50


def dense_loss(tf: Any, resource: bool) -> Any:
    weights = tf.Variable([[1.0, -2.0], [0.5, 3.0]], name="w", use_resource=resource)
    bias = tf.Variable([0.25, -0.75], name="b", use_resource=resource)
    x = tf.constant(POINTS, name="x")
    return tf.reduce_mean(tf.square(tf.matmul(x, weights) + bias), name="loss")


def sparse_loss(tf: Any, resource: bool) -> Any:
    table = [[0.5, 1.0], [-1.0, 2.0], [3.0, -0.5], [0.25, 0.75]]
    rows = tf.Variable(table, name="table", use_resource=resource)
    picked = tf.gather(rows, [2, 0, 2], name="picked")
    return tf.reduce_sum(tf.square(picked), name="loss")


OPTIMIZERS = {
    "sgd": lambda tf: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda tf: tf.train.MomentumOptimizer(0.05, 0.9),
    "nesterov": lambda tf: tf.train.MomentumOptimizer(0.05, 0.9, use_nesterov=True),
    "adam": lambda tf: tf.train.AdamOptimizer(0.1),
    "adagrad": lambda tf: tf.train.AdagradOptimizer(0.3),
    "adadelta": lambda tf: tf.train.AdadeltaOptimizer(1.0, rho=0.9, epsilon=1e-4),
    "rmsprop": lambda tf: tf.train.RMSPropOptimizer(0.05, momentum=0.5),
    "rmsprop_centered": lambda tf: tf.train.RMSPropOptimizer(0.05, centered=True),
    "ftrl": lambda tf: tf.train.FtrlOptimizer(0.5, l1_regularization_strength=0.01),
    "ftrl_shrinkage": lambda tf: tf.train.FtrlOptimizer(
        0.5, l2_regularization_strength=0.02, l2_shrinkage_regularization_strength=0.01
    ),
    "proximal_sgd": lambda tf: tf.train.ProximalGradientDescentOptimizer(
        0.1, l1_regularization_strength=0.05, l2_regularization_strength=0.01
    ),
    "proximal_adagrad": lambda tf: tf.train.ProximalAdagradOptimizer(
        0.3, l1_regularization_strength=0.05
    ),
    "adagrad_da": lambda tf: tf.train.AdagradDAOptimizer(
        0.3, tf.train.get_or_create_global_step(), l1_regularization_strength=0.01
    ),
}

DECAYS = {
    "exponential": lambda tf, step: tf.train.exponential_decay(0.1, step, 5, 0.9),
    "staircase": lambda tf, step: tf.train.exponential_decay(0.1, step, 5, 0.9, staircase=True),
    "natural_exp": lambda tf, step: tf.train.natural_exp_decay(0.1, step, 5, 0.5),
    "inverse_time": lambda tf, step: tf.train.inverse_time_decay(0.1, step, 5, 0.5),
    "polynomial": lambda tf, step: tf.train.polynomial_decay(0.1, step, 12, 0.01, power=2.0),
    "cosine": lambda tf, step: tf.train.cosine_decay(0.1, step, 12, alpha=0.1),
    "linear_cosine": lambda tf, step: tf.train.linear_cosine_decay(0.1, step, 12),
}
# These need tf.cond.
BRANCHING_DECAYS = {
    "piecewise": lambda tf, step: tf.train.piecewise_constant(
        step, [3, 9, 15], [0.1, 0.05, 0.02, 0.01]
    ),
    "polynomial_cycle": lambda tf, step: tf.train.polynomial_decay(0.1, step, 6, cycle=True),
    "cosine_restarts": lambda tf, step: tf.train.cosine_decay_restarts(0.1, step, 4, m_mul=0.8),
}


def train_with(optimizer: str, loss: str, resource: bool) -> Any:
    """A program: returns (train op, tensors to look at)."""

    def program(tf: Any) -> Any:
        build = sparse_loss if loss == "sparse" else dense_loss
        value = build(tf, resource)
        step = tf.train.get_or_create_global_step()
        train = OPTIMIZERS[optimizer](tf).minimize(value, global_step=step)
        return train, [value] + [v.value() for v in tf.global_variables()]

    return program


def decay_with(decay: str) -> Any:
    def program(tf: Any) -> Any:
        step = tf.train.get_or_create_global_step()
        rate = {**DECAYS, **BRANCHING_DECAYS}[decay](tf, step)
        return tf.assign_add(step, 1, name="count"), [rate]

    return program


def averages(zero_debias: bool, resource: bool = False) -> Any:
    def program(tf: Any) -> Any:
        loss = dense_loss(tf, resource)
        step = tf.train.get_or_create_global_step()
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)
        ema = tf.train.ExponentialMovingAverage(0.9, num_updates=step, zero_debias=zero_debias)
        with tf.control_dependencies([train]):
            update = ema.apply([*tf.trainable_variables(), loss])
        return update, [v.value() for v in tf.global_variables()]

    return program


def constrained(tf: Any) -> Any:
    weights = tf.Variable([1.0, -2.0, 3.0], name="w", constraint=lambda w: tf.maximum(w, 0.5))
    loss = tf.reduce_sum(weights * [1.0, 2.0, 3.0])
    optimizer = tf.train.GradientDescentOptimizer(0.1, name="Steps")
    pairs = optimizer.compute_gradients(loss, gate_gradients=optimizer.GATE_GRAPH)
    return optimizer.apply_gradients(pairs, name="train"), [weights.value()]


def options(tf: Any, **given: Any) -> Any:
    """Two losses that share variables, with options of compute_gradients."""
    weights = tf.Variable([[1.0, -2.0], [0.5, 3.0]], name="w")
    table = tf.Variable([[0.5, 1.0], [-1.0, 2.0]], name="table")
    x = tf.matmul(tf.constant(POINTS, name="x"), weights)
    loss = tf.tanh(x, name="loss") * tf.gather(table, [1, 0, 1]) + tf.square(x)
    optimizer = tf.train.MomentumOptimizer(0.01, 0.9)
    if "grad_loss" in given:
        given["grad_loss"] = tf.constant([[1.0, 2.0], [3.0, 4.0], [0.5, 0.25]], name="scale")
    pairs = optimizer.compute_gradients(loss, **given)
    return optimizer.apply_gradients(pairs), [weights.value(), table.value()]


OPTIONS = {
    "gate_none": {"gate_gradients": 0},
    "gate_op": {"gate_gradients": 1},
    "gate_graph": {"gate_gradients": 2},
    "aggregation_tree": {"aggregation_method": 1},
    "aggregation_accumulate": {"aggregation_method": 2},
    "colocated": {"colocate_gradients_with_ops": True},
    "grad_loss": {"grad_loss": True},
}


def two_adams(tf: Any) -> Any:
    loss = dense_loss(tf, False)
    with tf.name_scope("first"):
        first = tf.train.AdamOptimizer(0.1).minimize(loss, var_list=tf.trainable_variables()[:1])
    second = tf.train.AdamOptimizer(0.2).minimize(loss, name="again")
    return tf.group(first, second), [v.value() for v in tf.global_variables()]


def unknown_shapes(tf: Any) -> Any:
    """Slots of a resource variable whose shape the graph does not know."""
    start = tf.placeholder_with_default([1.0, -2.0], [None], name="start")
    weights = tf.Variable(start, name="w", use_resource=True, validate_shape=False)
    loss = tf.reduce_sum(tf.square(weights))
    trains = [tf.train.AdamOptimizer(0.1).minimize(loss)]
    with tf.control_dependencies(trains):
        trains.append(tf.train.RMSPropOptimizer(0.1, centered=True).minimize(loss))
    return tf.group(*trains), [v.value() for v in tf.global_variables()]


def branches(tf: Any) -> Any:
    """Gradients of resource variables that only one branch uses."""
    step = tf.train.get_or_create_global_step()
    left = tf.Variable([1.0, -2.0], name="left", use_resource=True)
    right = tf.Variable([3.0], name="right", use_resource=True)
    even = tf.equal(step % 2, 0)
    loss = tf.cond(even, lambda: tf.reduce_sum(left**2), lambda: tf.reduce_sum(right**2))
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, step)
    return train, [v.value() for v in tf.global_variables()]


PROGRAMS = {
    "constrained": constrained,
    "unknown_shapes": unknown_shapes,
    "branches": branches,
    "averages_resource": averages(False, True),
    "two_adams": two_adams,
    "averages": averages(False),
    "averages_debiased": averages(True),
}
for _name in OPTIMIZERS:
    PROGRAMS[_name] = train_with(_name, "dense", False)
    PROGRAMS[_name + "_resource"] = train_with(_name, "dense", True)
for _name in OPTIMIZERS:
    PROGRAMS[_name + "_sparse"] = train_with(_name, "sparse", False)
    PROGRAMS[_name + "_sparse_resource"] = train_with(_name, "sparse", True)
for _name, _given in OPTIONS.items():
    PROGRAMS["options_" + _name] = lambda tf, given=_given: options(tf, **given)
for _name in [*DECAYS, *BRANCHING_DECAYS]:
    PROGRAMS["decay_" + _name] = decay_with(_name)


def run(tf: Any, program: Any) -> Any:
    """The nodes of a program's graph, and what it shows at some of its steps."""
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(1)
        train, shown = program(tf)
        initialize = tf.global_variables_initializer()
        nodes = [[op.name, op.type, [t.name for t in op.inputs]] for op in graph.get_operations()]
        values = []
        with tf.Session() as session:
            session.run(initialize)
            for step in range(STEPS):
                session.run(train)
                if step in (0, 1, STEPS - 1):
                    values.append([value.tolist() for value in session.run(shown)])
    return {"nodes": nodes, "values": values}
