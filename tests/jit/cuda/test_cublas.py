# SPDX-License-Identifier: Apache-2.0
"""Products by cuBLASLt: what its descriptors say, computed by NumPy over emulated memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.cuda import card as cards
from numbaflow.jit.cuda import vendor
from numbaflow.jit.kernel import reference

from . import fake_driver
from .fake_cublas import FakeCublasLt

pytestmark = pytest.mark.cpu

TURNS = [(False, False), (True, False), (False, True), (True, True)]


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCublasLt]:
    """The library of a card of a fake driver, by which sessions run."""
    fake = fake_driver.FakeDriver()
    fake_driver.install(monkeypatch, fake)
    found = FakeCublasLt(fake)

    def opened(name: str, functions: vendor.Functions) -> Any:
        if name != "cublasLt":
            return None
        vendor.declare(found, functions)
        return found

    monkeypatch.setattr(vendor, "opened", opened)
    devices = tuple(cards.found())
    fake_driver.show(monkeypatch, devices)
    with settings.override(jit="always"), tf.Graph().as_default():
        yield found
    assert not hasattr(found, "error"), found.error


def numbers(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Small whole numbers, whose products every type holds exactly."""
    values = np.random.default_rng(len(shape)).integers(-4, 5, shape)
    return values.astype(reference.numpy_dtype(dtype))


def multiplied(x: np.ndarray, y: np.ndarray, turned: tuple[bool, bool] = (False, False)) -> Any:
    """A product in a session."""
    left, right = (tf.placeholder(value.dtype, [None] * value.ndim) for value in (x, y))
    z = tf.matmul(left, right, transpose_a=turned[0], transpose_b=turned[1])
    with tf.Session() as session:
        return session.run(z, {left: x, right: y})


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("turned", TURNS)
def test_products_are_those_of_numpy(
    dtype: str, turned: tuple[bool, bool], library: FakeCublasLt
) -> None:
    x, y = numbers((20, 33), dtype), numbers((33, 17), dtype)
    given = [a.T.copy() if is_turned else a for a, is_turned in zip((x, y), turned)]
    found = multiplied(*given, turned)
    wide = x.astype("float64") @ y.astype("float64")
    np.testing.assert_array_equal(found, wide.astype(x.dtype))
    (product,) = library.products
    assert product["dtype"] == dtype and product["sizes"] == (17, 20, 33)
    assert product["compute"] == (70 if dtype == "float64" else 68)


@pytest.mark.parametrize("turned", TURNS)
@pytest.mark.parametrize("sizes", [(1, 40, 40), (40, 1, 40), (40, 40, 1), (1, 1, 600), (600, 1, 1)])
def test_vectors_are_products_too(
    sizes: tuple[int, int, int], turned: tuple[bool, bool], library: FakeCublasLt
) -> None:
    m, k, n = sizes
    x, y = numbers((m, k), "float32"), numbers((k, n), "float32")
    given = [a.T.copy() if is_turned else a for a, is_turned in zip((x, y), turned)]
    np.testing.assert_array_equal(multiplied(*given, turned), x @ y)
    assert len(library.products) == 1


@pytest.mark.parametrize("turned", TURNS)
def test_stacks_of_products(turned: tuple[bool, bool], library: FakeCublasLt) -> None:
    x, y = numbers((2, 3, 20, 9), "float32"), numbers((2, 3, 9, 30), "float32")
    given = [a.swapaxes(2, 3).copy() if turn else a for a, turn in zip((x, y), turned)]
    np.testing.assert_array_equal(multiplied(*given, turned), x @ y)
    assert len(library.products) == 1


def test_small_ones_are_no_calls(library: FakeCublasLt) -> None:
    x = numbers((3, 4), "float32")
    np.testing.assert_array_equal(multiplied(x, x, (False, True)), x @ x.T)
    assert not library.products


@pytest.mark.parametrize("relu", [False, True])
def test_biases_and_relus_are_part_of_the_call(relu: bool, library: FakeCublasLt) -> None:
    x = tf.placeholder(tf.float32, [None, 12])
    w, b = numbers((12, 24), "float32"), numbers((24,), "float32")
    y = tf.nn.bias_add(tf.matmul(x, tf.Variable(w)), tf.Variable(b))
    y = tf.nn.relu(y) if relu else y
    values = numbers((31, 12), "float32")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for count in (31, 7):
            total = values[:count] @ w + b
            wanted = np.maximum(total, 0) if relu else total
            np.testing.assert_array_equal(session.run(y, {x: values[:count]}), wanted)
    assert [product[7] for product in library.products] == [6 if relu else 4] * 2


