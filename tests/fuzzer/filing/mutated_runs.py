"""Commands that file, each with a tracker whose answers are mutated, and what they must not do.

Only the compilers and the waiting are replaced: the finding shows whenever it is run, and sleeping moves a clock.
"""

from __future__ import annotations

import contextlib
import io
import random
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from desk import REPO, Bare, Shows, Watch
from github_server import TOKEN, GitHubServer, Reply, serving
from mutated_answers import mutation

from fuzzer.cli import main
from fuzzer.filing.auto import AutoFiler
from fuzzer.filing.draft import Draft
from fuzzer.filing.github import GitHub
from fuzzer.filing.ledger import Ledger
from fuzzer.filing.office import LazyFleet, TrackerOptions
from fuzzer.filing.secret import Secret
from fuzzer.filing.tracker import Unreachable
from fuzzer.isolate import bare_script

ACTIONS = {"--check": 5, "--submit": 6, "--sync": 1, "--auto-file": 7}
"""The commands, with the number of requests that each sends where nothing goes wrong."""

CODES = {0, 65, 69, 76}
SECONDS = 120.0
"""The longest that a command may take. A server that answers takes a second at most for each request."""

_EXCEPTION = re.compile(r"\b\w*(Error|Exception|Interrupt|Warning): |Traceback")
_DRAFT = re.compile(r"^# .*?^<!-- difftvm: \w+ -->\n", re.M | re.S)
_CONTROL = re.compile(r"[^\n\x20-\x7e\x80-\U0010ffff]|[\x80-\x9f\u202a-\u202e\ud800-\udfff]")


@dataclass(slots=True)
class Run:
    """One command. `faults` says what it did that it must not do."""

    number: int
    action: str
    kind: str
    changed: int = 0  # answers
    code: int = 0
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)


def runs(seed: int, numbers: range, folder: Path, finding: Draft) -> Iterator[Run]:
    """Each number has its own ledger and tracker, and an action in turn."""
    with serving() as server, serving() as foreign, pytest.MonkeyPatch.context() as patch:
        watch = Watch()
        shows = Shows(finding)
        patch.setattr(LazyFleet, "__call__", lambda self: shows)
        patch.setattr(bare_script, "runner", lambda tell: Bare())
        patch.setattr(
            TrackerOptions,
            "tracker",
            lambda self, token: GitHub(self.repository, self.base_url, token, watch.patience(timeout=1)),
        )
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        for number in numbers:
            yield _run(_Place(server, foreign, finding, folder / f"{number}.sqlite"), seed, number)


@dataclass(frozen=True, slots=True)
class _Place:
    server: GitHubServer
    foreign: GitHubServer
    finding: Draft
    ledger: Path

    def fuzz(self, *words: object) -> tuple[int, str, str]:
        """Run `fuzz file` in this process. Return the exit code and what it printed."""
        where = ("--repo", REPO, "--base-url", self.server.url, "--ledger", self.ledger)
        out, err = io.StringIO(), io.StringIO()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("DIFFTVM_GITHUB_TOKEN", TOKEN)
            patch.setattr(sys, "argv", ["fuzz", "file", *map(str, (*words, *where))])
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as ended:
                main()
        assert isinstance(ended.value.code, int)
        return ended.value.code, out.getvalue(), err.getvalue()

    def auto(self) -> tuple[int, str, str]:
        """Enter and leave what `fuzz run --auto-file` enters, with a new finding."""
        lines: list[str] = []
        options = TrackerOptions(REPO, self.server.url, self.ledger)
        crashes = self.finding.folder.parent
        lab = Shows(self.finding)
        filer = AutoFiler(options, Secret(TOKEN), crashes, [self.finding.doc], lab, lines.append, Bare())
        try:
            with filer:
                pass
        except Unreachable as error:
            return error.exit, "", f"fuzz: {error}\n"
        return 0, "".join(f"{line}\n" for line in lines), ""


def _run(place: _Place, seed: int, number: int) -> Run:
    server, action = place.server, tuple(ACTIONS)[number % len(ACTIONS)]
    server.repositories.clear()
    for title in ("A crash", "Wrong results"):
        server.label(REPO, server.add_issue(REPO, title, "a text")["number"], "bug")
    server.index()
    if action == "--sync":
        place.fuzz(place.finding.folder, "--submit", "--force")
    chance = random.Random(f"{seed} {number}")
    chosen = mutation(chance, place.foreign.url, ACTIONS[action], writes=action in ("--submit", "--auto-file"))
    run = Run(number, action, chosen.kind)

    def alter(method: str, route: str, right: Reply) -> Reply:
        reply = chosen.alter(method, route, right)
        run.changed += reply is not right
        if method == "POST" and reply.status[:3] in (
            "403",
            "429",
        ):  # it says that nothing was written, and may be asked again
            server.repository(REPO).issues.pop()
        return reply

    server.alter = alter
    began = time.monotonic()
    run.code, out, err = place.auto() if action == "--auto-file" else place.fuzz(*_words(action, place))
    run.seconds = time.monotonic() - began
    server.alter = lambda method, route, reply: reply
    run.faults += _faults(run, _DRAFT.sub("", out), err)
    run.faults += _faults_after(place)
    return run


def _words(action: str, place: _Place) -> tuple[object, ...]:
    return ("--sync",) if action == "--sync" else (place.finding.folder, action)


def _faults(run: Run, out: str, err: str) -> Iterator[str]:
    if run.code not in CODES:
        yield f"exit code {run.code}: {err[-600:]}"
    if err and not (err.startswith("fuzz: ") and err.count("\n") == 1 and len(err) < 320):
        yield f"not one sentence: {err[:600]}"
    if found := _EXCEPTION.search(out + err):
        yield f"an exception is shown: {(out + err)[max(0, found.start() - 80) : found.end() + 80]!r}"
    if found := _CONTROL.search(out + err):
        yield f"it prints {found.group()!r}"
    if TOKEN in out + err:
        yield "it prints the token"
    if run.seconds > SECONDS:
        yield f"it takes {run.seconds:.0f} s"


def _faults_after(place: _Place) -> Iterator[str]:
    """Whether another server was asked, and what the next command finds, with right answers."""
    if place.foreign.headers:
        yield f"it asks another server: {place.foreign.headers.pop()}"
    code, out, err = place.fuzz(place.finding.folder, "--submit")
    if code not in (0, 65):
        yield f"the next command ends with {code}: {out[-300:]}{err[-600:]}"
    filed = sum(issue["title"] == place.finding.title for issue in place.server.issues(REPO))
    if filed != 1:
        yield f"filed {filed} times"
    with Ledger(place.ledger) as ledger:
        kept = [f"{entry.url}{entry.etag}{entry.reason}{entry.labels}{entry.refusal}" for entry in ledger.entries()]
    if any(len(text) > 4000 for text in kept):
        yield "the ledger keeps too much"
