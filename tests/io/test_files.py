# SPDX-License-Identifier: Apache-2.0
"""`tf.gfile`: the same behaviour on this machine's disk and behind a scheme."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.io import files

pytestmark = pytest.mark.pure


@pytest.fixture(params=["local", "memory"])
def folder(request: Any, tmp_path: Path) -> str:
    if request.param == "local":
        return str(tmp_path)
    path = f"memory://{uuid.uuid4().hex}"
    tf.gfile.MakeDirs(path)
    return path


def write(path: str, text: str) -> None:
    with tf.gfile.GFile(path, "w") as file:
        file.write(text)


def test_reading_and_writing(folder: str) -> None:
    path = f"{folder}/a.txt"
    write(path, "one\ntwo\nthree")
    with tf.gfile.GFile(path) as file:
        assert file.readline() == "one\n"
        assert file.tell() == 4
        assert list(file) == ["two\n", "three"]
        file.seek(-5, whence=2)
        assert file.read(2) == "th"
        assert file.size() == 13
    with tf.gfile.GFile(path, "rb") as file:
        assert file.read() == b"one\ntwo\nthree"
    with tf.gfile.Open(path, "a") as file:
        file.write("!")
    assert files.read_file_to_string(path).endswith("three!")
    assert tf.gfile.Stat(path).length == 14
    assert not tf.gfile.Stat(path).is_directory


def test_wrong_uses_of_a_file(folder: str) -> None:
    path = f"{folder}/a"
    with pytest.raises(tf.errors.NotFoundError, match="No such file"):
        tf.gfile.GFile(path).read()
    with pytest.raises(tf.errors.PermissionDeniedError, match="reading"):
        tf.gfile.GFile(path, "w").read()
    with pytest.raises(tf.errors.PermissionDeniedError, match="writing"):
        tf.gfile.GFile(path, "r").write("x")
    with pytest.raises(tf.errors.InvalidArgumentError, match="mode is not"):
        tf.gfile.GFile(path, "x")


def test_folders(folder: str) -> None:
    tf.gfile.MakeDirs(f"{folder}/x/y")
    tf.gfile.MakeDirs(f"{folder}/x/y")
    write(f"{folder}/x/1.txt", "")
    write(f"{folder}/x/y/2.txt", "two")
    assert tf.gfile.IsDirectory(f"{folder}/x/y")
    assert sorted(tf.gfile.ListDirectory(f"{folder}/x")) == ["1.txt", "y"]
    assert tf.gfile.Glob(f"{folder}/x/*.txt") == [f"{folder}/x/1.txt"]
    assert tf.io.gfile.glob([f"{folder}/x/?.txt", f"{folder}/x/*/2*"]) == [
        f"{folder}/x/1.txt",
        f"{folder}/x/y/2.txt",
    ]
    walked = [(top, sorted(dirs), sorted(names)) for top, dirs, names in tf.gfile.Walk(folder)]
    assert walked == [
        (folder, ["x"], []),
        (f"{folder}/x", ["y"], ["1.txt"]),
        (f"{folder}/x/y", [], ["2.txt"]),
    ]
    assert [top for top, _, _ in tf.io.gfile.walk(folder, topdown=False)][-1] == folder
    tf.gfile.DeleteRecursively(f"{folder}/x")
    assert not tf.gfile.Exists(f"{folder}/x/y/2.txt")
    with pytest.raises(tf.errors.NotFoundError):
        tf.gfile.ListDirectory(f"{folder}/x")
    with pytest.raises(tf.errors.NotFoundError):
        tf.gfile.DeleteRecursively(f"{folder}/x")
    assert list(tf.gfile.Walk(f"{folder}/x")) == []


def test_copy_and_rename(folder: str) -> None:
    a, b = f"{folder}/a", f"{folder}/b"
    write(a, "A")
    tf.gfile.Copy(a, b)
    for function in (tf.gfile.Copy, tf.gfile.Rename):
        with pytest.raises(tf.errors.AlreadyExistsError, match="file already exists"):
            function(a, b)
    write(a, "new")
    tf.gfile.Rename(a, b, overwrite=True)
    assert not tf.gfile.Exists(a)
    assert files.read_file_to_string(b) == "new"
    assert files.filecmp(b, b)
    tf.gfile.Remove(b)
    with pytest.raises(tf.errors.NotFoundError):
        tf.gfile.Remove(b)


def test_copying_between_file_systems(tmp_path: Path) -> None:
    there = f"memory://{uuid.uuid4().hex}"
    write(f"{there}/a", "text")
    tf.gfile.Copy(f"{there}/a", str(tmp_path / "b"))
    assert (tmp_path / "b").read_text() == "text"
    with pytest.raises(tf.errors.UnimplementedError, match="file systems differ"):
        tf.gfile.Rename(f"{there}/a", str(tmp_path / "c"))


def test_errors_of_the_disk(tmp_path: Path) -> None:
    with pytest.raises(tf.errors.AlreadyExistsError):
        tf.gfile.MkDir(str(tmp_path))
    with pytest.raises(tf.errors.NotFoundError):
        tf.gfile.MkDir(str(tmp_path / "x" / "y"))
    (tmp_path / "file").write_text("")
    with pytest.raises(tf.errors.FailedPreconditionError, match="not a directory"):
        tf.gfile.MakeDirs(str(tmp_path / "file"))
    with pytest.raises(tf.errors.UnimplementedError, match="scheme 'nowhere' not implemented"):
        tf.gfile.Exists("nowhere://x")


def test_path_objects_and_bytes(tmp_path: Path) -> None:
    write(str(tmp_path / "a"), "x")
    assert tf.gfile.Exists(tmp_path / "a")
    assert tf.io.gfile.exists(bytes(tmp_path / "a"))
    assert tf.gfile.GFile(tmp_path / "a").read() == "x"
    with pytest.raises(TypeError):
        tf.gfile.Exists(3)


def test_an_interrupted_write_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "state")
    files.atomic_write_string_to_file(path, "old")

    def full(file: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "sync", full)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="No space"):
        files.atomic_write_string_to_file(path, "new")
    assert [p.name for p in tmp_path.iterdir()] == ["state"]
    assert (tmp_path / "state").read_text() == "old"
