# SPDX-License-Identifier: Apache-2.0
"""Axis numbers and per-axis values moved from one data format to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import shape_text

if TYPE_CHECKING:
    from ...engine.graph.kernel_context import KernelContext

_ATTRS = "T: index = int32; src_format: string = 'NHWC'; dst_format: string = 'NCHW'"
_INTEGERS = NoGradient("axis numbers are integers")


def _formats(c: KernelContext) -> tuple[str, str]:
    source, target = c.attr("src_format"), c.attr("dst_format")
    if len(source) not in (4, 5):
        raise errors.invalid(
            f"Source format must be of length 4 or 5, received src_format = {source}"
        )
    if len(target) not in (4, 5):
        raise errors.invalid(
            f"Destination format must be of length 4 or 5, received dst_format = {target}"
        )
    if sorted(source) != sorted(target) or len(set(source)) != len(source):
        raise errors.invalid(
            f"Destination and source format must determine a permutation, got {source} and {target}"
        )
    return source, target


def _map(c: KernelContext, x: np.ndarray) -> np.ndarray:
    source, target = _formats(c)
    if ((x < -len(source)) | (x >= len(source))).any():
        # (TensorFlow 1.15 reads beyond its table.)
        raise errors.invalid(f"axes must be in [-{len(source)}, {len(source)})")
    places = np.array([target.index(letter) for letter in source], x.dtype)
    return places[np.where(x < 0, x + len(source), x)]


def _permute(c: KernelContext, x: np.ndarray) -> np.ndarray:
    source, target = _formats(c)
    if x.ndim not in (1, 2):
        raise errors.invalid(
            f"input must be a vector or 2D tensor, but got shape {shape_text(x.shape)}"
        )
    if len(x) != len(source):
        # Values for the spatial axes only.
        source, target = (
            "".join(letter for letter in form if letter in "HW") for form in (source, target)
        )
    if len(x) != len(source):
        raise errors.invalid(
            f"1D input must be of size 4 or 5, but got shape {shape_text(x.shape)}"
        )
    if x.ndim == 2 and x.shape[1] != 2:
        raise errors.invalid(
            f"Second dimension of 2D input must be of size 2, but got shape {shape_text(x.shape)}"
        )
    return x[[source.index(letter) for letter in target]]


data_format_dim_map = define(
    "DataFormatDimMap",
    "x: T -> y: T",
    _ATTRS,
    shape=lambda c: c.inputs[0],
    kernel=_map,
    gradient=_INTEGERS,
    doc="Axis numbers of one data format in another.",
    test=lambda: {"values": [[np.array([0, -1, 2], np.int32)]]},
)
data_format_vec_permute = define(
    "DataFormatVecPermute",
    "x: T -> y: T",
    _ATTRS,
    shape=lambda c: c.inputs[0],
    kernel=_permute,
    gradient=_INTEGERS,
    doc="One value per axis, in the order of another data format.",
    test=lambda: {"values": [[np.array([1, 2, 3, 4], np.int32)]]},
)
