# SPDX-License-Identifier: Apache-2.0
"""Fusion keeps the meaning of programs, and fuses what it should."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from numbaflow.jit.kernel import scalar as k

from ...drawing import examples
from ..programs import Sample, run_slowly, samples, scheduled

pytestmark = pytest.mark.pure


@examples(300)
@given(samples())
def test_a_schedule_computes_what_the_program_says(sample):
    for got, want in zip(run_slowly(sample, scheduled(sample)), sample.expected, strict=True):
        np.testing.assert_array_equal(got, want)


def _softmax(sample: Sample):
    b, x = sample.builder, sample.pairs[0].value
    shifted = b.map(k.sub, x, b.reduce("max", x, [-1], keepdims=True))
    e = b.map(k.exp, shifted)
    return b.map(k.div, e, b.reduce("sum", e, [-1], keepdims=True))


def test_softmax_is_one_kernel():
    sample = Sample([np.ones((5, 7))])
    sample.program.fetches = [_softmax(sample)]
    assert len(scheduled(sample).steps) == 1


def test_layer_norm_is_one_kernel():
    sample = Sample([np.ones((5, 7))])
    b, x = sample.builder, sample.pairs[0].value
    count = b.size_scalar(x, [1], "float64")
    mean = b.map(k.div, b.reduce("sum", x, [1], keepdims=True), count)
    centred = b.map(k.sub, x, mean)
    variance = b.map(k.div, b.reduce("sum", b.map(k.square, centred), [1], keepdims=True), count)
    sample.program.fetches = [b.map(lambda c, v: k.mul(c, k.rsqrt(v)), centred, variance)]
    assert len(scheduled(sample).steps) == 1


def test_an_elementwise_chain_is_one_flat_loop():
    sample = Sample([np.ones((5, 7))])
    b, x = sample.builder, sample.pairs[0].value
    y = x
    for _ in range(10):
        y = b.map(lambda v: k.add(k.sin(v), 0.1), y)
    sample.program.fetches = [y]
    (step,) = scheduled(sample).steps
    assert len(step.nest.kernel.axes) == 1


def test_two_branches_that_meet_are_one_kernel():
    sample = Sample([np.ones((5, 7)), np.ones((5, 7))])
    b = sample.builder
    x, y = (pair.value for pair in sample.pairs)
    sample.program.fetches = [b.map(k.add, b.map(k.exp, x), b.map(k.log, y))]
    assert len(scheduled(sample).steps) == 1


def test_a_long_sum_is_cut_into_chunks():
    sample = Sample([np.ones((300, 200))])
    sample.program.fetches = [sample.builder.reduce("sum", sample.pairs[0].value, None)]
    steps = scheduled(sample).steps
    assert [axis.kind for axis in steps[0].nest.kernel.axes] == ["chunk", "reduce"]
    assert len(steps) == 2


def test_a_fed_size_that_met_an_equal_number_fuses_with_it():
    sample = Sample([np.ones((5, 7))])
    b, x = sample.builder, sample.pairs[0].value
    c = b.full((5, 7), 2.0, "float64")
    left, right = b.map(k.exp, x), b.map(k.log, x)
    sample.program.fetches = [b.map(k.add, b.map(k.mul, c, left), right)]
    assert len(scheduled(sample).steps) == 1


@pytest.mark.growth
def test_a_very_long_chain_is_many_equal_kernels_of_bearable_size():
    sample = Sample([np.ones((5, 7))])
    b, x = sample.builder, sample.pairs[0].value
    y = x
    for _ in range(2560):
        y = b.map(lambda v, w: k.add(k.mul(v, w), w), y, x)
    sample.program.fetches = [y]
    kernels = [step.nest.kernel for step in scheduled(sample).steps]
    assert len(kernels) == 10
    # The first one reads one buffer, all others two.
    assert len(set(kernels)) == 2


def _kernels(sample: Sample, fetches: list, expected: list) -> int:
    """Into how many kernels values are fused, which give what they should."""
    sample.program.fetches = fetches
    made = scheduled(sample)
    for got, want in zip(run_slowly(sample, made), expected, strict=True):
        np.testing.assert_array_equal(got, want)
    return len(made.steps)


def _sums_of_products(count: int) -> int:
    x, shifted = np.arange(35.0).reshape(5, 7), np.arange(210.0).reshape(30, 7)
    sample = Sample([x, shifted])
    b, (one, other) = sample.builder, (pair.value for pair in sample.pairs)
    parts = [b.slice(other, [i, 0], [5, 7]) for i in range(count)]
    sums = [b.reduce("sum", b.map(k.mul, part, one), [0]) for part in parts]
    return _kernels(sample, sums, [(shifted[i : i + 5] * x).sum(0) for i in range(count)])


def test_sums_down_the_same_columns_read_once_what_they_share():
    assert _sums_of_products(5) == 1
    assert _sums_of_products(20) == 2  # only so many make one loop


def test_sums_that_need_each_other_or_lie_elsewhere_are_kernels_of_their_own():
    array = np.arange(35.0).reshape(5, 7)
    sample = Sample([array])
    b, x = sample.builder, sample.pairs[0].value
    total = b.reduce("sum", x, [0], keepdims=True)
    far = b.reduce("sum", b.map(k.square, b.map(k.sub, x, total)), [0])
    want = [array.sum(0, keepdims=True), np.square(array - array.sum(0)).sum(0)]
    assert _kernels(sample, [total, far], want) > 1
    sample = Sample([array])
    b, x = sample.builder, sample.pairs[0].value
    sums = [b.reduce("sum", x, [axis]) for axis in (0, 1)]
    assert _kernels(sample, sums, [array.sum(0), array.sum(1)]) > 1
