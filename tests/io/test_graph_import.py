# SPDX-License-Identifier: Apache-2.0
"""`import_graph_def`: names, mapped inputs, loops, devices, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import text_format

import numbaflow as tf
from numbaflow.io import protos

pytestmark = pytest.mark.pure

PLACEHOLDER = "attr { key: 'dtype' value { type: DT_FLOAT } }"
FLOAT = "attr { key: 'T' value { type: DT_FLOAT } }"


def message(text: str) -> Any:
    versions = "" if "versions" in text else "versions { producer: 134 } "
    return text_format.Parse(versions + text, tf.GraphDef())


CHAIN = message(
    f"node {{ name: 'a' op: 'Placeholder' {PLACEHOLDER} }}"
    f"node {{ name: 'b' op: 'Neg' input: 'a' {FLOAT} }}"
    f"node {{ name: 'c' op: 'Mul' input: 'b:0' input: 'a' input: '^b' {FLOAT} }}"
)


@pytest.fixture(autouse=True)
def graph() -> Any:
    new = tf.Graph()
    with new.as_default():
        yield new


def names(graph: Any) -> list[str]:
    return [op.name for op in graph.get_operations()]


def test_a_prefix_of_its_own_for_each_import(graph: Any) -> None:
    assert tf.import_graph_def(CHAIN) is None
    tf.import_graph_def(CHAIN)
    tf.import_graph_def(CHAIN, name="net")
    assert names(graph)[::3] == ["import/a", "import_1/a", "net/a"]
    assert graph.get_operation_by_name("net/c").control_inputs == [
        graph.get_operation_by_name("net/b")
    ]


def test_names_are_made_unique_without_a_prefix(graph: Any) -> None:
    tf.constant(1.0, name="b")
    (c,) = tf.import_graph_def(CHAIN, return_elements=["c"], name="")
    assert [tensor.name for tensor in c.inputs] == ["b_1:0", "a:0"]


def test_mapped_inputs_and_wanted_elements(graph: Any) -> None:
    x = tf.constant([1.0])
    c, product, mapped = tf.import_graph_def(
        CHAIN, {"b:0": x, "^b": x}, return_elements=["c", "c:0", "b:0"]
    )
    assert c.inputs[0] is x
    assert mapped is x
    assert product is c.outputs[0]
    assert c.control_inputs == [x.op]


def test_defaults_are_filled_in_and_seen_by_the_caller() -> None:
    graph_def = message(f"node {{ name: 'a' op: 'Placeholder' {PLACEHOLDER} }}")
    (a,) = tf.import_graph_def(graph_def, return_elements=["a"])
    assert a.outputs[0].shape.ndims is None
    assert "shape" in graph_def.node[0].attr


def test_unknown_attributes_with_the_producers_default_are_dropped() -> None:
    graph_def = message("node { name: 'a' op: 'NoOp' attr { key: 'new' value { i: 1 } } }")
    producer = protos.OpList()
    attr = producer.op.add(name="NoOp").attr.add(name="new", type="int")
    attr.default_value.i = 1
    tf.import_graph_def(graph_def, producer_op_list=producer)
    graph_def.node[0].attr["new"].i = 2
    with pytest.raises(ValueError, match="NodeDef mentions attr 'new' not in Op<name=NoOp;"):
        tf.import_graph_def(graph_def, producer_op_list=producer)


def test_devices_pass_through_the_surrounding_scopes() -> None:
    graph_def = message(
        "node { name: 'a' op: 'NoOp' device: '/job:ps' } node { name: 'b' op: 'NoOp' }"
    )
    with tf.device("/device:CPU:0"):
        a, b = tf.import_graph_def(graph_def, return_elements=["a", "b"])
    assert a.device == "/job:ps/device:CPU:0"
    assert b.device == "/device:CPU:0"


def test_colocation_is_renamed_and_takes_the_others_device() -> None:
    graph_def = message(
        "node { name: 'a' op: 'NoOp' device: '/device:CPU:0' }"
        "node { name: 'b' op: 'NoOp'"
        " attr { key: '_class' value { list { s: 'loc:@a' } } } }"
    )
    (b,) = tf.import_graph_def(graph_def, return_elements=["b"])
    assert b.colocation_groups() == [b"loc:@import/a"]
    assert b.device == "/device:CPU:0"


def test_shapes_in_the_message_refine_what_is_inferred() -> None:
    shape = "attr { key: '_output_shapes' value { list { shape { dim { size: 3 } } } } }"
    graph_def = message(f"node {{ name: 'a' op: 'Placeholder' {PLACEHOLDER} {shape} }}")
    (a,) = tf.import_graph_def(graph_def, return_elements=["a:0"])
    assert a.shape.as_list() == [3]
    assert "_output_shapes" not in a.op.node_def.attr


def test_old_versions_are_kept(graph: Any) -> None:
    tf.import_graph_def(message("versions { producer: 20 min_consumer: 5 }"))
    assert graph.graph_def_versions.producer == 20
    assert graph.as_graph_def().versions.min_consumer == 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("node { name: 'A' op: 'NoOp' } node { name: 'A' op: 'NoOp' }", "Node 'A' is not unique"),
        ("node { name: 'A' }", "Node 'A' does not specify an operation"),
        ("node { name: '_A' op: 'NoOp' }", "Node name contains invalid characters"),
        ("node { name: 'B' op: 'NoOp' input: '^A' }", "Node 'B': Unknown input node '^A'"),
        ("node { name: 'B' op: 'Neg' input: 'A:B' }", "Node 'B': Unknown input node 'A:B'"),
        (
            "node { name: 'A' op: 'NoOp' } node { name: 'B' op: 'NoOp' input: 'A' }",
            "Connecting to invalid output 0 of source node A which has 0 outputs",
        ),
        (
            f"node {{ name: 'A' op: 'Placeholder' {PLACEHOLDER} }}"
            "node { name: 'B' op: 'NoOp' input: 'A' }",
            "NodeDef expected inputs '' do not match 1 inputs specified; Op<name=NoOp; "
            "signature= -> >; NodeDef: {{node import/B}}",
        ),
        (
            f"node {{ name: 'A' op: 'Placeholder' {PLACEHOLDER} }}"
            "node { name: 'B' op: 'Neg' input: 'A' attr { key: 'T' value { type: DT_INT32 } } }",
            "Input 0 of node import/B was passed float from import/A:0 incompatible with "
            "expected int32.",
        ),
        ("node { name: 'A' op: 'Placeholder' }", "NodeDef missing attr 'dtype' from Op<name=Pl"),
        (
            f"node {{ name: 'A' op: 'Neg' input: 'B' {FLOAT} }}"
            f"node {{ name: 'B' op: 'Neg' input: 'A' {FLOAT} }}",
            "2 nodes in a cycle",
        ),
        (
            "node { name: 'B' op: 'NoOp' attr { key: '_class' value { list { s: 'loc:@A' } } } }",
            "Node 'B' expects to be colocated with unknown node 'A'",
        ),
        (
            "node { name: 'A' op: 'Const' attr { key: 'dtype' value { i: 1 } } }",
            "AttrValue had value with type 'int' when 'type' expected",
        ),
        (
            "node { name: 'A' op: 'Placeholder' attr { key: 'dtype' value { } } }",
            "AttrValue missing value with expected type 'type'",
        ),
        (
            "node { name: 'A' op: 'Placeholder'"
            " attr { key: 'dtype' value { list { type: DT_FLOAT } } } }",
            "AttrValue had value with type 'list(type)' when 'type' expected",
        ),
        (
            "node { name: 'A' op: 'Placeholder' attr { key: 'dtype' value { type: DT_INVALID } } }",
            "AttrValue has invalid DataType",
        ),
        (
            "node { name: 'A' op: 'Placeholder' attr { key: 'dtype' value { type: 999 } } }",
            "AttrValue has invalid DataType enum: 999",
        ),
        (
            "node { name: 'A' op: 'Placeholder'"
            " attr { key: 'dtype' value { type: DT_FLOAT_REF } } }",
            "AttrValue must not have reference type value of float_ref",
        ),
        (
            f"node {{ name: 'A' op: 'Placeholder' {PLACEHOLDER}"
            " attr { key: 'shape' value { shape { dim { size: -5 } } } } }",
            "Shape [-5] has dimensions with values below -1 (where -1 means unknown)",
        ),
        (
            f"node {{ name: 'A' op: 'Const' {PLACEHOLDER} attr {{ key: 'value' value {{ tensor {{"
            " dtype: DT_FLOAT tensor_shape { dim { size: -2 } } } } } }",
            "Shape [-2] is not fully defined",
        ),
        (
            f"node {{ name: 'A' op: 'Const' {PLACEHOLDER} attr {{ key: 'value' value {{ tensor {{"
            " dtype: DT_FLOAT tensor_shape { dim { size: 4 } } tensor_content: 'abcd' } } } }",
            "Cannot parse tensor from proto: 4 bytes for shape [4]",
        ),
        (
            f"node {{ name: 'A' op: 'Merge' input: ['B', 'B'] {FLOAT}"
            " attr { key: 'N' value { i: 2 } } }"
            f"node {{ name: 'B' op: 'NextIteration' input: 'A' {FLOAT} }}",
            "2 nodes in a cycle",
        ),
        (
            "library { function { signature { name: 'Neg' } } }",
            "Cannot add function 'Neg' because an op with the same name already exists.",
        ),
        (
            "library { function { signature { name: 'f' } }"
            " gradient { function_name: 'f' gradient_func: 'g' } }",
            "FunctionDefLibrary missing 'g' FunctionDef",
        ),
    ],
)
def test_what_no_graph_can_be(graph: Any, text: str, expected: str) -> None:
    with pytest.raises(ValueError) as caught:
        tf.import_graph_def(message(text))
    assert expected in str(caught.value)
    assert names(graph) == []


def test_an_unknown_op_type(graph: Any) -> None:
    with pytest.raises(tf.errors.NotFoundError, match="Op type not registered 'NoSuchOp'"):
        tf.import_graph_def(message("node { name: 'A' op: 'NoSuchOp' }"))


@pytest.mark.parametrize(
    ("arguments", "kind", "expected"),
    [
        ({"input_map": {"z:0": 1.0}}, ValueError, "that were not found in graph_def: [z:0]"),
        ({"input_map": {"b:3": 1.0}}, ValueError, "that were not found in graph_def: [b:3]"),
        ({"input_map": [1.0]}, TypeError, "input_map must be a dictionary"),
        ({"input_map": {"b:0": 1.0}, "name": ""}, ValueError, "requires a non-empty `name`"),
        ({"return_elements": [7]}, TypeError, "return_elements must be a list of strings."),
        ({"return_elements": ["z"]}, ValueError, "Requested return node 'z' not found"),
        ({"return_elements": ["z:0"]}, ValueError, "Requested return tensor 'z:0' not found"),
        ({"return_elements": ["a:1"]}, ValueError, "of node 'a', which has 1 output(s)"),
        ({"return_elements": ["a:b:0"]}, ValueError, "Cannot convert 'a:b:0' to a tensor name."),
    ],
)
def test_wrong_arguments(graph: Any, arguments: dict, kind: type[Exception], expected: str) -> None:
    with pytest.raises(kind) as caught:
        tf.import_graph_def(CHAIN, **arguments)
    assert expected in str(caught.value)
    assert not any(name.startswith("import/a") for name in names(graph))


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ("versions { min_consumer: 1000 }", "min consumer version 1000 above current version 134"),
        ("versions { producer: -1 }", "producer version -1 below min producer 0"),
        ("versions { bad_consumers: 134 }", "disallows consumer version 134"),
    ],
)
def test_versions_that_cannot_be_read(versions: str, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        tf.import_graph_def(message(versions))


def test_anything_but_a_graph_def() -> None:
    with pytest.raises(TypeError, match=r"graph_def must be a GraphDef proto."):
        tf.import_graph_def("")
    with pytest.raises(TypeError, match=r"graph_def must be a GraphDef proto."):
        tf.import_graph_def(tf.MetaGraphDef())


def test_the_scopes_around_an_import(graph: Any) -> None:
    with tf.control_dependencies([tf.no_op(name="z")]):
        tf.import_graph_def(CHAIN)
    made = [op for op in graph.get_operations() if op.name.startswith("import/")]
    assert made and all(graph.get_operation_by_name("z") in op.control_inputs for op in made)
    v = tf.placeholder(tf.float32, name="v")
    with tf.colocate_with(v):
        tf.import_graph_def(CHAIN, name="other")
    made = [op for op in graph.get_operations() if op.name.startswith("other/")]
    assert made and all(op.colocation_groups() == [b"loc:@v"] for op in made)


@pytest.mark.programs
def test_attributes_that_are_not_what_they_are_named(graph: Any) -> None:
    odd = (
        "attr { key: '_output_shapes' value { i: 3 } } attr { key: '_class' value { s: 'loc:@q' } }"
    )
    surplus = (
        "attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 1 } }"
        " float_val: [1, 2, 3] } } }"
    )
    tf.import_graph_def(
        message(
            f"node {{ name: 'a' op: 'Placeholder' {PLACEHOLDER} {odd} }}"
            f"node {{ name: 'b' op: 'Const' {PLACEHOLDER} {surplus} }}"
        )
    )
    with tf.Session() as session:
        assert session.run("import/b:0").tolist() == [1.0]
