# SPDX-License-Identifier: Apache-2.0
"""Variables within conditionals, loops and control dependencies, and their gradients."""

# ruff: noqa: B023 - every function is called before the loop goes on
from __future__ import annotations


def conditionals(tf, say):
    for r in (False, True):
        v = tf.Variable([1.0, 2.0], use_resource=r, name="v")
        p = tf.placeholder_with_default(True, [])
        reads = tf.cond(p, lambda: v.read_value() * 2.0, lambda: v * 3.0)
        values = tf.cond(p, lambda: v, lambda: v + 1.0)
        writes = tf.cond(
            p,
            lambda: tf.identity(v.assign([5.0, 6.0])),
            lambda: tf.identity(v.assign_add([1.0, 1.0])),
        )
        ops = tf.cond(p, lambda: tf.group(v.assign_sub([1.0, 1.0])), lambda: tf.no_op())
        nested = tf.cond(p, lambda: tf.cond(p, lambda: v[0], lambda: v[1]), lambda: v[1] * 2.0)
        scattered = tf.cond(
            p, lambda: tf.identity(tf.scatter_add(v, [0], [1.0])), lambda: tf.identity(v)
        )
        say(reads, values, writes, ops, nested, scattered)
        say.init()
        say.run(reads, values, writes, v, ops, v, nested, scattered, v)
        say.run(reads, values, writes, v, ops, v, nested, scattered, v, feed_dict={p: False})
        say(
            lambda: tf.gradients(reads, v),
            lambda: tf.gradients(values, v),
            lambda: tf.gradients(nested, v),
        )
        say.run(*list(tf.gradients(reads, v)))
        say(
            lambda: tf.cond(v, lambda: 1, lambda: 2),
            lambda: tf.cond(v[0] > 1.0, lambda: v, lambda: [1.0, 2.0]),
        )
        b = tf.Variable(True, use_resource=r, name="b")
        c = say(lambda: tf.cond(b, lambda: v * 1.0, lambda: v * 2.0))
        k = say(lambda: tf.case([(b, lambda: v + 1.0)], default=lambda: v + 2.0))
        say.init()
        say.run(c, k)


def made_within(tf, say):
    for r in (False, True):
        with tf.variable_scope(f"k{r}", use_resource=r):
            p = tf.placeholder_with_default(True, [])

            def branch():
                w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
                say(w, w.op.name, w.initializer.name, w.value())
                return w * 2.0

            x = tf.cond(p, branch, lambda: tf.zeros([2]))
            say(x, tf.global_variables())

            def body(i, total):
                w = tf.get_variable("lw", [], initializer=tf.constant_initializer(2.0))
                return i + 1, total + w

            loop = tf.while_loop(lambda i, t: i < 3, body, [0, 0.0])
            say(loop, lambda: tf.gradients(loop[1], tf.trainable_variables(f"k{r}/lw")))
            say(lambda: tf.cond(p, lambda: tf.Variable(tf.zeros([2])), lambda: tf.zeros([2])))
            say(
                lambda: tf.cond(
                    p, lambda: tf.Variable([1.0, 2.0], name="inv"), lambda: tf.zeros([2])
                )
            )
            m = tf.map_fn(
                lambda e: e * tf.get_variable("mw", [], initializer=tf.ones_initializer()),
                tf.constant([1.0, 2.0]),
            )
            s = tf.scan(
                lambda a, e: a + e * tf.get_variable("sw", [], initializer=tf.ones_initializer()),
                tf.constant([1.0, 2.0]),
            )
            say(m, s)
            say.init()
            say.run(x, loop, m, s)


def loops(tf, say):
    for r in (False, True):
        v = tf.Variable(1.0, use_resource=r, name="v")
        reads = tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t + v), [0, 0.0])
        fresh = tf.while_loop(
            lambda i, t: i < 3, lambda i, t: (i + 1, t + v.read_value()), [0, 0.0]
        )

        def writes(i):
            with tf.control_dependencies([v.assign_add(1.0)]):
                return i + 1

        w = tf.while_loop(lambda i: i < 3, writes, [0])
        start = tf.while_loop(lambda i: i < 3.0, lambda i: i + 1.0, [v])
        bound = tf.while_loop(lambda i: i < v, lambda i: i + 1.0, [0.0])
        say(reads, fresh, w, start, bound)
        say.init()
        say.run(reads, fresh, w, v, start, bound, v)
        say(
            lambda: tf.gradients(reads[1], v),
            lambda: tf.gradients(fresh[1], v),
            lambda: tf.gradients(start, v),
        )
        say.run(*tf.gradients(reads[1], v))
        table = tf.Variable([1.0, 2.0, 3.0], use_resource=r, name="t")
        g = tf.while_loop(
            lambda i, t: i < 3, lambda i, t: (i + 1, t + tf.gather(table, i)), [0, 0.0]
        )
        u = tf.while_loop(
            lambda i: i < 3, lambda i: tf.group(tf.scatter_update(table, [i], [9.0])) and i + 1, [0]
        )
        say(g, u)
        say.init()
        say.run(g)
        say(lambda: tf.gradients(g[1], table))
        d = tf.gradients(g[1], table)[0]
        say.run(tf.convert_to_tensor(d))


