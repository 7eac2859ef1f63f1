# SPDX-License-Identifier: Apache-2.0
"""docs/from_scratch.py does what its page says; the page itself is run by tests/test_docs.py."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FILE = Path(__file__).parent.parent / "docs" / "from_scratch.py"

pytestmark = pytest.mark.pure


@pytest.fixture(scope="module")
def scratch() -> Any:
    spec = importlib.util.spec_from_file_location("from_scratch", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["from_scratch"] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


def interpreted(plan: Any, feeds: dict[Any, Any], monkeypatch: Any, module: Any) -> list[Any]:
    """Runs a plan whose kernels Python runs as they are."""

    def uncompiled(source: str, parallel: bool) -> Any:
        names: dict[str, Any] = {"np": np, "prange": range}
        exec(source, names)
        return names["kernel"]

    monkeypatch.setattr(module, "compile_source", uncompiled)
    return plan.run(feeds)


def softmax(f: Any, x: Any) -> Any:
    grown = f.exp(x)
    total = f.reduce_sum(grown, [1])
    return grown / f.broadcast_to(f.view(total, (*total.shape, 1), (0,)), x.shape)


def programs(f: Any) -> dict[str, tuple[list[Any], dict[Any, Any]]]:
    """Graphs that exercise views, several readers, sums of sums and sizes of one."""
    random = np.random.default_rng(1)
    x, w = f.placeholder(["n", 3]), f.placeholder([3, 4])
    feeds = {x: random.standard_normal((5, 3)), w: random.standard_normal((3, 4))}
    y = f.matmul(x, w)
    loss = f.reduce_mean(y * f.tanh(y) - f.sigmoid(y) * 2.0)
    row = f.view(w, (1, 3, 4), (1, 2))
    return {
        "gradients": ([loss, *f.gradients(loss, [x, w])], feeds),
        "softmax": ([softmax(f, y), *f.gradients(f.reduce_sum(softmax(f, y) * y), [x])], feeds),
        "second order": (f.gradients(f.reduce_sum(f.gradients(loss, [w])[0]), [w]), feeds),
        "transposed": ([f.matmul(f.transpose(w), f.transpose(x)), f.transpose(y), y], feeds),
        "size of one": ([f.reduce_sum(row, [0]), f.reduce_sum(f.exp(row)) - 1.0], {w: feeds[w]}),
        "constants": ([f.constant(1.0) * 2.0, -(x * -1.0), x * 1.0 + (-x)], feeds),
    }


NAMES = ["gradients", "softmax", "second order", "transposed", "size of one", "constants"]


@pytest.mark.parametrize("name", NAMES)
def test_plans_are_what_the_reference_says(scratch: Any, name: str, monkeypatch: Any) -> None:
    assert set(NAMES) == set(programs(scratch))
    fetches, feeds = programs(scratch)[name]
    expected = [scratch.evaluate(fetch, feeds) for fetch in fetches]
    found = interpreted(scratch.Plan(fetches), feeds, monkeypatch, scratch)
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)


def test_gradients_are_slopes(scratch: Any) -> None:
    x, y, variables, loss = scratch.model()
    points, labels = scratch.circle(6, seed=2)
    feeds = {x: points, y: labels}
    for variable, gradient in zip(variables, scratch.gradients(loss, variables), strict=True):
        slope = scratch.evaluate(gradient, feeds)
        value = variable.attr.value
        for place in np.ndindex(value.shape):
            kept, ends = value[place], []
            for step in (1e-6, -1e-6):
                value[place] = kept + step
                ends.append(float(scratch.evaluate(loss, feeds)))
            value[place] = kept
            np.testing.assert_allclose(slope[place], (ends[0] - ends[1]) / 2e-6, atol=1e-8)


def test_a_layer_is_one_kernel_and_an_update_another(scratch: Any) -> None:
    _, _, variables, loss = scratch.model()
    updates = [
        scratch.assign(v, v - g) for v, g in zip(variables, scratch.gradients(loss, variables))
    ]
    kernels = scratch.Plan([loss, *updates]).kernels
    fused = [[t.op for t in kernel.fused] for kernel in kernels]
    assert fused[0] == ["tanh", "add", "reduce_sum", "multiply"]
    assert [ops[0] for ops in fused].count("assign") == len(variables)
    assert all("reduce_sum" in ops for ops in fused if ops[0] == "assign")
    assert len(kernels) == 9, "the page says so"


def test_rules_leave_nothing_to_simplify(scratch: Any) -> None:
    _, _, variables, loss = scratch.model()
    fetches = scratch.trace(scratch.gradients(loss, variables))
    assert not [t for t in scratch.order(fetches) if scratch.simplify(t) is not None]


def test_what_is_fed_must_fit(scratch: Any) -> None:
    x, y = scratch.placeholder(["n", 2]), scratch.placeholder(["n", 1])
    with pytest.raises(ValueError, match="n=3"):
        scratch.bind_sizes({x: np.zeros((3, 2)), y: np.zeros((4, 1))})
    with pytest.raises(ValueError, match="Dimensions must be equal"):
        scratch.matmul(x, y)


@pytest.mark.cpu
def test_another_batch_compiles_nothing(scratch: Any) -> None:
    x = scratch.placeholder(["n"])
    total = scratch.reduce_sum(scratch.exp(x) * x)
    scratch.compile_source.cache_clear()
    for count in (3, 5000, 17):
        feed = np.linspace(0, 1, count)
        (found,) = scratch.run([total], {x: feed})
        np.testing.assert_allclose(found, np.sum(np.exp(feed) * feed), rtol=1e-12)
    (source,) = (kernel.source for kernel in scratch.plan_of(total).kernels)
    assert scratch.compile_source.cache_info().currsize == 1
    assert len(scratch.compile_source(source, False).signatures) == 1


@pytest.mark.process
def test_importing_it_does_not_import_numba() -> None:
    program = f"import sys; sys.path.insert(0, {str(FILE.parent)!r}); import from_scratch; "
    program += "assert 'numba' not in sys.modules and 'numbaflow' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
