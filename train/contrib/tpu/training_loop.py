# SPDX-License-Identifier: Apache-2.0
"""Loops of training, as ordinary loops of the graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....engine.api import export
from ....engine.graph.operation import Operation
from ....engine.types.nest import as_list
from ....ops.public import tf


def _outputs(found: object, dtypes: list[Any]) -> Any:
    """What a body gave: tensors, which wait for the ops that it gave with them."""
    outputs = as_list(found)
    converted = [o if isinstance(o, Operation) else tf.convert_to_tensor(o) for o in outputs]
    ops = [o for o in converted if isinstance(o, Operation)]
    tensors: Any = [o for o in converted if not isinstance(o, Operation)]
    if converted != tensors + ops:
        raise ValueError(
            "TPU training loop body must return zero or more Tensor values followed by zero or "
            "more Operations."
        )
    if [tensor.dtype for tensor in tensors] != dtypes:
        raise TypeError(
            "Mismatch between input types and output types for training loop body: "
            f"{dtypes} vs {[tensor.dtype for tensor in tensors]}"
        )
    tensors = tensors or [tf.constant(0)]
    return tf.tuple(tensors, control_inputs=ops) if ops else tensors


@export("contrib.tpu.while_loop")
def while_loop(
    condition: Callable[..., Any],
    body: Callable[..., Any],
    inputs: Sequence[Any] | None = None,
    infeed_queue: object = None,
    name: str | None = None,
) -> Any:
    """A loop of one step after another.

    Args:
        condition: a function from the loop's tensors to whether it goes on.
        body: a function from the loop's tensors to the next ones, and to ops to run.
        inputs: the first tensors.
        infeed_queue: the queue of a TPU, of which there is none: None.
        name: unused.

    Returns:
        The last tensors.

    Raises:
        NotImplementedError: there is a queue.
        TypeError: the body gives tensors of other dtypes.
    """
    del name
    if infeed_queue is not None:
        raise NotImplementedError("an infeed queue needs a TPU")
    given = [tf.convert_to_tensor(x) for x in inputs or ()]
    dtypes = [tensor.dtype for tensor in given]
    # A loop without tensors counts nothing, for its ops' sake.
    taken = len(given)
    return tf.while_loop(
        lambda *tensors: condition(*tensors[:taken]),
        lambda *tensors: _outputs(body(*tensors[:taken]), dtypes),
        given or [tf.constant(0)],
        parallel_iterations=1,
        name="",
    )


@export("contrib.tpu.repeat")
def repeat(
    n: object,
    body: Callable[..., Any],
    inputs: object = None,
    infeed_queue: object = None,
    name: str | None = None,
) -> Any:
    """A loop of so many steps; arguments as of `while_loop`.

    Args:
        n: how many.
        body, inputs, infeed_queue, name: as of `while_loop`.

    Returns:
        The last tensors, or the op of the loop if there are none.
    """

    outputs = as_list(
        while_loop(
            lambda i, *unused: i < n,
            lambda i, *tensors: [i + 1, *as_list(body(*tensors))],
            [0, *([] if inputs is None else as_list(inputs))],
            infeed_queue,
            name,
        )
    )
    return outputs[0].op if len(outputs) == 1 else outputs[1:]
