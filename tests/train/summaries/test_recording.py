# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.summary`: the nodes of TensorFlow 1.15, and what they write."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.train.summaries import graph_writers, recording

from . import recording_program

pytestmark = pytest.mark.programs


@pytest.fixture(autouse=True)
def interpreted() -> Iterator[None]:
    """What writes never compiles; what is around it need not here."""
    with settings.override(jit="never"):
        yield


summary = tf.contrib.summary


def events_in(folder: Path) -> list[Any]:
    """All events of the one file in a folder, without the first, which says what file it is."""
    (path,) = folder.glob("events.out.tfevents.*")
    first, *rest = tf.train.summary_iterator(str(path))
    assert first.file_version == "brain.Event:2"
    return rest


@pytest.mark.pure
def test_nodes_are_those_of_tensorflow() -> None:
    with tf.Graph().as_default():
        v2 = SimpleNamespace(**{**vars(graph_writers), **vars(recording)})
        recording_program.build(tf, v2)
        found = list(recording_program.lines(tf))
    recorded = Path(__file__).with_name("recording_1_15.txt").read_text().splitlines()
    assert len(recorded) > 160
    assert found == recorded


def test_every_kind_is_written(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        writer = summary.create_file_writer(str(tmp_path))
        with writer.as_default(), summary.always_record_summaries():
            with tf.name_scope("scope"):
                summary.scalar("loss", 0.5, step=1)
            summary.histogram("weights", [1.0, 2.0, 2.0], step=2)
            picture = np.zeros([1, 2, 3, 3], np.uint8)
            summary.image("picture", picture, max_images=1, step=3)
            summary.audio("sound", [[0.5, -0.5]], 8000.0, 1, step=4)
            data = tf.SummaryMetadata.PluginData(plugin_name="mine")
            metadata = tf.SummaryMetadata(plugin_data=data)
            summary.generic("tensor", [1, 2], metadata, step=5)
            summary.initialize(graph=graph)
            sess.run(summary.all_summary_ops())
            event = tf.Event(step=6, summary=tf.Summary(value=[tf.Summary.Value(tag="raw")]))
            sess.run(summary.import_event(event.SerializeToString()))
            sess.run(recording.write_raw_pb([event.summary.SerializeToString()] * 2, step=7))
            sess.run(summary.flush())
    found = events_in(tmp_path)
    nodes = tf.GraphDef.FromString(found[0].graph_def).node
    assert "scope/loss" in [node.name for node in nodes]
    by_tag = {value.tag: (event.step, value) for event in found for value in event.summary.value}
    assert by_tag["scope/loss"][0] == 1
    assert by_tag["scope/loss"][1].simple_value == 0.5
    assert (by_tag["weights"][1].histo.num, by_tag["weights"][1].histo.max) == (3, 2)
    assert (by_tag["picture/image"][1].image.height, by_tag["picture/image"][1].image.width) == (
        *(2, 3),
    )
    assert by_tag["sound/audio"][1].audio.length_frames == 2
    assert tf.make_ndarray(by_tag["tensor"][1].tensor).tolist() == [1, 2]
    assert by_tag["tensor"][1].metadata.plugin_data.plugin_name == "mine"
    assert [event.step for event in found[-2:]] == [6, 7]
    assert [value.tag for value in found[-1].summary.value] == ["raw", "raw"]
    assert all(event.wall_time > 1.5e9 for event in found[:-2])


def test_the_queue_is_written_when_it_is_full_and_at_the_end(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        writer = summary.create_file_writer(str(tmp_path), max_queue=1)
        with writer.as_default(), summary.always_record_summaries():
            summary.scalar("a", 1.0, step=1)
        sess.run(summary.summary_writer_initializer_op())
        counts = []
        for _ in range(3):
            sess.run(summary.all_summary_ops())
            counts.append(len(events_in(tmp_path)))
        assert counts == [0, 2, 2]
        sess.run(writer.close())
        assert len(events_in(tmp_path)) == 3
        with pytest.raises(tf.errors.NotFoundError, match="not made or is closed"):
            sess.run(summary.all_summary_ops())


def test_nothing_is_recorded_unless_it_is_said(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        step = tf.train.get_or_create_global_step()
        with summary.create_file_writer(str(tmp_path), max_queue=0).as_default():
            summary.scalar("never", 1.0)
            with summary.record_summaries_every_n_global_steps(2):
                summary.scalar("even", 1.0)
            summary.initialize(session=sess)
        sess.run(tf.global_variables_initializer())
        with tf.control_dependencies(summary.all_summary_ops()):
            more = tf.assign_add(step, 1)
        for _ in range(4):
            sess.run(more)
    assert [event.step for event in events_in(tmp_path)] == [0, 2]


@pytest.mark.parametrize(
    ("op", "inputs", "error", "message"),
    [
        ("WriteRawProtoSummary", (1, b"\xff"), tf.errors.DataLossError, "at index 0"),
        ("WriteGraphSummary", (1, b"\xff"), tf.errors.DataLossError, "tf.GraphDef"),
        ("WriteSummary", (1, 2.0, b"tag", b"\xff"), tf.errors.DataLossError, "SummaryMetadata"),
        (
            "WriteHistogramSummary",
            (1, b"weights", [1.0, float("nan")]),
            tf.errors.InvalidArgumentError,
            "Nan in summary histogram for: weights",
        ),
        ("WriteImageSummary", (1, b"a", [1.0], [1]), tf.errors.InvalidArgumentError, "must be 4-D"),
        ("WriteAudioSummary", (1, b"a", [[0.5]], 0.0), tf.errors.InvalidArgumentError, "> 0"),
        ("WriteScalarSummary", ([1], b"a", 1.0), tf.errors.InvalidArgumentError, "step must be"),
    ],
)
def test_what_cannot_be_written_is_refused(
    tmp_path: Path, op: str, inputs: tuple[Any, ...], error: type[Exception], message: str
) -> None:
    from numbaflow.ops.public import raw

    with tf.Graph().as_default(), tf.Session() as sess:
        writer = summary.create_file_writer(str(tmp_path))
        sess.run(writer.init())
        with pytest.raises(error, match=message):
            sess.run(getattr(raw, op)(writer._resource, *inputs))


@pytest.mark.pure
def test_arguments_that_mean_nothing() -> None:
    with tf.Graph().as_default():
        with pytest.raises(RuntimeError, match="No default"):
            summary.initialize()
        with pytest.raises(NotImplementedError, match="create_file_writer writes event files"):
            summary.create_db_writer("file:x.sqlite")
        with pytest.raises(TypeError, match="needs a tf.Tensor"):
            summary.graph(tf.Graph())
        with pytest.raises(ValueError, match="logdir cannot be None"):
            graph_writers.create_file_writer_v2(None)
        with summary.create_file_writer(None).as_default():
            assert summary.scalar("a", 1.0).type == "NoOp"
        with graph_writers.create_file_writer_v2("/tmp/x").as_default():
            with pytest.raises(ValueError, match="No step set"):
                recording.write("a", 1)
    assert summary.eval_dir("m", "x") == "m/eval_x"
