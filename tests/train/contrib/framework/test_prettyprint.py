# SPDX-License-Identifier: Apache-2.0
"""Tensors, sparse tensors and tensor arrays that are printed with what they are."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.train.contrib.framework.prettyprint_ops import print_op
from numbaflow.train.contrib.layers.sparse_ops import sparse_row_envelope

pytestmark = pytest.mark.cpu


def test_what_is_printed_passes_through(capfd: pytest.CaptureFixture[str]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        flags = tf.constant([False, True], name="flags")
        sparse = tf.SparseTensor([[1, 2]], [7], [2, 3])
        array = tf.TensorArray(tf.float32, 2).unstack([0.5, 1.5])
        assert session.run(print_op(flags, message="see: ")).tolist() == [False, True]
        assert session.run(print_op(sparse, [flags])).values.tolist() == [7]
        assert session.run(print_op(array).stack()).tolist() == [0.5, 1.5]
        assert print_op(array).handle is array.handle
    printed = capfd.readouterr().err
    for text in (
        "see: [Name: flags:0][Type: Tensor (bool)][Shape: [Dimension(2)]]",
        "[First True in Boolean tensor at:][1]",
        "[Type: SparseTensor (int32)][Shape:][2 3][Sparse indices:][[1 2]][Sparse values:][7]",
    ):
        assert text in printed
    with pytest.raises(ValueError, match="input_ must be of type"):
        print_op(None)


def test_rows_end_behind_their_last_element() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        sparse = tf.SparseTensor([[0, 1], [2, 0], [2, 3]], [1, 2, 3], [4, 5])
        np.testing.assert_array_equal(session.run(sparse_row_envelope(sparse)), [2, 0, 4, 0])
        turned = session.run(sparse_row_envelope(sparse, 1, 0))
        np.testing.assert_array_equal(turned, [3, 1, 0, 3, 0])
        with pytest.raises(ValueError, match="can not be the same axis"):
            sparse_row_envelope(sparse, 1, 1)
        with pytest.raises(ValueError, match="must be integers"):
            sparse_row_envelope(sparse, 0.5)  # type: ignore[arg-type]
