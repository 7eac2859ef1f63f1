# SPDX-License-Identifier: Apache-2.0
"""Layers and recurrent cells against recordings of TensorFlow 1.15: graphs, names, values."""

from __future__ import annotations

import importlib.util
import json
import pathlib
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu

HERE = pathlib.Path(__file__).parent
RECORDED: dict[str, Any] = json.loads((HERE / "tensorflow_1_15.json").read_text())


def load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


programs = load("programs")


def test_every_program_is_recorded() -> None:
    assert set(RECORDED) == set(programs.PROGRAMS)


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_as_recorded(name: str) -> None:
    ours, theirs = programs.run(tf, programs.PROGRAMS[name]), RECORDED[name]
    assert ours["nodes"] == theirs["nodes"]
    assert ours["collections"] == theirs["collections"]
    for (shape, values), (wanted_shape, wanted) in zip(
        ours["values"], theirs["values"], strict=True
    ):
        assert list(shape) == wanted_shape
        np.testing.assert_allclose(values, wanted, rtol=2e-4, atol=2e-5)
