# SPDX-License-Identifier: Apache-2.0
"""Sources of modules, whoever loads them, and versions of packages without importlib.metadata."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from numbaflow.jit.kernel import module_source as sources
from numbaflow.jit.kernel.module_source import installed_version, module_source

pytestmark = pytest.mark.pure


@pytest.mark.parametrize("package", ["numba", "llvmlite", "numpy"])
def test_versions(package: str) -> None:
    assert installed_version(package) == metadata.version(package)


def test_a_package_of_which_no_one_folder_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "vendored").mkdir()
    (tmp_path / "vendored" / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(metadata.PackageNotFoundError):
        installed_version("vendored")
    for version in ("1.0", "2.0rc1"):
        folder = tmp_path / f"vendored-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Name: vendored\nVersion: {version}\n")
        assert installed_version("vendored") == metadata.version("vendored")


def test_source_of_a_module_whose_loader_knows_only_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As pytest's, which loads all packages that bring plugins, this one too."""
    file = tmp_path / "rewritten.py"
    file.write_bytes("# coding: latin-1\nX = 'é'\n".encode("latin-1"))
    spec = ModuleSpec("rewritten", object(), origin=str(file))  # type: ignore[arg-type]
    monkeypatch.setattr(sources, "find_spec", lambda name: spec)
    assert module_source("rewritten") == "# coding: latin-1\nX = 'é'\n"


@pytest.mark.process
def test_keys_need_no_metadata() -> None:
    program = (
        "import sys\n"
        "from numbaflow.jit.codegen import compile\n"
        "assert compile.labels_of('')\n"
        "print('email' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n", "")
