# SPDX-License-Identifier: Apache-2.0
"""Updates of rows and slices of variables, and the raw ops behind variables."""

# ruff: noqa: B023 - every function is called before the loop goes on
from __future__ import annotations

import numpy as np

KINDS = ("update", "add", "sub", "mul", "div", "min", "max")


def rows(tf, say):
    for r in (False, True):
        for kind in KINDS:
            f = getattr(tf, "scatter_" + kind)
            v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], use_resource=r, name=kind)
            i = tf.Variable([1, 2, 3], use_resource=r, name=kind + "i")
            say.init()
            ph = tf.placeholder_with_default([7], None)
            say(
                lambda: f(v, [0], [[1.0, 1.0]]),
                lambda: f(v, 0, [1.0, 1.0]),
                lambda: f(v, [0, 1], 2.0),
                lambda: f(v, [[0, 1]], [[[1.0, 1.0], [2.0, 2.0]]]),
                lambda: f(v, [0], [[1.0, 1.0]], use_locking=True),
                lambda: f(v, [0], [[1.0, 1.0]], False, "named"),
                lambda: f(ref=v, indices=[0], updates=[[1.0, 1.0]], name="n"),
            )
            say(
                lambda: f(v, [0], [1.0]),
                lambda: f(v, [0], [[1.0, 1.0], [1.0, 1.0]]),
                lambda: f(v, [0.5], [[1.0, 1.0]]),
                lambda: f(v, [0], [[1, 1]]),
                lambda: f(v, [0], [["a", "b"]]),
                lambda: f(v.value(), [0], [[1.0, 1.0]]),
                lambda: f(3, [0], [[1.0, 1.0]]),
                lambda: f(v, tf.constant([0], tf.int64), [[1.0, 1.0]]),
                lambda: f(v, [], np.zeros([0, 2], np.float32)),
                lambda: f(v, "a", 1.0),
                lambda: f(tf.Variable(3.0, use_resource=r, name="scalar"), [0], [1.0]),
                lambda: f(v, [0], tf.placeholder(tf.float32)),
                lambda: f(v, tf.placeholder(tf.int32), [[1.0, 1.0]]),
            )
            say.run(
                f(v, [0], [[2.0, 2.0]]),
                v,
                f(v, [0, 0, 1], [[2.0, 3.0], [4.0, 5.0], [1.0, 1.0]]),
                v,
                f(v, [2, 1], 3.0),
                v,
                f(v, 1, [9.0, 9.0]),
                v,
                f(v, [[2], [0]], [[[1.0, 1.0]], [[2.0, 2.0]]]),
                v,
            )
            say.run(
                f(v, [3], [[1.0, 1.0]]),
                v,
                f(v, [-1], [[1.0, 1.0]]),
                f(v, [0, 5], [[1.0, 1.0], [2.0, 2.0]]),
                v,
                f(v, ph, [[1.0, 1.0]]),
                f(v, [[0, 1], [2, 9]], 1.0),
                v,
            )
            if not r:
                say.run(
                    f(v, [0], tf.placeholder_with_default([1.0], None)),
                    f(v, tf.placeholder_with_default([0, 1], None), [[1.0, 1.0]]),
                )
            say.run(
                f(v, np.zeros([0], np.int32), np.zeros([0, 2], np.float32)),
                v,
                f(v, [0], [[0.0, 0.0]]),
                v,
            )
            say.run(
                f(i, [0, 2], [2, 5]),
                i,
                f(i, [0, 0], [3, 4]),
                i,
                f(i, [0], [1]),
                i,
                f(i, [1, 2], 7),
                i,
                f(i, [0], [-2]),
                i,
            )
            for d in (
                tf.float64,
                tf.int64,
                tf.float16,
                tf.uint8,
                tf.int8,
                tf.int16,
                tf.complex64,
                tf.bool,
                tf.string,
            ):
                x = (
                    tf.Variable(tf.zeros([3], d), use_resource=r, name="typed")
                    if d not in (tf.string, tf.bool)
                    else tf.Variable([True] * 3 if d == tf.bool else ["a"] * 3, use_resource=r)
                )
                y = say(lambda: f(x, [1], tf.ones([1], d) if d != tf.string else ["b"]))
                if y is not None and d not in (tf.string, tf.bool, tf.complex64):
                    say.session.run(x.initializer)
                    say.run(y, x)
            never = tf.Variable([1.0], use_resource=r, name="never")
            say.run(f(never, [0], [1.0]))
            m = getattr(v, "scatter_" + kind)
            s = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([1]))
            say(
                lambda: m(s),
                lambda: m(s, use_locking=True, name="mm"),
                lambda: m([1.0]),
                lambda: m(None),
            )
            say.run(
                m(s), v, m(tf.IndexedSlices(tf.constant([[1.0, 2.0]] * 2), tf.constant([2, 2]))), v
            )


