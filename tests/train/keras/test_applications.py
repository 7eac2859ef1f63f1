# SPDX-License-Identifier: Apache-2.0
"""`tf.keras.applications`: networks of the shapes and names that their weights' files have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine.types import nest

applications = tf.keras.applications
pytestmark = pytest.mark.cpu

# Name -> layers, weights and their elements, as TensorFlow 1.15 has them, and the last layer.
NETWORKS: dict[str, tuple[int, int, int, str]] = {}


@pytest.fixture(autouse=True)
def fresh() -> Any:
    """A graph and names of the test's own."""
    tf.keras.backend.clear_session()
    yield
    tf.keras.backend.clear_session()
