# SPDX-License-Identifier: Apache-2.0
"""The MNIST tutorial's model and batches are TensorFlow 1.15's, under all their names."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import numbaflow as tf
from numbaflow.io import mnist as reader
from numbaflow.train import mnist

from . import mnist_program

RECORDED = json.loads(Path(__file__).with_name("mnist_1_15.json").read_text())

pytestmark = pytest.mark.pure


def test_the_graph_is_that_of_tensorflow() -> None:
    assert len(RECORDED["graph"]) > 100
    assert mnist_program.graph(tf, mnist) == RECORDED["graph"]


def test_batches_come_in_the_order_of_tensorflow() -> None:
    assert mnist_program.batches(tf, reader) == RECORDED["batches"]


def test_names_of_the_tutorials() -> None:
    tutorials = tf.examples.tutorials.mnist
    assert tutorials.mnist.inference is mnist.inference
    assert tutorials.mnist.IMAGE_PIXELS == 784
    assert tutorials.input_data.read_data_sets is reader.read_data_sets
    assert tf.contrib.learn.datasets.mnist.read_data_sets is reader.read_data_sets


IMPORTS = """
from tensorflow.examples.tutorials.mnist import input_data, mnist
import tensorflow.examples.tutorials.mnist.mnist as model
import tensorflow.examples.tutorials.mnist.input_data as data
from tensorflow.contrib.learn.python.learn.datasets import base
from tensorflow.contrib.learn.python.learn.datasets.mnist import DataSet, dense_to_one_hot
import tensorflow as tf
assert tf.examples.tutorials.mnist.input_data.read_data_sets is input_data.read_data_sets
assert data.read_data_sets("", fake_data=True).train.num_examples == 10000
assert model.evaluation is mnist.evaluation
assert base.Datasets._fields == ("train", "validation", "test")
assert dense_to_one_hot.__name__ == "dense_to_one_hot" and DataSet.next_batch
"""


@pytest.mark.process
def test_imports_of_programs(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(IMPORTS)
    subprocess.run([sys.executable, "-m", "numbaflow", "run", str(program)], check=True)
