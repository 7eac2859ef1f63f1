# SPDX-License-Identifier: Apache-2.0
"""Records are what Python's own data classes are with the same arguments."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import pytest

from numbaflow.engine.record_class import record

KINDS = [
    {},
    {"frozen": True},
    {"slots": True},
    {"frozen": True, "slots": True},
    {"eq": False},
    {"frozen": True, "eq": False, "slots": True},
    {"repr": False},
]
pytestmark = pytest.mark.pure


def classes(decorator: Any, kind: dict[str, Any]) -> tuple[type, type]:
    """A class with every sort of field, and one derived from it."""

    @decorator(**kind)
    class Base:
        first: int
        second: Any = field(default=2, compare=False)
        made: list[int] = field(default_factory=list, repr=False)
        kept: int = field(default=7, init=False)

    @decorator(**kind)
    class Derived(Base):
        first: int = 5
        more: dict[str, int] = field(default_factory=dict, init=False)
        total: int = 0

        def __post_init__(self) -> None:
            object.__setattr__(self, "total", self.first + self.second)

    return Base, Derived


def outcome(call: Any) -> Any:
    """What a call gives, or the error that it raises."""
    try:
        return call()
    except Exception as error:
        return type(error), str(error)


def seen(one: Any, others: list[Any], has_repr: bool) -> list[Any]:
    """What an instance does."""
    found: list[Any] = [getattr(one, f.name) for f in dataclasses.fields(one)]
    found += [dataclasses.asdict(one), [one == other for other in others], one != 1]
    found.append(repr(one) if has_repr else repr(one).partition(" at ")[0])
    found.append(outcome(lambda: hash(one) == hash(copy.copy(one))))
    found.append([getattr(copy.deepcopy(one), name) for name in ("first", "made")])
    found.append(outcome(lambda: setattr(copy.copy(one), "first", 8)))
    found.append(outcome(lambda: delattr(copy.copy(one), "kept")))
    return found


def told(kind: dict[str, Any], decorator: Any) -> list[Any]:
    """What classes and their instances do."""
    base, derived = classes(decorator, kind)
    found: list[Any] = [base(1) == derived(1), outcome(base), type(derived()).__qualname__]
    for cls in (base, derived):
        made = [cls(1), cls(1, 2), cls(1, second=3, made=[4]), cls(first=9)]
        found += [seen(one, made, kind.get("repr", True)) for one in made]
        found += [outcome(partial(cls, 1, 2, [3], 4, 5)), outcome(partial(cls, first=1, other=2))]
        found += [dataclasses.replace(made[2], first=6).first]
        found.append([(f.name, f.type, f.init, f.repr) for f in dataclasses.fields(cls)])
    return found


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_records_do_what_data_classes_do(kind: dict[str, Any]) -> None:
    assert told(kind, record) == told(kind, dataclass)


def test_own_methods_stay() -> None:
    @record(frozen=True)
    class Odd:
        value: float

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 3

        def __repr__(self) -> str:
            return "odd"

    assert Odd(1.0) == 2
    assert (hash(Odd(1.0)), repr(Odd(2.0))) == (3, "odd")


def test_what_compares_in_its_own_way_has_the_hash_of_its_values() -> None:
    for decorator in (record, dataclass):

        @decorator(frozen=True)
        class Own:
            value: int

            def __eq__(self, other: object) -> bool:
                return True

        assert hash(Own(4)) == hash((4,)) and Own(4) == 5


@record(frozen=True, slots=True)
class Point:
    """At the top, where pickle finds it."""

    x: int
    y: int = 2


def test_what_is_constant_is_pickled_and_hashed_by_its_values() -> None:
    again = pickle.loads(pickle.dumps(Point(1)))  # noqa: S301 - our own
    assert again == Point(1, 2)
    assert len({again, Point(1), Point(2)}) == 2
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        again.x = 3  # type: ignore[misc]


def test_a_plain_class_may_derive_from_a_record() -> None:
    @record(frozen=True)
    class Base:
        one: int

    class Derived(Base):
        def __init__(self) -> None:
            super().__init__(4)
            self.other = 5

        @cached_property
        def double(self) -> int:
            return 2 * self.one

    for _ in range(2):
        assert (Derived().double, Derived().other, Base(1).one) == (8, 5, 1)
