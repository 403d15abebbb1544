"""What the page holds, how large it may become, and how it is written and served."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import threading
import time
from http.client import HTTPConnection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from campaigns import HOSTILE, campaign, found
from typer.testing import CliRunner

from fuzzer.campaign.store.store import Store
from fuzzer.cli import app
from fuzzer.dashboard import finding_rows
from fuzzer.dashboard.data import Support, gather, support
from fuzzer.dashboard.finding_rows import Excerpt, FiledIssue, ScopeTables, _raw_text
from fuzzer.dashboard.page import html
from fuzzer.dashboard.serve import server
from fuzzer.filing.ledger import Ledger, LedgerEntry, filed_issues
from fuzzer.findings import finding_file
from fuzzer.findings.finding_doc import StoredEvidence
from fuzzer.report.title import TITLE
from fuzzer.system.local_server import LOOPBACK
from fuzzer.system.terminal import printable
from fuzzer.watching.titles import title_of
from generators.graph import Invalid
from oracles.finding import Kind, Mismatch, WorstElement

SHIPPED = Path(__file__).parents[3] / "crashes"


def test_what_is_gathered(tmp_path: Path) -> None:
    slugs = campaign(tmp_path)
    data = gather(tmp_path)
    linear, hardswish, flaky, absolute, second_linear = slugs
    assert [family.slugs for family in data.families] == [[linear, second_linear], [absolute], [hardswish], [flaky]]
    assert [row.slug for row in data.findings] == [linear, second_linear, absolute, hardswish, flaky]
    assert [row.level for row in data.findings] == ["critical", "high", "high", "medium", "medium"]
    first = data.findings[0]
    assert (first.component, first.kind, first.place, first.culprit, first.introduced, first.tests) == (
        *("tvm", "internal-error", "pass", "FuseOps", "0.27.0", 1),
    )
    assert first.reasons[:2] == ("the compiler fails on a valid model", "new in 0.27.0")
    assert [row.flaky for row in data.findings] == [False, False, False, False, True]
    assert (data.tests, data.wall_seconds, data.holder, data.unreadable) == (2, 80, None, [])
    assert [row[:2] for row in data.curve] == [(0, 0), (40, 1), (80, 2)]


def test_the_scope_of_a_family_is_that_of_all_its_findings(tmp_path: Path) -> None:
    campaign(tmp_path)
    data = gather(tmp_path)
    assert data.families[0].scope == ScopeTables(
        [("dtype of x0", "float32, int64", "", ""), ("rank of x0", "2", "1", "")],
        [("gelu", "passes")],
        [("from_fx", "fails"), ("target c", "passes")],
    )
    detail = data.findings[0].detail
    assert detail is not None
    assert detail.scope.rows[0] == ("dtype of x0", "float32", "int64", "")
    assert detail.needs == "It fails in every case that was tried (9 of 9 held-out cases agree)."
    assert data.families[1].scope == ScopeTables([], [], [])


def filed_in(ledger: Path, signature: str) -> None:
    entry = LedgerEntry("api.github.com/o/n", signature, "nonce", "title", "finding", "0.27.0", 1.0)
    with Ledger(ledger) as opened:
        opened.intend(entry)
        opened.filed(entry, 7, "https://github.com/o/n/issues/7")


@pytest.mark.slow
def test_filed_issues_are_those_of_the_ledger(tmp_path: Path) -> None:
    first, *_ = campaign(tmp_path)
    ledger = tmp_path / "filed.sqlite"
    assert filed_issues(ledger) == {}
    assert not ledger.exists()
    filed_in(ledger, finding_file.read(tmp_path / "crashes" / first).signature)
    rows = gather(tmp_path, filed_issues(ledger)).findings
    assert [row.issue for row in rows] == [FiledIssue("https://github.com/o/n/issues/7", "unseen"), *[None] * 4]
    printed = CliRunner().invoke(
        app, ["dashboard", "--campaign", str(tmp_path), "--json", "--ledger", str(ledger)], catch_exceptions=False
    )
    assert json.loads(printed.stdout)["findings"][0]["issue"]["url"] == "https://github.com/o/n/issues/7"


def test_a_ledger_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    campaign(tmp_path)
    (tmp_path / "filed.sqlite").write_text("no database, but long enough to be one" * 30)
    with pytest.raises(Invalid, match=r"filed\.sqlite: file is not a database; name another with --ledger"):
        filed_issues(tmp_path / "filed.sqlite")


@pytest.mark.slow
def test_what_triage_does_not_list_says_why(tmp_path: Path) -> None:
    first, *_ = campaign(tmp_path)
    assert {row.apart for row in gather(tmp_path).findings} == {""}
    folder = tmp_path / "crashes" / first
    doc = finding_file.read(folder)
    worst = WorstElement((0,), math.nan, 0.0, 0.0, 0.0, None)
    evidence = StoredEvidence.of(Mismatch(0, "nan", "0", worst=worst))
    relu = msgspec.structs.replace(doc, ops=["relu"], kind=Kind.WRONG_VALUE, evidence=evidence)
    (folder / finding_file.NAME).write_bytes(finding_file.encode(relu))
    assert {row.slug: row.apart for row in gather(tmp_path).findings}[first] == "unspecified upstream"


def test_a_finding_that_is_damaged_costs_its_own_row(tmp_path: Path) -> None:
    slugs = campaign(tmp_path)
    (tmp_path / "crashes" / slugs[0] / "finding.json").write_text("{")
    (tmp_path / "crashes" / slugs[1] / "case.json").write_text("{}")
    data = gather(tmp_path)
    assert sorted(row.slug for row in data.findings) == sorted(slugs[1:])
    assert [row.slug for row in data.findings if row.detail is None] == [slugs[1]]
    assert [slug in reason for slug, reason in zip(slugs, data.unreadable, strict=False)] == [True, True]


def test_commands_to_copy_have_the_folder_as_a_shell_takes_it(tmp_path: Path) -> None:
    folder = tmp_path / "it's; rm -rf ~"
    campaign(folder)
    assert shlex.split(gather(folder).crashes) == [str(folder / "crashes")]


@pytest.mark.slow
def test_it_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slugs = campaign(tmp_path)
    folder = tmp_path / "crashes" / slugs[0]
    (folder / "ir-after.txt").write_text("".join(f"line {n} {'x' * 999}\n" for n in range(9999)))
    (folder / "repro.py").write_text("#" * 999_999)
    monkeypatch.setattr(finding_rows, "DETAILED", 3)  # the first of the three worst families
    data = gather(tmp_path)
    assert [row.detail is None for row in data.findings] == [False, True, False, False, True]
    detail = data.findings[0].detail
    assert detail is not None
    assert (len(detail.diff), max(len(line) for _, line in detail.diff)) == (160, 240)
    assert (len(detail.script.text), detail.script.more) == (20_000, 979_999)
    assert detail.diff_more > 1000
    assert len(html(data)) < 150_000


def test_support_is_the_share_of_results_of_what_was_not_skipped() -> None:
    rows = [
        ("add", "relax-c", "ran", 3),
        ("add", "relax-c", "built", 1),
        ("add", "relax-c", "unsupported", 4),
        ("add", "relax-c", "skipped", 9),
        ("add", "torch", "ran", 50),
        ("abs", "relax-x", "died", 2),
    ]
    assert support(rows) == Support(["relax-c", "relax-x"], {"abs": [(0, 0), (2, 0)], "add": [(8, 4), (0, 0)]})


def test_the_page_holds_the_data_whatever_it_says(tmp_path: Path) -> None:
    campaign(tmp_path)
    page = html(gather(tmp_path))
    (embedded,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert printable(HOSTILE) in json.loads(embedded)["findings"][3]["detail"]["log"]["text"]
    assert page.replace("\n", "").isprintable()
    assert page.count("<script") == 2
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", page)


@pytest.fixture(autouse=True)
def no_ledger_of_the_user(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))


@pytest.mark.slow
def test_the_command_writes_the_page_and_prints_its_data(tmp_path: Path) -> None:
    campaign(tmp_path)
    written = CliRunner().invoke(app, ["dashboard", "--campaign", str(tmp_path)], catch_exceptions=False)
    path = tmp_path / "dashboard.html"
    assert path.read_text().startswith("<!doctype html>")
    size = f"{path.stat().st_size / 1e6:.1f} MB"
    counts = "4 confirmed causes: 1 critical, 1 high, 2 medium; 5 findings"
    assert written.stdout.splitlines()[0] == f"{path} ({size}): {counts}"
    other = CliRunner().invoke(app, ["dashboard", "--campaign", str(tmp_path), "--json"], catch_exceptions=False)
    assert len(json.loads(other.stdout)["findings"]) == 5
    with pytest.raises(Invalid, match="no campaign"):
        CliRunner().invoke(app, ["dashboard", "--campaign", str(tmp_path / "x")], catch_exceptions=False)


@pytest.mark.slow
def test_the_page_does_not_name_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it gives to copy works in a shell nevertheless."""
    folder = tmp_path / "my campaign"
    folder.mkdir()
    campaign(folder)
    (folder / "crashes" / "broken").mkdir()
    (folder / "crashes" / "broken" / "finding.json").write_text("{")
    monkeypatch.setenv("HOME", str(tmp_path))
    data = gather(folder)
    assert (data.folder, data.crashes) == ("~/my campaign", "~/'my campaign/crashes'")
    assert data.unreadable
    assert str(tmp_path) not in html(data)
    monkeypatch.setenv("HOME", "/home/jo.doe")
    elsewhere = gather(folder)
    assert (elsewhere.folder, elsewhere.crashes) == (str(folder), f"'{folder}/crashes'")


