# SPDX-License-Identifier: Apache-2.0
"""`numbaflow cache …`: what each command prints, for people and as JSON, and its exit code."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from numbaflow.cli.main import application
from numbaflow.engine import settings
from numbaflow.jit.cache import admin, store
from numbaflow.jit.codegen import compile as compiler

from ..jit.cache.mutants import function

pytestmark = pytest.mark.pure

CPU = {dict(compiler.labels_of(""))["cpu"]}
TRIPLE = dict(compiler.labels_of(""))["triple"]
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


def labels(content: str, **changes: str) -> store.Labels:
    return tuple((n, changes.get(n, v)) for n, v in compiler.labels_of(content))


def add(content: str, name: str, source: str, **changes: str) -> Path:
    facts = store.Facts(name, 0.25, ("dense/MatMul", "loss"), "train.py:41")
    named = labels(content, **changes)
    store.save(named, store.Entry("symbol", source, function("symbol", TRIPLE)), facts)
    return store.folder() / store.key_of(named)


def run(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(application(), ["cache", *arguments])
    assert done.exit_code == code, done.output
    return done.output


def read(*arguments: str, code: int = 0) -> Any:
    return json.loads(run(*arguments, "--json", code=code))


def key(content: str, **changes: str) -> str:
    return store.key_of(labels(content, **changes))


def test_path_and_list(folder: Path) -> None:
    assert run("path").strip() == str(folder) == read("path")["path"]
    lines = run("list").splitlines()
    assert len(lines) == 4 and "loss +1 train.py:41" in lines[1] and "250 ms" in lines[1]
    assert {line.split()[8] for line in lines[1:]} == {"fast", "slow", *CPU}  # the target
    assert not any(line.endswith(" ") for line in lines)
    assert lines[3].startswith(key("two", emitter="0")[:12])  # used longest ago
    assert "1 of 3 kernels" in run("list", "--limit", "1")
    found = read("list", "--sort", "size")
    assert [item["bytes"] for item in found] == sorted((i["bytes"] for i in found), reverse=True)
    assert found[0]["ops"] == ["dense/MatMul", "loss"] and found[0]["line"] == "train.py:41"
    assert "is none of" in run("list", "--sort", "colour", code=2)
    assert len(run("list", "dense/Mat").splitlines()) == 4
    assert run("list", "train.py:42") == "no kernel mentions 'train.py:42'\n"
    assert read("list", "nothing like it") == []


def test_show_takes_any_unique_beginning_of_a_key(folder: Path) -> None:
    whole = key("one", cpu="slow")
    text = run("show", whole[:9])
    assert whole in text and "train.py:41" in text and "def kernel" in text and "slow" in text
    found = read("show", whole)
    assert found["source"] == SOURCE and found["labels"]["cpu"] == "slow" and found["uses"] == 0
    store.load(labels("one", cpu="slow"))
    assert read("show", whole)["uses"] == 1
    assert "no kernel has a key" in run("show", "z" * 32, code=1)
    with pytest.raises(admin.NoSuchKernel):
        admin.find("")


def test_show_tells_all_about_a_kernel(folder: Path) -> None:
    from numbaflow.jit.cache import kernel_text
    from numbaflow.jit.kernel import ir

    at = ir.Index((1,))
    buffers = (ir.Buffer("float32", "r"), ir.Buffer("float32", "w"))
    load = ir.Load(0, at, "float32")
    square = ir.Store(1, at, ir.Apply("mul", (load, load), "float32"))
    kernel = ir.Kernel("map", buffers, (ir.Axis("map"),), (), (square,), 0)
    facts = store.Facts("map", 0.5, ("a/Square",), "model.py:7", "3 operations for y:0", 123)
    source = kernel_text.header(kernel, facts, "slow") + SOURCE
    store.save(labels("square"), store.Entry("symbol", source, b"code"), facts)
    found = read("show", key("square"))
    ir_lines = [
        "buffers b0: float32 read, b1: float32 written",
        "axes    i0: map",
        "%0 = b0[i0]",
        "b1[i0] = (%0 * %0)",
    ]
    assert found["ir"].splitlines() == ir_lines and found["source"] == SOURCE
    assert found["code_bytes"] == 123 and found["graph"] == "3 operations for y:0"
    text = run("show", key("square"))
    for word in ("a/Square", "model.py:7", "123 B of instructions", "500 ms", *ir_lines):
        assert word in text
    header = (folder / key("square") / "kernel.py").read_text().splitlines()
    assert header[:4] == [
        "# numbaflow kernel 'map', compiled for slow",
        "# fuses   a/Square",
        "# graph   3 operations for y:0",
        "# line    model.py:7",
    ]
    assert "source" not in read("show", key("square"), "--no-source")


def test_a_key_that_is_none_is_answered_with_likely_ones(folder: Path) -> None:
    whole = key("one", cpu="slow")
    wrong = whole[:3] + ("0" if whole[3] != "0" else "1") + whole[4:8]
    text = run("show", wrong, code=1)
    assert "perhaps one of these" in text and whole[:12] in text
    # Not a key at all, but it says what is meant.
    text = run("show", "MatMul", code=1)
    assert whole[:12] in text and "dense/MatMul" in text
    for number in range(40):
        add(f"more {number}", "row", SOURCE)
    first = next(k for k in "0123456789abcdef" if len(list(folder.glob(f"{k}*"))) > 1)
    text = run("show", first, code=1)
    assert f"{len(list(folder.glob(f'{first}*')))} kernels have a key that begins with" in text
    assert all(path.name[:12] in text for path in list(folder.glob(f"{first}*"))[:3])
    assert "none" not in text


def test_an_empty_cache_says_how_kernels_come(tmp_path: Path) -> None:
    with settings.override(cache=tmp_path / "absent"):
        assert "numbaflow compile" in run("list")
        assert "there are none in" in run("show", "abc", code=1)
        assert "0 kernels checked" in run("verify")
        assert "removed 0 kernels" in run("clear")


def test_trouble_with_files_is_one_line(folder: Path, tmp_path: Path) -> None:
    assert "absent.tar: No such file" in run("import", str(tmp_path / "absent.tar"), code=1)
    text = run("export", str(tmp_path / "no" / "file.tar"), code=1)
    assert text == f"numbaflow: {tmp_path / 'no'}: there is no such folder\n"
    (tmp_path / "file").write_text("")
    run("export", str(tmp_path / "kernels.tar"))
    with settings.override(cache=tmp_path / "file"):
        text = run("import", str(tmp_path / "kernels.tar"), code=1)
    assert text.startswith(f"numbaflow: {tmp_path / 'file'}: ") and text.count("\n") == 1


def on_a_terminal(folder: Path, width: int, *arguments: str, **environment: str) -> str:
    """What a command writes to a terminal so wide."""
    import fcntl
    import pty
    import struct
    import subprocess
    import sys
    import termios

    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    known = {"NUMBAFLOW_CACHE": str(folder), "TERM": "xterm-256color", **environment}
    kept = {n: v for n, v in os.environ.items() if n not in ("NO_COLOR", "COLUMNS", "FORCE_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-m", "numbaflow", "cache", *arguments],
        env={**kept, **known},
        stdout=end,
        stdin=subprocess.DEVNULL,
    )
    os.close(end)
    written = b""
    with suppress(OSError):  # once the process has ended, and the other end with it
        while chunk := os.read(terminal, 4096):
            written += chunk
    assert process.wait(60) == 0
    os.close(terminal)
    return written.decode()


@pytest.mark.process
@pytest.mark.skipif(os.name == "nt", reason="terminals of POSIX")
def test_terminals_wide_and_narrow_and_without_colours(folder: Path) -> None:
    wide = on_a_terminal(folder, 140, "list")
    assert "compiled in" in wide and "\x1b[" in wide
    narrow = on_a_terminal(folder, 50, "list", NO_COLOR="1").splitlines()
    assert all(len(escaped(line)) <= 50 for line in narrow)
    keys = {key("one", cpu="fast"), key("one", cpu="slow"), key("two", emitter="0")}
    # No key is cut, whatever has to give way.
    assert {escaped(line).split()[0] for line in narrow[1:4]} == {k[:12] for k in keys}
    assert not any("\x1b[3" in line for line in narrow)  # bold is no colour
    assert "MatMul" in on_a_terminal(folder, 30, "show", key("one", cpu="slow"))


def escaped(line: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip()


@pytest.mark.process
@pytest.mark.skipif(os.name == "nt", reason="a shell of POSIX")
def test_a_reader_that_leaves_early_is_no_error(folder: Path) -> None:
    import subprocess
    import sys

    for number in range(60):
        add(f"more {number}", "row", SOURCE * 20)
    line = f"{sys.executable} -m numbaflow cache list --json | head -c 10 >/dev/null"
    done = subprocess.run(
        ["bash", "-c", f"{line}; exit ${{PIPESTATUS[0]}}"],
        env={**os.environ, "NUMBAFLOW_CACHE": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1) and done.stderr == ""


def test_help_names_every_command_and_the_exit_codes() -> None:
    text = CliRunner().invoke(application(), ["cache", "--help"]).output
    for name in "path list show stats verify prune clear export import explain".split():
        assert re.search(rf"^│ {name} ", text, re.M), name
        assert CliRunner().invoke(application(), ["cache", name, "--help"]).exit_code == 0
    assert "Exit codes: 0" in text
    assert "cache list" in CliRunner().invoke(application(), ["--help"]).output


def test_stats(folder: Path) -> None:
    store.load(labels("one", cpu="slow"))
    found = read("stats")
    assert (found["kernels"], found["uses"], found["outdated"]) == (3, 1, 1)
    assert found["compile_seconds"] == 0.75 and found["saved_seconds"] == 0.25
    assert found["names"] == {"row": 3} and len(found["targets"]) == 3
    assert "0.2 s in 1 uses" in run("stats")


def test_verify_finds_and_removes_damage(folder: Path) -> None:
    assert "3 kernels checked, none damaged" in run("verify")
    bad = key("one", cpu="slow")
    (folder / bad / "kernel.o").write_bytes(b"something else")
    (found,) = read("verify", code=1)["problems"]
    assert found == {"key": bad, "reason": "its checksum does not match"}
    assert read("verify", "--fix")["removed"] == [bad]
    assert "2 kernels checked, none damaged" in run("verify")
    (folder / key("one", cpu="fast") / "manifest.json").write_text("{")
    assert read("list")[0]["problem"] or read("list")[1]["problem"]
    assert "is damaged" in run("show", key("one", cpu="fast"), code=1)


def test_prune_by_age_size_and_version(folder: Path) -> None:
    assert "would remove 1 kernel," in run("prune", "--older-than", "30m", "--dry-run")
    assert "removed 0 kernels" in run("prune", "--older-than", "2h")
    assert read("prune", "--outdated")["removed"] == [key("two", emitter="0")]
    size = admin.items()[0].bytes
    assert "removed 1 kernel," in run("prune", "--max-size", str(size + 10))
    assert len(store.entries()) == 1
    assert "removed 1 kernel," in run("prune", "--max-size", "1.5KiB")
    assert not store.entries()
    for wrong in ([], ["--max-size", "big"], ["--older-than", "5"]):
        run("prune", *wrong, code=2)


def test_clear_leaves_other_folders_alone(folder: Path) -> None:
    (folder / "photographs").mkdir()
    assert "removed 3 kernels" in run("clear")
    assert [path.name for path in folder.iterdir()] == ["photographs"]


def test_kernels_travel_in_an_archive(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "kernels.tar.gz"
    assert "wrote 3 kernels" in run("export", str(file))
    before = store.load(labels("one", cpu="slow"))
    store.remove(folder / key("one", cpu="slow"))
    assert "added 1 kernel, 2 were there" in run("import", str(file))
    assert store.load(labels("one", cpu="slow")) == before
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
    refused = read("import", str(file), code=1)["refused"]
    assert refused[forged] == "its checksum does not match"
    assert refused["0" * 32] == "its key.txt belongs to another key"
    assert len(store.entries()) == 3


def test_explain_names_the_nearest_kernel(folder: Path) -> None:
    found = read("explain", key("one", cpu="slow"))
    assert found["nearest"] == key("one", cpu="fast") and found["alike"] == 1.0
    assert found["labels"] == ["cpu slow, there fast"]
    text = run("explain", key("two", emitter="0"), "--diff")
    assert "nearest" in text and "+    d" in text
    why = admin.why(labels("one", numba="0.1", cpu="fast"), SOURCE, "row")
    assert "stored as" in why and "numba 0.1, there" in why and "cpu" not in why
    why = admin.why(labels("three"), SOURCE + "    x\n", "row")
    assert "a new kernel" in why and "%" in why
    assert "no kernel like it" in admin.why(labels("four"), SOURCE, "column")


def test_an_absent_folder_is_empty(tmp_path: Path) -> None:
    with settings.override(cache=tmp_path / "absent"):
        assert read("list") == [] and read("stats")["kernels"] == 0
        assert read("verify")["kernels"] == 0 and read("clear") == {
            "removed": 0,
            "plans": 0,
            "programs": 0,
            "hosts": 0,
            "walkers": 0,
            "left": 0,
        }
        assert not (tmp_path / "absent").exists()
