# SPDX-License-Identifier: Apache-2.0
"""Cases whose conditions are known when the graph is built, or are not."""

from __future__ import annotations

from typing import Any, NoReturn

import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu


def never() -> NoReturn:
    raise AssertionError("this is not to be built")


def test_what_is_known_to_be_false_or_comes_behind_what_is_true_is_not_built() -> None:
    smart_case = tf.contrib.framework.smart_case
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.placeholder(tf.int32, []), tf.constant(10)

        def chosen(pairs: list[Any], default: Any = never) -> Any:
            return smart_case(pairs, default=default)

        assert chosen([(False, never), (True, lambda: 5), (x > 1, never)]) == 5
        assert chosen([(False, never)], lambda: 7) == 7
        found = chosen(
            [(x > 1, lambda: tf.constant(1)), (y < 1, never), (True, lambda: tf.constant(3))]
        )
        assert [session.run(found, {x: value}) for value in (2, 0)] == [1, 3]
