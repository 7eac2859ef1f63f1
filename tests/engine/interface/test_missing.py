# SPDX-License-Identifier: Apache-2.0
"""What errors say of names that are not here."""

from __future__ import annotations

import pytest

import numbaflow as tf
from numbaflow.engine.interface import missing

pytestmark = pytest.mark.pure


def absent() -> list[str]:
    """Names of TensorFlow 1.15's that are not here, outside `contrib`."""
    found = []
    for module, names in missing.known_names().items():
        place: object = tf
        for part in module.split(".") if module else ():
            place = getattr(place, part, None)
        if place is not None and not module.startswith("contrib"):
            found += [f"{module}.{n}".lstrip(".") for n in names if not hasattr(place, n)]
    return found


def test_names_of_tensorflow_are_told_from_typos() -> None:
    for path in absent():
        module, _, name = path.rpartition(".")
        place = tf
        for part in module.split(".") if module else ():
            place = getattr(place, part)
        with pytest.raises(AttributeError) as caught:
            getattr(place, name)
        assert f"tf.{path} is in TensorFlow 1.15, not in numbaflow yet" in str(caught.value)
        assert "did you mean" not in str(caught.value)


@pytest.mark.parametrize(
    ("place", "name", "meant"),
    [
        (tf, "placeholdr", "'placeholder'"),
        (tf.train, "adamoptimizer", "'AdamOptimizer'"),
        (tf.nn, "sigmoid_crossentropy_with_logits", "'sigmoid_cross_entropy_with_logits'"),
    ],
)
def test_a_typo_is_met_with_what_may_be_meant(place: object, name: str, meant: str) -> None:
    assert not hasattr(place, name)
    with pytest.raises(AttributeError) as caught:
        getattr(place, name)
    assert f"has no attribute {name!r}; did you mean {meant}" in str(caught.value)
    assert "TensorFlow 1.15" not in str(caught.value)


def test_what_resembles_nothing_is_only_named() -> None:
    with pytest.raises(AttributeError, match="module 'numbaflow' has no attribute 'qqqxyz'$"):
        _ = tf.qqqxyz
    with pytest.raises(AttributeError, match="no attribute '__wrapped__'$"):
        _ = tf.__wrapped__


def test_a_module_that_is_missing_is_told_alike() -> None:
    known = "tf.contrib.labeled_tensor is in TensorFlow 1.15, not in numbaflow yet"
    assert missing.module_error("contrib.labeled_tensor") == known
    assert missing.module_error("python.no_such") == "numbaflow has no counterpart of it"


def test_the_list_is_read_for_an_error_only() -> None:
    assert missing.is_known("nn.relu") and missing.is_known("compat.v1.nn.relu")
    assert missing.is_known("contrib.slim.conv2d") and not missing.is_known("nn.reluu")
    assert len(missing.known_names()[""]) > 600
