# SPDX-License-Identifier: Apache-2.0
"""Writes and reads SavedModels of objects, here or in a TensorFlow that runs eagerly.

    python object_models.py write|read tensorflow FOLDER

It is run by TensorFlow 1.15's Python, too: nothing newer than Python 3.6 may be in it.
"""

import importlib
import os
import sys

import numpy as np

X = np.linspace(-1.0, 1.0, 12).reshape(4, 3).astype(np.float32)
WEIGHTS = np.arange(6.0).reshape(3, 2).astype(np.float32)


def module_of(tf, folder):
    """A module with variables, a table of a file and functions of several kinds."""
    words = os.path.join(folder, "words")
    with open(words, "w") as file:
        file.write("zero\none\n")

    class Parts(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(WEIGHTS, name="w", **resource(tf))
            self.items = [tf.Variable(1.0, **resource(tf)), tf.Variable(2.0, **resource(tf))]
            lines = tf.lookup.TextFileInitializer(words, tf.string, -2, tf.int64, -1)
            self.table = tf.lookup.StaticHashTable(lines, -1)

        @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
        def product(self, x):
            return tf.matmul(x, self.w) + self.items[1]

        @tf.function
        def several(self, x, times=2, more=False):
            found = self.product(x) * times
            return {"found": found, "rest": (x, [tf.shape(x)]), "more": tf.constant(more)}

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="words")])
        def number(self, text):
            return self.table.lookup(text)

    return Parts()


def resource(tf):
    """What makes a variable one of a handle, where that must be said."""
    return {"use_resource": True} if tf.__name__ == "numbaflow" else {}


def model_of(tf):
    """A model of layers that depend on training and have losses."""
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            layers.Dense(4, activation="relu", input_shape=(3,), kernel_regularizer="l2"),
            layers.BatchNormalization(),
            layers.Dense(1),
        ]
    )


def write(tf, folder):
    """Writes both, and what they give for X."""
    parts = module_of(tf, folder)
    calls = [parts.several(tf.constant(X[:1])), parts.several(tf.constant(X), times=3)]
    started(tf)
    tf.saved_model.save(parts, os.path.join(folder, "parts"), signatures=parts.product)
    model = model_of(tf)
    model.compile("adam", "mse")
    model.fit(X, X[:, :1], epochs=1, verbose=0)
    if tf.__version__.startswith("2."):
        model.export(os.path.join(folder, "model"))
    else:
        model.save(os.path.join(folder, "model"), save_format="tf", include_optimizer=False)
    np.save(os.path.join(folder, "outputs.npy"), model.predict(X))
    os.remove(os.path.join(folder, "words"))
    return calls


def started(tf):
    """Initializes variables and tables where that is the program's to do."""
    if tf.__name__ == "numbaflow":
        session = tf.keras.backend.get_session()
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])


def value(tf, tensors):
    """The values of tensors."""
    if tf.__name__ == "numbaflow":
        return tf.keras.backend.get_session().run(tensors)
    return tf.nest.map_structure(lambda x: x.numpy(), tensors)


def read(tf, folder):
    """What is wrong with the models of a folder: lines of text."""
    load = tf.saved_model.load if tf.__version__.startswith("2.") else tf.compat.v2.saved_model.load
    parts, model = (load(os.path.join(folder, name)) for name in ("parts", "model"))
    served = model.signatures["serving_default"]
    (key,) = served.structured_input_signature[1]
    results = {
        "product": parts.product(tf.constant(X)),
        "signature": parts.signatures["serving_default"](tf.constant(X))["output_0"],
        "several": parts.several(tf.constant(X), times=3)["found"] / 3.0,
        "number": parts.number(tf.constant(["one", "two"])),
        "model": list(served(**{key: tf.constant(X)}).values())[0],
    }
    started(tf)
    product = X.dot(WEIGHTS) + 2.0
    expected = dict.fromkeys(("product", "signature", "several"), product)
    expected["number"] = np.array([1, -1])
    expected["model"] = np.load(os.path.join(folder, "outputs.npy"))
    found = value(tf, results)
    return [
        f"WRONG {name}: {found[name]} instead of {expected[name]}"
        for name in sorted(results)
        if not np.allclose(found[name], expected[name], rtol=1e-4, atol=1e-5)
    ]


def main(action, module, folder):
    """Does what the command line says."""
    tf = importlib.import_module(module)
    if tf.__version__.startswith("1."):
        tf.compat.v1.enable_v2_behavior()
    if action == "write":
        write(tf, folder)
    else:
        print("\n".join(read(tf, folder)))


if __name__ == "__main__":
    main(*sys.argv[1:])
