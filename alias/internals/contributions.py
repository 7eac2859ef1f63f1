# SPDX-License-Identifier: Apache-2.0
"""Small things that modules below `tensorflow.contrib` have and that have no other home here."""

from __future__ import annotations

from typing import Any

from ...ops.public import tf
from ...train.summaries.summary_io import FileWriterCache

DATA_FORMAT_NCHW = "NCHW"
DATA_FORMAT_NHWC = "NHWC"

clear_summary_writers = FileWriterCache.clear
get_summary_writer = FileWriterCache.get


def trunc_normal(stddev: float) -> Any:
    """The initializer of weights that the networks of `tf.contrib.slim.nets` call by this name."""
    return tf.truncated_normal_initializer(0.0, stddev)
