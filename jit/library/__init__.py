# SPDX-License-Identifier: Apache-2.0
"""Kernels written by hand in the intrinsics vocabulary: contractions, pooling, random numbers.

Imports the rest of `jit`; lowerings in `ops` call them through the builder.
"""
