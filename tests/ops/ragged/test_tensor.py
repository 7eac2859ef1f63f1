# SPDX-License-Identifier: Apache-2.0
"""What a RaggedTensor is: parts, shape, type, what runs give for it, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.programs


@pytest.fixture(autouse=True)
def graph() -> Iterator[None]:
    with tf.Graph().as_default(), settings.override(jit="never"):
        yield


def values_of(*fetches: Any) -> list[Any]:
    with tf.Session() as session:
        return session.run(list(fetches))


def test_parts_are_as_they_were_given() -> None:
    inner = tf.RaggedTensor.from_row_splits(tf.ones([5, 2]), [0, 2, 2, 5])
    outer = tf.RaggedTensor.from_row_lengths(inner, [1, 2])
    assert outer.ragged_rank == 2 and outer.dtype == tf.float32 and outer.values is inner
    assert outer.shape.as_list() == [2, None, None, 2] and outer.flat_values is inner.values
    assert [
        splits is level.row_splits
        for splits, level in zip(outer.nested_row_splits, (outer, inner), strict=True)
    ] == [True, True]
    found = values_of(*outer.nested_row_lengths(), *outer.nested_value_rowids(), outer.nrows())
    assert [part.tolist() for part in found] == [[1, 2], [2, 0, 3], [0, 1, 1], [0, 0, 2, 2, 2], 2]


def test_it_is_told_by_its_parts() -> None:
    x = tf.RaggedTensor.from_row_splits([1, 2], [0, 2], validate=False)
    assert repr(x) == f"tf.RaggedTensor(values={x.values}, row_splits={x.row_splits})"
    assert not tf.is_tensor(x)
    with pytest.raises(TypeError, match="may not be used as a boolean"):
        bool(x)
    with pytest.raises(ValueError, match="only supported in eager mode"):
        x.to_list()
    with pytest.raises(ValueError, match="constructor is private"):
        tf.RaggedTensor(x.values, x.row_splits)


def test_constants_are_of_the_shape_that_is_asked_for() -> None:
    with pytest.raises(TypeError, match=r"Expected Tensor's shape: \(2, 3\), got \(2, 2\)"):
        tf.ragged.constant([[[1, 2]], [[3, 4]]], inner_shape=(3,))
    empty = tf.ragged.constant([[], []], ragged_rank=1, inner_shape=(2,))
    assert empty.shape.as_list() == [2, None, 2] and empty.dtype == tf.float32


def test_splits_of_two_types_do_not_meet() -> None:
    long = tf.ragged.constant([[1, 2], [3]])
    short = tf.ragged.constant([[1, 2], [3]], row_splits_dtype=tf.int32)
    assert short.row_splits.dtype == tf.int32
    assert short.with_row_splits_dtype(tf.int64).row_splits.dtype == tf.int64
    for join in (lambda: long + short, lambda: tf.concat([long, short], 0)):
        with pytest.raises(ValueError, match="mismatched row_splits dtypes"):
            join()


@pytest.mark.parametrize(
    "make, problem",
    [
        (lambda t: t.from_row_splits([1, 2], []), "row_splits tensor may not be empty"),
        (lambda t: t.from_row_splits([1, 2], [0.0, 2.0]), "must have dtype int32 or int64"),
        (lambda t: t.from_value_rowids([1], [3], nrows=2), "Expected nrows >= value_rowids"),
        (lambda t: t.from_tensor([[1]], lengths=[1], padding=0), "not both"),
        (lambda t: t.from_tensor([[1]], ragged_rank=0), "must be greater than 0"),
        (lambda t: t.from_nested_row_splits([1], tf.constant([[0, 1]])), "must be a list"),
        (lambda t: t.from_sparse(tf.constant([[1]])), "Expected SparseTensor"),
        (lambda t: t.from_row_splits([1], [0, 1], validate=1), "validate must have type bool"),
    ],
)
def test_what_makes_no_rows_is_refused_in_the_graph(make: Any, problem: str) -> None:
    with pytest.raises((TypeError, ValueError), match=problem):
        make(tf.RaggedTensor)


@pytest.mark.parametrize(
    "method, partition",
    [
        ("from_row_splits", [0, 3, 2, 4]),
        ("from_row_splits", [1, 2, 4]),
        ("from_row_splits", [0, 2, 5]),
        ("from_row_lengths", [2, -1, 3]),
        ("from_row_lengths", [2, 3]),
        ("from_row_starts", [0, 3, 2]),
        ("from_row_limits", [1, 2, 3]),
        ("from_value_rowids", [0, 2, 1, 1]),
        ("from_value_rowids", [0, 1]),
    ],
)
def test_what_makes_no_rows_is_refused_in_a_run(method: str, partition: list[int]) -> None:
    fed = tf.placeholder(tf.int64, [None])
    x = getattr(tf.RaggedTensor, method)(tf.constant([1, 2, 3, 4]), fed)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=method):
        session.run(x, {fed: partition})


def test_runs_give_and_take_its_value() -> None:
    x = tf.ragged.placeholder(tf.int32, 2, [2])
    value = tf.ragged.constant_value(
        [[[[1, 2]], []], []], np.int32, ragged_rank=2, inner_shape=(2,)
    )
    with tf.Session() as session:
        same, (double, count) = session.run([x, (x * 2, x.nrows())], {x: value})
    assert same.to_list() == value.to_list() == [[[[1, 2]], []], []]
    assert double.to_list() == [[[[2, 4]], []], []] and count == 2
    assert isinstance(same, tf.ragged.RaggedTensorValue)


def test_its_type_has_its_parts() -> None:
    x = tf.ragged.constant([[[1, 2], [3]], []])
    spec = tf.RaggedTensorSpec.from_value(x)
    assert spec == tf.RaggedTensorSpec([2, None, None], tf.int32, 2, tf.int64)
    assert spec.value_type is tf.RaggedTensor and x._type_spec == spec
    assert [(part.shape.as_list(), part.dtype) for part in spec._component_specs] == [
        ([None], tf.int32),
        ([3], tf.int64),
        ([None], tf.int64),
    ]
    again = spec._from_components(spec._to_components(x))
    assert again.nested_row_splits == x.nested_row_splits
    assert spec.is_compatible_with(x) and not spec.is_compatible_with(x[0])
    assert spec._unbatch()._shape.as_list() == [None, None]
    assert spec._batch(4)._shape.as_list() == [4, 2, None, None]


def test_structures_see_its_parts_where_asked() -> None:
    x = tf.ragged.constant([[1, 2], [3]])
    assert tf.nest.flatten([x, 1]) == [x, 1]
    assert tf.nest.flatten(x, expand_composites=True) == [x.flat_values, x.row_splits]
    moved = tf.nest.map_structure(tf.identity, x, expand_composites=True)
    assert values_of(moved)[0].to_list() == [[1, 2], [3]]


def test_gradients_go_through_rows() -> None:
    values = tf.constant([1.0, 2.0, 3.0, 4.0])
    x = tf.RaggedTensor.from_row_lengths(values, [1, 0, 3])
    loss = tf.reduce_sum(x.to_tensor() * [[1.0, 9.0, 9.0], [9.0] * 3, [2.0, 3.0, 4.0]])
    rows = tf.gather(x, [2, 2, 0])
    sparse = tf.sparse.reduce_sum((x * x).to_sparse())
    results = (loss, rows.values * 3.0, sparse)
    slopes = [tf.convert_to_tensor(tf.gradients(y, values)[0]) for y in results]
    assert [slope.tolist() for slope in values_of(*slopes)] == [
        [1.0, 2.0, 3.0, 4.0],
        [3.0, 6.0, 6.0, 6.0],
        [2.0, 4.0, 6.0, 8.0],
    ]


def test_numbers_do_not_go_into_ragged_axes() -> None:
    x = tf.ragged.constant([[1, 2], [3]])
    with pytest.raises(ValueError, match="Cannot index into an inner ragged dimension"):
        x[:, 0]
    with pytest.raises(TypeError, match="slice offsets must be integers"):
        x[:, 1.5:]
    with pytest.raises(IndexError, match="Too many indices"):
        x[..., :, :, :]
    start = tf.constant(-1)
    assert values_of(x[:, start:])[0].to_list() == [[2], [3]]


def test_functions_without_ragged_form_say_what_they_were_given() -> None:
    x = tf.ragged.constant([[1.0, 2.0], [3.0]])
    with pytest.raises(TypeError, match="tf.RaggedTensor"):
        tf.matmul(x, x)
    with pytest.raises(ValueError, match="keepdims=True is not supported"):
        tf.reduce_sum(x, axis=1, keepdims=True)
    with pytest.raises(ValueError, match="axis != 0 is not supported"):
        tf.gather(x, [0], axis=1)


def test_texts_fall_into_rows() -> None:
    texts = tf.constant([["a b", "c"], ["", "d e f"]])
    parts = tf.strings.split(texts, result_type="RaggedTensor")
    letters = tf.strings.bytes_split(tf.constant(["hi", ""]))
    pairs = tf.strings.ngrams(tf.ragged.constant([["a", "b", "c"], ["d"]]), 2, separator="-")
    joined = tf.strings.reduce_join(parts, axis=-1, separator="+")
    found = values_of(parts, letters, pairs, joined, tf.strings.length(parts))
    split, bytes_, grams, together, lengths = [value.to_list() for value in found]
    assert split == [[[b"a", b"b"], [b"c"]], [[], [b"d", b"e", b"f"]]]
    assert bytes_ == [[b"h", b"i"], []] and grams == [[b"a-b", b"b-c"], []]
    assert together == [[b"a+b", b"c"], [b"", b"d+e+f"]]
    assert lengths == [[[1, 1], [1]], [[], [1, 1, 1]]]
