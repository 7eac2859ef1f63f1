# SPDX-License-Identifier: Apache-2.0
"""What savers save: variables, slices of variables and objects that say what to save of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.convert import convert_to_tensor, internal_convert_to_tensor
from ...engine.graph.devices import DeviceSpec
from ...engine.graph.graph import device
from ...engine.graph.tensor import Tensor
from ...ops.public import raw, tf
from ...ops.state.resource_variable import BaseResourceVariable, is_resource_variable
from ...ops.state.variable_partitions import PartitionedVariable
from ..variables.variable_kind import is_variable

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.operation import Operation
    from ...engine.types.shape import TensorShape
    from ...ops.state.variables import Variable

_REFERENCE_OPS = ("Variable", "VariableV2", "AutoReloadVariable")
_VARIABLE_OPS = frozenset((*_REFERENCE_OPS, "VarHandleOp", "ReadVariableOp"))


def set_cpu0(device_string: str | None) -> str:
    """The first CPU of the machine that a device is on."""
    place = DeviceSpec.from_string(device_string or "")
    return place.replace(device_type="CPU", device_index=0).to_string()


class SaveSpec:
    """One tensor of a saveable: the tensor (or what makes it), its name and slice."""

    def __init__(
        self,
        tensor: Any,
        slice_spec: str,
        name: str,
        dtype: DTypeLike | None = None,
        device: Any = None,
    ) -> None:
        self._tensor = tensor
        self.slice_spec = slice_spec
        self.name = name
        if not callable(tensor):
            dtype, device = tensor.dtype, tensor.device
        elif dtype is None or device is None:
            raise AssertionError(
                "When passing a callable `tensor` to a SaveSpec, an explicit dtype and device must "
                "be provided."
            )
        self.dtype = dtype
        self.device = device

    @property
    def tensor(self) -> Any:
        """The tensor; made anew each time if there is something that makes it."""
        return self._tensor() if callable(self._tensor) else self._tensor


class SaveableObject:
    """An object that is saved as one or more tensors; subclasses say how it is restored."""

    def __init__(self, op: Any, specs: list[SaveSpec], name: str) -> None:
        self.op = op
        self.specs = specs
        self.name = name

    @property
    def optional_restore(self) -> bool:
        """Whether a checkpoint may lack the object."""
        return False

    @property
    def device(self) -> Any:
        """Where the tensors are."""
        return self.specs[0].device

    def restore(
        self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[TensorShape] | None
    ) -> Any:
        """The op that gives the object its state back."""
        raise ValueError("Calling an abstract method.")


class ReferenceVariableSaveable(SaveableObject):
    """A variable that ops take by reference."""

    def __init__(self, var: Any, slice_spec: str, name: str) -> None:
        super().__init__(var, [SaveSpec(var, slice_spec, name, dtype=var.dtype)], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        value = restored_tensors[0]
        if restored_shapes is not None:
            value = tf.reshape(value, restored_shapes[0])
        known = restored_shapes is None and self.op.get_shape().is_fully_defined()
        return tf.assign(self.op, value, validate_shape=known)


class ResourceVariableSaveable(SaveableObject):
    """A variable with a handle, or the tensor that reads it."""

    def __init__(self, var: Any, slice_spec: str, name: str) -> None:
        self._var_device = var.device
        self._var_shape = var.shape
        tensor: Any = var
        if isinstance(var, Tensor):
            self.handle_op = var.op.inputs[0]
        elif is_resource_variable(var):
            self.handle_op = var.handle

            # A function, so that each saver reads the variable by nodes in its own scope.
            def tensor() -> Tensor:
                with device(var.device):
                    value = var.read_value()
                    with device("/device:CPU:0"):
                        return tf.identity(value)

        else:
            raise ValueError(
                f"Saveable is neither a resource variable nor a read operation. Got: {var!r}"
            )
        spec = SaveSpec(tensor, slice_spec, name, dtype=var.dtype, device=var.device)
        super().__init__(var, [spec], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Operation:
        value = restored_tensors[0]
        if restored_shapes is not None:
            value = tf.reshape(value, restored_shapes[0])
        with device(self._var_device):
            # From the CPU, where files are read, to the variable's device.
            value = convert_to_tensor(tf.identity(value))
            self._var_shape.assert_is_compatible_with(value.shape)
            return raw.AssignVariableOp(self.handle_op, value)


def _is_tensor_of_variable(value: Tensor) -> bool:
    return isinstance(value, Tensor) and value.op.type in _VARIABLE_OPS


def _is_trackable(value: TensorLike) -> bool:
    """Whether an object that is no variable, or one of several replicas, names its saveables."""
    is_plain = is_variable(value) and not isinstance(getattr(value, "values", None), tuple)
    return hasattr(value, "_gather_saveables_for_checkpoint") and not is_plain


def saveable_objects_for_op(op: Any, name: str) -> Iterator[SaveableObject]:
    """The saveables for something to be saved under a name."""
    if not isinstance(name, str):
        raise TypeError(
            "names_to_saveables must be a dict mapping string names to trackable operations. Name "
            f"is not a string: {name}"
        )
    if isinstance(op, SaveableObject):
        yield op
    elif isinstance(op, (list, tuple, PartitionedVariable)):
        yield from _slices(op, name)
    elif _is_trackable(op):
        for attr, factory in op._gather_saveables_for_checkpoint().items():
            full_name = name if attr == "VARIABLE_VALUE" else f"{name}_{attr}"
            part = factory(full_name) if callable(factory) else factory
            yield from saveable_objects_for_op(part, part.name)
    elif isinstance(op, BaseResourceVariable):
        yield ResourceVariableSaveable(op._graph_element, "", name)
    else:
        variable = internal_convert_to_tensor(op, as_ref=True)
        if not _is_tensor_of_variable(variable):
            raise TypeError(
                "names_to_saveables must be a dict mapping string names to Tensors/Variables. Not "
                f"a variable: {variable}"
            )
        yield _saveable(variable, "", name)


def _saveable(variable: Variable, slice_spec: str, name: str) -> SaveableObject:
    by_reference = variable.op.type in _REFERENCE_OPS
    kind = ReferenceVariableSaveable if by_reference else ResourceVariableSaveable
    return kind(variable, slice_spec, name)


def _slices(parts: Iterable[Any], name: str) -> Iterator[SaveableObject]:
    """The parts of a partitioned variable."""
    whole = None
    for variable in parts:
        if not is_variable(variable):
            raise ValueError(f"Slices must all be Variables: {variable}")
        if not variable._save_slice_info:
            raise ValueError(f"Slices must all be slices: {variable}")
        full_name = variable._save_slice_info.full_name
        if whole is None:
            whole = full_name
        elif whole != full_name:
            raise ValueError(f"Slices must all be from the same tensor: {whole} != {full_name}")
        yield _saveable(variable, variable._save_slice_info.spec, name)


def op_list_to_dict(
    op_list: Sequence[Any], convert_variable_to_tensor: bool = True
) -> dict[str, Any]:
    """Names of what is to be saved; the slices of one variable are listed under one name."""
    if not isinstance(op_list, (list, tuple, set)):
        raise TypeError(f"Variables to save should be passed in a dict or a list: {op_list}")
    named: dict[str, Any] = {}
    # Reading variables makes ops: in an order that does not depend on chance.
    for var in sorted(op_list, key=lambda x: x.name):
        if isinstance(var, SaveableObject):
            named[var.name] = var
        elif isinstance(var, PartitionedVariable):
            _add_once(named, var.name, var)
        elif is_variable(var) and var._save_slice_info:
            _add_slice(named, var)
        elif _is_trackable(var):
            factories = var._gather_saveables_for_checkpoint().values()
            parts = [factory() if callable(factory) else factory for factory in factories]
            named.update(op_list_to_dict(parts))
        else:
            _add_variable(named, var, convert_variable_to_tensor)
    return named


def _add_once(named: dict[str, Any], name: str, var: Any) -> None:
    if name in named:
        raise ValueError(f"At least two variables have the same name: {name}")
    named[name] = var


def _add_slice(named: dict[str, Any], var: Variable) -> None:
    name = var._save_slice_info.full_name
    parts = named.setdefault(name, [])
    if not isinstance(parts, list):
        raise ValueError(f"Mixing slices and non-slices with the same name: {name}")
    parts.append(var)


def _add_variable(named: dict[str, Any], var: Any, convert: bool) -> None:
    if convert:
        if isinstance(var, BaseResourceVariable):
            var = var._graph_element
        else:
            var = internal_convert_to_tensor(var, as_ref=True)
        if not _is_tensor_of_variable(var):
            raise TypeError(f"Variable to save is not a Variable: {var}")
    reads = var.op.type == "ReadVariableOp"
    _add_once(named, var.op.inputs[0].op.name if reads else var.op.name, var)


def validate_and_slice_inputs(names_to_saveables: Any) -> list[SaveableObject]:
    """The saveables in order of their names; each thing may be saved once only."""
    if not isinstance(names_to_saveables, dict):
        names_to_saveables = op_list_to_dict(names_to_saveables)
    saveables: list[SaveableObject] = []
    seen: set[int] = set()
    for name, op in sorted(names_to_saveables.items(), key=lambda item: item[0]):
        for saveable in saveable_objects_for_op(op, name):
            # Of two values in the checkpoint only one could be restored.
            if id(saveable.op) in seen:
                raise ValueError(
                    f"The same saveable will be restored with two names: {saveable.name}"
                )
            saveables.append(saveable)
            seen.add(id(saveable.op))
    return saveables
