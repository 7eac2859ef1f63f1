# SPDX-License-Identifier: Apache-2.0
"""The same networks, trained from the same seeds here and in a real TensorFlow, stay together."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PROGRAM = Path(__file__).parent / "training.py"
TENSORFLOW = os.environ.get("NUMBAFLOW_TF_PYTHON")

pytestmark = [
    pytest.mark.tf,
    pytest.mark.slow,
    pytest.mark.skipif(
        not TENSORFLOW, reason="NUMBAFLOW_TF_PYTHON names no Python that has TensorFlow"
    ),
]


def run(python: str, module: str, out: Path) -> dict[str, np.ndarray]:
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1")
    command = [python, str(PROGRAM), module, str(out)]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    with np.load(out) as arrays:
        return dict(arrays)


@pytest.fixture(scope="module")
def results(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    assert TENSORFLOW is not None
    folder = tmp_path_factory.mktemp("parity")
    ours = run(sys.executable, "numbaflow", folder / "ours.npz")
    theirs = run(TENSORFLOW, "tensorflow.compat.v1", folder / "theirs.npz")
    assert set(ours) == set(theirs)
    return ours, theirs


def test_uniform_weights_are_equal_bit_for_bit(results: tuple) -> None:
    ours, theirs = results
    for name in ("mlp/hidden/w", "mlp/logits/w"):
        assert ours[name].dtype == theirs[name].dtype
        np.testing.assert_array_equal(ours[name], theirs[name])


def test_normal_weights_are_equal_bit_for_bit(results: tuple) -> None:
    ours, theirs = results
    for name in ("cnn/conv0/k", "cnn/conv1/k", "cnn/logits/w"):
        np.testing.assert_array_equal(ours[name], theirs[name])


@pytest.mark.parametrize("network", ["mlp", "cnn"])
def test_losses_stay_together_through_dropout(results: tuple, network: str) -> None:
    ours, theirs = (result[f"{network}/losses"] for result in results)
    assert ours[-10:].mean() < 0.7 * ours[:10].mean()
    np.testing.assert_allclose(ours, theirs, rtol=1e-4)
