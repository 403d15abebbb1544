"""`fuzz run --cluster`: a driver's campaign, from its first word to its summary."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import redirect_stdout
from pathlib import Path

import typer

from fuzzer.campaign.screen import found_line
from fuzzer.campaign.store import Store
from fuzzer.cluster.driver import Driver, Order
from fuzzer.cluster.remote import connected
from fuzzer.replay import Exit
from fuzzer.signals import on_first_signal
from fuzzer.terminal import next_line, print_json, say
from fuzzer.watching.words import number_of


def on_cluster(order: Order, campaign: Path, seed: int | None, json: bool) -> None:
    """Raises `EnvironmentMissing` where there is no Ray; exits with 69 where nodes were given up."""
    with Store(campaign, seed) as store:
        with redirect_stdout(sys.stderr):  # where Ray tells of what goes wrong
            driver = _driven(order, store)
        _summarise(driver, store, json)
    if driver.given_up:
        raise typer.Exit(Exit.ENVIRONMENT)


def _driven(order: Order, store: Store) -> Driver:
    ray = connected(order.address)
    try:
        store.save_state()
        store.scratch.mkdir(exist_ok=True)
        say(f"difftvm: campaign {store.folder.resolve()}, seed {store.state.seed}, on Ray at {order.address}")
        driver = Driver(order, store, ray, say)

        def stop() -> None:
            say("stopping; nodes end what is under way (once more to stop at once)")
            driver.stop()

        on_first_signal(stop)
        driver.run()
        return driver
    finally:
        ray.shutdown()
        shutil.rmtree(store.scratch, ignore_errors=True)


def _summarise(driver: Driver, store: Store, json: bool) -> None:
    given_up = sorted(part + 1 for part in driver.given_up)
    tests = store.ask(lambda index: index.totals()).tests
    if json:
        slugs = sorted(doc.slug for doc in store.findings.values())
        print_json({"tests": tests, "findings": slugs, "new": len(driver.new), "given_up": given_up})
        return
    new = number_of(len(driver.new), "new finding") + (":" if driver.new else "")
    print(f"{number_of(tests, 'test')} of all nodes; {new}")
    for doc in sorted(driver.new, key=lambda doc: (doc.component, doc.slug)):
        print(f"  {found_line(doc)}")
    for part in given_up:
        print(f"node {part} was given up")
    print(next_line("triage", "--campaign", os.path.relpath(store.folder)))
