"""The picture of the dashboard is of the campaign that is recorded."""

from __future__ import annotations

import hashlib

from campaign_recorded import PICTURE, recorded

SCRIPT = "`benchmarks/recorded_campaign.py` takes the picture and writes the record"


def test_the_picture_is_of_the_recorded_campaign() -> None:
    assert hashlib.sha256(PICTURE.read_bytes()).hexdigest() == recorded()["picture"], SCRIPT


def test_the_record_names_no_folder_of_the_machine() -> None:
    record = recorded()
    texts = [*record["status"], *record["triage"], *record["dashboard"]]
    assert [text for text in texts if "/tmp/" in text or "/home/" in text or "/root" in text] == []
