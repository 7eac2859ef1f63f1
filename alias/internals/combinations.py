# SPDX-License-Identifier: Apache-2.0
"""`tensorflow.python.distribute.combinations`: tests that run for each combination of arguments.

Tests of programs with strategies are written so.  What a machine or this package has not (GPUs,
TPUs, eager mode) is skipped, with the reason.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import re
import types
import unittest
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...ops.public import tf
from .eager import context

Combination = OrderedDict[str, Any]


def combine(**kwargs: Any) -> list[Combination]:
    """All combinations of what lists have, one dict each, with keys in alphabetical order.

    Example:
        >>> [dict(one) for one in combine(x=[1, 2], mode="graph")]
        [{'mode': 'graph', 'x': 1}, {'mode': 'graph', 'x': 2}]
    """
    names = sorted(kwargs)
    choices = [kwargs[name] if isinstance(kwargs[name], list) else [kwargs[name]] for name in names]
    return [OrderedDict(zip(names, values)) for values in itertools.product(*choices)]


def times(*combined: Sequence[Combination]) -> list[Combination]:
    """All combinations of one of each; ValueError where two have the same key."""
    assert combined, "times() was given no combinations"
    return [_together(parts) for parts in itertools.product(*combined)]


def _together(parts: Sequence[Combination]) -> Combination:
    whole: Combination = OrderedDict()
    for part in parts:
        if whole.keys() & part.keys():
            raise ValueError(f"Keys need to not overlap: {whole.keys()} vs {part.keys()}")
        whole.update(part)
    return whole


class NamedObject:
    """Something that is shown by a name in names of tests."""

    def __init__(self, name: str, obj: Any) -> None:
        self._name, self._obj = name, obj

    def __getattr__(self, name: str) -> Any:
        return getattr(self._obj, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the object gives."""
        return self._obj(*args, **kwargs)

    def __repr__(self) -> str:
        return self._name


class NamedDistribution:
    """A strategy that is made when a test begins, with its name and what it needs."""

    def __init__(
        self,
        name: str,
        distribution_fn: Callable[[], Any],
        required_gpus: int | None = None,
        required_tpu: bool = False,
    ) -> None:
        self._name, self._made = name, distribution_fn
        self.required_gpus, self.required_tpu = required_gpus, required_tpu

    @property
    def strategy(self) -> Any:
        """A new strategy."""
        return self._made()

    def __repr__(self) -> str:
        return self._name


class ParameterModifier:
    """Changes arguments before a test gets them; of equal ones (by type and name) one does."""

    DO_NOT_PASS_TO_THE_TEST = object()

    def __init__(self, parameter_name: str | None = None) -> None:
        self._parameter_name = parameter_name

    def modified_arguments(
        self, kwargs: dict[str, Any], requested_parameters: Sequence[str]
    ) -> dict[str, Any]:
        """The arguments that are others, or that the test does not get."""
        del kwargs, requested_parameters
        return {}

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), self._parameter_name))


class OptionalParameter(ParameterModifier):
    """An argument that tests get if they have it among their parameters."""

    def modified_arguments(
        self, kwargs: dict[str, Any], requested_parameters: Sequence[str]
    ) -> dict[str, Any]:
        """Takes it away from tests that do not have it."""
        name = str(self._parameter_name)
        return {} if name in requested_parameters else {name: self.DO_NOT_PASS_TO_THE_TEST}


class DistributionParameter(ParameterModifier):
    """Strategies in the place of `NamedDistribution`s."""

    def modified_arguments(
        self, kwargs: dict[str, Any], requested_parameters: Sequence[str]
    ) -> dict[str, Any]:
        """Makes the strategies."""
        named = {k: v for k, v in kwargs.items() if isinstance(v, NamedDistribution)}
        return {name: value.strategy for name, value in named.items()}


class TestCombination:
    """What generated tests ask before they run: whether to, with what, and within what."""

    # (For pytest, which would take it for a test.)
    __test__ = False

    def should_execute_combination(self, kwargs: dict[str, Any]) -> tuple[bool, str | None]:
        """Whether a test runs, and if not, why."""
        del kwargs
        return True, None

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """What changes arguments."""
        return []

    def context_managers(self, kwargs: dict[str, Any]) -> list[Any]:
        """What is around the test."""
        del kwargs
        return []


class EagerGraphCombination(TestCombination):
    """`mode="graph"`, which tests have if they say nothing, is a graph of their own."""

    def should_execute_combination(self, kwargs: dict[str, Any]) -> tuple[bool, str | None]:
        """Skips eager mode; ValueError for what is no mode."""
        mode = kwargs.get("mode", "graph")
        if mode not in ("graph", "eager"):
            raise ValueError(f"'mode' has to be either 'eager' or 'graph' and not {mode}")
        return mode == "graph", "numbaflow has no eager mode."

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """The mode is optional."""
        return [OptionalParameter("mode")]

    def context_managers(self, kwargs: dict[str, Any]) -> list[Any]:
        """A graph."""
        del kwargs
        return [tf.Graph().as_default()]


class TFVersionCombination(TestCombination):
    """`tf_api_version=2` is skipped."""

    def should_execute_combination(self, kwargs: dict[str, Any]) -> tuple[bool, str | None]:
        """Whether it is version 1, or not said."""
        is_second = kwargs.get("tf_api_version") == 2
        return not is_second, "Skipping a TF2 test when TF2 is not enabled."

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """The version is optional."""
        return [OptionalParameter("tf_api_version")]


