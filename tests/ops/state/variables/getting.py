# SPDX-License-Identifier: Apache-2.0
"""`get_variable` with all its arguments, collections of variables, the old names."""

# ruff: noqa: B023 - every function is called before the loop goes on
from __future__ import annotations

import numpy as np


def get_variable_basic(tf, say):
    for kind in (False, True, None):
        with tf.variable_scope(f"k{kind}", use_resource=kind):
            v = tf.get_variable("v", [2, 3])
            say(
                v,
                v.name,
                v.op.name,
                v.op.type,
                v.dtype,
                v.shape,
                v.get_shape(),
                v.initializer,
                v.initial_value,
                v.device,
                type(v),
            )
            say(
                v.trainable,
                v.synchronization,
                v.aggregation,
                v.constraint,
                v.graph is tf.get_default_graph(),
            )
            say(
                lambda: v.value(),
                lambda: v.read_value(),
                lambda: v._ref(),
                lambda: v.handle,
                lambda: v.initialized_value(),
            )
            say(lambda: v.to_proto(), lambda: v.to_proto("k"), lambda: v.to_proto("other"))
            say(
                lambda: v.create,
                lambda: v.op.node_def,
                lambda: v.op.colocation_groups(),
                lambda: str(v),
            )
            say(lambda: hash(v) == id(v), lambda: v == v, lambda: v != v, lambda: v in [v])


def get_variable_arguments(tf, say):
    g = tf.get_variable
    say(
        lambda: g("a", 3),
        lambda: g("b", (2, 3)),
        lambda: g("c", tf.TensorShape([4])),
        lambda: g("d", []),
    )
    say(
        lambda: g("e"),
        lambda: g("f", [None, 2]),
        lambda: g("f2", [2, -1]),
        lambda: g("f3", None, tf.int32),
    )
    say(
        lambda: g("h", [2], tf.int32),
        lambda: g("i", [2], tf.bool),
        lambda: g("j", [2], tf.string),
        lambda: g("k", [2], tf.complex64),
    )
    say(
        lambda: g("l", [2], tf.float64),
        lambda: g("m", [2], tf.float16),
        lambda: g("n", [2], np.float32),
        lambda: g("o", [2], "int64"),
    )
    say(
        lambda: g("o3", [2], tf.uint8),
        lambda: g("o4", [2], tf.qint8),
        lambda: g("o5", [2], tf.resource),
        lambda: g("o6", [2], tf.float32_ref),
    )
    say(
        lambda: g("o7", [2], tf.int32_ref),
        lambda: g("o9", [2], tf.variant),
        lambda: g("o0", [2], "nope"),
    )
    say(
        lambda: g("p", initializer=3),
        lambda: g("q", initializer=[1.0, 2.0]),
        lambda: g("r", [2], initializer=[1.0, 2.0]),
    )
    say(
        lambda: g("s", initializer=tf.constant([1, 2])),
        lambda: g("t", [2], initializer=tf.constant([1, 2])),
    )
    say(
        lambda: g("u", dtype=tf.float32, initializer=tf.constant([1, 2])),
        lambda: g("w", dtype=tf.float32, initializer=[1, 2]),
    )
    say(
        lambda: g("x", dtype=tf.int64, initializer=np.zeros([2], np.int64)),
        lambda: g("x2", dtype=tf.float32, initializer=np.zeros([2], np.int64)),
    )
    say(
        lambda: g("y", initializer=tf.zeros_initializer),
        lambda: g("z", [2], initializer=tf.zeros_initializer),
    )
    say(
        lambda: g("aa", [2], initializer=lambda shape, dtype, partition_info: tf.ones(shape, dtype))
    )
    say(
        lambda: g("ab", initializer=lambda: tf.ones([2, 2])),
        lambda: g("ac", [2], initializer=lambda: tf.ones([2])),
    )
    say(
        lambda: g("ad", [2], initializer=lambda shape: tf.ones(shape)),
        lambda: g("ae", [2], initializer=lambda shape, dtype=None: tf.ones(shape)),
    )
    say(lambda: g("af", [2], initializer=lambda *a, **k: tf.ones(a[0], k["dtype"])))
    say(lambda: g("ag", [2], initializer="zeros"), lambda: g("ah", [2], initializer=object()))
    say(lambda: g("ai", initializer=lambda shape, dtype=None, partition_info=None: tf.ones([2])))
    say(
        lambda: g("aj", initializer=tf.placeholder(tf.float32)),
        lambda: g("ak", initializer=tf.placeholder(tf.float32), validate_shape=False),
    )
    say(
        lambda: g("al", [2], trainable=False),
        lambda: g("am", [2], trainable=True),
        lambda: g("an", [2], trainable=None),
    )
    say(
        lambda: g("ao", [2], collections=["c1", "c2"]),
        lambda: g("ap", [2], collections=[]),
        lambda: g("aq", [2], collections="c3"),
        lambda: g("ar", [2], collections=("c4",)),
        lambda: g("ar2", [2], collections={"c4"}),
    )
    say(
        lambda: g("as", [2], collections=["c1"], trainable=False),
        lambda: g("as2", [2], collections=[tf.GraphKeys.TRAINABLE_VARIABLES]),
    )
    say(
        lambda: g("at", [2], caching_device="/cpu:0"),
        lambda: g("au", [2], caching_device="/gpu:0", use_resource=True),
        lambda: g("av", [2], caching_device=lambda op: "/job:w"),
    )
    say(
        lambda: g("aw", [2], constraint=lambda x: x),
        lambda: g("ax", [2], constraint=3),
        lambda: g("ay", [2], constraint=tf.identity, use_resource=True),
    )
    say(
        lambda: g("az", [2], synchronization=tf.VariableSynchronization.ON_READ),
        lambda: g("ba", [2], synchronization=tf.VariableSynchronization.ON_READ, trainable=True),
    )
    say(
        lambda: g("bb", [2], synchronization=3),
        lambda: g("bc", [2], synchronization=7),
        lambda: g("bd", [2], aggregation=tf.VariableAggregation.MEAN),
        lambda: g("be", [2], aggregation=9),
        lambda: g("be2", [2], aggregation=2),
    )
    say(lambda: g("bf", [2], synchronization=None, aggregation=None))
    say(lambda: g("bf1", [2], synchronization="x"), lambda: g("bf2", [2], aggregation="x"))
    say(
        lambda: g("bg", [2], regularizer=lambda x: tf.reduce_sum(x)),
        lambda: g("bh", [2], regularizer=lambda x: None),
        lambda: g("bi", [2], regularizer=3),
        lambda: g("bi2", [2], regularizer=tf.no_regularizer),
    )
    say(
        lambda: g(None, [2]),
        lambda: g("", [2]),
        lambda: g(3, [2]),
        lambda: g("bj bk", [2]),
        lambda: g("_bl", [2]),
        lambda: g("bm/bn", [2]),
        lambda: g("bo/", [2]),
        lambda: g("/bp", [2]),
        lambda: g("b\\q", [2]),
        lambda: g("br:0", [2]),
        lambda: g(b"bs", [2]),
        lambda: g("bt.u-v", [2]),
    )
    say(lambda: g("a", 3), lambda: g("A", 3))
    say(
        lambda: g("cu", [2], custom_getter=lambda getter, *a, **k: getter(*a, **k)),
        lambda: g("cv", [2], custom_getter=3),
    )
    say(
        lambda: g("bv", [0]),
        lambda: g("bw", [2, 0, 3]),
        lambda: g("bx", [-2]),
        lambda: g("by", "x"),
        lambda: g("bz", [2.5]),
        lambda: g("ca", [tf.Dimension(2)]),
        lambda: g("cb", np.array([2, 3])),
    )
    say(
        lambda: g("cd", [2], nope=1),
        lambda: g(),
        lambda: g(name="ce", shape=[2]),
        lambda: g("cf", [2], tf.float32, None, None, False),
    )