def slices(tf, say):
    for r in (False, True):
        for kind in ("update", "add", "sub"):
            f = getattr(tf, "scatter_nd_" + kind)
            v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], use_resource=r, name=kind)
            w = tf.Variable(np.arange(8.0).astype(np.float32), use_resource=r, name=kind + "w")
            say.init()
            say(
                lambda: f(v, [[0]], [[1.0, 1.0]]),
                lambda: f(v, [[0, 1]], [1.0]),
                lambda: f(v, [[0, 1]], [1.0], use_locking=True),
                lambda: f(v, [[0, 1]], [1.0], False, "named"),
                lambda: f(w, [[4], [3]], [1.0, 2.0]),
                lambda: f(v, np.zeros([0, 2], np.int32), np.zeros([0], np.float32)),
            )
            say(
                lambda: f(v, [0], [1.0, 1.0]),
                lambda: f(v, [[0]], [1.0]),
                lambda: f(v, [[0, 1, 2]], [1.0]),
                lambda: f(v, [[0.5]], [[1.0, 1.0]]),
                lambda: f(v, 0, [1.0, 1.0]),
                lambda: f(v, [[0]], [[1, 1]]),
                lambda: f(v, [[0]], 1.0),
                lambda: f(v.value(), [[0]], [[1.0, 1.0]]),
                lambda: f(tf.Variable(3.0, use_resource=r, name="scalar"), [[0]], [1.0]),
                lambda: f(v, tf.placeholder(tf.int32), [1.0]),
                lambda: f(v, tf.placeholder(tf.int32, [None, 1]), [1.0]),
                lambda: f(v, tf.constant([[0]], tf.int64), [[1.0, 1.0]]),
                lambda: f(v, [[0], [1]], [[1.0, 1.0]]),
            )
            say.run(
                f(v, [[0]], [[1.0, 1.0]]),
                v,
                f(v, [[0, 1], [0, 1], [2, 0]], [1.0, 2.0, 3.0]),
                v,
                f(w, [[4], [3], [1], [4]], [9.0, 10.0, 11.0, 12.0]),
                w,
                f(v, [[3]], [[1.0, 1.0]]),
                f(v, [[0, 2]], [1.0]),
                f(v, [[-1, 0]], [1.0]),
                v,
                f(v, [[[0, 0]], [[1, 1]]], [[5.0], [6.0]]),
                v,
            )
            say.run(
                f(v, tf.placeholder_with_default([[0, 1, 2]], None), [1.0]),
                f(v, tf.placeholder_with_default([[0]], None), [1.0]),
                f(v, [[0]], tf.placeholder_with_default([1.0], None)),
                f(v, np.zeros([0, 2], np.int32), np.zeros([0], np.float32)),
            )
            for d in (tf.float64, tf.int64, tf.float16, tf.uint8, tf.complex64):
                x = tf.Variable(tf.zeros([3], d), use_resource=r, name="typed")
                y = say(lambda: f(x, [[1]], tf.ones([1], d)))
                if y is not None and d not in (tf.string, tf.bool, tf.complex64):
                    say.session.run(x.initializer)
                    say.run(y, x)
            never = tf.Variable([1.0], use_resource=r, name="never")
            say.run(f(never, [[0]], [1.0]))
            m = getattr(v, "scatter_nd_" + kind)
            say(
                lambda: m([[0]], [[1.0, 1.0]]),
                lambda: m([[0, 0]], [1.0], name="mm"),
                lambda: m([[0, 0]], ["a"]),
            )
            say.run(m([[0]], [[1.0, 1.0]]), v)


