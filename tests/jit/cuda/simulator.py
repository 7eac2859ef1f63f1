# SPDX-License-Identifier: Apache-2.0
"""CUDA kernels' own source under Numba's simulator: every thread is one of Python's.

The simulator has to be chosen before Numba is imported (NUMBA_ENABLE_CUDASIM=1), so this module is
for processes of its own (`simulated_cases.py`).  Words are Python functions over NumPy's scalars,
with the meaning that the table of scalars gives them; blocks, barriers and shared memory are the
simulator's, and what a warp exchanges goes through shared memory.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numba import cuda

from numbaflow.jit.cuda.cuda_kernel import KernelText
from numbaflow.jit.cuda.launching import Extents
from numbaflow.jit.kernel import reference
from numbaflow.jit.kernel import scalar as k

_HALF = ("float16", "bfloat16")
_WORST = {"max": -np.inf, "min": np.inf}
# In the kernel's namespace, where the simulator puts what `cuda` means to each thread.
_THREADS = """
def block_x(): return cuda.blockIdx.x
def block_y(): return cuda.blockIdx.y
def blocks_x(): return cuda.gridDim.x
def blocks_y(): return cuda.gridDim.y
def lane(): return cuda.threadIdx.x
def lanes(): return cuda.blockDim.x
def line(): return cuda.threadIdx.y
def lines(): return cuda.blockDim.y
def layer(): return cuda.threadIdx.z
def layers(): return cuda.blockDim.z
def warp(): return cuda.threadIdx.x // 32
def warps(): return cuda.blockDim.x // 32
def barrier(): cuda.syncthreads()
def count_up(base, i, value): cuda.atomic.add(base, int(i), value)
def shuffled(value, distance):
    above = cuda.threadIdx.z * cuda.blockDim.y + cuda.threadIdx.y
    here = above * cuda.blockDim.x + cuda.threadIdx.x
    EXCHANGE[here] = value
    cuda.syncthreads()
    found = EXCHANGE[here ^ distance]
    cuda.syncthreads()
    return found
"""


def launch(kernel: KernelText, extents: Extents, arguments: list[Any], *sizes: int) -> None:
    """Runs a kernel over arrays, which it may change, and numbers."""
    source = re.sub(r"shared_(\w+)\((\d+)\)", r"cuda.shared.array(\2, HELD['\1'])", kernel.source)
    names: dict[str, Any] = {**_words(), "cuda": cuda, "EXCHANGE": {}}
    names["HELD"] = {name: _numpy(name) for name in k.COMPILED_DTYPES}
    exec(compile(_THREADS + source, f"<{kernel.symbol}>", "exec"), names)
    function = cuda.jit(names["kernel"])
    grid, block = (extents.blocks_x, extents.blocks_y), tuple(extents[2:])
    with np.errstate(all="ignore"):
        function[grid, block](_Block(arguments), *sizes)


class _Block:
    """The argument block; arrays are passed on as they are."""

    def __init__(self, arguments: list[Any]) -> None:
        self._arguments = arguments

    def __getitem__(self, number: int) -> Any:
        return self._arguments[number]


def _numpy(dtype: str) -> np.dtype[Any]:
    return np.dtype("float32") if dtype in _HALF else np.dtype(dtype)


def _words() -> dict[str, Any]:
    words: dict[str, Any] = {name: getattr(k, name) for name in k.PRIMITIVES if name != "cast"}
    words = {name: _scalar(word) for name, word in words.items()}
    for dtype in k.COMPILED_DTYPES:
        words[f"cast_{dtype}"] = _scalar(lambda x, dtype=dtype: _held(k.cast(x, dtype)))
        if dtype != "bool":
            words[dtype] = _numpy(dtype).type
    for dtype in _HALF:
        half = reference.numpy_dtype(dtype)
        words[f"round_{dtype}"] = lambda x, half=half: np.float32(half.type(x))
    words["accumulate_add"], words["accumulate_mul"] = words["add"], words["mul"]
    for side in ("max", "min"):
        words[f"accumulate_{side}"] = lambda acc, x, side=side: _extreme(side, acc, x)
    words["fused"] = lambda x, y, z: x * y + z
    words["float_as_bits"] = lambda x: x.view(f"u{x.itemsize}")
    words["load"] = lambda base, i: _held(base[int(i)])
    words["store"] = _store
    words["load_ordered"], words["store_ordered"] = words["load"], words["store"]
    return words


def _scalar(word: Any) -> Any:
    return lambda *args: word(*map(np.asarray, args))[()]


def _held(value: Any) -> Any:
    """A value as it is computed with: 16-bit floats are float32."""
    value = np.asarray(value)
    return np.float32(value) if value.dtype.name in _HALF else value[()]


def _store(base: Any, i: Any, value: Any) -> None:
    base[int(i)] = value


def _extreme(side: str, acc: Any, x: Any) -> Any:
    if isinstance(x, np.floating) and np.isnan(x):
        x = type(x)(_WORST[side])
    return max(acc, x) if side == "max" else min(acc, x)
