# SPDX-License-Identifier: Apache-2.0
"""Where the names of TensorFlow 1.15's internal modules are found here: tables for alias/finder.py.

A home is a module of this package (".engine.types.dtypes"), a public namespace ("tf.math", "tf"), a
module of the standard library ("inspect") or "raw" (the functions that make one node each).
"""

from __future__ import annotations

from . import keras_modules, renamed_contrib, strategy_modules

_COLUMNS = " ".join(
    f".train.feature_column.{room}"
    for room in (
        "numeric categorical crossed embedding indicator sequence_feature_column input_layer "
        "linear_model dense_features protocol state"
    ).split()
)
_LOADERS = ".train.saved_model.reading .train.saved_model.assets"
# Module below `tensorflow.python` -> homes, in the order in which they are asked.
HOMES = {
    "framework": {
        "config": "tf.config tf.config.experimental .ops.runtime_settings",
        "smart_cond": "tf.contrib.framework",
        "common_shapes": ".engine.graph.shape_rules .engine.types.shape",
        "constant_op": ".ops.array.constant tf",
        "device": ".engine.graph.devices tf",
        "device_spec": ".engine.graph.devices tf",
        "dtypes": ".engine.types.dtypes tf.dtypes",
        **dict.fromkeys(("errors", "errors_impl"), ".engine.errors tf.errors"),
        "error_interpolation": ".io.meta_graph",
        "function": ".ops.flow.function_library .ops.flow.function_graph",
        "graph_to_function_def": ".io.function_writing",
        "graph_io": ".io.graph_def",
        **dict.fromkeys(("graph_util", "graph_util_impl"), ".io.graph_util"),
        "importer": ".io.graph_import",
        "indexed_slices": ".engine.graph.tensor .engine.interface.specs",
        "load_library": "tf",
        "meta_graph": ".io.meta_graph .io.meta_graph_import",
        "op_def_library": ".engine.graph.op_def_library",
        "op_def_registry": ".io.op_def_registry",
        "ops": (
            ".engine.graph.graph .engine.graph.operation .engine.graph.tensor "
            ".engine.graph.convert .engine.graph.collections .engine.graph.scope_functions "
            ".engine.gradients.autodiff .engine.graph.defaults .engine.graph.devices "
            ".engine.graph.registry .engine.graph.node_def .engine.interface.statistics tf"
        ),
        "random_seed": ".engine.graph.seed tf",
        "sparse_tensor": ".engine.graph.tensor .engine.interface.specs .engine.graph.convert tf",
        "tensor_conversion_registry": ".engine.graph.convert",
        "tensor_shape": ".engine.types.shape",
        "tensor_spec": ".engine.interface.specs",
        "type_spec": ".engine.interface.specs",
        "tensor_util": ".engine.graph.constants .io.tensor_proto .engine.graph.convert tf",
        "test_ops": ".ops.checks.testing raw",
        "test_util": "tf.test",
        "versions": ".io.versions",
    },
    "ops": {
        "gradient_checker_v2": ".ops.checks.gradient_checker_v2",
        "linalg.linalg_impl": "tf.linalg",
        "signal.dct_ops": "tf.signal .ops.signal.dct",
        "signal.fft_ops": "tf.signal .ops.math.fourier_real",
        "signal.mel_ops": "tf.signal .ops.signal.mel",
        "signal.mfcc_ops": "tf.signal",
        "signal.reconstruction_ops": "tf.signal",
        "signal.shape_ops": "tf.signal .ops.signal.frames",
        "signal.spectral_ops": "tf.signal .ops.signal.stft",
        "signal.util_ops": ".ops.signal.frames",
        "signal.window_ops": "tf.signal",
        "unconnected_gradients": "tf",
        "array_grad": ".alias.internals.gradients",
        "array_ops": (
            "tf .alias.internals.second_forms .ops.array.constant .ops.array.gather "
            ".ops.array.shape .ops.array.indexing raw"
        ),
        "batch_ops": "tf.contrib.batching .train.contrib.batching raw",
        "bitwise_ops": "tf.bitwise",
        "boosted_trees_ops": ".train.estimator.trees.resources raw",
        "candidate_sampling_ops": "tf.nn",
        "check_ops": "tf.debugging tf",
        "clip_ops": "tf",
        "confusion_matrix": "tf tf.math .ops.sparse.arithmetic",
        "control_flow_grad": ".alias.internals.gradients",
        "control_flow_ops": "tf .ops.control .ops.flow.control_flow raw",
        "control_flow_state": ".ops.flow.control_flow",
        "control_flow_v2_toggles": "tf .ops.flow.toggles",
        "control_flow_util": ".ops.flow.util .ops.flow.control_flow .ops.control",
        "critical_section_ops": ".ops.queues.mutex",
        "ctc_ops": "tf.nn .ops.nn.ctc_dense .ops.nn.ctc_labels raw",
        "custom_gradient": "tf .ops.flow.custom_gradient",
        "data_flow_grad": ".alias.internals.gradients",
        "data_flow_ops": (
            "tf tf.queue .ops.queues.queues .ops.queues.barrier .ops.queues.staging "
            ".ops.queues.record_input raw"
        ),
        "embedding_ops": "tf.nn .ops.nn.embedding_safe",
        "functional_ops": "tf .ops.flow.library_calls raw",
        "gradient_checker": "tf.test",
        "gradients": "tf .engine.gradients.autodiff",
        "gradients_impl": "tf .engine.gradients.autodiff",
        "gradients_util": ".engine.gradients.autodiff .engine.gradients.autodiff_sums",
        "histogram_ops": "tf",
        "image_grad": ".alias.internals.gradients",
        **dict.fromkeys(
            ("image_ops", "image_ops_impl"),
            ".ops.image.resize_images .ops.image.draw .ops.image.distort .ops.image.glimpse "
            ".ops.image.quality tf.image raw",
        ),
        "init_ops": ".ops.state.init .ops.state.init_orthogonal tf.initializers tf",
        "inplace_ops": ".ops.array.inplace",
        "io_ops": ".ops.state.save_restore tf tf.io .ops.queues.readers raw",
        "linalg_grad": ".alias.internals.gradients",
        "linalg_ops": "tf tf.linalg .ops.linalg.solve .ops.linalg.least_squares raw",
        "list_ops": ".ops.flow.tensor_list raw",
        "logging_ops": ".ops.checks.logging tf tf.summary",
        "lookup_ops": (
            "tf.lookup .ops.lookup.tables .ops.lookup.vocabulary .train.checkpoints.lookup_mutable "
            "tf raw"
        ),
        "losses.loss_reduction": "tf.losses",
        "losses.losses": "tf.losses",
        "losses.losses_impl": "tf.losses",
        "losses.util": "tf.losses",
        "manip_ops": "tf.manip",
        "map_fn": "tf",
        "math_grad": ".alias.internals.gradients",
        "math_ops": (
            "tf.math tf .ops.math.operators .ops.math.reduce_gradient "
            ".engine.gradients.autodiff_sums raw"
        ),
        **dict.fromkeys(("metrics", "metrics_impl"), "tf.metrics"),
        "nn": "tf.nn",
        "nn_grad": ".alias.internals.gradients",
        "nn_impl": "tf.nn tf.linalg .ops.nn.dropout .ops.nn.sampled",
        "nn_ops": "tf.nn raw .ops.nn.dropout .ops.nn.top_k .ops.nn.format .ops.nn.fractional_pool",
        "numerics": "tf",
        "parsing_ops": "tf tf.io",
        "partitioned_variables": "tf",
        "random_grad": ".ops.random.distributions_stateless",
        "random_ops": ".ops.random.random_ops tf tf.random .ops.random.bounded",
        "resources": ".ops.state.resources",
        "ragged": "tf.ragged",
        "ragged.ragged_array_ops": ".ops.ragged.array tf.ragged",
        "ragged.ragged_batch_gather_ops": ".ops.ragged.gather",
        "ragged.ragged_batch_gather_with_default_op": ".ops.ragged.gather",
        "ragged.ragged_concat_ops": ".ops.ragged.join",
        "ragged.ragged_config": ".alias.internals.ragged",
        "ragged.ragged_conversion_ops": ".alias.internals.ragged",
        "ragged.ragged_dispatch": ".alias.internals.ragged .ops.ragged.dispatch",
        "ragged.ragged_factory_ops": (
            ".ops.ragged.constant .ops.ragged.values .alias.internals.ragged tf.ragged"
        ),
        "ragged.ragged_functional_ops": ".ops.ragged.functional",
        "ragged.ragged_gather_ops": ".ops.ragged.gather",
        "ragged.ragged_getitem": ".ops.ragged.getitem",
        "ragged.ragged_map_ops": ".ops.ragged.map",
        "ragged.ragged_math_ops": ".ops.ragged.reduce tf.ragged",
        "ragged.ragged_operators": ".ops.ragged.tensor",
        "ragged.ragged_squeeze_op": ".ops.ragged.where",
        "ragged.ragged_string_ops": (
            ".alias.internals.ragged .ops.ragged.strings .ops.ragged.unicode .ops.strings.split "
            "tf.strings tf"
        ),
        "ragged.ragged_tensor": ".ops.ragged.tensor .ops.ragged.spec",
        "ragged.ragged_tensor_shape": ".ops.ragged.dynamic_shape",
        "ragged.ragged_tensor_value": ".ops.ragged.values",
        "ragged.ragged_util": ".ops.ragged.util",
        "ragged.ragged_where_op": ".ops.ragged.where",
        "ragged.segment_id_ops": ".ops.ragged.segment_ids",
        "resource_variable_ops": (
            ".ops.state.resource_variable .ops.state.variables .ops.state.reference tf raw"
        ),
        "rnn": ".train.rnn.dynamic .train.rnn.static .train.rnn.raw .train.rnn.step",
        "rnn_cell": "tf.nn.rnn_cell",
        "rnn_cell_impl": ".train.rnn.cells .train.rnn.cell .train.rnn.wrappers",
        "script_ops": "tf .ops.flow.script .ops.flow.python_function",
        "session_ops": "tf",
        **dict.fromkeys(("sets", "sets_impl"), "tf.sets"),
        "sort_ops": "tf .ops.array.sort",
        "sparse_grad": ".alias.internals.gradients",
        "sparse_ops": (
            "tf .ops.sparse.layout .ops.sparse.dense .ops.sparse.math .ops.sparse.rows "
            ".ops.sparse.serialize .ops.sparse.cross .alias.internals.second_forms tf.sparse raw"
        ),
        "special_math_ops": "tf tf.math",
        "standard_ops": "tf",
        "stateful_random_ops": (
            ".ops.random.generator .ops.random.stateful tf.random.experimental raw"
        ),
        "state_grad": ".alias.internals.gradients",
        "state_ops": "tf .ops.state.reference raw",
        "stateless_random_ops": ".ops.random.distributions_stateless tf.random",
        "string_ops": (".alias.internals.second_forms .ops.checks.logging tf tf.strings raw"),
        "summary_op_util": ".ops.summaries.api",
        "summary_ops": "tf.summary",
        "summary_ops_v2": (
            ".train.summaries.recording .train.summaries.graph_writers .alias.internals.tracing"
        ),
        "template": "tf .ops.state.template",
        "tensor_array_grad": ".ops.flow.tensor_array_nodes",
        "tensor_array_ops": "tf .ops.flow.tensor_array",
        "variable_scope": (
            "tf .ops.state.variable_scope .ops.state.variable_store "
            ".ops.state.variable_partitions .ops.state.variables"
        ),
        "variables": "tf .ops.state.variables .ops.state.variable_partitions",
        "weights_broadcast_ops": ".ops.nn.weights",
        "distributions.distributions": "tf.distributions",
        "distributions.distribution": "tf.distributions",
        "distributions.normal": "tf.distributions",
        "linalg.linalg": "tf.linalg",
        "signal.signal": "tf.signal",
    },
    "platform": {
        "app": "tf.app",
        "benchmark": ".engine.interface.benchmark",
        "flags": "tf.flags tf.app.flags",
        "gfile": "tf.gfile",
        "googletest": "tf.test",
        "logging": "tf.logging",
        "resource_loader": "tf.resource_loader",
        "sysconfig": "tf.sysconfig",
        "test": "tf.test",
        "tf_logging": ".engine.interface.log tf.logging",
    },
    "client": {
        "client_lib": "tf",
        "device_lib": ".engine.graph.devices tf",
        "session": ".engine.session.session tf",
        "timeline": ".io.timeline",
    },
    "lib": {
        "io.file_io": ".io.files .io.files_v2",
        "io.python_io": "tf.python_io",
        "io.tf_record": "tf.python_io tf.io",
    },
    "layers": {
        "layers": "tf.layers",
        **{
            name: f".train.layers.{name}"
            for name in "base core normalization pooling utils".split()
        },
        "convolutional": ".train.layers.convolutional .train.layers.transposed_conv",
    },
    "feature_column": {
        "dense_features": ".train.feature_column.dense_features",
        "dense_features_v2": ".train.feature_column.dense_features_v2",
        "feature_column": _COLUMNS,
        "feature_column_lib": f"{_COLUMNS} tf.feature_column",
        "feature_column_v2": _COLUMNS,
        "sequence_feature_column": (
            ".train.feature_column.sequence_feature_column .train.feature_column.dense_features"
        ),
        "serialization": ".train.feature_column.serialization",
        "utils": ".train.feature_column.checks",
    },
    "summary": {
        "summary": "tf.summary",
        "summary_iterator": "tf.train",
        "plugin_asset": ".train.summaries.plugin_asset",
        "writer.event_file_writer": ".io.events",
        "writer.writer": ".train.summaries.summary_io tf.summary",
        "writer.writer_cache": ".train.summaries.summary_io tf.summary",
    },
    "saved_model": {
        "builder": ".train.saved_model.writing",
        "builder_impl": ".train.saved_model.writing .train.saved_model.assets",
        "constants": ".train.saved_model.names",
        **dict.fromkeys(("loader", "loader_impl"), _LOADERS),
        **dict.fromkeys(("main_op", "main_op_impl"), ".train.saved_model.init_ops"),
        "nested_structure_coder": ".train.saved_model.structures",
        "saved_model": "tf.saved_model",
        "function_deserialization": ".train.saved_model.restored_functions .io.function_placing",
        "function_serialization": ".train.saved_model.function_saving",
        "load": ".train.saved_model.object_loading",
        "revived_types": ".train.saved_model.revived_types",
        "save": ".train.saved_model.object_saving",
        "signature_constants": ".train.saved_model.names",
        "signature_def_utils": ".train.saved_model.signatures",
        "signature_def_utils_impl": ".train.saved_model.signatures",
        "signature_serialization": ".train.saved_model.signature_functions",
        "simple_save": ".train.saved_model.writing",
        "tag_constants": ".train.saved_model.names",
        "utils": ".train.saved_model.tensor_info .train.saved_model.folder",
        "utils_impl": ".train.saved_model.tensor_info .train.saved_model.folder",
    },
    "data": {
        "experimental.ops.batching": ".ops.data.experimental.batching tf.data.experimental",
        "experimental.ops.cardinality": ".ops.data.checkpointing tf.data.experimental",
        **{
            f"experimental.ops.{kind}_options": ".ops.data.options tf.data.experimental"
            for kind in ("distribute", "optimization", "stats", "threading")
        },
        "experimental.ops.counter": ".ops.data.experimental.scanning tf.data.experimental",
        "experimental.ops.grouping": ".ops.data.experimental.grouping tf.data.experimental",
        "experimental.ops.interleave_ops": ".ops.data.experimental.choosing tf.data.experimental",
        "experimental.ops.matching_files": ".ops.data.experimental.reading",
        **{
            f"experimental.ops.{kind}": "tf.data.experimental"
            for kind in (
                "enumerate_ops error_ops get_single_element iterator_ops prefetching_ops "
                "resampling scan_ops shuffle_ops take_while_ops unique writers"
            ).split()
        },
        **{
            f"experimental.ops.{kind}": ".ops.data.experimental.adjusting tf.data.experimental"
            for kind in ("distribute", "map_defun", "optimization", "sleep", "threadpool")
        },
        "experimental.ops.parsing_ops": ".ops.data.experimental.reading tf.data.experimental",
        "experimental.ops.random_ops": ".ops.data.experimental.scanning tf.data.experimental",
        "experimental.ops.readers": (
            ".ops.data.experimental.csv .ops.data.experimental.reading tf.data.experimental"
        ),
        "experimental.ops.snapshot": ".ops.data.experimental.snapshotting",
        "experimental.ops.stats_aggregator": ".ops.data.experimental.elements tf.data.experimental",
        "experimental.ops.stats_ops": ".ops.data.experimental.elements tf.data.experimental",
        "ops.dataset_ops": (
            ".ops.data.dataset_v1 .ops.data.dataset .ops.data.dataset_spec .ops.data.sources "
            ".ops.data.transformations .ops.data.functions .ops.data.options tf.data"
        ),
        "ops.iterator_ops": ".ops.data.iterators tf.data",
        "ops.multi_device_iterator_ops": ".ops.data.several_devices",
        "ops.optional_ops": ".ops.data.optional tf.data.experimental",
        "ops.readers": ".ops.data.readers tf.data",
        **{f"util.{kind}": ".ops.data.arguments" for kind in ("convert", "random_seed")},
        "util.options": ".ops.data.options_base",
        **{f"util.{k}": f".ops.data.{k}" for k in ("nest", "structure")},
        "util.sparse": ".ops.data.sparse_components",
        "util.traverse": ".ops.data.dataset_v1",
    },
    "util": {
        "lazy_loader": ".alias.helpers",
        "tf_export": ".alias.internals.exporting",
        "compat": "tf.compat .alias.helpers",
        "compat_internal": "tf.compat",
        "deprecation": ".alias.internals.deprecation",
        "nest": "tf.nest .engine.types.nest",
        "tf_contextlib": "contextlib",
    },
    "training": {
        name: f".train.{room}.{name} tf.train tf"
        for room, names in {
            "checkpoints": "checkpoint_management checkpoint_utils saver",
            "distributed": "device_setter sync_replicas_optimizer",
            "inputs": "input queue_runner_impl",
            "objects": "warm_starting_util",
            "optimizers": "optimizer",
            "sessions": (
                "basic_loops basic_session_run_hooks coordinator evaluation monitored_session "
                "session_manager session_run_hook supervisor"
            ),
            "summaries": "summary_io",
            "variables": "moving_averages slot_creator",
        }.items()
        for name in names.split()
    },
}
# Modules of TensorFlow's whose names lie in several files here.
HOMES["training"].update(
    dict.fromkeys(
        (
            "adadelta adagrad adagrad_da adam ftrl gradient_descent learning_rate_decay momentum "
            "proximal_adagrad proximal_gradient_descent queue_runner rmsprop training"
        ).split(),
        "tf.train tf",
    )
)
HOMES["ops"].update(
    (
        f"distributions.{name}",
        " ".join(f".ops.distributions.{home}" for home in homes.split()),
    )
    for homes, names in {
        "distribution": "distribution",
        "divergence": "kullback_leibler",
        "special": "special_math",
        "checks util": "util",
        "bijector": "bijector bijector_impl identity_bijector",
        "transformed_distribution": "transformed_distribution",
        "location_scale": "normal uniform",
        "location_scale softplus": "laplace student_t",
        "positive_support": "dirichlet",
        "positive_support softplus": "beta exponential gamma",
        "discrete": "bernoulli categorical dirichlet_multinomial multinomial",
    }.items()
    for name in names.split()
)
HOMES["ops"]["distributions.distributions"] = "tf.distributions"
HOMES["ops"].update(
    (f"linalg.{name}", f".ops.linalg.operators.{home} tf.linalg")
    for home, names in {
        "operator": "linear_operator",
        "algebra": "linear_operator_algebra",
        "broadcasting": "linear_operator_util",
        "addition": "linear_operator_addition",
        "rules": (
            "adjoint_registrations cholesky_registrations inverse_registrations "
            "matmul_registrations registrations_util solve_registrations"
        ),
        "diagonal": (
            "linear_operator_diag linear_operator_full_matrix linear_operator_lower_triangular"
        ),
        "identity": "linear_operator_identity linear_operator_zeros",
        "circulant": "linear_operator_circulant linear_operator_toeplitz",
        "low_rank": "linear_operator_householder linear_operator_low_rank_update",
        "composed": (
            "linear_operator_block_diag linear_operator_composition linear_operator_kronecker"
        ),
        "derived": "linear_operator_adjoint linear_operator_inversion",
    }.items()
    for name in names.split()
)
HOMES["training"]["saving.saveable_object"] = ".train.checkpoints.saveable"
HOMES["training"]["saving.saveable_object_util"] = ".train.checkpoints.saveable"
HOMES["training"]["saving.functional_saver"] = ".train.objects.object_saver"
HOMES["training"]["tracking.base"] = ".engine.graph.trackable .train.objects.python_state"
HOMES["training"]["tracking.data_structures"] = (
    ".train.objects.data_structures .train.objects.data_wrappers"
)
HOMES["training"]["tracking.graph_view"] = ".train.objects.graph_view"
HOMES["training"]["tracking.python_state"] = ".train.objects.python_state"
HOMES["training"]["tracking.tracking"] = ".train.objects.tracking"
HOMES["training"]["tracking.util"] = ".train.objects.checkpoint .train.objects.load_status tf.train"
HOMES["training"]["tensorboard_logging"] = ".train.summaries.event_logging"
HOMES["training"]["checkpoint_ops"] = ".train.checkpoints.checkpoint_ops"
HOMES["training"]["training_ops"] = "raw"
HOMES["training"]["experimental.loss_scale"] = ".train.optimizers.loss_scale"
HOMES["training"]["experimental.loss_scale_optimizer"] = ".train.optimizers.mixed_precision"
HOMES["training"]["experimental.mixed_precision"] = ".train.optimizers.mixed_precision"
HOMES["training"]["server_lib"] = ".train.distributed.server .train.distributed.cluster tf.train"
HOMES["training"]["training_util"] = ".train.variables.global_step tf.train tf"
HOMES["ops"].update(
    (f"gen_{family}_ops", "raw")
    for family in (
        "array audio batch bitwise candidate_sampling control_flow ctc data_flow functional image "
        "io linalg list logging lookup manip math nn parsing random resource_variable script sdca "
        "boosted_trees checkpoint set sparse spectral state stateful_random stateless_random "
        "string summary "
        "dataset experimental_dataset rnn cudnn_rnn clustering decode_proto encode_proto collective"
    ).split()
)

