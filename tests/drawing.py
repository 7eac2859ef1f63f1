# SPDX-License-Identifier: Apache-2.0
"""How many examples tests draw, and which: for all tests in one place.

Without --deep these are few, and the same on every machine: what fails here fails everywhere, and
kernels that were compiled for them are compiled.  With --deep they are many, other ones each time,
and what fails is kept in .hypothesis and tried first from then on.

Not here: what is compared with TensorFlow (tests/ops/tensorflow_cases.py), or damaged
(tests/ops/bad_inputs.py), is collected by settings that are part of the text of the function that
collects, from which Hypothesis takes its seed; so these cases stay the same.
"""

from __future__ import annotations

import random
import secrets

from hypothesis import HealthCheck, Phase, settings
from hypothesis.internal.conjecture import providers

# How many times as many examples a deep run draws of what does not say how many itself.
_DEEPER = 10
_EXAMPLES = 100
_BOTH = settings(deadline=None, suppress_health_check=list(HealthCheck))
_QUICK = settings(
    _BOTH,
    max_examples=_EXAMPLES,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
)
_DEEP = settings(_BOTH, max_examples=_DEEPER * _EXAMPLES, print_blob=True)


def load(deep: bool) -> None:
    """Has tests that are imported from now on draw many examples, or few."""
    settings.register_profile("quick", _QUICK)
    settings.register_profile("deep", _DEEP)
    settings.load_profile("deep" if deep else "quick")
    if not deep:
        # Hypothesis would read the sources of all modules, for constants to draw: it takes as long
        # as the tests of a folder, and what is drawn would follow from what is imported.
        none = providers.Constants()
        providers._get_local_constants = lambda: none


def begin(test: str, deep: bool) -> None:
    """Has what programs without seeds draw follow from the test's name; in deep runs from nothing.

    Names that the machine's other processes must not have (secrets.token_hex) stay drawn.
    """
    source = random.SystemRandom() if deep else random.Random(test)
    secrets.randbits = source.getrandbits


def examples(count: int, deep: int | None = None) -> settings:
    """Decorates a test that draws so many examples; with --deep so many, or ten times as many."""
    if settings.default is not None and settings.default.derandomize:
        return settings(max_examples=count)
    return settings(max_examples=_DEEPER * count if deep is None else deep)


def seconds(quick: float, deep: float) -> float:
    """How long a test looks for what is wrong: with --deep, and without."""
    return quick if settings.default is not None and settings.default.derandomize else deep
