# SPDX-License-Identifier: Apache-2.0
"""The folder of compiled kernels in places that are full, read-only, of other users, or where
clocks are wrong."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from numbaflow.engine import settings
from numbaflow.jit.cache import admin, store

from .cache_process import ENTRY, LABELS, POWERLESS, SMALL_FILES, assert_sound, report, start

pytestmark = [
    pytest.mark.cpu,
    pytest.mark.skipif(os.name == "nt", reason="modes, limits and users of POSIX"),
]

IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
NOBODY = 65534


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with settings.override(cache=tmp_path / "kernels"):
        yield tmp_path / "kernels"


# Disks


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own with room for two kernels."""
    place = tmp_path / "disk"
    place.mkdir()
    options = "size=56k,mode=700"
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("only root can mount a disk, and not everywhere")
    try:
        with settings.override(cache=place / "kernels"):
            yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk(disk: Path) -> None:
    folder = disk / "kernels"
    done = report(start(folder, 6))
    assert done["compiles"] == 6
    (text,) = done["told"]  # once, not four times
    assert "kernels are not cached" in text and "No space left" in text
    kept = len(store.entries())
    assert 0 < kept < 6 and not store.leftovers(folder)
    assert_sound(kept)
    # What there is is used though the use cannot be counted; the rest is compiled.
    again = report(start(folder, 6))
    assert (again["hits"], again["compiles"]) == (kept, 6 - kept)
    assert store.clear() == kept
    assert report(start(folder, 1))["told"] == []
    assert_sound(1)


def test_a_disk_that_turns_read_only(disk: Path) -> None:
    folder = disk / "kernels"
    assert report(start(folder, 1))["compiles"] == 1
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    done = report(start(folder, 2))
    assert (done["hits"], done["compiles"]) == (1, 1)
    (text,) = done["told"]
    assert "Read-only file system" in text
    assert_sound(1)


def test_a_read_only_folder_is_used_but_not_written(folder: Path) -> None:
    assert report(start(folder, 1))["compiles"] == 1
    folder.chmod(0o500)
    try:
        warm = report(start(folder, 1, POWERLESS))
        assert (warm["compiles"], warm["hits"], warm["told"]) == (0, 1, [])
        more = report(start(folder, 4, POWERLESS))
        assert (more["compiles"], more["hits"]) == (3, 1)
        (text,) = more["told"]  # once, not three times
        assert "kernels are not cached" in text and str(folder) in text
    finally:
        folder.chmod(0o700)
    assert_sound(1)


def test_a_home_that_cannot_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        environment = {"HOME": str(tmp_path), "NUMBAFLOW_CACHE": "", "XDG_CACHE_HOME": ""}
        done = report(start(None, 2, POWERLESS, **environment))
    finally:
        tmp_path.chmod(0o700)
    assert done["compiles"] == 2
    assert len(done["told"]) == 1 and "kernels are not cached" in done["told"][0]


@pytest.mark.parametrize("place", ["the folder", "an entry", "a file"])
def test_what_others_can_write_is_not_run(folder: Path, place: str) -> None:
    store.save(LABELS, ENTRY)
    entry = folder / store.key_of(LABELS)
    where = {"the folder": folder, "an entry": entry, "a file": entry / "kernel.o"}[place]
    where.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="can be written by others"):
        assert store.load(LABELS) is None
    assert where.exists()  # it may be evidence
    assert admin.verify()[1]


@pytest.mark.skipif(not IS_ROOT, reason="only root gives files away")
def test_what_belongs_to_others_is_not_run(folder: Path) -> None:
    store.save(LABELS, ENTRY)
    os.chown(folder / store.key_of(LABELS), 65534, 65534)
    with pytest.warns(RuntimeWarning, match="belongs to another user"):
        assert store.load(LABELS) is None
    os.chown(folder, 65534, 65534)
    with pytest.warns(RuntimeWarning, match="belongs to another user"):
        store.save((*LABELS, ("more", "")), ENTRY)
    assert len(store.entries()) == 1


def test_files_that_cannot_grow(folder: Path) -> None:
    done = report(start(folder, 3, SMALL_FILES))
    assert done["compiles"] == 3
    assert len(done["told"]) == 1 and "kernels are not cached" in done["told"][0]
    assert not store.entries() and not store.leftovers(folder)
    assert report(start(folder, 3))["told"] == []
    assert_sound(3)


# Other users


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that everybody may enter; temporary ones of tests are private."""
    place = Path(tempfile.mkdtemp(dir="/tmp"))
    place.chmod(0o755)
    with settings.override(cache=place / "kernels"):
        yield place / "kernels"
    shutil.rmtree(place)


def as_nobody(work: Callable[[], Any]) -> Any:
    """What `work` returns in a process of another user, and what that is told."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                result = work()
            texts = [str(warning.message) for warning in told]
            os.write(writer, json.dumps([result, texts]).encode())
        except BaseException as error:
            os.write(writer, json.dumps([repr(error), []]).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text)


def save_and_load() -> bool:
    store.save(LABELS, ENTRY)
    return store.load(LABELS) == ENTRY


needs_root = pytest.mark.skipif(not IS_ROOT, reason="only root can become another user")


