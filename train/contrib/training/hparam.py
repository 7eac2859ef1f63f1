# SPDX-License-Identifier: Apache-2.0
"""`HParams`: hyperparameters by name, each with a type, that texts and dictionaries override."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ....engine.api import export
from ....engine.compat import as_bytes, as_text
from ....engine.deprecation import deprecated
from .hparam_values import cast, parse_values

__all__ = ["HParams", "parse_values"]

# Types and how HParamDef calls them; of several that fit, the first.
_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "bool"),
    (int, "int64"),
    ((str, bytes), "bytes"),
    (float, "float"),
)


@export("contrib.training.HParams")
class HParams:
    """Hyperparameters, which are attributes of the object.

    The type of a parameter is that of the value it gets first: a whole number, a number, a truth
    value, a text, or a list of one of them.

    Args:
        hparam_def: an HParamDef to read them from, instead of keyword arguments.
        model_structure: an object that is kept for `get_model_structure`.
        **kwargs: the values by name.

    Raises:
        ValueError: both kinds of arguments are given, a list is empty, or a name is taken by a
            method.

    Example:
        >>> hparams = tf.contrib.training.HParams(rate=0.1, sizes=[8, 4], act="relu")
        >>> hparams.parse("rate=.5,act=tanh").rate
        0.5
        >>> hparams
        HParams([('act', 'tanh'), ('rate', 0.5), ('sizes', [8, 4])])
    """

    def __init__(
        self, hparam_def: object = None, model_structure: object = None, **kwargs: Any
    ) -> None:
        self._hparam_types: dict[str, tuple[type, bool]] = {}
        self._model_structure = model_structure
        if hparam_def:
            self._init_from_proto(hparam_def)
            if kwargs:
                raise ValueError("hparam_def and initialization values are mutually exclusive")
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def _init_from_proto(self, hparam_def: object) -> None:
        from ....io import protos

        # Programs know this as an AssertionError.
        assert isinstance(hparam_def, protos.HParamDef), f"not an HParamDef: {hparam_def!r}"
        for name, entry in hparam_def.hparam.items():
            kind = entry.WhichOneof("kind")
            if kind is None:
                raise ValueError(f"hparam_def has no value of hyperparameter {name!r}")
            value = getattr(entry, kind)
            is_list = kind.endswith("_list")
            values = list(value.value) if is_list else [value]
            if kind.startswith("bytes"):
                values = [as_text(v) for v in values]
            self.add_hparam(name, values if is_list else values[0])

    def add_hparam(self, name: str, value: Any) -> None:
        """Adds a parameter.

        Raises:
            ValueError: there is one of this name, or the value is an empty list.
        """
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        is_list = isinstance(value, (list, tuple))
        if is_list and not value:
            raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
        self._hparam_types[name] = (type(value[0]) if is_list else type(value), is_list)
        setattr(self, name, value)

    def set_hparam(self, name: str, value: object) -> None:
        """Gives a parameter another value of its type.

        Raises:
            KeyError: there is no such parameter.
            ValueError: the value is of another type.
        """
        kind, is_list = self._hparam_types[name]
        if isinstance(value, list):
            if not is_list:
                raise ValueError(f"Must not pass a list for single-valued parameter: {name}")
            setattr(self, name, [cast(name, kind, v) for v in value])
            return
        if is_list:
            raise ValueError(f"Must pass a list for multi-valued parameter: {name}.")
        setattr(self, name, cast(name, kind, value))

    def del_hparam(self, name: str) -> None:
        """Removes a parameter, if there is one of this name."""
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values: str) -> HParams:
        """Overrides parameters with what a text such as "rate=0.5,sizes=[8,4]" says.

        Returns:
            The object itself.

        Raises:
            ValueError: the text cannot be read, or names something else (`parse_values`).
        """
        types = {name: kind for name, (kind, _) in self._hparam_types.items()}
        return self.override_from_dict(parse_values(values, types))

    def override_from_dict(self, values_dict: Mapping[str, Any]) -> HParams:
        """Overrides parameters; gives the object itself."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    @deprecated(None, "Use `override_from_dict`.")
    def set_from_map(self, values_map: Mapping[str, Any]) -> HParams:
        """What `override_from_dict` was called before."""
        return self.override_from_dict(values_map)

    def set_model_structure(self, model_structure: object) -> None:
        """Keeps an object for `get_model_structure`."""
        self._model_structure = model_structure

    def get_model_structure(self) -> Any:
        """The object given for it, or None."""
        return self._model_structure

    def to_json(
        self,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        sort_keys: bool = False,
    ) -> str:
        """The values as JSON; the arguments are those of `json.dumps`."""
        return json.dumps(self.values(), indent=indent, separators=separators, sort_keys=sort_keys)

    def parse_json(self, values_json: str) -> HParams:
        """Overrides parameters with an object of JSON; gives the object itself."""
        return self.override_from_dict(json.loads(values_json))

    def values(self) -> dict[str, Any]:
        """The values by name."""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key: str, default: object = None) -> Any:
        """A parameter's value, or `default` if there is none.

        Raises:
            ValueError: there is one, and `default` is not of its type.
        """
        if key not in self._hparam_types:
            return default
        if default is not None:
            self._check_default(key, default)
        return getattr(self, key)

    def _check_default(self, key: str, default: Any) -> None:
        kind, is_list = self._hparam_types[key]
        shown = f"list<{kind}>" if is_list else str(kind)
        message = f"Hparam '{key}' of type '{shown}' is incompatible with default={default}"
        if is_list != isinstance(default, list):
            raise ValueError(message)
        try:
            for value in default if is_list else [default]:
                cast(key, kind, value)
        except ValueError as error:
            raise ValueError(f"{message}. {error}") from None

    def __contains__(self, key: str) -> bool:
        return key in self._hparam_types

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.values().items())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({sorted(self.values().items())})"

    @staticmethod
    def _get_kind_name(param_type: type, is_list: bool) -> str:
        """What HParamDef calls the field of a parameter of this type."""
        for kinds, name in _KINDS:
            if issubclass(param_type, kinds):
                return f"{name}_{'list' if is_list else 'value'}"
        raise ValueError(f"Unsupported parameter type: {param_type}")

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The parameters as an HParamDef.

        Raises:
            ValueError: a value is of a type that HParamDef has not.
        """
        from ....io import protos

        del export_scope
        result = protos.HParamDef()
        for name, (param_type, is_list) in self._hparam_types.items():
            kind = self._get_kind_name(param_type, is_list)
            value = getattr(self, name)
            values = list(value) if is_list else [value]
            if kind.startswith("bytes"):
                values = [as_bytes(v) for v in values]
            if is_list:
                getattr(result.hparam[name], kind).value.extend(values)
            else:
                setattr(result.hparam[name], kind, values[0])
        return result

    @staticmethod
    def from_proto(hparam_def: object, import_scope: str | None = None) -> HParams:
        """The parameters of an HParamDef."""
        del import_scope
        return HParams(hparam_def=hparam_def)
