# SPDX-License-Identifier: Apache-2.0
"""`PartialRun`: a run in parts whose operations are on several tasks.

Each part is a run of the operations that it needs and no part before has run.  What later parts may
read of it comes back to the master, which feeds it to them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...engine import errors
from ...engine.session import run_order
from ...engine.types import dtypes
from ...io import protos
from .parted_run import Step
from .stages import is_free

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor

# make(operations, feeds, fetches) -> what runs them: function(values by name, step).
Make = Callable[[Sequence["Operation"], Sequence["Tensor"], Sequence["Tensor"]], Any]


class PartialRun:
    """What was fed and computed so far, and what may still be."""

    def __init__(
        self,
        make: Make,
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
    ) -> None:
        self._make, self._feeds = make, list(feeds)
        self._operations = run_order.needed_operations(list(fetches), list(targets), self._feeds)
        if any(op.definition.control_flow_role for op in self._operations):
            raise errors.unimplemented(
                "partial_run does not run graphs with branches, loops or TensorArrays"
            )
        self._known = set(fetches)
        self._left = set(fetches)
        self._values: dict[Tensor, Any] = {}
        self._done: set[Operation] = set()

    @property
    def finished(self) -> bool:
        """Whether everything was fed and fetched."""
        return not self._left and all(tensor in self._values for tensor in self._feeds)

    def advance(self, fetches: Sequence[Tensor], given: Mapping[Tensor, Any]) -> list[Any]:
        """Takes more feeds and gives the values asked for."""
        for tensor in given:
            if tensor not in self._feeds:
                raise errors.invalid(
                    f"The feed {tensor.name} was not specified in partial_run_setup."
                )
            if tensor in self._values:
                raise errors.invalid(f"The feed {tensor.name} has already been fed.")
        for tensor in fetches:
            if tensor not in self._left:
                problem = "has already been fetched"
                if tensor not in self._known:
                    problem = "was not specified in partial_run_setup"
                raise errors.invalid(f"The fetch {tensor.name} {problem}.")
        self._values.update(given)
        needed = run_order.needed_operations(
            list(fetches), [], [*self._feeds, *(t for t in self._values if t not in self._feeds)]
        )
        self._run([op for op in needed if op not in self._done], fetches)
        self._left.difference_update(fetches)
        if self.finished:
            # What nothing fetched waits for.
            self._run([op for op in self._operations if op not in self._done], ())
        return [self._values[tensor] for tensor in fetches]

    def _run(self, operations: Sequence[Operation], fetches: Sequence[Tensor]) -> None:
        """Runs some operations, each once."""
        chosen = set(operations)
        read = [t for op in operations for t in op._inputs_val if t.op not in chosen]
        feeds = list(dict.fromkeys([*read, *(t for t in self._feeds_of(operations))]))
        for tensor in [*feeds, *(t for t in fetches if t in self._feeds)]:
            if tensor not in self._values:
                raise self._missing(tensor, fetches)
        later = {
            t
            for op in self._operations
            if op not in chosen and op not in self._done
            for t in op._inputs_val
        }
        made = [t for op in operations for t in op.outputs if t in later and _is_value(t)]
        wanted = [t for t in dict.fromkeys([*fetches, *made]) if t not in self._values]
        if not chosen:
            return
        run = self._make(operations, feeds, wanted)
        values = {tensor.name: self._values[tensor] for tensor in feeds}
        options, metadata = protos.RunOptions(), protos.RunMetadata()
        self._values.update(zip(wanted, run(values, Step(options, metadata))))
        # What takes nothing is made again wherever it is used.
        self._done.update(op for op in operations if not is_free(op))

    def _feeds_of(self, operations: Sequence[Operation]) -> list[Tensor]:
        fed = set(self._feeds)
        return [t for op in operations for t in op._inputs_val if t in fed]

    def _missing(self, tensor: Tensor, fetches: Sequence[Tensor]) -> errors.OpError:
        if tensor in self._feeds:
            name = (*fetches, tensor)[0].name
            return errors.invalid(
                f"Fetch {name} can't be computed from the feeds that have been fed so far."
            )
        return errors.unimplemented(
            f"{tensor.name} is a reference or handle that one part of a run across tasks has made: "
            "it cannot be read by another part."
        )


def _is_value(tensor: Tensor) -> bool:
    is_state = tensor.dtype.base_dtype in (dtypes.resource, dtypes.variant)
    return not (is_state or tensor.dtype._is_ref_dtype)
