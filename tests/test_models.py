# SPDX-License-Identifier: Apache-2.0
"""The models of the benchmarks give what TensorFlow gives, and their tables say what was measured.

Nothing here depends on how fast anything is.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
STEPS = 2
TENSORFLOWS = {
    "tensorflow": "NUMBAFLOW_TF_PYTHON",
    "tensorflow_1_15": "NUMBAFLOW_TF115_PYTHON",
}
JAX = "NUMBAFLOW_JAX_PYTHON"
# Models that draw random numbers, which JAX draws otherwise.
RANDOM = ("transformer_encoder", "vae", "gcn")
_IMAGES = {"batch": 2, "pixels": 16, "channels": 2}
_TEXTS = {"batch": 2, "length": 6, "units": 8, "layers": 2, "heads": 2, "vocabulary": 20}
# Sizes that compile what the real ones do, in no time.
SIZES: dict[str, dict[str, Any]] = {
    "lenet": {**_IMAGES, "units": 4},
    "vgg": {**_IMAGES, "stages": [2, 1]},
    "resnet50": {**_IMAGES, "blocks": [1, 2], "classes": 5},
    "mobilenet": {**_IMAGES, "blocks": [[2, 1], [2, 2]], "classes": 5},
    "unet": {**_IMAGES, "levels": 3},
    "dcgan": {**_IMAGES, "batch": 4, "noise": 3},
    "transformer_encoder": {**_TEXTS, "masked": 2},
    "gpt": _TEXTS,
    "lstm_classifier": {"batch": 3, "steps": 5, "inputs": 4, "units": 6},
    "bidirectional_gru": {"batch": 3, "steps": 6, "units": 4, "vocabulary": 20, "embedding": 3},
    "char_rnn": {"batch": 3, "steps": 5, "units": 4, "letters": 7},
    "seq2seq": {"batch": 3, "read": 5, "written": 4, "units": 6, "vocabulary": 20},
    "wavenet": {
        "batch": 2,
        "samples": 24,
        "channels": 3,
        "skipped": 5,
        "cycles": 1,
        "dilations": [1, 2, 4],
        "levels": 9,
    },
    "word2vec": {"batch": 4, "vocabulary": 50, "units": 5, "sampled": 6},
    "factorization_machine": {"batch": 4, "features": 50, "units": 3, "fields": 4},
    "matrix_factorization": {"batch": 6, "users": 9, "items": 7, "units": 3},
    "sparse_linear": {"batch": 4, "features": 30, "most": 5},
    "vae": {"batch": 3, "inputs": 12, "units": 7, "codes": 2},
    "dqn_acting": {"pixels": 36, "actions": 3, "units": 5},
    "dqn_learning": {"batch": 2, "pixels": 36, "actions": 3, "units": 5},
    "gcn": {"nodes": 12, "features": 9, "units": 4, "classes": 3, "links": 3, "words": 4},
}


@pytest.fixture(scope="module")
def in_path() -> Any:
    """The benchmarks are no part of the package."""
    sys.path.insert(0, str(ROOT))
    yield
    sys.path.remove(str(ROOT))


@cache
def folder() -> str:
    """Where the models' variables lie as they begin."""
    return tempfile.mkdtemp()


