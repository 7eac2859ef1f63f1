# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's error classes, by its error codes (`tf.errors`)."""

from __future__ import annotations

import linecache
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from .api import constant, export
from .signatures import without_private_bases

if TYPE_CHECKING:
    from .graph.operation import Operation


class InaccessibleTensorError(ValueError):
    """A tensor was used outside of the graph that made it."""


@export("errors.OperatorNotAllowedInGraphError")
class OperatorNotAllowedInGraphError(TypeError):
    """A Python construct that needs a value was used on a symbolic tensor."""


@export("errors.OpError", "OpError")
class OpError(Exception):
    """The base of what running a graph raises."""

    # Whether it concerns the run and no operation: it was cancelled, or its time is up.
    is_of_run = False

    def __init__(
        self, node_def: object, op: Operation | None, message: str, error_code: int
    ) -> None:
        super().__init__()
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code

    def __reduce__(self) -> Any:
        arguments = (self._node_def, None, self._message)
        if type(self) in (OpError, UnknownError):
            arguments += (self._error_code,)  # type: ignore[assignment]
        return type(self), arguments

    @property
    def message(self) -> str:
        """The text that describes the failure."""
        return self._message

    @property
    def op(self) -> Any:
        """The Operation that failed, if known."""
        return self._op

    @property
    def error_code(self) -> int:
        """The code of error_codes.proto."""
        return self._error_code

    @property
    def node_def(self) -> Any:
        """The NodeDef of the op that failed, if known."""
        if self._node_def is None and self._op is not None:
            self._node_def = self._op.node_def
        return self._node_def

    def __str__(self) -> str:
        if self._op is None:
            return str(self._message)
        parts = [str(self._message), ""]
        op = self._op
        parts.append(f"Original stack trace for {op.name!r}:")
        parts.append(_source_line(op))
        while op._original_op is not None:
            op = op._original_op
            parts.append(f"\n...which was originally created as op {op.name!r}, defined at:")
            parts.append(_source_line(op))
        return "\n".join(parts) + "\n"


def _source_line(op: Operation) -> str:
    """The user's line that made an op, as tracebacks print it."""
    filename, line, function = op._frame
    text = linecache.getline(filename, line).strip()
    return f'  File "{filename}", line {line}, in {function}' + (f"\n    {text}" if text else "")


# Code, constant, class: error_codes.proto.
_CODES = {
    "OK": 0,
    "CANCELLED": 1,
    "UNKNOWN": 2,
    "INVALID_ARGUMENT": 3,
    "DEADLINE_EXCEEDED": 4,
    "NOT_FOUND": 5,
    "ALREADY_EXISTS": 6,
    "PERMISSION_DENIED": 7,
    "RESOURCE_EXHAUSTED": 8,
    "FAILED_PRECONDITION": 9,
    "ABORTED": 10,
    "OUT_OF_RANGE": 11,
    "UNIMPLEMENTED": 12,
    "INTERNAL": 13,
    "UNAVAILABLE": 14,
    "DATA_LOSS": 15,
    "UNAUTHENTICATED": 16,
}
globals().update(_CODES)
for _name, _code in _CODES.items():
    constant(f"errors.{_name}", _code)


class _Specific(OpError):
    """An error with a fixed code."""

    CODE = 2

    def __init__(self, node_def: object, op: Operation | None, message: str) -> None:
        OpError.__init__(self, node_def, op, message, self.CODE)


@export("errors.UnknownError")
class UnknownError(OpError):
    """An error of no known kind."""

    def __init__(
        self, node_def: object, op: Operation | None, message: str, error_code: int = 2
    ) -> None:
        super().__init__(node_def, op, message, error_code)


@export("errors.CancelledError")
@without_private_bases
class CancelledError(_Specific):
    """An operation or step was cancelled."""

    CODE = 1


@export("errors.InvalidArgumentError")
@without_private_bases
class InvalidArgumentError(_Specific):
    """An operation received an argument that it cannot use."""

    CODE = 3


@export("errors.DeadlineExceededError")
@without_private_bases
class DeadlineExceededError(_Specific):
    """The time allowed ran out."""

    CODE = 4


@export("errors.NotFoundError")
@without_private_bases
class NotFoundError(_Specific):
    """Something asked for, such as a file, does not exist."""

    CODE = 5


