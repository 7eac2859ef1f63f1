# SPDX-License-Identifier: Apache-2.0
"""Serialized SequenceExamples as arrays: features of the whole, and lists with one per step.

Messages say what is wrong; what is usual is read without them (ops/parsing/sequence_fast.py).
"""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from typing import Any

import numpy as np

from ...engine import errors
from ...engine.types.dtypes import DType, runtime_name
from ...engine.types.shape import shape_text
from .example_store import (
    UNNAMED,
    Dense,
    Sparse,
    columns,
    indices_of,
    nothing,
    of_one,
    parse_message,
    stacked,
    type_of,
    values_of,
)
from .sequence_fast import Asked, read_batch, read_single


class _Sequences:
    """One call of `parse_sequences`."""

    def __init__(self, serialized: Sequence[bytes], names: list[bytes], asked: Asked) -> None:
        from ...io import protos

        self.names = [name.decode(errors="replace") for name in names] or (
            [UNNAMED] * len(serialized)
        )
        self.contexts, self.lists = [], []
        for name, text in zip(self.names, serialized):
            message = parse_message(protos.SequenceExample, text)
            if message is None:
                raise errors.invalid(f"Invalid protocol message input, example id: {name}")
            self.contexts.append(message.context.feature)
            self.lists.append(message.feature_lists.feature_list)
            self._check_types(asked, name)

    def _check_types(self, asked: Asked, name: str) -> None:
        context, lists = self.contexts[-1], self.lists[-1]
        in_context: list[Sparse | Dense] = [*asked.context_sparse, *asked.context_dense]
        for wanted in in_context:
            present = [context[wanted.key]] if wanted.key in context else []
            if not _all_of(present, wanted.dtype):
                raise errors.invalid(f"Error in context feature {wanted.key} in example {name}")
        in_lists: list[Sparse | Dense] = [*asked.list_sparse, *asked.list_dense]
        for wanted in in_lists:
            steps = lists[wanted.key].feature if wanted.key in lists else []
            if not _all_of(steps, wanted.dtype):
                raise errors.invalid(f"Error in sequence feature {wanted.key} in example {name}")

    def context_sparse(self, asked: Sparse) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        parts = [
            values_of(context[asked.key], asked.dtype)
            if asked.key in context
            else nothing(asked.dtype, (0,))
            for context in self.contexts
        ]
        lengths = [len(part) for part in parts]
        shape = np.array([len(parts), max(lengths, default=0)], np.int64)
        return indices_of(lengths), stacked(parts, asked.dtype), shape

    def context_dense(self, asked: Dense) -> np.ndarray:
        parts = [
            values_of(context[asked.key], asked.dtype) if asked.key in context else None
            for context in self.contexts
        ]
        sizes = [len(part) for part in parts if part is not None]
        most = max(sizes, default=0)
        expected = max(most, asked.default.size)
        if expected != math.prod(asked.row):
            raise errors.invalid(
                f"Inconsistent number of elements for feature {asked.key}: {expected} vs 1"
            )
        rows = []
        for name, part in zip(self.names, parts):
            if part is None and not asked.default.size:
                raise errors.invalid(
                    f"Feature: {asked.key} (data type: {runtime_name(asked.dtype)}) is required "
                    "but could not be found."
                )
            rows.append(asked.default.reshape(-1) if part is None else part)
            if rows[-1].size != expected:
                raise errors.invalid(f"Unexpected number of elements in example {name}")
        return stacked(rows, asked.dtype).reshape(len(rows), *asked.row)

    def _steps(self, asked: Sparse | Dense) -> list[list[np.ndarray] | None]:
        """The values of every step of every example; None for lists that are not there."""
        return [
            [values_of(step, asked.dtype) for step in lists[asked.key].feature]
            if asked.key in lists
            else None
            for lists in self.lists
        ]

    def list_sparse(self, asked: Sparse) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        examples = [steps or [] for steps in self._steps(asked)]
        lengths = [[len(step) for step in steps] for steps in examples]
        places = [indices_of(row) for row in lengths]
        indices = [np.insert(place, 0, i, axis=1) for i, place in enumerate(places)]
        shape = [
            len(examples),
            max(map(len, examples), default=0),
            max((length for row in lengths for length in row), default=0),
        ]
        values = stacked([step for steps in examples for step in steps], asked.dtype)
        whole = np.concatenate(indices) if indices else np.zeros((0, 3), np.int64)
        return whole, values, np.array(shape, np.int64)

    def list_dense(self, asked: Dense, allowed: Container[str]) -> tuple[np.ndarray, np.ndarray]:
        examples, size = self._steps(asked), math.prod(asked.row)
        most = max((sum(map(len, steps)) for steps in examples if steps), default=0)
        if most % (size or 1):
            raise errors.invalid(f"Unexpected shape error in feature {asked.key}")
        result = nothing(asked.dtype, (len(examples), most // (size or 1), *asked.row))
        lengths = np.zeros(len(examples), np.int64)
        for i, (name, steps) in enumerate(zip(self.names, examples)):
            if steps is None:
                if asked.key not in allowed:
                    raise errors.invalid(f"Missing feature {asked.key} in example {name}")
                continue
            for step, values in enumerate(steps):
                if len(values) != size:
                    raise errors.invalid(
                        f"Unexpected number of elements in feature {asked.key}, example {name}"
                    )
                result[i, step] = values.reshape(asked.row)
            lengths[i] = len(steps)
        return result, lengths


def _all_of(features: Sequence[Any], dtype: DType) -> bool:
    return all(type_of(feature) in (None, dtype) for feature in features)


def parse_sequences(
    serialized: Sequence[bytes], names: list[bytes], asked: Asked
) -> list[np.ndarray]:
    """Sparse and dense features of the contexts, then of the lists, then the lists' lengths.

    Sparse ones are indices, values and shapes.  Lists that are shorter are padded.
    """
    if names and len(names) != len(serialized):
        raise errors.invalid("example_names must be empty or have the correct number of elements")
    found = read_batch(serialized, asked)
    if found is not None:
        return found
    batch = _Sequences(serialized, names, asked)
    lists = [batch.list_dense(one, asked.may_be_missing) for one in asked.list_dense]
    return [
        *columns([batch.context_sparse(one) for one in asked.context_sparse]),
        *(batch.context_dense(one) for one in asked.context_dense),
        *columns([batch.list_sparse(one) for one in asked.list_sparse]),
        *columns(lists, width=2),
    ]


class _Single:
    """One call of `parse_single_sequence`."""

    def __init__(self, serialized: bytes, name: bytes | None) -> None:
        from ...io import protos

        message = parse_message(protos.SequenceExample, serialized)
        if message is None:
            shown = serialized.decode(errors="replace")
            raise errors.invalid(f"Could not parse example input, value: '{shown}'")
        self.name = UNNAMED if name is None else name.decode(errors="replace")
        self.context = message.context.feature
        self.lists = message.feature_lists.feature_list

    def _check(self, feature: object, dtype: DType, where: str) -> None:
        if type_of(feature) != dtype:
            from google.protobuf.text_format import MessageToString

            raise errors.invalid(
                f"Name: {self.name}, {where}.  Data types don't match. Expected type: "
                f"{runtime_name(dtype)}  Feature is: {MessageToString(feature)}"
            )

    def _one(self, feature: object, asked: Dense, i: int) -> np.ndarray:
        values = values_of(feature, asked.dtype)
        if len(values) != math.prod(asked.row):
            word = {"string": "bytes", "float32": "float"}.get(asked.dtype.name, "int64")
            raise errors.invalid(
                f"Name: {self.name}, Key{' ' if word == 'bytes' else ': '}{asked.key}, Index: {i}."
                f"  Number of {word} values != expected.  "
                f"{'V' if word == 'bytes' else 'v'}alues size: {len(values)} but output shape: "
                f"{shape_text(asked.shape)}"
            )
        return values.reshape(asked.row)

    def context_dense(self, asked: Dense) -> np.ndarray:
        if asked.key in self.context:
            feature = self.context[asked.key]
            self._check(feature, asked.dtype, f"Context feature: {asked.key}")
            return self._one(feature, asked, 0)
        if not asked.default.size:
            raise errors.invalid(
                f"Name: {self.name}, Context feature '{asked.key}' is required but could not be "
                "found."
            )
        return asked.default

    def context_sparse(self, asked: Sparse) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        feature = self.context.get(asked.key)
        if feature is None or type_of(feature) is None:
            return of_one(nothing(asked.dtype, (0,)))
        self._check(feature, asked.dtype, f"Context feature: {asked.key}")
        return of_one(values_of(feature, asked.dtype))

    def list_dense(self, asked: Dense, allowed: Container[str]) -> np.ndarray:
        if asked.key not in self.lists:
            if asked.key not in allowed:
                raise errors.invalid(
                    f"Name: {self.name}, Feature list '{asked.key}' is required but could not be "
                    "found.  Did you mean to include it in "
                    "feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?"
                )
            return nothing(asked.dtype, (0, *asked.row))
        steps = self.lists[asked.key].feature
        result = nothing(asked.dtype, (len(steps), *asked.row))
        for i, step in enumerate(steps):
            self._check(step, asked.dtype, f"Feature list: {asked.key}, Index: {i}")
            result[i] = self._one(step, asked, i)
        return result

    def list_sparse(self, asked: Sparse) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        steps = self.lists[asked.key].feature if asked.key in self.lists else []
        for i, step in enumerate(steps):
            # An empty step has no kind, and fits any.
            if type_of(step) is not None:
                self._check(step, asked.dtype, f"Feature List: {asked.key}, Index: {i}")
        parts = [values_of(step, asked.dtype) for step in steps]
        lengths = [len(part) for part in parts]
        shape = np.array([len(parts), max(lengths, default=0)], np.int64)
        return indices_of(lengths), stacked(parts, asked.dtype), shape


def parse_single_sequence(serialized: bytes, name: bytes | None, asked: Asked) -> list[np.ndarray]:
    """Like `parse_sequences`, of one, without the dimension of the batch and without lengths."""
    found = read_single(serialized, asked)
    if found is not None:
        return found
    one = _Single(serialized, name)
    context_dense = [one.context_dense(wanted) for wanted in asked.context_dense]
    context_sparse = [one.context_sparse(wanted) for wanted in asked.context_sparse]
    dense = [one.list_dense(wanted, asked.may_be_missing) for wanted in asked.list_dense]
    sparse = [one.list_sparse(wanted) for wanted in asked.list_sparse]
    return [*columns(context_sparse), *context_dense, *columns(sparse), *dense]
