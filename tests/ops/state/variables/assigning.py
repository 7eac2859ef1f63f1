# SPDX-License-Identifier: Apache-2.0
"""Runs with variables: reading, assigning, shapes that change."""

# ruff: noqa: B023 - every function is called before the loop goes on
from __future__ import annotations

import numpy as np


def runs(tf, say):
    for r in (False, True):
        v = tf.Variable([1.0, 2.0], use_resource=r, name="v")
        w = tf.Variable(3, use_resource=r, name="w")
        say.run(
            v,
            w,
            v.value(),
            v + 1.0,
            v.op,
            v.initializer,
            v,
            [v, {"a": w}],
            v.initializer,
            v.read_value(),
            v.initial_value,
            v.initialized_value(),
            w.initialized_value(),
        )
        say.run(
            v.op,
            w,
            tf.is_variable_initialized(w),
            w.initializer,
            w,
            tf.report_uninitialized_variables(),
        )
        say.run("v", "v/read:0", "v/Read/ReadVariableOp:0", "v/Assign", "nope", "v/Initializer:0")
        say(
            lambda: v.eval(),
            lambda: v.eval(say.session),
            lambda: v.load([5.0, 6.0]),
            lambda: v.load([5.0, 6.0], say.session),
            lambda: v.load([5.0], say.session),
            lambda: v.load([[5.0, 5.0]], say.session),
            lambda: v.load("x", say.session),
            lambda: v.load([1, 2], say.session),
            lambda: v.eval(say.session),
        )
        with say.session.as_default():
            say(lambda: v.eval(), lambda: w.eval(), lambda: v.load([9.0, 9.0]), lambda: v.eval())
            say(
                lambda: v.count_up_to(3),
                lambda: w.count_up_to(5).eval(),
                lambda: w.count_up_to(5).eval(),
                lambda: w.count_up_to(5).eval(),
                lambda: tf.count_up_to(w, 6),
                lambda: tf.count_up_to(w, 6).eval(),
                lambda: tf.count_up_to(w, limit=6, name="c").eval(),
            )
        say.run(v, feed_dict={v: [7.0, 7.0]})
        say.run(v * 2.0, feed_dict={v: [7.0, 7.0]})
        say.run(v.value() * 2.0, feed_dict={v: [7.0, 7.0]})
        say.run(v, feed_dict={v: [7.0]})
        say.run(v, feed_dict={v: "x"})
        say.run(v, feed_dict={"v:0": [1.0, 1.0]})
        say.run([v, v.assign([0.0, 0.0])] if not r else v.assign([0.0, 0.0]), v)
        say(lambda: v.set_shape([2]), lambda: v.set_shape([3]), lambda: v.shape)
        h = v.op.outputs[0]
        say(lambda: len(say.session.run(h)) > 30 if r else 0)
    say(lambda: tf.Session(graph=tf.Graph()).run(v))
    g = tf.Graph()
    with g.as_default():
        say(
            lambda: v + 1.0,
            lambda: v.assign([1.0, 1.0]),
            lambda: v.read_value(),
            lambda: tf.is_variable_initialized(v),
            lambda: tf.group(v.initializer),
        )


