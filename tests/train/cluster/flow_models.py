# SPDX-License-Identifier: Apache-2.0
"""Conditionals and loops on two tasks: text for programs of both packages, which name `tf`.

`MODELS[name](device)` -> fetches and a placeholder; device(job) is a context of where to be.
"""

TEXT = '''
import contextlib


def variable(device, value, use_resource):
    with device("ps"):
        start = tf.constant_initializer(value)
        return tf.get_variable("v", [], initializer=start, use_resource=use_resource)


def branch(device, use_resource=False):
    x, v = tf.placeholder(tf.float32, []), variable(device, 2.0, use_resource)

    def positive():
        with device("ps"):
            a = x * v
        with device("worker"):
            return a + 1

    def negative():
        with device("worker"):
            b = x - v
        with device("ps"):
            return b * 3

    y = tf.cond(x > 0, positive, negative)
    first = tf.gradients(y, [x, v])
    second = tf.gradients(first[0] * first[0] * x, [v])
    return [y, *first, *second], x


def elsewhere(device):
    x = tf.placeholder(tf.float32, [])

    def other():
        with device("worker"):
            return tf.square(x)

    with device("ps"):
        y = tf.cond(x > 0, lambda: x * 2, other)
    return [y, *tf.gradients(y, [x])], x


def effect(device):
    x, v = tf.placeholder(tf.float32, []), variable(device, 0.0, True)

    def changed():
        with device("ps"):
            change = v.assign_add(1.0)
        with device("worker"), tf.control_dependencies([change]):
            return tf.identity(x)

    y = tf.cond(x > 0, changed, lambda: -x)
    with tf.control_dependencies([y]):
        return [y, v.read_value()], x


def loop(device):
    x, w = tf.placeholder(tf.float32, []), variable(device, 1.1, True)

    def body(i, a):
        with device("ps"):
            b = a * w
        with device("worker"):
            return i + 1, tf.sin(b) + a

    _, y = tf.while_loop(lambda i, a: i < 5, body, [0, x])
    return [y, *tf.gradients(y, [x, w])], x


def array(device):
    x = tf.placeholder(tf.float32, [])

    def body(i, a, kept):
        with device("ps"):
            b = a * 1.5
        with device("worker"):
            c = b - 1
        return i + 1, c, kept.write(i, c)

    start = tf.TensorArray(tf.float32, 4)
    kept = tf.while_loop(lambda i, a, kept: i < 4, body, [0, x, start])[2].stack()
    return [tf.reduce_sum(kept), *tf.gradients(kept, [x])], x


def branch_in_loop(device):
    x = tf.placeholder(tf.float32, [])

    def body(i, a):
        def even():
            with device("ps"):
                return a * 1.5

        def odd():
            with device("worker"):
                return a + 0.3

        return i + 1, tf.cond(tf.equal(i % 2, 0), even, odd)

    _, y = tf.while_loop(lambda i, a: i < 5, body, [0, x])
    return [y, *tf.gradients(y, [x])], x


def loop_in_loop(device):
    x, w = tf.placeholder(tf.float32, []), variable(device, 1.1, True)

    def body(i, a):
        def inner(j, b):
            with device("ps"):
                c = b * w
            with device("worker"):
                return j + 1, tf.tanh(c) + b

        return i + 1, tf.while_loop(lambda j, b: j < i, inner, [0, a])[1]

    _, y = tf.while_loop(lambda i, a: i < 3, body, [0, x])
    return [y, *tf.gradients(y, [x, w])], x


def loop_in_branch(device):
    x = tf.placeholder(tf.float32, [])

    def positive():
        def body(i, a):
            with device("ps"):
                b = a * 1.1
            with device("worker"):
                return i + 1, b + 1

        return tf.while_loop(lambda i, a: i < 4, body, [0, x])[1]

    y = tf.cond(x > 0, positive, lambda: x * 2)
    return [y, *tf.gradients(y, [x])], x


MODELS = {
    one.__name__: one
    for one in (
        *(branch, elsewhere, effect, loop, array, branch_in_loop, loop_in_loop, loop_in_branch),
    )
}


def values(name, target):
    """What a model gives, one run after the other; without a target on one task."""
    placed = lambda job: tf.device("/job:" + job) if target else contextlib.nullcontext()
    with tf.Graph().as_default():
        fetches, x = MODELS[name](placed)
        config = tf.ConfigProto(operation_timeout_in_ms=20000)
        with tf.Session(target, config=config) as session:
            session.run(tf.global_variables_initializer())
            return [list(map(float, session.run(fetches, {x: v}))) for v in (1.5, -2.0, 3.0)]
'''
NAMES = (
    *("branch", "elsewhere", "effect", "loop", "array", "branch_in_loop", "loop_in_loop"),
    "loop_in_branch",
)
