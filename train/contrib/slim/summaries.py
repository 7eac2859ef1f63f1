# SPDX-License-Identifier: Apache-2.0
"""`slim.summaries`: summaries named after their tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.collections import GraphKeys
from ....engine.graph.tensor import Tensor
from ....ops.nn.dropout import zero_fraction
from ....ops.public import tf
from ....ops.summaries.api import histogram, image, scalar

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike

_PREFIX = "contrib.slim.summaries"


def _name(tensor: Any, name: str | None, prefix: str | None, postfix: str | None = None) -> str:
    parts = [prefix, name or tensor.op.name, postfix]
    return "/".join(part for part in parts if part)


def _summary(make: Callable[..., Tensor], tensor: Any, name: str, print_summary: bool) -> Tensor:
    """The summary; one that prints takes the place of the other in the collection."""
    summary = make(name, tensor, collections=[] if print_summary else None)
    if print_summary:
        summary = tf.Print(summary, [tensor], name)
        tf.add_to_collection(GraphKeys.SUMMARIES, summary)
    return summary


@export(f"{_PREFIX}.add_histogram_summary")
def add_histogram_summary(
    tensor: TensorLike, name: str | None = None, prefix: str | None = None
) -> Tensor:
    """Adds a histogram of a tensor.

    Args:
        tensor: the tensor or variable.
        name: by default its operation's.
        prefix: stands before the name and a slash.

    Returns:
        A string scalar, the serialized Summary.
    """
    return histogram(_name(tensor, name, prefix), tensor)


@export(f"{_PREFIX}.add_image_summary")
def add_image_summary(
    tensor: TensorLike,
    name: str | None = None,
    prefix: str | None = None,
    print_summary: bool = False,
) -> Tensor:
    """Adds pictures: a tensor of shape [batch, height, width, channels].

    Args:
        tensor: the tensor.
        name: by default its operation's.
        prefix: stands before the name and a slash.
        print_summary: whether the tensor is printed whenever the summary is computed.

    Returns:
        A string scalar, the serialized Summary.
    """
    return _summary(image, tensor, _name(tensor, name, prefix), print_summary)


@export(f"{_PREFIX}.add_scalar_summary")
def add_scalar_summary(
    tensor: TensorLike,
    name: str | None = None,
    prefix: str | None = None,
    print_summary: bool = False,
) -> Tensor:
    """Adds a number; the arguments of `add_image_summary`."""
    return _summary(scalar, tensor, _name(tensor, name, prefix), print_summary)


@export(f"{_PREFIX}.add_zero_fraction_summary")
def add_zero_fraction_summary(
    tensor: TensorLike,
    name: str | None = None,
    prefix: str | None = None,
    print_summary: bool = False,
) -> Tensor:
    """Adds the share of zeros in a tensor; the arguments of `add_image_summary`."""
    name = _name(tensor, name, prefix, "Fraction_of_Zero_Values")
    return add_scalar_summary(zero_fraction(tensor), name, print_summary=print_summary)


@export(f"{_PREFIX}.add_histogram_summaries")
def add_histogram_summaries(tensors: Iterable[Any], prefix: str | None = None) -> list[Tensor]:
    """`add_histogram_summary` for each tensor."""
    return [add_histogram_summary(tensor, prefix=prefix) for tensor in tensors]


@export(f"{_PREFIX}.add_image_summaries")
def add_image_summaries(tensors: Iterable[Any], prefix: str | None = None) -> list[Tensor]:
    """`add_image_summary` for each tensor."""
    return [add_image_summary(tensor, prefix=prefix) for tensor in tensors]


@export(f"{_PREFIX}.add_scalar_summaries")
def add_scalar_summaries(
    tensors: Iterable[Any], prefix: str | None = None, print_summary: bool = False
) -> list[Tensor]:
    """`add_scalar_summary` for each tensor."""
    return [add_scalar_summary(t, prefix=prefix, print_summary=print_summary) for t in tensors]


@export(f"{_PREFIX}.add_zero_fraction_summaries")
def add_zero_fraction_summaries(tensors: Iterable[Any], prefix: str | None = None) -> list[Tensor]:
    """`add_zero_fraction_summary` for each tensor."""
    return [add_zero_fraction_summary(tensor, prefix=prefix) for tensor in tensors]
