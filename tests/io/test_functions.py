# SPDX-License-Identifier: Apache-2.0
"""Functions in a GraphDef's library: kept as they are, and run when nodes call them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.engine.session import call_sizes
from numbaflow.engine.session.function_inlining import _expansions
from numbaflow.io.meta_graph import export_scoped_meta_graph
from numbaflow.io.meta_graph_import import import_scoped_meta_graph

FLOAT = "attr { key: 'T' value { type: DT_FLOAT } }"
KINDS = "{ list { type: DT_FLOAT } }"
TYPES = f"attr {{ key: 'Tin' value {KINDS} }} attr {{ key: 'Tout' value {KINDS} }} "


def function(name: str, nodes: str, ret: str = "y:y:0", more: str = "") -> str:
    """A function of one float that returns one."""
    return (
        f"function {{ signature {{ name: '{name}' input_arg {{ name: 'x' type: DT_FLOAT }}"
        f" output_arg {{ name: 'out' type: DT_FLOAT }} {more} }} {nodes}"
        f" ret {{ key: 'out' value: '{ret}' }} }}"
    )


def node(name: str, op: str, *inputs: str, more: str = FLOAT, field: str = "node_def") -> str:
    listed = " ".join(f"input: '{text}'" for text in inputs)
    return f"{field} {{ name: '{name}' op: '{op}' {listed} {more} }} "


def refer(key: str, name: str) -> str:
    return f"attr {{ key: '{key}' value {{ func {{ name: '{name}' }} }} }} "


def constant(name: str, value: float) -> str:
    tensor = f"attr {{ key: 'value' value {{ tensor {{ dtype: DT_FLOAT float_val: {value} }} }} }}"
    more = f"attr {{ key: 'dtype' value {{ type: DT_FLOAT }} }} {tensor}"
    return node(name, "Const", more=more)


HALF = function("half", constant("c", 0.5) + node("y", "Mul", "x", "c:output:0"), "y:z:0")
QUARTER = function(
    "quarter",
    node("one", "half", "x", more="") + node("y", "half", "one:out:0", more=""),
    "y:out:0",
)
NEGATE = function("negate", node("y", "Neg", "x"))
IS_LARGE = (
    "function { signature { name: 'is_large' input_arg { name: 'x' type: DT_FLOAT }"
    " output_arg { name: 'out' type: DT_BOOL } } "
    f"{constant('c', 1.0)} {node('y', 'Greater', 'x', 'c:output:0')}"
    " ret { key: 'out' value: 'y:z:0' } }"
)
X = node("x", "Placeholder", more="attr { key: 'dtype' value { type: DT_FLOAT } }", field="node")


def message(functions: str, *nodes: str) -> Any:
    calls = "".join(text.replace("node_def {", "node {", 1) for text in nodes)
    text = f"versions {{ producer: 134 min_consumer: 12 }} library {{ {functions} }} {X} {calls}"
    return text_format.Parse(text, tf.GraphDef())


def call(name: str, op: str = "PartitionedCall", *inputs: str, f: str = "half") -> str:
    return node(name, op, *(inputs or ("x",)), more=TYPES + refer("f", f))


CHOICE = node(
    "y",
    "StatelessIf",
    "flag",
    "x",
    more=TYPES
    + "attr { key: 'Tcond' value { type: DT_BOOL } }"
    + refer("then_branch", "half")
    + refer("else_branch", "negate"),
)
FLAG = node("flag", "Placeholder", more="attr { key: 'dtype' value { type: DT_BOOL } }")
LOOP = node(
    "y",
    "While",
    "x",
    more=f"attr {{ key: 'T' value {KINDS} }} " + refer("cond", "is_large") + refer("body", "half"),
)


@pytest.fixture(autouse=True)
def graph() -> Any:
    new = tf.Graph()
    with new.as_default():
        yield new


@pytest.mark.pure
def test_the_library_is_kept(graph: Any) -> None:
    read = message(HALF + NEGATE, call("y"))
    tf.import_graph_def(read, name="")
    written = graph.as_graph_def()
    assert written.library == read.library
    assert written.versions.min_consumer == 12
    assert graph._is_function("half") and not graph._is_function("other")
    text, _ = export_scoped_meta_graph()
    with tf.Graph().as_default() as again:
        import_scoped_meta_graph(text)
        assert again.as_graph_def().library == read.library


PROGRAMS = {
    "by its name": (HALF + QUARTER, [node("y", "quarter", "x", more="")], 0.25),
    "by an attribute": (HALF, [call("y")], 0.5),
    "twice": (
        HALF + QUARTER,
        [call("a", f="quarter"), call("y", "StatefulPartitionedCall", "a")],
        0.125,
    ),
}


@pytest.mark.cpu
@pytest.mark.parametrize("mode", ["never", "always"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_calls(graph: Any, program: str, mode: str) -> None:
    functions, calls, factor = PROGRAMS[program]
    tf.import_graph_def(message(functions, *calls), name="")
    with settings.override(jit=mode), tf.Session() as session:
        assert session.run("y:0", {"x:0": 8.0}) == 8.0 * factor
        # What is called may be fed and fetched like any other tensor.
        assert session.run(["y:0", "x:0"], {"x:0": 1.0, "y:0": 7.0}) == [7.0, 1.0]


@pytest.mark.cpu
@pytest.mark.parametrize("mode", ["never", "always"])
def test_branches_and_loops(graph: Any, mode: str) -> None:
    tf.import_graph_def(message(HALF + NEGATE, FLAG, CHOICE), name="if")
    tf.import_graph_def(message(HALF + IS_LARGE, LOOP), name="while")
    with settings.override(jit=mode), tf.Session() as session:
        for flag, expected in ((True, 2.0), (False, -4.0)):
            feeds = {"if/x:0": 4.0, "if/flag:0": flag}
            assert session.run("if/y:0", feeds) == expected
        assert session.run("while/y:0", {"while/x:0": 11.0}) == 11.0 / 16
        assert session.run("while/y:0", {"while/x:0": 0.25}) == 0.25


@pytest.mark.programs
@pytest.mark.parametrize("index", [0, 1, 2, 5])
def test_one_of_several_functions(graph: Any, index: int) -> None:
    listed = "".join(f"func {{ name: '{name}' }} " for name in ("half", "negate", "quarter"))
    branches = f"attr {{ key: 'branches' value {{ list {{ {listed} }} }} }}"
    kind = node("i", "Placeholder", more="attr { key: 'dtype' value { type: DT_INT32 } }")
    case = node("y", "StatelessCase", "i", "x", more=TYPES + branches)
    tf.import_graph_def(message(HALF + NEGATE + QUARTER, kind, case), name="")
    with tf.Session() as session:
        found = session.run("y:0", {"x:0": 8.0, "i:0": index})
    assert found == [4.0, -8.0, 2.0, None, None, 2.0][index]


@pytest.mark.cpu
def test_effects_within_a_function_happen(graph: Any) -> None:
    """An assignment runs though no result needs it; a fetch of the node alone runs it too."""
    body = (
        node(
            "v",
            "VarHandleOp",
            more="attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' value { shape"
            " {} } } attr { key: 'shared_name' value { s: 'v' } }",
        )
        + node(
            "set",
            "AssignVariableOp",
            "v:resource:0",
            "x",
            more="attr { key: 'dtype' value { type: DT_FLOAT } }",
        )
        + node("y", "Identity", "x")
    )
    function_text = function("keep", body, "y:output:0")
    tf.import_graph_def(message(function_text, node("y", "keep", "x", more="")), name="")
    with tf.variable_scope("", use_resource=True):
        v = tf.get_variable("v", initializer=0.0)
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run("y:0", {"x:0": 3.0}) == 3.0
        assert session.run(v) == 3.0
        session.run(graph.get_operation_by_name("y"), {"x:0": 4.0})
        assert session.run(v) == 4.0


@pytest.mark.programs
def test_what_cannot_run_is_named(graph: Any) -> None:
    unknown = function("odd", node("y", "NoSuchOp", "x", more=""))
    itself = function("itself", node("y", "itself", "x", more=""), "y:out:0")
    calls = [node("a", "odd", "x", more=""), node("b", "itself", "x", more="")]
    missing = call("c", f="gone")
    good = node("y", "half", "x", more="")
    tf.import_graph_def(message(unknown + itself + HALF, *calls, missing, good), name="")
    with tf.Session() as session:
        assert session.run("y:0", {"x:0": 1.0}) == 0.5
        # Nobody needs the function where the node's result is fed.
        assert session.run("a:0", {"x:0": 1.0, "a:0": 2.0}) == 2.0
        for fetch, expected in (
            ("a:0", "Function odd cannot run here: .*Op type not registered 'NoSuchOp'"),
            ("b:0", r"Function itself calls itself \(itself -> itself\)"),
            ("c:0", "Function gone is not defined"),
        ):
            with pytest.raises(tf.errors.OpError, match=expected):
                session.run(fetch, {"x:0": 1.0})


def tower(levels: int, calls: int) -> str:
    """Functions f0, f1 …, each of which calls the one before so many times in a row."""
    functions = [function("f0", node("y", "Neg", "x"))]
    for level in range(1, levels):
        inputs = ["x", *(f"c{i}:out:0" for i in range(calls - 1))]
        names = [*(f"c{i}" for i in range(calls - 1)), "y"]
        nodes = [node(n, f"f{level - 1}", x, more="") for n, x in zip(names, inputs)]
        functions.append(function(f"f{level}", "".join(nodes), "y:out:0"))
    return "".join(functions)


@pytest.mark.growth
@pytest.mark.parametrize("levels", [100, 600])
def test_functions_may_be_nested_deeper_than_python_can(graph: Any, levels: int) -> None:
    top = node("y", f"f{levels - 1}", "x", more="")
    tf.import_graph_def(message(tower(levels, 1), top), name="")
    with settings.override(jit="never"), tf.Session() as session:
        assert session.run("y:0", {"x:0": 2.0}) == -2.0


@pytest.mark.growth
def test_branches_may_be_nested_deeper_than_python_can(graph: Any) -> None:
    """Each function chooses between the one before and another."""
    flag = "attr { key: 'Tcond' value { type: DT_FLOAT } }"
    functions = [NEGATE, function("f0", node("y", "Neg", "x"))]
    for level in range(1, 150):
        both = refer("then_branch", f"f{level - 1}") + refer("else_branch", "negate")
        choice = node("y", "StatelessIf", "x", "x", more=TYPES + flag + both)
        functions.append(function(f"f{level}", choice, "y:output:0"))
    top = node("y", "f149", "x", more="")
    tf.import_graph_def(message("".join(functions), top), name="")
    with settings.override(jit="never"), tf.Session() as session:
        assert session.run("y:0", {"x:0": 2.0}) == -2.0


@pytest.mark.programs
def test_functions_that_call_each_other_in_a_circle_are_named(graph: Any) -> None:
    """Also where only one branch does: functions are put in place before anything runs."""
    f = function("f", node("y", "g", "x", more=""), "y:out:0")
    flag = "attr { key: 'Tcond' value { type: DT_FLOAT } }"
    both = refer("then_branch", "f") + refer("else_branch", "negate")
    g = function("g", node("y", "If", "x", "x", more=TYPES + flag + both), "y:output:0")
    tf.import_graph_def(message(f + g + NEGATE, node("y", "f", "x", more="")), name="")
    expected = r"Function f calls itself \(f -> g -> f\)"
    with tf.Session() as session, pytest.raises(tf.errors.UnimplementedError, match=expected):
        session.run("y:0", {"x:0": 1.0})


@pytest.mark.programs
def test_a_library_that_stands_for_too_much_is_refused(graph: Any) -> None:
    """Forty functions of two calls are half a million million operations."""
    text = message(tower(40, 2), node("y", "f39", "x", more=""), node("z", "f3", "x", more=""))
    tf.import_graph_def(text, name="")
    with settings.override(jit="never"), tf.Session() as session:
        expected = "Function f39, called by node 'y', would become 549755813888 operations"
        with pytest.raises(tf.errors.ResourceExhaustedError, match=expected):
            session.run("y:0", {"x:0": 1.0})
        assert session.run("z:0", {"x:0": 1.0}) == 1.0
        assert session.run("y:0", {"y:0": 5.0}) == 5.0


@pytest.mark.programs
def test_the_gradient_of_a_library_can_be_too_much(
    graph: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is larger than what is known before it is built; what was built of it goes."""
    names = node("y", "f39", "x", more=""), node("z", "f5", "x", more="")
    tf.import_graph_def(message(tower(40, 2), *names), name="")
    x = graph.get_tensor_by_name("x:0")
    large, small = (tf.gradients(graph.get_tensor_by_name(f"{y}:0"), x)[0] for y in "yz")
    with settings.override(jit="never"), tf.Session() as session:
        with pytest.raises(tf.errors.ResourceExhaustedError, match="Function f39.* would become"):
            session.run(large, {x: 1.0})
        monkeypatch.setattr(call_sizes, "LIMIT", 50)
        with pytest.raises(
            tf.errors.ResourceExhaustedError, match=r"has become 20\d .* at most 200"
        ):
            session.run(small, {x: 1.0})
        assert graph not in _expansions


