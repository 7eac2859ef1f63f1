# SPDX-License-Identifier: Apache-2.0
"""`numbaflow cache …`: the folder of compiled kernels, for people (tables) and scripts (--json).

Exit codes: 0 all is well; 1 what was asked about is missing or damaged; 2 wrong usage.
The logic is in jit/cache/admin.py.  Imports typer and rich.
"""

from __future__ import annotations

import json
import re
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer.core import TyperGroup

from ..engine.printable import LINES, printable, say
from ..jit.cache import admin, kernel_text, store
from ..jit.cache.checked_files import Folder, Item
from ..jit.cache.machine_files import HOSTS, WALKERS
from ..jit.cache.plan_files import PLANS
from ..jit.cache.program_files import PROGRAMS
from ..jit.report.plan_text import counted, size_text


class _Group(TyperGroup):
    """Commands whose trouble with files becomes a message."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # who read the output has seen enough: click ends quietly
        except OSError as error:
            known = error.filename and error.strerror
            fail(f"{error.filename}: {error.strerror}" if known else error)
        except store.Untrusted as error:
            fail(error)


app = typer.Typer(
    cls=_Group,
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Look after the folder of compiled kernels.",
    epilog="Exit codes: 0, all is well; 1, what was asked about is missing or damaged, or could "
    "not be done; 2, wrong usage.  Every command takes --json.",
)
JSON = typer.Option(False, "--json", help="Print JSON.")
DRY = typer.Option(False, "--dry-run", help="Only say what would be removed.")
# What lies beside the kernels.
_FOLDERS = (PLANS, PROGRAMS, HOSTS, WALKERS)
KEY = typer.Argument(metavar="KEY", help="A kernel's key, or the beginning of one.")

_BYTES = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "KI": 2**10, "MI": 2**20, "GI": 2**30}
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_ORDERS = {
    "used": lambda item: -item.last_used,
    "created": lambda item: -item.created,
    "size": lambda item: -item.bytes,
    "time": lambda item: -item.seconds,
    "name": lambda item: item.name,
}


def print_table(table: Table) -> None:
    """Prints a table for people; as wide as it needs where no terminal shows it."""
    console = Console(highlight=False)
    if console.is_terminal:
        console.print(table)
        return
    wide = Console(width=10_000, highlight=False)
    with wide.capture() as captured:
        wide.print(table)
    print("\n".join(line.rstrip() for line in captured.get().splitlines()))


def print_facts(facts: dict[str, str]) -> None:
    """Prints names and values, one pair a line."""
    table = Table.grid(padding=(0, 2))
    for name, value in facts.items():
        table.add_row(Text(printable(name), "bold"), Text(printable(value), overflow="fold"))
    print_table(table)


def print_json(thing: object) -> None:
    """Prints a value for scripts."""
    print(json.dumps(thing, indent=1))


def fail(message: object, code: int = 1) -> NoReturn:
    """Says on stderr what is wrong and ends the command."""
    typer.echo(f"numbaflow: {printable(message, LINES)}", err=True)
    raise typer.Exit(code)


def age_text(seconds: float) -> str:
    """An age in the largest unit that fits."""
    for unit in ("d", "h", "m"):
        if seconds >= _SECONDS[unit]:
            return f"{seconds / _SECONDS[unit]:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


def _bytes(text: str) -> float:
    match = re.fullmatch(r"(\d+\.?\d*)\s*([KMGT]I?)?B?", text.strip().upper())
    if match is None or (match[2] or "") not in _BYTES:
        raise typer.BadParameter(f"{text!r} is no size; write 500M, 2G or a number of bytes")
    return float(match[1]) * _BYTES[match[2] or ""]


def _age(text: str) -> float:
    match = re.fullmatch(r"(\d+\.?\d*)\s*([smhdw])", text.strip())
    if match is None:
        raise typer.BadParameter(f"{text!r} is no age; write 30d, 12h, 2w")
    return float(match[1]) * _SECONDS[match[2]]


def _find(key: str) -> admin.Item:
    try:
        return admin.find(key)
    except admin.NoSuchKernel as error:
        fail(error)


@app.command("path")
def path(as_json: bool = JSON) -> None:
    """Print the cache folder (set by NUMBAFLOW_CACHE)."""
    folder = str(store.folder())
    print_json({"path": folder}) if as_json else say(folder)


@app.command("list")
def list_entries(
    text: str = typer.Argument(
        "", help="Only kernels whose name, operations or line of the program contain this."
    ),
    sort: str = typer.Option("used", help="By used, created, size, time or name."),
    limit: int = typer.Option(40, min=0, help="Show so many; 0 shows all."),
    as_json: bool = JSON,
) -> None:
    """List kernels, those used last first."""
    if sort not in _ORDERS:
        raise typer.BadParameter(f"{sort!r} is none of {', '.join(_ORDERS)}", param_hint="--sort")
    every = admin.items()
    items = sorted((item for item in every if item.mentions(text)), key=_ORDERS[sort])
    if as_json:
        print_json([item.as_dict() for item in items])
        return
    if not items:
        say(f"no kernel mentions {text!r}" if every else _empty())
        return
    shown = items[:limit] if limit else items
    print_table(_table(shown))
    if len(shown) < len(items):
        say(f"{len(shown)} of {len(items)} kernels; --limit 0 lists all")


def _empty() -> str:
    return (
        f"there are no kernels in {store.folder()}; they come when a program runs, or with "
        "`numbaflow compile`"
    )


def _table(items: list[admin.Item]) -> Table:
    """The kernels in as many columns as there is room for."""
    rows = [_row(item) for item in items]
    titles = list(rows[0])
    console = Console()
    for title in ("compiled in", "last used", "uses", "target", "size"):
        widths = {name: max(len(name), *(len(row[name]) for row in rows)) for name in titles}
        if not console.is_terminal or sum(widths.values()) - widths["from"] + 36 < console.width:
            break
        titles.remove(title)
    table = Table(box=None, pad_edge=False)
    for title in titles:
        right = title in ("size", "compiled in", "uses", "last used")
        table.add_column(title, justify="right" if right else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(row[title]) for title in titles))
    return table


def _row(item: admin.Item) -> dict[str, str]:
    row = {
        "key": item.key[:12],
        "kernel": item.name or "(damaged)" * bool(item.problem) or "(other version)",
        "size": size_text(item.bytes),
        "compiled in": f"{item.seconds * 1e3:.0f} ms",
        "uses": str(item.uses),
        "last used": age_text(time.time() - item.last_used) if item.uses else "never",
        "target": item.cpu,
        "from": _origin(item),
    }
    return {title: printable(text) for title, text in row.items()}


def _origin(item: admin.Item) -> str:
    """The last operation in a kernel and the user's line; kernels without are of all programs."""
    if not item.ops:
        return "" if item.problem or not item.name else "numbaflow itself"
    more = f" +{len(item.ops) - 1}" if len(item.ops) > 1 else ""
    return f"{item.ops[-1]}{more} {Path(item.line).name}".strip()


