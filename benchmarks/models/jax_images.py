# SPDX-License-Identifier: Apache-2.0
"""The models of images and graphs in JAX: layers, sizes and optimizers of their TensorFlow text."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental.sparse import BCOO

from . import dcgan as dcgan_text
from . import dqn as dqn_text
from .gcn import citations
from .image_classes import labelled
from .jax_parts import (
    IMAGES,
    Net,
    Run,
    adam,
    batch_norm,
    binary_losses,
    conv,
    deconv,
    dense,
    losses,
    max_pool,
    momentum,
    rmsprop,
)
from .parts import batches
from .unet import marked
from .vae import digits

relu, relu6 = jax.nn.relu, jax.nn.relu6
Steps = tuple[list[Run], list[tuple]]


def _classifier(logits: Any, optimizer: Any, batch: int, shape: Any, classes: int) -> Steps:
    def goal(net: Net, images: Any, labels: Any) -> Any:
        return losses(labels, logits(net, images)).mean()

    return [Run(goal, optimizer)], batches(4, labelled, batch, shape, classes)


def lenet(batch: int, pixels: int, channels: int, units: int) -> Steps:
    """LeNet."""

    def logits(net: Net, h: Any) -> Any:
        for depth in (channels, 2 * channels):
            h = max_pool(relu(conv(net, h, depth, 5, f"conv{depth}")), 2, 2, "SAME")
        h = dense(net, h.reshape(h.shape[0], -1), units, "hidden", relu)
        return dense(net, h, 10, "logits")

    return _classifier(logits, adam(1e-4), batch, (pixels, pixels, 1), 10)


def vgg(batch: int, pixels: int, channels: int, stages: tuple[int, ...]) -> Steps:
    """Nine convolutions with batch normalization."""

    def logits(net: Net, h: Any) -> Any:
        for stage, layers in enumerate(stages):
            for layer in range(layers):
                name = f"stage{stage}_conv{layer}"
                h = conv(net, h, channels << stage, 3, name, bias=False)
                h = relu(batch_norm(net, h, f"{name}_norm"))
            h = max_pool(h, 2, 2, "VALID")
        return dense(net, h.reshape(h.shape[0], -1), 10, "logits")

    return _classifier(logits, adam(1e-3), batch, (pixels, pixels, 3), 10)


def _bottleneck(net: Net, x: Any, channels: int, stride: int) -> Any:
    shortcut = x
    if stride != 1 or x.shape[-1] != 4 * channels:
        shortcut = conv(net, x, 4 * channels, 1, "shortcut", stride, bias=False)
        shortcut = batch_norm(net, shortcut, "shortcut_norm")
    h = relu(batch_norm(net, conv(net, x, channels, 1, "reduce", bias=False), "norm1"))
    h = relu(batch_norm(net, conv(net, h, channels, 3, "middle", stride, bias=False), "norm2"))
    h = batch_norm(net, conv(net, h, 4 * channels, 1, "expand", bias=False), "norm3")
    return relu(h + shortcut)


def resnet50(
    batch: int,
    pixels: int,
    channels: int,
    blocks: tuple[int, ...],
    classes: int,
) -> Steps:
    """ResNet-50."""

    def logits(net: Net, h: Any) -> Any:
        h = conv(net, h, channels, 7, "stem", stride=2, bias=False)
        h = max_pool(relu(batch_norm(net, h, "stem_norm")), 3, 2, "SAME")
        for stage, count in enumerate(blocks):
            for block in range(count):
                with net.scope(f"stage{stage}_block{block}"):
                    h = _bottleneck(net, h, channels << stage, 2 if stage and not block else 1)
        return dense(net, h.mean((1, 2)), classes, "logits")

    return _classifier(logits, momentum(0.01, 0.9), batch, (pixels, pixels, 3), classes)


def mobilenet(
    batch: int,
    pixels: int,
    channels: int,
    blocks: tuple[tuple[int, int], ...],
    classes: int,
) -> Steps:
    """MobileNet."""

    def separable(net: Net, x: Any, depth: int, stride: int) -> Any:
        inputs = x.shape[-1]
        kernel = net.weights("depthwise", [3, 3, inputs, 1], math.sqrt(2 / 9))
        kernel = kernel.reshape(3, 3, 1, inputs)
        strides = (stride, stride)
        h = lax.conv_general_dilated(
            x, kernel, strides, "SAME", dimension_numbers=IMAGES, feature_group_count=inputs
        )
        h = relu6(batch_norm(net, h, "norm1"))
        return relu6(batch_norm(net, conv(net, h, depth, 1, "pointwise", bias=False), "norm2"))

    def logits(net: Net, h: Any) -> Any:
        h = conv(net, h, channels, 3, "stem", stride=2, bias=False)
        h = relu6(batch_norm(net, h, "stem_norm"))
        for block, (times, stride) in enumerate(blocks):
            with net.scope(f"block{block}"):
                h = separable(net, h, times * channels, stride)
        return dense(net, h.mean((1, 2)), classes, "logits")

    optimizer = rmsprop(1e-3, 0.9, 0.9, 1.0)
    return _classifier(logits, optimizer, batch, (pixels, pixels, 3), classes)


def unet(batch: int, pixels: int, channels: int, levels: int, classes: int) -> Steps:
    """U-Net."""

    def block(net: Net, h: Any, depth: int, name: str) -> Any:
        for layer in range(2):
            h = relu(conv(net, h, depth, 3, f"{name}_conv{layer}"))
        return h

    def goal(net: Net, h: Any, labels: Any) -> Any:
        sides = []
        for level in range(levels - 1):
            sides.append(block(net, h, channels << level, f"down{level}"))
            h = max_pool(sides[-1], 2, 2, "SAME")
        h = block(net, h, channels << (levels - 1), "bottom")
        for level in reversed(range(levels - 1)):
            h = relu(deconv(net, h, channels << level, 2, f"grow{level}"))
            h = jnp.concatenate([sides[level], h], 3)
            h = block(net, h, channels << level, f"up{level}")
        return losses(labels, conv(net, h, classes, 1, "logits")).mean()

    return [Run(goal, adam(1e-3))], batches(4, marked, batch, pixels, classes)


def dcgan(batch: int, pixels: int, channels: int, noise: int) -> Steps:
    """DCGAN: two runs a step."""

    def generator(net: Net, z: Any) -> Any:
        side, depth = pixels // 8, 4 * channels
        with net.scope("generator"):
            h = dense(net, z, side * side * depth, "project").reshape(-1, side, side, depth)
            h = relu(batch_norm(net, h, "norm"))
            for layer in (1, 2):
                h = deconv(net, h, depth >> layer, 5, f"deconv{layer}")
                h = relu(batch_norm(net, h, f"norm{layer}"))
            return jnp.tanh(deconv(net, h, 3, 5, "image"))

    def discriminator(net: Net, images: Any) -> Any:
        with net.scope("discriminator"):
            h = jax.nn.leaky_relu(conv(net, images, channels, 5, "conv0", stride=2), 0.2)
            for layer in (1, 2):
                h = conv(net, h, channels << layer, 5, f"conv{layer}", stride=2)
                h = jax.nn.leaky_relu(batch_norm(net, h, f"norm{layer}"), 0.2)
            return dense(net, h.reshape(h.shape[0], -1), 1, "logit")

    def found(net: Net, z: Any, real: Any) -> Any:
        on_real, on_made = discriminator(net, real), discriminator(net, generator(net, z))
        return binary_losses(1.0, on_real).mean() + binary_losses(0.0, on_made).mean()

    def fooled(net: Net, z: Any, real: Any) -> Any:
        return binary_losses(1.0, discriminator(net, generator(net, z))).mean()

    goals = ((found, "discriminator/"), (fooled, "generator/"))
    runs = [Run(goal, adam(2e-4, beta1=0.5), scope) for goal, scope in goals]
    return runs, batches(4, dcgan_text.noise_and_images, batch, pixels, noise)


def vae(batch: int, inputs: int, units: int, codes: int) -> Steps:
    """A variational autoencoder."""

    def goal(net: Net, x: Any) -> Any:
        h = dense(net, dense(net, x, units, "read1", relu), units, "read2", relu)
        mean, spread = dense(net, h, codes, "mean"), dense(net, h, codes, "log_variance")
        code = mean + jnp.exp(0.5 * spread) * jax.random.normal(net.draw(), mean.shape)
        h = dense(net, dense(net, code, units, "write1", relu), units, "write2", relu)
        surprise = -0.5 * jnp.sum(1 + spread - mean**2 - jnp.exp(spread), 1)
        return (binary_losses(x, dense(net, h, inputs, "out")).sum(1) + surprise).mean()

    return [Run(goal, adam(1e-3))], batches(4, digits, batch, inputs)


def _worth(net: Net, screens: Any, actions: int, units: int, name: str) -> Any:
    h = screens.astype(jnp.float32) * (1 / 255)
    with net.scope(name):
        for number, (channels, size, stride) in enumerate(dqn_text.FILTERS):
            kernel = net.weights(f"kernel{number}", [size, size, h.shape[-1], channels])
            strides = (stride, stride)
            h = lax.conv_general_dilated(h, kernel, strides, "VALID", dimension_numbers=IMAGES)
            h = relu(h + net.constant(f"bias{number}", [channels]))
        h = dense(net, h.reshape(h.shape[0], -1), units, "hidden", relu)
        return dense(net, h, actions, "values")


def dqn_acting(pixels: int, actions: int, units: int) -> Steps:
    """The best action on one screen."""

    def goal(net: Net, now: Any) -> Any:
        worth = _worth(net, now, actions, units, "online")
        return worth.max(1), worth.argmax(1)

    return [Run(goal, None)], batches(4, dqn_text.one_screen, pixels)


def dqn_learning(batch: int, pixels: int, actions: int, units: int) -> Steps:
    """A training step against another network."""

    def goal(net: Net, now: Any, after: Any, action: Any, reward: Any, going_on: Any) -> Any:
        worth = _worth(net, now, actions, units, "online")
        expected = _worth(net, after, actions, units, "target").max(1)
        chosen = jnp.take_along_axis(worth, action[:, None], 1)[:, 0]
        off = jnp.abs(chosen - lax.stop_gradient(reward + 0.99 * going_on * expected))
        return jnp.where(off < 1, 0.5 * off * off, off - 0.5).mean()

    optimizer = rmsprop(2.5e-4, 0.95, 0.0, 0.01)
    return [Run(goal, optimizer, "online/")], batches(4, dqn_text.plays, batch, pixels, actions)


def gcn(
    nodes: int,
    features: int,
    units: int,
    classes: int,
    links: int,
    words: int,
) -> Steps:
    """A graph convolutional network."""

    def goal(net: Net, cites: Any, says: Any, labels: Any, known: Any) -> Any:
        cited = BCOO(cites[::-1], shape=(nodes, nodes))
        first = net.weights("first", [features, units])
        h = relu(cited @ (BCOO(says[::-1], shape=(nodes, features)) @ first))
        h = jnp.where(jax.random.bernoulli(net.draw(), 0.5, h.shape), h * 2, 0)
        logits = cited @ (h @ net.weights("second", [units, classes]))
        each = -jnp.sum(labels * jax.nn.log_softmax(logits), 1)
        return jnp.sum(each * known) / jnp.sum(known) + 5e-4 * jnp.sum(first**2) / 2

    given = batches(1, citations, nodes, features, classes, links, words)
    values = [(a[:2], b[:2], labels, known) for a, b, labels, known in given]
    return [Run(goal, adam(0.01))], values
