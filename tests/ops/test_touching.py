# SPDX-License-Identifier: Apache-2.0
"""What ops touch beside the values of a session stands in their definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine.graph import registry, trust
from numbaflow.engine.graph.build import define

from .reaching import Reach

pytestmark = pytest.mark.text


def package_definitions() -> list[registry.OpDef]:
    return [
        definition
        for definition in registry.definitions()
        if definition.kernel is not None and definition.kernel.__module__.startswith("numbaflow.")
    ]


def kinds(definition: registry.OpDef) -> set[str]:
    return {touch.kind for touch in definition.touches or ()}


def test_no_kernel_reaches_what_its_definition_does_not_state() -> None:
    """Whoever writes an op that opens a file, prints or calls Python is told to say so."""
    unsaid = {
        definition.name: {sink: way for sink, way in found.items() if sink not in kinds(definition)}
        for definition in package_definitions()
        if not set(found := Reach(definition.kernel).found) <= kinds(definition)
    }
    assert not unsaid


def test_files_are_found_behind_the_compiler_and_the_session() -> None:
    """A kernel that has others open its files opens files."""
    from numbaflow.engine.session import runner_choice
    from numbaflow.jit.cache import store

    assert not Reach(store.is_key).found
    assert "files" in Reach(store.read_file).found
    assert "files" in Reach(runner_choice.runner_of).found


def test_ops_that_take_what_touches_something_say_whether_they_do() -> None:
    """Readers and writers are made by one op and used by others, through the object."""
    definitions = package_definitions()
    handles = {output.name for d in definitions if kinds(d) for output in d.outputs if not d.inputs}
    handles |= {d.inputs[0].name for d in definitions if kinds(d) and _takes_a_handle(d)}
    assert {"reader_handle", "writer"} <= handles
    silent = [
        d.name
        for d in definitions
        if d.inputs and d.inputs[0].name in handles and _takes_a_handle(d) and d.touches is None
    ]
    assert not [name for name in silent if not name.startswith(("LookupTable", "InitializeTable"))]


def _takes_a_handle(definition: registry.OpDef) -> bool:
    return bool(definition.inputs) and (
        definition.inputs[0].dtype == "resource" or definition.inputs[0].is_ref
    )


def test_what_touches_something_is_never_compiled_or_folded_while_the_graph_is_built() -> None:
    assert not [d.name for d in registry.definitions() if d.touches and (d.lower or d.sizes)]


def test_paths_are_named_by_inputs_or_attributes() -> None:
    for definition in registry.definitions():
        names = {arg.name for arg in definition.inputs} | {attr.name for attr in definition.attrs}
        wrong = [touch for touch in definition.touches or () if touch.path not in (*names, "")]
        assert not wrong, definition.name


def test_the_files_of_a_path_that_an_op_states_are_all_files_it_uses() -> None:
    """Text inputs called after files or folders are stated as paths."""
    words = ("file", "prefix", "logdir", "path", "pattern")
    # Of names and of regular expressions.
    texts = {"basename", "counter_prefix", "filename_suffix", "pattern"}
    for definition in registry.definitions():
        stated = {touch.path for touch in definition.touches or ()}
        for arg in definition.inputs:
            if arg.dtype == "string" and any(word in arg.name for word in words):
                assert arg.name in stated | texts, (definition.name, arg.name)


def test_an_op_cannot_touch_something_unheard_of() -> None:
    with pytest.raises(ValueError, match="an op cannot touch 'moon'"):
        registry.Touch("moon")


def test_ops_of_others_that_do_not_state_what_they_touch_count_as_touching_anything() -> None:
    def kernel(c: Any, x: np.ndarray) -> np.ndarray:
        return x

    define("UnstatedCopy", "x: T -> y: T", shape=lambda c: c.inputs[0], kernel=kernel)
    define("StatedCopy", "x: T -> y: T", shape=lambda c: c.inputs[0], kernel=kernel, touches=())
    assert trust.touched(registry.lookup("UnstatedCopy")) == (None,)
    assert trust.touched(registry.lookup("StatedCopy")) == ()


@pytest.mark.cpu
@pytest.mark.parametrize("mode", ["always", "auto", "never"])
def test_files_are_looked_for_in_every_run(mode: str, tmp_path: Any) -> None:
    """A constant pattern or name does not make what is found a constant."""
    from numbaflow.engine import settings

    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as sess:
        found = tf.size(tf.matching_files(str(tmp_path / "*")))
        for count in range(3):
            assert sess.run(found) == count
            (tmp_path / f"{count}").write_text("")
        path = tmp_path / "0"
        text = tf.read_file(str(path))
        for content in (b"a", b"b"):
            path.write_bytes(content)
            assert sess.run(text) == content


@pytest.mark.cpu
def test_no_python_function_is_called_while_a_plan_is_made() -> None:
    """What touches something is no constant, whatever its inputs are."""
    called = []

    def function(x: Any) -> Any:
        called.append(x)
        return x

    with tf.Graph().as_default(), tf.Session() as sess:
        y = tf.py_func(function, [tf.constant(1.0)], tf.float32, stateful=False) + 1.0
        y.set_shape([])
        sess.prepared_plan(y)
        assert not called
        assert sess.run(y) == 2.0 and len(called) == 1
