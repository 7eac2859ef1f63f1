# SPDX-License-Identifier: Apache-2.0
"""Public names that belong to no op: versions, `tf.compat`, and the lazily imported platform."""

from __future__ import annotations

import sys
from types import ModuleType

# Imported for the names that they publish.
from .. import compat  # noqa: F401
from ..api import lazy
from ..graph import seed  # noqa: F401
from ..session import fetches, session  # noqa: F401
from ..types import nest  # noqa: F401
from . import specs  # noqa: F401

NUMBAFLOW_VERSION = "0.1.0"

for _name in (
    "debug error fatal info log warn warning vlog flush log_every_n log_first_n log_if "
    "get_verbosity set_verbosity TaskLevelStatusMessage DEBUG ERROR FATAL INFO WARN"
).split():
    lazy(f"engine.interface.log:{_name}", f"logging.{_name}")
lazy("engine.interface.log:get_logger", "get_logger")

for _name in ("flags", "app.flags"):
    lazy("engine.interface.flags", _name)
lazy("engine.interface.flags:run", "app.run")

for _name in (
    "TestCase main mock get_temp_dir is_gpu_available is_built_with_cuda is_built_with_rocm "
    "is_built_with_gpu_support is_built_with_xla gpu_device_name test_src_dir_path "
    "assert_equal_graph_def StubOutForTesting"
).split():
    lazy(f"engine.interface.testing:{_name}", f"test.{_name}")
lazy("engine.interface.benchmark:TensorFlowBenchmark", "test.Benchmark")
lazy("engine.interface.benchmark:benchmark_config", "test.benchmark_config")

for _name in ("get_include", "get_lib", "get_compile_flags", "get_link_flags"):
    lazy(f"engine.interface.loading:{_name}", f"sysconfig.{_name}")
for _name in ("load_op_library", "load_file_system_library", "load_library"):
    lazy(f"engine.interface.loading:{_name}", _name)
for _name in (
    "get_data_files_path get_path_to_datafile get_root_dir_with_all_resources load_resource "
    "readahead_file_path"
).split():
    lazy(f"engine.interface.loading:{_name}", f"resource_loader.{_name}")
lazy("alias.internals.compat_v2:V2", "compat.v2")
lazy("alias.internals.keras_view:KERAS", "keras")
lazy("alias.internals.keras_view:KERAS", "contrib.keras")


def add_compat(root: ModuleType) -> None:
    """`tf.compat.v1` is the package itself."""
    package = root.__name__
    namespace = sys.modules[f"{package}.compat"]
    namespace.v1 = root  # type: ignore[attr-defined]
    sys.modules[f"{package}.compat.v1"] = root
