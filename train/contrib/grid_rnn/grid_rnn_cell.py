# SPDX-License-Identifier: Apache-2.0
"""Cells in a grid: each dimension has a cell, and sees what the others give (arXiv 1507.01526)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ....engine.api import export
from ....engine.interface import log
from ....engine.types.shape import dimension_value
from ....ops.nn.activation import relu
from ....ops.public import tf
from ...rnn.cell import RNNCell
from ...rnn.cells import BasicLSTMCell, BasicRNNCell, GRUCell, LSTMCell
from ..layers.initializers import xavier_initializer
from ..layers.layers import fully_connected

Dims = int | Sequence[int] | None
MakeCell = Callable[[int], Any]


class _Grid(NamedTuple):
    """Which of the dimensions do what."""

    size: int
    inputs: list[int]
    outputs: list[int]
    recurrent: list[int]
    priority: list[int]
    others: list[int]


class _Step:
    """What the dimensions have before and after a step: cells' states, outputs."""

    def __init__(self, count: int) -> None:
        self.cells: list[Any] = [None] * count
        self.before: list[Any] = [None] * count
        self.outputs: list[Any] = [None] * count
        self.states: list[Any] = [None] * count

    def present(self, dimension: int) -> Any:
        """What a dimension gave: in this step if it was its turn already."""
        output = self.outputs[dimension]
        return self.before[dimension] if output is None else output


def _listed(dims: Dims, count: int) -> list[int]:
    found = [] if dims is None else [dims] if isinstance(dims, int) else list(dims)
    found = sorted(set(found))
    if any(dim < 0 or dim >= count for dim in found):
        raise ValueError(f"Invalid dims: {found}. Must be in [0, {count})")
    return found


