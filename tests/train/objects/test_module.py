# SPDX-License-Identifier: Apache-2.0
"""`tf.Module`: names, what it finds among its attributes, and that checkpoints hold it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def _fresh_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


class Dense(tf.Module):
    def __init__(self, units: int, name: str | None = None) -> None:
        super().__init__(name)
        self.units = units
        self.w: Any = None

    @tf.Module.with_name_scope
    def __call__(self, x: Any) -> Any:
        if self.w is None:
            self.w = tf.Variable(tf.ones([x.shape[1], self.units]), name="w")
        return tf.matmul(x, self.w)


class TwoLayers(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = tf.Variable(2.0, trainable=False)
        with self.name_scope:
            self.layers = [Dense(3), {"last": Dense(2, "out")}]

    def __call__(self, x: Any) -> Any:
        return self.layers[1]["last"](self.layers[0](x)) * self.scale


def test_what_a_module_finds() -> None:
    model = TwoLayers()
    y = model(tf.ones([4, 5]))
    assert (model.name, model.name_scope.name) == ("two_layers", "two_layers/")
    names = [v.op.name for v in model.variables]
    assert names == ["Variable", "two_layers/dense/w", "two_layers/out/w"]
    assert [v.op.name for v in model.trainable_variables] == names[1:]
    assert [module.name for module in model.submodules] == ["dense", "out"]
    assert y.op.name == "mul"
    paths = [path for path, _ in model._flatten(predicate=tf.is_tensor, with_path=True)]
    assert paths == [("scale",), ("layers", 0, "w"), ("layers", 1, "last", "w")]
    with pytest.raises(ValueError, match="not a valid module name"):
        tf.Module("two words")


def test_modules_in_checkpoints(tmp_path: Path) -> None:
    with tf.Session() as session:
        model = TwoLayers()
        y = tf.reduce_sum(model(tf.ones([4, 5])))
        root = tf.train.Checkpoint(model=model)
        session.run([tf.global_variables_initializer(), root.save_counter.initializer])
        path = root.save(str(tmp_path / "m"), session)
        names = [name for name, _ in tf.train.list_variables(path)]
        assert "model/layers/1/last/w/.ATTRIBUTES/VARIABLE_VALUE" in names
        before = session.run(y)
        session.run([v.assign(tf.zeros_like(v)) for v in model.variables])
        root.restore(path).assert_consumed().run_restore_ops(session)
        assert session.run(y) == before == 240.0
