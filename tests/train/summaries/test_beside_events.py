# SPDX-License-Identifier: Apache-2.0
"""What lies beside events for TensorBoard's plugins, and log lines that are events."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from google.protobuf import text_format

import numbaflow as tf
from numbaflow.train.summaries import event_logging
from numbaflow.train.summaries.plugin_asset import (
    PluginAsset,
    get_all_plugin_assets,
    get_plugin_asset,
)

pytestmark = pytest.mark.pure


class Notes(PluginAsset):
    """An asset of two files."""

    plugin_name = "notes"

    def assets(self) -> dict[str, str]:
        return {"one.txt": "first", "two.txt": "second"}


class Other(Notes):
    """Another of the same name."""


def test_assets_are_written_with_the_graph(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        mine = get_plugin_asset(Notes)
        assert get_plugin_asset(Notes, graph) is mine
        assert get_all_plugin_assets() == [mine]
        with pytest.raises(ValueError, match="collision between classes Other and Notes"):
            get_plugin_asset(Other)
        tf.summary.FileWriter(str(tmp_path), graph).close()
    assert (tmp_path / "plugins/notes/two.txt").read_text() == "second"


def test_the_projector_is_told_what_to_show(tmp_path: Path) -> None:
    projector = tf.contrib.tensorboard.plugins.projector
    config = projector.ProjectorConfig(model_checkpoint_path="model.ckpt-3")
    embedding = config.embeddings.add(tensor_name="words", metadata_path="words.tsv")
    embedding.sprite.image_path = "sprite.png"
    embedding.sprite.single_image_dim.extend([28, 28])
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        projector.visualize_embeddings(writer, config)
    text = (tmp_path / "projector_config.pbtxt").read_text()
    assert text_format.Parse(text, projector.ProjectorConfig()) == config


@pytest.fixture
def quiet() -> Iterator[None]:
    yield
    event_logging.set_verbosity(event_logging.WARN)
    event_logging._clear_summary_writer()


def test_log_lines_become_events(tmp_path: Path, quiet: None) -> None:
    with pytest.raises(RuntimeError, match="set_summary_writer"):
        event_logging.warn("too early")
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        event_logging.set_summary_writer(writer)
        event_logging.info("not seen")
        event_logging.set_verbosity(event_logging.DEBUG)
        event_logging.debug("%d of %d", 1, 2)
        event_logging.error("bad")
    with pytest.raises(ValueError, match="Level LOUD is not"):
        event_logging.set_verbosity("LOUD")
    (path,) = tmp_path.iterdir()
    _, *found = (event.log_message for event in tf.train.summary_iterator(str(path)))
    assert [(line.level, line.message) for line in found] == [(10, "1 of 2"), (40, "bad")]
