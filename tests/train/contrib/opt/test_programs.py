# SPDX-License-Identifier: Apache-2.0
"""Optimizers of tf.contrib.opt make TensorFlow 1.15's nodes, variables and numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

from .programs import CASES, DECAYING, OPTIMIZERS, run

RECORDED = json.loads(Path(__file__).with_name("recorded.json").read_text())

pytestmark = pytest.mark.programs


@pytest.mark.pure
def test_every_case_is_recorded() -> None:
    assert set(RECORDED) == set(CASES)


# Gradients may be taken before or after variables decay; TensorFlow does not say which.
SHARED = ("dense reference", "sparse reference", "sparse resource")
RACES = {f"{name} {kind}" for name in DECAYING for kind in SHARED}


@pytest.mark.parametrize("case", CASES)
def test_nodes_and_values_are_tensorflows(case: str) -> None:
    with settings.override(jit="never"):
        found, wanted = run(tf, case), RECORDED[case]
    assert found["variables"] == wanted["variables"]
    if not case.startswith("ggt"):
        assert found["nodes"] == wanted["nodes"]
    if case in RACES:
        return
    # Roots of matrices without full rank magnify what the last bits of a decomposition differ in.
    tolerance = 5e-3 if case.startswith(("shampoo", "ggt")) else 1e-5
    for ours, theirs in zip(found["values"], wanted["values"], strict=True):
        for our_value, their_value in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(our_value, their_value, rtol=tolerance, atol=tolerance / 5)


# Decompositions of matrices are the host's.
COMPILED = [name for name in OPTIMIZERS if not name.startswith(("shampoo", "ggt"))]


@pytest.mark.cpu
@pytest.mark.parametrize("loss", ["dense", "sparse"])
@pytest.mark.parametrize("name", COMPILED)
def test_a_step_is_compiled(name: str, loss: str) -> None:
    from .programs import _loss

    with settings.override(jit="always"), tf.Graph().as_default(), tf.Session() as session:
        value = _loss(tf, loss, resource=False)
        step = tf.train.get_or_create_global_step()
        train = OPTIMIZERS[name](tf).minimize(value, global_step=step)
        session.run(tf.global_variables_initializer())
        report = session.explain(train)
    assert all(kernel.kind != "host" for kernel in report.kernels)
