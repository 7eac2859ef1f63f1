# SPDX-License-Identifier: Apache-2.0
"""The GRU and LSTM of TensorFlow 2, whose defaults are those of NVIDIA's library.

`tensorflow.python.keras.layers.recurrent_v2` has them in TensorFlow 1.15; what they compute is what
the layers of recurrent.py compute with the same arguments.
"""

from __future__ import annotations

from typing import Any

from . import cells, recurrent


class GRUCell(cells.GRUCell):
    """A step of GRU; arguments as of `tf.keras.layers.GRUCell`."""

    def __init__(self, units: int, **kwargs: Any) -> None:
        own = {"recurrent_activation": "sigmoid", "implementation": 2, "reset_after": True}
        super().__init__(units, **{**own, **kwargs})


class GRU(recurrent.GRU):
    """A layer of GRU; arguments as of `tf.keras.layers.GRU`."""

    # (In graphs of TensorFlow 1 it never is NVIDIA's.)
    could_use_cudnn = False

    cell_class: Any = GRUCell

    def __init__(self, units: int, activation: Any = "tanh", **kwargs: Any) -> None:
        own = {"recurrent_activation": "sigmoid", "implementation": 2, "reset_after": True}
        super().__init__(units, activation, **{**own, **kwargs})


class LSTMCell(cells.LSTMCell):
    """A step of LSTM; arguments as of `tf.keras.layers.LSTMCell`."""

    def __init__(self, units: int, **kwargs: Any) -> None:
        super().__init__(
            units, **{"recurrent_activation": "sigmoid", "implementation": 2, **kwargs}
        )


class LSTM(recurrent.LSTM):
    """A layer of LSTM; arguments as of `tf.keras.layers.LSTM`."""

    could_use_cudnn = False

    cell_class: Any = LSTMCell

    def __init__(self, units: int, activation: Any = "tanh", **kwargs: Any) -> None:
        own = {"recurrent_activation": "sigmoid", "implementation": 2}
        super().__init__(units, activation, **{**own, **kwargs})
