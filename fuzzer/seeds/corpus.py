"""A campaign's corpus, `DIR/corpus/<name>/`: cases that `fuzz import` made, in the form of corpus/README.md.

The campaign runs each case once unchanged, and later draws mutations of it (`fuzzer.campaign.cases.cases`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fuzzer.system.files import make_folder, write_folder
from generators import case_file
from generators.graph import Case, Invalid
from generators.plain_file import LINK

FOLDER = "corpus"
EXPECTED = "expect.json"


def cases(campaign: Path) -> dict[str, Case]:
    """The cases by name, sorted; empty where the campaign has no corpus. Raise `Invalid` with one line that describes
    what is wrong and where."""
    return {name: case_file.read(campaign / FOLDER / name) for name in names(campaign)}


def readable(campaign: Path, left_out: Callable[[str], object]) -> dict[str, Case]:
    """The same, without the cases that cannot be read; `left_out` is called with one line for each of them."""
    found = {}
    for name in names(campaign):
        try:
            found[name] = case_file.read(campaign / FOLDER / name)
        except Invalid as error:
            left_out(f"left out: {error}")
    return found


def names(campaign: Path) -> list[str]:
    """The names of the cases, sorted; empty where the campaign has no corpus. Cases with expected results are left out:
    they belong to the project itself, and `fuzz corpus` runs them."""
    _check(campaign)
    found = (path.parent for path in (campaign / FOLDER).glob(f"*/{case_file.JSON_NAME}"))
    return sorted(
        folder.name for folder in found if not folder.name.startswith(".") and not (folder / EXPECTED).exists()
    )


def _check(campaign: Path) -> None:
    """Raise `Invalid` where the corpus is a link: the campaign may come from elsewhere."""
    if (campaign / FOLDER).is_symlink():
        raise Invalid(f"{campaign / FOLDER}: {LINK}")


def add(campaign: Path, name: str, case: Case) -> bool:
    """Write a case into a new folder, completely or not at all. Return False where the name exists already; that case
    stays as it is. Raise `Invalid` where the folder cannot be written."""
    _check(campaign)
    folder = campaign / FOLDER / name
    if folder.exists():
        return False
    try:
        make_folder(folder.parent, campaign)
        text, tensors = case_file.encode(case)
        write_folder(folder, {case_file.JSON_NAME: text, case_file.TENSORS_NAME: tensors})
    except OSError as error:
        raise Invalid(f"{folder}: {error.strerror}") from None
    return True
