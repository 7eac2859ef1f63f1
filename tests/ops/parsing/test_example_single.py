# SPDX-License-Identifier: Apache-2.0
"""Examples read one by one: what is usual is read as all else is, damaged or not."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import errors, settings
from numbaflow.ops.parsing.example_single import SingleParser
from numbaflow.ops.parsing.example_store import Dense, Sparse, parse_single

from ...io.damage import damaged

pytestmark = pytest.mark.programs


def dense(key: str, kind: Any, shape: tuple[int | None, ...], default: Any = ()) -> Dense:
    return Dense(key, kind, shape, np.array(default, kind.np_dtype))


ASKED = [
    dense("real", tf.float32, (3,)),
    dense("table", tf.float32, (2, 2)),
    dense("many", tf.float32, (80,)),
    dense("whole", tf.int64, ()),
    dense("row", tf.int64, (2,)),
    dense("text", tf.string, ()),
    dense("texts", tf.string, (2, 1)),
]
OTHERS = [
    dense("some", tf.int64, (None,), [0]),
    dense("default", tf.int64, (2,), [5, 6]),
    dense("real", tf.int64, (3,), [1, 2, 3]),
]


def example(**features: Any) -> bytes:
    made = tf.train.Example()
    for key, values in features.items():
        feature = made.features.feature[key]
        kind = {bytes: "bytes_list", int: "int64_list", float: "float_list"}[type(values[0])]
        getattr(feature, kind).value.extend(values)
    return made.SerializeToString()


WHOLE = example(
    real=[0.5, 1.5, -2.0],
    table=[1.0, 2.0, 3.0, 4.0],
    many=[float(i) for i in range(80)],
    whole=[2**40],
    row=[-1, 300],
    text=[b"one"],
    texts=[b"", b"\xff\0"],
    some=[1, 2],
)


def outcome(parse: Any, text: bytes) -> Any:
    """The arrays that it gives, or what its error says."""
    try:
        return [(x.shape, x.dtype.str, x.tolist()) for x in parse(text)]
    except errors.OpError as error:
        return type(error).__name__, error.message


def same(text: bytes, sparse: list[Sparse], asked: list[Dense]) -> Any:
    found = outcome(SingleParser(sparse, asked), text)
    # (A number that is none is not equal to itself, as text it is.)
    assert repr(found) == repr(outcome(lambda t: parse_single(t, sparse, asked), text))
    return found


@pytest.mark.parametrize("one", ASKED + OTHERS, ids=lambda one: f"{one.key}-{one.dtype.name}")
def test_a_feature_is_read_as_by_the_parser_of_all_cases(one: Dense) -> None:
    same(WHOLE, [], [one])


def test_features_have_their_types_and_shapes() -> None:
    found = same(WHOLE, [], ASKED)
    assert [shape for shape, *_ in found] == [one.shape for one in ASKED]
    assert found[3][2] == 2**40 and found[5][2] == b"one"
    assert same(WHOLE, [Sparse("some", tf.int64)], ASKED[:1])[1][2] == [1, 2]


def test_features_of_any_number_and_missing_ones_are_usual() -> None:
    asked = [
        *(dense("some", tf.int64, (None,), [0]), dense("table", tf.float32, (None, 2), [0])),
        *(dense("none", tf.string, (None, 3), [b""]), dense("none", tf.int64, (2,), [5, 6])),
    ]
    sparse = [Sparse("texts", tf.string), Sparse("none", tf.float32), Sparse("many", tf.float32)]
    parser = SingleParser(sparse, asked)
    message = tf.train.Example.FromString(WHOLE)
    assert parser._usual(message.features.feature) is not None
    found = same(WHOLE, sparse, asked)
    assert [shape for shape, *_ in found[-4:]] == [(2,), (2, 2), (0, 3), (2,)]
    assert same(example(table=[1.0] * 3), [], asked[1:2])[0] == "InvalidArgumentError"
    assert same(example(texts=[1]), sparse, [])[0] == "InvalidArgumentError"


@pytest.mark.parametrize("changes", [{"real": [1.0]}, {"whole": [1.0]}, {"text": [b"", b""]}, {}])
def test_what_is_not_as_asked_is_refused_in_the_same_words(changes: dict[str, Any]) -> None:
    assert same(example(**changes or {"other": [1]}), [], ASKED)[0] == "InvalidArgumentError"


@pytest.mark.parametrize("first", range(0, 600, 100))
def test_damaged_examples_are_read_or_refused_alike(first: int) -> None:
    kinds = set()
    for seed in range(first, first + 100):
        text = damaged(WHOLE, random.Random(seed))
        kinds.add(isinstance(same(text, [], ASKED), list))
        same(text, [Sparse("row", tf.int64)], OTHERS[1:2])
    assert kinds == {True, False}


@pytest.mark.parametrize("little", [True, False])
@pytest.mark.parametrize("kind", [tf.uint8, tf.int16, tf.float64, tf.bool, tf.complex64])
def test_one_text_is_decoded_as_several_are(kind: Any, little: bool) -> None:
    texts = [bytes(range(i, i + 16)) for i in range(2)]
    with tf.Graph().as_default(), tf.Session() as session, settings.override(jit="never"):
        if kind == tf.bool:
            texts = [bytes(i % 2 for i in range(16)), bytes(16)]
        several = session.run(tf.decode_raw(texts, kind, little))
        for text, row in zip(texts, several):
            found = session.run(tf.decode_raw(text, kind, little))
            assert found.dtype == row.dtype and found.tobytes() == row.tobytes()
            found[...] = 0  # (It belongs to the caller.)
        assert session.run(tf.decode_raw("", kind, little)).shape == (0,)
        with pytest.raises(tf.errors.InvalidArgumentError, match="not a multiple"):
            session.run(tf.decode_raw("abc", tf.int16, little))
