"""Metrics over real HTTP on the loopback, read by Prometheus' own parser."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families
from snapshots import snapshot

from fuzzer.system.local_server import LOOPBACK
from fuzzer.watching.metrics import Metrics
from generators.graph import Invalid

Samples = dict[tuple[str, tuple[str, ...]], float]


@pytest.fixture
def served() -> Iterator[Metrics]:
    metrics = Metrics(snapshot, 0)
    yield metrics
    metrics.close()


def scraped(port: int) -> Samples:
    with urlopen(f"http://{LOOPBACK}:{port}/metrics", timeout=120) as answer:
        text = answer.read().decode()
    families = text_string_to_metric_families(text)
    return {(s.name, tuple(s.labels.values())): s.value for family in families for s in family.samples}


def test_the_metrics_have_the_values_of_the_snapshot(served: Metrics) -> None:
    samples = scraped(served.port)
    assert {
        ("difftvm_tests_total", ()): 12345,
        ("difftvm_errors_total", ()): 0,
        ("difftvm_lane_results_total", ()): 67890,
        ("difftvm_findings", ("tvm", "wrong-value")): 7,
        ("difftvm_findings", ("exporter", "internal-error")): 1,
        ("difftvm_causes", ("high",)): 12,
        ("difftvm_causes", ("medium",)): 0,
        ("difftvm_causes_provisional", ()): 7,
        (
            "difftvm_provisional_sightings",
            ("Perhaps `acos` or `cos` fails: Unresolved call Op(tirx.acos)", "internal-error-acos-00-11"),
        ): 6,
        ("difftvm_waiting", ()): 12,
        ("difftvm_waiting_others", ()): 3,
        ("difftvm_stage_cpu_seconds_total", ("compile",)): 250.0,
        ("difftvm_memory_bytes", ("supervisor",)): 122_000_000,
        ("difftvm_lane_fails", ("relax-export-c",)): 1,
        ("difftvm_lane_fails", ("relax-export-llvm",)): 0,
        ("difftvm_lane_newest_outcomes", ("raised", "relax-export-c")): 36,
    }.items() <= samples.items()


def test_only_the_loopback_is_bound(served: Metrics) -> None:
    with open("/proc/net/tcp") as file:
        listening = [line.split()[1] for line in file if line.split()[3] == "0A"]
    addresses = [
        address for address, _, port in (each.partition(":") for each in listening) if int(port, 16) == served.port
    ]
    assert addresses == ["0100007F"]


def test_a_foreign_page_reads_no_metrics(served: Metrics) -> None:
    request = Request(f"http://{LOOPBACK}:{served.port}/metrics", headers={"Host": "evil.example"})
    with pytest.raises(HTTPError, match="421"):
        urlopen(request, timeout=120)


def test_a_port_that_is_taken() -> None:
    with socket.create_server((LOOPBACK, 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(Invalid, match=f"--metrics {port}: Address already in use"):
            Metrics(snapshot, port)
