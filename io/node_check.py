# SPDX-License-Identifier: Apache-2.0
"""Whether a NodeDef fits the signature of its op, with TensorFlow's messages when it does not."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..engine import errors
from ..engine.graph import registry
from ..engine.types import dtypes
from ..engine.types.dtypes import runtime_name
from . import signatures
from .attributes import from_proto
from .attributes import op_def as op_def_proto

# Attributes that TensorFlow 2 added to ops of TensorFlow 1.15 and the value with which the op is
# that of 1.15; None where the attribute only helps optimizers and debuggers.
_LATER_ATTRIBUTES: dict[str, Any] = {
    "Tk": dtypes.int32,
    "Tsegmentids": dtypes.int32,
    "Tshape": dtypes.int32,
    "allow_missing_files": False,
    "allowed_devices": None,
    "bad_indices_policy": b"",
    "buffer_size_min": None,
    "cardinality_options": None,
    "debug_name": None,
    "explicit_paddings": [],
    "exponential_avg_factor": 1.0,
    "force_synchronous": None,
    "grad_a": None,
    "grad_b": None,
    "grad_x": None,
    "grad_y": None,
    "index_type": dtypes.int32,
    "is_files": None,
    "log_warning": None,
    "metadata": None,
    "multiply_linear_by_lr": False,
    "ram_budget": None,
    "replicate_on_split": None,
    "resize_if_index_out_of_bounds": False,
    "reshuffle_each_iteration": True,
    "shape_type": dtypes.int32,
    "sparse_gradient": False,
    "stop_on_empty_dataset": False,
    "use_default_device": None,
    "validate_shape": None,
}
# Those that say something, which the kernels here look for under names of their own ("_name").
_KEPT_ATTRIBUTES = ("resize_if_index_out_of_bounds",)

# A node of a file may have so many outputs.
MOST_OUTPUTS = 1 << 20
# So many inputs may be missing for them to be named one by one.
_FEW = 256


def find_definition(op_type: str, functions: Mapping[str, Any] | None = None) -> registry.OpDef:
    """The definition of an op type, or function of a library; NotFoundError when there is none."""
    definition = signatures.find(op_type)
    if definition is None and functions and op_type in functions:
        return functions[op_type].op_definition
    if definition is None:
        raise errors.not_found(
            f"Op type not registered '{op_type}' in binary running on localhost. Make sure the Op "
            "and Kernel are registered in the binary running in this process."
        )
    return definition


def check_node(node: Any, definition: registry.OpDef) -> tuple[dict[str, Any], list[dtypes.DType]]:
    """The plain values of a NodeDef's attributes, and the types that its inputs must have.

    Raises ValueError unless attributes and input count fit the definition.  Attributes that
    TensorFlow 2 added are taken off the NodeDef where they change nothing; of tensors, functions
    and what the definition does not know no values are returned.
    """
    known = {attr.name: attr for attr in definition.attrs}
    values: dict[str, Any] = {}
    for name in sorted(node.attr):
        if name.startswith("_"):
            continue
        if name not in known:
            if name in _KEPT_ATTRIBUTES and not _changes_nothing(name, node.attr[name]):
                node.attr[f"_{name}"].CopyFrom(node.attr[name])
                del node.attr[name]
                continue
            if _changes_nothing(name, node.attr[name]):
                del node.attr[name]
                continue
            raise ValueError(
                f"NodeDef mentions attr '{name}' not in {_about(node, definition)}. (Check whether "
                "your GraphDef-interpreting binary is up to date with your GraphDef-generating "
                "binary.)."
            )
        values[name], problem = checked_attr(node.attr[name], known[name])
        if problem:
            raise ValueError(
                f"{problem}\n\t; NodeDef: {{{{node {node.name}}}}}; {summarize(definition)}"
            )
    missing = [name for name in known if name not in node.attr]
    if missing:
        what = f"attr{'s' * (len(missing) > 1)} '" + "', '".join(missing)
        raise ValueError(f"NodeDef missing {what}' from {_about(node, definition)}")
    given = sum([text[:1] != "^" for text in node.input])
    _check_lengths(node, definition, values, given)
    expected = input_types(values, definition)
    if given != len(expected):
        types = ", ".join(map(runtime_name, expected))
        raise ValueError(
            f"NodeDef expected inputs '{types}' do not match {given} inputs specified; "
            f"{_about(node, definition)}"
        )
    return values, expected


def _check_lengths(
    node: object, definition: registry.OpDef, values: Mapping[str, Any], given: int
) -> None:
    """Raises ValueError for more inputs than are given, or outputs than a node may have.

    Nothing is made for what a number attribute merely claims.
    """
    for arguments, most, what in (
        (definition.inputs, given, f"inputs, but {given} inputs specified"),
        (definition.outputs, MOST_OUTPUTS, f"outputs, of which there may be {MOST_OUTPUTS}"),
    ):
        for arg in arguments:
            count = values[arg.number_attr] if arg.number_attr else 0
            if count is None:
                raise ValueError(
                    f"NodeDef attr '{arg.number_attr}' is a function's, and this is none; "
                    f"{_about(node, definition)}"
                )
            if not 0 <= count <= max(most, _FEW):
                raise ValueError(
                    f"NodeDef attr '{arg.number_attr}' asks for {count} {what}; "
                    f"{_about(node, definition)}"
                )


def _changes_nothing(name: str, value: object) -> bool:
    """Whether an attribute of TensorFlow 2 may be left out."""
    if name not in _LATER_ATTRIBUTES:
        return False
    meaningless = _LATER_ATTRIBUTES[name]
    return meaningless is None or from_proto(value) == meaningless


def _about(node: Any, definition: registry.OpDef) -> str:
    return f"{summarize(definition)}; NodeDef: {{{{node {node.name}}}}}"


def input_types(values: Mapping[str, Any], definition: registry.OpDef) -> list[dtypes.DType]:
    """The types that a node's data inputs must have, given its attributes."""
    types: list[dtypes.DType] = []
    found: Any
    for arg in definition.inputs:
        if arg.type_list_attr:
            found = [None] if values[arg.type_list_attr] is None else values[arg.type_list_attr]
        else:
            found = [arg.dtype or values[arg.type_attr]]  # type: ignore[index]
            if arg.number_attr:
                found *= values[arg.number_attr]
        if None in found:
            raise ValueError(f"the type of input '{arg.name}' is a function's, and this is none")
        types += [kind._as_ref for kind in found] if arg.is_ref else found
    return types


