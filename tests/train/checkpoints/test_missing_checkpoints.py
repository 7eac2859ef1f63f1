# SPDX-License-Identifier: Apache-2.0
"""What is said of checkpoints whose folder is missing: the classes of TensorFlow 1.15."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import numbaflow as tf

pytestmark = pytest.mark.pure

LOOKED_FOR = {
    "restore": lambda prefix: tf.train.Saver().restore(tf.Session(), prefix),
    "exists": tf.train.checkpoint_exists,
    "times": lambda prefix: tf.train.get_checkpoint_mtimes([prefix]),
    "remove": tf.train.remove_checkpoint,
    "glob": tf.gfile.Glob,
    "glob by pattern": lambda prefix: tf.io.gfile.glob(prefix + "*"),
    "node": lambda prefix: tf.Session().run(tf.matching_files(prefix)),
}
READ = {
    "load": tf.train.load_checkpoint,
    "one variable": lambda prefix: tf.train.load_variable(prefix, "v"),
    "list": tf.train.list_variables,
    "reader": tf.train.NewCheckpointReader,
    "objects": lambda prefix: tf.train.Checkpoint(v=tf.Variable(1.0)).restore(prefix),
    "initial values": lambda prefix: tf.train.init_from_checkpoint(prefix, {"v": "v"}),
}


@pytest.fixture(autouse=True)
def variable() -> Any:
    with tf.Graph().as_default():
        yield tf.get_variable("v", initializer=1.0)


@pytest.mark.cpu
@pytest.mark.parametrize("call", LOOKED_FOR.values(), ids=LOOKED_FOR)
def test_what_looks_for_files_misses_their_folder(call: Any, tmp_path: Path) -> None:
    missing = tmp_path / "no"
    with pytest.raises(tf.errors.NotFoundError, match=f"{missing}; No such file or directory"):
        call(str(missing / "such"))
    (tmp_path / "file").write_text("x")
    with pytest.raises(tf.errors.FailedPreconditionError, match="Not a directory"):
        call(str(tmp_path / "file" / "x"))


@pytest.mark.parametrize("call", READ.values(), ids=READ)
def test_what_reads_says_what_it_wanted(call: Any, tmp_path: Path) -> None:
    missing = tmp_path / "no"
    words = f"Failed to get matching files on {missing}/such: Not found: {missing}; No such file"
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        call(str(missing / "such"))


def test_a_folder_is_no_checkpoint(tmp_path: Path) -> None:
    assert not tf.train.checkpoint_exists(f"{tmp_path}/")
    with pytest.raises(ValueError, match="not a valid checkpoint"):
        tf.train.Saver().restore(tf.Session(), f"{tmp_path}/")
    assert tf.gfile.Glob(f"{tmp_path}/.") == []


def test_a_missing_name_in_a_folder_that_is_there_is_a_value_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not a valid checkpoint"):
        tf.train.Saver().restore(tf.Session(), str(tmp_path / "such"))
    assert tf.gfile.Glob(str(tmp_path / "such")) == []
