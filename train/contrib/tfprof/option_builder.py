# SPDX-License-Identifier: Apache-2.0
"""Options of profiles: dictionaries, and what builds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....engine.api import constant, export

TRAINABLE_VARIABLES = "_trainable_variables"
# All options; the others are said by what differs.
_COMMON: dict[str, Any] = {
    "max_depth": 10000,
    "min_bytes": 0,
    "min_micros": 0,
    "min_params": 0,
    "min_float_ops": 0,
    "order_by": "name",
    "account_type_regexes": [".*"],
    "start_name_regexes": [".*"],
    "trim_name_regexes": [],
    "show_name_regexes": [".*"],
    "hide_name_regexes": [],
    "account_displayed_op_only": True,
    "output": "stdout",
}
_PARAMETERS = {"account_type_regexes": [TRAINABLE_VARIABLES], "select": ["params"]}
_FLOAT_OPS = {"min_float_ops": 1, "order_by": "float_ops", "select": ["float_ops"]}
_TIMES = {"min_bytes": 1, "min_micros": 1, "select": ["micros", "bytes"]}
_DEPRECATED = {"dump_to_file": ""}
TRAINABLE_VARS_PARAMS_STAT_OPTIONS = {**_COMMON, **_PARAMETERS, **_DEPRECATED}
FLOAT_OPS_OPTIONS = {**_COMMON, **_FLOAT_OPS, **_DEPRECATED}
PRINT_ALL_TIMING_MEMORY = {**_COMMON, **_TIMES, **_DEPRECATED}
_ANALYZER = "contrib.tfprof.model_analyzer"
constant(f"{_ANALYZER}.TRAINABLE_VARS_PARAMS_STAT_OPTIONS", TRAINABLE_VARS_PARAMS_STAT_OPTIONS)
constant(f"{_ANALYZER}.FLOAT_OPS_OPTIONS", FLOAT_OPS_OPTIONS)
constant(f"{_ANALYZER}.PRINT_ALL_TIMING_MEMORY", PRINT_ALL_TIMING_MEMORY)


@export("profiler.ProfileOptionBuilder")
class ProfileOptionBuilder:
    """Builds the options of `tf.profiler.profile`; its methods give the object itself.

    Args:
        options: options to begin with.

    Example:
        >>> builder = tf.profiler.ProfileOptionBuilder
        >>> options = builder(builder.float_operation()).with_empty_output().build()
        >>> options["select"], options["output"]
        (['float_ops'], 'none')
    """

    def __init__(self, options: dict[str, Any] | None = None) -> None:
        if options is None:
            options = {**_COMMON, "min_occurrence": 0, "select": ["micros"], "step": -1}
        self._options = dict(options)

    @staticmethod
    def trainable_variables_parameter() -> dict[str, Any]:
        """Options that count the elements of variables that are trained."""
        return {**_COMMON, **_PARAMETERS, "min_occurrence": 0, "step": -1}

    @staticmethod
    def float_operation() -> dict[str, Any]:
        """Options that count floating-point operations."""
        return {**_COMMON, **_FLOAT_OPS, "min_occurrence": 0, "step": -1}

    @staticmethod
    def time_and_memory(
        min_micros: int = 1,
        min_bytes: int = 1,
        min_accelerator_micros: int = 0,
        min_cpu_micros: int = 0,
        min_peak_bytes: int = 0,
        min_residual_bytes: int = 0,
        min_output_bytes: int = 0,
    ) -> dict[str, Any]:
        """Options that ask for the time and memory of runs whose RunMetadata there is."""
        least = {
            "min_micros": min_micros,
            "min_bytes": min_bytes,
            "min_accelerator_micros": min_accelerator_micros,
            "min_cpu_micros": min_cpu_micros,
            "min_peak_bytes": min_peak_bytes,
            "min_residual_bytes": min_residual_bytes,
            "min_output_bytes": min_output_bytes,
        }
        return {**_COMMON, **_TIMES, **least, "order_by": "micros", "step": -1}

    def build(self) -> dict[str, Any]:
        """The options."""
        return dict(self._options)

    def _with(self, **options: Any) -> ProfileOptionBuilder:
        self._options.update(options)
        return self

    def with_max_depth(self, max_depth: int) -> ProfileOptionBuilder:
        """Shows so many levels."""
        return self._with(max_depth=max_depth)

    def with_min_memory(
        self,
        min_bytes: int = 0,
        min_peak_bytes: int = 0,
        min_residual_bytes: int = 0,
        min_output_bytes: int = 0,
    ) -> ProfileOptionBuilder:
        """Shows what takes so much memory."""
        return self._with(
            min_bytes=min_bytes,
            min_peak_bytes=min_peak_bytes,
            min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes,
        )

    def with_min_execution_time(
        self, min_micros: int = 0, min_accelerator_micros: int = 0, min_cpu_micros: int = 0
    ) -> ProfileOptionBuilder:
        """Shows what takes so long."""
        return self._with(
            min_micros=min_micros,
            min_accelerator_micros=min_accelerator_micros,
            min_cpu_micros=min_cpu_micros,
        )

    def with_min_parameters(self, min_params: int) -> ProfileOptionBuilder:
        """Shows what has so many parameters."""
        return self._with(min_params=min_params)

    def with_min_occurrence(self, min_occurrence: int) -> ProfileOptionBuilder:
        """Shows what is there so often."""
        return self._with(min_occurrence=min_occurrence)

    def with_min_float_operations(self, min_float_ops: int) -> ProfileOptionBuilder:
        """Shows what takes so many floating-point operations."""
        return self._with(min_float_ops=min_float_ops)

    def with_accounted_types(self, account_type_regexes: Sequence[str]) -> ProfileOptionBuilder:
        """Counts operations whose types these patterns match."""
        return self._with(account_type_regexes=list(account_type_regexes))

    def with_node_names(
        self,
        start_name_regexes: Sequence[str] | None = None,
        show_name_regexes: Sequence[str] | None = None,
        hide_name_regexes: Sequence[str] | None = None,
        trim_name_regexes: Sequence[str] | None = None,
    ) -> ProfileOptionBuilder:
        """Where to begin, what to show, what to hide, and where to end, by patterns of names."""
        given = {
            "start_name_regexes": start_name_regexes,
            "show_name_regexes": show_name_regexes,
            "hide_name_regexes": hide_name_regexes,
            "trim_name_regexes": trim_name_regexes,
        }
        return self._with(**{key: list(value) for key, value in given.items() if value is not None})

    def account_displayed_op_only(self, is_true: bool) -> ProfileOptionBuilder:
        """Whether only what is shown is counted."""
        return self._with(account_displayed_op_only=is_true)

    def with_empty_output(self) -> ProfileOptionBuilder:
        """Prints nothing."""
        return self._with(output="none")

    def with_stdout_output(self) -> ProfileOptionBuilder:
        """Prints."""
        return self._with(output="stdout")

    def with_file_output(self, outfile: str) -> ProfileOptionBuilder:
        """Writes into a file."""
        return self._with(output=f"file:outfile={outfile}")

    def with_timeline_output(self, timeline_file: str) -> ProfileOptionBuilder:
        """Writes a timeline for Chrome's page of traces; the step is added to the file's name."""
        return self._with(output=f"timeline:outfile={timeline_file}")

    def with_pprof_output(self, pprof_file: str) -> ProfileOptionBuilder:
        """Asks for a file of pprof, which profiles here do not write."""
        return self._with(output=f"pprof:outfile={pprof_file}")

    def order_by(self, attribute: str) -> ProfileOptionBuilder:
        """Sorts by "name", "params", "float_ops", "micros", "bytes", "occurrence" and others."""
        return self._with(order_by=attribute)

    def select(self, attributes: Sequence[str]) -> ProfileOptionBuilder:
        """Shows these columns."""
        return self._with(select=list(attributes))

    def with_step(self, step: int) -> ProfileOptionBuilder:
        """Asks for one step's."""
        return self._with(step=step)
