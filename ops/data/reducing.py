# SPDX-License-Identifier: Apache-2.0
"""`tf.data.Dataset.reduce`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine.graph.graph import name_scope
from ..public import raw
from . import structure
from .states import settled


def reduce(dataset: Any, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
    """See `tf.data.Dataset.reduce`."""
    with name_scope("initial_state"):
        initial_state = structure.normalize_element(initial_state)
    first = structure.type_spec_from_value(initial_state)
    wrapped, state = settled(reduce_func, "reduce()", first, dataset.element_spec)
    flat = raw.ReduceDataset(
        dataset._variant_tensor,
        structure.to_tensor_list(state, initial_state),
        wrapped.captured,
        f=wrapped.attribute,
        output_shapes=structure.get_flat_tensor_shapes(state),
        output_types=structure.get_flat_tensor_types(state),
    )
    return structure.from_compatible_tensor_list(state, flat)
