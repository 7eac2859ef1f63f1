# SPDX-License-Identifier: Apache-2.0
"""Profiles of graphs: what they have of parameters, and how much they compute."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ....engine import errors
from ....engine.api import constant, export
from ....engine.graph.graph import get_default_graph
from ....io.files import GFile
from .counted import COLUMNS, counted
from .option_builder import (
    FLOAT_OPS_OPTIONS,
    PRINT_ALL_TIMING_MEMORY,
    TRAINABLE_VARS_PARAMS_STAT_OPTIONS,
    ProfileOptionBuilder,
)
from .views import View

if TYPE_CHECKING:
    from ....engine.graph.graph import Graph

__all__ = [
    "ALL_ADVICE",
    "FLOAT_OPS_OPTIONS",
    "PRINT_ALL_TIMING_MEMORY",
    "TRAINABLE_VARS_PARAMS_STAT_OPTIONS",
    "ProfileOptionBuilder",
    "print_model_analysis",
    "profile",
]

# What asks for the options of parameters.
_DEFAULT_PROFILE_OPTIONS = 0
ALL_ADVICE: dict[str, Any] = {
    "ExpensiveOperationChecker": {},
    "AcceleratorUtilizationChecker": {},
    "JobChecker": {},
    "OperationChecker": {},
}
constant("contrib.tfprof.model_analyzer.ALL_ADVICE", ALL_ADVICE)
_TIMES = "times and memory are in tf.Session.explain's report and in RunMetadata"


@export("profiler.profile")
def profile(
    graph: Graph | None = None,
    run_meta: Any = None,
    op_log: Any = None,
    cmd: str = "scope",
    options: Any = _DEFAULT_PROFILE_OPTIONS,
) -> Any:
    """Counts parameters and floating-point operations of a graph, and prints them.

    Args:
        graph: the graph; the default one if None.
        run_meta: a RunMetadata, whose shapes complete those of the graph.
        op_log: an OpLogProto, whose types and counts complete those of the graph.
        cmd: "scope" for a tree of name scopes, "op" for types of operations.
        options: what `tf.profiler.ProfileOptionBuilder` builds; parameters of trainable variables
            if not given.

    Returns:
        A GraphNodeProto, or of types a MultiGraphNodeProto: `total_parameters`, `total_float_ops`,
        and `children`.

    Raises:
        InvalidArgumentError: the command is another.
        NotImplementedError: the command or the options ask for times, memory or lines of code.

    Example:
        >>> w = tf.get_variable("w", [4, 3])
        >>> y = tf.matmul(tf.zeros([2, 4]), w)
        >>> options = tf.profiler.ProfileOptionBuilder.float_operation()
        >>> options["output"] = "none"
        >>> tf.profiler.profile(cmd="op", options=options).total_float_ops > 48
        True
        >>> tf.profiler.profile().total_parameters
        node name | # parameters
        _TFProfRoot (--/12 params)
          w (4x3, 12/12 params)
        12
    """
    from ....io import protos

    if cmd in ("code", "graph"):
        raise NotImplementedError(f"tf.profiler.profile: cmd={cmd!r} is not in numbaflow")
    if cmd not in ("scope", "op"):
        raise errors.invalid(f"unknown cmd: {cmd}\n")
    if options == _DEFAULT_PROFILE_OPTIONS:
        options = ProfileOptionBuilder.trainable_variables_parameter()
    _check(options)
    operations = counted(graph or get_default_graph(), op_log, run_meta)
    view = View(options, protos.GraphNodeProto if cmd == "scope" else protos.MultiGraphNodeProto)
    root = view.scopes(operations) if cmd == "scope" else view.types(operations)
    view.account(root)
    # The root itself is no operation.
    root.is_accounted = False
    view.shown(root)
    text = root.text if cmd == "scope" else view.table(root)
    _write(view.header() + text, options["output"])
    return root.message


def _check(options: dict[str, Any]) -> None:
    unknown = [column for column in options["select"] if column not in COLUMNS]
    if unknown:
        raise NotImplementedError(
            f"tf.profiler.profile: selecting {', '.join(unknown)} is not in numbaflow; {_TIMES}"
        )


def _write(text: str, output: str) -> None:
    kind, _, rest = output.partition(":")
    if kind == "none":
        return
    if kind == "stdout":
        sys.stdout.write(text)
        return
    path = rest.removeprefix("outfile=")
    if kind != "file" or not path:
        raise NotImplementedError(f"tf.profiler.profile: output {output!r} is not in numbaflow")
    with GFile(path, "w") as file:
        file.write(text)


@export("contrib.tfprof.model_analyzer.print_model_analysis")
def print_model_analysis(
    graph: Graph | None,
    run_meta: object = None,
    op_log: object = None,
    tfprof_cmd: str = "scope",
    tfprof_options: object = _DEFAULT_PROFILE_OPTIONS,
) -> Any:
    """What `tf.profiler.profile` was called before.

    Example:
        >>> w = tf.get_variable("w", [4, 3])
        >>> analyzer = tf.contrib.tfprof.model_analyzer
        >>> stats = analyzer.print_model_analysis(
        ...     tf.get_default_graph(), tfprof_options=analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS)
        node name | # parameters
        _TFProfRoot (--/12 params)
          w (4x3, 12/12 params)
        >>> stats.total_parameters
        12
    """
    return profile(graph, run_meta, op_log, tfprof_cmd, tfprof_options)
