# SPDX-License-Identifier: Apache-2.0
"""Damaged files of every format are read or refused with an error that says what is wrong.

Each is read in a process with little memory, within a time: see damage.py.
"""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
from typing import Any

import pytest

pytestmark = pytest.mark.process

HERE = pathlib.Path(__file__).parent
QUICK = (
    "archives arrays bundle compressed digits events examples first gzip lines readers records "
    "sequences snappy sparse states summaries tensors texts vocabularies zlib"
).split()
# Some milliseconds to a tenth of a second for each.
GRAPHS = "functions graphs meta_graphs run_graphs saved_models".split()


# What input pipelines read: a hundred thousand of them in a deep run.
DATA = "databases dataset_lines dataset_records dataset_tables iterators snapshots".split()
# What is decoded: as many.
MEDIA = "bmps gifs jpegs pngs sounds".split()

# Seeds whose files once ended in errors of zip files, of Python's tokenizer or of gzip; what was
# found in other formats, test_claims.py states one by one.
FOUND = {"archives": "260:270", "arrays": "0:30"}


def check(formats: list[str], seeds: str) -> None:
    """Nothing but what is meant becomes of damaged files."""
    command = [sys.executable, str(HERE / "damage.py"), ",".join(formats), seeds]
    done = subprocess.run(command, capture_output=True, text=True, cwd=HERE.parents[1])
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    found: list[dict[str, Any]] = [json.loads(line) for line in lines]
    assert [report["format"] for report in found] == formats
    bare = [
        (report["format"], report["first"][result], result)
        for report in found
        for result in report["found"]
        if result.startswith("bare")
    ]
    assert not bare
    for report in found:
        assert any(result.startswith("refused") for result in report["found"]), report


def test_damaged_files_are_refused() -> None:
    check(QUICK, "0:200")


def test_damaged_graphs_are_refused() -> None:
    check(GRAPHS, "0:40")


def test_damaged_data_are_refused() -> None:
    check(DATA, "0:100")


def test_damaged_media_are_refused() -> None:
    check(MEDIA, "0:200")


@pytest.mark.deep
@pytest.mark.parametrize("name", DATA + MEDIA)
def test_very_many_damaged_data_are_refused(name: str) -> None:
    check([name], "10000:30000")


@pytest.mark.deep
@pytest.mark.parametrize("name", QUICK + GRAPHS)
def test_many_damaged_files_are_refused(name: str) -> None:
    check([name], "10000:11500")


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_once_is_refused(name: str) -> None:
    check([name], FOUND[name])