def response_of(port: int, path: str, *hosts: str) -> tuple[int, str]:
    connection = HTTPConnection(LOOPBACK, port, timeout=120)
    connection.putrequest("GET", path, skip_host=True)
    for each in hosts:
        connection.putheader("Host", each)
    connection.endheaders()
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


@pytest.mark.slow
def test_it_is_served_anew_at_each_reload_to_the_loopback_only() -> None:
    gone: Exception
    made, gone = iter(["one", "two"]), Invalid("the campaign has gone")

    def page() -> str:
        try:
            return next(made)
        except StopIteration:
            raise gone from None

    with server(page, 0) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        address, port = serving.server_address[:2]
        here = f"{LOOPBACK}:{port}"
        assert address == LOOPBACK
        assert response_of(port, "/", here) == (200, "one")
        assert response_of(port, "/", f"localhost:{port}") == (200, "two")
        assert response_of(port, "/", here) == (503, "the campaign has gone\n")
        gone = FileNotFoundError(2, "No such file", "index.sqlite")
        assert response_of(port, "/", here) == (503, "[Errno 2] No such file: 'index.sqlite'\n")
        assert response_of(port, "/other", here)[0] == 404
        assert response_of(port, "/", "evil.example")[0] == 421
        assert response_of(port, "/", here, "evil.example")[0] == 421
        with pytest.raises(Invalid, match=f"--port {port}: Address already in use"):
            server(page, port)
        serving.shutdown()


