# SPDX-License-Identifier: Apache-2.0
"""Graphs from outside compute, and touch nothing but what they are permitted."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow import security
from numbaflow.engine import settings
from numbaflow.engine.graph import registry
from numbaflow.ops.flow.function_library import Defun
from numbaflow.ops.public import raw

pytestmark = pytest.mark.cpu
MODES = ["always", "auto", "never"]
Refused = tf.errors.PermissionDeniedError


@pytest.fixture(params=MODES)
def mode(request: Any) -> Iterator[str]:
    with settings.override(jit=request.param):
        yield request.param


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as made:
        yield made


def message(build: Callable[[], Any]) -> Any:
    """The GraphDef of what a function builds."""
    with tf.Graph().as_default() as built:
        build()
        return built.as_graph_def()


def imported(build: Callable[[], Any], **options: Any) -> None:
    """Builds a graph elsewhere and imports it as one from outside."""
    with security.untrusted_graph(**options):
        tf.import_graph_def(message(build), name="")


def touching(folder: Path) -> dict[str, Callable[[], Any]]:
    """One node called "it" for each op type that touches something."""
    there, file = str(folder / "there"), str(folder / "file")
    checkpoint = str(folder / "checkpoint")

    def reading(kind: str) -> Callable[[], Any]:
        reader = {
            "FixedLengthRecordReader": {"record_bytes": 1},
            "FixedLengthRecordReaderV2": {"record_bytes": 1},
        }
        return lambda: getattr(raw, kind)(name="it", **reader.get(kind, {}))

    def of_reader(kind: str, *more: Any) -> Callable[[], Any]:
        suffix = "V2" if kind.endswith("V2") else ""

        def build() -> Any:
            queue = getattr(raw, f"FIFOQueue{suffix}")([tf.string])
            reader = getattr(raw, f"IdentityReader{suffix}")()
            return getattr(raw, kind)(reader, queue, *more, name="it")

        return build

    def of_writer(kind: str, *more: Any) -> Callable[[], Any]:
        return lambda: getattr(raw, kind)(raw.SummaryWriter(), *more, name="it")

    def table(suffix: str) -> Callable[[], Any]:
        return lambda: getattr(raw, f"InitializeTableFromTextFile{suffix}")(
            getattr(raw, f"HashTable{suffix}")(key_dtype=tf.string, value_dtype=tf.int64),
            there,
            key_index=-2,
            value_index=-1,
            name="it",
        )

    def of_files(kind: str, *more: Any, **attrs: Any) -> Callable[[], Any]:
        return lambda: getattr(raw, kind)(there, *more, name="it", **attrs)

    def dataset() -> Any:
        return raw.TensorDataset([tf.constant("x")], output_shapes=[[]])

    def kept(kind: str, *more: Callable[[], Any]) -> Callable[[], Any]:
        made = {"output_types": [tf.string], "output_shapes": [[]]}
        return lambda: getattr(raw, kind)(dataset(), file, *(m() for m in more), name="it", **made)

    def written(kind: str) -> Callable[[], Any]:
        return lambda: getattr(raw, kind)(dataset(), file, "", name="it")

    def rows(kind: str) -> Callable[[], Any]:
        made = {"output_types": [tf.int64], "output_shapes": [[]]}
        return lambda: getattr(raw, kind)("sqlite", there, "select 1", name="it", **made)

    def fields(kind: str) -> Callable[[], Any]:
        given = ["", np.int64(9), False, ",", True, "", np.array([], np.int64)]
        return lambda: getattr(raw, kind)(
            there, *given, record_defaults=[zero()], output_shapes=[[]], name="it"
        )

    def zero() -> Any:
        return tf.constant([0], tf.int64)

    step = np.int64(1)
    message = {"message_type": "a.B", "descriptor_source": there, "name": "it"}
    function = {"token": "pyfunc_0", "Tout": [tf.float32], "name": "it"}
    candidates = {"num_true": 1, "num_sampled": 1, "unique": True, "range_max": 1}
    ones = lambda: [tf.constant([1.0])]  # noqa: E731
    return {
        "Abort": lambda: raw.Abort(name="it"),
        "ImmutableConst": lambda: raw.ImmutableConst(
            dtype=tf.float32, shape=[1], memory_region_name=there, name="it"
        ),
        "MatchingFiles": lambda: raw.MatchingFiles(f"{folder}/*", name="it"),
        "ReadFile": lambda: raw.ReadFile(there, name="it"),
        "WriteFile": lambda: raw.WriteFile(file, "x", name="it"),
        "SaveV2": lambda: raw.SaveV2(file, ["a"], [""], ones(), name="it"),
        "RestoreV2": lambda: raw.RestoreV2(checkpoint, ["a"], [""], [tf.float32], name="it"),
        "MergeV2Checkpoints": lambda: raw.MergeV2Checkpoints([checkpoint], file, name="it"),
        "Save": lambda: raw.Save(file, ["a"], ones(), name="it"),
        "SaveSlices": lambda: raw.SaveSlices(file, ["a"], [""], ones(), name="it"),
        "Restore": lambda: raw.Restore(checkpoint, "a", tf.float32, name="it"),
        "RestoreSlice": lambda: raw.RestoreSlice(checkpoint, "a", "", tf.float32, name="it"),
        "GenerateVocabRemapping": lambda: raw.GenerateVocabRemapping(
            there, there, new_vocab_offset=0, num_new_vocab=1, name="it"
        ),
        "LoadAndRemapMatrix": lambda: raw.LoadAndRemapMatrix(
            checkpoint,
            "a",
            tf.constant([0], tf.int64),
            tf.constant([0], tf.int64),
            [0.0],
            num_rows=1,
            num_cols=1,
            name="it",
        ),
        "InitializeTableFromTextFile": table(""),
        "InitializeTableFromTextFileV2": table("V2"),
        "FixedUnigramCandidateSampler": lambda: raw.FixedUnigramCandidateSampler(
            tf.constant([[0]], tf.int64), vocab_file=there, name="it", **candidates
        ),
        "PrintV2": lambda: raw.PrintV2("x", output_stream=f"file://{file}", name="it"),
        "Print": lambda: raw.Print(tf.constant(1.0), [], name="it"),
        "PyFunc": lambda: raw.PyFunc([], **function),
        "PyFuncStateless": lambda: raw.PyFuncStateless(ones(), **function),
        "EagerPyFunc": lambda: raw.EagerPyFunc([], **function),
        "GetSessionHandle": lambda: raw.GetSessionHandle(tf.constant(1.0), name="it"),
        "GetSessionTensor": lambda: raw.GetSessionTensor("x", tf.float32, name="it"),
        "DeleteSessionTensor": lambda: raw.DeleteSessionTensor("x", name="it"),
        "CreateSummaryFileWriter": of_writer("CreateSummaryFileWriter", file, 1, 1, ""),
        "ImportEvent": of_writer("ImportEvent", ""),
        "FlushSummaryWriter": of_writer("FlushSummaryWriter"),
        "CloseSummaryWriter": of_writer("CloseSummaryWriter"),
        "WriteSummary": of_writer("WriteSummary", step, 1.0, "tag", ""),
        "WriteRawProtoSummary": of_writer("WriteRawProtoSummary", step, ""),
        "WriteScalarSummary": of_writer("WriteScalarSummary", step, "tag", 1.0),
        "WriteHistogramSummary": of_writer("WriteHistogramSummary", step, "tag", [1.0]),
        "WriteImageSummary": of_writer(
            "WriteImageSummary",
            step,
            "tag",
            np.zeros([1, 2, 2, 3], np.float32),
            np.zeros(4, np.uint8),
        ),
        "WriteAudioSummary": of_writer(
            "WriteAudioSummary", step, "tag", np.zeros([1, 4], np.float32), 8000.0
        ),
        "WriteGraphSummary": of_writer("WriteGraphSummary", step, ""),
        "RecordInput": lambda: raw.RecordInput(file_pattern=there, name="it"),
        "DecodeProtoV2": lambda: raw.DecodeProtoV2(
            ["x"], field_names=[], output_types=[], **message
        ),
        "EncodeProto": lambda: raw.EncodeProto(
            np.ones([1, 1], np.int32), [np.ones([1, 1], np.int64)], field_names=["a"], **message
        ),
        "TextLineDataset": of_files("TextLineDataset", "", np.int64(0)),
        "TFRecordDataset": of_files("TFRecordDataset", "", np.int64(0)),
        "FixedLengthRecordDataset": of_files(
            "FixedLengthRecordDataset", *(np.int64(n) for n in (0, 1, 0, 0))
        ),
        "FixedLengthRecordDatasetV2": of_files(
            "FixedLengthRecordDatasetV2", *(np.int64(n) for n in (0, 1, 0, 0)), ""
        ),
        "MatchingFilesDataset": of_files("MatchingFilesDataset"),
        "ExperimentalMatchingFilesDataset": of_files("ExperimentalMatchingFilesDataset"),
        **{
            kind: of_files(kind, output_types=[tf.string] * 2, output_shapes=[[]] * 2)
            for kind in ("LMDBDataset", "ExperimentalLMDBDataset")
        },
        "SnapshotDataset": kept("SnapshotDataset"),
        "CacheDataset": kept("CacheDataset"),
        "CacheDatasetV2": kept("CacheDatasetV2", lambda: raw.AnonymousMemoryCache()[0]),
        "DatasetToTFRecord": written("DatasetToTFRecord"),
        "ExperimentalDatasetToTFRecord": written("ExperimentalDatasetToTFRecord"),
        "SqlDataset": rows("SqlDataset"),
        "ExperimentalSqlDataset": rows("ExperimentalSqlDataset"),
        "CSVDataset": fields("CSVDataset"),
        "ExperimentalCSVDataset": fields("ExperimentalCSVDataset"),
        **{
            f"{kind}{suffix}": reading(f"{kind}{suffix}")
            for kind in (
                *("WholeFileReader", "TextLineReader", "FixedLengthRecordReader"),
                "TFRecordReader",
            )
            for suffix in ("", "V2")
        },
        "LMDBReader": reading("LMDBReader"),
        "ReaderRead": of_reader("ReaderRead"),
        "ReaderReadV2": of_reader("ReaderReadV2"),
        "ReaderReadUpTo": of_reader("ReaderReadUpTo", 1),
        "ReaderReadUpToV2": of_reader("ReaderReadUpToV2", 1),
    }


def test_the_table_above_has_every_op_that_touches_something(tmp_path: Path) -> None:
    own = [d for d in registry.definitions() if d.touches and d.kernel.__module__ != __name__]
    assert {definition.name for definition in own} == set(touching(tmp_path))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "there").write_text("a\n")
    with tf.Graph().as_default(), tf.Session() as sess:
        sess.run(raw.SaveV2(str(tmp_path / "checkpoint"), ["a"], [""], [tf.zeros([1, 1])]))
    return tmp_path


@pytest.mark.parametrize("op_type", [d.name for d in registry.definitions() if d.touches])
def test_every_op_that_touches_something_is_refused(op_type: str, mode: str, folder: Path) -> None:
    before = contents(folder)
    imported(touching(folder)[op_type], allow=[])
    with tf.Session() as sess, pytest.raises(Refused, match=rf"'it' \({op_type}\).*from outside"):
        sess.run("it")
    assert contents(folder) == before


def places() -> dict[str, Callable[[Callable[[Any], Any]], Any]]:
    """Where a graph can have an op: functions of what makes one from a text, which give a text."""

    def function(op: Callable[[Any], Any], name: str = "reading") -> Any:
        return Defun(tf.string, func_name=name)(lambda text: op(text))

    def placing(place: Callable[[Callable[[Any], Any], Any], Any]) -> Callable[[Any], Any]:
        default = "/etc/hostname"
        return lambda op: place(op, tf.placeholder_with_default(tf.constant(default), [], "text"))

    found = {
        "plain": lambda op, text: op(text),
        "branch": lambda op, text: tf.cond(tf.equal(text, text), lambda: op(text), lambda: text),
        "branch not taken": lambda op, text: tf.cond(
            tf.not_equal(text, text), lambda: op(text), lambda: text
        ),
        "loop": lambda op, text: tf.while_loop(
            lambda i, y: i < 2, lambda i, y: (i + 1, op(y)), [0, text]
        )[1],
        "function": lambda op, text: function(op)(text),
        "function in a function": lambda op, text: function(function(op, "inner"))(text),
        "control input": lambda op, text: _after(op(text)),
    }
    return {name: placing(place) for name, place in found.items()}


def _after(tensor: Any) -> Any:
    with tf.control_dependencies([tensor]):
        return tf.constant("done")


@pytest.mark.parametrize("place", list(places()))
def test_an_op_is_refused_wherever_it_is(place: str, mode: str) -> None:
    make = places()[place]
    imported(lambda: tf.identity(make(tf.read_file), "out"))
    with tf.Session() as sess:
        for _ in range(2):
            with pytest.raises(Refused, match="from outside and would read files"):
                sess.run("out:0")
    with tf.Session() as sess:
        metadata, options = tf.RunMetadata(), tf.RunOptions(trace_level=3)
        with pytest.raises(Refused):
            sess.run("out:0", options=options, run_metadata=metadata)


@pytest.mark.parametrize("place", list(places()))
def test_the_same_graph_runs_where_it_is_trusted(place: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text(str(file))
    make = places()[place]
    imported(lambda: tf.identity(make(tf.read_file), "out"), allow=["files"])
    with tf.Session() as sess:
        assert sess.run("out:0", {"text:0": str(file)}) in (str(file).encode(), b"done")


def test_refusals_say_what_where_and_how_to_allow_it() -> None:
    imported(lambda: tf.write_file("/tmp/x", "y", name="sneaky"))
    with tf.Session() as sess, pytest.raises(Refused) as caught:
        sess.run("sneaky")
    text = caught.value.message
    assert "Node 'sneaky' (WriteFile)" in text and "would write files ('/tmp/x')" in text
    assert "untrusted_graph(allow=['files'])" in text and "trusted_graph()" in text
    assert caught.value.op.name == "sneaky"


def test_nothing_runs_before_a_refusal(mode: str) -> None:
    def build() -> None:
        count = tf.Variable(0, name="count")
        with tf.control_dependencies([count.assign_add(1)]):
            tf.read_file("/etc/hostname", name="it")

    imported(build)
    with tf.Session() as sess:
        sess.run("count/Assign")
        with pytest.raises(Refused):
            sess.run("it:0")
        assert sess.run("count:0") == 0


def test_what_no_run_needs_is_no_harm(mode: str, tmp_path: Path) -> None:
    def build() -> None:
        tf.write_file(str(tmp_path / "file"), "x")
        tf.add(tf.placeholder(tf.float32, [2], "x"), 1.0, "out")

    imported(build)
    with tf.Session() as sess:
        assert sess.run("out:0", {"x:0": [1.0, 2.0]}).tolist() == [2.0, 3.0]
    assert not list(tmp_path.iterdir())


def test_nothing_is_touched_by_an_import_or_by_what_is_known_of_shapes(
    tmp_path: Path, mode: str
) -> None:
    """Shape functions and folding ask for values while the graph is built."""
    file = tmp_path / "file"
    file.write_text("2")
    imported(
        lambda: tf.zeros(tf.reshape(tf.string_to_number(tf.read_file(str(file)), tf.int32), [1]))
    )
    with tf.Session() as sess, pytest.raises(Refused):
        sess.run("zeros:0")
    with tf.Session() as sess, pytest.raises(Refused):
        sess.prepared_plan("zeros:0")


def test_nodes_of_the_program_are_as_free_as_before(tmp_path: Path, mode: str) -> None:
    imported(lambda: tf.constant(str(tmp_path / "file"), name="name"))
    with security.untrusted_graph():
        name = tf.get_default_graph().get_tensor_by_name("name:0")
        wrote = tf.write_file(name, "x")
    with tf.Session() as sess:
        sess.run(wrote)
    assert (tmp_path / "file").read_text() == "x"


def test_functions_of_the_program_that_nodes_from_outside_call_are_no_way_around(mode: str) -> None:
    """A graph names functions that it does not bring along."""

    @Defun(tf.string, func_name="read_it")
    def read_it(name: Any) -> Any:
        return tf.read_file(name)

    foreign = message(lambda: tf.identity(read_it(tf.constant("/etc/hostname")), "out"))
    mine = read_it(tf.constant("/etc/hostname"))
    del foreign.library.function[:]
    with security.untrusted_graph():
        tf.import_graph_def(foreign, name="")
    with tf.Session() as sess:
        with pytest.raises(Refused):
            sess.run("out:0")
        assert sess.run(mine)


def test_functions_from_outside_are_refused_whoever_calls_them(mode: str, graph: tf.Graph) -> None:
    imported(lambda: places()["function"](tf.read_file))
    mine = graph.create_op("reading", [tf.constant("/etc/hostname")], name="mine").outputs[0]
    with tf.Session() as sess, pytest.raises(Refused):
        sess.run(mine)


def test_the_same_functions_may_come_with_several_graphs() -> None:
    trusted = message(lambda: tf.identity(places()["function"](tf.read_file), "out"))
    tf.import_graph_def(trusted, name="mine")
    with security.untrusted_graph():
        tf.import_graph_def(trusted, name="theirs")
        tf.import_graph_def(trusted, name="again")
    with tf.Session() as sess:
        assert sess.run("mine/out:0")
        with pytest.raises(Refused):
            sess.run("theirs/out:0")


def test_exported_graphs_stay_what_they_are(graph: tf.Graph) -> None:
    """Neither a copy nor a file makes a stranger's node the program's own."""
    imported(lambda: tf.identity(places()["function"](tf.read_file), "out"))
    imported(lambda: tf.read_file("/etc/hostname", name="plain"))
    exported = graph.as_graph_def()
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(exported, name="")
        for name in ("out:0", "plain:0"):
            with pytest.raises(Refused):
                sess.run(name)


def test_a_graph_cannot_permit_itself_anything(mode: str) -> None:
    forged = message(lambda: tf.read_file("/etc/hostname", name="it"))
    (node,) = (node for node in forged.node if node.name == "it")
    node.attr["_from_outside"].list.s.append(b"files")
    with security.untrusted_graph():
        tf.import_graph_def(forged, name="")
    node.attr["_from_outside"].i = 3
    tf.import_graph_def(forged, name="odd")
    with tf.Session() as sess:
        for name in ("it:0", "odd/it:0"):
            with pytest.raises(Refused):
                sess.run(name)


def test_a_folder_may_be_opened_to_reading(tmp_path: Path, mode: str) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "file").write_text(folder.name)
    (inside / "link").symlink_to(outside / "file")

    def build() -> None:
        name = tf.placeholder(tf.string, [], "name")
        tf.read_file(name, name="read")
        tf.write_file(name, "overwritten", name="write")
        tf.matching_files(name, name="match")

    imported(build, read=[inside])
    with tf.Session() as sess:

        def run(fetch: str, path: Any) -> Any:
            return sess.run(fetch, {"name:0": str(path)})

        assert run("read:0", inside / "file") == b"inside"
        assert run("read:0", f"file://{inside}/file") == b"inside"
        assert run("match:0", inside / "f*").tolist() == [str(inside / "file").encode()]
        ways = [outside / "file", f"{inside}/../outside/file", inside / "link", "", "memory://x"]
        for path in (*ways, f"{inside}\0", f"{inside}side/file", f"file://{outside}/file"):
            with pytest.raises(Refused):
                run("read:0", path)
        for pattern in (f"{inside}/*/../../outside/*", f"{inside}/l*", "*"):
            with pytest.raises(Refused):
                run("match:0", pattern)
        with pytest.raises(Refused, match="write files"):
            run("write", inside / "file")


def test_state_is_not_found_by_name_from_outside(mode: str) -> None:
    """Variables, queues and tables of the program are out of reach, whatever the names."""

    def build() -> None:
        tf.Variable(0.0, name="v")
        handle = raw.VarHandleOp(dtype=tf.float32, shape=[], shared_name="handle", name="handle")
        raw.ReadVariableOp(handle, tf.float32, name="read")
        queue = tf.FIFOQueue(1, tf.float32, shapes=[[]], shared_name="queue", name="queue")
        queue.size(name="size")

    build()
    graph = tf.get_default_graph()
    fill = [
        graph.get_operation_by_name("v/Assign"),
        raw.AssignVariableOp(graph.get_tensor_by_name("handle:0"), tf.constant(1.0)),
        raw.QueueEnqueueV2(graph.get_tensor_by_name("queue:0"), [tf.constant(1.0)]),
    ]
    # One name scope removes the names of nodes, but not those of what is shared.
    foreign = message(build)
    for node in foreign.node:
        if node.op == "VariableV2":
            node.attr["shared_name"].s = b"v"
    with security.untrusted_graph():
        tf.import_graph_def(foreign, name="theirs")
    with tf.Session() as sess:
        sess.run(fill)
        assert sess.run("v:0") == 0.0 and sess.run("read:0") == 1.0 and sess.run("size:0") == 1
        for name in ("theirs/v:0", "theirs/read:0"):
            with pytest.raises(tf.errors.FailedPreconditionError):
                sess.run(name)
        assert sess.run("theirs/size:0") == 0


def test_partial_runs_are_refused(mode: str) -> None:
    imported(lambda: tf.read_file(tf.placeholder(tf.string, [], "name"), name="it"))
    with tf.Session() as sess, pytest.raises(Refused):
        handle = sess.partial_run_setup(["it:0"], ["name:0"])
        sess.partial_run(handle, "it:0", {"name:0": "/etc/hostname"})


def test_printing_is_allowed_unless_it_is_to_a_file(capfd: Any, mode: str) -> None:
    imported(lambda: tf.print("hello", name="it"))
    with tf.Session() as sess:
        sess.run("it")
    assert "hello" in capfd.readouterr().err


def test_wrong_permissions_are_told() -> None:
    with pytest.raises(ValueError, match="allow='everything': it must be one of"):
        security.untrusted_graph(allow=["everything"])


def test_the_environment_makes_imports_those_of_strangers(monkeypatch: pytest.MonkeyPatch) -> None:
    build = lambda: tf.read_file("/etc/hostname", name="it")  # noqa: E731
    monkeypatch.setenv("NUMBAFLOW_TRUST", "graph")
    tf.import_graph_def(message(build), name="theirs")
    with security.trusted_graph():
        tf.import_graph_def(message(build), name="mine")
    with tf.Session() as sess:
        assert sess.run("mine/it:0") is not None
        with pytest.raises(Refused):
            sess.run("theirs/it:0")
    monkeypatch.setenv("NUMBAFLOW_TRUST", "nobody")
    with pytest.raises(ValueError, match="it must be all or graph"):
        tf.import_graph_def(message(build), name="x")


def test_the_environment_holds_for_programs_that_know_nothing_of_it(tmp_path: Path) -> None:
    path = tmp_path / "graph.pb"
    path.write_bytes(
        message(lambda: tf.write_file(str(tmp_path / "file"), "x", name="it")).SerializeToString()
    )
    program = (
        "import numbaflow as tf\n"
        f"tf.import_graph_def(tf.GraphDef.FromString(open({str(path)!r}, 'rb').read()), name='')\n"
        "tf.Session().run('it')\n"
    )
    environment = {**os.environ, "NUMBAFLOW_TRUST": "graph"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode and "PermissionDeniedError" in done.stderr
    assert not (tmp_path / "file").exists()


def test_the_mark_costs_graphs_of_the_program_nothing(graph: tf.Graph) -> None:
    tf.import_graph_def(message(lambda: tf.add(1.0, 2.0, "sum")), name="")
    assert all("_from_outside" not in node.attr for node in graph.as_graph_def().node)
    assert np.float32(3.0) == tf.Session().run("sum:0")
