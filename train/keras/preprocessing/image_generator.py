# SPDX-License-Identifier: Apache-2.0
"""`ImageDataGenerator`: pictures, normalized and changed at random."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend.settings import floatx, image_data_format
from .image_changes import apply_affine_transform, apply_brightness_shift, apply_channel_shift
from .image_iterators import DirectoryIterator, NumpyArrayIterator

if TYPE_CHECKING:
    pass


class ImageDataGenerator:
    """Changes pictures at random, and normalizes them.

    Args:
        featurewise_center, samplewise_center: whether the mean of all pictures, or of each, is
            taken away.
        featurewise_std_normalization, samplewise_std_normalization: whether pictures are divided by
            the deviation of all, or of each.
        zca_whitening, zca_epsilon: whether pictures are decorrelated, as `fit` learns.
        rotation_range, shear_range: the largest angles in degrees.
        width_shift_range, height_shift_range: shares of the size, or pixels, or a list of these.
        brightness_range: the least and the largest factor.
        zoom_range: the same, or the distance of both from 1.
        channel_shift_range: the largest shift of channels.
        fill_mode, cval, interpolation_order: as of apply_affine_transform.
        horizontal_flip, vertical_flip: whether half of the pictures are mirrored.
        rescale: what pictures are multiplied by.
        preprocessing_function: a function of each picture, before it is normalized.
        data_format: "channels_last" or "channels_first"; that of settings if None.
        validation_split: the share of the pictures that is the validation's.
        dtype: of batches.
    """

    def __init__(
        self,
        featurewise_center: bool = False,
        samplewise_center: bool = False,
        featurewise_std_normalization: bool = False,
        samplewise_std_normalization: bool = False,
        zca_whitening: bool = False,
        zca_epsilon: float = 1e-6,
        rotation_range: float = 0,
        width_shift_range: Any = 0.0,
        height_shift_range: Any = 0.0,
        brightness_range: Any = None,
        shear_range: float = 0.0,
        zoom_range: Any = 0.0,
        channel_shift_range: float = 0.0,
        fill_mode: str = "nearest",
        cval: float = 0.0,
        horizontal_flip: bool = False,
        vertical_flip: bool = False,
        rescale: float | None = None,
        preprocessing_function: Callable[[Any], Any] | None = None,
        data_format: str | None = None,
        validation_split: float = 0.0,
        dtype: Any = None,
        interpolation_order: int = 1,
    ) -> None:
        self.featurewise_center = featurewise_center or zca_whitening
        self.samplewise_center = samplewise_center
        self.featurewise_std_normalization = featurewise_std_normalization
        self.samplewise_std_normalization = samplewise_std_normalization
        self.zca_whitening, self.zca_epsilon = zca_whitening, zca_epsilon
        self.rotation_range, self.shear_range = rotation_range, shear_range
        self.width_shift_range, self.height_shift_range = width_shift_range, height_shift_range
        self.brightness_range = brightness_range
        self.channel_shift_range = channel_shift_range
        self.fill_mode, self.cval = fill_mode, cval
        self.horizontal_flip, self.vertical_flip = horizontal_flip, vertical_flip
        self.rescale = rescale
        self.preprocessing_function = preprocessing_function
        self.data_format = data_format or image_data_format()
        self.dtype = dtype or floatx()
        self.interpolation_order = interpolation_order
        first = self.data_format == "channels_first"
        self.channel_axis, self.row_axis, self.col_axis = (1, 2, 3) if first else (3, 1, 2)
        if validation_split and not 0 < validation_split < 1:
            raise ValueError(
                "`validation_split` must be strictly between 0 and 1.  Received: "
                f"{validation_split}"
            )
        self._validation_split = validation_split
        if isinstance(zoom_range, (int, float)):
            zoom_range = [1 - zoom_range, 1 + zoom_range]
        if len(zoom_range) != 2:
            raise ValueError(
                "`zoom_range` should be a float or a tuple or list of two floats. Received: "
                f"{zoom_range}"
            )
        self.zoom_range = list(zoom_range)
        self.mean: Any = None
        self.std: Any = None
        self.principal_components: Any = None

    def flow(
        self,
        x: Any,
        y: Any = None,
        batch_size: int = 32,
        shuffle: bool = True,
        sample_weight: Any = None,
        seed: int | None = None,
        save_to_dir: str | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
    ) -> NumpyArrayIterator:
        """Batches of an array of pictures; arguments as of NumpyArrayIterator."""
        return NumpyArrayIterator(
            x,
            y,
            self,
            batch_size=batch_size,
            shuffle=shuffle,
            sample_weight=sample_weight,
            seed=seed,
            data_format=self.data_format,
            save_to_dir=save_to_dir,
            save_prefix=save_prefix,
            save_format=save_format,
            subset=subset,
            dtype=self.dtype,
        )

    def flow_from_directory(
        self,
        directory: str,
        target_size: Any = (256, 256),
        color_mode: str = "rgb",
        classes: Any = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        save_to_dir: str | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        follow_links: bool = False,
        subset: str | None = None,
        interpolation: str = "nearest",
    ) -> DirectoryIterator:
        """Batches of pictures in folders; arguments as of DirectoryIterator."""
        return DirectoryIterator(
            directory,
            self,
            target_size=target_size,
            color_mode=color_mode,
            classes=classes,
            class_mode=class_mode,
            batch_size=batch_size,
            shuffle=shuffle,
            seed=seed,
            data_format=self.data_format,
            save_to_dir=save_to_dir,
            save_prefix=save_prefix,
            save_format=save_format,
            follow_links=follow_links,
            subset=subset,
            interpolation=interpolation,
            dtype=self.dtype,
        )

    def changed(self, x: Any) -> Any:
        """A picture changed at random, and normalized."""
        parameters = self.get_random_transform(x.shape)
        return self.standardize(self.apply_transform(x, parameters))

    def standardize(self, x: Any) -> Any:
        """A picture, or a batch, normalized; `fit` has to learn means of all before."""
        if self.preprocessing_function:
            x = self.preprocessing_function(x)
        if self.rescale:
            x = x * self.rescale
        if self.samplewise_center:
            x = x - np.mean(x, keepdims=True)
        if self.samplewise_std_normalization:
            x = x / (np.std(x, keepdims=True) + 1e-6)
        if self.featurewise_center and self.mean is not None:
            x = x - self.mean
        if self.featurewise_std_normalization and self.std is not None:
            x = x / (self.std + 1e-6)
        if self.zca_whitening and self.principal_components is not None:
            flat = np.reshape(x, (-1, np.prod(x.shape[-3:])))
            x = np.reshape(np.dot(flat, self.principal_components), x.shape)
        return x

    def get_random_transform(self, img_shape: Any, seed: int | None = None) -> dict[str, Any]:
        """Numbers of a change at random, by their names."""
        if seed is not None:
            np.random.seed(seed)
        draw = np.random.uniform
        turn = draw(-self.rotation_range, self.rotation_range) if self.rotation_range else 0
        tx = self._shift(self.height_shift_range, img_shape[self.row_axis - 1])
        ty = self._shift(self.width_shift_range, img_shape[self.col_axis - 1])
        shear = draw(-self.shear_range, self.shear_range) if self.shear_range else 0
        zx, zy = (
            (1, 1) if self.zoom_range == [1, 1] else draw(self.zoom_range[0], self.zoom_range[1], 2)
        )
        across = bool(np.random.random() < 0.5) and self.horizontal_flip
        down = bool(np.random.random() < 0.5) and self.vertical_flip
        shift = brightness = None
        if self.channel_shift_range:
            shift = draw(-self.channel_shift_range, self.channel_shift_range)
        if self.brightness_range is not None:
            brightness = draw(*self.brightness_range)
        return {
            "theta": turn,
            "tx": tx,
            "ty": ty,
            "shear": shear,
            "zx": zx,
            "zy": zy,
            "flip_horizontal": across,
            "flip_vertical": down,
            "channel_shift_intensity": shift,
            "brightness": brightness,
        }

    def _shift(self, given: Any, size: int) -> float:
        if not isinstance(given, (int, float)):
            shift = float(np.random.choice(given) * np.random.choice([-1, 1]))
        elif not given:
            return 0
        else:
            shift = np.random.uniform(-given, given)
        largest = np.max(given)
        return float(shift * size if largest < 1 else shift)

    def apply_transform(self, x: Any, transform_parameters: dict[str, Any]) -> Any:
        """A picture, changed by such numbers."""
        given = transform_parameters
        rows, columns, channels = self.row_axis - 1, self.col_axis - 1, self.channel_axis - 1
        x = apply_affine_transform(
            x,
            given.get("theta", 0),
            given.get("tx", 0),
            given.get("ty", 0),
            given.get("shear", 0),
            given.get("zx", 1),
            given.get("zy", 1),
            row_axis=rows,
            col_axis=columns,
            channel_axis=channels,
            fill_mode=self.fill_mode,
            cval=self.cval,
            order=self.interpolation_order,
        )
        if given.get("channel_shift_intensity") is not None:
            x = apply_channel_shift(x, given["channel_shift_intensity"], channels)
        if given.get("flip_horizontal", False):
            x = np.flip(x, columns)
        if given.get("flip_vertical", False):
            x = np.flip(x, rows)
        if given.get("brightness") is not None:
            x = apply_brightness_shift(x, given["brightness"])
        return x

    def random_transform(self, x: Any, seed: int | None = None) -> Any:
        """A picture changed at random, of the same shape."""
        return self.apply_transform(x, self.get_random_transform(x.shape, seed))

    def fit(self, x: Any, augment: bool = False, rounds: int = 1, seed: int | None = None) -> None:
        """Learns means, deviations and what decorrelates from pictures.

        Args:
            x: an array of pictures.
            augment: whether they are changed at random first.
            rounds: how often.
            seed: of the changes.

        Raises:
            ValueError: the array has not four axes.
        """
        x = np.asarray(x, dtype=self.dtype)
        if x.ndim != 4:
            raise ValueError(
                f"Input to `.fit()` should have rank 4. Got array with shape: {x.shape}"
            )
        if seed is not None:
            np.random.seed(seed)
        if augment:
            x = np.stack([self.random_transform(p) for _ in range(rounds) for p in x])
        axes = (0, self.row_axis, self.col_axis)
        shape = [1, 1, 1]
        shape[self.channel_axis - 1] = x.shape[self.channel_axis]
        if self.featurewise_center:
            self.mean = np.reshape(np.mean(x, axis=axes), shape)
            x = x - self.mean
        if self.featurewise_std_normalization:
            self.std = np.reshape(np.std(x, axis=axes), shape)
            x = x / (self.std + 1e-6)
        if self.zca_whitening:
            flat = np.reshape(x, (len(x), -1))
            u, s, _ = np.linalg.svd(np.dot(flat.T, flat) / len(flat))
            scale = 1.0 / np.sqrt(s[np.newaxis] + self.zca_epsilon)
            self.principal_components = (u * scale).dot(u.T)
