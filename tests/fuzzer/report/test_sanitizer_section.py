"""compute-sanitizer's reports in words."""

from __future__ import annotations

from fuzzer.isolate.reports import SanitizerReport, Tool
from fuzzer.report import sanitizer_section

CLEAN = SanitizerReport(Tool.MEMCHECK, 0)
ONE = SanitizerReport(Tool.INITCHECK, 1, "Uninitialized read", "", ("Uninitialized read", "by thread (0,0,0)"))
CUT = SanitizerReport(Tool.RACECHECK, None)


def test_text() -> None:
    assert sanitizer_section.text((CLEAN, ONE, CUT)) == (
        "\nThe same once more under compute-sanitizer:\n\n"
        "- memcheck: no errors\n"
        "- initcheck: 1 error, the first 'Uninitialized read'\n"
        "- racecheck: it did not come to an end\n"
        "\n```\nUninitialized read\nby thread (0,0,0)\n```\n"
    )


def test_log() -> None:
    assert sanitizer_section.log((CLEAN, ONE)) == (
        "\ncompute-sanitizer memcheck: no errors\n"
        "\ncompute-sanitizer initcheck: 1 error, the first 'Uninitialized read'\n"
        "Uninitialized read\nby thread (0,0,0)\n"
    )


def test_no_sanitizer_report_gives_no_section() -> None:
    assert (sanitizer_section.text(()), sanitizer_section.log(())) == ("", "")
