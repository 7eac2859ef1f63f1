# SPDX-License-Identifier: Apache-2.0
"""K-means makes the nodes and finds the clusters of TensorFlow 1.15.

recorded_1_15.json was made by ../recording.py of programs.py.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf

from ..recording import results
from .programs import PROGRAMS

RECORDED = json.loads(Path(__file__).with_name("recorded_1_15.json").read_text())


@pytest.mark.cpu
@pytest.mark.parametrize("name", PROGRAMS)
def test_clusters_are_those_of_tensorflow(name):
    found, wanted = results(tf, PROGRAMS[name]), RECORDED[name]
    assert sorted(found["nodes"]) == sorted(wanted["nodes"])
    for ours, theirs in zip(found["values"], wanted["values"], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)


@pytest.mark.pure
def test_unknown_choices_are_refused():
    with pytest.raises(ValueError, match="Unsupported initialization algorithm"):
        tf.contrib.factorization.KMeans(tf.zeros([2, 2]), 1, "nearest")
    with pytest.raises(ValueError, match="Unsupported distance metric"):
        tf.contrib.factorization.KMeansClustering(1, distance_metric="far")
