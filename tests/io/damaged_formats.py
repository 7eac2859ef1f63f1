# SPDX-License-Identifier: Apache-2.0
"""The formats that `damage.py` damages: small whole files of each, and how they are read."""

from __future__ import annotations

import gzip
import os
import random
import struct
import warnings
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from damage import _NUMBERS, changed, damaged
from google.protobuf.message import DecodeError

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.io import crc, events, mnist, protos, snappy, table, tensor_bundle, varint
from numbaflow.io.bundle_reader import BundleReader
from numbaflow.io.checkpoint_reader import new_checkpoint_reader
from numbaflow.train.summaries import recording

warnings.simplefilter("ignore")
tf.logging.set_verbosity(tf.logging.FATAL)


class Format:
    """One format: `damaged` writes a damaged file and says what `read` is to be given."""

    # Errors other than those of tf.errors that TensorFlow's Python raises here, too.
    allowed: tuple[str, ...] = ()

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def damaged(self, rng: random.Random) -> Any:
        """Writes a damaged file."""
        raise NotImplementedError

    def read(self, thing: Any) -> None:
        """Reads it."""
        raise NotImplementedError

    def write(self, content: bytes, name: str = "file") -> str:
        """A file with some content."""
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(content)
        return path


def _record(data: bytes, rng: random.Random) -> bytes:
    """A record, in one of three with another length, whose checksum is right."""
    count = len(data) if rng.random() < 0.66 else rng.choice(_NUMBERS) & (1 << 64) - 1
    length = struct.pack("<Q", count)
    check = struct.pack("<I", crc.masked(data))
    return length + struct.pack("<I", crc.masked(length)) + data + check


class Records(Format):
    """TFRecord files."""

    kind = ""

    def contents(self, rng: random.Random) -> list[bytes]:
        """What the records hold."""
        return [b"one", b"", b"three" * 40]

    def damaged(self, rng: random.Random) -> str:
        content = b"".join(_record(data, rng) for data in self.contents(rng))
        if rng.random() < 0.4:
            content = damaged(content, rng)
        if self.kind:
            window = zlib.MAX_WBITS + 16 * (self.kind == "GZIP")
            packer = zlib.compressobj(wbits=window)
            content = packer.compress(content) + packer.flush()
            if rng.random() < 0.4:
                content = damaged(content, rng)
        return self.write(content)

    def read(self, thing: str) -> None:
        list(tf.io.tf_record_iterator(thing, tf.io.TFRecordOptions(self.kind)))


class GzipRecords(Records):
    kind = "GZIP"


class ZlibRecords(Records):
    kind = "ZLIB"


class Events(Records):
    """Event files."""

    allowed = ("DecodeError",)  # as in TensorFlow's summary_iterator

    def contents(self, rng: random.Random) -> list[bytes]:
        value = protos.Summary.Value(tag="loss", simple_value=1.0)
        event = protos.Event(wall_time=1.0, step=3, summary=protos.Summary(value=[value]))
        message = changed(event, rng).SerializeToString(deterministic=True)
        return [damaged(message, rng) if rng.random() < 0.5 else message]

    def read(self, thing: str) -> None:
        for event in events.summary_iterator(thing):
            str(event)


def _table(items: dict[bytes, bytes], rng: random.Random) -> bytes:
    """A table; in half of the cases blocks, handles or keys are damaged and their sums right."""
    if rng.random() < 0.2:
        items = {damaged(k, rng) if rng.random() < 0.3 else k: v for k, v in items.items()}
    content = table.encode(sorted(items.items()))
    choice = rng.random()
    if choice < 0.2:
        return damaged(content, rng)
    if choice < 0.6:
        return _with_block(content, rng)
    return content


