# SPDX-License-Identifier: Apache-2.0
"""From a kernel to machine code: its Python source, the vocabulary that Numba compiles, LLVM.

Imports kernel, program, library, trace, passes and cache; settings, target, threads and debug
beside the rooms.
"""
