# SPDX-License-Identifier: Apache-2.0
"""Processes that compile run nothing of what lies about: in the current folder, beside the
program, on PYTHONPATH; and they find the package wherever the program has it from."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import pytest

import numbaflow

pytestmark = pytest.mark.cpu

# Has kernels compiled by another process, once everything is imported here and modules of the same
# names have been put wherever a new interpreter might look.
PROGRAM = """
import json, sys, tempfile
from pathlib import Path
import numbaflow
from numbaflow.engine import settings
from numbaflow.jit import isolated
from numbaflow.jit.cache import store
from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.kernel import ir
from numbaflow.jit.kernel import scalar as k
from numbaflow.jit.runtime import left_over

def scaled(factor):
    at = ir.Index((1,))
    put = ir.Store(1, at, k.mul(ir.Load(0, at, "float32"), factor))
    buffers = ir.Buffer("float32", "r"), ir.Buffer("float32", "w")
    return ir.Kernel("map", buffers, (ir.Axis("map"),), (), (put,), 0)

with tempfile.TemporaryDirectory() as folder, settings.override(cache=folder):
    kernels = [scaled(2.0 + n) for n in range(3)]
    entries = [left_over._entry(kernel, None) for kernel in kernels]
    log, places = Path(sys.argv[1]), sys.argv[2:]
    for place in places:
        for name in (
            "abc codecs encodings importlib io json llvmlite numba numbaflow numpy os random re "
            "scipy signal site sitecustomize struct sys time types usercustomize yaml"
        ).split():
            text = f"open({str(log)!r}, 'a').write({place + '/' + name + chr(10)!r})"
            (Path(place) / f"{name}.py").write_text(text)
    with isolated.start(left_over._aside) as process:
        isolated.send(process, [str(store.folder()), "", left_over.pack(entries)])
    print(json.dumps([not compiler.absent([kernel]) for kernel in kernels]))
"""


def compiled_by_helpers(program: Path, log: Path, places: list[Path], **how: Any) -> list[bool]:
    """Which kernels of PROGRAM the other process has compiled."""
    done = subprocess.run(
        [sys.executable, *how.pop("options", []), str(program), str(log), *map(str, places)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        **how,
    )
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


def test_helpers_run_nothing_that_lies_about(tmp_path: Path) -> None:
    places = [tmp_path / name for name in ("current", "script", "named")]
    for place in places:
        place.mkdir()
    program, log = places[1] / "program.py", tmp_path / "ran"
    program.write_text(PROGRAM)
    # An empty entry of PYTHONPATH is the current folder.
    home = Path(numbaflow.__path__[0]).resolve()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "numbaflow").symlink_to(home)
    path = os.pathsep.join(["", str(places[2]), str(outside)])
    environment = {**os.environ, "PYTHONPATH": path}
    by_helpers = compiled_by_helpers(program, log, places, cwd=places[0], env=environment)
    assert not log.exists(), log.read_text()
    assert all(by_helpers)


def test_helpers_find_what_the_program_put_in_the_path(tmp_path: Path) -> None:
    """Neither installed nor named by the environment: the program alone knows where things are."""
    (tmp_path / "vendored").mkdir()
    home = Path(numbaflow.__path__[0]).resolve()
    (tmp_path / "vendored" / "numbaflow").symlink_to(home)
    site = Path(numba.__path__[0]).parent
    program = tmp_path / "program.py"
    lines = f"import sys\nsys.path += [{str(site)!r}, 'vendored']\n"
    program.write_text(lines + PROGRAM)
    by_helpers = compiled_by_helpers(
        program, tmp_path / "ran", [], cwd=tmp_path, options=["-I", "-S"]
    )
    assert all(by_helpers)


def test_numba_takes_no_code_from_where_others_may_write(tmp_path: Path) -> None:
    from numbaflow.jit.runtime import parallel

    folder = tmp_path / "numba"
    folder.mkdir(mode=0o700)
    (folder / "parallel.walk-1.nbi").write_bytes(b"a pickle")
    (folder / "parallel.walk-1.nbi").chmod(0o600)
    assert parallel._is_trusted(folder)
    for place in (folder / "parallel.walk-1.nbi", folder, tmp_path):
        mode = place.stat().st_mode
        place.chmod(0o777)
        assert not parallel._is_trusted(folder)
        place.chmod(mode)
    assert parallel._is_trusted(folder)
    assert not parallel._is_trusted(tmp_path / "absent")


# Says which processes are started while a command runs.
AUDIT = """
import sys
def told(event, details):
    if event.startswith(("subprocess.", "os.exec", "os.posix_spawn", "os.system", "os.spawn")):
        print("STARTED", event, details, file=sys.stderr)
sys.addaudithook(told)
from numbaflow.cli.main import main
sys.argv = ["numbaflow", *sys.argv[1:]]
main()
"""


@pytest.mark.parametrize("command", ["info", "cache list", "cache verify", "plan graph.pb -f y"])
def test_commands_start_no_processes(tmp_path: Path, command: str) -> None:
    """Not even those of the system, which are looked for along PATH."""
    graph = numbaflow.Graph()
    with graph.as_default():
        x = numbaflow.placeholder(numbaflow.float32, [None, 3], name="x")
        numbaflow.add(x, 1.0, name="y")
    (tmp_path / "graph.pb").write_bytes(graph.as_graph_def().SerializeToString())
    path = os.pathsep.join(folder for folder in sys.path if folder)
    environment = {"NUMBAFLOW_CACHE": str(tmp_path / "kernels"), "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", AUDIT, *command.split()],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, **environment},
        timeout=120,
    )
    assert done.returncode == 0 and "STARTED" not in done.stderr, done.stderr
