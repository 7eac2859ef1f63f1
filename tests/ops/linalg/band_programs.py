# SPDX-License-Identifier: Apache-2.0
"""Programs of matrices of three diagonals, and of windows; see tests/train/contrib/recording.py."""

from __future__ import annotations

from typing import Any

import numpy as np

_RANDOM = np.random.RandomState(0)


def _drawn(*shape: int) -> Any:
    return _RANDOM.uniform(-2, 2, shape).astype(np.float64)


_DIAGONALS, _RHS = _drawn(2, 3, 5), _drawn(2, 5, 2)
_WHOLE = _drawn(4, 4)
_VOLUME = _drawn(1, 4, 5, 3, 2)
_IMAGE, _FILTERS = _drawn(1, 5, 4, 2), _drawn(3, 2, 3, 2)


def _solved(tf: Any) -> list[Any]:
    d, r, m = tf.constant(_DIAGONALS), tf.constant(_RHS), tf.constant(_WHOLE)
    solve = tf.linalg.tridiagonal_solve
    found = [
        solve(d, r),
        solve(d, r, partial_pivoting=False),
        solve(d, r[..., 0], conjugate_rhs=True),
        solve(d, tf.matrix_transpose(r), transpose_rhs=True),
        solve(m, m, diagonals_format="matrix"),
        solve([d[:, 0, :-1], d[:, 1], d[:, 2, 1:]], r, diagonals_format="sequence"),
    ]
    return found


def _multiplied(tf: Any) -> list[Any]:
    d, r, m = tf.constant(_DIAGONALS), tf.constant(_RHS), tf.constant(_WHOLE)
    return [
        tf.linalg.tridiagonal_matmul(d, r),
        tf.linalg.tridiagonal_matmul([d[:, 0], d[:, 1], d[:, 2]], r, "sequence"),
        tf.linalg.tridiagonal_matmul(m, m, diagonals_format="matrix"),
    ]


def _slopes(tf: Any) -> list[Any]:
    d, r = tf.constant(_DIAGONALS), tf.constant(_RHS)
    found = [tf.linalg.tridiagonal_solve(d, r), tf.linalg.tridiagonal_matmul(d, r)]
    return [slope for y in found for slope in tf.gradients(y * y, [d, r])]


def _windows(tf: Any) -> list[Any]:
    x, found = tf.constant(_VOLUME), []
    for padding, strides in (("SAME", [1, 2, 1, 2, 1]), ("VALID", [1, 1, 2, 1, 1])):
        y = tf.extract_volume_patches(x, [1, 2, 3, 2, 1], strides, padding)
        found += [y, *tf.gradients(y * y, x)]
    return found


def _holes(tf: Any) -> list[Any]:
    x, w = tf.constant(_IMAGE), tf.constant(_FILTERS)
    return [
        tf.nn.atrous_conv2d_transpose(x, w, [1, 5, 4, 3], 2, "SAME"),
        tf.nn.atrous_conv2d_transpose(x, w, [1, 11, 7, 3], 3, "VALID"),
        tf.nn.atrous_conv2d_transpose(x, w, [1, 5, 4, 3], 1, "SAME"),
    ]


PROGRAMS = {
    "solved": _solved,
    "multiplied": _multiplied,
    "slopes": _slopes,
    "windows": _windows,
    "holes": _holes,
}
