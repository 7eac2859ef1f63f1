# SPDX-License-Identifier: Apache-2.0
"""Databases of LMDB, as datasets and by readers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


@pytest.fixture(params=[True, False], ids=["folder", "file"])
def database(request: Any, tmp_path: Path) -> str:
    """The name of a database of three pairs."""
    lmdb = pytest.importorskip("lmdb", reason="the package that reads the databases")
    path = str(tmp_path / "pairs")
    with lmdb.open(path, subdir=request.param) as environment, environment.begin(write=True) as txn:
        for key, value in ((b"b", b"2"), (b"a", b"\x00\xff"), (b"c", b"")):
            txn.put(key, value)
    return path


PAIRS = [(b"a", b"\x00\xff"), (b"b", b"2"), (b"c", b"")]


def elements(dataset: Any) -> list[Any]:
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    found = []
    with tf.Session() as session:
        try:
            while True:
                found.append(session.run(element))
        except tf.errors.OutOfRangeError:
            return found


def test_a_dataset_has_the_pairs_in_the_order_of_their_keys(database: str) -> None:
    assert elements(tf.contrib.data.LMDBDataset(database)) == PAIRS


def test_several_databases_follow_one_another(database: str) -> None:
    assert elements(tf.contrib.data.LMDBDataset([database, database])) == PAIRS * 2


def test_a_reader_gives_the_pairs(database: str) -> None:
    names = tf.train.string_input_producer([database], num_epochs=2)
    pair = tf.LMDBReader().read(names)
    found = []
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        running = tf.train.start_queue_runners(session, coordinator)
        try:
            while True:
                found.append(tuple(session.run(pair)))
        except tf.errors.OutOfRangeError:
            coordinator.request_stop()
        coordinator.join(running)
    assert found == PAIRS * 2


@pytest.mark.parametrize("content", [None, b"", b"no database" * 1000])
def test_what_is_no_database_is_refused(content: bytes | None, tmp_path: Path) -> None:
    pytest.importorskip("lmdb", reason="the package that reads the databases")
    path = tmp_path / "other"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(tf.errors.InvalidArgumentError):
        elements(tf.contrib.data.LMDBDataset(str(path)))


def test_without_the_package_it_is_said_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "lmdb", None)
    with pytest.raises(tf.errors.UnimplementedError, match=r"pip install numbaflow\[lmdb\]"):
        elements(tf.contrib.data.LMDBDataset(str(tmp_path / "any")))
