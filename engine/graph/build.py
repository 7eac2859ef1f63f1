# SPDX-License-Identifier: Apache-2.0
"""Making operations from the op table: `define`, `OpFunction`, `build_op` and shape inference."""

from __future__ import annotations

import keyword
import re
from collections import namedtuple
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..dispatch import Dispatchers, handled
from ..signatures import LateDocumentation, PassesForFunction, published
from ..tracebacks import shorten
from ..types.dtypes import DType
from . import attrs as attr_rules
from . import registry
from .convert import internal_convert_n_to_tensor, internal_convert_to_tensor
from .defaults import get_default_graph
from .inference import ShapeContext, infer_shapes
from .operation import Operation, group
from .registry import Arg, Attr, ControlFlowRole, OpDef, Transfer
from .scope_functions import get_graph_from_inputs
from .tensor import Tensor

__all__ = ["OpFunction", "ShapeContext", "apply_op", "build_op", "complete_attrs", "define"]
__all__ += ["infer_shapes", "output_types"]

_MISSING = object()
_Given = dict[str, Any]  # by name


def define(
    name: str,
    signature: str,
    attrs: str = "",
    *,
    shape: Callable[..., Any] | None = None,
    kernel: Callable[..., Any] | None = None,
    lower: Callable[..., Any] | None = None,
    gradient: object = None,
    stateful: bool = False,
    commutative: bool = False,
    sizes: bool = False,
    dynamic_shape: bool | Callable[..., Any] = False,
    measured_sizes: Callable[..., Any] | None = None,
    elementwise: bool = False,
    rows: Callable[..., Any] | None = None,
    takes_packed: tuple[str, ...] = (),
    gives_packed: bool = False,
    passes_ref: bool = False,
    transfer: Transfer = "",
    control_flow_role: ControlFlowRole = "",
    expand: Callable[..., Any] | None = None,
    touches: tuple[registry.Touch, ...] | None = None,
    waits_for_data: bool = False,
    may_end: bool = False,
    is_native: bool = False,
    doc: str = "",
    is_fed: bool = False,
    test: registry.Facts | None = None,
    function_name: str | None = None,
) -> OpFunction:
    """States an op; returns the function that makes its nodes."""
    registry.state(
        name,
        signature,
        attrs,
        shape=shape,
        kernel=kernel,
        lower=lower,
        gradient=gradient,
        stateful=stateful,
        commutative=commutative,
        sizes=sizes,
        dynamic_shape=dynamic_shape,
        measured_sizes=measured_sizes,
        elementwise=elementwise,
        rows=rows,
        takes_packed=takes_packed,
        gives_packed=gives_packed,
        passes_ref=passes_ref,
        transfer=transfer,
        control_flow_role=control_flow_role,
        expand=expand,
        touches=touches,
        waits_for_data=waits_for_data,
        may_end=may_end,
        is_native=is_native,
        doc=doc,
        is_fed=is_fed,
        facts=test or {},
    )
    return OpFunction(name, doc, function_name)


def _python_name(op_type: str) -> str:
    return re.sub(r"(?<=[A-Z])([A-Z][a-z])|(?<=[a-z0-9])([A-Z])", r"_\g<0>", op_type).lower()


def _safe(name: str) -> str:  # of a parameter
    return name + "_" if keyword.iskeyword(name) else name


def _shown(default: object) -> Any:
    return default.decode() if isinstance(default, bytes) else default