# Modules elsewhere below `tensorflow`.
OTHERS = {
    "examples.tutorials.mnist.input_data": ".io.mnist",
    "examples.tutorials.mnist.mnist": ".train.mnist",
    "contrib.summary.summary": "tf.contrib.summary",
    "contrib.learn.python.learn.datasets.mnist": ".io.mnist",
    "contrib.factorization.python.ops.clustering_ops": (
        ".train.contrib.factorization.clustering_ops raw"
    ),
    "contrib.batching.python.ops.batch_ops": "tf.contrib.batching .train.contrib.batching raw",
    "contrib.factorization.python.ops.gen_factorization_ops": "raw",
    "contrib.framework.python.ops.audio_ops": "raw",
    "contrib.graph_editor.tests": "",
    "contrib.graph_editor.tests.match": ".train.contrib.graph_editor.match",
    **{f"contrib.{m}.ops.gen_{m}_ops": "raw" for m in ("image", "memory_stats", "resampler")},
    "python.compat.compat": ".alias.helpers",
    "python.estimator.run_config": "tf.estimator .train.estimator.run_config",
    "python.eager.backprop": ".ops.flow.gradient_tape .alias.internals.eager",
    "python.module.module": ".train.objects.module",
    "python.ops.parallel_for.control_flow_ops": ".ops.flow.parallel_for",
    "python.ops.parallel_for.gradients": ".ops.flow.parallel_for",
    "python.tools.freeze_graph": ".train.saved_model.freezing",
    "python.tools.inspect_checkpoint": ".train.checkpoints.inspect_checkpoint",
    "python.tools.optimize_for_inference": ".train.tools",
    "python.tools.optimize_for_inference_lib": ".io.optimize_for_inference",
    "python.tools.saved_model_cli": ".train.saved_model.command",
    "python.tools.saved_model_utils": ".train.saved_model.freezing",
    "python.tools.strip_unused": ".train.tools",
    "python.tools.strip_unused_lib": ".io.strip_unused",
    "python.pywrap_tensorflow": "tf.train",
    "python.tf2": ".alias.helpers",
}

