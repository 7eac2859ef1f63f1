# SPDX-License-Identifier: Apache-2.0
"""Checkpoint files: what is written is read, damage is noticed, failures leave the old ones."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import numbaflow as tf
from numbaflow.engine import errors
from numbaflow.engine.types import dtypes
from numbaflow.io import atomic_file, bundle_reader, checkpoint_v1, tensor_bundle
from numbaflow.io.bundle_reader import BundleReader
from numbaflow.io.checkpoint_reader import CheckpointReader
from numbaflow.io.tensor_bundle import BundleWriter, merge_bundles
from numbaflow.io.tensor_slice import TensorSlice, find_cover, parse_shape_and_slice

from ..drawing import examples

pytestmark = pytest.mark.pure

KINDS = "float32 float64 int8 uint16 int32 int64 bool complex64 float16".split()
ARRAYS = st.sampled_from(KINDS).flatmap(
    lambda kind: hnp.arrays(kind, hnp.array_shapes(min_dims=0, min_side=0, max_side=5))
)
# (Characters of all widths; those of all of Unicode take a second to list.)
KEYS = st.text("aZ_/:0 \0\n\u00e9\u6f22\U0001f600", min_size=1, max_size=8)
TEXTS = st.lists(st.binary(max_size=300), max_size=6)


def texts(values: list[bytes]) -> np.ndarray:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def write(prefix: Any, tensors: dict[str, np.ndarray]) -> None:
    with BundleWriter(str(prefix)) as writer:
        for name, array in tensors.items():
            kind = dtypes.string if array.dtype == object else dtypes.as_dtype(array.dtype)
            writer.add(name.encode(), array, kind)
        writer.finish()


def read(prefix: Any) -> dict[str, np.ndarray]:
    with BundleReader(str(prefix)) as reader:
        return {key.decode(): reader.read(key) for key in reader.tensors()}


@examples(40)
@given(st.dictionaries(KEYS, ARRAYS, max_size=5), TEXTS)
def test_tensors_come_back(tmp_path: Path, tensors: dict[str, Any], values: list[bytes]) -> None:
    tensors["\u00fctexts"] = texts(values)
    write(tmp_path / "ckpt", tensors)
    found = read(tmp_path / "ckpt")
    assert set(found) == set(tensors)
    for name, array in tensors.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


def test_bfloat16_and_large_tensors(tmp_path: Path) -> None:
    small = np.arange(6, dtype=tf.bfloat16.as_numpy_dtype).reshape(2, 3)
    large = np.arange(atomic_file.PIECE // 4 * 3 + 5, dtype=np.float64)
    write(tmp_path / "ckpt", {"small": small, "large": large, "strided": large[::-2]})
    found = read(tmp_path / "ckpt")
    np.testing.assert_array_equal(found["small"], small)
    np.testing.assert_array_equal(found["large"], large)
    np.testing.assert_array_equal(found["strided"], large[::-2])


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_slices_make_up_other_slices(tmp_path: Path, version: str) -> None:
    whole = np.arange(35, dtype=np.int32).reshape(5, 7)
    stored = ["0,2:-", "2,3:0,4", "2,3:4,3"]
    prefix = str(tmp_path / "ckpt")
    parts = []
    for text in stored:
        shape, part, _ = parse_shape_and_slice(f"5 7 {text}")
        rows, columns = (slice(*bounds) for bounds in part.bounds(shape))
        parts.append((b"w", shape, part, whole[rows, columns], dtypes.int32))
    if version == "v1":
        checkpoint_v1.write(prefix, parts)
        reader: Any = checkpoint_v1.V1Reader(prefix)
    else:
        with BundleWriter(prefix) as writer:
            for part in parts:
                writer.add_slice(*part)
            writer.finish()
        reader = BundleReader(prefix)
    np.testing.assert_array_equal(reader.read(b"w"), whole)
    for text in ("1,3:3,2", "2,3:0,4", "-:6,1", "0,5:0,7"):
        part = TensorSlice.parse(text)
        rows, columns = (slice(*bounds) for bounds in part.bounds(whole.shape))
        np.testing.assert_array_equal(reader.read_slice(b"w", part), whole[rows, columns])
    assert CheckpointReader(prefix).get_variable_to_shape_map() == {"w": [5, 7]}


def test_slices_that_do_not_suffice() -> None:
    part = TensorSlice.parse("0,2:-")
    assert find_cover([part], TensorSlice.parse("1,2:-"), (4, 3)) is None
    assert find_cover([part], TensorSlice.parse("1,1:-"), (4, 3)) == [part]
    with pytest.raises(errors.InternalError, match="out of bounds"):
        parse_shape_and_slice("4 3 3,2:-")
    for wrong in ("4", "x -", "4 1", "4 1,0"):
        with pytest.raises(errors.InvalidArgumentError):
            parse_shape_and_slice(wrong)


def test_shards_are_merged(tmp_path: Path) -> None:
    whole = np.arange(12.0).reshape(4, 3)
    prefixes = [str(tmp_path / "tmp" / f"part-{i}") for i in range(2)]
    for i, prefix in enumerate(prefixes):
        with BundleWriter(prefix) as writer:
            part = TensorSlice.parse(f"{2 * i},2:-")
            writer.add_slice(b"w", (4, 3), part, whole[2 * i : 2 * i + 2], dtypes.float64)
            writer.add(b"own%d" % i, np.int32(i), dtypes.int32)
            writer.finish()
    merge_bundles(prefixes, str(tmp_path / "ckpt"))
    names = sorted(path.name for path in tmp_path.iterdir() if path.is_file())
    assert names == ["ckpt.data-00000-of-00002", "ckpt.data-00001-of-00002", "ckpt.index"]
    assert not list((tmp_path / "tmp").iterdir())
    found = read(tmp_path / "ckpt")
    np.testing.assert_array_equal(found["w"], whole)
    assert found["own1"] == 1


def test_shards_with_the_same_tensor_are_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(tmp_path / name, {"w": np.zeros(2)})
    with pytest.raises(errors.InvalidArgumentError, match="Duplicate tensor keyed by w"):
        merge_bundles([str(tmp_path / "a"), str(tmp_path / "b")], str(tmp_path / "c"))
    assert set(read(tmp_path / "a")) == {"w"}


def test_damage_names_the_tensor(tmp_path: Path) -> None:
    write(tmp_path / "ckpt", {"a": np.ones(8), "b": np.ones(8), "t": texts([b"one", b"two"])})
    data = tmp_path / "ckpt.data-00000-of-00001"
    good = data.read_bytes()
    for at, name in ((3, "a"), (70, "b"), (-1, "t"), (129, "t")):
        changed = bytearray(good)
        changed[at] ^= 16
        data.write_bytes(bytes(changed))
        with BundleReader(str(tmp_path / "ckpt")) as reader:
            with pytest.raises(errors.DataLossError, match=rf"\(tensor {name} in .*ckpt\)"):
                reader.read(name.encode())
            other = b"b" if name == "a" else b"a"
            np.testing.assert_array_equal(reader.read(other), np.ones(8))
    data.write_bytes(good[:100])
    with BundleReader(str(tmp_path / "ckpt")) as reader:
        with pytest.raises(errors.DataLossError, match="ends inside of the tensor"):
            reader.read(b"b")


def test_damage_of_the_index_names_the_file(tmp_path: Path) -> None:
    write(tmp_path / "ckpt", {"a": np.ones(8)})
    index = tmp_path / "ckpt.index"
    good = index.read_bytes()
    for bad in (good[:20], good[:-1] + b"x", b"\x01" + good[1:], b""):
        index.write_bytes(bad)
        with pytest.raises(errors.DataLossError, match=r"ckpt\.index"):
            BundleReader(str(tmp_path / "ckpt"))


def test_missing_files_and_tensors(tmp_path: Path) -> None:
    with pytest.raises(errors.NotFoundError, match=r"nothing\.index; No such file"):
        BundleReader(str(tmp_path / "nothing"))
    with pytest.raises(errors.NotFoundError, match="Failed to find any matching files"):
        CheckpointReader(str(tmp_path / "nothing"))
    write(tmp_path / "ckpt", {"dense/kernel": np.ones(8), "dense/bias": np.ones(8)})
    reader = CheckpointReader(tmp_path / "ckpt")
    with pytest.raises(errors.NotFoundError, match=r"dense/kernal not.*nearest: dense/kernel"):
        reader.get_tensor("dense/kernal")
    (tmp_path / "ckpt.data-00000-of-00001").unlink()
    with pytest.raises(errors.NotFoundError, match="data-00000-of-00001; No such file"):
        reader.get_tensor("dense/kernel")


class Broken:
    """A file that fails after some writes, as a full disk does."""

    def __init__(self, file: Any, writes: int) -> None:
        self.file, self.writes = file, writes

    def write(self, data: bytes) -> int:
        self.writes -= 1
        if self.writes < 0:
            raise OSError(28, "No space left on device")
        return self.file.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


@pytest.mark.parametrize("writes", [0, 1, 2, 4, 8])
def test_a_failed_save_leaves_the_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    write(tmp_path / "ckpt", {"a": np.ones(8), "b": np.ones(8)})
    before = sorted(path.name for path in tmp_path.iterdir())
    real = tensor_bundle.files.open_binary
    left = [writes]

    def opened(path: str, mode: str) -> Any:
        if "w" not in mode:
            return real(path, mode)
        # Four pieces of data are written first; the index's pieces follow.
        index = path.rpartition("/")[2].startswith("ckpt.index")
        return Broken(real(path, mode), left[0] - 4 if index else left[0])

    with monkeypatch.context() as patched:
        patched.setattr(atomic_file, "PIECE", 32)
        patched.setattr(tensor_bundle.files, "open_binary", opened)
        with pytest.raises(errors.ResourceExhaustedError, match="No space left"):
            write(tmp_path / "ckpt", {"a": np.zeros(8), "b": np.zeros(8)})
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    np.testing.assert_array_equal(read(tmp_path / "ckpt")["a"], np.ones(8))


def test_what_cannot_be_saved_is_named(tmp_path: Path) -> None:
    with BundleWriter(str(tmp_path / "ckpt")) as writer:
        writer.add(b"w", np.ones(2), dtypes.float64)
        with pytest.raises(errors.InvalidArgumentError, match="duplicate key: w"):
            writer.add(b"w", np.ones(2), dtypes.float64)
        with pytest.raises(errors.UnimplementedError, match=r"resource.*tensor r"):
            writer.add(b"r", np.ones(2), dtypes.resource)
        writer.finish()


def test_checkpoints_elsewhere() -> None:
    write("memory://checkpoints/ckpt", {"w": np.arange(3)})
    np.testing.assert_array_equal(read("memory://checkpoints/ckpt")["w"], np.arange(3))


def test_the_first_format(tmp_path: Path) -> None:
    prefix = str(tmp_path / "old")
    arrays = {
        b"f": np.arange(6, dtype=np.float32).reshape(2, 3),
        b"h": np.arange(3, dtype=np.float16),
        b"c": np.array(1 + 2j, np.complex64),
        b"b": np.array([True, False]),
        b"u": np.array([200, 3], np.uint8),
        b"none": np.zeros((0, 2), np.int64),
        b"t": texts([b"a", b"", b"\xff"]),
    }
    parts = []
    for name, array in arrays.items():
        kind = dtypes.string if array.dtype == object else dtypes.as_dtype(array.dtype)
        parts.append((name, array.shape, TensorSlice.full(array.ndim), array, kind))
    checkpoint_v1.write(prefix, parts)
    reader = CheckpointReader(prefix)
    for name, array in arrays.items():
        found = reader.get_tensor(name)
        np.testing.assert_array_equal(found, array)
        assert np.asarray(found).dtype == array.dtype
    assert reader.debug_string().startswith(b"b (DT_BOOL) [2]\n")
    with pytest.raises(errors.NotFoundError, match="ff not found in checkpoint file"):
        reader.get_tensor("ff")
    (tmp_path / "old").write_bytes(b"no table at all, whatever its name says, but long enough")
    with pytest.raises(errors.DataLossError, match="different file format"):
        CheckpointReader(prefix)


def interrupted(monkeypatch: pytest.MonkeyPatch, ending: str) -> Any:
    """Whoever gives a file its name dies before it does so for one that ends so."""
    real = tensor_bundle.files.rename

    def rename(source: str, target: str, overwrite: bool = False) -> None:
        if target.endswith(ending):
            raise KeyboardInterrupt
        real(source, target, overwrite)

    context = monkeypatch.context()
    patched = context.__enter__()
    patched.setattr(tensor_bundle.files, "rename", rename)
    return context


@pytest.mark.parametrize("ending", [".data-00000-of-00001", ".index"])
def test_a_checkpoint_is_replaced_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    """Whoever dies between data and index leaves the data of the old index under a second name."""
    old, new = np.arange(9.0), np.arange(5, dtype=np.int32)
    write(tmp_path / "ckpt", {"a": old, "b": old})
    for _ in range(2):  # Twice: what the first one left is not mistaken for the present data.
        context = interrupted(monkeypatch, ending)
        with pytest.raises(KeyboardInterrupt):
            write(tmp_path / "ckpt", {"a": new, "c": new})
        context.__exit__(None, None, None)
        found = read(tmp_path / "ckpt")
        assert set(found) == {"a", "b"}
        np.testing.assert_array_equal(found["a"], old)
    write(tmp_path / "ckpt", {"a": new})
    np.testing.assert_array_equal(read(tmp_path / "ckpt")["a"], new)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["ckpt.data-00000-of-00001", "ckpt.index"]


def test_what_killed_writers_left_is_removed(tmp_path: Path) -> None:
    old = time.time() - 3600
    names = ["a.index.tempstate" + "0" * 32, "b.data-00000-of-00001.tempstate" + "f" * 32]
    for name in (*names, "fresh.tempstate" + "1" * 32, "c.tempstate12"):
        (tmp_path / name).write_bytes(b"part")
    for name in (*names, "c.tempstate12"):
        os.utime(tmp_path / name, (old, old))
    with open(tmp_path / names[1], "rb") as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)
        write(tmp_path / "ckpt", {"a": np.ones(1)})
    left = {path.name for path in tmp_path.iterdir() if "tempstate" in path.name}
    assert left == {names[1], "fresh.tempstate" + "1" * 32, "c.tempstate12"}


def test_a_full_disk_is_noticed_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def reserve(number: int, start: int, size: int) -> None:
        asked.append(size)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", reserve)
    with pytest.raises(errors.ResourceExhaustedError, match=r"ckpt.*; No space left on device"):
        BundleWriter(str(tmp_path / "ckpt"), 3 << 20)
    assert asked == [3 << 20]
    assert not list(tmp_path.iterdir())


def test_what_is_read_later_was_checked_before(tmp_path: Path) -> None:
    array = np.arange(atomic_file.PIECE // 4 + 7, dtype=np.float32).reshape(-1, 1)
    write(tmp_path / "ckpt", {"a": array, "none": np.zeros((0, 2)), "t": texts([b"x"])})
    with BundleReader(str(tmp_path / "ckpt")) as reader:
        source = reader.read(b"a", defer=True)
        assert isinstance(reader.read(b"none", defer=True), np.ndarray)
        assert reader.read(b"t", defer=True)[0] == b"x"
        reader.check()
    target = np.empty_like(array)
    source.fill_all([source], [target])
    np.testing.assert_array_equal(target, array)
    data = tmp_path / "ckpt.data-00000-of-00001"
    with open(data, "r+b") as file:
        file.truncate(1000)
    with pytest.raises(errors.DataLossError, match="was cut while it was read"):
        source.fill_all([source], [target])
    with BundleReader(str(tmp_path / "ckpt")) as reader:
        with pytest.raises(errors.DataLossError, match=r"ends inside.*tensor a in"):
            reader.read(b"a", defer=True)


def test_checks_of_all_tensors_name_the_damaged_one(tmp_path: Path) -> None:
    write(tmp_path / "ckpt", {name: np.ones(1000) for name in "abc"})
    data = tmp_path / "ckpt.data-00000-of-00001"
    content = bytearray(data.read_bytes())
    content[9000] ^= 1
    data.write_bytes(content)
    with BundleReader(str(tmp_path / "ckpt")) as reader:
        for key in (b"c", b"a", b"b"):
            reader.read(key, defer=True)
        with pytest.raises(errors.DataLossError, match=r"Checksum does not match.*tensor b in"):
            reader.check()


def test_no_changed_bit_goes_unnoticed(tmp_path: Path) -> None:
    prefix = tmp_path / "ckpt"
    tensors = {"a": np.arange(5.0), "b/c": np.ones((2, 2), np.int8), "t": texts([b"one", b""])}
    write(prefix, tensors)
    for path in sorted(tmp_path.iterdir()):
        good = path.read_bytes()
        for at in range(len(good)):
            path.write_bytes(good[:at] + bytes((good[at] ^ (1 << at % 8),)) + good[at + 1 :])
            try:
                found = read(prefix)
            except errors.DataLossError as error:
                assert "ckpt" in error.message
                continue
            # An empty block and most of the footer of an index mean nothing.
            assert path.suffix == ".index" and at >= len(good) - 100
            assert all(np.array_equal(found[name], array) for name, array in tensors.items())
        path.write_bytes(good)


@pytest.mark.parametrize(("value", "forced"), [("0", 0), ("1", 4)])
def test_files_are_forced_to_the_disk_if_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, forced: int
) -> None:
    calls: list[int] = []
    monkeypatch.setattr(os, "fsync", calls.append)
    monkeypatch.setenv("NUMBAFLOW_FSYNC", value)
    write(tmp_path / "ckpt", {"a": np.ones(3)})
    tensor_bundle.files.atomic_write_string_to_file(str(tmp_path / "checkpoint"), "")
    # Data, index, the folder; the state file and the folder again.
    assert len(calls) == forced + (forced > 0)


def test_folders_of_shards_go_when_nobody_wrote_to_them_for_long(tmp_path: Path) -> None:
    names = [f"m-{i}_temp_{i:032x}" for i in range(2)]
    for name, age in zip(names, (7200, 10)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "part-00000-of-00002.data-00000-of-00001").write_bytes(b"x")
        for path in (tmp_path / name, *(tmp_path / name).iterdir()):
            os.utime(path, (time.time() - age,) * 2)
    write(tmp_path / "part", {"a": np.ones(2)})
    merge_bundles([str(tmp_path / "part")], str(tmp_path / "ckpt"))
    assert [path.name for path in tmp_path.glob("*_temp_*")] == names[1:]


def test_one_writer_at_a_time_gives_files_their_names(tmp_path: Path) -> None:
    happened = []

    def other() -> None:
        with atomic_file.locked(str(tmp_path)):
            happened.append("other")

    thread = threading.Thread(target=other)
    with atomic_file.locked(str(tmp_path)):
        thread.start()
        thread.join(0.1)
        happened.append("this")
    thread.join()
    assert happened == ["this", "other"]


def test_data_that_lose_their_second_name_are_looked_for_under_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer may finish between a reader's look at the second name and its opening."""
    write(tmp_path / "ckpt", {"a": np.arange(9.0)})
    exists = bundle_reader.files.file_exists
    asked: list[str] = []

    def exists_until_now(path: str) -> bool:
        asked.append(path)
        return True

    monkeypatch.setattr(bundle_reader.files, "file_exists", exists_until_now)
    np.testing.assert_array_equal(read(tmp_path / "ckpt")["a"], np.arange(9.0))
    assert len(asked) == 1 and not exists(asked[0])


