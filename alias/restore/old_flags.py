# SPDX-License-Identifier: Apache-2.0
"""What `tf.flags` had before it was absl's."""

from __future__ import annotations

import sys
from typing import Any


def parse_flags(values: Any, args: list[str] | None = None) -> list[str]:
    """Reads flags from the command line, if that has not been done; what is left of it.

    Args:
        values: absl's FlagValues.
        args: the words behind the program's name; those of the process if None.
    """
    if values.is_parsed() and args is None:
        return []
    return list(values([sys.argv[0], *(sys.argv[1:] if args is None else args)])[1:])


def take_any_name(values: Any) -> None:
    """Has names that are no flags take values, as before TensorFlow 1.5: `FLAGS.out_dir = …`.

    Args:
        values: absl's FlagValues.
    """

    def make(name: str, value: Any) -> Any:
        from absl import flags

        flag: Any = flags.Flag(flags.ArgumentParser(), None, name, None, "")
        flag.value = value
        values[name] = flag
        return value

    values._register_unknown_flag_setter(make)


def give_attributes(values: Any) -> None:
    """Has flags with hyphens be attributes with underscores, as argparse made them then.

    Args:
        values: absl's FlagValues.
    """
    kind: Any = type(values)

    class Values(kind):  # type: ignore[misc]
        """Flags that have the attributes of argparse."""

        def __getattr__(self, name: str) -> Any:
            try:
                return super().__getattr__(name)
            except AttributeError:
                for flag in self._flags():
                    if flag != name and flag.replace("-", "_") == name:
                        return super().__getattr__(flag)
                raise

    # (Its own `__setattr__` makes flags.)
    object.__setattr__(values, "__class__", Values)
