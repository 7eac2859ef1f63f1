# SPDX-License-Identifier: Apache-2.0
"""The assert_* functions about ranks, shapes and types: decided while building where possible."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.constants import constant_value
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import control_dependencies, name_scope
from ...engine.record_class import record
from ...engine.types import dtypes
from ..control import with_dependencies
from ..public import tf
from .asserts import Assert

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...engine.types.dtypes import DType


class _RankError(ValueError):
    """A static rank that does not do; the callers word it."""


# Ranks


def _rank_condition(
    x: Tensor,
    ranks: Sequence[Any],
    static: Callable[..., bool],
    dynamic: Callable[..., Any],
    data: list[Any],
    summarize: int | None,
) -> Any:
    for rank in ranks:
        assert_type(rank, dtypes.int32)
    known = [constant_value(rank) for rank in ranks]
    if all(value is not None for value in known):
        if any(value.ndim for value in known):
            raise ValueError("Rank must be a scalar.")
        if x.get_shape().ndims is not None:
            if not static(x.get_shape().ndims, *known):
                raise _RankError
            return tf.no_op(name="static_checks_determined_all_ok")
    condition = dynamic(tf.rank(x), *ranks)
    for rank, value in zip(ranks, known, strict=True):
        if value is None:
            text = ["Rank must be a scalar. Received rank: ", rank]
            condition = with_dependencies([assert_rank(rank, 0, data=text)], condition)
    return Assert(condition, data, summarize=summarize)


def _rank_error(message: str, x: Tensor, wanted: str, ranks: Any) -> ValueError:
    return ValueError(
        f"{message}.  Tensor {x.name} must have rank {wanted}{ranks}.  "
        f"Received rank {x.get_shape().ndims}, shape {x.get_shape()}"
    )


def _one_rank(
    opname: str, words: str, static: Callable[..., bool], dynamic: str, wanted: str
) -> Callable[..., Any]:
    def check(
        x: TensorLike,
        rank: TensorLike,
        data: Any = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Any:
        with name_scope(name, opname, (x, rank, *(data or []))):
            x = convert_to_tensor(x, name="x")
            rank = convert_to_tensor(rank, name="rank")
            message = message or ""
            if data is None:
                text = f"Tensor {x.name} must have rank{words}"
                data = [message, text, rank, "Received shape: ", tf.shape(x)]
            compare = getattr(tf, dynamic)
            try:
                return _rank_condition(x, [rank], static, compare, data, summarize)
            except _RankError:
                raise _rank_error(message, x, wanted, constant_value(rank)) from None

    check.__name__ = check.__qualname__ = opname
    check.__doc__ = f"An operation that raises unless the rank is {wanted}the given one."
    return export(f"debugging.{opname}", opname)(check)


assert_rank = _one_rank("assert_rank", "", lambda actual, given: actual == given, "equal", "")
assert_rank_at_least = _one_rank(
    "assert_rank_at_least",
    " at least",
    lambda actual, given: actual >= given,
    "greater_equal",
    "at least ",
)


def _any_equal(actual: Tensor, *given: Any) -> Any:
    if not given:
        return convert_to_tensor(False)
    result = tf.equal(given[0], actual)
    for rank in given[1:]:
        result = tf.logical_or(result, tf.equal(rank, actual))
    return result


@export("debugging.assert_rank_in", "assert_rank_in")
def assert_rank_in(
    x: TensorLike,
    ranks: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """An operation that raises unless the rank is one of the given ones."""
    with name_scope(name, "assert_rank_in", (x, *ranks, *(data or []))):
        x = convert_to_tensor(x, name="x")
        ranks = tuple(convert_to_tensor(rank, name="rank") for rank in ranks)
        message = message or ""
        if data is None:
            text = f"Tensor {x.name} must have rank in"
            data = [message, text, *ranks, "Received shape: ", tf.shape(x)]

        def static(actual: int, *given: Any) -> bool:
            return actual in given

        try:
            return _rank_condition(x, ranks, static, _any_equal, data, summarize)
        except _RankError:
            known = tuple(int(constant_value(rank)) for rank in ranks)
            raise _rank_error(message, x, "in ", known) from None


# Types


@export("debugging.assert_integer", "assert_integer")
def assert_integer(x: TensorLike, message: str | None = None, name: str | None = None) -> Operation:
    """Raises TypeError unless x is an integer tensor."""
    message = message or ""
    with name_scope(name, "assert_integer", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_integer:
            raise TypeError(
                f'{message}  Expected "x" to be integer type.  Found: {x.name} of dtype {x.dtype}'
            )
        return tf.no_op("statically_determined_was_integer")


@export("debugging.assert_type", "assert_type")
def assert_type(
    tensor: TensorLike, tf_type: DTypeLike, message: str | None = None, name: str | None = None
) -> Operation:
    """Raises TypeError unless the tensor has the dtype."""
    message = message or ""
    with name_scope(name, "assert_type", [tensor]):
        tensor = convert_to_tensor(tensor, name="tensor")
        if tensor.dtype != tf_type:
            raise TypeError(f"{message}  {tensor.name} must be of type {tf_type}")
        return tf.no_op("statically_determined_correct_type")


def _common_type(items: Sequence[Any], expected: DType | None) -> Any:
    """The base dtype of all items that are not None; ValueError when they differ."""
    first = None
    for item in items:
        if item is None:
            continue
        dtype = item.dtype.base_dtype
        name = item.name if hasattr(item, "name") else str(item)
        if not expected:
            expected, first = dtype, name
        elif expected != dtype:
            origin = f" as {first}" if first else ""
            raise ValueError(
                f"{name}, type={dtype}, must be of the same type ({expected}){origin}."
            )
    return expected


@export("debugging.assert_same_float_dtype", "assert_same_float_dtype")
def assert_same_float_dtype(tensors: Any = None, dtype: DType | None = None) -> Any:
    """The floating dtype that all tensors share; float32 when there are none."""
    if tensors:
        dtype = _common_type(tensors, dtype)
    if not dtype:
        return dtypes.float32
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype}.")
    return dtype


@export("debugging.assert_scalar", "assert_scalar")
def assert_scalar(
    tensor: TensorLike, name: str | None = None, message: str | None = None
) -> Tensor:
    """The tensor; ValueError unless it is a scalar."""
    with name_scope(name, "assert_scalar", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name=scope)
        shape = tensor.get_shape()
        if shape.ndims != 0:
            text = f"Expected scalar shape for {tensor.name}, saw shape: {shape}."
            raise ValueError(f"{message or ''}{text}")
        return tensor


# Shapes


@record(frozen=True)
class _Sizes:
    """A tensor, the sizes that it has, and the symbols that are asked of them."""

    tensor: Any
    is_suffix: bool
    actual: Any
    symbols: tuple[Any, ...]


def _actual_sizes(x: Tensor) -> Any:
    dynamic = tf.shape(x)
    if x.get_shape().ndims is None:
        is_scalar = tf.equal(tf.rank(x), 0)
        return tf.cond(is_scalar, lambda: tf.constant([1]), lambda: dynamic)
    sizes = x.get_shape().as_list()
    # A scalar counts as a vector of one, as in TensorFlow.
    return [dynamic[i] if size is None else size for i, size in enumerate(sizes)] or (1,)


def _known_size(size: str) -> int | None:
    try:
        return int(size)
    except (ValueError, TypeError):
        return None


def _constraint(tensor: Tensor, symbols: Sequence[str], message: str) -> _Sizes:
    if not hasattr(symbols, "__iter__") and not hasattr(symbols, "__getitem__"):
        raise ValueError(
            f"{message}.  Tensor {tensor.name}.  Specified shape must be an iterable.  "
            "An iterable has the attribute `__iter__` or `__getitem__`.  "
            f"Received specified shape: {symbols}"
        )
    symbols = tuple(symbols)
    for i, symbol in enumerate(symbols):
        if i and symbol in (Ellipsis, "*"):
            raise ValueError(
                f"{message}.  Tensor {tensor.name} specified shape index {i}.  "
                "Symbol `...` or `*` for a variable number of "
                "unspecified dimensions is only allowed as the first entry"
            )
    is_suffix = bool(symbols) and symbols[0] in (Ellipsis, "*")
    rest = symbols[1:] if is_suffix else symbols
    return _Sizes(tensor, is_suffix, _actual_sizes(tensor), rest or (1,))


def _rank_assertions(constraints: list[_Sizes], options: dict[str, Any]) -> list[Any]:
    assertions = []
    for sizes in constraints:
        rank = len(sizes.symbols)
        if sizes.is_suffix:
            if rank > 1:
                assertions.append(assert_rank_at_least(x=sizes.tensor, rank=rank, **options))
        elif rank <= 1:
            assertions.append(assert_rank_in(x=sizes.tensor, ranks=[0, 1], **options))
        else:
            assertions.append(assert_rank(x=sizes.tensor, rank=rank, **options))
    return assertions


def _size_assertions(constraints: list[_Sizes], options: dict[str, Any]) -> list[Any]:
    assertions = []
    first_seen: dict[Any, tuple[Any, Any, int]] = {}
    for sizes in constraints:
        for i, symbol in enumerate(sizes.symbols):
            if symbol in (None, "."):
                continue
            axis = i - len(sizes.symbols) if sizes.is_suffix else i
            wanted, origin = _known_size(symbol), "Specified explicitly"
            if wanted is None:
                if symbol not in first_seen:
                    first_seen[symbol] = (sizes.actual[axis], sizes.tensor, axis)
                    continue
                wanted, tensor, place = first_seen[symbol]
                origin = f"Specified by tensor {tensor.name} dimension {place}"
            assertion = _size_assertion(sizes, axis, wanted, origin, options)
            if assertion is not None:
                assertions.append(assertion)
    return assertions


def _size_assertion(
    sizes: _Sizes, axis: int, wanted: Any, origin: str, options: dict[str, Any]
) -> Any:
    actual, name, message = sizes.actual[axis], sizes.tensor.name, options["message"]
    if _known_size(actual) is not None and _known_size(wanted) is not None:
        if int(actual) == int(wanted):
            return None
        raise ValueError(
            f"{message}.  {origin}.  Tensor {name} dimension {axis} must have size {wanted}.  "
            f"Received size {actual}, shape {sizes.tensor.get_shape()}"
        )
    condition = tf.equal(convert_to_tensor(actual), convert_to_tensor(wanted))
    data = options["data"]
    if data is None:
        data = [message, origin, f"Tensor {name} dimension", axis, "must have size", wanted]
        data += ["Received shape: ", tf.shape(sizes.tensor)]
    return Assert(condition, data, summarize=options["summarize"])


@export("debugging.assert_shapes")
def assert_shapes(
    shapes: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Checks tensors against shapes of numbers and symbols; equal symbols mean equal sizes.

    None or "." stands for any size, a leading "..." or "*" for any number of dimensions.
    """
    if isinstance(shapes, dict):
        shapes = shapes.items()
    options = {"data": data, "summarize": summarize, "message": message or ""}
    with name_scope(name, "assert_shapes", [shapes, data]):
        pairs = [(convert_to_tensor(x), s) for x, s in shapes if s is not None]
        constraints = [_constraint(x, s, options["message"]) for x, s in pairs]
        ranks = _rank_assertions(constraints, {**options, "name": name})
        sizes = _size_assertions(constraints, options)
        with control_dependencies(ranks):
            return tf.group(*sizes)
