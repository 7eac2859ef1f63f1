# SPDX-License-Identifier: Apache-2.0
"""`numbaflow plan`: text, JSON and a page for a browser, which all say the same."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import numbaflow as tf
from numbaflow.cli.main import application
from numbaflow.engine import settings
from numbaflow.jit.report import plan_html

pytestmark = pytest.mark.cpu

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), "")


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classifier that trains, with a name that would break out of a careless page."""
    path = tmp_path_factory.mktemp("graph") / "model </script><b>.meta"
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 12], "x")
        labels = tf.placeholder(tf.int64, [None], "labels")
        w = tf.get_variable("w", [12, 3])
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=tf.matmul(x, w)
        )
        loss = tf.reduce_mean(losses, name="loss")
        tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, name="train")
        tf.train.export_meta_graph(str(path))
    return path


@pytest.fixture(autouse=True, scope="module")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with settings.override(cache=tmp_path_factory.mktemp("cache")):
        yield


def invoke(*arguments: object, code: int = 0) -> str:
    done = CliRunner().invoke(application(), ["plan", *map(str, arguments)])
    assert done.exit_code == code, done.output
    return done.stdout


def test_a_plan_as_text(graph: Path) -> None:
    text = invoke(graph, "--fetch", "train,loss", "--batch", "64")
    assert text.startswith("fetches  train, loss:0\nfeeds    x:0 [64, 12], labels:0 [64]\nplan")
    for word in ("memory", "kernels", "machine", "of best", "why steps are apart", "buffers"):
        assert word in text
    assert "matmul is a kernel of the library" in text and "def kernel" not in text
    assert not re.search(r" $", text, re.M)
    brief = invoke(graph, "--fetch", "loss", "--brief", "--no-time", "--source")
    assert "buffers" not in brief.split("def kernel")[0] and "def kernel" in brief
    assert "at best" in brief and " of best" not in brief


@pytest.mark.skipif(os.name == "nt", reason="terminals of POSIX")
def test_rows_are_cut_on_a_terminal(graph: Path) -> None:
    import pty

    terminal, end = pty.openpty()
    command = [sys.executable, "-m", "numbaflow", "plan", str(graph), "--fetch", "train"]
    known = {**os.environ, "NUMBAFLOW_CACHE": str(settings.get("cache")), "TERM": "xterm"}
    process = subprocess.Popen(
        [*command, "--no-time"], env={**known, "COLUMNS": "70"}, stdout=end, stdin=end
    )
    os.close(end)
    written = b""
    with suppress(OSError):  # once the process has ended, and the other end with it
        while chunk := os.read(terminal, 4096):
            written += chunk
    os.close(terminal)
    assert process.wait(60) == 0
    lines = written.decode().splitlines()
    assert max(map(len, lines)) == 70 and any(line.endswith("…") for line in lines)


def test_a_plan_as_json(graph: Path) -> None:
    found = json.loads(invoke(graph, "--fetch", "train", "--fetch", "loss", "--json"))
    assert [plan["fetches"] for plan in found] == [["train"], ["loss:0"]]
    plan = found[0]
    kernels = [kernel for kernel in plan["kernels"] if kernel["kind"] != "flow"]
    steps, sources = {kernel["key"] for kernel in kernels}, set(plan["sources"])
    assert steps <= sources
    # The others are called by steps.
    assert all("fma_tile" in plan["sources"][key] for key in sources - steps)
    assert all(kernel["seconds"] > 0 and kernel["at_best"] > 0 for kernel in kernels)
    assert plan["machine"]["all_threads"] > 1e8
    for number, kernel in enumerate(plan["kernels"]):
        assert all(boundary["step"] < number for boundary in kernel["boundaries"])
        for buffer in (*kernel["reads"], *kernel["writes"]):
            life = plan["buffers"][buffer]
            assert life["first"] <= number <= life["last"]


