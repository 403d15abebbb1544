"""Serves metrics of a campaign for Prometheus, on the loopback interface only.

The values are those of the last commit. So counters continue where an earlier run ended, even one that was killed. A
counter that decreases means a restart to Prometheus, which would then count the whole value again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from fuzzer.findings.severity import Level
from fuzzer.system.local_server import LocalServer
from fuzzer.watching.glance import Glance
from fuzzer.watching.snapshot import Snapshot


class Metrics:
    """The server. It runs until `close`. Raise `Invalid` where the port is taken; port 0 takes any free port."""

    def __init__(self, snapshot: Callable[[], Snapshot], port: int) -> None:
        registry = CollectorRegistry()
        registry.register(_SnapshotCollector(snapshot))
        page = {"/metrics": lambda: generate_latest(registry)}
        self._server = LocalServer("--metrics", port, page, CONTENT_TYPE_LATEST)
        self._thread = threading.Thread(target=self._server.serve_forever, name="metrics", daemon=True)
        self._thread.start()
        self.port: int = self._server.server_port

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _SnapshotCollector(Collector):
    def __init__(self, snapshot: Callable[[], Snapshot]) -> None:
        self._snapshot = snapshot

    def describe(self) -> list[Metric]:
        """Return no metrics, so that the registration of a collector needs no snapshot."""
        return []

    def collect(self) -> Iterator[Metric]:
        snapshot = self._snapshot()
        causes = snapshot.causes.counts
        counters = {
            "tests": (snapshot.tests, "Finished tests."),
            "invalid_tests": (snapshot.invalid, "Tests that PyTorch refused."),
            "errors": (snapshot.errors, "Tests that difftvm itself could not do."),
            "lane_results": (snapshot.lane_results, "Results of TVM lanes in tests."),
            "triage_lane_results": (snapshot.triage_lane_results, "Results of TVM lanes in triage."),
            "known_sightings": (snapshot.known, "Tests that met a known finding or known behaviour."),
            "cpu_seconds": (snapshot.cpu_seconds, "CPU time of all processes."),
            "wall_seconds": (snapshot.wall_seconds, "Wall clock of all runs."),
        }
        for name, (value, text) in counters.items():
            yield CounterMetricFamily(f"difftvm_{name}", text, value)
        gauges = {
            "findings_flaky": (snapshot.flaky, "Findings that do not reproduce every time."),
            "waiting": (causes.waiting, "Sightings in TVM that wait for triage."),
            "waiting_others": (causes.other_waiting, "Sightings of other components that wait."),
            "causes_provisional": (causes.provisional, "Causes in TVM that are not confirmed yet."),
            "parked": (causes.parked, "Sightings whose triage failed several times."),
            "triage_share": (snapshot.triage_share, "The share of the CPU that triage gets now."),
            "triage_used": (snapshot.triage_used, "The share of the CPU that triage has had."),
            "features": (snapshot.features, "Features of cases and of the compiler's behaviour."),
            "last_finding_timestamp_seconds": (snapshot.last_found or 0, "When the last finding was made; 0: none."),
            "workers": (snapshot.workers, "Configured workers."),
            "workers_busy": (len(snapshot.tasks), "Workers that do something."),
            "supervisor_core_share": (snapshot.supervisor_share, "CPU of the supervisor in this run, of one core."),
        }
        for name, (value, text) in gauges.items():
            yield GaugeMetricFamily(f"difftvm_{name}", text, value)
        findings = GaugeMetricFamily("difftvm_findings", "Findings.", labels=["component", "kind"])
        for labels, count in snapshot.findings.items():
            findings.add_metric(labels, count)
        yield findings
        yield from _of_causes(snapshot.causes)
        stages = CounterMetricFamily("difftvm_stage_cpu_seconds", "CPU time of lanes.", labels=["stage"])
        for stage, seconds in snapshot.stage_cpu.items():
            stages.add_metric([stage], seconds)
        yield stages
        memory = GaugeMetricFamily("difftvm_memory_bytes", "Memory: resident, shared pages once.", labels=["of"])
        used = snapshot.resources
        for name, amount in (("supervisor", used.supervisor), ("children", used.children), ("free", used.free)):
            memory.add_metric([name], amount)
        yield memory
        yield GaugeMetricFamily("difftvm_disk_free_bytes", "Free on the file system of the campaign.", used.disk)
        outcomes = GaugeMetricFamily(
            "difftvm_lane_newest_outcomes", "The newest outcomes of each lane.", labels=["lane", "how"]
        )
        fails = GaugeMetricFamily("difftvm_lane_fails", "1: suddenly gives far fewer results.", labels=["lane"])
        for lane in snapshot.lanes:
            fails.add_metric([lane.lane], lane.fails)
            for how, count in lane.recent.items():
                outcomes.add_metric([lane.lane, how], count)
        yield outcomes
        yield fails


def _of_causes(causes: Glance) -> Iterator[Metric]:
    """The confirmed causes by severity, and the sightings of the first causes that are not confirmed yet."""
    confirmed = GaugeMetricFamily("difftvm_causes", "Confirmed causes in TVM.", labels=["severity"])
    for level in Level:
        confirmed.add_metric([level], causes.counts.levels.get(level, 0))
    yield confirmed
    text = "Sightings of the first causes that are not confirmed yet."
    provisional = GaugeMetricFamily("difftvm_provisional_sightings", text, labels=["cause", "sighting"])
    for cause in causes.provisional:
        provisional.add_metric([cause.text, cause.sighting], cause.sightings)
    yield provisional
