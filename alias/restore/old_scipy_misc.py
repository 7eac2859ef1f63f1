# SPDX-License-Identifier: Apache-2.0
"""`scipy.misc`: pictures by Pillow, and functions that have moved."""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image
from scipy.special import comb as comb
from scipy.special import factorial as factorial
from scipy.special import factorial2 as factorial2
from scipy.special import factorialk as factorialk
from scipy.special import logsumexp as logsumexp

__all__ = [
    *("ascent", "bytescale", "central_diff_weights", "comb", "derivative", "face", "factorial"),
    *("factorial2", "factorialk", "fromimage", "imfilter", "imread", "imresize", "imrotate"),
    *("imsave", "imshow", "logsumexp", "toimage"),
]

_FILTERS = {
    "nearest": Image.Resampling.NEAREST,
    "lanczos": Image.Resampling.LANCZOS,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "cubic": Image.Resampling.BICUBIC,
}


def bytescale(data: Any, cmin: Any = None, cmax: Any = None, high: int = 255, low: int = 0) -> Any:
    """Scales what is not of bytes to the range of bytes."""
    data = np.asarray(data)
    if data.dtype == np.uint8:
        return data
    if high < low or low < 0 or high > 255:
        raise ValueError("`low` and `high` must be between 0 and 255, in that order.")
    bottom = data.min() if cmin is None else cmin
    top = data.max() if cmax is None else cmax
    if top < bottom:
        raise ValueError("`cmax` should be larger than `cmin`.")
    scale = float(high - low) / ((float(top) - float(bottom)) or 1.0)
    scaled = (data - bottom) * scale + low
    return (scaled.clip(low, high) + 0.5).astype(np.uint8)


def fromimage(im: Image.Image, flatten: bool = False, mode: str | None = None) -> Any:
    """The array of a picture."""
    if mode is not None and mode != im.mode:
        im = im.convert(mode)
    elif mode is None and im.mode == "P":
        im = im.convert("RGBA" if "transparency" in im.info else "RGB")
    if flatten:
        im = im.convert("F")
    elif im.mode == "1":
        im = im.convert("L")
    return np.array(im)


def imread(name: Any, flatten: bool = False, mode: str | None = None) -> Any:
    """The array of a picture in a file."""
    with Image.open(name) as im:
        return fromimage(im, flatten=flatten, mode=mode)


def toimage(
    arr: Any,
    high: int = 255,
    low: int = 0,
    cmin: Any = None,
    cmax: Any = None,
    pal: Any = None,
    mode: str | None = None,
    channel_axis: int | None = None,
) -> Image.Image:
    """A picture of an array; what is not of bytes is scaled from its least to its greatest."""
    data = np.asarray(arr)
    if data.ndim == 2:
        return _grey(data, high, low, cmin, cmax, pal, mode)
    if data.ndim != 3 or (3 not in data.shape and 4 not in data.shape):
        raise ValueError("'arr' does not have a suitable array shape for any mode.")
    axis = channel_axis
    if axis is None:
        channels = 3 if 3 in data.shape else 4
        axis = max(i for i in range(3) if data.shape[i] == channels)
        if channels == 3 and data.shape[2] != 3:
            axis = data.shape.index(3)
    picture = np.moveaxis(bytescale(data, cmin, cmax, high, low), axis, 2)
    default = "RGB" if picture.shape[2] == 3 else "RGBA"
    image = Image.fromarray(np.ascontiguousarray(picture))
    return (
        image
        if mode in (None, default)
        else Image.frombytes(str(mode), (picture.shape[1], picture.shape[0]), picture.tobytes())
    )


def _grey(
    data: Any, high: int, low: int, cmin: Any, cmax: Any, pal: Any, mode: str | None
) -> Image.Image:
    if mode == "F":
        return Image.fromarray(data.astype(np.float32))
    if mode == "I":
        return Image.fromarray(data.astype(np.int32))
    scaled = bytescale(data, cmin, cmax, high, low)
    image = Image.fromarray(scaled)
    if mode == "P" or pal is not None:
        image = image.convert("P")
        if pal is not None:
            image.putpalette(np.asarray(pal, np.uint8).tobytes())
    return image.convert("1") if mode == "1" else image


def imsave(name: Any, arr: Any, format: str | None = None) -> None:
    """Writes an array as a picture, scaled from its least to its greatest unless of bytes."""
    image = toimage(arr, channel_axis=2 if np.ndim(arr) == 3 else None)
    image.save(name) if format is None else image.save(name, format)


def imresize(arr: Any, size: Any, interp: str = "bilinear", mode: str | None = None) -> Any:
    """An array as a picture of another size: a percentage, a factor, or (height, width)."""
    image = toimage(arr, mode=mode)
    if isinstance(size, (int, np.integer)):
        new = tuple((np.array(image.size) * (int(size) / 100.0)).astype(int))
    elif isinstance(size, (float, np.floating)):
        new = tuple((np.array(image.size) * float(size)).astype(int))
    else:
        new = (int(size[1]), int(size[0]))
    return fromimage(image.resize(new, resample=_FILTERS[interp]))


def imrotate(arr: Any, angle: float, interp: str = "bilinear") -> Any:
    """An array as a picture, rotated by an angle in degrees."""
    return fromimage(toimage(arr).rotate(angle, resample=_FILTERS[interp]))


def imfilter(arr: Any, ftype: str) -> Any:
    """An array as a picture, through one of Pillow's filters."""
    from PIL import ImageFilter

    return fromimage(toimage(arr).filter(getattr(ImageFilter, ftype.upper())))


def imshow(arr: Any) -> None:
    """Shows an array as a picture."""
    toimage(arr).show()


def face(gray: bool = False) -> Any:
    """The picture of a raccoon, which SciPy downloads."""
    from scipy import datasets

    return datasets.face(gray=gray)


def ascent() -> Any:
    """The picture of stairs, which SciPy downloads."""
    from scipy import datasets

    return datasets.ascent()


def central_diff_weights(Np: int, ndiv: int = 1) -> Any:
    """Weights of a derivative by an odd number of points."""
    if Np < ndiv + 1 or Np % 2 == 0:
        raise ValueError("The number of points must be odd, and at least the derivative order + 1.")
    half = Np >> 1
    powers = np.vander(np.arange(-half, half + 1.0), increasing=True)
    return factorial(ndiv) * np.linalg.inv(powers)[ndiv]


def derivative(
    func: Any, x0: float, dx: float = 1.0, n: int = 1, args: tuple[Any, ...] = (), order: int = 3
) -> Any:
    """The n-th derivative of a function by differences."""
    weights = central_diff_weights(order, n)
    half = order >> 1
    values = [func(x0 + (k - half) * dx, *args) for k in range(order)]
    return sum(w * v for w, v in zip(weights, values)) / dx**n
