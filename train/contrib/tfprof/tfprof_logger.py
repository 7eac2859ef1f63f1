# SPDX-License-Identifier: Apache-2.0
"""Logs of what operations are, beside event files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ....engine.api import export
from ....engine.graph.graph import get_default_graph
from ....io.files import GFile
from .counted import counted

if TYPE_CHECKING:
    from ....engine.graph.graph import Graph


@export("profiler.write_op_log", "contrib.tfprof.tfprof_logger.write_op_log")
def write_op_log(
    graph: Graph | None,
    log_dir: str,
    op_log: object = None,
    run_meta: object = None,
    add_trace: bool = True,
) -> None:
    """Writes an OpLogProto with types and floating-point operations into "tfprof_log".

    Args:
        graph: the graph; the default one if None.
        log_dir: the folder, which must be there.
        op_log: an OpLogProto, which is completed.
        run_meta: a RunMetadata, whose shapes complete those of the graph.
        add_trace: accepted; lines of code are not written.
    """
    from ....io import protos

    del add_trace
    message = protos.OpLogProto()
    for counts in counted(graph or get_default_graph(), op_log, run_meta):
        types = sorted(kind for kind in counts.types if kind.startswith("_"))
        if types or counts.float_ops:
            message.log_entries.add(name=counts.name, float_ops=counts.float_ops, types=types)
    with GFile(os.path.join(log_dir, "tfprof_log"), "wb") as file:
        file.write(message.SerializeToString())
