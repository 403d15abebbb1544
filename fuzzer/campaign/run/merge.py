"""Merges several campaigns into one, for example those of many machines. The sources are not changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from fuzzer.campaign.store import index
from fuzzer.campaign.store.index import Index
from fuzzer.campaign.store.layout import FOLDER_FILES, FOLDERS, PARKED, WAITING, check_folders, findings_in
from fuzzer.campaign.store.presence import why_no_index
from fuzzer.campaign.store.store import Store
from fuzzer.campaign.triage.waiting import Queue
from fuzzer.findings import finding_file
from fuzzer.seeds import corpus
from fuzzer.system.files import copy_folder, make_folder
from generators import case_file
from generators.graph import Invalid
from generators.plain_file import LINK


class Merged(msgspec.Struct, frozen=True):
    """What one source added: new tests and new findings. `known` counts its findings that were there before."""

    source: Path
    tests: int
    new: int
    known: int


def merge(sources: Sequence[Path], into: Path) -> list[Merged]:
    """Merge the sources into a campaign, which may exist already. Merging again changes nothing.

    Sources may be running. Raises `Invalid` where one is no campaign, or has an index, a finding or a case of its
    corpus that cannot be read, and where the result would lie in a source. This is checked before anything is written.
    """
    for source in sources:
        if not (source / index.NAME).exists():
            raise Invalid(why_no_index(source))
        own = (source, *(source / name for name in FOLDERS))
        if into.resolve() == own[0].resolve() or any(into.resolve().is_relative_to(each.resolve()) for each in own[1:]):
            raise Invalid(f"{source}: a campaign cannot be merged into itself or one of its own folders")
        check_folders(source)
        with Index(source, writes=False) as theirs:
            theirs.check()
        _check_names(source)
        for name in ("crashes", "corpus", WAITING, PARKED):
            _check_links(source / name)
        _check_cases(source, into)
    with Store(into, None) as store:
        return [bring(source, store) for source in sources]


def _check_links(folders: Path) -> None:
    """Raise `Invalid` where a folder, or something in it, is a link. What is behind a link is not listed."""
    for folder in folders.glob("*"):
        for path in (folder, *(() if folder.is_symlink() else folder.glob("*"))):
            if path.is_symlink():
                raise Invalid(f"{path}: {LINK}")


def _check_cases(source: Path, into: Path) -> None:
    """Read the cases of the corpus that would be added. Raise `Invalid` where one cannot be read."""
    for path in sorted((source / corpus.FOLDER).glob(f"*/{case_file.JSON_NAME}")):
        if not (into / corpus.FOLDER / path.parent.name).exists():
            case_file.read(path.parent)


def _check_names(source: Path) -> None:
    """Read all findings. Raise `Invalid` where one cannot be read, or where two have one name."""
    names: set[str] = set()
    for doc in findings_in(source / "crashes"):
        if doc.slug in names:
            raise Invalid(f"{source / 'crashes'}: two findings have the name {doc.slug}; move one of them away")
        names.add(doc.slug)


def bring(source: Path, store: Store) -> Merged:
    """Merge one source into an open campaign. Its sightings that wait for triage wait here too. They are copied first,
    because a source that runs makes findings of them meanwhile."""
    if any(finding_file.folders_in(source / name) for name in (WAITING, PARKED)):
        Queue(store.folder).adopt(source)
    new = known = 0
    for folder in finding_file.folders_in(source / "crashes"):
        doc = finding_file.read(folder)
        if store.copy_finding(folder, doc):
            new += 1
        else:
            known += 1
    for path in sorted((source / "corpus").glob(f"*/{case_file.JSON_NAME}")):
        make_folder(store.corpus, store.folder)
        if not (store.corpus / path.parent.name).exists():
            copy_folder(path.parent, store.corpus / path.parent.name, FOLDER_FILES)
    with Index(source, writes=False) as theirs:
        return Merged(source, store.adopt(theirs), new, known)
