# SPDX-License-Identifier: Apache-2.0
"""Frozen graphs of TensorFlow 1.15: networks of many kinds give its outputs here."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

from ..workers import loaded

WORKER = Path(__file__).with_name("frozen.py")
TENSORFLOW = os.environ.get("NUMBAFLOW_TF115_PYTHON")


frozen = loaded(WORKER)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: Any) -> Path:
    if not TENSORFLOW:
        pytest.skip("NUMBAFLOW_TF115_PYTHON names no Python that has TensorFlow 1.15")
    path = tmp_path_factory.mktemp("frozen")
    subprocess.run([TENSORFLOW, str(WORKER), str(path)], check=True, capture_output=True)
    return path


@pytest.mark.tf
@pytest.mark.parametrize("network", frozen.NETWORKS, ids=lambda network: network.__name__)
def test_a_frozen_network_runs(network: Any, folder: Path) -> None:
    message = tf.GraphDef.FromString((folder / f"{network.__name__}.pb").read_bytes())
    with np.load(folder / f"{network.__name__}.npz") as file:
        arrays = {
            key: value.astype(object) if value.dtype.kind == "S" else value
            for key, value in file.items()
        }
    feeds = {key[3:]: value for key, value in arrays.items() if key.startswith("in ")}
    outputs = {key[4:]: value for key, value in arrays.items() if key.startswith("out ")}
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.import_graph_def(message, name="")
        assert {op.name for op in graph.get_operations()} == {node.name for node in message.node}
        # The first run is interpreted, the second one compiled.
        for _ in range(2):
            for name, found in session.run({name: name for name in outputs}, feeds).items():
                np.testing.assert_allclose(found, outputs[name], rtol=2e-5, atol=1e-5, err_msg=name)
