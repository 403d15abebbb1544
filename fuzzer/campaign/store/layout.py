"""The files of a campaign's directory, and its findings as they are read.

index.sqlite    what was run and what came of it (`fuzzer.campaign.store.index`)
campaign.json   seed, next test and counters, for scripts and for a new index; replaced atomically
campaign.lock   held by the running campaign; contains its process id
corpus/         cases that users added: `fuzz import`
crashes/        findings; each folder appears whole, by a rename, and is never changed
waiting/        sightings that wait for triage (`fuzzer.campaign.triage.waiting`)
parked/         sightings whose triage failed several times
last-run.json   when the last run began (`fuzzer.campaign.plan.last_run`)
aim.json        what the last run was aimed at (`fuzzer.campaign.plan.aim`)
filing.json     what `--auto-file` has filed, and why findings wait
errors/         tests that difftvm could not do, in whole, in one lane, or in their evaluation
elsewhere/      findings that other nodes of a cluster have saved: they are known here, and not saved again
.difftvm-scratch/  what children write; emptied at start
.difftvm-aside/    what was in the place of ours, or could not be deleted; each start tries to delete it
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fuzzer.findings import finding_file
from fuzzer.findings.finding_doc import FindingDoc
from generators.graph import Invalid
from generators.plain_file import LINK

FOLDER_FILES = frozenset(
    {
        *("case.json", "tensors.safetensors"),
        *("finding.json", "repro.py", "issue.md", "log.txt", "test_regression.py"),
        *("ir-before.txt", "ir-after.txt", "onnx.json", "natural.json", "natural.safetensors", "mark.txt"),
        "attempts.txt",
    }
)
"""The files that the folder of a finding, of a sighting or of a case may have. Others are not copied to other campaigns
and machines."""

ERRORS, ELSEWHERE = "errors", "elsewhere"
WAITING, PARKED = "waiting", "parked"

SCRATCH = ".difftvm-scratch"
"""Deleted at every start. The name is long so that no user has a folder of that name."""

ASIDE = ".difftvm-aside"
"""Not there as long as no lane makes what cannot be deleted, or replaces a file of the campaign."""

FOLDERS = ("crashes", "corpus", ERRORS, ELSEWHERE, WAITING, PARKED)
"""The folders of a campaign that stay."""


def check_folders(campaign: Path) -> None:
    """Raise `Invalid` where a folder of a campaign is a link: the campaign may come from elsewhere, and nothing is
    written, read or deleted behind one."""
    for path in (campaign / name for name in FOLDERS):
        if path.is_symlink():
            raise Invalid(f"{path}: {LINK}")


def findings_in(crashes: Path) -> Iterator[FindingDoc]:
    """All findings of a campaign, in the order of their folders' names.

    Raise `Invalid` at one that cannot be read. It is not skipped, because its bug would be found again and its folder
    would be in the way. It is not deleted, because another version may be able to read it.
    """
    for folder in finding_file.folders_in(crashes):
        try:
            yield finding_file.read(folder)
        except Invalid as error:
            raise blocked(folder, error) from None


def blocked(folder: Path, error: Invalid) -> Invalid:
    """The error for a finding that cannot be read, with the way to go on without it."""
    return Invalid(f"{error}; move {folder} out of {folder.parent}/ to go on without it")
