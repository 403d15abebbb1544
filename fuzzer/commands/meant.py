"""Verbs that difftvm does not have, with what does the same: what a newcomer types first."""

from __future__ import annotations

import re
from difflib import get_close_matches

MEANT = {
    **dict.fromkeys(("list", "ls", "bugs", "findings", "crashes", "causes", "results", "new"), "triage"),
    **dict.fromkeys(("start", "fuzz", "go", "resume", "continue", "restart", "campaign"), "run"),
    **dict.fromkeys(("test", "verify", "validate", "model"), "check"),
    **dict.fromkeys(("view", "info", "inspect", "describe", "explain", "cat"), "show"),
    **dict.fromkeys(("rerun", "repro", "reproduce", "confirm"), "replay"),
    **dict.fromkeys(("submit", "issue", "draft", "publish"), "file"),
    **dict.fromkeys(("reduce", "shrink", "simplify"), "minimize"),
    **dict.fromkeys(("watch", "stats", "top", "progress"), "status"),
    **dict.fromkeys(("html", "serve", "ui", "web", "page"), "dashboard"),
    **dict.fromkeys(("compare", "regress"), "diff"),
    **dict.fromkeys(("install", "releases", "versions"), "toolchain list"),
    **dict.fromkeys(("operators", "op"), "ops"),
    **dict.fromkeys(("generate", "draw"), "gen"),
    **dict.fromkeys(("selftest", "self-test", "health"), "doctor"),
}
"""The verb of each word."""

INSTEAD = {
    "stop": "Ctrl-C, or `kill` with the number in campaign.lock, ends a run; `fuzz run` continues it",
    "clean": "a campaign is a folder: delete it as any other",
    "config": "there is no file of settings: `fuzz run --help` lists the options",
}
"""What to do where no verb does the same."""

ALIKE = 0.7
"""How alike a slip is to a verb that is proposed."""

_UNKNOWN = re.compile(r"^No such command '(?P<word>[^']*)'")


def proposal(message: str, verbs: list[str], program: str) -> str:
    """The message about a verb that does not exist, and what was perhaps meant; other messages as they are."""
    found = _UNKNOWN.match(message)
    if not found:
        return message
    word = found["word"].lower()
    if word in MEANT:
        return f"{found[0]}; `{program} {MEANT[word]}` does that"
    if word in INSTEAD:
        return f"{found[0]}; {INSTEAD[word]}"
    if alike := get_close_matches(word, verbs, n=1, cutoff=ALIKE):
        return f"{found[0]}; did you mean '{alike[0]}'?"
    return f"{found[0]}; `{program} help` lists the commands"
