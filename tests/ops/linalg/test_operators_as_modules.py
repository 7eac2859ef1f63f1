# SPDX-License-Identifier: Apache-2.0
"""Linear operators have variables and operators among their attributes, as modules have."""

from __future__ import annotations

from typing import Any

import pytest

import numbaflow as tf

pytestmark = pytest.mark.pure


def test_operators_hold_variables_and_operators() -> None:
    with tf.Graph().as_default():
        trained = tf.get_variable("trained", [3])
        kept = tf.get_variable("kept", [3], use_resource=True, trainable=False)
        first, second = (tf.linalg.LinearOperatorDiag(v) for v in (trained, kept))
        both = tf.linalg.LinearOperatorComposition([first, second])
        assert both.variables == (trained, kept) and both.trainable_variables == (trained,)
        assert both.submodules == (first, second) and first.submodules == ()
        with first.name_scope as scope:
            assert scope.startswith("LinearOperatorDiag")

        class Model(tf.Module):
            def __init__(self) -> None:
                super().__init__()
                self.operators = [both]

            @tf.Module.with_name_scope
            def __call__(self, x: Any) -> Any:
                return tf.identity(self.operators[0].matvec(x))

        model = Model()
        assert model.submodules == (both, first, second)
        assert model.variables == (trained, kept)
        assert model(tf.ones([3])).name == "model/Identity:0"
