# SPDX-License-Identifier: Apache-2.0
"""SavedModels of objects between implementations: what one writes, the other loads and runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import numbaflow as tf

from ...workers import answer, loaded, peers

WORKER = Path(__file__).with_name("object_models.py")


models = loaded(WORKER)


@pytest.fixture(autouse=True)
def _session() -> Iterator[None]:
    with tf.Graph().as_default(), tf.Session():
        yield


def run_peer(peer: str, action: str, folder: Path) -> str:
    """What the worker prints under TensorFlow."""
    return answer(peer, WORKER, action, "tensorflow", folder)


@pytest.mark.cpu
def test_what_is_written_here_is_read_here(tmp_path: Path) -> None:
    models.write(tf, str(tmp_path))
    with tf.Graph().as_default(), tf.Session():
        assert not models.read(tf, str(tmp_path))


@pytest.mark.tf
@peers
def test_tensorflow_reads_what_is_written_here(peer: str, tmp_path: Path) -> None:
    models.write(tf, str(tmp_path))
    assert not run_peer(peer, "read", tmp_path).strip()


@pytest.mark.tf
@peers
def test_what_tensorflow_writes_is_read_here(peer: str, tmp_path: Path) -> None:
    run_peer(peer, "write", tmp_path)
    assert not models.read(tf, str(tmp_path))
