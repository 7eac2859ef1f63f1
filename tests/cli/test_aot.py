# SPDX-License-Identifier: Apache-2.0
"""`numbaflow compile`: graphs from files and programs, planned without being run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import numbaflow as tf
from numbaflow.cli import aot, plan
from numbaflow.cli.main import application
from numbaflow.engine import settings
from numbaflow.jit.cache import store

pytestmark = pytest.mark.cpu

# A program that trains; the last line says what it compiled.
PROGRAM = """
import numpy as np
import numbaflow as tf
x = tf.placeholder(tf.float32, [None, 12], "x")
y = tf.placeholder(tf.float32, [None, 3], "y")
w = tf.get_variable("w", [12, 3])
scores = tf.matmul(x, w)
entropy = tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=scores)
loss = tf.reduce_mean(entropy, name="loss")
train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, name="train")
"""
RUN = """
from numbaflow.jit.codegen import compile as compiler
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for count in (100, 100, 30):
        feed = {x: np.ones((count, 12)), y: np.ones((count, 3))}
        for _ in range(2):
            session.run([train, loss], feed)
            session.run(loss, feed)
print(compiler.STATS.compiles, compiler.STATS.hits)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with settings.override(cache=tmp_path / "kernels"):
        yield tmp_path / "kernels"


def execute(arguments: list[str], folder: Path) -> str:
    environment = {**os.environ, "NUMBAFLOW_CACHE": str(folder), "NUMBAFLOW_JIT": "auto"}
    done = subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        cwd=folder.parent,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def invoke(*arguments: str) -> Any:
    return CliRunner().invoke(application(), arguments)


