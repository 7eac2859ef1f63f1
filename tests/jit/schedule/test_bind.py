# SPDX-License-Identifier: Apache-2.0
"""Plans meet sizes: what compiled code computes of them, and what runs go from sizes to sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.kernel import verify_kernel
from numbaflow.jit.kernel.sizes import compile_function
from numbaflow.jit.library import binding_kernels as kernels
from numbaflow.jit.library.plain_vocabulary import Address, Arguments
from numbaflow.jit.library.step_table import ROWS
from numbaflow.jit.runtime import runner
from numbaflow.jit.runtime.execution import Run
from numbaflow.jit.schedule import bind as binding
from numbaflow.jit.schedule.argument_blocks import Template
from numbaflow.jit.schedule.bind import Binding, bind
from numbaflow.jit.schedule.size_code import Binder, SizeCode, address

pytestmark = pytest.mark.cpu

NAMES = ["s0", "s1", "s2"]
NONE = np.empty(0, np.int64)


@pytest.fixture(autouse=True)
def _fresh_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def expressions() -> st.SearchStrategy[str]:
    """Texts as sizes have them."""
    atoms = st.one_of(st.sampled_from(NAMES), st.integers(-70, 70).map(str))

    def larger(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            st.tuples(parts, parts).map(lambda p: f"({p[0]} + {p[1]})"),
            st.tuples(parts, parts).map(lambda p: f"{p[0]}*{p[1]}"),
            st.tuples(parts, st.integers(1, 9)).map(lambda p: f"({p[0]}//{p[1]})"),
            st.tuples(parts, parts).map(lambda p: f"({p[0]}//({p[1]}))"),
            st.tuples(parts, parts).map(lambda p: f"({p[0]}%({p[1]}))"),
            st.tuples(parts, parts).map(lambda p: f"max({p[0]}, {p[1]})"),
            st.tuples(parts, parts).map(lambda p: f"min({p[0]}, {p[1]})"),
        )

    return st.recursive(atoms, larger, max_leaves=12)


def computed(texts: Sequence[str], symbols: Sequence[int]) -> list[int] | None:
    """What code makes of them; None where it leaves them to Python."""
    code = SizeCode(NAMES, texts)
    steps, none = (NONE.reshape(0, kernels.STEP_WORDS), np.empty(0)), (NONE, NONE)
    found = Binder(code, none, none, none, steps, NONE).run(symbols)
    return None if found is None else found.numbers.tolist()


@given(
    st.lists(expressions(), min_size=1, max_size=4),
    st.lists(st.integers(-50, 10**6), min_size=3, max_size=3),
)
def test_code_computes_what_python_does(texts: list[str], symbols: list[int]) -> None:
    got = computed(texts, symbols)
    if got is None:
        return  # a division by what is not above zero, or large numbers: the next test
    whole = compile_function(NAMES, "(" + ", ".join(texts) + ",)")
    assert got == list(whole(*symbols))


def test_sums_may_be_long() -> None:
    terms = [f"{number}*s{number % 3}" for number in range(1, 1500)]
    want = sum(number * (10, 20, 30)[number % 3] for number in range(1, 1500))
    assert computed(["(" + " + ".join(terms) + ")"], (10, 20, 30)) == [want]


@pytest.mark.parametrize(
    "text, symbols, is_left",
    [
        ("s0*s1", (2**40, 2**21), False),
        ("s0*s1", (2**40, 2**22), True),
        ("s0*s1", (-(2**40), 2**30), True),
        ("(s0 + s1)", (2**61, 2**61), True),
        ("s0", (2**62, 1), True),
        ("s0", (2**70, 1), True),
        ("(s0//s1)", (7, 0), True),
        ("(s0%s1)", (-7, 3), False),
        ("(s0//s1)", (-7, 3), False),
        ("(s0//s1)", (7, -3), True),
    ],
)
def test_what_is_beyond_is_left_to_python(
    text: str, symbols: tuple[int, int], is_left: bool
) -> None:
    got = computed([text], (*symbols, 5))
    assert (got is None) == is_left
    if got is not None:
        assert got == [eval(text, {"s0": symbols[0], "s1": symbols[1]})]  # noqa: S307 - above


def template_of(fetches: Any, feeds: dict[Any, np.ndarray]) -> tuple[Template, tuple[int, ...]]:
    """How a plan of the fetches is laid out, and its symbols for these feeds."""
    with settings.override(jit="always"), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        run = runner.make_runner(session, session.graph, fetches, [], list(feeds))
        assert isinstance(run, runner.Runner)
        plan, found = run.prepare(list(feeds.values()))
        return plan.template, found.symbols


def network() -> tuple[Template, tuple[int, ...]]:
    """A step with products, windows, sums and sizes as values."""
    x = tf.placeholder(tf.float32, [None, None, None, 3])
    y = tf.layers.conv2d(x, 8, 3, activation=tf.nn.relu, padding="same")
    y = tf.nn.softmax(tf.layers.dense(tf.reduce_mean(y, [1, 2]), 40))
    loss = tf.reduce_mean(tf.log(y + 0.5)) / tf.cast(tf.shape(x)[1], tf.float32)
    step = tf.train.AdamOptimizer().minimize(loss)
    with tf.control_dependencies([step]):
        done = tf.constant(1.0)
    return template_of([loss, done, tf.shape(x) * 2], {x: np.zeros((4, 9, 11, 3), np.float32)})


def test_code_writes_what_python_does() -> None:
    template, _ = network()
    code = binding._binder(template)
    assert code is not None
    cut = 0
    for symbols in ((4, 9, 11), (2, 2, 2), (64, 31, 30), (300, 40, 50), (5, 200, 1000)):
        one, other = (bind(_with(template, binder), symbols) for binder in (None, code))
        for name in ("args", "table", "values", "counts"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        assert (one.scratch_bytes, one.cut) == (other.scratch_bytes, other.cut)
        assert one.total == other.total == one.counts.sum()
        assert one.offsets == other.offsets
        cut += one.cut
    assert cut


def test_transposes_are_cut_into_whole_squares() -> None:
    x = tf.placeholder(tf.float32, [None, None])
    template, _ = template_of([tf.transpose(x) + 1.0], {x: np.zeros((40, 30), np.float32)})
    code = binding._binder(template)
    assert code is not None
    for symbols in ((40, 30), (1024, 1024), (20, 50000), (50000, 20), (5000, 1001)):
        one, other = (bind(_with(template, binder), symbols) for binder in (None, code))
        np.testing.assert_array_equal(one.table, other.table)
        rows, row_tile = one.table[0, ROWS : ROWS + 2]
        assert row_tile % 64 == 0 or row_tile == rows


def _with(template: Template, binder: Binder | None) -> Template:
    template.binder, template.may_compile, template.bound = binder, binder is not None, 100
    return template


def test_a_plan_that_meets_many_sizes_gets_code_for_them() -> None:
    template, symbols = network()
    assert template.binder is None
    for more in range(4):
        bind(template, [size + more for size in symbols])
    assert template.binder is not None


def test_code_is_not_made_for_another_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    template, symbols = network()
    monkeypatch.setattr(binding.target, "lacking", lambda aim: ("+more",))
    for more in range(6):
        bind(template, [size + more for size in symbols])
    assert template.binder is None and not template.may_compile


def test_the_kernels_as_plain_python() -> None:
    template, symbols = network()
    want, code = bind(template, symbols), binding._binder(template)
    assert code is not None
    block = code._block.copy()
    block[kernels.SYMBOLS : kernels.SYMBOLS + len(symbols)] = symbols
    numbers, counts, args, table = (block[slice(*part)] for part in code._parts)
    places = [address(array) for array in (block, numbers, args, table)]
    kernels.bind(Arguments(Address(code._at, "int64"), ()), *places, 0)
    np.testing.assert_array_equal(numbers, want.values)
    np.testing.assert_array_equal(counts, want.counts)
    np.testing.assert_array_equal(args, want.args)
    np.testing.assert_array_equal(table, want.table.ravel())


def test_slots_stay_where_they_have_room() -> None:
    template, _ = network()
    large = bind(template, (64, 31, 30))
    small = bind(template, (4, 9, 11), large.placement)
    assert small.placement is large.placement
    larger = bind(template, (65, 31, 30), large.placement, (80, 38, 37))
    assert larger.placement is not large.placement
    assert bind(template, (80, 38, 37), larger.placement).placement is larger.placement
    exact = bind(template, (65, 31, 30))
    assert exact.arena_bytes < larger.arena_bytes


def test_small_sizes_do_not_take_the_memory_of_large_ones() -> None:
    """A run that asked for more than there is leaves the next one alone."""
    x = tf.placeholder(tf.float32, [None])
    y = tf.cumsum(x) * tf.reverse(x, [0])
    with settings.override(jit="always"), tf.Session() as session:
        bytes_of = [
            session.explain(y, {x: np.zeros(size, np.float32)}).arena_bytes
            for size in (1 << 20, 1 << 8, 1 << 19, 1 << 19)
        ]
    assert bytes_of[1] < 1 << 16 < bytes_of[2] == bytes_of[3] <= bytes_of[0]


def small_step() -> tuple[Any, Any, Any]:
    """A training step whose gradient is fetched, and what it is fed."""
    x, y = tf.placeholder(tf.float32, [None, 5]), tf.placeholder(tf.float32, [None])
    w = tf.Variable(tf.ones([5, 300]))
    h = tf.nn.relu(tf.matmul(x, w))
    loss = tf.reduce_mean(tf.square(tf.reduce_sum(h, 1) - y))
    return x, y, [loss, h, tf.gradients(loss, [w])[0], tf.shape(h)]


def fed(x: Any, y: Any, size: int) -> dict[Any, np.ndarray]:
    draws = np.random.default_rng(size)
    rows = draws.standard_normal((size, 5)).astype(np.float32)
    return {x: rows, y: draws.standard_normal(size).astype(np.float32)}


# (From small feeds, which are copied, to large ones, and to results with memory of their own.)
SIZES = (7, 3, 600, 2, 90, 601, 44, 7, 55, 56, 57, 900, 3)


def test_one_run_goes_from_sizes_to_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    if verify_kernel.guards:
        pytest.skip("guards stand around the sizes that a run began with")
    x, y, fetches = small_step()
    made: list[Run] = []
    make = Run.__init__
    with settings.override(jit="always"):
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            one = []
            with monkeypatch.context() as patch:
                patch.setattr(Run, "__init__", lambda run, *a: (made.append(run), make(run, *a))[1])
                one = [session.run(fetches, fed(x, y, size)) for size in SIZES]
        assert len(made) <= 6
        for size, got in zip(SIZES, one, strict=True):
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                for a, b in zip(session.run(fetches, fed(x, y, size)), got, strict=True):
                    np.testing.assert_array_equal(a, b)


def test_results_of_one_size_are_not_the_next_one_s_memory() -> None:
    x, y, fetches = small_step()
    with settings.override(jit="always"), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        kept = [session.run(fetches, fed(x, y, size)) for size in SIZES]
        copies = [[np.array(part) for part in parts] for parts in kept]
        for size in SIZES:
            session.run(fetches, fed(x, y, size))
        for parts, copied in zip(kept, copies, strict=True):
            for part, copy in zip(parts, copied, strict=True):
                np.testing.assert_array_equal(part, copy)


def test_sizes_that_come_again_and_again_have_a_run_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if verify_kernel.guards:
        pytest.skip("guards stand around the sizes that a run began with")
    x, y, fetches = small_step()
    adopted: list[Binding] = []
    adopt = Run.adopt
    monkeypatch.setattr(
        Run, "adopt", lambda run, to, feeds: (adopted.append(to), adopt(run, to, feeds))[1]
    )
    with settings.override(jit="always"), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(20):
            for size in (30, 20):
                session.run(fetches[0], fed(x, y, size))
        before = len(adopted)
        assert 0 < before < 40
        for size in (30, 20) * 3:
            session.run(fetches[0], fed(x, y, size))
        assert len(adopted) == before


@pytest.mark.parametrize("place", ["_place_feeds", "_plain_calls", "_go_over"])
def test_a_run_that_was_interrupted_between_sizes_is_not_used(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if verify_kernel.guards:
        pytest.skip("guards stand around the sizes that a run began with")
    x, y, fetches = small_step()

    def interrupted(run: Run, *given: Any) -> Any:
        make(run, *given)
        raise KeyboardInterrupt

    with settings.override(jit="always"), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        want = [session.run(fetches, fed(x, y, size)) for size in (30, 20, 25, 30)]
        make = getattr(Run, place)
        with monkeypatch.context() as patch:
            patch.setattr(Run, place, interrupted)
            with pytest.raises(KeyboardInterrupt):
                session.run(fetches, fed(x, y, 26))
        session.run(fetches, fed(x, y, 26))
        for size, before in zip((30, 20, 25, 30), want, strict=True):
            for a, b in zip(session.run(fetches, fed(x, y, size)), before, strict=True):
                np.testing.assert_array_equal(a, b)
