# SPDX-License-Identifier: Apache-2.0
"""Databases of LMDB: as they lie in files, as datasets and by readers."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.io.lmdb_file import Entries

from .lmdb_database import DATABASE, PAIRS

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


@pytest.fixture(params=["folder", "file"])
def database(request: Any, tmp_path: Path) -> str:
    """The name of a database, a folder or a file."""
    path = tmp_path / "data.mdb"
    path.write_bytes(DATABASE)
    return str(tmp_path if request.param == "folder" else path)


def entries(path: Path | str) -> list[tuple[bytes, bytes]]:
    opened = Entries(str(path))
    try:
        return list(iter(opened.next, None))  # type: ignore[arg-type]
    finally:
        opened.close()


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


@pytest.mark.parametrize("content", [None, b"", b"no database" * 1000, DATABASE[:4096]])
def test_what_is_no_database_is_refused(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "other"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(tf.errors.InvalidArgumentError):
        elements(tf.contrib.data.LMDBDataset(str(path)))


@pytest.mark.parametrize("length", range(8192, len(DATABASE), 4096))
def test_a_database_that_is_cut_short_is_refused_or_read_whole(length: int, tmp_path: Path) -> None:
    path = tmp_path / "cut"
    path.write_bytes(DATABASE[:length])
    try:
        assert entries(path) == PAIRS
    except tf.errors.InvalidArgumentError as error:
        assert "ends too early" in error.message
        return
    # (The last pages may be those that were taken out of the tree.)
    assert length > len(DATABASE) // 2


def test_a_tree_that_leads_back_to_itself_ends(tmp_path: Path) -> None:
    content = bytearray(DATABASE)
    branches = [at for at in range(8192, len(content), 4096) if content[at + 10] == 1]
    assert branches
    for at in branches:
        count = (struct.unpack_from("<H", content, at + 12)[0] - 16) // 2
        for place in struct.unpack_from(f"<{count}H", content, at + 16):
            struct.pack_into("<HHH", content, at + place, at // 4096, 0, 0)
    path = tmp_path / "circle"
    path.write_bytes(content)
    with pytest.raises(tf.errors.InvalidArgumentError, match="none of its tree"):
        entries(path)


def test_positions_of_such_datasets_are_not_kept(database: str, tmp_path: Path) -> None:
    iterator = tf.data.make_initializable_iterator(tf.contrib.data.LMDBDataset(database))
    saver = tf.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
    with tf.Session() as session:
        session.run(iterator.initializer)
        with pytest.raises(tf.errors.UnimplementedError, match="not supported for LMDBDataset"):
            saver.save(session, str(tmp_path / "saved"))