def local_and_model(tf, say):
    say(
        tf.get_local_variable("l", [2]),
        tf.get_local_variable("m", [2], tf.int32, collections=["x"]),
        lambda: tf.get_local_variable("n", [1], trainable=True).trainable,
        lambda: tf.get_local_variable("l", [2]),
    )
    with tf.variable_scope("s", use_resource=True, regularizer=tf.reduce_sum):
        say(tf.get_local_variable("l", [2]))
    c = ["keep"]
    tf.get_local_variable("o", [1], collections=c)
    say(c)
    v = tf.Variable(
        1.0, collections=[tf.GraphKeys.MODEL_VARIABLES, tf.GraphKeys.MOVING_AVERAGE_VARIABLES]
    )
    say(
        tf.model_variables(),
        tf.moving_average_variables(),
        tf.global_variables(),
        tf.local_variables(),
        tf.trainable_variables(),
    )
    say(tf.model_variables("V"), tf.moving_average_variables("x"), tf.all_variables())
    say(
        tf.initialize_all_variables(),
        tf.initialize_local_variables(),
        tf.initialize_variables([v]),
        tf.global_variables_initializer(),
        tf.local_variables_initializer(),
        tf.variables_initializer([v]),
        tf.variables_initializer([], name="none"),
        lambda: tf.variables_initializer(None),
        lambda: tf.variables_initializer(v),
        lambda: tf.variables_initializer([3]),
    )
    say(
        tf.initializers.variables([v]),
        tf.initializers.global_variables(),
        tf.initializers.local_variables(),
    )
    say(
        tf.is_variable_initialized(v),
        tf.report_uninitialized_variables(),
        tf.report_uninitialized_variables([v], name="r"),
        tf.assert_variables_initialized(),
        tf.assert_variables_initialized([v]),
        tf.report_uninitialized_variables([]),
        tf.assert_variables_initialized([]),
    )
    say.run(
        tf.report_uninitialized_variables(),
        tf.report_uninitialized_variables([]),
        tf.is_variable_initialized(v),
    )
    say.init()
    say.run(
        tf.report_uninitialized_variables(),
        tf.is_variable_initialized(v),
        tf.assert_variables_initialized(),
    )


