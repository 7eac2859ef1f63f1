# SPDX-License-Identifier: Apache-2.0
"""Input of strategies, and what their steps give."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.types import nest
from ...ops.data.dataset import DatasetV2
from . import strategy_context as modes
from .replica_values import PerReplica

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike


@export("distribute.InputReplicationMode")
class InputReplicationMode(enum.Enum):
    """Where input functions are called."""

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


@export("distribute.InputContext")
class InputContext:
    """What an input function may ask: which part of the input is its.

    Args:
        num_input_pipelines: how many parts there are.
        input_pipeline_id: which one it is.
        num_replicas_in_sync: how many replicas there are.
    """

    def __init__(
        self,
        num_input_pipelines: int = 1,
        input_pipeline_id: int = 0,
        num_replicas_in_sync: int = 1,
    ) -> None:
        self.num_input_pipelines = num_input_pipelines
        self.input_pipeline_id = input_pipeline_id
        self.num_replicas_in_sync = num_replicas_in_sync

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """A replica's share of a batch; ValueError if it does not divide."""
        if global_batch_size % self.num_replicas_in_sync:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size!r} is not divisible by "
                f"`num_replicas_in_sync` {self.num_replicas_in_sync!r} "
            )
        return global_batch_size // self.num_replicas_in_sync


def input_of(input_fn: Callable[[InputContext], Any], context: InputContext | None = None) -> Any:
    """What an input function gives."""
    found = input_fn(InputContext() if context is None else context)
    if not isinstance(found, DatasetV2) and not callable(found):
        raise ValueError("input_fn must return a tf.data.Dataset or a callable.")
    return found


class InputIterator:
    """An iterator of a dataset, or of what a function gives with each call."""

    def __init__(self, source: Any) -> None:
        self._next: Callable[[], Any] = source
        self._start: list[Any] = []
        if isinstance(source, DatasetV2):
            dataset: Any = source
            iterator = dataset._make_initializable_iterator(None)
            self._start, self._next = [iterator.initializer], iterator.get_next

    def initialize(self) -> list[Any]:
        """The ops that start it."""
        return self._start

    @property
    def initializer(self) -> list[Any]:
        """The ops that start it."""
        return self._start

    def get_next(self) -> Any:
        """The next element."""
        return self._next()


class MultiStepContext:
    """What steps of a loop give beside their ops: outputs of the last one."""

    def __init__(self) -> None:
        self._last_step_outputs: dict[str, Any] = {}
        self._carried: Any = None
        self._non_tensor_outputs: dict[str, Any] = {}
        self.run_op: Any = None

    @property
    def last_step_outputs(self) -> dict[str, Any]:
        """The outputs by name."""
        return self._last_step_outputs

    def carried(self, extended: Any) -> Any:
        """What a loop carries of the outputs: those of replicas as the values of each."""
        if not extended.is_mirrored:
            self._carried = self._last_step_outputs
        else:
            self._carried = nest.map_structure(extended.local_results, self._last_step_outputs)
        return self._carried

    def take_outputs(self, extended: Any, found: Sequence[Any]) -> None:
        """Puts the loop's outputs in the place of the step's."""
        packed = nest.pack_sequence_as(self._carried, found)
        if extended.is_mirrored:
            packed = {name: _joined(extended, one) for name, one in packed.items()}
        self._last_step_outputs = packed

    def set_last_step_output(self, name: str, output: TensorLike, reduce_op: Any = None) -> None:
        """Says what an output is, and how those of replicas become one.

        Raises:
            ValueError: it is a replica's, and nothing says how.
        """

        def reduced(strategy: Any, value: Any) -> None:
            if reduce_op is not None:
                value = strategy.reduce(reduce_op, value, axis=None)
            self._last_step_outputs[name] = value

        if reduce_op is None and modes.get_replica_context() is not None:
            raise ValueError(f"{name} of replicas becomes one output by a reduce_op, which is None")
        _outside(reduced, output)

    @property
    def non_tensor_outputs(self) -> dict[str, Any]:
        """Outputs that are no tensors, by name; of replicas the values of each."""
        return self._non_tensor_outputs

    def set_non_tensor_output(self, name: str, output: object) -> None:
        """Says what such an output is."""
        if modes.get_replica_context() is None:
            self._non_tensor_outputs[name] = output
            return

        def each(strategy: Any, value: Any) -> None:
            self._non_tensor_outputs[name] = strategy.experimental_local_results(value)

        _outside(each, output)


def _outside(function: Callable[[Any, Any], None], output: Any) -> None:
    """Calls a function of the strategy and an output, outside of replicas."""
    context = modes.get_replica_context()
    if context is None:
        function(modes.get_strategy(), output)
    else:
        context.merge_call(function, args=(output,))


def _joined(extended: Any, values: Any) -> Any:
    """A loop's output: what was one is one, and the values of replicas are theirs."""
    if isinstance(values, tuple):
        return values[0] if len(values) == 1 else PerReplica(extended.worker_devices, values)
    return values
