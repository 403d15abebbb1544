"""Ray: how the driver connects to a cluster, and the actors that run there.

Ray only places the actors on nodes with free CPUs and GPUs, and carries bytes that difftvm packed itself. But everyone
who can reach a Ray cluster can run code on it, as Ray's documentation says: it belongs on a private network.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

from fuzzer.cluster.assignment import Assignment
from fuzzer.cluster.collection import KnownFinding, Update
from fuzzer.system import secrets, telemetry
from fuzzer.system.environment import EnvironmentMissing

LOCAL = "local"


class NodeActor:
    """A Ray actor: a `NodeProcess` whose updates cross the network as bytes."""

    def __init__(self, assignment: Assignment, folder: str, seed_cases: bytes) -> None:
        from fuzzer.cluster.node import NodeProcess

        self._node = NodeProcess(assignment, Path(folder), Update.unpacked(seed_cases))

    def collect(self, findings: list[KnownFinding], acknowledged: bool) -> bytes:
        return self._node.collect(findings, acknowledged=acknowledged).packed()

    def stop(self) -> None:
        self._node.stop()


def connected(address: str) -> Any:
    """Connect to a cluster; return the module `ray`. Raise `EnvironmentMissing` where Ray or the cluster is missing."""
    telemetry.switch_off()
    os.environ.update(secrets.removed("RAY_"))  # a cluster may need a token
    try:
        import ray
    except ImportError:
        raise EnvironmentMissing("--cluster needs Ray: pip install 'difftvm[cluster]'") from None
    _require_listener(address)
    options: dict[str, Any] = {"address": address}
    if address == LOCAL:
        options |= {"include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    try:
        ray.init(**options, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise EnvironmentMissing(f"no Ray cluster at {address}: {error}") from None
    return ray


def _require_listener(address: str) -> None:
    """Raise `EnvironmentMissing` at once where nothing listens at a host and port: Ray itself would try for minutes.
    Names ("local", "auto") and URLs are left to Ray."""
    host, _, port = address.rpartition(":")
    if host and port.isdecimal() and "://" not in address:
        try:
            socket.create_connection((host, int(port)), timeout=10).close()
        except OSError as error:
            raise EnvironmentMissing(f"no Ray cluster at {address}: {error}") from None