# Modules that are programs, too: "module:what is called there".
PROGRAMS = {
    f"python.tools.{tool}": f".train.tools:main({tool!r})"
    for tool in ("freeze_graph", "inspect_checkpoint", "optimize_for_inference", "strip_unused")
}
PROGRAMS["python.tools.saved_model_cli"] = ".train.saved_model.command:main()"

# Modules that add op types: importing them imports their first home.
AT_ONCE = frozenset({"python.framework.test_ops"})

# Internals that libraries of the time import, with homes in alias/internals/.
_INTERNALS = {
    "functions": (
        "util.tf_decorator util.tf_inspect util.function_utils util.tf_should_use util.all_util "
        "util.module_wrapper util.keyword_args util.is_in_graph_mode util.serialization"
    ),
    "notices": "util.decorator_utils",
    "eager": "eager.context eager.tape eager.def_function eager.function",
    "monitoring": "eager.monitoring",
    "composites": "framework.composite_tensor_utils",
    "subscribe": "framework.subscribe",
    "wrapping": "eager.wrap_function eager.lift_to_graph",
    "ordering": "framework.auto_control_deps",
    "dispatching": "util.dispatch",
    "framework": (
        "util.object_identity framework.composite_tensor framework.kernels framework.registry "
        "framework.c_api_util platform.self_check platform.build_info user_ops.user_ops"
    ),
    "products": (
        "debug debug.wrappers.local_cli_wrapper debug.wrappers.hooks debug.wrappers.grpc_wrapper "
        "debug.wrappers.dumping_wrapper debug.wrappers.framework debug.lib.debug_utils "
        "debug.lib.debug_data debug.lib.common distribute.values"
    ),
}
OTHERS.update(
    (f"python.{module}", f".alias.internals.{home}")
    for home, modules in _INTERNALS.items()
    for module in modules.split()
)
for _module in ("model_analyzer", "option_builder", "profile_context", "tfprof_logger"):
    OTHERS[f"python.profiler.{_module}"] = f".train.contrib.tfprof.{_module} tf.profiler"
