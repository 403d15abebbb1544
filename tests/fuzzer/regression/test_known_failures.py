"""Which known failures of a regression corpus are one family, and which of them a run has shown again."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from regression_by_hand import EXPORT, FAILURE, FX, KNOWN, corpus_of, numbered_case, small_corpus

from fuzzer.regression.compare import Change, Changed
from fuzzer.regression.known import ShownFailure, families, shown_again
from fuzzer.regression.record import Entry, KnownFailure, name_of
from fuzzer.regression.runs import RIGHT
from fuzzer.regression.words import in_words
from oracles.finding import Component, Kind


def raised(message: str, lane: str = "relax-export-llvm", step: str = "import", family: str = "") -> KnownFailure:
    title = f"{lane} refuses a valid PyTorch model in its {step} step: {message}"
    return KnownFailure(Kind.INTERNAL_ERROR, Component.TVM, title, family)


COS = raised("TypeError: relax.cos requires a float dtype")


@pytest.mark.parametrize(
    ("other", "together"),
    [
        (raised("TypeError: relax.nn.gelu requires a float dtype"), True),
        (raised("TypeError: relax.cos requires a float dtype", "relax-fx-llvm", "compile"), True),
        (raised("TypeError: relax.cos requires an integer dtype"), False),
        (msgspec.structs.replace(COS, kind=Kind.REJECTED), False),
        (msgspec.structs.replace(COS, component=Component.EXPORTER), False),
    ],
)
def test_failures_whose_messages_differ_in_names_are_one_family(other: KnownFailure, together: bool) -> None:
    assert families({"a": COS, "b": other}) == {"a": "a", "b": "a" if together else "b"}


def test_numbers_are_no_difference_and_other_words_are() -> None:
    found = families(
        {"a": raised("E: rank 3"), "b": raised("E: rank 4"), "c": raised("E: 'mT'"), "d": raised("E: 'T'")}
    )
    assert found == {"a": "a", "b": "a", "c": "c", "d": "d"}


def test_a_failure_joins_the_family_of_a_finding_with_its_message() -> None:
    log = raised("TypeError: relax.log requires a float dtype", family="internal-error-log-0123456789ab")
    assert families({"a": COS, "b": log}) == dict.fromkeys("ab", "internal-error-log-0123456789ab")


def test_findings_keep_their_families_though_their_messages_agree() -> None:
    first, second = (msgspec.structs.replace(COS, family=name) for name in ("one", "two"))
    assert families({"a": first, "b": second, "c": COS}) == {"a": "one", "b": "two", "c": "one"}


def test_what_a_run_has_shown_as_recorded() -> None:
    cases = {name_of(case): case for case in map(numbered_case, range(3))}
    fails = {EXPORT.name: FAILURE, FX.name: "b" * 12}
    entries = [Entry(name, ["add"], "", fails=fails) for name in cases]
    kept = corpus_of(*entries, cases=cases, failures={FAILURE: KNOWN, "b" * 12: COS})
    first, second = ShownFailure(FAILURE, KNOWN, KNOWN.family, 3), ShownFailure("b" * 12, COS, "b" * 12, 3)
    both = {EXPORT.name, FX.name}
    assert shown_again(kept, both, ()) == [first, second]
    assert shown_again(kept, {FX.name}, ()) == [second]
    changed = {(entries[0].case, EXPORT.name)}
    assert shown_again(kept, both, changed) == [second, replace(first, lanes=2)]


@pytest.mark.parametrize(
    ("known", "words"),
    [
        (KNOWN, "expected to fail, passes now: the result is wrong (family wrong-value-add-0123456789ab)"),
        (COS, f"expected to fail, passes now: {COS.title} (family {FAILURE})"),
    ],
)
def test_what_was_expected_to_fail_and_passes_has_a_sentence(known: KnownFailure, words: str) -> None:
    entry = small_corpus().entries[1]
    kept = corpus_of(entry, cases={}, failures={FAILURE: known})
    assert in_words(Changed(entry, EXPORT.name, EXPORT, Change.PASSES, FAILURE, RIGHT), kept) == words
