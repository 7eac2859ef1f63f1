# SPDX-License-Identifier: Apache-2.0
"""Which server a variable goes to: `ps_strategy` of tf.train.replica_device_setter."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ....engine.api import export
from ....engine.types.shape import TensorShape

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation


@export("contrib.training.RandomStrategy")
class RandomStrategy:
    """A server at random, by a hash of the operation's name: the same in every run.

    Args:
        num_ps_tasks: the number of servers.
        seed: another number gives other servers.

    Example:
        >>> strategy = tf.contrib.training.RandomStrategy(3, seed=0)
        >>> strategy(tf.Variable(0.0, name="v").op)
        2
    """

    def __init__(self, num_ps_tasks: int, seed: int = 0) -> None:
        self._num_tasks = num_ps_tasks
        self._seed = seed

    def __call__(self, op: Operation) -> int:
        """The number of the server for an operation."""
        key = f"{op.name}_{self._seed}".encode()
        # Not for secrecy; Python's own hash of texts differs from process to process.
        digest = hashlib.md5(key, usedforsecurity=False).hexdigest()
        return int(digest, 16) % self._num_tasks


@export("contrib.training.GreedyLoadBalancingStrategy")
class GreedyLoadBalancingStrategy:
    """The server that has the least so far, in the order in which operations come.

    Args:
        num_tasks: the number of servers.
        load_fn: a function from an operation to its load, such as `byte_size_load_fn`.

    Example:
        >>> training = tf.contrib.training
        >>> strategy = training.GreedyLoadBalancingStrategy(2, training.byte_size_load_fn)
        >>> [int(strategy(tf.zeros([n]).op)) for n in (9, 5, 3, 2)]
        [0, 1, 1, 1]
    """

    def __init__(self, num_tasks: int, load_fn: Callable[[Operation], float]) -> None:
        self._num_tasks = num_tasks
        self._load_fn = load_fn
        self._ps_loads = np.zeros(num_tasks)

    def __call__(self, op: Operation) -> int:
        """The number of the server for an operation, which is then counted there."""
        task = np.argmin(self._ps_loads)
        self._ps_loads[task] += self._load_fn(op)
        return task  # type: ignore[return-value]


@export("contrib.training.byte_size_load_fn")
def byte_size_load_fn(op: Operation) -> int:
    """The bytes of what an operation gives.

    Args:
        op: an operation with one output, such as a variable's.

    Raises:
        ValueError: it has another number of outputs, or their shape is not known.
    """
    if len(op.outputs) != 1:
        raise ValueError(f"Op {op} must have a single output")
    output = op.outputs[0]
    shape = output.shape
    if not shape.is_fully_defined():
        shape = TensorShape(op.get_attr("shape"))
    shape.assert_is_fully_defined()
    return shape.num_elements() * output.dtype.size  # type: ignore[operator]
