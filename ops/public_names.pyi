# SPDX-License-Identifier: Apache-2.0
"""The public names of the top level, as `tf` finds them; written by docs/stubs.py."""

from typing import Any

from .state.variable_store import AUTO_REUSE as AUTO_REUSE
from ..engine.gradients.autodiff_sums import AggregationMethod as AggregationMethod
from .checks.asserts import Assert as Assert
from .queues.accumulators import ConditionalAccumulator as ConditionalAccumulator
from .queues.accumulators import ConditionalAccumulatorBase as ConditionalAccumulatorBase
from .queues.mutex import CriticalSection as CriticalSection
from ..engine.types.dtypes import DType as DType
from ..engine.graph.devices import DeviceSpecV1 as _DeviceSpec
from ..engine.types.shape import Dimension as Dimension
from .queues.queues import FIFOQueue as FIFOQueue
from .parsing.features import FixedLenFeature as FixedLenFeature
from .parsing.features import FixedLenSequenceFeature as FixedLenSequenceFeature
from .queues.readers import FixedLengthRecordReader as FixedLengthRecordReader
from ..engine.graph.graph import Graph as Graph
from ..engine.graph.collections import GraphKeys as GraphKeys
from .queues.readers import IdentityReader as IdentityReader
from ..engine.graph.tensor import IndexedSlices as IndexedSlices
from ..engine.interface.specs import IndexedSlicesSpec as IndexedSlicesSpec
from ..engine.graph.tensor import IndexedSlicesValue as IndexedSlicesValue
from ..engine.session.session import InteractiveSession as InteractiveSession
from .queues.readers import LMDBReader as LMDBReader
from ..engine.gradients.autodiff_registry import no_gradient as _NoGradient
from ..engine.gradients.autodiff_registry import no_gradient as _NotDifferentiable
from ..engine.errors import OpError as OpError
from ..engine.graph.operation import Operation as Operation
from .data.optional import OptionalSpec as OptionalSpec
from .queues.queues import PaddingFIFOQueue as PaddingFIFOQueue
from .checks.logging import Print as Print
from .queues.queues import PriorityQueue as PriorityQueue
from ..engine.types.dtypes import QUANTIZED_DTYPES as QUANTIZED_DTYPES
from .queues.queues import QueueBase as QueueBase
from .ragged.tensor import RaggedTensor as RaggedTensor
from .ragged.spec import RaggedTensorSpec as RaggedTensorSpec
from .queues.queues import RandomShuffleQueue as RandomShuffleQueue
from .queues.readers import ReaderBase as ReaderBase
from ..engine.gradients.autodiff_registry import RegisterGradient as RegisterGradient
from ..engine.session.session import Session as Session
from .queues.accumulators import SparseConditionalAccumulator as SparseConditionalAccumulator
from .parsing.features import SparseFeature as SparseFeature
from ..engine.graph.tensor import SparseTensor as SparseTensor
from ..engine.interface.specs import SparseTensorSpec as SparseTensorSpec
from ..engine.graph.tensor import SparseTensorValue as SparseTensorValue
from .queues.readers import TFRecordReader as TFRecordReader
from ..engine.graph.tensor import Tensor as Tensor
from .flow.tensor_array import TensorArray as TensorArray
from .flow.tensor_list_array import TensorArraySpec as TensorArraySpec
from ..engine.types.shape import TensorShape as TensorShape
from ..engine.interface.specs import TensorSpec as TensorSpec
from .queues.readers import TextLineReader as TextLineReader
from ..engine.interface.specs import TypeSpec as TypeSpec
from ..engine.gradients.autodiff import UnconnectedGradients as UnconnectedGradients
from .parsing.features import VarLenFeature as VarLenFeature
from .state.variables import Variable as Variable
from .state.variable_modes import VariableAggregation as VariableAggregation
from .state.scope_defaults import VariableScope as VariableScope
from .state.variable_modes import VariableSynchronization as VariableSynchronization
from .queues.readers import WholeFileReader as WholeFileReader
from .math.unary import abs as abs
from .math.sums import accumulate_n as accumulate_n
from .raw_ops import Acos as _acos
from .raw_ops import Acosh as _acosh
from .raw_ops import Add as _add
from .checks.numerics import add_check_numerics_ops as add_check_numerics_ops
from .math.sums import add_n as add_n
from ..engine.graph.collections import add_to_collection as add_to_collection
from ..engine.graph.collections import add_to_collections as add_to_collections
from .state.variable_collections import all_variables as all_variables
from .math.complex import angle as angle
from .math.reduce_public import arg_max as arg_max
from .math.reduce_public import arg_min as arg_min
from .math.reduce_public import argmax as argmax
from .math.reduce_public import argmin as argmin
from .array.sort import argsort as argsort
from ..engine.types.dtypes import as_dtype as as_dtype
from .strings.format import as_string as as_string
from .raw_ops import Asin as _asin
from .raw_ops import Asinh as _asinh
from .checks.asserts import assert_equal as assert_equal
from .checks.asserts import assert_greater as assert_greater
from .checks.asserts import assert_greater_equal as assert_greater_equal
from .checks.shape import assert_integer as assert_integer
from .checks.asserts import assert_less as assert_less
from .checks.asserts import assert_less_equal as assert_less_equal
from .checks.asserts import assert_near as assert_near
from .checks.asserts import assert_negative as assert_negative
from .checks.asserts import assert_non_negative as assert_non_negative
from .checks.asserts import assert_non_positive as assert_non_positive
from .checks.asserts import assert_none_equal as assert_none_equal
from .checks.asserts import assert_positive as assert_positive
from .checks.asserts import assert_proper_iterable as assert_proper_iterable
from .checks.shape import assert_rank as assert_rank
from .checks.shape import assert_rank_at_least as assert_rank_at_least
from .checks.shape import assert_rank_in as assert_rank_in
from .checks.shape import assert_same_float_dtype as assert_same_float_dtype
from .checks.shape import assert_scalar as assert_scalar
from .checks.shape import assert_type as assert_type
from .state.variable_collections import assert_variables_initialized as assert_variables_initialized
from .state.reference import assign as assign
from .state.reference import assign_add as assign_add
from .state.reference import assign_sub as assign_sub
from .raw_ops import Atan as _atan
from .raw_ops import Atan2 as _atan2
from .raw_ops import Atanh as _atanh
from .array.gather import batch_gather as batch_gather
from .state.scatter import batch_scatter_update as batch_scatter_update
from .array.blocks import batch_to_space as batch_to_space
from .array.blocks import batch_to_space_nd as batch_to_space_nd
from .raw_ops import Betainc as _betainc
from ..engine.types.dtypes import bfloat16 as bfloat16
from .math.sums import bincount as bincount
from .array.identity import bitcast as bitcast
from ..engine.types.dtypes import bool as bool
from .array.scatter import boolean_mask as boolean_mask
from .array.broadcast import broadcast_dynamic_shape as broadcast_dynamic_shape
from ..engine.types.shape import broadcast_static_shape as broadcast_static_shape
from .array.broadcast import broadcast_to as broadcast_to
from .flow.cond import case as case
from .math.cast import cast as cast
from .raw_ops import Ceil as _ceil
from .array.identity import check_numerics as check_numerics
from .raw_ops import Cholesky as _cholesky
from .linalg.solve import cholesky_solve as cholesky_solve
from .math.clip import clip_by_average_norm as clip_by_average_norm
from .math.clip import clip_by_global_norm as clip_by_global_norm
from .math.clip import clip_by_norm as clip_by_norm
from .math.clip import clip_by_value as clip_by_value
from ..engine.graph.scope_functions import colocate_with as colocate_with
from .math.complex import complex as complex
from ..engine.types.dtypes import complex128 as complex128
from ..engine.types.dtypes import complex64 as complex64
from .array.join import concat as concat
from .flow.cond import cond as cond
from .sparse.arithmetic import confusion_matrix as confusion_matrix
from .math.complex import conj as conj
from .array.constant import constant_v1 as _constant
from .state.init import Constant as _constant_initializer
from ..engine.graph.scope_functions import container as container
from ..engine.graph.scope_functions import control_dependencies as control_dependencies
from .flow.toggles import control_flow_v2_enabled as control_flow_v2_enabled
from ..engine.graph.convert import convert_to_tensor as convert_to_tensor
from ..engine.graph.convert import convert_to_tensor_or_indexed_slices as convert_to_tensor_or_indexed_slices
from ..engine.graph.convert import convert_to_tensor_or_sparse_tensor as convert_to_tensor_or_sparse_tensor
from .raw_ops import Cos as _cos
from .raw_ops import Cosh as _cosh
from .math.reduce_public import count_nonzero as count_nonzero
from .state.reference import count_up_to as count_up_to
from .state.variable_partitioners import create_partitioned_variables as create_partitioned_variables
from .raw_ops import Cross as _cross
from .math.reduce_scan import cumprod as cumprod
from .math.reduce_scan import cumsum as cumsum
from .flow.custom_gradient import custom_gradient as custom_gradient
from .strings.substrings import decode_base64 as decode_base64
from .strings.decoding import decode_compressed as decode_compressed
from .parsing.csv import decode_csv as decode_csv
from .strings.decoding import decode_json_example as decode_json_example
from .strings.decoding import decode_raw_v1 as _decode_raw
from .state.session_handles import delete_session_tensor as delete_session_tensor
from .array.blocks import depth_to_space as depth_to_space
from .raw_ops import Dequantize as _dequantize
from .sparse.serialize import deserialize_many_sparse as deserialize_many_sparse
from ..engine.graph.scope_functions import device as device
from .array.matrix_diag import diag as diag
from .array.matrix_diag import diag_part as diag_part
from .raw_ops import Digamma as _digamma
from ..engine.types.shape import dimension_at_index as dimension_at_index
from ..engine.types.shape import dimension_value as dimension_value
from .flow.toggles import disable_control_flow_v2 as disable_control_flow_v2
from .state.variable_store import disable_resource_variables as disable_resource_variables
from .flow.toggles import disable_v2_behavior as disable_v2_behavior
from ..engine.types.shape import disable_v2_tensorshape as disable_v2_tensorshape
from .math.operators import div as div
from .math.operators import div_no_nan as div_no_nan
from .math.operators import divide as divide
from ..engine.types.dtypes import double as double
from .array.partition import dynamic_partition as dynamic_partition
from .array.partition import dynamic_stitch as dynamic_stitch
from .sparse.edit_distance import edit_distance as edit_distance
from .linalg.contract import einsum as einsum
from .flow.toggles import enable_control_flow_v2 as enable_control_flow_v2
from ..engine.compat import enable_eager_execution as enable_eager_execution
from .state.variable_store import enable_resource_variables as enable_resource_variables
from ..engine.types.shape import enable_v2_tensorshape as enable_v2_tensorshape
from .strings.substrings import encode_base64 as encode_base64
from .array.shape import ensure_shape as ensure_shape
from .math.compare import equal as equal
from .raw_ops import Erfc as _erfc
from ..engine.compat import executing_eagerly as executing_eagerly
from .raw_ops import Exp as _exp
from .array.shape import expand_dims as expand_dims
from .raw_ops import Expm1 as _expm1
from .array.patches import extract_image_patches as extract_image_patches
from .array.volume_patches import extract_volume_patches as extract_volume_patches
from .linalg.norm import eye as eye
from .raw_ops import FakeQuantWithMinMaxArgs as _fake_quant_with_min_max_args
from .raw_ops import FakeQuantWithMinMaxArgsGradient as _fake_quant_with_min_max_args_gradient
from .raw_ops import FakeQuantWithMinMaxVars as _fake_quant_with_min_max_vars
from .raw_ops import FakeQuantWithMinMaxVarsGradient as _fake_quant_with_min_max_vars_gradient
from .raw_ops import FakeQuantWithMinMaxVarsPerChannel as _fake_quant_with_min_max_vars_per_channel
from .raw_ops import FakeQuantWithMinMaxVarsPerChannelGradient as _fake_quant_with_min_max_vars_per_channel_gradient
from .array.constant import fill as fill
from .strings.fingerprint import fingerprint as fingerprint
from .state.variable_partitioners import fixed_size_partitioner as fixed_size_partitioner
from ..engine.types.dtypes import _dtype as _float16
from ..engine.types.dtypes import float32 as float32
from ..engine.types.dtypes import double as _float64
from .raw_ops import Floor as _floor
from .raw_ops import FloorDiv as _floor_div
from .math.operators import floordiv as floordiv
from .raw_ops import FloorMod as _floormod
from .flow.functional import foldl as foldl
from .flow.functional import foldr as foldr
from .flow.graph_functions import function as function
from .array.gather import gather as gather
from .array.gather import gather_nd as gather_nd
from ..engine.graph.collections import get_collection as get_collection
from ..engine.graph.collections import get_collection_ref as get_collection_ref
from ..engine.graph.defaults import get_default_graph as get_default_graph
from ..engine.graph.defaults import get_default_session as get_default_session
from .state.variable_scope import get_local_variable as get_local_variable
from ..engine.graph.seed import get_seed as get_seed
from .state.session_handles import get_session_handle as get_session_handle
from .state.session_handles import get_session_tensor as get_session_tensor
from ..engine.graph.constants import constant_value as _get_static_value
from .state.variable_scope import get_variable as get_variable
from .state.variable_scope import get_variable_scope as get_variable_scope
from .math.clip import global_norm as global_norm
from .state.variable_collections import global_variables as global_variables
from .state.variable_collections import global_variables_initializer as global_variables_initializer
from .state.init import GlorotNormal as _glorot_normal_initializer
from .state.init import GlorotUniform as _glorot_uniform_initializer
from .flow.custom_gradient import grad_pass_through as grad_pass_through
from ..engine.gradients.autodiff import gradients as gradients
from .raw_ops import Greater as _greater
from .raw_ops import GreaterEqual as _greater_equal
from .control import group as group
from .array.identity import guarantee_const as guarantee_const
from ..engine.types.dtypes import _dtype as _half
from ..engine.gradients.autodiff import hessians as hessians
from .math.histogram import histogram_fixed_width as histogram_fixed_width
from .math.histogram import histogram_fixed_width_bins as histogram_fixed_width_bins
from .array.identity import identity as identity
from .array.identity import identity_n as identity_n
from .raw_ops import Igamma as _igamma
from .raw_ops import Igammac as _igammac
from .math.complex import imag as imag
from ..io.graph_import import import_graph_def as import_graph_def
from ..engine.graph.scope_functions import init_scope as init_scope
from .state.resources import initialize_all_tables as initialize_all_tables
from .state.variable_collections import global_variables_initializer as _initialize_all_variables
from .state.variable_collections import local_variables_initializer as _initialize_local_variables
from .state.variable_collections import variables_initializer as _initialize_variables
from ..engine.types.dtypes import int16 as int16
from ..engine.types.dtypes import int32 as int32
from ..engine.types.dtypes import int64 as int64
from ..engine.types.dtypes import int8 as int8
from .array.layout import invert_permutation as invert_permutation
from .raw_ops import IsFinite as _is_finite
from .raw_ops import IsInf as _is_inf
from .raw_ops import IsNan as _is_nan
from .checks.asserts import is_non_decreasing as is_non_decreasing
from .checks.asserts import is_numeric_tensor as is_numeric_tensor
from .checks.asserts import is_strictly_increasing as is_strictly_increasing
from ..engine.graph.convert import is_tensor as is_tensor
from .state.variable_collections import is_variable_initialized as is_variable_initialized
from .math.special import lbeta as lbeta
from .raw_ops import Less as _less
from .raw_ops import LessEqual as _less_equal
from .raw_ops import Lgamma as _lgamma
from .raw_ops import LinSpace as _lin_space
from .raw_ops import LinSpace as _linspace
from .state.variable_collections import local_variables as local_variables
from .state.variable_collections import local_variables_initializer as local_variables_initializer
from .raw_ops import Log as _log
from .raw_ops import Log1p as _log1p
from .math.unary import log_sigmoid as log_sigmoid
from .raw_ops import LogicalAnd as _logical_and
from .raw_ops import LogicalNot as _logical_not
from .raw_ops import LogicalOr as _logical_or
from .math.compare import logical_xor as logical_xor
from ..io.tensor_proto import MakeNdarray as _make_ndarray
from .state.template import make_template as make_template
from ..io.tensor_proto import make_tensor_proto as make_tensor_proto
from .flow.functional import map_fn as map_fn
from .strings.files import matching_files as matching_files
from .linalg.products import matmul as matmul
from .array.matrix_diag import matrix_band_part as matrix_band_part
from .raw_ops import MatrixDeterminant as _matrix_determinant
from .array.matrix_diag import matrix_diag as matrix_diag
from .array.matrix_diag import matrix_diag_part as matrix_diag_part
from .raw_ops import MatrixInverse as _matrix_inverse
from .array.matrix_diag import matrix_set_diag as matrix_set_diag
from .raw_ops import MatrixSolve as _matrix_solve
from .linalg.least_squares import matrix_solve_ls as matrix_solve_ls
from .raw_ops import MatrixSquareRoot as _matrix_square_root
from .array.layout import matrix_transpose as matrix_transpose
from .raw_ops import MatrixTriangularSolve as _matrix_triangular_solve
from .raw_ops import Maximum as _maximum
from .array.pad import meshgrid as meshgrid
from .state.variable_partitioners import min_max_variable_partitioner as min_max_variable_partitioner
from .raw_ops import Minimum as _minimum
from .raw_ops import FloorMod as _mod
from .state.variable_collections import model_variables as model_variables
from .state.variable_collections import moving_average_variables as moving_average_variables
from .random.random_ops import multinomial as multinomial
from .math.arithmetic import multiply as multiply
from ..engine.graph.scope_functions import name_scope as name_scope
from ..engine.interface.log import _logger as _newaxis
from ..engine.gradients.autodiff_registry import no_gradient as no_gradient
from .control import no_op as no_op
from .state.variable_store import no_regularizer as no_regularizer
from ..train.contrib.batching import batch_function as _nondifferentiable_batch_function
from .linalg.norm import norm as norm
from .math.compare import not_equal as not_equal
from .flow.script import numpy_function as numpy_function
from .array.scatter import one_hot as one_hot
from .array.constant import ones as ones
from .state.init import Ones as _ones_initializer
from .array.constant import ones_like as ones_like
from ..engine.graph.scope_functions import op_scope as op_scope
from .state.init import Orthogonal as _orthogonal_initializer
from .array.pad import pad as pad
from .array.stack import parallel_stack as parallel_stack
from .parsing.public import parse_example as parse_example
from .parsing.public import parse_single_example as parse_single_example
from .parsing.public import parse_single_sequence_example as parse_single_sequence_example
from .strings.decoding import parse_tensor as parse_tensor
from .array.constant import placeholder as placeholder
from .array.constant import placeholder_with_default as placeholder_with_default
from .raw_ops import Polygamma as _polygamma
from .math.arithmetic import pow as pow
from .checks.logging import print_v2 as _print
from .flow.script import py_func as py_func
from .flow.python_function import eager_py_func as _py_function
from ..engine.types.dtypes import qint16 as qint16
from ..engine.types.dtypes import qint32 as qint32
from ..engine.types.dtypes import qint8 as qint8
from .raw_ops import Qr as _qr
from .quantization.quantized import quantize as quantize
from .quantization.quantized import quantize_v2 as quantize_v2
from .raw_ops import QuantizedConcat as _quantized_concat
from ..engine.types.dtypes import quint16 as quint16
from ..engine.types.dtypes import quint8 as quint8
from .random.random_ops import random_crop as random_crop
from .random.distributions_stateless import random_gamma as random_gamma
from .random.random_ops import random_normal as random_normal
from .state.init import RandomNormal as _random_normal_initializer
from .random.distributions_stateless import random_poisson as random_poisson
from .random.random_ops import random_shuffle as random_shuffle
from .random.random_ops import random_uniform as random_uniform
from .state.init import RandomUniform as _random_uniform_initializer
from .math.range import range_ as _range
from .array.shape import rank as rank
from .public import raw as _raw_ops
from .strings.files import read_file as read_file
from .math.complex import real as real
from .raw_ops import RealDiv as _realdiv
from .raw_ops import Reciprocal as _reciprocal
from .flow.custom_gradient import recompute_grad as recompute_grad
from .math.reduce_public import reduce_all as reduce_all
from .math.reduce_public import reduce_any as reduce_any
from .strings.split import reduce_join as reduce_join
from .math.reduce_public import reduce_logsumexp as reduce_logsumexp
from .math.reduce_public import reduce_max as reduce_max
from .math.reduce_public import reduce_mean as reduce_mean
from .math.reduce_public import reduce_min as reduce_min
from .math.reduce_public import reduce_prod as reduce_prod
from .math.reduce_public import reduce_sum as reduce_sum
from .strings.regex import regex_replace as regex_replace
from ..engine.session.fetches import register_session_run_conversion_functions as register_session_run_conversion_functions
from ..engine.graph.convert import register_tensor_conversion_function as register_tensor_conversion_function
from .array.unique import repeat as repeat
from .state.variable_collections import report_uninitialized_variables as report_uninitialized_variables
from .array.blocks import required_space_to_batch_paddings as required_space_to_batch_paddings
from ..engine.graph.defaults import reset_default_graph as reset_default_graph
from .array.shape import reshape as reshape
from ..engine.types.dtypes import resource as resource
from .state.variable_store import resource_variables_enabled as resource_variables_enabled
from .array.layout import reverse as reverse
from .array.layout import reverse_sequence as reverse_sequence
from .array.layout import reverse as _reverse_v2
from .raw_ops import Rint as _rint
from .array.layout import roll as roll
from .math.unary import round as round
from .raw_ops import Rsqrt as _rsqrt
from .math.cast import saturate_cast as saturate_cast
from .math.operators import scalar_mul as scalar_mul
from .flow.functional import scan as scan
from .state.scatter import scatter_add as scatter_add
from .state.scatter import scatter_div as scatter_div
from .state.scatter import scatter_max as scatter_max
from .state.scatter import scatter_min as scatter_min
from .state.scatter import scatter_mul as scatter_mul
from .array.scatter import scatter_nd as scatter_nd
from .state.scatter import scatter_nd_add as scatter_nd_add
from .state.scatter import scatter_nd_sub as scatter_nd_sub
from .state.scatter import scatter_nd_update as scatter_nd_update
from .state.scatter import scatter_sub as scatter_sub
from .state.scatter import scatter_update as scatter_update
from .array.search import searchsorted as searchsorted
from .raw_ops import SegmentMax as _segment_max
from .raw_ops import SegmentMean as _segment_mean
from .raw_ops import SegmentMin as _segment_min
from .raw_ops import SegmentProd as _segment_prod
from .raw_ops import SegmentSum as _segment_sum
from .linalg.decompose import self_adjoint_eig as self_adjoint_eig
from .linalg.decompose import self_adjoint_eigvals as self_adjoint_eigvals
from .array.scatter import sequence_mask as sequence_mask
from .sparse.serialize import serialize_many_sparse as serialize_many_sparse
from .sparse.serialize import serialize_sparse as serialize_sparse
from .strings.decoding import serialize_tensor as serialize_tensor
from ..engine.graph.seed import set_random_seed as set_random_seed
from .array.unique import setdiff1d as setdiff1d
from .array.shape import shape as shape
from .array.shape import shape_n as shape_n
from .math.unary import sigmoid as sigmoid
from .raw_ops import Sin as _sin
from .raw_ops import Sinh as _sinh
from .array.shape import size as size
from .array.slice import slice as slice
from .array.sort import sort as sort
from .array.blocks import space_to_batch as space_to_batch
from .array.blocks import space_to_batch_nd as space_to_batch_nd
from .array.blocks import space_to_depth as space_to_depth
from .sparse.math import sparse_add as sparse_add
from .sparse.layout import sparse_concat as sparse_concat
from .sparse.rows import sparse_fill_empty_rows as sparse_fill_empty_rows
from .array.sparse import sparse_mask as sparse_mask
from .linalg.products import sparse_matmul as sparse_matmul
from .sparse.math import sparse_maximum as sparse_maximum
from .sparse.dense import sparse_merge as sparse_merge
from .sparse.math import sparse_minimum as sparse_minimum
from .array.sparse import sparse_placeholder as sparse_placeholder
from .sparse.math import sparse_reduce_max as sparse_reduce_max
from .sparse.math import sparse_reduce_max_sparse as sparse_reduce_max_sparse
from .sparse.math import sparse_reduce_sum as sparse_reduce_sum
from .sparse.math import sparse_reduce_sum_sparse as sparse_reduce_sum_sparse
from .sparse.layout import sparse_reorder as sparse_reorder
from .sparse.rows import sparse_reset_shape as sparse_reset_shape
from .sparse.layout import sparse_reshape as sparse_reshape
from .sparse.rows import sparse_retain as sparse_retain
from .math.reduce_sparse_segment import sparse_segment_mean as sparse_segment_mean
from .math.reduce_sparse_segment import sparse_segment_sqrt_n as sparse_segment_sqrt_n
from .math.reduce_sparse_segment import sparse_segment_sum as sparse_segment_sum
from .sparse.layout import sparse_slice as sparse_slice
from .sparse.math import sparse_softmax as sparse_softmax
from .sparse.layout import sparse_split as sparse_split
from .sparse.dense import sparse_tensor_dense_matmul as sparse_tensor_dense_matmul
from .sparse.dense import sparse_tensor_to_dense as sparse_tensor_to_dense
from .sparse.dense import sparse_to_dense as sparse_to_dense
from .sparse.dense import sparse_to_indicator as sparse_to_indicator
from .sparse.layout import sparse_transpose as sparse_transpose
from .array.join import split as split
from .raw_ops import SquaredDifference as _squared_difference
from .array.shape import squeeze as squeeze
from .array.stack import stack as stack
from .array.identity import stop_gradient as stop_gradient
from .array.indexing import strided_slice as strided_slice
from ..engine.types.dtypes import string as string
from .strings.join import string_join as string_join
from .strings.split import string_split as string_split
from .strings.substrings import string_strip as string_strip
from .strings.hash import string_to_hash_bucket as string_to_hash_bucket
from .strings.hash import string_to_hash_bucket_fast as string_to_hash_bucket_fast
from .strings.hash import string_to_hash_bucket_strong as string_to_hash_bucket_strong
from .strings.decoding import string_to_number as string_to_number
from .strings.substrings import substr_deprecated as _substr
from .math.arithmetic import subtract as subtract
from .linalg.decompose import svd as svd
from .flow.cond import switch_case as switch_case
from .state.resources import tables_initializer as tables_initializer
from .raw_ops import Tan as _tan
from .array.scatter import tensor_scatter_add as tensor_scatter_add
from .array.scatter import tensor_scatter_add as _tensor_scatter_nd_add
from .array.scatter import tensor_scatter_sub as _tensor_scatter_nd_sub
from .array.scatter import tensor_scatter_update as _tensor_scatter_nd_update
from .array.scatter import tensor_scatter_sub as tensor_scatter_sub
from .array.scatter import tensor_scatter_update as tensor_scatter_update
from .linalg.contract import tensordot as tensordot
from .array.pad import tile as tile
from .checks.logging import timestamp as timestamp
from .math.cast import to_bfloat16 as to_bfloat16
from .math.cast import to_complex128 as to_complex128
from .math.cast import to_complex64 as to_complex64
from .math.cast import to_double as to_double
from .math.cast import to_float as to_float
from .math.cast import to_int32 as to_int32
from .math.cast import to_int64 as to_int64
from .linalg.products import trace as trace
from .state.variable_collections import trainable_variables as trainable_variables
from .array.layout import transpose as transpose
from .math.operators import truediv as truediv
from .random.random_ops import truncated_normal as truncated_normal
from .state.init import TruncatedNormal as _truncated_normal_initializer
from .raw_ops import TruncateDiv as _truncatediv
from .raw_ops import TruncateMod as _truncatemod
from .control import tuple_ as _tuple
from ..engine.types.dtypes import uint16 as uint16
from ..engine.types.dtypes import uint32 as uint32
from ..engine.types.dtypes import uint64 as uint64
from ..engine.types.dtypes import uint8 as uint8
from .state.init import UniformUnitScaling as _uniform_unit_scaling_initializer
from .array.unique import unique as unique
from .array.unique import unique_with_counts as unique_with_counts
from .array.search import unravel_index as unravel_index
from .raw_ops import UnsortedSegmentMax as _unsorted_segment_max
from .math.reduce_segment import unsorted_segment_mean as unsorted_segment_mean
from .raw_ops import UnsortedSegmentMin as _unsorted_segment_min
from .raw_ops import UnsortedSegmentProd as _unsorted_segment_prod
from .math.reduce_segment import unsorted_segment_sqrt_n as unsorted_segment_sqrt_n
from .raw_ops import UnsortedSegmentSum as _unsorted_segment_sum
from .array.stack import unstack as unstack
from .state.variable_partitioners import variable_axis_size_partitioner as variable_axis_size_partitioner
from .state.variable_scope import variable_creator_scope as variable_creator_scope
from .state.variable_scope import variable_op_scope as variable_op_scope
from .state.variable_scope import variable_scope as variable_scope
from .state.variable_collections import variables_initializer as variables_initializer
from .state.init import VarianceScaling as _variance_scaling_initializer
from ..engine.types.dtypes import variant as variant
from .flow.vectorized import vectorized_map as vectorized_map
from .checks.numerics import verify_tensor_all_finite as verify_tensor_all_finite
from .array.scatter import where as where
from .array.scatter import where_v2 as where_v2
from .flow.loop import while_loop as while_loop
from .strings.files import write_file as write_file
from .array.constant import zeros as zeros
from .state.init import Zeros as _zeros_initializer
from .array.constant import zeros_like as zeros_like
from .raw_ops import Zeta as _zeta

