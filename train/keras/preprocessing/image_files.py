# SPDX-License-Identifier: Apache-2.0
"""Batches of pictures in files: in folders that are named as their classes, or of any list."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator as Iterating
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend.settings import floatx, image_data_format
from .image_arrays import img_to_array, load_img
from .image_iterators import Iterator, write_pictures

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from .image_generator import ImageDataGenerator

ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".ppm", ".tif", ".tiff")

_CHANNELS = {"rgba": 4, "rgb": 3, "grayscale": 1}


class FileBatches(Iterator):
    """Batches of pictures in files, changed at random by a generator.

    Classes say which files they are, by `filepaths`, and what belongs to them, by `class_mode`:
    "categorical", "binary" and "sparse" of `classes`, "input" of the pictures themselves, "raw" and
    "multi_output" of `labels`; None for nothing.
    """

    allowed_class_modes: frozenset[str | None] = frozenset()
    class_mode: str | None
    class_indices: dict[str, int]
    classes: Any
    filenames: list[str]
    directory: str
    dtype: Any

    def set_processing_attrs(
        self,
        image_data_generator: Any,
        target_size: Sequence[int],
        color_mode: str,
        data_format: str | None,
        save_to_dir: str | None,
        save_prefix: str,
        save_format: str,
        subset: str | None,
        interpolation: str,
    ) -> None:
        """Keeps how files become batches; arguments as of DirectoryIterator.

        Raises:
            ValueError: the mode of colours or the subset is unknown.
        """
        self.image_data_generator = image_data_generator
        self.target_size = tuple(target_size)
        if color_mode not in _CHANNELS:
            raise ValueError(
                "Invalid color mode:", color_mode, '; expected "rgb", "rgba", or "grayscale".'
            )
        self.color_mode, self.interpolation = color_mode, interpolation
        self.data_format = data_format or image_data_format()
        channels = (_CHANNELS[color_mode],)
        self.image_shape = (
            self.target_size + channels
            if self.data_format == "channels_last"
            else channels + self.target_size
        )
        self.save_to_dir, self.save_prefix = save_to_dir, save_prefix
        self.save_format, self.subset = save_format, subset
        self.split: tuple[float, float] | None = None
        if subset is not None:
            share = image_data_generator._validation_split
            parts = {"validation": (0, share), "training": (share, 1)}
            if subset not in parts:
                raise ValueError(
                    f'Invalid subset name: {subset};expected "training" or "validation"'
                )
            self.split = parts[subset]

    def check_class_mode(self, class_mode: str | None) -> None:
        """Raises a ValueError for a mode that the class has not."""
        if class_mode not in self.allowed_class_modes:
            raise ValueError(
                f"Invalid class_mode: {class_mode}; expected one of: "
                f"{set(self.allowed_class_modes)}"
            )

    def cut(self, files: Any) -> Any:
        """What of a list is the subset's."""
        if self.split is None:
            return files
        start, stop = (int(share * len(files)) for share in self.split)
        return files[start:stop]

    @property
    def filepaths(self) -> list[str]:
        """The files."""
        return [os.path.join(self.directory, name) for name in self.filenames]

    @property
    def labels(self) -> Any:
        """What belongs to each file."""
        return self.classes

    @property
    def sample_weight(self) -> Any:
        """The weight of each file; None if all weigh the same."""
        return None

    def _get_batches_of_transformed_samples(self, index_array: np.ndarray) -> Any:
        batch = np.zeros((len(index_array), *self.image_shape), dtype=self.dtype)
        paths = self.filepaths
        for i, j in enumerate(index_array):
            image = load_img(
                paths[j],
                color_mode=self.color_mode,
                target_size=self.target_size,
                interpolation=self.interpolation,
            )
            picture = img_to_array(image, data_format=self.data_format)
            image.close()
            generator = self.image_data_generator
            batch[i] = generator.changed(picture) if generator else picture
        if self.save_to_dir:
            write_pictures(self, batch, index_array, 10**7)
        if self.class_mode is None:
            return batch
        labels = self._labels_of(batch, index_array)
        if self.sample_weight is None:
            return batch, labels
        return batch, labels, self.sample_weight[index_array]

    def _labels_of(self, batch: np.ndarray, index_array: np.ndarray) -> Any:
        if self.class_mode == "input":
            return batch.copy()
        if self.class_mode == "multi_output":
            return [output[index_array] for output in self.labels]
        if self.class_mode == "raw":
            return self.labels[index_array]
        classes = [self.classes[n] for n in index_array]
        if self.class_mode != "categorical":
            return np.array(classes, dtype=self.dtype)
        rows = np.zeros((len(batch), len(self.class_indices)), dtype=self.dtype)
        for row, found in zip(rows, classes):
            row[found] = 1  # one class, or a list of several
        return rows


class DirectoryIterator(FileBatches):
    """Batches of pictures in folders, one for each class, changed at random by a generator.

    Args:
        directory: the folder of these folders.
        image_data_generator: the ImageDataGenerator.
        target_size: (height, width) of the pictures.
        color_mode: "grayscale", "rgb" or "rgba".
        classes: the folders; all if None.
        class_mode: "categorical", "binary", "sparse" or "input"; None for no labels.
        batch_size, shuffle, seed: as of Iterator.
        data_format, save_to_dir, save_prefix, save_format, subset, dtype: as of NumpyArrayIterator.
        follow_links: whether links to folders are followed.
        interpolation: how pictures are resized.

    Raises:
        ValueError: a mode is unknown.
    """

    allowed_class_modes = frozenset(("categorical", "binary", "sparse", "input", None))

    def __init__(
        self,
        directory: str,
        image_data_generator: ImageDataGenerator,
        target_size: Sequence[int] = (256, 256),
        color_mode: str = "rgb",
        classes: Sequence[str] | None = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        data_format: str | None = None,
        save_to_dir: str | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        follow_links: bool = False,
        subset: str | None = None,
        interpolation: str = "nearest",
        dtype: DTypeLike | None = None,
    ) -> None:
        self.set_processing_attrs(
            image_data_generator,
            target_size,
            color_mode,
            data_format,
            save_to_dir,
            save_prefix,
            save_format,
            subset,
            interpolation,
        )
        self.check_class_mode(class_mode)
        self.directory, self.class_mode = directory, class_mode
        self.dtype = dtype or floatx()
        if not classes:
            folders = sorted(os.listdir(directory))
            classes = [f for f in folders if os.path.isdir(os.path.join(directory, f))]
        self.num_classes = len(classes)
        self.class_indices = {name: number for number, name in enumerate(classes)}
        self.filenames = []
        numbers: list[int] = []
        for name in classes:
            files = self.cut(list(_pictures(os.path.join(directory, name), follow_links)))
            self.filenames += [os.path.relpath(file, directory) for file in files]
            numbers += [self.class_indices[name]] * len(files)
        self.classes = np.array(numbers, dtype="int32")
        self.samples = len(self.filenames)
        print(f"Found {self.samples} images belonging to {self.num_classes} classes.")
        super().__init__(self.samples, batch_size, shuffle, seed)


def _pictures(folder: str, follow_links: bool) -> Iterating[str]:
    """The pictures in a folder and those below it: folders in order, and files in each."""
    for root, _, files in sorted(os.walk(folder, followlinks=follow_links)):
        for file in sorted(files):
            if file.lower().endswith(".tiff"):
                warnings.warn(
                    'Using ".tiff" files with multiple bands will cause distortion. Please verify '
                    "your output.",
                    stacklevel=4,
                )
            if file.lower().endswith(ENDINGS):
                yield os.path.join(root, file)
