# SPDX-License-Identifier: Apache-2.0
"""Gradient functions by name: `ops._gradient_registry`, and `nn_grad._ReluGrad` and its like."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

from ...engine.gradients import autodiff_registry
from ...engine.graph import registry


class _Functions(MutableMapping[str, Any]):
    """The functions by name, as TensorFlow's registry keeps them."""

    def __getitem__(self, name: str) -> dict[str, Any]:
        return {"type": _function(name), "location": ("numbaflow", 0, name, "")}

    def __contains__(self, name: object) -> bool:
        return _function(str(name), None) is not None or name in autodiff_registry.registered()

    def __setitem__(self, name: str, value: Any) -> None:
        function = value["type"] if isinstance(value, dict) else value
        autodiff_registry.registered()[name] = function

    def __delitem__(self, name: str) -> None:
        del autodiff_registry.registered()[name]

    def __iter__(self) -> Iterator[str]:
        own = (one.name for one in registry.definitions() if callable(one.gradient))
        return iter(dict.fromkeys([*own, *autodiff_registry.registered()]))

    def __len__(self) -> int:
        return sum(1 for _ in self)


_MISSING = object()


def _function(name: str, default: Any = _MISSING) -> Any:
    if name in autodiff_registry.registered():
        return autodiff_registry.registered()[name]
    definition = registry.find(name)
    if definition is not None and callable(definition.gradient):
        return definition.gradient
    if default is not _MISSING:
        return default
    raise LookupError(f"gradient registry has no entry for: {name}")


class _Registry:
    """What programs ask of `ops._gradient_registry`."""

    _name = "gradient"
    _registry = _Functions()

    def register(self, candidate: Callable[..., Any], name: str | None = None) -> None:
        """Makes a function a gradient."""
        autodiff_registry.RegisterGradient(name or candidate.__name__)(candidate)

    def lookup(self, name: str) -> Any:
        """The gradient function of a name.

        Raises:
            LookupError: there is none.
        """
        return _function(name)

    def list(self) -> Any:
        """The names."""
        return self._registry.keys()


_gradient_registry = _Registry()


def __getattr__(name: str) -> Any:
    """`_ReluGrad`: the gradient function of Relu."""
    if name == "_BatchNormGrad":
        from ...ops.nn.fused_norm import composed_gradient

        return composed_gradient
    kind = name.removeprefix("_").removesuffix("Grad")
    if name.startswith("_") and name.endswith("Grad") and kind:
        function = _function(kind, None)
        if function is not None:
            return function
    raise AttributeError(name)