def dependencies(tf, say):
    for r in (False, True):
        v = tf.Variable(1.0, use_resource=r, name="v")
        say.init()
        a = v.assign(2.0)
        with tf.control_dependencies([a]):
            b = v.assign_add(3.0)
        with tf.control_dependencies([b]):
            c = v.read_value()
            d = tf.identity(v)
            e = v.value() * 1.0
        say(a, b, c, d, e)
        say.run(c, v)
        with tf.control_dependencies(None):
            say(tf.identity(v).op.control_inputs, v.assign(1.0).op.control_inputs)
        with tf.control_dependencies([tf.no_op(name="n")]):
            say(
                v.assign(1.0).op.control_inputs,
                v.read_value().op.control_inputs,
                tf.identity(v).op.control_inputs,
                v.op.control_inputs,
            )
            w = tf.get_variable(f"w{r}", [1], use_resource=r)
            say(
                w.initializer.control_inputs, w.initial_value.op.control_inputs, w.op.control_inputs
            )
        with tf.device("/cpu:0"), tf.colocate_with(w.op):
            say(
                tf.identity(v).op.colocation_groups(), tf.constant(1.0).device, v.assign(1.0).device
            )
        with tf.name_scope("s"):
            say(
                v.assign(1.0).name,
                v.read_value().name,
                (v + 1.0).name,
                v.assign_add(1.0).name,
                v.initialized_value().name,
            )
        say(
            lambda: tf.tuple([v, v + 1.0]),
            lambda: tf.group(v, v + 1.0, w.initializer),
            lambda: tf.group(v, None),
            lambda: tf.group([v]),
            lambda: tf.group({"a": v}),
        )


def gradients(tf, say):
    for r in (False, True):
        v = tf.Variable([1.0, 2.0], use_resource=r, name="v")
        w = tf.Variable([3.0, 4.0], use_resource=r, name="w", trainable=False)
        loss = tf.reduce_sum(v * w * v)
        say(
            lambda: tf.gradients(loss, [v, w]),
            lambda: tf.gradients(loss, v.value()),
            lambda: tf.gradients(loss, tf.identity(v)),
            lambda: tf.gradients(v, v),
            lambda: tf.gradients(loss, "v"),
            lambda: tf.gradients(loss, v, grad_ys=v[0]),
            lambda: tf.gradients(v * 2.0, v, stop_gradients=[w]),
            lambda: tf.gradients(loss, v, stop_gradients=[v]),
            lambda: tf.hessians(loss, v),
        )
        i = tf.Variable([1, 2], use_resource=r, name="i")
        say(
            lambda: tf.gradients(tf.cast(i, tf.float32), i),
            lambda: tf.gradients(loss, i),
            lambda: tf.gradients(loss, []),
        )
        say(
            lambda: tf.train.GradientDescentOptimizer(0.1).compute_gradients(loss),
            lambda: tf.train.GradientDescentOptimizer(0.1).compute_gradients(loss, [w]),
            lambda: tf.train.GradientDescentOptimizer(0.1).minimize(loss, var_list=[i]),
            lambda: tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(w)),
        )
        norm = tf.global_norm([v, None, w])
        clipped = tf.clip_by_global_norm([v, w], 1.0)
        say(norm, clipped)
        say.init()
        say.run(norm, clipped, *tf.gradients(loss, [v, w]))


def gathers(tf, say):
    v = tf.Variable([1.0, 2.0], use_resource=True, name="v")
    p = tf.placeholder_with_default(True, [])
    x = tf.cond(p, lambda: tf.gather(v, [0]), lambda: tf.gather(v, [1]))
    say(lambda: tf.gradients(x, v))
    y = tf.cond(
        p,
        lambda: tf.cond(p, lambda: tf.gather(v, [0]), lambda: tf.gather(v, [1])),
        lambda: tf.gather(v, [1]),
    )
    say(lambda: tf.gradients(y, v))
    z = tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t + v.gather_nd([0])), [0, 0.0])
    say.init()
    say.run(x, y, z)
