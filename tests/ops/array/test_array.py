# SPDX-License-Identifier: Apache-2.0
"""Array ops: what constants accept, names, static shapes and the texts of errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.engine.types.repeated import Repeated

pytestmark = pytest.mark.programs


@pytest.fixture(autouse=True)
def _fresh_graph():
    with settings.override(jit="never"), tf.Graph().as_default():
        yield


def value(tensor):
    with tf.Session() as session:
        return session.run(tensor)


@pytest.mark.pure
def test_constants_take_the_types_of_python() -> None:
    assert tf.constant(1.5).dtype == tf.float32
    assert tf.constant(1).dtype == tf.int32
    assert tf.constant(2**40).dtype == tf.int64
    assert tf.constant("a").dtype == tf.string
    assert tf.constant(np.float64(1)).dtype == tf.float64
    assert tf.constant([tf.Dimension(3)], tf.int64).dtype == tf.int64


def test_constants_repeat_their_last_element() -> None:
    assert value(tf.constant([1, 2], shape=[2, 2])).tolist() == [[1, 2], [2, 2]]
    with pytest.raises(ValueError, match="Too many elements provided. Needed at most 1"):
        tf.constant([1, 2], shape=[1])
    with pytest.raises(TypeError, match=r"Expected Tensor's shape: \(3,\), got \(2,\)"):
        tf.constant([1, 2], shape=[3], verify_shape=True)


@pytest.mark.pure
def test_constants_refuse_what_does_not_fit() -> None:
    with pytest.raises(TypeError, match="Expected int32, got 1.5 of type 'float' instead"):
        tf.constant([1.5], dtype=tf.int32)
    with pytest.raises(ValueError, match="None values not supported"):
        tf.constant(None)
    with pytest.raises(ValueError, match="Argument must be a dense tensor"):
        tf.constant([[1, 2], [3]])
    with pytest.raises(TypeError, match="List of Tensors when single Tensor expected"):
        tf.constant([tf.constant(1)])


def test_constants_are_copies() -> None:
    array = np.zeros(2, np.float32)
    constant = tf.constant(array)
    array[0] = 7
    assert value(constant).tolist() == [0, 0]


def test_lists_with_tensors_are_packed() -> None:
    x = tf.constant(1.0)
    packed = tf.convert_to_tensor([[x, 2.0], [3.0, x]])
    assert packed.op.type == "Pack"
    assert packed.name == "packed:0"
    assert value(packed).tolist() == [[1, 2], [3, 1]]
    with pytest.raises(TypeError, match="Cannot convert a list containing a tensor of dtype"):
        tf.convert_to_tensor([x, tf.constant(1)])


def test_placeholders_must_be_fed() -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    message = "You must feed a value for placeholder tensor 'x' with dtype float and shape"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        value(tf.identity(x))
    default = tf.placeholder_with_default([1.0], [None])
    with tf.Session() as session:
        assert session.run(default).tolist() == [1]
        assert session.run(default, {default: [1, 2]}).tolist() == [1, 2]


@pytest.mark.pure
@pytest.mark.parametrize(
    ("shape", "target", "wanted"),
    [
        ([2, 3], [-1], "(6,)"),
        ([None, 3], [-1], "(?,)"),
        ([None, 3], [2, -1], "(2, ?)"),
        ([0, 3], [3, 0], "(3, 0)"),
    ],
)
def test_static_shape_of_reshape(shape, target, wanted) -> None:
    assert str(tf.reshape(tf.placeholder(tf.float32, shape), target).shape) == wanted


@pytest.mark.pure
@pytest.mark.parametrize("shape", [[-1], [2, -1], [-2, -3], [-2000, 1], [0, -1]])
def test_no_size_is_negative(shape) -> None:
    for make in (tf.zeros, tf.ones, lambda shape: tf.fill(shape, 1)):
        with pytest.raises(ValueError):
            make(shape)
    with pytest.raises(ValueError):
        tf.constant([], shape=shape)


@pytest.mark.pure
def test_a_stated_shape_must_be_possible_for_the_default_of_a_placeholder() -> None:
    for shape in ([3], [1, 1], []):
        with pytest.raises(ValueError, match="Shapes? must be equal rank|Shapes are"):
            tf.placeholder_with_default([1.0], shape)
    for shape, stated in (([1], "(1,)"), ([None], "(?,)"), (None, "<unknown>")):
        assert str(tf.placeholder_with_default([1.0], shape).shape) == stated


@pytest.mark.pure
def test_an_axis_to_insert_is_one_number() -> None:
    with pytest.raises(ValueError, match="'dim' input must be a tensor with a single value"):
        tf.expand_dims(tf.zeros([2]), np.zeros([0], np.int32))


@pytest.mark.pure
def test_errors_name_the_op_and_its_shapes() -> None:
    with pytest.raises(ValueError, match=r"Cannot reshape a tensor with 6 elements to shape \[4\]"):
        tf.reshape(tf.zeros([2, 3]), [4])
    with pytest.raises(
        ValueError, match=r"Dimension 0 in both shapes must be equal, but are 2 and"
    ):
        tf.stack([tf.zeros([2]), tf.zeros([3])], axis=1)
    with pytest.raises(ValueError, match="slice index 5 of dimension 0 out of bounds"):
        tf.zeros([3])[5]
    with pytest.raises(TypeError, match="Only integers, slices"):
        tf.zeros([3])["a"]
    with pytest.raises(ValueError, match="Unknown padding mode: ODD"):
        tf.pad(tf.zeros([3]), [[1, 1]], "odd")


def test_run_time_errors() -> None:
    at = tf.placeholder(tf.int32, [None])
    rows = tf.gather(tf.zeros([3]), at)
    message = r"indices\[1\] = 9 is not in \[0, 3\)"
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(rows, {at: [0, 9]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="checked : Tensor had NaN values"):
        value(tf.check_numerics([np.float32(np.nan)], "checked"))


@pytest.mark.parametrize(
    "cut",
    [
        np.s_[1],
        np.s_[-1],
        np.s_[::-1],
        np.s_[1:3, ::2],
        np.s_[..., 0],
        np.s_[:, None, 1:],
        np.s_[3:0:-2, 1:5:3],
        np.s_[5:],
        np.s_[None, ..., None],
        np.s_[2, 3],
        np.s_[-100:100],
        np.s_[:0:-1],
    ],
)
def test_subscripts_are_numpys(cut) -> None:
    array = np.arange(24).reshape(4, 6)
    tensor = tf.constant(array)[cut]
    assert tensor.shape.as_list() == list(array[cut].shape)
    np.testing.assert_array_equal(value(tensor), array[cut])


def test_subscripts_with_tensors() -> None:
    i = tf.placeholder(tf.int32, [])
    x = tf.constant(np.arange(24).reshape(4, 6))
    with tf.Session() as session:
        found = session.run([x[i], x[i:], x[:, i - 1 : i + 1]], {i: 2})
    assert [f.shape for f in found] == [(6,), (2, 6), (4, 2)]


def test_dense_form_of_slices() -> None:
    slices = tf.IndexedSlices(tf.constant([[1.0], [2.0], [3.0]]), [0, 2, 0], tf.constant([3, 1]))
    assert value(tf.convert_to_tensor(slices)).tolist() == [[4], [0], [2]]
    with pytest.raises(ValueError, match="without dense_shape"):
        tf.convert_to_tensor(tf.IndexedSlices(tf.zeros([1, 1]), tf.constant([0])))


# What TensorFlow 1.15 says of two shapes that do not go together.
@pytest.mark.pure
@pytest.mark.parametrize(
    ("left", "right", "axis", "text"),
    [
        (
            [2, 3],
            [3, 2],
            0,
            "Dimension 0 in both shapes must be equal, but are 3 and 2. Shapes are [3] and [2]. "
            "for 'concat' (op: 'ConcatV2') with input shapes: [2,3], [3,2], [] and with computed "
            "input tensors: input[2] = <0>.",
        ),
        (
            [2, 3],
            [2],
            0,
            "Shape must be rank 2 but is rank 1 for 'concat' (op: 'ConcatV2') with input shapes: "
            "[2,3], [2], [].",
        ),
        (
            [2, 3],
            None,
            2,
            "Shape must be at least rank 3 but is rank 2 for 'concat' (op: 'ConcatV2') with input "
            "shapes: [2,3], ?, [] and with computed input tensors: input[2] = <2>.",
        ),
    ],
)
def test_concat_says_which_sizes_disagree(
    left: list[int], right: list[int] | None, axis: int, text: str
) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError) as caught:
        tf.concat([tf.placeholder(tf.float32, left), tf.placeholder(tf.float32, right)], axis)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: tf.transpose(tf.zeros([2, 3]), [0, 1, 2], name="t"),
            "Dimension must be 2 but is 3 for 't' (op: 'Transpose') with input shapes: [2,3], [3].",
        ),
        (
            lambda: tf.pad(tf.zeros([2, 2]), [[1, 1]], name="p"),
            "Shape must be rank 1 but is rank 2 for 'p' (op: 'Pad') with input shapes: [2,2], "
            "[1,2].",
        ),
        (
            lambda: tf.reshape(tf.zeros([2, 3]), [4, 2], name="r"),
            "Cannot reshape a tensor with 6 elements to shape [4,2] (8 elements) for 'r' (op: "
            "'Reshape') with input shapes: [2,3], [2] and with input tensors computed as partial "
            "shapes: input[1] = [4,2].",
        ),
        (
            lambda: tf.nn.in_top_k(tf.zeros([2, 3]), tf.zeros([3], tf.int32), 1),
            "Dimensions must be equal, but are 2 and 3 for 'in_top_k/InTopKV2' (op: 'InTopKV2') "
            "with input shapes: [2,3], [3], [].",
        ),
    ],
)
def test_shape_errors_tell_of_values_where_it_takes_them(make: Any, text: str) -> None:
    with pytest.raises(ValueError) as caught:
        make()
    assert str(caught.value) == text


@pytest.mark.cpu
@pytest.mark.parametrize("mode", ["never", "always"])
@pytest.mark.parametrize(
    ("shape", "target", "wanted"),
    [
        ([2, 0], [-1, 0], (2, 0)),
        ([2, 3, 0], [0, -1], (0, 6)),
        ([2, 0, 3], [4, -1, 0], (4, 1, 0)),
        ([0, 5], [0, 2, -1], (0, 2, 2)),
        ([0, 5], [2, -1], (2, 0)),
    ],
)
def test_reshapes_of_nothing_tell_what_is_left(shape, target, wanted, mode) -> None:
    """As in TensorFlow 1.15.5: the sizes that are not zero say it."""
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None] * len(shape))
        made = tf.reshape(x, target)
        assert session.run(made, {x: np.zeros(shape)}).shape == wanted
        with pytest.raises(tf.errors.InvalidArgumentError, match="the requested shape has 0"):
            session.run(tf.reshape(x, [-1, 0]), {x: np.ones(np.maximum(shape, 1))})


@pytest.mark.cpu
@pytest.mark.parametrize("mode", ["never", "always"])
def test_reflections_of_nothing_have_gradients(mode) -> None:
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, None])
        y = tf.pad(x, [[0, 0], [0, 0]], "SYMMETRIC")
        assert session.run(tf.gradients(y * y, x)[0], {x: np.zeros([4, 0])}).shape == (4, 0)


@pytest.mark.parametrize(
    ("shape", "axis", "wanted"),
    [
        ((0, 2), 0, ((0, 2), [], [])),
        ((0, 2), 1, ((0, 1), [0, 0], [2])),
        ((3, 0), 0, ((1, 0), [0, 0, 0], [3])),
        ((2, 0, 0), 1, ((2, 0, 0), [], [])),
    ],
)
def test_rows_without_elements_are_alike(shape, axis, wanted) -> None:
    """As recorded from TensorFlow 1.15.5."""
    found = value(list(tf.raw_ops.UniqueWithCountsV2(x=tf.zeros(shape), axis=[axis])))
    assert (found[0].shape, *(part.tolist() for part in found[1:])) == wanted


def test_rows_without_elements_are_stitched():
    rows = tf.placeholder(tf.float32, [None, 2, None])
    at = tf.placeholder(tf.int32, [None])
    stitched = tf.dynamic_stitch([at], [rows])
    with tf.Session() as session:
        for count, length in ((0, 0), (3, 3)):
            feed = {at: np.arange(count), rows: np.zeros((count, 2, 0))}
            assert session.run(stitched, feed).shape == (length, 2, 0)


def test_scalars_of_strings_get_axes() -> None:
    x = tf.placeholder_with_default(b"abc", [])
    assert value(x[tf.newaxis]).tolist() == [b"abc"]
    assert value(x[tf.newaxis, ..., tf.newaxis]).tolist() == [[b"abc"]]


def test_a_split_that_does_not_divide_is_told_in_tensorflows_words() -> None:
    divisible = "Dimension size must be evenly divisible by 4 but is 5\n\tNumber of ways to split"
    with tf.Graph().as_default(), pytest.raises(ValueError, match=divisible):
        tf.split(tf.zeros([1, 1, 5]), 4, axis=2)


@pytest.mark.parametrize("mode", (pytest.param("always", marks=pytest.mark.cpu), "never"))
@pytest.mark.parametrize("value", (0.25, -0.0, 7, True, 3 + 4j))
def test_a_number_that_stands_for_many_is_no_array_before_somebody_asks(
    value: Any, mode: str
) -> None:
    shape = [300, 200]
    graph = tf.get_default_graph()
    with settings.override(jit=mode), tf.Session() as session:
        constant = tf.constant(value, shape=shape)
        held = constant.op._attrs["value"]
        assert isinstance(held, Repeated) and held._array is None
        assert len(graph.as_graph_def().SerializeToString()) < 400
        want = np.full(shape, value, constant.dtype.as_numpy_dtype)
        assert constant.shape.as_list() == shape
        for _ in range(2):
            found = session.run([constant, tf.identity(constant)[:2]])
            np.testing.assert_array_equal(found[0], want)
            np.testing.assert_array_equal(found[1], want[:2])
            assert str(found[0][0, 0]) == str(want[0, 0])  # zeros with their signs
        np.testing.assert_array_equal(tf.contrib.util.constant_value(constant), want)
        if not isinstance(value, (bool, complex)):
            x = tf.placeholder(constant.dtype, shape)
            sums = tf.reduce_sum(x * constant + constant, 0)
            got = session.run(sums, {x: want})
            np.testing.assert_allclose(got, (want * want + want).sum(0), rtol=1e-6)
        restored = tf.import_graph_def(graph.as_graph_def(), return_elements=["Const:0"])[0]
        np.testing.assert_array_equal(session.run(restored), want)
