# SPDX-License-Identifier: Apache-2.0
"""Max pooling that remembers where its maxima are, so that its gradient need not look again.

A place is a number y * KW + i within the whole window, also where part of it lies outside.
NHWC; jit/passes/max_pool_rewrites.py decides where these take the place of the plain kernels in
jit/library/pooling.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..kernel.sizes import AnySize, maximum
from .geometry import Axis
from .library_kernel import specialise

_WORK = 1 << 15  # elements read per tile
MOST_PLACES = 256  # places are bytes
Windows = tuple[Axis, Axis]  # of a pooling, along height and width


@dataclass(frozen=True)
class Pools:
    """The call is max pooling, whose maxima have places that fit a byte."""

    windows: Windows


@dataclass(frozen=True)
class Unpools:
    """The call is the gradient of max pooling: of x and dy."""

    windows: Windows


@dataclass(frozen=True)
class TakesUnpooled:
    """A call that can take its input number `position` before it is unpooled.

    instead(builder, dy, places, windows) gives what the call gives, or NotImplemented.
    """

    position: int
    instead: Callable[[Any, Any, Any, Windows], Any]


def key(windows: Windows) -> str:
    """Equal for equal windows, whoever asks for them."""
    return repr([(str(a.size), a.window, a.stride, str(a.before), str(a.out)) for a in windows])


WINDOW = """
@helper
def window(position, stride, before, length, size):
    # The part of a window that lies inside of the input.
    start = position * stride - before
    return max(start, 0), min(start + length, size)
"""

# The maximum is the least finite number if there are only NaN and minus infinity, but its place is
# that of the first element, unless another is larger: where a NaN comes first it keeps the place.
_PLACES = """
@helper
def whole(x, out, places, source, target, line, c):
    # A window without an edge: all its elements of a channel are combined in registers.
    for f in range(c):
        begin = x[source + f]
        value, place = begin if begin == begin else -INFINITY, uint32(0)
        for y in range(KH):
            for i in range(KW):
                if y + i > 0:
                    other = x[source + y * line + i * c + f]
                    place = uint32(y * KW + i) if other > value else place
                    value = other if other > value else value
        out[target + f] = value if value > LOWEST else LOWEST
        places[target + f] = place if begin == begin else uint32(0)


@helper
def part(x, out, places, source, target, line, c, rows, cols, first):
    for f in range(c):
        begin = x[source + f]
        out[target + f] = begin if begin == begin else -INFINITY
        places[target + f] = first
    for y in range(rows):
        for i in range(cols):
            for f in range(c):
                other = x[source + y * line + i * c + f]
                if other > out[target + f]:
                    out[target + f] = other
                    places[target + f] = first + y * KW + i
    for f in range(c):
        begin, value = x[source + f], out[target + f]
        out[target + f] = value if value > LOWEST else LOWEST
        places[target + f] = places[target + f] if begin == begin else first


def kernel(args, r0, r1, c0, c1, worker):
    x, out, places = pointer(args[0]), pointer(args[1]), pointer(args[2])
    h, w, oh, ow, c, top, left = args[3], args[4], args[5], args[6], args[7], args[8], args[9]
    for row in range(r0, r1):
        image = row // oh
        y = row - image * oh
        y0, y1 = window(y, SH, top, KH, h)
        for col in range(ow):
            x0, x1 = window(col, SW, left, KW, w)
            source, target = ((image * h + y0) * w + x0) * c, (row * ow + col) * c
            if y1 - y0 == KH and x1 - x0 == KW:
                whole(x, out, places, source, target, w * c, c)
            else:
                first = (y0 - (y * SH - top)) * KW + x0 - (col * SW - left)
                part(x, out, places, source, target, w * c, c, y1 - y0, x1 - x0, first)
"""

# Rows are images, columns are channels: windows of one image may overlap.
_SPREAD = """
def kernel(args, r0, r1, c0, c1, worker):
    dy, places, out = pointer(args[0]), pointer(args[1]), pointer(args[2])
    h, w, oh, ow, c, top, left = args[3], args[4], args[5], args[6], args[7], args[8], args[9]
    for image in range(r0, r1):
        zero(args[2] + image * h * w * c, h * w * c)
        for row in range(oh):
            for col in range(ow):
                source = ((image * oh + row) * ow + col) * c
                for y in range(max(0, row * SH - top), min(h, row * SH - top + KH)):
                    for i in range(max(0, col * SW - left), min(w, col * SW - left + KW)):
                        place = uint32((y - row * SH + top) * KW + i - col * SW + left)
                        target = ((image * h + y) * w + i) * c
                        for f in range(c):
                            value = dy[source + f] if places[source + f] == place else ZERO
                            out[target + f] += value
"""


def max_pool_places(b: Any, x: Any, windows: Windows) -> tuple[Any, Any]:
    """The maxima of every window, and their places."""
    n, _, _, c = x.shape
    high, wide = windows
    kernel = specialise(
        "max_pool_places", numbers(x.dtype, WINDOW + _PLACES), **facts(x.dtype, windows)
    )
    line = maximum(wide.out * c * high.window * wide.window, 1)
    shape = (n, high.out, wide.out, c)
    return b.call(  # type: ignore[no-any-return]
        kernel, [x], [(shape, x.dtype), (shape, "uint8")], extents(windows, c), n * high.out,
        maximum(_WORK // line, 1), operations=n * high.out * line,
    )  # fmt: skip


def spread(b: Any, shape: Sequence[AnySize], dy: Any, places: Any, windows: Windows) -> Any:
    """The gradient of max pooling's input, of the given shape: dy where the maxima were."""
    n, h, w, c = shape
    kernel = specialise("unpool", numbers(dy.dtype, _SPREAD), **facts(dy.dtype, windows))
    (out,) = b.call(
        kernel, [dy, places], [(tuple(shape), dy.dtype)], extents(windows, c), n,
        maximum(_WORK // maximum(h * w * c, 1), 1), operations=n * h * w * c,
    )  # fmt: skip
    return out


def numbers(dtype: str, text: str) -> str:
    """A text with the numbers that it names as those of a dtype."""
    largest = {"float32": "3.4028234663852886e38", "float64": "1.7976931348623157e308"}[dtype]
    values = {"ONE": "1", "ZERO": "0", "LOWEST": f"-{largest}", "INFINITY": "1e999"}
    for name, value in values.items():
        text = text.replace(name, f"{dtype}({value})")
    return text


def facts(dtype: str, windows: Windows) -> dict[str, Any]:
    """The constants that texts use for windows."""
    high, wide = windows
    return {
        "DTYPE": dtype, "KH": high.window, "KW": wide.window,
        "SH": high.stride, "SW": wide.stride,
    }  # fmt: skip


def extents(windows: Windows, c: AnySize) -> list[AnySize]:
    """The parameters that kernels take for windows."""
    high, wide = windows
    return [high.size, wide.size, high.out, wide.out, c, high.before, wide.before]