def graph_file(path: Path, kind: str) -> Path:
    """A small graph: y = relu(x w + b), c counts."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 4], "x")
        w = tf.get_variable("w", [4, 2], use_resource=kind == "meta")
        tf.nn.relu(tf.matmul(x, w) + 1.0, name="y")
        counter = tf.Variable(0, name="c")
        tf.assign_add(counter, 1, name="count")
        tf.placeholder(tf.float32, name="anything") * tf.constant(2.0, name="two")
        tf.sqrt(tf.setdiff1d(x[:, 0], tf.constant([1.0])).out, name="picked")
        if kind == "meta":
            tf.train.export_meta_graph(str(path))
        else:
            tf.io.write_graph(graph, str(path.parent), path.name, as_text=kind == "text")
    return path


def test_a_program_compiles_nothing_after_compile(tmp_path: Path, folder: Path) -> None:
    meta = tmp_path / "model.meta"
    execute(["-c", f"{PROGRAM}\ntf.train.export_meta_graph({str(meta)!r})"], folder)
    assert not store.entries()
    command = ["-m", "numbaflow", "compile", str(meta)]
    text = execute([*command, "--fetch", "train,loss", "--fetch", "loss"], folder)
    assert "compiled in" in text
    compiles, hits = execute(["-c", PROGRAM + RUN], folder).split()
    assert compiles == "0" and int(hits) >= 5


@pytest.mark.parametrize(
    "name, kind", [("g.meta", "meta"), ("g.pb", "binary"), ("g.pbtxt", "text")]
)
def test_graphs_are_read_from_files(tmp_path: Path, folder: Path, name: str, kind: str) -> None:
    graph = aot.load_graph(graph_file(tmp_path / name, kind))
    fetches = [aot.fetched(graph, "y"), aot.fetched(graph, "count")]
    planned = aot.plan(graph, fetches, aot.feeds_of(graph, fetches, []))
    report = planned.report
    assert report.fetches[0] == "y:0" and report.feeds == ("x:0 [37, 4]",)
    assert not report.follows and report.cache_misses > 0 and planned.compiled + planned.known > 2
    assert report.machine is None and not report.seconds  # nothing was run
    assert all(op._frame[0].endswith(name) for op in graph.get_operations())


def test_the_graph_of_a_saved_model(tmp_path: Path, folder: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 4], "x")
        y = tf.identity(tf.tanh(x) * tf.get_variable("w", [4]), "y")
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(tmp_path / "model"), {"x": x}, {"y": y})
    text = invoke("plan", str(tmp_path / "model"), "--fetch", "y", "--no-time").stdout
    assert "fetches  y:0" in text and "Tanh" in text
    assert invoke("compile", str(tmp_path / "model")).stdout.startswith("y:0: 1 step")
    (tmp_path / "empty").mkdir()
    done = invoke("plan", str(tmp_path / "empty"), "--fetch", "y")
    assert done.exit_code == 2 and "holds no SavedModel" in done.output


def test_feeds_as_text() -> None:
    assert aot.parse_feed("x") == aot.FeedSpec("x:0")
    assert aot.parse_feed("a/x:1:int32") == aot.FeedSpec("a/x:1", "int32")
    wanted = aot.FeedSpec("x:0", "float32", ("?", "784", "n"))
    assert aot.parse_feed("x:float32[?, 784, n]") == wanted
    assert aot.parse_feed("x[]") == aot.FeedSpec("x:0", None, ())
    with pytest.raises(aot.UsageError, match="is no feed"):
        aot.parse_feed("x[1")


def test_feeds_are_zeros_of_consistent_sizes() -> None:
    with tf.Graph().as_default() as graph:
        a = tf.placeholder(tf.float32, [None, 3], "a")
        b = tf.placeholder(tf.string, [None, None], "b")
        unused = tf.placeholder(tf.int32, [], "unused")
        fetch = tf.group(tf.identity(a), tf.identity(b))
    feeds = aot.feeds_of(graph, [fetch], [aot.parse_feed("b[?,n]")], 5)
    assert feeds[a].shape == (5, 3) and feeds[b].shape[0] == 5 != feeds[b].shape[1]
    assert feeds[a].dtype == np.float32 and feeds[b].dtype == object and unused not in feeds


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--fetch", "nope"], "the graph has no 'nope'"),
        (["--fetch", "cuont"], "the graph has no 'cuont'; there is count"),
        (["--fetch", " , "], "names nothing"),
        (["--fetch", "y", "--feed", "z"], "the graph has no 'z:0' to feed; there is x, anything"),
        ([], "say what is run with --fetch; the graph offers y, count"),
        (["--fetch", "y", "--", "--units", "3"], "is no program: it takes no arguments"),
        (["--fetch", "y", "--target", "abacus"], "'abacus' is not a recognized processor"),
        (["--fetch", "y", "--feed", "x:int32"], "x:0 has dtype float32, not int32"),
        (["--fetch", "y", "--feed", "x[?,5]"], "x:0 has shape (?, 4), not [?, 5]"),
        (["--fetch", "mul", "--feed", "anything"], "write anything:0[size,…]"),
        (["--fetch", "y", "--batch", "many"], "'many' are no sizes"),
    ],
)
def test_wrong_usage_is_explained(
    tmp_path: Path, folder: Path, arguments: list[str], message: str
) -> None:
    graph = str(graph_file(tmp_path / "g.meta", "meta"))
    done = invoke("compile", graph, *arguments)
    assert done.exit_code == 2 and message in done.output


def test_what_depends_on_data_is_told_and_compiled_by_running(tmp_path: Path, folder: Path) -> None:
    graph = str(graph_file(tmp_path / "g.meta", "meta"))
    picked = "picked"
    assert "--run compiles it" in invoke("compile", graph, "--fetch", picked).output
    done = invoke("compile", graph, "--fetch", picked, "--run")
    assert done.exit_code == 0 and "--run" not in done.output


# A program of its own: its graph depends on an argument, and it must not be run.
SCRIPT = """
import argparse, sys
import numpy as np
import tensorflow as tf
from helper import WIDTH

parser = argparse.ArgumentParser()
parser.add_argument("--units", type=int, default=3)
units = parser.parse_args().units
print("building", units)
x = tf.placeholder(tf.float32, [None, WIDTH], "x")
w = tf.get_variable("w", [WIDTH, units])
loss = tf.reduce_mean(tf.square(tf.matmul(x, w)), name="loss")
train = tf.train.AdamOptimizer(0.1).minimize(loss, name="train")
if __name__ == "__main__":
    with tf.Session() as session:
        try:
            session.run(tf.global_variables_initializer())
        except Exception:
            sys.exit("the program has noticed")
        for _ in range(3):
            session.run([train, loss], {x: np.ones((100, WIDTH))})
    from numbaflow.jit.codegen import compile as compiler
    print(compiler.STATS.compiles, "compiled")
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "helper.py").write_text("WIDTH = 6\n")
    (tmp_path / "train.py").write_text(SCRIPT)
    return tmp_path / "train.py"


