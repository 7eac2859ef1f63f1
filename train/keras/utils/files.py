# SPDX-License-Identifier: Apache-2.0
"""Files that programs expect below ~/.keras, and arrays in files of HDF5."""

from __future__ import annotations

import hashlib
import os
import tarfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np


def get_file(
    fname: str,
    origin: str,
    untar: bool = False,
    md5_hash: str | None = None,
    file_hash: str | None = None,
    cache_subdir: str = "datasets",
    hash_algorithm: str = "auto",
    extract: bool = False,
    archive_format: Any = "auto",
    cache_dir: str | None = None,
) -> str:
    """The path of a file that is fetched once and kept.

    Args:
        fname: its name, or its whole path.
        origin: where it is fetched from.
        untar: whether it is an archive of tar to be unpacked.
        md5_hash, file_hash, hash_algorithm: what the file must be; "md5" or "sha256".
        cache_subdir: the folder below `cache_dir`.
        extract: whether it is an archive to be unpacked.
        archive_format: "auto", "tar" or "zip".
        cache_dir: the folder; ~/.keras, or what the variable KERAS_HOME says, if None.

    Raises:
        Exception: the file cannot be fetched.
        ValueError: the fetched file is another.
    """
    home = cache_dir or os.environ.get("KERAS_HOME") or os.path.join("~", ".keras")
    folder = os.path.join(os.path.expanduser(home), cache_subdir)
    os.makedirs(folder, exist_ok=True)
    wanted = md5_hash if file_hash is None else file_hash
    name = f"{os.path.join(folder, fname)}.tar.gz" if untar else os.path.join(folder, fname)
    if not os.path.exists(name) or not _is_whole(name, wanted, hash_algorithm):
        _fetch(origin, name)
        if not _is_whole(name, wanted, hash_algorithm):
            os.remove(name)
            raise ValueError(f"{origin} gave a file whose hash is not {wanted}")
    if untar:
        unpacked = os.path.join(folder, fname)
        if not os.path.exists(unpacked):
            _extract(name, folder, "tar")
        return unpacked
    if extract:
        _extract(name, folder, archive_format)
    return name


def _fetch(origin: str, path: str) -> None:
    print(f"Downloading data from {origin}")
    part = f"{path}.part"
    try:
        urllib.request.urlretrieve(origin, part)  # noqa: S310  as the program says
    except (urllib.error.URLError, OSError) as error:
        if os.path.exists(part):
            os.remove(part)
        raise Exception(  # noqa: TRY002  as Keras raises it
            f"URL fetch failure on {origin}: {error}. Where there is no network, put the file "
            f"at {path}"
        ) from error
    os.replace(part, path)


def _is_whole(path: str, wanted: str | None, algorithm: str) -> bool:
    if wanted is None:
        return True
    is_sha = algorithm == "sha256" or (algorithm == "auto" and len(wanted) == 64)
    digest = hashlib.sha256() if is_sha else hashlib.md5()  # noqa: S324  as files' makers say
    with open(path, "rb") as file:
        for chunk in iter(lambda: file.read(1 << 16), b""):
            digest.update(chunk)
    return digest.hexdigest() == wanted


def _extract(path: str, folder: str, form: Any) -> None:
    forms = ["tar", "zip"] if form == "auto" else [form] if isinstance(form, str) else form or []
    if "tar" in forms and tarfile.is_tarfile(path):
        with tarfile.open(path) as tar:
            # Nothing may be written outside of the folder.
            tar.extractall(folder, filter="data")
    elif "zip" in forms and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)


class HDF5Matrix:
    """A part of an array in a file of HDF5, in the place of an array.

    Args:
        datapath: the file.
        dataset: the array's name.
        start, end: the rows that are used.
        normalizer: a function of what is read.
    """

    def __init__(
        self,
        datapath: str,
        dataset: str,
        start: int = 0,
        end: int | None = None,
        normalizer: Callable[[Any], Any] | None = None,
    ) -> None:
        from ..saving.hdf5 import h5py_module

        self._file = h5py_module().File(datapath, "r")
        self.data = self._file[dataset]
        self.start = start
        self.end = self.data.shape[0] if end is None else end
        self.normalizer = normalizer

    def __len__(self) -> int:
        return self.end - self.start

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            first, last = (key.start or 0), (len(self) if key.stop is None else key.stop)
            self._check_row(last - 1)
            found = self.data[slice(first + self.start, last + self.start, key.step)]
        elif isinstance(key, (int, np.integer)):
            self._check_row(int(key))
            found = self.data[key + self.start]
        else:
            # HDF5 reads rows in order, each once.
            unique, places = np.unique(list(key), return_inverse=True)
            self._check_row(int(unique[-1]))
            found = self.data[(unique + self.start).tolist()][places]
        return found if self.normalizer is None else self.normalizer(found)

    def _check_row(self, row: int) -> None:
        if row + self.start >= self.end:
            raise IndexError(f"row {row} of {len(self)}")

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the part."""
        return (len(self), *self.data.shape[1:])

    @property
    def dtype(self) -> Any:
        """The array's dtype."""
        return self.data.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.data.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape))