# What was below python.estimator before it was a package of its own.
_ESTIMATORS = {
    "estimator": "estimator",
    "exporter": "exporter",
    "model_fn": "model_fn mode_keys",
    "run_config": "run_config",
    "training": "training",
    "util": "util",
    "canned.baseline": "baseline",
    "canned.dnn": "dnn dnn_part",
    "canned.dnn_linear_combined": "combined",
    "canned.linear": "linear linear_part",
    "canned.optimizers": "optimizers",
    "canned.parsing_utils": "parsing",
    "export.export": "export export_utils",
    "export.export_lib": "export export_output",
    "export.export_output": "export_output",
    "head.base_head": "heads head_checks",
    **dict.fromkeys(
        (
            "head head.binary_class_head head.multi_class_head head.multi_head "
            "head.multi_label_head head.regression_head"
        ).split(),
        "heads",
    ),
    **dict.fromkeys(("estimator_lib", "canned", "export", "inputs"), ""),
    "inputs.inputs": "inputs",
    "inputs.numpy_io": "inputs",
    "inputs.pandas_io": "inputs",
}
_KEYS = ".alias.internals.estimator_keys"
OTHERS["python.estimator"] = "tf.estimator"
OTHERS["python.estimator.canned.prediction_keys"] = _KEYS
OTHERS["python.estimator.canned.metric_keys"] = _KEYS
OTHERS["python.estimator.canned.head"] = "tf.contrib.estimator"
_EXPORTS = ".train.estimator.export_utils .train.estimator.export_output"
OTHERS["python.saved_model.model_utils"] = _EXPORTS
for _module in ("export_utils", "export_output"):
    OTHERS[f"python.saved_model.model_utils.{_module}"] = _EXPORTS
