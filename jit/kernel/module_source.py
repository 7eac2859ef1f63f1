# SPDX-License-Identifier: Apache-2.0
"""The source of this package's modules, wherever the package lies.

Kernels are made of source, and what makes them is part of their key.  Imports nothing heavy.
"""

from __future__ import annotations

from importlib.util import find_spec


def module_source(name: str) -> str:
    """The source of a module, which need not be imported; read by what imports it."""
    spec = find_spec(name)
    get_source = getattr(spec and spec.loader, "get_source", None)
    try:
        text = get_source(name) if get_source else None
    except OSError:
        text = None
    if text is None:
        raise RuntimeError(
            f"the source of {name}, which kernels are made of, is not there: "
            f"install the package with its .py files, in a folder or in a zip file"
        )
    return str(text)