def _with_block(content: bytes, rng: random.Random) -> bytes:
    """A table with one block damaged or compressed, and right checksums."""
    read = table.Table(content)
    footer = content[-48:]
    _, at = varint.get(footer, 0)
    _, at = varint.get(footer, at)
    offset, at = varint.get(footer, at)
    size, _ = varint.get(footer, at)
    places = [*read._places, (offset, size)]
    offset, size = rng.choice(places)
    block = damaged(content[offset : offset + size], rng)
    if rng.random() < 0.3:
        block = varint.put(len(block)) + _literals(block)
        if rng.random() < 0.7:
            block = damaged(block, rng)
        kind = b"\1"
    else:
        kind = rng.choice((b"\0", b"\0", b"\7"))
    if rng.random() < 0.7:
        block = block[:size].ljust(size, b"\0")
    return b"".join(
        (
            content[:offset],
            block + kind + struct.pack("<I", crc.masked(block + kind)),
            content[offset + size + 5 :],
        )
    )


def _literals(data: bytes) -> bytes:
    parts = [data[i : i + 60] for i in range(0, len(data), 60)]
    return b"".join(bytes(((len(part) - 1) << 2,)) + part for part in parts)


class Snappy(Format):
    """Compressed blocks."""

    def damaged(self, rng: random.Random) -> bytes:
        copies = b"\x05\x03\xfe\x01\x00\xff\x02\x00\x00\x00"
        data = varint.put(rng.choice((100, 2**31, 2**40, 1))) + _literals(b"abc" * 9) + copies
        return damaged(data, rng)

    def read(self, thing: bytes) -> None:
        snappy.decompress(thing)


