# SPDX-License-Identifier: Apache-2.0
"""Cells: one step of recurrent layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ....engine.types import nest
from ....engine.types.shape import TensorShape
from ....ops.public import tf
from .. import initializers
from ..backend.convolutions import bias_add
from ..backend.elements import concatenate
from ..backend.networks import dot
from ..backend.networks import dropout as drop
from ..backend.phase import in_train_phase
from ..identifiers import Identifier
from .style import KerasLayer, resolved

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike


def is_multiple(state_size: Any) -> bool:
    """Whether a cell has several states."""
    return hasattr(state_size, "__len__") and not isinstance(state_size, TensorShape)


def zero_states(state_size: Any, batch_size: Any, dtype: Any) -> Any:
    """Zeros for a cell's states; ValueError where the batch's size or the dtype is None."""
    if batch_size is None or dtype is None:
        raise ValueError(
            "batch_size and dtype cannot be None while constructing initial state: "
            f"batch_size={batch_size}, dtype={dtype}"
        )

    def zeros(size: Any) -> Any:
        rest = [size] if isinstance(size, int) else TensorShape(size).as_list()
        return tf.zeros([batch_size, *rest], dtype=dtype)

    return nest.map_structure(zeros, state_size)


def size_of_output(cell: Any) -> Any:
    """The size of a cell's output: its own, or that of its first state."""
    own = getattr(cell, "output_size", None)
    if own is not None:
        return own
    return cell.state_size[0] if is_multiple(cell.state_size) else cell.state_size


