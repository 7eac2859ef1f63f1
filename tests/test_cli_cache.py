# SPDX-License-Identifier: Apache-2.0
"""`numbaflow cache …`: what each command prints, for people and as JSON, and its exit code."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from numbaflow.cli import application
from numbaflow.jit import cache, cache_admin, settings
from numbaflow.jit import compile as compiler

pytestmark = pytest.mark.pure

SOURCE = "def kernel():\n    a\n    b\n    c\n"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Three kernels, the last one from another version and used an hour ago."""
    with settings.override(cache=tmp_path / "kernels"):
        add("one", "row", SOURCE, cpu="fast")
        add("one", "row", SOURCE, cpu="slow")
        old = add("two", "row", SOURCE.replace("c", "d") + "    e\n", emitter="0")
        for path in old.iterdir():
            os.utime(path, (time.time() - 3600,) * 2)
        yield tmp_path / "kernels"


def labels(content: str, **changes: str) -> cache.Labels:
    return tuple((n, changes.get(n, v)) for n, v in compiler.labels_of(content))


def add(content: str, name: str, source: str, **changes: str) -> Path:
    facts = cache.Facts(name, 0.25, ("dense/MatMul", "loss"), "train.py:41")
    named = labels(content, **changes)
    cache.save(named, cache.Entry("symbol", source, b"code" * 500), facts)
    return cache.folder() / cache.key_of(named)


