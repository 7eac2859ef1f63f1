# SPDX-License-Identifier: Apache-2.0
"""Meta graphs with branches and loops train further here as in TensorFlow, whoever wrote them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf

from ..workers import loaded

WORKER = Path(__file__).with_name("further.py")
PEERS = {"NUMBAFLOW_TF115_PYTHON": "tensorflow", "NUMBAFLOW_TF_PYTHON": "tensorflow.compat.v1"}


further = loaded(WORKER)


def run_peer(peer: str, action: str, folder: Path) -> list[list[float]]:
    python = os.environ.get(peer)
    if not python:
        pytest.skip(f"{peer} names no Python that has TensorFlow")
    done = subprocess.run(
        [python, str(WORKER), action, PEERS[peer], str(folder)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    lines = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("LOSSES")]
    return [[float(text) for text in line] for line in lines]


def ours(folder: Path) -> list[list[float]]:
    return [further.train_model(tf, model, str(folder)) for model in further.MODELS]


@pytest.mark.cpu
def test_what_is_written_here_trains_further_here(tmp_path: Path) -> None:
    for model in further.MODELS:
        further.write_model(tf, model, str(tmp_path))
    for losses in ours(tmp_path):
        assert losses == sorted(losses, reverse=True)
        assert losses[-1] < losses[0]


@pytest.mark.tf
@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("writer", ["here", "there"])
def test_the_losses_are_tensorflows(writer: str, peer: str, tmp_path: Path) -> None:
    if writer == "there":
        run_peer(peer, "write", tmp_path)
    else:
        for model in further.MODELS:
            further.write_model(tf, model, str(tmp_path))
    np.testing.assert_allclose(ours(tmp_path), run_peer(peer, "train", tmp_path), rtol=2e-5)
