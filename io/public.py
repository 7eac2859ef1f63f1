# SPDX-License-Identifier: Apache-2.0
"""Public names of files and checkpoints; what they stand for is imported on first use."""

from __future__ import annotations

from ..engine.api import lazy

# Function of files.py -> its names in `tf.gfile` and in `tf.io.gfile`.
_FILES = {
    "copy": ("Copy", "copy"),
    "create_dir": ("MkDir", "mkdir"),
    "delete_file": ("Remove", "remove"),
    "delete_recursively": ("DeleteRecursively", "rmtree"),
    "file_exists": ("Exists", "exists"),
    "get_matching_files": ("Glob", "glob"),
    "is_directory": ("IsDirectory", "isdir"),
    "list_directory": ("ListDirectory", "listdir"),
    "recursive_create_dir": ("MakeDirs", "makedirs"),
    "rename": ("Rename", "rename"),
    "stat": ("Stat", "stat"),
}
for _function, (_old, _new) in _FILES.items():
    lazy(f"io.files:{_function}", f"gfile.{_old}")
    lazy(f"io.files_v2:{_function}_v2", f"io.gfile.{_new}")
lazy("io.files:walk", "gfile.Walk")
lazy("io.files:walk_v2", "io.gfile.walk")
lazy("io.files:GFile", "gfile.GFile", "gfile.Open", "io.gfile.GFile")
lazy("io.files:FastGFile", "gfile.FastGFile")
lazy("io.checkpoint_reader:new_checkpoint_reader", "train.NewCheckpointReader")
lazy("io.checkpoint_reader:CheckpointReader", "train.CheckpointReader")
for _name in ("TFRecordCompressionType", "TFRecordOptions", "TFRecordWriter", "tf_record_iterator"):
    lazy(f"io.record:{_name}", f"io.{_name}", f"python_io.{_name}")
lazy("io.events:summary_iterator", "train.summary_iterator")
