# SPDX-License-Identifier: Apache-2.0
"""Hyperparameters: what texts, dictionaries and messages make of them."""

from __future__ import annotations

import pytest

import numbaflow as tf

pytestmark = pytest.mark.pure

training = tf.contrib.training


def hparams(**more):
    return training.HParams(rate=0.1, units=100, act="relu", sizes=[8, 4], debug=False, **more)


def test_texts_override_by_type():
    found = hparams().parse("rate=5,units=-3,act=,sizes=[1, 2,3],debug=True")
    assert found.values() == {
        "rate": 5.0,
        "units": -3,
        "act": "",
        "sizes": [1, 2, 3],
        "debug": True,
    }
    assert type(found.rate) is float and type(found.debug) is bool


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("units=1.5", "Could not parse hparam 'units' of type 'int' with value '1.5' in units=1.5"),
        ("sizes=[1,x]", "Could not parse hparam 'sizes' of type 'int' with value '1,x'"),
        ("debug=yep", "Could not parse hparam 'debug' of type 'bool' with value 'yep'"),
        ("other=1", "Unknown hyperparameter type for other"),
        ("units=1,units=2", "Multiple assignments to variable 'units'"),
        ("sizes=3", "Must pass a list for multi-valued parameter: sizes."),
        ("units=[3]", "Must not pass a list for single-valued parameter: units"),
        ("units", "Malformed hyperparameter value: units"),
        ("sizes[1]=[2]", "Assignment of a list to a list index."),
    ],
)
def test_texts_that_do_not_fit_are_errors(text, message):
    with pytest.raises(ValueError) as caught:
        hparams().parse(text)
    assert message in str(caught.value)


def test_single_values_of_lists_are_parsed_by_place():
    types = {"a": int, "b": str}
    assert training.parse_values("a[2]=5, a[0]=1,b=x", types) == {"a": {2: 5, 0: 1}, "b": "x"}
    with pytest.raises(ValueError, match=r"Multiple assignments to variable 'a\[2\]'"):
        training.parse_values("a[2]=5,a[2]=6", types)
    with pytest.raises(ValueError, match="Multiple assignments to variable 'a'"):
        training.parse_values("a=5,a[2]=6", types)
    assert training.parse_values("c=1,a=2", types, ignore_unknown=True) == {"a": 2}


def test_json_comes_back_as_it_went():
    first = hparams()
    second = hparams().parse("rate=1,sizes=[3]").parse_json(first.to_json())
    assert second.values() == first.values()
    assert first.to_json(sort_keys=True).startswith('{"act": "relu", "debug": false')
    assert first.set_from_map({"rate": 2}).rate == 2.0
    with pytest.raises(KeyError):
        first.parse_json('{"nothing": 1}')


def test_messages_come_back_as_they_went():
    message = hparams().to_proto()
    assert message.hparam["sizes"].WhichOneof("kind") == "int64_list"
    assert message.hparam["act"].bytes_value == b"relu"
    back = training.HParams(hparam_def=type(message).FromString(message.SerializeToString()))
    assert {**back.values(), "rate": 0.1} == hparams().values()
    assert back.rate == pytest.approx(0.1)
    with pytest.raises(ValueError, match="mutually exclusive"):
        training.HParams(hparam_def=message, a=1)
    with pytest.raises(ValueError, match="Unsupported parameter type"):
        training.HParams(nothing=None).to_proto()


def test_collections_of_meta_graphs_hold_them():
    with tf.Graph().as_default():
        tf.add_to_collection("hparams", hparams())
        meta_graph = tf.train.export_meta_graph()
    with tf.Graph().as_default():
        tf.train.import_meta_graph(meta_graph)
        (back,) = tf.get_collection("hparams")
    assert back.sizes == [8, 4]


def test_names_are_added_asked_for_and_removed():
    found = hparams(model_structure="s")
    assert "rate" in found and "nothing" not in found
    assert found.get("nothing", 3) == 3 and found.get("sizes", [1]) == [8, 4]
    with pytest.raises(ValueError, match="is incompatible with default=relu"):
        found.get("rate", "relu")
    with pytest.raises(ValueError, match="is reserved: parse"):
        found.add_hparam("parse", 1)
    with pytest.raises(ValueError, match="cannot be empty: none"):
        found.add_hparam("none", [])
    found.del_hparam("rate")
    found.add_hparam("rate", "fast")
    assert str(found) == "units=100,act=relu,sizes=[8, 4],debug=False,rate=fast"
    assert found.get_model_structure() == "s"
