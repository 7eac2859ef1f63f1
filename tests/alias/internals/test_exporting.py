# SPDX-License-Identifier: Apache-2.0
"""Code copied from TensorFlow notes its public names, watches traces and holds objects in sets."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from numbaflow.alias.internals import exporting, framework, tracing

pytestmark = pytest.mark.pure


def test_names_are_noted_of_the_thing_itself() -> None:
    class Base: ...

    class Derived(Base): ...

    assert exporting.tf_export("a.B", "B", v1=["old.B"])(Base) is Base
    assert exporting.get_v2_names(Base) == ["a.B", "B"]
    assert exporting.get_v1_names(Base) == ["old.B"]
    assert exporting.get_v1_names(Derived) == []
    exporting.estimator_export("estimator.D")(Derived)
    assert exporting.get_v1_names(Derived) == ["estimator.D"]
    with pytest.raises(exporting.SymbolAlreadyExposedError):
        exporting.tf_export("C")(Base)
    exporting.tf_export("E", overrides=[Base])(lambda: None)
    assert exporting.get_v2_names(Base) == []


def test_names_of_estimators_are_theirs_alone() -> None:
    for export, name in ((exporting.tf_export, "estimator.X"), (exporting.estimator_export, "X")):
        with pytest.raises(exporting.InvalidSymbolNameError):
            export(name)
        with pytest.raises(exporting.InvalidSymbolNameError):
            export(name.swapcase(), v1=[name])


def test_constants_are_noted_in_their_module(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = ModuleType("constants")
    monkeypatch.setitem(sys.modules, "constants", module)
    exporting.tf_export("A", "B").export_constant("constants", "a")
    exporting.keras_export("keras.C", v1=[]).export_constant("constants", "c")
    assert exporting.get_v2_constants(module) == [(("A", "B"), "a"), (("keras.C",), "c")]
    assert exporting.get_v1_constants(module) == [(("A", "B"), "a"), ([], "c")]


def test_traces_of_eager_execution_warn(caplog: pytest.LogCaptureFixture) -> None:
    tracing.trace_on()
    tracing.trace_export("x")
    tracing.trace_off()
    assert caplog.messages == [
        "Must enable trace in eager mode.",
        "Can only export trace while executing eagerly.",
    ]


def test_sets_hold_objects() -> None:
    a, b, c = [1], [1], [1]
    some = framework.ObjectIdentitySet([a, b])
    assert set(map(id, some.difference([b, c]))) == {id(a)}
    assert set(map(id, some.intersection([b, c]))) == {id(b)}
    wrapper = framework._ObjectIdentityWrapper
    assert wrapper(a) == wrapper(a) != wrapper(b)
    assert wrapper(a).unwrapped is a
    with pytest.raises(TypeError, match="unwrapped"):
        bool(wrapper(a) == a)
    some.clear()
    assert not some
