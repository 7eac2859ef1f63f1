# SPDX-License-Identifier: Apache-2.0
"""Small files that claim much: nothing is made of a claim that the file does not bear out."""

from __future__ import annotations

import gzip
import pathlib
import struct
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.io import checkpoint_v1, crc, mnist, protos, snappy, table, tensor_bundle, varint
from numbaflow.io.bundle_reader import BundleReader
from numbaflow.io.checkpoint_reader import new_checkpoint_reader
from numbaflow.io.tensor_slice import TensorSlice

pytestmark = pytest.mark.pure

HUGE = 1 << 45
# What reading a small file may take at most, whatever it claims.
MEMORY = 64 << 20


def memory(run: Callable[[], Any]) -> int:
    """The most memory that something takes."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def refused(kind: type[Exception], text: str, run: Callable[[], Any]) -> None:
    """Something fails with an error, and takes little memory."""

    def tried() -> None:
        with pytest.raises(kind, match=text):
            run()

    assert memory(tried) < MEMORY


@pytest.mark.parametrize(
    "claim", [1 << 20, 1 << 40, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]
)
@pytest.mark.parametrize("kind", ["", "GZIP", "ZLIB"])
def test_a_record_of_a_length_that_is_not_there(
    kind: str, claim: int, tmp_path: pathlib.Path
) -> None:
    length = struct.pack("<Q", claim)
    path = str(tmp_path / "records")
    with tf.io.TFRecordWriter(path, kind) as writer:
        writer.write(b"whole")
    unpack = {"": bytes, "GZIP": gzip.decompress, "ZLIB": __import__("zlib").decompress}[kind]
    pack = {"": bytes, "GZIP": gzip.compress, "ZLIB": __import__("zlib").compress}[kind]
    content = unpack(pathlib.Path(path).read_bytes())
    content += length + struct.pack("<I", crc.masked(length)) + b"rest"
    pathlib.Path(path).write_bytes(pack(content))
    found = []

    def read() -> None:
        for record in tf.io.tf_record_iterator(path, kind):
            found.append(record)

    refused(tf.errors.DataLossError, rf"(truncated record|record size).* 21 of {path}", read)
    assert found == [b"whole"]


@pytest.mark.programs
def test_a_record_reader_of_records_that_are_longer_than_the_file(tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").write_bytes(gzip.compress(b"short"))
    with settings.override(jit="never"), tf.Graph().as_default(), tf.Session() as session:
        names = tf.FIFOQueue(1, [tf.string], shapes=[[]])
        reader = tf.FixedLengthRecordReader(1 << 40, encoding="GZIP")
        _, record = reader.read(names)
        session.run([names.enqueue(str(tmp_path / "file"))])
        session.run(names.close())
        refused(tf.errors.OutOfRangeError, "closed", lambda: session.run(record))


# Graphs


def constant(shape: list[int], values: list[float]) -> Any:
    message = protos.GraphDef()
    node = message.node.add(name="big", op="Const")
    node.attr["dtype"].type = 1
    node.attr["value"].tensor.CopyFrom(protos.TensorProto(dtype=1, float_val=values))
    for size in shape:
        node.attr["value"].tensor.tensor_shape.dim.add(size=size)
    other = message.node.add(name="small", op="Const")
    other.CopyFrom(node)
    other.name = "small"
    del other.attr["value"].tensor.tensor_shape.dim[:]
    del other.attr["value"].tensor.float_val[1:]
    return message


@pytest.mark.cpu
@pytest.mark.parametrize("jit", ["never", "auto", "always"])
@pytest.mark.parametrize("values", [[], [2.0], [1.0, 2.0]])
@pytest.mark.parametrize("shape", [[HUGE], [1 << 20, 1 << 25], [1 << 62]])
def test_a_constant_that_nothing_needs_is_not_made(
    shape: list[int], values: list[float], jit: str
) -> None:
    message = constant(shape, values)
    with settings.override(jit=jit), tf.Graph().as_default() as graph, tf.Session() as session:
        assert memory(lambda: tf.import_graph_def(message, name="")) < MEMORY
        written = graph.as_graph_def()
        assert written.node == message.node
        stated = graph.get_operation_by_name("big").get_attr("value")
        assert stated.tensor_shape == message.node[0].attr["value"].tensor.tensor_shape
        assert stated.float_val == (values or [0.0])
        assert session.run("small:0") == (values or [0.0])[0]
        with pytest.raises(tf.errors.ResourceExhaustedError, match="OOM"):
            session.run("big:0")


@pytest.mark.cpu
@pytest.mark.parametrize("jit", ["never", "always"])
def test_a_constant_of_few_elements_is_all_of_them(jit: str) -> None:
    message = constant([100, 7], [1.0, 2.0])
    with settings.override(jit=jit), tf.Graph().as_default() as graph, tf.Session() as session:
        tf.import_graph_def(message, name="")
        doubled = graph.get_tensor_by_name("big:0") * 2
        expected = np.full((100, 7), 2.0)
        expected[0, 0] = 1.0
        np.testing.assert_array_equal(session.run("big:0"), expected)
        np.testing.assert_array_equal(session.run(doubled), 2 * expected)


def test_a_constant_of_strings_that_holds_bytes() -> None:
    message = constant([1], [])
    message.node[0].attr["dtype"].type = 7
    tensor = protos.TensorProto(dtype=7, tensor_content=b"text")
    message.node[0].attr["value"].tensor.CopyFrom(tensor)
    with pytest.raises(ValueError, match="of texts is not as long as it says"):
        imported(message)


def test_an_array_of_a_tensor_proto_that_no_memory_holds() -> None:
    tensor = constant([HUGE], [1.0]).node[0].attr["value"].tensor
    with pytest.raises(tf.errors.ResourceExhaustedError, match="OOM"):
        tf.make_ndarray(tensor)


def node(op: str, inputs: list[str], **attrs: Any) -> Any:
    message = protos.GraphDef()
    first = message.node.add(name="x", op="Placeholder")
    first.attr["dtype"].type = 1
    made = message.node.add(name="n", op=op, input=inputs)
    for name, value in attrs.items():
        made.attr[name].CopyFrom(value)
    return message


def imported(message: Any) -> Any:
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(message, name="")
    return graph


@pytest.mark.parametrize("number", [1 << 40, (1 << 63) - 1, -1])
def test_a_number_attribute_that_the_inputs_do_not_bear_out(number: int) -> None:
    kind, count = protos.AttrValue(type=1), protos.AttrValue(i=number)
    message = node("AddN", ["x", "x"], T=kind, N=count)
    refused(ValueError, "attr 'N'", lambda: imported(message))
    message = node("Unpack", ["x"], T=kind, num=count)
    refused(ValueError, "attr 'num'", lambda: imported(message))


def test_a_number_attribute_of_a_function_outside_of_one() -> None:
    kind, count = protos.AttrValue(type=1), protos.AttrValue(placeholder="N")
    with pytest.raises(ValueError, match="attr 'N' is a function's"):
        imported(node("AddN", ["x", "x"], T=kind, N=count))


def test_slices_of_variables_of_other_dimensions() -> None:
    with tf.Graph().as_default(), tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2)):
        tf.get_variable("v", [4, 2])
        message = tf.train.export_meta_graph()
    values = message.collection_def["variables"].bytes_list.value
    variable = protos.VariableDef.FromString(values[0])
    del variable.save_slice_info_def.var_shape[1:]
    values[0] = variable.SerializeToString()
    with tf.Graph().as_default(), pytest.raises(ValueError, match="of other dimensions"):
        tf.train.import_meta_graph(message)


def test_classes_that_are_no_text() -> None:
    for group, problem in ((b"\xff\xfe", None), (b"loc:@\xff", "expects to be colocated")):
        value = protos.AttrValue(list=protos.AttrValue.ListValue(s=[group]))
        message = node("Identity", ["x"], T=protos.AttrValue(type=1), _class=value)
        if problem:
            with pytest.raises(ValueError, match=problem):
                imported(message)
        else:
            assert imported(message).as_graph_def().node[1].attr["_class"] == value


def library(depth: int) -> Any:
    """A graph whose function f0 calls f1 twice, that f2, and so on."""
    message = node("f0", ["x"])
    for i in range(depth):
        function = message.library.function.add()
        function.signature.name = f"f{i}"
        function.signature.input_arg.add(name="a", type=1)
        function.signature.output_arg.add(name="b", type=1)
        called, out = (f"f{i + 1}", "b") if i + 1 < depth else ("Square", "y")
        for name, source in (("p", "a"), ("q", f"p:{out}:0")):
            made = function.node_def.add(name=name, op=called, input=[source])
            if called == "Square":
                made.attr["T"].type = 1
        function.ret["b"] = f"q:{out}:0"
    return message


@pytest.mark.programs
def test_functions_that_call_each_other_very_often() -> None:
    for depth, is_run in ((5, True), (40, False)):
        with settings.override(jit="never"), tf.Session(graph=imported(library(depth))) as session:
            if is_run:
                assert session.run("n:0", {"x:0": 1.0}) == 1.0
                continue
            with pytest.raises(tf.errors.ResourceExhaustedError, match="would become .* operat"):
                session.run("n:0", {"x:0": 1.0})


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda f: f.signature.input_arg[0].ClearField("type"), "has no type"),
        (lambda f: setattr(f.signature.input_arg[0], "type", 999), "unknown type 999"),
        (lambda f: setattr(f.signature.output_arg[0], "number_attr", "N"), "needs an attr 'N'"),
        (lambda f: f.signature.attr.add(name="T", type="what"), "unknown type 'what'"),
    ],
)
def test_functions_whose_signatures_are_malformed(
    change: Callable[[Any], Any], problem: str
) -> None:
    message = library(1)
    change(message.library.function[0])
    with pytest.raises(tf.errors.InvalidArgumentError, match=problem):
        imported(message)


@pytest.mark.programs
@pytest.mark.parametrize(
    "change",
    [
        lambda f: f.node_def[0].input.__setitem__(0, "nothing"),
        lambda f: f.ret.__setitem__("b", "nothing:y:0"),
        lambda f: f.ret.clear(),
    ],
)
def test_functions_whose_bodies_are_malformed(change: Callable[[Any], Any]) -> None:
    message = library(1)
    change(message.library.function[0])
    graph = imported(message)
    with settings.override(jit="never"), tf.Session(graph=graph) as session:
        with pytest.raises(tf.errors.UnimplementedError, match="neither an argument nor"):
            session.run("n:0", {"x:0": 1.0})


def test_members_of_collections_that_do_not_go_with_the_graph() -> None:
    with tf.Graph().as_default():
        tf.get_variable("v", [2])
        message = tf.train.export_meta_graph()
    values = message.collection_def["variables"].bytes_list.value
    whole = protos.VariableDef.FromString(values[0])
    missing = protos.VariableDef()
    missing.CopyFrom(whole)
    missing.snapshot_name = "gone:0"
    operation = protos.VariableDef()
    operation.CopyFrom(whole)
    operation.variable_name = "v/Assign"
    for member, kind, text in (
        (missing.SerializeToString(), tf.errors.InvalidArgumentError, "'variables'.*gone"),
        (b"\xff", tf.errors.InvalidArgumentError, "'variables'"),
        (operation.SerializeToString(), ValueError, "not a Tensor"),
    ):
        values[0] = member
        with tf.Graph().as_default(), pytest.raises(kind, match=text):
            tf.train.import_meta_graph(message)


# Checkpoints


def entry(**fields: Any) -> bytes:
    made = protos.BundleEntryProto(dtype=1, size=8, crc32c=0)
    made.shape.dim.add(size=2)
    for name, value in fields.items():
        if name == "sizes":
            del made.shape.dim[:]
            for size in value:
                made.shape.dim.add(size=size)
        else:
            setattr(made, name, value)
    return made.SerializeToString()


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"dtype": 999}, "Invalid data type 999"),
        ({"dtype": 101}, "Invalid data type 101"),
        ({"dtype": 0}, "Invalid data type 0"),
        ({"sizes": [HUGE], "size": 4 * HUGE}, "The data file ends inside"),
        ({"sizes": [HUGE], "size": 8}, "expected size"),
        ({"sizes": [HUGE], "size": HUGE, "dtype": 7}, "The data file ends inside"),
        ({"sizes": [0, 1 << 62, 1 << 62], "size": 0}, "Invalid tensor shape"),
        ({"sizes": [1] * 100, "size": 4}, "Invalid tensor shape"),
        ({"offset": 1 << 62}, "The data file ends inside"),
        ({"offset": -4}, "The data file ends inside"),
    ],
)
def test_entries_of_checkpoints_that_the_data_do_not_bear_out(
    fields: dict[str, Any], problem: str, tmp_path: pathlib.Path
) -> None:
    header = protos.BundleHeaderProto(num_shards=1)
    content = table.encode([(b"", header.SerializeToString()), (b"v", entry(**fields))])
    (tmp_path / "ckpt.index").write_bytes(content)
    (tmp_path / "ckpt.data-00000-of-00001").write_bytes(bytes(8))
    prefix = str(tmp_path / "ckpt")

    def deferred() -> None:
        with BundleReader(prefix) as reader:
            reader.read(b"v", defer=True)
            reader.check()

    text = f"{problem}.*tensor v in {prefix}"
    refused(tf.errors.DataLossError, text, lambda: new_checkpoint_reader(prefix).get_tensor("v"))
    refused(tf.errors.DataLossError, text, deferred)


def test_slices_of_checkpoints_that_are_not_what_the_whole_says(tmp_path: pathlib.Path) -> None:
    prefix = str(tmp_path / "ckpt")
    with tensor_bundle.BundleWriter(prefix) as writer:
        for start in (0, 2):
            part = TensorSlice(((start, 2),))
            writer.add_slice(b"v", (4,), part, np.ones(2, np.float32), tf.float32)
        writer.finish()
    entries, _ = tensor_bundle.read_index(prefix)
    whole = protos.BundleEntryProto.FromString(entries[b"v"])
    whole.shape.dim[0].size = HUGE
    for i in range(2):
        whole.slices[i].extent[0].start = i * (HUGE // 2)
        whole.slices[i].extent[0].length = HUGE // 2
    small = next(text for key, text in entries.items() if key[:1] == b"\0")
    items = {b"": entries[b""], b"v": whole.SerializeToString()}
    for part in whole.slices:
        items[tensor_bundle.encoded_name(b"v", TensorSlice.from_proto(part))] = small
    (tmp_path / "ckpt.index").write_bytes(table.encode(sorted(items.items())))
    read = lambda: new_checkpoint_reader(prefix).get_tensor("v")  # noqa: E731
    refused(tf.errors.DataLossError, "of another type or shape.*tensor v", read)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda t: setattr(t, "type", 999), "Invalid data type 999"),
        (lambda t: setattr(t, "type", 0), "Invalid data type 0"),
        (lambda t: setattr(t.shape.dim[0], "size", -3), "Invalid tensor shape"),
        (lambda t: setattr(t.shape.dim[0], "size", HUGE), "has 2 elements, not 35184372088832"),
    ],
)
def test_first_checkpoints_whose_lists_their_data_do_not_bear_out(
    change: Callable[[Any], Any], problem: str, tmp_path: pathlib.Path
) -> None:
    path = str(tmp_path / "ckpt")
    parts: list[Any] = [(b"v", (2,), TensorSlice.full(1), np.ones(2, np.float32), tf.float32)]
    checkpoint_v1.write(path, parts)
    entries = dict(table.Table(pathlib.Path(path).read_bytes()))
    meta = protos.SavedTensorSlices.FromString(entries[b""])
    change(meta.meta.tensor[0])
    entries[b""] = meta.SerializeToString()
    pathlib.Path(path).write_bytes(table.encode(sorted(entries.items())))
    read = lambda: new_checkpoint_reader(path).get_tensor("v")  # noqa: E731
    refused(tf.errors.DataLossError, f"{problem}.*tensor v in {path}", read)


def test_numbers_in_tables_that_do_not_end() -> None:
    assert varint.get(varint.put((1 << 64) - 1), 0) == ((1 << 64) - 1, 10)
    with pytest.raises(IndexError, match="does not end"):
        varint.get(b"\xff" * 100_000, 0)
    with pytest.raises(tf.errors.DataLossError):
        snappy.decompress(b"\xff" * 100_000)


@pytest.mark.parametrize("head", [b"\x05\x01\x01", b"\x00\x7f\x01", b"\x00\x01\x7f"])
def test_entries_of_tables_that_reach_out_of_their_blocks(head: bytes) -> None:
    content = table.encode([(b"a", b"b")])
    block = bytearray(content[:13])
    assert bytes(block[:3]) == b"\x00\x01\x01"
    block[:3] = head
    checked = bytes(block[:13]) + b"\0"
    with pytest.raises(tf.errors.DataLossError, match="bad entry in block at 0"):
        list(table.Table(checked + struct.pack("<I", crc.masked(checked)) + content[18:]))


# Pictures of digits


def digits(path: pathlib.Path, head: list[int], body: bytes, cut: int | None = None) -> str:
    content = gzip.compress(np.array(head, ">u4").tobytes() + body)
    path.write_bytes(content[:cut])
    return str(path)


@pytest.mark.parametrize(
    ("head", "body", "cut"),
    [
        ([2051, 2**32 - 1, 2**32 - 1, 2**32 - 1], b"x", None),
        ([2051, 2**31, 28, 28], b"x" * 100, None),
        ([2051, 1], b"", None),
        ([2051, 1, 2, 3], b"123456", -12),
        ([2051, 1, 2, 3], b"123456", 20),
    ],
)
def test_images_that_are_not_there(
    head: list[int], body: bytes, cut: int | None, tmp_path: pathlib.Path
) -> None:
    path = digits(tmp_path / "images.gz", head, body, cut)
    with open(path, "rb") as file:
        refused(tf.errors.DataLossError, f"image file {path}", lambda: mnist.extract_images(file))


def test_images_that_are_no_gzip_or_damaged(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "images.gz"
    content = bytearray(gzip.compress(np.array([2051, 1, 2, 3], ">u4").tobytes() + b"123456"))
    content[14] ^= 0xFF
    for damaged in (b"no gzip at all", bytes(content), b""):
        path.write_bytes(damaged)
        with open(path, "rb") as file, pytest.raises((tf.errors.DataLossError, ValueError)):
            mnist.extract_images(file)


def test_labels_that_are_no_classes(tmp_path: pathlib.Path) -> None:
    path = digits(tmp_path / "labels.gz", [2049, 3], b"\x01\x0b\x02")
    with open(path, "rb") as file:
        assert mnist.extract_labels(file).tolist() == [1, 11, 2]
    with open(path, "rb") as file:
        with pytest.raises(tf.errors.DataLossError, match="label 1 is 11, of 10 classes"):
            mnist.extract_labels(file, one_hot=True)
