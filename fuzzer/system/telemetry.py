"""Libraries that report their use over the network do not, in any process of difftvm."""

from __future__ import annotations

import os

OFF = {
    "ORT_DISABLE_TELEMETRY": "1",  # onnxruntime reads it when it is imported, and starts a thread without it
    "RAY_USAGE_STATS_ENABLED": "0",
}
"""The variables that the libraries read. Children get them from `child_environment`."""


def switch_off() -> None:
    """Switch it off in this process. To be called before the libraries are imported."""
    os.environ.update(OFF)
