"""The folder of this user for what all campaigns share: the ledger of filed issues, and the key of marks."""

from __future__ import annotations

import os
from pathlib import Path


def state_folder() -> Path:
    """`$XDG_STATE_HOME/difftvm`, by default `~/.local/state/difftvm`."""
    state = os.environ.get("XDG_STATE_HOME", "")
    return (Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state") / "difftvm"
