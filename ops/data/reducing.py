# SPDX-License-Identifier: Apache-2.0
"""`tf.data.Dataset.reduce`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine.graph.graph import get_default_graph, name_scope
from ..public import raw
from . import nest, structure
from .functions import StructuredFunctionWrapper


def reduce(dataset: Any, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
    """See `tf.data.Dataset.reduce`."""
    with name_scope("initial_state"):
        initial_state = structure.normalize_element(initial_state)
    state = structure.type_spec_from_value(initial_state)
    while True:
        wrapped = StructuredFunctionWrapper(
            reduce_func,
            "reduce()",
            input_structure=(state, dataset.element_spec),
            add_to_graph=False,
        )
        weaker = _weakened(wrapped, state)
        if weaker is None:
            break
        # The function has seen shapes that its own results do not keep to.
        state = weaker
    wrapped.function.add_to_graph(get_default_graph())
    flat = raw.ReduceDataset(
        dataset._variant_tensor,
        structure.to_tensor_list(state, initial_state),
        wrapped.captured,
        f=wrapped.attribute,
        output_shapes=structure.get_flat_tensor_shapes(state),
        output_types=structure.get_flat_tensor_types(state),
    )
    return structure.from_compatible_tensor_list(state, flat)


def _weakened(wrapped: StructuredFunctionWrapper, state: Any) -> Any:
    """The state's type with what the function does not keep left open; None if it keeps all."""
    classes, types, shapes = (structure.legacy(state, w) for w in ("classes", "types", "shapes"))
    pairs = zip(nest.flatten(wrapped.output_classes), nest.flatten(classes))
    for new, old in pairs:
        if not issubclass(new, old):
            raise TypeError(
                "The element classes for the new state must match the initial state. Expected "
                f"{classes}; got {wrapped.output_classes}."
            )
    for new, old in zip(nest.flatten(wrapped.output_types), nest.flatten(types)):
        if new != old:
            raise TypeError(
                "The element types for the new state must match the initial state. Expected "
                f"{types}; got {wrapped.output_types}."
            )
    flat = nest.flatten(shapes)
    weaker = [
        old.most_specific_compatible_shape(new)
        for old, new in zip(flat, nest.flatten(wrapped.output_shapes))
    ]
    if all(old.sizes == new.sizes for old, new in zip(flat, weaker)):
        return None
    return structure.convert_legacy_structure(types, nest.pack_sequence_as(shapes, weaker), classes)
