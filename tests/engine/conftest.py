# SPDX-License-Identifier: Apache-2.0
"""The engine's tests build their own graphs and run through the interpreter only."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.engine.graph import registry
from numbaflow.engine.session import interpreter


@pytest.fixture(autouse=True)
def _fresh_graph(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(interpreter, "verify", True)
    with settings.override(jit="never"), tf.Graph().as_default():
        yield


@pytest.fixture
def own_ops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ops that the test defines are gone after it; those of families that it loads are not."""
    list(registry.definitions())
    monkeypatch.setattr(registry, "_TABLE", dict(registry._TABLE))
