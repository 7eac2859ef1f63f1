# SPDX-License-Identifier: Apache-2.0
"""`make_template`: names, sharing, nesting, errors."""

# ruff: noqa: B023 - every function is called before the loop goes on
from __future__ import annotations


def basics(tf, say):
    def f(x, name="w", shape=(1,)):
        with tf.variable_scope("in"):
            w = tf.get_variable(name, shape, initializer=tf.ones_initializer())
        return x * w

    t = tf.make_template("t", f)
    say(
        type(t),
        t.name,
        t.func is f,
        t.variable_scope,
        t.var_scope,
        t.variable_scope_name,
        t.variables,
        t.trainable_variables,
        t.global_variables,
        t.local_variables,
        t.non_trainable_variables,
        t.weights,
    )
    a = t(tf.constant(1.0))
    b = t(tf.constant(2.0))
    say(
        a,
        b,
        t.name,
        t.variable_scope.name,
        t.var_scope.name,
        t.variable_scope_name,
        t.variables,
        t.trainable_variables,
        t.weights,
        t.trainable_weights,
        t.non_trainable_weights,
        t.variable_scope.original_name_scope,
        t.variable_scope.reuse,
    )
    say(lambda: t(1.0, name="other"), lambda: t(1.0, shape=(2,)))
    u = tf.make_template("t", f)
    say(u(tf.constant(1.0)), u.variables, u.variable_scope.name)
    for now in (True, False):
        for unique in (None, "uni"):
            with tf.variable_scope(f"o{now}{unique}"):
                v = tf.make_template("n", f, create_scope_now_=now, unique_name_=unique)
                w = tf.make_template("n", f, create_scope_now_=now, unique_name_=unique)
                say(
                    lambda: v.variable_scope.name if v.variable_scope else None,
                    lambda: v(1.0),
                    lambda: w(1.0),
                    lambda: v.variables,
                    lambda: w.variables,
                )
            with tf.name_scope("ns"):
                say(lambda: v(1.0), lambda: w(2.0))
    p = tf.make_template("p", f, name="partial")
    say(p(1.0), p.variables, p.func.__name__)
    say(
        lambda: tf.make_template(None, f),
        lambda: tf.make_template("x", None),
        lambda: tf.make_template("x", f, nope=1)(1.0),
        lambda: tf.make_template("", f)(1.0),
        lambda: tf.make_template("a b", f)(1.0),
        lambda: tf.make_template(3, f)(1.0),
    )
    say(sorted(n for n in dir(t) if not n.startswith("_")))


def errors(tf, say):  # noqa: C901
    def uses_variable(x):
        return x * tf.Variable(1.0, name="v")

    t = tf.make_template("t", uses_variable)
    say(t(1.0), lambda: t(1.0))

    def untrained(x):
        return x * tf.Variable(1.0, name="v", trainable=False)

    t = tf.make_template("u", untrained)
    say(t(1.0), t(1.0), t.variables, t.non_trainable_variables)

    def raises(x):
        raise ValueError("mine", x)

    t = tf.make_template("r", raises)

    def args():
        try:
            t(1.0)
        except ValueError as e:
            return e.args[0].split("\n")[0], e.args[1:], "originally defined at" in e.args[0]

    say(args, args)
    calls = []

    def second(x):
        calls.append(x)
        if len(calls) == 1:
            raise ValueError("first")
        return tf.get_variable("w", [1])

    t = tf.make_template("s", second)
    say(lambda: t.variables)

    def first():
        try:
            t(1)
        except ValueError as e:
            return e.args[0].split("\n")[0]

    say(first, lambda: t(2), lambda: t(3), t.variables)

    def noargs():
        raise ValueError()

    t = tf.make_template("z", noargs)

    def empty():
        try:
            t()
        except ValueError as e:
            return len(e.args), "originally" in str(e)

    say(empty)

    def nonstr():
        raise KeyError(3)

    t = tf.make_template("zz", nonstr)

    def numbered():
        try:
            t()
        except KeyError as e:
            return len(e.args), type(e.args[0])
        except TypeError as e:
            return "TypeError", str(e)[:20]

    say(numbered)
    with tf.variable_scope("reused", reuse=True):
        t = tf.make_template("t", lambda: tf.get_variable("w", [1]))
        say(lambda: t())
    t = tf.make_template("n", lambda: tf.get_variable("w", [1]))
    with tf.variable_scope("reused", reuse=True):
        say(lambda: t())


def nested(tf, say):
    inner = tf.make_template("inner", lambda: tf.get_variable("w", [1]))

    def outer():
        with tf.variable_scope("o"):
            return inner(), tf.get_variable("x", [1]), inner()

    t = tf.make_template("outer", outer)
    say(t(), t(), t.variables, inner.variables, inner.variable_scope.name)
    inner2 = tf.make_template("inner", lambda: tf.get_variable("w", [1]), create_scope_now_=True)

    def outer2():
        made = tf.make_template("made", lambda: tf.get_variable("w", [1]))
        return inner2(), made(), made()

    t2 = tf.make_template("outer2", outer2)
    say(t2(), t2(), t2.variables, inner2.variables)
    a = tf.make_template("a", lambda: tf.get_variable("w", [1]))
    b = tf.make_template("b", lambda: (a(), tf.get_variable("w", [1])), unique_name_="bb")
    c = tf.make_template("c", lambda: (a(), b()), unique_name_="cc", create_scope_now_=True)
    say(c(), c(), b(), a(), a.variables, b.variables, c.variables)


def getters(tf, say):
    def getter(getter, name, *args, **kwargs):
        return getter(name + "_g", *args, **kwargs) * 2.0

    for now in (True, False):
        t = tf.make_template(
            f"t{now}",
            lambda: tf.get_variable("w", [1]),
            create_scope_now_=now,
            custom_getter_=getter,
        )
        say(t(), t(), t.variables)
        with tf.variable_scope("s", custom_getter=getter):
            u = tf.make_template(
                f"t{now}",
                lambda: tf.get_variable("w", [1]),
                create_scope_now_=now,
                custom_getter_=getter,
            )
            say(u(), u(), u.variables)
    with tf.variable_scope(
        "d", initializer=tf.ones_initializer(), dtype=tf.float64, use_resource=True
    ):
        t = tf.make_template("t", lambda: tf.get_variable("w", [1]))
        say(t())
    say(t())
    say.init()
    say.run(t())


def graphs(tf, say):
    t = tf.make_template("t", lambda: tf.get_variable("w", [1]))
    say(t())
    with tf.Graph().as_default():
        say(lambda: t())
        say.graph()
    t = tf.make_template(
        "loc",
        lambda: (
            tf.get_local_variable("l", [1]),
            tf.get_variable("n", [1], trainable=False),
            tf.get_variable("c", [1], collections=["mine"]),
        ),
    )
    say(
        t(),
        t(),
        t.variables,
        t.local_variables,
        t.global_variables,
        t.trainable_variables,
        t.non_trainable_variables,
    )
    w = tf.while_loop(
        lambda i: i < 3,
        lambda i: (
            i
            + tf.cast(
                tf.make_template(
                    "loop", lambda: tf.get_variable("w", [], initializer=tf.ones_initializer())
                )(),
                tf.int32,
            )
        ),
        [0],
    )
    say(w)
    k = tf.make_template("k", lambda: tf.get_variable("w", [], initializer=tf.ones_initializer()))
    x = tf.cond(tf.constant(True), lambda: k(), lambda: k() + 1.0)
    say(x)
    say.init()
    say.run(w, x)
