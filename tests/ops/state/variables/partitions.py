# SPDX-License-Identifier: Apache-2.0
"""Partitioners, and variables that live in several parts."""

# ruff: noqa: B023 - every function is called before the loop goes on
from __future__ import annotations

import numpy as np


def partitioners(tf, say):
    P = tf.TensorShape
    for d in (
        tf.float32,
        tf.string,
        tf.int64,
        tf.bool,
        tf.float32_ref if hasattr(tf, "float32_ref") else tf.float16,
    ):
        for shape in ([10], [4, 8], [1], [7, 3, 5], [1024, 1024], [0], [0, 4]):
            for n in (1, 2, 3, 16):
                say(
                    lambda: tf.fixed_size_partitioner(n)(P(shape), dtype=d),
                    lambda: tf.fixed_size_partitioner(n, axis=len(shape) - 1)(P(shape), dtype=d),
                )
                say(
                    lambda: tf.variable_axis_size_partitioner(n * 16)(P(shape), d),
                    lambda: tf.variable_axis_size_partitioner(
                        n * 16, axis=len(shape) - 1, max_shards=3
                    )(P(shape), d),
                )
                say(
                    lambda: tf.min_max_variable_partitioner(n)(P(shape), d),
                    lambda: tf.min_max_variable_partitioner(
                        n, axis=len(shape) - 1, min_slice_size=8
                    )(P(shape), d),
                    lambda: tf.min_max_variable_partitioner(
                        n, min_slice_size=64, bytes_per_string_element=1
                    )(P(shape), d),
                )
    say(
        lambda: tf.variable_axis_size_partitioner(0),
        lambda: tf.variable_axis_size_partitioner(1, max_shards=-1),
        lambda: tf.variable_axis_size_partitioner(1, bytes_per_string_element=0),
        lambda: tf.variable_axis_size_partitioner(4)([3], tf.float32),
        lambda: tf.variable_axis_size_partitioner(4)(P([None]), tf.float32),
        lambda: tf.variable_axis_size_partitioner(4)(P([2]), "float32"),
        lambda: tf.variable_axis_size_partitioner(4, axis=3)(P([2]), tf.float32),
    )
    say(
        lambda: tf.min_max_variable_partitioner(2, axis=3)(P([2]), tf.float32),
        lambda: tf.min_max_variable_partitioner(0)(P([2]), tf.float32),
        lambda: tf.fixed_size_partitioner(2, axis=3)(P([2]), dtype=tf.float32),
        lambda: tf.fixed_size_partitioner(0)(P([2]), dtype=tf.float32),
        lambda: tf.fixed_size_partitioner(2)(P(None), dtype=tf.float32),
        lambda: tf.fixed_size_partitioner(-1)(P([2]), dtype=tf.float32),
    )


