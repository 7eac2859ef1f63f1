# SPDX-License-Identifier: Apache-2.0
"""Four times as much in a file takes about four times as long, for all that is read and written."""

from __future__ import annotations

import gc
import importlib.util
import pathlib
import time
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.growth


Work = Callable[[], Any]
# What once took more than its share.
QUICK = (
    *("GZIP records of 200 are read", "broad graphs are imported", "broad graphs are refused"),
    "first_checkpoints_of_many_variables",
)


def _programs() -> dict[str, tuple[int, Callable[[pathlib.Path, int], Work]]]:
    path = pathlib.Path(__file__).with_name("growth_programs.py")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PROGRAMS


PROGRAMS = _programs()

_STEP = 4
# What is quadratic takes 16 times as long.
_BOUND = 9.0
# A quarter of the files, for which a quarter of such work is too much.
_QUICKER, _CLOSER = 4, 5.8
_ATTEMPTS = 6


def _seconds(work: Work) -> float:
    gc.collect()
    start = time.process_time()
    work()
    return time.process_time() - start


def growth(prepare: object, count: int, folder: pathlib.Path, bound: float) -> float:
    """How many times as long the larger amount takes; the least of some attempts."""
    works = []
    for name, many in (("few", count), ("many", _STEP * count)):
        (folder / name).mkdir()
        works.append(prepare(folder / name, many))  # type: ignore[operator]
    few, many = works
    few()  # what is imported or made once
    least_few = least_many = float("inf")
    for _ in range(_ATTEMPTS):
        least_few, least_many = min(least_few, _seconds(few)), min(least_many, _seconds(many))
        if least_many < bound * least_few:
            break
    return least_many / least_few


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBAFLOW_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("name", QUICK)
def test_what_once_grew_faster_grows_as_files_do(name: str, tmp_path: pathlib.Path) -> None:
    count, prepare = PROGRAMS[name]
    assert growth(prepare, count // _QUICKER, tmp_path, _CLOSER) < _CLOSER


@pytest.mark.deep
@pytest.mark.parametrize("name", PROGRAMS)
def test_work_grows_as_files_do(name: str, tmp_path: pathlib.Path) -> None:
    count, prepare = PROGRAMS[name]
    assert growth(prepare, count, tmp_path, _BOUND) < _BOUND
