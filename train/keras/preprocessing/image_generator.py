# SPDX-License-Identifier: Apache-2.0
"""`ImageDataGenerator`: pictures, normalized and changed at random."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend.settings import floatx, image_data_format
from .image_changes import apply_affine_transform, apply_brightness_shift, apply_channel_shift
from .image_files import DirectoryIterator
from .image_iterators import NumpyArrayIterator, warn_of_channels
from .image_tables import DataFrameIterator

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


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

    Raises:
        ValueError: the format, the share of the validation or a range is none.
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
        brightness_range: Sequence[float] | None = None,
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
        dtype: DTypeLike | None = None,
        interpolation_order: int = 1,
    ) -> None:
        self.featurewise_center = featurewise_center
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
        self.data_format = image_data_format() if data_format is None else data_format
        if self.data_format not in ("channels_last", "channels_first"):
            raise ValueError(
                '`data_format` should be `"channels_last"` (channel after row and column) or '
                '`"channels_first"` (channel before row and column). Received: '
                f"{self.data_format}"
            )
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
        self.zoom_range = _two_factors(zoom_range)
        self._decide_what_goes_before()
        if brightness_range is not None and not _is_pair(brightness_range):
            raise ValueError(
                "`brightness_range should be tuple or list of two floats. Received: "
                f"{brightness_range}"
            )
        self.mean: Any = None
        self.std: Any = None
        self.principal_components: Any = None

    def _decide_what_goes_before(self) -> None:
        """What is divided or decorrelated is centred first; decorrelating divides by itself."""
        if self.zca_whitening:
            self._override("zca_whitening", "featurewise_center", True)
            self._override("zca_whitening", "featurewise_std_normalization", False)
        if self.featurewise_std_normalization:
            self._override("featurewise_std_normalization", "featurewise_center", True)
        if self.samplewise_std_normalization:
            self._override("samplewise_std_normalization", "samplewise_center", True)

    def _override(self, given: str, name: str, value: bool) -> None:
        if bool(getattr(self, name)) is value:
            return
        setattr(self, name, value)
        warnings.warn(
            f"This ImageDataGenerator specifies `{given}`, which overrides setting of `{name}`.",
            stacklevel=4,
        )

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
        target_size: Sequence[int] = (256, 256),
        color_mode: str = "rgb",
        classes: Sequence[str] | None = None,
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

    def flow_from_dataframe(
        self,
        dataframe: Any,
        directory: str | None = None,
        x_col: str = "filename",
        y_col: str | list[str] = "class",
        weight_col: str | None = None,
        target_size: Sequence[int] = (256, 256),
        color_mode: str = "rgb",
        classes: Sequence[str] | None = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        save_to_dir: str | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
        interpolation: str = "nearest",
        validate_filenames: bool = True,
        **kwargs: Any,
    ) -> DataFrameIterator:
        """Batches of pictures that a table of pandas lists; arguments as of DataFrameIterator.

        `class_mode="other"` is an old name of "raw"; `has_ext`, `sort` and `drop_duplicates` were
        arguments once and do nothing.
        """
        for name in ("has_ext", "sort", "drop_duplicates"):
            if name in kwargs:
                warnings.warn(f"{name} is deprecated", DeprecationWarning, stacklevel=2)
        if class_mode == "other":
            warnings.warn('`class_mode` "other" is now "raw"', DeprecationWarning, stacklevel=2)
            class_mode = "raw"
        return DataFrameIterator(
            dataframe,
            directory,
            self,
            x_col=x_col,
            y_col=y_col,
            weight_col=weight_col,
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
            subset=subset,
            interpolation=interpolation,
            validate_filenames=validate_filenames,
            dtype=self.dtype,
        )

    def changed(self, x: Any) -> Any:
        """A picture changed at random, and normalized."""
        parameters = self.get_random_transform(x.shape)
        return self.standardize(self.apply_transform(x, parameters))

    def standardize(self, x: Any) -> Any:
        """A picture, or a batch, normalized in its place; `fit` has to learn means of all before.

        It warns of what was not learnt.
        """
        if self.preprocessing_function:
            x = self.preprocessing_function(x)
        if self.rescale:
            x *= self.rescale
        if self.samplewise_center:
            x -= np.mean(x, keepdims=True)
        if self.samplewise_std_normalization:
            x /= np.std(x, keepdims=True) + 1e-6
        if self.featurewise_center and self._has_learnt("featurewise_center", self.mean):
            x -= self.mean
        if self.featurewise_std_normalization and self._has_learnt(
            "featurewise_std_normalization", self.std
        ):
            x /= self.std + 1e-6
        if self.zca_whitening and self._has_learnt("zca_whitening", self.principal_components):
            flat = np.reshape(x, (-1, np.prod(x.shape[-3:])))
            x = np.reshape(np.dot(flat, self.principal_components), x.shape)
        return x

    def _has_learnt(self, given: str, value: Any) -> bool:
        if value is None:
            warnings.warn(
                f"This ImageDataGenerator specifies `{given}`, but it hasn't been fit on any "
                "training data. Fit it first by calling `.fit(numpy_data)`.",
                stacklevel=3,
            )
        return value is not None

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
        across = (np.random.random() < 0.5) * self.horizontal_flip
        down = (np.random.random() < 0.5) * self.vertical_flip
        shift = brightness = None
        if self.channel_shift_range:
            shift = draw(-self.channel_shift_range, self.channel_shift_range)
        if self.brightness_range is not None:
            brightness = draw(self.brightness_range[0], self.brightness_range[1])
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

    def _shift(self, given: Any, size: int) -> Any:
        """A shift in pixels: a share of the size if all are below one, else one of pixels."""
        if not given:
            return 0
        if isinstance(given, (int, np.integer)) and given < 1:
            given = float(given)
        if isinstance(given, (float, np.floating)):
            shift = np.random.uniform(-given, given)
        else:  # a list to choose from, or a number below which any whole one is chosen
            shift = np.random.choice(given) * np.random.choice([-1, 1])
        return shift * size if np.max(given) < 1 else shift

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
        warn_of_channels(
            "Expected input to be images (as Numpy array) following", x.shape, self.data_format
        )
        if seed is not None:
            np.random.seed(seed)
        x = x * self.rescale if self.rescale else x
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


def _is_pair(given: Any) -> bool:
    return isinstance(given, (tuple, list)) and len(given) == 2


def _two_factors(given: Any) -> list[float]:
    if isinstance(given, (int, float)):
        return [1 - given, 1 + given]
    if len(given) == 2 and all(isinstance(value, (int, float)) for value in given):
        return list(given)
    raise ValueError(
        f"`zoom_range` should be a float or a tuple or list of two floats. Received: {given}"
    )
