# SPDX-License-Identifier: Apache-2.0
"""Frames of dask, by TensorFlow's module name."""

from __future__ import annotations

from .frames import HAS_DASK, extract_dask_data, extract_dask_labels

__all__ = ["HAS_DASK", "extract_dask_data", "extract_dask_labels"]
