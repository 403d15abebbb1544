"""Ray: how a driver comes to a cluster, and what runs there in its actors.

Ray places the actors where there are CPUs and GPUs, and moves bytes; no more is asked of it. Those bytes difftvm packed
itself; but who can reach a Ray cluster can run code on it (its own documentation says so): it belongs on a private
network.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

from fuzzer.cluster.assignment import Deal
from fuzzer.cluster.collection import Harvest, Lesson
from fuzzer.system import secrets
from fuzzer.system.environment import EnvironmentMissing

LOCAL = "local"


class Remote:
    """What runs in a Ray actor: a `NodeProcess`, whose words cross the network as bytes."""

    def __init__(self, dealt: Deal, folder: str, given: bytes) -> None:
        from fuzzer.cluster.node import NodeProcess

        self._node = NodeProcess(dealt, Path(folder), Harvest.unpacked(given))

    def harvest(self, lessons: list[Lesson], taken: bool) -> bytes:
        return self._node.harvest(lessons, taken=taken).packed()

    def stop(self) -> None:
        self._node.stop()


def connected(address: str) -> Any:
    """Ray, in whose cluster we are now. Raises `EnvironmentMissing`."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.update(secrets.removed("RAY_"))  # a cluster may ask for a token
    try:
        import ray
    except ImportError:
        raise EnvironmentMissing("--cluster needs Ray: pip install 'difftvm[cluster]'") from None
    _somebody_listens(address)
    where: dict[str, Any] = {"address": address}
    if address == LOCAL:
        where |= {"include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    try:
        ray.init(**where, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise EnvironmentMissing(f"no Ray cluster at {address}: {error}") from None
    return ray


def _somebody_listens(address: str) -> None:
    """Ray itself tries for minutes. Addresses that are words ("local", "auto") or URLs are its own matter."""
    host, _, port = address.rpartition(":")
    if host and port.isdecimal() and "://" not in address:
        try:
            socket.create_connection((host, int(port)), timeout=10).close()
        except OSError as error:
            raise EnvironmentMissing(f"no Ray cluster at {address}: {error}") from None
