# SPDX-License-Identifier: Apache-2.0
"""`Trace`: what a run did on a task and when, under the names of the cluster's devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.session.run_metadata import traced
from ...io import protos

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from .task_session import TaskSession

# The task of all that the engine itself tells of.
_OWN = "/job:localhost/replica:0/task:0"


class Trace:
    """What is wanted to be known of a run, and what is."""

    def __init__(self, options: Any) -> None:
        """options: a RunOptions."""
        self.options, self.metadata = options, protos.RunMetadata()

    def of_run(
        self,
        session: TaskSession,
        task: str,
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        feeds: Mapping[Tensor, Any],
    ) -> list[Any]:
        """The values of a run of a task, which is noted."""
        wanted = [list(fetches), list(targets)]
        results: list[Any] = traced(session, wanted, dict(feeds), self.options, self.metadata)[0]
        for device in self.metadata.step_stats.dev_stats:
            device.device = device.device.replace(_OWN, task)
        return results


def wanted_of(options: Any) -> Trace | None:
    """A trace for an ExecutorOpts; None where nothing is to be known."""
    if not (options.record_timeline or options.record_partition_graphs):
        return None
    level = protos.RunOptions.FULL_TRACE if options.record_timeline else 0
    graphs = options.record_partition_graphs
    return Trace(protos.RunOptions(trace_level=level, output_partition_graphs=graphs))
