# SPDX-License-Identifier: Apache-2.0
"""Stochastic dual coordinate ascent for linear models: a step over a batch of examples.

An example has a dual variable; its step finds the best one for itself and moves the weights of its
features along.  Each sees what those before it did, so that a batch is walked over one by one, in
an order that follows from its state.  TensorFlow's is another in every run: results agree with its
as solutions, not in bits.
"""

from __future__ import annotations

import math
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.session.shared_reads import Changing
from ...engine.types.shape import TensorShape, shape_text
from .sdca_examples import (
    Features,
    Penalty,
    dense_features,
    flat,
    parts_of,
    require_equal_sizes,
    sparse_features,
)
from .sdca_losses import LOSSES, Loss

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.session.state import VariableStorage

_SOLVES = NoGradient("it is a step of an optimizer", silent=True)
# The chance that an example is taken again falls by this with every time it was.
_DECAY = 0.1


class _Weights:
    """Weights of sparse or dense features, with what the steps so far have added."""

    def __init__(self, nominal: np.ndarray, penalty: Penalty, partitions: int) -> None:
        self.nominal = nominal
        self.deltas = np.zeros_like(nominal)
        self.partitions = np.float32(partitions)
        self.penalty = penalty
        self.before = penalty.shrunk(nominal)

    def sparse(self, places: np.ndarray, values: np.ndarray) -> tuple[float, float]:
        """The predictions before and now; as TensorFlow's, sums of doubles."""
        now = (self.nominal[places] + self.deltas[places] * self.partitions).astype(np.float64)
        before = self.penalty.shrunk(self.nominal[places].astype(np.float64))
        return float(values @ before), float(values @ self.penalty.shrunk(now))

    def dense(self, row: np.ndarray) -> tuple[float, float]:
        """The predictions before and now, as sums of float32."""
        now = self.penalty.shrunk(self.nominal + self.deltas * self.partitions)
        return float((row * self.before).sum()), float((row * now).sum())


