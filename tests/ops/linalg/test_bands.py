# SPDX-License-Identifier: Apache-2.0
"""Tridiagonal systems, windows of volumes, convolutions with holes: as TensorFlow 1.15 has them.

bands_1_15.json was made by tests/train/contrib/recording.py of band_programs.py.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

from ...train.contrib.recording import results
from .band_programs import PROGRAMS

RECORDED = json.loads(Path(__file__).with_name("bands_1_15.json").read_text())
# Gradients are the same numbers by fewer nodes.
NODES = ("solved", "multiplied", "holes")


@pytest.mark.cpu
@pytest.mark.parametrize("jit", ["never", "always"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_nodes_are_those_of_tensorflow(name, jit):
    with settings.override(jit=jit):
        found = results(tf, PROGRAMS[name])
    for ours, theirs in zip(found["values"], RECORDED[name]["values"], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8)
    if name in NODES:
        assert found["nodes"] == RECORDED[name]["nodes"]


@pytest.mark.programs
@pytest.mark.parametrize(
    "size, pivoting, message",
    [
        (4, True, "The matrix is not invertible."),
        (1, True, "it is a scalar with value zero"),
        (4, False, "requires pivoting"),
    ],
)
def test_a_singular_system_is_refused(size, pivoting, message):
    never = settings.override(jit="never")
    with never, tf.Graph().as_default(), tf.Session() as session:
        x = tf.linalg.tridiagonal_solve(
            np.zeros([3, size]), np.ones([size, 2]), partial_pivoting=pivoting
        )
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(x)