@export("contrib.grid_rnn.GridRNNCell")
class GridRNNCell(RNNCell):
    """Cells in a grid (tf.contrib.grid_rnn.GridRNNCell).

    Args:
        num_units: the size of each dimension's output and state.
        num_dims: how many dimensions there are.
        input_dims, output_dims: those that get the inputs, and whose outputs are the cell's.
        priority_dims: those that see what the others gave in the same step.
        non_recurrent_dims: those that are a layer in place of a cell.
        tied: whether the dimensions share their weights.
        cell_fn: a function from num_units to a cell; LSTMCell if None.
        non_recurrent_fn: the activation of layers in place of cells; relu if None.
        state_is_tuple, output_is_tuple: whether those are tuples by dimension, or side by side.

    Raises:
        ValueError: there is no such dimension.
        TypeError: cell_fn makes no cell.

    Example:
        >>> cell = tf.contrib.grid_rnn.Grid2BasicRNNCell(4)
        >>> (output,), state = cell(tf.zeros([1, 3]), cell.zero_state(1, tf.float32))
        >>> print(output.shape, len(state))
        (1, 4) 2
    """

    def __init__(
        self,
        num_units: int,
        num_dims: int = 1,
        input_dims: Dims = None,
        output_dims: Dims = None,
        priority_dims: Dims = None,
        non_recurrent_dims: Dims = None,
        tied: bool = False,
        cell_fn: MakeCell | None = None,
        non_recurrent_fn: Callable[..., Any] | None = None,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:
        for what, is_tuple in (("state", state_is_tuple), ("output", output_is_tuple)):
            if not is_tuple:
                log.warning(
                    f"%s: Using a concatenated {what} is slower and will soon be deprecated.  Use "
                    f"{what}_is_tuple=True.",
                    self,
                )
        if num_dims < 1:
            raise ValueError(f"dims must be >= 1: {num_dims}")
        dims = range(num_dims)
        flat, priority = _listed(non_recurrent_dims, num_dims), _listed(priority_dims, num_dims)
        self._grid = _Grid(
            *(num_dims, _listed(input_dims, num_dims), _listed(output_dims, num_dims)),
            *([i for i in dims if i not in flat], priority),
            [i for i in dims if i not in priority],
        )
        self._num_units, self._tied = num_units, tied
        self._non_recurrent_fn = non_recurrent_fn or relu
        self._state_is_tuple, self._output_is_tuple = state_is_tuple, output_is_tuple

        def make() -> Any:
            if cell_fn is not None:
                return cell_fn(num_units)
            return LSTMCell(num_units=num_units, state_is_tuple=state_is_tuple)

        self._cells = [make()] * num_dims if tied else [make() for _ in dims]
        if not isinstance(self._cells[0], RNNCell):
            raise TypeError(f"cell_fn must return an RNNCell instance, saw: {type(self._cells[0])}")

    @property
    def output_size(self) -> Any:
        """The size of the output, by dimension if it is a tuple."""
        size, count = self._cells[0].output_size, len(self._grid.outputs)
        return (size,) * count if self._output_is_tuple else size * count

    @property
    def state_size(self) -> Any:
        """The size of the state, by dimension if it is a tuple."""
        count = len(self._grid.recurrent)
        if self._state_is_tuple:
            return (self._cells[0].state_size,) * count
        return self._cell_size * count

    @property
    def _cell_size(self) -> int:
        sizes = self._cells[0].state_size
        return sum(sizes) if isinstance(sizes, tuple) else sizes

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        """One step.

        Args:
            inputs: a tensor [batch, size], shared out to the input dimensions.
            state: that of the last step.
            scope: a variable scope or its name; the class's name if None.

        Returns:
            The output and the state.
        """
        step = self._begun(state)
        with tf.variable_scope(scope or type(self).__name__):
            self._project(inputs, step)
            self._propagate(self._grid.others, step, True)
            self._propagate(self._grid.priority, step, False)
            outputs: Any = tuple(step.outputs[i] for i in self._grid.outputs)
            states: Any = tuple(step.states[i] for i in self._grid.recurrent)
            nothing = tf.zeros([0, 0], inputs.dtype)
            if not self._output_is_tuple:
                outputs = tf.concat(outputs, 1) if outputs else nothing
            if not self._state_is_tuple:
                parts = [part for one in states for part in one]
                states = tf.concat(parts, 1) if parts else nothing
        return outputs, states

    def _begun(self, state: Any) -> _Step:
        """Takes a state apart."""
        step, recurrent = _Step(self._grid.size), self._grid.recurrent
        has_cells = self._cell_size > self._num_units
        if self._state_is_tuple:
            if len(recurrent) != len(state):
                raise ValueError(f"Expected state as a tuple of {len(recurrent)} element")
            for i, one in zip(recurrent, state):
                if has_cells:
                    step.cells[i], step.before[i] = one
                else:
                    step.before[i] = one
            return step
        for place, i in enumerate(recurrent):
            begin = place * self._cell_size
            first = tf.slice(state, [0, begin], [-1, self._num_units])
            if has_cells:
                rest = self._cell_size - self._num_units
                second = tf.slice(state, [0, begin + self._num_units], [-1, rest])
                step.cells[i], step.before[i] = first, second
            else:
                step.before[i] = first
        return step

    def _project(self, inputs: Any, step: _Step) -> None:
        """Puts what inputs project to in place of the states of input dimensions."""
        dims = self._grid.inputs
        if inputs is None or not dims or not dimension_value(inputs.shape.with_rank(2)[1]):
            return
        parts = tf.split(value=inputs, num_or_size_splits=len(dims), axis=1)
        shape = [dimension_value(parts[0].shape.with_rank(2)[1]), self._num_units]
        for part, i in zip(parts, dims):
            weights = tf.get_variable(f"project_m_{i}", shape, dtype=inputs.dtype)
            step.before[i] = tf.matmul(part, weights)
            if self._cell_size > self._num_units:
                weights = tf.get_variable(f"project_c_{i}", shape, dtype=inputs.dtype)
                step.cells[i] = tf.matmul(part, weights)

    def _propagate(self, dims: list[int], step: _Step, is_first: bool) -> None:
        """Has dimensions take their turn; none of them sees another's."""
        if not dims:
            return
        if self._grid.size > 1:
            seen = tf.concat([step.present(i) for i in range(self._grid.size - 1)], 1)
        else:
            first = step.before[0]
            seen = tf.zeros([first.get_shape().as_list()[0], 0], first.dtype)
        last = step.present(-1)
        for i in dims:
            reuses = self._tied and not (is_first and i == dims[0])
            kind = "recurrent" if i in self._grid.recurrent else "non_recurrent"
            with tf.variable_scope(kind if self._tied else f"{kind}/cell_{i}") as scope:
                if reuses:
                    scope.reuse_variables()
                if kind == "non_recurrent":
                    step.outputs[i] = self._layer(seen, last, scope)
                    continue
                state = last if step.cells[i] is None else (step.cells[i], last)
                step.outputs[i], step.states[i] = self._cells[i](seen, state)

    def _layer(self, seen: Any, last: Any, scope: Any) -> Any:
        return fully_connected(
            tf.concat([seen, last], 1) if self._grid.size > 1 else last,
            num_outputs=self._num_units,
            activation_fn=self._non_recurrent_fn,
            weights_initializer=scope.initializer or xavier_initializer,
            weights_regularizer=scope.regularizer,
        )


class _FirstDimensionCell(GridRNNCell):
    """A grid whose first dimension has inputs and outputs, and comes last."""

    def __init__(
        self,
        cell_fn: MakeCell,
        num_units: int,
        num_dims: int,
        tied: bool,
        non_recurrent_fn: Callable[..., Any] | None,
        state_is_tuple: bool,
        output_is_tuple: bool,
    ) -> None:
        super().__init__(
            num_units=num_units,
            num_dims=num_dims,
            input_dims=0,
            output_dims=0,
            priority_dims=0,
            non_recurrent_dims=None if non_recurrent_fn is None else 0,
            tied=tied,
            cell_fn=cell_fn,
            non_recurrent_fn=non_recurrent_fn,
            state_is_tuple=state_is_tuple,
            output_is_tuple=output_is_tuple,
        )


@export("contrib.grid_rnn.Grid1BasicRNNCell")
class Grid1BasicRNNCell(_FirstDimensionCell):
    """One dimension of BasicRNNCell; arguments as of GridRNNCell."""

    def __init__(
        self, num_units: int, state_is_tuple: bool = True, output_is_tuple: bool = True
    ) -> None:
        super().__init__(
            *(BasicRNNCell, num_units, 1, False, None, state_is_tuple, output_is_tuple)
        )


@export("contrib.grid_rnn.Grid2BasicRNNCell")
class Grid2BasicRNNCell(_FirstDimensionCell):
    """Two dimensions of BasicRNNCell; arguments as of GridRNNCell.

    With `non_recurrent_fn` the first is a layer.
    """

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Callable[..., Any] | None = None,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:
        super().__init__(
            *(BasicRNNCell, num_units, 2, tied, non_recurrent_fn, state_is_tuple, output_is_tuple)
        )


@export("contrib.grid_rnn.Grid1BasicLSTMCell")
class Grid1BasicLSTMCell(_FirstDimensionCell):
    """One dimension of BasicLSTMCell; arguments as of GridRNNCell and BasicLSTMCell."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:
        super().__init__(
            lambda n: BasicLSTMCell(num_units=n, forget_bias=forget_bias),
            *(num_units, 1, False, None, state_is_tuple, output_is_tuple),
        )


@export("contrib.grid_rnn.Grid2BasicLSTMCell")
class Grid2BasicLSTMCell(_FirstDimensionCell):
    """Two dimensions of BasicLSTMCell; arguments as of GridRNNCell and BasicLSTMCell.

    With `non_recurrent_fn` the first is a layer.
    """

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Callable[..., Any] | None = None,
        forget_bias: float = 1,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:
        super().__init__(
            lambda n: BasicLSTMCell(num_units=n, forget_bias=forget_bias),
            *(num_units, 2, tied, non_recurrent_fn, state_is_tuple, output_is_tuple),
        )


def _lstm(use_peepholes: bool, forget_bias: float) -> MakeCell:
    return lambda n: LSTMCell(num_units=n, use_peepholes=use_peepholes, forget_bias=forget_bias)


@export("contrib.grid_rnn.Grid1LSTMCell")
class Grid1LSTMCell(_FirstDimensionCell):
    """One dimension of LSTMCell; arguments as of GridRNNCell and LSTMCell."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:
        super().__init__(
            _lstm(use_peepholes, forget_bias),
            *(num_units, 1, False, None, state_is_tuple, output_is_tuple),
        )


@export("contrib.grid_rnn.Grid2LSTMCell")
class Grid2LSTMCell(_FirstDimensionCell):
    """Two dimensions of LSTMCell; arguments as of GridRNNCell and LSTMCell.

    With `non_recurrent_fn` the first is a layer.
    """

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Callable[..., Any] | None = None,
        use_peepholes: bool = False,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:
        super().__init__(
            _lstm(use_peepholes, forget_bias),
            *(num_units, 2, tied, non_recurrent_fn, state_is_tuple, output_is_tuple),
        )


@export("contrib.grid_rnn.Grid3LSTMCell")
class Grid3LSTMCell(_FirstDimensionCell):
    """Three dimensions of LSTMCell; arguments as of GridRNNCell and LSTMCell.

    With `non_recurrent_fn` the first is a layer.
    """

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Callable[..., Any] | None = None,
        use_peepholes: bool = False,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:
        super().__init__(
            _lstm(use_peepholes, forget_bias),
            *(num_units, 3, tied, non_recurrent_fn, state_is_tuple, output_is_tuple),
        )


@export("contrib.grid_rnn.Grid2GRUCell")
class Grid2GRUCell(_FirstDimensionCell):
    """Two dimensions of GRUCell; arguments as of GridRNNCell.

    With `non_recurrent_fn` the first is a layer.
    """

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Callable[..., Any] | None = None,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:
        super().__init__(
            *(GRUCell, num_units, 2, tied, non_recurrent_fn, state_is_tuple, output_is_tuple)
        )
