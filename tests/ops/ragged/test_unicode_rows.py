# SPDX-License-Identifier: Apache-2.0
"""Strings as rows of characters are those of TensorFlow 1.15.

unicode_1_15.json was made by tests/train/contrib/recording.py of unicode_programs.py.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import numbaflow as tf
from numbaflow.engine import settings

from ...train.contrib.recording import results
from .unicode_programs import PROGRAMS

RECORDED = json.loads(Path(__file__).with_name("unicode_1_15.json").read_text())


@pytest.mark.programs
@pytest.mark.parametrize("name", PROGRAMS)
def test_rows_of_characters_are_those_of_tensorflow(name):
    with settings.override(jit="never"):
        found = results(tf, PROGRAMS[name])
    assert found["values"] == RECORDED[name]["values"]


@pytest.mark.pure
def test_what_has_no_rank_is_refused():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="Rank of `input` must be statically known"):
            tf.strings.unicode_decode(tf.placeholder(tf.string), "UTF-8")
        with pytest.raises(ValueError, match="rank must be at least 1"):
            tf.strings.unicode_encode(71, "UTF-8")
