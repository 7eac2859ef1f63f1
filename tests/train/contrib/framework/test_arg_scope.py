# SPDX-License-Identifier: Apache-2.0
"""Argument scopes, and where modules below tensorflow.contrib are found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.pure
framework = tf.contrib.framework


@framework.add_arg_scope
def taken(*args: Any, a: object = None, b: object = None) -> Any:
    return args, a, b


def test_the_innermost_scope_and_then_the_call_go_first() -> None:
    with framework.arg_scope([taken], a=1, b=2):
        with framework.arg_scope([taken], b=3) as scope:
            assert taken(0) == ((0,), 1, 3)
            assert taken(a=4) == ((), 4, 3)
        assert taken() == ((), 1, 2)
    assert taken() == ((), None, None)
    with framework.arg_scope(scope):
        assert taken() == ((), 1, 3)


def test_what_is_not_decorated_is_refused() -> None:
    with pytest.raises(ValueError, match="not decorated"), framework.arg_scope([len], a=1):
        pass
    with pytest.raises(TypeError, match="list/tuple"), framework.arg_scope("conv", a=1):
        pass
    assert framework.current_arg_scope() == {}


def test_a_failing_body_closes_its_scope() -> None:
    with pytest.raises(KeyError), framework.arg_scope([taken], a=1):
        raise KeyError
    assert taken() == ((), None, None)


def test_modules_of_contributions_are_found_by_rule() -> None:
    from numbaflow.alias.finder import resolve

    module = resolve("tensorflow.contrib.framework.python.ops.arg_scope")
    assert module.add_arg_scope is framework.add_arg_scope
    package = resolve("tensorflow.contrib.framework.python.ops")
    assert package.arg_scope is framework.arg_scope
    with pytest.raises(ModuleNotFoundError):
        resolve("tensorflow.contrib.framework.python.ops.arg_scopes")


@pytest.mark.programs
def test_variables_are_found_by_scope_and_name() -> None:
    with tf.Graph().as_default():
        with tf.variable_scope("a"):
            first = framework.model_variable("w", [2])
        second = framework.model_variable("w", [2])
        assert framework.get_variables_by_name("w") == [first, second]
        assert framework.get_model_variables("a") == [first]
        assert framework.get_variables_to_restore(exclude=["a"]) == [second]
        assert framework.get_unique_variable("a/w") is first
        with pytest.raises(ValueError, match="Couldn't find"):
            framework.get_unique_variable("b/w")
        assign = framework.assign_from_values_fn({"a/w": np.float32([1.0, 2.0])})
        with tf.Session() as session:
            assign(session)
            assert session.run(first).tolist() == [1.0, 2.0]
