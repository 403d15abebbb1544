"""What pages show of the one campaign that docs/examples/campaign.json records: `make fuzz` in a fresh clone."""

from __future__ import annotations

import json
from typing import Any

from written_text import ROOT, Written, code_block

RECORD = ROOT / "docs" / "examples" / "campaign.json"
PICTURE = ROOT / "docs" / "images" / "dashboard.png"


def recorded() -> dict[str, Any]:
    record: dict[str, Any] = json.loads(RECORD.read_text())
    return record


def quoted(name: str, command: str) -> str:
    return code_block("\n".join([f"$ {command}", *recorded()[name]]))


def run(_: str) -> str:
    """The commit and the date of the run."""
    record = recorded()
    return f"commit {record['commit']}, {record['date']}"


ROWS = (
    Written("recorded-campaign", "README.md", run),
    Written("triage-of-a-campaign", "README.md", lambda _: quoted("triage", "fuzz triage --new --top 5")),
    Written("status-of-a-campaign", "docs/watching.md", lambda _: quoted("status", "fuzz status")),
    Written("dashboard-of-a-campaign", "docs/watching.md", lambda _: quoted("dashboard", "fuzz dashboard")),
)
