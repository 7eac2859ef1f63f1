# SPDX-License-Identifier: Apache-2.0
"""How Python calls kernels, and is called as if it were one: see `Kernel` in jit/kernel/ir.py.

Imports nothing from the package.
"""

from __future__ import annotations

import ctypes

ARGUMENTS = ctypes.c_void_p, *[ctypes.c_int64] * 5  # the block, then r0, r1, c0, c1, worker
SIGNATURE = ctypes.CFUNCTYPE(None, *ARGUMENTS)
