# SPDX-License-Identifier: Apache-2.0
"""All steps of an LSTM as one op, of sequences whose length only a run knows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu

_INPUTS, _CELLS = 3, 5


class _Program:
    """Both: a BlockLSTM of unknown sizes and the same steps, each an op of its own."""

    def __init__(self, steps: int, use_peephole: bool, cell_clip: float) -> None:
        random = np.random.RandomState(3)
        shapes = [(_INPUTS + _CELLS, 4 * _CELLS), *[(_CELLS,)] * 3, (4 * _CELLS,)]
        self.weights = [tf.constant(random.uniform(-1, 1, s), tf.float32) for s in shapes]
        self.x = tf.placeholder(tf.float32, [None, None, _INPUTS])
        self.state = [tf.placeholder(tf.float32, [None, _CELLS]) for _ in range(2)]
        self.count = tf.placeholder(tf.int64, [])
        self.given = [self.x, *self.state, *self.weights]
        self.about = {"forget_bias": 0.5, "cell_clip": cell_clip, "use_peephole": use_peephole}
        whole = tf.raw_ops.BlockLSTM(
            **dict(zip(("x", "cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b"), self.given)),
            seq_len_max=self.count,
            **self.about,
        )
        self.whole = [*whole, *self._slopes(whole.cs, whole.h)]
        cs, h = self._stepwise(steps)
        self.stepwise = [cs, h, *self._slopes(cs, h)]

    def _stepwise(self, steps: int) -> tuple[Any, Any]:
        (cs, h), found = self.state, []
        names = ("cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b")
        for t in range(steps):
            given = dict(zip(names, (cs, h, *self.weights)))
            made = tf.raw_ops.LSTMBlockCell(x=self.x[t], **given, **self.about)
            cs, h = made.cs, made.h
            found.append((cs, h))
        cs, h = (tf.stack(values) for values in zip(*found))
        return cs, h

    def _slopes(self, cs: Any, h: Any) -> list[Any]:
        cost = tf.reduce_sum(tf.square(h - 0.1)) + tf.reduce_sum(tf.sin(cs))
        chosen = [*self.given[:4], self.given[-1]]
        chosen += self.weights[1:4] if self.about["use_peephole"] else []
        return list(tf.gradients(cost, chosen))


@pytest.mark.parametrize(("use_peephole", "clip"), [(False, 0.0), (True, 0.0), (False, 0.3)])
def test_a_loop_gives_what_its_steps_give(use_peephole: bool, clip: float) -> None:
    random = np.random.RandomState(0)
    with tf.Graph().as_default(), tf.Session() as session:
        program = _Program(4, use_peephole, clip)
        for batch in (2, 3):
            feed = {program.x: random.uniform(-1, 1, (4, batch, _INPUTS)), program.count: 4}
            feed |= {state: random.uniform(-1, 1, (batch, _CELLS)) for state in program.state}
            assert "on the host" not in str(session.explain(program.whole, feed))
            (_, cs, *_, h), slopes = np.split(
                np.array(session.run(program.whole, feed), object), [7]
            )
            expected = session.run(program.stepwise, feed)
            for found, wanted in zip([cs, h, *slopes], expected, strict=True):
                np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-6)


def test_what_lies_behind_the_last_step_is_zero_and_not_looked_at() -> None:
    random = np.random.RandomState(1)
    with tf.Graph().as_default(), tf.Session() as session:
        program = _Program(2, False, 0.0)
        x = random.uniform(-1, 1, (5, 2, _INPUTS))
        state = {state: random.uniform(-1, 1, (2, _CELLS)) for state in program.state}
        expected = session.run(program.stepwise[0], {program.x: x[:2], **state})
        x[2:] = np.nan
        found = session.run(program.whole, {program.x: x, program.count: 2, **state})
        np.testing.assert_allclose(found[1][:2], expected, rtol=1e-5, atol=1e-6)
        assert not any(np.any(part[2:]) for part in found[:7])
        x_slope, *others = found[7:]
        assert not np.any(x_slope[2:]) and all(np.isfinite(slope).all() for slope in others)


def test_no_step_at_all() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        program = _Program(1, True, 0.0)
        state = {state: np.ones((2, _CELLS)) for state in program.state}
        for steps in (0, 3):
            feed = {program.x: np.ones((steps, 2, _INPUTS)), program.count: 0, **state}
            *parts, x_slope, _, _, by_w, _, _, _, _ = session.run(program.whole, feed)
            assert all(part.shape == (steps, 2, _CELLS) and not np.any(part) for part in parts)
            assert x_slope.shape == (steps, 2, _INPUTS) and not np.any(by_w)


def test_more_steps_than_inputs_are_refused() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        program = _Program(1, False, 0.0)
        feed = {program.x: np.ones((2, 1, _INPUTS)), program.count: 3}
        feed |= {state: np.zeros((1, _CELLS)) for state in program.state}
        with pytest.raises(tf.errors.InvalidArgumentError, match="must not be above 2 but is 3"):
            session.run(program.whole, feed)


def test_float16_is_close_to_float32() -> None:
    random = np.random.RandomState(2)
    values = {
        "x": random.uniform(-1, 1, (6, 2, _INPUTS)),
        "cs_prev": random.uniform(-1, 1, (2, _CELLS)),
        "h_prev": random.uniform(-1, 1, (2, _CELLS)),
        "w": random.uniform(-1, 1, (_INPUTS + _CELLS, 4 * _CELLS)),
        **{name: np.zeros(_CELLS) for name in ("wci", "wcf", "wco")},
        "b": np.zeros(4 * _CELLS),
    }
    with tf.Graph().as_default(), tf.Session() as session:
        made = [
            tf.raw_ops.BlockLSTM(
                seq_len_max=tf.constant(6, tf.int64),
                **{name: tf.constant(value, dtype) for name, value in values.items()},
            ).h
            for dtype in (tf.float16, tf.float32)
        ]
        half, single = session.run(made)
    assert half.dtype == np.float16
    np.testing.assert_allclose(half, single, atol=1e-2)
