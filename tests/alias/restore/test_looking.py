# SPDX-License-Identifier: Apache-2.0
"""What is restored in a program's files looks at nothing that is no array."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from numbaflow.alias.restore import calls, libraries

pytestmark = pytest.mark.pure


class Lazy:
    """As modules of six: looked at, it would be imported."""

    @property
    def shape(self) -> tuple[int, ...]:
        raise ModuleNotFoundError("it was looked at")


def test_what_is_put_into_a_dict_is_not_looked_at() -> None:
    value = Lazy()
    assert calls.element(value, {}) is value
    assert calls.element(np.ones(1), np.zeros(3)).shape == ()


def test_packages_in_a_folder_of_the_program_are_installed(tmp_path: Path) -> None:
    (tmp_path / "libs" / "tool-1.0.dist-info").mkdir(parents=True)
    (tmp_path / "mine.egg-info").mkdir()
    assert libraries.is_installed("tool.part", str(tmp_path / "libs" / "tool" / "part.py"))
    assert libraries.is_installed("tool", str(tmp_path / "libs" / "tool" / "__init__.py"))
    assert not libraries.is_installed("mine", str(tmp_path / "mine.py"))
