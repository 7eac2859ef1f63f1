# SPDX-License-Identifier: Apache-2.0
"""The models of sequences in JAX: scans over cells, attention, causal convolutions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from .jax_parts import Net, Run, adam, dense, gelu, layer_norm, losses
from .parts import batches, texts
from .recurrent import lines, reviews
from .seq2seq import translations
from .transformer_encoder import sentences
from .wavenet import sounds

Steps = tuple[list[Run], list[tuple]]
Cell = Callable[[Any, Any], tuple[Any, Any]]


def _lstm(net: Net, inputs: int, units: int, name: str) -> Cell:
    with net.scope(name):
        kernel = net.weights("kernel", [inputs + units, 4 * units], math.sqrt(1 / (inputs + units)))
        bias = net.constant("bias", [4 * units])

    def cell(x: Any, state: Any) -> tuple[Any, Any]:
        memory, hidden = state
        gates = jnp.concatenate([x, hidden], 1) @ kernel + bias
        i, j, f, o = jnp.split(gates, 4, 1)
        memory = memory * jax.nn.sigmoid(f + 1.0) + jax.nn.sigmoid(i) * jnp.tanh(j)
        hidden = jnp.tanh(memory) * jax.nn.sigmoid(o)
        return hidden, (memory, hidden)

    return cell


def _gru(net: Net, inputs: int, units: int, name: str) -> Cell:
    with net.scope(name):
        scale = math.sqrt(1 / (inputs + units))
        gates = net.weights("gates", [inputs + units, 2 * units], scale)
        gates_bias = net.constant("gates_bias", [2 * units], 1.0)
        kernel = net.weights("kernel", [inputs + units, units], scale)
        bias = net.constant("bias", [units])

    def cell(x: Any, state: Any) -> tuple[Any, Any]:
        both = jax.nn.sigmoid(jnp.concatenate([x, state], 1) @ gates + gates_bias)
        reset, keep = jnp.split(both, 2, 1)
        new = jnp.tanh(jnp.concatenate([x, reset * state], 1) @ kernel + bias)
        state = keep * state + (1 - keep) * new
        return state, state

    return cell


def _scan(cell: Cell, inputs: Any, state: Any, lengths: Any = None) -> tuple[Any, Any]:
    """A cell over [batch, steps, …]: after its length a sequence gives zeros and stays."""

    def turn(before: Any, given: Any) -> tuple[Any, Any]:
        number, x = given
        output, after = cell(x, before)
        if lengths is not None:
            on = (number < lengths)[:, None]
            output = jnp.where(on, output, 0)
            after = jax.tree_util.tree_map(lambda a, b: jnp.where(on, a, b), after, before)
        return after, output

    numbers = jnp.arange(inputs.shape[1])
    end, outputs = lax.scan(turn, state, (numbers, jnp.swapaxes(inputs, 0, 1)))
    return jnp.swapaxes(outputs, 0, 1), end


def lstm_classifier(batch: int, steps: int, inputs: int, units: int) -> Steps:
    """An LSTM over the rows of an image."""

    def goal(net: Net, rows: Any, lengths: Any, labels: Any) -> Any:
        zero = jnp.zeros((batch, units))
        _, (_, last) = _scan(_lstm(net, inputs, units, "lstm"), rows, (zero, zero), lengths)
        return losses(labels, dense(net, last, 10, "logits")).mean()

    return [Run(goal, adam(1e-3))], batches(4, lines, batch, steps, inputs)


def _reversed(x: Any, lengths: Any) -> Any:
    places = jnp.arange(x.shape[1])
    places = jnp.where(places < lengths[:, None], lengths[:, None] - 1 - places, places)
    return jnp.take_along_axis(x, places[..., None], 1)


def bidirectional_gru(
    batch: int,
    steps: int,
    units: int,
    vocabulary: int,
    embedding: int,
) -> Steps:
    """Two GRUs over a text."""

    def goal(net: Net, tokens: Any, lengths: Any, labels: Any) -> Any:
        x = net.weights("table", [vocabulary, embedding], 0.1)[tokens]
        zero, states = jnp.zeros((batch, units)), []
        for name, inputs in (("fw/forward", x), ("bw/backward", _reversed(x, lengths))):
            cell = _gru(net, embedding, units, name.split("/")[1])
            states.append(_scan(cell, inputs, zero, lengths)[1])
        return losses(labels, dense(net, jnp.concatenate(states, 1), 2, "logits")).mean()

    return [Run(goal, adam(1e-3))], batches(4, reviews, batch, steps, vocabulary)


def char_rnn(batch: int, steps: int, units: int, letters: int) -> Steps:
    """Two LSTMs on letters, whose states go on."""

    def goal(net: Net, text: Any) -> Any:
        x = net.weights("table", [letters, units], 0.1)[text[:, :-1]]
        lower, upper = (_lstm(net, units, units, f"lstm{layer}") for layer in range(2))

        def both(x: Any, state: Any) -> tuple[Any, Any]:
            x, first = lower(x, state[:2])
            x, second = upper(x, state[2:])
            return x, (*first, *second)

        start = tuple(net.state(f"state{number}", [batch, units]) for number in range(4))
        outputs, end = _scan(both, x, start)
        for number, after in enumerate(end):
            net.keep(f"state{number}", [batch, units], 0.0, lambda _, after=after: after)
        return losses(text[:, 1:], dense(net, outputs, letters, "logits")).mean()

    return [Run(goal, adam(2e-3), clip=5.0)], batches(4, texts, letters, batch, steps)


def seq2seq(
    batch: int,
    read: int,
    written: int,
    units: int,
    vocabulary: int,
) -> Steps:
    """A GRU reads, another writes with attention."""

    def goal(net: Net, source: Any, lengths: Any, target: Any, target_lengths: Any) -> Any:
        tables = [net.weights(name, [vocabulary, units], 0.1) for name in ("source", "target")]
        zero = jnp.zeros((batch, units))
        memory, state = _scan(_gru(net, units, units, "encoder"), tables[0][source], zero, lengths)
        gru = _gru(net, 2 * units, units, "decoder")
        keys = net.weights("keys", [units, units])
        mix = net.weights("mix", [2 * units, units])
        mask = (jnp.arange(read) < lengths[:, None]).astype(jnp.float32) * 1e9 - 1e9

        def cell(x: Any, before: Any) -> tuple[Any, Any]:
            mixed, hidden = before
            hidden, _ = gru(jnp.concatenate([x, mixed], 1), hidden)
            scores = jnp.einsum("btu,bu->bt", memory, hidden @ keys) + mask
            context = jnp.einsum("bt,btu->bu", jax.nn.softmax(scores), memory)
            mixed = jnp.tanh(jnp.concatenate([hidden, context], 1) @ mix)
            return mixed, (mixed, hidden)

        outputs, _ = _scan(cell, tables[1][target[:, :-1]], (zero, state), target_lengths)
        all_losses = losses(target[:, 1:], dense(net, outputs, vocabulary, "logits"))
        there = jnp.arange(written) < target_lengths[:, None]
        return jnp.sum(all_losses * there) / jnp.sum(there)

    values = batches(4, translations, batch, read, written, vocabulary)
    return [Run(goal, adam(1e-3), clip=5.0)], values


def _embedded(net: Net, tokens: Any, vocabulary: int, length: int, units: int) -> tuple[Any, Any]:
    table = net.weights("tokens", [vocabulary, units], 0.02)
    return table, table[tokens] + net.weights("places", [length, units], 0.02)


def _block(net: Net, x: Any, heads: int, mask: Any, dropped: float = 0.0) -> Any:
    batch, length, units = x.shape

    def drop(y: Any) -> Any:
        if not dropped:
            return y
        keep = jax.random.bernoulli(net.draw(), 1 - dropped, y.shape)
        return jnp.where(keep, y / (1 - dropped), 0)

    qkv = dense(net, layer_norm(net, x, "norm1"), 3 * units, "qkv")
    q, k, v = jnp.moveaxis(qkv.reshape(batch, length, 3, heads, units // heads), 2, 0)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (1 / math.sqrt(units // heads)) + mask
    joined = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
    x = x + drop(dense(net, joined.reshape(batch, length, units), units, "joined"))
    h = gelu(dense(net, layer_norm(net, x, "norm2"), 4 * units, "wide"))
    return x + drop(dense(net, h, units, "narrow"))


def transformer_encoder(
    batch: int,
    length: int,
    units: int,
    layers: int,
    heads: int,
    vocabulary: int,
    masked: int,
) -> Steps:
    """A Transformer encoder that guesses masked words."""

    def goal(net: Net, tokens: Any, lengths: Any, places: Any, truth: Any) -> Any:
        table, h = _embedded(net, tokens, vocabulary, length, units)
        there = jnp.arange(length) < lengths[:, None]
        mask = (there[:, None, None, :].astype(jnp.float32) - 1) * 1e9
        for layer in range(layers):
            with net.scope(f"layer{layer}"):
                h = _block(net, h, heads, mask, dropped=0.1)
        h = jnp.take_along_axis(layer_norm(net, h, "norm"), places[..., None], 1)
        logits = h @ table.T + net.constant("bias", [vocabulary])
        return losses(truth, logits).mean()

    values = batches(4, sentences, batch, length, vocabulary, masked)
    return [Run(goal, adam(1e-4))], values


def gpt(
    batch: int,
    length: int,
    units: int,
    layers: int,
    heads: int,
    vocabulary: int,
) -> Steps:
    """A decoder as GPT is."""

    def goal(net: Net, text: Any) -> Any:
        table, h = _embedded(net, text[:, :-1], vocabulary, length, units)
        mask = (jnp.tril(jnp.ones((length, length))) - 1) * 1e9
        for layer in range(layers):
            with net.scope(f"layer{layer}"):
                h = _block(net, h, heads, mask)
        return losses(text[:, 1:], layer_norm(net, h, "norm") @ table.T).mean()

    optimizer = adam(lambda step: 3e-4 * 0.9 ** (step / 1000))
    return [Run(goal, optimizer, clip=1.0)], batches(4, texts, vocabulary, batch, length)


def wavenet(
    batch: int,
    samples: int,
    channels: int,
    skipped: int,
    cycles: int,
    dilations: tuple[int, ...],
    levels: int,
) -> Steps:
    """Gated convolutions that reach ever further back."""

    def causal(net: Net, x: Any, depth: int, dilation: int, name: str) -> Any:
        kernel = net.weights(name, [2, x.shape[-1], depth])
        return lax.conv_general_dilated(
            x,
            kernel,
            (1,),
            [(dilation, 0)],
            rhs_dilation=(dilation,),
            dimension_numbers=("NWC", "WIO", "NWC"),
        )

    def across(net: Net, x: Any, depth: int, name: str) -> Any:
        with net.scope(name):
            kernel = net.weights("kernel", [1, 1, x.shape[-1], depth])
            return x @ kernel[0, 0] + net.constant("bias", [depth])

    def goal(net: Net, sound: Any) -> Any:
        h = causal(net, jax.nn.one_hot(sound[:, :-1], levels), channels, 1, "first")
        total = 0.0
        for cycle in range(cycles):
            for dilation in dilations:
                with net.scope(f"cycle{cycle}_{dilation}"):
                    both = causal(net, h, 2 * channels, dilation, "dilated")
                    values, gate = jnp.split(both, 2, 2)
                    gated = jnp.tanh(values) * jax.nn.sigmoid(gate)
                    total += across(net, gated, skipped, "skipped")
                    h += across(net, gated, channels, "residual")
        h = across(net, jax.nn.relu(total), skipped, "mixed")
        return losses(sound[:, 1:], across(net, jax.nn.relu(h), levels, "logits")).mean()

    return [Run(goal, adam(1e-3))], batches(4, sounds, batch, samples, levels)
