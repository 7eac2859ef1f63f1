# SPDX-License-Identifier: Apache-2.0
"""Conditional random fields: the losses and tags of TensorFlow 1.15, and all sequences counted."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

from .crf_tagger import results

RECORDED = json.loads(Path(__file__).with_name("crf_1_15.json").read_text())


@pytest.mark.cpu
@pytest.mark.slow
def test_losses_and_tags_are_those_of_tensorflow():
    found = results(tf, 50)
    np.testing.assert_allclose(found["losses"], RECORDED["losses"], atol=1e-3)
    np.testing.assert_allclose(found["scores"], RECORDED["scores"], atol=1e-3)
    assert found["tags"] == RECORDED["tags"]


@pytest.mark.programs
@pytest.mark.parametrize("length", [1, 2, 3])
def test_norm_and_best_sequence_are_those_of_all_sequences(length):
    random = np.random.RandomState(0)
    scores = random.uniform(-1, 1, [1, 3, 2]).astype(np.float32)
    moves = random.uniform(-1, 1, [2, 2]).astype(np.float32)
    every = {
        tags: sum(scores[0, t, tag] for t, tag in enumerate(tags))
        + sum(moves[a, b] for a, b in itertools.pairwise(tags))
        for tags in itertools.product(range(2), repeat=length)
    }
    with tf.Session() as session, settings.override(jit="never"):
        lengths = tf.constant([length])
        norm = tf.contrib.crf.crf_log_norm(tf.constant(scores), lengths, tf.constant(moves))
        tags, best = tf.contrib.crf.crf_decode(tf.constant(scores), tf.constant(moves), lengths)
        norm, tags, best = session.run([norm, tags, best])
    total = np.log(np.sum(np.exp(list(every.values()))))
    np.testing.assert_allclose(norm, [total], rtol=1e-5)
    np.testing.assert_allclose(best, [max(every.values())], rtol=1e-5)
    assert tuple(tags[0, :length]) == max(every, key=every.get)
