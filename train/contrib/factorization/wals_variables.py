# SPDX-License-Identifier: Apache-2.0
"""The variables of weighted alternating least squares, in shards, and what workers copy of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

from ....engine.graph.collections import GraphKeys
from ....engine.graph.scope_functions import colocate_with
from ....ops.public import tf
from ....ops.state.variables import Variable

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation
    from ....engine.graph.tensor import Tensor

_WRONG_WEIGHTS = (
    "Invalid weight initialization argument. Must be one of these: None, a real non-negative real "
    "number, or a list of lists of non-negative real numbers (or equivalent iterables) "
    "corresponding to sharded factors."
)


class Cache(NamedTuple):
    """A copy of variables: what to read, what fills and what empties it; None for no variables."""

    values: Any = None
    fill: Any = None
    empty: Any = None


def shard_sizes(size: int, shards: int) -> list[int]:
    """How many rows each shard has; the first ones have one more."""
    least, more = divmod(size, shards)
    return [least + 1] * more + [least] * (shards - more)


def _shards(
    name: str, size: int, shards: int, initial: Callable[[int, int], Callable[[], Any]]
) -> list[Any]:
    return [
        tf.Variable(initial(i, rows), dtype=tf.float32, name=f"{name}_shard_{i}")
        for i, rows in enumerate(shard_sizes(size, shards))
    ]


def create_factors(rows: int, width: int, shards: int, initial: Any, name: str) -> list[Any]:
    """Variables [rows of the shard, width].

    Args:
        rows, width: of all shards together.
        shards: how many there are.
        initial: "random", a tensor, a list of one for each shard, or a function that gives these.
        name: of the variables, with numbers.
    """
    if callable(initial):
        initial = initial()
    is_random = isinstance(initial, str) and initial == "random"
    if isinstance(initial, list):
        _require_length(initial, shards)
    elif not is_random and shards == 1:
        initial = [initial]

    def made(i: int, size: int) -> Callable[[], Any]:
        return lambda: tf.random_normal([size, width]) if is_random else initial[i]

    return _shards(name, rows, shards, made)


def create_weights(initial: Any, size: int, shards: int, name: str) -> list[Any] | None:
    """Variables [rows of the shard], or None.

    Args:
        initial: None, a number, weights, or a list of weights for each shard.
        size: of all shards together.
        shards: how many there are.
        name: of the variables, with numbers.

    Raises:
        ValueError: `initial` is something else.
    """
    if initial is None:
        return None
    is_number = False
    if isinstance(initial, Iterable):
        given: Any = initial
        if shards == 1 and len(given) == size:
            initial = given = [given]
        _require_length(given, shards)
    elif isinstance(initial, Real) and float(initial) >= 0:
        is_number = True
    else:
        raise ValueError(_WRONG_WEIGHTS)

    def made(i: int, count: int) -> Callable[[], Any]:
        return lambda: initial * tf.ones([count]) if is_number else initial[i]  # type: ignore[index]

    return _shards(name, size, shards, made)


def _require_length(given: Any, shards: int) -> None:
    if len(given) != shards:
        raise AssertionError(f"{len(given)} initial values are given for {shards} shards")


def create_gramian(width: int, name: str) -> Variable:
    """A variable for the product of factors with themselves, [width, width]."""
    return tf.Variable(tf.zeros([width, width]), dtype=tf.float32, name=name)


def prepare_gramian(factors: list[Any], gramian: Any) -> Operation:
    """The operation that computes the product of factors with themselves."""
    parts = []
    for shard in factors:
        with colocate_with(shard):
            parts.append(tf.matmul(shard, shard, transpose_a=True))
    with colocate_with(gramian):
        return tf.assign(gramian, tf.add_n(parts)).op


def _transient(name: str) -> Variable:
    return tf.Variable(
        1.0,
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES],
        validate_shape=False,
        name=name,
    )


def cached_copy(variable: Any, name: str, pass_through: bool) -> Cache:
    """What a worker reads of variables, which another may change meanwhile.

    Args:
        variable: a variable, the shards of one, or None.
        name: of the copy.
        pass_through: read the variables themselves.
    """
    if variable is None:
        return Cache()
    if pass_through:
        return Cache(variable, tf.no_op(), tf.no_op())
    if isinstance(variable, Variable):
        copy = _transient(name)
        with colocate_with(copy):
            fill = tf.assign(copy, variable, validate_shape=False)
            return Cache(copy, fill, tf.assign(copy, 1.0, validate_shape=False))
    copies = [_transient(f"{name}_shard_{i}") for i in range(len(variable))]
    fills: list[Tensor] = []
    empties = []
    for copy, shard in zip(copies, variable, strict=True):
        with colocate_with(copy):
            # One after another: what is there when the last one is done is all of it.
            with tf.control_dependencies(fills[-1:]):
                fills.append(tf.assign(copy, shard, validate_shape=False))
            empties.append(tf.assign(copy, 1.0, validate_shape=False))
    return Cache(copies, fills[-1], tf.group(*empties))


def sharding_function(size: int, shards: int) -> Callable[[Tensor], tuple[Any, Any]]:
    """A function from row numbers to the shards that have them, or None, and numbers within."""

    def found(ids: Tensor) -> tuple[Any, Any]:
        if shards == 1:
            return None, ids
        each, extra = divmod(size, shards)
        owners = tf.maximum(ids // (each + 1), (ids - extra) // each)
        return owners, tf.where_v2(owners < extra, ids % (each + 1), (ids - extra) % each)

    return found


def scatter_update(
    factor: list[Any],
    indices: Tensor,
    values: Tensor,
    sharding_func: Callable[[Tensor], tuple[Any, Any]],
    name: str | None = None,
) -> Operation:
    """The operation that replaces rows of factors.

    Args:
        factor: the shards.
        indices: int64 [n], the rows.
        values: float32 [n, width].
        sharding_func: of `sharding_function`.
        name: of the operation.
    """
    if len(factor) == 1:
        with colocate_with(factor[0]):
            return tf.scatter_update(factor[0], indices, values, name=name).op
    owners, within = sharding_func(indices)
    owners = tf.cast(owners, tf.int32)
    ids = tf.dynamic_partition(within, owners, len(factor))
    rows = tf.dynamic_partition(values, owners, len(factor))
    return tf.group(*[tf.scatter_update(*part) for part in zip(factor, ids, rows)], name=name)
