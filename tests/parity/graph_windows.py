# SPDX-License-Identifier: Apache-2.0
"""Lines of drawn programs about windows: convolutions of all kinds, pools that overlap, resizes.

Pictures are of exact numbers, so that the largest of a window is the same whoever looks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from .graph_source import Writer
from .graph_steps import Step
from .graph_values import Size, Value


@dataclass(frozen=True)
class Picture:
    """A name of pictures, [n, height, width, depth], of exact numbers."""

    name: str
    dtype: str
    height: int
    width: int
    depth: int


_Window = Callable[[Writer, Picture], str | None]


def _filters(p: Picture, *shape: int) -> str:
    numbers = f"np.arange({prod(shape)}).reshape({shape}) * 5 % 7 * 0.25 - 0.75"
    return f"tf.constant({numbers}, tf.{p.dtype})"


def _padding(w: Writer) -> str:
    return w.random.choice(["SAME", "VALID"])


def _sides(w: Writer, p: Picture, most: int = 3) -> tuple[int, int]:
    return w.random.randint(1, min(most, p.height)), w.random.randint(1, min(most, p.width))


def _steps(w: Writer) -> tuple[int, int]:
    return w.random.choice([(1, 1), (1, 1), (2, 2), (3, 3), (1, 2), (2, 1), (3, 2)])


def _convolved(w: Writer, p: Picture) -> str:
    (rows, columns), (down, across) = _sides(w, p), _steps(w)
    filters = _filters(p, rows, columns, p.depth, w.random.randint(1, 3))
    padding = f"'{_padding(w)}'"
    if w.chance(0.3):
        ends = [[w.random.randint(0, 2), w.random.randint(0, 2)] for _ in range(2)]
        padding = f"[[0, 0], {ends[0]}, {ends[1]}, [0, 0]]"
    return f"tf.nn.conv2d({p.name}, {filters}, [1, {down}, {across}, 1], {padding})"


def _with_holes(w: Writer, p: Picture) -> str | None:
    (rows, columns), holes = _sides(w, p), [w.random.randint(1, 3), w.random.randint(1, 3)]
    padding = _padding(w)
    if padding == "VALID" and (
        (rows - 1) * holes[0] >= p.height or (columns - 1) * holes[1] >= p.width
    ):
        return None
    filters = _filters(p, rows, columns, p.depth, 2)
    if w.chance(0.5):
        return f"tf.nn.convolution({p.name}, {filters}, '{padding}', dilation_rate={holes})"
    # (TensorFlow's kernels for processors have no gradients of it.)
    step, spread = "[1, 1, 1, 1]", f"[1, {holes[0]}, {holes[1]}, 1]"
    text = f"tf.nn.conv2d({p.name}, {filters}, {step}, '{padding}', dilations={spread})"
    return f"tf.stop_gradient({text})"


def _by_depth(w: Writer, p: Picture) -> str:
    (rows, columns), step = _sides(w, p), w.random.randint(1, 3)
    filters, strides = _filters(p, rows, columns, p.depth, 2), f"[1, {step}, {step}, 1]"
    if w.chance(0.5):
        return f"tf.nn.depthwise_conv2d({p.name}, {filters}, {strides}, '{_padding(w)}')"
    points = _filters(p, 1, 1, 2 * p.depth, 2)
    return f"tf.nn.separable_conv2d({p.name}, {filters}, {points}, {strides}, '{_padding(w)}')"


def _back(w: Writer, p: Picture) -> str:
    (rows, columns), (down, across) = _sides(w, p), _steps(w)
    padding = _padding(w)
    more = (max(rows - down, 0), max(columns - across, 0)) if padding == "VALID" else (0, 0)
    less = (0, 0) if padding == "VALID" else (w.random.randrange(down), w.random.randrange(across))
    height = p.height * down + more[0] - less[0]
    width = p.width * across + more[1] - less[1]
    shape = f"[tf.shape({p.name})[0], {height}, {width}, 2]"
    filters = _filters(p, rows, columns, 2, p.depth)
    strides = f"[1, {down}, {across}, 1]"
    return f"tf.nn.conv2d_transpose({p.name}, {filters}, {shape}, {strides}, '{padding}')"


def _pooled(w: Writer, p: Picture) -> str:
    (rows, columns), (down, across) = _sides(w, p), _steps(w)
    window, strides = f"[1, {rows}, {columns}, 1]", f"[1, {down}, {across}, 1]"
    name = w.random.choice(["avg_pool", "max_pool", "max_pool", "max_pool_with_argmax"])
    text = f"tf.nn.{name}({p.name}, {window}, {strides}, '{_padding(w)}')"
    if name.endswith("argmax"):
        # TensorFlow has no second derivatives of it.
        w.marks.add("once")
    return f"{text}[0]" if name.endswith("argmax") else text


def _solid(w: Writer, p: Picture) -> str:
    (rows, columns), step = _sides(w, p), w.random.randint(1, 2)
    strides, solid = f"[1, {step}, {step}, 1, 1]", f"{p.name}[..., tf.newaxis]"
    # (Those of double precision are in TensorFlow for convolutions alone.)
    pools = ["avg_pool3d", "max_pool3d"] * (p.dtype == "float32")
    name = w.random.choice(["conv3d", *pools])
    given = f"[1, {rows}, {columns}, 1, 1]"
    if name == "conv3d":
        given = _filters(p, rows, columns, w.random.randint(1, p.depth), 1, 2)
    text = f"tf.nn.{name}({solid}, {given}, {strides}, '{_padding(w)}')"
    # (Where several are largest, versions of TensorFlow differ in which of them gets the gradient.)
    text = f"tf.stop_gradient({text})" if name == "max_pool3d" else text
    return f"tf.reduce_mean({text}, -1)"


def _patches(w: Writer, p: Picture) -> str:
    (rows, columns), (down, across) = _sides(w, p), _steps(w)
    sizes, strides = f"[1, {rows}, {columns}, 1]", f"[1, {down}, {across}, 1]"
    return f"tf.extract_image_patches({p.name}, {sizes}, {strides}, [1, 1, 1, 1], '{_padding(w)}')"


def _thickened(w: Writer, p: Picture) -> str:
    rows, columns = _sides(w, p, 2)
    numbers = f"np.arange({rows * columns * p.depth}).reshape({rows, columns, p.depth}) * 0.5"
    filters = f"tf.constant({numbers}, tf.{p.dtype})"
    w.marks.add("once")
    name = w.random.choice(["dilation2d", "erosion2d"])
    ones = "[1, 1, 1, 1], [1, 1, 1, 1]"
    return f"tf.nn.{name}({p.name}, {filters}, {ones}, '{_padding(w)}')"


def _resized(w: Writer, p: Picture) -> str:
    size = [w.random.randint(1, 9), w.random.randint(1, 9)]
    name = w.random.choice(["bilinear", "bicubic", "nearest_neighbor", "area"])
    flags = ["", ", align_corners=True"]
    flags += [", half_pixel_centers=True"] * (name != "area")
    text = f"tf.image.resize_{name}({p.name}, {size}{w.random.choice(flags)})"
    # TensorFlow has no second derivatives of these, and none at all of areas.
    w.marks.add("once")
    # (What is nearest to a half pixel is a matter of rounding.)
    return f"tf.stop_gradient({text})" if name == "area" else text


def _scaled(w: Writer, p: Picture) -> str:
    size = [w.random.randint(1, 9), w.random.randint(1, 9)]
    boxes = [[0.0, 0.0, 1.0, 1.0], [0.25, 0.75, 0.5, 0.0], [-0.5, 0.25, 1.5, 0.5]]
    w.marks.add("once")
    return f"tf.image.crop_and_resize({p.name}, {boxes}, [0, 0, 0], {size})"


_WINDOWS: tuple[_Window, ...] = (
    *(_convolved, _convolved, _convolved, _with_holes, _with_holes, _by_depth, _by_depth),
    *(_back, _back, _pooled, _pooled, _pooled, _solid, _solid, _patches, _thickened),
)
_SINGLE: tuple[_Window, ...] = (_resized, _resized, _scaled)


def scene(w: Writer) -> None:
    """Rows made pictures of some size, and windows over these."""
    value = w.pick(
        lambda v: (
            v.is_float
            and v.ndim == 2
            and v.sizes[0].least > 0
            and 0 < (v.sizes[1].fixed or 0) <= 4
            and v.bits is not None
            and v.bits <= 6
            and v.largest <= 16
        )
    )
    if value is None:
        return
    height, width, depth = (w.random.randint(a, b) for a, b in ((2, 8), (2, 8), (1, 3)))
    p = Picture(w.fresh("scene"), value.dtype, height, width, depth)
    inner = value.sizes[1].fixed or 1
    pixels = height * width * depth
    numbers = f"np.arange({inner * pixels}).reshape({inner}, {pixels}) * 11 % 17 * 0.25 - 2"
    matrix = f"tf.constant({numbers}, tf.{value.dtype})"
    w.line(f"{p.name} = tf.matmul({value.name}, {matrix})")
    w.line(f"{p.name} = tf.reshape({p.name}, [-1, {height}, {width}, {depth}])")
    made = [_window(w, p) for _ in range(w.random.randint(1, 2))]
    for name in filter(None, made):
        _told(w, value, name)


def _window(w: Writer, p: Picture) -> str | None:
    kinds = _WINDOWS + (_SINGLE if p.dtype == "float32" else ())
    text = w.random.choice(kinds)(w, p)
    if text is None:
        return None
    name = w.fresh("seen")
    w.line(f"{name} = {text}")
    return name


def _told(w: Writer, value: Value, name: str) -> None:
    """What windows gave, as one number a picture or all of them, kept small."""
    if w.chance(0.5):
        text = f"tf.tanh(tf.reduce_mean({name}, [1, 2, 3]) * 0.125)[:1]"
        w.like(text, value, sizes=(Size(0, 1),), low=-1, high=1, bits=None)
    else:
        text = f"tf.reduce_sum(tf.sin({name} * 0.125) * tf.cos({name}[..., ::-1, :1] * 0.25))"
        w.like(f"tf.sin({text} * 0.0625)", value, sizes=(), low=-1, high=1, bits=None)


WINDOWS: list[Step] = [scene]
