# SPDX-License-Identifier: Apache-2.0
"""Plans of the cache on the command line: listed, verified, pruned and cleared beside kernels."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from numbaflow.alias.restore import compiled
from numbaflow.cli.main import application
from numbaflow.engine import settings
from numbaflow.jit.cache.plan_files import PLANS
from numbaflow.jit.cache.program_files import PROGRAMS
from numbaflow.jit.runtime import plan_encoding, plan_key

pytestmark = pytest.mark.pure

ABOUT = {"operations": 12, "fetches": ["loss:0"], "line": "train.py:41"}
TABLES = {"about": ABOUT, "kernels": [["row", "0"], ["map", "1"]]}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path) -> Iterator[None]:
    """A plan of this version, and one of another that was used two hours ago."""
    with settings.override(cache=tmp_path / "kernels"):
        body = plan_encoding.to_bytes(plan_encoding.Stored(TABLES, [np.arange(3)]))
        now = "".join(f"{name}: {value}\n" for name, value in plan_key.version_labels())
        PLANS.save({f"{now}graph: 1\n": body})
        PLANS.save({"package: other\ngraph: 2\n": body})
        for item in PLANS.items():
            labels, _ = PLANS.read(item)
            if labels["package"] == "other":
                os.utime(item.place, (time.time() - 7200,) * 2)
        yield


def run(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(application(), ["cache", *arguments])
    assert done.exit_code == code, done.output
    return done.output


def read(*arguments: str, code: int = 0) -> Any:
    return json.loads(run(*arguments, "--json", code=code))


def test_plans_are_listed_with_what_they_are_of() -> None:
    first, second = read("plans")
    assert first["operations"] == 12 and first["kernels"] == 2 and first["line"] == "train.py:41"
    assert first["last_used"] > second["last_used"] and first["problem"] == ""
    assert "train.py:41" in run("plans") and first["key"][:12] in run("plans")
    assert read("stats")["plans"] == 2 and read("list") == []


def test_damaged_plans_are_named_and_removed() -> None:
    item = PLANS.items()[0]
    item.place.write_bytes(item.place.read_bytes()[:-1])
    assert read("plans")[0]["problem"] == "damaged: its checksum does not match"
    (problem,) = read("verify", code=1)["problems"]
    assert problem["key"] == item.key and "plan" in problem["reason"]
    assert read("verify", "--fix")["removed"] == [item.key]
    assert read("verify")["plans"] == 1


@pytest.mark.parametrize("option", ["--outdated", "--older-than=1h"])
def test_pruning_removes_plans_too(option: str) -> None:
    old = PLANS.items()[1]
    assert read("prune", option, "--dry-run")["plans"] == [old.key]
    assert len(PLANS.items()) == 2
    assert read("prune", option)["plans"] == [old.key]
    assert len(PLANS.items()) == 1


def test_plans_have_the_room_that_is_given() -> None:
    new, old = PLANS.items()
    assert read("prune", f"--max-size={new.bytes}")["plans"] == [old.key]
    assert "1 plan" in run("prune", "--max-size=0")
    assert PLANS.items() == []


def test_clearing_removes_plans_too() -> None:
    assert "2 plans" in run("clear")
    assert PLANS.items() == [] and "no plans" in run("plans")


def test_a_plan_under_the_key_of_another_is_damaged() -> None:
    new, old = PLANS.items()
    new.place.write_bytes(old.place.read_bytes())
    assert PLANS.fault(new) == "it belongs to another key"


def test_a_folder_that_others_may_write_to_is_not_read() -> None:
    text = "package: other\ngraph: 2\n"
    assert PLANS.load(text) is not None
    PLANS.path().chmod(0o777)
    with pytest.warns(RuntimeWarning, match="can be written by others"):
        assert PLANS.load(text) is None


def test_compiled_programs_are_looked_after_like_plans() -> None:
    now = "".join(f"{name}: {value}\n" for name, value in compiled.labels_of_all().items())
    PROGRAMS.save({f"{now}file: a.py\n": b"1", "python: 2\nfile: b.py\n": b"2"})
    assert read("stats")["programs"] == read("verify")["programs"] == 2
    (gone,) = read("prune", "--outdated")["programs"]
    (item,) = PROGRAMS.items()
    assert gone != item.key and "1 program" in run("verify")
    item.place.write_bytes(b"nothing")
    (problem,) = read("verify", code=1)["problems"]
    assert problem == {"key": item.key, "reason": "program: it is no program"}
    PROGRAMS.save({f"{now}file: a.py\n": b"1"})
    assert "1 program" in run("prune", "--max-size=0") and PROGRAMS.items() == []
    PROGRAMS.save({f"{now}file: a.py\n": b"1"})
    assert read("clear")["programs"] == 1 and PROGRAMS.items() == []
