# SPDX-License-Identifier: Apache-2.0
"""Batches of pictures whose files, classes and weights are columns of a table (of pandas)."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend.settings import floatx
from .image_files import ENDINGS, FileBatches

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from .image_generator import ImageDataGenerator

_WITHOUT_CLASSES = ("input", "multi_output", "raw", None)


class DataFrameIterator(FileBatches):
    """Batches of pictures that a table lists, changed at random by a generator.

    Args:
        dataframe: the table, a row for each picture.
        directory: the folder of the files; none if they are whole paths.
        image_data_generator: the ImageDataGenerator.
        x_col: the column of the files' names.
        y_col: that of the classes, or a list of columns.
        weight_col: that of the examples' weights; None for none.
        classes: the classes that are used; all if None.
        class_mode: "binary" and "sparse" of one class in words, "categorical" of a class or a list
            of several, "raw" of numbers, "multi_output" of several columns, "input" or None.
        target_size, color_mode, interpolation: as of DirectoryIterator.
        batch_size, shuffle, seed: as of Iterator.
        data_format, save_to_dir, save_prefix, save_format, subset, dtype: as of NumpyArrayIterator.
        validate_filenames: whether files are looked for, and what is no picture is left out.

    Raises:
        ValueError: a mode is unknown, or "binary" has not two classes.
        TypeError: a column has not the values of its mode.
    """

    allowed_class_modes = frozenset(
        ("binary", "categorical", "input", "multi_output", "raw", "sparse", None)
    )

    def __init__(
        self,
        dataframe: Any,
        directory: str | None = None,
        image_data_generator: ImageDataGenerator | None = None,
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
        data_format: str | None = "channels_last",
        save_to_dir: str | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
        interpolation: str = "nearest",
        dtype: DTypeLike | None = None,
        validate_filenames: bool = True,
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
        table = dataframe.copy()
        self.directory, self.class_mode = directory or "", class_mode
        self.dtype = dtype or floatx()
        self._check(table, x_col, y_col, weight_col, classes)
        if validate_filenames:
            table = self._with_pictures(table, x_col)
        has_classes = class_mode not in _WITHOUT_CLASSES
        if has_classes:
            table, names = _of_classes(table, y_col, classes)
            self.class_indices = {name: number for number, name in enumerate(names)}
        table = self.cut(table)
        if has_classes:
            self.classes = [self._numbers(label) for label in table[y_col]]
        self.filenames = table[x_col].tolist()
        self._sample_weight = table[weight_col].values if weight_col else None
        if class_mode == "multi_output":
            self._targets: Any = [np.array(table[name].tolist()) for name in y_col]
        elif class_mode == "raw":
            self._targets = table[y_col].values
        self.samples = len(self.filenames)
        found = f"{'' if validate_filenames else 'non-'}validated image filenames"
        belonging = f" belonging to {len(self.class_indices)} classes" if has_classes else ""
        print(f"Found {self.samples} {found}{belonging}.")
        super().__init__(self.samples, batch_size, shuffle, seed)

    @property
    def labels(self) -> Any:
        """What belongs to each file."""
        return self._targets if self.class_mode in ("multi_output", "raw") else self.classes

    @property
    def sample_weight(self) -> Any:
        """The weight of each file; None if all weigh the same."""
        return self._sample_weight

    def _numbers(self, label: Any) -> Any:
        if isinstance(label, (list, tuple)):
            return [self.class_indices[name] for name in label]
        return self.class_indices[label]

    def _check(
        self,
        table: Any,
        x_col: str,
        y_col: str | list[str],
        weight_col: str | None,
        classes: Sequence[str] | None,
    ) -> None:
        mode = self.class_mode
        self.check_class_mode(mode)
        if mode == "multi_output" and not isinstance(y_col, list):
            raise TypeError(
                f'If class_mode="{mode}", y_col must be a list. Received {type(y_col).__name__}.'
            )
        if not _all_are(table[x_col], str):
            raise TypeError(f"All values in column x_col={x_col} must be strings.")
        if mode in ("binary", "sparse") and not _all_are(table[y_col], str):
            raise TypeError(
                f'If class_mode="{mode}", y_col="{y_col}" column values must be strings.'
            )
        if mode == "binary":
            _check_two(table[y_col], classes)
        if mode == "categorical" and not _all_are(table[y_col], (str, list, tuple)):
            raise TypeError(
                f'If class_mode="{mode}", y_col="{y_col}" column values must be type string, list '
                "or tuple."
            )
        if classes and mode in _WITHOUT_CLASSES:
            warnings.warn(f'`classes` will be ignored given the class_mode="{mode}"', stacklevel=4)
        if weight_col and not issubclass(table[weight_col].dtype.type, np.number):
            raise TypeError(f"Column weight_col={weight_col} must be numeric.")

    def _with_pictures(self, table: Any, x_col: str) -> Any:
        paths = [os.path.join(self.directory, name) for name in table[x_col]]
        found = np.array([p.lower().endswith(ENDINGS) and os.path.isfile(p) for p in paths], bool)
        if not found.all():
            warnings.warn(
                f'Found {np.sum(~found)} invalid image filename(s) in x_col="{x_col}". These '
                "filename(s) will be ignored.",
                stacklevel=4,
            )
        return table[found]


def _check_two(column: Any, classes: Sequence[str] | None) -> None:
    found = len(set(classes)) if classes else column.nunique()
    if found != 2:
        said = f"{found} class/es were given." if classes else f"Found {found} classes."
        raise ValueError(f'If class_mode="binary" there must be 2 classes. {said}')


def _all_are(column: Any, types: Any) -> bool:
    return all(isinstance(value, types) for value in column)


def _of_classes(
    table: Any, y_col: str | list[str], classes: Sequence[str] | None
) -> tuple[Any, list[str]]:
    """The rows that have one of the classes, with these alone, and the classes in order."""
    if not classes:
        several = (v if isinstance(v, (list, tuple)) else [v] for v in table[y_col])
        return table.dropna(subset=[y_col]), sorted({name for part in several for name in part})
    wanted = set(classes)

    def kept(labels: Any) -> Any:
        if isinstance(labels, (list, tuple)):
            return [name for name in labels if name in wanted] or None
        if isinstance(labels, str):
            return labels if labels in wanted else None
        raise TypeError(f"Expect string, list or tuple but found {type(labels)} in {y_col} column ")

    table = table.copy()
    table[y_col] = table[y_col].apply(kept)
    return table.dropna(subset=[y_col]), sorted(wanted)
