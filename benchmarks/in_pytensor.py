# SPDX-License-Identifier: Apache-2.0
"""The workloads in PyTensor with its Numba backend; it has no convolutions there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt

from .data import dense_weights, images, normal, options
from .workloads import MLP_UNITS

Step = Callable[[], Any]
pytensor.config.floatX = "float32"


def _function(inputs: Any, outputs: Any, updates: Any = None) -> Any:
    return pytensor.function(inputs, outputs, mode="NUMBA", updates=updates)


def _kept(outputs: Any) -> Step:
    function = _function([], outputs)
    return lambda: function()


def _two_scalar_ops() -> Step:
    x = pt.fscalar()
    function, value = _function([x], x * np.float32(0.1) + np.float32(0.2)), np.float32(3)
    return lambda: function(value)


def _ten_op_chain() -> Step:
    x = y = pt.fvector()
    for i in range(5):
        y = pt.sin(y) + np.float32(0.1 * i)
    function, values = _function([x], y), np.ones(100, np.float32)
    return lambda: function(values)


def _black_scholes(dtype: str) -> Step:
    spot, strike, years = (pytensor.shared(a) for a in options(1_000_000, dtype))
    number = np.dtype(dtype).type
    rate, volatility, half = number(0.02), number(0.3), number(0.5)
    spread = volatility * pt.sqrt(years)
    drift = number(0.02 + 0.3 * 0.3 / 2)
    d1 = (pt.log(spot / strike) + drift * years) / spread
    d2 = d1 - spread
    discounted = strike * pt.exp(-rate * years)

    def cdf(z: Any) -> Any:
        return half * (number(1) + pt.erf(z * number(0.7071067811865476)))

    call = spot * cdf(d1) - discounted * cdf(d2)
    return _kept([call, discounted * cdf(-d2) - spot * cdf(-d1)])


def _layernorm_gelu() -> Step:
    x = pytensor.shared(normal(4096, 1024))
    number = np.float32
    mean = x.mean(1, keepdims=True)
    variance = ((x - mean) ** 2).mean(1, keepdims=True)
    y = (x - mean) / pt.sqrt(variance + number(1e-5))
    inner = number(0.7978845608) * (y + number(0.044715) * y * y * y)
    return _kept(number(0.5) * y * (number(1) + pt.tanh(inner)))


def _adam(pairs: Any, rate: float) -> dict[Any, Any]:
    number = np.float32
    t = pytensor.shared(number(0))
    later = t + number(1)
    scale = number(rate) * pt.sqrt(number(1) - number(0.999) ** later)
    scale = scale / (number(1) - number(0.9) ** later)
    updates = {t: later}
    for parameter, gradient in pairs:
        m, v = (pytensor.shared(np.zeros_like(parameter.get_value())) for _ in "mv")
        updates[m] = number(0.9) * m + number(0.1) * gradient
        updates[v] = number(0.999) * v + number(0.001) * gradient * gradient
        step = scale * updates[m] / (pt.sqrt(updates[v]) + number(1e-8))
        updates[parameter] = parameter - step
    return {k: v if v.dtype == "float32" else v.astype("float32") for k, v in updates.items()}


def _network(arrays: list[np.ndarray], rate: float, adam: bool) -> Any:
    """The training function of fully connected layers."""
    parameters = [pytensor.shared(a) for a in arrays]
    x, labels = pt.fmatrix(), pt.fmatrix()
    h: Any = x
    *hidden, weights, bias = parameters
    for w, b in zip(hidden[::2], hidden[1::2]):
        h = pt.maximum(pt.dot(h, w) + b, np.float32(0))
    logits = pt.dot(h, weights) + bias
    loss = pt.mean(-pt.sum(labels * pt.special.log_softmax(logits, axis=1), axis=1))
    pairs = list(zip(parameters, pt.grad(loss, parameters)))
    if adam:
        return _function([x, labels], loss, _adam(pairs, rate))
    return _function([x, labels], loss, {p: p - np.float32(rate) * g for p, g in pairs})


def _softmax_regression() -> Step:
    zeros = [np.zeros((784, 10), np.float32), np.zeros(10, np.float32)]
    function, (x, labels) = _network(zeros, 0.1, adam=False), images(100)
    return lambda: function(x, labels)


def _mlp_adam() -> Step:
    function, (x, labels) = _network(dense_weights(*MLP_UNITS), 1e-3, adam=True), images(128)
    return lambda: function(x, labels)


def _adam_update() -> Step:
    weights = pytensor.shared(np.zeros(10_000_000, np.float32))
    gradient = weights * np.float32(0.5) + np.float32(0.1)
    function = _function([], [], _adam([(weights, gradient)], 1e-3))
    return lambda: function()


_STEPS: dict[str, Callable[[], Step]] = {
    "two_scalar_ops": _two_scalar_ops,
    "ten_op_chain": _ten_op_chain,
    "black_scholes_f32": lambda: _black_scholes("float32"),
    "black_scholes_f64": lambda: _black_scholes("float64"),
    "softmax": lambda: _kept(pt.special.softmax(pytensor.shared(normal(4096, 1000)), axis=1)),
    "layernorm_gelu": _layernorm_gelu,
    "softmax_regression": _softmax_regression,
    "mlp_adam": _mlp_adam,
    "adam_update": _adam_update,
}


class PyTensor:
    """The peer as a worker uses it."""

    workloads = frozenset(_STEPS)

    def version(self) -> str:
        """The version of the package."""
        return str(pytensor.__version__)

    def step(self, workload: str) -> Step:
        """A step of the workload."""
        return _STEPS[workload]()

    def batches(self) -> Callable[[int], Step]:
        """A function from a batch size to a step of the small network at that size."""
        function = _network(dense_weights(*MLP_UNITS), 1e-3, adam=True)

        def at(size: int) -> Step:
            x, labels = images(size)
            return lambda: function(x, labels)

        return at
