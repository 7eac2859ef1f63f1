# SPDX-License-Identifier: Apache-2.0
"""Programs of tf.quantization; see tests/train/contrib/recording.py."""

from __future__ import annotations

from typing import Any

import numpy as np

_RANDOM = np.random.RandomState(0)
_X = _RANDOM.uniform(-8, 8, [5, 4]).astype(np.float32)
_LOW, _HIGH = [-6.0, -0.1, 0.0, -1.5], [6.0, 0.9, 0.0, 3.5]


def _fake(tf: Any) -> list[Any]:
    x, low, high = tf.constant(_X), tf.constant(_LOW), tf.constant(_HIGH)
    found = [
        tf.quantization.fake_quant_with_min_max_args(x, num_bits=4),
        tf.quantization.fake_quant_with_min_max_vars(x, low[3], high[0], narrow_range=True),
        tf.quantization.fake_quant_with_min_max_vars_per_channel(x, low, high, num_bits=6),
    ]
    return [*found, *tf.gradients(found, [x, low, high])]


def _round_trips(tf: Any) -> list[Any]:
    x = tf.constant(_X)
    given = {"input_min": -3.0, "input_max": 5.0}
    trip = tf.quantization.quantize_and_dequantize
    found = [
        trip(x, **given),
        trip(x, **given, range_given=True, num_bits=5, narrow_range=True),
        trip(x, **given, range_given=True, signed_input=False, round_mode="HALF_UP"),
    ]
    return [*found, *tf.gradients(found, x)]


def _numbers(tf: Any) -> list[Any]:
    found = []
    for kind in (tf.quint8, tf.qint8, tf.qint32):
        for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
            numbers = tf.quantization.quantize(_X, -5.0, 7.0, kind, mode=mode)
            found += [tf.quantization.dequantize(*numbers, mode=mode), *numbers[1:]]
    first = tf.quantization.quantize(_X, -5.0, 7.0, tf.quint8)
    second = tf.quantization.quantize(_X, 0.0, 9.0, tf.quint8)
    joined = tf.quantization.quantized_concat(1, *map(list, zip(first, second)))
    return [*found, tf.dequantize(*joined), *joined[1:]]


PROGRAMS = {"fake": _fake, "numbers": _numbers, "round trips": _round_trips}
