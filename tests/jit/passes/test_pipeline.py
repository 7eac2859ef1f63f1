# SPDX-License-Identifier: Apache-2.0
"""The list of passes: what it makes of a dozen programs, and that it stays legal and linear."""

from __future__ import annotations

import os
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.kernel import scalar, verify_kernel
from numbaflow.jit.kernel.size_scope import Scope
from numbaflow.jit.passes import verify_program
from numbaflow.jit.passes.fuse import fuse
from numbaflow.jit.passes.pipeline import PASSES, rewrite
from numbaflow.jit.program.editing import Program
from numbaflow.jit.program.tensor_ir import Feed, Map, Value
from numbaflow.jit.schedule import ir_printer
from numbaflow.jit.schedule.argument_blocks import make_template
from numbaflow.jit.schedule.steps import CallStep, KernelStep, schedule
from numbaflow.jit.trace.builder import Builder
from numbaflow.jit.trace.segment import Traced

from ..counting import calls_of
from ..traced import traced
from .canonical import PROGRAMS

pytestmark = pytest.mark.programs

SNAPSHOTS = Path(__file__).with_name("snapshots")
# Tile shapes and packing depend on the vectors of the target, so that one is named.
TARGET = "x86-64-v3"


@pytest.fixture(params=PROGRAMS)
def program(request: pytest.FixtureRequest) -> Iterator[tuple[str, Traced]]:
    with tf.Graph().as_default(), tf.Session() as session:
        with settings.override(jit="never"):
            fetches, feeds = PROGRAMS[request.param]()
            session.run(tf.global_variables_initializer())
        with settings.override(target=TARGET):
            yield request.param, traced(session, fetches, feeds)


def compiled_text(trace: Traced) -> str:
    """The program after the last pass, its clusters and its schedule, as they are printed."""
    rewrite(trace.program, trace.scope)
    fused = fuse(trace.program)
    parts = [ir_printer.text(inner) for inner in trace.program.all()]
    parts += [ir_printer.text(inner) for inner in fused.all()]
    parts.append(ir_printer.text(schedule(fused)))
    text = "\n\n".join(parts)
    return re.sub(r", canonical\.py:\d+", "", text) + "\n"


def test_programs_become_what_they_were(program: tuple[str, Traced]) -> None:
    """A difference is a change of the compiler: look at it, then keep it by running the tests
    with UPDATE_SNAPSHOTS=1."""
    name, trace = program
    text, path = compiled_text(trace), SNAPSHOTS / f"{name}.txt"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        SNAPSHOTS.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()


def test_every_pass_leaves_a_legal_program_and_says_so(
    program: tuple[str, Traced], capsys: pytest.CaptureFixture[str]
) -> None:
    with settings.override(debug="passes"):
        seconds = rewrite(program[1].program, program[1].scope)
    printed = re.findall(r"^-- (\w+)$", capsys.readouterr().err, re.M)
    assert printed == [one.name for one in PASSES] == list(seconds)


def test_one_pass_is_printed_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    program, scope = chain(2)
    with settings.override(debug="drop_dead"):
        rewrite(program, scope)
    assert re.findall(r"^-- (\w+)$", capsys.readouterr().err, re.M) == ["drop_dead"]


# What a program must satisfy.


def chain(length: int) -> tuple[Program, Scope]:
    """Maps one after the other."""
    program, scope = Program(), Scope()
    (value,) = program.add(Feed(0), ("float32", (4, 4)))
    b = Builder(program, scope)
    for number in range(length):
        value = b.map(lambda x, n=number: scalar.add(x, float(n)), value)
    program.fetches = [value]
    return program, scope


def _misplaced(program: Program) -> None:
    program.move_before(program.nodes[1], program.nodes[0])


def _gone(program: Program) -> None:
    program.remove(program.nodes[-1])


def _unknown_user(program: Program) -> None:
    first, second, third = program.nodes
    assert program.users(first.outputs[0]) == [second]
    third.inputs = (first.outputs[0],)


def _taken(program: Program) -> None:
    program.nodes[1].outputs[0].node = program.nodes[0]


def _waiting(program: Program) -> None:
    program.nodes[0].after.append(program.nodes[1])


def _condition(program: Program) -> None:
    program.nodes[2].guard = ((program.nodes[1].outputs[0], True),)


def _wrong_type(program: Program) -> None:
    program.nodes[1].outputs[0].dtype = "float64"


