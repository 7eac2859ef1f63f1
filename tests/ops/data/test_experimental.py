# SPDX-License-Identifier: Apache-2.0
"""tf.data.experimental gives what TensorFlow 1.15 gives for the same seeds, saved or not."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.ops.data.experimental.reading import MatchingFilesDataset
from numbaflow.ops.data.runtime import csv

pytestmark = pytest.mark.cpu

D, X = tf.data.Dataset, tf.data.experimental


def elements(dataset: Any, most: int = 60) -> list[Any]:
    """The first elements."""
    found = []
    after = tf.data.make_initializable_iterator(dataset)
    element = after.get_next()
    with tf.Session() as sess:
        sess.run(after.initializer)
        try:
            while len(found) < most:
                found.append(sess.run(element))
        except tf.errors.OutOfRangeError:
            pass
    return found


def plain(value: Any) -> Any:
    """Arrays as lists."""
    if isinstance(value, tf.SparseTensorValue):
        return [plain(part) for part in value]
    if isinstance(value, tuple):
        return tuple(plain(part) for part in value)
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return np.asarray(value).tolist()


def odd(x: Any) -> Any:
    """0 for even numbers, 1 for odd ones."""
    return tf.cast(x % 2, tf.int32)


def lengths(count: int) -> Any:
    """Vectors of growing length."""
    return D.range(count).map(tf.range)


def letters() -> list[Any]:
    """Two datasets of numbers that can be told apart."""
    return [D.range(8), D.range(100, 108)]


# A dataset, and what TensorFlow 1.15.5 gives for it with a graph seed of 7.
RECORDED: dict[str, tuple[Callable[[], Any], list[Any]]] = {
    "map_and_batch": (
        lambda: D.range(7).apply(X.map_and_batch(lambda x: x * 2, 3)),
        [[0, 2, 4], [6, 8, 10], [12]],
    ),
    "map_and_batch, whole batches": (
        lambda: D.range(7).apply(
            X.map_and_batch(lambda x: x * 2, 3, num_parallel_calls=2, drop_remainder=True)
        ),
        [[0, 2, 4], [6, 8, 10]],
    ),
    "shuffle_and_repeat": (
        lambda: D.range(10).apply(X.shuffle_and_repeat(4, 2, seed=1)),
        [0, 4, 5, 3, 7, 2, 6, 9, 8, 1, 3, 2, 5, 1, 4, 6, 7, 8, 0, 9],
    ),
    "parallel_interleave": (
        lambda: D.range(5).apply(
            X.parallel_interleave(lambda x: D.range(x * 10, x * 10 + x), 2, block_length=2)
        ),
        [10, 20, 21, 30, 31, 32, 40, 41, 42, 43],
    ),
    "ignore_errors": (
        lambda: (
            D.from_tensor_slices([1.0, 0.0, 2.0])
            .map(lambda x: tf.check_numerics(1.0 / x, "e"))
            .apply(X.ignore_errors())
        ),
        [1.0, 0.5],
    ),
    "group_by_window": (
        lambda: D.range(9).apply(X.group_by_window(lambda x: x % 2, lambda k, w: w.batch(2), 3)),
        [[0, 2], [4], [1, 3], [5], [6, 8], [7]],
    ),
    "group_by_reducer": (
        lambda: D.range(4).apply(
            X.group_by_reducer(
                lambda x: x % 2,
                X.Reducer(lambda _: np.int64(0), lambda s, x: s + x, lambda s: s),
            )
        ),
        [2, 4],
    ),
    "bucket_by_sequence_length": (
        lambda: lengths(6).apply(X.bucket_by_sequence_length(tf.size, [2, 5], [2, 2, 2])),
        [[[0], [0]], [[0, 1, 0], [0, 1, 2]], [[0, 1, 2, 3]], [[0, 1, 2, 3, 4]]],
    ),
    "bucket_by_sequence_length, whole buckets": (
        lambda: lengths(5).apply(
            X.bucket_by_sequence_length(tf.size, [2, 5], [2, 2, 2], pad_to_bucket_boundary=True)
        ),
        [[[0], [0]], [[0, 1, 0, 0], [0, 1, 2, 0]], [[0, 1, 2, 3]]],
    ),
    "choose_from_datasets": (
        lambda: X.choose_from_datasets(
            [D.range(3), D.range(10, 14)],
            D.from_tensor_slices(np.array([0, 1, 1, 0, 0, 0, 1, 1, 1, 1])),
        ),
        [0, 10, 11, 1, 2, 12, 13],
    ),
    "sample_from_datasets": (
        lambda: X.sample_from_datasets(letters(), [0.5, 0.5], seed=1),
        [0, 100, 1, 101, 2, 102, 103, 104, 105, 3, 106, 107, 4, 5, 6, 7],
    ),
    "rejection_resample": (
        lambda: D.range(40).apply(X.rejection_resample(odd, [0.5, 0.5], [0.9, 0.1], 1)).take(8),
        [(0, 0), (1, 1), (1, 1), (1, 3), (0, 2), (1, 5), (1, 7), (1, 9)],
    ),
    "rejection_resample, estimated": (
        lambda: D.range(40).apply(X.rejection_resample(odd, [0.2, 0.8], seed=1)).take(8),
        [(0, 0), (1, 1), (1, 1), (1, 3), (0, 2), (1, 5), (1, 7), (1, 9)],
    ),
    "Counter": (lambda: X.Counter(3, 2).take(4), [3, 5, 7, 9]),
    "RandomDataset": (
        lambda: X.RandomDataset(3).take(4),
        [2545112793, 531643458, 698849000, 2576041488],
    ),
    "scan": (
        lambda: D.range(4).apply(X.scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s))),
        [0, 0, 1, 3],
    ),
    "take_while": (lambda: D.range(4).apply(X.take_while(lambda x: x < 2)), [0, 1]),
    "unique": (lambda: D.from_tensor_slices(["a", "b", "a"]).apply(X.unique()), [b"a", b"b"]),
    "dense_to_sparse_batch": (
        lambda: lengths(3).apply(X.dense_to_sparse_batch(2, [4])),
        [[[[1, 0]], [0], [2, 4]], [[[0, 0], [0, 1]], [0, 1], [1, 4]]],
    ),
    "prefetch_to_device": (lambda: D.range(3).apply(X.prefetch_to_device("/cpu:0")), [0, 1, 2]),
    "enumerate_dataset": (
        lambda: D.range(5, 7).apply(X.enumerate_dataset(3)),
        [(3, 5), (4, 6)],
    ),
    "unbatch": (lambda: D.range(4).batch(3).apply(X.unbatch()), [0, 1, 2, 3]),
}


@pytest.mark.parametrize("name", RECORDED)
def test_elements_are_those_of_tensorflow(name: str) -> None:
    make, expected = RECORDED[name]
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        assert [plain(value) for value in elements(make())] == expected


@pytest.mark.parametrize("name", RECORDED)
def test_a_restored_iterator_goes_on(name: str, tmp_path: Path) -> None:
    make, expected = RECORDED[name]
    path, stop = str(tmp_path / "state"), len(expected) // 2
    draws = name.startswith("rejection_resample")
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        after = tf.data.make_initializable_iterator(make())
        element = after.get_next()
        saver = tf.train.Saver({"it": X.make_saveable_from_iterator(after)})
        with tf.Session() as sess:
            sess.run(after.initializer)
            for _ in range(stop):
                sess.run(element)
            if draws:
                with pytest.raises(tf.errors.FailedPreconditionError, match="is stateful"):
                    saver.save(sess, path)
                return
            saver.save(sess, path)
        with tf.Session() as sess:
            sess.run(after.initializer)
            saver.restore(sess, path)
            assert [plain(sess.run(element)) for _ in expected[stop:]] == expected[stop:]
            with pytest.raises(tf.errors.OutOfRangeError):
                sess.run(element)


@pytest.fixture
def table(tmp_path: Path) -> str:
    """A CSV file with a header, quotes and a missing field."""
    (tmp_path / "a.csv").write_text('a,b,c\n1,2.0,x\n3,4.5,"y,""z"\n5,,w\n')
    return str(tmp_path / "a.csv")


def test_csv_records(table: str) -> None:
    with tf.Graph().as_default():
        kinds = [tf.int32, tf.constant([7.0]), tf.string]
        found = elements(X.CsvDataset(table, kinds, header=True))
        assert plain(tuple(found)) == ((1, 2.0, b"x"), (3, 4.5, b'y,"z'), (5, 7.0, b"w"))
        some = X.CsvDataset(table, [tf.int32, tf.string], header=True, select_cols=[0, 2])
        assert plain(tuple(elements(some))) == ((1, b"x"), (3, b'y,"z'), (5, b"w"))


def test_a_bad_csv_record_is_told_and_the_next_one_comes(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text('1,2\nx,4\n5\n"6"7,8"\n9,10\n')
    with tf.Graph().as_default(), tf.Session() as sess:
        dataset = X.CsvDataset(str(tmp_path / "b.csv"), [tf.int32, tf.int32])
        element = tf.data.make_one_shot_iterator(dataset).get_next()
        assert plain(sess.run(element)) == (1, 2)
        for text in ("not a valid int32: x", "Expect 2 fields but have 1", "escaped by another"):
            with pytest.raises(tf.errors.InvalidArgumentError, match=text):
                sess.run(element)
        assert plain(sess.run(element)) == (9, 10)


def test_csv_blocks_give_what_single_records_give(tmp_path: Path) -> None:
    random = np.random.RandomState(0)
    words = ['"q"' if i % 97 == 5 else "w" * (i % 5 + 1) for i in range(3000)]
    rows = [f"{i},{random.randn():.6g},{word}" for i, word in enumerate(words)]
    (tmp_path / "c.csv").write_text("\n".join(rows))
    kinds = [tf.int64, tf.float32, tf.string]
    with tf.Graph().as_default():
        whole = elements(X.CsvDataset(str(tmp_path / "c.csv"), kinds).batch(500))
    columns = [np.concatenate([batch[i] for batch in whole]).tolist() for i in range(3)]
    fields = [row.replace('"', "").split(",") for row in rows]
    assert columns[0] == list(range(3000))
    assert columns[1] == [np.float32(field[1]) for field in fields]
    assert columns[2] == [field[2].encode() for field in fields]


def _told(names: list[str], **options: Any) -> list[Any]:
    """The elements of a CSV dataset of files, and the texts of errors where they come."""
    found: list[Any] = []
    with tf.Graph().as_default(), tf.Session() as sess:
        kinds = [tf.int32, tf.constant([7.0]), tf.constant(["-"])]
        dataset = X.CsvDataset(names, kinds, **options)
        element = tf.data.make_one_shot_iterator(dataset).get_next()
        while True:
            try:
                found.append(plain(sess.run(element)))
            except tf.errors.OutOfRangeError:
                return found
            except tf.errors.InvalidArgumentError as error:
                found.append(error.message)


@pytest.mark.parametrize("chunk", [48, 1 << 18])
def test_csv_records_of_all_kinds_come_as_if_each_was_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(csv, "_CHUNK", chunk)
    random = np.random.RandomState(3)
    kinds = ["1,2.5,a", "4,,", "-7,NA,NA", '5,1,"b ""c"",\nd"', '"6",2,e\r', "x,1,f"]
    kinds += ["8,9", "10,y,g", '11,1,h"i', ",1,j", "12,1e3,k,l"]
    share = np.array([9.0, 5, 5, 3, 1] + [0.2] * 6)
    rows = [kinds[i] for i in random.choice(len(kinds), 400, p=share / share.sum())]
    alone = []
    for i, row in enumerate(rows):
        alone.append(str(tmp_path / f"{i}.csv"))
        (tmp_path / f"{i}.csv").write_bytes(row.encode() + b"\n")
    (tmp_path / "all.csv").write_bytes("".join(f"{row}\n" for row in rows).encode())
    found = _told([str(tmp_path / "all.csv")], na_value="NA", buffer_size=chunk)
    assert found == _told(alone, na_value="NA")
    assert len(found) == 400


def test_csv_with_missing_fields_is_read_in_turns_in_blocks(tmp_path: Path) -> None:
    for part in range(3):
        rows = [f"{part},{'' if i % 3 else i},{'' if i % 5 else 'w'}\n" for i in range(50)]
        (tmp_path / f"{part}.csv").write_text("".join(rows))
    with tf.Graph().as_default():
        names = tf.data.Dataset.list_files(str(tmp_path / "*.csv"), shuffle=False)
        kinds = [tf.int32, tf.constant([7.0]), tf.constant(["-"])]
        made = names.interleave(lambda name: X.CsvDataset(name, kinds), 3, 2).batch(150)
        parts, reals, texts = elements(made)[0]
    assert parts.tolist() == [0, 0, 1, 1, 2, 2] * 25
    order = [i for start in range(0, 50, 2) for _ in range(3) for i in (start, start + 1)]
    assert reals.tolist() == [7.0 if i % 3 else float(i) for i in order]
    assert texts.tolist() == [b"-" if i % 5 else b"w" for i in order]


def test_make_csv_dataset(table: str) -> None:
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        made = X.make_csv_dataset(table, 2, num_epochs=1, label_name="a", shuffle_seed=1)
        expected = (
            ({"b": [0.0, 2.0], "c": [b"w", b"x"]}, [5, 1]),
            ({"b": [4.5], "c": [b'y,"z']}, [3]),
        )
        assert plain(tuple(elements(made))) == expected
        with pytest.raises(ValueError, match="No files match"):
            X.make_csv_dataset(table + "x", 2)


def test_make_batched_features_dataset(tmp_path: Path) -> None:
    with tf.python_io.TFRecordWriter(str(tmp_path / "a.rec")) as writer:
        for i in range(3):
            number = tf.train.Feature(int64_list=tf.train.Int64List(value=[i]))
            values = tf.train.Feature(float_list=tf.train.FloatList(value=[0.5] * i))
            features = tf.train.Features(feature={"x": number, "v": values})
            writer.write(tf.train.Example(features=features).SerializeToString())
    asked = {"x": tf.FixedLenFeature([], tf.int64), "v": tf.VarLenFeature(tf.float32)}
    with tf.Graph().as_default():
        made = X.make_batched_features_dataset(
            str(tmp_path / "*.rec"), 2, asked, num_epochs=1, shuffle=False, label_key="x"
        )
        expected = (
            ({"v": [[[1, 0]], [0.5], [2, 1]]}, [0, 1]),
            ({"v": [[[0, 0], [0, 1]], [0.5, 0.5], [1, 2]]}, [2]),
        )
        assert plain(tuple(elements(made))) == expected


def test_rows_of_a_database(tmp_path: Path) -> None:
    path = str(tmp_path / "x.db")
    database = sqlite3.connect(path)
    with database:
        database.execute("create table t(n text, k int, f real)")
        rows = [("a", 1, 1.5), ("b", 2, None), (None, 3, 2.5)]
        database.executemany("insert into t values(?,?,?)", rows)
    database.close()
    kinds = (tf.string, tf.int32, tf.float64)
    with tf.Graph().as_default():
        found = elements(X.SqlDataset("sqlite", path, "select n, k, f from t", kinds))
        assert plain(tuple(found)) == ((b"a", 1, 1.5), (b"b", 2, 0.0), (b"", 3, 2.5))
        with pytest.raises(tf.errors.UnknownError, match="syntax error"):
            elements(X.SqlDataset("sqlite", path, "selec n", kinds))
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"columns in query \(0\) must"):
            elements(X.SqlDataset("sqlite", path, "insert into t values ('c', 1, 2)", kinds))
        with pytest.raises(tf.errors.UnknownError, match="unable to open"):
            elements(X.SqlDataset("sqlite", path + "2", "select 1", (tf.int32,)))


def test_rows_of_a_database_end_once(tmp_path: Path) -> None:
    """Who asks again behind the last row gets none: TensorFlow's statement begins anew."""
    path = str(tmp_path / "x.db")
    database = sqlite3.connect(path)
    with database:
        database.execute("create table t(k int)")
        database.executemany("insert into t values(?)", [(i,) for i in range(20)])
    database.close()
    with tf.Graph().as_default(), tf.Session() as session:
        rows = X.SqlDataset("sqlite", path, "select k from t order by k", (tf.int32,))
        iterator = tf.data.make_initializable_iterator(rows.map(lambda k: k + 1).batch(8))
        element = iterator.get_next()
        session.run(iterator.initializer)
        assert [session.run(element).size for _ in range(3)] == [8, 8, 4]
        for _ in range(3):
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(element)


