# SPDX-License-Identifier: Apache-2.0
"""Batches of pictures: of an array, or of files in folders that are named as their classes."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend.settings import floatx, image_data_format
from ..utils.arrays import to_categorical
from ..utils.sequences import Sequence
from .image_arrays import array_to_img, img_to_array, load_img

if TYPE_CHECKING:
    pass


_ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".ppm", ".tif", ".tiff")


class Iterator(Sequence):
    """Batches by numbers of examples; classes say what a batch of numbers is.

    Args:
        n: the number of examples.
        batch_size: examples of a batch.
        shuffle: whether they come in another order in each epoch.
        seed: of the order.
    """

    def __init__(self, n: int, batch_size: int, shuffle: bool, seed: int | None) -> None:
        self.n, self.batch_size, self.shuffle, self.seed = n, batch_size, shuffle, seed
        self.batch_index = 0
        self.total_batches_seen = 0
        self.lock = threading.Lock()
        self.index_array: Any = None
        self.index_generator = self._flow_index()

    def _set_index_array(self) -> None:
        self.index_array = np.arange(self.n)
        if self.shuffle:
            self.index_array = np.random.permutation(self.n)

    def __getitem__(self, idx: int) -> Any:
        if idx >= len(self):
            raise ValueError(
                f"Asked to retrieve element {idx}, but the Sequence has length {len(self)}"
            )
        if self.seed is not None:
            np.random.seed(self.seed + self.total_batches_seen)
        self.total_batches_seen += 1
        if self.index_array is None:
            self._set_index_array()
        rows = self.index_array[self.batch_size * idx : self.batch_size * (idx + 1)]
        return self._get_batches_of_transformed_samples(rows)

    def __len__(self) -> int:
        return (self.n + self.batch_size - 1) // self.batch_size

    def on_epoch_end(self) -> None:
        """Draws another order."""
        self._set_index_array()

    def reset(self) -> None:
        """Begins with the first batch."""
        self.batch_index = 0

    def _flow_index(self) -> Any:
        self.reset()
        while True:
            if self.seed is not None:
                np.random.seed(self.seed + self.total_batches_seen)
            if self.batch_index == 0:
                self._set_index_array()
            current = self.batch_index * self.batch_size % self.n
            is_last = self.n <= current + self.batch_size
            self.batch_index = 0 if is_last else self.batch_index + 1
            self.total_batches_seen += 1
            yield self.index_array[current : current + self.batch_size]

    def __iter__(self) -> Any:
        return self

    def __next__(self, *args: Any) -> Any:
        with self.lock:
            rows = next(self.index_generator)
        return self._get_batches_of_transformed_samples(rows)

    next = __next__

    def _get_batches_of_transformed_samples(self, index_array: Any) -> Any:
        raise NotImplementedError


def _check_subset(subset: str) -> None:
    if subset not in ("training", "validation"):
        raise ValueError(f'Invalid subset name: {subset}; expected "training" or "validation".')


class NumpyArrayIterator(Iterator):
    """Batches of an array of pictures, changed at random by a generator.

    Args:
        x: the pictures, or them and further arrays.
        y: their labels; None for none.
        image_data_generator: the ImageDataGenerator.
        batch_size, shuffle, seed: as of Iterator.
        sample_weight: weights of examples.
        data_format: "channels_last" or "channels_first"; that of settings if None.
        save_to_dir, save_prefix, save_format: where changed pictures are written.
        subset: "training" or "validation".
        dtype: of the batches.
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        image_data_generator: Any,
        batch_size: int = 32,
        shuffle: bool = False,
        sample_weight: Any = None,
        seed: int | None = None,
        data_format: str | None = None,
        save_to_dir: str | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
        dtype: Any = None,
    ) -> None:
        more: list[Any] = []
        if isinstance(x, (tuple, list)) and not np.isscalar(x[0]) and len(np.shape(x[0])) == 4:
            x, rest = x[0], x[1]
            more = [np.asarray(part) for part in (rest if isinstance(rest, list) else [rest])]
        arrays = [np.asarray(x, dtype=dtype or floatx()), *more]
        arrays += [None if part is None else np.asarray(part) for part in (y, sample_weight)]
        if any(part is not None and len(part) != len(arrays[0]) for part in arrays):
            raise ValueError("`x` (images tensor) and `y` (labels) should have the same length.")
        if subset is not None:
            _check_subset(subset)
            at = int(len(arrays[0]) * image_data_generator._validation_split)
            cut = slice(None, at) if subset == "validation" else slice(at, None)
            arrays = [None if part is None else part[cut] for part in arrays]
        self.x, *self.x_misc, self.y, self.sample_weight = arrays
        if self.x.ndim != 4:
            raise ValueError(
                "Input data in `NumpyArrayIterator` should have rank 4. You passed an array with "
                f"shape {self.x.shape}"
            )
        self.dtype = dtype or floatx()
        self.image_data_generator = image_data_generator
        self.data_format = data_format or image_data_format()
        self.save_to_dir, self.save_prefix = save_to_dir, save_prefix
        self.save_format = save_format
        super().__init__(len(self.x), batch_size, shuffle, seed)

    def _get_batches_of_transformed_samples(self, index_array: Any) -> Any:
        batch = np.zeros((len(index_array), *self.x.shape[1:]), dtype=self.dtype)
        for i, j in enumerate(index_array):
            batch[i] = self.image_data_generator.changed(self.x[j].astype(self.dtype))
        if self.save_to_dir:
            _write(self, batch, index_array)
        found: Any = [batch, *(part[index_array] for part in self.x_misc)]
        found = found if self.x_misc else batch
        if self.y is None:
            return found
        parts = (found, self.y[index_array])
        if self.sample_weight is None:
            return parts
        return (*parts, self.sample_weight[index_array])