class Bundle(Format):
    """Checkpoints."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        prefix = os.path.join(folder, "whole")
        self.shape = (4, 3)
        with tensor_bundle.BundleWriter(prefix) as writer:
            writer.add(b"a", np.arange(6, dtype=np.float32).reshape(2, 3), tf.float32)
            writer.add(b"b", np.array([b"x", b"yy" * 90], object), tf.string)
            writer.add(b"c", np.int64(7), tf.int64)
            for start in (0, 2):
                part = tensor_bundle.TensorSlice(((start, 2), (0, -1)))
                rows = np.full((2, 3), start, np.float32)
                writer.add_slice(b"p", self.shape, part, rows, tf.float32)
            writer.finish()
        self.entries, _ = tensor_bundle.read_index(prefix)
        with open(tensor_bundle.data_path(prefix, 0, 1), "rb") as file:
            self.data = file.read()

    def damaged(self, rng: random.Random) -> str:
        entries = dict(self.entries)
        for key in entries:
            if rng.random() < 0.3:
                kind = protos.BundleEntryProto if key else protos.BundleHeaderProto
                entries[key] = changed(kind.FromString(entries[key]), rng).SerializeToString(
                    deterministic=True
                )
                if rng.random() < 0.1:
                    entries[key] = damaged(entries[key], rng)
        data = damaged(self.data, rng) if rng.random() < 0.2 else self.data
        self.write(data, "ckpt.data-00000-of-00001")
        self.write(_table(entries, rng), "ckpt.index")
        return os.path.join(self.folder, "ckpt")

    def read(self, thing: str) -> None:
        reader = new_checkpoint_reader(thing)
        reader.debug_string()
        failures = []
        for name in reader.get_variable_to_shape_map():
            try:
                reader.get_tensor(name)
            except tf.errors.OpError as error:  # others may be bare
                failures.append(error)
        self.read_deferred(thing)
        if failures:
            raise failures[0]

    def read_deferred(self, prefix: str) -> None:
        """As a restore reads: all at once, slices too."""
        with BundleReader(prefix) as reader:
            found = [reader.read(key, defer=True) for key in reader.tensors()]
            found.append(reader.read_slice(b"p", tensor_bundle.TensorSlice(((1, 2), (0, 3)))))
            reader.check()
            for source in found:
                if not isinstance(source, np.ndarray):
                    source.fill_all([source], [np.empty(source.shape, source.dtype)])


class FirstCheckpoint(Format):
    """Checkpoints of the first format."""

    def __init__(self, folder: str) -> None:
        from numbaflow.io import checkpoint_v1

        super().__init__(folder)
        full = tensor_bundle.TensorSlice.full
        parts: list[Any] = [
            (b"a", (2, 3), full(2), np.arange(6, dtype=np.float32).reshape(2, 3), tf.float32),
            (b"b", (2,), full(1), np.array([b"x", b"y"], object), tf.string),
            (b"h", (2,), full(1), np.float16([1, 2]), tf.float16),
        ]
        for start in (0, 2):
            part = tensor_bundle.TensorSlice(((start, 2),))
            parts.append((b"p", (4,), part, np.int64([start, 1]), tf.int64))
        path = os.path.join(folder, "whole")
        checkpoint_v1.write(path, parts)
        with open(path, "rb") as file:
            self.entries = dict(table.Table(file.read()))

    def damaged(self, rng: random.Random) -> str:
        entries = dict(self.entries)
        for key in entries:
            if rng.random() < 0.4:
                message = changed(protos.SavedTensorSlices.FromString(entries[key]), rng)
                entries[key] = message.SerializeToString(deterministic=True)
                if rng.random() < 0.1:
                    entries[key] = damaged(entries[key], rng)
        return self.write(_table(entries, rng), "ckpt")

    def read(self, thing: str) -> None:
        reader = new_checkpoint_reader(thing)
        reader.debug_string()
        for name in reader.get_variable_to_shape_map():
            reader.get_tensor(name)


def _graph() -> Any:
    """A graph of many kinds of nodes, with a loop and a function."""
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder_with_default(np.ones((2, 3), np.float32), [None, 3], name="x")
        v = tf.get_variable("v", initializer=np.float32([1, 2, 3]))
        parts = tf.split(x * v, 3, axis=1)
        joined = tf.concat(parts, 1, name="joined")
        big = tf.constant(2.0, shape=[50, 3]) + joined[:1]
        with tf.control_dependencies([big]):
            total = tf.reduce_sum(tf.reshape(big, [-1]), name="total")
        with tf.device("/cpu:0"), tf.colocate_with(v):
            tf.stack([total, total], name="stacked")
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)], name="loop")
        tf.cond(total > 0, lambda: total, lambda: -total, name="branch")
        tf.string_join([tf.constant("a"), tf.as_string(total)], name="text")
        queue = tf.FIFOQueue(3, [tf.float32], shapes=[[3]], name="queue")
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(v)]))
        tf.identity(tf.nn.softmax(joined), name="out")
        tf.global_variables_initializer()
        tf.train.Saver()
    return graph


class Graphs(Format):
    """GraphDefs, imported and written again."""

    allowed = ("ValueError", "DecodeError", "TypeError")

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.whole = self.make()

    def make(self) -> Any:
        """The undamaged message."""
        return _graph().as_graph_def(add_shapes=True)

    def damaged(self, rng: random.Random) -> bytes:
        content = changed(self.whole, rng).SerializeToString(deterministic=True)
        return damaged(content, rng) if rng.random() < 0.15 else content

    def read(self, thing: bytes) -> None:
        message = tf.GraphDef.FromString(thing)
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(message, name="")
            graph.as_graph_def(add_shapes=True).SerializeToString(deterministic=True)
            self.run(graph)

    def run(self, graph: Any) -> None:
        """What is done with the graph."""


class RunGraphs(Graphs):
    """GraphDefs that are run."""

    fetches: tuple[str, ...] = ("out:0", "stacked:0", "text:0", "loop/Exit:0", "branch/Merge:0")

    def run(self, graph: Any) -> None:
        names = {op.name: len(op.outputs) for op in graph.get_operations()}
        for fetch in self.fetches:
            name = fetch.partition(":")[0]
            if not names.get(name):
                continue
            with settings.override(jit="never"), tf.Session(graph=graph) as session:
                if "init" in names:
                    session.run("init")
                session.run(fetch, options=tf.RunOptions(timeout_in_ms=2000))


class Functions(RunGraphs):
    """GraphDefs with a library of functions."""

    fetches = ("y:0",)

    def make(self) -> Any:
        message = protos.GraphDef()
        message.versions.producer = 134
        message.node.add(name="x", op="Const").attr["dtype"].type = 1
        message.node[0].attr["value"].tensor.CopyFrom(tf.make_tensor_proto(3.0))
        for name, op in (("f", "f"), ("y", "g")):
            node = message.node.add(name=name, op=op, input=["x" if name == "f" else "f"])
            node.attr["T"].type = 1
        for name, inner in (("f", "Square"), ("g", "f")):
            function = message.library.function.add()
            signature = function.signature
            signature.name = name
            signature.input_arg.add(name="a", type_attr="T")
            signature.output_arg.add(name="b", type_attr="T")
            signature.attr.add(name="T", type="type")
            node = function.node_def.add(name="n", op=inner, input=["a"])
            node.attr["T"].placeholder = "T"
            function.ret["b"] = "n:y:0" if inner == "Square" else "n:b:0"
        return message


class MetaGraphs(Format):
    """Meta graphs in files."""

    allowed = ("ValueError", "OSError", "TypeError", "NotImplementedError")

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        with _graph().as_default():
            self.whole = tf.train.export_meta_graph()

    def damaged(self, rng: random.Random) -> str:
        message = changed(self.whole, rng)
        for key in sorted(message.collection_def):
            values = message.collection_def[key].bytes_list.value
            for i, value in enumerate(values):
                if rng.random() < 0.3:
                    values[i] = self.member(key, value, rng)
        if rng.random() < 0.2:
            from google.protobuf import text_format

            text = text_format.MessageToString(message).encode()
            return self.write(damaged(text, rng) if rng.random() < 0.6 else text)
        content = message.SerializeToString(deterministic=True)
        return self.write(damaged(content, rng) if rng.random() < 0.1 else content)

    @staticmethod
    def member(key: str, value: bytes, rng: random.Random) -> bytes:
        """A member of a collection, changed."""
        from numbaflow.engine.graph.collections import get_collection_proto_type

        kind = get_collection_proto_type(key)
        if kind is None or rng.random() < 0.3:
            return damaged(value, rng)
        message = kind()
        try:
            message.ParseFromString(value)
        except DecodeError:
            return value  # damaged already
        return changed(message, rng).SerializeToString(deterministic=True)

    def read(self, thing: str) -> None:
        with tf.Graph().as_default():
            tf.train.import_meta_graph(thing)


class SavedModels(Format):
    """Saved models."""

    allowed = ("ValueError", "OSError", "RuntimeError", "TypeError", "NotImplementedError")

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.path = os.path.join(folder, "model")
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.float32, [None, 3], name="x")
            v = tf.get_variable("v", initializer=np.float32([1, 2, 3]))
            asset = tf.constant(self.write(b"words", "asset.txt"), name="asset")
            tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, asset)
            session.run(tf.global_variables_initializer())
            builder = tf.saved_model.builder.SavedModelBuilder(self.path)
            signature = tf.saved_model.predict_signature_def({"x": x}, {"y": x * v})
            builder.add_meta_graph_and_variables(
                session,
                ["serve"],
                {"serving_default": signature},
                assets_collection=[asset],
                main_op=tf.tables_initializer(),
            )
            builder.save()
        with open(os.path.join(self.path, "saved_model.pb"), "rb") as file:
            self.whole = protos.SavedModel.FromString(file.read())

    def damaged(self, rng: random.Random) -> str:
        message = changed(self.whole, rng)
        for one in message.meta_graphs:
            for key in sorted(one.collection_def):
                values = one.collection_def[key].bytes_list.value
                for i, value in enumerate(values):
                    if rng.random() < 0.2:
                        values[i] = MetaGraphs.member(key, value, rng)
        content = message.SerializeToString(deterministic=True)
        if rng.random() < 0.1:
            content = damaged(content, rng)
        self.write(content, "model/saved_model.pb")
        return self.path

    def read(self, thing: str) -> None:
        with settings.override(jit="never"), tf.Graph().as_default(), tf.Session() as session:
            model = tf.saved_model.load(session, ["serve"], thing)
            signature = model.signature_def["serving_default"]
            tf.saved_model.utils.get_tensor_from_tensor_info(signature.outputs["y"])


class Operations(Format):
    """What operations parse: a node is run on a damaged text."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.session = tf.Session(graph=tf.Graph())
        with self.session.graph.as_default():
            self.texts = tf.placeholder(tf.string, [None])
            self.results = self.nodes()

    def nodes(self) -> Any:
        """The nodes that are run."""
        raise NotImplementedError

    def read(self, thing: list[bytes]) -> None:
        with settings.override(jit="never"):
            self.session.run(self.results, {self.texts: np.array(thing, object)})


