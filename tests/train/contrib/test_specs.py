# SPDX-License-Identifier: Apache-2.0
"""Networks written as expressions; the words and lines are those of TensorFlow 1.15.5."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def _new_graph():
    with tf.Graph().as_default():
        yield


specs = tf.contrib.specs
NET = "C = Cr(_1=[3, 3]); net = (C(_0=4) | Mp([2, 2]))**2 | Flat | Fs(10)"
STRUCTURE = (
    "_ variablev2 conv variablev2 biasadd relu maxpool variablev2 conv variablev2 biasadd relu "
    "maxpool _ stridedslice _ pack reshape variablev2 dot variablev2 biasadd sig"
)


def test_networks_are_those_of_tensorflow():
    shape = [2, 8, 8, 3]
    structure = specs.tf_spec_structure(NET, input_shape=shape)
    assert structure.split()[:13] == STRUCTURE.split()[:13]
    output = specs.create_net(NET, tf.placeholder(tf.float32, shape))
    assert output.shape == (2, 10)
    assert specs.tf_num_params(output) == (27 + 1) * 4 + (36 + 1) * 4 + (16 + 1) * 10
    lines = []
    specs.tf_parameter_summary(output, printer=lines.append)
    assert [int(line.split()[0]) for line in lines if not line.startswith("         0")] == [
        *(112, 148, 170)
    ]
    specs.tf_print(output, printer=lines.append)
    assert any("Conv2D" in line for line in lines)


def test_operators_put_functions_together():
    double = specs.Callable(lambda x: 2 * x)
    add = specs.Fun(lambda x, y=1, z=0: x + y + z)
    assert (double | add).funcall(3) == 7
    assert (double + add).funcall(3) == 10
    assert (double * add).funcall(3) == 24
    assert (double**3).funcall(1) == 8 and (double**0).funcall(1) == 1
    assert add(_1=5, _0=2).funcall(0) == 7
    assert specs.Import("f = abs").funcall(-2) == 2
    assert specs.External("math", "floor").funcall(2.5) == 2
    with pytest.raises(ValueError, match="is not callable"):
        specs.Fun(1)
    with pytest.raises(ValueError, match='failed to define "f"'):
        specs.Import("g = 1")


def test_variables_are_shared():
    spec = "F = Shared(Fr(3)); net = Conc(1, F, F) | Id"
    with tf.Session() as session:
        output = specs.create_net(spec, tf.ones([2, 3]))
        assert len(tf.trainable_variables()) == 2
        session.run(tf.global_variables_initializer())
        values = session.run(output)
    np.testing.assert_array_equal(values[:, :3], values[:, 3:])


def test_parameters_and_refusals():
    found = specs.eval_params("x = 3; y = Ui(-10, 10); z = Lf(1, 100); a = floor(pi); i = Li(1, 9)")
    assert found["x"] == 3 and -10 <= found["y"] <= 10 and 1 <= found["z"] <= 100
    assert found["a"] == 3 and 1 <= found["i"] <= 9
    assert abs(specs.Nt(0.0, 1.0, limit=0.5)) <= 0.5
    with pytest.raises(ValueError, match="keyword 'import' found in spec"):
        specs.create_net("import re; net = Relu", None)
    with pytest.raises(ValueError, match="failed to create 'net'"):
        specs.create_net("x = Relu", None)
    before = globals().get("Cr")
    with specs.LocalImport({"Cr": 5}):
        assert globals()["Cr"] == 5
    assert globals().get("Cr") is before
