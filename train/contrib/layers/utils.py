# SPDX-License-Identifier: Apache-2.0
"""What layers share: outputs in collections with aliases, conditions, and sizes."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.graph.constants import constant_value as value_of_tensor
from ....engine.graph.tensor import Tensor
from ....engine.types.shape import TensorShape
from ....ops.public import tf
from ...variables.variable_kind import is_variable

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike, TensorLike
    from .annotations import Collections, VariableCollections

NamedOutputs = namedtuple("NamedOutputs", ["name", "outputs"])


def collect_named_outputs(collections: Collections | None, alias: str, outputs: Any) -> Any:
    """The outputs, put into collections with an alias, if there are collections."""
    if collections:
        append_tensor_alias(outputs, alias)
        tf.add_to_collections(collections, outputs)
    return outputs


def append_tensor_alias(tensor: Any, alias: str) -> Any:
    """The tensor, with one more alias, of which a slash at the end is left out."""
    tensor.aliases = [*getattr(tensor, "aliases", ()), alias.removesuffix("/")]
    return tensor


def gather_tensors_aliases(tensors: Iterable[Any]) -> list[str]:
    """The aliases of all tensors."""
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


def get_tensor_aliases(tensor: Any) -> list[str]:
    """The aliases of a tensor; its name if it has none."""
    if hasattr(tensor, "aliases"):
        return list(tensor.aliases)
    return [tensor.op.name if tensor.name.endswith(":0") else tensor.name]


def convert_collection_to_dict(
    collection: str, clear_collection: bool = False
) -> OrderedDict[str, Any]:
    """A collection's tensors by their aliases.

    Args:
        collection: the collection.
        clear_collection: whether it is empty afterwards.
    """
    tensors = tf.get_collection(collection)
    found = OrderedDict((alias, t) for t in tensors for alias in get_tensor_aliases(t))
    if clear_collection:
        tf.get_default_graph().clear_collection(collection)
    return found


def constant_value(value_or_tensor_or_var: Any, dtype: DTypeLike | None = None) -> Any:
    """The value of a tensor, None where only a run knows it; anything else itself.

    Raises:
        ValueError: the value is None, or a tensor of another dtype than the given one.
    """
    value = value_or_tensor_or_var
    if value is None:
        raise ValueError("value_or_tensor_or_var cannot be None")
    is_tensor = isinstance(value, Tensor)
    if not is_tensor and not is_variable(value):
        return value
    if dtype and value.dtype != dtype:
        raise ValueError(f"It has the wrong type {value.dtype} instead of {dtype}")
    return value_of_tensor(value) if is_tensor else None


def static_cond(pred: object, fn1: Callable[[], Any], fn2: Callable[[], Any]) -> Any:
    """What one of two functions gives, by a condition of Python's.

    Raises:
        TypeError: `fn1` or `fn2` is no function.
    """
    for name, function in (("fn1", fn1), ("fn2", fn2)):
        if not callable(function):
            raise TypeError(f"{name} must be callable.")
    return fn1() if pred else fn2()


def smart_cond(
    pred: TensorLike, fn1: Callable[[], Any], fn2: Callable[[], Any], name: str | None = None
) -> Any:
    """`tf.cond`, or what one of the functions gives where the condition is known."""
    known = constant_value(pred)
    return tf.cond(pred, fn1, fn2, name=name) if known is None else static_cond(known, fn1, fn2)


def get_variable_collections(variables_collections: VariableCollections | None, name: str) -> Any:
    """The collections for the variables of a name, of a dict or of all variables."""
    if isinstance(variables_collections, dict):
        return variables_collections.get(name)
    return variables_collections


def _dimension(shape: TensorShape, dim: int, min_rank: int) -> int:
    ndims = shape.ndims
    if ndims is None:
        raise ValueError("dims of shape must be known but is None")
    if ndims < min_rank:
        raise ValueError(f"rank of shape must be at least {min_rank} not: {ndims}")
    size = shape.as_list()[dim]
    if size is None:
        raise ValueError(f"dimension {dim} of shape must be known but is None: {shape}")
    return size


def channel_dimension(shape: TensorShape, data_format: str, min_rank: int = 1) -> int:
    """The number of channels, of axis 1 with "channels_first", else of the last axis.

    Raises:
        ValueError: it is unknown, or there are fewer axes than `min_rank`.
    """
    return _dimension(shape, 1 if data_format == "channels_first" else -1, min_rank)


def last_dimension(shape: TensorShape, min_rank: int = 1) -> int:
    """The size of the last axis.

    Raises:
        ValueError: it is unknown, or there are fewer axes than `min_rank`.
    """
    return _dimension(shape, -1, min_rank)


def two_element_tuple(int_or_tuple: Any) -> tuple[Any, Any]:
    """An integer twice, or the two elements of a list or shape.

    Raises:
        ValueError: it is something else, or has another length.
    """
    if isinstance(int_or_tuple, (list, tuple)):
        if len(int_or_tuple) != 2:
            raise ValueError(f"Must be a list with 2 elements: {int_or_tuple}")
        return int(int_or_tuple[0]), int(int_or_tuple[1])
    if isinstance(int_or_tuple, int):
        return int(int_or_tuple), int(int_or_tuple)
    if isinstance(int_or_tuple, TensorShape) and len(int_or_tuple) == 2:
        return int_or_tuple[0], int_or_tuple[1]
    raise ValueError("Must be an int, a list with 2 elements or a TensorShape of length 2")


def n_positive_integers(n: int, value: int | Sequence[int]) -> tuple[int, ...]:
    """An integer n times, or a sequence of n integers as a tuple; all of them positive.

    Raises:
        ValueError: it is something else.
    """
    count = int(n)
    if count < 1 or count != n:
        raise ValueError("n must be a positive integer")
    try:
        values = (int(value),) * count  # type: ignore[arg-type]
    except (TypeError, ValueError):
        values = _integers(count, value)
    for number in values:
        if number < 1:
            raise ValueError(f"expected positive integer, but received {number}")
    return values


def _integers(n: int, sequence: Any) -> tuple[int, ...]:
    refusal = f"Expected sequence of {n} positive integers, but received {sequence!r}"
    if len(sequence) != n:
        raise ValueError(refusal)
    try:
        return tuple(int(x) for x in sequence)
    except (TypeError, ValueError):
        raise ValueError(refusal) from None
