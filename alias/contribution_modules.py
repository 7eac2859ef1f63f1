# SPDX-License-Identifier: Apache-2.0
"""The modules of TensorFlow 1.15 below `tensorflow.contrib`: "package: its modules", line by line.

A line that ends in a backslash goes on in the next.
"""

from __future__ import annotations

MODULES = """
all_reduce.python: all_reduce
batching.python:
batching.python.ops: batch_ops
bayesflow.python:
bayesflow.python.ops: monte_carlo monte_carlo_impl
bigtable.ops: gen_bigtable_ops
bigtable.python:
bigtable.python.ops: bigtable_api
boosted_trees.python:
boosted_trees.python.ops: batch_ops_utils boosted_trees_ops_loader gen_model_ops \
gen_prediction_ops gen_quantile_ops gen_split_handler_ops gen_stats_accumulator_ops \
gen_training_ops model_ops prediction_ops quantile_ops split_handler_ops stats_accumulator_ops \
training_ops
boosted_trees.python.training:
boosted_trees.python.training.functions: gbdt_batch
boosted_trees.python.utils: losses
checkpoint.python: containers python_state split_dependency visualize
cloud.python:
cloud.python.ops: bigquery_reader_ops gcs_config_ops gen_bigquery_reader_ops gen_gcs_config_ops
cluster_resolver.python:
cluster_resolver.python.training: cluster_resolver gce_cluster_resolver \
kubernetes_cluster_resolver slurm_cluster_resolver tfconfig_cluster_resolver tpu_cluster_resolver
constrained_optimization.python: candidates constrained_minimization_problem \
constrained_optimizer external_regret_optimizer swap_regret_optimizer
copy_graph.python:
copy_graph.python.util: copy_elements
crf.python:
crf.python.ops: crf
cudnn_rnn.python:
cudnn_rnn.python.layers: cudnn_rnn
cudnn_rnn.python.ops: cudnn_rnn_ops
data.python:
data.python.ops: batching counter enumerate_ops error_ops get_single_element grouping \
interleave_ops iterator_ops parsing_ops prefetching_ops random_ops readers resampling scan_ops \
shuffle_ops sliding threadpool unique writers
distribute.python: collective_all_reduce_strategy keras_multi_worker_test_base mirrored_strategy \
monitor one_device_strategy parameter_server_strategy tpu_strategy
distribute.python.examples: keras_mnist keras_model_with_estimator mnist_eager_multigpu \
mnist_tf1_tpu simple_estimator_example
distributions.python:
distributions.python.ops: autoregressive batch_reshape binomial cauchy chi2 \
conditional_distribution conditional_transformed_distribution deterministic distribution_util \
estimator geometric gumbel half_normal independent inverse_gamma kumaraswamy logistic mixture \
mixture_same_family moving_stats mvn_diag mvn_diag_plus_low_rank mvn_full_covariance \
mvn_linear_operator mvn_tril negative_binomial normal_conjugate_posteriors onehot_categorical \
poisson poisson_lognormal quantized_distribution relaxed_bernoulli relaxed_onehot_categorical \
sample_stats seed_stream shape sinh_arcsinh statistical_testing vector_diffeomixture \
vector_exponential_diag vector_exponential_linear_operator vector_laplace_diag \
vector_laplace_linear_operator vector_sinh_arcsinh_diag vector_student_t wishart
distributions.python.ops.bijectors: absolute_value affine affine_linear_operator affine_scalar \
batch_normalization chain cholesky_outer_product conditional_bijector exp fill_triangular gumbel \
inline invert kumaraswamy masked_autoregressive matrix_inverse_tril ordered permute \
power_transform real_nvp reshape scale_tril sigmoid sinh_arcsinh softmax_centered softplus \
softsign square transform_diagonal weibull
eager.python: datasets metrics metrics_impl network parameter_server saver tfe
estimator.python:
estimator.python.estimator: boosted_trees dnn_with_layer_annotations early_stopping export \
exporter extenders head hooks logit_fns multi_head replicate_model_fn rnn saved_model_estimator
factorization.python:
factorization.python.ops: clustering_ops factorization_ops factorization_ops_test_utils \
gen_factorization_ops gmm gmm_ops kmeans wals
feature_column.python:
feature_column.python.feature_column: sequence_feature_column
ffmpeg: ffmpeg_ops
framework.python:
framework.python.framework: checkpoint_utils experimental graph_util tensor_util
framework.python.ops: arg_scope audio_ops checkpoint_ops gen_variable_ops ops prettyprint_ops \
script_ops sort_ops variables
fused_conv.python:
fused_conv.python.ops: fused_conv2d_bias_activation_benchmark fused_conv2d_bias_activation_op \
fused_conv2d_bias_activation_op_test_base
grid_rnn.python:
grid_rnn.python.ops: grid_rnn_cell
hadoop.python:
hadoop.python.ops: gen_dataset_ops hadoop_dataset_ops hadoop_op_loader
hooks.python:
hooks.python.training: profiler_hook
ignite.python:
ignite.python.ops: gen_dataset_ops gen_igfs_ops igfs_op_loader igfs_ops ignite_dataset_ops \
ignite_op_loader
image.ops: gen_distort_image_ops gen_image_ops gen_single_image_random_dot_stereograms_ops
image.python:
image.python.ops: dense_image_warp distort_image_ops image_ops interpolate_spline \
single_image_random_dot_stereograms sparse_image_warp
input_pipeline.ops: gen_input_pipeline_ops
input_pipeline.python:
input_pipeline.python.ops: input_pipeline_ops
integrate.python:
integrate.python.ops: odes
kafka.python:
kafka.python.ops: gen_dataset_ops kafka_dataset_ops kafka_op_loader
kernel_methods.python: kernel_estimators losses
kernel_methods.python.mappers: dense_kernel_mapper random_fourier_features
kinesis.python:
kinesis.python.ops: gen_dataset_ops kinesis_dataset_ops kinesis_op_loader
labeled_tensor.python:
labeled_tensor.python.ops: _typecheck core io_ops nn ops sugar
layers.python:
layers.python.layers: embedding_ops encoders feature_column feature_column_ops initializers \
layers normalization optimizers regularizers rev_block_lib summaries target_column utils
layers.python.ops: bucketization_op sparse_feature_cross_op sparse_ops
learn.python:
learn.python.learn: basic_session_run_hooks evaluable experiment export_strategy graph_actions \
learn_runner learn_runner_lib metric_spec models monitored_session monitors session_run_hook \
summary_writer_cache trainable
learn.python.learn.datasets: base mnist produce_small_datasets synthetic text_datasets
learn.python.learn.estimators: _sklearn composable_model constants debug dnn dnn_linear_combined \
dynamic_rnn_estimator estimator estimator_test_utils head kmeans linear logistic_regressor \
metric_key model_fn prediction_key rnn_common run_config state_saving_rnn_estimator svm \
tensor_signature test_data
learn.python.learn.learn_io: dask_io data_feeder generator_io graph_io numpy_io pandas_io
learn.python.learn.ops: embeddings_ops losses_ops seq2seq_ops
learn.python.learn.preprocessing: categorical categorical_vocabulary text
learn.python.learn.preprocessing.tests:
learn.python.learn.utils: export gc input_fn_utils inspect_checkpoint saved_model_export_utils
legacy_seq2seq.python:
legacy_seq2seq.python.ops: seq2seq
libsvm.ops: gen_libsvm_ops
libsvm.python:
libsvm.python.ops: libsvm_ops
linear_optimizer.python: sdca_estimator sdca_optimizer
linear_optimizer.python.ops: sdca_ops sharded_mutable_dense_hashtable sparse_feature_column
losses.python:
losses.python.losses: loss_ops
losses.python.metric_learning: metric_loss_ops
memory_stats.ops: gen_memory_stats_ops
memory_stats.python:
memory_stats.python.ops: memory_stats_ops
metrics.python:
metrics.python.metrics: classification
metrics.python.ops: confusion_matrix_ops histogram_ops metric_ops set_ops
mixed_precision.python: loss_scale_manager loss_scale_optimizer
model_pruning.python: learning pruning pruning_utils strip_pruning_vars strip_pruning_vars_lib
model_pruning.python.layers: core_layers layers rnn_cells
mpi_collectives.python.ops: mpi_ops
nearest_neighbor.python:
nearest_neighbor.python.ops: nearest_neighbor_ops
nn.python:
nn.python.ops: alpha_dropout cross_entropy fwd_gradients sampling_ops scaled_softplus
opt.python:
opt.python.training: adam_gs_optimizer adamax addsign agn_optimizer drop_stale_gradient_optimizer \
elastic_average_optimizer external_optimizer ggt lars_optimizer lazy_adam_gs_optimizer \
lazy_adam_optimizer matrix_functions model_average_optimizer moving_average_optimizer \
multitask_optimizer_wrapper nadam_optimizer powersign reg_adagrad_optimizer shampoo sign_decay \
variable_clipping_optimizer weight_decay_optimizers
optimizer_v2: adadelta adagrad adam gradient_descent momentum optimizer_v2 optimizer_v2_symbols \
rmsprop
periodic_resample.python:
periodic_resample.python.ops: gen_periodic_resample_op periodic_resample_op
predictor: contrib_estimator_predictor core_estimator_predictor predictor predictor_factories \
saved_model_predictor
proto.python:
proto.python.ops: decode_proto_op encode_proto_op
quantization.python: array_ops math_ops nn_ops
quantize.python: common fold_batch_norms graph_matcher input_to_ops quant_ops quantize \
quantize_graph
receptive_field: receptive_field_api
receptive_field.python:
receptive_field.python.util: graph_compute_order parse_layer_parameters receptive_field
recurrent.python: recurrent_api
recurrent.python.ops: functional_rnn recurrent
reduce_slice_ops.ops: gen_reduce_slice_ops
reduce_slice_ops.python:
reduce_slice_ops.python.ops: reduce_slice_ops
remote_fused_graph.pylib.python:
remote_fused_graph.pylib.python.ops: gen_remote_fused_graph_ops remote_fused_graph_ops
resampler.ops: gen_resampler_ops
resampler.python:
resampler.python.ops: resampler_ops
rnn.python:
rnn.python.ops: core_rnn_cell fused_rnn_cell gru_ops lstm_ops rnn rnn_cell
rnn.python.tools: checkpoint_convert
rpc.python:
rpc.python.ops: gen_rpc_op rpc_op
saved_model.python:
saved_model.python.saved_model: keras_saved_model reader
seq2seq.ops: gen_beam_search_ops
seq2seq.python:
seq2seq.python.ops: attention_wrapper basic_decoder beam_search_decoder beam_search_ops decoder \
helper loss sampler
signal.python.ops:
slim.python:
slim.python.slim: evaluation learning model_analyzer queues summaries
slim.python.slim.data: data_decoder data_provider dataset dataset_data_provider parallel_reader \
prefetch_queue tfexample_decoder
slim.python.slim.nets: alexnet inception inception_v1 inception_v2 inception_v3 overfeat \
resnet_utils resnet_v1 resnet_v2 vgg
solvers.python:
solvers.python.ops: lanczos least_squares linear_equations util
sparsemax.python:
sparsemax.python.ops: sparsemax sparsemax_loss
specs.python: params_ops specs specs_lib specs_ops summaries
tensor_forest.hybrid.python: hybrid_layer hybrid_model
tensor_forest.hybrid.python.layers: decisions_to_data fully_connected
tensor_forest.hybrid.python.models: decisions_to_data_then_nn forest_to_data_then_nn \
hard_decisions_to_data_then_nn k_feature_decisions_to_data_then_nn nn \
stochastic_hard_decisions_to_data_then_nn stochastic_soft_decisions_to_data_then_nn
tensor_forest.hybrid.python.ops: training_ops
tensor_forest.python: tensor_forest
tensor_forest.python.ops: data_ops gen_model_ops gen_stats_ops gen_tensor_forest_ops model_ops \
stats_ops tensor_forest_ops
tensorrt.python: trt_convert
testing.python:
testing.python.framework: fake_summary_writer
text.python:
text.python.ops: gen_skip_gram_ops skip_gram_ops
timeseries.python:
timeseries.python.timeseries: ar_model estimators feature_keys head input_pipeline math_utils \
model model_utils saved_model_utils state_management
timeseries.python.timeseries.state_space_models: filtering_postprocessor kalman_filter \
level_trend periodic state_space_model structural_ensemble varma
tpu.python:
tpu.python.ops: tpu_ops tpu_ordinal_selector_op
tpu.python.profiler:
tpu.python.tpu: _tpu_estimator_embedding async_checkpoint bfloat16 datasets device_assignment \
error_handling feature_column functional keras_support keras_tpu_variables session_support \
tensor_tracer topology tpu tpu_config tpu_context tpu_embedding tpu_embedding_gradient \
tpu_estimator tpu_feed tpu_function tpu_optimizer tpu_sharding tpu_system_metadata training_loop \
util
training.python:
training.python.training: bucket_ops device_setter evaluation feeding_queue_runner hparam \
hparam_pb2 resample sampling_ops sequence_queueing_state_saver sgdr_learning_rate_decay training \
tuner
"""
