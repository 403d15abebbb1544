"""A campaign on the nodes of a Ray cluster, from the driver's connection to its end."""

from __future__ import annotations

import shutil

from fuzzer.campaign.signals import on_first_signal
from fuzzer.campaign.store import Store
from fuzzer.cluster.driver import ClusterOptions, Driver
from fuzzer.cluster.remote import connected
from fuzzer.system.terminal import say


def run_campaign(options: ClusterOptions, store: Store) -> Driver:
    """Run the campaign and return its driver. Raise `EnvironmentMissing` where there is no Ray."""
    ray = connected(options.address)
    try:
        store.save_state()
        store.scratch.mkdir(exist_ok=True)
        say(f"difftvm: campaign {store.folder.resolve()}, seed {store.state.seed}, on Ray at {options.address}")
        driver = Driver(options, store, ray, say)

        def stop() -> None:
            say("stopping; nodes finish their running tests (once more to stop at once)")
            driver.stop()

        on_first_signal(stop)
        driver.run()
        return driver
    finally:
        ray.shutdown()
        shutil.rmtree(store.scratch, ignore_errors=True)
