# SPDX-License-Identifier: Apache-2.0
"""Functions of a state and an element: built again until the state's type is one that they keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine.graph.graph import get_default_graph
from . import nest, structure
from .functions import StructuredFunctionWrapper


def settled(
    func: Callable[..., Any],
    transformation_name: str,
    state: Any,
    element_spec: Any,
    new_state: Callable[[StructuredFunctionWrapper], Any] = lambda f: f.output_structure,
) -> tuple[StructuredFunctionWrapper, Any]:
    """A function as the default graph's library has it, and the type of state that it keeps.

    Args:
      func: A Python function of a state and an element.
      transformation_name: Who calls it.
      state: The type of the first state.
      element_spec: The type of elements.
      new_state: What of the built function's result is the next state.

    Raises:
      TypeError: The next state is of another class or dtype.
    """
    while True:
        wrapped = StructuredFunctionWrapper(
            func, transformation_name, input_structure=(state, element_spec), add_to_graph=False
        )
        weaker = _weakened(new_state(wrapped), state)
        if weaker is None:
            wrapped.function.add_to_graph(get_default_graph())
            return wrapped, state
        # The function has seen shapes that its own results do not keep to.
        state = weaker


def _weakened(found: Any, state: Any) -> Any:
    """The state's type with what the function does not keep left open; None if it keeps all."""
    kinds = ("classes", "types", "shapes")
    classes, types, shapes = (structure.legacy(state, kind) for kind in kinds)
    new_classes, new_types, new_shapes = (structure.legacy(found, kind) for kind in kinds)
    text = "for the new state must match the initial state. Expected"
    pairs = zip(nest.flatten(new_classes), nest.flatten(classes))
    if not all(_is_kind(new, old) for new, old in pairs):
        raise TypeError(f"The element classes {text} {classes}; got {new_classes}.")
    if any(new != old for new, old in zip(nest.flatten(new_types), nest.flatten(types))):
        raise TypeError(f"The element types {text} {types}; got {new_types}.")
    flat = nest.flatten(shapes)
    weaker = [
        old.most_specific_compatible_shape(new) for old, new in zip(flat, nest.flatten(new_shapes))
    ]
    if all(old.sizes == new.sizes for old, new in zip(flat, weaker)):
        return None
    return structure.convert_legacy_structure(types, nest.pack_sequence_as(shapes, weaker), classes)


def _is_kind(new: Any, old: Any) -> bool:
    """Whether a component's class is another one's, or its type where it has no class."""
    if isinstance(new, type) and isinstance(old, type):
        return issubclass(new, old)
    return bool(new == old)