@app.command("show")
def show(
    key: str = KEY,
    source: bool = typer.Option(True, help="Print the kernel's source too."),
    assembly: bool = typer.Option(False, "--assembly", help="Print the machine code too."),
    as_json: bool = JSON,
) -> None:
    """Show a kernel: where it comes from, what it computes (IR), its key, size and source."""
    item = _find(key)
    texts: dict[str, str] = {}
    if not item.problem and item.name:
        texts = dict(zip(("ir", "source"), kernel_text.split_header(_source(item))))
        with _damage_of(item):
            texts |= {"assembly": admin.assembly_of(item)} if assembly else {}
    if not source:
        texts.pop("source", None)
    if as_json:
        print_json(item.as_dict() | texts)
    else:
        print_facts(_facts(item))
        for title, text in texts.items():
            if text:
                say(f"\n{title}\n\n{textwrap.indent(text.rstrip(), '    ')}")
    if item.problem:
        fail(f"kernel {item.key} is damaged: {item.problem}")


def _source(item: admin.Item) -> str:
    with _damage_of(item):
        return admin.source_of(item)


@contextmanager
def _damage_of(item: admin.Item) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        fail(f"kernel {item.key}: {error}")


def _facts(item: admin.Item) -> dict[str, str]:
    now = time.time()
    used = f"{item.uses}, the last {age_text(now - item.last_used)} ago" if item.uses else "none"
    facts = {
        "key": item.key,
        "kernel": item.name,
        "operations": ", ".join(item.ops) or "none: part of numbaflow itself" * bool(item.name),
        "graph": item.graph,
        "line": item.line,
        "machine code": f"{size_text(item.code_bytes)} of instructions",
        "on disk": size_text(item.bytes),
        "compiled": f"{age_text(now - item.created)} ago in {item.seconds * 1e3:.0f} ms",
        "hits": f"{used} (processes that have loaded it)",
        "path": str(item.place),
        **{f"  {name}": _label(name, value) for name, value in item.labels.items()},
    }
    return {name: value for name, value in facts.items() if value}