class OpFunction(PassesForFunction):
    """Makes nodes of one op type: inputs, then attributes that inputs do not tell, then `name`."""

    __doc__ = LateDocumentation(__doc__)  # type: ignore[assignment]
    __slots__ = "_type _doc _known _result _function_name _renamed _public_name __dict__".split()

    def __init__(
        self,
        op_type: str,
        doc: str = "",
        function_name: str | None = None,
        renamed: dict[str, str] | None = None,
    ) -> None:
        self._type = op_type
        # Parameters with another name than the op has for them: that name -> the parameter's.
        self._renamed = renamed or {}
        # Where `pickle` finds it: the dotted name within `__module__`.
        self._public_name = ""
        # Names of inputs and parameters, and the type of results: made at the first call.
        self._known: tuple[tuple[str, ...], tuple[str, ...]] | None = None
        self._result: Any = None
        self._function_name = function_name
        self._doc = doc

    def documentation(self, more: str = "") -> str:
        """The docstring: the definition's doc, with more sections, completed by its facts."""
        from ..documentation import documentation

        shown = {name: _safe(self._renamed.get(name, name)) for name in self._names[1]}
        return documentation(self.definition, shown, self._doc + more)

    @property
    def _names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        if self._known is None:
            definition = self.definition
            inputs = tuple(arg.name for arg in definition.inputs)
            inferred = {
                name
                for arg in definition.inputs
                for name in (arg.type_attr, arg.type_list_attr, arg.number_attr)
            }
            free = [attr for attr in definition.attrs if attr.name not in inferred]
            free.sort(key=lambda attr: attr.has_default)
            self._known = inputs, inputs + tuple(attr.name for attr in free)
        return self._known

    @property
    def __name__(self) -> str:
        return self._function_name or _python_name(self._type)

    def publish(self, module: str, name: str) -> None:
        """Says where the function is found by name; the first place counts."""
        if not self._public_name:
            self.__module__, self._public_name = module, name

    def __reduce__(self) -> Any:
        """Published functions are pickled and copied by name, as Python's are."""
        if not self._public_name:
            return OpFunction, (self._type, self._doc, self._function_name, self._renamed)
        return published, (self.__module__, self._public_name)

    @property
    def definition(self) -> OpDef:
        """The entry of the op table, as it is now."""
        return registry.lookup(self._type)

    @property
    def __signature__(self) -> Any:
        """The parameters, for `inspect` and `help`."""
        import inspect

        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        defaults = {attr.name: attr.default for attr in self.definition.attrs if attr.has_default}
        parameters = [
            inspect.Parameter(
                _safe(self._renamed.get(name, name)),
                kind,
                default=_shown(defaults.get(name, inspect.Parameter.empty)),
            )
            for name in self._names[1]
        ]
        return inspect.Signature([*parameters, inspect.Parameter("name", kind, default=None)])

    def build(self, *args: Any, name: str | None = None, **keywords: Any) -> Operation:
        """The new Operation itself, whatever its outputs."""
        input_names, parameters = self._names
        if len(args) > len(parameters):
            if len(args) > len(parameters) + 1 or name is not None:
                raise TypeError(
                    f"{self.__name__}() takes at most {len(parameters) + 1} arguments "
                    f"({len(args)} given)"
                )
            name, args = args[-1], args[:-1]
        values = dict(zip(parameters, args))
        own = {shown: name for name, shown in self._renamed.items()}
        for key, value in keywords.items():
            key = own.get(key, key)
            key = key if key in parameters or key[-1:] != "_" else key[:-1]
            if key in values or key not in parameters:
                problem = "multiple values for" if key in values else "an unexpected keyword"
                raise TypeError(f"{self.__name__}() got {problem} argument '{key}'")
            values[key] = value
        inputs = {key: values.pop(key) for key in input_names if key in values}
        return build_op(self._type, inputs, values, name)

    def __call__(self, *args: Any, name: str | None = None, **keywords: Any) -> Any:
        try:
            return self.results(self.build(*args, name=name, **keywords))
        except Exception as error:
            if isinstance(error, (TypeError, ValueError)):
                keywords = keywords if name is None else {**keywords, "name": name}
                result = handled(self, args, keywords)
                if result is not NotImplemented:
                    return result
            shorten(error)
            raise

    _tf_dispatchers = Dispatchers()

    def results(self, op: Operation) -> Any:
        """What a call returns for a node: a tensor, a list, a named tuple or the node."""
        definition = op.definition
        if not definition.outputs:
            return op
        values = group(definition.outputs, op._attrs, op.outputs)
        if len(values) > 1:
            return self._named(values)
        return op if values[0] == [] and definition.stateful else values[0]

    def _named(self, values: list[Any]) -> Any:
        if self._result is None:
            fields = [arg.name for arg in self.definition.outputs]
            self._result = namedtuple(self._type, fields, rename=True)  # type: ignore[misc]
        return self._result(*values)

    def __repr__(self) -> str:
        return f"<op {self._type}>"


def build_op(
    type_name: str, inputs: _Given, attrs: _Given, name: str | None = None, is_scope: bool = True
) -> Operation:
    """Adds a node to the graph of its inputs, converting them and inferring types.  What a loop
    makes along with it is named within it, if it `is_scope`."""
    definition = registry.find(type_name)
    if definition is None:
        raise RuntimeError(f"Unrecognized Op name {type_name}")
    graph = get_graph_from_inputs(_flat(inputs.values()))
    name = type_name if name is None else name
    if graph is not get_default_graph():
        with graph.as_default():
            return _build(graph, definition, inputs, attrs, name, is_scope)
    return _build(graph, definition, inputs, attrs, name, is_scope)


