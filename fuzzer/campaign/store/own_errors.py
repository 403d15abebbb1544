"""The folder of a campaign with what difftvm itself did wrongly: a folder for each such test, with the error and the
case."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from fuzzer.system.files import make_folder, write_folder
from fuzzer.system.machine_paths import without_machine_paths
from generators import case_file
from generators.graph import Case

TEST = "test"
"""A test that difftvm could not do."""

LANE = "lane"
"""A test with a lane in which difftvm's own code raised an exception."""

SCOPE = "scope"
"""A finding whose scope difftvm could not find."""

EVALUATION = "evaluation"
"""A test in which the evaluation of an imported module was wrong."""

MOST = 100
"""How many folders of each sort are kept, so that many of one sort hide none of the other."""


def keep(errors: Path, sort: str, which: int | str, case: Case | None, error: str) -> Path:
    """Save the error of a test as `<sort>-<number>`, or of a finding as `<sort>-<name>`, unless there are many of this
    sort; return the folder."""
    files = {"error.txt": without_machine_paths(error).encode()}
    if case is not None:
        text, tensors = case_file.encode(case)
        files |= {case_file.JSON_NAME: text, case_file.TENSORS_NAME: tensors}
    folder = errors / f"{sort}-{which}"
    with suppress(OSError):  # a full disk does not keep the test from being counted
        make_folder(errors, errors.parent)
        if not folder.exists() and len(list(errors.glob(f"{sort}-*"))) < MOST:
            write_folder(folder, files)
    return folder