@pytest.mark.programs
def test_the_time_of_a_run_covers_putting_functions_in_place(graph: Any) -> None:
    tf.import_graph_def(message(tower(15, 2), node("y", "f14", "x", more="")), name="")
    limited = tf.RunOptions(timeout_in_ms=20)
    with settings.override(jit="never"), tf.Session() as session:
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run("y:0", {"x:0": 1.0}, options=limited)
        assert _expansions.get(graph) is None
        assert session.run("y:0", {"x:0": 1.0, "y:0": 2.0}) == 2.0


@pytest.mark.programs
def test_errors_name_the_node_within_and_the_call(graph: Any) -> None:
    body = node("y", "CheckNumerics", "x", more=FLOAT + "attr { key: 'message' value { s: 'm' } }")
    checks = function("checks", body, "y:output:0")
    tf.import_graph_def(message(checks, node("call", "checks", "x", more="")), name="")
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        session.run("call:0", {"x:0": np.nan})
    assert caught.value.op is graph.get_operation_by_name("call")


@pytest.mark.pure
def test_two_functions_of_one_name(graph: Any) -> None:
    tf.import_graph_def(message(HALF), name="a")
    other = HALF.replace("float_val: 0.5", "float_val: 0.25")
    with pytest.raises(ValueError, match="a different function with the same"):
        tf.import_graph_def(message(other), name="b")
    # A failed import leaves no functions behind.
    with pytest.raises(ValueError, match="Unknown input node"):
        tf.import_graph_def(message(NEGATE, node("y", "negate", "z", more="")), name="c")
    assert not graph._is_function("negate")