class Examples(Operations):
    """Serialized Examples, a few and many."""

    def nodes(self) -> Any:
        features = {
            "a": tf.FixedLenFeature([2], tf.float32),
            "b": tf.VarLenFeature(tf.int64),
            "c": tf.FixedLenSequenceFeature([], tf.string, allow_missing=True),
        }
        return tf.parse_example(self.texts, features)

    def damaged(self, rng: random.Random) -> list[bytes]:
        example = protos.Example()
        example.features.feature["a"].float_list.value.extend([1, 2])
        example.features.feature["b"].int64_list.value.extend([1, -2, 300])
        example.features.feature["c"].bytes_list.value.extend([b"x", b"yy"])
        texts = [example.SerializeToString(deterministic=True)] * rng.choice((1, 20))
        for i in range(len(texts)):
            if rng.random() < 0.3:
                texts[i] = damaged(texts[i], rng)
        return texts


class Lines(Operations):
    """Lines of CSV files, read with and without quotes, all columns and some."""

    def nodes(self) -> Any:
        defaults = [[0], [0.5], [""], tf.constant([], tf.int64)]
        plain = {"use_quote_delim": False, "na_value": "NA", "field_delim": ";"}
        return [
            tf.decode_csv(self.texts, defaults),
            tf.decode_csv(self.texts, defaults, select_cols=[0, 1, 3, 4]),
            tf.decode_csv(self.texts, defaults, **plain),
        ]

    def damaged(self, rng: random.Random) -> Any:
        lines = [b'1,2.5,"a ""b"", c",4', b"1;-2e3;NA;9223372036854775807", b"-1,,x,3,,\r\n"]
        texts = [rng.choice(lines) for _ in range(rng.choice((1, 5)))]
        return rng.randrange(3), [
            damaged(line, rng) if rng.random() < 0.5 else line for line in texts
        ]

    def read(self, thing: Any) -> None:
        number, texts = thing
        with settings.override(jit="never"):
            self.session.run(self.results[number], {self.texts: np.array(texts, object)})


