# SPDX-License-Identifier: Apache-2.0
"""What fails: variables without a value, updates of other shapes."""

# ruff: noqa: B023 - every function is called before the loop goes on
from __future__ import annotations


def uninitialized(tf, say):
    raw = tf.raw_ops
    v = tf.Variable([1.0, 2.0], use_resource=True, name="v")
    i = tf.Variable(3, use_resource=True, name="i")
    x = tf.constant([1.0, 1.0])
    h = v.handle
    for f in (
        lambda: v.value(),
        lambda: v.assign_add(x).op,
        lambda: v.assign_sub(x).op,
        lambda: v.sparse_read([0]),
        lambda: v.gather_nd([[0]]),
        lambda: tf.scatter_add(v, [0], [1.0]).op,
        lambda: tf.scatter_update(v, [0], [1.0]).op,
        lambda: tf.scatter_nd_add(v, [[0]], [1.0]).op,
        lambda: raw.VariableShape(input=h),
        lambda: i.count_up_to(5),
        lambda: v[0].assign(3.0).op,
        lambda: v.is_initialized(),
        lambda: raw.DestroyResourceOp(resource=h),
        lambda: raw.DestroyResourceOp(resource=h, ignore_lookup_error=False),
    ):
        say.run(f())
    r = tf.Variable([1.0, 2.0], name="r")
    j = tf.Variable(3, name="j")
    s = tf.Variable([1.0, 2.0], name="s")
    for f in (
        lambda: r.value(),
        lambda: r.assign_add(x),
        lambda: r.assign_sub(x),
        lambda: tf.gather(r, [0]),
        lambda: tf.scatter_add(r, [0], [1.0]),
        lambda: tf.scatter_update(r, [0], [1.0]),
        lambda: tf.scatter_nd_add(r, [[0]], [1.0]),
        lambda: j.count_up_to(5),
        lambda: r[0].assign(3.0),
        lambda: tf.is_variable_initialized(r),
        lambda: raw.ApplyGradientDescent(var=r, alpha=0.1, delta=x),
        lambda: raw.ApplyMomentum(var=r, accum=s, lr=0.1, grad=x, momentum=0.1),
        lambda: raw.SparseApplyMomentum(
            var=r, accum=s, lr=0.1, grad=x, indices=[0, 1], momentum=0.1
        ),
        lambda: raw.SparseApplyAdagrad(var=r, accum=s, lr=0.1, grad=x, indices=[0, 1]),
        lambda: r.initialized_value(),
        lambda: tf.shape(r),
        lambda: tf.rank(r),
    ):
        say.run(f())


def wrong_shapes(tf, say):
    for r in (False, True):
        v = tf.Variable([1.0, 2.0], use_resource=r, name="v")
        say.init()
        p = tf.placeholder_with_default([1.0, 2.0, 3.0], None)
        q = tf.placeholder_with_default([1.0], None)
        for x in (p, q):
            say.run(v.assign_add(x), v.assign_sub(x), v)
        i = tf.Variable([1, 2], use_resource=r, name="i")
        say.init()
        say(lambda: i.count_up_to(3))
        say.run(v[0].assign(q), v[0:1].assign(p), v)
        say(lambda: v[0].assign([1.0, 2.0]))