class AbstractRNNCell(KerasLayer):
    """Base class of programs' cells: `call(inputs, states)` gives an output and new states."""

    def call(self, inputs: Any, states: Any) -> Any:  # type: ignore[override]
        """One step."""
        raise NotImplementedError("Abstract method")

    @property
    def state_size(self) -> Any:
        """The sizes of the states."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> Any:
        """The size of the output."""
        raise NotImplementedError("Abstract method")

    def get_initial_state(
        self, inputs: Any = None, batch_size: Any = None, dtype: DTypeLike | None = None
    ) -> Any:
        """Zeros for the states."""
        if inputs is not None:
            batch_size, dtype = tf.shape(inputs)[0], inputs.dtype
        return zero_states(self.state_size, batch_size, dtype)


class _Cell(KerasLayer):
    """What the cells here have in common: kernels for inputs and states, and dropout of both."""

    gates = 1
    units: int
    dropout: float
    recurrent_dropout: float

    def _begin_cell(self, options: dict[str, Any], **given: Any) -> None:
        super().__init__(**options)
        for name, value in resolved(**given).items():
            setattr(self, name, value)
        for name in ("dropout", "recurrent_dropout"):
            setattr(self, name, min(1.0, max(0.0, getattr(self, name))))
        self.state_size: Any = self.units
        self.output_size: Any = self.units
        self.reset_dropout_mask()
        self.reset_recurrent_dropout_mask()

    def reset_dropout_mask(self) -> None:
        """Forgets the mask of inputs, which is one for all steps."""
        vars(self)["_input_mask"] = None

    def reset_recurrent_dropout_mask(self) -> None:
        """Forgets the mask of states, which is one for all steps."""
        vars(self)["_state_mask"] = None

    def _mask(self, kind: str, x: Any, rate: float, training: Any, count: int) -> Any:
        """A mask for each gate, made in the first step; None without dropout."""
        if rate == 0:
            return None
        own = vars(self)
        if own[kind] is None:
            ones = tf.ones_like(x)
            own[kind] = [
                in_train_phase(lambda: drop(ones, rate), ones, training=training)
                for _ in range(count)
            ]
        return own[kind]

    def get_dropout_mask_for_cell(self, inputs: Any, training: Any, count: int = 1) -> Any:
        """The mask of inputs, which is one for all steps; a list if there are several.

        Args:
            inputs: a tensor of the masks' shape.
            training: whether there is dropout, as `call` is told.
            count: how many masks there are, one for each gate, say.
        """
        found = self._mask("_input_mask", inputs, self.dropout, training, count)
        return found[0] if isinstance(found, list) and count == 1 else found

    def get_recurrent_dropout_mask_for_cell(
        self, inputs: Any, training: Any, count: int = 1
    ) -> Any:
        """The mask of states, as `get_dropout_mask_for_cell` gives that of inputs."""
        found = self._mask("_state_mask", inputs, self.recurrent_dropout, training, count)
        return found[0] if isinstance(found, list) and count == 1 else found

    def _masks(self, inputs: Any, state: Any, training: Any) -> tuple[Any, Any]:
        """The masks of inputs and states."""
        gates = self.gates
        of_inputs = self._mask("_input_mask", inputs, self.dropout, training, gates)
        return of_inputs, self._mask("_state_mask", state, self.recurrent_dropout, training, gates)

    def _parted(self, x: Any, masks: Any, rate: float) -> list[Any]:
        """A tensor for each gate, masked."""
        if 0.0 < rate < 1.0:
            return [x * mask for mask in masks]
        return [x] * self.gates

    def build(self, input_shape: Any) -> None:
        """Makes the kernels and the bias."""
        depth: Any = TensorShape(input_shape).as_list()[-1]
        width = self.units * self.gates
        self.kernel = self._make("kernel", (depth, width))
        self.recurrent_kernel = self._make("recurrent_kernel", (self.units, width), "recurrent")
        self.bias = None
        if self.use_bias:
            self.bias = self._make("bias", self._bias_shape(width))
        self.built = True

    bias: Any

    def _bias_shape(self, width: int) -> tuple[int, ...]:
        return (width,)

    def _make(
        self, name: str, shape: Sequence[int], kind: str = "", initializer: Identifier = None
    ) -> Any:
        kind = kind or name
        return self.add_weight(
            shape=shape,
            name=name,
            initializer=initializer or getattr(self, f"{kind}_initializer"),
            regularizer=getattr(self, f"{kind}_regularizer"),
            constraint=getattr(self, f"{kind}_constraint"),
        )

    def get_initial_state(
        self, inputs: Any = None, batch_size: Any = None, dtype: DTypeLike | None = None
    ) -> Any:
        """Zeros for the states."""
        if inputs is not None:
            batch_size, dtype = tf.shape(inputs)[0], inputs.dtype
        return zero_states(self.state_size, batch_size, dtype)


_KERNELS = (
    *("kernel_initializer", "recurrent_initializer", "bias_initializer"),
    *("kernel_regularizer", "recurrent_regularizer", "bias_regularizer"),
    *("kernel_constraint", "recurrent_constraint", "bias_constraint"),
)
SIMPLE = ("units", "activation", "use_bias", *_KERNELS, "dropout", "recurrent_dropout")
GATED = ("units", "activation", "recurrent_activation", "use_bias", *_KERNELS)
GRU = (*GATED, "dropout", "recurrent_dropout", "implementation", "reset_after")
LSTM = (
    *GATED[:7],
    "unit_forget_bias",
    *GATED[7:],
    *("dropout", "recurrent_dropout", "implementation"),
)


def _given(scope: dict[str, Any]) -> dict[str, Any]:
    """A constructor's arguments from its first local variables."""
    return {k: v for k, v in scope.items() if k not in ("self", "kwargs", "__class__")}


