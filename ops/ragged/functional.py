# SPDX-License-Identifier: Apache-2.0
"""Functions of the innermost values of ragged tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine.api import export
from ..public import tf
from .tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor, is_ragged
from .util import MISMATCHED_DTYPES, assert_splits_match


@export("ragged.map_flat_values")
def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Applies a function to the innermost values of ragged tensors.

    Args:
        op: the function, whose result has as many entries as the values.
        *args: its arguments; ragged tensors among them, in lists and dictionaries too, are
            replaced by their `flat_values` and must all have the same rows.
        **kwargs: its named arguments, of which the same holds.

    Returns:
        A RaggedTensor of the function's result, with those rows; the result itself where no
        argument is ragged.

    Raises:
        ValueError: the arguments have different numbers of ragged axes, or splits of different
            dtypes.

    Example:
        >>> x = tf.ragged.constant([[1, 2], [], [3]])
        >>> tf.Session().run(tf.ragged.map_flat_values(tf.square, x)).to_list()
        [[1, 4], [], [9]]
    """
    nested: list[Any] = []
    inner_args = [_flat(arg, nested) for arg in args]
    inner_kwargs = _flat(kwargs, nested)
    if not nested:
        return op(*args, **kwargs)
    if len({splits[0].dtype for splits in nested}) > 1:
        raise ValueError(MISMATCHED_DTYPES)
    with tf.control_dependencies(assert_splits_match(nested)):
        values = op(*inner_args, **inner_kwargs)
        return RaggedTensor.from_nested_row_splits(values, nested[0], validate=False)


def _flat(value: Any, nested: list[Any]) -> Any:
    """A structure with innermost values for ragged tensors, whose splits are noted."""
    if is_ragged(value):
        ragged = convert_to_tensor_or_ragged_tensor(value)
        nested.append(ragged.nested_row_splits)
        return ragged.flat_values
    if isinstance(value, list):
        return [_flat(item, nested) for item in value]
    if isinstance(value, tuple):
        return tuple(_flat(item, nested) for item in value)
    if isinstance(value, dict):
        return {key: _flat(item, nested) for key, item in value.items()}
    return value