WRITE = """
import sys
import numpy as np
import {module} as tf
if "{module}".endswith("v1"):
    tf.disable_v2_behavior()
from tensorflow.python.eager import def_function
from tensorflow.python.framework import function

x = tf.placeholder(tf.float32, [None, 3], name="x")
n = tf.placeholder(tf.int32, [], name="n")
v = tf.get_variable("v", initializer=np.float32([2, 3, 4]), use_resource=True)

@function.Defun(tf.float32, tf.float32)
def pair(a, b):
    return tf.tanh(a) * b + 1.0, a - b

@def_function.function
def rounds(a):
    def body(i, a):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: a * v, lambda: a - 1.0)
    return tf.while_loop(lambda i, a: i < n, body, [0, a])[1]

y, z = pair(x, x * 2.0)
tf.identity(rounds(y), name="y")
tf.identity(z, name="z")
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    feed = np.random.RandomState(0).randn(2, 3).astype(np.float32)
    y, z = session.run(["y:0", "z:0"], {{x: feed, n: 5}})
np.savez(sys.argv[1] + ".npz", x=feed, y=y, z=z)
with open(sys.argv[1], "wb") as file:
    file.write(tf.get_default_graph().as_graph_def().SerializeToString())
"""
PEERS = {"NUMBAFLOW_TF115_PYTHON": "tensorflow", "NUMBAFLOW_TF_PYTHON": "tensorflow.compat.v1"}


@pytest.mark.tf
@pytest.mark.parametrize("peer", PEERS)
def test_functions_that_tensorflow_writes(graph: Any, peer: str, tmp_path: Path) -> None:
    python = os.environ.get(peer)
    if not python:
        pytest.skip(f"{peer} names no Python that has TensorFlow")
    path = tmp_path / "graph.pb"
    subprocess.run(
        [python, "-c", WRITE.format(module=PEERS[peer]), str(path)], check=True, capture_output=True
    )
    tf.import_graph_def(tf.GraphDef.FromString(path.read_bytes()), name="")
    with np.load(f"{path}.npz") as expected, tf.Session() as session:
        session.run("v/Assign")
        for _ in range(2):
            y, z = session.run(["y:0", "z:0"], {"x:0": expected["x"], "n:0": 5})
        np.testing.assert_allclose(y, expected["y"], rtol=1e-5)
        np.testing.assert_array_equal(z, expected["z"])
