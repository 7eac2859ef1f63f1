# SPDX-License-Identifier: Apache-2.0
"""`numbaflow compile` and `plan`: graphs from files, planned without being run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import numbaflow as tf
from numbaflow import ahead, cli_plan
from numbaflow.cli import application
from numbaflow.jit import cache, settings

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
from numbaflow.jit import compile as compiler
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
        tf.boolean_mask(x, x[:, 0] > 0, name="picked")
        if kind == "meta":
            tf.train.export_meta_graph(str(path))
        else:
            tf.io.write_graph(graph, str(path.parent), path.name, as_text=kind == "text")
    return path


def test_a_program_compiles_nothing_after_compile(tmp_path: Path, folder: Path) -> None:
    meta = tmp_path / "model.meta"
    execute(["-c", f"{PROGRAM}\ntf.train.export_meta_graph({str(meta)!r})"], folder)
    assert not cache.entries()
    command = ["-m", "numbaflow", "compile", str(meta)]
    text = execute([*command, "--fetch", "train,loss", "--fetch", "loss"], folder)
    assert "compiled in" in text
    compiles, hits = execute(["-c", PROGRAM + RUN], folder).split()
    assert compiles == "0" and int(hits) >= 5


@pytest.mark.parametrize(
    "name, kind", [("g.meta", "meta"), ("g.pb", "binary"), ("g.pbtxt", "text")]
)
def test_graphs_are_read_from_files(tmp_path: Path, folder: Path, name: str, kind: str) -> None:
    graph = ahead.load_graph(graph_file(tmp_path / name, kind))
    fetches = [ahead.fetched(graph, "y"), ahead.fetched(graph, "count")]
    planned = ahead.plan(graph, fetches, ahead.feeds_of(graph, fetches, []))
    assert planned.fetches[0] == "y:0" and planned.feeds == ("x:0 [37, 4]",)
    assert not planned.rest and planned.report.cache_misses > 0
    assert all(op._frame[0].endswith(name) for op in graph.get_operations())


def test_feeds_as_text() -> None:
    assert ahead.parse_feed("x") == ahead.FeedSpec("x:0")
    assert ahead.parse_feed("a/x:1:int32") == ahead.FeedSpec("a/x:1", "int32")
    wanted = ahead.FeedSpec("x:0", "float32", ("?", "784", "n"))
    assert ahead.parse_feed("x:float32[?, 784, n]") == wanted
    assert ahead.parse_feed("x[]") == ahead.FeedSpec("x:0", None, ())
    with pytest.raises(ahead.UsageError, match="is no feed"):
        ahead.parse_feed("x[1")


def test_feeds_are_zeros_of_consistent_sizes() -> None:
    with tf.Graph().as_default() as graph:
        a = tf.placeholder(tf.float32, [None, 3], "a")
        b = tf.placeholder(tf.string, [None, None], "b")
        unused = tf.placeholder(tf.int32, [], "unused")
        fetch = tf.group(tf.identity(a), tf.identity(b))
    feeds = ahead.feeds_of(graph, [fetch], [ahead.parse_feed("b[?,n]")], 5)
    assert feeds[a].shape == (5, 3) and feeds[b].shape[0] == 5 != feeds[b].shape[1]
    assert feeds[a].dtype == np.float32 and feeds[b].dtype == object and unused not in feeds


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--fetch", "nope"], "the graph has no 'nope'"),
        (["--fetch", "y", "--feed", "z"], "the graph has no 'z:0' to feed"),
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
    picked = "picked/GatherV2"
    assert "--run compiles it" in invoke("compile", graph, "--fetch", picked).output
    done = invoke("compile", graph, "--fetch", picked, "--run")
    assert done.exit_code == 0 and "--run" not in done.output


def test_plans_are_printed(tmp_path: Path, folder: Path) -> None:
    graph = str(graph_file(tmp_path / "g.pb", "binary"))
    text = invoke("plan", graph, "--fetch", "y", "--source").output
    assert "fetch y:0" in text and "x:0 [37, 4]" in text and "def kernel" in text
    (found,) = json.loads(invoke("plan", graph, "--fetch", "y", "--json").output)
    assert found["fetches"] == ["y:0"] and found["compiled"] == 0 and found["known"] > 0
    assert all(kernel["key"] for kernel in found["plan"]["kernels"])


def test_a_plan_as_a_page(tmp_path: Path, folder: Path) -> None:
    graph, file = str(graph_file(tmp_path / "g.pb", "binary")), tmp_path / "plan.html"
    assert invoke("plan", graph, "--fetch", "y", "--html", str(file)).exit_code == 0
    checker = Nesting()
    checker.feed(file.read_text())
    assert not checker.open and "MatMul" in checker.text and "def kernel" in checker.text
    assert "http" not in file.read_text()  # nothing is fetched from elsewhere
    assert invoke("plan", graph, "--fetch", "y", "--html", str(tmp_path)).exit_code == 1


class Nesting(HTMLParser):
    """The text of a page, and the elements that are not closed (cells close themselves)."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in ("meta", "br", "td", "th"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_no_graph(tmp_path: Path) -> None:
    (tmp_path / "text.pb").write_text("not a graph")
    for name in ("text.pb", "absent.pb"):
        done = invoke("plan", str(tmp_path / name), "--fetch", "y")
        assert done.exit_code == 2 and name in done.output
    assert cli_plan.BATCH.default == str(ahead.BATCH)
