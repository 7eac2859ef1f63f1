# SPDX-License-Identifier: Apache-2.0
"""The code in README and docs runs as it stands."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from .sources import ROOT, package_files, statements, text, tree

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

pytestmark = pytest.mark.cpu


def blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(), re.S | re.M)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name
)
def test_code_blocks_run(page: Path, tmp_path: Path) -> None:
    """Blocks of a page run one after the other, in a process of their own."""
    program = tmp_path / "page.py"
    program.write_text("\n".join(blocks(page)))
    done = subprocess.run(
        [sys.executable, "-W", "error", str(program)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def without_code(page: Path) -> str:
    return re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M)


def page_tools() -> ModuleType:
    """docs/pages.py, which fills in what pages show of the code."""
    spec = importlib.util.spec_from_file_location("pages", ROOT / "docs" / "pages.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.text
@pytest.mark.parametrize(
    "name", ["from_scratch.md", "settings.md", "old_programs.md", "gradients.md"]
)
def test_pages_show_the_code_as_it_is(name: str) -> None:
    text = (ROOT / "docs" / name).read_text()
    assert text == page_tools().filled(text), "run: python docs/pages.py"
    assert "<!-- end -->" in text


@pytest.mark.text
def test_the_page_from_scratch_is_the_whole_program() -> None:
    """Its blocks are all regions of the file, in order, and outside of regions is no code."""
    tools, file = page_tools(), "from_scratch.py"
    shown = [f"```python\n{block}```\n" for block in blocks(ROOT / "docs" / "from_scratch.md")]
    assert shown == [tools.region(file, name) for name in tools.regions(file)]
    source = (ROOT / "docs" / file).read_text()
    outside = re.sub(r"^# \[\w+\]\n.*?^# \[end\]$", "", source, flags=re.S | re.M)
    (docstring,) = ast.parse(outside).body
    assert isinstance(docstring, ast.Expr)


@pytest.mark.text
def test_links_lead_somewhere() -> None:
    missing = [
        f"{page.name}: {link}"
        for page in [*PAGES, ROOT / "CONTRIBUTING.md"]
        for link in re.findall(r"\]\((?!http)([^)#]+)", without_code(page))
        if not (page.parent / link).exists()
    ]
    assert not missing


@pytest.mark.text
def test_the_index_lists_every_page() -> None:
    index = ROOT / "docs" / "README.md"
    listed = set(re.findall(r"\]\((\w+\.md)", index.read_text()))
    assert listed == {page.name for page in (ROOT / "docs").glob("*.md")} - {index.name}


@pytest.mark.text
def test_files_of_the_map_exist() -> None:
    """Paths named in the README's map and in the guides are files of the repository."""
    missing = []
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for name in re.findall(
            r"`((?:engine|ops|jit|train|io|tests)/[\w/]*\.py)`", page.read_text()
        ):
            if not (ROOT / name).exists():
                missing.append(f"{page.name}: {name}")
    assert not missing


# Programs of users, in what the package says to them.
EXAMPLES = {"train.py", "model.py", "plan.html"}
# Files of TensorFlow 1.15 that something is as in; those that end in _impl.py are all its own.
THEIRS = {"rnn.py", "training/optimizer.py"}


# A word that is a file's name, with or without folders, or a pattern of some; and one with a folder
# of the repository.
NAME = re.compile(r"(?<![\w./:{}<>*-])[\w./*-]*\w\.(?:py|md|html)\b")
PATH = re.compile(r"(?<![\w./-])(?:engine|ops|jit|train|io|docs|tests)/[\w./-]*\w\.(?:py|md)\b")


ENDING = re.compile(r"\w\.(?:py|md|html)\b")
# A comment or a string; looked for in place of Python's tokens, which takes twenty times as long.
TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"""'
    r"|'''(?:[^'\\]|\\.|'(?!''))*'''"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'(?:[^'\\\n]|\\.)*'"
    r"|#[^\n]*",
    re.S,
)


def names_in(file: Path) -> Iterator[tuple[int, str]]:
    """(line, name) of the files that comments and docstrings name; of paths in other texts too."""
    if not ENDING.search(text(file)):
        return
    docstrings = {
        node.body[0].lineno
        for node in (tree(file), *statements(file))
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node)
    }
    line, end = 1, 0
    for token in TOKEN.finditer(text(file)):
        line += text(file).count("\n", end, token.start())
        told = token[0].startswith("#") or line in docstrings
        for name in (NAME if told else PATH).findall(token[0]):
            yield line, name
        line, end = line + token[0].count("\n"), token.end()


def exists(name: str, file: Path) -> bool:
    """Is there such a file in the folder of another one, or above that?"""
    folders = [folder for folder in file.parents if folder.is_relative_to(ROOT)]
    if "*" in name:
        return any(any(folder.glob(name)) for folder in folders)
    if name in EXAMPLES | THEIRS or name.endswith("_impl.py"):
        return True
    return any((folder / name).exists() for folder in folders)


@pytest.mark.text
def test_files_that_the_code_speaks_of_exist() -> None:
    stale = [
        f"{file.relative_to(ROOT)}:{line}: {name}"
        for file in package_files()
        for line, name in names_in(file)
        if not exists(name, file)
    ]
    assert not stale


@pytest.mark.text
def test_a_name_of_no_file_is_found(tmp_path: Path) -> None:
    file = tmp_path / "some.py"
    file.write_text('"""See gone.py."""\n# and jit/gone.py\nx = "gone.py", "in io/gone.py"\n')
    found = list(names_in(file))
    assert found == [(1, "gone.py"), (2, "jit/gone.py"), (3, "io/gone.py")]
    inside = ROOT / "jit" / "target.py"
    assert not any(exists(name, inside) for _, name in found)
    assert exists("debug.py", inside) and exists("jit/cache/store.py", inside)


@pytest.mark.text
def test_support_table_claims_nothing_that_is_not_there() -> None:
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        import support
    finally:
        sys.path.pop(0)
    here = {module: have for module, have, _ in support.counts()}
    table = re.findall(r"`(tf[\w.]*)` \| (\d+) of", (ROOT / "README.md").read_text())
    assert table, "run: python docs/support.py"
    assert not [f"{module} {have}" for module, have in table if int(have) > here[module]]


@pytest.mark.text
def test_ops_that_are_missing_have_reasons() -> None:
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        import support
    finally:
        sys.path.pop(0)
    missing = support.missing_ops()
    # What runs on one processor, and in one process, is there but for a few.
    assert len(missing.get("", [])) < 10
    assert not set(support.REASONS) - set(missing), "reasons that nothing has any more"
