# SPDX-License-Identifier: Apache-2.0
"""Lists of tensors in compiled plans: arrays in place, values to whoever looks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.ops.flow import tensor_list as lists
from numbaflow.ops.public import raw

pytestmark = pytest.mark.cpu

FLOAT = tf.float32
ROWS = np.arange(8, dtype=np.float32).reshape(4, 2)


@pytest.fixture(autouse=True)
def _fresh_graph():
    with tf.Graph().as_default():
        yield


def stack(handle: Any) -> Any:
    return lists.tensor_list_stack(handle, FLOAT)


def both(fetches: Any, feed: Any = None, is_whole: bool = True, tolerance: float = 0) -> list[Any]:
    """What reference kernels and one plan give, or raise."""
    found: list[Any] = []
    for mode in ("never", "always"):
        with settings.override(jit=mode), tf.Session() as session:
            try:
                found.append(session.run(fetches, feed))
            except tf.errors.InvalidArgumentError as error:
                found.append([str(error).splitlines()[0]])
            if mode == "always" and is_whole:
                text = str(session.explain(fetches, feed))
                assert "piece by piece" not in text and "Not compiled" not in text
    for one, other in zip(*found, strict=True):
        if tolerance:
            np.testing.assert_allclose(other, one, tolerance, tolerance)
        else:
            np.testing.assert_array_equal(other, one)
    return found[1]


def turned(body: Callable[..., Any], *values: Any, turns: Any = 4) -> list[Any]:
    """A loop over a counter and values."""

    def turn(i: Any, *values: Any) -> list[Any]:
        found = body(i, *values)
        return [i + 1, *(found if isinstance(found, (list, tuple)) else [found])]

    return tf.while_loop(lambda i, *_: i < turns, turn, [0, *values])[1:]


def test_a_loop_writes_a_list_in_place():
    x = tf.placeholder(FLOAT, [None, 2])
    given = lists.tensor_list_from_tensor(x, [2])

    def body(i: Any, handle: Any) -> Any:
        return lists.tensor_list_set_item(
            handle, i, 3 * lists.tensor_list_get_item(given, i, FLOAT)
        )

    made = turned(body, lists.tensor_list_reserve(None, tf.shape(x)[0], FLOAT))
    (found,) = both([stack(made[0])], {x: ROWS})
    np.testing.assert_array_equal(found, 3 * ROWS)


def test_an_older_state_of_a_list_is_what_it_was():
    x = tf.placeholder(FLOAT, [4, 2])
    first = lists.tensor_list_from_tensor(x, [2])
    second = lists.tensor_list_set_item(first, 1, [7.0, 7.0])
    third = lists.tensor_list_set_item(first, 2, [9.0, 9.0])
    looped = turned(lambda i, h: lists.tensor_list_set_item(h, i, x[0]), first)
    both([stack(each) for each in (third, first, second, *looped)], {x: ROWS})


def test_a_turn_reads_what_it_has_overwritten():
    x = tf.placeholder(FLOAT, [4, 2])

    def body(i: Any, handle: Any, total: Any) -> Any:
        changed = lists.tensor_list_set_item(handle, i, x[0] + 1.0)
        return changed, total + lists.tensor_list_get_item(handle, i, FLOAT, [2])

    made = turned(body, lists.tensor_list_from_tensor(x, [2]), tf.zeros([2]))
    found = both([stack(made[0]), made[1]], {x: ROWS})
    np.testing.assert_array_equal(found[1], ROWS.sum(0))


def test_branches_of_a_loop_change_one_list():
    x = tf.placeholder(FLOAT, [4, 2])
    start = lists.tensor_list_from_tensor(x, [2])

    def body(i: Any, handle: Any) -> Any:
        put = lists.tensor_list_set_item
        return tf.cond(i < 2, lambda: put(handle, i, x[3]), lambda: tf.identity(handle))

    both([stack(turned(body, start)[0])], {x: ROWS})
    choice = tf.cond(x[0, 0] > 0, lambda: start, lambda: lists.tensor_list_from_tensor(-x, [2]))
    both([stack(choice)], {x: ROWS})
    both([stack(choice)], {x: ROWS + 1})


@pytest.mark.parametrize("order", [0, 1])
def test_lists_are_added_up(order: int):
    x = tf.placeholder(FLOAT, [4, 2])
    start = lists.tensor_list_from_tensor(x, [2])

    def body(i: Any, handle: Any) -> Any:
        one = lists.tensor_list_set_item(lists.tensor_list_reserve([2], 4, FLOAT), 3 - i, x[i])
        return tf.add_n([handle, one][:: 1 - 2 * order])

    (found,) = both([stack(turned(body, start)[0])], {x: ROWS})
    np.testing.assert_array_equal(found, ROWS + ROWS[::-1])
    both(
        [stack(tf.add_n([start, start])), stack(tf.add_n([tf.zeros_like(start), start]))], {x: ROWS}
    )


@pytest.mark.parametrize("turns", [0, 1, 5, 70])
def test_a_list_grows(turns: int):
    n = tf.placeholder(tf.int32, [])

    def push(i: Any, handle: Any) -> Any:
        return lists.tensor_list_push_back(handle, [tf.cast(i, FLOAT), 1.0])

    def lengthen(i: Any, handle: Any) -> Any:
        size = tf.maximum(lists.tensor_list_length(handle), i + 1)
        return lists.tensor_list_set_item(raw.TensorListResize(handle, size), i, [1.0, 2.0])

    pushed = turned(push, lists.empty_tensor_list([2], FLOAT), turns=n)[0]
    longer = turned(lengthen, lists.tensor_list_reserve([2], 0, FLOAT), turns=n)[0]
    found = both([stack(pushed), lists.tensor_list_length(longer), stack(longer)], {n: turns})
    assert len(found[0]) == found[1] == turns


def test_gradients_of_a_loop_over_lists():
    x = tf.placeholder(FLOAT, [None, 2])
    n = tf.shape(x)[0]
    tf.enable_control_flow_v2()
    try:
        given = tf.TensorArray(FLOAT, n).unstack(x)

        def turn(i: Any, state: Any, made: Any) -> Any:
            state = tf.tanh(state + given.read(i) * given.read(n - 1 - i))
            return i + 1, state, made.write(i, state)

        start = (0, tf.zeros([2]), tf.TensorArray(FLOAT, n))
        made = tf.while_loop(lambda i, *_: i < n, turn, start)[2].stack()
        gradient = tf.gradients(tf.reduce_sum(made * made), x)[0]
    finally:
        tf.disable_control_flow_v2()
    for rows in (ROWS / 8, ROWS[:1] / 8, ROWS[:0]):
        both([made, gradient], {x: rows}, tolerance=1e-6)


def _get(x: Any, i: Any) -> Any:
    return lists.tensor_list_get_item(lists.tensor_list_from_tensor(x, [2]), i, FLOAT)


def _set(x: Any, i: Any) -> Any:
    return stack(lists.tensor_list_set_item(lists.tensor_list_from_tensor(x, [2]), i, x[0]))


def _gather(x: Any, i: Any) -> Any:
    return lists.tensor_list_gather(lists.tensor_list_from_tensor(x, [2]), [0, i], FLOAT)


def _unset(x: Any, i: Any) -> Any:
    start = lists.tensor_list_reserve(None, tf.shape(x)[0], FLOAT)
    return stack(turned(lambda k, h: lists.tensor_list_set_item(h, k, x[k]), start, turns=i - 5)[0])


@pytest.mark.parametrize(
    "wrong, text",
    [
        (_get, "Trying to access element 5 in a list with 4 elements."),
        (_set, "Trying to modify element 5 in a list with 4 elements."),
        (_gather, "Index 5 out o range; list only has 4 elements."),
        (_unset, "Tried to stack list which only contains uninitialized tensors and has a "),
    ],
)
def test_what_a_list_refuses(wrong: Any, text: str):
    x, i = tf.placeholder(FLOAT, [None, 2]), tf.placeholder(tf.int32, [])
    assert both([wrong(x, i)], {x: ROWS, i: 5}, is_whole=False)[0].startswith(text)


@pytest.mark.parametrize("dtype", [tf.float16, tf.complex64, tf.int64, tf.bool])
def test_elements_of_any_type(dtype: Any):
    x = tf.placeholder(FLOAT, [4, 2])
    rows = tf.cast(x, dtype)
    first = lists.tensor_list_from_tensor(rows, [2])
    second = lists.tensor_list_set_item(lists.tensor_list_reserve([2], 4, dtype), 1, rows[2])
    made = [first, second]
    if dtype != tf.bool:
        made.append(tf.add_n([first, second]))
    both([lists.tensor_list_stack(each, dtype) for each in made], {x: ROWS})


def test_a_list_that_others_take_is_left_to_reference_kernels():
    texts = lists.tensor_list_from_tensor(tf.as_string(tf.range(3)), [])
    both([lists.tensor_list_stack(texts, tf.string)], is_whole=False)
    handle = lists.tensor_list_from_tensor([1.0, 2.0], [])
    with tf.Session() as session:
        assert len(session.run(handle).items) == 2
