# SPDX-License-Identifier: Apache-2.0
"""What the models share in JAX: parameters by name, layers, optimizers, the jitted step.

The parameters have the names and shapes that `parts.py` gives them, so that a test can hand over
the same values and compare the losses.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

IMAGES = ("NHWC", "HWIO", "NHWC")
Values = dict[str, Any]


class Net:
    """Parameters by name: those that are trained, and those that a step only keeps.

    While `making`, a name that is asked for the first time gets its first value.
    """

    def __init__(self, trained: Values, kept: Values, key: Any = None, making: bool = False):
        self.trained, self.kept, self.key = trained, kept, key
        self._making, self._scopes, self._draws = making, [], 0

    @contextmanager
    def scope(self, name: str) -> Iterator[None]:
        """Puts names below `name`."""
        self._scopes.append(name)
        yield
        self._scopes.pop()

    def _value(self, where: Values, name: str, first: Callable[[str], np.ndarray]) -> Any:
        path = "/".join([*self._scopes, name])
        if self._making and path not in where:
            where[path] = first(path)
        return jnp.asarray(where[path])

    def weights(self, name: str, shape: list[int], scale: float | None = None) -> Any:
        """Normal values, as `parts.weights` scales them."""
        scale = math.sqrt(2 / math.prod(shape[:-1])) if scale is None else scale

        def first(path: str) -> np.ndarray:
            random = np.random.RandomState(zlib.crc32(path.encode()))
            return (random.standard_normal(shape) * scale).astype(np.float32)

        return self._value(self.trained, name, first)

    def constant(self, name: str, shape: list[int], value: float = 0.0) -> Any:
        """A trained parameter that begins as one number."""
        return self._value(self.trained, name, lambda _: np.full(shape, value, np.float32))

    def keep(self, name: str, shape: list[int], value: float, update: Callable[[Any], Any]) -> None:
        """Replaces what is kept by `update` of it."""
        before = self._value(self.kept, name, lambda _: np.full(shape, value, np.float32))
        if not self._making:
            self.kept["/".join([*self._scopes, name])] = lax.stop_gradient(update(before))

    def state(self, name: str, shape: list[int]) -> Any:
        """What is kept, zeros at first."""
        return self._value(self.kept, name, lambda _: np.zeros(shape, np.float32))

    def draw(self) -> Any:
        """A key for random numbers that nothing else has."""
        self._draws += 1
        return jax.random.fold_in(self.key, self._draws)


def dense(net: Net, x: Any, units: int, name: str, activation: Any = None) -> Any:
    """A fully connected layer."""
    with net.scope(name):
        y = x @ net.weights("weights", [x.shape[-1], units]) + net.constant("bias", [units])
    return y if activation is None else activation(y)


def conv(
    net: Net, x: Any, channels: int, size: int, name: str, stride: int = 1, bias: bool = True
) -> Any:
    """A square convolution that keeps the size of the image, over its stride."""
    with net.scope(name):
        kernel = net.weights("kernel", [size, size, x.shape[-1], channels])
        y = lax.conv_general_dilated(x, kernel, (stride, stride), "SAME", dimension_numbers=IMAGES)
        return y + net.constant("bias", [channels]) if bias else y


def deconv(net: Net, x: Any, channels: int, size: int, name: str, stride: int = 2) -> Any:
    """A transposed convolution: the image grows by the stride."""
    depth = x.shape[-1]
    with net.scope(name):
        scale = math.sqrt(2 / (size * size * depth / stride**2))
        kernel = net.weights("kernel", [size, size, channels, depth], scale)
        strides = (stride, stride)
        y = lax.conv_transpose(
            x, kernel, strides, "SAME", dimension_numbers=IMAGES, transpose_kernel=True
        )
        return y + net.constant("bias", [channels])


def batch_norm(net: Net, x: Any, name: str, decay: float = 0.99) -> Any:
    """Batch normalization in training, which keeps moving averages."""
    channels, count = [x.shape[-1]], math.prod(x.shape[:-1])
    with net.scope(name):
        scale, offset = net.constant("scale", channels, 1.0), net.constant("offset", channels)
        mean = jnp.mean(x, (0, 1, 2))
        variance = jnp.mean(jnp.square(x - mean), (0, 1, 2))
        unbiased = variance * (count / max(count - 1, 1))
        net.keep("mean", channels, 0.0, lambda old: old - (old - mean) * (1 - decay))
        net.keep("variance", channels, 1.0, lambda old: old - (old - unbiased) * (1 - decay))
    return (x - mean) * (lax.rsqrt(variance + 1e-3) * scale) + offset


def layer_norm(net: Net, x: Any, name: str) -> Any:
    """Normalization over the last dimension, with a scale and an offset."""
    with net.scope(name):
        scale = net.constant("scale", [x.shape[-1]], 1.0)
        mean = x.mean(-1, keepdims=True)
        variance = jnp.square(x - mean).mean(-1, keepdims=True)
        offset = net.constant("offset", [x.shape[-1]])
        return (x - mean) * (lax.rsqrt(variance + 1e-6) * scale) + offset


def max_pool(x: Any, size: int, stride: int, padding: str) -> Any:
    """The greatest values in square windows."""
    window, strides = (1, size, size, 1), (1, stride, stride, 1)
    return lax.reduce_window(x, -jnp.inf, lax.max, window, strides, padding)


def gelu(x: Any) -> Any:
    """The Gaussian error linear unit, by its approximation with tanh."""
    return jax.nn.gelu(x, approximate=True)


def losses(labels: Any, logits: Any) -> Any:
    """The losses of labels that are numbers of classes."""
    scores = jax.nn.log_softmax(logits)
    return -jnp.take_along_axis(scores, labels[..., None], -1)[..., 0]


def binary_losses(labels: Any, logits: Any) -> Any:
    """The losses of labels between 0 and 1."""
    return jnp.maximum(logits, 0) - logits * labels + jnp.log1p(jnp.exp(-jnp.abs(logits)))


class Optimizer(NamedTuple):
    """What it keeps for a parameter, and its update of (parameter, gradient, kept, step)."""

    start: Callable[[Any], tuple]
    update: Callable[[Any, Any, tuple, Any], tuple[Any, tuple]]


def adam(rate: Any, beta1: float = 0.9) -> Optimizer:
    """Adam with TensorFlow's constants; the rate may be a function of the steps taken."""

    def update(x: Any, g: Any, kept: tuple, step: Any) -> tuple[Any, tuple]:
        m = beta1 * kept[0] + (1 - beta1) * g
        v = 0.999 * kept[1] + 0.001 * g * g
        base = rate(step) if callable(rate) else rate
        now = base * jnp.sqrt(1 - 0.999 ** (step + 1)) / (1 - beta1 ** (step + 1))
        return x - now * m / (jnp.sqrt(v) + 1e-8), (m, v)

    return Optimizer(lambda x: (np.zeros_like(x), np.zeros_like(x)), update)


