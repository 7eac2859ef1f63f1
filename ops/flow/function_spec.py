# SPDX-License-Identifier: Apache-2.0
"""How the arguments of a `tf.function` are bound, and what is known of them: their specs."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.tensor import Tensor
from ...engine.interface.specs import TensorSpec, TypeSpec, type_spec_from_value
from ...engine.types import dtypes, nest
from ...engine.types.nest_paths import flatten_up_to
from ...engine.types.shape import TensorShape
from ..public import tf

# Values of Python that a function may be told apart by: what a SavedModel can hold.
_PLAIN = (bool, int, float, str, dtypes.DType, TensorShape, type(None))


class FullArgSpec(NamedTuple):
    """The parameters of a Python function, as `inspect.getfullargspec` names them."""

    args: list[str]
    varargs: str | None
    varkw: str | None
    defaults: tuple[Any, ...] | None
    kwonlyargs: list[str]
    kwonlydefaults: dict[str, Any] | None
    annotations: dict[str, Any]


def full_arg_spec(function: Callable[..., Any]) -> FullArgSpec:
    """The parameters of a function; those that a method or a partial has bound are left out."""
    named: dict[Any, list[inspect.Parameter]] = {}
    for parameter in inspect.signature(function, follow_wrapped=False).parameters.values():
        named.setdefault(parameter.kind, []).append(parameter)
    kinds = inspect.Parameter
    positional = [
        *named.get(kinds.POSITIONAL_ONLY, ()),
        *named.get(kinds.POSITIONAL_OR_KEYWORD, ()),
    ]
    keyword_only = named.get(kinds.KEYWORD_ONLY, [])
    defaults = tuple(p.default for p in positional if p.default is not p.empty)
    only = {p.name: p.default for p in keyword_only if p.default is not p.empty}
    several = {kind: found[0].name for kind, found in named.items()}
    return FullArgSpec(
        [p.name for p in positional],
        several.get(kinds.VAR_POSITIONAL),
        several.get(kinds.VAR_KEYWORD),
        defaults or None,
        [p.name for p in keyword_only],
        only or None,
        {},
    )


class FunctionSpec:
    """The parameters of a function, and the signature that its arguments are held to, if any."""

    # The object of a method is bound: it is none of the parameters.
    is_method = False

    def __init__(self, fullargspec: Any, input_signature: Any = None) -> None:
        """fullargspec: a FullArgSpec; input_signature: TensorSpecs by position, or None."""
        if input_signature is not None:
            if fullargspec.kwonlyargs:
                raise ValueError(
                    "Cannot define a TensorFlow function from a Python function with keyword "
                    "arguments when input_signature is provided."
                )
            if not isinstance(input_signature, (tuple, list)):
                raise TypeError(
                    "input_signature must be either a tuple or a list, received "
                    f"{type(input_signature)}"
                )
        self.fullargspec = fullargspec
        self.input_signature = None if input_signature is None else tuple(input_signature)
        self.arg_names = list(fullargspec.args)
        self.vararg_name = fullargspec.varargs
        defaults = fullargspec.defaults or ()
        first = len(self.arg_names) - len(defaults)
        self._defaults = {first + i: value for i, value in enumerate(defaults)}

    @classmethod
    def of(cls, function: Callable[..., Any], input_signature: Any = None) -> FunctionSpec:
        """That of a Python function."""
        return cls(full_arg_spec(function), input_signature)

    def canonical(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments by position as far as they have one, with defaults; arrays become tensors.

        Raises:
            TypeError: an argument is missing, or is none that the signature has.
            ValueError: the arguments do not fit the signature.
        """
        rest = dict(kwargs)
        if self.input_signature is not None:
            self._require_covered(args, rest)
        values = list(args)
        for position in range(len(args), len(self.arg_names)):
            name = self.arg_names[position]
            if name in rest:
                values.append(rest.pop(name))
            elif position in self._defaults:
                values.append(self._defaults[position])
            elif self.input_signature is None:
                raise TypeError(f"Not enough arguments: '{name}' of {self.arg_names} is missing")
        if self.input_signature is None:
            return nest.map_structure(_tensor_of_array, (tuple(values), rest))
        return tuple(self._fitted(tuple(values))), {}

    def _require_covered(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        assert self.input_signature is not None
        only = "When input_signature is provided, only pass arguments covered by it. Received"
        if len(args) > len(self.input_signature):
            raise TypeError(f"{only} {len(args)} argument(s).")
        for name in kwargs:
            if name not in self.arg_names:
                raise TypeError(f"Function got an unexpected keyword argument {name}")
            if self.arg_names.index(name) >= len(self.input_signature):
                raise TypeError(f"{only} argument {name}.")

    def _fitted(self, given: tuple[Any, ...]) -> Any:
        """The arguments of the signature as tensors, and those with defaults behind them."""
        signature: Any = self.input_signature
        told = f"Inputs ({given}), input_signature({signature})."
        mismatch = f"Structure of Python function inputs does not match input_signature. {told}"
        if len(given) < len(signature):
            raise ValueError(mismatch)
        for value, spec in zip(given, signature):
            yield _held_to(
                value, spec, mismatch, f"inputs ({given}), input_signature ({signature})"
            )
        yield from given[len(signature) :]


def _tensor_of_array(value: Any) -> Any:
    return convert_to_tensor(value) if isinstance(value, (np.ndarray, np.generic)) else value


def _held_to(given: Any, wanted: Any, mismatch: str, told: str) -> Any:
    """An argument as tensors of some specs, in their structure."""
    specs = nest.flatten(wanted)
    try:
        values = flatten_up_to(wanted, given, check_types=False)
    except (TypeError, ValueError):
        raise ValueError(mismatch) from None
    found = []
    for value, spec in zip(values, specs, strict=True):
        made = convert_to_tensor(value, dtype_hint=spec.dtype) if _is_dense(spec) else value
        if not spec.is_compatible_with(made):
            raise ValueError(f"Python inputs incompatible with input_signature: {told}")
        found.append(made)
    return nest.pack_sequence_as(wanted, found) if nest.is_sequence(wanted) else found[0]


def _is_dense(spec: Any) -> bool:
    return isinstance(spec, TensorSpec)


def specs_of(structure: Any) -> Any:
    """A structure of arguments with a TypeSpec for each tensor; None if one is of another kind.

    Variables are told by what they hold.
    """
    leaves = [spec_of(value) for value in nest.flatten(structure)]
    if any(spec is NotImplemented for spec in leaves):
        return None
    return nest.pack_sequence_as(structure, leaves)


def spec_of(value: Any) -> Any:
    """The TypeSpec of a value, a plain value itself; NotImplemented for another one."""
    if isinstance(value, (TypeSpec, *_PLAIN)):
        return value
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype.base_dtype)
    if nest.is_composite(value):
        return type_spec_from_value(value)
    return NotImplemented


