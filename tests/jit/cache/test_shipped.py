# SPDX-License-Identifier: Apache-2.0
"""Machine code that comes with the package: it is found, is checked, and gives the same bits."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit import target
from numbaflow.jit.cache import shipped, store
from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.library import template
from numbaflow.jit.library.library_kernel import LibraryKernel

from ..library.test_closed_set import FAMILIES, Run

NATIVE = target.native()
LEVELS = target.levels(NATIVE)
FACTS = shipped.facts("1", NATIVE)
CODE = shipped.Object("row", "kernel_1", bytes(range(256)) * 10)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder that the package's machine code is in, with an empty cache and process."""
    monkeypatch.setattr(shipped, "_FOLDER", tmp_path / "objects")
    monkeypatch.setattr(store, "_WARNED", set())
    shipped._opened.cache_clear()
    with settings.override(cache=tmp_path / "kernels"):
        yield tmp_path / "objects"
    shipped._opened.cache_clear()


def find(content: str) -> shipped.Object | None:
    """What the file of some level has."""
    file = shipped.opened("some", "1", NATIVE)
    return None if file is None else file.read(content)


def place(level: str = "some") -> Path:
    return shipped.path_of(NATIVE.system, level)


@pytest.mark.pure
def test_a_file_gives_back_what_was_written(folder: Path) -> None:
    assert find("a") is None
    shipped._opened.cache_clear()
    shipped.write(place(), FACTS, {"b": CODE, "a": CODE})
    assert shipped.opened("some", "1", NATIVE)
    assert find("a") == CODE
    assert find("c") is None
    before = place().read_bytes()
    shipped.write(place(), FACTS, {"a": CODE, "b": CODE})
    assert place().read_bytes() == before
    assert [path.name for path in folder.iterdir()] == [place().name]


@pytest.mark.pure
def test_a_text_is_known_by_what_it_follows_from(folder: Path) -> None:
    names = {f"recipe {number}": f"{number:032x}" for number in range(9)}
    shipped.write(place(), FACTS, {"a": CODE}, names)
    file = shipped.opened("some", "1", NATIVE)
    assert file is not None and shipped.opened("other", "1", NATIVE) is None
    for recipe, content in names.items():
        assert file.content_of(recipe) == content
    assert file.content_of("another") is None
    assert find("a") == CODE


@pytest.mark.pure
def test_texts_of_the_library_follow_from_modules_that_are_asked_for() -> None:
    """Else a text that has changed would be taken for what it was."""
    from numbaflow.jit.library import plain_vocabulary

    root = Path(plain_vocabulary.__file__).parent
    known = template.modules()
    for name in known:
        if name.endswith("_kernels"):
            text = (root / f"{name}.py").read_text(encoding="utf-8")
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.ImportFrom) and node.level:
                    wanted = [node.module] if node.module else [each.name for each in node.names]
                    assert node.level == 1 and set(wanted) <= set(known), (name, wanted)


@pytest.mark.pure
@pytest.mark.parametrize("name", FACTS)
def test_code_of_other_versions_and_processors_is_not_used(folder: Path, name: str) -> None:
    shipped.write(place(), {**FACTS, name: "another"}, {"a": CODE})
    assert find("a") is None and not shipped.opened("some", "1", NATIVE)


