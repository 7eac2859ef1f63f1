# SPDX-License-Identifier: Apache-2.0
"""The kernels of the library that no program needs to compile: there is a fixed number of them.

Each module whose kernels take all sizes at run time tells what they are; so they can be compiled
before any program asks (`numbaflow cache warm`).  Imports those modules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from . import (
    alignment,
    arrays,
    boxes,
    buckets,
    bundles,
    candidates,
    channel_windows,
    class_suppression,
    conv,
    conv_grad_pooled,
    decimals,
    dense,
    edits,
    features,
    fourier,
    growing,
    hashes,
    image,
    index_rows,
    instruction_set,
    max_pool_argmax,
    orthogonal,
    png_rows,
    ragged_arrays,
    random,
    ranking,
    records,
    regions,
    rejection,
    resampling,
    rows,
    search,
    segments,
    sequences,
    special,
    stacks,
    suppression,
    text_rows,
    tiles,
    wide_window,
)
from .library_kernel import LibraryKernel
from .matmul import closed as products

# `closed` of every such module: kernels as steps ask for them, over the dtypes of their buffers.
CLOSED: tuple[Callable[[Sequence[str]], Iterator[LibraryKernel]], ...] = (
    alignment.closed,
    arrays.closed,
    boxes.closed,
    buckets.closed,
    bundles.closed,
    candidates.closed,
    channel_windows.closed,
    class_suppression.closed,
    conv.closed,
    conv_grad_pooled.closed,
    decimals.closed,
    dense.closed,
    edits.closed,
    features.closed,
    fourier.closed,
    growing.closed,
    hashes.closed,
    ranking.closed,
    image.closed,
    index_rows.closed,
    instruction_set.closed,
    max_pool_argmax.closed,
    orthogonal.closed,
    png_rows.closed,
    products,
    ragged_arrays.closed,
    random.closed,
    records.closed,
    regions.closed,
    rejection.closed,
    resampling.closed,
    rows.closed,
    search.closed,
    segments.closed,
    sequences.closed,
    special.closed,
    stacks.closed,
    suppression.closed,
    text_rows.closed,
    tiles.closed,
    wide_window.closed,
)


def kernels(dtypes: Sequence[str] = ("float32",)) -> Iterator[LibraryKernel]:
    """Every kernel of the set for numbers of these dtypes, for the target of the settings."""
    for closed in CLOSED:
        yield from closed(dtypes)
