# SPDX-License-Identifier: Apache-2.0
"""What expressions for hyperparameters may use: random numbers, and the functions of `math`."""

from __future__ import annotations

import math
import random
from math import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    ceil,
    copysign,
    cos,
    cosh,
    degrees,
    e,
    erf,
    erfc,
    exp,
    expm1,
    fabs,
    factorial,
    floor,
    fmod,
    frexp,
    fsum,
    gamma,
    gcd,
    hypot,
    inf,
    isclose,
    isfinite,
    isinf,
    isnan,
    ldexp,
    lgamma,
    log,
    log1p,
    log2,
    log10,
    modf,
    nan,
    pi,
    pow,
    radians,
    remainder,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
    tau,
    trunc,
)

from ....engine.api import constant, export

__all__ = ["Lf", "Li", "Nt", "Uf", "Ui", "hypot"]


@export("contrib.specs.Uf")
def Uf(lo: float = 0.0, hi: float = 1.0) -> float:
    """A float between two, each as likely."""
    return random.uniform(lo, hi)


@export("contrib.specs.Ui")
def Ui(lo: int, hi: int) -> int:
    """An integer between two, both included, each as likely."""
    return random.randint(lo, hi)


@export("contrib.specs.Lf")
def Lf(lo: float, hi: float) -> float:
    """A float between two, whose logarithms are as likely."""
    return math.exp(random.uniform(math.log(lo), math.log(hi)))


@export("contrib.specs.Li")
def Li(lo: int, hi: int) -> int:
    """An integer between two, both included, whose logarithms are as likely."""
    return math.floor(math.exp(random.uniform(math.log(lo), math.log(hi + 1 - 1e-5))))


@export("contrib.specs.Nt")
def Nt(mu: float, sigma: float, limit: float = 3.0) -> float:
    """A normal float, moved to at most `limit` standard deviations from the mean."""
    return min(max(random.gauss(mu, sigma), mu - limit * sigma), mu + limit * sigma)


# Names of `math` that Python 3.7 had, which TensorFlow's package shows; expressions have all.
_MATH = {
    "acos": acos,
    "acosh": acosh,
    "asin": asin,
    "asinh": asinh,
    "atan": atan,
    "atan2": atan2,
    "atanh": atanh,
    "ceil": ceil,
    "copysign": copysign,
    "cos": cos,
    "cosh": cosh,
    "degrees": degrees,
    "e": e,
    "erf": erf,
    "erfc": erfc,
    "exp": exp,
    "expm1": expm1,
    "fabs": fabs,
    "factorial": factorial,
    "floor": floor,
    "fmod": fmod,
    "frexp": frexp,
    "fsum": fsum,
    "gamma": gamma,
    "gcd": gcd,
    "inf": inf,
    "isclose": isclose,
    "isfinite": isfinite,
    "isinf": isinf,
    "isnan": isnan,
    "ldexp": ldexp,
    "lgamma": lgamma,
    "log": log,
    "log10": log10,
    "log1p": log1p,
    "log2": log2,
    "modf": modf,
    "nan": nan,
    "pi": pi,
    "pow": pow,
    "radians": radians,
    "remainder": remainder,
    "sin": sin,
    "sinh": sinh,
    "sqrt": sqrt,
    "tan": tan,
    "tanh": tanh,
    "tau": tau,
    "trunc": trunc,
}
for _name, _thing in _MATH.items():
    constant(f"contrib.specs.{_name}", _thing)
