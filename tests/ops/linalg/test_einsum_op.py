# SPDX-License-Identifier: Apache-2.0
"""The op Einsum: values, static shapes, gradients and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow import testing
from numbaflow.engine import settings
from numbaflow.ops.public import raw

pytestmark = pytest.mark.cpu

EQUATIONS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("abc,acde->abde", (2, 3, 4), (2, 4, 5, 2)),
    ("bqhd,bkhd->bhqk", (2, 3, 4, 5), (2, 6, 4, 5)),
    ("bhqk,bkhd->bqhd", (2, 4, 3, 6), (2, 6, 4, 5)),
    ("ij,kl->ljki", (2, 3), (4, 5)),
    ("ij,ij->ij", (2, 3), (2, 3)),
    ("ij,ij->", (2, 3), (2, 3)),
    ("ij,jk->k", (2, 3), (3, 4)),
    ("...ij,...jk->...ik", (5, 1, 2, 3), (4, 3, 4)),
    ("i...,...i->...", (3, 4), (4, 3)),
    ("...x,xy->...y", (2, 3, 4), (4, 5)),
    ("ij->ji", (2, 3), None),
    ("ij->j", (2, 3), None),
    ("...i->i...", (2, 3, 4), None),
    ("ij->", (2, 3), None),
]
TWICE = [
    *(("ii->i", (3, 3), None), ("ii->", (3, 3), None), ("iij,ij->j", (2, 2, 3), (2, 3))),
    *(("a...a->a...", (2, 3, 4, 2), None), ("i...ii->...i", (3, 2, 3, 3), None)),
    *(("ijj,jk...k->i...", (3, 2, 2), (2, 4, 1, 4)), ("aab,bcc->ac", (2, 2, 3), (3, 4, 4))),
]
# Of which NumPy has none.
DIAGONALS = [("a->aa", (3,)), ("ab->aba", (2, 3)), ("a...->...aa", (2, 3)), ("aa->aa", (2, 2))]


def arrays(*shapes: Any) -> list[np.ndarray]:
    random = np.random.RandomState(1)
    return [random.randn(*shape).astype(np.float32) for shape in shapes if shape is not None]


@pytest.mark.parametrize("equation, first, second", EQUATIONS + TWICE)
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("jit", ["never", "always"])
def test_values(equation: str, first: Any, second: Any, known: bool, jit: str) -> None:
    inputs = arrays(first, second)
    expected = np.einsum(equation, *inputs)
    with settings.override(jit=jit), tf.Graph().as_default(), tf.Session() as session:
        fed = [tf.placeholder(tf.float32, x.shape if known else None) for x in inputs]
        result = raw.Einsum(fed, equation=equation)
        if known:
            assert result.shape.as_list() == list(expected.shape)
        found = session.run(result, dict(zip(fed, inputs)))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("equation, shape", DIAGONALS)
def test_labels_that_come_again_in_the_result(equation: str, shape: Any) -> None:
    """The inverse of taking the diagonal; zero elsewhere."""
    (x,) = arrays(shape)
    left, _, right = equation.partition("->")
    with tf.Graph().as_default(), tf.Session() as session:
        spread = raw.Einsum([tf.constant(x)], equation=equation)
        back = raw.Einsum([spread], equation=f"{right}->{left}")
        found, again = session.run([spread, back])
    expected = x if left != "aa" else np.diag(np.diag(x))
    np.testing.assert_array_equal(again, expected)
    assert found.sum() == pytest.approx(expected.sum())
    testing.check_gradients(lambda y: raw.Einsum([y], equation=equation), x)


@pytest.mark.parametrize("equation, first, second", EQUATIONS + TWICE)
def test_gradients(equation: str, first: Any, second: Any) -> None:
    inputs = arrays(first, second)
    with tf.Graph().as_default(), tf.Session() as session:
        fed = [tf.constant(x) for x in inputs]
        result = raw.Einsum(fed, equation=equation)
        weights = np.linspace(0.5, 1.5, int(np.prod(result.shape.as_list())), dtype=np.float32)
        weights = weights.reshape(result.shape.as_list())
        loss = tf.reduce_sum(result * weights)
        found = session.run(tf.gradients(loss, fed))
        for i, x in enumerate(inputs):
            # The sum is linear in each input: the gradient is what unit steps add to it.
            for place in list(np.ndindex(x.shape))[:6]:
                step = np.zeros_like(x)
                step[place] = 1
                moved = [step if j == i else other for j, other in enumerate(inputs)]
                expected = (np.einsum(equation, *moved) * weights).sum()
                np.testing.assert_allclose(found[i][place], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "float64", "int32", "complex64"])
def test_dtypes(dtype: str) -> None:
    first, second = (np.arange(n).reshape(2, n // 2).astype(dtype) for n in (6, 6))
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(raw.Einsum([first, second], equation="ij,kj->ik"))
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, first @ second.T)


@pytest.mark.parametrize(
    "equation, shapes, reason",
    [
        ("ij,jk->ik", [(2, 3), (4, 4)], "must be equal"),
        ("ij,jk->il", [(2, 3), (3, 4)], "label 'l' which is not present"),
        ("...ij,...jk->ik", [(2, 2, 3), (3, 4)], "contains 1 broadcasting dimension"),
        ("ij->ij", [(2, 3, 4)], "to have rank 2 but got: 3"),
        ("ij,jk", [(2, 3), (3, 4)], "exactly one '->'"),
        ("ij->ij", [(2, 3), (2, 3)], "Expected 1 inputs"),
    ],
)
def test_refusals(equation: str, shapes: Any, reason: str) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=reason):
        raw.Einsum(arrays(*shapes), equation=equation)
