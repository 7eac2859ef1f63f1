# SPDX-License-Identifier: Apache-2.0
"""NaN, infinities, zeros and denormal numbers: what TensorFlow 1.15.5 makes of them.

Its results on the cases of special_values_worker.py lie beside this file.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf

WORKER = Path(__file__).with_name("special_values_worker.py")
RECORDED = json.loads(Path(__file__).with_name("special_values.json").read_text())
# Where the sign of a zero is that of any of several equal zeros.
UNSIGNED = ("reduce_", "segment_", "unsorted_")
# Where later versions of TensorFlow still do what 1.15 does.
LASTING = ("max_pool/", "max_pool_with_argmax/", "places/", "depth/", "unsorted_", "unique/")
PEERS = {"NUMBAFLOW_TF115_PYTHON": "tensorflow", "NUMBAFLOW_TF_PYTHON": "tensorflow.compat.v1"}

pytestmark = pytest.mark.cpu


@pytest.mark.parametrize("mode", ["never", "always"])
@pytest.mark.filterwarnings("ignore")
def test_special_values_are_those_of_tensorflow(mode: str, monkeypatch) -> None:
    monkeypatch.setenv("NUMBAFLOW_JIT", mode)
    spec = importlib.util.spec_from_file_location("special_values_worker", WORKER)
    worker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(worker)
    assert _differences(worker.compute(tf), tuple(RECORDED)) == []


def test_denormal_numbers_are_the_same_however_they_are_run(monkeypatch) -> None:
    tiny = np.float32([1e-40, 1e-45, 3e-39, 1.1754944e-38])
    found = {}
    for mode in ("never", "always"):
        monkeypatch.setenv("NUMBAFLOW_JIT", mode)
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.float32, [None])
            one = tf.ones_like(x)
            logarithms = [tf.log(x), tf.log1p(x), tf.math.xlogy(one, x), tf.math.xlogy(x, one + 1)]
            others = [tf.math.xdivy(x, one), tf.math.xdivy(x, x), tf.sqrt(x), x * one, x + x, -x]
            found[mode] = session.run([*logarithms, *others], {x: tiny})
    for reference, compiled in zip(*found.values(), strict=True):
        np.testing.assert_allclose(compiled, reference, rtol=1e-6, atol=0)
    # Numbers, but for those that have a logarithm: that takes them for zero, as TensorFlow does.
    assert found["always"][0].tolist() == [-np.inf] * 3 + [np.log(tiny[3])]
    np.testing.assert_array_equal(found["always"][-3], tiny)


@pytest.mark.parametrize("mode", ["never", "always"])
def test_the_area_cosine_of_less_than_one_is_no_number(mode: str, monkeypatch) -> None:
    monkeypatch.setenv("NUMBAFLOW_JIT", mode)
    for dtype in (tf.float32, tf.float64):
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(dtype, [None])
            assert np.isnan(session.run(tf.acosh(x), {x: [-3e38, -1.0, 0.5, np.nan]})).all()


@pytest.mark.parametrize("mode", ["never", "always"])
def test_images_of_infinities_fade_to_zero_outside(mode: str, monkeypatch) -> None:
    monkeypatch.setenv("NUMBAFLOW_JIT", mode)
    with tf.Graph().as_default(), tf.Session() as session:
        image, at = tf.placeholder(tf.float32, [1, 2, 2, 1]), tf.constant([[[0.5, -0.5], [3, 3]]])
        found = tf.contrib.resampler.resampler(image, at)
        slope = tf.gradients(found, at)[0]
        values = session.run([found, slope], {image: np.full((1, 2, 2, 1), np.inf)})
    # Above, what is outside counts for 0, not for no number.
    assert values[0].ravel().tolist() == [np.inf, 0]
    assert values[1][0, 0, 1] == np.inf and values[1][0, 1].tolist() == [0, 0]


@pytest.mark.tf
@pytest.mark.slow
@pytest.mark.parametrize("variable", PEERS)
def test_the_recorded_values_are_those_of_a_live_tensorflow(variable: str, tmp_path: Path) -> None:
    python = os.environ.get(variable)
    if not python:
        pytest.skip(f"{variable} names no Python that has TensorFlow")
    out = tmp_path / "out.json"
    command = [python, str(WORKER), PEERS[variable], str(out)]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    subprocess.run(command, check=True, env=environment, capture_output=True)
    kept = tuple(RECORDED) if variable == "NUMBAFLOW_TF115_PYTHON" else LASTING
    assert _differences(json.loads(out.read_text()), kept) == []


def _differences(values: dict[str, str], kept: tuple[str, ...]) -> list[str]:
    assert values.keys() == RECORDED.keys()
    return [
        f"{name}: {RECORDED[name]} expected, got {value}"
        for name, value in values.items()
        if name.startswith(kept) and _shown(name, value) != _shown(name, RECORDED[name])
    ]


def _shown(name: str, text: str) -> list[str]:
    numbers = text.split()
    return ["0" if n == "-0" and name.startswith(UNSIGNED) else n for n in numbers]