@needs_root
def test_everybody_may_use_but_not_change_what_root_has_opened(shared: Path) -> None:
    assert save_and_load()
    subprocess.run(["chmod", "-R", "a+rX", str(shared)], check=True)
    before = {path: path.stat().st_mtime_ns for path in shared.rglob("*")}
    found, told = as_nobody(lambda: store.load(LABELS) == ENTRY)
    assert found is True and told == []
    found, told = as_nobody(lambda: store.save((*LABELS, ("more", "")), ENTRY))
    assert len(told) == 1 and "Permission denied" in told[0]
    assert as_nobody(lambda: store.clear())[0] == 0
    assert {path: path.stat().st_mtime_ns for path in shared.rglob("*")} == before
    assert_sound(1)


@needs_root
def test_a_private_folder_stays_private(shared: Path) -> None:
    assert save_and_load()
    found, told = as_nobody(lambda: store.load(LABELS) is None)
    assert found is True and len(told) == 1 and "Permission denied" in told[0]


@needs_root
def test_what_another_user_has_laid_out_is_not_run(shared: Path) -> None:
    """Such as a folder in /tmp whose name can be guessed."""
    shared.mkdir()
    os.chown(shared, NOBODY, NOBODY)
    found, told = as_nobody(save_and_load)
    assert found is True and told == []  # theirs, and good to them
    theirs = {path: path.stat().st_mtime_ns for path in shared.rglob("*")}
    with pytest.warns(RuntimeWarning, match="belongs to another user"):
        assert store.load(LABELS) is None
    done = report(start(shared, 2))
    assert done["compiles"] == 2 and done["hits"] == 0
    assert any("belongs to another user" in text for text in done["told"])
    assert {path: path.stat().st_mtime_ns for path in shared.rglob("*")} == theirs
    problems = admin.verify()[1]
    assert len(problems) == 1 and "belongs to another user" in problems[0].reason


@needs_root
def test_a_link_to_what_belongs_to_another_user_is_not_followed(shared: Path) -> None:
    theirs = shared.parent / "theirs"
    with settings.override(cache=theirs):
        theirs.mkdir()
        os.chown(theirs, NOBODY, NOBODY)
        assert as_nobody(save_and_load) == [True, []]
    shared.mkdir(mode=0o700)
    key = store.key_of(LABELS)
    (shared / key).symlink_to(theirs / key)
    with pytest.warns(RuntimeWarning, match="belongs to another user"):
        assert store.load(LABELS) is None
    (shared / key).unlink()
    # A link in place of one file of an entry of one's own is no better.
    assert save_and_load()
    (shared / key / "kernel.o").unlink()
    (shared / key / "kernel.o").symlink_to(theirs / key / "kernel.o")
    with pytest.warns(RuntimeWarning, match="belongs to another user"):
        assert store.load(LABELS) is None


# Clocks

DAY = 86400.0
SECONDS = [-50 * 365 * DAY, -2 * DAY, 2 * DAY, 10 * 365 * DAY]


def set_times(place: Path, seconds: float) -> None:
    """Makes all files of an entry or leftover as old as if a clock had been wrong by `seconds`."""
    for path in (*place.iterdir(), place):
        os.utime(path, (max(time.time() + seconds, 0),) * 2)


@pytest.mark.parametrize("seconds", SECONDS)
def test_entries_work_whatever_the_clock_said_when_they_were_made(
    folder: Path, seconds: float
) -> None:
    wrong_clock = f"import time; now = time.time; time.time = lambda: now() + {seconds}"
    assert report(start(folder, 2, wrong_clock))["compiles"] == 2
    for place in store.entries():
        set_times(place, seconds)
    assert report(start(folder)) == {"compiles": 0, "hits": 2, "told": []}
    assert report(start(folder, 2, wrong_clock)) == {"compiles": 0, "hits": 2, "told": []}
    assert_sound(2)
    assert all(abs(item.last_used - time.time()) < 60 for item in admin.items())


def test_leftovers_of_a_wrong_clock_go(folder: Path) -> None:
    for number, seconds in enumerate(SECONDS):
        place = folder / f"{store.NEW}{number}"
        place.mkdir(parents=True)
        (place / "kernel.py").write_text("")
        set_times(place, seconds)
    fresh = folder / f"{store.NEW}fresh"
    fresh.mkdir()
    assert store.sweep(folder, 3600) == len(SECONDS)
    assert store.leftovers(folder) == [fresh]


def test_what_is_being_written_may_be_taken_for_abandoned(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by a process whose clock is ahead."""
    write, swept = store._write_file, []

    def disturbed(path: Path, content: bytes) -> None:
        write(path, content)
        if not swept:
            swept.append(store.sweep(folder, 0))

    monkeypatch.setattr(store, "_write_file", disturbed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert save_and_load()
    assert swept == [1]
    assert_sound(1)


def test_entries_of_the_future_grow_old_from_now_on(folder: Path) -> None:
    assert save_and_load()
    place = folder / store.key_of(LABELS)
    set_times(place, 3 * 365 * DAY)
    assert admin.prune(older_than=30 * DAY, dry_run=True) == []
    assert admin.items()[0].last_used > time.time() + DAY  # a dry run changes nothing
    assert admin.prune(older_than=30 * DAY) == []
    assert abs(admin.items()[0].last_used - time.time()) < 60
    set_times(place, -31 * DAY)
    assert len(admin.prune(older_than=30 * DAY)) == 1
    assert not store.entries()
