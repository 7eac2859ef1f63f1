# SPDX-License-Identifier: Apache-2.0
"""What tf.print writes, and where."""

from __future__ import annotations

import re
from typing import Any

import pytest

import numbaflow as tf

pytestmark = pytest.mark.programs


def printed(capsys: Any, stream: Any) -> str:
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.print(tf.range(10), output_stream=stream))
    found = capsys.readouterr()
    assert found.out == ""
    return str(found.err)


@pytest.mark.parametrize("level", ["info", "warning", "error"])
def test_logs_are_written_whatever_python_logs(capsys: Any, level: str) -> None:
    line = printed(capsys, getattr(tf.logging, level))
    pattern = rf"\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{{6}}: {level[0].upper()} tf.print\] "
    assert re.fullmatch(pattern + re.escape("[0 1 2 ... 7 8 9]\n\n"), line)


def test_other_streams_are_refused() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        printing = tf.raw_ops.PrintV2(input="a", output_stream="log(debug)")
        with pytest.raises(tf.errors.InvalidArgumentError, match="Unknown output stream: log"):
            session.run(printing)


def test_what_matters_too_little_is_not_written(capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "2")
    assert printed(capsys, tf.logging.warning) == ""
    assert "[0 1 2 ... 7 8 9]" in printed(capsys, tf.logging.error)
