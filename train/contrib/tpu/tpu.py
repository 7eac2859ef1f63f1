# SPDX-License-Identifier: Apache-2.0
"""Functions of TPU programs that mean something where there is no TPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....ops.public import tf
from .tpu_function import get_tpu_context

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor


@export("contrib.tpu.core", "tpu.core")
def core(num: int) -> str:
    """The device of a core of a TPU, by its number."""
    return f"device:TPU_REPLICATED_CORE:{num}"


@export("contrib.tpu.outside_compilation", "tpu.outside_compilation")
def outside_compilation(computation: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls a function: all is outside of a TPU here."""
    return computation(*args, **kwargs)


@export("contrib.tpu.cross_replica_sum", "tpu.cross_replica_sum")
def cross_replica_sum(x: Any, group_assignment: Any = None, name: str | None = None) -> Tensor:
    """The sum over replicas, of which there is one.

    Args:
        x: a tensor.
        group_assignment: groups of replicas.
        name: of the op.

    Returns:
        The tensor.

    Raises:
        NotImplementedError: within a tpu_shard_context of several shards.
    """
    del group_assignment
    if (get_tpu_context().number_of_shards or 1) > 1:
        raise NotImplementedError("tensors of several shards are added up by a TPU")
    return tf.identity(x, name=name or "CrossReplicaSum")
