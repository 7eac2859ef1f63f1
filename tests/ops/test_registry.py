# SPDX-License-Identifier: Apache-2.0
"""Every op of the registry: complete, right in shape and dtype, the same compiled as by reference.

Whether gradients are right is for test_gradients.py."""

from __future__ import annotations

import re
import types
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.engine.graph import registry
from numbaflow.engine.session import interpreter
from numbaflow.jit.runtime import guards, plan_key

from ..drawing import examples
from ..jit import checked
from ..sources import ROOT, package_files, text, words
from .samples import RTOL, Case, call, cases, needs_more_than_arrays

NAMES = [definition.name for definition in registry.definitions()]
CALLABLE = [name for name in NAMES if not needs_more_than_arrays(registry.lookup(name))]
DIFFERENTIABLE = [
    name
    for name in CALLABLE
    if registry.lookup(name).test.get("gradient", callable(registry.lookup(name).gradient))
]

# How the first examples of every op run once more: kernels must keep to their memory.
GUARDED = ("bytes", "bytes", "pages")
# The same examples on every machine, so that the kernel cache works for tests too.
few = examples(6, deep=30)


@pytest.mark.pure
def test_definitions_are_complete():
    facts = {
        "a gradient, or NoGradient with the reason": lambda op: op.gradient is not None,
        "a shape function": lambda op: op.shape is not None or not op.outputs,
        "a doc": lambda op: bool(op.doc),
    }
    missing = {
        (name, what)
        for name in NAMES
        for what, is_there in facts.items()
        if not is_there(registry.lookup(name))
    }
    assert not missing


@pytest.mark.pure
def test_plans_of_every_op_can_be_kept():
    """A kernel or rule of another module's, as a partial function is, would keep them from it."""
    nodes = [types.SimpleNamespace(definition=registry.lookup(name)) for name in NAMES]
    plan_key.require_known(types.SimpleNamespace(operations=nodes))


@pytest.mark.pure
def test_every_op_type_stands_as_one_word_in_the_source():
    """So that a search for an op finds its definition: no type's name is built of pieces."""
    files = [file for file in package_files() if file.is_relative_to(ROOT / "ops")]
    found = {word for file in files for word in words(file)}
    assert [name for name in NAMES if name not in found] == []


@pytest.mark.pure
def test_facts_for_tests_are_made_by_tests_alone():
    """No array is made of an op's facts before a test asks, and what runs programs never asks."""

    def holds_arrays(fact: Any) -> bool:
        if isinstance(fact, dict):
            return any(map(holds_arrays, fact.values()))
        if isinstance(fact, (list, tuple)):
            return any(map(holds_arrays, fact))
        return isinstance(fact, (np.ndarray, np.generic))

    facts = {name: registry.lookup(name).facts for name in NAMES}
    assert [name for name, fact in facts.items() if not callable(fact) and holds_arrays(fact)] == []
    assert any(map(callable, facts.values()))
    asking = re.compile(r"\b(definition|op|OpDef)\.(test|facts)\b")
    files = [file for file in package_files() if file.parent.name != "testing"]
    assert [str(file) for file in files if asking.search(text(file))] == []


def run(definition: Any, case: Case, mode: str) -> list[Any]:
    """The outputs of an op in a mode."""
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
        tf.set_random_seed(7)
        outputs, feeds = call(definition, case)
        return session.run(outputs, feeds) if outputs else []


@pytest.mark.cpu
@pytest.mark.parametrize("name", CALLABLE)
def test_compiled_equals_reference(name, monkeypatch):
    """And bytecode of kernels equals what is compiled, bit for bit."""
    checked.install(monkeypatch.setattr)
    definition = registry.lookup(name)
    monkeypatch.setattr(interpreter, "verify", True)

    layouts = iter(GUARDED)

    @few
    @given(cases(definition))
    def check(case):
        want = run(definition, case, "never")
        got = run(definition, case, "always")
        for expected, actual in zip(want, got, strict=True):
            same(expected, actual, definition)
        for layout in islice(layouts, 1):
            with guards.among(layout):
                run(definition, case, "always")

    check()


def same(expected: Any, actual: Any, definition: Any) -> None:
    """Asserts equality up to the tolerance of the dtype (or the op's own)."""
    expected, actual = np.asarray(expected), np.asarray(actual)
    assert expected.dtype == actual.dtype
    assert expected.shape == actual.shape
    name = expected.dtype.name
    if expected.dtype.kind in "fc" or name == "bfloat16":
        rtol = max(definition.test.get("rtol", 0), RTOL.get(name, 1e-5))
        wide = np.complex128 if expected.dtype.kind == "c" else np.float64
        np.testing.assert_allclose(actual.astype(wide), expected.astype(wide), rtol=rtol, atol=rtol)
    else:
        np.testing.assert_array_equal(actual, expected)


