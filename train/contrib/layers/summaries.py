# SPDX-License-Identifier: Apache-2.0
"""Summaries of tensors and of collections."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ....engine.api import constant, export
from ....engine.types import dtypes
from ....ops.public import tf
from ....ops.summaries import api

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor

_KEYS = tf.GraphKeys


def _scalar(tensor: Tensor, tag: str | None = None) -> Tensor:
    tensor.shape.assert_has_rank(0)
    return api.scalar(tag or f"{tensor.op.name}_summary", tensor)


def _histogram(tensor: Tensor, tag: str | None = None) -> Tensor:
    return api.histogram(tag or f"{tensor.op.name}_summary", tensor)


def _share(condition: Callable[..., Any], tensor: Tensor, bound: float) -> Any:
    """How many of the elements are so, of one."""
    return tf.reduce_mean(tf.to_float(condition(tensor, tf.cast(bound, tensor.dtype))))


@export("contrib.layers.summarize_activation")
def summarize_activation(op: Tensor) -> Any:
    """A histogram of an activation; of rectifiers also the shares of what they cut off.

    Returns:
        The histogram's summary.
    """
    kind, name = op.op.type, op.op.name
    if kind in ("Relu", "Softplus", "Relu6"):
        _scalar(_share(tf.less, op.op.inputs[0], 0.0), f"{name}/zeros")
    if kind == "Relu6":
        _scalar(_share(tf.greater, op.op.inputs[0], 6.0), f"{name}/sixes")
    return _histogram(op, f"{name}/activation")


@export("contrib.layers.summarize_tensor")
def summarize_tensor(tensor: Tensor, tag: str | None = None) -> Any:
    """The summary of a scalar's value, or a histogram; None of strings and bools.

    Args:
        tensor: a tensor.
        tag: the summary's name; made from the tensor's if None.
    """
    if tensor.dtype.is_compatible_with(dtypes.string) or tensor.dtype.base_dtype == dtypes.bool:
        return None
    return (_scalar if tensor.shape.ndims == 0 else _histogram)(tensor, tag)


@export("contrib.layers.summarize_tensors")
def summarize_tensors(
    tensors: Iterable[Tensor], summarizer: Callable[[Tensor], Any] = summarize_tensor
) -> list[Any]:
    """The summaries of some tensors."""
    return [summarizer(tensor) for tensor in tensors]


@export("contrib.layers.summarize_collection")
def summarize_collection(
    collection: str,
    name_filter: str | None = None,
    summarizer: Callable[[Tensor], Any] = summarize_tensor,
) -> list[Any]:
    """The summaries of a collection's tensors.

    Args:
        collection: the collection's name.
        name_filter: a regular expression for the beginnings of names; None for all.
        summarizer: makes a tensor's summary.
    """
    found = tf.get_collection(collection)
    wanted = [t for t in found if name_filter is None or re.match(name_filter, t.op.name)]
    return summarize_tensors(wanted, summarizer)


@export("contrib.layers.summarize_activations")
def summarize_activations(
    name_filter: str | None = None, summarizer: Callable[[Tensor], Any] = summarize_activation
) -> list[Any]:
    """The summaries of the collection of activations.

    Args: as `summarize_collection`.
    """
    return summarize_collection(_KEYS.ACTIVATIONS, name_filter, summarizer)


summarize_variables = functools.partial(summarize_collection, _KEYS.GLOBAL_VARIABLES)
summarize_weights = functools.partial(summarize_collection, _KEYS.WEIGHTS)
summarize_biases = functools.partial(summarize_collection, _KEYS.BIASES)
constant("contrib.layers.summarize_variables", summarize_variables)
constant("contrib.layers.summarize_weights", summarize_weights)
constant("contrib.layers.summarize_biases", summarize_biases)
for _name in (
    "summarize_activation",
    "summarize_tensor",
    "summarize_tensors",
    "summarize_collection",
    "summarize_activations",
    "summarize_variables",
    "summarize_weights",
    "summarize_biases",
):
    constant(f"contrib.layers.summaries.{_name}", globals()[_name])