class Summaries(Operations):
    """Serialized Summary messages, merged and put into an event."""

    def nodes(self) -> Any:
        writer = tf.contrib.summary.create_file_writer(self.folder)
        self.session.run(writer.init())
        with writer.as_default():
            written = recording.write_raw_pb(self.texts, step=1)
        return [tf.summary.merge([self.texts]), written]

    def damaged(self, rng: random.Random) -> list[bytes]:
        summary = tf.Summary()
        summary.value.add(tag="a", simple_value=0.5)
        summary.value.add(tag="b").histo.bucket.extend([1.0, 2.0])
        summary.value.add(tag="c").image.encoded_image_string = b"png"
        summary.value.add(tag="d").metadata.plugin_data.plugin_name = "text"
        text = changed(summary, rng).SerializeToString(deterministic=True)
        return [damaged(text, rng), tf.Summary().SerializeToString()]


class SequenceExamples(Operations):
    """Serialized SequenceExamples."""

    def nodes(self) -> Any:
        context = {"a": tf.FixedLenFeature([], tf.int64, default_value=0)}
        lists = {
            "b": tf.FixedLenSequenceFeature([2], tf.float32, allow_missing=True),
            "c": tf.VarLenFeature(tf.string),
        }
        return tf.parse_single_sequence_example(self.texts[0], context, lists)

    def damaged(self, rng: random.Random) -> list[bytes]:
        example = protos.SequenceExample()
        example.context.feature["a"].int64_list.value.append(3)
        steps = example.feature_lists.feature_list
        steps["b"].feature.add().float_list.value.extend([1, 2])
        steps["c"].feature.add().bytes_list.value.append(b"x")
        return [damaged(changed(example, rng).SerializeToString(deterministic=True), rng)]


