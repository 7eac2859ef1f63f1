# SPDX-License-Identifier: Apache-2.0
"""logf, sinf and cosf to the last bit as the C library of Linux has them.

TensorFlow's normal numbers come from these functions, and equal numbers need equal bits.  The
methods are those of Arm's optimized routines (a table of 1/c and log(c), short polynomials in
double precision, one rounding to single); the numbers below are its constants.  Here for NumPy, in
jit/library/random_kernels.py for kernels.  Imports NumPy only.
"""

from __future__ import annotations

from functools import cache

import numpy as np

# 1/c and log(c) for 16 intervals of the mantissa.
_LOG_TABLE = """
0x1.661ec79f8f3bep+0 -0x1.57bf7808caadep-2   0x1.571ed4aaf883dp+0 -0x1.2bef0a7c06ddbp-2
0x1.49539f0f010bp+0 -0x1.01eae7f513a67p-2    0x1.3c995b0b80385p+0 -0x1.b31d8a68224e9p-3
0x1.30d190c8864a5p+0 -0x1.6574f0ac07758p-3   0x1.25e227b0b8eap+0 -0x1.1aa2bc79c81p-3
0x1.1bb4a4a1a343fp+0 -0x1.a4e76ce8c0e5ep-4   0x1.12358f08ae5bap+0 -0x1.1973c5a611cccp-4
0x1.0953f419900a7p+0 -0x1.252f438e10c1ep-5   0x1p+0 0x0p+0
0x1.e608cfd9a47acp-1 0x1.aa5aa5df25984p-5    0x1.ca4b31f026aap-1 0x1.c5e53aa362eb4p-4
0x1.b2036576afce6p-1 0x1.526e57720db08p-3    0x1.9c2d163a1aa2dp-1 0x1.bc2860d22477p-3
0x1.886e6037841edp-1 0x1.1058bc8a07ee1p-2    0x1.767dcf5534862p-1 0x1.4043057b6ee09p-2
"""
_NUMBERS = {
    "LN2": "0x1.62e42fefa39efp-1",
    "A0": "-0x1.00ea348b88334p-2",
    "A1": "0x1.5575b0be00b6ap-2",
    "A2": "-0x1.ffffef20a4123p-2",
    # Times 2 ** 24, so that whole quarter turns are what an int32 has above its 24th bit; hence
    # angles below 120, and 0x800000 to round to the nearest.
    "TWO_OVER_PI": "0x1.45F306DC9C883p+23",
    "HALF_PI": "0x1.921FB54442D18p0",
    "S1": "-0x1.555545995a603p-3",
    "S2": "0x1.1107605230bc4p-7",
    "S3": "-0x1.994eb3774cf24p-13",
    "C1": "-0x1.ffffffd0c621cp-2",
    "C2": "0x1.55553e1068f19p-5",
    "C3": "-0x1.6c087e89a359dp-10",
    "C4": "0x1.99343027bf8c3p-16",
}
CONSTANTS = {name: float.fromhex(text) for name, text in _NUMBERS.items()}


@cache
def log_table() -> np.ndarray:
    """32 doubles: 1/c and log(c), alternating."""
    return np.array([float.fromhex(text) for text in _LOG_TABLE.split()])


def logf(x: np.ndarray) -> np.ndarray:
    """The natural logarithm of positive normal float32 numbers."""
    k = CONSTANTS
    table = log_table()
    bits = x.view(np.uint32)
    # 0x3F330000 is about 0.7: mantissas lie in [0.7, 1.4) then, and of numbers near 1, whose
    # logarithm is near 0, no multiple of log(2) has to be taken away.
    shifted = bits - np.uint32(0x3F330000)
    interval = (shifted >> np.uint32(19)) % 16
    exponent = shifted.view(np.int32) >> 23
    mantissa = (bits - (shifted & np.uint32(0xFF800000))).view(np.float32).astype(np.float64)
    r = mantissa * table[2 * interval] - 1
    near = table[2 * interval + 1] + exponent * k["LN2"]
    square = r * r
    # The brackets are part of the method: sums in another order round otherwise.
    y = k["A0"] * square + (k["A1"] * r + k["A2"])
    return np.asarray(y * square + (near + r)).astype(np.float32)


def sincosf(angle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sine and cosine of float32 angles below 120."""
    k = CONSTANTS
    x = angle.astype(np.float64)
    turns = ((x * k["TWO_OVER_PI"]).astype(np.int32) + 0x800000) >> 24
    # (The C library's short way for small angles; for them 0 follows from the line above as well.)
    turns = np.where(np.abs(angle) < np.float32(np.pi / 4), 0, turns)
    x = x - turns * k["HALF_PI"]
    square = x * x
    x = x * np.where((turns + 1) & 2, -1.0, 1.0)
    cube, fourth = square * x, square * square
    sine = x + cube * k["S1"] + cube * square * (k["S2"] + square * k["S3"])
    cosine = (1 + square * k["C1"]) + fourth * k["C2"]
    cosine = cosine + fourth * square * (k["C3"] + square * k["C4"])
    cosine = np.where(turns & 2, -cosine, cosine)
    sine, cosine = sine.astype(np.float32), cosine.astype(np.float32)
    odd = (turns & 1).astype(bool)
    return np.where(odd, cosine, sine), np.where(odd, sine, cosine)
