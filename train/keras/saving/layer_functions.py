# SPDX-License-Identifier: Apache-2.0
"""The functions that a SavedModel has of a layer: its call, with and without losses."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ....engine.graph.tensor import Tensor
from ....engine.interface.specs import TensorSpec, TypeSpec
from ....engine.types import nest
from ....ops.flow.concrete_functions import ConcreteFunction, call_of
from ....ops.flow.function_spec import FullArgSpec, FunctionSpec, full_arg_spec, is_same, specs_of
from ....ops.flow.graph_functions import Function
from ...layers.base_layer import Layer, called_on
from ..backend.phase import learning_phase_scope

# What a layer notes of its calls: tracing must leave no traces.
_NOTED = ("_losses", "_updates", "_nodes_in", "_nodes_out", "_metrics")
_LOSSES = "call_and_return_conditional_losses"
_ALL_LOSSES = "call_and_return_all_conditional_losses"


def layers_below(layer: Any) -> list[Any]:
    """A layer and all within it, each once."""
    found: dict[int, Any] = {}
    pending = [layer]
    while pending:
        one = pending.pop()
        if id(one) not in found:
            found[id(one)] = one
            pending += [inner for inner in one._nested_layers() if isinstance(inner, Layer)]
    return list(found.values())


@contextmanager
def _undisturbed(layers: Iterable[Any]) -> Iterator[None]:
    """A context after which layers know no more calls, losses and updates than before."""
    before = [
        (known, list(known))
        for layer in layers
        for known in (vars(layer).get(name) for name in _NOTED)
        if isinstance(known, list)
    ]
    try:
        yield
    finally:
        for known, members in before:
            known[:] = members


def uses_training(layer: Any) -> bool:
    """Whether what a layer computes depends on whether it is trained."""
    return any(one._expects_training_arg for one in layers_below(layer))


def _signature_of_call(layer: Any, takes_training: bool) -> FullArgSpec:
    """The parameters of a layer's call without itself; `training` is False where None is meant."""
    spec = full_arg_spec(inspect.unwrap(layer.call))
    args = list(spec.args[1:] if spec.args[:1] == ["self"] else spec.args)
    defaults = dict(zip(reversed(args), reversed(spec.defaults or ())))
    only = dict(spec.kwonlydefaults or {})
    names = list(spec.kwonlyargs)
    if takes_training and "training" not in (*args, *names):
        # A call that takes any keyword gets this one as such.
        (names if layer._expects_training_arg else args).append("training")
    if takes_training:
        known = only if "training" in names else defaults
        if known.get("training", None if "training" not in spec.args else ...) is None:
            known["training"] = False
    first = next((i for i, name in enumerate(args) if name in defaults), len(args))
    return spec._replace(
        args=args,
        defaults=tuple(defaults.get(name) for name in args[first:]) or None,
        kwonlyargs=names,
        kwonlydefaults=only or None,
    )


