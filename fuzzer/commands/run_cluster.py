"""`fuzz run --cluster`: a campaign on the nodes of a Ray cluster."""

from __future__ import annotations

import os
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

import typer

from fuzzer.campaign.plan import last_run
from fuzzer.campaign.store.store import Store
from fuzzer.cluster.campaign import run_campaign
from fuzzer.cluster.driver import ClusterOptions, Driver
from fuzzer.commands.run_options import RunOptions
from fuzzer.commands.run_summary import CAUSES_SHOWN, NEW_SHOWN
from fuzzer.system.exit_codes import Exit
from fuzzer.system.terminal import echo, next_line, print_json
from fuzzer.watching.cause_lines import confirmed_line
from fuzzer.watching.causes import causes_in
from fuzzer.watching.entries import Facts, entries
from fuzzer.watching.formatting import number_of, waiting_line
from fuzzer.watching.glance import glance, waiting_lines
from fuzzer.watching.ranking import listed_in
from fuzzer.watching.titles import Titles

NODES = "nodes"
"""The folder of the nodes' campaigns, in that of the cluster's."""

OF_NODES = (
    "lanes",
    "ops",
    "dialect",
    "toolchain",
    "releases",
    "preload",
    "triage_share",
    "scope_share",
    "drain",
    "disk_limit",
    "disk_reserve",
)
"""Options that have one value, and that every node gets as the user gave them."""


def cluster_options(options: RunOptions, address: str) -> ClusterOptions:
    return ClusterOptions(
        address,
        (options.node_dir or options.campaign / NODES).resolve(),
        options.limits,
        options.nodes,
        tuple(_words_for_nodes(options)),
        reserve=options.disk.reserve,
    )


def _words_for_nodes(options: RunOptions) -> list[str]:
    """The command line of nodes, without what the driver decides."""
    given = replace(options, preload=options.preload and options.preload.resolve())
    values = {name: getattr(given, name) for name in OF_NODES}
    words = [f"--{name.replace('_', '-')}={value}" for name, value in values.items() if value not in (None, "")]
    return [
        *words,
        *(f"--own-pass={name}" for name in options.own_pass or ()),
        "--guided" if options.guided else "--random",
    ]


def run_on_cluster(options: ClusterOptions, campaign: Path, seed: int | None, json: bool) -> None:
    """Raise `EnvironmentMissing` if there is no Ray. Exit with 69 if nodes were given up."""
    with Store(campaign, seed) as store:
        last_run.begin(campaign)
        with redirect_stdout(sys.stderr):  # Ray prints its own errors to stdout
            driver = run_campaign(options, store)
        _summarise_cluster(driver, store, json)
    if driver.given_up:
        raise typer.Exit(Exit.ENVIRONMENT)


def _summarise_cluster(driver: Driver, store: Store, json: bool) -> None:
    given_up = sorted(part + 1 for part in driver.given_up)
    tests = store.ask(lambda index: index.totals()).tests
    causes = causes_in(store.folder)
    counts = causes.counts
    if json:
        slugs = sorted(doc.slug for doc in store.findings.values())
        queue = {"waiting": counts.waiting, "other_waiting": counts.other_waiting, "parked": counts.parked}
        print_json({"tests": tests, "findings": slugs, "new": len(driver.new), **queue, "given_up": given_up})
        return
    new = number_of(len(driver.new), "new finding") + (":" if driver.new else "")
    echo(f"{number_of(tests, 'test')} of all nodes; {new}")
    facts, order = Facts.of_new(store.folder, driver.new), listed_in(store.crashes / doc.slug for doc in driver.new)
    for line in entries(order, facts, Titles(), NEW_SHOWN, len(driver.new)):
        echo(line)
    for part in given_up:
        echo(f"node {part} was given up")
    echo(confirmed_line(counts), *waiting_lines(glance(causes), store.folder, CAUSES_SHOWN), sep="\n")
    if line := waiting_line(counts.waiting, counts.parked, store.folder):
        echo(line)
    echo(next_line("triage", "--campaign", os.path.relpath(store.folder)))
