# SPDX-License-Identifier: Apache-2.0
"""Decoders, attention and beam search: the losses and sequences of TensorFlow 1.15."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

from .translation import MECHANISMS, Translator, begin, results

RECORDED = json.loads(Path(__file__).with_name("recorded.json").read_text())


@pytest.mark.cpu
@pytest.mark.slow
@pytest.mark.parametrize("kind", MECHANISMS)
def test_losses_and_beams_are_those_of_tensorflow(kind):
    found, wanted = results(tf, kind, 50), RECORDED[kind]
    assert found["variables"] == wanted["variables"]
    np.testing.assert_allclose(found["losses"], wanted["losses"], atol=1e-3)
    assert found["beams"] == wanted["beams"]


@pytest.mark.cpu
@pytest.mark.slow
@pytest.mark.parametrize("kind", MECHANISMS)
def test_a_step_is_one_plan_without_host_steps(kind):
    """Encoder, decoder, loss and gradients of any time: nothing waits for a size to be known."""
    with settings.override(jit="always"), tf.Graph().as_default(), tf.Session() as session:
        model = Translator(tf, kind)
        begin(tf, session)
        session.run([model.loss, model.train], model.feed(0))
        report = session.explain([model.loss, model.train], model.feed(1))
        assert not report.plans
        assert not [kernel for kernel in report.kernels if kernel.kind == "host"]


@pytest.mark.programs
def test_first_losses_are_those_of_tensorflow():
    with settings.override(jit="never"):
        found = results(tf, "luong", 2)
    np.testing.assert_allclose(found["losses"], RECORDED["luong"]["losses"][:2], atol=1e-5)


@pytest.mark.programs
def test_a_tree_is_followed_back_and_ends_at_its_end():
    ids = np.int32([[[1, 2]], [[3, 9]], [[4, 5]]])
    parents = np.int32([[[0, 0]], [[1, 0]], [[0, 1]]])
    with tf.Session() as session, settings.override(jit="never"):
        beams = tf.contrib.seq2seq.gather_tree(ids, parents, [3], 9)
        assert session.run(beams)[:, 0].tolist() == [[2, 1], [3, 9], [4, 9]]
        wrong = tf.contrib.seq2seq.gather_tree(ids, parents + 5, [3], 9)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Saw invalid parent id"):
            session.run(wrong)


@pytest.mark.pure
def test_what_is_no_decoder_or_mechanism_is_refused():
    with pytest.raises(TypeError, match="Expected decoder to be type Decoder"):
        tf.contrib.seq2seq.dynamic_decode("decoder")
    with pytest.raises(TypeError, match="attention_mechanism must be an AttentionMechanism"):
        tf.contrib.seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), "attention")