@export("errors.AlreadyExistsError")
@without_private_bases
class AlreadyExistsError(_Specific):
    """Something to be created exists already."""

    CODE = 6


@export("errors.PermissionDeniedError")
@without_private_bases
class PermissionDeniedError(_Specific):
    """The caller may not do this."""

    CODE = 7


@export("errors.UnauthenticatedError")
@without_private_bases
class UnauthenticatedError(_Specific):
    """The request has no valid credentials."""

    CODE = 16


@export("errors.ResourceExhaustedError")
@without_private_bases
class ResourceExhaustedError(_Specific):
    """Memory, disk space or another resource ran out."""

    CODE = 8


@export("errors.FailedPreconditionError")
@without_private_bases
class FailedPreconditionError(_Specific):
    """The state does not allow this: for instance, a variable has no value yet."""

    CODE = 9


@export("errors.AbortedError")
@without_private_bases
class AbortedError(_Specific):
    """An operation was aborted, typically by a concurrent one."""

    CODE = 10


@export("errors.OutOfRangeError")
@without_private_bases
class OutOfRangeError(_Specific):
    """An iteration went past the end."""

    CODE = 11


@export("errors.UnimplementedError")
@without_private_bases
class UnimplementedError(_Specific):
    """The operation does not do this."""

    CODE = 12


@export("errors.InternalError")
@without_private_bases
class InternalError(_Specific):
    """Something that must always hold does not."""

    CODE = 13


@export("errors.UnavailableError")
@without_private_bases
class UnavailableError(_Specific):
    """The runtime cannot be reached now."""

    CODE = 14


@export("errors.DataLossError")
@without_private_bases
class DataLossError(_Specific):
    """Data is lost or corrupt."""

    CODE = 15


Made = TypeVar("Made", bound=OpError)


def _of_no_operation(kind: Callable[[Any, Any, str], Made]) -> Callable[[str], Made]:
    """Makes errors of a class by their text alone.

    A kernel does not know its operation: who runs it says that afterwards.
    """

    def make(text: str) -> Made:
        return kind(None, None, text)

    return make


invalid = _of_no_operation(InvalidArgumentError)
not_found = _of_no_operation(NotFoundError)
data_loss = _of_no_operation(DataLossError)
out_of_range = _of_no_operation(OutOfRangeError)
cancelled = _of_no_operation(CancelledError)
aborted = _of_no_operation(AbortedError)
already_exists = _of_no_operation(AlreadyExistsError)
unimplemented = _of_no_operation(UnimplementedError)
failed_precondition = _of_no_operation(FailedPreconditionError)
internal = _of_no_operation(InternalError)
resource_exhausted = _of_no_operation(ResourceExhaustedError)
permission_denied = _of_no_operation(PermissionDeniedError)
deadline_exceeded = _of_no_operation(DeadlineExceededError)
unavailable = _of_no_operation(UnavailableError)
unknown = _of_no_operation(UnknownError)

_BY_CODE: dict[int, type[OpError]] = {
    vars(kind)["CODE"]: kind for kind in OpError.__subclasses__() if "CODE" in vars(kind)
}
_BY_CODE[2] = UnknownError


@export("errors.exception_type_from_error_code")
def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """The class for a code."""
    return _BY_CODE[error_code]


@export("errors.error_code_from_exception_type")
def error_code_from_exception_type(cls: type) -> Any:
    """The code of a class."""
    for code, kind in _BY_CODE.items():
        if kind is cls:
            return code
    warnings.warn("Unknown class exception", stacklevel=2)
    return UnknownError(None, None, "Unknown class exception", None)  # type: ignore[arg-type]


def _make_specific_exception(
    node_def: object, op: Operation | None, message: str, error_code: int
) -> OpError:
    """The error for a code: its class, or UnknownError."""
    kind = _BY_CODE.get(error_code)
    if kind is None:
        warnings.warn(f"Unknown error code: {error_code}", stacklevel=2)
        return UnknownError(node_def, op, message, error_code)
    return kind(node_def, op, message)  # type: ignore[call-arg]


make_error = _make_specific_exception


class raise_exception_on_not_ok_status:  # noqa: N801 - TensorFlow's name
    """Kept for programs that name it; there are no status objects here."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *unused: Any) -> None:
        return None


constant("errors.raise_exception_on_not_ok_status", raise_exception_on_not_ok_status)
