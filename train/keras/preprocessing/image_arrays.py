# SPDX-License-Identifier: Apache-2.0
"""Pictures as arrays and as files; Pillow reads and writes these."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np

from ..backend.settings import floatx, image_data_format

_MODES = {"grayscale": "L", "rgba": "RGBA", "rgb": "RGB"}


def pillow() -> Any:
    """Pillow's module of pictures; an ImportError says how it is installed."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("pictures need Pillow: pip install Pillow") from error
    return Image


def interpolations() -> dict[str, Any]:
    """How pictures are resized: name -> Pillow's constant."""
    image = pillow()
    names = ("nearest", "bilinear", "bicubic", "hamming", "box", "lanczos")
    return {name: getattr(image, name.upper()) for name in names if hasattr(image, name.upper())}


def load_img(
    path: Any,
    grayscale: bool = False,
    color_mode: str = "rgb",
    target_size: Any = None,
    interpolation: str = "nearest",
) -> Any:
    """A picture of Pillow from a file.

    Args:
        path: the file.
        grayscale: the old form of color_mode="grayscale".
        color_mode: "grayscale", "rgb" or "rgba".
        target_size: (height, width) that it is resized to.
        interpolation: how.

    Raises:
        ValueError: the mode or the interpolation is unknown.
        ImportError: Pillow is not installed.
    """
    mode = "grayscale" if grayscale else color_mode
    if mode not in _MODES:
        raise ValueError('color_mode must be "grayscale", "rgb", or "rgba"')
    with open(path, "rb") as file:  # read whole: Pillow keeps files open
        image = pillow().open(io.BytesIO(file.read()))
    if image.mode != _MODES[mode] and not (mode == "grayscale" and image.mode in ("I;16", "I")):
        image = image.convert(_MODES[mode])
    if target_size is None:
        return image
    size = (target_size[1], target_size[0])
    if image.size == size:
        return image
    known = interpolations()
    if interpolation not in known:
        raise ValueError(
            f"Invalid interpolation method {interpolation} specified. Supported methods are "
            f"{', '.join(known)}"
        )
    return image.resize(size, known[interpolation])


def img_to_array(img: Any, data_format: str | None = None, dtype: Any = None) -> Any:
    """A picture of Pillow as an array of three axes; ValueError for an unknown format."""
    data_format = data_format or image_data_format()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Unknown data_format: {data_format}")
    x = np.asarray(img, dtype=dtype or floatx())
    if x.ndim == 2:
        x = x[..., None]
    elif x.ndim != 3:
        raise ValueError(f"Unsupported image shape: {x.shape}")
    return x.transpose(2, 0, 1) if data_format == "channels_first" else x


def array_to_img(
    x: Any, data_format: str | None = None, scale: bool = True, dtype: Any = None
) -> Any:
    """A picture of Pillow from an array of three axes.

    Args:
        x: the array.
        data_format: "channels_last" or "channels_first"; that of settings if None.
        scale: whether values are stretched to 0 … 255.
        dtype: that the values are taken in first.

    Raises:
        ValueError: the format is unknown, or the array has other axes or channels.
    """
    data_format = data_format or image_data_format()
    x = np.asarray(x, dtype=dtype or floatx())
    if x.ndim != 3:
        raise ValueError(
            f"Expected image array to have rank 3 (single image). Got array with shape: {x.shape}"
        )
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Invalid data_format: {data_format}")
    if data_format == "channels_first":
        x = x.transpose(1, 2, 0)
    if scale:
        x = x - np.min(x)
        largest = np.max(x)
        x = x / largest * 255 if largest != 0 else x
    modes = {4: "RGBA", 3: "RGB", 1: "L"}
    if x.shape[2] not in modes:
        raise ValueError(f"Unsupported channel number: {x.shape[2]}")
    pixels = x[:, :, 0] if x.shape[2] == 1 else x
    if x.shape[2] == 1 and np.max(x) > 255:
        return pillow().fromarray(pixels.astype("int32"), "I")
    return pillow().fromarray(pixels.astype("uint8"), modes[x.shape[2]])


def save_img(
    path: Any,
    x: Any,
    data_format: str | None = None,
    file_format: str | None = None,
    scale: bool = True,
    **kwargs: Any,
) -> None:
    """Writes an array as a picture; arguments as of array_to_img, further ones as of Pillow."""
    image = array_to_img(x, data_format=data_format, scale=scale)
    if image.mode == "RGBA" and file_format in ("jpg", "jpeg"):
        warnings.warn(
            "The JPG format does not support RGBA images, converting to RGB.", stacklevel=2
        )
        image = image.convert("RGB")
    image.save(path, format=file_format, **kwargs)
