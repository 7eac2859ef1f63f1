# SPDX-License-Identifier: Apache-2.0
"""SequenceExamples read by kernels, held against the same read message by message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.ops.parsing import sequence_fast
from numbaflow.ops.parsing.example_store import Dense, Sparse
from numbaflow.ops.parsing.sequence_fast import Asked
from numbaflow.ops.parsing.sequence_store import parse_sequences, parse_single_sequence

pytestmark = pytest.mark.cpu
COUNT = 20
_NONE = np.zeros(0, np.float32)
ASKED = Asked(
    [Sparse("some", tf.int64), Sparse("words", tf.string)],
    [
        Dense("x", tf.float32, (2,), _NONE),
        Dense("name", tf.string, (), np.array(b"none", object)),
        Dense("label", tf.int64, (), np.array(7, np.int64)),
    ],
    [Sparse("tags", tf.string), Sparse("reals", tf.float32)],
    [
        Dense("numbers", tf.int64, (), _NONE),
        Dense("points", tf.float32, (3, 2), _NONE),
        Dense("tokens", tf.string, (2,), _NONE),
    ],
    {"points"},
)
Change = Callable[[int, Any], None]


def examples(change: Change = lambda i, example: None) -> list[bytes]:
    """SequenceExamples of many lengths, with lists that nobody asks for; changed as told."""
    random, found = np.random.default_rng(5), []
    for i in range(COUNT):
        example = tf.train.SequenceExample()
        feature, lists = example.context.feature, example.feature_lists.feature_list
        feature["x"].float_list.value.extend(random.random(2))
        if i % 3:
            feature["name"].bytes_list.value.append(b"a" * int(random.integers(0, 200)))
            feature["some"].int64_list.value.extend(random.integers(0, 300, i % 5).tolist())
            if i % 5:
                feature["words"].bytes_list.value.extend([b"w"] * (i % 4) + [b""])
            feature["nobody"].bytes_list.value.append(b"x" * 20_000 * (i % 2))
        lists["numbers"].SetInParent()
        for k in range(int(random.integers(0, 9))):
            lists["numbers"].feature.add().int64_list.value.append(-k)
            lists["tokens"].feature.add().bytes_list.value.extend([b"t%d" % k, b""])
            lists["nobody"].feature.add().bytes_list.value.append(b"?")
            step = lists["tags"].feature.add()
            if k % 3:
                step.bytes_list.value.extend([b"tag"] * (k % 4))
            if i % 2:
                points = random.random(6).tolist()
                lists["points"].feature.add().float_list.value.extend(points)
                lists["reals"].feature.add().float_list.value.extend([0.5] * (k % 2))
        lists["tokens"].SetInParent()
        change(i, example)
        found.append(example.SerializeToString(deterministic=bool(i % 2)))
    return found


def _same(found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other, strict=True)


def _never(call: Callable[[], list[np.ndarray]]) -> list[np.ndarray]:
    with settings.override(jit="never"):
        return call()


@pytest.mark.parametrize("count", [1, 2, COUNT])
def test_batches_are_those_of_messages(count: int) -> None:
    texts = examples()[:count]
    found = sequence_fast.read_batch(texts, ASKED)
    assert found is not None
    _same(found, _never(lambda: parse_sequences(texts, [], ASKED)))


def test_single_ones_are_those_of_messages() -> None:
    for text in examples():
        found = sequence_fast.read_single(text, ASKED)
        assert found is not None
        _same(found, _never(lambda text=text: parse_single_sequence(text, None, ASKED)))


@pytest.mark.parametrize("part", ["context", "feature_lists"])
def test_parts_may_be_absent(part: str) -> None:
    asked = (
        Asked([], [], ASKED.list_sparse, ASKED.list_dense, {"points"})
        if part == "context"
        else Asked(ASKED.context_sparse, ASKED.context_dense, [], [], ())
    )
    texts = examples(lambda i, example: example.ClearField(part) if i % 2 else None)
    found = sequence_fast.read_batch(texts, asked)
    assert found is not None
    _same(found, _never(lambda: parse_sequences(texts, [], asked)))


def _lists(example: Any) -> Any:
    return example.feature_lists.feature_list


# What is unusual, or wrong.
CHANGES: dict[str, Callable[[Any], object]] = {
    "no required feature": lambda e: e.context.feature.pop("x"),
    "another type": lambda e: e.context.feature["label"].float_list.value.append(1.0),
    "an empty feature": lambda e: e.context.feature["label"].SetInParent(),
    "an empty sparse feature": lambda e: e.context.feature["words"].Clear(),
    "too many values": lambda e: e.context.feature["x"].float_list.value.append(1.0),
    "no required list": lambda e: _lists(e).pop("numbers"),
    "a step of another type": lambda e: _lists(e)["numbers"].feature.add().bytes_list.SetInParent(),
    "a step of nothing": lambda e: _lists(e)["numbers"].feature.add(),
    "a sparse step of another type": lambda e: (
        _lists(e)["reals"].feature.add().int64_list.value.append(1)
    ),
    "a step of too few values": lambda e: (
        _lists(e)["points"].feature.add().float_list.value.append(1.0)
    ),
}


def _outcome(call: Callable[[], list[np.ndarray]]) -> Any:
    try:
        return call()
    except tf.errors.InvalidArgumentError as error:
        return error.message


def _alike(call: Callable[[], list[np.ndarray]]) -> Any:
    found, expected = _outcome(call), _outcome(lambda: _never(call))
    if isinstance(expected, str):
        assert found == expected
    else:
        _same(found, expected)
    return expected


@pytest.mark.parametrize("what", CHANGES)
def test_what_is_unusual_comes_out_as_of_messages(what: str) -> None:
    texts = examples(lambda i, example: CHANGES[what](example) if i == 11 else None)
    assert texts != examples()
    outcomes = [_alike(lambda: parse_sequences(texts, [], ASKED))]
    outcomes.append(_alike(lambda: parse_single_sequence(texts[11], b"it", ASKED)))
    assert any(isinstance(each, str) for each in outcomes) != what.startswith("an empty sparse")


def test_no_change_of_some_bytes_is_read_as_anything_else() -> None:
    """Whatever is in the bytes, kernels either give up or find what messages hold."""
    random, read = np.random.default_rng(3), 0
    for text in examples()[2:14:2]:
        for cut in (text, text[: len(text) // 2]):
            for _ in range(30):
                damaged = bytearray(cut)
                for place in random.integers(0, len(damaged), 2).tolist():
                    damaged[place] = int(random.integers(0, 256))
                found = sequence_fast.read_single(bytes(damaged), ASKED)
                if found is None:
                    continue
                one = bytes(damaged)
                expected = _outcome(
                    lambda one=one: _never(lambda: parse_single_sequence(one, None, ASKED))
                )
                # (A key that is no text any more is refused by messages alone.)
                if not isinstance(expected, str):
                    read += 1
                    _same(found, expected)
    assert read


@pytest.mark.parametrize("names", [("numbers",), ("numbers", "points", "tokens")])
def test_pipelines_read_blocks(names: tuple[str, ...]) -> None:
    """A map of single ones, computed in blocks, gives what it gives one by one."""
    lists = {one.key: one for one in ASKED.list_dense if one.key in names}

    def parsed(text: Any) -> Any:
        wanted = {
            key: tf.FixedLenSequenceFeature(list(one.shape), one.dtype, key == "points")
            for key, one in lists.items()
        }
        context = {"x": tf.FixedLenFeature([2], tf.float32), "some": tf.VarLenFeature(tf.int64)}
        found, steps = tf.io.parse_single_sequence_example(text, context, wanted)
        return {"x": found["x"], "some": found["some"].values, **steps}

    with tf.Graph().as_default(), tf.Session() as session:
        texts = examples()
        shapes = {"x": [2], "some": [None]}
        shapes.update({key: [None, *one.shape] for key, one in lists.items()})
        made = tf.data.Dataset.from_tensor_slices(texts).map(parsed)
        batch = tf.data.make_one_shot_iterator(made.padded_batch(COUNT, shapes)).get_next()
        found = session.run(batch)
        text = tf.placeholder(tf.string, [])
        single = parsed(text)
        for i, each in enumerate(texts):
            for key, value in session.run(single, {text: each}).items():
                padded = found[key][i]
                np.testing.assert_array_equal(padded[: len(value)], value)
                rest = padded[len(value) :]
                assert not any(rest.reshape(-1).tolist())
