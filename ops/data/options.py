# SPDX-License-Identifier: Apache-2.0
"""The options of datasets.  They are kept and become attributes of nodes, as in TensorFlow."""

from __future__ import annotations

from typing import Any

from ...engine.api import export
from .options_base import OptionsBase, create_option, merge_options

_FUSIONS = {
    "filter_fusion": "Whether filters become one.",
    "filter_with_random_uniform_fusion": "Whether filters of random numbers become samplers.",
    "hoist_random_uniform": "Whether random numbers are drawn outside of functions.",
    "map_and_batch_fusion": "Whether a map and the batch behind it become one; None: yes.",
    "map_and_filter_fusion": "Whether a map and the filter behind it become one.",
    "map_fusion": "Whether maps become one.",
    "map_parallelization": "Whether functions without state are called in several threads.",
    "noop_elimination": "Whether what changes nothing is left out; None: yes.",
    "parallel_batch": "Whether elements are copied into batches in several threads.",
    "shuffle_and_repeat_fusion": "Whether a shuffle and the repeat behind it are one; None: yes.",
}
_DEFAULT = ("map_and_batch_fusion", "noop_elimination", "shuffle_and_repeat_fusion")


def define_flags(kind: type, flags: dict[str, str]) -> None:
    for name, text in flags.items():
        setattr(kind, name, create_option(name, bool, text))


@export("data.experimental.DistributeOptions")
class DistributeOptions(OptionsBase):
    """How a dataset is read by several workers."""

    auto_shard = create_option(
        "auto_shard", bool, "Whether each worker reads a part; None: yes.", lambda: True
    )
    _make_stateless = create_option(
        "_make_stateless", bool, "Whether transformations with state are replaced."
    )
    num_devices = create_option("num_devices", int, "The number of devices that are fed.")


@export("data.experimental.MapVectorizationOptions")
class MapVectorizationOptions(OptionsBase):
    """Whether functions are computed for many elements at once."""

    enabled = create_option("enabled", bool, "Whether they are; None: no.")
    use_choose_fastest = create_option(
        "use_choose_fastest", bool, "Whether the quicker way is found by trying; None: no."
    )

    def _static_optimizations(self) -> list[str]:
        return ["map_vectorization"] if self.enabled else []

    def _static_optimization_configs(self) -> list[str]:
        text = "true" if self.use_choose_fastest else "false"
        return [f"map_vectorization:use_choose_fastest:{text}"]


@export("data.experimental.OptimizationOptions")
class OptimizationOptions(OptionsBase):
    """Which rewrites TensorFlow makes of a pipeline; here they change nothing but its nodes."""

    apply_default_optimizations = create_option(
        "apply_default_optimizations", bool, "Whether those that are on by default are made."
    )
    autotune = create_option("autotune", bool, "Whether parallelism is tuned; None: yes.")
    autotune_algorithm = create_option("autotune_algorithm", int, "By which algorithm.")
    autotune_buffers = create_option("autotune_buffers", bool, "Whether buffers are tuned too.")
    autotune_cpu_budget = create_option("autotune_cpu_budget", int, "For how many cores.")
    map_vectorization = create_option(
        "map_vectorization",
        MapVectorizationOptions,
        "Whether functions are computed for many elements at once.",
        MapVectorizationOptions,
    )
    prefetch_to_device = create_option(
        "prefetch_to_device", str, "The device to which batches are copied.", lambda: "/gpu:0"
    )

    def _static_optimizations(self) -> list[str]:
        found = {name for name in _FUSIONS if getattr(self, name)}
        if self.apply_default_optimizations is not False:
            found.update(name for name in _DEFAULT if getattr(self, name) is not False)
        if self.map_vectorization is not None:
            found.update(self.map_vectorization._static_optimizations())
        if self.autotune is not False and self.autotune_buffers:
            found.add("inject_prefetch")
        return sorted(found)

    def _static_optimization_configs(self) -> list[str]:
        if self.map_vectorization is None:
            return []
        return self.map_vectorization._static_optimization_configs()


define_flags(OptimizationOptions, _FUSIONS)


@export("data.experimental.StatsOptions")
class StatsOptions(OptionsBase):
    """Where statistics of a pipeline go."""

    aggregator = create_option("aggregator", object, "What collects them.")
    prefix = create_option("prefix", str, "A prefix of their names.", lambda: "")
    counter_prefix = create_option("counter_prefix", str, "A prefix of counters.", lambda: "")
    latency_all_edges = create_option(
        "latency_all_edges", bool, "Whether all transformations are measured; None: no."
    )


@export("data.experimental.ThreadingOptions")
class ThreadingOptions(OptionsBase):
    """How many threads a pipeline has."""

    max_intra_op_parallelism = create_option(
        "max_intra_op_parallelism", int, "At most so many for one operation."
    )
    private_threadpool_size = create_option(
        "private_threadpool_size", int, "So many that are the pipeline's own."
    )


@export("data.Options")
class Options(OptionsBase):
    """Options of a dataset, for `tf.data.Dataset.with_options`.

    Example:
        >>> options = tf.data.Options()
        >>> options.experimental_deterministic = True
        >>> tf.data.Dataset.range(3).with_options(options).options() == options
        True
    """

    experimental_deterministic = create_option(
        "experimental_deterministic", bool, "Whether elements keep their order; None: yes."
    )
    experimental_distribute = create_option(
        "experimental_distribute",
        DistributeOptions,
        "How several workers read it.",
        DistributeOptions,
    )
    experimental_optimization = create_option(
        "experimental_optimization",
        OptimizationOptions,
        "Which rewrites are made.",
        OptimizationOptions,
    )
    experimental_slack = create_option(
        "experimental_slack", bool, "Whether the last prefetch leaves time to others; None: no."
    )
    experimental_stats = create_option(
        "experimental_stats", StatsOptions, "Where statistics go.", StatsOptions
    )
    experimental_threading = create_option(
        "experimental_threading", ThreadingOptions, "How many threads it has.", ThreadingOptions
    )
    experimental_stateful_whitelist = create_option(
        "experimental_stateful_whitelist", list, "Ops with state that may be saved nevertheless."
    )

    def _static_optimizations(self) -> list[str]:
        found = list(self.experimental_optimization._static_optimizations())
        if self.experimental_deterministic is False:
            found.append("make_sloppy")
        if self.experimental_stats and self.experimental_stats.latency_all_edges:
            found.append("latency_all_edges")
        if self.experimental_slack and self.experimental_optimization.prefetch_to_device is None:
            found.append("slack")
        if self.experimental_distribute and self.experimental_distribute._make_stateless:
            found.append("make_stateless")
        return found

    def _static_optimization_configs(self) -> list[str]:
        found: list[str] = []
        if self.experimental_optimization:
            found += self.experimental_optimization._static_optimization_configs()
        if self.experimental_slack:
            devices = self.experimental_distribute.num_devices
            found.append(f"slack:slack_period:{1 if devices is None else devices}")
        return found

    def merge(self, options: Any) -> Any:
        """The options with what others set besides; ValueError where they set it differently."""
        return merge_options(self, options)
