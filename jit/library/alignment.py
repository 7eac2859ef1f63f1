# SPDX-License-Identifier: Apache-2.0
"""The probability of sequences of labels under scores of each step, over all ways to align them.

This is connectionist temporal classification.  Each row of a batch is a tile; its forward and its
backward scores are taken relative to the highest one of their step, so that long sequences are as
exact as short ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..kernel.sizes import minimum
from . import alignment_kernels
from .library_kernel import LibraryKernel
from .template import specialise

DTYPES = ("float32", "float64")


def aligned(
    b: Any, scores: Any, indices: Any, labels: Any, lengths: Any, is_last: bool, flags: Any
) -> Any:
    """(losses, their gradients by the scores, whether a row is wrong) of a batch.

    scores: [steps, rows, classes]; indices: [number, 2] of int64, the row and place of each label;
    labels: [number] and lengths: [rows] of int32.  The blank is the last class or the first one.
    flags: whether labels collapse, whether paths merge, whether rows with too many labels are left
    out, in place of being wrong.
    """
    time, batch, classes = scores.shape
    number = labels.shape[0]
    room = minimum(number, time)
    states = 2 * room + 1
    blank = classes - 1 if is_last else 0
    width = np.dtype(scores.dtype).itemsize
    return b.call(
        _kernel(scores.dtype),
        [scores, indices, labels, lengths],
        [((batch,), scores.dtype), (scores.shape, scores.dtype), ((batch,), "int32")],
        [time, batch, classes, number, room, blank, *map(int, flags)],
        batch,
        scratch=8 * states + width * (5 * states + 4 + time * (states + 3)),
        operations=batch * time * (states * 120 + classes * 40),
    )


def _kernel(dtype: str) -> LibraryKernel:
    lowest = float(np.log(np.finfo(dtype).tiny))
    return specialise("alignment", alignment_kernels.alignment, KIND=dtype, LOWEST=lowest)


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """The kernel, for scores of these dtypes."""
    for dtype in dtypes:
        if dtype in DTYPES:
            given = [dtype, "int64", "int32", "int32", dtype, dtype, "int32"]
            yield _kernel(dtype).over(given)
