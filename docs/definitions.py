# SPDX-License-Identifier: Apache-2.0
"""Writes ops/index.py and op_index.py: which modules publish which names and define which ops.

Run by docs/stubs.py; a test holds it.  A module is imported when one of its names or ops is first
asked for, unless its import does something that nobody asks for by name, such as registering how
lists become tensors.  What a module does beside stating names and ops, read from its text, decides.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import pkgutil
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
_FOLDERS = ("ops", "train", "io")
# Calls of statements that state names and ops, and do nothing else; what begins with "define" does.
_STATING = (
    *("export", "api.export", "lazy", "api.lazy", "constant", "api.constant"),
    *("elementwise", "update_op", "build.define"),
)
_HEAD = '''# SPDX-License-Identifier: Apache-2.0
"""Where names and ops are, for who imports them when they are wanted; docs/stubs.py writes it."""

'''


def modules() -> list[str]:
    """All modules of ops, train and io, by their paths below the package, in the order of folders;
    those of families that are imported by name alone are left out."""
    return [name for folder in _FOLDERS for name in _below(folder)]


def _below(folder: str) -> Iterator[str]:
    parent = importlib.import_module(f"numbaflow.{folder}")
    for module in sorted(
        pkgutil.iter_modules(parent.__path__), key=lambda m: (not m.ispkg, m.name)
    ):
        if module.name in getattr(parent, "ON_DEMAND", ()):
            continue
        name = f"{folder}.{module.name}"
        yield from _below(name) if module.ispkg else (name,)


def does_more(module: str) -> bool:
    """Whether a module's import does more than to state names and ops."""
    text = (ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")
    return any(map(_does_more, _statements(ast.parse(text).body)))


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        if isinstance(statement, (ast.For, ast.If, ast.With, ast.Try)):
            is_script = isinstance(statement, ast.If) and "__main__" in ast.unparse(statement.test)
            yield from () if is_script else _statements(statement.body)


def _does_more(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        # Decorators change what they stand at, but for those that put it somewhere else.
        # A divergence is wanted for classes of its module, so whoever asks has imported that.
        names = [ast.unparse(decorator) for decorator in statement.decorator_list]
        return any(
            name.rpartition(".")[2].lower().startswith("register")
            for name in names
            if not name.startswith("RegisterKL(")
        )
    if isinstance(statement, ast.Assign):
        return any(
            isinstance(target, (ast.Attribute, ast.Subscript)) for target in statement.targets
        )
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    called = statement.value.func
    while isinstance(called, ast.Call):  # export("name")(function)
        called = called.func
    name = ast.unparse(called)
    return name not in _STATING and not name.lstrip("_").startswith("define")


def _is_file(module: Any) -> bool:
    return not hasattr(module, "__path__")


class _Origins:
    """Which module states each key of a table, by who runs when it is put there."""

    def __init__(self) -> None:
        self.of: dict[str, str] = {}

    def watch(self, owner: Any, adder: str) -> None:
        """Looks at every call of a function that puts something into the table."""
        add = getattr(owner, adder)

        def noting(name: str, *rest: Any) -> None:
            frame = sys._getframe(1)
            while frame.f_code.co_name != "<module>":
                frame = frame.f_back  # type: ignore[assignment]
            for key in rest if adder == "lazy" else (name,):
                self.of[key] = frame.f_globals["__name__"].removeprefix("numbaflow.")
            add(name, *rest)

        setattr(owner, adder, noting)

    def by_module(self, left_out: set[str]) -> dict[str, list[str]]:
        """The keys of each module."""
        found: dict[str, list[str]] = {}
        for key, module in self.of.items():
            if module not in left_out:
                found.setdefault(module, []).append(key)
        return {module: sorted(keys) for module, keys in sorted(found.items())}


def index() -> dict[str, str]:
    """The texts of ops/index.py and op_index.py, in a process without the package."""
    package = importlib.util.find_spec("numbaflow")
    assert package is not None and "numbaflow" not in sys.modules
    # Without what its __init__ does, which reads the index.
    sys.modules["numbaflow"] = importlib.util.module_from_spec(package)
    from numbaflow.engine import api
    from numbaflow.engine.graph import registry

    names, ops, lazies = _Origins(), _Origins(), _Origins()
    names.watch(api, "constant")
    lazies.watch(api, "lazy")
    ops.watch(registry, "_add")
    # What the package imports anyway.
    for module in ("tracebacks", "graph.namespaces", "interface.public"):
        importlib.import_module(f"numbaflow.engine.{module}")
    first = {name.removeprefix("numbaflow.") for name in sys.modules}
    every = modules()
    for module in every:
        importlib.import_module(f"numbaflow.{module}")
    lazily = set(lazies.of.values())
    engine = sorted(name for name in sys.modules if name.startswith("numbaflow.engine."))
    files = [name.removeprefix("numbaflow.") for name in engine if _is_file(sys.modules[name])]
    at_once = [
        module
        for module in files + every
        if module not in first and (module in lazily or does_more(module))
    ]
    rows = "".join(f'    "{module}",\n' for module in at_once)
    listed = (
        _HEAD,
        "# Imported with the package: lists of names, and what nobody asks for by name.\n",
        f"AT_ONCE = (\n{rows})\n\n",
        "# Modules and the public names that each publishes.\n",
        _table("NAMES", names.by_module(first)),
    )
    defined = (
        _HEAD,
        "# Modules and the op types that each defines.\n",
        _table("OPS", ops.by_module(first)),
    )
    return {"index.py": "".join(listed), "op_index.py": "".join(defined)}


def _table(title: str, found: dict[str, list[str]]) -> str:
    rows = [
        textwrap.fill(
            f"{module}: {' '.join(keys)}",
            100,
            subsequent_indent="  ",
            break_on_hyphens=False,
            break_long_words=False,
        )
        for module, keys in found.items()
    ]
    return "\n".join([f'{title} = """', *rows, '"""', ""])


if __name__ == "__main__":
    for file, text in index().items():
        (ROOT / "ops" / file).write_text(text, encoding="utf-8")
