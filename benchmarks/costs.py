# SPDX-License-Identifier: Apache-2.0
"""What a workload cannot avoid: bytes to move and operations to do, as formulas of its sizes.

An operation is one lane of a vector instruction of the class of a fused multiply-add.  What is fed
or in variables is read once, what stays in variables is written once; what lives only within a step
need not move at all.  docs/benchmarks.md explains how a limit follows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass
class Tally:
    """Adds up a workload's cost; `operations_of` counts the instructions of a scalar function."""

    operations_of: Callable[[str, str], int]
    dtype: str = "float32"
    bytes: int = 0
    footprint: int = 0
    operations: int = 0

    def moves(self, values: int) -> None:
        """Values that are read once or written once."""
        self.bytes += values * self._size
        self.footprint += values * self._size

    def updates(self, values: int) -> None:
        """Values of variables that are read and written in place."""
        self.bytes += 2 * values * self._size
        self.footprint += values * self._size

    def applies(self, elements: int, functions: str) -> None:
        """Scalar functions, by their names in the kernels' vocabulary, on so many elements."""
        for name in functions.split():
            self.operations += elements * self.operations_of(name, self.dtype)

    def product(self, rows: int, inner: int, columns: int) -> None:
        """A matrix product."""
        self.operations += rows * inner * columns

    def dense(self, batch: int, *units: int, first_gradient: bool = False) -> None:
        """Fully connected layers forwards and backwards; data needs no gradient."""
        for layer, (inputs, outputs) in enumerate(zip(units, units[1:])):
            passes = 3 if layer or first_gradient else 2
            self.operations += passes * batch * inputs * outputs

    def convolution(
        self, batch: int, size: int, taps: int, inputs: int, outputs: int, gradients: int, pool: int
    ) -> None:
        """A square SAME convolution, its gradients, and pooling of `pool` pixels to their maximum.

        Products with padding need not be done, nor those with the gradients of pixels that are
        not a maximum, which are zero.
        """
        edge = taps // 2
        along = size * taps - edge * (edge + 1)
        products = batch * along * along * inputs * outputs
        self.operations += products + gradients * products // pool

    def adam(self, parameters: int) -> None:
        """Adam's update: weights and two moments."""
        self.updates(3 * parameters)
        self.applies(parameters, "sub fma mul sub fma sqrt add div fma")

    def feeds_images(self, batch: int) -> None:
        """A batch of images and labels."""
        self.moves(batch * (784 + 10))

    @property
    def _size(self) -> int:
        return {"float32": 4, "float64": 8}[self.dtype]

    def as_json(self) -> dict[str, Any]:
        """The sums alone."""
        return {k: v for k, v in asdict(self).items() if k != "operations_of"}


def parameters(*units: int) -> int:
    """Weights and biases of fully connected layers."""
    return sum((inputs + 1) * outputs for inputs, outputs in zip(units, units[1:]))