def made(tf, say):
    for r in (False, True):
        with tf.variable_scope(f"k{r}", use_resource=r):
            with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(3)):
                v = tf.get_variable("v", [7, 2], initializer=tf.random_uniform_initializer(seed=1))
                w = tf.get_variable(
                    "w",
                    [2, 4],
                    partitioner=tf.fixed_size_partitioner(2, axis=1),
                    initializer=tf.ones_initializer(),
                )
                one = tf.get_variable("one", [1, 4])
                say(lambda: tf.get_variable("c", initializer=np.arange(6.0).astype(np.float32)))
                t = tf.get_variable("t", initializer=tf.constant([1.0, 2.0, 3.0, 4.0]))
                say(
                    lambda: tf.get_variable("s", []),
                    lambda: tf.get_variable("none"),
                    lambda: tf.get_variable(
                        "cc", [6], initializer=np.arange(6.0).astype(np.float32)
                    ),
                    lambda: tf.get_variable("ii", [6], tf.int32),
                    lambda: tf.get_variable("st", [6], tf.string),
                    lambda: tf.get_variable("reg", [6], regularizer=tf.reduce_sum, trainable=False),
                    lambda: tf.get_variable(
                        "orth", [4, 4], initializer=tf.orthogonal_initializer()
                    ),
                    lambda: tf.get_variable("idn", [4, 4], initializer=tf.initializers.identity()),
                    lambda: tf.get_variable(
                        "vs", [4, 4], initializer=tf.variance_scaling_initializer(seed=2)
                    ),
                    lambda: tf.get_variable(
                        "us", [4, 4], initializer=tf.uniform_unit_scaling_initializer(seed=2)
                    ),
                    lambda: tf.get_variable("call", initializer=lambda: tf.ones([4])),
                    lambda: tf.get_variable(
                        "call2",
                        [4],
                        initializer=lambda shape, dtype, partition_info: (
                            tf.zeros(shape) + float(partition_info.var_offset[0])
                        ),
                    ),
                    lambda: tf.get_variable(
                        "const", [4], initializer=tf.constant_initializer([1.0, 2.0, 3.0, 4.0])
                    ),
                    lambda: tf.get_variable(
                        "const1", [4], initializer=tf.constant_initializer(3.0)
                    ),
                    lambda: tf.get_variable("cach", [4], caching_device="/cpu:0"),
                )
            for x in (v, w, one, t):
                say(
                    x,
                    type(x),
                    x.name,
                    x.dtype,
                    x.shape,
                    x.get_shape(),
                    lambda: len(x),
                    list(x),
                    x._get_partitions(),
                    x._get_variable_list(),
                    lambda: x.device,
                    lambda: x.op,
                    lambda: x.initializer,
                    lambda: x.value(),
                    lambda: x.assign,
                    lambda: x.trainable,
                    lambda: x.graph,
                )
                say(
                    [
                        [
                            p._get_save_slice_info().spec,
                            p._get_save_slice_info().full_name,
                            p._get_save_slice_info().var_offset,
                            p._get_save_slice_info().var_shape,
                            p._get_save_slice_info().full_shape,
                        ]
                        for p in x
                    ],
                    [p.to_proto() for p in x],
                )
                say(
                    lambda: x.as_tensor(),
                    lambda: tf.convert_to_tensor(x),
                    lambda: tf.convert_to_tensor(x, tf.int32),
                    lambda: tf.identity(x),
                    lambda: x[0],
                    lambda: x + 1.0,
                    lambda: x * x,
                    lambda: tf.nn.embedding_lookup(x, [0]),
                    lambda: tf.gather(x, [0]),
                    lambda: tf.matmul(x, x, transpose_b=True),
                    lambda: tf.reduce_sum(x),
                    lambda: x == x,
                    lambda: bool(x),
                    lambda: np.array(x) if 0 else 1,
                    lambda: tf.gradients(tf.reduce_sum(x), list(x)),
                    lambda: tf.shape(x),
                )
            say(
                lambda: w.assign([[1.0, 2.0, 3.0, 4.0]] * 2),
                lambda: w.assign_add(w),
                lambda: w.assign_sub(list(w)),
                lambda: w.assign(tf.ones([2, 4]), name="nm"),
                lambda: w.assign(tf.ones([2, 5])),
                lambda: v.assign(tf.ones([7, 2]), use_locking=True),
                lambda: tf.assign(w, tf.ones([2, 4])),
            )
            say.init()
            say.run(v.as_tensor(), w.as_tensor(), t, list(v)[0], *list(v))
            say(lambda: say.session.run(v))
            say.run(
                w.assign(tf.constant([[1.0, 2.0, 3.0, 4.0]] * 2)),
                w.as_tensor(),
                w.assign_add(w),
                w.as_tensor(),
                w.assign_sub(tf.ones([2, 4])),
                w.as_tensor(),
            )


def reused(tf, say):
    with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(2)):
        v = tf.get_variable("v", [4])
        say(lambda: tf.get_variable("v", [4]))
    with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(2), reuse=True):
        say(
            lambda: tf.get_variable("v", [4]) is v,
            lambda: tf.get_variable("v"),
            lambda: tf.get_variable("v", [5]),
            lambda: tf.get_variable("v", [4], tf.int32),
            lambda: tf.get_variable("q", [4]),
            lambda: tf.get_variable("v", [4], partitioner=tf.fixed_size_partitioner(4)),
        )
    with tf.variable_scope("p", reuse=True):
        say(
            lambda: tf.get_variable("v", [4]) is v,
            lambda: tf.get_variable("v", [4], tf.int32),
            lambda: tf.get_variable("v/part_0", [2]),
            lambda: tf.get_variable("v"),
            lambda: tf.get_variable("v", [9]),
        )
    with tf.variable_scope("p"):
        say(lambda: tf.get_variable("v", [4]))
    with tf.variable_scope("p", reuse=tf.AUTO_REUSE):
        say(lambda: tf.get_variable("v", [4]))
    with tf.variable_scope("p", reuse=tf.AUTO_REUSE, partitioner=tf.fixed_size_partitioner(2)):
        say(lambda: tf.get_variable("v", [4]) is v, lambda: tf.get_variable("new", [4]))
    with tf.variable_scope("u"):
        tf.get_variable("v", [4])
    with tf.variable_scope("u", partitioner=tf.fixed_size_partitioner(2)):
        say(lambda: tf.get_variable("v", [4]))
    with tf.variable_scope("u", partitioner=tf.fixed_size_partitioner(2), reuse=True):
        say(lambda: tf.get_variable("v", [4]))
    for bad in (
        3,
        lambda shape, dtype: 3,
        lambda shape, dtype: [1, 1],
        lambda shape, dtype: [0],
        lambda shape, dtype: [2, 2],
        lambda shape, dtype: [9],
        lambda shape: [1],
        lambda shape, dtype: (2,),
        lambda shape, dtype: np.array([2]),
    ):
        say(lambda: tf.get_variable("bad", [4], partitioner=bad))
    say(
        lambda: tf.get_variable("bad2", [4, 4], partitioner=lambda shape, dtype: [2, 2]),
        lambda: tf.get_variable("bad3", [None, 4], partitioner=lambda shape, dtype: [2, 2]),
    )
    with tf.variable_scope("part"):
        say(
            lambda: tf.get_variable("x/part_0", [2]),
            lambda: tf.get_variable("x", [4], partitioner=tf.fixed_size_partitioner(2)),
            lambda: tf.get_variable("x", [4]),
        )


