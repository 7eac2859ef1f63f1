# SPDX-License-Identifier: Apache-2.0
"""`tf.compat.v2.summary`: the nodes of TensorFlow 1.15, and what they write."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.io.tensor_proto import make_ndarray

from . import recording_program, tagged_program

pytestmark = pytest.mark.programs

summary = tf.compat.v2.summary


@pytest.fixture(autouse=True)
def interpreted() -> Iterator[None]:
    """What writes never compiles; what is around it need not here."""
    with settings.override(jit="never"):
        yield


@pytest.mark.pure
def test_nodes_are_those_of_tensorflow() -> None:
    with tf.Graph().as_default():
        tagged_program.build(tf)
        found = list(recording_program.lines(tf))
    recorded = Path(__file__).with_name("tagged_1_15.txt").read_text().splitlines()
    assert len(recorded) > 450
    assert found == recorded


def written(folder: Path) -> dict[str, tuple[int, Any, str]]:
    """Tag -> step, tensor and plugin of what was written."""
    with tf.Session() as sess:
        sess.run(tf.contrib.summary.summary_writer_initializer_op())
        sess.run(tf.summary.all_v2_summary_ops())
        sess.run(summary.flush())
    (path,) = folder.glob("events.out.tfevents.*")
    return {
        value.tag: (event.step, make_ndarray(value.tensor), value.metadata.plugin_data.plugin_name)
        for event in tf.train.summary_iterator(str(path))
        for value in event.summary.value
    }


def test_every_kind_is_written(tmp_path: Path) -> None:
    with tf.Graph().as_default(), summary.create_file_writer(str(tmp_path)).as_default():
        summary.scalar("scalar", 0.5, step=1)
        summary.histogram("histogram", [0.0, 1.0, 1.5, 4.0], step=2, buckets=4)
        summary.histogram("equal", [2, 2], step=2)
        summary.histogram("empty", tf.placeholder_with_default(np.zeros(0), [None]), step=2)
        summary.text("text", ["what", "is"], step=3)
        summary.image("image", np.zeros([2, 3, 4, 1], np.float32), step=4, max_outputs=1)
        summary.audio("audio", np.zeros([2, 5, 1], np.float32), 8000, step=5)
        found = written(tmp_path)
    assert found["scalar"] == (1, 0.5, "scalars")
    step, table, plugin = found["histogram"]
    assert (step, plugin) == (2, "histograms")
    assert table.tolist() == [[0, 1, 1], [1, 2, 2], [2, 3, 0], [3, 4, 1]]
    assert found["equal"][1].tolist() == [[1.5, 2.5, 2]] and found["empty"][1].shape == (0, 3)
    assert found["text"][1].tolist() == [b"what", b"is"]
    step, parts, plugin = found["image"]
    assert (step, plugin, parts[:2].tolist(), len(parts)) == (4, "images", [b"4", b"3"], 3)
    assert parts[2].startswith(b"\x89PNG")
    step, rows, plugin = found["audio"]
    assert (step, plugin, rows.shape) == (5, "audio", (2, 2)) and rows[0, 0].startswith(b"RIFF")


def test_only_what_is_to_be_recorded_is_written(tmp_path: Path) -> None:
    with tf.Graph().as_default(), summary.create_file_writer(str(tmp_path)).as_default():
        with summary.record_if(False):
            summary.scalar("left out", 1.0, step=1)
        summary.scalar("kept", 1.0, step=1)
        assert list(written(tmp_path)) == ["kept"]


def test_what_is_wrong_is_refused(tmp_path: Path) -> None:
    with tf.Graph().as_default(), summary.create_file_writer(str(tmp_path)).as_default():
        with pytest.raises(ValueError, match="No step set"):
            summary.scalar("a", 1.0)
        with pytest.raises(ValueError, match="Expected scalar shape"):
            summary.scalar("a", [1.0], step=1)
        with pytest.raises(TypeError, match="string"):
            summary.text("a", 1.0, step=1)
        with pytest.raises(ValueError, match="Unknown encoding: 'mp3'"):
            summary.audio("a", [[[0.0]]], 8000, step=1, encoding="mp3")
        with pytest.raises(AttributeError, match="trace_on is not in numbaflow"):
            _ = summary.trace_on