def batches(tf, say):
    for r in (False, True):
        v = tf.Variable(
            np.arange(12.0).reshape(2, 3, 2).astype(np.float32), use_resource=r, name="v"
        )
        say.init()
        f = tf.batch_scatter_update
        say(
            lambda: f(v, [[0], [2]], [[[9.0, 9.0]], [[8.0, 8.0]]]),
            lambda: f(
                v, [[0, 1], [1, 2]], np.ones([2, 2, 2], np.float32), use_locking=False, name="nm"
            ),
            lambda: f(v, tf.placeholder(tf.int32), 1.0),
            lambda: f(v, [0], np.ones([1, 3, 2], np.float32)),
            lambda: f(v, [[0]], [[[9.0, 9.0]]]),
            lambda: f(v, tf.constant([[0], [2]], tf.int64), [[[9.0, 9.0]], [[8.0, 8.0]]]),
            lambda: f(v, tf.placeholder(tf.int32, [2, None]), tf.placeholder(tf.float32)),
        )
        say.run(
            f(v, [[0], [2]], [[[9.0, 9.0]], [[8.0, 8.0]]]),
            v,
            f(v, [[3], [2]], [[[9.0, 9.0]], [[8.0, 8.0]]]),
        )
        say(
            lambda: v.batch_scatter_update(
                tf.IndexedSlices(tf.ones([2, 1, 2]), tf.constant([[1], [1]]))
            ),
            lambda: v.batch_scatter_update([1]),
        )
        say.run(
            v.batch_scatter_update(tf.IndexedSlices(tf.ones([2, 1, 2]), tf.constant([[1], [1]]))), v
        )


def strided(tf, say):
    for r in (False, True):
        v = tf.Variable(np.arange(12.0).reshape(3, 4).astype(np.float32), use_resource=r, name="v")
        say.init()
        say(
            lambda: v[0].assign([1.0, 1.0, 1.0, 1.0]),
            lambda: v[0:2, 1].assign([5.0, 6.0]),
            lambda: v[:, ::2].assign(np.ones([3, 2], np.float32)),
            lambda: v[..., 0].assign([1.0, 2.0, 3.0]),
            lambda: v[0].assign(1.0),
            lambda: v[0].assign([1.0]),
            lambda: v[0].assign("a"),
            lambda: v[5].assign([1.0] * 4),
            lambda: v[0:1][0].assign([1.0] * 4),
            lambda: v[0].assign([1.0] * 4, name="nm"),
            lambda: v[::-1].assign(np.zeros([3, 4], np.float32)),
            lambda: v[tf.constant(1)].assign([2.0] * 4),
            lambda: v[:, tf.newaxis].assign(np.zeros([3, 1, 4], np.float32)),
            lambda: tf.assign(v[0], [1.0] * 4),
            lambda: v[0].assign_add([1.0] * 4),
        )
        say.run(
            v[0].assign([1.0, 1.0, 1.0, 1.0]),
            v,
            v[0:2, 1].assign([5.0, 6.0]),
            v,
            v[::-1].assign(np.arange(12.0).reshape(3, 4).astype(np.float32)),
            v,
            v[tf.constant(1)].assign([2.0] * 4),
            v,
            v[..., 0].assign([1.0, 2.0, 3.0]),
            v,
            v[1, 1].assign(77.0),
            v,
        )
        say(
            lambda: v[0],
            lambda: v[:, 1],
            lambda: v[1:],
            lambda: v[-1],
            lambda: v[1, 2],
            lambda: v[tf.constant([0, 1])],
            lambda: v[v > 1.0] if 0 else 0,
        )
        b = tf.Variable([1.0, 2.0], use_resource=r, name="b")
        say(lambda: b[b > 1.0])