def apply_op(op_type_name: str, name: str | None = None, **keywords: Any) -> Any:
    """Adds a node, with inputs and attributes by name; returns its outputs, or the node."""
    definition = registry.find(op_type_name)
    if definition is None:
        raise RuntimeError(f"Unrecognized Op name {op_type_name}")
    names = {key for arg in definition.inputs for key in (arg.name, arg.name + "_")}
    inputs = {key: value for key, value in keywords.items() if key in names}
    attrs = {key: value for key, value in keywords.items() if key not in names}
    op = build_op(op_type_name, inputs, attrs, name)
    values = group(definition.outputs, op._attrs, op.outputs)
    if not values or (values == [[]] and definition.stateful):
        return op
    return values[0] if len(values) == 1 else tuple(values)


def _flat(values: Iterable[Any]) -> Iterable[Any]:
    for value in values:
        yield from value if isinstance(value, (list, tuple)) else (value,)


def _build(
    graph: Any, definition: OpDef, inputs: _Given, attrs: _Given, name: str, is_scope: bool
) -> Operation:
    old_scope = graph._name_stack
    # Constants made of the inputs are named within the new node: "add/y".
    scope = graph._enter_name(name)
    try:
        call = _Call(definition, attrs)
        for arg in definition.inputs:
            call.take(arg, inputs[_key_of(arg, inputs)])
        if len(inputs) > len(definition.inputs):
            known = {_key_of(arg, inputs) for arg in definition.inputs}
            raise TypeError(
                "apply_op() got unexpected keyword arguments: "
                + ", ".join(sorted({*inputs} - known))
            )
        values = call.attributes()
        full_name = (scope or "") + "/" if scope else ""
        if not is_scope:
            graph._name_stack = old_scope
        return _colocated(graph, definition, call, 0, full_name, values)
    except (TypeError, ValueError) as error:
        from ..node_notes import describe_call

        describe_call(error, (scope or name).rstrip("/"), definition.name, inputs.items())
        raise
    finally:
        graph._name_stack = old_scope


def _key_of(arg: Arg, inputs: dict[str, Any]) -> str:
    """The name under which the value of an input was given."""
    for key in (arg.name, arg.name + "_"):
        if key in inputs:
            return key
    raise TypeError(f"No argument for input {arg.name}")


def _colocated(
    graph: Any, definition: OpDef, call: _Call, at: int, name: str, attrs: dict[str, Any]
) -> Operation:
    """Creates the node, sharing the device of the references that it takes."""
    for i in range(at, len(definition.inputs)):
        if definition.inputs[i].is_ref:
            with graph.colocate_with(call.tensors[i]):
                return _colocated(graph, definition, call, i + 1, name, attrs)
    return graph._create(definition, name, call.tensors, attrs, call.types)


