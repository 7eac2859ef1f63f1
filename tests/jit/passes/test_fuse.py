# SPDX-License-Identifier: Apache-2.0
"""Fusion keeps the meaning of programs, and fuses what it should."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from numbaflow.jit.kernel import scalar as k

from ..programs import Sample, run_slowly, samples, scheduled

pytestmark = pytest.mark.pure


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
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
