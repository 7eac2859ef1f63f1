# SPDX-License-Identifier: Apache-2.0
"""Candidate sampling: classes drawn to stand for all others in a loss over very many classes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient, reads
from ...engine.graph.seed import get_seed
from ...engine.graph.shape_rules import with_rank
from ...engine.types.shape import TensorShape
from ...jit.kernel import scalar as k
from ...jit.kernel.sizes import product
from ..random.philox import Philox, Stream
from . import candidate_kernels as samplers

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.build import OpFunction
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_REASON = NoGradient("sampled classes and their counts are constants of a step")
_OUTPUTS = (
    "true_classes: int64 -> sampled_candidates: int64, true_expected_count: float, "
    "sampled_expected_count: float"
)
_COUNTS = "num_true: int >= 1; num_sampled: int >= 1; unique: bool"
_SEEDS = "seed: int = 0; seed2: int = 0"
_RANGE = "range_max: int >= 1"
# TensorFlow sets this many 32-bit numbers aside for each class it draws.
_RESERVED = 2048


def _shapes(c: ShapeContext) -> list[TensorShape]:
    batch = with_rank(c.inputs[0], 2)
    sampled = TensorShape([c.attr("num_sampled")])
    return [sampled, TensorShape([batch[0], c.attr("num_true")]), sampled]


def _require(c: KernelContext, true_classes: np.ndarray, size: int) -> None:
    if true_classes.ndim != 2:
        raise errors.invalid("true_classes must be a matrix")
    if true_classes.shape[1] != c.attr("num_true"):
        raise errors.invalid(
            "true_classes must have num_true columns, expected: "
            f"{true_classes.shape[1]} was: {c.attr('num_true')}"
        )
    if c.attr("unique") and c.attr("num_sampled") > size:
        raise errors.invalid("Sampler's range is too small.")


class _Numbers(NamedTuple):
    """What an op draws from: a stream of which TensorFlow sets much aside for each class."""

    stream: Stream

    def reserve_outputs(self, count: int) -> Philox:
        """The part for so many classes."""
        return self.stream.reserve(-(-_RESERVED * count // 4))

    def go_back(self, counter: int, key: int) -> None:
        """See Stream.go_back."""
        self.stream.go_back(counter, key)


def _numbers(c: KernelContext) -> _Numbers:
    """What an op draws from, which a session keeps."""
    return c.kernel_state(  # type: ignore[no-any-return]
        lambda: _Numbers(Stream(c.attr("seed"), c.attr("seed2")))
    )


def _kernel(make: Callable[[Any], samplers.Uniform]) -> Callable[..., Any]:
    """The kernel of a sampler that learns, or is long in making."""

    def kernel(c: KernelContext, true_classes: np.ndarray) -> tuple[np.ndarray, ...]:
        numbers, sampler = c.kernel_state(
            lambda: (_Numbers(Stream(c.attr("seed"), c.attr("seed2"))), make(c))
        )
        return _draw(c, numbers, sampler, true_classes)

    return kernel


def _draw(
    c: KernelContext, numbers: _Numbers, sampler: samplers.Uniform, true_classes: np.ndarray
) -> tuple[np.ndarray, ...]:
    _require(c, true_classes, sampler.size)
    count = c.attr("num_sampled")
    bits = samplers.Bits(numbers.reserve_outputs(count))
    sampled, tries = samplers.draw(sampler, bits, count, c.attr("unique"))

    def counts(values: np.ndarray) -> np.ndarray:
        return samplers.expected_counts(sampler.probability(values), count, tries)

    true, drawn = true_classes.reshape(-1), np.array(sampled, np.int64)
    expected = counts(true).reshape(true_classes.shape), counts(drawn)
    # Behind the counts: the true classes of this step are learned for the next one
    # (candidate_sampler_ops.cc).
    sampler.update(true)
    return drawn, *expected


def _lower(law: str, tables: Any, probability: Any) -> Callable[..., Any]:
    """The lowering of a sampler.

    law, tables: see jit/library/candidates.py; probability: what gives those of classes.
    """

    def lower(b: Builder, op: OpView, true_classes: Value) -> Any:
        from ...jit import library

        count, columns, unique = (op.attr(n) for n in ("num_sampled", "num_true", "unique"))
        many = op.attr("range_max")
        given = tables(b, op)
        if true_classes.ndim != 2 or (unique and count > many):
            return NotImplemented
        b.require(b.equal(true_classes.shape[1], columns))
        skewed = samplers.skewed(many, law)
        drawn, tries = library.drawn_classes(
            *(b, op, law, given, count, many, skewed, unique, _numbers)
        )
        tries = b.reshape(tries, ())
        return drawn, *(
            _expected(b, probability(b, op, x, given), count, tries) for x in (true_classes, drawn)
        )

    return lower


def _expected(b: Builder, probabilities: Value, count: int, tries: Value) -> Value:
    """See candidate_kernels.expected_counts."""

    def counts(p: Any, n: Any) -> Any:
        # 1 - (1 - p) ** n, without cancellation.
        several = k.neg(k.expm1(k.mul(k.cast(n, "float32"), k.log1p(k.neg(p)))))
        return k.select(k.eq(n, count), k.mul(p, float(count)), several)

    return b.map(counts, probabilities, tries)  # type: ignore[no-any-return]


def _evenly(b: Builder, op: OpView, classes: Value, tables: Any) -> Value:
    return b.full(classes.shape, np.float32(1.0 / op.attr("range_max")), "float32")


def _after_zipf(b: Builder, op: OpView, classes: Value, tables: Any) -> Value:
    def probability(i: Any, log_size: Any) -> Any:
        x = k.cast(i, "float64")
        return k.cast(k.div(k.log(k.div(k.add(x, 2.0), k.add(x, 1.0))), log_size), "float32")

    return b.map(probability, classes, tables[0])  # type: ignore[no-any-return]


def _log_size(b: Builder, op: OpView) -> list[Any]:
    return [b.constant(np.float64(math.log1p(op.attr("range_max"))))]


def _unigrams(c: KernelContext) -> samplers.Weighted:
    """The sampler with the weights of a file or of the attribute."""
    path, given = c.attr("vocab_file"), c.attr("unigrams")
    if not path and not given:
        raise errors.invalid("Must provide either vocab_file or unigrams.")
    if path and given:
        raise errors.invalid("Must only provide one of vocab_file and unigrams.")
    shards, shard = c.attr("num_shards"), c.attr("shard")
    # Of weight 0: never drawn.
    reserved = [np.float32(0) for i in range(c.attr("num_reserved_ids")) if i % shards == shard]
    power = np.float32(c.attr("distortion"))
    # Numbering goes on after the reserved classes of this shard.
    numbered = enumerate(_weights_of(path) if path else given, len(reserved))
    own = [np.float32(w) ** power for i, w in numbered if i % shards == shard]
    weights = [*reserved, *own]
    if len(weights) != c.attr("range_max"):
        raise errors.invalid(
            f"range_max is {c.attr('range_max')}, but there are {len(weights)} weights"
        )
    return samplers.Weighted(weights)


def _weights_of(path: str) -> list[float]:
    """The last column of a file of comma-separated values."""
    from ...io import files

    weights = []
    for line in files.read_file_to_string(path).splitlines():
        try:
            weights.append(float(line.split(",")[-1]))
        except ValueError:
            raise errors.invalid(f"Wrong vocabulary format at line: {line.rstrip()}") from None
    return weights


def _all_classes(c: KernelContext, true_classes: np.ndarray) -> tuple[np.ndarray, ...]:
    _require(c, true_classes, c.attr("num_sampled"))
    count = c.attr("num_sampled")
    ones = np.ones(true_classes.shape, np.float32), np.ones(count, np.float32)
    return np.arange(count), *ones


def _sampler(
    name: str,
    doc: str,
    make: Any,
    attrs: str = "",
    facts: dict[Any, Any] | None = None,
    touches: Any = None,
    lower: Any = None,
) -> OpFunction:
    common = {"num_true": 1, "num_sampled": 3, "unique": True, **(facts or {})}
    every = [{**common, "seed": 3, "unique": unique} for unique in (True, False)]
    return define(
        name,
        _OUTPUTS,
        "; ".join(part for part in (_COUNTS, attrs, _SEEDS) if part),
        shape=_shapes,
        kernel=make,
        lower=lower,
        gradient=_REASON,
        stateful=True,
        touches=touches,
        doc=doc,
        test=lambda: {"values": [[np.array([[0], [2]])]], "attrs": every},
    )


_FIVE = {"range_max": 5}
_uniform = _sampler(
    "UniformCandidateSampler",
    "Draws classes that are equally probable.",
    lambda c, x: _draw(c, _numbers(c), samplers.Uniform(c.attr("range_max")), x),
    _RANGE,
    _FIVE,
    lower=_lower("uniform", lambda b, op: [], _evenly),
)
_log_uniform = _sampler(
    "LogUniformCandidateSampler",
    "Draws classes whose probability falls with their number, after Zipf's law.",
    lambda c, x: _draw(c, _numbers(c), samplers.LogUniform(c.attr("range_max")), x),
    _RANGE,
    _FIVE,
    lower=_lower("log_uniform", _log_size, _after_zipf),
)
_learned = _sampler(
    "LearnedUnigramCandidateSampler",
    "Draws classes as frequently as they were true ones so far.",
    _kernel(lambda c: samplers.Unigram(c.attr("range_max"))),
    _RANGE,
    _FIVE,
)
_learned_unsafe = _sampler(
    "ThreadUnsafeUnigramCandidateSampler",
    "Draws classes as frequently as they were true ones so far.",
    _kernel(lambda c: samplers.Unigram(c.attr("range_max"))),
    _RANGE,
    _FIVE,
)
_fixed = _sampler(
    "FixedUnigramCandidateSampler",
    "Draws classes with the given weights.",
    _kernel(_unigrams),
    f"{_RANGE}; vocab_file: string = ''; distortion: float = 1.0; num_reserved_ids: int = 0; "
    "num_shards: int >= 1 = 1; shard: int >= 0 = 0; unigrams: list(float) = []",
    {"range_max": 4, "unigrams": [1.0, 4.0, 2.0, 0.5]},
    reads("vocab_file"),
)
_all = _sampler("AllCandidateSampler", "All classes, each expected once: for tests.", _all_classes)


@export("random.uniform_candidate_sampler", "nn.uniform_candidate_sampler")
def uniform_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Draws classes that are equally probable."""
    first, second = get_seed(seed)
    attrs = (num_true, num_sampled, unique, range_max)
    return _uniform(true_classes, *attrs, seed=first, seed2=second, name=name)


