# SPDX-License-Identifier: Apache-2.0
"""Archives that are damaged, or made to do harm: nothing of them is added."""

from __future__ import annotations

import gzip
import io
import json
import os
import tarfile
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from numbaflow.engine import settings
from numbaflow.jit.cache import admin, kernel_archive, store

pytestmark = pytest.mark.pure

ENTRY = store.Entry("symbol", "def kernel(): ...\n", b"code" * 100)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with settings.override(cache=tmp_path / "kernels"):
        yield tmp_path / "kernels"


def labels(number: int) -> store.Labels:
    return (("format", store.FORMAT), ("kernel", str(number)))


@pytest.fixture
def members(folder: Path, tmp_path: Path) -> list[tuple[tarfile.TarInfo, bytes]]:
    """What an export of three entries holds; the cache is empty afterwards."""
    for number in range(3):
        store.save(labels(number), ENTRY)
    assert kernel_archive.export(tmp_path / "good.tar.gz", admin.items()) == 3
    store.clear()
    with tarfile.open(tmp_path / "good.tar.gz") as archive:
        return [(m, archive.extractfile(m).read()) for m in archive]  # type: ignore[union-attr]


Members = list[tuple[tarfile.TarInfo, bytes]]


def member(name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE) -> Members:
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, len(content)
    return [(info, content)]


def written(path: Path, members: Members, how: str = "w:gz") -> Path:
    with tarfile.open(path, how) as archive:  # type: ignore[call-overload]
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return path


def test_what_was_exported_comes_back(folder: Path, tmp_path: Path, members: Members) -> None:
    for how in ("w", "w:gz"):
        done = kernel_archive.load(written(tmp_path / "file", members, how))
        assert len(done.added) == 3 and not done.refused
        assert all(store.load(labels(number)) == ENTRY for number in range(3))
        store.clear()
    # Files that are none of an entry's do no harm.
    times = member("x", b"19 mtime=1234567890\n", kind=tarfile.XHDTYPE)
    more = times + member("0" * 32, kind=tarfile.DIRTYPE) + member("README", b"hello")
    assert len(kernel_archive.load(written(tmp_path / "file", members + more)).added) == 3


KEY = "0" * 32
HOSTILE: dict[str, Callable[[Members], Members]] = {
    "above": lambda good: member(f"../{KEY}/kernel.o", b"x"),
    "inside above": lambda good: member(f"{KEY}/../../kernel.o", b"x"),
    "absolute": lambda good: member(f"/{KEY}/kernel.o", b"x"),
    "drive": lambda good: member(f"C:{KEY}/kernel.o", b"x"),
    "link": lambda good: member(f"{KEY}/kernel.o", kind=tarfile.SYMTYPE),
    "hard link": lambda good: member(f"{KEY}/kernel.o", kind=tarfile.LNKTYPE),
    "device": lambda good: member(f"{KEY}/kernel.o", kind=tarfile.CHRTYPE),
    "pipe": lambda good: member(f"{KEY}/kernel.o", kind=tarfile.FIFOTYPE),
    "further header": lambda good: member("x", b"11 path=x\n" * 9, kind=tarfile.XHDTYPE),
    "long header": lambda good: member("x", b" " * 70_000, kind=tarfile.XHDTYPE),
    "long name": lambda good: member("x", b"x" * 999, kind=tarfile.GNUTYPE_LONGNAME),
    "sparse": lambda good: member(f"{KEY}/kernel.o", kind=tarfile.GNUTYPE_SPARSE),
    "twice": lambda good: [good[0]],
    "twice together": lambda good: [good[-1]],
}


@pytest.mark.parametrize("what", sorted(HOSTILE))
def test_one_that_is_hostile_adds_nothing(
    folder: Path, tmp_path: Path, members: Members, what: str
) -> None:
    path = written(tmp_path / "evil", members + HOSTILE[what](members))
    with pytest.raises(kernel_archive.NoArchive, match="in it|twice"):
        kernel_archive.load(path)
    assert not store.entries() and not store.leftovers(folder)


