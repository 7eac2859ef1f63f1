# SPDX-License-Identifier: Apache-2.0
"""Data sets by name."""

from __future__ import annotations

from typing import Any

from .....engine.api import constant, export
from .....io.mnist import load_mnist
from .base import load_boston, load_iris
from .synthetic import circles, spirals
from .text_datasets import load_dbpedia

DATASETS: dict[str, Any] = {
    "iris": load_iris,
    "boston": load_boston,
    "mnist": load_mnist,
    "dbpedia": load_dbpedia,
}
SYNTHETIC: dict[str, Any] = {"circles": circles, "spirals": spirals}
constant("contrib.learn.datasets.DATASETS", DATASETS)
constant("contrib.learn.datasets.SYNTHETIC", SYNTHETIC)


@export("contrib.learn.datasets.load_dataset")
def load_dataset(name: str, size: str = "small", test_with_fake_data: bool = False) -> Any:
    """A data set by name: "iris", "boston", "mnist" or "dbpedia".

    Args:
        name: the name.
        size: of "dbpedia", as load_dbpedia takes it.
        test_with_fake_data: of "dbpedia".

    Returns:
        A Dataset, or Datasets for training, validation and test.

    Raises:
        ValueError: there is none of that name.
    """
    if name not in DATASETS:
        raise ValueError(f"Name of dataset is not found: {name}")
    return DATASETS[name](size, test_with_fake_data) if name == "dbpedia" else DATASETS[name]()


@export("contrib.learn.datasets.make_dataset")
def make_dataset(
    name: str,
    n_samples: int = 100,
    noise: float | None = None,
    seed: int | None = 42,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """Points that are made up: "circles" or "spirals".

    Args:
        name: the name.
        n_samples, noise, seed: as the functions take them.

    Returns:
        A Dataset.

    Raises:
        ValueError: there is none of that name.
    """
    if name not in SYNTHETIC:
        raise ValueError(f"Synthetic dataset not found or not implemeted: {name}")
    return SYNTHETIC[name](*args, n_samples=n_samples, noise=noise, seed=seed, **kwargs)
