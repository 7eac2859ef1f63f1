# SPDX-License-Identifier: Apache-2.0
"""One line of numbers at a time: what is read is what is read of many lines together."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.programs

LINES = [
    "1,2.5,-3,1e3,7",
    "16777217,0.1,5,1.17549429e-38,-9223372036854775808",
    "+1,1,1,1,1",
    "1,1,+1,1,1",
    "1,1,2147483648,1,1",
    "1,1,1,1,9223372036854775808",
    "1,1,1.0,1,1",
    ",2,3,4,5",
    "1,2,3,,5",
    "1,2,3,4",
    "1,2,3,4,5,6",
    "--1,2,3,4,5",
    "1,2,3,4e,5",
    " 1,2,3,4,5",
    '"1",2,3,4,5',
    "1_0,2,3,4,5",
    "nan,2,3,4,5",
    "3.4028236e38,2,3,4,5",
    "1,00000000000000000000000000000000002,3,4,5",
    "-0.0,2,-0,4,5",
]


def read(lines: np.ndarray, defaults: list[list[float]]) -> list[bytes] | str:
    with tf.Graph().as_default(), tf.Session() as session:
        try:
            columns = session.run(tf.decode_csv(tf.constant(lines), defaults))
        except tf.errors.InvalidArgumentError as error:
            return error.message.split("\n")[0]
        return [np.asarray(column).ravel()[:1].tobytes() for column in columns]


@pytest.mark.parametrize("line", LINES)
def test_a_single_line_is_read_as_among_others(line: str) -> None:
    defaults = [np.array([], np.float32), np.array([0.5], np.float64), np.array([1], np.int32)]
    defaults += [np.array([2.0], np.float32), np.array([3], np.int64)]
    alone = read(np.array(line), defaults)
    assert alone == read(np.array([line]), defaults)
    assert alone == read(np.array([line] * 3), defaults)