def run(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(application(), ["cache", *arguments])
    assert done.exit_code == code, done.output
    return done.output


def read(*arguments: str, code: int = 0) -> Any:
    return json.loads(run(*arguments, "--json", code=code))


def key(content: str, **changes: str) -> str:
    return cache.key_of(labels(content, **changes))


def test_path_and_list(folder: Path) -> None:
    assert run("path").strip() == str(folder)
    lines = run("list").splitlines()
    assert len(lines) == 4 and "loss +1 train.py:41" in lines[1] and "250 ms" in lines[1]
    assert lines[3].startswith(key("two", emitter="0")[:12])  # used longest ago
    assert "1 of 3 kernels" in run("list", "--limit", "1")
    found = read("list", "--sort", "size")
    assert [item["bytes"] for item in found] == sorted((i["bytes"] for i in found), reverse=True)
    assert found[0]["ops"] == ["dense/MatMul", "loss"] and found[0]["line"] == "train.py:41"
    assert "is none of" in run("list", "--sort", "colour", code=2)


def test_show_takes_any_unique_beginning_of_a_key(folder: Path) -> None:
    whole = key("one", cpu="slow")
    text = run("show", whole[:9])
    assert whole in text and "train.py:41" in text and "def kernel" in text and "slow" in text
    found = read("show", whole)
    assert found["source"] == SOURCE and found["labels"]["cpu"] == "slow" and found["uses"] == 0
    cache.load(labels("one", cpu="slow"))
    assert read("show", whole)["uses"] == 1
    assert "no kernel has a key" in run("show", "f" * 32, code=1)
    with pytest.raises(cache_admin.NoSuchKernel):
        cache_admin.find("")


def test_stats(folder: Path) -> None:
    cache.load(labels("one", cpu="slow"))
    found = read("stats")
    assert (found["kernels"], found["uses"], found["outdated"]) == (3, 1, 1)
    assert found["compile_seconds"] == 0.75 and found["saved_seconds"] == 0.25
    assert found["names"] == {"row": 3} and len(found["targets"]) == 3
    assert "0.2 s in 1 uses" in run("stats")


def test_verify_finds_and_removes_damage(folder: Path) -> None:
    assert "3 kernels, 0 damaged" in run("verify")
    bad = key("one", cpu="slow")
    (folder / bad / "kernel.o").write_bytes(b"something else")
    (found,) = read("verify", code=1)["problems"]
    assert found == {"key": bad, "reason": "its checksum does not match"}
    assert read("verify", "--fix")["removed"] == [bad]
    assert "2 kernels, 0 damaged" in run("verify")
    (folder / key("one", cpu="fast") / "manifest.json").write_text("{")
    assert read("list")[0]["problem"] or read("list")[1]["problem"]
    assert "is damaged" in run("show", key("one", cpu="fast"), code=1)


def test_prune_by_age_size_and_version(folder: Path) -> None:
    assert "would remove 1 kernels" in run("prune", "--older-than", "30m", "--dry-run")
    assert "removed 0 kernels" in run("prune", "--older-than", "2h")
    assert read("prune", "--outdated")["removed"] == [key("two", emitter="0")]
    size = cache_admin.items()[0].bytes
    assert "removed 1 kernels" in run("prune", "--max-size", str(size + 10))
    assert len(cache.entries()) == 1
    assert run("prune", "--max-size", "1.5KiB")
    assert not cache.entries()
    for wrong in ([], ["--max-size", "big"], ["--older-than", "5"]):
        run("prune", *wrong, code=2)


def test_clear_leaves_other_folders_alone(folder: Path) -> None:
    (folder / "photographs").mkdir()
    assert "removed 3 kernels" in run("clear")
    assert [path.name for path in folder.iterdir()] == ["photographs"]


def test_kernels_travel_in_an_archive(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "kernels.tar.gz"
    assert "wrote 3 kernels" in run("export", str(file))
    before = cache.load(labels("one", cpu="slow"))
    cache.remove(folder / key("one", cpu="slow"))
    assert "added 1 kernels, 2 were there" in run("import", str(file))
    assert cache.load(labels("one", cpu="slow")) == before
    assert read("export", str(file), "--key", key("one", cpu="fast"))["kernels"] == 1
    file.write_bytes(b"nothing of the kind")
    assert "no archive of kernels" in run("import", str(file), code=1)
    assert run("import", str(tmp_path / "absent"), code=1)


def test_archives_are_not_trusted_blindly(folder: Path, tmp_path: Path) -> None:
    import tarfile

    file, work = tmp_path / "evil.tar", tmp_path / "work"
    for content in ("forged", "moved"):
        place = add(content, "row", SOURCE)
        (work / place.name).parent.mkdir(exist_ok=True)
        place.rename(work / place.name)
    forged, moved = key("forged"), key("moved")
    (work / forged / "kernel.o").write_bytes(b"\x90" * 100)
    with tarfile.open(file, "w") as archive:
        archive.add(work / forged, forged)
        archive.add(work / moved, "0" * 32)
        archive.add(work / moved, "../../outside")
        archive.add("/", "1" * 32, recursive=False)
    refused = read("import", str(file), code=1)["refused"]
    assert refused[forged] == "its checksum does not match"
    assert refused["0" * 32] == "its key.txt belongs to another key"
    assert not (tmp_path.parent / "outside").exists() and len(cache.entries()) == 3


def test_explain_names_the_nearest_kernel(folder: Path) -> None:
    found = read("explain", key("one", cpu="slow"))
    assert found["nearest"] == key("one", cpu="fast") and found["alike"] == 1.0
    assert found["labels"] == ["cpu slow, there fast"]
    text = run("explain", key("two", emitter="0"), "--diff")
    assert "nearest" in text and "+    d" in text
    why = cache_admin.why(labels("one", numba="0.1", cpu="fast"), SOURCE, "row")
    assert "stored as" in why and "numba 0.1, there" in why and "cpu" not in why
    why = cache_admin.why(labels("three"), SOURCE + "    x\n", "row")
    assert "a new kernel" in why and "%" in why
    assert "no kernel like it" in cache_admin.why(labels("four"), SOURCE, "column")


def test_an_absent_folder_is_empty(tmp_path: Path) -> None:
    with settings.override(cache=tmp_path / "absent"):
        assert read("list") == [] and read("stats")["kernels"] == 0
        assert run("verify") and "removed 0 kernels" in run("clear")
