# SPDX-License-Identifier: Apache-2.0
"""Python functions of elements as functions of the graph's library."""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import get_default_graph
from ..flow.function_graph import func_graph_from_py_func
from ..flow.function_library import DefinedFunction, from_graph
from ..public import tf
from . import structure

_numbers = itertools.count()
# How the types of operations begin that make tables.
_TABLES = ("HashTable", "MutableHashTable", "MutableDenseHashTable")


def name_list(function: DefinedFunction) -> Any:
    """A function as the value of an attribute."""
    from ...io import protos

    return protos.NameAttrList(name=function.name)


def _name_of(func: Any) -> str:
    """A function's name as TensorFlow spells it in the names of graph functions."""
    if isinstance(func, functools.partial):
        return _name_of(func.func)
    return getattr(func, "__name__", None) or type(func).__name__


def unpacks(arguments: Any) -> bool:
    """Whether the components of an element are arguments of their own."""
    return type(arguments) is tuple


class StructuredFunctionWrapper:
    """A function from elements to elements, built once, and the types of what it returns.

    Args:
      func: The Python function.
      transformation_name: Who calls it, for messages and the function's name.
      dataset: Whose elements it takes; or else
      input_classes, input_shapes, input_types: what they are; or else
      input_structure: their types.
      add_to_graph: Whether the function goes into the default graph's library at once.
      use_legacy_function: Whether it is named as TensorFlow's older functions are.
      defun_kwargs: Attributes of the function; none of them changes anything here.

    Raises:
      TypeError: The function returns something that is not made of tensors.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        transformation_name: str,
        dataset: Any = None,
        input_classes: Any = None,
        input_shapes: Any = None,
        input_types: Any = None,
        input_structure: Any = None,
        add_to_graph: bool = True,
        use_legacy_function: bool = False,
        defun_kwargs: dict[str, Any] | None = None,
    ) -> None:
        del defun_kwargs
        legacy = input_types, input_shapes, input_classes
        if (input_structure is not None) + (dataset is not None) + (legacy != (None,) * 3) != 1:
            raise ValueError(
                "Either `dataset`, `input_structure` or all of `input_classes`, `input_shapes`, "
                "and `input_types` must be specified."
            )
        if input_structure is None:
            given = None if dataset is None else dataset.element_spec
            input_structure = given or structure.convert_legacy_structure(*legacy)
        self._input_structure = input_structure
        self._func = func
        self._transformation_name = transformation_name
        self._output_structure: Any = None
        self._function = self._built(use_legacy_function)
        if add_to_graph:
            self._function.add_to_graph(get_default_graph())

    def _built(self, is_legacy: bool) -> DefinedFunction:
        outer = get_default_graph()
        readable = f"{self._transformation_name.replace('.', '_')[:-2]}_{_name_of(self._func)}"
        name = f"{readable}_{next(_numbers)}"
        specs = structure.get_flat_tensor_specs(self._input_structure)
        seed, count = None if is_legacy else outer.seed, len(outer.get_operations())

        def body(*tensors: Any) -> list[Any]:
            get_default_graph().seed = seed
            result = self._result(tensors)
            found = structure.to_tensor_list(self._output_structure, result)
            found = [convert_to_tensor(tensor) for tensor in found]
            return found if is_legacy else [tf.identity(tensor) for tensor in found]

        graph = func_graph_from_py_func(
            body,
            [f"{'arg' if is_legacy else 'args_'}{i}" for i in range(len(specs))],
            [spec.dtype for spec in specs],
            name,
            capture_resource_var_by_value=False,
            arg_shapes=[spec.shape for spec in specs],
        )
        self._warn(outer.get_operations()[count:], readable if graph._seed_used else "", seed)
        return from_graph(graph, name if is_legacy else f"__inference_{name}")

    def _warn(self, new: Sequence[Any], seeded: str, seed: int | None) -> None:
        """Warns of what is made anew in each call, and of what is not.

        new: the operations that the function put into the graph outside; seeded: its name if it
        takes seeds of the graph's.
        """
        if any(op.type.startswith(_TABLES) for op in new):
            warnings.warn(
                f"Creating resources inside a function passed to {self._transformation_name} is "
                "not supported. Create each resource outside the function, and capture it inside "
                "the function to use it.",
                stacklevel=5,
            )
        if seed and seeded:
            warnings.warn(
                f"Seed {seed} from outer graph might be getting used by function {seeded}, if the "
                "random op has not been provided any seed. Explicitly set the seed in the function "
                "if this is not the intended behavior.",
                stacklevel=5,
            )

    def _result(self, tensors: Any) -> Any:
        """What the Python function returns for tensors, in its structure."""
        arguments = structure.from_compatible_tensor_list(self._input_structure, tensors)
        if not unpacks(arguments):
            arguments = (arguments,)
        result = self._func(*arguments)
        if isinstance(result, list):
            result = tuple(result)
        try:
            self._output_structure = structure.type_spec_from_value(result)
        except (TypeError, ValueError):
            raise TypeError(
                "Unsupported return value from function passed to "
                f"{self._transformation_name}: {result}."
            ) from None
        return result

    @property
    def output_structure(self) -> Any:
        """The types of what it returns."""
        return self._output_structure

    @property
    def output_classes(self) -> Any:
        """The classes of what it returns."""
        return structure.legacy(self._output_structure, "classes")

    @property
    def output_shapes(self) -> Any:
        """The shapes of what it returns."""
        return structure.legacy(self._output_structure, "shapes")

    @property
    def output_types(self) -> Any:
        """The dtypes of what it returns."""
        return structure.legacy(self._output_structure, "types")

    @property
    def function(self) -> DefinedFunction:
        """The function of the library."""
        return self._function

    @property
    def captured(self) -> list[Any]:
        """The tensors that it takes from the graph outside."""
        return self._function.captured_inputs

    @property
    def attribute(self) -> Any:
        """The function as the value of an attribute."""
        return name_list(self._function)
