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


def _few(tf: Any, x: Any, low: float, high: float, kind: Any = None) -> Any:
    return tf.quantization.quantize(x, low, high, kind or tf.quint8, mode="MIN_FIRST")[0]


def _ranges(tf: Any) -> list[Any]:
    found: list[Any] = []
    for low, high in ((-9000.0, 9000.0), (-3.0, 8.0)):
        x = _few(tf, _X, low, high, tf.qint32)
        ends = {"input_min": low, "input_max": high}
        found += tf.raw_ops.QuantizeDownAndShrinkRange(input=x, out_type=tf.quint8, **ends)
        found += tf.raw_ops.RequantizationRange(input=x, **ends)
        wanted = {"requested_output_min": -6.0, "requested_output_max": 8.0}
        for kind in (tf.quint8, tf.qint8):
            found += tf.raw_ops.Requantize(input=x, out_type=kind, **ends, **wanted)
        ends = {"min_features": low, "max_features": high}
        for op_type in ("QuantizedRelu", "QuantizedRelu6"):
            found += getattr(tf.raw_ops, op_type)(features=x, out_type=tf.qint32, **ends)
        ends = {"input_min": low, "input_max": high}
        found += tf.raw_ops.QuantizedReshape(tensor=x, shape=[2, -1], **ends)
    return found


def _sums(tf: Any) -> list[Any]:
    x, found = _few(tf, _X, -3.0, 8.0), []
    for shape in ([5, 4], [4], []):
        y = _few(tf, _RANDOM.uniform(-8, 8, shape).astype(np.float32), -4.0, 9.0)
        ends = {"min_x": -3.0, "max_x": 8.0, "min_y": -4.0, "max_y": 9.0}
        found += tf.raw_ops.QuantizedAdd(x=x, y=y, **ends)
        found += tf.raw_ops.QuantizedMul(x=x, y=y, **ends)
    ends = {"min_input": -3.0, "max_input": 8.0, "min_bias": -6.0, "max_bias": 9.0}
    bias = _few(tf, np.float32(_LOW), -6.0, 9.0)
    found += tf.raw_ops.QuantizedBiasAdd(input=x, bias=bias, out_type=tf.qint32, **ends)
    ends = {"min_a": -3.0, "max_a": 8.0, "min_b": -4.0, "max_b": 9.0}
    y = _few(tf, _X[::-1], -4.0, 9.0)
    return [*found, *tf.raw_ops.QuantizedMatMul(a=x, b=y, transpose_b=True, **ends)]


def _images(tf: Any) -> list[Any]:
    low, high = -3.0, 8.0
    x = _few(tf, _RANDOM.uniform(-8, 8, [1, 7, 8, 2]).astype(np.float32), low, high)
    w = _few(tf, _RANDOM.uniform(-8, 8, [2, 3, 2, 3]).astype(np.float32), -4.0, 9.0)
    found: list[Any] = []
    for padding, stride in (("SAME", 1), ("VALID", 4), ("SAME", 3)):
        steps = [1, stride, stride, 1]
        found += tf.nn.quantized_conv2d(x, w, low, high, -4.0, 9.0, steps, padding)
        found += tf.nn.quantized_avg_pool(x, low, high, [1, 2, 2, 1], steps, padding)
        found += tf.nn.quantized_max_pool(x, low, high, [1, 2, 2, 1], steps, padding)
    ends = {"min": low, "max": high}
    for option in ({}, {"align_corners": True}, {"half_pixel_centers": True}):
        found += tf.raw_ops.QuantizedResizeBilinear(images=x, size=[9, 5], **ends, **option)
    found += tf.raw_ops.QuantizedInstanceNorm(x=x, x_min=low, x_max=high)
    given: dict[str, Any] = {}
    for i, name in enumerate(["t", "m", "v", "beta", "gamma"]):
        numbers = _few(tf, np.float32([1.0 + i, 2.5]), 0.0, 9.0)
        given.update({name: numbers if i else x, f"{name}_min": 0.0, f"{name}_max": 9.0})
    options = {"variance_epsilon": 1e-3, "scale_after_normalization": True}
    norm = tf.raw_ops.QuantizedBatchNormWithGlobalNormalization
    return [*found, *norm(**given, out_type=tf.qint32, **options)]


PROGRAMS = {
    "ranges": _ranges,
    "sums": _sums,
    "images": _images,
    "fake": _fake,
    "numbers": _numbers,
    "round trips": _round_trips,
}
