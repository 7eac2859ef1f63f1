# SPDX-License-Identifier: Apache-2.0
"""One function per op type, as `raw` makes them; written by docs/stubs.py."""

from collections.abc import Sequence
from typing import NamedTuple

from ..engine.graph.annotations import DTypeLike, ShapeLike, TensorLike
from ..engine.graph.operation import Operation
from ..engine.graph.tensor import Tensor

def Abort(
    error_msg: bytes | str | None = ...,
    exit_without_error: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def Abs(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def AccumulateNV2(
    inputs: Sequence[TensorLike] | Tensor,
    shape: ShapeLike,
    name: str | None = ...,
) -> Tensor: ...
def AccumulatorApplyGradient(
    handle: TensorLike,
    local_step: TensorLike,
    gradient: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def AccumulatorNumAccumulated(
    handle: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def AccumulatorSetGlobalStep(
    handle: TensorLike,
    new_global_step: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def AccumulatorTakeGradient(
    handle: TensorLike,
    num_required: TensorLike,
    dtype: DTypeLike,
    name: str | None = ...,
) -> Tensor: ...
def Acos(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Acosh(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Add(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def AddManySparseToTensorsMap(
    sparse_indices: TensorLike,
    sparse_values: TensorLike,
    sparse_shape: TensorLike,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def AddN(
    inputs: Sequence[TensorLike] | Tensor,
    name: str | None = ...,
) -> Tensor: ...
def AddSparseToTensorsMap(
    sparse_indices: TensorLike,
    sparse_values: TensorLike,
    sparse_shape: TensorLike,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def AddV2(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def AdjustContrast(
    images: TensorLike,
    contrast_factor: TensorLike,
    min_value: TensorLike,
    max_value: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def AdjustContrastv2(
    images: TensorLike,
    contrast_factor: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def AdjustHsvInYiq(
    images: TensorLike,
    delta_h: TensorLike,
    scale_s: TensorLike,
    scale_v: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def AdjustHue(
    images: TensorLike,
    delta: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def AdjustSaturation(
    images: TensorLike,
    scale: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def All(
    input: TensorLike,
    axis: TensorLike,
    keep_dims: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _AllCandidateSampler(NamedTuple):
    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor

def AllCandidateSampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int | None = ...,
    seed2: int | None = ...,
    name: str | None = ...,
) -> _AllCandidateSampler: ...
def Angle(
    input: TensorLike,
    Tout: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def AnonymousIterator(
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
class _AnonymousIteratorV2(NamedTuple):
    handle: Tensor
    deleter: Tensor

def AnonymousIteratorV2(
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> _AnonymousIteratorV2: ...
class _AnonymousMemoryCache(NamedTuple):
    handle: Tensor
    deleter: Tensor

def AnonymousMemoryCache(
    name: str | None = ...,
) -> _AnonymousMemoryCache: ...
class _AnonymousMultiDeviceIterator(NamedTuple):
    handle: Tensor
    deleter: Tensor

def AnonymousMultiDeviceIterator(
    devices: Sequence[bytes | str],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> _AnonymousMultiDeviceIterator: ...
class _AnonymousRandomSeedGenerator(NamedTuple):
    handle: Tensor
    deleter: Tensor

def AnonymousRandomSeedGenerator(
    seed: TensorLike,
    seed2: TensorLike,
    name: str | None = ...,
) -> _AnonymousRandomSeedGenerator: ...
def Any(
    input: TensorLike,
    axis: TensorLike,
    keep_dims: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ApplyAdaMax(
    var: TensorLike,
    m: TensorLike,
    v: TensorLike,
    beta1_power: TensorLike,
    lr: TensorLike,
    beta1: TensorLike,
    beta2: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ApplyAdadelta(
    var: TensorLike,
    accum: TensorLike,
    accum_update: TensorLike,
    lr: TensorLike,
    rho: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ApplyAdagrad(
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    grad: TensorLike,
    use_locking: bool | None = ...,
    update_slots: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ApplyAdagradDA(
    var: TensorLike,
    gradient_accumulator: TensorLike,
    gradient_squared_accumulator: TensorLike,
    grad: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    global_step: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ApplyAdagradV2(
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    use_locking: bool | None = ...,
    update_slots: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ApplyAdam(
    var: TensorLike,
    m: TensorLike,
    v: TensorLike,
    beta1_power: TensorLike,
    beta2_power: TensorLike,
    lr: TensorLike,
    beta1: TensorLike,
    beta2: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    use_locking: bool | None = ...,
    use_nesterov: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ApplyAddSign(
    var: TensorLike,
    m: TensorLike,
    lr: TensorLike,
    alpha: TensorLike,
    sign_decay: TensorLike,
    beta: TensorLike,
    grad: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ApplyCenteredRMSProp(
    var: TensorLike,
    mg: TensorLike,
    ms: TensorLike,
    mom: TensorLike,
    lr: TensorLike,
    rho: TensorLike,
    momentum: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ApplyFtrl(
    var: TensorLike,
    accum: TensorLike,
    linear: TensorLike,
    grad: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    lr_power: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ApplyFtrlV2(
    var: TensorLike,
    accum: TensorLike,
    linear: TensorLike,
    grad: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    l2_shrinkage: TensorLike,
    lr_power: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ApplyGradientDescent(
    var: TensorLike,
    alpha: TensorLike,
    delta: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ApplyMomentum(
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    grad: TensorLike,
    momentum: TensorLike,
    use_locking: bool | None = ...,
    use_nesterov: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ApplyPowerSign(
    var: TensorLike,
    m: TensorLike,
    lr: TensorLike,
    logbase: TensorLike,
    sign_decay: TensorLike,
    beta: TensorLike,
    grad: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ApplyProximalAdagrad(
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    grad: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ApplyProximalGradientDescent(
    var: TensorLike,
    alpha: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    delta: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ApplyRMSProp(
    var: TensorLike,
    ms: TensorLike,
    mom: TensorLike,
    lr: TensorLike,
    rho: TensorLike,
    momentum: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ApproximateEqual(
    x: TensorLike,
    y: TensorLike,
    tolerance: float | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ArgMax(
    input: TensorLike,
    dimension: TensorLike,
    output_type: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ArgMin(
    input: TensorLike,
    dimension: TensorLike,
    output_type: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def AsString(
    input: TensorLike,
    precision: int | None = ...,
    scientific: bool | None = ...,
    shortest: bool | None = ...,
    width: int | None = ...,
    fill: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Asin(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Asinh(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Assert(
    condition: TensorLike,
    data: Sequence[TensorLike] | Tensor,
    summarize: int | None = ...,
    name: str | None = ...,
) -> Operation: ...
def AssertNextDataset(
    input_dataset: TensorLike,
    transformations: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def Assign(
    ref: TensorLike,
    value: TensorLike,
    validate_shape: bool | None = ...,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def AssignAdd(
    ref: TensorLike,
    value: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def AssignAddVariableOp(
    resource: TensorLike,
    value: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def AssignSub(
    ref: TensorLike,
    value: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def AssignSubVariableOp(
    resource: TensorLike,
    value: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def AssignVariableOp(
    resource: TensorLike,
    value: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def Atan(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Atan2(
    y: TensorLike,
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Atanh(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def AudioSpectrogram(
    input: TensorLike,
    window_size: int,
    stride: int,
    magnitude_squared: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def AudioSummary(
    tag: TensorLike,
    tensor: TensorLike,
    sample_rate: float,
    max_outputs: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def AudioSummaryV2(
    tag: TensorLike,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def AutoShardDataset(
    input_dataset: TensorLike,
    num_workers: TensorLike,
    index: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def AvgPool(
    value: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: bytes | str,
    data_format: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def AvgPool3D(
    input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: bytes | str,
    data_format: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def AvgPool3DGrad(
    orig_input_shape: TensorLike,
    grad: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: bytes | str,
    data_format: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def AvgPoolGrad(
    orig_input_shape: TensorLike,
    grad: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: bytes | str,
    data_format: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Barrier(
    component_types: Sequence[DTypeLike],
    shapes: Sequence[ShapeLike] | None = ...,
    capacity: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def BarrierClose(
    handle: TensorLike,
    cancel_pending_enqueues: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def BarrierIncompleteSize(
    handle: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def BarrierInsertMany(
    handle: TensorLike,
    keys: TensorLike,
    values: TensorLike,
    component_index: int,
    name: str | None = ...,
) -> Operation: ...
def BarrierReadySize(
    handle: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
class _BarrierTakeMany(NamedTuple):
    indices: Tensor
    keys: Tensor
    values: list[Tensor]

def BarrierTakeMany(
    handle: TensorLike,
    num_elements: TensorLike,
    component_types: Sequence[DTypeLike],
    allow_small_batch: bool | None = ...,
    wait_for_incomplete: bool | None = ...,
    timeout_ms: int | None = ...,
    name: str | None = ...,
) -> _BarrierTakeMany: ...
class _Batch(NamedTuple):
    batched_tensors: list[Tensor]
    batch_index: Tensor
    id: Tensor

def Batch(
    in_tensors: Sequence[TensorLike] | Tensor,
    num_batch_threads: int,
    max_batch_size: int,
    batch_timeout_micros: int,
    grad_timeout_micros: int,
    max_enqueued_batches: int | None = ...,
    allowed_batch_sizes: Sequence[int] | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    batching_queue: bytes | str | None = ...,
    name: str | None = ...,
) -> _Batch: ...
def BatchCholesky(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def BatchCholeskyGrad(
    l: TensorLike,
    grad: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def BatchDataset(
    input_dataset: TensorLike,
    batch_size: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def BatchDatasetV2(
    input_dataset: TensorLike,
    batch_size: TensorLike,
    drop_remainder: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    parallel_copy: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def BatchFFT(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def BatchFFT2D(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def BatchFFT3D(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def BatchFunction(
    in_tensors: Sequence[TensorLike] | Tensor,
    captured_tensors: Sequence[TensorLike] | Tensor,
    f: object,
    num_batch_threads: int,
    max_batch_size: int,
    batch_timeout_micros: int,
    Tout: Sequence[DTypeLike],
    max_enqueued_batches: int | None = ...,
    allowed_batch_sizes: Sequence[int] | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    batching_queue: bytes | str | None = ...,
    name: str | None = ...,
) -> list[Tensor]: ...
def BatchIFFT(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def BatchIFFT2D(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def BatchIFFT3D(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def BatchMatMul(
    x: TensorLike,
    y: TensorLike,
    adj_x: bool | None = ...,
    adj_y: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def BatchMatMulV2(
    x: TensorLike,
    y: TensorLike,
    adj_x: bool | None = ...,
    adj_y: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def BatchMatrixBandPart(
    input: TensorLike,
    num_lower: TensorLike,
    num_upper: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def BatchMatrixDeterminant(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def BatchMatrixDiag(
    diagonal: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def BatchMatrixDiagPart(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def BatchMatrixInverse(
    input: TensorLike,
    adjoint: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def BatchMatrixSetDiag(
    input: TensorLike,
    diagonal: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def BatchMatrixSolve(
    matrix: TensorLike,
    rhs: TensorLike,
    adjoint: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def BatchMatrixSolveLs(
    matrix: TensorLike,
    rhs: TensorLike,
    l2_regularizer: TensorLike,
    fast: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def BatchMatrixTriangularSolve(
    matrix: TensorLike,
    rhs: TensorLike,
    lower: bool | None = ...,
    adjoint: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def BatchNormWithGlobalNormalization(
    t: TensorLike,
    m: TensorLike,
    v: TensorLike,
    beta: TensorLike,
    gamma: TensorLike,
    variance_epsilon: float,
    scale_after_normalization: bool,
    name: str | None = ...,
) -> Tensor: ...
class _BatchNormWithGlobalNormalizationGrad(NamedTuple):
    dx: Tensor
    dm: Tensor
    dv: Tensor
    db: Tensor
    dg: Tensor

def BatchNormWithGlobalNormalizationGrad(
    t: TensorLike,
    m: TensorLike,
    v: TensorLike,
    gamma: TensorLike,
    backprop: TensorLike,
    variance_epsilon: float,
    scale_after_normalization: bool,
    name: str | None = ...,
) -> _BatchNormWithGlobalNormalizationGrad: ...
def BatchSelfAdjointEig(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
class _BatchSelfAdjointEigV2(NamedTuple):
    e: Tensor
    v: Tensor

def BatchSelfAdjointEigV2(
    input: TensorLike,
    compute_v: bool | None = ...,
    name: str | None = ...,
) -> _BatchSelfAdjointEigV2: ...
class _BatchSvd(NamedTuple):
    s: Tensor
    u: Tensor
    v: Tensor

def BatchSvd(
    input: TensorLike,
    compute_uv: bool | None = ...,
    full_matrices: bool | None = ...,
    name: str | None = ...,
) -> _BatchSvd: ...
def BatchToSpace(
    input: TensorLike,
    crops: TensorLike,
    block_size: int,
    name: str | None = ...,
) -> Tensor: ...
def BatchToSpaceND(
    input: TensorLike,
    block_shape: TensorLike,
    crops: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def BesselI0e(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def BesselI1e(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Betainc(
    a: TensorLike,
    b: TensorLike,
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def BiasAdd(
    value: TensorLike,
    bias: TensorLike,
    data_format: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def BiasAddGrad(
    out_backprop: TensorLike,
    data_format: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def BiasAddV1(
    value: TensorLike,
    bias: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Bincount(
    arr: TensorLike,
    size: TensorLike,
    weights: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
class _BipartiteMatch(NamedTuple):
    row_to_col_match_indices: Tensor
    col_to_row_match_indices: Tensor

def BipartiteMatch(
    distance_mat: TensorLike,
    num_valid_rows: TensorLike,
    top_k: int | None = ...,
    name: str | None = ...,
) -> _BipartiteMatch: ...
def Bitcast(
    input: TensorLike,
    type: DTypeLike,
    name: str | None = ...,
) -> Tensor: ...
def BitwiseAnd(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def BitwiseOr(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def BitwiseXor(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
class _BlockLSTM(NamedTuple):
    i: Tensor
    cs: Tensor
    f: Tensor
    o: Tensor
    ci: Tensor
    co: Tensor
    h: Tensor

def BlockLSTM(
    seq_len_max: TensorLike,
    x: TensorLike,
    cs_prev: TensorLike,
    h_prev: TensorLike,
    w: TensorLike,
    wci: TensorLike,
    wcf: TensorLike,
    wco: TensorLike,
    b: TensorLike,
    forget_bias: float | None = ...,
    cell_clip: float | None = ...,
    use_peephole: bool | None = ...,
    name: str | None = ...,
) -> _BlockLSTM: ...
class _BlockLSTMGrad(NamedTuple):
    x_grad: Tensor
    cs_prev_grad: Tensor
    h_prev_grad: Tensor
    w_grad: Tensor
    wci_grad: Tensor
    wcf_grad: Tensor
    wco_grad: Tensor
    b_grad: Tensor

def BlockLSTMGrad(
    seq_len_max: TensorLike,
    x: TensorLike,
    cs_prev: TensorLike,
    h_prev: TensorLike,
    w: TensorLike,
    wci: TensorLike,
    wcf: TensorLike,
    wco: TensorLike,
    b: TensorLike,
    i: TensorLike,
    cs: TensorLike,
    f: TensorLike,
    o: TensorLike,
    ci: TensorLike,
    co: TensorLike,
    h: TensorLike,
    cs_grad: TensorLike,
    h_grad: TensorLike,
    use_peephole: bool,
    name: str | None = ...,
) -> _BlockLSTMGrad: ...
class _BlockLSTMGradV2(NamedTuple):
    x_grad: Tensor
    cs_prev_grad: Tensor
    h_prev_grad: Tensor
    w_grad: Tensor
    wci_grad: Tensor
    wcf_grad: Tensor
    wco_grad: Tensor
    b_grad: Tensor

def BlockLSTMGradV2(
    seq_len_max: TensorLike,
    x: TensorLike,
    cs_prev: TensorLike,
    h_prev: TensorLike,
    w: TensorLike,
    wci: TensorLike,
    wcf: TensorLike,
    wco: TensorLike,
    b: TensorLike,
    i: TensorLike,
    cs: TensorLike,
    f: TensorLike,
    o: TensorLike,
    ci: TensorLike,
    co: TensorLike,
    h: TensorLike,
    cs_grad: TensorLike,
    h_grad: TensorLike,
    use_peephole: bool,
    name: str | None = ...,
) -> _BlockLSTMGradV2: ...
class _BlockLSTMV2(NamedTuple):
    i: Tensor
    cs: Tensor
    f: Tensor
    o: Tensor
    ci: Tensor
    co: Tensor
    h: Tensor

def BlockLSTMV2(
    seq_len_max: TensorLike,
    x: TensorLike,
    cs_prev: TensorLike,
    h_prev: TensorLike,
    w: TensorLike,
    wci: TensorLike,
    wcf: TensorLike,
    wco: TensorLike,
    b: TensorLike,
    cell_clip: float | None = ...,
    use_peephole: bool | None = ...,
    name: str | None = ...,
) -> _BlockLSTMV2: ...
def BoostedTreesAggregateStats(
    node_ids: TensorLike,
    gradients: TensorLike,
    hessians: TensorLike,
    feature: TensorLike,
    max_splits: int,
    num_buckets: int,
    name: str | None = ...,
) -> Tensor: ...
def BoostedTreesBucketize(
    float_values: Sequence[TensorLike] | Tensor,
    bucket_boundaries: Sequence[TensorLike] | Tensor,
    name: str | None = ...,
) -> list[Tensor]: ...
class _BoostedTreesCalculateBestFeatureSplit(NamedTuple):
    node_ids: Tensor
    gains: Tensor
    feature_dimensions: Tensor
    thresholds: Tensor
    left_node_contribs: Tensor
    right_node_contribs: Tensor
    split_with_default_directions: Tensor

def BoostedTreesCalculateBestFeatureSplit(
    node_id_range: TensorLike,
    stats_summary: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    tree_complexity: TensorLike,
    min_node_weight: TensorLike,
    logits_dimension: int,
    split_type: bytes | str | None = ...,
    name: str | None = ...,
) -> _BoostedTreesCalculateBestFeatureSplit: ...
class _BoostedTreesCalculateBestGainsPerFeature(NamedTuple):
    node_ids_list: list[Tensor]
    gains_list: list[Tensor]
    thresholds_list: list[Tensor]
    left_node_contribs_list: list[Tensor]
    right_node_contribs_list: list[Tensor]

def BoostedTreesCalculateBestGainsPerFeature(
    node_id_range: TensorLike,
    stats_summary_list: Sequence[TensorLike] | Tensor,
    l1: TensorLike,
    l2: TensorLike,
    tree_complexity: TensorLike,
    min_node_weight: TensorLike,
    max_splits: int,
    name: str | None = ...,
) -> _BoostedTreesCalculateBestGainsPerFeature: ...
def BoostedTreesCenterBias(
    tree_ensemble_handle: TensorLike,
    mean_gradients: TensorLike,
    mean_hessians: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def BoostedTreesCreateEnsemble(
    tree_ensemble_handle: TensorLike,
    stamp_token: TensorLike,
    tree_ensemble_serialized: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def BoostedTreesCreateQuantileStreamResource(
    quantile_stream_resource_handle: TensorLike,
    epsilon: TensorLike,
    num_streams: TensorLike,
    max_elements: int | None = ...,
    name: str | None = ...,
) -> Operation: ...
def BoostedTreesDeserializeEnsemble(
    tree_ensemble_handle: TensorLike,
    stamp_token: TensorLike,
    tree_ensemble_serialized: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def BoostedTreesEnsembleResourceHandleOp(
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def BoostedTreesExampleDebugOutputs(
    tree_ensemble_handle: TensorLike,
    bucketized_features: Sequence[TensorLike] | Tensor,
    logits_dimension: int,
    name: str | None = ...,
) -> Tensor: ...
def BoostedTreesFlushQuantileSummaries(
    quantile_stream_resource_handle: TensorLike,
    num_features: int,
    name: str | None = ...,
) -> list[Tensor]: ...
class _BoostedTreesGetEnsembleStates(NamedTuple):
    stamp_token: Tensor
    num_trees: Tensor
    num_finalized_trees: Tensor
    num_attempted_layers: Tensor
    last_layer_nodes_range: Tensor

def BoostedTreesGetEnsembleStates(
    tree_ensemble_handle: TensorLike,
    name: str | None = ...,
) -> _BoostedTreesGetEnsembleStates: ...
def BoostedTreesMakeQuantileSummaries(
    float_values: Sequence[TensorLike] | Tensor,
    example_weights: TensorLike,
    epsilon: TensorLike,
    name: str | None = ...,
) -> list[Tensor]: ...
def BoostedTreesMakeStatsSummary(
    node_ids: TensorLike,
    gradients: TensorLike,
    hessians: TensorLike,
    bucketized_features_list: Sequence[TensorLike] | Tensor,
    max_splits: int,
    num_buckets: int,
    name: str | None = ...,
) -> Tensor: ...
def BoostedTreesPredict(
    tree_ensemble_handle: TensorLike,
    bucketized_features: Sequence[TensorLike] | Tensor,
    logits_dimension: int,
    name: str | None = ...,
) -> Tensor: ...
def BoostedTreesQuantileStreamResourceAddSummaries(
    quantile_stream_resource_handle: TensorLike,
    summaries: Sequence[TensorLike] | Tensor,
    name: str | None = ...,
) -> Operation: ...
def BoostedTreesQuantileStreamResourceDeserialize(
    quantile_stream_resource_handle: TensorLike,
    bucket_boundaries: Sequence[TensorLike] | Tensor,
    name: str | None = ...,
) -> Operation: ...
def BoostedTreesQuantileStreamResourceFlush(
    quantile_stream_resource_handle: TensorLike,
    num_buckets: TensorLike,
    generate_quantiles: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def BoostedTreesQuantileStreamResourceGetBucketBoundaries(
    quantile_stream_resource_handle: TensorLike,
    num_features: int,
    name: str | None = ...,
) -> list[Tensor]: ...
def BoostedTreesQuantileStreamResourceHandleOp(
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _BoostedTreesSerializeEnsemble(NamedTuple):
    stamp_token: Tensor
    tree_ensemble_serialized: Tensor

def BoostedTreesSerializeEnsemble(
    tree_ensemble_handle: TensorLike,
    name: str | None = ...,
) -> _BoostedTreesSerializeEnsemble: ...
class _BoostedTreesSparseAggregateStats(NamedTuple):
    stats_summary_indices: Tensor
    stats_summary_values: Tensor
    stats_summary_shape: Tensor

def BoostedTreesSparseAggregateStats(
    node_ids: TensorLike,
    gradients: TensorLike,
    hessians: TensorLike,
    feature_indices: TensorLike,
    feature_values: TensorLike,
    feature_shape: TensorLike,
    max_splits: int,
    num_buckets: int,
    name: str | None = ...,
) -> _BoostedTreesSparseAggregateStats: ...
class _BoostedTreesSparseCalculateBestFeatureSplit(NamedTuple):
    node_ids: Tensor
    gains: Tensor
    feature_dimensions: Tensor
    thresholds: Tensor
    left_node_contribs: Tensor
    right_node_contribs: Tensor
    split_with_default_directions: Tensor

def BoostedTreesSparseCalculateBestFeatureSplit(
    node_id_range: TensorLike,
    stats_summary_indices: TensorLike,
    stats_summary_values: TensorLike,
    stats_summary_shape: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    tree_complexity: TensorLike,
    min_node_weight: TensorLike,
    logits_dimension: int,
    split_type: bytes | str | None = ...,
    name: str | None = ...,
) -> _BoostedTreesSparseCalculateBestFeatureSplit: ...
class _BoostedTreesTrainingPredict(NamedTuple):
    partial_logits: Tensor
    tree_ids: Tensor
    node_ids: Tensor

def BoostedTreesTrainingPredict(
    tree_ensemble_handle: TensorLike,
    cached_tree_ids: TensorLike,
    cached_node_ids: TensorLike,
    bucketized_features: Sequence[TensorLike] | Tensor,
    logits_dimension: int,
    name: str | None = ...,
) -> _BoostedTreesTrainingPredict: ...
def BoostedTreesUpdateEnsemble(
    tree_ensemble_handle: TensorLike,
    feature_ids: TensorLike,
    node_ids: Sequence[TensorLike] | Tensor,
    gains: Sequence[TensorLike] | Tensor,
    thresholds: Sequence[TensorLike] | Tensor,
    left_node_contribs: Sequence[TensorLike] | Tensor,
    right_node_contribs: Sequence[TensorLike] | Tensor,
    max_depth: TensorLike,
    learning_rate: TensorLike,
    pruning_mode: int,
    name: str | None = ...,
) -> Operation: ...
def BoostedTreesUpdateEnsembleV2(
    tree_ensemble_handle: TensorLike,
    feature_ids: TensorLike,
    dimension_ids: Sequence[TensorLike] | Tensor,
    node_ids: Sequence[TensorLike] | Tensor,
    gains: Sequence[TensorLike] | Tensor,
    thresholds: Sequence[TensorLike] | Tensor,
    left_node_contribs: Sequence[TensorLike] | Tensor,
    right_node_contribs: Sequence[TensorLike] | Tensor,
    split_types: Sequence[TensorLike] | Tensor,
    max_depth: TensorLike,
    learning_rate: TensorLike,
    pruning_mode: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def BroadcastArgs(
    s0: TensorLike,
    s1: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
class _BroadcastGradientArgs(NamedTuple):
    r0: Tensor
    r1: Tensor

def BroadcastGradientArgs(
    s0: TensorLike,
    s1: TensorLike,
    name: str | None = ...,
) -> _BroadcastGradientArgs: ...
def BroadcastTo(
    input: TensorLike,
    shape: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Bucketize(
    input: TensorLike,
    boundaries: Sequence[float],
    name: str | None = ...,
) -> Tensor: ...
def BytesInUse(
    name: str | None = ...,
) -> Tensor: ...
def BytesLimit(
    name: str | None = ...,
) -> Tensor: ...
def BytesProducedStatsDataset(
    input_dataset: TensorLike,
    tag: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def CSVDataset(
    filenames: TensorLike,
    compression_type: TensorLike,
    buffer_size: TensorLike,
    header: TensorLike,
    field_delim: TensorLike,
    use_quote_delim: TensorLike,
    na_value: TensorLike,
    select_cols: TensorLike,
    record_defaults: Sequence[TensorLike] | Tensor,
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
class _CTCBeamSearchDecoder(NamedTuple):
    decoded_indices: list[Tensor]
    decoded_values: list[Tensor]
    decoded_shape: list[Tensor]
    log_probability: Tensor

def CTCBeamSearchDecoder(
    inputs: TensorLike,
    sequence_length: TensorLike,
    beam_width: int,
    top_paths: int,
    merge_repeated: bool | None = ...,
    name: str | None = ...,
) -> _CTCBeamSearchDecoder: ...
class _CTCGreedyDecoder(NamedTuple):
    decoded_indices: Tensor
    decoded_values: Tensor
    decoded_shape: Tensor
    log_probability: Tensor

def CTCGreedyDecoder(
    inputs: TensorLike,
    sequence_length: TensorLike,
    merge_repeated: bool | None = ...,
    name: str | None = ...,
) -> _CTCGreedyDecoder: ...
class _CTCLoss(NamedTuple):
    loss: Tensor
    gradient: Tensor

def CTCLoss(
    inputs: TensorLike,
    labels_indices: TensorLike,
    labels_values: TensorLike,
    sequence_length: TensorLike,
    preprocess_collapse_repeated: bool | None = ...,
    ctc_merge_repeated: bool | None = ...,
    ignore_longer_outputs_than_inputs: bool | None = ...,
    name: str | None = ...,
) -> _CTCLoss: ...
class _CTCLossV2(NamedTuple):
    loss: Tensor
    gradient: Tensor

def CTCLossV2(
    inputs: TensorLike,
    labels_indices: TensorLike,
    labels_values: TensorLike,
    sequence_length: TensorLike,
    preprocess_collapse_repeated: bool | None = ...,
    ctc_merge_repeated: bool | None = ...,
    ignore_longer_outputs_than_inputs: bool | None = ...,
    name: str | None = ...,
) -> _CTCLossV2: ...
def CacheDataset(
    input_dataset: TensorLike,
    filename: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def CacheDatasetV2(
    input_dataset: TensorLike,
    filename: TensorLike,
    cache: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def Case(
    branch_index: TensorLike,
    input: Sequence[TensorLike] | Tensor,
    Tout: Sequence[DTypeLike],
    branches: Sequence[object],
    output_shapes: Sequence[ShapeLike] | None = ...,
    name: str | None = ...,
) -> list[Tensor]: ...
def Cast(
    x: TensorLike,
    DstT: DTypeLike,
    Truncate: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Ceil(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def CheckNumerics(
    tensor: TensorLike,
    message: bytes | str,
    name: str | None = ...,
) -> Tensor: ...
def Cholesky(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def CholeskyGrad(
    l: TensorLike,
    grad: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ChooseFastestBranchDataset(
    input_dataset: TensorLike,
    ratio_numerator: TensorLike,
    ratio_denominator: TensorLike,
    other_arguments: Sequence[TensorLike] | Tensor,
    num_elements_per_branch: int,
    branches: Sequence[object],
    other_arguments_lengths: Sequence[int],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ChooseFastestDataset(
    input_datasets: Sequence[TensorLike] | Tensor,
    num_experiments: int,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ClipByValue(
    t: TensorLike,
    clip_value_min: TensorLike,
    clip_value_max: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def CloseSummaryWriter(
    writer: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def CollectiveBcastRecv(
    T: DTypeLike,
    group_size: int,
    group_key: int,
    instance_key: int,
    shape: ShapeLike,
    communication_hint: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def CollectiveBcastSend(
    input: TensorLike,
    group_size: int,
    group_key: int,
    instance_key: int,
    shape: ShapeLike,
    communication_hint: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def CollectiveGather(
    input: TensorLike,
    group_size: int,
    group_key: int,
    instance_key: int,
    shape: ShapeLike,
    communication_hint: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def CollectiveReduce(
    input: TensorLike,
    group_size: int,
    group_key: int,
    instance_key: int,
    merge_op: bytes | str,
    final_op: bytes | str,
    subdiv_offsets: Sequence[int],
    wait_for: Sequence[int] | None = ...,
    communication_hint: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _CombinedNonMaxSuppression(NamedTuple):
    nmsed_boxes: Tensor
    nmsed_scores: Tensor
    nmsed_classes: Tensor
    valid_detections: Tensor

def CombinedNonMaxSuppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size_per_class: TensorLike,
    max_total_size: TensorLike,
    iou_threshold: TensorLike,
    score_threshold: TensorLike,
    pad_per_class: bool | None = ...,
    clip_boxes: bool | None = ...,
    name: str | None = ...,
) -> _CombinedNonMaxSuppression: ...
def CompareAndBitpack(
    input: TensorLike,
    threshold: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Complex(
    real: TensorLike,
    imag: TensorLike,
    Tout: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ComplexAbs(
    x: TensorLike,
    Tout: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _ComputeAccidentalHits(NamedTuple):
    indices: Tensor
    ids: Tensor
    weights: Tensor

def ComputeAccidentalHits(
    true_classes: TensorLike,
    sampled_candidates: TensorLike,
    num_true: int,
    seed: int | None = ...,
    seed2: int | None = ...,
    name: str | None = ...,
) -> _ComputeAccidentalHits: ...
def Concat(
    concat_dim: TensorLike,
    values: Sequence[TensorLike] | Tensor,
    name: str | None = ...,
) -> Tensor: ...
def ConcatOffset(
    concat_dim: TensorLike,
    shape: Sequence[TensorLike] | Tensor,
    name: str | None = ...,
) -> list[Tensor]: ...
def ConcatV2(
    values: Sequence[TensorLike] | Tensor,
    axis: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ConcatenateDataset(
    input_dataset: TensorLike,
    another_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ConditionalAccumulator(
    dtype: DTypeLike,
    shape: ShapeLike,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    reduction_type: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Conj(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ConjugateTranspose(
    x: TensorLike,
    perm: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Const(
    value: object,
    dtype: DTypeLike,
    name: str | None = ...,
) -> Tensor: ...
def ConsumeMutexLock(
    mutex_lock: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def ControlTrigger(
    name: str | None = ...,
) -> Operation: ...
def Conv2D(
    input: TensorLike,
    filter: TensorLike,
    strides: Sequence[int],
    padding: bytes | str,
    use_cudnn_on_gpu: bool | None = ...,
    explicit_paddings: Sequence[int] | None = ...,
    data_format: bytes | str | None = ...,
    dilations: Sequence[int] | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Conv2DBackpropFilter(
    input: TensorLike,
    filter_sizes: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: bytes | str,
    use_cudnn_on_gpu: bool | None = ...,
    explicit_paddings: Sequence[int] | None = ...,
    data_format: bytes | str | None = ...,
    dilations: Sequence[int] | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Conv2DBackpropInput(
    input_sizes: TensorLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: bytes | str,
    use_cudnn_on_gpu: bool | None = ...,
    explicit_paddings: Sequence[int] | None = ...,
    data_format: bytes | str | None = ...,
    dilations: Sequence[int] | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Conv3D(
    input: TensorLike,
    filter: TensorLike,
    strides: Sequence[int],
    padding: bytes | str,
    data_format: bytes | str | None = ...,
    dilations: Sequence[int] | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Conv3DBackpropFilter(
    input: TensorLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: bytes | str,
    dilations: Sequence[int] | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Conv3DBackpropFilterV2(
    input: TensorLike,
    filter_sizes: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: bytes | str,
    data_format: bytes | str | None = ...,
    dilations: Sequence[int] | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Conv3DBackpropInput(
    input: TensorLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: bytes | str,
    dilations: Sequence[int] | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Conv3DBackpropInputV2(
    input_sizes: TensorLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: bytes | str,
    data_format: bytes | str | None = ...,
    dilations: Sequence[int] | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Cos(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Cosh(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def CountUpTo(
    ref: TensorLike,
    limit: int,
    name: str | None = ...,
) -> Tensor: ...
def CreateSummaryFileWriter(
    writer: TensorLike,
    logdir: TensorLike,
    max_queue: TensorLike,
    flush_millis: TensorLike,
    filename_suffix: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def CropAndResize(
    image: TensorLike,
    boxes: TensorLike,
    box_ind: TensorLike,
    crop_size: TensorLike,
    method: bytes | str | None = ...,
    extrapolation_value: float | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def CropAndResizeGradBoxes(
    grads: TensorLike,
    image: TensorLike,
    boxes: TensorLike,
    box_ind: TensorLike,
    method: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def CropAndResizeGradImage(
    grads: TensorLike,
    boxes: TensorLike,
    box_ind: TensorLike,
    image_size: TensorLike,
    T: DTypeLike,
    method: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Cross(
    a: TensorLike,
    b: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
class _CudnnRNN(NamedTuple):
    output: Tensor
    output_h: Tensor
    output_c: Tensor
    reserve_space: Tensor

def CudnnRNN(
    input: TensorLike,
    input_h: TensorLike,
    input_c: TensorLike,
    params: TensorLike,
    rnn_mode: bytes | str | None = ...,
    input_mode: bytes | str | None = ...,
    direction: bytes | str | None = ...,
    dropout: float | None = ...,
    seed: int | None = ...,
    seed2: int | None = ...,
    is_training: bool | None = ...,
    name: str | None = ...,
) -> _CudnnRNN: ...
class _CudnnRNNBackprop(NamedTuple):
    input_backprop: Tensor
    input_h_backprop: Tensor
    input_c_backprop: Tensor
    params_backprop: Tensor

def CudnnRNNBackprop(
    input: TensorLike,
    input_h: TensorLike,
    input_c: TensorLike,
    params: TensorLike,
    output: TensorLike,
    output_h: TensorLike,
    output_c: TensorLike,
    output_backprop: TensorLike,
    output_h_backprop: TensorLike,
    output_c_backprop: TensorLike,
    reserve_space: TensorLike,
    rnn_mode: bytes | str | None = ...,
    input_mode: bytes | str | None = ...,
    direction: bytes | str | None = ...,
    dropout: float | None = ...,
    seed: int | None = ...,
    seed2: int | None = ...,
    name: str | None = ...,
) -> _CudnnRNNBackprop: ...
class _CudnnRNNBackpropV2(NamedTuple):
    input_backprop: Tensor
    input_h_backprop: Tensor
    input_c_backprop: Tensor
    params_backprop: Tensor

def CudnnRNNBackpropV2(
    input: TensorLike,
    input_h: TensorLike,
    input_c: TensorLike,
    params: TensorLike,
    output: TensorLike,
    output_h: TensorLike,
    output_c: TensorLike,
    output_backprop: TensorLike,
    output_h_backprop: TensorLike,
    output_c_backprop: TensorLike,
    reserve_space: TensorLike,
    host_reserved: TensorLike,
    rnn_mode: bytes | str | None = ...,
    input_mode: bytes | str | None = ...,
    direction: bytes | str | None = ...,
    dropout: float | None = ...,
    seed: int | None = ...,
    seed2: int | None = ...,
    name: str | None = ...,
) -> _CudnnRNNBackpropV2: ...
class _CudnnRNNBackpropV3(NamedTuple):
    input_backprop: Tensor
    input_h_backprop: Tensor
    input_c_backprop: Tensor
    params_backprop: Tensor

def CudnnRNNBackpropV3(
    input: TensorLike,
    input_h: TensorLike,
    input_c: TensorLike,
    params: TensorLike,
    sequence_lengths: TensorLike,
    output: TensorLike,
    output_h: TensorLike,
    output_c: TensorLike,
    output_backprop: TensorLike,
    output_h_backprop: TensorLike,
    output_c_backprop: TensorLike,
    reserve_space: TensorLike,
    host_reserved: TensorLike,
    rnn_mode: bytes | str | None = ...,
    input_mode: bytes | str | None = ...,
    direction: bytes | str | None = ...,
    dropout: float | None = ...,
    seed: int | None = ...,
    seed2: int | None = ...,
    num_proj: int | None = ...,
    time_major: bool | None = ...,
    name: str | None = ...,
) -> _CudnnRNNBackpropV3: ...
def CudnnRNNCanonicalToParams(
    num_layers: TensorLike,
    num_units: TensorLike,
    input_size: TensorLike,
    weights: Sequence[TensorLike] | Tensor,
    biases: Sequence[TensorLike] | Tensor,
    rnn_mode: bytes | str | None = ...,
    input_mode: bytes | str | None = ...,
    direction: bytes | str | None = ...,
    dropout: float | None = ...,
    seed: int | None = ...,
    seed2: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def CudnnRNNCanonicalToParamsV2(
    num_layers: TensorLike,
    num_units: TensorLike,
    input_size: TensorLike,
    weights: Sequence[TensorLike] | Tensor,
    biases: Sequence[TensorLike] | Tensor,
    rnn_mode: bytes | str | None = ...,
    input_mode: bytes | str | None = ...,
    direction: bytes | str | None = ...,
    dropout: float | None = ...,
    seed: int | None = ...,
    seed2: int | None = ...,
    num_proj: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def CudnnRNNParamsSize(
    num_layers: TensorLike,
    num_units: TensorLike,
    input_size: TensorLike,
    T: DTypeLike,
    S: DTypeLike,
    rnn_mode: bytes | str | None = ...,
    input_mode: bytes | str | None = ...,
    direction: bytes | str | None = ...,
    dropout: float | None = ...,
    seed: int | None = ...,
    seed2: int | None = ...,
    num_proj: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _CudnnRNNParamsToCanonical(NamedTuple):
    weights: list[Tensor]
    biases: list[Tensor]

def CudnnRNNParamsToCanonical(
    num_layers: TensorLike,
    num_units: TensorLike,
    input_size: TensorLike,
    params: TensorLike,
    num_params: int,
    rnn_mode: bytes | str | None = ...,
    input_mode: bytes | str | None = ...,
    direction: bytes | str | None = ...,
    dropout: float | None = ...,
    seed: int | None = ...,
    seed2: int | None = ...,
    name: str | None = ...,
) -> _CudnnRNNParamsToCanonical: ...
class _CudnnRNNParamsToCanonicalV2(NamedTuple):
    weights: list[Tensor]
    biases: list[Tensor]

def CudnnRNNParamsToCanonicalV2(
    num_layers: TensorLike,
    num_units: TensorLike,
    input_size: TensorLike,
    params: TensorLike,
    num_params_weights: int,
    num_params_biases: int,
    rnn_mode: bytes | str | None = ...,
    input_mode: bytes | str | None = ...,
    direction: bytes | str | None = ...,
    dropout: float | None = ...,
    seed: int | None = ...,
    seed2: int | None = ...,
    num_proj: int | None = ...,
    name: str | None = ...,
) -> _CudnnRNNParamsToCanonicalV2: ...
class _CudnnRNNV2(NamedTuple):
    output: Tensor
    output_h: Tensor
    output_c: Tensor
    reserve_space: Tensor
    host_reserved: Tensor

def CudnnRNNV2(
    input: TensorLike,
    input_h: TensorLike,
    input_c: TensorLike,
    params: TensorLike,
    rnn_mode: bytes | str | None = ...,
    input_mode: bytes | str | None = ...,
    direction: bytes | str | None = ...,
    dropout: float | None = ...,
    seed: int | None = ...,
    seed2: int | None = ...,
    is_training: bool | None = ...,
    name: str | None = ...,
) -> _CudnnRNNV2: ...
class _CudnnRNNV3(NamedTuple):
    output: Tensor
    output_h: Tensor
    output_c: Tensor
    reserve_space: Tensor
    host_reserved: Tensor

def CudnnRNNV3(
    input: TensorLike,
    input_h: TensorLike,
    input_c: TensorLike,
    params: TensorLike,
    sequence_lengths: TensorLike,
    rnn_mode: bytes | str | None = ...,
    input_mode: bytes | str | None = ...,
    direction: bytes | str | None = ...,
    dropout: float | None = ...,
    seed: int | None = ...,
    seed2: int | None = ...,
    num_proj: int | None = ...,
    is_training: bool | None = ...,
    time_major: bool | None = ...,
    name: str | None = ...,
) -> _CudnnRNNV3: ...
def Cumprod(
    x: TensorLike,
    axis: TensorLike,
    exclusive: bool | None = ...,
    reverse: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Cumsum(
    x: TensorLike,
    axis: TensorLike,
    exclusive: bool | None = ...,
    reverse: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def CumulativeLogsumexp(
    x: TensorLike,
    axis: TensorLike,
    exclusive: bool | None = ...,
    reverse: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def DataFormatDimMap(
    x: TensorLike,
    src_format: bytes | str | None = ...,
    dst_format: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def DataFormatVecPermute(
    x: TensorLike,
    src_format: bytes | str | None = ...,
    dst_format: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def DatasetCardinality(
    input_dataset: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def DatasetToGraph(
    input_dataset: TensorLike,
    stateful_whitelist: Sequence[bytes | str] | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def DatasetToSingleElement(
    dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> list[Tensor]: ...
def DatasetToTFRecord(
    input_dataset: TensorLike,
    filename: TensorLike,
    compression_type: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def DebugGradientIdentity(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def DebugGradientRefIdentity(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def DecodeAndCropJpeg(
    contents: TensorLike,
    crop_window: TensorLike,
    channels: int | None = ...,
    ratio: int | None = ...,
    fancy_upscaling: bool | None = ...,
    try_recover_truncated: bool | None = ...,
    acceptable_fraction: float | None = ...,
    dct_method: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def DecodeBase64(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def DecodeBmp(
    contents: TensorLike,
    channels: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def DecodeCSV(
    records: TensorLike,
    record_defaults: Sequence[TensorLike] | Tensor,
    field_delim: bytes | str | None = ...,
    use_quote_delim: bool | None = ...,
    na_value: bytes | str | None = ...,
    select_cols: Sequence[int] | None = ...,
    name: str | None = ...,
) -> list[Tensor]: ...
def DecodeCompressed(
    bytes: TensorLike,
    compression_type: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def DecodeGif(
    contents: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def DecodeJSONExample(
    json_examples: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def DecodeJpeg(
    contents: TensorLike,
    channels: int | None = ...,
    ratio: int | None = ...,
    fancy_upscaling: bool | None = ...,
    try_recover_truncated: bool | None = ...,
    acceptable_fraction: float | None = ...,
    dct_method: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _DecodeLibsvm(NamedTuple):
    label: Tensor
    feature_indices: Tensor
    feature_values: Tensor
    feature_shape: Tensor

def DecodeLibsvm(
    input: TensorLike,
    num_features: int,
    dtype: DTypeLike | None = ...,
    label_dtype: DTypeLike | None = ...,
    name: str | None = ...,
) -> _DecodeLibsvm: ...
def DecodePaddedRaw(
    input_bytes: TensorLike,
    fixed_length: TensorLike,
    out_type: DTypeLike,
    little_endian: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def DecodePng(
    contents: TensorLike,
    channels: int | None = ...,
    dtype: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _DecodeProtoV2(NamedTuple):
    sizes: Tensor
    values: list[Tensor]

def DecodeProtoV2(
    bytes: TensorLike,
    message_type: bytes | str,
    field_names: Sequence[bytes | str],
    output_types: Sequence[DTypeLike],
    descriptor_source: bytes | str | None = ...,
    message_format: bytes | str | None = ...,
    sanitize: bool | None = ...,
    name: str | None = ...,
) -> _DecodeProtoV2: ...
def DecodeRaw(
    bytes: TensorLike,
    out_type: DTypeLike,
    little_endian: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _DecodeWav(NamedTuple):
    audio: Tensor
    sample_rate: Tensor

def DecodeWav(
    contents: TensorLike,
    desired_channels: int | None = ...,
    desired_samples: int | None = ...,
    name: str | None = ...,
) -> _DecodeWav: ...
def DeepCopy(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def DeleteIterator(
    handle: TensorLike,
    deleter: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def DeleteMemoryCache(
    handle: TensorLike,
    deleter: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def DeleteMultiDeviceIterator(
    multi_device_iterator: TensorLike,
    iterators: Sequence[TensorLike] | Tensor,
    deleter: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def DeleteRandomSeedGenerator(
    handle: TensorLike,
    deleter: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def DeleteSessionTensor(
    handle: TensorLike,
    name: str | None = ...,
) -> Operation: ...
class _DenseToDenseSetOperation(NamedTuple):
    result_indices: Tensor
    result_values: Tensor
    result_shape: Tensor

def DenseToDenseSetOperation(
    set1: TensorLike,
    set2: TensorLike,
    set_operation: bytes | str,
    validate_indices: bool | None = ...,
    name: str | None = ...,
) -> _DenseToDenseSetOperation: ...
def DenseToSparseBatchDataset(
    input_dataset: TensorLike,
    batch_size: TensorLike,
    row_shape: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
class _DenseToSparseSetOperation(NamedTuple):
    result_indices: Tensor
    result_values: Tensor
    result_shape: Tensor

def DenseToSparseSetOperation(
    set1: TensorLike,
    set2_indices: TensorLike,
    set2_values: TensorLike,
    set2_shape: TensorLike,
    set_operation: bytes | str,
    validate_indices: bool | None = ...,
    name: str | None = ...,
) -> _DenseToSparseSetOperation: ...
def DepthToSpace(
    input: TensorLike,
    block_size: int,
    data_format: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def DepthwiseConv2dNative(
    input: TensorLike,
    filter: TensorLike,
    strides: Sequence[int],
    padding: bytes | str,
    data_format: bytes | str | None = ...,
    dilations: Sequence[int] | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def DepthwiseConv2dNativeBackpropFilter(
    input: TensorLike,
    filter_sizes: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: bytes | str,
    data_format: bytes | str | None = ...,
    dilations: Sequence[int] | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def DepthwiseConv2dNativeBackpropInput(
    input_sizes: TensorLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: bytes | str,
    data_format: bytes | str | None = ...,
    dilations: Sequence[int] | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Dequantize(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    mode: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def DeserializeIterator(
    resource_handle: TensorLike,
    serialized: TensorLike,
    name: str | None = ...,
) -> Operation: ...
class _DeserializeManySparse(NamedTuple):
    sparse_indices: Tensor
    sparse_values: Tensor
    sparse_shape: Tensor

def DeserializeManySparse(
    serialized_sparse: TensorLike,
    dtype: DTypeLike,
    name: str | None = ...,
) -> _DeserializeManySparse: ...
class _DeserializeSparse(NamedTuple):
    sparse_indices: Tensor
    sparse_values: Tensor
    sparse_shape: Tensor

def DeserializeSparse(
    serialized_sparse: TensorLike,
    dtype: DTypeLike,
    name: str | None = ...,
) -> _DeserializeSparse: ...
def DestroyResourceOp(
    resource: TensorLike,
    ignore_lookup_error: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def DestroyTemporaryVariable(
    ref: TensorLike,
    var_name: bytes | str,
    name: str | None = ...,
) -> Tensor: ...
def Diag(
    diagonal: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def DiagPart(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Digamma(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Dilation2D(
    input: TensorLike,
    filter: TensorLike,
    strides: Sequence[int],
    rates: Sequence[int],
    padding: bytes | str,
    name: str | None = ...,
) -> Tensor: ...
def Dilation2DBackpropFilter(
    input: TensorLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    rates: Sequence[int],
    padding: bytes | str,
    name: str | None = ...,
) -> Tensor: ...
def Dilation2DBackpropInput(
    input: TensorLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    rates: Sequence[int],
    padding: bytes | str,
    name: str | None = ...,
) -> Tensor: ...
def DirectedInterleaveDataset(
    selector_input_dataset: TensorLike,
    data_input_datasets: Sequence[TensorLike] | Tensor,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def Div(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def DivNoNan(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def DrawBoundingBoxes(
    images: TensorLike,
    boxes: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def DrawBoundingBoxesV2(
    images: TensorLike,
    boxes: TensorLike,
    colors: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def DynamicPartition(
    data: TensorLike,
    partitions: TensorLike,
    num_partitions: int,
    name: str | None = ...,
) -> list[Tensor]: ...
def DynamicStitch(
    indices: Sequence[TensorLike] | Tensor,
    data: Sequence[TensorLike] | Tensor,
    name: str | None = ...,
) -> Tensor: ...
def EagerPyFunc(
    input: Sequence[TensorLike] | Tensor,
    token: bytes | str,
    Tout: Sequence[DTypeLike],
    is_async: bool | None = ...,
    name: str | None = ...,
) -> list[Tensor]: ...
def EditDistance(
    hypothesis_indices: TensorLike,
    hypothesis_values: TensorLike,
    hypothesis_shape: TensorLike,
    truth_indices: TensorLike,
    truth_values: TensorLike,
    truth_shape: TensorLike,
    normalize: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Einsum(
    inputs: Sequence[TensorLike] | Tensor,
    equation: bytes | str,
    name: str | None = ...,
) -> Tensor: ...
def Elu(
    features: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def EluGrad(
    gradients: TensorLike,
    outputs: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Empty(
    shape: TensorLike,
    dtype: DTypeLike,
    init: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def EmptyTensorList(
    element_shape: TensorLike,
    max_num_elements: TensorLike,
    element_dtype: DTypeLike,
    name: str | None = ...,
) -> Tensor: ...
def EncodeBase64(
    input: TensorLike,
    pad: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def EncodeJpeg(
    image: TensorLike,
    format: bytes | str | None = ...,
    quality: int | None = ...,
    progressive: bool | None = ...,
    optimize_size: bool | None = ...,
    chroma_downsampling: bool | None = ...,
    density_unit: bytes | str | None = ...,
    x_density: int | None = ...,
    y_density: int | None = ...,
    xmp_metadata: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def EncodeJpegVariableQuality(
    images: TensorLike,
    quality: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def EncodePng(
    image: TensorLike,
    compression: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def EncodeProto(
    sizes: TensorLike,
    values: Sequence[TensorLike] | Tensor,
    field_names: Sequence[bytes | str],
    message_type: bytes | str,
    descriptor_source: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def EncodeWav(
    audio: TensorLike,
    sample_rate: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def EnsureShape(
    input: TensorLike,
    shape: ShapeLike,
    name: str | None = ...,
) -> Tensor: ...
def Enter(
    data: TensorLike,
    frame_name: bytes | str,
    is_constant: bool | None = ...,
    parallel_iterations: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Equal(
    x: TensorLike,
    y: TensorLike,
    incompatible_shape_error: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Erf(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Erfc(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def EuclideanNorm(
    input: TensorLike,
    axis: TensorLike,
    keep_dims: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Exit(
    data: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Exp(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ExpandDims(
    input: TensorLike,
    axis: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalAssertNextDataset(
    input_dataset: TensorLike,
    transformations: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalAutoShardDataset(
    input_dataset: TensorLike,
    num_workers: TensorLike,
    index: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalBytesProducedStatsDataset(
    input_dataset: TensorLike,
    tag: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalCSVDataset(
    filenames: TensorLike,
    compression_type: TensorLike,
    buffer_size: TensorLike,
    header: TensorLike,
    field_delim: TensorLike,
    use_quote_delim: TensorLike,
    na_value: TensorLike,
    select_cols: TensorLike,
    record_defaults: Sequence[TensorLike] | Tensor,
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalChooseFastestDataset(
    input_datasets: Sequence[TensorLike] | Tensor,
    num_experiments: int,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalDatasetCardinality(
    input_dataset: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalDatasetToSingleElement(
    dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> list[Tensor]: ...
def ExperimentalDatasetToTFRecord(
    input_dataset: TensorLike,
    filename: TensorLike,
    compression_type: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def ExperimentalDenseToSparseBatchDataset(
    input_dataset: TensorLike,
    batch_size: TensorLike,
    row_shape: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalDirectedInterleaveDataset(
    selector_input_dataset: TensorLike,
    data_input_datasets: Sequence[TensorLike] | Tensor,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalGroupByReducerDataset(
    input_dataset: TensorLike,
    key_func_other_arguments: Sequence[TensorLike] | Tensor,
    init_func_other_arguments: Sequence[TensorLike] | Tensor,
    reduce_func_other_arguments: Sequence[TensorLike] | Tensor,
    finalize_func_other_arguments: Sequence[TensorLike] | Tensor,
    key_func: object,
    init_func: object,
    reduce_func: object,
    finalize_func: object,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalGroupByWindowDataset(
    input_dataset: TensorLike,
    key_func_other_arguments: Sequence[TensorLike] | Tensor,
    reduce_func_other_arguments: Sequence[TensorLike] | Tensor,
    window_size_func_other_arguments: Sequence[TensorLike] | Tensor,
    key_func: object,
    reduce_func: object,
    window_size_func: object,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalIgnoreErrorsDataset(
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalIteratorGetDevice(
    resource: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalLMDBDataset(
    filenames: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalLatencyStatsDataset(
    input_dataset: TensorLike,
    tag: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalMapAndBatchDataset(
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike] | Tensor,
    batch_size: TensorLike,
    num_parallel_calls: TensorLike,
    drop_remainder: TensorLike,
    f: object,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    preserve_cardinality: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalMapDataset(
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike] | Tensor,
    f: object,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    use_inter_op_parallelism: bool | None = ...,
    preserve_cardinality: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalMatchingFilesDataset(
    patterns: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalMaxIntraOpParallelismDataset(
    input_dataset: TensorLike,
    max_intra_op_parallelism: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalNonSerializableDataset(
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalParallelInterleaveDataset(
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike] | Tensor,
    cycle_length: TensorLike,
    block_length: TensorLike,
    sloppy: TensorLike,
    buffer_output_elements: TensorLike,
    prefetch_input_elements: TensorLike,
    f: object,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalParseExampleDataset(
    input_dataset: TensorLike,
    num_parallel_calls: TensorLike,
    dense_defaults: Sequence[TensorLike] | Tensor,
    sparse_keys: Sequence[bytes | str],
    dense_keys: Sequence[bytes | str],
    sparse_types: Sequence[DTypeLike],
    dense_shapes: Sequence[ShapeLike],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    sloppy: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalPrivateThreadPoolDataset(
    input_dataset: TensorLike,
    num_threads: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalRandomDataset(
    seed: TensorLike,
    seed2: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalRebatchDataset(
    input_dataset: TensorLike,
    num_replicas: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    use_fallback: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalScanDataset(
    input_dataset: TensorLike,
    initial_state: Sequence[TensorLike] | Tensor,
    other_arguments: Sequence[TensorLike] | Tensor,
    f: object,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    preserve_cardinality: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalSetStatsAggregatorDataset(
    input_dataset: TensorLike,
    stats_aggregator: TensorLike,
    tag: TensorLike,
    counter_prefix: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalSleepDataset(
    input_dataset: TensorLike,
    sleep_microseconds: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalSlidingWindowDataset(
    input_dataset: TensorLike,
    window_size: TensorLike,
    window_shift: TensorLike,
    window_stride: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalSqlDataset(
    driver_name: TensorLike,
    data_source_name: TensorLike,
    query: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalStatsAggregatorHandle(
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalStatsAggregatorSummary(
    iterator: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalTakeWhileDataset(
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike] | Tensor,
    predicate: object,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalThreadPoolDataset(
    input_dataset: TensorLike,
    thread_pool: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalThreadPoolHandle(
    num_threads: int,
    display_name: bytes | str,
    max_intra_op_parallelism: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalUnbatchDataset(
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ExperimentalUniqueDataset(
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def Expm1(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ExtractGlimpse(
    input: TensorLike,
    size: TensorLike,
    offsets: TensorLike,
    centered: bool | None = ...,
    normalized: bool | None = ...,
    uniform_noise: bool | None = ...,
    noise: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ExtractImagePatches(
    images: TensorLike,
    ksizes: Sequence[int],
    strides: Sequence[int],
    rates: Sequence[int],
    padding: bytes | str,
    name: str | None = ...,
) -> Tensor: ...
def ExtractJpegShape(
    contents: TensorLike,
    output_type: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ExtractVolumePatches(
    input: TensorLike,
    ksizes: Sequence[int],
    strides: Sequence[int],
    padding: bytes | str,
    name: str | None = ...,
) -> Tensor: ...
def FFT(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def FFT2D(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def FFT3D(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def FIFOQueue(
    component_types: Sequence[DTypeLike],
    shapes: Sequence[ShapeLike] | None = ...,
    capacity: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def FIFOQueueV2(
    component_types: Sequence[DTypeLike],
    shapes: Sequence[ShapeLike] | None = ...,
    capacity: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def FakeParam(
    dtype: DTypeLike,
    shape: ShapeLike,
    name: str | None = ...,
) -> Tensor: ...
def FakeQuantWithMinMaxArgs(
    inputs: TensorLike,
    min: float | None = ...,
    max: float | None = ...,
    num_bits: int | None = ...,
    narrow_range: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def FakeQuantWithMinMaxArgsGradient(
    gradients: TensorLike,
    inputs: TensorLike,
    min: float | None = ...,
    max: float | None = ...,
    num_bits: int | None = ...,
    narrow_range: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def FakeQuantWithMinMaxVars(
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int | None = ...,
    narrow_range: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _FakeQuantWithMinMaxVarsGradient(NamedTuple):
    backprops_wrt_input: Tensor
    backprop_wrt_min: Tensor
    backprop_wrt_max: Tensor

def FakeQuantWithMinMaxVarsGradient(
    gradients: TensorLike,
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int | None = ...,
    narrow_range: bool | None = ...,
    name: str | None = ...,
) -> _FakeQuantWithMinMaxVarsGradient: ...
def FakeQuantWithMinMaxVarsPerChannel(
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int | None = ...,
    narrow_range: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _FakeQuantWithMinMaxVarsPerChannelGradient(NamedTuple):
    backprops_wrt_input: Tensor
    backprop_wrt_min: Tensor
    backprop_wrt_max: Tensor

def FakeQuantWithMinMaxVarsPerChannelGradient(
    gradients: TensorLike,
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int | None = ...,
    narrow_range: bool | None = ...,
    name: str | None = ...,
) -> _FakeQuantWithMinMaxVarsPerChannelGradient: ...
def FakeQueue(
    resource: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Fill(
    dims: TensorLike,
    value: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def FilterDataset(
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike] | Tensor,
    predicate: object,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def Fingerprint(
    data: TensorLike,
    method: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def FixedLengthRecordDataset(
    filenames: TensorLike,
    header_bytes: TensorLike,
    record_bytes: TensorLike,
    footer_bytes: TensorLike,
    buffer_size: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def FixedLengthRecordDatasetV2(
    filenames: TensorLike,
    header_bytes: TensorLike,
    record_bytes: TensorLike,
    footer_bytes: TensorLike,
    buffer_size: TensorLike,
    compression_type: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def FixedLengthRecordReader(
    record_bytes: int,
    header_bytes: int | None = ...,
    footer_bytes: int | None = ...,
    hop_bytes: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def FixedLengthRecordReaderV2(
    record_bytes: int,
    header_bytes: int | None = ...,
    footer_bytes: int | None = ...,
    hop_bytes: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    encoding: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _FixedUnigramCandidateSampler(NamedTuple):
    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor

def FixedUnigramCandidateSampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: bytes | str | None = ...,
    distortion: float | None = ...,
    num_reserved_ids: int | None = ...,
    num_shards: int | None = ...,
    shard: int | None = ...,
    unigrams: Sequence[float] | None = ...,
    seed: int | None = ...,
    seed2: int | None = ...,
    name: str | None = ...,
) -> _FixedUnigramCandidateSampler: ...
def FlatMapDataset(
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike] | Tensor,
    f: object,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def Floor(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def FloorDiv(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def FloorMod(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def FlushSummaryWriter(
    writer: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def For(
    start: TensorLike,
    limit: TensorLike,
    delta: TensorLike,
    input: Sequence[TensorLike] | Tensor,
    body: object,
    name: str | None = ...,
) -> list[Tensor]: ...
class _FractionalAvgPool(NamedTuple):
    output: Tensor
    row_pooling_sequence: Tensor
    col_pooling_sequence: Tensor

def FractionalAvgPool(
    value: TensorLike,
    pooling_ratio: Sequence[float],
    pseudo_random: bool | None = ...,
    overlapping: bool | None = ...,
    deterministic: bool | None = ...,
    seed: int | None = ...,
    seed2: int | None = ...,
    name: str | None = ...,
) -> _FractionalAvgPool: ...
def FractionalAvgPoolGrad(
    orig_input_tensor_shape: TensorLike,
    out_backprop: TensorLike,
    row_pooling_sequence: TensorLike,
    col_pooling_sequence: TensorLike,
    overlapping: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _FractionalMaxPool(NamedTuple):
    output: Tensor
    row_pooling_sequence: Tensor
    col_pooling_sequence: Tensor

def FractionalMaxPool(
    value: TensorLike,
    pooling_ratio: Sequence[float],
    pseudo_random: bool | None = ...,
    overlapping: bool | None = ...,
    deterministic: bool | None = ...,
    seed: int | None = ...,
    seed2: int | None = ...,
    name: str | None = ...,
) -> _FractionalMaxPool: ...
def FractionalMaxPoolGrad(
    orig_input: TensorLike,
    orig_output: TensorLike,
    out_backprop: TensorLike,
    row_pooling_sequence: TensorLike,
    col_pooling_sequence: TensorLike,
    overlapping: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _FusedBatchNorm(NamedTuple):
    y: Tensor
    batch_mean: Tensor
    batch_variance: Tensor
    reserve_space_1: Tensor
    reserve_space_2: Tensor

def FusedBatchNorm(
    x: TensorLike,
    scale: TensorLike,
    offset: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    epsilon: float | None = ...,
    data_format: bytes | str | None = ...,
    is_training: bool | None = ...,
    name: str | None = ...,
) -> _FusedBatchNorm: ...
class _FusedBatchNormGrad(NamedTuple):
    x_backprop: Tensor
    scale_backprop: Tensor
    offset_backprop: Tensor
    reserve_space_3: Tensor
    reserve_space_4: Tensor

def FusedBatchNormGrad(
    y_backprop: TensorLike,
    x: TensorLike,
    scale: TensorLike,
    reserve_space_1: TensorLike,
    reserve_space_2: TensorLike,
    epsilon: float | None = ...,
    data_format: bytes | str | None = ...,
    is_training: bool | None = ...,
    name: str | None = ...,
) -> _FusedBatchNormGrad: ...
class _FusedBatchNormGradV2(NamedTuple):
    x_backprop: Tensor
    scale_backprop: Tensor
    offset_backprop: Tensor
    reserve_space_3: Tensor
    reserve_space_4: Tensor

def FusedBatchNormGradV2(
    y_backprop: TensorLike,
    x: TensorLike,
    scale: TensorLike,
    reserve_space_1: TensorLike,
    reserve_space_2: TensorLike,
    epsilon: float | None = ...,
    data_format: bytes | str | None = ...,
    is_training: bool | None = ...,
    name: str | None = ...,
) -> _FusedBatchNormGradV2: ...
class _FusedBatchNormGradV3(NamedTuple):
    x_backprop: Tensor
    scale_backprop: Tensor
    offset_backprop: Tensor
    reserve_space_4: Tensor
    reserve_space_5: Tensor

def FusedBatchNormGradV3(
    y_backprop: TensorLike,
    x: TensorLike,
    scale: TensorLike,
    reserve_space_1: TensorLike,
    reserve_space_2: TensorLike,
    reserve_space_3: TensorLike,
    epsilon: float | None = ...,
    data_format: bytes | str | None = ...,
    is_training: bool | None = ...,
    name: str | None = ...,
) -> _FusedBatchNormGradV3: ...
class _FusedBatchNormV2(NamedTuple):
    y: Tensor
    batch_mean: Tensor
    batch_variance: Tensor
    reserve_space_1: Tensor
    reserve_space_2: Tensor

def FusedBatchNormV2(
    x: TensorLike,
    scale: TensorLike,
    offset: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    epsilon: float | None = ...,
    data_format: bytes | str | None = ...,
    is_training: bool | None = ...,
    name: str | None = ...,
) -> _FusedBatchNormV2: ...
class _FusedBatchNormV3(NamedTuple):
    y: Tensor
    batch_mean: Tensor
    batch_variance: Tensor
    reserve_space_1: Tensor
    reserve_space_2: Tensor
    reserve_space_3: Tensor

def FusedBatchNormV3(
    x: TensorLike,
    scale: TensorLike,
    offset: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    epsilon: float | None = ...,
    data_format: bytes | str | None = ...,
    is_training: bool | None = ...,
    name: str | None = ...,
) -> _FusedBatchNormV3: ...
def FusedPadConv2D(
    input: TensorLike,
    paddings: TensorLike,
    filter: TensorLike,
    mode: bytes | str,
    strides: Sequence[int],
    padding: bytes | str,
    name: str | None = ...,
) -> Tensor: ...
def FusedResizeAndPadConv2D(
    input: TensorLike,
    size: TensorLike,
    paddings: TensorLike,
    filter: TensorLike,
    mode: bytes | str,
    strides: Sequence[int],
    padding: bytes | str,
    resize_align_corners: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _GRUBlockCell(NamedTuple):
    r: Tensor
    u: Tensor
    c: Tensor
    h: Tensor

def GRUBlockCell(
    x: TensorLike,
    h_prev: TensorLike,
    w_ru: TensorLike,
    w_c: TensorLike,
    b_ru: TensorLike,
    b_c: TensorLike,
    name: str | None = ...,
) -> _GRUBlockCell: ...
class _GRUBlockCellGrad(NamedTuple):
    d_x: Tensor
    d_h_prev: Tensor
    d_c_bar: Tensor
    d_r_bar_u_bar: Tensor

def GRUBlockCellGrad(
    x: TensorLike,
    h_prev: TensorLike,
    w_ru: TensorLike,
    w_c: TensorLike,
    b_ru: TensorLike,
    b_c: TensorLike,
    r: TensorLike,
    u: TensorLike,
    c: TensorLike,
    d_h: TensorLike,
    name: str | None = ...,
) -> _GRUBlockCellGrad: ...
def Gather(
    params: TensorLike,
    indices: TensorLike,
    validate_indices: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def GatherNd(
    params: TensorLike,
    indices: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def GatherTree(
    step_ids: TensorLike,
    parent_ids: TensorLike,
    max_sequence_lengths: TensorLike,
    end_token: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def GatherV2(
    params: TensorLike,
    indices: TensorLike,
    axis: TensorLike,
    batch_dims: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _GenerateBoundingBoxProposals(NamedTuple):
    rois: Tensor
    roi_probabilities: Tensor

def GenerateBoundingBoxProposals(
    scores: TensorLike,
    bbox_deltas: TensorLike,
    image_info: TensorLike,
    anchors: TensorLike,
    nms_threshold: TensorLike,
    pre_nms_topn: TensorLike,
    min_size: TensorLike,
    post_nms_topn: int | None = ...,
    name: str | None = ...,
) -> _GenerateBoundingBoxProposals: ...
class _GenerateVocabRemapping(NamedTuple):
    remapping: Tensor
    num_present: Tensor

def GenerateVocabRemapping(
    new_vocab_file: TensorLike,
    old_vocab_file: TensorLike,
    new_vocab_offset: int,
    num_new_vocab: int,
    old_vocab_size: int | None = ...,
    name: str | None = ...,
) -> _GenerateVocabRemapping: ...
def GeneratorDataset(
    init_func_other_args: Sequence[TensorLike] | Tensor,
    next_func_other_args: Sequence[TensorLike] | Tensor,
    finalize_func_other_args: Sequence[TensorLike] | Tensor,
    init_func: object,
    next_func: object,
    finalize_func: object,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def GetSessionHandle(
    value: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def GetSessionTensor(
    handle: TensorLike,
    dtype: DTypeLike,
    name: str | None = ...,
) -> Tensor: ...
def Greater(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def GreaterEqual(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def GroupByReducerDataset(
    input_dataset: TensorLike,
    key_func_other_arguments: Sequence[TensorLike] | Tensor,
    init_func_other_arguments: Sequence[TensorLike] | Tensor,
    reduce_func_other_arguments: Sequence[TensorLike] | Tensor,
    finalize_func_other_arguments: Sequence[TensorLike] | Tensor,
    key_func: object,
    init_func: object,
    reduce_func: object,
    finalize_func: object,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def GroupByWindowDataset(
    input_dataset: TensorLike,
    key_func_other_arguments: Sequence[TensorLike] | Tensor,
    reduce_func_other_arguments: Sequence[TensorLike] | Tensor,
    window_size_func_other_arguments: Sequence[TensorLike] | Tensor,
    key_func: object,
    reduce_func: object,
    window_size_func: object,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def GuaranteeConst(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def HSVToRGB(
    images: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def HashTable(
    key_dtype: DTypeLike,
    value_dtype: DTypeLike,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    use_node_name_sharing: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def HashTableV2(
    key_dtype: DTypeLike,
    value_dtype: DTypeLike,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    use_node_name_sharing: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def HistogramFixedWidth(
    values: TensorLike,
    value_range: TensorLike,
    nbins: TensorLike,
    dtype: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def HistogramSummary(
    tag: TensorLike,
    values: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def IFFT(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def IFFT2D(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def IFFT3D(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def IRFFT(
    input: TensorLike,
    fft_length: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def IRFFT2D(
    input: TensorLike,
    fft_length: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def IRFFT3D(
    input: TensorLike,
    fft_length: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Identity(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def IdentityN(
    input: Sequence[TensorLike] | Tensor,
    name: str | None = ...,
) -> list[Tensor]: ...
def IdentityReader(
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def IdentityReaderV2(
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def If(
    cond: TensorLike,
    input: Sequence[TensorLike] | Tensor,
    Tout: Sequence[DTypeLike],
    then_branch: object,
    else_branch: object,
    output_shapes: Sequence[ShapeLike] | None = ...,
    name: str | None = ...,
) -> list[Tensor]: ...
def Igamma(
    a: TensorLike,
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def IgammaGradA(
    a: TensorLike,
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Igammac(
    a: TensorLike,
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def IgnoreErrorsDataset(
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def Imag(
    input: TensorLike,
    Tout: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ImageConnectedComponents(
    image: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ImageProjectiveTransform(
    images: TensorLike,
    transforms: TensorLike,
    interpolation: bytes | str,
    name: str | None = ...,
) -> Tensor: ...
def ImageProjectiveTransformV2(
    images: TensorLike,
    transforms: TensorLike,
    output_shape: TensorLike,
    interpolation: bytes | str,
    name: str | None = ...,
) -> Tensor: ...
def ImageSummary(
    tag: TensorLike,
    tensor: TensorLike,
    max_images: int | None = ...,
    bad_color: object = ...,
    name: str | None = ...,
) -> Tensor: ...
def ImmutableConst(
    dtype: DTypeLike,
    shape: ShapeLike,
    memory_region_name: bytes | str,
    name: str | None = ...,
) -> Tensor: ...
def ImportEvent(
    writer: TensorLike,
    event: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def InTopK(
    predictions: TensorLike,
    targets: TensorLike,
    k: int,
    name: str | None = ...,
) -> Tensor: ...
def InTopKV2(
    predictions: TensorLike,
    targets: TensorLike,
    k: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def InitializeTable(
    table_handle: TensorLike,
    keys: TensorLike,
    values: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def InitializeTableFromTextFile(
    table_handle: TensorLike,
    filename: TensorLike,
    key_index: int,
    value_index: int,
    vocab_size: int | None = ...,
    delimiter: bytes | str | None = ...,
    name: str | None = ...,
) -> Operation: ...
def InitializeTableFromTextFileV2(
    table_handle: TensorLike,
    filename: TensorLike,
    key_index: int,
    value_index: int,
    vocab_size: int | None = ...,
    delimiter: bytes | str | None = ...,
    name: str | None = ...,
) -> Operation: ...
def InitializeTableV2(
    table_handle: TensorLike,
    keys: TensorLike,
    values: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def InplaceAdd(
    x: TensorLike,
    i: TensorLike,
    v: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def InplaceSub(
    x: TensorLike,
    i: TensorLike,
    v: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def InplaceUpdate(
    x: TensorLike,
    i: TensorLike,
    v: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def InterleaveDataset(
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike] | Tensor,
    cycle_length: TensorLike,
    block_length: TensorLike,
    f: object,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def Inv(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def InvGrad(
    y: TensorLike,
    dy: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Invert(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def InvertPermutation(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def IsBoostedTreesEnsembleInitialized(
    tree_ensemble_handle: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def IsBoostedTreesQuantileStreamResourceInitialized(
    quantile_stream_resource_handle: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def IsFinite(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def IsInf(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def IsNan(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def IsVariableInitialized(
    ref: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Iterator(
    shared_name: bytes | str,
    container: bytes | str,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def IteratorFromStringHandle(
    string_handle: TensorLike,
    output_types: Sequence[DTypeLike] | None = ...,
    output_shapes: Sequence[ShapeLike] | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def IteratorFromStringHandleV2(
    string_handle: TensorLike,
    output_types: Sequence[DTypeLike] | None = ...,
    output_shapes: Sequence[ShapeLike] | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def IteratorGetDevice(
    resource: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def IteratorGetNext(
    iterator: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> list[Tensor]: ...
def IteratorGetNextAsOptional(
    iterator: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def IteratorGetNextSync(
    iterator: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> list[Tensor]: ...
def IteratorToStringHandle(
    resource_handle: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def IteratorV2(
    shared_name: bytes | str,
    container: bytes | str,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def KMC2ChainInitialization(
    distances: TensorLike,
    seed: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def KmeansPlusPlusInitialization(
    points: TensorLike,
    num_to_sample: TensorLike,
    seed: TensorLike,
    num_retries_per_sample: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def L2Loss(
    t: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def LMDBDataset(
    filenames: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def LMDBReader(
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def LRN(
    input: TensorLike,
    depth_radius: int | None = ...,
    bias: float | None = ...,
    alpha: float | None = ...,
    beta: float | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def LRNGrad(
    input_grads: TensorLike,
    input_image: TensorLike,
    output_image: TensorLike,
    depth_radius: int | None = ...,
    bias: float | None = ...,
    alpha: float | None = ...,
    beta: float | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _LSTMBlockCell(NamedTuple):
    i: Tensor
    cs: Tensor
    f: Tensor
    o: Tensor
    ci: Tensor
    co: Tensor
    h: Tensor

def LSTMBlockCell(
    x: TensorLike,
    cs_prev: TensorLike,
    h_prev: TensorLike,
    w: TensorLike,
    wci: TensorLike,
    wcf: TensorLike,
    wco: TensorLike,
    b: TensorLike,
    forget_bias: float | None = ...,
    cell_clip: float | None = ...,
    use_peephole: bool | None = ...,
    name: str | None = ...,
) -> _LSTMBlockCell: ...
class _LSTMBlockCellGrad(NamedTuple):
    cs_prev_grad: Tensor
    dicfo: Tensor
    wci_grad: Tensor
    wcf_grad: Tensor
    wco_grad: Tensor

def LSTMBlockCellGrad(
    x: TensorLike,
    cs_prev: TensorLike,
    h_prev: TensorLike,
    w: TensorLike,
    wci: TensorLike,
    wcf: TensorLike,
    wco: TensorLike,
    b: TensorLike,
    i: TensorLike,
    cs: TensorLike,
    f: TensorLike,
    o: TensorLike,
    ci: TensorLike,
    co: TensorLike,
    cs_grad: TensorLike,
    h_grad: TensorLike,
    use_peephole: bool,
    name: str | None = ...,
) -> _LSTMBlockCellGrad: ...
def LatencyStatsDataset(
    input_dataset: TensorLike,
    tag: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def LeakyRelu(
    features: TensorLike,
    alpha: float | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def LeakyReluGrad(
    gradients: TensorLike,
    features: TensorLike,
    alpha: float | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _LearnedUnigramCandidateSampler(NamedTuple):
    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor

def LearnedUnigramCandidateSampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = ...,
    seed2: int | None = ...,
    name: str | None = ...,
) -> _LearnedUnigramCandidateSampler: ...
def LeftShift(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Less(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def LessEqual(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Lgamma(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def LinSpace(
    start: TensorLike,
    stop: TensorLike,
    num: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
class _ListDiff(NamedTuple):
    out: Tensor
    idx: Tensor

def ListDiff(
    x: TensorLike,
    y: TensorLike,
    out_idx: DTypeLike | None = ...,
    name: str | None = ...,
) -> _ListDiff: ...
def LoadAndRemapMatrix(
    ckpt_path: TensorLike,
    old_tensor_name: TensorLike,
    row_remapping: TensorLike,
    col_remapping: TensorLike,
    initializing_values: TensorLike,
    num_rows: int,
    num_cols: int,
    max_rows_in_memory: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Log(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Log1p(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
class _LogMatrixDeterminant(NamedTuple):
    sign: Tensor
    log_abs_determinant: Tensor

def LogMatrixDeterminant(
    input: TensorLike,
    name: str | None = ...,
) -> _LogMatrixDeterminant: ...
def LogSoftmax(
    logits: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
class _LogUniformCandidateSampler(NamedTuple):
    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor

def LogUniformCandidateSampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = ...,
    seed2: int | None = ...,
    name: str | None = ...,
) -> _LogUniformCandidateSampler: ...
def LogicalAnd(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def LogicalNot(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def LogicalOr(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
class _LookupTableExport(NamedTuple):
    keys: Tensor
    values: Tensor

def LookupTableExport(
    table_handle: TensorLike,
    Tkeys: DTypeLike,
    Tvalues: DTypeLike,
    name: str | None = ...,
) -> _LookupTableExport: ...
class _LookupTableExportV2(NamedTuple):
    keys: Tensor
    values: Tensor

def LookupTableExportV2(
    table_handle: TensorLike,
    Tkeys: DTypeLike,
    Tvalues: DTypeLike,
    name: str | None = ...,
) -> _LookupTableExportV2: ...
def LookupTableFind(
    table_handle: TensorLike,
    keys: TensorLike,
    default_value: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def LookupTableFindV2(
    table_handle: TensorLike,
    keys: TensorLike,
    default_value: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def LookupTableImport(
    table_handle: TensorLike,
    keys: TensorLike,
    values: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def LookupTableImportV2(
    table_handle: TensorLike,
    keys: TensorLike,
    values: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def LookupTableInsert(
    table_handle: TensorLike,
    keys: TensorLike,
    values: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def LookupTableInsertV2(
    table_handle: TensorLike,
    keys: TensorLike,
    values: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def LookupTableRemoveV2(
    table_handle: TensorLike,
    keys: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def LookupTableSize(
    table_handle: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def LookupTableSizeV2(
    table_handle: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def LoopCond(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def LowerBound(
    sorted_inputs: TensorLike,
    values: TensorLike,
    out_type: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _Lu(NamedTuple):
    lu: Tensor
    p: Tensor

def Lu(
    input: TensorLike,
    output_idx_type: DTypeLike | None = ...,
    name: str | None = ...,
) -> _Lu: ...
def MakeIterator(
    dataset: TensorLike,
    iterator: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def MapAndBatchDataset(
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike] | Tensor,
    batch_size: TensorLike,
    num_parallel_calls: TensorLike,
    drop_remainder: TensorLike,
    f: object,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    preserve_cardinality: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def MapClear(
    dtypes: Sequence[DTypeLike],
    capacity: int | None = ...,
    memory_limit: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Operation: ...
def MapDataset(
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike] | Tensor,
    f: object,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    use_inter_op_parallelism: bool | None = ...,
    preserve_cardinality: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def MapDefun(
    arguments: Sequence[TensorLike] | Tensor,
    captured_inputs: Sequence[TensorLike] | Tensor,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    f: object,
    max_intra_op_parallelism: int | None = ...,
    name: str | None = ...,
) -> list[Tensor]: ...
def MapIncompleteSize(
    dtypes: Sequence[DTypeLike],
    capacity: int | None = ...,
    memory_limit: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def MapPeek(
    key: TensorLike,
    indices: TensorLike,
    dtypes: Sequence[DTypeLike],
    capacity: int | None = ...,
    memory_limit: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> list[Tensor]: ...
def MapSize(
    dtypes: Sequence[DTypeLike],
    capacity: int | None = ...,
    memory_limit: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def MapStage(
    key: TensorLike,
    indices: TensorLike,
    values: Sequence[TensorLike] | Tensor,
    dtypes: Sequence[DTypeLike],
    capacity: int | None = ...,
    memory_limit: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Operation: ...
def MapUnstage(
    key: TensorLike,
    indices: TensorLike,
    dtypes: Sequence[DTypeLike],
    capacity: int | None = ...,
    memory_limit: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> list[Tensor]: ...
class _MapUnstageNoKey(NamedTuple):
    key: Tensor
    values: list[Tensor]

def MapUnstageNoKey(
    indices: TensorLike,
    dtypes: Sequence[DTypeLike],
    capacity: int | None = ...,
    memory_limit: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> _MapUnstageNoKey: ...
def MaskedMatmul(
    a: TensorLike,
    b: TensorLike,
    mask_indices: TensorLike,
    transpose_a: TensorLike,
    transpose_b: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def MatMul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool | None = ...,
    transpose_b: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def MatchingFiles(
    pattern: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def MatchingFilesDataset(
    patterns: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def MatrixBandPart(
    input: TensorLike,
    num_lower: TensorLike,
    num_upper: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def MatrixDeterminant(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def MatrixDiag(
    diagonal: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def MatrixDiagPart(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def MatrixDiagPartV2(
    input: TensorLike,
    k: TensorLike,
    padding_value: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def MatrixDiagV2(
    diagonal: TensorLike,
    k: TensorLike,
    num_rows: TensorLike,
    num_cols: TensorLike,
    padding_value: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def MatrixExponential(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def MatrixInverse(
    input: TensorLike,
    adjoint: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def MatrixLogarithm(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def MatrixSetDiag(
    input: TensorLike,
    diagonal: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def MatrixSetDiagV2(
    input: TensorLike,
    diagonal: TensorLike,
    k: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def MatrixSolve(
    matrix: TensorLike,
    rhs: TensorLike,
    adjoint: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def MatrixSolveLs(
    matrix: TensorLike,
    rhs: TensorLike,
    l2_regularizer: TensorLike,
    fast: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def MatrixSquareRoot(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def MatrixTriangularSolve(
    matrix: TensorLike,
    rhs: TensorLike,
    lower: bool | None = ...,
    adjoint: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Max(
    input: TensorLike,
    axis: TensorLike,
    keep_dims: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def MaxBytesInUse(
    name: str | None = ...,
) -> Tensor: ...
def MaxIntraOpParallelismDataset(
    input_dataset: TensorLike,
    max_intra_op_parallelism: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def MaxPool(
    input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: bytes | str,
    data_format: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def MaxPool3D(
    input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: bytes | str,
    data_format: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def MaxPool3DGrad(
    orig_input: TensorLike,
    orig_output: TensorLike,
    grad: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: bytes | str,
    data_format: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def MaxPool3DGradGrad(
    orig_input: TensorLike,
    orig_output: TensorLike,
    grad: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: bytes | str,
    data_format: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def MaxPoolGrad(
    orig_input: TensorLike,
    orig_output: TensorLike,
    grad: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: bytes | str,
    data_format: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def MaxPoolGradGrad(
    orig_input: TensorLike,
    orig_output: TensorLike,
    grad: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: bytes | str,
    data_format: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def MaxPoolGradGradV2(
    orig_input: TensorLike,
    orig_output: TensorLike,
    grad: TensorLike,
    ksize: TensorLike,
    strides: TensorLike,
    padding: bytes | str,
    data_format: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def MaxPoolGradGradWithArgmax(
    input: TensorLike,
    grad: TensorLike,
    argmax: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: bytes | str,
    include_batch_in_index: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def MaxPoolGradV2(
    orig_input: TensorLike,
    orig_output: TensorLike,
    grad: TensorLike,
    ksize: TensorLike,
    strides: TensorLike,
    padding: bytes | str,
    data_format: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def MaxPoolGradWithArgmax(
    input: TensorLike,
    grad: TensorLike,
    argmax: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: bytes | str,
    include_batch_in_index: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def MaxPoolV2(
    input: TensorLike,
    ksize: TensorLike,
    strides: TensorLike,
    padding: bytes | str,
    data_format: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _MaxPoolWithArgmax(NamedTuple):
    output: Tensor
    argmax: Tensor

def MaxPoolWithArgmax(
    input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: bytes | str,
    Targmax: DTypeLike | None = ...,
    include_batch_in_index: bool | None = ...,
    name: str | None = ...,
) -> _MaxPoolWithArgmax: ...
def Maximum(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Mean(
    input: TensorLike,
    axis: TensorLike,
    keep_dims: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _Merge(NamedTuple):
    output: Tensor
    value_index: Tensor

def Merge(
    inputs: Sequence[TensorLike] | Tensor,
    name: str | None = ...,
) -> _Merge: ...
def MergeSummary(
    inputs: Sequence[TensorLike] | Tensor,
    name: str | None = ...,
) -> Tensor: ...
def MergeV2Checkpoints(
    checkpoint_prefixes: TensorLike,
    destination_prefix: TensorLike,
    delete_old_dirs: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def Mfcc(
    spectrogram: TensorLike,
    sample_rate: TensorLike,
    upper_frequency_limit: float | None = ...,
    lower_frequency_limit: float | None = ...,
    filterbank_channel_count: int | None = ...,
    dct_coefficient_count: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Min(
    input: TensorLike,
    axis: TensorLike,
    keep_dims: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Minimum(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def MirrorPad(
    input: TensorLike,
    paddings: TensorLike,
    mode: bytes | str,
    name: str | None = ...,
) -> Tensor: ...
def MirrorPadGrad(
    input: TensorLike,
    paddings: TensorLike,
    mode: bytes | str,
    name: str | None = ...,
) -> Tensor: ...
def Mod(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ModelDataset(
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    algorithm: int | None = ...,
    cpu_budget: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Mul(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def MulNoNan(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def MultiDeviceIterator(
    devices: Sequence[bytes | str],
    shared_name: bytes | str,
    container: bytes | str,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def MultiDeviceIteratorFromStringHandle(
    string_handle: TensorLike,
    output_types: Sequence[DTypeLike] | None = ...,
    output_shapes: Sequence[ShapeLike] | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def MultiDeviceIteratorGetNextFromShard(
    multi_device_iterator: TensorLike,
    shard_num: TensorLike,
    incarnation_id: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> list[Tensor]: ...
def MultiDeviceIteratorInit(
    dataset: TensorLike,
    multi_device_iterator: TensorLike,
    max_buffer_size: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def MultiDeviceIteratorToStringHandle(
    multi_device_iterator: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Multinomial(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: int | None = ...,
    seed2: int | None = ...,
    output_dtype: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def MutableDenseHashTable(
    empty_key: TensorLike,
    value_dtype: DTypeLike,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    use_node_name_sharing: bool | None = ...,
    value_shape: ShapeLike = ...,
    initial_num_buckets: int | None = ...,
    max_load_factor: float | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def MutableDenseHashTableV2(
    empty_key: TensorLike,
    deleted_key: TensorLike,
    value_dtype: DTypeLike,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    use_node_name_sharing: bool | None = ...,
    value_shape: ShapeLike = ...,
    initial_num_buckets: int | None = ...,
    max_load_factor: float | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def MutableHashTable(
    key_dtype: DTypeLike,
    value_dtype: DTypeLike,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    use_node_name_sharing: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def MutableHashTableOfTensors(
    key_dtype: DTypeLike,
    value_dtype: DTypeLike,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    use_node_name_sharing: bool | None = ...,
    value_shape: ShapeLike = ...,
    name: str | None = ...,
) -> Tensor: ...
def MutableHashTableOfTensorsV2(
    key_dtype: DTypeLike,
    value_dtype: DTypeLike,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    use_node_name_sharing: bool | None = ...,
    value_shape: ShapeLike = ...,
    name: str | None = ...,
) -> Tensor: ...
def MutableHashTableV2(
    key_dtype: DTypeLike,
    value_dtype: DTypeLike,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    use_node_name_sharing: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def MutexLock(
    mutex: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def MutexV2(
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _NearestNeighbors(NamedTuple):
    nearest_center_indices: Tensor
    nearest_center_distances: Tensor

def NearestNeighbors(
    points: TensorLike,
    centers: TensorLike,
    k: TensorLike,
    name: str | None = ...,
) -> _NearestNeighbors: ...
def Neg(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def NextAfter(
    x1: TensorLike,
    x2: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def NextIteration(
    data: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def NoOp(
    name: str | None = ...,
) -> Operation: ...
def NonDeterministicInts(
    shape: TensorLike,
    dtype: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def NonMaxSuppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: float | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def NonMaxSuppressionV2(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def NonMaxSuppressionV3(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike,
    score_threshold: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
class _NonMaxSuppressionV4(NamedTuple):
    selected_indices: Tensor
    valid_outputs: Tensor

def NonMaxSuppressionV4(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike,
    score_threshold: TensorLike,
    pad_to_max_output_size: bool | None = ...,
    name: str | None = ...,
) -> _NonMaxSuppressionV4: ...
class _NonMaxSuppressionV5(NamedTuple):
    selected_indices: Tensor
    selected_scores: Tensor
    valid_outputs: Tensor

def NonMaxSuppressionV5(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike,
    score_threshold: TensorLike,
    soft_nms_sigma: TensorLike,
    pad_to_max_output_size: bool | None = ...,
    name: str | None = ...,
) -> _NonMaxSuppressionV5: ...
def NonMaxSuppressionWithOverlaps(
    overlaps: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    overlap_threshold: TensorLike,
    score_threshold: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def NonSerializableDataset(
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def NotEqual(
    x: TensorLike,
    y: TensorLike,
    incompatible_shape_error: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def NthElement(
    input: TensorLike,
    n: TensorLike,
    reverse: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ObtainNext(
    list: TensorLike,
    counter: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def OneHot(
    indices: TensorLike,
    depth: TensorLike,
    on_value: TensorLike,
    off_value: TensorLike,
    axis: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def OneShotIterator(
    dataset_factory: object,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def OnesLike(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def OptimizeDataset(
    input_dataset: TensorLike,
    optimizations: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    optimization_configs: Sequence[bytes | str] | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def OptionalFromValue(
    components: Sequence[TensorLike] | Tensor,
    name: str | None = ...,
) -> Tensor: ...
def OptionalGetValue(
    optional: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> list[Tensor]: ...
def OptionalHasValue(
    optional: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def OptionalNone(
    name: str | None = ...,
) -> Tensor: ...
def OrderedMapClear(
    dtypes: Sequence[DTypeLike],
    capacity: int | None = ...,
    memory_limit: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Operation: ...
def OrderedMapIncompleteSize(
    dtypes: Sequence[DTypeLike],
    capacity: int | None = ...,
    memory_limit: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def OrderedMapPeek(
    key: TensorLike,
    indices: TensorLike,
    dtypes: Sequence[DTypeLike],
    capacity: int | None = ...,
    memory_limit: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> list[Tensor]: ...
def OrderedMapSize(
    dtypes: Sequence[DTypeLike],
    capacity: int | None = ...,
    memory_limit: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def OrderedMapStage(
    key: TensorLike,
    indices: TensorLike,
    values: Sequence[TensorLike] | Tensor,
    dtypes: Sequence[DTypeLike],
    capacity: int | None = ...,
    memory_limit: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Operation: ...
def OrderedMapUnstage(
    key: TensorLike,
    indices: TensorLike,
    dtypes: Sequence[DTypeLike],
    capacity: int | None = ...,
    memory_limit: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> list[Tensor]: ...
class _OrderedMapUnstageNoKey(NamedTuple):
    key: Tensor
    values: list[Tensor]

def OrderedMapUnstageNoKey(
    indices: TensorLike,
    dtypes: Sequence[DTypeLike],
    capacity: int | None = ...,
    memory_limit: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> _OrderedMapUnstageNoKey: ...
def Pack(
    values: Sequence[TensorLike] | Tensor,
    axis: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Pad(
    input: TensorLike,
    paddings: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def PadV2(
    input: TensorLike,
    paddings: TensorLike,
    constant_values: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def PaddedBatchDataset(
    input_dataset: TensorLike,
    batch_size: TensorLike,
    padded_shapes: Sequence[TensorLike] | Tensor,
    padding_values: Sequence[TensorLike] | Tensor,
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def PaddedBatchDatasetV2(
    input_dataset: TensorLike,
    batch_size: TensorLike,
    padded_shapes: Sequence[TensorLike] | Tensor,
    padding_values: Sequence[TensorLike] | Tensor,
    drop_remainder: TensorLike,
    output_shapes: Sequence[ShapeLike],
    parallel_copy: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def PaddingFIFOQueue(
    component_types: Sequence[DTypeLike],
    shapes: Sequence[ShapeLike] | None = ...,
    capacity: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def PaddingFIFOQueueV2(
    component_types: Sequence[DTypeLike],
    shapes: Sequence[ShapeLike] | None = ...,
    capacity: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ParallelConcat(
    values: Sequence[TensorLike] | Tensor,
    shape: ShapeLike,
    name: str | None = ...,
) -> Tensor: ...
def ParallelDynamicStitch(
    indices: Sequence[TensorLike] | Tensor,
    data: Sequence[TensorLike] | Tensor,
    name: str | None = ...,
) -> Tensor: ...
def ParallelInterleaveDataset(
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike] | Tensor,
    cycle_length: TensorLike,
    block_length: TensorLike,
    sloppy: TensorLike,
    buffer_output_elements: TensorLike,
    prefetch_input_elements: TensorLike,
    f: object,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ParallelInterleaveDatasetV2(
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike] | Tensor,
    cycle_length: TensorLike,
    block_length: TensorLike,
    num_parallel_calls: TensorLike,
    f: object,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    sloppy: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ParallelMapDataset(
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike] | Tensor,
    num_parallel_calls: TensorLike,
    f: object,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    use_inter_op_parallelism: bool | None = ...,
    sloppy: bool | None = ...,
    preserve_cardinality: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ParameterizedTruncatedNormal(
    shape: TensorLike,
    means: TensorLike,
    stdevs: TensorLike,
    minvals: TensorLike,
    maxvals: TensorLike,
    seed: int | None = ...,
    seed2: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _ParseExample(NamedTuple):
    sparse_indices: list[Tensor]
    sparse_values: list[Tensor]
    sparse_shapes: list[Tensor]
    dense_values: list[Tensor]

def ParseExample(
    serialized: TensorLike,
    names: TensorLike,
    sparse_keys: Sequence[TensorLike] | Tensor,
    dense_keys: Sequence[TensorLike] | Tensor,
    dense_defaults: Sequence[TensorLike] | Tensor,
    sparse_types: Sequence[DTypeLike],
    dense_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> _ParseExample: ...
def ParseExampleDataset(
    input_dataset: TensorLike,
    num_parallel_calls: TensorLike,
    dense_defaults: Sequence[TensorLike] | Tensor,
    sparse_keys: Sequence[bytes | str],
    dense_keys: Sequence[bytes | str],
    sparse_types: Sequence[DTypeLike],
    dense_shapes: Sequence[ShapeLike],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    sloppy: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _ParseSequenceExample(NamedTuple):
    context_sparse_indices: list[Tensor]
    context_sparse_values: list[Tensor]
    context_sparse_shapes: list[Tensor]
    context_dense_values: list[Tensor]
    feature_list_sparse_indices: list[Tensor]
    feature_list_sparse_values: list[Tensor]
    feature_list_sparse_shapes: list[Tensor]
    feature_list_dense_values: list[Tensor]
    feature_list_dense_lengths: list[Tensor]

def ParseSequenceExample(
    serialized: TensorLike,
    debug_name: TensorLike,
    context_dense_defaults: Sequence[TensorLike] | Tensor,
    feature_list_dense_missing_assumed_empty: Sequence[bytes | str],
    context_sparse_keys: Sequence[bytes | str],
    context_dense_keys: Sequence[bytes | str],
    feature_list_sparse_keys: Sequence[bytes | str],
    feature_list_dense_keys: Sequence[bytes | str],
    Ncontext_sparse: int | None = ...,
    Ncontext_dense: int | None = ...,
    Nfeature_list_sparse: int | None = ...,
    Nfeature_list_dense: int | None = ...,
    context_sparse_types: Sequence[DTypeLike] | None = ...,
    feature_list_dense_types: Sequence[DTypeLike] | None = ...,
    context_dense_shapes: Sequence[ShapeLike] | None = ...,
    feature_list_sparse_types: Sequence[DTypeLike] | None = ...,
    feature_list_dense_shapes: Sequence[ShapeLike] | None = ...,
    name: str | None = ...,
) -> _ParseSequenceExample: ...
class _ParseSingleExample(NamedTuple):
    sparse_indices: list[Tensor]
    sparse_values: list[Tensor]
    sparse_shapes: list[Tensor]
    dense_values: list[Tensor]

def ParseSingleExample(
    serialized: TensorLike,
    dense_defaults: Sequence[TensorLike] | Tensor,
    num_sparse: int,
    sparse_keys: Sequence[bytes | str],
    dense_keys: Sequence[bytes | str],
    sparse_types: Sequence[DTypeLike],
    dense_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> _ParseSingleExample: ...
class _ParseSingleSequenceExample(NamedTuple):
    context_sparse_indices: list[Tensor]
    context_sparse_values: list[Tensor]
    context_sparse_shapes: list[Tensor]
    context_dense_values: list[Tensor]
    feature_list_sparse_indices: list[Tensor]
    feature_list_sparse_values: list[Tensor]
    feature_list_sparse_shapes: list[Tensor]
    feature_list_dense_values: list[Tensor]

def ParseSingleSequenceExample(
    serialized: TensorLike,
    feature_list_dense_missing_assumed_empty: TensorLike,
    context_sparse_keys: Sequence[TensorLike] | Tensor,
    context_dense_keys: Sequence[TensorLike] | Tensor,
    feature_list_sparse_keys: Sequence[TensorLike] | Tensor,
    feature_list_dense_keys: Sequence[TensorLike] | Tensor,
    context_dense_defaults: Sequence[TensorLike] | Tensor,
    debug_name: TensorLike,
    context_sparse_types: Sequence[DTypeLike] | None = ...,
    feature_list_dense_types: Sequence[DTypeLike] | None = ...,
    context_dense_shapes: Sequence[ShapeLike] | None = ...,
    feature_list_sparse_types: Sequence[DTypeLike] | None = ...,
    feature_list_dense_shapes: Sequence[ShapeLike] | None = ...,
    name: str | None = ...,
) -> _ParseSingleSequenceExample: ...
def ParseTensor(
    serialized: TensorLike,
    out_type: DTypeLike,
    name: str | None = ...,
) -> Tensor: ...
def PartitionedCall(
    args: Sequence[TensorLike] | Tensor,
    Tout: Sequence[DTypeLike],
    f: object,
    config: bytes | str | None = ...,
    config_proto: bytes | str | None = ...,
    executor_type: bytes | str | None = ...,
    name: str | None = ...,
) -> list[Tensor]: ...
def PeriodicResample(
    values: TensorLike,
    shape: ShapeLike,
    name: str | None = ...,
) -> Tensor: ...
def PeriodicResampleOpGrad(
    grad: TensorLike,
    original_shape: ShapeLike,
    desired_shape: ShapeLike,
    name: str | None = ...,
) -> Tensor: ...
def Placeholder(
    dtype: DTypeLike,
    shape: ShapeLike = ...,
    name: str | None = ...,
) -> Tensor: ...
def PlaceholderV2(
    dtype: DTypeLike,
    shape: ShapeLike,
    name: str | None = ...,
) -> Tensor: ...
def PlaceholderWithDefault(
    input: TensorLike,
    shape: ShapeLike,
    name: str | None = ...,
) -> Tensor: ...
def Polygamma(
    a: TensorLike,
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def PopulationCount(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Pow(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def PrefetchDataset(
    input_dataset: TensorLike,
    buffer_size: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    slack_period: int | None = ...,
    legacy_autotune: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def PreventGradient(
    input: TensorLike,
    message: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Print(
    input: TensorLike,
    data: Sequence[TensorLike] | Tensor,
    message: bytes | str | None = ...,
    first_n: int | None = ...,
    summarize: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def PrintV2(
    input: TensorLike,
    output_stream: bytes | str | None = ...,
    end: bytes | str | None = ...,
    name: str | None = ...,
) -> Operation: ...
def PriorityQueue(
    shapes: Sequence[ShapeLike],
    component_types: Sequence[DTypeLike] | None = ...,
    capacity: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def PriorityQueueV2(
    shapes: Sequence[ShapeLike],
    component_types: Sequence[DTypeLike] | None = ...,
    capacity: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def PrivateThreadPoolDataset(
    input_dataset: TensorLike,
    num_threads: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def Prod(
    input: TensorLike,
    axis: TensorLike,
    keep_dims: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def PyFunc(
    input: Sequence[TensorLike] | Tensor,
    token: bytes | str,
    Tout: Sequence[DTypeLike],
    name: str | None = ...,
) -> list[Tensor]: ...
def PyFuncStateless(
    input: Sequence[TensorLike] | Tensor,
    token: bytes | str,
    Tout: Sequence[DTypeLike],
    name: str | None = ...,
) -> list[Tensor]: ...
class _Qr(NamedTuple):
    q: Tensor
    r: Tensor

def Qr(
    input: TensorLike,
    full_matrices: bool | None = ...,
    name: str | None = ...,
) -> _Qr: ...
def QuantizeAndDequantize(
    input: TensorLike,
    signed_input: bool | None = ...,
    num_bits: int | None = ...,
    range_given: bool | None = ...,
    input_min: float | None = ...,
    input_max: float | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def QuantizeAndDequantizeV2(
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    signed_input: bool | None = ...,
    num_bits: int | None = ...,
    range_given: bool | None = ...,
    round_mode: bytes | str | None = ...,
    narrow_range: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def QuantizeAndDequantizeV3(
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    num_bits: TensorLike,
    signed_input: bool | None = ...,
    range_given: bool | None = ...,
    narrow_range: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _QuantizeDownAndShrinkRange(NamedTuple):
    output: Tensor
    output_min: Tensor
    output_max: Tensor

def QuantizeDownAndShrinkRange(
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    out_type: DTypeLike,
    name: str | None = ...,
) -> _QuantizeDownAndShrinkRange: ...
class _QuantizeV2(NamedTuple):
    output: Tensor
    output_min: Tensor
    output_max: Tensor

def QuantizeV2(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    T: DTypeLike,
    mode: bytes | str | None = ...,
    round_mode: bytes | str | None = ...,
    name: str | None = ...,
) -> _QuantizeV2: ...
class _QuantizedAdd(NamedTuple):
    z: Tensor
    min_z: Tensor
    max_z: Tensor

def QuantizedAdd(
    x: TensorLike,
    y: TensorLike,
    min_x: TensorLike,
    max_x: TensorLike,
    min_y: TensorLike,
    max_y: TensorLike,
    Toutput: DTypeLike | None = ...,
    name: str | None = ...,
) -> _QuantizedAdd: ...
class _QuantizedAvgPool(NamedTuple):
    output: Tensor
    min_output: Tensor
    max_output: Tensor

def QuantizedAvgPool(
    input: TensorLike,
    min_input: TensorLike,
    max_input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: bytes | str,
    name: str | None = ...,
) -> _QuantizedAvgPool: ...
class _QuantizedBatchNormWithGlobalNormalization(NamedTuple):
    result: Tensor
    result_min: Tensor
    result_max: Tensor

def QuantizedBatchNormWithGlobalNormalization(
    t: TensorLike,
    t_min: TensorLike,
    t_max: TensorLike,
    m: TensorLike,
    m_min: TensorLike,
    m_max: TensorLike,
    v: TensorLike,
    v_min: TensorLike,
    v_max: TensorLike,
    beta: TensorLike,
    beta_min: TensorLike,
    beta_max: TensorLike,
    gamma: TensorLike,
    gamma_min: TensorLike,
    gamma_max: TensorLike,
    out_type: DTypeLike,
    variance_epsilon: float,
    scale_after_normalization: bool,
    name: str | None = ...,
) -> _QuantizedBatchNormWithGlobalNormalization: ...
class _QuantizedBiasAdd(NamedTuple):
    output: Tensor
    min_out: Tensor
    max_out: Tensor

def QuantizedBiasAdd(
    input: TensorLike,
    bias: TensorLike,
    min_input: TensorLike,
    max_input: TensorLike,
    min_bias: TensorLike,
    max_bias: TensorLike,
    out_type: DTypeLike,
    name: str | None = ...,
) -> _QuantizedBiasAdd: ...
class _QuantizedConcat(NamedTuple):
    output: Tensor
    output_min: Tensor
    output_max: Tensor

def QuantizedConcat(
    concat_dim: TensorLike,
    values: Sequence[TensorLike] | Tensor,
    input_mins: Sequence[TensorLike] | Tensor,
    input_maxes: Sequence[TensorLike] | Tensor,
    name: str | None = ...,
) -> _QuantizedConcat: ...
class _QuantizedConv2D(NamedTuple):
    output: Tensor
    min_output: Tensor
    max_output: Tensor

def QuantizedConv2D(
    input: TensorLike,
    filter: TensorLike,
    min_input: TensorLike,
    max_input: TensorLike,
    min_filter: TensorLike,
    max_filter: TensorLike,
    strides: Sequence[int],
    padding: bytes | str,
    out_type: DTypeLike | None = ...,
    dilations: Sequence[int] | None = ...,
    name: str | None = ...,
) -> _QuantizedConv2D: ...
class _QuantizedInstanceNorm(NamedTuple):
    y: Tensor
    y_min: Tensor
    y_max: Tensor

def QuantizedInstanceNorm(
    x: TensorLike,
    x_min: TensorLike,
    x_max: TensorLike,
    output_range_given: bool | None = ...,
    given_y_min: float | None = ...,
    given_y_max: float | None = ...,
    variance_epsilon: float | None = ...,
    min_separation: float | None = ...,
    name: str | None = ...,
) -> _QuantizedInstanceNorm: ...
class _QuantizedMatMul(NamedTuple):
    out: Tensor
    min_out: Tensor
    max_out: Tensor

def QuantizedMatMul(
    a: TensorLike,
    b: TensorLike,
    min_a: TensorLike,
    max_a: TensorLike,
    min_b: TensorLike,
    max_b: TensorLike,
    Toutput: DTypeLike | None = ...,
    transpose_a: bool | None = ...,
    transpose_b: bool | None = ...,
    Tactivation: DTypeLike | None = ...,
    name: str | None = ...,
) -> _QuantizedMatMul: ...
class _QuantizedMaxPool(NamedTuple):
    output: Tensor
    min_output: Tensor
    max_output: Tensor

def QuantizedMaxPool(
    input: TensorLike,
    min_input: TensorLike,
    max_input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: bytes | str,
    name: str | None = ...,
) -> _QuantizedMaxPool: ...
class _QuantizedMul(NamedTuple):
    z: Tensor
    min_z: Tensor
    max_z: Tensor

def QuantizedMul(
    x: TensorLike,
    y: TensorLike,
    min_x: TensorLike,
    max_x: TensorLike,
    min_y: TensorLike,
    max_y: TensorLike,
    Toutput: DTypeLike | None = ...,
    name: str | None = ...,
) -> _QuantizedMul: ...
class _QuantizedRelu(NamedTuple):
    activations: Tensor
    min_activations: Tensor
    max_activations: Tensor

def QuantizedRelu(
    features: TensorLike,
    min_features: TensorLike,
    max_features: TensorLike,
    out_type: DTypeLike | None = ...,
    name: str | None = ...,
) -> _QuantizedRelu: ...
class _QuantizedRelu6(NamedTuple):
    activations: Tensor
    min_activations: Tensor
    max_activations: Tensor

def QuantizedRelu6(
    features: TensorLike,
    min_features: TensorLike,
    max_features: TensorLike,
    out_type: DTypeLike | None = ...,
    name: str | None = ...,
) -> _QuantizedRelu6: ...
class _QuantizedReluX(NamedTuple):
    activations: Tensor
    min_activations: Tensor
    max_activations: Tensor

def QuantizedReluX(
    features: TensorLike,
    max_value: TensorLike,
    min_features: TensorLike,
    max_features: TensorLike,
    out_type: DTypeLike | None = ...,
    name: str | None = ...,
) -> _QuantizedReluX: ...
class _QuantizedReshape(NamedTuple):
    output: Tensor
    output_min: Tensor
    output_max: Tensor

def QuantizedReshape(
    tensor: TensorLike,
    shape: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    name: str | None = ...,
) -> _QuantizedReshape: ...
class _QuantizedResizeBilinear(NamedTuple):
    resized_images: Tensor
    out_min: Tensor
    out_max: Tensor

def QuantizedResizeBilinear(
    images: TensorLike,
    size: TensorLike,
    min: TensorLike,
    max: TensorLike,
    align_corners: bool | None = ...,
    half_pixel_centers: bool | None = ...,
    name: str | None = ...,
) -> _QuantizedResizeBilinear: ...
def QueueClose(
    handle: TensorLike,
    cancel_pending_enqueues: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def QueueCloseV2(
    handle: TensorLike,
    cancel_pending_enqueues: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def QueueDequeue(
    handle: TensorLike,
    component_types: Sequence[DTypeLike],
    timeout_ms: int | None = ...,
    name: str | None = ...,
) -> list[Tensor]: ...
def QueueDequeueMany(
    handle: TensorLike,
    n: TensorLike,
    component_types: Sequence[DTypeLike],
    timeout_ms: int | None = ...,
    name: str | None = ...,
) -> list[Tensor]: ...
def QueueDequeueManyV2(
    handle: TensorLike,
    n: TensorLike,
    component_types: Sequence[DTypeLike],
    timeout_ms: int | None = ...,
    name: str | None = ...,
) -> list[Tensor]: ...
def QueueDequeueUpTo(
    handle: TensorLike,
    n: TensorLike,
    component_types: Sequence[DTypeLike],
    timeout_ms: int | None = ...,
    name: str | None = ...,
) -> list[Tensor]: ...
def QueueDequeueUpToV2(
    handle: TensorLike,
    n: TensorLike,
    component_types: Sequence[DTypeLike],
    timeout_ms: int | None = ...,
    name: str | None = ...,
) -> list[Tensor]: ...
def QueueDequeueV2(
    handle: TensorLike,
    component_types: Sequence[DTypeLike],
    timeout_ms: int | None = ...,
    name: str | None = ...,
) -> list[Tensor]: ...
def QueueEnqueue(
    handle: TensorLike,
    components: Sequence[TensorLike] | Tensor,
    timeout_ms: int | None = ...,
    name: str | None = ...,
) -> Operation: ...
def QueueEnqueueMany(
    handle: TensorLike,
    components: Sequence[TensorLike] | Tensor,
    timeout_ms: int | None = ...,
    name: str | None = ...,
) -> Operation: ...
def QueueEnqueueManyV2(
    handle: TensorLike,
    components: Sequence[TensorLike] | Tensor,
    timeout_ms: int | None = ...,
    name: str | None = ...,
) -> Operation: ...
def QueueEnqueueV2(
    handle: TensorLike,
    components: Sequence[TensorLike] | Tensor,
    timeout_ms: int | None = ...,
    name: str | None = ...,
) -> Operation: ...
def QueueIsClosed(
    handle: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def QueueIsClosedV2(
    handle: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def QueueSize(
    handle: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def QueueSizeV2(
    handle: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def RFFT(
    input: TensorLike,
    fft_length: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def RFFT2D(
    input: TensorLike,
    fft_length: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def RFFT3D(
    input: TensorLike,
    fft_length: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def RGBToHSV(
    images: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
class _RaggedGather(NamedTuple):
    output_nested_splits: list[Tensor]
    output_dense_values: Tensor

def RaggedGather(
    params_nested_splits: Sequence[TensorLike] | Tensor,
    params_dense_values: TensorLike,
    indices: TensorLike,
    OUTPUT_RAGGED_RANK: int,
    name: str | None = ...,
) -> _RaggedGather: ...
class _RaggedRange(NamedTuple):
    rt_nested_splits: Tensor
    rt_dense_values: Tensor

def RaggedRange(
    starts: TensorLike,
    limits: TensorLike,
    deltas: TensorLike,
    Tsplits: DTypeLike | None = ...,
    name: str | None = ...,
) -> _RaggedRange: ...
class _RaggedTensorFromVariant(NamedTuple):
    output_nested_splits: list[Tensor]
    output_dense_values: Tensor

def RaggedTensorFromVariant(
    encoded_ragged: TensorLike,
    input_ragged_rank: int,
    output_ragged_rank: int,
    Tvalues: DTypeLike,
    Tsplits: DTypeLike,
    name: str | None = ...,
) -> _RaggedTensorFromVariant: ...
class _RaggedTensorToSparse(NamedTuple):
    sparse_indices: Tensor
    sparse_values: Tensor
    sparse_dense_shape: Tensor

def RaggedTensorToSparse(
    rt_nested_splits: Sequence[TensorLike] | Tensor,
    rt_dense_values: TensorLike,
    name: str | None = ...,
) -> _RaggedTensorToSparse: ...
def RaggedTensorToTensor(
    shape: TensorLike,
    values: TensorLike,
    default_value: TensorLike,
    row_partition_tensors: Sequence[TensorLike] | Tensor,
    row_partition_types: Sequence[bytes | str],
    name: str | None = ...,
) -> Tensor: ...
def RaggedTensorToVariant(
    rt_nested_splits: Sequence[TensorLike] | Tensor,
    rt_dense_values: TensorLike,
    batched_input: bool,
    name: str | None = ...,
) -> Tensor: ...
def RandomCrop(
    image: TensorLike,
    size: TensorLike,
    seed: int | None = ...,
    seed2: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def RandomDataset(
    seed: TensorLike,
    seed2: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def RandomGamma(
    shape: TensorLike,
    alpha: TensorLike,
    seed: int | None = ...,
    seed2: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def RandomGammaGrad(
    alpha: TensorLike,
    sample: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def RandomPoisson(
    shape: TensorLike,
    rate: TensorLike,
    seed: int | None = ...,
    seed2: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def RandomPoissonV2(
    shape: TensorLike,
    rate: TensorLike,
    seed: int | None = ...,
    seed2: int | None = ...,
    dtype: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def RandomShuffle(
    value: TensorLike,
    seed: int | None = ...,
    seed2: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def RandomShuffleQueue(
    component_types: Sequence[DTypeLike],
    shapes: Sequence[ShapeLike] | None = ...,
    capacity: int | None = ...,
    min_after_dequeue: int | None = ...,
    seed: int | None = ...,
    seed2: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def RandomShuffleQueueV2(
    component_types: Sequence[DTypeLike],
    shapes: Sequence[ShapeLike] | None = ...,
    capacity: int | None = ...,
    min_after_dequeue: int | None = ...,
    seed: int | None = ...,
    seed2: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def RandomStandardNormal(
    shape: TensorLike,
    dtype: DTypeLike,
    seed: int | None = ...,
    seed2: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def RandomUniform(
    shape: TensorLike,
    dtype: DTypeLike,
    seed: int | None = ...,
    seed2: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def RandomUniformInt(
    shape: TensorLike,
    minval: TensorLike,
    maxval: TensorLike,
    seed: int | None = ...,
    seed2: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Range(
    start: TensorLike,
    limit: TensorLike,
    delta: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def RangeDataset(
    start: TensorLike,
    stop: TensorLike,
    step: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def Rank(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ReadFile(
    filename: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ReadVariableOp(
    resource: TensorLike,
    dtype: DTypeLike,
    name: str | None = ...,
) -> Tensor: ...
def ReaderNumRecordsProduced(
    reader_handle: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ReaderNumRecordsProducedV2(
    reader_handle: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ReaderNumWorkUnitsCompleted(
    reader_handle: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ReaderNumWorkUnitsCompletedV2(
    reader_handle: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
class _ReaderRead(NamedTuple):
    key: Tensor
    value: Tensor

def ReaderRead(
    reader_handle: TensorLike,
    queue_handle: TensorLike,
    name: str | None = ...,
) -> _ReaderRead: ...
class _ReaderReadUpTo(NamedTuple):
    keys: Tensor
    values: Tensor

def ReaderReadUpTo(
    reader_handle: TensorLike,
    queue_handle: TensorLike,
    num_records: TensorLike,
    name: str | None = ...,
) -> _ReaderReadUpTo: ...
class _ReaderReadUpToV2(NamedTuple):
    keys: Tensor
    values: Tensor

def ReaderReadUpToV2(
    reader_handle: TensorLike,
    queue_handle: TensorLike,
    num_records: TensorLike,
    name: str | None = ...,
) -> _ReaderReadUpToV2: ...
class _ReaderReadV2(NamedTuple):
    key: Tensor
    value: Tensor

def ReaderReadV2(
    reader_handle: TensorLike,
    queue_handle: TensorLike,
    name: str | None = ...,
) -> _ReaderReadV2: ...
def ReaderReset(
    reader_handle: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def ReaderResetV2(
    reader_handle: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def ReaderRestoreState(
    reader_handle: TensorLike,
    state: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def ReaderRestoreStateV2(
    reader_handle: TensorLike,
    state: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def ReaderSerializeState(
    reader_handle: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ReaderSerializeStateV2(
    reader_handle: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Real(
    input: TensorLike,
    Tout: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def RealDiv(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def RebatchDataset(
    input_dataset: TensorLike,
    num_replicas: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    use_fallback: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Reciprocal(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ReciprocalGrad(
    y: TensorLike,
    dy: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def RecordInput(
    file_pattern: bytes | str,
    file_random_seed: int | None = ...,
    file_shuffle_shift_ratio: float | None = ...,
    file_buffer_size: int | None = ...,
    file_parallelism: int | None = ...,
    batch_size: int | None = ...,
    compression_type: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ReduceDataset(
    input_dataset: TensorLike,
    initial_state: Sequence[TensorLike] | Tensor,
    other_arguments: Sequence[TensorLike] | Tensor,
    f: object,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    use_inter_op_parallelism: bool | None = ...,
    name: str | None = ...,
) -> list[Tensor]: ...
def ReduceJoin(
    inputs: TensorLike,
    reduction_indices: TensorLike,
    keep_dims: bool | None = ...,
    separator: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ReduceSliceMax(
    data: TensorLike,
    indices: TensorLike,
    axis: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ReduceSliceMin(
    data: TensorLike,
    indices: TensorLike,
    axis: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ReduceSliceProd(
    data: TensorLike,
    indices: TensorLike,
    axis: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ReduceSliceSum(
    data: TensorLike,
    indices: TensorLike,
    axis: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def RefEnter(
    data: TensorLike,
    frame_name: bytes | str,
    is_constant: bool | None = ...,
    parallel_iterations: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def RefExit(
    data: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def RefIdentity(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
class _RefMerge(NamedTuple):
    output: Tensor
    value_index: Tensor

def RefMerge(
    inputs: Sequence[TensorLike] | Tensor,
    name: str | None = ...,
) -> _RefMerge: ...
def RefNextIteration(
    data: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def RefSelect(
    index: TensorLike,
    inputs: Sequence[TensorLike] | Tensor,
    name: str | None = ...,
) -> Tensor: ...
class _RefSwitch(NamedTuple):
    output_false: Tensor
    output_true: Tensor

def RefSwitch(
    data: TensorLike,
    pred: TensorLike,
    name: str | None = ...,
) -> _RefSwitch: ...
def RegexFullMatch(
    input: TensorLike,
    pattern: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def RegexReplace(
    input: TensorLike,
    pattern: TensorLike,
    rewrite: TensorLike,
    replace_global: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Relu(
    features: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Relu6(
    features: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Relu6Grad(
    gradients: TensorLike,
    features: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ReluGrad(
    gradients: TensorLike,
    features: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def RepeatDataset(
    input_dataset: TensorLike,
    count: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
class _RequantizationRange(NamedTuple):
    output_min: Tensor
    output_max: Tensor

def RequantizationRange(
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    name: str | None = ...,
) -> _RequantizationRange: ...
class _Requantize(NamedTuple):
    output: Tensor
    output_min: Tensor
    output_max: Tensor

def Requantize(
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    requested_output_min: TensorLike,
    requested_output_max: TensorLike,
    out_type: DTypeLike,
    name: str | None = ...,
) -> _Requantize: ...
def Resampler(
    data: TensorLike,
    warp: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
class _ResamplerGrad(NamedTuple):
    grad_data: Tensor
    grad_warp: Tensor

def ResamplerGrad(
    data: TensorLike,
    warp: TensorLike,
    grad_output: TensorLike,
    name: str | None = ...,
) -> _ResamplerGrad: ...
def Reshape(
    tensor: TensorLike,
    shape: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ResizeArea(
    images: TensorLike,
    size: TensorLike,
    align_corners: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ResizeBicubic(
    images: TensorLike,
    size: TensorLike,
    align_corners: bool | None = ...,
    half_pixel_centers: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ResizeBicubicGrad(
    grads: TensorLike,
    original_image: TensorLike,
    align_corners: bool | None = ...,
    half_pixel_centers: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ResizeBilinear(
    images: TensorLike,
    size: TensorLike,
    align_corners: bool | None = ...,
    half_pixel_centers: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ResizeBilinearGrad(
    grads: TensorLike,
    original_image: TensorLike,
    align_corners: bool | None = ...,
    half_pixel_centers: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ResizeNearestNeighbor(
    images: TensorLike,
    size: TensorLike,
    align_corners: bool | None = ...,
    half_pixel_centers: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ResizeNearestNeighborGrad(
    grads: TensorLike,
    size: TensorLike,
    align_corners: bool | None = ...,
    half_pixel_centers: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ResourceAccumulatorApplyGradient(
    handle: TensorLike,
    local_step: TensorLike,
    gradient: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def ResourceAccumulatorNumAccumulated(
    handle: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ResourceAccumulatorSetGlobalStep(
    handle: TensorLike,
    new_global_step: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def ResourceAccumulatorTakeGradient(
    handle: TensorLike,
    num_required: TensorLike,
    dtype: DTypeLike,
    name: str | None = ...,
) -> Tensor: ...
def ResourceApplyAdaMax(
    var: TensorLike,
    m: TensorLike,
    v: TensorLike,
    beta1_power: TensorLike,
    lr: TensorLike,
    beta1: TensorLike,
    beta2: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceApplyAdadelta(
    var: TensorLike,
    accum: TensorLike,
    accum_update: TensorLike,
    lr: TensorLike,
    rho: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceApplyAdagrad(
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    grad: TensorLike,
    use_locking: bool | None = ...,
    update_slots: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceApplyAdagradDA(
    var: TensorLike,
    gradient_accumulator: TensorLike,
    gradient_squared_accumulator: TensorLike,
    grad: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    global_step: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceApplyAdagradV2(
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    use_locking: bool | None = ...,
    update_slots: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceApplyAdam(
    var: TensorLike,
    m: TensorLike,
    v: TensorLike,
    beta1_power: TensorLike,
    beta2_power: TensorLike,
    lr: TensorLike,
    beta1: TensorLike,
    beta2: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    use_locking: bool | None = ...,
    use_nesterov: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceApplyAdamWithAmsgrad(
    var: TensorLike,
    m: TensorLike,
    v: TensorLike,
    vhat: TensorLike,
    beta1_power: TensorLike,
    beta2_power: TensorLike,
    lr: TensorLike,
    beta1: TensorLike,
    beta2: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceApplyAddSign(
    var: TensorLike,
    m: TensorLike,
    lr: TensorLike,
    alpha: TensorLike,
    sign_decay: TensorLike,
    beta: TensorLike,
    grad: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceApplyCenteredRMSProp(
    var: TensorLike,
    mg: TensorLike,
    ms: TensorLike,
    mom: TensorLike,
    lr: TensorLike,
    rho: TensorLike,
    momentum: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceApplyFtrl(
    var: TensorLike,
    accum: TensorLike,
    linear: TensorLike,
    grad: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    lr_power: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceApplyFtrlV2(
    var: TensorLike,
    accum: TensorLike,
    linear: TensorLike,
    grad: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    l2_shrinkage: TensorLike,
    lr_power: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceApplyGradientDescent(
    var: TensorLike,
    alpha: TensorLike,
    delta: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceApplyKerasMomentum(
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    grad: TensorLike,
    momentum: TensorLike,
    use_locking: bool | None = ...,
    use_nesterov: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceApplyMomentum(
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    grad: TensorLike,
    momentum: TensorLike,
    use_locking: bool | None = ...,
    use_nesterov: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceApplyPowerSign(
    var: TensorLike,
    m: TensorLike,
    lr: TensorLike,
    logbase: TensorLike,
    sign_decay: TensorLike,
    beta: TensorLike,
    grad: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceApplyProximalAdagrad(
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    grad: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceApplyProximalGradientDescent(
    var: TensorLike,
    alpha: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    delta: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceApplyRMSProp(
    var: TensorLike,
    ms: TensorLike,
    mom: TensorLike,
    lr: TensorLike,
    rho: TensorLike,
    momentum: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceConditionalAccumulator(
    dtype: DTypeLike,
    shape: ShapeLike,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    reduction_type: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ResourceCountUpTo(
    resource: TensorLike,
    limit: int,
    T: DTypeLike,
    name: str | None = ...,
) -> Tensor: ...
def ResourceGather(
    resource: TensorLike,
    indices: TensorLike,
    dtype: DTypeLike,
    batch_dims: int | None = ...,
    validate_indices: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ResourceGatherNd(
    resource: TensorLike,
    indices: TensorLike,
    dtype: DTypeLike,
    name: str | None = ...,
) -> Tensor: ...
def ResourceScatterAdd(
    resource: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def ResourceScatterDiv(
    resource: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def ResourceScatterMax(
    resource: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def ResourceScatterMin(
    resource: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def ResourceScatterMul(
    resource: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def ResourceScatterNdAdd(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceScatterNdSub(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceScatterNdUpdate(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceScatterSub(
    resource: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def ResourceScatterUpdate(
    resource: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def ResourceSparseApplyAdadelta(
    var: TensorLike,
    accum: TensorLike,
    accum_update: TensorLike,
    lr: TensorLike,
    rho: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceSparseApplyAdagrad(
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    use_locking: bool | None = ...,
    update_slots: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceSparseApplyAdagradDA(
    var: TensorLike,
    gradient_accumulator: TensorLike,
    gradient_squared_accumulator: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    global_step: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceSparseApplyAdagradV2(
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    use_locking: bool | None = ...,
    update_slots: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceSparseApplyCenteredRMSProp(
    var: TensorLike,
    mg: TensorLike,
    ms: TensorLike,
    mom: TensorLike,
    lr: TensorLike,
    rho: TensorLike,
    momentum: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceSparseApplyFtrl(
    var: TensorLike,
    accum: TensorLike,
    linear: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    lr_power: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceSparseApplyFtrlV2(
    var: TensorLike,
    accum: TensorLike,
    linear: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    l2_shrinkage: TensorLike,
    lr_power: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceSparseApplyKerasMomentum(
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    momentum: TensorLike,
    use_locking: bool | None = ...,
    use_nesterov: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceSparseApplyMomentum(
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    momentum: TensorLike,
    use_locking: bool | None = ...,
    use_nesterov: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceSparseApplyProximalAdagrad(
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceSparseApplyProximalGradientDescent(
    var: TensorLike,
    alpha: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceSparseApplyRMSProp(
    var: TensorLike,
    ms: TensorLike,
    mom: TensorLike,
    lr: TensorLike,
    rho: TensorLike,
    momentum: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def ResourceStridedSliceAssign(
    ref: TensorLike,
    begin: TensorLike,
    end: TensorLike,
    strides: TensorLike,
    value: TensorLike,
    begin_mask: int | None = ...,
    end_mask: int | None = ...,
    ellipsis_mask: int | None = ...,
    new_axis_mask: int | None = ...,
    shrink_axis_mask: int | None = ...,
    name: str | None = ...,
) -> Operation: ...
def Restore(
    file_pattern: TensorLike,
    tensor_name: TensorLike,
    dt: DTypeLike,
    preferred_shard: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def RestoreSlice(
    file_pattern: TensorLike,
    tensor_name: TensorLike,
    shape_and_slice: TensorLike,
    dt: DTypeLike,
    preferred_shard: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def RestoreV2(
    prefix: TensorLike,
    tensor_names: TensorLike,
    shape_and_slices: TensorLike,
    dtypes: Sequence[DTypeLike],
    name: str | None = ...,
) -> list[Tensor]: ...
def Reverse(
    tensor: TensorLike,
    dims: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ReverseSequence(
    input: TensorLike,
    seq_lengths: TensorLike,
    seq_dim: int,
    batch_dim: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ReverseV2(
    tensor: TensorLike,
    axis: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def RightShift(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Rint(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def RngSkip(
    resource: TensorLike,
    algorithm: TensorLike,
    delta: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def Roll(
    input: TensorLike,
    shift: TensorLike,
    axis: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Round(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Rsqrt(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def RsqrtGrad(
    y: TensorLike,
    dy: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
class _SampleDistortedBoundingBox(NamedTuple):
    begin: Tensor
    size: Tensor
    bboxes: Tensor

def SampleDistortedBoundingBox(
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    seed: int | None = ...,
    seed2: int | None = ...,
    min_object_covered: float | None = ...,
    aspect_ratio_range: Sequence[float] | None = ...,
    area_range: Sequence[float] | None = ...,
    max_attempts: int | None = ...,
    use_image_if_no_bounding_boxes: bool | None = ...,
    name: str | None = ...,
) -> _SampleDistortedBoundingBox: ...
class _SampleDistortedBoundingBoxV2(NamedTuple):
    begin: Tensor
    size: Tensor
    bboxes: Tensor

def SampleDistortedBoundingBoxV2(
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    min_object_covered: TensorLike,
    seed: int | None = ...,
    seed2: int | None = ...,
    aspect_ratio_range: Sequence[float] | None = ...,
    area_range: Sequence[float] | None = ...,
    max_attempts: int | None = ...,
    use_image_if_no_bounding_boxes: bool | None = ...,
    name: str | None = ...,
) -> _SampleDistortedBoundingBoxV2: ...
def SamplingDataset(
    input_dataset: TensorLike,
    rate: TensorLike,
    seed: TensorLike,
    seed2: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def Save(
    filename: TensorLike,
    tensor_names: TensorLike,
    data: Sequence[TensorLike] | Tensor,
    name: str | None = ...,
) -> Operation: ...
def SaveSlices(
    filename: TensorLike,
    tensor_names: TensorLike,
    shapes_and_slices: TensorLike,
    data: Sequence[TensorLike] | Tensor,
    name: str | None = ...,
) -> Operation: ...
def SaveV2(
    prefix: TensorLike,
    tensor_names: TensorLike,
    shape_and_slices: TensorLike,
    tensors: Sequence[TensorLike] | Tensor,
    name: str | None = ...,
) -> Operation: ...
def ScalarSummary(
    tags: TensorLike,
    values: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ScaleAndTranslate(
    images: TensorLike,
    size: TensorLike,
    scale: TensorLike,
    translation: TensorLike,
    kernel_type: bytes | str | None = ...,
    antialias: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ScaleAndTranslateGrad(
    grads: TensorLike,
    original_image: TensorLike,
    scale: TensorLike,
    translation: TensorLike,
    kernel_type: bytes | str | None = ...,
    antialias: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ScanDataset(
    input_dataset: TensorLike,
    initial_state: Sequence[TensorLike] | Tensor,
    other_arguments: Sequence[TensorLike] | Tensor,
    f: object,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    preserve_cardinality: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ScatterAdd(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ScatterDiv(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ScatterMax(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ScatterMin(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ScatterMul(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ScatterNd(
    indices: TensorLike,
    updates: TensorLike,
    shape: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ScatterNdAdd(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ScatterNdNonAliasingAdd(
    input: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ScatterNdSub(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ScatterNdUpdate(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ScatterSub(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ScatterUpdate(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def SdcaFprint(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
class _SdcaOptimizer(NamedTuple):
    out_example_state_data: Tensor
    out_delta_sparse_weights: list[Tensor]
    out_delta_dense_weights: list[Tensor]

def SdcaOptimizer(
    sparse_example_indices: Sequence[TensorLike] | Tensor,
    sparse_feature_indices: Sequence[TensorLike] | Tensor,
    sparse_feature_values: Sequence[TensorLike] | Tensor,
    dense_features: Sequence[TensorLike] | Tensor,
    example_weights: TensorLike,
    example_labels: TensorLike,
    sparse_indices: Sequence[TensorLike] | Tensor,
    sparse_weights: Sequence[TensorLike] | Tensor,
    dense_weights: Sequence[TensorLike] | Tensor,
    example_state_data: TensorLike,
    loss_type: bytes | str,
    l1: float,
    l2: float,
    num_loss_partitions: int,
    num_inner_iterations: int,
    adaptative: bool | None = ...,
    name: str | None = ...,
) -> _SdcaOptimizer: ...
class _SdcaOptimizerV2(NamedTuple):
    out_example_state_data: Tensor
    out_delta_sparse_weights: list[Tensor]
    out_delta_dense_weights: list[Tensor]

def SdcaOptimizerV2(
    sparse_example_indices: Sequence[TensorLike] | Tensor,
    sparse_feature_indices: Sequence[TensorLike] | Tensor,
    sparse_feature_values: Sequence[TensorLike] | Tensor,
    dense_features: Sequence[TensorLike] | Tensor,
    example_weights: TensorLike,
    example_labels: TensorLike,
    sparse_indices: Sequence[TensorLike] | Tensor,
    sparse_weights: Sequence[TensorLike] | Tensor,
    dense_weights: Sequence[TensorLike] | Tensor,
    example_state_data: TensorLike,
    loss_type: bytes | str,
    l1: float,
    l2: float,
    num_loss_partitions: int,
    num_inner_iterations: int,
    adaptive: bool | None = ...,
    name: str | None = ...,
) -> _SdcaOptimizerV2: ...
def SdcaShrinkL1(
    weights: Sequence[TensorLike] | Tensor,
    l1: float,
    l2: float,
    name: str | None = ...,
) -> Operation: ...
def SegmentMax(
    data: TensorLike,
    segment_ids: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SegmentMean(
    data: TensorLike,
    segment_ids: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SegmentMin(
    data: TensorLike,
    segment_ids: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SegmentProd(
    data: TensorLike,
    segment_ids: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SegmentSum(
    data: TensorLike,
    segment_ids: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Select(
    condition: TensorLike,
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SelectV2(
    condition: TensorLike,
    t: TensorLike,
    e: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SelfAdjointEig(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
class _SelfAdjointEigV2(NamedTuple):
    e: Tensor
    v: Tensor

def SelfAdjointEigV2(
    input: TensorLike,
    compute_v: bool | None = ...,
    name: str | None = ...,
) -> _SelfAdjointEigV2: ...
def Selu(
    features: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SeluGrad(
    gradients: TensorLike,
    outputs: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SerializeIterator(
    resource_handle: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SerializeManySparse(
    sparse_indices: TensorLike,
    sparse_values: TensorLike,
    sparse_shape: TensorLike,
    out_type: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def SerializeSparse(
    sparse_indices: TensorLike,
    sparse_values: TensorLike,
    sparse_shape: TensorLike,
    out_type: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def SerializeTensor(
    tensor: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SetSize(
    set_indices: TensorLike,
    set_values: TensorLike,
    set_shape: TensorLike,
    validate_indices: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def SetStatsAggregatorDataset(
    input_dataset: TensorLike,
    stats_aggregator: TensorLike,
    tag: TensorLike,
    counter_prefix: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def Shape(
    input: TensorLike,
    out_type: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ShapeN(
    input: Sequence[TensorLike] | Tensor,
    out_type: DTypeLike | None = ...,
    name: str | None = ...,
) -> list[Tensor]: ...
def ShardDataset(
    input_dataset: TensorLike,
    num_shards: TensorLike,
    index: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    require_non_empty: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ShardedFilename(
    basename: TensorLike,
    shard: TensorLike,
    num_shards: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ShardedFilespec(
    basename: TensorLike,
    num_shards: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ShuffleAndRepeatDataset(
    input_dataset: TensorLike,
    buffer_size: TensorLike,
    seed: TensorLike,
    seed2: TensorLike,
    count: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ShuffleDataset(
    input_dataset: TensorLike,
    buffer_size: TensorLike,
    seed: TensorLike,
    seed2: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    reshuffle_each_iteration: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ShuffleDatasetV2(
    input_dataset: TensorLike,
    buffer_size: TensorLike,
    seed_generator: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def Sigmoid(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SigmoidGrad(
    y: TensorLike,
    dy: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Sign(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Sin(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SingleImageRandomDotStereograms(
    depth_values: TensorLike,
    hidden_surface_removal: bool | None = ...,
    convergence_dots_size: int | None = ...,
    dots_per_inch: int | None = ...,
    eye_separation: float | None = ...,
    mu: float | None = ...,
    normalize: bool | None = ...,
    normalize_max: float | None = ...,
    normalize_min: float | None = ...,
    border_level: float | None = ...,
    number_colors: int | None = ...,
    output_image_shape: ShapeLike = ...,
    output_data_window: ShapeLike = ...,
    name: str | None = ...,
) -> Tensor: ...
def Sinh(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Size(
    input: TensorLike,
    out_type: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def SkipDataset(
    input_dataset: TensorLike,
    count: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
class _SkipGramGenerateCandidates(NamedTuple):
    tokens: Tensor
    labels: Tensor

def SkipGramGenerateCandidates(
    input_tensor: TensorLike,
    min_skips: TensorLike,
    max_skips: TensorLike,
    start: TensorLike,
    limit: TensorLike,
    emit_self_as_target: TensorLike,
    seed: int | None = ...,
    seed2: int | None = ...,
    name: str | None = ...,
) -> _SkipGramGenerateCandidates: ...
def SleepDataset(
    input_dataset: TensorLike,
    sleep_microseconds: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def Slice(
    input: TensorLike,
    begin: TensorLike,
    size: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SlidingWindowDataset(
    input_dataset: TensorLike,
    window_size: TensorLike,
    window_shift: TensorLike,
    window_stride: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def Snapshot(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SnapshotDataset(
    input_dataset: TensorLike,
    path: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    compression: bytes | str | None = ...,
    reader_path_prefix: bytes | str | None = ...,
    writer_path_prefix: bytes | str | None = ...,
    shard_size_bytes: int | None = ...,
    pending_snapshot_expiry_seconds: int | None = ...,
    num_reader_threads: int | None = ...,
    reader_buffer_size: int | None = ...,
    num_writer_threads: int | None = ...,
    writer_buffer_size: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Softmax(
    logits: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
class _SoftmaxCrossEntropyWithLogits(NamedTuple):
    loss: Tensor
    backprop: Tensor

def SoftmaxCrossEntropyWithLogits(
    features: TensorLike,
    labels: TensorLike,
    name: str | None = ...,
) -> _SoftmaxCrossEntropyWithLogits: ...
def Softplus(
    features: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SoftplusGrad(
    gradients: TensorLike,
    features: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Softsign(
    features: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SoftsignGrad(
    gradients: TensorLike,
    features: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SpaceToBatch(
    input: TensorLike,
    paddings: TensorLike,
    block_size: int,
    name: str | None = ...,
) -> Tensor: ...
def SpaceToBatchND(
    input: TensorLike,
    block_shape: TensorLike,
    paddings: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SpaceToDepth(
    input: TensorLike,
    block_size: int,
    data_format: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def SparseAccumulatorApplyGradient(
    handle: TensorLike,
    local_step: TensorLike,
    gradient_indices: TensorLike,
    gradient_values: TensorLike,
    gradient_shape: TensorLike,
    has_known_shape: bool,
    name: str | None = ...,
) -> Operation: ...
class _SparseAccumulatorTakeGradient(NamedTuple):
    indices: Tensor
    values: Tensor
    shape: Tensor

def SparseAccumulatorTakeGradient(
    handle: TensorLike,
    num_required: TensorLike,
    dtype: DTypeLike,
    name: str | None = ...,
) -> _SparseAccumulatorTakeGradient: ...
class _SparseAdd(NamedTuple):
    sum_indices: Tensor
    sum_values: Tensor
    sum_shape: Tensor

def SparseAdd(
    a_indices: TensorLike,
    a_values: TensorLike,
    a_shape: TensorLike,
    b_indices: TensorLike,
    b_values: TensorLike,
    b_shape: TensorLike,
    thresh: TensorLike,
    name: str | None = ...,
) -> _SparseAdd: ...
class _SparseAddGrad(NamedTuple):
    a_val_grad: Tensor
    b_val_grad: Tensor

def SparseAddGrad(
    backprop_val_grad: TensorLike,
    a_indices: TensorLike,
    b_indices: TensorLike,
    sum_indices: TensorLike,
    name: str | None = ...,
) -> _SparseAddGrad: ...
def SparseApplyAdadelta(
    var: TensorLike,
    accum: TensorLike,
    accum_update: TensorLike,
    lr: TensorLike,
    rho: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def SparseApplyAdagrad(
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    use_locking: bool | None = ...,
    update_slots: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def SparseApplyAdagradDA(
    var: TensorLike,
    gradient_accumulator: TensorLike,
    gradient_squared_accumulator: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    global_step: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def SparseApplyAdagradV2(
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    use_locking: bool | None = ...,
    update_slots: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def SparseApplyCenteredRMSProp(
    var: TensorLike,
    mg: TensorLike,
    ms: TensorLike,
    mom: TensorLike,
    lr: TensorLike,
    rho: TensorLike,
    momentum: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def SparseApplyFtrl(
    var: TensorLike,
    accum: TensorLike,
    linear: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    lr_power: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def SparseApplyFtrlV2(
    var: TensorLike,
    accum: TensorLike,
    linear: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    l2_shrinkage: TensorLike,
    lr_power: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def SparseApplyMomentum(
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    momentum: TensorLike,
    use_locking: bool | None = ...,
    use_nesterov: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def SparseApplyProximalAdagrad(
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def SparseApplyProximalGradientDescent(
    var: TensorLike,
    alpha: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def SparseApplyRMSProp(
    var: TensorLike,
    ms: TensorLike,
    mom: TensorLike,
    lr: TensorLike,
    rho: TensorLike,
    momentum: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    use_locking: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _SparseConcat(NamedTuple):
    output_indices: Tensor
    output_values: Tensor
    output_shape: Tensor

def SparseConcat(
    indices: Sequence[TensorLike] | Tensor,
    values: Sequence[TensorLike] | Tensor,
    shapes: Sequence[TensorLike] | Tensor,
    concat_dim: int,
    name: str | None = ...,
) -> _SparseConcat: ...
def SparseConditionalAccumulator(
    dtype: DTypeLike,
    shape: ShapeLike,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    reduction_type: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _SparseCross(NamedTuple):
    output_indices: Tensor
    output_values: Tensor
    output_shape: Tensor

def SparseCross(
    indices: Sequence[TensorLike] | Tensor,
    values: Sequence[TensorLike] | Tensor,
    shapes: Sequence[TensorLike] | Tensor,
    dense_inputs: Sequence[TensorLike] | Tensor,
    hashed_output: bool,
    num_buckets: int,
    hash_key: int,
    out_type: DTypeLike,
    internal_type: DTypeLike,
    name: str | None = ...,
) -> _SparseCross: ...
def SparseDenseCwiseAdd(
    sp_indices: TensorLike,
    sp_values: TensorLike,
    sp_shape: TensorLike,
    dense: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SparseDenseCwiseDiv(
    sp_indices: TensorLike,
    sp_values: TensorLike,
    sp_shape: TensorLike,
    dense: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SparseDenseCwiseMul(
    sp_indices: TensorLike,
    sp_values: TensorLike,
    sp_shape: TensorLike,
    dense: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
class _SparseFeatureCross(NamedTuple):
    output_indices: Tensor
    output_values: Tensor
    output_shape: Tensor

def SparseFeatureCross(
    indices: Sequence[TensorLike] | Tensor,
    values: Sequence[TensorLike] | Tensor,
    shapes: Sequence[TensorLike] | Tensor,
    dense: Sequence[TensorLike] | Tensor,
    hashed_output: bool,
    num_buckets: int,
    out_type: DTypeLike,
    internal_type: DTypeLike,
    name: str | None = ...,
) -> _SparseFeatureCross: ...
class _SparseFeatureCrossV2(NamedTuple):
    output_indices: Tensor
    output_values: Tensor
    output_shape: Tensor

def SparseFeatureCrossV2(
    indices: Sequence[TensorLike] | Tensor,
    values: Sequence[TensorLike] | Tensor,
    shapes: Sequence[TensorLike] | Tensor,
    dense: Sequence[TensorLike] | Tensor,
    hashed_output: bool,
    num_buckets: int,
    hash_key: int,
    out_type: DTypeLike,
    internal_type: DTypeLike,
    name: str | None = ...,
) -> _SparseFeatureCrossV2: ...
class _SparseFillEmptyRows(NamedTuple):
    output_indices: Tensor
    output_values: Tensor
    empty_row_indicator: Tensor
    reverse_index_map: Tensor

def SparseFillEmptyRows(
    indices: TensorLike,
    values: TensorLike,
    dense_shape: TensorLike,
    default_value: TensorLike,
    name: str | None = ...,
) -> _SparseFillEmptyRows: ...
class _SparseFillEmptyRowsGrad(NamedTuple):
    d_values: Tensor
    d_default_value: Tensor

def SparseFillEmptyRowsGrad(
    reverse_index_map: TensorLike,
    grad_values: TensorLike,
    name: str | None = ...,
) -> _SparseFillEmptyRowsGrad: ...
def SparseMatMul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool | None = ...,
    transpose_b: bool | None = ...,
    a_is_sparse: bool | None = ...,
    b_is_sparse: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def SparseReduceMax(
    input_indices: TensorLike,
    input_values: TensorLike,
    input_shape: TensorLike,
    reduction_axes: TensorLike,
    keep_dims: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _SparseReduceMaxSparse(NamedTuple):
    output_indices: Tensor
    output_values: Tensor
    output_shape: Tensor

def SparseReduceMaxSparse(
    input_indices: TensorLike,
    input_values: TensorLike,
    input_shape: TensorLike,
    reduction_axes: TensorLike,
    keep_dims: bool | None = ...,
    name: str | None = ...,
) -> _SparseReduceMaxSparse: ...
def SparseReduceSum(
    input_indices: TensorLike,
    input_values: TensorLike,
    input_shape: TensorLike,
    reduction_axes: TensorLike,
    keep_dims: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _SparseReduceSumSparse(NamedTuple):
    output_indices: Tensor
    output_values: Tensor
    output_shape: Tensor

def SparseReduceSumSparse(
    input_indices: TensorLike,
    input_values: TensorLike,
    input_shape: TensorLike,
    reduction_axes: TensorLike,
    keep_dims: bool | None = ...,
    name: str | None = ...,
) -> _SparseReduceSumSparse: ...
class _SparseReorder(NamedTuple):
    output_indices: Tensor
    output_values: Tensor

def SparseReorder(
    input_indices: TensorLike,
    input_values: TensorLike,
    input_shape: TensorLike,
    name: str | None = ...,
) -> _SparseReorder: ...
class _SparseReshape(NamedTuple):
    output_indices: Tensor
    output_shape: Tensor

def SparseReshape(
    input_indices: TensorLike,
    input_shape: TensorLike,
    new_shape: TensorLike,
    name: str | None = ...,
) -> _SparseReshape: ...
def SparseSegmentMean(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SparseSegmentMeanGrad(
    grad: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    output_dim0: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SparseSegmentMeanWithNumSegments(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SparseSegmentSqrtN(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SparseSegmentSqrtNGrad(
    grad: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    output_dim0: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SparseSegmentSqrtNWithNumSegments(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SparseSegmentSum(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SparseSegmentSumWithNumSegments(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
class _SparseSlice(NamedTuple):
    output_indices: Tensor
    output_values: Tensor
    output_shape: Tensor

def SparseSlice(
    indices: TensorLike,
    values: TensorLike,
    shape: TensorLike,
    start: TensorLike,
    size: TensorLike,
    name: str | None = ...,
) -> _SparseSlice: ...
def SparseSliceGrad(
    backprop_val_grad: TensorLike,
    input_indices: TensorLike,
    input_start: TensorLike,
    output_indices: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SparseSoftmax(
    sp_indices: TensorLike,
    sp_values: TensorLike,
    sp_shape: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
class _SparseSoftmaxCrossEntropyWithLogits(NamedTuple):
    loss: Tensor
    backprop: Tensor

def SparseSoftmaxCrossEntropyWithLogits(
    features: TensorLike,
    labels: TensorLike,
    name: str | None = ...,
) -> _SparseSoftmaxCrossEntropyWithLogits: ...
class _SparseSparseMaximum(NamedTuple):
    output_indices: Tensor
    output_values: Tensor

def SparseSparseMaximum(
    a_indices: TensorLike,
    a_values: TensorLike,
    a_shape: TensorLike,
    b_indices: TensorLike,
    b_values: TensorLike,
    b_shape: TensorLike,
    name: str | None = ...,
) -> _SparseSparseMaximum: ...
class _SparseSparseMinimum(NamedTuple):
    output_indices: Tensor
    output_values: Tensor

def SparseSparseMinimum(
    a_indices: TensorLike,
    a_values: TensorLike,
    a_shape: TensorLike,
    b_indices: TensorLike,
    b_values: TensorLike,
    b_shape: TensorLike,
    name: str | None = ...,
) -> _SparseSparseMinimum: ...
class _SparseSplit(NamedTuple):
    output_indices: list[Tensor]
    output_values: list[Tensor]
    output_shape: list[Tensor]

def SparseSplit(
    split_dim: TensorLike,
    indices: TensorLike,
    values: TensorLike,
    shape: TensorLike,
    num_split: int,
    name: str | None = ...,
) -> _SparseSplit: ...
def SparseTensorDenseAdd(
    a_indices: TensorLike,
    a_values: TensorLike,
    a_shape: TensorLike,
    b: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SparseTensorDenseMatMul(
    a_indices: TensorLike,
    a_values: TensorLike,
    a_shape: TensorLike,
    b: TensorLike,
    adjoint_a: bool | None = ...,
    adjoint_b: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def SparseTensorSliceDataset(
    indices: TensorLike,
    values: TensorLike,
    dense_shape: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SparseToDense(
    sparse_indices: TensorLike,
    output_shape: TensorLike,
    sparse_values: TensorLike,
    default_value: TensorLike,
    validate_indices: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _SparseToSparseSetOperation(NamedTuple):
    result_indices: Tensor
    result_values: Tensor
    result_shape: Tensor

def SparseToSparseSetOperation(
    set1_indices: TensorLike,
    set1_values: TensorLike,
    set1_shape: TensorLike,
    set2_indices: TensorLike,
    set2_values: TensorLike,
    set2_shape: TensorLike,
    set_operation: bytes | str,
    validate_indices: bool | None = ...,
    name: str | None = ...,
) -> _SparseToSparseSetOperation: ...
def Split(
    axis: TensorLike,
    value: TensorLike,
    num_split: int,
    name: str | None = ...,
) -> list[Tensor]: ...
def SplitV(
    value: TensorLike,
    size_splits: TensorLike,
    axis: TensorLike,
    num_split: int,
    name: str | None = ...,
) -> list[Tensor]: ...
def SqlDataset(
    driver_name: TensorLike,
    data_source_name: TensorLike,
    query: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def Sqrt(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SqrtGrad(
    y: TensorLike,
    dy: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Square(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def SquaredDifference(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Squeeze(
    input: TensorLike,
    axis: Sequence[int] | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Stack(
    elem_type: DTypeLike,
    stack_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def StackClose(
    handle: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def StackCloseV2(
    handle: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def StackPop(
    handle: TensorLike,
    elem_type: DTypeLike,
    name: str | None = ...,
) -> Tensor: ...
def StackPopV2(
    handle: TensorLike,
    elem_type: DTypeLike,
    name: str | None = ...,
) -> Tensor: ...
def StackPush(
    handle: TensorLike,
    elem: TensorLike,
    swap_memory: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def StackPushV2(
    handle: TensorLike,
    elem: TensorLike,
    swap_memory: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def StackV2(
    max_size: TensorLike,
    elem_type: DTypeLike,
    stack_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Stage(
    values: Sequence[TensorLike] | Tensor,
    capacity: int | None = ...,
    memory_limit: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Operation: ...
def StageClear(
    dtypes: Sequence[DTypeLike],
    capacity: int | None = ...,
    memory_limit: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Operation: ...
def StagePeek(
    index: TensorLike,
    dtypes: Sequence[DTypeLike],
    capacity: int | None = ...,
    memory_limit: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> list[Tensor]: ...
def StageSize(
    dtypes: Sequence[DTypeLike],
    capacity: int | None = ...,
    memory_limit: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def StatefulPartitionedCall(
    args: Sequence[TensorLike] | Tensor,
    Tout: Sequence[DTypeLike],
    f: object,
    config: bytes | str | None = ...,
    config_proto: bytes | str | None = ...,
    executor_type: bytes | str | None = ...,
    name: str | None = ...,
) -> list[Tensor]: ...
def StatefulRandomBinomial(
    resource: TensorLike,
    algorithm: TensorLike,
    shape: TensorLike,
    counts: TensorLike,
    probs: TensorLike,
    dtype: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def StatefulStandardNormal(
    resource: TensorLike,
    shape: TensorLike,
    dtype: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def StatefulStandardNormalV2(
    resource: TensorLike,
    algorithm: TensorLike,
    shape: TensorLike,
    dtype: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def StatefulTruncatedNormal(
    resource: TensorLike,
    algorithm: TensorLike,
    shape: TensorLike,
    dtype: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def StatefulUniform(
    resource: TensorLike,
    algorithm: TensorLike,
    shape: TensorLike,
    dtype: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def StatefulUniformFullInt(
    resource: TensorLike,
    algorithm: TensorLike,
    shape: TensorLike,
    dtype: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def StatefulUniformInt(
    resource: TensorLike,
    algorithm: TensorLike,
    shape: TensorLike,
    minval: TensorLike,
    maxval: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def StatelessCase(
    branch_index: TensorLike,
    input: Sequence[TensorLike] | Tensor,
    Tout: Sequence[DTypeLike],
    branches: Sequence[object],
    output_shapes: Sequence[ShapeLike] | None = ...,
    name: str | None = ...,
) -> list[Tensor]: ...
def StatelessIf(
    cond: TensorLike,
    input: Sequence[TensorLike] | Tensor,
    Tout: Sequence[DTypeLike],
    then_branch: object,
    else_branch: object,
    output_shapes: Sequence[ShapeLike] | None = ...,
    name: str | None = ...,
) -> list[Tensor]: ...
def StatelessMultinomial(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: TensorLike,
    output_dtype: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def StatelessRandomNormal(
    shape: TensorLike,
    seed: TensorLike,
    dtype: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def StatelessRandomUniform(
    shape: TensorLike,
    seed: TensorLike,
    dtype: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def StatelessRandomUniformInt(
    shape: TensorLike,
    seed: TensorLike,
    minval: TensorLike,
    maxval: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def StatelessTruncatedNormal(
    shape: TensorLike,
    seed: TensorLike,
    dtype: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def StatelessWhile(
    input: Sequence[TensorLike] | Tensor,
    cond: object,
    body: object,
    output_shapes: Sequence[ShapeLike] | None = ...,
    parallel_iterations: int | None = ...,
    name: str | None = ...,
) -> list[Tensor]: ...
def StaticRegexFullMatch(
    input: TensorLike,
    pattern: bytes | str,
    name: str | None = ...,
) -> Tensor: ...
def StaticRegexReplace(
    input: TensorLike,
    pattern: bytes | str,
    rewrite: bytes | str,
    replace_global: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def StatsAggregatorHandle(
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def StatsAggregatorSummary(
    iterator: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def StopGradient(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def StridedSlice(
    input: TensorLike,
    begin: TensorLike,
    end: TensorLike,
    strides: TensorLike,
    begin_mask: int | None = ...,
    end_mask: int | None = ...,
    ellipsis_mask: int | None = ...,
    new_axis_mask: int | None = ...,
    shrink_axis_mask: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def StridedSliceAssign(
    ref: TensorLike,
    begin: TensorLike,
    end: TensorLike,
    strides: TensorLike,
    value: TensorLike,
    begin_mask: int | None = ...,
    end_mask: int | None = ...,
    ellipsis_mask: int | None = ...,
    new_axis_mask: int | None = ...,
    shrink_axis_mask: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def StridedSliceGrad(
    shape: TensorLike,
    begin: TensorLike,
    end: TensorLike,
    strides: TensorLike,
    dy: TensorLike,
    begin_mask: int | None = ...,
    end_mask: int | None = ...,
    ellipsis_mask: int | None = ...,
    new_axis_mask: int | None = ...,
    shrink_axis_mask: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def StringFormat(
    inputs: Sequence[TensorLike] | Tensor,
    template: bytes | str | None = ...,
    placeholder: bytes | str | None = ...,
    summarize: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def StringJoin(
    inputs: Sequence[TensorLike] | Tensor,
    separator: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def StringLength(
    input: TensorLike,
    unit: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def StringLower(
    input: TensorLike,
    encoding: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _StringNGrams(NamedTuple):
    ngrams: Tensor
    ngrams_splits: Tensor

def StringNGrams(
    data: TensorLike,
    data_splits: TensorLike,
    separator: bytes | str,
    ngram_widths: Sequence[int],
    left_pad: bytes | str,
    right_pad: bytes | str,
    pad_width: int,
    preserve_short_sequences: bool,
    name: str | None = ...,
) -> _StringNGrams: ...
class _StringSplit(NamedTuple):
    indices: Tensor
    values: Tensor
    shape: Tensor

def StringSplit(
    input: TensorLike,
    delimiter: TensorLike,
    skip_empty: bool | None = ...,
    name: str | None = ...,
) -> _StringSplit: ...
class _StringSplitV2(NamedTuple):
    indices: Tensor
    values: Tensor
    shape: Tensor

def StringSplitV2(
    input: TensorLike,
    sep: TensorLike,
    maxsplit: int | None = ...,
    name: str | None = ...,
) -> _StringSplitV2: ...
def StringStrip(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def StringToHashBucket(
    string_tensor: TensorLike,
    num_buckets: int,
    name: str | None = ...,
) -> Tensor: ...
def StringToHashBucketFast(
    input: TensorLike,
    num_buckets: int,
    name: str | None = ...,
) -> Tensor: ...
def StringToHashBucketStrong(
    input: TensorLike,
    num_buckets: int,
    key: Sequence[int],
    name: str | None = ...,
) -> Tensor: ...
def StringToNumber(
    string_tensor: TensorLike,
    out_type: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def StringUpper(
    input: TensorLike,
    encoding: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Sub(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Substr(
    input: TensorLike,
    pos: TensorLike,
    len: TensorLike,
    unit: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Sum(
    input: TensorLike,
    axis: TensorLike,
    keep_dims: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def SummaryWriter(
    shared_name: bytes | str | None = ...,
    container: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _Svd(NamedTuple):
    s: Tensor
    u: Tensor
    v: Tensor

def Svd(
    input: TensorLike,
    compute_uv: bool | None = ...,
    full_matrices: bool | None = ...,
    name: str | None = ...,
) -> _Svd: ...
class _Switch(NamedTuple):
    output_false: Tensor
    output_true: Tensor

def Switch(
    data: TensorLike,
    pred: TensorLike,
    name: str | None = ...,
) -> _Switch: ...
def SymbolicGradient(
    input: Sequence[TensorLike] | Tensor,
    Tout: Sequence[DTypeLike],
    f: object,
    name: str | None = ...,
) -> list[Tensor]: ...
def TFRecordDataset(
    filenames: TensorLike,
    compression_type: TensorLike,
    buffer_size: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TFRecordReader(
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    compression_type: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def TFRecordReaderV2(
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    compression_type: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def TakeDataset(
    input_dataset: TensorLike,
    count: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
class _TakeManySparseFromTensorsMap(NamedTuple):
    sparse_indices: Tensor
    sparse_values: Tensor
    sparse_shape: Tensor

def TakeManySparseFromTensorsMap(
    sparse_handles: TensorLike,
    dtype: DTypeLike,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> _TakeManySparseFromTensorsMap: ...
def TakeWhileDataset(
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike] | Tensor,
    predicate: object,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def Tan(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Tanh(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TanhGrad(
    y: TensorLike,
    dy: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TemporaryVariable(
    shape: ShapeLike,
    dtype: DTypeLike,
    var_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def TensorArray(
    size: TensorLike,
    dtype: DTypeLike,
    dynamic_size: bool | None = ...,
    clear_after_read: bool | None = ...,
    tensor_array_name: bytes | str | None = ...,
    element_shape: ShapeLike = ...,
    name: str | None = ...,
) -> Tensor: ...
def TensorArrayClose(
    handle: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def TensorArrayCloseV2(
    handle: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def TensorArrayCloseV3(
    handle: TensorLike,
    name: str | None = ...,
) -> Operation: ...
class _TensorArrayConcat(NamedTuple):
    value: Tensor
    lengths: Tensor

def TensorArrayConcat(
    handle: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    element_shape_except0: ShapeLike = ...,
    name: str | None = ...,
) -> _TensorArrayConcat: ...
class _TensorArrayConcatV2(NamedTuple):
    value: Tensor
    lengths: Tensor

def TensorArrayConcatV2(
    handle: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    element_shape_except0: ShapeLike = ...,
    name: str | None = ...,
) -> _TensorArrayConcatV2: ...
class _TensorArrayConcatV3(NamedTuple):
    value: Tensor
    lengths: Tensor

def TensorArrayConcatV3(
    handle: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    element_shape_except0: ShapeLike = ...,
    name: str | None = ...,
) -> _TensorArrayConcatV3: ...
def TensorArrayGather(
    handle: TensorLike,
    indices: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    element_shape: ShapeLike = ...,
    name: str | None = ...,
) -> Tensor: ...
def TensorArrayGatherV2(
    handle: TensorLike,
    indices: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    element_shape: ShapeLike = ...,
    name: str | None = ...,
) -> Tensor: ...
def TensorArrayGatherV3(
    handle: TensorLike,
    indices: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    element_shape: ShapeLike = ...,
    name: str | None = ...,
) -> Tensor: ...
def TensorArrayGrad(
    handle: TensorLike,
    flow_in: TensorLike,
    source: bytes | str,
    name: str | None = ...,
) -> Tensor: ...
def TensorArrayGradV2(
    handle: TensorLike,
    flow_in: TensorLike,
    source: bytes | str,
    name: str | None = ...,
) -> Tensor: ...
class _TensorArrayGradV3(NamedTuple):
    grad_handle: Tensor
    flow_out: Tensor

def TensorArrayGradV3(
    handle: TensorLike,
    flow_in: TensorLike,
    source: bytes | str,
    name: str | None = ...,
) -> _TensorArrayGradV3: ...
class _TensorArrayGradWithShape(NamedTuple):
    grad_handle: Tensor
    flow_out: Tensor

def TensorArrayGradWithShape(
    handle: TensorLike,
    flow_in: TensorLike,
    shape_to_prepend: TensorLike,
    source: bytes | str,
    name: str | None = ...,
) -> _TensorArrayGradWithShape: ...
def TensorArrayPack(
    handle: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    element_shape: ShapeLike = ...,
    name: str | None = ...,
) -> Tensor: ...
def TensorArrayRead(
    handle: TensorLike,
    index: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorArrayReadV2(
    handle: TensorLike,
    index: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorArrayReadV3(
    handle: TensorLike,
    index: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorArrayScatter(
    handle: TensorLike,
    indices: TensorLike,
    value: TensorLike,
    flow_in: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorArrayScatterV2(
    handle: TensorLike,
    indices: TensorLike,
    value: TensorLike,
    flow_in: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorArrayScatterV3(
    handle: TensorLike,
    indices: TensorLike,
    value: TensorLike,
    flow_in: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorArraySize(
    handle: TensorLike,
    flow_in: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorArraySizeV2(
    handle: TensorLike,
    flow_in: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorArraySizeV3(
    handle: TensorLike,
    flow_in: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorArraySplit(
    handle: TensorLike,
    value: TensorLike,
    lengths: TensorLike,
    flow_in: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorArraySplitV2(
    handle: TensorLike,
    value: TensorLike,
    lengths: TensorLike,
    flow_in: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorArraySplitV3(
    handle: TensorLike,
    value: TensorLike,
    lengths: TensorLike,
    flow_in: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorArrayUnpack(
    handle: TensorLike,
    value: TensorLike,
    flow_in: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorArrayV2(
    size: TensorLike,
    dtype: DTypeLike,
    element_shape: ShapeLike = ...,
    dynamic_size: bool | None = ...,
    clear_after_read: bool | None = ...,
    tensor_array_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _TensorArrayV3(NamedTuple):
    handle: Tensor
    flow: Tensor

def TensorArrayV3(
    size: TensorLike,
    dtype: DTypeLike,
    element_shape: ShapeLike = ...,
    dynamic_size: bool | None = ...,
    clear_after_read: bool | None = ...,
    identical_element_shapes: bool | None = ...,
    tensor_array_name: bytes | str | None = ...,
    name: str | None = ...,
) -> _TensorArrayV3: ...
def TensorArrayWrite(
    handle: TensorLike,
    index: TensorLike,
    value: TensorLike,
    flow_in: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorArrayWriteV2(
    handle: TensorLike,
    index: TensorLike,
    value: TensorLike,
    flow_in: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorArrayWriteV3(
    handle: TensorLike,
    index: TensorLike,
    value: TensorLike,
    flow_in: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorDataset(
    components: Sequence[TensorLike] | Tensor,
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
class _TensorListConcat(NamedTuple):
    tensor: Tensor
    lengths: Tensor

def TensorListConcat(
    input_handle: TensorLike,
    element_dtype: DTypeLike,
    element_shape: ShapeLike = ...,
    name: str | None = ...,
) -> _TensorListConcat: ...
def TensorListConcatLists(
    input_a: TensorLike,
    input_b: TensorLike,
    element_dtype: DTypeLike,
    name: str | None = ...,
) -> Tensor: ...
class _TensorListConcatV2(NamedTuple):
    tensor: Tensor
    lengths: Tensor

def TensorListConcatV2(
    input_handle: TensorLike,
    element_shape: TensorLike,
    leading_dims: TensorLike,
    element_dtype: DTypeLike,
    name: str | None = ...,
) -> _TensorListConcatV2: ...
def TensorListElementShape(
    input_handle: TensorLike,
    shape_type: DTypeLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorListFromTensor(
    tensor: TensorLike,
    element_shape: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorListGather(
    input_handle: TensorLike,
    indices: TensorLike,
    element_shape: TensorLike,
    element_dtype: DTypeLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorListGetItem(
    input_handle: TensorLike,
    index: TensorLike,
    element_shape: TensorLike,
    element_dtype: DTypeLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorListLength(
    input_handle: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
class _TensorListPopBack(NamedTuple):
    output_handle: Tensor
    tensor: Tensor

def TensorListPopBack(
    input_handle: TensorLike,
    element_shape: TensorLike,
    element_dtype: DTypeLike,
    name: str | None = ...,
) -> _TensorListPopBack: ...
def TensorListPushBack(
    input_handle: TensorLike,
    tensor: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorListPushBackBatch(
    input_handles: TensorLike,
    tensor: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorListReserve(
    element_shape: TensorLike,
    num_elements: TensorLike,
    element_dtype: DTypeLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorListResize(
    input_handle: TensorLike,
    size: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorListScatter(
    tensor: TensorLike,
    indices: TensorLike,
    element_shape: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorListScatterIntoExistingList(
    input_handle: TensorLike,
    tensor: TensorLike,
    indices: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorListScatterV2(
    tensor: TensorLike,
    indices: TensorLike,
    element_shape: TensorLike,
    num_elements: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorListSetItem(
    input_handle: TensorLike,
    index: TensorLike,
    item: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorListSplit(
    tensor: TensorLike,
    element_shape: TensorLike,
    lengths: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorListStack(
    input_handle: TensorLike,
    element_shape: TensorLike,
    element_dtype: DTypeLike,
    num_elements: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def TensorScatterAdd(
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorScatterSub(
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorScatterUpdate(
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TensorSliceDataset(
    components: Sequence[TensorLike] | Tensor,
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def TensorStridedSliceUpdate(
    input: TensorLike,
    begin: TensorLike,
    end: TensorLike,
    strides: TensorLike,
    value: TensorLike,
    begin_mask: int | None = ...,
    end_mask: int | None = ...,
    ellipsis_mask: int | None = ...,
    new_axis_mask: int | None = ...,
    shrink_axis_mask: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def TensorSummary(
    tensor: TensorLike,
    description: bytes | str | None = ...,
    labels: Sequence[bytes | str] | None = ...,
    display_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def TensorSummaryV2(
    tag: TensorLike,
    tensor: TensorLike,
    serialized_summary_metadata: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TextLineDataset(
    filenames: TensorLike,
    compression_type: TensorLike,
    buffer_size: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TextLineReader(
    skip_header_lines: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def TextLineReaderV2(
    skip_header_lines: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def ThreadPoolDataset(
    input_dataset: TensorLike,
    thread_pool: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def ThreadPoolHandle(
    num_threads: int,
    display_name: bytes | str,
    max_intra_op_parallelism: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _ThreadUnsafeUnigramCandidateSampler(NamedTuple):
    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor

def ThreadUnsafeUnigramCandidateSampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = ...,
    seed2: int | None = ...,
    name: str | None = ...,
) -> _ThreadUnsafeUnigramCandidateSampler: ...
def Tile(
    input: TensorLike,
    multiples: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TileGrad(
    input: TensorLike,
    multiples: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Timestamp(
    name: str | None = ...,
) -> Tensor: ...
class _TopK(NamedTuple):
    values: Tensor
    indices: Tensor

def TopK(
    input: TensorLike,
    k: int,
    sorted: bool | None = ...,
    name: str | None = ...,
) -> _TopK: ...
class _TopKV2(NamedTuple):
    values: Tensor
    indices: Tensor

def TopKV2(
    input: TensorLike,
    k: TensorLike,
    sorted: bool | None = ...,
    name: str | None = ...,
) -> _TopKV2: ...
def Transpose(
    x: TensorLike,
    perm: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TridiagonalMatMul(
    superdiag: TensorLike,
    maindiag: TensorLike,
    subdiag: TensorLike,
    rhs: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TridiagonalSolve(
    diagonals: TensorLike,
    rhs: TensorLike,
    partial_pivoting: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def TruncateDiv(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TruncateMod(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def TruncatedNormal(
    shape: TensorLike,
    dtype: DTypeLike,
    seed: int | None = ...,
    seed2: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def Unbatch(
    batched_tensor: TensorLike,
    batch_index: TensorLike,
    id: TensorLike,
    timeout_micros: int,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def UnbatchDataset(
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def UnbatchGrad(
    original_input: TensorLike,
    batch_index: TensorLike,
    grad: TensorLike,
    id: TensorLike,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _UnicodeDecode(NamedTuple):
    row_splits: Tensor
    char_values: Tensor

def UnicodeDecode(
    input: TensorLike,
    input_encoding: bytes | str,
    errors: bytes | str | None = ...,
    replacement_char: int | None = ...,
    replace_control_characters: bool | None = ...,
    Tsplits: DTypeLike | None = ...,
    name: str | None = ...,
) -> _UnicodeDecode: ...
class _UnicodeDecodeWithOffsets(NamedTuple):
    row_splits: Tensor
    char_values: Tensor
    char_to_byte_starts: Tensor

def UnicodeDecodeWithOffsets(
    input: TensorLike,
    input_encoding: bytes | str,
    errors: bytes | str | None = ...,
    replacement_char: int | None = ...,
    replace_control_characters: bool | None = ...,
    Tsplits: DTypeLike | None = ...,
    name: str | None = ...,
) -> _UnicodeDecodeWithOffsets: ...
def UnicodeEncode(
    input_values: TensorLike,
    input_splits: TensorLike,
    output_encoding: bytes | str,
    errors: bytes | str | None = ...,
    replacement_char: int | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def UnicodeScript(
    input: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def UnicodeTranscode(
    input: TensorLike,
    input_encoding: bytes | str,
    output_encoding: bytes | str,
    errors: bytes | str | None = ...,
    replacement_char: int | None = ...,
    replace_control_characters: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _UniformCandidateSampler(NamedTuple):
    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor

def UniformCandidateSampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = ...,
    seed2: int | None = ...,
    name: str | None = ...,
) -> _UniformCandidateSampler: ...
class _Unique(NamedTuple):
    y: Tensor
    idx: Tensor

def Unique(
    x: TensorLike,
    out_idx: DTypeLike | None = ...,
    name: str | None = ...,
) -> _Unique: ...
def UniqueDataset(
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
class _UniqueV2(NamedTuple):
    y: Tensor
    idx: Tensor

def UniqueV2(
    x: TensorLike,
    axis: TensorLike,
    out_idx: DTypeLike | None = ...,
    name: str | None = ...,
) -> _UniqueV2: ...
class _UniqueWithCounts(NamedTuple):
    y: Tensor
    idx: Tensor
    count: Tensor  # type: ignore[assignment]

def UniqueWithCounts(
    x: TensorLike,
    out_idx: DTypeLike | None = ...,
    name: str | None = ...,
) -> _UniqueWithCounts: ...
class _UniqueWithCountsV2(NamedTuple):
    y: Tensor
    idx: Tensor
    count: Tensor  # type: ignore[assignment]

def UniqueWithCountsV2(
    x: TensorLike,
    axis: TensorLike,
    out_idx: DTypeLike | None = ...,
    name: str | None = ...,
) -> _UniqueWithCountsV2: ...
def Unpack(
    value: TensorLike,
    num: int,
    axis: int | None = ...,
    name: str | None = ...,
) -> list[Tensor]: ...
def UnravelIndex(
    indices: TensorLike,
    dims: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def UnsortedSegmentJoin(
    inputs: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    separator: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def UnsortedSegmentMax(
    data: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def UnsortedSegmentMin(
    data: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def UnsortedSegmentProd(
    data: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def UnsortedSegmentSum(
    data: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Unstage(
    dtypes: Sequence[DTypeLike],
    capacity: int | None = ...,
    memory_limit: int | None = ...,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> list[Tensor]: ...
def UnwrapDatasetVariant(
    input_handle: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def UpperBound(
    sorted_inputs: TensorLike,
    values: TensorLike,
    out_type: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def VarHandleOp(
    dtype: DTypeLike,
    shape: ShapeLike,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def VarIsInitializedOp(
    resource: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Variable(
    shape: ShapeLike,
    dtype: DTypeLike,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def VariableShape(
    input: TensorLike,
    out_type: DTypeLike | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def VariableV2(
    shape: ShapeLike,
    dtype: DTypeLike,
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
class _WALSComputePartialLhsAndRhs(NamedTuple):
    partial_lhs: Tensor
    partial_rhs: Tensor

def WALSComputePartialLhsAndRhs(
    factors: TensorLike,
    factor_weights: TensorLike,
    unobserved_weights: TensorLike,
    input_weights: TensorLike,
    input_indices: TensorLike,
    input_values: TensorLike,
    entry_weights: TensorLike,
    input_block_size: TensorLike,
    input_is_transpose: TensorLike,
    name: str | None = ...,
) -> _WALSComputePartialLhsAndRhs: ...
def Where(
    condition: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def While(
    input: Sequence[TensorLike] | Tensor,
    cond: object,
    body: object,
    output_shapes: Sequence[ShapeLike] | None = ...,
    parallel_iterations: int | None = ...,
    name: str | None = ...,
) -> list[Tensor]: ...
def WholeFileReader(
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def WholeFileReaderV2(
    container: bytes | str | None = ...,
    shared_name: bytes | str | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def WindowDataset(
    input_dataset: TensorLike,
    size: TensorLike,
    shift: TensorLike,
    stride: TensorLike,
    drop_remainder: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def WrapDatasetVariant(
    input_handle: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def WriteAudioSummary(
    writer: TensorLike,
    step: TensorLike,
    tag: TensorLike,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int | None = ...,
    name: str | None = ...,
) -> Operation: ...
def WriteFile(
    filename: TensorLike,
    contents: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def WriteGraphSummary(
    writer: TensorLike,
    step: TensorLike,
    tensor: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def WriteHistogramSummary(
    writer: TensorLike,
    step: TensorLike,
    tag: TensorLike,
    values: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def WriteImageSummary(
    writer: TensorLike,
    step: TensorLike,
    tag: TensorLike,
    tensor: TensorLike,
    bad_color: TensorLike,
    max_images: int | None = ...,
    name: str | None = ...,
) -> Operation: ...
def WriteRawProtoSummary(
    writer: TensorLike,
    step: TensorLike,
    tensor: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def WriteScalarSummary(
    writer: TensorLike,
    step: TensorLike,
    tag: TensorLike,
    value: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def WriteSummary(
    writer: TensorLike,
    step: TensorLike,
    tensor: TensorLike,
    tag: TensorLike,
    summary_metadata: TensorLike,
    name: str | None = ...,
) -> Operation: ...
def Xdivy(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Xlogy(
    x: TensorLike,
    y: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ZerosLike(
    x: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def Zeta(
    x: TensorLike,
    q: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def ZipDataset(
    input_datasets: Sequence[TensorLike] | Tensor,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = ...,
) -> Tensor: ...
def _HostRecv(
    tensor_type: DTypeLike,
    tensor_name: bytes | str,
    send_device: bytes | str,
    send_device_incarnation: int,
    recv_device: bytes | str,
    client_terminated: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def _HostSend(
    tensor: TensorLike,
    tensor_name: bytes | str,
    send_device: bytes | str,
    send_device_incarnation: int,
    recv_device: bytes | str,
    client_terminated: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def _If(
    cond: TensorLike,
    input: Sequence[TensorLike] | Tensor,
    Tout: Sequence[DTypeLike],
    then_branch: object,
    else_branch: object,
    name: str | None = ...,
) -> list[Tensor]: ...
def _Recv(
    tensor_type: DTypeLike,
    tensor_name: bytes | str,
    send_device: bytes | str,
    send_device_incarnation: int,
    recv_device: bytes | str,
    client_terminated: bool | None = ...,
    name: str | None = ...,
) -> Tensor: ...
def _Send(
    tensor: TensorLike,
    tensor_name: bytes | str,
    send_device: bytes | str,
    send_device_incarnation: int,
    recv_device: bytes | str,
    client_terminated: bool | None = ...,
    name: str | None = ...,
) -> Operation: ...
def _SerializeSparseRows(
    indices: TensorLike,
    values: TensorLike,
    lengths: TensorLike,
    shapes: TensorLike,
    name: str | None = ...,
) -> Tensor: ...
def _While(
    input: Sequence[TensorLike] | Tensor,
    cond: object,
    body: object,
    name: str | None = ...,
) -> list[Tensor]: ...