_FIELDS = {"string": "s", "int": "i", "float": "f", "bool": "b"}


def checked_attr(value: Any, attr: registry.Attr) -> tuple[Any, str | None]:
    """The plain value of an attribute (not of tensors and functions), and what is wrong with it."""
    field = value.WhichOneof("value")
    kind = attr.type
    if field == "placeholder":
        return None, None
    if field != ("list" if kind[:5] == "list(" else _FIELDS.get(kind, kind)):
        if field is None and kind[:5] == "list(":
            return [], _bound_problem([], attr)
        return None, _kind_problem(value, kind)
    if kind == "func":
        return None, None
    problem = _WRONG[kind](value) if kind in _WRONG else None
    if problem or kind == "tensor":
        return None, problem
    plain = from_proto(value, kind)
    if attr.minimum is None and attr.allowed is None:
        return plain, None
    return plain, _bound_problem(plain, attr) or _allowed_problem(plain, attr)


def _kind_problem(value: Any, kind: str) -> str:
    """What is said of a value that is not of the kind of its attribute."""
    names = {field: name for name, field in _FIELDS.items()}
    found = value.WhichOneof("value")
    if found == "list":
        fields = [descriptor.name for descriptor, _ in value.list.ListFields()]
        found = f"list({names.get(fields[0], fields[0])})" if fields else None
    if found is None:
        return f"AttrValue missing value with expected type '{kind}'"
    return f"AttrValue had value with type '{names.get(found, found)}' when '{kind}' expected"


def _type_problem(number: int) -> str | None:
    """What is wrong with the number of a type."""
    if number == 0:
        return "AttrValue has invalid DataType"
    if number not in dtypes.NUMBERS:
        return f"AttrValue has invalid DataType enum: {number}"
    kind = dtypes.as_dtype(number)
    if kind._is_ref_dtype:
        return f"AttrValue must not have reference type value of {runtime_name(kind)}"
    return None


