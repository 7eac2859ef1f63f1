# SPDX-License-Identifier: Apache-2.0
"""An optimizer that would add up gradients of a TPU's cores; without one it passes them on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.interface import log
from ....ops.nn.losses_reduction import Reduction
from ...optimizers.optimizer import Optimizer
from .tpu_function import get_tpu_context

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation


@export("contrib.tpu.CrossShardOptimizer", "tpu.CrossShardOptimizer")
class CrossShardOptimizer(Optimizer):
    """The optimizer that it is given: there is one shard.

    Args:
        opt: an Optimizer.
        reduction: Reduction.MEAN or SUM, of the losses of shards.
        name: of the ops.
        group_assignment: groups of shards, [[0]] here.

    Raises:
        ValueError: the reduction is another.
    """

    def __init__(
        self,
        opt: Optimizer,
        reduction: str = Reduction.MEAN,
        name: str = "CrossShardOptimizer",
        group_assignment: list[list[int]] | None = None,
    ) -> None:
        if reduction not in (Reduction.SUM, Reduction.MEAN):
            raise ValueError(f"Unsupported reduction: {reduction}.")
        super().__init__(False, name)
        self._opt = opt
        self._reduction = reduction
        self._group_assignment = group_assignment

    def compute_gradients(  # type: ignore[override]
        self, loss: Any, var_list: Sequence[Any] | None = None, **kwargs: Any
    ) -> list[tuple[Any, Any]]:
        """The optimizer's gradients.

        Raises:
            ValueError: groups are of other shards than there are.
        """
        shards = get_tpu_context().number_of_shards
        if shards is None:
            log.warning(
                "CrossShardOptimizer should be used within a tpu_shard_context, but got unset "
                "number_of_shards. Assuming 1."
            )
            shards = 1
        size = _size_of_groups(self._group_assignment, shards)
        if shards > 1 and self._reduction == Reduction.MEAN:
            loss *= 1.0 / (size or shards)
        return self._opt.compute_gradients(loss, var_list=var_list, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Operation:
        """The optimizer's step.

        Raises:
            NotImplementedError: within a tpu_shard_context of several shards.
        """
        if (get_tpu_context().number_of_shards or 1) > 1:
            raise NotImplementedError("gradients of several shards are added up by a TPU")
        return self._opt.apply_gradients(grads_and_vars, global_step, name)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """The optimizer's slot."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
        """The names of the optimizer's slots."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> list[Any]:
        """The optimizer's variables."""
        return self._opt.variables()


def _size_of_groups(groups: object, shards: int) -> int | None:
    if not groups:
        return None
    if not (isinstance(groups, list) and all(isinstance(group, list) for group in groups)):
        raise ValueError(f"group_assignment must be a list of list. Got {groups}")
    if {i for group in groups for i in group} != set(range(shards)):
        raise ValueError(
            f"group_assignment must be a permutation of range({shards}). Got "
            f"group_assignment={groups}"
        )
    if len({len(group) for group in groups}) != 1:
        raise ValueError(
            "The size of each subgroup in group_assignment must be equal. Got "
            f"group_assignment={groups}"
        )
    return len(groups[0])
