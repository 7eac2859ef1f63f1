# SPDX-License-Identifier: Apache-2.0
"""What matplotlib has moved or given up."""

from __future__ import annotations

from typing import Any

import numpy as np

from .use import note


def hold(b: bool | None = None) -> None:
    """Nothing: what is drawn is always added."""


def ishold() -> bool:
    """Whether what is drawn is added: always."""
    return True


def hold_axes(self: Any, b: bool | None = None) -> None:
    """Nothing: what is drawn is always added."""


def get_cmap(name: Any = None, lut: int | None = None) -> Any:
    """A map of colours by its name."""
    import matplotlib

    found = matplotlib.colormaps.get_cmap(name)
    return found if lut is None else found.resampled(lut)


def register_cmap(name: str | None = None, cmap: Any = None, **options: Any) -> None:
    """Gives a map of colours a name."""
    import matplotlib

    matplotlib.colormaps.register(cmap, name=name, force=bool(options.get("override_builtin")))


def window_title(self: Any, title: str) -> None:
    """The title of a figure's window, if it has one."""
    if self.manager is not None:
        self.manager.set_window_title(title)


def normpdf(x: Any, mu: float, sigma: float) -> Any:
    """The density of a normal distribution."""
    z = (np.asarray(x) - mu) / sigma
    return np.exp(-0.5 * z * z) / (np.sqrt(2 * np.pi) * sigma)


def bivariate_normal(
    X: Any,
    Y: Any,
    sigmax: float = 1.0,
    sigmay: float = 1.0,
    mux: float = 0.0,
    muy: float = 0.0,
    sigmaxy: float = 0.0,
) -> Any:
    """The density of a normal distribution over the plane."""
    x, y = (X - mux) / sigmax, (Y - muy) / sigmay
    rho = sigmaxy / (sigmax * sigmay)
    free = 1 - rho**2
    z = x**2 + y**2 - 2 * rho * x * y
    return np.exp(-z / (2 * free)) / (2 * np.pi * sigmax * sigmay * np.sqrt(free))


def plot_date(*args: Any, fmt: str = "o", tz: Any = None, xdate: bool = True, **kwargs: Any) -> Any:
    """Points at dates."""
    import matplotlib.pyplot as plt

    if xdate:
        plt.gca().xaxis_date(tz)
    return plt.plot(*args[:2], *(args[2:] or (fmt,)), **kwargs)


def __getattr__(name: str) -> Any:
    """`cmap_d`, the maps of colours by their names.

    Raises:
        AttributeError: for any other name.
    """
    if name != "cmap_d":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import matplotlib

    return {key: matplotlib.colormaps[key] for key in matplotlib.colormaps}


def tostring_rgb(self: Any) -> bytes:
    """The pixels of a canvas, three bytes each."""
    return bytes(np.asarray(self.buffer_rgba())[..., :3].tobytes())


def w_xaxis(self: Any) -> Any:
    """The first axis of three."""
    return self.xaxis


def w_yaxis(self: Any) -> Any:
    """The second axis of three."""
    return self.yaxis


def w_zaxis(self: Any) -> Any:
    """The third axis of three."""
    return self.zaxis


def set_clim(self: Any, vmin: Any = None, vmax: Any = None) -> None:
    """The range of what a bar of colours is of."""
    self.mappable.set_clim(vmin, vmax)


# Settings that were given up; what was set by them is not to be set any more.
_GONE = frozenset(
    "animation.avconv_args animation.avconv_path animation.html_args axes.color_cycle datapath "
    "examples.directory keymap.all_axes mathtext.fallback_to_cm savefig.frameon "
    "savefig.jpeg_quality text.dvipnghack text.latex.preview text.latex.unicode verbose.fileo "
    "verbose.level".split()
)
_PREAMBLES = ("pgf.preamble", "text.latex.preamble")


def lenient_settings() -> None:
    """From here on `rcParams` takes preambles as lists of lines, and settings that are gone."""
    import matplotlib
    from cycler import cycler

    own = matplotlib.RcParams.__setitem__

    def set_item(self: Any, key: str, value: Any) -> None:
        if key in _PREAMBLES and isinstance(value, (list, tuple)):
            note(f"rcParams[{key!r}] = [...]", "matplotlib 3.3")
            value = "\n".join(value)
        if key in _GONE and key not in self.validate:
            note(f"rcParams[{key!r}]", "matplotlib 3.0 to 3.8")
            if key == "axes.color_cycle":
                own(self, "axes.prop_cycle", cycler(color=list(value)))
            return
        own(self, key, value)

    matplotlib.RcParams.__setitem__ = set_item