@pytest.mark.slow
def test_the_last_point_of_the_curve_is_what_the_tiles_say(tmp_path: Path) -> None:
    """A minute passes between the last point of the index and the last books."""
    campaign(tmp_path)
    with Store(tmp_path, None) as store:
        store.state.counters.wall_seconds, store.state.counters.tests = 95.0, 9
        store.save_state()
    data = gather(tmp_path)
    seconds, tests, _, features, findings, _ = data.curve[-1]
    assert (seconds, tests, features, findings) == (95, data.tests, data.features, len(data.findings))
    assert [point[0] for point in data.curve] == sorted({point[0] for point in data.curve})


@pytest.mark.slow
def test_a_finding_is_as_old_as_it_says_and_not_as_its_file(tmp_path: Path) -> None:
    first, *_ = campaign(tmp_path)
    folder = tmp_path / "crashes" / first
    os.utime(folder / "finding.json", (4e9, 4e9))
    (row,) = (row for row in gather(tmp_path).findings if row.slug == first)
    assert row.found == pytest.approx(time.time() - 3600, abs=60)
    assert row.last == pytest.approx(time.time(), abs=60), "a test has just been counted"
    doc = finding_file.read(folder)
    doc.found = 0.0  # as an earlier version of difftvm wrote it
    (folder / "finding.json").write_bytes(finding_file.encode(doc))
    assert {row.slug: row.found for row in gather(tmp_path).findings}[first] == 0


def test_the_title_is_that_of_the_report_and_the_message_stands_below_it(tmp_path: Path) -> None:
    message = "no layout for " + "some operator " * 30
    with Store(tmp_path, 1) as store:
        doc = store.save(found(message, {"x0": "float32[2]"}, [("v0", "neg", "x0")])[0], {"tvm": "0.27.0.post1"})
        store.save_state()
    assert doc is not None
    data = gather(tmp_path)
    (row,) = data.findings
    assert row.detail is not None
    assert row.title == title_of(tmp_path / "crashes" / doc.slug, doc)
    assert len(row.title) <= TITLE
    assert (row.detail.printed, row.detail.needs) == (Excerpt(f"E: {message.strip()}"), "")
    assert (data.tvm, data.counts) == ("0.27.0.post1", ["1 confirmed cause: 1 high; 1 finding", ""])


def test_what_is_wrong_has_the_right_value_and_that_of_tvm() -> None:
    detail = finding_rows._detail(SHIPPED / "wrong-value-selu-253a62bf677c")
    assert detail.values[1:4] == (
        ("PyTorch", "3.1521029472351074"),
        ("the same in float64", "3.1521029620664414"),
        ("TVM", "3.0"),
    )


def test_the_version_is_that_of_the_latest_finding_which_does_not_ship(tmp_path: Path) -> None:
    with Store(tmp_path, 1) as store:
        for at, op, version in ((1.0, "neg", "0.26.0"), (2.0, "abs", "0.27.0"), (3.0, "exp", "0.28.0")):
            doc = store.save(found(f"no {op}", {"x0": "float32[2]"}, [("v0", op, "x0")])[0], {"tvm": version})
            assert doc is not None
            doc = finding_file.read(store.crashes / doc.slug)
            doc.found = at
            (store.crashes / doc.slug / finding_file.NAME).write_bytes(finding_file.encode(doc))
        (tmp_path / "crashes" / "SHIPPED").write_text(doc.slug)
        store.save_state()
    assert gather(tmp_path).tvm == "0.27.0"
    assert {family.age for family in gather(tmp_path).families} == {"found earlier", "known: they ship with difftvm"}


def test_values_that_differ_stand_on_lines_of_their_own(tmp_path: Path) -> None:
    evidence = Mismatch(0, "[1, 1]", "[1, 2]")
    record: Any = SimpleNamespace(doc=SimpleNamespace(evidence=SimpleNamespace(evidence=evidence)))
    assert _raw_text(record) == "output 0, compared with PyTorch\nexpected  [1, 1]\nactual    [1, 2]\n"
