# SPDX-License-Identifier: Apache-2.0
"""`tf.Variable`: construction, Python's protocols, protos, initial values."""

# ruff: noqa: B023 - every function is called before the loop goes on
from __future__ import annotations

import copy
import pickle

import numpy as np


def constructor(tf, say):
    V = tf.Variable
    for r in (False, True):
        k = dict(use_resource=r)
        say(
            V(1.0, **k),
            V([1, 2], **k),
            V("s", **k),
            V(True, **k),
            V(np.zeros([2, 3]), **k),
            V(1j, **k),
            V([], **k),
            V(b"x", **k),
            V([[1], [2]], dtype=tf.float32, **k),
        )
        say(
            lambda: V(**k),
            lambda: V(None, **k),
            lambda: V(1, dtype=tf.string, **k),
            lambda: V("a", dtype=tf.int32, **k),
            lambda: V([1, "s"], **k),
            lambda: V(object(), **k),
        )
        say(
            lambda: V(1.5, dtype=tf.int32, **k),
            lambda: V(1, dtype="float64", **k),
            lambda: V(np.float64(3), dtype=tf.float32, **k),
            lambda: V(tf.constant(1), dtype=tf.float32, **k),
        )
        say(
            lambda: V(lambda: tf.ones([2]), **k),
            lambda: V(lambda: 3, dtype=tf.float32, **k),
            lambda: V(lambda x: 3, **k),
        )
        say(
            lambda: V(1, name="a/b", **k),
            lambda: V(1, name="a/b", **k),
            lambda: V(1, name="", **k),
            lambda: V(1, name="x/", **k),
            lambda: V(1, name="bad name", **k),
            lambda: V(1, name="_x", **k),
            lambda: V(1, name=3, **k),
        )
        say(
            lambda: V(1, collections="x", **k),
            lambda: V(1, collections=3, **k),
            lambda: V(1, collections=[], **k),
            lambda: V(1, collections=("q",), **k),
            lambda: V(1, collections={"q2"}, **k),
        )
        say(
            lambda: V(1, trainable=False, **k).trainable,
            lambda: V(1, trainable=None, **k).trainable,
            lambda: V(1, trainable=1, **k).trainable,
            lambda: V(1, trainable=0, **k).trainable,
        )
        say(lambda: V(1, constraint=3, **k), lambda: V(1, constraint=abs, **k).constraint)
        say(
            lambda: V(tf.placeholder(tf.float32), **k),
            lambda: V(tf.placeholder(tf.float32), validate_shape=False, **k),
            lambda: V(tf.placeholder(tf.float32, [None, 2]), **k),
            lambda: V(tf.placeholder(tf.float32, [None, 2]), validate_shape=False, **k),
        )
        say(
            lambda: V(
                tf.placeholder(tf.float32, [None, 2]), validate_shape=False, shape=[None, 2], **k
            ),
            lambda: V([1.0], shape=tf.TensorShape(None), **k),
            lambda: V([1.0], shape=[2], **k),
            lambda: V([1.0], shape=[1], **k),
            lambda: V([1.0], shape=tf.TensorShape([None]), validate_shape=False, **k),
        )
        say(
            lambda: V([1.0], expected_shape=[2], **k),
            lambda: V([1.0], caching_device="/cpu:0", **k).value(),
            lambda: V([1.0], caching_device="/job:x/task:1", **k).value().device,
        )
        say(
            lambda: V(V(3.0, **k), **k),
            lambda: V(V(3.0, **k) * 2.0, **k),
            lambda: V(V(3.0, **k).initialized_value() * 2.0, **k),
        )
        say(
            lambda: V(1, synchronization=tf.VariableSynchronization.NONE, **k).synchronization,
            lambda: V(1, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA, **k).aggregation,
            lambda: V(1, aggregation=None, **k).aggregation,
            lambda: V(1, synchronization=None, **k).synchronization,
        )
        say(
            lambda: V(1, variable_def=3, **k),
            lambda: V(1, nope=3, **k),
            lambda: V(tf.sparse.from_dense([1]), **k),
            lambda: V(dtype=tf.float32, shape=[2], **k),
        )
        say(lambda: V(1, import_scope="x", **k))
        with tf.name_scope("ns"):
            say(V(1, **k), V(1, name="n", **k))
        with tf.device("/job:ps/task:1"):
            v = V(1.0, name="dev", **k)
            say(
                v.device,
                v.op.device,
                v.initializer.device,
                v.value().device,
                v.initial_value.device,
                v.read_value().device,
                v.assign(2.0).device,
            )
        with tf.device(lambda op: "/job:" + op.type.lower()):
            v = V(tf.ones([2]), name="devf", **k)
            v2 = V(lambda: tf.ones([2]), name="devg", **k)
            say(
                v.device,
                v.op.device,
                v.initializer.device,
                v.value().device,
                v2.initial_value.device,
            )
        with tf.control_dependencies([tf.no_op(name="dep")]):
            v = V(tf.ones([2]), name="dep", **k)
            say(v.op.control_inputs, v.initializer.control_inputs)
            say(v.value().op.control_inputs, (v + 1).op.control_inputs)
        with tf.colocate_with(v if not r else v.handle):
            w = V(tf.ones([2]), name="col", **k)
            say(
                w.op.colocation_groups(), w.initializer.colocation_groups(), w.op.get_attr("_class")
            )
        with tf.container("box"):
            w = V(tf.ones([2]), name="box", **k)
            say(w.op.get_attr("container"), w.op.get_attr("shared_name"))


