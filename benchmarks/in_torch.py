# SPDX-License-Identifier: Apache-2.0
"""The workloads in PyTorch, as eager code and through torch.compile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from .data import (
    DEEP_LAYERS,
    LENET_FILTERS,
    LENET_UNITS,
    dense_weights,
    images,
    normal,
    options,
)
from .workloads import MLP_UNITS

Step = Callable[[], Any]


def _chain(x: Any) -> Any:
    for i in range(5):
        x = torch.sin(x) + 0.1 * i
    return x


def _black_scholes(spot: Any, strike: Any, years: Any) -> Any:
    rate, volatility = 0.02, 0.3
    spread = volatility * torch.sqrt(years)
    d1 = (torch.log(spot / strike) + (rate + volatility * volatility / 2) * years) / spread
    d2 = d1 - spread
    discounted = strike * torch.exp(-rate * years)

    def cdf(z: Any) -> Any:
        return 0.5 * (1 + torch.erf(z * 0.7071067811865476))

    call = spot * cdf(d1) - discounted * cdf(d2)
    return call, discounted * cdf(-d2) - spot * cdf(-d1)


def _layernorm_gelu(x: Any) -> Any:
    mean = x.mean(1, keepdim=True)
    variance = ((x - mean) ** 2).mean(1, keepdim=True)
    y = (x - mean) * torch.rsqrt(variance + 1e-5)
    return 0.5 * y * (1 + torch.tanh(0.7978845608 * (y + 0.044715 * y * y * y)))


def _softmax(x: Any) -> Any:
    return torch.softmax(x, 1)


def _mlp(parameters: Any, x: Any, labels: Any) -> Any:
    *hidden, weights, bias = parameters
    for w, b in zip(hidden[::2], hidden[1::2]):
        x = F.relu(x @ w + b)
    return F.cross_entropy(x @ weights + bias, labels)


def _lenet(parameters: Any, x: Any, labels: Any) -> Any:
    h = x.reshape(-1, 1, 28, 28)
    for filters, bias in zip(parameters[:4:2], parameters[1:4:2]):
        h = F.max_pool2d(F.relu(F.conv2d(h, filters, bias, padding=2)), 2)
    return _mlp(parameters[4:], h.reshape(-1, LENET_UNITS[0]), labels)


def _lstm(parameters: Any, x: Any, labels: Any) -> Any:
    weights, bias, out, out_bias = parameters
    cell = hidden = torch.zeros(x.shape[0], bias.shape[0] // 4)
    for t in range(28):
        row = x[:, 28 * t : 28 * t + 28]
        gates = torch.cat([row, hidden], 1) @ weights + bias
        i, j, f, o = torch.chunk(gates, 4, 1)
        cell = cell * torch.sigmoid(f + 1.0) + torch.sigmoid(i) * torch.tanh(j)
        hidden = torch.tanh(cell) * torch.sigmoid(o)
    return F.cross_entropy(hidden @ out + out_bias, labels)


def _parameters(arrays: list[np.ndarray]) -> list[Any]:
    return [torch.from_numpy(a).requires_grad_() for a in arrays]


def _lenet_parameters() -> list[np.ndarray]:
    filters: list[np.ndarray] = []
    for inputs, outputs in LENET_FILTERS:
        filters += [normal(outputs, inputs, 5, 5, scale=0.1), np.full(outputs, 0.1, np.float32)]
    return filters + dense_weights(*LENET_UNITS)


def _lstm_parameters(units: int) -> list[np.ndarray]:
    gates = [normal(28 + units, 4 * units, scale=0.05), np.zeros(4 * units, np.float32)]
    return gates + dense_weights(units, 10)


class Torch:
    """The peer as a worker uses it; `compiled` puts functions through torch.compile."""

    def __init__(self, compiled: bool, threads: int) -> None:
        torch.set_num_threads(threads)
        self._compiled = compiled
        self._steps: dict[str, Callable[..., Step]] = {
            "two_scalar_ops": self._two_scalar_ops,
            "ten_op_chain": self._ten_op_chain,
            "black_scholes_f32": lambda: self._kept(_black_scholes, *options(1_000_000, "float32")),
            "black_scholes_f64": lambda: self._kept(_black_scholes, *options(1_000_000, "float64")),
            "softmax": lambda: self._kept(_softmax, normal(4096, 1000)),
            "layernorm_gelu": lambda: self._kept(_layernorm_gelu, normal(4096, 1024)),
            "softmax_regression": self._softmax_regression,
            "mlp_adam": lambda: self._training(
                128, _mlp, dense_weights(*MLP_UNITS), self._adam(1e-3)
            ),
            "lenet_adam": lambda batch=64: self._training(
                batch, _lenet, _lenet_parameters(), self._adam(1e-4)
            ),
            "lstm_sgd": lambda: self._training(128, _lstm, _lstm_parameters(128), self._sgd(1e-2)),
            "adam_update": self._adam_update,
            "deep_mlp": self._deep_mlp,
        }
        self.workloads = frozenset(self._steps)

    def version(self) -> str:
        """The version of the package."""
        return str(torch.__version__)

    def step(self, workload: str, **sizes: int) -> Step:
        """A step of the workload."""
        return self._steps[workload](**sizes)

    def batches(self) -> Callable[[int], Step] | None:
        """A function from a batch size to a step of the small network at that size."""
        if self._compiled:
            return None  # every size would be compiled anew
        step = self._train(_mlp, dense_weights(*MLP_UNITS), self._adam(1e-3))

        def at(size: int) -> Step:
            x, labels = images(size)
            return lambda: step(torch.from_numpy(x), torch.from_numpy(labels))

        return at

    def _function(self, function: Any) -> Any:
        return torch.compile(function, dynamic=False) if self._compiled else function

    @staticmethod
    def _sgd(rate: float) -> Any:
        return lambda parameters: torch.optim.SGD(parameters, rate)

    @staticmethod
    def _adam(rate: float) -> Any:
        return lambda parameters: torch.optim.Adam(parameters, rate, fused=True)

    def _two_scalar_ops(self) -> Step:
        function = self._function(lambda x: x * 0.1 + 0.2)
        return lambda: function(torch.tensor(3.0)).item()

    def _ten_op_chain(self) -> Step:
        function, x = self._function(_chain), np.ones(100, np.float32)
        return lambda: function(torch.from_numpy(x)).numpy()

    def _kept(self, function: Any, *arguments: np.ndarray) -> Step:
        """A step whose results stay where PyTorch puts them."""
        compiled = self._function(function)
        tensors = [torch.from_numpy(a) for a in arguments]

        def step() -> Any:
            with torch.no_grad():
                return compiled(*tensors)

        return step

    def _train(self, loss: Any, arrays: list[np.ndarray], optimizer: Any) -> Any:
        parameters = _parameters(arrays)
        update, value = optimizer(parameters), self._function(loss)

        def step(x: Any, labels: Any) -> float:
            update.zero_grad(set_to_none=True)
            lost = value(parameters, x, labels)
            lost.backward()
            update.step()
            return lost.item()

        return step

    def _training(self, batch: int, *definition: Any) -> Step:
        step = self._train(*definition)
        x, labels = images(batch)
        return lambda: step(torch.from_numpy(x), torch.from_numpy(labels))

    def _softmax_regression(self) -> Step:
        zeros = [np.zeros((784, 10), np.float32), np.zeros(10, np.float32)]
        return self._training(100, _mlp, zeros, self._sgd(0.1))

    def _deep_mlp(self, batch: int = 64, units: int = 64) -> Step:
        weights = dense_weights(784, *[units] * (DEEP_LAYERS - 1), 10)
        return self._training(batch, _mlp, weights, self._adam(1e-3))

    def _adam_update(self) -> Step:
        weights = torch.zeros(10_000_000).requires_grad_()
        update = self._adam(1e-3)([weights])

        def step() -> None:
            with torch.no_grad():
                weights.grad = weights * 0.5 + 0.1
            update.step()

        return step