def test_one_that_is_cut_short_adds_nothing(folder: Path, tmp_path: Path, members: Members) -> None:
    for how in ("w", "w:gz"):
        whole = written(tmp_path / "file", members, how).read_bytes()
        # What stands behind the last file of a plain archive is only its end.
        last = 512 * (len(members) + sum(-(-len(c) // 512) for _, c in members))
        last = last if how == "w" else len(whole)
        for end in (*range(1, last, 97), *range(last - 64, last)):
            (tmp_path / "cut").write_bytes(whole[:end])
            with pytest.raises(kernel_archive.NoArchive):
                kernel_archive.load(tmp_path / "cut")
    assert not store.entries()


def test_sizes_that_are_none_are_refused(folder: Path, tmp_path: Path, members: Members) -> None:
    for size in (-1, -512, (1 << 26) + 1, 1 << 62):
        info = tarfile.TarInfo(f"{KEY}/kernel.o")
        info.size = size
        block = info.tobuf(tarfile.GNU_FORMAT)
        (tmp_path / "evil").write_bytes(block + bytes(1 << 16))
        with pytest.raises(kernel_archive.NoArchive, match="bytes"):
            kernel_archive.load(tmp_path / "evil")


def test_archives_without_end_are_refused(
    folder: Path, tmp_path: Path, members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_archive, "_MOST_MEMBERS", 10)
    with pytest.raises(kernel_archive.NoArchive, match="more than 10 files"):
        kernel_archive.load(written(tmp_path / "many", members))
    monkeypatch.setattr(kernel_archive, "_MOST_MEMBERS", 100)
    monkeypatch.setattr(kernel_archive, "_MOST_IN_ALL", 1000)
    with pytest.raises(kernel_archive.NoArchive, match="more than 1000 bytes"):
        kernel_archive.load(written(tmp_path / "large", members))
    assert not store.entries()


def test_one_entry_at_a_time_is_in_memory(folder: Path, tmp_path: Path) -> None:
    """However much an archive unpacks to."""
    large = bytes(1 << 20)

    def growing(count: int) -> int:
        path = tmp_path / f"{count}.tar.gz"
        with gzip.open(path, "wb", 1) as packed:
            with tarfile.open(fileobj=packed, mode="w") as archive:
                for number in range(count):
                    for info, content in member(f"{number:032x}/kernel.o", large):
                        archive.addfile(info, io.BytesIO(content))
        tracemalloc.start()
        done = kernel_archive.load(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert len(done.refused) == count and not done.added
        return peak

    assert growing(24) < growing(4) + 2 * len(large)


@pytest.mark.parametrize(
    "manifest",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[]",
        b"{}",
        b'{"symbol": 1, "checksum": ""}',
        b"\xff",
        b"1" * 5000,
        json.dumps({"symbol": "s"}).encode(),
    ],
)
def test_manifests_that_are_none(
    folder: Path, tmp_path: Path, members: Members, manifest: bytes
) -> None:
    changed = [
        each
        for info, content in members
        for each in (
            member(info.name, manifest) if info.name.endswith("json") else [(info, content)]
        )
    ]
    done = kernel_archive.load(written(tmp_path / "file", changed))
    assert not done.added and len(done.refused) == 3
    assert all("its manifest" in reason for reason in done.refused.values())
    assert not store.entries()
    # The same in the folder itself.
    store.save(labels(1), ENTRY)
    (folder / store.key_of(labels(1)) / "manifest.json").write_bytes(manifest)
    assert "its manifest" in admin.items()[0].problem
    assert "its manifest" in admin.verify()[1][0].reason
    with pytest.warns(RuntimeWarning, match="its manifest"):
        assert store.load(labels(1)) is None


@pytest.mark.skipif(os.name == "nt", reason="links of POSIX")
def test_an_export_writes_through_no_link(folder: Path, tmp_path: Path) -> None:
    """Names of files that are being written cannot be foreseen."""
    store.save(labels(1), ENTRY)
    victim, target = tmp_path / "victim", tmp_path / "kernels.tar.gz"
    victim.write_text("precious")
    (tmp_path / f".{target.name}.{os.getpid()}").symlink_to(victim)
    target.symlink_to(victim)
    assert kernel_archive.export(target, admin.items()) == 1
    assert victim.read_text() == "precious" and not target.is_symlink()
    assert target.stat().st_mode & 0o077 == 0o066 & ~umask()


def umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