@pytest.mark.parametrize(
    ("damage", "rule"),
    [
        (_misplaced, "nodes take what nodes before them give"),
        (_gone, "what is fetched or checked is in the program"),
        (_unknown_user, "the program knows who uses a value"),
        (_taken, "nodes take what nodes before them give"),
        (_waiting, "nodes wait for nodes before them"),
        (_condition, "conditions are scalars"),
        (_wrong_type, "a map loads its inputs"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_illegal_programs_are_found(damage: Callable[[Program], None], rule: str) -> None:
    program, _ = chain(2)
    damage(program)
    with pytest.raises(verify_program.IllegalProgram, match=f"after fuse_epilogues: {rule}"):
        verify_program.after("fuse_epilogues", program)


def test_views_may_be_fetched_until_they_are_stored() -> None:
    program, scope = chain(1)
    program.fetches = [Builder(program, scope).transpose(program.fetches[0], (1, 0))]
    verify_program.after("snapshot_reads", program)
    with pytest.raises(verify_program.IllegalProgram, match="in memory"):
        verify_program.after("store_views", program)


# Editing.


def test_editing_keeps_order_and_users() -> None:
    """Random edits against a plain list."""
    random = np.random.default_rng(zlib.crc32(b"edits"))
    program, _ = chain(30)
    feed, *maps = program.nodes
    program.fetches = []
    for _ in range(300):
        node, other = (maps[i] for i in random.choice(len(maps), 2, replace=False))
        order = [n for n in program.nodes if n is not node]
        if random.random() < 0.5:
            program.move_behind(node, other)
            order.insert(order.index(other) + 1, node)
        else:
            program.move_before(node, other)
            order.insert(order.index(other), node)
        program.set_inputs(node, feed.outputs)
        assert program.nodes == order and len(program) == len(order)
        positions = [n.position for n in program]
        assert positions == sorted(set(positions))
        users = [n for n in order if feed.outputs[0] in n.inputs]
        assert program.users(feed.outputs[0]) == users


def test_nodes_crowd_into_one_place() -> None:
    """So many that halving numbers comes to an end."""
    program, _ = chain(1)
    last = program.nodes[-1]
    for number in range(200):
        with program.adding(last, like=last):
            node = Map((), (scalar.const(number, "float32"),))
            program.add(node, ("float32", ()))
    found = [n.exprs[0].value for n in program if isinstance(n, Map) and not n.inputs]  # type: ignore[attr-defined]
    assert found == list(range(200))
    verify_program.after("", program)


def test_what_is_added_is_taken_back() -> None:
    program, scope = chain(3)
    nodes, mark, b = program.nodes, program.last, Builder(program, scope)
    flag = b.map(lambda x: scalar.gt(x, 0.0), b.reduce("max", program.fetches[0], None))
    b.require_not(flag, ValueError)
    b.rollback(mark)
    assert program.nodes == nodes and not program.checks


# Time.


def wide(count: int) -> tuple[Program, Scope]:
    """Many maps of one value that are added up, some read through views, many fetched."""
    program, scope = Program(), Scope()
    (feed,) = program.add(Feed(0), ("float32", (4, 4)))
    b, found = Builder(program, scope), []
    for number in range(count // 4):
        value: Value = b.map(lambda x, n=number: scalar.mul(x, float(n)), feed)
        found.append(b.transpose(value, (1, 0)))
        if len(found) > 1:
            found[-1] = b.map(scalar.add, *found[-2:])
    program.fetches = found[::8]
    return program, scope


def written(count: int) -> tuple[Program, Scope]:
    """Registers that are read and written in turn."""
    from numbaflow.jit.program.tensor_ir import Read, Register, Write

    program, scope = Program(), Scope()
    registers = [Register(f"r{n}", "float32", (4,), program) for n in range(7)]
    b = Builder(program, scope)
    (value,) = program.add(Feed(0), ("float32", (4,)))
    for number in range(count // 3):
        register = registers[number % 7]
        (before,) = program.add(Read(register), ("float32", (4,)))
        value = b.map(scalar.add, before, value)
        program.add(Write((value,), register), ("float32", (4,)))
    return program, scope


@pytest.mark.growth
@pytest.mark.parametrize("make", [chain, wide, written], ids=lambda make: make.__name__)
def test_passes_take_time_in_proportion(make: Callable[[int], tuple[Program, Scope]]) -> None:
    found: list[dict[str, int]] = []
    for count in (1250, 2500):
        program, scope = make(count)
        counts = {
            one.name: calls_of(lambda one=one, p=program, s=scope: one.run(p, s)) for one in PASSES
        }
        counts["fuse"] = calls_of(lambda p=program: fuse(p))
        found.append(counts)
    for name, few in found[0].items():
        assert found[1][name] <= 2.1 * few + 800, (name, few, found[1][name])


# The way of a program.


def test_a_program_goes_from_room_to_room(program: tuple[str, Traced]) -> None:
    """From file to file; what conducts the passes, and looks on, and the program itself apart."""
    conductors = {"pipeline.py", "rewriting.py", "editing.py", "verify_program.py", "debug.py"}
    trace, rooms = program[1], [""]

    @cache
    def room_of(file: str) -> str:
        name = os.path.basename(file)
        return name if "jit" in file and name not in conductors else ""

    def note(frame: Any, event: str, argument: Any) -> None:
        if event != "call" or not (room := room_of(frame.f_code.co_filename)):
            return
        code = frame.f_code
        taken = (frame.f_locals.get(name) for name in code.co_varnames[: code.co_argcount])
        if room != rooms[-1] and any(one is trace.program for one in taken):
            rooms.append(room)

    with verify_off():
        before = sys.getprofile()
        sys.setprofile(note)
        try:
            rewrite(trace.program, trace.scope)
            steps = schedule(fuse(trace.program))
            addresses = [(1,)] * sum(
                isinstance(step, (KernelStep, CallStep)) for step in steps.steps
            )
            make_template(steps, trace.program, trace.scope, addresses)
        finally:
            sys.setprofile(before)
    returns = len(rooms) - len(set(rooms))
    assert len(set(rooms)) >= 3 and returns < 8, rooms


@contextmanager
def verify_off() -> Iterator[None]:
    before, verify_kernel.enabled = verify_kernel.enabled, False
    try:
        yield
    finally:
        verify_kernel.enabled = before
