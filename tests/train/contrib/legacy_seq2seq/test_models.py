# SPDX-License-Identifier: Apache-2.0
"""Models over lists: the nodes, variables and losses of TensorFlow 1.15."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

from .models import CASES, results

RECORDED = json.loads(Path(__file__).with_name("recorded.json").read_text())

pytestmark = pytest.mark.programs


@pytest.mark.parametrize("case", CASES)
def test_nodes_and_losses_are_those_of_tensorflow(case: str) -> None:
    with settings.override(jit="never"):
        found, wanted = results(tf, case), RECORDED[case]
    assert found["variables"] == wanted["variables"]
    np.testing.assert_allclose(found["losses"], wanted["losses"], rtol=1e-5)
    assert found["nodes"] == wanted["nodes"]


@pytest.mark.cpu
def test_compiled_losses_are_those_of_tensorflow() -> None:
    found = results(tf, "embedding given")
    np.testing.assert_allclose(found["losses"], RECORDED["embedding given"]["losses"], rtol=1e-5)


@pytest.mark.pure
def test_lists_that_are_too_short_are_refused() -> None:
    s2s = tf.contrib.legacy_seq2seq
    short, long = [tf.zeros([2])], [tf.zeros([2])] * 3
    with pytest.raises(ValueError, match=r"Length of targets \(1\) must be at least .* \(3\)"):
        s2s.model_with_buckets(long, long, short, long, [(2, 3)], lambda x, y: (x, y))
    with pytest.raises(ValueError, match="must be the same 3, 1, 3"):
        s2s.sequence_loss_by_example(long, long, short)
    with pytest.raises(ValueError, match="at least 1 input"):
        s2s.attention_decoder([], None, tf.zeros([2, 3, 4]), tf.nn.rnn_cell.GRUCell(4))
    with pytest.raises(TypeError, match="enc_cell is not an RNNCell"):
        s2s.one2many_rnn_seq2seq(long, {}, "cell", {}, 3, {}, 4)
