# SPDX-License-Identifier: Apache-2.0
"""The tools that show what is in a checkpoint: TensorFlow's function and the command."""

from __future__ import annotations

import argparse
import io
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import numbaflow as tf
from numbaflow.cli.main import application
from numbaflow.engine.types import dtypes
from numbaflow.io.tensor_bundle import BundleWriter
from numbaflow.train.checkpoints import inspect_checkpoint
from numbaflow.train.checkpoints.inspect_checkpoint import print_tensors_in_checkpoint_file

pytestmark = pytest.mark.pure


@pytest.fixture
def prefix(tmp_path: Path) -> str:
    with BundleWriter(str(tmp_path / "ckpt")) as writer:
        weights = np.array([[1.5, -2.0], [np.nan, 0.0]], np.float32)
        writer.add(b"dense/weights", weights, dtypes.float32)
        writer.add(b"dense/weights/Adam", np.zeros((2, 2), np.float32), dtypes.float32)
        writer.add(b"step", np.array(7, np.int64), dtypes.int64)
        names = np.array([b"a", b"bc"], object)
        writer.add(b"names", names, dtypes.string)
        writer.finish()
    return str(tmp_path / "ckpt")


def test_the_function_prints_as_tensorflows(prefix: str, capsys: pytest.CaptureFixture) -> None:
    print_tensors_in_checkpoint_file(prefix, "", False, count_exclude_pattern="Adam")
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["dense/weights (DT_FLOAT) [2,2]", "dense/weights/Adam (DT_FLOAT) [2,2]"]
    assert lines[-2].startswith("# Excluding 1 tensors (4 params) that match Adam")
    assert lines[-1] == "# Total number of params: 7"
    print_tensors_in_checkpoint_file(prefix, "step", False)
    assert capsys.readouterr().out.splitlines()[:2] == ["tensor_name:  step", "7"]
    print_tensors_in_checkpoint_file(prefix, "", False, all_tensor_names=True)
    assert len(capsys.readouterr().out.splitlines()) == 5
    print_tensors_in_checkpoint_file(f"{prefix}.data-00000-of-00001", "", True)
    assert f"inspect checkpoint --file_name = {prefix}\n" in capsys.readouterr().out


def test_print_options(prefix: str) -> None:
    before = np.get_printoptions()
    try:
        inspect_checkpoint.parse_numpy_printoption("threshold=17")
        inspect_checkpoint.parse_numpy_printoption("suppress=true")
        assert np.get_printoptions()["threshold"] == 17
        assert np.get_printoptions()["suppress"] is True
    finally:
        np.set_printoptions(**before)
    for text in ("threshold", "nothing=1", "formatter=x", "threshold=x", "suppress=perhaps"):
        with pytest.raises(argparse.ArgumentTypeError):
            inspect_checkpoint.parse_numpy_printoption(text)


def run(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(application(), ["inspect-checkpoint", *arguments])
    assert done.exit_code == code, done.output
    return done.output


def test_the_command_lists_and_prints(prefix: str) -> None:
    output = run(f"{prefix}.index")
    assert "dense/weights" in output and "2×2" in output and "4 tensors, 11 parameters" in output
    assert "1 tensors, 1 parameters" in run(prefix, "--match", "^step")
    rows = json.loads(run(prefix, "--json"))["tensors"]
    assert rows[0] == {
        "name": "dense/weights",
        "dtype": "float32",
        "shape": [2, 2],
        "parameters": 4,
    }
    assert "min -2, mean -0.166667, max 1.5, zeros 1, not finite 1" in run(
        prefix, "-t", "dense/weights"
    )
    assert json.loads(run(prefix, "-t", "names", "--json"))["value"] == ["a", "bc"]


def test_the_command_finds_damage(prefix: str) -> None:
    assert "All checksums are right" in run(prefix, "--verify")
    data = Path(f"{prefix}.data-00000-of-00001")
    content = bytearray(data.read_bytes())
    content[2] ^= 1
    data.write_bytes(content)
    output = run(prefix, "--verify", code=1)
    assert "tensor dense/weights in" in output.replace("\n", " ")
    assert "nearest: step" in run(prefix, "-t", "stop", code=1)
    assert "Failed to find any matching files" in run(f"{prefix}x", code=1)
    run(prefix, "--match", "(", code=2)


@pytest.mark.programs
def test_names_that_are_nearly_right_are_named(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.get_variable("w", [2])
        session.run(variable.initializer)
        tf.train.Saver().save(session, str(tmp_path / "model"), global_step=7)
    with pytest.raises(tf.errors.NotFoundError, match=r"any matching files.*nearest: model-7"):
        tf.train.NewCheckpointReader(str(tmp_path / "model-8"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="No such file or directory"):
        tf.train.list_variables(str(tmp_path / "nowhere" / "model-7"))


def test_a_terminal_sees_how_far_the_reading_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    class Reader:
        def get_tensor(self, name: str) -> str:
            return name

    for stream, expected in ((Terminal(), "3/3"), (io.StringIO(), "")):
        monkeypatch.setattr("sys.stderr", stream)
        monkeypatch.setenv("TERM", "xterm")
        assert inspect_checkpoint.damaged(Reader(), ["a", "b", "c"]) == {}  # type: ignore[arg-type]
        assert expected in stream.getvalue()
        assert bool(stream.getvalue()) == bool(expected)
