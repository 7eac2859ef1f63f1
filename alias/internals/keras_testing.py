# SPDX-License-Identifier: Apache-2.0
"""What tests written for Keras use: `tensorflow.python.keras.keras_parameterized`, `testing_utils`.

Graphs and sessions are the one mode that there is here.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...engine.interface import testing
from .test_util import for_all_test_methods


def __getattr__(name: str) -> Any:
    """`TestCase`, which needs absl's tests with parameters, as programs that ask for it have."""
    if name != "TestCase":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from absl.testing import parameterized

    made = type("TestCase", (testing.TestCase, parameterized.TestCase), {"__module__": __name__})
    globals()[name] = made
    return made


def run_all_keras_modes(
    test_or_class: Any = None,
    config: Any = None,
    always_skip_v1: bool = False,
    always_skip_eager: bool = False,
) -> Any:
    """A decorator of a test, or of a class of such, that runs in a session.

    Args:
        test_or_class: what is decorated; None to get the decorator.
        config: a ConfigProto of the session.
        always_skip_v1: whether the test is for eager mode alone, and is skipped.
        always_skip_eager: as it is.
    """
    del always_skip_eager

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def test(self: Any, *args: Any, **kwargs: Any) -> None:
            if always_skip_v1:
                self.skipTest("Test is only compatible with eager mode")
            with self.test_session(use_gpu=True, config=config):
                function(self, *args, **kwargs)

        return test

    def of_any(thing: Any) -> Any:
        if isinstance(thing, type):
            return for_all_test_methods(lambda: decorated)(thing)
        return decorated(thing)

    return of_any if test_or_class is None else of_any(test_or_class)


def should_run_eagerly() -> bool:
    """Whether models are to run eagerly: never."""
    return False


def should_run_tf_function() -> bool:
    """Whether models are to run as functions of eager mode: never."""
    return False


@contextlib.contextmanager
def run_eagerly_scope(value: bool) -> Iterator[None]:
    """A context in which models are to run eagerly, or not; ValueError if they are to."""
    if value:
        raise ValueError("numbaflow has no eager mode: run_eagerly_scope(True)")
    yield


def get_test_data(
    train_samples: int,
    test_samples: int,
    input_shape: tuple[int, ...],
    num_classes: int,
    random_seed: int | None = None,
) -> Any:
    """((x, y), (x, y)) to train with and to test: noise around a template of each class.

    Args:
        train_samples, test_samples: how many there are.
        input_shape: of one sample.
        num_classes: how many classes.
        random_seed: of NumPy's random numbers; None for what its generator has.
    """
    if random_seed is not None:
        np.random.seed(random_seed)
    count = train_samples + test_samples
    templates = 2 * num_classes * np.random.random((num_classes, *input_shape))
    y = np.random.randint(0, num_classes, size=(count,))
    noise = [np.random.normal(loc=0, scale=1.0, size=input_shape) for _ in range(count)]
    x = (templates[y] + np.reshape(noise, (count, *input_shape))).astype(np.float32)
    cut = train_samples
    return (x[:cut], y[:cut]), (x[cut:], y[cut:])
