# SPDX-License-Identifier: Apache-2.0
"""`numbaflow run` behaves as `python` does: every case is run both ways and compared."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import numbaflow

pytestmark = pytest.mark.process


def execute(arguments: list[str], cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        arguments, cwd=cwd, input=stdin, capture_output=True, text=True, timeout=60, check=False
    )


def run(*arguments: str, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """`python -m numbaflow run ...`."""
    return execute([sys.executable, "-m", "numbaflow", "run", *arguments], cwd, stdin)


def assert_like_python(*arguments: str, cwd: Path, stdin: str = "") -> None:
    """The launcher and Python give the same output, errors and exit code."""
    ours = run(*arguments, cwd=cwd, stdin=stdin)
    python = execute([sys.executable, *arguments], cwd, stdin)
    assert ours.stdout == python.stdout
    assert ours.stderr == python.stderr
    assert ours.returncode == python.returncode


def write(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return name


SHOW_MAIN = """
import sys, __main__
print(sys.argv, sys.path[0], __name__, __file__, __package__, __doc__)
special = {k for k in globals() if k.startswith("__")} - {"__annotations__"}
print(__main__.__dict__ is globals(), sorted(special))
print(type(__loader__).__name__, __spec__ and __spec__.name)
"""


def test_main_module_arguments_and_path(tmp_path: Path) -> None:
    script = write(tmp_path, "inner/show.py", SHOW_MAIN)
    assert_like_python(script, "--flag", "-m", "value", cwd=tmp_path)
    assert_like_python(str(tmp_path / script), cwd=tmp_path)


def test_a_command_in_the_folder_of_the_package() -> None:
    text = "import tensorflow as tf, numpy as np; print(tf.Session().run(tf.constant(np.float(3))))"
    done = run("-c", text, cwd=Path(numbaflow.__file__).parent)
    assert done.stdout == "3.0\n", done.stderr


def test_module_package_command_and_stdin(tmp_path: Path) -> None:
    write(tmp_path, "show.py", SHOW_MAIN)
    write(tmp_path, "pack/__init__.py", "print('package')")
    write(tmp_path, "pack/__main__.py", SHOW_MAIN + "\nfrom . import other")
    write(tmp_path, "pack/other.py", "print(__name__)")
    assert_like_python("-m", "show", "a", "-b", cwd=tmp_path)
    assert_like_python("-m", "pack", cwd=tmp_path)
    assert_like_python("-m", "pack.other", cwd=tmp_path)
    command = "import sys; print(sys.argv, repr(sys.path[0]), __name__)"
    assert_like_python("-c", command, "x", cwd=tmp_path)
    assert_like_python("-", "x", cwd=tmp_path, stdin="import sys; print(sys.argv, __name__)")


def test_folder_and_archive(tmp_path: Path) -> None:
    write(tmp_path, "folder/__main__.py", "import helper, sys; print(sys.argv, sys.path[0])")
    write(tmp_path, "folder/helper.py", "print('helper')")
    with zipfile.ZipFile(tmp_path / "app.zip", "w") as archive:
        archive.write(tmp_path / "folder/__main__.py", "__main__.py")
        archive.write(tmp_path / "folder/helper.py", "helper.py")
    assert_like_python("folder", "1", cwd=tmp_path)
    assert_like_python("app.zip", cwd=tmp_path)


@pytest.mark.parametrize("code", ["0", "3", "None", "'a message'", "True"])
def test_exit_codes(tmp_path: Path, code: str) -> None:
    assert_like_python(write(tmp_path, "leave.py", f"import sys; sys.exit({code})"), cwd=tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    return 1 / 0\n\nf()\n",
        "try:\n    {}['a']\nexcept KeyError:\n    raise ValueError('b')\n",
        "raise ExceptionGroup('many', [ValueError(1), TypeError(2)])\n",
        "a = (1,\n",
        "import sys\nsys.excepthook = lambda *a: print('hook', a[0], a[2].tb_lineno)\n1 / 0\n",
        "import atexit\natexit.register(print, 'bye')\nraise RuntimeError('x')\n",
        "import missing_module_name\n",
    ],
)
def test_tracebacks_show_the_program_only(tmp_path: Path, text: str) -> None:
    assert_like_python(write(tmp_path, "fails.py", text), cwd=tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_keyboard_interrupt_ends_as_under_python(tmp_path: Path) -> None:
    result = run(write(tmp_path, "stop.py", "raise KeyboardInterrupt\n"), cwd=tmp_path)
    assert result.returncode == -signal.SIGINT
    assert "launcher" not in result.stderr


def test_missing_files_and_modules(tmp_path: Path) -> None:
    assert_like_python("absent.py", cwd=tmp_path)
    assert_like_python("-m", "absent_module", cwd=tmp_path)
    assert_like_python("-m", "absent_package.module", cwd=tmp_path)
    write(tmp_path, "plain/__init__.py", "")
    assert_like_python("-m", "plain", cwd=tmp_path)
    assert run(cwd=tmp_path).returncode == 2
    assert "Usage" in run("--help", cwd=tmp_path).stdout


def test_pickles_find_classes_of_the_program(tmp_path: Path) -> None:
    text = "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))) is A)\n"
    assert_like_python(write(tmp_path, "pickles.py", text), cwd=tmp_path)


def test_tensorflow_means_numbaflow(tmp_path: Path) -> None:
    text = """
import tensorflow as tf
import tensorflow.compat.v1 as v1
from tensorflow.python.framework import ops
import numbaflow
assert tf.Graph is numbaflow.Graph and v1.Graph is numbaflow.Graph
assert ops.Graph is numbaflow.Graph
print("same")
"""
    result = run(write(tmp_path, "alias/finder.py", text), cwd=tmp_path)
    assert result.stdout == "same\n", result.stderr


def test_other_processes_keep_their_tensorflow(tmp_path: Path) -> None:
    text = "import sys; import numbaflow; sys.exit('tensorflow' in sys.modules)"
    assert execute([sys.executable, "-c", text], tmp_path).returncode == 0


def test_commands(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "numbaflow"]
    assert "run" in execute([*command, "--help"], tmp_path).stdout
    version = execute([*command, "--version"], tmp_path).stdout.split()
    assert version[0] == "numbaflow"
    facts = execute([*command, "info"], tmp_path).stdout
    assert "numba" in facts and "cache" in facts
