# SPDX-License-Identifier: Apache-2.0
"""`tf.train.warm_start`: variables begin with the values of a checkpoint, by name or vocabulary.

A vocabulary may have changed since: rows or columns then go where the new one has their words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...engine.errors import NotFoundError
from ...engine.graph.collections import GraphKeys, get_collection
from ...engine.graph.convert import convert_to_tensor
from ...engine.interface import log
from ...ops.public import tf
from ...ops.state.variable_partitions import PartitionedVariable, PartitionInfo
from ..checkpoints.checkpoint_ops import _load_and_remap_matrix_initializer
from ..checkpoints.checkpoint_utils import (
    _get_checkpoint_filename,
    _is_variable,
    init_from_checkpoint,
)
from ..checkpoints.saveable import op_list_to_dict
from .object_checkpoint import object_graph_key_mapping

if TYPE_CHECKING:
    from ...ops.state.variables import Variable

_AXES = "The only supported values for the axis argument are 0 and 1.  Provided axis: "


class _VocabInfo(NamedTuple):
    new_vocab: Any
    new_vocab_size: int
    num_oov_buckets: int
    old_vocab: Any
    old_vocab_size: int = -1
    backup_initializer: Any = None
    axis: int = 0


class VocabInfo(_VocabInfo):
    """How the vocabulary of a variable differs from that of a checkpoint.

    Args:
        new_vocab: the file with a word per line that the program uses.
        new_vocab_size: how many of its lines count.
        num_oov_buckets: rows (or columns) for words outside of it.
        old_vocab: the file that the checkpoint was trained with.
        old_vocab_size: how many of its lines count; -1 for all.
        backup_initializer: fills what the checkpoint has no values for; zeros if None.
        axis: 0 if words are rows, 1 if they are columns; ValueError otherwise.
    """

    __slots__ = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> VocabInfo:
        info = super().__new__(cls, *args, **kwargs)
        if info.axis not in (0, 1):
            raise ValueError(f"{_AXES}{info.axis}")
        return info


def _infer_var_name(var: Any) -> str:
    """The name of a variable, or of that whose slices are listed."""
    named = op_list_to_dict(var)
    if len(named) > 1:
        raise TypeError(
            f"`var` = {var} passed as arg violates the constraints.  name_to_var_dict = {named}"
        )
    return next(iter(named))


def _parts(var: Variable) -> list[Any]:
    """A variable as the list of its slices."""
    if _is_variable(var):
        return [var]
    if isinstance(var, list) and all(_is_variable(v) for v in var):
        return var
    if isinstance(var, PartitionedVariable):
        return var._get_variable_list()
    raise TypeError(
        "var MUST be one of the following: a Variable, list of Variable or PartitionedVariable, "
        f"but is {type(var)}"
    )


def _get_var_info(var: Any, prev_tensor_name: str | None = None) -> tuple[str, Any]:
    """The name in the checkpoint, the variable's own unless given; the variable or its slices."""
    parts = _parts(var)
    name = _infer_var_name([var] if isinstance(var, PartitionedVariable) else parts)
    return prev_tensor_name or name, var if _is_variable(var) else parts


def _warm_start_var_with_vocab(
    var: Any,
    current_vocab_path: Any,
    current_vocab_size: int,
    prev_ckpt: Any,
    prev_vocab_path: Any,
    previous_vocab_size: int = -1,
    current_oov_buckets: int = 0,
    prev_tensor_name: str | None = None,
    initializer: Any = None,
    axis: int = 0,
) -> None:
    """Gives a variable, or each slice of one, an initial value that follows its vocabulary."""
    if not (current_vocab_path and current_vocab_size and prev_ckpt and prev_vocab_path):
        raise ValueError(
            "Invalid args: Must provide all of [current_vocab_path, current_vocab_size, prev_ckpt, "
            "prev_vocab_path}."
        )
    parts = _parts(var)
    if axis not in (0, 1):
        raise ValueError(f"{_AXES}{axis}")
    name = prev_tensor_name or _infer_var_name(parts)
    height = sum(part.get_shape().as_list()[0] for part in parts)
    files = {"new": current_vocab_path, "old": prev_vocab_path}
    for part in parts:
        shape = part.get_shape().as_list()
        info = part._get_save_slice_info()
        where = info and PartitionInfo(full_shape=info.full_shape, var_offset=info.var_offset)
        # Columns are never cut: those of a slice are those of all.
        initial = _load_and_remap_matrix_initializer(
            ckpt_path=_get_checkpoint_filename(prev_ckpt),  # type: ignore[arg-type]
            old_tensor_name=name,
            # Rows may be cut: their number is that of all slices.
            new_row_vocab_size=height if axis else current_vocab_size,
            new_col_vocab_size=current_vocab_size if axis else shape[1],
            old_row_vocab_size=-1 if axis else previous_vocab_size,
            **{f"{age}_{'col' if axis else 'row'}_vocab_file": files[age] for age in files},
            num_row_oov_buckets=0 if axis else current_oov_buckets,
            num_col_oov_buckets=current_oov_buckets if axis else 0,
            initializer=initializer,
        )
        value = convert_to_tensor(initial(shape=shape, partition_info=where))
        part._initializer_op = tf.assign(part, value)


