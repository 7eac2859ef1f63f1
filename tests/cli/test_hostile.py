# SPDX-License-Identifier: Apache-2.0
"""Commands on files that are damaged or made to do harm: words, exit codes, and nothing else."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import numbaflow as tf
from numbaflow.cli.main import application
from numbaflow.engine import settings
from numbaflow.engine.printable import printable
from numbaflow.jit.cache import admin, kernel_text, store
from numbaflow.jit.codegen import compile as compiler

from ..jit.cache.mutants import function

pytestmark = [pytest.mark.cpu, pytest.mark.skipif(os.name == "nt", reason="files of POSIX")]

# Clears the screen, sets a title, turns text around, ends a line, looks like markup.
EVIL = "a\x1b[2J\x1b]0;title\x07\u202eb\r\x9b31m\u2028[red]c[/]"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with settings.override(cache=tmp_path / "kernels"):
        yield tmp_path / "kernels"


def run(*arguments: str) -> tuple[str, int]:
    """What a command prints, and its exit code; it must not break down."""
    done = CliRunner().invoke(application(), [*arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    text = done.output.replace("\n", "").replace("\t", "")
    assert text.isprintable(), [c for c in text if not c.isprintable()]
    return done.output, done.exit_code


def add(source: str = "def kernel():\n    a\n", **facts: Any) -> Path:
    named = (*compiler.labels_of(str(facts)), ("note", facts.pop("note", "none")))
    code = function("symbol", dict(named)["triple"])
    store.save(named, store.Entry("symbol", source, code), store.Facts(**facts))
    return store.folder() / store.key_of(named)


def test_nothing_but_text_is_printed(folder: Path) -> None:
    place = add(name=EVIL, ops=(EVIL, "loss"), line=EVIL, graph=EVIL, note=EVIL.replace("\r", ""))
    other = add(f"def kernel():\n    {EVIL}\n", name=EVIL, ops=(EVIL,), line=EVIL)
    commands = ("list", f"show {place.name}", f"show {other.name}", "stats", "show a", "verify")
    for command in (*commands, f"explain {place.name} --diff", f"explain {other.name} --diff"):
        text, code = run("cache", *command.split())
        assert "[red]c[/]" in text or code or command == "verify"
    why = admin.why((*compiler.labels_of("x"), ("note", "y")), "def kernel(): ...", EVIL)
    assert why.isprintable()
    (place / "manifest.json").write_text('{"symbol": "\\u001b", "checksum": "\\u001b"}')
    assert run("cache", "verify")[1] == 1


def test_printable_text() -> None:
    assert printable("plain é 漢 ×") == "plain é 漢 ×"
    assert printable("\x1b[0m\x9b\u202e\ud800\U000e0041\n") == (
        "\\x1b[0m\\x9b\\u202e\\ud800\\U000e0041\\x0a"
    )
    assert printable("a\n\tb", "\n\t") == "a\n\tb"


def test_names_stay_in_the_comment_that_they_stand_in() -> None:
    facts = store.Facts(
        "x\nimport os", 1.0, ("y\rimport os",), "z\x0cimport os", "g\u2028import os"
    )
    source = kernel_text.header(None, facts, "some\nimport os") + "def kernel(): ...\n"
    for lines in (source.splitlines(), source.split("\n")):
        assert all(line[:1] in ("#", "") or line.startswith("def") for line in lines), lines
    assert kernel_text.split_header(source)[1] == "def kernel(): ...\n"


@pytest.mark.parametrize(
    "text",
    [
        "import os",
        "print()",
        "x = print()",
        "def kernel(a=print()): ...",
        "def kernel(a: print()): ...",
        "def kernel(*, a=print()): ...",
        "def kernel(*a: print()): ...",
        "def kernel() -> print(): ...",
        "@print\ndef kernel(): ...",
        "class kernel: ...",
        "x = (1, print())",
        "x = float32(print())",
        "x: print() = 1",
        "(" * 5000,
        "\0",
    ],
)
def test_a_stored_source_runs_nothing_when_it_is_compiled_again(folder: Path, text: str) -> None:
    assert not kernel_text.is_kernel(f"N = 3\n{text}\n")
    place = add(f"{text}\n", name="row")
    out, code = run("cache", "show", place.name, "--assembly", "--no-source")
    assert code == 1 and "is no kernel's" in out


def test_sources_of_kernels_are_kernels() -> None:
    text = "N, M = 3, (1, -2.5, 'float32')\n@helper\ndef a(x):\n    return x\ndef kernel(a): ...\n"
    assert not kernel_text.is_kernel("N = M\n")
    assert kernel_text.is_kernel(text.replace("N, M = 3,", "M ="))
    assert kernel_text.is_kernel("x = float32('-inf')\ny = int64(-3)\n")


PIECES: dict[str, Callable[[Path], object]] = {
    "absent": lambda path: None,
    "folder": lambda path: path.mkdir(),
    "pipe": lambda path: os.mkfifo(path),
    "endless": lambda path: path.symlink_to("/dev/zero"),
    "empty": lambda path: path.write_bytes(b""),
    "bytes": lambda path: path.write_bytes(b"\xff\xfe\0"),
    "deep": lambda path: path.write_bytes(b"[" * 100_000),
    "brief": lambda path: path.write_bytes(b"format: 4\n"),
    "large": lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 1 << 40),
}


@pytest.mark.parametrize("piece", sorted(PIECES))
@pytest.mark.parametrize("name", ["key.txt", "manifest.json", "kernel.py", "kernel.o"])
def test_commands_of_the_cache_name_what_is_damaged(folder: Path, name: str, piece: str) -> None:
    place, sound = add(name="row"), add(name="map")
    (place / name).unlink()
    PIECES[piece](place / name)
    out, code = run("cache", "verify")
    assert code == 1 and place.name in out and sound.name not in out
    for command in ("show", "explain"):
        out, code = run("cache", command, place.name)
        assert code == 1 or name.startswith("kernel")
    for command in ("list", "stats", "prune --outdated --dry-run"):
        assert run("cache", *command.split())[1] == 0
    out, code = run("cache", "export", str(folder.parent / "file.tar.gz"))
    assert code == 0 and "wrote 1 kernel" in out
    labels = (*compiler.labels_of(str({"name": "row"})), ("note", "none"))
    assert store.key_of(labels) == place.name
    if name == "key.txt":
        assert store.load(labels) is not None  # what was asked for is known without it
    else:
        with pytest.warns(RuntimeWarning, match="not used"):
            assert store.load(labels) is None
    run("cache", "verify", "--fix")
    assert run("cache", "verify")[1] == 0


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint, a SavedModel, a GraphDef and a MetaGraphDef."""
    home = tmp_path_factory.mktemp("files")
    with tf.Graph().as_default(), tf.Session() as session, settings.override(jit="never"):
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        w = tf.get_variable("w", [3, 2])
        y = tf.matmul(x, w, name="y")
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, str(home / "model"))
        tf.saved_model.simple_save(session, str(home / "served"), {"x": x}, {EVIL: y})
        content = tf.get_default_graph().as_graph_def().SerializeToString()
        (home / "graph.pb").write_bytes(content)
    return home


