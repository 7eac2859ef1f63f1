# SPDX-License-Identifier: Apache-2.0
"""`tf.map_fn`, `tf.foldl`, `tf.foldr` and `tf.scan`: loops over the rows of tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import SparseTensor, Tensor
from ...engine.types import nest
from ...engine.types.shape import Dimension, TensorShape, dimension_value
from ..public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike


@contextmanager
def _cached_variables() -> Iterator[None]:
    """Variables that the function gets are read once, not in every iteration."""
    scope = tf.get_variable_scope()
    is_ours = scope.caching_device is None
    if is_ours:
        scope.set_caching_device(lambda op: op.device)
    try:
        yield
    finally:
        if is_ours:
            scope.set_caching_device(None)


class _Structure:
    """How a structure, or a single value, becomes a flat list and back."""

    def __init__(self, like: object) -> None:
        self.like = like
        self.is_nested = nest.is_sequence(like)

    def flat(self, value: object) -> list[Any]:
        return nest.flatten(value) if self.is_nested else [value]

    def packed(self, flat: list[Any]) -> Any:
        return nest.pack_sequence_as(self.like, flat) if self.is_nested else flat[0]


def _require_callable(fn: Callable[..., Any]) -> None:
    if not callable(fn):
        raise TypeError("fn must be callable.")


def _rows(elem: Tensor, n: TensorLike) -> Any:
    return tf.TensorArray(dtype=elem.dtype, size=n, dynamic_size=False, infer_shape=True).unstack(
        elem
    )


def _unstacked(elems: list[Tensor], n: TensorLike, shaped: bool = False) -> list[Any]:
    """Arrays of the rows of tensors; `shaped` ones know the shape of their elements at once."""
    arrays = [
        tf.TensorArray(
            dtype=elem.dtype,
            size=n,
            dynamic_size=False,
            element_shape=elem.shape[1:] if shaped else None,
        )
        for elem in elems
    ]
    return [array.unstack(elem) for array, elem in zip(arrays, elems)]


def _collector(like: Tensor, n: TensorLike, infer_shape: bool) -> Any:
    """An array for the results of a scan."""
    return tf.TensorArray(
        dtype=like.dtype,
        size=n,
        element_shape=like.shape if infer_shape else None,
        dynamic_size=False,
        infer_shape=infer_shape,
    )


def _require_rows(elems: list[Tensor]) -> None:
    if elems[0].shape.ndims != 0:
        return
    if len(elems) == 1:
        raise ValueError("elems must be a 1+ dimensional Tensor, not a scalar")
    raise ValueError("elements in elems must be 1+ dimensional Tensors, not scalars")


def _count(tensor: Tensor) -> Any:
    """The number of rows: an int where it is known."""
    # No rows at all (0) count as not known, as in TensorFlow's own `or`.
    return dimension_value(tensor.shape[0]) or tf.shape(tensor)[0]


def _stacked(arrays: list[Any], elems: list[Tensor]) -> list[Tensor]:
    """The results, with their static number of rows; ValueError when inputs do not agree on it."""
    results = [array.stack() for array in arrays]

    def rows(elem: Tensor) -> Dimension:
        return Dimension(dimension_value(elem.get_shape().with_rank_at_least(1)[0]))

    count = rows(elems[0])
    for elem in elems[1:]:
        # Only compared, as in TensorFlow, which drops what merging returns: a number of rows that
        # only a later input knows is not used.
        count.merge_with(rows(elem))
    for result in results:
        shape = result.get_shape()
        rest = shape[1:] if shape.rank is not None else TensorShape(None)
        result.set_shape(TensorShape([count]).concatenate(rest))
    return results


@export("map_fn")
def map_fn(
    fn: Callable[..., Any],
    elems: TensorLike,
    dtype: DTypeLike | None = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
) -> Any:
    """`fn` of each row of `elems`, stacked.

    Args:
        fn: a function of one row, in the structure of `elems`.
        elems: a Tensor or an array, or a structure of them (as lists are), with as many rows.
        dtype: the dtypes of what `fn` returns, in its structure, where these are others.
        parallel_iterations, back_prop, swap_memory: as in `tf.while_loop`.
        infer_shape: whether all results must have one shape.
        name: the scope of the nodes.

    Returns:
        Tensors in the structure that `fn` returns, with one more dimension, in front.

    Raises:
        TypeError: `fn` is no function, or `elems` a SparseTensor.
        ValueError: `elems` is a scalar, or results are structured otherwise than `dtype`.

    Example:
        >>> x = tf.constant([[1, 2], [3, 4]])
        >>> tf.Session().run(tf.map_fn(lambda row: tf.reduce_sum(row), x))
        array([3, 7], dtype=int32)
    """
    _require_callable(fn)
    if isinstance(elems, SparseTensor):
        raise TypeError(
            "To perform a map on the values of a sparse tensor use either  SparseTensor("
            "input.indices, fn(input.values), input.dense_shape) or  SparseTensor(input.indices, "
            "map_fn(fn, input.values), input.dense_shape)"
        )
    inputs = _Structure(elems)
    outputs = inputs if dtype is None else _Structure(dtype)
    flat = inputs.flat(elems)
    with name_scope(name, "map", flat), _cached_variables():
        flat = [convert_to_tensor(elem, name="elem") for elem in flat]
        dtype = dtype or inputs.packed([elem.dtype for elem in flat])
        _require_rows(flat)
        n = _count(flat[0])
        arrays = _unstacked(flat, n)
        i = tf.constant(0)
        results = [
            tf.TensorArray(dtype=kind, size=n, dynamic_size=False, infer_shape=infer_shape)
            for kind in outputs.flat(dtype)
        ]

        def body(i: Tensor, results: list[Any]) -> Any:
            values = fn(inputs.packed([array.read(i) for array in arrays]))
            nest.assert_same_structure(dtype or elems, values)
            pairs = zip(results, outputs.flat(values))
            results = [result.write(i, value) for result, value in pairs]
            return i + 1, results

        _, results = tf.while_loop(
            lambda i, _: i < n,
            body,
            (i, results),
            parallel_iterations=parallel_iterations or 10,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=n,
        )
        return outputs.packed(_stacked(results, flat))


def _fold(
    name: str | None,
    default_name: str,
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any,
    options: tuple[int, bool, bool],
    backwards: bool,
) -> Any:
    _require_callable(fn)
    with name_scope(name, default_name, [elems]), _cached_variables():
        flat = [convert_to_tensor(elem, name="elem") for elem in nest.flatten(elems)]
        n = _count(flat[0])
        arrays = nest.map_structure(lambda elem: _rows(elem, n), elems)

        def row(i: Tensor | int) -> Any:
            return nest.map_structure(lambda array: array.read(i), arrays)

        def forward(i: Tensor, a: Any) -> list[Any]:
            a = fn(a, row(i))
            return [i + 1, a]

        def backward(i: Tensor, a: Any) -> list[Any]:
            i -= 1
            return [i, fn(a, row(i))]

        # The nodes are made in TensorFlow's order, which is another one in each direction.
        if backwards:
            first = n if initializer is not None else n - 1
            start = row(first) if initializer is None else initializer
        else:
            start = row(0) if initializer is None else initializer
            first = tf.constant(0 if initializer is not None else 1)
        parallel_iterations, back_prop, swap_memory = options
        return tf.while_loop(
            lambda i, a: i > 0 if backwards else i < n,
            backward if backwards else forward,
            [first, start],
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=n,
        )[1]


@export("foldl")
def foldl(
    fn: Callable[..., Any],
    elems: TensorLike,
    initializer: TensorLike | None = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """`fn(a, row)` over the rows from first to last; a is `initializer` or the first row.

    Args:
      fn: A function of the result so far and a row.
      elems: A tensor or a structure of them, with the same number of rows.
      initializer: What to begin with.
      parallel_iterations: As in `tf.while_loop`.
      back_prop: As in `tf.while_loop`.
      swap_memory: As in `tf.while_loop`.
      name: The scope of the nodes.
    """
    options = (parallel_iterations, back_prop, swap_memory)
    return _fold(name, "foldl", fn, elems, initializer, options, backwards=False)


@export("foldr")
def foldr(
    fn: Callable[..., Any],
    elems: TensorLike,
    initializer: TensorLike | None = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """`fn(a, row)` over the rows from last to first; a is `initializer` or the last row.

    Args:
      fn: A function of the result so far and a row.
      elems: A tensor or a structure of them, with the same number of rows.
      initializer: What to begin with.
      parallel_iterations: As in `tf.while_loop`.
      back_prop: As in `tf.while_loop`.
      swap_memory: As in `tf.while_loop`.
      name: The scope of the nodes.
    """
    options = (parallel_iterations, back_prop, swap_memory)
    return _fold(name, "foldr", fn, elems, initializer, options, backwards=True)


def _begun(
    arrays: list[Any], given: list[Any] | None, n: Tensor | int, infer_shape: bool, reverse: bool
) -> tuple[list[Any], list[Any]]:
    """What a scan begins with, and its results so far: the first row is one, what is given none."""

    def first() -> Any:
        return n - 1 if reverse else 0

    if given is not None:
        state = [convert_to_tensor(x) for x in given]
        return state, [_collector(x, n, infer_shape) for x in state]
    state = [array.read(first()) for array in arrays]
    results = [_collector(x, n, infer_shape) for x in state]
    return state, [result.write(first(), x) for result, x in zip(results, state)]


@export("scan")
def scan(
    fn: Callable[..., Any],
    elems: TensorLike,
    initializer: TensorLike | None = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """All the results of `fn(a, row)` on the way through the rows, stacked.

    Args:
        fn: a function of the result so far and a row.
        elems: a Tensor or an array, or a structure of them (as lists are), with as many rows.
        initializer: what to begin with; without it the first row, which is the first result then.
        parallel_iterations, back_prop, swap_memory: as in `tf.while_loop`.
        infer_shape: whether all results must have one shape.
        reverse: whether the way is from the last row to the first.
        name: the scope of the nodes.

    Returns:
        Tensors in the structure of the results, with one more dimension, in front.

    Raises:
        TypeError: `fn` is no function.
        ValueError: results are structured otherwise than the initializer, or change their shape.

    Example:
        >>> x = tf.constant([1, 2, 3, 4])
        >>> tf.Session().run(tf.scan(lambda total, row: total + row, x))
        array([ 1,  3,  6, 10], dtype=int32)
    """
    _require_callable(fn)
    inputs = _Structure(elems)
    outputs = inputs if initializer is None else _Structure(initializer)
    flat = inputs.flat(elems)
    with name_scope(name, "scan", flat), _cached_variables():
        flat = [convert_to_tensor(elem, name="elem") for elem in flat]
        n = dimension_value(flat[0].shape[0])
        if n is None:
            n = tf.shape(flat[0])[0]
        arrays = _unstacked(flat, n, shaped=True)

        given = None if initializer is None else outputs.flat(initializer)
        i = 1 if given is None else 0
        state, results = _begun(arrays, given, n, infer_shape, reverse)

        def body(i: Tensor, state: list[Any], results: list[Any]) -> Any:
            rows = inputs.packed([array.read(i) for array in arrays])
            value = fn(outputs.packed(state), rows)
            nest.assert_same_structure(elems if initializer is None else initializer, value)
            values = outputs.flat(value)
            results = [result.write(i, x) for result, x in zip(results, values)]
            return i - 1 if reverse else i + 1, values, results

        _, _, results = tf.while_loop(
            (lambda i, _, __: i >= 0) if reverse else (lambda i, _, __: i < n),
            body,
            (n - 1 - i if reverse else i, state, results),
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=n,
        )
        return outputs.packed(_stacked(results, flat))
