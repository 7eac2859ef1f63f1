# SPDX-License-Identifier: Apache-2.0
"""`numbaflow check`: what programs use of TensorFlow and what of that is not here.

Nothing of them is run.  Exit codes: 0 all is here; 1 something is missing; 2 wrong usage.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from ..engine.printable import say
from .cache import fail, print_json

PATHS = typer.Argument(help="Programs, and folders of programs.")
JSON = typer.Option(False, "--json", help="Print JSON.")
# How many lines are listed for a name.
_LINES = 5


def check(paths: list[Path] = PATHS, as_json: bool = JSON) -> None:
    """Say what programs need of TensorFlow and of old libraries, without running them."""
    from ..alias.restore import reading

    programs = [reading.read(str(file), file.read_bytes()) for file in _files(paths)]
    if as_json:
        print_json(_data(programs))
    else:
        for program in programs:
            _show(program)
        say(_summary(programs))
    if any(program.missing or program.error for program in programs):
        raise typer.Exit(1)


def _files(paths: list[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            for folder, inside, names in os.walk(path):
                inside[:] = sorted(name for name in inside if not name.startswith("."))
                yield from (Path(folder, name) for name in sorted(names) if name.endswith(".py"))
        elif path.is_file():
            yield path
        else:
            fail(f"there is no {path}", 2)


def _lines(lines: list[int]) -> str:
    unique = sorted(set(lines))
    text = ", ".join(map(str, unique[:_LINES]))
    more = f" and {len(unique) - _LINES} more" if len(unique) > _LINES else ""
    return f"line{'s' if len(unique) > 1 else ''} {text}{more}"


def _show(program: Any) -> None:
    from ..alias.restore.reading import shown

    if program.error:
        say(f"{program.file}: cannot be read as Python 3: {program.error}")
        return
    if not program.names and not program.restored:
        return
    say(
        f"{program.file}: {_count(program.names, 'name')} of TensorFlow, "
        f"{len(program.missing)} missing, {len(program.restored)} to be restored"
    )
    for name, why in sorted(program.missing.items()):
        say(f"  missing   {shown(name)}, {_lines(program.names[name])}: {why}")
    for name, lines in sorted(program.restored.items()):
        say(f"  restored  {name}, {_lines(lines)}")


def _count(things: Any, word: str) -> str:
    return f"{len(things)} {word}{'' if len(things) == 1 else 's'}"


def _summary(programs: list[Any]) -> str:
    names = {name for program in programs for name in program.names}
    missing = Counter(name for program in programs for name in program.missing)
    restored = {name for program in programs for name in program.restored}
    broken = sum(bool(program.error) for program in programs)
    text = (
        f"{_count(programs, 'file')}: {_count(names, 'name')} of TensorFlow, {len(missing)} missing"
    )
    if missing:
        most = ", ".join(_shown(name) for name, _ in missing.most_common(3))
        text += f" ({most}{', …' if len(missing) > 3 else ''})"
    text += f"; {len(restored)} old names that `numbaflow run` restores"
    return text + (f"; {_count(range(broken), 'file')} not of Python 3" if broken else "")


def _shown(name: str) -> str:
    from ..alias.restore.reading import shown

    return shown(name)


def _data(programs: list[Any]) -> dict[str, Any]:
    return {
        "files": [
            {
                "file": program.file,
                "error": program.error,
                "names": {_shown(name): lines for name, lines in program.names.items()},
                "missing": {_shown(name): why for name, why in program.missing.items()},
                "restored": program.restored,
            }
            for program in programs
        ],
        "summary": _summary(programs),
    }
