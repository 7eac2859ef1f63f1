# SPDX-License-Identifier: Apache-2.0
"""The source of this package's modules, wherever the package lies, and versions of others.

Kernels are made of source, and what makes them is part of their key.  Imports nothing heavy.
"""

from __future__ import annotations

import os
import re
from importlib.util import find_spec

from ..isolated import source_of


def module_source(name: str) -> str:
    """The source of a module, which need not be imported; read by what imports it."""
    spec = find_spec(name)
    try:
        text = source_of(spec) if spec else None
    except OSError:
        text = None
    if text is None:
        raise RuntimeError(
            f"the source of {name}, which kernels are made of, is not there: "
            f"install the package with its .py files, in a folder or in a zip file"
        )
    return str(text)


def installed_version(package: str) -> str:
    """The version of a package that is installed, which need not be imported.

    It is in the name of a folder beside the package; where it is not, importlib.metadata knows,
    whose import takes longer than looking up all kernels of a graph.
    """
    spec = find_spec(package)
    places = spec.submodule_search_locations if spec else None
    name = re.compile(rf"{package}-([^-]+)\.dist-info")
    for place in places or ():
        parent = os.path.dirname(place)
        beside = os.listdir(parent) if os.path.isdir(parent) else []
        found = [match[1] for match in map(name.fullmatch, beside) if match]
        if len(found) == 1:
            return found[0]
    from importlib.metadata import version

    return version(package)
