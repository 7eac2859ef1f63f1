# SPDX-License-Identifier: Apache-2.0
"""The folder of programs' files that were compiled for `numbaflow run`,
`<cache>/programs/<key>.program`; what is in them says alias/restore/compiled.py."""

from __future__ import annotations

from .checked_files import Folder

# A large library of TensorFlow 1's years has some hundreds of files.
PROGRAMS = Folder("programs", "program", "numbaflow program 1", most=4096)
