"""A campaign's corpus: `DIR/corpus/<name>/`, cases in the form of corpus/README.md that `fuzz import` brought.

Each is run as it is, once, and mutated now and then later (`fuzzer.campaign.cases`).
"""

from __future__ import annotations

from pathlib import Path

from fuzzer.system.files import write_folder
from generators import case_file
from generators.graph import Case, Invalid

FOLDER = "corpus"
EXPECTED = "expect.json"


def cases(campaign: Path) -> dict[str, Case]:
    """By name, in the order of names; none where the campaign has no corpus. Raise `Invalid` with one line that says
    what is wrong and where."""
    return {name: case_file.read(campaign / FOLDER / name) for name in names(campaign)}


def names(campaign: Path) -> list[str]:
    """Sorted; none where the campaign has no corpus. Cases of the project itself, beside which stands what they must
    give, have a command of their own (`fuzz corpus`): a campaign in the project's folder leaves them alone."""
    found = (path.parent for path in (campaign / FOLDER).glob(f"*/{case_file.JSON_NAME}"))
    return sorted(
        folder.name for folder in found if not folder.name.startswith(".") and not (folder / EXPECTED).exists()
    )


def add(campaign: Path, name: str, case: Case) -> bool:
    """Write a case: its folder is there whole or not at all. False where there is one of that name already, which stays
    as it is. Raise `Invalid` where the folder cannot be written."""
    folder = campaign / FOLDER / name
    if folder.exists():
        return False
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        text, tensors = case_file.encode(case)
        write_folder(folder, {case_file.JSON_NAME: text, case_file.TENSORS_NAME: tensors})
    except OSError as error:
        raise Invalid(f"{folder}: {error.strerror}") from None
    return True
