# SPDX-License-Identifier: Apache-2.0
"""A program for Keras 2.2.5: trains three small models, saves and loads them, prints figures.

`python keras_models.py FOLDER` under TensorFlow 1.15.5 made keras_1_15.json.
"""

import json
import os
import sys

import numpy as np
from keras import backend
from keras.layers import (
    LSTM,
    Activation,
    BatchNormalization,
    Conv2D,
    Dense,
    Dropout,
    Embedding,
    Flatten,
    Input,
    MaxPooling2D,
)
from keras.models import Model, Sequential, load_model
from keras.optimizers import SGD, Adam, RMSprop
from keras.utils import to_categorical

random = np.random.RandomState(0)


def mlp():
    """A perceptron with batch normalisation."""
    x = random.rand(256, 20).astype("float32")
    y = to_categorical((x.sum(axis=1) > 10).astype("int32"), 2)
    model = Sequential()
    model.add(Dense(32, input_dim=20))
    model.add(BatchNormalization())
    model.add(Activation("relu"))
    model.add(Dropout(0.2, seed=1))
    model.add(Dense(2, activation="softmax"))
    model.compile(SGD(0.1, momentum=0.9), "categorical_crossentropy", metrics=["accuracy"])
    return model, x, y


def cnn():
    """Convolutions and pooling, by the functional interface."""
    x = random.rand(128, 12, 12, 1).astype("float32")
    y = (x[:, 3:6, 3:6].mean(axis=(1, 2, 3)) > 0.5).astype("float32")
    inputs = Input((12, 12, 1))
    hidden = Conv2D(8, (3, 3), activation="relu", padding="same")(inputs)
    hidden = MaxPooling2D()(hidden)
    hidden = Conv2D(8, (3, 3), activation="relu")(hidden)
    outputs = Dense(1, activation="sigmoid")(Flatten()(hidden))
    model = Model(inputs, outputs)
    model.compile(Adam(0.01), "binary_crossentropy", metrics=["accuracy"])
    return model, x, y


def lstm():
    """An LSTM over words."""
    x = random.randint(0, 30, (128, 10))
    y = (x[:, 0] > 15).astype("float32")
    model = Sequential(
        [
            Embedding(30, 8),
            LSTM(16, recurrent_initializer="glorot_uniform"),
            Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(RMSprop(0.01), "binary_crossentropy", metrics=["accuracy"])
    return model, x, y


def main(folder):
    """Prints a line of figures for every model."""
    for build in (mlp, cnn, lstm):
        backend.clear_session()
        backend.get_session()
        np.random.seed(3)
        model, x, y = build()
        before = model.evaluate(x, y, verbose=0)
        history = model.fit(x, y, batch_size=32, epochs=3, shuffle=False, verbose=0)
        tested = model.evaluate(x, y, verbose=0)
        answer = model.predict(x[:4])
        path = os.path.join(folder, build.__name__ + ".h5")
        model.save(path)
        loaded = load_model(path)
        same = bool(np.array_equal(loaded.predict(x[:4]), answer))
        again = Model.from_config if build is cnn else Sequential.from_config
        again(model.get_config()).set_weights(model.get_weights())
        figures = {
            "before": [float(one) for one in before],
            "loss": [float(one) for one in history.history["loss"]],
            "evaluated": [float(one) for one in tested],
            "predicted": answer.ravel().astype(float).tolist(),
            "weights": len(model.get_weights()),
            "loaded": same,
        }
        print(build.__name__, json.dumps(figures))


if __name__ == "__main__":
    main(sys.argv[1])
