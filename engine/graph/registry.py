# SPDX-License-Identifier: Apache-2.0
"""The op table: one `OpDef` per TensorFlow op type, stated once and read by everybody.

The graph builder reads names, types and attributes; shape inference reads `shape`; the interpreter
reads `kernel`; the compiler reads `lower`; autodiff reads `gradient`.  This module imports nothing
of the package but the dtypes and the table of names, so that every other layer may import it.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import field
from typing import Any, Literal, get_args

import numpy as np

from .. import api
from ..record_class import record
from ..types import dtypes

# Allowed-type groups, by TensorFlow's own names for them.
_REAL = "float32, float64, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64"
TYPE_GROUPS = {
    "realnumbertype": _REAL,
    "numbertype": (
        "float32, float64, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
        "bfloat16, uint16, complex128, half, uint32, uint64"
    ),
    "quantizedtype": "qint8, quint8, qint32, qint16, quint16",
    "floattype": "bfloat16, half, float32, float64",
    "index": "int32, int64",
}


@record(frozen=True, slots=True)
class Arg:
    """One input or output: a tensor, `number_attr` tensors of one type, or a list of types.

    Exactly one of `dtype` (fixed), `type_attr` and `type_list_attr` is set.
    """

    name: str
    dtype: dtypes.DType | None = None
    type_attr: str | None = None
    type_list_attr: str | None = None
    number_attr: str | None = None
    is_ref: bool = False

    @property
    def is_flow(self) -> bool:
        """Whether it is a tensor array's flow: a number that nobody looks at, for the order."""
        return self.dtype == dtypes.float32 and self.name in ("flow", "flow_in", "flow_out")


@record(frozen=True, slots=True)
class Attr:
    """One attribute: TensorFlow's type name for it, its default and what it allows."""

    name: str
    type: str  # int, float, bool, string, type, shape, tensor, func, or list(...) of one
    default: Any = None
    has_default: bool = False
    allowed: tuple[Any, ...] | None = None
    minimum: int | None = None


@record(frozen=True, slots=True)
class NoGradient:
    """The declared fact that an op has no gradient, with the reason.

    Where a gradient arrives at one, `tf.gradients` raises LookupError; nothing flows back through
    `silent` ones, those that TensorFlow declares NotDifferentiable.
    """

    reason: str
    silent: bool = False

    @property
    def silently(self) -> NoGradient:
        """The same reason of an op that TensorFlow declares NotDifferentiable."""
        return NoGradient(self.reason, silent=True)


@record(frozen=True, slots=True)
class Folding:
    """What a graph tells of an op's result before anything runs (see engine/graph/constants.py).

    from_shapes(shapes, dtype) -> the results from the inputs' static shapes alone, or None.
    spelled(op, index, look) -> the partly known TensorShape that an output spells as a vector of
    sizes; look(tensor) -> the value of a tensor where it is known, else None.
    constant(op) -> whether TensorFlow's `constant_value` looks through the op.
    partial(op) -> an object array with None for what is not known, or None.
    """

    from_shapes: Callable[..., Any] | None = None
    spelled: Callable[..., Any] | None = None
    constant: Callable[..., bool] | None = None
    partial: Callable[..., Any] | None = None


# Facts for tests, or what makes them.
Facts = dict[str, Any] | Callable[[], dict[str, Any]]
# What an op does with values as they are: "value" hands them on, "write" puts one into a variable,
# "file" carries them between values and files.
Transfer = Literal["", "value", "write", "file"]
# "next" is an iteration's; "trigger" runs even where dead; "condition" is a loop's; "step" is an
# ordinary op whose resource lives for one run; the kernel of "wait" may return a Future
# (engine/session/futures.py).
ControlFlowRole = Literal[
    "", "switch", "merge", "enter", "exit", "next", "trigger", "condition", "step", "wait"
]
_TRANSFERS, _CONTROL_FLOW_ROLES = get_args(Transfer), get_args(ControlFlowRole)

# What an op may touch beside the values of its session: files (here and behind schemes such as
# gs://), functions of this Python process, its streams and log, and what other nodes of the session
# keep under names that are data.
Touched = Literal["files", "python", "output", "session"]
TOUCHED = get_args(Touched)


@record(frozen=True, slots=True)
class Touch:
    """One thing beside the values of its session that an op touches (engine/graph/trust.py).

    path names the input or attribute that says which files; "" where neither does.  Only values of
    it that begin with `scheme` are paths.
    """

    kind: Touched
    path: str = ""
    scheme: str = ""
    writes: bool = False

    def __post_init__(self) -> None:
        if self.kind not in TOUCHED:
            raise ValueError(f"an op cannot touch {self.kind!r}; it may touch {TOUCHED}")