def assigns(tf, say):
    for r in (False, True):
        v = tf.Variable([1.0, 2.0], use_resource=r, name="v")
        say.init()
        for f in ("assign", "assign_add", "assign_sub"):
            m, t = getattr(v, f), getattr(tf, f)
            say(
                m([1.0, 1.0]),
                m([1, 1]),
                m([1.0, 1.0], name="n"),
                m([1.0, 1.0], use_locking=True),
                m([1.0, 1.0], read_value=False),
                m([1.0, 1.0], True, "nm", False),
                lambda: m([1.0]),
                lambda: m([[1.0, 1.0]]),
                lambda: m("x"),
                lambda: m(3.0),
                lambda: m(tf.constant([1, 2])),
                lambda: m(None),
                lambda: m(np.ones(2)),
                lambda: m(np.ones(2, np.int32)),
                lambda: m(v),
                lambda: m(v * 2.0),
            )
            say(
                t(v, [1.0, 1.0]),
                t(v, [1, 1], name="n"),
                t(v, [1.0, 1.0], use_locking=True),
                lambda: t(v, [1.0]),
                lambda: t(v, "x"),
                lambda: t([1.0], [1.0]),
                lambda: t(v.value(), [1.0, 1.0]),
                lambda: t(ref=v, value=[1.0, 1.0]),
                lambda: t(v, tf.placeholder(tf.float32)),
                lambda: t(3, 3),
            )
            say.run(
                m([1.0, 1.0]),
                v,
                t(v, [2.0, 2.0]),
                v,
                m(tf.placeholder_with_default([1.0], None)),
                v,
                m(tf.placeholder_with_default([[1.0, 2.0]], None)),
                v,
            )
            say.run(m(v), v, m(v * 2.0), m([1.0, 1.0], read_value=False), m([1.0, 1.0]).op, v)
        say(
            lambda: tf.assign(v, [1.0], validate_shape=False),
            lambda: tf.assign(v, [1.0, 2.0, 3.0], validate_shape=False),
            lambda: tf.assign(v, [1.0, 2.0], validate_shape=True, use_locking=False),
        )
        say.run(
            tf.assign(v, [1.0, 2.0]) + 1.0, v.assign([3.0, 4.0]) * v, v.assign_add([1.0, 1.0])[0], v
        )
        a = v.assign([5.0, 5.0])
        say(
            a,
            type(a),
            lambda: a.op,
            lambda: a.name,
            lambda: a.dtype,
            lambda: a.shape,
            lambda: a.eval(session=say.session),
            lambda: a.assign([1.0, 1.0]),
            lambda: a.assign_add([1.0, 1.0]),
            lambda: a.initializer,
            lambda: a.trainable,
            lambda: a.value(),
            lambda: a.read_value(),
            lambda: a + 1.0,
            lambda: a.handle,
            lambda: a.graph is tf.get_default_graph(),
            lambda: a.device,
            lambda: repr(a),
            lambda: tf.gradients(a * a, v),
            lambda: tf.gradients(a * a, a),
        )
        say.run(a.assign_add([1.0, 1.0]) if r else a, a)
        with tf.control_dependencies([v.assign([8.0, 8.0])]):
            x = v.read_value()
            tf.identity(v)
            z = tf.no_op()
        say.run(x, z, v)
        with tf.control_dependencies([v]):
            say(tf.no_op().control_inputs)
        with tf.control_dependencies([a]):
            say(tf.no_op().control_inputs)
        say(lambda: tf.group(a), lambda: tf.group(a, v), lambda: tf.tuple([a]))
        u = tf.Variable([1.0], name="never", use_resource=r)
        say.run(
            u,
            u.assign_add([1.0]),
            u.value(),
            tf.assign_sub(u, [1.0]),
            u.count_up_to if 0 else u * 2.0,
            u[0],
            tf.is_variable_initialized(u),
            u.is_initialized() if r else 0,
            u.assign([2.0]),
            u,
        )
        i = tf.Variable(3, name="i", use_resource=r)
        s = tf.Variable("a", name="s", use_resource=r)
        b = tf.Variable(True, name="b", use_resource=r)
        say.init()
        say.run(
            i.assign(4), i.assign_add(1), i.assign_sub(2), s.assign("b"), b.assign(False), s, b, i
        )
        say(
            lambda: s.assign_add("c"),
            lambda: b.assign_add(True),
            lambda: i.assign(2.5),
            lambda: i.assign_add(2.5),
            lambda: s.assign(3),
        )


def changing_shapes(tf, say):
    for r in (False, True):
        v = tf.Variable([1.0, 2.0], validate_shape=False, use_resource=r, name="v")
        say(v.shape, v.value().shape, v.op.get_attr("shape"), v.initializer)
        say.session.run(v.initializer)
        x = tf.assign(v, [[1.0, 2.0, 3.0]], validate_shape=False) if not r else None
        say(x)
        say(
            lambda: v.assign([1.0, 2.0, 3.0]),
            lambda: tf.assign(v, [1.0, 2.0, 3.0]),
            lambda: tf.assign(v, [1.0], validate_shape=False),
        )
        if not r:
            say.run(x, v, v + 1.0, tf.shape(v), v.value(), tf.assign_add(v, [[1.0, 1.0, 1.0]]), v)
            say.run(
                tf.assign(v, [1.0, 2.0]),
                v,
                tf.assign(v, 3.0, validate_shape=False),
                v,
                v.assign_add(2.0),
                v,
            )
        f = tf.Variable([1.0, 2.0], use_resource=r, name="f")
        say.session.run(f.initializer)
        if not r:
            y = tf.assign(f, [1.0, 2.0, 3.0], validate_shape=False)
            say(y, f.shape)
            say.run(y, f, f.value(), f * 1.0, tf.shape(f), f.initializer, f)
        p = tf.placeholder_with_default([[2.0]], None)
        q = tf.Variable(p, validate_shape=False, use_resource=r, name="q")
        say(q, q.shape)
        say.run(q.initializer, feed_dict={p: [[1.0]]})
        say.run(q)
        say.run(q.initializer, feed_dict={p: [1.0, 2.0]})
        say.run(q, tf.shape(q), tf.reduce_sum(q))
        if r:
            n = tf.Variable([1.0, 2.0], shape=tf.TensorShape([None]), use_resource=True, name="n")
            say(
                n,
                n.shape,
                n.assign([1.0, 2.0, 3.0]),
                lambda: n.assign([[1.0]]),
                lambda: n.assign_add([1.0]),
            )
            say.run(
                n.initializer,
                n,
                n.assign([1.0, 2.0, 3.0]),
                n,
                tf.shape(n),
                n.assign_add([1.0]),
                n.assign_add([1.0, 1.0, 1.0]),
                n,
            )
