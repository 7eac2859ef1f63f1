# SPDX-License-Identifier: Apache-2.0
"""The code in README and docs runs as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
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


@pytest.mark.pure
def test_links_lead_somewhere() -> None:
    missing = [
        f"{page.name}: {link}"
        for page in [*PAGES, ROOT / "CONTRIBUTING.md"]
        for link in re.findall(r"\]\((?!http)([^)#]+)", page.read_text())
        if not (page.parent / link).exists()
    ]
    assert not missing


@pytest.mark.pure
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


@pytest.mark.pure
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
