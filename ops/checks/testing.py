# SPDX-License-Identifier: Apache-2.0
"""Op types without a meaning, for tests of how graphs are built (TensorFlow's `test_ops`).

Imported on demand only, so that ordinary programs have no such types.  Tests give them gradients.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph import build, registry
from ...engine.graph.op_def_library import OpDefLibrary
from ...engine.graph.registry import Attr
from ...engine.types import dtypes
from ...engine.types.dtypes import boxed
from ...engine.types.shape import TensorShape

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext

# One op a line: type, then signature, then attributes.
_ROWS = """
A | -> out: float32
B | -> out: float32
Foo1 | a: float32, b: int32, c: int32 -> d: float32, e: int32
Foo2 | a: float32, b: string, c: string -> d: float32, e: int32
Foo3 | a: float32, b: string, c: float32 -> d: float32, e: int32
CopyOp | a: T -> b: T | T: type
None | ->
IntOutput | -> a: int32
Int64Output | -> out: int64
RefOutput | -> a: Ref(int32)
FloatOutput | -> a: float32
TwoFloatOutputs | -> a: float32, b: float32
FiveFloatOutputs | -> a: float32, b: float32, c: float32, d: float32, e: float32
RefOutputFloatOutput | -> a: Ref(float32), b: float32
RefInputFloatInput | a: Ref(float32), b: float32 ->
IntInput | a: int32 ->
IntInputIntOutput | a: int32 -> b: int32
FloatInput | a: float32 ->
TwoIntOutputs | -> a: int32, b: int32
IntOutputFloatOutput | -> a: int32, b: float32
FloatOutputStringOutput | -> a: float32, b: string
TwoIntInputs | a: int32, b: int32 ->
TwoFloatInputs | a: float32, b: float32 ->
IntInputFloatInput | a: int32, b: float32 ->
RefInputIntInput | a: Ref(int32), b: int32 ->
TwoFloatInputsFloatOutput | a: float32, b: float32 -> c: float32
TwoFloatInputsIntOutput | a: float32, b: float32 -> c: int32
RefInputFloatInputIntOutput | a: Ref(float32), b: float32 -> c: int32
ListInput | a: N * T -> | N: int >= 1; T: type
ListOutput | -> a: T | T: list(type) >= 1
Unary | a: T -> b: T | T: type
OpWithDefaultAttr | -> a: int32 | default_float: float = 123.0
OpWithFutureDefaultAttr | ->
IntAttr | -> out: int64 | foo: int = 1
StringListAttr | -> | a: list(string); b: string
FuncAttr | -> | f: func
FuncListAttr | -> | f: list(func)
Simple | a: int32 -> out: float32
OutT | -> a: T | T: type
ReservedInput | input: int32 ->
Polymorphic | a: T -> out: T | T: type
PolymorphicOut | -> out: T | T: type
PolymorphicDefaultOut | -> out: T | T: type = string
Binary | a: T, b: T -> out: T | T: type
Restrict | a: T -> out: T | T: {string, bool}
TypeList | a: T -> | T: list(type) >= 0
TypeListTwice | a: T, b: T -> | T: list(type) >= 0
OutTypeList | -> out: T | T: list(type) >= 0
TypeListRestrict | a: T -> | T: list({string, bool}) >= 1
OutTypeListRestrict | -> out: t | t: list({string, bool}) >= 1
Attr | -> | a: int
AttrFloat | -> | a: float
AttrBool | -> | a: bool
AttrBoolList | -> | a: list(bool)
AttrMin | -> | a: int >= 5
AttrListMin | -> | a: list(int) >= 2
AttrEnum | -> | a: {'apples', 'oranges'}
AttrEnumList | -> | a: list({'apples', 'oranges'})
AttrShape | -> | a: shape
AttrShapeList | -> | a: list(shape)
AttrPartialShape | -> | a: shape
AttrPartialShapeList | -> | a: list(shape)
AttrDefault | -> | a: string = 'banana'
AttrListDefault | -> | a: list(int) = [5, 15]
AttrEmptyListDefault | -> | a: list(float) = []
ReservedAttr | -> | range: int
AttrTypeDefault | a: T -> | T: type = int32
AttrListTypeDefault | a: N * T, b: N * T -> | T: type = int32; N: int >= 1
NIntsIn | a: N * int32 -> | N: int >= 2
NPolymorphicIn | a: N * T -> | T: type; N: int >= 2
NPolymorphicRestrictIn | a: N * T -> | T: {string, bool}; N: int >= 2
NInTwice | a: N * int32, b: N * string -> | N: int >= 0
NInPolymorphicTwice | a: N * T, b: N * T -> | T: type; N: int >= 0
NInTwoTypeVariables | a: N * S, b: N * T -> | S: type; T: type; N: int >= 0
InPolymorphicTwice | a: N * T, b: M * T -> | T: type; N: int >= 0; M: int >= 0
NIntsOut | -> a: N * int32 | N: int >= 2
NIntsOutDefault | -> a: N * int32 | N: int >= 2 = 3
NPolymorphicOut | -> a: N * T | T: type; N: int >= 2
NPolymorphicOutDefault | -> a: N * T | T: type = bool; N: int >= 2 = 2
NPolymorphicRestrictOut | -> a: N * T | T: {string, bool}; N: int >= 2
RefIn | a: Ref(T) -> | T: type
TwoRefsIn | a: Ref(T), b: Ref(T) -> | T: type
RefOut | -> a: Ref(T) | T: type
SimpleStruct | -> a: n_a * int32 | n_a: int >= 0
MixedStruct | -> a: n_a * int32, b: float32 | n_a: int >= 0
ComplexStruct | -> a: n_a * int32, b: n_b * int64, c: t_c | \
n_a: int >= 0; n_b: int >= 0; t_c: list(type) >= 0
TestStringOutput | input: float32 -> output1: float32, output2: string
ShapelessOp | ->
"""  # noqa: E501

_DOC = "Only for tests of graph construction."

for _row in _ROWS.strip().splitlines():
    _name, _signature, *_attrs = (part.strip() for part in _row.split("|"))
    build.define(_name, _signature, *_attrs, shape=None, doc=_DOC)


def _define(name: str, signature: str, attrs: str = "", **facts: Any) -> None:
    build.define(name, signature, attrs, doc=_DOC, **facts)


def _label(c: KernelContext, *unused: Any) -> np.ndarray:
    label = c.op._attrs.get("_kernel") or b"default"
    return np.array(b"My label is: " + label, object)


def _require_vector(c: ShapeContext) -> TensorShape:
    if c.inputs[0].ndims not in (None, 1):
        raise ValueError(f"Shape must be rank 1 but is rank {c.inputs[0].ndims}")
    return TensorShape([])


def _version(c: KernelContext) -> np.ndarray:
    return np.array(_producer(c), np.int32)


def _producer(c: KernelContext | ShapeContext) -> int:
    return c.op.graph.graph_def_versions.producer


def _require_older(c: ShapeContext) -> TensorShape:
    from ...io.versions import GRAPH_DEF_VERSION

    if _producer(c) != GRAPH_DEF_VERSION - 1:
        raise ValueError("Wrong graph version for shape")
    return TensorShape([])


def _refuse_old(c: ShapeContext) -> None:
    if _producer(c) >= 8:
        raise NotImplementedError(
            f"Op Old is not available in GraphDef version {_producer(c)}. It has been removed in "
            "version 8. For reasons."
        )


def _scalar(c: ShapeContext) -> TensorShape:
    return TensorShape([])


_define("KernelLabel", "-> result: string", shape=_scalar, kernel=_label)
_define(
    "KernelLabelRequired",
    "input: int32 -> result: string",
    shape=_require_vector,
    kernel=_label,
)
_define("GraphDefVersion", "-> version: int32", shape=_scalar, kernel=_version, stateful=True)
_define("RequiresOlderGraphVersion", "-> version: int32", shape=_require_older, stateful=True)
_define("TestAttr", "-> out: T", "T: {float32, float64}", kernel=lambda c: np.float32(1))
_define("Old", "->", shape=_refuse_old, kernel=lambda c: ())
_define(
    "DevicePlacementOp",
    "-> device: string",
    shape=_scalar,
    stateful=True,
    kernel=lambda c: np.array(b"/job:localhost/replica:0/task:0/device:CPU:0", object),
)


class _Stub:
    """Where a stub of a resource is to be found, and whether it is there."""

    def __init__(self) -> None:
        self.exists = False


def _handle(c: KernelContext) -> np.ndarray:
    name = c.attr("shared_name") or c.name
    found = c.session_state.lookup_or_create(c.attr("container"), f"stub:{name}", _Stub)
    return boxed(found)


def _create(c: KernelContext, handle: Any) -> Any:
    if handle.exists:
        raise errors.already_exists("Resource exists: a stub of a resource")
    handle.exists = True
    return ()


def _use(c: KernelContext, handle: Any) -> Any:
    if not handle.exists:
        raise errors.not_found("Resource does not exist: a stub of a resource")
    return ()


_define(
    "StubResourceHandleOp",
    "-> resource: resource",
    "container: string = ''; shared_name: string = ''",
    shape=_scalar,
    kernel=_handle,
    stateful=True,
)
_define(
    "ResourceInitializedOp",
    "resource: resource -> initialized: bool",
    shape=_scalar,
    kernel=lambda c, handle: np.bool_(handle.exists),
    stateful=True,
)
_define("ResourceCreateOp", "resource: resource ->", kernel=_create, stateful=True)
_define("ResourceUsingOp", "resource: resource ->", kernel=_use, stateful=True)


def _define_defaults() -> None:
    """An op with an attribute of every type, each with a default."""
    values: dict[str, Any] = {
        "string": b"abc",
        "list(string)": [b"abc", b""],
        "int": 123,
        "list(int)": [1, 2, 3],
        "float": 10.0,
        "list(float)": [10.0],
        "bool": True,
        "list(bool)": [True, False],
        "type": dtypes.int32,
        "list(type)": [dtypes.int32, dtypes.float32],
        "shape": TensorShape([2, 1]),
        "list(shape)": [TensorShape([]), TensorShape([1])],
        "tensor": np.array(1, np.int32),
        "list(tensor)": [np.array(1, np.int32)],
    }
    attrs = tuple(
        Attr(kind.replace("list(", "").replace(")", "_list") + "_val", kind, value, True)
        for kind, value in values.items()
    )
    registry.register(registry.OpDef("DefaultAttrs", (), (), attrs, doc=_DOC))


_define_defaults()
_op_def_lib = OpDefLibrary()
