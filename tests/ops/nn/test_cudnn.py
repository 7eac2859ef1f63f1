# SPDX-License-Identifier: Apache-2.0
"""cudnn's recurrent nets against the formulas, step by step, in NumPy; gradients by differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.ops.nn.cudnn_layout import GATES, Net

raw = tf.raw_ops
pytestmark = pytest.mark.programs

LAYERS, UNITS, INPUTS, TIME, BATCH = 2, 3, 4, 3, 2
DIRECTIONS = ("unidirectional", "bidirectional")


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def step(mode: str, a: list[Any], b: list[Any], h: np.ndarray, c: Any) -> tuple[Any, Any]:
    """A step from what gates get of the inputs and of the step before."""
    if mode == "lstm":
        i, f, j, o = (x + y for x, y in zip(a, b))
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(j)
        return sigmoid(o) * np.tanh(c), c
    if mode == "gru":
        r, u = sigmoid(a[0] + b[0]), sigmoid(a[1] + b[1])
        return (1 - u) * np.tanh(a[2] + r * b[2]) + u * h, None
    return (np.tanh if mode == "rnn_tanh" else lambda x: np.maximum(x, 0))(a[0] + b[0]), None


def expected(net: Net, x: Any, h: Any, c: Any, params: Any, lengths: Any, masks: Any) -> Any:
    """The outputs and last states of a net."""
    matrices, biases = (
        [params[p.start : p.start + int(np.prod(p.shape))].reshape(p.shape) for p in parts]
        for parts in net.parts()
    )
    gates, last = net.gates, []
    more = 1 if net.projected else 0
    for layer in range(net.layers):
        outputs = []
        for way in range(net.directions):
            place = layer * net.directions + way
            first, second = place * (2 * gates + more), place * 2 * gates
            ws = matrices[first : first + 2 * gates + more]
            bs = biases[second : second + 2 * gates]
            state, memory = h[place].copy(), None if net.mode != "lstm" else c[place].copy()
            made = np.zeros([*x.shape[:2], net.outputs])
            for row, length in enumerate(lengths):
                one, kept = state[row], None if memory is None else memory[row]
                for t in range(length) if way == 0 else range(length - 1, -1, -1):
                    given = [
                        (x[t, row] if w.shape[1] == 0 else w @ x[t, row]) + b
                        for w, b in zip(ws[:gates], bs)
                    ]
                    back = [w @ one + b for w, b in zip(ws[gates:], bs[gates:])]
                    one, kept = step(net.mode, given, back, one, kept)
                    one = ws[-1] @ one if more else one
                    made[t, row] = one
                state[row] = one
                if memory is not None:
                    memory[row] = kept
            outputs.append(made)
            last.append((state, memory))
        x = np.concatenate(outputs, 2)
        if masks is not None and layer + 1 < net.layers:
            x = x * masks[layer]
    return x, np.stack([h for h, _ in last]), [c for _, c in last]


def values(net: Net) -> dict[str, np.ndarray]:
    random, ways = np.random.RandomState(3), net.layers * net.directions
    return {
        "x": random.randn(TIME, BATCH, net.inputs),
        "h": random.randn(ways, BATCH, net.outputs),
        "c": random.randn(ways, BATCH, net.units) if net.mode == "lstm" else np.zeros([0]),
        "params": random.randn(net.size) * 0.5,
    }


def modes(net: Net) -> dict[str, Any]:
    kind = "skip_input" if net.skips else "linear_input"
    return {
        "rnn_mode": net.mode,
        "direction": DIRECTIONS[net.directions - 1],
        "input_mode": kind,
    }


def slope(session: Any, loss: Any, feeds: dict[Any, Any], key: Any, gradient: Any) -> None:
    """The gradient by one input is that of the differences in one direction."""
    way, near = np.random.RandomState(8).randn(*feeds[key].shape), 1e-6
    ends = [session.run(loss, {**feeds, key: feeds[key] + near * s * way}) for s in (1, -1)]
    assert np.isclose((ends[0] - ends[1]) / (2 * near), (gradient * way).sum(), rtol=1e-4)


def check(net: Net, lengths: list[int] | None = None, major: bool = True) -> None:
    """Outputs and gradients of a net; of version 3 if there are lengths."""
    given = values(net)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float64, [None, None, net.inputs])
        h, c, params = (tf.constant(given[key]) for key in ("h", "c", "params"))
        if lengths is None:
            y, last_h, last_c, _ = raw.CudnnRNN(x, h, c, params, **modes(net))
        else:
            turn = [1, 0, 2]
            inputs = (x, h, c) if major else (tf.transpose(v, turn) for v in (x, h, c))
            y, last_h, last_c, _, _ = raw.CudnnRNNV3(
                *inputs,
                *(params, lengths),
                **modes(net),
                num_proj=net.projected,
                time_major=major,
            )
            if not major:
                y, last_h, last_c = (tf.transpose(v, turn) for v in (y, last_h, last_c))
        loss = tf.reduce_sum(y * y) + tf.reduce_sum(last_h) + tf.reduce_sum(tf.sin(last_c))
        keys = [x, h, params]
        feeds = {x: given["x"], h: given["h"], params: given["params"]}
        made = session.run([y, last_h, last_c, *tf.gradients(loss, keys)], feeds)
        wanted = expected(net, *given.values(), lengths or [TIME] * BATCH, None)
        np.testing.assert_allclose(made[0], wanted[0])
        np.testing.assert_allclose(made[1], wanted[1])
        if net.mode == "lstm":
            np.testing.assert_allclose(made[2], np.stack(wanted[2]))
        for key, gradient in zip(keys, made[3:]):
            slope(session, loss, feeds, key, gradient)


@pytest.mark.parametrize("ways", [1, 2])
@pytest.mark.parametrize("mode", GATES)
def test_nets_are_their_formulas(mode: str, ways: int) -> None:
    with settings.override(jit="never"):
        check(Net(mode, LAYERS, ways, INPUTS, UNITS))


@pytest.mark.cpu
def test_compiled_nets_are_their_formulas() -> None:
    with settings.override(jit="always"):
        check(Net("gru", LAYERS, 2, INPUTS, UNITS))


@pytest.mark.parametrize("major", [True, False])
def test_sequences_end_where_they_end(major: bool) -> None:
    with settings.override(jit="never"):
        check(Net("lstm", LAYERS, 2, INPUTS, UNITS), [3, 1], major)


def test_outputs_are_projected_and_inputs_skip() -> None:
    with settings.override(jit="never"):
        check(Net("lstm", LAYERS, 1, INPUTS, UNITS, projected=2), [3, 3])
        check(Net("gru", LAYERS, 1, UNITS, UNITS, skips=True))


def test_gradients_know_what_was_dropped() -> None:
    net = Net("rnn_tanh", 3, 1, INPUTS, UNITS)
    given = values(net)
    options = {"dropout": 0.5, "seed": 3, "seed2": 4, **modes(net)}
    with settings.override(jit="never"), tf.Graph().as_default(), tf.Session() as session:
        tensors = [tf.constant(value) for value in given.values()]
        y, _, _, reserved = raw.CudnnRNN(*tensors, **options)
        plain = raw.CudnnRNN(*tensors, **options, is_training=False)[0]
        gradient = tf.gradients(tf.reduce_sum(y), tensors[3])[0]
        made, kept, by_params, whole = session.run([y, reserved, gradient, plain])
    masks = kept.reshape([2, TIME, BATCH, UNITS])
    assert set(np.unique(masks)) == {0.0, 2.0}
    lengths = [TIME] * BATCH
    np.testing.assert_allclose(made, expected(net, *given.values(), lengths, masks)[0])
    np.testing.assert_allclose(whole, expected(net, *given.values(), lengths, None)[0])
    way = np.random.RandomState(8).randn(net.size)
    ends = [
        expected(net, *{**given, "params": given["params"] + s * way}.values(), lengths, masks)[0]
        for s in (1e-6, -1e-6)
    ]
    assert np.isclose((ends[0] - ends[1]).sum() / 2e-6, (by_params * way).sum(), rtol=1e-4)


@pytest.mark.parametrize("jit", ["never", pytest.param("always", marks=pytest.mark.cpu)])
def test_weights_go_apart_and_together(jit: str) -> None:
    net = Net("lstm", LAYERS, 2, INPUTS, UNITS)
    sizes = {"num_layers": LAYERS, "num_units": UNITS, "input_size": INPUTS}
    count = 8 * LAYERS * 2
    with settings.override(jit=jit), tf.Session() as session:
        size = raw.CudnnRNNParamsSize(**sizes, T=tf.float32, S=tf.int64, direction=DIRECTIONS[1])
        assert session.run(size).tolist() == [net.size]
        params = tf.range(net.size * 1.0)
        weights, biases = raw.CudnnRNNParamsToCanonical(
            **sizes, params=params, num_params=count, direction=DIRECTIONS[1]
        )
        again = raw.CudnnRNNCanonicalToParams(
            **sizes, weights=weights, biases=biases, direction=DIRECTIONS[1]
        )
        shapes = [w.shape for w in session.run(weights)]
        assert shapes[:5] == [(UNITS, INPUTS)] * 4 + [(UNITS, UNITS)]
        assert shapes[16] == (UNITS, 2 * UNITS)
        assert session.run(again).tolist() == session.run(params).tolist()


def test_what_does_not_fit_is_refused() -> None:
    x, h, c = tf.zeros([TIME, BATCH, INPUTS]), tf.zeros([1, BATCH, UNITS]), tf.zeros([1, BATCH, 3])
    with settings.override(jit="never"), tf.Session() as session:
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
            session.run(raw.CudnnRNN(x, h, c, tf.zeros([7]))[0])
        unknown = tf.placeholder_with_default(h, None)
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match="known|rank"):
            session.run(raw.CudnnRNN(x, unknown, c, tf.zeros([7]))[0])
        wrong = raw.CudnnRNNParamsToCanonical(1, UNITS, INPUTS, tf.zeros([7]), num_params=8)
        with pytest.raises(tf.errors.InvalidArgumentError, match="the net has 108 weights"):
            session.run(wrong[0])
    y = raw.CudnnRNN(x, h, c, tf.zeros([108]), is_training=False)[0]
    with pytest.raises(ValueError, match="is_training must be set to True"):
        tf.gradients(y, x)
