# SPDX-License-Identifier: Apache-2.0
"""Records that stay packed on their way from a file to what parses them: the same elements."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.engine.types.texts import PackedTexts
from numbaflow.ops.data.runtime import functions
from numbaflow.ops.parsing import nodes

pytestmark = pytest.mark.cpu

COUNT = 700
WANTED = {
    "number": tf.FixedLenFeature([], tf.int64),
    "reals": tf.FixedLenFeature([2], tf.float32),
    "name": tf.FixedLenFeature([], tf.string),
    "some": tf.VarLenFeature(tf.int64),
}


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default():
        yield


def example(i: int) -> bytes:
    made = tf.train.Example()
    feature = made.features.feature
    feature["number"].int64_list.value.append(i)
    feature["reals"].float_list.value.extend([i, -i])
    # (Some are too long to be found together with others.)
    feature["name"].bytes_list.value.append(b"%d" % i * (2000 if i % 97 == 5 else 1))
    feature["some"].int64_list.value.extend(range(i % 4))
    return made.SerializeToString()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder: Path = tmp_path_factory.mktemp("records")
    found = {}
    for kind in ("", "GZIP"):
        found[kind] = str(folder / f"examples{kind}")
        with tf.python_io.TFRecordWriter(found[kind], kind) as writer:
            for i in range(COUNT):
                writer.write(example(i))
    return found


def parsed(texts: Any) -> Any:
    return tf.parse_example(texts, WANTED)


Way = Callable[[Any], Any]
WAYS: dict[str, Way] = {
    "mapped": lambda records: records.batch(100).map(parsed),
    "by threads": lambda records: records.batch(100).map(parsed, num_parallel_calls=2),
    "again": lambda records: records.repeat(2).skip(5).take(900).batch(100).map(parsed),
    "interleaved": lambda records: records.batch(300, drop_remainder=True).map(parsed),
    "the texts, too": lambda records: records.batch(100).map(lambda t: (t, parsed(t))),
    "as a dataset": lambda records: records.batch(100).apply(
        tf.data.experimental.parse_example_dataset(WANTED)
    ),
    "one by one": lambda records: records.map(
        lambda text: tf.parse_single_example(text, {k: WANTED[k] for k in ("number", "reals")})
    ).batch(64),
}


def elements(dataset: Any) -> list[Any]:
    """All elements, their arrays one behind the other."""
    next_one = tf.data.make_one_shot_iterator(dataset).get_next()
    found = []
    with tf.Session() as session:
        while True:
            try:
                found += tf.nest.flatten(session.run(next_one))
            except tf.errors.OutOfRangeError:
                return found


def assert_same(mine: list[Any], theirs: list[Any]) -> None:
    assert len(mine) == len(theirs) > 0
    for array, other in zip(mine, theirs):
        np.testing.assert_array_equal(array, other)
        assert np.asarray(array).dtype == np.asarray(other).dtype


@pytest.mark.parametrize("kind", ["", "GZIP"])
@pytest.mark.parametrize("way", WAYS)
def test_elements_are_what_they_are_without_packing(
    way: str, kind: str, files: dict[str, str]
) -> None:
    def read() -> list[Any]:
        return elements(WAYS[way](tf.data.TFRecordDataset(files[kind], kind)))

    mine = read()
    with settings.override(jit="never"):
        assert_same(mine, read())


@pytest.mark.parametrize("way", ["mapped", "by threads"])
def test_batches_reach_the_parser_packed(
    way: str, files: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = []
    parse_batch = nodes.parse_batch

    def noted(texts: Any, *rest: Any) -> Any:
        given.append(type(texts))
        return parse_batch(texts, *rest)

    monkeypatch.setattr(nodes, "parse_batch", noted)
    elements(WAYS[way](tf.data.TFRecordDataset(files[""])))
    assert PackedTexts in given


def test_what_also_gives_its_texts_takes_them_as_an_array(
    files: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = []
    prepare = functions.FunctionRun._prepare

    def noted(self: Any) -> Any:
        packed.append(prepare(self).packed)
        return prepare(self)

    monkeypatch.setattr(functions.FunctionRun, "_prepare", noted)
    elements(WAYS["the texts, too"](tf.data.TFRecordDataset(files[""])))
    assert packed and not any(packed)


def test_a_saved_iterator_goes_on_behind_what_was_packed(
    files: dict[str, str], tmp_path: Path
) -> None:
    dataset = WAYS["by threads"](tf.data.TFRecordDataset(files[""]))
    iterator = tf.data.make_initializable_iterator(dataset)
    number = iterator.get_next()["number"]
    saver = tf.train.Saver({"it": tf.data.experimental.make_saveable_from_iterator(iterator)})
    with tf.Session() as session:
        session.run(iterator.initializer)
        for _ in range(3):
            session.run(number)
        path = saver.save(session, str(tmp_path / "state"))
        expected = session.run(number).tolist()
        session.run(number)
        session.run(iterator.initializer)
        saver.restore(session, path)
        assert session.run(number).tolist() == expected == list(range(300, 400))


def test_a_damaged_record_ends_what_is_before_it(tmp_path: Path, files: dict[str, str]) -> None:
    data = bytearray(Path(files[""]).read_bytes())
    data[30_000] ^= 1
    (tmp_path / "damaged").write_bytes(data)
    dataset = tf.data.TFRecordDataset(str(tmp_path / "damaged")).batch(200).map(parsed)
    number = tf.data.make_one_shot_iterator(dataset).get_next()["number"]
    with tf.Session() as session, pytest.raises(tf.errors.DataLossError, match="corrupted record"):
        for _ in range(COUNT):
            session.run(number)


def test_packed_texts_are_a_vector_of_texts() -> None:
    texts = [b"a", b"", b"bcd", b"\0\xff", b"e"]
    packed = PackedTexts.of(texts)
    assert packed.tolist() == list(packed) == texts
    assert (len(packed), packed.size, packed.shape, packed.nbytes) == (5, 5, (5,), 7)
    assert packed[2] == b"bcd" and packed[1:4].tolist() == texts[1:4]
    assert packed.array().dtype == object and np.asarray(packed).tolist() == texts
    joined = PackedTexts.joined([packed[3:], PackedTexts.of([]), packed[1:3]])
    assert joined.tolist() == [*texts[3:], *texts[1:3]]
    assert PackedTexts.joined([PackedTexts.of([])]).tolist() == []
