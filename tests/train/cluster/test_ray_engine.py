# SPDX-License-Identifier: Apache-2.0
"""Tasks that Ray places: the same as local ones, where Ray is installed."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from numbaflow.train.cluster import launch, ray_engine

pytestmark = [pytest.mark.process, pytest.mark.cpu]

PROGRAM = """
import json, os, sys, time
config = json.loads(os.environ["TF_CONFIG"])
print("is", config["task"]["type"], sys.argv[1:2], flush=True)
time.sleep(60 if config["task"]["type"] == "ps" else 1)
"""
FAILS = "import os; os._exit(3)"


def test_without_ray_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"pip install 'numbaflow\[distributed\]'"):
        ray_engine.RayEngine()


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed")
def test_ray_places_tasks(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    lines: list[str] = []
    for text, code in ((PROGRAM, 0), (FAILS, 3)):
        program.write_text(text)
        engine = ray_engine.RayEngine()
        done = launch.launch(
            engine, launch.tasks_of(1, 2), [str(program), "x"], False, 0, 2.0, lines.append
        )
        assert done == code
    assert "[worker 1] is worker ['x']" in lines
    assert "[ps 0] is ps ['x']" in lines
