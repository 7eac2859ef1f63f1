# SPDX-License-Identifier: Apache-2.0
"""Internal modules of TensorFlow's: what they answer, and how what is absent fails."""

from __future__ import annotations

import functools
import importlib
import sys
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.alias import finder
from numbaflow.alias.internals import eager, framework, functions, products
from numbaflow.alias.internals.compat_v2 import V2

pytestmark = pytest.mark.pure


def view(path: str) -> Any:
    """The module of this path below `tensorflow`, as `import` gives it."""
    return finder.resolve(f"tensorflow.{path}")


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("python.util.tf_decorator", "make_decorator unwrap rewrap TFDecorator"),
        ("python.util.tf_inspect", "getargspec getfullargspec isclass ismethod getcallargs"),
        ("python.util.function_utils", "fn_args has_kwargs get_func_name get_func_code"),
        ("python.util.deprecation", "silence deprecated_args deprecated deprecated_alias"),
        ("python.eager.context", "executing_eagerly context graph_mode in_eager_mode num_gpus"),
        ("python.eager.backprop", "GradientTape implicit_grad make_vjp"),
        ("python.eager.tape", "Tape"),
        ("python.framework.ops", "_TensorLike EagerTensor _get_graph_from_inputs init_scope"),
        ("python.framework.test_util", "TensorFlowTestCase run_deprecated_v1 assert_ops_in_graph"),
        ("python.client.device_lib", "list_local_devices"),
        ("python.ops.control_flow_util", "GraphOrParentsInXlaContext IsInWhileLoop"),
        ("python.ops.metrics_impl", "metric_variable _remove_squeezable_dimensions"),
        ("python.tpu.tpu_function", "get_tpu_context"),
        ("python.debug", "LocalCLIDebugWrapperSession has_inf_or_nan"),
        ("python.debug.wrappers.hooks", "LocalCLIDebugHook"),
        ("python.distribute.distribution_strategy_context", "get_replica_context has_strategy"),
        ("python.profiler.model_analyzer", "profile"),
    ],
)
def test_names_that_libraries_import(module: str, names: str) -> None:
    found = view(module)
    assert not [name for name in names.split() if not hasattr(found, name)]


def test_arguments_of_functions() -> None:
    def inner(a: int, b: int = 1, *rest: int, **named: int) -> None:
        pass

    class Callable_:
        def __call__(self, x: int, y: int) -> None:
            pass

        def method(self, z: int) -> None:
            pass

    assert functions.fn_args(inner) == ("a", "b")
    assert functions.fn_args(functools.partial(inner, 1)) == ("b",)
    assert functions.fn_args(functools.partial(inner, b=2)) == ("a",)
    assert functions.fn_args(Callable_()) == ("x", "y")
    assert functions.fn_args(Callable_().method) == ("z",)
    assert functions.has_kwargs(inner) and not functions.has_kwargs(Callable_())
    assert functions.getargspec(inner) == (["a", "b"], "rest", "named", (1,))
    spec = functions.getargspec(functools.partial(inner, b=3))
    assert spec.args == ["a", "b"] and spec.defaults == (3,)
    assert functions.get_func_code(inner) is inner.__code__
    with pytest.raises(TypeError, match="should be a function-like object"):
        functions.has_kwargs(3)


def test_decorators_know_what_is_inside() -> None:
    def inner(a: int) -> int:
        return a

    def outer(*args: int) -> int:
        return inner(*args) + 1

    made = functions.make_decorator(inner, outer, "twice")
    decorators, target = functions.unwrap(made)
    assert target is inner and [one.decorator_name for one in decorators] == ["twice"]
    assert made(1) == 2 and made.__name__ == "inner" and functions.fn_args(made) == ("a",)
    functions.rewrap(made, inner, outer)
    assert functions.unwrap(inner) == ([], inner)


@pytest.mark.parametrize(
    ("thing", "name"),
    [
        (products.LocalCLIDebugWrapperSession, "LocalCLIDebugWrapperSession"),
        (eager.eager_mode, "eager_mode"),
        (eager.implicit_grad, "tf.contrib.eager.implicit_gradients"),
        (products.profile, "tf.profiler.profile"),
    ],
)
def test_what_is_absent_fails_with_its_name(thing: Any, name: str) -> None:
    with pytest.raises(NotImplementedError, match=f"{name} is not in numbaflow"):
        thing(tf.Session(), ui_type="curses")

    class Mine(thing):
        pass

    with pytest.raises(NotImplementedError, match="is not in numbaflow"):
        Mine()


def test_questions_have_answers() -> None:
    assert not eager.executing_eagerly() and eager.in_graph_mode() and eager.num_gpus() == 0
    assert not eager.context().executing_eagerly()
    assert not isinstance(tf.constant(1), eager.EagerTensor)
    assert isinstance(tf.constant(1), framework._TensorLike)
    (device,) = framework.list_local_devices()
    assert device.device_type == "CPU" and device.name == "/device:CPU:0"
    assert products.has_inf_or_nan(None, np.array([1.0, np.nan]))
    assert not products.has_inf_or_nan(None, np.array([1, 2]))
    tpus, strategies = view("python.tpu.tpu_function"), view("python.distribute.distribute_lib")
    assert tpus.get_tpu_context().number_of_shards is None
    with tpus.tpu_shard_context(8):
        assert tpus.get_tpu_context().number_of_shards == 8
    assert strategies.get_replica_context().merge_call(lambda _, x: x, (3,)) == 3
    one, other = [1], [1]
    known = framework.ObjectIdentitySet([one])
    assert one in known and other not in known


def test_version_2_of_names_is_seen() -> None:
    assert tf.compat.v2 is V2 and V2.nn.relu is tf.nn.relu
    assert V2.argmax is tf.argmax and V2.io.gfile is not tf.gfile
    entropy = V2.nn.softmax_cross_entropy_with_logits
    assert entropy is tf.nn.softmax_cross_entropy_with_logits_v2
    assert view("compat.v2.nn").tanh is tf.nn.tanh and not hasattr(V2, "summary")
    assert "numbaflow.compat.v2.nn" in sys.modules and hasattr(V2, "function")
    with pytest.raises(NotImplementedError, match="tf.compat.v2.function is not in numbaflow"):
        V2.function(lambda: 1)


def test_every_public_namespace_is_below_compat_v1() -> None:
    for name in ("train", "nn", "summary", "logging", "flags", "app", "gfile", "layers"):
        assert view(f"compat.v1.{name}") is getattr(tf, name)
    assert importlib.import_module("numbaflow.compat.v1") is tf
