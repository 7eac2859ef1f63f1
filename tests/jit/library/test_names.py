# SPDX-License-Identifier: Apache-2.0
"""Names of the library are imported when they are asked for, and what few programs need is not."""

from __future__ import annotations

import subprocess
import sys

import pytest

from numbaflow.jit import library


@pytest.mark.pure
@pytest.mark.parametrize("name", library.__all__)
def test_every_name_is_what_its_module_has(name):
    found = getattr(library, name)
    assert found is getattr(library, name)
    if name != "dense":
        assert found.__name__ == name
        assert getattr(sys.modules[found.__module__], name) is found


@pytest.mark.pure
def test_another_name_is_refused():
    with pytest.raises(AttributeError, match="has no attribute 'conv17d'"):
        _ = library.conv17d


@pytest.mark.process
def test_a_compiler_that_compiles_nothing_imports_neither_all_kernels_nor_what_starts_processes():
    code = (
        "import sys; import numbaflow.jit.runtime.runner; "
        "print(*sorted(name for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    assert "numbaflow.jit.library.matmul" in modules
    late = {f"numbaflow.jit.library.{name}" for name in ("conv", "image", "closed_set")}
    assert not modules & {*late, "subprocess", "tempfile", "shutil", "zipfile", "uuid"}