def old_function(tf, say):
    c = tf.create_partitioned_variables
    say(
        c([4, 2], [2, 1], tf.ones_initializer(), name="a"),
        c([4, 2], [1, 2], tf.zeros_initializer(), tf.int32, False, ["q"]),
        c([4], [4], lambda shape, dtype, partition_info: tf.ones(shape)),
    )
    say(
        lambda: c([4, 2], [2], tf.ones_initializer()),
        lambda: c([], [], tf.ones_initializer()),
        lambda: c([4, 2], [2, 2], tf.ones_initializer()),
        lambda: c([4, 2], [0, 2], tf.ones_initializer()),
        lambda: c([4, 2], [5, 1], tf.ones_initializer()),
        lambda: c([4, 2], [2, 1], tf.ones_initializer(), name="a", reuse=True),
        lambda: c([4, 2], [2, 1], tf.ones_initializer(), name="zz", reuse=True),
        lambda: c([4], [2], tf.constant([1.0, 2.0, 3.0, 4.0]), name="k"),
        lambda: c([4], [2], [1.0, 2.0, 3.0, 4.0], name="k2"),
        lambda: c([4, 2], [2, 1], tf.ones_initializer(), name="a"),
    )
    with tf.variable_scope("s"):
        say(c([4, 2], [2, 1], tf.ones_initializer()), c([4, 2], [2, 1], tf.ones_initializer()))
    with tf.variable_scope("g", custom_getter=lambda getter, *a, **k: getter(*a, **k)):
        say(lambda: c([4, 2], [2, 1], tf.ones_initializer()))
    say.init()
    say.run(*tf.global_variables())


def save_slices(tf, say):
    S = tf.Variable.SaveSliceInfo
    s = S("n", [4, 5], [0, 2], [4, 3])
    say(
        s.spec,
        s.full_name,
        s.full_shape,
        s.var_offset,
        s.var_shape,
        s.to_proto(),
        s.to_proto("n"),
        s.to_proto("x"),
        S(save_slice_info_def=s.to_proto()).spec,
        S(save_slice_info_def=s.to_proto(), import_scope="i").full_name,
    )
    with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(2)):
        v = tf.get_variable("v", [4], initializer=tf.random_uniform_initializer(seed=1))
    saver = tf.train.Saver({"x": v})
    say.init()
    saver.save(say.session, say.folder + "/c")
    say(tf.train.list_variables(say.folder + "/c"), tf.train.load_variable(say.folder + "/c", "x"))
    saver2 = tf.train.Saver()
    saver2.save(say.session, say.folder + "/d")
    say(
        tf.train.list_variables(say.folder + "/d"), tf.train.load_variable(say.folder + "/d", "p/v")
    )
    say.session.run(v.assign(tf.zeros([4])))
    saver2.restore(say.session, say.folder + "/d")
    say.run(v.as_tensor())
    m = tf.train.export_meta_graph()
    with tf.Graph().as_default():
        tf.train.import_meta_graph(m)
        say([x._get_save_slice_info().spec for x in tf.global_variables()])


def gradients(tf, say):
    for r in (False, True):
        with tf.variable_scope(f"k{r}", use_resource=r, partitioner=tf.fixed_size_partitioner(2)):
            v = tf.get_variable("v", [4, 2], initializer=tf.ones_initializer())
            ids = tf.placeholder_with_default([0, 3, 3], [None])
            loss = tf.reduce_sum(tf.nn.embedding_lookup(v, ids)) + tf.reduce_sum(
                v.as_tensor() * 2.0
            )
            for strategy in ("mod", "div"):
                say(tf.nn.embedding_lookup(v, ids, partition_strategy=strategy))
            say(tf.gradients(loss, list(v)))
            say(lambda: tf.gradients(loss, v))
            train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
            say.init()
            say.run(
                train,
                v.as_tensor(),
                loss,
                tf.nn.embedding_lookup(v, [0, 1, 2, 3]),
                tf.nn.embedding_lookup(v, [0, 1, 2, 3], partition_strategy="div"),
            )