class _Call:
    """The state of one `build_op`: converted inputs and the attributes found so far."""

    __slots__ = ("definition", "given", "attrs", "source", "tensors", "types", "key")

    def __init__(self, definition: OpDef, given: dict[str, Any]) -> None:
        self.definition = definition
        self.given = given
        self.attrs: dict[str, Any] = {}
        # Which input an attribute was inferred from, for messages.
        self.source: dict[str, str] = {}
        self.tensors: list[Tensor] = []
        self.types: list[DType] = []

    def default_type(self, name: str | None) -> DType | None:
        """The default of a type attribute."""
        if name is None:
            return None
        attr = self.definition.attr(name)
        return attr.default if attr.has_default and attr.type == "type" else None

    def take(self, arg: Arg, value: Any) -> None:
        """Converts the value of one argument and learns attributes from it."""
        if arg.number_attr or arg.type_list_attr:
            tensors = self._convert_list(arg, value)
            if arg.number_attr:
                self._learn_number(arg, tensors)
                if arg.type_attr:
                    self._learn_element_type(arg, tensors)
            else:
                self._learn_types(arg, tensors)
        else:
            tensors = [self._convert(arg, value)]
            if arg.type_attr:
                self._learn_type(arg, tensors[0].dtype.base_dtype)
        if arg.is_ref:
            self._require_refs(arg, tensors)
        self.tensors.extend(tensors)
        kinds = [tensor.dtype for tensor in tensors]
        self.types.extend(kinds if arg.is_ref else [kind.base_dtype for kind in kinds])

    def _require_refs(self, arg: Arg, tensors: list[Tensor]) -> None:
        if not all(tensor.dtype._is_ref_dtype for tensor in tensors):
            raise TypeError(
                f"'{self.definition.name}' Op requires that input '{arg.name}' be a mutable "
                "tensor (e.g.: a tf.Variable)"
            )

    # One tensor

    def _convert(self, arg: Arg, value: Any) -> Tensor:
        dtype = arg.dtype or self.attrs.get(arg.type_attr or "")
        if isinstance(value, Tensor) and (dtype is None or dtype.is_compatible_with(value.dtype)):
            return value
        preferred = None if dtype is not None else self.default_type(arg.type_attr)
        try:
            return internal_convert_to_tensor(value, dtype, arg.name, arg.is_ref, preferred)
        except TypeError as error:
            if dtype is None:
                raise
            raise TypeError(
                f"Expected {dtype.name} passed to parameter '{arg.name}' of op "
                f"'{self.definition.name}', got {value!r} of type '{type(value).__name__}' "
                f"instead. Error: {error}"
            ) from None
        except ValueError:
            self._explain(arg, value)
            raise

    def _explain(self, arg: Arg, value: object) -> None:
        try:
            observed = internal_convert_to_tensor(value, as_ref=arg.is_ref).dtype.name
        except ValueError as error:
            raise ValueError(
                f"Tried to convert '{arg.name}' to a tensor and failed. Error: {error}"
            ) from None
        prefix = (
            f"Input '{arg.name}' of '{self.definition.name}' Op has type {observed} that does not "
            "match"
        )
        if arg.dtype is not None:
            raise TypeError(f"{prefix} expected type of {arg.dtype.name}.") from None
        key = arg.type_attr or ""
        if key not in self.attrs and self.default_type(key) is not None:
            self.attrs[key] = self.default_type(key)
            self.source.setdefault(key, "Default in OpDef")
        raise TypeError(
            f"{prefix} type {self.attrs[key].name} of argument '{self.source[key]}'."
        ) from None

    def _learn_type(self, arg: Arg, kind: DType) -> None:
        key = arg.type_attr or ""
        known = self.attrs.get(key)
        if known is None:
            attr_rules.check_type(kind, self.definition.attr(key), arg.name)
            self.attrs[key] = kind
            self.source[key] = arg.name
        elif known != kind:
            raise TypeError(
                f"Input '{arg.name}' of '{self.definition.name}' Op has type {kind.name} that "
                f"does not match type {known.name} of argument '{self.source[key]}'."
            )

    # Lists of tensors
    def _convert_list(self, arg: Arg, values: Sequence[Any]) -> list[Tensor]:
        if not isinstance(values, (list, tuple)):
            raise TypeError(
                f"Expected list for '{arg.name}' argument to '{self.definition.name}' Op, not "
                f"{values}."
            )
        dtype = arg.dtype
        if dtype is None and arg.number_attr:
            dtype = self.attrs.get(arg.type_attr or "")
            if dtype is None:
                dtype = next((v.dtype for v in values if isinstance(v, Tensor)), None)
        preferred = None if dtype is not None else self.default_type(arg.type_attr)
        if dtype is not None and not arg.is_ref:
            dtype = dtype.base_dtype
        try:
            tensors = internal_convert_n_to_tensor(values, dtype, arg.name, arg.is_ref, preferred)
            if arg.number_attr and len({t.dtype.base_dtype for t in tensors}) > 1:
                raise TypeError("all types must match")
        except (TypeError, ValueError):
            self._explain_list(arg, values, dtype)
            raise
        return tensors

    def _explain_list(self, arg: Arg, values: Sequence[Any], dtype: DType | None) -> None:
        observed = ", ".join(_observed_type(value, arg.is_ref) for value in values)
        prefix = (
            f"Tensors in list passed to '{arg.name}' of '{self.definition.name}' Op have types "
            f"[{observed}]"
        )
        if not arg.number_attr:
            raise TypeError(f"{prefix} that are invalid. Tensors: {values}") from None
        if arg.dtype is not None:
            raise TypeError(f"{prefix} that do not match expected type {arg.dtype.name}.") from None
        if arg.type_attr in self.attrs and dtype is not None:
            raise TypeError(
                f"{prefix} that do not match type {dtype.name} inferred from earlier arguments."
            ) from None
        raise TypeError(f"{prefix} that don't all match.") from None

    def _learn_number(self, arg: Arg, tensors: list[Tensor]) -> None:
        key, count, op = arg.number_attr or "", len(tensors), self.definition.name
        if key in self.attrs:
            if self.attrs[key] != count:
                raise ValueError(
                    f"List argument '{arg.name}' to '{op}' Op with length {count} must match "
                    f"length {self.attrs[key]} of argument '{self.source[key]}'."
                )
            return
        self.attrs[key] = count
        self.source[key] = arg.name
        minimum = self.definition.attr(key).minimum
        if minimum is not None and count < minimum:
            raise ValueError(
                f"List argument '{arg.name}' to '{op}' Op with length {count} shorter than "
                f"minimum length {minimum}."
            )

    def _learn_element_type(self, arg: Arg, tensors: list[Tensor]) -> None:
        key = arg.type_attr or ""
        if key in self.attrs:
            return
        if not tensors:
            raise TypeError(
                f"Don't know how to infer type variable from empty input list passed to input "
                f"'{arg.name}' of '{self.definition.name}' Op."
            )
        kind = tensors[0].dtype.base_dtype
        self.attrs[key] = kind
        self.source[key] = arg.name
        attr_rules.check_type(kind, self.definition.attr(key), arg.name)

    def _learn_types(self, arg: Arg, tensors: list[Tensor]) -> None:
        key = arg.type_list_attr or ""
        kinds = [tensor.dtype.base_dtype for tensor in tensors]
        known = self.attrs.get(key)
        if known is None:
            for kind in kinds:
                attr_rules.check_type(kind, self.definition.attr(key), arg.name)
            self.attrs[key] = kinds
            self.source[key] = arg.name
        elif known != kinds:
            raise TypeError(
                f"Input '{arg.name}' of '{self.definition.name}' Op has type list of "
                f"{', '.join(k.name for k in kinds)} that does not match type list "
                f"{', '.join(k.name for k in known)} of argument '{self.source[key]}'."
            )

    # Attributes

    def attributes(self) -> dict[str, Any]:
        """All attributes, checked, in the order of the definition."""
        given = self.given
        result = {}
        for attr in self.definition.attrs:
            key = attr.name
            value = given.pop(key, _MISSING)
            if value is _MISSING:
                value = given.pop(key + "_", _MISSING)
            if key in self.attrs:
                if value is not _MISSING:
                    raise TypeError(f"Should not specify value for inferred attr '{key}'.")
                value = self.attrs[key]
            elif value is _MISSING or value is None:
                if not attr.has_default and value is _MISSING:
                    raise TypeError(f"No argument for attr {key}")
                if attr.has_default:
                    result[key] = attr_rules.default(attr)
                    continue
            result[key] = attr_rules.check(self.definition.name, attr, value)
        if given:
            raise TypeError(
                "apply_op() got unexpected keyword arguments: " + ", ".join(sorted(given))
            )
        return result


