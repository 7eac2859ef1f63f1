# SPDX-License-Identifier: Apache-2.0
"""Networks have the variables, end points and penalties of TensorFlow 1.15's, name by name."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu

slim = tf.contrib.slim
# "name pixels arguments" -> shape of the result; count and checksum of variables and of end points;
# counts of penalties and updates.
RECORDED = json.loads((Path(__file__).parent / "networks_1_15.json").read_text())


# Beginning of a network's name, and the module that it is in -> the scope it is made in.
SCOPES = {"vgg": "vgg_arg_scope", "resnet_v1": "resnet_arg_scope", "resnet_v2": "resnet_arg_scope"}
MODULES = ("alexnet", "overfeat", "inception", *SCOPES)


def checked(lines: list[str]) -> list[int]:
    return [len(lines), zlib.crc32("\n".join(lines).encode())]


@pytest.mark.parametrize("case", RECORDED)
def test_networks_have_the_parts_that_tensorflow_gives_them(case):
    name, pixels, arguments = case.split(" ", 2)
    home = next(module for module in MODULES if name.startswith(module))
    module = getattr(slim.nets, home)
    scope = getattr(module, SCOPES.get(home, f"{name}_arg_scope"))
    with tf.Graph().as_default():
        with slim.arg_scope(scope()):
            images = tf.zeros([2, int(pixels), int(pixels), 3])
            net, ends = getattr(module, name)(images, **json.loads(arguments))
        variables = [f"{v.op.name} {v.shape.as_list()}" for v in tf.global_variables()]
        points = sorted(f"{key} {value.shape.as_list()}" for key, value in ends.items())
        penalties = len(tf.losses.get_regularization_losses())
        updates = len(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
        found = [net.shape.as_list(), *checked(variables), *checked(points), penalties, updates]
    assert found == RECORDED[case]
