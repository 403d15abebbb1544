"""Rows: folders of a campaign that are links, pipes, many or strangely named."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator

from hostile.commands import VERBS, Verb
from hostile.place import CORPUS_CASE, FINDING, Place
from hostile.row import THINGS, Make, Row

_OWN_PLACES = {
    "file into its drafts": Verb(lambda place: ["file", place.finding, "--ledger", place.out / "ledger"], frozenset()),
    "minimize beside it": Verb(lambda place: ["minimize", place.finding], frozenset()),
    "dashboard into it": Verb(lambda place: ["dashboard", "--campaign", place.campaign], frozenset()),
}
"""Commands that write into the campaign where the user names no other place."""

_EVERY = frozenset({"finding.json", "case.json", "index.sqlite", "waiting/case.json", "corpus/case.json"})


def _linked(name: str) -> Make:
    """A folder or file of the campaign is a link to a folder outside, which has the same contents."""

    def make(place: Place) -> None:
        path = place.campaign / name
        if path.is_dir():
            shutil.move(path, place.outside / "moved")
        else:
            path.unlink(missing_ok=True)
            (place.outside / "moved").mkdir()
            (place.outside / "moved" / "mine").write_text("kept")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(place.outside / "moved")

    return make


def _file_linked(name: str) -> Make:
    def make(place: Place) -> None:
        (place.campaign / name).unlink(missing_ok=True)
        (place.campaign / name).parent.mkdir(parents=True, exist_ok=True)
        (place.campaign / name).symlink_to(place.outside / "secret")

    return make


def _instead(name: str, thing: str) -> Make:
    def make(place: Place) -> None:
        path = place.campaign / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        THINGS[thing](path, place)

    return make


def _copied_as(name: str) -> Make:
    return lambda place: shutil.copytree(place.finding, place.finding.with_name(name))


def _many_folders(place: Place) -> None:
    for number in range(3000):
        folder = place.campaign / "crashes" / f"f{number}"
        folder.mkdir()
        (folder / "finding.json").write_text("{}")


def _many_copies(place: Place) -> None:
    for number in range(300):
        folder = place.campaign / "crashes" / f"copy-{number}"
        shutil.copytree(place.finding, folder)
        document = json.loads((folder / "finding.json").read_bytes())
        document["slug"], document["signature"] = folder.name, f"{number:012x}"
        (folder / "finding.json").write_text(json.dumps(document))


def folders() -> Iterator[Row]:
    linked = ("crashes", "waiting", "parked", "elsewhere", "errors", ".difftvm-scratch", "minimized", "drafts")
    for name in linked:
        yield Row(f"{name} is a link", _linked(name), _EVERY, _OWN_PLACES)
    into = {"import --into": VERBS["import --into"]}  # `fuzz corpus` gets the folder itself, which may be a link
    yield Row("corpus is a link", _linked("corpus"), _EVERY - {"corpus/case.json"}, _OWN_PLACES | into)
    yield Row("the folder of a finding is a link", _linked(f"crashes/{FINDING}"), _EVERY, _OWN_PLACES)
    yield Row("the folder of a case is a link", _linked(f"corpus/{CORPUS_CASE}"), _EVERY)
    yield Row("a leftover folder is a link", _linked("crashes/.tmp-abc"), _EVERY)
    yield Row("a leftover folder of waiting is a link", _linked("waiting/.tmp-abc"), _EVERY)
    yield Row("a folder of another node is a link", _linked("elsewhere/x"), _EVERY)
    files = (
        *("waiting/.met", "drafts/a.md", "dashboard.html", "stats.json", "stats.jsonl", "errors/test-1/error.txt"),
        *(f"crashes/{FINDING}/extra.txt", f"crashes/{FINDING}/repro.py", f"crashes/{FINDING}/log.txt"),
        *("elsewhere/x/finding.json", ".corpus", "corpus/.run", f"drafts/{FINDING}.md", "campaign.json.tmp"),
    )
    for name in files:
        yield Row(f"{name} is a link", _file_linked(name), _EVERY, _OWN_PLACES)
    for name in ("crashes", "waiting", "corpus", "elsewhere", "errors", ".difftvm-scratch", "drafts", "minimized"):
        yield Row(f"{name} is a pipe", _instead(name, "a pipe"), _EVERY, _OWN_PLACES)
    yield Row("crashes is empty", _instead("crashes", "an empty file"), _EVERY)
    yield Row("waiting/.met is a pipe", _instead("waiting/.met", "a pipe"), _EVERY)
    yield Row("waiting/.met is large", _instead("waiting/.met", "20 GB without contents"), _EVERY)
    yield Row("log.txt is a pipe", _instead(f"crashes/{FINDING}/log.txt", "a pipe"), _EVERY)
    yield Row("repro.py is large", _instead(f"crashes/{FINDING}/repro.py", "20 GB without contents"), _EVERY)
    yield Row("a folder's name has 255 bytes", _copied_as("n" * 255), _EVERY)
    yield Row("a folder's name has a line break", _copied_as("a\nfuzz: b"), _EVERY)
    yield Row("a folder's name has escapes", _copied_as("a\x1b[2J\x1b]52;c;eA==\x07"), _EVERY)
    yield Row(
        "a folder's name is no UTF-8",
        lambda place: shutil.copytree(place.finding, place.finding.with_name(os.fsdecode(b"a\xff\xfe"))),
        _EVERY,
    )
    yield Row("a folder's name is an option", _copied_as("--help"), _EVERY)
    yield Row("one finding in two folders", _copied_as("again"), _EVERY)
    yield Row("3,000 folders without a finding", _many_folders, _EVERY)
    yield Row("300 findings", _many_copies, _EVERY)
    yield Row(
        "a campaign within a finding",
        lambda place: shutil.copytree(place.campaign / "corpus", place.finding / "crashes"),
        _EVERY,
    )
