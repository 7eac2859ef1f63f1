# SPDX-License-Identifier: Apache-2.0
"""Kernels written by hand in a vocabulary of their own: contractions, pooling, random numbers.

Imports kernel, program, and modules beside the rooms; lowerings in `ops` call them through the
builder.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

# At once: the function has the name of its module, whose import would put that in its place.
from .matmul import batch_matmul, matmul

if TYPE_CHECKING:
    from . import dense
    from .alignment import aligned
    from .candidates import drawn_classes
    from .class_suppression import suppressed_classes
    from .conv import conv2d, conv2d_filter_gradient, conv2d_input_gradient
    from .edits import edit_distances
    from .image import box_gradient, cut, cut_gradient, outlined, resized, resized_gradient
    from .index_rows import (
        filled_rows,
        merged_rows,
        parted_rows,
        row_groups,
        row_order,
        row_places,
        spread_subsequence,
    )
    from .library_kernel import LibraryKernel
    from .pooling import avg_pool, avg_pool_gradient, max_pool, max_pool_gradient
    from .random import (
        philox_integers,
        philox_normal,
        philox_truncated_normal,
        philox_uniform,
        shuffled,
    )
    from .ranking import largest
    from .rejection import rejected
    from .resampling import resampled
    from .rows import coordinates, distinct, inverted, running, scatter_rows, transpose_matrices
    from .search import search_sorted
    from .segments import sorted_segments, sparse_product
    from .shifted_views import depthwise, depthwise_filter_gradient, depthwise_input_gradient
    from .sparse_update import update_rows
    from .special import special_function
    from .suppression import suppressed

# Where the names are, imported when they are first asked for: few programs call for many.
_HOMES = {
    "dense": (),
    "alignment": ("aligned",),
    "candidates": ("drawn_classes",),
    "class_suppression": ("suppressed_classes",),
    "conv": ("conv2d", "conv2d_filter_gradient", "conv2d_input_gradient"),
    "edits": ("edit_distances",),
    "image": ("box_gradient", "cut", "cut_gradient", "outlined", "resized", "resized_gradient"),
    "index_rows": (
        "filled_rows",
        "merged_rows",
        "parted_rows",
        "row_groups",
        "row_order",
        "row_places",
        "spread_subsequence",
    ),
    "library_kernel": ("LibraryKernel",),
    "pooling": ("avg_pool", "avg_pool_gradient", "max_pool", "max_pool_gradient"),
    "random": (
        "philox_integers",
        "philox_normal",
        "philox_truncated_normal",
        "philox_uniform",
        "shuffled",
    ),
    "ranking": ("largest",),
    "rejection": ("rejected",),
    "resampling": ("resampled",),
    "rows": (
        "coordinates",
        "distinct",
        "inverted",
        "running",
        "scatter_rows",
        "transpose_matrices",
    ),
    "search": ("search_sorted",),
    "segments": ("sorted_segments", "sparse_product"),
    "shifted_views": ("depthwise", "depthwise_filter_gradient", "depthwise_input_gradient"),
    "sparse_update": ("update_rows",),
    "special": ("special_function",),
    "suppression": ("suppressed",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "LibraryKernel",
    "aligned",
    "avg_pool",
    "avg_pool_gradient",
    "batch_matmul",
    "box_gradient",
    "conv2d",
    "conv2d_filter_gradient",
    "conv2d_input_gradient",
    "coordinates",
    "cut",
    "cut_gradient",
    "dense",
    "depthwise",
    "depthwise_filter_gradient",
    "depthwise_input_gradient",
    "distinct",
    "drawn_classes",
    "edit_distances",
    "filled_rows",
    "inverted",
    "largest",
    "matmul",
    "max_pool",
    "max_pool_gradient",
    "merged_rows",
    "outlined",
    "parted_rows",
    "philox_integers",
    "philox_normal",
    "philox_truncated_normal",
    "philox_uniform",
    "rejected",
    "resampled",
    "resized",
    "resized_gradient",
    "row_groups",
    "row_order",
    "row_places",
    "running",
    "scatter_rows",
    "search_sorted",
    "shuffled",
    "sorted_segments",
    "sparse_product",
    "special_function",
    "spread_subsequence",
    "suppressed",
    "suppressed_classes",
    "transpose_matrices",
    "update_rows",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF and name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = import_module(f".{_HOME_OF.get(name, name)}", __name__)
    found = getattr(home, name) if name in _HOME_OF else home
    # From here on it is found without a call.
    globals()[name] = found
    return found
