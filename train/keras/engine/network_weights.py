# SPDX-License-Identifier: Apache-2.0
"""Networks in files: weights as checkpoints or HDF5, structure as JSON or YAML."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

from ....engine import errors
from ....engine.graph.trackable import Trackable
from ....engine.interface import log
from ....io.checkpoint_reader import new_checkpoint_reader
from ...checkpoints.checkpoint_management import update_checkpoint_state_internal
from ...objects.checkpoint import TrackableSaver, saver_with_op_caching, streaming_restore
from ..backend.sessions import get_session
from .network_config import json_value, network_config, network_parts

_KERAS_VERSION = "2.2.4-tf"


def is_hdf5_path(path: str) -> bool:
    """Whether a file's name says that it is of HDF5."""
    return str(path).endswith((".h5", ".keras", ".hdf5"))


def may_write(path: str, overwrite: bool) -> bool:
    """Whether a file may be written: it is new, or may be replaced, or a person says so."""
    if overwrite or not os.path.isfile(path):
        return True
    answer = input(f"[WARNING] {path} already exists - overwrite? [y/n]").strip().lower()
    while answer not in ("y", "n"):
        answer = input('Enter "y" (overwrite) or "n" (cancel).').strip().lower()
    return answer == "y"


class Saved:
    """What networks have for files."""

    name: str
    _is_graph_network: bool
    _layers: list[Any]
    _take_in: Callable[[Any], None]

    def get_config(self) -> dict[str, Any]:
        """The layers and how they are called.

        Raises:
            NotImplementedError: the network has a `call` of its own.
        """
        if not self._is_graph_network:
            raise NotImplementedError(
                f"{type(self).__name__} has a `call` of its own, which no configuration describes"
            )
        return network_config(self)

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """A network with new weights from what `get_config` gave.

        Args:
            config: the dictionary.
            custom_objects: name -> class or function of the program's own.

        Raises:
            ValueError: the configuration is of no known form.
        """
        inputs, outputs, layers = network_parts(config, custom_objects)
        made = cls(inputs=inputs, outputs=outputs, name=config.get("name"))  # type: ignore[call-arg]
        for layer in layers:
            if not any(layer is known for known in made._layers):
                made._take_in(layer)  # Losses and metrics lead to no output.
        return made

    def _updated_config(self) -> dict[str, Any]:
        return {
            "class_name": type(self).__name__,
            "config": self.get_config(),
            "keras_version": _KERAS_VERSION,
            "backend": "tensorflow",
        }

    def to_json(self, **kwargs: Any) -> str:
        """The structure as JSON, without weights; arguments as of json.dumps."""
        return json.dumps(self._updated_config(), default=json_value, **kwargs)

    def to_yaml(self, **kwargs: Any) -> str:
        """The structure as YAML, without weights; arguments as of yaml.dump; needs PyYAML."""
        import yaml

        # Through JSON: tuples and numbers of NumPy are none of YAML's.
        return str(yaml.dump(json.loads(self.to_json()), **kwargs))

    def _saver(self) -> TrackableSaver:
        if "_trackable_saver" not in vars(self):
            vars(self)["_trackable_saver"] = saver_with_op_caching(self)
        return vars(self)["_trackable_saver"]  # type: ignore[no-any-return]

    def save_weights(
        self, filepath: str, overwrite: bool = True, save_format: str | None = None
    ) -> None:
        """Writes the weights to a file.

        Args:
            filepath: of an HDF5 file if it ends in .h5, .hdf5 or .keras; else a checkpoint's
                prefix.
            overwrite: whether a file may be replaced without a question.
            save_format: "h5" or "tf"; by the name if None.

        Raises:
            ValueError: the format is unknown, or is not that of the name.
            ImportError: h5py is not installed, which HDF5 needs.
        """
        self._check_built()  # type: ignore[attr-defined]
        filepath = str(filepath)
        form = _format(filepath, save_format)
        if not may_write(filepath if form == "h5" else f"{filepath}.index", overwrite):
            return
        if form == "h5":
            from ..saving.hdf5 import save_weights

            save_weights(filepath, self.layers)  # type: ignore[attr-defined]
            return
        optimizer = getattr(self, "optimizer", None)
        if optimizer is not None and not isinstance(optimizer, Trackable):
            log.warning(
                "This model was compiled with a Keras optimizer (%s) but is being saved in "
                "TensorFlow format with `save_weights`. The model's weights will be saved, but "
                "unlike with TensorFlow optimizers in the TensorFlow format the optimizer's state "
                "will not be saved.\n\nConsider using a TensorFlow optimizer from `tf.train`.",
                optimizer,
            )
        self._saver().save(filepath, session=get_session())
        update_checkpoint_state_internal(
            save_dir=os.path.dirname(filepath) or ".",
            model_checkpoint_path=filepath,
            all_model_checkpoint_paths=[filepath],
            save_relative_paths=True,
        )

    def load_weights(self, filepath: str, by_name: bool = False) -> Any:
        """Reads the weights from a file.

        Args:
            filepath: an HDF5 file, or a checkpoint's prefix.
            by_name: whether layers of the same name get weights (HDF5 only), instead of layers in
                order.

        Returns:
            None for HDF5; the status of the restore for a checkpoint.

        Raises:
            ValueError: the file has other layers or shapes.
            NotImplementedError: weights of a checkpoint are asked for by name.
            ImportError: h5py is not installed, which HDF5 needs.
        """
        filepath = str(filepath)
        if is_hdf5_path(filepath) or not _is_checkpoint(filepath):
            from ..saving.hdf5 import load_weights

            self._check_built()  # type: ignore[attr-defined]
            load_weights(filepath, self.layers, by_name)  # type: ignore[attr-defined]
            return None
        if by_name:
            raise NotImplementedError(
                "Weights may only be loaded based on topology into Models when loading "
                "TensorFlow-formatted weights (got by_name=True to load_weights)."
            )
        status = self._saver().restore(filepath)
        # What there is gets its values now, and variables that are made later get theirs then.
        streaming_restore(status=status, session=get_session())
        status.assert_nontrivial_match()
        return status

    def save(
        self,
        filepath: str,
        overwrite: bool = True,
        include_optimizer: bool = True,
        save_format: str | None = None,
        signatures: Any = None,
    ) -> None:
        """Writes structure, weights, what `compile` was given and the optimizer's state to a file.

        Args:
            filepath: the file's path, or an h5py.File.
            overwrite: whether a file may be replaced without a question.
            include_optimizer: whether the optimizer's state is written.
            save_format: "h5", which is meant by None.
            signatures: not supported.
        """
        from ..saving.models import save_model

        save_model(self, filepath, overwrite, include_optimizer, save_format, signatures)


def _format(path: str, wanted: str | None) -> str:
    if wanted is None:
        return "h5" if is_hdf5_path(path) else "tf"
    form = wanted.lower().strip()
    if form in ("tensorflow", "tf"):
        if is_hdf5_path(path):
            raise ValueError(
                f'save_weights got save_format="tf"/"tensorflow", but the filepath ("{path}") '
                'looks like an HDF5 file. Omit the ".h5"/".keras" when saving in TensorFlow format.'
            )
        return "tf"
    if form in ("hdf5", "h5", "keras"):
        return "h5"
    raise ValueError(f'Unknown format "{wanted}". Was expecting one of {{"tf", "h5"}}.')


def _is_checkpoint(path: str) -> bool:
    try:
        new_checkpoint_reader(path)
    except (errors.DataLossError, errors.NotFoundError):
        if not os.path.exists(path):
            raise
        return False
    return True
