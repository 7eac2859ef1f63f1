# SPDX-License-Identifier: Apache-2.0
"""What is kept between runs, against recordings of TensorFlow 1.15: nodes, values, errors."""

from __future__ import annotations

import importlib.util
import json
import pathlib
from types import SimpleNamespace
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.ops.lookup import vocabulary as lookup_index
from numbaflow.ops.queues import barrier, staging
from numbaflow.train.checkpoints import lookup_mutable

pytestmark = pytest.mark.cpu

HERE = pathlib.Path(__file__).parent
RECORDED: dict[str, Any] = json.loads((HERE / "kept_1_15.json").read_text())
LOOKUP = SimpleNamespace(**{**vars(lookup_index), **vars(lookup_mutable)})
DATA_FLOW = SimpleNamespace(**{**vars(barrier), **vars(staging)})


def load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


programs = load("kept_programs")
PROGRAMS = {
    **programs.PROGRAMS,
    **load("area_programs").PROGRAMS,
    **load("text_programs").PROGRAMS,
}


def agrees(mine: Any, theirs: Any) -> bool:
    """Whether a result is TensorFlow's; messages of errors may go on where TensorFlow's end."""
    if isinstance(theirs, list) and len(theirs) == 2 and str(theirs[0]).endswith("Error"):
        return mine[0] == theirs[0] and mine[1].startswith(theirs[1])
    return mine == theirs


def test_every_program_is_recorded() -> None:
    assert set(RECORDED) == set(PROGRAMS)


@pytest.mark.parametrize("jit", ["never", "auto", "always"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_as_recorded(name: str, jit: str, tmp_path: pathlib.Path) -> None:
    with settings.override(jit=jit):
        ours = programs.run(tf, PROGRAMS[name], str(tmp_path), LOOKUP, DATA_FLOW)
    ours = json.loads(json.dumps(ours))
    assert ours["nodes"] == RECORDED[name]["nodes"]
    for mine, theirs in zip(ours["found"], RECORDED[name]["found"], strict=True):
        assert agrees(mine, theirs)
