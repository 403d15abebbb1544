"""What every form says of a finding."""

from __future__ import annotations

import os

from fuzzer.difference.verdict import Comparison
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.findings.finding_file import CRASHES
from fuzzer.findings.headline import headline
from fuzzer.system.terminal import number_of, printable


def title(doc: FindingDoc) -> str:
    """The headline of a finding on one line."""
    return printable(" ".join(headline(doc.finding).split()))


def wrong_with(comparison: Comparison) -> str:
    return f"right with {comparison.base}, wrong with {comparison.patched}"


def aliased_in_words(comparison: Comparison) -> str:
    return f"{number_of(len(comparison.aliased), 'finding')}, no reason to fail without --aliasing"


def folder_of(comparison: Comparison, doc: FindingDoc) -> str:
    """The folder of a finding, relative to the working directory."""
    return os.path.relpath(comparison.folder / CRASHES / doc.slug)


def blamed(doc: FindingDoc) -> str:
    """The part of TVM that is blamed, in words; "" where nothing is."""
    blame = doc.blame
    return f"{blame.place}: {blame.culprit}" if blame.place and blame.culprit else str(blame.place or "")
