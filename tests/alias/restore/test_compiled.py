# SPDX-License-Identifier: Apache-2.0
"""Files of programs are changed and compiled once, and their code is kept in the cache."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from numbaflow.alias.restore import compiled, rewriting
from numbaflow.engine import settings
from numbaflow.jit.cache import store
from numbaflow.jit.cache.program_files import PROGRAMS

SOURCE = "import numpy as np\nmade = np.array([[1], [2, 3]])\n" + "# what it does\n" * 100


@pytest.fixture(autouse=True)
def _kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(compiled, "_NEW", {})
    monkeypatch.setattr(store, "_WARNED", set())
    with settings.override(cache=tmp_path / "cache"):
        yield


def made_by(source: str = SOURCE, path: str = "x.py") -> object:
    names: dict[str, object] = {}
    exec(compiled.compile_program(source, path), names)
    return names["made"]


def no_rewriting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewriting, "compile_program", lambda source, path: pytest.fail(path))


@pytest.mark.pure
def test_code_is_kept_by_text_and_place(monkeypatch: pytest.MonkeyPatch) -> None:
    first = made_by()
    compiled._write()
    assert len(PROGRAMS.items()) == 1
    with monkeypatch.context() as patch:
        no_rewriting(patch)
        assert repr(made_by()) == repr(first)
        assert compiled.compile_program(SOURCE, "x.py").co_filename == "x.py"
        for source, path in ((SOURCE, "y.py"), (SOURCE.replace("3", "4"), "x.py")):
            with pytest.raises(pytest.fail.Exception):
                compiled.compile_program(source, path)
        monkeypatch.setitem(compiled.labels_of_all(), "python", "another")
        with pytest.raises(pytest.fail.Exception):
            made_by()


@pytest.mark.pure
def test_short_files_are_not_kept() -> None:
    assert made_by(SOURCE[:60]) is not None
    assert not compiled._NEW


@pytest.mark.pure
@pytest.mark.parametrize("content", [b"", b"no code", b"\xe3"])
def test_what_is_no_code_is_told_of_and_made_anew(content: bytes) -> None:
    made_by()
    (text,) = compiled._NEW
    PROGRAMS.save({text: content})
    with pytest.warns(RuntimeWarning, match="cached program .* is not used"):
        assert repr(made_by()).startswith("array([list")
    assert PROGRAMS.items() == []


@pytest.mark.pure
def test_a_cache_that_cannot_be_written_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made_by()
        compiled._write()
    assert PROGRAMS.items() == []


@pytest.mark.process
def test_a_second_process_reads_what_the_first_compiled(tmp_path: Path) -> None:
    (tmp_path / "prog.py").write_text("import part\nprint(part.made)\n" + "# more\n" * 200)
    (tmp_path / "part.py").write_text(SOURCE)
    environment = {**os.environ, "NUMBAFLOW_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "numbaflow", "run", str(tmp_path / "prog.py")]
    seen = []
    for _ in range(2):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        seen.append((done.stdout, sorted((item.key, item.bytes) for item in PROGRAMS.items())))
    assert seen[0] == seen[1] and seen[0][0] == "[list([1]) list([2, 3])]\n"
    assert len(seen[0][1]) == 2 and not list(tmp_path.rglob("__pycache__"))