def reads(*paths: str) -> tuple[Touch, ...]:
    """The fact that an op reads the files that inputs or attributes of these names say."""
    return tuple(Touch("files", path) for path in paths)


def writes(*paths: str, scheme: str = "") -> tuple[Touch, ...]:
    """The fact that an op writes the files that inputs or attributes of these names say."""
    return tuple(Touch("files", path, scheme, writes=True) for path in paths)


@record(frozen=True, slots=True)
class OpDef:
    """All there is to know about one op.

    shape(c) -> TensorShape or a list of them; `c` is a ShapeContext (engine/graph/build.py).
    kernel(c, *inputs) -> array or tuple; the NumPy reference, `c` is a KernelContext.
    lower(b, op, *values) -> Value or tuple; `b` is the compiler's Builder (jit/trace/builder.py).
    gradient(op, *output_grads) -> one entry per input: a Tensor, IndexedSlices or None.
    """

    name: str
    inputs: tuple[Arg, ...]
    outputs: tuple[Arg, ...]
    attrs: tuple[Attr, ...]
    shape: Callable[..., Any] | None = None
    kernel: Callable[..., Any] | None = None
    lower: Callable[..., Any] | None = None
    gradient: Callable[..., Any] | NoGradient | None = None
    stateful: bool = False
    commutative: bool = False
    # The kernel also accepts object arrays of symbolic sizes: shape arithmetic stays symbolic.
    sizes: bool = False
    # The output shapes depend on the values of the inputs (tf.unique, boolean masks).  Either that
    # fact alone, or a function(c, *inputs) -> the numbers that the shapes take from the values,
    # quickly found, or None where the kernel has something against the inputs.  `lower` is given
    # them, as a vector that `b.known` knows, behind the inputs (jit/runtime/late_sizes.py).
    dynamic_shape: bool | Callable[..., Any] = False
    # The same in the words of a lowering: function(b, op, *inputs) -> those numbers as 0-d integers
    # of the plan, none of them negative, so that it goes on with them.
    measured_sizes: Callable[..., Any] | None = None
    # Element i of every output is a function of elements i of the inputs, which broadcast.
    elementwise: bool = False
    # Of complex numbers the op is an analytic function: fact, or function(op) -> the fact.  True:
    # where it takes complex numbers and gives nothing else.  False: it conjugates, compares or
    # tells parts of numbers.  Then complex steps give its derivative (engine/testing/cones.py).
    analytic: bool | Callable[..., bool] = True
    # rows(op, inputs) -> outputs: nodes that do the op's work for many elements of a dataset at
    # once (engine/graph/rowwise.py).  Elementwise ops need none.
    rows: Callable[..., Any] | None = None
    # Inputs whose texts the kernel also takes packed (engine/types/texts.py).
    takes_packed: tuple[str, ...] = ()
    # Whether the kernel gives vectors of texts packed where `KernelContext.packs` says that it may.
    gives_packed: bool = False
    # A reference to a variable passes through: the output is the variable itself.
    passes_ref: bool = False
    # What it does with values as they are.  A run of ops that have such a role alone is not
    # compiled, and kernels learn from their context what they need not copy
    # (engine/session/interpreter.py).
    transfer: Transfer = ""
    # The role in control flow; the reference runs a graph with any by engine/session/dataflow.py.
    control_flow_role: ControlFlowRole = ""
    # expand(x, op, inputs) -> (outputs, operations that must run): what stands in place of an op
    # that calls functions, before anything runs; `x` is an Expander
    # (engine/session/function_inlining.py).
    expand: Callable[..., Any] | None = None
    # What it touches beside the values of its session; None: nothing was said.  Such ops are never
    # folded or compiled, and are refused to graphs from outside (engine/graph/trust.py).
    touches: tuple[Touch, ...] | None = None
    # It is done when other work is, or carries what others have computed: its own time says nothing
    # of how quick it is.  Of what may wait by its role this need not be said.
    waits_for_data: bool = False
    # It tells by an OutOfRangeError that data is at its end: programs run until then.
    may_end: bool = False
    # Its kernel leaves the work to native code, as that of a codec: compiled it were no quicker.
    is_native: bool = False
    # What folding at graph construction may use beside the kernel.
    folding: Folding = Folding()
    doc: str = ""
    # It gives what it is fed, and cannot run.
    is_fed: bool = False
    # What `test` gives, or a function that makes it when tests ask for it.
    facts: Facts = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_roles(self.name, self.transfer, self.control_flow_role)

    @property
    def test(self) -> dict[str, Any]:
        """Free-form facts for tests alone: inputs, ranges, dtypes, attribute samples, tolerance."""
        return _made(self.facts) if callable(self.facts) else self.facts

    @property
    def is_stateful(self) -> bool:
        """TensorFlow's flag: all ops that take or give a handle have it too."""
        return self.stateful or any(
            arg.dtype == dtypes.resource for arg in (*self.inputs, *self.outputs)
        )

    @property
    def is_work(self) -> bool:
        """Whether its time is its own and Python's.

        It neither waits, nor carries tensors, nor is outside, nor leaves the work to native code.
        """
        waits = self.waits_for_data or self.control_flow_role == "wait"
        return not (waits or self.touches or self.is_native)

    @property
    def result_sizes(self) -> Callable[..., Any] | None:
        """What finds the sizes that the output shapes take from the values, where there is one."""
        return self.dynamic_shape if callable(self.dynamic_shape) else None

    def attr(self, name: str) -> Attr:
        """The attribute called `name`; KeyError when the op has none."""
        for attr in self.attrs:
            if attr.name == name:
                return attr
        raise KeyError(f"Op {self.name} has no attribute {name!r}")


