# SPDX-License-Identifier: Apache-2.0
"""`numbaflow cache warm` and `cache export-library`: what they make, what they print."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from numbaflow.cli import everyday
from numbaflow.cli.main import application
from numbaflow.engine import settings
from numbaflow.jit import target
from numbaflow.jit.cache import admin, object_file, shipped, store
from numbaflow.jit.codegen import instructions
from numbaflow.jit.library import closed_set
from numbaflow.jit.runtime import thread_pool, warming

pytestmark = pytest.mark.cpu


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache; of the library only what walks plans, and no everyday programs."""
    monkeypatch.setattr(closed_set, "kernels", lambda dtypes=(): iter(()))
    monkeypatch.setattr(instructions, "closed", lambda dtypes=(): iter(()))
    monkeypatch.setattr(everyday, "kernels", list)
    with settings.override(cache=tmp_path / "kernels"):
        yield store.folder()


def run(*arguments: str, code: int = 0) -> Any:
    done = CliRunner().invoke(application(), ["cache", *arguments])
    assert done.exit_code == code, (done.output, done.exception)
    return done


def count() -> int:
    return len(list(thread_pool.closed()))


def test_warm_compiles_once_and_says_what(folder: Path) -> None:
    done = run("warm", "--jobs", "2")
    assert f"{count()} kernels compiled in" in done.stdout and "0 known" in done.stdout
    lines = done.stderr.splitlines()
    assert len(lines) == count() and all(" ms" in line for line in lines)
    assert {line.split(",")[0] for line in lines} == {k.name for k in thread_pool.closed()}
    again = run("warm")
    assert f"0 kernels compiled in 0.0 s, 0 B; {count()} known" in again.stdout
    assert not again.stderr
    assert admin.verify() == (count(), [])
    # The background has nothing left to do.
    assert warming.is_done()
    store.remove(store.entries()[0])
    (found,) = json.loads(run("warm", "--json").stdout)
    assert (found["compiled"], found["known"]) == (1, count() - 1) and found["bytes"] > 1000


def test_warm_for_other_processors(folder: Path) -> None:
    native = target.native().machine
    other = "aarch64" if native != "aarch64" else "generic"
    assert run("warm", "-q", "--target", other).output == ""
    items = admin.items()
    assert len(items) == count()
    assert {item.labels["triple"].split("-")[0] for item in items} == {"aarch64"}
    assert admin.verify() == (count(), [])
    assert not warming.is_done()  # which is this processor's


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["warm", "--target", "no-such-cpu"], "no-such-cpu"),
        (["warm", "--dtype", "float8"], "float32, float64"),
        (["export-library", "x", "--target", "no-such-cpu"], "no level of processors"),
        (["warm", "--jobs", "-1"], "--jobs"),
    ],
)
def test_wrong_usage(folder: Path, arguments: list[str], message: str) -> None:
    assert message in run(*arguments, code=2).output


def test_a_cache_that_cannot_be_written_is_an_error(tmp_path: Path, folder: Path) -> None:
    folder.write_text("in the way")
    assert "kernels" in run("warm", code=1).output


def test_export_writes_a_file_for_each_level(folder: Path, tmp_path: Path) -> None:
    objects = tmp_path / "objects"
    levels = [name for name, _ in target.levels(target.native())][:1] + ["aarch64"]
    chosen = [word for level in levels for word in ("--target", level)]
    out = run("export-library", str(objects), *chosen).stdout
    assert out.count(f"wrote {count()} kernels to ") == len(levels)
    for level in levels:
        with settings.override(target=level):
            aim = target.current()
            from numbaflow.jit.codegen import compile as compiler

            for kernel in thread_pool.closed():
                # (Read from where it was written, not from the package.)
                file = shipped.opened(level, compiler._emitter_version(), aim, objects)
                assert file is not None
                found = file.read(compiler.content_of(kernel))
                assert found is not None and found.name == kernel.name
                assert not object_file.problem(found.code, found.symbol, aim.triple)
    before = {path.name: path.read_bytes() for path in objects.iterdir()}
    found = json.loads(run("export-library", str(objects), *chosen, "--json").stdout)
    assert [each["kernels"] for each in found] == [count()] * len(levels)
    assert {path.name: path.read_bytes() for path in objects.iterdir()} == before


@pytest.mark.deep
def test_the_whole_library_in_a_real_process(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBAFLOW_CACHE": str(tmp_path / "kernels")}
    command = [sys.executable, "-m", "numbaflow", "cache"]

    def call(*arguments: str) -> str:
        done = subprocess.run(
            [*command, *arguments], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    (first,) = json.loads(call("warm", "--json"))
    (second,) = json.loads(call("warm", "--json"))
    assert first["compiled"] == second["known"] == count()
    assert second["compiled"] == first["known"] == 0
    assert "none damaged" in call("verify")