def momentum(rate: float, decay: float) -> Optimizer:
    """Gradient descent with momentum."""

    def update(x: Any, g: Any, kept: tuple, step: Any) -> tuple[Any, tuple]:
        moving = decay * kept[0] + g
        return x - rate * moving, (moving,)

    return Optimizer(lambda x: (np.zeros_like(x),), update)


def rmsprop(rate: float, decay: float, decay_moving: float, epsilon: float) -> Optimizer:
    """RMSProp with momentum, as TensorFlow has it: the mean square begins at one."""

    def update(x: Any, g: Any, kept: tuple, step: Any) -> tuple[Any, tuple]:
        square = decay * kept[0] + (1 - decay) * g * g
        moving = decay_moving * kept[1] + rate * g * lax.rsqrt(square + epsilon)
        return x - moving, (square, moving)

    return Optimizer(lambda x: (np.ones_like(x), np.zeros_like(x)), update)


class Run(NamedTuple):
    """A part of a step: a function of the net and a batch, and how what lies in a scope learns.

    Without an optimizer the function's first result is all there is.
    """

    goal: Callable[..., Any]
    optimizer: Optimizer | None
    scope: str = ""
    clip: float | None = None


def jitted(run: Run) -> Callable[..., Any]:
    """One compiled function: parameters, what is kept and moments go in and come out."""

    def step(trained: Any, kept: Any, moments: Any, key: Any, number: Any, batch: tuple) -> Any:
        def goal(chosen: Values) -> tuple[Any, Values]:
            net = Net({**trained, **chosen}, dict(kept), jax.random.fold_in(key, number))
            return run.goal(net, *batch), net.kept

        chosen = {name: x for name, x in trained.items() if name.startswith(run.scope)}
        if run.optimizer is None:
            return goal(chosen)[0], trained, kept, moments
        (loss, after), gradients = jax.value_and_grad(goal, has_aux=True)(chosen)
        if run.clip is not None:
            squares = [jnp.sum(jnp.square(g)) for g in jax.tree_util.tree_leaves(gradients)]
            scale = jnp.minimum(1.0, run.clip / jnp.sqrt(sum(squares)))
            gradients = {name: g * scale for name, g in gradients.items()}
        new, new_moments = dict(trained), {}
        for name, x in chosen.items():
            new[name], new_moments[name] = run.optimizer.update(
                x, gradients[name], moments[name], number
            )
        new_kept = {n: after[n] if n.startswith(run.scope) else x for n, x in kept.items()}
        return loss, new, new_kept, new_moments

    return jax.jit(step, donate_argnums=(0, 1, 2) if run.optimizer else ())