def reads(tf, say):
    v = tf.Variable(np.arange(12.0).reshape(3, 4).astype(np.float32), use_resource=True, name="v")
    say.init()
    say(
        lambda: v.sparse_read([0, 2]),
        lambda: v.sparse_read([0, 2], name="nm"),
        lambda: v.gather_nd([[0, 1]]),
        lambda: v.gather_nd([[0]], name="nd"),
        lambda: tf.gather(v, [0]),
        lambda: tf.gather(v, [0], axis=1),
        lambda: tf.gather_nd(v, [[0, 1]]),
        lambda: tf.nn.embedding_lookup(v, [0, 1]),
        lambda: tf.nn.embedding_lookup([v, v], [0, 1]),
        lambda: v.sparse_read([9]),
        lambda: v.sparse_read(tf.placeholder(tf.int32)),
        lambda: v.sparse_read(["a"]),
        lambda: tf.gradients(v.sparse_read([0, 0]), v),
        lambda: tf.gradients(v.gather_nd([[0, 1]]), v),
        lambda: tf.gradients(tf.nn.embedding_lookup(v, [1, 1]), v),
        lambda: v.is_initialized(),
        lambda: v.is_initialized("nm"),
        lambda: v.create,
        lambda: v.handle,
        lambda: v._shape_tuple(),
    )
    say.run(
        v.sparse_read([0, 2]),
        v.gather_nd([[0, 1], [2, 3]]),
        v.gather_nd([[1]]),
        tf.gather(v, [0], axis=1),
        v.sparse_read([3]),
        v.sparse_read([-1]),
        v.gather_nd([[5, 0]]),
        v.is_initialized(),
        tf.nn.embedding_lookup(v, [1, 1]),
        tf.gradients(tf.gather(v, [1, 1]), v)[0],
        v.sparse_read([[0], [1]]),
    )


def hidden(tf, say):
    if tf.__name__ == "tensorflow":
        from tensorflow.python.ops import resource_variable_ops, state_ops
    else:
        resource_variable_ops = __import__("numbaflow.ops.state.resource_variable", fromlist=["x"])
        state_ops = __import__("numbaflow.ops.state.reference", fromlist=["x"])
    v = tf.Variable([1.0, 2.0], use_resource=True, name="v")
    w = tf.Variable([1.0, 2.0], name="w")
    say(
        resource_variable_ops.is_resource_variable(v),
        resource_variable_ops.is_resource_variable(w),
        lambda: resource_variable_ops.variable_shape(v.handle),
        lambda: resource_variable_ops.ResourceVariable(3.0),
        lambda: resource_variable_ops.ResourceVariable(
            [3], name="x", dtype=tf.int64, trainable=False
        ),
        lambda: resource_variable_ops.ResourceVariable(),
    )
    t = state_ops.variable_op_v2([2], tf.float32, name="raw")
    say(
        t,
        t.op.node_def,
        lambda: state_ops.is_variable_initialized(t),
        lambda: tf.assign(t, [1.0, 2.0]),
    )
    say.run(tf.assign(t, [1.0, 2.0]), t, tf.is_variable_initialized(t))


def temporary(tf, say):
    raw = tf.raw_ops
    x = raw.TemporaryVariable(shape=[2], dtype=tf.float32, var_name="t")
    say(x)
    y = tf.assign(x, [1.0, 2.0])
    z = tf.assign_add(y, [1.0, 1.0])
    say(lambda: raw.DestroyTemporaryVariable(ref=z, var_name="t"))
    say.run(raw.DestroyTemporaryVariable(ref=z, var_name="t"))
    h = raw.VarHandleOp(dtype=tf.float32, shape=[2], shared_name="hh")
    a = raw.AssignVariableOp(resource=h, value=[1.0, 2.0])
    say(
        h,
        lambda: a,
        lambda: raw.ReadVariableOp(resource=h, dtype=tf.float32),
        lambda: raw.ReadVariableOp(resource=h, dtype=tf.int32),
        lambda: raw.AssignVariableOp(resource=h, value=[1, 2]),
        lambda: raw.AssignVariableOp(resource=h, value=[1.0, 2.0, 3.0]),
        lambda: raw.VariableShape(input=h),
        lambda: raw.DestroyResourceOp(resource=h),
    )
    say.run(
        raw.VarIsInitializedOp(resource=h),
        a,
        raw.ReadVariableOp(resource=h, dtype=tf.float32),
        raw.AssignAddVariableOp(resource=h, value=[1.0, 1.0]),
        raw.ReadVariableOp(resource=h, dtype=tf.float32),
        raw.VariableShape(input=h),
        raw.ResourceGather(resource=h, indices=[1], dtype=tf.float32),
        raw.DestroyResourceOp(resource=h),
        raw.ReadVariableOp(resource=h, dtype=tf.float32),
        raw.DestroyResourceOp(resource=h, ignore_lookup_error=False),
        raw.DestroyResourceOp(resource=h),
        raw.AssignVariableOp(resource=h, value=tf.placeholder_with_default([1.0], None)),
        raw.ReadVariableOp(resource=h, dtype=tf.float32),
        raw.AssignAddVariableOp(resource=h, value=[1.0, 1.0]),
    )
