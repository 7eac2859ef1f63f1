# SPDX-License-Identifier: Apache-2.0
"""Nested lists that tests draw, and what Python makes of them: the meaning of ragged tensors."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

import numbaflow as tf
from numbaflow.engine import settings

Rows = list[list[int]]
_NUMBERS = st.integers(-9, 9)


def rows(most: int = 5, at_least: int = 0) -> st.SearchStrategy[Rows]:
    """Rows of different lengths, also none at all."""
    return st.lists(st.lists(_NUMBERS, max_size=4), min_size=at_least, max_size=most)


def pages() -> st.SearchStrategy[list[Rows]]:
    """Rows of rows."""
    return st.lists(rows(3), max_size=4)


def ragged(given: Any, levels: int = 1) -> Any:
    """The lists as a fed value."""
    return tf.ragged.constant_value(given, dtype=np.int64, ragged_rank=levels)


def run(build: Callable[..., Any], *given: Any, levels: int = 1) -> Any:
    """What a function of ragged tensors gives, as lists."""
    with tf.Graph().as_default(), settings.override(jit="never"):
        fed = [tf.ragged.placeholder(tf.int64, levels, []) for _ in given]
        values = [ragged(value, levels) for value in given]
        result = build(*fed)
        with tf.Session() as session:
            value = session.run(result, dict(zip(fed, values, strict=True)))
    return as_lists(value)


def as_lists(value: Any) -> Any:
    """Values of a run as lists."""
    if isinstance(value, (list, tuple)):
        return [as_lists(item) for item in value]
    return value.to_list() if hasattr(value, "to_list") else value.tolist()


def flat(given: Any) -> list[Any]:
    """What all rows hold, one behind the other."""
    return list(itertools.chain.from_iterable(given))


def mapped(function: Callable[[Any], Any], given: Any) -> Any:
    """Lists of lists with a function of every number."""
    if isinstance(given, list):
        return [mapped(function, item) for item in given]
    return function(given)