def test_data_are_opened_before_their_second_name_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a writer that begins in between gives the old index the new data."""
    old, new = np.arange(9.0), np.arange(5, dtype=np.int32)
    write(tmp_path / "ckpt", {"a": old})
    opened = bundle_reader.DataFile

    def replaced_in_part(path: str) -> Any:
        monkeypatch.setattr(bundle_reader, "DataFile", opened)
        context = interrupted(monkeypatch, ".index")
        with pytest.raises(KeyboardInterrupt):
            write(tmp_path / "ckpt", {"a": new})
        context.__exit__(None, None, None)
        return opened(path)

    monkeypatch.setattr(bundle_reader, "DataFile", replaced_in_part)
    np.testing.assert_array_equal(read(tmp_path / "ckpt")["a"], old)


@pytest.mark.programs
def test_a_restore_begins_again_if_the_checkpoint_was_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check, prefix = BundleReader.check, str(tmp_path / "ckpt")
    write(tmp_path / "ckpt", {"a": np.zeros(5)})

    def check_late(reader: BundleReader) -> None:
        monkeypatch.setattr(BundleReader, "check", check)
        write(tmp_path / "ckpt", {"a": np.ones(5)})
        reader._files.clear()
        check(reader)

    monkeypatch.setattr(BundleReader, "check", check_late)
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.get_variable("a", [5], tf.float64)
        tf.train.Saver().restore(session, prefix)
        assert session.run(variable).tolist() == [1.0] * 5