def classes(tf, say):
    v, r = tf.Variable(1.0), tf.Variable(1.0, use_resource=True)
    say(
        type(v),
        type(r),
        isinstance(v, tf.Variable),
        isinstance(r, tf.Variable),
        type(v).__mro__[-2:] if 0 else None,
    )
    for x in (v, r):
        say([n for n in dir(x) if not n.startswith("_") and n not in ("sparse_read", "gather_nd")])
        for n in (
            "__add__",
            "__iter__",
            "__bool__",
            "__len__",
            "__array__",
            "__getitem__",
            "__index__",
            "__float__",
            "__call__",
            "__enter__",
            "__abs__",
            "__matmul__",
            "__rmatmul__",
            "__invert__",
            "__and__",
            "__array_priority__",
            "__int__",
            "__complex__",
            "__iadd__",
            "__ifloordiv__",
            "__imod__",
            "__eq__",
            "__divmod__",
            "__contains__",
            "__copy__",
            "__deepcopy__",
        ):
            say([n, hasattr(x, n)])
        say(tf.Variable.SaveSliceInfo.__name__)
    say(
        tf.enable_resource_variables(),
        tf.resource_variables_enabled(),
        tf.Variable(1),
        tf.get_variable("x", [1]),
        tf.disable_resource_variables(),
        tf.resource_variables_enabled(),
        tf.Variable(1),
        tf.get_variable("y", [1]),
    )
    with tf.variable_scope("s", use_resource=True):
        say(
            tf.Variable(1),
            tf.Variable(1, use_resource=False),
            tf.get_variable("z", [1], use_resource=False),
        )
    say(
        sorted(tf.VariableSynchronization.__members__),
        sorted(tf.VariableAggregation.__members__),
        repr(tf.VariableAggregation.SUM),
        tf.VariableAggregation.SUM == 1,
        hash(tf.VariableAggregation.SUM),
        tf.VariableAggregation(2),
        tf.VariableSynchronization(2),
        [int(x.value) for x in tf.VariableAggregation],
    )
    say(tf.VariableAggregation.ONLY_FIRST_TOWER, str(tf.VariableAggregation.ONLY_FIRST_REPLICA))


