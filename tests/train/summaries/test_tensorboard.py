# SPDX-License-Identifier: Apache-2.0
"""TensorBoard itself shows what a program wrote: its server is started and asked."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import subprocess
import sys
import time
import urllib.parse
import urllib.request
import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format

import numbaflow as tf

PROGRAM = Path(__file__).with_name("tensorboard_program.py")

pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("tensorboard") is None,
        reason="TensorBoard is not installed: pip install numbaflow[viz]",
    ),
]


class Board:
    """A server, by its address."""

    def __init__(self, address: str) -> None:
        self._address = address

    def bytes(self, path: str, **arguments: object) -> bytes:
        """What a GET of `path` with these arguments gives."""
        query = urllib.parse.urlencode({name: str(value) for name, value in arguments.items()})
        with urllib.request.urlopen(f"{self._address}/data/{path}?{query}", timeout=60) as answer:
            return answer.read()

    def json(self, path: str, **arguments: object) -> Any:
        """The same, read as JSON."""
        return json.loads(self.bytes(path, **arguments))

    def values(self, path: str, tag: str, **arguments: object) -> Any:
        """What a plugin says of a tag of the only run."""
        return self.json(f"plugin/{path}", run="train", tag=tag, **arguments)


def started(folder: Path) -> tuple[subprocess.Popen[str], str]:
    """A server of a folder and its address."""
    options = ["--port", "0", "--load_fast", "false", "--reload_interval", "1"]
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(folder), *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if " at http://" in line:
            return process, line.split(" at ")[1].split("/ ")[0]
    raise AssertionError("TensorBoard did not start")


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Board]:
    folder = tmp_path_factory.mktemp("logs")
    command = [sys.executable, "-m", "numbaflow", "run", str(PROGRAM), str(folder)]
    environment = {**os.environ, "NUMBAFLOW_JIT": "never"}
    subprocess.run(command, check=True, env=environment, timeout=300)
    process, address = started(folder)
    try:
        server = Board(address)
        end = time.monotonic() + 60
        while server.json("plugin/scalars/tags") == {}:
            assert time.monotonic() < end
            time.sleep(0.5)
        yield server
    finally:
        process.terminate()
        process.communicate()


def test_scalars(board: Board) -> None:
    assert board.json("runs") == ["train"]
    tags = board.json("plugin/scalars/tags")["train"]
    assert sorted(tags) == ["loss", "own/scalar_summary"]
    assert tags["own/scalar_summary"]["displayName"] == "own"
    found = board.values("scalars/scalars", "loss")
    assert [step for _, step, _ in found] == [0, 1, 2]
    assert [value for *_, value in found] == [1.0, 0.5, float(np.float32(1 / 3))]
    assert board.json("plugin/custom_scalars/layout")["category"][0]["title"] == "curves"


def test_pictures_and_sounds(board: Board) -> None:
    from PIL import Image

    _, _, last = board.values("images/images", "picture/image", sample=0)
    content = board.bytes(f"plugin/images/individualImage?{last['query']}&ignored=")
    expected = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(content))), expected)
    first, *_ = board.values("audio/audio", "sound/audio", sample=0)
    content = board.bytes(f"plugin/audio/individualAudio?{first['query']}&ignored=")
    with wave.open(io.BytesIO(content)) as sound:
        assert (sound.getframerate(), sound.getnframes()) == (8000, 4)
        assert np.frombuffer(sound.readframes(4), "<i2").tolist() == [0, 1 << 14, -(1 << 14), 0]


def test_histograms_and_distributions(board: Board) -> None:
    zero, one, two = board.values("histograms/histograms", "weights")
    assert zero[2] == [[0.0, 0.0, 4.0]]
    # weights @ weights, times the step.
    for (_, step, buckets), factor in ((one, 1), (two, 2)):
        assert (step, sum(count for *_, count in buckets)) == (factor, 4)
        assert (buckets[0][0], buckets[-1][1]) == (7.0 * factor, 22.0 * factor)
    assert sum(count for *_, count in board.values("histograms/histograms", OWN)[0][2]) == 3
    *_, (_, _, points) = board.values("distributions/distributions", "weights")
    assert points[0] == [0, 14.0] and points[-1] == [10000, 44.0]


OWN = "own_histogram/histogram_summary"


def test_texts(board: Board) -> None:
    assert board.json("plugin/text/tags") == {"train": ["note", "own_text/text_summary"]}
    cells = board.values("text/text", "note")[0]["text"]
    assert "<td><p>a</p></td>" in cells and "<td><p>b</p></td>" in cells
    own = board.values("text/text", "own_text/text_summary")
    assert [item["text"] for item in own] == ["<p><em>text</em></p>"] * 3


def test_the_graph_and_what_a_step_took(board: Board) -> None:
    text = board.bytes("plugin/graphs/graph", run="train", conceptual="false").decode()
    graph = text_format.Parse(text, tf.GraphDef())
    nodes = {node.name: node for node in graph.node}
    assert nodes["layer/inner/product"].op == "MatMul"
    shape = nodes["layer/inner/product"].attr["_output_shapes"].list.shape[0]
    assert [size.size for size in shape.dim] == [2, 2]
    text = board.bytes("plugin/graphs/run_metadata", run="train", tag="first step").decode()
    metadata = text_format.Parse(text, tf.RunMetadata())
    done = [stats for device in metadata.step_stats.dev_stats for stats in device.node_stats]
    assert "layer/inner/product" in {stats.node_name for stats in done}


def test_curves_meshes_and_embeddings(board: Board) -> None:
    (first, *_) = board.values("pr_curves/pr_curves", "curve/pr_curves")["train"]
    assert first["true_positives"] == [2, 2, 1, 1]
    assert first["recall"] == [1.0, 1.0, 0.5, 0.5]
    assert board.json("plugin/mesh/tags") == {"train": {"triangle": {"samples": 1}}}
    (embedding,) = board.json("plugin/projector/info", run="train")["embeddings"]
    assert (embedding["tensorName"], embedding["tensorShape"]) == ("words", [2, 2])
    content = board.bytes("plugin/projector/tensor", run="train", name="words")
    assert np.frombuffer(content, "<f4").tolist() == [1, 2, 3, 4]


def test_hyperparameters(board: Board) -> None:
    statuses = ["STATUS_UNKNOWN", "STATUS_RUNNING"]
    request = {"experimentName": "", "allowedStatuses": statuses, "sliceSize": 10}
    found = board.json("plugin/hparams/session_groups", request=json.dumps(request))
    (group,) = found["sessionGroups"]
    assert group["hparams"] == {"rate": 0.5}
    assert group["metricValues"][0]["trainingStep"] == 2
