# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.batching`: functions that are computed for the rows of several runs at once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ...engine.api import export
from ...engine.graph.graph import name_scope
from ...engine.graph.tensor import Tensor
from ...ops.flow.function_library import Defun
from ...ops.public import raw


def _require_tensors(args: Sequence[object]) -> None:
    for argument in args:
        if not isinstance(argument, Tensor):
            raise ValueError(
                "All arguments to functions decorated with `batch_function` are supposed to be "
                f"Tensors; found {argument!r}"
            )


@export("contrib.batching.batch_function", "nondifferentiable_batch_function")
def batch_function(
    num_batch_threads: int,
    max_batch_size: int,
    batch_timeout_micros: int,
    allowed_batch_sizes: Sequence[int] | None = None,
    max_enqueued_batches: int = 10,
    autograph: bool = True,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator of a function that is computed for the rows of several runs at once.

    Runs at the same time, of several threads, that call the function at one place are put together.

    Args:
        num_batch_threads: how many batches TensorFlow computes at a time; here each run that
            completes one computes it.
        max_batch_size: the most rows of a batch.
        batch_timeout_micros: how long the first run waits for others.
        allowed_batch_sizes: sizes that batches are filled up to, ascending, the last of which is
            `max_batch_size`.
        max_enqueued_batches: accepted, as nothing waits in line.
        autograph: accepted: loops and conditions are those of the graph.

    Returns:
        The decorator: the function then takes tensors, whose first axes have the rows.

    Raises:
        ValueError: an argument of the function is no Tensor.

    Example:
        >>> twice = tf.contrib.batching.batch_function(1, 8, 1000)(lambda x: x * 2)
        >>> tf.Session().run(twice(tf.constant([1, 2])))
        array([2, 4], dtype=int32)
    """
    del autograph

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Tensor) -> Any:
            _require_tensors(args)
            defined = Defun(*[argument.dtype for argument in args])(function)
            with name_scope(None, "batch") as scope:
                results = raw.BatchFunction(
                    list(args),
                    defined.captured_inputs,
                    f=defined,
                    num_batch_threads=num_batch_threads,
                    max_batch_size=max_batch_size,
                    batch_timeout_micros=batch_timeout_micros,
                    max_enqueued_batches=max_enqueued_batches,
                    allowed_batch_sizes=list(allowed_batch_sizes or []),
                    shared_name=scope,
                    Tout=[kind.type for kind in defined.definition.signature.output_arg],
                )
            return results[0] if len(results) == 1 else results

        return call

    return decorate


def batch_function_v1(
    num_batch_threads: int,
    max_batch_size: int,
    batch_timeout_micros: int,
    allowed_batch_sizes: Sequence[int] | None = None,
    grad_timeout_micros: int = 60 * 1000 * 1000,
    unbatch_timeout_micros: int = 60 * 1000 * 1000,
    max_enqueued_batches: int = 10,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The older `batch_function`, whose nodes stand in the graph itself and have gradients.

    Runs that do not compute the batch call the function with no rows.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Tensor) -> Any:
            with name_scope(None, "batch") as scope:
                _require_tensors(args)
            batched, index, key = raw.Batch(
                args,
                num_batch_threads=num_batch_threads,
                max_batch_size=max_batch_size,
                batch_timeout_micros=batch_timeout_micros,
                max_enqueued_batches=max_enqueued_batches,
                allowed_batch_sizes=list(allowed_batch_sizes or []),
                grad_timeout_micros=grad_timeout_micros,
                shared_name=scope,
            )
            outputs = function(*batched)
            is_one = isinstance(outputs, Tensor)
            with name_scope(None, "unbatch") as scope:
                results = [
                    raw.Unbatch(
                        output,
                        index,
                        key,
                        timeout_micros=unbatch_timeout_micros,
                        shared_name=f"{scope}/{output.name}",
                    )
                    for output in ([outputs] if is_one else outputs)
                ]
            return results[0] if is_one else results

        return call

    return decorate