@cache
def losses(peer: str) -> dict[str, Any]:
    """What the first steps of each model give in a peer, or the error: a process for all."""
    variable = {**TENSORFLOWS, "jax": JAX}
    python = sys.executable if peer == "numbaflow" else os.environ[variable[peer]]
    commands = []
    for name, sizes in SIZES.items():
        command = {"do": "losses", "model": name, "sizes": sizes, "steps": STEPS}
        if peer in ("numbaflow", "jax"):
            command["first"] = f"{folder()}/{name}.npz"
        commands.append(json.dumps(command))
    done = subprocess.run(
        [python, "-m", "benchmarks.models.worker", peer, "2"],
        input="\n".join(commands) + "\n",
        cwd=ROOT,
        env=dict(
            os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", JAX_PLATFORMS="cpu"
        ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(zip(SIZES, map(json.loads, done.stdout.splitlines())))


@pytest.mark.pure
def test_every_model_is_tested(in_path: None) -> None:
    from benchmarks.models.catalog import MODELS

    assert set(MODELS) == set(SIZES)


@pytest.mark.cpu
@pytest.mark.slow
@pytest.mark.parametrize("name", SIZES)
def test_steps_change_what_a_model_gives(name: str) -> None:
    found = losses("numbaflow")[name]
    assert "error" not in found, found["error"]
    first, second = found["losses"]
    assert np.isfinite(np.array(first)).all() and np.isfinite(np.array(second)).all()
    assert first != second


@pytest.mark.tf
@pytest.mark.slow
@pytest.mark.parametrize("peer", TENSORFLOWS)
@pytest.mark.parametrize("name", SIZES)
def test_losses_equal_those_of_tensorflow(name: str, peer: str) -> None:
    if not os.environ.get(TENSORFLOWS[peer]):
        pytest.skip(f"{TENSORFLOWS[peer]} names no Python that has TensorFlow")
    ours, theirs = losses("numbaflow")[name], losses(peer)[name]
    assert "error" not in theirs, theirs["error"]
    np.testing.assert_allclose(ours["losses"], theirs["losses"], rtol=1e-5, atol=1e-6)


@pytest.mark.tf
@pytest.mark.slow
@pytest.mark.parametrize("name", SIZES)
def test_losses_equal_those_of_jax(name: str) -> None:
    if not os.environ.get(JAX):
        pytest.skip(f"{JAX} names no Python that has JAX")
    ours, theirs = losses("numbaflow")[name], losses("jax")[name]
    if "KeyError" in theirs.get("error", ""):
        pytest.skip("it has no natural form in JAX")
    assert "error" not in theirs, theirs["error"]
    rtol = 0.8 if name in RANDOM else 1e-4
    np.testing.assert_allclose(ours["losses"], theirs["losses"], rtol=rtol, atol=1e-6)


def row(**found: Any) -> dict[str, Any]:
    """A made-up row of a model with one other peer."""
    values = {"numbaflow": [0.02, 0.01], "tensorflow": [0.03, 0.05]}
    busy = {"numbaflow": [0.02, 0.02], "tensorflow": [0.04, 0.05]}
    made: dict[str, Any] = {"name": "lenet", "values": values, "processor": busy, "errors": {}}
    made |= {"first": {"numbaflow": 2.0}, "five": {"numbaflow": 3.0}}
    made |= {"compiled": {"numbaflow": 7}, "fresh_first": {"numbaflow": 0.5, "tensorflow": 0.25}}
    made |= {"fresh_peak": {"numbaflow": 150e6}, "fresh_baseline": {"numbaflow": 50e6}}
    return made | found


def result(*rows: dict[str, Any]) -> dict[str, Any]:
    """A made-up result."""
    return {
        "date": "2030-01-02T03:04:05+00:00",
        "machine": {"cpu": "some CPU", "threads": 2, "cores": 2, "load": 3.5},
        "settings": {"first_steps": True},
        "peers": {"numbaflow": "1", "tensorflow": "2"},
        "rows": list(rows),
    }


@pytest.mark.pure
def test_tables_tell_best_turns_and_their_mean_ratio(in_path: None) -> None:
    from benchmarks.models import tables

    slower = row(name="vae", values={"numbaflow": [0.04], "tensorflow": [0.03]})
    measured = result(row(), slower)
    assert tables.mean_ratio(measured, "tensorflow") == pytest.approx((3 * 0.75) ** 0.5)
    first, second, mean = tables.steps(measured).splitlines()[2:]
    assert first.endswith("| 10 ms | 30 ms | 3.00 | 2.00 |") and second.endswith("| 0.75 | 2.00 |")
    assert mean == "| geometric mean |  |  | 1.50 | 2.00 |"
    assert tables.memory(measured).splitlines()[2].endswith("| 150 |  | 100 |  |")
    assert (
        tables.first_steps(measured).splitlines()[2].endswith("| 2 s / 3 s | 7 | 500 ms | 250 ms |")
    )
    assert tables.brief(measured).startswith(
        "Steps of 2 whole models are 0.75 to 3.00 times as fast as TensorFlow 2's (geometric mean "
        "1.50); first steps with an empty cache take 2 s to 2 s; first steps in a second process "
        "take 500 ms to 500 ms ("
    )
    assert tables.page(measured).startswith("2030-01-02, some CPU, 2 threads, load 3.5 of 2; numba")


@pytest.mark.pure
def test_a_model_that_fails_is_told(in_path: None) -> None:
    from benchmarks.models import tables

    text = tables.page(result(row(values={"numbaflow": [1.0]}, errors={"tensorflow": "it fell"})))
    assert "| 1 s | fails |  |" in text and "fails in TensorFlow 2: it fell" in text


@pytest.mark.cpu
@pytest.mark.slow
def test_a_run_keeps_what_it_measures(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "benchmarks.models", "vae", "--first-steps", "--rounds", "2"),
            *("--seconds", "0.01", "--sizes", json.dumps(SIZES["vae"]), "--against", "tensorflow"),
            *("--results", str(tmp_path)),
        ],
        cwd=ROOT,
        env={k: v for k, v in os.environ.items() if k not in TENSORFLOWS.values()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "no Python for TensorFlow 2" in done.stderr
    (kept,) = tmp_path.glob("*.json")
    (found,) = json.loads(kept.read_text())["rows"]
    assert len(found["values"]["numbaflow"]) == 2 and found["fresh_peak"]["numbaflow"] > 0
    # The first process compiles all, the next one finds it.
    assert found["compiled"]["numbaflow"] > 0 and found["fresh_compiled"]["numbaflow"] == 0
