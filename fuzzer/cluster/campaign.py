"""A campaign on the nodes of a Ray cluster, from the driver's connection to its end."""

from __future__ import annotations

from fuzzer.campaign.run.signals import on_first_signal
from fuzzer.campaign.store.store import Store
from fuzzer.cluster.driver import ClusterOptions, Driver
from fuzzer.cluster.remote import connected
from fuzzer.system import untrusted_files
from fuzzer.system.terminal import say


def run_campaign(options: ClusterOptions, store: Store) -> Driver:
    """Run the campaign and return its driver. Raise `EnvironmentMissing` where there is no Ray."""
    ray = connected(options.address)
    try:
        store.save_state()
        untrusted_files.make_folder(untrusted_files.real(store.scratch))
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
        untrusted_files.remove(untrusted_files.real(store.scratch))
