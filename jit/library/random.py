# SPDX-License-Identifier: Apache-2.0
"""Random numbers from Philox4x32-10: uniform, normal, truncated normal, integers.

Block number i of a stream is a function of the stream's position and i alone, so tiles of blocks
are independent.  The same bits as the reference kernels, which are TensorFlow's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.record_class import record
from ..kernel import glibc_float32
from ..kernel.sizes import AnySize, ceil_div, product
from . import random_kernels as kernels
from .library_kernel import LibraryKernel
from .template import specialise

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation

_BYTES = {"float32": 4, "float64": 8, "int32": 4, "int64": 8}
_TILE = 4096  # blocks per tile
_TILE_SLOW = 512  # the same for normal numbers
# Operations per number: ten rounds of four products and six sums and exclusive ors for four words.
_PHILOX = 25
Values = Callable[..., tuple[Any, ...]]
_UNIFORM: dict[str, Values] = {
    "float32": kernels.uniform_float32,
    "float64": kernels.uniform_float64,
}
_NORMAL: dict[str, Values] = {
    "float32": kernels.normal_float32,
    "float64": kernels.normal_float64,
}
_INTEGERS: dict[str, Values] = {"int32": kernels.integer_32, "int64": kernels.integer_64}


@record(frozen=True)
class PhiloxReservation:
    """Takes the next part of an op's stream, once per run.

    take(context, count) gets the op's kernel context and the value of `size`, and gives the three
    ints that stand behind the parameters.  stream(context) returns the op's generator:
    reserve_outputs(count) -> an object with `key` and `counter`, and go_back(counter, key).
    """

    op: Any
    stream: Callable[[Any], Any]
    size: AnySize
    initial: tuple[int, int, int] = (0, 0, 0)

    def take(self, context: Any, count: int) -> Sequence[int]:
        """The key and the counter from which this run draws `count` outputs."""
        at = self.stream(context).reserve_outputs(count)
        return [_signed(word) for word in (at.key, at.counter, at.counter >> 64)]

    def give_back(self, context: Any, words: Sequence[int]) -> None:
        """What was taken last will be taken again: the run that took it does not count."""
        key, low, high = (int(word) & (1 << 64) - 1 for word in words)
        self.stream(context).go_back(high << 64 | low, key)


def _signed(word: int) -> int:
    word &= (1 << 64) - 1
    return word - (1 << 64) if word >> 63 else word


def philox_uniform(
    b: Any,
    op: Any,
    dims: Sequence[AnySize],
    stream: Any,
    dtype: str = "float32",
    reserved: AnySize | None = None,
) -> Any:
    """Uniform in [0, 1): float32 or float64.

    stream: of a kernel context, or a value with the two seeds of a stateless op.  reserved: how
    many outputs are set aside, if not as many as there are.
    """
    return _draw(
        *(b, "uniform", _UNIFORM.get(dtype), kernels.fill, op, dims, stream, dtype, _TILE),
        reserved=reserved,
    )


def philox_normal(
    b: Any, op: Operation, dims: Sequence[AnySize], stream: Any, dtype: str = "float32"
) -> Any:
    """Standard normal: float32 or float64."""
    values = _NORMAL.get(dtype)
    return _draw(b, "normal", values, kernels.fill, op, dims, stream, dtype, _TILE_SLOW)


def philox_truncated_normal(
    b: Any, op: Operation, dims: Sequence[AnySize], stream: Any, dtype: str = "float32"
) -> Any:
    """Standard normal within two deviations: float32 or float64."""
    values, fill = _NORMAL.get(dtype), kernels.fill_truncated
    return _draw(b, "truncated_normal", values, fill, op, dims, stream, dtype, _TILE_SLOW)


def philox_integers(
    b: Any, op: Any, dims: Sequence[AnySize], stream: Any, dtype: str, low: int, high: int
) -> Any:
    """Uniform in [low, high), for limits known while tracing: int32 or int64."""
    if low >= high:
        return NotImplemented
    limits, values = (low, high), _INTEGERS.get(dtype)
    return _draw(b, "integers", values, kernels.fill, op, dims, stream, dtype, _TILE, limits)


def _draw(
    b: Any,
    name: str,
    values: Callable[..., Any] | None,
    entry: Callable[..., None],
    op: Operation,
    dims: Sequence[AnySize],
    stream: Any,
    dtype: str,
    tile: int,
    limits: tuple[int, int] = (0, 0),
    reserved: AnySize | None = None,
) -> Any:
    if values is None:
        return NotImplemented
    size, per = product(dims), _per_block(dtype)
    seeds = [] if callable(stream) else [stream]
    tables = [b.constant(glibc_float32.log_table())] if _has_table(values) else []
    kernel = _kernel(name, values, entry, dtype, bool(seeds))
    count = size if reserved is None else reserved
    (out,) = b.call(
        kernel,
        [*seeds, *tables],
        [(tuple(dims), dtype)],
        [size, *limits],
        ceil_div(size, per),
        tile,
        reserve=None if seeds else PhiloxReservation(op, stream, count),
        operations=_PHILOX * size,
    )
    return out


def _per_block(dtype: str) -> int:
    return 2 if _BYTES[dtype] == 8 else 4


def _has_table(values: Callable[..., Any]) -> bool:
    """Is a table of logarithms the last input?"""
    return values is kernels.normal_float32


def _kernel(
    name: str,
    values: Callable[..., Any],
    entry: Callable[..., None],
    dtype: str,
    from_seeds: bool = False,
) -> LibraryKernel:
    per, has_table = _per_block(dtype), _has_table(values)
    out = from_seeds + has_table
    # Each output of a rejection method owns 256 draws; a block is four of them.
    return specialise(
        f"philox_{name}",
        entry,
        VALUES=values,
        PER=per,
        STRIDE=per * 256 // 4,
        OUT=out,
        FROM_SEEDS=from_seeds,
        FIRST=out - 1 if has_table else out + 2,
        **glibc_float32.CONSTANTS,
    )


def shuffled(b: Any, op: Any, size: AnySize, stream: Any) -> Any:
    """The numbers below `size` in random order; stream: as that of philox_uniform."""
    (order,) = b.call(
        specialise("shuffled", kernels.shuffled),
        [],
        [((size,), "int64")],
        [size],
        reserve=PhiloxReservation(op, stream, size),
        operations=2 * _PHILOX * size,
    )
    return order


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """The kernels of this module that take no input: of these dtypes, and integers of all."""
    for dtype in dtypes:
        for name, values, entry in (
            ("uniform", _UNIFORM, kernels.fill),
            ("normal", _NORMAL, kernels.fill),
            ("truncated_normal", _NORMAL, kernels.fill_truncated),
        ):
            tables = ["float64"] if _has_table(values[dtype]) else []
            yield _kernel(name, values[dtype], entry, dtype).over([*tables, dtype])
    for dtype, draw in _INTEGERS.items():
        yield _kernel("integers", draw, kernels.fill, dtype).over([dtype])
    yield specialise("shuffled", kernels.shuffled).over(["int64"])
