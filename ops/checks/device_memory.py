# SPDX-License-Identifier: Apache-2.0
"""How much memory of a GPU is in use (tf.contrib.memory_stats)."""

from __future__ import annotations

from typing import Any

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.devices import parse_device
from ...engine.graph.kernel_context import KernelContext
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape


def _device(c: KernelContext) -> Any:
    """The GPU that an operation asks for, or the session's first."""
    gpu = None if c.session is None else c.session.gpu
    kind, number = parse_device(c.op._device)[3:]
    if gpu is None or kind == "CPU":
        names = ["CPU", *(["GPU"] if gpu is not None else [])]
        raise errors.invalid(
            f"No OpKernel was registered to support Op '{c.type}' used by node {c.name} with these "
            f"attrs: []\nRegistered devices: [{', '.join(names)}]\nRegistered kernels:\n"
            f"  device='GPU'\n\n\t [[{c.name}]]"
        )
    return gpu.all[number if number is not None and number < len(gpu.all) else 0].device


for _name, _attribute, _doc in (
    ("BytesInUse", "used_bytes", "The bytes of a GPU's memory that are in use."),
    ("MaxBytesInUse", "peak_bytes", "The most bytes of a GPU's memory that ever were in use."),
    ("BytesLimit", "limit_bytes", "The bytes of a GPU's memory that may be used."),
):
    define(
        _name,
        "-> out: int64",
        shape=lambda c: TensorShape([]),
        kernel=lambda c, attribute=_attribute: int(getattr(_device(c), attribute)),
        gradient=NoGradient("what a device says of itself"),
        stateful=True,
        doc=_doc,
        test={"needs": "a GPU"},
    )
