# SPDX-License-Identifier: Apache-2.0
"""Math ops: which nodes the functions make, their static shapes, their errors and dtype rules."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.ops.public import raw

pytestmark = pytest.mark.programs


@pytest.fixture(autouse=True)
def graph(monkeypatch: pytest.MonkeyPatch) -> Iterator[tf.Graph]:
    monkeypatch.setenv("NUMBAFLOW_JIT", "never")
    with tf.Graph().as_default() as graph:
        yield graph


def nodes(graph: tf.Graph, after: int = 0) -> list[tuple[str, str]]:
    return [(op.name, op.type) for op in graph.get_operations()[after:]]


def run(fetches, feed_dict=None):
    with tf.Session() as session:
        return session.run(fetches, feed_dict)


# Nodes


@pytest.mark.pure
def test_operators_make_tensorflows_nodes(graph: tf.Graph) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = 2 * x + 1
    assert y.name == "add:0"
    assert -(y / x) is not None
    assert nodes(graph) == [
        ("x", "Placeholder"),
        ("mul/x", "Const"),
        ("mul", "Mul"),
        ("add/y", "Const"),
        ("add", "AddV2"),
        ("truediv", "RealDiv"),
        ("Neg", "Neg"),
    ]


def test_integer_division_casts(graph: tf.Graph) -> None:
    quotient = tf.constant([7, -7]) / 2
    assert quotient.dtype == tf.float64
    assert [kind for _, kind in nodes(graph)] == ["Const", "Const", "Cast", "Cast", "RealDiv"]
    assert run([quotient, tf.constant(-7) // 2, tf.constant(-7) % 2])[1:] == [-4, 1]


@pytest.mark.pure
def test_broadcast_gradient_of_static_shapes_is_folded(graph: tf.Graph) -> None:
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    y = tf.placeholder(tf.float32, [3], name="y")
    z = tf.add(x, y)
    before = len(graph.get_operations())
    tf.gradients(z, [x, y])
    made = [name for name, _ in nodes(graph, before)]
    assert "gradients/Add_grad/Sum" in made and "gradients/Add_grad/Shape" not in made
    assert made.count("gradients/Add_grad/BroadcastGradientArgs") == 1


@pytest.mark.pure
def test_names_of_reductions(graph: tf.Graph) -> None:
    x = tf.placeholder(tf.float32, None, name="x")
    tf.reduce_sum(x)
    assert [name for name, _ in nodes(graph)] == [
        "x",
        "Rank",
        "range/start",
        "range/delta",
        "range",
        "Sum",
    ]


@pytest.mark.pure
def test_equality_is_identity() -> None:
    x, y = tf.constant(1), tf.constant(1)
    assert x == x and x != y and len({x, y}) == 2


# Shapes


@pytest.mark.pure
def test_broadcast_shapes() -> None:
    x = tf.placeholder(tf.float32, [None, 1, 3])
    y = tf.placeholder(tf.float32, [2, 1])
    assert (x + y).shape.as_list() == [None, 2, 3]
    assert (x + tf.placeholder(tf.float32, None)).shape.ndims is None
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 2 and 3 for 'add_2'"):
        tf.zeros([2]) + tf.zeros([3])


@pytest.mark.pure
@pytest.mark.parametrize(
    ("axis", "keepdims", "shape"),
    [(None, False, []), (0, False, [3]), ([-1], True, [None, 1]), ([0, 1], True, [1, 1])],
)
def test_reduction_shapes(axis, keepdims: bool, shape: list) -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    assert tf.reduce_sum(x, axis, keepdims=keepdims).shape.as_list() == shape


@pytest.mark.pure
def test_unknown_axes_leave_the_shape_open() -> None:
    x, axes = tf.placeholder(tf.float32, [2, 3]), tf.placeholder(tf.int32, [None])
    assert tf.reduce_max(x, axes).shape.ndims is None
    assert tf.reduce_max(x, axes, keepdims=True).shape.as_list() == [None, None]


@pytest.mark.pure
def test_bad_axis_is_refused() -> None:
    with pytest.raises(ValueError, match="Invalid reduction dimension 2 for input with 2 dim"):
        tf.reduce_sum(tf.zeros([2, 3]), 2)
    with pytest.raises(ValueError, match="Cannot specify both 'reduction_indices' and 'axis'"):
        tf.reduce_sum(tf.zeros([2, 3]), 1, reduction_indices=0)


@pytest.mark.pure
def test_matmul_shapes() -> None:
    x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [4, 3])
    assert tf.matmul(x, y, transpose_b=True).shape.as_list() == [None, 4]
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 3 and 4 for 'MatMul"):
        tf.matmul(x, y)
    stack = tf.placeholder(tf.float32, [5, 1, 2, 3])
    product = stack @ tf.placeholder(tf.float32, [7, 3, 2])
    assert product.op.type == "BatchMatMulV2" and product.shape.as_list() == [5, 7, 2, 2]


# Errors at run time


def test_incompatible_shapes_at_run_time() -> None:
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Incompatible shapes: \[2\] vs. \[3"):
        run(x + y, {x: [1, 2], y: [1, 2, 3]})


@pytest.mark.parametrize("divide", [tf.floordiv, tf.floormod, tf.truncatediv, tf.truncatemod])
def test_integer_division_by_zero(divide) -> None:
    x = tf.placeholder(tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero"):
        run(divide(x, x), {x: [1, 0]})


def test_integer_powers_are_not_negative() -> None:
    x = tf.placeholder(tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="negative integer powers"):
        run(tf.pow(2, x), {x: -1})


def test_segment_ids_are_checked() -> None:
    ids = tf.placeholder(tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="segment ids are not increasing"):
        run(tf.segment_sum(tf.ones([3, 2]), ids), {ids: [0, 1, 0]})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"segment_ids\[1\] = 5 is out of"):
        run(tf.unsorted_segment_sum(tf.ones([3, 2]), ids, 4), {ids: [0, 5, 0]})


def test_the_mean_of_large_integers_in_a_segment_is_exact() -> None:
    large = 2**53 + 1
    found = tf.segment_mean(np.array([large, -5, -2], np.int64), [0, 1, 1])
    assert run(found).tolist() == [large, -3]


def test_assertions_show_their_data() -> None:
    x = tf.placeholder(tf.int32, name="x")
    check = tf.assert_less(x, 3, message="too large")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[too large\] \[Condition x < y"):
        run(check, {x: [1, 5]})
    run(check, {x: [1, 2]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="Condition x > 0"):
        tf.assert_positive(tf.constant([1, -1]))
    with pytest.raises(ValueError, match="must have rank 2.  Received rank 1"):
        tf.assert_rank(tf.zeros([3]), 2)


# Dtypes


@pytest.mark.pure
def test_dtypes_do_not_mix() -> None:
    with pytest.raises(TypeError, match="Input 'y' of 'AddV2' Op has type float64"):
        tf.constant(1.0) + tf.constant(1.0, tf.float64)
    with pytest.raises(TypeError, match="must have the same dtype"):
        tf.constant(1.0) / tf.constant(1)


def test_range_takes_the_widest_type() -> None:
    assert tf.range(0, 5.0).dtype == tf.float32
    assert tf.range(tf.constant(3, tf.int64)).dtype == tf.int64
    assert run(tf.range(5, 0, -2)).tolist() == [5, 3, 1]
    with pytest.raises(ValueError, match="Requires start <= limit when delta > 0"):
        tf.range(5, 1)


@pytest.mark.cpu
@pytest.mark.parametrize("mode", ["never", "always"])
def test_a_range_between_sizes_that_its_step_does_not_divide(monkeypatch, mode: str) -> None:
    monkeypatch.setenv("NUMBAFLOW_JIT", mode)
    x = tf.placeholder(tf.float32, [None])
    size = tf.size(x)
    up, down = tf.range(size, size + 5, 2), tf.range(size + 5, size, -2)
    assert [found.tolist() for found in run([up, down], {x: [1.0, 2.0, 3.0]})] == [
        [3, 5, 7],
        [8, 6, 4],
    ]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Requires start <= limit"):
        run(tf.range(size + 5, size), {x: [1.0]})


def test_integers_meet_boundaries_in_single_precision() -> None:
    # As in C++: 16777219 becomes 16777220 as a float.
    x = np.array([16777217, 16777219, 16777221], np.int32)
    found = raw.Bucketize(x, boundaries=[16777216.0, 16777220.0])
    assert run(found).tolist() == [1, 2, 2]


def test_half_sums_are_accumulated_in_single_precision() -> None:
    # In half precision, 2048 + 1 is 2048.
    x = np.full(4096, 1.0, np.float16)
    assert run(tf.reduce_sum(tf.constant(x))) == 4096


def test_extremes_of_nothing() -> None:
    empty = tf.zeros([0, 2])
    assert run(tf.reduce_max(empty, 0)).tolist() == [-np.inf, -np.inf]
    assert run(tf.reduce_prod(empty, 0)).tolist() == [1, 1]
    assert np.isnan(run(tf.reduce_mean(empty, 0))).all()


def test_select_takes_rows() -> None:
    chosen = tf.where([True, False], [[1, 2], [3, 4]], [[5, 6], [7, 8]])
    assert run(chosen).tolist() == [[1, 2], [7, 8]]


def test_clip_by_global_norm_keeps_none() -> None:
    clipped, norm = tf.clip_by_global_norm([tf.constant([3.0]), None, tf.constant([4.0])], 1.0)
    assert clipped[1] is None
    values = run([clipped[0], clipped[2], norm])
    np.testing.assert_allclose(np.concatenate(values[:2]), [0.6, 0.8], rtol=1e-6)
    assert values[2] == 5


def test_einsum_agrees_with_numpy() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for equation, inputs in [
        ("ij,kj->ik", (x, x)),
        ("ij,ij->j", (x, x)),
        ("ij,jk,kl", (x, x.T, x)),
    ]:
        ours = run(tf.einsum(equation, *map(tf.constant, inputs)))
        np.testing.assert_allclose(ours, np.einsum(equation, *inputs), rtol=1e-6)


def test_sparse_times_dense() -> None:
    sparse = tf.SparseTensor([[0, 1], [1, 0]], [2.0, 3.0], [2, 2])
    product, quotient = sparse * [[10.0], [100.0]], sparse / [[2.0, 4.0]]
    assert run(product.values).tolist() == [20, 300]
    assert run(quotient.values).tolist() == [0.5, 1.5]
    assert run(tf.negative(sparse).values).tolist() == [-2, -3]


def test_confusion_matrix_counts_pairs() -> None:
    counts = tf.confusion_matrix([0, 1, 1], [0, 1, 0])
    assert run(counts).tolist() == [[1, 0], [1, 1]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="`labels` out of bound"):
        run(tf.confusion_matrix(tf.placeholder_with_default([5], [1]), [0], num_classes=2))


@pytest.mark.cpu
@pytest.mark.parametrize("mode", ["never", "always"])
def test_nothing_divided_by_zero_is_nothing(mode: str) -> None:
    """A zero divisor is wrong only where there is something to divide."""
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
        x, y = tf.placeholder(tf.int32), tf.placeholder(tf.int32)
        results = [x // y, tf.floormod(x, y), tf.truncatediv(x, y)]
        for _ in range(2):
            for value in session.run(results, {x: np.zeros(0, np.int32), y: 0}):
                assert value.shape == (0,)
            for fetch in results:
                with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
                    session.run(fetch, {x: [1, 2], y: 0})


def test_sums_of_segments_have_gradients_whatever_their_rank() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, None)
        y = tf.unsorted_segment_sum(x, tf.constant([0, -1, 1]), 2)
        (slope,) = tf.gradients(y * y, x)
        np.testing.assert_array_equal(session.run(slope, {x: [1.0, 2.0, 3.0]}), [2.0, 0.0, 6.0])
        rows = session.run(slope, {x: [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]})
        np.testing.assert_array_equal(rows, [[2.0, 4.0], [0.0, 0.0], [10.0, 12.0]])
