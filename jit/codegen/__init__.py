# SPDX-License-Identifier: Apache-2.0
"""From a kernel to machine code: its Python source, the vocabulary that Numba compiles, LLVM.

Imports kernel, library, cache, and modules beside the rooms.
"""
