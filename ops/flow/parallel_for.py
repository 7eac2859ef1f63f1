# SPDX-License-Identifier: Apache-2.0
"""Loops whose turns do not depend on each other, and Jacobians, which are such loops.

As `tensorflow.python.ops.parallel_for` has them.  TensorFlow's `pfor` replaces each operation by
one for all turns; here a compiled loop gives the same values, or turns one after another do
(see turns.py).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.operation import Operation
from ...engine.graph.tensor import IndexedSlices, SparseTensor, Tensor
from ...engine.types import dtypes, nest
from ..public import tf
from .turns import stacked_turns
from .vectorized import vectorized_map  # noqa: F401  (programs import it from here, too)

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike

_CONFIG = "pfor_config"


def for_loop(
    loop_fn: Callable[[Any], Any],
    loop_fn_dtypes: Any,
    iters: TensorLike,
    parallel_iterations: int | None = None,
) -> Any:
    """What a function gives for 0, 1 and so on, stacked.

    Args:
        loop_fn: takes a number; returns a structure of tensors, or None in the places of some.
        loop_fn_dtypes: their dtypes, in the same structure.
        iters: how many turns.
        parallel_iterations: as of tf.while_loop.

    Returns:
        The structure, with a tensor of all turns for each tensor.

    Raises:
        ValueError: the function returns another number of tensors.
    """
    kinds = [dtypes.as_dtype(dtype).base_dtype for dtype in nest.flatten(loop_fn_dtypes)]
    is_there: list[bool] = []

    def body(i: Tensor, rows: list[Any]) -> Any:
        found = nest.flatten(loop_fn(i))
        if len(found) != len(kinds):
            raise ValueError(
                f"Number of expected outputs, {len(kinds)}, does not match the number of actual "
                f"outputs, {len(found)}, from loop_fn"
            )
        is_there[:] = [value is not None for value in found]
        written = [
            row if value is None else row.write(i, convert_to_tensor(value))
            for row, value in zip(rows, found)
        ]
        return i + 1, written

    start = [tf.TensorArray(dtype, iters) for dtype in kinds]
    parallel = 10 if parallel_iterations is None else parallel_iterations
    _, rows = tf.while_loop(lambda i, _: i < iters, body, (0, start), parallel_iterations=parallel)
    stacked = [row.stack() if known else None for row, known in zip(rows, is_there)]
    return nest.pack_sequence_as(loop_fn_dtypes, stacked)


def pfor(
    loop_fn: Callable[..., Any], iters: TensorLike, parallel_iterations: int | None = None
) -> Any:
    """What a function gives for 0, 1 and so on, stacked; its turns may run at a time.

    Args:
        loop_fn: takes a number; returns a structure of tensors, operations, or None.
        iters: how many turns.
        parallel_iterations: how many of them at a time.

    Returns:
        The structure, with a tensor of all turns for each tensor, sparse or not, and an operation
        that has run in all turns for each operation.

    Raises:
        ValueError: `parallel_iterations` is less than 2.
        NotImplementedError: the function takes a `pfor_config`, to reduce over turns.
    """
    if parallel_iterations is not None and parallel_iterations < 1:
        raise ValueError("parallel_iterations must be None or a positive integer")
    if parallel_iterations == 1:
        raise ValueError("Found parallel_iterations == 1. Use for_loop instead.")
    if _takes_config(loop_fn):
        raise NotImplementedError("pfor with a pfor_config: reduce the stacked results instead")
    # What the function returned first.
    seen: list[Any] = []

    def tensors(i: Tensor) -> list[Any]:
        found = nest.map_structure(_dense_slices, loop_fn(i))
        seen.append(found)
        return [_as_tensor(x) for x in nest.flatten(found)]

    with tf.variable_scope(tf.get_variable_scope(), reuse=tf.AUTO_REUSE):
        found = stacked_turns(tensors, iters, parallel_iterations, "pfor")
    result = [_of_all_turns(*pair) for pair in zip(nest.flatten(seen[0]), found)]
    return nest.pack_sequence_as(seen[0], result)


def _takes_config(function: Any) -> bool:
    while isinstance(function, functools.partial):
        if _CONFIG in function.keywords:
            return False
        function = function.func
    if not inspect.isroutine(function):
        function = function.__call__
    return _CONFIG in inspect.signature(function).parameters


def _as_tensor(output: Any) -> Any:
    """A tensor for what a turn gives; of an operation one that is there behind it."""
    if isinstance(output, SparseTensor):
        return tf.serialize_sparse(output)
    if not isinstance(output, Operation):
        return output
    with tf.control_dependencies([output]):
        return tf.constant(0)


def _of_all_turns(first: Any, rows: Any) -> Any:
    """What turns gave together, of what the first one gave and the tensor of all."""
    if isinstance(first, SparseTensor):
        return tf.deserialize_many_sparse(rows, first.dtype, first.get_shape().ndims)
    return rows.op if isinstance(first, Operation) else rows


def jacobian(
    output: Tensor, inputs: Any, use_pfor: bool = True, parallel_iterations: int | None = None
) -> Any:
    """The derivatives of every element of a tensor by every element of others.

    Args:
        output: the tensor.
        inputs: a tensor, or a structure of some.
        use_pfor: accepted; the gradients are made in a loop in any case.
        parallel_iterations: as of tf.while_loop.

    Returns:
        The structure of `inputs`: tensors of the output's shape followed by the input's, or None
        where the output does not depend on an input.
    """
    del use_pfor
    sources = nest.flatten(inputs)
    shape, flat = tf.shape(output), tf.reshape(output, [-1])
    count = _size(flat.shape[0].value, tf.size(output))
    found = stacked_turns(
        lambda i: [_dense_slices(g) for g in tf.gradients(tf.gather(flat, i), sources)],
        count,
        parallel_iterations,
        "jacobian",
    )
    for place, rows in enumerate(found):
        if rows is not None:
            rows = tf.reshape(rows, tf.concat([shape, tf.shape(rows)[1:]], 0))
            rows.set_shape(output.shape.concatenate(sources[place].shape))
            found[place] = rows
    return nest.pack_sequence_as(inputs, found)


def batch_jacobian(
    output: Tensor, inp: Tensor, use_pfor: bool = True, parallel_iterations: int | None = None
) -> Any:
    """The Jacobian of each row of a tensor by the same row of another.

    Args:
        output: a tensor [b, ...], of which each row depends on the same row of the input alone.
        inp: a tensor [b, ...].
        use_pfor: accepted; the gradients are made in a loop in any case.
        parallel_iterations: as of tf.while_loop.

    Returns:
        A tensor of the output's shape followed by that of the input's rows; None where the output
        does not depend on the input.

    Raises:
        ValueError: they have not as many rows.
    """
    del use_pfor
    if not output.shape[0].is_compatible_with(inp.shape[0]):
        raise ValueError(
            f"Need first dimension of output shape ({output.shape}) and inp shape ({inp.shape}) "
            "to match."
        )
    shape, width = tf.shape(output), output.shape[1:].num_elements()
    batch = _size(output.shape[0].value, shape[0])
    with tf.control_dependencies([tf.assert_equal(batch, tf.shape(inp)[0])]):
        width = _size(width, tf.size(output) // tf.maximum(batch, 1))
        flat = tf.reshape(output, [batch, width])
    (rows,) = stacked_turns(
        lambda i: [_dense_slices(tf.gradients(tf.gather(flat, i, axis=1), inp)[0])],
        width,
        parallel_iterations,
        "batch_jacobian",
    )
    if rows is None:
        return None
    by_rows = tf.transpose(tf.reshape(rows, [width, batch, -1]), [1, 0, 2])
    result = tf.reshape(by_rows, tf.concat([shape, tf.shape(inp)[1:]], 0))
    result.set_shape(output.shape.concatenate(inp.shape[1:]))
    return result


def _size(known: int | None, tensor: Any) -> Any:
    return tensor if known is None else known


def _dense_slices(value: Any) -> Any:
    return convert_to_tensor(value) if isinstance(value, IndexedSlices) else value
