"""`fuzz file` and `fuzz run --auto-file` as they are typed: what is written, what is sent, and how they end."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from desk import REPO, Bare, Shows
from github_server import TOKEN, Fault, GitHubServer

from fuzzer.cli import main
from fuzzer.filing.draft import Draft
from fuzzer.filing.gates import STOP
from fuzzer.filing.ledger import Ledger
from fuzzer.filing.office import LazyFleet
from fuzzer.findings import finding_file
from fuzzer.isolate import bare_script
from fuzzer.system.state_folder import state_folder

pytestmark = pytest.mark.slow

DONE, BAD_INPUT, HELD, ENVIRONMENT, DENIED = 0, 64, 65, 69, 76


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


Fuzz = Callable[..., Done]


@pytest.fixture
def fuzz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, finding: Draft) -> Fuzz:
    """`fuzz ...` in this process, where no compiler starts: the finding shows whenever it is run."""
    monkeypatch.chdir(tmp_path)
    shows = Shows(finding)
    monkeypatch.setattr(LazyFleet, "__call__", lambda self: shows)
    monkeypatch.setattr(bare_script, "runner", lambda tell: Bare())

    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["fuzz", *map(str, arguments)])
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as ended:
            main()
        assert isinstance(ended.value.code, int)
        return Done(ended.value.code, out.getvalue(), err.getvalue())

    return run


@pytest.fixture
def submit(fuzz: Fuzz, server: GitHubServer, finding: Draft, monkeypatch: pytest.MonkeyPatch) -> Fuzz:
    def run(*arguments: object) -> Done:
        monkeypatch.setenv("DIFFTVM_GITHUB_TOKEN", TOKEN)
        return fuzz("file", finding.folder, "--submit", "--repo", REPO, "--base-url", server.url, *arguments)

    return run


def test_a_draft_is_written_and_shown_and_nothing_is_sent(fuzz: Fuzz, finding: Draft, server: GitHubServer) -> None:
    done = fuzz("file", finding.folder, "--base-url", server.url, "--repo", REPO)
    assert (done.code, done.err) == (DONE, "")
    written = finding.campaign / "drafts" / f"{finding.doc.slug}.md"
    assert written.read_text() == finding.text
    assert done.out.startswith(finding.text)
    lines = done.out.splitlines()
    assert "  yes        is within the daily limit: 0 of 3 today (UTC)" in lines
    assert "  not asked  shows in fresh runs: --check or --submit runs it" in lines
    assert f"  condition not yet looked for: `fuzz scope {os.path.relpath(finding.folder)}`" in lines
    next_command = f"fuzz file {os.path.relpath(finding.folder)} --check"
    assert lines[-1] == f"{finding.doc.slug}: nothing was sent; read the draft, next: {next_command}"
    assert server.answers == []


def test_no_submit_is_suggested_where_a_gate_says_no(fuzz: Fuzz, finding: Draft) -> None:
    doc = finding_file.read(finding.folder)
    doc.flaky = True
    (finding.folder / "finding.json").write_bytes(finding_file.encode(doc))
    last = fuzz("file", finding.folder).out.splitlines()[-1]
    assert last == f"{finding.doc.slug}: nothing was sent, and --submit would not file it either"


def test_a_draft_goes_where_it_is_wanted(fuzz: Fuzz, finding: Draft, tmp_path: Path) -> None:
    assert fuzz("file", finding.folder, "--out", tmp_path / "elsewhere", "--json").code == DONE
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == [f"{finding.doc.slug}.md"]
    assert not (finding.campaign / "drafts").exists()


def test_check_asks_everything_and_sends_nothing(fuzz: Fuzz, finding: Draft, server: GitHubServer) -> None:
    done = fuzz("file", finding.folder, "--check", "--repo", REPO, "--base-url", server.url, "--json")
    assert (done.code, done.err) == (DONE, "")
    (document,) = json.loads(done.out)
    assert {gate["verdict"] for gate in document["gates"]} == {"yes"}
    assert server.sent == []
    assert {answer.method for answer in server.answers} == {"GET"}


def test_submit(submit: Fuzz, finding: Draft, server: GitHubServer) -> None:
    done = submit()
    assert (done.code, done.err) == (DONE, "")
    assert done.out.splitlines()[-1] == f"{finding.doc.slug}: filed: {server.url}/{REPO}/issues/1"
    again = submit("--json")
    assert again.code == DONE
    (document,) = json.loads(again.out)
    assert (document["fate"], document["url"]) == ("filed", f"{server.url}/{REPO}/issues/1")
    assert len(server.sent) == 1
    assert (state_folder() / "filed.sqlite").exists()


def test_a_shut_gate(submit: Fuzz, finding: Draft, server: GitHubServer) -> None:
    server.add_issue(REPO, finding.title)
    held = submit()
    assert held.code == HELD
    assert held.out.splitlines()[-2].startswith("  no         is in no other issue: near-equal titles: ")
    assert held.out.splitlines()[-1] == f"{finding.doc.slug}: not filed; --force files it nevertheless"
    assert submit("--force").code == DONE


def test_the_kill_switch(submit: Fuzz, server: GitHubServer) -> None:
    state_folder().mkdir(parents=True, exist_ok=True)
    (state_folder() / STOP).touch()
    assert submit("--force").code == HELD
    assert server.answers == []


def test_not_taken(submit: Fuzz, server: GitHubServer) -> None:
    server.faults["POST"] = [Fault.GONE]
    done = submit()
    assert done.code == DENIED
    assert "the tracker refused it: " in done.out
    assert "410 Issues are disabled for this repo" in done.out


def refused(done: Done, code: int, *says: str) -> None:
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith("fuzz: ")
    assert done.err.count("\n") == 1
    assert TOKEN not in done.err
    for part in says:
        assert part in done.err


def test_no_token(fuzz: Fuzz, finding: Draft) -> None:
    refused(fuzz("file", finding.folder, "--submit", "--repo", REPO), ENVIRONMENT, "no token: set DIFFTVM_GITHUB_TOKEN")


def test_a_token_that_others_may_read(fuzz: Fuzz, finding: Draft, tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(TOKEN)
    path.chmod(0o644)
    arguments = ("file", finding.folder, "--submit", "--repo", REPO, "--token-file", path)
    refused(fuzz(*arguments), BAD_INPUT, "others may read it")


def test_a_token_that_is_none(
    fuzz: Fuzz, finding: Draft, server: GitHubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "no-token-of-this-server")
    arguments = ("file", finding.folder, "--submit", "--repo", REPO, "--base-url", server.url)
    refused(fuzz(*arguments), DENIED, "/apache/tvm: 401 Bad credentials")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("file", "name a finding"),
        ("file nowhere", "nowhere"),
        ("file --sync", "--repo OWNER/NAME is missing"),
        ("file --resume-filing", "--repo OWNER/NAME is missing"),
        ("file --sync --repo tvm", "'tvm' is not a repository of the form OWNER/NAME"),
        ("file --sync --repo a/b --base-url http://ghe.example.org", "a token is sent by https only"),
        ("run --auto-file", "--auto-file needs --repo OWNER/NAME"),
        ("run --auto-file --repo tvm", "'tvm' is not a repository"),
        ("run --repo a/b", "--repo and --token-file need --auto-file"),
    ],
)
def test_bad_input(fuzz: Fuzz, arguments: str, says: str) -> None:
    refused(fuzz(*arguments.split()), BAD_INPUT, says)


def test_auto_file_does_not_go_with_preload(fuzz: Fuzz, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("")
    arguments = ("run", "--auto-file", "--repo", REPO, "--preload", "own.py")
    refused(fuzz(*arguments), BAD_INPUT, "--auto-file does not go with --preload")


def test_auto_file_wants_a_token_before_anything_starts(fuzz: Fuzz) -> None:
    refused(fuzz("run", "--auto-file", "--repo", REPO), ENVIRONMENT, "no token")


def test_a_report_that_holds_the_token(fuzz: Fuzz, finding: Draft, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", finding.title.split()[-1])
    refused(fuzz("file", finding.folder, "--submit", "--repo", REPO), BAD_INPUT, "its report contains the token")


@pytest.mark.parametrize("answer", [b"", b"[]", b'{"number": 1, "state": "open", "labels": null}'])
def test_sync_with_an_answer_that_has_no_form(submit: Fuzz, fuzz: Fuzz, server: GitHubServer, answer: bytes) -> None:
    submit()
    server.alter = lambda method, route, reply: replace(reply, body=answer)
    done = fuzz("file", "--sync", "--repo", REPO, "--base-url", server.url)
    refused(done, DENIED, "/apache/tvm: its answer is not as GitHub describes it")
    server.alter = lambda method, route, reply: reply
    assert fuzz("file", "--sync", "--repo", REPO, "--base-url", server.url).code == DONE


def test_sync_and_resume(submit: Fuzz, fuzz: Fuzz, server: GitHubServer) -> None:
    submit()
    server.change(REPO, 1, state="closed", state_reason="completed")
    where = ("--repo", REPO, "--base-url", server.url)
    done = fuzz("file", "--sync", *where)
    assert (done.code, done.err) == (DONE, "")
    url = f"{server.url}/{REPO}/issues/1"
    assert done.out.splitlines() == [f"  {url}  closed as completed, confirmed", "1 issues: 1 confirmed"]
    document = json.loads(fuzz("file", "--sync", *where, "--json").out)
    assert [(each["url"], each["standing"]) for each in document["issues"]] == [(url, "confirmed")]
    with Ledger(state_folder() / "filed.sqlite") as ledger:
        ledger.set_pause(f"{server.url.removeprefix('http://')}/{REPO}", "too few")
    assert "filing there is paused: too few" in fuzz("file", "--sync", *where).out
    assert fuzz("file", "--resume-filing", *where).code == DONE
    assert "paused" not in fuzz("file", "--sync", *where).out