def _shape_problem(shape: Any) -> str | None:
    """What is wrong with a TensorShapeProto."""
    if all(dim.size >= -1 for dim in shape.dim):
        return None
    sizes = ",".join(str(dim.size) for dim in shape.dim)
    return f"Shape [{sizes}] has dimensions with values below -1 (where -1 means unknown)"


def _tensor_problem(tensor: Any) -> str | None:
    """What is wrong with the shape of a TensorProto, or with the number of its bytes."""
    sizes = [dim.size for dim in tensor.tensor_shape.dim]
    if any(size < 0 for size in sizes):
        return f"Shape [{','.join(map(str, sizes))}] is not fully defined"
    if tensor.dtype not in dtypes.NUMBERS:
        return f"TensorProto has invalid DataType enum: {tensor.dtype}"
    size, kind = len(tensor.tensor_content), dtypes.as_dtype(tensor.dtype)
    if size and kind != dtypes.string and size != kind.size * math.prod(sizes):
        return f"Cannot parse tensor from proto: {size} bytes for shape {sizes}"
    return None


# Kind -> what is wrong with a value of it.
_WRONG: dict[str, Callable[[Any], str | None]] = {
    "type": lambda value: _type_problem(value.type),
    "list(type)": lambda value: next(filter(None, map(_type_problem, value.list.type)), None),
    "shape": lambda value: _shape_problem(value.shape),
    "list(shape)": lambda value: next(filter(None, map(_shape_problem, value.list.shape)), None),
    "tensor": lambda value: _tensor_problem(value.tensor),
}


def _bound_problem(value: Any, attr: registry.Attr) -> str | None:
    if attr.minimum is None:
        return None
    if attr.type == "int":
        what, size = "Value", value
    elif isinstance(value, list):
        what, size = "Length", len(value)
    else:
        return None  # A function may state a bound where it means nothing.
    if size >= attr.minimum:
        return None
    return f"{what} for attr '{attr.name}' of {size} must be at least minimum {attr.minimum}"


def _allowed_problem(value: object, attr: registry.Attr) -> str | None:
    if attr.allowed is None:
        return None
    for item in value if isinstance(value, list) else [value]:
        if item not in attr.allowed:
            allowed = ", ".join(map(_plain_text, attr.allowed))
            return (
                f"Value for attr '{attr.name}' of {_plain_text(item)} is not in the list of "
                f"allowed values: {allowed}"
            )
    return None


def summarize(definition: registry.OpDef) -> str:
    """A definition on one line, as TensorFlow's messages show it."""
    parts = [
        f"Op<name={definition.name}",
        f"signature={_arguments(definition.inputs)} -> {_arguments(definition.outputs)}",
    ]
    for attr, message in zip(definition.attrs, op_def_proto(definition).attr):
        text = f"attr={attr.name}:{attr.type}"
        if attr.has_default:
            default = from_proto(message.default_value, attr.type)
            text += f",default={_value_text(default)}"
        if attr.minimum is not None:
            text += f",min={attr.minimum}"
        if attr.allowed is not None:
            text += f",allowed={_value_text(list(attr.allowed))}"
        parts.append(text)
    if definition.commutative:
        parts.append("is_commutative=true")
    if definition.is_stateful:
        parts.append("is_stateful=true")
    return "; ".join(parts) + ">"


def _arguments(arguments: Iterable[registry.Arg]) -> str:
    return ", ".join(f"{argument.name}:{_argument_type(argument)}" for argument in arguments)


def _argument_type(argument: registry.Arg) -> str:
    kind = argument.type_attr or ("" if argument.dtype is None else runtime_name(argument.dtype))
    if argument.number_attr:
        kind = f"{argument.number_attr}*{kind}"
    return f"Ref({kind})" if argument.is_ref else kind


def _plain_text(value: Any) -> str:
    return runtime_name(value) if isinstance(value, dtypes.DType) else _value_text(value)


def _value_text(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value_text, value))}]"
    if isinstance(value, bytes):
        return f'"{value.decode("utf-8", "backslashreplace")}"'
    if isinstance(value, dtypes.DType):
        return "DT_" + runtime_name(value.base_dtype).upper() + "_REF" * value._is_ref_dtype
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