class _Solver:
    """The solution so far, and the examples of a step."""

    def __init__(
        self,
        loss: Loss,
        penalty: Penalty,
        partitions: int,
        weights: tuple[np.ndarray, np.ndarray],
        features: tuple[Features, np.ndarray],
    ) -> None:
        self.loss, self.penalty, self.partitions = loss, penalty, partitions
        self.sparse = _Weights(weights[0], penalty, partitions)
        self.dense = _Weights(weights[1], penalty, partitions)
        self.starts, self.places, self.values = features[0]
        self.rows = features[1]
        squares = np.concatenate([[0.0], np.cumsum(self.values**2)])
        self.norms = squares[self.starts[1:]] - squares[self.starts[:-1]]
        self.norms = self.norms + (self.rows * self.rows).sum(axis=1, dtype=np.float32)

    def _features(self, example: int) -> tuple[np.ndarray, np.ndarray]:
        part = slice(self.starts[example], self.starts[example + 1])
        return self.places[part], self.values[part]

    def predictions(self, example: int) -> tuple[float, float]:
        """By the weights of before and of now."""
        before = now = 0.0
        if len(self.places):
            before, now = self.sparse.sparse(*self._features(example))
        if self.rows.shape[1]:
            first, second = self.dense.dense(self.rows[example])
            before, now = before + first, now + second
        return before, now

    def step(self, example: int, state: np.ndarray, label: float, weight: float) -> None:
        """Moves one example's dual variable, and notes its losses in its row of `state`."""
        dual = float(state[0])
        label = self.loss.label(label)
        before, now = self.predictions(example)
        scale = self.partitions * (float(self.norms[example]) / float(self.penalty.l2)) * weight
        new = self.loss.best_dual(label, dual, now, scale)
        move = (new - dual) * weight / float(self.penalty.l2)
        if len(self.places):
            places, values = self._features(example)
            self.sparse.deltas[places] = self.sparse.deltas[places] + values * move
        if self.rows.shape[1]:
            self.dense.deltas += self.rows[example] * np.float32(move)
        state[0] = new
        state[1] = self.loss.primal_loss(before, label) * weight
        state[2] = self.loss.dual_loss(dual, label) * weight
        state[3] = weight

    def urgency(self, duals: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """How likely examples should be taken: the further from their best, the more."""
        slopes = [
            self.loss.slope(self.predictions(i)[1], self.loss.label(float(label)))
            for i, label in enumerate(labels)
        ]
        size = np.sqrt(self.norms + float(self.penalty.l2) * self.loss.smoothness)
        return np.abs(weights * size * (duals + np.array(slopes)))


def _drawn(urgency: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """As many examples as there are, the urgent ones more than once.

    An example that was taken is kept again with a chance that falls tenfold each time.  When as
    many were refused as there are examples, the first one fills what is left, as in TensorFlow.
    """
    count = len(urgency)
    total = urgency.sum()
    chances = urgency / total if total > 0 and math.isfinite(total) else None
    taken, result = np.zeros(count, np.int64), np.zeros(count, np.int64)
    # No more are drawn than are taken and refused together.
    candidates = random.choice(count, size=2 * count, p=chances).tolist()
    coins = random.random(2 * count).tolist()
    chosen = refused = 0
    for candidate, coin in zip(candidates, coins):
        if chosen == count or refused == count:
            break
        if coin > _DECAY ** int(taken[candidate]):
            refused += 1
            continue
        taken[candidate] += 1
        result[chosen] = candidate
        chosen += 1
    return result


def _solve(
    c: KernelContext,
    sparse_example_indices: list[np.ndarray],
    sparse_feature_indices: list[np.ndarray],
    sparse_feature_values: list[np.ndarray],
    dense: list[np.ndarray],
    example_weights: np.ndarray,
    example_labels: np.ndarray,
    sparse_indices: list[np.ndarray],
    sparse_weights: list[np.ndarray],
    dense_weights: list[np.ndarray],
    example_state_data: np.ndarray,
) -> list[np.ndarray]:
    if not sparse_weights and not dense_weights:
        raise errors.invalid("Requires at least one feature to train.")
    count = example_weights.size
    if example_state_data.shape != (count, 4):
        raise errors.invalid(
            f"Expected shape {shape_text((count, 4))} for example_state_data, got "
            f"{shape_text(example_state_data.shape)}"
        )
    require_equal_sizes("sparse_weights", sparse_indices, sparse_weights)
    if example_labels.size != count:
        raise errors.invalid(f"Expected {count} example_labels, got {example_labels.size}")
    given = sparse_example_indices, sparse_feature_indices, sparse_feature_values
    solver = _Solver(
        LOSSES[c.attr("loss_type")],
        Penalty(np.float32(c.attr("l1")), np.float32(c.attr("l2"))),
        c.attr("num_loss_partitions"),
        (flat(sparse_weights), flat(dense_weights)),
        (
            sparse_features(count, *given, sparse_indices),
            dense_features(count, dense, dense_weights),
        ),
    )
    labels, weights = example_labels.reshape(-1), example_weights.reshape(-1)
    state = example_state_data.copy()
    # Another order in every step, as in TensorFlow, and the same in every run of a program.
    random = np.random.default_rng(zlib.crc32(state.tobytes()))
    adaptive = c.attr("adaptive" if c.type == "SdcaOptimizerV2" else "adaptative")
    with np.errstate(all="ignore"):
        if adaptive and count:
            order = _drawn(solver.urgency(state[:, 0], labels, weights), random)
        else:
            order = random.permutation(count)
        for example in order.tolist():
            solver.step(example, state[example], float(labels[example]), float(weights[example]))
    return [
        state,
        *parts_of(solver.sparse.deltas, sparse_weights),
        *parts_of(solver.dense.deltas, dense_weights),
    ]


def _solved_shapes(c: ShapeContext) -> list[TensorShape]:
    sparse, dense = c.attr("num_sparse_features"), c.attr("num_dense_features")
    end = len(c.inputs) - 1
    weights = c.inputs[end - sparse - dense : end]
    return [TensorShape([None, 4]), *weights]


def _sample(adaptive: str) -> dict[str, Any]:
    """One example, whose turn no chance decides."""
    ints, floats = (lambda *v: np.array(v, np.int64)), (lambda *v: np.array(v, np.float32))
    attrs = {"l1": 0.25, "l2": 2.0, "num_loss_partitions": 1, "num_inner_iterations": 1}
    one = [
        *([ints(0, 0)], [ints(3, 5)], [floats(0.5, -2)], [floats(1, 2, 3)[None]]),
        *(floats(1.5), floats(1), [ints(5, 3, 4)], [floats(0.75, -0.5, 1)]),
        *([floats(0.5, -0.25, 1)], floats(0.125, 0, 0, 0)[None]),
    ]
    losses = ("logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss", "poisson_loss")
    samples = [{"loss_type": loss, adaptive: False, **attrs} for loss in losses]
    # TensorFlow's sums of float32 are of other orders.
    return {"values": [one], "attrs": samples, "rtol": 1e-5}


for _name, _adaptive in (("SdcaOptimizer", "adaptative"), ("SdcaOptimizerV2", "adaptive")):
    _optimizer = define(
        _name,
        "sparse_example_indices: num_sparse_features * int64, "
        "sparse_feature_indices: num_sparse_features * int64, "
        "sparse_feature_values: num_sparse_features_with_values * float32, "
        "dense_features: num_dense_features * float32, "
        "example_weights: float32, example_labels: float32, "
        "sparse_indices: num_sparse_features * int64, "
        "sparse_weights: num_sparse_features * float32, "
        "dense_weights: num_dense_features * float32, "
        "example_state_data: float32 -> "
        "out_example_state_data: float32, "
        "out_delta_sparse_weights: num_sparse_features * float32, "
        "out_delta_dense_weights: num_dense_features * float32",
        f"loss_type: {{{', '.join(repr(loss) for loss in LOSSES)}}}; {_adaptive}: bool = false; "
        "num_sparse_features: int >= 0; num_sparse_features_with_values: int >= 0; "
        "num_dense_features: int >= 0; l1: float; l2: float; num_loss_partitions: int >= 1; "
        "num_inner_iterations: int >= 1",
        shape=_solved_shapes,
        kernel=_solve,
        gradient=_SOLVES,
        test=lambda _adaptive=_adaptive: _sample(_adaptive),
        doc="""A step of dual coordinate ascent over a batch of examples.

        Args:
            sparse_example_indices: which example each sparse feature is of, ascending.
            sparse_feature_indices: which feature it is.
            sparse_feature_values: its value; 1 where a group has none.
            dense_features: matrices [examples, features].
            example_weights: how much examples count.
            example_labels: 0 or 1, or numbers with squared and Poisson loss.
            sparse_indices: which features `sparse_weights` belong to.
            sparse_weights: their weights, not shrunk.
            dense_weights: a weight for each column of `dense_features`, not shrunk.
            example_state_data: [examples, 4]: dual variable, both losses and weight of each.

        Returns:
            The new state of examples, and what is to be added to the weights.
        """,
    )
    if _name == "SdcaOptimizer":
        export("train.sdca_optimizer")(_optimizer)


def _shrink(c: KernelContext, weights: list[VariableStorage]) -> None:
    penalty = Penalty(np.float32(c.attr("l1")), np.float32(c.attr("l2")))
    for cell in weights:
        with Changing(cell):
            array = cell.read()
            array[...] = penalty.shrunk(array)


_shrink_l1 = define(
    "SdcaShrinkL1",
    "weights: Ref(num_features * float32) ->",
    "num_features: int >= 0; l1: float; l2: float",
    shape=lambda c: [],
    kernel=_shrink,
    gradient=_SOLVES,
    doc="Moves weights nearer to zero by l1 / l2, in place; those that are as near become zero.",
)
export("train.sdca_shrink_l1")(_shrink_l1)
