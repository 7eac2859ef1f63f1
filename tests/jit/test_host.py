# SPDX-License-Identifier: Apache-2.0
"""What LLVM says of this machine, kept for processes that do not ask it."""

from __future__ import annotations

import pytest

from numbaflow.engine import settings
from numbaflow.jit import host
from numbaflow.jit.cache import store
from numbaflow.jit.cache.machine_files import HOSTS

pytestmark = pytest.mark.pure
_LINES = {
    "processor": "0",
    "vendor_id": "GenuineIntel",
    "cpu family": "6",
    "model": "143",
    "model name": "Some Processor",
    "stepping": "8",
    "cpu MHz": "2000.1",
    "flags": "avx fma",
}


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Writes what the system says of its processors; LLVM's answers are counted."""
    monkeypatch.setattr(host.sys, "platform", "linux")
    monkeypatch.setattr(host.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(host, "_CPUINFO", str(tmp_path / "cpuinfo"))
    monkeypatch.setattr(store, "_WARNED", set())
    asked = []

    def ask() -> host.Host:
        asked.append(1)
        return host.Host("x86_64-unknown-linux-gnu", f"cpu-{len(asked)}", "+avx,+fma")

    monkeypatch.setattr(host, "_asked", ask)

    def write(**changed: str) -> None:
        lines = {**_LINES, **{name.replace("_", " "): text for name, text in changed.items()}}
        one = "".join(f"{name}\t: {value}\n" for name, value in lines.items())
        (tmp_path / "cpuinfo").write_text(f"{one}\nprocessor\t: 1\n")

    write()
    with settings.override(cache=tmp_path / "kernels"):
        yield write, lambda: host.host.__wrapped__().cpu
    host.host.cache_clear()


def test_llvm_is_asked_once_for_every_processor(machine):
    write, cpu = machine
    assert [cpu(), cpu()] == ["cpu-1", "cpu-1"]
    write(cpu_MHz="3000.0", processor="7")  # only how fast it is just now, and which
    assert cpu() == "cpu-1"
    write(flags="avx fma avx512f")
    assert [cpu(), cpu()] == ["cpu-2", "cpu-2"]
    write()
    assert cpu() == "cpu-1" and len(HOSTS.items()) == 2


@pytest.mark.parametrize("text", ["", "processor : 0\n", "Features : neon\n"])
def test_where_a_system_says_little_llvm_is_asked_each_time(machine, tmp_path, text):
    _, cpu = machine
    (tmp_path / "cpuinfo").write_text(text)
    assert [cpu(), cpu()] == ["cpu-1", "cpu-2"] and not HOSTS.items()


def test_a_damaged_answer_is_reported_and_asked_for_anew(machine):
    _, cpu = machine
    assert cpu() == "cpu-1"
    (item,) = HOSTS.items()
    item.place.write_bytes(item.place.read_bytes()[:-3])
    with pytest.warns(RuntimeWarning, match="cached host"):
        assert cpu() == "cpu-2"
    assert cpu() == "cpu-2"