def python_protocols(tf, say):
    for r in (False, True):
        v = tf.Variable([1.0, 2.0], use_resource=r, name="v")
        say(
            lambda: iter(v),
            lambda: list(v),
            lambda: bool(v),
            lambda: len(v),
            lambda: float(v),
            lambda: int(v),
            lambda: v[0],
            lambda: v[5],
            lambda: v[0:1],
            lambda: v["a"],
            lambda: 1.0 in v,
            lambda: v in [v],
            lambda: v in {v: 1},
        )
        say(
            lambda: np.array(v),
            lambda: np.asarray([v]),
            lambda: np.ones(2) * v,
            lambda: np.float32(2) * v,
            lambda: v * np.ones(2),
            lambda: abs(v),
            lambda: -v,
            lambda: ~v,
            lambda: v @ v,
            lambda: v % 2,
            lambda: v // 2,
            lambda: v**2,
            lambda: 2**v,
            lambda: 1 / v,
            lambda: v > 1,
            lambda: v >= v,
            lambda: v & v,
            lambda: v == 1,
            lambda: v != 1,
            lambda: v == v,
        )
        say(
            lambda: copy.copy(v),
            lambda: copy.deepcopy(v),
            lambda: pickle.dumps(v),
            lambda: {v: 3}[v],
            lambda: range(v),
            lambda: [1, 2][v],
            lambda: v.foo,
            lambda: setattr(v, "foo", 3),
            lambda: v.foo,
            lambda: setattr(v, "name", 3),
            lambda: setattr(v, "shape", [3]),
            lambda: setattr(v, "trainable", False),
            lambda: v.numpy(),
        )
        say(
            lambda: v(),
            lambda: v.__enter__(),
            lambda: str(v),
            lambda: f"{v} {v!r}",
            lambda: f"{v}",
            lambda: np.sum(v),
            lambda: sum([v, v]),
            lambda: max([v]),
        )

        def iadd():
            x = v
            x += 1.0
            return x, x is v

        def isub():
            x = v
            x -= 1.0
            return x

        def imul():
            x = v
            x *= 2.0
            return x

        def idiv():
            x = v
            x /= 2.0
            return x

        def ipow():
            x = v
            x **= 2.0
            return x

        def imod():
            x = v
            x %= 2.0
            return x

        def ifloor():
            x = v
            x //= 2.0
            return x

        def imat():
            x = v
            x @= 2.0
            return x

        say(iadd, isub, imul, idiv, ipow, imod, ifloor, imat)

        def delete():
            del v[0]

        def put():
            v[0] = 3.0

        say(
            delete,
            put,
            lambda: isinstance(v, tf.Tensor),
            lambda: tf.is_tensor(v),
            lambda: tf.contrib.framework.is_tensor(v),
            lambda: tf.convert_to_tensor(v),
            lambda: tf.convert_to_tensor(v, tf.int32),
            lambda: tf.convert_to_tensor([v, v]),
            lambda: tf.convert_to_tensor(v, preferred_dtype=tf.int32),
            lambda: tf.convert_to_tensor(v, name="nm"),
            lambda: tf.stack([v, [1.0, 1.0]]),
            lambda: tf.identity(v),
            lambda: tf.constant(v),
            lambda: tf.as_dtype(v),
            lambda: tf.cast(v, tf.int32),
            lambda: tf.shape(v),
            lambda: tf.size(v),
            lambda: tf.rank(v),
            lambda: tf.add_n([v, v]),
            lambda: tf.gather(v, [0]),
            lambda: tf.gather_nd(v, [[0]]),
            lambda: tf.nn.embedding_lookup(v, [0]),
            lambda: tf.group(v),
            lambda: tf.tuple([v]),
            lambda: tf.gradients(v * v, v),
            lambda: tf.gradients(tf.gather(v, [0]), v),
            lambda: tf.global_norm([v, v]),
            lambda: tf.stop_gradient(v),
            lambda: tf.assert_equal(v, v),
            lambda: tf.Print(v, [v]),
            lambda: tf.where(v > 0, v, v),
            lambda: tf.strided_slice(v, [0], [1]),
            lambda: v[::-1],
            lambda: v[..., None],
        )
        say(
            lambda: v.experimental_ref(),
            lambda: v.experimental_ref() == v.experimental_ref(),
            lambda: v.experimental_ref().deref() is v,
            lambda: tf.get_default_graph().as_graph_element(v),
            lambda: tf.get_default_graph().is_feedable(v),
            lambda: tf.get_default_graph().is_fetchable(v),
            lambda: tf.get_static_value(v),
            lambda: tf.contrib.util.constant_value(v),
        )