class LayerFunctions:
    """A layer's functions, each traced for the same kinds of arguments."""

    def __init__(self, layer: Any) -> None:
        self.layer = layer
        self.takes_training = uses_training(layer)
        self.spec = FunctionSpec(_signature_of_call(layer, self.takes_training))
        self._layers = layers_below(layer)
        self._made: list[tuple[Any, ConcreteFunction]] = []
        name = layer.name
        self.with_losses = self._function(self._call_with_losses, f"{name}_layer_{_LOSSES}")
        self.plain = self._function(self._call_plain, f"{name}_layer_call_fn")
        self.activity_regularizer = self._activity_regularizer()
        self.with_all_losses = self.with_losses
        if self.activity_regularizer is not None:
            self.with_all_losses = self._function(
                self._call_with_all_losses, f"{name}_layer_{_ALL_LOSSES}"
            )

    def _function(self, building: Callable[..., Any], name: str) -> Function:
        made = Function(functools.partial(building), name, None, None)
        made.function_spec = self.spec
        return made

    def trace(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Traces the functions for arguments of one kind, when training and when not."""
        args, kwargs = self.spec.canonical(args, kwargs)
        kwargs.pop("training", None)
        for training in (True, False) if self.takes_training else (None,):
            given, named = self._with_training(args, kwargs, training)
            kind = specs_of((given, named))
            if kind is None or any(is_same(_unnamed(kind), known) for known, _ in self._made):
                continue
            concrete = self.with_losses.get_concrete_function(*given, **named)
            self._made.append((_unnamed(kind), concrete))
            self.plain.get_concrete_function(*given, **named)
            if self.with_all_losses is not self.with_losses:
                self.with_all_losses.get_concrete_function(*given, **named)

    def _with_training(self, args: Any, kwargs: Any, training: bool | None) -> tuple[Any, Any]:
        if training is None:
            return args, kwargs
        names = self.spec.arg_names
        if "training" not in names:
            return args, {**kwargs, "training": training}
        place = names.index("training")
        return (*args[:place], training, *args[place + 1 :]), kwargs

    def without_training(self, inputs: Any) -> Any:
        """The outputs for inputs when not training, by a node that calls the function."""
        args, kwargs = self.spec.canonical((inputs,), {})
        kwargs.pop("training", None)
        training = False if self.takes_training else None
        return self.called(*self._with_training(args, kwargs, training))[0]

    def _training_of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        names = self.spec.arg_names
        if "training" in names:
            return args[names.index("training")]
        return kwargs.get("training")

    def _call_with_losses(self, *args: Any, **kwargs: Any) -> Any:
        """The outputs, and the losses that depend on the inputs."""
        layer = self.layer
        training = self._training_of(args, kwargs)
        if not layer._expects_training_arg:
            kwargs.pop("training", None)
            if "training" in self.spec.arg_names:
                args = args[: self.spec.arg_names.index("training")]
        with (
            learning_phase_scope(int(bool(training))),
            called_on(args[0], training),
            _undisturbed(self._layers),
        ):
            for one in self._layers:
                one._losses[:] = []
            outputs = layer._converted_call()(*args, **kwargs)
            losses = [
                loss
                for one in self._layers
                for loss in one._losses
                if isinstance(loss, Tensor) and not getattr(loss, "_unconditional_loss", True)
            ]
        return outputs, losses

    def called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The outputs and losses by a node that calls the traced function."""
        kind = _unnamed(specs_of((args, kwargs)))
        concrete = next(made for known, made in self._made if is_same(kind, known))
        values = zip(nest.flatten((args, kwargs)), nest.flatten(kind), strict=True)
        given = [value for value, spec in values if isinstance(spec, TypeSpec)]
        flat = nest.flatten(given, expand_composites=True)
        results = call_of(concrete, [*flat, *concrete.captured_inputs])
        return nest.pack_sequence_as(concrete.structured_outputs, results, expand_composites=True)

    def _call_plain(self, *args: Any, **kwargs: Any) -> Any:
        return self.called(args, kwargs)[0]

    def _call_with_all_losses(self, *args: Any, **kwargs: Any) -> Any:
        outputs, losses = self.called(args, kwargs)
        return outputs, [*losses, self.layer.activity_regularizer(outputs)]

    def _activity_regularizer(self) -> Any:
        regularizer = self.layer.activity_regularizer
        if regularizer is None or isinstance(regularizer, Function):
            return regularizer
        dtype = self.layer.dtype or "float32"
        spec = FunctionSpec(
            FullArgSpec(["x"], None, None, None, [], None, {}), [TensorSpec(None, dtype)]
        )
        made = Function(
            lambda x: regularizer(x), f"{self.layer.name}_activity_regularizer", None, None
        )
        made.function_spec = spec
        return made

    def functions(self) -> dict[str, Any]:
        """All functions by their names in a SavedModel."""
        return {
            "__call__": self.plain,
            _LOSSES: self.with_losses,
            _ALL_LOSSES: self.with_all_losses,
            "activity_regularizer_fn": self.activity_regularizer,
        }


def _unnamed(kind: Any) -> Any:
    return nest.map_structure(
        lambda s: TensorSpec(s.shape, s.dtype) if isinstance(s, TensorSpec) else s, kind
    )


@contextmanager
def recorded_calls(layers: Iterable[Any], record: Callable[..., None]) -> Iterator[None]:
    """A context in which `record(layer, args, kwargs)` is told of the calls of some layers."""
    replaced = []

    def recording(layer: Any, call: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(call)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            record(layer, args, kwargs)
            return call(*args, **kwargs)

        # The layer converts what is a program's own itself.
        recorded.__module__ = __name__
        return recorded

    try:
        for layer in layers:
            replaced.append((layer, vars(layer).get("call")))
            vars(layer)["call"] = recording(layer, layer._converted_call())
        yield
    finally:
        for layer, before in replaced:
            if before is None:
                vars(layer).pop("call", None)
            else:
                vars(layer)["call"] = before
