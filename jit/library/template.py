# SPDX-License-Identifier: Apache-2.0
"""Kernels of ordinary functions: the text of a function, made for some constants.

A kernel is a function of `*_kernels.py`, in the words of jit/library/plain_vocabulary.py, with the
helpers that it calls.  Names in capitals are constants: those that a module declares as GIVEN get a
value when a kernel is made, others have the one of the module.  The text is the functions' source,
with its comments, and differs from it by this alone:

* constants come first, as assignments, then the helpers that are called, then `kernel`;
* types of arguments and results are left out;
* of `if X`, `a if X else b`, `X or b`, `X and b`, where constants decide X, one side remains: so an
  word sees a literal, and helpers of the other side are not needed;
* a `for` over a constant tuple is written out, its variables being constants of each turn;
* a constant that is a helper is called by the helper's name.

All of it is ordinary Python, and means the same where nothing is replaced.  Source is read when the
first kernel of a module is made.  What no function could say remains text: loop nests, which are
made of a program (jit/codegen/emit.py), and LLVM's own language (jit/codegen/clock.py).  Imports
nothing heavy.
"""

from __future__ import annotations

import builtins
import pkgutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import FunctionType
from typing import Any

from . import plain_vocabulary
from .library_kernel import LibraryKernel
from .template_writer import Names, literal, missing, stated, written

_ABSENT = object()
# Beside the kernels' own modules, whose names end alike.
_DECIDING = ("plain_vocabulary", "step_table", "template", "template_writer")
_TEXTS: dict[Specialised, str] = {}


class Specialised:
    """A function and constants: what the text of a kernel is written from, once somebody asks."""

    __slots__ = ("_constants", "_entry", "_hash", "_key")

    def __init__(self, entry: Callable[..., None], constants: Names) -> None:
        self._entry, self._constants = entry, constants
        # By text, as equal numbers of different types make different kernels.
        self._key = entry, tuple((word, stated(value)) for word, value in constants.items())
        self._hash = hash(self._key)  # plans look kernels up over and over

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Specialised) and self._key == other._key

    def __repr__(self) -> str:
        return f"<{self.recipe}>"

    @property
    def recipe(self) -> str:
        """Function and constants, by name: what tells texts of one library apart."""
        return f"{self._entry.__module__}.{self._entry.__qualname__}{self._key[1]}"

    @property
    def text(self) -> str:
        """The text of the kernel."""
        if self not in _TEXTS:
            parts = _Parts(self._constants)
            parts.add(self._entry, "kernel")
            header = "".join(f"{word} = {literal(value)}\n" for word, value in parts.header())
            _TEXTS[self] = "\n\n".join([header, *parts.texts.values()]).lstrip("\n")
        return _TEXTS[self]


def specialise(name: str, entry: Callable[..., None], **constants: Any) -> LibraryKernel:
    """The kernel of a function and its helpers, made for constants."""
    return LibraryKernel(name, Specialised(entry, constants))


def modules() -> list[str]:
    """The names of the modules of this folder that texts are made of, and that make them."""
    here = __name__.rpartition(".")[0]
    names = [name for _, name, _ in pkgutil.iter_modules(sys.modules[here].__path__)]
    return [name for name in names if name.endswith("_kernels") or name in _DECIDING]


def of_pairs(name: str, entry: Callable[..., None], **constants: Any) -> LibraryKernel:
    """The same of one to which complex numbers are pairs of reals."""
    return replace(specialise(name, entry, **constants), takes_pairs=True)


class _Parts:
    """The functions of a kernel, each below those that it calls, and the constants they name."""

    def __init__(self, given: Names) -> None:
        self.given = given
        self.texts: dict[str, str] = {}
        self._functions: dict[str, Callable[..., Any]] = {}
        self._constants: dict[str, Any] = {}

    def header(self) -> Iterator[tuple[str, Any]]:
        """Constants and their values: those given first, in the order in which they are given."""
        yield from ((word, value) for word, value in self.given.items() if word in self._constants)
        yield from ((w, value) for w, value in self._constants.items() if w not in self.given)

    def add(self, function: Callable[..., Any], name: str) -> None:
        """Adds a function and what it calls."""
        if self._functions.setdefault(name, function) is not function:
            raise ValueError(f"two helpers of one kernel are called {name}: rename one of them")
        if name in self.texts:
            return
        scope = {**function.__globals__, **self.given}
        text, words = written(function.__module__, function.__name__, name, scope)
        for word in words:
            self._resolve(word, scope, f"{function.__module__}.{function.__name__}")
        self.texts[name] = text if name == "kernel" else f"@helper\n{text}"

    def _resolve(self, word: str, scope: Names, place: str) -> None:
        """Adds what a function means by a word: a constant, a helper, a word of the vocabulary."""
        value = scope.get(word, _ABSENT)
        if value is plain_vocabulary.GIVEN:
            raise missing(word)
        if isinstance(value, FunctionType):
            if value is not getattr(plain_vocabulary, value.__name__, None):
                self.add(value, value.__name__)
        elif word.isupper() and value is not _ABSENT:
            known = self._constants.setdefault(word, value)
            if known is not value and literal(known) != literal(value):
                raise ValueError(f"helpers of one kernel have different constants {word}")
        elif value is not _ABSENT or not hasattr(builtins, word):
            raise NameError(f"{place} uses {word}, which is no constant, helper or word of kernels")