def widened(definition: Any, case: Case) -> Case:
    """The case with its float inputs in float64, where the op allows that."""
    arg = next((a for a in definition.inputs if a.type_attr), None)
    allowed = definition.attr(arg.type_attr).allowed if arg else None
    if arg is None or (allowed is not None and tf.float64 not in allowed):
        return case

    def wide(array: np.ndarray) -> np.ndarray:
        return (
            array.astype(np.float64)
            if array.dtype.kind == "f" or array.dtype.name == "bfloat16"
            else array
        )

    inputs = [
        [wide(a) for a in item] if isinstance(item, list) else wide(item) for item in case.inputs
    ]
    return Case(inputs, case.attrs)


@pytest.mark.cpu
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients_fetched_with_everything_on_the_way(name):
    """A plan gives all that a gradient is made of, sizes and indices too, beside one another."""
    definition = registry.lookup(name)

    @hypothesis_settings(few, max_examples=2)
    @given(cases(definition))
    def check(case):
        try:
            compare_everything(definition, case, static=False)
        except (NotImplementedError, ValueError) as error:  # a gradient may need to know all sizes
            if "is currently not implemented yet" in str(
                error
            ):  # TensorFlow's words, and all of it
                return
            if isinstance(error, ValueError) and "partially known" not in str(error):
                raise
            compare_everything(definition, case, static=True)

    check()


def compare_everything(definition: Any, case: Case, static: bool) -> None:
    """Holds all numbers in the graph of an op and its gradient against the reference."""
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        outputs, feeds = call(definition, widened(definition, case), static)
        loss = [tf.real(y) if y.dtype.is_complex else y for y in outputs]
        loss = [tf.square(y) for y in loss if y.dtype.is_floating]
        xs = [x for x in feeds if x.dtype.is_floating or x.dtype.is_complex]
        grads = tf.gradients(loss, xs) if loss and xs else []
        tensors = [t for g in grads if g is not None for t in tf.nest.flatten(parts(g))]
        every = list(dict.fromkeys([*outputs, *tensors, *on_the_way(feeds)]))
        want, got = (values(every, feeds, mode) for mode in ("never", "always"))
    for tensor, expected, actual in zip(every, want, got, strict=True):
        assert np.asarray(actual).dtype == np.asarray(expected).dtype
        close(expected, actual, tensor.name)


def parts(gradient: Any) -> Any:
    """The tensors of a gradient, dense or sparse."""
    is_sparse = isinstance(gradient, tf.IndexedSlices)
    return [gradient.values, gradient.indices] if is_sparse else gradient


def on_the_way(feeds: Any) -> list[Any]:
    """All numbers that the graph makes, but those within branches."""
    graph = tf.get_default_graph()
    known = filter(graph.is_fetchable, graph.get_operations())
    made = (t for op in known for t in op.outputs)
    return [t for t in made if t not in feeds and t.dtype.as_numpy_dtype not in (object, None)]


def values(tensors: list[Any], feeds: Any, mode: str) -> list[Any]:
    """What tensors are in a mode, run together."""
    with settings.override(jit=mode), tf.Session() as session:
        return session.run(tensors, feeds)


def close(expected: Any, actual: Any, name: str) -> None:
    """Asserts equality up to rounding, which gradients may magnify."""
    expected, actual = np.asarray(expected), np.asarray(actual)
    if expected.dtype.kind in "fc" or expected.dtype.name == "bfloat16":
        wide = np.complex128 if expected.dtype.kind == "c" else np.float64
        rtol = 50 * RTOL.get(expected.dtype.name, 1e-5)
        actual, expected = actual.astype(wide), expected.astype(wide)
        np.testing.assert_allclose(actual, expected, rtol=rtol, atol=rtol, err_msg=name)
    else:
        np.testing.assert_array_equal(actual, expected, err_msg=name)


@pytest.mark.pure
def test_raw_ops_are_a_module_that_lists_its_functions() -> None:
    names = dir(tf.raw_ops)
    assert isinstance(tf.raw_ops, types.ModuleType)
    assert {"Relu", "MatMul", "CudnnRNN"} <= set(names)
    assert all(callable(getattr(tf.raw_ops, name)) for name in names[:20])
    # (What has no function in TensorFlow, such as _Send, is not listed.)
    assert not [name for name in names if name.startswith("_")]