class Texts(Operations):
    """Lines of CSV, numbers, JSON-like and raw bytes."""

    def nodes(self) -> Any:
        columns = tf.decode_csv(self.texts, [[1.0], [0], ["x"]])
        return [*columns, tf.string_to_number(columns[2][:0])]

    def damaged(self, rng: random.Random) -> list[bytes]:
        return [damaged(b'1.5,2,"a ""quoted"" text"', rng) for _ in range(3)]


class Tensors(Operations):
    """Serialized tensors."""

    def nodes(self) -> Any:
        return tf.parse_tensor(self.texts[0], tf.float32)

    def damaged(self, rng: random.Random) -> list[bytes]:
        value = np.arange(6, dtype=np.float32).reshape(2, 3)
        message = tf.make_tensor_proto(value)
        if rng.random() < 0.5:
            message.ClearField("tensor_content")
            message.float_val.extend([1, 2])
        content = changed(message, rng).SerializeToString(deterministic=True)
        return [damaged(content, rng) if rng.random() < 0.2 else content]


class Compressed(Operations):
    """Compressed texts and texts of raw numbers."""

    def nodes(self) -> Any:
        return tf.decode_compressed(self.texts, "GZIP"), tf.decode_raw(self.texts[:0], tf.int32)

    def damaged(self, rng: random.Random) -> list[bytes]:
        return [damaged(gzip.compress(b"text" * 99, mtime=0), rng)]


class Sparse(Operations):
    """Serialized sparse tensors."""

    def nodes(self) -> Any:
        return tf.deserialize_many_sparse(tf.reshape(self.texts, [-1, 3]), tf.float32)

    def damaged(self, rng: random.Random) -> list[bytes]:
        arrays = (np.int64([[0, 1], [2, 3]]), np.float32([1, 2]), np.int64([4, 5]))
        result = []
        for array in arrays:
            message = tf.make_tensor_proto(array)
            if rng.random() < 0.4:
                message = changed(message, rng)
            content = message.SerializeToString(deterministic=True)
            result.append(damaged(content, rng) if rng.random() < 0.2 else content)
        return result


class Digits(Format):
    """MNIST's files."""

    allowed = ("ValueError",)

    def damaged(self, rng: random.Random) -> tuple[str, bool]:
        is_images = rng.random() < 0.5
        head, count = ([2051, 5, 4, 3], 60) if is_images else ([2049, 5], 5)
        if rng.random() < 0.6:
            head[rng.randrange(len(head))] = rng.choice((0, 1, 4, 6, 2**31, 2**32 - 1, 65536))
        body = bytes(rng.randrange(11) for _ in range(count))
        content = np.array(head, ">u4").tobytes() + body
        if rng.random() < 0.4:
            content = damaged(content, rng)
        content = gzip.compress(content, mtime=0)
        if rng.random() < 0.4:
            content = damaged(content, rng)
        return self.write(content), is_images

    def read(self, thing: tuple[str, bool]) -> None:
        path, is_images = thing
        with open(path, "rb") as file, open(os.devnull, "w") as nothing:
            from contextlib import redirect_stdout

            with redirect_stdout(nothing):
                if is_images:
                    mnist.extract_images(file)
                else:
                    mnist.extract_labels(file, one_hot=True)


class Vocabularies(Format):
    """Text files that fill lookup tables."""

    def damaged(self, rng: random.Random) -> str:
        return self.write(damaged(b"a\t1\nbb\t2\nccc\t3\n", rng))

    def read(self, thing: str) -> None:
        with settings.override(jit="never"), tf.Graph().as_default(), tf.Session() as session:
            filled = tf.lookup.TextFileInitializer(thing, tf.string, 0, tf.int64, 1)
            found = tf.lookup.StaticHashTable(filled, -1)
            session.run(tf.tables_initializer())
            session.run(found.lookup(tf.constant(["a"])))


