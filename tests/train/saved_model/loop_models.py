# SPDX-License-Identifier: Apache-2.0
"""Writes and reads functions with loops and branches, here or in a TensorFlow that runs eagerly.

    python loop_models.py write|read tensorflow FOLDER

It is run by TensorFlow 1.15's Python, too: nothing newer than Python 3.6 may be in it.
"""

import importlib
import os
import sys

import numpy as np

X = np.linspace(-1.0, 1.0, 12).reshape(4, 3).astype(np.float32)
WEIGHTS = np.linspace(0.1, 0.9, 9).reshape(3, 3).astype(np.float32)
NAMES = ("repeated", "chosen", "rows", "gathered", "scanned")
# (TensorFlow 2.21 has no gradients of a loop that leaves by `break`, once it is loaded.)
VALUES = ("searched", "counted")


def gathered(tf, x, w):
    """Products of rows, of which every other one is chosen otherwise, in an array."""
    count = tf.shape(x)[0]

    def turn(i, found):
        row = tf.matmul(x[i : i + 1], w)
        value = tf.cond(i % 2 > 0, lambda: row * 3.0, lambda: tf.sin(row))
        return i + 1, found.write(i, value)

    found = tf.TensorArray(tf.float32, size=count, element_shape=[1, 3])
    _, found = tf.while_loop(lambda i, _: i < count, turn, [0, found])
    return found.concat()


def searched(tf, total, w):
    """A sum that grows by more each time until it is large."""
    n = 0
    while total < 50.0:
        n += 1
        if n > 20:
            break
        total = total + tf.reduce_sum(w) * tf.cast(n, tf.float32)
    return total


def module_of(tf):
    """A module whose functions loop and branch over what a variable gives."""
    kind = {"use_resource": True} if tf.__name__ == "numbaflow" else {}
    takes = tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])

    class Loops(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(WEIGHTS, name="w", **kind)
            self.turns = tf.Variable(0, trainable=False, **kind)

        @takes
        def repeated(self, x):
            for _ in tf.range(3):
                x = tf.tanh(tf.matmul(x, self.w))
            return x

        @takes
        def chosen(self, x):
            if tf.reduce_sum(x) > -100.0:
                if tf.reduce_sum(x) > 100.0:
                    y = x
                else:
                    y = tf.matmul(x, self.w) * 2.0
            else:
                y = -x
            return y

        @takes
        def rows(self, x):
            return tf.map_fn(lambda row: tf.reduce_sum(row * self.w, axis=1), x)

        @takes
        def gathered(self, x):
            return gathered(tf, x, self.w)

        @takes
        def scanned(self, x):
            return tf.scan(lambda a, row: tf.tanh(tf.linalg.matvec(self.w, a) + row), x)

        @takes
        def searched(self, x):
            total = tf.reduce_sum(tf.matmul(x, self.w))
            return searched(tf, total, self.w)

        @takes
        def counted(self, x):
            for row in x:
                if row[0] > 0.0:
                    self.turns.assign_add(1)
            self.turns.assign(self.turns * 2)
            return self.turns.read_value()

    return Loops()


def is_graph(tf):
    """Whether sessions run what functions return."""
    return tf.__name__ == "numbaflow"


def results(tf, loops):
    """What the functions give for X, and the gradients by X and the variable."""
    x = tf.constant(X)
    found = {}
    if is_graph(tf):
        for name in NAMES:
            y = getattr(loops, name)(x)
            found[name] = [y] + tf.gradients(tf.reduce_sum(y * y), [x, loops.w])
        found.update((name, getattr(loops, name)(x)) for name in VALUES)
        session = tf.get_default_session()
        session.run(tf.global_variables_initializer())
        return session.run(found)
    for name in NAMES:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = getattr(loops, name)(x)
            loss = tf.reduce_sum(y * y)
        found[name] = [y] + tape.gradient(loss, [x, loops.w])
    found.update((name, getattr(loops, name)(x)) for name in VALUES)
    return tf.nest.map_structure(lambda t: t.numpy(), found)


def write(tf, folder):
    """Saves the module, and what it gives."""
    loops = module_of(tf)
    if is_graph(tf):
        tf.get_default_session().run(tf.global_variables_initializer())
    tf.saved_model.save(loops, os.path.join(folder, "loops"), signatures=loops.repeated)
    for name, values in results(tf, loops).items():
        for number, value in enumerate(values if isinstance(values, list) else [values]):
            np.save(os.path.join(folder, f"{name}_{number}.npy"), value)


def read(tf, folder):
    """What is wrong with the loaded module: lines of text."""
    if tf.__version__.startswith("2."):
        load = tf.saved_model.load
    else:
        load = tf.compat.v2.saved_model.load
    found = results(tf, load(os.path.join(folder, "loops")))
    wrong = []
    for name in sorted(found):
        values = found[name] if isinstance(found[name], list) else [found[name]]
        for number, value in enumerate(values):
            expected = np.load(os.path.join(folder, f"{name}_{number}.npy"))
            if not np.allclose(value, expected, rtol=1e-4, atol=1e-5):
                wrong.append(f"WRONG {name} {number}: {value}, not {expected}")
    return wrong


def main(action, module, folder):
    """Does what the command line says."""
    tf = importlib.import_module(module)
    if tf.__version__.startswith("1."):
        tf.compat.v1.enable_v2_behavior()
        # Loops have gradients once this is imported, which the first loop of a program does.
        importlib.import_module("tensorflow.python.ops.while_v2")
    if action == "write":
        write(tf, folder)
    else:
        print("\n".join(read(tf, folder)))


if __name__ == "__main__":
    main(*sys.argv[1:])
