# SPDX-License-Identifier: Apache-2.0
"""How an Estimator writes itself as a SavedModel."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...engine import errors
from ...engine.graph.collections import GraphKeys
from ...io import files
from ...ops.public import tf
from ..checkpoints.checkpoint_management import latest_checkpoint
from ..checkpoints.saver import Saver
from ..saved_model.writing import SavedModelBuilder
from ..sessions.scaffold import Scaffold
from . import export_utils
from .mode_keys import ModeKeys

if TYPE_CHECKING:
    from .estimator import Estimator


def checkpoint_of(estimator: Estimator) -> str:
    """The checkpoint to export: the last one, or what a warm start would take."""
    found = latest_checkpoint(estimator.model_dir)
    if found:
        return found
    warm = estimator._warm_start_settings
    if not warm:
        raise ValueError(f"Couldn't find trained model at {estimator.model_dir}.")
    path: str = warm.ckpt_to_initialize_from
    return (latest_checkpoint(path) or path) if files.is_directory(path) else path


def export_all(
    estimator: Estimator,
    export_dir_base: str | bytes,
    receiver_fns: dict[str, Callable[[], Any]],
    assets_extra: dict[str, str] | None,
    as_text: bool,
    checkpoint_path: str,
    strip_default_attrs: bool,
) -> bytes:
    """Writes a graph for each mode beside the folder, which gets its name once all is there."""
    folder = export_utils.get_timestamped_export_dir(export_dir_base)
    temporary = os.fsdecode(export_utils.get_temp_export_dir(folder))
    builder = SavedModelBuilder(temporary)
    first = True
    for mode in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT):
        if receiver_fns.get(mode):
            _add_graph(
                *(estimator, builder, receiver_fns[mode], checkpoint_path, mode),
                save_variables=first,
                strip_default_attrs=strip_default_attrs,
            )
            first = False
    if first:
        raise ValueError(f"No valid modes for exporting found. Got {receiver_fns.keys()}.")
    builder.save(as_text)
    for path, source in (assets_extra or {}).items():
        target = os.path.join(temporary, "assets.extra", os.fsdecode(path))
        files.recursive_create_dir(os.path.dirname(target))
        files.copy(source, target)
    files.rename(temporary, os.fsdecode(folder))
    return folder


def _add_graph(
    estimator: Estimator,
    builder: SavedModelBuilder,
    receiver_fn: Callable[[], Any],
    checkpoint_path: str,
    mode: str,
    save_variables: bool,
    strip_default_attrs: bool,
) -> None:
    with tf.Graph().as_default() as graph:
        estimator._create_and_assert_global_step(graph)
        tf.set_random_seed(estimator._config.tf_random_seed)
        receiver = receiver_fn()
        labels = getattr(receiver, "labels", None)
        spec = estimator._call_model_fn(receiver.features, labels, mode, estimator.config)
        outputs = export_utils.export_outputs_for_mode(
            *(spec.mode, spec.export_outputs, spec.predictions, spec.loss, spec.eval_metric_ops)
        )
        signatures = export_utils.build_all_signature_defs(
            receiver.receiver_tensors,
            outputs,
            getattr(receiver, "receiver_tensors_alternatives", None),
            serving_only=mode == ModeKeys.PREDICT,
        )
        with tf.Session(config=estimator._session_config) as session:
            init = spec.scaffold.local_init_op
            if init is None:
                init = Scaffold.default_local_init_op()
            saver = spec.scaffold.saver or Saver(sharded=True)
            try:
                saver.restore(session, checkpoint_path)
            except errors.NotFoundError as error:
                raise ValueError(
                    "Could not load all requested variables from checkpoint. Please make sure your "
                    "model_fn does not expect variables that were not saved in the checkpoint.\n\n"
                    f"Encountered error with mode `{mode}` while restoring checkpoint from: "
                    f"`{checkpoint_path}`. Full Traceback:\n\n{error}"
                ) from error
            builder._add_train_op(spec.train_op)
            given: dict[str, Any] = dict(
                tags=export_utils.EXPORT_TAG_MAP[mode],
                signature_def_map=signatures,
                assets_collection=tf.get_collection(GraphKeys.ASSET_FILEPATHS),
                main_op=init,
                saver=saver,
                strip_default_attrs=strip_default_attrs,
            )
            if save_variables:
                builder.add_meta_graph_and_variables(session, **given)
            else:
                builder.add_meta_graph(**given)
