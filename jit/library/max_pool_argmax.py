# SPDX-License-Identifier: Apache-2.0
"""Max pooling that remembers where its maxima are, so that its gradient need not look again.

A place is a number y * KW + i within the whole window, also where part of it lies outside.
NHWC; jit/passes/max_pool_rewrites.py decides where these take the place of the plain kernels in
jit/library/pooling.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ...engine.record_class import record
from ..kernel.sizes import AnySize, maximum
from . import pooling_kernels
from .geometry import Axis
from .library_kernel import LibraryKernel
from .template import specialise
from .vectors import BYTES, vectors

_WORK = 1 << 15  # elements read per tile
CHANNELS = 512  # channels of a gradient handled together
MOST_PLACES = 256  # places are bytes
Windows = tuple[Axis, Axis]  # of a pooling, along height and width


@record(frozen=True)
class MaxPoolRole:
    """The call is max pooling, whose maxima have places that fit a byte."""

    windows: Windows


@record(frozen=True)
class MaxPoolGradRole:
    """The call is the gradient of max pooling: of x and dy."""

    windows: Windows


@record(frozen=True)
class AcceptsPooledGrad:
    """A call that can take its input number `position` before it is unpooled.

    instead(builder, dy, places, windows) gives what the call gives, or NotImplemented.
    """

    position: int
    instead: Callable[[Any, Any, Any, Windows], Any]


def key(windows: Windows) -> str:
    """Equal for equal windows, whoever asks for them."""
    return repr([(str(a.size), a.window, a.stride, str(a.before), str(a.out)) for a in windows])


def max_pool_places(b: Any, x: Any, windows: Windows) -> tuple[Any, Any]:
    """The maxima of every window, and their places."""
    n, _, _, c = x.shape
    high, wide = windows
    line = maximum(wide.out * c * high.window * wide.window, 1)
    shape = (n, high.out, wide.out, c)
    return b.call(  # type: ignore[no-any-return]
        pool_kernel("places", x.dtype),
        [x],
        [(shape, x.dtype), (shape, "uint8")],
        extents(windows, c),
        n * high.out,
        maximum(_WORK // line, 1),
        scratch=lists(windows),
        operations=n * high.out * line,
    )


def spread(b: Any, shape: Sequence[AnySize], dy: Any, places: Any, windows: Windows) -> Any:
    """The gradient of max pooling's input, of the given shape: dy where the maxima were."""
    n, h, w, c = shape
    (out,) = b.call(
        gradient_kernel("places", dy.dtype),
        [dy, places],
        [(tuple(shape), dy.dtype)],
        extents(windows, c),
        n,
        maximum(_WORK // maximum(h * w * c, 1), 1),
        c,
        CHANNELS,
        lists(windows),
        operations=n * h * w * c,
    )
    return out


_POOLS = {"max": "max_pool", "mean": "avg_pool", "places": "max_pool_places"}
_GRADIENTS = {"max": "max_pool_gradient", "mean": "avg_pool_gradient", "places": "unpool"}


def pool_kernel(kind: str, dtype: str) -> LibraryKernel:
    """The kernel of a kind of pooling."""
    last = 2 if kind == "places" else 1
    lanes = vectors(dtype).lanes
    return specialise(
        _POOLS[kind], pooling_kernels.pool, DTYPE=dtype, LANES=lanes, KIND=kind, OUT_AT=last
    )


def gradient_kernel(kind: str, dtype: str) -> LibraryKernel:
    """The kernel of the gradient of a kind of pooling."""
    facts: dict[str, Any] = {"DTYPE": dtype, "LANES": vectors(dtype).lanes}
    facts |= {"BYTES": BYTES[dtype], "CHANNELS": CHANNELS}
    last = 1 if kind == "mean" else 2
    return specialise(_GRADIENTS[kind], pooling_kernels.gradient, KIND=kind, OUT_AT=last, **facts)


def closed(dtypes: Iterable[str]) -> Iterator[LibraryKernel]:
    """All kernels of pooling."""
    for dtype in dtypes:
        if dtype in BYTES:
            yield pool_kernel("max", dtype).over([dtype] * 2)
            yield pool_kernel("mean", dtype).over([dtype] * 2)
            yield pool_kernel("places", dtype).over([dtype, dtype, "uint8"])
            yield gradient_kernel("max", dtype).over([dtype] * 3)
            yield gradient_kernel("mean", dtype).over([dtype] * 2)
            yield gradient_kernel("places", dtype).over([dtype, "uint8", dtype])


def extents(windows: Windows, c: AnySize) -> list[AnySize]:
    """The parameters that kernels take for windows."""
    high, wide = windows
    sizes = [high.size, wide.size, high.out, wide.out, c, high.before, wide.before]
    return [*sizes, high.window, wide.window, high.stride, wide.stride]


def lists(windows: Windows) -> int:
    """The bytes of a worker's lists of what a window has."""
    return 16 * windows[0].window * windows[1].window
