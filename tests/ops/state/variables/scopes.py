# SPDX-License-Identifier: Apache-2.0
"""Variable scopes: reuse, names, what they hand on, custom getters, creators."""

# ruff: noqa: B023 - every function is called before the loop goes on
from __future__ import annotations

import numpy as np


def reuse(tf, say):
    with tf.variable_scope("s") as scope:
        v = tf.get_variable("v", [2])
        say(lambda: tf.get_variable("v", [2]))
        say(scope.reuse)
        scope.reuse_variables()
        say(
            scope.reuse,
            tf.get_variable("v", [2]) is v,
            tf.get_variable("v") is v,
            lambda: tf.get_variable("w", [2]),
        )
        say(
            lambda: tf.get_variable("v", [3]),
            lambda: tf.get_variable("v", [2, 1]),
            lambda: tf.get_variable("v", [2], tf.int32),
            lambda: tf.get_variable("v", [None]),
            lambda: tf.get_variable("v", []),
        )
        say(
            lambda: tf.get_variable("v", [2], tf.float64),
            lambda: tf.get_variable("v", [2], initializer=[1.0, 2.0]),
            lambda: tf.get_variable("v", initializer=[1, 2]),
            lambda: tf.get_variable("v", dtype=tf.float32, initializer=[1, 2]),
        )
        say(
            lambda: tf.get_variable("v", [2], trainable=False).trainable,
            lambda: tf.get_variable("v", use_resource=True),
        )
        with tf.variable_scope("inner") as inner:
            say(inner.reuse, lambda: tf.get_variable("x", [2]))
        with tf.variable_scope("inner", reuse=False) as inner:
            say(inner.reuse, lambda: tf.get_variable("x", [2]))
        with tf.variable_scope("inner", reuse=tf.AUTO_REUSE) as inner:
            say(
                inner.reuse,
                lambda: tf.get_variable("x", [2]),
                lambda: tf.get_variable("x", [2]),
                lambda: tf.get_variable("x", [3]),
            )
    with tf.variable_scope("s", reuse=True) as scope:
        say(tf.get_variable("v") is v, scope.reuse)
    with tf.variable_scope("s"):
        say(lambda: tf.get_variable("v", [2]), tf.get_variable_scope().reuse)
    with tf.variable_scope(scope) as again:
        say(again.reuse, again is scope, again.name, again.original_name_scope)
    say(
        lambda: tf.variable_scope("s", reuse=3),
        lambda: tf.variable_scope("s", reuse="x"),
        lambda: tf.variable_scope(None),
        lambda: tf.variable_scope(None, reuse=True),
    )
    with tf.variable_scope("auto", reuse=tf.AUTO_REUSE):
        a = tf.get_variable("a", [2])
        say(
            a is tf.get_variable("a", [2]),
            tf.AUTO_REUSE,
            lambda: tf.get_variable("a", [2], tf.int32),
            lambda: tf.get_variable("a", [5]),
        )
        with tf.variable_scope("b"):
            say(tf.get_variable_scope().reuse)
        with tf.variable_scope("b", reuse=True):
            say(tf.get_variable_scope().reuse, lambda: tf.get_variable("q", [1]))

    def enter(*args, **kwargs):
        with tf.variable_scope(*args, **kwargs) as s:
            return s.name, s.reuse, s.original_name_scope

    say(
        lambda: enter(None, "d", reuse=True),
        lambda: enter(None, "d"),
        lambda: enter(None, "d"),
        lambda: enter(3),
        lambda: enter("", reuse=True),
        lambda: enter("d"),
        lambda: enter(None, "d"),
    )
    say(
        lambda: enter("x", auxiliary_name_scope=3),
        lambda: enter("x", "y"),
        lambda: enter("a/b"),
        lambda: enter("a/b/"),
        lambda: enter("/a"),
        lambda: enter("a b"),
        lambda: enter(None, "a b"),
        lambda: enter(None, ""),
    )
    tf.get_variable_scope().reuse_variables()
    say(lambda: tf.get_variable("root", [2]))


