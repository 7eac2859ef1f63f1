# SPDX-License-Identifier: Apache-2.0
"""How estimators of tf.contrib.learn write themselves as SavedModels."""

from __future__ import annotations

import collections
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .....io import files
from .....ops.public import tf
from ....checkpoints.saver import Saver
from ....estimator import export_utils
from ....saved_model.writing import SavedModelBuilder
from ....sessions.scaffold import Scaffold
from ....variables.global_step import create_global_step
from ..utils import saved_model_export_utils as utils
from ..utils.export import _default_input_fn, _export_estimator
from .constants import COLLECTION_DEF_KEY_FOR_INPUT_FEATURE_KEYS
from .model_fn import ModeKeys

if TYPE_CHECKING:
    from .estimator import Estimator

GraphRewriteSpec = collections.namedtuple("GraphRewriteSpec", ["tags", "transforms"])


def export_savedmodel(
    estimator: Estimator,
    export_dir_base: str | bytes,
    serving_input_fn: Callable[[], Any],
    default_key: str | None,
    assets_extra: dict[str, str] | None,
    as_text: bool,
    checkpoint_path: str,
    graph_rewrite_specs: object,
    strip_default_attrs: bool,
) -> bytes:
    """Writes the model beside its folder, which gets its name once all is there."""
    tags = _tags(graph_rewrite_specs)
    folder = export_utils.get_timestamped_export_dir(export_dir_base)
    temporary = os.fsdecode(export_utils.get_temp_export_dir(folder))
    builder = SavedModelBuilder(temporary)
    with tf.Graph().as_default() as graph:
        create_global_step(graph)
        given = serving_input_fn()
        alternatives, features = utils.get_input_alternatives(given)
        for key in features:
            tf.add_to_collection(COLLECTION_DEF_KEY_FOR_INPUT_FEATURE_KEYS, key)
        ops = estimator._call_model_fn(features, None, ModeKeys.INFER)
        outputs, actual = utils.get_output_alternatives(ops, default_key)
        signatures = utils.build_all_signature_defs(alternatives, outputs, actual)
        saver = ops.scaffold.saver if ops.scaffold is not None else None
        with tf.Session() as session:
            saver = saver or Saver(sharded=True)
            saver.restore(session, checkpoint_path)
            builder.add_meta_graph_and_variables(
                session,
                tags,
                signature_def_map=signatures,
                assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
                main_op=Scaffold.default_local_init_op(),
                strip_default_attrs=strip_default_attrs,
            )
    builder.save(as_text)
    for path, source in (assets_extra or {}).items():
        target = os.path.join(temporary, "assets.extra", os.fsdecode(path))
        files.recursive_create_dir(os.path.dirname(target))
        files.copy(source, target)
    files.rename(temporary, os.fsdecode(folder))
    return folder


def export(
    estimator: Any,
    export_dir: str,
    input_fn: Callable[..., Any] | None = _default_input_fn,
    input_feature_key: str | None = None,
    use_deprecated_input_fn: bool = True,
    signature_fn: Callable[..., Any] | None = None,
    prediction_key: str | None = None,
    default_batch_size: int | None = 1,
    exports_to_keep: int | None = None,
    checkpoint_path: str | None = None,
) -> bytes:
    """Writes an estimator as `tensorflow.contrib.session_bundle` has models.

    Args:
        estimator: of tf.contrib.learn.
        export_dir: the folder in which the export's is made, named by the step.
        input_fn: makes features of the estimator and of examples, or gives features and labels.
        input_feature_key: which of these features are the examples.
        use_deprecated_input_fn: whether `input_fn` is of the former kind.
        signature_fn: makes the default signature, and others by name, of examples, features and
            predictions; that of the estimator, or a generic one, if None.
        prediction_key: the one prediction that is exported; all are if None.
        default_batch_size: how many examples are read; any number if None.
        exports_to_keep: how many exports stay; all do if None.
        checkpoint_path: the checkpoint; the last one if None.

    Returns:
        The path of the export's folder, as bytes.

    Raises:
        ValueError: `input_fn` is missing, or gives nothing.
    """
    return _export_estimator(
        *(estimator, export_dir, signature_fn, input_fn, default_batch_size, exports_to_keep),
        input_feature_key=input_feature_key,
        use_deprecated_input_fn=use_deprecated_input_fn,
        prediction_key=prediction_key,
        checkpoint_path=checkpoint_path,
    )


def _tags(specs: Any) -> list[str]:
    if specs is None:
        return ["serve"]
    if not specs or specs[0].transforms:
        raise ValueError("The first element of graph_rewrite_specs must specify no transforms.")
    if len(specs) > 1:
        raise NotImplementedError(
            f"graph_rewrite_specs with transforms ({specs[1:]}): numbaflow compiles graphs as they "
            "are, and transforms none"
        )
    return list(specs[0].tags)
