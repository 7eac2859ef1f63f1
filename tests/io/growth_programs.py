# SPDX-License-Identifier: Apache-2.0
"""What the package does with files, each with some number of things: `test_growth.py` runs it."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.io import checkpoint_v1, events, protos, table
from numbaflow.io.bundle_reader import BundleReader
from numbaflow.io.checkpoint_reader import new_checkpoint_reader
from numbaflow.io.tensor_bundle import BundleWriter, merge_bundles
from numbaflow.io.tensor_slice import TensorSlice

Work = Callable[[], Any]
# Name -> (how many things at first, what prepares the work for a folder and a number).
PROGRAMS: dict[str, tuple[int, Callable[[pathlib.Path, int], Work]]] = {}


def program(count: int) -> Callable[[Any], Any]:
    """Adds a program."""

    def add(prepare: Any) -> Any:
        PROGRAMS[prepare.__name__] = count, prepare
        return prepare

    return add


def _written(path: str, count: int, kind: str, size: int = 200) -> str:
    # Half of it compresses well: much of the file comes out of few bytes.
    half = np.random.default_rng(0).bytes(size // 2)
    with tf.io.TFRecordWriter(path, kind) as writer:
        for i in range(count):
            writer.write(half + b"%d" % i + bytes(size // 2))
    return path


def _records(kind: str, size: int, first: int) -> None:
    def read(folder: pathlib.Path, count: int) -> Work:
        path = _written(str(folder / "records"), count, kind, size)
        return lambda: sum(1 for _ in tf.io.tf_record_iterator(path, kind))

    def write(folder: pathlib.Path, count: int) -> Work:
        return lambda: _written(str(folder / "records"), count, kind, size)

    PROGRAMS[f"{kind or 'plain'} records of {size} are read"] = first, read
    PROGRAMS[f"{kind or 'plain'} records of {size} are written"] = first, write


for _kind in ("", "GZIP", "ZLIB"):
    _records(_kind, 200, 3000)
    _records(_kind, 1 << 20, 3)


@program(1)
def one_large_compressed_record(folder: pathlib.Path, count: int) -> Work:
    path = _written(str(folder / "records"), 1, "GZIP", count << 22)
    return lambda: list(tf.io.tf_record_iterator(path, "GZIP"))


@program(500)
def compressed_records_that_are_flushed(folder: pathlib.Path, count: int) -> Work:
    def run() -> None:
        with tf.io.TFRecordWriter(str(folder / "records"), "GZIP") as writer:
            for _ in range(count):
                writer.write(b"record")
                writer.flush()
        assert sum(1 for _ in tf.io.tf_record_iterator(str(folder / "records"), "GZIP")) == count

    return run


@program(1)
def zeros_that_compress_well(folder: pathlib.Path, count: int) -> Work:
    with tf.io.TFRecordWriter(str(folder / "records"), "GZIP") as writer:
        writer.write(bytes(count << 23))
    return lambda: list(tf.io.tf_record_iterator(str(folder / "records"), "GZIP"))


@program(1000)
def events_are_written_and_read(folder: pathlib.Path, count: int) -> Work:
    def run() -> None:
        writer = tf.summary.FileWriter(str(folder / "events"), max_queue=100000)
        for step in range(count):
            value = protos.Summary.Value(tag="loss", simple_value=1.0)
            writer.add_summary(protos.Summary(value=[value]), step)
        writer.close()
        (name,) = (folder / "events").iterdir()
        assert sum(1 for _ in events.summary_iterator(str(name))) == count + 1
        name.unlink()

    return run


@program(2000)
def tables_are_written_and_read(folder: pathlib.Path, count: int) -> Work:
    items = [(b"%08d" % i, b"x" * 300) for i in range(count)]

    def run() -> None:
        read = table.Table(table.encode(items))
        assert len(list(read)) == count
        assert all(read.get(key) for key, _ in items)

    return run


def _variables(count: int, size: int = 4) -> dict[str, np.ndarray]:
    return {f"layer_{i}/weights": np.full(size, i, np.float32) for i in range(count)}


@program(1000)
def first_checkpoints_of_many_variables(folder: pathlib.Path, count: int) -> Work:
    found = _variables(count)
    parts = [(k.encode(), v.shape, TensorSlice.full(1), v, tf.float32) for k, v in found.items()]

    def run() -> None:
        checkpoint_v1.write(str(folder / "ckpt"), parts)
        reader = new_checkpoint_reader(str(folder / "ckpt"))
        assert all(reader.get_tensor(name).size for name in found)

    return run


@program(100)
def first_checkpoints_of_a_partitioned_variable(folder: pathlib.Path, count: int) -> Work:
    rows = np.ones((1, 8), np.float32)
    slices = [TensorSlice(((i, 1), (0, -1))) for i in range(count)]
    parts = [(b"v", (count, 8), part, rows, tf.float32) for part in slices]

    def run() -> None:
        checkpoint_v1.write(str(folder / "ckpt"), parts)
        with checkpoint_v1.V1Reader(str(folder / "ckpt")) as reader:
            reader.read(b"v")
            for part in slices:
                reader.read_slice(b"v", part)

    return run


@program(1)
def first_checkpoints_of_a_large_variable(folder: pathlib.Path, count: int) -> Work:
    value = np.ones(count << 17, np.float32)
    parts = [(b"v", value.shape, TensorSlice.full(1), value, tf.float32)]

    def run() -> None:
        checkpoint_v1.write(str(folder / "ckpt"), parts)
        new_checkpoint_reader(str(folder / "ckpt")).get_tensor("v")

    return run


@program(1000)
def checkpoints_of_many_variables(folder: pathlib.Path, count: int) -> Work:
    found = _variables(count)

    def run() -> None:
        prefix = str(folder / "ckpt")
        with BundleWriter(prefix) as writer:
            for name, value in found.items():
                writer.add(name.encode(), value, tf.float32)
            writer.finish()
        reader = new_checkpoint_reader(prefix)
        assert all(reader.get_tensor(name).size for name in found)
        with BundleReader(prefix) as bundle:
            for name in found:
                bundle.read(name.encode(), defer=True)
            bundle.check()

    return run


@program(300)
def checkpoints_of_a_partitioned_variable(folder: pathlib.Path, count: int) -> Work:
    rows = np.ones((1, 8), np.float32)
    slices = [TensorSlice(((i, 1), (0, -1))) for i in range(count)]

    def run() -> None:
        prefix = str(folder / "ckpt")
        with BundleWriter(prefix) as writer:
            for part in slices:
                writer.add_slice(b"v", (count, 8), part, rows, tf.float32)
            writer.finish()
        with BundleReader(prefix) as reader:
            reader.read(b"v")
            for part in slices:
                reader.read_slice(b"v", part, defer=True)
            reader.check()

    return run


@program(1)
def checkpoints_of_a_large_variable(folder: pathlib.Path, count: int) -> Work:
    value = np.ones(count << 21, np.float32)

    def run() -> None:
        with BundleWriter(str(folder / "ckpt")) as writer:
            writer.add(b"v", value, tf.float32)
            writer.finish()
        new_checkpoint_reader(str(folder / "ckpt")).get_tensor("v")

    return run


@program(20000)
def checkpoints_of_texts(folder: pathlib.Path, count: int) -> Work:
    value = np.array([b"text"] * count, object)

    def run() -> None:
        with BundleWriter(str(folder / "ckpt")) as writer:
            writer.add(b"v", value, tf.string)
            writer.finish()
        new_checkpoint_reader(str(folder / "ckpt")).get_tensor("v")

    return run


@program(20)
def checkpoints_that_are_merged(folder: pathlib.Path, count: int) -> Work:
    def run() -> None:
        prefixes = [str(folder / f"part{i}") for i in range(count)]
        for i, prefix in enumerate(prefixes):
            with BundleWriter(prefix) as writer:
                writer.add(b"v%d" % i, np.float32(i), tf.float32)
                writer.finish()
        merge_bundles(prefixes, str(folder / "ckpt"))
        new_checkpoint_reader(str(folder / "ckpt")).get_tensor("v0")

    return run


def _chain(count: int) -> Any:
    x = y = tf.constant(1.0)
    for _ in range(count):
        y = y + x
    return y


def _star(count: int) -> Any:
    x = tf.constant(1.0)
    with tf.control_dependencies([x]):
        parts = [tf.negative(x) for _ in range(count)]
    return tf.group(*parts)


def _message(make: Callable[[int], Any], count: int) -> Any:
    with tf.Graph().as_default() as graph:
        make(count)
    return graph.as_graph_def()


def _graphs(name: str, make: Callable[[int], Any], first: int) -> None:
    def exported(folder: pathlib.Path, count: int) -> Work:
        with tf.Graph().as_default() as graph:
            make(count)
        return lambda: graph.as_graph_def(add_shapes=True)

    def imported(folder: pathlib.Path, count: int) -> Work:
        message = _message(make, count)

        def run() -> None:
            with tf.Graph().as_default():
                tf.import_graph_def(message)

        return run

    def refused(folder: pathlib.Path, count: int) -> Work:
        message = _message(make, count)
        message.node.add(name="zz", op="NoSuchOp", input=[f"^{message.node[-1].name}"])

        def run() -> None:
            with tf.Graph().as_default() as graph:
                try:
                    tf.import_graph_def(message)
                except tf.errors.NotFoundError:
                    assert not graph.get_operations()
                    return
            raise AssertionError("an unknown op type was imported")

        return run

    for what in (exported, imported, refused):
        PROGRAMS[f"{name} graphs are {what.__name__}"] = first, what


_graphs("deep", _chain, 500)
_graphs("broad", _star, 4000)


@program(500)
def graphs_whose_nodes_have_one_name(folder: pathlib.Path, count: int) -> Work:
    def run() -> None:
        with tf.Graph().as_default() as graph:
            for _ in range(count):
                tf.no_op(name="a")
            message = graph.as_graph_def()
            tf.import_graph_def(message, name="")
            tf.import_graph_def(message, name="")

    return run


@program(300)
def graphs_as_text(folder: pathlib.Path, count: int) -> Work:
    from google.protobuf import text_format

    message = _message(_chain, count)

    def run() -> None:
        tf.io.write_graph(message, str(folder), "graph.pbtxt")
        text_format.Parse((folder / "graph.pbtxt").read_text(), tf.GraphDef())

    return run


@program(60)
def meta_graphs_of_many_variables(folder: pathlib.Path, count: int) -> Work:
    with tf.Graph().as_default() as graph:
        for i in range(count):
            tf.get_variable(f"v{i}", [2], use_resource=bool(i % 2))
        tf.train.Saver()
    path = str(folder / "model.meta")

    def run() -> None:
        with graph.as_default():
            tf.train.export_meta_graph(path)
        with tf.Graph().as_default():
            tf.train.import_meta_graph(path)

    return run


@program(40)
def saved_models_of_many_variables(folder: pathlib.Path, count: int) -> Work:
    path = str(folder / "model")
    with settings.override(jit="never"), tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2], name="x")
        y = x
        for i in range(count):
            y += tf.get_variable(f"v{i}", [2])
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, path, {"x": x}, {"y": y})

    def run() -> None:
        with settings.override(jit="never"), tf.Graph().as_default(), tf.Session() as session:
            tf.saved_model.load(session, ["serve"], path)

    return run


def _operations(make: Callable[[Any], Any], values: Callable[[int], list[bytes]]) -> Any:
    def prepare(folder: pathlib.Path, count: int) -> Work:
        with tf.Graph().as_default() as graph:
            texts = tf.placeholder(tf.string, [None])
            results = make(texts)
        feed = np.array(values(count), object)
        session = tf.Session(graph=graph)

        def run() -> None:
            with settings.override(jit="never"):
                session.run(results, {texts: feed})

        return run

    return prepare


def _example(count: int, width: int, texts: int = 1) -> list[bytes]:
    example = protos.Example()
    example.features.feature["a"].float_list.value.extend([1.0] * width)
    example.features.feature["b"].bytes_list.value.extend([b"x"] * texts)
    return [example.SerializeToString()] * count


def _parsed(texts: Any) -> Any:
    features = {"a": tf.VarLenFeature(tf.float32), "b": tf.VarLenFeature(tf.string)}
    return tf.parse_example(texts, features)


PROGRAMS["many examples are parsed"] = 2000, _operations(_parsed, lambda n: _example(n, 3))
PROGRAMS["long examples are parsed"] = 2000, _operations(_parsed, lambda n: _example(20, n))
PROGRAMS["examples of many texts are parsed"] = (
    500,
    _operations(_parsed, lambda n: _example(20, 1, n)),
)
PROGRAMS["many lines of CSV are parsed"] = (
    2000,
    _operations(lambda x: tf.decode_csv(x, [[1.0], ["x"]]), lambda n: [b'1.5,"a"'] * n),
)
PROGRAMS["a long line of CSV is parsed"] = (
    5000,
    _operations(
        lambda x: tf.decode_csv(x, [["x"]], select_cols=[0]),
        lambda n: [b'"' + b'""' * n + b'",' + b"1," * n],
    ),
)
PROGRAMS["large tensors are parsed"] = (
    100000,
    _operations(
        lambda x: tf.parse_tensor(x[0], tf.float32),
        lambda n: [tf.make_tensor_proto(np.ones(n, np.float32)).SerializeToString()],
    ),
)
PROGRAMS["texts are decompressed"] = (
    1 << 22,
    _operations(
        lambda x: tf.decode_compressed(x, "GZIP"), lambda n: [__import__("gzip").compress(bytes(n))]
    ),
)


def _queue(make: Callable[[int], Any]) -> Any:
    def prepare(folder: pathlib.Path, count: int) -> Work:
        def run() -> None:
            with settings.override(jit="never"), tf.Graph().as_default(), tf.Session() as session:
                queue = make(count)
                session.run(queue.enqueue_many(tf.range(count, dtype=tf.int64)))
                session.run(queue.dequeue_many(count))

        return run

    return prepare


PROGRAMS["queues give what they took"] = (
    3000,
    _queue(lambda n: tf.FIFOQueue(n, tf.int64, shapes=[])),
)
PROGRAMS["shuffling queues give what they took"] = (
    3000,
    _queue(lambda n: tf.RandomShuffleQueue(n, 0, tf.int64, shapes=[], seed=1)),
)
PROGRAMS["padding queues give what they took"] = (
    3000,
    _queue(lambda n: tf.PaddingFIFOQueue(n, tf.int64, shapes=[[]])),
)


def _reader(make: Callable[[], Any], content: Callable[[int], bytes]) -> Any:
    def prepare(folder: pathlib.Path, count: int) -> Work:
        path = folder / "file"
        path.write_bytes(content(count))

        def run() -> None:
            with settings.override(jit="never"), tf.Graph().as_default(), tf.Session() as session:
                names = tf.FIFOQueue(1, [tf.string], shapes=[[]])
                keys, _ = make().read_up_to(names, count + 1)
                session.run(names.enqueue(str(path)))
                assert len(session.run(keys)) == count

        return run

    return prepare


PROGRAMS["lines are read"] = 5000, _reader(tf.TextLineReader, lambda n: b"a line\n" * n)
PROGRAMS["records of one length are read"] = (
    5000,
    _reader(lambda: tf.FixedLengthRecordReader(7), lambda n: b"a line\n" * n),
)
PROGRAMS["compressed records of one length are read"] = (
    5000,
    _reader(
        lambda: tf.FixedLengthRecordReader(7, encoding="GZIP"),
        lambda n: __import__("gzip").compress(np.random.default_rng(0).bytes(7 * n)),
    ),
)


@program(5000)
def lines_of_files(folder: pathlib.Path, count: int) -> Work:
    (folder / "file").write_bytes(b"a line of text\n" * count)

    def run() -> None:
        with tf.gfile.GFile(str(folder / "file")) as file:
            while file.readline():
                pass
        assert len(tf.gfile.GFile(str(folder / "file")).readlines()) == count

    return run


@program(100)
def folders_are_walked(folder: pathlib.Path, count: int) -> Work:
    path = folder
    for i in range(count):
        (folder / f"dir{i}").mkdir()
        (folder / f"dir{i}" / "file").touch()
        if i < 200:
            path /= "deep"
            path.mkdir()

    def run() -> None:
        assert sum(1 for _ in tf.gfile.Walk(str(folder))) > count
        assert len(tf.gfile.Glob(str(folder / "dir*" / "*"))) == count

    return run


@program(3000)
def tables_from_files(folder: pathlib.Path, count: int) -> Work:
    (folder / "words").write_text("".join(f"word{i}\n" for i in range(count)))

    def run() -> None:
        with settings.override(jit="never"), tf.Graph().as_default(), tf.Session() as session:
            rows = tf.lookup.TextFileInitializer(
                str(folder / "words"),
                *(tf.string, tf.lookup.TextFileIndex.WHOLE_LINE),
                *(tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER),
            )
            found = tf.lookup.StaticHashTable(rows, -1)
            session.run(tf.tables_initializer())
            assert session.run(found.size()) == count

    return run


@program(200)
def states_of_many_checkpoints(folder: pathlib.Path, count: int) -> Work:
    (folder / "ckpt.index").touch()
    paths = [f"ckpt-{i}" for i in range(count)] + ["ckpt"]

    def run() -> None:
        tf.train.update_checkpoint_state(str(folder), "ckpt", paths)
        assert tf.train.latest_checkpoint(str(folder)) == os.path.join(str(folder), "ckpt")

    return run


@program(10)
def kernels_in_archives(folder: pathlib.Path, count: int) -> Work:
    import io
    import tarfile

    from numbaflow.jit.cache import kernel_archive

    path = folder / "kernels.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for i in range(10 * count):
            for name in ("kernel.py", "kernel.o", "key.txt", "manifest.json"):
                member = tarfile.TarInfo(f"{i:064x}/{name}")
                member.size = 500
                archive.addfile(member, io.BytesIO(b"x" * 500))
    return lambda: kernel_archive.load(path)
