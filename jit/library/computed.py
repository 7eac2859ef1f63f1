# SPDX-License-Identifier: Apache-2.0
"""What kernels for GPUs compute, stated so that a device's own library can do it in their place.

A kernel says it beside its text (`LibraryKernel.computes`); the arguments are the same for both.
Where a device offers it (jit/cuda/device.py), its library is called, and else the kernel runs.
Imports nothing heavy.
"""

from __future__ import annotations

from typing import ClassVar

from ...engine.record_class import record


@record(frozen=True, slots=True)
class MatrixProduct:
    """z[lead, m, n] = x @ y, with a bias [n] added and what is below zero cut off, if so stated.

    Arguments: x, y, the bias if there is one, z; then m, n, k, lead, and how far apart neighbours
    are: matrices, rows and columns of x, and the same of y.  Of a matrix either its rows or its
    columns lie side by side; z is contiguous.
    """

    kind: ClassVar[str] = "product"
    dtype: str
    bias: bool = False
    relu: bool = False

    @property
    def buffers(self) -> int:
        """How many addresses begin the arguments."""
        return 3 + self.bias


@record(frozen=True, slots=True)
class Convolution:
    """A convolution of images [n, height, width, channels] with filters [features, high, wide,
    channels], or a gradient of one; scores [n, rows, columns, features] are what it gives.

    way: "forward" (arguments images, filters, the bias if there is one, scores), "images" (filters,
    scores, images) or "filters" (images, scores, filters: in `parts` that are to be added up).
    Then n, height, width, channels, high, wide, features, rows, columns, and how many lines and
    columns of zeros are above the images and left of them; below and right are as many as windows
    need.  steps, dilations: of lines and columns.
    """

    kind: ClassVar[str] = "convolution"
    dtype: str
    way: str
    steps: tuple[int, int]
    dilations: tuple[int, int]
    bias: bool = False
    relu: bool = False
    parts: int = 1

    @property
    def buffers(self) -> int:
        """How many addresses begin the arguments."""
        return 3 + self.bias


Computed = MatrixProduct | Convolution
