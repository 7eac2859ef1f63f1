# SPDX-License-Identifier: Apache-2.0
"""Lists of tensors: what their ops give, their gradients, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.ops.flow import tensor_list as lists
from numbaflow.ops.public import raw

pytestmark = pytest.mark.cpu

FLOAT = tf.float32


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(*fetches, feed=None):
    with tf.Session() as session:
        found = session.run(fetches, feed)
    return found[0] if len(fetches) == 1 else found


def squares(handle, count):
    for i in range(count):
        handle = lists.tensor_list_push_back(handle, [float(i), float(i * i)])
    return handle


def test_push_and_pop():
    empty = lists.empty_tensor_list([2], FLOAT)
    three = squares(empty, 3)
    rest, last = lists.tensor_list_pop_back(three, FLOAT)
    assert last.shape.as_list() == [2]
    sizes = [lists.tensor_list_length(handle) for handle in (empty, three, rest)]
    assert list(run(*sizes)) == [0, 3, 2]
    np.testing.assert_array_equal(run(last), [2, 4])
    stacked = lists.tensor_list_stack(three, FLOAT, num_elements=3)
    assert stacked.shape.as_list() == [3, 2]
    np.testing.assert_array_equal(run(stacked), [[0, 0], [1, 1], [2, 4]])


def test_a_list_is_never_changed():
    first = lists.tensor_list_from_tensor([1.0, 2.0, 3.0], element_shape=[])
    second = lists.tensor_list_set_item(first, 1, 7.0)
    both = run(*(lists.tensor_list_stack(handle, FLOAT) for handle in (first, second)))
    np.testing.assert_array_equal(both, [[1, 2, 3], [1, 7, 3]])


def test_elements_that_were_not_set_read_as_zeros():
    handle = lists.tensor_list_set_item(lists.tensor_list_reserve(None, 3, FLOAT), 1, [5.0, 6.0])
    np.testing.assert_array_equal(
        run(lists.tensor_list_stack(handle, FLOAT)), [[0, 0], [5, 6], [0, 0]]
    )
    np.testing.assert_array_equal(run(lists.tensor_list_get_item(handle, 0, FLOAT)), [0, 0])


def test_gather_scatter_and_resize():
    handle = lists.tensor_list_scatter([[1.0], [2.0]], [3, 0], element_shape=[1])
    found = lists.tensor_list_gather(handle, [0, 3, 1], FLOAT, element_shape=[1])
    assert found.shape.as_list() == [3, 1]
    np.testing.assert_array_equal(run(found), [[2], [1], [0]])
    longer = raw.TensorListResize(handle, 6)
    shorter = raw.TensorListResize(handle, 1)
    assert list(run(*map(lists.tensor_list_length, (handle, longer, shorter)))) == [4, 6, 1]
    more = lists.tensor_list_scatter([[9.0]], [1], input_handle=handle)
    np.testing.assert_array_equal(run(lists.tensor_list_stack(more, FLOAT)), [[2], [9], [0], [1]])


def test_split_and_concat():
    handle = lists.tensor_list_split(tf.range(6.0), [None], [1, 0, 5])
    joined, sizes = raw.TensorListConcat(handle, element_dtype=FLOAT)
    assert joined.shape.as_list() == [None]
    both = run(joined, sizes)
    np.testing.assert_array_equal(both[0], range(6))
    np.testing.assert_array_equal(both[1], [1, 0, 5])
    twice = raw.TensorListConcatLists(handle, handle, element_dtype=FLOAT)
    assert run(lists.tensor_list_length(twice)) == 6


def test_lists_in_lists():
    outer = lists.empty_tensor_list([], tf.variant)
    for part in ([1.0, 2.0], [3.0]):
        inner = lists.tensor_list_from_tensor(part, element_shape=[])
        outer = lists.tensor_list_push_back(outer, inner)
    zeros = tf.zeros_like(outer)
    for handle, expected in ((outer, [1, 2]), (zeros, [0, 0])):
        first = lists.tensor_list_get_item(handle, 0, tf.variant)
        np.testing.assert_array_equal(run(lists.tensor_list_stack(first, FLOAT)), expected)


def test_text_in_lists():
    handle = lists.tensor_list_from_tensor(["a", "bc"], element_shape=[])
    handle = raw.TensorListResize(handle, 3)
    assert run(lists.tensor_list_stack(handle, tf.string)).tolist() == [b"a", b"bc", b""]


def test_in_a_loop():
    def body(i, handle):
        return i + 1, lists.tensor_list_push_back(handle, tf.cast(i, FLOAT) * 2.0)

    start = (0, lists.empty_tensor_list([], FLOAT))
    _, handle = tf.while_loop(lambda i, _: i < 4, body, start)
    np.testing.assert_array_equal(run(lists.tensor_list_stack(handle, FLOAT)), [0, 2, 4, 6])


def test_sums_of_lists():
    first = lists.tensor_list_from_tensor([1.0, 2.0], element_shape=[])
    second = lists.tensor_list_from_tensor([10.0, 20.0], element_shape=[])
    total = tf.add_n([first, second])
    np.testing.assert_array_equal(run(lists.tensor_list_stack(total, FLOAT)), [11, 22])


def through_push(x):
    handle = lists.tensor_list_push_back(lists.empty_tensor_list([3], FLOAT), x * x)
    return lists.tensor_list_pop_back(handle, FLOAT)[1]


def through_rows(x):
    return lists.tensor_list_stack(lists.tensor_list_from_tensor(x * x, []), FLOAT)


def through_item(x):
    handle = lists.tensor_list_from_tensor(x * x, element_shape=[])
    handle = lists.tensor_list_set_item(handle, 0, x[2] * 5.0)
    return lists.tensor_list_get_item(handle, 0, FLOAT) + lists.tensor_list_get_item(
        handle, 1, FLOAT
    )


def through_scatter(x):
    handle = lists.tensor_list_scatter(x * x, [2, 0, 1], element_shape=[])
    return lists.tensor_list_gather(handle, [0, 1], FLOAT)


def through_parts(x):
    handle = lists.tensor_list_split(x * x, [None], [1, 2])
    return lists.tensor_list_concat(handle, FLOAT) * [1.0, 2.0, 3.0]


def through_longer(x):
    handle = lists.tensor_list_from_tensor(x * x, element_shape=[])
    handle = lists.tensor_list_set_item(handle, 4, 1.0, resize_if_index_out_of_bounds=True)
    return lists.tensor_list_stack(handle, FLOAT)


@pytest.mark.parametrize(
    "through, expected",
    [
        (through_push, [2, 4, 6]),
        (through_rows, [2, 4, 6]),
        (through_item, [0, 4, 5]),
        (through_scatter, [0, 4, 6]),
        (through_parts, [2, 8, 18]),
        (through_longer, [2, 4, 6]),
    ],
)
def test_gradients(through, expected):
    x = tf.constant([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(run(tf.gradients(through(x), x)[0]), expected)


@pytest.mark.parametrize(
    "make, reason",
    [
        (
            lambda: lists.tensor_list_pop_back(lists.empty_tensor_list([], FLOAT), FLOAT),
            "empty list",
        ),
        (lambda: squares(lists.empty_tensor_list([2], FLOAT, 1), 2), "full list"),
        (
            lambda: lists.tensor_list_stack(
                squares(lists.empty_tensor_list(None, FLOAT), 0), FLOAT
            ),
            "non-fully-defined",
        ),
        (
            lambda: lists.tensor_list_get_item(lists.empty_tensor_list([], FLOAT), 3, FLOAT),
            "access element 3 in a list with 0 elements",
        ),
        (
            lambda: lists.tensor_list_split([1.0, 2.0], None, [1]),
            "Unused values in tensor. Length of tensor: 2 Values used: 1",
        ),
        (lambda: lists.tensor_list_scatter([1.0], [-1], []), "must all be non-negative"),
    ],
)
def test_refusals(make, reason):
    with pytest.raises(tf.errors.InvalidArgumentError, match=reason):
        run(make())


def test_what_the_graph_knows_is_checked_when_it_is_built():
    handle = lists.tensor_list_from_tensor([1.0], element_shape=[])
    with pytest.raises(ValueError, match="wrong element dtype"):
        lists.tensor_list_push_back(handle, 1)
    with pytest.raises(ValueError, match="Shapes must be equal rank"):
        lists.tensor_list_push_back(handle, [1.0])
    with pytest.raises(ValueError, match="wrong element dtype"):
        lists.tensor_list_stack(handle, tf.int32)
