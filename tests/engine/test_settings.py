# SPDX-License-Identifier: Apache-2.0
"""The table of settings: defaults, environment, overrides; nothing is read beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from numbaflow.engine import settings

from ..sources import name_of, package_files, text

pytestmark = pytest.mark.pure


@pytest.fixture(autouse=True)
def _no_overrides() -> Iterator[None]:
    """Other tests of the engine run with some."""
    token = settings._OVERRIDES.set({})
    yield
    settings._OVERRIDES.reset(token)


def test_the_environment_is_read_and_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBAFLOW_JIT", "never")
    monkeypatch.setenv("NUMBAFLOW_DEBUG", "ir, source")
    assert settings.get("jit") == "never"
    assert settings.get("debug") == {"ir", "source"}
    monkeypatch.setenv("NUMBAFLOW_JIT", "sometimes")
    with pytest.raises(ValueError, match="it must be auto, always or never"):
        settings.get("jit")


def test_overrides_nest_and_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBAFLOW_THREADS", raising=False)
    with settings.override(threads=3, jit="always"):
        with settings.override(threads="1"):
            assert settings.get("threads") == 1 and settings.get("jit") == "always"
        assert settings.get("threads") == 3
    assert settings.get("threads") == 0


def test_the_cache_follows_xdg(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NUMBAFLOW_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with settings.override(cache=""):
        assert settings.get("cache") == tmp_path / "numbaflow"


def test_a_user_without_a_home_has_a_cache_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless(self: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", homeless)
    with settings.override(cache=""):
        assert settings.get("cache").name.startswith("numbaflow-")


def test_there_are_few_settings() -> None:
    assert len(settings.TABLE) <= 12
    assert all(
        setting.variable == f"NUMBAFLOW_{setting.name.upper()}" for setting in settings.TABLE
    )


# What others read of the environment, which is theirs: the variables of TensorFlow, Numba, Python.
READERS = {"engine/settings.py", "jit/isolated.py", "jit/threads.py"}
READERS |= {"jit/runtime/warming.py", "ops/state/variable_collections.py"}
READERS |= {"train/estimator/run_config.py", "train/estimator/training.py"}
# What TensorFlow's clusters, layers and examples are told by their surroundings.
READERS |= {"train/contrib/learn/estimators/run_config.py", "train/contrib/tpu/tpu_config.py"}
READERS |= {"train/distributed/cluster_resolver.py", "train/contrib/cudnn_rnn/cudnn_rnn_ops.py"}
READERS |= {"train/distributed/slurm_resolver.py"}
READERS |= {"train/contrib/learn/datasets/text_datasets.py"}
# What TensorFlow's logs, and those of a module that came with it, are told.
READERS |= {"ops/checks/logging.py", "alias/restore/old_termcolor.py"}
# Where Keras keeps what it downloads, how wide a terminal is, and which benchmarks are wanted.
READERS |= {"train/keras/utils/files.py", "train/keras/utils/progress.py"}
READERS |= {"engine/interface/benchmark.py"}
# Whether TensorFlow's second version was asked for.
READERS |= {"alias/helpers.py"}
# What hands its surroundings on to the tasks that it starts.
READERS |= {"train/cluster/launch.py"}


def test_no_variable_of_ours_is_read_outside_of_the_table() -> None:
    reading = re.compile(r"\b(?:environb?|getenvb?)\b")
    readers = {
        name_of(file): [line for line in text(file).splitlines() if reading.search(line)]
        for file in package_files()
        if reading.search(text(file))
    }
    assert set(readers) == READERS
    del readers["engine/settings.py"]
    assert not [line for lines in readers.values() for line in lines if "NUMBAFLOW" in line.upper()]
