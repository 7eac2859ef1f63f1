# SPDX-License-Identifier: Apache-2.0
"""Gated recurrent units whose step is one op."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.deprecation import deprecated_args
from ....engine.types.shape import dimension_value
from ....ops.public import raw, tf
from ...layers.input_spec import InputSpec
from ...rnn.cell import LayerRNNCell

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor


@export("contrib.rnn.GRUBlockCell")
class GRUBlockCell(LayerRNNCell):
    """A GRU whose step is one op (tf.contrib.rnn.GRUBlockCell).

    Its variables have other names than those of GRUCell, and its gates another order in memory.

    Args:
        num_units: the size of output and state.
        cell_size: the same; deprecated.
        reuse: True takes variables that exist.
        name: of the layer.

    Raises:
        ValueError: not exactly one of num_units and cell_size is given.

    Example:
        >>> cell = tf.contrib.rnn.GRUBlockCell(4)
        >>> output, state = cell(tf.zeros([2, 3]), cell.zero_state(2, tf.float32))
        >>> print(output.shape, output.op.type)
        (2, 4) GRUBlockCell
    """

    # The names of the kernels and biases of gates and candidate.
    _NAMES = ("w_ru", "b_ru", "w_c", "b_c")

    @deprecated_args(None, "cell_size is deprecated, use num_units instead", "cell_size")
    def __init__(
        self,
        num_units: int | None = None,
        cell_size: int | None = None,
        reuse: bool | None = None,
        name: str | None = "gru_cell",
    ) -> None:
        super().__init__(_reuse=reuse, name=name)
        if (cell_size is None) == (num_units is None):
            raise ValueError("Exactly one of num_units or cell_size must be provided.")
        self._cell_size = cell_size if num_units is None else num_units
        self.input_spec = InputSpec(ndim=2)

    @property
    def state_size(self) -> Any:
        """The size of the state: `num_units`."""
        return self._cell_size

    @property
    def output_size(self) -> Any:
        """The size of the output: `num_units`."""
        return self._cell_size

    def build(self, input_shape: Any) -> None:
        """Makes kernels and biases of the gates and of the candidate."""
        depth, units = dimension_value(input_shape[1]), self._cell_size
        if depth is None:
            raise ValueError("Expecting input_size to be set.")
        names = iter(self._NAMES)

        def pair(size: Any, start: float) -> tuple[Any, Any]:
            kernel = self.add_variable(next(names), [depth + units, size])
            initializer = tf.constant_initializer(start)
            return kernel, self.add_variable(next(names), [size], initializer=initializer)

        self._gate_kernel, self._gate_bias = pair(2 * units, 1.0)  # type: ignore[operator]
        self._candidate_kernel, self._candidate_bias = pair(units, 0.0)
        self.built = True

    def call(self, inputs: Tensor, h_prev: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        """One step."""
        size = h_prev.get_shape().with_rank(2)[1]
        if size != self._cell_size:
            raise ValueError(f"Shape of h_prev[1] incorrect: cell_size {self._cell_size} vs {size}")
        _, _, _, new = raw.GRUBlockCell(
            x=inputs,
            h_prev=h_prev,
            w_ru=self._gate_kernel,
            w_c=self._candidate_kernel,
            b_ru=self._gate_bias,
            b_c=self._candidate_bias,
        )
        return new, new


@export("contrib.rnn.GRUBlockCellV2")
class GRUBlockCellV2(GRUBlockCell):
    """GRUBlockCell with the names of GRUCell's variables (tf.contrib.rnn.GRUBlockCellV2).

    Args:
        num_units, cell_size, reuse, name: as GRUBlockCell.
    """

    _NAMES = ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")