class _Needed(TestCombination):
    """What tests need of some kind of processor, by arguments or by their strategies."""

    arguments: tuple[str, ...]

    def should_execute_combination(self, kwargs: dict[str, Any]) -> tuple[bool, str | None]:
        strategies = [v for v in kwargs.values() if isinstance(v, NamedDistribution)]
        asked = [kwargs[name] for name in self.arguments if kwargs.get(name)]
        if strategies and asked:
            raise ValueError(
                f"Do not use `{self.arguments[0]}` and arguments of type NamedDistribution "
                "together."
            )
        return self.are_enough(max([0, *asked, *map(self.count, strategies)]))

    def count(self, strategy: NamedDistribution) -> int:
        raise NotImplementedError

    def are_enough(self, needed: int) -> tuple[bool, str | None]:
        raise NotImplementedError

    def parameter_modifiers(self) -> list[ParameterModifier]:
        return [OptionalParameter(name) for name in self.arguments]


class NamedGPUCombination(_Needed):
    """`required_gpus` and strategies of GPUs are skipped where there are not as many."""

    arguments = ("required_gpus",)

    def count(self, strategy: NamedDistribution) -> int:
        """How many a strategy needs."""
        return strategy.required_gpus or 0

    def are_enough(self, needed: int) -> tuple[bool, str | None]:
        """Whether there are so many."""
        present = context().num_gpus()
        return needed <= present, f"Only {present} of {needed} required GPUs are available."


class NamedTPUCombination(_Needed):
    """`required_tpus`, `required_tpu` and strategies of TPUs are skipped."""

    arguments = ("required_tpus", "required_tpu")

    def count(self, strategy: NamedDistribution) -> int:
        """How many a strategy needs."""
        return int(strategy.required_tpu)

    def are_enough(self, needed: int) -> tuple[bool, str | None]:
        """Whether none is needed."""
        return not needed, "Test requires a TPU, but it's not available."


class GPUCombination(NamedGPUCombination):
    """The same, and tests get strategies."""

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """Strategies, too."""
        return [DistributionParameter(), *super().parameter_modifiers()]


class TPUCombination(NamedTPUCombination):
    """The same, and tests get strategies."""

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """Strategies, too."""
        return [DistributionParameter(), *super().parameter_modifiers()]


_ALL = (EagerGraphCombination(), TFVersionCombination(), GPUCombination(), TPUCombination())


def generate(
    combinations: Sequence[Combination], test_combinations: Sequence[TestCombination] = _ALL
) -> Callable[[Any], Any]:
    """Decorates a test method, or a class of them: one test for each combination.

    Args:
        combinations: what `combine` and `times` give; the keys are parameters of the test.
        test_combinations: what is asked before a test runs.

    Returns:
        The decorator.  Its tests raise ValueError where parameters and keys do not fit.

    Example:
        >>> class SquareTest(unittest.TestCase):
        ...     @generate(combine(x=[1, 2]))
        ...     def testSquare(self, x):
        ...         self.assertEqual(x * x, x**2)
        >>> [name for name in dir(SquareTest) if name.startswith("testSquare")]
        ['testSquare_test_x_1', 'testSquare_test_x_2']
    """

    def decorated(test: Any) -> Any:
        if not isinstance(test, type):
            return _Tests(test, combinations, test_combinations)
        for name, method in list(vars(test).items()):
            if name.startswith("test") and isinstance(method, types.FunctionType):
                _Tests(method, combinations, test_combinations).__set_name__(test, name)
        return test

    return decorated


class _Tests:
    """Stands in a class for the tests that the class gets in its place."""

    def __init__(
        self,
        method: Callable[..., Any],
        combinations: Sequence[Combination],
        asked: Sequence[TestCombination],
    ) -> None:
        self._method, self._combinations, self._asked = method, combinations, asked

    def __set_name__(self, owner: type, name: str) -> None:
        delattr(owner, name)
        for combination in self._combinations:
            suffix = "".join(
                f"_{_letters(key)}_{_letters(_shown(value, number))}"
                for number, (key, value) in enumerate(combination.items())
            )
            setattr(owner, f"{name}_test{suffix}", self._test(combination))

    def _test(self, combination: Combination) -> Callable[[Any], None]:
        method, asked = self._method, self._asked

        def test(case: Any) -> None:
            answers = [one.should_execute_combination(dict(combination)) for one in asked]
            reasons = [f" - {reason}" for is_run, reason in answers if not is_run]
            if reasons:
                raise unittest.SkipTest("\n".join(reasons))
            with contextlib.ExitStack() as stack:
                for manager in _each(one.context_managers(dict(combination)) for one in asked):
                    stack.enter_context(manager)
                method(case, **_arguments(method, combination, asked))

        test.__doc__ = method.__doc__
        return test


def _each(lists: Iterator[list[Any]]) -> Iterator[Any]:
    return itertools.chain.from_iterable(lists)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _shown(value: Any, number: int) -> str:
    # Addresses differ from run to run.
    return re.sub("0[xX][0-9a-fA-F]+", str(number), str(value))


def _arguments(
    method: Callable[..., Any], combination: Combination, asked: Sequence[TestCombination]
) -> dict[str, Any]:
    """What a test is called with; ValueError where that is not what its parameters are."""
    parameters = [name for name in inspect.signature(method).parameters if name != "self"]
    given = dict(combination)
    for modifier in dict.fromkeys(_each(one.parameter_modifiers() for one in asked)):
        given |= modifier.modified_arguments(dict(combination), parameters)
    left_out = ParameterModifier.DO_NOT_PASS_TO_THE_TEST
    given = {name: value for name, value in given.items() if value is not left_out}
    if missing := set(parameters) - given.keys():
        raise ValueError(
            f"The test requires parameters whose arguments were not passed: {missing} ."
        )
    if unknown := given.keys() - set(parameters):
        raise ValueError(f"The test does not take parameters that were passed : {unknown} .")
    return given
