# SPDX-License-Identifier: Apache-2.0
"""Loads exports and SavedModels alike; exports get the signatures that SavedModels have."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any

from ....engine.compat import as_text
from ....engine.interface import log
from ....engine.session.session import Session
from ....io import protos
from ....io.meta_graph_import import read_meta_graph_file
from ...saved_model import names, reading
from . import constants, session_bundle


def _add_input_to_signature_def(tensor_name: str, map_key: str, signature_def: Any) -> None:
    """States a tensor as an input of a SignatureDef."""
    signature_def.inputs[map_key].CopyFrom(protos.TensorInfo(name=tensor_name))


def _add_output_to_signature_def(tensor_name: str, map_key: str, signature_def: Any) -> None:
    """States a tensor as an output of a SignatureDef."""
    signature_def.outputs[map_key].CopyFrom(protos.TensorInfo(name=tensor_name))


def _convert_default_signature_to_signature_def(signatures: Any) -> Any:
    """The SignatureDef of a default signature; None for one that has no counterpart."""
    default = signatures.default_signature
    kind = default.WhichOneof("type")
    found = protos.SignatureDef()
    if kind == constants.REGRESSION_SIGNATURE:
        regression = default.regression_signature
        found.method_name = names.REGRESS_METHOD_NAME
        _add_input_to_signature_def(regression.input.tensor_name, names.REGRESS_INPUTS, found)
        _add_output_to_signature_def(regression.output.tensor_name, names.REGRESS_OUTPUTS, found)
        return found
    if kind == constants.CLASSIFICATION_SIGNATURE:
        given = default.classification_signature
        found.method_name = names.CLASSIFY_METHOD_NAME
        _add_input_to_signature_def(given.input.tensor_name, names.CLASSIFY_INPUTS, found)
        for tensor, key in (
            (given.classes, names.CLASSIFY_OUTPUT_CLASSES),
            (given.scores, names.CLASSIFY_OUTPUT_SCORES),
        ):
            _add_output_to_signature_def(tensor.tensor_name, key, found)
        return found
    log.error(
        "Only classification and regression default signatures are supported for up-conversion. "
        "%s is not supported",
        kind,
    )
    return None


def _convert_named_signatures_to_signature_def(signatures: Any) -> Any:
    """The SignatureDef of the signatures named "inputs" and "outputs"."""
    inputs = signatures.named_signatures[names.PREDICT_INPUTS]
    outputs = signatures.named_signatures[names.PREDICT_OUTPUTS]
    kinds = [one.WhichOneof("type") for one in (inputs, outputs)]
    if kinds != [constants.GENERIC_SIGNATURE] * 2:
        raise RuntimeError(
            "Named input and output signatures can only be up-converted if they are generic "
            f"signature. Input signature type is {kinds[0]}, output signature type is {kinds[1]}"
        )
    found = protos.SignatureDef(method_name=names.PREDICT_METHOD_NAME)
    for key, binding in inputs.generic_signature.map.items():
        _add_input_to_signature_def(binding.tensor_name, key, found)
    for key, binding in outputs.generic_signature.map.items():
        _add_output_to_signature_def(binding.tensor_name, key, found)
    return found


def _convert_signatures_to_signature_defs(metagraph_def: Any) -> tuple[Any, Any]:
    """The SignatureDefs of an export's default and of its named signatures, None for none."""
    packed = metagraph_def.collection_def[constants.SIGNATURES_KEY].any_list.value[0]
    signatures = protos.Signatures.FromString(packed.value)
    default = named = None
    if signatures.HasField("default_signature"):
        default = _convert_default_signature_to_signature_def(signatures)
    if len(signatures.named_signatures) > 1:
        named = _convert_named_signatures_to_signature_def(signatures)
    return default, named


def _load_saved_model_from_session_bundle_path(
    export_dir: str, target: str, config: Any
) -> tuple[Session, Any]:
    """Loads an export, whose MetaGraphDef gets SignatureDefs.

    Raises:
        RuntimeError: it has some.
    """
    path = os.path.join(as_text(export_dir), constants.META_GRAPH_DEF_FILENAME)
    graph = read_meta_graph_file(path)
    if graph.signature_def:
        raise RuntimeError("Legacy graph contains signature def, unable to up-convert.")
    default, named = _convert_signatures_to_signature_defs(graph)
    key = names.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    if default:
        graph.signature_def[key].CopyFrom(default)
    if named:
        graph.signature_def[f"{key}_from_named" if default else key].CopyFrom(named)
    return session_bundle.load_session_bundle_from_path(export_dir, target, config, graph)


def load_session_bundle_or_saved_model_bundle_from_path(
    export_dir: str,
    tags: Collection[str] | None = None,
    target: str = "",
    config: Any = None,
) -> tuple[Session, Any]:
    """A session with the graph and variables of an export or of a SavedModel.

    Args:
        export_dir: the folder.
        tags: of the SavedModel's graph.
        target: of the session.
        config: of the session.

    Returns:
        The session, and the MetaGraphDef.

    Raises:
        RuntimeError: the folder has neither.
    """
    if reading.maybe_saved_model_directory(export_dir):
        session = Session(target, graph=None, config=config)
        return session, reading.load(session, tags or (), export_dir)
    if session_bundle.maybe_session_bundle_dir(export_dir):
        return _load_saved_model_from_session_bundle_path(export_dir, target, config)
    raise RuntimeError(
        f"SessionBundle or SavedModelBundle not found at specified export location: {export_dir}"
    )
