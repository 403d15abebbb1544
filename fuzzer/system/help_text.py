"""The text of `--help`: options in groups, and examples below them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typer.core import TyperArgument, TyperCommand

OTHERS = "Others"
"""The group of options that a verb puts into none."""


class GroupedCommand(TyperCommand):
    """A verb whose options are listed in groups. `groups` has the names of the options of each group, in order."""

    groups: Mapping[str, tuple[str, ...]] = {}
    examples: tuple[str, ...] = ()

    def format_options(self, ctx: Any, formatter: Any) -> None:
        of = {name: group for group, names in self.groups.items() for name in names}
        listed: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        listed |= {group: [] for group in self.groups}
        for param in self.get_params(ctx):
            if (row := param.get_help_record(ctx)) is not None:
                if isinstance(param, TyperArgument):
                    listed["Arguments"].append((param.metavar or param.name or "", row[1]))
                else:
                    group = of.get(param.name or "", OTHERS if self.groups else "Options")
                    listed.setdefault(group, []).append((_without_brackets(row[0]), row[1]))
        for group, rows in listed.items():
            if rows:
                with formatter.section(group):
                    formatter.write_dl(rows)
        if self.examples:
            with formatter.section("Examples"):
                formatter.write_dl([tuple(example.split("  ", 1)) for example in self.examples])


def _without_brackets(option: str) -> str:
    """`--by <age|kind>` is `--by age|kind`."""
    return option.replace("<", "").replace(">", "")
