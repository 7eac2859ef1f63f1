# SPDX-License-Identifier: Apache-2.0
"""What is said of a public name that is not here: TensorFlow 1.15 has it, or it is misspelt.

The list of TensorFlow 1.15's names, tf115_names.txt, is read when such a name is asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

NOT_YET = "is in TensorFlow 1.15, not in numbaflow yet"


@functools.cache
def known_names() -> dict[str, tuple[str, ...]]:
    """Namespace below `tf`, such as "nn" or "", -> the names that TensorFlow 1.15 has there."""
    return names_by_module(__package__, "tf115_names.txt")


def names_by_module(package: str, file: str) -> dict[str, tuple[str, ...]]:
    """What a list of names beside a package's modules says: module -> names."""
    from importlib import resources

    table: dict[str, list[str]] = {}
    words: list[str] = []
    text = resources.files(package).joinpath(file).read_text("ascii")
    for line in text.splitlines():
        if line.startswith("["):
            words = table.setdefault(line.strip("[]").removeprefix("tf").removeprefix("."), [])
        elif not line.startswith("#"):
            words += line.split()
    return {module: tuple(words) for module, words in table.items()}


def is_known(path: str) -> bool:
    """Whether TensorFlow 1.15 has a public name, given with its namespaces: "nn.relu"."""
    path = path.removeprefix("compat.v1.")
    module, _, name = path.rpartition(".")
    return name in known_names().get(module, ()) or path in known_names()


@functools.cache
def _close_to(name: str, names: tuple[str, ...]) -> tuple[str, ...]:
    import difflib

    by_lower = {known.lower(): known for known in names}
    close = difflib.get_close_matches(name.lower(), by_lower, n=3, cutoff=0.75)
    return tuple(by_lower[one] for one in close)


def suggestion(name: str, names: Iterable[str]) -> str:
    """The end of a sentence that names what may have been meant, or nothing."""
    close = _close_to(name, tuple(names))
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""


def attribute_error(module: str, path: str, names: Iterable[str]) -> str:
    """What the error of a missing attribute says.

    Args:
        module: the full name of the module that was asked.
        path: the attribute with the namespaces below `tf`: "nn.relu".
        names: what the module has.

    Returns:
        The text.

    Example:
        >>> attribute_error("numbaflow.nn", "nn.reluu", ["relu", "tanh"])
        "module 'numbaflow.nn' has no attribute 'reluu'; did you mean 'relu'?"
    """
    name = path.rpartition(".")[2]
    text = f"module {module!r} has no attribute {name!r}"
    if name.startswith("__"):  # What tools ask of any module.
        return text
    if is_known(path):
        return f"{text}: tf.{path} {NOT_YET}"
    return text + suggestion(name, names)


def module_error(path: str) -> str:
    """What the error of a module that is not here says of it, "contrib.factorization" say."""
    public = path.removeprefix("python.").removeprefix("compat.v1.")
    if is_known(public):
        return f"tf.{public} {NOT_YET}"
    return "numbaflow has no counterpart of it"
