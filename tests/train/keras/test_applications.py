# SPDX-License-Identifier: Apache-2.0
"""`tf.keras.applications`: networks of the shapes and names that their weights' files have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

applications = tf.keras.applications
pytestmark = pytest.mark.cpu

# Name -> layers, weights and their elements, the last layer and the middle one, as TensorFlow
# 1.15 has them.
NETWORKS = {
    "DenseNet121": (429, 606, 8062504, "fc1000", "conv4_block11_1_bn"),
    "InceptionResNetV2": (782, 898, 55873736, "predictions", "batch_normalization_106"),
    "InceptionV3": (313, 378, 23851784, "predictions", "batch_normalization_40"),
    "MobileNet": (93, 137, 4253864, "act_softmax", "conv_dw_7_relu"),
    "MobileNetV2": (157, 262, 3538984, "Logits", "block_8_depthwise_relu"),
    "NASNetMobile": (771, 1126, 5326716, "predictions", "separable_conv_2_bn_normal_right2_5"),
    "ResNet50": (177, 320, 25636712, "probs", "conv4_block1_3_conv"),
    "ResNet50V2": (192, 272, 25613800, "probs", "conv4_block1_3_conv"),
    "VGG16": (23, 32, 138357544, "predictions", "block4_conv1"),
    "VGG19": (26, 38, 143667240, "predictions", "block4_conv2"),
    "Xception": (134, 236, 22910480, "predictions", "block8_sepconv1"),
}


@pytest.fixture(autouse=True)
def fresh() -> Any:
    """A graph and names of the test's own."""
    tf.keras.backend.clear_session()
    yield
    tf.keras.backend.clear_session()


@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_networks_are_tensorflows(name: str) -> None:
    model = getattr(applications, name)(weights=None)
    layers = [layer.name for layer in model.layers]
    found = (len(layers), len(model.weights), model.count_params())
    assert (*found, layers[-1], layers[len(layers) // 2]) == NETWORKS[name]


def test_a_network_without_its_top_begins_another(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    made = {"include_top": False, "input_shape": (32, 32, 3), "pooling": "avg", "alpha": 0.25}
    base = applications.MobileNet(weights=None, **made)
    path = tmp_path / "weights.h5"
    base.save_weights(str(path))
    images = np.random.RandomState(0).rand(2, 32, 32, 3)
    wanted = base.predict(images)
    again = applications.MobileNet(weights=str(path), **made)
    np.testing.assert_allclose(again.predict(images), wanted, rtol=1e-5)
    again.trainable = False
    model = tf.keras.Sequential([again, tf.keras.layers.Dense(3, activation="softmax")])
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(images, np.array([0, 2]), verbose=0)
    np.testing.assert_allclose(again.predict(images), wanted, rtol=1e-5)


def test_a_network_begins_at_a_tensor_of_the_programs() -> None:
    start = tf.keras.Input((64, 64, 3))
    doubled = tf.keras.layers.Lambda(lambda x: x * 2.0)(start)
    model = applications.VGG16(weights=None, include_top=False, input_tensor=doubled)
    assert model.inputs[0] is start and model.output_shape == (None, 2, 2, 512)


@pytest.mark.parametrize(
    ("network", "arguments", "text"),
    [
        ("VGG16", {"weights": "nowhere.h5"}, "'nowhere.h5' is no file"),
        ("VGG16", {"weights": "imagenet", "classes": 10}, "`classes` should be 1000, not 10"),
        ("VGG16", {"input_shape": (16, 16, 3), "include_top": False}, "at least 32x32"),
        ("VGG16", {"input_shape": (None, 64, 3)}, "static `input_shape`"),
        ("ResNet50", {"input_shape": (64, 64)}, "a tuple of three integers"),
        ("MobileNet", {"weights": "imagenet", "alpha": 0.3}, "alpha can be one of"),
        ("MobileNet", {"weights": "imagenet", "depth_multiplier": 2}, "depth multiplier must be 1"),
    ],
)
def test_what_a_network_cannot_be(network: str, arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        getattr(applications, network)(**{"weights": None, **arguments})


def test_pixels_are_brought_into_three_forms() -> None:
    pixels = np.arange(24, dtype=np.float32).reshape(1, 2, 4, 3) * 10
    halves = applications.mobilenet.preprocess_input(pixels.copy())
    np.testing.assert_allclose(halves, pixels / 127.5 - 1, rtol=1e-6)
    turned = applications.vgg16.preprocess_input(pixels.copy())
    mean = np.array([103.939, 116.779, 123.68], np.float32)
    np.testing.assert_allclose(turned, pixels[..., ::-1] - mean, rtol=1e-6)
    mean, deviation = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    normal = applications.densenet.preprocess_input(pixels.copy())
    np.testing.assert_allclose(normal, (pixels / 255 - mean) / deviation, rtol=1e-5)
    first = np.moveaxis(pixels, -1, 1).copy()
    for family, wanted in (("vgg16", turned), ("densenet", normal)):
        prepare = getattr(applications, family).preprocess_input
        with tf.Session() as session:
            tensor = session.run(prepare(tf.constant(pixels)))
        np.testing.assert_allclose(tensor, wanted, rtol=1e-5, atol=1e-6)
        moved = prepare(first.copy(), data_format="channels_first")
        np.testing.assert_allclose(np.moveaxis(moved, 1, -1), wanted, rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="Unknown data_format rows"):
        applications.vgg16.preprocess_input(pixels, data_format="rows")
    with pytest.raises(ValueError, match=r"\(samples, 1000\)"):
        applications.vgg16.decode_predictions(np.zeros((2, 10)))