@export("random.log_uniform_candidate_sampler", "nn.log_uniform_candidate_sampler")
def log_uniform_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Draws classes after Zipf's law: class numbers should fall with frequency."""
    first, second = get_seed(seed)
    attrs = (num_true, num_sampled, unique, range_max)
    return _log_uniform(true_classes, *attrs, seed=first, seed2=second, name=name)


@export("random.learned_unigram_candidate_sampler", "nn.learned_unigram_candidate_sampler")
def learned_unigram_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Draws classes as frequently as they were true ones in this session so far."""
    first, second = get_seed(seed)
    attrs = (num_true, num_sampled, unique, range_max)
    return _learned(true_classes, *attrs, seed=first, seed2=second, name=name)


@export("random.fixed_unigram_candidate_sampler", "nn.fixed_unigram_candidate_sampler")
def fixed_unigram_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Sequence[float] = (),
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Draws classes with weights from a file or a list, each to the power of `distortion`."""
    first, second = get_seed(seed)
    return _fixed(
        true_classes,
        num_true,
        num_sampled,
        unique,
        range_max,
        vocab_file=vocab_file,
        distortion=distortion,
        num_reserved_ids=num_reserved_ids,
        num_shards=num_shards,
        shard=shard,
        unigrams=unigrams,
        seed=first,
        seed2=second,
        name=name,
    )


