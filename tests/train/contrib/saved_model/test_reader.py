# SPDX-License-Identifier: Apache-2.0
"""What a SavedModel's folder holds, without loading it."""

from __future__ import annotations

from pathlib import Path

import pytest

import numbaflow as tf
from numbaflow.train.contrib.saved_model import reader

pytestmark = pytest.mark.cpu


def _written(folder: Path, as_text: bool) -> str:
    builder = tf.saved_model.builder.SavedModelBuilder(str(folder / "model"))
    for tags in (["serve"], ["serve", "gpu"]):
        with tf.Graph().as_default(), tf.Session() as session:
            tf.get_variable("v", [], initializer=tf.ones_initializer())
            session.run(tf.global_variables_initializer())
            if tags == ["serve"]:
                builder.add_meta_graph_and_variables(session, tags)
            else:
                builder.add_meta_graph(tags)
    builder.save(as_text=as_text)
    return str(folder / "model")


@pytest.mark.parametrize("as_text", [False, True])
def test_graphs_and_their_tags(tmp_path: Path, as_text: bool) -> None:
    path = _written(tmp_path, as_text)
    assert len(reader.read_saved_model(path).meta_graphs) == 2
    assert reader.get_saved_model_tag_sets(path) == [["serve"], ["serve", "gpu"]]


def test_where_there_is_none(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="SavedModel file does not exist at"):
        reader.read_saved_model(str(tmp_path))
    (tmp_path / "saved_model.pb").write_bytes(b"not a model")
    with pytest.raises(OSError, match="Cannot parse file"):
        reader.get_saved_model_tag_sets(str(tmp_path))
