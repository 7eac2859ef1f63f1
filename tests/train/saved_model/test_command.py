# SPDX-License-Identifier: Apache-2.0
"""saved_model_cli: what it prints, the inputs that it takes, and what it refuses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.io import protos
from numbaflow.train.saved_model.command import main
from numbaflow.train.saved_model.inputs import (
    load_inputs_from_input_arg_string,
    preprocess_input_examples_arg_string,
    preprocess_input_exprs_arg_string,
    preprocess_inputs_arg_string,
)

pytestmark = pytest.mark.programs

EVERYTHING = """
MetaGraphDef with tag-set: 'serve' contains the following SignatureDefs:

signature_def['serving_default']:
  The given SavedModel SignatureDef contains the following input(s):
    inputs['x'] tensor_info:
        dtype: DT_FLOAT
        shape: (-1, 2)
        name: x:0
  The given SavedModel SignatureDef contains the following output(s):
    outputs['y'] tensor_info:
        dtype: DT_FLOAT
        shape: (-1, 2)
        name: y:0
  Method name is: tensorflow/serving/predict
"""


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        v = tf.get_variable("v", initializer=[1.0, 2.0])
        session.run(v.initializer)
        tf.saved_model.simple_save(session, path, {"x": x}, {"y": tf.multiply(x, v, name="y")})
    return path


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], "The given SavedModel contains the following tag-sets:\nserve\n"),
        (["--all"], EVERYTHING),
        (["--tag_set", "serve"], 'SignatureDef key: "serving_default"\n'),
        (["--tag_set", "serve", "--signature_def", "serving_default"], "      shape: (-1, 2)\n"),
    ],
)
def test_what_a_model_holds(model: str, capsys: Any, options: list[str], expected: str) -> None:
    assert main(["show", "--dir", model, *options]) == 0
    assert expected in capsys.readouterr().out


@pytest.mark.process
def test_the_command_line(model: str) -> None:
    call = [sys.executable, "-m", "numbaflow", "saved-model"]
    done = subprocess.run(
        [*call, "show", "--dir", model, "--all"], capture_output=True, text=True, check=True
    )
    assert done.stdout == EVERYTHING
    assert "--tag_set" in subprocess.check_output([*call, "run", "--help"], text=True)
    done = subprocess.run([*call, "show", "--dir", "none"], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("numbaflow saved-model: SavedModel file does not exist at: none")


def test_ops_that_reach_out(model: str, capsys: Any) -> None:
    assert main(["scan", "--dir", model]) == 0
    assert "does not contain blacklisted ops" in capsys.readouterr().out


def test_a_signature_runs(model: str, tmp_path: Path, capsys: Any) -> None:
    np.savez(tmp_path / "in.npz", a=np.float32([[3, 4]]), b=np.zeros(1))
    run = ["run", "--dir", model, "--tag_set", "serve", "--signature_def", "serving_default"]
    outdir = ["--outdir", str(tmp_path / "out")]
    assert main([*run, "--inputs", f"x={tmp_path / 'in.npz'}[a]", *outdir]) == 0
    assert "Result for output key y:\n[[3. 8.]]\n" in capsys.readouterr().out
    np.testing.assert_array_equal(np.load(tmp_path / "out" / "y.npy"), [[3, 8]])
    assert main([*run, "--input_exprs", "x=np.ones((1, 2))", *outdir]) == 1
    assert 'y.npy already exists. Add "--overwrite"' in capsys.readouterr().err
    assert main([*run, "--input_exprs", "x=[[1, 1]]", *outdir, "--overwrite"]) == 0
    for options, expected in (
        ([], "At least one of --inputs, --input_exprs or --input_examples"),
        (["--input_exprs", "z=1"], '"z" is not a valid input key. Please choose from "[\'x\']"'),
        (["--input_exprs", "x=open('f')"], "is not a valid python literal"),
    ):
        assert main([*run, *options]) == 1
        assert expected in capsys.readouterr().err


@pytest.mark.pure
def test_files_and_expressions(tmp_path: Path) -> None:
    assert preprocess_inputs_arg_string(r"x=C:\a b.npz[v:0];y:0=c.npy") == {
        "x": (r"C:\a b.npz", "v:0"),
        "y:0": ("c.npy", None),
    }
    assert preprocess_input_exprs_arg_string("x=[4, 5];y='a=b'") == {"x": [4, 5], "y": "a=b"}
    found = preprocess_input_exprs_arg_string("x=np.full((2,), 3, dtype='int64')", safe=False)
    np.testing.assert_array_equal(found["x"], [3, 3])
    for text in ("x=file[[v]v2", "x:file"):
        with pytest.raises(RuntimeError, match="format is incorrect"):
            preprocess_inputs_arg_string(text)
    for text in ("x=np.load('f')", "x=f()", "x=np.ones(g())"):
        with pytest.raises(RuntimeError, match="not a valid python literal"):
            preprocess_input_exprs_arg_string(text, safe=False)


@pytest.mark.pure
def test_examples() -> None:
    (text,) = preprocess_input_examples_arg_string("x=[{'a': [1], 'b': [2.5], 'c': ['t']}]")["x"]
    features = protos.Example.FromString(text).features.feature
    assert list(features["a"].int64_list.value) == [1]
    assert list(features["b"].float_list.value) == [2.5]
    assert list(features["c"].bytes_list.value) == [b"t"]
    for wrong, expected in (
        ("x={}", "must be a list of dictionaries"),
        ("x=[{'a': 1}]", "feature value must be a list"),
        ("x=[{'a': [None]}]", "is not supported for tf.train.Feature"),
    ):
        with pytest.raises(ValueError, match=expected):
            preprocess_input_examples_arg_string(wrong)


@pytest.mark.pure
def test_arrays_in_files(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", [1])
    np.savez(tmp_path / "two.npz", a=[1], b=[2])
    np.save(tmp_path / "objects.npy", np.array([None]), allow_pickle=True)
    with pytest.warns(UserWarning, match='Name key "z" ignored'):
        found = load_inputs_from_input_arg_string(f"x={tmp_path}/a.npy[z]", "", "")
    assert list(found["x"]) == [1]
    with pytest.warns(UserWarning, match="specified in multiple options"):
        found = load_inputs_from_input_arg_string(f"x={tmp_path}/a.npy", "x=7", "")
    assert found == {"x": 7}
    for text, expected in (
        ("two.npz", "contains more than one ndarrays"),
        ("two.npz[c]", 'does not contain variable with name "c"'),
        ("objects.npy", "no array file of NumPy's"),
    ):
        with pytest.raises(RuntimeError, match=expected):
            load_inputs_from_input_arg_string(f"x={tmp_path}/{text}", "", "")
