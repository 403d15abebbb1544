"""What the page holds, how large it may become, and how it is written and served."""

from __future__ import annotations

import json
import re
import shlex
import threading
from http.client import HTTPConnection
from pathlib import Path

import pytest
from campaigns import HOSTILE, campaign
from typer.testing import CliRunner

from fuzzer.cli import app
from fuzzer.dashboard import data as gathering
from fuzzer.dashboard.data import Support, gather, support
from fuzzer.dashboard.page import html
from fuzzer.dashboard.serve import LOOPBACK, server
from generators.graph import Invalid


def test_what_is_gathered(tmp_path: Path) -> None:
    slugs = campaign(tmp_path)
    data = gather(tmp_path)
    assert [row.slug for row in data.findings] == slugs  # the newest first
    first = data.findings[0]
    assert (first.component, first.kind, first.place, first.culprit, first.introduced, first.seen) == (
        *("tvm", "internal-error", "pass", "FuseOps", "0.27.0", 1),
    )
    assert [row.flaky for row in data.findings] == [False, False, True, False]
    assert (data.tests, data.wall_seconds, data.holder, data.unreadable) == (2, 80, None, [])
    assert [row[:2] for row in data.curve] == [(0, 0), (40, 1), (80, 2)]


def test_a_finding_that_is_damaged_costs_its_own_row(tmp_path: Path) -> None:
    slugs = campaign(tmp_path)
    (tmp_path / "crashes" / slugs[0] / "finding.json").write_text("{")
    (tmp_path / "crashes" / slugs[1] / "case.json").write_text("{}")
    data = gather(tmp_path)
    assert [row.slug for row in data.findings] == slugs[1:]
    assert data.findings[0].detail is None
    assert [slug in reason for slug, reason in zip(slugs, data.unreadable, strict=False)] == [True, True]


def test_commands_to_copy_have_the_folder_as_a_shell_takes_it(tmp_path: Path) -> None:
    folder = tmp_path / "it's; rm -rf ~"
    campaign(folder)
    assert shlex.split(gather(folder).crashes) == [str(folder / "crashes")]


def test_it_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slugs = campaign(tmp_path)
    folder = tmp_path / "crashes" / slugs[0]
    (folder / "ir-after.txt").write_text("".join(f"line {n} {'x' * 999}\n" for n in range(9999)))
    (folder / "repro.py").write_text("#" * 999_999)
    monkeypatch.setattr(gathering, "DETAILED", 2)
    data = gather(tmp_path)
    assert [row.detail is None for row in data.findings] == [False, False, True, True]
    detail = data.findings[0].detail
    assert detail is not None
    assert (len(detail.diff), max(len(line) for _, line in detail.diff)) == (160, 240)
    assert (len(detail.script), detail.script_more) == (20_000, 979_999)
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
    assert HOSTILE in json.loads(embedded)["findings"][1]["detail"]["log"]
    assert page.count("<script") == 2
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", page)


def test_the_command_writes_the_page_and_prints_its_data(tmp_path: Path) -> None:
    campaign(tmp_path)
    told = CliRunner().invoke(app, ["dashboard", "--campaign", str(tmp_path)], catch_exceptions=False)
    path = tmp_path / "dashboard.html"
    assert path.read_text().startswith("<!doctype html>")
    assert told.stdout.splitlines()[0] == f"{path}: 4 findings, {path.stat().st_size / 1e6:.1f} MB"
    other = CliRunner().invoke(app, ["dashboard", "--campaign", str(tmp_path), "--json"], catch_exceptions=False)
    assert len(json.loads(other.stdout)["findings"]) == 4
    with pytest.raises(Invalid, match="no campaign"):
        CliRunner().invoke(app, ["dashboard", "--campaign", str(tmp_path / "x")], catch_exceptions=False)


def asked(port: int, path: str, host: str) -> tuple[int, str]:
    connection = HTTPConnection(LOOPBACK, port, timeout=10)
    connection.request("GET", path, headers={"Host": host})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


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
        assert asked(port, "/", here) == (200, "one")
        assert asked(port, "/", f"localhost:{port}") == (200, "two")
        assert asked(port, "/", here) == (503, "the campaign has gone\n")
        gone = FileNotFoundError(2, "No such file", "index.sqlite")
        assert asked(port, "/", here) == (503, "[Errno 2] No such file: 'index.sqlite'\n")
        assert asked(port, "/other", here)[0] == 404
        assert asked(port, "/", "evil.example")[0] == 421
        with pytest.raises(Invalid, match=f"--port {port}: Address already in use"):
            server(page, port)
        serving.shutdown()
