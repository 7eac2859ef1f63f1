# SPDX-License-Identifier: Apache-2.0
"""Runs ops, and their gradients, on the most extreme inputs there are, for test_extremes.py.

A process of its own, which may hang or crash.  It reads names of ops, a line each, and answers
each with a line of JSON: what went wrong, or nothing.  Beside, a line for each run tells what
comes.
"""

from __future__ import annotations

import json
import resource
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import numbaflow as tf
from numbaflow.engine import errors, settings
from numbaflow.engine.graph import registry
from numbaflow.tests.ops.bad_inputs import build, good_cases
from numbaflow.tests.ops.samples import Case, call

FLOATS = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-38, -1e10, 1e38, -1e38)
# What a worker may allocate beyond what it has from the start.
_ROOM = 2 << 30
# Sizes may be beyond memory, and what is refused first, or last, depends on who allocates it.
_NO_ROOM = "ResourceExhaustedError"


def extremes(array: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """An array full of each extreme of its dtype, and with one in the middle or at the end."""
    kind = array.dtype.kind
    if kind in "iu":
        info, place = np.iinfo(array.dtype), -1
        values: tuple[Any, ...] = (info.min, info.max)
    elif kind in "fc" or array.dtype.name == "bfloat16":
        values, place = FLOATS, array.size // 2
    else:
        return
    with np.errstate(all="ignore"):
        for value in values:
            yield f"all {value}", np.full(array.shape, value).astype(array.dtype)
            if array.size > 1:
                changed = array.copy()
                changed.flat[place] = np.asarray(value).astype(array.dtype)
                yield f"one {value}", changed


class Checked:
    """An op and its gradients in a graph, with a session for each way of running it."""

    def __init__(self, name: str, good: Case) -> None:
        tf.set_random_seed(7)
        try:
            outputs, feeds = build(registry.lookup(name), good, good, "rank")
        except ValueError:  # it has to know all sizes
            outputs, feeds = call(registry.lookup(name), good, static=True)
        self.inputs, self.good = list(feeds), list(feeds.values())
        self.fetches = [*outputs, *_gradients(outputs, self.inputs)]
        self.sessions = {mode: tf.Session() for mode in ("never", "always")}

    def run(self, mode: str, arrays: list[np.ndarray]) -> tuple[str, list[Any]]:
        """The kind of error and nothing, or nothing and the results."""
        feeds = dict(zip(self.inputs, arrays, strict=True))
        try:
            with settings.override(jit=mode):
                return "", self.sessions[mode].run(self.fetches, feeds)
        except errors.OpError as error:
            return type(error).__name__, []


def _gradients(outputs: list[Any], inputs: list[Any]) -> list[Any]:
    ys = [tf.real(y) if y.dtype.is_complex else y for y in outputs]
    ys = [y for y in ys if y.dtype.is_floating]
    xs = [x for x in inputs if x.dtype.is_floating or x.dtype.is_complex]
    try:
        found = tf.gradients(ys, xs) if ys and xs else []
    except (LookupError, ValueError, NotImplementedError):
        # There are none, or they need to know sizes: the op itself is still to be run.
        return []
    return [part for part in found if part is not None]


def differences(name: str) -> Iterator[str]:
    """How compiled runs fail otherwise than reference kernels."""
    for good in good_cases(registry.lookup(name), 1):
        with tf.Graph().as_default():
            checked = Checked(name, good)
        for place, array in enumerate(checked.good):
            for what, changed in extremes(array):
                arrays = [*checked.good[:place], changed, *checked.good[place + 1 :]]
                told = f"{name}, input {place} {what} {[a.shape for a in arrays]}"
                found = {}
                for mode in checked.sessions:
                    print(json.dumps(f"{told}, {mode}"), flush=True)
                    found[mode] = checked.run(mode, arrays)
                kinds = {mode: kind for mode, (kind, _) in found.items()}
                if len(set(kinds.values())) > 1 and _NO_ROOM not in kinds.values():
                    yield f"{told}: {kinds}"
                for a, b in zip(found["never"][1], found["always"][1]):
                    if _looks(a) != _looks(b):
                        yield f"{told}: {_looks(a)} and {_looks(b)}"


def _looks(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_looks(part) for part in value]
    return np.asarray(value).dtype, np.shape(value)


def main() -> None:
    """Serves until the input ends."""
    warnings.simplefilter("ignore")
    with open("/proc/self/statm") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + _ROOM, size + _ROOM))
    for line in sys.stdin:
        print(json.dumps({"wrong": list(differences(line.strip()))}), flush=True)


if __name__ == "__main__":
    main()
