# SPDX-License-Identifier: Apache-2.0
"""`tf.test.Benchmark`: classes whose methods `benchmark…` measure something and report it.

`tf.test.main()` runs those that `--benchmarks=<regular expression>` names, in place of tests.  A
report is printed, or goes to a file where the environment has TEST_REPORT_FILE_PREFIX.
"""

from __future__ import annotations

import inspect
import os
import re
import statistics
import sys
import time
from collections.abc import Callable
from numbers import Number
from typing import TYPE_CHECKING, Any

from ..graph import defaults
from .log import info

if TYPE_CHECKING:
    from ...io.timeline import Timeline
    from ..graph.annotations import Feeds
    from ..session.session import BaseSession

GLOBAL_BENCHMARK_REGISTRY: set[type[Benchmark]] = set()
# The environment variable with what paths of reports begin with.
TEST_REPORTER_TEST_ENV = "TEST_REPORT_FILE_PREFIX"


class Benchmark:
    """The base of benchmarks of any kind; each class made of it can be run by its name."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.is_abstract():
            GLOBAL_BENCHMARK_REGISTRY.add(cls)

    @classmethod
    def is_abstract(cls) -> bool:
        """Whether it is a base alone, which nobody runs."""
        return cls.__module__ == __name__

    def report_benchmark(
        self,
        iters: int | None = None,
        cpu_time: float | None = None,
        wall_time: float | None = None,
        throughput: float | None = None,
        extras: dict[str, Any] | None = None,
        name: str | None = None,
        metrics: list[dict[str, Any]] | None = None,
    ) -> None:
        """Prints what was measured, or writes it to a file.

        Args:
            iters: how often something ran.
            cpu_time: seconds of processor time.
            wall_time: seconds by the clock.
            throughput: in megabytes a second.
            extras: anything else: numbers, or what becomes text.
            name: of the entry, behind the class's; by default that of the outermost method.
            metrics: dicts with "name" and "value", and perhaps "min_value" and "max_value".

        Raises:
            TypeError: `extras` is no dict, or `metrics` no list of such dicts.
            OSError: there is a report of this name already.
        """
        times = {"iters": iters, "cpu_time": cpu_time, "wall_time": wall_time}
        known = {key: x for key, x in (times | {"throughput": throughput}).items() if x is not None}
        _report(self._get_name(name), known, extras, metrics)

    def _get_name(self, overwrite_name: str | None = None) -> str:
        """The class and the method of the outermost benchmark that runs."""
        frame, found = inspect.currentframe(), None
        while frame is not None:
            owner = frame.f_locals.get("self")
            if isinstance(owner, Benchmark):
                found = type(owner).__name__, frame.f_code.co_name
            frame = frame.f_back
        if found is None:
            raise ValueError("Unable to determine calling Benchmark class.")
        return f"{found[0]}.{overwrite_name or found[1]}"


def _report(name: str, known: dict[str, Any], extras: Any = None, metrics: Any = None) -> None:
    """Prints an entry, or writes it to a file of its own."""
    from ...io import protos

    info("Benchmark [%s] %s, extras: %s, metrics: %s", name, known, extras, metrics)
    entry = protos.BenchmarkEntry(name=name, **known)
    if not isinstance(extras, dict | None):
        raise TypeError(f"extras must be a dict, not {extras!r}")
    for key, value in (extras or {}).items():
        if isinstance(value, Number):
            entry.extras[key].double_value = value
        else:
            entry.extras[key].string_value = str(value)
    if not isinstance(metrics, list | None):
        raise TypeError(f"metrics must be a list, not {metrics!r}")
    for metric in metrics or ():
        missing = {"name", "value"} - set(metric)
        if missing:
            raise TypeError(f"metric {metric} must have a {min(missing)!r} field")
        added = entry.metrics.add(name=metric["name"], value=metric["value"])
        for bound in ("min_value", "max_value"):
            if bound in metric:
                getattr(added, bound).value = metric[bound]
    _publish(protos.BenchmarkEntries(entry=[entry]), name)


def _publish(entries: Any, name: str) -> None:
    prefix = os.environ.get(TEST_REPORTER_TEST_ENV)
    if prefix is None:
        print(entries)
        return
    path = prefix + name.replace("/", "__")
    try:
        with open(path, "xb") as file:
            file.write(entries.SerializeToString())
    except FileExistsError:
        raise OSError(f"File already exists: {path}") from None


def benchmark_config() -> Any:
    """A ConfigProto for sessions of benchmarks (tf.test.benchmark_config).

    In TensorFlow its graphs keep nodes that only others wait for; here they are as they are made.
    """
    from ...io import protos

    config = protos.ConfigProto()
    config.graph_options.rewrite_options.dependency_optimization = protos.RewriterConfig.OFF
    return config


class TensorFlowBenchmark(Benchmark):
    """The base of benchmarks (tf.test.Benchmark); `run_op_benchmark` times an op in a session.

    Example:
        >>> class Squares(tf.test.Benchmark):
        ...     def benchmark_squares(self):
        ...         with tf.Session() as sess:
        ...             self.run_op_benchmark(sess, tf.square(tf.ones([1000])).op)
    """

    def run_op_benchmark(
        self,
        sess: BaseSession,
        op_or_tensor: object,
        feed_dict: Feeds | None = None,
        burn_iters: int = 2,
        min_iters: int = 10,
        store_trace: bool = False,
        store_memory_usage: bool = True,
        name: str | None = None,
        extras: dict[str, Any] | None = None,
        mbs: float = 0,
    ) -> dict[str, Any]:
        """Runs an op several times and reports the median of the times.

        Args:
            sess: the session to run it in.
            op_or_tensor: what is run.
            feed_dict: what is fed in each run.
            burn_iters: how many runs come before, and are not timed.
            min_iters: how many are timed.
            store_trace: whether the result has a trace of one more run, for Chrome.
            store_memory_usage: whether the memory that one more run takes is reported.
            name: of the report; by default that of the method.
            extras: what is reported besides.
            mbs: megabytes that the op moves, for its throughput.

        Returns:
            What was reported, by name: "iters", "wall_time", "throughput", "name" and "extras",
            these with "full_trace_chrome_format" for `store_trace`.
        """
        for _ in range(burn_iters):
            sess.run(op_or_tensor, feed_dict=feed_dict)
        times = []
        for _ in range(min_iters):
            start = time.perf_counter()
            sess.run(op_or_tensor, feed_dict=feed_dict)
            times.append(time.perf_counter() - start)
        extras, trace = dict(extras or {}), {}
        if store_trace or store_memory_usage:
            timeline = _traced(sess, op_or_tensor, feed_dict)
            if store_trace:
                trace["full_trace_chrome_format"] = timeline.generate_chrome_trace_format()
            if store_memory_usage:
                held = timeline.analyze_step_stats(show_memory=True).allocator_maximums
                for key, most in held.items():
                    extras[f"allocator_maximum_num_bytes_{key}"] = most.num_bytes
        median = statistics.median(times) if times else -1
        values: dict[str, Any] = {"iters": min_iters, "wall_time": median, "name": name}
        values |= {"extras": extras, "throughput": mbs / median}
        self.report_benchmark(**values)
        return {**values, "extras": extras | trace}

    def evaluate(self, tensors: Any) -> Any:
        """The values of tensors in the default session; ValueError where there is none."""
        session = defaults.get_default_session()
        if session is None:
            raise ValueError("there is no default session: use `with tf.Session():`")
        return session.run(tensors)


def _traced(sess: BaseSession, op_or_tensor: object, feed_dict: Feeds | None) -> Timeline:
    """The timeline of a run."""
    from ...io import protos
    from ...io.timeline import Timeline

    options = protos.RunOptions(trace_level=protos.RunOptions.FULL_TRACE)
    metadata = protos.RunMetadata()
    sess.run(op_or_tensor, feed_dict=feed_dict, options=options, run_metadata=metadata)
    return Timeline(metadata.step_stats)


def _run_benchmarks(regex: str) -> None:
    """Runs the methods `benchmark…` whose "module.Class.method" has a match; "all" runs all."""
    for kind in sorted(GLOBAL_BENCHMARK_REGISTRY, key=lambda kind: kind.__qualname__):
        methods = [name for name in dir(kind) if name.startswith("benchmark")]
        whole = f"{kind.__module__}.{kind.__name__}"
        chosen = [m for m in methods if regex == "all" or re.search(regex, f"{whole}.{m}")]
        benchmark = kind() if chosen else None
        for method in chosen:
            getattr(benchmark, method)()


def benchmarks_main(true_main: Callable[[], Any], argv: list[str] | None = None) -> None:
    """Runs the benchmarks that `--benchmarks=…` on the command line names, or else `true_main`."""
    from .flags import run

    argv = sys.argv if argv is None else argv
    found = [one for one in argv if re.match("--?benchmarks=", one)]
    if not found:
        true_main()
        return
    argv.remove(found[0])
    pattern = found[0].partition("=")[2]
    run(lambda _: _run_benchmarks(pattern), argv=argv)
