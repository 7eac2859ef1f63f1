# SPDX-License-Identifier: Apache-2.0
"""Kernels written by hand in a vocabulary of their own: contractions, pooling, random numbers.

Imports the rest of `jit`; lowerings in `ops` call them through the builder.
"""

from . import dense
from .alignment import aligned
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
from .matmul import batch_matmul, matmul
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
    "edit_distances",
    "filled_rows",
    "largest",
    "inverted",
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
    "spread_subsequence",
    "special_function",
    "suppressed",
    "suppressed_classes",
    "transpose_matrices",
    "update_rows",
]
