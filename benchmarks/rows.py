# SPDX-License-Identifier: Apache-2.0
"""The rows of the table: what is measured, what must be reached and what is aimed at.

Imports nothing but the standard library; figures come from a run, judgement from report.py.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Promise:
    """A limit on our value, absolute or as a multiple of a peer's, or on kernels compiled.

    `times` alone is for rows that are ratios themselves, such as a first step over a later one.
    """

    seconds: float | None = None
    times: float | None = None
    peer: str | None = None
    compiled: int | None = None

    def words(self, titles: dict[str, str]) -> str:
        """The limits as the table says them."""
        parts = []
        if self.seconds is not None:
            parts.append(f"≤ {duration(self.seconds)}")
        if self.times is not None:
            other = titles[self.peer] if self.peer else "a step"
            parts.append(f"≤ {other}" if self.times == 1 else f"≤ {self.times:g} × {other}")
        if self.compiled is not None:
            parts.append(f"{self.compiled} compiled")
        return ", ".join(parts)


NOTHING = Promise()


@dataclass(frozen=True)
class Row:
    """A row: `kind` says how it is measured, `peers` who takes part (all, if empty)."""

    title: str
    kind: str
    must: Promise = NOTHING
    goal: Promise = NOTHING
    workload: str = ""
    peers: tuple[str, ...] = ()
    unit: str = "s"


_COMPILING = ("numbaflow", "tensorflow", "jax")
_MEMORY = ("numbaflow", "tensorflow", "jax", "torch")


def _step(title: str, must: Promise = NOTHING, goal: Promise = NOTHING) -> Row:
    return Row(title, "step", must, goal)


def _over(peer: str, times: float = 1) -> Promise:
    return Promise(times=times, peer=peer)


ROWS = {
    "two_scalar_ops": _step("two scalar ops, fed and fetched", Promise(10e-6), Promise(7e-6)),
    "ten_op_chain": _step("ten ops on 100 floats", Promise(15e-6), Promise(10e-6)),
    "black_scholes_f32": _step(
        "Black and Scholes, 1e6 float32", _over("tensorflow", 0.4), _over("jax")
    ),
    "black_scholes_f64": _step(
        "Black and Scholes, 1e6 float64", _over("tensorflow", 0.6), _over("torch")
    ),
    "softmax": _step("softmax, 4096 × 1000", _over("tensorflow", 0.8), _over("torch")),
    "layernorm_gelu": _step(
        "layer norm, GELU, 4096 × 1024", _over("tensorflow", 0.2), _over("jax")
    ),
    "softmax_regression": _step(
        "softmax regression step, batch 100", _over("tensorflow", 0.3), _over("pytensor")
    ),
    "mlp_adam": _step(
        "784-256-256-10, Adam step, batch 128", _over("tensorflow", 0.8), _over("jax", 0.8)
    ),
    "lenet_adam": _step(
        "LeNet, Adam step, batch 64", _over("tensorflow", 1.1), _over("tensorflow", 0.9)
    ),
    "lstm_sgd": _step(
        "LSTM(128) unrolled 28 steps, SGD step, batch 128",
        _over("tensorflow", 0.9),
        _over("torch_compile"),
    ),
    "adam_update": _step("Adam update, 10M parameters", _over("tensorflow", 0.8), _over("jax")),
    "new_batch": Row(
        "first step at a new batch size",
        "new_batch",
        Promise(times=1.5, compiled=0),
        Promise(times=1.1),
        unit="x",
    ),
    "import": Row("import", "import", Promise(0.2), Promise(0.15)),
    "lstm_cold": Row("LSTM, first call, cold", "cold", Promise(10), workload="lstm_sgd"),
    "lstm_warm": Row("LSTM, first call, warm", "warm", Promise(1, compiled=0), workload="lstm_sgd"),
    "lenet_cold": Row(
        "LeNet, process to first step, cold",
        "start",
        Promise(5),
        _over("jax"),
        "lenet_adam",
        _COMPILING,
    ),
    "deep_cold": Row(
        "200 layers, process to first step, cold",
        "start",
        Promise(8),
        workload="deep_mlp",
        peers=_COMPILING,
    ),
    "memory": Row(
        "LeNet, batch 256, memory over import",
        "memory",
        _over("tensorflow"),
        _over("tensorflow", 0.7),
        "lenet_adam",
        _MEMORY,
        "B",
    ),
    "second_process": Row(
        "all of these in a second process", "second", Promise(compiled=0), peers=("numbaflow",)
    ),
}


def duration(seconds: float) -> str:
    """Three digits and a unit."""
    if seconds >= 1:
        return f"{seconds:.3g} s"
    if seconds >= 0.9995e-3:
        return f"{seconds * 1e3:.3g} ms"
    if seconds >= 0.9995e-6:
        return f"{seconds * 1e6:.3g} µs"
    return f"{seconds * 1e9:.3g} ns"
