# SPDX-License-Identifier: Apache-2.0
"""The functions of a SavedModel, to be called as before they were saved."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import Graph
from ...engine.graph.tensor import Tensor
from ...engine.interface.specs import TensorSpec, TypeSpec
from ...engine.types import nest
from ...io.function_placing import clean_name
from ...ops.flow.concrete_functions import ConcreteFunction
from ...ops.flow.function_spec import FunctionSpec, filled, placeholders, spec_of
from ...ops.flow.graph_functions import Function
from ...ops.flow.placed_functions import PlacedFunction
from ...ops.public import tf
from .structures import decode_structure


class _RestoredGraph(Graph):
    """What is known of a function's graph: placeholders for parameters and results."""

    def __init__(self, message: Any) -> None:
        """message: the SavedConcreteFunction."""
        super().__init__()
        self._building_function = True
        self.structured_input_signature = decode_structure(message.canonicalized_input_signature)
        self.structured_outputs = decode_structure(message.output_signature)
        self.variables: list[Any] = []

    @property
    def inputs(self) -> list[Tensor]:
        """Placeholders for the arguments."""
        return self._placeholders("inputs", self.structured_input_signature)

    @property
    def outputs(self) -> list[Tensor]:
        """Placeholders for the results."""
        return self._placeholders("outputs", self.structured_outputs)

    def _placeholders(self, kind: str, structure: Any) -> list[Tensor]:
        known = vars(self).setdefault("_known_placeholders", {})
        if kind not in known:
            known[kind] = []
            with self.as_default():
                for number, spec in enumerate(nest.flatten(structure)):
                    name = getattr(spec, "name", None) or f"{kind}_{number}"
                    known[kind] += placeholders(spec, name)[1]
        return known[kind]


class RestoredConcreteFunction(PlacedFunction):
    """A function of a SavedModel's library; a call places its nodes."""

    def __init__(self, name: str, library: Mapping[str, Any], message: Any) -> None:
        """library: the functions by name; message: the SavedConcreteFunction."""
        super().__init__(_RestoredGraph(message), name)
        self._all = library
        self.bound_ids = list(message.bound_inputs)

    @property
    def inputs(self) -> list[Tensor]:
        return self.graph.inputs

    def library(self) -> dict[str, Any]:
        pending, found = [self.name], {}
        while pending:
            name = pending.pop()
            if name not in found:
                found[name] = self._all[name]
                pending += [called for node in found[name].calls for called in node]
        return found

    def _call_flat(self, args: Sequence[Any]) -> Any:
        results, _ = self._placed(args)
        for result, known in zip(results, self.outputs):
            result.set_shape(known.shape)
        return filled(self.structured_outputs, results)

    def call_structured(self, inputs: tuple[Any, Any]) -> Any:
        """What the function returns of arguments in the structure of its own."""
        flat = []
        for value, spec in _pairs(self.structured_input_signature, inputs):
            if isinstance(spec, TensorSpec):
                flat.append(convert_to_tensor(value, dtype_hint=spec.dtype))
            elif isinstance(spec, TypeSpec):
                flat += nest.flatten(value, expand_composites=True)
        return self._call_flat(flat)

    def can_take(self, inputs: tuple[Any, Any], converts: bool) -> bool:
        """Whether arguments are of the function's kind, perhaps once they are tensors."""
        expected = self.structured_input_signature
        try:
            nest.assert_same_structure(expected, inputs, check_types=False)
        except (TypeError, ValueError):
            return False
        return all(_fits(value, spec, converts) for value, spec in _pairs(expected, inputs))

    def use_keywords(self, message: Any) -> None:
        """Lets the function be called as a SavedBareConcreteFunction says."""
        self._arg_keywords = list(message.argument_keywords)
        self._num_positional_args = message.allowed_positional_arguments


def _pairs(expected: Any, inputs: Any) -> list[tuple[Any, Any]]:
    return list(zip(nest.flatten(inputs), nest.flatten(expected), strict=True))


