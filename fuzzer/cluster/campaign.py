"""A campaign on the nodes of a Ray cluster, from the driver's connection to its end."""

from __future__ import annotations

import shutil

from fuzzer.campaign.signals import on_first_signal
from fuzzer.campaign.store import Store
from fuzzer.cluster.driver import Driver, Order
from fuzzer.cluster.remote import connected
from fuzzer.system.terminal import say


def run_campaign(order: Order, store: Store) -> Driver:
    """Raise `EnvironmentMissing` where there is no Ray."""
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
