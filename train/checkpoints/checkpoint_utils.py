# SPDX-License-Identifier: Apache-2.0
"""Looking into checkpoints, waiting for new ones, and variables that start from one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ...engine.compat import path_to_str
from ...engine.graph.graph import device
from ...engine.interface import log
from ...ops.state.resource_variable import is_resource_variable
from ...ops.state.save_restore import restore_v2
from ...ops.state.variable_scope import _get_default_variable_store
from ..variables.variable_kind import is_variable
from . import checkpoint_management
from .saveable import op_list_to_dict, saveable_objects_for_op

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...io.checkpoint_reader import CheckpointReader
    from ...ops.state.variables import Variable


def _get_checkpoint_filename(ckpt_dir_or_file: str) -> str | None:
    """The prefix itself, or that of the last checkpoint in a folder."""
    from ...io import files

    path = path_to_str(ckpt_dir_or_file)
    if files.is_directory(path):
        return checkpoint_management.latest_checkpoint(path)
    return path


def load_checkpoint(ckpt_dir_or_file: str) -> CheckpointReader:
    """A reader for a checkpoint, or for the last one in a folder."""
    from ...io.checkpoint_reader import new_checkpoint_reader

    path = _get_checkpoint_filename(ckpt_dir_or_file)
    if path is None:
        raise ValueError(
            f"Couldn't find 'checkpoint' file or checkpoints in given directory {ckpt_dir_or_file}"
        )
    return new_checkpoint_reader(path)


def load_variable(ckpt_dir_or_file: str, name: str) -> Any:
    """The value of a variable in a checkpoint."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


def list_variables(ckpt_dir_or_file: str) -> list[tuple[str, list[int]]]:
    """Name and shape of all tensors in a checkpoint, in order of names."""
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def wait_for_new_checkpoint(
    checkpoint_dir: str,
    last_checkpoint: str | None = None,
    seconds_to_sleep: float = 1,
    timeout: float | None = None,
) -> str | None:
    """The next checkpoint that is not `last_checkpoint`; None when the time is over."""
    log.info("Waiting for new checkpoint at %s", checkpoint_dir)
    stop = None if timeout is None else time.time() + timeout
    while True:
        path = checkpoint_management.latest_checkpoint(checkpoint_dir)
        if path is not None and path != last_checkpoint:
            log.info("Found new checkpoint at %s", path)
            return path
        if stop is not None and time.time() + seconds_to_sleep > stop:
            return None
        time.sleep(seconds_to_sleep)


def checkpoints_iterator(
    checkpoint_dir: str,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """Each new checkpoint; ends after `timeout` seconds without one, if `timeout_fn` agrees."""
    path = None
    while True:
        found = wait_for_new_checkpoint(checkpoint_dir, path, timeout=timeout)
        if found is None:
            if timeout_fn is None:
                log.info("Timed-out waiting for a checkpoint.")
                return
            if timeout_fn():
                return
            continue
        start = time.time()
        path = found
        yield path
        left = start + min_interval_secs - time.time()
        if left > 0:
            time.sleep(left)


def init_from_checkpoint(ckpt_dir_or_file: str, assignment_map: dict[str, Any]) -> None:
    """Variables named by `assignment_map` get their initial values from a checkpoint.

    Its entries are "name in the checkpoint": variable, its name or its parts, or
    "scope in the checkpoint/": "scope/"; the root scope is "/".
    """
    source = _Source(ckpt_dir_or_file)
    for name, target in sorted(assignment_map.items()):
        variable = target if _is_variable_or_parts(target) else _stored(target)
        if variable is not None:
            source.assign(name, variable)
        else:
            source.assign_scope(name, target)


def _is_variable(value: TensorLike) -> bool:
    return is_variable(value) or is_resource_variable(value)


def _is_variable_or_parts(value: TensorLike) -> bool:
    return _is_variable(value) or (isinstance(value, list) and all(map(_is_variable, value)))


def _stored(name: str) -> Any:
    """The variable of that name that get_variable made, or the list of its parts, or None."""
    known = _get_default_variable_store()._vars
    if name in known:
        return known[name]
    parts: list[Any] = []
    # Partitioned variables are known by their parts only.
    while f"{name}/part_{len(parts)}" in known:
        parts.append(known[f"{name}/part_{len(parts)}"])
    return parts or None


class _Source:
    """The checkpoint that variables start from."""

    def __init__(self, ckpt_dir_or_file: str) -> None:
        self.given = ckpt_dir_or_file
        self.shapes = load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map()
        self.path = _get_checkpoint_filename(ckpt_dir_or_file)

    def assign(self, name: str, variable: Variable) -> None:
        """One tensor for one variable."""
        if name not in self.shapes:
            raise ValueError(f"Tensor {name} is not found in {self.given} checkpoint {self.shapes}")
        if _is_variable(variable) and not variable.get_shape().is_compatible_with(
            self.shapes[name]
        ):
            raise ValueError(
                f"Shape of variable {variable.name} ({variable.get_shape()}) doesn't match with "
                f"shape of tensor {name} ({self.shapes[name]}) from checkpoint reader."
            )
        self.initialize(name, variable)

    def assign_scope(self, name: str, target: str) -> None:
        """The tensors under one scope for the variables of the same names under another."""
        scope = target[: target.rindex("/")] if "/" in target else ""
        if not name.endswith("/"):
            raise ValueError(
                f"Assignment map with scope only name {scope} should map to scope only {name}. "
                "Should be 'scope/': 'other_scope/'."
            )
        known = _get_default_variable_store()._vars
        names = {n.partition("/part_")[0] for n in known if not scope or n.startswith(f"{scope}/")}
        for variable_name in sorted(names):
            tensor = variable_name[len(scope) :]
            if target != "/":
                tensor = tensor[1:]
            if name != "/":
                tensor = name + tensor
            tensor = tensor.removesuffix("/")
            if tensor not in self.shapes:
                raise ValueError(
                    f"Tensor {tensor} ({variable_name[len(scope) + 1 :]} in {name}) is not found "
                    f"in {self.given} checkpoint"
                )
            self.initialize(tensor, _stored(variable_name))

    def initialize(self, name: str, variable: Variable) -> None:
        """Gives a variable, or each part of one, a new initializer."""
        if not isinstance(variable, (list, tuple)):
            self._set_initializer(name, variable, "")
            return
        whole = None
        for part in variable:
            info = part._save_slice_info
            if whole is None:
                whole = info.full_name
            elif whole != info.full_name:
                raise ValueError(
                    f"Slices must all be from the same tensor: {whole} != {info.full_name}"
                )
            self._set_initializer(name, part, info.spec)

    def _set_initializer(self, name: str, variable: Any, slice_spec: str) -> None:
        kind = variable.dtype.base_dtype
        # Not where the variable is: files are read on the CPU, and variables stay where they are.
        with device(variable.device), device("/cpu:0"):
            value = restore_v2(
                self.path, [name], [slice_spec], [kind], name="checkpoint_initializer"
            )[0]
            saveables = [
                saveable
                for saved_name, op in op_list_to_dict([variable]).items()
                for saveable in saveable_objects_for_op(op, saved_name)
            ]
        assert len(saveables) == 1
        # In the place of the variable's own: whatever initializes it now reads the checkpoint.
        variable._initializer_op = saveables[0].restore([value], restored_shapes=None)
        value.set_shape(variable.shape)
        variable._initial_value = value
        log.debug(
            "Initialize variable %s from checkpoint %s with %s", variable.name, self.given, name
        )