def _label(name: str, value: str) -> str:
    if name != "features":
        return value
    return " ".join(word for word in value.split(",") if word.startswith("+"))


@app.command("stats")
def stats(as_json: bool = JSON) -> None:
    """Sums over the cache: size, time spent and saved, targets, kinds of kernels."""
    totals, others = admin.totals(), {folder: folder.items() for folder in _FOLDERS}
    if as_json:
        counts = {folder.name: len(found) for folder, found in others.items()}
        print_json(asdict(totals) | counts)
        return
    hints = {
        "outdated": (totals.outdated, "`numbaflow cache prune --outdated` removes them"),
        "damaged": (totals.damaged, "`numbaflow cache verify` says why"),
        "leftovers": (totals.leftovers, "of processes that died; later ones remove them"),
    }
    print_facts(
        {
            "folder": totals.folder,
            "kernels": f"{totals.kernels}, {size_text(totals.bytes)} on disk",
            "compiling": f"took {totals.compile_seconds:.1f} s",
            "saved": f"{totals.saved_seconds:.1f} s in {totals.uses} uses",
            **{name: f"{count}: {hint}" for name, (count, hint) in hints.items() if count},
            **{folder.name: _count_and_size(found) for folder, found in others.items()},
            "targets": _counts(totals.targets),
            "kinds": _counts(totals.names),
        }
    )


def _count_and_size(items: list[Item]) -> str:
    return f"{len(items)}, {size_text(sum(item.bytes for item in items))}"


def _counts(counts: dict[str, int]) -> str:
    shown = [f"{name or '?'}: {count}" for name, count in list(counts.items())[:8]]
    return ", ".join(shown) + (" …" if len(counts) > 8 else "")


@app.command("verify")
def verify(
    fix: bool = typer.Option(False, "--fix", help="Remove what is damaged."),
    as_json: bool = JSON,
) -> None:
    """Read every kernel and check it; exit code 1 if some are damaged (and not removed)."""
    count, problems = admin.verify()
    counts, removed = {}, []
    for folder in _FOLDERS:
        items = folder.items()
        counts[folder] = len(items)
        faults = {item: reason for item in items if (reason := folder.fault(item))}
        problems += [
            admin.Problem(item.key, f"{folder.what}: {reason}") for item, reason in faults.items()
        ]
        removed += [item.key for item in faults if fix and folder.remove(item)]
    if fix:
        removed += [p.key for p in problems if p.key and store.remove(store.folder() / p.key)]
        store.sweep(store.folder(), 60)
    if as_json:
        found = [asdict(problem) for problem in problems]
        facts = {"kernels": count} | {folder.name: number for folder, number in counts.items()}
        print_json(facts | {"problems": found, "removed": removed})
    else:
        for problem in problems:
            what = " (removed)" if problem.key in removed else ""
            say(f"{problem.key or store.folder()}: {problem.reason}{what}")
        checked = f"{counted(count, 'kernel')}{_and_others(counts)}"
        say(f"{checked} checked, {len(problems) or 'none'} damaged")
    if len(removed) < len(problems):
        raise typer.Exit(1)


@app.command("prune")
def prune(
    max_size: str = typer.Option(
        "", help="Remove those used longest ago until the rest fits, such as 500M."
    ),
    older_than: str = typer.Option("", help="Remove those not used for so long, such as 30d."),
    outdated: bool = typer.Option(False, help="Remove those of other compiler versions."),
    dry_run: bool = DRY,
    as_json: bool = JSON,
) -> None:
    """Remove kernels that are not worth keeping; damaged ones go too."""
    if not (max_size or older_than or outdated):
        raise typer.BadParameter("say what may go: --max-size, --older-than or --outdated")
    most = int(_bytes(max_size)) if max_size else None
    age = _age(older_than) if older_than else None
    gone = admin.prune(most, age, outdated, dry_run)
    others = _pruned_others(most, age, outdated, dry_run)
    size = sum(item.bytes for item in gone)
    size += sum(item.bytes for items in others.values() for item in items)
    if as_json:
        keys = {folder.name: [item.key for item in items] for folder, items in others.items()}
        print_json({"removed": [item.key for item in gone]} | keys | {"bytes": size})
        return
    verb = "would remove" if dry_run else "removed"
    counts = {folder: len(items) for folder, items in others.items()}
    say(f"{verb} {counted(len(gone), 'kernel')}{_and_others(counts)}, {size_text(size)}")