@functools.cache
def _made(facts: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Made once, so that all tests see the same arrays."""
    return facts()


@record(slots=True)
class UnparsedOpDef:
    """A definition whose notation nobody has had to read: of 600 ops, programs use few."""

    signature: str
    attrs: str
    fields: dict[str, Any]


def _check_roles(name: str, transfer: str, control_flow_role: str) -> None:
    """ValueError for a role that there is not: nobody would act on it."""
    for role, values in ((transfer, _TRANSFERS), (control_flow_role, _CONTROL_FLOW_ROLES)):
        if role not in values:
            raise ValueError(f"op {name} cannot have the role {role!r}; it is one of {values}")


_TABLE: dict[str, OpDef | UnparsedOpDef] = {}


def register(definition: OpDef) -> OpDef:
    """Adds a definition to the table; an op type is defined once."""
    _add(definition.name, definition)
    return definition


def state(name: str, signature: str, attrs: str, **fields: Any) -> None:
    """Adds a definition in the notation of `parse`, which is read when the op is first wanted."""
    _check_roles(name, fields.get("transfer", ""), fields.get("control_flow_role", ""))
    _add(name, UnparsedOpDef(signature, attrs, fields))


# Op type -> the module that defines it, as `load` takes it, of those not imported yet; the changes
# to such a definition.
_LATER: dict[str, str] = {}
_CHANGES: dict[str, dict[str, Any]] = {}


def later(name: str, module: str) -> None:
    """Says which module defines an op; it is imported when the op is wanted."""
    if name not in _TABLE:
        _LATER[name] = module


def modules() -> list[str]:
    """The modules, not imported yet, that define ops."""
    return sorted(set(_LATER.values()))


def _add(name: str, definition: OpDef | UnparsedOpDef) -> None:
    if name in _TABLE:
        raise ValueError(f"op {name} is defined twice")
    _TABLE[name] = definition
    _LATER.pop(name, None)
    amend(name, **_CHANGES.pop(name, {}))


def amend(name: str, **changes: Any) -> None:
    """Replaces fields of a definition; for what cannot stand beside it, such as a late gradient."""
    if name in _LATER:
        _CHANGES.setdefault(name, {}).update(changes)
        return
    known = _TABLE[name]
    if isinstance(known, UnparsedOpDef):
        known.fields.update(changes)
    elif changes:
        _TABLE[name] = dataclasses.replace(known, **changes)


def lookup(name: str) -> OpDef:
    """The definition of an op type; KeyError names the type when there is none."""
    definition = find(name)
    if definition is None:
        raise KeyError(f"Op type not registered '{name}'")
    return definition


def find(name: str) -> OpDef | None:
    """The definition of an op type, or None."""
    found = _TABLE.get(name)
    if found is None and name in _LATER:
        api.load(_LATER[name])
        found = _TABLE.get(name)
    if isinstance(found, UnparsedOpDef):
        definition = parse(name, found.signature, found.attrs)
        found = _TABLE[name] = dataclasses.replace(definition, **found.fields)
    return found


def known_types() -> set[str]:
    """The types of all ops, those that are not imported yet included."""
    return {*_TABLE, *_LATER}


def definitions() -> Iterator[OpDef]:
    """All definitions, in order of declaration."""
    for module in modules():
        api.load(module)
    return (lookup(name) for name in list(_TABLE))


def parse(name: str, signature: str, attrs: str = "") -> OpDef:
    """Reads the compact notation into an OpDef without behaviour.

    signature  "a: T, rest: N * T, ref: Ref(T), any: Ts, flag: bool -> out: T"
    attrs      "T: floattype; N: int >= 1; Ts: list(type); pad: {'SAME', 'VALID'}; k: int = 3"

    Attributes that only name a type (`T`) need no declaration: they default to any type.  Those
    that the signature uses and `attrs` leaves out are appended.
    """
    declared = {attr.name: attr for attr in map(_parse_attr, _split(attrs, ";"))}
    left, _, right = signature.partition("->")
    inputs = tuple(_parse_arg(text, declared) for text in _split(left, ","))
    outputs = tuple(_parse_arg(text, declared) for text in _split(right, ","))
    return OpDef(name, inputs, outputs, tuple(declared.values()))


# What matters for splitting: a string in quotes, brackets, separators.
_MARK = re.compile(r"""'[^']*'|"[^"]*"|[(){}\[\],;]""")