class Readers(Format):
    """Files that readers of queues read."""

    def damaged(self, rng: random.Random) -> tuple[int, str]:
        content = b"one\ntwo\nthree\n" * 3
        number = rng.randrange(4)
        if number >= 2:
            content = gzip.compress(content, mtime=0)
        return number, self.write(damaged(content, rng))

    def read(self, thing: tuple[int, str]) -> None:
        number, path = thing
        with settings.override(jit="never"), tf.Graph().as_default(), tf.Session() as session:
            makers: tuple[Callable[[], Any], ...] = (
                tf.TextLineReader,
                lambda: tf.FixedLengthRecordReader(4, 2, 1, 3),
                lambda: tf.FixedLengthRecordReader(4, 2, 1, 3, encoding="GZIP"),
                lambda: tf.FixedLengthRecordReader(2**40, 2**40, encoding="GZIP"),
            )
            reader = makers[number]()
            names = tf.FIFOQueue(1, [tf.string], shapes=[[]])
            records = reader.read_up_to(names, 100)
            session.run(names.enqueue(path))
            session.run(names.close())
            session.run(records)


class Archives(Format):
    """Archives of kernels."""

    allowed = ("NoArchive",)

    def __init__(self, folder: str) -> None:
        import io
        import tarfile

        super().__init__(folder)
        os.environ["NUMBAFLOW_CACHE"] = os.path.join(folder, "cache")
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:") as archive:
            for name in ("kernel.py", "kernel.o", "key.txt", "manifest.json"):
                member = tarfile.TarInfo(f"{'0' * 64}/{name}")
                member.size = 20
                archive.addfile(member, io.BytesIO(b'{"symbol": 1, "a":2}'))
        self.whole = buffer.getvalue()

    def damaged(self, rng: random.Random) -> Any:
        from pathlib import Path

        content = damaged(self.whole[:5120], rng)
        if rng.random() < 0.5:
            content = gzip.compress(content, mtime=0)
            if rng.random() < 0.7:
                content = damaged(content, rng)
        return Path(self.write(content))

    def read(self, thing: Any) -> None:
        from numbaflow.jit.cache import kernel_archive

        kernel_archive.load(thing)


class States(Format):
    """The `checkpoint` file of a folder."""

    allowed = ("ValueError",)

    def damaged(self, rng: random.Random) -> str:
        text = b'model_checkpoint_path: "a-2"\nall_model_checkpoint_paths: "a-1"\n'
        self.write(damaged(text + b"last_preserved_timestamp: 12.5\n", rng), "checkpoint")
        return self.folder

    def read(self, thing: str) -> None:
        tf.train.latest_checkpoint(thing)


class Arrays(Format):
    """NumPy's files, as the command line takes them."""

    allowed = ("RuntimeError",)

    def damaged(self, rng: random.Random) -> str:
        import io

        buffer = io.BytesIO()
        (np.save if rng.random() < 0.5 else np.savez)(buffer, np.arange(6.0))
        return self.write(damaged(buffer.getvalue(), rng), "array.npy")

    def read(self, thing: str) -> None:
        from numbaflow.train.saved_model import inputs

        inputs.load_inputs_from_input_arg_string(f"x={thing}", "", "")


FORMATS: dict[str, type[Format]] = {
    "archives": Archives,
    "arrays": Arrays,
    "bundle": Bundle,
    "compressed": Compressed,
    "digits": Digits,
    "events": Events,
    "examples": Examples,
    "first": FirstCheckpoint,
    "functions": Functions,
    "graphs": Graphs,
    "gzip": GzipRecords,
    "lines": Lines,
    "meta_graphs": MetaGraphs,
    "readers": Readers,
    "records": Records,
    "run_graphs": RunGraphs,
    "saved_models": SavedModels,
    "sequences": SequenceExamples,
    "snappy": Snappy,
    "sparse": Sparse,
    "states": States,
    "summaries": Summaries,
    "tensors": Tensors,
    "texts": Texts,
    "vocabularies": Vocabularies,
    "zlib": ZlibRecords,
}
