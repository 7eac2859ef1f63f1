# SPDX-License-Identifier: Apache-2.0
"""The benchmarks run, keep JSON of one shape, and their reports and formulas are right.

Nothing here depends on how fast anything is.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import numbaflow as tf

ROOT = Path(__file__).parent.parent


def module(name: str) -> Any:
    """A module of the benchmarks, which are no part of the package."""
    sys.path.insert(0, str(ROOT))
    try:
        return importlib.import_module(f"benchmarks.{name}")
    finally:
        sys.path.remove(str(ROOT))


costs, limits, peers, report, rows, sides, workloads = map(
    module, ("costs", "limits", "peers", "report", "rows", "sides", "workloads")
)

PEER_VARIABLES = {peer.variable for peer in sides.PEERS.values()} - {""}


def run(*options: str) -> subprocess.CompletedProcess[str]:
    variables = {k: v for k, v in os.environ.items() if k not in PEER_VARIABLES}
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", "--seconds", "0.01", "--rounds", "2", *options],
        cwd=ROOT,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )


def result() -> dict[str, Any]:
    """A made-up result with two peers and rows of several kinds."""
    cost = {"bytes": 8000, "operations": 500, "footprint": 3 << 20, "dtype": "float32"}
    return {
        "date": "2030-01-02T03:04:05+00:00",
        "machine": {"cpu": "some CPU", "threads": 2},
        "peers": {"numbaflow": "1", "tensorflow": "2", "torch_compile": "3"},
        "limits": {
            "copies": [[1 << 20, 8e9], [4 << 20, 4e9], [16 << 20, 2e9]],
            "products": {"float32": {"numpy": 1e9, "numbaflow": 2e9}},
        },
        "rows": [
            {
                "name": "softmax",
                "unit": "s",
                "values": {"numbaflow": [4e-6, 6e-6, 20e-6], "tensorflow": [8e-6, 6e-6, 10e-6]},
                "first": {"numbaflow": 0.5, "tensorflow": 0.25},
                "cost": cost,
            },
            {
                "name": "lstm_sgd",
                "unit": "s",
                "values": {"numbaflow": [2.0], "tensorflow": [1.0]},
                "first": {"numbaflow": 3.0, "torch_compile": 48.0},
                "errors": {"torch_compile": "it | fell"},
            },
            {
                "name": "new_batch",
                "unit": "x",
                "values": {"numbaflow": [1.2, 1.4]},
                "compiled": {"numbaflow": 0},
            },
            {"name": "lstm_cold", "unit": "s", "values": {"numbaflow": [3.5]}},
            {
                "name": "memory",
                "unit": "B",
                "values": {"numbaflow": [100e6], "tensorflow": [200e6]},
                "peak": {"numbaflow": 150e6, "tensorflow": 500e6},
                "baseline": {"numbaflow": 50e6, "tensorflow": 300e6},
            },
        ],
    }


@pytest.mark.cpu
@pytest.mark.slow
def test_the_smallest_run(tmp_path: Path) -> None:
    done = run("--only", "two_scalar_ops,softmax_regression", "--results", str(tmp_path))
    assert done.returncode in (0, 1), done.stderr
    assert "no Python for TensorFlow" in done.stderr
    (kept,) = tmp_path.glob("*.json")
    measured = json.loads(kept.read_text())
    assert set(measured) == {"date", "machine", "settings", "peers", "limits", "rows"}
    assert measured["peers"] == {"numbaflow": tf.__numbaflow_version__}
    first, second = measured["rows"]
    assert (first["name"], second["name"]) == ("two_scalar_ops", "softmax_regression")
    for row in (first, second):
        assert len(row["values"]["numbaflow"]) == 2 and "errors" not in row
        assert row["first"]["numbaflow"] > 0 and row["cost"]["operations"] > 0
    # The cache of a run is its own; but the package may have machine code for all of it.
    has_library = any((ROOT / "jit" / "library" / "objects").glob("*.kernels"))
    assert second["compiled"]["numbaflow"] > 0 or has_library
    assert [size for size, _ in measured["limits"]["copies"]] == list(limits.FOOTPRINTS)
    assert set(measured["limits"]["products"]) == {"float32", "float64"}
    assert done.stdout.strip() == report.readme(measured)


@pytest.mark.cpu
def test_a_fresh_process_tells_times_and_memory(tmp_path: Path) -> None:
    processes = module("processes")
    sizes = {"batch": 4, "units": 4, "layers": 3}
    told = [
        processes.once("numbaflow", sys.executable, 1, str(tmp_path), "deep_mlp", **sizes)
        for _ in range(2)
    ]
    # (The first one compiles nothing where the package has machine code for all of it.)
    assert told[0]["compiled"] >= told[1]["compiled"] == 0
    assert told[0]["seconds"] > told[0]["imported"] > 0
    assert (told[0]["compiling"] > 0) == (told[0]["compiled"] > 0)
    assert told[1]["compiling"] == 0
    if sys.platform == "linux":
        assert told[0]["peak"] > told[0]["baseline"] > 0


@pytest.mark.process
def test_an_unknown_row_is_refused() -> None:
    done = run("--only", "softmax,sofmax")
    assert done.returncode == 2 and "no such row: sofmax" in done.stderr


@pytest.mark.pure
def test_peers_come_from_variables_and_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in PEER_VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    python = tmp_path / "jax" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    monkeypatch.setenv("NUMBAFLOW_TF_PYTHON", sys.executable)
    monkeypatch.setenv("NUMBAFLOW_TORCH_PYTHON", str(tmp_path / "nothing"))
    assert peers.pythons(sides.PEERS, str(tmp_path)) == {
        "numbaflow": sys.executable,
        "tensorflow": sys.executable,
        "tensorflow_xla": sys.executable,
        "jax": str(python),
    }


@pytest.mark.pure
def test_reports_follow_from_the_json_alone() -> None:
    text = json.dumps(result())
    first, second = (json.loads(text) for _ in range(2))
    assert report.details(first) == report.details(second)
    assert report.readme(first) == report.readme(second)
    assert first == result()  # nothing is written into it


@pytest.mark.pure
def test_ratios_are_those_within_rounds() -> None:
    softmax = result()["rows"][0]
    assert report.ratios(softmax, "tensorflow") == [0.5, 1.0, 2.0]
    assert report.ratio(softmax, "tensorflow") == 1.0
    assert report.best_peer(softmax) == ("tensorflow", 1.0)


@pytest.mark.pure
def test_limits_take_the_bandwidth_of_the_footprint() -> None:
    made_up = result()
    bound = report.limit(made_up, made_up["rows"][0])
    assert (bound.bandwidth, bound.rate) == (4e9, 2e9)
    assert (bound.moving, bound.computing, bound.reason) == (2e-6, 2.5e-7, "bytes")
    assert report.distance(made_up, made_up["rows"][0]) == 3.0
    made_up["rows"][0]["copies"] = [3e9, 8e9]  # a copy between the turns was faster
    assert report.limit(made_up, made_up["rows"][0]).bandwidth == 8e9


@pytest.mark.pure
def test_promises_are_judged() -> None:
    by_name = {row["name"]: row for row in result()["rows"]}

    def verdicts(name: str) -> tuple[bool | None, bool | None]:
        row, spec = by_name[name], rows.ROWS[name]
        return report.judge(row, spec.must), report.judge(row, spec.goal)

    assert verdicts("softmax") == (False, None)  # 1.0 of TensorFlow's; PyTorch was not there
    assert verdicts("lstm_sgd") == (False, None)
    assert verdicts("new_batch") == (True, False)
    assert verdicts("lstm_cold") == (True, None)
    assert verdicts("memory") == (True, True)
    assert not report.kept(result())
    by_name["new_batch"]["compiled"]["numbaflow"] = 1
    assert verdicts("new_batch") == (False, False)
    by_name["memory"]["errors"] = {"numbaflow": "it fell"}
    assert verdicts("memory") == (False, False)


@pytest.mark.pure
def test_tables_show_what_was_measured() -> None:
    table = report.table(result())
    lines = {line.split(" | ")[0].strip("| "): line for line in table.splitlines()}
    softmax = lines[rows.ROWS["softmax"].title]
    assert softmax.startswith("| softmax, 4096 × 1000 | 6 µs | 8 µs |  | 1.00 | 3.00 | ≤ 0.8 ×")
    assert "| fails |" in lines[rows.ROWS["lstm_sgd"].title]
    assert "| 48 s |" in lines[rows.ROWS["lstm_cold"].title]  # the first call of its workload
    assert "| 100 MB | 200 MB |" in lines[rows.ROWS["memory"].title]
    widths = {line.count(" |") for line in table.splitlines()}
    assert len(widths) == 1
    assert "1.00 (0.50 to 2.00)" in report.details(result())


@pytest.mark.pure
def test_a_page_keeps_what_is_around_the_report(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- benchmarks -->\nold\n<!-- /benchmarks -->\nafter\n")
    report.put(page, r"new \1")
    expected = "before\n<!-- benchmarks -->\nnew \\1\n<!-- /benchmarks -->\nafter\n"
    assert page.read_text() == expected


@pytest.mark.pure
def test_every_row_has_a_workload_and_its_cost() -> None:
    for name, row in rows.ROWS.items():
        if row.kind == "step":
            assert name in workloads.WORKLOADS and name in workloads.COSTS
        if row.workload:
            assert row.workload in workloads.WORKLOADS
        for promise in (row.must, row.goal):
            assert promise.peer is None or promise.peer in sides.PEERS


def counted(name: str, **sizes: int) -> Any:
    return workloads.costs(name, limits.instructions, **sizes)


def explained(name: str, **sizes: int) -> Any:
    """The report of the plan that a session makes of a workload."""
    with tf.Graph().as_default():
        fetches, feeds = workloads.WORKLOADS[name](tf, **sizes)
        start = tf.global_variables_initializer()
        with tf.Session() as session:
            session.run(start)
            return session.explain(fetches, feeds)


@pytest.mark.cpu
@pytest.mark.parametrize(
    "name, sizes",
    [
        ("black_scholes_f32", {"n": 2000}),
        ("black_scholes_f64", {"n": 2000}),
        ("softmax", {"rows": 16, "columns": 100}),
        ("layernorm_gelu", {"rows": 16, "columns": 128}),
    ],
)
def test_bytes_are_those_of_a_fused_plan(name: str, sizes: dict[str, int]) -> None:
    """These workloads are one pass over memory, so the plan moves what must move, and scalars."""
    moved = sum(kernel.bytes for kernel in explained(name, **sizes).kernels)
    assert counted(name, **sizes).bytes <= moved <= counted(name, **sizes).bytes + 64


@pytest.mark.cpu
def test_operations_are_those_of_the_plans_products() -> None:
    """A library kernel states its arithmetic, two operations for a multiply-add."""
    kernels = explained("mlp_adam", batch=32).kernels
    products = sum(kernel.operations for kernel in kernels if kernel.kind == "library") // 2
    update = costs.Tally(lambda name, dtype: 1)
    update.adam(costs.parameters(*workloads.MLP_UNITS))
    assert counted("mlp_adam", batch=32).operations == products + update.operations


@pytest.mark.cpu
def test_convolutions_leave_out_what_is_zero() -> None:
    """Padding, and the gradients of what was no maximum; the kernels do a little of both."""
    convolutions = sum(
        kernel.operations
        for kernel in explained("lenet_adam", batch=2).kernels
        if any("Conv2D" in op for op in kernel.ops) and kernel.kind == "library"
    )
    tally = costs.Tally(lambda name, dtype: 1)
    tally.convolution(2, 28, 5, 1, 32, gradients=1, pool=4)
    tally.convolution(2, 14, 5, 32, 64, gradients=2, pool=4)
    assert 0.7 * convolutions < 2 * tally.operations <= convolutions


@pytest.mark.pure
def test_products_with_padding_are_counted_one_by_one() -> None:
    tally = costs.Tally(lambda name, dtype: 1)
    tally.convolution(1, 6, 3, 1, 1, gradients=0, pool=1)
    inside = range(6)
    pairs = sum(place + tap - 1 in inside for place in inside for tap in range(3))
    assert tally.operations == pairs**2


@pytest.mark.pure
def test_instructions_are_counted_from_the_definitions() -> None:
    assert limits.instructions("add", "float32") == 1
    assert limits.instructions("exp", "float32") > 10
    # More digits take longer polynomials.
    for name in ("exp", "log", "erf", "tanh"):
        assert limits.instructions(name, "float64") > limits.instructions(name, "float32")


@pytest.mark.pure
def test_the_table_of_input_pipelines() -> None:
    made = module("input")
    rows_of_input = [
        {
            "name": "a",
            "seconds": {"numbaflow": [1.0, 2.0, 9.0], "tensorflow": [2.0, 4.0, 6.0]},
            "processor": {"numbaflow": [1.0, 1.0, 1.0], "tensorflow": [4.0, 4.0, 4.0]},
            "errors": {},
        },
        {"name": made._FEEDING, "alone": [0.97, 0.99], "fed": [1.0, 1.0], "errors": {}},
    ]
    shown = made.table({**result(), "rows": rows_of_input}, {"a": 0.5})
    assert "| a | 2.000 s | 4.000 s | 0.50 | 0.25 | ≤ 0.5 ✓ |" in shown
    assert "98.0% of its rate" in shown
    assert "≥ 97% ✓" in shown