def _fits(value: Any, spec: Any, converts: bool) -> bool:
    if isinstance(spec, TensorSpec):
        if converts and not isinstance(value, TypeSpec):
            value = _as_tensor_spec(value, spec)
        elif isinstance(value, tf.Variable):
            value = TensorSpec(value.shape, value.dtype.base_dtype)
        if not isinstance(value, (Tensor, TensorSpec)):
            return False
        return value.dtype.base_dtype == spec.dtype and spec.shape.is_compatible_with(value.shape)
    if isinstance(spec, TypeSpec):
        return spec.is_compatible_with(value)
    if isinstance(value, Tensor):
        return False
    return spec_of(value) is not NotImplemented and type(value) is type(spec) and value == spec


def _as_tensor_spec(value: Any, spec: TensorSpec) -> Any:
    """The spec of a value as a tensor, or None; made in a graph of its own unless it is one."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, tf.Variable):
        return TensorSpec(value.shape, value.dtype.base_dtype)
    try:
        with Graph().as_default():
            made = convert_to_tensor(value, dtype_hint=spec.dtype)
    except (TypeError, ValueError):
        return None
    return TensorSpec(made.shape, made.dtype)


class RestoredFunction(Function):
    """A tf.function of a SavedModel: a call takes the function for the kind of its arguments."""

    def __init__(self, spec: FunctionSpec, concrete: list[RestoredConcreteFunction]) -> None:
        def restored_function_body(*args: Any, **kwargs: Any) -> Any:
            return self._chosen((args, kwargs)).call_structured((args, kwargs))

        super().__init__(restored_function_body, "restored_function_body", None, None)
        self.function_spec = spec
        self.__signature__ = _signature(spec)
        self.concrete_functions = concrete
        if concrete:
            self._name = clean_name(concrete[0].name).lstrip("_") or "function"

    def _chosen(self, inputs: tuple[Any, Any]) -> RestoredConcreteFunction:
        for converts in (False, True):
            for concrete in self.concrete_functions:
                if concrete.can_take(inputs, converts):
                    return concrete
        options = [
            f"Option {i + 1}:\n  {_told(c.structured_input_signature)}"
            for i, c in enumerate(self.concrete_functions)
        ]
        raise ValueError(
            "Could not find matching function to call loaded from the SavedModel. Got:\n  "
            f"{_told(inputs)}\n\nExpected these arguments to match one of the following "
            f"{len(options)} option(s):\n\n" + "\n\n".join(options)
        )

    def _note_kind(self, args: Any, kwargs: Any) -> None:
        """Calls do not make the function one for further kinds."""

    def _list_all_concrete_functions_for_serialization(self) -> list[ConcreteFunction]:
        return list(self.concrete_functions)


def _signature(spec: FunctionSpec) -> inspect.Signature:
    """What tools that ask for a function's parameters are told."""
    full, kinds = spec.fullargspec, inspect.Parameter
    defaults = dict(zip(reversed(full.args), reversed(full.defaults or ())))
    only = full.kwonlydefaults or {}
    found = [
        kinds(name, kinds.POSITIONAL_OR_KEYWORD, default=defaults.get(name, kinds.empty))
        for name in full.args
    ]
    if full.varargs:
        found.append(kinds(full.varargs, kinds.VAR_POSITIONAL))
    for name in full.kwonlyargs:
        found.append(kinds(name, kinds.KEYWORD_ONLY, default=only.get(name, kinds.empty)))
    if full.varkw:
        found.append(kinds(full.varkw, kinds.VAR_KEYWORD))
    return inspect.Signature(found)


def _told(inputs: tuple[Any, Any]) -> str:
    positional, keyword = inputs
    listed = "\n    * ".join(map(str, positional))
    return (
        f"Positional arguments ({len(positional)} total):\n    * {listed}\n"
        f"  Keyword arguments: {keyword}"
    )


def function_spec_of(message: Any) -> FunctionSpec:
    """The parameters that a SavedModel's FunctionSpec states, without the object of a method."""
    fullargspec = decode_structure(message.fullargspec)
    if message.is_method:
        if not fullargspec.args:
            raise NotImplementedError(
                "Missing support to deserialize a method function without a named 'self' argument."
            )
        fullargspec = fullargspec._replace(args=fullargspec.args[1:])
    return FunctionSpec(fullargspec, decode_structure(message.input_signature))
