# SPDX-License-Identifier: Apache-2.0
"""All cells of TensorFlow's module of this name, as programs import them from it."""

from __future__ import annotations

from .core_rnn_cell import (
    EmbeddingWrapper as EmbeddingWrapper,
)
from .core_rnn_cell import (
    InputProjectionWrapper as InputProjectionWrapper,
)
from .core_rnn_cell import (
    OutputProjectionWrapper as OutputProjectionWrapper,
)
from .frequency_cells import (
    BidirectionalGridLSTMCell as BidirectionalGridLSTMCell,
)
from .frequency_cells import (
    GridLSTMCell as GridLSTMCell,
)
from .frequency_cells import (
    TimeFreqLSTMCell as TimeFreqLSTMCell,
)
from .gated_cells import (
    CFNCell as CFNCell,
)
from .gated_cells import (
    IntersectionRNNCell as IntersectionRNNCell,
)
from .gated_cells import (
    MinimalRNNCell as MinimalRNNCell,
)
from .gated_cells import (
    NASCell as NASCell,
)
from .gated_cells import (
    SRUCell as SRUCell,
)
from .gated_cells import (
    UGRNNCell as UGRNNCell,
)
from .independent_cells import (
    IndRNNCell as IndRNNCell,
)
from .independent_cells import (
    IndyGRUCell as IndyGRUCell,
)
from .independent_cells import (
    IndyLSTMCell as IndyLSTMCell,
)
from .lstm_cells import (
    CoupledInputForgetGateLSTMCell as CoupledInputForgetGateLSTMCell,
)
from .lstm_cells import (
    GLSTMCell as GLSTMCell,
)
from .lstm_cells import (
    LayerNormBasicLSTMCell as LayerNormBasicLSTMCell,
)
from .lstm_cells import (
    LayerNormLSTMCell as LayerNormLSTMCell,
)
from .lstm_cells import (
    WeightNormLSTMCell as WeightNormLSTMCell,
)
from .memory_cell import (
    NTMCell as NTMCell,
)
from .memory_cell import (
    NTMControllerState as NTMControllerState,
)
from .parts import Linear
from .spatial_cells import (
    Conv1DLSTMCell as Conv1DLSTMCell,
)
from .spatial_cells import (
    Conv2DLSTMCell as Conv2DLSTMCell,
)
from .spatial_cells import (
    Conv3DLSTMCell as Conv3DLSTMCell,
)
from .spatial_cells import (
    ConvLSTMCell as ConvLSTMCell,
)
from .spatial_cells import (
    PhasedLSTMCell as PhasedLSTMCell,
)
from .spatial_cells import (
    _conv as _conv,
)
from .spatial_cells import (
    _random_exp_initializer as _random_exp_initializer,
)
from .wrappers import (
    AttentionCellWrapper as AttentionCellWrapper,
)
from .wrappers import (
    CompiledWrapper as CompiledWrapper,
)
from .wrappers import (
    HighwayWrapper as HighwayWrapper,
)

_Linear = Linear
