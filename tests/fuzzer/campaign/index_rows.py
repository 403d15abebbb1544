"""Rows in the index of a campaign, for tests."""

from __future__ import annotations

from pathlib import Path

from fuzzer.campaign.store.index import Index


def store_rows(folder: Path, query: str) -> list[tuple[object, ...]]:
    with Index(folder, writes=False) as read:
        return read.rows(tuple, query)