def command(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """A command of its own, since a program replaces what is global."""
    environment = {**os.environ, "NUMBAFLOW_CACHE": str(folder)}
    return subprocess.run(
        [sys.executable, "-m", "numbaflow", *arguments],
        env=environment,
        cwd=folder.parent,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_program_is_compiled_without_being_run(script: Path, folder: Path) -> None:
    run = ["compile", str(script), "--fetch", "train,loss", "--json", "--", "--units", "5"]
    done = command(run, folder)
    assert done.returncode == 0, done.stderr
    (planned,) = json.loads(done.stdout)  # what the program prints goes elsewhere
    assert "building 5" in done.stderr and "noticed" not in done.stderr
    assert planned["compiled"] > 0 and planned["fetches"] == ["train", "loss:0"]
    lines = {Path(kernel["line"]).name for kernel in planned["kernels"]}
    assert lines <= {f"train.py:{number}" for number in range(11, 16)}
    # A batch of another size and a process of its own: nothing is left to compile.
    done = command(["run", str(script), "--units", "5"], folder)
    assert done.stdout.splitlines()[-1] == "0 compiled", done.stdout + done.stderr


def test_programs_that_do_not_come_to_run_a_graph(script: Path, folder: Path) -> None:
    done = command(["compile", str(script), "--fetch", "loss", "--", "--colour", "red"], folder)
    assert done.returncode == 2 and "ended (exit code 2) before it ran its graph" in done.stderr
    script.write_text("import tensorflow as tf\n\n1 / 0\n")
    done = command(["compile", str(script), "--fetch", "loss"], folder)
    assert done.returncode == 1 and 'train.py", line 3' in done.stderr
    assert "ZeroDivisionError" in done.stderr and "launcher" not in done.stderr
    script.write_text("print('nothing')\n")
    done = command(["compile", str(script), "--fetch", "loss"], folder)
    assert done.returncode == 2 and "ended without a graph" in done.stderr
    done = command(["compile", str(script.with_name("none.py")), "--fetch", "loss"], folder)
    assert done.returncode == 2 and "there is no such file" in done.stderr


def test_a_program_leaves_its_surroundings_as_they_were(script: Path) -> None:
    run, argv, path = tf.Session.run, sys.argv, list(sys.path)
    names, shown = set(sys.modules), repr([np.float32(0.5)])
    try:
        graph = aot.load_graph(script, ["--units", "4"])
    finally:
        for name in set(sys.modules) - names:
            if name.split(".")[0] in ("tensorflow", "helper"):
                del sys.modules[name]
    assert graph.get_tensor_by_name("w:0").shape.as_list() == [6, 4]
    assert (tf.Session.run, sys.argv, sys.path) == (run, argv, path)
    assert repr([np.float32(0.5)]) == shown
    assert tf.get_default_graph() is not graph or not graph.finalized


def test_code_for_other_processors(tmp_path: Path, folder: Path) -> None:
    graph = str(graph_file(tmp_path / "g.meta", "meta"))
    both = ["compile", graph, "--fetch", "y"]
    assert command(both, folder).returncode == 0
    native = store.entries()
    done = command([*both, "--target", "generic", "--json"], folder)
    (planned,) = json.loads(done.stdout)
    assert planned["compiled"] > 1 and planned["known"] == 0
    listed = json.loads(command(["cache", "list", "--json"], folder).stdout)
    made = [item for item in listed if item["labels"]["cpu"] == "generic"]
    assert len(made) == planned["compiled"] == len(listed) - len(native)
    # What a machine says of itself makes the very code that it makes itself.
    own = command(["info", "--target"], folder).stdout.strip()
    (planned,) = json.loads(command([*both, "--target", own, "--json"], folder).stdout)
    assert planned["compiled"] == 0
    if "+avx512f" not in own:
        done = command([*both, "--target", "x86-64-v4", "--run"], folder)
        assert done.returncode == 2 and "does not run on this processor" in done.stderr


def test_no_graph(tmp_path: Path) -> None:
    (tmp_path / "text.pb").write_text("not a graph")
    for name in ("text.pb", "absent.pb"):
        done = invoke("plan", str(tmp_path / name), "--fetch", "y")
        assert done.exit_code == 2 and name in done.output
    assert plan.BATCH.default == str(aot.BATCH)
