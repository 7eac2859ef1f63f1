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

import numpy as np

from ..kernel.sizes import AnySize, maximum
from . import pooling_kernels
from .geometry import Axis
from .template import specialise

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


def max_pool_places(b: Any, x: Any, windows: Windows) -> tuple[Any, Any]:
    """The maxima of every window, and their places."""
    n, _, _, c = x.shape
    high, wide = windows
    kernel = specialise(
        "max_pool_places", pooling_kernels.pool_with_places, **facts(x.dtype, windows)
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
    kernel = specialise("unpool", pooling_kernels.spread, **facts(dy.dtype, windows))
    (out,) = b.call(
        kernel, [dy, places], [(tuple(shape), dy.dtype)], extents(windows, c), n,
        maximum(_WORK // maximum(h * w * c, 1), 1), operations=n * h * w * c,
    )  # fmt: skip
    return out


def facts(dtype: str, windows: Windows) -> dict[str, Any]:
    """The constants that kernels use for windows."""
    high, wide = windows
    number = np.dtype(dtype).type
    return {
        "DTYPE": dtype, "KH": high.window, "KW": wide.window,
        "SH": high.stride, "SW": wide.stride, "ZERO": number(0),
        "LOWEST": np.finfo(dtype).min, "INFINITY": number(np.inf),
    }  # fmt: skip


def extents(windows: Windows, c: AnySize) -> list[AnySize]:
    """The parameters that kernels take for windows."""
    high, wide = windows
    return [high.size, wide.size, high.out, wide.out, c, high.before, wide.before]
