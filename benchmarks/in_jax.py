# SPDX-License-Identifier: Apache-2.0
"""The workloads in JAX: one jitted function a step, parameters and moments handed over to it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

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
_tree = jax.tree_util.tree_map


def _chain(x: Any) -> Any:
    for i in range(5):
        x = jnp.sin(x) + 0.1 * i
    return x


def _black_scholes(spot: Any, strike: Any, years: Any) -> Any:
    rate, volatility = 0.02, 0.3
    spread = volatility * jnp.sqrt(years)
    d1 = (jnp.log(spot / strike) + (rate + volatility * volatility / 2) * years) / spread
    d2 = d1 - spread
    discounted = strike * jnp.exp(-rate * years)

    def cdf(z: Any) -> Any:
        return 0.5 * (1 + lax.erf(z * 0.7071067811865476))

    call = spot * cdf(d1) - discounted * cdf(d2)
    return call, discounted * cdf(-d2) - spot * cdf(-d1)


def _layernorm_gelu(x: Any) -> Any:
    mean = x.mean(1, keepdims=True)
    variance = ((x - mean) ** 2).mean(1, keepdims=True)
    y = (x - mean) * lax.rsqrt(variance + 1e-5)
    return 0.5 * y * (1 + jnp.tanh(0.7978845608 * (y + 0.044715 * y * y * y)))


def _loss(logits: Any, labels: Any) -> Any:
    return jnp.mean(-jnp.sum(labels * jax.nn.log_softmax(logits), 1))


def _mlp(parameters: Any, x: Any, labels: Any) -> Any:
    *hidden, weights, bias = parameters
    for w, b in zip(hidden[::2], hidden[1::2]):
        x = jax.nn.relu(x @ w + b)
    return _loss(x @ weights + bias, labels)


def _lenet(parameters: Any, x: Any, labels: Any) -> Any:
    h = x.reshape(-1, 28, 28, 1)
    for filters, bias in zip(parameters[:4:2], parameters[1:4:2]):
        layout = ("NHWC", "HWIO", "NHWC")
        h = lax.conv_general_dilated(h, filters, (1, 1), "SAME", dimension_numbers=layout)
        h = jax.nn.relu(h + bias)
        h = lax.reduce_window(h, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")
    return _mlp(parameters[4:], h.reshape(-1, LENET_UNITS[0]), labels)


def _lstm(parameters: Any, x: Any, labels: Any) -> Any:
    weights, bias, out, out_bias = parameters
    units = bias.shape[0] // 4
    cell = hidden = jnp.zeros((x.shape[0], units))
    for t in range(28):
        row = x[:, 28 * t : 28 * t + 28]
        gates = jnp.concatenate([row, hidden], 1) @ weights + bias
        i, j, f, o = jnp.split(gates, 4, 1)
        sigmoid = jax.nn.sigmoid
        cell = cell * sigmoid(f + 1.0) + sigmoid(i) * jnp.tanh(j)
        hidden = jnp.tanh(cell) * sigmoid(o)
    return _loss(hidden @ out + out_bias, labels)


def _sgd(rate: float) -> tuple[Any, Any]:
    def update(parameters: Any, gradients: Any, state: Any) -> tuple[Any, Any]:
        return _tree(lambda p, g: p - rate * g, parameters, gradients), state

    return (lambda parameters: ()), update


def _adam(rate: float) -> tuple[Any, Any]:
    def start(parameters: Any) -> Any:
        zeros = partial(_tree, jnp.zeros_like)
        return zeros(parameters), zeros(parameters), jnp.float32(0)

    def update(parameters: Any, gradients: Any, state: Any) -> tuple[Any, Any]:
        m, v, t = state
        t = t + 1
        m = _tree(lambda a, g: 0.9 * a + 0.1 * g, m, gradients)
        v = _tree(lambda a, g: 0.999 * a + 0.001 * g * g, v, gradients)
        scale = rate * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        step = _tree(
            lambda p, a, b: p - scale * a / (jnp.sqrt(b) + 1e-8),
            parameters,
            m,
            v,
        )
        return step, (m, v, t)

    return start, update


def _train(loss: Any, parameters: Any, optimizer: tuple[Any, Any]) -> Callable[[Any, Any], Any]:
    """A function that takes one training step and returns the loss as a number."""
    start, update = optimizer
    held = [[jnp.asarray(p) for p in parameters]]
    held.append(start(held[0]))

    @partial(jax.jit, donate_argnums=(0, 1))
    def advance(parameters: Any, state: Any, x: Any, labels: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(parameters, x, labels)
        return *update(parameters, gradients, state), value

    def step(x: Any, labels: Any) -> float:
        *held[:], value = advance(*held, x, labels)
        jax.block_until_ready(held)
        return float(value)

    return step


def _lenet_parameters() -> list[np.ndarray]:
    filters: list[np.ndarray] = []
    for inputs, outputs in LENET_FILTERS:
        filters += [normal(5, 5, inputs, outputs, scale=0.1), np.full(outputs, 0.1, np.float32)]
    return filters + dense_weights(*LENET_UNITS)


def _training(batch: int, *definition: Any) -> Step:
    step = _train(*definition)
    x, labels = images(batch)
    return lambda: step(x, labels)


def _kept(function: Any, *arguments: Any) -> Step:
    """A step whose results stay where JAX puts them."""
    compiled = jax.jit(function)
    arrays = [jnp.asarray(a) for a in arguments]
    return lambda: jax.block_until_ready(compiled(*arrays))


def _fetched(function: Any, argument: Any) -> Step:
    """A step from a NumPy array to a NumPy array."""
    compiled = jax.jit(function)
    return lambda: np.asarray(compiled(argument))


def _options64() -> Step:
    with jax.enable_x64(True):
        compiled = jax.jit(_black_scholes)
        arrays = [jnp.asarray(a) for a in options(1_000_000, "float64")]

    def step() -> Any:
        with jax.enable_x64(True):
            return jax.block_until_ready(compiled(*arrays))

    return step


def _adam_update() -> Step:
    _, update = _adam(1e-3)
    # Three arrays: what is handed over to the function may not be shared.
    weights, m, v = ([jnp.zeros(10_000_000) + 0] for _ in range(3))
    held: list[Any] = [weights, (m, v, jnp.float32(0))]
    function = jax.jit(lambda p, state: update(p, [p[0] * 0.5 + 0.1], state), donate_argnums=(0, 1))

    def step() -> None:
        held[:] = jax.block_until_ready(function(*held))

    return step


def _lstm_sgd(batch: int = 128, units: int = 128) -> Step:
    parameters = [
        normal(28 + units, 4 * units, scale=0.05),
        np.zeros(4 * units, np.float32),
        *dense_weights(units, 10),
    ]
    return _training(batch, _lstm, parameters, _sgd(1e-2))


def _deep_mlp(batch: int = 64, units: int = 64) -> Step:
    weights = dense_weights(784, *[units] * (DEEP_LAYERS - 1), 10)
    return _training(batch, _mlp, weights, _adam(1e-3))


def _lenet_adam(batch: int = 64) -> Step:
    return _training(batch, _lenet, _lenet_parameters(), _adam(1e-4))


_STEPS: dict[str, Callable[..., Step]] = {
    "two_scalar_ops": lambda: _fetched(lambda x: x * 0.1 + 0.2, np.float32(3)),
    "ten_op_chain": lambda: _fetched(_chain, np.ones(100, np.float32)),
    "black_scholes_f32": lambda: _kept(_black_scholes, *options(1_000_000, "float32")),
    "black_scholes_f64": _options64,
    "softmax": lambda: _kept(jax.nn.softmax, normal(4096, 1000)),
    "layernorm_gelu": lambda: _kept(_layernorm_gelu, normal(4096, 1024)),
    "softmax_regression": lambda: _training(
        100, _mlp, [np.zeros((784, 10), np.float32), np.zeros(10, np.float32)], _sgd(0.1)
    ),
    "mlp_adam": lambda: _training(128, _mlp, dense_weights(*MLP_UNITS), _adam(1e-3)),
    "lenet_adam": _lenet_adam,
    "lstm_sgd": _lstm_sgd,
    "adam_update": _adam_update,
    "deep_mlp": _deep_mlp,
}


class Jax:
    """The peer as a worker uses it."""

    workloads = frozenset(_STEPS)

    def version(self) -> str:
        """The version of the package."""
        return str(jax.__version__)

    def step(self, workload: str, **sizes: int) -> Step:
        """A step of the workload."""
        return _STEPS[workload](**sizes)

    def batches(self) -> Callable[[int], Step]:
        """A function from a batch size to a step of the small network at that size."""
        step = _train(_mlp, dense_weights(*MLP_UNITS), _adam(1e-3))

        def at(size: int) -> Step:
            x, labels = images(size)
            return lambda: step(x, labels)

        return at
