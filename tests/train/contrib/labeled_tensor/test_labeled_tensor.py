# SPDX-License-Identifier: Apache-2.0
"""Tensors with names for their axes: sums, parts, other shapes, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.train.contrib.labeled_tensor import _typecheck as tc
from numbaflow.train.contrib.labeled_tensor import core

pytestmark = pytest.mark.cpu
lt = tf.contrib.labeled_tensor
VALUES = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
COLOURS = ["red", "green", "blue"]


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _image() -> Any:
    return lt.LabeledTensor(tf.constant(VALUES), ["row", ("channel", COLOURS), ("z", range(4))])


def _run(labeled: Any) -> Any:
    with tf.Session() as session:
        return session.run(labeled)


def test_axes_have_sizes_or_labels() -> None:
    axes = _image().axes
    assert axes["row"] == lt.Axis("row", 2) and axes["row"].labels is None
    assert axes["channel"].index("blue") == 2 and len(axes["channel"]) == 3
    assert repr(axes["row"]) == "Axis('row', Dimension(2))"
    assert axes.remove("row") == lt.Axes([("channel", COLOURS), ("z", range(4))])
    joined = core.concat_axes([lt.Axis("c", ["a"]), lt.Axis("c", ["b"])])
    assert joined.labels == ("a", "b")
    assert core.concat_axes([lt.Axis("c", 2), lt.Axis("c", ["b"])]).size == 3


CASES: dict[str, tuple[Callable[[Any], Any], Any, list[str]]] = {
    "slice": (lambda x: x[1, 0:2, :], VALUES[1, :2], ["channel", "z"]),
    "label": (lambda x: lt.select(x, {"channel": "green"}), VALUES[:, 1], ["row", "z"]),
    "labels to the last": (
        lambda x: lt.select(x, {"z": slice(1, 2)}),
        VALUES[:, :, 1:3],
        ["row", "channel", "z"],
    ),
    "list": (
        lambda x: lt.select(x, {"channel": ["blue", "red"]}),
        VALUES[:, [2, 0]],
        ["row", "channel", "z"],
    ),
    "transposed": (
        lambda x: lt.transpose(x, ["z", "row", "channel"]),
        VALUES.transpose(2, 0, 1),
        ["z", "row", "channel"],
    ),
    "flat": (
        lambda x: lt.reshape(x, ["channel", "z"], ["place"]),
        VALUES.reshape(2, 12),
        ["row", "place"],
    ),
    "summed": (lambda x: lt.reduce_sum(x, {"row", "z"}), VALUES.sum((0, 2)), ["channel"]),
    "summed in place": (
        lambda x: lt.reduce_max(x, [("z", "all")]),
        VALUES.max(2, keepdims=True),
        ["row", "channel", "z"],
    ),
    "padded": (
        lambda x: lt.pad(x, {"channel": ([], ["alpha"])}),
        np.pad(VALUES, [(0, 0), (0, 1), (0, 0)]),
        ["row", "channel", "z"],
    ),
    "tiled": (
        lambda x: lt.tile(x, {"row": 2}),
        np.tile(VALUES, [2, 1, 1]),
        ["row", "channel", "z"],
    ),
    "less a row": (
        lambda x: x - x[0, :, :],
        VALUES - VALUES[0],
        ["row", "channel", "z"],
    ),
    "mapped": (
        lambda x: lt.map_fn(lambda part: lt.reduce_sum(part, "z") * 2.0, x),
        2 * VALUES.sum(2),
        ["row", "channel"],
    ),
    "folded": (
        lambda x: lt.foldl(lambda so_far, part: so_far + part, x, lt.zeros_like(x[0, :, :])),
        VALUES.sum(0),
        ["channel", "z"],
    ),
    "masked": (
        lambda x: lt.boolean_mask(x, lt.constant([False, True], axes=["row"])),
        VALUES[1:],
        ["row", "channel", "z"],
    ),
    "chosen": (
        lambda x: lt.where(x > 11.0, x, -x),
        np.where(VALUES > 11, VALUES, -VALUES),
        ["row", "channel", "z"],
    ),
    "joined": (
        lambda x: lt.concat([x, lt.rename_axis(x, "z", "z")], "row"),
        np.concatenate([VALUES, VALUES]),
        ["row", "channel", "z"],
    ),
    "packed": (
        lambda x: lt.pack(lt.unpack(x, "channel"), ("channel", COLOURS), 1),
        VALUES,
        ["row", "channel", "z"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_values_and_axes(case: str) -> None:
    function, expected, names = CASES[case]
    result = function(_image())
    assert list(result.axes) == names
    np.testing.assert_allclose(_run(result), expected)
    assert [axis.size or None for axis in result.axes.values()] == result.shape.as_list()


def test_tensors_are_aligned_by_the_names_of_their_axes() -> None:
    a = lt.constant(VALUES[0], axes=["y", "z"])
    b = lt.constant([1.0, 2.0], axes=["x"])
    assert list((a * b).axes) == ["y", "z", "x"]
    with lt.axis_order_scope(["x", "y", "z"]):
        product = a * b
        assert list(product.axes) == ["x", "y", "z"]
    np.testing.assert_allclose(_run(product), VALUES[0] * np.array([1, 2])[:, None, None])
    with pytest.raises(lt.AxisOrderError, match="without copying data"):
        _ = a + lt.transpose(a)


@pytest.mark.parametrize("axes", [("xy", "yz"), ("yx", "yz"), ("xy", "y"), ("y", "zy"), ("y", "y")])
def test_matrices_are_multiplied_along_what_they_have_in_common(axes: tuple[str, str]) -> None:
    sizes = {"x": 2, "y": 3, "z": 4}
    a, b = (np.random.rand(*(sizes[name] for name in names)) for names in axes)
    product = lt.matmul(*(lt.constant(v, axes=list(n)) for v, n in zip((a, b), axes)))
    names = "".join(product.axes)
    np.testing.assert_allclose(_run(product), np.einsum(f"{axes[0]},{axes[1]}->{names}", a, b))


def test_examples_are_parsed_with_axes() -> None:
    feature = tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0, 3.0]))
    example = tf.train.Example(features=tf.train.Features(feature={"c": feature}))
    features = {"c": lt.FixedLenFeature([("channel", COLOURS)], tf.float32)}
    many = lt.placeholder(tf.string, ["batch"])
    parsed = lt.parse_example(many, features)["c"]
    one = lt.parse_single_example(example.SerializeToString(), features)["c"]
    assert list(parsed.axes) == ["batch", "channel"]
    with tf.Session() as session:
        fed = {many.tensor: [example.SerializeToString()]}
        found, single = session.run([parsed, one], fed)
    assert found.tolist() == [[1, 2, 3]] and single.tolist() == [1, 2, 3]


def test_a_coder_remembers_the_axes() -> None:
    coder = lt.ReshapeCoder(["channel", "z"], ["depth"])
    with pytest.raises(ValueError, match="before encode"):
        coder.decode(_image())
    encoded = coder.encode(_image())
    assert list(encoded.axes) == ["row", "depth"]
    assert coder.decode(encoded).axes == _image().axes
    with pytest.raises(ValueError, match="do not match axes from previous"):
        coder.encode(lt.select(_image(), {"z": slice(0, 1)}))


def test_batches_have_an_axis_of_their_own() -> None:
    (batch,) = lt.batch([_image()[0, :, :]], batch_size=2)
    assert list(batch.axes) == ["batch", "channel", "z"] and batch.axes["batch"].size == 2
    with pytest.raises(ValueError, match='called "batch"'):
        lt.batch([_image()], batch_size=2, enqueue_many=True)
    with tf.train.MonitoredSession() as session:
        np.testing.assert_allclose(session.run(batch.tensor), np.stack([VALUES[0]] * 2))


def test_functions_of_nn() -> None:
    result = lt.nn.relu(_image() - 10.0)
    np.testing.assert_allclose(_run(result), np.maximum(VALUES - 10, 0))
    assert lt.nn.relu.__name__ == "relu" and "lt_relu" in result.name


REFUSED: dict[str, tuple[type[Exception], str, Callable[[Any], Any]]] = {
    "same label": (ValueError, "must be unique", lambda x: lt.Axis("x", ["a", "a"])),
    "same name": (ValueError, "Duplicate axis", lambda x: lt.Axes([("x", 1), ("x", 2)])),
    "no axes": (ValueError, "Tensor rank", lambda x: lt.LabeledTensor(x.tensor, ["row"])),
    "size": (ValueError, "does not match", lambda x: lt.LabeledTensor(tf.ones([2]), [("x", 3)])),
    "rank": (ValueError, "rank>0", lambda x: lt.convert_to_labeled_tensor(np.ones(2))),
    "unlike": (ValueError, "Mismatched", lambda x: x + lt.constant([1.0], axes=["row"])),
    "no labels": (ValueError, "does not have labels", lambda x: lt.select(x, {"row": 0})),
    "no label": (KeyError, "pink", lambda x: lt.select(x, {"channel": "pink"})),
    "no order": (lt.AxisOrderError, "explicit axis order", lambda x: lt.impose_axis_order(x)),
    "tiled labels": (ValueError, "tick labels", lambda x: lt.tile(x, {"z": 2})),
    "long": (ValueError, "cannot squeeze", lambda x: lt.squeeze(x, ["row"])),
    "high rank": (NotImplementedError, "rank 2 or less", lambda x: lt.matmul(x, x)),
    "kind": (tc.Error, "allowed type List", lambda x: lt.Axes(None)),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    error, message, function = REFUSED[case]
    with pytest.raises(error, match=message):
        function(_image())


def test_types_can_be_nested() -> None:
    pairs = tc.Dict(str, tc.List(tc.Tuple(int, tc.Optional(str))))
    assert isinstance({"a": [(1, None), (2, "b")]}, pairs)
    assert not isinstance({"a": [(1, 2)]}, pairs)
    assert repr(pairs) == "Dict(str, List(Tuple(int, Optional(str))))"
    with pytest.raises(tc.Error, match="has 1 arguments but only 2"):
        tc.accepts(int, int)(lambda x: x)
    with pytest.raises(tc.Error, match="allowed type int"):
        tc.returns(int)(lambda: "a")()