class Page(HTMLParser):
    """The elements of a page: which are open, what they fetch, the data, the text."""

    VOID = ("meta", "br", "link", "img", "input")

    def __init__(self, content: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[tuple[str, str]] = []
        self.ids: list[str] = []
        self.data: dict[str, str] = {}
        self.text: dict[str, str] = {}
        self.feed(content)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        facts = dict(attrs)
        for name in ("src", "href", "action", "data", "srcset"):
            if name in facts:
                self.fetched.append((tag, facts[name]))
        self.ids += [facts["id"]] if "id" in facts else []
        if tag not in self.VOID:
            self.open.append(tag if "id" not in facts else f"{tag}#{facts['id']}")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().split("#")[0] == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.text[self.open[-1]] = self.text.get(self.open[-1], "") + data


def written(graph: Path, file: Path, *more: str) -> tuple[str, Any]:
    """A page and the JSON of the same plans."""
    arguments = (graph, "--fetch", "train", "--fetch", "loss", *more)
    found = json.loads(invoke(*arguments, "--html", file, "--json"))
    return file.read_text(encoding="utf-8"), found


def test_a_page_stands_for_itself_and_holds_the_data(graph: Path, tmp_path: Path) -> None:
    content, found = written(graph, tmp_path / "plan.html")
    parsed = Page(content)
    assert content.startswith("<!doctype html>") and not parsed.open
    assert len(parsed.ids) == len(set(parsed.ids))
    # Nothing is fetched from elsewhere, and the browser is told so.
    assert not parsed.fetched and "default-src 'none'" in content
    style = parsed.text["style"]
    assert "url(" not in style and "@import" not in style
    assert set(re.findall(r"https?://[\w./]+", content)) == {"http://www.w3.org/2000/svg"}
    assert json.loads(parsed.text["script#plans"]) == found
    # The graph's name is text, wherever it stands.
    assert parsed.text["h1"] == parsed.text["title"] == f"Plan of {graph.name}"
    assert "why steps are apart" in parsed.text["pre"]  # for readers without scripts
    assert "{{" not in content


def test_placeholders_of_the_page_are_filled_once() -> None:
    content = plan_html.page("{{data}}", [{"x": "{{text}} <!--"}], "{{title}}")
    parsed = Page(content)
    assert parsed.text["h1"] == "{{data}}" and parsed.text["pre"] == "{{title}}"
    assert json.loads(parsed.text["script#plans"]) == [{"x": "{{text}} <!--"}]


def test_a_page_that_cannot_be_written(graph: Path, tmp_path: Path) -> None:
    invoke(graph, "--fetch", "loss", "--no-time", "--html", tmp_path, code=1)


def test_sessions_explain_themselves_as_a_page() -> None:
    with tf.Graph().as_default(), settings.override(jit="always"), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], "x")
        report = session.explain(tf.exp(x) + 1.0, {x: np.ones(100)})
    (data,) = json.loads(Page(report.html("Mine")).text["script#plans"])
    assert data == json.loads(json.dumps(report.as_dict())) and data["feeds"] == ["x:0 [100]"]


# What a reader does, in the page itself; the results are left on the body.
READER = """
<script>
const press = (node, key) => node.dispatchEvent(
  new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
const found = {steps: document.querySelectorAll("tr.step").length, failed: ""};
try {
  press(document.body, "/");
  found.searching = document.activeElement.id;
  const box = document.getElementById("filter");
  box.value = "matmul";
  box.dispatchEvent(new Event("input"));
  found.filtered = document.querySelectorAll("tr.step").length;
  press(box, "Escape");
  found.cleared = document.querySelectorAll("tr.step").length;
  box.focus();
  press(box, "ArrowDown");
  press(document.activeElement, "ArrowDown");
  found.second = document.activeElement.id;
  press(document.activeElement, "Enter");
  found.detail = document.querySelector("tr.detail").textContent;
  press(document.activeElement, "Enter");
  found.closed = document.querySelectorAll("tr.detail").length === 0;
  const mark = document.querySelector("svg .mark");
  mark.dispatchEvent(new MouseEvent("mousemove", {clientX: 50, clientY: 50}));
  found.tip = document.getElementById("tip").textContent;
  mark.dispatchEvent(new MouseEvent("mouseleave"));
  found.hidden = document.getElementById("tip").hidden;
  document.querySelector("ul.reasons a").click();
  found.jumped = document.querySelectorAll("tr.detail").length === 1 && location.hash;
  for (const button of document.querySelectorAll("th button")) button.click();
  for (const tab of document.querySelectorAll(".tabs button")) tab.click();
  found.other = document.querySelectorAll("tr.step").length;
  found.wide = document.documentElement.scrollWidth > innerWidth;
} catch (error) { found.failed = String(error.stack || error); }
document.body.setAttribute("data-found", JSON.stringify(found));
</script>
"""


@pytest.mark.skipif(not CHROMIUM, reason="there is no chromium")
@pytest.mark.parametrize("size", ["1400,1000", "500,900"])
def test_a_page_in_a_browser(graph: Path, tmp_path: Path, size: str) -> None:
    content, (train, loss) = written(graph, tmp_path / "plan.html")
    file = tmp_path / "read.html"
    file.write_text(content.replace("</body>", f"{READER}</body>"), encoding="utf-8")
    flags = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --dump-dom "
        "--disable-background-networking --disable-component-update --disable-sync "
        f"--virtual-time-budget=5000 --enable-logging=stderr --window-size={size}"
    )
    command = [CHROMIUM, *flags.split(), f"--user-data-dir={tmp_path / 'user'}", file.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert "CONSOLE" not in done.stderr, done.stderr  # errors and refused resources
    dump = re.search(r'data-found="([^"]*)"', done.stdout)
    assert dump is not None, done.stderr
    found = json.loads(dump[1].replace("&quot;", '"').replace("&gt;", ">").replace("&amp;", "&"))
    assert not found["failed"]
    steps = len(train["kernels"])
    assert found["steps"] == found["cleared"] == steps and found["other"] == len(loss["kernels"])
    assert found["filtered"] == sum(
        "matmul" in f"{kernel['name']} {kernel['ops']}".lower() for kernel in train["kernels"]
    )
    assert found["searching"] == "filter" and found["second"] == "step1"
    assert train["kernels"][1]["key"][:12] in found["detail"] and "def kernel" in found["detail"]
    assert found["closed"] and found["hidden"] and "steps" in found["tip"]
    assert found["jumped"].startswith("#step")
    assert not found["wide"]  # no scrolling sideways
