# SPDX-License-Identifier: Apache-2.0
"""Kernels of a GPU in the cache of all kernels: a second card, or process, compiles nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.cache import admin, device_file, kernel_archive, store
from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.cuda import card as cards
from numbaflow.jit.cuda import device_code
from numbaflow.jit.cuda.cuda_kernel import Capability, KernelText

from . import fake_driver

pytestmark = pytest.mark.cpu


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    found = fake_driver.FakeDriver()
    fake_driver.install(monkeypatch, found)
    with settings.override(jit="always", cache=str(tmp_path / "cache")):
        yield found


def results(monkeypatch: pytest.MonkeyPatch) -> tuple[Any, tuple[int, int]]:
    """What a program gives on a card that is looked for anew; kernels compiled, and found."""
    (card,) = cards.found()
    fake_driver.show(monkeypatch, (card,))
    stats = compiler.STATS
    before = stats.compiles, stats.hits
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None])
        # (The last is a function that a GPU has not: the processor computes it.)
        wide = tf.lgamma(tf.cast(tf.cumsum(x), tf.float64))
        y = tf.nn.softmax(x) + tf.reduce_sum(x * 2.0) + tf.cast(wide, tf.float32)
        found = session.run(y, {x: [1.0, 2.0, 3.0]})
    return found, (stats.compiles - before[0], stats.hits - before[1])


def test_a_second_card_finds_all_that_the_first_made(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, (compiled, _) = results(monkeypatch)
    assert compiled >= 3 and "cuLinkComplete" in fake.calls
    fake.calls.clear()
    monkeypatch.setattr(device_code, "write", None)  # nothing is written any more
    second, (compiled, hits) = results(monkeypatch)
    assert compiled == 0 and hits >= 3 and "cuLinkCreate" not in fake.calls
    assert np.array_equal(first, second)
    with settings.override(gpu="none"), tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([1.0, 2.0, 3.0])
        wide = tf.lgamma(tf.cast(tf.cumsum(x), tf.float64))
        y = tf.nn.softmax(x) + tf.reduce_sum(x * 2.0) + tf.cast(wide, tf.float32)
        np.testing.assert_allclose(first, session.run(y), rtol=1e-5)


def test_what_the_driver_cannot_link_is_kept_as_text(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.failing["cuLinkAddData"] = fake_driver.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    first, _ = results(monkeypatch)
    texts = [item for item in admin.items() if item.cpu == "sm_99"]
    codes = [store.read_file(item.place / "kernel.o") for item in texts]
    kinds = {"elf": 0, "ptx": 0, "none": 0}
    for code in codes:
        is_none = code.startswith(device_file.NO_KERNEL)
        kinds["none" if is_none else "elf" if device_file.is_machine_code(code) else "ptx"] += 1
    assert kinds["ptx"] == kinds["none"] == 1 and kinds["elf"] >= 2
    second, (compiled, _) = results(monkeypatch)
    assert compiled == 0 and np.array_equal(first, second)


def test_the_command_line_looks_after_kernels_of_cards(
    fake: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    results(monkeypatch)
    found = [item for item in admin.items() if item.cpu == "sm_99"]
    assert found and not any(item.problem or admin.is_outdated(item) for item in found)
    count, problems = admin.verify()
    assert count >= len(found) and not problems
    texts = [admin.assembly_of(item) for item in found]
    assert sum(".visible .entry" in text for text in texts) == len(found) - 1
    assert [text for text in texts if "lgamma" in text and "no such function" in text]
    assert kernel_archive.export(tmp_path / "kernels.tar.gz", found) == len(found)
    store.clear()
    assert len(kernel_archive.load(tmp_path / "kernels.tar.gz").added) == len(found)
    _, (compiled, hits) = results(monkeypatch)
    assert compiled == 0 and hits >= len(found) - 1
    monkeypatch.setattr(device_code, "version", lambda: "another")
    assert all(admin.is_outdated(item) for item in found)


@pytest.mark.parametrize(
    "code",
    [
        b"",
        b"\xff\xfe",
        b".visible .entry other(",
        b"\x7fELF\2\1\1",
        fake_driver.machine_code("other"),
        fake_driver.machine_code("k")[:-1],
        fake_driver.machine_code("k").replace(b"\xbe\0", b"\x3e\0", 1),
    ],
)
def test_what_is_no_kernel_is_not_given_to_a_driver(code: bytes) -> None:
    assert device_file.problem(code, "k")


def test_sound_kernels_are() -> None:
    for code in (fake_driver.machine_code("k"), b".entry k(", device_file.NO_KERNEL + b"sin"):
        assert device_file.problem(code, "k") == ""


def test_a_damaged_kernel_is_made_again(fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, capability = KernelText("cuda_k", "text", "map"), Capability(9, 9)
    labels = device_code.labels_of(kernel, capability)
    store.save(labels, store.Entry("cuda_k", "text", b"nothing"))
    with pytest.warns(RuntimeWarning, match="none of a GPU's"):
        assert device_code.find(kernel, capability) is None
    assert not store.has(labels)


def test_cards_need_no_compiler_before_something_is_compiled() -> None:
    code = "import numbaflow.jit.cuda.gpu, numbaflow.jit.cuda.card, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"llvmlite", "numba"} & set(done.stdout.split())


# A process that trains on a card whose kernels do nothing; says what it compiled and imported.
WARM = """
import sys
import numpy as np
import numbaflow as tf
from numbaflow.engine.session import device_placement
from numbaflow.jit.cuda import card
from numbaflow.jit.codegen import compile as compiler
from tests.jit.cuda import fake_driver

class Idle(fake_driver.FakeDriver):
    def _runner(self, text, context):
        return lambda words: None

class Patch:
    def setattr(self, of, name, value):
        setattr(of, name, value)

    def setitem(self, of, name, value):
        of[name] = value

fake_driver.install(Patch(), Idle())
found = tuple(card.found())
device_placement.gpus = lambda: found
x = tf.placeholder(tf.float32, [None, 3])
loss = tf.reduce_mean(tf.square(tf.nn.softmax(tf.layers.dense(x, 4)) + tf.random_normal([4])))
step = tf.train.AdamOptimizer().minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run([loss, step], {x: np.ones((2, 3))})
print(compiler.STATS.compiles, *sorted({"llvmlite", "numba"} & set(sys.modules)))
"""


def test_a_second_process_needs_no_compiler(tmp_path: Path) -> None:
    settings_of = {
        "NUMBAFLOW_CACHE": str(tmp_path),
        "NUMBAFLOW_JIT": "always",
        "NUMBAFLOW_WARM": "0",
    }
    root = Path(__file__).parents[3]
    environment = {**os.environ, **settings_of, "PYTHONPATH": str(root)}
    said = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", WARM],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        said.append(done.stdout.split())
    assert int(said[0][0]) > 0 and said[1] == ["0"]