class SimpleRNNCell(_Cell):
    """activation(inputs @ kernel + state @ recurrent_kernel + bias), output and state.

    Args:
        units: the size of output and state.
        activation, *_initializer, *_regularizer, *_constraint: objects or their names.
        use_bias: whether there is a bias.
        dropout, recurrent_dropout: the shares of inputs and states that are dropped.
        name, trainable, dtype: as of all layers.
    """

    _arguments = SIMPLE

    def __init__(
        self,
        units: int,
        activation: Identifier = "tanh",
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        recurrent_initializer: Identifier = "orthogonal",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        recurrent_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        recurrent_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        self._begin_cell(kwargs, **_given(locals()))

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:  # type: ignore[override]
        """One step."""
        (state,) = states[:1]
        of_inputs, of_state = self._masks(inputs, state, training)
        h = dot(inputs if of_inputs is None else inputs * of_inputs[0], self.kernel)
        if self.bias is not None:
            h = bias_add(h, self.bias)
        if of_state is not None:
            state = state * of_state[0]
        output = self.activation(h + dot(state, self.recurrent_kernel))
        return output, [output]


class GRUCell(_Cell):
    """A Gated Recurrent Unit.

    Args:
        units, activation, use_bias, *_initializer, *_regularizer, *_constraint, dropout,
            recurrent_dropout, name, trainable, dtype: as of SimpleRNNCell.
        recurrent_activation: of the gates.
        implementation: 1 computes gate by gate, 2 all at once.
        reset_after: whether the reset gate comes behind the product with the state.
    """

    _arguments: tuple[str, ...] = GRU
    gates = 3

    def __init__(
        self,
        units: int,
        activation: Identifier = "tanh",
        recurrent_activation: Identifier = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        recurrent_initializer: Identifier = "orthogonal",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        recurrent_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        recurrent_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
        reset_after: bool = False,
        **kwargs: Any,
    ) -> None:
        self._begin_cell(kwargs, **_given(locals()))

    def _bias_shape(self, width: int) -> tuple[int, ...]:
        return (2, width) if self.reset_after else (width,)

    reset_after: bool

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:  # type: ignore[override]
        """One step."""
        state = states[0]
        masks = self._masks(inputs, state, training)
        biases: Any = (None, None)
        if self.use_bias:
            biases = tuple(tf.unstack(self.bias)) if self.reset_after else (self.bias, None)
        step = self._by_gates if self.implementation == 1 else self._at_once
        z, candidate = step(inputs, state, masks, biases)
        h = z * state + (1 - z) * candidate
        return h, [h]

    implementation: int

    def _cut(self, x: Any, gate: int) -> Any:
        """The part of a kernel or a bias that belongs to a gate."""
        first = gate * self.units or None
        last = (gate + 1) * self.units if gate < 2 else None
        return x[..., first:last] if x.shape.ndims == 1 else x[:, first:last]

    def _by_gates(self, inputs: Any, state: Any, masks: Any, biases: Any) -> tuple[Any, Any]:
        of_input, of_state = biases
        parts = self._parted(inputs, masks[0], self.dropout)
        x = [dot(part, self._cut(self.kernel, gate)) for gate, part in enumerate(parts)]
        if self.use_bias:
            x = [bias_add(part, self._cut(of_input, gate)) for gate, part in enumerate(x)]
        h = self._parted(state, masks[1], self.recurrent_dropout)
        kernels = self.recurrent_kernel
        inner = [dot(h[gate], self._cut(kernels, gate)) for gate in (0, 1)]
        if of_state is not None:
            inner = [bias_add(part, self._cut(of_state, gate)) for gate, part in enumerate(inner)]
        z, r = (self.recurrent_activation(x[gate] + inner[gate]) for gate in (0, 1))
        if self.reset_after:
            last = dot(h[2], self._cut(kernels, 2))
            if of_state is not None:
                last = bias_add(last, self._cut(of_state, 2))
            last = r * last
        else:
            last = dot(r * h[2], self._cut(kernels, 2))
        return z, self.activation(x[2] + last)

    def _at_once(self, inputs: Any, state: Any, masks: Any, biases: Any) -> tuple[Any, Any]:
        of_input, of_state = biases
        if 0.0 < self.dropout < 1.0:
            inputs = inputs * masks[0][0]
        x = dot(inputs, self.kernel)
        if self.use_bias:
            x = bias_add(x, of_input)
        x = [self._cut(x, gate) for gate in range(3)]
        if 0.0 < self.recurrent_dropout < 1.0:
            state = state * masks[1][0]
        kernel, two = self.recurrent_kernel, 2 * self.units
        inner = dot(state, kernel if self.reset_after else kernel[:, :two])
        if of_state is not None:
            inner = bias_add(inner, of_state)
        z = self.recurrent_activation(x[0] + inner[:, : self.units])
        r = self.recurrent_activation(x[1] + inner[:, self.units : two])
        last = r * inner[:, two:] if self.reset_after else dot(r * state, kernel[:, two:])
        return z, self.activation(x[2] + last)


class LSTMCell(_Cell):
    """A Long Short-Term Memory, whose states are its output and its memory.

    Args:
        units, activation, recurrent_activation, use_bias, *_initializer, *_regularizer,
            *_constraint, dropout, recurrent_dropout, implementation, name, trainable, dtype: as of
            GRUCell.
        unit_forget_bias: whether the bias of the forget gate begins at 1.
    """

    _arguments: tuple[str, ...] = LSTM
    gates = 4

    def __init__(
        self,
        units: int,
        activation: Identifier = "tanh",
        recurrent_activation: Identifier = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        recurrent_initializer: Identifier = "orthogonal",
        bias_initializer: Identifier = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Identifier = None,
        recurrent_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        recurrent_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
        **kwargs: Any,
    ) -> None:
        self._begin_cell(kwargs, **_given(locals()))
        vars(self)["state_size"] = [self.units, self.units]

    unit_forget_bias: bool
    implementation: int

    def _make(
        self, name: str, shape: Sequence[int], kind: str = "", initializer: Identifier = None
    ) -> Any:
        if name == "bias" and self.unit_forget_bias:
            first, ones = self.bias_initializer, initializers.get("ones")

            def initializer(_: Any, *args: Any, **kwargs: Any) -> Any:
                units = self.units
                return concatenate(
                    [
                        first((units,), *args, **kwargs),
                        ones((units,), *args, **kwargs),
                        first((units * 2,), *args, **kwargs),
                    ]
                )

        return super()._make(name, shape, kind, initializer)

    bias_initializer: Any

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:  # type: ignore[override]
        """One step."""
        state, memory = states[0], states[1]
        masks = self._masks(inputs, state, training)
        if self.implementation == 1:
            x, h = self._by_gates(inputs, state, masks)
            memory, opened = self._compute_carry_and_output(x, h, memory)
        else:
            z = self._at_once(inputs, state, masks)
            memory, opened = self._compute_carry_and_output_fused(z, memory)
        output = opened * self.activation(memory)
        return output, [output, memory]

    def _by_gates(self, inputs: Any, state: Any, masks: Any) -> tuple[Any, Any]:
        """What inputs give to each gate, and the state for each."""
        parts = self._parted(inputs, masks[0], self.dropout)
        kernels = tf.split(self.kernel, num_or_size_splits=4, axis=1)
        x = [dot(part, kernel) for part, kernel in zip(parts, kernels)]
        if self.use_bias:
            biases = tf.split(self.bias, num_or_size_splits=4, axis=0)
            x = [bias_add(part, bias) for part, bias in zip(x, biases)]
        return x, self._parted(state, masks[1], self.recurrent_dropout)

    def _at_once(self, inputs: Any, state: Any, masks: Any) -> Any:
        """What inputs and the state give to each gate."""
        if 0.0 < self.dropout < 1.0:
            inputs = inputs * masks[0][0]
        z = dot(inputs, self.kernel)
        if 0.0 < self.recurrent_dropout < 1.0:
            state = state * masks[1][0]
        z += dot(state, self.recurrent_kernel)
        if self.use_bias:
            z = bias_add(z, self.bias)
        return tf.split(z, num_or_size_splits=4, axis=1)

    def _cut(self, gate: int) -> Any:
        first, last = gate * self.units or None, (gate + 1) * self.units if gate < 3 else None
        return self.recurrent_kernel[:, first:last]

    def _compute_carry_and_output(self, x: Any, h: Any, memory: Any) -> tuple[Any, Any]:
        """The new memory, and how far it is let out, gate by gate."""
        entered = self.recurrent_activation(x[0] + dot(h[0], self._cut(0)))
        kept = self.recurrent_activation(x[1] + dot(h[1], self._cut(1)))
        memory = kept * memory + entered * self.activation(x[2] + dot(h[2], self._cut(2)))
        return memory, self.recurrent_activation(x[3] + dot(h[3], self._cut(3)))

    def _compute_carry_and_output_fused(self, z: Any, memory: Any) -> tuple[Any, Any]:
        """The same from what all gates were given at once."""
        entered, kept = self.recurrent_activation(z[0]), self.recurrent_activation(z[1])
        memory = kept * memory + entered * self.activation(z[2])
        return memory, self.recurrent_activation(z[3])


class PeepholeLSTMCell(LSTMCell):
    """An LSTM whose gates see the memory; arguments as LSTMCell's."""

    def build(self, input_shape: Any) -> None:
        """Makes the kernels, the bias and the gates' weights of the memory."""
        super().build(input_shape)
        for gate in ("input", "forget", "output"):
            name = f"{gate}_gate_peephole_weights"
            made = self.add_weight(
                shape=(self.units,), name=name, initializer=self.kernel_initializer
            )
            setattr(self, name, made)

    kernel_initializer: Any

    def _compute_carry_and_output(self, x: Any, h: Any, memory: Any) -> tuple[Any, Any]:
        z = [part + dot(state, self._cut(gate)) for gate, (part, state) in enumerate(zip(x, h))]
        return self._compute_carry_and_output_fused(z, memory)

    def _compute_carry_and_output_fused(self, z: Any, memory: Any) -> tuple[Any, Any]:
        of_input, of_forget, of_output = (
            getattr(self, f"{gate}_gate_peephole_weights") for gate in ("input", "forget", "output")
        )
        entered = self.recurrent_activation(z[0] + of_input * memory)
        kept = self.recurrent_activation(z[1] + of_forget * memory)
        memory = kept * memory + entered * self.activation(z[2])
        return memory, self.recurrent_activation(z[3] + of_output * memory)


class StackedRNNCells(KerasLayer):
    """Cells one above the other, as one cell.

    Args:
        cells: the cells, the lowest first.
        name, trainable, dtype: as of all layers.
    """

    def __init__(self, cells: Sequence[Any], **kwargs: Any) -> None:
        for cell in cells:
            if not hasattr(cell, "call"):
                raise ValueError("All cells must have a `call` method. received cells:", cells)
            if not hasattr(cell, "state_size"):
                raise ValueError(
                    "All cells must have a `state_size` attribute. received cells:", cells
                )
        self.reverse_state_order = kwargs.pop("reverse_state_order", False)
        super().__init__(**kwargs)
        self.cells = list(cells)

    def _ordered(self) -> list[Any]:
        return list(self.cells[::-1] if self.reverse_state_order else self.cells)

    @property
    def state_size(self) -> Any:
        """The sizes of all cells' states."""
        return tuple(cell.state_size for cell in self._ordered())

    @property
    def output_size(self) -> Any:
        """The size of the uppermost cell's output."""
        return size_of_output(self.cells[-1])

    def get_initial_state(
        self, inputs: Any = None, batch_size: Any = None, dtype: DTypeLike | None = None
    ) -> Any:
        """The first states of all cells."""
        if inputs is not None:
            batch_size, dtype = tf.shape(inputs)[0], inputs.dtype
        found = []
        for cell in self._ordered():
            if hasattr(cell, "get_initial_state"):
                found.append(cell.get_initial_state(batch_size=batch_size, dtype=dtype))
            else:
                found.append(zero_states(cell.state_size, batch_size, dtype))
        return tuple(found)

    def call(self, inputs: Any, states: Any, constants: Any = None, **kwargs: Any) -> Any:  # type: ignore[override]
        """One step of all cells."""
        sizes = tuple(cell.state_size for cell in self.cells)
        nested = nest.pack_sequence_as(sizes, nest.flatten(states))
        made = []
        for cell, state in zip(self.cells, nested):
            state = state if isinstance(state, (list, tuple)) else [state]
            own = dict(kwargs)
            if constants is not None and takes(cell, "constants"):
                own["constants"] = constants
            if not takes(cell, "training"):
                own.pop("training", None)
            if hasattr(cell, "_is_tf_rnn_cell") and len(state) == 1:
                state = state[0]
            inputs, state = cell.call(inputs, state, **own)
            made.append(state)
        return inputs, nest.pack_sequence_as(sizes, nest.flatten(made))

    def build(self, input_shape: Any) -> None:
        """Builds the cells."""
        shape = input_shape[0] if isinstance(input_shape, list) else input_shape
        batch = TensorShape(shape).as_list()[0]
        for cell in self.cells:
            if hasattr(cell, "build") and not cell.built:
                cell.build(shape)
                cell.built = True
            size = size_of_output(cell)
            rest = [size] if isinstance(size, int) else TensorShape(size).as_list()
            shape = TensorShape([batch, *rest])
        self.built = True

    def get_config(self) -> dict[str, Any]:
        """The cells' configurations."""
        cells = [
            {"class_name": type(cell).__name__, "config": cell.get_config()} for cell in self.cells
        ]
        return {**super().get_config(), "cells": cells}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """Cells of what `get_config` gave."""
        from .table import deserialize

        config = dict(config)
        cells = [deserialize(cell, custom_objects) for cell in config.pop("cells")]
        return cls(cells, **config)


def takes(cell: Any, argument: str) -> bool:
    """Whether a cell's `call` names an argument; cells around others may pass all on."""
    import inspect

    return argument in inspect.signature(cell.call).parameters
