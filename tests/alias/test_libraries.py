# SPDX-License-Identifier: Apache-2.0
"""Libraries written for TensorFlow 1, as the package index has them, run by `numbaflow run`.

They are installed into pytest's cache; without a package index the tests are skipped.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.cpu, pytest.mark.slow]

PROGRAMS = Path(__file__).parent / "libraries"
# What each library is installed with; none needs TensorFlow's package, which nobody asks for then.
LIBRARIES = {
    "tf_slim": "tf-slim==1.1.0",
    "keras": "Keras==2.2.5 Keras-Applications==1.0.8 Keras-Preprocessing==1.1.0 h5py PyYAML",
    "hub": "tensorflow-hub==0.7.0",
    "bert": "bert-tensorflow==1.0.1",
    "probability": "tensorflow-probability==0.7.0 dm-sonnet==1.36 decorator cloudpickle six "
    "semantic_version contextlib2 wrapt",
}
# Test modules of tf-slim that take a few seconds together.
SLIM = (
    "tf_slim.ops.arg_scope_test tf_slim.ops.framework_ops_test tf_slim.layers.regularizers_test "
    "tf_slim.layers.initializers_test tf_slim.layers.utils_test tf_slim.layers.summaries_test "
    "tf_slim.data.prefetch_queue_test"
)


@pytest.fixture
def site(request: pytest.FixtureRequest) -> Path:
    """The folder that a library and what it needs is installed in."""
    name = request.param
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    folder: Path = request.config.cache.mkdir("libraries") / f"{name}-{version}"
    done = folder / "installed.txt"
    if not done.exists() or done.read_text() != LIBRARIES[name]:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade"]
        options = ["--disable-pip-version-check", "--retries", "1", "--timeout", "10"]
        target = ["--target", str(folder), *LIBRARIES[name].split()]
        try:
            ran = subprocess.run(
                [*command, *options, *target], capture_output=True, text=True, timeout=60
            )
            reason = "" if ran.returncode == 0 else ran.stderr.strip().splitlines()[-1]
        except subprocess.TimeoutExpired:
            reason = "it did not answer within a minute"
        if reason:
            pytest.skip(f"the package index is out of reach: {reason}")
        done.write_text(LIBRARIES[name])
    return folder


def run(site: Path, folder: Path, program: str, *arguments: str) -> str:
    """What a program prints that has a library."""
    code = (
        f"import sys; sys.path.append({str(site)!r}); sys.argv[:1] = []; "
        "from numbaflow.cli.launcher import run; run(sys.argv)"
    )
    command = [sys.executable, "-W", "ignore", "-c", code, str(PROGRAMS / program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("site", ["tf_slim"], indirect=True)
def test_tf_slim_passes_its_own_tests(site: Path, tmp_path: Path) -> None:
    found = json.loads(run(site, tmp_path, "own_tests.py", *SLIM.split()).splitlines()[-1])
    assert found["failed"] == [] and found["passed"] > 80


@pytest.mark.parametrize("site", ["keras"], indirect=True)
def test_keras_trains_saves_and_loads(site: Path, tmp_path: Path) -> None:
    recorded: dict[str, Any] = json.loads((PROGRAMS / "keras_1_15.json").read_text())
    lines = run(site, tmp_path, "keras_models.py", str(tmp_path)).splitlines()
    found = {name: json.loads(text) for name, _, text in (line.partition(" ") for line in lines)}
    assert list(found) == list(recorded)
    for name, expected in recorded.items():
        figures = found[name]
        assert figures["loaded"] and figures["weights"] == expected["weights"]
        # The same weights to begin with; steps of TensorFlow's read variables while they change.
        assert figures["before"] == pytest.approx(expected["before"], rel=1e-5)
        assert figures["loss"] == pytest.approx(expected["loss"], rel=0.03)
        assert figures["evaluated"][0] == pytest.approx(expected["evaluated"][0], rel=0.05)


@pytest.mark.parametrize("site", ["hub"], indirect=True)
def test_a_hub_module_is_used_from_its_folder(site: Path, tmp_path: Path) -> None:
    assert run(site, tmp_path, "hub_module.py", str(tmp_path)) == "['module/w'] [[6.0, 6.0]]\n"


@pytest.mark.parametrize("site", ["bert"], indirect=True)
def test_bert_learns(site: Path, tmp_path: Path) -> None:
    losses = json.loads(run(site, tmp_path, "bert_steps.py").splitlines()[-1])
    assert losses[0] == pytest.approx(0.270167351, rel=1e-5)  # That of TensorFlow 1.15.5.
    assert losses[2] < losses[1] < losses[0]


@pytest.mark.parametrize("site", ["probability"], indirect=True)
def test_sonnet_and_tensorflow_probability_learn(site: Path, tmp_path: Path) -> None:
    network, flow = json.loads(run(site, tmp_path, "probability_steps.py").splitlines()[-1])
    # Those of TensorFlow 1.15.5.
    assert network == pytest.approx([3.8782821, 3.4881540, 3.2131925, 3.0158608], rel=1e-5)
    assert flow == pytest.approx([4.3254976, 4.2900391, 4.2612057, 4.2371746], rel=1e-5)
