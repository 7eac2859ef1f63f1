# SPDX-License-Identifier: Apache-2.0
"""`tensorflow.python.util.deprecation`: programs that deprecate names of their own."""

from __future__ import annotations

from typing import Any

import pytest

from numbaflow.alias.internals import deprecation, functions, notices
from numbaflow.engine.interface import log

pytestmark = pytest.mark.pure


@pytest.fixture
def warned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was warned of."""
    found: list[str] = []
    monkeypatch.setattr(log, "warning", lambda text, *rest: found.append(text % rest))
    return found


def test_a_function_warns_once_and_its_docstring_says_why(warned: list[str]) -> None:
    @deprecation.deprecated("2016-07-04", "Use add.")
    def plus(a: int, b: int) -> int:
        """Adds.

        Two numbers.
        """
        return a + b

    assert plus(1, 2) == plus(1, 2) == 3
    (text,) = warned
    assert f"From {__file__}:" in text and "Use add." in text
    assert "plus (from" in text and "will be removed after 2016-07-04." in text
    assert plus.__doc__ == (
        "Adds. (deprecated)\n\nWarning: THIS FUNCTION IS DEPRECATED. It will be removed after "
        "2016-07-04.\nInstructions for updating:\nUse add.\n\nTwo numbers."
    )
    assert functions.unwrap(plus)[0][0].decorator_name == "deprecated"


def test_nothing_warns_within_silence_nor_where_programs_say_so(
    warned: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    noisy = deprecation.deprecated(None, "Use other.", warn_once=False)(lambda: None)
    noisy()
    with pytest.raises(KeyError), deprecation.silence():
        noisy()
        raise KeyError
    noisy()
    assert len(warned) == 2
    monkeypatch.setattr(deprecation, "_PRINT_DEPRECATION_WARNINGS", False)
    noisy()
    assert len(warned) == 2 and "in a future version" in warned[0]


def test_arguments_warn_once_each_but_for_harmless_values(warned: list[str]) -> None:
    @deprecation.deprecated_args(None, "Leave it.", "old", ("axis", None))
    def call(x: int, old: int = 0, axis: Any = None) -> int:
        return x

    @deprecation.deprecated_args(None, "Leave them.", "rest", "named")
    def gather(*rest: int, **named: int) -> int:
        return len(rest)

    call(1), call(1, axis=None)
    assert not warned
    call(1, 2), call(1, old=3)
    assert len(warned) == 1 and "with old is deprecated" in warned[0]
    call(1, axis=3), gather(1), gather(x=1)
    names = [text.split(" with ")[1].split()[0] for text in warned]
    assert names == ["old", "axis", "rest", "named"]


def test_values_of_arguments_warn(warned: list[str]) -> None:
    @deprecation.deprecated_arg_values("2017-01-01", "Use True.", flag=False)
    def call(flag: bool = True) -> bool:
        return flag

    assert call() and not warned
    assert not call(False) and "with flag=False is deprecated" in warned[0]
    assert "`(flag=False)`" in str(call.__doc__)


def test_old_names_of_functions_and_classes(warned: list[str]) -> None:
    class New:
        """What it is."""

        def __init__(self, size: int) -> None:
            self.size = size

    old = deprecation.deprecated_alias("a.Old", "a.New", New)
    assert old(3).size == 3 and isinstance(old(4), New) and New(5).size == 5
    assert len(warned) == 1 and "The name a.Old is deprecated. Please use a.New" in warned[0]
    assert functions.getfullargspec(old.__init__).args == ["self", "size"]
    measure = deprecation.deprecated_alias("a.measure", "len", len)
    assert measure([1]) == 1 and len(warned) == 2 and __file__ in warned[1]
    noted = deprecation.deprecated_endpoints("a.b", "c")(lambda: None)
    assert noted._tf_deprecated_api_names == ("a.b", "c")
    with pytest.raises(deprecation.DeprecatedNamesAlreadySet, match="Cannot set"):
        deprecation.deprecated_endpoints("d")(noted)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: deprecation.deprecated("07-04-2016", "Use x."), "YYYY-MM-DD"),
        (lambda: deprecation.deprecated(None, ""), "instructions"),
        (lambda: deprecation.deprecated(None, "Use x.")(property(len)), "@property appears before"),
        (lambda: deprecation.deprecated_args(None, "x"), "which argument"),
        (lambda: deprecation.deprecated_args(None, "x", "a", level=3), "Illegal argument"),
        (lambda: deprecation.deprecated_args(None, "x", "a")(lambda b: b), "not present"),
        (lambda: deprecation.deprecated_arg_values(None, "x"), "which argument values"),
        (lambda: notices.add_notice_to_docstring("", "x", "y", "z", []), "must not be empty"),
    ],
)
def test_marks_without_advice_are_refused(make: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        make()


def test_attributes_may_be_hidden_and_properties_belong_to_classes() -> None:
    class Below:
        hidden = deprecation.hide_attribute_from_api("there is none")

        @notices.classproperty
        def name(cls: Any) -> str:  # noqa: N805
            return str(cls.__name__)

    with pytest.raises(AttributeError, match="there is none"):
        _ = Below().hidden
    assert Below.name == "Below"


def test_a_decorated_function_exchanges_any_of_those_inside() -> None:
    def around(name: str) -> Any:
        def decorate(target: Any) -> Any:
            def call(x: int) -> Any:
                return (name, call.__wrapped__(x))  # type: ignore[attr-defined]

            call.mine = name  # type: ignore[attr-defined]
            return functions.make_decorator(target, call)

        return decorate

    outer = around("outer")(around("inner")(abs))
    assert outer(-1) == ("outer", ("inner", 1)) and outer.mine == "outer"
    functions.rewrap(outer, abs, float)
    assert outer(-1) == ("outer", ("inner", -1.0))
    functions.rewrap(outer, outer._tf_decorator.decorated_target, str)
    assert outer(-1) == ("outer", "-1") and functions.rewrap(abs, abs, int) is int