OTHERS["python.saved_model.model_utils.mode_keys"] = ".alias.internals.mode_keys"
OTHERS.update(
    {
        f"python.estimator.{module}": " ".join(
            [
                *(f".train.estimator.{home}" for home in homes.split()),
                *(["tf.estimator.export"] if module.startswith("export") else []),
                *(["tf.estimator.inputs"] if module.startswith("inputs") else []),
                "tf.estimator",
            ]
        )
        for module, homes in _ESTIMATORS.items()
    }
)
OTHERS["python.estimator.canned.optimizers"] += f" {_KEYS}"
OTHERS.update({**renamed_contrib.HOMES, **strategy_modules.MODULES, **keras_modules.MODULES})
_AUTOGRAPH = ".ops.flow.autograph"
for _module in ("autograph", "autograph.impl.api", "autograph.core.converter"):
    OTHERS[f"python.{_module}"] = f"tf.autograph tf.autograph.experimental {_AUTOGRAPH}.api"
for _module in ("py_builtins", "logical", "exceptions", "data_structures", "slices"):
    OTHERS[f"python.autograph.operators.{_module}"] = f"{_AUTOGRAPH}.values"
OTHERS["python.autograph.operators.control_flow"] = f"{_AUTOGRAPH}.control"
OTHERS["python.autograph.operators.special_values"] = f"{_AUTOGRAPH}.state"
OTHERS["python.layers"] = f"tf.layers {HOMES['layers']['convolutional']}"
OTHERS["python.ops.collective_ops"] = ".ops.collective"
OTHERS["python.ops.clustering_ops"] = OTHERS["contrib.factorization.python.ops.clustering_ops"]
OTHERS["python.ops.op_selector"] = ".alias.internals.privates .train.contrib.graph_editor.util"
for _module in ("cond_v2", "while_v2", "control_flow_util_v2", "control_flow_v2_func_graphs"):
    OTHERS[f"python.ops.{_module}"] = ".alias.internals.control_flow_v2"
# (`from tensorflow.python import ops` gives the module of framework, whose name hides the package.)
OTHERS["python.ops"] = HOMES["framework"]["ops"]
OTHERS["tools.graph_transforms"] = ".io.graph_transforms"
OTHERS["python.framework.func_graph"] = ".ops.flow.function_graph .alias.internals.framework"
_MORE = "framework.dtypes framework.graph_util_impl ops.math_ops ops.nn_ops ops.rnn ops.state_ops"
_FRAMEWORK = "framework.common_shapes client.device_lib ops.control_flow_util ops.variable_scope"
for _module, _home in {
    **dict.fromkeys(_MORE.split(), "privates"),
    **dict.fromkeys(_FRAMEWORK.split(), "framework"),
    "framework.ops": "framework .alias.internals.gradients",
    "ops.metrics_impl": "metrics_impl",
    "framework.test_util": "test_util",
}.items():
    _package, _, _leaf = _module.partition(".")
    HOMES[_package][_leaf] += f" .alias.internals.{_home}"