@export("random.all_candidate_sampler", "nn.all_candidate_sampler")
def all_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """All classes, each expected once: for tests."""
    first, second = get_seed(seed)
    return _all(true_classes, num_true, num_sampled, unique, seed=first, seed2=second, name=name)


def _hits(
    c: KernelContext, true_classes: np.ndarray, sampled: np.ndarray
) -> tuple[np.ndarray, ...]:
    if true_classes.ndim != 2 or true_classes.shape[1] != c.attr("num_true"):
        raise errors.invalid("true_candidates must be a batch_size * num_true matrix")
    if sampled.ndim != 1:
        raise errors.invalid(
            "sampled_candidates must be a vector, which is typically an output from "
            "CandidateSampler"
        )
    place = {int(value): i for i, value in enumerate(sampled)}
    found = [
        (row, place[value])
        for row, values in enumerate(true_classes.tolist())
        for value in values
        if value in place
    ]
    rows, ids = np.array(found, np.int64).reshape(-1, 2).T
    # Added to the logit of a class they leave it a probability of 0.
    weights = np.full(len(found), np.finfo(np.float32).min, np.float32)
    return rows.astype(np.int32), np.ascontiguousarray(ids), weights


def _hit_count(c: KernelContext, true_classes: np.ndarray, sampled: np.ndarray) -> Any:
    if true_classes.ndim != 2 or sampled.ndim != 1:
        return None
    return [np.isin(true_classes, sampled).sum()]


