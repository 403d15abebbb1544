"""`fuzz diff`: what fails in one of two builds of TVM alone."""

from __future__ import annotations

import typer

from fuzzer.campaign.plan.selection import ops_of_dialects
from fuzzer.commands.diff_options import FOLDER, DiffOptions
from fuzzer.commands.diff_run import ToCompare, comparison_of
from fuzzer.commands.with_options import with_options
from fuzzer.difference.changed_code import changed_code
from fuzzer.difference.kept_cases import kept_in
from fuzzer.difference.pair import pair
from fuzzer.difference.reports import FORMS, check_places
from fuzzer.difference.reports.terminal import document, lines
from fuzzer.difference.runs import cases_of_earlier_runs
from fuzzer.difference.verdict import verdict
from fuzzer.system.files import own_folder, write_output
from fuzzer.system.terminal import echo, print_json, say
from generators.dialect_names import NAMES


@with_options(DiffOptions)
def diff(options: DiffOptions) -> None:
    """Compare two builds of TVM: run the same cases in both, and report what fails in the patched one alone.

    Findings go to DIR/N/crashes, and what fails in the base alone to DIR/N/fixed. The cases of the findings of earlier
    runs in DIR run first. Exit code 0 where nothing is worse, 1
    where something is, 2 where no case reaches the changed code."""
    check_places(options.reports.values())
    both = pair(options.base, options.patched, options.base_preload, options.patched_preload)
    code = changed_code(both, options.changed or ())
    for path in code.unbuilt:
        say(f"difftvm: {path} is part of no build; it does not count as changed code")
    own_folder(options.campaign, FOLDER)
    kept = (*cases_of_earlier_runs(options.campaign), *kept_in(options.cases or ()))
    compared = comparison_of(options, ToCompare(both, code, kept, ops_of_dialects(options.ops, ",".join(NAMES))))
    if options.json:
        print_json(document(compared))
    else:
        for line in lines(compared):
            echo(line)
    for form, file in options.reports.items():
        write_output(file, FORMS[form](compared).encode())
    raise typer.Exit(verdict(compared))
