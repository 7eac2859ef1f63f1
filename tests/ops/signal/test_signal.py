# SPDX-License-Identifier: Apache-2.0
"""tf.signal makes the nodes of TensorFlow 1.15, and gives what it gives.

recorded_1_15.json was made by tests/train/contrib/recording.py of programs.py.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

from ...train.contrib.recording import results
from .programs import PROGRAMS

RECORDED = json.loads(Path(__file__).with_name("recorded_1_15.json").read_text())


@pytest.mark.programs
@pytest.mark.parametrize("name", PROGRAMS)
def test_nodes_and_values_are_those_of_tensorflow(name):
    with settings.override(jit="never"):
        found = results(tf, PROGRAMS[name])
    wanted = RECORDED[name]
    for ours, theirs in zip(found["values"], wanted["values"], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=2e-5)
    assert found["nodes"] == wanted["nodes"]


@pytest.mark.cpu
@pytest.mark.parametrize("name", ["frames", "stft"])
def test_compiled_programs_give_the_same(name):
    with settings.override(jit="always"):
        found = results(tf, PROGRAMS[name])
    for ours, theirs in zip(found["values"], RECORDED[name]["values"], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=2e-5)


@pytest.mark.programs
def test_lengths_may_be_fed():
    signal = tf.placeholder(tf.float32, [None])
    length, step = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [])
    frames = tf.signal.frame(signal, length, step)
    spectra = tf.signal.stft(signal, length, step)
    with tf.Session() as session, settings.override(jit="never"):
        feeds = {signal: np.arange(10.0), length: 4, step: 6}
        assert session.run(frames, feeds).tolist() == [[0, 1, 2, 3], [6, 7, 8, 9]]
        assert session.run(spectra, feeds).shape == (2, 3)


@pytest.mark.pure
@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: tf.signal.hann_window(4, dtype=tf.int32), "floating point"),
        (lambda: tf.signal.dct(tf.zeros([4]), type=4), "Only Types I, II and III"),
        (lambda: tf.signal.dct(tf.zeros([4]), type=1, norm="ortho"), "Type-I"),
        (lambda: tf.signal.overlap_and_add(tf.zeros([2, 4]), 2.0), "must be an integer"),
        (lambda: tf.signal.linear_to_mel_weight_matrix(0), "num_mel_bins must be positive"),
        (lambda: tf.signal.linear_to_mel_weight_matrix(sample_rate=100), "Nyquist"),
        (lambda: tf.signal.rfft2d(tf.zeros([4])), "rank at least 2"),
    ],
)
def test_what_does_not_fit_is_refused(call, error):
    with pytest.raises(ValueError, match=error):
        call()