def test_records_are_written(tmp_path: Path) -> None:
    path = str(tmp_path / "o.rec")
    with tf.Graph().as_default(), tf.Session() as sess:
        sess.run(X.TFRecordWriter(path).write(D.from_tensor_slices(["a", "bc"])))
        assert list(tf.python_io.tf_record_iterator(path)) == [b"a", b"bc"]
        with pytest.raises(TypeError, match="must produce scalar"):
            X.TFRecordWriter(path).write(D.range(2))


def test_a_batch_with_a_failing_element_fails_once() -> None:
    def failing(x: Any) -> Any:
        return tf.py_func(lambda i: 1 // int(i - 4) * 0 + i, [x], tf.int64)

    with tf.Graph().as_default(), tf.Session() as sess:
        dataset = D.range(9).apply(X.map_and_batch(failing, 3))
        element = tf.data.make_one_shot_iterator(dataset).get_next()
        assert sess.run(element).tolist() == [0, 1, 2]
        with pytest.raises(tf.errors.OpError):
            sess.run(element)
        assert sess.run(element).tolist() == [6, 7, 8]


def test_statistics() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        aggregator = X.StatsAggregator()
        options = tf.data.Options()
        options.experimental_stats.aggregator = aggregator
        dataset = D.range(3).apply(X.bytes_produced_stats("bytes")).with_options(options)
        after = tf.data.make_initializable_iterator(dataset)
        element = after.get_next()
        sess.run(after.initializer)
        for _ in range(2):
            sess.run(element)
        found = tf.Summary.FromString(sess.run(aggregator.get_summary()))
        (value,) = [v for v in found.value if v.tag == "bytes"]
        assert (value.histo.num, value.histo.sum) == (2, 16)


def test_statistics_have_the_prefix_of_the_options() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        aggregator = X.StatsAggregator()
        options = tf.data.Options()
        options.experimental_stats.aggregator = aggregator
        options.experimental_stats.prefix = "train"
        dataset = D.range(3).apply(X.latency_stats("time")).with_options(options)
        after = tf.data.make_initializable_iterator(dataset)
        sess.run(after.initializer)
        sess.run(after.get_next())
        found = tf.Summary.FromString(sess.run(aggregator.get_summary()))
    assert [value.tag for value in found.value] == ["train::time"]


@pytest.mark.parametrize("size", [1, 3])
def test_no_more_calls_go_on_than_the_threads_of_the_options(size: int) -> None:
    options = tf.data.Options()
    options.experimental_threading.private_threadpool_size = size
    options.experimental_threading.max_intra_op_parallelism = 1
    working, most = [0], [0]
    lock = threading.Lock()

    def call(x: Any) -> Any:
        with lock:
            working[0] += 1
            most[0] = max(most[0], working[0])
        time.sleep(0.002)
        with lock:
            working[0] -= 1
        return x

    def called(x: Any) -> Any:
        return tf.py_func(call, [x], tf.int64)

    dataset = D.range(40).map(called, num_parallel_calls=16).with_options(options)
    assert elements(dataset) == list(range(40))
    assert 1 <= most[0] <= size


def test_a_damaged_file_is_left_for_the_next_one(tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in "ab"]
    for name in names:
        with tf.python_io.TFRecordWriter(name) as writer:
            writer.write(name[-1].encode())
        with open(name, "ab") as file:
            file.write(b"what is no record")
    dataset = tf.data.TFRecordDataset(names)
    assert elements(dataset.apply(X.ignore_errors())) == [b"a", b"b"]
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    with tf.Session() as sess:
        for name in names:
            assert sess.run(element) == name[-1].encode()
            with pytest.raises(tf.errors.DataLossError):
                sess.run(element)
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(element)


def test_patterns_that_match_no_file_are_an_error(tmp_path: Path) -> None:
    dataset = MatchingFilesDataset([str(tmp_path / "*")])
    with pytest.raises(tf.errors.NotFoundError, match="Don't find any matched files"):
        elements(dataset)
    (tmp_path / "one").touch()
    assert elements(MatchingFilesDataset([str(tmp_path / "*")])) == [bytes(tmp_path / "one")]


@pytest.mark.parametrize("way", [X.prefetch_to_device, X.copy_to_device])
def test_a_device_that_is_not_there_is_the_placement_s_concern(way: Any) -> None:
    """Programs name their GPU, and leave it to the session where there is none."""
    with tf.Graph().as_default():
        dataset = D.range(2).apply(way("/gpu:7"))
        element = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
        with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
            assert [session.run(element) for _ in range(2)] == [0, 1]
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(element)
        with (
            tf.Session() as session,
            pytest.raises(tf.errors.InvalidArgumentError, match="Cannot assign a device"),
        ):
            session.run(element)
