# SPDX-License-Identifier: Apache-2.0
"""Where names and ops are, for who imports them when they are wanted; docs/stubs.py writes it."""

# Imported with the package: lists of names, and what nobody asks for by name.
AT_ONCE = (
    "ops.array.constant",
    "ops.array.indexing",
    "ops.array.sparse",
    "ops.array.stack",
    "ops.flow.backprop",
    "ops.flow.cond",
    "ops.flow.grad",
    "ops.flow.loop",
    "ops.flow.nodes",
    "ops.flow.tensor_array_nodes",
    "ops.flow.tensor_list",
    "ops.flow.util",
    "ops.math.operators",
    "ops.math.range",
    "ops.state.resource",
    "ops.state.resource_variable",
    "ops.state.session_handles",
    "ops.state.variable_collections",
    "ops.state.variable_interface",
    "ops.state.variable_partitions",
    "ops.state.variable_scope",
    "ops.state.variable_store",
    "ops.state.variables",
    "ops.constant_folding",
    "ops.public",
    "train.checkpoints.saver",
    "train.contrib.public",
    "train.distributed.server",
    "train.saved_model.public",
    "train.public",
    "io.public",
    "io.tensor_proto",
)

# Modules and the public names that each publishes.
NAMES = """
engine.gradients.autodiff: UnconnectedGradients gradients hessians
engine.gradients.autodiff_registry: NoGradient NotDifferentiable RegisterGradient no_gradient
io.csv_datasets: contrib.learn.datasets.base.load_csv_with_header
  contrib.learn.datasets.base.load_csv_without_header
io.graph_def: io.write_graph train.write_graph
io.graph_import: graph_util.import_graph_def import_graph_def
io.graph_util: graph_util.convert_variables_to_constants graph_util.extract_sub_graph
  graph_util.must_run_on_cpu graph_util.remove_training_nodes
  graph_util.tensor_shape_from_node_def_name
io.mnist: contrib.learn.datasets.mnist.extract_images contrib.learn.datasets.mnist.extract_labels
  contrib.learn.datasets.mnist.load_mnist contrib.learn.datasets.mnist.read_data_sets
io.tensor_proto: contrib.util.make_ndarray contrib.util.make_tensor_proto make_ndarray
  make_tensor_proto
io.versions: COMPILER_VERSION CXX11_ABI_FLAG GIT_VERSION GRAPH_DEF_VERSION
  GRAPH_DEF_VERSION_MIN_CONSUMER GRAPH_DEF_VERSION_MIN_PRODUCER MONOLITHIC_BUILD VERSION
  sysconfig.CXX11_ABI_FLAG sysconfig.MONOLITHIC_BUILD version.COMPILER_VERSION version.GIT_VERSION
  version.GRAPH_DEF_VERSION version.GRAPH_DEF_VERSION_MIN_CONSUMER
  version.GRAPH_DEF_VERSION_MIN_PRODUCER version.VERSION
ops.array.blocks: batch_to_space batch_to_space_nd depth_to_space manip.batch_to_space_nd
  manip.space_to_batch_nd nn.depth_to_space nn.space_to_batch nn.space_to_depth
  required_space_to_batch_paddings space_to_batch space_to_batch_nd space_to_depth
ops.array.broadcast: broadcast_dynamic_shape broadcast_to
ops.array.constant: constant fill ones ones_like placeholder placeholder_with_default zeros
  zeros_like
ops.array.gather: batch_gather gather gather_nd manip.gather_nd
ops.array.identity: bitcast check_numerics debugging.check_numerics guarantee_const identity
  identity_n stop_gradient
ops.array.indexing: newaxis strided_slice
ops.array.join: concat split
ops.array.layout: invert_permutation linalg.matrix_transpose linalg.transpose manip.reverse
  manip.roll math.invert_permutation matrix_transpose reverse reverse_sequence reverse_v2 roll
  transpose
ops.array.matrix_diag: diag diag_part linalg.band_part linalg.diag linalg.diag_part linalg.set_diag
  linalg.tensor_diag linalg.tensor_diag_part matrix_band_part matrix_diag matrix_diag_part
  matrix_set_diag
ops.array.pad: manip.tile meshgrid pad tile
ops.array.partition: dynamic_partition dynamic_stitch
ops.array.patches: extract_image_patches image.extract_image_patches image.extract_patches
ops.array.scatter: boolean_mask manip.scatter_nd one_hot scatter_nd sequence_mask tensor_scatter_add
  tensor_scatter_nd_add tensor_scatter_nd_sub tensor_scatter_nd_update tensor_scatter_sub
  tensor_scatter_update where where_v2
ops.array.search: searchsorted unravel_index
ops.array.sets: sets.difference sets.intersection sets.set_difference sets.set_intersection
  sets.set_size sets.set_union sets.size sets.union
ops.array.shape: ensure_shape expand_dims manip.reshape rank reshape shape shape_n size squeeze
ops.array.slice: slice
ops.array.sort: argsort sort
ops.array.sparse: sparse.mask sparse.placeholder sparse_mask sparse_placeholder
ops.array.stack: parallel_stack stack unstack
ops.array.unique: repeat setdiff1d unique unique_with_counts
ops.array.volume_patches: extract_volume_patches
ops.audio.audio_ops: audio.decode_wav audio.encode_wav
ops.checks.asserts: Assert assert_equal assert_greater assert_greater_equal assert_less
  assert_less_equal assert_near assert_negative assert_non_negative assert_non_positive
  assert_none_equal assert_positive assert_proper_iterable debugging.Assert debugging.assert_equal
  debugging.assert_greater debugging.assert_greater_equal debugging.assert_less
  debugging.assert_less_equal debugging.assert_near debugging.assert_negative
  debugging.assert_non_negative debugging.assert_non_positive debugging.assert_none_equal
  debugging.assert_positive debugging.assert_proper_iterable debugging.is_non_decreasing
  debugging.is_numeric_tensor debugging.is_strictly_increasing is_non_decreasing is_numeric_tensor
  is_strictly_increasing math.is_non_decreasing math.is_strictly_increasing
ops.checks.gradient_checker: test.compute_gradient test.compute_gradient_error
ops.checks.logging: Print print strings.format timestamp
ops.checks.numerics: add_check_numerics_ops debugging.assert_all_finite verify_tensor_all_finite
ops.checks.shape: assert_integer assert_rank assert_rank_at_least assert_rank_in
  assert_same_float_dtype assert_scalar assert_type debugging.assert_integer debugging.assert_rank
  debugging.assert_rank_at_least debugging.assert_rank_in debugging.assert_same_float_dtype
  debugging.assert_scalar debugging.assert_shapes debugging.assert_type
ops.control: group no_op tuple
ops.data.checkpointing: data.experimental.INFINITE_CARDINALITY data.experimental.UNKNOWN_CARDINALITY
  data.experimental.cardinality data.experimental.get_single_element
ops.data.dataset: data.experimental.AUTOTUNE
ops.data.dataset_spec: data.DatasetSpec data.experimental.DatasetStructure
ops.data.dataset_v1: data.Dataset data.experimental.from_variant data.experimental.get_structure
  data.experimental.to_variant data.get_output_classes data.get_output_shapes data.get_output_types
  data.make_initializable_iterator data.make_one_shot_iterator
ops.data.experimental.batching: data.experimental.dense_to_sparse_batch
  data.experimental.map_and_batch data.experimental.map_and_batch_with_legacy_function
  data.experimental.unbatch
ops.data.experimental.choosing: data.experimental.choose_from_datasets
  data.experimental.parallel_interleave data.experimental.rejection_resample
  data.experimental.sample_from_datasets
ops.data.experimental.csv: data.experimental.CsvDataset data.experimental.make_csv_dataset
ops.data.experimental.elements: data.experimental.StatsAggregator
  data.experimental.bytes_produced_stats data.experimental.copy_to_device
  data.experimental.latency_stats data.experimental.prefetch_to_device
ops.data.experimental.grouping: data.experimental.Reducer
  data.experimental.bucket_by_sequence_length data.experimental.group_by_reducer
  data.experimental.group_by_window
ops.data.experimental.reading: contrib.data.LMDBDataset data.experimental.SqlDataset
  data.experimental.TFRecordWriter data.experimental.make_batched_features_dataset
  data.experimental.parse_example_dataset
ops.data.experimental.scanning: data.experimental.Counter data.experimental.RandomDataset
  data.experimental.enumerate_dataset data.experimental.ignore_errors data.experimental.scan
  data.experimental.shuffle_and_repeat data.experimental.take_while data.experimental.unique
ops.data.iterators: data.Iterator data.experimental.get_next_as_optional
ops.data.optional: OptionalSpec data.experimental.Optional data.experimental.OptionalStructure
ops.data.options: data.Options data.experimental.DistributeOptions
  data.experimental.MapVectorizationOptions data.experimental.OptimizationOptions
  data.experimental.StatsOptions data.experimental.ThreadingOptions
ops.data.readers: data.FixedLengthRecordDataset data.TFRecordDataset data.TextLineDataset
ops.data.structure: data.experimental.RaggedTensorStructure data.experimental.SparseTensorStructure
  data.experimental.TensorArrayStructure data.experimental.TensorStructure
ops.device_lists: config.experimental.get_visible_devices config.experimental.list_logical_devices
  config.experimental.list_physical_devices
ops.flow.autograph.api: autograph.experimental.Feature autograph.experimental.do_not_convert
  autograph.experimental.set_loop_options autograph.set_verbosity autograph.to_code
  autograph.to_graph contrib.autograph.AutoGraphError contrib.autograph.ConversionOptions
  contrib.autograph.Feature contrib.autograph.convert contrib.autograph.converted_call
  contrib.autograph.do_not_convert contrib.autograph.set_element_type
  contrib.autograph.set_loop_options contrib.autograph.stack contrib.autograph.to_code
  contrib.autograph.to_graph
ops.flow.cond: case cond contrib.framework.smart_cond contrib.framework.smart_constant_value
  switch_case
ops.flow.custom_gradient: custom_gradient grad_pass_through recompute_grad
ops.flow.functional: foldl foldr map_fn scan
ops.flow.graph_functions: function
ops.flow.loop: while_loop
ops.flow.python_function: py_function
ops.flow.script: numpy_function py_func
ops.flow.tensor_array: TensorArray
ops.flow.tensor_list_array: TensorArraySpec
ops.flow.toggles: control_flow_v2_enabled disable_control_flow_v2 disable_v2_behavior
  enable_control_flow_v2 experimental.output_all_intermediates
ops.flow.vectorized: vectorized_map
ops.image.adjust: image.adjust_brightness image.adjust_contrast image.adjust_gamma image.adjust_hue
  image.adjust_jpeg_quality image.adjust_saturation image.per_image_standardization
  image.random_brightness image.random_contrast image.random_hue image.random_jpeg_quality
  image.random_saturation
ops.image.bounds: image.central_crop image.crop_to_bounding_box image.pad_to_bounding_box
  image.resize_image_with_crop_or_pad image.resize_with_crop_or_pad
ops.image.boxes: image.crop_and_resize
ops.image.codec_ops: image.decode_and_crop_jpeg image.decode_bmp image.decode_gif image.decode_jpeg
  image.decode_png image.encode_jpeg image.encode_png image.extract_jpeg_shape
  io.decode_and_crop_jpeg io.decode_bmp io.decode_gif io.decode_jpeg io.decode_png io.encode_jpeg
  io.encode_png io.extract_jpeg_shape
ops.image.codec_public: image.decode_image image.is_jpeg io.decode_image io.is_jpeg
ops.image.color: image.hsv_to_rgb image.rgb_to_hsv
ops.image.color_spaces: image.grayscale_to_rgb image.rgb_to_grayscale image.rgb_to_yiq
  image.rgb_to_yuv image.yiq_to_rgb image.yuv_to_rgb
ops.image.convert: image.convert_image_dtype
ops.image.distort: image.sample_distorted_bounding_box
ops.image.draw: image.draw_bounding_boxes
ops.image.edges: image.image_gradients image.sobel_edges image.total_variation
ops.image.flip: image.flip_left_right image.flip_up_down image.random_flip_left_right
  image.random_flip_up_down image.rot90 image.transpose image.transpose_image
ops.image.glimpse: image.extract_glimpse
ops.image.projective: contrib.image.flat_transforms_to_matrices
  contrib.image.matrices_to_flat_transforms
ops.image.proposals: image.generate_bounding_box_proposals
ops.image.quality: image.psnr image.ssim image.ssim_multiscale
ops.image.resize: image.resize_bilinear image.resize_nearest_neighbor
ops.image.resize_images: image.ResizeMethod image.resize image.resize_image_with_pad
  image.resize_images
ops.image.resize_nodes: image.resize_area image.resize_bicubic
ops.image.suppress_classes: image.combined_non_max_suppression
ops.image.suppress_nodes: image.non_max_suppression image.non_max_suppression_overlaps
  image.non_max_suppression_padded image.non_max_suppression_with_scores
ops.linalg.contract: einsum linalg.einsum linalg.tensordot tensordot
ops.linalg.decompose: linalg.eigh linalg.eigvalsh linalg.matrix_rank linalg.pinv linalg.qr
  linalg.svd qr self_adjoint_eig self_adjoint_eigvals svd
ops.linalg.exponential: linalg.expm
ops.linalg.functions: linalg.logm linalg.lu linalg.sqrtm matrix_square_root
ops.linalg.least_squares: linalg.lstsq matrix_solve_ls
ops.linalg.norm: eye linalg.eye linalg.norm linalg.normalize norm
ops.linalg.operators.circulant: linalg.LinearOperatorCirculant linalg.LinearOperatorCirculant2D
  linalg.LinearOperatorCirculant3D linalg.LinearOperatorToeplitz
ops.linalg.operators.composed: linalg.LinearOperatorBlockDiag linalg.LinearOperatorComposition
  linalg.LinearOperatorKronecker
ops.linalg.operators.derived: linalg.LinearOperatorAdjoint linalg.LinearOperatorInversion
ops.linalg.operators.diagonal: linalg.LinearOperatorDiag linalg.LinearOperatorFullMatrix
  linalg.LinearOperatorLowerTriangular
ops.linalg.operators.identity: linalg.LinearOperatorIdentity linalg.LinearOperatorScaledIdentity
  linalg.LinearOperatorZeros
ops.linalg.operators.low_rank: linalg.LinearOperatorHouseholder linalg.LinearOperatorLowRankUpdate
ops.linalg.operators.operator: linalg.LinearOperator
ops.linalg.products: linalg.matmul linalg.matvec linalg.trace matmul sparse_matmul trace
ops.linalg.solve: cholesky cholesky_solve linalg.adjoint linalg.cholesky linalg.cholesky_solve
  linalg.det linalg.inv linalg.logdet linalg.slogdet linalg.solve linalg.triangular_solve
  matrix_determinant matrix_inverse matrix_solve matrix_triangular_solve
ops.linalg.tridiagonal: linalg.tridiagonal_matmul linalg.tridiagonal_solve
ops.lookup.tables: lookup.KeyValueTensorInitializer lookup.StaticHashTable lookup.TextFileIndex
  lookup.TextFileInitializer
ops.lookup.vocabulary: lookup.StaticVocabularyTable
ops.math.arithmetic: add floor_div floormod math.add math.floormod math.maximum math.minimum
  math.mod math.multiply math.pow math.squared_difference math.subtract math.xdivy math.xlogy
  maximum minimum mod multiply pow realdiv squared_difference subtract truncatediv truncatemod
ops.math.bitwise: bitwise.bitwise_and bitwise.bitwise_or bitwise.bitwise_xor bitwise.invert
  bitwise.left_shift bitwise.right_shift
ops.math.cast: cast dtypes.cast dtypes.saturate_cast saturate_cast to_bfloat16 to_complex128
  to_complex64 to_double to_float to_int32 to_int64
ops.math.clip: clip_by_average_norm clip_by_global_norm clip_by_norm clip_by_value global_norm
  linalg.global_norm
ops.math.compare: equal greater greater_equal less less_equal logical_and logical_not logical_or
  logical_xor math.equal math.greater math.greater_equal math.less math.less_equal math.logical_and
  math.logical_not math.logical_or math.logical_xor math.not_equal not_equal
ops.math.complex: angle complex conj dtypes.complex imag math.angle math.conj math.imag math.real
  real
ops.math.fourier: fft fft2d fft3d ifft ifft2d ifft3d signal.fft signal.fft2d signal.fft3d
  signal.fftshift signal.ifft signal.ifft2d signal.ifft3d signal.ifftshift spectral.fft
  spectral.fft2d spectral.fft3d spectral.ifft spectral.ifft2d spectral.ifft3d
ops.math.fourier_real: signal.irfft signal.irfft2d signal.irfft3d signal.rfft signal.rfft2d
  signal.rfft3d spectral.irfft spectral.irfft2d spectral.irfft3d spectral.rfft spectral.rfft2d
  spectral.rfft3d
ops.math.histogram: histogram_fixed_width histogram_fixed_width_bins
ops.math.operators: div div_no_nan divide floordiv math.divide math.divide_no_nan math.floordiv
  math.multiply_no_nan math.scalar_mul math.truediv scalar_mul truediv
ops.math.range: lin_space linspace range
ops.math.reduce_public: arg_max arg_min argmax argmin count_nonzero math.argmax math.argmin
  math.count_nonzero math.reduce_all math.reduce_any math.reduce_euclidean_norm
  math.reduce_logsumexp math.reduce_max math.reduce_mean math.reduce_min math.reduce_prod
  math.reduce_std math.reduce_sum math.reduce_variance reduce_all reduce_any reduce_logsumexp
  reduce_max reduce_mean reduce_min reduce_prod reduce_sum
ops.math.reduce_scan: cumprod cumsum math.cumprod math.cumsum math.cumulative_logsumexp
ops.math.reduce_segment: math.segment_max math.segment_mean math.segment_min math.segment_prod
  math.segment_sum math.unsorted_segment_max math.unsorted_segment_mean math.unsorted_segment_min
  math.unsorted_segment_prod math.unsorted_segment_sqrt_n math.unsorted_segment_sum segment_max
  segment_mean segment_min segment_prod segment_sum unsorted_segment_max unsorted_segment_mean
  unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n unsorted_segment_sum
ops.math.reduce_sparse_segment: sparse.segment_mean sparse.segment_sqrt_n sparse.segment_sum
  sparse_segment_mean sparse_segment_sqrt_n sparse_segment_sum
ops.math.special: betainc digamma erf erfc igamma igammac lbeta lgamma math.bessel_i0
  math.bessel_i0e math.bessel_i1 math.bessel_i1e math.betainc math.digamma math.erf math.erfc
  math.igamma math.igammac math.lbeta math.lgamma math.nextafter math.polygamma math.polyval
  math.zeta polygamma zeta
ops.math.sums: accumulate_n add_n bincount cross linalg.cross math.accumulate_n math.add_n
  math.bincount
ops.math.trigonometry: acos acosh asin asinh atan atan2 atanh cos cosh math.acos math.acosh
  math.asin math.asinh math.atan math.atan2 math.atanh math.cos math.cosh math.sin math.sinh
  math.tan math.tanh nn.tanh sin sinh tan tanh
ops.math.unary: abs ceil debugging.is_finite debugging.is_inf debugging.is_nan exp expm1 floor
  is_finite is_inf is_nan log log1p log_sigmoid math.abs math.ceil math.exp math.expm1 math.floor
  math.is_finite math.is_inf math.is_nan math.log math.log1p math.log_sigmoid math.negative
  math.reciprocal math.reciprocal_no_nan math.rint math.round math.rsqrt math.sigmoid math.sign
  math.sqrt math.square negative nn.sigmoid reciprocal rint round rsqrt sigmoid sign sqrt square
ops.nn.activation: math.softplus math.softsign nn.crelu nn.elu nn.leaky_relu nn.relu nn.relu6
  nn.relu_layer nn.selu nn.softplus nn.softsign nn.swish
ops.nn.atrous: nn.atrous_conv2d nn.convolution nn.pool nn.with_space_to_batch
ops.nn.atrous_transpose: nn.atrous_conv2d_transpose
ops.nn.beam_search: contrib.seq2seq.gather_tree
ops.nn.bias: nn.bias_add nn.xw_plus_b
ops.nn.candidate_sampling: nn.all_candidate_sampler nn.compute_accidental_hits
  nn.fixed_unigram_candidate_sampler nn.learned_unigram_candidate_sampler
  nn.log_uniform_candidate_sampler nn.uniform_candidate_sampler random.all_candidate_sampler
  random.fixed_unigram_candidate_sampler random.learned_unigram_candidate_sampler
  random.log_uniform_candidate_sampler random.uniform_candidate_sampler
ops.nn.conv_public: nn.conv1d nn.conv1d_transpose nn.conv2d nn.conv2d_backprop_filter
  nn.conv2d_backprop_input nn.conv2d_transpose nn.conv3d nn.conv3d_backprop_filter
  nn.conv3d_backprop_filter_v2 nn.conv3d_transpose nn.conv_transpose
ops.nn.ctc_decoder: nn.ctc_beam_search_decoder nn.ctc_beam_search_decoder_v2 nn.ctc_greedy_decoder
ops.nn.ctc_labels: nn.collapse_repeated nn.ctc_unique_labels
ops.nn.ctc_loss: nn.ctc_loss nn.ctc_loss_v2
ops.nn.depthwise: nn.depthwise_conv2d nn.depthwise_conv2d_backprop_filter
  nn.depthwise_conv2d_backprop_input nn.depthwise_conv2d_native
  nn.depthwise_conv2d_native_backprop_filter nn.depthwise_conv2d_native_backprop_input
  nn.separable_conv2d
ops.nn.dilation: nn.dilation2d nn.erosion2d
ops.nn.dropout: math.zero_fraction nn.dropout nn.zero_fraction
ops.nn.embedding: nn.embedding_lookup nn.embedding_lookup_sparse
ops.nn.embedding_safe: nn.safe_embedding_lookup_sparse
ops.nn.fractional_pool: nn.fractional_avg_pool nn.fractional_max_pool
ops.nn.fused_norm: nn.fused_batch_norm
ops.nn.local_response: nn.local_response_normalization nn.lrn
ops.nn.loss: nn.l2_loss nn.log_poisson_loss nn.sigmoid_cross_entropy_with_logits
  nn.softmax_cross_entropy_with_logits nn.softmax_cross_entropy_with_logits_v2
  nn.sparse_softmax_cross_entropy_with_logits nn.weighted_cross_entropy_with_logits
ops.nn.losses: losses.absolute_difference losses.cosine_distance losses.hinge_loss losses.huber_loss
  losses.log_loss losses.mean_pairwise_squared_error losses.mean_squared_error
  losses.sigmoid_cross_entropy losses.softmax_cross_entropy losses.sparse_softmax_cross_entropy
ops.nn.losses_reduction: losses.Reduction losses.add_loss losses.compute_weighted_loss
  losses.get_losses losses.get_regularization_loss losses.get_regularization_losses
  losses.get_total_loss
ops.nn.norm: linalg.l2_normalize math.l2_normalize nn.batch_norm_with_global_normalization
  nn.batch_normalization nn.l2_normalize nn.moments nn.normalize_moments nn.sufficient_statistics
  nn.weighted_moments
ops.nn.pool_public: nn.avg_pool nn.avg_pool1d nn.avg_pool2d nn.avg_pool3d nn.avg_pool_v2 nn.max_pool
  nn.max_pool1d nn.max_pool2d nn.max_pool3d nn.max_pool_v2 nn.max_pool_with_argmax
ops.nn.sampled: nn.nce_loss nn.sampled_softmax_loss
ops.nn.sdca: train.sdca_optimizer train.sdca_shrink_l1
ops.nn.softmax: math.log_softmax math.softmax nn.log_softmax nn.softmax
ops.nn.top_k: math.in_top_k math.top_k nn.in_top_k nn.top_k
ops.parsing.csv: decode_csv io.decode_csv
ops.parsing.features: FixedLenFeature FixedLenSequenceFeature SparseFeature VarLenFeature
  io.FixedLenFeature io.FixedLenSequenceFeature io.SparseFeature io.VarLenFeature
ops.parsing.proto_ops: io.decode_proto io.encode_proto
ops.parsing.public: io.parse_example io.parse_sequence_example io.parse_single_example
  io.parse_single_sequence_example parse_example parse_single_example parse_single_sequence_example
ops.public: raw_ops
ops.quantization.arithmetic: nn.quantized_relu_x
ops.quantization.fake_quant: fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient
  fake_quant_with_min_max_vars fake_quant_with_min_max_vars_gradient
  fake_quant_with_min_max_vars_per_channel fake_quant_with_min_max_vars_per_channel_gradient
  quantization.fake_quant_with_min_max_args quantization.fake_quant_with_min_max_args_gradient
  quantization.fake_quant_with_min_max_vars quantization.fake_quant_with_min_max_vars_gradient
  quantization.fake_quant_with_min_max_vars_per_channel
  quantization.fake_quant_with_min_max_vars_per_channel_gradient
ops.quantization.images: nn.quantized_avg_pool nn.quantized_conv2d nn.quantized_max_pool
ops.quantization.quantized: dequantize quantization.dequantize quantization.quantize
  quantization.quantized_concat quantize quantize_v2 quantized_concat
ops.quantization.round_trip: quantization.quantize_and_dequantize
ops.queues.accumulators: ConditionalAccumulator ConditionalAccumulatorBase
  SparseConditionalAccumulator sparse.SparseConditionalAccumulator
ops.queues.mutex: CriticalSection
ops.queues.queues: FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue
  io.PaddingFIFOQueue io.PriorityQueue io.QueueBase io.RandomShuffleQueue queue.FIFOQueue
  queue.PaddingFIFOQueue queue.PriorityQueue queue.QueueBase queue.RandomShuffleQueue
ops.queues.readers: FixedLengthRecordReader IdentityReader LMDBReader ReaderBase TFRecordReader
  TextLineReader WholeFileReader
ops.queues.staging: contrib.staging.MapStagingArea contrib.staging.StagingArea
ops.ragged.array: ragged.boolean_mask ragged.stack_dynamic_partitions
ops.ragged.constant: ragged.constant ragged.placeholder
ops.ragged.functional: ragged.map_flat_values
ops.ragged.join: ragged.stack
ops.ragged.reduce: ragged.range
ops.ragged.segment_ids: ragged.row_splits_to_segment_ids ragged.segment_ids_to_row_splits
ops.ragged.spec: RaggedTensorSpec
ops.ragged.strings: strings.bytes_split strings.ngrams
ops.ragged.tensor: RaggedTensor
ops.ragged.unicode: strings.unicode_decode strings.unicode_decode_with_offsets
  strings.unicode_encode strings.unicode_split strings.unicode_split_with_offsets
ops.ragged.values: ragged.RaggedTensorValue ragged.constant_value
ops.random.distributions_stateless: random.gamma random.poisson random.stateless_categorical
  random.stateless_multinomial random.stateless_normal random.stateless_truncated_normal
  random.stateless_uniform random_gamma random_poisson
ops.random.generator: random.experimental.Generator random.experimental.create_rng_state
  random.experimental.get_global_generator random.experimental.set_global_generator
ops.random.random_ops: image.random_crop multinomial random.categorical random.multinomial
  random.normal random.shuffle random.truncated_normal random.uniform random_crop random_normal
  random_shuffle random_uniform truncated_normal
ops.runtime_settings: config.experimental.VirtualDeviceConfiguration
  config.experimental.get_device_policy config.experimental.get_memory_growth
  config.experimental.get_synchronous_execution config.experimental.get_virtual_device_configuration
  config.experimental.set_device_policy config.experimental.set_memory_growth
  config.experimental.set_synchronous_execution config.experimental.set_virtual_device_configuration
  config.experimental.set_visible_devices config.experimental_connect_to_cluster
  config.experimental_connect_to_host config.experimental_list_devices
  config.experimental_run_functions_eagerly config.get_soft_device_placement
  config.optimizer.get_experimental_options config.optimizer.get_jit
  config.optimizer.set_experimental_options config.optimizer.set_jit
  config.set_soft_device_placement config.threading.get_inter_op_parallelism_threads
  config.threading.get_intra_op_parallelism_threads
  config.threading.set_inter_op_parallelism_threads
  config.threading.set_intra_op_parallelism_threads debugging.get_log_device_placement
  debugging.set_log_device_placement
ops.signal.dct: signal.dct signal.idct spectral.dct spectral.idct
ops.signal.frames: contrib.signal.frame contrib.signal.overlap_and_add signal.frame
  signal.overlap_and_add
ops.signal.mel: contrib.signal.linear_to_mel_weight_matrix
  contrib.signal.mfccs_from_log_mel_spectrograms signal.linear_to_mel_weight_matrix
  signal.mfccs_from_log_mel_spectrograms
ops.signal.stft: contrib.signal.inverse_stft contrib.signal.inverse_stft_window_fn
  contrib.signal.stft signal.inverse_stft signal.inverse_stft_window_fn signal.stft
ops.signal.windows: contrib.signal.hamming_window contrib.signal.hann_window signal.hamming_window
  signal.hann_window
ops.sparse.arithmetic: confusion_matrix math.confusion_matrix
ops.sparse.cross: sparse.cross sparse.cross_hashed
ops.sparse.dense: sparse.eye sparse.from_dense sparse.matmul sparse.merge sparse.sparse_dense_matmul
  sparse.to_dense sparse.to_indicator sparse_merge sparse_tensor_dense_matmul sparse_tensor_to_dense
  sparse_to_dense sparse_to_indicator
ops.sparse.edit_distance: edit_distance
ops.sparse.layout: sparse.concat sparse.expand_dims sparse.reorder sparse.reshape sparse.slice
  sparse.split sparse.transpose sparse_concat sparse_reorder sparse_reshape sparse_slice
  sparse_split sparse_transpose
ops.sparse.math: sparse.add sparse.maximum sparse.minimum sparse.reduce_max sparse.reduce_max_sparse
  sparse.reduce_sum sparse.reduce_sum_sparse sparse.softmax sparse_add sparse_maximum sparse_minimum
  sparse_reduce_max sparse_reduce_max_sparse sparse_reduce_sum sparse_reduce_sum_sparse
  sparse_softmax
ops.sparse.rows: sparse.fill_empty_rows sparse.reset_shape sparse.retain sparse_fill_empty_rows
  sparse_reset_shape sparse_retain
ops.sparse.serialize: deserialize_many_sparse io.deserialize_many_sparse io.serialize_many_sparse
  io.serialize_sparse serialize_many_sparse serialize_sparse
ops.state.dependencies: contrib.checkpoint.capture_dependencies
ops.state.init: constant_initializer glorot_normal_initializer glorot_uniform_initializer
  initializers.constant initializers.glorot_normal initializers.glorot_uniform
  initializers.he_normal initializers.he_uniform initializers.identity initializers.lecun_normal
  initializers.lecun_uniform initializers.ones initializers.orthogonal initializers.random_normal
  initializers.random_uniform initializers.truncated_normal initializers.uniform_unit_scaling
  initializers.variance_scaling initializers.zeros ones_initializer orthogonal_initializer
  random_normal_initializer random_uniform_initializer truncated_normal_initializer
  uniform_unit_scaling_initializer variance_scaling_initializer zeros_initializer
ops.state.reference: assign assign_add assign_sub count_up_to
ops.state.resources: initialize_all_tables initializers.tables_initializer tables_initializer
ops.state.scatter: batch_scatter_update scatter_add scatter_div scatter_max scatter_min scatter_mul
  scatter_nd_add scatter_nd_sub scatter_nd_update scatter_sub scatter_update
ops.state.scope_defaults: VariableScope
ops.state.session_handles: delete_session_tensor get_session_handle get_session_tensor
ops.state.template: make_template
ops.state.variable_collections: all_variables assert_variables_initialized global_variables
  global_variables_initializer initialize_all_variables initialize_local_variables
  initialize_variables initializers.global_variables initializers.local_variables
  initializers.variables is_variable_initialized local_variables local_variables_initializer
  model_variables moving_average_variables report_uninitialized_variables trainable_variables
  variables_initializer
ops.state.variable_modes: VariableAggregation VariableSynchronization
ops.state.variable_partitioners: create_partitioned_variables fixed_size_partitioner
  min_max_variable_partitioner variable_axis_size_partitioner
ops.state.variable_scope: get_local_variable get_variable get_variable_scope variable_creator_scope
  variable_op_scope variable_scope
ops.state.variable_store: AUTO_REUSE disable_resource_variables enable_resource_variables
  no_regularizer resource_variables_enabled
ops.state.variables: Variable
ops.strings.decoding: decode_compressed decode_json_example decode_raw io.decode_compressed
  io.decode_json_example io.decode_raw io.parse_tensor io.serialize_tensor parse_tensor
  serialize_tensor string_to_number strings.to_number
ops.strings.files: io.matching_files io.read_file io.write_file matching_files read_file write_file
ops.strings.fingerprint: fingerprint
ops.strings.format: as_string dtypes.as_string strings.as_string
ops.strings.hash: string_to_hash_bucket string_to_hash_bucket_fast string_to_hash_bucket_strong
  strings.to_hash_bucket strings.to_hash_bucket_fast strings.to_hash_bucket_strong train.sdca_fprint
ops.strings.join: string_join strings.join
ops.strings.regex: regex_replace strings.regex_full_match strings.regex_replace
ops.strings.split: reduce_join string_split strings.reduce_join strings.split
  strings.unsorted_segment_join
ops.strings.substrings: decode_base64 encode_base64 io.decode_base64 io.encode_base64 string_strip
  strings.length strings.lower strings.strip strings.substr strings.upper substr
ops.strings.unicode: strings.unicode_script strings.unicode_transcode
ops.summaries.api: summary.audio summary.get_summary_description summary.histogram summary.image
  summary.merge summary.merge_all summary.scalar summary.tensor_summary summary.text
train.checkpoints.checkpoint_management: contrib.checkpoint.CheckpointManager
  train.CheckpointManager train.checkpoint_exists train.generate_checkpoint_state_proto
  train.get_checkpoint_mtimes train.get_checkpoint_state train.latest_checkpoint
  train.remove_checkpoint train.update_checkpoint_state
train.checkpoints.lookup_mutable: contrib.lookup.MutableDenseHashTable
  contrib.lookup.MutableHashTable lookup.experimental.DenseHashTable
train.checkpoints.meta_graph: train.export_meta_graph train.import_meta_graph
train.checkpoints.saver: train.Saver
train.contrib.batching: contrib.batching.batch_function nondifferentiable_batch_function
train.contrib.bayesflow: contrib.bayesflow.monte_carlo.expectation
  contrib.bayesflow.monte_carlo.expectation_importance_sampler
  contrib.bayesflow.monte_carlo.expectation_importance_sampler_logspace
train.contrib.checkpoint.containers: contrib.checkpoint.UniqueNameTracker
train.contrib.checkpoint.python_state: contrib.checkpoint.NumpyState
train.contrib.checkpoint.split_dependency: contrib.checkpoint.split_dependency
train.contrib.checkpoint.visualize: contrib.checkpoint.dot_graph_from_checkpoint
train.contrib.compiler: contrib.compiler.jit.experimental_jit_scope
  contrib.compiler.xla.check_function_argument_count contrib.compiler.xla.compile
  contrib.compiler.xla.estimator_model_fn xla.experimental.compile xla.experimental.jit_scope
train.contrib.constrained_optimization.candidates:
  contrib.constrained_optimization.find_best_candidate_distribution
  contrib.constrained_optimization.find_best_candidate_index
train.contrib.constrained_optimization.constrained_minimization_problem:
  contrib.constrained_optimization.ConstrainedMinimizationProblem
train.contrib.constrained_optimization.constrained_optimizer:
  contrib.constrained_optimization.ConstrainedOptimizer
train.contrib.constrained_optimization.external_regret_optimizer:
  contrib.constrained_optimization.AdditiveExternalRegretOptimizer
train.contrib.constrained_optimization.swap_regret_optimizer:
  contrib.constrained_optimization.AdditiveSwapRegretOptimizer
  contrib.constrained_optimization.MultiplicativeSwapRegretOptimizer
train.contrib.copy_graph: contrib.copy_graph.copy_op_to_graph
  contrib.copy_graph.copy_variable_to_graph contrib.copy_graph.get_copied_op
train.contrib.crf: contrib.crf.CrfDecodeBackwardRnnCell contrib.crf.CrfDecodeForwardRnnCell
  contrib.crf.CrfForwardRnnCell contrib.crf.crf_binary_score contrib.crf.crf_decode
  contrib.crf.crf_log_likelihood contrib.crf.crf_log_norm contrib.crf.crf_multitag_sequence_score
  contrib.crf.crf_sequence_score contrib.crf.crf_unary_score contrib.crf.viterbi_decode
train.contrib.cudnn_rnn.converters: contrib.cudnn_rnn.CudnnParamsFormatConverterGRU
  contrib.cudnn_rnn.CudnnParamsFormatConverterLSTM contrib.cudnn_rnn.CudnnParamsFormatConverterRelu
  contrib.cudnn_rnn.CudnnParamsFormatConverterTanh
train.contrib.cudnn_rnn.cudnn_rnn: contrib.cudnn_rnn.CudnnGRU contrib.cudnn_rnn.CudnnLSTM
  contrib.cudnn_rnn.CudnnRNNRelu contrib.cudnn_rnn.CudnnRNNTanh
train.contrib.cudnn_rnn.cudnn_rnn_ops: contrib.cudnn_rnn.CudnnCompatibleGRUCell
  contrib.cudnn_rnn.CudnnCompatibleLSTMCell
train.contrib.cudnn_rnn.saveables: contrib.cudnn_rnn.CudnnGRUSaveable
  contrib.cudnn_rnn.CudnnLSTMSaveable contrib.cudnn_rnn.CudnnRNNReluSaveable
  contrib.cudnn_rnn.CudnnRNNTanhSaveable
train.contrib.data.batching: contrib.data.assert_element_shape contrib.data.batch_and_drop_remainder
  contrib.data.padded_batch_and_drop_remainder
train.contrib.data.dataset_ops: contrib.data.Dataset contrib.data.FixedLengthRecordDataset
  contrib.data.TFRecordDataset contrib.data.TextLineDataset
train.contrib.data.get_single_element: contrib.data.reduce_dataset
train.contrib.data.interleave_ops: contrib.data.sloppy_interleave
train.contrib.data.readers: contrib.data.read_batch_features
train.contrib.data.sliding: contrib.data.sliding_window_batch
train.contrib.deprecated: contrib.deprecated.audio_summary contrib.deprecated.histogram_summary
  contrib.deprecated.image_summary contrib.deprecated.merge_all_summaries
  contrib.deprecated.merge_summary contrib.deprecated.scalar_summary
train.contrib.distribute: contrib.distribute.DistributeConfig contrib.distribute.Monitor
  contrib.distribute.StandardInputStep contrib.distribute.StandardSingleLossStep
  contrib.distribute.Step contrib.distribute.run_standard_tensorflow_server
train.contrib.distributions.autoregressive: contrib.distributions.Autoregressive
train.contrib.distributions.batch_reshape: contrib.distributions.BatchReshape
train.contrib.distributions.bijectors.affine: contrib.distributions.bijectors.Affine
  contrib.distributions.bijectors.AffineLinearOperator contrib.distributions.bijectors.AffineScalar
train.contrib.distributions.bijectors.batch_normalization:
  contrib.distributions.bijectors.BatchNormalization
train.contrib.distributions.bijectors.composed: contrib.distributions.bijectors.Bijector
  contrib.distributions.bijectors.Chain contrib.distributions.bijectors.ConditionalBijector
  contrib.distributions.bijectors.Identity contrib.distributions.bijectors.Inline
  contrib.distributions.bijectors.Invert
train.contrib.distributions.bijectors.elementwise: contrib.distributions.bijectors.AbsoluteValue
  contrib.distributions.bijectors.Exp contrib.distributions.bijectors.Gumbel
  contrib.distributions.bijectors.Kumaraswamy contrib.distributions.bijectors.PowerTransform
  contrib.distributions.bijectors.Sigmoid contrib.distributions.bijectors.Softplus
  contrib.distributions.bijectors.Softsign contrib.distributions.bijectors.Square
train.contrib.distributions.bijectors.masked_autoregressive:
  contrib.distributions.bijectors.MaskedAutoregressiveFlow
  contrib.distributions.bijectors.masked_autoregressive_default_template
  contrib.distributions.bijectors.masked_dense
train.contrib.distributions.bijectors.matrices: contrib.distributions.bijectors.CholeskyOuterProduct
  contrib.distributions.bijectors.FillTriangular contrib.distributions.bijectors.MatrixInverseTriL
  contrib.distributions.bijectors.ScaleTriL contrib.distributions.bijectors.TransformDiagonal
train.contrib.distributions.bijectors.real_nvp: contrib.distributions.bijectors.RealNVP
  contrib.distributions.bijectors.real_nvp_default_template
train.contrib.distributions.bijectors.sinh_arcsinh: contrib.distributions.bijectors.SinhArcsinh
train.contrib.distributions.bijectors.vectors: contrib.distributions.bijectors.Ordered
  contrib.distributions.bijectors.Permute contrib.distributions.bijectors.Reshape
  contrib.distributions.bijectors.SoftmaxCentered
train.contrib.distributions.conditional_distribution: contrib.distributions.ConditionalDistribution
  contrib.distributions.ConditionalTransformedDistribution
train.contrib.distributions.counts: contrib.distributions.Binomial contrib.distributions.Geometric
  contrib.distributions.NegativeBinomial contrib.distributions.Poisson
train.contrib.distributions.deterministic: contrib.distributions.Deterministic
  contrib.distributions.VectorDeterministic
train.contrib.distributions.estimator: contrib.distributions.estimator_head_distribution_regression
train.contrib.distributions.independent: contrib.distributions.Independent
train.contrib.distributions.location_scale: contrib.distributions.Cauchy
  contrib.distributions.HalfNormal contrib.distributions.Logistic
train.contrib.distributions.mixture: contrib.distributions.Mixture
  contrib.distributions.MixtureSameFamily
train.contrib.distributions.moving_stats: contrib.distributions.assign_log_moving_mean_exp
  contrib.distributions.assign_moving_mean_variance contrib.distributions.moving_mean_variance
train.contrib.distributions.mvn_linear_operator: contrib.distributions.MultivariateNormalDiag
  contrib.distributions.MultivariateNormalDiagPlusLowRank
  contrib.distributions.MultivariateNormalDiagWithSoftplusScale
  contrib.distributions.MultivariateNormalFullCovariance
  contrib.distributions.MultivariateNormalTriL contrib.distributions.VectorExponentialDiag
  contrib.distributions.VectorLaplaceDiag
train.contrib.distributions.normal_conjugate_posteriors:
  contrib.distributions.normal_conjugates_known_scale_posterior
  contrib.distributions.normal_conjugates_known_scale_predictive
train.contrib.distributions.onehot_categorical: contrib.distributions.ExpRelaxedOneHotCategorical
  contrib.distributions.OneHotCategorical contrib.distributions.RelaxedBernoulli
  contrib.distributions.RelaxedOneHotCategorical
train.contrib.distributions.poisson_lognormal:
  contrib.distributions.PoissonLogNormalQuadratureCompound
  contrib.distributions.quadrature_scheme_lognormal_gauss_hermite
  contrib.distributions.quadrature_scheme_lognormal_quantiles
train.contrib.distributions.positive: contrib.distributions.Chi2 contrib.distributions.Chi2WithAbsDf
  contrib.distributions.InverseGamma contrib.distributions.InverseGammaWithSoftplusConcentrationRate
  contrib.distributions.Kumaraswamy
train.contrib.distributions.quantized_distribution: contrib.distributions.QuantizedDistribution
train.contrib.distributions.sample_stats: contrib.distributions.auto_correlation
  contrib.distributions.percentile
train.contrib.distributions.seed_stream: contrib.distributions.SeedStream
train.contrib.distributions.sinh_arcsinh: contrib.distributions.SinhArcsinh
  contrib.distributions.VectorSinhArcsinhDiag
train.contrib.distributions.vector_diffeomixture: contrib.distributions.VectorDiffeomixture
  contrib.distributions.quadrature_scheme_softmaxnormal_gauss_hermite
  contrib.distributions.quadrature_scheme_softmaxnormal_quantiles
train.contrib.distributions.wishart: contrib.distributions.WishartCholesky
  contrib.distributions.WishartFull
train.contrib.eager: contrib.eager.ASYNC contrib.eager.DEVICE_PLACEMENT_EXPLICIT
  contrib.eager.DEVICE_PLACEMENT_SILENT contrib.eager.DEVICE_PLACEMENT_WARN contrib.eager.SYNC
  contrib.eager.defun contrib.eager.get_optimizer_variables contrib.eager.in_eager_mode
  contrib.eager.list_devices contrib.eager.num_gpus contrib.eager.run
  contrib.eager.run_all_tests_in_graph_and_eager_modes
  contrib.eager.run_test_in_graph_and_eager_modes
train.contrib.eager_gradients: contrib.eager.gradients_function contrib.eager.implicit_gradients
  contrib.eager.implicit_value_and_gradients contrib.eager.value_and_gradients_function
train.contrib.estimator.boosted_trees: contrib.estimator.boosted_trees_classifier_train_in_memory
  contrib.estimator.boosted_trees_regressor_train_in_memory
train.contrib.estimator.dnn_with_layer_annotations:
  contrib.estimator.DNNClassifierWithLayerAnnotations
  contrib.estimator.DNNRegressorWithLayerAnnotations
train.contrib.estimator.export: contrib.estimator.build_supervised_input_receiver_fn_from_input_fn
  contrib.estimator.export_all_saved_models contrib.estimator.export_saved_model_for_mode
train.contrib.estimator.extenders: contrib.estimator.TowerOptimizer
  contrib.estimator.clip_gradients_by_norm contrib.estimator.forward_features
  contrib.estimator.replicate_model_fn
train.contrib.estimator.head: contrib.estimator.binary_classification_head
  contrib.estimator.logistic_regression_head contrib.estimator.multi_class_head
  contrib.estimator.poisson_regression_head contrib.estimator.regression_head
train.contrib.estimator.head_classes: estimator.BinaryClassHead estimator.Head
  estimator.LogisticRegressionHead estimator.MultiClassHead estimator.MultiHead
  estimator.MultiLabelHead estimator.PoissonRegressionHead estimator.RegressionHead
train.contrib.estimator.multi_head: contrib.estimator.multi_head
train.contrib.estimator.multi_label: contrib.estimator.multi_label_head
train.contrib.estimator.saved_model_estimator: contrib.estimator.SavedModelEstimator
train.contrib.factorization.clustering_ops: contrib.factorization.COSINE_DISTANCE
  contrib.factorization.KMEANS_PLUS_PLUS_INIT contrib.factorization.KMeans
  contrib.factorization.RANDOM_INIT contrib.factorization.SQUARED_EUCLIDEAN_DISTANCE
train.contrib.factorization.factorization_ops: contrib.factorization.WALSModel
train.contrib.factorization.gmm: contrib.factorization.GMM
train.contrib.factorization.gmm_ops: contrib.factorization.GmmAlgorithm contrib.factorization.gmm
train.contrib.factorization.kmeans: contrib.factorization.KMeansClustering
  estimator.experimental.KMeans
train.contrib.factorization.wals: contrib.factorization.WALSMatrixFactorization
train.contrib.framework.arg_scope: contrib.framework.add_arg_scope contrib.framework.arg_scope
  contrib.framework.arg_scoped_arguments contrib.framework.current_arg_scope
  contrib.framework.has_arg_scope
train.contrib.framework.assigning: contrib.framework.assign_from_checkpoint
  contrib.framework.assign_from_checkpoint_fn contrib.framework.assign_from_values
  contrib.framework.assign_from_values_fn contrib.framework.get_variable_full_name
  contrib.framework.zero_initializer
train.contrib.framework.checkpoint_ops: contrib.framework.load_and_remap_matrix_initializer
  contrib.framework.load_embedding_initializer
  contrib.framework.load_linear_multiclass_bias_initializer
  contrib.framework.load_variable_slot_initializer
train.contrib.framework.checkpoint_utils: contrib.framework.init_from_checkpoint
  contrib.framework.list_variables contrib.framework.load_checkpoint contrib.framework.load_variable
train.contrib.framework.graph_util: contrib.framework.fuse_op contrib.framework.get_placeholders
train.contrib.framework.script_ops: contrib.framework.py_func
train.contrib.framework.smart: contrib.framework.smart_case
train.contrib.framework.tensor_util: contrib.framework.assert_scalar_int
  contrib.framework.reduce_sum_n contrib.framework.remove_squeezable_dimensions
  contrib.framework.with_same_shape contrib.framework.with_shape
train.contrib.framework.variables: contrib.framework.VariableDeviceChooser
  contrib.framework.add_model_variable contrib.framework.assert_global_step
  contrib.framework.assert_or_get_global_step contrib.framework.create_global_step
  contrib.framework.filter_variables contrib.framework.get_global_step
  contrib.framework.get_local_variables contrib.framework.get_model_variables
  contrib.framework.get_or_create_global_step contrib.framework.get_trainable_variables
  contrib.framework.get_unique_variable contrib.framework.get_variables
  contrib.framework.get_variables_by_name contrib.framework.get_variables_by_suffix
  contrib.framework.get_variables_to_restore contrib.framework.global_variable
  contrib.framework.local_variable contrib.framework.model_variable contrib.framework.variable
train.contrib.graph_editor.edit: contrib.graph_editor.bypass contrib.graph_editor.connect
  contrib.graph_editor.detach contrib.graph_editor.detach_control_inputs
  contrib.graph_editor.detach_control_outputs contrib.graph_editor.detach_inputs
  contrib.graph_editor.detach_outputs
train.contrib.graph_editor.reroute: contrib.graph_editor.add_control_inputs
  contrib.graph_editor.remove_control_inputs contrib.graph_editor.reroute_inputs
  contrib.graph_editor.reroute_ios contrib.graph_editor.reroute_outputs
  contrib.graph_editor.reroute_ts contrib.graph_editor.swap_inputs contrib.graph_editor.swap_ios
  contrib.graph_editor.swap_outputs contrib.graph_editor.swap_ts
train.contrib.graph_editor.select: contrib.graph_editor.can_be_regex contrib.graph_editor.check_cios
  contrib.graph_editor.compute_boundary_ts contrib.graph_editor.filter_ops
  contrib.graph_editor.filter_ops_from_regex contrib.graph_editor.filter_ts
  contrib.graph_editor.filter_ts_from_regex contrib.graph_editor.get_backward_walk_ops
  contrib.graph_editor.get_forward_walk_ops contrib.graph_editor.get_name_scope_ops
  contrib.graph_editor.get_ops_ios contrib.graph_editor.get_walks_intersection_ops
  contrib.graph_editor.get_walks_union_ops contrib.graph_editor.get_within_boundary_ops
  contrib.graph_editor.make_regex contrib.graph_editor.select_ops
  contrib.graph_editor.select_ops_and_ts contrib.graph_editor.select_ts
train.contrib.graph_editor.subgraph: contrib.graph_editor.SubGraphView
  contrib.graph_editor.make_view contrib.graph_editor.make_view_from_scope contrib.graph_editor.sgv
  contrib.graph_editor.sgv_scope
train.contrib.graph_editor.transform: contrib.graph_editor.Transformer
  contrib.graph_editor.TransformerInfo contrib.graph_editor.assign_renamed_collections_handler
  contrib.graph_editor.copy contrib.graph_editor.copy_op_handler
  contrib.graph_editor.copy_with_input_replacements contrib.graph_editor.graph_replace
  contrib.graph_editor.keep_t_if_possible_handler
  contrib.graph_editor.replace_t_with_placeholder_handler
  contrib.graph_editor.transform_op_if_inside_handler
train.contrib.graph_editor.util: contrib.graph_editor.ControlOutputs
  contrib.graph_editor.get_consuming_ops contrib.graph_editor.get_generating_ops
  contrib.graph_editor.get_tensors contrib.graph_editor.make_list_of_op
  contrib.graph_editor.make_list_of_t contrib.graph_editor.make_placeholder_from_dtype_and_shape
  contrib.graph_editor.make_placeholder_from_tensor contrib.graph_editor.ph
  contrib.graph_editor.placeholder_name
train.contrib.grid_rnn.grid_rnn_cell: contrib.grid_rnn.Grid1BasicLSTMCell
  contrib.grid_rnn.Grid1BasicRNNCell contrib.grid_rnn.Grid1LSTMCell
  contrib.grid_rnn.Grid2BasicLSTMCell contrib.grid_rnn.Grid2BasicRNNCell
  contrib.grid_rnn.Grid2GRUCell contrib.grid_rnn.Grid2LSTMCell contrib.grid_rnn.Grid3LSTMCell
  contrib.grid_rnn.GridRNNCell
train.contrib.image.dense_image_warp: contrib.image.dense_image_warp
train.contrib.image.image_ops: contrib.image.angles_to_projective_transforms
  contrib.image.bipartite_match contrib.image.compose_transforms contrib.image.connected_components
  contrib.image.rotate contrib.image.transform contrib.image.translate
  contrib.image.translations_to_projective_transforms
train.contrib.image.interpolate_spline: contrib.image.interpolate_spline
train.contrib.image.single_image_random_dot_stereograms:
  contrib.image.single_image_random_dot_stereograms
train.contrib.image.sparse_image_warp: contrib.image.sparse_image_warp
train.contrib.input_pipeline: contrib.input_pipeline.obtain_next
train.contrib.integrate: contrib.integrate.odeint contrib.integrate.odeint_fixed
train.contrib.kernel_estimators: contrib.kernel_methods.KernelLinearClassifier
train.contrib.kernel_methods: contrib.kernel_methods.RandomFourierFeatureMapper
  contrib.kernel_methods.sparse_multiclass_hinge_loss
train.contrib.labeled_tensor.alignment: contrib.labeled_tensor.AxisOrderError
  contrib.labeled_tensor.align contrib.labeled_tensor.axis_order_scope
  contrib.labeled_tensor.check_axis_order contrib.labeled_tensor.expand_dims
  contrib.labeled_tensor.impose_axis_order contrib.labeled_tensor.transpose
train.contrib.labeled_tensor.axes: contrib.labeled_tensor.Axes contrib.labeled_tensor.Axis
  contrib.labeled_tensor.as_axis
train.contrib.labeled_tensor.core: contrib.labeled_tensor.abs contrib.labeled_tensor.acos
  contrib.labeled_tensor.add contrib.labeled_tensor.asin contrib.labeled_tensor.atan
  contrib.labeled_tensor.ceil contrib.labeled_tensor.cos contrib.labeled_tensor.define_binary_op
  contrib.labeled_tensor.define_unary_op contrib.labeled_tensor.digamma contrib.labeled_tensor.div
  contrib.labeled_tensor.equal contrib.labeled_tensor.erf contrib.labeled_tensor.erfc
  contrib.labeled_tensor.exp contrib.labeled_tensor.floor contrib.labeled_tensor.greater
  contrib.labeled_tensor.greater_equal contrib.labeled_tensor.identity contrib.labeled_tensor.igamma
  contrib.labeled_tensor.igammac contrib.labeled_tensor.less contrib.labeled_tensor.less_equal
  contrib.labeled_tensor.lgamma contrib.labeled_tensor.log contrib.labeled_tensor.logical_and
  contrib.labeled_tensor.logical_not contrib.labeled_tensor.logical_or
  contrib.labeled_tensor.logical_xor contrib.labeled_tensor.maximum contrib.labeled_tensor.minimum
  contrib.labeled_tensor.mod contrib.labeled_tensor.mul contrib.labeled_tensor.neg
  contrib.labeled_tensor.not_equal contrib.labeled_tensor.polygamma contrib.labeled_tensor.pow
  contrib.labeled_tensor.reciprocal contrib.labeled_tensor.round contrib.labeled_tensor.rsqrt
  contrib.labeled_tensor.sigmoid contrib.labeled_tensor.sign contrib.labeled_tensor.sin
  contrib.labeled_tensor.slice contrib.labeled_tensor.sqrt contrib.labeled_tensor.square
  contrib.labeled_tensor.squared_difference contrib.labeled_tensor.sub contrib.labeled_tensor.tan
  contrib.labeled_tensor.tanh contrib.labeled_tensor.zeta
train.contrib.labeled_tensor.functional: contrib.labeled_tensor.batch contrib.labeled_tensor.foldl
  contrib.labeled_tensor.map_fn contrib.labeled_tensor.shuffle_batch
train.contrib.labeled_tensor.io_ops: contrib.labeled_tensor.FixedLenFeature
  contrib.labeled_tensor.parse_example contrib.labeled_tensor.parse_single_example
  contrib.labeled_tensor.placeholder
train.contrib.labeled_tensor.nn: contrib.labeled_tensor.nn.crelu contrib.labeled_tensor.nn.elu
  contrib.labeled_tensor.nn.l2_loss contrib.labeled_tensor.nn.log_softmax
  contrib.labeled_tensor.nn.relu contrib.labeled_tensor.nn.relu6
  contrib.labeled_tensor.nn.sigmoid_cross_entropy_with_logits contrib.labeled_tensor.nn.softmax
  contrib.labeled_tensor.nn.softmax_cross_entropy_with_logits contrib.labeled_tensor.nn.softplus
  contrib.labeled_tensor.nn.sparse_softmax_cross_entropy_with_logits
train.contrib.labeled_tensor.ops: contrib.labeled_tensor.concat contrib.labeled_tensor.pack
  contrib.labeled_tensor.pad contrib.labeled_tensor.random_crop contrib.labeled_tensor.rename_axis
  contrib.labeled_tensor.reshape contrib.labeled_tensor.select contrib.labeled_tensor.squeeze
  contrib.labeled_tensor.tile contrib.labeled_tensor.unpack
train.contrib.labeled_tensor.reductions: contrib.labeled_tensor.define_reduce_op
  contrib.labeled_tensor.matmul contrib.labeled_tensor.reduce_all contrib.labeled_tensor.reduce_any
  contrib.labeled_tensor.reduce_logsumexp contrib.labeled_tensor.reduce_max
  contrib.labeled_tensor.reduce_mean contrib.labeled_tensor.reduce_min
  contrib.labeled_tensor.reduce_prod contrib.labeled_tensor.reduce_sum
train.contrib.labeled_tensor.sugar: contrib.labeled_tensor.ReshapeCoder
train.contrib.labeled_tensor.tensor: contrib.labeled_tensor.LabeledTensor
  contrib.labeled_tensor.convert_to_labeled_tensor
train.contrib.labeled_tensor.values: contrib.labeled_tensor.boolean_mask contrib.labeled_tensor.cast
  contrib.labeled_tensor.constant contrib.labeled_tensor.ones_like
  contrib.labeled_tensor.verify_tensor_all_finite contrib.labeled_tensor.where
  contrib.labeled_tensor.zeros_like
train.contrib.layers.batch_norm: contrib.layers.batch_norm
train.contrib.layers.columns.crossed: contrib.layers.crossed_column
train.contrib.layers.columns.embedding: contrib.layers.embedding_column
  contrib.layers.one_hot_column contrib.layers.scattered_embedding_column
  contrib.layers.shared_embedding_columns
train.contrib.layers.columns.real_valued: contrib.layers.bucketized_column
  contrib.layers.real_valued_column
train.contrib.layers.columns.sparse: contrib.layers.sparse_column_with_hash_bucket
  contrib.layers.sparse_column_with_integerized_feature contrib.layers.sparse_column_with_keys
  contrib.layers.sparse_column_with_vocabulary_file contrib.layers.weighted_sparse_column
train.contrib.layers.convolutions: contrib.layers.conv1d contrib.layers.conv2d
  contrib.layers.conv2d_in_plane contrib.layers.conv3d contrib.layers.convolution
  contrib.layers.convolution1d contrib.layers.convolution2d contrib.layers.convolution2d_in_plane
  contrib.layers.convolution3d
train.contrib.layers.dense: contrib.layers.bias_add contrib.layers.elu
  contrib.layers.fully_connected contrib.layers.legacy_fully_connected contrib.layers.legacy_linear
  contrib.layers.legacy_relu contrib.layers.linear contrib.layers.relu contrib.layers.relu6
train.contrib.layers.embedding_ops: contrib.layers.embedding_lookup_unique
  contrib.layers.safe_embedding_lookup_sparse
train.contrib.layers.encoders: contrib.layers.bow_encoder contrib.layers.embed_sequence
train.contrib.layers.feature_column: contrib.layers.create_feature_spec_for_parsing
  contrib.layers.make_place_holder_tensors_for_base_features
train.contrib.layers.feature_column_ops: contrib.layers.check_feature_columns
  contrib.layers.infer_real_valued_columns contrib.layers.input_from_feature_columns
  contrib.layers.joint_weighted_sum_from_feature_columns
  contrib.layers.parse_feature_columns_from_examples
  contrib.layers.parse_feature_columns_from_sequence_examples
  contrib.layers.sequence_input_from_feature_columns contrib.layers.transform_features
  contrib.layers.weighted_sum_from_feature_columns
train.contrib.layers.gdn: contrib.layers.GDN contrib.layers.gdn
train.contrib.layers.initializers: contrib.layers.variance_scaling_initializer
  contrib.layers.xavier_initializer contrib.layers.xavier_initializer_conv2d
train.contrib.layers.normalization: contrib.layers.group_norm contrib.layers.instance_norm
  contrib.layers.layer_norm
train.contrib.layers.optimizers: contrib.layers.OPTIMIZER_CLS_NAMES
  contrib.layers.OPTIMIZER_SUMMARIES contrib.layers.optimize_loss
train.contrib.layers.other_convolutions: contrib.layers.conv2d_transpose
  contrib.layers.conv3d_transpose contrib.layers.convolution2d_transpose
  contrib.layers.convolution3d_transpose contrib.layers.separable_conv2d
  contrib.layers.separable_convolution2d
train.contrib.layers.pooling: contrib.layers.avg_pool2d contrib.layers.avg_pool3d
  contrib.layers.max_pool2d contrib.layers.max_pool3d
train.contrib.layers.regularizers: contrib.layers.apply_regularization
  contrib.layers.l1_l2_regularizer contrib.layers.l1_regularizer contrib.layers.l2_regularizer
  contrib.layers.sum_regularizer
train.contrib.layers.rev_block_lib: contrib.layers.RevBlock contrib.layers.recompute_grad
  contrib.layers.rev_block
train.contrib.layers.shaping: contrib.layers.dense_to_sparse contrib.layers.dropout
  contrib.layers.flatten contrib.layers.images_to_sequence contrib.layers.maxout
  contrib.layers.one_hot_encoding contrib.layers.repeat contrib.layers.scale_gradient
  contrib.layers.sequence_to_images contrib.layers.softmax contrib.layers.spatial_softmax
  contrib.layers.stack contrib.layers.unit_norm
train.contrib.layers.sparse_feature_cross_op: contrib.layers.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY
train.contrib.layers.summaries: contrib.layers.summaries.summarize_activation
  contrib.layers.summaries.summarize_activations contrib.layers.summaries.summarize_biases
  contrib.layers.summaries.summarize_collection contrib.layers.summaries.summarize_tensor
  contrib.layers.summaries.summarize_tensors contrib.layers.summaries.summarize_variables
  contrib.layers.summaries.summarize_weights contrib.layers.summarize_activation
  contrib.layers.summarize_activations contrib.layers.summarize_biases
  contrib.layers.summarize_collection contrib.layers.summarize_tensor
  contrib.layers.summarize_tensors contrib.layers.summarize_variables
  contrib.layers.summarize_weights
train.contrib.layers.target_column: contrib.layers.multi_class_target
  contrib.layers.regression_target
train.contrib.learn.datasets.base: contrib.learn.datasets.base.Dataset
  contrib.learn.datasets.base.Datasets contrib.learn.datasets.base.load_boston
  contrib.learn.datasets.base.load_iris contrib.learn.datasets.base.maybe_download
  contrib.learn.datasets.base.retry contrib.learn.datasets.base.shrink_csv
  contrib.learn.datasets.load_boston contrib.learn.datasets.load_iris
train.contrib.learn.datasets.load: contrib.learn.datasets.DATASETS contrib.learn.datasets.SYNTHETIC
  contrib.learn.datasets.load_dataset contrib.learn.datasets.make_dataset
train.contrib.learn.datasets.synthetic: contrib.learn.datasets.synthetic.circles
  contrib.learn.datasets.synthetic.spirals
train.contrib.learn.datasets.text_datasets: contrib.learn.datasets.text_datasets.load_dbpedia
train.contrib.learn.estimators._sklearn: contrib.learn.NotFittedError
train.contrib.learn.estimators.constants: contrib.learn.PredictionKey contrib.learn.ProblemType
train.contrib.learn.estimators.dnn: contrib.learn.DNNClassifier contrib.learn.DNNEstimator
  contrib.learn.DNNRegressor
train.contrib.learn.estimators.dnn_linear_combined: contrib.learn.DNNLinearCombinedClassifier
  contrib.learn.DNNLinearCombinedEstimator contrib.learn.DNNLinearCombinedRegressor
train.contrib.learn.estimators.dynamic_rnn_estimator: contrib.learn.DynamicRnnEstimator
train.contrib.learn.estimators.estimator: contrib.learn.BaseEstimator contrib.learn.Estimator
train.contrib.learn.estimators.evaluable: contrib.learn.Evaluable contrib.learn.Trainable
train.contrib.learn.estimators.head: contrib.learn.binary_svm_head
  contrib.learn.head.binary_svm_head contrib.learn.head.loss_only_head
  contrib.learn.head.multi_class_head contrib.learn.head.multi_head
  contrib.learn.head.multi_label_head contrib.learn.head.poisson_regression_head
  contrib.learn.head.regression_head contrib.learn.multi_class_head contrib.learn.multi_head
  contrib.learn.multi_label_head contrib.learn.poisson_regression_head contrib.learn.regression_head
train.contrib.learn.estimators.head_classes: contrib.learn.Head contrib.learn.no_op_train_fn
train.contrib.learn.estimators.inputs: contrib.learn.infer_real_valued_columns_from_input
  contrib.learn.infer_real_valued_columns_from_input_fn
train.contrib.learn.estimators.kmeans: contrib.learn.KMeansClustering
train.contrib.learn.estimators.linear: contrib.learn.LinearClassifier contrib.learn.LinearEstimator
  contrib.learn.LinearRegressor
train.contrib.learn.estimators.logistic_regressor: contrib.learn.LogisticRegressor
train.contrib.learn.estimators.model_fn: contrib.learn.ModeKeys contrib.learn.ModelFnOps
  contrib.learn.estimators.model_fn.ModelFnOps
train.contrib.learn.estimators.run_config: contrib.learn.RunConfig contrib.learn.TaskType
train.contrib.learn.estimators.sk_compat: contrib.learn.SKCompat
train.contrib.learn.estimators.svm: contrib.learn.SVM
train.contrib.learn.experiment: contrib.learn.Experiment
train.contrib.learn.export_monitor: contrib.learn.monitors.ExportMonitor
train.contrib.learn.export_strategy: contrib.learn.ExportStrategy
train.contrib.learn.graph_actions: contrib.learn.graph_actions.infer
  contrib.learn.graph_actions.run_feeds contrib.learn.graph_actions.run_n contrib.learn.infer
  contrib.learn.run_feeds contrib.learn.run_n
train.contrib.learn.graph_loops: contrib.learn.evaluate
  contrib.learn.graph_actions.clear_summary_writers contrib.learn.graph_actions.evaluate
  contrib.learn.graph_actions.get_summary_writer contrib.learn.graph_actions.train
  contrib.learn.train
train.contrib.learn.learn_io.data_feeder: contrib.learn.io.DataFeeder
  contrib.learn.io.StreamingDataFeeder contrib.learn.io.setup_predict_data_feeder
  contrib.learn.io.setup_processor_data_feeder contrib.learn.io.setup_train_data_feeder
train.contrib.learn.learn_io.frames: contrib.learn.extract_dask_data
  contrib.learn.extract_dask_labels contrib.learn.extract_pandas_data
  contrib.learn.extract_pandas_labels contrib.learn.extract_pandas_matrix contrib.learn.io.HAS_DASK
  contrib.learn.io.HAS_PANDAS contrib.learn.io.extract_dask_data
  contrib.learn.io.extract_dask_labels contrib.learn.io.extract_pandas_data
  contrib.learn.io.extract_pandas_labels contrib.learn.io.extract_pandas_matrix
train.contrib.learn.learn_io.generator_io: contrib.learn.io.generator_input_fn
train.contrib.learn.learn_io.graph_io: contrib.learn.io.queue_parsed_features
  contrib.learn.io.read_batch_examples contrib.learn.io.read_batch_features
  contrib.learn.io.read_batch_record_features contrib.learn.io.read_keyed_batch_examples
  contrib.learn.io.read_keyed_batch_examples_shared_queue contrib.learn.io.read_keyed_batch_features
  contrib.learn.io.read_keyed_batch_features_shared_queue contrib.learn.read_batch_examples
  contrib.learn.read_batch_features contrib.learn.read_batch_record_features
  contrib.learn.read_keyed_batch_examples contrib.learn.read_keyed_batch_examples_shared_queue
  contrib.learn.read_keyed_batch_features contrib.learn.read_keyed_batch_features_shared_queue
train.contrib.learn.learn_io.numpy_io: contrib.learn.io.numpy_input_fn
train.contrib.learn.learn_io.pandas_io: contrib.learn.io.pandas_input_fn
train.contrib.learn.learn_runner: contrib.learn.learn_runner.run contrib.learn.learn_runner.tune
train.contrib.learn.metric_spec: contrib.learn.MetricSpec
train.contrib.learn.models: contrib.learn.models.bidirectional_rnn
  contrib.learn.models.get_rnn_model contrib.learn.models.linear_regression
  contrib.learn.models.linear_regression_zero_init contrib.learn.models.logistic_regression
  contrib.learn.models.logistic_regression_zero_init
train.contrib.learn.monitor_base: contrib.learn.monitors.BaseMonitor contrib.learn.monitors.EveryN
  contrib.learn.monitors.RunHookAdapterForMonitors
  contrib.learn.monitors.replace_monitors_with_hooks
train.contrib.learn.monitors: contrib.learn.NanLossDuringTrainingError
  contrib.learn.monitors.CaptureVariable contrib.learn.monitors.CheckpointSaver
  contrib.learn.monitors.GraphDump contrib.learn.monitors.LoggingTrainable
  contrib.learn.monitors.NanLoss contrib.learn.monitors.NanLossDuringTrainingError
  contrib.learn.monitors.PrintTensor contrib.learn.monitors.StepCounter
  contrib.learn.monitors.StopAtStep contrib.learn.monitors.SummarySaver
  contrib.learn.monitors.ValidationMonitor contrib.learn.monitors.get_default_monitors
train.contrib.learn.ops.embeddings_ops: contrib.learn.ops.categorical_variable
  contrib.learn.ops.embedding_lookup
train.contrib.learn.ops.losses_ops: contrib.learn.ops.mean_squared_error_regressor
  contrib.learn.ops.softmax_classifier
train.contrib.learn.ops.seq2seq_ops: contrib.learn.ops.rnn_decoder contrib.learn.ops.rnn_seq2seq
  contrib.learn.ops.seq2seq_inputs contrib.learn.ops.sequence_classifier
train.contrib.learn.preprocessing.categorical: contrib.learn.preprocessing.CategoricalProcessor
train.contrib.learn.preprocessing.categorical_vocabulary:
  contrib.learn.preprocessing.CategoricalVocabulary
train.contrib.learn.preprocessing.text: contrib.learn.preprocessing.ByteProcessor
  contrib.learn.preprocessing.TOKENIZER_RE contrib.learn.preprocessing.VocabularyProcessor
  contrib.learn.preprocessing.tokenizer
train.contrib.learn.utils.input_fn_utils: contrib.learn.InputFnOps
  contrib.learn.build_parsing_serving_input_fn contrib.learn.utils.build_parsing_serving_input_fn
  contrib.learn.utils.input_fn_utils.InputFnOps
  contrib.learn.utils.input_fn_utils.build_default_serving_input_fn
  contrib.learn.utils.input_fn_utils.build_parsing_serving_input_fn
train.contrib.learn.utils.saved_model_export_utils: contrib.learn.make_export_strategy
  contrib.learn.utils.make_export_strategy
  contrib.learn.utils.saved_model_export_utils.build_all_signature_defs
  contrib.learn.utils.saved_model_export_utils.build_standardized_signature_def
  contrib.learn.utils.saved_model_export_utils.extend_export_strategy
  contrib.learn.utils.saved_model_export_utils.garbage_collect_exports
  contrib.learn.utils.saved_model_export_utils.get_input_alternatives
  contrib.learn.utils.saved_model_export_utils.get_output_alternatives
  contrib.learn.utils.saved_model_export_utils.get_temp_export_dir
  contrib.learn.utils.saved_model_export_utils.get_timestamped_export_dir
  contrib.learn.utils.saved_model_export_utils.make_best_model_export_strategy
  contrib.learn.utils.saved_model_export_utils.make_export_strategy
  contrib.learn.utils.saved_model_export_utils.make_parsing_export_strategy
train.contrib.legacy_seq2seq.losses: contrib.legacy_seq2seq.model_with_buckets
  contrib.legacy_seq2seq.sequence_loss contrib.legacy_seq2seq.sequence_loss_by_example
train.contrib.legacy_seq2seq.models: contrib.legacy_seq2seq.basic_rnn_seq2seq
  contrib.legacy_seq2seq.embedding_attention_seq2seq contrib.legacy_seq2seq.embedding_rnn_seq2seq
  contrib.legacy_seq2seq.embedding_tied_rnn_seq2seq contrib.legacy_seq2seq.one2many_rnn_seq2seq
  contrib.legacy_seq2seq.tied_rnn_seq2seq
train.contrib.legacy_seq2seq.seq2seq: contrib.legacy_seq2seq.attention_decoder
  contrib.legacy_seq2seq.embedding_attention_decoder contrib.legacy_seq2seq.embedding_rnn_decoder
  contrib.legacy_seq2seq.rnn_decoder
train.contrib.linear_optimizer.sdca_ops: contrib.linear_optimizer.SdcaModel
train.contrib.linear_optimizer.sdca_optimizer: contrib.linear_optimizer.SDCAOptimizer
train.contrib.linear_optimizer.sparse_feature_column: contrib.linear_optimizer.SparseFeatureColumn
train.contrib.lookup: contrib.lookup.HashTable contrib.lookup.index_table_from_tensor
  contrib.lookup.index_to_string contrib.lookup.index_to_string_table_from_tensor
  contrib.lookup.string_to_index contrib.lookup.string_to_index_table_from_file
  contrib.lookup.string_to_index_table_from_tensor
train.contrib.losses.cluster_loss: contrib.losses.metric_learning.cluster_loss
train.contrib.losses.loss_ops: contrib.losses.absolute_difference contrib.losses.add_loss
  contrib.losses.compute_weighted_loss contrib.losses.cosine_distance contrib.losses.get_losses
  contrib.losses.get_regularization_losses contrib.losses.get_total_loss contrib.losses.hinge_loss
  contrib.losses.log_loss contrib.losses.mean_pairwise_squared_error
  contrib.losses.mean_squared_error contrib.losses.sigmoid_cross_entropy
  contrib.losses.softmax_cross_entropy contrib.losses.sparse_softmax_cross_entropy
train.contrib.losses.metric_loss_ops: contrib.losses.metric_learning.contrastive_loss
  contrib.losses.metric_learning.lifted_struct_loss contrib.losses.metric_learning.npairs_loss
  contrib.losses.metric_learning.npairs_loss_multilabel
  contrib.losses.metric_learning.triplet_semihard_loss
train.contrib.memory_stats: contrib.memory_stats.BytesInUse contrib.memory_stats.BytesLimit
  contrib.memory_stats.MaxBytesInUse
train.contrib.meta_graph_transform:
  contrib.meta_graph_transform.meta_graph_transform.meta_graph_transform
train.contrib.metrics.accumulating: contrib.metrics.auc_with_confidence_intervals
  contrib.metrics.streaming_concat contrib.metrics.streaming_dynamic_auc
train.contrib.metrics.histogram_ops: contrib.metrics.auc_using_histogram
train.contrib.metrics.rates: contrib.metrics.f1_score contrib.metrics.precision_at_recall
  contrib.metrics.precision_recall_at_equal_thresholds contrib.metrics.recall_at_precision
  contrib.metrics.streaming_curve_points contrib.metrics.streaming_false_negative_rate
  contrib.metrics.streaming_false_negative_rate_at_thresholds
  contrib.metrics.streaming_false_negatives_at_thresholds
  contrib.metrics.streaming_false_positive_rate
  contrib.metrics.streaming_false_positive_rate_at_thresholds
  contrib.metrics.streaming_false_positives_at_thresholds
  contrib.metrics.streaming_true_negatives_at_thresholds
  contrib.metrics.streaming_true_positives_at_thresholds
train.contrib.metrics.statistics: contrib.metrics.accuracy contrib.metrics.aggregate_metric_map
  contrib.metrics.aggregate_metrics contrib.metrics.cohen_kappa contrib.metrics.confusion_matrix
  contrib.metrics.count contrib.metrics.sparse_recall_at_top_k contrib.metrics.streaming_covariance
  contrib.metrics.streaming_mean_cosine_distance contrib.metrics.streaming_pearson_correlation
  contrib.metrics.streaming_recall_at_k contrib.metrics.streaming_sparse_average_precision_at_top_k
  contrib.metrics.streaming_sparse_precision_at_top_k
train.contrib.metrics.streaming: contrib.metrics.streaming_accuracy contrib.metrics.streaming_auc
  contrib.metrics.streaming_false_negatives contrib.metrics.streaming_false_positives
  contrib.metrics.streaming_mean contrib.metrics.streaming_mean_absolute_error
  contrib.metrics.streaming_mean_iou contrib.metrics.streaming_mean_relative_error
  contrib.metrics.streaming_mean_squared_error contrib.metrics.streaming_mean_tensor
  contrib.metrics.streaming_percentage_less contrib.metrics.streaming_precision
  contrib.metrics.streaming_precision_at_thresholds contrib.metrics.streaming_recall
  contrib.metrics.streaming_recall_at_thresholds contrib.metrics.streaming_root_mean_squared_error
  contrib.metrics.streaming_sensitivity_at_specificity
  contrib.metrics.streaming_sparse_average_precision_at_k
  contrib.metrics.streaming_sparse_precision_at_k contrib.metrics.streaming_sparse_recall_at_k
  contrib.metrics.streaming_specificity_at_sensitivity contrib.metrics.streaming_true_negatives
  contrib.metrics.streaming_true_positives
train.contrib.mixed_precision.loss_scale_manager:
  contrib.mixed_precision.ExponentialUpdateLossScaleManager
  contrib.mixed_precision.FixedLossScaleManager contrib.mixed_precision.LossScaleManager
train.contrib.mixed_precision.loss_scale_optimizer: contrib.mixed_precision.LossScaleOptimizer
train.contrib.model_pruning.layers: contrib.model_pruning.masked_conv2d
  contrib.model_pruning.masked_convolution contrib.model_pruning.masked_fully_connected
train.contrib.model_pruning.learning: contrib.model_pruning.train
train.contrib.model_pruning.pruning: contrib.model_pruning.Pruning contrib.model_pruning.apply_mask
  contrib.model_pruning.get_masked_weights contrib.model_pruning.get_masks
  contrib.model_pruning.get_pruning_hparams contrib.model_pruning.get_thresholds
  contrib.model_pruning.get_weight_sparsity contrib.model_pruning.get_weights
train.contrib.model_pruning.rnn_cells: contrib.model_pruning.MaskedBasicLSTMCell
  contrib.model_pruning.MaskedLSTMCell
train.contrib.model_pruning.strip_pruning_vars_lib: contrib.model_pruning.graph_def_from_checkpoint
  contrib.model_pruning.strip_pruning_vars_fn
train.contrib.nn.alpha_dropout: contrib.nn.alpha_dropout
train.contrib.nn.cross_entropy: contrib.nn.deprecated_flipped_sigmoid_cross_entropy_with_logits
  contrib.nn.deprecated_flipped_softmax_cross_entropy_with_logits
  contrib.nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits
train.contrib.nn.nn_ops: contrib.nn.nth_element
train.contrib.nn.sampling_ops: contrib.nn.rank_sampled_softmax_loss
  contrib.nn.sampled_sparse_softmax_loss
train.contrib.nn.scaled_softplus: contrib.nn.scaled_softplus
train.contrib.opt.adam_variants: contrib.opt.AdaMaxOptimizer contrib.opt.NadamOptimizer
  contrib.opt.RegAdagradOptimizer
train.contrib.opt.agn_optimizer: contrib.opt.AGNCustomGetter contrib.opt.AGNOptimizer
train.contrib.opt.elastic_average_optimizer: contrib.opt.ElasticAverageCustomGetter
  contrib.opt.ElasticAverageOptimizer
train.contrib.opt.external_optimizer: contrib.opt.ExternalOptimizerInterface
  contrib.opt.ScipyOptimizerInterface
train.contrib.opt.ggt: contrib.opt.GGTOptimizer
train.contrib.opt.lars_optimizer: contrib.opt.LARSOptimizer
train.contrib.opt.lazy_adam_optimizer: contrib.opt.AdamGSOptimizer contrib.opt.LazyAdamGSOptimizer
  contrib.opt.LazyAdamOptimizer
train.contrib.opt.model_average_optimizer: contrib.opt.ModelAverageCustomGetter
  contrib.opt.ModelAverageOptimizer
train.contrib.opt.moving_average_optimizer: contrib.opt.MovingAverageOptimizer
train.contrib.opt.shampoo: contrib.opt.ShampooOptimizer
train.contrib.opt.sign_optimizers: contrib.opt.AddSignOptimizer contrib.opt.PowerSignOptimizer
train.contrib.opt.weight_decay_optimizers: contrib.opt.AdamWOptimizer
  contrib.opt.DecoupledWeightDecayExtension contrib.opt.MomentumWOptimizer
  contrib.opt.extend_with_decoupled_weight_decay
train.contrib.opt.wrappers: contrib.opt.DropStaleGradientOptimizer
  contrib.opt.MultitaskOptimizerWrapper contrib.opt.VariableClippingOptimizer
  contrib.opt.clip_gradients_by_global_norm
train.contrib.optimizer_v2.optimizer_v2: contrib.optimizer_v2.OptimizerV2
train.contrib.optimizer_v2.rules: contrib.optimizer_v2.AdadeltaOptimizer
  contrib.optimizer_v2.AdagradOptimizer contrib.optimizer_v2.AdamOptimizer
  contrib.optimizer_v2.GradientDescentOptimizer contrib.optimizer_v2.MomentumOptimizer
  contrib.optimizer_v2.RMSPropOptimizer
train.contrib.periodic_resample: contrib.periodic_resample.periodic_resample
train.contrib.predictor.predictor_factories: contrib.predictor.from_contrib_estimator
  contrib.predictor.from_estimator contrib.predictor.from_saved_model
train.contrib.quantize.quantize_graph: contrib.quantize.create_eval_graph
  contrib.quantize.create_training_graph contrib.quantize.experimental_create_eval_graph
  contrib.quantize.experimental_create_training_graph
train.contrib.receptive_field.graph_compute_order: contrib.receptive_field.get_compute_order
train.contrib.receptive_field.receptive_field:
  contrib.receptive_field.compute_receptive_field_from_graph_def
train.contrib.recurrent.functional_rnn: contrib.recurrent.bidirectional_functional_rnn
  contrib.recurrent.functional_rnn
train.contrib.recurrent.recurrent: contrib.recurrent.Recurrent
train.contrib.resampler: contrib.resampler.resampler
train.contrib.rnn.core_rnn_cell: contrib.rnn.EmbeddingWrapper contrib.rnn.InputProjectionWrapper
  contrib.rnn.OutputProjectionWrapper
train.contrib.rnn.frequency_cells: contrib.rnn.BidirectionalGridLSTMCell contrib.rnn.GridLSTMCell
  contrib.rnn.TimeFreqLSTMCell
train.contrib.rnn.fused_rnn_cell: contrib.rnn.FusedRNNCell contrib.rnn.FusedRNNCellAdaptor
  contrib.rnn.TimeReversedFusedRNN
train.contrib.rnn.gated_cells: contrib.rnn.IntersectionRNNCell contrib.rnn.NASCell
  contrib.rnn.SRUCell contrib.rnn.UGRNNCell
train.contrib.rnn.gru_ops: contrib.rnn.GRUBlockCell contrib.rnn.GRUBlockCellV2
train.contrib.rnn.independent_cells: contrib.rnn.IndRNNCell contrib.rnn.IndyGRUCell
  contrib.rnn.IndyLSTMCell
train.contrib.rnn.lstm_cells: contrib.rnn.CoupledInputForgetGateLSTMCell contrib.rnn.GLSTMCell
  contrib.rnn.LayerNormBasicLSTMCell
train.contrib.rnn.lstm_ops: contrib.rnn.LSTMBlockCell contrib.rnn.LSTMBlockFusedCell
  contrib.rnn.LSTMBlockWrapper
train.contrib.rnn.rnn: contrib.rnn.stack_bidirectional_dynamic_rnn
  contrib.rnn.stack_bidirectional_rnn
train.contrib.rnn.spatial_cells: contrib.rnn.Conv1DLSTMCell contrib.rnn.Conv2DLSTMCell
  contrib.rnn.Conv3DLSTMCell contrib.rnn.ConvLSTMCell contrib.rnn.PhasedLSTMCell
train.contrib.rnn.wrappers: contrib.rnn.AttentionCellWrapper contrib.rnn.CompiledWrapper
  contrib.rnn.HighwayWrapper
train.contrib.seq2seq.attention_maths: contrib.seq2seq.hardmax contrib.seq2seq.monotonic_attention
  contrib.seq2seq.safe_cumprod
train.contrib.seq2seq.attention_mechanisms: contrib.seq2seq.AttentionMechanism
  contrib.seq2seq.BahdanauAttention contrib.seq2seq.BahdanauMonotonicAttention
  contrib.seq2seq.LuongAttention contrib.seq2seq.LuongMonotonicAttention
train.contrib.seq2seq.attention_wrapper: contrib.seq2seq.AttentionWrapper
  contrib.seq2seq.AttentionWrapperState
train.contrib.seq2seq.basic_decoder: contrib.seq2seq.BasicDecoder contrib.seq2seq.BasicDecoderOutput
train.contrib.seq2seq.beam_search_decoder: contrib.seq2seq.BeamSearchDecoder
  contrib.seq2seq.FinalBeamSearchDecoderOutput contrib.seq2seq.tile_batch
train.contrib.seq2seq.beam_states: contrib.seq2seq.BeamSearchDecoderOutput
  contrib.seq2seq.BeamSearchDecoderState
train.contrib.seq2seq.decoder: contrib.seq2seq.Decoder contrib.seq2seq.dynamic_decode
train.contrib.seq2seq.helper: contrib.seq2seq.CustomHelper contrib.seq2seq.GreedyEmbeddingHelper
  contrib.seq2seq.Helper contrib.seq2seq.InferenceHelper contrib.seq2seq.SampleEmbeddingHelper
  contrib.seq2seq.TrainingHelper
train.contrib.seq2seq.loss: contrib.seq2seq.sequence_loss
train.contrib.seq2seq.scheduled_helper: contrib.seq2seq.ScheduledEmbeddingTrainingHelper
  contrib.seq2seq.ScheduledOutputTrainingHelper
train.contrib.slim.data.data_decoder: contrib.slim.data_decoder.DataDecoder
train.contrib.slim.data.data_provider: contrib.slim.data_provider.DataProvider
train.contrib.slim.data.dataset: contrib.slim.dataset.Dataset
train.contrib.slim.data.dataset_data_provider:
  contrib.slim.dataset_data_provider.DatasetDataProvider
train.contrib.slim.data.parallel_reader: contrib.slim.parallel_reader.ParallelReader
  contrib.slim.parallel_reader.get_data_files contrib.slim.parallel_reader.parallel_read
  contrib.slim.parallel_reader.single_pass_read
train.contrib.slim.data.prefetch_queue: contrib.slim.prefetch_queue.prefetch_queue
train.contrib.slim.data.tfexample_decoder: contrib.slim.tfexample_decoder.BackupHandler
  contrib.slim.tfexample_decoder.BoundingBox contrib.slim.tfexample_decoder.Image
  contrib.slim.tfexample_decoder.ItemHandler contrib.slim.tfexample_decoder.ItemHandlerCallback
  contrib.slim.tfexample_decoder.LookupTensor contrib.slim.tfexample_decoder.SparseTensor
  contrib.slim.tfexample_decoder.TFExampleDecoder contrib.slim.tfexample_decoder.Tensor
train.contrib.slim.evaluation: contrib.slim.evaluation.checkpoints_iterator
  contrib.slim.evaluation.evaluate_once contrib.slim.evaluation.evaluation_loop
  contrib.slim.evaluation.wait_for_new_checkpoint
train.contrib.slim.learning: contrib.slim.learning.add_gradients_summaries
  contrib.slim.learning.clip_gradient_norms contrib.slim.learning.create_train_op
  contrib.slim.learning.multiply_gradients contrib.slim.learning.train
  contrib.slim.learning.train_step
train.contrib.slim.model_analyzer: contrib.slim.model_analyzer.analyze_ops
  contrib.slim.model_analyzer.analyze_vars contrib.slim.model_analyzer.tensor_description
train.contrib.slim.queues: contrib.slim.queues.NestedQueueRunnerError
  contrib.slim.queues.QueueRunners
train.contrib.slim.summaries: contrib.slim.summaries.add_histogram_summaries
  contrib.slim.summaries.add_histogram_summary contrib.slim.summaries.add_image_summaries
  contrib.slim.summaries.add_image_summary contrib.slim.summaries.add_scalar_summaries
  contrib.slim.summaries.add_scalar_summary contrib.slim.summaries.add_zero_fraction_summaries
  contrib.slim.summaries.add_zero_fraction_summary
train.contrib.solvers.lanczos: contrib.solvers.lanczos.bidiag_matmul
  contrib.solvers.lanczos.lanczos_bidiag
train.contrib.solvers.linear_equations: contrib.solvers.least_squares.cgls
  contrib.solvers.linear_equations.conjugate_gradient
train.contrib.solvers.util: contrib.solvers.util.create_operator contrib.solvers.util.dot
  contrib.solvers.util.identity_operator contrib.solvers.util.l2norm
  contrib.solvers.util.l2norm_squared contrib.solvers.util.l2normalize
train.contrib.sparsemax: contrib.sparsemax.sparsemax contrib.sparsemax.sparsemax_loss
train.contrib.specs.params_ops: contrib.specs.Lf contrib.specs.Li contrib.specs.Nt contrib.specs.Uf
  contrib.specs.Ui contrib.specs.acos contrib.specs.acosh contrib.specs.asin contrib.specs.asinh
  contrib.specs.atan contrib.specs.atan2 contrib.specs.atanh contrib.specs.ceil
  contrib.specs.copysign contrib.specs.cos contrib.specs.cosh contrib.specs.degrees contrib.specs.e
  contrib.specs.erf contrib.specs.erfc contrib.specs.exp contrib.specs.expm1 contrib.specs.fabs
  contrib.specs.factorial contrib.specs.floor contrib.specs.fmod contrib.specs.frexp
  contrib.specs.fsum contrib.specs.gamma contrib.specs.gcd contrib.specs.inf contrib.specs.isclose
  contrib.specs.isfinite contrib.specs.isinf contrib.specs.isnan contrib.specs.ldexp
  contrib.specs.lgamma contrib.specs.log contrib.specs.log10 contrib.specs.log1p contrib.specs.log2
  contrib.specs.modf contrib.specs.nan contrib.specs.pi contrib.specs.pow contrib.specs.radians
  contrib.specs.remainder contrib.specs.sin contrib.specs.sinh contrib.specs.sqrt contrib.specs.tan
  contrib.specs.tanh contrib.specs.tau contrib.specs.trunc
train.contrib.specs.specs: contrib.specs.LocalImport contrib.specs.create_net
  contrib.specs.create_net_fun contrib.specs.eval_params contrib.specs.eval_spec
train.contrib.specs.specs_lib: contrib.specs.Callable contrib.specs.Composable
  contrib.specs.Composition contrib.specs.External contrib.specs.Function contrib.specs.Import
  contrib.specs.KEYWORDS contrib.specs.Operator contrib.specs.QUOTED contrib.specs.check_keywords
  contrib.specs.debug contrib.specs.debug_ contrib.specs.exec_ contrib.specs.get_positional
train.contrib.specs.specs_ops: contrib.specs.Ap contrib.specs.Bn contrib.specs.Cl contrib.specs.Cm
  contrib.specs.Conc contrib.specs.Cr contrib.specs.Cs contrib.specs.Ct contrib.specs.Cx
  contrib.specs.Do contrib.specs.Dwm contrib.specs.Dws contrib.specs.Expand contrib.specs.Fl
  contrib.specs.Flat contrib.specs.Fm contrib.specs.Fr contrib.specs.Fs contrib.specs.Ft
  contrib.specs.Fun contrib.specs.Fx contrib.specs.Id contrib.specs.Idx contrib.specs.Lrn
  contrib.specs.Mp contrib.specs.Print contrib.specs.Relu contrib.specs.Reshape contrib.specs.Shared
  contrib.specs.Sig contrib.specs.Smax contrib.specs.Squeeze contrib.specs.Tanh
  contrib.specs.Transpose contrib.specs.Unit contrib.specs.Var
train.contrib.specs.summaries: contrib.specs.SHORT_NAMES contrib.specs.SHORT_NAMES_SRC
  contrib.specs.tf_left_split contrib.specs.tf_num_params contrib.specs.tf_parameter_iter
  contrib.specs.tf_parameter_summary contrib.specs.tf_print contrib.specs.tf_spec_print
  contrib.specs.tf_spec_structure contrib.specs.tf_spec_summary contrib.specs.tf_structure
train.contrib.testing.fake_summary_writer: contrib.testing.FakeSummaryWriter
train.contrib.testing.util_test: contrib.testing.assert_summary contrib.testing.latest_event_file
  contrib.testing.latest_events contrib.testing.latest_summaries
  contrib.testing.simple_values_from_events contrib.testing.to_summary_proto
train.contrib.text: contrib.text.skip_gram_sample contrib.text.skip_gram_sample_with_text_vocab
train.contrib.tfprof.model_analyzer: contrib.tfprof.model_analyzer.ALL_ADVICE
  contrib.tfprof.model_analyzer.Profiler contrib.tfprof.model_analyzer.advise
  contrib.tfprof.model_analyzer.print_model_analysis profiler.Profiler profiler.advise
  profiler.profile
train.contrib.tfprof.option_builder: contrib.tfprof.model_analyzer.FLOAT_OPS_OPTIONS
  contrib.tfprof.model_analyzer.PRINT_ALL_TIMING_MEMORY
  contrib.tfprof.model_analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS profiler.ProfileOptionBuilder
train.contrib.tfprof.profile_context: contrib.tfprof.ProfileContext
  contrib.tfprof.model_analyzer.ProfileContext
train.contrib.tfprof.tfprof_logger: contrib.tfprof.tfprof_logger.write_op_log profiler.write_op_log
train.contrib.timeseries.ar_model: contrib.timeseries.ARModel
train.contrib.timeseries.estimators: contrib.timeseries.ARRegressor
  contrib.timeseries.TimeSeriesRegressor
train.contrib.timeseries.feature_keys: contrib.timeseries.FilteringResults
  contrib.timeseries.TrainEvalFeatures
train.contrib.timeseries.head: contrib.timeseries.OneShotPredictionHead
train.contrib.timeseries.input_pipeline: contrib.timeseries.CSVReader contrib.timeseries.NumpyReader
  contrib.timeseries.RandomWindowInputFn contrib.timeseries.WholeDatasetInputFn
  contrib.timeseries.predict_continuation_input_fn
train.contrib.timeseries.state_space_estimators: contrib.timeseries.StructuralEnsembleRegressor
train.contrib.tpu.bfloat16: contrib.tpu.bfloat16_scope tpu.bfloat16_scope
train.contrib.tpu.tpu: contrib.tpu.core contrib.tpu.cross_replica_sum
  contrib.tpu.outside_compilation tpu.core tpu.cross_replica_sum tpu.outside_compilation
train.contrib.tpu.tpu_config: contrib.tpu.InputPipelineConfig contrib.tpu.RunConfig
  contrib.tpu.TPUConfig estimator.tpu.InputPipelineConfig estimator.tpu.RunConfig
  estimator.tpu.TPUConfig
train.contrib.tpu.tpu_estimator: contrib.tpu.TPUEstimator contrib.tpu.TPUEstimatorSpec
  contrib.tpu.export_estimator_savedmodel estimator.tpu.TPUEstimator estimator.tpu.TPUEstimatorSpec
train.contrib.tpu.tpu_optimizer: contrib.tpu.CrossShardOptimizer tpu.CrossShardOptimizer
train.contrib.tpu.training_loop: contrib.tpu.repeat contrib.tpu.while_loop
train.contrib.training.bucket_ops: contrib.training.bucket
  contrib.training.bucket_by_sequence_length
train.contrib.training.device_setter: contrib.training.GreedyLoadBalancingStrategy
  contrib.training.RandomStrategy contrib.training.byte_size_load_fn
train.contrib.training.evaluation: contrib.training.StopAfterNEvalsHook
  contrib.training.SummaryAtEndHook contrib.training.checkpoints_iterator
  contrib.training.evaluate_once contrib.training.evaluate_repeatedly
  contrib.training.get_or_create_eval_step contrib.training.wait_for_new_checkpoint
train.contrib.training.hparam: contrib.training.HParams
train.contrib.training.hparam_values: contrib.training.parse_values
train.contrib.training.resample: contrib.training.resample_at_rate
  contrib.training.weighted_resample
train.contrib.training.sampling_ops: contrib.training.rejection_sample
  contrib.training.stratified_sample
train.contrib.training.sequence_queueing_state_saver: contrib.training.batch_sequences_with_states
train.contrib.training.state_saver: contrib.training.NextQueuedSequenceBatch
  contrib.training.SequenceQueueingStateSaver
train.contrib.training.training: contrib.training.add_gradients_summaries
  contrib.training.clip_gradient_norms contrib.training.clip_gradient_norms_fn
  contrib.training.create_train_op contrib.training.multiply_gradients contrib.training.train
train.contrib.unavailable: contrib.autograph.StackTraceMapper contrib.distribute.TPUStrategy
  contrib.distribute.initialize_tpu_system contrib.eager.EagerVariableStore
  contrib.eager.ExecutionCallback contrib.eager.Iterator contrib.eager.Network contrib.eager.Saver
  contrib.eager.Sequential contrib.eager.add_execution_callback contrib.eager.async_clear_error
  contrib.eager.async_wait contrib.eager.clear_execution_callbacks
  contrib.eager.connect_to_remote_host contrib.eager.enable_remote_eager_execution
  contrib.eager.errstate contrib.eager.execution_mode contrib.eager.inf_callback
  contrib.eager.inf_nan_callback contrib.eager.metrics.Accuracy contrib.eager.metrics.BinaryAccuracy
  contrib.eager.metrics.CategoricalAccuracy contrib.eager.metrics.Mean contrib.eager.metrics.Metric
  contrib.eager.metrics.SparseAccuracy contrib.eager.nan_callback
  contrib.eager.restore_network_checkpoint contrib.eager.restore_variables_on_create
  contrib.eager.save_network_checkpoint contrib.eager.set_execution_mode
  contrib.eager.set_server_def contrib.eager.seterr contrib.ffmpeg.decode_audio
  contrib.ffmpeg.decode_video contrib.ffmpeg.encode_audio
  contrib.remote_fused_graph.remote_fused_graph_execute contrib.rpc.rpc contrib.rpc.try_rpc
  contrib.stat_summarizer.DeleteStatSummarizer contrib.stat_summarizer.NewStatSummarizer
  contrib.stat_summarizer.StatSummarizer contrib.tensor_forest.client.eval_metrics.get_metric
  contrib.tensor_forest.client.eval_metrics.get_prediction_key
  contrib.tensor_forest.client.random_forest.CoreTensorForestEstimator
  contrib.tensor_forest.client.random_forest.MultiForestMultiHeadEstimator
  contrib.tensor_forest.client.random_forest.TensorForestEstimator
  contrib.tensor_forest.client.random_forest.TensorForestLossHook
  contrib.tensor_forest.client.random_forest.TensorForestRunOpAtEndHook
  contrib.tensor_forest.client.random_forest.get_combined_model_fn
  contrib.tensor_forest.client.random_forest.get_model_fn
  contrib.tensor_forest.python.tensor_forest.ForestHParams
  contrib.tensor_forest.python.tensor_forest.ForestStats
  contrib.tensor_forest.python.tensor_forest.RandomForestGraphs
  contrib.tensor_forest.python.tensor_forest.TensorForestVariables
  contrib.tensor_forest.tensor_forest.ForestHParams
  contrib.tensor_forest.tensor_forest.RandomForestGraphs contrib.tpu.AsyncCheckpointSaverHook
  contrib.tpu.DeviceAssignment contrib.tpu.InfeedQueue contrib.tpu.TPUDistributionStrategy
  contrib.tpu.TPUInMemoryEvalHook contrib.tpu.Topology contrib.tpu.batch_parallel
  contrib.tpu.device_assignment contrib.tpu.infeed_dequeue contrib.tpu.infeed_dequeue_tuple
  contrib.tpu.infeed_enqueue contrib.tpu.infeed_enqueue_tuple contrib.tpu.initialize_system
  contrib.tpu.keras_to_tpu_model contrib.tpu.outfeed_dequeue contrib.tpu.outfeed_dequeue_tuple
  contrib.tpu.outfeed_enqueue contrib.tpu.outfeed_enqueue_tuple contrib.tpu.profiler.TPUProfiler
  contrib.tpu.replicate contrib.tpu.rewrite contrib.tpu.shard contrib.tpu.shutdown_system
  distribute.experimental.TPUStrategy lite.Interpreter lite.OpHint lite.OpsSet lite.Optimize
  lite.RepresentativeDataset lite.TFLiteConverter lite.TargetSpec lite.TocoConverter
  lite.experimental.convert_op_hints_to_stubs lite.experimental.get_potentially_supported_ops
  lite.experimental.load_delegate lite.experimental.nn.TFLiteLSTMCell
  lite.experimental.nn.TfLiteRNNCell lite.experimental.nn.dynamic_rnn lite.toco_convert
  tpu.batch_parallel tpu.experimental.DeviceAssignment tpu.experimental.initialize_tpu_system
  tpu.initialize_system tpu.replicate tpu.rewrite tpu.shard tpu.shutdown_system
train.contrib.util.loader: contrib.util.loader.load_op_library
train.distributed.average_loss: nn.compute_average_loss nn.scale_regularization_loss
train.distributed.cloud_resolvers: contrib.cluster_resolver.GCEClusterResolver
  contrib.cluster_resolver.KubernetesClusterResolver distribute.cluster_resolver.GCEClusterResolver
  distribute.cluster_resolver.KubernetesClusterResolver
train.distributed.cluster: train.ClusterSpec
train.distributed.cluster_resolver: contrib.cluster_resolver.ClusterResolver
  contrib.cluster_resolver.SimpleClusterResolver contrib.cluster_resolver.TFConfigClusterResolver
  contrib.cluster_resolver.TPUClusterResolver contrib.cluster_resolver.UnionClusterResolver
  distribute.cluster_resolver.ClusterResolver distribute.cluster_resolver.SimpleClusterResolver
  distribute.cluster_resolver.TFConfigClusterResolver distribute.cluster_resolver.TPUClusterResolver
  distribute.cluster_resolver.UnionResolver
train.distributed.collective_strategy: contrib.distribute.CollectiveAllReduceStrategy
  distribute.experimental.MultiWorkerMirroredStrategy
train.distributed.cross_device_ops: contrib.distribute.AllReduceCrossDeviceOps
  contrib.distribute.CrossDeviceOps distribute.CrossDeviceOps distribute.HierarchicalCopyAllReduce
  distribute.NcclAllReduce distribute.ReductionToOneDevice
  distribute.experimental.CollectiveCommunication
train.distributed.device_strategies: contrib.distribute.MirroredStrategy
  contrib.distribute.OneDeviceStrategy distribute.MirroredStrategy distribute.OneDeviceStrategy
train.distributed.parameter_server_strategy: contrib.distribute.ParameterServerStrategy
  distribute.experimental.CentralStorageStrategy distribute.experimental.ParameterServerStrategy
train.distributed.ray: distribute.ray.Worker distribute.ray.run
train.distributed.server: distribute.Server test.create_local_cluster train.Server
train.distributed.slurm_resolver: contrib.cluster_resolver.SlurmClusterResolver
  distribute.cluster_resolver.SlurmClusterResolver
train.distributed.strategy: contrib.distribute.DistributionStrategy
  contrib.distribute.ReplicaContext contrib.distribute.UpdateContext distribute.ReplicaContext
  distribute.Strategy distribute.StrategyExtended
train.distributed.strategy_context: contrib.distribute.get_cross_replica_context
  contrib.distribute.get_distribution_strategy contrib.distribute.get_loss_reduction
  contrib.distribute.get_replica_context contrib.distribute.get_strategy
  contrib.distribute.has_distribution_strategy contrib.distribute.has_strategy
  contrib.distribute.in_cross_replica_context contrib.distribute.require_replica_context
  distribute.ReduceOp distribute.experimental_set_strategy distribute.get_loss_reduction
  distribute.get_replica_context distribute.get_strategy distribute.has_strategy
  distribute.in_cross_replica_context
train.distributed.strategy_input: distribute.InputContext distribute.InputReplicationMode
train.distributed.worker_all_reduce: contrib.distribute.MultiWorkerAllReduce
train.estimator.baseline: estimator.BaselineClassifier estimator.BaselineEstimator
  estimator.BaselineRegressor
train.estimator.combined: estimator.DNNLinearCombinedClassifier estimator.DNNLinearCombinedEstimator
  estimator.DNNLinearCombinedRegressor
train.estimator.dnn: estimator.DNNClassifier estimator.DNNEstimator estimator.DNNRegressor
train.estimator.dnn_part: estimator.experimental.dnn_logit_fn_builder
train.estimator.early_stopping: estimator.experimental.make_early_stopping_hook
  estimator.experimental.stop_if_higher_hook estimator.experimental.stop_if_lower_hook
  estimator.experimental.stop_if_no_decrease_hook estimator.experimental.stop_if_no_increase_hook
train.estimator.estimator: estimator.Estimator
train.estimator.export: estimator.experimental.build_raw_supervised_input_receiver_fn
  estimator.export.ServingInputReceiver estimator.export.TensorServingInputReceiver
  estimator.export.build_parsing_serving_input_receiver_fn
  estimator.export.build_raw_serving_input_receiver_fn
train.estimator.export_output: estimator.export.ClassificationOutput estimator.export.ExportOutput
  estimator.export.PredictOutput estimator.export.RegressionOutput
train.estimator.exporter: estimator.BestExporter estimator.Exporter estimator.FinalExporter
  estimator.LatestExporter
train.estimator.extenders: estimator.add_metrics
train.estimator.hooks: estimator.CheckpointSaverHook estimator.CheckpointSaverListener
  estimator.FeedFnHook estimator.FinalOpsHook estimator.GlobalStepWaiterHook
  estimator.LoggingTensorHook estimator.NanLossDuringTrainingError estimator.NanTensorHook
  estimator.ProfilerHook estimator.SecondOrStepTimer estimator.SessionRunArgs
  estimator.SessionRunContext estimator.SessionRunHook estimator.SessionRunValues
  estimator.StepCounterHook estimator.StopAtStepHook estimator.SummarySaverHook
  estimator.experimental.InMemoryEvaluatorHook
  estimator.experimental.make_stop_at_checkpoint_step_hook
train.estimator.inputs: estimator.inputs.numpy_input_fn estimator.inputs.pandas_input_fn
train.estimator.linear: estimator.LinearClassifier estimator.LinearEstimator
  estimator.LinearRegressor
train.estimator.linear_part: estimator.experimental.linear_logit_fn_builder
train.estimator.linear_sdca: estimator.experimental.LinearSDCA
train.estimator.mode_keys: estimator.ModeKeys
train.estimator.model_fn: estimator.EstimatorSpec estimator.experimental.call_logit_fn
train.estimator.parsing: estimator.classifier_parse_example_spec
  estimator.regressor_parse_example_spec
train.estimator.rnn: contrib.estimator.RNNClassifier contrib.estimator.RNNEstimator
train.estimator.run_config: estimator.RunConfig
train.estimator.settings: estimator.VocabInfo estimator.WarmStartSettings
train.estimator.training: estimator.EvalSpec estimator.TrainSpec estimator.train_and_evaluate
train.estimator.trees.boosted_trees: estimator.BoostedTreesClassifier
  estimator.BoostedTreesEstimator estimator.BoostedTreesRegressor
train.feature_column.categorical: feature_column.categorical_column_with_hash_bucket
  feature_column.categorical_column_with_identity
  feature_column.categorical_column_with_vocabulary_file
  feature_column.categorical_column_with_vocabulary_list feature_column.weighted_categorical_column
train.feature_column.crossed: feature_column.crossed_column
train.feature_column.embedding: feature_column.embedding_column
  feature_column.shared_embedding_columns
train.feature_column.indicator: feature_column.indicator_column
train.feature_column.input_layer: feature_column.input_layer feature_column.make_parse_example_spec
train.feature_column.linear_model: feature_column.linear_model
train.feature_column.numeric: feature_column.bucketized_column feature_column.numeric_column
train.feature_column.sequence_feature_column:
  feature_column.sequence_categorical_column_with_hash_bucket
  feature_column.sequence_categorical_column_with_identity
  feature_column.sequence_categorical_column_with_vocabulary_file
  feature_column.sequence_categorical_column_with_vocabulary_list
  feature_column.sequence_numeric_column
train.feature_column.sequence_input_layer:
  contrib.feature_column.sequence_categorical_column_with_hash_bucket
  contrib.feature_column.sequence_categorical_column_with_identity
  contrib.feature_column.sequence_categorical_column_with_vocabulary_file
  contrib.feature_column.sequence_categorical_column_with_vocabulary_list
  contrib.feature_column.sequence_input_layer contrib.feature_column.sequence_numeric_column
train.optimizers.adaptive: train.AdadeltaOptimizer train.AdagradDAOptimizer train.AdagradOptimizer
  train.RMSPropOptimizer
train.optimizers.decay: train.cosine_decay train.cosine_decay_restarts train.exponential_decay
  train.inverse_time_decay train.linear_cosine_decay train.natural_exp_decay
  train.noisy_linear_cosine_decay train.piecewise_constant train.piecewise_constant_decay
  train.polynomial_decay
train.optimizers.gradient_descent: train.AdamOptimizer train.GradientDescentOptimizer
  train.MomentumOptimizer
train.optimizers.loss_scale: train.experimental.DynamicLossScale train.experimental.FixedLossScale
  train.experimental.LossScale
train.optimizers.mixed_precision: train.experimental.MixedPrecisionLossScaleOptimizer
  train.experimental.auto_mixed_precision_scope
  train.experimental.disable_mixed_precision_graph_rewrite
  train.experimental.enable_mixed_precision_graph_rewrite
train.optimizers.optimizer: train.Optimizer
train.optimizers.proximal: train.FtrlOptimizer train.ProximalAdagradOptimizer
  train.ProximalGradientDescentOptimizer
train.saved_model.names: saved_model.ASSETS_DIRECTORY saved_model.ASSETS_KEY
  saved_model.CLASSIFY_INPUTS saved_model.CLASSIFY_METHOD_NAME saved_model.CLASSIFY_OUTPUT_CLASSES
  saved_model.CLASSIFY_OUTPUT_SCORES saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY saved_model.GPU
  saved_model.LEGACY_INIT_OP_KEY saved_model.MAIN_OP_KEY saved_model.PREDICT_INPUTS
  saved_model.PREDICT_METHOD_NAME saved_model.PREDICT_OUTPUTS saved_model.REGRESS_INPUTS
  saved_model.REGRESS_METHOD_NAME saved_model.REGRESS_OUTPUTS saved_model.SAVED_MODEL_FILENAME_PB
  saved_model.SAVED_MODEL_FILENAME_PBTXT saved_model.SAVED_MODEL_SCHEMA_VERSION saved_model.SERVING
  saved_model.TPU saved_model.TRAINING saved_model.VARIABLES_DIRECTORY
  saved_model.VARIABLES_FILENAME saved_model.constants.ASSETS_DIRECTORY
  saved_model.constants.ASSETS_KEY saved_model.constants.LEGACY_INIT_OP_KEY
  saved_model.constants.MAIN_OP_KEY saved_model.constants.SAVED_MODEL_FILENAME_PB
  saved_model.constants.SAVED_MODEL_FILENAME_PBTXT saved_model.constants.SAVED_MODEL_SCHEMA_VERSION
  saved_model.constants.VARIABLES_DIRECTORY saved_model.constants.VARIABLES_FILENAME
  saved_model.signature_constants.CLASSIFY_INPUTS
  saved_model.signature_constants.CLASSIFY_METHOD_NAME
  saved_model.signature_constants.CLASSIFY_OUTPUT_CLASSES
  saved_model.signature_constants.CLASSIFY_OUTPUT_SCORES
  saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
  saved_model.signature_constants.PREDICT_INPUTS saved_model.signature_constants.PREDICT_METHOD_NAME
  saved_model.signature_constants.PREDICT_OUTPUTS saved_model.signature_constants.REGRESS_INPUTS
  saved_model.signature_constants.REGRESS_METHOD_NAME
  saved_model.signature_constants.REGRESS_OUTPUTS saved_model.tag_constants.GPU
  saved_model.tag_constants.SERVING saved_model.tag_constants.TPU saved_model.tag_constants.TRAINING
train.variables.global_step: train.assert_global_step train.create_global_step train.get_global_step
  train.get_or_create_global_step train.global_step
train.variables.moving_averages: train.ExponentialMovingAverage
"""
