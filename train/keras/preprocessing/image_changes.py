# SPDX-License-Identifier: Apache-2.0
"""Pictures turned, shifted, stretched and brightened; SciPy interpolates."""

from __future__ import annotations

from typing import Any

import numpy as np

from .image_arrays import array_to_img, img_to_array


def apply_affine_transform(
    x: Any,
    theta: float = 0,
    tx: float = 0,
    ty: float = 0,
    shear: float = 0,
    zx: float = 1,
    zy: float = 1,
    row_axis: int = 0,
    col_axis: int = 1,
    channel_axis: int = 2,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    order: int = 1,
) -> Any:
    """A picture after a rotation, a shift, a shear and a zoom, in this order about its middle.

    Args:
        x: an array of three axes.
        theta, shear: angles in degrees.
        tx, ty: along rows and columns.
        zx, zy: factors.
        row_axis, col_axis, channel_axis: the axes.
        fill_mode: what is beyond the edges: "constant", "nearest", "reflect" or "wrap".
        cval: the value beyond if constant.
        order: of the splines that interpolate.

    Raises:
        ImportError: SciPy is not installed.
    """
    try:
        from scipy import ndimage
    except ImportError as error:
        raise ImportError("changes of pictures need SciPy: pip install scipy") from error
    angle, slant = np.deg2rad(theta), np.deg2rad(shear)
    parts = []
    if theta:
        c, s = np.cos(angle), np.sin(angle)
        parts.append([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    if tx or ty:
        parts.append([[1, 0, tx], [0, 1, ty], [0, 0, 1]])
    if shear:
        parts.append([[1, -np.sin(slant), 0], [0, np.cos(slant), 0], [0, 0, 1]])
    if zx != 1 or zy != 1:
        parts.append([[zx, 0, 0], [0, zy, 0], [0, 0, 1]])
    if not parts:
        return x
    matrix = (
        np.linalg.multi_dot([np.eye(3), *map(np.array, parts)])
        if len(parts) > 1
        else np.array(parts[0])
    )
    middle = [x.shape[axis] / 2 + 0.5 for axis in (row_axis, col_axis)]
    there, back = np.eye(3), np.eye(3)
    there[:2, 2], back[:2, 2] = middle, [-value for value in middle]
    matrix = there @ matrix @ back
    channels = np.moveaxis(x, channel_axis, 0)
    changed = [
        ndimage.affine_transform(
            channel, matrix[:2, :2], matrix[:2, 2], order=order, mode=fill_mode, cval=cval
        )
        for channel in channels
    ]
    return np.moveaxis(np.stack(changed), 0, channel_axis)


def apply_channel_shift(x: Any, intensity: float, channel_axis: int = 0) -> Any:
    """A picture, all of whose channels are shifted within their own range."""
    x = np.moveaxis(x, channel_axis, 0)
    shifted = np.clip(x + intensity, np.min(x), np.max(x))
    return np.moveaxis(shifted, 0, channel_axis)


def apply_brightness_shift(x: Any, brightness: float) -> Any:
    """A picture, as bright as a factor says; Pillow brightens."""
    from PIL import ImageEnhance

    return img_to_array(ImageEnhance.Brightness(array_to_img(x)).enhance(brightness))


def random_rotation(
    x: Any,
    rg: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> Any:
    """A picture, turned by up to `rg` degrees."""
    return apply_affine_transform(
        x,
        theta=np.random.uniform(-rg, rg),
        row_axis=row_axis,
        col_axis=col_axis,
        channel_axis=channel_axis,
        fill_mode=fill_mode,
        cval=cval,
        order=interpolation_order,
    )


def random_shift(
    x: Any,
    wrg: float,
    hrg: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> Any:
    """A picture, shifted by up to these shares of its width and height."""
    tx = np.random.uniform(-hrg, hrg) * x.shape[row_axis]
    ty = np.random.uniform(-wrg, wrg) * x.shape[col_axis]
    return apply_affine_transform(
        x,
        tx=tx,
        ty=ty,
        row_axis=row_axis,
        col_axis=col_axis,
        channel_axis=channel_axis,
        fill_mode=fill_mode,
        cval=cval,
        order=interpolation_order,
    )


def random_shear(
    x: Any,
    intensity: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> Any:
    """A picture, sheared by up to so many degrees."""
    return apply_affine_transform(
        x,
        shear=np.random.uniform(-intensity, intensity),
        row_axis=row_axis,
        col_axis=col_axis,
        channel_axis=channel_axis,
        fill_mode=fill_mode,
        cval=cval,
        order=interpolation_order,
    )


def random_zoom(
    x: Any,
    zoom_range: Any,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> Any:
    """A picture, each of whose axes is zoomed by a factor between two numbers.

    Raises:
        ValueError: the range is not of two numbers.
    """
    if len(zoom_range) != 2:
        raise ValueError(
            f"`zoom_range` should be a tuple or list of two floats. Received: {zoom_range}"
        )
    zx, zy = (
        (1, 1)
        if tuple(zoom_range) == (1, 1)
        else np.random.uniform(zoom_range[0], zoom_range[1], 2)
    )
    return apply_affine_transform(
        x,
        zx=zx,
        zy=zy,
        row_axis=row_axis,
        col_axis=col_axis,
        channel_axis=channel_axis,
        fill_mode=fill_mode,
        cval=cval,
        order=interpolation_order,
    )


def random_channel_shift(x: Any, intensity_range: float, channel_axis: int = 0) -> Any:
    """A picture, whose channels are shifted by up to so much."""
    return apply_channel_shift(
        x, np.random.uniform(-intensity_range, intensity_range), channel_axis=channel_axis
    )


def random_brightness(x: Any, brightness_range: Any) -> Any:
    """A picture, as bright as a factor between two numbers; ValueError for other ranges."""
    if len(brightness_range) != 2:
        raise ValueError(
            f"`brightness_range should be tuple or list of two floats. Received: {brightness_range}"
        )
    return apply_brightness_shift(x, np.random.uniform(*brightness_range))
