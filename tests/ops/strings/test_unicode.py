# SPDX-License-Identifier: Apache-2.0
"""Unicode texts, n-grams and fingerprints are those of TensorFlow 1.15.

unicode_1_15.json was made by tests/train/contrib/recording.py of unicode_programs.py.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

from ...train.contrib.recording import results
from .unicode_programs import PROGRAMS

RECORDED = json.loads(Path(__file__).with_name("unicode_1_15.json").read_text())


@pytest.mark.programs
@pytest.mark.parametrize("name", PROGRAMS)
def test_texts_are_those_of_tensorflow(name):
    with settings.override(jit="never"):
        found = results(tf, PROGRAMS[name])
    assert found["values"] == RECORDED[name]["values"]
    assert found["nodes"] == RECORDED[name]["nodes"]


@pytest.mark.programs
@pytest.mark.parametrize(
    "options, message",
    [
        ({"input_encoding": "no-such"}, "Could not create converter for input encoding: no-such"),
        ({"input_encoding": "UTF-8", "errors": "strict"}, "Invalid formatting on input string"),
        ({"input_encoding": "UTF-8", "replacement_char": -4}, "out of unicode codepoint range"),
    ],
)
def test_what_cannot_be_decoded_is_refused(options, message):
    never = settings.override(jit="never")
    with never, tf.Graph().as_default(), tf.Session() as session:
        decoded = tf.raw_ops.UnicodeDecode(input=[b"a\xff"], **options)
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(decoded)


@pytest.mark.programs
def test_an_empty_row_is_padding_alone():
    # TensorFlow 1.15 reads the string before the row there, whatever it is.
    never = settings.override(jit="never")
    with never, tf.Graph().as_default(), tf.Session() as session:
        texts, _ = tf.raw_ops.StringNGrams(
            data=[b"a"],
            data_splits=np.array([0, 1, 1]),
            separator=" ",
            ngram_widths=[3],
            left_pad="<",
            right_pad=">",
            pad_width=-1,
            preserve_short_sequences=False,
        )
        assert session.run(texts).tolist()[3:] == [b"< < >", b"< > >"]
