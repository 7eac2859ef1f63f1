# SPDX-License-Identifier: Apache-2.0
"""How much of the package type checkers see, and that the stubs of ops say what the tables hold."""

from __future__ import annotations

import ast
import importlib.util
import itertools
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import pytest

from .sources import FOLDERS, ROOT, name_of, package_files, statements

# Of a hundred parameters so many may be `Any`.
MOST_ANY = 17

pytestmark = pytest.mark.text


def functions(folder: str) -> Iterator[tuple[str, dict[str, str]]]:
    """(place, parameter -> annotation) of the functions of a folder, but for self and cls."""
    for file in package_files():
        if not file.is_relative_to(ROOT / folder):
            continue
        for node in statements(file):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                given = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
                yield (
                    f"{name_of(file)}:{node.lineno} {node.name}",
                    {
                        one.arg: "" if one.annotation is None else ast.unparse(one.annotation)
                        for one in given
                        if one.arg not in ("self", "cls")
                    },
                )


def test_few_parameters_may_be_anything() -> None:
    found = (kinds.values() for folder in FOLDERS for _, kinds in functions(folder))
    kinds = Counter(itertools.chain.from_iterable(found))
    share = 100 * kinds["Any"] / kinds.total()
    assert share <= MOST_ANY, f"{share:.1f} % of parameters are Any"


def test_functions_of_ops_say_what_they_are_given() -> None:
    """A reader finds what may be called on the context, the builder and the operation."""
    wrong = [
        f"{place}: {name}"
        for place, kinds in functions("ops")
        for name in ("c", "op", "b")
        # Elsewhere b is the second operand of something.
        if kinds.get(name) == "Any" and (name != "b" or "op" in kinds)
    ]
    assert not wrong


# In a process of its own: tests define ops, too.
STUBS = """
import json, runpy, sys
tools = runpy.run_path(sys.argv[1])
tools["fill_tables"]()
print(json.dumps({path: text() for path, text in tools["STUBS"].items()}))
"""


@pytest.mark.process
def test_stubs_say_what_the_tables_hold() -> None:
    command = [sys.executable, "-c", STUBS, str(ROOT / "docs" / "stubs.py")]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    for path, text in json.loads(found.stdout).items():
        assert (ROOT / path).read_text(encoding="utf-8") == text, "run: python docs/stubs.py"


@pytest.mark.process
def test_what_annotations_name_is_not_imported_to_run() -> None:
    """Its classes are there for type checkers; every op file would pay for it."""
    assert importlib.util.find_spec("numbaflow.engine.graph.annotations") is not None
    code = "import sys, numbaflow; print('numbaflow.engine.graph.annotations' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
