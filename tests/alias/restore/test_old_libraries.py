# SPDX-License-Identifier: Apache-2.0
"""Libraries of TensorFlow 1's years: which they are, and that old message modules work."""

from __future__ import annotations

import ast
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf import descriptor_pb2

from numbaflow.alias.restore import libraries, old_protos, rewriting


def _install(site: Path, name: str, code: str, python: str = "", listed: bool = True) -> str:
    package = site / name
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "inner.py").write_text(code)
    facts = site / f"{name}-1.0.dist-info"
    facts.mkdir()
    needs = f"Requires-Python: {python}\n" if python else ""
    (facts / "METADATA").write_text(f"Name: {name}\n{needs}\nRequires-Python: no header\n")
    if listed:
        (facts / "top_level.txt").write_text(f"{name}\n")
    return str(package / "inner.py")


@pytest.mark.pure
@pytest.mark.parametrize(
    ("code", "python", "listed", "expected"),
    [
        ("import tensorflow as tf\n", "", True, True),
        ("def f():\n    from tensorflow.python import x\n", ">=3.5", True, True),
        ("import tensorflow as tf\n", ">=3.8", True, False),
        ("import tensorflow as tf\n", "", False, False),
        ("import tensorflow_like\n", "", True, False),
    ],
)
def test_libraries_of_those_years(
    tmp_path: Path, code: str, python: str, listed: bool, expected: bool
) -> None:
    file = _install(tmp_path, "lib", code, python, listed)
    assert libraries.is_of_those_years("lib.inner", file) is expected
    assert libraries.is_of_those_years("lib", str(tmp_path / "lib" / "__init__.py")) is expected


@pytest.mark.pure
def test_folders_in_which_nothing_is_installed(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("import tensorflow\n")
    assert libraries.is_of_those_years("one", str(tmp_path / "one.py"))
    assert not libraries.is_of_those_years("gone", str(tmp_path / "other.py"))


@pytest.mark.process
def test_calls_of_such_libraries_are_restored(tmp_path: Path) -> None:
    site, program = tmp_path / "site", tmp_path / "program"
    site.mkdir()
    program.mkdir()
    code = "import numpy as np\nimport tensorflow as tf\nkind = np.array([[1], [2, 3]]).dtype\n"
    _install(site, "old_one", code)
    _install(site, "new_one", code, python=">=3.9")
    run = [sys.executable, "-m", "numbaflow", "run", "-c"]
    lines = f"import sys; sys.path.append({str(site)!r}); import"
    done = subprocess.run(
        [*run, f"{lines} old_one.inner; print(old_one.inner.kind)"],
        capture_output=True,
        text=True,
        check=False,
        cwd=program,
    )
    assert done.stdout == "object\n", done.stderr
    done = subprocess.run(
        [*run, f"{lines} new_one.inner"], capture_output=True, text=True, check=False, cwd=program
    )
    assert "inhomogeneous" in done.stderr


@pytest.mark.pure
def test_messages_that_an_old_protoc_described(tmp_path: Path) -> None:
    described = descriptor_pb2.FileDescriptorProto(
        name="numbaflow_old_test.proto", package="numbaflow_old_test", syntax="proto3"
    )
    field = described.message_type.add(name="Thing").field.add(name="count", number=1)
    field.type, field.label = field.TYPE_INT32, field.LABEL_OPTIONAL
    text = described.SerializeToString().decode("latin1")
    source = (
        "import sys\n_b=sys.version_info[0]<3 and (lambda x:x) or (lambda x:x.encode('latin1'))\n"
        "from google.protobuf import descriptor as _descriptor\n"
        "DESCRIPTOR = _descriptor.FileDescriptor(\n  name='x.proto',\n"
        f"  serialized_pb=_b({text!r})\n)\n"
    )
    file = tmp_path / "old_pb2.py"
    assert old_protos.is_old(str(file), source.encode())
    assert not old_protos.is_old("old_pb2.py", b"import sys")
    spec = importlib.util.spec_from_loader("old_pb2", None)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    exec(old_protos.compile_messages(source.encode(), str(file)), module.__dict__)
    assert module.Thing(count=3).SerializeToString() == b"\x08\x03"
    with pytest.raises(ValueError, match="does not hold the description"):
        old_protos.compile_messages(b"_descriptor.FileDescriptor(name='x')", "x_pb2.py")


@pytest.mark.process
def test_old_messages_of_a_library_that_knows_nothing_of_tensorflow(tmp_path: Path) -> None:
    described = descriptor_pb2.FileDescriptorProto(name="apart.proto", syntax="proto3")
    described.message_type.add(name="Apart")
    package = tmp_path / "site" / "apart"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "other_pb2.py").write_text("here = 1\n")
    (package / "apart_pb2.py").write_text(
        "from google.protobuf import descriptor as _descriptor\n"
        "DESCRIPTOR = _descriptor.FileDescriptor(\n"
        f"  name='apart.proto', serialized_pb={described.SerializeToString()!r})\n"
    )
    lines = "from apart import apart_pb2, other_pb2; print(apart_pb2.Apart(), other_pb2.here)"
    done = subprocess.run(
        [sys.executable, "-m", "numbaflow", "run", "-c", lines],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(package.parent)},
    )
    assert done.stdout == " 1\n", done.stderr


@pytest.mark.pure
def test_a_name_that_is_none_without_its_library_is_still_the_librarys() -> None:
    code = "try:\n    import h5py\nexcept ImportError:\n    h5py = None\n"
    assert rewriting.aliases(ast.parse(code)) == {"h5py": "h5py"}
    assert rewriting.aliases(ast.parse(code.replace("None", "[]"))) == {"h5py": ""}