def is_same(one: Any, other: Any) -> bool:
    """Whether two structures of specs are equal, values of Python with their types."""
    try:
        nest.assert_same_structure(one, other)
    except (TypeError, ValueError):
        return False
    pairs = zip(nest.flatten(one), nest.flatten(other), strict=True)
    return all(type(a) is type(b) and _equal(a, b) for a, b in pairs)


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, TensorShape):
        return one.as_proto() == other.as_proto()
    return bool(one == other)


def named(structure: Any, name: str) -> Any:
    """Specs of an argument with names: its own, or the path within it ("inputs/a/0")."""
    if isinstance(structure, TensorSpec):
        return structure if structure.name else TensorSpec(structure.shape, structure.dtype, name)
    if not nest.is_sequence(structure):
        return structure
    return nest.rebuild(
        structure, [named(value, f"{name}/{key}") for key, value in nest.items(structure)]
    )


def composed(spec: TypeSpec, parts: Iterable[Any]) -> Any:
    """The value of a type from as many tensors as it consists of, the first ones of some."""
    components = spec._component_specs
    taken = list(itertools.islice(parts, len(nest.flatten(components))))
    return spec._from_components(nest.pack_sequence_as(components, taken))


def filled(structure: Any, tensors: Iterable[Any]) -> Any:
    """A structure of TypeSpecs with values, of tensors one after the other, in their places."""
    parts = iter(tensors)

    def value(spec: Any) -> Any:
        return composed(spec, parts) if isinstance(spec, TypeSpec) else spec

    return nest.map_structure(value, structure)


def placeholders(spec: Any, name: str) -> tuple[Any, list[Tensor]]:
    """A value in the place of an argument: the structure, and the placeholders in it in order."""
    made: list[Tensor] = []
    specs = [s for s in nest.flatten(spec) if isinstance(s, TensorSpec)]
    told = [s.name for s in specs if s.name and "/" not in s.name]
    if told and len(told) < len(specs):
        raise ValueError(
            "If specifying TensorSpec names for nested structures, either zero or all names have "
            "to be specified."
        )

    def placed(part: Any) -> Any:
        if isinstance(part, TensorSpec):
            own = part.name if part.name and "/" not in part.name else name
            made.append(_placeholder(part, own))
            return made[-1]
        if isinstance(part, TypeSpec):
            return composed(part, map(placed, nest.flatten(part._component_specs)))
        return part

    return nest.map_structure(placed, spec), made


def _placeholder(spec: TensorSpec, name: str) -> Tensor:
    try:
        made = tf.placeholder(spec.dtype, spec.shape, name=name)
    except ValueError:  # A name of Python's that no node may have.
        made = tf.placeholder(spec.dtype, spec.shape)
    made.op._set_attr("_user_specified_name", _text_attr(name))
    return made


def _text_attr(text: str) -> Any:
    from ...io import protos

    return protos.AttrValue(s=text.encode())