def _and_others(counts: dict[Folder, int]) -> str:
    """What there is beside kernels: " and 2 plans"."""
    return "".join(
        f" and {counted(count, folder.what)}" for folder, count in counts.items() if count
    )


def _pruned_others(
    most: int | None, age: float | None, outdated: bool, dry_run: bool
) -> dict[Folder, list[Item]]:
    """Prunes what lies beside kernels, which has the room that these leave."""
    from ..alias.restore.compiled import labels_of_all
    from ..jit.runtime import plan_key

    room = None if most is None else max(most - sum(item.bytes for item in admin.items()), 0)
    now = dict(plan_key.version_labels())
    compiler = {name: now[name] for name in ("numba", "llvmlite")}
    labels = {
        PLANS: now,
        PROGRAMS: labels_of_all(),
        WALKERS: compiler,
        HOSTS: {"llvmlite": now["llvmlite"]},
    }
    found = {}
    for folder in _FOLDERS:
        found[folder] = folder.prune(room, age, labels[folder] if outdated else None, dry_run)
        if room is not None:
            gone = sum(item.bytes for item in found[folder])
            left = sum(item.bytes for item in folder.items()) - (gone if dry_run else 0)
            room = max(room - left, 0)
    return found


@app.command("clear")
def clear(as_json: bool = JSON) -> None:
    """Remove all kernels, plans and compiled programs."""
    count, others = store.clear(), {folder: folder.clear() for folder in _FOLDERS}
    store.sweep(store.folder(), 60)
    left = len(store.entries())
    if as_json:
        counts = {folder.name: number for folder, number in others.items()}
        print_json({"removed": count} | counts | {"left": left})
    else:
        say(f"removed {counted(count, 'kernel')}{_and_others(others)}")
    if left:
        fail(f"{counted(left, 'kernel')} could not be removed from {store.folder()}")


@app.command("export")
def export(
    file: Path = typer.Argument(help="The archive to write, such as kernels.tar.gz."),
    keys: list[str] = typer.Option([], "--key", help="Only this kernel; may be repeated."),
    as_json: bool = JSON,
) -> None:
    """Write kernels to an archive, to warm other machines."""
    from ..jit.cache import kernel_archive

    items = [_find(key) for key in keys] if keys else admin.items()
    count = kernel_archive.export(file, [item for item in items if not item.problem])
    if as_json:
        print_json({"file": str(file), "kernels": count})
    else:
        say(f"wrote {counted(count, 'kernel')} to {file}")


@app.command("import")
def import_(
    file: Path = typer.Argument(help="An archive that `export` wrote.  Trust it as a program."),
    as_json: bool = JSON,
) -> None:
    """Add the kernels of an archive, which holds machine code: trust it as a program."""
    from ..jit.cache import kernel_archive

    try:
        done = kernel_archive.load(file)
    except kernel_archive.NoArchive as error:
        fail(error)
    if as_json:
        print_json(asdict(done))
    else:
        for key, reason in done.refused.items():
            say(f"{key}: refused: {reason}")
        say(f"added {counted(len(done.added), 'kernel')}, {len(done.present)} were there already")
    if done.refused:
        raise typer.Exit(1)


@app.command("explain")
def explain(
    key: str = KEY,
    diff: bool = typer.Option(False, "--diff", help="Show how the sources differ."),
    as_json: bool = JSON,
) -> None:
    """Say why a kernel had to be compiled: the nearest other one, and what differs."""
    item = _find(key)
    if item.problem:
        fail(f"kernel {item.key} is damaged: {item.problem}")
    others = [i for i in admin.items() if not i.problem and i.key != item.key]
    others = [i for i in others if i.created <= item.created] or others
    source = _source(item)
    near = admin.nearest(item.labels, source, item.name, others)
    if near is None:
        none = "the cache has no other kernel like it"
        print_json({"key": item.key, "nearest": None}) if as_json else say(none)
        return
    other, alike = near
    changes = [
        "the source: --diff shows how" if change.startswith("kernel ") else change
        for change in admin.differences(item.labels, other.labels)
    ]
    lines = list(admin.changed_lines(source, _source(other)))
    if as_json:
        found = {"key": item.key, "nearest": other.key, "alike": alike, "labels": changes}
        print_json(found | {"diff": lines})
        return
    say(f"nearest: {other.key[:12]} {other.name} {_origin(other)} ({alike:.0%} of the lines)")
    say("\n".join(f"  differs in {change}" for change in changes))
    if diff:
        say("\n".join(lines))