def names(tf, say):
    with tf.name_scope("n"):
        v = tf.get_variable("v", [1])
        say(v.name, (v + 1.0).name, tf.Variable(1.0, name="w").name)
        with tf.variable_scope("vs") as vs:
            say(
                tf.get_variable("v", [1]).name,
                tf.constant(1.0).name,
                vs.name,
                vs.original_name_scope,
            )
            with tf.name_scope("deep"):
                say(tf.get_variable("d", [1]).name, tf.constant(1).name, tf.Variable(1).name)
    with tf.variable_scope("vs") as vs2:
        say(tf.constant(1).name, vs2.name, vs2.original_name_scope, tf.Variable(2).name)
    with tf.variable_scope(vs) as vs3:
        say(tf.constant(1).name, vs3.name, vs3.original_name_scope, tf.get_variable("u", [1]).name)
        with tf.variable_scope("inner"):
            say(tf.constant(1).name, tf.get_variable("u", [1]).name)
    with tf.name_scope("other"):
        with tf.variable_scope(vs) as vs3:
            say(
                tf.constant(1).name,
                vs3.name,
                vs3.original_name_scope,
                tf.get_variable("u2", [1]).name,
            )
    with tf.name_scope(vs.original_name_scope):
        say(tf.constant(1).name)
    with tf.variable_scope(vs, auxiliary_name_scope=False) as vs4:
        say(tf.constant(1).name, vs4.name, vs4.original_name_scope, tf.get_variable("u3", [1]).name)
        with tf.name_scope(vs4.original_name_scope):
            say(tf.constant(1).name)
    with tf.variable_scope("aux", auxiliary_name_scope=False) as a:
        say(tf.constant(1).name, a.name, a.original_name_scope, tf.get_variable("u3", [1]).name)
    with tf.name_scope("q"), tf.variable_scope("aux2", auxiliary_name_scope=False) as a:
        say(tf.constant(1).name, a.name, a.original_name_scope, tf.get_variable("u3", [1]).name)
        with tf.variable_scope(None, "def", auxiliary_name_scope=False) as b:
            say(tf.constant(1).name, b.name, b.original_name_scope)
    with tf.variable_scope("") as e:
        say(tf.constant(1).name, e.name, e.original_name_scope, tf.get_variable("e", [1]).name)
    with tf.name_scope("q"), tf.variable_scope(tf.get_variable_scope()) as e:
        say(tf.constant(1).name, e.name, e.original_name_scope, tf.get_variable("e2", [1]).name)
    with tf.variable_scope("x"):
        with tf.variable_scope(tf.VariableScope(None)) as r:
            say(r.name, r.original_name_scope, tf.constant(1).name, tf.get_variable("rr", [1]).name)
        with tf.variable_scope(vs) as r:
            say(r.name, tf.constant(1).name, tf.get_variable("rr", [1]).name)


def default_names(tf, say):
    def enter(*args, **kwargs):
        with tf.variable_scope(*args, **kwargs) as s:
            return (
                s.name,
                s.original_name_scope,
                tf.get_variable("v", [1], trainable=False).name,
                tf.constant(1).name,
            )

    for _ in range(3):
        say(lambda: enter(None, "d"))
    say(lambda: enter("d_3"), lambda: enter(None, "d"))
    with tf.variable_scope("outer"):
        for _ in range(2):
            say(lambda: enter(None, "d"))
        with tf.variable_scope(None, "e"):
            say(lambda: enter(None, "d"))
    with tf.variable_scope("outer"):
        with tf.variable_scope(None, "e"):
            say(lambda: enter(None, "dd"))
        say(lambda: enter(None, "d"))
    with tf.variable_scope("outer", reuse=True):
        say(lambda: enter(None, "d"))
        say(lambda: enter(None, "d"))
        say(lambda: enter(None, "d"))
    with tf.variable_scope("o") as o:
        pass
    with tf.variable_scope(o):
        say(lambda: enter(None, "f"), lambda: enter(None, "f"))
    with tf.variable_scope(o):
        say(lambda: enter(None, "f"), lambda: enter(None, "f"))
    with tf.variable_scope("given", "default") as g:
        say(g.name)
    with tf.name_scope("ns"):
        say(
            lambda: enter(None, "d"),
            lambda: enter(None, "n"),
            lambda: enter(None, "a/b"),
            lambda: enter(None, "a/b"),
        )


