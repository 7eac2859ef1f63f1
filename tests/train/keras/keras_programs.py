# SPDX-License-Identifier: Apache-2.0
"""Models of `tf.keras` that TensorFlow 1.15 ran, too: their losses, names and configurations.

python keras_programs.py > keras_1_15.json    # with TensorFlow 1.15
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np


def _dense(tf: Any) -> Any:
    layers = tf.keras.layers
    first = layers.Dense(5, activation="relu", input_shape=(4,), kernel_regularizer="l2")
    last = layers.Dense(3, activation="softmax")
    model = tf.keras.Sequential([first, layers.Dropout(0.3), last])
    return (
        model,
        np.random.rand(48, 4),
        np.random.randint(0, 3, 48),
        "sparse_categorical_crossentropy",
    )


def _pictures(tf: Any) -> Any:
    layers = tf.keras.layers
    start = layers.Input((8, 8, 2))
    x = layers.Conv2D(3, 3, padding="same", activation="relu")(start)
    x = layers.BatchNormalization()(x)
    down = layers.MaxPooling2D()(x)
    up = layers.UpSampling2D()(down)
    x = layers.Concatenate()([x, up])
    x = layers.LeakyReLU()(layers.SeparableConv2D(2, 3)(x))
    x = layers.Conv2DTranspose(1, 3)(x)
    return tf.keras.Model(start, x), np.random.rand(48, 8, 8, 2), np.random.rand(48, 8, 8, 1), "mse"


def _sequences(tf: Any) -> Any:
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Embedding(20, 4, mask_zero=True),
            layers.Bidirectional(layers.LSTM(3, return_sequences=True, dropout=0.2)),
            layers.GRU(4, return_sequences=True),
            layers.TimeDistributed(layers.Dense(2, activation="tanh")),
        ]
    )
    return model, np.random.randint(0, 20, (48, 5)), np.random.rand(48, 5, 2), "mae"


def _operations(tf: Any) -> Any:
    layers = tf.keras.layers
    start = layers.Input((6,))
    x = tf.nn.relu(layers.Lambda(lambda t: tf.square(t))(start) - 0.2) * 2.0
    x = layers.Dense(4, kernel_constraint="max_norm")(x)
    x = layers.GaussianNoise(0.1)(layers.LayerNormalization()(x))
    return (
        tf.keras.Model(start, layers.Dense(1)(x)),
        np.random.rand(48, 6),
        np.random.rand(48, 1),
        "mse",
    )


def _subclass(tf: Any) -> Any:
    layers = tf.keras.layers

    class Tower(tf.keras.Model):
        def __init__(self) -> None:
            super(Tower, self).__init__()  # noqa: UP008
            self.first = layers.Dense(6, activation="relu")
            self.drop = layers.Dropout(0.5)
            self.blocks = [layers.Dense(6), layers.Dense(1)]

        def call(self, x: Any, training: Any = None) -> Any:
            x = self.drop(self.first(x), training=training)
            for block in self.blocks:
                x = block(x)
            return x

    return Tower(), np.random.rand(48, 4), np.random.rand(48, 1), "mse"


MODELS = {
    "dense": _dense,
    "pictures": _pictures,
    "sequences": _sequences,
    "operations": _operations,
    "subclass": _subclass,
}
OPTIMIZERS = ("sgd", "adam", "rmsprop", "adagrad", "adadelta", "adamax", "nadam", "ftrl")


def run(tf: Any, name: str, optimizer: str = "adam") -> dict[str, Any]:
    """Trains a model for two epochs."""
    tf.keras.backend.clear_session()
    tf.set_random_seed(3)
    np.random.seed(5)
    model, x, y, loss = MODELS[name](tf)
    model.compile(optimizer, loss, metrics=["accuracy"])
    history = model.fit(x, y, epochs=2, batch_size=16, verbose=0, validation_split=0.25)
    return {
        "history": {k: [float(v) for v in values] for k, values in history.history.items()},
        "weights": [v.name for v in model.weights],
        "optimizer": [v.name for v in model.optimizer.weights],
        "operations": len(tf.get_default_graph().get_operations()),
    }


def configurations(tf: Any) -> dict[str, Any]:
    """What layers and optimizers say of themselves."""
    found = {}
    keras = tf.keras
    for name, arguments in {
        "Dense": (3,),
        "Conv2D": (2, 3),
        "DepthwiseConv2D": (3,),
        "LSTM": (3,),
        "GRU": (3,),
        "Embedding": (3, 4),
        "BatchNormalization": (),
        "Dropout": (0.5,),
        "MaxPooling2D": (),
        "UpSampling2D": (),
        "Concatenate": (),
    }.items():
        keras.backend.clear_session()
        found[name] = getattr(keras.layers, name)(*arguments).get_config()
    for name in OPTIMIZERS:
        found[name] = keras.optimizers.get(name).get_config()
    return found


def everything(tf: Any) -> dict[str, Any]:
    """What the test compares."""
    models = {name: run(tf, name) for name in MODELS}
    optimizers = {name: run(tf, "dense", name) for name in OPTIMIZERS}
    return {"models": models, "optimizers": optimizers, "configurations": configurations(tf)}


if __name__ == "__main__":
    import tensorflow

    json.dump(everything(tensorflow), sys.stdout, indent=1, sort_keys=True)
