# SPDX-License-Identifier: Apache-2.0
"""Totals of expressions: evaluated and compiled they have the same bits, whatever is added up.

LLVM contracts products and sums, and rewrites what is around them; NumPy does as it is told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import numbaflow as tf

from ...drawing import examples
from .test_interpreted import evaluated, same  # noqa: F401 - a fixture

pytestmark = pytest.mark.cpu

Make = Callable[..., Any]
UNARY: list[Make] = [
    *(tf.negative, tf.abs, tf.square, tf.nn.relu, tf.sign, tf.floor, tf.tanh, tf.sigmoid),
    lambda x: tf.exp(tf.minimum(x, 3.0)),
    lambda x: tf.sqrt(tf.abs(x)),
    lambda x: x * -0.7,
    lambda x: x - 0.3,
    lambda x: 0.5 - x,
    lambda x: 1.0 / (tf.abs(x) + 0.5),
    lambda x: tf.cast(tf.cast(x, tf.float16), x.dtype),
    lambda x: tf.clip_by_value(x, -1.0, 1.0),
]
BINARY: list[Make] = [
    *(tf.add, tf.subtract, tf.multiply, tf.maximum, tf.minimum, tf.squared_difference),
    lambda x, y: x / (tf.abs(y) + 1.0),
    lambda x, y: tf.where(tf.broadcast_to(x > y, tf.shape(x + y)), x + y, x - y),
    lambda x, y: x * y + x,
    lambda x, y: x - x * y,
]
REDUCTIONS: list[Make] = [tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.reduce_prod]


def expressions() -> st.SearchStrategy[Make]:
    """Functions of a list of tensors, of a few operations each."""
    leaves = st.integers(0, 2).map(lambda number: lambda given: given[number])

    def grown(inner: st.SearchStrategy[Make]) -> st.SearchStrategy[Make]:
        one = st.tuples(st.sampled_from(UNARY), inner)
        two = st.tuples(st.sampled_from(BINARY), inner, inner)
        return st.one_of(
            one.map(lambda t: lambda given: t[0](t[1](given))),
            two.map(lambda t: lambda given: t[0](t[1](given), t[2](given))),
        )

    return st.recursive(leaves, grown, max_leaves=6)


@given(
    expression=expressions(),
    reduce=st.sampled_from(REDUCTIONS),
    axes=st.sampled_from([[0], [1], [0, 1]]),
    shape=st.sampled_from([(3, 5), (16, 40), (7, 64), (33, 129), (5, 1000)]),
    dtype=st.sampled_from(["float32", "float32", "float64"]),
    has_gradient=st.booleans(),
)
@examples(25)
def test_totals_of_any_expression(
    evaluated,  # noqa: F811 - it is that one
    expression,
    reduce,
    axes,
    shape,
    dtype,
    has_gradient,  # noqa: F811
):
    drawn = np.random.RandomState(sum(shape))
    arrays = [drawn.standard_normal(s).astype(dtype) for s in (shape, shape, shape[1:])]
    with tf.Graph().as_default(), tf.Session() as sess:
        inputs = [tf.placeholder(dtype, [None] * array.ndim) for array in arrays]
        # (Of the first, so that there is something to add up.)
        total = reduce(expression(inputs) + 0.0 * inputs[0], axes)
        fetches = [total]
        if has_gradient:
            found = tf.gradients(-tf.reduce_sum(total * total), inputs)
            fetches += [one for one in found if one is not None]
        feeds = dict(zip(inputs, arrays))
        same(sess.run(fetches, feeds), sess.run(fetches, feeds))