def _measured_hits(b: Builder, op: OpView, true_classes: Value, sampled: Value) -> list[Any]:
    return [b.reduce("sum", b.cast(_is_hit(b, _drawn_at(b, true_classes, sampled)), "int64"), None)]


def _drawn_at(b: Builder, true_classes: Value, sampled: Value) -> Value:
    """Where each true class was drawn last, as one vector; -1 where it was not."""
    count, size = product(true_classes.shape), sampled.shape[0]
    true = b.reshape(true_classes, (count, 1))
    drawn, places = (b.reshape(x, (1, size)) for x in (sampled, b.iota((size,), 0, "int64")))
    found = b.map(lambda x, y, at: k.select(k.eq(x, y), at, -1), true, drawn, places)
    return b.reduce("max", found, [1])


def _is_hit(b: Builder, places: Value) -> Value:
    return b.map(lambda at: k.ge(at, 0), places)  # type: ignore[no-any-return]


def _lower_hits(b: Builder, op: OpView, true_classes: Value, sampled: Value, sizes: Value) -> Any:
    from ...jit import library

    known, columns = b.known(sizes), op.attr("num_true")
    if known is None or true_classes.ndim != 2 or sampled.ndim != 1:
        return NotImplemented
    b.require(b.equal(true_classes.shape[1], columns) and not b.equal(sampled.shape[0], 0))
    (count,) = known.tolist()
    places = _drawn_at(b, true_classes, sampled)
    found = library.coordinates(b, _is_hit(b, places), count)
    if found is NotImplemented:
        return NotImplemented
    at = b.reshape(found, (count,))
    rows = b.map(lambda i: k.floordiv(i, columns), at)
    weights = b.full((count,), np.finfo(np.float32).min, "float32")
    return b.cast(rows, "int32"), b.pick(places, at), weights


def _hit_shapes(c: ShapeContext) -> list[TensorShape]:
    with_rank(c.inputs[0], 2)
    with_rank(c.inputs[1], 1)
    return [TensorShape([None])] * 3


_compute_hits = define(
    "ComputeAccidentalHits",
    "true_classes: int64, sampled_candidates: int64 -> indices: int32, ids: int64, weights: float",
    f"num_true: int; {_SEEDS}",
    shape=_hit_shapes,
    kernel=_hits,
    lower=_lower_hits,
    gradient=_REASON,
    dynamic_shape=_hit_count,
    measured_sizes=_measured_hits,
    doc="Where sampled classes happen to be true ones: row, position and a weight of -FLT_MAX.",
    test=lambda: {
        "values": [[np.array([[1, 2], [3, 9]]), np.array([3, 1, 4])]],
        "attrs": [{"num_true": 2}],
    },
)


@export("nn.compute_accidental_hits")
def compute_accidental_hits(
    true_classes: TensorLike,
    sampled_candidates: TensorLike,
    num_true: int,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Where sampled classes happen to be true ones, with weights that cancel their logits."""
    first, second = get_seed(seed)
    return _compute_hits(
        true_classes, sampled_candidates, num_true, seed=first, seed2=second, name=name
    )
