# SPDX-License-Identifier: Apache-2.0
"""DBpedia's texts, if they are there."""

from __future__ import annotations

import os

from .....engine import errors
from .....engine.api import export
from .....io import files
from .....io.mnist import Datasets
from . import base


@export("contrib.learn.datasets.text_datasets.load_dbpedia")
def load_dbpedia(size: str = "small", test_with_fake_data: bool = False) -> Datasets:
    """DBpedia's texts of 14 classes from dbpedia_data/dbpedia_csv below $TF_EXP_BASE_DIR.

    Args:
        size: "small" takes every thousandth.
        test_with_fake_data: TensorFlow's samples, which are not here.

    Returns:
        Datasets without a validation part.

    Raises:
        NotFoundError: the files are not there; they are not downloaded.
    """
    folder = os.path.join(os.getenv("TF_EXP_BASE_DIR", ""), "dbpedia_data", "dbpedia_csv")
    read = {}
    for part in ("train", "test"):
        path = os.path.join(folder, f"{part}.csv")
        if test_with_fake_data or not files.file_exists(path):
            raise errors.not_found(f"{path}: put DBpedia's train.csv and test.csv there")
        if size == "small":
            base.shrink_csv(path, 1000)
            path = path.replace(".csv", "_small.csv")
        read[part] = base.load_csv_without_header(path, "int32", str, target_column=0)
    return Datasets(train=read["train"], validation=None, test=read["test"])