def damaged(path: Path, rng: random.Random) -> None:
    content = bytearray(path.read_bytes())
    kind = rng.random()
    if kind < 0.2:
        content = content[: rng.randrange(len(content))]
    elif kind < 0.3:
        content = bytearray(rng.randbytes(200))
    else:
        for _ in range(rng.randrange(1, 8)):
            content[rng.randrange(len(content))] = rng.randrange(256)
    path.write_bytes(content)


COMMANDS = {
    "graph.pb": ["plan {}/graph.pb -f y --no-time"],
    "model.meta": ["plan {}/model.meta -f y --no-time"],
    "model.index": ["inspect-checkpoint {}/model --verify", "inspect-checkpoint {}/model -t w"],
    "model.data-00000-of-00001": ["inspect-checkpoint {}/model --verify"],
    "served/saved_model.pb": ["saved-model show --dir {}/served --all", "plan {}/served --no-time"],
}


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_damaged_files_are_told_of_in_words(files: Path, tmp_path: Path, name: str) -> None:
    rng = random.Random(name)
    with settings.override(cache=tmp_path / "kernels"):
        for number in range(25):
            home = tmp_path / str(number)
            shutil.copytree(files, home)
            damaged(home / name, rng)
            for command in COMMANDS[name]:
                out, code = run(*(word.format(home) for word in command.split()))
                assert code in (0, 1, 2) and out


def test_a_model_does_not_say_where_its_outputs_are_written(files: Path, tmp_path: Path) -> None:
    from numbaflow.train.saved_model import command

    for key in ("../up", "/tmp/up", "a/b", "", "a\0b"):
        with pytest.raises(RuntimeError, match="cannot be saved"):
            command._save(str(tmp_path / "out"), key, np.zeros(2), False)
    assert not (tmp_path / "out").exists()
    assert command._save(str(tmp_path / "out"), "y", np.zeros(2), False).endswith("y.npy")


@pytest.mark.parametrize("command", ["inspect-checkpoint", "plan", "saved-model show --all --dir"])
def test_places_that_hold_nothing(tmp_path: Path, command: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / "empty", tmp_path / "file", tmp_path / f"absent {EVIL}"):
        out, code = run(*command.split(), str(path))
        assert code in (1, 2) and out