def _get_grouped_variables(vars_to_warm_start: object) -> dict[str, list[Any]]:
    """The variables that are meant, slices of one under its name."""
    wanted = vars_to_warm_start
    if isinstance(wanted, str) or wanted is None:
        log.info("Warm-starting variables only in TRAINABLE_VARIABLES.")
        found = get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=wanted)
    elif not isinstance(wanted, list):
        raise ValueError(
            f"`vars_to_warm_start must be a `list` or `str`.  Given type is {type(wanted)}"
        )
    elif all(isinstance(v, str) for v in wanted):
        found = [v for s in wanted for v in get_collection(GraphKeys.GLOBAL_VARIABLES, scope=s)]
    elif all(_is_variable(v) for v in wanted):
        found = wanted
    else:
        raise ValueError(
            "If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`.  Given "
            f"types are {[type(v) for v in wanted]}"
        )
    grouped: dict[str, list[Any]] = {}
    for variable in found:
        name = _infer_var_name(variable if isinstance(variable, list) else [variable])
        grouped.setdefault(name, []).append(variable)
    return grouped


def _get_object_checkpoint_renames(path: str, variable_names: Iterable[str]) -> dict[str, str]:
    """Where a checkpoint of objects has the variables; nothing for one of names."""
    prefix = _get_checkpoint_filename(path)
    try:
        keys = object_graph_key_mapping(prefix)  # type: ignore[arg-type]
    except NotFoundError:
        return {}
    missing = set(variable_names) - set(keys)
    if missing:
        raise ValueError(
            "Attempting to warm-start from an object-based checkpoint, but found that the "
            "checkpoint did not contain values for all variables. The following variables were "
            f"missing: {missing}"
        )
    return {name: keys[name] for name in variable_names}


def _require_used(what: str, given: dict[str, Any], names: Sequence[str]) -> None:
    unused = set(given) - set(names)
    if unused:
        raise ValueError(
            f"You provided the following variables in {what} that were not used: {unused}.  "
            f"Perhaps you misspelled them?  Here is the list of viable variable names: {names}"
        )


def warm_start(
    ckpt_to_initialize_from: Any,
    vars_to_warm_start: object = ".*",
    var_name_to_vocab_info: dict[str, VocabInfo] | None = None,
    var_name_to_prev_var_name: dict[str, str] | None = None,
) -> None:
    """Variables' initializers give them the values that they have in a checkpoint.

    Args:
        ckpt_to_initialize_from: the prefix of a checkpoint, or a folder with some.
        vars_to_warm_start: a regular expression for names of trainable variables, a list of such
            for all variables, a list of variables, or None for those with a VocabInfo only.
        var_name_to_vocab_info: the variables whose vocabularies have changed, by name.
        var_name_to_prev_var_name: names in the checkpoint where they differ.

    Raises:
        ValueError: a name in the two dicts is no variable's, or the list mixes kinds.
    """
    log.info("Warm-starting from: %s", ckpt_to_initialize_from)
    grouped = _get_grouped_variables(vars_to_warm_start)
    vocabularies = var_name_to_vocab_info or {}
    names = var_name_to_prev_var_name
    # What the caller names goes before what the checkpoint says.
    if not names:
        names = _get_object_checkpoint_renames(ckpt_to_initialize_from, list(grouped))
    plain: dict[str, Any] = {}
    count = 0
    for name, parts in grouped.items():
        info = vocabularies.get(name)
        if info:
            _start_with_vocabulary(parts, info, ckpt_to_initialize_from, names.get(name))
        elif vars_to_warm_start:
            before, variable = _get_var_info(
                parts[0] if len(parts) == 1 else parts, names.get(name)
            )
            plain[before] = variable
        else:
            continue
        count += 1
    init_from_checkpoint(ckpt_to_initialize_from, plain)
    log.info("Warm-started %d variables.", count)
    _require_used("var_name_to_prev_var_name", names, list(grouped))
    _require_used("var_name_to_vocab_info", vocabularies, list(grouped))


def _start_with_vocabulary(
    parts: list[Any], info: VocabInfo, checkpoint: Any, before: str | None
) -> None:
    _warm_start_var_with_vocab(
        parts,
        current_vocab_path=info.new_vocab,
        current_vocab_size=info.new_vocab_size,
        prev_ckpt=checkpoint,
        prev_vocab_path=info.old_vocab,
        previous_vocab_size=info.old_vocab_size,
        current_oov_buckets=info.num_oov_buckets,
        prev_tensor_name=before,
        initializer=info.backup_initializer,
        axis=info.axis,
    )