def inherited(tf, say):
    def facts():
        s = tf.get_variable_scope()
        return (
            s.name,
            s.reuse,
            s.initializer,
            s.regularizer,
            s.caching_device,
            s.partitioner,
            s.custom_getter,
            s.dtype,
            s.use_resource,
            s.constraint,
        )

    say(facts)
    init = tf.constant_initializer(3.0)
    with tf.variable_scope(
        "a",
        initializer=init,
        regularizer=tf.reduce_sum,
        caching_device="/cpu:0",
        dtype=tf.float64,
        use_resource=True,
        constraint=tf.identity,
    ):
        say(facts())
        v = tf.get_variable("v", [2])
        say(v, v.constraint, v.op.type, v.device, lambda: v.value())
        with tf.variable_scope("b"):
            say(facts())
            say(
                tf.get_variable("w", [2]),
                lambda: tf.get_variable("x", initializer=1.0),
                lambda: tf.get_variable("x2", initializer=np.float64(1)),
            )
        with tf.variable_scope(
            "c",
            initializer=tf.ones_initializer(),
            regularizer=tf.no_regularizer,
            dtype=tf.float16,
            use_resource=False,
        ):
            say(facts())
            say(tf.get_variable("w", [2]))
        with tf.variable_scope("", dtype=tf.float32):
            say(facts(), tf.get_variable("same", [1]))
    s = tf.get_variable_scope()
    (
        s.set_initializer(init),
        s.set_regularizer(tf.reduce_sum),
        s.set_caching_device("/cpu:0"),
        s.set_dtype(tf.float64),
        s.set_use_resource(True),
    )
    say(facts())
    with tf.variable_scope("z"):
        say(facts(), tf.get_variable("v", [1]))
    s.set_partitioner(tf.fixed_size_partitioner(2))
    say(tf.get_variable("pp", [4]), tf.get_variable("scalar", []), facts())
    s.set_custom_getter(lambda getter, name, *a, **k: getter(name + "_x", *a, **k))
    s.set_partitioner(None)
    say(tf.get_variable("cg", [4]))
    with tf.variable_scope("y", initializer=tf.random_uniform_initializer(seed=1)) as y:
        with tf.variable_scope(y):
            say(facts())
        with tf.variable_scope(y, initializer=init, reuse=True):
            say(facts())
    say.init()
    say.run(*tf.global_variables())


def scope_object(tf, say):
    with tf.variable_scope("a") as a:
        tf.get_variable("v", [1])
        tf.get_variable("w", [1], trainable=False)
        tf.get_local_variable("l", [1])
        with tf.variable_scope("b") as b:
            tf.get_variable("v", [1])
    tf.get_variable("av", [1])
    with tf.variable_scope("ab"):
        tf.get_variable("v", [1])
    for s in (a, b, tf.get_variable_scope()):
        say(
            s.trainable_variables(),
            s.global_variables(),
            s.local_variables(),
            s.get_collection("variables"),
            s.name,
            s.original_name_scope,
        )
    say(
        lambda: tf.trainable_variables("a"),
        lambda: tf.trainable_variables("a/"),
        lambda: tf.global_variables(".*v"),
        lambda: tf.local_variables("a"),
        lambda: tf.global_variables("b"),
        lambda: tf.global_variables(""),
        lambda: tf.global_variables("("),
    )
    s = tf.VariableScope(True, "nm", tf.zeros_initializer())
    say(s.reuse, s.name, s.initializer, s.dtype, s.original_name_scope, s.use_resource, type(s))
    say(
        lambda: tf.VariableScope(),
        lambda: tf.VariableScope(reuse=None),
        lambda: setattr(a, "name", "q"),
        lambda: setattr(a, "reuse", True),
        lambda: setattr(a, "initializer", 1),
        lambda: setattr(a, "dtype", 1),
        lambda: setattr(a, "original_name_scope", "1"),
        lambda: setattr(a, "use_resource", 1),
        lambda: setattr(a, "constraint", 1),
    )
    say(sorted(x for x in dir(a) if not x.startswith("_")))
    w = tf.variable_scope("tw")
    with w as s1:
        say(tf.constant(1).name, s1.name)
    with w as s2:
        say(tf.constant(1).name, s2.name, s1 is s2, s2.original_name_scope)
    say(lambda: w.__exit__(None, None, None))