def _split(text: str, separator: str) -> list[str]:
    """Splits at separators outside of brackets and quotes."""
    parts, depth, start = [], 0, 0
    for match in _MARK.finditer(text):
        mark = match[0]
        if mark in "({[":
            depth += 1
        elif mark in ")}]":
            depth -= 1
        elif mark == separator and depth == 0:
            parts.append(text[start : match.start()])
            start = match.end()
    parts.append(text[start:])
    return [part for part in map(str.strip, parts) if part]


def _parse_arg(text: str, declared: dict[str, Attr]) -> Arg:
    name, _, kind = (part.strip() for part in text.partition(":"))
    is_ref = kind.startswith("Ref(")
    if is_ref:
        kind = kind[4:-1].strip()
    number = None
    if "*" in kind:
        number, kind = (part.strip() for part in kind.split("*"))
        declared.setdefault(number, Attr(number, "int", minimum=1))
    if kind in dtypes.BY_NAME:
        return Arg(name, dtype=dtypes.BY_NAME[kind], number_attr=number, is_ref=is_ref)
    attr = declared.setdefault(kind, Attr(kind, "type"))
    if attr.type == "list(type)":
        return Arg(name, type_list_attr=kind, is_ref=is_ref)
    return Arg(name, type_attr=kind, number_attr=number, is_ref=is_ref)


_ATTR = re.compile(
    r"^(?P<name>\w+)\s*:\s*(?P<kind>[^=>]+?)\s*(>=\s*(?P<min>-?\d+)\s*)?(=\s*(?P<default>.*))?$",
    re.S,
)


@functools.cache  # many definitions state the same one
def _parse_attr(text: str) -> Attr:
    match = _ATTR.match(text)
    if match is None:
        raise ValueError(f"cannot read the attribute {text!r}")
    kind, allowed = _parse_kind(match["kind"])
    default = match["default"]
    return Attr(
        match["name"],
        kind,
        default=None if default is None else _parse_default(kind, default.strip()),
        has_default=default is not None,
        allowed=allowed,
        minimum=None if match["min"] is None else int(match["min"]),
    )


_ATTR_KINDS = frozenset("int float bool string type shape tensor func".split())


def _parse_kind(kind: str) -> tuple[str, tuple[Any, ...] | None]:
    inner = re.match(r"^list\((.*)\)$", kind, re.S)
    if inner:
        item, allowed = _parse_kind(inner[1].strip())
        return f"list({item})", allowed
    if kind in _ATTR_KINDS:
        return kind, None
    kind = TYPE_GROUPS.get(kind, kind)
    if kind.startswith("{"):
        kind = kind[1:-1]
    elif "," not in kind and kind not in dtypes.BY_NAME:
        return kind, None
    if "'" in kind or '"' in kind:
        return "string", tuple(value.encode() for value in ast.literal_eval(f"({kind},)"))
    names = [
        name for part in _split(kind, ",") for name in _split(TYPE_GROUPS.get(part, part), ",")
    ]
    return "type", tuple(dtypes.BY_NAME[name] for name in dict.fromkeys(names))


def _parse_default(kind: str, text: str) -> Any:
    if kind == "type":
        return dtypes.BY_NAME[text]
    if kind == "tensor":  # a vector, such as uint8[255, 0]
        name, _, items = text.partition("[")
        return np.array(ast.literal_eval("[" + items), dtypes.BY_NAME[name].np_dtype)
    if kind == "list(type)":
        return [dtypes.BY_NAME[name] for name in _split(text.strip("[]"), ",")]
    value = ast.literal_eval({"true": "True", "false": "False"}.get(text, text))
    if kind == "string":
        return value.encode() if isinstance(value, str) else value
    if kind == "list(string)":
        return [item.encode() if isinstance(item, str) else item for item in value]
    return float(value) if kind == "float" else value
