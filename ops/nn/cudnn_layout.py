# SPDX-License-Identifier: Apache-2.0
"""Where the weights of cudnn's recurrent nets lie in the one vector that holds them all.

First come all matrices, layer by layer, and of a layer first those of the way forward: a matrix per
gate for the inputs, one per gate for the outputs of the step before, and the projection if there
is one.  The biases follow in the same order, two per gate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from ...engine import errors
from ...engine.record_class import record


class Attributes(Protocol):
    """What tells the attributes of an operation: it, or the context of its shapes or kernel."""

    def attr(self, name: str) -> Any:
        """An attribute as a plain Python value."""


# rnn_mode -> the number of gates.
GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
TYPES = "T: {half, float32, float64}"
ATTRS = (
    "rnn_mode: {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'} = 'lstm'; "
    "input_mode: {'linear_input', 'skip_input', 'auto_select'} = 'linear_input'; "
    "direction: {'unidirectional', 'bidirectional'} = 'unidirectional'; "
    "dropout: float = 0.0; seed: int = 0; seed2: int = 0"
)


class Part(NamedTuple):
    """A matrix or bias: where it begins, and its shape."""

    start: int
    shape: tuple[int, ...]


class Weights(NamedTuple):
    """The parts of one layer in one direction: all gates of a kind lie one behind the other."""

    inputs: Part
    outputs: Part
    projection: Part | None
    input_biases: Part
    output_biases: Part


@record(frozen=True)
class Net:
    """The sizes of a net.

    Args:
        mode: "lstm", "gru", "rnn_tanh" or "rnn_relu".
        layers: how many layers lie one above the other.
        directions: 1, or 2 where each layer goes both ways.
        inputs: the size of an input.
        units: the size of a state.
        projected: the size that outputs are projected to, or 0.
        skips: whether inputs go into the gates of the first layer as they are.
    """

    mode: str
    layers: int
    directions: int
    inputs: int
    units: int
    projected: int = 0
    skips: bool = False

    @property
    def gates(self) -> int:
        """The number of gates."""
        return GATES[self.mode]

    @property
    def outputs(self) -> int:
        """The size of an output in one direction."""
        return self.projected or self.units

    def width(self, layer: int) -> int:
        """The size of what a layer's matrices multiply."""
        if layer:
            return self.outputs * self.directions
        return 0 if self.skips else self.inputs

    def weights(self) -> Iterator[Weights]:
        """The parts of each layer and direction, in order."""
        gates, units = self.gates, self.units
        matrices, biases = 0, self.size - self._biases
        for place in range(self.layers * self.directions):
            width = self.width(place // self.directions)
            inputs = Part(matrices, (gates * units, width))
            outputs = Part(inputs.start + math.prod(inputs.shape), (gates * units, self.outputs))
            matrices = outputs.start + math.prod(outputs.shape)
            projection = None
            if self.projected:
                projection = Part(matrices, (self.projected, units))
                matrices += self.projected * units
            second = Part(biases + gates * units, (gates * units,))
            yield Weights(inputs, outputs, projection, Part(biases, (gates * units,)), second)
            biases += 2 * gates * units

    def parts(self) -> tuple[list[Part], list[Part]]:
        """The single matrices and the single biases, gate by gate."""
        matrices, biases = [], []
        for one in self.weights():
            matrices += [*self._split(one.inputs), *self._split(one.outputs)]
            matrices += [one.projection] if one.projection else []
            biases += [*self._split(one.input_biases), *self._split(one.output_biases)]
        return matrices, biases

    def _split(self, part: Part) -> list[Part]:
        shape = (self.units, *part.shape[1:])
        return [Part(part.start + i * math.prod(shape), shape) for i in range(self.gates)]

    @property
    def _biases(self) -> int:
        return 2 * self.gates * self.units * self.layers * self.directions

    @property
    def size(self) -> int:
        """The number of all weights."""
        gates, units, total = self.gates, self.units, self._biases
        for layer in range(self.layers):
            one = gates * units * (self.width(layer) + self.outputs) + units * self.projected
            total += one * self.directions
        return total


def net(c: Attributes, layers: int, units: int, inputs: int, projected: int = 0) -> Net:
    """The net of an op with these attributes and sizes; InvalidArgumentError if it is none."""
    mode = c.attr("rnn_mode")
    if min(layers, units, inputs) <= 0 or projected < 0:
        raise errors.invalid(
            f"num_layers, num_units and input_size must be positive: {layers}, {units}, {inputs}"
        )
    if projected and (mode != "lstm" or projected > units):
        raise errors.invalid(
            f"num_proj is for LSTMs and at most num_units: {projected} for {mode} of {units} units"
        )
    asked = c.attr("input_mode")
    skips = asked == "skip_input" or (asked == "auto_select" and inputs == units)
    if skips and inputs != units:
        raise errors.invalid(f"skip_input needs input_size == num_units: {inputs} vs. {units}")
    directions = 2 if c.attr("direction") == "bidirectional" else 1
    return Net(mode, layers, directions, inputs, units, projected, skips)
