# SPDX-License-Identifier: Apache-2.0
"""Which tensors a run writes to files: what adds watches to a tf.RunOptions, as tfdbg has it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...engine.graph.graph import Graph
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor

Names = str | Sequence[str] | None


def _listed(names: Names) -> list[str]:
    return [names] if isinstance(names, str) else list(names or ())


def add_debug_tensor_watch(
    run_options: Any,
    node_name: str,
    output_slot: int = 0,
    debug_ops: Names = "DebugIdentity",
    debug_urls: Names = None,
    tolerate_debug_op_creation_failures: bool = False,
    global_step: int = -1,
) -> None:
    """Adds one output of an operation to what a run writes.

    Args:
        run_options: the tf.RunOptions that is changed.
        node_name: the operation's name; "*" means all.
        output_slot: which output; -1 means all.
        debug_ops: what is written of a value: "DebugIdentity", the value itself, "DebugNanCount" or
            "DebugNumericSummary", perhaps with settings (io/debug_summaries.py).
        debug_urls: where to: "file:///tmp/dump".
        tolerate_debug_op_creation_failures: written to the options.
        global_step: written to the options if it is not negative.
    """
    debug = run_options.debug_options
    watch = debug.debug_tensor_watch_opts.add(node_name=node_name, output_slot=output_slot)
    watch.tolerate_debug_op_creation_failures = tolerate_debug_op_creation_failures
    watch.debug_ops.extend(_listed(debug_ops))
    watch.debug_urls.extend(_listed(debug_urls))
    if global_step >= 0:
        debug.global_step = global_step


def watch_graph(
    run_options: Any,
    graph: Graph,
    debug_ops: Names = "DebugIdentity",
    debug_urls: Names = None,
    node_name_regex_whitelist: str | None = None,
    op_type_regex_whitelist: str | None = None,
    tensor_dtype_regex_whitelist: str | None = None,
    tolerate_debug_op_creation_failures: bool = False,
    global_step: int = -1,
    reset_disk_byte_usage: bool = False,
) -> None:
    """Watches all tensors of a graph, or those that all given patterns match.

    Args:
        run_options: the tf.RunOptions that is changed.
        graph: whose tensors.
        debug_ops, debug_urls, tolerate_debug_op_creation_failures, global_step: as in
            add_debug_tensor_watch.
        node_name_regex_whitelist, op_type_regex_whitelist, tensor_dtype_regex_whitelist:
            patterns that begin the operation's name, its type and the name of the tensor's type.
        reset_disk_byte_usage: written to the options.

    Raises:
        ValueError: there are no debug_ops or no debug_urls.
    """
    for what, given in (("debug_ops", debug_ops), ("debug_urls", debug_urls)):
        if not given:
            raise ValueError(f"{what} must not be empty or None.")
    tests = _tests(node_name_regex_whitelist, op_type_regex_whitelist, tensor_dtype_regex_whitelist)
    common = (debug_ops, debug_urls, tolerate_debug_op_creation_failures, global_step)
    for op, slot, tensor in _outputs(graph):
        if all(test(op, tensor) for test in tests):
            add_debug_tensor_watch(run_options, op.name, slot, *common)
    if not tests:
        add_debug_tensor_watch(run_options, "*", -1, *common)
    run_options.debug_options.reset_disk_byte_usage = reset_disk_byte_usage


def watch_graph_with_blacklists(
    run_options: Any,
    graph: Graph,
    debug_ops: Names = "DebugIdentity",
    debug_urls: Names = None,
    node_name_regex_blacklist: str | None = None,
    op_type_regex_blacklist: str | None = None,
    tensor_dtype_regex_blacklist: str | None = None,
    tolerate_debug_op_creation_failures: bool = False,
    global_step: int = -1,
    reset_disk_byte_usage: bool = False,
) -> None:
    """Watches all tensors of a graph but those that any of the given patterns matches.

    Args:
        run_options: the tf.RunOptions that is changed.
        graph: whose tensors.
        debug_ops, debug_urls, tolerate_debug_op_creation_failures, global_step: as in
            add_debug_tensor_watch.
        node_name_regex_blacklist, op_type_regex_blacklist, tensor_dtype_regex_blacklist:
            patterns that begin the operation's name, its type and the name of the tensor's type.
        reset_disk_byte_usage: written to the options.
    """
    tests = _tests(node_name_regex_blacklist, op_type_regex_blacklist, tensor_dtype_regex_blacklist)
    common = (debug_ops, debug_urls, tolerate_debug_op_creation_failures, global_step)
    for op, slot, tensor in _outputs(graph):
        if not any(test(op, tensor) for test in tests):
            add_debug_tensor_watch(run_options, op.name, slot, *common)
    run_options.debug_options.reset_disk_byte_usage = reset_disk_byte_usage


def _outputs(graph: Graph) -> Iterator[tuple[Operation, int, Tensor]]:
    for op in graph.get_operations():
        for slot, tensor in enumerate(op.outputs):
            yield op, slot, tensor


def _tests(
    name: str | None, kind: str | None, dtype: str | None
) -> list[Callable[[Operation, Tensor], Any]]:
    found: list[Callable[[Operation, Tensor], Any]] = []
    if name:
        names = re.compile(name)
        found.append(lambda op, tensor: names.match(op.name))
    if kind:
        kinds = re.compile(kind)
        found.append(lambda op, tensor: kinds.match(op.type))
    if dtype:
        dtypes = re.compile(dtype)
        found.append(lambda op, tensor: dtypes.match(tensor.dtype.name))
    return found


class WatchOptions:
    """What a function of a debugging session answers: which tensors of a run are watched."""

    def __init__(
        self,
        debug_ops: Names = None,
        node_name_regex_whitelist: str | None = None,
        op_type_regex_whitelist: str | None = None,
        tensor_dtype_regex_whitelist: str | None = None,
        tolerate_debug_op_creation_failures: bool = False,
    ) -> None:
        self.debug_ops = debug_ops or ["DebugIdentity"]
        self.node_name_regex_whitelist = node_name_regex_whitelist
        self.op_type_regex_whitelist = op_type_regex_whitelist
        self.tensor_dtype_regex_whitelist = tensor_dtype_regex_whitelist
        self.tolerate_debug_op_creation_failures = tolerate_debug_op_creation_failures

    def __repr__(self) -> str:
        return f"WatchOptions({', '.join(f'{k}={v!r}' for k, v in vars(self).items())})"
