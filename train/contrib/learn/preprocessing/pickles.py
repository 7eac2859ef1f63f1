# SPDX-License-Identifier: Apache-2.0
"""Vocabularies in files: pickles, of which nothing but vocabularies is made."""

from __future__ import annotations

import importlib
import io
import pickle
import sys
from typing import Any

_HERE = __name__.rpartition(".")[0]
_MODULES = frozenset({"text", "categorical", "categorical_vocabulary"})
_OURS = frozenset(
    "ByteProcessor CategoricalProcessor CategoricalVocabulary VocabularyProcessor tokenizer".split()
)
_BUILTINS = {
    ("builtins", "int"): int,
    ("__builtin__", "int"): int,
    ("__builtin__", "long"): int,
    ("builtins", "object"): object,
    ("__builtin__", "object"): object,
    ("builtins", "list"): list,
}


class _Reader(pickle.Unpickler):
    """Finds what a vocabulary's file names: this package's classes and the program's functions."""

    def find_class(self, module: str, name: str) -> Any:
        leaf = module.rpartition(".")[2]
        if name in _OURS and leaf in _MODULES:
            return getattr(importlib.import_module(f"{_HERE}.{leaf}"), name)
        if (module, name) in _BUILTINS:
            return _BUILTINS[module, name]
        if (module, name) == ("collections", "defaultdict") or (
            module == "copyreg" and name == "_reconstructor"
        ):
            return super().find_class(module, name)
        if module == "copy_reg" and name == "_reconstructor":
            return super().find_class("copyreg", name)
        if module == "__main__" and hasattr(sys.modules["__main__"], name):
            # The tokenizer of the program that reads.
            return getattr(sys.modules["__main__"], name)
        raise pickle.UnpicklingError(
            f"{module}.{name} is none of what a vocabulary is made of; a file that names it could "
            "run anything, and is not read. A tokenizer_fn of one's own is found in __main__"
        )


def loads(data: bytes) -> Any:
    """The vocabulary that was written.

    Raises:
        pickle.UnpicklingError: the file names something else.
    """
    # Python 2 wrote its names as bytes.
    return _Reader(io.BytesIO(data), encoding="utf-8").load()
