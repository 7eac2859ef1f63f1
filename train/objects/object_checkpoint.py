# SPDX-License-Identifier: Apache-2.0
"""Checkpoints that `tf.train.Checkpoint` wrote, read by the names of their variables."""

from __future__ import annotations

from typing import Any

from ...engine import errors
from ...engine.errors import NotFoundError
from ...engine.graph.trackable import OBJECT_GRAPH_PROTO_KEY
from ..checkpoints.saveable import validate_and_slice_inputs


def object_graph_key_mapping(checkpoint_path: str) -> dict[str, str]:
    """The key in the checkpoint of each variable's name."""
    from ...io import protos
    from ...io.checkpoint_reader import new_checkpoint_reader

    text = new_checkpoint_reader(checkpoint_path).get_tensor(OBJECT_GRAPH_PROTO_KEY)
    graph = protos.TrackableObjectGraph.FromString(text)
    return {
        attribute.full_name: attribute.checkpoint_key
        for node in graph.nodes
        for attribute in node.attributes
    }


def saver_from_object_based_checkpoint(
    checkpoint_path: str,
    var_list: Any = None,
    builder: object = None,
    names_to_keys: dict[str, str] | None = None,
    cached_saver: object = None,
) -> Any:
    """A saver that reads such a checkpoint into variables of the names that it was written with."""
    from ..checkpoints.meta_graph import all_saveable_objects
    from ..checkpoints.saver import Saver
    from ..checkpoints.saver_builder import BulkSaverBuilder

    if names_to_keys is None:
        try:
            names_to_keys = object_graph_key_mapping(checkpoint_path)
        except NotFoundError:
            raise ValueError(
                f"Checkpoint in {checkpoint_path} not an object-based checkpoint."
            ) from None
    saveables = validate_and_slice_inputs(all_saveable_objects() if var_list is None else var_list)
    specs = [spec for saveable in saveables for spec in saveable.specs]
    _require(names_to_keys, {spec.name for spec in specs})
    if cached_saver is not None:
        return cached_saver
    for spec in specs:
        spec.name = names_to_keys[spec.name]
    return Saver(saveables, builder=builder or BulkSaverBuilder())


def _require(names_to_keys: dict[str, str], names: set[str]) -> None:
    """NotFoundError when a variable was not there when the checkpoint was written."""
    missing = sorted(names - set(names_to_keys))
    if not missing:
        return
    extra = sorted(set(names_to_keys) - names)
    raise errors.not_found(
        f"\n\nExisting variables not in the checkpoint: {', '.join(missing)}\n\n"
        "Variables names when this checkpoint was written which don't exist now: "
        f"{', '.join(extra)}\n\n"
        f"({len(names & set(names_to_keys))} variable name(s) did match)\n\n"
        "Could not find some variables in the checkpoint (see names above). Saver was attempting "
        "to load an object-based checkpoint (saved using tf.train.Checkpoint or "
        "tf.keras.Model.save_weights) using variable names. If the checkpoint was written with "
        "eager execution enabled, it's possible that variable names have changed (for example "
        "missing a '_1' suffix). It's also possible that there are new variables which did not "
        "exist when the checkpoint was written. You can construct a Saver(var_list=...) with only "
        "the variables which previously existed, and if variable names have changed you may need "
        "to make this a dictionary with the old names as keys. If you're using an Estimator, "
        "you'll need to return a tf.train.Saver inside a tf.train.Scaffold from your model_fn."
    )
