# SPDX-License-Identifier: Apache-2.0
"""tf.quantization makes the nodes of TensorFlow 1.15, and gives what it gives.

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
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
    assert found["nodes"] == wanted["nodes"]


@pytest.mark.cpu
@pytest.mark.parametrize("name", ["fake", "round trips"])
def test_compiled_programs_give_the_same(name):
    with settings.override(jit="always"):
        found = results(tf, PROGRAMS[name])
    for ours, theirs in zip(found["values"], RECORDED[name]["values"], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.programs
@pytest.mark.parametrize(
    "make, error",
    [
        (lambda x: tf.fake_quant_with_min_max_args(x, num_bits=1), "between 2 and 16"),
        (lambda x: tf.fake_quant_with_min_max_args(x, min=1.0, max=1.0), "min has to be smaller"),
        (
            lambda x: tf.quantization.quantize_and_dequantize(x, 2.0, 1.0, range_given=True),
            "Invalid range",
        ),
        (lambda x: tf.quantization.quantize_and_dequantize(x, 0.0, 1.0, num_bits=70), "num_bits"),
        (lambda x: tf.quantization.quantize(x, 2.0, 1.0, tf.quint8)[0], "must be larger"),
        (
            lambda x: tf.quantization.quantize(x, 0.0, 1.0, tf.quint8, round_mode="HALF_TO_EVEN")[
                0
            ],
            "only supported for mode 'SCALED'",
        ),
    ],
)
def test_what_does_not_fit_is_refused(make, error):
    x = tf.placeholder(tf.float32, [2])
    with tf.Session() as session, settings.override(jit="never"):
        with pytest.raises(tf.errors.InvalidArgumentError, match=error):
            session.run(make(x), {x: [0.0, 1.0]})
