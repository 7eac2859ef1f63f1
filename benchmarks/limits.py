# SPDX-License-Identifier: Apache-2.0
"""What this machine can do at best: copies by footprint, fused multiply-adds by dtype.

Also counts the instructions of the package's scalar functions, which tells how much work a row's
exponentials and logarithms are.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

FOOTPRINTS = tuple(1 << power for power in range(20, 29))  # 1 MiB to 256 MiB
_SIZE = 1536  # of the square products
_COPY_SECONDS = 0.03
_ARITHMETIC = (
    "fadd fsub fmul fdiv fneg fcmp icmp select add sub mul shl ashr lshr and or xor call sitofp "
    "fptosi fpext fptrunc zext sext trunc"
).split()


def copy_rates(threads: int) -> list[list[float]]:
    """[footprint, bytes read and written a second] of copies between arrays of that size together.

    The best of a few counts.
    """
    return [[size, max(copy_rate(size, threads) for _ in range(3))] for size in FOOTPRINTS]


def copy_rate(footprint: int, threads: int) -> float:
    """Bytes read and written a second; each thread copies its own part.

    The better of plain copies and vectorised negations, as large plain copies go past the caches.
    """
    return max(_copy_rate(footprint, threads, copy) for copy in _COPIES)


def _negate(target: np.ndarray, source: np.ndarray) -> None:
    np.negative(source, out=target)


_COPIES: tuple[Callable[[np.ndarray, np.ndarray], None], ...] = (np.copyto, _negate)


def _copy_rate(footprint: int, threads: int, copy: Callable[..., None]) -> float:
    values = footprint // (8 * threads)
    repeats = max(3, int(_COPY_SECONDS * 40e9 / footprint))
    barrier = threading.Barrier(threads)
    spans = [(0.0, 0.0)] * threads

    def work(index: int) -> None:
        source, target = np.ones(values, np.float32), np.zeros(values, np.float32)
        copy(target, source)
        barrier.wait()
        start = time.perf_counter()
        for _ in range(repeats):
            copy(target, source)
        spans[index] = (start, time.perf_counter())

    workers = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    seconds = max(end for _, end in spans) - min(start for start, _ in spans)
    return repeats * threads * values * 8 / seconds


def numpy_rate(dtype: str) -> float:
    """Fused multiply-adds a second of NumPy's matrix product."""
    x = np.random.default_rng(0).random((_SIZE, _SIZE)).astype(dtype)
    out = np.empty_like(x)
    return _SIZE**3 / _least(lambda: np.matmul(x, x, out=out))


def own_rate(tf: Any, dtype: str) -> float:
    """The same of the package's own, which stores the product in a variable."""
    graph = tf.Graph()
    with graph.as_default():
        x = tf.Variable(np.random.default_rng(0).random((_SIZE, _SIZE)).astype(dtype))
        product = tf.assign(tf.Variable(tf.zeros([_SIZE, _SIZE], dtype)), tf.matmul(x, x)).op
        start = tf.global_variables_initializer()
    with tf.Session(graph=graph) as session:
        session.run(start)
        return _SIZE**3 / _least(lambda: session.run(product))


def _least(step: Callable[[], Any], seconds: float = 0.4) -> float:
    step()
    step()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 3:
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return min(times)


@cache
def instructions(name: str, dtype: str) -> int:
    """Arithmetic instructions, vector lanes that do one of them, of a function of the kernels.

    A primitive of one instruction is 1.  Others are built as the compiler builds them and their
    instructions counted; moving bits between registers of two kinds is none.
    """
    from llvmlite import ir

    from numbaflow.jit.codegen import transcendental
    from numbaflow.jit.codegen.llvm_scalar import Emitter

    define = transcendental.FUNCTIONS.get(name)
    if define is None:
        return 1
    kind = ir.FloatType() if dtype == "float32" else ir.DoubleType()
    function = ir.Function(ir.Module(), ir.FunctionType(kind, [kind]), name)
    builder = ir.IRBuilder(function.append_basic_block())
    builder.ret(define(Emitter(builder, dtype), function.args[0]))
    done = [line.opname for block in function.blocks for line in block.instructions]
    return sum(opcode in _ARITHMETIC for opcode in done)
