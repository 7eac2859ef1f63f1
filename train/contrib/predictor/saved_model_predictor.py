# SPDX-License-Identifier: Apache-2.0
"""A SavedModel as a function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.graph.graph import Graph
from ....engine.interface import log
from ....engine.session.session import Session
from ...saved_model.names import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from ...saved_model.reading import load, parse_saved_model
from .predictor import Predictor

if TYPE_CHECKING:
    from ....io.protos import ConfigProto, SignatureDef

DEFAULT_TAGS = "serve"


def get_meta_graph_def(saved_model_dir: str, tags: str) -> Any:
    """The MetaGraphDef of a SavedModel that has these tags, given with commas between them.

    Raises:
        ValueError: there is none.
    """
    wanted = {tag.strip() for tag in tags.split(",")}
    for message in parse_saved_model(saved_model_dir).meta_graphs:
        if set(message.meta_info_def.tags) == wanted:
            return message
    raise ValueError(f"Could not find MetaGraphDef with tags {tags}")


def _signature(key: str | None, export_dir: str, tags: str) -> Any:
    key = key or DEFAULT_SERVING_SIGNATURE_DEF_KEY
    signatures = get_meta_graph_def(export_dir, tags).signature_def
    if key in signatures:
        return signatures[key]
    alternative = f"default_input_alternative:{key}"
    if alternative in signatures:
        log.warning('Could not find signature def "%s". Using "%s" instead', key, alternative)
        return signatures[alternative]
    raise ValueError(
        f'Got signature_def_key "{key}". Available signatures are {list(signatures)}. '
        f"Original error:\n{key!r}"
    )


def _check_arguments(key: object, signature: object, inputs: object, outputs: object) -> None:
    if (inputs is None) != (outputs is None):
        raise ValueError(
            "input_names and output_names must both be specified or both be unspecified."
        )
    if sum(given is not None for given in (key, signature, inputs)) > 1:
        raise ValueError(
            "You must specify at most one of signature_def_key OR signature_def OR(input_names AND "
            "output_names)."
        )


class SavedModelPredictor(Predictor):
    """A predictor of a SavedModel; `from_saved_model` says what the arguments are."""

    def __init__(
        self,
        export_dir: str,
        signature_def_key: str | None = None,
        signature_def: SignatureDef | None = None,
        input_names: dict[str, str] | None = None,
        output_names: dict[str, str] | None = None,
        tags: str | None = None,
        graph: Graph | None = None,
        config: ConfigProto | None = None,
    ) -> None:
        _check_arguments(signature_def_key, signature_def, input_names, output_names)
        tags = tags or DEFAULT_TAGS
        self._graph = graph or Graph()
        with self._graph.as_default():
            self._session = Session(config=config)
            load(self._session, tags.split(","), export_dir)
        if input_names is None or output_names is None:
            signature: Any = signature_def or _signature(signature_def_key, export_dir, tags)
            input_names = {key: info.name for key, info in signature.inputs.items()}
            output_names = {key: info.name for key, info in signature.outputs.items()}
        self._find(input_names, output_names)
