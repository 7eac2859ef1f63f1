# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of programs: which run, and what they report where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine.interface import benchmark
from numbaflow.io import protos

pytestmark = pytest.mark.programs

RAN: list[str] = []


class Sums(tf.test.Benchmark):
    """Some that are run by their names."""

    def benchmark_first(self) -> None:
        RAN.append("first")

    def benchmark_second(self) -> None:
        RAN.append("second")

    def other(self) -> None:
        RAN.append("other")

    def report(self, **what: Any) -> None:
        self.report_benchmark(**what)

    def times(self, **how: Any) -> dict[str, Any]:
        with tf.Graph().as_default(), tf.Session(config=tf.test.benchmark_config()) as session:
            x = tf.placeholder(tf.float32, [5])
            return self.run_op_benchmark(session, x + x, {x: np.arange(5)}, **how)


@pytest.mark.parametrize(
    ("pattern", "ran"),
    [("unrelated", []), ("Sums", ["first", "second"]), (r"Sums.*first$", ["first"])],
)
def test_benchmarks_are_run_by_pattern(pattern: str, ran: list[str]) -> None:
    RAN.clear()
    benchmark._run_benchmarks(pattern)
    assert ran == RAN


def test_the_command_line_chooses_between_tests_and_benchmarks() -> None:
    RAN.clear()
    benchmark.benchmarks_main(lambda: RAN.append("tests"), ["program"])
    with pytest.raises(SystemExit):
        benchmark.benchmarks_main(lambda: RAN.append("tests"), ["program", "--benchmarks=second"])
    assert RAN == ["tests", "second"]


def test_bases_are_not_run() -> None:
    assert Sums in benchmark.GLOBAL_BENCHMARK_REGISTRY
    assert tf.test.Benchmark not in benchmark.GLOBAL_BENCHMARK_REGISTRY


def test_reports_go_to_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_REPORT_FILE_PREFIX", f"{tmp_path}/run_")
    metrics = [{"name": "loss", "value": 0.5, "max_value": 1.0}]
    Sums().report(iters=2, wall_time=0.5, extras={"a": 3, "b": "text"}, metrics=metrics)
    (entry,) = protos.BenchmarkEntries.FromString((tmp_path / "run_Sums.report").read_bytes()).entry
    assert (entry.name, entry.iters, entry.wall_time) == ("Sums.report", 2, 0.5)
    assert (entry.extras["a"].double_value, entry.extras["b"].string_value) == (3, "text")
    assert (entry.metrics[0].value, entry.metrics[0].max_value.value) == (0.5, 1.0)
    with pytest.raises(OSError, match="File already exists: .*run_Sums.report"):
        Sums().report()


def test_reports_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    Sums().report(name="own", iters=4)
    assert 'name: "Sums.own"' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"extras": [1]}, "extras must be a dict"),
        ({"metrics": {}}, "metrics must be a list"),
        ({"metrics": [{"name": "a"}]}, "must have a 'value' field"),
    ],
)
def test_wrong_reports_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Sums().report(**wrong)


@pytest.mark.cpu
def test_an_op_is_timed_and_traced(capsys: pytest.CaptureFixture[str]) -> None:
    found = Sums().times(min_iters=3, store_trace=True, name="sum", extras={"size": 5}, mbs=2.0)
    assert found["iters"] == 3 and found["throughput"] == 2.0 / found["wall_time"] > 0
    assert json.loads(found["extras"]["full_trace_chrome_format"])["traceEvents"]
    held = [key for key in found["extras"] if key.startswith("allocator_maximum_num_bytes_")]
    assert held and found["extras"]["size"] == 5
    assert "chrome" not in capsys.readouterr().out