def _observed_type(value: Tensor, as_ref: bool) -> str:
    try:
        return internal_convert_to_tensor(value, as_ref=as_ref).dtype.base_dtype.name
    except (TypeError, ValueError):
        return "<NOT CONVERTIBLE TO TENSOR>"


def complete_attrs(
    definition: OpDef, inputs: Sequence[Tensor], attrs: dict[str, Any]
) -> dict[str, Any]:
    """Attributes with defaults filled in and types read off the inputs where left out."""
    missing = [attr for attr in definition.attrs if attr.name not in attrs]
    if missing:
        attrs = dict(attrs)
        _read_off(definition, inputs, attrs, missing)
    return attrs


def _read_off(
    definition: OpDef, inputs: Sequence[Tensor], attrs: dict[str, Any], missing: list[Attr]
) -> None:
    lone_list = len(definition.inputs) == 1
    for position, arg in enumerate(definition.inputs):
        if arg.number_attr and lone_list:
            attrs.setdefault(arg.number_attr, len(inputs))
        if arg.type_list_attr and lone_list:
            attrs.setdefault(arg.type_list_attr, [t.dtype.base_dtype for t in inputs])
        if arg.type_attr and position < len(inputs):
            attrs.setdefault(arg.type_attr, inputs[position].dtype.base_dtype)
    for attr in [attr for attr in missing if attr.name not in attrs]:
        if not attr.has_default:
            raise ValueError(f"NodeDef missing attr '{attr.name}' from Op<name={definition.name}>")
        attrs[attr.name] = attr_rules.default(attr)


def output_types(definition: OpDef, attrs: dict[str, Any]) -> list[DType]:
    """The types of all outputs."""
    types: list[DType] = []
    for arg in definition.outputs:
        if arg.type_list_attr:
            types.extend(attrs[arg.type_list_attr])
            continue
        kind = arg.dtype if arg.dtype is not None else attrs[arg.type_attr or ""]
        kind = kind._as_ref if arg.is_ref else kind
        types.extend([kind] * (attrs[arg.number_attr] if arg.number_attr else 1))
    return types
