# SPDX-License-Identifier: Apache-2.0
"""In which dtype layers compute, and in which they keep their variables (mixed precision)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...engine.interface.log import warning
from ...engine.types import dtypes

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike
    from ..optimizers.loss_scale import LossScale

_FLOAT32_VARIABLES = "_with_float32_vars"
USE_DEFAULT = "USE_DEFAULT"


class Policy:
    """In which dtype a layer computes, and in which it keeps its variables.

    Where these differ, variables are cast when the layer is called.

    Args:
        name: a dtype's name; `<dtype>_with_float32_vars`; "mixed_float16" or "mixed_bfloat16",
            which have float32 variables; "infer" or "infer_with_float32_vars", by which the first
            input decides.
        loss_scale: by how much models scale their loss: a LossScale, a number, "dynamic" or None;
            by default "dynamic" for "mixed_float16", else None.

    Raises:
        TypeError: `name` is no string.
        ValueError: it names no policy.

    Example:
        >>> policy = tf.keras.mixed_precision.experimental.Policy("float16_with_float32_vars")
        >>> policy.compute_dtype, policy.variable_dtype
        ('float16', 'float32')
    """

    def __init__(self, name: str, loss_scale: Any = USE_DEFAULT) -> None:
        if isinstance(name, dtypes.DType):
            raise TypeError(
                f"'name' must be a string, not a DType. Instead, pass DType.name. Got: {name.name}"
            )
        if not isinstance(name, str):
            raise TypeError(f"'name' must be a string, but got: {name}")
        renamed = {
            "infer_float32_vars": f"infer{_FLOAT32_VARIABLES}",
            f"float32{_FLOAT32_VARIABLES}": "float32",
        }
        self._name = renamed.get(name, name)
        self._compute_dtype, self._variable_dtype = _dtypes_of(self._name)
        if loss_scale == USE_DEFAULT:
            loss_scale = "dynamic" if name == "mixed_float16" else None
        self._loss_scale: LossScale | None = None
        if loss_scale is not None:
            self._set_loss_scale(loss_scale)

    def _set_loss_scale(self, loss_scale: Any) -> None:
        from ..optimizers import loss_scale as loss_scales

        if self._compute_dtype not in (None, "float16"):
            warning(
                "Creating a Policy with a loss scale is only useful for float16 policies. You "
                f"passed loss_scale={loss_scale!r} for policy {self._name}. Consider not passing "
                "any loss_scale instead."
            )
        self._loss_scale = loss_scales.get(loss_scale)

    @property
    def variable_dtype(self) -> str | None:
        """The dtype of variables; None where the first input decides."""
        return self._variable_dtype

    @property
    def compute_dtype(self) -> str | None:
        """The dtype of what the layer computes; None where the first input decides."""
        return self._compute_dtype

    @property
    def should_cast_variables(self) -> bool:
        """Whether variables are cast when the layer is called."""
        return self._variable_dtype != self._compute_dtype

    @property
    def loss_scale(self) -> LossScale | None:
        """By how much models scale their loss; None for not at all."""
        return self._loss_scale

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    def __repr__(self) -> str:
        return f'<Policy "{self._name}", loss_scale={self.loss_scale}>'


def _dtypes_of(name: str) -> tuple[str | None, str | None]:
    """In which dtype a policy of a name computes, and in which variables are."""
    if name in ("mixed_float16", "mixed_bfloat16"):
        return name.removeprefix("mixed_"), "float32"
    base = name.removesuffix(_FLOAT32_VARIABLES)
    found = None
    if base != "infer":
        try:
            found = dtypes.as_dtype(base).name
        except TypeError:
            told = ""
            if base != name:
                told = (
                    f" The value {name} ends with {_FLOAT32_VARIABLES}, but {base} cannot be "
                    "converted to a DType"
                )
            raise ValueError(
                f"Cannot convert value {name} to a mixed precision Policy. Valid policies include "
                'include those in the form "<dtype>" and "<dtype>_with_float32_vars", where '
                f"<dtype> is the name of a dtype.{told}"
            ) from None
    return found, found if base == name else "float32"


def with_input_dtype(policy: Policy, dtype: DTypeLike) -> Policy:
    """What a policy that leaves the dtype to the first input becomes with it."""
    name = dtypes.as_dtype(dtype).base_dtype.name
    return of_dtype(name) if policy.variable_dtype is None else Policy(name + _FLOAT32_VARIABLES)


INFER = Policy("infer")
_of_dtypes: dict[str, Policy] = {}


def of_dtype(name: str) -> Policy:
    """The policy of a dtype's name, the same object each time."""
    if name not in _of_dtypes:
        _of_dtypes[name] = Policy(name)
    return _of_dtypes[name]


class _Global:
    """The policy of layers that are given none, and whether inputs are cast as in TensorFlow 2."""

    policy: Policy | None = None
    casts_inputs = False


def v2_dtype_behavior_enabled() -> bool:
    """Whether layers without a dtype have `floatx()`, and cast their inputs."""
    return _Global.casts_inputs


def enable_v2_dtype_behavior() -> None:
    """Lets layers without a dtype have `floatx()`, and cast their inputs."""
    _Global.casts_inputs = True


def disable_v2_dtype_behavior() -> None:
    """Lets layers take their dtype from their inputs, as they do at first."""
    _Global.casts_inputs = False


def global_policy() -> Policy:
    """The policy of layers that are given none: "infer", unless `set_policy` says otherwise."""
    if _Global.policy is not None:
        return _Global.policy
    if not _Global.casts_inputs:
        return INFER
    from ..keras.backend.settings import floatx

    return of_dtype(floatx())


def set_policy(policy: Policy | str | None) -> None:
    """Sets the policy of layers that are given none.

    Args:
        policy: the policy, its name, or None for what was so at first.

    Raises:
        ValueError: the policy has a dtype, which layers of TensorFlow 1 take from their inputs;
            give it to each layer as `dtype`.
    """
    if isinstance(policy, str):
        policy = Policy(policy)
    if policy and policy.compute_dtype and not _Global.casts_inputs:
        raise ValueError(
            "The global policy can only be set to a non-infer policy in TensorFlow 2; give the "
            f"policy {policy.name!r} to layers as `dtype`"
        )
    _Global.policy = policy


@contextlib.contextmanager
def policy_scope(policy: Policy | str | None) -> Iterator[None]:
    """A context in which layers that are given no policy have this one."""
    before = _Global.policy
    try:
        set_policy(policy)
        yield
    finally:
        set_policy(before)