def _write(iterator: Any, batch: Any, index_array: Any) -> None:
    for picture, index in zip(batch, index_array):
        image = array_to_img(picture, iterator.data_format, scale=True)
        name = f"{iterator.save_prefix}_{index}_{np.random.randint(10**7)}.{iterator.save_format}"
        image.save(os.path.join(iterator.save_to_dir, name))


class DirectoryIterator(Iterator):
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

    def __init__(
        self,
        directory: str,
        image_data_generator: Any,
        target_size: Any = (256, 256),
        color_mode: str = "rgb",
        classes: Any = None,
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
        dtype: Any = None,
    ) -> None:
        if class_mode not in ("categorical", "binary", "sparse", "input", None):
            raise ValueError(f"Invalid class_mode: {class_mode}")
        self.directory, self.class_mode = directory, class_mode
        self.image_data_generator = image_data_generator
        self.target_size = tuple(target_size)
        self.color_mode, self.interpolation = color_mode, interpolation
        self.data_format = data_format or image_data_format()
        self.dtype = dtype or floatx()
        self.save_to_dir, self.save_prefix = save_to_dir, save_prefix
        self.save_format = save_format
        if not classes:
            folders = sorted(os.listdir(directory))
            classes = [f for f in folders if os.path.isdir(os.path.join(directory, f))]
        self.num_classes = len(classes)
        self.class_indices = {name: number for number, name in enumerate(classes)}
        self.filenames: list[str] = []
        numbers: list[int] = []
        if subset is not None:
            _check_subset(subset)
        split = image_data_generator._validation_split if subset else None
        for name in classes:
            files = sorted(_pictures(os.path.join(directory, name), follow_links))
            if split is not None:
                at = int(len(files) * split)
                files = files[:at] if subset == "validation" else files[at:]
            self.filenames += [os.path.relpath(file, directory) for file in files]
            numbers += [self.class_indices[name]] * len(files)
        self.classes = np.array(numbers, dtype="int32")
        self.samples = len(self.filenames)
        print(f"Found {self.samples} images belonging to {self.num_classes} classes.")
        super().__init__(self.samples, batch_size, shuffle, seed)

    @property
    def filepaths(self) -> list[str]:
        """The files."""
        return [os.path.join(self.directory, name) for name in self.filenames]

    @property
    def image_shape(self) -> tuple[int, ...]:
        """The shape of one picture."""
        channels = {"rgba": 4, "rgb": 3, "grayscale": 1}[self.color_mode]
        if self.data_format == "channels_last":
            return (*self.target_size, channels)
        return (channels, *self.target_size)

    def _get_batches_of_transformed_samples(self, index_array: Any) -> Any:
        batch = np.zeros((len(index_array), *self.image_shape), dtype=self.dtype)
        for i, j in enumerate(index_array):
            image = load_img(
                os.path.join(self.directory, self.filenames[j]),
                color_mode=self.color_mode,
                target_size=self.target_size,
                interpolation=self.interpolation,
            )
            picture = img_to_array(image, data_format=self.data_format)
            batch[i] = self.image_data_generator.changed(picture)
        if self.save_to_dir:
            _write(self, batch, index_array)
        if self.class_mode is None:
            return batch
        if self.class_mode == "input":
            return batch, batch.copy()
        labels = self.classes[index_array]
        if self.class_mode == "categorical":
            return batch, to_categorical(labels, self.num_classes, dtype=self.dtype)
        return batch, labels.astype(self.dtype)


def _pictures(folder: str, follow_links: bool) -> list[str]:
    return [
        os.path.join(root, file)
        for root, _, files in os.walk(folder, followlinks=follow_links)
        for file in files
        if file.lower().endswith(_ENDINGS)
    ]
