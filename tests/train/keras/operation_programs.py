# SPDX-License-Identifier: Apache-2.0
"""The operations that layers and models make, here or in TensorFlow 1.15, whose Python is 3.7.

    python operation_programs.py tensorflow FILE

Each case's operations are written as [[name, type], ...].  By their number the seeds of what is
made behind are chosen, so random numbers of a program are TensorFlow's as long as it is the same.
"""

import importlib
import json
import sys

import numpy as np


def layer_cases(tf):
    """(name, function that makes a layer, shape of an input) of layers that draw or branch."""
    layers = tf.keras.layers
    return [
        ("dropout", lambda: layers.Dropout(0.3), (3, 4)),
        ("spatial_dropout", lambda: layers.SpatialDropout2D(0.3), (3, 4, 5)),
        ("gaussian_noise", lambda: layers.GaussianNoise(0.3), (3, 4)),
        ("gaussian_dropout", lambda: layers.GaussianDropout(0.3), (3, 4)),
        ("alpha_dropout", lambda: layers.AlphaDropout(0.3), (3, 4)),
        ("alpha_dropout_shape", lambda: layers.AlphaDropout(0.3, (2, 1, 4)), (3, 4)),
        ("masked_mean", lambda: layers.GlobalAveragePooling1D(), "masked"),
        ("conv_lstm", lambda: layers.ConvLSTM2D(2, 2, dropout=0.1), (3, 4, 4, 2)),
        ("lstm", lambda: layers.LSTM(3, dropout=0.1, recurrent_dropout=0.2), (4, 3)),
        ("gru", lambda: layers.GRU(3, dropout=0.1, recurrent_dropout=0.2), (4, 3)),
        ("both_ways", lambda: layers.Bidirectional(layers.GRU(2), merge_mode="sum"), "masked"),
        ("distributed", lambda: layers.TimeDistributed(layers.Dense(2)), (4, 3)),
        ("batch_norm", lambda: layers.BatchNormalization(), (4, 4, 3)),
        ("attention", lambda: layers.Attention(use_scale=True), "pair"),
    ]


def metric_cases(tf):
    """(name, metrics) of models that count."""
    metrics = tf.keras.metrics
    return [
        ("auc", lambda: [metrics.AUC()]),
        ("precision", lambda: [metrics.Precision(), metrics.Recall()]),
        ("counts", lambda: [metrics.TruePositives(), metrics.FalseNegatives()]),
        ("sensitivity", lambda: [metrics.SensitivityAtSpecificity(0.5)]),
    ]


def made(tf, name, build, shape):
    """The operations of a call of a layer."""
    layers = tf.keras.layers
    tf.keras.backend.clear_session()
    if shape == "masked":
        x = layers.Masking()(layers.Input((4, 3)))
    elif shape == "pair":
        x = [layers.Input((4, 3)), layers.Input((5, 3))]
    else:
        x = layers.Input(shape)
    layer = build()
    before = len(tf.get_default_graph().get_operations())
    layer(x)
    return [[op.name, op.type] for op in tf.get_default_graph().get_operations()[before:]]


def trained(tf, name, metrics):
    """The operations of a model that was trained."""
    tf.keras.backend.clear_session()
    dense = tf.keras.layers.Dense(2, input_shape=(3,), activation="softmax")
    model = tf.keras.Sequential([dense])
    model.compile("sgd", "mse", metrics=metrics())
    model.fit(np.ones((4, 3), np.float32), np.ones((4, 2), np.float32), verbose=0)
    return [[op.name, op.type] for op in tf.get_default_graph().get_operations()]


def cases(tf):
    """All cases by name."""
    found = {name: made(tf, name, build, shape) for name, build, shape in layer_cases(tf)}
    found.update((name, trained(tf, name, metrics)) for name, metrics in metric_cases(tf))
    return found


if __name__ == "__main__":
    with open(sys.argv[2], "w") as file:
        json.dump(cases(importlib.import_module(sys.argv[1])), file)
