# SPDX-License-Identifier: Apache-2.0
"""The fingerprints of rows: hashes that never change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape
from .. import shape_inference
from ..public import raw
from .hash import fingerprint as farm_fingerprint

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.tensor import Tensor

_DISCRETE = NoGradient("hashes have no derivative")
_BYTES = 8


def _shape(c: ShapeContext) -> TensorShape:
    rows = shape_inference.ranked_at_least(c.inputs[0], 1)
    shape_inference.ranked(c.inputs[1], 0)
    method = c.value(1)
    if method is not None and bytes(method.item()) != b"farmhash64":
        raise ValueError(f"Unsupported method: {bytes(method.item()).decode(errors='replace')}")
    return TensorShape([rows[0] if rows else None, None if method is None else _BYTES])


def _fingerprint(c: KernelContext, data: np.ndarray, method: np.ndarray) -> np.ndarray:
    if not data.ndim:
        raise errors.invalid("`data` should have at least one dimension: []")
    name = bytes(method.item())
    if name != b"farmhash64":
        raise errors.invalid(f"Unsupported fingerprint method: {name.decode(errors='replace')}")
    hashed = farm_fingerprint()
    if data.dtype == object:
        # Strings by their own hashes, of which those of a row are hashed again.
        found = np.array([hashed(text) for text in data.reshape(-1).tolist()], "<u8")
        if found.size == len(data):
            return found.view(np.uint8).reshape(-1, _BYTES)
        rows = [row.tobytes() for row in found.reshape(len(data), -1)]
    else:
        rows = [np.ascontiguousarray(row).tobytes() for row in data]
    return np.array([hashed(row) for row in rows], "<u8").view(np.uint8).reshape(-1, _BYTES)


define(
    "Fingerprint",
    "data: T, method: string -> fingerprint: uint8",
    shape=_shape,
    kernel=_fingerprint,
    gradient=_DISCRETE,
    doc="Eight bytes for each row of a tensor, which only depend on what it holds.",
    test=lambda: {
        "values": [
            [np.arange(6, dtype=np.float32).reshape(2, 3), np.array(b"farmhash64", object)],
            [np.array([b"a", b"", b"text"], object), np.array(b"farmhash64", object)],
        ]
    },
)


@export("fingerprint")
def fingerprint(data: TensorLike, method: str = "farmhash64", name: str | None = None) -> Tensor:
    """The fingerprints of the rows of a tensor (tf.fingerprint).

    Args:
        data: of rank 1 or more, of any dtype.
        method: "farmhash64", the only one there is.
        name: of the op.

    Returns:
        uint8 of the shape [rows, 8]: the bytes of FarmHash's Fingerprint64, little end first.

    Raises:
        InvalidArgumentError: when run: the method is another.

    Example:
        >>> tf.Session().run(tf.fingerprint(["a"])).shape
        (1, 8)
    """
    return raw.Fingerprint(data, method, name=name)
