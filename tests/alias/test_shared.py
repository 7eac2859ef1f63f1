# SPDX-License-Identifier: Apache-2.0
"""Classes that the package tensorflow-estimator has in common with `tf.estimator`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

# As the package defines its own and asks for them.
_MODULES = {
    "run_config": "class RunConfig: pass\nclass TaskType: WORKER = 'worker'\nother = 3\n",
    "estimator": """
from tensorflow_estimator.python.estimator import run_config

def check(config):
    return isinstance(config, run_config.RunConfig)
""",
}
_PROGRAM = """
import sys
import numbaflow
from numbaflow.alias.finder import install
install()
sys.path.insert(0, sys.argv[1])
import tensorflow as tf
from tensorflow_estimator.python.estimator import estimator, run_config
assert estimator.check(tf.estimator.RunConfig())
assert run_config.TaskType.EVALUATOR == "evaluator" and run_config.other == 3
from tensorflow.python.distribute import estimator_training
assert not estimator_training.should_run_distribute_coordinator(tf.estimator.RunConfig())
"""


def test_settings_of_one_are_settings_of_the_other(tmp_path: Path) -> None:
    folder = tmp_path
    for part in ("tensorflow_estimator", "python", "estimator"):
        folder = folder / part
        folder.mkdir()
        (folder / "__init__.py").touch()
    for name, text in _MODULES.items():
        (folder / f"{name}.py").write_text(text)
    command = [sys.executable, "-c", _PROGRAM, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
