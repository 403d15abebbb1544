"""Watches a running campaign: starts the screen, the files for scripts and, if requested, the metrics."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from fuzzer.campaign.run.loop import Campaign
from fuzzer.system.terminal import say
from fuzzer.watching.screen import Screen
from fuzzer.watching.snapshot import Observer
from fuzzer.watching.stats_files import PlotData, write_stats


@contextmanager
def watched(campaign: Campaign, metrics_port: int | None = None, *, stats: bool = False) -> Iterator[Observer]:
    """Watch the campaign while the context is open. `stats` adds numbers to the screen. Raise `Invalid` where the port
    for metrics is taken."""
    observer, folder = Observer(campaign), campaign.store.folder
    plot = PlotData(folder)

    def write() -> None:
        snapshot = observer.snapshot()
        write_stats(folder, snapshot)
        plot.add(snapshot, last=campaign.progress.over)

    campaign.progress.after_saving = write
    with ExitStack() as stack:
        if metrics_port is not None:
            from fuzzer.system.local_server import LOOPBACK
            from fuzzer.watching.metrics import Metrics  # prometheus-client is needed with --metrics only

            metrics = Metrics(observer.committed, metrics_port)
            stack.callback(metrics.close)
            say(f"metrics: http://{LOOPBACK}:{metrics.port}/metrics")
        stack.enter_context(Screen(observer, stats=stats))
        yield observer
