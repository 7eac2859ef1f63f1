# SPDX-License-Identifier: Apache-2.0
"""The survey of ops: every op has a sample or a reason, the page says why what is slow is slow."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from numbaflow.engine.graph import registry

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.pure


def module(name: str) -> Any:
    """A module of the benchmarks, which are no part of the package."""
    sys.path.insert(0, str(ROOT))
    try:
        return importlib.import_module(f"benchmarks.{name}")
    finally:
        sys.path.remove(str(ROOT))


inputs, notes, report, samples = map(module, ("op_inputs", "op_notes", "op_report", "op_samples"))
# Ops whose inputs take long to make, or are all alike.
SOME = ("Add", "Conv2D", "SparseAdd", "ApplyAdam", "StringSplit", "MaxPoolGrad", "TopKV2")


def test_stated_inputs_are_those_of_ops() -> None:
    known = {definition.name for definition in registry.definitions()}
    assert set(inputs.TABLE) <= known
    named = {name.removesuffix(", gradient") for name in notes.SLOW_BECAUSE}
    assert named <= known


def test_every_op_has_a_sample_or_a_reason() -> None:
    for definition in registry.definitions():
        if definition.name in inputs.TABLE:
            assert samples.absent(definition) == ""
    assert samples.absent(registry.lookup("ReadFile"))
    assert samples.absent(registry.lookup("QueueDequeueV2"))


@pytest.mark.parametrize("name", SOME)
def test_samples_are_large_and_the_same_each_time(name: str) -> None:
    definition = registry.lookup(name)
    one, other = samples.sample(definition), samples.sample(definition)
    assert len(one.inputs) == len(definition.inputs)
    for a, b in zip(one.inputs, other.inputs, strict=True):
        np.testing.assert_array_equal(a, b)
    assert sum(np.size(item) for item in one.inputs) > 10000


def test_the_page_of_made_up_rows() -> None:
    def row(op: str, ratio: float, **more: Any) -> dict[str, Any]:
        times = {"numbaflow": ratio / 1e3, "tensorflow": 1e-3, "ratio": ratio}
        return {"op": op, "gradient": False, "date": "2030-01-02", "hosted": [], **times, **more}

    page = report.page(
        {
            "machine": {"cpu": "some CPU", "cores": 2, "threads": 1, "python": "3"},
            "peers": {"numbaflow": "1", "tensorflow": "2"},
            "rows": [
                row("Sub", 0.5),
                row("Add", 0.25, gradient=True),
                row("Unique", 3.0, hosted=["Unique: has no lowering"]),
                {"op": "ReadFile", "absent": "touches files"},
                {
                    "op": "TopK",
                    "error": "tensorflow: TopK is not available in GraphDef version 9",
                },
            ],
        }
    )
    assert "Of 3 rows 2 are compiled whole, 2 are faster" in page and "on 2030-01-02," in page
    assert "| Add, gradient | 0.250 | 1.000 | 0.25 | compiled |" in page
    assert "| Unique | 3.000 | 1.000 | 3.00 | host: Unique |" in page
    reason = notes.SLOW_BECAUSE["Unique"]
    assert f"- {reason[0].upper()}{reason[1:]}: Unique (3.0)." in " ".join(page.split())
    assert "- Touches files: ReadFile." in page
    assert "- TensorFlow 2 has no such op any more: TopK." in page


def test_what_is_slow_has_a_reason_and_the_page_shows_what_is_kept() -> None:
    kept = json.loads(report.RESULTS.read_text())
    slow = [row for row in kept["rows"] if row.get("ratio", 0) > report.AS_QUICK]
    assert [report.title(row) for row in slow if not report.reason_of(row)] == []
    assert report.PAGE.read_text() == report.page(kept)
