# SPDX-License-Identifier: Apache-2.0
"""Which folders of exports to keep: what `tf.contrib.learn` has of the same name."""

from __future__ import annotations

from ..learn.utils.gc import (
    Path,
    get_paths,
    largest_export_versions,
    mod_export_version,
    negation,
    one_of_every_n_export_versions,
    union,
)

__all__ = [
    "Path",
    "get_paths",
    "largest_export_versions",
    "mod_export_version",
    "negation",
    "one_of_every_n_export_versions",
    "union",
]