def protos(tf, say):
    for r in (False, True):
        with tf.variable_scope("sc", use_resource=r, reuse=tf.AUTO_REUSE):
            v = tf.get_variable(
                f"v{r}",
                [2],
                trainable=not r,
                synchronization=tf.VariableSynchronization.ON_WRITE,
                aggregation=tf.VariableAggregation.SUM,
            )
            w = tf.get_variable(f"w{r}", [2], caching_device="/cpu:0")
        for x in (v, w):
            d = x.to_proto()
            say(d, x.to_proto("sc"), x.to_proto("zz"), x.to_proto(export_scope="sc/"))
            y = tf.Variable.from_proto(d) if not r else type(v).from_proto(d)
            say(
                y,
                y.name,
                y.initializer is x.initializer,
                y.value(),
                y.initial_value,
                y.trainable,
                y.synchronization,
                y.aggregation,
                y.op is x.op,
                y == x,
                y.shape,
                y.dtype,
                lambda: y.to_proto() == d,
                lambda: y.constraint,
            )
            say(
                lambda: tf.Variable(variable_def=d),
                lambda: tf.Variable(variable_def=d, import_scope="q"),
                lambda: tf.Variable(3, variable_def=d),
                lambda: tf.Variable.from_proto(d, import_scope="none"),
                lambda: tf.Variable.from_proto(d),
            )
    g = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default():
        tf.import_graph_def(g, name="imp")
        y = (
            tf.Variable.from_proto(tf.Graph and v.to_proto() if 0 else d, import_scope="imp")
            if not d.is_resource
            else type(w).from_proto(d, import_scope="imp")
        )
        say(y, y.name, y.initializer, y.value(), y.to_proto(), y.to_proto("imp"))
    m = tf.train.export_meta_graph()
    say([[k, len(m.collection_def[k].bytes_list.value)] for k in sorted(m.collection_def)])
    with tf.Graph().as_default():
        tf.train.import_meta_graph(m)
        say(
            tf.global_variables(),
            tf.trainable_variables(),
            [type(x) for x in tf.global_variables()],
            [x.trainable for x in tf.global_variables()],
        )
        with tf.variable_scope("sc", reuse=True):
            say(lambda: tf.get_variable("vFalse", [2]))


def initial_values(tf, say):
    for r in (False, True):
        with tf.variable_scope(f"k{r}", use_resource=r):
            a = tf.Variable(tf.random_normal([2], seed=3), name="a")
            b = tf.Variable(a.initialized_value() * 2.0, name="b")
            c = tf.Variable(a * 3.0, name="c") if not r else a
            d = tf.Variable(b + 1.0, name="d") if not r else b
            e = tf.Variable(tf.cond(tf.constant(True), lambda: 1.0, lambda: 2.0), name="e")
            f = tf.Variable(lambda: tf.cond(tf.constant(True), lambda: 1.0, lambda: 2.0), name="f")
            say(a, b, c, d, e, f, a.initial_value, c.initial_value, d.initializer.inputs[-1])
    say.init()
    say.run(*tf.global_variables())

    def inside(kind):
        def body():
            with tf.control_dependencies(
                [
                    tf.Variable(
                        tf.constant(1.0) if kind == 0 else 1.0 if kind == 1 else (lambda: 1.0),
                        name=f"in{kind}",
                    ).initializer
                ]
            ):
                return tf.constant(1)

        return tf.cond(tf.constant(True), body, lambda: tf.constant(2))

    say(lambda: inside(0), lambda: inside(1), lambda: inside(2))

    def loop(use_resource, kind):
        def body(i):
            v = tf.get_variable(
                f"lv{use_resource}{kind}",
                initializer=tf.constant(1)
                if kind == 0
                else 1
                if kind == 1
                else (lambda: tf.constant(1)),
                use_resource=use_resource,
            )
            return i + v

        return tf.while_loop(lambda i: i < 3, body, [0])

    for r in (False, True):
        for kind in (0, 1, 2):
            say(lambda: loop(r, kind))

    def loop2(i):
        return i + tf.get_variable("shaped", [], tf.int32, tf.ones_initializer())

    x = say(lambda: tf.while_loop(lambda i: i < 3, loop2, [0]))
    say.init()
    say.run(x)