def custom_getters(tf, say):
    log = []

    def named(tag):
        def getter(getter, name, *args, **kwargs):
            log.append(
                (
                    tag,
                    name,
                    args,
                    sorted(
                        (k, str(v))
                        for k, v in kwargs.items()
                        if k not in ("initializer", "regularizer", "custom_getter")
                    ),
                )
            )
            return getter(name, *args, **kwargs)

        return getter

    with tf.variable_scope("a", custom_getter=named("A")):
        with tf.variable_scope("b", custom_getter=named("B")):
            v = tf.get_variable("v", [2])
            w = tf.get_variable("w", [2], custom_getter=named("C"))
            say(v, w)
        with tf.variable_scope("b", custom_getter=named("D"), reuse=True) as s:
            say(tf.get_variable("v", [2]) is v)
        with tf.variable_scope(s, custom_getter=named("E")):
            say(tf.get_variable("v", [2]) is v)
    say(log)

    def double(getter, *args, **kwargs):
        return getter(*args, **kwargs) * 2.0

    with tf.variable_scope("m", custom_getter=double):
        say(lambda: tf.get_variable("v", [2], initializer=tf.ones_initializer()))
        with tf.variable_scope("n", custom_getter=double):
            x = tf.get_variable("v", [2], initializer=tf.ones_initializer())
            say(x, tf.get_variable_scope().reuse)

    def rename(getter, name, *args, **kwargs):
        kwargs["trainable"] = False
        kwargs["collections"] = ["mine"]
        return getter(name + "_r", *args, **kwargs)

    def noconstraint(
        getter,
        name,
        shape=None,
        dtype=tf.float32,
        initializer=None,
        regularizer=None,
        reuse=None,
        trainable=True,
        collections=None,
        caching_device=None,
        partitioner=None,
        validate_shape=True,
        use_resource=None,
        synchronization=None,
        aggregation=None,
    ):
        return getter(name, shape, dtype, initializer)

    with tf.variable_scope("r", custom_getter=rename):
        say(tf.get_variable("v", [2]), tf.get_collection("mine"))
    say(
        lambda: tf.get_variable("nc", [2], custom_getter=noconstraint),
        lambda: tf.get_variable("nc1", [2], custom_getter=noconstraint, constraint=tf.identity),
    )
    say(lambda: tf.get_variable("nc2", [2], custom_getter=lambda getter, name: getter(name, [3])))
    say(lambda: tf.get_variable("nc3", [2], custom_getter=lambda g, name, **k: g(name, **k)))
    say(
        lambda: tf.get_variable(
            "nc4", [2], partitioner=tf.fixed_size_partitioner(2), custom_getter=named("P")
        )
    )
    say(log[-1:])
    say.init()
    say.run(x)


def creators(tf, say):
    log = []

    def tag(t):
        def creator(next_creator, **kwargs):
            log.append(
                (t, sorted((k, str(v)) for k, v in kwargs.items() if k not in ("initial_value",)))
            )
            kwargs["name"] = (kwargs["name"] or "none") + t
            return next_creator(**kwargs)

        return creator

    with tf.variable_creator_scope(tag("A")):
        say(tf.Variable(1.0, name="x"))
        with tf.variable_creator_scope(tag("B")):
            say(
                tf.get_variable("v", [2]),
                tf.Variable(1.0),
                tf.Variable([1, 2], trainable=False, collections=["q"], dtype=tf.int64),
            )
            say(lambda: tf.get_variable("v", [2]))
    say(log)

    def replace(next_creator, **kwargs):
        return tf.zeros([2])

    with tf.variable_creator_scope(replace):
        say(tf.Variable(1.0), lambda: tf.get_variable("z", [3]), lambda: tf.get_variable("z3", [3]))

    def fail(next_creator, **kwargs):
        raise KeyError("no")

    with tf.variable_creator_scope(fail):
        say(lambda: tf.Variable(1.0), lambda: tf.get_variable("z2", [3]))
    with tf.variable_creator_scope(
        lambda next_creator, **k: next_creator(**dict(k, use_resource=True))
    ):
        say(tf.get_variable("res", [1]), tf.Variable(1).op.type)
    with tf.variable_creator_scope(3):
        say(lambda: tf.Variable(1.0))
    with tf.Graph().as_default():
        with tf.variable_creator_scope(tag("C")):
            say(tf.Variable(1.0).name)
            with tf.Graph().as_default():
                say(tf.Variable(1.0).name)
