# SPDX-License-Identifier: Apache-2.0
"""Where a SavedModel's variables and assets lie."""

from __future__ import annotations

import os

from ...engine.compat import as_text
from ...io import files
from . import names


def get_variables_dir(export_dir: str) -> str:
    """The folder of a model's variables."""
    return os.path.join(as_text(export_dir), names.VARIABLES_DIRECTORY)


def get_variables_path(export_dir: str) -> str:
    """The prefix of the checkpoint with a model's variables."""
    return os.path.join(get_variables_dir(export_dir), names.VARIABLES_FILENAME)


def get_assets_dir(export_dir: str) -> str:
    """The folder of a model's assets."""
    return os.path.join(as_text(export_dir), names.ASSETS_DIRECTORY)


def get_or_create_variables_dir(export_dir: str) -> str:
    """The folder of a model's variables, made if there is none."""
    return _made(get_variables_dir(export_dir))


def get_or_create_assets_dir(export_dir: str) -> str:
    """The folder of a model's assets, made if there is none."""
    return _made(get_assets_dir(export_dir))


def _made(folder: str) -> str:
    if not files.file_exists(folder):
        files.recursive_create_dir(folder)
    return folder
