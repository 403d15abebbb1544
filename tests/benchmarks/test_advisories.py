"""Which records of known vulnerabilities concern the versions that the project pins."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import advisories
import pytest

Events = list[dict[str, str]]

# in the form of OSV; written by hand, after PYSEC-2018-28
OF_REQUESTS: dict[str, Any] = {
    "id": "PYSEC-2018-28",
    "details": "The Requests package before 2.20.0 for Python sends an HTTP Authorization header to an http URI ...",
    "aliases": ["CVE-2018-18074", "GHSA-x84v-xcm2-53pg"],
    "modified": "2021-06-16T00:03:24.518000Z",
    "published": "2018-10-09T17:29:00Z",
    "references": [{"type": "WEB", "url": "https://bugs.debian.org/910766"}],
    "affected": [
        {
            "package": {"name": "requests", "ecosystem": "PyPI", "purl": "pkg:pypi/requests"},
            "ranges": [
                {
                    "type": "GIT",
                    "repo": "https://github.com/requests/requests",
                    "events": [{"introduced": "0"}, {"fixed": "c45d7c49ea75133e52ab22a8e9e13173938e36ff"}],
                },
                {"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "2.20.0"}]},
            ],
            "versions": ["0.0.1", "2.18.4", "2.19.0", "2.19.1"],
        }
    ],
}


def record(
    events: Events | None = None,
    *,
    name: str = "torch",
    ecosystem: str = "PyPI",
    kind: str = "ECOSYSTEM",
    versions: tuple[str, ...] = (),
    **more: str,
) -> advisories.Record:
    ranges = [] if events is None else [{"type": kind, "events": events}]
    affected = {"package": {"name": name, "ecosystem": ecosystem}, "ranges": ranges, "versions": versions}
    return advisories.msgspec.convert({"id": "X-1", "affected": [affected], **more}, advisories.Record)


def concerned(found: advisories.Record, version: str = "2.13.0") -> bool:
    return bool(list(advisories.concerns(found, {"torch": version})))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "expected"), [("2.19.1", True), ("2.19.0", True), ("2.20.0", False), ("2.34.2", False)]
)
def test_a_record_of_the_database(version: str, expected: bool) -> None:
    found = advisories.msgspec.convert(OF_REQUESTS, advisories.Record)
    concerns = list(advisories.concerns(found, {"requests": version, "torch": "1.0"}))
    assert bool(concerns) == expected
    if expected:
        assert str(concerns[0]) == (
            f"requests {version}: PYSEC-2018-28, CVE-2018-18074, GHSA-x84v-xcm2-53pg: (no summary); fixed in 2.20.0"
        )


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([{"introduced": "0"}], True),
        ([{"introduced": "2.13.0"}], True),
        ([{"introduced": "2.13.1"}], False),
        ([{"introduced": "0"}, {"fixed": "2.13.0"}], False),
        ([{"introduced": "0"}, {"fixed": "2.13.0.post1"}], True),
        ([{"introduced": "0"}, {"fixed": "2.13.0rc1"}], False),
        ([{"introduced": "0"}, {"last_affected": "2.13.0"}], True),
        ([{"introduced": "0"}, {"last_affected": "2.12.1"}], False),
        ([{"introduced": "0"}, {"fixed": "1.5"}, {"introduced": "2.9"}, {"fixed": "2.14"}], True),
        ([{"introduced": "2.9"}, {"fixed": "2.10"}, {"introduced": "0"}, {"fixed": "1.5"}], False),
        ([{"fixed": "2.14"}, {"introduced": "2.9"}], True),
        ([{"introduced": "0"}, {"limit": "2.13.0"}], False),
        ([{"introduced": "0"}, {"limit": "2.14"}], True),
        ([{"introduced": "0"}, {"limit": "*"}], True),
    ],
    ids=str,
)
def test_a_range_of_versions(events: Events, expected: bool) -> None:
    assert concerned(record(events)) is expected


def test_versions_that_are_listed() -> None:
    assert concerned(record(versions=("2.12.0", "2.13.0")))
    assert not concerned(record(versions=("2.12.0",)))


def test_records_of_others() -> None:
    everything: Events = [{"introduced": "0"}]
    assert not concerned(record(everything, name="torchvision"))
    assert not concerned(record(everything, ecosystem="npm"))
    assert not concerned(record(everything, withdrawn="2026-01-01T00:00:00Z"))


def test_names_are_compared_as_the_index_does() -> None:
    found = record([{"introduced": "0"}], name="ML_dtypes")
    assert [concern.package for concern in advisories.concerns(found, {"ml-dtypes": "0.6.0"})] == ["ml-dtypes"]


def test_what_cannot_be_decided_is_not_dropped() -> None:
    (only_git,) = advisories.concerns(record([{"introduced": "0"}], kind="GIT"), {"torch": "2.13.0"})
    assert str(only_git).endswith("no fixed version is known; undecided: it names commits only")
    (strange,) = advisories.concerns(record([{"introduced": "0"}, {"fixed": "r57"}]), {"torch": "2.13.0"})
    assert strange.doubt == "Invalid version: 'r57'"


def run(*paths: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, advisories.__file__, *map(str, paths)], capture_output=True, text=True, timeout=300
    )


@pytest.mark.slow
def test_files_folders_and_archives_are_read(tmp_path: Path) -> None:
    about = dict(advisories.all_pins_by_name())["requests"]
    bad = json.loads(json.dumps(OF_REQUESTS))
    bad["affected"][0]["ranges"][1]["events"] = [{"introduced": "0"}, {"last_affected": about}]
    (tmp_path / "records").mkdir()
    (tmp_path / "records" / "PYSEC-2018-28.json").write_text(json.dumps(OF_REQUESTS))
    quiet = run(tmp_path / "records")
    assert (quiet.returncode, quiet.stderr) == (0, "")
    assert quiet.stdout.startswith("1 records, ")
    assert quiet.stdout.endswith(" packages: 0 concerns\n")
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("PYSEC-2018-28.json", json.dumps(bad))
    loud = run(tmp_path / "all.zip", tmp_path / "records")
    assert loud.returncode == 1
    first, last = loud.stdout.splitlines()
    assert first.startswith(f"requests {about}: PYSEC-2018-28, ")
    assert last.startswith("2 records, ")


@pytest.mark.slow
@pytest.mark.parametrize("text", ["nothing", "[]", '{"affected": []}'])
def test_what_is_no_record_ends_with_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    done = run(path)
    assert done.returncode == 1
    assert done.stderr.startswith(f"advisories.py: {path} is no record of OSV: ")
    assert done.stderr.count("\n") == 1
