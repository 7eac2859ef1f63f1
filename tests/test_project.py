# SPDX-License-Identifier: Apache-2.0
"""The project's own files agree with each other: packages, wheel, commands, no local paths."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import numbaflow

from .sources import FOLDERS, ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())

pytestmark = pytest.mark.pure


def packages_on_disk() -> set[str]:
    found = {"numbaflow"}
    for folder in FOLDERS:
        for init in (ROOT / folder).rglob("__init__.py"):
            found.add(".".join(("numbaflow", *init.parent.relative_to(ROOT).parts)))
    return found


def tracked_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).is_file()]


def test_every_package_is_listed() -> None:
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == packages_on_disk()


def test_python_files_are_in_packages() -> None:
    stray = [
        str(file.relative_to(ROOT))
        for folder in FOLDERS
        for file in (ROOT / folder).rglob("*.py")
        if not (file.parent / "__init__.py").exists()
    ]
    assert not stray


@pytest.mark.process
def test_nothing_names_a_machine() -> None:
    pattern = re.compile(r"(?<![\w.])/(work|home|root|Users)/\w|\.local/share/")
    wrong = []
    for file in tracked_files():
        if file == Path(__file__):
            continue
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        wrong += [f"{file.relative_to(ROOT)}: {m.group()}" for m in pattern.finditer(text)]
    assert not wrong


def test_the_package_states_the_projects_version() -> None:
    assert numbaflow.__numbaflow_version__ == PROJECT["project"]["version"]


def test_ci_calls_make_test() -> None:
    assert "make test" in (ROOT / ".ci" / "run").read_text()


def commands_of(*goal: str) -> str:
    """What make would run for a goal."""
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    # Without what a make that runs the tests hands on.
    outside = {"PATH": os.environ["PATH"]}
    command = ["make", "--dry-run", *goal]
    planned = subprocess.run(
        command, cwd=ROOT, env=outside, capture_output=True, text=True, check=True
    )
    return planned.stdout


@pytest.mark.process
def test_deep_tests_run_kernels_among_guards() -> None:
    planned = commands_of("test-deep")
    assert re.search(r"NUMBAFLOW_TEST_GUARDS=bytes .*-m pytest -m cpu", planned)


@pytest.mark.process
def test_a_wheel_is_made_of_committed_files_with_machine_code_of_their_own() -> None:
    planned = commands_of("wheel", "LEVELS=x86-64-v3 aarch64")
    *_, made, stored, built = planned.replace("\\\n", "").splitlines()
    assert "git checkout-index" in made and "build/wheel/numbaflow" in made
    assert "cache export-library numbaflow/jit/library/objects" in stored
    assert "--target x86-64-v3 --target aarch64" in stored and "cd build/wheel" in stored
    assert "build --wheel" in built and built.endswith("build/wheel/numbaflow")


@pytest.mark.process
def test_the_library_is_compiled_when_asked_for_and_once(tmp_path: Path) -> None:
    there = f"VENV={tmp_path}", f"PY={sys.executable}"
    (tmp_path / ".stamp-examples").touch()
    for goal in ("warm", "run"):
        assert "export-library jit/library/objects --target native" in commands_of(goal, *there)
    (tmp_path / ".warm").touch()
    for goal in ("warm", "run"):
        assert "export-library" not in commands_of(goal, *there)
    assert "export-library" not in commands_of("install", "pytest")


@pytest.mark.process
@pytest.mark.parametrize("goal", ["run", "install", "warm", "bench", "pytest"])
def test_bytecode_is_there_before_anything_is_imported(goal: str, tmp_path: Path) -> None:
    lines = commands_of(goal, f"VENV={tmp_path}", f"PY={sys.executable}").splitlines()
    at = next(n for n, line in enumerate(lines) if "compileall" in line)
    compiled = lines[at].split()
    tops = {name.split(".")[1] for name in PROJECT["tool"]["setuptools"]["packages"][1:]}
    assert tops <= set(compiled)
    assert not any("numbaflow " in line or "-m pytest" in line for line in lines[:at])


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


@pytest.mark.process
@pytest.mark.slow
def test_wheel_holds_the_package_and_nothing_else(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for file in tracked_files():
        copy = source / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())
    (source / "jit" / "library" / "objects").mkdir()
    (source / "jit" / "library" / "objects" / "linux-some.kernels").write_bytes(b"machine code")
    pytest.importorskip("build")
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(tmp_path), str(source)]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    if done.returncode and "No matching distribution" in done.stdout + done.stderr:
        pytest.skip("setuptools cannot be downloaded here")
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    tracked = {str(file.relative_to(ROOT)) for file in tracked_files()}
    expected = {
        f"numbaflow/{name}"
        for name in tracked
        if name.endswith(".py") and (name.count("/") == 0 or name.split("/")[0] in FOLDERS)
    }
    assert expected <= inside
    assert {"numbaflow/io/protos/messages.binpb", "numbaflow/jit/report/page.html"} <= inside
    assert "numbaflow/jit/library/objects/linux-some.kernels" in inside
    others = {name.split("/")[1] for name in inside if name.count("/") > 1}
    assert others <= set(FOLDERS)

    target = tmp_path / "installed"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*install, "--target", str(target), str(wheel)], check=True)
    program = "import numbaflow as tf; print(tf.__file__, tf.constant(1.0).graph.as_graph_def())"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=dict(os.environ, PYTHONPATH=str(target)),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(target)) and 'op: "Const"' in done.stdout
