# SPDX-License-Identifier: Apache-2.0
"""How far two ways to sort things into classes agree, whatever the classes are called.

The scores are scikit-learn's (`normalized_mutual_info_score` with the mean of both entropies,
`adjusted_mutual_info_score`, `adjusted_rand_score`, `v_measure_score`): 1 for full agreement.
"""

from __future__ import annotations

import math

import numpy as np

_LEAST = float(np.finfo(np.float64).eps)


def _table(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """How many things are in each class of `a` and each of `b`."""
    rows, columns = (np.unique(x, return_inverse=True)[1].reshape(-1) for x in (a, b))
    found = np.zeros((rows.max() + 1, columns.max() + 1), np.int64)
    np.add.at(found, (rows, columns), 1)
    return found


def _is_trivial(table: np.ndarray) -> bool:
    """Whether both have one class alone, or a class for each thing."""
    return table.shape in ((1, 1), (table.sum(), table.sum()))


def _entropy(counts: np.ndarray) -> float:
    shares = counts / counts.sum()
    return -float(np.sum(shares * np.log(shares)))


def _entropies(table: np.ndarray) -> float:
    """The mean of both entropies."""
    return (_entropy(table.sum(1)) + _entropy(table.sum(0))) / 2


def _mutual_information(table: np.ndarray) -> float:
    rows, columns = np.nonzero(table)
    counts, total = table[rows, columns], table.sum()
    expected = table.sum(1)[rows] * table.sum(0)[columns]
    found = float(np.sum(counts / total * np.log(counts * total / expected)))
    return max(found, 0.0)


def mutual_information(a: np.ndarray, b: np.ndarray) -> float:
    """The mutual information, as a share of the mean entropy."""
    table = _table(a, b)
    if table.shape == (1, 1):
        return 1.0
    return _mutual_information(table) / max(_entropies(table), _LEAST)


def _expected_information(table: np.ndarray) -> float:
    """The mean mutual information of classes of these sizes, if things are drawn into them."""
    log_factorial = [0.0]
    total = int(table.sum())
    for i in range(1, total + 1):
        log_factorial.append(log_factorial[-1] + math.log(i))
    f, found = log_factorial, 0.0
    for a in table.sum(1).tolist():
        for b in table.sum(0).tolist():
            for n in range(max(1, a + b - total), min(a, b) + 1):
                ways = f[a] + f[b] + f[total - a] + f[total - b] - f[total] - f[n]
                ways -= f[a - n] + f[b - n] + f[total - a - b + n]
                found += n / total * math.log(n * total / (a * b)) * math.exp(ways)
    return found


def adjusted_mutual_information(a: np.ndarray, b: np.ndarray) -> float:
    """The mutual information beyond what chance gives, as a share of the most there can be."""
    table = _table(a, b)
    if _is_trivial(table):
        return 1.0
    expected = _expected_information(table)
    room = _entropies(table) - expected
    room = min(room, -_LEAST) if room < 0 else max(room, _LEAST)
    return (_mutual_information(table) - expected) / room


def adjusted_rand_index(a: np.ndarray, b: np.ndarray) -> float:
    """The pairs that are sorted alike beyond what chance gives, as a share of the most."""
    table = _table(a, b)
    if _is_trivial(table):
        return 1.0
    together, rows, columns, every = (
        float(np.sum(counts * (counts - 1) / 2))
        for counts in (table, table.sum(1), table.sum(0), table.sum())
    )
    expected, most = rows * columns / every, (rows + columns) / 2
    return (together - expected) / (most - expected)


def same_names(a: np.ndarray, b: np.ndarray) -> float:
    """1 if all classes have the same names in both, 0 if not."""
    return float(np.array_equal(a, b))


# The margins of `cluster_loss`.
SCORES = {
    "nmi": mutual_information,
    "ami": adjusted_mutual_information,
    "ari": adjusted_rand_index,
    "vmeasure": mutual_information,
    "const": same_names,
}