COMPILER_VERSION: str
CXX11_ABI_FLAG: int
DeviceSpec = _DeviceSpec
GIT_VERSION: str
GRAPH_DEF_VERSION: int
GRAPH_DEF_VERSION_MIN_CONSUMER: int
GRAPH_DEF_VERSION_MIN_PRODUCER: int
MONOLITHIC_BUILD: int
NoGradient = _NoGradient
NotDifferentiable = _NotDifferentiable
VERSION: str
acos = _acos
acosh = _acosh
add = _add
asin = _asin
asinh = _asinh
atan = _atan
atan2 = _atan2
atanh = _atanh
betainc = _betainc
ceil = _ceil
cholesky = _cholesky
constant = _constant
constant_initializer = _constant_initializer
cos = _cos
cosh = _cosh
cross = _cross
decode_raw = _decode_raw
dequantize = _dequantize
digamma = _digamma
def disable_eager_execution() -> Any: ...
def disable_tensor_equality() -> Any: ...
def enable_tensor_equality() -> Any: ...
def enable_v2_behavior() -> Any: ...
def erf(x: Any, name: str | None = ...) -> Any: ...
erfc = _erfc
exp = _exp
expm1 = _expm1
fake_quant_with_min_max_args = _fake_quant_with_min_max_args
fake_quant_with_min_max_args_gradient = _fake_quant_with_min_max_args_gradient
fake_quant_with_min_max_vars = _fake_quant_with_min_max_vars
fake_quant_with_min_max_vars_gradient = _fake_quant_with_min_max_vars_gradient
fake_quant_with_min_max_vars_per_channel = _fake_quant_with_min_max_vars_per_channel
fake_quant_with_min_max_vars_per_channel_gradient = _fake_quant_with_min_max_vars_per_channel_gradient
def fft(input: Any, name: str | None = ...) -> Any: ...
def fft2d(input: Any, name: str | None = ...) -> Any: ...
def fft3d(input: Any, name: str | None = ...) -> Any: ...
float16 = _float16
float64 = _float64
floor = _floor
floor_div = _floor_div
floormod = _floormod
get_static_value = _get_static_value
glorot_normal_initializer = _glorot_normal_initializer
glorot_uniform_initializer = _glorot_uniform_initializer
greater = _greater
greater_equal = _greater_equal
half = _half
def ifft(input: Any, name: str | None = ...) -> Any: ...
def ifft2d(input: Any, name: str | None = ...) -> Any: ...
def ifft3d(input: Any, name: str | None = ...) -> Any: ...
igamma = _igamma
igammac = _igammac
initialize_all_variables = _initialize_all_variables
initialize_local_variables = _initialize_local_variables
initialize_variables = _initialize_variables
is_finite = _is_finite
is_inf = _is_inf
is_nan = _is_nan
less = _less
less_equal = _less_equal
lgamma = _lgamma
lin_space = _lin_space
linspace = _linspace
log = _log
log1p = _log1p
logical_and = _logical_and
logical_not = _logical_not
logical_or = _logical_or
make_ndarray = _make_ndarray
matrix_determinant = _matrix_determinant
matrix_inverse = _matrix_inverse
matrix_solve = _matrix_solve
matrix_square_root = _matrix_square_root
matrix_triangular_solve = _matrix_triangular_solve
maximum = _maximum
minimum = _minimum
mod = _mod
def negative(x: Any, name: str | None = ...) -> Any: ...
newaxis = _newaxis
nondifferentiable_batch_function = _nondifferentiable_batch_function
ones_initializer = _ones_initializer
orthogonal_initializer = _orthogonal_initializer
polygamma = _polygamma
print = _print
py_function = _py_function
qr = _qr
quantized_concat = _quantized_concat
random_normal_initializer = _random_normal_initializer
random_uniform_initializer = _random_uniform_initializer
range = _range
raw_ops = _raw_ops
realdiv = _realdiv
reciprocal = _reciprocal
reverse_v2 = _reverse_v2
rint = _rint
rsqrt = _rsqrt
segment_max = _segment_max
segment_mean = _segment_mean
segment_min = _segment_min
segment_prod = _segment_prod
segment_sum = _segment_sum
def sign(x: Any, name: str | None = ...) -> Any: ...
sin = _sin
sinh = _sinh
def sqrt(x: Any, name: str | None = ...) -> Any: ...
def square(x: Any, name: str | None = ...) -> Any: ...
squared_difference = _squared_difference
substr = _substr
tan = _tan
def tanh(x: Any, name: str | None = ...) -> Any: ...
tensor_scatter_nd_add = _tensor_scatter_nd_add
tensor_scatter_nd_sub = _tensor_scatter_nd_sub
tensor_scatter_nd_update = _tensor_scatter_nd_update
truncated_normal_initializer = _truncated_normal_initializer
truncatediv = _truncatediv
truncatemod = _truncatemod
tuple = _tuple
uniform_unit_scaling_initializer = _uniform_unit_scaling_initializer
unsorted_segment_max = _unsorted_segment_max
unsorted_segment_min = _unsorted_segment_min
unsorted_segment_prod = _unsorted_segment_prod
unsorted_segment_sum = _unsorted_segment_sum
variance_scaling_initializer = _variance_scaling_initializer
zeros_initializer = _zeros_initializer
zeta = _zeta