def test_an_algorithm_is_asked_for_once(library: FakeCublasLt) -> None:
    x = tf.placeholder(tf.float32, [None, None])
    both = tf.matmul(tf.exp(tf.matmul(x, x)), x)
    with tf.Session() as session:
        for _ in range(3):
            session.run(both, {x: np.zeros((16, 16), np.float32)})
    assert (library.heuristics, len(library.products)) == (1, 6)


def test_tf32_is_only_for_those_who_ask_for_it(library: FakeCublasLt) -> None:
    x = numbers((16, 16), "float32")
    for wanted in (False, True):
        with settings.override(tf32=wanted):
            multiplied(x, x)
            multiplied(x.astype("float64"), x.astype("float64"))
    assert [product["compute"] for product in library.products] == [68, 70, 77, 70]


def test_where_the_library_has_nothing_the_kernel_runs(library: FakeCublasLt) -> None:
    library.has_nothing = True
    x = numbers((20, 20), "float32")
    np.testing.assert_array_equal(multiplied(x, x), x @ x)
    assert not library.products and "cuLaunchKernel" in library.driver.calls


def test_gradients_are_products_of_what_lies_there(library: FakeCublasLt) -> None:
    x, w = tf.placeholder(tf.float32, [None, 20]), tf.Variable(numbers((20, 18), "float32"))
    y = tf.matmul(x, w)
    grads = tf.gradients(y, [x, w], tf.ones_like(y) * 2.0)
    values = numbers((25, 20), "float32")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        back, forth = session.run(grads, {x: values})
        ones = np.full((25, 18), 2, np.float32)
        np.testing.assert_array_equal(back, ones @ session.run(w).T)
        np.testing.assert_array_equal(forth, values.T @ ones)
    assert len(library.products) == 2


def test_what_is_freed_stays_freed(library: FakeCublasLt) -> None:
    x = numbers((16, 16), "float32")
    for _ in range(2):
        multiplied(x, x)
    before = len(library.things)
    for _ in range(5):
        import gc

        multiplied(x, x)
        gc.collect()
    assert len(library.things) <= before


def test_errors_of_the_library_are_told(library: FakeCublasLt) -> None:
    x = numbers((16, 16), "float32")
    library.driver.cards = 1

    def broken(*arguments: Any) -> int:
        return 14

    library.cublasLtCreate = broken  # type: ignore[attr-defined]
    with pytest.raises(tf.errors.InternalError, match="cublasLtCreate .* status 14"):
        multiplied(x, x)


def test_a_card_without_libraries_has_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_driver.install(monkeypatch, fake_driver.FakeDriver())
    (card,) = cards.found()
    # (The package that finds libraries is not there.)
    assert dict(card.libraries) == {}


def test_mixed_precision_multiplies_halves(library: FakeCublasLt) -> None:
    x, y = tf.placeholder(tf.float32, [None, 24]), tf.placeholder(tf.int64, [None])
    hidden = tf.layers.dense(x, 32, tf.nn.relu)
    loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(hidden, 16))
    optimizer = tf.train.GradientDescentOptimizer(0.05)
    optimizer = tf.train.experimental.enable_mixed_precision_graph_rewrite(optimizer, 128.0)
    step = optimizer.minimize(loss)
    rng = np.random.default_rng(0)
    feeds = {x: rng.standard_normal((32, 24), np.float32), y: rng.integers(0, 16, 32)}
    try:
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            found = [session.run([loss, step], feeds)[0] for _ in range(3)]
    finally:
        tf.train.experimental.disable_mixed_precision_graph_rewrite()
    assert found[2] < found[0]
    # Two layers, and three gradients of theirs, in each of three steps.
    assert [product["dtype"] for product in library.products] == ["float16"] * 15
    assert {product["compute"] for product in library.products} == {68}


def test_one_matrix_for_a_whole_stack_is_one_product(library: FakeCublasLt) -> None:
    x, y = numbers((3, 4, 20, 9), "float32"), numbers((9, 30), "float32")
    left, right = tf.placeholder(tf.float32, [None, 4, None, 9]), tf.constant(y)
    with tf.Session() as session:
        found = session.run(tf.matmul(left, right), {left: x})
    np.testing.assert_array_equal(found, x @ y)
    assert [product["sizes"] for product in library.products] == [(30, 240, 9)]