@pytest.mark.pure
def test_damage_is_reported_and_nothing_of_it_used(folder: Path) -> None:
    shipped.write(place(), FACTS, {"a": CODE})
    sound = place().read_bytes()
    outcomes = set()
    rng = np.random.RandomState(0)
    for spot in rng.choice(len(sound), 120, replace=False):
        shipped._opened.cache_clear()
        store._WARNED.clear()
        place().write_bytes(sound[:spot] + bytes([sound[spot] ^ 0xFF]) + sound[spot + 1 :])
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = find("a")
        # (Bytes that mean nothing, such as dates, may change.)
        assert found in (None, CODE)
        outcomes.add((found is None, bool(told)))
    assert (True, True) in outcomes
    shipped._opened.cache_clear()
    place().write_bytes(sound[: len(sound) // 2])
    with pytest.warns(RuntimeWarning, match="are not used"):
        assert find("a") is None


@pytest.mark.pure
def test_code_under_another_kernels_name_is_not_used(folder: Path) -> None:
    shipped.write(place(), FACTS, {"a": CODE, "b": shipped.Object("b", "kernel_2", b"other")})
    content = place().read_bytes()
    start = content.index(b"\n", len(shipped._FIRST)) + 1
    rows = [content[at : at + 28] for at in (start, start + 28)]
    swapped = rows[0][:16] + rows[1][16:] + rows[1][:16] + rows[0][16:]
    place().write_bytes(content[:start] + swapped + content[start + 56 :])
    with pytest.warns(RuntimeWarning, match="checksum"):
        assert find("a") is None


@pytest.mark.pure
def test_levels_are_those_that_this_processor_has_and_that_are_as_wide() -> None:
    v3 = target.Target("x86_64-pc-linux-gnu", "any", f"{target._V3},+other", 256)
    v4 = target.Target("x86_64-pc-linux-gnu", "any", f"{target._V4},+other", 512)
    if NATIVE.machine == "x86_64" and NATIVE.system == "linux":
        assert [name for name, _ in target.levels(v3)] == ["x86-64-v3"]
        assert [name for name, _ in target.levels(v4)] == ["x86-64-v4"]
        lacking = target.Target(v4.triple, "any", f"{v4.features},-avx512dq", 512)
        assert target.levels(lacking) == ()
        assert [level.vector_bits for _, level in target.levels(v3)] == [256]
    arm = target.Target("aarch64-unknown-linux-gnu", "neoverse-n1", "+neon,+sve", 128)
    if NATIVE.machine != "aarch64":
        assert [name for name, _ in target.levels(arm)] == ["aarch64"]
        with settings.override(target="aarch64"):
            assert target.current().machine == "aarch64" and target.current().has_half
            assert target.lacking(target.current()) == ("a processor of kind aarch64",)
    assert all(not target.lacking(level) for _, level in LEVELS)
    for name in target.LEVELS:
        with settings.override(target=name):
            assert name in [level for level, _ in target.levels(target.current())]


# Programs whose library kernels are taken from the package; generated ones are compiled here.


def _numbers(*shape: int) -> np.ndarray:
    return np.random.RandomState(len(shape)).standard_normal(shape).astype(np.float32)


def _layers() -> Run:
    images = tf.constant(_numbers(3, 13, 11, 5))
    filters = tf.constant(_numbers(3, 3, 5, 7))
    y = tf.nn.max_pool(tf.nn.conv2d(images, filters, [1, 1, 1, 1], "SAME"), 2, 2, "VALID")
    flat = tf.reshape(y, [3, -1])
    out = tf.matmul(flat, tf.constant(_numbers(int(flat.shape[1]), 19)))
    return [out, *tf.gradients(out * out, [images, filters])], {}


def _random() -> Run:
    return [tf.random_normal([1001], seed=3), tf.random_uniform([257], seed=5)], {}


def _rows() -> Run:
    table, at = tf.constant(_numbers(50, 12)), tf.constant([3, 7, 3, 0, 49])
    return [tf.cumsum(table, 1), tf.unsorted_segment_sum(tf.gather(table, at), at % 4, 4)], {}


def _results(build: Callable[[], Run]) -> list[np.ndarray]:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        fetches, feeds = build()
        session.run(tf.global_variables_initializer())
        found = session.run(fetches, feeds)
        return [np.asarray(one) for one in found if one is not None]


def _family(build: Callable[[str], Run], dtype: str) -> Any:
    return pytest.param(
        partial(build, dtype), id=f"{build.__name__}-{dtype}", marks=pytest.mark.deep
    )


@pytest.mark.cpu
@pytest.mark.slow
@pytest.mark.skipif(not LEVELS, reason="this processor is of no level that code is shipped for")
@pytest.mark.parametrize(
    "build",
    [
        *(_layers, _random, _rows),
        *(_family(build, dtype) for build in FAMILIES for dtype in ("float32", "float64")),
    ],
)
def test_shipped_code_gives_the_same_bits(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, build: Callable[[], Run]
) -> None:
    with settings.override(jit="always"):
        monkeypatch.setattr(compiler, "_DONE", {})
        monkeypatch.setattr(compiler, "_DIGESTS", {})
        wanted = _results(build)
        known = {d: k for k, d in compiler._DIGESTS.items() if isinstance(k, LibraryKernel)}
        kernels = list(known.values())
        level, aim = LEVELS[0]
        with settings.override(target=level):
            compiler.store_kernels(compiler.absent(kernels))
            assert compiler.pack(shipped.path_of(aim.system, level), kernels) == len(kernels)
        shipped._opened.cache_clear()
        monkeypatch.setattr(compiler, "_DIGESTS", {})
        monkeypatch.setattr(template, "_TEXTS", {})
        # By what their texts follow from, before these are written.
        assert [compiler.content_of(kernel) for kernel in kernels] == list(known)
        assert not template._TEXTS
        monkeypatch.setattr(compiler, "_DONE", {})
        monkeypatch.setattr(compiler, "STATS", compiler.Stats())
        with settings.override(cache=tmp_path / "another"):
            assert not compiler.absent(kernels) and compiler.is_shipped()
            found = _results(build)
            kept = {path.name for path in store.entries()}
    assert not {kernel.name for kernel in kernels} & set(compiler.STATS.names)
    assert compiler.STATS.hits >= len(kernels)
    assert not kept & {store.key_of(compiler.labels_of(compiler.content_of(k))) for k in kernels}
    for one, other in zip(wanted, found):
        assert one.tobytes() == other.tobytes()


@pytest.mark.cpu
@pytest.mark.skipif(not LEVELS, reason="this processor is of no level that code is shipped for")
def test_shipped_code_that_cannot_be_linked_is_compiled(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiler, "_DONE", {})
    text = "def kernel(args, r0, r1, c0, c1, worker):\n    pointer(args[0])[0] = 2\n"
    kernel = LibraryKernel("two", text).over(["int64"])
    level, aim = LEVELS[0]
    stated = shipped.facts(compiler._emitter_version(), aim)
    broken = shipped.Object("two", "kernel_x", b"no object file")
    shipped.write(place(level), stated, {compiler.content_of(kernel): broken})
    with pytest.warns(RuntimeWarning, match="kernel two of the package is not used"):
        assert compiler.compile_kernel(kernel).seconds > 0
