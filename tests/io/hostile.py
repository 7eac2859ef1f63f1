# SPDX-License-Identifier: Apache-2.0
"""Files and messages that somebody damaged on purpose: samples, what damages them, what reads them.

As a program it reads damaged samples with little memory and prints what went wrong.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import numbaflow as tf

# What a reader may say of a file that is not what it should be.
TOLD = (tf.errors.OpError, ValueError, OSError)
_NUMBERS = (b"\xff" * 8, b"\xff" * 4, b"\x7f" + b"\xff" * 3, b"\xff" * 9 + b"\x01", b"\0" * 8)


def damaged(data: bytes, seed: int, count: int) -> Iterator[bytes]:
    """The same bytes cut short, changed, with large numbers, or with parts of them twice."""
    chance = random.Random(seed)
    for _ in range(count):
        result = bytearray(data)
        for _ in range(chance.choice((1, 1, 1, 2, 5))):
            at = chance.randrange(len(result) + 1)
            way = chance.randrange(6)
            if way == 0:
                del result[at:]
            elif way == 1 and at < len(result):
                result[at] ^= 1 << chance.randrange(8)
            elif way == 2 and at < len(result):
                result[at] = chance.randrange(256)
            elif way == 3:
                number = chance.choice(_NUMBERS)
                result[at : at + len(number)] = number
            elif way == 4:
                result[at:at] = chance.choice(_NUMBERS)
            else:
                other = chance.randrange(len(result) + 1)
                result[at:at] = result[other : other + chance.randrange(64)]
            if not result:
                break
        yield bytes(result)


def _graph() -> Any:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 3], "x")
        w = tf.Variable(np.arange(6, dtype=np.float32).reshape(3, 2), name="w")
        y = tf.cond(tf.size(x) > 2, lambda: tf.matmul(x, w), lambda: tf.zeros([1, 2]))
        tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * 2.0), [0, y])
        tf.train.Saver()
        return graph.as_graph_def(add_shapes=True)


def _import(message: Any) -> None:
    with tf.Graph().as_default():
        tf.import_graph_def(message, name="")


def _written(write: Callable[[str], Any], suffix: str = "") -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/file"
        write(path)
        return Path(path + suffix).read_bytes()


def _save(path: str, version: int = 2) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.Variable(np.arange(40, dtype=np.float32), name="a")
        tf.Variable([b"text", b"more"], name="b")
        sess.run(tf.global_variables_initializer())
        saver = tf.train.Saver(write_version=version)
        saver.save(sess, path, write_meta_graph=False, write_state=False)


def _read_checkpoint(path: str) -> None:
    reader = tf.train.NewCheckpointReader(path)
    for name in reader.get_variable_to_shape_map():
        reader.get_tensor(name)


def _records(kind: str) -> Callable[[str], None]:
    def write(path: str) -> None:
        with tf.python_io.TFRecordWriter(path, tf.python_io.TFRecordOptions(kind)) as writer:
            for number in range(5):
                writer.write(b"record %d " % number * 20)

    return write


def _read_records(kind: str) -> Callable[[str], None]:
    def read(path: str) -> None:
        for _ in tf.python_io.tf_record_iterator(path, tf.python_io.TFRecordOptions(kind)):
            pass

    return read


def _events(path: str) -> None:
    with tf.python_io.TFRecordWriter(path) as writer:
        for step in range(3):
            value = tf.Summary.Value(tag="a", simple_value=step)
            event = tf.Event(step=step, summary=tf.Summary(value=[value]))
            writer.write(event.SerializeToString())


def _example(kind: str) -> bytes:
    features = tf.train.Features(
        feature={
            "f": tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0])),
            "i": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2, 300])),
            "b": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"a", b"bc"])),
        }
    )
    if kind == "Example":
        return tf.train.Example(features=features).SerializeToString()
    return tf.train.SequenceExample(context=features).SerializeToString()


_FEATURES = {"f": tf.VarLenFeature(tf.float32), "i": tf.VarLenFeature(tf.int64)}
_FEATURES["b"] = tf.VarLenFeature(tf.string)


class _Op:
    """What an op makes of a text; the graph is made once."""

    def __init__(self, build: Callable[[Any], Any]) -> None:
        with tf.Graph().as_default() as graph:
            self.text = tf.placeholder(tf.string, [])
            self.out = build(self.text)
        self.session = tf.Session(graph=graph)

    def __call__(self, data: bytes) -> None:
        self.session.run(self.out, {self.text: data})


def _of_file(read: Callable[[str], Any], suffix: str = "", beside: Any = None) -> Any:
    folder = _kept_folder()
    path = f"{folder}/file"
    if beside is not None:
        beside(path)

    def of_bytes(data: bytes) -> None:
        Path(path + suffix).write_bytes(data)
        read(path)

    return of_bytes


_KEPT: list[tempfile.TemporaryDirectory[str]] = []


def _kept_folder() -> str:
    """A folder that is there until the process ends."""
    _KEPT.append(tempfile.TemporaryDirectory())
    return _KEPT[-1].name


def _parsed(message: type, use: Callable[[Any], None]) -> Callable[[bytes], None]:
    def of_bytes(data: bytes) -> None:
        from google.protobuf.message import DecodeError

        try:
            found = message.FromString(data)
        except DecodeError as error:
            raise ValueError(str(error)) from None
        use(found)

    return of_bytes


_MODEL = "/saved_model.pb"


def _model(path: str) -> bytes:
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(1.0, name="v")
        sess.run(v.initializer)
        tf.saved_model.simple_save(sess, path, {"v": v.value()}, {"v": v.value()})
    return Path(path + _MODEL).read_bytes()


def _load_model(path: str) -> None:
    from google.protobuf.message import DecodeError

    try:
        with tf.Session(graph=tf.Graph()) as sess:
            tf.saved_model.load(sess, ["serve"], path)
    # Names that the graph lacks, as TensorFlow tells of them.
    except (DecodeError, KeyError, TypeError) as error:
        raise ValueError(str(error)) from None


def _archive(data: bytes) -> None:
    from numbaflow.engine import settings
    from numbaflow.jit.cache import admin, kernel_archive

    with tempfile.TemporaryDirectory() as folder, settings.override(cache=f"{folder}/c"):
        path = Path(folder) / "archive"
        path.write_bytes(data)
        try:
            kernel_archive.load(path)
            assert admin.verify()[1] == []
        except kernel_archive.NoArchive as error:
            raise ValueError(str(error)) from None


def _exported() -> bytes:
    from numbaflow.engine import settings
    from numbaflow.jit.cache import admin, kernel_archive

    with tempfile.TemporaryDirectory() as folder:
        with settings.override(cache=f"{folder}/c", jit="always"):
            with tf.Graph().as_default(), tf.Session() as sess:
                x = tf.placeholder(tf.float32, [None])
                sess.run(tf.reduce_sum(x * 3.0), {x: [1.0]})
            kernel_archive.export(Path(folder) / "a", admin.items())
        return (Path(folder) / "a").read_bytes()


_SAMPLES: dict[str, tuple[bytes, Callable[[bytes], None]]] = {}


def samples() -> dict[str, tuple[bytes, Callable[[bytes], None]]]:
    """Kind -> bytes that are as they should be, and what reads such bytes."""
    if _SAMPLES:
        return _SAMPLES
    tensor = tf.make_tensor_proto(np.arange(6, dtype=np.float32).reshape(2, 3)).SerializeToString()
    zipped = {kind: _written(_records(kind)) for kind in ("GZIP", "ZLIB")}
    _SAMPLES.update(
        {
            "graph": (_graph().SerializeToString(), _parsed(tf.GraphDef, _import)),
            "model": (_model(f"{_kept_folder()}/m"), _of_file(_load_model, _MODEL, _model)),
            "checkpoint index": (
                _written(_save, ".index"),
                _of_file(_read_checkpoint, ".index", _save),
            ),
            "checkpoint data": (
                _written(_save, ".data-00000-of-00001"),
                _of_file(_read_checkpoint, ".data-00000-of-00001", _save),
            ),
            "old checkpoint": (
                _written(lambda path: _save(path, 1)),
                _of_file(_read_checkpoint),
            ),
            "events": (
                _written(_events),
                _of_file(lambda path: list(tf.train.summary_iterator(path))),
            ),
            "archive": (_exported(), _archive),
            "tensor": (tensor, _Op(lambda x: tf.io.parse_tensor(x, tf.float32))),
            "Example": (_example("Example"), _Op(lambda x: tf.parse_single_example(x, _FEATURES))),
            "SequenceExample": (
                _example("SequenceExample"),
                _Op(lambda x: tf.io.parse_single_sequence_example(x, _FEATURES)),
            ),
            "json": (
                b'{"features": {"feature": {"a": {"int64List": {"value": [1, 2]}}}}}',
                _Op(tf.io.decode_json_example),
            ),
            "csv": (b'1,"2, 3",4', _Op(lambda x: tf.io.decode_csv(x, [[0], [""], [0.0]]))),
            **{
                f"records {kind}": (data, _of_file(_read_records(kind)))
                for kind, data in (("", _written(_records(""))), *zipped.items())
            },
            **{
                f"compressed {kind}": (data, _Op(lambda x, k=kind: tf.io.decode_compressed(x, k)))
                for kind, data in zipped.items()
            },
        }
    )
    return _SAMPLES


def problems(kind: str, seed: int, count: int) -> list[str]:
    """What happened to damaged samples beside being read or being told to be wrong."""
    data, read = samples()[kind]
    read(data)
    found = []
    for number, bad in enumerate(damaged(data, seed, count)):
        try:
            read(bad)
        except TOLD:
            continue
        except BaseException as error:
            found.append(f"{kind} {number}: {type(error).__name__}: {error}"[:300])
    return found


if __name__ == "__main__":
    import resource

    # Enough for the package; numbers in files ask for more.
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    for kind in sys.argv[3:] or samples():
        for line in problems(kind, int(sys.argv[1]), int(sys.argv[2])):
            print(line)
