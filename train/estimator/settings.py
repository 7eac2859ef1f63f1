# SPDX-License-Identifier: Apache-2.0
"""What an Estimator is made with, checked: its RunConfig, hooks and warm start."""

from __future__ import annotations

import tempfile
from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from ...engine.api import constant, export
from ...engine.graph.collections import GraphKeys
from ...engine.interface import log
from ...io import files
from ...io.checkpoint_reader import new_checkpoint_reader
from ..checkpoints.checkpoint_management import latest_checkpoint
from ..distributed.device_setter import STANDARD_PS_OPS, replica_device_setter
from ..distributed.strategy import Strategy
from ..objects.warm_starting_util import VocabInfo
from ..saved_model.folder import get_variables_path
from ..sessions.hooks_writing import CheckpointSaverListener
from ..sessions.session_run_hook import SessionRunHook
from .run_config import RunConfig, get_default_session_config
from .util import path_text

constant("estimator.VocabInfo", VocabInfo)


@export("estimator.WarmStartSettings")
class WarmStartSettings(
    namedtuple(
        "WarmStartSettings",
        (
            "ckpt_to_initialize_from",
            "vars_to_warm_start",
            "var_name_to_vocab_info",
            "var_name_to_prev_var_name",
        ),
    )
):
    """Where an Estimator's variables start.

    Args:
        ckpt_to_initialize_from: a checkpoint, or a folder with some.
        vars_to_warm_start: a regular expression for names of variables that are trained, a list of
            such for all variables, a list of variables, or None for those with a VocabInfo only.
        var_name_to_vocab_info: a tf.estimator.VocabInfo by name of variable.
        var_name_to_prev_var_name: names in the checkpoint that differ, by name of variable.

    Raises:
        ValueError: no checkpoint is given.
    """

    def __new__(
        cls,
        ckpt_to_initialize_from: str,
        vars_to_warm_start: object = ".*",
        var_name_to_vocab_info: dict[str, Any] | None = None,
        var_name_to_prev_var_name: dict[str, str] | None = None,
    ) -> WarmStartSettings:
        if not ckpt_to_initialize_from:
            raise ValueError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings")
        return super().__new__(
            cls,
            ckpt_to_initialize_from,
            vars_to_warm_start,
            var_name_to_vocab_info or {},
            var_name_to_prev_var_name or {},
        )


def warm_start_settings(warm_start_from: object) -> WarmStartSettings | None:
    """The settings that an argument means: settings, or the path of a checkpoint or SavedModel."""
    if warm_start_from is None or isinstance(warm_start_from, WarmStartSettings):
        return warm_start_from
    if not isinstance(warm_start_from, (str, bytes)):
        raise ValueError(
            "warm_start_from must be a string or a WarmStartSettings, instead got "
            f"{type(warm_start_from)}"
        )
    prefix = get_variables_path(path_text(warm_start_from))
    if files.file_exists(f"{prefix}.index"):
        log.info("Warm-starting from a SavedModel")
        return WarmStartSettings(prefix)
    return WarmStartSettings(path_text(warm_start_from))


def with_folder_and_session(config: object, model_dir: object) -> RunConfig:
    """The RunConfig of an Estimator: with a folder, a new one if need be, and a ConfigProto.

    Raises:
        ValueError: it is no RunConfig, or has another folder already.
    """
    if config is None:
        config = RunConfig()
        log.info("Using default config.")
    if not isinstance(config, RunConfig):
        raise ValueError(f"config must be an instance of `RunConfig`, but provided {config}.")
    _check_strategies(config)
    if config.session_config is None:
        config = RunConfig.replace(config, session_config=get_default_session_config())
    model_dir = path_text(model_dir)
    if model_dir is not None and config.model_dir not in (None, model_dir):
        raise ValueError(
            "`model_dir` are set both in constructor and `RunConfig`, but with different values. "
            f"In constructor: '{model_dir}', in `RunConfig`: '{config.model_dir}' "
        )
    if not model_dir and config.model_dir is None:
        model_dir = tempfile.mkdtemp()
        log.warning("Using temporary folder as model directory: %s", model_dir)
    return RunConfig.replace(config, model_dir=model_dir) if model_dir else config


def _check_strategies(config: RunConfig) -> None:
    for name in ("_train_distribute", "_eval_distribute"):
        strategy = getattr(config, name)
        if strategy is not None and not isinstance(strategy, Strategy):
            raise ValueError(
                f"RunConfig.{name[1:]} is {strategy!r}, which is no strategy of tf.distribute"
            )


def checked_hooks(hooks: Sequence[Any] | None) -> list[Any]:
    """A list of hooks; TypeError if one is none."""
    hooks = list(hooks or [])
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"Hooks must be a SessionRunHook, given: {hook}")
    return hooks


def checked_listeners(listeners: Any) -> list[Any]:
    """A list of listeners; TypeError if one is none."""
    listeners = list(listeners or [])
    for listener in listeners:
        if not isinstance(listener, CheckpointSaverListener):
            raise TypeError(
                f"saving_listeners must be a list of CheckpointSaverListener, given: {listener}"
            )
    return listeners


def device_function(config: RunConfig) -> Any:
    """The function from ops to devices: variables go to parameter servers, if there are some."""
    if config.num_ps_replicas <= 0:
        return None
    task = f"/task:{config.task_id}" if config.task_type else ""
    return replica_device_setter(
        ps_tasks=config.num_ps_replicas,
        worker_device=f"/job:{config.task_type or 'worker'}{task}",
        merge_devices=True,
        ps_ops=list(STANDARD_PS_OPS),
        cluster=config.cluster_spec,
    )


def require_checkpoint(model_dir: str) -> None:
    """Raises ValueError for a folder without checkpoints."""
    if not latest_checkpoint(model_dir):
        raise ValueError(f"Could not find trained model in model_dir: {model_dir}.")


def saved_global_step(checkpoint_dir: str) -> Any:
    """The step of the last checkpoint in a folder; 0 without one."""
    path = latest_checkpoint(checkpoint_dir)
    if not path:
        return 0
    reader: Any = new_checkpoint_reader(path)
    if not reader.has_tensor(GraphKeys.GLOBAL_STEP):
        return 0
    return reader.get_tensor(GraphKeys.GLOBAL_STEP)
