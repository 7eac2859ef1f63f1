# SPDX-License-Identifier: Apache-2.0
"""Profiles of graphs: what they have of parameters, how much they compute, and how long it took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine import errors
from ....engine.api import constant, export
from ....engine.graph.graph import get_default_graph
from . import advice
from .counted import ONLY_STEP, Counted, add_step, counted, learn_shapes
from .option_builder import (
    FLOAT_OPS_OPTIONS,
    PRINT_ALL_TIMING_MEMORY,
    TRAINABLE_VARS_PARAMS_STAT_OPTIONS,
    ProfileOptionBuilder,
)
from .reports import report

if TYPE_CHECKING:
    from ....engine.graph.graph import Graph

__all__ = [
    "ALL_ADVICE",
    "FLOAT_OPS_OPTIONS",
    "PRINT_ALL_TIMING_MEMORY",
    "TRAINABLE_VARS_PARAMS_STAT_OPTIONS",
    "ProfileOptionBuilder",
    "Profiler",
    "advise",
    "print_model_analysis",
    "profile",
]

# What asks for the options of parameters, and for all advice.
_DEFAULT_PROFILE_OPTIONS = 0
_DEFAULT_ADVISE_OPTIONS = 0
ALL_ADVICE: dict[str, Any] = {
    "ExpensiveOperationChecker": {},
    "AcceleratorUtilizationChecker": {},
    "JobChecker": {},
    "OperationChecker": {},
}
constant("contrib.tfprof.model_analyzer.ALL_ADVICE", ALL_ADVICE)


@export("profiler.profile")
def profile(
    graph: Graph | None = None,
    run_meta: Any = None,
    op_log: Any = None,
    cmd: str = "scope",
    options: Any = _DEFAULT_PROFILE_OPTIONS,
) -> Any:
    """Counts parameters, operations, time and memory of a graph, and prints them.

    Args:
        graph: the graph; the default one if None.
        run_meta: a RunMetadata of a run with a full trace, which tells times, memory and shapes.
        op_log: an OpLogProto, whose types and counts complete those of the graph.
        cmd: "scope" for a tree of name scopes, "graph" for one from results to what they are made
            of, "op" for types of operations, "code" for lines of the program.
        options: what `tf.profiler.ProfileOptionBuilder` builds; parameters of trainable variables
            if not given.

    Returns:
        A GraphNodeProto, or of types and lines a MultiGraphNodeProto: `total_parameters`,
        `total_float_ops`, `total_exec_micros` and others, and `children`.

    Raises:
        InvalidArgumentError: the command is another.
        NotImplementedError: the options ask for values of checkpoints, or for a file of pprof.

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
    if cmd not in ("scope", "graph", "op", "code"):
        raise errors.invalid(f"unknown cmd: {cmd}\n")
    if options == _DEFAULT_PROFILE_OPTIONS:
        options = ProfileOptionBuilder.trainable_variables_parameter()
    operations = counted(graph or get_default_graph(), op_log, run_meta)
    return report(operations, cmd, options, [] if run_meta is None else [ONLY_STEP])


@export("profiler.advise", "contrib.tfprof.model_analyzer.advise")
def advise(
    graph: Graph | None = None, run_meta: Any = None, options: Any = _DEFAULT_ADVISE_OPTIONS
) -> Any:
    """Says what took long in a run, and what may be made faster; prints it, too.

    Args:
        graph: the graph; the default one if None.
        run_meta: a RunMetadata of a run with a full trace.
        options: a dictionary whose keys are the checkers that are asked; all if not given.

    Returns:
        An AdviceProto: `checkers`, each with `reports`.

    Example:
        >>> y = tf.add(1.0, 2.0)
        >>> found = tf.profiler.advise(options={"OperationChecker": {}})
        OperationChecker:
        >>> list(found.checkers["OperationChecker"].reports)
        []
    """
    chosen = ALL_ADVICE if options == _DEFAULT_ADVISE_OPTIONS else options or {}
    operations = counted(graph or get_default_graph(), None, run_meta)
    return advice.advise(operations, chosen)


@export("profiler.Profiler", "contrib.tfprof.model_analyzer.Profiler")
class Profiler:
    """Profiles of several steps of a program.

    Args:
        graph: the graph; the default one if None.
        op_log: an OpLogProto, whose types and counts complete those of the graph.

    Example:
        >>> y = tf.add(tf.placeholder(tf.float32), 2.0)
        >>> profiler = tf.profiler.Profiler()
        >>> for step in range(2):
        ...     metadata = tf.RunMetadata()
        ...     options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        ...     with tf.Session() as session:
        ...         value = session.run(y, {"Placeholder:0": 1.0}, options, metadata)
        ...     profiler.add_step(step, metadata)
        >>> builder = tf.profiler.ProfileOptionBuilder
        >>> options = builder(builder.time_and_memory()).with_empty_output().build()
        >>> profiler.profile_operations(options).children[0].exec_micros > 0
        True
    """

    def __init__(self, graph: Graph | None = None, op_log: Any = None) -> None:
        self._graph = graph or get_default_graph()
        self._op_log = op_log
        self._coverage = 0.0
        self._metadata: list[tuple[int, Any]] = []
        self._steps: list[int] = []

    def add_step(self, step: int, run_meta: Any) -> None:
        """Adds what a run tells.

        Args:
            step: a number; what several runs tell may belong to one.
            run_meta: the RunMetadata of a run with a full trace.
        """
        self._metadata.append((step, run_meta))
        self._steps = sorted({*self._steps, step})
        self._coverage = self._told()[1]

    def _told(self) -> tuple[list[Counted], float]:
        """The operations, with all that runs told; which part of them ran."""
        for _, run_meta in self._metadata:
            learn_shapes(self._graph, run_meta)
        found = {entry.name: entry for entry in counted(self._graph, self._op_log, None)}
        ran = 0.0
        for step, run_meta in self._metadata:
            ran = add_step(found, step, run_meta)
        return list(found.values()), ran

    def _profile(self, cmd: str, options: dict[str, Any]) -> Any:
        return report(self._told()[0], cmd, options, self._steps)

    def profile_python(self, options: dict[str, Any]) -> Any:
        """The program's lines, as a MultiGraphNodeProto; options as of `tf.profiler.profile`."""
        return self._profile("code", options)

    def profile_operations(self, options: dict[str, Any]) -> Any:
        """Types of operations, as a MultiGraphNodeProto; options as of `tf.profiler.profile`."""
        return self._profile("op", options)

    def profile_name_scope(self, options: dict[str, Any]) -> Any:
        """Name scopes, as a GraphNodeProto; options as of `tf.profiler.profile`."""
        return self._profile("scope", options)

    def profile_graph(self, options: dict[str, Any]) -> Any:
        """From results to what they are made of, as a GraphNodeProto; options likewise."""
        return self._profile("graph", options)

    def advise(self, options: dict[str, Any]) -> Any:
        """What `tf.profiler.advise` says of all steps, as an AdviceProto."""
        return advice.advise(self._told()[0], options)

    def serialize_to_string(self) -> bytes:
        """All that is known, as the text of a ProfileProto, which tools of TensorFlow read."""
        from .messages import profile_message

        return bytes(profile_message(self._told()[0], self._steps).SerializeToString())

    def _write_profile(self, filename: str) -> None:
        from ....io.files import GFile

        with GFile(filename, "wb") as file:
            file.write(self.serialize_to_string())


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
