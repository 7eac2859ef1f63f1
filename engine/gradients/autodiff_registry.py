# SPDX-License-Identifier: Apache-2.0
"""Which function is the gradient of an op: from the op table, or registered under a name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..api import export
from ..graph import registry
from ..graph.operation import Operation
from ..record_class import record

GradientFunction = Callable[..., Any]

# Registered by name, beside or instead of those in the op table; None: not differentiable.
_REGISTERED: dict[str, GradientFunction | None] = {}


def _register(name: str, function: GradientFunction | None) -> None:
    definition = registry.find(name)
    if name in _REGISTERED or (definition is not None and definition.gradient is not None):
        raise KeyError(f"Registering two gradient with name '{name}'!")
    _REGISTERED[name] = function


@export("RegisterGradient")
class RegisterGradient:
    """A decorator that makes a function the gradient of an op type, or of a name for
    `Graph.gradient_override_map`.  The function gets the op and its outputs' gradients."""

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: GradientFunction) -> GradientFunction:
        _register(self._op_type, f)
        return f


@export("NoGradient", "NotDifferentiable", "no_gradient")
def no_gradient(op_type: str) -> None:
    """Declares that an op type has no gradient and that None goes to its inputs."""
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    _register(op_type, None)


@record(frozen=True, eq=False)
class CustomGradient:
    """The gradient of one call of a function that brings its own (`tf.custom_gradient`).

    The op that it is the gradient of takes the function's results, its arguments, and variables.

    Args:
        function: what was called; with other tensors of such types and shapes it may be again.
        results: how many there are.
        arguments: how many it took.
        call: gives the inputs' gradients, given those of the results.
    """

    function: Callable[..., Any]
    results: int
    arguments: int
    call: Callable[..., list[Any]]

    def __call__(self, op: Operation, *grads: Any) -> list[Any]:
        """The gradients of all that the op takes: nothing comes by way of the results."""
        del op
        return [None] * self.results + self.call(grads[: self.results])


def registered() -> dict[str, GradientFunction | None]:
    """The functions by the names under which they were registered; changes count."""
    return _REGISTERED


def gradient_function(op: Operation) -> GradientFunction | None:
    """The gradient function of an op, None when nothing flows back; LookupError without any."""
    if not op.inputs:
        return None
    # Set by Graph.gradient_override_map on the nodes made within it.
    override = op._attrs.get("_gradient_op_type")
    name = op.type if override is None else override.decode()
    # What a program registers comes first; of an op that has a gradient it cannot register another.
    if name in _REGISTERED:
        return _REGISTERED[name]
    definition = op.definition if name == op.type else registry.find(name)
    gradient = None if definition is None else definition.gradient
    if isinstance(gradient, registry.NoGradient) and gradient.silent:
        return None
    if gradient is None or isinstance(gradient, registry.NoGradient):
        raise LookupError(f"No gradient defined for operation '{op.name}' (op type: {op.type})")
    return gradient
