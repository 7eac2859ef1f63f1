# SPDX-License-Identifier: Apache-2.0
"""What concerns files beside the program: op libraries (refused), headers, resource files."""

from __future__ import annotations

import os
import sys
from typing import Any

from .. import errors


def load_op_library(library_filename: str) -> Any:
    """Refuses: compiled TensorFlow ops call TensorFlow's C++ runtime, which is not here."""
    if not os.path.exists(library_filename):
        raise errors.not_found(
            f"{library_filename}: cannot open shared object file: No such file or directory"
        )
    raise errors.unimplemented(
        f"Cannot load {library_filename}: libraries of compiled ops need TensorFlow's C++ runtime. "
        "Define the op in Python with numbaflow.engine.graph.build.define."
    )


def load_library(library_location: str) -> Any:
    """The same as `load_op_library`."""
    return load_op_library(library_location)


def load_file_system_library(library_filename: str) -> Any:
    """The same as `load_op_library`."""
    return load_op_library(library_filename)


def _package_folder() -> str:
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def get_include() -> str:
    """Where TensorFlow would keep its C++ headers; there are none."""
    return os.path.join(_package_folder(), "include")


def get_lib() -> str:
    """The folder of the package."""
    return _package_folder()


def get_compile_flags() -> list[str]:
    """No flags: there are no headers."""
    return []


def get_link_flags() -> list[str]:
    """No flags: there is no library."""
    return []


def get_data_files_path() -> str:
    """The folder of the calling file."""
    return os.path.dirname(os.path.abspath(sys._getframe(1).f_code.co_filename))


def get_path_to_datafile(path: str) -> str:
    """A path relative to the calling file's folder."""
    folder = os.path.dirname(os.path.abspath(sys._getframe(1).f_code.co_filename))
    return os.path.join(folder, path)


def get_root_dir_with_all_resources() -> str:
    """The folder of the main program."""
    main = sys.modules["__main__"]
    return os.path.dirname(os.path.abspath(getattr(main, "__file__", None) or "."))


def load_resource(path: str) -> bytes:
    """The content of a file relative to the main program's folder."""
    with open(os.path.join(get_root_dir_with_all_resources(), path), "rb") as file:
        return file.read()


def readahead_file_path(path: str, readahead: str = "128M") -> str:
    """The path itself."""
    del readahead
    return path
