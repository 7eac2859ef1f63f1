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


def test_a_mean_of_calls_that_name_it_alike() -> None:
    layer = tf.layers.Dense(4)
    layer.add_metric(tf.constant([1.0, 3.0]), aggregation="mean", name="a")
    layer.add_metric(tf.constant([5.0, 7.0]), aggregation="mean", name="a")
    layer.add_metric(tf.constant([9.0]), aggregation="mean", name="b")
    assert [metric.name for metric in layer.metrics] == ["a", "b"]
    with tf.Session() as session:
        session.run([variable.initializer for m in layer.metrics for variable in m.variables])
        session.run([update for metric in layer.metrics for update in metric.updates])
        assert session.run([metric.result() for metric in layer.metrics]) == [4.0, 9.0]
