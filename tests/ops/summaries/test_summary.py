# SPDX-License-Identifier: Apache-2.0
"""Summaries: TensorFlow 1.15's graphs and bytes, recorded; pictures by their pixels."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import numbaflow as tf
from numbaflow.io import protos

from ...workers import loaded

HERE = Path(__file__).parent
PROGRAMS = HERE / "summary_programs.txt"
NODES = json.loads((HERE / "summary_1_15.json").read_text())
RECORDED = json.loads((HERE / "summary_bytes_1_15.json").read_text())

pytestmark = pytest.mark.pure


worker = loaded(HERE.parents[1] / "io/graph_programs.py")
programs = worker.programs(PROGRAMS)


def test_every_program_is_recorded() -> None:
    assert set(NODES) == set(programs)


@pytest.mark.parametrize("name", programs)
def test_the_graph_is_that_of_tensorflow(name: str) -> None:
    graph_def = worker.run(tf, programs[name])
    theirs = NODES[name]["nodes"]
    for i, node in enumerate(graph_def.node):
        assert worker.letters(node) == theirs[3 * i : 3 * i + 3], (i, worker.described(node))
    assert 3 * len(graph_def.node) == len(theirs)


def _comparable(result: str) -> Any:
    """Bytes or an error as they are, pictures decoded: compressors differ."""
    if ": " in result:
        return result
    message = protos.Summary.FromString(base64.b64decode(result))
    pictures = []
    for value in message.value:
        if value.HasField("image"):
            encoded = io.BytesIO(value.image.encoded_image_string)
            pictures.append(np.asarray(Image.open(encoded)).tolist())
            value.image.encoded_image_string = b""
    return (message.SerializeToString(), pictures) if pictures else result


@pytest.mark.cpu
def test_the_bytes_are_those_of_tensorflow() -> None:
    results = loaded(HERE / "summary_bytes.py").results(tf)
    assert set(results) == set(RECORDED)
    for name, result in results.items():
        assert _comparable(result) == _comparable(RECORDED[name]), name


def test_descriptions() -> None:
    node = protos.NodeDef(op="TensorSummary")
    node.attr["description"].s = b'{"typeHint": "numbers"}'
    assert tf.summary.get_summary_description(node).type_hint == "numbers"
    with pytest.raises(ValueError, match="on Add"):
        tf.summary.get_summary_description(protos.NodeDef(op="Add"))


@pytest.mark.cpu
def test_summaries_go_through_files(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.summary.histogram("h", tf.constant([1.0, 2.0]))
        tf.summary.image("p", tf.ones([1, 2, 2, 3]))
        merged = session.run(tf.summary.merge_all())
        with tf.summary.FileWriter(str(tmp_path), session.graph) as writer:
            writer.add_summary(merged, 7)
        (path,) = tmp_path.iterdir()
        events = list(tf.train.summary_iterator(str(path)))
    assert [e.WhichOneof("what") for e in events] == [
        *("file_version", "graph_def", "meta_graph_def", "summary")
    ]
    assert events[-1].step == 7 and events[-1].summary.SerializeToString() == merged


@pytest.mark.cpu
def test_writers_of_one_session_share_a_file(tmp_path: Path) -> None:
    folder = str(tmp_path / "events")
    with tf.Graph().as_default(), tf.Session() as session:
        writers = [tf.summary.FileWriter(folder, session=session) for _ in range(2)]
        for step, writer in enumerate(writers):
            writer.add_event(protos.Event(step=step + 1))
            writer.flush()
        (path,) = Path(folder).iterdir()
        assert [event.step for event in tf.train.summary_iterator(str(path))] == [0, 1, 2]
        names = [op.name for op in session.graph.get_operations()]
        assert {"filewriter/SummaryWriter", "filewriter_1/ImportEvent"} <= set(names)
        writers[0].close()
        with pytest.raises(tf.errors.NotFoundError, match="not made or is closed"):
            writers[1].flush()


@pytest.mark.cpu
def test_large_histograms_are_those_of_a_search() -> None:
    """Numbers around the limits, of both signs, and of all sizes; doubles are searched for."""
    random = np.random.RandomState(0)
    limits = np.float32(1e-12) * np.float32(1.1) ** np.arange(0, 700, dtype=np.float32)
    limits = np.concatenate([np.nextafter(limits, np.float32(x)) for x in (0, 1e30)] + [limits])
    extremes = np.float32([0.0, -0.0, 1e-45, 3.4e38, -3.4e38])
    drawn = random.randn(4000).astype(np.float32) * np.float32(10) ** random.randint(-20, 20, 4000)
    values = np.concatenate([limits, -limits, extremes, drawn]).astype(np.float32)
    fed = tf.placeholder(tf.float32, [None])
    texts = tf.summary.histogram("h", fed), tf.summary.histogram("h", tf.cast(fed, tf.float64))
    with tf.Session() as session:
        first, second = session.run(texts, {fed: values})
    found = [tf.Summary.FromString(text).value[0].histo for text in (first, second)]
    assert found[0] == found[1] and sum(found[0].bucket) == values.size