def collections(tf, say):
    keys = [k for k in dir(tf.GraphKeys) if not k.startswith("_")]
    say(keys, [getattr(tf.GraphKeys, k) for k in keys])
    g = tf.get_default_graph()
    tf.add_to_collection("c", 1)
    tf.add_to_collection("c", "two")
    tf.add_to_collections(["c", "d"], tf.constant(1.0, name="sc/x"))
    tf.add_to_collections(["c", "c"], 5)
    tf.add_to_collections("single", 5)
    tf.add_to_collections(iter(["e1"]), 6)
    tf.add_to_collection(("tuple", "key"), 3)
    tf.add_to_collection(3, 3)
    say(
        tf.get_collection("c"),
        tf.get_collection("c", scope="sc"),
        tf.get_collection("c", scope="x"),
        tf.get_collection("c", scope=".*x"),
        tf.get_collection("c", ""),
        tf.get_collection("none"),
        tf.get_collection_ref("ref"),
        tf.get_collection(3),
    )
    say(
        lambda: tf.get_collection("c", 3),
        lambda: tf.get_collection(["c"]),
        lambda: tf.add_to_collection(["c"], 3),
        lambda: tf.add_to_collections(None, 3),
        lambda: tf.add_to_collections(3, 3),
    )
    tf.get_collection_ref("ref").append(7)
    tf.get_collection("ref").append(8)
    say(tf.get_collection("ref"), g.get_all_collection_keys(), g.collections)
    g.clear_collection("ref")
    g.clear_collection("missing")
    say(tf.get_collection("ref"), g.get_all_collection_keys())
    tf.get_variable("v", [1])
    g.clear_collection(tf.GraphKeys.TRAINABLE_VARIABLES)
    say(tf.trainable_variables(), tf.global_variables(), lambda: tf.get_variable("v", [1]))
    g.finalize()
    say(
        lambda: tf.add_to_collection("z", 1),
        lambda: tf.get_collection("q"),
        lambda: tf.get_collection_ref("newref"),
        lambda: g.clear_collection("c"),
    )
    g._unsafe_unfinalize()


def old_scopes(tf, say):
    a = tf.constant(1.0, name="a")
    with tf.variable_op_scope([a], "s", "d") as s:
        say(s.name, tf.get_variable("v", [1]).name, tf.constant(1).name)
    with tf.variable_op_scope([a], None, "d") as s:
        say(s.name, tf.get_variable("v", [1]).name, tf.constant(1).name)
    with tf.variable_op_scope([a], "s", "d", reuse=True) as s:
        say(s.name, tf.get_variable("v", [1]).name, tf.constant(1).name)
    with tf.op_scope([a], "o", "d") as s:
        say(s, tf.constant(1).name)
    with tf.op_scope([a], None, "d") as s:
        say(s, tf.constant(1).name)
    with tf.op_scope([a], None, "d") as s:
        say(s, tf.constant(1).name)

    def enter(f):
        with f() as s:
            return s

    say(
        lambda: enter(lambda: tf.op_scope([a], None, None)),
        lambda: enter(lambda: tf.op_scope([a], None)),
        lambda: enter(lambda: tf.variable_op_scope([a], None, None)),
        lambda: enter(lambda: tf.op_scope("s", [a])),
    )
    with tf.Graph().as_default():
        b = tf.constant(1.0)
    say(
        lambda: enter(lambda: tf.variable_op_scope([a, b], "s")),
        lambda: enter(lambda: tf.variable_scope("s", values=[a, b])),
        lambda: enter(lambda: tf.name_scope("s", values=[a, b])),
        lambda: enter(lambda: tf.name_scope("s", "d", [b])),
    )
    with tf.variable_scope("v", values=[b]):
        say(tf.get_default_graph() is b.graph, tf.constant(2).name)
    say(
        lambda: enter(lambda: tf.name_scope(None)),
        lambda: enter(lambda: tf.name_scope(None, None, [a])),
        lambda: enter(lambda: tf.name_scope(None, "d")),
        lambda: enter(lambda: tf.name_scope(3)),
        lambda: enter(lambda: tf.name_scope("_x")),
        lambda: enter(lambda: tf.name_scope("")),
        lambda: enter(lambda: tf.name_scope("a b")),
        lambda: enter(lambda: tf.name_scope("a/")),
        lambda: enter(lambda: tf.name_scope(None, values=[a])),
    )
    n = tf.name_scope("twice")
    say(n.name if hasattr(n, "name") else None)
    with n as x:
        say(x)
    with n as x:
        say(x)
