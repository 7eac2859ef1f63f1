# SPDX-License-Identifier: Apache-2.0
"""Connectionist temporal classification with NumPy: what labels mean, and the loss by them.

States are the labels of a row with a blank before, between and behind them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...engine import errors
from ...engine.record_class import record
from ...engine.types.shape import shape_text
from ..sparse.common import require_order

Labels = list[list[int]]


@record(frozen=True)
class Rule:
    """How labels are read: the attributes of an op, and whether the blank is the last class."""

    collapses: bool
    merges: bool
    leaves_out: bool
    blank_is_last: bool = True


@record(frozen=True)
class States:
    """The classes of the states of each row, [rows, states], and how many steps and states count.

    Rows that are left out have no steps.
    """

    classes: np.ndarray
    counts: np.ndarray
    lengths: np.ndarray
    blank: int


def require_fitting(
    scores: np.ndarray, indices: np.ndarray, values: np.ndarray, lengths: np.ndarray
) -> None:
    """Raises InvalidArgumentError for shapes that do not fit, or indices that are none."""
    for name, array, rank, kind in (
        ("inputs", scores, 3, "3-Tensor"),
        ("sequence_length", lengths, 1, "vector"),
        ("labels_indices", indices, 2, "matrix"),
        ("labels_values", values, 1, "vector"),
    ):
        if array.ndim != rank:
            raise errors.invalid(f"{name} is not a {kind}")
    batch = scores.shape[1]
    if batch != len(lengths):
        raise errors.invalid(
            "len(sequence_length) != batch_size.  "
            f"len(sequence_length):  {len(lengths)} batch_size: {batch}"
        )
    if len(indices) != len(values):
        raise errors.invalid(
            "labels_indices and labels_values must contain the same number of rows, but saw "
            f"shapes: {shape_text(indices.shape)} vs. {shape_text(values.shape)}"
        )
    if batch == 0:
        raise errors.invalid("batch_size must not be 0")
    if indices.shape[1] != 2:
        raise errors.invalid("Order length must be SparseTensor rank.")
    try:
        require_order(indices, np.array([batch, indices[:, 1].max(initial=-1) + 1]))
    except errors.InvalidArgumentError as error:
        ending = ". Many sparse ops require sorted indices."
        text = error.message + ending * error.message.endswith("out of order")
        raise errors.invalid(f"label SparseTensor is not valid: {text}") from error


def _joined(labels: Sequence[int]) -> str:
    return ",".join(map(str, labels))


def _counted(given: list[int], row: int, classes: int, rule: Rule) -> list[int]:
    """The labels of a row that count: those that are not collapsed, without blanks at the end."""
    found: list[int] = []
    is_over = False
    for i, label in enumerate(given):
        if i and rule.collapses and label == given[i - 1]:
            continue
        if rule.blank_is_last and label >= classes - 1:
            is_over = True
        elif is_over:
            raise errors.invalid(
                "Saw a non-null label (index >= num_classes - 1) following a null label, batch: "
                f"{row} num_classes: {classes} labels: {_joined(given)} labels seen so far: "
                f"{_joined(found)}"
            )
        else:
            found.append(label)
    if min(found, default=0) < 0 or (not rule.blank_is_last and 0 in found):
        kind = "nonnegative" if rule.blank_is_last else "positive"
        raise errors.invalid(
            f"All labels must be {kind} integers, batch: {row} labels: {_joined(found)}"
        )
    if max(found, default=0) >= classes:
        raise errors.invalid(
            f"No label may be greater than num_classes. num_classes: {classes}, batch: {row} "
            f"labels: {_joined(found)}"
        )
    return found


def states_of(
    scores: np.ndarray, indices: np.ndarray, values: np.ndarray, lengths: np.ndarray, rule: Rule
) -> States:
    """The states of the labels of all rows; InvalidArgumentError for what TensorFlow refuses."""
    require_fitting(scores, indices, values, lengths)
    time, batch, classes = scores.shape
    for row, length in enumerate(lengths.tolist()):
        if length > time:
            raise errors.invalid(f"sequence_length({row}) <= {time}")
    for row, length in enumerate(lengths.tolist()):
        if length < 0:
            raise errors.invalid(f"seq_len({row}) < 0")
    ends = np.searchsorted(indices[:, 0], np.arange(batch + 1))
    found: Labels = []
    used = lengths.astype(np.int64)
    for row in range(batch):
        given = values[ends[row] : ends[row + 1]].tolist()
        if not given:
            raise errors.invalid(f"Labels length is zero in batch {row}")
        found.append(_counted(given, row, classes, rule))
        if len(given) > used[row]:
            if not rule.leaves_out:
                raise errors.invalid(
                    f"Not enough time for target transition sequence (required: {len(given)}, "
                    f"available: {used[row]}){row}You can turn this error into a warning by using "
                    "the flag ignore_longer_outputs_than_inputs"
                )
            used[row] = 0
    blank = classes - 1 if rule.blank_is_last else 0
    counts = np.array([2 * len(labels) + 1 for labels in found])
    table = np.full((batch, counts.max()), blank)
    for row, labels in enumerate(found):
        table[row, 1 : 2 * len(labels) : 2] = labels
    return States(table, counts, used, blank)


def _log_softmax(scores: np.ndarray) -> np.ndarray:
    x = scores.astype(np.float64)
    x = x - x.max(axis=-1, keepdims=True)
    x -= np.log(np.exp(x).sum(axis=-1, keepdims=True))
    # As TensorFlow's probabilities do, those that are no normal numbers become zero.
    return np.where(x < np.log(np.finfo(scores.dtype).tiny), -np.inf, x)


def _moved(x: np.ndarray, by: int) -> np.ndarray:
    """Columns moved to the right (to the left below zero), and logarithms of zero for them."""
    result = np.full_like(x, -np.inf)
    if by >= 0:
        result[:, by:] = x[:, : x.shape[1] - by]
    else:
        result[:, :by] = x[:, -by:]
    return result


class _Walk:
    """Forward and backward scores of the states of all rows at once, step by step."""

    def __init__(self, logs: np.ndarray, states: States, merges: bool) -> None:
        time, table = len(logs), states.classes
        width = table.shape[1]
        self.counted = np.arange(width) < states.counts[:, None]
        is_label = (table != states.blank) & self.counted
        self.stay = np.where(is_label & (not merges), -np.inf, 0.0)
        skips = is_label & (np.arange(width) > 1)
        if merges:
            skips[:, 2:] &= table[:, 2:] != table[:, :-2]
        self.skip = np.where(skips, 0.0, -np.inf)
        self.emitted = np.take_along_axis(logs, table[None].repeat(time, 0), 2)
        self.emitted[:, ~self.counted] = -np.inf
        self.last = (np.arange(width) >= states.counts[:, None] - 2) & self.counted
        self.ends = states.lengths - 1

    def forward(self) -> np.ndarray:
        """The logarithms of the probabilities of all beginnings that end in each state."""
        result = np.empty_like(self.emitted)
        start = np.arange(self.counted.shape[1]) < 2
        result[0] = np.where(start, self.emitted[0], -np.inf)
        for t in range(1, len(result)):
            x = result[t - 1]
            came = np.logaddexp(x + self.stay, _moved(x, 1))
            result[t] = np.logaddexp(came, _moved(x, 2) + self.skip) + self.emitted[t]
        return result

    def backward(self) -> np.ndarray:
        """Those of all ends that go on from each state, whose own step does not count."""
        result = np.full_like(self.emitted, -np.inf)
        final = np.where(self.last, 0.0, -np.inf)
        x = result[0]
        for t in range(len(result) - 1, -1, -1):
            if t + 1 < len(result):
                y = x + self.emitted[t + 1]
                goes = np.logaddexp(y + self.stay, _moved(y, -1))
                x = np.logaddexp(goes, _moved(y + self.skip, -2))
            x = np.where((self.ends == t)[:, None], final, x)
            result[t] = x
        return result


def loss_and_gradient(
    scores: np.ndarray, states: States, merges: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The losses of rows, and their gradients by the scores."""
    time, batch, classes = scores.shape
    if time == 0:
        return np.zeros(batch, scores.dtype), np.zeros_like(scores)
    with np.errstate(all="ignore"):
        logs = _log_softmax(scores)
        walk = _Walk(logs, states, merges)
        paths = walk.forward() + walk.backward()
        total = np.logaddexp.reduce(paths[0], axis=-1)
        # Where no path is possible, none has a share.
        is_dead = total == -np.inf
        shares = np.exp(paths - np.where(is_dead, 0.0, total)[:, None])
        of_class = states.classes[..., None] == np.arange(classes)
        gradient = np.exp(logs) - np.einsum("tbs,bsc->tbc", shares, of_class.astype(np.float64))
        loss = np.where(states.lengths > 0, 0.0 - total, 0.0)
    # A loss that is no number has no slopes: by classes without labels, either.
    gradient[:, np.isnan(total)] = np.nan
    gradient[np.arange(time)[:, None] >= states.lengths] = 0
    return loss.astype(scores.dtype), gradient.astype(scores.dtype)
